"""Matrices of a mesh: stiffness, mass, geometric stiffness; stresses.

Displacements are stored node by node, u = (u_x0, u_y0, u_x1, ...). With the gradients
G_ij = int grad(N_i) grad(N_j)' dV and the elasticities c of the plane state,

    K_(ia)(jb) = c_ambn G_ij,mn                                   stiffness
    M_(ia)(jb) = delta_ab int rho N_i N_j dV                      mass
    Kg_(ia)(jb) = delta_ab int sigma_mn N_i,m N_j,n dV            geometric stiffness

A lumped mass is the diagonal of each element's own mass, scaled to its total
[HintonEtAl1976]_: all entries are positive, for order 2 as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from nonsmooth.elements.materials import Material, find_material
from nonsmooth.elements.meshes import Plane
from nonsmooth.errors import ModelError, show
from nonsmooth.fem.mesh import Floats, Ints, Mesh

# A sparse array of floats by rows. Its stubs do not know the type of sums and products.
Csr: TypeAlias = Any


def elasticities(chosen: Material, plane: Plane) -> Floats:
    """Return c_ambn, which gives sigma_am = c_ambn u_b,n; (2, 2, 2, 2), Pa."""
    e, nu = chosen.youngs_modulus, chosen.poissons_ratio
    shear = 0.5 * e / (1.0 + nu)
    if plane == "stress":
        first = e * nu / (1.0 - nu * nu)
    elif plane == "strain":
        first = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
    else:
        raise ModelError(f"plane = {show(plane)}; give 'stress' or 'strain'")
    one = np.eye(2)
    swapped = np.einsum("ab,mn->ambn", one, one) + np.einsum("an,mb->ambn", one, one)
    return first * np.einsum("am,bn->ambn", one, one) + shear * swapped


@dataclass(frozen=True, eq=False)
class Discretisation:
    """A mesh with material, ready to be integrated."""

    mesh: Mesh
    values: Floats  # (n_point, n_local) shape functions at points of integration
    gradients: Floats  # (n_cell, n_point, n_local, 2)
    volumes: Floats  # (n_cell, n_point), thickness included, m^3
    elasticity: Floats  # (2, 2, 2, 2), Pa
    density: float  # kg/m^3

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.mesh.nodes)

    @cached_property
    def stiffness(self) -> Csr:
        """K, N/m."""
        n_cell, n_point, n_local, _ = self.gradients.shape
        rows = self.gradients.reshape(n_cell, n_point, 2 * n_local)
        weighted = (rows * self.volumes[:, :, None]).transpose(0, 2, 1)
        products = (weighted @ rows).reshape(n_cell, n_local, 2, n_local, 2)
        local = np.einsum("ambn,eimjn->eiajb", self.elasticity, products, optimize=True)
        cells = 2 * self.mesh.cells[:, :, None] + np.arange(2)
        return _assembled(local, cells, 2 * self.n)

    @cached_property
    def scalar_mass(self) -> Csr:
        """int rho N_i N_j dV, the mass of one direction, kg."""
        return _assembled(self._masses, self.mesh.cells, self.n)

    @property
    def _masses(self) -> Floats:
        pairs = self.values[:, :, None] * self.values[:, None, :]
        return self.density * np.einsum("eq,qij->eij", self.volumes, pairs)

    @cached_property
    def scalar_lumped(self) -> Floats:
        """Masses of the nodes, kg."""
        local = self._masses
        diagonal = np.einsum("eii->ei", local)
        total = local.sum(axis=(1, 2)) / diagonal.sum(axis=1)
        masses = np.zeros(self.n)
        np.add.at(masses, self.mesh.cells, diagonal * total[:, None])
        return masses

    def mass(self, *, lumped: bool = False) -> Csr:
        """Return M, kg."""
        one = sparse.diags_array(self.scalar_lumped) if lumped else self.scalar_mass
        return sparse.csr_array(sparse.kron(one, sparse.eye_array(2), format="csr"))

    def stress(self, u: Floats) -> Floats:
        """Return the stress at the points of integration, (n_cell, n_point, 2, 2)."""
        x = u.reshape(-1, 2)[self.mesh.cells]
        slope = np.einsum("eib,eqin->eqbn", x, self.gradients, optimize=True)
        return np.einsum("ambn,eqbn->eqam", self.elasticity, slope, optimize=True)

    def geometric(self, stress: Floats) -> Csr:
        """Return the geometric stiffness of one direction, N/m."""
        pulled = np.einsum("eq,eqmn->eqmn", self.volumes, stress)
        left = np.einsum("eqim,eqmn->eqin", self.gradients, pulled, optimize=True)
        n_cell, _, n_local, _ = self.gradients.shape
        one = left.transpose(0, 2, 1, 3).reshape(n_cell, n_local, -1)
        other = self.gradients.transpose(0, 1, 3, 2).reshape(n_cell, -1, n_local)
        return _assembled(one @ other, self.mesh.cells, self.n)


def _assembled(local: Floats, cells: Ints, n: int) -> Csr:
    """Add up the matrices of elements."""
    ids = cells.reshape(len(cells), -1)
    k = ids.shape[1]
    rows = np.repeat(ids, k, axis=1).ravel()
    columns = np.tile(ids, (1, k)).ravel()
    entries = (local.ravel(), (rows, columns))
    return sparse.csr_array(sparse.coo_array(entries, shape=(n, n)).tocsr())


def discretise(
    mesh: Mesh, *, material: str | Material, thickness: float, plane: Plane = "stress"
) -> Discretisation:
    """Return a mesh with material.

    Parameters
    ----------
    mesh : Mesh
    material : Material or str
        A material or the name of one.
    thickness : float
        Across the plane, m.
    plane : {"stress", "strain"}
        Thin plate, or long body that cannot widen across the plane.
    """
    if not (np.isfinite(thickness) and thickness > 0.0):
        raise ModelError(f"thickness = {show(thickness)}; must be > 0 m")
    chosen = find_material(material)
    basis = mesh.basis()
    fields = [entry[0] for entry in basis.basis]
    values = np.stack([np.broadcast_to(f, basis.dx.shape)[0] for f in fields], axis=1)
    gradients = np.stack([field.grad for field in fields])  # local, 2, cell, point
    return Discretisation(
        mesh,
        np.ascontiguousarray(values),
        np.ascontiguousarray(gradients.transpose(2, 3, 0, 1)),
        np.asarray(basis.dx) * thickness,
        elasticities(chosen, plane),
        chosen.density,
    )
