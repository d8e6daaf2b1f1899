"""Samples of a run for drawing: few of them, with events exact.

Every arc begins with the values after its first event and ends with those before
its last, so that a jump has both one-sided values. Between them, samples are where
straight lines through them would leave the curves.

How many are needed is found on a fine grid, which has more parts in a step where
curves bend in it. An arc is halved, and halved again, as
long as a line misses some quantity by more than the finest tolerance. Each sample
so found remembers the tolerance below which it is needed:

    key = min(error of the interval that it halves, key of the interval around that)

so that a coarser sampling is a selection from the finest one.

Steps are as long as the equations of motion allow, and a body that turns evenly needs
few of them. Its points go in circles all the same: the fine grid divides steps by the
angles that bodies turn through as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth import columns
from nonsmooth.views import contacts

if TYPE_CHECKING:
    from nonsmooth.pack import System
    from nonsmooth.result import Limit, Result

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Quantities at increasing times, one column each. The flag says at which of them the
# values before an event are wanted.
Evaluate = Callable[[Floats, NDArray[np.bool_]], Floats]

# Errors of straight lines beside the range of a quantity: the best that is tried,
# which is a third of a pixel in a plot of 600, and the worst that is accepted.
FINEST, COARSEST = 5e-4, 5e-2
# Parts of each step in the fine grid, least and most, and numbers in all, if steps are
# not more by themselves. The dense output is a polynomial of degree 7 in each step.
FEW_PARTS, MOST_PARTS, MANY_NUMBERS = 4, 64, 16_000_000
# Numbers evaluated but not shown that cost as much as one that is shown.
HIDDEN = 4
# Lines over two parts may miss this much of the finest tolerance: over one, a quarter.
RESOLVED = 0.4
# Parts of a turn of any body: lines miss a circle by 1 - cos(pi/128) = 3e-4 of its
# radius, and what goes twice as fast, as squares do, by 1.2e-3. The finest tolerance
# is 1e-3 of a radius.
PER_TURN = 128
# Instants of a step at which angular velocities are looked at.
RATE_PARTS = 8
# Numbers held at once, so that large models fit in memory.
BATCH = 4_000_000
# Rounding to single precision: a quantity is not resolved beyond that. Places are
# stored from an origin nearby, and resolved up to the round-off of a run.
SINGLE, DOUBLE = 1.2e-7, 1e-13
# A column of a small range is held to this part of the largest range of its unit.
SMALL = 1e-5
# Steps, all over the run, in which noise is looked for, and their parts.
FEW_STEPS, NOISE_PARTS = 256, 16
# Parts in which noise is looked for are not more of a turn than this, rad: what goes in
# circles, up to four times as fast, is then a smooth curve. All of them are one turn.
NOISE_TURN = 0.4
# The noise may be this much more in other steps; a column with more than this part of
# its range is nothing but noise.
NOISE_MARGIN, PURE = 2.0, 0.1


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Instants of a run, arc by arc."""

    t: Floats  # (n) s
    is_last: NDArray[np.bool_]  # (n) ends an arc: the values before are meant
    arcs: Ints  # (n_arc + 1) first instant of each arc, then n
    turn: float = 0.0  # rad, by which a body may turn between neighbours

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


