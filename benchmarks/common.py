"""What the cases share."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth import Result

DATA = Path(__file__).parents[1] / "tests" / "data"


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


@dataclass(frozen=True, kw_only=True)
class Timed:
    """A run, and the least times of several such."""

    result: Result
    march: float  # s of CPU time in compiled code
    cpu: float  # s of CPU time of the whole call
    wall: float  # s, of the whole call


def timed(call: Callable[[], Result], repeat: int = 5) -> Timed:
    """Repeat a run; a first one that has to compile does not count."""
    result = call()
    march = cpu = wall = math.inf
    for _ in range(repeat):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        result = call()
        cpu = min(cpu, time.process_time() - cpu_begin)
        wall = min(wall, time.perf_counter() - begin)
        march = min(march, float(result.cost["cpu_seconds"]))
    return Timed(result=result, march=march, cpu=cpu, wall=wall)


def loosest(errors: Sequence[float], target: float) -> int:
    """Return the first place from which on all errors are within a target.

    They stand in the order of tighter tolerances. One run may be within the target
    by chance; all tighter ones are not.
    """
    for k in range(len(errors)):
        if all(error <= target for error in errors[k:]):
            return k
    raise AssertionError(f"error {errors[-1]:.1e} at the tightest tolerance")


def reference(name: str) -> Any:
    """Return a series of an independent solution, by columns."""
    return np.genfromtxt(DATA / name, delimiter=",", names=True)
