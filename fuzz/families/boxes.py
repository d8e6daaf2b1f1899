"""Boxes on lines: at rest, pushed, shaken, dropped on a corner, against a wall."""

from __future__ import annotations

import math

from fuzz.families.common import (
    Case,
    G,
    Rng,
    box,
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
from fuzz.families.feet import table
from nonsmooth import Contact, Ground, Line, Model, Polygon, RigidBody
from nonsmooth.elements.bodies import Body


def boxes(rng: Rng) -> Case:
    """Return a box or a regular polygon on a floor, perhaps against a wall."""
    size, mass = decades(rng, 0.02, 2.0), decades(rng, 0.05, 100.0)
    until = seconds(size, 2.0)
    law = normal_law(rng, mass, size * decades(rng, 1e-5, 1e-3))
    friction = friction_law(rng, size=size) if chance(rng, 0.9) else None
    pace = math.sqrt(G * size)
    is_dropped = chance(rng, 0.35)
    vx = pick(rng, (0.0, uniform(rng, -1.0, 1.0))) * pace
    if chance(rng, 0.75):
        width, height = size, size * uniform(rng, 0.3, 2.5)
        # Both lower corners, or a flat face, carry the weight.
        y = 0.5 * height - sinks(law, 0.5 * mass * G)
        body = box("box", width, height, mass, (0.0, y), velocity=(vx, 0.0))
    else:
        n = int(rng.integers(3, 9))
        turns = [2.0 * math.pi * (k - 0.5) / n - math.pi / 2.0 for k in range(n)]
        corners = tuple(
            (0.5 * size * math.cos(phi), 0.5 * size * math.sin(phi)) for phi in turns
        )
        y = -corners[0][1] - sinks(law, 0.5 * mass * G)
        body = RigidBody(
            name="box",
            mass=mass,
            inertia=mass * size**2 / 10.0,
            position=(0.0, y),
            velocity=(vx, 0.0),
            shapes={"outline": Polygon(vertices=corners)},
        )
    if is_dropped:
        reach = max(math.hypot(*v) for v in body.shapes["outline"].corners())
        high = reach * uniform(rng, 1.02, 2.0)
        body = RigidBody(
            name="box",
            mass=mass,
            inertia=body.inertia,
            position=(0.0, high),
            angle=uniform(rng, -0.8, 0.8),
            velocity=(vx, 0.0),
            angular_velocity=pace / size * uniform(rng, -2.0, 2.0),
            shapes=body.shapes,
        )
    wall = Line(point=(size * uniform(rng, 1.5, 2.5), 0.0), angle=math.pi / 2.0)
    bodies: list[Body] = [Ground(shapes={"wall": wall}), body]
    floor = "ground"
    if chance(rng, 0.5):
        floor = "floor"
        bodies.append(table(rng, floor, size, until))
    contacts = [
        Contact(name="sole", a=floor, b="box.outline", normal=law, friction=friction)
    ]
    if chance(rng, 0.4):
        contacts.append(
            Contact(
                name="side",
                a="ground.wall",
                b="box.outline",
                normal=law,
                friction=friction,
            )
        )
    forces = excite(
        rng, "box", uniform(rng, 0.1, 0.8) * mass * G, 0.3 * size, 12.0 / until, until
    )
    model = Model(gravity=(0.0, -G), bodies=bodies, contacts=contacts, forces=forces)
    return Case(model=model, until=until)
