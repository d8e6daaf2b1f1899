"""Where the time goes: calls counted, kernels timed, and the product as shares.

Calls are counted in a run with the JIT off, in a child process under Python's
profiler; it takes the same steps. Times are those of compiled kernels in a loop, at
states and in modes taken evenly from a run. A part's share is their product over the
CPU time of the compiled loop; `rest` is what the parts do not explain. Parts are
disjoint: right-hand sides count apart from the sums, factors and solutions around them,
except in landing, where the projected state's accelerations belong to it.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.blocks import row_of_blocks
from benchmarks.common import Row, timed
from nonsmooth import Model, gallery, kernels, simulate
from nonsmooth.kernels import entry
from nonsmooth.kernels.abi import at, jit
from nonsmooth.kernels.entry import Instants
from nonsmooth.kernels.friction.rest import DECIDED
from nonsmooth.kernels.march import guards, locate, radau, steps, switch
from nonsmooth.kernels.march.record import record
from nonsmooth.kernels.mechanics import contacts, dynamics, reactions
from nonsmooth.pack import pack
from nonsmooth.result.evaluate import instants
from nonsmooth.result.events import event_table
from nonsmooth.solve.driver import Driver
from nonsmooth.solve.options import Options
from nonsmooth.solve.schemes import SCHEMES
from nonsmooth.solve.start import consistent_start

# What is profiled: how long, s, and at an rtol that reaches the accuracy asked for.
RUNS = {
    "compactor": (0.5, 5e-10),
    "free_standing": (10.0, 1e-4),
    "blocks": (0.5, 1e-8),
}
N_BLOCK = 20
N_STATE, N_TIMING = 30, 4  # states at which a kernel is timed, and how often at each
SECONDS = 1e-3  # least duration of each of these timings


def build(name: str) -> Model:
    """Return a model of the gallery, or the row of blocks."""
    return row_of_blocks(N_BLOCK) if name == "blocks" else gallery.build(name)


# ---- counting, with the JIT off ----------------------------------------------------


def count(name: str) -> dict[str, int]:
    """Return how often kernels were called, as "file.kernel" and "... < caller"."""
    system, (until, rtol) = pack(build(name)), RUNS[name]
    profiler = cProfile.Profile()
    profiler.runcall(simulate, system, until, rtol=rtol)
    table: Any = pstats.Stats(profiler)
    folder = Path(kernels.__file__).parent
    counts: dict[str, int] = {}
    for (path, _, function), (_, calls, _, _, callers) in table.stats.items():
        if not Path(path).is_relative_to(folder):
            continue
        key = f"{Path(path).stem}.{function}"
        counts[key] = calls
        for (_, _, caller), (_, calls, _, _) in callers.items():
            counts[f"{key} < {caller}"] = calls
    return counts


def counted(name: str) -> dict[str, int]:
    """Count in a child process without the JIT."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.profile", name],
        check=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout)


# ---- timing, compiled --------------------------------------------------------------
# A kernel that reads what it writes is given the same again each time.


@jit
def _rhs(n, m, w, r, log, t, h):
    s = r.step
    for _ in range(n):
        steps.evaluate(m, w, s, t, s.y, s.K[0])


@jit
def _configure(n, m, w, r, log, t, h):
    y = r.step.y
    for _ in range(n):
        dynamics.configure(m, w, t, y, at(y, m.n_dof))


@jit
def _contacts(n, m, w, r, log, t, h):
    for _ in range(n):
        contacts.contacts(m, w)


@jit
def _factor(n, m, w, r, log, t, h):
    for _ in range(n):
        reactions.factor_rows(m, w)


@jit
def _derive(n, m, w, r, log, t, h):
    s = r.step
    for _ in range(n):
        dynamics.derive(m, w, t, at(s.y, m.n_dof), 0.0, 0.0, s.K[0])


@jit
def _stages(n, m, w, r, log, t, h):
    for _ in range(n):
        steps.stages(m, w, r.step, r.tableau, h)
        steps.raw_error(m, r.step, r.tableau, h)


@jit
def _land(n, m, w, r, log, t, h):
    s = r.step
    for _ in range(n):
        for i in range(m.n_y):
            s.y1[i] -= s.moved[i]
        steps.land(m, w, s, t + h, s.K[r.tableau.n_stage])


@jit
def _error(n, m, w, r, log, t, h):
    for _ in range(n):
        steps.error(m, w, r.step)


@jit
def _dense(n, m, w, r, log, t, h):
    for _ in range(n):
        steps.dense(m, w, r.step, r.tableau, h)


@jit
def _on_dense(n, m, w, r, log, t, h):
    for k in range(n):
        locate.on_dense(m, w, r.watch, h, (k % 8) / 8.0, r.watch.guard)


@jit
def _guards(n, m, w, r, log, t, h):
    s = r.step
    a = steps.accelerations(m, s, 0)
    for _ in range(n):
        guards.evaluate(m, w, t, s.y, a, s.d, s.set.size, r.watch.guard)


@jit
def _record(n, m, w, r, log, t, h):
    s = r.step
    for _ in range(n):
        log.n = 0
        record(m, s, log, t, h, s.y, w.mode, r.watch.fired, 0)


