"""What the solvers are given, checked; and their kernels, linked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.errors import ModelError

Floats = NDArray[np.float64]


def numbers(name: str, value: ArrayLike) -> Floats:
    """Return a finite array."""
    try:
        array = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{name} = {value!r}; must be an array of numbers") from error
    if not np.isfinite(array).all():
        k = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = ", ".join(map(str, k))
        raise ModelError(f"{name}[{place}] = {float(array[k])}; must be finite")
    return array


def array(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Return a finite array of this shape."""
    array = numbers(name, value)
    if array.shape != shape:
        raise ModelError(f"{name} has the shape {array.shape}; must be {shape}")
    return array


def square(name: str, value: ArrayLike) -> Floats:
    """Return a finite square matrix."""
    array = numbers(name, value)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise ModelError(f"{name} has the shape {array.shape}; must be square")
    return array


def problem(**parts: ArrayLike) -> tuple[Floats, ...]:
    """Return matrices of one size, and last the vector that goes with them."""
    *matrices, last = parts
    first = square(matrices[0], parts[matrices[0]])
    n = len(first)
    rest = [array(name, parts[name], (n, n)) for name in matrices[1:]]
    return (first, *rest, array(last, parts[last], (n,)))
