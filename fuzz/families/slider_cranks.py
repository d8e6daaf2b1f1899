"""Slider-cranks whose block has clearance in its guide, with frictional pins."""

from __future__ import annotations

import math

import numpy as np

from fuzz.families.common import (
    FRICTION,
    STICKING,
    Case,
    G,
    Rng,
    chance,
    decades,
    excite,
    friction_law,
    normal_law,
    pick,
    rod,
    seconds,
    sinks,
    uniform,
)
from fuzz.families.loops import motor, pin
from nonsmooth import Ground, Model, Prismatic, RigidBody


def slider_cranks(rng: Rng) -> Case:
    """Return a slider-crank at rest, its block on the lower flank or free."""
    size, heavy = decades(rng, 0.05, 2.0), decades(rng, 0.1, 10.0)
    until = seconds(size, 2.0)
    crank, rod_length = size * uniform(rng, 0.2, 0.4), size * uniform(rng, 0.8, 1.2)
    offset, angle = size * uniform(rng, -0.15, 0.15), uniform(rng, -math.pi, math.pi)
    A = crank * np.array([math.cos(angle), math.sin(angle)])
    mass = (heavy * rng.uniform(0.3, 1.5, 3)).tolist()
    length = size * uniform(rng, 0.2, 0.5)
    height = length * pick(rng, (0.2, 0.5, 1.0))
    clearance = size * decades(rng, 1e-4, 1e-2)
    sink = size * decades(rng, 1e-5, 1e-4)
    law = normal_law(rng, mass[2], sink)
    guide = Prismatic(
        name="guide",
        a="ground.G",
        b="slider",
        length=length,
        height=height,
        clearance=clearance,
        normal=law,
        friction=friction_law(rng, pick(rng, (STICKING, FRICTION)), size=size, high=0.4)
        if chance(rng, 0.85)
        else None,
    )
    # On the lower flank, as deep as half the weight on each corner; or in the middle.
    low = -0.5 * clearance - sinks(law, 0.5 * mass[2] * G) if chance(rng, 0.7) else 0.0
    y = offset + low
    B = (float(A[0] + math.sqrt(rod_length**2 - (y - A[1]) ** 2)), y)
    inertia = mass[2] * (length**2 + height**2) / 12.0
    slider = RigidBody(name="slider", mass=mass[2], inertia=inertia, position=B)
    bodies = [
        Ground(points={"G": (0.0, offset)}),
        rod("crank", (0.0, 0.0), A, mass[0]),
        rod("rod", A, B, mass[1]),
        slider,
    ]
    joints = [
        pin(rng, "O", "ground", "crank.p", size, 0.5),
        pin(rng, "A", "crank.q", "rod.p", size, 0.5),
        pin(rng, "B", "rod.q", "slider", size, 0.5),
        guide,
    ]
    drives = [motor(rng, "crank", angle, until)] if chance(rng, 0.5) else []
    target = pick(rng, ("crank", "rod", "slider"))
    forces = excite(rng, target, heavy * G, size, 10.0 / until, until)
    model = Model(
        gravity=(0.0, -G), bodies=bodies, joints=joints, drives=drives, forces=forces
    )
    return Case(model=model, until=until)
