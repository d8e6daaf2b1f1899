"""Exact motions with one degree of freedom: oscillators, pendulums, flight.

Everything is a closed form except `stiff_hinge_gravity`, which is a slow
reference. Times may be arrays; results have their shape.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk, ellipkinc

Array = NDArray[np.float64]


class Response(NamedTuple):
    """Position and velocity (or angle and rate) over time."""

    q: Array
    v: Array


class Path(NamedTuple):
    """Plane motion of a point over time."""

    x: Array  # m
    y: Array  # m
    v_x: Array  # m/s
    v_y: Array  # m/s


class SlotState(NamedTuple):
    """Mass in a turning slot over time."""

    r: Array  # m, along the slot, from the axis
    v: Array  # m/s, r'
    normal: Array  # N, slot on mass, along the slot's left normal
    torque: Array  # N m, on the slot, counter-clockwise


# -- linear oscillators ---------------------------------------------------------


def eigenvalues(
    mass: float, damping: float, stiffness: float
) -> tuple[complex, complex]:
    """Roots of m s² + c s + k = 0, the fast one first, both to full precision."""
    root = np.sqrt(complex(damping**2 - 4.0 * mass * stiffness))
    fast = -(damping + root) / (2.0 * mass)
    # The product of the roots gives the slow one without cancellation.
    slow = stiffness / (mass * fast) if fast != 0.0 else 0.0j
    return complex(fast), complex(slow)


def free_response(
    t: ArrayLike,
    *,
    mass: float,
    stiffness: float,
    damping: float = 0.0,
    position: float = 0.0,
    velocity: float = 0.0,
    force: float = 0.0,
) -> Response:
    """Solve m x'' + c x' + k x = F, F constant, from a given start.

    With y = x − F/k, d = c/(2 m), w² = |k/m − d²|, and (C, S) = (cos wt, sin wt/w),
    (1, t) or (cosh wt, sinh wt/w) for a weak, critical or strong damper,

        y = exp(−d t) (y0 C + (v0 + d y0) S)
        y' = exp(−d t) (v0 C − (d v0 + k/m y0) S).

    Far above critical damping the two exponentials are kept apart.
    """
    t = np.asarray(t, dtype=np.float64)
    shift = force / stiffness if force != 0.0 else 0.0
    y0, v0 = position - shift, velocity
    d = 0.5 * damping / mass
    square = stiffness / mass - d**2
    w = np.sqrt(abs(square))
    if square < 0.0 and w > 0.5 * d:
        fast, slow = (-s.real for s in eigenvalues(mass, damping, stiffness))
        a = (v0 + fast * y0) / (fast - slow) * np.exp(-slow * t)
        b = (v0 + slow * y0) / (fast - slow) * np.exp(-fast * t)
        return Response(shift + a - b, fast * b - slow * a)
    if square == 0.0:
        c, s = np.ones_like(t), t
    elif square > 0.0:
        c, s = np.cos(w * t), np.sin(w * t) / w
    else:
        c, s = np.cosh(w * t), np.sinh(w * t) / w
    fade = np.exp(-d * t)
    q = fade * (y0 * c + (v0 + d * y0) * s)
    v = fade * (v0 * c - (d * v0 + stiffness / mass * y0) * s)
    return Response(shift + q, v)


def forced_response(
    t: ArrayLike,
    *,
    mass: float,
    stiffness: float,
    damping: float = 0.0,
    cosine: float = 0.0,
    sine: float = 0.0,
    frequency: float,
    position: float = 0.0,
    velocity: float = 0.0,
    force: float = 0.0,
) -> Response:
    """Solve m x'' + c x' + k x = F + cosine cos(w t) + sine sin(w t).

    The steady part is Re(Z exp(i w t)), Z = (cosine − i sine)/(k − m w² + i c w); the
    rest is a free response. Resonance without damping has no steady part and
    is refused by a division by zero.
    """
    t = np.asarray(t, dtype=np.float64)
    impedance = stiffness - mass * frequency**2 + 1j * damping * frequency
    z = complex(cosine, -sine) / impedance
    turn = z * np.exp(1j * frequency * t)
    steady = Response(np.real(turn), np.real(1j * frequency * turn))
    free = free_response(
        t,
        mass=mass,
        stiffness=stiffness,
        damping=damping,
        position=position - z.real,
        velocity=velocity - (1j * frequency * z).real,
        force=force,
    )
    return Response(steady.q + free.q, steady.v + free.v)


def base_excited(
    t: ArrayLike,
    *,
    mass: float,
    stiffness: float,
    damping: float = 0.0,
    amplitude: float,
    frequency: float,
    position: float = 0.0,
    velocity: float = 0.0,
    force: float = 0.0,
) -> Response:
    """Solve m x'' + c (x' − y') + k (x − y) = F for a base y = Y sin(w t).

    Positions are absolute; x counts from where the spring is free for y = 0. The
    base moves at once: y'(0) = Y w.
    """
    return forced_response(
        t,
        mass=mass,
        stiffness=stiffness,
        damping=damping,
        cosine=damping * amplitude * frequency,
        sine=stiffness * amplitude,
        frequency=frequency,
        position=position,
        velocity=velocity,
        force=force,
    )


def torsion_pendulum(
    t: ArrayLike,
    *,
    inertia: float,
    stiffness: float,
    damping: float = 0.0,
    angle: float = 0.0,
    rate: float = 0.0,
    torque: float = 0.0,
) -> Response:
    """Solve J th'' + c th' + k th = M, J about the axis, M constant."""
    return free_response(
        t,
        mass=inertia,
        stiffness=stiffness,
        damping=damping,
        position=angle,
        velocity=rate,
        force=torque,
    )


