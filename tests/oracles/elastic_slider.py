"""An elastic slider between the faces of a rigid guide, by plain linear algebra.

Constant-strain triangles, assembled one formula for all; the pin's nodes hold the
frame. With the forces l >= 0 of the guide on the nodes of both faces, friction -phi l
on each of them along the guide, and the place (w, rho) of the frame,

    gap = c/2 ± (w + rho x + u_y) >= 0,    l >= 0,    l gap = 0
    sum ± l = N,    sum ± l x - phi (h/2) sum ± l = M

`Slider.solve` finds the nodes that press by trial, from several starts, and checks all
of these; `penalty` solves the same without condensation: all nodes of the mesh, springs
on those of the faces.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

Array = NDArray[np.float64]


def stiffness(nodes: Array, cells: NDArray[np.int64], e: float, nu: float, t: float):
    """Return K of triangles in plane stress, N/m."""
    x, y = nodes[cells][..., 0], nodes[cells][..., 1]
    b = np.roll(y, -1, 1) - np.roll(y, -2, 1)  # y_j - y_k
    c = np.roll(x, -2, 1) - np.roll(x, -1, 1)
    area = 0.5 * np.sum(x * b, axis=1)
    assert np.all(area > 0.0)
    strain = np.zeros((len(cells), 3, 6))
    strain[:, 0, 0::2] = b
    strain[:, 1, 1::2] = c
    strain[:, 2, 0::2] = c
    strain[:, 2, 1::2] = b
    strain /= 2.0 * area[:, None, None]
    law = np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, 0.5 * (1.0 - nu)]])
    law *= e / (1.0 - nu**2)
    local = np.einsum("eki,kl,elj,e->eij", strain, law, strain, area * t)
    ids = (2 * cells[:, :, None] + np.arange(2)).reshape(len(cells), 6)
    rows, columns = np.repeat(ids, 6, 1).ravel(), np.tile(ids, (1, 6)).ravel()
    n = 2 * len(nodes)
    return sparse.csc_matrix((local.ravel(), (rows, columns)), shape=(n, n))


class Solution(NamedTuple):
    """Forces of the guide's nodes, lower face first, each from left to right."""

    load: float  # N, their sum
    forces: Array  # N, on the slider away from the face
    gaps: Array  # m


