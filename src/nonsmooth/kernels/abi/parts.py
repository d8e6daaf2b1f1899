"""Parts that workers share: each is lowered by one of them and read by the others.

They are files in a folder that lives as long as the build. Two workers that need a part
at once both make it; it is the same, and the later one stays.
"""

import os
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Kept:
    """A lowered kernel: its symbol and signature, its code, what it calls."""

    symbol: str
    signature: Any
    code: bytes
    callees: list[str]  # keys of parts
    helpers: list[bytes]  # code of Numba's own functions


# Where they are; none where only one process compiles.
_place: dict[str, Path] = {}
# Whether the disk has had room for all parts so far.
_room = {"is_left": True}


def share(folder: Path) -> None:
    """Share parts with all that compile for the same folder."""
    _place["folder"] = folder


def is_shared() -> bool:
    """Return whether there is anybody to share parts with."""
    return bool(_place)


def put(key: str, part: Kept) -> None:
    """Let others have a part; they see it whole or not at all."""
    # What calls a part that found no room must not be there either.
    if not _room["is_left"]:
        return
    path = _place["folder"] / key
    new = path.with_name(f"{key}.{os.getpid()}")
    try:
        new.write_bytes(pickle.dumps(part))
        new.replace(path)
    except OSError:
        _room["is_left"] = False


def get(key: str) -> Kept | None:
    """Return a part that is there, None if there is none."""
    if not _place:
        return None
    try:
        return pickle.loads((_place["folder"] / key).read_bytes())
    except OSError:
        return None
