"""N four-bar linkages side by side, sharing their rockers."""

from __future__ import annotations

import math

from nonsmooth.elements.bodies import Body, Ground, RigidBody
from nonsmooth.elements.joints import Joint, Revolute
from nonsmooth.gallery._checks import count
from nonsmooth.model import Model

UNTIL = 2.0  # s
RANGES = {
    "n": (1, 40),
    "gravity": (0.0, 25.0),
    "speed": (-10.0, 10.0),
}

_LENGTH = 1.0  # m, of every rod
_MASS = 1.0  # kg
_INERTIA = _MASS * _LENGTH**2 / 12.0  # kg m^2


def n_four_bar(*, n: int = 1, gravity: float = 9.81, speed: float = 1.0) -> Model:
    """Stand n + 1 rockers side by side and join their tops by n couplers.

    The rockers are pinned to the ground 1 m apart along x; all rods are uniform,
    1 m long, of 1 kg. They stand upright at the start and turn towards +x. The
    rockers stay parallel, so that one degree of freedom is left however many loops
    there are. Twice a turn all rods lie on one line and the constraints lose rank;
    the motion goes on through that pose.

    Bodies `rocker0` to `rocker<n>` with the points `pin` and `top`, `coupler0` to
    `coupler<n-1>` with the points `left` and `right`, all on the rod's x axis;
    joints `hinge<j>` (ground and rocker j), `left<j>` and `right<j>` (coupler j and
    the rockers j and j + 1).

    Parameters
    ----------
    n : int
        Number of loops, and of couplers.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.
    speed : float
        Angular speed of the rockers at the start, towards +x (clockwise), rad/s.

    References
    ----------
    Gonzalez, Dopico, Lugris and Cuadrado (2006) [GonzalezEtAl2006]_; a problem of
    the IFToMM library of benchmarks. At 2 s the top of the first rocker is at
    (0.077085471793, 0.997024488184) m for n = 1 and at
    (0.057815795768, 0.998327267863) m for n = 2.
    """
    count("n_four_bar", n=n)
    half = 0.5 * _LENGTH
    bodies: list[Body] = [
        Ground(points={f"pin{j}": (j * _LENGTH, 0.0) for j in range(n + 1)})
    ]
    joints: list[Joint] = []
    for j in range(n + 1):
        bodies.append(
            RigidBody(
                name=f"rocker{j}",
                mass=_MASS,
                inertia=_INERTIA,
                position=(j * _LENGTH, half),
                angle=0.5 * math.pi,
                velocity=(half * speed, 0.0),
                angular_velocity=-speed,
                points={"pin": (-half, 0.0), "top": (half, 0.0)},
            )
        )
        joints.append(
            Revolute(name=f"hinge{j}", a=f"ground.pin{j}", b=f"rocker{j}.pin")
        )
    for j in range(n):
        bodies.append(
            RigidBody(
                name=f"coupler{j}",
                mass=_MASS,
                inertia=_INERTIA,
                position=((j + 0.5) * _LENGTH, _LENGTH),
                velocity=(_LENGTH * speed, 0.0),
                points={"left": (-half, 0.0), "right": (half, 0.0)},
            )
        )
        joints += [
            Revolute(name=f"left{j}", a=f"rocker{j}.top", b=f"coupler{j}.left"),
            Revolute(name=f"right{j}", a=f"rocker{j + 1}.top", b=f"coupler{j}.right"),
        ]
    return Model(
        title=f"{n}-four-bar",
        gravity=(0.0, -gravity),
        bodies=tuple(bodies),
        joints=tuple(joints),
    )
