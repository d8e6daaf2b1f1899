"""Points on floors, belts and shaken supports: masses, and bodies on feet."""

from __future__ import annotations

import math

from fuzz.families.common import (
    Case,
    G,
    Rng,
    chance,
    decades,
    excite,
    friction_law,
    normal_law,
    pick,
    seconds,
    sinks,
    uniform,
)
from nonsmooth import (
    ConstantRate,
    Contact,
    Harmonic,
    Model,
    MovingSupport,
    PointMass,
    RigidBody,
    SmoothStep,
)


def table(rng: Rng, name: str, size: float, until: float) -> MovingSupport:
    """Return a support that shakes, carries or tips what lies on it."""
    pace = uniform(rng, 5.0, 40.0) / until
    g = uniform(rng, 0.02, 0.7)
    sway = Harmonic(amplitude=g * G / pace**2, angular_frequency=pace)
    kind = int(rng.integers(4))
    if kind == 0:
        return MovingSupport(name=name, x=sway)
    if kind == 1:
        high = 0.6 * g * G / pace**2
        lift = Harmonic(
            amplitude=high,
            angular_frequency=pace,
            phase=1.0,
            offset=-high * math.sin(1.0),
        )
        return MovingSupport(name=name, x=sway, y=lift)
    if kind == 2:
        speed = uniform(rng, -1.0, 1.0) * math.sqrt(G * size)
        return MovingSupport(name=name, x=ConstantRate(rate=speed))
    tip = SmoothStep(end=uniform(rng, -0.5, 0.5), duration=until)
    return MovingSupport(name=name, theta=tip)


def feet(rng: Rng) -> Case:
    """Return a mass, or a body on two to four feet, on the ground or on a support."""
    size, mass = decades(rng, 0.02, 3.0), decades(rng, 0.02, 200.0)
    until = seconds(size, 2.0)
    law = normal_law(rng, mass, size * decades(rng, 1e-5, 2e-3))
    pace = math.sqrt(G * size)
    vx = pick(rng, (0.0, uniform(rng, -1.0, 1.0))) * pace
    bodies: list[RigidBody | PointMass | MovingSupport] = []
    floor = "ground"
    if chance(rng, 0.6):
        floor = "floor"
        bodies.append(table(rng, floor, size, until))
    n = int(rng.integers(0, 4))
    drop = size * decades(rng, 1e-3, 0.1) if chance(rng, 0.4) else 0.0
    if n == 0:
        low = drop or -sinks(law, mass * G)
        bodies.append(
            PointMass(name="body", mass=mass, position=(0.0, low), velocity=(vx, 0.0))
        )
        names = [""]
    else:
        n += 1
        high = size * uniform(rng, 0.2, 1.2)
        xs = [size * (k / (n - 1) - 0.5) for k in range(n)]
        low = drop or -sinks(law, mass * G / n)
        spin = uniform(rng, -1.0, 1.0) * pace / size if drop else 0.0
        bodies.append(
            RigidBody(
                name="body",
                mass=mass,
                inertia=mass * size**2 * uniform(rng, 0.05, 0.3),
                position=(0.0, high + low),
                velocity=(vx, 0.0),
                angular_velocity=spin,
                points={f"f{k}": (x, -high) for k, x in enumerate(xs)},
            )
        )
        names = [f".f{k}" for k in range(n)]
    friction = friction_law(rng, size=size) if chance(rng, 0.9) else None
    contacts = [
        Contact(name=f"c{k}", a=floor, b=f"body{name}", normal=law, friction=friction)
        for k, name in enumerate(names)
    ]
    weight = uniform(rng, 0.1, 1.0) * mass * G
    forces = excite(rng, "body", weight, size, 15.0 / until, until, can_turn=n > 0)
    model = Model(
        gravity=(0.0, -G),
        bodies=bodies,
        contacts=contacts,
        forces=forces,
    )
    return Case(model=model, until=until)
