"""The block on a belt: 20 s of stick and slip.

The error is the largest of the periods between break-aways against the closed form.
Times are CPU seconds for all 20 s, of the compiled loop and of the whole call.
"""

from __future__ import annotations

import numpy as np

from benchmarks.common import Row, loosest, timed
from nonsmooth import Result, gallery, simulate
from nonsmooth.pack import pack
from tests.oracles.stick_slip import Belt

UNTIL = 20.0  # s
TARGET = 1e-9  # s
RTOLS = (1e-4, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)


def period_error(result: Result) -> float:
    """Return the largest error of a period, s."""
    times = [event.t for event in result.events if event.kind == "break_away"]
    return float(np.abs(np.diff(times) - Belt().period).max())


def run() -> list[Row]:
    """Measure the run at several tolerances."""
    system = pack(gallery.build("belt"))
    runs = [timed(lambda r=r: simulate(system, UNTIL, rtol=r), 7) for r in RTOLS]
    errors = [period_error(run.result) for run in runs]
    rows = [
        Row(what=f"nonsmooth, rtol {rtol:.0e}", value=one.march, unit="s",
            note=f"period error {error:.1e} s; whole call {one.cpu:.5f} CPU, "
            f"{one.wall:.5f} wall; {one.result.cost['steps']} steps, "
            f"{len(one.result.events)} events")
        for rtol, one, error in zip(RTOLS, runs, errors, strict=True)
    ]  # fmt: skip
    k = loosest(errors, TARGET)
    name = f"nonsmooth to {TARGET:g} s of the period, {UNTIL:g} s simulated"
    return [
        *rows,
        Row(what=f"{name}: compiled loop", value=runs[k].march, unit="s",
            note=f"rtol {RTOLS[k]:g}, period error {errors[k]:.1e} s"),
        Row(what=f"{name}: whole call", value=runs[k].cpu, unit="s",
            note=f"to reach: 0.02; wall {runs[k].wall:.5f} s"),
    ]  # fmt: skip
