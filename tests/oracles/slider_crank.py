"""Exact forces of a slider-crank whose crank follows a given law.

The crank, of length r, turns about O = (0, 0) by th1(t), counter-clockwise from
+x; the rod, of length l, joins the crank pin A to the slider's pin B, which runs
along the horizontal guide y = h. With the rod's angle th2 (from A to B),

    sin th2 = (h − r sin th1)/l             cos th2 > 0, or < 0 for `branch` = −1
    w2 = −r cos th1 w1 / (l cos th2)
    a2 = (r sin th1 w1² − r cos th1 a1 + l sin th2 w2²) / (l cos th2)
    x = r cos th1 + l cos th2, and its derivatives.

Forces, with the motion known. The rod's moment about A, with the force P of the
slider on the rod and the rod's own inertia and weight collected in Q,

    l (cos th2 P_y − sin th2 P_x) = Q,
    P_y = N − m3 g,     P_x = F + F_f − m3 x'',

gives the guide's normal force N (on the slider, along +y) from the friction F_f
and the given load F on the slider (both along +x); the rest follows from
Newton's and Euler's equations of slider, rod and crank. The slider does not turn,
and the couple which keeps it from turning is that of the guide.

With friction, F_f = −mu |N| sgn(x'), the equation for N is piecewise linear:
N (cos th2 ± mu sin th2 sgn(x')) = const for N > 0 and N < 0. It has one solution for
every load while mu < |cot th2|; over a whole turn (h = 0) that is
mu < sqrt(l² − r²)/r. `guide_normal_forces` returns all solutions.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Uniform rods by default; `None` stands for the uniform rod's value."""

    crank: float = 0.1  # m, r
    rod: float = 0.3  # m, l
    offset: float = 0.0  # m, h, height of the guide
    branch: int = 1  # +1 slider to the right of A, −1 to the left
    mass1: float = 1.0  # kg, crank
    mass2: float = 1.0  # kg, rod
    mass3: float = 1.0  # kg, slider
    centre1: float | None = None  # m, mass centre of the crank from O
    centre2: float | None = None  # m, mass centre of the rod from A
    inertia1: float | None = None  # kg m², crank about its mass centre
    inertia2: float | None = None  # kg m², rod about its mass centre
    centre3: tuple[float, float] = (0.0, 0.0)  # m, slider's mass centre from B
    gravity: float = 0.0  # m/s², along −y
    load: float = 0.0  # N, on the slider at B, along +x


class Drive(NamedTuple):
    """Crank angle and its derivatives at one time."""

    angle: float  # rad
    rate: float = 0.0  # rad/s
    acceleration: float = 0.0  # rad/s²


class Motion(NamedTuple):
    """Motion of rod and slider."""

    angle2: float  # rad, of the rod, from A to B
    rate2: float  # rad/s
    acceleration2: float  # rad/s²
    x: float  # m, B
    v: float  # m/s
    a: float  # m/s²


class Forces(NamedTuple):
    """Forces in global axes, on the second body named; shape (2,), N."""

    ground_crank: Array  # at O
    crank_rod: Array  # at A
    rod_slider: Array  # at B
    guide: Array  # guide on slider: (friction, normal)
    guide_couple: float  # N m, guide on slider, reduced to B, counter-clockwise
    torque: float  # N m, motor on crank, counter-clockwise


def constant_speed(t: float, speed: float, start: float = 0.0) -> Drive:
    """Return th1 = start + speed t."""
    return Drive(start + speed * t, speed, 0.0)


def spin_up(t: float, speed: float, time: float, start: float = 0.0) -> Drive:
    """Return the law th1' = speed (1 − exp(−t/time)), from rest."""
    fade = np.exp(-t / time)
    angle = start + speed * (t + time * np.expm1(-t / time))
    return Drive(float(angle), float(speed * (1.0 - fade)), float(speed * fade / time))


def kinematics(p: Parameters, drive: Drive) -> Motion:
    """Motion of rod and slider for a state of the crank."""
    s1, c1 = np.sin(drive.angle), np.cos(drive.angle)
    s2 = (p.offset - p.crank * s1) / p.rod
    c2 = p.branch * np.sqrt(1.0 - s2**2)
    w1, a1 = drive.rate, drive.acceleration
    w2 = -p.crank * c1 * w1 / (p.rod * c2)
    bend = p.crank * (s1 * w1**2 - c1 * a1) + p.rod * s2 * w2**2
    a2 = bend / (p.rod * c2)
    x = p.crank * c1 + p.rod * c2
    v = -p.crank * s1 * w1 - p.rod * s2 * w2
    a = -p.crank * (c1 * w1**2 + s1 * a1) - p.rod * (c2 * w2**2 + s2 * a2)
    return Motion(
        float(np.arctan2(s2, c2)), float(w2), float(a2), float(x), float(v), float(a)
    )


def _centres(p: Parameters) -> tuple[float, float, float, float]:
    """Mass centres and central inertias of crank and rod."""
    d1 = 0.5 * p.crank if p.centre1 is None else p.centre1
    d2 = 0.5 * p.rod if p.centre2 is None else p.centre2
    j1 = p.mass1 * p.crank**2 / 12.0 if p.inertia1 is None else p.inertia1
    j2 = p.mass2 * p.rod**2 / 12.0 if p.inertia2 is None else p.inertia2
    return d1, d2, j1, j2