# -- stiff hinge ----------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class StiffHinge:
    """Uniform rod on an overdamped torsion hinge at its end.

    J th'' + c th' + k th = M with J = m l²/3; c and k are those for which the
    eigenvalues are −fast and −slow.
    """

    mass: float = 1.0  # kg
    length: float = 1.0  # m
    fast: float = 1e6  # 1/s
    slow: float = 1.0  # 1/s

    @property
    def inertia(self) -> float:
        """About the hinge, kg m²."""
        return self.mass * self.length**2 / 3.0

    @property
    def damping(self) -> float:
        """N m s/rad."""
        return self.inertia * (self.fast + self.slow)

    @property
    def stiffness(self) -> float:
        """N m/rad."""
        return self.inertia * self.fast * self.slow


def stiff_hinge(
    h: StiffHinge,
    t: ArrayLike,
    *,
    angle: float = 0.0,
    rate: float = 0.0,
    torque: float = 0.0,
) -> Response:
    """Free motion of the rod under a constant torque, without gravity.

        th − M/k = a exp(−slow t) − b exp(−fast t)
        a = (w0 + fast y0)/(fast − slow)    b = (w0 + slow y0)/(fast − slow)

    Written from the eigenvalues, so c and k bring in no rounding of their own.
    """
    t = np.asarray(t, dtype=np.float64)
    rest = torque / h.stiffness
    y0 = angle - rest
    a = (rate + h.fast * y0) / (h.fast - h.slow) * np.exp(-h.slow * t)
    b = (rate + h.slow * y0) / (h.fast - h.slow) * np.exp(-h.fast * t)
    return Response(rest + a - b, h.fast * b - h.slow * a)


def stiff_hinge_driven(
    h: StiffHinge,
    t: ArrayLike,
    *,
    amplitude: float,
    frequency: float,
    angle: float = 0.0,
    rate: float = 0.0,
) -> Response:
    """Motion of the rod when the hinge's other side turns by Y sin(w t).

    J th'' + c (th' − y') + k (th − y) = 0, y = Y sin(w t), without gravity. The steady
    part is Im(Y H exp(i w t)), H = (k + i c w)/(k − J w² + i c w).
    """
    t = np.asarray(t, dtype=np.float64)
    both, product = h.fast + h.slow, h.fast * h.slow
    gain = (product + 1j * both * frequency) / (
        product - frequency**2 + 1j * both * frequency
    )
    z = amplitude * gain
    turn = z * np.exp(1j * frequency * t)
    free = stiff_hinge(
        h, t, angle=angle - z.imag, rate=rate - (1j * frequency * z).imag
    )
    return Response(np.imag(turn) + free.q, np.imag(1j * frequency * turn) + free.v)


