"""Flexible bars that meet the floor, a ball or each other, node by node."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from fuzz.families.beams import MOST_PERIODS, bar
from fuzz.families.common import Case, G, Rng, chance, decades, pick, seconds, uniform
from nonsmooth import (
    Circle,
    Contact,
    Coulomb,
    Material,
    Model,
    RigidBody,
    Unilateral,
)
from nonsmooth.elements.meshes import Patch


def patches(rng: Rng) -> Case:
    """Return a bar that falls on the floor, or one on which a ball falls."""
    return (_struck if chance(rng, 0.3) else _dropped)(rng)


def _struck(rng: Rng) -> Case:
    """Return a clamped bar, and a ball that falls on its upper side."""
    size = decades(rng, 0.05, 2.0)
    ends = pick(rng, (("left",), ("left", "right")))
    body, period = bar(rng, "bar", size, fixed=ends)
    mesh: Any = body.mesh
    metal: Any = body.material
    top, place = 0.5 * mesh.height, size * uniform(rng, -0.3, 0.3)
    radius = size * decades(rng, 0.1, 1.0)
    whole = metal.density * mesh.width * mesh.height * body.thickness
    mass = whole * decades(rng, 0.01, 1.0)
    high = top + radius + size * decades(rng, 1e-5, 1e-3)
    ball = RigidBody(
        name="ball",
        mass=mass,
        inertia=0.5 * mass * radius**2,
        position=(place, high),
        velocity=(0.0, -math.sqrt(G * size) * uniform(rng, 0.0, 0.1)),
        shapes={"rim": Circle(radius=radius)},
    )
    body = replace(body, patches={"face": Patch(boundary="top")})
    law = Unilateral(penalty=None)
    contact = Contact(name="c", a="ball.rim", b="bar.face", normal=law)
    model = Model(gravity=(0.0, -G), bodies=[body, ball], contacts=[contact])
    return Case(model=model, until=min(seconds(size, 1.0), MOST_PERIODS * period))


def _dropped(rng: Rng) -> Case:
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


def pairs(rng: Rng) -> Case:
    """Return a clamped bar, and a shorter one that falls on it or slides along it."""
    size = decades(rng, 0.05, 2.0)
    ends = pick(rng, (("left",), ("left", "right")))
    lower, period = bar(rng, "lower", size, fixed=ends)
    short, pace = size * uniform(rng, 0.2, 0.4), math.sqrt(G * size)
    angle = pick(rng, (0.0, uniform(rng, -0.05, 0.05)))
    upper, own = bar(
        rng,
        "upper",
        short,
        angle=angle,
        velocity=(0.3 * pace * uniform(rng, -1.0, 1.0), -0.1 * pace * rng.random()),
    )
    below: Any = lower.mesh
    above: Any = upper.mesh
    low = 0.5 * (short * abs(math.sin(angle)) + above.height * math.cos(angle))
    high = 0.5 * below.height + low + size * decades(rng, 1e-5, 1e-3)
    place = (size * uniform(rng, -0.15, 0.15), high)
    sole = {"sole": Patch(boundary="bottom")}
    upper = replace(upper, position=place, patches=sole)
    lower = replace(lower, patches={"face": Patch(boundary="top")})
    mu = pick(rng, (None, uniform(rng, 0.05, 0.6)))
    contact = Contact(
        name="c",
        a="lower.face",
        b="upper.sole",
        normal=Unilateral(),
        friction=None if mu is None else Coulomb(mu=mu, mu_static=1.2 * mu),
    )
    model = Model(gravity=(0.0, -G), bodies=[lower, upper], contacts=[contact])
    # It must not slide off: nodes across from nothing do not touch.
    until = min(seconds(size, 0.3), MOST_PERIODS * min(period, own))
    return Case(model=model, until=until)
