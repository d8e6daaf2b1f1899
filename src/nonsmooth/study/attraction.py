"""Basins of attraction: which steady motion each start comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.model import Model
from nonsmooth.study.reducers import Mean, Multiple
from nonsmooth.study.steady import groups
from nonsmooth.study.sweeping import sweep
from nonsmooth.study.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Basins:
    """Starts by the motion they come to.

    Attributes
    ----------
    table : Table
        All runs, with the columns `mean_speed` and `multiple`.
    group : array
        Number of the motion each start comes to; -1 where a run failed.
    speeds : array
        Middle of the speeds of each motion.
    counts : array
        Starts that come to each.
    """

    table: Table
    group: NDArray[np.int64]
    speeds: NDArray[np.float64]
    counts: NDArray[np.int64]

    def plot(
        self, x: str | None = None, y: str | None = None, path: str | None = None
    ) -> Figure:
        """Plot starts over two of their parameters, a colour for each motion."""
        from nonsmooth.views.study_plots import plot_basins

        return plot_basins(self, x, y, path)


def basins(
    system: str | Model,
    starts: Mapping[str, Any],
    column: str,
    *,
    period: float | str,
    n_periods: int,
    tolerance: float,
    last: int = 100,
    **options: Any,
) -> Basins:
    """Return which motion each of many starts comes to, told by its mean speed.

    Parameters
    ----------
    system : str or Model
        See `sweep`.
    starts : mapping
        Values by parameter, as of `sweep`: `Grid`s are crossed, `Between` is drawn.
    column : str
        A velocity whose mean tells motions apart.
    period : float or str
        Of the excitation, s, or an expression of parameters.
    n_periods : int
        How long each run is.
    tolerance : float
        Gap between the speeds of two motions, in the column's unit.
    last : int
        Periods at the end over which the mean is taken.
    **options
        As of `sweep`: settings, samples, seed, store, executor, rtol, ...
    """
    table = sweep(
        system,
        starts,
        {
            "mean_speed": Mean(column=column, last=f"{last}*({period})"),
            "multiple": Multiple(period=period, n=min(48, n_periods)),
        },
        until=f"{n_periods}*({period})",
        **options,
    )
    return grouped(table, tolerance)


def grouped(table: Table, tolerance: float, output: str = "mean_speed") -> Basins:
    """Return the starts of a table by one of its outputs."""
    found = groups(table[output], tolerance)
    n = int(found.max(initial=-1)) + 1
    members = [table[output][found == k] for k in range(n)]
    return Basins(
        table=table,
        group=found,
        speeds=np.array([np.median(own) for own in members]),
        counts=np.array([len(own) for own in members], dtype=np.int64),
    )
