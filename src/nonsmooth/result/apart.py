"""The steps of parts that marched apart, as if they were steps of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.pack import Part, System
from nonsmooth.result.evaluate import project
from nonsmooth.result.kept import rows_of
from nonsmooth.result.state import MODE, Modes
from nonsmooth.result.steps import Steps

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Steps that begin wherever a part's step does.

    What happens in them is looked up in the steps of each part: put together they
    would take the square of the number of parts.
    """

    system: System
    own: tuple[Steps, ...]  # of each of `system.parts`, none beginning after the end
    ends: tuple[float, ...]  # s, of each; later than that of all for a part cut there
    t_end: float  # s
    y_end: Floats  # (n_y) state at the end, after any jump
    mode_end: Modes  # (n_contact)

    @cached_property
    def t(self) -> Floats:
        """Start of each step, s."""
        return np.unique(np.concatenate([steps.t for steps in self.own]))

    @cached_property
    def _last(self) -> Floats:
        """End of each step, s."""
        return np.append(self.t[1:], self.t_end)[: len(self.t)]

    @cached_property
    def h(self) -> Floats:
        """Length of each step, s."""
        return self._last - self.t

    @cached_property
    def cap(self) -> Floats:
        """Latest time at which laws are evaluated in each step, s."""
        every = np.arange(len(self.t))
        caps = [steps.cap[self._of(steps, every)] for _, steps in self._parts()]
        return np.minimum.reduce(caps)

    @cached_property
    def arc(self) -> Integers:
        """Number of the arc that each step belongs to."""
        is_new = np.zeros(len(self.t), dtype=bool)
        for _, steps in self._parts():
            begins = steps.t[np.flatnonzero(np.diff(steps.arc, prepend=steps.arc[:1]))]
            is_new[np.searchsorted(self.t, begins)] = True
        return np.cumsum(is_new)

    @property
    def mode(self) -> _Modes:
        """Modes of contacts and joints with friction, of the steps asked for."""
        return _Modes(self)

    def mode_after(self, index: Integers) -> Modes:
        """Return the modes after the ends of given steps."""
        mode = self.mode[np.minimum(index + 1, len(self.t) - 1)]
        mode[index + 1 == len(self.t)] = self.mode_end
        return mode

    def crossed(self) -> Floats:
        """Return begin and end of each span that was crossed without its events."""
        found = np.concatenate([steps.crossed() for steps in self.own])
        return found[np.argsort(found[:, 0], kind="stable")]

    def _parts(self) -> Iterator[tuple[Part, Steps]]:
        return zip(self.system.parts, self.own, strict=True)

    def _of(self, steps: Steps, index: Integers) -> Integers:
        """Return the steps of a part in which given steps lie."""
        return np.searchsorted(steps.t, self.t[index], side="right") - 1

    # -- states ------------------------------------------------------------------

    def inside(self, index: Integers, x: Floats) -> Floats:
        """Return the states at fractions x of given steps."""
        return self._at(index, self.t[index] + x * self.h[index])

    def _at(self, index: Integers, t: Floats) -> Floats:
        """Return the states at times in given steps."""
        y = np.zeros((len(index), self.system.n_y))
        for part, steps in self._parts():
            # Works at a support add up.
            y[:, part.state] += _inside(steps, self._of(steps, index), t)
        return y

    def before(self, index: Integers) -> Floats:
        """Return the states at the ends of given steps, before any jump."""
        y, t = np.zeros((len(index), self.system.n_y)), self._last[index]
        for (part, steps), end in zip(self._parts(), self.ends, strict=True):
            k = self._of(steps, index)
            found = _inside(steps, k, t)
            is_end = np.append(steps.t[1:], end)[k] == t
            found[is_end] = steps.before(k[is_end])
            y[:, part.state] += found
        return y

    def after(self, index: Integers) -> Floats:
        """Return the states after the ends of given steps, where the next begin."""
        y = np.empty((len(index), self.system.n_y))
        y[:] = self.y_end
        inner = np.flatnonzero(index + 1 < len(self.t))
        y[inner] = self._at(index[inner] + 1, self._last[index[inner]])
        return y


def _inside(steps: Steps, k: Integers, t: Floats) -> Floats:
    """Return the states of a part at times in its steps."""
    return steps.inside(k, np.clip((t - steps.t[k]) / steps.h[k], 0.0, 1.0))


@dataclass(frozen=True)
class _Modes:
    """Modes in steps, gathered for those that are asked for."""

    steps: Apart

    def __getitem__(self, index: Any) -> Modes:
        """Return the modes in given steps, (n, n_contact) records."""
        whole: Any = self.steps
        chosen: Any = index
        if not isinstance(index, np.ndarray):
            return self[np.arange(len(whole.t))][chosen]
        found: Any = np.zeros((len(chosen), len(whole.system.with_mode)), dtype=MODE)
        for part, steps in whole._parts():
            found[:, part.contact] = steps.mode[whole._of(steps, chosen)]
        return found


def apart(
    system: System, own: list[tuple[Steps, float]], t_end: float, *, is_projected: bool
) -> Apart:
    """Put the steps of parts together up to a time that all have reached.

    Parameters
    ----------
    own : list
        Steps of each of `system.parts`, and their end, s.
    """
    cut = [
        _cut(steps, t_end, is_projected) if end > t_end else steps for steps, end in own
    ]
    y_end = np.zeros(system.n_y)
    mode_end: Any = np.zeros(len(system.with_mode), dtype=MODE)
    for part, steps in zip(system.parts, cut, strict=True):
        y_end[part.state] += steps.y_end
        mode_end[part.contact] = steps.mode_end
    return Apart(
        system=system,
        own=tuple(cut),
        ends=tuple(end for _, end in own),
        t_end=t_end,
        y_end=y_end,
        mode_end=mode_end,
    )


def _cut(steps: Steps, t_end: float, is_projected: bool) -> Steps:
    """Return the steps of a part up to an earlier time."""
    k = np.array([np.searchsorted(steps.t, t_end, side="left") - 1])
    n = int(k[0]) + 1
    is_end = n < len(steps.t) and steps.t[n] == t_end
    y, mode = steps.y_end, steps.mode_end
    if is_end:
        y, mode = steps.after(k)[0], steps.mode_after(k)[0]
    elif n:
        found, mode = _inside(steps, k, np.array([t_end])), steps.mode[k][0]
        if is_projected and steps.system.n_row:
            t_law = np.minimum(t_end, steps.cap[k])
            work = steps.system.work()
            found = project(steps.system, work, t_law, found, mode[None])
        y = found[0]
    chunks: list[Any] = []
    left = n
    some: Any = steps.chunks[0]
    n_coef = rows_of(some, "coef", np.zeros(0, dtype=np.int64)).shape[1] - 1
    sizes = steps.system.tables.sizes() | {"n_coef": n_coef}
    for log in steps.chunks:
        if left > 0 or not chunks:
            own = min(left, log.n)
            chunks.append(log.cut(sizes, capacity=max(own, 1), n=own))
            left -= own
    if n and not is_end:
        # What fired at its end is later.
        chunks[-1].fired[chunks[-1].n - 1] = 0
    return Steps(system=steps.system, chunks=tuple(chunks), y_end=y, mode_end=mode)
