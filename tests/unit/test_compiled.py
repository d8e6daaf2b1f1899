"""Compiled code: one specialisation, its cache, what importing costs."""

import importlib
import importlib.util
import json
import os
import pkgutil
import subprocess
import sys

import numba
import pytest

import nonsmooth.kernels as kernels
from nonsmooth.caches import cache_root
from nonsmooth.kernels.abi import INTEGER, JIT, NUMBER, Block, cache, floats

compiled = numba.njit(error_model="numpy")


# ---- one specialisation, cache, imports ----------------------------------------

# Written for real and complex numbers: two each.
TWICE = {"dense.lu_factor", "dense.lu_solve", "radau.solve_newton"}

COUNT_SIGNATURES = """
import importlib, json, pkgutil, sys
from nonsmooth import *
import nonsmooth.kernels as kernels
from nonsmooth.caches import cache_root
from numba.core.dispatcher import Dispatcher
model = Model(
    gravity=(0, -9.81),
    bodies=[RigidBody(name="rod", mass=1, inertia=0.1, position=(0.5, 0),
                      points={"pin": (-0.5, 0)}),
            MovingSupport(name="wall", x=Harmonic(amplitude=0.0, frequency=1.0))],
    joints=[Revolute(name="hinge", a="wall", b="rod.pin")],
    forces=[TorsionSpring(name="spring", b="rod", stiffness=3e5, damping=3e5)],
    events=[Event(name="low", b="rod", guard="theta + 0.1")],
)
for options in ({}, {"method": "dopri5"}, {"method": "radau"},
                {"method": "rk4", "step": 1e-7}):
    result = simulate(model, 1e-5, **options)
    result.sample()
    result.energy_balance
assembled(model)
equilibrium(model)
count = {}
for info in pkgutil.walk_packages(kernels.__path__, "nonsmooth.kernels."):
    module = importlib.import_module(info.name)
    for name, item in vars(module).items():
        if isinstance(item, Dispatcher) and item.py_func.__module__ == module.__name__:
            key = f"{info.name.rpartition('.')[2]}.{name}"
            count[key] = [str(s) for s in item.signatures]
print(json.dumps(count))
"""


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
def test_every_kernel_is_compiled_for_one_set_of_types(tmp_path):
    """In a process with an empty cache, since cached code leaves no signatures."""
    run = subprocess.run(
        [sys.executable, "-c", COUNT_SIGNATURES],
        env=os.environ | {"NONSMOOTH_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=500,
    )
    count = json.loads(run.stdout)
    used = {name: s for name, s in count.items() if s}
    # Kernels of other solvers stay idle; those of these runs are many.
    assert len(used) > 50
    for name, signatures in used.items():
        assert len(signatures) <= (2 if name in TWICE else 1), (name, signatures)
    # The cache is where it was asked for, and nothing else is.
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("kernels-")


@pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
def test_no_kernel_called_here_has_a_second_specialisation():
    for info in pkgutil.walk_packages(kernels.__path__, "nonsmooth.kernels."):
        module = importlib.import_module(info.name)
        for name, item in vars(module).items():
            key = f"{info.name.rpartition('.')[2]}.{name}"
            if getattr(item, "signatures", None) and hasattr(item, "py_func"):
                allowed = 2 if key in TWICE else 1
                is_home = item.py_func.__module__ == info.name
                assert not is_home or len(item.signatures) <= allowed, key


def digests(text, tmp_path):
    """Digests of the functions in a module, which is executed anew."""
    path = tmp_path / "written.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("nonsmooth.written", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    functions = {name: getattr(module, name) for name in ("callee", "caller", "other")}
    return {name: cache._of_value(item) for name, item in functions.items()}


SOURCES = """
from nonsmooth.kernels import tolerances
from nonsmooth.kernels.abi import NUMBER, Block, far, floats, kernel

LIMIT = 2.0

class Held(Block):
    x = floats("n")

@kernel
def callee(x):
    "Add."
    return x + LIMIT

@far(Held, NUMBER)
def away(held, x):
    held.x[0] = x

@kernel
def caller(held, x):
    away(held, callee(x))

@kernel
def other(x):
    return tolerances.EPSILON * x
"""


@pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("x + LIMIT", "x - LIMIT", {"callee", "caller"}),
        ("LIMIT = 2.0", "LIMIT = 3.0", {"callee", "caller"}),
        ("held.x[0] = x", "held.x[0] = 2.0 * x", set()),  # linked by name
        ("def away(held, x)", "def away(held, y)", set()),
        ("@far(Held, NUMBER)", "@far(Held, NUMBER, returns=NUMBER)", {"caller"}),
        ("tolerances.EPSILON", "tolerances.TINY", {"other"}),
        ("Add.", "Add the limit.", set()),
    ],
)
def test_code_is_kept_by_what_it_is_made_of(old, new, changed, tmp_path):
    assert old in SOURCES
    before = digests(SOURCES, tmp_path)
    after = digests(SOURCES.replace(old, new), tmp_path)
    assert {name for name in before if before[name] != after[name]} == changed


