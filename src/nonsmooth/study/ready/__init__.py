"""Studies of the gallery's systems, ready to run: a file each."""

from __future__ import annotations

from pathlib import Path

from nonsmooth.errors import ModelError, nearest

_FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """Return the names of all studies."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def path_of(name: str) -> Path:
    """Return the file of a study."""
    if name not in names():
        raise ModelError(f"no study '{name}'; {nearest(name, names())}")
    return _FOLDER / f"{name}.yaml"
