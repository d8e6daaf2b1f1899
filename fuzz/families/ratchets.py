"""Ratchet and pawl: a toothed wheel of convex teeth, a sprung pawl, a torque."""

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
    uniform,
    wave,
)
from nonsmooth import (
    Contact,
    Couple,
    Ground,
    Model,
    Polygon,
    Revolute,
    RigidBody,
    Shape,
    TorsionSpring,
)


def ratchets(rng: Rng) -> Case:
    """Return a wheel whose teeth run into a pawl, forwards or held back."""
    size, mass = decades(rng, 0.03, 0.5), decades(rng, 0.1, 5.0)
    until = uniform(rng, 0.3, 1.0)
    n = int(rng.integers(6, 13))
    kinds = ("Coulomb", "Coulomb", "CoulombViscous")
    friction = friction_law(rng, kinds, 0.05, 0.5, size)
    coil = mass * G * size * uniform(rng, 0.3, 3.0)
    # A corner sinks in far deeper than a face, by the root of this.
    sink = size * decades(rng, 1e-6, 1e-5)
    law = normal_law(rng, 5.0 * mass, sink, ("KelvinVoigt", "HuntCrossley"))
    turn = uniform(rng, 0.0, 2.0 * math.pi / n)
    length = size * uniform(rng, 0.8, 1.2)
    tilt, tip, spin = uniform(rng, 0.15, 0.4), (0.0, 1.06 * size), uniform(rng, -3, 3)
    if chance(rng, 0.3):
        # Begins corner on corner, each a little inside the other.
        deep = size * decades(rng, 1e-4, 1e-3)
        tilt, turn, spin = uniform(rng, 0.33, 0.4), 0.5 * math.pi + 0.05, 0.0
        tip = (-deep * math.cos(1.405), size - deep * math.sin(1.405))
    wheel = RigidBody(
        name="wheel",
        mass=mass,
        inertia=0.5 * mass * size**2,
        angle=turn,
        angular_velocity=spin,
        shapes=_teeth(size, n),
    )
    pawl = _pawl(size, 0.2 * mass, length, tilt, tip)
    x, y = pawl.position
    pivot = (x + 0.5 * length * math.cos(tilt), y + 0.5 * length * math.sin(tilt))
    load = mass * G * size * uniform(rng, -1.0, 1.0)
    # Its torque alone would let the tips run at this speed, m/s.
    drag = mass * G * size**2 / uniform(rng, 0.5, 3.0)
    torque = load if chance(rng, 0.5) else wave(rng, load, 15.0 / until, until)
    is_whole = chance(rng, 0.5)
    if is_whole:
        wheel = replace(wheel, shapes=_on_hub(size, n))
        pawl = replace(pawl, shapes=pawl.shapes | {"back": _back(size, length)})
    contacts = [
        Contact(name="tooth", a="wheel", b="pawl", normal=law, friction=friction)
    ]
    contacts = (
        contacts
        if is_whole
        else [
            Contact(
                name=f"tooth{k}",
                a=f"wheel.t{k}",
                b="pawl.tip",
                normal=law,
                friction=friction,
            )
            for k in range(n)
        ]
    )
    spring = TorsionSpring(
        name="coil",
        b="pawl",
        stiffness=coil,
        damping=0.02 * coil,
        rest_angle=tilt + 0.5,
    )
    model = Model(
        gravity=(0.0, -G),
        bodies=[Ground(points={"pivot": pivot}), wheel, pawl],
        joints=[
            Revolute(name="axle", b="wheel"),
            Revolute(name="hinge", a="ground.pivot", b="pawl.pivot"),
        ],
        forces=[
            Couple(name="load", b="wheel", torque=torque),
            TorsionSpring(name="drag", b="wheel", damping=drag),
            spring,
        ],
        contacts=contacts,
    )
    return Case(model=model, until=until, traits=("pieces",) if is_whole else ())


def _on_hub(size: float, n: int) -> dict[str, Shape]:
    """Return the same teeth as triangles on the sides of a hub, which they cover."""
    root, pitch = 0.8 * size, 2.0 * math.pi / n
    roots = [(root * math.cos(k * pitch), root * math.sin(k * pitch)) for k in range(n)]
    found: dict[str, Shape] = {"hub": Polygon(vertices=tuple(roots))}
    for k in range(n):
        phi = (k + 1) * pitch - 0.05
        tip = (size * math.cos(phi), size * math.sin(phi))
        found[f"t{k}"] = Polygon(vertices=(roots[k], tip, roots[(k + 1) % n]))
    return found


def _back(size: float, length: float) -> Polygon:
    """Return a piece on the pawl's upper face, from its middle to its pivot."""
    wide, high = 0.06 * size, 0.2 * size
    w = 0.5 * length
    return Polygon(vertices=((0.0, wide), (w, wide), (w, wide + high), (0.0, high)))


def _teeth(size: float, n: int) -> dict[str, Shape]:
    """Return convex teeth around a wheel: a slow back, a face that is nearly radial."""
    root, depth = 0.8 * size, 0.2 * size
    pitch = 2.0 * math.pi / n
    teeth: dict[str, Shape] = {}
    for k in range(n):
        low, high = k * pitch, (k + 1) * pitch
        places = (
            (0.5 * root, 0.5 * (low + high)),
            (root, low),
            (root + depth, high - 0.05),
            (root, high),
        )
        corners = tuple((r * math.cos(phi), r * math.sin(phi)) for r, phi in places)
        teeth[f"t{k}"] = Polygon(vertices=corners)
    return teeth


def _pawl(
    size: float, mass: float, length: float, tilt: float, tip: tuple[float, float]
) -> RigidBody:
    """Return a pawl whose tip is at a place, its pivot to the right."""
    wide = 0.12 * size
    corner = (-0.5 * length, -0.1 * wide)
    shape = Polygon(
        vertices=(
            corner,
            (0.5 * length, -0.5 * wide),
            (0.5 * length, 0.5 * wide),
            (-0.5 * length + 0.3 * wide, 0.5 * wide),
        )
    )
    c, s = math.cos(tilt), math.sin(tilt)
    middle = (
        tip[0] - c * corner[0] + s * corner[1],
        tip[1] - s * corner[0] - c * corner[1],
    )
    return RigidBody(
        name="pawl",
        mass=mass,
        inertia=mass * length**2 / 12.0,
        position=middle,
        angle=tilt,
        points={"pivot": (0.5 * length, 0.0)},
        shapes={"tip": shape},
    )
