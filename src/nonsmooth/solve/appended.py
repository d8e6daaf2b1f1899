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
floating frame, the modes that it has, and nodes with mass where contact happens
(`solve.mixed`).

In contact steps are explicit, by central differences: velocities are those half a step
before the places. gamma is what brings the constraints to zero at the end of a step,
-(g/h + Phi_q v)/h. A node is in contact where it would overlap, until its multiplier
would pull; it sticks, with a second row, or slips with mu times the normal multiplier.
In flight steps are implicit, by the midpoint rule.

A node that touches is stopped, and its kinetic energy is lost: the work of the normal
multipliers, which is that and nothing else, is booked as `onset`.

Friction by nodes, gamma, the midpoint rule and when a flight begins are ours.

References
----------
[HongLiu2012]_ Eqs. (1)-(4), section 3.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import OPEN_MODE
from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.joints import Revolute
from nonsmooth.elements.normal import Unilateral
from nonsmooth.elements.shapes import Line
from nonsmooth.errors import ModelError, SolveError
from nonsmooth.pack import System
from nonsmooth.pack.magnitudes import notes_on_angles
from nonsmooth.result import Result
from nonsmooth.result.event_table import EventRecord
from nonsmooth.result.track import Track
from nonsmooth.solve.mixed import Part, critical, flexible_part, rigid_part
from nonsmooth.solve.options import Options
from nonsmooth.solve.progress import Done, Progress

Floats = NDArray[np.float64]

STEP, FLIGHT_STEP = 2e-7, 5e-3  # s, in contact and in flight
# s, explicit steps that are not worth it.
SHORTEST = 2e-8
# s without contact after which a flight begins.
CLEAR = 2e-4
# Rounds in which the nodes in contact settle, all together and then one by one.
TOGETHER, ROUNDS = 10, 200
ITERATIONS, CONVERGED = 40, 1e-10  # of the implicit steps, and when to stop
CLOSINGS = 4  # of the joints at the start, each squares what is left


def march_appended(
    system: System, options: Options, until: float, progress: Progress | None
) -> Result:
    """Simulate by the paper's scheme."""
    return _Run(system, options, until).run(progress)


