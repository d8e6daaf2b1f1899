"""Compiled kernels: blocks in, blocks out, status code back.

Their compiled code is one shared library in the user's cache: see `abi.library`.
Importing this package imports neither Numba nor LLVM, which only make that library.
"""

import hashlib
import os
import platform
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from nonsmooth.caches import cache_root


def _hash_of(root: Path, *patterns: str) -> str:
    """Return a hash of all files below the root that have one of some patterns."""
    digest = hashlib.sha256()
    for path in sorted({path for each in patterns for path in root.glob(each)}):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _processor() -> str:
    """Return what tells processors apart for which code is made."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    # The features of all cores are one set; a virtual machine may hide some.
    kinds = ("model name", "flags", "Features", "CPU part")
    return "".join(sorted({line for line in lines if line.startswith(kinds)}))


def _compiler_hash() -> str:
    """Return a hash of what compiles: versions, processor, how kernels get at data."""
    parts = [sys.version, platform.machine(), _processor()]
    files = ("blocks", "compiler", "pointers", "rows")
    parts.append(_hash_of(Path(__file__).parent, *(f"abi/{name}.py" for name in files)))
    for name in ("numba", "llvmlite"):
        try:
            parts.append(version(name))
        except PackageNotFoundError:
            parts.append("none")
    # Checked indices change the generated code.
    parts += [os.environ.get("NONSMOOTH_CHECKED", "")]
    parts += [os.environ.get("NUMBA_BOUNDSCHECK", "")]
    # Code for other processors than this one.
    names = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")
    parts += [f"{name}={os.environ[name]}" for name in names if name in os.environ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


@cache
def source_hash() -> str:
    """Return a hash of all that the library is made of."""
    return _hash_of(Path(__file__).parent.parent, "kernels/**/*.py", "elements/**/*.py")


cache_folder = cache_root() / f"kernels-{_compiler_hash()}"
