"""A rigid body on feet, each above its own line, with dry friction: the slow reference.

One body (x, y, theta), points of it against fixed lines with compliant normals, forces
and a torque prescribed in time. Integrated from event to event by SciPy; the next mode
is found by trying all of them. Feet must not share a line while the body is level, or
their friction is not unique. Nothing of the library is used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

Array = NDArray[np.float64]
# Force for overlap and its rate, not cut off at zero.
Law = Callable[[float, float], float]
# Force (x, y) on the mass centre and torque at t.
Load = Callable[[float], tuple[float, float, float]]

OPEN, PRESSING, RELEASED = 0, 1, 2
# Steps so short that no pair of events hides in one.
SHORT = 1e-3  # s
# The ratio of force to overlap has a limit at no overlap, evaluated here.
SMALL = 1e-13  # m


@dataclass(frozen=True)
class Foot:
    """A point of the body, the line below it, and the laws between them."""

    at: tuple[float, float]  # m, in the body's frame
    law: Law
    mu0: float
    mu: float
    point: tuple[float, float] = (0.0, 0.0)  # m, of the line
    angle: float = 0.0  # rad, of the line

    @property
    def normal(self) -> Array:
        return np.array([-np.sin(self.angle), np.cos(self.angle)])

    @property
    def tangent(self) -> Array:
        return np.array([np.cos(self.angle), np.sin(self.angle)])


class Change(NamedTuple):
    """An event of one foot, or a change of its mode by the event of another."""

    t: float  # s
    foot: int
    kind: str
    slip: int  # after it


class Run(NamedTuple):
    """Coordinates at given times, and all changes."""

    q: Array  # (3, n)
    v: Array  # (3, n)
    changes: list[Change]


class Mode(NamedTuple):
    side: tuple[int, ...]
    slip: tuple[int, ...]


class Kinematics(NamedTuple):
    """Of one foot: gap, its rate, slip velocity, rows of both, bias of the slip's."""

    gap: float
    gap_rate: float
    slip: float
    N: Array
    T: Array
    bias: float


@dataclass(frozen=True)
class Body:
    """The body and its feet."""

    feet: Sequence[Foot]
    mass: float = 1.0  # kg
    inertia: float = 0.1  # kg m²
    gravity: tuple[float, float] = (0.0, -9.81)  # m/s²
    load: Load = field(default=lambda t: (0.0, 0.0, 0.0))

    @property
    def M(self) -> Array:
        return np.array([self.mass, self.mass, self.inertia])

    def foot(self, k: int, y: Array) -> Kinematics:
        foot = self.feet[k]
        c, s = np.cos(y[2]), np.sin(y[2])
        r = np.array([c * foot.at[0] - s * foot.at[1], s * foot.at[0] + c * foot.at[1]])
        n, tau = foot.normal, foot.tangent
        N = np.array([n[0], n[1], r[0] * n[1] - r[1] * n[0]])
        T = np.array([tau[0], tau[1], r[0] * tau[1] - r[1] * tau[0]])
        gap = float(n @ (y[:2] + r - np.array(foot.point)))
        return Kinematics(
            gap,
            float(N @ y[3:]),
            float(T @ y[3:]),
            N,
            T,
            float(-(y[5] ** 2) * (tau @ r)),
        )

    def accelerate(
        self, t: float, y: Array, mode: Mode, mu: Sequence[float]
    ) -> tuple[Array, Array, Array]:
        """Return accelerations, normal and friction forces; mu of slipping feet."""
        f = np.array(self.load(t)) + self.M * np.array([*self.gravity, 0.0])
        n_foot = len(self.feet)
        lam_n, lam_t = np.zeros(n_foot), np.zeros(n_foot)
        rows, bias, stuck = [], [], []
        for k in range(n_foot):
            if mode.side[k] != PRESSING:
                continue
            at = self.foot(k, y)
            lam_n[k] = self.feet[k].law(max(0.0, -at.gap), -at.gap_rate)
            f = f + at.N * lam_n[k]
            if mode.slip[k]:
                lam_t[k] = -mode.slip[k] * mu[k] * lam_n[k]
                f = f + at.T * lam_t[k]
            else:
                rows.append(at.T)
                bias.append(at.bias)
                stuck.append(k)
        a = f / self.M
        if stuck:
            J = np.array(rows)
            lam = np.linalg.solve(J @ (J / self.M).T, -(J @ a + np.array(bias)))
            a = a + (J.T @ lam) / self.M
            lam_t[stuck] = lam
        return a, lam_n, lam_t

    def slip_rates(self, y: Array, a: Array) -> Array:
        found = [self.foot(k, y) for k in range(len(self.feet))]
        return np.array([at.T @ a + at.bias for at in found])


