"""A mesh as a value: nodes, cells, named boundaries.

Nodes are numbered as scikit-fem numbers the unknowns of its elements: vertices first,
then, for order 2, the middles of sides, then those of quadrilaterals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ModelError, nearest, show

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Cell = Literal["triangle", "quadrilateral"]


def skfem() -> Any:
    """Return scikit-fem, or say how to get it."""
    try:
        import skfem as module
    except ImportError:
        raise ImportError(
            "flexible bodies need scikit-fem; install it with: "
            "pip install 'nonsmooth[fem]'"
        ) from None
    return module


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles or quadrilaterals of order 1 or 2.

    Attributes
    ----------
    nodes : (n, 2) array
        Places, m.
    cells : (n_cell, 3, 4, 6 or 9) array
        Nodes of each: corners counter-clockwise, middles of sides 01, 12, ..., middle.
    cell : {"triangle", "quadrilateral"}
    order : {1, 2}
    edges : dict of (n_edge, order + 1) arrays
        Edges of each named boundary in order along it, the body on their left: start,
        end and, with order 2, middle. `outline` is the whole boundary.
    """

    nodes: Floats
    cells: Ints
    cell: Cell
    order: Literal[1, 2]
    edges: dict[str, Ints]

    @property
    def n_corner(self) -> int:
        """Corners of a cell."""
        return 3 if self.cell == "triangle" else 4

    def boundary(self, name: str) -> Ints:
        """Return the edges of a named boundary."""
        if name not in self.edges:
            valid = nearest(name, sorted(self.edges))
            raise ModelError(f"mesh: no boundary {show(name)}; {valid}")
        return self.edges[name]

    def native(self) -> Any:
        """Return the mesh of scikit-fem, with the same numbers of nodes."""
        points = np.ascontiguousarray(self.nodes.T)
        corners = np.ascontiguousarray(self.cells[:, : self.n_corner].T)
        return _kinds(self.cell, self.order)[0](points, corners, sort_t=False)

    def basis(self, points: Floats | None = None) -> Any:
        """Return scikit-fem's shape functions, at the points of integration.

        These integrate the mass of cells with straight sides exactly.
        """
        mesh, element = self.native(), _kinds(self.cell, self.order)[1]()
        if points is not None:
            rule = (points, np.ones(points.shape[1]))
            return skfem().Basis(mesh, element, quadrature=rule)
        return skfem().Basis(mesh, element, intorder=2 * self.order)


def _kinds(cell: Cell, order: int) -> tuple[Any, Any]:
    """Return the classes of mesh and scalar element."""
    fem = skfem()
    return {
        ("triangle", 1): (fem.MeshTri1, fem.ElementTriP1),
        ("triangle", 2): (fem.MeshTri2, fem.ElementTriP2),
        ("quadrilateral", 1): (fem.MeshQuad1, fem.ElementQuad1),
        ("quadrilateral", 2): (fem.MeshQuad2, fem.ElementQuad2),
    }[cell, order]


def rim(cells: Ints, n_corner: int, order: int) -> Ints:
    """Return the edges that belong to one cell only: start, end and middle."""
    k = np.arange(n_corner)
    columns = [cells[:, k], cells[:, (k + 1) % n_corner]]
    if order == 2:
        columns.append(cells[:, n_corner : 2 * n_corner])
    edges = np.stack(columns, axis=2).reshape(-1, order + 1)
    keys = np.sort(edges[:, :2], axis=1)
    _, first, counts = np.unique(keys, axis=0, return_index=True, return_counts=True)
    return edges[np.sort(first[counts == 1])]


def chained(edges: Ints) -> Ints:
    """Return edges in order along the boundary; pieces follow each other."""
    by_start = {int(edge[0]): k for k, edge in enumerate(edges)}
    starts = set(by_start) - {int(edge[1]) for edge in edges}
    order: list[int] = []
    left = set(range(len(edges)))
    while left:
        here = min(starts, default=None)
        k = by_start[here] if here is not None else min(left)
        starts.discard(here if here is not None else -1)
        while k in left:
            left.discard(k)
            order.append(k)
            k = by_start.get(int(edges[k, 1]), -1)
    return edges[order]


