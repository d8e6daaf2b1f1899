"""Runs on the workers of a Dask cluster, at an address or started here."""

from __future__ import annotations

import logging
import queue
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from nonsmooth.errors import ModelError
from nonsmooth.study.definition import Prepared
from nonsmooth.study.executors import (
    BATCH_SECONDS,
    TICK,
    Batches,
    count_workers,
    lost,
    packed,
)
from nonsmooth.study.runs import Item, Outcome, be_quiet, compute_all

# Batches in the hands of each thread of a worker: one runs, others are on their way.
AHEAD = 3
# Batches a second that a scheduler hands out without effort: with many workers batches
# take longer.
BATCH_RATE = 100.0
# How long to wait for a scheduler, and for its first worker, s.
PATIENCE = 20.0


def _version() -> str:
    import nonsmooth

    return nonsmooth.__version__


@lru_cache(maxsize=4)
def _unpacked(blob: bytes) -> Prepared:
    """Return a study; a worker unpacks it once."""
    import pickle

    be_quiet()
    return pickle.loads(blob)


def _on_worker(blob: bytes, library: str, items: list[Item]) -> list[Outcome] | str:
    """Carry out a batch; a worker of another release, which may join later, declines.

    Returns the version of the worker if it is not that of the study.
    """
    own = _version()
    if own != library:
        return own
    return compute_all(_unpacked(blob), items, lambda: False)


class Dask:
    """Workers of a Dask cluster.

    Parameters
    ----------
    workers : int, optional
        Processes of a cluster that is started here, on this machine.
    address : str, optional
        Of the scheduler of a cluster that runs already: "tcp://10.0.0.1:8786".
    """

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        if find_spec("distributed") is None:
            raise ModelError(
                "executor='dask' needs distributed: pip install 'nonsmooth[cluster]'"
            )
        if address is not None and workers is not None:
            raise ModelError(
                "workers is for a cluster that is started here, and address for one "
                "that runs already; give one of them"
            )
        self.workers = count_workers(workers) if address is None else None
        self.address = address

    def _client(self) -> tuple[Any, Any]:
        from distributed import Client, LocalCluster

        cluster: Any = None
        place: Any = self.address
        if place is None:
            options: dict[str, Any] = {"dashboard_address": None, "processes": True}
            cluster = place = LocalCluster(
                n_workers=self.workers,
                threads_per_worker=1,
                silence_logs=logging.ERROR,
                **options,
            )
        try:
            client: Any = Client(place, timeout=PATIENCE, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ModelError(f"address = {self.address!r}: {error}") from None
        return client, cluster

    def outcomes(
        self,
        ready: Prepared,
        items: Sequence[Item],
        on_start: Callable[[list[Item]], None],
    ) -> Iterator[list[Outcome]]:
        """Yield outcomes as they come; what a lost worker had is done by others."""
        import cloudpickle

        dumps: Callable[[Any], bytes] = getattr(cloudpickle, "dumps")  # noqa: B009
        remedy = "leave out of it what cannot be pickled, or use executor='threads'"
        blob = packed(ready, dumps, remedy)
        client, cluster = self._client()
        try:
            self._check_versions(client, ready.library)
            yield from self._drive(client, blob, ready.library, items, on_start)
        finally:
            client.close(timeout=5)
            if cluster is not None:
                cluster.close(timeout=5)

    def _check_versions(self, client: Any, library: str) -> None:
        """Refuse workers of another release, by their addresses."""
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise ModelError(
                f"the cluster has no workers, after {PATIENCE:g} s; start some"
            ) from None
        found: dict[str, Any] = client.run(_version, on_error="return")
        for worker, version in found.items():
            if isinstance(version, ModuleNotFoundError):
                raise ModelError(f"worker {worker} has no nonsmooth installed")
            if version != library:
                raise _other(worker, version, library)

    def _drive(
        self,
        client: Any,
        blob: bytes,
        library: str,
        items: Sequence[Item],
        on_start: Callable[[list[Item]], None],
    ) -> Iterator[list[Outcome]]:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        n_slot = max(1, sum(client.nthreads().values()))
        seconds = max(BATCH_SECONDS, n_slot / BATCH_RATE)
        batches = Batches(items, n_slot, seconds)
        deaths: Counter[int] = Counter()
        pending: dict[Any, list[Item]] = {}
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            while batches or pending:
                while batches and len(pending) < AHEAD * n_slot:
                    batch = batches.next()
                    on_start(batch)
                    future = client.submit(_on_worker, blob, library, batch, pure=False)
                    pending[future] = batch
                    future.add_done_callback(done.put)
                try:
                    future = done.get(timeout=TICK)
                except queue.Empty:
                    continue
                batch = pending.pop(future)
                try:
                    outcomes = future.result()
                except (KilledWorker, FutureCancelledError):
                    yield from lost(batch, batches, deaths)
                    continue
                if isinstance(outcomes, str):
                    raise _other("of the cluster", outcomes, library)
                batches.learn(outcomes)
                yield outcomes
        finally:
            if pending:
                client.cancel(list(pending), force=True)


def _other(worker: str, version: Any, library: str) -> ModelError:
    return ModelError(
        f"worker {worker} has nonsmooth {version}, and this is {library}: results "
        "could differ; install the same release everywhere"
    )
