"""Joints and contacts together: legs, hammers, stops, cranks that drag a rod."""

from __future__ import annotations

import math

import numpy as np

from fuzz.families.common import (
    FRICTION,
    Case,
    G,
    Rng,
    decades,
    excite,
    friction_law,
    normal_law,
    pick,
    rod,
    seconds,
    sinks,
    uniform,
    wave,
)
from fuzz.families.feet import table
from fuzz.families.loops import motor, pin
from nonsmooth import (
    Circle,
    Contact,
    Distance,
    Ground,
    Harmonic,
    Line,
    Model,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    RigidBody,
    SpringDamper,
    Weld,
)


def mixed(rng: Rng) -> Case:
    """Return one of several machines."""
    size, mass = decades(rng, 0.05, 1.0), decades(rng, 0.1, 20.0)
    makers = (_leg, _hammer, _carriage, _crank_foot, _tethered)
    return pick(rng, makers)(rng, size, mass, seconds(size, 2.0))


def _laws(rng: Rng, size: float, mass: float) -> dict:
    return {
        "normal": normal_law(rng, mass, size * decades(rng, 1e-5, 1e-3)),
        "friction": friction_law(rng, FRICTION, size=size),
    }


def _leg(rng: Rng, size: float, mass: float, until: float) -> Case:
    """Return a body above a sprung foot in a guide with friction, on a table."""
    laws = _laws(rng, size, mass)
    low = -sinks(laws["normal"], 1.2 * mass * G)
    guide = Prismatic(
        name="guide",
        a="body",
        b="foot.top",
        axis=math.pi / 2.0,
        friction=friction_law(rng, FRICTION, 0.02, 0.2, size),
        length=0.2 * size,
        height=0.05 * size,
    )
    stiffness = mass * G / (0.1 * size)
    bodies = [
        table(rng, "floor", size, until),
        RigidBody(
            name="body",
            mass=mass,
            inertia=mass * size**2 * uniform(rng, 0.1, 1.0),
            position=(0.0, size + low),
        ),
        RigidBody(
            name="foot",
            mass=0.2 * mass,
            inertia=0.02 * mass * size**2,
            position=(0.0, 0.4 * size + low),
            points={
                "top": (0.0, 0.1 * size),
                "heel": (-0.2 * size, -0.4 * size),
                "toe": (0.2 * size, -0.4 * size),
            },
        ),
    ]
    spring = SpringDamper(
        name="spring",
        a="body",
        b="foot",
        stiffness=stiffness,
        damping=0.05 * stiffness * math.sqrt(size / G),
        rest_length=0.7 * size,
    )
    contacts = [
        Contact(name=n, a="floor", b=f"foot.{n}", **laws) for n in ("heel", "toe")
    ]
    push = PointForce(
        name="push", b="body", fy=wave(rng, 0.8 * mass * G, 15.0 / until, until)
    )
    model = Model(
        gravity=(0.0, -G),
        bodies=bodies,
        joints=[guide],
        forces=[spring, push],
        contacts=contacts,
    )
    return Case(model=model, until=until)


def _hammer(rng: Rng, size: float, mass: float, until: float) -> Case:
    """Return a hammer on a frictional pin that strikes a ball in a slot, and stops."""
    laws = _laws(rng, size, mass)
    radius = 0.15 * size
    hammer = rod(
        "hammer",
        (0.0, size),
        (-size * math.sin(1.0), size * (1.0 - math.cos(1.0))),
        mass,
        shapes={"head": Circle(center=(0.5 * size, 0.0), radius=radius)},
    )
    ball = RigidBody(
        name="ball",
        mass=mass * uniform(rng, 0.2, 2.0),
        inertia=0.4 * mass * radius**2,
        position=(2.05 * radius, 0.0),
        shapes={"rim": Circle(radius=radius)},
    )
    stop = Line(point=(size, 0.0), angle=math.pi / 2.0)
    contacts = [
        Contact(name="strike", a="hammer.head", b="ball.rim", **laws),
        Contact(name="stop", a="ground.stop", b="ball.rim", **laws),
    ]
    model = Model(
        gravity=(0.0, -G),
        bodies=[
            Ground(points={"pivot": (0.0, size)}, shapes={"stop": stop}),
            hammer,
            ball,
        ],
        joints=[
            pin(rng, "pivot", "ground.pivot", "hammer.p", size),
            PinInSlot(
                name="slot", b="ball", friction=friction_law(rng, FRICTION, size=size)
            ),
        ],
        contacts=contacts,
        forces=excite(rng, "hammer", mass * G, size, 12.0 / until, until),
    )
    return Case(model=model, until=until)


