"""A body as finite elements with masses at its nodes: what waves travel through.

Plane bodies have the matrices of `assembly`. A rod has elements that only stretch, and
a body of revolution, with its axis along x at y = 0 and half of its section meshed,

    eps = (u_x,x  u_y,y  u_x,y + u_y,x  u_y/y),   K = int B'D B 2 pi y dA

with forces and masses of the whole circumference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from nonsmooth.elements.materials import Material, find_material
from nonsmooth.elements.meshes import Axis, MeshShape, Patch, Rod
from nonsmooth.elements.shapes import Point
from nonsmooth.errors import ModelError, nearest, show
from nonsmooth.fem.assembly import Csr, Discretisation, discretise
from nonsmooth.fem.bodies import held_by
from nonsmooth.fem.mesh import Floats, Ints, Mesh
from nonsmooth.fem.meshing import build
from nonsmooth.fem.patches import choose, label_of, shares_at

State = Literal["stress", "strain", "axisymmetric", "rod"]
# Places above the axis by less than this, beside the extent, are on it.
ON_AXIS = 1e-9


# Tolerances of the largest eigenvalue: of rods, whose waves are exact at the critical
# step, and of others.
EXACT, CLOSE = 1e-10, 1e-4


@dataclass(frozen=True, eq=False)
class Boundary:
    """Nodes of a patch, in order along the boundary, the body on their left."""

    nodes: Ints  # (n)
    weights: Floats  # (n) m, length of boundary of each
    forces: Floats  # (n) m^2, area that each stands for


@dataclass(frozen=True, eq=False)
class Full:
    """Nodes, masses and stiffness of a body, in the axes of its mesh."""

    nodes: Floats  # (n, 2) m
    cells: Ints  # (n_cell, 2, 3, 4, 6 or 9)
    masses: Floats  # (n) kg
    stiffness: Csr  # (2 n, 2 n) N/m, displacements node by node
    held: Floats  # (n, 2) 1 where a support or the axis holds
    state: State
    material: Material
    mesh: Mesh | None  # None of a rod
    disc: Discretisation | None
    thickness: float  # m; area of a rod, m^2

    @property
    def mass(self) -> float:
        """Mass, kg."""
        return float(self.masses.sum())

    @property
    def centre(self) -> Floats:
        """Mass centre, m; on the axis of a body of revolution."""
        centre = self.masses @ self.nodes / self.masses.sum()
        return centre * ((1.0, 0.0) if self.state == "axisymmetric" else (1.0, 1.0))

    @property
    def inertia(self) -> float:
        """Moment of inertia about the mass centre, kg m^2, of what is meshed."""
        return float(self.masses @ np.sum((self.nodes - self.centre) ** 2, axis=1))

    def boundary(self, name: str, patch: Patch) -> Boundary:
        """Return the nodes of a patch."""
        if self.mesh is None:
            k = _end(self, name, patch)
            wide = 2.0 * np.sqrt(self.thickness / np.pi)
            return Boundary(np.array([k]), np.full(1, wide), np.full(1, self.thickness))
        chosen = choose(self.mesh, name, patch)
        wide = np.full(len(chosen.nodes), self.thickness)
        if self.state == "axisymmetric":
            wide = 2.0 * np.pi * self.nodes[chosen.nodes, 1]
        areas = chosen.weights * wide
        return Boundary(chosen.nodes, chosen.weights, areas)

    def weights_at(self, name: str, place: Point) -> tuple[Ints, Floats]:
        """Return nodes whose displacements give that of a place, and their shares."""
        if self.mesh is None:
            return _on_rod(self.nodes, name, place)
        return shares_at(self.mesh, name, place)

    @cached_property
    def critical_step(self) -> float:
        """2/w_max of the body alone, s."""
        tol = EXACT if self.mesh is None else CLOSE
        top = largest(self.stiffness, self.masses, self.held, tol)
        return 2.0 / float(np.sqrt(top))

    @cached_property
    def step_bound(self) -> float:
        """A step that is not above the critical one, s: by Gershgorin's discs."""
        sums = np.asarray(np.abs(self.stiffness).sum(axis=1)).ravel()
        return 2.0 / float(np.sqrt(np.max(sums / np.repeat(self.masses, 2))))


