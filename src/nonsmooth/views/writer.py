"""Columns of numbers as bytes that compress well.

Numbers over time are in single precision. Their bit patterns are stored as differences,
first bytes first: of a smooth curve little remains to compress.

Single precision is not enough for a place far away, which moves little: it is stored
from an origin nearby. What moves far as well, or turns very often, is stored in double
precision, and so is what single precision cannot hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Item = dict[str, Any]  # an object of the document

# Values this small beside the largest of their unit are round-off: not worth a byte.
ROUND_OFF = 1e-13
# Half a unit in the last place of single precision, relative; its largest number.
SINGLE, LARGEST = 2.0**-24, float(np.finfo(np.float32).max)
# A place is far away beyond this many times its range. From its origin it is rounded to
# this part of the longest way of all, and at most as if there were no origin: what
# should stand still has round-off, which costs bytes.
FAR, STEP = 100.0, 2.0**-30
# Steps of a number in two bytes.
STEPS = 32_767
# What rounding may move in a picture: angles, rad, and places beside a symbol.
TURNED, MOVED = 1e-3, 0.01


class Writer:
    """Columns and their bytes.

    Parameters
    ----------
    precision : float
        To which part of its range a column may be rounded that is not looked at
        closely.
    unit : float
        Length of a symbol, m.
    way : float
        The longest way of all that moves, m.
    """

    def __init__(self, precision: float, unit: float, way: float) -> None:
        self._precision, self._moved, self._step = precision, MOVED * unit, STEP * way
        self.columns: list[Item] = []
        self._parts: list[bytes] = []
        self._offset = 0

    def times(self, t: Floats) -> None:
        """Add the times."""
        self._add({"name": "t", "unit": "s"}, "f64", t.astype("<f8"))

    def add_stepped(self, column: Item, values: Floats) -> None:
        """Add a column of small whole numbers."""
        is_known = not np.any(np.isnan(values))
        self._put(column, values.astype("i1" if is_known else "<f4"))

    def add_place(self, column: Item, values: Floats, noise: float = 0.0) -> None:
        """Add a column of places, which are looked at closely."""
        low, way = span(values)
        size = max(-low, low + way)
        if way == 0.0 or size <= FAR * way:
            self._put(column, _numbers(values, noise, SINGLE * size <= self._moved))
            return
        # No finer than round-off.
        step = max(min(self._step, SINGLE * size), ROUND_OFF * size)
        # The same exponent for all numbers: their first bits do not change.
        origin = low - way
        relative = _rounded(values - origin, step)
        self._put(column, relative.astype("<f4"), origin)

    def add_angle(self, column: Item, values: Floats, noise: float = 0.0) -> None:
        """Add a column of angles, which are looked at closely."""
        low, way = span(values)
        is_fine = SINGLE * max(-low, low + way) <= TURNED
        self._put(column, _numbers(values, noise, is_fine))

    def add_plain(self, column: Item, values: Floats) -> None:
        """Add a column in single precision."""
        self._put(column, _numbers(values, 0.0, is_fine=True))

    def add(self, column: Item, values: Floats, noise: float = 0.0) -> None:
        """Add a column of anything else, rounded if the budget is short."""
        low, extent = span(values)
        if self._precision > 0.0 and extent > 0.0:
            values = _rounded(values, self._precision * extent)
        is_fine = max(-low, low + extent) <= LARGEST
        self._put(column, _numbers(values, noise, is_fine))

    def _put(self, column: Item, numbers: NDArray[Any], origin: float = 0.0) -> None:
        """Add numbers; those that stand still are one."""
        first = float(numbers[0])
        if math.isnan(first) and np.all(np.isnan(numbers)):
            self.columns.append(column | {"type": "constant", "value": None})
        elif math.isfinite(first) and np.all(numbers == numbers[0]):
            value = first + origin
            self.columns.append(column | {"type": "constant", "value": value})
        elif numbers.dtype == np.int8:
            self._add(column, "i8", numbers)
        elif numbers.dtype == np.float64:
            self._add(column, "f64", numbers)
        else:
            from_origin: Item = {"origin": origin} if origin else {}
            change = np.diff(numbers.view("<i4"), prepend=np.int32(0))
            self._add(column | from_origin, "f32", change)

    def _add(self, column: Item, kind: str, numbers: NDArray[Any]) -> None:
        self.columns.append(column | self._keep(kind, numbers))

    def _keep(self, kind: str, numbers: NDArray[Any]) -> Item:
        flat = np.ascontiguousarray(numbers).reshape(-1)
        # All first bytes, then all second ones.
        part = flat.view(np.uint8).reshape(-1, flat.dtype.itemsize).T.tobytes()
        where = {"type": kind, "offset": self._offset, "length": len(part)}
        self._parts.append(part)
        self._offset += len(part)
        return where

    def add_component(self, column: Item, values: Floats, step: float) -> None:
        """Add a column of which all multiples of a step are alike to the eye."""
        self._put(column, _rounded(values, step).astype("<f4"))

    def block(self, numbers: NDArray[Any]) -> Item:
        """Add numbers that do not change with time; return where they are.

        Whole ones are exact; others have a common step, 2**-15 of the largest.
        """
        if numbers.dtype.kind in "iu":
            return self._keep("u16", numbers.astype("<u2"))
        step = float(np.max(np.abs(numbers), initial=0.0)) / STEPS or 1.0
        whole = np.round(numbers / step).astype("<i2")
        return {**self._keep("i16", whole), "step": step}

    def bytes(self) -> bytes:
        """Return all arrays."""
        return b"".join(self._parts)


def span(values: Floats) -> tuple[float, float]:
    """Return the least value and the range."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return 0.0, 0.0
    low, high = float(known.min()), float(known.max())
    return low, high - low


def _rounded(values: Floats, step: float) -> Floats:
    """Return multiples of a step, or of one that is a little less."""
    # A power of two leaves zeros in the mantissa.
    step = 2.0 ** math.floor(math.log2(step))
    return np.round(values / step) * step


def _numbers(values: Floats, noise: float, is_fine: bool) -> NDArray[Any]:
    """Return numbers in single precision where that is fine enough."""
    values = values + 0.0
    if np.max(np.abs(values), initial=0.0) <= noise:
        return np.zeros(len(values), dtype="<f4")
    is_still = bool(np.all(values == values[0]))
    return values.astype("<f4" if is_fine and not is_still else "<f8")


def noise_of(
    columns: Mapping[str, Floats], units: Mapping[str, str]
) -> dict[str, float]:
    """Return by unit what is round-off."""
    peaks: dict[str, float] = {}
    for name, values in columns.items():
        known = values[np.isfinite(values)]
        peak = float(np.max(np.abs(known), initial=0.0))
        peaks[units[name]] = max(peaks.get(units[name], 0.0), peak)
    return {unit: ROUND_OFF * peak for unit, peak in peaks.items()}
