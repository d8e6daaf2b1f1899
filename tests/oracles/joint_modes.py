# pyright: basic, reportArgumentType=false, reportCallIssue=false
# pyright: reportAttributeAccessIssue=false, reportReturnType=false
# pyright: reportOptionalOperand=false
"""All motions that friction in joints allows, by trying every mode.

Plain numpy from the model as data. M a = F + Jᵀ lam + Wᵀ f, J a = −J' v; joints without
their friction react with lam = lam_0 + Y f, and slip accelerates with A f + b. A joint
in motion, or one at rest that starts in the direction s = ±1, has

    f = −s mu G,    G = sum of ± its flanks' forces, each sign being tried,

with mu_static at rest, and its flanks and its acceleration must agree with the signs. A
joint that stays at rest has zero acceleration and |f| <= mu_static G. Where several
joints block one motion their friction is a family; whether it is empty is asked of a
linear program.

For point sliders, blocks and constant forces; pins and bars are without friction.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from nonsmooth import (
    Couple,
    Distance,
    Model,
    PinInSlot,
    PointForce,
    Prismatic,
    RigidBody,
)
from nonsmooth.elements.friction import Coulomb

Array = NDArray[np.float64]
Joint = PinInSlot | Prismatic

# Difference for the rate of Jacobians, s; modes must agree to this part of the forces.
RATE, AGREES = 1e-6, 1e-9
# Condition beyond which rows are redundant.
REDUNDANT = 1e11


@dataclass(frozen=True)
class Motion:
    """One motion: slip accelerations, and friction that goes with it."""

    mode: tuple[int, ...]
    rate: Array  # m/s², of every joint's slip
    friction: Array  # N; one of a family where joints share it


@dataclass(frozen=True)
class _Problem:
    """Reactions lam = lam_0 + Y f and slip accelerations A f + b."""

    joints: list[Joint]
    row: list[int]  # first row of each
    lam: Array
    Y: Array
    A: Array
    b: Array
    v: Array  # slip velocities


class _Bodies:
    """Jacobians of points of a model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.bodies = [b for b in model.bodies if isinstance(b, RigidBody)]
        self.place = {body.name: 3 * k for k, body in enumerate(self.bodies)}
        self.points = {b.name: getattr(b, "points", {}) for b in model.bodies}

    def point(self, name: str, q: Array) -> Array:
        body, _, point = name.partition(".")
        local = np.array(self.points[body][point] if point else (0.0, 0.0))
        if body not in self.place:
            return local
        x, y, theta = q[self.place[body] : self.place[body] + 3]
        c, s = np.cos(theta), np.sin(theta)
        return np.array([x, y]) + np.array([[c, -s], [s, c]]) @ local

    def angle(self, name: str, q: Array) -> float:
        body = name.partition(".")[0]
        return float(q[self.place[body] + 2]) if body in self.place else 0.0

    def matter(self, name: str, q: Array, place: Array) -> Array:
        """Velocity, per unit of each coordinate's, of the matter at a place."""
        J = np.zeros((2, len(q)))
        body = name.partition(".")[0]
        if body in self.place:
            o = self.place[body]
            dx, dy = place - q[o : o + 2]
            J[:, o : o + 3] = [[1.0, 0.0, -dy], [0.0, 1.0, dx]]
        return J

    def turn(self, name: str, q: Array) -> Array:
        J = np.zeros(len(q))
        body = name.partition(".")[0]
        if body in self.place:
            J[self.place[body] + 2] = 1.0
        return J

    def rows(self, q: Array) -> tuple[Array, Array, list[Joint], list[int]]:
        """Return J, W, and the joints with friction with their first rows."""
        J: list[Array] = []
        W: list[Array] = []
        joints: list[Joint] = []
        first: list[int] = []
        for joint in self.model.joints:
            place = self.point(joint.b, q)
            other = place if not isinstance(joint, Distance) else self.point(joint.a, q)
            D = self.matter(joint.b, q, place) - self.matter(joint.a, q, other)
            if isinstance(joint, PinInSlot | Prismatic):
                phi = self.angle(joint.a, q) + joint.axis
                if joint.friction is not None:
                    joints.append(joint)
                    first.append(len(J))
                    W.append(np.cos(phi) * D[0] + np.sin(phi) * D[1])
                J.append(-np.sin(phi) * D[0] + np.cos(phi) * D[1])
                if isinstance(joint, Prismatic):
                    J.append(self.turn(joint.b, q) - self.turn(joint.a, q))
            elif isinstance(joint, Distance):
                along = place - other
                J.append(along / np.hypot(*along) @ D)
            else:
                J.extend(D)
        return np.array(J), np.array(W), joints, first

    def force(self, q: Array) -> Array:
        gx, gy = self.model.gravity
        F = np.array([x for b in self.bodies for x in (b.mass * gx, b.mass * gy, 0.0)])
        for force in self.model.forces:
            if isinstance(force, PointForce):
                J = self.matter(force.b, q, self.point(force.b, q))
                F += J.T @ np.array([force.fx, force.fy], dtype=float)
            else:
                assert isinstance(force, Couple)
                assert isinstance(force.torque, float)
                F += force.torque * self.turn(force.b, q)
        return F


