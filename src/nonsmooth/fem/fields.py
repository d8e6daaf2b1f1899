"""Strain and stress at nodes, from displacements.

Gradients are taken at the nodes of every element and averaged over those that meet
there, by volume: sparse rows over the displacements, so that a strain gauge is one row
of numbers. Components are xx, yy, xy (of the tensor) and zz, across the plane or around
the axis of a body of revolution.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse

from nonsmooth.elements.materials import Material
from nonsmooth.fem.assembly import Csr
from nonsmooth.fem.mesh import Floats, Ints, Mesh

State = Literal["stress", "strain", "axisymmetric", "rod"]
COMPONENTS = ("xx", "yy", "xy", "zz")
# Local places of nodes, as scikit-fem orders them.
_TRIANGLE = [(0, 0), (1, 0), (0, 1), (0.5, 0), (0.5, 0.5), (0, 0.5)]
_QUADRILATERAL = [(0, 0), (1, 0), (1, 1), (0, 1)]
_QUADRILATERAL += [(0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5), (0.5, 0.5)]


def gradient_rows(mesh: Mesh) -> tuple[Csr, Csr]:
    """Return d/dx and d/dy at nodes, (n, n) each, of a quantity given at nodes."""
    table = _TRIANGLE if mesh.cell == "triangle" else _QUADRILATERAL
    n_local = mesh.cells.shape[1]
    basis = mesh.basis(np.array(table[:n_local], dtype=np.float64).T)
    # (local function, 2, cell, node of the cell)
    slopes = np.stack([np.asarray(entry[0].grad) for entry in basis.basis])
    volumes = np.abs(np.asarray(basis.dx)).sum(axis=1)
    n = len(mesh.nodes)
    total = np.zeros(n)
    np.add.at(total, mesh.cells, np.broadcast_to(volumes[:, None], mesh.cells.shape))
    share = volumes[:, None] / total[mesh.cells]  # (cell, node)
    rows = np.broadcast_to(mesh.cells[:, :, None], (*mesh.cells.shape, n_local))
    columns = np.broadcast_to(mesh.cells[:, None, :], rows.shape)

    def matrix(c: int) -> Csr:
        values = slopes[:, c].transpose(1, 2, 0) * share[:, :, None]
        entries = (values.ravel(), (rows.ravel(), columns.ravel()))
        return sparse.csr_array(sparse.coo_array(entries, shape=(n, n)).tocsr())

    return matrix(0), matrix(1)


def rod_rows(nodes: Floats) -> Csr:
    """Return d/dx at the nodes of a rod, (n, n)."""
    n = len(nodes)
    dx = np.diff(nodes[:, 0])
    below, above = np.zeros(n), np.zeros(n)
    below[1:], above[:-1] = 1.0 / dx, 1.0 / dx
    below[1:-1] *= 0.5
    above[1:-1] *= 0.5
    bands: Any = [-below[1:], below - above, above[:-1]]
    found: Any = sparse.diags_array(bands, offsets=[-1, 0, 1])
    return found.tocsr()


def strain_rows(
    nodes: Floats, mesh: Mesh | None, state: State, material: Material
) -> Csr:
    """Return the rows (4 n, 2 n) of the strain at nodes; xx of all, yy of all, ...

    Parameters
    ----------
    nodes : (n, 2) array
    mesh : Mesh, optional
        None of a rod, whose strain across it is free.
    state : str
    material : Material
    """
    n, nu = len(nodes), material.poissons_ratio
    x = sparse.kron(sparse.eye_array(n), np.array([[1.0, 0.0]]))
    y = sparse.kron(sparse.eye_array(n), np.array([[0.0, 1.0]]))
    none = sparse.csr_array((n, 2 * n))
    if mesh is None:
        along = rod_rows(nodes) @ x
        return sparse.vstack((along, -nu * along, none, -nu * along), format="csr")
    dx, dy = gradient_rows(mesh)
    xx, yy, xy = dx @ x, dy @ y, 0.5 * (dy @ x + dx @ y)
    zz: Csr = none
    if state == "stress":
        zz = -nu / (1.0 - nu) * (xx + yy)
    elif state == "axisymmetric":
        radius = nodes[:, 1]
        on_axis = radius <= 1e-9 * float(np.ptp(nodes, axis=0).max())
        inverse = np.divide(1.0, radius, out=np.zeros(n), where=~on_axis)
        # On the axis u_y/y is u_y,y.
        zz = sparse.diags_array(inverse) @ y
        zz = zz + sparse.diags_array(on_axis.astype(float)) @ yy
    return sparse.vstack((xx, yy, xy, zz), format="csr")


def stress_of(strain: Floats, material: Material, state: State) -> Floats:
    """Return the stress (n, 4), Pa, of strains (n, 4)."""
    e, nu = material.youngs_modulus, material.poissons_ratio
    if state == "rod":
        stress = np.zeros_like(strain)
        stress[:, 0] = e * strain[:, 0]
        return stress
    first, shear = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 * e / (1.0 + nu)
    volume = strain[:, 0] + strain[:, 1] + strain[:, 3]
    stress = 2.0 * shear * strain
    stress[:, [0, 1, 3]] += first * volume[:, None]
    if state == "stress":
        stress[:, 3] = 0.0
    return stress


def von_mises(stress: Floats) -> Floats:
    """Return von Mises' equivalent stress (n)."""
    xx, yy, xy, zz = stress.T
    squares = (xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2
    return np.sqrt(0.5 * squares + 3.0 * xy**2)


def principal(tensor: Floats) -> Floats:
    """Return the larger and the smaller principal value in the plane, (n, 2)."""
    xx, yy, xy, _ = tensor.T
    middle, radius = 0.5 * (xx + yy), np.hypot(0.5 * (xx - yy), xy)
    return np.stack((middle + radius, middle - radius), axis=1)


def gauge_row(rows: Csr, n: int, used: Ints, weights: Floats, angle: float) -> Floats:
    """Return the row (2 n) of the strain at a place, along an angle.

    Parameters
    ----------
    rows : (4 n, 2 n) sparse array
        As `strain_rows` gives them.
    n : int
        Number of nodes.
    used, weights : arrays
        Nodes and shares that make up the place.
    angle : float
        Direction, rad.
    """
    c, s = np.cos(angle), np.sin(angle)
    total = np.zeros(rows.shape[1])
    for part, factor in enumerate((c * c, s * s, 2.0 * c * s)):
        total += factor * (weights @ rows[part * n + used])
    return total
