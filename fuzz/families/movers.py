"""Supports that time laws move under, into and past bodies: floors, blades, cams."""

from __future__ import annotations

import math

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
    seconds,
    uniform,
)
from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Expression,
    Ground,
    Harmonic,
    Line,
    Model,
    MovingSupport,
    PointMass,
    Polygon,
    Prismatic,
    RigidBody,
    Segment,
    SpringDamper,
)
from nonsmooth.elements.friction import FrictionLaw
from nonsmooth.elements.normal import NormalLaw

Laws = tuple[NormalLaw, FrictionLaw | None]


def movers(rng: Rng) -> Case:
    """Return something that a moving support meets, again and again."""
    size, mass = decades(rng, 0.02, 1.0), decades(rng, 0.05, 20.0)
    law = normal_law(rng, mass, size * decades(rng, 1e-5, 5e-4))
    friction = friction_law(rng, size=size) if chance(rng, 0.8) else None
    scene = pick(rng, (_floor, _blade, _cam, _piston))
    return scene(rng, size, mass, (law, friction))


def _body(
    rng: Rng, size: float, mass: float, at: tuple[float, float]
) -> tuple[str, RigidBody | PointMass]:
    """Return a point, a ball or a box, and what of it touches."""
    kind = int(rng.integers(3))
    vx = pick(rng, (0.0, uniform(rng, -0.5, 0.5))) * math.sqrt(G * size)
    if kind == 0:
        return "body", PointMass(name="body", mass=mass, position=at, velocity=(vx, 0))
    if kind == 1:
        rim = Circle(radius=0.3 * size)
        ball = RigidBody(
            name="body",
            mass=mass,
            inertia=0.4 * mass * (0.3 * size) ** 2,
            position=at,
            velocity=(vx, 0.0),
            shapes={"rim": rim},
        )
        return "body.rim", ball
    angle = pick(rng, (0.0, uniform(rng, -0.7, 0.7)))
    wide, high = 0.6 * size, 0.4 * size
    crate = box("body", wide, high, mass, at, velocity=(vx, 0.0), angle=angle)
    return "body.outline", crate


def _floor(rng: Rng, size: float, mass: float, laws: Laws) -> Case:
    """Return a body above a floor that beats, as a mass that falls does or faster."""
    law, friction = laws
    until = seconds(size)
    pace = uniform(rng, 10.0, 60.0) / until
    beat = uniform(rng, 0.3, 3.0) * G / pace**2
    sway = beat * pick(rng, (0.0, uniform(rng, 0.0, 1.0)))
    phase = uniform(rng, -math.pi, math.pi)
    swing = f"{beat!r}*sin({pace!r}*t + {phase!r})"
    rise = Harmonic(amplitude=beat, angular_frequency=pace, phase=phase)
    floor = MovingSupport(
        name="floor",
        x=Harmonic(amplitude=sway, angular_frequency=0.7 * pace),
        y=pick(rng, (rise, Expression(text=swing))),
        shapes={"top": Line()},
    )
    high = size * uniform(rng, 0.5, 1.0) + beat
    touching, body = _body(rng, size, mass, (0.0, high))
    contact = Contact(
        name="c", a="floor.top", b=touching, normal=law, friction=friction
    )
    model = Model(gravity=(0.0, -G), bodies=[floor, body], contacts=[contact])
    return Case(model=model, until=until, traits=("floor",))


