"""Columns of a result along its arcs, as lines of a plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ModelError
from nonsmooth.result.samples import names_of
from nonsmooth.views import contacts
from nonsmooth.views.sampling import sample

if TYPE_CHECKING:
    from nonsmooth.result import Result

Floats = NDArray[np.float64]

# Points inside each step: the dense output is a polynomial of degree 7 at most.
POINTS_PER_STEP = 12
# Points over the whole run, where steps are long; and where they are many.
MIN_POINTS, MAX_POINTS = 600, 20_000


def arc_times(result: Result) -> list[Floats]:
    """Return times that resolve every arc, both of its ends included."""
    steps, ends = result.steps, result.t
    n = len(steps.t)
    if n == 0:
        raise ModelError(f"there is nothing to plot: {result.message}")
    spacing = (result.t_end - result.t_start) / MIN_POINTS
    inside = max(1, min(POINTS_PER_STEP, MAX_POINTS // n))
    stride = max(1, n // MAX_POINTS)
    firsts = contacts.arc_begins(result)
    arcs: list[Floats] = []
    for begin, end in zip(firsts, [*firsts[1:], n], strict=True):
        t0 = ends[begin:end:stride]
        t1 = np.append(t0[1:], ends[end])
        count = np.maximum(inside, np.ceil((t1 - t0) / spacing)).astype(int)
        parts: list[Floats] = [
            np.linspace(float(a), float(b), int(k), endpoint=False)
            for a, b, k in zip(t0, t1, count, strict=True)
        ]
        arcs.append(np.append(np.concatenate(parts), ends[end]))
    return arcs


def sample_arcs(result: Result, names: Sequence[str]) -> dict[str, Floats]:
    """Sample every arc up to both of its ends, with a NaN between arcs.

    At a jump both one-sided values appear, and no line joins them.
    """
    arcs = arc_times(result)
    inner = sample(result, np.concatenate([t[:-1] for t in arcs]), names)
    last = sample(result, np.array([t[-1] for t in arcs]), names, "before")
    begins = np.cumsum([0, *(len(t) - 1 for t in arcs)])
    columns = {"t": np.concatenate([[*t, np.nan] for t in arcs])}
    for name in names:
        parts = [
            [*inner[name][begins[k] : begins[k + 1]], last[name][k], np.nan]
            for k in range(len(arcs))
        ]
        columns[name] = np.concatenate(parts)
    return columns


def listed(names: str | Sequence[str]) -> list[str]:
    """Return names once each, at least one."""
    chosen = names_of(names)
    if not chosen:
        raise ModelError("names = []; give at least one")
    return list(dict.fromkeys(chosen))
