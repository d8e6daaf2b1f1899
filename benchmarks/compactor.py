"""The plate compactor: time to accuracy, beside the paper's scheme and exudyn.

0.5 s from `equilibrium`. The error is that of the box's angle against an independent
solution (good to 5e-11 rad), at the end and at most over its 501 samples. Times are
per simulated second: CPU time of the compiled loop, and of the whole call of
`simulate` on a packed system, with the table of events. exudyn's are those of
`SolveDynamic`, and stand beside whole calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.common import Row, Timed, loosest, reference, timed
from nonsmooth import Result, gallery, simulate
from nonsmooth.pack import System, pack

UNTIL = 0.5  # s
TARGET = 1e-7  # rad, at the end
STEP = 1e-6  # s, of the paper's scheme
# Three to a decade; the table shows one.
RTOLS = tuple(float(f"{d}e-{k}") for k in range(4, 12) for d in (1.0, 0.5, 0.2))
RTOLS = (*RTOLS, 1e-12)


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """A timed run and its errors."""

    timed: Timed
    at_end: float  # rad
    largest: float  # rad

    @property
    def note(self) -> str:
        """Errors, and what they cost."""
        run, cost = self.timed, self.timed.result.cost
        return (
            f"error {self.at_end:.1e} rad at the end, {self.largest:.1e} at most; "
            f"whole call {run.cpu / UNTIL:.4f} CPU, {run.wall / UNTIL:.4f} wall; "
            f"{cost['steps']} steps, {cost['evaluations']} right-hand sides, "
            f"{len(run.result.events)} events"
        )


def accuracy(run: Timed, series: Any) -> Accuracy:
    """Compare a run with the reference."""
    result: Result = run.result
    theta = result.sample(series["t"], ["box.theta"])["box.theta"]
    error = np.abs(theta - series["theta1"])
    return Accuracy(timed=run, at_end=float(error[-1]), largest=float(error.max()))


def ours(system: System, series: Any) -> list[Accuracy]:
    """Run at every tolerance."""
    return [
        accuracy(timed(lambda r=rtol: simulate(system, UNTIL, rtol=r), 7), series)
        for rtol in RTOLS
    ]


def run() -> list[Row]:
    """Measure all three in one run."""
    series = reference("compactor_transient.csv")
    system = pack(gallery.build("compactor"))
    runs = ours(system, series)
    rows = [
        Row(what=f"nonsmooth, rtol {rtol:.0e}", value=a.timed.march / UNTIL, unit="s",
            note=a.note)
        for rtol, a in zip(RTOLS, runs, strict=True) if f"{rtol:e}".startswith("1.0")
    ]  # fmt: skip
    k = loosest([a.at_end for a in runs], TARGET)
    best, name = runs[k], f"nonsmooth to {TARGET:g} rad at the end"
    rows += [
        Row(what=f"{name}: compiled loop", value=best.timed.march / UNTIL, unit="s",
            note=f"to reach: 0.03; rtol {RTOLS[k]:g}, {best.note}"),
        Row(what=f"{name}: whole call", value=best.timed.cpu / UNTIL, unit="s",
            note=f"wall {best.timed.wall / UNTIL:.4f} s"),
    ]  # fmt: skip
    call = timed(lambda: simulate(system, UNTIL, scheme="paper", step=STEP), repeat=3)
    paper = accuracy(call, series)
    rows.append(
        Row(what=f"paper's scheme, h = {STEP:g} s", value=paper.timed.march / UNTIL,
            unit="s", note=f"to reach: 10; {paper.note}")
    )  # fmt: skip
    alike = loosest([a.largest for a in runs], paper.largest)
    for i, text, goal in (
        (k, f"at {TARGET:g} rad", ""),
        (alike, "at no more than its error", "to reach: 100; "),
    ):
        ratio = paper.timed.march / runs[i].timed.march
        whole = paper.timed.cpu / runs[i].timed.cpu
        rows.append(
            Row(what=f"paper's scheme / nonsmooth {text}", value=ratio, unit="",
                note=f"{goal}{whole:.0f} by whole calls; ours at rtol {RTOLS[i]:g}, "
                f"{runs[i].largest:.1e} rad at most")
        )  # fmt: skip
    return rows + peer(runs)


def peer(runs: list[Accuracy]) -> list[Row]:
    """Measure exudyn in the same run, with the settings that suit it best."""
    from benchmarks.peers import exudyn_compactor as exudyn

    rows: list[Row] = []
    for form, target, step, v_reg, tolerance in exudyn.BEST:
        try:
            found = exudyn.run(step, v_reg, formulation=form, tolerance=tolerance)
        except ImportError as error:
            print(f"exudyn left out: {error}")
            return rows
        cost = found["cpu_seconds"]
        is_reached = found["error"] <= target
        k = loosest([a.largest for a in runs], target)
        note = (
            f"{'reached' if is_reached else 'not reached'}: {found['error']:.1e} rad "
            f"at most, {found['error_end']:.1e} at the end; {found['n_step']} steps"
        )
        name = f"exudyn, {form.replace('_', ' ')}, to {target:g} rad"
        rows += [
            Row(what=name, value=cost / UNTIL, unit="s", note=note),
            Row(what=f"{name} / nonsmooth", value=cost / runs[k].timed.cpu, unit="",
                note=f"whole calls; ours {runs[k].timed.cpu / UNTIL:.4f} s at rtol "
                f"{RTOLS[k]:g}, {runs[k].largest:.1e} rad at most"),
        ]  # fmt: skip
    return rows
