"""Exact motion of the N-four-bar.

N + 1 rockers stand side by side, pinned to the ground 1 m apart along x; N
couplers join the tops of neighbours. All are uniform rods of 1 m and 1 kg. The
rockers stay parallel, the couplers horizontal and in translation, so one angle
is left: th, from the upward vertical, positive towards +x (clockwise), with

    T = 1/2 (4 N + 1)/3 th'²        V = g (3 N + 1)/2 cos th
    th'' = k sin th                 k = 3 g (3 N + 1) / (2 (4 N + 1))

The start is upright, th = 0, at the rate th' = w0 (1 rad/s), so that
th'² = w0² + 4 k sin²(th/2) and the rockers go round for ever. With

    u = th/2 − π/2      A² = w0² + 4 k      p = 4 k / A²      1 − p = w0²/A²

this is u'² = (A/2)² (1 − p sin² u), u(0) = −π/2, and therefore

    u = am(A t/2 − K | p)           th' = A dn(A t/2 − K | p)

by Jacobi's functions of parameter p (K the complete integral). The angle of a
rocker from +x, counter-clockwise, is π/2 − th.

In the flat poses, th = π/2 + j π, rockers and couplers lie on one line and the
constraints lose rank.

Figures (published with the benchmark): the top of the first rocker relative to
its pin at 2 s is (0.077085471793, 0.997024488184) for N = 1 and
(0.057815795768, 0.998327267863) for N = 2.
"""

from typing import NamedTuple

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ellipj, ellipkinc, ellipkm1

Array = NDArray[np.float64]

GRAVITY = 9.81  # m/s²
RATE = 1.0  # rad/s, th' at the start


class Reactions(NamedTuple):
    """Joint forces in global axes, N; shapes (n + 1, 2), (n, 2), (n, 2)."""

    pin: Array  # ground on rocker, at its pin
    left: Array  # rocker j on coupler j, at the coupler's left end
    right: Array  # rocker j + 1 on coupler j, at the coupler's right end


def stiffness(n: int, gravity: float = GRAVITY) -> float:
    """Return k of th'' = k sin th, 1/s²."""
    return 3.0 * gravity * (3 * n + 1) / (2.0 * (4 * n + 1))


def motion(
    n: int, t: ArrayLike, *, gravity: float = GRAVITY, rate: float = RATE
) -> tuple[Array, Array]:
    """Angle th and rate th' at the times t, in double precision.

    The angle counts whole turns. Against `motion_mp` both are good to 1e-14 up to
    t = 5 s and to 2e-13 at 50 s.
    """
    scale = np.sqrt(rate**2 + 4.0 * stiffness(n, gravity))
    p = 1.0 - (rate / scale) ** 2
    # A whole number of half turns is taken off the argument first: am is then
    # evaluated on [−K, K], where ellipj loses nothing.
    quarter = float(ellipkm1((rate / scale) ** 2))
    argument = 0.5 * scale * np.asarray(t, dtype=np.float64)
    turns = np.floor(argument / (2.0 * quarter))
    _, _, dn, u = ellipj(argument - (2.0 * turns + 1.0) * quarter, p)
    return np.asarray(2.0 * u + np.pi * (2.0 * turns + 1.0)), np.asarray(scale * dn)


