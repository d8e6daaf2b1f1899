"""Which points a study visits: values of its parameters, crossed, zipped or sampled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.base import Element
from nonsmooth.errors import ModelError

# Whole numbers first: a file reads a number as the first type that it fits.
Scalar = int | float | str | bool
Point = dict[str, Scalar]

# Points of one study: beyond this its table would not fit into memory.
MAX_POINTS = 20_000_000
# Sobol' sequences of SciPy have directions for so many dimensions.
MAX_SOBOL = 21_201


@dataclass(frozen=True, kw_only=True)
class Values(Element, family="values"):
    """Values of one parameter."""

    def listed(self) -> list[Scalar] | None:
        """Return the values in order; None if they are drawn."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Listed(Values):
    """Given values: numbers, or choices of a gallery keyword."""

    values: tuple[Scalar, ...]

    def check(self) -> None:
        """Refuse an empty list."""
        if not self.values:
            raise self.fail("values", self.values, "give at least one value")

    def listed(self) -> list[Scalar]:
        """Return the values."""
        return list(self.values)


@dataclass(frozen=True, kw_only=True)
class Grid(Values):
    """n values from low to high, both included, evenly spaced or in equal ratios."""

    low: float
    high: float
    n: int
    scale: Literal["linear", "log"] = "linear"

    def check(self) -> None:
        """Refuse what has no points, or no logarithm."""
        if self.n < 1:
            raise self.fail("n", self.n, "the grid is empty; give at least 1")
        if self.n > MAX_POINTS:
            raise self.fail("n", self.n, f"give at most {MAX_POINTS}")
        _check_ends(self, self.low, self.high, self.scale)

    def listed(self) -> list[Scalar]:
        """Return the values."""
        if self.scale == "log":
            return np.geomspace(self.low, self.high, self.n).tolist()
        return np.linspace(self.low, self.high, self.n).tolist()


@dataclass(frozen=True, kw_only=True)
class Between(Values):
    """Drawn between low and high; the study's `sampling`, `samples`, `seed` say how."""

    low: float
    high: float
    scale: Literal["linear", "log"] = "linear"

    def check(self) -> None:
        """Refuse what has no logarithm."""
        _check_ends(self, self.low, self.high, self.scale)

    def listed(self) -> None:
        """Return None: its values are drawn."""

    def at(self, part: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values at parts of the interval, 0 to 1."""
        if self.scale == "log":
            return self.low * (self.high / self.low) ** part
        return self.low + (self.high - self.low) * part


def _check_ends(own: Element, low: float, high: float, scale: str) -> None:
    if not low <= high:
        raise own.fail("high", high, f"must be >= low = {low:g}")
    if scale == "log" and not low > 0.0:
        raise own.fail("low", low, "must be > 0 on a logarithmic scale")


def values_of(name: str, given: Any) -> Values:
    """Return values from a list, a range of whole numbers, one value, or `Values`."""
    if isinstance(given, Values):
        return given
    if hasattr(given, "tolist"):
        given = given.tolist()
    items: Any = [given] if isinstance(given, Scalar) else given
    try:
        return Listed(values=tuple(items))
    except (TypeError, ModelError) as error:
        raise ModelError(f"parameter '{name}': {error}") from None


@dataclass(frozen=True, kw_only=True)
class Points:
    """The points of a study.

    Dimensions are those of a labelled array: each listed parameter one of its own if
    they are crossed; those that are drawn, or zipped, one together.
    """

    columns: dict[str, list[Scalar]]  # by parameter, each as long as there are points
    dims: dict[str, int] = field(default_factory=dict[str, int])

    def __len__(self) -> int:
        """Return the number of points."""
        return math.prod(self.dims.values())

    def __getitem__(self, k: int) -> Point:
        """Return one point."""
        return {name: column[k] for name, column in self.columns.items()}

    def __iter__(self) -> Iterator[Point]:
        """Iterate over the points."""
        return (self[k] for k in range(len(self)))


def points_of(
    parameters: Mapping[str, Values],
    *,
    combine: str,
    sampling: str,
    samples: int,
    seed: int,
) -> Points:
    """Return the points of a study; see `Study` for the arguments."""
    listed: dict[str, list[Scalar]] = {}
    drawn: dict[str, Between] = {}
    for name, values in parameters.items():
        if isinstance(values, Between):
            drawn[name] = values
        else:
            listed[name] = values.listed() or []
    columns = _drawn(drawn, sampling, samples, seed)
    if combine == "zip":
        return _zipped({**listed, **columns})
    axes: list[tuple[str, int, dict[str, list[Scalar]]]] = [
        (name, len(values), {name: values}) for name, values in listed.items()
    ]
    if columns:
        axes.append(("sample", samples, columns))
    total = math.prod(n for _, n, _ in axes)
    if total > MAX_POINTS:
        raise ModelError(f"{total:.3g} points; at most {MAX_POINTS:g} in one study")
    found: dict[str, list[Scalar]] = {}
    inner = total
    for _, n, own in axes:
        inner //= n
        outer = total // (n * inner)
        for name, values in own.items():
            found[name] = [v for v in values for _ in range(inner)] * outer
    return Points(
        columns={name: found[name] for name in parameters},
        dims={name: n for name, n, _ in axes},
    )


def _drawn(
    drawn: Mapping[str, Between], sampling: str, samples: int, seed: int
) -> dict[str, list[Scalar]]:
    """Return what is drawn, the same for the same seed on every machine."""
    if not drawn:
        return {}
    if samples < 1:
        first = next(iter(drawn))
        raise ModelError(
            f"samples = {samples}; parameter '{first}' is drawn: give their number"
        )
    if sampling == "sobol":
        from scipy.stats import qmc

        if len(drawn) > MAX_SOBOL:
            raise ModelError(f"Sobol' sequences have at most {MAX_SOBOL} dimensions")
        # Whole powers of two, cut: other lengths lose nothing but balance.
        power = max(samples - 1, 1).bit_length()
        unit = qmc.Sobol(len(drawn), seed=np.random.default_rng(seed))
        part = unit.random_base2(power)[:samples]
    else:
        part = np.random.default_rng(seed).random((samples, len(drawn)))
    return {
        name: values.at(part[:, k]).tolist()
        for k, (name, values) in enumerate(drawn.items())
    }


def _zipped(columns: dict[str, list[Scalar]]) -> Points:
    lengths = {name: len(values) for name, values in columns.items()}
    n = max(lengths.values(), default=0)
    for name, length in lengths.items():
        if length not in (1, n):
            other = max(lengths, key=lambda key: lengths[key])
            raise ModelError(
                f"parameter '{name}' has {length} values and '{other}' {n}: zipped, "
                "they need as many as each other, or one"
            )
    full = {k: v * (n // len(v)) if v else v for k, v in columns.items()}
    return Points(columns=full, dims={"point": n})


def is_number(value: object) -> bool:
    """Return whether a value is a number, and not a truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def distinct(column: Sequence[Scalar]) -> list[Scalar]:
    """Return the values of a column without repetition, in their order."""
    return list(dict.fromkeys(column))
