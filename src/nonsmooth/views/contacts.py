"""Contacts of a run: where they are, and in which mode they are when.

The solver is imported when a result is there, not before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.shapes import Point, Shape

if TYPE_CHECKING:
    from nonsmooth.result import Result
    from nonsmooth.system import Spot

Pose = tuple[float, float, float]
AT_ORIGIN = (0.0, 0.0, 0.0)


def place(spot: Spot, poses: Mapping[str, Pose]) -> tuple[Point, Point]:
    """Return the point of a spot's disc nearest to its surface, and the normal there.

    The normal leads out of the surface.
    """
    x, y, theta = poses.get(spot.body, AT_ORIGIN)
    c, s = math.cos(theta), math.sin(theta)
    x, y = (
        x + c * spot.centre[0] - s * spot.centre[1],
        y + s * spot.centre[0] + c * spot.centre[1],
    )
    nx, ny = nearest(spot.surface, poses.get(spot.owner, AT_ORIGIN), (x, y))[1:]
    return (x - spot.radius * nx, y - spot.radius * ny), (nx, ny)


def nearest(surface: Shape, pose: Pose, point: Point) -> tuple[float, float, float]:
    """Return the distance of a point from a surface, and the normal there."""
    out = [0.0, 0.0, 0.0, 0.0]
    find = getattr(type(surface), surface.row_name)
    find(surface.parameters(), [*pose, 0.0, 0.0, 0.0], [*point, *4 * [0.0]], out)
    return out[0], out[1], out[2]


def mode_of(spot: Spot, value: float) -> str:
    """Return the name of a value of the column `mode`."""
    from nonsmooth.kernels.assemble import PRESSING
    from nonsmooth.result import OPEN_MODE, RELEASED_MODE, mode_name

    if value == OPEN_MODE:
        return "open"
    if value == RELEASED_MODE:
        return "released"
    return mode_name(PRESSING, int(value), spot.has_friction)


def arc_begins(result: Result) -> NDArray[np.int64]:
    """Return the first step of each arc: after a break of a law, or a new mode."""
    return np.flatnonzero(np.diff(result.steps.arc, prepend=-1) != 0)


@dataclass(frozen=True, kw_only=True)
class Stay:
    """An interval that a contact spends in one mode."""

    begin: float  # s
    end: float  # s
    mode: str


def stays(result: Result) -> dict[str, list[Stay]]:
    """Return the modes of each contact over time."""
    from nonsmooth.result import mode_name

    steps = result.steps
    begins = arc_begins(result)
    times = [*steps.t[begins].tolist(), result.t_end]
    found: dict[str, list[Stay]] = {}
    for k, name in enumerate(result.system.with_mode):
        has_friction = bool(result.system.tables.contact_row[k] >= 0)
        own: list[Stay] = []
        for i, step in enumerate(begins):
            modes = steps.modes
            side, slip = int(modes.side[step, k]), int(modes.slip[step, k])
            mode = mode_name(side, slip, has_friction)
            begin = times[i]
            if own and own[-1].mode == mode:
                begin = own.pop().begin
            own.append(Stay(begin=begin, end=times[i + 1], mode=mode))
        found[name] = own
    return found