def _point(angle: float, rate: float, acceleration: float, radius: float) -> Array:
    """Acceleration of a point at a distance from a pivot at rest."""
    s, c = np.sin(angle), np.cos(angle)
    return radius * np.array(
        [-s * acceleration - c * rate**2, c * acceleration - s * rate**2]
    )


def _rod_moment(p: Parameters, drive: Drive, m: Motion) -> tuple[float, Array, Array]:
    """Return Q, and the accelerations of the mass centres of rod and slider."""
    _, d2, _, j2 = _centres(p)
    pin = _point(drive.angle, drive.rate, drive.acceleration, p.crank)
    acc2 = pin + _point(m.angle2, m.rate2, m.acceleration2, d2)
    s2, c2 = np.sin(m.angle2), np.cos(m.angle2)
    own = c2 * (acc2[1] + p.gravity) - s2 * acc2[0]
    moment = j2 * m.acceleration2 + p.mass2 * d2 * own
    return float(moment), acc2, np.array([m.a, 0.0])


def guide_normal_forces(
    p: Parameters, drive: Drive, mu: float = 0.0
) -> tuple[float, ...]:
    """All normal forces of the guide that satisfy Coulomb's law in sliding.

    None, one or two values; the slider must be moving if mu > 0.
    """
    m = kinematics(p, drive)
    moment, _, _ = _rod_moment(p, drive, m)
    s2, c2 = np.sin(m.angle2), np.cos(m.angle2)
    load = p.load - p.mass3 * m.a
    rest = moment / p.rod + c2 * p.mass3 * p.gravity + s2 * load
    drag = mu * np.sign(m.v) * s2
    found: list[float] = []
    for flank in (1, -1):
        normal = float(rest / (c2 + flank * drag))
        # Without friction both flanks give the same equation: keep its one root.
        if (normal > 0.0 and flank > 0) or (normal < 0.0 and flank < 0):
            found.append(normal)
    if not found and rest == 0.0:
        found.append(0.0)
    return tuple(found)


def forces(
    p: Parameters, drive: Drive, *, mu: float = 0.0, normal: float | None = None
) -> Forces:
    """All joint forces, the guide's couple and the motor torque.

    Parameters
    ----------
    mu, normal
        With friction, the normal force to use, one of `guide_normal_forces`; the
        only one if there is only one.
    """
    m = kinematics(p, drive)
    if normal is None:
        (normal,) = guide_normal_forces(p, drive, mu)
    _, acc2, acc3 = _rod_moment(p, drive, m)
    d1, _, j1, _ = _centres(p)
    g = np.array([0.0, -p.gravity])
    guide = np.array([-mu * abs(normal) * np.sign(m.v), normal])
    rod_slider = p.mass3 * (acc3 - g) - guide - np.array([p.load, 0.0])
    crank_rod = p.mass2 * (acc2 - g) + rod_slider
    acc1 = _point(drive.angle, drive.rate, drive.acceleration, d1)
    ground_crank = p.mass1 * (acc1 - g) + crank_rod
    # Moment about B: the mass centre is off B by centre3, and nothing turns.
    off = np.asarray(p.centre3)
    inertia = p.mass3 * (acc3 - g)
    couple = off[0] * inertia[1] - off[1] * inertia[0]
    s1, c1 = np.sin(drive.angle), np.cos(drive.angle)
    spin = (j1 + p.mass1 * d1**2) * drive.acceleration
    weight = p.mass1 * p.gravity * d1 * c1
    arm = p.crank * (c1 * crank_rod[1] - s1 * crank_rod[0])
    return Forces(
        ground_crank=ground_crank,
        crank_rod=crank_rod,
        rod_slider=rod_slider,
        guide=guide,
        guide_couple=float(couple),
        torque=float(spin + weight + arm),
    )


def energy(p: Parameters, drive: Drive) -> tuple[float, float]:
    """Kinetic and potential energy, J; heights are counted from O.

    The load is no part of it.
    """
    m = kinematics(p, drive)
    d1, d2, j1, j2 = _centres(p)
    s1, c1 = np.sin(drive.angle), np.cos(drive.angle)
    s2, c2 = np.sin(m.angle2), np.cos(m.angle2)
    w1, w2 = drive.rate, m.rate2
    v2 = np.array([-p.crank * s1 * w1 - d2 * s2 * w2, p.crank * c1 * w1 + d2 * c2 * w2])
    kinetic = (j1 + p.mass1 * d1**2) * w1**2 + j2 * w2**2
    kinetic += p.mass2 * float(v2 @ v2) + p.mass3 * m.v**2
    height = p.mass1 * d1 * s1 + p.mass2 * (p.crank * s1 + d2 * s2)
    height += p.mass3 * (p.offset + p.centre3[1])
    return float(0.5 * kinetic), float(p.gravity * height)


def critical_mu(p: Parameters) -> float:
    """Guide friction from which some pose of the turn is ill-posed (h = 0)."""
    return float(np.sqrt(p.rod**2 - p.crank**2) / p.crank)
