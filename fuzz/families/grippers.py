"""Grippers with flat or round pads that squeeze a box, lift it and shake it."""

from __future__ import annotations

import math
from typing import Any

from fuzz.families.common import (
    STICKING,
    Case,
    G,
    Rng,
    box,
    chance,
    decades,
    friction_law,
    normal_law,
    rectangle,
    seconds,
    sinks,
    uniform,
)
from nonsmooth import (
    Circle,
    Contact,
    Harmonic,
    Model,
    MovingSupport,
    PointForce,
    Prismatic,
    RigidBody,
    SmoothStep,
    Weld,
)
from nonsmooth.elements.bodies import Body
from nonsmooth.elements.joints import Joint


def grippers(rng: Rng) -> Case:
    """Return a hand that moves up and sideways, with fingers pushed inwards.

    One finger may be fixed on the hand, so that it takes the box along sideways too.
    """
    size, mass = decades(rng, 0.02, 0.5), decades(rng, 0.05, 5.0)
    is_flat, is_fixed = chance(rng, 0.5), chance(rng, 0.5)
    until = seconds(size, 4.0)
    height = size * uniform(rng, 0.6, 1.5)
    friction = friction_law(rng, STICKING, 0.15, 0.9, size)
    # From slips out to holds with ease.
    squeeze = mass * G * decades(rng, 0.3, 6.0)
    sink = size * decades(rng, 1e-5, 5e-4)
    law = normal_law(rng, squeeze / G, sink, ("KelvinVoigt", "HuntCrossley"))
    laws: dict[str, Any] = {"normal": law, "friction": friction}
    middle = 0.5 * height + uniform(rng, -0.1, 0.1) * height
    pad, deep = 0.4 * size, sinks(law, squeeze)
    places = {
        "left": -0.5 * size - 0.5 * pad + deep,
        "right": 0.5 * size + 0.5 * pad - deep,
    }
    bodies: list[Body] = [
        _hand(rng, size, until, {name: (x, middle) for name, x in places.items()}),
        box("box", size, height, mass, (0.0, 0.5 * height - sinks(law, mass * G))),
    ]
    joints: list[Joint] = []
    forces: list[PointForce] = []
    contacts = [Contact(name="floor", b="box.outline", **laws)]
    for name, x in places.items():
        bodies.append(_finger(name, mass, pad, (x, middle), is_flat))
        kind = Weld if is_fixed and name == "left" else Prismatic
        joints.append(kind(name=f"rail_{name}", a=f"hand.{name}", b=name))
        push = -math.copysign(squeeze, x)
        forces.append(PointForce(name=f"grip_{name}", b=name, fx=push))
        sides = (f"{name}.pad", "box.outline")
        a, b = sides if is_flat else sides[::-1]
        contacts.append(Contact(name=f"pad_{name}", a=a, b=b, **laws))
    model = Model(
        gravity=(0.0, -G),
        bodies=bodies,
        joints=joints,
        forces=forces,
        contacts=contacts,
    )
    return Case(model=model, until=until, traits=("flat",) if is_flat else ("round",))


def _hand(
    rng: Rng, size: float, until: float, points: dict[str, tuple[float, float]]
) -> MovingSupport:
    """Return a support that rises, and in half of all cases sways from rest."""
    high = size * uniform(rng, 0.5, 3.0)
    lift = SmoothStep(end=high, duration=0.5 * until, begin=0.2 * until)
    pace = uniform(rng, 10.0, 40.0) / until
    far = uniform(rng, 0.0, 0.3) * G / pace**2
    sway = Harmonic(
        amplitude=far, angular_frequency=pace, phase=0.5 * math.pi, offset=-far
    )
    x = sway if chance(rng, 0.5) else 0.0
    return MovingSupport(name="hand", x=x, y=lift, points=points)


def _finger(
    name: str, mass: float, pad: float, at: tuple[float, float], is_flat: bool
) -> RigidBody:
    """Return a finger with a square or a round pad."""
    return RigidBody(
        name=name,
        mass=0.2 * mass,
        inertia=0.2 * mass * pad**2 / 6.0,
        position=at,
        shapes={"pad": rectangle(pad, pad) if is_flat else Circle(radius=0.5 * pad)},
    )
