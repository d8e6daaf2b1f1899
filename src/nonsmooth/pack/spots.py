"""What the kernels are told of a place where bodies may touch, by its shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.shapes import Circle, Line, Segment, Shape
from nonsmooth.pack.outlines import DEEPEST, outline
from nonsmooth.pack.system import Spot


def reach(spot: Spot | None) -> float:
    """Return how far b's outline reaches from its origin, m, -1 on lines."""
    return -1.0 if spot is None or isinstance(spot.surface, Line) else spot.reach


def first_faces(spots: list[Spot | None]) -> NDArray[np.int64]:
    """Return the first contact of each disc with segments of the same body, or -1."""
    first: dict[Any, int] = {}
    found = np.full(len(spots), -1)
    for k, spot in enumerate(spots):
        if spot and isinstance(spot.surface, Segment):
            whose = (spot.owner, spot.body, spot.centre, spot.radius)
            found[k] = first.setdefault(whose, k)
    return found


def deepest(surface: Shape, radius: float) -> float:
    """Return the greatest overlap with a disc: half way to where its normal is lost, m.

    That is where centres are one, or where its centre is in the middle of a polygon.
    On a segment, which has a back, it is not: the overlap is small beside the segment.
    """
    if isinstance(surface, Segment):
        return DEEPEST * math.dist(surface.start, surface.end)
    if isinstance(surface, Circle):
        return 0.5 * (surface.radius + radius)
    face = outline(surface)
    return 0.5 * radius + DEEPEST * face.thickness if face else math.inf