@jit
def _jacobian(n, m, w, r, log, t, h):
    for _ in range(n):
        radau.jacobian(m, w, r.newton)


@jit
def _factor_newton(n, m, w, r, log, t, h):
    for _ in range(n):
        radau.factor_newton(m, r.newton, h)


@jit
def _iterate(n, m, w, r, log, t, h):
    for _ in range(n):
        # One iteration: any correction is small enough.
        for k in range(3):
            for i in range(2 * m.n_dof + m.n_state):
                r.newton.Z[k][i] = 0.0
        radau.iterate(m, w, r.newton, h, 1e300)


@jit
def _radau_error(n, m, w, r, log, t, h):
    for _ in range(n):
        radau.error(m, w, r.newton, h, 0)


@jit
def _finish(n, m, w, r, log, t, h):
    for _ in range(n):
        radau.finish(m, w, r.newton, h)


@jit
def _switch(n, m, w, r, ends, k):
    n_decided = 0
    y, rest = ends.y[k], r.rest
    for _ in range(n):
        for i in range(m.n_y):
            r.step.y[i] = y[i]
        entry.take_mode(m, w, ends.mode[k])
        # Not taken for chatter.
        rest.t_switch, rest.n_flood = -np.inf, 0
        if switch.switch(m, w, r.watch, rest, ends.t[k]) == DECIDED:
            n_decided += 1
    return n_decided


def seconds(call: Callable[[int], Any]) -> float:
    """Return the least CPU time of one of n calls, s."""

    def spent(n: int) -> float:
        begin = time.process_time()
        call(n)
        return time.process_time() - begin

    call(1)
    n = 8
    while spent(n) < SECONDS:
        n *= 4
    return min(spent(n) for _ in range(N_TIMING)) / n


