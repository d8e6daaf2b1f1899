"""Runs, one at a time, in a thread of their own.

Kernels release the interpreter's lock, so that the server goes on answering. The
solver looks in about every 0.1 s; a run is cancelled by raising from there, and what
it has computed until then is kept. Of a run that is over only its scene document
remains: a few hundred kB, where its steps may be hundreds of MB.
"""

from __future__ import annotations

import dataclasses
import logging
import sys
import threading
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nonsmooth import gallery
from nonsmooth.app.serve import jobs
from nonsmooth.app.serve.jobs import Job, Refused, shortened
from nonsmooth.errors import Interrupted, ModelError, NonsmoothWarning, SolveError
from nonsmooth.result import Result
from nonsmooth.views.scene import scene

log = logging.getLogger(__name__)

State = Literal["queued", "running", "finished", "stopped", "failed", "cancelled"]

# Runs that wait; runs kept, and the bytes of their scenes.
MAX_QUEUE = 8
MAX_KEPT = 12
MAX_SCENES = 200_000_000
# Steps of a run may take this much memory, bytes. Putting them together takes as much
# again for a moment.
MAX_MEMORY = 600_000_000


@dataclass
class Run:
    """One run, from the request to the scene."""

    id: str
    job: Job
    state: State = "queued"
    progress: float = 0.0  # part of the time simulated, 0 to 1
    phase: str = "waiting"
    message: str = ""
    begin: float | None = None  # clock, s
    end: float = 0.0  # clock, s
    seconds: float = 0.0
    until: float = 0.0  # s
    title: str = ""
    summary: dict[str, Any] | None = None
    scene: bytes | None = None
    is_cancelled: bool = False
    overflow: bool = False  # stopped for want of memory
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        """Whether nothing will change any more."""
        return self.done.is_set()

    def plain(self) -> dict[str, Any]:
        """Return the run as plain data."""
        seconds = self.seconds
        if self.begin is not None and not self.is_over:
            seconds = time.monotonic() - self.begin
        return {
            "id": self.id,
            "state": self.state,
            "progress": self.progress,
            "phase": "cancelling" if self._is_ending() else self.phase,
            "message": self.message,
            "seconds": round(seconds, 3),
            "until": self.until,
            "title": self.title,
            "has_scene": self.scene is not None,
            "summary": self.summary,
            "request": self.job.asked(),
        }

    def _is_ending(self) -> bool:
        return self.is_cancelled and not self.is_over