def batch(system: System) -> int:
    """Return at how many instants a result may be evaluated at once."""
    return max(1, BATCH // columns.width(system))


def sample(
    result: Result, t: Floats, names: Sequence[str], limit: Limit = "after"
) -> dict[str, Floats]:
    """Sample in batches: a result evaluates every quantity of the model at once."""
    size = batch(result.system)
    found = {name: np.empty(len(t)) for name in names}
    for begin in range(0, len(t), size):
        part = slice(begin, begin + size)
        samples = result.sample(t[part], names, limit)
        for name in names:
            found[name][part] = samples[name]
    return found


def find_turns(result: Result, rates: Evaluate, n_rate: int) -> Floats:
    """Return by how much any body turns in each step at most, rad.

    Parameters
    ----------
    result : Result
    rates : callable
        Returns angular velocities at instants, one column for each.
    n_rate : int
        Number of these columns.
    """
    ends = result.t
    n_step = len(ends) - 1
    turns = np.zeros(n_step)
    if n_rate == 0:
        return turns
    # States are read whole for the sake of a few rates.
    width = max(n_rate, result.system.tables.n_y)
    parts = max(1, min(RATE_PARTS, BATCH // (n_step * width)))
    part = (np.arange(parts) + 0.5) / parts
    size = max(1, BATCH // (parts * width))
    for begin in range(0, n_step, size):
        some = slice(begin, min(begin + size, n_step))
        h = np.diff(ends)[some]
        t = (ends[:-1][some, None] + part * h[:, None]).reshape(-1)
        omega = np.abs(rates(t, np.zeros(len(t), dtype=bool))).max(axis=1)
        omega = np.where(np.isfinite(omega), omega, 0.0)
        turns[some] = h * omega.reshape(-1, parts).max(axis=1)
    return turns


def find_parts(
    result: Result, evaluate: Evaluate, scales: Scales, turns: Floats
) -> Ints:
    """Return into how many parts the fine grid divides each step.

    Parameters
    ----------
    result : Result
    evaluate : callable
        Returns quantities at instants, one column for each.
    scales : Scales
        How errors are measured.
    turns : (n_step) array
        By how much bodies turn in each step at most, rad.
    """
    width, n_step = len(scales.size), len(turns)
    # Each instant costs what is evaluated there, whatever is shown of it.
    cost = max(width, columns.width(result.system) // HIDDEN)
    most = _most_parts(n_step * cost)
    parts = np.full(n_step, most, dtype=np.int64)
    size = max(1, BATCH // (FEW_PARTS * width))
    for begin in range(0, n_step if most > FEW_PARTS else 0, size):
        some = slice(begin, begin + size)
        h = np.diff(result.t)[some] / FEW_PARTS
        t, is_last = _row(result.t[:-1][some] + 0.5 * h, h, FEW_PARTS)
        curves = evaluate(t, is_last).reshape(len(h), FEW_PARTS, width) / scales.size
        missed = np.max(_bends(curves) - scales.noise, axis=(1, 2), initial=0.0)
        # A line half as long misses a parabola by a quarter.
        halvings = 0.5 * np.log2(np.maximum(missed / (RESOLVED * FINEST), 1.0))
        finer = FEW_PARTS * 2.0 ** np.ceil(np.minimum(halvings, math.log2(most)))
        parts[some] = np.minimum(finer, most)
    # Not more than can be held, before they become whole numbers.
    more = np.minimum(turns / (2.0 * np.pi) * PER_TURN, MANY_NUMBERS) - parts
    more = np.maximum(np.ceil(more), 0.0)
    many = MANY_NUMBERS / width
    if more.sum() > many:
        more *= many / more.sum()
    return parts + more.astype(np.int64)


def _most_parts(n_number: int) -> int:
    """Return into how many parts each step may be divided, if all are."""
    parts = 1
    while 2 * parts * n_number <= MANY_NUMBERS and parts < MOST_PARTS:
        parts *= 2
    return parts


def fine_grid(result: Result, parts: Ints, turns: Floats | None = None) -> Grid:
    """Return the ends of all steps, instants inside them, and all events.

    Each step is divided into `parts`; in it bodies turn by `turns`.
    """
    ends, begins = result.t, contacts.arc_begins(result)
    n_step = len(ends) - 1
    turns = np.zeros(n_step) if turns is None else turns
    step = np.repeat(np.arange(n_step), parts)
    number = np.arange(len(step)) - np.repeat(np.cumsum(parts) - parts, parts)
    inner = ends[step] + number / parts[step] * np.diff(ends)[step]
    arc_of_step = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, n_step)))
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
    turn = float(np.max(turns / parts, initial=0.0))
    return Grid(t=t, is_last=is_last, arcs=arcs.astype(np.int64), turn=turn)


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
    # What goes in a circle, between neighbours: half the range less its cosine. Too few
    # instants in a turn do not show how much is missed.
    error = max(error, 0.5 - 0.5 * math.cos(min(0.5 * grid.turn, math.pi)))
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


def find_scales(
    result: Result,
    evaluate: Evaluate,
    units: Sequence[str],
    *,
    is_place: NDArray[np.bool_] | None = None,
    turns: Floats | None = None,
) -> Scales:
    """Return to what errors of columns are relative, and how noisy these are.

    Parameters
    ----------
    result : Result
    evaluate : callable
        Returns quantities at instants, one column for each.
    units : sequence of str
        Of the columns.
    is_place : (n_column) array, optional
        Which columns are stored from an origin nearby.
    turns : (n_step) array, optional
        By how much bodies turn in each step at most, rad.
    """
    ends = result.t
    few = np.linspace(0, len(ends) - 2, _few(len(ends) - 1, len(units)))
    few = np.unique(few.astype(int))
    h = np.diff(ends)[few] / NOISE_PARTS
    values = evaluate(*_row(ends[few], h, NOISE_PARTS))
    low, high = _extremes(values)
    if turns is not None and np.any(turns[few] > NOISE_PARTS * NOISE_TURN):
        # In the whole of a step, turns would look like noise.
        parts = np.maximum(turns[few] / NOISE_PARTS / NOISE_TURN, 1.0)
        values = evaluate(*_row(ends[few], h / parts, NOISE_PARTS))
        least, most = _extremes(values)
        low, high = np.fmin(low, least), np.fmax(high, most)
    size = max(1, BATCH // len(units))
    for begin in range(0, len(ends), size):
        t = ends[begin : begin + size]
        least, most = _extremes(evaluate(t, np.zeros(len(t), dtype=bool)))
        low, high = np.fmin(low, least), np.fmax(high, most)
    low, high = np.nan_to_num(low), np.nan_to_num(high)
    resolved = np.where(False if is_place is None else is_place, DOUBLE, SINGLE)
    scale = np.maximum(high - low, resolved / FINEST * np.maximum(-low, high))
    names = np.array(units)
    for unit in set(units):
        same = names == unit
        scale[same] = np.maximum(scale[same], SMALL * scale[same].max())
    scale = np.where(scale > 0.0, scale, 1.0)
    # The error of a line twice as long is four times as large, if it is not noise.
    curves = values.reshape(len(few), NOISE_PARTS, -1) / scale
    short, long = (_bends(c).max(axis=(0, 1)) for c in (curves, curves[:, ::2]))
    is_noise = (short > FINEST) & (long < 1.5 * short)
    noise = np.where(is_noise, NOISE_MARGIN * short, 0.0)
    return Scales(size=scale, noise=np.where(noise < PURE, noise, np.inf))


def _row(begins: Floats, h: Floats, n: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Return n instants that follow each of some, a step h apart."""
    t = (begins[:, None] + np.arange(n) * h[:, None]).reshape(-1)
    return t, np.zeros(len(t), dtype=bool)


def _few(n_step: int, width: int) -> int:
    """Return in how many steps noise is looked for."""
    return max(1, min(n_step, FEW_STEPS, BATCH // (NOISE_PARTS * width)))


def _extremes(values: Floats) -> tuple[Floats, Floats]:
    return np.fmin.reduce(values), np.fmax.reduce(values)


def _bends(curves: Floats) -> Floats:
    """Return by how much lines between next but one points miss those between."""
    missed = curves[:, 1:-1] - 0.5 * (curves[:, :-2] + curves[:, 2:])
    return np.nan_to_num(np.abs(missed))
