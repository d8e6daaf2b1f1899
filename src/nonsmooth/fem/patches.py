"""Places on a mesh: points, and patches of boundary nodes.

A marker is a set of rows over the displacements u of the nodes: two for the
displacement of a place and, for a patch, one for its rotation. Loads on it act by the
same rows. With the lengths w_i of boundary that belong to the nodes of a patch, and
s_c = sum w s / sum w,

    displacement = sum w_i u_i / sum w
    turn = sum w_i (s_i - s_c) x u_i / sum w |s_i - s_c|^2       least squares
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nonsmooth.elements.meshes import Patch
from nonsmooth.elements.shapes import Point
from nonsmooth.errors import ModelError, show
from nonsmooth.fem.mesh import Floats, Ints, Mesh

# A point this far outside, beside the size of the element, is on its side.
TOUCHING = 1e-6
# Shape functions smaller than this are zero.
ROUND_OFF = 1e-12


@dataclass(frozen=True)
class Chosen:
    """Nodes of a patch, in order along the boundary, the body on the left."""

    nodes: Ints
    weights: Floats  # m, length of boundary of each
    normals: Floats  # (n, 2) unit, outwards
    edges: Ints  # (n_edge, order + 1): start, end, middle, as places in `nodes`


def choose(mesh: Mesh, name: str, patch: Patch) -> Chosen:
    """Return the nodes of a patch."""
    edges = mesh.boundary(patch.boundary)
    nodes = _along(edges)
    if patch.center is not None and patch.radius is not None:
        away = np.linalg.norm(mesh.nodes[nodes] - np.array(patch.center), axis=1)
        is_near = away <= patch.radius
        if edges[0, 0] == edges[-1, 1] and not is_near.all():
            # A patch across the seam of a closed boundary is still one piece.
            seam = int(np.argmin(is_near))
            nodes, is_near = np.roll(nodes, -seam), np.roll(is_near, -seam)
        nodes = nodes[is_near]
    if not nodes.size:
        raise ModelError(
            f"patch '{name}': no node of boundary '{patch.boundary}' is within "
            f"{patch.radius:g} m of {patch.center}; give another centre or a larger "
            "radius"
        )
    weights, normals = _lengths(mesh, edges)
    place = np.full(len(mesh.nodes), -1)
    place[nodes] = np.arange(len(nodes))
    inner = place[edges]
    return Chosen(
        nodes, weights[nodes], normals[nodes], inner[(inner >= 0).all(axis=1)]
    )


def _along(edges: Ints) -> Ints:
    """Return the nodes of edges in order, each once."""
    order = edges[:, [0, 2, 1]] if edges.shape[1] == 3 else edges
    _, first = np.unique(order.ravel(), return_index=True)
    return order.ravel()[np.sort(first)]


def _lengths(mesh: Mesh, edges: Ints) -> tuple[Floats, Floats]:
    """Return, for all nodes, their length of boundary and the normal there."""
    weights = np.zeros(len(mesh.nodes))
    normals = np.zeros((len(mesh.nodes), 2))
    for nodes, length, across in _shares(mesh, edges):
        np.add.at(weights, nodes, length)
        np.add.at(normals, nodes, across)
    size = np.linalg.norm(normals, axis=1, keepdims=True)
    return weights, normals / np.where(size > 0.0, size, 1.0)


def _shares(mesh: Mesh, edges: Ints) -> list[tuple[Ints, Floats, Floats]]:
    """Return nodes, shares of length and normals times them: Simpson, trapezium."""
    x = mesh.nodes[edges].transpose(1, 0, 2)
    if mesh.order == 1:
        slopes, parts = [x[1] - x[0]] * 2, (0.5, 0.5)
    else:
        a, b, m = x
        slopes = [4.0 * m - 3.0 * a - b, a + 3.0 * b - 4.0 * m, b - a]
        parts = (1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0)
    shares: list[tuple[Ints, Floats, Floats]] = []
    for k, (slope, part) in enumerate(zip(slopes, parts, strict=True)):
        across = np.stack((slope[:, 1], -slope[:, 0]), axis=1) * part
        shares.append((edges[:, k], np.linalg.norm(slope, axis=1) * part, across))
    return shares


def patch_rows(mesh: Mesh, chosen: Chosen) -> tuple[Floats, Floats]:
    """Return the place of a patch and its rows (2 or 3, 2 n) over all nodes.

    A patch of one node has no rotation.
    """
    s, w = mesh.nodes[chosen.nodes], chosen.weights / chosen.weights.sum()
    center = w @ s
    arms = s - center
    rows = np.zeros((3, len(mesh.nodes), 2))
    rows[0, chosen.nodes, 0] = w
    rows[1, chosen.nodes, 1] = w
    inertia = float(w @ (arms**2).sum(axis=1))
    if len(chosen.nodes) == 1:
        return center, rows[:2].reshape(2, -1)
    rows[2, chosen.nodes, 0] = -w * arms[:, 1] / inertia
    rows[2, chosen.nodes, 1] = w * arms[:, 0] / inertia
    return center, rows.reshape(3, -1)


def point_rows(mesh: Mesh, name: str, place: Point) -> Floats:
    """Return the rows (2, 2 n) of the displacement of a place in the mesh."""
    target = np.array(place, dtype=np.float64)
    cell, local = _locate(mesh, name, target)
    basis = mesh.basis(local[:, None])
    values = np.array(
        [np.broadcast_to(f[0], basis.dx.shape)[cell, 0] for f in basis.basis]
    )
    # A place at a node is that node alone.
    values[np.abs(values) < ROUND_OFF] = 0.0
    rows = np.zeros((2, len(mesh.nodes), 2))
    rows[0, mesh.cells[cell], 0] = values
    rows[1, mesh.cells[cell], 1] = values
    return rows.reshape(2, -1)


def label_of(name: str) -> str:
    """Return what a message calls a place: a point, unless its name says more."""
    return f"points['{name}']" if name.isidentifier() else name


def shares_at(mesh: Mesh, name: str, place: Point) -> tuple[Ints, Floats]:
    """Return nodes whose values give that of a place, and their shares."""
    row = point_rows(mesh, name, place)[0, ::2]
    used = np.flatnonzero(row)
    return used, row[used]


def _locate(mesh: Mesh, name: str, target: Floats) -> tuple[int, Floats]:
    """Return the cell that holds a place, and the place in the cell's own axes."""
    x = mesh.nodes[mesh.cells]
    low, high = x.min(axis=1), x.max(axis=1)
    slack = 0.1 * (high - low)
    near = np.all((target >= low - slack) & (target <= high + slack), axis=1)
    start = 1.0 / 3.0 if mesh.n_corner == 3 else 0.5
    mapping = mesh.basis(np.full((2, 1), start)).mapping
    for cell in np.flatnonzero(near):
        tind = np.array([cell])
        local: Floats = np.full(2, start)
        for _ in range(20):  # Newton; one step where the cell is straight
            at = mapping.F(local[:, None, None], tind)[:, 0, 0]
            slope = mapping.DF(local[:, None, None], tind)[:, :, 0, 0]
            step = np.asarray(np.linalg.solve(slope, target - at), np.float64)
            local = local + step
            if np.abs(step).max() < 1e-13:
                break
        top = local.sum() if mesh.n_corner == 3 else local.max()
        if local.min() >= -TOUCHING and top <= 1.0 + TOUCHING:
            return int(cell), local
    away = np.linalg.norm(mesh.nodes - target, axis=1)
    k = int(np.argmin(away))
    x0, y0 = mesh.nodes[k]
    raise ModelError(
        f"{label_of(name)} = {show(tuple(target.tolist()))}; outside the mesh, whose "
        f"nearest node is at ({x0:.6g}, {y0:.6g}) m"
    )