def start(model: Model) -> Array:
    """Return the positions of all bodies with mass at the start."""
    bodies = [b for b in model.bodies if isinstance(b, RigidBody)]
    return np.array([x for b in bodies for x in (*b.position, b.angle)], dtype=float)


def random_velocity(model: Model, rng: np.random.Generator) -> Array:
    """Return velocities that the joints allow at the start."""
    q = start(model)
    J = _Bodies(model).rows(q)[0]
    v = rng.normal(size=len(q))
    return v - np.linalg.pinv(J) @ (J @ v)


def _pose(model: Model, q: Array, v: Array) -> _Problem:
    bodies = _Bodies(model)
    J, W, joints, row = bodies.rows(q)
    ahead, behind = (bodies.rows(q + s * RATE * v)[:2] for s in (1.0, -1.0))
    bias, drift = (
        (x - y) @ v / (2.0 * RATE) for x, y in zip(ahead, behind, strict=True)
    )
    inverse = np.array(
        [1.0 / x for b in bodies.bodies for x in (b.mass, b.mass, b.inertia)]
    )
    F = bodies.force(q)
    S = J * inverse @ J.T
    lam = np.linalg.solve(S, -bias - J @ (inverse * F))
    Y = -np.linalg.solve(S, J * inverse @ W.T)
    A = W * inverse @ (W.T + J.T @ Y)
    b = W @ (inverse * (F + J.T @ lam)) + drift
    return _Problem(joints, row, lam, Y, A, b, W @ v)


def _flanks(p: _Problem, k: int, phi: float) -> Array:
    """Return the coefficients of the flanks' forces of joint k on all reactions."""
    joint, i = p.joints[k], p.row[k]
    if isinstance(joint, PinInSlot):
        flanks = np.zeros((1, len(p.lam)))
        flanks[0, i] = 1.0
        return flanks
    assert joint.length is not None
    flanks = np.zeros((2, len(p.lam)))
    turn = 0.5 * phi * joint.height / joint.length
    flanks[:, i] = 0.5 + turn, 0.5 - turn
    flanks[:, i + 1] = 1.0 / joint.length, -1.0 / joint.length
    return flanks


def _mu(p: _Problem, k: int) -> tuple[float, float]:
    law = p.joints[k].friction
    assert isinstance(law, Coulomb)
    return law.mu, law.static


