"""What a study keeps of a run: numbers and words, computed where the run is.

A reducer is a value with fields, like every element, and a method that reduces a
result. Times in it, such as `last` and `period`, are numbers in s, or expressions of
the study's parameters and settings: `2*pi/rotor_speed`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.base import Element
from nonsmooth.elements.expressions import evaluate
from nonsmooth.errors import ModelError, nearest
from nonsmooth.study import steady

if TYPE_CHECKING:
    from nonsmooth.result import Result

Floats = NDArray[np.float64]
Kept = float | str | list[float]
Time = float | str
# Velocities whose mean is the difference of a position, exactly.
_RATES = {"vx": "x", "vy": "y", "omega": "theta"}
# Nodes of Gauss in each step: exact for the powers of a step's dense output.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)


def time_at(value: Time, values: Mapping[str, float], where: str) -> float:
    """Return a time that may depend on parameters, s."""
    if isinstance(value, str):
        value = evaluate(value, values, where)
    return float(value)


@dataclass(frozen=True, kw_only=True)
class Reducer(Element, family="reducer"):
    """Base of what a study keeps of a run."""

    def reduce(self, result: Result, values: Mapping[str, float]) -> Kept:
        """Return what is kept of a result; `values` are the numbers at its point."""
        raise NotImplementedError

    def names(self) -> tuple[str, ...]:
        """Return the columns it reads."""
        return ()

    def check(self) -> None:
        """Refuse times and counts that are not above zero."""
        for field in ("last", "period", "tolerance", "n"):
            value = getattr(self, field, None)
            if isinstance(value, int | float) and not value > 0:
                raise self.fail(field, value, "must be > 0")

    def _time(self, field: str, values: Mapping[str, float]) -> float:
        time = time_at(getattr(self, field), values, f"{type(self).__name__}: {field}")
        if not time > 0.0:
            raise self.fail(field, time, "must be > 0 s")
        return time


@dataclass(frozen=True, kw_only=True)
class _Column(Reducer):
    """A column, over the last part of a run or all of it."""

    column: str
    last: Time | None = None  # s before the end; the whole run by default

    def names(self) -> tuple[str, ...]:
        """Return the columns it reads."""
        return (self.column,)

    def begin(self, result: Result, values: Mapping[str, float]) -> float:
        """Return where the window begins, s."""
        if self.last is None:
            return result.t_start
        return max(result.t_start, result.t_end - self._time("last", values))

    def both(self, result: Result, values: Mapping[str, float]) -> Floats:
        """Return both limits at the ends of all steps, and values between."""
        begin = self.begin(result, values)
        t = result.t[result.t >= begin]
        if len(t) == 0 or t[0] > begin:
            t = np.insert(t, 0, begin)
        inside = np.concatenate([t[:-1] + x * np.diff(t) for x in (0.25, 0.5, 0.75)])
        parts = [
            result.sample(np.concatenate([t, inside]), self.column)[self.column],
            result.sample(t[1:], self.column, limit="before")[self.column],
        ]
        return np.concatenate(parts)


@dataclass(frozen=True, kw_only=True)
class Final(Reducer):
    """The value at the end."""

    column: str

    def names(self) -> tuple[str, ...]:
        """Return the columns it reads."""
        return (self.column,)

    def reduce(self, result: Result, values: Mapping[str, float]) -> float:
        """Return the value at the end."""
        return float(result.sample(result.t_end, self.column)[self.column][0])


@dataclass(frozen=True, kw_only=True)
class Mean(_Column):
    """The mean over time."""

    def reduce(self, result: Result, values: Mapping[str, float]) -> float:
        """Return the mean, of velocities from positions, else by quadrature."""
        return mean(result, self.column, self.begin(result, values), result.t_end)


@dataclass(frozen=True, kw_only=True)
class Minimum(_Column):
    """The least value, at the ends and quarters of steps."""

    def reduce(self, result: Result, values: Mapping[str, float]) -> float:
        """Return the least value."""
        return float(np.min(self.both(result, values)))


@dataclass(frozen=True, kw_only=True)
class Maximum(_Column):
    """The largest value, at the ends and quarters of steps."""

    def reduce(self, result: Result, values: Mapping[str, float]) -> float:
        """Return the largest value."""
        return float(np.max(self.both(result, values)))


@dataclass(frozen=True, kw_only=True)
class Span(_Column):
    """The largest value without the least."""

    def reduce(self, result: Result, values: Mapping[str, float]) -> float:
        """Return the difference of the extremes."""
        return float(np.ptp(self.both(result, values)))


@dataclass(frozen=True, kw_only=True)
class _OfEvents(Reducer):
    """Events, of one element or kind or all."""

    element: str | None = None
    kind: str | None = None  # "stick", "touch_down", ...
    last: Time | None = None  # s before the end; the whole run by default

    def times(self, result: Result, values: Mapping[str, float]) -> Floats:
        """Return the times of the events in the window, s."""
        begin = -math.inf
        if self.last is not None:
            begin = result.t_end - self._time("last", values)
        t = steady.event_times(result, element=self.element, kind=self.kind)
        return t[t >= begin]


@dataclass(frozen=True, kw_only=True)
class Count(_OfEvents):
    """The number of events."""

    def reduce(self, result: Result, values: Mapping[str, float]) -> float:
        """Return the number of events."""
        return float(len(self.times(result, values)))


@dataclass(frozen=True, kw_only=True)
class FirstTime(_OfEvents):
    """When an event happens first, s; NaN if it does not."""

    def reduce(self, result: Result, values: Mapping[str, float]) -> float:
        """Return the time of the first."""
        return float(next(iter(self.times(result, values)), math.nan))


@dataclass(frozen=True, kw_only=True)
class Period(_OfEvents):
    """The time after which events repeat at the end of a run, s; NaN if they do not."""

    tolerance: float = 1e-6  # of the period

    def reduce(self, result: Result, values: Mapping[str, float]) -> float:
        """Return the time between repetitions, from all in the window."""
        return steady.time_period(self.times(result, values), self.tolerance)


@dataclass(frozen=True, kw_only=True)
class Sequence(_OfEvents):
    """What happens in the window, in order: "left touch_down, right stick, ..."."""

    def reduce(self, result: Result, values: Mapping[str, float]) -> str:
        """Return the events in words."""
        begin = -math.inf
        if self.last is not None:
            begin = result.t_end - self._time("last", values)
        return steady.event_words(result, begin, element=self.element, kind=self.kind)


@dataclass(frozen=True, kw_only=True)
class Stroboscopic(Reducer):
    """Values of a column once in each period, the last n, the latest last."""

    column: str
    period: Time  # s
    n: int = 32

    def names(self) -> tuple[str, ...]:
        """Return the columns it reads."""
        return (self.column,)

    def reduce(self, result: Result, values: Mapping[str, float]) -> list[float]:
        """Return the values at whole multiples of the period."""
        points = steady.stroboscopic(
            result, self._time("period", values), [self.column], n=self.n
        )
        return points[:, 0].tolist()


@dataclass(frozen=True, kw_only=True)
class AtEvents(_OfEvents):
    """Values of a column at events, the last n, the latest last."""

    column: str
    n: int = 32

    def names(self) -> tuple[str, ...]:
        """Return the columns it reads."""
        return (self.column,)

    def reduce(self, result: Result, values: Mapping[str, float]) -> list[float]:
        """Return the values just after the events."""
        t = self.times(result, values)[-self.n :]
        if len(t) == 0:
            return []
        return result.sample(t, self.column)[self.column].tolist()


@dataclass(frozen=True, kw_only=True)
class Multiple(Reducer):
    """After how many periods the motion repeats: 1, 2, ...; 0 if it does not.

    Heights, velocities and angular velocities of all bodies are compared, unless
    columns are given.
    """

    period: Time  # s
    columns: tuple[str, ...] = ()
    tolerance: float = 1e-4  # of the spread of a column
    n: int = 32  # periods looked at, at the end

    def names(self) -> tuple[str, ...]:
        """Return the columns it reads."""
        return self.columns

    def reduce(self, result: Result, values: Mapping[str, float]) -> float:
        """Return the number of periods."""
        period = self._time("period", values)
        names = self.columns or steady.motion_columns(result)
        points = steady.stroboscopic(result, period, names, n=self.n)
        scale = steady.scales(result, names, self.n * period)
        return float(steady.multiple(points, self.tolerance * scale))


@dataclass(frozen=True, kw_only=True)
class EnergyPerCycle(Reducer):
    """Work of an entry of the energy ledger in each of the last periods, on average."""

    work: str  # "motor", "left.friction", ...
    period: Time  # s
    n: int = 1

    def reduce(self, result: Result, values: Mapping[str, float]) -> float:
        """Return the work in a period, J."""
        if self.work not in result.system.works:
            near = nearest(self.work, result.system.works)
            raise self.fail("work", self.work, near)
        span = self.n * self._time("period", values)
        t = [max(result.t_start, result.t_end - span), result.t_end]
        done = result.energies(t).work[self.work]
        return float(done[1] - done[0]) / self.n


@dataclass(frozen=True, kw_only=True)
class WholeRun(Reducer):
    """The run itself, saved beside the study's index as `NUMBER.nsr`."""

    def reduce(self, result: Result, values: Mapping[str, float]) -> str:
        """Return nothing: the run is sent as bytes, not as a value."""
        return ""