class Runs:
    """The queue, its worker, and the runs that are kept."""

    def __init__(self, folder: Path, max_memory: int = MAX_MEMORY) -> None:
        self._folder = folder
        self._max_memory = max_memory
        self._runs: dict[str, Run] = {}  # in the order they came
        self._n = 0
        self._is_closed = False
        self._changed = threading.Condition()
        # Not waited for when the process ends: compiling cannot be interrupted.
        self._worker = threading.Thread(target=self._work, name="runs", daemon=True)
        self._worker.start()

    # ---- from the server's side ------------------------------------------------

    def add(self, job: Job) -> Run:
        """Put a run into the queue."""
        until = job.until
        if until is None:
            if job.source != "system":
                raise Refused(422, "until: a model needs a time to run, s", "until")
            until = gallery.duration(job.name)
        with self._changed:
            if sum(run.state == "queued" for run in self._runs.values()) >= MAX_QUEUE:
                raise Refused(
                    429, f"{MAX_QUEUE} runs wait already; cancel one or try again later"
                )
            self._n += 1
            run = Run(id=str(self._n), job=job, until=until, title=job.name)
            self._runs[run.id] = run
            self._changed.notify_all()
        return run

    def get(self, id: str) -> Run:
        """Return a run."""
        run = self._runs.get(id)
        if run is None:
            raise Refused(404, f"no run {id!r}; only the last {MAX_KEPT} are kept")
        return run

    def all(self) -> list[Run]:
        """Return all runs, the oldest first."""
        with self._changed:
            return list(self._runs.values())

    def cancel(self, id: str) -> Run:
        """Ask a run to end; what was computed is kept. Nothing if it is over."""
        run = self.get(id)
        with self._changed:
            run.is_cancelled = True
            if run.state == "queued":
                self._end(run, "cancelled", "cancelled before it began")
                self._forget()
        return run

    def delete(self, id: str) -> None:
        """Forget a run; one that is under way is cancelled."""
        self.cancel(id)
        with self._changed:
            self._runs.pop(id, None)

    def close(self, patience: float) -> bool:
        """Cancel everything; return whether the worker ended in time, s."""
        with self._changed:
            self._is_closed = True
            for run in self._runs.values():
                run.is_cancelled = True
            self._changed.notify_all()
        self._worker.join(patience)
        return not self._worker.is_alive()

    # ---- the worker ------------------------------------------------------------

    def _next(self) -> Run | None:
        """Wait for a run; None at the end."""
        with self._changed:
            while not self._is_closed:
                for run in self._runs.values():
                    if run.state == "queued":
                        run.state, run.begin = "running", time.monotonic()
                        return run
                self._changed.wait()
        return None

    def _work(self) -> None:
        while (run := self._next()) is not None:
            try:
                state, message = self._compute(run)
            except (ModelError, SolveError, Refused) as error:
                state, message = "failed", str(error)
            except KeyboardInterrupt:  # `look` ended it, outside the march
                state, message = "failed", "ended before it began"
            except MemoryError:
                state, message = "failed", "out of memory; try a smaller system"
            except Exception as error:
                # A mistake of ours, or of a user's law; the server goes on.
                log.exception("run %s failed", run.id)
                kind = type(error).__name__
                message = f"internal error, {kind}; the server's log has the details"
                state = "failed"
            with self._changed:
                if run.is_cancelled and state == "failed" and run.scene is None:
                    state = "cancelled"
                self._end(run, state, message)
                self._forget()

    def _end(self, run: Run, state: State, message: str) -> None:
        run.state, run.message, run.phase = state, shortened(message), "done"
        run.end = time.monotonic()
        if run.begin is not None:
            run.seconds = time.monotonic() - run.begin
        run.done.set()

    def _forget(self) -> None:
        """Drop runs that are over, above the limits: first those that show nothing.

        The last that ended is kept.
        """
        over = [run for run in self._runs.values() if run.is_over]
        over.sort(key=lambda run: (run.scene is not None, run.end))
        size = sum(len(run.scene or b"") for run in over)
        for run in over[:-1]:
            if len(over) <= MAX_KEPT and size <= MAX_SCENES:
                break
            over.remove(run)
            size -= len(run.scene or b"")
            del self._runs[run.id]

    def _compute(self, run: Run) -> tuple[State, str]:
        """Simulate; leave scene and summary in the run; return state and message."""
        if run.is_cancelled:
            return "cancelled", "cancelled before it began"
        run.phase = "building the model"
        model = jobs.build(run.job, self._folder)
        run.title = model.title or run.job.name
        error = ""
        try:
            saved = run.job.saved
            result = Result.load(saved) if saved else self._simulated(run, model)
        except (SolveError, Interrupted) as failure:
            if failure.result is None:
                raise
            result, error = failure.result, str(failure)
            if isinstance(failure, Interrupted):
                error = self._ended_early(run, result)
                result = dataclasses.replace(result, status="stopped", message=error)
        run.phase = "preparing the view"
        run.scene = scene(result, jobs.used(run.job))
        run.summary = _summary(result)
        if run.is_cancelled and error:
            return "cancelled", error
        return result.status, error or result.message

    def _simulated(self, run: Run, model: Any) -> Result:
        run.phase = "loading the solver"
        from nonsmooth.solve.simulate import simulate

        before = resident()

        def look(part: float) -> None:
            is_there = part >= 1.0
            run.progress = float(part)
            run.phase = "collecting events" if is_there else "simulating"
            if resident() - before > self._max_memory:
                run.overflow = True
            if run.is_cancelled or run.overflow:
                raise KeyboardInterrupt

        with _compiling(run), warnings.catch_warnings():
            # What they say is among the notes of the result.
            warnings.simplefilter("ignore", NonsmoothWarning)
            # The limit is this server's own.
            options = run.job.solver()
            return simulate(model, run.until, progress=look, beyond="keep", **options)

    def _ended_early(self, run: Run, result: Result) -> str:
        if not run.overflow:
            return f"cancelled at t = {result.t_end:.6g} s"
        return (
            f"stopped at t = {result.t_end:.6g} s: {len(result.steps.t)} steps fill "
            f"{self._max_memory / 1e6:.0f} MB, the limit of this server; run a shorter "
            "time, or with a larger rtol"
        )


@contextmanager
def _compiling(run: Run) -> Generator[None]:
    """Let the phase say so while the solver is compiled."""
    from nonsmooth.kernels.abi import library

    def listen(done: int, n: int) -> None:
        run.phase = f"compiling the solver, once per installation: {done} of {n}"

    library.listeners.append(listen)
    try:
        yield
    finally:
        library.listeners.remove(listen)


def _summary(result: Result) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for record in result.events:
        counts[record.kind] = counts.get(record.kind, 0) + 1
    return {
        "status": result.status,
        "t_end": result.t_end,
        "events": counts,
        "n_events": len(result.events),
        "steps": len(result.steps.t),
        "cpu_seconds": round(float(result.cost["cpu_seconds"]), 4),
        "notes": list(result.notes),
    }


def resident() -> int:
    """Return the memory of this process, bytes; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            n_page = int(file.read().split()[1])
        import resource

        return n_page * resource.getpagesize()
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    # The peak, in kB; on macOS in bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
