"""Straight beams as flexible bodies: a second source of reductions.

Bernoulli's beam with cubic elements and a bar with linear ones, dense matrices, all
modes at hand. It shares nothing with `nonsmooth.fem`: matrices, integrals of inertia
and geometric stiffness are those of beam theory.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from nonsmooth.elements.base import quantity
from nonsmooth.elements.flexible import FlexibleBody, Reduced, Site
from nonsmooth.elements.materials import Material, find_material
from nonsmooth.elements.meshes import MeshShape, Patch

# Shapes that are a combination of others to this part are left out.
DEPENDENT = 1e-9


@dataclass(frozen=True, kw_only=True)
class Beam(MeshShape):
    """A beam along x from 0 to its length; boundaries `left`, `right`, or "x = ..."."""

    length: float = quantity("m", above=0.0)
    height: float = quantity("m", above=0.0)
    n: int = 20  # elements

    def node(self, x):
        k = round(x / self.length * self.n)
        assert abs(k * self.length / self.n - x) < 1e-9 * self.length, x
        return k

    def reduce(self, body, loads):
        return reduce(self, body, loads)


def matrices(beam, body):
    """Mass and stiffness of (u, v, slope) at each node."""
    e, rho = (
        getattr(find_material(body.material), f) for f in ("youngs_modulus", "density")
    )
    area = body.thickness * beam.height
    inertia = body.thickness * beam.height**3 / 12.0
    h, n = beam.length / beam.n, 3 * (beam.n + 1)
    M, K = np.zeros((n, n)), np.zeros((n, n))
    bar, bend = [0, 3], [1, 2, 4, 5]
    for k in range(beam.n):
        i = 3 * k
        at = np.ix_([i + j for j in bar], [i + j for j in bar])
        M[at] += rho * area * h / 6.0 * np.array([[2, 1], [1, 2]])
        K[at] += e * area / h * np.array([[1, -1], [-1, 1]])
        at = np.ix_([i + j for j in bend], [i + j for j in bend])
        M[at] += rho * area * cubic_mass(h)
        K[at] += e * inertia * cubic_stiffness(h)
    return M, K


def cubic_mass(h):
    return (h / 420.0) * np.array(
        [
            [156, 22 * h, 54, -13 * h],
            [22 * h, 4 * h * h, 13 * h, -3 * h * h],
            [54, 13 * h, 156, -22 * h],
            [-13 * h, -3 * h * h, -22 * h, 4 * h * h],
        ]
    )


def cubic_stiffness(h):
    return h**-3 * np.array(
        [
            [12, 6 * h, -12, 6 * h],
            [6 * h, 4 * h * h, -6 * h, 2 * h * h],
            [-12, -6 * h, 12, -6 * h],
            [6 * h, 2 * h * h, -6 * h, 4 * h * h],
        ]
    )


def cubic_geometric(h):
    """Integral of v' v' over an element."""
    return (1.0 / (30.0 * h)) * np.array(
        [
            [36, 3 * h, -36, 3 * h],
            [3 * h, 4 * h * h, -3 * h, -h * h],
            [-36, -3 * h, 36, -3 * h],
            [3 * h, -h * h, -3 * h, 4 * h * h],
        ]
    )


def cross_mass(h):
    """Integral of u v over an element: rows of the bar, columns of the bending."""
    x, w = np.polynomial.legendre.leggauss(4)
    x, w = 0.5 * (x + 1.0), 0.5 * h * w
    u = np.array([1 - x, x])
    v = np.array(
        [
            1 - 3 * x**2 + 2 * x**3,
            h * (x - 2 * x**2 + x**3),
            3 * x**2 - 2 * x**3,
            h * (x**3 - x**2),
        ]
    )
    return np.einsum("ig,jg,g->ij", u, v, w)


def geometric(beam, N):
    """Geometric stiffness of axial forces N of the elements."""
    n, h = 3 * (beam.n + 1), beam.length / beam.n
    K = np.zeros((n, n))
    for k in range(beam.n):
        at = [3 * k + j for j in (1, 2, 4, 5)]
        K[np.ix_(at, at)] += N[k] * cubic_geometric(h)
    return K


def crossed(beam, density):
    """Matrix X with u^T X v = integral of u_x v_y - u_y v_x over the mass."""
    n, h = 3 * (beam.n + 1), beam.length / beam.n
    X = np.zeros((n, n))
    for k in range(beam.n):
        at = np.ix_([3 * k, 3 * k + 3], [3 * k + j for j in (1, 2, 4, 5)])
        X[at] += density * cross_mass(h)
    return X - X.T


def reduce(beam, body, loads):
    """Return the modes of a beam, and the shapes of its loads."""
    M, K = matrices(beam, body)
    n, h = len(M), beam.length / beam.n
    x = h * np.arange(beam.n + 1)
    move_x, move_y, place = np.zeros(n), np.zeros(n), np.zeros(n)
    move_x[0::3], move_y[1::3], place[0::3] = 1.0, 1.0, x
    mass = float(move_x @ M @ move_x)
    centre = float(move_x @ M @ place) / mass
    s = place - centre * move_x
    free = np.ones(n, dtype=bool)
    for name in body.fixed:
        k = 0 if name == "left" else beam.n
        free[3 * k : 3 * k + 3] = False
    at = np.ix_(free, free)
    w2, vectors = eigh(K[at], M[at])
    # The first three are rigid motion, whatever round-off says.
    elastic = np.arange(len(w2)) >= (0 if body.fixed else 3)
    all_modes = np.zeros((n, int(elastic.sum())))
    all_modes[free] = vectors[:, elastic]
    w2 = w2[elastic]
    e_area = find_material(body.material).youngs_modulus * body.thickness * beam.height
    density = find_material(body.material).density * body.thickness * beam.height

    def answer(f):
        return all_modes @ ((all_modes.T @ f) / w2)

    def stressed(f):
        u = answer(f)
        return geometric(beam, e_area * np.diff(u[0::3]) / h)

    kept = min(body.modes, len(w2))
    nodes = {name: beam.node(p[0]) for name, p in body.points.items()}
    ends = {"left": 0.0, "right": beam.length}
    for name, patch in body.patches.items():
        nodes[name] = beam.node(ends[patch.boundary])
    columns = [all_modes[:, :kept]]
    rest, rest_w2 = all_modes[:, kept:], w2[kept:]
    for name, has_couple in sorted(loads.items()):
        for c in range(3 if has_couple else 2):
            f = np.zeros(n)
            f[3 * nodes[name] + c] = 1.0
            columns.append((rest @ ((rest.T @ f) / rest_w2))[:, None])
    phi, stiffness = orthonormal(np.hstack(columns), M, K)
    sites = {}
    for name, k in nodes.items():
        bend = None
        if name in loads:
            bend = []
            for c in range(2):
                f = np.zeros(n)
                f[3 * k + c] = 1.0
                bend.append(phi.T @ stressed(f) @ phi)
            bend = np.array(bend)
        is_patch = name in body.patches
        sites[name] = Site(
            place=(x[k], 0.0),
            shape=phi[[3 * k, 3 * k + 1]],
            turn=phi[3 * k + 2] if is_patch else np.zeros(phi.shape[1]),
            bend=bend,
        )
    return Reduced(
        mass=mass,
        inertia=float(s @ M @ s),
        centre=(centre, 0.0),
        stiffness=stiffness,
        lever=phi.T @ M @ s,
        gyro=phi.T @ crossed(beam, density) @ phi,
        spin=phi.T @ stressed(M @ s) @ phi,
        pull=np.array([move_x, move_y]) @ M @ phi,
        sites=sites,
    )


def orthonormal(X, M, K):
    """Return a basis of the columns of X of unit mass and diagonal stiffness."""
    size = np.sqrt(np.einsum("ij,ik,kj->j", X, M, X))
    X = X[:, size > 1e-300] / size[size > 1e-300]
    values, vectors = eigh(X.T @ M @ X)
    use = values > DEPENDENT * values[-1]
    X = X @ (vectors[:, use] / np.sqrt(values[use]))
    w2, vectors = eigh(X.T @ K @ X, X.T @ M @ X)
    return X @ vectors, w2


STEEL = Material(youngs_modulus=2e11, poissons_ratio=0.0, density=8000.0)
LEFT, RIGHT = Patch(boundary="left"), Patch(boundary="right")


def beam(length=0.5, height=0.01, n=20, material=STEEL, **fields):
    given: dict[str, Any] = {"name": "rod", "thickness": 0.01, "modes": 6} | fields
    return FlexibleBody(
        mesh=Beam(length=length, height=height, n=n), material=material, **given
    )


def stiffness_of(body):
    """Bending stiffness EI and mass per length."""
    area = body.thickness * body.mesh.height
    bending = body.material.youngs_modulus * area * body.mesh.height**2 / 12.0
    return bending, body.material.density * area
