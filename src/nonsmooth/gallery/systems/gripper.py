"""A gripper lifts a box between two pads, or lets it slip."""

from __future__ import annotations

from typing import Literal

from nonsmooth.elements.bodies import MovingSupport, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.forces import SpringDamper
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.joints import Prismatic
from nonsmooth.elements.laws import SmoothStep
from nonsmooth.elements.normal import KelvinVoigt
from nonsmooth.elements.shapes import Circle
from nonsmooth.gallery._checks import friction, positive
from nonsmooth.gallery._shapes import rectangle
from nonsmooth.model import Model

UNTIL = 1.5  # s
RANGES = {
    "mu0": (0.3, 1.0),
    "mu": (0.0, 0.3),
    "squeeze": (5.0, 60.0),
    "lift": (0.0, 0.5),
    "m": (0.2, 2.0),
    "gravity": (1.0, 12.0),
}

_BEGIN, _DURATION = 0.3, 0.6  # s, of the lift
_BOX, _PAD, _FINGER = 0.1, 0.04, 0.2  # m, m, kg
# Way in which the springs of the fingers come to rest without a box, m.
_CLOSE = 0.02
# Of the pads, N/m and N s/m: they sink in by some hundredths of a millimetre.
_STIFFNESS, _DAMPING = 1e6, 200.0


def gripper(
    *,
    pads: Literal["flat", "round"] = "flat",
    mu0: float = 0.5,
    mu: float = 0.3,
    squeeze: float = 15.0,
    lift: float = 0.2,
    m: float = 1.0,
    gravity: float = 9.81,
) -> Model:
    """Lift a box of 0.1 m between two pads that springs press on it.

    The hand goes up by `lift` between 0.3 s and 0.9 s, with an acceleration of up to
    a = 16.04/s^2 `lift`, as much downwards before it stops. The box is held if

        2 mu0 squeeze >= m (g + a),

    15 N against 13.02 N by default. Otherwise it begins to slip when the hand's
    acceleration is 2 mu0 squeeze/m - g, at once if that is negative, and the fingers
    close behind it.

    Bodies `box`, the fingers `left` and `right`, and `hand`, which moves them; joints
    `left_guide` and `right_guide`; springs `left_spring` and `right_spring`; contacts
    `left` and `right`, from the finger to the box. A flat pad is one contact with one
    friction force; a round one touches in a point.

    Parameters
    ----------
    pads : "flat" or "round"
        Squares, or discs.
    mu0 : float
        Coefficient of friction at rest, 1.
    mu : float
        The same in motion, 1. Not above mu0.
    squeeze : float
        Force of each pad on the box, N.
    lift : float
        How far the hand goes up, m.
    m : float
        Mass of the box, kg.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.

    References
    ----------
    A classic.
    """
    positive("gripper", squeeze=squeeze, m=m, gravity=gravity)
    friction("gripper", mu0=mu0, mu=mu)
    stiffness = squeeze / _CLOSE
    # Between the box and the hand's end of the spring, m.
    length = _PAD + 2.0 * _CLOSE
    middle = 0.5 * (_BOX + _PAD) - squeeze / _STIFFNESS
    shape = rectangle(_PAD, _PAD) if pads == "flat" else Circle(radius=0.5 * _PAD)
    sides = {"left": -1.0, "right": 1.0}
    points = {name: (side * (middle + length), 0.0) for name, side in sides.items()}
    fingers = [
        RigidBody(
            name=name,
            mass=_FINGER,
            inertia=_FINGER * _PAD**2 / 6.0,
            position=(side * middle, 0.0),
            shapes={"pad": shape},
        )
        for name, side in sides.items()
    ]
    box = RigidBody(
        name="box",
        mass=m,
        inertia=m * _BOX**2 / 6.0,
        shapes={"outline": rectangle(_BOX, _BOX)},
    )
    law = SmoothStep(end=lift, duration=_DURATION, begin=_BEGIN)
    return Model(
        title="gripper",
        gravity=(0.0, -gravity),
        bodies=(MovingSupport(name="hand", y=law, points=points), box, *fingers),
        joints=[
            Prismatic(name=f"{name}_guide", a=f"hand.{name}", b=name) for name in sides
        ],
        forces=[
            SpringDamper(
                name=f"{name}_spring",
                a=f"hand.{name}",
                b=name,
                stiffness=stiffness,
                damping=(stiffness * _FINGER) ** 0.5,
                rest_length=length + _CLOSE,
            )
            for name in sides
        ],
        contacts=[
            Contact(
                name=name,
                a=name,
                b="box",
                normal=KelvinVoigt(stiffness=_STIFFNESS, damping=_DAMPING),
                friction=Coulomb(mu=mu, mu_static=mu0),
            )
            for name in sides
        ],
    )
