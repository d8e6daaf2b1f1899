"""Chain of n uniform rods released at rest from the horizontal.

Rod 0 is pinned at the origin, rod i hangs on the tip of rod i − 1; all have the
same mass and length (1 kg, 1 m). At the start the chain lies straight along +x
and is at rest; gravity points along −y. Minimal coordinates: the absolute angles
th_i, counter-clockwise from +x. With c_ij = (n − max(i, j) − 1/2) m l² for i ≠ j
and c_ii = (n − i − 2/3) m l², Lagrange's equations read

    Σ_j c_ij cos(th_i − th_j) th_j'' + Σ_j c_ij sin(th_i − th_j) th_j'²
        + (n − i − 1/2) m g l cos th_i = 0.

Figure (published with the benchmark): the tip of n = 2 at 1 s is
(−1.662115135816, −1.041466637193).
"""

from typing import NamedTuple

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]

GRAVITY = 9.81  # m/s²
MASS = 1.0  # kg, of one rod
LENGTH = 1.0  # m, of one rod


class Motion(NamedTuple):
    """Angles, rates and accelerations of the rods; shapes (n, n_time)."""

    theta: Array  # rad
    rate: Array  # rad/s
    acceleration: Array  # rad/s²


def coefficients(n: int, *, mass: float = MASS, length: float = LENGTH) -> Array:
    """Return the constants c_ij of the mass matrix, kg m²; shape (n, n)."""
    index = np.arange(n)
    c = n - np.maximum.outer(index, index) - 0.5
    c[index, index] = n - index - 2.0 / 3.0
    return mass * length**2 * c


def accelerations(
    theta: Array,
    rate: Array,
    *,
    gravity: float = GRAVITY,
    mass: float = MASS,
    length: float = LENGTH,
) -> Array:
    """Angular accelerations of the rods for angles and rates of shape (n,)."""
    n = theta.size
    c = coefficients(n, mass=mass, length=length)
    d = np.subtract.outer(theta, theta)
    weight = mass * gravity * length * (n - np.arange(n) - 0.5)
    force = -(c * np.sin(d)) @ rate**2 - weight * np.cos(theta)
    return np.asarray(np.linalg.solve(c * np.cos(d), force), dtype=np.float64)


def motion(
    n: int,
    t: ArrayLike,
    *,
    theta: ArrayLike = 0.0,
    rate: ArrayLike = 0.0,
    gravity: float = GRAVITY,
    mass: float = MASS,
    length: float = LENGTH,
    rtol: float = 1e-13,
) -> Motion:
    """Motion at the increasing times t ≥ 0, by DOP853.

    Parameters
    ----------
    theta, rate
        Start values, one for all rods or one per rod; default the release at rest
        along +x.
    rtol
        Relative tolerance; the absolute one is a tenth of it. At 1e-13 the error
        at 1 s is below 2e-14 rad for n = 2 and 3 (against `motion_mp`) and the
        change to rtol = 3e-14 as small for n ≤ 20. Chains are chaotic: the error
        grows fast with time.
    """
    times = np.atleast_1d(np.asarray(t, dtype=np.float64))
    start = np.concatenate(
        [
            np.broadcast_to(np.asarray(theta, dtype=np.float64), (n,)),
            np.broadcast_to(np.asarray(rate, dtype=np.float64), (n,)),
        ]
    )

    def slope(_: float, y: Array) -> Array:
        acc = accelerations(y[:n], y[n:], gravity=gravity, mass=mass, length=length)
        return np.concatenate([y[n:], acc])

    # Each time asked for is the end of a step: the dense output of DOP853 is of
    # lower order than its steps.
    states = np.empty((2 * n, times.size))
    now, y = 0.0, start
    for j, then in enumerate(times):
        if then > now:
            run = solve_ivp(
                slope, (now, then), y, method="DOP853", rtol=rtol, atol=0.1 * rtol
            )
            now, y = float(then), run.y[:, -1]
        states[:, j] = y
    acc = np.stack([slope(0.0, y)[n:] for y in states.T], axis=1)
    return Motion(states[:n], states[n:], acc)


