"""Studies: two workers against one, what a run costs besides itself, memory, exudyn.

Compactor runs of 1 s over the speed of the rotor. What the study adds to a run is the
CPU time of one more short run in a study without that of one in a plain loop, so that a
busy machine matters less; two workers against one are in real time, and mean something
on idle cores only. Dask has a scheduler and a worker of its own on this machine.
"""

from __future__ import annotations

import dataclasses
import math
import resource
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from benchmarks.common import Row
from nonsmooth import gallery, simulate
from nonsmooth.study import Final, Grid, Mean, Study, sweep
from nonsmooth.study.cluster import BATCH_RATE
from nonsmooth.study.definition import prepare
from nonsmooth.study.executors import BATCH_SECONDS
from nonsmooth.study.index import Index
from nonsmooth.study.runs import Outcome

SPEED = {"speed": Mean(column="box.vx")}
N_RUN = 100  # compactor runs; those of 1000 take ten times as long
N_PEER = 10  # of the same runs by exudyn
# exudyn's step, s, and regularisation, m/s, for errors of about 1e-3 and 1e-4 rad.
PEER = ((1e-4, 1e-2), (4e-5, 1e-3))


def compactors(n: int) -> Study:
    """Return n runs of 1 s."""
    grid = Grid(low=300.0, high=450.0, n=n)
    return Study(
        system="compactor", parameters={"rotor_speed": grid}, outputs=SPEED, until=1.0
    )


def short(n: int) -> Study:
    """Return n runs that take next to nothing themselves."""
    grid = Grid(low=0.1, high=0.2, n=n)
    outputs = {"x": Final(column="block.x")}
    return Study(system="belt", parameters={"speed": grid}, outputs=outputs, until=1e-3)


def loop_of_short(n: int) -> float:
    """Return the CPU time of the runs of `short` in a plain loop, s per run."""
    begin = time.process_time()
    for speed in short(n).points.columns["speed"]:
        result = simulate(gallery.build("belt", speed=speed), 1e-3)
        result.sample(result.t_end, "block.x")
        assert not result.doubts
    return (time.process_time() - begin) / n


def cpu(idle: float = 0.0, **options: object) -> float:
    """Return the CPU time of one more run in this process, s, the start left out.

    `idle` is the CPU time that this process takes in each second while it waits.
    """
    total: list[float] = []
    for n in (300, 900):
        begin, real = time.process_time(), time.perf_counter()
        sweep(short(n), **options)  # pyright: ignore[reportArgumentType]
        waited = idle * (time.perf_counter() - real)
        total.append(time.process_time() - begin - waited)
    return (total[1] - total[0]) / 600


def spent(study: Study, **options: object) -> tuple[float, float]:
    """Return how long a sweep takes, s, and its CPU time."""
    begin, cpu_begin = time.perf_counter(), time.process_time()
    table = sweep(study, **options)  # pyright: ignore[reportArgumentType]
    assert table.counts() == {"done": table.n_run}
    return time.perf_counter() - begin, time.process_time() - cpu_begin


def memory() -> float:
    """Return the largest memory of this process so far, kB."""
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def run() -> list[Row]:
    """Measure all but what is not installed."""
    sweep(compactors(2))
    rows = [*two_against_one(), *overhead(), *growth()]
    if find_spec("distributed") is not None:
        rows += dask()
    if find_spec("exudyn") is not None:
        rows += exudyn()
    return rows


def two_against_one() -> list[Row]:
    """Return times with one worker and two."""
    one, two = spent(compactors(N_RUN), workers=1), spent(compactors(N_RUN), workers=2)
    each = one[1] / N_RUN
    return [
        Row(what="compactor, 1 s: CPU time of a run", value=1e3 * each, unit="ms"),
        Row(
            what="two workers against one",
            value=one[0] / two[0],
            unit="times",
            note="to reach: 1.8, on two idle cores",
        ),
        Row(
            what="1000 runs with two workers",
            value=two[0] * 1000 / N_RUN,
            unit="s",
            note=f"to reach: 30, on two idle cores; from {N_RUN} runs. CPU time of "
            f"1000 runs over two cores: {500 * each:.1f} s",
        ),
    ]


def overhead() -> list[Row]:
    """Return what a study adds to each run."""
    plain = min(loop_of_short(200) for _ in range(3))
    threads = min(cpu(workers=1) for _ in range(3))
    return [
        Row(
            what="a study adds to each run, threads",
            value=1e3 * (threads - plain),
            unit="ms",
            note=f"to reach: 1; CPU time, in a plain loop {1e3 * plain:.2f} ms",
        )
    ]


