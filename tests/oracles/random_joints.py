# pyright: basic, reportArgumentType=false, reportCallIssue=false
# pyright: reportAttributeAccessIssue=false, reportReturnType=false
# pyright: reportOptionalOperand=false
"""Random mechanisms with friction in their joints; from a seed, as data."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth import (
    Coulomb,
    CoulombViscous,
    Couple,
    Dahl,
    Distance,
    Expression,
    Ground,
    Harmonic,
    LuGre,
    Model,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    RegularisedCoulomb,
    Revolute,
    RigidBody,
    RotationDrive,
    SpringDamper,
    Stribeck,
)
from nonsmooth.elements.forces import Force
from nonsmooth.elements.friction import FrictionLaw

Rng = np.random.Generator
SET_VALUED = ("Coulomb", "CoulombViscous", "Stribeck")
SMOOTH = ("RegularisedCoulomb", "Dahl", "LuGre")


def law(rng: Rng, kinds: tuple[str, ...], most: float = 0.5) -> FrictionLaw:
    """Return a law of one of the kinds."""
    kind = kinds[int(rng.integers(len(kinds)))]
    mu, more, other = (
        float(x) for x in rng.uniform([0.05, 1.0, 0.0], [most, 1.8, 1.0])
    )
    if kind == "Coulomb":
        return Coulomb(mu=mu, mu_static=mu * more)
    if kind == "CoulombViscous":
        return CoulombViscous(mu=mu, mu_static=mu * more, viscous=2.0 * other)
    if kind == "Stribeck":
        return Stribeck(mu=mu, mu_static=mu * more, velocity=0.02 + 0.3 * other)
    if kind == "RegularisedCoulomb":
        return RegularisedCoulomb(mu=mu, velocity=1e-3 + 1e-2 * other)
    if kind == "Dahl":
        return Dahl(mu=mu, stiffness=50.0 + 400.0 * other)
    assert kind == "LuGre"
    return LuGre(
        mu=mu,
        mu_static=mu * more,
        velocity=0.05,
        stiffness=50.0 + 200.0 * other,
        damping=other,
        viscous=0.2,
    )


def rod(name: str, start: ArrayLike, end: ArrayLike, mass: float) -> RigidBody:
    """Return a uniform rod with the points p and q at its ends."""
    (x0, y0), (x1, y1) = np.asarray(start).tolist(), np.asarray(end).tolist()
    length = math.hypot(x1 - x0, y1 - y0)
    return RigidBody(
        name=name,
        mass=mass,
        inertia=mass * length**2 / 12.0,
        position=(0.5 * (x0 + x1), 0.5 * (y0 + y1)),
        angle=math.atan2(y1 - y0, x1 - x0),
        points={"p": (-0.5 * length, 0.0), "q": (0.5 * length, 0.0)},
    )


def excite(rng: Rng, body: str) -> list[Force]:
    """Return a force or couple that changes with time, or none."""
    size, rate = rng.uniform([1.0, 1.0], [15.0, 8.0]).tolist()
    kind = int(rng.integers(4))
    if kind == 0:
        return []
    if kind == 1:
        wave = Harmonic(amplitude=size, angular_frequency=rate)
        return [Couple(name="push", b=body, torque=wave)]
    if kind == 2:
        fx = Harmonic(amplitude=3.0 * size, angular_frequency=rate)
        fy = Harmonic(amplitude=2.0 * size, angular_frequency=0.7 * rate, phase=1.0)
        return [PointForce(name="push", b=body, fx=fx, fy=fy)]
    text = f"{size!r}*t*sin({rate!r}*t)"
    return [Couple(name="push", b=body, torque=Expression(text=text))]


def _pin(rng: Rng, name: str, a: str, b: str, kinds: tuple[str, ...]) -> Revolute:
    radius = float(rng.uniform(0.02, 0.08))
    friction = law(rng, kinds) if rng.random() < 0.7 else None
    return Revolute(
        name=name, a=a, b=b, friction=friction, radius=radius if friction else None
    )


def four_bar(rng: Rng, kinds: tuple[str, ...] = SET_VALUED) -> Model:
    """Return a four-bar linkage at rest."""
    a, b, c, angle = rng.uniform([0.3, 0.8, 0.6, -3.0], [0.6, 1.2, 1.0, 3.0]).tolist()
    A, C = np.array([a * math.cos(angle), a * math.sin(angle)]), np.array([1.0, 0.0])
    d = float(np.hypot(*(C - A)))
    if not 1.05 * abs(b - c) < d < 0.95 * (b + c):
        return four_bar(rng, kinds)
    x, along = (b * b - c * c + d * d) / (2.0 * d), (C - A) / d
    B = A + x * along + math.sqrt(b * b - x * x) * np.array([-along[1], along[0]])
    mass = rng.uniform(0.5, 3.0, 3).tolist()
    joints = [
        Revolute(name="O", b="crank.p", friction=law(rng, kinds), radius=0.05),
        _pin(rng, "A", "crank.q", "coupler.p", kinds),
        _pin(rng, "B", "coupler.q", "rocker.q", kinds),
        _pin(rng, "C", "ground.C", "rocker.p", kinds),
    ]
    return Model(
        gravity=(0.0, -9.81),
        bodies=[
            Ground(points={"C": (1.0, 0.0)}),
            rod("crank", (0.0, 0.0), A, mass[0]),
            rod("coupler", A, B, mass[1]),
            rod("rocker", C, B, mass[2]),
        ],
        joints=joints,
        forces=excite(rng, ("crank", "coupler", "rocker")[int(rng.integers(3))]),
    )


def slider_crank(rng: Rng, kinds: tuple[str, ...] = SET_VALUED) -> Model:
    """Return a slider-crank at rest, with a block or a point in its guide."""
    a, b, off, angle = rng.uniform(
        [0.2, 0.7, -0.2, -3.0], [0.4, 1.2, 0.2, 3.0]
    ).tolist()
    A = np.array([a * math.cos(angle), a * math.sin(angle)])
    B = (float(A[0] + math.sqrt(b * b - (off - A[1]) ** 2)), off)
    mass = rng.uniform(0.5, 3.0, 3).tolist()
    friction, length = law(rng, kinds), float(rng.uniform(0.2, 0.4))
    guide = (
        Prismatic(
            name="guide",
            a="ground.G",
            b="slider",
            friction=friction,
            length=length,
            height=(0.0, 0.1, 0.3)[int(rng.integers(3))],
        )
        if rng.random() < 0.6
        else PinInSlot(name="guide", a="ground.G", b="slider", friction=friction)
    )
    slider = RigidBody(name="slider", mass=mass[2], inertia=0.02, position=B)
    joints = [
        _pin(rng, "O", "ground", "crank.p", kinds),
        _pin(rng, "A", "crank.q", "coupler.p", kinds),
        _pin(rng, "B", "coupler.q", "slider", kinds),
        guide,
    ]
    return Model(
        gravity=(0.0, -9.81),
        bodies=[
            Ground(points={"G": (0.0, off)}),
            rod("crank", (0.0, 0.0), A, mass[0]),
            rod("coupler", A, B, mass[1]),
            slider,
        ],
        joints=joints,
        forces=excite(rng, ("crank", "coupler", "slider")[int(rng.integers(3))]),
    )


def chain(rng: Rng, kinds: tuple[str, ...] = SET_VALUED) -> Model:
    """Return one to three rods on pins, at rest in a random pose."""
    bodies: list[RigidBody] = []
    joints: list[Revolute] = []
    p = np.zeros(2)
    for k in range(int(rng.integers(1, 4))):
        length, angle, mass, radius = rng.uniform(
            [0.3, -3.0, 0.5, 0.05], [0.8, 3.0, 2.0, 0.15]
        ).tolist()
        q = p + length * np.array([math.cos(angle), math.sin(angle)])
        bodies.append(rod(f"rod{k}", p, q, mass))
        a = f"rod{k - 1}.q" if k else "ground"
        friction = law(rng, kinds, 0.8)
        joints.append(
            Revolute(
                name=f"pin{k}", a=a, b=f"rod{k}.p", friction=friction, radius=radius
            )
        )
        p = q
    return Model(
        gravity=(0.0, -9.81),
        bodies=bodies,
        joints=joints,
        forces=excite(rng, bodies[-1].name),
    )


def block(rng: Rng, kinds: tuple[str, ...] = SET_VALUED) -> Model:
    """Return a block in an inclined guide under an eccentric force and a spring."""
    axis, ex, ey, speed = rng.uniform(
        [-3.0, -0.3, -0.3, -1.0], [3.0, 0.3, 0.3, 1.0]
    ).tolist()
    size, rate, stiffness = rng.uniform([5.0, 1.0, 0.0], [30.0, 9.0, 60.0]).tolist()
    body = RigidBody(
        name="block",
        mass=float(rng.uniform(0.5, 2.0)),
        inertia=0.05,
        velocity=(speed * math.cos(axis), speed * math.sin(axis)),
        points={"e": (ex, ey)},
    )
    guide = Prismatic(
        name="guide",
        b="block",
        axis=axis,
        friction=law(rng, kinds),
        length=float(rng.uniform(0.2, 0.5)),
        height=(0.0, 0.1, 0.3)[int(rng.integers(3))],
    )
    fx = Harmonic(amplitude=size, angular_frequency=rate)
    fy = Harmonic(amplitude=0.6 * size, angular_frequency=1.3 * rate, phase=1.0)
    return Model(
        gravity=(0.0, (0.0, -9.81)[int(rng.integers(2))]),
        bodies=[Ground(points={"wall": (0.3, 0.4)}), body],
        joints=[guide],
        forces=[
            PointForce(name="push", b="block.e", fx=fx, fy=fy),
            SpringDamper(
                name="spring", a="ground.wall", b="block", stiffness=stiffness
            ),
        ],
        assemble=True,
    )


def moving_slot(rng: Rng, kinds: tuple[str, ...] = SET_VALUED) -> Model:
    """Return a mass in a slot of a rotor that is driven, or pushed, to and fro."""
    inertia, off, mass, place = rng.uniform(
        [0.05, -0.1, 0.3, 0.2], [0.5, 0.1, 1.0, 0.5]
    ).tolist()
    size, rate, stiffness = rng.uniform([0.3, 1.0, 5.0], [2.0, 6.0, 60.0]).tolist()
    rotor = RigidBody(name="rotor", mass=2.0, inertia=inertia, points={"s": (0.0, off)})
    forces: list[Force] = [
        SpringDamper(
            name="spring", a="rotor", b="mass", stiffness=stiffness, rest_length=0.3
        )
    ]
    drives: list[RotationDrive] = []
    wave = Harmonic(amplitude=size, angular_frequency=rate)
    if rng.random() < 0.5:
        drives.append(RotationDrive(name="motor", b="rotor", law=wave))
    else:
        wave = Harmonic(amplitude=3.0 * size, angular_frequency=rate)
        forces.append(Couple(name="push", b="rotor", torque=wave))
    return Model(
        gravity=(0.0, -9.81),
        bodies=[rotor, PointMass(name="mass", mass=mass, position=(place, off))],
        joints=[
            Revolute(name="pin", b="rotor", friction=law(rng, kinds), radius=0.06),
            PinInSlot(name="slot", a="rotor.s", b="mass", friction=law(rng, kinds)),
        ],
        forces=forces,
        drives=drives,
        assemble=True,
    )


def two_slots(rng: Rng, kinds: tuple[str, ...] = SET_VALUED) -> Model:
    """Return a rod with its ends in two slots through the origin."""
    axis, angle, mass = rng.uniform([0.4, -3.0, 0.5], [2.6, 3.0, 2.0]).tolist()
    s = math.sin(angle) / math.sin(axis)
    x = s * math.cos(axis) - math.cos(angle)
    if max(abs(s), abs(x)) > 2.5:
        return two_slots(rng, kinds)
    ends = ((x, 0.0), (s * math.cos(axis), s * math.sin(axis)))
    return Model(
        gravity=(0.0, -9.81),
        bodies=[rod("rod", *ends, mass)],
        joints=[
            PinInSlot(name="slot1", b="rod.p", friction=law(rng, kinds, 0.3)),
            PinInSlot(
                name="slot2", b="rod.q", axis=axis, friction=law(rng, kinds, 0.3)
            ),
        ],
        forces=excite(rng, "rod"),
    )


MECHANISMS: dict[str, Callable[..., Model]] = {
    make.__name__: make
    for make in (four_bar, slider_crank, chain, block, moving_slot, two_slots)
}


# -- under constant forces, to be solved by trying every mode --------------------------


def _push(rng: Rng, body: str) -> PointForce:
    fx, fy = (10.0 * rng.normal(size=2)).tolist()
    return PointForce(name=f"push_{body}", b=body, fx=fx, fy=fy)


def pushed_rod(rng: Rng, most: float) -> Model:
    """Return a rod in two slots under a constant force and couple."""
    model = two_slots(rng)
    mu = rng.uniform(0.05, most, 2).tolist()
    first, second = model.joints
    assert isinstance(first, PinInSlot)
    assert isinstance(second, PinInSlot)
    slots = [
        PinInSlot(name=j.name, b=j.b, axis=j.axis, friction=Coulomb(mu=x))
        for j, x in zip((first, second), mu, strict=True)
    ]
    torque = Couple(name="turn", b="rod", torque=float(3.0 * rng.normal()))
    return Model(bodies=model.bodies, joints=slots, forces=[_push(rng, "rod"), torque])


def pushed_block(rng: Rng, most: float) -> Model:
    """Return a block that its guide holds away from its mass centre."""
    px, py, ex, ey = rng.uniform(-0.3, 0.3, 4).tolist()
    body = RigidBody(
        name="b", mass=1.0, inertia=0.05, points={"p": (px, py), "e": (ex, ey)}
    )
    guide = Prismatic(
        name="guide",
        a="ground.p",
        b="b.p",
        friction=Coulomb(mu=float(rng.uniform(0.05, most))),
        length=0.3,
        height=(0.0, 0.1, 0.3)[int(rng.integers(3))],
    )
    bodies = [Ground(points={"p": (px, py)}), body]
    fx, fy = (10.0 * rng.normal(size=2)).tolist()
    push = PointForce(name="push", b="b.e", fx=fx, fy=fy)
    return Model(bodies=bodies, joints=[guide], forces=[push])


def pushed_stack(rng: Rng, most: float) -> Model:
    """Return a body in a slot of another that slides itself."""
    x, y, axis, s, tilt = rng.uniform(
        [-0.3, -0.3, -3.0, -0.5, -3.0], [0.3, 0.3, 3.0, 0.5, 3.0]
    ).tolist()
    mass, other = rng.uniform(0.3, 2.0, 2).tolist()
    mu1, mu2 = rng.uniform(0.05, most, 2).tolist()
    lower = RigidBody(name="b", mass=mass, inertia=0.05, points={"s": (x, y)})
    place = (x + s * math.cos(axis), y + s * math.sin(axis))
    upper = RigidBody(name="c", mass=other, inertia=0.03, position=place)
    first = (
        Prismatic(
            name="g", b="b", axis=tilt, friction=Coulomb(mu=mu1), length=0.3, height=0.2
        )
        if rng.random() < 0.5
        else PinInSlot(name="g", b="b", friction=Coulomb(mu=mu1))
    )
    slot = PinInSlot(name="h", a="b.s", b="c", axis=axis, friction=Coulomb(mu=mu2))
    turn = Couple(name="turn", b="b", torque=float(rng.normal()))
    return Model(
        bodies=[lower, upper],
        joints=[first, slot],
        forces=[_push(rng, "b"), _push(rng, "c"), turn],
    )


def pushed_pair(rng: Rng, most: float) -> Model:
    """Return two sliders in slots of their own with a bar between them."""
    places = [tuple(p) for p in rng.uniform(-1.0, 1.0, (2, 2)).tolist()]
    mass, mu, axis = (
        rng.uniform(low, high, 2).tolist()
        for low, high in ((0.3, 2.0), (0.05, most), (-3.0, 3.0))
    )
    names = ("a", "b")
    bodies = [
        RigidBody(name=name, mass=m, inertia=0.05, position=place)
        for name, m, place in zip(names, mass, places, strict=True)
    ]
    slots = [
        PinInSlot(
            name=f"slot_{name}",
            a=f"ground.{name}",
            b=name,
            axis=turn,
            friction=Coulomb(mu=x),
        )
        for name, turn, x in zip(names, axis, mu, strict=True)
    ]
    length = math.dist(*places)
    return Model(
        bodies=[Ground(points=dict(zip(names, places, strict=True))), *bodies],
        joints=[*slots, Distance(name="bar", a="a", b="b", length=length)],
        forces=[_push(rng, "a"), _push(rng, "b")],
    )


PUSHED: dict[str, Callable[[Rng, float], Model]] = {
    make.__name__: make
    for make in (pushed_rod, pushed_block, pushed_stack, pushed_pair)
}
