"""Exact forces of the crank-rocker with a frictional sliding joint.

Rocker OA turns about O = (0, 0), the crank about O1 = (0, L4). The slider, a point
mass m3 on the crank pin B at L3 from O1, runs along the rocker. The crank turns at
the constant speed w, so the motion is known and the forces follow one by one.

Signs of the paper: angles from the upward vertical, clockwise. With d = th2 − th1,

    B = (L3 sin th2, L4 + L3 cos th2)       th1 = atan2(B_x, B_y)     s = |B|
    v_r = s' = −L4 L3 w sin th2 / s         w1 = w L3 cos d / s
    a1 = v_r (w − 2 w1) / s                 from (s² w1)' = w s s'

Let e = (sin th1, cos th1) point along the rocker and n = (−cos th1, sin th1) to
its left. The rocker pushes the slider by lam n + F_f e, and

    lam s = J1 a1 + c w1 − m1 g L1 sin th1
    F_f = −mu |lam| sgn(v_r)
    M = L3 (lam cos d + F_f sin d) − (m2 L2 + m3 L3) g sin th2

so that lam > 0 turns the rocker clockwise; F_f is the friction on the slider,
positive away from O; M is the motor torque on the crank, clockwise. Where v_r = 0
(th2 = 0 and 180 deg) F_f jumps while M does not, since sin d = 0 there; `side`
chooses the one-sided limit.

Our signs (names with `ccw`): angles π/2 − th, counter-clockwise from +x, so that
rates, accelerations and torques change sign. With A the rocker, B the slider,
normal n and tangent e as above (e is n turned by −90 deg), nothing else changes:
lam_n = lam, lam_t = F_f, v_t = v_r.

References
----------
[WangWangZhuang2014]_, Eqs. (4), (20)–(22). Eq. (22) dissipates only with v_r
counted towards O; here v_r counts away from O and friction has the opposite sign.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.optimize import brentq

Array = NDArray[np.float64]

# Below this |sin th2| a one-sided limit is taken, if asked for: a crank angle of
# 180 deg in doubles has sin th2 = 1.2e-16.
REVERSAL = 1e-12


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The paper's mechanism; damping and gravity are zero unless given."""

    inertia1: float = 16.0 / 3.0  # kg m², J1, rocker about O
    inertia2: float = 1.0 / 6.0  # kg m², J2, crank about O1
    mass1: float = 4.0  # kg, rocker
    mass2: float = 2.0  # kg, crank
    mass3: float = 0.5  # kg, slider, a point at B
    length1: float = 1.0  # m, L1, mass centre of the rocker from O
    length2: float = 0.25  # m, L2, mass centre of the crank from O1
    length3: float = 0.5  # m, L3, B from O1
    length4: float = 1.0  # m, L4, O1 above O
    mu: float = 0.2
    speed: float = 3.0  # rad/s, w, clockwise
    damping: float = 0.0  # N m s/rad, c, torque −c th1' on the rocker
    gravity: float = 0.0  # m/s², along −y


class Motion(NamedTuple):
    """Motion over the crank angle, paper's signs."""

    theta1: Array  # rad
    rate1: Array  # rad/s
    acceleration1: Array  # rad/s²
    s: Array  # m, B from O
    v_r: Array  # m/s, s'


class Forces(NamedTuple):
    """Forces over the crank angle, paper's signs."""

    lam: Array  # N, on the slider along n
    friction: Array  # N, on the slider along e
    torque: Array  # N m, motor on crank, clockwise


class Reactions(NamedTuple):
    """Forces in global axes (x right, y up), N; shape (..., 2)."""

    pin_rocker: Array  # ground on rocker, at O
    pin_crank: Array  # ground on crank, at O1
    slot: Array  # slider on rocker, at B
    pin_slider: Array  # slider on crank, at B


class CcwState(NamedTuple):
    """The same in our signs: counter-clockwise from +x."""

    rocker_angle: Array  # rad
    rocker_rate: Array  # rad/s
    rocker_acceleration: Array  # rad/s²
    crank_rate: Array  # rad/s
    v_t: Array  # m/s, slider relative to rocker along e
    lam_n: Array  # N, on the slider along n
    lam_t: Array  # N, on the slider along e
    torque: Array  # N m, motor on crank, counter-clockwise


