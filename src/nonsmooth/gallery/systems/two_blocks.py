"""A block on a block that a spring drags along the ground."""

from __future__ import annotations

from nonsmooth.elements.bodies import MovingSupport, PointMass, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.drives import RotationDrive
from nonsmooth.elements.forces import SpringDamper
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.laws import Constant, ConstantRate
from nonsmooth.elements.normal import KelvinVoigt
from nonsmooth.elements.shapes import Line, Polygon
from nonsmooth.gallery._checks import friction, positive
from nonsmooth.model import Model

UNTIL = 10.0  # s
RANGES = {
    "m1": (0.2, 10.0),
    "m2": (0.1, 10.0),
    "k": (10.0, 1000.0),
    "speed": (0.01, 2.0),
    "mu0_lower": (0.3, 1.0),
    "mu_lower": (0.0, 0.5),
    "mu0_upper": (0.1, 1.0),
    "mu_upper": (0.0, 0.15),
    "gravity": (1.0, 12.0),
}

# N/m for each kg. Roundings make the blocks swing on these springs; stiffer ones would
# only cost shorter steps, since the normal forces are the same.
_GROUND = 1024.0
# Half the length and half the height of the lower block; they only show in drawings.
_LENGTH, _HEIGHT = 0.5, 0.125  # m


def two_blocks(
    *,
    m1: float = 2.0,
    m2: float = 1.0,
    k: float = 100.0,
    speed: float = 0.2,
    mu0_lower: float = 0.5,
    mu_lower: float = 0.3,
    mu0_upper: float = 0.15,
    mu_upper: float = 0.1,
    gravity: float = 9.81,
) -> Model:
    """Drag a block by a spring, with another block riding on it.

    The far end of the spring moves along x at constant speed. The lower block sticks
    to the ground until the spring pulls with mu0_lower (m1 + m2) g, at

        mu0_lower (m1 + m2) g/(k speed),

    0.73575 s by default. It then starts with the acceleration
    (mu0_lower - mu_lower) g, and the upper block stays behind if mu0_upper g is less:
    whether both contacts slip is decided in one instant. All is at rest at the start
    and the spring is free of force. The blocks rest on springs so that the normal
    forces are (m1 + m2) g and m2 g throughout.

    Bodies `lower` (point `sole`), `upper`, a point mass on the lower one's face
    `top`, and `puller`, the end of the spring; force `spring`; drive `guide`, which
    keeps the lower block level; contacts `ground_lower` and `lower_upper`.

    Parameters
    ----------
    m1 : float
        Mass of the lower block, kg.
    m2 : float
        Mass of the upper block, kg.
    k : float
        Stiffness of the spring, N/m.
    speed : float
        Velocity of the spring's far end, m/s.
    mu0_lower : float
        Coefficient of friction at rest between the ground and the lower block, 1.
    mu_lower : float
        The same in motion, 1. Not above mu0_lower.
    mu0_upper : float
        Coefficient of friction at rest between the blocks, 1.
    mu_upper : float
        The same in motion, 1. Not above mu0_upper.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.

    References
    ----------
    A classic.
    """
    positive("two_blocks", m1=m1, m2=m2, k=k, gravity=gravity)
    friction("two_blocks", mu0_lower=mu0_lower, mu_lower=mu_lower)
    friction("two_blocks", mu0_upper=mu0_upper, mu_upper=mu_upper)
    stiffness = _GROUND * (m1 + m2)
    y_lower = _HEIGHT - (m1 + m2) * gravity / stiffness
    y_upper = y_lower + _HEIGHT - m2 * gravity / stiffness
    # Longer than the spring can shorten, also when the lower block overtakes its end.
    swing = mu0_lower * (m1 + m2) * gravity / k + abs(speed) * ((m1 + m2) / k) ** 0.5
    length = 1.0 + 4.0 * swing
    l, h = _LENGTH, _HEIGHT
    lower = RigidBody(
        name="lower",
        mass=m1,
        inertia=m1 * (l**2 + h**2) / 3.0,
        position=(0.0, y_lower),
        points={"sole": (0.0, -h)},
        shapes={
            "top": Line(point=(0.0, h)),
            "outline": Polygon(vertices=((-l, -h), (l, -h), (l, h), (-l, h))),
        },
    )
    normal = KelvinVoigt(stiffness=stiffness)
    return Model(
        title="block on a dragged block",
        gravity=(0.0, -gravity),
        bodies=(
            lower,
            PointMass(name="upper", mass=m2, position=(0.0, y_upper)),
            MovingSupport(
                name="puller", x=ConstantRate(rate=speed, start=length), y=y_lower
            ),
        ),
        drives=(RotationDrive(name="guide", b="lower", law=Constant(value=0.0)),),
        forces=(
            SpringDamper(
                name="spring",
                a="puller",
                b="lower",
                stiffness=k,
                rest_length=length,
            ),
        ),
        contacts=(
            Contact(
                name="ground_lower",
                b="lower.sole",
                normal=normal,
                friction=Coulomb(mu=mu_lower, mu_static=mu0_lower),
            ),
            Contact(
                name="lower_upper",
                a="lower.top",
                b="upper",
                normal=normal,
                friction=Coulomb(mu=mu_upper, mu_static=mu0_upper),
            ),
        ),
    )
