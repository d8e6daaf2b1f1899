"""Studies: two workers against one, what a run costs besides itself, and memory.

    .venv/bin/python -m benchmarks.studies [N]

Prints, for N compactor runs of 1 s (1000 by default): time with one worker and two, on
otherwise idle cores; what the study adds to each run, against a plain loop over empty
runs; the rate of a Dask scheduler; and the memory after more runs. Overheads are in CPU
time, which a busy machine changes less.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any, cast

from nonsmooth import gallery, simulate
from nonsmooth.study import Final, Grid, Mean, Study, sweep

SPEED = {"speed": Mean(column="box.vx", last=0.5)}


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


def cpu(**options: object) -> float:
    """Return the CPU time of one more run in this process, s, the start left out."""
    total: list[float] = []
    for n in (300, 900):
        begin = time.process_time()
        sweep(short(n), **options)  # pyright: ignore[reportArgumentType]
        total.append(time.process_time() - begin)
    return (total[1] - total[0]) / 600


def spent(study: Study, **options: object) -> float:
    """Return how long a sweep takes, s."""
    begin = time.perf_counter()
    table = sweep(study, **options)  # pyright: ignore[reportArgumentType]
    assert table.counts() == {"done": table.n_run}
    return time.perf_counter() - begin


def memory() -> float:
    """Return the largest memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def main(n: int) -> None:
    """Print the figures."""
    sweep(compactors(2))
    few = max(n // 10, 4)
    one, two = spent(compactors(few), workers=1), spent(compactors(few), workers=2)
    print(f"{few} compactor runs of 1 s: {one:.2f} s with one worker, {two:.2f} s with")
    print(f"two: {one / two:.2f} times as fast; {n} would take {two * n / few:.1f} s")
    plain = min(loop_of_short(200) for _ in range(3))
    threads = min(cpu(workers=1) for _ in range(2))
    print(f"CPU time of a short run: {1e3 * plain:.2f} ms in a loop,")
    print(f"{1e3 * threads:.2f} ms in a study: {1e3 * (threads - plain):.2f} ms more")
    dask()
    half = memory()
    sweep(compactors(few))
    print(f"memory: {half:.0f} MB, and {memory():.0f} MB after {few} runs more")


def dask() -> None:
    """Print what a run costs on a cluster, after it has started."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        print("dask: not installed")
        return
    options: dict[str, Any] = {"n_workers": 1, "dashboard_address": None}
    with (
        cast(Any, LocalCluster(threads_per_worker=1, **options)) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        address = cluster.scheduler_address
        spent(short(20), executor="dask", address=address)
        one = min(cpu(executor="dask", address=address) for _ in range(2))
        begin = time.perf_counter()
        futures = client.map(int, range(2000), pure=False)
        client.gather(futures)
        rate = 2000 / (time.perf_counter() - begin)
    print(
        f"dask: {1e3 * one:.2f} ms of CPU time here for each run, its scheduler's too;"
    )
    print(f"the scheduler hands out {rate:.0f} batches a second")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
