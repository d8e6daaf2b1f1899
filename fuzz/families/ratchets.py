"""Ratchet and pawl: a toothed wheel of convex teeth, a sprung pawl, a torque."""

from __future__ import annotations

import math

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
    friction = friction_law(
        rng, ("Coulomb", "Coulomb", "CoulombViscous"), 0.05, 0.5, size
    )
    coil = mass * G * size * uniform(rng, 0.3, 3.0)
    law = normal_law(
        rng,
        5.0 * mass,
        size * decades(rng, 1e-4, 1e-3),
        ("KelvinVoigt", "HuntCrossley"),
    )
    root, depth = 0.8 * size, 0.2 * size
    pitch = 2.0 * math.pi / n
    turn = uniform(rng, 0.0, pitch)
    teeth: dict[str, Shape] = {}
    for k in range(n):
        # A back that rises slowly and a face that is nearly radial.
        low, high = k * pitch, (k + 1) * pitch
        middle = 0.5 * (low + high)
        corners = (
            (0.5 * root * math.cos(middle), 0.5 * root * math.sin(middle)),
            (root * math.cos(low), root * math.sin(low)),
            (
                (root + depth) * math.cos(high - 0.05),
                (root + depth) * math.sin(high - 0.05),
            ),
            (root * math.cos(high), root * math.sin(high)),
        )
        teeth[f"t{k}"] = Polygon(vertices=corners)
    # The pawl's tip looks down at the wheel's top; its pivot is to the right.
    length, wide = size * uniform(rng, 0.8, 1.2), 0.12 * size
    corner = (-0.5 * length, -0.1 * wide)
    shape = Polygon(
        vertices=(
            corner,
            (0.5 * length, -0.5 * wide),
            (0.5 * length, 0.5 * wide),
            (-0.5 * length + 0.3 * wide, 0.5 * wide),
        )
    )
    tilt, tip, spin = uniform(rng, 0.15, 0.4), (0.0, 1.06 * size), uniform(rng, -3, 3)
    if chance(rng, 0.3):
        # Begins corner on corner, each a little inside the other.
        deep = size * decades(rng, 1e-4, 1e-3)
        tilt, turn, spin = uniform(rng, 0.33, 0.4), 0.5 * math.pi + 0.05, 0.0
        tip = (-deep * math.cos(1.405), size - deep * math.sin(1.405))
    c, s = math.cos(tilt), math.sin(tilt)
    middle = (
        tip[0] - c * corner[0] + s * corner[1],
        tip[1] - s * corner[0] - c * corner[1],
    )
    wheel = RigidBody(
        name="wheel",
        mass=mass,
        inertia=0.5 * mass * size**2,
        angle=turn,
        angular_velocity=spin,
        shapes=teeth,
    )
    pawl = RigidBody(
        name="pawl",
        mass=0.2 * mass,
        inertia=0.2 * mass * length**2 / 12.0,
        position=middle,
        angle=tilt,
        points={"pivot": (0.5 * length, 0.0)},
        shapes={"tip": shape},
    )
    pivot = (middle[0] + 0.5 * length * c, middle[1] + 0.5 * length * s)
    weight = mass * G * size
    size_of_torque = weight * uniform(rng, -1.0, 1.0)
    torque = (
        size_of_torque
        if chance(rng, 0.5)
        else wave(rng, size_of_torque, 15.0 / until, until)
    )
    contacts = [
        Contact(
            name=f"tooth{k}",
            a=f"wheel.t{k}",
            b="pawl.tip",
            normal=law,
            friction=friction,
        )
        for k in range(n)
    ]
    model = Model(
        gravity=(0.0, -G),
        bodies=[Ground(points={"pivot": pivot}), wheel, pawl],
        joints=[
            Revolute(name="axle", b="wheel"),
            Revolute(name="hinge", a="ground.pivot", b="pawl.pivot"),
        ],
        forces=[
            Couple(name="load", b="wheel", torque=torque),
            TorsionSpring(
                name="coil",
                b="pawl",
                stiffness=coil,
                damping=0.02 * coil,
                rest_angle=tilt + 0.5,
            ),
        ],
        contacts=contacts,
    )
    return Case(model=model, until=until)
