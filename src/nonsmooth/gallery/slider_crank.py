"""A slider-crank, driven at constant speed."""

from __future__ import annotations

import math

from nonsmooth.elements.bodies import Ground, RigidBody
from nonsmooth.elements.drives import RotationDrive
from nonsmooth.elements.joints import Prismatic, Revolute
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.errors import ModelError
from nonsmooth.gallery._checks import positive
from nonsmooth.model import Model

UNTIL = 2.0  # s


def slider_crank(
    *,
    crank_length: float = 0.1,
    rod_length: float = 0.3,
    offset: float = 0.0,
    crank_mass: float = 1.0,
    rod_mass: float = 1.0,
    slider_mass: float = 1.0,
    gravity: float = 9.81,
    speed: float = 10.0,
    angle: float = 0.0,
) -> Model:
    """Drive a slider along a horizontal guide by a crank and a connecting rod.

    The crank turns about the origin at constant speed, the slider runs on the
    guide to the right of it. Crank and rod are uniform; the slider's mass centre is
    its pin. The motion is known in closed form, so that every reaction can be
    checked.

    Bodies `crank` (points `O`, `A`), `rod` (`A`, `B`) and `slider`; joints
    `main_pin` at O, `crank_pin` at A, `slider_pin` at B and `guide`; drive `motor`.

    Parameters
    ----------
    crank_length : float
        Distance from O to A, m.
    rod_length : float
        Distance from A to B, m. It must exceed the crank's length plus the offset.
    offset : float
        Height of the guide above O, m.
    crank_mass : float
        Mass of the crank, kg.
    rod_mass : float
        Mass of the connecting rod, kg.
    slider_mass : float
        Mass of the slider, kg.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.
    speed : float
        Angular velocity of the crank, counter-clockwise, rad/s.
    angle : float
        Angle of the crank at the start, counter-clockwise from +x, rad.

    References
    ----------
    A classic.
    """
    positive(
        "slider_crank",
        crank_length=crank_length,
        rod_length=rod_length,
        crank_mass=crank_mass,
        rod_mass=rod_mass,
        slider_mass=slider_mass,
    )
    if not rod_length > crank_length + abs(offset):
        raise ModelError(
            f"slider_crank: rod_length = {rod_length!r}; the crank can turn only if it "
            f"is > crank_length + |offset| = {crank_length + abs(offset):g} m"
        )
    r, l = crank_length, rod_length
    c1, s1 = math.cos(angle), math.sin(angle)
    s2 = (offset - r * s1) / l
    c2 = math.sqrt(1.0 - s2**2)
    w2 = -r * c1 * speed / (l * c2)
    pin = (r * c1, r * s1)
    pin_velocity = (-r * s1 * speed, r * c1 * speed)
    # The slider never turns: its inertia, here that of a square block half as wide
    # as the crank is long, has no influence.
    side = 0.5 * r
    crank = RigidBody(
        name="crank",
        mass=crank_mass,
        inertia=crank_mass * r**2 / 12.0,
        position=(0.5 * pin[0], 0.5 * pin[1]),
        angle=angle,
        velocity=(0.5 * pin_velocity[0], 0.5 * pin_velocity[1]),
        angular_velocity=speed,
        points={"O": (-0.5 * r, 0.0), "A": (0.5 * r, 0.0)},
    )
    rod = RigidBody(
        name="rod",
        mass=rod_mass,
        inertia=rod_mass * l**2 / 12.0,
        position=(pin[0] + 0.5 * l * c2, pin[1] + 0.5 * l * s2),
        angle=math.atan2(s2, c2),
        velocity=(
            pin_velocity[0] - 0.5 * l * s2 * w2,
            pin_velocity[1] + 0.5 * l * c2 * w2,
        ),
        angular_velocity=w2,
        points={"A": (-0.5 * l, 0.0), "B": (0.5 * l, 0.0)},
    )
    slider = RigidBody(
        name="slider",
        mass=slider_mass,
        inertia=slider_mass * side**2 / 6.0,
        position=(pin[0] + l * c2, offset),
        velocity=(pin_velocity[0] - l * s2 * w2, 0.0),
    )
    return Model(
        title="slider-crank",
        gravity=(0.0, -gravity),
        bodies=(Ground(points={"guide": (0.0, offset)}), crank, rod, slider),
        joints=(
            Revolute(name="main_pin", b="crank.O"),
            Revolute(name="crank_pin", a="crank.A", b="rod.A"),
            Revolute(name="slider_pin", a="rod.B", b="slider"),
            Prismatic(name="guide", a="ground.guide", b="slider"),
        ),
        drives=(
            RotationDrive(
                name="motor", b="crank", law=ConstantRate(rate=speed, start=angle)
            ),
        ),
    )
