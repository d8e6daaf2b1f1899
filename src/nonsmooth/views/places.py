"""Where points, and the spots of contacts, are: for many instants at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.shapes import Circle, Line, Point, Polygon, Segment, Shape

if TYPE_CHECKING:
    from nonsmooth.pack import Spot

Floats = NDArray[np.float64]
Pose = tuple[float, float, float]
# Normals in the frame of a surface's body, at the points nearest to given ones.
Normals = Callable[[Any, Floats], Floats]


def to_global(pose: Floats, points: Floats) -> Floats:
    """Return where points of a body are; one pose and point, or many of either."""
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    x, y = points[..., 0], points[..., 1]
    moved = np.stack([c * x - s * y, s * x + c * y], axis=-1)
    return pose[..., :2] + moved


def to_local(pose: Floats, places: Floats) -> Floats:
    """Return global places in the frame of a body."""
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    x, y = places[..., 0] - pose[..., 0], places[..., 1] - pose[..., 1]
    return np.stack([c * x + s * y, -s * x + c * y], axis=-1)


def places(spot: Spot, poses: Mapping[str, Floats], n: int) -> tuple[Floats, Floats]:
    """Return the place of a spot and the normal there, at n instants."""
    at_origin = np.zeros((n, 3))
    body = poses.get(spot.body, at_origin)
    owner = poses.get(spot.owner, at_origin)
    centre = to_global(body, np.array(spot.centre))
    # A kind of the user's own may have any function.
    assert spot.surface is not None  # of patches the columns tell
    find = _NORMALS.get(type(spot.surface))
    if find is None:
        normal = _one_by_one(spot.surface, owner, centre)
    else:
        turned = find(spot.surface, to_local(owner, centre))
        zero = np.zeros_like(owner)
        zero[:, 2] = owner[:, 2]
        normal = to_global(zero, turned)
    return centre - spot.radius * normal, normal


def nearest(surface: Shape, pose: Pose, point: Point) -> tuple[float, float, float]:
    """Return the distance of a point from a surface, and the normal there."""
    out = [0.0, 0.0, 0.0, 0.0]
    find = getattr(type(surface), surface.row_name)
    find(surface.parameters(), [*pose, 0.0, 0.0, 0.0], [*point, *4 * [0.0]], out)
    return out[0], out[1], out[2]


def _one_by_one(surface: Shape, owner: Floats, centre: Floats) -> Floats:
    found: list[tuple[float, float]] = []
    for (x, y, theta), (px, py) in zip(owner.tolist(), centre.tolist(), strict=True):
        found.append(nearest(surface, (x, y, theta), (px, py))[1:])
    return np.array(found).reshape(-1, 2)


def _unit(vector: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return vector / np.hypot(vector[:, 0], vector[:, 1])[:, None]


def _line(surface: Line, q: Floats) -> Floats:
    normal = np.array([-np.sin(surface.angle), np.cos(surface.angle)])
    return np.broadcast_to(normal, q.shape)


def _circle(surface: Circle, q: Floats) -> Floats:
    return _unit(q - np.array(surface.center))


def _face(
    start: Floats, end: Floats, normal: Floats, q: Floats, has_ends: NDArray[np.bool_]
) -> Floats:
    """Return the normal of an edge, or away from its end where q is beyond that."""
    along = end - start
    is_before = has_ends & (np.sum(along * (q - start), axis=1) < 0.0)
    is_beyond = has_ends & (np.sum(along * (q - end), axis=1) > 0.0)
    out = np.array(np.broadcast_to(normal, q.shape))
    out[is_before] = _unit((q - start)[is_before])
    out[is_beyond] = _unit((q - end)[is_beyond])
    return out


def _segment(surface: Segment, q: Floats) -> Floats:
    start, end = np.array(surface.start), np.array(surface.end)
    x, y = (end - start) / np.hypot(*(end - start))
    return _face(start, end, np.array([-y, x]), q, np.ones(len(q), dtype=bool))


def _polygon(surface: Polygon, q: Floats) -> Floats:
    start = np.array(surface.vertices)
    end = np.roll(start, -1, axis=0)
    edge = end - start
    normals = np.column_stack([edge[:, 1], -edge[:, 0]])
    normals /= np.hypot(edge[:, 0], edge[:, 1])[:, None]
    height = q @ normals.T - np.sum(normals * start, axis=1)
    best = np.argmax(height, axis=1)
    is_outside = height[np.arange(len(q)), best] > 0.0
    return _face(start[best], end[best], normals[best], q, is_outside)


_NORMALS: dict[type[Shape], Normals] = {
    Line: _line,
    Circle: _circle,
    Segment: _segment,
    Polygon: _polygon,
}
