"""Laws of a user's own are kept on disk, by all that their code follows from."""

import hashlib
import itertools
import os
import shutil
import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest

import nonsmooth.kernels as kernels
from nonsmooth.kernels.abi import CHECKED, JIT, library, own
from nonsmooth.kernels.abi.rows import Row

pytestmark = pytest.mark.skipif(
    not JIT or CHECKED, reason="nothing is compiled, or faults have an address"
)

LAW = """
import enum
import math
import numba
import numpy as np
import settings

class Kind(enum.IntEnum):
    a = 2

GAIN = 2.0
TABLE = np.array([1.0, 3.0])
PAIR = (0.5, 4)

@numba.njit
def inner(x):
    return x + GAIN

@numba.njit(fastmath=False)
def helper(x, scale=1.5):
    return scale * inner(x)

def make(slope):
    def law(p, lam_n, speed):
        "What it is."
        table = TABLE[0] + PAIR[1] * np.sqrt(TABLE[1])
        return slope * lam_n + helper(speed) + math.pi * table + settings.FACTOR * p[0]
    return law

law = make(7.0)
"""
POINT = (np.array([0.3]), 5.0, 0.25)
_number = itertools.count()


def written(text, factor=0.1):
    """Return the law of a module that is executed anew."""
    sys.modules["settings"] = types.ModuleType("settings")
    sys.modules["settings"].FACTOR = factor  # type: ignore[attr-defined]
    space: dict[str, Any] = {"__name__": f"written_{next(_number)}"}
    file = own.FOLDER.parent / "written.py"
    file.write_text(text)
    try:
        exec(compile(text, str(file), "exec"), space)
    finally:
        del sys.modules["settings"]
    return space


def computed(space):
    """Return a law's value, by compiled code and by Python."""
    law, helpers = space["law"], ("inner", "helper")
    ours = Row("limit", law)(*POINT)
    for name in helpers:
        if hasattr(space.get(name), "py_func"):
            space[name] = space[name].py_func
    return ours, law(*POINT)