def stiff_hinge_gravity(
    h: StiffHinge,
    t: ArrayLike,
    *,
    gravity: float = 9.81,
    angle: float = 0.0,
    rate: float = 0.0,
    rtol: float = 1e-12,
) -> Response:
    """Motion of the rod in gravity, by Radau: a slow reference, no closed form.

        J th'' + c th' + k th = −m g l/2 cos th

    th counts from +x and the spring is free at th = 0. Each time asked for is the
    end of a step.
    """
    times = np.atleast_1d(np.asarray(t, dtype=np.float64))
    j, c, k = h.inertia, h.damping, h.stiffness
    weight = 0.5 * h.mass * gravity * h.length

    def slope(_: float, y: Array) -> Array:
        return np.array([y[1], -(c * y[1] + k * y[0] + weight * np.cos(y[0])) / j])

    def jacobian(_: float, y: Array) -> Array:
        return np.array([[0.0, 1.0], [-(k - weight * np.sin(y[0])) / j, -c / j]])

    out = np.empty((2, times.size))
    now, y = 0.0, np.array([angle, rate])
    for i, then in enumerate(times):
        if then > now:
            run = solve_ivp(
                slope,
                (now, then),
                y,
                method="Radau",
                jac=jacobian,
                rtol=rtol,
                atol=0.01 * rtol,
            )
            now, y = float(then), run.y[:, -1]
        out[:, i] = y
    shape = np.shape(t)
    return Response(out[0].reshape(shape), out[1].reshape(shape))


# -- pendulums ------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Pendulum:
    """Body on a hinge, J th'' = −m g d sin th; th from the downward vertical.

    The angle of the arm from +x is th − π/2.
    """

    mass: float = 1.0  # kg
    distance: float = 1.0  # m, d, mass centre from the hinge
    inertia: float = 1.0  # kg m², J, about the hinge
    gravity: float = 9.81  # m/s²

    @property
    def frequency(self) -> float:
        """Of small swings, W = sqrt(m g d/J), rad/s."""
        return float(np.sqrt(self.mass * self.gravity * self.distance / self.inertia))


def simple_pendulum(
    length: float, *, mass: float = 1.0, gravity: float = 9.81
) -> Pendulum:
    """Point mass on a massless arm."""
    return Pendulum(
        mass=mass, distance=length, inertia=mass * length**2, gravity=gravity
    )


def rod_pendulum(
    length: float, *, mass: float = 1.0, gravity: float = 9.81
) -> Pendulum:
    """Uniform rod hinged at its end."""
    return Pendulum(
        mass=mass,
        distance=0.5 * length,
        inertia=mass * length**2 / 3.0,
        gravity=gravity,
    )


def pendulum_modulus(p: Pendulum, angle: float, rate: float) -> float:
    """k² = sin²(th/2) + (w/(2 W))²: below 1 it swings, above 1 it goes round."""
    return float(np.sin(0.5 * angle) ** 2 + (0.5 * rate / p.frequency) ** 2)


def pendulum(
    p: Pendulum, t: ArrayLike, *, angle: float = 0.0, rate: float = 0.0
) -> Response:
    """Angle and rate at the times t from any start, |angle| ≤ π.

    With W the frequency of small swings and k² as in `pendulum_modulus`:

    k² < 1:  sin(th/2) = k sn(u | k²)       th' = 2 k W cn(u | k²)    u = u0 + W t
    k² > 1:  th/2 = ± am(u | 1/k²)          th' = ± 2 k W dn          u = u0 + k W t
    k² = 1:  sin(th/2) = tanh u             th' = ± 2 W sech u

    The angle counts whole turns. The upright rest, k² = 1 at th = π, is allowed
    and stays.
    """
    t = np.asarray(t, dtype=np.float64)
    w = p.frequency
    square = pendulum_modulus(p, angle, rate)
    if square == 0.0:
        return Response(np.zeros_like(t), np.zeros_like(t))
    k = np.sqrt(square)
    if square < 1.0:
        # sn u0 = sin(th0/2)/k, cn u0 = w0/(2 k W).
        phase = np.arctan2(np.sin(0.5 * angle), 0.5 * rate / w)
        sn, cn, _, _ = ellipj(ellipkinc(phase, square) + w * t, square)
        return Response(2.0 * np.arcsin(k * sn), 2.0 * k * w * cn)
    if rate == 0.0:
        return Response(np.full_like(t, angle), np.zeros_like(t))
    sense = np.sign(rate)
    if square == 1.0:
        u = np.arctanh(sense * np.sin(0.5 * angle)) + w * t
        q = 2.0 * sense * np.arctan(np.sinh(u))
        return Response(q, 2.0 * sense * w / np.cosh(u))
    start = ellipkinc(sense * 0.5 * angle, 1.0 / square)
    u = start + k * w * t
    # ellipj keeps its digits on [−K, K]; whole half turns are counted apart.
    quarter = float(ellipk(1.0 / square))
    turns = np.floor(0.5 * u / quarter + 0.5)
    _, _, dn, am = ellipj(u - 2.0 * turns * quarter, 1.0 / square)
    q = 2.0 * sense * (am + np.pi * turns)
    return Response(q, 2.0 * sense * k * w * dn)


