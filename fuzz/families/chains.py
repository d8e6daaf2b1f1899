"""Chains of rods on pins, with friction of every kind."""

from __future__ import annotations

import math

import numpy as np

from fuzz.families.common import (
    Case,
    G,
    Rng,
    chance,
    decades,
    excite,
    friction_law,
    pick,
    rod,
    seconds,
    uniform,
)
from nonsmooth import Model, Revolute, RigidBody, SpringDamper, TorsionSpring
from nonsmooth.elements.forces import Force


def chains(rng: Rng) -> Case:
    """Return one to four rods on pins in a random pose, at rest or swinging."""
    size, heavy = decades(rng, 0.05, 5.0), decades(rng, 0.05, 50.0)
    until = seconds(size)
    bodies: list[RigidBody] = []
    joints: list[Revolute] = []
    p = np.zeros(2)
    for k in range(int(rng.integers(1, 5))):
        length, angle = size * uniform(rng, 0.4, 1.0), uniform(rng, -math.pi, math.pi)
        q = p + length * np.array([math.cos(angle), math.sin(angle)])
        bodies.append(rod(f"rod{k}", p, q, heavy * uniform(rng, 0.3, 1.5)))
        friction = friction_law(rng, size=size, high=0.8) if chance(rng, 0.85) else None
        joints.append(
            Revolute(
                name=f"pin{k}",
                a=f"rod{k - 1}.q" if k else "ground",
                b=f"rod{k}.p",
                friction=friction,
                radius=size * uniform(rng, 0.02, 0.15) if friction else None,
            )
        )
        p = q
    weight = heavy * G
    last = bodies[-1].name
    forces: list[Force] = excite(rng, last, weight, size, 2.0 / until * 6.0, until)
    if chance(rng, 0.3):
        stiffness = weight * size * uniform(rng, 0.2, 3.0)
        forces.append(
            TorsionSpring(
                name="coil", b="rod0", stiffness=stiffness, damping=0.02 * stiffness
            )
        )
    if chance(rng, 0.3):
        forces.append(
            SpringDamper(
                name="spring",
                b=f"{last}.q",
                stiffness=pick(rng, (1.0, 10.0)) * weight / size,
                damping=0.1 * weight / math.sqrt(G * size),
                rest_length=0.5 * size,
            )
        )
    model = Model(gravity=(0.0, -G), bodies=bodies, joints=joints, forces=forces)
    return Case(model=model, until=until)
