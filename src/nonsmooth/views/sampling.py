"""Samples of a run for drawing: few of them, with events exact.

Every arc begins with the values after its first event and ends with those before
its last, so that a jump has both one-sided values. Between them, samples are where
straight lines through them would leave the curves.

How many are needed is found on a fine grid. An arc is halved, and halved again, as
long as a line misses some quantity by more than the finest tolerance. Each sample
so found remembers the tolerance below which it is needed:

    key = min(error of the interval that it halves, key of the interval around that)

so that a coarser sampling is a selection from the finest one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.views import contacts

if TYPE_CHECKING:
    from nonsmooth.result import Result

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Quantities at increasing times, one column each. The flag says at which of them the
# values before an event are wanted.
Evaluate = Callable[[Floats, NDArray[np.bool_]], Floats]

# Errors of straight lines beside the range of a quantity: the best that is tried,
# which is a third of a pixel in a plot of 600, and the worst that is accepted.
FINEST, COARSEST = 5e-4, 5e-2
# Parts of each step in the fine grid at most, and numbers in all, if steps alone are
# not more. The dense output is a polynomial of degree 7 in each step.
MOST_PARTS, MANY_NUMBERS = 64, 16_000_000
# Numbers held at once, so that large models fit in memory.
BATCH = 4_000_000
# Rounding to single precision: a quantity is not resolved beyond that.
SINGLE = 1.2e-7
# A column of a small range is held to this part of the largest range of its unit.
SMALL = 1e-5
# Steps, all over the run, in which noise is looked for, and their parts.
FEW_STEPS, NOISE_PARTS = 256, 16
# The noise may be this much more in other steps; a column with more than this part of
# its range is nothing but noise.
NOISE_MARGIN, PURE = 2.0, 0.1


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Instants of a run, arc by arc."""

    t: Floats  # (n) s
    is_last: NDArray[np.bool_]  # (n) ends an arc: the values before are meant
    arcs: Ints  # (n_arc + 1) first instant of each arc, then n

    def __len__(self) -> int:
        """Return the number of instants."""
        return len(self.t)

    def at(self, chosen: NDArray[np.bool_]) -> Grid:
        """Return some of the instants; the ends of arcs must be among them."""
        number = np.concatenate([[0], np.cumsum(chosen)])
        return Grid(
            t=self.t[chosen], is_last=self.is_last[chosen], arcs=number[self.arcs]
        )


@dataclass(frozen=True, kw_only=True)
class Keys:
    """A fine grid, and below which tolerance each of its instants is needed."""

    grid: Grid
    key: Floats  # (n) infinite for those that are always needed
    error: float  # of lines between neighbours of the grid, estimated
    noise: float  # that was not resolved

    def reached(self, tolerance: float) -> float:
        """Return the tolerance that the instants for a tolerance keep to."""
        return max(tolerance, self.error) + self.noise

    def at(self, tolerance: float) -> Grid:
        """Return the instants that a tolerance needs."""
        return self.grid.at(self.key > tolerance)


@dataclass(frozen=True, kw_only=True)
class Scales:
    """How errors of columns are measured.

    The size is the range of a column, but not less than a small part of the largest
    range of its unit. Noise, as of a force that is round-off, is not resolved.
    """

    size: Floats  # (n_column)
    # Errors that lines may have in addition, of the size; infinite for nothing but
    # noise.
    noise: Floats  # (n_column)

    @property
    def error(self) -> float:
        """Noise of columns that are more than noise."""
        return float(np.max(self.noise[np.isfinite(self.noise)], initial=0.0))


def fine_grid(result: Result, width: int) -> Grid:
    """Return the ends of all steps, instants inside them, and all events.

    There are fewer instants if there are many numbers, the `width`, at each.
    """
    ends, begins = result.t, contacts.arc_begins(result)
    n_step = len(ends) - 1
    parts = _parts(n_step * width)
    part = np.arange(parts) / parts
    inner = (ends[:-1, None] + part * np.diff(ends)[:, None]).reshape(-1)
    arc_of_step = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, n_step)))
    step = np.repeat(np.arange(n_step), parts)
    # An event that changes no mode lies inside an arc.
    events = np.unique(result.events.t)
    events = events[(events > ends[0]) & (events < ends[-1])]
    events = events[~np.isin(events, ends)]
    where = np.searchsorted(ends, events, side="right") - 1
    # The end of each arc is an instant of its own, before the next one begins.
    lasts = np.append(begins[1:], n_step)
    t = np.concatenate([inner, events, ends[lasts]])
    arc = np.concatenate(
        [arc_of_step[step], arc_of_step[where], np.arange(len(begins))]
    )
    is_last = np.zeros(len(t), dtype=bool)
    is_last[len(t) - len(lasts) :] = True
    order = np.lexsort((is_last, t, arc))
    t, arc, is_last = t[order], arc[order], is_last[order]
    arcs = np.searchsorted(arc, np.arange(len(begins) + 1))
    return Grid(t=t, is_last=is_last, arcs=arcs.astype(np.int64))


def _parts(n_number: int) -> int:
    """Return into how many parts the fine grid divides each step."""
    parts = 1
    while 2 * parts * n_number <= MANY_NUMBERS and parts < MOST_PARTS:
        parts *= 2
    return parts


