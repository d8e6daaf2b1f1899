"""One run in progress: march from arc to arc, keep what came out, say how it ended."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import (
    FAILURES,
    Interrupted,
    SolveError,
    SwitchError,
)
from nonsmooth.kernels import entry
from nonsmooth.kernels import run as codes
from nonsmooth.kernels.abi.library import variant
from nonsmooth.kernels.friction.modes import OPEN
from nonsmooth.kernels.look import Look
from nonsmooth.kernels.mechanics.tables import Work
from nonsmooth.kernels.run import Log
from nonsmooth.pack import System
from nonsmooth.pack.instants import stops
from nonsmooth.result import Apart, Result, State, Steps
from nonsmooth.result.evaluate import instants
from nonsmooth.result.kept import Chunk, Store
from nonsmooth.solve.diagnosis import explain, has_diverged
from nonsmooth.solve.modes import agrees, mode_array
from nonsmooth.solve.options import Options
from nonsmooth.solve.progress import Done, Progress
from nonsmooth.solve.remarks import remarks, too_rapid
from nonsmooth.solve.schemes.base import (
    Run,
    Scheme,
    recall,
    settings_of,
    sizes_of,
    step_at,
)

Floats = NDArray[np.float64]
Outcome = Literal["finished", "stopped", "failed"]

# One chunk of the log: large enough to be rare, small enough not to be felt; the first
# is for a short run, and each is so many times longer than the last.
CHUNK_BYTES, MAX_CHUNK_STEPS, FIRST_STEPS, LONGER = 8_000_000, 2000, 64, 8
# One that is kept whole, however little of it is used: cutting takes a tenth of the
# shortest runs.
SMALL_LOG = 200_000
# Python looks in this often, for progress and interruption.
TICK_SECONDS = 0.1
# Steps of the first call, and of each where something else is to be looked at.
FEW_STEPS = 16
# What a march ends with that another run goes on from, beside those of `kernels.run`.
LEFT = 4
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
        span: float | None = None,
        store: Store | None = None,
    ) -> None:
        self.system, self.options, self.scheme = system, options, scheme
        self.work, self.t_start = work, t_start
        self.until = self.asked = until
        self.sizes = sizes_of(system, options)
        self.look = Look()
        settings = settings_of(system, options, span or until - t_start)
        # Without gravity forces go with the pace of the run.
        m = system.tables
        work.force = m.weight_of_all or m.moment * settings.pace**2
        work.top_speed = work.top_spin = 0.0
        work.sunk[:] = 0.0
        self.step = step_at(self.sizes, settings, self.look, t_start, q, v)
        self.blocks: Run = scheme.blocks(system, options, self.step, self.sizes)
        mode: Any = work.mode
        mode.approach[:] = math.nan
        self.notes: list[str] = []
        self.store = store or Store()
        self.chunks: list[Chunk] = []
        self.log: Log | None = None
        self.status = codes.END  # of the last call of the kernel
        self.begin = 0.0  # s, of CPU time
        self.reserve: Any = None
        self.progress: Progress | None = None
        self.stop: BaseException | None = None  # what an onlooker raised
        # Whether to leave the run to another one, asked with what a march ended with.
        self.leaves: Callable[[int], bool] | None = None

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
        try:
            for _ in self.marching():
                if progress is not None:
                    progress(self.part)
        except KeyboardInterrupt as interrupt:
            text = f"interrupted at t = {self.step.t:.6g} s"
            raise Interrupted(text, self._result("failed", text)) from interrupt
        except MemoryError as error:
            self.reserve = None
            text = FAILURES["memory"].format(t=self.step.t, n=self.step.n_step)
            raise SolveError(text, self._result("failed", text)) from error
        return self._finish()

    def marching(self) -> Generator[None, None, None]:
        """March, and yield now and then; the end may come nearer meanwhile."""
        step, run, system = self.step, self.blocks, self.system
        march = self.scheme.march()
        onlooker = self._onlooker()
        next(onlooker)
        callback = _CALLBACK(partial(next, onlooker))
        # Not `cast`, which leaves a circle of references, and the whole run with it.
        self.look.address = ctypes.c_void_p.from_buffer(callback).value or 0
        self.begin = time.process_time()
        found = stops(system, self.t_start, self.until)
        self.notes += too_rapid(found)
        try:
            self.log = self._new_log()
            # Compile before the clock starts.
            march(system.tables, self.work, run, self.log, 0.0, 0)
            after_break = True
            for t_stop, is_break, t_cap in (*found, (self.until, True, found.last)):
                # Laws are evaluated from the left up to and at a break.
                step.t_cap = t_cap
                if after_break:
                    step.h = 0.0
                    run.is_fresh, run.is_break = 0, 1
                yield from self._march(march, t_stop)
                if self.status != codes.END or step.t >= self.until:
                    break
                step.arc += is_break
                after_break = is_break
        finally:
            self.look.address = 0

    def _march(
        self, march: Callable[..., int], t_stop: float
    ) -> Generator[None, None, None]:
        """Advance to the end of an arc; `status` is how that went."""
        n_steps = FEW_STEPS
        while True:
            assert self.log is not None
            begin = time.perf_counter()
            self.status = int(
                march(
                    self.system.tables,
                    self.work,
                    self.blocks,
                    self.log,
                    min(t_stop, self.until),
                    n_steps,
                )
            )
            spent = time.perf_counter() - begin
            if self.stop is not None:
                raise self.stop
            if self.leaves is not None and self.leaves(self.status):
                self.status = LEFT
                yield
                return
            if self.status == codes.FULL:
                self.log = self._keep(self.log)
            elif self.status == codes.TICK and self.leaves is not None:
                n_steps = FEW_STEPS
            elif self.status == codes.TICK:
                # Keep calls short enough for progress, long enough not to be felt.
                wanted = int(n_steps * TICK_SECONDS / max(spent, 1e-6))
                n_steps = max(1, min(4 * n_steps, wanted))
            else:
                yield
                return
            yield
            if self.step.t >= self.until and self.until < self.asked:
                self.status = codes.END
                return

    def back_to(self, k: int) -> None:
        """Forget the steps of the present log from number k on, and where they led."""
        log, step = self.log, self.step
        assert log is not None
        step.t, step.y[:] = float(log.t[k]), log.coef[k, 0]
        step.n_step -= int(log.n) - k
        modes: Any = self.work.mode
        modes[...] = np.asarray(log.mode)[k]
        log.n = k

    @property
    def part(self) -> Done:
        """The part of the run that is done."""
        t, system, mode = float(self.step.t), self.system, self.work.mode
        sides: Any = mode.side[: system.tables.n_touch]
        shown = zip(system.contacts, sides, strict=False)
        closed = tuple(name for name, side in shown if side != OPEN)
        return Done((t - self.t_start) / (self.until - self.t_start), t, closed)

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
                        self.progress(self.part)
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

    def _keep(self, log: Log) -> Log:
        """Keep a full chunk, and return the next; keep all otherwise if too many."""
        store, n = self.store, self.system.n_dof
        store.n_bytes += Log.n_bytes(self.sizes | {"capacity": log.capacity})
        if not store.is_full:
            self.chunks.append(log)
            self.log = None
            return self._new_log()
        if any(isinstance(chunk, Log) for chunk in self.chunks) and not store.trouble:
            self.chunks = [store.keep(chunk, n) for chunk in self.chunks]
        self.chunks.append(store.keep(log, n))
        if self.chunks[-1] is log:
            self.log = None
            return self._new_log()
        log.n = 0
        return log

    # -- the end -----------------------------------------------------------------

    def _finish(self) -> Result:
        """Return the result, or raise what made the run fail, with the result."""
        outcome, message, error = self.ended()
        self._take_notes(outcome)
        result = self._result(outcome, message)
        if error is not None:
            raise error(message, result)
        return result

    def ended(self) -> tuple[Outcome, str, type[SolveError] | None]:
        """Return how the run ended, and what to raise."""
        if self.status == codes.STOPPED:
            return "stopped", f"stopped by event '{self._stopper()}'", None
        if self.status == LEFT:
            return "stopped", "", None
        if self.status == codes.END and not self._is_unstable():
            return "finished", "reached the end", None
        text, is_switch = explain(self.system, self.options, self, self.status)
        return "failed", text, SwitchError if is_switch else SolveError

    def _is_unstable(self) -> bool:
        """Return whether a fixed step has diverged without overflow."""
        return self.options.scheme == "paper" and has_diverged(self.system, self.step)

    def _stopper(self) -> str:
        """Return the event that ended the run."""
        log = self.log if self.log is not None and self.log.n else self.chunks[-1]
        fired = np.asarray(log.fired)[log.n - 1][: len(self.system.events)]
        stops = self.system.tables.guard_is_stop.astype(bool)
        return self.system.events[int(np.flatnonzero((fired != 0) & stops)[0])]

    def _take_notes(self, outcome: Outcome) -> None:
        found = list(remarks([self], self.options, has_failed=outcome == "failed"))
        self.notes += found

    def steps(self) -> Steps:
        """Return what was marched."""
        chunks = [*self.chunks]
        if self.log is not None and (self.log.n or not chunks):
            last = self.log
            n_bytes = Log.n_bytes(self.sizes | {"capacity": last.capacity})
            if n_bytes > SMALL_LOG:
                # A copy of what is used; where memory is short the whole is kept.
                with suppress(MemoryError):
                    last = last.cut(self.sizes, capacity=last.n)
            chunks.append(last)
        return Steps(
            system=self.system,
            chunks=tuple(chunks),
            y_end=np.array(self.step.y),
            mode_end=np.array(self.work.mode),
        )

    def _result(self, outcome: Outcome, message: str) -> Result:
        """Return what was computed."""
        return result_of(
            self.system,
            [self],
            self.steps(),
            t_end=float(self.step.t),
            outcome=outcome,
            message=message,
            notes=self.notes,
        )


def result_of(
    system: System,
    drivers: Sequence[Driver],
    steps: Steps | Apart,
    *,
    t_end: float,
    outcome: Outcome,
    message: str,
    notes: Sequence[str],
) -> Result:
    """Return what drivers have computed of a system."""
    first, options = drivers[0], drivers[0].options
    logs = [log for d in drivers for log in (*d.chunks, d.log) if log is not None]
    n_implicit = sum(int(np.sum(g.method[: g.n] == codes.IMPLICIT)) for g in logs)
    return Result(
        system=system,
        steps=steps,
        t_start=first.t_start,
        t_end=t_end,
        status=outcome,
        message=message,
        options=options.asked(first.asked),
        cost={
            "steps": sum(d.step.n_step for d in drivers),
            "rejected": sum(d.step.n_reject for d in drivers),
            "evaluations": sum(d.step.n_rhs for d in drivers),
            "jacobians": sum(d.step.n_jacobian for d in drivers),
            "implicit_steps": n_implicit,
            "cpu_seconds": time.process_time() - first.begin,
        },
        violation=max(float(d.step.violation) for d in drivers),
        is_projected=bool(first.step.set.is_projected),
        baumgarte=options.baumgarte,
        remarks=tuple(notes),
        engine=variant(),
    )