def _carriage(rng: Rng, size: float, mass: float, until: float) -> Case:
    """Return a mass that lies on a driven carriage in a guide with friction."""
    laws = _laws(rng, size, mass)
    carriage = RigidBody(
        name="carriage",
        mass=2.0 * mass,
        inertia=0.2 * mass * size**2,
        shapes={"deck": Line(point=(0.0, 0.1 * size))},
    )
    load = PointMass(
        name="load",
        mass=mass,
        position=(0.0, 0.1 * size - sinks(laws["normal"], mass * G)),
    )
    guide = Prismatic(
        name="guide",
        b="carriage",
        friction=friction_law(rng, FRICTION, 0.02, 0.4, size),
        length=0.5 * size,
        height=pick(rng, (0.0, 0.2 * size)),
    )
    force = 3.0 * mass * G * uniform(rng, 0.1, 1.0)
    pace = uniform(rng, 8.0, 25.0) / until
    model = Model(
        gravity=(0.0, -G),
        bodies=[carriage, load],
        joints=[guide],
        forces=[
            PointForce(name="push", b="carriage", fx=wave(rng, force, pace, until)),
            PointForce(
                name="lift",
                b="load",
                fy=Harmonic(amplitude=0.9 * mass * G, angular_frequency=pace),
            ),
        ],
        contacts=[Contact(name="deck", a="carriage.deck", b="load", **laws)],
    )
    return Case(model=model, until=until)


def _crank_foot(rng: Rng, size: float, mass: float, until: float) -> Case:
    """Return a driven crank with a rod whose end drags over the floor."""
    laws = _laws(rng, size, mass)
    angle = uniform(rng, 0.3, 2.8)
    r, high = 0.25 * size, 0.5 * size
    A = np.array([r * math.cos(angle), high + r * math.sin(angle)])
    low = -sinks(laws["normal"], 0.4 * mass * G)
    across = math.sqrt(size**2 - (A[1] - low) ** 2)
    B = np.array([A[0] + across, low])
    stone = Circle(center=(float(B[0]) + 0.3 * size, 0.1 * size), radius=0.1 * size)
    # The end is a point, or a shoe just above it.
    radius = 0.05 * size
    middle = (0.5 * size - radius * across / size, radius * float(A[1] - low) / size)
    shoe = Circle(center=middle, radius=radius)
    end = pick(rng, ("q", "shoe"))
    bodies = [
        Ground(points={"O": (0.0, high)}, shapes={"stone": stone}),
        rod("crank", (0.0, high), A, 0.5 * mass),
        rod("rod", A, B, mass, shapes={"shoe": shoe}),
    ]
    joints = [
        pin(rng, "O", "ground.O", "crank.p", size),
        pin(rng, "A", "crank.q", "rod.p", size),
    ]
    contacts = [
        Contact(name="floor", b=f"rod.{end}", **laws),
        Contact(name="stone", a="ground.stone", b=f"rod.{end}", **laws),
    ]
    model = Model(
        gravity=(0.0, -G),
        bodies=bodies,
        joints=joints,
        drives=[motor(rng, "crank", angle, until)],
        contacts=contacts,
    )
    return Case(model=model, until=until)


def _tethered(rng: Rng, size: float, mass: float, until: float) -> Case:
    """Return two welded halves on three feet, tied by a bar to a swinging mass."""
    laws = _laws(rng, size, mass)
    low = -sinks(laws["normal"], 0.7 * mass * G)
    left = RigidBody(
        name="left",
        mass=mass,
        inertia=0.1 * mass * size**2,
        position=(-0.5 * size, 0.3 * size + low),
        points={"foot": (0.0, -0.3 * size), "seam": (0.5 * size, 0.0)},
    )
    right = RigidBody(
        name="right",
        mass=mass,
        inertia=0.1 * mass * size**2,
        position=(0.5 * size, 0.3 * size + low),
        points={
            "foot": (0.0, -0.3 * size),
            "seam": (-0.5 * size, 0.0),
            "eye": (0.5 * size, 0.0),
        },
    )
    bob = PointMass(
        name="bob",
        mass=0.3 * mass,
        position=(1.8 * size, 0.3 * size + low),
        velocity=(0.0, 0.0),
    )
    model = Model(
        gravity=(0.0, -G),
        bodies=[left, right, bob],
        joints=[
            Weld(name="seam", a="left.seam", b="right.seam"),
            Distance(name="bar", a="right.eye", b="bob", length=0.8 * size),
        ],
        contacts=[
            Contact(name="c1", b="left.foot", **laws),
            Contact(name="c2", b="right.foot", **laws),
            Contact(name="c3", b="bob", **laws),
        ],
        forces=excite(rng, "left", 0.6 * mass * G, size, 12.0 / until, until),
    )
    return Case(model=model, until=until)
