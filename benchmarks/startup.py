"""Import, cached start and cold compile, as a user meets them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile

from benchmarks.common import Row

RUN = [sys.executable, "-m", "nonsmooth.app.cli", "run", "pendulum_chain", "--json"]


def child_cpu(command: list[str], **environment: str) -> float:
    """Return the CPU time of a child process, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        check=True,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def run() -> list[Row]:
    """Measure in child processes; the cold compile has an empty cache folder."""
    rows: list[Row] = []
    bare = min(child_cpu([sys.executable, "-c", "pass"]) for _ in range(5))
    imported = min(
        child_cpu([sys.executable, "-c", "import nonsmooth"]) for _ in range(5)
    )
    rows.append(
        Row(
            what="import nonsmooth",
            value=imported - bare,
            unit="s",
            note="to reach: 0.2; interpreter start taken off",
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        cold = child_cpu(RUN, NONSMOOTH_CACHE_DIR=folder)
        warm = min(child_cpu(RUN, NONSMOOTH_CACHE_DIR=folder) for _ in range(3))
    rows.append(
        Row(what="nonsmooth run pendulum_chain, cached", value=warm, unit="s",
            note="to reach: 1.5; whole process")
    )  # fmt: skip
    rows.append(
        Row(what="nonsmooth run pendulum_chain, empty cache", value=cold, unit="s",
            note="to reach: 30; whole process")
    )  # fmt: skip
    return rows
