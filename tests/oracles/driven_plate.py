"""A mass above a driven plate: a compliant contact with three states, by SciPy.

    m y'' = -m g + F(d, d', d'_0),   d = y_plate(t) - y

open while d < 0, pressing while F > 0, released (overlap without force) otherwise.
The contact is one scalar equation, integrated from event to event; slow, and nothing
of the library is used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

Array = NDArray[np.float64]
# Value and rate of the plate's height at t.
Motion = Callable[[float], tuple[float, float]]
# Force for overlap, its rate and the rate latched at touch-down; not cut off.
Law = Callable[[float, float, float], float]

OPEN, PRESSING, RELEASED = "open", "pressing", "released"
# Times are refined on steps this short, so that no pair of events hides in one.
SHORT = 1e-3  # s
# The ratio F/d has a limit at d = 0 that is evaluated here.
SMALL = 1e-13  # m


class Change(NamedTuple):
    """An event."""

    t: float  # s
    kind: str


class Run(NamedTuple):
    """Height and velocity of the mass at given times, and all events."""

    y: Array  # m
    v: Array  # m/s
    changes: list[Change]


@dataclass(frozen=True)
class Plate:
    """The mass, its law and the plate."""

    law: Law
    motion: Motion
    mass: float = 1.0  # kg
    gravity: float = 9.81  # m/s²
    latch: float = 0.0  # m/s, of a contact that is closed at the start

    def overlap(self, t: float, y: Array) -> tuple[float, float]:
        """Return d and d'."""
        height, rate = self.motion(t)
        return height - float(y[0]), rate - float(y[1])

    def ratio(self, t: float, y: Array, latch: float) -> float:
        """F/d: it has the sign of F, and is not zero wherever d is."""
        d, rate = self.overlap(t, y)
        d = max(d, SMALL)
        return self.law(d, rate, latch) / d


def _guards(p: Plate, state: str, latch: float):
    """Yield event kind, next state and a guard that falls to zero."""
    if state == OPEN:
        yield "touch_down", PRESSING, lambda t, y: -p.overlap(t, y)[0]
        return
    yield "separate", OPEN, lambda t, y: p.overlap(t, y)[0]
    if state == PRESSING:
        yield "release", RELEASED, lambda t, y: p.ratio(t, y, latch)
    else:
        yield "re_engage", PRESSING, lambda t, y: -p.ratio(t, y, latch)


def run(p: Plate, y: float, v: float, t: ArrayLike) -> Run:
    """Integrate from event to event, DOP853 at rtol 1e-13, to the last of t.

    A start with d = d' = 0 is not decided here.
    """
    t = np.asarray(t, dtype=np.float64)
    until, now = float(t[-1]), float(t[0])
    out = np.full((2, len(t)), np.nan)
    here = np.array([y, v])
    latch = p.latch
    d, rate = p.overlap(now, here)
    state = OPEN
    if d > 0.0 or (d == 0.0 and rate > 0.0):
        state = PRESSING if p.ratio(now, here, latch) >= 0.0 else RELEASED
    changes: list[Change] = []
    while True:

        def slope(s: float, y: Array, state: str = state, latch: float = latch):
            force = 0.0
            if state == PRESSING:
                d, rate = p.overlap(s, y)
                force = p.law(max(d, 0.0), rate, latch)
            return [y[1], force / p.mass - p.gravity]

        arc: Any = solve_ivp(
            slope,
            (now, until),
            here,
            method="DOP853",
            rtol=1e-13,
            atol=1e-15,
            max_step=SHORT,
            dense_output=True,
        )
        found = _first(p, state, latch, arc)
        end = until if found is None else found[0]
        inside = (t >= now) & (t <= end)
        if inside.any():
            out[:, inside] = arc.sol(t[inside])
        if found is None:
            return Run(out[0], out[1], changes)
        now, here = end, arc.sol(end)
        changes.append(Change(end, found[1]))
        state = found[2]
        if found[1] == "touch_down":
            latch = max(0.0, p.overlap(now, here)[1])


def _first(
    p: Plate, state: str, latch: float, arc: Any
) -> tuple[float, str, str] | None:
    """Return the first event of an arc: time, kind and next state."""
    best: tuple[float, str, str] | None = None
    nodes = np.linspace(arc.t[:-1], arc.t[1:], 5)[1:].T.ravel()
    # Events may follow each other in microseconds.
    early = arc.t[0] + SHORT * 0.5 ** np.arange(3, 20)
    nodes = np.sort(np.append(nodes, early[early < arc.t[-1]]))
    for kind, after, guard in _guards(p, state, latch):
        # A guard may start at zero, and counts from where it has left it.
        last = arc.t[0]
        is_away = False
        for s in nodes:
            if best is not None and last >= best[0]:
                break
            value = guard(s, arc.sol(s))
            if value > 0.0:
                is_away = True
            elif is_away:
                root = brentq(lambda x, g=guard: g(x, arc.sol(x)), last, s, xtol=1e-15)
                if best is None or root < best[0]:
                    best = (float(root), kind, after)
                break
            last = s
    return best
