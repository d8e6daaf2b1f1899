"""Contacts, and joints with friction: in which mode they are, and when.

The solver is imported when a result is there, not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import AREAS, MODES

if TYPE_CHECKING:
    from nonsmooth.pack import System
    from nonsmooth.result import Result


def can_stick(system: System) -> dict[str, bool]:
    """Return for everything with a mode whether its law knows stick."""
    rows = system.tables.contact_row.tolist()
    found = {name: r >= 0 for name, r in zip(system.with_mode, rows, strict=True)}
    for joint in system.model.joints:
        if getattr(joint, "block", None) is not None:
            found |= {f"{joint.name}.{area}": found[joint.name] for area in AREAS}
    return found


def mode_of(value: float, can_stick: bool) -> str:
    """Return the name of a value of the column `mode`."""
    return "pressing" if not can_stick and abs(value) <= 1.0 else MODES[int(value)]


def arc_begins(result: Result) -> NDArray[np.int64]:
    """Return the first step of each arc: after a break of a law, or a new mode."""
    return np.flatnonzero(np.diff(result.steps.arc, prepend=-1) != 0)


@dataclass(frozen=True, kw_only=True)
class Stay:
    """An interval that a contact or joint spends in one mode, or on one side."""

    begin: float  # s
    end: float  # s
    mode: str


def stays(result: Result) -> dict[str, list[Stay]]:
    """Return the modes of each contact, and joint with friction, over time."""
    from nonsmooth.result import mode_name

    begins = arc_begins(result)
    modes = result.steps.mode[begins]
    times: list[float] = [*result.steps.t[begins].tolist(), result.t_end]
    sticks = can_stick(result.system)
    found: dict[str, list[Stay]] = {}
    for k, name in enumerate(result.system.with_mode):
        names = [mode_name(mode, sticks[name]) for mode in modes[:, k]]
        found[name] = merged(names, times[:-1], times[1:])
    return found


def merged(
    names: Sequence[str], begin: Sequence[float], end: Sequence[float]
) -> list[Stay]:
    """Return intervals by name, neighbours of one name joined."""
    own: list[Stay] = []
    for name, t0, t1 in zip(names, begin, end, strict=True):
        since = t0
        if own and own[-1].mode == name:
            since = own.pop().begin
        own.append(Stay(begin=since, end=t1, mode=name))
    return own
