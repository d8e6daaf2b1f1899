"""A ratchet wheel held by a sprung pawl, up to a torque; the other way it clicks."""

from __future__ import annotations

import math

from nonsmooth.elements.bodies import Ground, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.forces import Couple, TorsionSpring
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.joints import Revolute
from nonsmooth.elements.laws import SmoothStep
from nonsmooth.elements.normal import HuntCrossley
from nonsmooth.elements.shapes import Point, Polygon, Shape
from nonsmooth.gallery._checks import at_least, positive
from nonsmooth.model import Model

UNTIL = 2.0  # s
RANGES = {"torque": (-2.0, 2.0), "mu": (0.05, 0.5), "spring": (0.2, 1.0)}

_TEETH = 12
_ROOT, _TIP = 0.09, 0.1  # m, radii of the wheel
_FACE = math.radians(30.0)  # of a tooth's face from the radius
_REACH = 0.15  # m, from the pawl's pivot to its tip, square to the radius
_WHEEL, _PAWL = 1.0, 0.05  # kg
_COIL = 2.0  # N m/rad, of the pawl, beside its preload
_DRAG = 0.3  # N m s/rad, of the wheel
_RISE = 0.5  # s, in which the torque comes on
_LAW = HuntCrossley(stiffness=2e8, exponent=1.0, damping=5.0)


def ratchet(*, torque: float = 1.0, mu: float = 0.3, spring: float = 0.5) -> Model:
    """Turn a wheel of twelve teeth against a pawl, or with it.

    The faces of the teeth lean back by 30 degrees, so that a torque > 0, which comes on
    within half a second, lifts the pawl out of them in the end. With the moment
    `spring` of the pawl, its reach of 0.15 m and the wheel's radius of 0.09 m at the
    root it holds up to

        spring 0.09/(0.15 tan(30 deg - arctan(mu))),

    1.270 N m by default, and any torque from mu = tan(30 deg) = 0.577 on. Beyond it the
    wheel goes on from tooth to tooth. A torque < 0 turns the wheel the other way, past
    the backs of the teeth; it ends at torque/(0.3 N m s) less what the pawl takes.

    Bodies `wheel`, of twelve teeth, and `pawl`, an arm with a nose; joints `axle` and
    `hinge`; forces `load`, `drag` and `coil`; contact `tooth`, of all teeth with both
    pieces of the pawl: columns are `tooth.t1.nose.normal_force` and so on. There
    is no gravity.

    Parameters
    ----------
    torque : float
        On the wheel, counter-clockwise, N m.
    mu : float
        Coefficient of friction, at rest and in motion, 1.
    spring : float
        Moment of the pawl's spring where its tip is at the root of a tooth, N m.

    References
    ----------
    A classic.
    """
    at_least("ratchet", 0.0, mu=mu)
    positive("ratchet", spring=spring)
    pivot = (-_REACH, _ROOT)
    return Model(
        title="ratchet and pawl",
        bodies=(
            Ground(points={"pivot": pivot}),
            RigidBody(
                name="wheel",
                mass=_WHEEL,
                inertia=0.5 * _WHEEL * _ROOT**2,
                shapes=_teeth(),
            ),
            _pawl(),
        ),
        joints=(
            Revolute(name="axle", b="wheel"),
            Revolute(name="hinge", a="ground.pivot", b="pawl.pivot"),
        ),
        forces=(
            Couple(
                name="load", b="wheel", torque=SmoothStep(end=torque, duration=_RISE)
            ),
            TorsionSpring(name="drag", b="wheel", damping=_DRAG),
            TorsionSpring(
                name="coil",
                b="pawl",
                stiffness=_COIL,
                damping=0.005,
                rest_angle=-spring / _COIL,
            ),
        ),
        contacts=(
            Contact(
                name="tooth",
                a="wheel",
                b="pawl",
                normal=_LAW,
                friction=Coulomb(mu=mu) if mu else None,
            ),
        ),
    )


def _teeth() -> dict[str, Shape]:
    """Return triangles on the sides of a polygon; a root is at the top."""
    pitch = 2.0 * math.pi / _TEETH
    # A face leads from the root at the angle 0 to the tip, leaning back.
    tip = _on_circle(_FACE)
    teeth: dict[str, Shape] = {}
    for k in range(_TEETH):
        end = 0.5 * math.pi + k * pitch
        corners = ((_ROOT, end - pitch), (_ROOT, end), (_TIP, end - tip))
        places = [(r * math.cos(phi), r * math.sin(phi)) for r, phi in corners]
        teeth[f"t{k + 1}"] = Polygon(vertices=(places[0], places[2], places[1]))
    return teeth


def _on_circle(lean: float) -> float:
    """Return the angle by which a line from a root, leaning, has turned at the tips."""
    # From (0, root) along (sin, cos) of the lean to the circle of the tips.
    s = math.sqrt(_TIP**2 - (_ROOT * math.sin(lean)) ** 2) - _ROOT * math.cos(lean)
    return math.asin(s * math.sin(lean) / _TIP)


def _pawl() -> RigidBody:
    """Return an arm over the teeth with a nose, whose tip is at a root."""
    bend = ((-0.045, 0.035), (-0.05, 0.055))  # m, from the tip, of both pieces
    nose = ((0.0, 0.0), (0.006, 0.023), bend[1], bend[0])
    arm = ((-_REACH - 0.005, -0.008), bend[0], bend[1], (-_REACH - 0.01, 0.006))
    centre = (-0.08, 0.025)

    def placed(corners: tuple[Point, ...]) -> Polygon:
        return Polygon(
            vertices=tuple((x - centre[0], y - centre[1]) for x, y in corners)
        )

    return RigidBody(
        name="pawl",
        mass=_PAWL,
        inertia=_PAWL * _REACH**2 / 12.0,
        position=(centre[0], centre[1] + _ROOT),
        points={"pivot": (-_REACH - centre[0], -centre[1])},
        shapes={"arm": placed(arm), "nose": placed(nose)},
    )
