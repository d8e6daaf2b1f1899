"""The double pendulum that strikes the ground: contact, flight, growth, the paper's.

Marches alone: reductions are made before, compiled code is there. Figures of merit are
those of the gallery's `flexible_double_pendulum` without gravity, 0.7 ms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.bars import exponent
from benchmarks.common import Row
from nonsmooth import Result, gallery, simulate
from nonsmooth.pack import pack

NAME = "flexible_double_pendulum"
UNTIL = 7e-4  # s, the contact stage
MODES, SIZES = (20, 40, 80, 150), (3e-4, 1e-4, 5e-5, 2e-5)  # sizes at the tip, m
REPEAT = 3


def run() -> list[Row]:
    """Measure all of it."""
    return [*growth(), *flights(), *appended()]


def march(until: float = UNTIL, **parameters: object) -> tuple[float, Result, int]:
    """Return the least CPU time of a march, its result, and the nodes of the patch."""
    system = pack(gallery.build(NAME, **parameters))
    results = [simulate(system, until=until) for _ in range(REPEAT)]
    nodes = system.flexible["b2"].sites["tip"].nodes
    assert nodes is not None
    least = min(result.cost["cpu_seconds"] for result in results)
    return least, results[0], len(nodes.places)


def growth() -> list[Row]:
    """Cost and figures against modes and nodes, with exponents."""
    rows: list[Row] = []
    costs: list[float] = []
    for modes in MODES:
        seconds, result, _ = march(gravity=0.0, modes=modes)
        costs.append(seconds)
        note = f"{result.cost['steps']:.0f} steps, {_figures(result)}"
        rows.append(
            Row(what=f"0.7 ms, {modes} modes", value=seconds, unit="s", note=note)
        )
    rows.append(_power("modes", MODES, costs))
    costs, counts = [], list[int]()
    for size in SIZES:
        seconds, result, n = march(gravity=0.0, contact_size=size)
        costs.append(seconds)
        counts.append(n)
        what = f"0.7 ms, 80 modes, {n} nodes at the tip"
        rows.append(Row(what=what, value=seconds, unit="s", note=_figures(result)))
    rows.append(_power("nodes", counts, costs))
    return rows


def _power(name: str, sizes: Sequence[int], costs: Sequence[float]) -> Row:
    """Return the exponent of cost, of all and from size to size."""
    power = np.polyfit(np.log(sizes), np.log(costs), 1)[0]
    note = exponent(sizes, costs)
    return Row(
        what=f"exponent of cost by {name}", value=float(power), unit="", note=note
    )


def flights() -> list[Row]:
    """Flights of 0.1 s with 20 modes: before the contact, and ringing after it."""
    seconds, result, _ = march(0.09, start="release")
    what = "flight of 0.09 s before contact, 20 of 80 modes"
    rows = [Row(what=what, value=seconds, unit="s", note=_closing(result))]
    system = pack(gallery.build(NAME))
    state = simulate(system, until=0.01).state()
    results = [simulate(system, until=0.11, start=state) for _ in range(REPEAT)]
    seconds = min(result.cost["cpu_seconds"] for result in results)
    what = "flight of 0.1 s after contact, 20 of 80 modes"
    rows.append(Row(what=what, value=seconds, unit="s", note=_closing(results[0])))
    return rows


def appended() -> list[Row]:
    """Run the paper's scheme in NumPy, half of the contact stage."""
    model = gallery.build(NAME, gravity=0.0, modes=20)
    result = simulate(model, until=0.5 * UNTIL, scheme="appended")
    note = f"{result.cost['steps']:.0f} steps"
    seconds = result.cost["cpu_seconds"]
    return [Row(what="0.35 ms, scheme appended", value=seconds, unit="s", note=note)]


def _figures(result: Result) -> str:
    """Return impulses at the end of the stage, and what the ledger leaves."""
    along, press, _ = result.impulse("contact")
    return f"impulses {press:.4f}, {along:.4f} N s; {_closing(result)}"


def _closing(result: Result) -> str:
    balance = result.energy_balance
    return f"energy to {balance.residual / balance.kinetic.max():.0e}"
