"""Building the library when something comes between, with a few of its kernels."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import nonsmooth.kernels as kernels
from nonsmooth.elements.laws import TimeLaw
from nonsmooth.elements.normal import NormalLaw
from nonsmooth.kernels.abi import CHECKED, JIT
from nonsmooth.kernels.abi.linking import far_kernels
from nonsmooth.kernels.abi.rows import Row
from nonsmooth.kernels.mechanics import bodies

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off"),
]

# The kernels of one module, which call no others; on two cores, as on any machine.
FEW = """
import logging, os, signal, sys
logging.basicConfig(stream=sys.stdout, format="%(message)s")
import nonsmooth.kernels.mechanics.bodies
from nonsmooth.kernels.abi import library
library.import_all, library._rows = lambda: None, lambda: []
module = nonsmooth.kernels.mechanics.bodies.__name__
own = {k: far for k, far in library.far_kernels.items() if k.startswith(module)}
library.far_kernels = own
library._n_core = lambda: 2
WHAT
library.load()
print("found" if all(map(library.find, own)) else "not found")
"""
N_FEW = sum(symbol.startswith(bodies.__name__) for symbol in far_kernels)


def build(folder, what="", **more):
    """Start a build of a few kernels; `what` is done before it."""
    return subprocess.Popen(
        [sys.executable, "-c", FEW.replace("WHAT", what)],
        env=os.environ | {"NONSMOOTH_CACHE_DIR": str(folder)} | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process, code=0):
    """Return what a build has said, on both streams."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, out + err
    return out + err


def files(folder, pattern):
    return sorted(folder.glob(f"kernels-*/{pattern}"))


def test_a_build_that_was_killed_goes_on_where_it_was(tmp_path):
    kill = (
        "def listen(done, n):\n"
        "    if done == 5: os.kill(os.getpid(), signal.SIGKILL)\n"
        "library.listeners.append(listen)"
    )
    said(build(tmp_path, kill), -signal.SIGKILL)
    kept = files(tmp_path, "*.o")
    assert len(kept) == 5
    assert files(tmp_path, "*.so") == []
    # As if it had been killed while it wrote a file.
    kept[0].with_name(f"{kept[0].name}.1.new").write_bytes(b"half")
    # The processes that compiled for it end when they find nobody to answer to.
    text = said(build(tmp_path))
    assert f"compiling {N_FEW - 5} kernels" in text
    assert text.endswith("found\n")
    assert len(files(tmp_path, "*.o")) == N_FEW
    assert files(tmp_path, "*.new") == []
    assert said(build(tmp_path)) == "found\n"


def test_two_builders_make_one_library(tmp_path):
    both = [said(process) for process in [build(tmp_path), build(tmp_path)]]
    assert sorted("compiling" in text for text in both) == [False, True]
    assert all(text.endswith("found\n") for text in both)
    assert len(files(tmp_path, "*.so")) == 1


def test_ctrl_c_while_compiling_ends_all_processes(tmp_path):
    # Shells let what they start in the background ignore Ctrl-C.
    stop = (
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def listen(done, n):\n"
        "    if done == 3: print('now', flush=True)\n"
        "library.listeners.append(listen)"
    )
    process = build(tmp_path, stop)
    assert process.stdout is not None
    assert "compiling" in "".join(iter(process.stdout.readline, "now\n"))
    pid = process.pid
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = [int(word) for word in file.read().split()]
    assert len(children) == 2
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    text = said(process, -signal.SIGINT)
    # A kernel of these takes a tenth of a second; nobody waits for the rest.
    assert time.monotonic() - begin < 10.0
    assert text.count("Traceback") == 1  # our own
    assert "KeyboardInterrupt" in text
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)
    n_kept = len(files(tmp_path, "*.o"))
    assert n_kept >= 3
    assert f"compiling {N_FEW - n_kept} kernels" in said(build(tmp_path))


def test_a_disk_that_is_full_is_said_once_and_the_run_goes_on(tmp_path):
    # No file may grow beyond some bytes, neither here nor in the linker.
    limit = (
        "import resource\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, resource.RLIM_INFINITY))"
    )
    text = said(build(tmp_path, limit))
    assert text.count("cannot be kept") == 1
    assert "NONSMOOTH_CACHE_DIR" in text
    assert text.endswith("found\n")
    assert files(tmp_path, "*.o") == files(tmp_path, "*.so") == []
    assert files(tmp_path, "*.new") == []
    # A library that is damaged and cannot be replaced is not loaded.
    assert "compiling" in said(build(tmp_path))
    (library,) = files(tmp_path, "*.so")
    damaged = library.read_bytes()[:4000]
    library.write_bytes(damaged)
    text = said(build(tmp_path, limit))
    assert "is damaged" in text
    assert text.endswith("found\n")
    assert library.read_bytes() == damaged


def test_a_cache_that_cannot_be_written_is_said_once(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    text = said(build(blocked))
    assert text.count("cannot be kept") == 1
    assert str(blocked) in text
    assert "NONSMOOTH_CACHE_DIR" in text
    assert text.endswith("found\n")


def test_without_numba_an_error_names_it(tmp_path):
    missing = "sys.modules['numba'] = None\nlibrary._n_core = lambda: 1"
    text = said(build(tmp_path, missing), 1)
    assert "numba is missing" in text
    assert "pip install numba" in text
    said(build(tmp_path))
    assert said(build(tmp_path, missing)) == "found\n"


def test_each_processor_has_a_cache_of_its_own(monkeypatch):
    own = kernels._compiler_hash()
    assert own == kernels._compiler_hash()
    monkeypatch.setattr(kernels, "_processor", lambda: "flags: another")
    assert kernels._compiler_hash() != own
    monkeypatch.undo()
    monkeypatch.setattr(kernels, "version", lambda name: "0.0")
    assert kernels._compiler_hash() != own


def own_laws(family, kind):
    """Row functions of a family that have no code in kernels."""
    found = [k for k in family.kinds.values() if k.__module__.startswith("nonsmooth.")]
    return [(kind, getattr(k, k.row_name)) for k in found if hasattr(k, k.row_name)]


@pytest.mark.skipif(CHECKED, reason="called without extents")
@pytest.mark.parametrize(
    ("kind", "law"),
    [*own_laws(TimeLaw, "law"), *own_laws(NormalLaw, "normal")],
    ids=lambda x: getattr(x, "__qualname__", x),
)
def test_the_library_equals_numba_bit_for_bit(kind, law):
    """Numba with all of its passes, on arrays; and the library's code, on pointers."""
    import numba

    compiled = numba.njit(error_model="numpy")(law)
    ours = Row(kind, law)
    rng = np.random.default_rng(3)
    for _ in range(200):
        # Parameters as a table of two rows has them: n, then numbers that increase.
        p = np.r_[2.0, np.sort(rng.uniform(0.1, 2.0, 20))]
        if kind == "law":
            t, one, other = rng.uniform(0.0, 3.0), np.zeros(3), np.zeros(3)
            compiled(p, t, one)
            ours(p, t, other)
        else:
            # Overlaps shrink and grow, and a contact may have begun at rest.
            x = rng.uniform(0.0, 1e-2), rng.normal(), rng.uniform(0.0, 1.0)
            one, other = np.array(compiled(p, *x)), np.array(ours(p, *x))
        assert one.tobytes() == other.tobytes()
