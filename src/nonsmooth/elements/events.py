"""Events a user watches for: record an instant, or stop there.

A kind supplies a guard; the event happens when the guard crosses zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from nonsmooth.elements.base import Named
from nonsmooth.elements.expressions import MARKER_VARIABLES, parse


@dataclass(frozen=True, kw_only=True)
class Event(Named, family="event", is_kind=True):
    """A marker quantity crosses zero.

    `guard` is text in t, x, y, theta, vx, vy, omega: the motion of marker `b`
    relative to marker `a`, in global axes. For example `guard="y - 0.2"`.
    """

    row_kernel: ClassVar[str] = "mechanics.program:marker_guard"

    a: str = "ground"
    b: str
    guard: str
    direction: Literal["both", "rising", "falling"] = "both"
    action: Literal["record", "stop"] = "record"

    def check(self) -> None:
        super().check()
        self.parameters()

    def programs(self) -> list[tuple[float, ...]]:
        return [parse(self.guard, MARKER_VARIABLES, f"{self.label()}, guard")]

    def parameters(self) -> list[float]:
        return list(self.programs()[0])
