"""What the cases share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measured figure."""

    what: str
    value: float
    unit: str
    note: str = ""


def cpu_time(call: Callable[[], Any], repeat: int = 5) -> float:
    """Return the least CPU time of several calls, s; the first one warms up."""
    call()
    least = float("inf")
    for _ in range(repeat):
        begin = time.process_time()
        call()
        least = min(least, time.process_time() - begin)
    return least