def motions(model: Model, q: Array, v: Array) -> list[Motion]:
    """Return every motion that satisfies the friction law at a state."""
    p = _pose(model, q, v)
    n = len(p.joints)
    rests = np.abs(p.v) <= AGREES
    found: list[Motion] = []
    for mode in itertools.product(
        *((0, 1, -1) if rests[k] else (int(np.sign(p.v[k])),) for k in range(n))
    ):
        phi = [mode[k] * _mu(p, k)[int(rests[k])] for k in range(n)]
        flanks = [_flanks(p, k, phi[k]) for k in range(n)]
        slips = [k for k in range(n) if mode[k]]
        n_flank = sum(len(flanks[k]) for k in slips)
        for signs in itertools.product((1.0, -1.0), repeat=n_flank):
            motion = _try(p, mode, rests, phi, flanks, slips, signs)
            if motion is not None and not any(
                np.allclose(motion.rate, other.rate, rtol=1e-6, atol=1e-6)
                for other in found
            ):
                found.append(motion)
    return found


def _try(
    p: _Problem,
    mode: tuple[int, ...],
    rests: NDArray[np.bool_],
    phi: list[float],
    flanks: list[Array],
    slips: list[int],
    signs: tuple[float, ...],
) -> Motion | None:
    """Solve one mode with given signs of flanks; None if it does not agree."""
    n = len(mode)
    M, right = p.A.copy(), -p.b
    left = iter(signs)
    pressed: list[Array] = []
    for k in slips:
        own = [next(left) * flank for flank in flanks[k]]
        pressed.extend(own)
        load = np.sum(own, axis=0)
        M[k] = phi[k] * (load @ p.Y)
        M[k, k] += 1.0
        right[k] = -phi[k] * (load @ p.lam)
    if np.linalg.cond(M) > REDUNDANT:
        f = _shared(p, mode, slips, pressed, M, right)
        return None if f is None else Motion(mode, p.A @ f + p.b, f)
    f = np.linalg.solve(M, right)
    lam, rate = p.lam + p.Y @ f, p.A @ f + p.b
    size = AGREES * max(1.0, float(np.max(np.abs(lam))))
    if any(flank @ lam < -size for flank in pressed):
        return None
    for k in range(n):
        if mode[k] and rests[k] and mode[k] * rate[k] < -AGREES:
            return None
        if not mode[k]:
            # As much as a slip against it would meet.
            mu = _mu(p, k)[1]
            load = np.abs(_flanks(p, k, -mu if f[k] > 0.0 else mu) @ lam).sum()
            if abs(f[k]) > mu * load + size:
                return None
    return Motion(mode, rate, f)


def _shared(
    p: _Problem,
    mode: tuple[int, ...],
    slips: list[int],
    pressed: list[Array],
    M: Array,
    right: Array,
) -> Array | None:
    """Return friction that points at rest may share within their limits, or None."""
    n = len(mode)
    stuck = [k for k in range(n) if not mode[k]]
    if not all(isinstance(p.joints[k], PinInSlot) for k in stuck):
        raise NotImplementedError("blocks that share friction")
    rows = [(-flank @ p.Y, float(flank @ p.lam)) for flank in pressed]
    rows += [(-mode[k] * p.A[k], float(mode[k] * p.b[k])) for k in slips]
    for sides in itertools.product((1.0, -1.0), repeat=len(stuck)):
        limits: list[tuple[Array, float]] = []
        for k, side in zip(stuck, sides, strict=True):
            mu, i = _mu(p, k)[1], p.row[k]
            own = np.eye(n)[k]
            load, bare = side * p.Y[i], float(side * p.lam[i])
            limits += [(-load, bare), (own - mu * load, mu * bare)]
            limits.append((-own - mu * load, mu * bare))
        left, bound = zip(*rows, *limits, strict=True)
        found = linprog(
            np.zeros(n),
            A_ub=np.array(left),
            b_ub=np.array(bound),
            A_eq=M,
            b_eq=right,
            bounds=[(None, None)] * n,
        )
        if found.status == 0:
            return np.asarray(found.x, dtype=float)
    return None
