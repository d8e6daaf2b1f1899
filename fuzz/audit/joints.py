"""Joints and drives: closed, followed, and rubbing as their laws say."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.audit import laws, tolerances
from fuzz.audit.friction import Rub, check_friction, check_rest, shift_of
from fuzz.audit.newton import WRENCH, Sums, body_of
from fuzz.audit.notes import Array, Notes
from fuzz.audit.scene import Scene, law_value
from nonsmooth import (
    Distance,
    MovingSupport,
    PinInSlot,
    Prismatic,
    Revolute,
    RotationDrive,
    TranslationDrive,
    Weld,
)


class Held:
    """A joint or drive at all instants: b relative to a, in axes that turn with a."""

    def __init__(self, scene: Scene, joint: Any) -> None:
        a, b = scene.marker(joint.a), scene.marker(joint.b)
        p, q = scene.place(b), scene.place(a)
        self.dx, self.dy = p[0] - q[0], p[1] - q[1]
        (bx, by), (ax, ay) = scene.velocity(b.body, p), scene.velocity(a.body, p)
        # Of b past the matter of a at b's place.
        self.wx, self.wy = bx - ax, by - ay
        self.phi = scene.motion(a.body, "theta") + getattr(joint, "axis", 0.0)
        self.c, self.s = np.cos(self.phi), np.sin(self.phi)
        self.twist = scene.motion(b.body, "theta") - scene.motion(a.body, "theta")
        self.spin = scene.motion(b.body, "omega") - scene.motion(a.body, "omega")
        self.speed = scene.speed(b.body, p) + scene.speed(a.body, p)
        self.spins = sum(
            (np.abs(scene.motion(x.body, "omega")) for x in (a, b)), scene.zero
        )

    def along(self, x: Array, y: Array) -> Array:
        """Return the component along the axis."""
        return self.c * x + self.s * y

    def across(self, x: Array, y: Array) -> Array:
        """Return the component along the normal."""
        return -self.s * x + self.c * y


def check_closed(notes: Notes, scene: Scene) -> None:
    """Compare joints, drives and supports with what they prescribe."""
    length = tolerances.CLOSED * scene.extent()
    for joint in scene.model.joints:
        if isinstance(joint, Prismatic) and joint.clearance is not None:
            continue
        held = Held(scene, joint)
        speed = tolerances.CLOSED * (held.speed + scene.size)
        gaps, rates, turns = _residuals(joint, held)
        for gap in gaps:
            notes.compare("joint open", joint.name, scene.t, np.abs(gap), length)
        for rate in rates:
            notes.compare("joint moves", joint.name, scene.t, np.abs(rate), speed)
        for turn in turns:
            bound = tolerances.CLOSED * (1.0 + np.abs(held.twist))
            notes.compare("joint open", joint.name, scene.t, np.abs(turn), bound)
    for drive in scene.model.drives:
        held = Held(scene, drive)
        value, rate = law_value(drive.law, scene.t)
        if isinstance(drive, RotationDrive):
            gap, moved, unit = held.twist - value, held.spin, 1.0 + np.abs(value)
        else:
            assert isinstance(drive, TranslationDrive)
            gap = held.along(held.dx, held.dy) - value
            moved, unit = held.along(held.wx, held.wy), scene.extent()
            # Past the matter of a at b's place; the axis turns with a as well.
        bound = tolerances.CLOSED * unit
        notes.compare("drive off", drive.name, scene.t, np.abs(gap), bound)
        known = np.isfinite(rate)
        bound = tolerances.CLOSED * (np.abs(rate) + held.speed + held.spins + unit)
        miss = np.abs(moved - rate)
        notes.compare(
            "drive off", drive.name, scene.t[known], miss[known], bound[known]
        )
    for name, body in scene.bodies.items():
        if isinstance(body, MovingSupport):
            _check_support(notes, scene, name, body)


def _residuals(joint: Any, held: Held) -> tuple[list[Array], list[Array], list[Array]]:
    """Return what must vanish: lengths, velocities, angles."""
    turns: list[Array] = []
    if isinstance(joint, Weld | Prismatic):
        turns = [held.twist - joint.angle]
    if isinstance(joint, Revolute | Weld):
        return [held.dx, held.dy], [held.wx, held.wy], turns
    if isinstance(joint, PinInSlot | Prismatic):
        across = held.across(held.dx, held.dy)
        return [across], [held.across(held.wx, held.wy)], turns
    assert isinstance(joint, Distance)
    distance = np.hypot(held.dx, held.dy)
    return [distance - joint.length], [], turns


def _check_support(notes: Notes, scene: Scene, name: str, body: MovingSupport) -> None:
    for law, kinds in (
        (body.x, ("x", "vx")),
        (body.y, ("y", "vy")),
        (body.theta, ("theta", "omega")),
    ):
        for kind, value in zip(kinds, law_value(law, scene.t), strict=True):
            known = np.isfinite(value)
            miss = np.abs(scene[f"{name}.{kind}"] - value)
            bound = 1e-12 * (1.0 + np.abs(value))
            notes.compare("support", name, scene.t[known], miss[known], bound[known])


def check_wrench(notes: Notes, scene: Scene, sums: Sums) -> None:
    """Check that joints exert only what their kind can."""
    for joint in scene.model.joints:
        law = getattr(joint, "friction", None)
        if law is not None or getattr(joint, "clearance", None) is not None:
            continue
        held = Held(scene, joint)
        fx, fy, couple = (scene[f"{joint.name}.{q}"] for q in WRENCH)
        free: list[Array] = []
        if isinstance(joint, PinInSlot | Prismatic):
            free.append(held.along(fx, fy))
        if isinstance(joint, Distance):
            length = np.hypot(held.dx, held.dy)
            free.append((held.dx * fy - held.dy * fx) / length)
        if isinstance(joint, Revolute | PinInSlot | Distance):
            free.append(couple / scene.size)
        bound = tolerances.NEWTON * (np.hypot(fx, fy) + np.abs(couple) / scene.size)
        bound = bound + tolerances.SPREAD * sums.largest
        for value in free:
            notes.compare("joint wrench", joint.name, scene.t, np.abs(value), bound)


def check_sliding(
    notes: Notes,
    scene: Scene,
    sums: Sums,
    joint: Any,
    shifts: dict[str, Array],
    even: Any,
    deflection: Array | None,
    rtol: float,
) -> None:
    """Check load, slip and friction of one joint with friction."""
    name, held, t = joint.name, Held(scene, joint), scene.t
    fx, fy, couple = (scene[f"{name}.{q}"] for q in WRENCH)
    load, lam_t = scene[f"{name}.load"], scene[f"{name}.friction_force"]
    force = sums.size[body_of(joint.b)][0] if body_of(joint.b) in sums.size else load
    round_off = tolerances.NEWTON * (force + np.hypot(fx, fy))
    round_off = round_off + tolerances.SPREAD * sums.largest
    speed = held.speed
    if isinstance(joint, Revolute):
        assert joint.radius is not None
        r = joint.radius
        notes.compare("load", name, t, np.abs(load - np.hypot(fx, fy)), round_off)
        notes.compare(
            "joint wrench", name, t, np.abs(couple - r * lam_t), r * round_off
        )
        torque = scene[f"{name}.friction_torque"]
        notes.compare("joint wrench", name, t, np.abs(couple - torque), r * round_off)
        slip, speed = r * held.spin, r * held.spins
    else:
        across, along = held.across(fx, fy), held.along(fx, fy)
        notes.compare("joint wrench", name, t, np.abs(lam_t - along), round_off)
        normal = scene[f"{name}.normal_force"]
        notes.compare("joint wrench", name, t, np.abs(normal - across), round_off)
        slip = held.along(held.wx, held.wy)
        if isinstance(joint, PinInSlot):
            notes.compare("load", name, t, np.abs(load - np.abs(across)), round_off)
            side = -scene[f"{name}.side"] * across
            notes.compare("side", name, t, side, round_off)
        else:
            _check_block(
                notes, scene, joint, across, couple, round_off + shift_of(shifts, name)
            )
    v_t, mode = scene[f"{name}.slip_velocity"], scene[f"{name}.mode"]
    bound = 1e-9 * (speed + scene.quiet())
    notes.compare("slip", name, t, np.abs(v_t - slip), bound)
    rub = Rub(
        name=name,
        law=joint.friction,
        load=load,
        friction=lam_t,
        slip=v_t,
        mode=mode,
        presses=np.ones(t.shape, dtype=bool),
        speed=speed,
        shift=shift_of(shifts, name),
        force=1e-3 * round_off,
        deflection=deflection,
    )
    check_friction(notes, scene, rub, rtol)
    check_rest(notes, scene, even, rub)


def _check_block(
    notes: Notes,
    scene: Scene,
    joint: Prismatic,
    across: Array,
    couple: Array,
    round_off: Array,
) -> None:
    """Check the forces on the two ends of a block, and its load."""
    assert joint.length is not None
    name, t = joint.name, scene.t
    load, lam_t = scene[f"{name}.load"], scene[f"{name}.friction_force"]
    slip, mode = scene[f"{name}.slip_velocity"], scene[f"{name}.mode"]
    # The viscous part of friction acts at the block's middle.
    free = np.where(mode == 0.0, 0.0, -np.sign(slip) * laws.drag(joint.friction, slip))
    loaded = load > 10.0 * round_off
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.where(loaded, -(lam_t - free) / load, 0.0)
    lean = (couple + 0.5 * used * joint.height * across) / joint.length
    bound = round_off * (1.0 + joint.height / joint.length)
    for end, sign in (("front", 1.0), ("rear", -1.0)):
        miss = np.abs(scene[f"{name}.{end}_force"] - (0.5 * across + sign * lean))
        notes.compare("block ends", name, t[loaded], miss[loaded], bound[loaded])
    total = np.abs(0.5 * across + lean) + np.abs(0.5 * across - lean)
    miss = np.abs(load - total)
    notes.compare("load", name, t[loaded], miss[loaded], bound[loaded])
