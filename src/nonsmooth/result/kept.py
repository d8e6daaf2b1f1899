"""Chunks of a log that are kept in less memory than they were written in.

A long run writes gigabytes. Within a budget chunks stay as they are; beyond it they go
to a file without a name, or keep what lies between the ends of steps in single
precision. Either looks like a `Log`.
"""

from __future__ import annotations

import math
import os
import tempfile
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.kernels.run import Log

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What is needed of every step to find it: stays.
_SMALL = ("t", "h", "cap", "arc", "method")
_LARGE = ("coef", "end", "fired", "impulse", "mode")
# Rows of a chunk that are read one by one, at most, of so many.
FEW = 16


class Pages:
    """A file without a name that lasts as long as anything refers to it."""

    def __init__(self) -> None:
        # Open as long as the chunks that are in it.
        self._file = tempfile.TemporaryFile(prefix="nonsmooth-")  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self.folder = tempfile.gettempdir()
        self.n_bytes = 0

    def put(self, array: Any) -> int:
        """Append an array; return where it begins."""
        with self._lock:
            begin = self._file.seek(0, os.SEEK_END)
            # An empty array has no bytes to be seen.
            if array.size > 0:
                self._file.write(np.ascontiguousarray(array).data.cast("B"))
            self._file.flush()
            self.n_bytes = self._file.tell()
        return begin

    def get(self, begin: int, n_bytes: int) -> bytes:
        """Return what stands at a place."""
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), n_bytes, begin)
        with self._lock:
            self._file.seek(begin)
            return self._file.read(n_bytes)


