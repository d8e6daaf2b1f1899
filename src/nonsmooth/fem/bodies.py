"""Reduction of a flexible body to modes, attachment shapes and residual flexibility.

    K Phi = M Phi W^2,  Phi'M Phi = 1                   elastic modes
    X = P (K + s M)^-1 P'F - Phi Phi'M (...)            what they leave of loads F
    (X'K X) Z = (X'M X) Z W^2                           attachment shapes X Z
    G = Y'(K + s M)^-1 Y - sum psi psi'/(w^2 + s)      Y = P'B - M Phi Phi'B

P removes rigid motion (`statics`), psi are the attachment shapes at the nodes B of a
patch. Shapes keep mass 1 and stiffness W^2: X is orthogonal to Phi in both. See
docs/theory/flexible.md.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from nonsmooth.elements.meshes import MeshShape
from nonsmooth.elements.shapes import Point
from nonsmooth.errors import ModelError, nearest, show
from nonsmooth.fem.assembly import Discretisation, discretise
from nonsmooth.fem.mesh import Floats, Ints, Mesh
from nonsmooth.fem.meshing import build
from nonsmooth.fem.patches import Chosen, choose, patch_rows, point_rows
from nonsmooth.fem.reduce import Task
from nonsmooth.fem.reduction import Marker, PatchData, Reduction
from nonsmooth.fem.statics import Statics, check_held, statics

# Shapes that hold less than this share of the energy of unit loads are combinations of
# the others, or of the modes.
DEPENDENT = 1e-10
# A pinned point is at a node: closer than this, beside the extent of the mesh.
AT_NODE = 1e-6
# Even part of an odd load that is round-off.
ODD = 1e-12


class _Clock:
    """Seconds spent on each part."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now


def compute(task: Task) -> Reduction:
    """Reduce a body."""
    clock = _Clock()
    mesh = task.mesh
    if isinstance(mesh, MeshShape):
        mesh = build(mesh, base=task.base, symmetric=task.symmetric)
    clock.lap("mesh")
    disc = discretise(
        mesh, material=task.material, thickness=task.thickness, plane=task.plane
    )
    stiffness, mass = disc.stiffness, disc.mass(lumped=task.lumped)
    held = held_by(task.fixed, task.points, mesh)
    speed = np.sqrt(task.material.youngs_modulus / task.material.density)
    solver = statics(
        mesh.nodes,
        stiffness,
        mass,
        held=held,
        symmetric=task.symmetric,
        speed=float(speed),
    )
    clock.lap("assembly")
    n = 2 * len(mesh.nodes)
    w, phi = np.zeros(0), np.zeros((n, 0))
    if task.modes:
        w, phi = solver.channels[0].modes(task.modes)
    clock.lap("modes")
    body = _Body(task, disc, solver, w, phi)
    return body.reduction(clock)


def held_by(fixed: tuple[str, ...], points: dict[str, Point], mesh: Mesh) -> Ints:
    """Return the displacements that supports fix, as numbers in u."""
    nodes: list[Ints] = []
    for name in fixed:
        if name in mesh.edges:
            nodes.append(np.unique(mesh.edges[name]))
        elif name in points:
            away = np.linalg.norm(mesh.nodes - np.array(points[name]), axis=1)
            k = int(np.argmin(away))
            if away[k] > AT_NODE * float(np.ptp(mesh.nodes, axis=0).max()):
                x, y = mesh.nodes[k]
                raise ModelError(
                    f"fixed: point '{name}' is not at a node; the nearest is at "
                    f"({x:.6g}, {y:.6g}) m"
                )
            nodes.append(np.array([k]))
        else:
            valid = nearest(name, [*sorted(mesh.edges), *points])
            raise ModelError(f"fixed: no boundary or point {show(name)}; {valid}")
    if not nodes:
        return np.zeros(0, dtype=np.int64)
    chosen = np.unique(np.concatenate(nodes))
    held = np.stack((2 * chosen, 2 * chosen + 1), axis=1).ravel()
    check_held(mesh.nodes, held, fixed)
    return held


