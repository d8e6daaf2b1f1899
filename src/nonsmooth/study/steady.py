"""Steady motions by brute force: Poincaré maps, periods, what kind of motion it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.errors import ModelError, nearest

if TYPE_CHECKING:
    from nonsmooth.result import Result

Floats = NDArray[np.float64]
# A multiple of the period this close to the end, relatively, is the end.
_AT_END = 1e-9
# Scales below this part of the largest one of their unit are round-off.
_ROUND_OFF = 1e-9


def stroboscopic(
    result: Result,
    period: float,
    names: Sequence[str],
    *,
    n: int | None = None,
    phase: float = 0.0,
) -> Floats:
    """Return columns at t = (k + phase) period, one row each, the last n of them.

    Parameters
    ----------
    result : Result
    period : float
        Of the excitation, s.
    names : sequence of str
        Columns.
    n : int, optional
        Rows, counted from the end; all by default.
    phase : float
        Part of a period.
    """
    if not (math.isfinite(period) and period > 0.0):
        raise ModelError(f"period = {period!r}; must be > 0 s")
    first = math.ceil(result.t_start / period - phase - _AT_END)
    last = math.floor(result.t_end / period - phase + _AT_END)
    t = (np.arange(first, last + 1) + phase) * period
    t = np.clip(t, result.t_start, result.t_end)
    if len(t) == 0:
        raise ModelError(
            f"no multiple of the period {period:g} s lies within the run, "
            f"{result.t_start:g} to {result.t_end:g} s"
        )
    samples = result.sample(t[-n:] if n else t, list(names))
    return np.column_stack([samples[name] for name in names])


def event_times(
    result: Result, *, element: str | None = None, kind: str | None = None
) -> Floats:
    """Return the times of events, of one element or kind or all, s."""
    _check_event(result, element, kind)
    chosen = [
        record.t
        for record in result.events
        if element in (None, record.element) and kind in (None, record.kind)
    ]
    return np.array(chosen, dtype=float)


def event_map(
    result: Result,
    names: Sequence[str],
    *,
    element: str | None = None,
    kind: str | None = None,
) -> Floats:
    """Return columns just after events, one row each: a Poincaré map of events."""
    t = event_times(result, element=element, kind=kind)
    if len(t) == 0:
        return np.zeros((0, len(names)))
    samples = result.sample(t, list(names))
    return np.column_stack([samples[name] for name in names])


KINDS = (
    *("touch_down", "release", "re_engage", "separate", "stick", "reverse"),
    *("break_away", "change_side", "impact", "rising", "falling"),
)


def _check_event(result: Result, element: str | None, kind: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise ModelError(f"kind = {kind!r}; {nearest(kind, KINDS)}")
    known = (*result.system.with_mode, *result.system.events)
    if element is not None and element not in known:
        raise ModelError(f"element = {element!r}; {nearest(element, known)}")


def event_words(
    result: Result,
    begin: float,
    *,
    element: str | None = None,
    kind: str | None = None,
) -> str:
    """Return the events from a time on in words."""
    _check_event(result, element, kind)
    return ", ".join(
        f"{record.element} {record.kind}"
        for record in result.events
        if record.t >= begin
        and element in (None, record.element)
        and kind in (None, record.kind)
    )


def multiple(points: ArrayLike, tolerance: ArrayLike) -> int:
    """Return after how many rows of a map its points repeat; 0 if they do not.

    The least n with |points[k + n] - points[k]| <= tolerance for the last 2 n rows or
    more, up to half of all rows.
    """
    rows = np.asarray(points, dtype=float)
    for n in range(1, len(rows) // 2 + 1):
        if np.all(np.abs(rows[n:] - rows[:-n])[-max(n, len(rows) // 2) :] <= tolerance):
            return n
    return 0


def time_period(t: ArrayLike, tolerance: float) -> float:
    """Return the time after which instants repeat, s; NaN if they do not.

    Of the last half of them; `tolerance` is a part of the period.
    """
    times = np.asarray(t, dtype=float)
    times = times[len(times) // 2 :]
    for n in range(1, len(times) // 2 + 1):
        gaps = times[n:] - times[:-n]
        if np.ptp(gaps) <= tolerance * np.mean(gaps):
            # From the ends: each instant has an error, and they divide by all between.
            whole = (len(times) - 1) // n
            last = times[len(times) - 1 - whole * n]
            return float((times[-1] - last) / whole)
    return math.nan


def motion_columns(result: Result) -> list[str]:
    """Return columns that repeat in a steady motion, also in one that drifts along x.

    Heights, velocities and angular velocities of bodies. Places along x and angles of
    what turns all round do not repeat; motions that differ by them differ by
    velocities as well.
    """
    system = result.system
    names: list[str] = []
    for body in system.bodies[: system.n_moving]:
        names += [f"{body}.{kind}" for kind in ("y", "vx", "vy", "omega")]
    return [name for name in names if name in result.table]


def scales(result: Result, names: Sequence[str], span: float) -> Floats:
    """Return by how much columns vary over the last span of a run."""
    begin = max(result.t_start, result.t_end - span)
    inner = result.t[result.t > begin]
    samples = result.sample(np.concatenate([[begin], inner]), list(names))
    found = np.array([np.ptp(samples[name]) for name in names])
    sizes = np.array([np.max(np.abs(samples[name])) for name in names])
    return np.maximum(found, _ROUND_OFF * np.maximum(sizes, found))


@dataclass(frozen=True, kw_only=True)
class Motion:
    """What kind of motion a run has reached.

    Attributes
    ----------
    speed : float
        Mean of the column asked for over the periods looked at.
    period : int
        After how many periods of the excitation it repeats; 0 if it does not.
    sequence : str
        Events of one repetition, or of one period where it does not repeat.
    """

    speed: float
    period: int
    sequence: str


def classify(
    result: Result,
    column: str,
    period: float,
    *,
    n: int = 32,
    tolerance: float = 1e-4,
) -> Motion:
    """Return what kind of motion a run has reached at its end.

    Parameters
    ----------
    result : Result
    column : str
        A velocity whose mean tells motions apart, e.g. "box.vx".
    period : float
        Of the excitation, s.
    n : int
        Periods looked at, at the end.
    tolerance : float
        By which points of the stroboscopic map may differ where it repeats, as a part
        of what the columns vary by.
    """
    from nonsmooth.study.reducers import mean

    names = motion_columns(result)
    points = stroboscopic(result, period, names, n=n)
    found = multiple(points, tolerance * scales(result, names, n * period))
    end = math.floor(result.t_end / period + _AT_END) * period
    end = min(end, result.t_end)
    span = period * (n - n % found if found else n)
    begin = max(result.t_start, end - span)
    return Motion(
        speed=mean(result, column, begin, end),
        period=found,
        sequence=_cycle(result, end - period * (found or 1), end),
    )


def _cycle(result: Result, begin: float, end: float) -> str:
    """Return the events between two times, from the first in the alphabet on.

    Two runs of one motion may end at different events of it: it is turned so that the
    words that come first in the dictionary stand first.
    """
    words = [f"{e.element} {e.kind}" for e in result.events if begin < e.t <= end]
    turns = [words[k:] + words[:k] for k in range(len(words))]
    return ", ".join(min(turns, default=words))


def groups(values: ArrayLike, tolerance: float) -> NDArray[np.int64]:
    """Return the number of the group of each value; -1 for NaN.

    Sorted values that follow each other within the tolerance are one group; groups are
    numbered from the smallest values on.
    """
    x = np.asarray(values, dtype=float)
    found = np.full(len(x), -1, dtype=np.int64)
    order = np.flatnonzero(np.isfinite(x))
    order = order[np.argsort(x[order], kind="stable")]
    if len(order):
        found[order] = np.cumsum([0, *(np.diff(x[order]) > tolerance)])
    return found
