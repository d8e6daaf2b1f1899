# pyright: basic, reportArgumentType=false, reportCallIssue=false
# pyright: reportAttributeAccessIssue=false, reportReturnType=false
# pyright: reportOptionalOperand=false
"""Whether a run obeys Newton, Euler and the friction laws of its joints.

Only columns of the result are read, and the model as data; how modes and forces were
found plays no part. `audit` returns the largest violation of each kind, forces relative
to the largest force in the run, torques to that force times the model's size, speeds
to the largest speed (of a pin: of its surface), energy to what was exchanged:

    motion      M a = sum of all wrenches on a body
    load        |lam|, |u_f| + |u_r| or |F| as the joint's wrench gives it
    wrench      normal force, friction and couple as parts of that wrench
    slip        the column against the bodies' velocities
    stuck       slip velocity while sticking
    sign        slip velocity against the sign of the mode
    law         friction while slipping against the law's value
    limit       friction at rest beyond mu_static times load
    corners     of a block: flanks against the wrench
    ledger      residual of the energy balance

Contacts are taken into account between points of bodies and the ground's or a
support's own line; other shapes are refused.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth import (
    Contact,
    Coulomb,
    CoulombViscous,
    Couple,
    Dahl,
    ExpressionForce,
    Karnopp,
    LuGre,
    MovingSupport,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    RegularisedCoulomb,
    Revolute,
    RigidBody,
    RotationDrive,
    SpringDamper,
    Stribeck,
    TorsionSpring,
    TranslationDrive,
)

Array = NDArray[np.float64]
WRENCH = ("force_x", "force_y", "torque")

# Speeds and energies below this part of what the forces could do in a second with the
# model's masses are rest, and their ratios say nothing.
REST = 1e-6

KINDS = ("motion", "load", "wrench", "slip", "stuck", "sign", "law", "limit",
         "corners", "ledger")  # fmt: skip


class _Scene:
    """Poses, velocities and accelerations of named points, from body columns."""

    def __init__(self, result: Any, samples: Any) -> None:
        self.samples = samples
        self.bodies = {body.name: body for body in result.system.model.bodies}
        self.zero = np.zeros_like(samples["t"])

    def pose(self, body: str, quantity: str) -> Array:
        if body == "ground":
            return self.zero
        return self.samples[f"{body}.{quantity}"]

    def split(self, name: str) -> tuple[str, tuple[float, float]]:
        body, _, point = name.partition(".")
        if not point:
            return body, (0.0, 0.0)
        return body, self.bodies[body].points[point]

    def angle(self, name: str) -> Array:
        return self.pose(name.partition(".")[0], "theta")

    def spin(self, name: str) -> Array:
        return self.pose(name.partition(".")[0], "omega")

    def place(self, name: str) -> tuple[Array, Array]:
        body, (x, y) = self.split(name)
        c, s = np.cos(self.angle(name)), np.sin(self.angle(name))
        return (
            self.pose(body, "x") + c * x - s * y,
            self.pose(body, "y") + s * x + c * y,
        )

    def velocity(self, name: str, place: tuple[Array, Array]) -> tuple[Array, Array]:
        """Velocity of the matter of a body that is at a place."""
        body, _ = self.split(name)
        dx = place[0] - self.pose(body, "x")
        dy = place[1] - self.pose(body, "y")
        omega = self.spin(name)
        return self.pose(body, "vx") - omega * dy, self.pose(body, "vy") + omega * dx


class _Sums:
    """Wrenches on bodies about their mass centres."""

    def __init__(self, scene: _Scene, gravity: tuple[float, float]) -> None:
        self.scene = scene
        self.total: dict[str, list[Array]] = {}
        # Largest force, and largest moment of one.
        self.force, self.moment = 0.0, 0.0
        for name, body in scene.bodies.items():
            if isinstance(body, RigidBody | PointMass):
                zero = scene.zero
                m = body.mass
                self.total[name] = [m * gravity[0] + zero, m * gravity[1] + zero, zero]
                self.force = max(self.force, m * math.hypot(*gravity))

    def add(
        self,
        name: str,
        place: tuple[Array, Array],
        fx: Array,
        fy: Array,
        couple: Array,
    ) -> None:
        """Add a force at a place, and a couple."""
        self.force = max(self.force, float(np.max(np.hypot(fx, fy), initial=0.0)))
        body = name.partition(".")[0]
        if body not in self.total:
            return
        dx = place[0] - self.scene.pose(body, "x")
        dy = place[1] - self.scene.pose(body, "y")
        sums = self.total[body]
        sums[0] = sums[0] + fx
        sums[1] = sums[1] + fy
        moment = couple + dx * fy - dy * fx
        sums[2] = sums[2] + moment
        size = np.abs(couple) + np.hypot(dx, dy) * np.hypot(fx, fy)
        self.moment = max(self.moment, float(np.max(size, initial=0.0)))

    def pair(
        self, element: Any, place: tuple[Array, Array], fx: Array, fy: Array, c: Array
    ) -> None:
        """Add a wrench on b and its reverse on a, at the same place."""
        self.add(element.b, place, fx, fy, c)
        self.add(element.a, place, -fx, -fy, -c)


def _sum_forces(result: Any, scene: _Scene) -> _Sums:
    model, samples = result.system.model, scene.samples
    sums = _Sums(scene, model.gravity)
    zero = scene.zero
    for joint in model.joints:
        if getattr(joint, "clearance", None) is not None:
            raise NotImplementedError("corners of a guide with clearance")
        wrench = [
            samples[f"{joint.name}.{q}"] for q in ("force_x", "force_y", "torque")
        ]
        sums.pair(joint, scene.place(joint.b), *wrench)
    for drive in model.drives:
        place = scene.place(drive.b)
        if isinstance(drive, RotationDrive):
            sums.pair(drive, place, zero, zero, samples[f"{drive.name}.torque"])
            continue
        assert isinstance(drive, TranslationDrive)
        phi, force = scene.angle(drive.a) + drive.axis, samples[f"{drive.name}.force"]
        sums.pair(drive, place, np.cos(phi) * force, np.sin(phi) * force, zero)
    for force in model.forces:
        wrench = [
            samples[f"{force.name}.{q}"] for q in ("force_x", "force_y", "torque")
        ]
        if isinstance(force, PointForce):
            sums.add(force.b, scene.place(force.b), *wrench)
            continue
        assert isinstance(
            force, SpringDamper | TorsionSpring | Couple | ExpressionForce
        )
        sums.pair(force, scene.place(force.b), *wrench)
    for contact in model.contacts:
        _add_contact(sums, scene, contact)
    return sums


def _add_contact(sums: _Sums, scene: _Scene, contact: Contact) -> None:
    below = scene.bodies.get(contact.a)
    if contact.a != "ground" and not isinstance(below, MovingSupport):
        raise NotImplementedError(f"contact with {contact.a}")
    phi = scene.angle(contact.a)
    lam_n = scene.samples[f"{contact.name}.normal_force"]
    lam_t = scene.samples[f"{contact.name}.friction_force"]
    fx = -np.sin(phi) * lam_n + np.cos(phi) * lam_t
    fy = np.cos(phi) * lam_n + np.sin(phi) * lam_t
    sums.pair(contact, scene.place(contact.b), fx, fy, scene.zero)


def _value(law: Any, load: Array, v: Array, sign: Array, z: Array | None) -> Array:
    """Return the friction force on b of a joint that is not at rest."""
    if isinstance(law, Coulomb):
        return -law.mu * load * sign
    if isinstance(law, CoulombViscous):
        return -law.mu * load * sign - law.viscous * np.abs(v) * sign
    if isinstance(law, Stribeck):
        part = np.exp(-((np.abs(v) / law.velocity) ** law.exponent))
        mu = law.mu + (law.mu_static - law.mu) * part
        return -(mu * load + law.viscous * np.abs(v)) * sign
    if isinstance(law, Karnopp):
        slow = np.abs(v) <= law.dead_band * (1.0 + 1e-9)
        fast = -(law.mu * load + law.viscous * np.abs(v)) * sign
        # In the band at the limit.
        at_limit = -law.static * load * sign
        return np.where(slow, at_limit, fast)
    if isinstance(law, RegularisedCoulomb):
        return -law.mu * load * np.tanh(v / law.velocity)
    assert z is not None
    if isinstance(law, Dahl):
        return -law.stiffness * load * z
    assert isinstance(law, LuGre)
    mu = law.mu + (law.mu_static - law.mu) * np.exp(-((v / law.velocity) ** 2))
    rate = v - law.stiffness * np.abs(v) * z / mu
    return -(law.stiffness * z + law.damping * rate) * load - law.viscous * v


def _drag(law: Any, v: Array) -> Array:
    """Return the size of what does not depend on the load."""
    return getattr(law, "viscous", 0.0) * np.abs(v)


def audit(
    result: Any, t: ArrayLike | None = None, n: int = 301, skip: float = 0.0
) -> dict[str, float]:
    """Return the largest violations, over times and both limits of all events.

    Parameters
    ----------
    result : Result
    t : array_like, optional
        Times, s; by default n of them evenly, and every event.
    n : int
    skip : float
        Leave out so much around each event, s.
    """
    events = result.events.t
    if t is None:
        t = np.linspace(result.t_start, result.t_end, n)
        t = np.union1d(t, events)
    times = np.asarray(t, dtype=float)
    if skip > 0.0 and len(events):
        near = np.abs(times[:, None] - events[None, :]).min(axis=1)
        times = times[near > skip]
    worst = dict.fromkeys((*KINDS, "J"), 0.0)
    for limit in ("before", "after"):
        for kind, value in _one_limit(result, times, limit).items():
            worst[kind] = max(worst[kind], value)
    balance = result.energy_balance
    least = max(REST * worst.pop("J"), 1e-300)
    worst["ledger"] = balance.residual / max(balance.exchanged, least)
    return worst


def _inertia(scene: _Scene) -> float:
    """Return the largest inertia."""
    return max(getattr(body, "inertia", 0.0) for body in scene.bodies.values())


def _one_limit(result: Any, t: Array, limit: Any) -> dict[str, float]:
    samples = result.sample(t, limit=limit)
    model = result.system.model
    scene = _Scene(result, samples)
    sums = _sum_forces(result, scene)
    worst: dict[str, float] = dict.fromkeys(KINDS, 0.0)
    worst["J"] = sums.moment

    def note(kind: str, values: Any, scale: float = 1.0) -> None:
        largest = float(np.max(values, initial=0.0)) if np.size(values) else 0.0
        if not np.all(np.isfinite(values)):
            largest = math.inf
        worst[kind] = max(worst[kind], largest / scale if scale > 0.0 else largest)

    force, moment = max(sums.force, 1e-300), max(sums.moment, 1e-300)
    # What the largest force makes of the whole mass in a second.
    mass = sum(b.mass for b in scene.bodies.values() if hasattr(b, "mass"))
    speed = REST * force / mass
    for name, body in scene.bodies.items():
        if not isinstance(body, RigidBody | PointMass):
            continue
        speed = max(
            speed, float(np.max(np.hypot(*(samples[f"{name}.v{i}"] for i in "xy"))))
        )
        for i, axis in enumerate(("ax", "ay")):
            gap = body.mass * samples[f"{name}.{axis}"] - sums.total[name][i]
            note("motion", np.abs(gap), force)
        if isinstance(body, RigidBody):
            gap = body.inertia * samples[f"{name}.alpha"] - sums.total[name][2]
            note("motion", np.abs(gap), moment)
            reach = max((math.hypot(*p) for p in body.points.values()), default=0.0)
            spin = float(np.max(np.abs(samples[f"{name}.omega"])))
            speed = max(speed, spin * reach)
    for joint in model.joints:
        law = getattr(joint, "friction", None)
        if law is None:
            continue
        name = joint.name
        fx, fy, couple = (samples[f"{name}.{q}"] for q in WRENCH)
        load, lam_t = samples[f"{name}.load"], samples[f"{name}.friction_force"]
        v_t, mode = samples[f"{name}.slip_velocity"], samples[f"{name}.mode"]
        normal = samples[f"{name}.normal_force"]
        own_speed = speed
        if isinstance(joint, Revolute):
            r = joint.radius
            note("load", np.abs(load - np.hypot(fx, fy)), force)
            note("wrench", np.abs(normal - load), force)
            note("wrench", np.abs(couple - r * lam_t), r * force)
            note(
                "wrench", np.abs(couple - samples[f"{name}.friction_torque"]), r * force
            )
            spin = scene.spin(joint.b) - scene.spin(joint.a)
            spins = np.abs(scene.spin(joint.b)) + np.abs(scene.spin(joint.a))
            own_speed = r * max(REST * moment / _inertia(scene), float(np.max(spins)))
            note("slip", np.abs(v_t - r * spin), own_speed)
        else:
            phi = scene.angle(joint.a) + joint.axis
            along = np.cos(phi) * fx + np.sin(phi) * fy
            across = -np.sin(phi) * fx + np.cos(phi) * fy
            note("wrench", np.abs(normal - across), force)
            note("wrench", np.abs(lam_t - along), force)
            place = scene.place(joint.b)
            (bx, by), (ax, ay) = (
                scene.velocity(which, place) for which in (joint.b, joint.a)
            )
            slip = np.cos(phi) * (bx - ax) + np.sin(phi) * (by - ay)
            note("slip", np.abs(v_t - slip), own_speed)
            side = samples[f"{name}.side"]
            if isinstance(joint, PinInSlot):
                note("wrench", np.abs(couple), moment)
                note("load", np.abs(load - np.abs(across)), force)
                note("load", -(side * across), force)
            else:
                assert isinstance(joint, Prismatic)
                drag = np.where(mode == 0.0, 0.0, _drag(law, v_t)) * -np.sign(v_t)
                with np.errstate(divide="ignore", invalid="ignore"):
                    used = np.where(load > 0.0, -(lam_t - drag) / load, 0.0)
                lean = (couple + used * 0.5 * joint.height * across) / joint.length
                # Where nothing loads it the part used is round-off over round-off.
                has_load = load > 1e-9 * force
                for column, value in (("front", lean), ("rear", -lean)):
                    gap = samples[f"{name}.{column}_force"] - (0.5 * across + value)
                    note("corners", np.abs(gap)[has_load], force)
                total = np.abs(0.5 * across + lean) + np.abs(0.5 * across - lean)
                note("load", np.abs(load - total)[has_load], force)
        if not law.is_set_valued():
            z = None
            if law.has_state():
                z = np.array(
                    [result.state(x, limit=limit).deflection[name] for x in t.tolist()]
                )
            note("law", np.abs(lam_t - _value(law, load, v_t, np.sign(v_t), z)), force)
            continue
        sticks = mode == 0.0
        band = law.band
        slips = ~sticks
        gap = np.abs(lam_t - _value(law, load, v_t, mode, None))
        if band > 0.0:
            # At the band's edge the law jumps.
            edge = np.abs(np.abs(v_t) - band) <= 1e-9 * band + 1e-12
            gap = np.where(edge, 0.0, gap)
            beyond = slips & (np.abs(v_t) > band * (1.0 + 1e-9))
            note("stuck", (np.abs(v_t) - band)[sticks], own_speed)
        else:
            beyond = slips
            note("stuck", np.abs(v_t)[sticks], own_speed)
        note("law", gap[slips], force)
        note("sign", -(mode * v_t)[beyond], own_speed)
        note("limit", (np.abs(lam_t) - law.static * load)[sticks], force)
    return worst
