"""Latches: a hook on a sprung lever that a bolt pushes aside, corner on corner."""

from __future__ import annotations

import math
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


def latches(rng: Rng) -> Case:
    """Return a bolt that is driven, or pushed by a spring, under a sprung hook.

    The hook is a wedge at the end of a lever; the bolt has a square or a bevelled
    nose, and stops anywhere, so that corners rest on corners.
    """
    size, mass = decades(rng, 0.02, 0.3), decades(rng, 0.02, 2.0)
    until = uniform(rng, 0.4, 1.0)
    friction = friction_law(rng, ("Coulomb", "Coulomb", "Stribeck"), 0.05, 1.0, size)
    coil = mass * G * size * uniform(rng, 2.0, 20.0)
    sink = size * decades(rng, 1e-4, 1e-3)
    law = normal_law(rng, coil / size / G, sink, ("KelvinVoigt", "HuntCrossley"))
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
    forces, drives = _push(rng, size, coil, until)
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
        bodies=[Ground(points={"pivot": pivot, "wall": wall}), lever, bolt],
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


def _push(
    rng: Rng, size: float, coil: float, until: float
) -> tuple[list[Force], list[TranslationDrive]]:
    """Return what moves the bolt: a drive, or a spring that it may come to rest on."""
    travel = uniform(rng, 0.2, 1.0) * size
    swing = Harmonic(
        amplitude=0.5 * travel,
        angular_frequency=12.0 / until,
        phase=-0.5 * math.pi,
        offset=0.5 * travel,
    )
    way = pick(rng, (SmoothStep(end=travel, duration=0.8 * until), swing))
    if chance(rng, 0.5):
        return [], [TranslationDrive(name="hand", b="bolt", law=way)]
    stiffness = coil / size**2 * uniform(rng, 0.3, 3.0)
    spring = SpringDamper(
        name="spring",
        a="ground.wall",
        b="bolt.tail",
        stiffness=stiffness,
        damping=0.02 * stiffness,
        rest_length=size + travel,
    )
    return [spring], []
