"""Latches: a hook on a sprung lever that a bolt pushes aside, corner on corner."""

from __future__ import annotations

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


def latches(rng: Rng) -> Case:
    """Return a bolt that is driven, or pushed by a spring, under a sprung hook.

    The hook is a wedge at the end of a lever; the bolt has a square or a bevelled
    nose, and stops anywhere, so that corners rest on corners.
    """
    size, mass = decades(rng, 0.02, 0.3), decades(rng, 0.02, 2.0)
    until = uniform(rng, 0.4, 1.0)
    friction = friction_law(rng, ("Coulomb", "Coulomb", "Stribeck"), 0.05, 1.0, size)
    coil = mass * G * size * uniform(rng, 2.0, 20.0)
    law = normal_law(
        rng,
        coil / size / G,
        size * decades(rng, 1e-4, 1e-3),
        ("KelvinVoigt", "HuntCrossley"),
    )
    nose = pick(rng, (0.0, 0.3))  # of the bolt's height, bevelled
    h = 0.2 * size
    bolt_shape = (
        rectangle(size, h)
        if nose == 0.0
        else Polygon(
            vertices=(
                (-0.5 * size, -0.5 * h),
                (0.5 * size, -0.5 * h),
                (0.5 * size, 0.5 * h - nose * h),
                (0.5 * size - nose * h, 0.5 * h),
                (-0.5 * size, 0.5 * h),
            )
        )
    )
    # A wedge below the lever's end; its tip is sharp or blunt.
    blunt = pick(rng, (0.02, 0.15)) * size
    slope = uniform(rng, 0.1, 0.35) * size
    tip = -0.12 * size
    hook_shape = Polygon(
        vertices=(
            (0.0, tip),
            (blunt, tip),
            (blunt + 0.05 * size, 0.1 * size),
            (-slope, 0.1 * size),
        )
    )
    # The lever's pivot is to the right; the hook hangs over the bolt's path.
    reach = uniform(rng, 0.02, 0.15) * size  # how far the tip dips into the path
    length = size
    y = 0.5 * h - reach - tip
    x = uniform(rng, 0.02, 0.3) * size + 0.5 * size + slope
    if chance(rng, 0.3):
        # Begins corner on corner, overlapping by a little both ways.
        deep = size * decades(rng, 1e-4, 1e-3)
        x = 0.5 * size - deep
        y = 0.5 * h - nose * h - deep - tip
    pivot = (x + length, y)
    lever = RigidBody(
        name="lever",
        mass=mass,
        inertia=mass * length**2 / 6.0,
        position=(x, y),
        points={"pivot": (length, 0.0)},
        shapes={"hook": hook_shape},
    )
    bolt = RigidBody(
        name="bolt",
        mass=mass,
        inertia=mass * size**2 / 10.0,
        shapes={"nose": bolt_shape},
        points={"tail": (-0.5 * size, 0.0)},
    )
    travel = uniform(rng, 0.2, 1.0) * size
    joints = [
        Revolute(name="pivot", a="ground.pivot", b="lever.pivot"),
        Prismatic(name="rail", b="bolt"),
    ]
    forces: list = [
        TorsionSpring(name="coil", b="lever", stiffness=coil, damping=0.01 * coil)
    ]
    drives: list[TranslationDrive] = []
    law_of_bolt = pick(
        rng,
        (
            SmoothStep(end=travel, duration=0.8 * until),
            Harmonic(
                amplitude=0.5 * travel,
                frequency=12.0 / until,
                phase=-1.5707963267948966,
                offset=0.5 * travel,
            ),
        ),
    )
    if chance(rng, 0.5):
        drives.append(TranslationDrive(name="hand", b="bolt", law=law_of_bolt))
    else:
        # Pushed by a spring, so that it may stop corner on corner.
        stiffness = coil / size**2 * uniform(rng, 0.3, 3.0)
        forces.append(
            SpringDamper(
                name="spring",
                a="ground.wall",
                b="bolt.tail",
                stiffness=stiffness,
                damping=0.02 * stiffness,
                rest_length=size + travel,
            )
        )
    contact = Contact(
        name="catch", a="bolt.nose", b="lever.hook", normal=law, friction=friction
    )
    wall = (-1.5 * size, 0.0)
    model = Model(
        gravity=(0.0, -G),
        bodies=[Ground(points={"pivot": pivot, "wall": wall}), lever, bolt],
        joints=joints,
        forces=forces,
        drives=drives,
        contacts=[contact],
    )
    return Case(model=model, until=until)
