"""Newton and Euler for every body, force elements computed again from the motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.audit import tolerances
from fuzz.audit.contacts import Pressed
from fuzz.audit.notes import Array, Notes
from fuzz.audit.scene import Scene, Vector, evaluate_text, law_value
from nonsmooth import (
    Couple,
    ExpressionForce,
    FlexibleBody,
    MovingSupport,
    PointForce,
    PointMass,
    Prismatic,
    RotationDrive,
    SpringDamper,
    TorsionSpring,
)
from nonsmooth.elements.materials import find_material

Wrench = tuple[Array, Array, Array]
WRENCH = ("force_x", "force_y", "torque")


class Sums:
    """Wrenches on bodies about their origins, and the sizes of what was added."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.total: dict[str, list[Array]] = {}
        self.size: dict[str, list[Array]] = {}  # of forces and of moments
        self.unseen: set[str] = set()  # bodies with a force that no column tells
        for name in scene.bodies:
            self.total[name] = [scene.zero] * 3
            self.size[name] = [scene.zero] * 2
        self.largest = scene.zero

    def add(self, body: str, place: Vector, wrench: Wrench) -> None:
        """Add a force at a place and a couple."""
        if body not in self.total:
            return
        fx, fy, couple = wrench
        x, y = (place[i] - self.scene.motion(body, "xy"[i]) for i in range(2))
        total, size = self.total[body], self.size[body]
        force = np.hypot(fx, fy)
        self.total[body] = [
            total[0] + fx,
            total[1] + fy,
            total[2] + couple + x * fy - y * fx,
        ]
        moment = np.abs(couple) + force * np.hypot(x, y)
        self.size[body] = [size[0] + force, size[1] + moment]
        self.largest = np.maximum(self.largest, force)

    def pair(self, a: str, b: str, place: Vector, wrench: Wrench) -> None:
        """Add a wrench on b, and its reverse on a, at one place."""
        self.add(b, place, wrench)
        self.add(a, place, (-wrench[0], -wrench[1], -wrench[2]))


def mass_of(body: Any) -> float:
    """Return the mass of a body; flexible ones of our families are rectangles."""
    if isinstance(body, FlexibleBody):
        mesh: Any = body.mesh
        area = mesh.width * mesh.height
        return find_material(body.material).density * area * body.thickness
    return body.mass


def body_of(reference: str) -> str:
    """Return the body of "body.point"."""
    return reference.partition(".")[0]


def sum_forces(scene: Scene, contacts: list[Pressed]) -> Sums:
    """Return what acts on every body, gravity included."""
    sums, zero = Sums(scene), scene.zero
    gx, gy = scene.model.gravity
    for name, body in scene.bodies.items():
        if isinstance(body, FlexibleBody) and body.fixed:
            sums.unseen.add(name)  # what holds its boundary is in no column
        if body.has_mass:
            mass = mass_of(body)
            weight = (zero + mass * gx, zero + mass * gy, zero)
            here = (scene.motion(name, "x"), scene.motion(name, "y"))
            sums.add(name, here, weight)
    for joint in scene.model.joints:
        if isinstance(joint, Prismatic) and joint.clearance is not None:
            continue
        place = scene.place(scene.marker(joint.b))
        fx, fy, couple = (scene[f"{joint.name}.{q}"] for q in WRENCH)
        sums.pair(body_of(joint.a), body_of(joint.b), place, (fx, fy, couple))
    for drive in scene.model.drives:
        place = scene.place(scene.marker(drive.b))
        if isinstance(drive, RotationDrive):
            wrench = (zero, zero, scene[f"{drive.name}.torque"])
        else:
            axis: float = getattr(drive, "axis", 0.0)
            phi = scene.motion(body_of(drive.a), "theta") + axis
            force = scene[f"{drive.name}.force"]
            wrench = (np.cos(phi) * force, np.sin(phi) * force, zero)
        sums.pair(body_of(drive.a), body_of(drive.b), place, wrench)
    for force in scene.model.forces:
        place, wrench = element_wrench(scene, force)
        if isinstance(force, PointForce):
            sums.add(body_of(force.b), place, wrench)
        else:
            sums.pair(body_of(force.a), body_of(force.b), place, wrench)
    for contact in contacts:
        wrench = (*contact.force(), zero)
        idle = contact.lam_n == 0.0
        # Where nothing presses, point and normal may have no meaning.
        place = tuple(
            np.where(idle & (contact.lam_t == 0.0), 0.0, p) for p in contact.place
        )
        fx, fy = (np.where(idle & (contact.lam_t == 0.0), 0.0, f) for f in wrench[:2])
        sums.pair(contact.pair.a, contact.pair.b, (place[0], place[1]), (fx, fy, zero))
    return sums