def make(
    points: Floats,
    corners: Ints,
    order: Literal[1, 2],
    names: dict[str, Ints],
    middles: Floats | None = None,
) -> Mesh:
    """Make a mesh from its vertices and cells.

    Parameters
    ----------
    points : (n, 2) array
        Vertices.
    corners : (n_cell, 3 or 4) array
    order : {1, 2}
    names : dict of (n_edge, 2) arrays
        Vertices of the edges of each named boundary, in any direction.
    middles : (n_cell, 3 or 5, 2) array, optional
        Nodes of order 2 beside the vertices, where they are not halfway.
    """
    n = corners.shape[1]
    cell: Cell = "triangle" if n == 3 else "quadrilateral"
    nodes, cells = points, corners
    _refuse_loose(points, corners)
    if order == 2:
        plain = _kinds(cell, 1)[0](points.T.copy(), corners.T.copy(), sort_t=False)
        native = _kinds(cell, 2)[0].from_mesh(plain)
        nodes = np.ascontiguousarray(native.doflocs.T)
        dofs = skfem().Dofs(native, _kinds(cell, 2)[1]()).element_dofs
        cells = np.ascontiguousarray(dofs.T.astype(np.int64))
        if middles is not None:
            nodes[cells[:, n:]] = middles
    outline = rim(cells, n, order)
    place = {(min(a, b), max(a, b)): k for k, (a, b) in enumerate(outline[:, :2])}
    edges = {"outline": chained(outline)}
    for name, pairs in names.items():
        try:
            found = [place[min(a, b), max(a, b)] for a, b in pairs]
        except KeyError:
            why = "is not all on the outer side of elements"
            raise ModelError(f"mesh: boundary {show(name)} {why}") from None
        edges[name] = chained(outline[found])
    mesh = Mesh(nodes, cells, cell, order, edges)
    check(mesh)
    return mesh


def _refuse_loose(points: Floats, corners: Ints) -> None:
    loose = np.setdiff1d(np.arange(len(points)), corners)
    if loose.size:
        raise ModelError(f"mesh: node {loose[0]} belongs to no element; leave it out")


def check(mesh: Mesh) -> None:
    """Refuse elements that are inverted, or have no area somewhere."""
    det = _determinants(mesh)
    x = mesh.nodes[mesh.cells]
    spans = (x.max(axis=1) - x.min(axis=1)).max(axis=1)
    # Beside the square of its extent: a sliver a million times longer than wide.
    bad = np.flatnonzero(~(det.min(axis=1) > 1e-6 * spans**2))
    if bad.size:
        k = int(bad[0])
        cx, cy = x[k].mean(axis=0)
        worst = float(det[k].min() / max(spans[k] ** 2, 1e-300))
        why = "is inverted" if worst < -1e-6 else "has no area"
        if det[k].max() < 0.0:
            why = "is inverted: its nodes run clockwise"
        more = f" (and {bad.size - 1} more)" if bad.size > 1 else ""
        raise ModelError(f"mesh: element {k} at ({cx:.6g}, {cy:.6g}) m {why}{more}")


def _determinants(mesh: Mesh) -> Floats:
    """Return how much each cell is stretched, where it is integrated and at corners."""
    element = _kinds(mesh.cell, mesh.order)[1]()
    inside: Floats = skfem().quadrature.get_quadrature(element, 2 * mesh.order)[0]
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=np.float64)
    chosen = corners[[0, 1, 3]] if mesh.n_corner == 3 else corners
    points = np.concatenate((inside, chosen.T), axis=1)
    slopes = [element.lbasis(points, k)[1] for k in range(mesh.cells.shape[1])]
    jacobian = np.einsum(
        "eia,ibq->eqab", mesh.nodes[mesh.cells], np.array(slopes), optimize=True
    )
    return np.linalg.det(jacobian)
