"""`nonsmooth cache`: where compiled code and reductions are kept, how big, clear it."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from nonsmooth.app.command import DONE, FAILED

SHORT = "tell what is kept on disk, or clear it"
HELP = """\
Tell where compiled code of the solver and reduced flexible bodies are kept, and how big
they are. All of it is made again when it is needed. The folder is that of
NONSMOOTH_CACHE_DIR, or else of the user's cache.

examples:
  nonsmooth cache
  nonsmooth cache --clear
"""
# What the parts of the cache hold, by the beginning of their names.
_WHAT = {
    "kernels-": "compiled code of the solver",
    "reductions": "reduced flexible bodies",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--clear", action="store_true", help="remove all of it")


def command(args: argparse.Namespace) -> int:
    """Print what there is, or remove it."""
    from nonsmooth.caches import cache_root
    from nonsmooth.kernels import cache_folder
    from nonsmooth.kernels.abi.library import shipped

    root = cache_root()
    found = {part: _size(part) for part in _parts(root)}
    if args.clear:
        for part in found:
            shutil.rmtree(part, ignore_errors=True)
        left = [part for part in found if part.exists()]
        gone = sum(size for part, (_, size) in found.items() if part not in left)
        print(f"removed {gone / 1e6:.1f} MB from {root}")
        if left:
            print(f"could not remove {', '.join(map(str, left))}")
        return FAILED if left else DONE
    if file := shipped():
        print(f"compiled code that came with this package is in use: {file}")
    print(f"cache {root}: {sum(size for _, size in found.values()) / 1e6:.1f} MB")
    for part, (n, size) in found.items():
        what = next(text for name, text in _WHAT.items() if part.name.startswith(name))
        now = ", in use" if part == cache_folder and not file else ""
        print(f"  {part.name}: {what}, {n} files, {size / 1e6:.1f} MB{now}")
    return DONE


def _parts(root: Path) -> list[Path]:
    """Return our own folders; others may have been put beside them."""
    if not root.is_dir():
        return []
    return sorted(p for p in root.iterdir() if p.is_dir() and _is_own(p.name))


def _is_own(name: str) -> bool:
    return any(name.startswith(begin) for begin in _WHAT)


def _size(folder: Path) -> tuple[int, int]:
    """Return the number of files below a folder, and their bytes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return len(files), sum(path.stat().st_size for path in files)
