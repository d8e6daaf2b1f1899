"""A mass that sticks while its load goes to zero: it must break away first."""

from __future__ import annotations

import math

from fuzz.families.common import (
    Case,
    G,
    Rng,
    chance,
    decades,
    friction_law,
    normal_law,
    pick,
    sinks,
    uniform,
)
from nonsmooth import (
    ConstantRate,
    Contact,
    Harmonic,
    Model,
    PointForce,
    PointMass,
    SmoothStep,
)


def lift_offs(rng: Rng) -> Case:
    """Return a mass pulled up by a growing force and sideways by a small one."""
    mass = decades(rng, 0.05, 20.0)
    weight = mass * G
    law = normal_law(
        rng, mass, decades(rng, 1e-5, 3e-3), ("KelvinVoigt", "HuntCrossley")
    )
    if chance(rng, 0.3):
        law = normal_law(rng, mass, decades(rng, 1e-5, 3e-3))
    friction = friction_law(rng, ("Coulomb", "Coulomb", "Stribeck", "CoulombViscous"))
    lift = decades(rng, 0.02, 1.0)  # s
    until = 1.25 * lift
    side = weight * decades(rng, 1e-4, 0.1) * pick(rng, (-1.0, 1.0))
    fx = pick(
        rng,
        (
            side,
            Harmonic(amplitude=side, angular_frequency=uniform(rng, 1.0, 20.0) / until),
            SmoothStep(end=side, duration=0.5 * until),
        ),
    )
    fy = pick(
        rng,
        (
            ConstantRate(rate=weight / lift),
            SmoothStep(end=1.5 * weight, duration=1.5 * lift),
            Harmonic(amplitude=1.3 * weight, angular_frequency=math.pi / (2.0 * lift)),
        ),
    )
    body = PointMass(name="box", mass=mass, position=(0.0, -sinks(law, weight)))
    model = Model(
        gravity=(0.0, -G),
        bodies=[body],
        forces=[PointForce(name="pull", b="box", fx=fx, fy=fy)],
        contacts=[Contact(name="c", b="box", normal=law, friction=friction)],
    )
    return Case(model=model, until=until)