class Bench:
    """A finished run, from whose log states and modes are taken."""

    def __init__(self, name: str) -> None:
        system, (until, rtol) = pack(build(name)), RUNS[name]
        options, work = Options(rtol=rtol), system.work()
        q, v = consistent_start(system, work, 0.0, None, None)
        scheme = SCHEMES[options.scheme]
        self.system = system
        self.driver = Driver(system, options, scheme, work, 0.0, until, q, v)
        self.result = self.driver.run(None)
        kept = self.steps = self.result.steps
        self.is_implicit = kept.method
        # Both ends of each step, in its mode.
        self.starts = instants(system, kept.t, kept.coef[:, 0], kept.mode[:])
        t_end = np.minimum(kept.t + kept.h, kept.cap)
        y_end = kept.before(np.arange(len(kept.t)))
        self.ends = instants(system, t_end, y_end, kept.mode[:])

    def place(self, spots: Instants, i: int) -> tuple[Any, ...]:
        """Put state and mode at an end of step i into the run; return arguments."""
        d, m, kept = self.driver, self.system.tables, self.steps
        t, h = float(spots.t[i]), float(kept.h[i])
        d.step.y[:] = spots.y[i]
        d.step.t, d.step.t_cap, d.step.n_rhs = t, float(kept.cap[i]), 0
        d.blocks.is_implicit = int(self.is_implicit[i])
        entry.set_mode(m, d.work, spots, i)
        return (m, d.work, d.blocks, d.log, t, h)

    def ready(self, i: int) -> tuple[Any, ...]:
        """Take step i again, so that its kernels can be called; return arguments."""
        args = self.place(self.starts, i)
        _rhs(1, *args)
        if self.is_implicit[i]:
            _solve(*args)
        else:
            for kernel in (_stages, _land, _error, _dense):
                kernel(1, *args)
        return args

    def time(self, kernel: Any, is_implicit: bool | None = None) -> float:
        """Return the mean time of a kernel over steps of a method, s."""
        chosen = np.arange(len(self.is_implicit))
        if is_implicit is not None:
            chosen = chosen[self.is_implicit == is_implicit]
        if not len(chosen):
            return 0.0
        spots = chosen[np.linspace(0, len(chosen) - 1, N_STATE).astype(int)]
        total = 0.0
        for i in spots.tolist():
            args = self.ready(i)
            total += seconds(lambda n, args=args: kernel(n, *args))
        return total / len(spots)

    def inside(self, kernel: Any, is_implicit: bool) -> int:
        """Return the right-hand sides in one call of a kernel."""
        chosen = np.flatnonzero(self.is_implicit == is_implicit)
        if not len(chosen):
            return 0
        args = self.ready(int(chosen[len(chosen) // 2]))
        step = self.driver.step
        step.n_rhs = 0
        kernel(1, *args)
        return int(step.n_rhs)

    def time_switch(self) -> float:
        """Return the mean time of a switch, s, over events of the run."""
        fired, n_user = self.steps.fired, self.system.tables.n_user
        ends = np.flatnonzero(fired[:, n_user:].any(axis=1))
        spots = ends[np.linspace(0, len(ends) - 1, min(N_STATE, len(ends))).astype(int)]
        total = 0.0
        for i in spots.tolist():
            m, w, r, _, t, _ = args = self.place(self.ends, i)
            # Guards tell who has come to the limit of friction with another.
            _rhs(1, *args)
            _guards(1, *args)
            r.watch.fired[:] = fired[i]
            args = (m, w, r, self.ends, i)
            if _switch(10, *args) != 10:
                raise AssertionError(f"t = {t:g} s: a switch of the run is not decided")
            total += seconds(lambda n, args=args: _switch(n, *args))
        return total / len(spots)

    def time_table(self) -> float:
        """Return the time in which the table of events is made, s."""
        args = (self.system, self.steps, self.result.t_end)
        return seconds(lambda n: [event_table(*args) for _ in range(n)])


@jit
def _solve(m, w, r, log, t, h):
    # What is left of another step is no guess.
    radau.forget_step(m, r.newton)
    r.newton.has_jacobian = 0
    radau.solve_stages(m, w, r.newton, h)
    radau.error(m, w, r.newton, h, 0)
    radau.finish(m, w, r.newton, h)


# ---- shares ------------------------------------------------------------------------


def parts(bench: Bench, counts: dict[str, int]) -> list[tuple[str, int, float]]:
    """Return name, calls and time per call, s, of each part of the compiled loop."""
    rhs = bench.time(_rhs)

    def own(kernel: Any, is_implicit: bool) -> float:
        """Return a kernel's time without its right-hand sides."""
        whole = bench.time(kernel, is_implicit)
        return max(0.0, whole - bench.inside(kernel, is_implicit) * rhs)

    def calls(*keys: str) -> int:
        return sum(counts.get(key, 0) for key in keys)

    return [
        ("right-hand sides", calls("steps.evaluate"), rhs),
        ("sums of explicit stages", calls("steps.stages"), own(_stages, False)),
        ("error of explicit steps", calls("steps.error"), bench.time(_error, False)),
        ("landing: projection, accelerations",
         calls("steps.land < land_explicit"), bench.time(_land, False)),
        ("sums of dense output", calls("steps.dense"), own(_dense, False)),
        ("Jacobians, but for right-hand sides",
         calls("radau.jacobian"), own(_jacobian, True)),
        ("factors of Newton's matrices",
         calls("radau.factor_newton"), bench.time(_factor_newton, True)),
        ("Newton iterations, but for right-hand sides",
         calls("radau.correction"), own(_iterate, True)),
        ("error of implicit steps", calls("radau.error"), own(_radau_error, True)),
        ("end of implicit steps: projection, accelerations, dense output",
         calls("radau.finish"), own(_finish, True)),
        ("guards at the nodes of steps",
         calls("locate.on_dense < see_nodes"), bench.time(_on_dense)),
        ("guards in search of roots",
         calls("locate.on_dense") - calls("locate.on_dense < see_nodes"),
         bench.time(_on_dense)),
        ("guards at the ends of steps",
         calls("guards.evaluate") - calls("locate.on_dense"), bench.time(_guards)),
        ("switches", calls("switch.switch"), bench.time_switch()),
        ("log", calls("record.record"), bench.time(_record)),
    ]  # fmt: skip


def run() -> list[Row]:
    """Profile each system; shares are of the CPU time of the compiled loop."""
    rows: list[Row] = []
    for name, (until, rtol) in RUNS.items():
        counts = counted(name)
        bench = Bench(name)
        system = bench.system
        whole = timed(lambda s=system, u=until, r=rtol: simulate(s, u, rtol=r), 7)
        known = bench.result.cost["evaluations"]
        seen = counts["steps.evaluate"] + counts["steps.land"]
        note = f"{until:g} s simulated at rtol {rtol:g}, {known} right-hand sides"
        if seen != known:
            note += f" ({seen} in the run that was counted)"
        n_event = len(bench.result.events)
        rows.append(Row(what=f"{name}: compiled loop", value=whole.march * 1e3,
                        unit="ms", note=f"{note}, {n_event} events"))  # fmt: skip
        explained = 0.0
        for part, calls, each in parts(bench, counts):
            share = calls * each / whole.march
            explained += share
            if calls:
                rows.append(
                    Row(what=f"{name}: {part}", value=100.0 * share, unit="%",
                        note=f"{calls} calls of {each * 1e6:.3g} us")
                )  # fmt: skip
        rows += [
            Row(what=f"{name}: rest", value=100.0 * (1.0 - explained), unit="%",
                note="control, copies, what loops of one kernel do not show"),
            Row(what=f"{name}: outside the compiled loop", unit="ms",
                value=(whole.cpu - whole.march) * 1e3,
                note=f"table of events {bench.time_table() * 1e3:.3g} ms"),
        ]  # fmt: skip
        pieces = {"configure": _configure, "of it contacts": _contacts,
                  "factor": _factor, "derive": _derive}  # fmt: skip
        note = ", ".join(f"{k} {bench.time(f) * 1e6:.3g}" for k, f in pieces.items())
        rows.append(Row(what=f"{name}: one right-hand side", unit="us", note=note,
                        value=bench.time(_rhs) * 1e6))  # fmt: skip
    return rows


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1])))
