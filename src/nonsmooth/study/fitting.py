"""Parameters from measured series: least squares on columns, with SciPy.

    minimise  sum over columns c and times t_i of ((y_c(t_i; p) - m_ci)/s_c)^2

Where the events of the runs beside the optimum are those at the optimum, columns depend
smoothly on p between them, and derivatives by differences are used (trust region
reflective). Where they differ, residuals have kinks, and the search goes on without
derivatives (Nelder and Mead). `method` of the result says which, and `notes` why.
"""

from __future__ import annotations

import csv
import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats
from scipy.stats import qmc

from nonsmooth.errors import ModelError, NonsmoothWarning, SolveError, nearest
from nonsmooth.model import Model
from nonsmooth.result import Result
from nonsmooth.study.definition import Prepared, Study, prepare
from nonsmooth.study.design import Listed
from nonsmooth.study.reducers import Final

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
# Step of differences as a part of a parameter: the root of the tolerance of a run
# balances its error against that of a difference to one side.
STEP = 2e-4
# A run that fails is worse than any that does not, and by this much.
PENALTY = 1e6
# Combinations of parameters with so little effect, relatively, are not determined:
# derivatives by differences have errors of this size.
BLIND = 1e-7


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What a fit has found.

    Attributes
    ----------
    values : dict
        Parameters at the optimum.
    intervals : dict
        Ends of the confidence interval of each, from the residuals' spread and the
        derivatives at the optimum: exact for columns linear in the parameters and
        independent normal errors.
    confidence : float
        What they cover, 0.95 by default.
    sigma : float
        Standard deviation of the residuals.
    covariance : array
        Of the parameters, in the order of `values`.
    residuals : dict
        Model without data, by column, at `t`.
    method : str
        "differences" or "without derivatives".
    result : Result
        The run at the optimum.
    notes : tuple of str
        What is to be known about it.
    """

    values: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    confidence: float
    sigma: float
    covariance: Floats
    t: Floats
    residuals: dict[str, Floats]
    method: Literal["differences", "without derivatives"]
    n_run: int
    result: Result
    notes: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        """Return a line for each parameter."""
        lines = [
            f"{name} = {value:.6g}  ({self.intervals[name][0]:.6g} to "
            f"{self.intervals[name][1]:.6g}, {self.confidence:.0%})"
            for name, value in self.values.items()
        ]
        return "\n".join([*lines, *self.notes])

    def plot(self, path: str | None = None) -> Figure:
        """Plot the residuals over time."""
        from nonsmooth.views.study_plots import plot_residuals

        return plot_residuals(self, path)


def fit(
    system: str | Model,
    parameters: Mapping[str, tuple[float, float, float]],
    data: Mapping[str, ArrayLike] | str | os.PathLike[str],
    *,
    sigma: Mapping[str, float] | None = None,
    method: Literal["auto", "differences", "without derivatives"] = "auto",
    confidence: float = 0.95,
    starts: int = 1,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Fit:
    """Find parameters with which columns of a run are as measured.

    Parameters
    ----------
    system : str or Model
        A system of the gallery, a model file, or a model.
    parameters : mapping
        Least value, guess and largest value by keyword of the gallery or path.
    data : mapping or path
        Times "t", s, and columns by name; or a CSV file with such a head.
    sigma : mapping, optional
        Standard deviation of the measurements by column; all alike by default.
    method : str
        "auto" looks at the events; see the head of this module.
    confidence : float
        What intervals are to cover.
    starts : int
        Points at which the search may begin: the guess, and others between the bounds
        (Sobol'); it does at the best. More than one where a guess is poor.
    settings : mapping, optional
        Other parameters.
    **options
        As of `Study`: rtol, assemble, ...
    """
    series = _read(data)
    ready, bounds = _ready(system, parameters, series, settings, options)
    if method not in ("auto", "differences", "without derivatives"):
        known = ("auto", "differences", "without derivatives")
        raise ModelError(f"method = {method!r}; {nearest(method, known)}")
    if not 0.0 < confidence < 1.0:
        raise ModelError(f"confidence = {confidence!r}; must lie between 0 and 1")
    if starts < 1:
        raise ModelError(f"starts = {starts!r}; give at least 1")
    n = sum(len(column) for name, column in series.items() if name != "t")
    if n <= len(bounds):
        raise ModelError(f"{n} measurements do not determine {len(bounds)} parameters")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonsmoothWarning)
        search = _Search(ready, bounds, series, dict(sigma or {}))
        search.begin(starts)
        return search.fit(method, confidence)


def _read(data: Mapping[str, ArrayLike] | str | os.PathLike[str]) -> dict[str, Floats]:
    """Return measured series, checked."""
    if isinstance(data, Mapping):
        columns = {k: np.asarray(v, dtype=float) for k, v in data.items()}
        who = "data"
    else:
        who = os.fspath(data)
        with open(data, newline="", encoding="utf-8-sig") as file:
            head, *rows = [row for row in csv.reader(file) if row] or [[]]
        try:
            table = np.array(rows, dtype=float).reshape(len(rows), -1)
        except ValueError as error:
            raise ModelError(f"{who}: {error}; give numbers below one head") from None
        if table.shape[1] != len(head):
            raise ModelError(f"{who}: {len(head)} names above {table.shape[1]} columns")
        columns = {name.strip(): table[:, k] for k, name in enumerate(head)}
    if "t" not in columns or len(columns) < 2:
        raise ModelError(f"{who}: give the times 't', in s, and a column at least")
    t = columns["t"]
    if len(t) == 0 or np.any(np.diff(t) <= 0.0) or t[0] < 0.0:
        raise ModelError(f"{who}: t must begin at 0 s or later, and grow")
    for name, column in columns.items():
        if len(column) != len(t) or not np.all(np.isfinite(column)):
            raise ModelError(
                f"{who}: column '{name}' must have {len(t)} finite numbers"
            )
    return columns


def _ready(
    system: str | Model,
    parameters: Mapping[str, tuple[float, float, float]],
    series: dict[str, Floats],
    settings: Mapping[str, Any] | None,
    options: dict[str, Any],
) -> tuple[Prepared, dict[str, tuple[float, float, float]]]:
    """Return a study whose one point is the guess, and the bounds."""
    bounds: dict[str, tuple[float, float, float]] = {}
    for name, given in parameters.items():
        try:
            low, guess, high = (float(x) for x in given)
        except (TypeError, ValueError):
            low = guess = high = math.nan
        if not low <= guess <= high or low == high:
            raise ModelError(
                f"parameter '{name}' = {given!r}; give (least, guess, largest)"
            )
        bounds[name] = (low, guess, high)
    study = Study(
        system=system,
        settings=dict(settings or {}),
        parameters={k: Listed(values=(b[1],)) for k, b in bounds.items()},
        outputs={
            f"_{k}": Final(column=name) for k, name in enumerate(series) if name != "t"
        },
        until=float(series["t"][-1]),
        **options,
    )
    return prepare(study), bounds


class _Search:
    """A search for the least squares."""

    def __init__(
        self,
        ready: Prepared,
        bounds: dict[str, tuple[float, float, float]],
        series: dict[str, Floats],
        sigma: dict[str, float],
    ) -> None:
        self.ready, self.series = ready, series
        self.names = list(bounds)
        self.columns = [name for name in series if name != "t"]
        for name in sigma:
            if name not in self.columns:
                near = nearest(name, self.columns)
                raise ModelError(f"sigma: no column '{name}'; {near}")
        ends = np.array(list(bounds.values()))
        self.low, self.guess, self.high = ends[:, 0], ends[:, 1], ends[:, 2]
        # In units of a parameter's size, so that one step suits all.
        self.unit = np.where(
            self.guess != 0.0, np.abs(self.guess), self.high - self.low
        )
        self.weight = np.concatenate(
            [
                np.full(len(series["t"]), 1.0 / sigma.get(name, 1.0))
                for name in self.columns
            ]
        )
        self.measured = np.concatenate([series[name] for name in self.columns])
        self.n_run = 0
        self.last: tuple[Floats, Floats] | None = None

    def run(self, u: Floats) -> Result:
        """Run at parameters in their units."""
        self.n_run += 1
        p = np.clip(u * self.unit, self.low, self.high)
        point = dict(zip(self.names, p.tolist(), strict=True))
        return self.ready.simulate(point)

    def residual_of(self, result: Result) -> Floats:
        """Return model without data, in standard deviations."""
        samples = result.sample(self.series["t"], self.columns)
        found = np.concatenate([samples[name] for name in self.columns])
        return (found - self.measured) * self.weight

    def residual(self, u: Floats) -> Floats:
        """Return the residuals; large ones where a run fails."""
        # The search asks for derivatives where it has just asked for this.
        if self.last is not None and np.array_equal(u, self.last[0]):
            return self.last[1]
        try:
            found = self.residual_of(self.run(u))
        except (SolveError, ModelError):
            found = np.full(len(self.measured), PENALTY)
        self.last = (u.copy(), found)
        return found

    def slope(self, u: Floats) -> Floats:
        """Return derivatives by differences to one side: good enough for a search."""
        middle = self.residual(u)
        rows: list[Floats] = []
        for k in range(len(u)):
            beside = u.copy()
            step = STEP * max(abs(u[k]), STEP)
            beside[k] += step if u[k] + step <= self._ends(1)[k] else -step
            rows.append((self.residual(beside) - middle) / (beside[k] - u[k]))
        return np.array(rows).T

    def jacobian(self, u: Floats) -> Floats:
        """Return derivatives by central differences, one-sided at a bound."""
        rows: list[Floats] = []
        for k in range(len(u)):
            ends = np.array([u, u])
            ends[0, k] = max(u[k] - STEP * max(abs(u[k]), STEP), self._ends(0)[k])
            ends[1, k] = min(u[k] + STEP * max(abs(u[k]), STEP), self._ends(1)[k])
            a, b = self.residual(ends[0]), self.residual(ends[1])
            rows.append((b - a) / (ends[1, k] - ends[0, k]))
        return np.array(rows).T

    def _ends(self, side: int) -> Floats:
        return (self.low, self.high)[side] / self.unit

    def has_same_events(self, u: Floats) -> bool:
        """Return whether runs beside u have the events that u has."""
        words = _words(self.run(u))
        for k in range(len(u)):
            for sign in (-1.0, 1.0):
                beside = u.copy()
                beside[k] += sign * STEP * max(abs(u[k]), STEP)
                try:
                    if _words(self.run(beside)) != words:
                        return False
                except (SolveError, ModelError):
                    return False
        return True

    def begin(self, starts: int) -> None:
        """Move the guess to the best of so many points, itself among them."""
        if starts == 1:
            return
        unit = qmc.Sobol(len(self.guess), seed=np.random.default_rng(0))
        part = unit.random_base2(max(starts - 2, 0).bit_length())[: starts - 1]
        tried = [self.guess, *(self.low + part * (self.high - self.low))]
        squares = [float(np.sum(self.residual(p / self.unit) ** 2)) for p in tried]
        self.guess = tried[int(np.argmin(squares))]

    def fit(self, method: str, confidence: float) -> Fit:
        """Search, and say how well the optimum is known."""
        u = self.guess / self.unit
        notes: list[str] = []
        used: Literal["differences", "without derivatives"] = "differences"
        if method != "without derivatives":
            u = self._smooth(u)
            if method == "auto" and not self.has_same_events(u):
                notes.append(
                    "events beside the optimum differ from those at it: residuals have "
                    "kinks there, the search went on without derivatives, and the "
                    "intervals are rough"
                )
                method = "without derivatives"
        if method == "without derivatives":
            used = "without derivatives"
            u = self._simplex(u)
        try:
            result = self.run(u)
        except (SolveError, ModelError) as error:
            raise ModelError(f"no run near the guess succeeds: {error}") from None
        notes += self._at_bounds(u)
        return self._report(u, result, used, confidence, notes)

    def _smooth(self, u: Floats) -> Floats:
        found = optimize.least_squares(
            self.residual,
            u,
            jac=self.slope,  # pyright: ignore[reportArgumentType]
            bounds=(self._ends(0), self._ends(1)),
            x_scale="jac",
            xtol=1e-9,
            ftol=1e-11,
        )
        return np.asarray(found.x)

    def _simplex(self, u: Floats) -> Floats:
        def square(at: Floats) -> float:
            return float(np.sum(self.residual(at) ** 2))

        corners = np.vstack([u, u + 0.02 * np.diag(np.maximum(np.abs(u), 0.05))])
        found = optimize.minimize(
            square,
            u,
            method="Nelder-Mead",
            bounds=list(zip(self._ends(0), self._ends(1), strict=True)),
            options={
                "xatol": 1e-7,
                "fatol": 1e-10,
                "maxfev": 400 * len(u),
                "initial_simplex": np.clip(corners, self._ends(0), self._ends(1)),
            },
        )
        return np.asarray(found.x)

    def _at_bounds(self, u: Floats) -> list[str]:
        p = u * self.unit
        width = 1e-6 * (self.high - self.low)
        is_at = (p <= self.low + width) | (p >= self.high - width)
        return [
            f"{name} = {p[k]:.6g} is at its bound: its interval says nothing"
            for k, name in enumerate(self.names)
            if is_at[k]
        ]

    def _report(
        self,
        u: Floats,
        result: Result,
        used: Literal["differences", "without derivatives"],
        confidence: float,
        notes: list[str],
    ) -> Fit:
        r, jacobian = self.residual_of(result), self.jacobian(u)
        n_free = len(r) - len(u)
        sigma = math.sqrt(float(r @ r) / n_free)
        # By singular values: parameters that the data do not tell apart show.
        _, s, v = np.linalg.svd(jacobian, full_matrices=False)
        is_blind = s <= BLIND * max(float(s[0]), 1.0 / PENALTY)
        seen = np.where(is_blind, 0.0, 1.0 / np.where(is_blind, 1.0, s) ** 2)
        covariance = sigma**2 * (v.T * seen) @ v * np.outer(self.unit, self.unit)
        reach = float(stats.t.ppf(0.5 + 0.5 * confidence, n_free))
        half = reach * np.sqrt(np.diag(covariance))
        unknown = np.max(np.abs(v) * is_blind[:, None], axis=0) > BLIND
        half[unknown] = math.inf
        notes += [
            f"the data do not determine {name}"
            for name, is_unknown in zip(self.names, unknown, strict=True)
            if is_unknown
        ]
        p = u * self.unit
        parts = np.split(r / self.weight, len(self.columns))
        return Fit(
            values=dict(zip(self.names, p.tolist(), strict=True)),
            intervals={
                name: (float(p[k] - half[k]), float(p[k] + half[k]))
                for k, name in enumerate(self.names)
            },
            confidence=confidence,
            sigma=sigma,
            covariance=covariance,
            t=self.series["t"],
            residuals=dict(zip(self.columns, parts, strict=True)),
            method=used,
            n_run=self.n_run,
            result=result,
            notes=tuple(notes),
        )


def _words(result: Result) -> list[tuple[str, str]]:
    return [(event.element, event.kind) for event in result.events]