def growth() -> list[Row]:
    """Return what memory each run leaves behind, in a study without a file."""
    sweep(short(500), workers=2)
    before = memory()
    sweep(short(2500), workers=2)
    return [
        Row(
            what="memory of 2000 more runs",
            value=(memory() - before) / 1024.0,
            unit="MB",
            note=f"peak {memory() / 1024.0:.0f} MB; their rows are in memory",
        )
    ]


def dask() -> list[Row]:
    """Return what a run costs on a cluster, after it has started, and its rate."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"n_workers": 1, "dashboard_address": None}
    with (
        cast(Any, LocalCluster(threads_per_worker=1, **options)) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        address = cluster.scheduler_address
        spent(short(20), executor="dask", address=address)
        begin = time.process_time()
        time.sleep(3.0)
        idle = (time.process_time() - begin) / 3.0
        one = min(cpu(idle, executor="dask", address=address) for _ in range(2))
        rate = 0.0
        for _ in range(3):
            begin = time.process_time()
            client.gather(client.map(int, range(2000), pure=False))
            rate = max(rate, 2000 / (time.process_time() - begin))
    return [
        Row(
            what="a study adds to each run, Dask",
            value=1e3 * one,
            unit="ms",
            note="to reach: 2; CPU time here, with that of the scheduler, without "
            f"what both take while they wait, {1e3 * idle:.0f} ms in a second",
        ),
        Row(
            what="batches a scheduler hands out",
            value=rate,
            unit="1/s",
            note="of CPU time, its own and that of the client",
        ),
        million(rate),
    ]


def keeping(n: int = 20_000) -> float:
    """Return the CPU time that the index takes for each run, s: made, filled, read."""
    grid = Grid(low=300.0, high=450.0, n=n)
    study = dataclasses.replace(compactors(2), parameters={"rotor_speed": grid})
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        index = Index(prepare(study), Path(folder) / "study.db")
        todo = index.begin(rerun=False)
        for k in range(0, n, 500):
            batch = todo[k : k + 500]
            index.start(batch)
            outputs: dict[str, Any] = {"speed": 0.3}
            index.add([Outcome(k=i, status="done", outputs=outputs) for i in batch])
        index.commit()
        assert len(list(index.rows())) == n
        index.close()
        return (time.process_time() - begin) / n


def million(rate: float, n_core: int = 1000) -> Row:
    """Return what a million compactor runs of 1 s need on 1000 cores.

    The largest of three, which go on at once: what the cores compute, what the process
    that keeps the index takes for each run, what the scheduler takes for each batch.
    """
    own = min(spent(compactors(20), workers=1)[1] for _ in range(3)) / 20
    batch = max(BATCH_SECONDS, n_core / BATCH_RATE)
    parts = {
        "computing": 1e6 * own / n_core,
        "keeping": 1e6 * keeping(),
        "handing out": 1e6 * own / batch / rate,
    }
    words = ", ".join(f"{name} {value:.0f} s" for name, value in parts.items())
    return Row(
        what="a million runs on 1000 cores, on paper",
        value=max(parts.values()),
        unit="s",
        note=f"{words}; batches of {batch:g} s",
    )


def exudyn() -> list[Row]:
    """Return CPU times of a plain loop of exudyn's models over the same sweep."""
    from benchmarks.peers.exudyn_compactor import sweep as loop

    study = compactors(N_PEER)
    speeds = [float(x) for x in study.points.columns["rotor_speed"]]
    ours = min(spent(study, workers=1)[1] for _ in range(3)) / N_PEER
    both = spent(study, workers=2)[0] / N_PEER
    expected = sweep(study)["speed"]
    rows: list[Row] = []
    loop(speeds[:1], 0.01, 1e-4, 1e-2)
    for step, v_reg in PEER:
        begin, real = time.process_time(), time.perf_counter()
        found = loop(speeds, 1.0, step, v_reg)
        each = (time.process_time() - begin) / N_PEER
        real = (time.perf_counter() - real) / N_PEER
        apart = max(
            abs(a - b) for a, b in zip(found, expected, strict=True) if math.isfinite(a)
        )
        rows.append(
            Row(
                what=f"exudyn in a loop, step {step:g} s: CPU time of a run",
                value=1e3 * each,
                unit="ms",
                note=f"{each / ours:.1f} times ours, {real / both:.1f} times with our "
                f"two workers in real time; mean speeds apart by up to {apart:.2g} m/s",
            )
        )
    return rows
