"""The steps of a run as they were logged: dense output, modes, fired guards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.kernels import entry
from nonsmooth.kernels.run import CROSSED
from nonsmooth.pack import System
from nonsmooth.pack.flight import Flight
from nonsmooth.result.kept import Chunk, Kept, rows_of
from nonsmooth.result.state import Modes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class FlightLog:
    """Steps of a flight with few shapes, as steps of the whole system.

    The log is kept as it is: with all shapes it would be several times as long.
    """

    log: Chunk
    flight: Flight
    before: Floats  # (n_y), at its start, for what rests in flight

    @cached_property
    def mode(self) -> Modes:
        """Modes of contacts, those of patches marked."""
        mode: Any = np.array(np.asarray(self.log.mode)[: self.log.n])
        mode["flank"][:, self.flight.patches()] = 1
        return mode

    def up(self, y: Floats) -> Floats:
        """Return states of the whole system."""
        found, idle = self.flight.up(y), self.flight.idle
        found[..., idle] = self.before[idle]
        return found

    @property
    def coef(self) -> Floats:
        """Coefficients of the whole system."""
        # What is beyond the last step has never been written.
        own = np.asarray(self.log.coef)[: self.log.n]
        found, idle = self.flight.up(own), self.flight.idle
        found[:, 0, idle] = self.before[idle]
        return found

    @property
    def end(self) -> Floats:
        """States of the whole system at the ends of steps."""
        return self.up(np.asarray(self.log.end)[: self.log.n])

    def __getattr__(self, name: str) -> Any:
        """Return what does not depend on shapes."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.log, name)


