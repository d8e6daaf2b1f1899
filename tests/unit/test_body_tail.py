"""A body with a coordinate of its own: a rigid body with a mass that slides inside it.

It is written here as a user would write it, and touches no kernel. The same mechanism
of two bodies and a slot is its oracle: joints, drives, springs, contact, friction, both
methods, ledger and repetition must agree.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Contact,
    Coulomb,
    Event,
    Harmonic,
    KelvinVoigt,
    Model,
    PinInSlot,
    PointMass,
    Revolute,
    RigidBody,
    RotationDrive,
    SpringDamper,
    equilibrium,
    simulate,
)
from nonsmooth.elements.base import quantity
from nonsmooth.elements.bodies import Tail

G = 9.81
# Both models at rtol 1e-10: what errors of that size grow to in these short runs.
SAME = 2e-8


@dataclass(frozen=True, kw_only=True)
class Shuttle(RigidBody):
    """A carrier with a mass on a spring that slides in it along (cos a, sin a).

    Its frame has its origin at the mass centre of both; points are on the carrier, in
    coordinates from the carrier's own centre. With d = o + s u from there to the mass,

        T = 1/2 (M + m) |c'|^2 + 1/2 (J + mu |d|^2) w^2 + w mu (d x u) s' + 1/2 mu s'^2
    """

    slider: float = quantity("kg", above=0.0)
    reach: float = quantity("m, of the slot from the centre", default=0.0)
    along: float = quantity("rad, direction of the slot", default=0.0)
    stiffness: float = quantity("N/m", default=0.0, minimum=0.0)
    damping: float = quantity("N s/m", default=0.0, minimum=0.0)
    offset: float = quantity("m, at the start", default=0.0)
    rate: float = quantity("m/s, at the start", default=0.0)

    def tail(self) -> Tail:
        carrier = self.mass - self.slider
        reduced = carrier * self.slider / self.mass
        return Tail(
            masses=(reduced,),
            scales=(1.0,),
            values=(self.offset,),
            rates=(self.rate,),
        )

    # p: mass, inertia, position, angle, velocity, angular velocity, slider, reach, ...
    @staticmethod
    def weigh(p, q, out):
        reduced = (p[0] - p[8]) * p[8] / p[0]
        s, o = q[3], p[9]
        # The slot passes the centre at `reach` to its left: o = reach (-u_y, u_x).
        out[0] = p[1] + reduced * (s * s + o * o)
        out[1] = -reduced * o

    @staticmethod
    def inner(p, q, v, out):
        reduced = (p[0] - p[8]) * p[8] / p[0]
        s, omega, rate = q[3], v[2], v[3]
        out[0] = 0.0
        out[1] = 0.0
        out[2] = -2.0 * reduced * s * rate * omega
        out[3] = omega * omega * reduced * s - p[11] * s - p[12] * rate
        out[4] = 0.5 * p[11] * s * s
        out[5] = -p[12] * rate * rate

    @staticmethod
    def place(p, s, q, v, out):
        part = p[8] / p[0]
        ux, uy = math.cos(p[10]), math.sin(p[10])
        out[0] = s[0] - part * (q[3] * ux - p[9] * uy)
        out[1] = s[1] - part * (q[3] * uy + p[9] * ux)
        out[2] = 0.0
        for i in range(3, 6):
            out[i] = 0.0
        out[6] = -part * ux
        out[7] = -part * uy
        out[8] = 0.0


CARRIER, SLIDER, J = 2.0, 0.5, 0.08
POINTS = {"pin": (-0.4, 0.1), "foot": (0.3, -0.2), "heel": (-0.3, -0.2)}


def both(reach=0.1, along=0.6, stiffness=80.0, damping=0.0, offset=0.05, **more):
    """The bodies of both models, side by side: one with a tail, and two."""
    angle, spin = more.get("angle", 0.3), more.get("spin", 0.0)
    x, y = more.get("position", (0.0, 1.0))  # of the carrier's centre
    vx, vy = more.get("velocity", (0.0, 0.0))
    u = np.array([math.cos(angle + along), math.sin(angle + along)])
    d = reach * np.array([-u[1], u[0]]) + offset * u
    part = SLIDER / (CARRIER + SLIDER)
    c = np.array([x, y]) + part * d
    turn = np.array([-d[1], d[0]])
    one = Shuttle(
        name="carrier",
        mass=CARRIER + SLIDER,
        inertia=J,
        position=tuple(c),
        angle=angle,
        velocity=tuple(np.array([vx, vy]) + part * spin * turn),
        angular_velocity=spin,
        slider=SLIDER,
        reach=reach,
        along=along,
        stiffness=stiffness,
        damping=damping,
        offset=offset,
        points=POINTS,
    )
    slot = (-reach * math.sin(along), reach * math.cos(along))
    two = (
        RigidBody(
            name="carrier",
            mass=CARRIER,
            inertia=J,
            position=(x, y),
            angle=angle,
            velocity=(vx, vy),
            angular_velocity=spin,
            points={**POINTS, "slot": slot},
        ),
        PointMass(
            name="slider",
            mass=SLIDER,
            position=tuple(np.array([x, y]) + d),
            velocity=tuple(np.array([vx, vy]) + spin * turn),
        ),
    )
    guide = PinInSlot(name="guide", a="carrier.slot", b="slider", axis=along)
    # A spring of length zero at the middle of the slot pulls along it, and is held
    # across it by the slot.
    spring = SpringDamper(
        name="spring",
        a="carrier.slot",
        b="slider",
        stiffness=stiffness,
        damping=damping,
    )
    return one, two, guide, spring


def models(joints=(), drives=(), contacts=(), events=(), **parts):
    """The same mechanism with a tail and without."""
    one, two, guide, spring = both(**parts)
    shared: Any = {"gravity": (0.0, -G), "drives": drives, "contacts": contacts}
    shared["events"] = events
    ours = Model(bodies=(one,), joints=joints, **shared)
    theirs = Model(bodies=two, joints=(*joints, guide), forces=(spring,), **shared)
    return ours, theirs


def compare(ours, theirs, columns, tolerance=SAME):
    t = np.linspace(ours.t_start, ours.t_end, 41)
    a, b = ours.sample(t, columns), theirs.sample(t, columns)
    for name in columns:
        scale = max(1.0, float(np.max(np.abs(b[name]))))
        assert np.max(np.abs(a[name] - b[name])) <= tolerance * scale, name


MOTION = ["carrier.x", "carrier.y", "carrier.theta", "carrier.omega", "carrier.foot.ax"]


@pytest.mark.jit_off
def test_free_flight_keeps_energy_and_angular_momentum():
    ours, theirs = models(spin=4.0, velocity=(1.0, 2.0))
    result = simulate(ours, until=0.3, rtol=1e-10)
    compare(result, simulate(theirs, until=0.3, rtol=1e-10), MOTION)
    assert result.energy_balance.residual < 1e-9
    # The tail is a column like any other.
    assert result["carrier.eta.0"][0] == 0.05


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_hinged_and_damped(method):
    ours, theirs = hinged(damping=0.8)
    a = simulate(ours, until=1.5, rtol=1e-10, method=method)
    b = simulate(theirs, until=1.5, rtol=1e-10)
    compare(a, b, [*MOTION, "hinge.force_x", "hinge.force_y"], 1e-7)
    assert a.energy_balance.residual < 1e-8
    # What the damper takes is an entry of the ledger.
    lost = a.energy_balance.work["carrier.inner"][-1]
    assert abs(lost - b.energy_balance.work["spring"][-1]) < 1e-7
    assert lost < 0.0


def hinged(**more):
    """Both models with the carrier's pin at the origin, in a hinge."""
    hinge = Revolute(name="hinge", b="carrier.pin")
    c, s = math.cos(0.3), math.sin(0.3)
    x, y = POINTS["pin"]
    place = (-(c * x - s * y), -(s * x + c * y))
    return models(joints=(hinge,), position=place, angle=0.3, **more)