def motion_mp(
    n: int, t: float, *, digits: int = 40, gravity: float = GRAVITY, rate: float = RATE
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Angle th and rate th' at one time, to the given number of digits.

    The integral t = 2 F(th/2 | −4 k/w0²)/w0 is inverted by root finding, without
    Jacobi's functions: a second route to the same numbers.
    """
    with mpmath.workdps(digits + 10):
        k = mpmath.mpf(3) * mpmath.mpf(repr(gravity)) * (3 * n + 1) / (2 * (4 * n + 1))
        w0 = mpmath.mpf(repr(rate))
        guess = float(motion(n, t, gravity=gravity, rate=rate)[0]) / 2.0
        half = mpmath.findroot(
            lambda x: 2 * mpmath.ellipf(x, -4 * k / w0**2) / w0 - t, mpmath.mpf(guess)
        )
        return +(2 * half), +mpmath.sqrt(w0**2 + 4 * k * mpmath.sin(half) ** 2)


def acceleration(n: int, theta: ArrayLike, gravity: float = GRAVITY) -> Array:
    """Return th'' = k sin th."""
    return stiffness(n, gravity) * np.sin(np.asarray(theta, dtype=np.float64))


def top(
    n: int, t: ArrayLike, *, gravity: float = GRAVITY, rate: float = RATE
) -> tuple[Array, Array]:
    """Top of a rocker relative to its pin: (sin th, cos th), m."""
    theta, _ = motion(n, t, gravity=gravity, rate=rate)
    return np.sin(theta), np.cos(theta)


def energy(
    n: int, theta: ArrayLike, rate: ArrayLike, gravity: float = GRAVITY
) -> tuple[Array, Array]:
    """Kinetic and potential energy, J; heights are counted from the pins."""
    th = np.asarray(theta, dtype=np.float64)
    w = np.asarray(rate, dtype=np.float64)
    return (4 * n + 1) / 6.0 * w**2, gravity * (3 * n + 1) / 2.0 * np.cos(th)


def passage_time(
    n: int, theta: ArrayLike, *, gravity: float = GRAVITY, rate: float = RATE
) -> Array:
    """Time at which the angle th is passed: t = 2 (F(th/2 − π/2 | p) + K)/A."""
    scale = np.sqrt(rate**2 + 4.0 * stiffness(n, gravity))
    p = 1.0 - (rate / scale) ** 2
    u = 0.5 * np.asarray(theta, dtype=np.float64) - 0.5 * np.pi
    quarter = float(ellipkm1((rate / scale) ** 2))
    turns = np.floor(u / np.pi + 0.5)
    rest = ellipkinc(u - np.pi * turns, p)
    return np.asarray(2.0 / scale * (rest + (2.0 * turns + 1.0) * quarter))


def period(n: int, *, gravity: float = GRAVITY, rate: float = RATE) -> float:
    """Time of one full turn, 4 K/A."""
    return float(passage_time(n, 2.0 * np.pi, gravity=gravity, rate=rate))


def flat_times(
    n: int, t_end: float, *, gravity: float = GRAVITY, rate: float = RATE
) -> Array:
    """Times of passage through the flat poses th = π/2 + j π, up to t_end."""
    last = float(motion(n, t_end, gravity=gravity, rate=rate)[0])
    count = int(np.floor(last / np.pi + 0.5))
    theta = 0.5 * np.pi + np.pi * np.arange(count)
    return passage_time(n, theta, gravity=gravity, rate=rate)


def reactions(n: int, theta: float, rate: float, gravity: float = GRAVITY) -> Reactions:
    """Joint forces by Newton and Euler, away from the flat poses.

    Let a = (cos th th'' − sin th th'², −sin th th'' − cos th th'²) be the
    acceleration of the tops. A coupler does not turn, so its end forces have equal
    vertical parts, (a_y + g)/2 each, and their horizontal parts add up to a_x. The
    moment of rocker j about its pin,

        th''/3 = g/2 sin th + cos th X_j − sin th Y_j,

    gives the horizontal force X_j on its top from the vertical one, Y_j. Going
    from left to right, every horizontal part follows. At cos th = 0 they are not
    determined: that is the singular pose.
    """
    s, c = np.sin(theta), np.cos(theta)
    acc = stiffness(n, gravity) * s
    a_x = c * acc - s * rate**2
    a_y = -s * acc - c * rate**2
    left = np.zeros((n, 2))
    right = np.zeros((n, 2))
    left[:, 1] = right[:, 1] = 0.5 * (a_y + gravity)
    pin = np.zeros((n + 1, 2))
    for j in range(n + 1):
        inner = right[j - 1] if j > 0 else np.zeros(2)
        outer = left[j] if j < n else np.zeros(2)
        y_top = -inner[1] - outer[1]
        x_top = (acc / 3.0 - 0.5 * gravity * s + s * y_top) / c
        if j < n:
            left[j, 0] = -x_top - inner[0]
            right[j, 0] = a_x - left[j, 0]
        pin[j] = (0.5 * a_x - x_top, 0.5 * a_y + gravity - y_top)
    return Reactions(pin, left, right)
