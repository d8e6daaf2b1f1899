"""One run in progress: march from arc to arc, keep what came out, say how it ended."""

from __future__ import annotations

import ctypes
import math
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import (
    FAILURES,
    Interrupted,
    NonsmoothWarning,
    SolveError,
    SwitchError,
)
from nonsmooth.kernels import entry
from nonsmooth.kernels import run as codes
from nonsmooth.kernels.friction.modes import OPEN
from nonsmooth.kernels.look import Look
from nonsmooth.kernels.mechanics.tables import Work
from nonsmooth.kernels.run import Log
from nonsmooth.kernels.tolerances import AT_LIMIT
from nonsmooth.pack import System
from nonsmooth.result import Result, State, Steps
from nonsmooth.result.evaluate import instants
from nonsmooth.solve.diagnosis import explain, has_diverged
from nonsmooth.solve.modes import agrees, mode_array
from nonsmooth.solve.options import Options
from nonsmooth.solve.schemes.base import (
    Run,
    Scheme,
    recall,
    settings_of,
    sizes_of,
    step_at,
)

Floats = NDArray[np.float64]
Progress = Callable[[float], None]
Outcome = Literal["finished", "stopped", "failed"]

# One chunk of the log: large enough to be rare, small enough not to be felt; the first
# is for a short run, and each is so many times longer than the last.
CHUNK_BYTES, MAX_CHUNK_STEPS, FIRST_STEPS, LONGER = 8_000_000, 2000, 64, 8
# Bytes of a log that are said: a flexible body needs 64 for each entry of its state and
# step, and rings on.
LARGE_LOG = 1_000_000_000
# Python looks in this often, for progress and interruption.
TICK_SECONDS = 0.1
_CALLBACK = ctypes.CFUNCTYPE(None)