def critical(bodies: Iterable[Full]) -> float:
    """Return the least critical step of some bodies, s.

    Of equal elements many eigenvalues are near the largest, and it is dear to find; a
    body whose bound is above the step of another need not be asked.
    """
    found = np.inf
    for body in sorted(bodies, key=lambda body: body.step_bound):
        if body.step_bound < found:
            found = min(found, body.critical_step)
    return float(found)


def largest(stiffness: Csr, masses: Floats, held: Floats, tol: float) -> float:
    """Return the largest eigenvalue of K x = w^2 M x, 1/s^2, not below it.

    Lanczos' method ends below it, by its tolerance at most.
    """
    from scipy.sparse import linalg as stubs

    linalg: Any = stubs
    free = np.flatnonzero(held.ravel() == 0.0)
    scale = 1.0 / np.sqrt(np.repeat(masses, 2)[free])
    small = sparse.csr_array(stiffness[free][:, free])
    scaled = sparse.diags_array(scale) @ small @ sparse.diags_array(scale)
    if len(free) < 50:
        return float(np.linalg.eigvalsh(scaled.toarray())[-1])
    start = np.random.default_rng(0).standard_normal(len(free))
    found = linalg.eigsh(
        scaled, k=1, which="LA", v0=start, tol=tol, return_eigenvectors=False
    )
    return float(found[0]) * (1.0 + (tol if tol > EXACT else 0.0))


def full(
    mesh: MeshShape,
    *,
    material: str | Material,
    thickness: float,
    plane: Literal["stress", "strain", "axisymmetric"] = "stress",
    fixed: tuple[str, ...] = (),
    symmetric: Axis | None = None,
    points: Mapping[str, Point] | None = None,
    base: str | Path = ".",
) -> Full:
    """Return a body as finite elements.

    Parameters
    ----------
    mesh : MeshShape
    material : str or Material
    thickness : float
        Across the plane, m; not used by rods and bodies of revolution.
    plane : {"stress", "strain", "axisymmetric"}
    fixed : names
        Boundaries and points that do not move.
    symmetric : {"x", "y"}, optional
        Make a mesh that is its own image in this axis.
    points : dict of (x, y), optional
        Points that may be fixed.
    base : path
        Folder of a `MeshFile`.
    """
    chosen = find_material(material)
    if isinstance(mesh, Rod):
        return _rod(mesh, chosen, fixed)
    built = build(mesh, base=base, symmetric=symmetric)
    is_round = plane == "axisymmetric"
    disc = discretise(
        built,
        material=chosen,
        thickness=1.0 if is_round else thickness,
        plane="strain" if plane == "axisymmetric" else plane,
    )
    held = np.zeros((len(built.nodes), 2))
    held.ravel()[held_by(fixed, dict(points or {}), built)] = 1.0
    stiffness = disc.stiffness
    if is_round:
        disc, stiffness = _revolved(disc, chosen)
        extent = float(np.ptp(built.nodes, axis=0).max())
        held[built.nodes[:, 1] < ON_AXIS * extent, 1] = 1.0
    return Full(
        nodes=built.nodes,
        cells=built.cells,
        masses=disc.scalar_lumped,
        stiffness=stiffness,
        held=held,
        state=plane,
        material=chosen,
        mesh=built,
        disc=disc,
        thickness=thickness,
    )


# ---- rods ----------------------------------------------------------------------


def _rod(rod: Rod, material: Material, fixed: tuple[str, ...]) -> Full:
    n = rod.elements
    nodes = np.zeros((n + 1, 2))
    nodes[:, 0] = rod.start[0] + np.linspace(0.0, rod.length, n + 1)
    nodes[:, 1] = rod.start[1]
    area, dx = np.pi * rod.radius**2, rod.length / n
    masses = np.full(n + 1, material.density * area * dx)
    masses[[0, -1]] *= 0.5
    k = material.youngs_modulus * area / dx
    x = 2 * np.arange(n)
    rows = np.concatenate((x, x, x + 2, x + 2))
    columns = np.concatenate((x, x + 2, x, x + 2))
    values = np.repeat([k, -k, -k, k], n)
    shape = (2 * n + 2, 2 * n + 2)
    held = np.zeros((n + 1, 2))
    for name in fixed:
        if name not in ("left", "right"):
            valid = nearest(name, ("left", "right"))
            raise ModelError(f"fixed: no boundary {show(name)}; {valid}")
        held[0 if name == "left" else -1] = 1.0
    if fixed:
        held[:, 1] = 1.0  # it only stretches
    return Full(
        nodes=nodes,
        cells=np.stack((np.arange(n), np.arange(1, n + 1)), axis=1),
        masses=masses,
        stiffness=sparse.coo_array((values, (rows, columns)), shape=shape).tocsr(),
        held=held,
        state="rod",
        material=material,
        mesh=None,
        disc=None,
        thickness=float(area),
    )


