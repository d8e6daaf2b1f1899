"""From the description of a mesh to the mesh: blocks, outlines, refinement, halves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.spatial import cKDTree

from nonsmooth.elements.meshes import (
    Axis,
    Blocks,
    Meshed,
    MeshFile,
    MeshShape,
    Outline,
    Refinement,
    Side,
)
from nonsmooth.elements.shapes import Point
from nonsmooth.errors import ModelError, show
from nonsmooth.fem import meshfiles, outlines
from nonsmooth.fem.mesh import Floats, Ints, Mesh, check, make, rim, skfem

Line = Callable[[Floats], Floats]  # places at parts of the way along a side
Sides = dict[Side, Line]
# Rounds of refinement; each halves the largest elements.
MOST_ROUNDS = 40
# Triangles that one mesh may have.
MOST_CELLS = 1_000_000
# Places closer than this, beside the extent of the mesh, are the same.
SAME = 1e-9


@dataclass(frozen=True)
class Draft:
    """A mesh of corners, and the curve that each edge of its boundary is on."""

    points: Floats  # (n, 2)
    cells: Ints  # (n_cell, 3 or 4)
    edges: Ints  # (n_edge, 2)
    curves: Ints  # (n_edge,) which curve
    twins: Ints  # (n_edge,) the curve on the other side of the axis
    names: tuple[str, ...]  # of curves
    centers: Floats  # (n_curve, 2), NaN for straight ones


def build(
    shape: MeshShape, *, base: str | Path = ".", symmetric: Axis | None = None
) -> Mesh:
    """Make the mesh of a shape.

    Parameters
    ----------
    shape : MeshShape
    base : path
        Folder that a `MeshFile` is in.
    symmetric : {"x", "y"}, optional
        Mesh the half above, or to the right of, an axis along x or y through the
        middle and reflect it.
    """
    if isinstance(shape, MeshFile):
        return meshfiles.read(shape.path, Path(base))
    if not isinstance(shape, Meshed):
        raise ModelError(f"mesh = {show(shape)}; give a mesh")
    if isinstance(shape, Outline):
        draft = _from_outline(shape)
    else:
        draft = _from_blocks(shape.cut(), shape.size, shape.cells == "triangle")
    _check_refinements(draft, shape.refine)
    if symmetric is not None:
        draft = _half(draft, symmetric)
    if shape.refine:
        draft = _refined(draft, tuple(shape.refine.values()))
    if symmetric is not None:
        draft = _whole(draft, symmetric)
    return _finish(draft, shape.order)


def _from_outline(shape: Outline) -> Draft:
    parts = shape.parts()
    points, cells, edges, curves = outlines.triangulate(parts, shape.size)
    nan = (math.nan, math.nan)
    centers = np.array([part.center or nan for part in parts])
    names = tuple(part.name for part in parts)
    return Draft(points, cells, edges, curves, curves, names, centers)


def arc(start: Floats, end: Floats, center: Floats, t: Floats) -> Floats:
    """Return points at parts t of the way along an arc of less than half a turn."""
    a, b = start - center, end - center
    turn = math.atan2(a[0] * b[1] - a[1] * b[0], float(a @ b))
    c, s = np.cos(t * turn), np.sin(t * turn)
    radius = np.hypot(*a) * (1.0 - t) + np.hypot(*b) * t
    along = np.stack((c * a[0] - s * a[1], s * a[0] + c * a[1]), axis=-1)
    return center + along * (radius / np.hypot(*a))[..., None]


def _from_blocks(plan: Blocks, size: float, is_cut: bool) -> Draft:
    """Fill every block with a grid between its four sides."""
    corners = np.array(plan.corners)
    sides = {
        side: _line(plan, corners, side)
        for block in plan.blocks
        for a, b in zip(block, (*block[1:], block[0]), strict=True)
        for side in ((a, b), (b, a))
    }
    counts = _counts(plan, sides, size)
    points: list[Floats] = []
    cells: list[Ints] = []
    start = 0
    for block in plan.blocks:
        a, b, c, d = block
        n, m = counts[_key(a, b)], counts[_key(b, c)]
        u, v = np.linspace(0, 1, n + 1), np.linspace(0, 1, m + 1)
        south, north = sides[a, b](u)[:, None], sides[c, d](1.0 - u)[:, None]
        west, east = sides[d, a](1.0 - v)[None], sides[b, c](v)[None]
        p, q = u[:, None, None], v[None, :, None]
        # Between the sides: Gordon and Hall's blend.
        grid = (1 - q) * south + q * north + (1 - p) * west + p * east
        grid = grid - (1 - p) * ((1 - q) * corners[a] + q * corners[d])
        grid = grid - p * ((1 - q) * corners[b] + q * corners[c])
        k = np.arange((n + 1) * (m + 1)).reshape(n + 1, m + 1) + start
        quads = (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:])
        found = np.stack(quads, axis=-1)
        points.append(grid.reshape(-1, 2))
        cells.append(_cut(found, grid, start) if is_cut else found.reshape(-1, 4))
        start += k.size
    whole, joined = _joined(np.concatenate(points), np.concatenate(cells))
    return _tagged(plan, sides, counts, whole, joined)


def _key(a: int, b: int) -> Side:
    return (a, b) if a < b else (b, a)


def _line(plan: Blocks, corners: Floats, side: Side) -> Line:
    a, b = side
    center = plan.centers.get(side) or plan.centers.get((b, a))

    def along(t: Floats) -> Floats:
        if center is None:
            return corners[a] + t[:, None] * (corners[b] - corners[a])
        return arc(corners[a], corners[b], np.array(center), t)

    return along


def _counts(plan: Blocks, sides: Sides, size: float) -> dict[Side, int]:
    """Return the cells along each side, even, and equal on opposite sides."""
    group: dict[Side, set[Side]] = {}
    for a, b, c, d in plan.blocks:
        for one, other in ((_key(a, b), _key(c, d)), (_key(b, c), _key(d, a))):
            both = group.get(one, {one}) | group.get(other, {other})
            group.update(dict.fromkeys(both, both))
    t = np.linspace(0.0, 1.0, 33)
    lengths: dict[Side, float] = {}
    for (a, b), line in sides.items():
        steps = np.diff(line(t), axis=0)
        lengths[_key(a, b)] = float(np.hypot(steps[:, 0], steps[:, 1]).sum())
    counts: dict[Side, int] = {}
    for side, both in group.items():
        longest = max(lengths[other] for other in both)
        counts[side] = 2 * max(1, math.ceil(longest / (2.0 * size) - SAME))
    n_cell = sum(counts[_key(a, b)] * counts[_key(b, c)] for a, b, c, _ in plan.blocks)
    if n_cell > MOST_CELLS:
        raise _too_many("size", size)
    return counts


def _too_many(field: str, size: float) -> ModelError:
    return ModelError(
        f"mesh: {field} = {size:g}; this gives more than {MOST_CELLS} elements"
    )


def _cut(quads: Ints, grid: Floats, start: int) -> Ints:
    """Return two triangles for each cell of a grid.

    By the shorter diagonal, which avoids flat triangles in corners on an arc; where
    both are about the same, in turn.
    """
    a, b, c, d = quads.reshape(-1, 4).T
    x = grid.reshape(-1, 2)[quads.reshape(-1, 4) - start]
    first = np.linalg.norm(x[:, 2] - x[:, 0], axis=1)
    second = np.linalg.norm(x[:, 3] - x[:, 1], axis=1)
    k, m = np.arange(len(x)), int(quads.shape[1])
    is_odd = (k // m + k % m) % 2 == 1
    differ = np.abs(first - second) > 0.05 * first
    by_first = (differ & (first < second)) | (~differ & is_odd)
    one = np.stack((np.stack((a, b, c), 1), np.stack((a, c, d), 1)), 1)
    other = np.stack((np.stack((a, b, d), 1), np.stack((b, c, d), 1)), 1)
    return np.where(by_first[:, None, None], one, other).reshape(-1, 3)


def _joined(points: Floats, cells: Ints) -> tuple[Floats, Ints]:
    """Return the mesh with nodes at the same place made one."""
    extent = float(np.ptp(points, axis=0).max())
    close = cKDTree(points).query_pairs(SAME * extent)
    pairs = np.array(sorted(close), dtype=np.int64).reshape(-1, 2)
    first = np.arange(len(points))
    np.minimum.at(first, pairs[:, 1], pairs[:, 0])
    first = first[first]
    _, kept, number = np.unique(first, return_index=True, return_inverse=True)
    return points[kept], number[cells].astype(np.int64)


def _tagged(
    plan: Blocks, sides: Sides, counts: dict[Side, int], points: Floats, cells: Ints
) -> Draft:
    """Say of every edge of the boundary which side of a block it is on."""
    edges = rim(cells, cells.shape[1], 1)
    tree = cKDTree(points)
    place = {_key(int(a), int(b)): k for k, (a, b) in enumerate(edges)}
    curves = np.full(len(edges), -1, dtype=np.int64)
    names: list[str] = []
    centers: list[Point] = []
    for (a, b), name in plan.names.items():
        t = np.linspace(0.0, 1.0, counts[_key(a, b)] + 1)
        along = np.asarray(tree.query(sides[a, b](t))[1])
        for i, j in pairwise(along.tolist()):
            curves[place[_key(i, j)]] = len(names)
        names.append(name)
        centers.append(plan.centers.get((a, b), (math.nan, math.nan)))
    return Draft(points, cells, edges, curves, curves, tuple(names), np.array(centers))


def _check_refinements(draft: Draft, wanted: dict[str, Refinement]) -> None:
    """Refuse a refinement that is nowhere near the mesh."""
    x = draft.points[draft.cells]
    longest = float(np.linalg.norm(x - np.roll(x, -1, axis=1), axis=2).max())
    for name, one in wanted.items():
        away = float(np.linalg.norm(draft.points - np.array(one.point), axis=1).min())
        if away > one.radius + longest:
            raise ModelError(
                f"refine['{name}']: point = {one.point}; it is {away:.3g} m from the "
                "nearest node; give a place on the mesh, in its coordinates"
            )


def _refined(draft: Draft, wanted: tuple[Refinement, ...]) -> Draft:
    """Split triangles until no side is longer than asked for where it is."""
    for _ in range(MOST_ROUNDS):
        marked = _too_long(draft, wanted)
        if not marked.size:
            return draft
        if len(draft.cells) > MOST_CELLS:
            break
        draft = _split(draft, marked)
    raise _too_many("refine size", min(one.size for one in wanted))


def _too_long(draft: Draft, wanted: tuple[Refinement, ...]) -> Ints:
    x = draft.points[draft.cells]
    longest = np.linalg.norm(x - np.roll(x, -1, axis=1), axis=2).max(axis=1)
    allowed = np.full(len(x), np.inf)
    for one in wanted:
        nearest = np.linalg.norm(x - np.array(one.point), axis=2).min(axis=1)
        h = one.size + one.growth * np.maximum(nearest - one.radius, 0.0)
        allowed = np.minimum(allowed, h)
    return np.flatnonzero(longest > allowed * (1.0 + SAME))


def _split(draft: Draft, marked: Ints) -> Draft:
    """Split triangles, and round the new nodes of the boundary."""
    native = skfem().MeshTri(draft.points.T.copy(), draft.cells.T.copy())
    fine = native.refined(marked)
    points = np.ascontiguousarray(fine.p.T)
    cells = np.ascontiguousarray(fine.t.T.astype(np.int64))
    cells = _turned(points, cells)
    n = len(draft.points)
    # A new node is, to the last bit, halfway between the ends of the edge it splits.
    number = {(x, y): n + k for k, (x, y) in enumerate(points[n:].tolist())}
    a, b = draft.points[draft.edges].transpose(1, 0, 2)
    halves = 0.5 * (a + b)
    middle = np.array([number.get((x, y), -1) for x, y in halves.tolist()])
    is_new = middle >= 0
    points[middle[is_new]] = _rounded(draft, halves, a)[is_new]
    start, end = draft.edges.T
    first = np.stack((start[is_new], middle[is_new]), 1)
    second = np.stack((middle[is_new], end[is_new]), 1)
    return replace(
        draft,
        points=points,
        cells=cells,
        edges=np.concatenate((draft.edges[~is_new], first, second)),
        **{
            name: np.concatenate((old[~is_new], old[is_new], old[is_new]))
            for name, old in (("curves", draft.curves), ("twins", draft.twins))
        },
    )


def _turned(points: Floats, cells: Ints) -> Ints:
    """Return triangles with their corners counter-clockwise."""
    a, b, c = points[cells].transpose(1, 0, 2)
    u, v = b - a, c - a
    is_left = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] > 0.0
    return np.where(is_left[:, None], cells, cells[:, [0, 2, 1]])


def _rounded(draft: Draft, halves: Floats, starts: Floats) -> Floats:
    """Return the middles of edges, moved out to the circle they are on."""
    known = draft.curves >= 0
    centers = np.where(known[:, None], draft.centers[draft.curves], math.nan)
    arm = halves - centers
    radius = np.linalg.norm(starts - centers, axis=1)
    out = centers + arm * (radius / np.linalg.norm(arm, axis=1))[:, None]
    return np.where(np.isnan(out), halves, out)


def _across(axis: Axis) -> int:
    """Return the coordinate that changes sign in a reflection."""
    return 1 if axis == "x" else 0


def _half(draft: Draft, axis: Axis) -> Draft:
    """Return the half on the positive side of the axis of symmetry."""
    k = _across(axis)
    points = draft.points.copy()
    low, high = points[:, k].min(), points[:, k].max()
    middle, tolerance = 0.5 * (low + high), SAME * float(np.ptp(points, axis=0).max())
    off = points[:, k] - middle
    points[np.abs(off) <= tolerance, k] = middle
    off[np.abs(off) <= tolerance] = 0.0
    is_over, is_under = (off > 0.0)[draft.cells], (off < 0.0)[draft.cells]
    crosses = is_over.any(axis=1) & is_under.any(axis=1)
    if crosses.any():
        valid = f"no line of the mesh lies on the axis along {axis} through its middle"
        raise ModelError(f"symmetric = {axis!r}; {valid}")
    twins = _twins(draft, k, middle, tolerance)
    cells = draft.cells[is_over.any(axis=1)]
    kept = np.unique(cells)
    number = np.full(len(points), -1)
    number[kept] = np.arange(len(kept))
    on = (number[draft.edges] >= 0).all(axis=1) & (off[draft.edges] > 0.0).any(axis=1)
    return replace(
        draft,
        points=points[kept],
        cells=number[cells],
        edges=number[draft.edges[on]],
        curves=draft.curves[on],
        twins=twins[on],
    )


def _twins(draft: Draft, k: int, middle: float, tolerance: float) -> Ints:
    """Return, for each edge, the curve of its mirror image."""
    places = draft.points[draft.edges].mean(axis=1)
    mirrored = places.copy()
    mirrored[:, k] = 2.0 * middle - mirrored[:, k]
    distance, found = cKDTree(places).query(mirrored)
    if np.max(distance) > 10.0 * tolerance:
        x, y = places[int(np.argmax(distance))]
        raise ModelError(
            f"mesh: not symmetric, the boundary at ({x:.6g}, {y:.6g}) m has no image"
        )
    return draft.curves[np.asarray(found)]


def _whole(draft: Draft, axis: Axis) -> Draft:
    """Add the mirror image of a half."""
    k = _across(axis)
    middle = float(draft.points[:, k].min())
    is_off = draft.points[:, k] > middle
    image = np.arange(len(draft.points))
    image[is_off] = len(draft.points) + np.arange(int(is_off.sum()))
    reflected = draft.points[is_off].copy()
    reflected[:, k] = 2.0 * middle - reflected[:, k]
    cells = image[draft.cells[:, ::-1]]
    return replace(
        draft,
        points=np.concatenate((draft.points, reflected)),
        cells=np.concatenate((draft.cells, cells)),
        edges=np.concatenate((draft.edges, image[draft.edges[:, ::-1]])),
        curves=np.concatenate((draft.curves, draft.twins)),
        twins=np.concatenate((draft.twins, draft.curves)),
    )


def _finish(draft: Draft, order: Literal[1, 2]) -> Mesh:
    names: dict[str, list[Ints]] = {}
    for k, name in enumerate(draft.names):
        if name:
            names.setdefault(name, []).append(draft.edges[draft.curves == k])
    edges = {name: np.concatenate(found) for name, found in names.items()}
    mesh = make(draft.points, draft.cells, order, edges)
    if order == 2:
        _round_middles(mesh, draft)
        check(mesh)
    return mesh


def _round_middles(mesh: Mesh, draft: Draft) -> None:
    """Put the middle nodes of curved edges on their circles; the mesh is new yet."""
    a, b = draft.points[draft.edges].transpose(1, 0, 2)
    halves = 0.5 * (a + b)
    places = _rounded(draft, halves, a)
    outline = mesh.edges["outline"]
    middle = {_key(int(i), int(j)): int(k) for i, j, k in outline}
    nodes = [middle[_key(int(i), int(j))] for i, j in draft.edges]
    mesh.nodes[nodes] = places
    if mesh.cell == "quadrilateral":
        # The middle of a cell follows the middles of its sides.
        corners, sides = mesh.nodes[mesh.cells[:, :4]], mesh.nodes[mesh.cells[:, 4:8]]
        centre = 0.5 * sides.sum(axis=1) - 0.25 * corners.sum(axis=1)
        mesh.nodes[mesh.cells[:, 8]] = centre
