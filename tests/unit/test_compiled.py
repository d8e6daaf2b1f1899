"""Compiled code: one specialisation, its cache, what importing costs."""

import hashlib
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nonsmooth.kernels as kernels
from nonsmooth.caches import cache_root
from nonsmooth.kernels.abi import INTEGER, JIT, NUMBER, Block, digest, floats, library
from nonsmooth.kernels.abi.linking import CHECKED, far_kernels

# ---- one specialisation, cache, imports ----------------------------------------

# Written for real and complex numbers: two each.
TWICE = {"dense.lu_factor", "dense.lu_solve", "radau.solve_newton"}

COUNT_TYPES = """
import json
from nonsmooth.kernels.abi import compiler, library, linking
library.import_all()
for name in ("march.events.march", "march.radau.factor_newton", "friction.rest.pose"):
    compiler.compile_object(linking.far_kernels[f"nonsmooth.kernels.{name}"])
print(json.dumps(compiler.counts()))
"""


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
def test_every_kernel_is_compiled_for_one_set_of_types():
    argv = [sys.executable, "-c", COUNT_TYPES]
    run = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=500)
    counts = json.loads(run.stdout)
    assert len(counts) > 80
    for name, n in counts.items():
        short = ".".join(name.split(".")[-2:])
        assert n <= (2 if short in TWICE else 1), name


def digests(text, tmp_path):
    """Digests of the functions in a module, which is executed anew."""
    path = tmp_path / "written.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("nonsmooth.written", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    del far_kernels["nonsmooth.written.away"]
    functions = {name: getattr(module, name) for name in ("callee", "caller", "other")}
    return {name: digest.of_function(f.py_func) for name, f in functions.items()}


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
        return digest.of_layout(outer)

    same = layout(x=floats("n, 2"))
    assert layout(x=floats("n, 2")) == same
    for slots in (
        {"x": floats("n, 3")},
        {"y": floats("n, 2")},
        {"x": floats("n, 2"), "y": NUMBER},
        {"y": NUMBER, "x": floats("n, 2")},
    ):
        assert layout(**slots) != same


RUN = """
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(message)s")
from nonsmooth import gallery, simulate
print(simulate(gallery.pendulum_chain(n=1), until=0.01).t_end)
print("numba" in sys.modules, "llvmlite" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
def test_a_library_that_is_damaged_is_made_again(tmp_path):
    """From a copy of the cache, so that all of it need not be compiled."""
    library.load()
    kept = tmp_path / "cache" / kernels.cache_folder.name
    shutil.copytree(kernels.cache_folder, kept)
    env = os.environ | {"NONSMOOTH_CACHE_DIR": str(tmp_path / "cache")}

    def run():
        argv = [sys.executable, "-c", RUN]
        found = subprocess.run(argv, env=env, capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
        return found.stdout

    assert run() == "0.01\nFalse False\n"
    file = kept / f"library-{kernels.source_hash()}.so"
    whole = file.read_bytes()
    for damaged in (whole[:-9], b"", whole[:9000] + b"?!" + whole[9002:]):
        file.write_bytes(damaged)
        assert "damaged and is made again" in run()
        assert run() == "0.01\nFalse False\n"
    # Without it, and with one damaged part: that is compiled again.
    file.unlink()
    part = next(kept.glob("nonsmooth.kernels.look*"), next(kept.glob("*.o")))
    part.write_bytes(b"nothing")
    assert "damaged and is made again" in run()
    # Without a linker the parts are loaded one by one.
    file.unlink()
    assert run() == "0.01\nFalse False\n"
    file.unlink()
    env["PATH"] = env["CC"] = "/nowhere"
    assert run() == "0.01\nFalse True\n"


SHIPPED = """
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(message)s")
from nonsmooth.kernels.abi import library
library.LEVELS = {"better": {"an ability that no processor has"}, "generic": set()}
from nonsmooth import gallery, simulate
result = simulate(gallery.pendulum_chain(n=1), until=0.01)
print(result.engine, result.summary()["engine"], "numba" in sys.modules)
"""


@pytest.fixture
def installed(tmp_path):
    """What a wheel installs, and an environment without compiler and cache."""
    library.load()
    site = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__", "static")
    package = Path(kernels.__file__).parent.parent
    shutil.copytree(package, site / "nonsmooth", ignore=ignored)
    folder = site / "nonsmooth" / "kernels" / "shipped"
    folder.mkdir()
    own = kernels.cache_folder / f"library-{kernels.source_hash()}.so"
    for level in ("generic", "better"):
        shutil.copyfile(own, folder / f"library-{kernels.source_hash()}-{level}.so")
    (tmp_path / "file").write_text("")
    blocked = str(tmp_path / "file")
    env = {"PYTHONPATH": str(site), "PATH": "/nowhere", "CC": "/nowhere"}
    return folder, env | {"HOME": blocked, "NONSMOOTH_CACHE_DIR": blocked}


def answer(code, env):
    argv = [sys.executable, "-c", code]
    found = subprocess.run(argv, env=env, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.skipif(not JIT or CHECKED, reason="no library, or one made here")
def test_a_shipped_library_needs_no_compiler_and_no_cache(installed):
    folder, env = installed
    assert answer(SHIPPED, env) == "generic generic False\n"
    # One that is damaged, or of another system, is not used.
    env["NONSMOOTH_CACHE_DIR"] = str(cache_root())
    (path,) = folder.glob("*-generic.so")
    whole = path.read_bytes()
    path.write_bytes(whole[:5000] + b"?" + whole[5001:])
    assert "is damaged" in answer(SHIPPED, env)
    foreign = b"another system's" * 1000
    path.write_bytes(foreign + hashlib.sha256(foreign).digest())
    text = answer(SHIPPED, env)
    assert "is of another system" in text
    assert text.endswith("native native False\n")
    # Nor is that of other sources.
    path.write_bytes(whole)
    path.rename(path.with_name("library-0123456789abcdef-generic.so"))
    assert answer(SHIPPED, env) == "native native False\n"


def test_the_cache_can_be_put_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("NONSMOOTH_CACHE_DIR", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.delenv("NONSMOOTH_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache_root() == tmp_path / "x" / "nonsmooth"


HEAVY = ("numba", "matplotlib", "scipy", "pandas", "xarray", "pyarrow")


def test_importing_is_light():
    """What is heavy comes when asked for; Numba only where something is compiled."""
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


@pytest.mark.skipif(not JIT, reason="about the compiled library")
def test_a_run_of_rigid_bodies_is_light():
    """It loads the library and NumPy, no finite elements and nothing of SciPy."""
    library.load()
    code = (
        "import sys; from nonsmooth import gallery, simulate;"
        "simulate(gallery.belt(), until=0.1).summary();"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout == "[]\n"


def test_the_public_names_all_exist():
    import nonsmooth

    for name in nonsmooth.__all__:
        assert getattr(nonsmooth, name) is not None
    assert dir(nonsmooth) == sorted(nonsmooth.__all__)
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = nonsmooth.simulat


DIGESTS = """
from nonsmooth.kernels.abi import digest, library, linking
library.import_all()
for symbol, far in sorted(linking.far_kernels.items()):
    print(symbol, digest.digest_of(far))
"""


@pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
def test_digests_are_the_same_in_every_process():
    """Python orders sets by hashes that differ from process to process."""
    argv = [sys.executable, "-c", DIGESTS]
    found = {
        subprocess.run(
            argv, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert len(found.pop().splitlines()) > 80
