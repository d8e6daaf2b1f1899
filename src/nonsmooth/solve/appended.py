"""The scheme of Hong & Liu (2012), as it is written; for comparison.

Before and after contact, and in it,

    | M    Phi_q^T | | q''    |   | w + f_o + f_u |
    | Phi_q    0   | | lambda | = | gamma         |                            (1)

    Phi^c(q, t) = 0                                                            (2)
    Phi_q^c q'' = gamma_c                                                      (3)

    | M       Phi_q^T  Phi_q^cT | | q''      |   | w + f_o + f_u |
    | Phi_q     0        0      | | lambda   | = | gamma         |             (4)
    | Phi_q^c   0        0      | | lambda_c |   | gamma_c       |

assembled whole and solved by NumPy in each step. Coordinates of a flexible body: its
floating frame, the modes that it has, and, where contact happens, the displacements of
finite-element nodes with their mass beside these,

    u = Phi eta + P N d         P: without rigid motion, as mean axes want it

In contact steps are explicit, q'' forward and the velocity after it for the way, and
gamma is what brings the constraints to zero at the end of a step: -(g/h + Phi_q v)/h.
A node is in contact where it would overlap, until its multiplier would pull; it sticks,
with a second row, or slips with mu times the normal multiplier. In flight steps are
implicit, by the midpoint rule.

Friction by nodes, gamma, the midpoint rule and when a flight begins are ours.

References
----------
[HongLiu2012]_ Eqs. (1)-(4), section 3.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import OPEN_MODE
from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.joints import Revolute
from nonsmooth.elements.materials import find_material
from nonsmooth.elements.normal import Unilateral
from nonsmooth.elements.shapes import Line
from nonsmooth.errors import ModelError, SolveError
from nonsmooth.pack import System
from nonsmooth.pack.flexible import loads_of, reduce
from nonsmooth.result import Result
from nonsmooth.result.event_table import EventRecord
from nonsmooth.result.track import Track
from nonsmooth.solve.options import Options
from nonsmooth.solve.progress import Done, Progress

Floats = NDArray[np.float64]

STEP, FLIGHT_STEP = 2e-7, 5e-3  # s, in contact and in flight
NODES = 47  # around the patch
# m, smallest elements: what such steps allow in steel.
COARSE = 3e-3
# Part of the critical step that explicit steps may take; steps that are not worth it.
SAFETY, SHORTEST = 0.9, 2e-8
# Steps without contact after which a flight begins.
CLEAR = 500
# Rounds in which the nodes in contact settle; of the implicit steps, and when to stop.
ROUNDS, ITERATIONS, CONVERGED = 30, 40, 1e-10
CLOSINGS = 4  # of the joints at the start, each squares what is left
_QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])


def march_appended(
    system: System, options: Options, until: float, progress: Progress | None
) -> Result:
    """Simulate by the paper's scheme."""
    return _Run(system, options, until).run(progress)


def _turn(angle: float) -> Floats:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


@dataclass
class _Part:
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