def _kinetic(p: Body) -> list[float]:
    return [foot.mu for foot in p.feet]


def _decided(p: Body, t: float, y: Array, mode: Mode, rests: set[int]) -> Mode:
    """Return the mode after feet at rest are decided.

    mu0 decides; those that leave drop to mu, and the rest are decided again. One that
    would then slip against its own friction is at rest after all.
    """
    freed: set[int] = set()
    for _ in range(10):
        mode, left = _sorted_out(p, t, y, mode, rests)
        freed |= left
        a, _, _ = p.accelerate(t, y, mode, _kinetic(p))
        rates = p.slip_rates(y, a)
        wrong = {k for k in freed if mode.slip[k] * rates[k] < 0.0}
        if not wrong:
            return mode
        freed -= wrong
        rests = (rests - left) | wrong
    raise RuntimeError("no mode satisfies Coulomb's law")


def _sorted_out(
    p: Body, t: float, y: Array, mode: Mode, rests: set[int]
) -> tuple[Mode, set[int]]:
    """Return the mode in which nobody at rest leaves, and who has left before."""
    mu = _kinetic(p)
    freed: set[int] = set()
    while rests:
        order = sorted(rests)
        for signs in product((0, 1, -1), repeat=len(order)):
            slip = list(mode.slip)
            trial_mu = list(mu)
            for k, sign in zip(order, signs, strict=True):
                slip[k] = sign
                trial_mu[k] = p.feet[k].mu0
            trial = Mode(mode.side, tuple(slip))
            a, lam_n, lam_t = p.accelerate(t, y, trial, trial_mu)
            rates = p.slip_rates(y, a)
            if all(
                slip[k] * rates[k] > 0.0
                if slip[k]
                else abs(lam_t[k]) <= p.feet[k].mu0 * lam_n[k]
                for k in order
            ):
                break
        else:
            raise RuntimeError("no mode satisfies Coulomb's law")
        mode = trial
        leaving = {k for k in rests if mode.slip[k]}
        if not leaving:
            break
        freed |= leaving
        rests = rests - leaving
    return mode, freed


def _guards(p: Body, mode: Mode):
    """Yield foot, kind, slip after it and a guard that falls to zero."""
    mu = _kinetic(p)

    def gap(k, sign):
        return lambda t, y: sign * p.foot(k, y).gap

    def ratio(k, sign):
        def guard(t, y):
            at = p.foot(k, y)
            d = max(-at.gap, SMALL)
            return sign * p.feet[k].law(d, -at.gap_rate) / d

        return guard

    def speed(k, sign):
        return lambda t, y: sign * p.foot(k, y).slip

    def margin(k, sign):
        def guard(t, y):
            _, lam_n, lam_t = p.accelerate(t, y, mode, mu)
            return p.feet[k].mu0 * lam_n[k] + sign * lam_t[k]

        return guard

    for k in range(len(p.feet)):
        if mode.side[k] == OPEN:
            yield k, "touch_down", 0, gap(k, 1.0)
            continue
        yield k, "separate", 0, gap(k, -1.0)
        if mode.side[k] == RELEASED:
            yield k, "re_engage", 0, ratio(k, -1.0)
            continue
        yield k, "release", 0, ratio(k, 1.0)
        if mode.slip[k]:
            yield k, "stop", 0, speed(k, mode.slip[k])
        else:
            yield k, "break_away", 1, margin(k, 1.0)
            yield k, "break_away", -1, margin(k, -1.0)


def _at_rest(p: Body, y: Array, feet: set[int]) -> Array:
    """Return the state with the slip of some feet exactly zero."""
    if not feet:
        return y
    J = np.array([p.foot(k, y).T for k in sorted(feet)])
    y = y.copy()
    y[3:] -= (J.T @ np.linalg.solve(J @ (J / p.M).T, J @ y[3:])) / p.M
    return y