def _states(log: Chunk | FlightLog) -> tuple[Chunk, Any]:
    """Return the log that was written, and how its states become the system's."""
    if isinstance(log, FlightLog):
        return log.log, log.up
    return log, np.asarray


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Dense output of all steps: y at the start, then coefficients of powers of x.

    Chunks of the log are kept as they are: joined, a long run would need twice its
    memory.
    """

    system: System
    chunks: tuple[Chunk | FlightLog, ...]  # full, or trimmed to what is used
    y_end: Floats  # (n_y) state after the last step and any jump at its end
    mode_end: Modes  # (n_contact) mode after the last step

    def _joined(self, name: str) -> Any:
        parts: list[Any] = [
            np.asarray(getattr(log, name))[: log.n] for log in self.chunks
        ]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    @cached_property
    def t(self) -> Floats:
        """Start of each step, s."""
        return self._joined("t")

    @cached_property
    def h(self) -> Floats:
        """Length of each step, s."""
        return self._joined("h")

    @cached_property
    def cap(self) -> Floats:
        """Latest time at which laws are evaluated in each step, s."""
        return self._joined("cap")

    @cached_property
    def method(self) -> Integers:
        """How each step was taken: EXPLICIT, IMPLICIT or CROSSED of `kernels.run`."""
        return self._joined("method")

    @property
    def mode(self) -> Gathered:
        """Modes of contacts and joints with friction, (n, n_contact) records."""
        return Gathered(self, "mode")

    @property
    def fired(self) -> Gathered:
        """Guards that fired at the end of each step, (n, n_watch)."""
        return Gathered(self, "fired")

    @property
    def impulse(self) -> Gathered:
        """Impulses of contacts at the end of each step, N s, (n, n_contact, 2)."""
        return Gathered(self, "impulse")

    @cached_property
    def arc(self) -> Integers:
        """Number of the arc that each step belongs to."""
        arc = self._joined("arc").copy()
        arc[1:] += np.cumsum(self.changes())
        return arc

    @property
    def coef(self) -> Floats:
        """All coefficients, (n, 1 + n_coef, n_y); joined when asked for."""
        return self._joined("coef")

    def changes(self) -> NDArray[np.bool_]:
        """Return whether the mode changes from each step to the next."""
        found: list[NDArray[np.bool_]] = []
        last: Any = None
        for log in self.chunks:
            mode: Any = np.asarray(log.mode)[: log.n]
            mode = mode if last is None else np.concatenate([last, mode])
            is_new = np.zeros(max(len(mode) - 1, 0), dtype=bool)
            for name in ("side", "grip", "sign", "flank"):
                is_new |= (np.diff(mode[name], axis=0) != 0).any(axis=1)
            found.append(is_new)
            last = mode[-1:].copy()
        return np.concatenate(found)

    def has_fired(self) -> NDArray[np.bool_]:
        """Return whether a guard fired at the end of each step."""
        every = [np.asarray(log.fired)[: log.n].any(axis=1) for log in self.chunks]
        return np.concatenate(every)

    def crossed(self) -> Floats:
        """Return begin and end of each span that was crossed without its events."""
        k = np.flatnonzero(self.method == CROSSED)
        return np.stack([self.t[k], self.t[k] + self.h[k]], axis=1)

    def mode_after(self, index: Integers) -> Modes:
        """Return the modes after the ends of given steps."""
        mode = self.mode[np.minimum(index + 1, len(self.t) - 1)]
        mode[index + 1 == len(self.t)] = self.mode_end
        return mode

    # -- states ------------------------------------------------------------------

    @cached_property
    def _firsts(self) -> Integers:
        """Number of the first step of each chunk."""
        return np.cumsum([0, *(log.n for log in self.chunks[:-1])])

    def _by_chunk(
        self, index: Integers
    ) -> Sequence[tuple[Chunk | FlightLog, Integers, Integers]]:
        """Return (chunk, which of the indices, steps in the chunk) for each in use."""
        of = np.searchsorted(self._firsts, index, side="right") - 1
        found: list[tuple[Chunk | FlightLog, Integers, Integers]] = []
        for c, chunk in enumerate(self.chunks):
            where = np.flatnonzero(of == c)
            if len(where):
                found.append((chunk, where, index[where] - int(self._firsts[c])))
        return found

    def inside(self, index: Integers, x: Floats) -> Floats:
        """Return the states at fractions x of given steps."""
        y = np.empty((len(index), self.system.n_y))
        for chunk, where, step in self._by_chunk(index):
            log, up = _states(chunk)
            if isinstance(log, Kept):
                coef, step = log.rows("coef", step), np.arange(len(step))
            else:
                coef = np.asarray(log.coef)
            out = np.empty((len(where), coef.shape[2]))
            entry.on_dense(len(where), x[where], step, *coef.shape[1:], coef, out)
            y[where] = up(out)
        return y

    def before(self, index: Integers) -> Floats:
        """Return the states at the ends of given steps, before any jump."""
        y = np.empty((len(index), self.system.n_y))
        for chunk, where, step in self._by_chunk(index):
            log, up = _states(chunk)
            y[where] = up(rows_of(log, "end", step))
        return y

    def after(self, index: Integers) -> Floats:
        """Return the states after the ends of given steps, where the next begin."""
        y = np.empty((len(index), self.system.n_y))
        y[:] = self.y_end
        inner = np.flatnonzero(index + 1 < len(self.t))
        for chunk, where, step in self._by_chunk(index[inner] + 1):
            log, up = _states(chunk)
            if isinstance(log, Kept):
                begins = log.rows("coef", step)[:, 0]
            else:
                begins = np.asarray(log.coef)[step, 0]
            y[inner[where]] = up(begins)
        return y


@dataclass(frozen=True)
class Gathered:
    """What is logged of every step, gathered for the steps that are asked for."""

    steps: Steps
    name: str

    def __getitem__(self, index: Any) -> Any:
        """Return it of given steps; by any other index, of all steps joined."""
        steps: Any = self.steps
        if not isinstance(index, np.ndarray):
            return steps._joined(self.name)[index]
        none = np.zeros(0, dtype=np.int64)
        first = rows_of(steps.chunks[0], self.name, none)
        found: Any = np.empty((len(steps.t[index]), *first.shape[1:]), first.dtype)
        for log, where, step in steps._by_chunk(index):
            found[where] = rows_of(log, self.name, step)
        return found
