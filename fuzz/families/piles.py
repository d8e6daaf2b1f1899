"""Stacks, rows and brick walls of boxes whose faces touch exactly, and then settle."""

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
    pick,
    seconds,
    uniform,
)
from nonsmooth import Contact, Model, RigidBody

DAMPED = ("KelvinVoigt", "HuntCrossley", "DampedHertz")


def piles(rng: Rng) -> Case:
    """Return boxes as a user places them: from a sum of heights, with no overlap."""
    width, mass = decades(rng, 0.05, 1.0), decades(rng, 0.1, 20.0)
    height = 0.5 * width
    kind = pick(rng, ("stack", "row", "wall"))
    if kind == "stack":
        courses = [1] * int(rng.integers(2, 11))
    elif kind == "row":
        courses = [int(rng.integers(2, 7))]
    else:
        courses = list(range(int(rng.integers(2, 5)), 0, -1))
    total = mass * sum(courses)
    law = normal_law(rng, total, width * decades(rng, 1e-5, 5e-4), DAMPED)
    friction = friction_law(rng, STICKING, 0.2, 0.8, width)
    tilt = 0.0 if chance(rng, 0.6) else uniform(rng, -0.05, 0.05)
    bodies: list[RigidBody] = []
    contacts: list[Contact] = []

    def touch(a: str, b: str) -> None:
        name = f"c{len(contacts) + 1}"
        pair = Contact(name=name, a=a, b=b, normal=law, friction=friction)
        contacts.append(pair)

    for level, n in enumerate(courses):
        for k in range(n):
            name = f"box{level + 1}_{k + 1}"
            place = ((k + 0.5 * level) * width, (level + 0.5) * height)
            bodies.append(box(name, width, height, mass, place))
            own = f"{name}.outline"
            below = (k,) if kind == "stack" else (k, k + 1)
            for j in below if level else ():
                touch(f"box{level}_{j + 1}.outline", own)
            if not level:
                touch("ground", own)
            if k:
                touch(f"box{level + 1}_{k}.outline", own)
    gravity = (G * tilt, -G)
    model = Model(gravity=gravity, bodies=bodies, contacts=contacts)
    return Case(model=model, until=seconds(width), traits=(kind,))