class Kept:
    """A chunk: what finds a step in memory, the rest where it is asked for."""

    n: int

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what is logged, as a `Log` has it."""

    def __init__(self, log: Log) -> None:
        self.n = int(log.n)
        for name in _SMALL:
            setattr(self, name, np.array(np.asarray(getattr(log, name))[: self.n]))

    def cut(self, sizes: dict[str, int], *, capacity: int, n: int) -> Log:
        """Return the first n steps as a log."""
        names = (*_SMALL, *_LARGE)
        values = {name: np.asarray(getattr(self, name))[:n] for name in names}
        for name, value in values.items():
            if len(value) < capacity:
                blank = np.zeros((capacity - len(value), *value.shape[1:]), value.dtype)
                values[name] = np.concatenate([value, blank])
        return Log(sizes, capacity=capacity, n=n, **values)

    def rows(self, name: str, index: Integers) -> Any:
        """Return what is logged of some steps."""
        return getattr(self, name)[index]


class InFile(Kept):
    """A chunk whose large arrays are in a file."""

    def __init__(self, log: Log, pages: Pages) -> None:
        super().__init__(log)
        self._pages = pages
        self._place: dict[str, tuple[int, Any, tuple[int, ...]]] = {}
        for name in _LARGE:
            array: Any = np.asarray(getattr(log, name))[: self.n]
            self._place[name] = (pages.put(array), array.dtype, array.shape)

    def __getattr__(self, name: str) -> Any:
        """Return a large array, read anew."""
        if name not in _LARGE:
            raise AttributeError(name)
        return self.rows(name, None)

    def rows(self, name: str, index: Integers | None) -> Any:
        """Return what is logged of some steps, of all by default."""
        if name in self.__dict__:
            own = self.__dict__[name]
            return own if index is None else own[index]
        begin, dtype, shape = self._place[name]
        size = dtype.itemsize * int(np.prod(shape[1:]))
        if index is not None and len(index) * FEW <= self.n:
            parts = [self._pages.get(begin + int(i) * size, size) for i in index]
            raw, shape = b"".join(parts), (len(index), *shape[1:])
            return np.frombuffer(raw, dtype).reshape(shape).copy()
        whole = np.frombuffer(self._pages.get(begin, self.n * size), dtype)
        whole = whole.reshape(shape)
        return whole.copy() if index is None else whole[index]

    def __getstate__(self) -> dict[str, Any]:
        """Return the chunk with its arrays: another process has not the file."""
        small: dict[str, Any] = {name: getattr(self, name) for name in (*_SMALL, "n")}
        return small | {name: self.rows(name, None) for name in _LARGE}


class Single(Kept):
    """A chunk whose dense output is in single precision between the ends of steps.

    Rows that repeat are kept once. The first coefficient follows from the others and
    from the ends, so that the dense output meets them.
    """

    def __init__(self, log: Log) -> None:
        super().__init__(log)
        n = self.n
        coef: Any = np.asarray(log.coef)[:n]
        end: Any = np.asarray(log.end)[:n]
        self._start = coef[:, 0].copy()
        self._high = coef[:, 2:].astype(np.float32)
        following = np.concatenate(
            [self._start[1:], np.full((1, coef.shape[2]), np.nan)]
        )
        self._jumps = np.flatnonzero((end != following).any(axis=1))
        self._ends = end[self._jumps].copy()
        self.fired: Any = np.asarray(log.fired)[:n].astype(np.int8)
        impulse: Any = np.asarray(log.impulse)[:n]
        self._struck = np.flatnonzero(impulse.reshape(n, -1).any(axis=1))
        self._impulse = impulse[self._struck].copy()
        self._shape = impulse.shape[1:]
        modes: Any = np.ascontiguousarray(np.asarray(log.mode)[:n])
        raw = modes.view(np.uint8).reshape(n, -1)
        self._begins = np.flatnonzero(
            np.append(True, (raw[1:] != raw[:-1]).any(axis=1))
        )
        self._mode = modes[self._begins].copy()
        #: (n_y) largest error of the dense output by this
        self.error: Floats = np.max(np.abs(self.coef - coef).sum(axis=1), axis=0)

    @property
    def end(self) -> Floats:
        """States at the ends of steps."""
        end = np.concatenate([self._start[1:], self._start[:1]])
        end[self._jumps] = self._ends
        return end

    @property
    def coef(self) -> Floats:
        """Coefficients of the dense output."""
        high = self._high.astype(float)
        first = self.end - self._start - high.sum(axis=1)
        return np.concatenate([self._start[:, None], first[:, None], high], axis=1)

    @property
    def impulse(self) -> Floats:
        """Impulses at the ends of steps."""
        found = np.zeros((self.n, *self._shape))
        found[self._struck] = self._impulse
        return found

    @property
    def mode(self) -> Any:
        """Modes of steps."""
        of = np.searchsorted(self._begins, np.arange(self.n), side="right") - 1
        return self._mode[of]


Chunk = Log | Kept


def rows_of(chunk: Chunk, name: str, index: Integers) -> Any:
    """Return what is logged of some steps of a chunk."""
    if isinstance(chunk, Kept):
        return chunk.rows(name, index)
    return np.asarray(getattr(chunk, name))[index]


@dataclass
class Store:
    """Where chunks of one run are kept, of all of its parts."""

    budget: float = math.inf  # bytes
    beyond: str = "file"  # "single" or "keep"
    n_bytes: int = 0  # of all that was written
    pages: Pages | None = None
    trouble: str = ""  # why a file could not be used
    # Largest errors of positions, and of their rates, in single precision.
    error: tuple[float, float] = (0.0, 0.0)

    @property
    def is_full(self) -> bool:
        """Whether chunks are to be kept otherwise."""
        return self.beyond != "keep" and self.n_bytes > self.budget

    def keep(self, chunk: Chunk, n_dof: int) -> Chunk:
        """Return a chunk as it is kept beyond the budget."""
        if isinstance(chunk, Kept) or self.trouble:
            return chunk
        if self.beyond == "single":
            single = Single(chunk)
            halves = (single.error[:n_dof], single.error[n_dof : 2 * n_dof])
            worst = [float(np.max(own, initial=0.0)) for own in halves]
            self.error = (max(self.error[0], worst[0]), max(self.error[1], worst[1]))
            return single
        try:
            self.pages = self.pages or Pages()
            return InFile(chunk, self.pages)
        except OSError as error:
            # The run goes on in memory.
            self.trouble = error.strerror or str(error)
            return chunk