class Driver:
    """One run in progress."""

    def __init__(
        self,
        system: System,
        options: Options,
        scheme: Scheme,
        work: Work,
        t_start: float,
        until: float,
        q: Floats,
        v: Floats,
    ) -> None:
        self.system, self.options, self.scheme = system, options, scheme
        self.work, self.t_start, self.until = work, t_start, until
        self.sizes = sizes_of(system, options)
        self.look = Look()
        settings = settings_of(system, options, until - t_start)
        # Without gravity forces go with the pace of the run.
        m = system.tables
        work.force = m.weight_of_all or m.moment * settings.pace**2
        self.step = step_at(self.sizes, settings, self.look, t_start, q, v)
        self.blocks: Run = scheme.blocks(system, options, self.step, self.sizes)
        mode: Any = work.mode
        mode.approach[:] = math.nan
        self.notes: list[str] = []
        self.chunks: list[Log] = []
        self.log: Log | None = None
        self.begin = 0.0  # s, of CPU time
        self.reserve: Any = None
        self.progress: Progress | None = None
        self.stop: BaseException | None = None  # what an onlooker raised

    def go_on_in(self, start: State) -> None:
        """Take over a state's mode where it agrees with it, else the approaches."""
        recall(self.system, self.step, start)
        mode = mode_array(self.system, start)
        if mode is None:
            return
        t, y = self.t_start, np.array(self.step.y)
        if agrees(self.system, t, y, mode):
            entry.set_mode(
                self.system.tables,
                self.work,
                instants(self.system, np.array([t]), y[None], mode[None]),
                0,
            )
            self.blocks.rest.is_known = 1
            return
        closed = mode["side"] != OPEN
        now: Any = self.work.mode
        now.approach[:] = np.where(closed, mode["approach"], math.nan)

    # -- marching ----------------------------------------------------------------

    def run(self, progress: Progress | None) -> Result:
        """March from arc to arc until the end, a stop or a failure."""
        self.progress = progress
        step, run, system = self.step, self.blocks, self.system
        march = self.scheme.march()
        status = codes.END
        onlooker = self._onlooker()
        next(onlooker)
        callback = _CALLBACK(partial(next, onlooker))
        self.look.address = ctypes.cast(callback, ctypes.c_void_p).value or 0
        self.begin = time.process_time()
        stops = [t for t in system.breaks if self.t_start < t < self.until]
        try:
            self.log = self._new_log()
            # Compile before the clock starts.
            march(system.tables, self.work, run, self.log, 0.0, 0)
            for t_stop in (*stops, self.until):
                is_break = t_stop in system.breaks
                # Laws are evaluated from the left up to and at a break.
                step.t_cap = math.nextafter(t_stop, -math.inf) if is_break else math.inf
                step.h = 0.0
                run.is_fresh, run.is_break = 0, 1
                status = self._march(march, t_stop)
                if status != codes.END:
                    break
                step.arc += 1
        except KeyboardInterrupt as interrupt:
            text = f"interrupted at t = {step.t:.6g} s"
            raise Interrupted(text, self._result("failed", text)) from interrupt
        except MemoryError as error:
            self.reserve = None
            text = FAILURES["memory"].format(t=step.t, n=step.n_step)
            raise SolveError(text, self._result("failed", text)) from error
        finally:
            self.look.address = 0
        return self._finish(status)

    def _march(self, march: Callable[..., int], t_stop: float) -> int:
        """Advance to the end of an arc; return how that went."""
        n_steps = 16
        while True:
            assert self.log is not None
            begin = time.perf_counter()
            status = int(
                march(
                    self.system.tables,
                    self.work,
                    self.blocks,
                    self.log,
                    t_stop,
                    n_steps,
                )
            )
            spent = time.perf_counter() - begin
            if self.stop is not None:
                raise self.stop
            if self.progress is not None:
                self.progress(self._part())
            if status == codes.FULL:
                self.chunks.append(self.log)
                self.log = None
                self.log = self._new_log()
            elif status == codes.TICK:
                # Keep calls short enough for progress, long enough not to be felt.
                wanted = int(n_steps * TICK_SECONDS / max(spent, 1e-6))
                n_steps = max(1, min(4 * n_steps, wanted))
            else:
                return status

    def _part(self) -> float:
        return (self.step.t - self.t_start) / (self.until - self.t_start)

    def _onlooker(self) -> Generator[None, None, None]:
        """Look in from a long kernel: signals are handled, progress is told.

        A generator, because what a signal handler raises comes up where Python code
        goes on: here, within `try`. Nothing can be raised through a kernel.
        """
        while True:
            try:
                # Signals are handled where a loop turns, too: it turns within `try`.
                while True:
                    yield
                    if self.progress is not None:
                        self.progress(self._part())
            except GeneratorExit:
                return
            except BaseException as error:
                self.stop = error
                self.look.is_stopped = 1

    def _new_log(self) -> Log:
        if len(self.chunks) == 2:
            # What a result needs that is made when memory has run out; not touched.
            self.reserve = np.empty(2 * CHUNK_BYTES, dtype=np.uint8)
        one = Log.n_bytes(self.sizes | {"capacity": 1})
        wanted = FIRST_STEPS * LONGER ** len(self.chunks)
        capacity = min(max(CHUNK_BYTES // one, 1), MAX_CHUNK_STEPS, wanted)
        return Log(self.sizes, capacity=capacity)

    # -- the end -----------------------------------------------------------------

    def _finish(self, status: int) -> Result:
        """Return the result, or raise what made the run fail, with the result."""
        message, outcome, error = "reached the end", "finished", SolveError
        if status == codes.STOPPED:
            outcome, message = "stopped", f"stopped by event '{self._stopper()}'"
        elif status != codes.END or self._is_unstable():
            outcome = "failed"
            message, is_switch = explain(self.system, self.options, self, status)
            error = SwitchError if is_switch else SolveError
        self._take_notes(outcome)
        result = self._result(outcome, message)
        if outcome == "failed":
            raise error(message, result)
        return result

    def _is_unstable(self) -> bool:
        """Return whether a fixed step has diverged without overflow."""
        return self.options.scheme == "paper" and has_diverged(self.system, self.step)

    def _stopper(self) -> str:
        """Return the event that ended the run."""
        log = self.log if self.log is not None and self.log.n else self.chunks[-1]
        fired = log.fired[log.n - 1][: len(self.system.events)]
        stops = self.system.tables.guard_is_stop.astype(bool)
        return self.system.events[int(np.flatnonzero((fired != 0) & stops)[0])]

    def _take_notes(self, outcome: str) -> None:
        step, rest = self.step, self.blocks.rest
        is_singular = math.isfinite(step.t_singular) and not self.notes
        if is_singular and outcome != "failed":
            text = (
                f"the pose at t = {step.t_singular:.6g} s is singular: the motion "
                "goes on; reactions near it are not unique, and least-norm values are "
                "reported"
            )
            warnings.warn(text, NonsmoothWarning, stacklevel=5)
            self.notes.append(text)
        if math.isfinite(step.t_redundant):
            self.notes.append(
                "contacts that stick hold each other, as two on one line do, first at "
                f"t = {step.t_redundant:.6g} s: the motion is unique, their friction "
                "is not, and is shared in proportion to its limits"
            )
        if math.isfinite(rest.t_branch):
            self.notes.append(
                "friction in joints had more than one solution, or might have, first "
                f"at t = {rest.t_branch:.6g} s: branch '{self.options.branch}' was "
                "followed"
            )
        if rest.n_unchecked:
            self.notes.append(
                f"{rest.n_unchecked} switches had too many joints and contacts "
                "to look for more than one solution of their friction"
            )
        crossing = getattr(self.blocks, "crossing", None)
        if crossing is not None and crossing.n:
            self.notes.append(
                f"spans in which modes changed without end were crossed by steps of "
                f"first order: {crossing.n}, {crossing.total:.3g} s in all, first at "
                f"t = {crossing.t_first:.9g} s; their estimated error is "
                f"{crossing.error:.2g} times the tolerance"
            )
        n_bytes = self.step.n_step * Log.n_bytes(self.sizes | {"capacity": 1})
        if n_bytes > LARGE_LOG:
            self.notes.append(
                f"the log of {self.step.n_step} steps takes {1e-9 * n_bytes:.1f} GB of "
                "memory; fewer modes, damping or a larger rtol make it smaller, and a "
                "run may go on from `result.state(t)` of a shorter one"
            )
        if rest.n_tie:
            self.notes.append(
                f"contacts reached the limit of friction together, first at t = "
                f"{rest.t_tie:.6g} s: those within {AT_LIMIT:g} of it, relatively, "
                "were let go with the one that did"
            )

    def _result(self, outcome: Outcome, message: str) -> Result:
        """Return what was computed."""
        step, options = self.step, self.options
        chunks = [*self.chunks]
        if self.log is not None and (self.log.n or not chunks):
            last = self.log
            # A copy of what is used; where memory is short the whole is kept.
            with suppress(MemoryError):
                last = last.cut(self.sizes, capacity=last.n)
            chunks.append(last)
        steps = Steps(
            system=self.system,
            chunks=tuple(chunks),
            y_end=np.array(step.y),
            mode_end=np.array(self.work.mode),
        )
        n_implicit = sum(
            int(np.sum(log.method[: log.n] == codes.IMPLICIT)) for log in chunks
        )
        return Result(
            system=self.system,
            steps=steps,
            t_start=self.t_start,
            t_end=float(step.t),
            status=outcome,
            message=message,
            options={
                "method": options.method,
                "rtol": options.rtol,
                "atol": options.floor,
                "step": options.step,
                "max_step": options.max_step,
                "stabilisation": options.stabilisation,
                "scheme": options.scheme,
                "branch": options.branch,
                "until": self.until,
            },
            cost={
                "steps": step.n_step,
                "rejected": step.n_reject,
                "evaluations": step.n_rhs,
                "jacobians": step.n_jacobian,
                "implicit_steps": n_implicit,
                "cpu_seconds": time.process_time() - self.begin,
            },
            violation=float(step.violation),
            is_projected=bool(step.set.is_projected),
            baumgarte=options.baumgarte,
            remarks=tuple(self.notes),
        )
