"""Reductions on disk, by a digest of all they depend on.

A file holds the digest of its content before it: what is damaged is made again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import logging
import pickle
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from nonsmooth.caches import cache_root
from nonsmooth.elements.meshes import MeshFile
from nonsmooth.fem.reduction import Reduction
from nonsmooth.files import replacing

_log = logging.getLogger("nonsmooth")
# Files kept; the oldest go. One of 40 modes and 10000 nodes takes 7 MB.
KEPT = 100
N_DIGEST = 32  # bytes before the content


def _folder() -> Path:
    return cache_root() / "reductions"


@cache
def _sources() -> bytes:
    """Return a digest of the code that reductions are made by."""
    whole = hashlib.sha256()
    here = Path(__file__).parent
    elements = here.parent / "elements"
    for path in (*sorted(here.glob("*.py")), elements / "meshes.py"):
        whole.update(path.name.encode() + path.read_bytes())
    return whole.digest()


def digest(task: Any, base: Path) -> str:
    """Return what tells a task from all others."""
    whole = hashlib.sha256(_sources())
    for item in dataclasses.fields(task):
        if item.name == "base":
            continue
        value: Any = getattr(task, item.name)
        whole.update(f"\0{item.name}\0".encode())
        if isinstance(value, MeshFile):
            with contextlib.suppress(OSError):  # reading it says why
                whole.update((base / value.path).read_bytes())
        _add(whole, value)
    return whole.hexdigest()[:32]


def _add(whole: Any, value: Any) -> None:
    """Add a value: arrays by their bytes, elements and plain data by their text."""
    if isinstance(value, np.ndarray):
        whole.update(f"{value.dtype}{value.shape}".encode() + value.tobytes())
    elif isinstance(value, dict):
        for key, item in cast(dict[str, Any], value).items():
            whole.update(repr(key).encode())
            _add(whole, item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        whole.update(type(value).__name__.encode())
        for item in dataclasses.fields(value):
            _add(whole, getattr(value, item.name))
    else:
        whole.update(repr(value).encode() + b"\0")


def load(key: str) -> Reduction | None:
    """Return a reduction, or None if there is none that is whole."""
    file = _folder() / key
    try:
        whole = file.read_bytes()
    except OSError:
        return None
    content = whole[N_DIGEST:]
    if hashlib.sha256(content).digest() != whole[:N_DIGEST]:
        _log.warning("a flexible body is reduced again: its file is damaged")
        return None
    with contextlib.suppress(OSError):
        file.touch()
    return pickle.loads(content)


def save(key: str, reduction: Reduction) -> None:
    """Keep a reduction; a folder that cannot be written to is only noted."""
    content = pickle.dumps(reduction, protocol=5)
    try:
        _folder().mkdir(parents=True, exist_ok=True)
        with replacing(_folder() / key) as path:
            path.write_bytes(hashlib.sha256(content).digest() + content)
        _thin()
    except OSError as error:
        _log.info("the reduction of a flexible body cannot be kept: %s", error)


def _thin() -> None:
    """Remove the files used longest ago."""

    def used(path: Path) -> float:
        with contextlib.suppress(OSError):
            return path.stat().st_mtime
        return 0.0

    files = sorted(_folder().iterdir(), key=used)
    for path in files[:-KEPT]:
        with contextlib.suppress(OSError):
            path.unlink()
