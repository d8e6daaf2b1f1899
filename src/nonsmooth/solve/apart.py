"""Parts that share nothing march apart, each with steps and events of its own."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

from nonsmooth.errors import FAILURES, Interrupted, SolveError
from nonsmooth.kernels import run as codes
from nonsmooth.pack import Part, System
from nonsmooth.result import Result, State, apart
from nonsmooth.result.kept import Store
from nonsmooth.solve.driver import Driver, Floats, Outcome, result_of
from nonsmooth.solve.options import Options
from nonsmooth.solve.progress import Done, Progress
from nonsmooth.solve.remarks import remarks
from nonsmooth.solve.schemes.base import Scheme


class Drivers:
    """The runs of all parts of a system, in progress.

    The part that lags behind is the next to go on, so that all are at about the same
    time when the run is interrupted. Where one stops or fails, the others end as well.
    """

    def __init__(
        self,
        system: System,
        options: Options,
        scheme: Scheme,
        t_start: float,
        until: float,
        q: Floats,
        v: Floats,
        start: State | None,
        store: Store,
    ) -> None:
        self.system = system
        self.t_start, self.until = t_start, until
        self.every = [
            _driver(part, options, scheme, (t_start, until), (q, v), start, store)
            for part in system.parts
        ]
        self.ender: Driver | None = None  # the one that stopped or failed first

    def run(self, progress: Progress | None, notes: Sequence[str]) -> Result:
        """March all parts until the end, a stop or a failure."""
        try:
            self._march(progress)
        except KeyboardInterrupt as interrupt:
            text = f"interrupted at t = {self._reached():.6g} s"
            result = self._result("failed", text, notes)
            raise Interrupted(text, result) from interrupt
        except MemoryError as error:
            for driver in self.every:
                driver.reserve = None
            n = sum(driver.step.n_step for driver in self.every)
            text = FAILURES["memory"].format(t=self._reached(), n=n)
            raise SolveError(text, self._result("failed", text, notes)) from error
        return self._finish(notes)

    def _march(self, progress: Progress | None) -> None:
        marching = [driver.marching() for driver in self.every]
        queue = [(self.t_start, k) for k in range(len(self.every))]
        while queue:
            _, k = queue[0]
            driver = self.every[k]
            is_over = next(marching[k], self) is self
            if is_over:
                heapq.heappop(queue)
                if driver.status != codes.END:
                    self._end_at(driver)
            else:
                heapq.heapreplace(queue, (float(driver.step.t), k))
            if progress is not None:
                now = min(queue[0][0], self.until) if queue else self.until
                part = (now - self.t_start) / (self.until - self.t_start)
                progress(Done(part, now))

    def _end_at(self, driver: Driver) -> None:
        """Let all end where one has stopped or failed, unless another did earlier."""
        t = float(driver.step.t)
        if self.ender is None or t < self.until:
            self.ender, self.until = driver, t
            for other in self.every:
                other.until = min(other.until, t)

    def _reached(self) -> float:
        """Return the time that all parts have reached."""
        return min(self.until, *(float(driver.step.t) for driver in self.every))

    def _finish(self, notes: Sequence[str]) -> Result:
        first = self.ender or self.every[0]
        outcome, message, error = first.ended()
        options, has_failed = first.options, outcome == "failed"
        # A warning of theirs comes from the caller of `simulate`.
        said = list(remarks(self.every, options, has_failed=has_failed))
        result = self._result(outcome, message, [*notes, *said])
        if error is not None:
            raise error(message, result)
        return result

    def _result(self, outcome: Outcome, message: str, notes: Sequence[str]) -> Result:
        t_end = self._reached()
        own = [(driver.steps(), float(driver.step.t)) for driver in self.every]
        is_projected = bool(self.every[0].step.set.is_projected)
        return result_of(
            self.system,
            self.every,
            apart(self.system, own, t_end, is_projected=is_projected),
            t_end=t_end,
            outcome=outcome,
            message=message,
            notes=notes,
        )


def _driver(
    part: Part,
    options: Options,
    scheme: Scheme,
    span: tuple[float, float],
    given: tuple[Floats, Floats],
    start: State | None,
    store: Store,
) -> Driver:
    """Return the driver of a part; `given` are q, and v with z, of the whole."""
    system = part.system
    n, n_z = system.n_dof, system.n_state
    q = given[0][part.state[:n]]
    v = given[1][part.state[n : 2 * n + n_z] - len(given[0])]
    driver = Driver(system, options, scheme, system.work(), *span, q, v, store=store)
    if start is not None:
        own = {k: m for k, m in start.mode.items() if k in system.with_mode}
        driver.go_on_in(replace(start, mode=own))
    return driver
