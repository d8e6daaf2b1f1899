"""One run of a study, where it is computed: model, result, what is kept of it."""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import overload

from nonsmooth.errors import ModelError, NonsmoothWarning, SolveError
from nonsmooth.study.definition import Prepared
from nonsmooth.study.design import Point, Points
from nonsmooth.study.reducers import Kept, WholeRun

Item = tuple[int, Point]


class Items(Sequence[Item]):
    """Numbers of points with the points, each made when it is asked for."""

    def __init__(self, numbers: list[int], points: Points) -> None:
        self._numbers, self._points = numbers, points

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> Items: ...
    def __getitem__(self, at: int | slice) -> Item | Items:
        """Return one, or some."""
        if isinstance(at, slice):
            return Items(self._numbers[at], self._points)
        k = self._numbers[at]
        return k, self._points[k]


class Stopped(Exception):
    """A run was told to stop; nothing of it is kept."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one run."""

    k: int  # number of its point
    status: str  # "done" or "failed"
    outputs: dict[str, Kept] = field(default_factory=dict[str, Kept])
    message: str = ""  # why it failed
    doubts: str = ""  # why it is not to be trusted
    seconds: float = 0.0
    whole: bytes = b""  # the saved run, if it is asked for


def compute(ready: Prepared, item: Item, is_over: Callable[[], bool]) -> Outcome:
    """Carry out one run; what fails in it is part of the outcome.

    Raises
    ------
    Stopped
        `is_over` said so, which is asked now and then.
    """
    k, point = item
    begin = time.perf_counter()

    def look(_: float) -> None:
        if is_over():
            raise Stopped

    try:
        study, numbers = ready.study, ready.numbers(point)
        result = ready.simulate(point, look)
        outputs = {
            name: reducer.reduce(result, numbers)
            for name, reducer in study.outputs.items()
        }
        doubts = "; ".join(result.doubts)
        whole = io.BytesIO()
        if any(isinstance(reducer, WholeRun) for reducer in study.outputs.values()):
            result.save(whole)
    except (SolveError, ModelError) as error:
        why = str(error)
    except (Stopped, KeyboardInterrupt):
        raise
    except Exception as error:
        # A function of the user's own may raise anything; other runs go on.
        why = f"{type(error).__name__}: {error}"
    else:
        spent = time.perf_counter() - begin
        return Outcome(
            k=k,
            status="done",
            outputs=outputs,
            doubts=doubts,
            seconds=spent,
            whole=whole.getvalue(),
        )
    return Outcome(
        k=k,
        status="failed",
        message=why,
        seconds=time.perf_counter() - begin,
    )


def compute_all(
    ready: Prepared, items: Sequence[Item], is_over: Callable[[], bool]
) -> list[Outcome]:
    """Carry out some runs, one after another."""
    return [compute(ready, item, is_over) for item in items]


def be_quiet() -> None:
    """Leave warnings about single runs to their doubts; for a process of its own."""
    warnings.simplefilter("ignore", NonsmoothWarning)
