"""A block on a belt, held by a spring: stick-slip."""

from __future__ import annotations

from nonsmooth.elements.bodies import Ground, MovingSupport, PointMass
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.forces import SpringDamper
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.elements.normal import KelvinVoigt
from nonsmooth.gallery._checks import friction, positive
from nonsmooth.model import Model

UNTIL = 5.0  # s
RANGES = {
    "m": (0.1, 10.0),
    "k": (10.0, 1000.0),
    "speed": (0.01, 1.0),
    "mu0": (0.3, 1.0),
    "mu": (0.0, 0.4),
    "gravity": (1.0, 25.0),
}

# N/m. A power of two: the depth at which the block rests and the force at that depth
# are then without rounding, and the block never moves up or down.
_GROUND = 65536.0


def belt(
    *,
    m: float = 1.0,
    k: float = 100.0,
    speed: float = 0.1,
    mu0: float = 0.4,
    mu: float = 0.3,
    gravity: float = 9.81,
) -> Model:
    """Let a belt run under a block that a spring ties to a wall.

    The block sticks to the belt until the spring pulls with mu0 m g, slips back and
    sticks again, for ever. At the start it rides on the belt and the spring, along x,
    is free of force; x of the block is then the stretch of the spring. It rests on
    the belt by a spring so that the normal force is m g throughout.

    The first slip begins at mu0 m g/(k speed). With w^2 = k/m and
    D = (mu0 - mu) m g/k the motion then repeats every

        2 D/speed + (2 pi - 2 atan(D w/speed))/w

    for speed > 0: 0.3924 s and 0.669357062343 s by default.

    Bodies `block`, a point mass, and `belt`, which reports the force that drives it;
    force `spring`; contact `sole`.

    Parameters
    ----------
    m : float
        Mass of the block, kg.
    k : float
        Stiffness of the spring, N/m.
    speed : float
        Velocity of the belt, m/s.
    mu0 : float
        Coefficient of friction at rest, 1.
    mu : float
        Coefficient of friction in motion, 1. Not above mu0.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.

    References
    ----------
    A classic.
    """
    positive("belt", m=m, k=k, gravity=gravity)
    friction("belt", mu0=mu0, mu=mu)
    depth = m * gravity / _GROUND
    # The block swings about mu m g/k, by less than this even when thrown at `speed`.
    swing = mu0 * m * gravity / k + abs(speed) * (m / k) ** 0.5
    length = 1.0 + 4.0 * swing
    return Model(
        title="block on a belt",
        gravity=(0.0, -gravity),
        bodies=(
            Ground(points={"wall": (-length, -depth)}),
            MovingSupport(name="belt", x=ConstantRate(rate=speed)),
            PointMass(
                name="block", mass=m, position=(0.0, -depth), velocity=(speed, 0.0)
            ),
        ),
        forces=(
            SpringDamper(
                name="spring",
                a="ground.wall",
                b="block",
                stiffness=k,
                rest_length=length,
            ),
        ),
        contacts=(
            Contact(
                name="sole",
                a="belt",
                b="block",
                normal=KelvinVoigt(stiffness=_GROUND),
                friction=Coulomb(mu=mu, mu_static=mu0),
            ),
        ),
    )
