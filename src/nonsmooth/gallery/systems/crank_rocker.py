"""A crank that swings a rocker through a slider with friction."""

from __future__ import annotations

import math
from typing import Literal

from nonsmooth.elements.bodies import Ground, RigidBody
from nonsmooth.elements.drives import Drive, RotationDrive
from nonsmooth.elements.forces import Couple, Force, TorsionSpring
from nonsmooth.elements.joints import PinInSlot, Revolute
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.errors import ModelError
from nonsmooth.gallery._checks import at_least, coulomb, positive
from nonsmooth.model import Model

UNTIL = 2.0 * math.pi / 3.0  # s, one turn at the default speed
# Not of `torque`, which is 0 unless it drives.
RANGES = {
    "damping": (0.0, 20.0),
    "mu": (0.0, 1.0),
    "gravity": (0.0, 25.0),
    "speed": (-10.0, 10.0),
    "angle": (0.0, 6.2832),
    "rocker_mass": (0.5, 20.0),
    "rocker_length": (1.5, 4.0),
    "crank_mass": (0.2, 10.0),
    "crank_length": (0.05, 0.95),
    "slider_mass": (0.0, 5.0),
    "distance": (0.55, 1.5),
}

# Cosine of the angle between crank and rocker below which the rocker cannot move the
# crank: the rounding of an angle of a few turns.
_DEAD = 1e-12


