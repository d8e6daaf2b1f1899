"""Stacks of 1 to 20 boxes, equal or not, at rest or shaken from 0.02 to 0.7 g."""

from __future__ import annotations

import math

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
    pick,
    seconds,
    sinks,
    uniform,
)
from nonsmooth import Contact, Harmonic, Model, MovingSupport, RigidBody

DAMPED = ("KelvinVoigt", "HuntCrossley", "DampedHertz", "Flores", "LankaraniNikravesh")


def stacks(rng: Rng) -> Case:
    """Return a stack whose overlaps carry what is above them."""
    n = int(rng.integers(1, 21))
    size, mass = decades(rng, 0.05, 1.0), decades(rng, 0.1, 20.0)
    until = seconds(size)
    is_equal = chance(rng, 0.5)
    widths = [size * (1.0 if is_equal else uniform(rng, 0.5, 1.5)) for _ in range(n)]
    heights = [
        0.4 * size * (1.0 if is_equal else uniform(rng, 0.5, 1.5)) for _ in range(n)
    ]
    masses = [mass * (1.0 if is_equal else uniform(rng, 0.3, 3.0)) for _ in range(n)]
    # Aligned, nearly so, or by a little of the width.
    shift = pick(rng, (0.0, 0.0, 1e-9, 1e-3, 0.1))
    law = normal_law(rng, sum(masses), size * decades(rng, 1e-5, 5e-4), DAMPED)
    friction = friction_law(rng, STICKING, 0.1, 0.8, size)
    bodies: list[RigidBody | MovingSupport] = []
    contacts: list[Contact] = []
    below, y = "ground", 0.0
    if chance(rng, 0.7):
        below = "table"
        g, pace = uniform(rng, 0.02, 0.7), uniform(rng, 5.0, 40.0) / until
        # From rest, at its end of the way.
        sway = g * G / pace**2
        sway = Harmonic(
            amplitude=sway, angular_frequency=pace, phase=0.5 * math.pi, offset=-sway
        )
        bodies.append(MovingSupport(name="table", x=sway))
    for k in range(n):
        # Today two corners share the weight; a flat face of full width bears all.
        above = sum(masses[k:]) * G
        y += 0.5 * heights[k] - sinks(law, above)
        place = (shift * size * uniform(rng, -1.0, 1.0), y)
        bodies.append(box(f"box{k + 1}", widths[k], heights[k], masses[k], place))
        contacts.append(
            Contact(
                name=f"c{k + 1}",
                a=below if k == 0 else f"box{k}.outline",
                b=f"box{k + 1}.outline",
                normal=law,
                friction=friction,
            )
        )
        y += 0.5 * heights[k]
    model = Model(gravity=(0.0, -G), bodies=bodies, contacts=contacts)
    return Case(model=model, until=until, traits=("equal",) if is_equal else ())
