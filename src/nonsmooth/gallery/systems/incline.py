"""A block thrown up an incline: it stops, and stays or slides back."""

from __future__ import annotations

import math

from nonsmooth.elements.bodies import Ground, PointMass
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.normal import KelvinVoigt
from nonsmooth.elements.shapes import Line
from nonsmooth.errors import ModelError
from nonsmooth.gallery._checks import friction, positive
from nonsmooth.model import Model

UNTIL = 2.5  # s
RANGES = {
    "angle": (0.0, 60.0),
    "speed": (0.0, 10.0),
    "mu0": (0.3, 1.0),
    "mu": (0.0, 0.4),
    "m": (0.1, 10.0),
    "gravity": (1.0, 25.0),
}

# N/m for each kg. Roundings make the block swing on this spring; a stiffer one would
# only cost shorter steps, since the normal force is the same.
_GROUND = 1024.0


def incline(
    *,
    angle: float = 20.0,
    speed: float = 3.0,
    mu0: float = 0.4,
    mu: float = 0.3,
    m: float = 1.0,
    gravity: float = 9.81,
) -> Model:
    """Throw a block up an incline.

    The incline is a line through the origin, where the block starts. It rests on the
    line by a spring so that the normal force is m g cos(angle) throughout. On its way
    up it stops after

        speed/(g (sin(angle) + mu cos(angle))),

    0.490137375 s by default, and stays there if mu0 >= tan(angle) = 0.364. Otherwise
    it slides back, and returns with mu0 = 0.35 at 2.069213819 s.

    Body `block`, a point mass; contact `sole` with the ground's line `slope`.

    Parameters
    ----------
    angle : float
        Slope of the incline, upwards along +x, deg.
    speed : float
        Velocity of the block at the start, up the incline, m/s.
    mu0 : float
        Coefficient of friction at rest, 1.
    mu : float
        Coefficient of friction in motion, 1. Not above mu0.
    m : float
        Mass of the block, kg.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.

    References
    ----------
    A classic.
    """
    positive("incline", m=m, gravity=gravity)
    friction("incline", mu0=mu0, mu=mu)
    if not abs(angle) < 90.0:
        raise ModelError(f"incline: angle = {angle!r}; must be between -90 and 90 deg")
    slope = math.radians(angle)
    cos, sin = math.cos(slope), math.sin(slope)
    stiffness = _GROUND * m
    depth = m * gravity * cos / stiffness
    return Model(
        title="block on an incline",
        gravity=(0.0, -gravity),
        bodies=(
            Ground(shapes={"slope": Line(angle=slope)}),
            PointMass(
                name="block",
                mass=m,
                position=(depth * sin, -depth * cos),
                velocity=(speed * cos, speed * sin),
            ),
        ),
        contacts=(
            Contact(
                name="sole",
                a="ground.slope",
                b="block",
                normal=KelvinVoigt(stiffness=stiffness),
                friction=Coulomb(mu=mu, mu_static=mu0),
            ),
        ),
    )
