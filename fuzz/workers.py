"""Cases in parallel processes that may die or hang without ending the rest."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from fuzz.outcome import ERROR, SLOW, Outcome, run_case

Task = tuple[str, int]
# Seconds besides the CPU time of runs: auditing on a busy machine; and, for the first
# case of a worker, loading or compiling as well.
PATIENCE, FIRST_PATIENCE = 300.0, 1800.0


def _serve(pipe: Connection, options: dict[str, Any]) -> None:
    """Run what comes down a pipe until it is closed."""
    while True:
        try:
            task = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        family, seed = task
        try:
            outcome = run_case(family, seed, **options)
        except KeyboardInterrupt:
            return
        except Exception as error:
            # A bug of the engine, of the family or of the audit: none may be lost.
            text = f"{type(error).__name__}: {error}"
            outcome = Outcome(family=family, seed=seed, kind=ERROR, message=text)
        pipe.send(outcome)


class _Worker:
    """A process, what it works on and since when."""

    def __init__(self, options: dict[str, Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs, options), daemon=True
        )
        self.process.start()
        theirs.close()
        self.task: Task | None = None
        self.begin, self.n_done = 0.0, 0

    def give(self, task: Task) -> None:
        """Hand over a case."""
        self.task, self.begin = task, time.monotonic()
        self.pipe.send(task)

    def end(self) -> None:
        """Stop the process."""
        self.pipe.close()
        self.process.terminate()
        self.process.join()


def run_all(
    tasks: list[Task], jobs: int, limit: float, with_agreement: bool
) -> Iterator[Outcome]:
    """Yield the outcomes of all cases, in the order in which they end."""
    options = {"limit": limit, "with_agreement": with_agreement}
    waiting = list(reversed(tasks))
    # The first one compiles, if that is needed, and not all at the same time.
    workers = [_Worker(options)]
    try:
        workers[0].give(waiting.pop())
        while any(worker.task is not None for worker in workers):
            pipes = [w.pipe for w in workers if w.task is not None]
            ready = wait(pipes, timeout=1.0)
            for k, worker in enumerate(workers):
                if worker.task is None:
                    continue
                outcome = _look_at(worker, worker.pipe in ready, limit)
                if outcome is None:
                    continue
                yield outcome
                worker.task = None
                worker.n_done += 1
                if not worker.process.is_alive():
                    worker.end()
                    workers[k] = _Worker(options)
            while len(workers) < jobs and waiting and workers[0].n_done:
                workers.append(_Worker(options))
            for worker in workers:
                if worker.task is None and waiting:
                    worker.give(waiting.pop())
    finally:
        for worker in workers:
            worker.end()


def _look_at(worker: _Worker, is_ready: bool, limit: float) -> Outcome | None:
    """Return what a worker has found, or that it died or hangs; None if it works."""
    assert worker.task is not None
    family, seed = worker.task
    if is_ready:
        try:
            return worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            text = f"the process died, exit code {worker.process.exitcode}"
            return Outcome(family=family, seed=seed, kind=ERROR, message=text)
    patience = PATIENCE if worker.n_done else FIRST_PATIENCE
    if time.monotonic() - worker.begin > patience + 20.0 * limit:
        worker.process.kill()
        worker.process.join()
        return Outcome(family=family, seed=seed, kind=SLOW, message="hangs")
    return None
