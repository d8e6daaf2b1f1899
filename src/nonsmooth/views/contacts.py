"""Contacts, and joints with friction: where they press, and in which mode when.

The solver is imported when a result is there, not before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import MODES
from nonsmooth.elements.joints import PinInSlot, Prismatic, Revolute
from nonsmooth.elements.shapes import Point, Shape

if TYPE_CHECKING:
    from nonsmooth.result import Result
    from nonsmooth.system import Spot, System

Pose = tuple[float, float, float]
Slide = PinInSlot | Prismatic | Revolute  # kinds of joints that can have friction
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


def can_stick(system: System) -> dict[str, bool]:
    """Return for everything with a mode whether its law knows stick."""
    rows = system.tables.contact_row.tolist()
    return {name: r >= 0 for name, r in zip(system.with_mode, rows, strict=True)}


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

    begins, modes = arc_begins(result), result.steps.modes
    times: list[float] = [*result.steps.t[begins].tolist(), result.t_end]
    sticks = can_stick(result.system)
    found: dict[str, list[Stay]] = {}
    for k, name in enumerate(result.system.with_mode):
        side, slip = modes.side[begins, k].tolist(), modes.slip[begins, k].tolist()
        names = [
            mode_name(*mode, sticks[name]) for mode in zip(side, slip, strict=True)
        ]
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


# ---- where joints press ----------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Bearing:
    """A place where a joint with friction presses, and its forces on b."""

    end: int  # +1 front, -1 rear of a block, 0 the middle
    normal: float  # N, along the joint's normal; of a pin its magnitude
    friction: float  # N


def bearing_columns(joint: Slide) -> list[str]:
    """Return the columns that `bearings` reads."""
    kinds = ["mode", "normal_force", "friction_force"]
    if isinstance(joint, Prismatic):
        kinds += ["front_force", "rear_force"]
    if isinstance(joint, Revolute):
        kinds += ["force_x", "force_y"]
    return [f"{joint.name}.{kind}" for kind in kinds]


def bearings(joint: Slide, values: Mapping[str, float]) -> list[Bearing]:
    """Return where a joint presses; the ends of a block share its friction."""
    friction = values[f"{joint.name}.friction_force"]
    if not isinstance(joint, Prismatic):
        normal = values[f"{joint.name}.normal_force"]
        return [Bearing(end=0, normal=normal, friction=friction)]
    front, rear = (values[f"{joint.name}.{end}_force"] for end in ("front", "rear"))
    load = abs(front) + abs(rear)
    # Both ends have the same coefficient; without a load there is drag alone.
    part = abs(front) / load if load > 0.0 else 0.5
    return [
        Bearing(end=1, normal=front, friction=part * friction),
        Bearing(end=-1, normal=rear, friction=(1.0 - part) * friction),
    ]
