"""N-four-bar: cost over the number of loops, and time to accuracy beside exudyn.

The mechanism passes its singular poses. The error is the distance of the first
rocker's top from the exact motion at t = 2 s. Ours is run at decreasing rtol until
the error is below the target; exudyn likewise with its best settings, as found in
`peers/README.md`, where it can reach it in reasonable time.
"""

from __future__ import annotations

import math
import warnings

from benchmarks.common import Row, cpu_time
from nonsmooth import NonsmoothWarning, gallery, simulate
from nonsmooth.pack import pack
from tests.oracles import n_four_bar as exact

TARGET = 1e-8  # m
T_END = 2.0  # s
LOOPS = (1, 10, 100, 1000)
PEER_BUDGET = 60.0  # s of CPU time for each N


def ours(n: int) -> tuple[float, float, float, int]:
    """Return CPU time, error, rtol and steps of the first run within the target."""
    system = pack(gallery.build("n_four_bar", n=n))
    top = exact.top(n, T_END)
    for rtol in (1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 1e-10, 1e-11):
        result = simulate(system, T_END, rtol=rtol)
        last = result.sample(T_END, ["rocker0.top.x", "rocker0.top.y"])
        error = math.hypot(
            last["rocker0.top.x"][0] - top[0], last["rocker0.top.y"][0] - top[1]
        )
        if error <= TARGET:
            repeat = 5 if n <= 100 else 2
            seconds = cpu_time(lambda r=rtol: simulate(system, T_END, rtol=r), repeat)
            return seconds, error, rtol, int(result.cost["steps"])
    raise AssertionError(f"N = {n}: error {error:.1e} m at the tightest tolerance")


def run() -> list[Row]:
    """Measure ours for all sizes, and the peer where it is installed."""
    rows: list[Row] = []
    seconds: dict[int, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonsmoothWarning)
        for n in LOOPS:
            seconds[n], error, rtol, steps = ours(n)
            note = f"error {error:.1e} m, rtol {rtol:g}, {steps} steps"
            rows.append(
                Row(what=f"nonsmooth, N = {n}: time to {TARGET:g} m", unit="s",
                    value=seconds[n], note=note)
            )  # fmt: skip
            rows.append(
                Row(what=f"nonsmooth, N = {n}: per step and loop", unit="us",
                    value=seconds[n] / steps / n * 1e6)
            )  # fmt: skip
    rows.append(
        Row(what="growth from N = 100 to 1000, relative to linear", unit="",
            value=seconds[1000] / seconds[100] / 10, note="to reach: 1")
    )  # fmt: skip
    rows += peer(seconds)
    return rows


def peer(seconds: dict[int, float]) -> list[Row]:
    """Measure exudyn in the same run, within a budget for each N."""
    from benchmarks.peers import exudyn_n_four_bar

    rows: list[Row] = []
    for n in LOOPS:
        try:
            found = exudyn_n_four_bar.reach(n, TARGET, T_END, budget=PEER_BUDGET)
        except ImportError as error:
            print(f"exudyn left out: {error}")
            return rows
        cost = found.get("cpu_s")
        note = "reached" if found["reached"] else "not reached: "
        if cost is None:
            # Give it the time that its order promises, or else of its best run.
            cost = found.get("cpu_extrapolated_s")
            note += "extrapolated from smaller steps"
        if cost is None:
            cost = found.get("cpu_extrapolated_if_second_order_s")
        if cost is None:
            cost = max(run["cpu_s"] for run in found["runs"])
            note += "; time of its longest run"
        rows.append(
            Row(what=f"exudyn, N = {n}: time to {TARGET:g} m", value=cost, unit="s",
                note=note)
        )  # fmt: skip
        rows.append(
            Row(what=f"exudyn / nonsmooth, N = {n}", value=cost / seconds[n], unit="",
                note="to reach: 10")
        )  # fmt: skip
    return rows
