"""The free-standing body, case 1: time to accuracy, beside the paper's scheme.

10 s from `touching`, e = -0.915 m. The error is that of the body's drift against an
independent solution (good to 1e-9 m), at most over its 501 samples. Times are per
simulated second: CPU time of the compiled loop, and of whole calls. The paper's
scheme is run for 1 s only, and compared there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Row, loosest, reference, timed
from nonsmooth import Baumgarte, Result, gallery, simulate
from nonsmooth.pack import pack

UNTIL, PAPER_UNTIL = 10.0, 1.0  # s
TARGET = 1e-6  # m
STEP, STABILISATION = 1e-6, Baumgarte(alpha=1e4, beta=2e4)
RTOLS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)


def errors(result: Result, series: Any) -> NDArray[np.float64]:
    """Return the error of the drift at the reference's times that were reached."""
    known = series[series["t"] <= result.t_end]
    found = result.sample(known["t"], ["body.x", "platform.x"])
    drift = found["body.x"] - found["platform.x"]
    return np.abs(drift - drift[0] - known["x_xd"])


def run() -> list[Row]:
    """Measure both in one run."""
    series = reference("free_standing_case1_offset.csv")
    system = pack(gallery.build("free_standing", case="1", e=-0.915))
    runs = [timed(lambda r=r: simulate(system, UNTIL, rtol=r), 5) for r in RTOLS]
    found = [errors(run.result, series) for run in runs]
    rows: list[Row] = []
    for rtol, one, error in zip(RTOLS, runs, found, strict=True):
        cost = one.result.cost
        note = (
            f"error {error[-1]:.1e} m at the end, {error.max():.1e} at most; whole "
            f"call {one.cpu / UNTIL:.5f} CPU, {one.wall / UNTIL:.5f} wall; "
            f"{cost['steps']} steps, {cost['implicit_steps']} of them implicit, "
            f"{cost['evaluations']} right-hand sides, {len(one.result.events)} events"
        )
        rows.append(
            Row(what=f"nonsmooth, rtol {rtol:.0e}, a simulated second",
                value=one.march / UNTIL, unit="s", note=note)
        )  # fmt: skip
    k = loosest([float(error.max()) for error in found], TARGET)
    name = f"nonsmooth to {TARGET:g} m, a simulated second"
    rows += [
        Row(what=f"{name}: compiled loop", value=runs[k].march / UNTIL, unit="s",
            note=f"to reach: 0.02; rtol {RTOLS[k]:g}"),
        Row(what=f"{name}: whole call", value=runs[k].cpu / UNTIL, unit="s",
            note=f"wall {runs[k].wall / UNTIL:.5f} s"),
    ]  # fmt: skip
    options: dict[str, Any] = {"scheme": "paper", "stabilisation": STABILISATION}
    paper = timed(lambda: simulate(system, PAPER_UNTIL, step=STEP, **options), repeat=2)
    error = float(errors(paper.result, series).max())
    rows.append(
        Row(what=f"paper's scheme, h = {STEP:g} s, a simulated second",
            value=paper.march / PAPER_UNTIL, unit="s",
            note=f"run for {PAPER_UNTIL:g} s, error {error:.1e} m at most")
    )  # fmt: skip
    early = [float(e[: np.sum(series["t"] <= PAPER_UNTIL)].max()) for e in found]
    alike = loosest(early, error)
    for i, text, goal in (
        (k, f"at {TARGET:g} m", "to reach: 200; "),
        (alike, "at no more than its error", ""),
    ):
        ratio = paper.march / PAPER_UNTIL / (runs[i].march / UNTIL)
        whole = paper.cpu / PAPER_UNTIL / (runs[i].cpu / UNTIL)
        rows.append(
            Row(what=f"paper's scheme / nonsmooth {text}", value=ratio, unit="",
                note=f"{goal}{whole:.0f} by whole calls; ours at rtol {RTOLS[i]:g}, "
                f"{early[i]:.1e} m in the first {PAPER_UNTIL:g} s")
        )  # fmt: skip
    return rows
