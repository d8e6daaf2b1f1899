"""A slider-crank, driven at constant speed, with friction if wanted."""

from __future__ import annotations

import math
from dataclasses import replace

from nonsmooth.elements.bodies import Ground, RigidBody
from nonsmooth.elements.drives import RotationDrive
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.joints import Prismatic, Revolute
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.elements.normal import KelvinVoigt
from nonsmooth.errors import ModelError
from nonsmooth.gallery._checks import at_least, coulomb, positive
from nonsmooth.model import Model

UNTIL = 2.0  # s
RANGES = {
    "crank_length": (0.02, 0.25),
    "rod_length": (0.15, 1.0),
    "offset": (-0.15, 0.15),
    "crank_mass": (0.1, 10.0),
    "rod_mass": (0.1, 10.0),
    "slider_mass": (0.1, 10.0),
    "gravity": (0.0, 25.0),
    "speed": (-50.0, 50.0),
    "angle": (-3.1416, 3.1416),
    "mu": (0.0, 1.0),
    "pin_mu": (0.0, 1.0),
    "pin_radius": (1e-3, 0.03),
    "contact_stiffness": (1e4, 1e8),
    "contact_damping": (0.0, 5e3),
}


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
    mu: float = 0.0,
    mu0: float | None = None,
    slider_length: float | None = None,
    slider_height: float | None = None,
    pin_mu: float = 0.0,
    pin_radius: float = 0.01,
    clearance: float | None = None,
    contact_stiffness: float = 1e6,
    contact_damping: float = 200.0,
) -> Model:
    """Drive a slider along a horizontal guide by a crank and a connecting rod.

    The crank turns about the origin at constant speed, the slider runs on the
    guide to the right of it. Crank and rod are uniform; the slider's mass centre is
    its pin. The motion is known in closed form, so that every reaction can be
    checked.

    With `mu` the slider, a block, rubs in its guide, and with `pin_mu` all three pins
    rub in their holes. The motion stays the same, but the guide may lock: the forces
    have one solution at every angle up to

        mu = sqrt(rod_length^2 - crank_length^2)/crank_length

    for a slider of no height and no offset, 2.83 by default. With a `clearance` the
    block is loose in the guide and its four corners strike it: `guide.front_lower`,
    `guide.rear_lower`, `guide.front_upper` and `guide.rear_upper`, front being along
    +x. It starts in the middle.

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
    mu : float
        Coefficient of friction of the slider in motion, 1. No friction if it is 0.
    mu0 : float, optional
        The same at rest, 1; set by `mu`. Not below mu.
    slider_length : float, optional
        Length of the slider along the guide, m; set by `crank_length` to half of it.
    slider_height : float, optional
        Height of the slider across the guide, m; set by `slider_length`, a square. It
        may be 0.
    pin_mu : float
        Coefficient of friction of the pins, 1. No friction if it is 0.
    pin_radius : float
        Radius of the pins, m.
    clearance : float, optional
        Width of the guide less the height of the slider, m; without one the slider
        fits, and the forces at its ends are set by `slider_length`.
    contact_stiffness : float
        Stiffness of a corner of the slider, N/m. Only with a clearance.
    contact_damping : float
        Damping of a corner of the slider, N s/m. Only with a clearance.

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
    friction = coulomb("slider_crank", mu, mu0)
    length = 0.5 * crank_length if slider_length is None else slider_length
    height = length if slider_height is None else slider_height
    positive("slider_crank", slider_length=length, pin_radius=pin_radius)
    at_least("slider_crank", 0.0, slider_height=height, pin_mu=pin_mu)
    positive("slider_crank", contact_stiffness=contact_stiffness)
    at_least("slider_crank", 0.0, contact_damping=contact_damping)
    if clearance is not None:
        at_least("slider_crank", 0.0, clearance=clearance)
    r, l = crank_length, rod_length
    c1, s1 = math.cos(angle), math.sin(angle)
    s2 = (offset - r * s1) / l
    c2 = math.sqrt(1.0 - s2**2)
    w2 = -r * c1 * speed / (l * c2)
    pin = (r * c1, r * s1)
    pin_velocity = (-r * s1 * speed, r * c1 * speed)
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
        # Of no influence unless there is a clearance: the slider never turns.
        inertia=slider_mass * (length**2 + height**2) / 12.0,
        position=(pin[0] + l * c2, offset),
        velocity=(pin_velocity[0] - l * s2 * w2, 0.0),
    )
    guide = Prismatic(name="guide", a="ground.guide", b="slider")
    if clearance is not None:
        guide = replace(
            guide,
            friction=friction,
            length=length,
            height=height,
            clearance=clearance,
            normal=KelvinVoigt(stiffness=contact_stiffness, damping=contact_damping),
        )
    elif friction is not None:
        guide = replace(guide, friction=friction, length=length, height=height)

    def pin_joint(name: str, a: str, b: str) -> Revolute:
        if pin_mu == 0.0:
            return Revolute(name=name, a=a, b=b)
        law = Coulomb(mu=pin_mu)
        return Revolute(name=name, a=a, b=b, friction=law, radius=pin_radius)

    return Model(
        title="slider-crank",
        gravity=(0.0, -gravity),
        bodies=(Ground(points={"guide": (0.0, offset)}), crank, rod, slider),
        joints=(
            pin_joint("main_pin", "ground", "crank.O"),
            pin_joint("crank_pin", "crank.A", "rod.A"),
            pin_joint("slider_pin", "rod.B", "slider"),
            guide,
        ),
        drives=(
            RotationDrive(
                name="motor", b="crank", law=ConstantRate(rate=speed, start=angle)
            ),
        ),
    )