@dataclass(frozen=True)
class Slider:
    """A rectangle about its pin."""

    length: float = 0.6  # m
    height: float = 0.5
    cells: tuple[int, int] = (18, 19)
    youngs_modulus: float = 2.1e11  # Pa
    poissons_ratio: float = 0.25
    thickness: float = 0.01  # m
    clearance: float = 0.0  # m
    spring: float = 0.0  # m/N, give of a node's penalty spring

    @cached_property
    def nodes(self) -> Array:
        nx, ny = self.cells
        x = np.linspace(-0.5 * self.length, 0.5 * self.length, nx + 1)
        y = np.linspace(-0.5 * self.height, 0.5 * self.height, ny + 1)
        return np.array([(a, b) for b in y for a in x])

    @cached_property
    def triangles(self) -> NDArray[np.int64]:
        """Squares cut by a diagonal that points to the middle."""
        nx, ny = self.cells
        found: list[tuple[int, int, int]] = []
        for j in range(ny):
            for i in range(nx):
                a = j * (nx + 1) + i
                b, c, d = a + 1, a + nx + 2, a + nx + 1
                is_rising = (2 * i + 1 < nx) == (2 * j + 1 < ny)
                found += [(a, b, c), (a, c, d)] if is_rising else [(a, b, d), (b, c, d)]
        return np.array(found)

    @cached_property
    def faces(self) -> NDArray[np.int64]:
        nx, ny = self.cells
        return np.r_[np.arange(nx + 1), ny * (nx + 1) + np.arange(nx + 1)]

    @property
    def places(self) -> Array:
        return self.nodes[self.faces, 0]

    @property
    def sides(self) -> Array:
        """+1 on the lower face, which pushes up, -1 on the upper one."""
        return -np.sign(self.nodes[self.faces, 1])

    @cached_property
    def system(self):
        """K bordered by what holds the pin: its mean displacement and rotation."""
        pitch = np.array([self.length, self.height]) / self.cells
        at_pin = np.flatnonzero(np.all(np.abs(self.nodes) <= 1.01 * pitch, axis=1))
        modes = np.zeros((2 * len(self.nodes), 3))
        modes[2 * at_pin, 0] = 1.0
        modes[2 * at_pin + 1, 1] = 1.0
        x, y = self.nodes[at_pin].T
        modes[2 * at_pin, 2] = -y / np.sum(y**2)
        modes[2 * at_pin + 1, 2] = x / np.sum(x**2)
        e, nu, t = self.youngs_modulus, self.poissons_ratio, self.thickness
        scaled = modes * e * t
        k = stiffness(self.nodes, self.triangles, e, nu, t)
        blocks: Any = [[k, scaled], [scaled.T, None]]
        return sparse.bmat(blocks, format="csc")

    @cached_property
    def gives(self) -> tuple[Array, Array]:
        """Return gaps under unit normal forces, and under friction for phi = 1."""
        ids, n = self.faces, len(self.faces)
        loads = np.zeros((self.system.shape[0], 2 * n))
        loads[2 * ids + 1, np.arange(n)] = self.sides
        loads[2 * ids, n + np.arange(n)] = -1.0
        u = splu(self.system).solve(loads)[2 * ids + 1] * self.sides[:, None]
        return u[:, :n] + self.spring * np.eye(n), u[:, n:]

    @cached_property
    def known(self) -> dict[str, NDArray[np.bool_]]:
        """The pattern found last, to start from: what is returned is checked anyhow."""
        return {}

    def solve(self, normal: float, moment: float, phi: float) -> Solution:
        """Find the nodes that press; check all that is asked of them."""
        n, x, s = len(self.faces), self.places, self.sides
        give = self.gives[0] + phi * self.gives[1]
        frame = np.stack([s, s * x], axis=1)
        balance = np.stack([s, s * x - 0.5 * phi * self.height * s])
        size = abs(normal) + abs(moment) / self.length
        scale = size / (self.youngs_modulus * self.thickness)
        corners = np.abs(x) > 0.49 * self.length
        starts = [
            *self.known.values(),
            s > 0.0,
            corners & (s * x * (1.0 if moment > 0.0 else -1.0) > 0.0),
            np.ones(n, bool),
            s < 0.0,
        ]
        for closed in starts:
            for _ in range(100):
                k = np.flatnonzero(closed)
                matrix = np.zeros((len(k) + 2, len(k) + 2))
                matrix[:-2, :-2] = give[np.ix_(k, k)]
                matrix[:-2, -2:] = frame[k]
                matrix[-2:, :-2] = balance[:, k]
                right = np.r_[np.full(len(k), -0.5 * self.clearance), normal, moment]
                try:
                    z = np.linalg.solve(matrix, right)
                except np.linalg.LinAlgError:
                    break
                forces = np.zeros(n)
                forces[k] = z[:-2]
                gaps = 0.5 * self.clearance + frame @ z[-2:] + give @ forces
                wrong = np.where(closed, forces < -1e-12 * size, gaps < -1e-11 * scale)
                if not wrong.any():
                    gaps[k] = 0.0
                    self.known["last"] = closed
                    return Solution(float(forces.sum()), forces, gaps)
                closed = closed ^ wrong
        raise AssertionError(f"no pattern for N={normal}, M={moment}, phi={phi}")

    def load(self, normal: float, moment: float, phi: float) -> float:
        """Return the sum of normal forces, N."""
        return self.solve(normal, moment, phi).load

    def penalty(
        self, normal: float, moment: float, phi: float, stiff: float
    ) -> Solution:
        """Return the same with springs of N/m on the nodes, without condensation.

        Trial iteration as in the paper: who overlaps gets a spring.
        """
        ids, x, s = self.faces, self.places, self.sides
        n, size = len(ids), self.system.shape[0]
        closed = s > 0.0 if abs(moment) < 0.1 * self.length * normal else s != 0.0
        for _ in range(200):
            k = np.flatnonzero(closed)
            # Unknown: displacements, holding forces, (w, rho); force = -stiff gap.
            j = sparse.lil_matrix((n, size + 2))
            for i in k:
                j[i, 2 * ids[i] + 1] = s[i]
                j[i, size], j[i, size + 1] = s[i], s[i] * x[i]
            j = j.tocsr()
            push = sparse.lil_matrix((size + 2, n))
            for i in k:
                push[2 * ids[i] + 1, i] = s[i]
                push[2 * ids[i], i] = -phi
                push[size, i] = s[i]
                push[size + 1, i] = s[i] * x[i] - 0.5 * phi * self.height * s[i]
            push = push.tocsr()
            whole = sparse.bmat(
                [[self.system, None], [None, sparse.csc_matrix((2, 2))]]
            )
            matrix = (whole + stiff * push @ j).tolil()
            right = -stiff * np.asarray(push @ np.full(n, 0.5 * self.clearance))
            # Equilibrium has the opposite sign of an unknown's own row.
            right[size:] += -np.array([normal, moment])
            z = splu(matrix.tocsc()).solve(right)
            for _ in range(2):
                z += splu(matrix.tocsc()).solve(right - matrix @ z)
            gaps = 0.5 * self.clearance + s * (
                z[2 * ids + 1] + z[size] + z[size + 1] * x
            )
            now = gaps < 0.0
            if np.array_equal(now, closed):
                forces = np.where(closed, -stiff * gaps, 0.0)
                return Solution(float(forces.sum()), forces, gaps)
            closed = now
        raise AssertionError(f"no trial agrees for N={normal}, M={moment}, phi={phi}")
