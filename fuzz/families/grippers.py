"""Grippers with flat or round pads that squeeze a box, lift it and shake it."""

from __future__ import annotations

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
)


def grippers(rng: Rng) -> Case:
    """Return a hand that moves up and sideways, with two fingers pushed inwards."""
    size, mass = decades(rng, 0.02, 0.5), decades(rng, 0.05, 5.0)
    is_flat = chance(rng, 0.5)
    until = seconds(size, 4.0)
    height = size * uniform(rng, 0.6, 1.5)
    friction = friction_law(rng, STICKING, 0.15, 0.9, size)
    # From slips out to holds with ease.
    squeeze = mass * G * decades(rng, 0.3, 6.0)
    law = normal_law(
        rng,
        squeeze / G,
        size * decades(rng, 1e-5, 5e-4),
        ("KelvinVoigt", "HuntCrossley"),
    )
    lift = SmoothStep(
        end=size * uniform(rng, 0.5, 3.0), duration=0.5 * until, begin=0.2 * until
    )
    pace = uniform(rng, 10.0, 40.0) / until
    sway = Harmonic(amplitude=uniform(rng, 0.0, 0.3) * G / pace**2, frequency=pace)
    hand = MovingSupport(
        name="hand",
        x=sway if chance(rng, 0.5) else 0.0,
        y=lift,
        points={"o": (0.0, 0.0)},
    )
    deep = sinks(law, squeeze)
    pad = 0.4 * size
    bodies: list[RigidBody | MovingSupport] = [hand]
    joints: list[Prismatic] = []
    forces: list[PointForce] = []
    contacts: list[Contact] = []
    low = sinks(law, mass * G)
    # At rest on the floor, or held already.
    bodies.append(box("box", size, height, mass, (0.0, 0.5 * height - low)))
    middle = 0.5 * height + uniform(rng, -0.1, 0.1) * height
    for name, side in (("left", -1.0), ("right", 1.0)):
        x = side * (0.5 * size + 0.5 * pad - deep)
        shape = rectangle(pad, pad) if is_flat else Circle(radius=0.5 * pad)
        bodies.append(
            RigidBody(
                name=name,
                mass=0.2 * mass,
                inertia=0.2 * mass * pad**2 / 6.0,
                position=(x, middle),
                shapes={"pad": shape},
            )
        )
        joints.append(Prismatic(name=f"rail_{name}", a=f"hand.{name}", b=name))
        forces.append(PointForce(name=f"grip_{name}", b=name, fx=-side * squeeze))
        contacts.append(
            Contact(
                name=f"pad_{name}",
                a="box.outline" if not is_flat else f"{name}.pad",
                b=f"{name}.pad" if not is_flat else "box.outline",
                normal=law,
                friction=friction,
            )
        )
    points = {"left": (0.0, middle), "right": (0.0, middle)}
    bodies[0] = MovingSupport(name="hand", x=hand.x, y=hand.y, points=points)
    contacts.append(
        Contact(name="floor", b="box.outline", normal=law, friction=friction)
    )
    model = Model(
        gravity=(0.0, -G),
        bodies=bodies,
        joints=joints,
        forces=forces,
        contacts=contacts,
    )
    return Case(model=model, until=until, traits=("flat",) if is_flat else ("round",))
