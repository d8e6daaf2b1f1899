"""Memory of long runs, with their events and summary: rigid and elastic."""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.common import Row

# s, and what is to be reached.
RUNS = {
    ("compactor", 100.0): "to reach: 1.3 times the log; was 2.7",
    ("compactor", 600.0): "to reach: 700; was 3000",
    ("elastic_slider_crank", 0.5): "to reach: 1.3 times the log; was 1.6",
}
CODE = """
import json, resource, sys
from nonsmooth import gallery, simulate
from nonsmooth.kernels.run import Log

def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

simulate(gallery.build(sys.argv[1]), until=1e-3)
before = peak()
result = simulate(gallery.build(sys.argv[1]), until=float(sys.argv[2]))
n = len(result.events)
result.summary()
m = result.system.tables
one, two = (Log.n_bytes(m.sizes() | {"n_coef": 7, "capacity": k}) for k in (1, 2))
log = (two - one) * result.cost["steps"]
print(json.dumps([before, peak(), log, n, result.cost["steps"], list(result.remarks)]))
"""


def run() -> list[Row]:
    """Measure in child processes: the peak of one is for good."""
    rows: list[Row] = []
    for (model, span), aim in RUNS.items():
        argv = [sys.executable, "-c", CODE, model, str(span)]
        done = subprocess.run(argv, check=True, capture_output=True, text=True)
        before, peak, log, n, steps, remarks = json.loads(done.stdout)
        note = (
            f"{aim}; log {log / 1e6:.0f} MB of {steps} steps, {n} events, with them "
            f"and summary; {before / 1e6:.0f} MB before; {(peak - before) / log:.2f} "
            f"times the log; {remarks[0] if remarks else 'all in memory'}"
        )
        what = f"{model}, {span:g} s: peak of the process"
        rows.append(Row(what=what, value=peak / 1e6, unit="MB", note=note))
    return rows
