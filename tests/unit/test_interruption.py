"""Ctrl-C, cancel and memory: a run hears of them in time, and keeps what it has."""

import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import pytest

from nonsmooth import (
    Contact,
    Coulomb,
    Interrupted,
    KelvinVoigt,
    Model,
    RigidBody,
    SolveError,
    gallery,
    simulate,
)
from nonsmooth.kernels.abi import JIT
from nonsmooth.pack import pack
from nonsmooth.solve.driver import Driver

pytestmark = pytest.mark.skipif(not JIT, reason="about compiled loops")
# s, on a busy machine: looks come every few hundredths of a second.
SOON = 3.0


def many_feet(n: int) -> Model:
    """One body that stands on many points: each evaluation factors n rows."""
    stiffness = 1e5
    body = RigidBody(
        name="body",
        mass=1.0,
        inertia=1.0,
        position=(0.0, -9.81 / stiffness / n),
        points={f"p{i}": (0.01 * i, 0.0) for i in range(n)},
    )
    feet = [
        Contact(
            name=f"c{i}",
            b=f"body.p{i}",
            normal=KelvinVoigt(stiffness=stiffness, damping=50.0),
            friction=Coulomb(mu=0.3, mu_static=0.5),
        )
        for i in range(n)
    ]
    return Model(gravity=(1.0, -9.81), bodies=[body], contacts=feet)


@pytest.fixture
def _own_ctrl_c():
    """Python's own way with Ctrl-C; servers tried in the same process have another."""
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, old)


@pytest.mark.usefixtures("_own_ctrl_c")
def test_ctrl_c_is_heard_inside_a_large_step():
    system = pack(many_feet(400))
    sent: list[float] = []

    def progress(part: float) -> None:
        # A moment after the first look into the run, from outside of it.
        if not sent:
            sent.append(time.process_time())
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

    with pytest.raises(Interrupted) as error:
        simulate(system, until=10.0, progress=progress)
    # CPU time: what a busy machine does in between is not ours.
    assert time.process_time() - sent[0] < 0.2 + SOON
    assert error.value.result is not None
    assert not isinstance(error.value, SolveError)


def test_progress_is_told_and_can_cancel_inside_a_large_step():
    class Cancelled(Exception):
        pass

    told: list[float] = []

    def progress(part: float) -> None:
        told.append(time.perf_counter())
        if told[-1] - told[0] > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        simulate(pack(many_feet(400)), until=0.01, progress=progress)
    gaps = [b - a for a, b in itertools.pairwise(told)]
    assert max(gaps) < SOON


def test_out_of_memory_keeps_what_there_is(monkeypatch):
    made: list[int] = []
    new_log = Driver._new_log

    def limited(self):
        made.append(1)
        if len(made) > 3:
            raise MemoryError
        return new_log(self)

    monkeypatch.setattr(Driver, "_new_log", limited)
    system = pack(gallery.compactor())
    with pytest.raises(SolveError, match="out of memory after 2576 steps") as error:
        simulate(system, until=3.0)
    result = error.value.result
    assert result is not None
    assert result.status == "failed"
    # The first chunks are short, so that little is lost.
    assert len(result.steps.t) == 64 + 512 + 2000
    assert result.t_end == pytest.approx(result.t[-1])
    assert len(result.events) > 10
    # The default tolerance, over 2 s of a motion that amplifies errors.
    balance = result.energy_balance
    assert balance.residual < 1e-7 * balance.exchanged


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits memory by rlimit")
def test_a_run_that_fills_memory_for_real():
    code = """
import resource
from nonsmooth import gallery, simulate, SolveError
from nonsmooth.pack import pack
system = pack(gallery.compactor())
simulate(system, until=0.01).summary()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 200_000_000,) * 2)
try:
    simulate(system, until=1000.0)
except SolveError as error:
    print(len(error.result.steps.t) > 5000, "out of memory" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_the_memory_of_a_run_goes_with_its_result():
    """Nothing refers to itself: it does not wait for the collector of garbage."""
    gc.collect()
    gc.disable()
    try:
        result = simulate(gallery.belt(), until=1.0)
        result.summary()
        held = (result.steps.chunks[0], result.system, result.system.tables, result)
        kept = [weakref.ref(item) for item in held]
        del held, result
        assert [ref() for ref in kept] == [None] * 4
    finally:
        gc.enable()