def test_blocks_are_known_by_their_slots():
    def layout(**slots):
        inner = type("Inner", (Block,), slots)
        outer = type("Outer", (Block,), {"inner": inner, "k": INTEGER})
        return cache._of_layout(outer)

    same = layout(x=floats("n, 2"))
    assert layout(x=floats("n, 2")) == same
    for slots in (
        {"x": floats("n, 3")},
        {"y": floats("n, 2")},
        {"x": floats("n, 2"), "y": NUMBER},
        {"y": NUMBER, "x": floats("n, 2")},
    ):
        assert layout(**slots) != same


KEEP = """
import logging, sys
from nonsmooth.kernels.abi import kernel
logging.basicConfig(stream=sys.stdout)

@kernel
def twice(x):
    return 2.0 * x

assert twice(3.0) == 6.0
print(sum(twice.stats.cache_hits.values()))
"""


@pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
def test_damaged_code_is_compiled_again(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(KEEP)
    env = os.environ | {"NONSMOOTH_CACHE_DIR": str(tmp_path / "cache")}

    def run():
        found = subprocess.run(
            [sys.executable, str(script)],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        return found.stdout

    assert run() == "0\n"
    (file,) = (tmp_path / "cache").glob("kernels-*/*")
    whole = file.read_bytes()
    for damaged in (whole[:-9], b"", whole[:90] + b"?" + whole[91:]):
        file.write_bytes(damaged)
        assert "compiled again: it is damaged" in run()
        assert run() == "1\n"
    # A folder that cannot be made: code is kept in memory, and that is said.
    env["NONSMOOTH_CACHE_DIR"] = str(script)
    assert "cannot be kept" in run()


def test_the_cache_can_be_put_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("NONSMOOTH_CACHE_DIR", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.delenv("NONSMOOTH_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache_root() == tmp_path / "x" / "nonsmooth"


HEAVY = ("numba", "matplotlib", "scipy", "pandas", "xarray", "pyarrow")


def test_importing_is_light():
    """Numba comes with the first model that is packed, the rest when asked for."""
    code = (
        "import sys, time; begin = time.perf_counter(); import nonsmooth;"
        "spent = time.perf_counter() - begin;"
        "nonsmooth.Model(bodies=[nonsmooth.PointMass(name='a', mass=1)]);"
        f"print([m for m in {HEAVY!r} if m in sys.modules], spent)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    print(f"import nonsmooth: {run.stdout.split()[-1]} s")
    assert run.stdout.startswith("[] ")


def test_the_public_names_all_exist():
    import nonsmooth

    for name in nonsmooth.__all__:
        assert getattr(nonsmooth, name) is not None
    assert dir(nonsmooth) == sorted(nonsmooth.__all__)
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = nonsmooth.simulat


OPEN_DOORS = """
from nonsmooth import gallery, simulate
from nonsmooth.kernels import abi

def waiting():
    return {symbol.split(".")[-2] for symbol in abi.linking._far}

simulate(gallery.build("pendulum_chain"), until=0.1)
assert "switch" in waiting() and "slides" in waiting(), waiting()
assert "dynamics" not in waiting() and "steps" not in waiting(), waiting()
result = simulate(gallery.build("belt"), until=1.0)
# Those of patches wait for the first patch of a flexible body.
assert waiting() == {"patches"}, waiting()
print(*result.events.counts())
"""


@pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
def test_kernels_of_contacts_wait_for_the_first_contact():
    """In a process of its own, since others may have opened the doors already."""
    argv = [sys.executable, "-c", OPEN_DOORS]
    run = subprocess.run(argv, capture_output=True, text=True, timeout=500)
    assert run.returncode == 0, run.stderr
    assert {"break_away", "stick"} <= set(run.stdout.split())
