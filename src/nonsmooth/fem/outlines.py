"""Triangles inside an outline: nodes on it and on a lattice, joined by Delaunay."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial import Delaunay, cKDTree

from nonsmooth.elements.meshes import Part
from nonsmooth.errors import ModelError
from nonsmooth.fem.mesh import Floats, Ints, rim

# Nodes inside keep this part of a side away from the outline, lest triangles be flat.
CLEAR = 0.6
# Rounds in which inner nodes move to the middle of their neighbours.
N_SMOOTH = 8
# How often the nodes on the outline are doubled where triangles cross it.
N_TRY = 4
# Area of a triangle over the square of its longest side below which it is a sliver
# between three nodes of a straight part.
FLAT = 1e-6


def triangulate(
    parts: tuple[Part, ...], size: float
) -> tuple[Floats, Ints, Ints, Ints]:
    """Return points, triangles, edges of the outline, and the part each is on."""
    for k in range(N_TRY):
        ring, curves = _sampled(parts, size / 2**k)
        _check(ring)
        points, cells = _filled(ring, size / 2**k)
        edges = np.stack((np.arange(len(ring)), np.roll(np.arange(len(ring)), -1)), 1)
        found = rim(cells, 3, 1)
        if {(a, b) for a, b in found.tolist()} == {(a, b) for a, b in edges.tolist()}:
            return points, cells, edges, curves
    raise ModelError(
        f"mesh: size = {size:g}; elements of this size cross the outline, give a "
        "smaller one"
    )


def _sampled(parts: tuple[Part, ...], size: float) -> tuple[Floats, Ints]:
    """Return nodes along the outline, and the part of the edge after each."""
    points: list[Floats] = []
    curves: list[Ints] = []
    for k, part in enumerate(parts):
        a, b = np.array(part.start), np.array(part.end)
        if part.center is None:
            n = max(1, math.ceil(float(np.hypot(*(b - a))) / size - 1e-9))
            t = np.arange(n)[:, None] / n
            points.append(a + t * (b - a))
        else:
            c = np.array(part.center)
            u, v = a - c, b - c
            turn = math.atan2(u[0] * v[1] - u[1] * v[0], float(u @ v))
            if part.turns_left and turn < 0.0:
                turn += 2.0 * math.pi
            elif not part.turns_left and turn > 0.0:
                turn -= 2.0 * math.pi
            length = abs(turn) * float(np.hypot(*u))
            # A quarter of a turn has at least three edges, else it is no arc.
            n = max(math.ceil(length / size - 1e-9), math.ceil(6 * abs(turn) / math.pi))
            t = np.arange(n) / n * turn
            rotated = (
                np.cos(t) * u[0] - np.sin(t) * u[1],
                np.sin(t) * u[0] + np.cos(t) * u[1],
            )
            points.append(c + np.stack(rotated, axis=1))
        curves.append(np.full(n, k, dtype=np.int64))
    return np.concatenate(points), np.concatenate(curves)


def _check(ring: Floats) -> None:
    """Refuse an outline that runs clockwise or crosses itself."""
    a, b = ring, np.roll(ring, -1, axis=0)
    if np.sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) <= 0.0:
        raise ModelError(
            "mesh: vertices of the outline run clockwise; reverse their order"
        )
    u = b - a
    for k in range(len(ring)):
        r = _cross(u[k], a - a[k]) * _cross(u[k], b - a[k])
        s = _cross(u, a[k] - a) * _cross(u, b[k] - a)
        if np.any((r < 0.0) & (s < 0.0)):
            x, y = a[k]
            raise ModelError(
                f"mesh: the outline crosses itself near ({x:.6g}, {y:.6g}) m"
            )


def _cross(u: Floats, v: Floats) -> Floats:
    return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]


def _inside(ring: Floats, points: Floats) -> np.ndarray:
    """Return which points are inside: a ray to the right meets an odd number."""
    a, b = ring, np.roll(ring, -1, axis=0)
    count = np.zeros(len(points), dtype=np.int64)
    for (ax, ay), (bx, by) in zip(a, b, strict=True):
        y = points[:, 1]
        spans = (ay > y) != (by > y)
        if spans.any():
            at = ax + (y - ay) / (by - ay) * (bx - ax)
            count += spans & (points[:, 0] < at)
    return count % 2 == 1


def _filled(ring: Floats, size: float) -> tuple[Floats, Ints]:
    """Return nodes, those of the outline first, and triangles."""
    low, high = ring.min(axis=0), ring.max(axis=0)
    rise = size * math.sqrt(0.75)
    if np.prod((high - low) / size) > 1e6:
        raise ModelError(f"mesh: size = {size:g}; this gives more than 1e6 nodes")
    rows = np.arange(low[1], high[1] + rise, rise)
    columns = np.arange(low[0], high[0] + size, size)
    x, y = np.meshgrid(columns, rows)
    x[1::2] += 0.5 * size
    inner = np.stack((x.ravel(), y.ravel()), axis=1)
    inner = inner[_inside(ring, inner)]
    # The distance from the outline, from points along it closer than the lattice.
    t = np.linspace(0.0, 1.0, 8, endpoint=False)[:, None, None]
    dense = ((1.0 - t) * ring + t * np.roll(ring, -1, axis=0)).reshape(-1, 2)
    if len(inner):
        inner = inner[cKDTree(dense).query(inner)[0] > CLEAR * size]
    points = np.concatenate((ring, inner))
    cells = _joined(ring, points)
    for _ in range(N_SMOOTH):
        points = _smoothed(points, cells, len(ring))
        cells = _joined(ring, points)
    return points, cells


def _joined(ring: Floats, points: Floats) -> Ints:
    cells = np.asarray(Delaunay(points).simplices, dtype=np.int64)
    x = points[cells]
    u, v = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]
    area = 0.5 * _cross(u, v)
    longest = np.linalg.norm(x - np.roll(x, -1, axis=1), axis=2).max(axis=1)
    is_real = np.abs(area) > FLAT * longest**2
    cells = np.where((area > 0.0)[:, None], cells, cells[:, ::-1])[is_real]
    return cells[_inside(ring, points[cells].mean(axis=1))]


def _smoothed(points: Floats, cells: Ints, n_fixed: int) -> Floats:
    total = np.zeros_like(points)
    count = np.zeros(len(points))
    for k in range(3):
        a, b = cells[:, k], cells[:, (k + 1) % 3]
        np.add.at(total, a, points[b])
        np.add.at(total, b, points[a])
        np.add.at(count, a, 1.0)
        np.add.at(count, b, 1.0)
    moved = total / np.maximum(count, 1.0)[:, None]
    is_free = (np.arange(len(points)) >= n_fixed) & (count > 0)
    return np.where(is_free[:, None], moved, points)
