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

import numba
import numpy as np

from benchmarks.blocks import row_of_blocks
from benchmarks.common import Row, timed
from nonsmooth import Model, gallery, simulate
from nonsmooth.kernels import assemble, guards, loop, modes, radau, steps, switch
from nonsmooth.kernels.abi import at
from nonsmooth.pack import pack
from nonsmooth.solve.events import event_records
from nonsmooth.solve.options import Options
from nonsmooth.solve.simulate import _Driver
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
    counts: dict[str, int] = {}
    for (path, _, function), (_, calls, _, _, callers) in table.stats.items():
        if Path(path).parent.name != "kernels":
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


@numba.njit
def _rhs(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        steps.evaluate(m, w, r, t, r.y, r.K)


@numba.njit
def _configure(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        modes.configure(m, w, t, r.y, at(r.y, m.n_dof))


@numba.njit
def _contacts(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        assemble.contacts(m, w)


@numba.njit
def _factor(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        modes.factor_rows(m, w)


@numba.njit
def _derive(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        modes.derive(m, w, t, at(r.y, m.n_dof), 0.0, 0.0, r.K)


@numba.njit
def _stages(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        steps.stages(m, w, r, tb, h)
        steps.raw_error(m, r, tb, h)


@numba.njit
def _land(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        for i in range(r.n_y):
            r.y1[i] -= r.moved[i]
        steps.land(m, w, r, t + h, at(r.K, tb.n_stage * r.n_y))


@numba.njit
def _error(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        steps.error(m, w, r)


@numba.njit
def _dense(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        steps.dense(m, w, r, tb, h)


@numba.njit
def _on_dense(n, m, w, r, tb, log, t, h):
    for k in range(n):
        guards.on_dense(m, w, r, h, (k % 8) / 8.0, r.guard)


@numba.njit
def _guards(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        guards.evaluate(m, w, t, r.y, r.rate, r.d, r.size, r.guard)


@numba.njit
def _record(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        log.n = 0
        loop.record(m, w, r, log, t, h, r.y, w.side, w.slip, 0)


@numba.njit
def _jacobian(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        radau.jacobian(m, w, r)


@numba.njit
def _factor_newton(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        radau.factor_newton(m, r, h)


@numba.njit
def _iterate(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        # One iteration: any correction is small enough.
        for i in range(6 * m.n_dof):
            r.Z[i] = 0.0
        radau.iterate(m, w, r, h, 1e300)


@numba.njit
def _radau_error(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        radau.error(m, w, r, h, 0)


@numba.njit
def _finish(n, m, w, r, tb, log, t, h):
    for _ in range(n):
        radau.finish(m, w, r, h)


@numba.njit
def _switch(n, m, w, r, p, h, t, y, side, slip):
    n_decided = 0
    for _ in range(n):
        for i in range(r.n_y):
            r.y[i] = y[i]
        for k in range(m.n_contact):
            w.side[k] = side[k]
            w.slip[k] = slip[k]
        switch.activate(m, w)
        # Not taken for chatter.
        r.t_switch, r.n_flood = -np.inf, 0
        if switch.switch(m, w, r, p, h, t) == switch.DECIDED:
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
        self.system, (until, rtol) = pack(build(name)), RUNS[name]
        q, v = consistent_start(self.system, 0.0, None, None)
        options = Options(rtol=rtol)
        self.driver = _Driver(self.system, options, 0.0, until, q, v, {})
        self.result = self.driver.run(None)
        m = self.system.tables
        self.t, self.h = self.column("t"), self.column("h")
        self.is_implicit = self.column("is_implicit")
        width = (1 + self.driver.state.n_coef) * self.system.n_y
        self.coef = self.column("coef", width).reshape(len(self.t), -1, self.system.n_y)
        self.fired = self.column("event", m.n_watch)
        self.side = self.column("side", m.n_contact)
        self.slip = self.column("slip", m.n_contact)
        self.approach = self.column("approach", m.n_contact)

    def column(self, name: str, width: int = 0) -> Any:
        """Return a column of the log, (n_step) or (n_step, width)."""
        parts = [
            getattr(log, name)[: n * max(width, 1)] for log, n, *_ in self.driver.chunks
        ]
        joined = np.concatenate(parts)
        return joined.reshape(-1, width) if width else joined

    def place(self, i: int) -> tuple[float, float]:
        """Put state and mode at the start of step i into the run; return t and h."""
        r, w = self.driver.state, self.driver.work
        r.y[:] = self.coef[i, 0]
        w.side[:], w.slip[:] = self.side[i], self.slip[i]
        w.approach[:] = self.approach[i]
        r.t, r.n_rhs, r.is_implicit = float(self.t[i]), 0, int(self.is_implicit[i])
        return float(self.t[i]), float(self.h[i])

    def ready(self, i: int) -> tuple[Any, ...]:
        """Take step i again, so that its kernels can be called; return arguments."""
        d = self.driver
        t, h = self.place(i)
        r = d.state
        args = (self.system.tables, d.work, r, d.tableau, d.log, t, h)
        _activate(*args[:2])
        _rhs(1, *args)
        if r.is_implicit:
            r.has_jacobian = 0
            _solve(*args)
        else:
            for kernel in (_stages, _land, _error, _dense):
                kernel(1, *args)
        return args

    def time(self, kernel: Any, is_implicit: bool | None = None) -> float:
        """Return the mean time of a kernel over steps of a method, s."""
        chosen = np.arange(len(self.t))
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
        args[2].n_rhs = 0
        kernel(1, *args)
        return int(args[2].n_rhs)

    def time_switch(self) -> float:
        """Return the mean time of a switch, s, over events of the run."""
        d = self.driver
        r, w, m = d.state, d.work, self.system.tables
        ends = np.flatnonzero(self.fired[:, m.n_guard :].any(axis=1))
        spots = ends[np.linspace(0, len(ends) - 1, min(N_STATE, len(ends))).astype(int)]
        total = 0.0
        for i in spots.tolist():
            self.place(i)
            t, y = float(self.t[i] + self.h[i]), self.coef[i].sum(axis=0)
            r.fired[:] = self.fired[i]
            args = (m, w, r, d.lcp, d.hlcp, t, y, self.side[i], self.slip[i])
            if _switch(10, *args) != 10:
                raise AssertionError(f"t = {t:g} s: a switch of the run is not decided")
            total += seconds(lambda n, args=args: _switch(n, *args))
        return total / len(spots)

    def time_table(self) -> float:
        """Return the time in which the table of events is made, s."""
        kept, t_end, work = self.result.steps, self.result.t_end, self.driver.work
        args = (self.system, kept, self.fired, t_end, work)
        return seconds(lambda n: [event_records(*args) for _ in range(n)])


@numba.njit
def _activate(m, w):
    switch.activate(m, w)


@numba.njit
def _solve(m, w, r, tb, log, t, h):
    radau.solve_stages(m, w, r, h)
    radau.error(m, w, r, h, 0)
    radau.finish(m, w, r, h)


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
         calls("radau.solve_newton < iterate") // 2, own(_iterate, True)),
        ("error of implicit steps", calls("radau.error"), own(_radau_error, True)),
        ("end of implicit steps: projection, accelerations, dense output",
         calls("radau.finish"), own(_finish, True)),
        ("guards at the nodes of steps",
         calls("guards.on_dense < locate"), bench.time(_on_dense)),
        ("guards in search of roots",
         calls("guards.on_dense") - calls("guards.on_dense < locate"),
         bench.time(_on_dense)),
        ("guards at the ends of steps",
         calls("guards.evaluate") - calls("guards.on_dense"), bench.time(_guards)),
        ("switches", calls("switch.switch"), bench.time_switch()),
        ("log", calls("loop.record"), bench.time(_record)),
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
