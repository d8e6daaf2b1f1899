"""A body that stands on two legs, on a shaking platform."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from nonsmooth.elements.bodies import Body, MovingSupport, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.forces import TorsionSpring
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.joints import Revolute
from nonsmooth.elements.laws import Harmonic
from nonsmooth.elements.normal import DampedHertz
from nonsmooth.errors import ModelError
from nonsmooth.gallery._checks import at_least, positive
from nonsmooth.model import Model

UNTIL = 10.0  # s
RANGES = {
    "gravity": (1.0, 25.0),
}

_EXPONENT = 1.5  # of the depth in the law of the feet
_SETTLING = 20.0  # s
# The slowest motion, creep in the hinges, has faded to 1e-9 m/s after 20 s in every
# case of the paper; what is faster than this has not come to rest.
_AT_REST = 1e-5  # m/s, rad/s
_BODIES = ("body", "left_leg", "right_leg")

Pose = tuple[float, float, float]  # m, m, rad


@dataclass(frozen=True, kw_only=True)
class _Case:
    """All numbers of a case; units are in the parameters' texts below."""

    mu0: float
    mu_ratio: float = 0.8
    X0: float = 0.0
    wx: float = math.pi
    Y0: float = 0.0
    wy: float = math.pi
    e: float = 0.0
    b0: float = 3.415
    h0: float = 4.330
    l0: float = 0.25
    th0: float = math.pi / 3.0
    k: float = 1e6
    c: float = 1e6
    K: float = 1e6
    c2: float = 1e7
    m1: float = 500.0
    m2: float = 10.0
    J1: float | None = 4166.7  # None: of a uniform rectangle around the hinges
    J2: float | None = 0.208  # None: of a uniform rod
    clearance: float = 0.0  # m, of the feet at the start
    velocity: float = 0.0  # m/s, upwards relative to the platform at the start
    gravity: float = 9.81


_CASES = {
    "1": _Case(mu0=0.6, X0=0.8, e=-0.915),
    "2": _Case(
        mu0=0.2,
        Y0=0.99e-3,
        wy=30.0 * math.pi,
        h0=3.536,
        b0=7.208,
        e=-3.673,
        velocity=-1.0,
    ),
    "3": _Case(mu0=0.8, X0=1.0, Y0=0.9, b0=2.5),
    "bounce": _Case(
        mu0=0.6,
        b0=0.1,
        h0=0.1,
        l0=0.05,
        th0=0.0,
        k=1e5,
        c=0.0,
        K=2e7,
        c2=0.0,
        m1=1.2,
        m2=0.1,
        J1=None,
        J2=None,
        clearance=0.4,
    ),
}


