"""Flexible bars whose lower side meets the floor node by node, without friction."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from fuzz.families.beams import MOST_PERIODS, bar
from fuzz.families.common import Case, G, Rng, chance, decades, pick, seconds, uniform
from nonsmooth import Contact, Material, Model, Unilateral
from nonsmooth.elements.meshes import Patch


def patches(rng: Rng) -> Case:
    """Return a bar that falls on its sole, or on two feet of it."""
    size = decades(rng, 0.05, 2.0)
    angle = pick(rng, (0.0, uniform(rng, -0.3, 0.3)))
    pace = math.sqrt(G * size)
    body, period = bar(
        rng,
        "bar",
        size,
        angle=angle,
        angular_velocity=pace / size * uniform(rng, -1.0, 1.0),
        velocity=(pace * uniform(rng, -1.0, 1.0), -pace * uniform(rng, 0.0, 0.3)),
    )
    mesh: Any = body.mesh
    metal: Material | Any = body.material
    under = -0.5 * mesh.height
    soles = {"sole": Patch(boundary="bottom")}
    if chance(rng, 0.5):
        soles = {
            name: Patch(boundary="bottom", center=(x, under), radius=0.3 * size)
            for name, x in (("left", -0.5 * size), ("right", 0.5 * size))
        }
    low = 0.5 * (size * abs(math.sin(angle)) + mesh.height * math.cos(angle))
    high = low + size * decades(rng, 1e-5, 1e-3)
    body = replace(body, position=(0.0, high), patches=soles)
    # A piece as long as it is high may sink in by so much under its own weight.
    depth = size * decades(rng, 1e-7, 1e-4)
    weight = metal.density * mesh.height * body.thickness * G  # of a unit of length
    law = Unilateral(penalty=weight / depth if chance(rng, 0.5) else None)
    contacts = [Contact(name=f"c_{n}", b=f"bar.{n}", normal=law) for n in soles]
    model = Model(gravity=(0.0, -G), bodies=[body], contacts=contacts)
    return Case(model=model, until=min(seconds(size, 1.0), MOST_PERIODS * period))