def crank_rocker(
    *,
    damping: float = 0.0,
    mu: float = 0.2,
    mu0: float | None = None,
    driven: Literal["crank", "rocker", "torque"] = "crank",
    torque: float = 0.0,
    gravity: float = 0.0,
    speed: float = 3.0,
    angle: float = 0.0,
    rocker_mass: float = 4.0,
    rocker_length: float = 2.0,
    crank_mass: float = 2.0,
    crank_length: float = 0.5,
    slider_mass: float = 0.5,
    distance: float = 1.0,
) -> Model:
    """Swing a rocker by a crank whose pin slides along it, with friction.

    The rocker OA turns about O, the origin; the crank O1B turns about O1, straight
    above O. A slider on the crank pin B runs along the rocker and rubs on one flank of
    it or the other. Both rods are uniform.

    The slider is a point mass on the pin, without inertia of its own; so the crank
    carries it: the body `crank` has the mass, mass centre and inertia of both
    together.

    Three ways to drive it, by `driven`:

    - `crank`: the crank turns at constant speed, as in the paper. Motion and normal
      force do not depend on friction, and every mu has one solution.
    - `torque`: a constant torque acts on the crank, which starts with `speed`. From
      mu = 0.70857 on there are angles, the first at 138.34 deg, where the forces have
      two solutions or none.
    - `rocker`: the rocker goes on turning at the rate it has at the start. Where
      mu |tan d| > 1, d the angle between crank and rocker, there are two solutions
      or none: with mu = 0.2 between 108.05 and 130.67 deg of the crank, around its
      dead centre at 120 deg. A run from the default start ends there.

    The paper counts angles clockwise from the upward vertical, we count them
    counter-clockwise from +x:

        theta = pi/2 - theta_paper,    omega = -omega_paper,    torque = -M_paper.

    `speed`, `angle` and `torque` are the paper's, so that the crank turns at
    omega = -speed. Forces have the paper's signs: `slider.normal_force` is its lam_N,
    on the crank along the normal that points to the left of OA, positive on the right
    flank; `slider.friction_force` is its F_f, on the crank, positive towards A;
    `slider.slip_velocity` is positive towards A, while the paper's v_r counts towards
    O. `motor.torque` is -M.

    Bodies `rocker` (points `O`, `A`) and `crank` (`O1`, `B`); joints `hinge_O`,
    `hinge_O1` and `slider`; drive `motor`, a force of that name for `torque`; force
    `damper` on the rocker.

    Parameters
    ----------
    damping : float
        Damping of the rocker's rotation, N m s/rad. The paper has 0 and 8.
    mu : float
        Coefficient of friction of the slider in motion, 1. No friction if it is 0.
    mu0 : float, optional
        The same at rest, 1; set by `mu`. Not below mu.
    driven : str
        What is driven, see above.
    torque : float
        Torque on the crank, clockwise, N m. Only with `driven` = torque.
    gravity : float
        Acceleration of free fall, along -y, m/s^2. The paper has none.
    speed : float
        Angular speed of the crank, clockwise, rad/s. That of the start unless the
        crank is driven.
    angle : float
        Angle of the crank at the start, clockwise from the upward vertical, rad.
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
    Wang, Wang and Zhuang (2014) [WangWangZhuang2014]_.
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
    friction = coulomb("crank_rocker", mu, mu0)
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
    if torque and driven != "torque":
        raise ModelError(
            f"crank_rocker: torque = {torque!r}; must be 0 with driven = {driven!r}, "
            "whose motion asks for its own; give driven = 'torque'"
        )
    # Crank and slider together: mass centre at `arm` from O1.
    mass = crank_mass + slider_mass
    arm = (0.5 * crank_mass + slider_mass) * crank_length / mass
    inertia = (
        crank_mass * crank_length**2 / 12.0
        + crank_mass * (arm - 0.5 * crank_length) ** 2
        + slider_mass * (crank_length - arm) ** 2
    )
    # In the paper's sense: B as seen from O, and the rocker through it.
    c2, s2 = math.cos(angle), math.sin(angle)
    x, y = crank_length * s2, distance + crank_length * c2
    rocker_angle, s = math.atan2(x, y), math.hypot(x, y)
    c1, s1 = y / s, x / s
    cosine = c2 * c1 + s2 * s1
    rocker_speed = speed * crank_length * cosine / s
    if driven == "rocker" and abs(cosine) < _DEAD:
        raise ModelError(
            f"crank_rocker: angle = {angle!r}; must not be a dead centre of the crank, "
            "across the rocker, with driven = 'rocker'"
        )
    half = 0.5 * rocker_length
    up = 0.5 * math.pi
    rocker = RigidBody(
        name="rocker",
        mass=rocker_mass,
        inertia=rocker_mass * rocker_length**2 / 12.0,
        position=(half * s1, half * c1),
        angle=up - rocker_angle,
        velocity=(half * c1 * rocker_speed, -half * s1 * rocker_speed),
        angular_velocity=-rocker_speed,
        points={"O": (-half, 0.0), "A": (half, 0.0)},
    )
    crank = RigidBody(
        name="crank",
        mass=mass,
        inertia=inertia,
        position=(arm * s2, distance + arm * c2),
        angle=up - angle,
        velocity=(arm * c2 * speed, -arm * s2 * speed),
        angular_velocity=-speed,
        points={"O1": (-arm, 0.0), "B": (crank_length - arm, 0.0)},
    )
    drives: tuple[Drive, ...] = ()
    forces: tuple[Force, ...] = (
        TorsionSpring(name="damper", b="rocker", damping=damping),
    )
    if driven == "torque":
        forces += (Couple(name="motor", b="crank", torque=-torque),)
    else:
        body = crank if driven == "crank" else rocker
        law = ConstantRate(rate=body.angular_velocity, start=body.angle)
        drives = (RotationDrive(name="motor", b=driven, law=law),)
    return Model(
        title="crank-rocker",
        gravity=(0.0, -gravity),
        bodies=(Ground(points={"O1": (0.0, distance)}), rocker, crank),
        joints=(
            Revolute(name="hinge_O", b="rocker.O"),
            Revolute(name="hinge_O1", a="ground.O1", b="crank.O1"),
            PinInSlot(name="slider", a="rocker", b="crank.B", friction=friction),
        ),
        drives=drives,
        forces=forces,
    )
