"""Waves in full finite elements: rods in one dimension and as bodies of revolution.

An element update is one element in one step. Times are CPU seconds of one core; those
of the march leave out mesh, matrices and critical step.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

from benchmarks.common import Row, timed
from nonsmooth import Result, gallery, simulate
from nonsmooth.kernels.march import waves as kernel
from nonsmooth.pack import pack
from nonsmooth.pack.waves import first_state, pack_waves

UNTIL = 5e-4  # s
NEVER = 1 << 62  # steps from one record to the next
STEPS = 200
SIZE = 1.5e-3  # m, of quadrilaterals


def _elements(result: Result) -> int:
    history: Any = result.steps
    return sum(len(part.own.cells) for part in history.waves.parts.values())


def _updates(size: float) -> tuple[int, float, float]:
    """Return elements, and updates per second with records and without."""
    model = gallery.build("transverse_bars", modes="full", mesh_size=size)
    waves = pack_waves(pack(model))
    m = waves.solid
    m.h = 0.9 * waves.critical_step
    n = sum(len(p.own.cells) for p in waves.parts.values() if p.own is not None)
    rates: list[float] = []
    for stride in (1, NEVER):
        state = first_state(
            m, n_capacity=6 * STEPS, v=waves.velocities(), stride=stride
        )
        least = np.inf
        for _ in range(5):
            begin = time.process_time()
            kernel.march(m, state, STEPS)
            least = min(least, time.process_time() - begin)
        rates.append(n * STEPS / least)
    return n, rates[0], rates[1]


def run() -> list[Row]:
    """Measure rods, and how cost grows with elements."""
    line = timed(lambda: simulate(gallery.build("rods"), UNTIL))
    rows = [
        Row(what="rods, 1-D, 200 elements each: whole call", value=line.cpu, unit="s",
            note=f"to reach: 0.1; march {line.march:.4f} s, wall {line.wall:.4f} s"),
    ]  # fmt: skip
    costs: list[tuple[int, float]] = []
    for elements in (300, 600, 1100):
        model = gallery.build("rods", model="axisymmetric", elements=elements)
        begin = time.process_time()
        result = simulate(model, UNTIL)
        whole = time.process_time() - begin
        n, steps = _elements(result), result.cost["steps"]
        march = result.cost["cpu_seconds"]
        history: Any = result.steps
        unknowns = 2 * history.waves.solid.n_node
        costs.append((n, march))
        rows.append(
            Row(what=f"rods of revolution, {unknowns} unknowns: whole call",
                value=whole, unit="s",
                note=f"to reach: 20 at 54000; march {march:.2f} s, {steps} steps, "
                f"{n * steps / march / 1e6:.1f} million element updates/s"),
        )  # fmt: skip
    x, y = np.log(np.array(costs)).T
    rows.append(Row(what="exponent of march against elements",
                    value=float(np.polyfit(x, y, 1)[0]), unit="1",
                    note="elements times steps: 1.5 in a plane"))  # fmt: skip
    n, recorded, bare = _updates(SIZE)
    rows.append(Row(what="element updates on one core, quadrilaterals",
                    value=bare / 1e6, unit="1e6/s",
                    note=f"to reach: 30; {n} elements; {recorded / 1e6:.1f} with a "
                    "record at every step"))  # fmt: skip
    return [*rows, *_akantu()]


def _akantu() -> list[Row]:
    """Measure akantu on the same mesh, with the same step and springs."""
    if importlib.util.find_spec("akantu") is None:
        print("akantu left out: not installed")
        return []
    from benchmarks.peers.akantu_waves import COURANT, bars

    waves = bars(SIZE)
    h = COURANT * waves.critical_step
    ours = timed(lambda: simulate(waves.system, STEPS * h, step=h))
    force = ours.result["contact.normal_force"][1 : STEPS + 1]
    out = subprocess.check_output(
        [sys.executable, "-m", "benchmarks.peers.akantu_waves", str(SIZE), str(STEPS)],
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    _, impulse, _, march, n = map(float, out.split())
    mine = float(force.sum() * h)
    return [
        Row(what="bars, penalty 1, 200 steps: akantu, march", value=march, unit="s",
            note=f"same mesh and step; {n * STEPS / march / 1e6:.1f} million element "
            f"updates/s; impulse {1e3 * impulse:.3f} mN s, ours {1e3 * mine:.3f}"),
        Row(what="bars, penalty 1, 200 steps: ours, march", value=ours.march, unit="s",
            note=f"akantu takes {march / ours.march:.0f} times as long"),
    ]  # fmt: skip
