"""Circles and segments: wheels, balls, rods that fall on edges and on each other."""

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
    seconds,
    sinks,
    uniform,
)
from fuzz.families.feet import table
from nonsmooth import (
    Circle,
    Contact,
    Ground,
    Line,
    Model,
    RigidBody,
    Segment,
)
from nonsmooth.elements.bodies import Body


def shapes(rng: Rng) -> Case:
    """Return one of several scenes of round and thin things."""
    size, mass = decades(rng, 0.02, 2.0), decades(rng, 0.05, 50.0)
    return pick(rng, (_wheel, _balls, _rod, _ramp))(rng, size, mass)


def _ball(name: str, size: float, mass: float, at: tuple[float, float], **fields):
    return RigidBody(
        name=name,
        mass=mass,
        inertia=0.4 * mass * size**2,
        position=at,
        shapes={"rim": Circle(radius=size)},
        **fields,
    )


def _wheel(rng: Rng, size: float, mass: float) -> Case:
    """Return a wheel that is thrown along a floor, or stands on a support."""
    until = seconds(size)
    law = normal_law(rng, mass, size * decades(rng, 1e-5, 1e-3))
    pace = math.sqrt(G * size)
    high = size - sinks(law, mass * G) if chance(rng, 0.6) else 1.2 * size
    wheel = _ball(
        "wheel",
        size,
        mass,
        (0.0, high),
        velocity=(pace * uniform(rng, -2.0, 2.0), 0.0),
        angular_velocity=pace / size * uniform(rng, -3.0, 3.0),
    )
    wall = Line(point=(3.0 * size, 0.0), angle=math.pi / 2.0)
    bodies: list[Body] = [Ground(shapes={"wall": wall}), wheel]
    floor = "ground"
    if chance(rng, 0.4):
        floor = "floor"
        bodies.append(table(rng, floor, size, until))
    contacts = [
        Contact(
            name=name,
            a=a,
            b="wheel.rim",
            normal=law,
            friction=friction_law(rng, size=size),
        )
        for name, a in (("sole", floor), ("side", "ground.wall"))
    ]
    forces = excite(rng, "wheel", 0.5 * mass * G, size, 15.0 / until, until)
    model = Model(gravity=(0.0, -G), bodies=bodies, contacts=contacts, forces=forces)
    return Case(model=model, until=until)


def _balls(rng: Rng, size: float, mass: float) -> Case:
    """Return two or three balls in a trough, one on the others."""
    until = seconds(size)
    law = normal_law(rng, mass, size * decades(rng, 1e-5, 1e-3))
    ratio = uniform(rng, 0.6, 1.4)
    apart = size * uniform(rng, 1.005, 1.2)
    place = {"one": (-apart, 1.01 * size), "two": (apart, 1.01 * size)}
    rise = math.sqrt((size * (1.0 + ratio)) ** 2 - apart**2)
    place["top"] = (uniform(rng, -0.02, 0.02) * size, 1.02 * size + 1.002 * rise)
    radius = {"one": size, "two": size, "top": ratio * size}
    bodies = [
        Ground(
            shapes={
                "left": Line(point=(-2.5 * size, 0.0), angle=-math.pi / 2.0),
                "right": Line(point=(2.5 * size, 0.0), angle=math.pi / 2.0),
            }
        ),
        *(_ball(n, radius[n], mass * radius[n] / size, at) for n, at in place.items()),
    ]
    friction = friction_law(rng, size=size)
    pairs = [
        ("ground", "one"),
        ("ground", "two"),
        ("ground.left", "one"),
        ("ground.right", "two"),
        ("one.rim", "two"),
        ("one.rim", "top"),
        ("two.rim", "top"),
        ("ground", "top"),
    ]
    contacts = [
        Contact(name=f"c{k}", a=a, b=f"{b}.rim", normal=law, friction=friction)
        for k, (a, b) in enumerate(pairs)
    ]
    model = Model(gravity=(0.0, -G), bodies=bodies, contacts=contacts)
    return Case(model=model, until=until)


def _rod(rng: Rng, size: float, mass: float) -> Case:
    """Return a rod that falls on a floor and on a fixed roller."""
    until = seconds(size, 2.0)
    law = normal_law(rng, mass, size * decades(rng, 1e-5, 1e-3))
    friction = friction_law(rng, size=size)
    angle = uniform(rng, -0.6, 0.6)
    rod = RigidBody(
        name="rod",
        mass=mass,
        inertia=mass * size**2 / 3.0,
        position=(0.0, 0.4 * size + abs(size * math.sin(angle))),
        angle=angle,
        angular_velocity=uniform(rng, -1.0, 1.0) * math.sqrt(G / size),
        # Its face looks down.
        shapes={"face": Segment(start=(size, 0.0), end=(-size, 0.0))},
    )
    roller = Circle(
        center=(uniform(rng, -0.4, 0.4) * size, 0.1 * size), radius=0.15 * size
    )
    contacts = [
        Contact(name="floor", b="rod.face", normal=law, friction=friction),
        Contact(
            name="roller",
            a="ground.roller",
            b="rod.face",
            normal=law,
            friction=friction,
        ),
    ]
    model = Model(
        gravity=(0.0, -G),
        bodies=[Ground(shapes={"roller": roller}), rod],
        contacts=contacts,
    )
    return Case(model=model, until=until)


def _ramp(rng: Rng, size: float, mass: float) -> Case:
    """Return a ball and a foot on a ramp with an end, above a floor."""
    until = seconds(size)
    law = normal_law(rng, mass, size * decades(rng, 1e-5, 1e-3))
    tilt = uniform(rng, 0.05, 0.5)
    start = (-4.0 * size, 4.0 * size * math.tan(tilt) + size)
    ramp = Segment(start=start, end=(2.0 * size, size - 2.0 * size * math.tan(tilt)))
    nx, ny = math.sin(tilt), math.cos(tilt)
    deep = size - sinks(law, mass * G * ny)
    ball = _ball("ball", size, mass, (nx * deep, size + ny * deep))
    friction = friction_law(rng, size=size)
    contacts = [
        Contact(name=n, a=a, b="ball.rim", normal=law, friction=friction)
        for n, a in (("ramp", "ground.ramp"), ("floor", "ground.floor"))
    ]
    low = Line(point=(0.0, -5.0 * size))
    model = Model(
        gravity=(0.0, -G),
        bodies=[Ground(shapes={"ramp": ramp, "floor": low}), ball],
        contacts=contacts,
        forces=excite(rng, "ball", 0.3 * mass * G, size, 15.0 / until, until),
    )
    return Case(model=model, until=until)
