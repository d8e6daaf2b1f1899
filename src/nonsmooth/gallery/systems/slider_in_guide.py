"""A block in a straight guide, jammed to and fro by a bar that turns on it."""

from __future__ import annotations

import math
from typing import Literal

from nonsmooth.elements.bodies import Ground, RigidBody
from nonsmooth.elements.drives import RotationDrive
from nonsmooth.elements.forces import PointForce, SpringDamper
from nonsmooth.elements.friction import Coulomb, CoulombViscous, FrictionLaw, Karnopp
from nonsmooth.elements.joints import Prismatic, Revolute
from nonsmooth.elements.laws import ConstantRate, Harmonic
from nonsmooth.elements.normal import KelvinVoigt
from nonsmooth.elements.shapes import Polygon
from nonsmooth.errors import ModelError
from nonsmooth.gallery import _checks
from nonsmooth.gallery._checks import at_least, positive
from nonsmooth.model import Model

UNTIL = 24.0  # s, three periods
RANGES = {
    "mu": (0.0, 0.04),
    "mu0": (0.03, 0.5),
    "viscous": (0.0, 5.0),
    "stiffness": (1e4, 1e8),
    "damping": (0.0, 5e4),
    "spring_rest": (-1.0, 1.0),
    "k": (0.0, 20.0),
    "force": (0.0, 20.0),
    "frequency": (0.1, 10.0),
    "speed": (-3.0, 3.0),
    "position": (-1.0, 1.0),
    "slider_mass": (0.1, 10.0),
    "slider_length": (0.2, 2.0),
    "slider_height": (0.05, 1.0),
    "bar_mass": (0.1, 10.0),
    "bar_length": (0.2, 4.0),
    "gravity": (0.0, 25.0),
}

_SYSTEM = "slider_in_guide"
_DEAD_BAND = 1e-3  # m/s, of Karnopp's law
# From the wall to the slider where the spring is relaxed: longer than its travel, so
# that the spring never turns round.
_WALL = 3.0  # m