def _blade(rng: Rng, size: float, mass: float, laws: Laws) -> Case:
    """Return a body on a floor, or in flight, that a turning blade hits."""
    law, friction = laws
    until = seconds(size)
    turns = uniform(rng, 0.5, 6.0) * pick(rng, (-1.0, 1.0))
    turn = ConstantRate(
        rate=2.0 * math.pi * turns / until, start=uniform(rng, 0.5, 2.6)
    )
    reach, thick = 1.5 * size, 0.1 * size
    shape = pick(rng, ("segment", "bar", "bar"))
    corners = ((0.0, -thick), (reach, -thick), (reach, thick), (0.0, thick))
    edge = Segment(start=(0.0, 0.0), end=(reach, 0.0))
    blade = MovingSupport(
        name="blade",
        x=uniform(rng, -2.0, 2.0) * size,
        y=uniform(rng, 0.6, 1.5) * size,
        theta=turn,
        shapes={"edge": edge if shape == "segment" else Polygon(vertices=corners)},
    )
    gravity = pick(rng, (0.0, -G))
    high = size * uniform(rng, 0.5, 1.2)
    touching, body = _body(rng, size, mass, (uniform(rng, -0.5, 0.5) * size, high))
    wall = Line(point=(4.0 * size, 0.0), angle=math.pi / 2.0)
    contacts = [
        Contact(name=name, a=a, b=touching, normal=law, friction=friction)
        for name, a in (
            ("hit", "blade.edge"),
            ("floor", "ground"),
            ("side", "ground.wall"),
        )
    ]
    model = Model(
        gravity=(0.0, gravity),
        bodies=[Ground(shapes={"wall": wall}), blade, body],
        contacts=contacts,
    )
    return Case(model=model, until=until, traits=(shape,))


def _cam(rng: Rng, size: float, mass: float, laws: Laws) -> Case:
    """Return a follower on a rail that a turning cam lifts, and may throw."""
    law, friction = laws
    turns = uniform(rng, 1.0, 4.0)
    # As fast as it would take to throw the follower, or a part of that.
    rate = uniform(rng, 0.3, 2.5) * math.sqrt(G / (0.2 * size))
    until = 2.0 * math.pi * turns / rate
    turn = ConstantRate(rate=rate * pick(rng, (-1.0, 1.0)), start=uniform(rng, -3, 3))
    n = int(rng.integers(5, 10))
    radius, off = 0.5 * size, 0.2 * size
    angles = [2.0 * math.pi * k / n for k in range(n)]
    rim = tuple(
        (off + radius * math.cos(phi), radius * math.sin(phi)) for phi in angles
    )
    outline = pick(
        rng, (Circle(center=(off, 0.0), radius=radius), Polygon(vertices=rim))
    )
    cam = MovingSupport(name="cam", theta=turn, shapes={"rim": outline})
    foot = RigidBody(
        name="foot",
        mass=mass,
        inertia=0.1 * mass * size**2,
        position=(0.0, radius + off + size * uniform(rng, 0.11, 0.3)),
        shapes={"tip": Circle(radius=0.1 * size)},
    )
    rail = Prismatic(name="rail", b="foot", axis=math.pi / 2.0)
    contact = Contact(
        name="c", a="cam.rim", b="foot.tip", normal=law, friction=friction
    )
    spring = SpringDamper(
        name="spring",
        a="ground.top",
        b="foot",
        stiffness=uniform(rng, 0.0, 5.0) * mass * G / size,
        rest_length=2.0 * size,
    )
    model = Model(
        gravity=(0.0, -G),
        bodies=[Ground(points={"top": (0.0, 3.0 * size)}), cam, foot],
        joints=[rail],
        forces=[spring],
        contacts=[contact],
    )
    return Case(model=model, until=until, traits=("cam",))


def _piston(rng: Rng, size: float, mass: float, laws: Laws) -> Case:
    """Return a body between a wall and a support that pushes it, without weight."""
    law, friction = laws
    until = seconds(size)
    pace = uniform(rng, 5.0, 40.0) / until
    stroke = size * uniform(rng, 0.05, 0.4)
    place = size * uniform(rng, -1.6, -1.2)
    push = Harmonic(amplitude=stroke, angular_frequency=pace, offset=place)
    face = Line(angle=-math.pi / 2.0)
    piston = MovingSupport(name="piston", x=push, shapes={"face": face})
    touching, body = _body(rng, size, mass, (-0.4 * size, 0.0))
    wall = Line(point=(0.8 * size, 0.0), angle=math.pi / 2.0)
    contacts = [
        Contact(name=name, a=a, b=touching, normal=law, friction=friction)
        for name, a in (("push", "piston.face"), ("stop", "ground.wall"))
    ]
    model = Model(
        gravity=(0.0, 0.0),
        bodies=[Ground(shapes={"wall": wall}), piston, body],
        contacts=contacts,
    )
    return Case(model=model, until=until, traits=("piston",))
