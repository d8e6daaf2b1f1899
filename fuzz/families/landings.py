"""Bodies of several pieces, thrown on fixed blocks, on each other, on what moves."""

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
    rectangle,
    seconds,
    uniform,
)
from fuzz.families.feet import table
from nonsmooth import Contact, Ground, Model, Polygon, RigidBody
from nonsmooth.elements.bodies import Body

Pieces = dict[str, Polygon]
# Letters by the rectangles they are cut into: middle x and y, width, height.
LETTERS = {
    "H": ((-0.4, 0.0, 0.2, 1.0), (0.4, 0.0, 0.2, 1.0), (0.0, 0.0, 0.6, 0.2)),
    "L": ((0.0, -0.4, 1.0, 0.2), (-0.4, 0.1, 0.2, 0.8)),
    "T": ((0.0, 0.4, 1.0, 0.2), (0.0, -0.1, 0.2, 0.8)),
    "U": ((0.0, -0.4, 1.0, 0.2), (-0.4, 0.1, 0.2, 0.8), (0.4, 0.1, 0.2, 0.8)),
    "Z": ((-0.2, 0.4, 0.6, 0.2), (0.0, 0.0, 0.2, 0.6), (0.2, -0.4, 0.6, 0.2)),
}


def landings(rng: Rng) -> Case:
    """Return one or two letters, thrown on a block, a wedge, two blocks, a table."""
    size, mass = decades(rng, 0.02, 1.0), decades(rng, 0.05, 20.0)
    until = seconds(size, 2.0)
    law = normal_law(rng, mass, size * decades(rng, 1e-6, 3e-5))
    friction = friction_law(rng, size=size) if chance(rng, 0.9) else None
    bodies: list[Body] = []
    pairs: list[tuple[str, str]] = []
    kind = pick(rng, ("block", "wedge", "blocks", "table", "line"))
    floors = ["ground"]
    if kind == "table":
        floors = ["floor"]
        bodies.append(table(rng, "floor", size, until))
    elif kind != "line":
        shapes = _ground(rng, kind, size)
        floors = [f"ground.{name}" for name in shapes]
        bodies.append(Ground(shapes=dict(shapes)))
    n = 2 if chance(rng, 0.6) else 1
    for k in range(n):
        height = size * (uniform(rng, 0.72, 1.3) + 1.5 * k)
        letter = _letter(rng, f"letter{k + 1}", size, mass, height)
        bodies.append(letter)
        pairs += [(floor, letter.name) for floor in floors]
    if n == 2:
        pairs.append(("letter1", "letter2"))
    contacts = [
        Contact(name=f"c{k + 1}", a=a, b=b, normal=law, friction=friction)
        for k, (a, b) in enumerate(pairs)
    ]
    pace = 12.0 / until
    forces = excite(rng, "letter1", 0.3 * mass * G, 0.3 * size, pace, until)
    model = Model(gravity=(0.0, -G), bodies=bodies, contacts=contacts, forces=forces)
    return Case(model=model, until=until, traits=(kind,))


def _letter(rng: Rng, name: str, size: float, mass: float, height: float) -> RigidBody:
    """Return a letter about its middle, upright, on its side, or at any angle."""
    pieces: Pieces = {
        f"p{k + 1}": rectangle(size * w, size * h, (size * x, size * y))
        for k, (x, y, w, h) in enumerate(LETTERS[pick(rng, sorted(LETTERS))])
    }
    pace = math.sqrt(G * size)
    is_level = chance(rng, 0.3)
    quarter = 0.5 * math.pi * int(rng.integers(4))
    return RigidBody(
        name=name,
        mass=mass,
        inertia=0.15 * mass * size**2,
        position=(size * uniform(rng, -0.3, 0.3), height),
        angle=quarter + (0.0 if is_level else uniform(rng, -0.8, 0.8)),
        velocity=(0.0 if is_level else pace * uniform(rng, -1.0, 1.0), 0.0),
        angular_velocity=0.0 if is_level else pace / size * uniform(rng, -2.0, 2.0),
        shapes=dict(pieces),
    )


def _ground(rng: Rng, kind: str, size: float) -> Pieces:
    """Return what is fixed, with tops at the level 0 or below."""
    if kind == "block":
        wide = size * uniform(rng, 0.5, 6.0)
        return {"block": rectangle(wide, size, (0.0, -0.5 * size))}
    if kind == "wedge":
        low = -size * uniform(rng, 0.2, 1.0)
        corners = ((-1.5 * size, low), (1.5 * size, low), (0.0, 0.0))
        return {"wedge": Polygon(vertices=corners)}
    gap = size * uniform(rng, 0.1, 0.8)
    wide = 1.5 * size
    return {
        name: rectangle(wide, size, (side * 0.5 * (gap + wide), -0.5 * size))
        for name, side in (("left", -1.0), ("right", 1.0))
    }
