"""Compiled kernels: arrays in, arrays out, status code back.

Importing this package imports Numba, so nothing imports it before a model is
packed. The compiled code is kept in a folder named by what compiles it, each kernel
under a digest of all that it is made of: see `abi.cache`.
"""

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path

import numba

from nonsmooth.caches import cache_root


def _compiler_hash() -> str:
    """Return a hash of how kernels get at data, and of the versions that compile."""
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent / "abi").glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    digest.update(f"{sys.version_info[:3]}{numba.__version__}".encode())
    # Checked indices change the generated code but not Numba's own key.
    digest.update(os.environ.get("NONSMOOTH_CHECKED", "").encode())
    digest.update(str(numba.config.BOUNDSCHECK).encode())
    return digest.hexdigest()[:12]


def _spare_scipy() -> None:
    """Let Numba load its array functions without importing all of scipy.linalg.

    It imports that, a fifth of a second, only to see whether BLAS is there, and looks
    again before it uses it; our kernels never do.
    """
    import numba.np.linalg as linalg

    look = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        import numba.np.arraymath as arraymath

        arraymath.ensure_blas = look
    finally:
        linalg.ensure_blas = look


with suppress(ImportError, AttributeError):  # another version may not have them
    _spare_scipy()
cache_folder = cache_root() / f"kernels-{_compiler_hash()}"
