"""Latches: a hook on a sprung lever that a bolt pushes aside, corner on corner.

A bolt whose motion is prescribed may be blocked: friction locks it where the way from
the contact to the lever's pivot is within the cone of friction about the normal. No
law is stiff enough then; such models are a family of their own, `jams`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from fuzz.families.common import (
    Case,
    G,
    Rng,
    chance,
    decades,
    friction_law,
    normal_law,
    pick,
    rectangle,
    uniform,
)
from nonsmooth import (
    Contact,
    Ground,
    Harmonic,
    Model,
    MovingSupport,
    PointForce,
    Polygon,
    Prismatic,
    Revolute,
    RigidBody,
    SmoothStep,
    SpringDamper,
    TorsionSpring,
    TranslationDrive,
)
from nonsmooth.elements.forces import Force

# What moves a bolt: supports, forces and drives; made from size, coil and end of a run.
Moved = tuple[list[MovingSupport], list[Force], list[TranslationDrive]]
Mover = Callable[[Rng, float, float, float], Moved]


def latches(rng: Rng) -> Case:
    """Return a bolt that a spring, a force or a sprung hand pushes under a hook."""
    # A corner sinks in by the root of this, and bears what springs store.
    return _latch(rng, decades(rng, 1e-6, 1e-5), _push)


def jams(rng: Rng) -> Case:
    """Return a bolt that is driven under a hook, with laws that may be too soft."""
    return _latch(rng, decades(rng, 1e-6, 1e-3), _drive)


def _latch(rng: Rng, sink: float, move: Mover) -> Case:
    """Return a bolt that moves under a sprung hook.

    The hook is a wedge at the end of a lever; the bolt has a square or a bevelled
    nose, and stops anywhere, so that corners rest on corners. `sink` is the depth of a
    face under the force of the lever's spring, as a part of the bolt's length.
    """
    size, mass = decades(rng, 0.02, 0.3), decades(rng, 0.02, 2.0)
    until = uniform(rng, 0.4, 1.0)
    friction = friction_law(rng, ("Coulomb", "Coulomb", "Stribeck"), 0.05, 1.0, size)
    coil = mass * G * size * uniform(rng, 2.0, 20.0)
    law = normal_law(rng, coil / size / G, sink * size, ("KelvinVoigt", "HuntCrossley"))
    nose = pick(rng, (0.0, 0.3))  # of the bolt's height, bevelled
    bolt = RigidBody(
        name="bolt",
        mass=mass,
        inertia=mass * size**2 / 10.0,
        shapes={"nose": _nose(size, nose)},
        points={"tail": (-0.5 * size, 0.0)},
    )
    lever = _lever(rng, size, mass, nose)
    pivot = (lever.position[0] + size, lever.position[1])
    spring = TorsionSpring(name="coil", b="lever", stiffness=coil, damping=0.01 * coil)
    hands, forces, drives = move(rng, size, coil, until)
    sides = ("bolt.nose", "lever.hook")
    is_made_of_pieces = chance(rng, 0.5)
    if is_made_of_pieces:
        bolt, lever, sides = *_pieces(size, bolt, lever), ("bolt", "lever")
    contact = Contact(
        name="catch", a=sides[0], b=sides[1], normal=law, friction=friction
    )
    wall = (-1.5 * size, 0.0)
    model = Model(
        gravity=(0.0, -G),
        bodies=[Ground(points={"pivot": pivot, "wall": wall}), lever, bolt, *hands],
        joints=[
            Revolute(name="pivot", a="ground.pivot", b="lever.pivot"),
            Prismatic(name="rail", b="bolt"),
        ],
        forces=[spring, *forces],
        drives=drives,
        contacts=[contact],
    )
    traits = ("pieces",) if is_made_of_pieces else ()
    return Case(model=model, until=until, traits=traits)


def _pieces(
    size: float, bolt: RigidBody, lever: RigidBody
) -> tuple[RigidBody, RigidBody]:
    """Return the bolt with a step at its tail, the lever with an arm over its hook."""
    step = rectangle(0.2 * size, 0.35 * size, (-0.6 * size, 0.075 * size))
    arm = rectangle(1.05 * size, 0.1 * size, (0.505 * size, 0.15 * size))
    return (
        replace(bolt, shapes=bolt.shapes | {"step": step}),
        replace(lever, shapes=lever.shapes | {"arm": arm}),
    )


def _nose(size: float, nose: float) -> Polygon:
    """Return the bolt's outline, a fifth as high as long."""
    w, h = 0.5 * size, 0.1 * size
    if nose == 0.0:
        return rectangle(size, 0.2 * size)
    bevel = nose * 0.2 * size
    return Polygon(
        vertices=((-w, -h), (w, -h), (w, h - bevel), (w - bevel, h), (-w, h))
    )