class _Body:
    """A discretised body with its modes, on the way to a reduction."""

    def __init__(
        self, task: Task, disc: Discretisation, solver: Statics, w: Floats, phi: Floats
    ) -> None:
        self.task, self.disc, self.solver = task, disc, solver
        self.mesh, self.n_mode = disc.mesh, len(w)
        self.is_held = solver.rigid.shape[1] == 0
        self.rows: dict[str, Floats] = {}
        self.places: dict[str, Floats] = {}
        self.chosen: dict[str, Chosen] = {}
        for name, place in task.points.items():
            self.rows[name] = point_rows(self.mesh, name, place)
            self.places[name] = np.array(place)
        for name, patch in task.patches.items():
            self.chosen[name] = choose(self.mesh, name, patch)
            place, rows = patch_rows(self.mesh, self.chosen[name])
            self.rows[name], self.places[name] = rows, place
        self.modes, self.w_modes = phi, w
        psi, w_psi = self._attachments()
        self.phi = np.concatenate((phi, psi), axis=1)
        self.w = np.concatenate((w, w_psi))

    def _attachments(self) -> tuple[Floats, Floats]:
        """Return shapes that answer the loads of markers statically."""
        rows = [self._load_rows(name) for name in self.task.forces]
        if not rows:
            return np.zeros((2 * self.disc.n, 0)), np.zeros(0)
        loads = np.concatenate(rows).T
        x = self._beyond(loads)
        energy: Floats = x.T @ (self.solver.stiffness @ x)
        # Loads on what is held, or whose answer is all in the modes, add nothing.
        in_modes = np.sum((loads.T @ self.modes / self.w_modes) ** 2, axis=1)
        left = np.diag(energy)
        used = np.flatnonzero(left > DEPENDENT * (left + in_modes))
        if not used.size:
            return x[:, :0], left[:0]
        x, energy = x[:, used], energy[np.ix_(used, used)]
        # In units of unit energy of each load.
        scale = 1.0 / np.sqrt(np.diag(energy))
        values, vectors = np.linalg.eigh(energy * np.outer(scale, scale))
        kept = values > DEPENDENT * values[-1]
        x = x @ (scale[:, None] * vectors[:, kept])
        k: Floats = x.T @ (self.solver.stiffness @ x)
        m: Floats = x.T @ (self.solver.mass @ x)
        # Of two matrices: M = L L', and the eigenvectors of L^-1 K L^-T.
        inverse = np.linalg.inv(np.linalg.cholesky(m))
        found, z = np.linalg.eigh(inverse @ k @ inverse.T)
        return x @ inverse.T @ z, np.sqrt(found)

    def _load_rows(self, name: str) -> Floats:
        rows = self.rows[name]
        if name in self.task.couples and len(rows) < 3:
            raise ModelError(
                f"couples: patch '{name}' has one node and no rotation; give more"
            )
        return rows if name in self.task.couples else rows[:2]

    def _beyond(self, loads: Floats) -> Floats:
        """Return the static answer to loads that the modes leave."""
        mass = self.solver.mass
        rest = loads - mass @ (self.modes @ (self.modes.T @ loads))
        x = self.solver.solve(rest)
        return x - self.modes @ (self.modes.T @ (mass @ x))

    def reduction(self, clock: _Clock) -> Reduction:
        """Return the reduced body."""
        clock.lap("attachments")
        mesh, nodes = self.mesh, self.mesh.nodes
        masses = np.asarray(self.solver.mass @ np.ones(2 * self.disc.n))[::2]
        total = float(masses.sum())
        center = masses @ nodes / total
        arms = (nodes - center).ravel()
        moments = self.solver.mass @ arms
        weight = (self.solver.mass @ self.phi).reshape(-1, 2, len(self.w)).sum(axis=0).T
        none = np.zeros((len(self.w), len(self.w)))
        spin = none
        if not self.is_held:
            field = moments[:, None]
            spin = self._bends(field, self.solver.solve(field))[0]
        points = {name: self._marker(name, center) for name in self.task.points}
        clock.lap("markers")
        patches = {name: self._patch(name, center) for name in self.task.patches}
        clock.lap("patches")
        damping = self.task.damping
        ratios = damping.ratios(self.w.tolist()) if damping else [0.0] * len(self.w)
        return Reduction(
            mass=total,
            inertia=float(arms @ moments),
            center=center,
            is_held=self.is_held,
            n_mode=self.n_mode,
            frequencies=self.w,
            damping=np.array(ratios),
            b=self.phi.T @ moments,
            coupling=none if self.is_held or self._is_even else self._coupling(),
            spin=spin,
            weight=weight if self.is_held else np.zeros_like(weight),
            mesh=mesh,
            shapes=self.phi.reshape(-1, 2, len(self.w)),
            points=points,
            patches=patches,
            seconds=clock.seconds,
        )

    @property
    def _is_even(self) -> bool:
        """Whether all shapes are even: what is odd in them integrates to nothing."""
        return self.task.symmetric is not None and len(self.w) == self.n_mode

    def _is_odd(self, load: Floats) -> bool:
        """Return whether a load on a symmetric body is odd, but for round-off."""
        even = self.solver.channels[0].columns.T @ load
        return bool(np.abs(even).max() <= ODD * np.abs(load).max())

    def _coupling(self) -> Floats:
        one = self.phi[::2].T @ (self.solver.mass @ self.phi)[1::2]
        return one - one.T

    def _bends(self, loads: Floats, answers: Floats) -> Floats:
        """Return Phi'Kg Phi of the stress of each load, with its static answer."""
        x, y = self.phi[::2], self.phi[1::2]
        found = np.zeros((loads.shape[1], len(self.w), len(self.w)))
        for k, (load, u) in enumerate(zip(loads.T, answers.T, strict=True)):
            if not (self._is_even and self._is_odd(load)):
                stiffness = self.disc.geometric(self.disc.stress(u))
                found[k] = x.T @ (stiffness @ x) + y.T @ (stiffness @ y)
        return found

    def _marker(self, name: str, center: Floats) -> Marker:
        rows = self.rows[name]
        shape = rows @ self.phi
        found = self.solver.solve(rows.T)
        answers = np.einsum("ki,ik->k", rows, found)
        kept = np.sum((shape / self.w) ** 2, axis=1)
        # A place that is held does not move: nothing is lost.
        moves = np.abs(answers) > 0.0
        lost = 1.0 - np.divide(kept, answers, out=np.ones_like(kept), where=moves)
        return Marker(
            place=self.places[name] - (0.0 if self.is_held else center),
            shape=shape[:2],
            turn=shape[2] if len(shape) > 2 else None,
            bend=self._bends(rows[:2].T, found[:, :2]),
            residual=np.maximum(lost, 0.0),
        )

    def _patch(self, name: str, center: Floats) -> PatchData:
        chosen, own = self.chosen[name], self._marker(name, center)
        at = np.stack((2 * chosen.nodes, 2 * chosen.nodes + 1), axis=1).ravel()
        places = self.mesh.nodes[chosen.nodes] - (0.0 if self.is_held else center)
        return PatchData(
            place=own.place,
            shape=own.shape,
            turn=own.turn,
            bend=own.bend,
            residual=own.residual,
            nodes=chosen.nodes,
            places=places,
            shapes=self.phi[at].reshape(len(chosen.nodes), 2, -1),
            normals=chosen.normals,
            weights=chosen.weights,
            edges=chosen.edges,
            flexibility=self._residual(at),
        )

    def _residual(self, at: Ints) -> Floats:
        """Return G: what nodes give beyond the shapes, under loads on all of them."""
        kept = np.concatenate((self.solver.rigid, self.modes), axis=1)
        g = sum(one.flexibility(at, kept) for one in self.solver.channels)
        # With the shift, as in the sum before: G has no negative eigenvalue.
        w2 = self.w[self.n_mode :] ** 2 + self.solver.shift
        psi = self.phi[at][:, self.n_mode :] / np.sqrt(w2)
        g = g - psi @ psi.T
        return 0.5 * (g + g.T)