def test_driven():
    law = Harmonic(amplitude=0.5, angular_frequency=6.0, offset=0.3)
    drive = RotationDrive(name="motor", b="carrier", law=law)
    ours, theirs = (replace(m, assemble=True) for m in hinged(drives=(drive,)))
    a, b = (simulate(m, until=1.0, rtol=1e-10) for m in (ours, theirs))
    compare(a, b, [*MOTION, "motor.torque"], 1e-7)
    assert a.energy_balance.residual < 1e-8


def feet():
    normal = KelvinVoigt(stiffness=2e4, damping=60.0)
    friction = Coulomb(mu=0.2, mu_static=0.35)
    return tuple(
        Contact(name=name, b=f"carrier.{name}", normal=normal, friction=friction)
        for name in ("foot", "heel")
    )


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_contact_and_friction_have_the_same_events(method):
    ours, theirs = models(
        contacts=feet(),
        position=(0.0, 0.35),
        velocity=(0.8, 0.0),
        angle=0.2,
        events=(Event(name="low", b="carrier", guard="y - 0.3"),),
    )
    a = simulate(ours, until=0.8, rtol=1e-10, method=method)
    b = simulate(theirs, until=0.8, rtol=1e-10)
    assert [(e.element, e.kind) for e in a.events] == [
        (e.element, e.kind) for e in b.events
    ]
    assert np.max(np.abs(a.events.t - b.events.t)) < 1e-7
    assert len(a.events) > 10
    compare(a, b, [*MOTION[:4], "foot.normal_force", "heel.friction_force"], 1e-5)
    assert a.energy_balance.residual < 1e-6


def test_repetition_and_continuation():
    ours, _ = models(contacts=feet(), position=(0.0, 0.35), velocity=(0.8, 0.0))
    result = simulate(ours, until=0.5)
    found = result.verify()
    assert found.events
    assert found.position < 1e-5
    half = simulate(ours, until=0.25)
    rest = simulate(ours, until=0.5, start=half.state())
    end, whole = rest.state(), result.state()
    assert len(end.positions["carrier"]) == 4
    assert np.allclose(end.positions["carrier"], whole.positions["carrier"], atol=1e-6)


def test_static_equilibrium():
    a, b = (equilibrium(model) for model in hinged())
    assert a.stability == b.stability == "stable"
    angles = [e.state.positions["carrier"][2] for e in (a, b)]
    assert abs(angles[0] - angles[1]) < 1e-8