@dataclass(frozen=True, kw_only=True)
class _Function(Reducer):
    """A function of the user's own: called with a result, gives a number or a list."""

    function: Any

    def _checked(self, item: Any, annotation: Any, value: Any) -> Any:
        return value

    def reduce(self, result: Result, values: Mapping[str, float]) -> Kept:
        """Call the function."""
        found: Any = self.function(result)
        if isinstance(found, str):
            return found
        try:
            # Nothing would be no number, NaN.
            numbers = np.asarray("" if found is None else found, dtype=float)
        except (TypeError, ValueError):
            name = getattr(self.function, "__qualname__", type(self.function).__name__)
            raise ModelError(
                f"{name} returned {found!r}; it must return a number, a text or a list "
                "of numbers"
            ) from None
        return float(numbers) if numbers.ndim == 0 else numbers.ravel().tolist()


def reducer_of(name: str, given: Any) -> Reducer:
    """Return a reducer: one that is given, or one that calls a function."""
    if isinstance(given, Reducer):
        return given
    if isinstance(given, Callable):
        return _Function(function=given)
    hint = nearest(str(given), Reducer.kinds)
    raise ModelError(
        f"output '{name}' = {given!r}; give a reducer or a function of a result; {hint}"
    )


def function_of(reducer: Reducer) -> Callable[..., Any] | None:
    """Return the user's function that a reducer calls, if it calls one."""
    return reducer.function if isinstance(reducer, _Function) else None


def mean(result: Result, column: str, begin: float, end: float) -> float:
    """Return the mean of a column over an interval."""
    if not end > begin:
        return float(result.sample(end, column)[column][0])
    owner, _, kind = column.rpartition(".")
    place = f"{owner}.{_RATES.get(kind, '')}"
    if place in result.table and column in result.table:
        x = result.sample([begin, end], place)[place]
        return float((x[1] - x[0]) / (end - begin))
    inner = result.t[(result.t > begin) & (result.t < end)]
    t = np.concatenate([[begin], inner, [end]])
    h = np.diff(t)[:, None]
    nodes = t[:-1, None] + 0.5 * (1.0 + _NODES) * h
    y = result.sample(nodes.ravel(), column)[column].reshape(nodes.shape)
    return float(np.sum(0.5 * h * _WEIGHTS * y) / (end - begin))