class _Run:
    """One run in progress."""

    def __init__(self, system: System, options: Options, until: float) -> None:
        self.system, self.options, self.until = system, options, until
        model = system.model
        self.g = np.array(model.gravity, dtype=float)
        self.contact = self._check()
        target, _, patch = self.contact.b.partition(".")
        self.parts: dict[str, Part] = {}
        first, step = 0, options.step or STEP
        for name in system.bodies[: system.n_moving]:
            body: Any = model.element(name, "velocity")
            if isinstance(body, RigidBody):
                part = rigid_part(body, first)
            else:
                where = patch if name == target else ""
                part = flexible_part(system, body, first, where, step)
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
        self.h = self._step()
        self.t, self.q, self.v = 0.0, np.zeros(self.n), np.zeros(self.n)
        for name, part in self.parts.items():
            where = system.coordinates(name)
            own = system.start[where]
            self.q[part.at.start : part.at.start + 3] = own[:3, 0]
            self.v[part.at.start : part.at.start + 3] = own[:3, 1]
        self._close()
        self.before = self.q  # places at the begin of an explicit step
        self.is_behind = False  # velocities, by half a step
        self.violation = 0.0  # of joints, m
        self.work, self.onset, self.stuck = 0.0, 0.0, set[str]()
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
            if not isinstance(body, FlexibleBody):
                continue
            if self.system.flexible[body.name].mesh is None:
                raise ModelError(f"{body.label()}: {who} needs a mesh with elements")
            if body.fixed or body.damping:
                raise ModelError(
                    f"{body.label()}: {who} is for bodies without supports and damping"
                )
        return contact

    def _step(self) -> float:
        """Return the wanted step, or what all shapes of the body allow."""
        given, most = self.options.step, critical(self.tip.M, self.tip.K)
        if given is not None and given > most:
            raise ModelError(
                f"step = {given:g}; explicit steps of scheme 'appended' are stable to "
                f"{most:.2g} s with the modes and nodes of '{self.tip.name}'"
            )
        if given is None and most < SHORTEST:
            raise ModelError(
                f"contact '{self.contact.name}': modes and nodes of '{self.tip.name}' "
                f"need steps of {most:.2g} s in scheme 'appended'; give fewer modes, "
                "or a step"
            )
        return given or min(STEP, most)

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
        for k_round in range(ROUNDS):
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
            if k_round < TOGETHER:
                grip = new
                continue
            first = next(n for n in self.tip.nodes if new.get(n) != grip.get(n))
            grip.pop(first, None)
            if first in new:
                grip[first] = new[first]
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
            way = self.h * rows[node] @ (0.5 * (self.v + ahead)[at])
            self.work += rub * float(self.along @ way)
            self.onset += press * float(self.normal @ way)
            self.closed[node] = (press, rub)
        self.stuck = set(beside)
        self.before, self.v = self.q, ahead
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

    def _stagger(self, is_behind: bool) -> None:
        """Move velocities half a step behind the places, or back to them, by (1)."""
        if is_behind == self.is_behind:
            return
        h = -0.5 * self.h if is_behind else 0.5 * self.h
        self.is_behind, self.before = is_behind, self.q
        q, v, n = self.q, self.v, self.n
        M, f = self._system(q, v)
        Phi, g = self._joints(q, v)
        # Phi_q changes along v: by differences over a way that flights take.
        ends = [self._joints(q + sign * self.h * v, v)[0] @ v for sign in (-1.0, 1.0)]
        A, x = np.zeros((n + len(g), n + len(g))), np.zeros(n + len(g))
        A[:n, :n], x[:n] = M, f
        A[:n, n:], A[n:, :n] = Phi.T, Phi
        x[n:] = (ends[0] - ends[1]) / (2.0 * self.h)
        self.v = v + h * np.asarray(np.linalg.solve(A, x))[:n]

    def _fly(self) -> bool:
        """Take an implicit step before a contact; return whether there was room."""
        h = min(FLIGHT_STEP, self.until - self.t)
        while True:
            q, v = self._implicit(h)
            if min(self._gaps(q, v)[0].values()) >= 0.0:
                self.q, self.v, self.t, self.before = q, v, self.t + h, q
                return True
            if h <= 2.0 * self.h:
                return False
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
            self._stagger(not flies)
            if flies:
                flies = self._fly()
                idle = 0
                if not flies:
                    continue
                self.n_flight += 1
            else:
                self._explicit()
                idle = 0 if self.closed else idle + 1
                flies = idle * self.h > CLEAR
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
            kinds = ("eta", "eta_rate")
            names += [f"{part.name}.{x}.{j}" for x in kinds for j in range(part.n_eta)]
            for point in part.named:
                names += [f"{part.name}.{point}.{x}" for x in ("x", "y", "vx", "vy")]
        joints = [joint.name for joint in self.system.model.joints]
        names += [f"{name}.force_{axis}" for name in joints for axis in "xy"]
        own = ("gap", "gap_rate", "normal_force", "friction_force", "slip_velocity")
        own += ("point_x", "point_y", "normal_x", "normal_y", "width")
        own += ("n_closed", "n_stuck", "mode")
        return (*names, *(f"{self.contact.name}.{x}" for x in own))

    def _record(self) -> None:
        """Keep named quantities at the end of a step, and the ledger of its middle."""
        q, v, row = self.q, self.v, [self.t]
        off = float(np.max(np.abs(self._joints(q, v)[1]), initial=0.0))
        self.violation = max(self.violation, off)
        for part in self.parts.values():
            x, rate = q[part.at], v[part.at]
            row += [*x[:3], *rate[:3]]
            if part.n_eta:
                row += [*(part.seen @ x[3:]), *(part.seen @ rate[3:])]
            for point in part.named:
                place, _, velocity = part.motion(q, v, point)
                row += [*place, *velocity]
        # On the second body of each joint.
        row += (-self.lam).tolist()
        row += self._pressed()
        M, _ = self._system(0.5 * (self.before + q), v)
        parts = self.parts.values()
        potential = sum(part.potential(self.before, q, self.g) for part in parts)
        row += [0.5 * float(v @ M @ v), potential, self.work, self.onset]
        self.rows.append(row)

    def _pressed(self) -> list[float]:
        """Return the columns of the contact."""
        q, v, tip = self.q, self.v, self.tip
        gaps, _ = self._gaps(q, v)
        nearest = min(gaps, key=lambda node: gaps[node])
        rate = float(self.normal @ tip.motion(q, v, nearest)[2])
        nodes = list(self.closed) or [nearest]
        places = np.array([tip.motion(q, v, node)[0] for node in nodes])
        forces = np.array([*self.closed.values()]).reshape(-1, 2)
        press, rub = forces.sum(axis=0)
        share = forces[:, 0] / press if press > 0.0 else np.full(len(nodes), 1.0)
        point = share @ places / share.sum()
        patch = self.contact.b.partition(".")[2]
        slip = float(self.along @ tip.motion(q, v, patch)[2])
        is_held = len(self.stuck) == len(self.closed)
        mode = 0.0 if is_held else float(np.sign(slip))
        width = float(np.ptp(places @ self.along))
        row = [gaps[nearest], rate, press, rub, slip, *point, *self.normal, width]
        row += [float(len(self.closed)), float(len(self.stuck))]
        return [*row, mode if self.closed else float(OPEN_MODE)]

    def _result(self, outcome: Any, message: str) -> Result:
        rows = np.array(self.rows)
        n_closed = self.names.index(f"{self.contact.name}.n_closed")
        track = Track(
            system=self.system,
            instants=rows[:, 0],
            names=self.names,
            rows=rows[:, 1:-4],
            kinetic=rows[:, -4],
            potential=rows[:, -3],
            works={
                f"{self.contact.name}.friction": rows[:, -2],
                f"{self.contact.name}.onset": rows[:, -1],
            },
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
            violation=self.violation,
            is_projected=False,
            remarks=(
                f"scheme 'appended': steps of {self.h:.3g} s in contact, {self.n} "
                f"coordinates, {len(self.tip.nodes)} nodes that may touch",
                *notes_on_angles(self.system.model),
            ),
        )
