"""Blocks with dry friction on a belt, on an incline and on one another.

The first two are closed forms; `two_blocks` is a slow reference. Friction is mu0 at
rest and mu in motion.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]


class Motion(NamedTuple):
    """Position and velocity over time."""

    x: Array  # m
    v: Array  # m/s


# -- block on a belt --------------------------------------------------------------


@dataclass(frozen=True)
class Belt:
    """A block on a belt, tied to a wall by a spring; it starts stuck at x = 0."""

    mass: float = 1.0  # kg
    stiffness: float = 100.0  # N/m
    speed: float = 0.1  # m/s, > 0
    mu0: float = 0.4
    mu: float = 0.3
    gravity: float = 9.81  # m/s²

    @property
    def frequency(self) -> float:
        """w = √(k/m), rad/s."""
        return float(np.sqrt(self.stiffness / self.mass))

    @property
    def surplus(self) -> float:
        """D = (mu0 − mu) m g/k, m: half the way the block rides with the belt."""
        return (self.mu0 - self.mu) * self.mass * self.gravity / self.stiffness

    @property
    def first_slip(self) -> float:
        """The spring pulls with mu0 m g, s."""
        return self.mu0 * self.mass * self.gravity / (self.stiffness * self.speed)

    @property
    def slip_time(self) -> float:
        """Duration of a slip, s.

        With X = x − mu m g/k, X = D cos ws + (v/w) sin ws = R sin(ws + b) from the
        break-away on, and X' = v again at ws = 2π − 2 atan(D w/v), where X = −D.
        """
        w = self.frequency
        return float(2 * np.pi - 2 * np.arctan(self.surplus * w / self.speed)) / w

    @property
    def stick_time(self) -> float:
        """From X = −D to D with the belt, s."""
        return 2 * self.surplus / self.speed

    @property
    def period(self) -> float:
        """One slip and one stick, s."""
        return self.slip_time + self.stick_time

    def events(self, n: int) -> Array:
        """Return the first n events: break-away, stick, break-away, ..."""
        k = np.arange(n)
        return self.first_slip + k // 2 * self.period + k % 2 * self.slip_time

    def motion(self, t: ArrayLike) -> Motion:
        """Return the motion of the block."""
        t = np.asarray(t, dtype=np.float64)
        w, D, v = self.frequency, self.surplus, self.speed
        middle = self.mu * self.mass * self.gravity / self.stiffness
        s = np.where(t < self.first_slip, -1.0, (t - self.first_slip) % self.period)
        slips = (s >= 0.0) & (s < self.slip_time)
        ride = np.where(s < 0.0, v * t, middle - D + v * (s - self.slip_time))
        x = np.where(slips, middle + D * np.cos(w * s) + v / w * np.sin(w * s), ride)
        rate = np.where(slips, v * np.cos(w * s) - D * w * np.sin(w * s), v)
        return Motion(x, rate)


# -- block on an incline ----------------------------------------------------------


@dataclass(frozen=True)
class Incline:
    """A block thrown up an incline at s = 0."""

    angle: float = np.radians(20.0)  # rad, > 0
    speed: float = 3.0  # m/s, > 0
    mu0: float = 0.4
    mu: float = 0.3
    gravity: float = 9.81  # m/s²

    @property
    def braking(self) -> float:
        """Deceleration on the way up, m/s²."""
        return self.gravity * float(np.sin(self.angle) + self.mu * np.cos(self.angle))

    @property
    def fall(self) -> float:
        """Acceleration on the way down, m/s²; zero if the block stays."""
        if self.mu0 >= np.tan(self.angle):
            return 0.0
        return self.gravity * float(np.sin(self.angle) - self.mu * np.cos(self.angle))

    @property
    def stop_time(self) -> float:
        """End of the way up, s."""
        return self.speed / self.braking

    @property
    def distance(self) -> float:
        """Way up, m."""
        return self.speed**2 / (2 * self.braking)

    @property
    def return_time(self) -> float:
        """Back at the start, s; infinite if the block stays."""
        if self.fall == 0.0:
            return np.inf
        return self.stop_time + float(np.sqrt(2 * self.distance / self.fall))

    def motion(self, t: ArrayLike) -> Motion:
        """Return way and velocity up the incline."""
        t = np.asarray(t, dtype=np.float64)
        after = t - self.stop_time
        is_up = after < 0.0
        s = self.distance - 0.5 * np.where(is_up, self.braking, self.fall) * after**2
        return Motion(s, -np.where(is_up, self.braking, self.fall) * after)


# -- block on a dragged block -----------------------------------------------------


@dataclass(frozen=True)
class TwoBlocks:
    """A block dragged by a spring, with another one on it; all starts at rest."""

    m1: float = 2.0  # kg, lower
    m2: float = 1.0  # kg, upper
    stiffness: float = 100.0  # N/m
    speed: float = 0.2  # m/s, of the spring's end
    mu0: tuple[float, float] = (0.5, 0.15)  # ground to lower, lower to upper
    mu: tuple[float, float] = (0.3, 0.1)
    gravity: float = 9.81  # m/s²

    @property
    def normal(self) -> tuple[float, float]:
        """Normal forces, N."""
        return (self.m1 + self.m2) * self.gravity, self.m2 * self.gravity

    def accelerations(
        self, t: float, x1: float, slip: tuple[int, int], mu: tuple[float, float]
    ) -> tuple[float, float, float, float]:
        """Return a1, a2 and the frictions on the lower and on the upper block."""
        m1, m2 = self.m1, self.m2
        pull = self.stiffness * (self.speed * t - x1)
        f1 = -slip[0] * mu[0] * self.normal[0]
        f2 = -slip[1] * mu[1] * self.normal[1]
        if slip[0] == 0:
            # Nothing moves the lower block, so a stuck upper block needs no friction.
            return 0.0, f2 / m2, f2 - pull, f2
        if slip[1] == 0:
            a = (pull + f1) / (m1 + m2)
            return a, a, f1, m2 * a
        return (pull + f1 - f2) / m1, f2 / m2, f1, f2


class Change(NamedTuple):
    """An instant at which the mode changes."""

    t: float  # s
    slip: tuple[int, int]  # after it: of the lower and of the upper block


class TwoBlocksRun(NamedTuple):
    """Motion of both blocks at given times, and all changes of mode."""

    x: Array  # (2, n) m
    v: Array  # (2, n) m/s
    changes: list[Change]


def _decided(
    p: TwoBlocks, t: float, x1: float, slip: tuple[int, int], rests: set[int]
) -> tuple[int, int]:
    """Return the slips after contacts at rest are decided, all possibilities tried.

    mu0 decides; those that leave drop to mu, and the others are decided again.
    """
    while rests:
        for signs in product((0, 1, -1), repeat=len(rests)):
            new = list(slip)
            for k, sign in zip(sorted(rests), signs, strict=True):
                new[k] = sign
            mu = tuple((p.mu0 if k in rests else p.mu)[k] for k in range(2))
            a1, a2, f1, f2 = p.accelerations(t, x1, (new[0], new[1]), (mu[0], mu[1]))
            rates, frictions = (a1, a2 - a1), (f1, f2)
            if all(
                new[k] * rates[k] > 0.0
                if new[k]
                else abs(frictions[k]) <= p.mu0[k] * p.normal[k]
                for k in rests
            ):
                break
        else:
            raise RuntimeError("no mode satisfies Coulomb's law")
        slip = (new[0], new[1])
        leaving = {k for k in rests if slip[k]}
        if not leaving:
            break
        rests = rests - leaving
    return slip


def _guards(p: TwoBlocks, slip: tuple[int, int]) -> Iterator[tuple[int, int, Any]]:
    """Yield contact, slip after it (0 for a stop), and a guard that falls to zero."""

    def stop(k: int):
        return lambda t, y: slip[k] * (y[2] if k == 0 else y[3] - y[2])

    def margin(k: int, sign: int):
        # Friction against a slip of this sign is at its limit.
        def guard(t: float, y: Array) -> float:
            friction = p.accelerations(t, y[0], slip, p.mu)[2 + k]
            return p.mu0[k] * p.normal[k] + sign * friction

        return guard

    for k in range(2):
        if slip[k]:
            yield k, 0, stop(k)
        else:
            yield k, 1, margin(k, 1)
            yield k, -1, margin(k, -1)


def two_blocks(p: TwoBlocks, t: ArrayLike) -> TwoBlocksRun:
    """Integrate from mode to mode, DOP853 at rtol 1e-12; the slow reference."""
    t = np.asarray(t, dtype=np.float64)
    until = float(t[-1])
    out = np.empty((4, len(t)))
    now, y, slip = 0.0, np.zeros(4), (0, 0)
    changes: list[Change] = []
    while now < until:
        guards = list(_guards(p, slip))
        for _, _, guard in guards:
            guard.terminal, guard.direction = True, -1

        def rate(s: float, y: Array, slip: tuple[int, int] = slip) -> list[float]:
            a1, a2, *_ = p.accelerations(s, y[0], slip, p.mu)
            return [y[2], y[3], a1, a2]

        run: Any = solve_ivp(
            rate,
            (now, until),
            y,
            method="DOP853",
            rtol=1e-12,
            atol=1e-14,
            events=[guard for _, _, guard in guards],
            dense_output=True,
            max_step=0.05,
        )
        inside = (t >= now) & (t <= run.t[-1])
        out[:, inside] = run.sol(t[inside])
        now, y = float(run.t[-1]), run.y[:, -1].copy()
        if run.status == 0:
            break
        fired = next(k for k, found in enumerate(run.t_events) if len(found))
        contact, sign, _ = guards[fired]
        if sign == 0 and contact == 0:
            # An upper block that rides along stops with it.
            y[2] = 0.0
            y[3] = y[3] if slip[1] else 0.0
        elif sign == 0:
            y[3] = y[2]
        freed = list(slip)
        freed[contact] = sign
        rests = {k for k in range(2) if slip[k] == 0}
        rests = rests - {contact} if sign else rests | {contact}
        slip = _decided(p, now, y[0], (freed[0], freed[1]), rests)
        changes.append(Change(now, slip))
    return TwoBlocksRun(out[:2], out[2:], changes)
