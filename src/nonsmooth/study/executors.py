"""Where runs are computed: threads, processes, or the workers of a Dask cluster.

An executor takes items, numbers of points with the points, and yields outcomes as they
come. It takes no more items than it needs to keep its workers busy, so that memory does
not grow with the number of runs.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from typing import Any, Protocol

from nonsmooth.errors import ModelError, nearest
from nonsmooth.study.definition import Prepared
from nonsmooth.study.reducers import function_of
from nonsmooth.study.runs import Item, Outcome, be_quiet, compute_all

# A batch for another process takes about so long: messages cost a millisecond.
BATCH_SECONDS = 0.25
MAX_BATCH = 1000
# How often a run may take its process with it before it counts as failed.
MAX_DEATHS = 3
# How often the caller looks for Ctrl-C, s.
TICK = 0.1


class Executor(Protocol):
    """Computes runs."""

    def outcomes(
        self,
        ready: Prepared,
        items: Sequence[Item],
        on_start: Callable[[list[Item]], None],
    ) -> Iterator[list[Outcome]]:
        """Yield outcomes as they come; closed early, it stops what is under way."""
        ...


def count_workers(workers: int | None) -> int:
    """Return the number of workers: one for each core that we may use by default."""
    if workers is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    is_whole = isinstance(workers, int) and not isinstance(workers, bool)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not is_whole or workers < 1:
        raise ModelError(f"workers = {workers!r}; give a whole number >= 1")
    return workers


class Batches:
    """Items to hand out, in batches that take about as long as they should."""

    def __init__(self, items: Sequence[Item], n_slot: int, seconds: float) -> None:
        # Items are made as they are handed out: all of them would fill the memory.
        self._items, self._at = items, 0
        self._again: deque[Item] = deque()
        self._n_slot, self._seconds = n_slot, seconds
        self._n, self._spent = 0, 0.0

    def __len__(self) -> int:
        """Return how many are left."""
        return len(self._again) + len(self._items) - self._at

    def next(self) -> list[Item]:
        """Return the next batch; a small one as long as nothing is known."""
        n = 1
        if self._n:
            n = int(self._seconds * self._n / max(self._spent, 1e-9))
        # Towards the end all have something to do.
        fair = -(-len(self) // (2 * self._n_slot))
        n = min(max(1, min(n, MAX_BATCH, fair)), len(self))
        return [self._pop() for _ in range(n)]

    def _pop(self) -> Item:
        if self._again:
            return self._again.popleft()
        self._at += 1
        return self._items[self._at - 1]

    def learn(self, outcomes: Sequence[Outcome]) -> None:
        """Take note of how long runs take."""
        self._n += len(outcomes)
        self._spent += sum(outcome.seconds for outcome in outcomes)

    def back(self, items: Sequence[Item]) -> None:
        """Take items back that were not computed."""
        self._again.extendleft(reversed(items))


class Threads:
    """Threads of this process: compiled code gives up the interpreter's lock."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = count_workers(workers)

    def outcomes(
        self,
        ready: Prepared,
        items: Sequence[Item],
        on_start: Callable[[list[Item]], None],
    ) -> Iterator[list[Outcome]]:
        """Yield outcomes as they come."""
        is_over = threading.Event()
        batches = Batches(items, self.workers, 0.0)
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="study")
        pending: set[Future[list[Outcome]]] = set()
        try:
            while batches or pending:
                while batches and len(pending) < 2 * self.workers:
                    batch = batches.next()
                    on_start(batch)
                    pending.add(pool.submit(compute_all, ready, batch, is_over.is_set))
                done, pending = wait(pending, TICK, FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            is_over.set()
            for future in pending:
                future.cancel()
            pool.shutdown(wait=True, cancel_futures=True)


# -- processes -----------------------------------------------------------------------

_ready: Prepared | None = None


def _begin_process(blob: bytes) -> None:
    """Make a worker ready; Ctrl-C is for the process that started it."""
    global _ready
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    be_quiet()
    _ready = pickle.loads(blob)


def _end_with_parent() -> None:
    """Wait for the end of the process that started this one, which may be killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _in_process(items: list[Item]) -> list[Outcome]:
    assert _ready is not None
    return compute_all(_ready, items, lambda: False)


def packed(ready: Prepared, dumps: Callable[[Any], bytes], remedy: str) -> bytes:
    """Return a study as bytes for a worker; say which output cannot be sent."""
    for name, reducer in ready.study.outputs.items():
        try:
            dumps(reducer)
        except Exception as error:
            function = function_of(reducer)
            what = getattr(function, "__qualname__", type(reducer).__name__)
            raise ModelError(
                f"output '{name}': {what} cannot be sent to a worker ({error}); "
                f"{remedy}"
            ) from None
    try:
        return dumps(ready)
    except Exception as error:
        raise ModelError(
            f"the model cannot be sent to a worker ({error}); define the classes of "
            "your own laws at the top of a module"
        ) from None


class Processes:
    """Processes of this machine, for functions that hold the interpreter's lock."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = count_workers(workers)

    def outcomes(
        self,
        ready: Prepared,
        items: Sequence[Item],
        on_start: Callable[[list[Item]], None],
    ) -> Iterator[list[Outcome]]:
        """Yield outcomes as they come; a process that dies is replaced."""
        remedy = (
            "define it at the top of a module that can be imported, or use "
            "executor='threads'"
        )
        blob = packed(ready, pickle.dumps, remedy)
        batches = Batches(items, self.workers, BATCH_SECONDS)
        deaths: Counter[int] = Counter()
        while batches:
            yield from self._until_death(blob, batches, deaths, on_start)

    def _until_death(
        self,
        blob: bytes,
        batches: Batches,
        deaths: Counter[int],
        on_start: Callable[[list[Item]], None],
    ) -> Iterator[list[Outcome]]:
        """Yield outcomes until all are there, or a process has died."""
        # A copy of this one would have its locks, as they happen to be.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self.workers, context, _begin_process, (blob,))
        pending: dict[Future[list[Outcome]], list[Item]] = {}
        is_whole = True
        try:
            while (batches and is_whole) or pending:
                while batches and is_whole and len(pending) < 2 * self.workers:
                    batch = batches.next()
                    on_start(batch)
                    pending[pool.submit(_in_process, batch)] = batch
                for future in wait(pending, TICK, FIRST_COMPLETED).done:
                    batch = pending.pop(future)
                    try:
                        outcomes = future.result()
                    except BrokenProcessPool:
                        is_whole = False
                        yield from lost(batch, batches, deaths)
                    else:
                        batches.learn(outcomes)
                        yield outcomes
        except BrokenProcessPool:  # when the next was to be submitted
            for batch in pending.values():
                yield from lost(batch, batches, deaths)
            pending.clear()
        finally:
            if pending:
                for process in list((pool._processes or {}).values()):  # pyright: ignore[reportPrivateUsage]
                    process.kill()
            pool.shutdown(wait=True, cancel_futures=True)


def lost(
    batch: list[Item], batches: Batches, deaths: Counter[int]
) -> Iterator[list[Outcome]]:
    """Hand out again what a dead process had, but not for ever."""
    for item in batch:
        deaths[item[0]] += 1
    again = [item for item in batch if deaths[item[0]] < MAX_DEATHS]
    batches.back(again)
    given_up = [item[0] for item in batch if deaths[item[0]] >= MAX_DEATHS]
    if given_up:
        why = f"the process that ran it died, {MAX_DEATHS} times; out of memory?"
        yield [Outcome(k=k, status="failed", message=why) for k in given_up]


def executor_of(
    executor: str | Executor, workers: int | None, address: str | None
) -> Executor:
    """Return an executor by its name."""
    if not isinstance(executor, str):
        return executor
    if address is not None and executor != "dask":
        raise ModelError(f"address = {address!r} is for executor='dask'")
    if executor == "threads":
        return Threads(workers)
    if executor == "processes":
        return Processes(workers)
    if executor == "dask":
        from nonsmooth.study.cluster import Dask

        return Dask(workers, address)
    known = ("threads", "processes", "dask")
    raise ModelError(f"executor = {executor!r}; {nearest(executor, known)}")
