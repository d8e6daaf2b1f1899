"""Bodies of several convex pieces: which parts of their faces are open.

A part of a face is covered if a place just before it is inside another piece; parts end
where corners of others lie on the face. A piece without open parts touches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from nonsmooth import Polygon

# How far before a face is looked, and how near to it a corner lies on it, as parts of
# the largest distance between corners.
BEFORE, ON_IT = 1e-5, 2e-6

Place = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A polygon with the open parts of its edges."""

    shape: Any
    edges: tuple[tuple[Place, Place], ...]  # what is open
    is_open: tuple[bool, ...]  # whether any part of a face is


def whole(shape: Any) -> Piece:
    """Return a shape that nothing covers; one without vertices has no edges."""
    v: tuple[Place, ...] = tuple(getattr(shape, "vertices", ()))
    edges = tuple((v[k], v[(k + 1) % len(v)]) for k in range(len(v)))
    return Piece(shape=shape, edges=edges, is_open=(True,) * len(edges))


def joined(pieces: Iterable[Piece]) -> Piece:
    """Return all pieces of a body as one, of which only corners and edges count."""
    own = list(pieces)
    corners = tuple(v for one in own for v in one.shape.vertices)
    return Piece(
        shape=replace(own[0].shape, vertices=convex(corners)),
        edges=tuple(edge for one in own for edge in one.edges),
        is_open=(),
    )


def convex(corners: tuple[Place, ...]) -> tuple[Place, ...]:
    """Return the corners of the hull, counter-clockwise."""
    hull = ConvexHull(np.array(corners))
    return tuple(corners[int(k)] for k in hull.vertices)


def uncovered(shapes: dict[str, Any]) -> dict[str, Piece]:
    """Return the pieces of a body that have an open face."""
    polygons = {k: v.vertices for k, v in shapes.items() if isinstance(v, Polygon)}
    places = [place for vertices in polygons.values() for place in vertices]
    size = max((math.dist(p, q) for p in places for q in places), default=0.0)
    found: dict[str, Piece] = {}
    for name, shape in shapes.items():
        piece = whole(shape)
        if name in polygons:
            others = [v for other, v in polygons.items() if other != name]
            parts = [_open_parts(*edge, others, size) for edge in piece.edges]
            piece = Piece(
                shape=shape,
                edges=tuple(part for own in parts for part in own),
                is_open=tuple(bool(own) for own in parts),
            )
        if piece.edges or name not in polygons:
            found[name] = piece
    return found


def _open_parts(
    start: Place, end: Place, others: list[Any], size: float
) -> list[tuple[Place, Place]]:
    length = math.dist(start, end)
    ex, ey = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    cuts = [0.0, length]
    for vertices in others:
        for x, y in vertices:
            along = (x - start[0]) * ex + (y - start[1]) * ey
            aside = abs((x - start[0]) * ey - (y - start[1]) * ex)
            if aside < ON_IT * size and 0.0 < along < length:
                cuts.append(along)
    cuts.sort()
    found: list[tuple[Place, Place]] = []
    for low, high in pairwise(cuts):
        middle = 0.5 * (low + high)
        x = start[0] + middle * ex + BEFORE * size * ey
        y = start[1] + middle * ey - BEFORE * size * ex
        is_covered = any(_is_inside((x, y), vertices) for vertices in others)
        if not is_covered and high - low > ON_IT * size:
            ends = [(start[0] + s * ex, start[1] + s * ey) for s in (low, high)]
            found.append((ends[0], ends[1]))
    return found


def _is_inside(place: Place, vertices: Any) -> bool:
    """Tell whether a place is on the left of all edges."""
    n = len(vertices)
    for k in range(n):
        (x0, y0), (x1, y1) = vertices[k], vertices[(k + 1) % n]
        if (x1 - x0) * (place[1] - y0) - (y1 - y0) * (place[0] - x0) <= 0.0:
            return False
    return True
