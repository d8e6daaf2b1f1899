"""An elliptic trammel: a rod whose ends slide in two crossed guides."""

from __future__ import annotations

import math

from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.joints import PinInSlot
from nonsmooth.gallery._checks import coulomb, positive
from nonsmooth.model import Model

UNTIL = 3.0  # s
RANGES = {
    "length": (0.2, 5.0),
    "mass": (0.1, 10.0),
    "mu": (0.0, 0.9),
    "gravity": (0.0, 25.0),
    "angle": (-3.1416, 3.1416),
    "angular_velocity": (-10.0, 10.0),
}


def trammel(
    *,
    length: float = 1.0,
    mass: float = 1.0,
    mu: float = 0.1,
    mu0: float | None = None,
    gravity: float = 9.81,
    angle: float = 0.25 * math.pi,
    angular_velocity: float = 0.0,
) -> Model:
    """Let a uniform rod swing with its ends in two guides at right angles.

    The end A slides along x and the end B along y; the guides cross in the origin,
    and the ends pass each other there. At the angle phi, from the guide along x up to
    B,

        A = (length cos(phi), 0),    B = (0, length sin(phi)),    theta = -phi,

    so that the mass centre runs on a circle, and every other point on an ellipse.
    Without friction phi moves as the angle of a rod that hangs on a pin,
    phi'' = -1.5 gravity/length cos(phi). Both ends rub at once, each with a load that
    depends on the friction of the other: as long as mu < 1 the forces have one
    solution at every angle, and from mu = 1 on there are angles, first 45 deg, where
    they have several or none.

    Body `rod` (points `A`, `B`); joints `guide_x` of A and `guide_y` of B.

    Parameters
    ----------
    length : float
        Length of the rod, m.
    mass : float
        Mass of the rod, kg.
    mu : float
        Coefficient of friction in motion, in both guides, 1. No friction if it is 0.
    mu0 : float, optional
        The same at rest, 1; set by `mu`. Not below mu.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.
    angle : float
        The angle phi at the start, rad.
    angular_velocity : float
        Rate of phi at the start, rad/s.

    References
    ----------
    A classic.
    """
    positive("trammel", length=length, mass=mass)
    friction = coulomb("trammel", mu, mu0)
    half = 0.5 * length
    c, s = math.cos(angle), math.sin(angle)
    rod = RigidBody(
        name="rod",
        mass=mass,
        inertia=mass * length**2 / 12.0,
        position=(half * c, half * s),
        angle=-angle,
        velocity=(-half * s * angular_velocity, half * c * angular_velocity),
        angular_velocity=-angular_velocity,
        points={"A": (half, 0.0), "B": (-half, 0.0)},
    )
    return Model(
        title="elliptic trammel",
        gravity=(0.0, -gravity),
        bodies=(rod,),
        joints=(
            PinInSlot(name="guide_x", b="rod.A", friction=friction),
            PinInSlot(name="guide_y", b="rod.B", axis=0.5 * math.pi, friction=friction),
        ),
    )