def check(space):
    ours, pythons = computed(space)
    # A product and a sum may be fused.
    assert ours == pytest.approx(pythons, rel=1e-14)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(own, "FOLDER", tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture
def no_compiler(monkeypatch):
    def refuse():
        def missing():
            raise AssertionError("compiled again")

        monkeypatch.setattr(library, "compiler", missing)

    return refuse


def test_a_law_is_compiled_once(folder, no_compiler):
    check(written(LAW))
    assert len(list(folder.iterdir())) == 1
    no_compiler()
    check(written(LAW))


CHANGES = {
    "its code": ("slope * lam_n +", "slope * lam_n -"),
    "a global": ("GAIN = 2.0", "GAIN = 2.5"),
    "the type of a global": ("GAIN = 2.0", "GAIN = 2"),
    "an entry of an array": ("[1.0, 3.0]", "[1.0, 3.5]"),
    "an entry of a tuple": ("(0.5, 4)", "(0.5, 5)"),
    "a value of its closure": ("make(7.0)", "make(8.0)"),
    "a function it calls": ("return x + GAIN", "return x - GAIN"),
    "how that is compiled": ("fastmath=False", "fastmath=True"),
    "a default": ("scale=1.5", "scale=1.25"),
    "a function of a module": ("np.sqrt", "np.cbrt"),
    "a constant of a module": ("math.pi", "math.e"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_law_is_compiled_again_after_a_change_of(what, folder, no_compiler):
    check(written(LAW))
    old, new = CHANGES[what]
    assert LAW.count(old) == 1
    check(written(LAW.replace(old, new)))
    assert len(list(folder.iterdir())) == 2
    # Both are known now.
    no_compiler()
    check(written(LAW))
    check(written(LAW.replace(old, new)))


def test_what_a_law_reads_in_another_module_counts(folder, no_compiler):
    check(written(LAW))
    check(written(LAW, factor=0.2))
    assert len(list(folder.iterdir())) == 2
    no_compiler()
    check(written(LAW))


def test_digests_do_not_hang_on_the_process():
    """Neither on addresses nor on the order of sets, which hashes of strings decide."""
    code = (
        "import sys, types\n"
        "settings = sys.modules['settings'] = types.ModuleType('settings')\n"
        "settings.FACTOR = 0.1\n"
        f"exec(compile({LAW!r}, 'written', 'exec'))\n"
        "from nonsmooth.kernels.abi import own\n"
        "from nonsmooth.kernels.abi.rows import Row\n"
        "print(own.digest_of_law(Row('limit', law)))\n"
    )
    found = set()
    for seed in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": seed}
        argv = [sys.executable, "-c", code]
        done = subprocess.run(argv, env=env, capture_output=True)
        found.add(done.stdout)
    assert len(found) == 1
    assert len(found.pop().strip()) == 64


# What a law reads instead, and what is added to its value.
NOT_KEPT = {
    "an object": ("x + GAIN", "x + Kind.a.value", 0.0),
    "much data": ("np.array([1.0, 3.0])", "np.linspace(1.0, 3.0, 200_000)", 0.0),
    "what Numba keeps itself": ("(fastmath=False)", "(cache=True)", 0.0),
    "Numba's own functions": ("np.sqrt(TABLE[1])", "math.gamma(TABLE[1])", 0.0),
    # Numba leaves it as it was.
    "code of before": ("def make", "inner(1.0)\nGAIN = 3.0\ndef make", -1.5),
}


@pytest.mark.parametrize("what", NOT_KEPT)
def test_a_law_is_not_kept_that_needs(what, folder):
    old, new, added = NOT_KEPT[what]
    assert LAW.count(old) == 1
    ours, pythons = computed(written(LAW.replace(old, new)))
    assert ours == pytest.approx(pythons + added, rel=1e-14)
    assert not folder.exists()


def test_what_numba_has_frozen_is_not_taken_for_new(folder, no_compiler):
    """A second law calls a function that was compiled with another value."""
    space = written(LAW)
    assert Row("limit", space["law"]).address
    space["GAIN"] = 3.0
    old = Row("limit", space["make"](8.0))(*POINT)
    assert len(list(folder.iterdir())) == 1
    text = LAW.replace("GAIN = 2.0", "GAIN = 3.0").replace("make(7.0)", "make(8.0)")
    new, pythons = computed(written(text))
    assert new == pytest.approx(pythons, rel=1e-14)
    assert new == pytest.approx(old + 1.5, rel=1e-14)


def test_files_that_are_damaged_or_foreign_are_made_again(folder, caplog, no_compiler):
    digest = own.digest_of_law(Row("limit", written(LAW)["law"]))
    folder.mkdir()
    path = folder / f"{digest}.so"
    foreign = b"another system's" * 1000
    path.write_bytes(foreign + hashlib.sha256(foreign).digest())
    check(written(LAW))
    whole = path.read_bytes()
    assert whole.startswith(b"\x7fELF")
    for damaged in (b"", whole[:5000], whole[:5000] + b"?" + whole[5001:]):
        path.unlink()  # this process has it open
        path.write_bytes(damaged)
        check(written(LAW))
        assert path.read_bytes() == whole
    assert caplog.text.count("is damaged and is made again") == 3
    assert list(folder.iterdir()) == [path]
    no_compiler()
    check(written(LAW))


def test_without_a_linker_object_code_is_kept(folder, monkeypatch, no_compiler):
    monkeypatch.setenv("CC", "/nowhere")
    check(written(LAW))
    assert [path.suffix for path in folder.iterdir()] == [".o"]
    no_compiler()
    check(written(LAW))


def test_only_the_last_used_are_kept(folder, monkeypatch):
    monkeypatch.setattr(own, "KEPT", 2)
    for gain in (1.0, 2.0, 1.0, 3.0):
        check(written(LAW.replace("GAIN = 2.0", f"GAIN = {gain}")))
        for path in folder.iterdir():  # some time passes
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 10.0))
    kept = set(folder.iterdir())
    assert len(kept) == 2
    check(written(LAW.replace("GAIN = 2.0", "GAIN = 1.0")))
    assert set(folder.iterdir()) == kept


SCRIPT = """
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(message)s")
from dataclasses import dataclass
from nonsmooth import Force, Model, PointMass, simulate

PULL = 2.0

@dataclass(frozen=True, kw_only=True)
class Pull(Force):
    factor: float

    @staticmethod
    def wrench(p, s, t, a, b, out):
        for i in range(8):
            out[i] = 0.0
        out[0] = PULL * p[0]

body = PointMass(name="m", mass=1.0)
model = Model(bodies=[body], forces=[Pull(name="f", b="m", factor=3.0)])
speed = simulate(model, 1.0).sample(1.0, ["m.vx"]).to_numpy()[0, 1]
print(round(speed, 6), "numba" in sys.modules)
"""


@pytest.mark.slow
def test_a_second_process_needs_no_numba(tmp_path):
    library.load()
    cache = tmp_path / kernels.cache_folder.name
    cache.mkdir()
    name = f"library-{kernels.source_hash()}.so"
    shutil.copyfile(kernels.cache_folder / name, cache / name)
    env = os.environ | {"NONSMOOTH_CACHE_DIR": str(tmp_path)}

    def start(text):
        argv = [sys.executable, "-c", text]
        pipe = subprocess.PIPE
        return subprocess.Popen(argv, env=env, text=True, stdout=pipe, stderr=pipe)

    def said(process):
        out, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
        return out

    # Two at once; then one that finds what they have made.
    for process in [start(SCRIPT), start(SCRIPT)]:
        assert said(process).startswith("6.0 ")
    assert said(start(SCRIPT)) == "6.0 False\n"
    assert said(start(SCRIPT.replace("PULL = 2.0", "PULL = 2.5"))) == "7.5 True\n"
    # A folder that cannot be written to is told of once, and the run goes on.
    shutil.rmtree(cache / "own")
    (cache / "own").write_text("in the way")
    two = SCRIPT + SCRIPT.replace("out[0] =", "out[1] =").replace("Pull", "Push")
    text = said(start(two))
    assert text.count("cannot be kept") == 1
    assert "NONSMOOTH_CACHE_DIR" in text
    assert [line for line in text.splitlines() if "True" in line] == [
        "6.0 True",
        "0.0 True",
    ]
