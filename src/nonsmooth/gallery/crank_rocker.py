"""A crank that swings a rocker through a slider."""

from __future__ import annotations

import math

from nonsmooth.elements.bodies import Ground, RigidBody
from nonsmooth.elements.drives import RotationDrive
from nonsmooth.elements.forces import TorsionSpring
from nonsmooth.elements.joints import PinInSlot, Revolute
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.errors import ModelError
from nonsmooth.gallery._checks import at_least, positive
from nonsmooth.model import Model

UNTIL = 2.0 * math.pi / 3.0  # s, one turn at the default speed


def crank_rocker(
    *,
    damping: float = 0.0,
    gravity: float = 0.0,
    speed: float = 3.0,
    rocker_mass: float = 4.0,
    rocker_length: float = 2.0,
    crank_mass: float = 2.0,
    crank_length: float = 0.5,
    slider_mass: float = 0.5,
    distance: float = 1.0,
) -> Model:
    """Swing a rocker by a driven crank whose pin slides along it.

    The rocker OA turns about O, the origin; the crank O1B turns at constant speed
    about O1, straight above O. A slider on the crank pin B runs along the rocker.
    Both rods are uniform, there is no friction. The crank points up at the start.

    The slider is a point mass on the pin, without inertia of its own; so the crank
    carries it: the body `crank` has the mass, mass centre and inertia of both
    together.

    The paper counts angles clockwise from the upward vertical, we count them
    counter-clockwise from +x:

        theta = pi/2 - theta_paper,    omega = -omega_paper,    torque = -M_paper.

    `speed` is the paper's, so that the crank turns at omega = -speed. The force of
    the joint `slider` on the crank is the paper's lam_N, along the normal that points
    to the left of OA.

    Bodies `rocker` (points `O`, `A`) and `crank` (`O1`, `B`); joints `hinge_O`,
    `hinge_O1` and `slider`; drive `motor`; force `damper` on the rocker.

    Parameters
    ----------
    damping : float
        Damping of the rocker's rotation, N m s/rad. The paper has 0 and 8.
    gravity : float
        Acceleration of free fall, along -y, m/s^2. The paper has none.
    speed : float
        Angular speed of the crank, clockwise, rad/s.
    rocker_mass : float
        Mass of the rocker, kg.
    rocker_length : float
        Distance from O to A, m.
    crank_mass : float
        Mass of the crank without the slider, kg.
    crank_length : float
        Distance from O1 to B, m.
    slider_mass : float
        Mass of the slider, kg.
    distance : float
        Height of O1 above O, m. It must exceed the crank's length.

    References
    ----------
    Wang, Wang and Zhuang (2014) [WangWangZhuang2014]_, without the friction.
    """
    positive(
        "crank_rocker",
        rocker_mass=rocker_mass,
        rocker_length=rocker_length,
        crank_mass=crank_mass,
        crank_length=crank_length,
        distance=distance,
    )
    at_least("crank_rocker", 0.0, damping=damping, slider_mass=slider_mass)
    reach = distance + crank_length
    if not distance > crank_length:
        raise ModelError(
            f"crank_rocker: distance = {distance!r}; must be > crank_length = "
            f"{crank_length:g} m, or the slider meets O"
        )
    if not rocker_length >= reach:
        raise ModelError(
            f"crank_rocker: rocker_length = {rocker_length!r}; must be >= distance + "
            f"crank_length = {reach:g} m, or the slider leaves the rocker"
        )
    # Crank and slider together: mass centre at `arm` from O1.
    mass = crank_mass + slider_mass
    arm = (0.5 * crank_mass + slider_mass) * crank_length / mass
    inertia = (
        crank_mass * crank_length**2 / 12.0
        + crank_mass * (arm - 0.5 * crank_length) ** 2
        + slider_mass * (crank_length - arm) ** 2
    )
    # Upright, the slider moves across the rocker only.
    rocker_speed = speed * crank_length / reach
    half = 0.5 * rocker_length
    up = 0.5 * math.pi
    rocker = RigidBody(
        name="rocker",
        mass=rocker_mass,
        inertia=rocker_mass * rocker_length**2 / 12.0,
        position=(0.0, half),
        angle=up,
        velocity=(half * rocker_speed, 0.0),
        angular_velocity=-rocker_speed,
        points={"O": (-half, 0.0), "A": (half, 0.0)},
    )
    crank = RigidBody(
        name="crank",
        mass=mass,
        inertia=inertia,
        position=(0.0, distance + arm),
        angle=up,
        velocity=(arm * speed, 0.0),
        angular_velocity=-speed,
        points={"O1": (-arm, 0.0), "B": (crank_length - arm, 0.0)},
    )
    return Model(
        title="crank-rocker",
        gravity=(0.0, -gravity),
        bodies=(Ground(points={"O1": (0.0, distance)}), rocker, crank),
        joints=(
            Revolute(name="hinge_O", b="rocker.O"),
            Revolute(name="hinge_O1", a="ground.O1", b="crank.O1"),
            PinInSlot(name="slider", a="rocker", b="crank.B"),
        ),
        drives=(
            RotationDrive(
                name="motor", b="crank", law=ConstantRate(rate=-speed, start=up)
            ),
        ),
        forces=(TorsionSpring(name="damper", b="rocker", damping=damping),),
    )