def _rigid(body: RigidBody, first: int) -> _Part:
    none = np.zeros((0, 0))
    places = {name: np.array(p, dtype=float) for name, p in body.points.items()}
    return _Part(
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


def _flexible(system: System, body: FlexibleBody, first: int, patch: str) -> _Part:
    """Return a body with its modes, and nodes around a patch if it has one."""
    from nonsmooth.fem.assembly import discretise
    from nonsmooth.fem.meshing import build
    from nonsmooth.fem.patches import choose, patch_rows, point_rows

    assert body.modes != "full"
    shape: Any = body.mesh
    if getattr(shape, "refine", None):
        fine = {n: replace(r, size=COARSE) for n, r in shape.refine.items()}
        body = replace(body, mesh=replace(shape, refine=fine))
    own = reduce(body, loads_of(system.model)[body.name])
    mesh: Any = build(body.mesh, base=getattr(body.mesh, "folder", "."))
    assert body.plane != "axisymmetric"
    disc: Any = discretise(
        mesh,
        material=find_material(body.material),
        thickness=body.thickness,
        plane=body.plane,
    )
    # Explicit steps want masses at nodes.
    mass, stiffness = disc.mass(lumped=True), disc.stiffness
    centre = np.asarray(own.centre, dtype=float)
    s: Floats = (mesh.nodes - centre).ravel()
    rigid = np.zeros((len(s), 3))
    rigid[::2, 0] = rigid[1::2, 1] = 1.0
    rigid[::2, 2], rigid[1::2, 2] = -s[1::2], s[::2]
    rigid /= np.sqrt(np.einsum("ij,ij->j", rigid, mass @ rigid))
    V: Floats = np.asarray(own.shapes).reshape(len(s), -1)[:, : body.modes]
    touching = np.zeros(0, dtype=np.int64)
    if patch:
        chosen = choose(mesh, patch, body.patches[patch])
        middle = mesh.nodes[chosen.nodes].mean(axis=0)
        away = np.linalg.norm(mesh.nodes - middle, axis=1)
        zone = np.argsort(away, kind="stable")[:NODES]
        E = np.zeros((len(s), 2 * len(zone)))
        for k, i in enumerate(zone.tolist()):
            E[2 * i, 2 * k] = E[2 * i + 1, 2 * k + 1] = 1.0
        V = np.concatenate([V, E], axis=1)
        edge = np.unique(np.concatenate([np.ravel(e) for e in mesh.edges.values()]))
        touching = np.intersect1d(zone, edge)
    V = V - rigid @ (rigid.T @ (mass @ V))
    MV = mass @ V
    one = V[::2].T @ MV[1::2]
    part = _Part(
        name=body.name,
        at=slice(first, first + 3 + V.shape[1]),
        mass=own.mass,
        inertia=own.inertia,
        M=V.T @ MV,
        K=V.T @ (stiffness @ V),
        b=MV.T @ s,
        C=one - one.T,
        places={"": np.zeros(2)},
        shapes={},
    )
    for name, place in body.points.items():
        part.places[name] = np.array(place) - centre
        part.shapes[name] = point_rows(mesh, name, place) @ V
    for name, value in body.patches.items():
        where, rows = patch_rows(mesh, choose(mesh, name, value))
        part.places[name], part.shapes[name] = where - centre, rows[:2] @ V
    for i in touching.tolist():
        name = f"#{i}"
        part.places[name] = mesh.nodes[i] - centre
        part.shapes[name] = V[2 * i : 2 * i + 2]
        part.nodes.append(name)
    return part


class _Run:
    """One run in progress."""

    def __init__(self, system: System, options: Options, until: float) -> None:
        self.system, self.options, self.until = system, options, until
        model = system.model
        self.g = np.array(model.gravity, dtype=float)
        self.contact = self._check()
        target, _, patch = self.contact.b.partition(".")
        self.parts: dict[str, _Part] = {}
        first = 0
        for name in system.bodies[: system.n_moving]:
            body: Any = model.element(name, "velocity")
            if isinstance(body, RigidBody):
                part = _rigid(body, first)
            else:
                part = _flexible(system, body, first, patch if name == target else "")
            self.parts[name] = part
            first = part.at.stop
        self.n = first
        self.tip = self.parts[target]
        ground: Any = next(b for b in model.bodies if b.name == "ground")
        line: Line = ground.shapes[self.contact.a.partition(".")[2]]
        c, s = np.cos(line.angle), np.sin(line.angle)
        self.normal, self.along = np.array([-s, c]), np.array([c, s])
        self.level = float(self.normal @ np.array(line.point))
        law = self.contact.friction
        self.mu = (law.mu, law.static) if isinstance(law, Coulomb) else (0.0, 0.0)
        self.h = options.step or self._step()
        self.t, self.q, self.v = 0.0, np.zeros(self.n), np.zeros(self.n)
        for name, part in self.parts.items():
            where = system.coordinates(name)
            own = system.start[where]
            self.q[part.at.start : part.at.start + 3] = own[:3, 0]
            self.v[part.at.start : part.at.start + 3] = own[:3, 1]
        self._close()
        self.work, self.stuck = 0.0, set[str]()
        self.lam = np.zeros(2 * len(model.joints))
        self.closed: dict[str, tuple[float, float]] = {}
        self.rows: list[list[float]] = []
        self.records: list[EventRecord] = []
        self.names = self._names()

    def _check(self) -> Any:
        """Refuse what the scheme has no words for; return the contact."""
        model, who = self.system.model, "scheme 'appended'"
        for joint in (*model.joints, *model.drives, *model.forces, *model.events):
            if type(joint) is not Revolute or joint.friction is not None:
                raise ModelError(
                    f"{joint.label()}: {who} is for revolute joints without friction; "
                    "use scheme 'events'"
                )
        if len(model.contacts) != 1:
            raise ModelError(f"{who}: {len(model.contacts)} contacts; give one")
        contact = model.contacts[0]
        surface, _, name = contact.a.partition(".")
        ground: Any = next((b for b in model.bodies if b.name == surface), None)
        shape = getattr(ground, "shapes", {}).get(name)
        is_patch = isinstance(contact.normal, Unilateral)
        if not is_patch or surface != "ground" or not isinstance(shape, Line):
            raise ModelError(
                f"contact '{contact.name}': {who} is for a patch on a line of the "
                "ground; use scheme 'events'"
            )
        for body in model.bodies:
            if isinstance(body, FlexibleBody) and (body.fixed or body.damping):
                raise ModelError(
                    f"{body.label()}: {who} is for bodies without supports and damping"
                )
        return contact

    def _step(self) -> float:
        """Return the paper's step, or what elements at the contact allow."""
        lower = np.linalg.inv(np.linalg.cholesky(self.tip.M))
        top = float(np.linalg.eigvalsh(lower @ self.tip.K @ lower.T)[-1])
        critical = SAFETY * 2.0 / float(np.sqrt(top))
        if critical < SHORTEST:
            raise ModelError(
                f"contact '{self.contact.name}': the elements near it need steps of "
                f"{critical:.2g} s in scheme 'appended', whose nodes have mass; give "
                "larger elements there, or a step"
            )
        return min(STEP, critical)

    def _close(self) -> None:
        """Move the start onto the joints: the mass centre is that of other elements."""
        for _ in range(CLOSINGS):
            M, _ = self._system(self.q, self.v)
            Phi, g = self._joints(self.q, self.v)
            inverse = np.linalg.solve(M, Phi.T)
            self.q -= inverse @ np.linalg.solve(Phi @ inverse, g)
            self.v -= inverse @ np.linalg.solve(Phi @ inverse, Phi @ self.v)

    # -- equations -------------------------------------------------------------------

    def _system(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        M, f = np.zeros((self.n, self.n)), np.zeros(self.n)
        for part in self.parts.values():
            part.add(q, v, self.g, M, f)
        return M, f

    def _joints(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        """Return Phi_q and violations of the joints."""
        joints = self.system.model.joints
        Phi, g = np.zeros((2 * len(joints), self.n)), np.zeros(2 * len(joints))
        for k, joint in enumerate(joints):
            for end, sign in ((joint.a, -1.0), (joint.b, 1.0)):
                name, _, point = end.partition(".")
                rows = slice(2 * k, 2 * k + 2)
                if name in self.parts:
                    part = self.parts[name]
                    place, J, _ = part.motion(q, v, point)
                    Phi[rows, part.at] += sign * J
                else:
                    ground: Any = self.system.model.element(name, "points")
                    place = np.array(ground.points[point]) if point else np.zeros(2)
                g[rows] += sign * place
        return Phi, g

    def _gaps(self, q: Floats, v: Floats) -> tuple[dict[str, float], dict[str, Floats]]:
        """Return gaps of nodes that may touch, and their Jacobians."""
        gaps, rows = dict[str, float](), dict[str, Floats]()
        for node in self.tip.nodes:
            place, J, _ = self.tip.motion(q, v, node)
            gaps[node] = float(self.normal @ place) - self.level
            rows[node] = J
        return gaps, rows

    # -- steps -----------------------------------------------------------------------

    def _explicit(self) -> None:
        """Solve (4) with the nodes in contact, which settle by signs; take a step."""
        q, v, h = self.q, self.v, self.h
        M, f = self._system(q, v)
        Phi, g = self._joints(q, v)
        gaps, rows = self._gaps(q, v)
        at, n_joint = self.tip.at, len(g)
        grip = {node: node in self.stuck for node in self.closed}
        signs = dict[str, float]()
        for _ in range(ROUNDS):
            nodes = list(grip)
            stuck = [node for node in nodes if grip[node]]
            size = self.n + n_joint + len(nodes) + len(stuck)
            A, x = np.zeros((size, size)), np.zeros(size)
            A[: self.n, : self.n], x[: self.n] = M, f
            A[: self.n, self.n : self.n + n_joint] = Phi.T
            A[self.n : self.n + n_joint, : self.n] = Phi
            x[self.n : self.n + n_joint] = -(g / h + Phi @ v) / h
            place = {node: self.n + n_joint + k for k, node in enumerate(nodes)}
            beside = {n: self.n + n_joint + len(nodes) + k for k, n in enumerate(stuck)}
            for node in nodes:
                press, k = self.normal @ rows[node], place[node]
                A[k, at] = press
                A[at, k] = press
                x[k] = -(gaps[node] / h + press @ v[at]) / h
                rub = self.along @ rows[node]
                if node in beside:
                    A[beside[node], at] = A[at, beside[node]] = rub
                    x[beside[node]] = -(rub @ v[at]) / h
                else:
                    sign = signs.get(node) or float(np.sign(rub @ v[at]))
                    signs[node] = sign
                    A[at, k] -= self.mu[0] * sign * rub
            y: Floats = np.asarray(np.linalg.solve(A, x), dtype=np.float64)
            ahead = v + h * y[: self.n]
            new = self._settled(y, ahead, gaps, rows, place, beside, signs)
            if new == grip:
                break
            grip = new
        else:
            raise SolveError(
                f"t = {self.t:.6g} s, contact '{self.contact.name}': nodes in contact "
                "do not settle in scheme 'appended'",
                self._result("failed", "nodes in contact do not settle"),
            )
        self._take(y, ahead, rows, place, beside, signs)

    def _settled(
        self,
        y: Floats,
        ahead: Floats,
        gaps: dict[str, float],
        rows: dict[str, Floats],
        place: dict[str, int],
        beside: dict[str, int],
        signs: dict[str, float],
    ) -> dict[str, bool]:
        """Return the nodes in contact after a look at gaps and signs."""
        new, at = dict[str, bool](), self.tip.at
        for node, gap in gaps.items():
            if node not in place:
                end = gap + self.h * float(self.normal @ rows[node] @ ahead[at])
                if end < 0.0:
                    new[node] = False
                continue
            press = -float(y[place[node]])
            if press < 0.0:
                continue
            if node in beside:
                rub = -float(y[beside[node]])
                limit = (self.mu[1] if node in self.stuck else self.mu[0]) * press
                new[node] = abs(rub) <= limit
                if not new[node]:
                    signs[node] = -float(np.sign(rub))
            else:
                slip = float(self.along @ rows[node] @ ahead[at])
                new[node] = slip * signs[node] < 0.0
        return new

    def _take(
        self,
        y: Floats,
        ahead: Floats,
        rows: dict[str, Floats],
        place: dict[str, int],
        beside: dict[str, int],
        signs: dict[str, float],
    ) -> None:
        """Take an explicit step, and book the work of friction."""
        before, at = self.closed, self.tip.at
        self.lam = y[self.n : self.n + len(self.lam)]
        self.closed = {}
        for node, k in place.items():
            press = -float(y[k])
            if node in beside:
                rub = -float(y[beside[node]])
            else:
                rub = -self.mu[0] * signs[node] * press
            mean = 0.5 * (self.v + ahead)[at]
            self.work += self.h * rub * float(self.along @ rows[node] @ mean)
            self.closed[node] = (press, rub)
        self.stuck = set(beside)
        self.v = ahead
        self.q = self.q + self.h * ahead
        self.t += self.h
        if bool(before) != bool(self.closed):
            kind = "touch_down" if self.closed else "separate"
            name = self.contact.name
            self.records.append(EventRecord(t=self.t, element=name, kind=kind))

    def _implicit(self, h: float) -> tuple[Floats, Floats]:
        """Return the state after a step of the midpoint rule in flight."""
        q, v, a = self.q, self.v, np.zeros(self.n)
        K = np.zeros((self.n, self.n))
        for part in self.parts.values():
            tail = slice(part.at.start + 3, part.at.stop)
            K[tail, tail] = part.K
        lam = np.zeros(2 * len(self.system.model.joints))
        for _ in range(ITERATIONS):
            middle, rate = q + 0.5 * h * v + 0.25 * h * h * a, v + 0.5 * h * a
            M, f = self._system(middle, rate)
            Phi, _ = self._joints(middle, rate)
            end, g = self._joints(q + h * v + 0.5 * h * h * a, v + h * a)
            size = self.n + len(g)
            A, x = np.zeros((size, size)), np.zeros(size)
            A[: self.n, : self.n] = M + 0.25 * h * h * K
            A[: self.n, self.n :], A[self.n :, : self.n] = Phi.T, end
            x[: self.n] = f - M @ a - Phi.T @ lam
            x[self.n :] = -2.0 * g / h**2
            change = np.linalg.solve(A, x)
            a, lam = a + change[: self.n], lam + change[self.n :]
            if np.abs(change[: self.n]).max() <= CONVERGED * (1.0 + np.abs(a).max()):
                break
        self.lam = lam
        return q + h * v + 0.5 * h * h * a, v + h * a

    def _fly(self) -> bool:
        """Take an implicit step, no farther than to a contact; return if it is near."""
        h = min(FLIGHT_STEP, self.until - self.t)
        while True:
            q, v = self._implicit(h)
            if min(self._gaps(q, v)[0].values()) >= 0.0:
                self.q, self.v, self.t = q, v, self.t + h
                return False
            if h <= 2.0 * self.h:
                return True
            h *= 0.5

    # -- the run -----------------------------------------------------------------------

    def run(self, progress: Progress | None) -> Result:
        """March in contact and in flight, as gaps and multipliers tell."""
        self.begin, n_step, idle = time.process_time(), 0, 0
        gaps = self._gaps(self.q, self.v)[0]
        flies = min(gaps.values()) > self.h * float(np.abs(self.v).max())
        self.n_flight = 0
        self._record()
        while self.t < self.until * (1.0 - 1e-12):
            if flies:
                flies = not self._fly()
                self.n_flight += 1
            else:
                self._explicit()
                idle = 0 if self.closed else idle + 1
                flies = idle > CLEAR
            self._record()
            n_step += 1
            if not np.isfinite(self.rows[-1]).all():
                text = f"t = {self.t:.6g} s: the motion has diverged; give a step"
                raise SolveError(text, self._result("failed", text))
            if progress is not None and n_step % 50 == 0:
                progress(Done(min(1.0, self.t / self.until), self.t))
        return self._result("finished", "reached the end")

    def _names(self) -> tuple[str, ...]:
        names: list[str] = []
        for part in self.parts.values():
            names += [f"{part.name}.{x}" for x in ("x", "y", "theta")]
            names += [f"{part.name}.{x}" for x in ("vx", "vy", "omega")]
            for point in part.places:
                if point and not point.startswith("#"):
                    names += [f"{part.name}.{point}.{x}" for x in ("x", "y")]
                    names += [f"{part.name}.{point}.{x}" for x in ("vx", "vy")]
        joints = [joint.name for joint in self.system.model.joints]
        names += [f"{name}.force_{axis}" for name in joints for axis in "xy"]
        own = ("gap", "normal_force", "friction_force", "n_closed", "n_stuck")
        own += ("slip_velocity", "mode")
        return (*names, *(f"{self.contact.name}.{x}" for x in own))

    def _record(self) -> None:
        q, v, row = self.q, self.v, [self.t]
        potential = 0.0
        for part in self.parts.values():
            first = part.at.start
            row += [*q[first : first + 3], *v[first : first + 3]]
            for point in part.places:
                if point and not point.startswith("#"):
                    place, _, rate = part.motion(q, v, point)
                    row += [*place, *rate]
            xi = q[first + 3 : part.at.stop]
            potential += 0.5 * float(xi @ part.K @ xi)
            potential -= part.mass * float(self.g @ q[first : first + 2])
        forces = np.array([*self.closed.values()]).reshape(-1, 2).sum(axis=0)
        # On the second body of each joint.
        row += (-self.lam).tolist()
        row += [min(self._gaps(q, v)[0].values()), *forces]
        row += [float(len(self.closed)), float(len(self.stuck))]
        patch = self.contact.b.partition(".")[2]
        slip = float(self.along @ self.tip.motion(q, v, patch)[2])
        is_held = len(self.stuck) == len(self.closed)
        mode = 0.0 if is_held else float(np.sign(slip))
        row += [slip, mode if self.closed else float(OPEN_MODE)]
        M, _ = self._system(q, v)
        row += [0.5 * float(v @ M @ v), potential, self.work]
        self.rows.append(row)

    def _result(self, outcome: Any, message: str) -> Result:
        rows = np.array(self.rows)
        n_closed = self.names.index(f"{self.contact.name}.n_closed")
        track = Track(
            system=self.system,
            instants=rows[:, 0],
            names=self.names,
            rows=rows[:, 1:-3],
            kinetic=rows[:, -3],
            potential=rows[:, -2],
            works={f"{self.contact.name}.friction": rows[:, -1]},
            is_closed=(rows[:, 1 + n_closed] > 0.0).astype(float),
            records=tuple(self.records),
        )
        n = len(rows) - 1
        return Result(
            system=self.system,
            steps=track,
            t_start=0.0,
            # The last step may end after it.
            t_end=min(self.until, float(rows[-1, 0])),
            status=outcome,
            message=message,
            options=self.options.asked(self.until, step=self.h),
            cost=dict.fromkeys(("rejected", "jacobians"), 0)
            | dict.fromkeys(("steps", "evaluations"), n)
            | {
                "implicit_steps": self.n_flight,
                "cpu_seconds": time.process_time() - self.begin,
            },
            violation=0.0,
            is_projected=False,
            remarks=(
                f"scheme 'appended': steps of {self.h:.3g} s in contact, {self.n} "
                f"coordinates, {len(self.tip.nodes)} nodes that may touch",
            ),
        )
