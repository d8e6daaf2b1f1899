"""Flexible bars: thrown on a floor, in hinges, clamped and pressed on a belt."""

from __future__ import annotations

import math
from typing import Any

from fuzz.families.common import (
    Case,
    G,
    Rng,
    chance,
    decades,
    friction_law,
    normal_law,
    pick,
    seconds,
    uniform,
)
from fuzz.families.feet import table
from nonsmooth import (
    Contact,
    FlexibleBody,
    Material,
    ModalDamping,
    Model,
    MovingSupport,
    RayleighDamping,
    Revolute,
    SpringDamper,
)
from nonsmooth.elements.meshes import Rectangle

# Periods of the first mode in a run, at most: bars that ring for ever say nothing new.
MOST_PERIODS = 60.0


def bar(rng: Rng, name: str, size: float, **fields: Any) -> tuple[FlexibleBody, float]:
    """Return a bar along x, its middle at the mesh's origin, and its first period."""
    height = size * uniform(rng, 0.05, 0.15)
    steel = Material(
        youngs_modulus=decades(rng, 1e9, 2e11), density=decades(rng, 1e3, 1e4)
    )
    damping = pick(
        rng,
        (
            None,
            ModalDamping(ratio=decades(rng, 1e-3, 0.3)),
            RayleighDamping(stiffness=decades(rng, 1e-7, 1e-5)),
        ),
    )
    speed = math.sqrt(steel.youngs_modulus / steel.density)
    body = FlexibleBody(
        name=name,
        mesh=Rectangle(
            width=size, height=height, size=0.5 * height, cells="quadrilateral"
        ),
        material=steel,
        thickness=size * uniform(rng, 0.02, 0.2),
        modes=int(rng.integers(1, 7)),
        damping=damping,
        points={"a": (-0.5 * size, 0.0), "b": (0.5 * size, 0.0)},
        **fields,
    )
    # Free at both ends: (4.73/L)^2 sqrt(EI/(rho A)).
    return body, 2.0 * math.pi / (22.4 / size**2 * speed * height / math.sqrt(12.0))


def beams(rng: Rng) -> Case:
    """Return one or two flexible bars with contacts, hinges and springs."""
    size = decades(rng, 0.05, 2.0)
    made = pick(rng, (_thrown, _hinged, _pressed))
    model, period = made(rng, size)
    until = min(seconds(size, 1.0), MOST_PERIODS * period)
    return Case(model=model, until=until)


def _weight(body: FlexibleBody) -> float:
    mesh: Any = body.mesh
    material: Any = body.material
    return material.density * mesh.width * mesh.height * body.thickness * G


def _thrown(rng: Rng, size: float) -> tuple[Model, float]:
    """Return a bar that meets the floor with one end, or with both."""
    angle = pick(rng, (0.0, uniform(rng, -0.3, 0.3)))
    high = 0.5 * size * abs(math.sin(angle)) + size * decades(rng, 1e-5, 1e-3)
    pace = math.sqrt(G * size)
    body, period = bar(
        rng,
        "bar",
        size,
        position=(0.0, high),
        angle=angle,
        velocity=(pace * uniform(rng, -1.0, 1.0), -pace * uniform(rng, 0.0, 0.3)),
    )
    law = normal_law(rng, _weight(body) / G, size * decades(rng, 1e-5, 1e-3))
    friction = friction_law(rng, size=size) if chance(rng, 0.8) else None
    contacts = [
        Contact(name=f"c{end}", b=f"bar.{end}", normal=law, friction=friction)
        for end in ("a", "b")
    ]
    return Model(gravity=(0.0, -G), bodies=[body], contacts=contacts), period


def _hinged(rng: Rng, size: float) -> tuple[Model, float]:
    """Return a chain of one or two bars, with a spring at its end."""
    n = int(rng.integers(1, 3))
    bodies: list[FlexibleBody] = []
    periods: list[float] = []
    for k in range(n):
        own = {"position": ((k + 0.5) * size, 0.0)}
        body, period = bar(rng, f"bar{k}", size, **own)
        bodies.append(body)
        periods.append(period)
    joints = [
        Revolute(name=f"j{k}", a=f"bar{k - 1}.b" if k else "ground", b=f"bar{k}.a")
        for k in range(n)
    ]
    pull = SpringDamper(
        name="pull",
        b=f"bar{n - 1}.b",
        stiffness=_weight(bodies[-1]) / size * decades(rng, 0.1, 30.0),
        rest_length=0.8 * n * size,
    )
    forces = [pull] if chance(rng, 0.7) else []
    model = Model(gravity=(0.0, -G), bodies=bodies, joints=joints, forces=forces)
    return model, min(periods)


def _pressed(rng: Rng, size: float) -> tuple[Model, float]:
    """Return a reed on a wall that is pressed on a support which moves."""
    depth = size * decades(rng, 1e-5, 3e-4)
    place = (0.0, 0.5 * size - depth)
    body, period = bar(
        rng, "reed", size, fixed=("left",), angle=-0.5 * math.pi, position=place
    )
    law = normal_law(rng, _weight(body) / G, depth)
    friction = friction_law(rng, size=size)
    floor: MovingSupport = table(rng, "floor", 0.01 * size, 30.0 * period)
    contact = Contact(name="c", a="floor", b="reed.b", normal=law, friction=friction)
    return Model(gravity=(0.0, -G), bodies=[floor, body], contacts=[contact]), period
