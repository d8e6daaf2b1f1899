"""Segments: hilly ground, shelves that things fall off and under, trays that tip."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from fuzz.families.common import (
    Case,
    G,
    Rng,
    box,
    chance,
    decades,
    friction_law,
    normal_law,
    pick,
    rod,
    seconds,
    uniform,
)
from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Ground,
    Line,
    Model,
    MovingSupport,
    Revolute,
    RigidBody,
    Segment,
    SmoothStep,
    TorsionSpring,
)
from nonsmooth.elements.bodies import Body
from nonsmooth.elements.shapes import Shape

# What touches of a body, by the body.
Touching = tuple[RigidBody, list[str]]


def terrains(rng: Rng) -> Case:
    """Return something that rolls, slides or tumbles over segments."""
    size, mass = decades(rng, 0.02, 1.0), decades(rng, 0.05, 20.0)
    scene = pick(rng, (_hills, _shelf, _belt, _tray))
    return scene(rng, size, mass, seconds(size))


def _thing(rng: Rng, size: float, mass: float, at: tuple[float, float]) -> Touching:
    """Return a ball, a box or a rod with two ends, of some 0.6 times the size."""
    kind = int(rng.integers(3))
    velocity = (uniform(rng, -1.0, 1.0) * math.sqrt(G * size), 0.0)
    spin = uniform(rng, -1.0, 1.0) * math.sqrt(G / size)
    motion: dict[str, Any] = {"velocity": velocity, "angular_velocity": spin}
    if kind == 0:
        radius = 0.3 * size
        ball = RigidBody(
            name="body",
            mass=mass,
            inertia=0.4 * mass * radius**2,
            position=at,
            shapes={"rim": Circle(radius=radius)},
            **motion,
        )
        return ball, ["body.rim"]
    angle = uniform(rng, -0.8, 0.8)
    if kind == 1:
        wide, high = 0.5 * size, size * uniform(rng, 0.2, 0.5)
        crate = box("body", wide, high, mass, at, angle=angle, **motion)
        return crate, ["body.outline"]
    half = 0.3 * size * np.array([math.cos(angle), math.sin(angle)])
    bar = rod("body", np.array(at) - half, np.array(at) + half, mass, **motion)
    return bar, ["body.p", "body.q"]


def _scene(
    rng: Rng,
    size: float,
    thing: Touching,
    others: list[Body],
    surfaces: list[str],
    **fields: Any,
) -> Model:
    """Return a model in which a body may touch all surfaces."""
    body, parts = thing
    law = normal_law(rng, body.mass, size * decades(rng, 1e-5, 5e-4))
    friction = friction_law(rng, size=size) if chance(rng, 0.8) else None
    contacts = [
        Contact(name=f"c{k}_{j}", a=a, b=b, normal=law, friction=friction)
        for k, a in enumerate(surfaces)
        for j, b in enumerate(parts)
    ]
    bodies = [*others, body]
    return Model(gravity=(0.0, -G), bodies=bodies, contacts=contacts, **fields)


def _hills(rng: Rng, size: float, mass: float, until: float) -> Case:
    """Return a body that falls on a chain of segments, up and down."""
    n = int(rng.integers(3, 7))
    x = np.cumsum(rng.uniform(0.6, 1.6, n + 1)) * size
    x -= 0.5 * (x[0] + x[-1])
    y = rng.uniform(-0.2, 0.2, n + 1) * size + uniform(rng, -0.2, 0.2) * x
    knots = list(zip(x.tolist(), y.tolist(), strict=True))
    shapes: dict[str, Shape] = {
        f"s{k}": Segment(start=a, end=b) for k, (a, b) in enumerate(pairwise(knots))
    }
    low = float(np.min(y)) - 2.0 * size
    shapes["low"] = Line(point=(0.0, low))
    at = uniform(rng, float(x[0]), float(x[-1]))
    high = float(np.interp(at, x, y)) + size * uniform(rng, 0.6, 1.0)
    thing = _thing(rng, size, mass, (at, high))
    surfaces = [f"ground.{name}" for name in shapes]
    model = _scene(rng, size, thing, [Ground(shapes=shapes)], surfaces)
    return Case(model=model, until=until, traits=("hills",))


def _shelf(rng: Rng, size: float, mass: float, until: float) -> Case:
    """Return a body on a shelf near its end, above another and a floor."""
    drop = size * uniform(rng, 0.7, 2.0)
    shapes: dict[str, Shape] = {
        "top": Segment(start=(-3.0 * size, 0.0), end=(0.0, 0.0)),
        "low": Segment(
            start=(-1.5 * size, -drop), end=(size * uniform(rng, 0.05, 2.0), -drop)
        ),
        "floor": Line(point=(0.0, -2.0 * drop)),
    }
    at = size * uniform(rng, -0.6, 0.2), size * uniform(rng, 0.4, 0.7)
    thing = _thing(rng, size, mass, at)
    surfaces = [f"ground.{name}" for name in shapes]
    model = _scene(rng, size, thing, [Ground(shapes=shapes)], surfaces)
    return Case(model=model, until=until, traits=("shelf",))


def _belt(rng: Rng, size: float, mass: float, until: float) -> Case:
    """Return a body on a plate with ends that moves on, above a floor."""
    rate = uniform(rng, -1.5, 1.5) * math.sqrt(G * size)
    half = size * uniform(rng, 0.5, 1.5)
    plate = MovingSupport(
        name="plate",
        x=ConstantRate(rate=rate),
        shapes={"top": Segment(start=(-half, 0.0), end=(half, 0.0))},
    )
    floor = Ground(shapes={"floor": Line(point=(0.0, -1.5 * size))})
    at = size * uniform(rng, -0.3, 0.3), size * uniform(rng, 0.4, 0.6)
    thing = _thing(rng, size, mass, at)
    surfaces = ["plate.top", "ground.floor"]
    model = _scene(rng, size, thing, [plate, floor], surfaces)
    return Case(model=model, until=until, traits=("belt",))


def _tray(rng: Rng, size: float, mass: float, until: float) -> Case:
    """Return a body on a tray with rims that tips, on a spring or by a law."""
    wide, rim = size * uniform(rng, 0.8, 2.0), size * uniform(rng, 0.1, 0.5)
    shapes: dict[str, Shape] = {
        "base": Segment(start=(-wide, 0.0), end=(wide, 0.0)),
        "left": Segment(start=(-wide, rim), end=(-wide, 0.0)),
        "right": Segment(start=(wide, 0.0), end=(wide, rim)),
    }
    at = size * uniform(rng, -0.3, 0.3), size * uniform(rng, 0.4, 0.6)
    thing = _thing(rng, size, mass, at)
    surfaces = [f"tray.{name}" for name in shapes]
    if chance(rng, 0.5):
        tip = SmoothStep(end=uniform(rng, -1.4, 1.4), duration=until)
        tray = MovingSupport(name="tray", theta=tip, shapes=shapes)
        model = _scene(rng, size, thing, [tray], surfaces)
        return Case(model=model, until=until, traits=("tray",))
    own = RigidBody(
        name="tray",
        mass=3.0 * mass,
        inertia=mass * wide**2,
        shapes=shapes,
    )
    spring = TorsionSpring(
        name="spring",
        b="tray",
        stiffness=mass * G * size * uniform(rng, 0.5, 5.0),
        damping=0.05 * mass * size * math.sqrt(G * size),
    )
    pin = Revolute(name="pin", a="ground", b="tray")
    model = _scene(rng, size, thing, [own], surfaces, joints=[pin], forces=[spring])
    return Case(model=model, until=until, traits=("tray",))