def free_standing(
    *,
    case: Literal["1", "2", "3", "bounce"] = "1",
    mu0: float | None = None,
    mu_ratio: float | None = None,
    X0: float | None = None,
    wx: float | None = None,
    Y0: float | None = None,
    wy: float | None = None,
    e: float | None = None,
    b0: float | None = None,
    h0: float | None = None,
    l0: float | None = None,
    th0: float | None = None,
    k: float | None = None,
    c: float | None = None,
    K: float | None = None,
    c2: float | None = None,
    m1: float | None = None,
    m2: float | None = None,
    J1: float | None = None,
    J2: float | None = None,
    gravity: float = 9.81,
    start: Literal["touching", "settled"] = "touching",
) -> Model:
    """Stand a body on two legs and shake the platform below.

    The legs are hinged to the body, at A on the left and B on the right, by torsion
    springs with dampers. The platform moves by x0 = X0 sin(wx t), y0 = Y0 sin(wy t).
    A foot at the depth d is pressed up by max(0, K d^1.5 + c2 d d') and rubs with mu0
    at rest and mu_ratio mu0 in motion. The hinges are at (-(b0 + e), -h0) and
    (b0 - e, -h0) seen from the body's mass centre; the legs, of length 2 l0, hang
    down at the angle zero and are splayed by th0 where the springs are free of
    torque.

    A case sets every parameter that is not given:

        case     mu0   X0 (m)   Y0 (m)    wy (rad/s)   b0 (m)   h0 (m)   e (m)
        1        0.6   0.8      0         pi           3.415    4.330    -0.915
        2        0.2   0        0.99e-3   30 pi        7.208    3.536    -3.673
        3        0.8   1.0      0.9       pi           2.5      4.330    0
        bounce   0.6   0        0         pi           0.1      0.1      0

    with mu_ratio = 0.8, wx = pi rad/s and the paper's table for the rest: l0 = 0.25 m,
    th0 = pi/3, k = 1e6 N m, c = 1e6 N m s, K = 1e6, c2 = 1e7, m1 = 500 kg,
    m2 = 10 kg, J1 = 4166.7 and J2 = 0.208 kg m^2. The case `bounce` is the paper's test
    of its scheme, with lengths of our own: a small body with vertical legs,
    l0 = 0.05 m, and without any damping, k = 1e5, K = 2e7, m1 = 1.2 kg, m2 = 0.1 kg,
    falls from 0.4 m. Its upright bounce is unstable: tilt grows 380 times with each.

    From the start `touching` the springs are free, the feet just touch, and all is at
    rest relative to the platform; in case 2 it comes down with 1 m/s, in the case
    `bounce` the feet are 0.4 m above the platform. From the start `settled` the body
    has first stood for 20 s on the platform at rest (a run of its own, which takes a
    moment), and moves with the platform at t = 0. The mass centre of the body starts
    from `touching` at x = 0.

    The whole is stiff: its motions decay at rates from 1 to 1e6 1/s.

    Bodies `platform`, without mass, which reports the force that drives it, `body`
    (points `A`, `B`), `left_leg` (`A`, `foot`) and `right_leg` (`B`, `foot`); joints
    `left_hinge` and `right_hinge`; forces `left_spring` and `right_spring`; contacts
    `left_foot` and `right_foot`. In the paper the legs are 2 and 3.

    Parameters
    ----------
    case : str
        The paper's case.
    mu0 : float, optional
        Coefficient of friction at rest, 1; set by `case`.
    mu_ratio : float, optional
        Coefficient of friction in motion as a part of mu0, 1; set by `case`.
    X0 : float, optional
        Amplitude of the platform along x, m; set by `case`.
    wx : float, optional
        Frequency of the platform along x, rad/s; set by `case`.
    Y0 : float, optional
        Amplitude of the platform along y, m; set by `case`.
    wy : float, optional
        Frequency of the platform along y, rad/s; set by `case`.
    e : float, optional
        Offset of the mass centre to the right of the middle of the hinges, m; set by
        `case`.
    b0 : float, optional
        Half the distance of the hinges, m; set by `case`.
    h0 : float, optional
        Height of the mass centre above the hinges, m; set by `case`.
    l0 : float, optional
        Half the length of a leg, m; set by `case`.
    th0 : float, optional
        Splay of the legs where the springs are free of torque, rad; set by `case`.
    k : float, optional
        Stiffness of a hinge, N m/rad; set by `case`.
    c : float, optional
        Damping of a hinge, N m s/rad; set by `case`.
    K : float, optional
        Stiffness of a foot, N/m^n; set by `case`. The exponent n is 1.5.
    c2 : float, optional
        Damping of a foot, N s/m^2; set by `case`.
    m1 : float, optional
        Mass of the body, kg; set by `case`.
    m2 : float, optional
        Mass of a leg, kg; set by `case`.
    J1 : float, optional
        Moment of inertia of the body about its mass centre, kg m^2; set by `case`,
        in the case `bounce` m1 (b0^2 + h0^2)/3.
    J2 : float, optional
        Moment of inertia of a leg about its centre, kg m^2; set by `case`, in the
        case `bounce` m2 l0^2/3.
    gravity : float
        Acceleration of free fall, along -y, m/s^2.
    start : str
        Where the motion begins, see above.

    References
    ----------
    Zhang and Wang (2017) [ZhangWang2017]_.
    """
    given = {
        "mu0": mu0,
        "mu_ratio": mu_ratio,
        "X0": X0,
        "wx": wx,
        "Y0": Y0,
        "wy": wy,
        "e": e,
        "b0": b0,
        "h0": h0,
        "l0": l0,
        "th0": th0,
        "k": k,
        "c": c,
        "K": K,
        "c2": c2,
        "m1": m1,
        "m2": m2,
        "J1": J1,
        "J2": J2,
        "gravity": gravity,
    }
    p = replace(_CASES[case], **{n: x for n, x in given.items() if x is not None})
    _check(p)
    title = f"free-standing body, {'case ' if case != 'bounce' else ''}{case}"
    if start == "settled":
        # Cases that differ in the platform's motion alone share this run.
        at_rest = replace(p, X0=0.0, wx=0.0, Y0=0.0, wy=0.0, clearance=0.0)
        return _model(p, title, _settled(at_rest), 0.0)
    return _model(p, title, _touching(p), p.velocity)


