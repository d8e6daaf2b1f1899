"""Systems and results outlive their process: pickling, copies, forks, threads."""

import copy
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

from nonsmooth import (
    Contact,
    Coulomb,
    HuntCrossley,
    Model,
    NormalLaw,
    PointMass,
    gallery,
    simulate,
)
from nonsmooth.kernels.abi import JIT
from nonsmooth.pack import pack


@dataclass(frozen=True, kw_only=True)
class Cubic(NormalLaw):
    """A law of the user's own, pickled by its name."""

    stiffness: float

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap**3 + 10.0 * overlap_rate


def bouncing() -> Model:
    ball = PointMass(name="ball", mass=1.0, position=(0.0, 0.2), velocity=(1.0, 0.0))
    sole = Contact(
        name="sole",
        b="ball",
        normal=HuntCrossley(stiffness=1e5, damping=0.1),
        friction=Coulomb(mu=0.3),
    )
    return Model(gravity=(0.0, -9.81), bodies=[ball], contacts=[sole])


@pytest.fixture(scope="module")
def system():
    return pack(bouncing())


@pytest.fixture(scope="module")
def result(system):
    return simulate(system, until=0.5)


def numbers(result):
    """Everything a result says, as bytes."""
    columns = result.sample(np.linspace(0.0, result.t_end, 57))
    events = "".join(map(str, result.events))
    return columns.to_numpy().tobytes() + events.encode()


@pytest.mark.jit_off
@pytest.mark.parametrize(
    "again", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy]
)
def test_copies_say_and_do_the_same(system, result, again):
    other = again(result)
    assert numbers(other) == numbers(result)
    assert numbers(simulate(again(system), until=0.5)) == numbers(result)
    assert other.events.counts() == result.events.counts()


@pytest.mark.jit_off
def test_a_deep_copy_has_memory_of_its_own(system):
    other = copy.deepcopy(system)
    other.tables.mass[:] = 99.0
    assert system.tables.mass[0] == 1.0
    assert not np.shares_memory(other.tables.mass, system.tables.mass)
    work = system.work()
    again = pickle.loads(pickle.dumps(work))
    again.motion[:] = 7.0
    assert not np.any(work.motion == 7.0)


@pytest.mark.skipif(not JIT, reason="starts compiled processes")
def test_a_fresh_process_reads_them(tmp_path, system, result):
    law = Model(
        gravity=(0.0, -9.81),
        bodies=[PointMass(name="ball", mass=1.0, position=(0.0, 0.1))],
        contacts=[Contact(name="sole", b="ball", normal=Cubic(stiffness=1e7))],
    )
    mine = simulate(law, until=0.3)
    path = tmp_path / "both.pickle"
    code = f"""
import pickle, sys
import importlib.util
spec = importlib.util.spec_from_file_location({__name__!r}, {__file__!r})
module = importlib.util.module_from_spec(spec)
sys.modules[{__name__!r}] = module
spec.loader.exec_module(module)
from nonsmooth import simulate
with open({str(path)!r}, "rb") as file:
    system, result, mine = pickle.load(file)
found = module.numbers(result), module.numbers(simulate(system, until=0.5))
again = simulate(mine.system, until=0.3)
found += module.numbers(mine), module.numbers(again)
sys.stdout.buffer.write(pickle.dumps(found))
"""
    path.write_bytes(pickle.dumps((system, result, mine)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    found = pickle.loads(done.stdout)
    assert found == (*[numbers(result)] * 2, *[numbers(mine)] * 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_goes_on(system, result):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            same = numbers(simulate(system, until=0.5)) == numbers(result)
            os.write(writer, b"1" if same else b"0")
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        assert file.read() == b"1"
    assert os.waitpid(child, 0)[1] == 0


def test_many_threads_share_a_result(system, result):
    alone = numbers(result)
    # A run that nobody has read yet: what is made when it is asked for is shared too.
    fresh = simulate(system, until=0.5)
    assert "events" not in vars(fresh)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: numbers(fresh), range(32)))
    assert all(other == alone for other in found)


def test_many_threads_share_a_system(system, result):
    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda _: simulate(system, until=0.5), range(16)))
    assert all(numbers(run) == numbers(result) for run in runs)


@pytest.mark.skipif(not JIT, reason="starts compiled processes")
def test_the_first_pack_of_a_process_in_many_threads(tmp_path):
    """Importing, linking and compiling laws at the same time, a user's law as well."""
    path = tmp_path / "threads.py"
    path.write_text("""
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
import threading
from nonsmooth import NormalLaw

@dataclass(frozen=True, kw_only=True)
class Mine(NormalLaw):
    stiffness: float

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap * (1.0 + 0.1 * overlap_rate)

names = ["belt", "compactor", "crank_rocker", "pendulum_chain",
         "slider_in_guide", "incline", "two_blocks", "free_standing"]
mine = ["belt", "incline", "two_blocks", "compactor"]
names += [name + " mine" for name in mine]
start = threading.Barrier(len(names))
def run(text):
    start.wait()
    from nonsmooth import gallery, simulate
    name, _, has_mine = text.partition(" ")
    model = gallery.build(name)
    if has_mine:
        law = Mine(stiffness=1e5)
        contacts = tuple(replace(c, normal=law) for c in model.contacts)
        model = replace(model, contacts=contacts)
    result = simulate(model, until=0.01)
    return text, result.sample([0.005]).to_numpy().tobytes()
with ThreadPoolExecutor(len(names)) as pool:
    threaded = dict(pool.map(run, names))
start = threading.Barrier(1)
assert threaded == dict(run(name) for name in names)
assert threaded["incline mine"] != threaded["incline"]
print("same")
""")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.stdout.strip() == "same", done.stderr


def test_the_gallery_survives_pickling():
    for name in ("compactor", "slider_in_guide", "pendulum_chain"):
        run = simulate(gallery.build(name), until=0.02)
        assert numbers(pickle.loads(pickle.dumps(run))) == numbers(run)
