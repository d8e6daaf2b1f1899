"""What the server has done in another process: a run, and the drawing of a start."""

from __future__ import annotations

import dataclasses
import importlib
import logging
import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nonsmooth.app.serve import jobs
from nonsmooth.app.serve.jobs import Job, Refused
from nonsmooth.app.serve.worker import Task
from nonsmooth.columns import check_wishes
from nonsmooth.errors import Interrupted, ModelError, NonsmoothWarning, SolveError
from nonsmooth.result import Result
from nonsmooth.views.scene import scene, still

log = logging.getLogger(__name__)

Outcome = Literal["finished", "stopped", "failed", "cancelled"]
# What a task tells: what it is at, and the part that is done; the title of its model.
PHASE, TITLE = "phase", "title"
PREPARING, COLLECTING = "preparing the view", "collecting what was computed"


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """How a run ended, and what there is to see of it."""

    state: Outcome
    message: str
    summary: dict[str, Any] | None = None
    scene: bytes | None = None


def load() -> None:
    """Import what a run needs, before one is asked for."""
    importlib.import_module("nonsmooth.solve.simulate")


def portable(error: Exception) -> Exception:
    """Return an error that can be sent; of a mistake of ours its kind alone."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, ModelError | SolveError):
        return ModelError(str(error))
    if isinstance(error, MemoryError):
        return ModelError("out of memory; try a smaller system")
    # A mistake of ours, or of a user's law.
    log.error("a task of the server failed", exc_info=error)
    kind = type(error).__name__
    return ModelError(f"internal error, {kind}; the server's log has the details")


def draw(task: Task, job: Job, folder: Path) -> bytes:
    """Return the scene of a model as it starts; nothing is simulated."""
    from nonsmooth.pack import pack

    return still(pack(jobs.build(job, folder)), jobs.used(job))


def run(task: Task, job: Job, folder: Path, until: float, max_memory: int) -> Outcomes:
    """Simulate; what was computed until it failed or was cancelled is kept."""
    task.tell(PHASE, "building the model", 0.0)
    model = jobs.build(job, folder)
    task.tell(TITLE, model.title or job.name)
    ender = _Ender(task, max_memory)
    error = ""
    try:
        if job.saved:
            result = Result.load(job.saved)
        else:
            result = _simulated(task, job, model, until, ender)
    except (SolveError, Interrupted) as failure:
        if failure.result is None:
            raise
        result, error = failure.result, str(failure)
        if isinstance(failure, Interrupted):
            error = ender.words(result)
            result = dataclasses.replace(result, status="stopped", message=error)
    except KeyboardInterrupt:  # `look` ended it, outside the march
        return Outcomes(state="cancelled", message="cancelled before it began")
    words = COLLECTING if ender.is_cancelled else PREPARING
    task.tell(PHASE, words, ender.part)
    return Outcomes(
        state="cancelled" if ender.is_cancelled else result.status,
        message=error or result.message,
        summary=_summary(result),
        scene=scene(result, jobs.used(job)),
    )


class _Ender:
    """Ends a run that is cancelled, or fills the memory."""

    def __init__(self, task: Task, max_memory: int) -> None:
        self.task, self.max_memory = task, max_memory
        self.before = resident()
        self.is_cancelled = False
        self.part = 0.0

    def look(self, part: float) -> None:
        """Tell how far the run is; raise to end it."""
        phase = "collecting events" if part >= 1.0 else "simulating"
        self.part = float(part)
        self.task.tell(PHASE, phase, self.part)
        self.is_cancelled = self.task.is_cancelled()
        if self.is_cancelled or resident() - self.before > self.max_memory:
            self.task.tell(PHASE, COLLECTING, self.part)
            raise KeyboardInterrupt

    def words(self, result: Result) -> str:
        """Say why the run was ended."""
        if self.is_cancelled:
            return f"cancelled at t = {result.t_end:.6g} s"
        return (
            f"stopped at t = {result.t_end:.6g} s: {len(result.steps.t)} steps fill "
            f"{self.max_memory / 1e6:.0f} MB, the limit of this server; run a shorter "
            "time, or with a larger rtol"
        )


def _simulated(task: Task, job: Job, model: Any, until: float, ender: _Ender) -> Result:
    task.tell(PHASE, "loading the solver", 0.0)
    from nonsmooth.pack import pack
    from nonsmooth.solve.simulate import simulate

    with _compiling(task), warnings.catch_warnings():
        # What they say is among the notes of the result.
        warnings.simplefilter("ignore", NonsmoothWarning)
        # The limit is this server's own.
        options = job.solver()
        system = pack(model)
        check_wishes(system)  # not after all is computed
        return simulate(system, until, progress=ender.look, beyond="keep", **options)


@contextmanager
def _compiling(task: Task) -> Generator[None]:
    """Let the phase say so while the solver is compiled."""
    from nonsmooth.kernels.abi import library

    def listen(done: int, n: int) -> None:
        words = f"compiling the solver, once per installation: {done} of {n}"
        task.tell(PHASE, words, 0.0)

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