def _lever(rng: Rng, size: float, mass: float, nose: float) -> RigidBody:
    """Return the lever with its hook over the bolt's path, its pivot to the right."""
    # A wedge below the lever's end; its tip is sharp or blunt.
    blunt, slope = pick(rng, (0.02, 0.15)) * size, uniform(rng, 0.1, 0.35) * size
    tip, top = -0.12 * size, 0.1 * size
    hook = Polygon(
        vertices=((0.0, tip), (blunt, tip), (blunt + 0.05 * size, top), (-slope, top))
    )
    reach = uniform(rng, 0.02, 0.15) * size  # how far the tip dips into the path
    y = 0.1 * size - reach - tip
    x = uniform(rng, 0.02, 0.3) * size + 0.5 * size + slope
    if chance(rng, 0.3):
        # Begins corner on corner, overlapping by a little both ways.
        deep = size * decades(rng, 1e-4, 1e-3)
        x, y = 0.5 * size - deep, (0.1 - 0.2 * nose) * size - deep - tip
    return RigidBody(
        name="lever",
        mass=mass,
        inertia=mass * size**2 / 6.0,
        position=(x, y),
        points={"pivot": (size, 0.0)},
        shapes={"hook": hook},
    )


def _way(rng: Rng, size: float, until: float) -> SmoothStep | Harmonic:
    """Return a motion of the bolt, or of a hand: in for good, or to and fro."""
    travel = uniform(rng, 0.2, 1.0) * size
    swing = Harmonic(
        amplitude=0.5 * travel,
        angular_frequency=12.0 / until,
        phase=-0.5 * math.pi,
        offset=0.5 * travel,
    )
    return pick(rng, (SmoothStep(end=travel, duration=0.8 * until), swing))


def _drive(rng: Rng, size: float, coil: float, until: float) -> Moved:
    """Return a drive of the bolt."""
    way = _way(rng, size, until)
    return [], [], [TranslationDrive(name="hand", b="bolt", law=way)]


def _push(rng: Rng, size: float, coil: float, until: float) -> Moved:
    """Return a force on the bolt, or a spring at the wall or at a hand that moves."""
    kind = pick(rng, ("force", "wall", "hand"))
    if kind == "force":
        force = coil / size * uniform(rng, 0.1, 1.5)
        law = pick(rng, (force, SmoothStep(end=force, duration=0.5 * until)))
        return [], [PointForce(name="push", b="bolt", fx=law)], []
    stiffness = coil / size**2 * uniform(rng, 0.3, 3.0)
    spring = SpringDamper(
        name="spring",
        a="ground.wall",
        b="bolt.tail",
        stiffness=stiffness,
        damping=0.02 * stiffness,
        rest_length=size,
    )
    if kind == "wall":
        rest = size * (1.0 + uniform(rng, 0.2, 1.0))
        return [], [replace(spring, rest_length=rest)], []
    points = {"end": (-1.5 * size, 0.0)}
    hand = MovingSupport(name="hand", x=_way(rng, size, until), points=points)
    return [hand], [replace(spring, a="hand.end")], []
