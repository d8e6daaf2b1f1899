"""Two bars that strike each other: set-up, march, growth, uncertainty, akantu.

Children measure starts from nothing: a reduction is then neither in memory nor on disk.
Compiled code is, and BLAS has one thread. Figures of merit are those of the gallery's
`transverse_bars` with its defaults, 6 ms.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.common import Row, timed
from nonsmooth import gallery, simulate
from nonsmooth.elements.meshes import Rectangle
from nonsmooth.pack import pack

UNTIL, FIRST = 6e-3, 1.3e-4  # s: all impacts, the first
FORCE = "contact.normal_force"
STEP = 0.25e-6  # s, between samples of the force
# What the paper's own computation took, s, with steps of 1e-7 s.
PAPER = 2 * 3600 + 57 * 60
# One child: CPU seconds of import and set-up, of the march, of the whole.
CHILD = """
import time
from nonsmooth import gallery, simulate
from nonsmooth.fem import store
if {is_new}:
    store.load = lambda key: None
    store.save = lambda key, found: None
model = gallery.build("transverse_bars", {options})
result = simulate(model, until={until})
march = result.cost["cpu_seconds"]
print(time.process_time() - march, march, time.process_time())
"""
# Sizes at the contact, m, and modes: the defaults in the middle of each.
MESHES, MODES = (2.2e-5, 1.5e-5, 1.0e-5), (30, 40, 60)
FACTORS = (0.01, 0.1, 1.0, 5.0)
ELEMENTS, ALL_MODES = (1_000, 10_000, 100_000), (10, 20, 40, 80, 200)
NODES = (1.2e-4, 6e-5, 3e-5, 1.5e-5, 7.5e-6, 3.5e-6)  # m, contact sizes


def run() -> list[Row]:
    """Measure all of it."""
    return [*from_nothing(), *growth(), *uncertainty(), *penalties(), *akantu()]


def child(options: str, *, is_new: bool, until: float = UNTIL) -> list[float]:
    """Return the least of three children: set-up, march, whole; CPU s."""
    code = CHILD.format(is_new=is_new, options=options, until=until)
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    found: list[list[float]] = []
    for _ in range(3):
        out = subprocess.check_output(
            [sys.executable, "-c", code], text=True, env=environment
        )
        found.append([float(x) for x in out.split()])
    return np.min(found, axis=0).tolist()


def from_nothing() -> list[Row]:
    """Measure set-up, march and the whole, with and without what is known."""
    rows: list[Row] = []
    half, whole = "symmetric=True", "symmetric=False, modes=80"
    for name, options, aim in (("half", half, 5), ("whole bars", whole, 10)):
        set_up, march, total = child(options, is_new=True)
        rows += [
            Row(what=f"{name}: set-up, from nothing", value=set_up, unit="s"),
            Row(what=f"{name}: march, 6 ms", value=march, unit="s"),
            Row(
                what=f"{name}: all, from nothing",
                value=total,
                unit="s",
                note=f"aim: {aim}; the paper's march {PAPER} s",
            ),
        ]
    simulate(gallery.build("transverse_bars"), until=1e-6)  # keeps the reduction
    _, _, total = child(half, is_new=False)
    rows.append(
        Row(what="half: all, reduction known", value=total, unit="s", note="aim: 1")
    )
    system = pack(gallery.build("transverse_bars"))
    found = timed(lambda: simulate(system, until=UNTIL))
    rows.append(
        Row(what="half: march alone", value=found.march, unit="s", note="aim: 0.2")
    )
    return rows


# ---- growth --------------------------------------------------------------------


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> str:
    """Return the slopes of cost over size, one for each pair of neighbours."""
    slopes = np.diff(np.log(costs)) / np.diff(np.log(sizes))
    return "exponents " + ", ".join(f"{slope:.2f}" for slope in slopes)


def growth() -> list[Row]:
    """Measure how cost grows with elements, modes and nodes of a patch."""
    return [*_over_elements(), *_over_modes(), *_over_nodes()]


def _over_elements() -> list[Row]:
    from nonsmooth import fem
    from nonsmooth.fem.meshing import build

    sizes: list[float] = []
    costs: list[float] = []
    for n in ELEMENTS:
        # Two triangles for each square of the grid.
        shape = Rectangle(width=1.0, height=0.1, size=float(np.sqrt(2.0 * 0.1 / n)))
        mesh = build(shape)
        options: Any = {"material": "steel", "thickness": 0.01, "modes": 20}
        begin = time.process_time()
        fem.reduce(mesh, cache=False, **options)
        sizes.append(len(mesh.cells))
        costs.append(time.process_time() - begin)
    return [
        Row(
            what=f"set-up, 20 modes, {int(n)} triangles of order 2",
            value=cost,
            unit="s",
            note=exponent(sizes, costs) if k == len(sizes) - 1 else "",
        )
        for k, (n, cost) in enumerate(zip(sizes, costs, strict=True))
    ]


def _marched(**options: Any) -> tuple[float, float, int]:
    """Return CPU time of the first impact, that of an evaluation, nodes of the head."""
    system = pack(gallery.build("transverse_bars", **options))
    found = timed(lambda: simulate(system, until=FIRST), 3)
    nodes = system.flexible["b1"].sites["tip"].nodes
    assert nodes is not None
    each = found.march / float(found.result.cost["evaluations"])
    return found.march, each, len(nodes.places)


def _over_modes() -> list[Row]:
    found = [_marched(modes=n) for n in ALL_MODES]
    return [
        row
        for k, (n, (march, each, _)) in enumerate(zip(ALL_MODES, found, strict=True))
        for row in (
            Row(
                what=f"first impact, {n} modes: march",
                value=1e3 * march,
                unit="ms",
                note=exponent(ALL_MODES, [one[0] for one in found])
                if k == len(found) - 1
                else "",
            ),
            Row(
                what=f"first impact, {n} modes: an evaluation",
                value=1e6 * each,
                unit="us",
                note=exponent(ALL_MODES, [one[1] for one in found])
                if k == len(found) - 1
                else "",
            ),
        )
    ]


def _over_nodes() -> list[Row]:
    found = [_marched(contact_size=size) for size in NODES]
    counts = [one[2] for one in found]
    return [
        Row(
            what=f"first impact, {count} nodes in the patch: an evaluation",
            value=1e6 * each,
            unit="us",
            note=exponent(counts, [one[1] for one in found])
            if k == len(found) - 1
            else "",
        )
        for k, (_, each, count) in enumerate(found)
    ]


# ---- what is known of the impact -----------------------------------------------


def figures(rtol: float = 1e-8, **options: Any) -> dict[str, float]:
    """Return the figures of a run over all impacts."""
    model = gallery.build("transverse_bars", **options)
    result = simulate(model, until=UNTIL, rtol=rtol)
    times = np.arange(0.0, UNTIL, STEP)
    force = result.sample(times, FORCE)[FORCE]
    ends = [event.t for event in result.events if event.kind == "separate"]
    return {
        "first peak, N": float(force[times < 5e-5].max()),
        "end of the first, us": 1e6 * ends[0],
        "impacts": float(len(ends)),
        "last separation, ms": 1e3 * ends[-1],
        "impulse, mN s": 1e3 * float(np.trapezoid(force, times)),
        "largest force, N": float(force.max()),
        "rebound, m/s": float(result["b1.vy"][-1]),
        "energy lost, 1e-6": 1e6
        * result.energy_balance.residual
        / float(result.energy_balance.kinetic[0]),
    }


def uncertainty() -> list[Row]:
    """Compute the impact on three meshes and with three numbers of modes."""
    cases: dict[str, Any] = {
        f"{1e6 * size:g} um": {"contact_size": size} for size in MESHES
    }
    cases |= {f"{n} modes": {"modes": n} for n in MODES if n != 40}
    cases["rtol 1e-10"] = {"rtol": 1e-10}
    rows: list[Row] = []
    for name, options in cases.items():
        for what, value in figures(**options).items():
            rows.append(Row(what=f"{name}: {what}", value=value, unit=""))
    return rows


def penalties() -> list[Row]:
    """Compute the first peak for the factors of a penalty."""
    rows: list[Row] = []
    for factor in FACTORS:
        model = gallery.build(
            "transverse_bars", method="penalty", penalty_factor=factor
        )
        result = simulate(model, until=FIRST)
        times = np.arange(0.0, FIRST, STEP)
        peak = float(result.sample(times, FORCE)[FORCE].max())
        steps = result.cost["steps"]
        rows.append(Row(what=f"penalty {factor:g}: first peak", value=peak, unit="N"))
        rows.append(Row(what=f"penalty {factor:g}: steps", value=steps, unit=""))
    return rows


# ---- akantu --------------------------------------------------------------------


def akantu() -> list[Row]:
    """Measure akantu on the first impact, with the penalty of factor 1."""
    if importlib.util.find_spec("akantu") is None:
        print("akantu left out: not installed")
        return []
    rows: list[Row] = []
    model = gallery.build("transverse_bars", method="penalty", penalty_factor=1.0)
    system = pack(model)
    ours = timed(lambda: simulate(system, until=1.5e-4))
    rows.append(Row(what="penalty 1, ours: march", value=ours.march, unit="s"))
    for size in (6e-5,):
        out = subprocess.check_output(
            [sys.executable, "-m", "benchmarks.peers.akantu_bars", str(size), "1"],
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        peak, _, end, impulse, set_up, march, n, nodes = map(float, out.split())
        name = f"penalty 1, akantu, {1e6 * size:g} um"
        rows += [
            Row(
                what=f"{name}: set-up", value=set_up, unit="s", note=f"{nodes:g} nodes"
            ),
            Row(
                what=f"{name}: march",
                value=march,
                unit="s",
                note=f"{n:g} steps; {march / ours.march:.0f} times ours, aim 50",
            ),
            Row(what=f"{name}: first peak", value=peak, unit="N"),
            Row(what=f"{name}: end", value=1e6 * end, unit="us"),
            Row(what=f"{name}: impulse", value=1e3 * impulse, unit="mN s"),
        ]
    return rows
