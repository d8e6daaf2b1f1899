"""Bifurcation diagrams: a parameter goes up and down, each run starts where one ended.

Motions that coexist show as branches that depend on the direction (hysteresis). Runs of
one direction follow each other, so they cannot be shared out; the two directions can.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ModelError, NonsmoothWarning, SolveError
from nonsmooth.model import Model
from nonsmooth.result import Result, State
from nonsmooth.solve.simulate import simulate
from nonsmooth.study import steady
from nonsmooth.study.definition import Prepared, Study, prepare
from nonsmooth.study.design import Point, values_of
from nonsmooth.study.reducers import AtEvents, Reducer, Stroboscopic, time_at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Direction = Literal["up", "down"]


@dataclass(frozen=True, kw_only=True)
class Branch:
    """One direction of a diagram."""

    direction: Direction
    values: Floats  # of the parameter, in the order of the runs
    points: tuple[Floats, ...]  # of the map at each value; empty where a run failed
    multiples: NDArray[np.int64]  # points after which the map repeats; 0: it does not
    failures: dict[float, str]  # why runs failed, by value


@dataclass(frozen=True, kw_only=True)
class Diagram:
    """A bifurcation diagram."""

    parameter: str
    column: str
    branches: tuple[Branch, ...]

    def hysteresis(self, tolerance: float) -> list[float]:
        """Return the values at which the directions come to different motions.

        Their points differ by more than the tolerance, as sets.
        """
        if len(self.branches) != 2:
            raise ModelError("a diagram of one direction; give directions='both'")
        up, down = self.branches
        found: list[float] = []
        for k, value in enumerate(up.values.tolist()):
            a, b = up.points[k], down.points[len(down.values) - 1 - k]
            if len(a) and len(b) and _apart(a, b) > tolerance:
                found.append(value)
        return found

    def plot(self, path: str | None = None) -> Figure:
        """Plot the points over the parameter, directions in two colours."""
        from nonsmooth.views.study_plots import plot_diagram

        return plot_diagram(self, path)


def _apart(a: Floats, b: Floats) -> float:
    """Return the largest distance of a point of one set from the other set."""
    gaps = np.abs(a[:, None] - b[None, :])
    return float(max(np.max(np.min(gaps, axis=1)), np.max(np.min(gaps, axis=0))))


def bifurcation(
    system: str | Model,
    parameter: str,
    values: Any,
    column: str,
    *,
    period: float | str | None = None,
    event: tuple[str, str] | None = None,
    settle: int = 100,
    n: int = 32,
    directions: Literal["up", "down", "both"] = "both",
    tolerance: float = 1e-4,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Diagram:
    """Follow steady motions while a parameter goes up and down.

    Parameters
    ----------
    system : str or Model
        A system of the gallery, a model file, or a model.
    parameter : str
        Keyword of the gallery or path.
    values
        A list or `Grid`.
    column : str
        What is plotted: its values in a Poincaré map.
    period : float or str, optional
        Of the excitation, s, or an expression of the parameter, `2*pi/rotor_speed`:
        the map is stroboscopic. A run goes on at the phase where the last one ended.
    event : (str, str), optional
        Element and kind, e.g. ("sole", "break_away"): the map is of events, and
        `period` then says how long runs are.
    settle, n : int
        Periods that are left to settle, and looked at after that.
    directions : "up", "down" or "both"
        In which order the values come.
    tolerance : float
        By which points may differ where the map repeats, as a part of their spread.
    settings : mapping, optional
        Other parameters.
    **options
        As of `Study`: rtol, method, ...

    Notes
    -----
    Where the parameter changes the speed of a drive, velocities jump by the impulse of
    joints and drives, as in a start with `assemble`.
    """
    listed = values_of(parameter, values)
    if period is None:
        raise ModelError(
            "period is missing; without one nothing says how long runs are"
        )
    kept: Reducer
    if event is None:
        kept = Stroboscopic(column=column, period=period, n=n)
    else:
        element, kind = event
        kept = AtEvents(column=column, element=element, kind=kind, n=n)
    until = settle + n
    study = Study(
        system=system,
        settings=dict(settings or {}),
        parameters={parameter: listed},
        outputs={"points": kept},
        until=f"{until}*({period})",
        **options,
    )
    ready = prepare(study)
    at: list[float] = sorted(float(x) for x in study.points.columns[parameter])
    wanted: tuple[Direction, ...] = ("up", "down")
    if directions != "both":
        if directions not in wanted:
            raise ModelError(
                f"directions = {directions!r}; give 'up', 'down' or 'both'"
            )
        wanted = (directions,)
    follow = _Follow(ready, parameter, kept, period, until, tolerance)
    with warnings.catch_warnings(), ThreadPoolExecutor(len(wanted)) as pool:
        warnings.simplefilter("ignore", NonsmoothWarning)
        jobs = [
            pool.submit(follow.branch, way, at if way == "up" else at[::-1])
            for way in wanted
        ]
        branches = tuple(job.result() for job in jobs)
    return Diagram(parameter=parameter, column=column, branches=branches)


@dataclass(frozen=True)
class _Follow:
    """Carries a motion from value to value."""

    ready: Prepared
    parameter: str
    kept: Reducer
    period: float | str
    n_period: int
    tolerance: float

    def branch(self, direction: Direction, values: Sequence[float]) -> Branch:
        """Return one direction."""
        points: list[Floats] = []
        multiples: list[int] = []
        failures: dict[float, str] = {}
        last: tuple[State, float] | None = None
        for value in values:
            numbers = self.ready.numbers({self.parameter: value})
            period = time_at(self.period, numbers, "period")
            try:
                result = self._run(value, period, last)
            except (SolveError, ModelError) as error:
                # The next begins anew.
                failures[value] = str(error)
                points.append(np.zeros(0))
                multiples.append(0)
                last = None
                continue
            kept = np.array(self.kept.reduce(result, numbers), dtype=float)
            points.append(kept)
            spread = max(float(np.ptp(kept)), self._size(result, period))
            found = steady.multiple(kept[:, None], self.tolerance * spread)
            multiples.append(found)
            last = (result.state(), period)
        return Branch(
            direction=direction,
            values=np.array(values),
            points=tuple(points),
            multiples=np.array(multiples, dtype=np.int64),
            failures=failures,
        )

    def _size(self, result: Result, period: float) -> float:
        """Return by how much the column varies within a period."""
        column: Any = self.kept.names()[0]
        return float(steady.scales(result, [column], period)[0])

    def _run(
        self, value: float, period: float, last: tuple[State, float] | None
    ) -> Result:
        """Run at one value, from where the last one ended, at the same phase."""
        point: Point = {self.parameter: value}
        if last is None:
            return self.ready.simulate(point)
        model, study = self.ready.model(point), self.ready.study
        state, old = last
        # A whole number of periods is one again, also after rounding.
        n_done = state.t / old
        whole = round(n_done)
        n_done = whole if math.isclose(n_done, whole, rel_tol=1e-9) else n_done
        start = replace(state, t=n_done * period)
        end = (n_done + self.n_period) * period
        return simulate(model, end, start=start, assemble=True, **study.options())