def element_wrench(scene: Scene, force: Any) -> tuple[Vector, Wrench]:
    """Return place and wrench on b of a force element, from motion and time."""
    a, b = scene.marker(force.a), scene.marker(force.b)
    place, zero, t = scene.place(b), scene.zero, scene.t
    if isinstance(force, PointForce):
        fx, fy = law_value(force.fx, t)[0], law_value(force.fy, t)[0]
        if force.frame == "body":
            theta = scene.motion(b.body, "theta")
            c, s = np.cos(theta), np.sin(theta)
            fx, fy = c * fx - s * fy, s * fx + c * fy
        return place, (fx, fy, zero)
    if isinstance(force, Couple):
        return place, (zero, zero, law_value(force.torque, t)[0])
    other = scene.place(a)
    dx, dy = place[0] - other[0], place[1] - other[1]
    (bx, by), (ax, ay) = scene.velocity(b.body, place), scene.velocity(a.body, other)
    wx, wy = bx - ax, by - ay
    twist = scene.motion(b.body, "theta") - scene.motion(a.body, "theta")
    spin = scene.motion(b.body, "omega") - scene.motion(a.body, "omega")
    if isinstance(force, TorsionSpring):
        torque = -force.stiffness * (twist - force.rest_angle) - force.damping * spin
        return place, (zero, zero, torque)
    if isinstance(force, SpringDamper):
        length = np.hypot(dx, dy)
        ux, uy = dx / length, dy / length
        pull = force.stiffness * (length - force.rest_length)
        pull = pull + force.damping * (ux * wx + uy * wy)
        return place, (-pull * ux, -pull * uy, zero)
    assert isinstance(force, ExpressionForce)
    values = {"t": t, "x": dx, "y": dy, "theta": twist, "vx": wx, "vy": wy}
    values["omega"] = spin
    fx, fy, couple = (
        evaluate_text(getattr(force, name), values, zero)
        for name in ("fx", "fy", "torque")
    )
    return place, (fx, fy, couple)


def check_elements(notes: Notes, scene: Scene) -> None:
    """Compare the columns of force elements with what they should be."""
    for force in scene.model.forces:
        _, wrench = element_wrench(scene, force)
        # A stiff spring makes of round-off in the places what it makes of a stretch.
        stiffness: float = getattr(force, "stiffness", 0.0)
        slack = stiffness * tolerances.PLACE * scene.extent()
        size = np.hypot(wrench[0], wrench[1]) + np.abs(wrench[2]) + slack
        # A small sum of large terms, a damper against its spring, has their round-off.
        size = size + getattr(force, "damping", 0.0) * scene.fastest() * 1e-3
        for kind, value in zip(WRENCH, wrench, strict=True):
            miss = np.abs(scene[f"{force.name}.{kind}"] - value)
            bound = tolerances.NEWTON * size + slack
            notes.compare("force element", force.name, scene.t, miss, bound)


def check_newton(notes: Notes, sums: Sums) -> None:
    """Compare mass times acceleration with the sum of forces, for every body."""
    scene, t = sums.scene, sums.scene.t
    for name, body in scene.bodies.items():
        if name == "ground" or name in sums.unseen:
            continue
        total, (force, moment) = sums.total[name], sums.size[name]
        if isinstance(body, MovingSupport):
            moved = [scene[f"{name}.{kind}"] for kind in WRENCH]
        else:
            mass = mass_of(body)
            inertia: float = getattr(body, "inertia", 0.0)
            moved = [
                -mass * scene[f"{name}.ax"],
                -mass * scene[f"{name}.ay"],
                -inertia * scene[f"{name}.alpha"],
            ]
        bound = tolerances.NEWTON * (force + np.hypot(moved[0], moved[1]))
        bound = bound + tolerances.SPREAD * sums.largest
        for i in range(2):
            notes.compare("Newton", name, t, np.abs(total[i] + moved[i]), bound)
        if isinstance(body, PointMass | FlexibleBody):
            continue  # the inertia of one changes, its modes have momentum
        bound = tolerances.NEWTON * (moment + np.abs(moved[2]))
        bound = bound + tolerances.SPREAD * sums.largest * scene.size
        notes.compare("Euler", name, t, np.abs(total[2] + moved[2]), bound)