def pendulum_period(p: Pendulum, *, angle: float = 0.0, rate: float = 0.0) -> float:
    """Period of a swing, 4 K(k²)/W, or time of a turn, 2 K(1/k²)/(k W)."""
    square = pendulum_modulus(p, angle, rate)
    if square < 1.0:
        return float(4.0 * ellipk(square) / p.frequency)
    return float(2.0 * ellipk(1.0 / square) / (np.sqrt(square) * p.frequency))


def pendulum_reaction(
    p: Pendulum, theta: ArrayLike, rate: ArrayLike
) -> tuple[Array, Array]:
    """Hinge force on the body in global axes, N.

    F = m (a − g), a = d (cos th th'' − sin th th'², sin th th'' + cos th th'²).
    """
    th = np.asarray(theta, dtype=np.float64)
    w = np.asarray(rate, dtype=np.float64)
    s, c = np.sin(th), np.cos(th)
    acc = -(p.frequency**2) * s
    a_x = p.distance * (c * acc - s * w**2)
    a_y = p.distance * (s * acc + c * w**2)
    return p.mass * a_x, p.mass * (a_y + p.gravity)


# -- flight and slot ------------------------------------------------------------


def projectile(
    t: ArrayLike,
    *,
    position: tuple[float, float] = (0.0, 0.0),
    velocity: tuple[float, float] = (0.0, 0.0),
    gravity: float = 9.81,
    drag: float = 0.0,
) -> Path:
    """Flight under gravity and linear drag, x'' = −b x', y'' = −g − b y'.

    `drag` is b, 1/s. With E = (1 − exp(−b t))/b: x = x0 + v_x E,
    y = y0 + v_y E − g (t − E)/b; without drag the parabola.
    """
    t = np.asarray(t, dtype=np.float64)
    (x, y), (v_x, v_y) = position, velocity
    if drag == 0.0:
        return Path(
            x + v_x * t,
            y + v_y * t - 0.5 * gravity * t**2,
            np.full_like(t, v_x),
            v_y - gravity * t,
        )
    reach = -np.expm1(-drag * t) / drag
    fade = np.exp(-drag * t)
    return Path(
        x + v_x * reach,
        y + v_y * reach - gravity * (t - reach) / drag,
        v_x * fade,
        v_y * fade - gravity * reach,
    )


def rotating_slot(
    t: ArrayLike,
    *,
    mass: float = 1.0,
    speed: float = 1.0,
    r: float = 1.0,
    v: float = 0.0,
    gravity: float = 0.0,
    angle: float = 0.0,
) -> SlotState:
    """Point mass in a smooth straight slot turning at a constant speed w.

    The slot passes through the axis; its angle is f = f0 + w t from +x, gravity
    points along −y. Along and across the slot

        r'' − w² r = −g sin f       N = m (2 w r' + g cos f)      M = N r

    r = A cosh wt + B sinh wt + g/(2 w²) sin f. The torque is that of a massless
    slot. N acts on the mass, along (−sin f, cos f).
    """
    t = np.asarray(t, dtype=np.float64)
    lift = gravity / (2.0 * speed**2)
    f = angle + speed * t
    a = r - lift * np.sin(angle)
    b = v / speed - lift * np.cos(angle)
    c, s = np.cosh(speed * t), np.sinh(speed * t)
    here = a * c + b * s + lift * np.sin(f)
    rate = speed * (a * s + b * c + lift * np.cos(f))
    normal = mass * (2.0 * speed * rate + gravity * np.cos(f))
    return SlotState(here, rate, normal, normal * here)
