"""Flexible bodies as pictures draw them: a mesh that deforms, coloured by a field.

    u = sum over modes of shape eta        displacement of each node, in its frame

A mesh for contact has most of its nodes in a corner that no picture resolves: they are
thinned out, evenly where they are dense and not at all elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.flexible import FlexibleBody, Reduced
from nonsmooth.elements.joints import ElasticBlock
from nonsmooth.elements.materials import find_material

if TYPE_CHECKING:
    from nonsmooth.pack import System

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Nodes of a drawn mesh. Boundaries keep their corners: where they turn by more than
# this, rad.
MOST_NODES, SHARP = 900, 0.5
# Rounds in which the distance of drawn nodes is found.
N_ROUND = 12
# Errors of condensed motion beside its largest, and components at most.
CLOSE, MOST_COMPONENTS = 1.5e-2, 24
# Instants at which the range of a field is looked at.
MOST_SEEN = 400
# Deformation that is seen as it is, beside the picture; else it is enlarged to this.
SEEN, ENLARGED = 0.01, 0.04
# Below this part of the picture it is what a start leaves of round-off.
NO_DEFORMATION = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Face:
    """A line of nodes that something presses on; the field "pressure" tells how."""

    nodes: Ints  # in order
    normal: tuple[float, float]  # outwards, in the body's frame
    reach: float  # m, as far as the largest pressure is drawn


@dataclass(frozen=True, kw_only=True, eq=False)
class Skin:
    """The drawn mesh of a body, in its frame; n nodes."""

    ids: Ints  # (n) nodes of the body's mesh
    nodes: Floats  # (n, 2) m, undeformed
    cells: tuple[Ints, ...]  # corners of each cell, counter-clockwise
    rims: tuple[Ints, ...]  # closed boundaries
    shapes: Floats  # (n, 2, n_mode)
    fields: dict[str, Field]  # that it can be coloured by
    sites: dict[str, int]  # node nearest to a point or patch
    n_node: int  # of the body's mesh
    faces: tuple[Face, ...] = ()
    is_wave: bool = False  # a wave that travels needs as many components as it has

    def moved(self, eta: Floats, scale: float = 1.0) -> Floats:
        """Return the nodes at coordinates (..., n_mode) of the modes, (..., n, 2)."""
        return self.nodes + scale * _by_modes(self.shapes, eta)

    def outline(self, eta: Floats, scale: float = 1.0) -> Floats:
        """Return what `moved` does of the nodes on the boundary alone."""
        rim = np.unique(np.concatenate(self.rims))
        return self.nodes[rim] + scale * _by_modes(self.shapes[rim], eta)

    @property
    def corners(self) -> Floats:
        """Ends of the faces, (m, 2), undeformed."""
        return self.nodes[[k for f in self.faces for k in (f.nodes[0], f.nodes[-1])]]

    @property
    def triangles(self) -> Ints:
        """All cells as triangles, (m, 3)."""
        fans = [
            (cell[0], cell[k], cell[k + 1])
            for cell in self.cells
            for k in range(1, len(cell) - 1)
        ]
        return np.array(fans, dtype=np.int64).reshape(-1, 3)

    @property
    def sides(self) -> Ints:
        """Sides of all cells, each once, (m, 2)."""
        pairs = [np.stack([cell, np.roll(cell, -1)], axis=1) for cell in self.cells]
        return np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Field:
    """A quantity of each node, from one, two or three components by the modes.

    One is the value; two are a vector, of which the size is shown; three are xx, yy and
    xy of a stress, of which the equivalent stress of von Mises is shown.
    """

    name: str
    unit: str
    shapes: Floats  # (n, n_component, n_mode)
    across: float = 0.0  # stress zz beside xx + yy: nu in plane strain

    def at(self, eta: Floats) -> Floats:
        """Return the values of nodes at coordinates (..., n_mode), (..., n)."""
        parts = np.moveaxis(_by_modes(self.shapes, eta), -1, 0)
        if len(parts) == 1:
            return parts[0]
        if len(parts) == 2:
            return np.hypot(*parts)
        x, y, xy = parts
        z = self.across * (x + y)
        square = 0.5 * ((x - y) ** 2 + (y - z) ** 2 + (z - x) ** 2) + 3.0 * xy**2
        return np.sqrt(square)


def _by_modes(shapes: Floats, eta: Floats) -> Floats:
    """Return what shapes (n, c, n_mode) make at coordinates (..., n_mode)."""
    n, c, k = shapes.shape
    return (eta @ shapes.reshape(n * c, k).T).reshape(*eta.shape[:-1], n, c)


def skins_of(system: System) -> dict[str, Skin]:
    """Return the meshes of all flexible bodies that have one."""
    found: dict[str, Skin] = {}
    for name, reduced in system.flexible.items():
        body: Any = system.model.element(name)
        if reduced.mesh is not None:
            found[name] = skin_of(body, reduced)
    return found


def eta_of(values: Mapping[str, Floats], name: str, n: int) -> Floats:
    """Return the coordinates of the modes of a body from its columns, (n_t, n)."""
    if n == 0:
        return np.zeros((len(values[f"{name}.x"]), 0))
    return np.column_stack([values[f"{name}.eta.{j}"] for j in range(n)])


def enlargement(largest: float, extent: float) -> float:
    """Return 1 for a deformation that can be seen, else a round factor for it."""
    if not NO_DEFORMATION * extent < largest < SEEN * extent:
        return 1.0
    factor = ENLARGED * extent / largest
    ten = 10.0 ** np.floor(np.log10(factor))
    return float(max(step * ten for step in (1.0, 2.0, 5.0) if step * ten <= factor))


# ---- fewer nodes -----------------------------------------------------------------


def skin_of(body: FlexibleBody | ElasticBlock, reduced: Reduced) -> Skin:
    """Return the drawn mesh of a reduced body."""
    mesh, corners = reduced.mesh, reduced.mesh.cells[:, : reduced.mesh.n_corner]
    edges: Ints = mesh.edges["outline"]
    rims = _rims(edges)
    border = np.unique(np.concatenate(rims))
    places = {name: np.asarray(site.place) for name, site in reduced.sites.items()}
    near = {k: _nearest(mesh.nodes[border], v[None]) for k, v in places.items()}
    needed = np.array([border[k[0]] for k in near.values()], dtype=np.int64)
    sharp = np.concatenate([_sharp(mesh.nodes, rim) for rim in rims])
    inner = np.setdiff1d(corners, border)
    first = np.unique([*needed, *sharp]).astype(np.int64)
    # Middles of sides come last: only a coarse boundary needs them to be round.
    middles = np.setdiff1d(border, corners)
    ids = _chosen(mesh.nodes, first, (np.setdiff1d(border, middles), inner, middles))
    place = np.full(len(mesh.nodes), -1, dtype=np.int64)
    place[ids] = np.arange(len(ids))
    on_border = np.flatnonzero(np.isin(ids, border))
    for some, among in ((border, on_border), (inner, np.arange(len(ids)))):
        left = some[place[some] < 0]
        place[left] = among[_nearest(mesh.nodes[ids[among]], mesh.nodes[left])]
    nodes = mesh.nodes[ids] - np.asarray(reduced.centre)
    shapes = reduced.shapes[ids]
    stress = Field(
        name="von Mises stress",
        unit="Pa",
        shapes=_stress(body, mesh, reduced.shapes)[ids],
        across=find_material(body.material).poissons_ratio
        if body.plane == "strain"
        else 0.0,
    )
    displacement = Field(name="displacement", unit="m", shapes=shapes)
    return Skin(
        ids=ids,
        nodes=nodes,
        cells=tuple(_cells(place[corners], nodes)),
        rims=tuple(_without_repeats(place[rim]) for rim in rims),
        shapes=shapes,
        fields={"displacement": displacement, "von_mises": stress},
        sites={k: int(place[border[v[0]]]) for k, v in near.items()},
        n_node=len(mesh.nodes),
    )


def _rims(edges: Ints) -> list[Ints]:
    """Return the closed boundaries, with the middles of curved sides."""
    breaks = np.flatnonzero(edges[1:, 0] != edges[:-1, 1]) + 1
    loops: list[Ints] = []
    for part in np.split(edges, breaks):
        columns = part[:, [0, 2]] if part.shape[1] == 3 else part[:, :1]
        loops.append(columns.ravel())
    return loops


def _sharp(nodes: Floats, rim: Ints) -> Ints:
    """Return the corners of a boundary."""
    step = np.roll(nodes[rim], -1, axis=0) - nodes[rim]
    angle = np.arctan2(step[:, 1], step[:, 0])
    turn = np.angle(np.exp(1j * (angle - np.roll(angle, 1))))
    return rim[np.abs(turn) > SHARP]


def _chosen(nodes: Floats, first: Ints, others: Iterable[Ints]) -> Ints:
    """Return nodes that are not too close to each other; the first are all kept."""
    rest = np.concatenate([*others])
    if len(rest) <= MOST_NODES:
        return np.sort(rest)
    low, high = 0.0, float(np.ptp(nodes, axis=0).max())
    best = first
    for _ in range(N_ROUND):
        apart = 0.5 * (low + high) if low > 0.0 else high * 0.25
        kept = _apart(nodes, first, rest.tolist(), apart)
        if len(kept) > MOST_NODES:
            low = apart
        else:
            best, high = kept, apart
            if len(kept) > 0.9 * MOST_NODES:
                break
    return np.sort(best)


def _apart(nodes: Floats, first: Ints, rest: Iterable[int], apart: float) -> Ints:
    """Return the first nodes and others, each `apart` from those before it."""
    boxes: dict[tuple[int, int], list[tuple[float, float]]] = {}
    kept: list[int] = []
    is_first = set(first.tolist())
    square = apart * apart
    for k in (*first.tolist(), *rest):
        x, y = nodes[k].tolist()
        i, j = int(x // apart), int(y // apart)
        around = (
            p
            for a in (i - 1, i, i + 1)
            for b in (j - 1, j, j + 1)
            for p in boxes.get((a, b), ())
        )
        is_near = any((x - p) ** 2 + (y - q) ** 2 < square for p, q in around)
        if is_near and (k not in is_first or k in kept):
            continue
        kept.append(k)
        boxes.setdefault((i, j), []).append((x, y))
        if len(kept) > MOST_NODES:
            break
    return np.array(kept, dtype=np.int64)


def _nearest(nodes: Floats, places: Floats) -> Ints:
    """Return which node is nearest to each place."""
    found: list[Ints] = []
    for begin in range(0, len(places), 1000):
        away = places[begin : begin + 1000, None] - nodes
        found.append(np.argmin(np.sum(away**2, axis=2), axis=1))
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def _cells(cells: Ints, nodes: Floats) -> Iterable[Ints]:
    """Yield what is left of cells whose corners were merged."""
    seen: set[tuple[int, ...]] = set()
    for cell in cells:
        left = _without_repeats(cell)
        key = tuple(sorted(left.tolist()))
        if len(set(key)) < 3 or len(set(key)) < len(left) or key in seen:
            continue
        x, y = nodes[left].T
        if np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)) > 0.0:
            seen.add(key)
            yield left


def _without_repeats(loop: Ints) -> Ints:
    return loop[loop != np.roll(loop, 1)]


# ---- stress ----------------------------------------------------------------------


def _stress(body: FlexibleBody | ElasticBlock, mesh: Any, shapes: Floats) -> Floats:
    """Return xx, yy and xy of the stress of each mode, (n, 3, n_mode).

    Means over the cells that meet in a corner; on the middle of a side, that of its
    ends.
    """
    material = find_material(body.material)
    nu = material.poissons_ratio
    shear = material.youngs_modulus / (2.0 * (1.0 + nu))
    ratio = nu / (1.0 - nu) if body.plane == "stress" else nu / (1.0 - 2.0 * nu)
    total = np.zeros((len(mesh.nodes), 3, shapes.shape[2]))
    count = np.zeros(len(mesh.nodes))
    places: Floats = mesh.nodes[mesh.cells]
    moves: Floats = shapes[mesh.cells]
    for corner, slope in enumerate(_slopes(mesh.cell, mesh.order)):
        # dN/dx from dN/dxi: the columns of J are dx/dxi.
        jacobian: Floats = np.einsum("eia,ib->eab", places, slope)
        gradient = np.einsum("ib,eba->eia", slope, np.linalg.inv(jacobian))
        d = np.einsum("eick,eia->ecak", moves, gradient)
        x, y, xy = d[:, 0, 0], d[:, 1, 1], d[:, 0, 1] + d[:, 1, 0]
        even = 2.0 * shear * ratio * (x + y)
        at = mesh.cells[:, corner]
        parts = [even + 2.0 * shear * x, even + 2.0 * shear * y, shear * xy]
        np.add.at(total, at, np.stack(parts, axis=1))
        np.add.at(count, at, 1.0)
    total /= np.maximum(count, 1.0)[:, None, None]
    if mesh.order == 2:
        n: int = mesh.n_corner
        k = np.arange(n)
        ends = total[mesh.cells[:, k]] + total[mesh.cells[:, (k + 1) % n]]
        total[mesh.cells[:, n + k]] = 0.5 * ends
    return total


def _slopes(cell: str, order: int) -> list[Floats]:
    """Return the slopes of shape functions at each corner, (n_local, 2)."""
    if cell == "triangle":
        turn = np.array([(-1.0, -1.0), (1.0, 0.0), (0.0, 1.0)])
        if order == 1:
            return [turn] * 3
        found: list[Floats] = []
        for k in range(3):
            at = np.eye(3)[k]
            corners = (4.0 * at - 1.0)[:, None] * turn
            sides = [
                4.0 * (turn[a] * at[b] + at[a] * turn[b])
                for a, b in ((0, 1), (1, 2), (2, 0))
            ]
            found.append(np.array([*corners, *sides]))
        return found
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    others = ((0, -1), (1, 0), (0, 1), (-1, 0), (0, 0)) if order == 2 else ()
    locals_ = (*corners, *others)
    return [
        np.array(
            [
                (
                    _line(i, x, order)[1] * _line(j, y, order)[0],
                    _line(i, x, order)[0] * _line(j, y, order)[1],
                )
                for i, j in locals_
            ]
        )
        for x, y in corners
    ]


def _line(node: int, x: float, order: int) -> tuple[float, float]:
    """Return value and slope of the shape function of a node at -1, 0 or 1."""
    if order == 1:
        return 0.5 * (1.0 + node * x), 0.5 * node
    if node == 0:
        return 1.0 - x * x, -2.0 * x
    return 0.5 * x * (x + node), x + 0.5 * node


# ---- a few components instead of many modes --------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class Condensed:
    """A motion in the few components that it needs."""

    turn: Floats  # (n_mode, k): shapes of the components from those of the modes
    coordinates: Floats  # (n_t, k)


def condense(skin: Skin, eta: Floats) -> Condensed:
    """Return the motion in components, those of the largest share first.

    Displacement and stress count alike, each beside its largest.
    """
    n = eta.shape[1]
    if n == 0:  # a body before its run
        return Condensed(turn=np.zeros((0, 0)), coordinates=np.zeros((len(eta), 0)))
    weight = np.zeros((n, n))
    # Coordinates may be of any size, those of modes and of forces.
    size = np.max(np.abs(eta), axis=0)
    size[size == 0.0] = 1.0
    eta = eta / size
    for field in skin.fields.values():
        flat = field.shapes.reshape(-1, n) * size
        peak = float(np.max(np.einsum("tk,kl,tl->t", eta, flat.T @ flat, eta)))
        weight += flat.T @ flat / peak if peak > 0.0 else 0.0
    share, axes = np.linalg.eigh(weight)
    is_used = share > 1e-14 * share[-1] if share[-1] > 0.0 else share < 0.0
    root, axes = np.sqrt(share[is_used]), axes[:, is_used]
    scaled = eta @ (axes * root)
    if scaled.shape[1] == 0:
        return Condensed(turn=np.zeros((n, 0)), coordinates=np.zeros((len(eta), 0)))
    _, vectors = np.linalg.eigh(scaled.T @ scaled)
    vectors = vectors[:, ::-1]
    coordinates = scaled @ vectors
    square = np.sum(coordinates**2, axis=1)
    kept = np.cumsum(coordinates**2, axis=1)
    missed = np.max(square[:, None] - kept, axis=0)
    # The first beyond which nothing is missed that can be seen.
    k = int(np.count_nonzero(missed > CLOSE**2 * float(square.max()))) + 1
    k = min(k, scaled.shape[1] if skin.is_wave else MOST_COMPONENTS, scaled.shape[1])
    return Condensed(
        turn=size[:, None] * ((axes / root) @ vectors[:, :k]),
        coordinates=coordinates[:, :k],
    )
