"""Two-link arms with frictional pins and the tip on the floor."""

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
from nonsmooth import Contact, Ground, Model, Revolute


def arms(rng: Rng) -> Case:
    """Return an arm on a high pivot whose tip rests on, or falls to, the floor."""
    size, mass = decades(rng, 0.05, 2.0), decades(rng, 0.1, 20.0)
    until = seconds(size, 2.0)
    kinds = pick(rng, (STICKING, FRICTION))
    masses = (mass * rng.uniform(0.4, 1.5, 2)).tolist()
    law = normal_law(rng, 0.5 * mass, size * decades(rng, 1e-5, 1e-3))
    tip = -sinks(law, 0.4 * masses[1] * G)
    if chance(rng, 0.3):
        tip = size * uniform(rng, 0.02, 0.3)
    first, second = uniform(rng, -2.8, -0.4), uniform(rng, -2.6, -0.5)
    l1, l2 = (size * rng.uniform(0.5, 1.2, 2)).tolist()
    A = np.array([l1 * math.cos(first), l1 * math.sin(first)])
    B = A + l2 * np.array([math.cos(second), math.sin(second)])
    base = np.array([0.0, tip - B[1]])
    bodies = [
        Ground(points={"base": (0.0, float(base[1]))}),
        rod("upper", base, A + base, masses[0]),
        rod("lower", A + base, B + base, masses[1]),
    ]
    joints = [
        Revolute(
            name=name,
            a=a,
            b=b,
            friction=friction_law(rng, kinds, 0.05, 0.6, size),
            radius=size * uniform(rng, 0.01, 0.06),
        )
        for name, a, b in (
            ("shoulder", "ground.base", "upper.p"),
            ("elbow", "upper.q", "lower.p"),
        )
    ]
    contact = Contact(
        name="tip",
        b="lower.q",
        normal=law,
        friction=friction_law(rng, kinds, 0.1, 0.9, size),
    )
    target = pick(rng, ("upper", "lower"))
    force = uniform(rng, 0.1, 1.5) * mass * G
    model = Model(
        gravity=(0.0, -G),
        bodies=bodies,
        joints=joints,
        forces=excite(rng, target, force, 0.5 * size, 12.0 / until, until),
        contacts=[contact],
    )
    return Case(model=model, until=until)
