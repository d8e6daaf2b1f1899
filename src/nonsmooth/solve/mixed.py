"""Bodies of scheme `appended`: floating frame, modes, and nodes where they touch.

    u = Phi eta + P N d         P: without rigid motion, as mean axes want it

N are the linear functions of nodes around the patch, the corners of triangles. They are
chosen from the nodes of the mesh, so far apart that the wanted explicit step is stable.

References
----------
[HongLiu2012]_ section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import Delaunay, cKDTree

from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.materials import find_material
from nonsmooth.pack import System

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NODES = 47  # around the patch
# Part of the critical step that explicit steps may take.
SAFETY = 0.9
# Mass of a combination of shapes, beside theirs, that is round-off.
MASSLESS = 1e-9
# Nodes are apart by so many ways of a wave in a step, and by a factor more until a step
# is stable; so often at most.
CLOSEST, WIDER, TRIES = 2.0, 1.1, 20
_QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])


def _turn(angle: float) -> Floats:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


@dataclass
class Part:
    """A body with mass: where its coordinates are, its matrices, what moves places."""

    name: str
    at: slice  # of its coordinates
    mass: float
    inertia: float
    M: Floats  # (n, n) of its shapes
    K: Floats
    b: Floats
    C: Floats
    places: dict[str, Floats]  # (2), in its frame
    shapes: dict[str, Floats] = field(default_factory=dict[str, Floats])  # (2, n)
    nodes: list[str] = field(default_factory=list[str])  # that may touch
    seen: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # eta of the model

    @property
    def n_eta(self) -> int:
        """Coordinates that the model gives its shapes."""
        return len(self.seen)

    @property
    def named(self) -> list[str]:
        """Places with names of the model."""
        return [name for name in self.places if name and not name.startswith("#")]

    def motion(self, q: Floats, v: Floats, name: str) -> tuple[Floats, ...]:
        """Return place, Jacobian (2, 3 + n) and velocity of a place."""
        x, rate = q[self.at], v[self.at]
        R = _turn(float(x[2]))
        shape = self.shapes.get(name, np.zeros((2, len(self.b))))
        arm = R @ (self.places[name] + shape @ x[3:])
        J = np.concatenate([np.eye(2), (_QUARTER @ arm)[:, None], R @ shape], axis=1)
        return x[:2] + arm, J, J @ rate

    def add(self, q: Floats, v: Floats, g: Floats, M: Floats, f: Floats) -> None:
        """Add mass and forces: inertia w, gravity f_o, elasticity f_u."""
        x, rate, a = q[self.at], v[self.at], self.at.start
        xi, xi_t, omega = x[3:], rate[3:], float(rate[2])
        e, h = self.b + self.M @ xi, self.C.T @ xi
        M[a, a] = M[a + 1, a + 1] = self.mass
        M[a + 2, a + 2] = self.inertia + float(2.0 * self.b @ xi + xi @ self.M @ xi)
        tail = slice(a + 3, self.at.stop)
        M[a + 2, tail] = M[tail, a + 2] = h
        M[tail, tail] = self.M
        f[a : a + 2] = self.mass * g
        f[a + 2] = -2.0 * omega * float(e @ xi_t)
        f[tail] = omega**2 * e + 2.0 * omega * (self.C @ xi_t) - self.K @ xi

    def potential(self, one: Floats, two: Floats, g: Floats) -> float:
        """Return the potential half-way of a step from one place to another.

        K is taken between its ends, as central differences keep it.
        """
        a, b = one[self.at], two[self.at]
        elastic = 0.5 * float(a[3:] @ self.K @ b[3:])
        return elastic - 0.5 * self.mass * float(g @ (a[:2] + b[:2]))


def rigid_part(body: RigidBody, first: int) -> Part:
    """Return a rigid body, with three coordinates."""
    none = np.zeros((0, 0))
    places = {name: np.array(p, dtype=float) for name, p in body.points.items()}
    return Part(
        name=body.name,
        at=slice(first, first + 3),
        mass=body.mass,
        inertia=body.inertia or 0.0,
        M=none,
        K=none,
        b=np.zeros(0),
        C=none,
        places=places | {"": np.zeros(2)},
    )


def flexible_part(
    system: System, body: FlexibleBody, first: int, patch: str, step: float
) -> Part:
    """Return a body with its modes, and nodes around a patch if it has one."""
    from nonsmooth.fem.assembly import discretise
    from nonsmooth.fem.patches import choose, patch_rows, point_rows

    assert body.modes != "full"
    assert body.plane != "axisymmetric"
    own: Any = system.flexible[body.name]
    metal = find_material(body.material)
    disc: Any = discretise(
        own.mesh, material=metal, thickness=body.thickness, plane=body.plane
    )
    mass, stiffness = disc.mass(lumped=body.lumped), disc.stiffness
    nodes: Floats = np.asarray(own.mesh.nodes)
    s: Floats = (nodes - np.asarray(own.centre)).ravel()
    rigid = np.zeros((len(s), 3))
    rigid[::2, 0] = rigid[1::2, 1] = 1.0
    rigid[::2, 2], rigid[1::2, 2] = -s[1::2], s[::2]
    rigid /= np.sqrt(np.einsum("ij,ij->j", rigid, mass @ rigid))
    shapes = np.asarray(own.shapes).reshape(len(s), -1)
    V, touching = shapes[:, : body.modes], np.zeros(0, dtype=np.int64)
    if patch:
        middle = nodes[choose(own.mesh, patch, body.patches[patch]).nodes].mean(axis=0)
        stiff = metal.youngs_modulus / (1.0 - metal.poissons_ratio**2)
        apart = CLOSEST * step * float(np.sqrt(stiff / metal.density))
        zone, E, still = _stable(
            own.mesh, middle, apart, (mass, stiffness, rigid), step
        )
        V = np.concatenate([V, E.toarray() - rigid @ still.T], axis=1)
        touching = np.intersect1d(zone, np.unique(own.mesh.edges["outline"]))
    MV = mass @ V
    T = _independent(V.T @ MV)
    if T.shape[1] < len(T):
        V, MV = V @ T, MV @ T
    one = V[::2].T @ MV[1::2]
    part = Part(
        name=body.name,
        at=slice(first, first + 3 + V.shape[1]),
        mass=own.mass,
        inertia=own.inertia,
        M=V.T @ MV,
        K=V.T @ (stiffness @ V),
        b=MV.T @ s,
        C=one - one.T,
        places={"": np.zeros(2)},
        seen=shapes.T @ MV,
    )
    for name, place in body.points.items():
        part.places[name] = np.array(place) - np.asarray(own.centre)
        part.shapes[name] = point_rows(own.mesh, name, place) @ V
    for name, value in body.patches.items():
        where, rows = patch_rows(own.mesh, choose(own.mesh, name, value))
        part.places[name] = where - np.asarray(own.centre)
        part.shapes[name] = rows[:2] @ V
    for i in touching.tolist():
        name = f"#{i}"
        part.places[name] = s[2 * i : 2 * i + 2]
        part.shapes[name] = V[2 * i : 2 * i + 2]
        part.nodes.append(name)
    return part


def _stable(
    mesh: Any, middle: Floats, apart: float, of: tuple[Any, Any, Floats], step: float
) -> tuple[Ints, Any, Floats]:
    """Return nodes around a place that allow a step, or the widest ones.

    Their functions, and what rigid motion these have.
    """
    mass, stiffness, rigid = of
    for _ in range(TRIES):
        zone, E = _zone(mesh, middle, apart)
        still = (mass @ E).T @ rigid
        M = (E.T @ mass @ E).toarray() - still @ still.T
        if critical(M, (E.T @ stiffness @ E).toarray()) >= step:
            break
        apart *= WIDER
    return zone, E, still  # pyright: ignore[reportPossiblyUnboundVariable]


def critical(M: Floats, K: Floats) -> float:
    """Return the largest stable step of central differences, s, less a margin."""
    T = _independent(M)
    top = float(np.linalg.eigvalsh(T.T @ K @ T)[-1])
    return SAFETY * 2.0 / float(np.sqrt(top))


def _independent(M: Floats) -> Floats:
    """Return combinations of shapes with unit mass, without those that have none.

    Where nodes fill a whole body, some move it as a rigid one, or as its modes do.
    """
    unit = 1.0 / np.sqrt(np.diag(M))
    w, U = np.linalg.eigh(M * np.outer(unit, unit))
    kept = w > MASSLESS
    return unit[:, None] * U[:, kept] / np.sqrt(w[kept])


def _zone(mesh: Any, middle: Floats, apart: float) -> tuple[Ints, Any]:
    """Return nodes that lie so far apart around a place, and their linear functions.

    Those of the boundary come first, from the place outwards, then those inside.
    """
    away = np.linalg.norm(mesh.nodes - middle, axis=1)
    outline = np.unique(mesh.edges["outline"])
    inner = np.setdiff1d(np.unique(mesh.cells[:, : mesh.n_corner]), outline)
    chosen: list[int] = []
    for some in (outline, inner):
        for i in some[np.argsort(away[some], kind="stable")].tolist():
            gaps = np.linalg.norm(mesh.nodes[chosen] - mesh.nodes[i], axis=1)
            if not chosen or gaps.min() >= apart:
                chosen.append(i)
    every: Ints = np.array(chosen)
    near = np.argsort(away[every], kind="stable")[:NODES]
    N = _linear(mesh.nodes[every], mesh.nodes)[:, near]
    of: Any = sparse  # which has no types
    return every[near], of.kron(N, of.eye(2), format="csr")


def _linear(corners: Floats, places: Floats) -> Any:
    """Return at places the functions that are linear in the triangles of corners.

    A place outside, beyond the chord of an arc, is taken with the nearest triangle.
    """
    net: Any = Delaunay(corners)
    cell: Ints = net.find_simplex(places)
    left = np.flatnonzero(cell < 0)
    cell[left] = cKDTree(corners[net.simplices].mean(axis=1)).query(places[left])[1]
    T = net.transform[cell]
    two = np.einsum("nij,nj->ni", T[:, :2], places - T[:, 2])
    parts = np.clip(np.column_stack([two, 1.0 - two.sum(axis=1)]), 0.0, None)
    parts /= parts.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(len(places)), 3)
    columns = net.simplices[cell].ravel()
    size = (len(places), len(corners))
    return sparse.csr_matrix((parts.ravel(), (rows, columns)), shape=size)