def find_keys(grid: Grid, needed: Floats, evaluate: Evaluate, scales: Scales) -> Keys:
    """Find which instants of a fine grid are needed for which tolerance.

    Parameters
    ----------
    grid : Grid
    needed : (n) array
        Instants that are samples in any case, s, beside the ends of arcs.
    evaluate : callable
        Returns quantities at instants, one column for each.
    scales : Scales
        How errors are measured.
    """
    key = np.zeros(len(grid))
    firsts, lasts = grid.arcs[:-1], grid.arcs[1:] - 1
    key[firsts] = key[lasts] = np.inf
    key[np.isin(grid.t, needed)] = np.inf
    error = 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        for begin, end in _chunks(grid, len(scales.size)):
            key[begin] = key[end - 1] = np.inf
            part = slice(begin, end)
            values = evaluate(grid.t[part], grid.is_last[part]) / scales.size
            # Where a run fails, a law may have no value.
            values[~np.isfinite(values)] = 0.0
            left = _halve(grid.t[part], values, scales.noise, key[part])
            error = max(error, left)
    return Keys(grid=grid, key=key, error=error, noise=scales.error)


def _chunks(grid: Grid, width: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole arcs, or of parts of an arc with a common end."""
    size = max(64, BATCH // max(1, width))
    begin, n = 0, len(grid)
    while begin < n:
        end = min(n, begin + size)
        if end < n:
            # Back to the last arc that ends inside.
            whole = int(grid.arcs[np.searchsorted(grid.arcs, end, side="right") - 1])
            if whole > begin:
                yield begin, whole
                begin = whole
                continue
            yield begin, end
            begin = end - 1
            continue
        yield begin, end
        return


def _halve(t: Floats, values: Floats, noise: Floats, key: Floats) -> float:
    """Write the keys between instants that have one; return the error left."""
    fixed = np.flatnonzero(np.isinf(key))
    low, high = fixed[:-1], fixed[1:]
    around = np.full(len(low), np.inf)
    left = 0.0
    while True:
        wide = high - low > 1
        low, high, around = low[wide], high[wide], around[wide]
        if len(low) == 0:
            return left
        found = _errors(t, values, noise, low, high)
        is_split = found > FINEST
        low, high = low[is_split], high[is_split]
        around = np.minimum(around[is_split], found[is_split])
        middle = (low + high) // 2
        key[middle] = around
        # A line half as long misses a parabola by a quarter.
        narrow = high - low <= 3
        left = max(left, 0.25 * float(np.max(around[narrow], initial=0.0)))
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        around = np.concatenate([around, around])


def _errors(t: Floats, values: Floats, noise: Floats, low: Ints, high: Ints) -> Floats:
    """Return by how much lines over intervals miss what is inside, at most."""
    count = high - low - 1
    begin = np.concatenate([[0], np.cumsum(count)[:-1]])
    owner = np.repeat(np.arange(len(low)), count)
    inside = low[owner] + 1 + np.arange(len(owner)) - begin[owner]
    a, b = low[owner], high[owner]
    span = t[b] - t[a]
    part = np.divide(t[inside] - t[a], span, out=np.zeros(len(a)), where=span > 0.0)
    missed = values[b]
    missed -= values[a]
    missed *= part[:, None]
    missed += values[a]
    missed -= values[inside]
    np.abs(missed, out=missed)
    missed -= noise
    return np.maximum.reduceat(missed.max(axis=1, initial=0.0), begin)


def find_scales(result: Result, evaluate: Evaluate, units: Sequence[str]) -> Scales:
    """Return to what errors of columns are relative, and how noisy these are."""
    ends = result.t
    few = np.linspace(0, len(ends) - 2, _few(len(ends) - 1, len(units)))
    few = np.unique(few.astype(int))
    part = np.arange(NOISE_PARTS) / NOISE_PARTS
    inner = ends[few, None] + part * np.diff(ends)[few, None]
    values = evaluate(inner.reshape(-1), np.zeros(inner.size, dtype=bool))
    low, high = _extremes(values)
    size = max(1, BATCH // len(units))
    for begin in range(0, len(ends), size):
        t = ends[begin : begin + size]
        least, most = _extremes(evaluate(t, np.zeros(len(t), dtype=bool)))
        low, high = np.fmin(low, least), np.fmax(high, most)
    low, high = np.nan_to_num(low), np.nan_to_num(high)
    scale = np.maximum(high - low, SINGLE / FINEST * np.maximum(-low, high))
    names = np.array(units)
    for unit in set(units):
        same = names == unit
        scale[same] = np.maximum(scale[same], SMALL * scale[same].max())
    scale = np.where(scale > 0.0, scale, 1.0)
    # The error of a line twice as long is four times as large, if it is not noise.
    curves = values.reshape(len(few), NOISE_PARTS, -1) / scale
    short, long = _bend(curves), _bend(curves[:, ::2])
    is_noise = (short > FINEST) & (long < 1.5 * short)
    noise = np.where(is_noise, NOISE_MARGIN * short, 0.0)
    return Scales(size=scale, noise=np.where(noise < PURE, noise, np.inf))


def _few(n_step: int, width: int) -> int:
    """Return in how many steps noise is looked for."""
    return max(1, min(n_step, FEW_STEPS, BATCH // (NOISE_PARTS * width)))


def _extremes(values: Floats) -> tuple[Floats, Floats]:
    return np.fmin.reduce(values), np.fmax.reduce(values)


def _bend(curves: Floats) -> Floats:
    """Return by how much lines between next but one points miss those between."""
    missed = curves[:, 1:-1] - 0.5 * (curves[:, :-2] + curves[:, 2:])
    return np.nan_to_num(np.abs(missed)).max(axis=(0, 1))
