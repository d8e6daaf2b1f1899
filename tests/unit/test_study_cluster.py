"""Studies on a Dask cluster: a scheduler and workers of their own, on loopback."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from nonsmooth import ModelError, __version__
from nonsmooth.study import Count, Final, Grid, Study, sweep
from nonsmooth.study.cluster import Dask

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

SPEEDS = {"speed": Grid(low=0.05, high=0.5, n=60)}


def belts(**changes):
    outputs = {"x": Final(column="block.x"), "n": Count()}
    given: dict[str, Any] = {
        "system": "belt",
        "parameters": SPEEDS,
        "outputs": outputs,
        "until": 4.0,
    }
    return Study(**(given | changes))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def process(*words, **environment):
    """Start a part of a cluster in a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as found:
        try:
            yield found
        finally:
            found.kill()


@pytest.fixture
def scheduler():
    port = free_port()
    words = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show")
    with process("dask_scheduler", *words):
        yield f"tcp://127.0.0.1:{port}"


def worker(address, *words):
    return process(
        "dask_worker",
        address,
        "--nthreads",
        "1",
        "--no-nanny",
        "--no-dashboard",
        *words,
    )


def test_workers_agree_with_threads_and_one_may_die(scheduler):
    """Three workers; one is killed in the middle, and what it had is done by others."""
    expected = sweep(belts())
    with worker(scheduler), worker(scheduler), worker(scheduler) as third:
        wait_for(scheduler, 3)
        seen: list[int] = []

        def report(progress):
            seen.append(progress.done)
            if progress.done >= 10 and third.poll() is None:
                third.kill()

        table = sweep(belts(), executor="dask", address=scheduler, progress=report)
    assert third.poll() is not None
    assert table.counts() == {"done": 60}
    np.testing.assert_array_equal(table["x"], expected["x"])
    np.testing.assert_array_equal(table["n"], expected["n"])
    assert any(n < 60 for n in seen)


def wait_for(address: str, n: int) -> None:
    from distributed import Client

    with Client(address, timeout=30, set_as_default=False) as client:
        client.wait_for_workers(n, timeout=60)


def test_a_worker_of_another_release_is_refused(scheduler, tmp_path):
    old = tmp_path / "old_release.py"
    old.write_text("import nonsmooth\nnonsmooth.__version__ = '0.0.9'\n")
    with worker(scheduler), worker(scheduler, "--preload", str(old)):
        wait_for(scheduler, 2)
        with pytest.raises(
            ModelError, match=rf"nonsmooth 0\.0\.9, and this is {__version__}"
        ):
            sweep(belts(), executor="dask", address=scheduler)


def test_a_worker_of_another_release_that_joins_later_is_refused(scheduler, tmp_path):
    old = tmp_path / "old_release.py"
    old.write_text("import nonsmooth\nnonsmooth.__version__ = '0.0.9'\n")
    many = belts(parameters={"speed": Grid(low=0.05, high=0.5, n=4000)}, until=20.0)
    with worker(scheduler), contextlib.ExitStack() as later:
        wait_for(scheduler, 1)
        timer = threading.Timer(
            1.0,
            lambda: later.enter_context(worker(scheduler, "--preload", str(old))),
        )
        timer.start()
        begin = time.monotonic()
        with pytest.raises(ModelError, match=r"nonsmooth 0\.0\.9"):
            sweep(many, executor="dask", address=scheduler)
        timer.join()
    assert time.monotonic() - begin < 60.0


def test_a_cluster_is_started_and_functions_are_sent():
    bound = 0.25

    def above(result):
        return float(result.system.model.bodies[1].x.rate > bound)

    study = belts(outputs={"above": above}, until=0.1)
    table = sweep(study, executor="dask", workers=2)
    np.testing.assert_array_equal(
        table["above"], (table["speed"] > bound).astype(float)
    )


def test_functions_that_cannot_be_sent_are_refused():
    lock = threading.Lock()

    def locked(result):
        with lock:
            return 0.0

    with pytest.raises(ModelError, match=r"output 'f': .*locked cannot be sent .*lock"):
        sweep(belts(outputs={"f": locked}), executor="dask", workers=1)


def test_bad_addresses_are_refused(monkeypatch):
    monkeypatch.setattr("nonsmooth.study.cluster.PATIENCE", 0.5)
    with pytest.raises(ModelError, match=r"address = 'tcp://127\.0\.0\.1:1'"):
        sweep(belts(), executor="dask", address="tcp://127.0.0.1:1")
    with pytest.raises(ModelError, match="give one of them"):
        Dask(workers=2, address="tcp://127.0.0.1:1")
