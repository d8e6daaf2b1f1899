"""`nonsmooth warmup`: compile everything in advance, so that no run has to wait."""

from __future__ import annotations

import argparse
import logging
import time

from nonsmooth.app.bar import Bar
from nonsmooth.app.command import DONE

SHORT = "compile everything in advance"
HELP = """\
Compile the solver and the laws of all built-in elements into one library. This takes
half a minute to a minute, once per installation; later runs load it in a moment. The
library is in NONSMOOTH_CACHE_DIR, or else in the user's cache folder.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: this command has no arguments."""


def command(args: argparse.Namespace) -> int:
    """Compile, and print how long it took."""
    from nonsmooth.kernels.abi import library

    log = logging.getLogger("nonsmooth")
    level, begin = log.level, time.perf_counter()
    # Its advice is what is being followed.
    log.setLevel(logging.ERROR)
    try:
        with Bar("compiling", patience=0.0):
            library.load()
    finally:
        log.setLevel(level)
    print(f"ready in {time.perf_counter() - begin:.1f} s: {library.place()}")
    return DONE
