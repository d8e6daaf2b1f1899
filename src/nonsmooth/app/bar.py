"""A progress bar for the terminal."""

from __future__ import annotations

import sys
import threading
from typing import Any

# It appears after this long, s.
PATIENCE = 1.0


class Bar:
    """A progress bar on stderr, for work that takes more than a second.

    Called with the part done, 0 to 1. Silent if stderr is not a terminal.
    """

    is_silent = False  # with --quiet

    def __init__(self, text: str, patience: float = PATIENCE) -> None:
        self.part: float | None = None
        self._text = text
        self._bar: Any = None
        self._is_over = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(patience, self._show)
        self._timer.daemon = True
        self._listeners: list[Any] = []

    def __enter__(self) -> Bar:
        """Begin to wait."""
        if sys.stderr.isatty() and not self.is_silent:
            # Not at the top: the command's help imports little.
            from nonsmooth.kernels.abi import library

            self._timer.start()
            self._listeners = library.listeners
            self._listeners.append(self._compiling)
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        self._timer.cancel()
        if self._compiling in self._listeners:
            self._listeners.remove(self._compiling)
        with self._lock:
            self._is_over = True
            if self._bar is not None:
                self._bar.stop()

    def __call__(self, part: float, words: str = "") -> None:
        """Show the part done, and words about it."""
        self.part = part
        self._update(part, words or getattr(part, "words", ""))

    def _update(self, part: float, words: str) -> None:
        with self._lock:
            if self._bar is not None and not self._is_over:
                done = f"{part:.0%}"
                self._bar.update(0, total=1.0, completed=part, done=done, words=words)

    def _compiling(self, done: int, n: int) -> None:
        """Show what the first run of an installation waits for."""
        self._update(done / n, f"compiling the solver: {done} of {n} kernels")

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._is_over:
                return
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[done]:>4}"),
                TimeElapsedColumn(),
                TextColumn("{task.fields[words]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.add_task(self._text, total=None, done="", words="")
            self._bar.start()