def _end(body: Full, name: str, patch: Patch) -> int:
    if patch.boundary not in ("left", "right"):
        valid = nearest(patch.boundary, ("left", "right"))
        raise ModelError(
            f"patches['{name}']: a rod has no boundary {show(patch.boundary)}; {valid}"
        )
    return 0 if patch.boundary == "left" else len(body.nodes) - 1


def _on_rod(nodes: Floats, name: str, place: Point) -> tuple[Ints, Floats]:
    begin, end = float(nodes[0, 0]), float(nodes[-1, 0])
    part = (place[0] - begin) / (end - begin) * (len(nodes) - 1)
    near = ON_AXIS * (len(nodes) - 1)
    if not -near <= part <= len(nodes) - 1 + near:
        raise ModelError(
            f"{label_of(name)} = {show(place)}; outside the rod, from x = {begin:.6g} "
            f"to {end:.6g} m"
        )
    k = int(np.clip(np.floor(part), 0, len(nodes) - 2))
    share = float(np.clip(part - k, 0.0, 1.0))
    used = np.array([k, k + 1])
    weights = np.array([1.0 - share, share])
    kept = np.abs(weights) > near
    return used[kept], weights[kept] / weights[kept].sum()


# ---- bodies of revolution --------------------------------------------------------


def _revolved(disc: Discretisation, material: Material) -> tuple[Discretisation, Csr]:
    """Return a section as a body of revolution, and its stiffness."""
    nodes, cells = disc.mesh.nodes, disc.mesh.cells
    extent = float(np.ptp(nodes, axis=0).max())
    if nodes[:, 1].min() < -ON_AXIS * extent:
        low = float(nodes[:, 1].min())
        raise ModelError(
            f"plane = 'axisymmetric': the mesh reaches y = {low:.6g} m, below its axis "
            "y = 0; mesh the half with y >= 0"
        )
    radius = np.einsum("qi,ei->eq", disc.values, nodes[cells, 1])
    volumes = disc.volumes * 2.0 * np.pi * radius
    own = Discretisation(
        disc.mesh, disc.values, disc.gradients, volumes, disc.elasticity, disc.density
    )
    n_cell, n_point, n_local, _ = disc.gradients.shape
    rows = np.zeros((n_cell, n_point, 4, n_local, 2))
    rows[:, :, 0, :, 0] = rows[:, :, 2, :, 1] = disc.gradients[..., 0]
    rows[:, :, 1, :, 1] = rows[:, :, 2, :, 0] = disc.gradients[..., 1]
    rows[:, :, 3, :, 1] = disc.values[None] / radius[:, :, None]
    b = rows.reshape(n_cell, n_point, 4, 2 * n_local)
    stress = np.einsum("st,eqtj->eqsj", round_elasticity(material), b, optimize=True)
    local = np.einsum("eqsi,eq,eqsj->eij", b, volumes, stress, optimize=True)
    ids = (2 * cells[:, :, None] + np.arange(2)).reshape(n_cell, -1)
    k = ids.shape[1]
    entries = (local.ravel(), (np.repeat(ids, k, 1).ravel(), np.tile(ids, k).ravel()))
    n = 2 * len(nodes)
    return own, sparse.csr_array(sparse.coo_array(entries, shape=(n, n)).tocsr())


def round_elasticity(material: Material) -> Floats:
    """Return D of sigma = D eps, components xx, yy, xy (engineering), zz; Pa."""
    e, nu = material.youngs_modulus, material.poissons_ratio
    first, shear = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 * e / (1.0 + nu)
    d = np.zeros((4, 4))
    d[np.ix_((0, 1, 3), (0, 1, 3))] = first
    d[[0, 1, 3], [0, 1, 3]] += 2.0 * shear
    d[2, 2] = shear
    return d
