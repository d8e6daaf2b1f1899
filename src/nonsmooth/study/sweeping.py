"""Carry out a study: many runs, on one machine or a cluster, resumable."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nonsmooth.errors import Interrupted, ModelError, NonsmoothWarning, worded
from nonsmooth.model import Model
from nonsmooth.study.definition import Study, prepare
from nonsmooth.study.executors import Executor, executor_of
from nonsmooth.study.index import Index
from nonsmooth.study.runs import Items
from nonsmooth.study.table import Table


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a study is; what counts as done is on disk."""

    n: int  # runs of the study
    done: int
    failed: int
    rate: float  # runs per second, since this call began
    left: float  # s, estimated; NaN as long as nothing is known

    @property
    def part(self) -> float:
        """The part that is done, 0 to 1."""
        return (self.done + self.failed) / max(self.n, 1)


@worded
def sweep(
    system: str | Model | Study,
    parameters: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    *,
    until: float | str | None = None,
    store: str | os.PathLike[str] | None = None,
    executor: str | Executor = "threads",
    workers: int | None = None,
    address: str | None = None,
    rerun: bool = False,
    wait: float = 0.0,
    progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Table:
    """Run a system at many points and keep what is asked for.

    Parameters
    ----------
    system : str, Model or Study
        A system of the gallery, a model file, a model; or a whole study, and then
        nothing of it is given again.
    parameters : mapping
        Values by keyword of the gallery (`rotor_speed`) or path
        (`contacts.sole.friction.mu`, `bodies.box.position.0`): a list, `Grid`, or
        `Between` two ends, of which `samples` points are drawn.
    outputs : mapping
        Reducers by name, or functions of a result that return a number, a text or a
        list of numbers.
    until : float or str, optional
        End of each run, s; may be an expression of parameters.
    store : path, optional
        The study's index. A study that stopped goes on where it was; finished runs
        are never computed again. In memory without.
    executor : "threads", "processes" or "dask"
        Where runs are computed. A function of your own that holds the interpreter's
        lock for long is faster in processes.
    workers : int, optional
        How many; one for each core by default.
    address : str, optional
        Of the scheduler of a Dask cluster that runs already.
    rerun : bool
        Carry out failed runs again.
    wait : float
        Seconds to wait for another process that works on the same index; it is
        refused then.
    progress : callable, optional
        Called with a `Progress` now and then.
    **options
        Other fields of `Study`: settings, combine, sampling, samples, seed, rtol, ...

    Returns
    -------
    Table

    Raises
    ------
    ModelError
        Bad input, before anything is computed.
    Interrupted
        Ctrl-C; what is done is kept in the index.
    """
    if isinstance(system, Study):
        given = {"parameters": parameters, "outputs": outputs, "until": until}
        for name in (*options, *(k for k, v in given.items() if v is not None)):
            raise system.fail(name, "...", "it is part of the study already")
        study = system
    else:
        study = Study(
            system=system,
            parameters=dict(parameters or {}),
            outputs=dict(outputs or {}),
            until=until,
            **options,
        )
    if isinstance(wait, bool) or not isinstance(wait, int | float) or not wait >= 0.0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelError(f"wait = {wait!r}; give seconds >= 0")
    ready = prepare(study)
    chosen = executor_of(executor, workers, address)
    index = Index(ready, store, wait)
    try:
        with warnings.catch_warnings():
            # What they say is among the doubts of a run.
            warnings.simplefilter("ignore", NonsmoothWarning)
            _drive(ready, chosen, index, rerun, progress)
        path = os.fspath(store) if store is not None else None
        return Table(ready.definition, study.points.dims, index.rows(), path)
    finally:
        index.close()


def _drive(
    ready: Any,
    executor: Executor,
    index: Index,
    rerun: bool,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Compute what is to be computed, and write it down as it comes."""
    todo = index.begin(rerun=rerun)
    points = ready.study.points
    n, n_before = len(points), len(points) - len(todo)
    n_failed = index.counts().get("failed", 0) if not rerun else 0
    n_new, begin = 0, time.monotonic()

    def report() -> None:
        if progress is None:
            return
        spent = time.monotonic() - begin
        rate = n_new / spent if spent > 0.0 else 0.0
        left = (len(todo) - n_new) / rate if rate else float("nan")
        done = n_before + n_new - n_failed
        progress(Progress(n=n, done=done, failed=n_failed, rate=rate, left=left))

    stream = executor.outcomes(
        ready, Items(todo, points), lambda batch: index.start(k for k, _ in batch)
    )
    try:
        for outcomes in stream:
            n_new += len(outcomes)
            n_failed += sum(outcome.status == "failed" for outcome in outcomes)
            if index.add(outcomes):
                report()
    except KeyboardInterrupt:
        _end(stream)
        index.commit()
        where = f"kept in {index.path}" if index.path else "lost, without a store"
        raise Interrupted(
            f"interrupted: {n_before + n_new} of {n} runs are done and {where}"
        ) from None
    finally:
        _end(stream)
    index.commit()
    report()


def _end(stream: Any) -> None:
    close = getattr(stream, "close", None)
    if close is not None:
        close()
