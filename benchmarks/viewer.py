"""The viewer: what it takes to write a run, and how large its page is.

Tolerance is that of lines between samples, as part of each quantity's range. How fast
the page is, is measured in a browser by `tests/e2e/test_speed.py`.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

from benchmarks.common import Row, cpu_time
from nonsmooth import Result, gallery, simulate
from nonsmooth.views.report import page
from nonsmooth.views.scene import scene

# s; typical runs, and long ones, which the budget of a page is for.
RUNS = {
    "compactor": (0.5, 10.0),
    "free_standing": (10.0,),
    "belt": (20.0,),
    "slider_in_guide": (24.0,),
    "pendulum_chain": (5.0, 60.0),
}


def header(document: bytes) -> dict[str, Any]:
    """Return the first part of a scene document."""
    data = gzip.decompress(document)
    return json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])


def rows(name: str, until: float, result: Result) -> list[Row]:
    """Measure one run."""
    document = scene(result)
    sampling = header(document)["sampling"]
    what = f"{name}, {until:g} s"
    size = len(page(document, name).encode()) / 1e6
    kept = f"{sampling['n']} samples, tolerance {sampling['tolerance']:g}"
    seconds = cpu_time(lambda: scene(result), repeat=2)
    return [
        Row(what=f"{what}: page", value=size, unit="MB",
            note=f"to keep: 2; {kept}; {len(result.events)} events"),
        Row(what=f"{what}: writing", value=seconds, unit="s",
            note=f"{len(result.steps.t)} steps"),
    ]  # fmt: skip


def run() -> list[Row]:
    """Measure all runs."""
    found: list[Row] = []
    for name, times in RUNS.items():
        for until in times:
            result = simulate(gallery.build(name), until)
            found += rows(name, until, result)
    return found