def motion_mp(
    n: int, t: float, *, digits: int = 25, gravity: float = GRAVITY
) -> tuple[list[mpmath.mpf], list[mpmath.mpf]]:
    """Angles and rates at one time by Taylor series in `digits` digits; slow.

    Unit rods only, released at rest along +x.
    """
    with mpmath.workdps(digits):
        half = mpmath.mpf(1) / 2
        third = mpmath.mpf(1) / 3
        g = mpmath.mpf(repr(gravity))
        c = [
            [n - i - 1 + third if i == j else n - max(i, j) - half for j in range(n)]
            for i in range(n)
        ]

        def slope(_: mpmath.mpf, y: list[mpmath.mpf]) -> list[mpmath.mpf]:
            th, w = y[:n], y[n:]
            a = mpmath.matrix(n, n)
            b = mpmath.matrix(n, 1)
            for i in range(n):
                b[i] = -(n - i - half) * g * mpmath.cos(th[i])
                for j in range(n):
                    a[i, j] = c[i][j] * mpmath.cos(th[i] - th[j])
                    b[i] -= c[i][j] * mpmath.sin(th[i] - th[j]) * w[j] ** 2
            return [*w, *mpmath.lu_solve(a, b)]

        y = mpmath.odefun(slope, 0, [mpmath.mpf(0)] * (2 * n))(mpmath.mpf(t))
        return list(y[:n]), list(y[n:])


def joint_positions(theta: Array, *, length: float = LENGTH) -> Array:
    """Pin, joints and tip, m; theta (n, ...) gives shape (n + 1, 2, ...)."""
    steps = length * np.stack([np.cos(theta), np.sin(theta)], axis=1)
    return np.concatenate([np.zeros_like(steps[:1]), np.cumsum(steps, axis=0)])


def tip(theta: Array, *, length: float = LENGTH) -> Array:
    """Free end of the last rod, m; theta (n, ...) gives shape (2, ...)."""
    return joint_positions(theta, length=length)[-1]


def energy(
    theta: Array,
    rate: Array,
    *,
    gravity: float = GRAVITY,
    mass: float = MASS,
    length: float = LENGTH,
) -> tuple[float, float]:
    """Kinetic and potential energy, J, from the motion of the mass centres."""
    ends = joint_positions(theta, length=length)
    direction = np.stack([-np.sin(theta), np.cos(theta)], axis=1) * rate[:, None]
    speed = length * (np.cumsum(direction, axis=0) - 0.5 * direction)
    spin = mass * length**2 / 12.0 * rate**2
    kinetic = 0.5 * (mass * np.sum(speed**2) + np.sum(spin))
    height = 0.5 * (ends[:-1, 1] + ends[1:, 1])
    return float(kinetic), float(mass * gravity * np.sum(height))


def mass_centre_accelerations(
    theta: Array, rate: Array, acceleration: Array, *, length: float = LENGTH
) -> Array:
    """Accelerations of the mass centres, m/s²; shape (n, 2)."""
    along = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    across = np.stack([-np.sin(theta), np.cos(theta)], axis=1)
    step = length * (acceleration[:, None] * across - (rate**2)[:, None] * along)
    return np.cumsum(step, axis=0) - 0.5 * step


def reactions(
    theta: Array,
    rate: Array,
    acceleration: Array,
    *,
    gravity: float = GRAVITY,
    mass: float = MASS,
    length: float = LENGTH,
) -> Array:
    """Joint forces on rod i at its inner end, N, global axes; shape (n, 2).

    By Newton from the free end inwards: F_i = m (a_i − g) + F_{i+1}, F_n = 0.
    """
    a = mass_centre_accelerations(theta, rate, acceleration, length=length)
    own = mass * (a + np.array([0.0, gravity]))
    return np.cumsum(own[::-1], axis=0)[::-1]


def moment_residuals(
    theta: Array,
    acceleration: Array,
    force: Array,
    *,
    mass: float = MASS,
    length: float = LENGTH,
) -> Array:
    """Euler's equation of each rod with the forces of `reactions`, N m.

        m l²/12 th_i'' + l/2 e_i × (F_i + F_{i+1}) = 0

    Zero (to round-off) if and only if the accelerations are right: Newton's
    equations were used up by `reactions`.
    """
    both = force + np.concatenate([force[1:], np.zeros((1, 2))])
    cross = np.cos(theta) * both[:, 1] - np.sin(theta) * both[:, 0]
    return mass * length**2 / 12.0 * acceleration + 0.5 * length * cross
