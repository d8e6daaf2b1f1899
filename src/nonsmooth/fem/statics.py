"""Factored stiffness: modes and static answers of a body that may float.

A floating body has the mass-normalised rigid motions R. Loads are relieved of them,
and answers too, with P = 1 - R R'M:

    u = P (K + s M)^-1 P' f

For loads without resultant the shift s changes the answer in each mode by s/w^2, which
`shift` makes small; it lets one factorisation serve loads and modes. Held bodies have
neither R nor s.

A symmetric body is solved by halves: with orthonormal columns T of displacements that
are even, and U of those that are odd, in a reflection,

    (K + s M)^-1 = T (T'(K + s M) T)^-1 T' + U (U'(K + s M) U)^-1 U'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg as stubs
from scipy.spatial import cKDTree

from nonsmooth.elements.meshes import Axis
from nonsmooth.errors import ModelError, SolveError
from nonsmooth.fem.assembly import Csr
from nonsmooth.fem.mesh import Floats, Ints

linalg: Any = stubs  # they know neither options of splu nor types of results

# Shift over (c/L)^2, c = sqrt(E/rho), L the extent. The first mode of a bar a hundred
# times longer than wide is at 4e-3 of it, round-off of a mesh graded from L to 1e-4 L
# at 1e-7; a rigid motion that round-off brings in is projected out of the answer.
SHIFT = 1e-8
# Places closer than this, beside the extent, are images of each other.
SAME = 1e-7
# Loads solved for at once, which bounds memory.
BATCH = 64
# Rigid motions that a support leaves free move its nodes by less than this.
LOOSE = 1e-9


def rigid_motions(nodes: Floats, mass: Csr) -> Floats:
    """Return R (2 n, 3): two translations and the turn, mass-normalised."""
    ones = np.zeros((nodes.shape[0], 2, 3))
    ones[:, 0, 0] = ones[:, 1, 1] = 1.0
    total = float(ones[:, :, 0].ravel() @ (mass @ ones[:, :, 0].ravel()))
    weights = (mass @ ones[:, :, 0].ravel()).reshape(-1, 2)[:, 0]
    center = weights @ nodes / total
    ones[:, 0, 2], ones[:, 1, 2] = -(nodes - center)[:, 1], (nodes - center)[:, 0]
    rigid = ones.reshape(-1, 3)
    return rigid / np.sqrt(np.einsum("ik,ik->k", rigid, mass @ rigid))


def check_held(nodes: Floats, held: Ints, names: tuple[str, ...]) -> None:
    """Refuse supports that let the body move as a whole."""
    ones = np.zeros((nodes.shape[0], 2, 3))
    extent = float(np.ptp(nodes, axis=0).max())
    ones[:, 0, 0] = ones[:, 1, 1] = 1.0
    arms = (nodes - nodes.mean(axis=0)) / extent
    ones[:, 0, 2], ones[:, 1, 2] = -arms[:, 1], arms[:, 0]
    sizes = np.linalg.svd(ones.reshape(-1, 3)[held], compute_uv=False)
    if len(sizes) < 3 or sizes[-1] < LOOSE * sizes[0]:
        listed = ", ".join(names)
        raise ModelError(
            f"fixed = ({listed}): the body can still turn; fix a boundary, or "
            "two points"
        )


def reflections(nodes: Floats, axis: Axis, center: Floats) -> tuple[Csr, Csr]:
    """Return T and U, the even and odd displacements in a reflection."""
    k = 1 if axis == "x" else 0
    mirrored = nodes.copy()
    mirrored[:, k] = 2.0 * center[k] - mirrored[:, k]
    extent = float(np.ptp(nodes, axis=0).max())
    found = cKDTree(nodes).query(mirrored)
    distance, image = np.asarray(found[0]), np.asarray(found[1])
    if distance.max() > SAME * extent:
        x, y = nodes[int(np.argmax(distance))]
        raise ModelError(
            f"symmetric = {axis!r}: the node at ({x:.6g}, {y:.6g}) m has no image; "
            "mesh a half and reflect it"
        )
    side = nodes[:, k] - center[k]
    side[np.abs(side) <= SAME * extent] = 0.0
    over, on = np.flatnonzero(side > 0.0), np.flatnonzero(side == 0.0)
    kept: list[Csr] = []
    for sign in (1.0, -1.0):
        columns: list[tuple[Ints, Ints, float, float]] = []
        for c in range(2):
            # Along the axis images move alike, across it against each other.
            own = sign * (-1.0 if c == k else 1.0)
            columns.append((2 * over + c, 2 * image[over] + c, own, np.sqrt(0.5)))
            if own > 0.0:
                columns.append((2 * on + c, 2 * on + c, 0.0, 1.0))
        kept.append(_columns(columns, 2 * len(nodes)))
    return kept[0], kept[1]


def _columns(parts: list[tuple[Ints, Ints, float, float]], n: int) -> Csr:
    m = sum(len(part[0]) for part in parts)
    at = np.arange(m)
    rows = np.concatenate([part[0] for part in parts])
    other = np.concatenate([part[1] for part in parts])
    first = np.concatenate([np.full(len(p[0]), p[3]) for p in parts])
    second = np.concatenate([np.full(len(p[0]), p[2] * p[3]) for p in parts])
    entries = (
        np.concatenate((first, second)),
        (np.concatenate((rows, other)), np.concatenate((at, at))),
    )
    found = sparse.csr_array(sparse.coo_array(entries, shape=(n, m)).tocsr())
    # In node order again, for a narrow factorisation.
    return sparse.csr_array(found[:, np.argsort(rows, kind="stable")])


@dataclass(frozen=True, eq=False)
class Channel:
    """Displacements u = T x that are solved for together."""

    columns: Csr  # T
    stiffness: Csr  # of the body, N/m
    mass: Csr
    rigid: Floats  # R (2 n, 0 to 3)
    shift: float

    @cached_property
    def _reduced_mass(self) -> Csr:
        return sparse.csr_array(self.columns.T @ self.mass @ self.columns)

    @cached_property
    def _solve(self) -> Callable[[Floats], Floats]:
        shifted = self.stiffness + self.shift * self.mass
        small = sparse.csc_array(self.columns.T @ shifted @ self.columns)
        factor = linalg.splu(
            small,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        return factor.solve

    def solve(self, loads: Floats) -> Floats:
        """Return T (T'(K + s M) T)^-1 T' f for one or more loads."""
        small = self.columns.T @ loads
        if not small.any():
            return np.zeros_like(loads)
        return self.columns @ self._solve(small)

    def flexibility(self, at: Ints, kept: Floats) -> Floats:
        """Return the part of Y'(K + s M)^-1 Y in this channel, Y = B - M k k'B.

        Parameters
        ----------
        at : array
            Displacements B that are loaded, as numbers in u.
        kept : (2 n, m) array
            Mass-normalised motions k, rigid and modes, that are left out.
        """
        rows = sparse.csc_array(self.columns[at])
        # Images move together: fewer columns than loads.
        used = np.flatnonzero(np.diff(rows.indptr))
        k = self.columns.T @ kept
        weighted = self._reduced_mass @ k
        found = np.zeros((len(used), len(used)))
        for first in range(0, len(used), BATCH):
            part = used[first : first + BATCH]
            loads = -weighted @ k[part].T
            loads[part, np.arange(len(part))] += 1.0
            x = self._solve(np.asfortranarray(loads))
            found[:, first : first + BATCH] = x[used] - k[used] @ (weighted.T @ x)
        few = rows[:, used]
        return few @ (few @ found.T).T

    def modes(self, n: int) -> tuple[Floats, Floats]:
        """Return the lowest elastic frequencies, rad/s, and their shapes (2 n, n)."""
        mass = self._reduced_mass
        size = int(self.columns.shape[1])
        rigid = self.columns.T @ self.rigid
        weighted = mass @ rigid
        if n > size - 4:
            raise ModelError(f"modes = {n}; the mesh has {size - 4} that can be found")

        def answer(x: Floats) -> Floats:
            y = self._solve(x - weighted @ (rigid.T @ x))
            return y - rigid @ (weighted.T @ y)

        # The same start in every run, with something of every mode.
        start = answer(np.random.default_rng(0).standard_normal(size))
        operator = linalg.LinearOperator((size, size), matvec=answer, dtype=np.float64)
        try:
            values, vectors = linalg.eigsh(
                sparse.csr_array(self.columns.T @ self.stiffness @ self.columns),
                k=n,
                M=mass,
                sigma=-self.shift,
                OPinv=operator,
                v0=start,
                ncv=min(size - 1, max(2 * n + 1, 20)),
            )
        except linalg.ArpackNoConvergence:
            raise SolveError(f"the {n} lowest modes do not converge") from None
        order = np.argsort(values)
        shapes: Floats = self.columns @ vectors[:, order]
        # Signs that do not depend on the machine.
        largest = shapes[np.argmax(np.abs(shapes), axis=0), np.arange(n)]
        return np.sqrt(np.maximum(values[order], 0.0)), shapes * np.sign(largest)


@dataclass(frozen=True, eq=False)
class Statics:
    """A body's answers to loads, and its modes."""

    stiffness: Csr
    mass: Csr
    rigid: Floats  # (2 n, 3), or (2 n, 0) of a held body
    channels: tuple[Channel, ...]  # modes are those of the first
    shift: float = field(default=0.0)

    def relieved(self, loads: Floats) -> Floats:
        """Return P'f: loads with the inertia of the rigid motion they cause."""
        return loads - self.mass @ (self.rigid @ (self.rigid.T @ loads))

    def solve(self, loads: Floats) -> Floats:
        """Return the displacements of loads, without rigid motion."""
        free = self.relieved(loads)
        u = sum((one.solve(free) for one in self.channels), np.zeros_like(loads))
        return u - self.rigid @ (self.rigid.T @ (self.mass @ u))


def statics(
    nodes: Floats,
    stiffness: Csr,
    mass: Csr,
    *,
    held: Ints,
    symmetric: Axis | None,
    speed: float,
) -> Statics:
    """Prepare a body; nothing is factored before it is used.

    Parameters
    ----------
    nodes : (n, 2) array
    stiffness, mass : sparse arrays
    held : array
        Displacements that are fixed, as numbers in u.
    symmetric : {"x", "y"}, optional
        Axis of symmetry.
    speed : float
        Speed of waves, m/s, for the shift.
    """
    rigid = rigid_motions(nodes, mass)
    extent = float(np.hypot(*np.ptp(nodes, axis=0)))
    shift = 0.0 if held.size else SHIFT * (speed / extent) ** 2
    size = 2 * len(nodes)
    if symmetric is None:
        parts: tuple[Csr, ...] = (sparse.csr_array(sparse.eye_array(size)),)
    else:
        parts = reflections(nodes, symmetric, _center(nodes, mass))
    if held.size:
        rigid = rigid[:, :0]
        parts = tuple(_without(part, held, symmetric) for part in parts)
    channels = tuple(Channel(part, stiffness, mass, rigid, shift) for part in parts)
    return Statics(stiffness, mass, rigid, channels, shift)


def _center(nodes: Floats, mass: Csr) -> Floats:
    ones = np.zeros(2 * len(nodes))
    ones[::2] = 1.0
    weights = (mass @ ones)[::2]
    return weights @ nodes / weights.sum()


def _without(part: Csr, held: Ints, symmetric: str | None) -> Csr:
    """Return the columns that do not move what is held."""
    is_held = np.zeros(part.shape[0])
    is_held[held] = 1.0
    share = np.asarray((part != 0).T @ is_held)
    count = np.asarray((part != 0).T @ np.ones(part.shape[0]))
    if np.any((share > 0) & (share < count)):
        raise ModelError(
            f"symmetric = {symmetric!r}: the supports are not; fix both images"
        )
    return sparse.csr_array(part[:, np.flatnonzero(share == 0)])