def _check(p: _Case) -> None:
    """Refuse numbers that have no meaning."""
    name = "free_standing"
    positive(name, b0=p.b0, h0=p.h0, l0=p.l0, K=p.K, m1=p.m1, m2=p.m2)
    for inertia, value in (("J1", p.J1), ("J2", p.J2)):
        if value is not None:
            positive(name, **{inertia: value})
    at_least(name, 0.0, mu0=p.mu0, mu_ratio=p.mu_ratio, k=p.k, c=p.c, c2=p.c2)
    at_least(name, 0.0, gravity=p.gravity)
    if not p.mu_ratio <= 1.0:
        raise ModelError(f"{name}: mu_ratio = {p.mu_ratio!r}; must be <= 1")
    if not abs(p.th0) < 0.5 * math.pi:
        raise ModelError(f"{name}: th0 = {p.th0!r}; must be between -pi/2 and pi/2")


def _touching(p: _Case) -> tuple[Pose, ...]:
    """Return the poses with free springs and the feet at their clearance."""
    cos, sin = math.cos(p.th0), math.sin(p.th0)
    # From the feet upwards, so that their gap is without rounding.
    y = p.clearance + p.l0 * cos
    return (
        (0.0, y + p.l0 * cos + p.h0, 0.0),
        (-(p.b0 + p.e) - p.l0 * sin, y, -p.th0),
        (p.b0 - p.e + p.l0 * sin, y, p.th0),
    )


@lru_cache(maxsize=64)
def _settled(p: _Case) -> tuple[Pose, ...]:
    """Return the poses after 20 s on a platform at rest."""
    if p.c == 0.0 and p.c2 == 0.0:
        raise ModelError(
            "free_standing: start = 'settled'; without damping (c, c2) the body never "
            "comes to rest"
        )
    # Only a run needs the solver, and a gallery should not be slow to look at.
    from nonsmooth.solve.simulate import simulate

    model = _model(p, "settling", _touching(p), 0.0)
    end = simulate(model, until=_SETTLING, rtol=1e-10).state()
    fastest = max(abs(x) for name in _BODIES for x in end.velocities[name])
    if not fastest <= _AT_REST:
        raise ModelError(
            f"free_standing: start = 'settled'; the body still moves at {fastest:.3g} "
            f"m/s (or rad/s) after {_SETTLING:g} s"
        )
    poses = (end.positions[name] for name in _BODIES)
    return tuple((x, y, theta) for x, y, theta, *_ in poses)


def _model(
    p: _Case, title: str, poses: tuple[Pose, ...], relative_velocity: float
) -> Model:
    """Return the model; everything moves with the platform, and vertically on it."""
    velocity = (p.X0 * p.wx, p.Y0 * p.wy + relative_velocity)
    J1 = p.m1 * (p.b0**2 + p.h0**2) / 3.0 if p.J1 is None else p.J1
    J2 = p.m2 * p.l0**2 / 3.0 if p.J2 is None else p.J2
    top, foot = (0.0, p.l0), (0.0, -p.l0)
    parts = (
        (p.m1, J1, {"A": (-(p.b0 + p.e), -p.h0), "B": (p.b0 - p.e, -p.h0)}),
        (p.m2, J2, {"A": top, "foot": foot}),
        (p.m2, J2, {"B": top, "foot": foot}),
    )
    bodies: list[Body] = [
        MovingSupport(
            name="platform",
            x=Harmonic(amplitude=p.X0, angular_frequency=p.wx),
            y=Harmonic(amplitude=p.Y0, angular_frequency=p.wy),
        )
    ]
    for name, (x, y, angle), (mass, inertia, points) in zip(
        _BODIES, poses, parts, strict=True
    ):
        bodies.append(
            RigidBody(
                name=name,
                mass=mass,
                inertia=inertia,
                position=(x, y),
                angle=angle,
                velocity=velocity,
                points=points,
            )
        )
    joints: list[Revolute] = []
    springs: list[TorsionSpring] = []
    contacts: list[Contact] = []
    for side, hinge, rest in (("left", "A", -p.th0), ("right", "B", p.th0)):
        joints.append(
            Revolute(name=f"{side}_hinge", a=f"body.{hinge}", b=f"{side}_leg.{hinge}")
        )
        springs.append(
            TorsionSpring(
                name=f"{side}_spring",
                a="body",
                b=f"{side}_leg",
                stiffness=p.k,
                damping=p.c,
                rest_angle=rest,
            )
        )
        contacts.append(
            Contact(
                name=f"{side}_foot",
                a="platform",
                b=f"{side}_leg.foot",
                normal=DampedHertz(stiffness=p.K, exponent=_EXPONENT, damping=p.c2),
                friction=Coulomb(mu=p.mu_ratio * p.mu0, mu_static=p.mu0),
            )
        )
    return Model(
        title=title,
        gravity=(0.0, -p.gravity),
        bodies=tuple(bodies),
        joints=tuple(joints),
        forces=tuple(springs),
        contacts=tuple(contacts),
    )
