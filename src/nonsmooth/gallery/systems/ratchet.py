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
RANGES = {"torque": (-2.0, 2.0), "mu": (0.05, 0.5), "spring": (0.1, 0.5)}

_TEETH = 12
_ROOT, _TIP = 0.09, 0.1  # m, radii of the wheel
_FACE = math.radians(30.0)  # of a tooth's face from the radius
_REACH = 0.08  # m, from the pawl's hinge to its toe, along x
_TOE, _HEEL = (
    0.005,
    0.008,
)  # m, from the root of a tooth along its face and along a back
_WHEEL, _PAWL = 1.0, 0.05  # kg
_COIL = 0.05  # N m/rad, of the pawl, beside its preload
_DRAG = 0.3  # N m s/rad, of the wheel
_RISE = 0.5  # s, in which the torque comes on
_LAW = HuntCrossley(stiffness=2e8, exponent=1.0, damping=5.0)


def ratchet(*, torque: float = 1.0, mu: float = 0.3, spring: float = 0.3) -> Model:
    """Turn a wheel of twelve teeth against a pawl, or with it.

    The faces of the teeth lean back by 30 degrees, so that a torque > 0, which comes on
    within half a second, lifts the pawl out of them in the end. The toe of the pawl
    touches a face at (x, y) = (2.5, 94.33) mm from the axle, its heel the back of the
    next tooth. With the moment `spring` of the pawl and its reach of 0.08 m, along x
    from its hinge to the toe, it holds up to

        spring/0.08 m (x + y/tan(30 deg - arctan(mu))),

    1.506 N m by default, and any torque from mu = tan(30 deg) = 0.577 on. Beyond it the
    wheel goes on from tooth to tooth. A torque < 0 turns the wheel the other way, past
    the backs of the teeth; it ends at torque/(0.3 N m s) less what the pawl takes.

    Bodies `wheel`, a hub with twelve teeth, and `pawl` (point `pivot`), an arm with a
    nose; joints `axle` and `hinge`; forces `load`, `drag` and `coil`; contact `tooth`,
    of all teeth with both pieces of the pawl: columns are `tooth.t1.nose.normal_force`
    and so on, and `tooth.normal_force` of all. There is no gravity.

    Parameters
    ----------
    torque : float
        On the wheel, counter-clockwise, N m.
    mu : float
        Coefficient of friction, at rest and in motion, 1.
    spring : float
        Moment of the pawl's spring where it is between two teeth, N m.

    References
    ----------
    A classic.
    """
    at_least("ratchet", 0.0, mu=mu)
    positive("ratchet", spring=spring)
    toe = (_TOE * math.sin(_FACE), _ROOT + _TOE * math.cos(_FACE))
    pivot = (toe[0] - _REACH, toe[1])
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
            _pawl(pivot, toe),
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
    """Return triangles on the sides of a hub that they cover; a root is at the top."""
    pitch = 2.0 * math.pi / _TEETH
    roots = [0.5 * math.pi + k * pitch for k in range(_TEETH)]
    corners = tuple((_ROOT * math.cos(phi), _ROOT * math.sin(phi)) for phi in roots)
    teeth: dict[str, Shape] = {"hub": Polygon(vertices=corners)}
    for k, end in enumerate(roots):
        corners = ((_ROOT, end - pitch), (_TIP, end - _lean()), (_ROOT, end))
        places = tuple((r * math.cos(phi), r * math.sin(phi)) for r, phi in corners)
        teeth[f"t{k + 1}"] = Polygon(vertices=places)
    return teeth


def _lean() -> float:
    """Return the angle at the axle between the root and the tip of a face."""
    # From (0, root) along (sin, cos) of the face to the circle of the tips.
    s = math.sqrt(_TIP**2 - (_ROOT * math.sin(_FACE)) ** 2) - _ROOT * math.cos(_FACE)
    return math.asin(s * math.sin(_FACE) / _TIP)


def _pawl(pivot: Point, toe: Point) -> RigidBody:
    """Return an arm over the teeth with a nose between two of them."""
    apex = 0.5 * math.pi + 2.0 * math.pi / _TEETH - _lean()
    x, y = _TIP * math.cos(apex), _TIP * math.sin(apex) - _ROOT
    part = _HEEL / math.hypot(x, y)
    heel = (part * x, _ROOT + part * y)
    bend = ((-0.045, 0.125), (-0.05, 0.145))  # m, common to both pieces
    nose = (heel, toe, (toe[0], toe[1] + 0.018), bend[1], bend[0])
    arm = (
        (pivot[0] - 0.005, pivot[1] - 0.01),
        bend[0],
        bend[1],
        (pivot[0] - 0.01, pivot[1] + 0.004),
    )
    centre = (-0.08, 0.115)

    def placed(corners: tuple[Point, ...]) -> Polygon:
        return Polygon(
            vertices=tuple((x - centre[0], y - centre[1]) for x, y in corners)
        )

    return RigidBody(
        name="pawl",
        mass=_PAWL,
        inertia=_PAWL * _REACH**2 / 12.0,
        position=centre,
        points={"pivot": (pivot[0] - centre[0], pivot[1] - centre[1])},
        shapes={"arm": placed(arm), "nose": placed(nose)},
    )