def _next(
    p: Body, t: float, y: Array, mode: Mode, foot: int, kind: str, sign: int
) -> tuple[Mode, Array, list[Change]]:
    """Apply one event and decide again whoever is at rest."""
    side, slip = list(mode.side), list(mode.slip)
    rests = {k for k in range(len(side)) if side[k] == PRESSING and slip[k] == 0}
    rests.discard(foot)
    if kind in ("touch_down", "re_engage"):
        side[foot] = PRESSING
        slip[foot] = int(np.sign(p.foot(foot, y).slip))
        if slip[foot] == 0:
            rests.add(foot)
    elif kind in ("separate", "release"):
        side[foot] = OPEN if kind == "separate" else RELEASED
    elif kind == "stop":
        rests.add(foot)
    else:
        slip[foot] = sign
    y = _at_rest(p, y, rests)
    after = _decided(p, t, y, Mode(tuple(side), tuple(slip)), rests)
    changes: list[Change] = []
    for k in range(len(side)):
        old, new = mode.slip[k], after.slip[k]
        if k == foot and kind != "stop":
            changes.append(Change(t, k, kind, new))
        elif mode.side[k] != PRESSING or (old == new and k != foot):
            continue
        elif old == 0:
            changes.append(Change(t, k, "break_away", new))
        else:
            changes.append(Change(t, k, "reverse" if new else "stick", new))
    return after, y, changes


def run(p: Body, q: Sequence[float], v: Sequence[float], t: ArrayLike) -> Run:
    """Integrate from event to event, DOP853 at rtol 1e-12, to the last of t.

    The start is in motion or has all slip velocities exactly zero; no gap is zero.
    """
    t = np.asarray(t, dtype=np.float64)
    now, until = float(t[0]), float(t[-1])
    y = np.array([*q, *v], dtype=np.float64)
    out = np.full((6, len(t)), np.nan)
    n_foot = len(p.feet)
    found = [p.foot(k, y) for k in range(n_foot)]
    side = [OPEN if at.gap > 0.0 else PRESSING for at in found]
    for k, at in enumerate(found):
        if side[k] == PRESSING and p.feet[k].law(-at.gap, -at.gap_rate) < 0.0:
            side[k] = RELEASED
    slip = tuple(int(np.sign(at.slip)) for at in found)
    rests = {k for k in range(n_foot) if side[k] == PRESSING and slip[k] == 0}
    mode = _decided(p, now, y, Mode(tuple(side), slip), rests)
    changes: list[Change] = []
    while now < until:

        def slope(s: float, y: Array, mode: Mode = mode) -> Array:
            return np.concatenate([y[3:], p.accelerate(s, y, mode, _kinetic(p))[0]])

        end, y_end, event, sol = _march(p, mode, slope, now, until, y)
        inside = (t >= now) & (t <= end)
        if inside.any():
            out[:, inside] = sol(t[inside])
        now, y = end, y_end
        if event is None:
            break
        mode, y, new = _next(p, now, y, mode, *event)
        changes.extend(new)
    return Run(out[:3], out[3:], changes)


def _march(p: Body, mode: Mode, slope, now: float, until: float, y: Array):
    """Integrate one arc, in pieces so that nothing is computed far past its end."""
    guards = list(_guards(p, mode))
    is_away = [False] * len(guards)
    early = [now + SHORT * 0.5**k for k in range(20, 2, -1)]
    pieces = []
    while now < until:
        stop = min(until, now + 50 * SHORT)
        arc = solve_ivp(
            slope,
            (now, stop),
            y,
            method="DOP853",
            rtol=1e-12,
            atol=1e-14,
            max_step=SHORT,
            dense_output=True,
        )
        pieces.append((now, arc.sol))
        nodes = np.linspace(arc.t[:-1], arc.t[1:], 5)[1:].T.ravel()
        if len(pieces) == 1:
            # Events may follow each other in microseconds.
            nodes = np.sort(np.append(nodes, [s for s in early if s < stop]))
        best, event, last = np.inf, None, now
        for s in nodes:
            at = arc.sol(s)
            for i, (foot, kind, sign, guard) in enumerate(guards):
                if guard(s, at) > 0.0:
                    # A guard may start at zero, and counts from where it has left it.
                    is_away[i] = True
                elif is_away[i]:
                    root = brentq(
                        lambda x, g=guard, sol=arc.sol: g(x, sol(x)),
                        last,
                        s,
                        xtol=1e-15,
                    )
                    if root < best:
                        best, event = float(root), (foot, kind, sign)
            if event is not None:
                return best, arc.sol(best), event, _joined(pieces)
            last = s
        now, y = stop, arc.y[:, -1]
    return now, y, None, _joined(pieces)


def _joined(pieces):
    starts = np.array([start for start, _ in pieces])

    def sol(t: Array) -> Array:
        index = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, None)
        columns = [pieces[i][1](x) for i, x in zip(index, t, strict=True)]
        return np.stack(columns, axis=1)

    return sol
