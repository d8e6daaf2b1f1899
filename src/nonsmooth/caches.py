"""Where caches are kept. Imports nothing heavy: kernels and finite elements use it."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """Return the folder that holds all caches of this user."""
    chosen = os.environ.get("NONSMOOTH_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "nonsmooth"
