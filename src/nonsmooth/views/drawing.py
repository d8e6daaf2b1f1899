"""Decisions that every picture of a mechanism shares, on paper or on a screen."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.base import Named
from nonsmooth.elements.joints import Prismatic
from nonsmooth.elements.shapes import Point, Shape
from nonsmooth.views.places import nearest

Floats = NDArray[np.float64]

# Length of a symbol beside the whole picture, and beside a typical body.
SYMBOL_PART, BODY_PART = 0.022, 0.11
# What a picture shows of a lone point, m.
LONE = 1.0
# A point this near to a shape, in units of a symbol, is seen on it.
ON_SHAPE = 0.1
# Symbols of joints, in units: a pin; half of length and height of a block without a
# size of its own; the same of a slider in a slot.
PIN, BLOCK, SLIDER = 0.42, (1.6, 1.0), (1.6, 0.75)
AT_ORIGIN = (0.0, 0.0, 0.0)
SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def hull(points: Floats) -> Floats:
    """Return the corners of the convex hull; two for points on a line.

    Monotone chain of A. M. Andrew: lower and upper boundary from sorted points.
    """
    pairs: list[list[float]] = points.tolist()
    ordered = sorted({(x, y) for x, y in pairs})
    if len(ordered) < 3:
        return np.array(ordered)
    # Corners flatter than this part of the extent are round-off.
    flat = 1e-9 * float(np.ptp(points, axis=0).max()) ** 2

    def chain(places: list[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for p in places:
            while len(kept) > 1:
                (x0, y0), (x1, y1) = kept[-2], kept[-1]
                if (x1 - x0) * (p[1] - y0) - (y1 - y0) * (p[0] - x0) > flat:
                    break
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def shapes_of(body: Named) -> list[Shape]:
    """Return the shapes of a body."""
    return list(getattr(body, "shapes", {}).values())


def is_solid(body: Named) -> bool:
    """Return whether some shape of a body has an extent."""
    return any(shape.corners() for shape in shapes_of(body))


def corners_of(shape: Shape) -> Floats:
    """Return points of a shape that show its extent; none if it has no end."""
    radius = shape.radius_of_corners()
    around = radius * np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
    points = [corner + step for corner in shape.corners() for step in around]
    return np.array(points).reshape(-1, 2)


def reach_of(body: Named) -> Floats:
    """Return points in the body's frame that show its extent."""
    points = [(0.0, 0.0), *getattr(body, "points", {}).values()]
    return np.concatenate([points, *map(corners_of, shapes_of(body))])


def is_bare(body: Named, point: Point, unit: float) -> bool:
    """Return whether no shape of a body shows a point in its frame."""
    return not any(
        nearest(shape, AT_ORIGIN, point)[0] <= ON_SHAPE * unit
        for shape in shapes_of(body)
        if shape.corners()
    )


def is_outlined(body: Named, corners: Floats, unit: float) -> bool:
    """Return whether a shape of a body has its outline through all corners."""
    return any(has_corners(shape, corners, unit) for shape in shapes_of(body))


def has_corners(shape: Shape, corners: Floats, unit: float) -> bool:
    """Return whether a shape has its outline through all corners."""
    return bool(shape.corners()) and all(
        abs(nearest(shape, AT_ORIGIN, (x, y))[0]) <= ON_SHAPE * unit
        for x, y in corners.tolist()
    )


def block_size(joint: Prismatic, unit: float) -> tuple[float, float]:
    """Return half of length and height of a block, as large as can be seen, m."""
    length, height = (size * unit for size in BLOCK)
    if joint.length is None:
        return length, height
    # Corners with clearance have marks, so that they must be where they are.
    least = 0.0 if joint.is_loose else 0.5 * height
    return 0.5 * joint.length, max(0.5 * joint.height, least)


def block_corners(joint: Prismatic, unit: float) -> Floats:
    """Return the corners of a block, from b, in the frame of b's body, m."""
    turn = joint.axis - joint.angle
    c, s = math.cos(turn), math.sin(turn)
    return np.array(SQUARE) * block_size(joint, unit) @ np.array([[c, s], [-s, c]])


def symbol_size(extent: float, lengths: Sequence[float]) -> float:
    """Return the length of a symbol, m, in a picture of bodies of some lengths."""
    typical = float(np.median(lengths)) if lengths else extent
    return min(SYMBOL_PART * extent, BODY_PART * typical)