class Work(NamedTuple):
    """Work over one turn of the crank, J."""

    motor: float  # done by the motor
    friction: float  # lost in the sliding joint
    damper: float  # lost in the rocker's damper


def kinematics(p: Parameters, theta2: ArrayLike) -> Motion:
    """Motion of rocker and slider at the crank angles theta2."""
    th2 = np.asarray(theta2, dtype=np.float64)
    x = p.length3 * np.sin(th2)
    y = p.length4 + p.length3 * np.cos(th2)
    th1 = np.arctan2(x, y)
    s = np.hypot(x, y)
    v_r = -p.length4 * p.length3 * p.speed * np.sin(th2) / s
    w1 = p.speed * p.length3 * np.cos(th2 - th1) / s
    a1 = v_r * (p.speed - 2.0 * w1) / s
    return Motion(th1, w1, a1, s, v_r)


def slip_sign(p: Parameters, theta2: ArrayLike, side: int = 0) -> Array:
    """Sign of v_r; at the reversals that of just before (−1) or after (+1).

    With side = 0 the sign is that of the computed v_r, whatever it is.
    """
    th2 = np.asarray(theta2, dtype=np.float64)
    sign = np.sign(kinematics(p, th2).v_r)
    if side == 0:
        return sign
    # v_r' has the sign of −cos th2 where sin th2 = 0, for either sense of turning.
    return np.where(np.abs(np.sin(th2)) < REVERSAL, -side * np.sign(np.cos(th2)), sign)


def forces(p: Parameters, theta2: ArrayLike, side: int = 0) -> Forces:
    """Normal force, friction and motor torque at the crank angles theta2.

    Parameters
    ----------
    side
        At the reversals: −1 the limit before, +1 the limit after.
    """
    th2 = np.asarray(theta2, dtype=np.float64)
    m = kinematics(p, th2)
    d = th2 - m.theta1
    weight1 = p.mass1 * p.gravity * p.length1
    weight2 = (p.mass2 * p.length2 + p.mass3 * p.length3) * p.gravity
    moment = p.inertia1 * m.acceleration1 + p.damping * m.rate1
    lam = (moment - weight1 * np.sin(m.theta1)) / m.s
    friction = -p.mu * np.abs(lam) * slip_sign(p, th2, side)
    push = lam * np.cos(d) + friction * np.sin(d)
    return Forces(lam, friction, p.length3 * push - weight2 * np.sin(th2))


def reactions(p: Parameters, theta2: ArrayLike, side: int = 0) -> Reactions:
    """Joint forces by Newton's equations of rocker, slider and crank.

    The slider, a point, transmits no couple. The same in both sign conventions:
    global axes do not care how angles are counted.
    """
    th2 = np.asarray(theta2, dtype=np.float64)
    m = kinematics(p, th2)
    f = forces(p, th2, side)
    g = np.array([0.0, -p.gravity])
    e1 = np.stack([np.sin(m.theta1), np.cos(m.theta1)], axis=-1)
    n1 = np.stack([-np.cos(m.theta1), np.sin(m.theta1)], axis=-1)
    e2 = np.stack([np.sin(th2), np.cos(th2)], axis=-1)
    # −n1 is the direction in which the rocker's points move for th1' > 0.
    acc1 = -p.length1 * (m.acceleration1[..., None] * n1 + m.rate1[..., None] ** 2 * e1)
    acc2 = -p.length2 * p.speed**2 * e2
    acc3 = -p.length3 * p.speed**2 * e2
    slot = -(f.lam[..., None] * n1 + f.friction[..., None] * e1)
    pin_slider = p.mass3 * (g - acc3) - slot
    return Reactions(
        pin_rocker=p.mass1 * (acc1 - g) - slot,
        pin_crank=p.mass2 * (acc2 - g) - pin_slider,
        slot=slot,
        pin_slider=pin_slider,
    )


