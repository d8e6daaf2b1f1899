"""Runs, one at a time, in a process of their own.

The solver looks in about every 0.1 s; a run is cancelled by raising from there, and
what it has computed until then is kept. What does not look, as compiling, is ended with
its process. Of a run that is over only its scene document remains: a few hundred kB,
where its steps may be hundreds of MB.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nonsmooth import gallery
from nonsmooth.app.serve import tasks
from nonsmooth.app.serve.jobs import Job, Refused, shortened
from nonsmooth.app.serve.worker import HEARD, Died, Ended, Worker
from nonsmooth.errors import ModelError

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
    has_heard: bool = False  # of being cancelled; what it computed is collected
    is_dropped: bool = False  # not even that is wanted
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
        return self.is_cancelled and not self.has_heard and not self.is_over


class Runs:
    """The queue, its worker, and the runs that are kept."""

    def __init__(
        self,
        folder: Path,
        max_memory: int = MAX_MEMORY,
        scripts: Sequence[str] = (),
    ) -> None:
        self._folder = folder
        self._max_memory = max_memory
        self._runs: dict[str, Run] = {}  # in the order they came
        self._n = 0
        self._is_closed = False
        self._changed = threading.Condition()
        self.worker, self._drawer = Worker(scripts), Worker(scripts)
        self._drawing = threading.Lock()
        self._n_drawing = 0  # asked for so far
        self._thread = threading.Thread(target=self._work, name="runs", daemon=True)
        self._thread.start()

    def warm(self) -> None:
        """Start the processes, before they are needed."""
        self._drawer.start()
        self.worker.start()

    # ---- from the server's side ------------------------------------------------

    def add(self, job: Job, until: float | None = None) -> Run:
        """Put a run into the queue; a model may have a time of its own, s."""
        until = until if job.until is None else job.until
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
        """Ask a run to end; what was computed is kept, unless it is asked again."""
        run = self.get(id)
        with self._changed:
            run.is_dropped = run.is_cancelled and run.has_heard
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

    def draw(self, job: Job) -> bytes:
        """Return the scene of a start; what was asked for before is given up."""
        self._n_drawing += 1
        own = self._n_drawing

        def is_late() -> bool:
            return own != self._n_drawing

        with self._drawing:
            if is_late():
                raise Refused(409, "another drawing was asked for")
            arguments = (job, self._folder)
            try:
                return self._drawer.ask("draw", arguments, _unheard, is_late)
            except Ended:
                raise Refused(409, "another drawing was asked for") from None
            except Died as error:
                raise Refused(500, f"the process that drew it ended {error}") from None

    def close(self, patience: float) -> bool:
        """End everything; return whether the thread ended in time, s."""
        with self._changed:
            self._is_closed = True
            for run in self._runs.values():
                run.is_cancelled = True
            self._changed.notify_all()
        self.worker.close()
        self._drawer.close()
        self._thread.join(patience)
        return not self._thread.is_alive()

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
            except (ModelError, Refused) as error:
                state, message = "failed", str(error)
            except Ended:
                state, message = "cancelled", f"cancelled while {run.phase}"
            except Died as error:
                state = "failed"
                message = (
                    f"the process that computed it ended {error}, while {run.phase}; "
                    "the server goes on"
                )
            except Exception as error:
                # A mistake of ours; the server goes on.
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
        """Have it simulated; leave scene and summary in the run."""
        if run.is_cancelled:
            return "cancelled", "cancelled before it began"

        def hear(kind: str, *rest: Any) -> None:
            if kind == tasks.TITLE:
                run.title = rest[0]
            elif kind == HEARD:
                run.has_heard = True
            else:
                run.phase, run.progress = rest

        run.phase = "starting"
        arguments = (run.job, self._folder, run.until, self._max_memory)
        found: tasks.Outcomes = self.worker.ask(
            "run", arguments, hear, lambda: run.is_cancelled, lambda: run.is_dropped
        )
        run.scene, run.summary = found.scene, found.summary
        return found.state, found.message


def _unheard(*_: Any) -> None:
    """Let a task talk."""
