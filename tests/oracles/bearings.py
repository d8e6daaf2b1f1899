"""Where contacts and joints with friction press at one instant, the slow way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nonsmooth.elements.joints import PinInSlot, Prismatic, Revolute
from nonsmooth.elements.shapes import Point
from nonsmooth.views.places import Pose, nearest

if TYPE_CHECKING:
    from nonsmooth.pack import Spot

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
    assert spot.surface is not None  # no patch
    nx, ny = nearest(spot.surface, poses.get(spot.owner, AT_ORIGIN), (x, y))[1:]
    return (x - spot.radius * nx, y - spot.radius * ny), (nx, ny)


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
