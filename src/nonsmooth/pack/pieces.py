"""A body of several convex pieces: what they are together, which faces they cover.

Polygons that touch and make one convex outline together are one, under the name of the
first. A face that touches another piece, or the part of it that does, is covered: it
bounds its piece, but nothing can press on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise

from nonsmooth.elements.shapes import Point, Polygon, Shape
from nonsmooth.pack.outlines import Outline, outline

# Pieces this near to each other, as a part of their longest edge, touch: coordinates
# are written with six digits, and a contact sinks in deeper.
TOUCHING = 1e-6
# Sine of the largest angle between faces that lie on each other: short faces whose ends
# are as near as said.
PARALLEL = 1e-3

Pieces = dict[str, Shape | Outline]


def pieces(shapes: Mapping[str, Shape]) -> Pieces:
    """Return the outlines of polygons and lines, others as they are.

    Raises
    ------
    ValueError
        Two polygons overlap; says which, and how deep.
    """
    polygons = {k: v.vertices for k, v in shapes.items() if isinstance(v, Polygon)}
    if len(polygons) < 2:
        return {name: outline(shape) or shape for name, shape in shapes.items()}
    edges = [edge for vertices in polygons.values() for edge in _edges(vertices)]
    near = TOUCHING * max(math.dist(*edge) for edge in edges)
    for one, other in combinations(polygons, 2):
        depth = -_gap(polygons[one], polygons[other])
        if depth > near:
            raise ValueError(f"shapes '{one}' and '{other}' overlap by {depth:.3g} m")
    _merge(polygons, near)
    found: Pieces = {}
    for name, shape in shapes.items():
        if not isinstance(shape, Polygon):
            found[name] = outline(shape) or shape
        elif name in polygons:
            others = [polygons[other] for other in polygons if other != name]
            own = _uncovered(polygons[name], others, near)
            if any(own.is_open):
                found[name] = own
    return found


def _edges(vertices: Sequence[Point]) -> list[tuple[Point, Point]]:
    return list(pairwise((*vertices, vertices[0])))


def _normal(edge: tuple[Point, Point]) -> Point:
    (x0, y0), (x1, y1) = edge
    length = math.hypot(x1 - x0, y1 - y0)
    return (y1 - y0) / length, (x0 - x1) / length


def _gap(one: Sequence[Point], other: Sequence[Point]) -> float:
    """Return the largest over faces of the least height of the other's vertices."""
    found = -math.inf
    for own, its in ((one, other), (other, one)):
        for edge in _edges(own):
            (nx, ny), (x0, y0) = _normal(edge), edge[0]
            found = max(found, min(nx * (x - x0) + ny * (y - y0) for x, y in its))
    return found


# -- convex together -------------------------------------------------------------------


def _merge(polygons: dict[str, tuple[Point, ...]], near: float) -> None:
    """Make one of any two that are convex together, until there are none."""
    while True:
        for one, other in combinations(polygons, 2):
            whole = _hull([*polygons[one], *polygons[other]], near)
            loss = _area(whole) - _area(polygons[one]) - _area(polygons[other])
            if loss <= near * sum(math.dist(*edge) for edge in _edges(whole)):
                polygons[one] = whole
                del polygons[other]
                break
        else:
            return


def _area(vertices: Sequence[Point]) -> float:
    return 0.5 * sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in _edges(vertices))


def _hull(points: Sequence[Point], near: float) -> tuple[Point, ...]:
    """Return the convex hull without vertices that are hardly off its edges."""
    ordered = sorted(set(points))
    halves: list[list[Point]] = []
    for places in (ordered, ordered[::-1]):
        half: list[Point] = []
        for place in places:
            while len(half) > 1 and _height(half[-2], place, half[-1]) >= 0.0:
                half.pop()
            half.append(place)
        halves.append(half[:-1])
    hull = halves[0] + halves[1]
    k = 0
    while k < len(hull) and len(hull) > 3:
        before, after = hull[k - 1], hull[(k + 1) % len(hull)]
        if abs(_height(before, after, hull[k])) <= near:
            del hull[k]
        else:
            k += 1
    return tuple(hull)


def _height(start: Point, end: Point, place: Point) -> float:
    """Return how far a place is on the left of a way from start to end."""
    ex, ey = end[0] - start[0], end[1] - start[1]
    length = math.hypot(ex, ey)
    x, y = place[0] - start[0], place[1] - start[1]
    return (ex * y - ey * x) / length if length > 0.0 else math.hypot(x, y)


# -- covered faces ---------------------------------------------------------------------


def _uncovered(
    own: tuple[Point, ...], others: Sequence[Sequence[Point]], near: float
) -> Outline:
    """Return an outline whose faces are cut where others begin to cover them."""
    vertices: list[Point] = []
    is_open: list[bool] = []
    edge: list[int] = []
    for k, (start, end) in enumerate(_edges(own)):
        length = math.dist(start, end)
        ex, ey = (end[0] - start[0]) / length, (end[1] - start[1]) / length
        covered = [
            span for other in others for span in _covered((start, end), other, near)
        ]
        ends = sorted({0.0, length, *(place for span in covered for place in span)})
        for low, high in pairwise(ends):
            middle = 0.5 * (low + high)
            is_free = not any(a < middle < b for a, b in covered)
            if low > 0.0 and is_open[-1] == is_free:
                continue
            edge.append(k)
            vertices.append((start[0] + low * ex, start[1] + low * ey))
            is_open.append(is_free)
    return Outline(
        shape=Polygon(vertices=own),
        is_open=tuple(is_open),
        vertices=tuple(vertices),
        edge=tuple(edge),
    )


def _covered(
    edge: tuple[Point, Point], other: Sequence[Point], near: float
) -> list[tuple[float, float]]:
    """Return from where to where an edge lies on edges of another piece, m."""
    (x0, y0), (x1, y1) = edge
    length = math.dist(*edge)
    ex, ey = (x1 - x0) / length, (y1 - y0) / length
    nx, ny = _normal(edge)
    found: list[tuple[float, float]] = []
    for its in _edges(other):
        mx, my = _normal(its)
        if nx * mx + ny * my > 0.0 or abs(nx * my - ny * mx) > PARALLEL:
            continue
        # The other runs against this one: it ends where the cover begins.
        (xa, ya), (xb, yb) = its
        high, low = ((x - x0) * ex + (y - y0) * ey for x, y in its)
        above = [nx * (x - x0) + ny * (y - y0) for x, y in ((xa, ya), (xb, yb))]
        low = 0.0 if low <= near else low
        high = length if high >= length - near else high
        if high - low > near and max(map(abs, above)) <= near:
            found.append((low, high))
    return found