def slider_in_guide(
    *,
    mu: float = 0.03,
    mu0: float = 0.04,
    viscous: float = 0.0,
    law: Literal["coulomb", "karnopp"] = "coulomb",
    dead_band: float | None = None,
    clearance: float | None = None,
    stiffness: float = 1e6,
    damping: float = 5e3,
    spring_rest: float = 0.0,
    k: float = 1.0,
    force: float = 3.0,
    frequency: float = 0.5 * math.pi,
    speed: float = 0.25 * math.pi,
    position: float = 0.0,
    slider_mass: float = 1.0,
    slider_length: float = 0.6,
    slider_height: float = 0.5,
    bar_mass: float = 2.0,
    bar_length: float = 2.0,
    gravity: float = 9.81,
) -> Model:
    """Turn a bar on a block that slides in a guide and rubs on both of its flanks.

    The guide lies along x. A uniform bar is pinned to the middle of the block and
    turned by a motor between both, at the angle `speed` t from +x; its weight tilts
    the block, which then touches the guide in two diagonal corners instead of one
    face. A spring and the force `force` sin(`frequency` t) act along the guide.

    Without a `clearance` the block fits the guide, in the limit of a small clearance.
    With m the sum of both masses, m1 the bar's, L its length, l and h length and
    height of the block, th the angle of the bar and s the sign of the velocity

        m a = F - k (x - spring_rest) + m1 (L/2) speed^2 cos(th) + F_f
        N = m g - m1 (L/2) speed^2 sin(th)
        M = m1 (L/2) (g cos(th) - a sin(th))
        F_f = -s mu G,    G = max(N, (2/l) |M + s mu (h/2) N|)

    where `motor.torque` is M, `guide.normal_force` N and `guide.load` G. Forces on the
    ends, `guide.front_force` and `guide.rear_force`, are positive from below and
    negative from above; front is along +x. The paper's areas 1 to 4, top-left,
    top-right, bottom-left and bottom-right, are rear upper, front upper, rear lower and
    front lower.

    From rest at x = 0 the block sticks until 0.304720 s. With every turn of the bar,
    8 s, it comes three times nearer to a motion that repeats: there it sticks from
    7.707030 to 8.239317 s at x = -0.295506 m and reverses at 2.736925, 5.092205 and
    6.451162 s.

    With a clearance the four corners are contacts, `guide.front_lower`,
    `guide.rear_lower`, `guide.front_upper` and `guide.rear_upper`, each a spring with a
    damper. At the start the block is balanced, without friction, on those that touch;
    th counts from it. With mu0 = mu the motion tends to the limit as the clearance
    does; with mu0 > mu the corners let go one after the other, and the block starts
    earlier, at 0.221 s.

    Bodies `slider` and `bar` (points `pin`, `tip`); joints `guide` and `pin`; drive
    `motor`, its torque acting on the bar; forces `spring` and `push`.

    Parameters
    ----------
    mu : float
        Coefficient of friction in motion, 1.
    mu0 : float
        Coefficient of friction at rest, 1. Not below mu.
    viscous : float
        Friction in proportion to the velocity, N s/m. The paper has none.
    law : str
        Law of friction: set-valued at rest, or the paper's with a dead band.
    dead_band : float, optional
        Velocity below which the block counts as at rest, m/s; set by `law`: 1e-3 for
        karnopp, and none for coulomb.
    clearance : float, optional
        Width of the guide less the height of the block, m; without one the block fits,
        and the forces at its ends are set by `slider_length`.
    stiffness : float
        Stiffness of a corner, N/m. Only with a clearance.
    damping : float
        Damping of a corner, N s/m. Only with a clearance.
    spring_rest : float
        Place of the block where the spring is relaxed, m. It only shifts the motion.
    k : float
        Stiffness of the spring, N/m.
    force : float
        Amplitude of the force, N.
    frequency : float
        Angular frequency of the force, rad/s.
    speed : float
        Angular velocity of the bar, counter-clockwise, rad/s.
    position : float
        Place of the block at the start, m. From -0.2955064022 the motion repeats at
        once.
    slider_mass : float
        Mass of the block, kg.
    slider_length : float
        Length of the block along the guide, m.
    slider_height : float
        Height of the block across the guide, m.
    bar_mass : float
        Mass of the bar, kg.
    bar_length : float
        Length of the bar, m.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.

    References
    ----------
    Zhang and Wang (2016) [ZhangWang2016]_, with a rigid slider.
    """
    positive(
        _SYSTEM,
        stiffness=stiffness,
        slider_mass=slider_mass,
        slider_length=slider_length,
        slider_height=slider_height,
        bar_mass=bar_mass,
        bar_length=bar_length,
    )
    at_least(_SYSTEM, 0.0, viscous=viscous, damping=damping, k=k, gravity=gravity)
    _checks.friction(_SYSTEM, mu0=mu0, mu=mu)
    friction: FrictionLaw
    if law == "karnopp":
        dead_band = _DEAD_BAND if dead_band is None else dead_band
        positive(_SYSTEM, dead_band=dead_band)
        friction = Karnopp(mu=mu, mu_static=mu0, viscous=viscous, dead_band=dead_band)
    elif dead_band is not None:
        raise ModelError(
            f"{_SYSTEM}: dead_band = {dead_band!r}; must be left out with law = "
            "'coulomb', which has none; give law = 'karnopp'"
        )
    elif viscous > 0.0:
        friction = CoulombViscous(mu=mu, mu_static=mu0, viscous=viscous)
    else:
        friction = Coulomb(mu=mu, mu_static=mu0)
    height, tilt = 0.0, 0.0
    if clearance is not None:
        at_least(_SYSTEM, 0.0, clearance=clearance)
        weight = (slider_mass + bar_mass) * gravity
        moment = 0.5 * bar_mass * gravity * bar_length
        height, tilt = _balanced(
            weight, moment, slider_length, slider_height, clearance, stiffness
        )
    l, h, half = 0.5 * slider_length, 0.5 * slider_height, 0.5 * bar_length
    c, s = math.cos(tilt), math.sin(tilt)
    slider = RigidBody(
        name="slider",
        mass=slider_mass,
        inertia=slider_mass * (l**2 + h**2) / 3.0,
        position=(position, height),
        angle=tilt,
        shapes={"outline": Polygon(vertices=((-l, -h), (l, -h), (l, h), (-l, h)))},
    )
    bar = RigidBody(
        name="bar",
        mass=bar_mass,
        inertia=bar_mass * half**2 / 3.0,
        position=(position + half * c, height + half * s),
        angle=tilt,
        velocity=(-half * s * speed, half * c * speed),
        angular_velocity=speed,
        points={"pin": (-half, 0.0), "tip": (half, 0.0)},
    )
    guide = Prismatic(
        name="guide",
        b="slider",
        friction=friction,
        length=slider_length,
        height=slider_height,
        clearance=clearance,
        normal=None
        if clearance is None
        else KelvinVoigt(stiffness=stiffness, damping=damping),
    )
    return Model(
        title="slider in its guide",
        gravity=(0.0, -gravity),
        bodies=(Ground(points={"wall": (spring_rest - _WALL, 0.0)}), slider, bar),
        joints=(guide, Revolute(name="pin", a="slider", b="bar.pin")),
        drives=(
            RotationDrive(
                name="motor", a="slider", b="bar", law=ConstantRate(rate=speed)
            ),
        ),
        forces=(
            SpringDamper(
                name="spring",
                a="ground.wall",
                b="slider",
                stiffness=k,
                rest_length=_WALL,
            ),
            PointForce(
                name="push",
                b="slider",
                fx=Harmonic(amplitude=force, angular_frequency=frequency),
            ),
        ),
    )


def _balanced(
    weight: float,
    moment: float,
    length: float,
    height: float,
    clearance: float,
    stiffness: float,
) -> tuple[float, float]:
    """Return height and angle at which the corners carry a weight and a moment.

    The moment turns the block clockwise. Its front lower corner bears P; the rear end
    bears Q, below if Q > 0 and above otherwise:

        P, Q = weight/2 ± moment/length

    Overlaps are force over stiffness. What the small angle does to the arms is left
    out.
    """
    front, rear = 0.5 * weight + moment / length, 0.5 * weight - moment / length
    deep_front, deep_rear = front / stiffness, rear / stiffness
    flank = 0.5 * (height + clearance)
    if rear >= 0.0:
        tilt = math.asin((deep_rear - deep_front) / length)
        depth = 0.5 * (deep_front + deep_rear)
        return 0.5 * height * math.cos(tilt) - flank - depth, tilt
    # Both diagonal corners: y - h/2 cos + l/2 sin + flank = -P/k at the lower one,
    # flank - y - h/2 cos + l/2 sin = Q/k at the upper one.
    diagonal = math.hypot(length, height)
    span = 2.0 * flank + deep_front - deep_rear
    if not span < diagonal:
        raise ModelError(
            f"{_SYSTEM}: clearance = {clearance!r}; must be < "
            f"{diagonal - height - (deep_front - deep_rear):g} m, or the block turns "
            "over in the guide"
        )
    tilt = math.atan2(height, length) - math.asin(span / diagonal)
    return -0.5 * (deep_front + deep_rear), tilt
