"""An elastic block condensed to the nodes of its two faces, held at its pin.

A rectangle of triangles of order 1, or any mesh with two straight faces along the
guide; the nodes around its middle hold the frame, their mean displacement and rotation
being zero, so that all that is applied passes through them. What is left of the body is
what its faces give along their normals under forces on the faces: along the normals,
and along the guide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nonsmooth.elements.joints import ElasticBlock
from nonsmooth.elements.materials import find_material
from nonsmooth.elements.meshes import MeshShape, Patch
from nonsmooth.elements.shapes import Point
from nonsmooth.errors import ModelError, show
from nonsmooth.fem.mesh import Floats, Ints, Mesh

# Of a pitch, by which round-off may move a node.
_NEAR = 1.01
# Of a mesh's extent, by which a face may be bent or off its place.
STRAIGHT = 1e-6


@dataclass(frozen=True, eq=False)
class Faces:
    """The n nodes of both faces: the lower one, then the upper, both along +x."""

    places: Floats  # (n), m, along the guide
    sides: Floats  # (n), +1 where the guide pushes up, -1 where it pushes down
    weights: Floats  # (n), m, length of face of each
    stiffness: float  # N/m, E times thickness
    give: Floats  # (n, n), of gaps under normal forces, times that stiffness
    lean: Floats  # (n, n), of gaps under equal forces along -x, times that stiffness


def grid(length: float, height: float, cells: tuple[int, int]) -> Mesh:
    """Return a rectangle about its middle, each cell cut by the diagonal towards it.

    So left and right mirror each other where the number of cells is even, likewise
    below and above.
    """
    nx, ny = cells
    x = np.linspace(-0.5 * length, 0.5 * length, nx + 1)
    y = np.linspace(-0.5 * height, 0.5 * height, ny + 1)
    nodes = np.stack(np.meshgrid(x, y, indexing="xy"), axis=-1).reshape(-1, 2)
    ids = np.arange((nx + 1) * (ny + 1)).reshape(ny + 1, nx + 1)
    a, b, c, d = ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]
    is_left = 2 * np.arange(nx) + 1 < nx
    is_low = 2 * np.arange(ny) + 1 < ny
    is_rising = (is_left[None, :] == is_low[:, None])[..., None, None]
    rising = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=2)
    falling = np.stack([np.stack([a, b, d], -1), np.stack([b, c, d], -1)], axis=2)
    triangles = np.where(is_rising, rising, falling).reshape(-1, 3)
    faces = {"bottom": ids[0], "right": ids[:, -1]}
    faces |= {"top": ids[-1, ::-1], "left": ids[::-1, 0]}
    edges = {name: _edges(line) for name, line in faces.items()}
    edges["outline"] = np.concatenate([*edges.values()])
    return Mesh(nodes, triangles.astype(np.int64), "triangle", 1, edges)


def _edges(line: Ints) -> Ints:
    return np.stack([line[:-1], line[1:]], axis=1)


@dataclass(frozen=True, eq=False)
class Laid:
    """A block's mesh about its middle, in the guide's axes, and its faces' nodes."""

    mesh: Mesh
    nodes: Ints  # (n), of the faces: the lower one, then the upper, both along +x
    sides: Floats  # (n)
    weights: Floats  # (n), m, length of face of each
    pitch: Floats  # (2), m, of the cells around the middle

    @property
    def size(self) -> tuple[float, float]:
        """Length and height between the faces, m."""
        x, y = self.mesh.nodes[self.nodes].T
        return 2.0 * float(np.max(np.abs(x))), float(y[-1] - y[0])


def lay(length: float, height: float, block: ElasticBlock) -> Laid:
    """Return the mesh of a block: its own, or a rectangle of given size."""
    if block.mesh is not None:
        return lay_mesh(block.mesh, block.faces, block.middle, block.turn)
    return _faced(
        grid(length, height, block.cells),
        ("bottom", "top"),
        np.array([length, height]) / block.cells,
    )


def lay_mesh(
    shape: MeshShape, faces: tuple[str, str], middle: Point, turn: float
) -> Laid:
    """Return a mesh with two straight faces, alike far from its middle."""
    from nonsmooth.fem.meshing import build

    mesh = build(shape, base=getattr(shape, "folder", "."))
    c, s = math.cos(turn), math.sin(turn)
    away = mesh.nodes - np.asarray(middle, float)
    mesh = replace(mesh, nodes=away @ np.array([[c, -s], [s, c]]))
    corners = mesh.cells[:, : mesh.n_corner]
    # The cells at the node next to the middle.
    near = int(np.argmin(np.linalg.norm(mesh.nodes, axis=1)))
    around = mesh.nodes[corners[np.any(mesh.cells == near, axis=1)]]
    pitch = np.max(np.abs(around - np.roll(around, 1, axis=1)), axis=(0, 1))
    return _faced(mesh, faces, pitch + np.abs(mesh.nodes[near]))