def ccw_state(p: Parameters, crank_angle: ArrayLike, side: int = 0) -> CcwState:
    """Motion and forces in our signs, at crank angles counter-clockwise from +x.

    p.speed stays the paper's: the crank's counter-clockwise rate is −p.speed.
    """
    th2 = 0.5 * np.pi - np.asarray(crank_angle, dtype=np.float64)
    m = kinematics(p, th2)
    f = forces(p, th2, side)
    return CcwState(
        rocker_angle=0.5 * np.pi - m.theta1,
        rocker_rate=-m.rate1,
        rocker_acceleration=-m.acceleration1,
        crank_rate=np.full_like(th2, -p.speed),
        v_t=m.v_r,
        lam_n=f.lam,
        lam_t=f.friction,
        torque=-f.torque,
    )


def energy(p: Parameters, theta2: ArrayLike) -> tuple[Array, Array]:
    """Kinetic and potential energy, J; heights are counted from O."""
    th2 = np.asarray(theta2, dtype=np.float64)
    m = kinematics(p, th2)
    crank = (p.inertia2 + p.mass3 * p.length3**2) * p.speed**2
    kinetic = 0.5 * (p.inertia1 * m.rate1**2 + crank)
    height1 = p.length1 * np.cos(m.theta1)
    height2 = p.length4 + p.length2 * np.cos(th2)
    height3 = p.length4 + p.length3 * np.cos(th2)
    moment = p.mass1 * height1 + p.mass2 * height2 + p.mass3 * height3
    return np.asarray(kinetic), np.asarray(p.gravity * moment)


def flank_changes(p: Parameters, samples: int = 720) -> Array:
    """Crank angles in (0, 2π) at which lam changes sign."""
    grid = (np.arange(samples + 1) + 0.5) * 2.0 * np.pi / samples
    lam = forces(p, grid).lam
    roots = [
        brentq(lambda x: float(forces(p, x).lam), a, b, xtol=1e-15)
        for a, b, one, two in zip(grid, grid[1:], lam, lam[1:], strict=False)
        if one * two < 0.0
    ]
    return np.sort(np.asarray(roots, dtype=np.float64) % (2.0 * np.pi))


def work_per_turn(p: Parameters) -> Work:
    """Work of motor, friction and damper over one turn, by adaptive quadrature.

    The turn is cut where v_r or lam changes sign, so that each piece is smooth; no
    energy is stored over a turn, and motor = friction + damper.
    """
    cuts = np.sort(np.concatenate([[0.0, np.pi, 2.0 * np.pi], flank_changes(p)]))
    pace = 1.0 / abs(p.speed)
    total = np.zeros(3)

    def motor(x: float) -> float:
        return float(forces(p, x).torque) * np.sign(p.speed)

    def friction(x: float) -> float:
        return -float(forces(p, x).friction * kinematics(p, x).v_r) * pace

    def damper(x: float) -> float:
        return p.damping * float(kinematics(p, x).rate1) ** 2 * pace

    for a, b in pairwise(cuts):
        for i, integrand in enumerate((motor, friction, damper)):
            total[i] += quad(integrand, a, b, epsabs=1e-13, epsrel=1e-13)[0]
    return Work(*(float(x) for x in total))


def critical_mu_torque(p: Parameters, theta2: ArrayLike) -> Array:
    """Friction from which the crank driven by a given torque is ill-posed.

    With lam the only unknown, S = s²/J1 + L3² cos² d/J and S* = ± mu L3² sin d cos d/J,
    J = J2 + m3 L3²; the joint has one solution for every load while |S*| < S.
    """
    th2 = np.asarray(theta2, dtype=np.float64)
    m = kinematics(p, th2)
    d = th2 - m.theta1
    inertia = p.inertia2 + p.mass3 * p.length3**2
    plain = m.s**2 / p.inertia1 + (p.length3 * np.cos(d)) ** 2 / inertia
    with np.errstate(divide="ignore"):
        return plain / np.abs(p.length3**2 * np.sin(d) * np.cos(d) / inertia)


def critical_mu_rocker(p: Parameters, theta2: ArrayLike) -> Array:
    """Friction from which the mechanism driven at the rocker is ill-posed: |cot d|."""
    th2 = np.asarray(theta2, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return 1.0 / np.abs(np.tan(th2 - kinematics(p, th2).theta1))
