"""A chain of uniform rods, released from rest."""

from __future__ import annotations

import math

from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.joints import Revolute
from nonsmooth.gallery._checks import count, positive
from nonsmooth.model import Model

UNTIL = 5.0  # s
RANGES = {
    "n": (1, 20),
    "length": (0.1, 5.0),
    "mass": (0.1, 10.0),
    "gravity": (0.0, 25.0),
    "angle": (-3.1416, 3.1416),
}


def pendulum_chain(
    *,
    n: int = 2,
    length: float = 1.0,
    mass: float = 1.0,
    gravity: float = 9.81,
    angle: float = 0.0,
) -> Model:
    """Hang a chain of uniform rods on a pin and release it at rest.

    The first rod is pinned at the origin, each of the others at the tip of the one
    before. At the start the chain is straight; it points along +x unless an angle
    is given. From two rods on the motion is chaotic, so that a small error grows
    fast: a hard test of accuracy.

    Bodies `rod1` to `rod<n>`, each with the points `pin` and `tip` on its x axis;
    joints `hinge1` to `hinge<n>`.

    Parameters
    ----------
    n : int
        Number of rods.
    length : float
        Length of each rod, m.
    mass : float
        Mass of each rod, kg.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.
    angle : float
        Direction of the chain at the start, counter-clockwise from +x, rad.

    References
    ----------
    A classic. For n = 2 and the other defaults the tip is at
    (-1.662115135816, -1.041466637193) m after 1 s.
    """
    count("pendulum_chain", n=n)
    positive("pendulum_chain", length=length, mass=mass)
    half = 0.5 * length
    dx, dy = length * math.cos(angle), length * math.sin(angle)
    rods = [
        RigidBody(
            name=f"rod{k + 1}",
            mass=mass,
            inertia=mass * length**2 / 12.0,
            position=((k + 0.5) * dx, (k + 0.5) * dy),
            angle=angle,
            points={"pin": (-half, 0.0), "tip": (half, 0.0)},
        )
        for k in range(n)
    ]
    hinges = [
        Revolute(
            name=f"hinge{k + 1}",
            a=f"rod{k}.tip" if k else "ground",
            b=f"rod{k + 1}.pin",
        )
        for k in range(n)
    ]
    return Model(
        title=f"pendulum chain of {n} rod{'s' if n > 1 else ''}",
        gravity=(0.0, -gravity),
        bodies=tuple(rods),
        joints=tuple(hinges),
    )