def _faced(mesh: Mesh, names: tuple[str, str], pitch: Floats) -> Laid:
    """Find the nodes of two faces; refuse faces that do not lie in a guide."""
    from nonsmooth.fem.patches import choose

    extent = float(np.max(np.ptp(mesh.nodes, axis=0)))
    found: list[tuple[float, Ints, Floats]] = []
    for name in names:
        chosen = choose(mesh, name, Patch(boundary=name))
        x, y = mesh.nodes[chosen.nodes].T
        if np.ptp(y) > STRAIGHT * extent:
            raise ModelError(
                f"boundary '{name}' is not straight along the guide: it is "
                f"{np.ptp(y):.3g} m high across it"
            )
        order = np.argsort(x)
        found.append((float(y[0]), chosen.nodes[order], chosen.weights[order]))
    (low, below, first), (high, above, second) = sorted(found, key=lambda one: one[0])
    if not low < 0.0 < high or abs(low + high) > STRAIGHT * extent:
        raise ModelError(
            f"boundaries {show(names)} are at {low:.6g} and {high:.6g} m across the "
            "guide from b; give b a point in the middle between two faces"
        )
    sides = np.repeat([1.0, -1.0], [len(below), len(above)])
    weights = np.concatenate([first, second])
    return Laid(mesh, np.concatenate([below, above]), sides, weights, pitch)


@dataclass(frozen=True, eq=False)
class Pressed:
    """A block held at its pin, under unit forces on the n nodes of its faces."""

    laid: Laid
    stiffness: float  # N/m, E times thickness
    # (2 n_node, 2 n) displacements x, y of each node, times that stiffness: under
    # normal forces, then under forces along -x.
    moves: Floats


def press(length: float, height: float, block: ElasticBlock) -> Pressed:
    """Return how a block of given length and height deforms."""
    from scipy import sparse
    from scipy.sparse import linalg as stubs

    from nonsmooth.fem.assembly import discretise

    linalg: Any = stubs  # they do not know the types of results
    laid = lay(length, height, block)
    mesh, faces = laid.mesh, laid.nodes
    body = discretise(
        mesh, material=block.material, thickness=block.thickness, plane=block.plane
    )
    stiff = find_material(block.material).youngs_modulus * block.thickness
    pin = hold(mesh.nodes, laid.pitch)
    K = sparse.csc_array(body.stiffness) / stiff
    # The stubs do not know the type of sparse blocks.
    blocks: Any = [[K, pin], [pin.T, None]]
    whole: Any = sparse.block_array(blocks, format="csc")
    n = len(faces)
    loads = np.zeros((whole.shape[0], 2 * n))
    k = np.arange(n)
    loads[2 * faces + 1, k] = laid.sides
    loads[2 * faces, n + k] = -1.0
    moves = np.asarray(linalg.splu(whole).solve(loads)[: 2 * len(mesh.nodes)], float)
    return Pressed(laid, stiff, moves)


def condense(length: float, height: float, block: ElasticBlock) -> Faces:
    """Return what the faces of a block of given length and height give."""
    one = press(length, height, block)
    laid, stiff = one.laid, one.stiffness
    n = len(laid.nodes)
    found = one.moves[2 * laid.nodes + 1] * laid.sides[:, None]
    give = 0.5 * (found[:, :n] + found[:, :n].T)
    if block.penalty is not None:
        give += np.diag(stiff / (block.penalty * laid.weights))
    places = laid.mesh.nodes[laid.nodes, 0]
    return Faces(places, laid.sides, laid.weights, stiff, give, found[:, n:])


def shapes(one: Pressed) -> Floats:
    """Return displacements of nodes, (n_node, 2, 2 n + 2).

    Under unit normal forces of the guide on the n nodes of both faces, under unit
    forces along the guide, and by place and angle (w, rho) of the frame across it.
    """
    n, nodes = len(one.laid.nodes), one.laid.mesh.nodes
    found = np.zeros((len(nodes), 2, 2 * n + 2))
    moves = one.moves.reshape(len(nodes), 2, 2 * n) / one.stiffness
    found[:, :, :n], found[:, :, n : 2 * n] = moves[..., :n], -moves[..., n:]
    found[:, 1, -2] = 1.0
    found[:, 0, -1], found[:, 1, -1] = -nodes[:, 1], nodes[:, 0]
    return found


def hold(nodes: Floats, pitch: Floats) -> Floats:
    """Return how forces and a couple act on the nodes within a cell of the middle.

    The couple is one half of forces along x, one half of forces along y: as of a round
    pin. Otherwise it would shear the block as well, however fine the mesh is.
    """
    held = np.flatnonzero(np.all(np.abs(nodes) <= _NEAR * pitch, axis=1))
    x, y = (nodes[held] - nodes[held].mean(axis=0)).T
    forces = np.zeros((2 * len(nodes), 3))
    forces[2 * held, 0] = 1.0
    forces[2 * held + 1, 1] = 1.0
    forces[2 * held, 2] = -y * pitch.min() / np.sum(y * y)
    forces[2 * held + 1, 2] = x * pitch.min() / np.sum(x * x)
    return forces
