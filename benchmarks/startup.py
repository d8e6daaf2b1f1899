"""Import, cached start and cold compile, as a user meets them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

from benchmarks.common import Row

MODELS = ("pendulum_chain", "compactor")


def child_times(command: list[str], **environment: str) -> tuple[float, float]:
    """Return the CPU time and the wall time of a child process, s.

    Python keeps its bytecode, as it does unless it is told not to: without, a cached
    start takes 0.2 s more.
    """
    own = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run(
        command,
        check=True,
        env=own | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    return cpu, wall


def run() -> list[Row]:
    """Measure in child processes; the cold compile has an empty cache folder."""
    rows: list[Row] = []
    bare = min(child_times([sys.executable, "-c", "pass"])[0] for _ in range(5))
    imported = min(
        child_times([sys.executable, "-c", "import nonsmooth"])[0] for _ in range(5)
    )
    rows.append(
        Row(
            what="import nonsmooth",
            value=imported - bare,
            unit="s",
            note="to reach: 0.09; interpreter start taken off",
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        place = {"NONSMOOTH_CACHE_DIR": folder}
        # The first run of any model compiles the whole library.
        for k, name in enumerate(MODELS):
            command = [sys.executable, "-m", "nonsmooth.app.cli", "run", name, "--json"]
            cold, wall = child_times(command, **place)
            if k == 0:
                note = f"to reach: 35 s of real time; wall {wall:.1f} s"
                what = f"nonsmooth run {name}, empty cache"
                rows.append(Row(what=what, value=cold, unit="s", note=note))
            warm, wall = min(child_times(command, **place) for _ in range(5))
            note = f"to reach: 0.45; whole process, wall {wall:.2f} s"
            what = f"nonsmooth run {name}, cached"
            rows.append(Row(what=what, value=warm, unit="s", note=note))
    return rows
