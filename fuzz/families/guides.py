"""Sliders and blocks in guides without play: slots, carriages, rotors with a slot."""

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
    pick,
    rod,
    seconds,
    uniform,
    wave,
)
from nonsmooth import (
    Couple,
    Distance,
    Ground,
    Harmonic,
    Model,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    Revolute,
    RigidBody,
    RotationDrive,
    SpringDamper,
)
from nonsmooth.elements.forces import Force


def guides(rng: Rng) -> Case:
    """Return one of several mechanisms that slide."""
    size, heavy = decades(rng, 0.05, 3.0), decades(rng, 0.1, 30.0)
    return pick(rng, (_block, _slots, _rotor, _pair))(rng, size, heavy, seconds(size))


def _block(rng: Rng, size: float, heavy: float, until: float) -> Case:
    """Return a block in an inclined guide under an eccentric force and a spring."""
    axis, speed = (
        uniform(rng, -3.0, 3.0),
        pick(rng, (0.0, 1.0)) * uniform(rng, -1.0, 1.0),
    )
    speed *= math.sqrt(G * size)
    point = tuple((size * rng.uniform(-0.3, 0.3, 2)).tolist())
    length = size * uniform(rng, 0.2, 0.6)
    body = RigidBody(
        name="block",
        mass=heavy,
        inertia=heavy * length**2 / 8.0,
        velocity=(speed * math.cos(axis), speed * math.sin(axis)),
        points={"e": point},
    )
    guide = Prismatic(
        name="guide",
        b="block",
        axis=axis,
        friction=friction_law(rng, size=size, high=0.5),
        length=length,
        height=length * pick(rng, (0.0, 0.3, 0.8)),
    )
    weight, pace = heavy * G, 12.0 / until
    spring = SpringDamper(
        name="spring",
        a="ground.wall",
        b="block",
        stiffness=weight / size * uniform(rng, 0.0, 5.0),
        damping=weight / math.sqrt(G * size) * pick(rng, (0.0, 0.1)),
    )
    push = PointForce(
        name="push",
        b="block.e",
        fx=wave(rng, weight * uniform(rng, 0.2, 2.0), pace, until),
        fy=wave(rng, weight * uniform(rng, 0.2, 1.5), 1.3 * pace, until),
        frame=pick(rng, ("global", "body")),
    )
    model = Model(
        gravity=(0.0, -G * pick(rng, (0.0, 1.0))),
        bodies=[Ground(points={"wall": (0.3 * size, 0.4 * size)}), body],
        joints=[guide],
        forces=[push, spring],
        assemble=True,
    )
    return Case(model=model, until=until)


def _slots(rng: Rng, size: float, heavy: float, until: float) -> Case:
    """Return a rod with its ends in two slots through the origin."""
    while True:
        axis, angle = uniform(rng, 0.4, 2.6), uniform(rng, -3.0, 3.0)
        s = math.sin(angle) / math.sin(axis)
        x = s * math.cos(axis) - math.cos(angle)
        if max(abs(s), abs(x)) < 2.5 and min(abs(s), abs(x)) > 0.05:
            break
    ends = ((size * x, 0.0), (size * s * math.cos(axis), size * s * math.sin(axis)))
    joints = [
        PinInSlot(
            name=name, b=b, axis=phi, friction=friction_law(rng, size=size, high=0.3)
        )
        for name, b, phi in (("slot1", "rod.p", 0.0), ("slot2", "rod.q", axis))
    ]
    model = Model(
        gravity=(0.0, -G),
        bodies=[rod("rod", *ends, heavy)],
        joints=joints,
        forces=excite(rng, "rod", heavy * G, size, 12.0 / until, until),
    )
    return Case(model=model, until=until)


def _rotor(rng: Rng, size: float, heavy: float, until: float) -> Case:
    """Return a mass in a slot of a rotor that is driven, or pushed, to and fro."""
    off, place = size * uniform(rng, -0.2, 0.2), size * uniform(rng, 0.3, 0.8)
    inertia = heavy * size**2 * uniform(rng, 0.05, 0.5)
    rotor = RigidBody(
        name="rotor", mass=heavy, inertia=inertia, points={"s": (0.0, off)}
    )
    weight, swing = heavy * G, Harmonic(amplitude=1.0, angular_frequency=12.0 / until)
    forces: list[Force] = [
        SpringDamper(
            name="spring",
            a="rotor",
            b="mass",
            stiffness=weight / size * uniform(rng, 0.5, 5.0),
            rest_length=0.5 * size,
        )
    ]
    drives: list[RotationDrive] = []
    if chance(rng, 0.5):
        drives.append(RotationDrive(name="motor", b="rotor", law=swing))
    else:
        torque = wave(rng, 0.5 * weight * size, 12.0 / until, until)
        forces.append(Couple(name="push", b="rotor", torque=torque))
    pin = Revolute(
        name="pin",
        b="rotor",
        friction=friction_law(rng, size=size),
        radius=0.08 * size,
    )
    slot = PinInSlot(
        name="slot", a="rotor.s", b="mass", friction=friction_law(rng, size=size)
    )
    mass = PointMass(
        name="mass", mass=heavy * uniform(rng, 0.1, 1.0), position=(place, off)
    )
    model = Model(
        gravity=(0.0, -G),
        bodies=[rotor, mass],
        joints=[pin, slot],
        forces=forces,
        drives=drives,
        assemble=True,
    )
    return Case(model=model, until=until)


def _pair(rng: Rng, size: float, heavy: float, until: float) -> Case:
    """Return two sliders in slots of their own with a bar between them."""
    places = [tuple((size * p).tolist()) for p in rng.uniform(-1.0, 1.0, (2, 2))]
    names = ("one", "two")
    bodies = [
        RigidBody(
            name=name,
            mass=heavy * uniform(rng, 0.3, 2.0),
            inertia=0.05 * heavy * size**2,
            position=(place[0], place[1]),
        )
        for name, place in zip(names, places, strict=True)
    ]
    slots = [
        PinInSlot(
            name=f"slot_{name}",
            a=f"ground.{name}",
            b=name,
            axis=uniform(rng, -3.0, 3.0),
            friction=friction_law(rng, size=size, high=0.3),
        )
        for name in names
    ]
    bar = Distance(name="bar", a="one", b="two", length=math.dist(*places))
    model = Model(
        gravity=(0.0, -G),
        bodies=[
            Ground(
                points={n: (p[0], p[1]) for n, p in zip(names, places, strict=True)}
            ),
            *bodies,
        ],
        joints=[*slots, bar],
        forces=excite(rng, "one", heavy * G, size, 12.0 / until, until),
    )
    return Case(model=model, until=until)
