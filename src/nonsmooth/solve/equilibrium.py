"""Static equilibrium: drives frozen at a given time, all velocities zero.

    f(q) + J(q)^T lam = 0,   g(q, t) = 0

Solved by pseudo-transient continuation: each iteration is an implicit step of the
damped motion

    | K + M/d   -J^T | | dq   |   | f + J^T lam |
    | J          0   | | dlam | = | -g          |

with K = -d(f + J^T lam)/dq, and the pseudo-step d grows as the residual falls. It
walks downhill at first, so that it finds a stable equilibrium where there is one
near, and converges quadratically at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.normal import Unilateral
from nonsmooth.errors import ModelError, SolveError, worded
from nonsmooth.kernels import entry
from nonsmooth.model import Model
from nonsmooth.pack import System, pack
from nonsmooth.result import State
from nonsmooth.result.bending import bent
from nonsmooth.solve.start import initial_values

if TYPE_CHECKING:
    from nonsmooth.result import Result

Floats = NDArray[np.float64]

MAX_ITERATION = 500
# Forces left, relative to the largest force in play.
BALANCED = 1e-11
# Where round-off of places alone leaves more than that, as behind the stiff nodes of a
# patch: the next move, in parts of the model's size and in rad, and the forces left.
SETTLED_MOVE, SETTLED = 1e-14, 1e-7
# Central differences of forces that are smooth in q: the cube root of round-off.
DIFFERENCE = 6e-6
# Largest move per iteration, in parts of the model's size and in rad.
MAX_MOVE = 0.2
# And second-order part of a body's inertia by it, see `result.bending`.
MAX_BENT = 1e-3
# Constraints left, in parts of the model's size: round-off of a few operations.
CLOSED = 1e-13
# Singular values below this part of the largest are dependent rows; redundant joints
# must not spoil the step, nor count as holding a motion.
DEPENDENT_STEP, DEPENDENT_ROW = 1e-13, 1e-9
# Rounds of weighing rows and columns; each takes the root of what is left.
N_WEIGHING = 8
# A stiffness this small beside the largest is neither stable nor unstable.
NEUTRAL = 1e-7
# The same beside the highest mode of a flexible body, which is known in closed form:
# round-off of eigenvalues alone.
NEUTRAL_MODES = 1e-14
# Elastic stiffness of a mode beside its whole, negative one from which on it is a body
# that gives way, and not one that falls over.
BUCKLES = 0.1


@dataclass(frozen=True, kw_only=True)
class Equilibrium:
    """A static equilibrium, and the small vibrations about it.

    Attributes
    ----------
    state : State
        Positions, and velocities of zero.
    stability : "stable", "unstable" or "neutral"
        By the signs of `stiffness`.
    stiffness : array
        Eigenvalues of the tangent stiffness per mass on the motions the joints
        allow, 1/s^2, increasing.
    shapes : array
        The mode of each, (n_mode, n_dof), of unit mass.
    residual : float
        Largest force left, N or N m.
    iterations : int
    notes : tuple of str
        What tells against it: how it is left, bodies that bend too far.
    """

    state: State
    stability: Literal["stable", "unstable", "neutral"]
    stiffness: Floats
    residual: float
    iterations: int
    shapes: Floats = field(repr=False)
    system: System = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def frequencies(self) -> Floats:
        """Natural frequencies, Hz; NaN for a mode in which the equilibrium is left."""
        stiffness = np.where(self.stiffness < 0.0, np.nan, self.stiffness)
        return np.sqrt(stiffness) / (2.0 * math.pi)

    def shape(self, mode: int) -> dict[str, tuple[float, ...]]:
        """Return how each body with mass moves in a mode, counted from 1.

        (x, y, theta), then the coordinates of its own.
        """
        return self.system.by_body(self.shapes[self._index(mode)])

    def motion(self, mode: int, periods: int = 6) -> Result:
        """Return a mode, counted from 1, as a run: its picture, page and columns.

        The bodies move along it by a twentieth of the model's size, joints closed.
        """
        from nonsmooth.solve.vibration import motion

        return motion(self, self._index(mode), periods)

    def _index(self, mode: int) -> int:
        n = len(self.stiffness)
        if not 1 <= mode <= n:
            raise ModelError(f"mode = {mode!r}; give 1 to {n}")
        return mode - 1


class _Statics:
    """Forces, rows and their derivatives at rest."""

    def __init__(self, system: System, t: float, only: Any = True) -> None:
        self.system, self.t = system, t
        self.work = system.work()
        self.rest = np.zeros(system.n_dof + system.n_state)
        # A point mass has no angle to balance, a fixed body no place.
        self.free = (system.tables.minv > 0.0) & only

    def forces(self, q: Floats) -> tuple[Floats, Floats, Floats]:
        """Return f, J and g at q."""
        n, n_row = self.system.n_dof, self.system.n_row
        f, J = np.zeros(n), np.zeros((n_row, n))
        m = self.system.tables
        entry.static_force(m, self.work, self.t, q, self.rest, f)
        entry.rows_matrix(m, self.work, J)
        return f, J, self.work.g.copy()

    def outer_force(self, J: Floats, lam: Floats) -> float:
        """Return the largest applied force or reaction at the pose last evaluated."""
        wrenches = self.work.wrench[:, :6]
        return _largest(self.system.tables.weight, wrenches, J.T * lam)

    def inner_force(self, q: Floats) -> float:
        """Return the largest force of contacts and modes at the pose last evaluated."""
        system = self.system
        pressed: Any = self.work.contact["lam_n"][: system.tables.n_touch]
        bent = [
            one.stiffness * q[system.coordinates(name)][3:]
            for name, one in system.flexible.items()
        ]
        return _largest(pressed, *bent)

    def mass(self) -> Floats:
        """Return the mass matrix at the pose last evaluated."""
        m, w = self.system.tables, self.work
        M = np.diag(m.mass)
        for k in range(self.system.n_moving):
            tail, first, n = int(m.body_tail[k]), int(m.body_dof[k]), int(m.body_n[k])
            if n > 3:
                own = slice(first + 3, first + n)
                M[first + 2, first + 2] = w.inertia[tail]
                M[own, first + 2] = m.mass[own] * w.couple[own]
                M[first + 2, own] = M[own, first + 2]
        return M

    def stiffness(self, q: Floats, lam: Floats) -> Floats:
        """Return K = -d(f + J^T lam)/dq by central differences."""
        n = self.system.n_dof
        K = np.zeros((n, n))
        for j in np.flatnonzero(self.free):
            step = DIFFERENCE * float(self.system.tables.scale[j])
            change = np.zeros(n)
            change[j] = step
            f1, J1, _ = self.forces(q + change)
            f0, J0, _ = self.forces(q - change)
            K[:, j] = -((f1 + J1.T @ lam) - (f0 + J0.T @ lam)) / (2.0 * step)
        return K


def _largest(*parts: Floats) -> float:
    return max(float(np.max(np.abs(part), initial=1e-300)) for part in parts)


@worded
def equilibrium(
    model: Model | System, t: float = 0.0, start: State | None = None
) -> Equilibrium:
    """Find the static equilibrium near the model's start, without friction.

    Flexible bodies are deformed, and their modes are those under load.

    Parameters
    ----------
    model : Model or System
    t : float
        Time at which drives and supports are frozen, s.
    start : State, optional
        Where to begin; the model's own start by default.

    Raises
    ------
    SolveError
        No equilibrium was found.
    """
    system = _smooth(model if isinstance(model, System) else pack(model))
    if system.full:
        raise ModelError(
            f"body '{system.full[0]}': modes = 'full' is for waves, and has no "
            "equilibrium; give the flexible bodies a number of modes"
        )
    low, high = system.span
    if not low <= t <= high:
        raise ModelError(f"t = {t:g} s: a table of the model is not defined there")
    q, _ = initial_values(system, start)
    return _balance(_Statics(system, t), q)


def _smooth(system: System) -> System:
    """Return a system whose patches are without friction: it depends on the way."""
    if not system.histories():
        return system
    model = system.model
    contacts = [
        replace(c, friction=None) if isinstance(c.normal, Unilateral) else c
        for c in model.contacts
    ]
    return pack(replace(model, contacts=contacts))


def rest_shapes(system: System, t: float, q: Floats) -> Floats:
    """Return q with the flexible bodies that start so in static equilibrium.

    All other bodies are held where they are.
    """
    own = np.zeros(system.n_dof, dtype=bool)
    for body in system.model.bodies:
        if getattr(body, "start", "given") == "static":
            own[system.coordinates(body.name)] = True
    if not own.any():
        return q
    found = _balance(_Statics(system, t, own), q).state.positions
    return np.concatenate([found[name] for name in system.bodies[: system.n_moving]])


def _balance(statics: _Statics, q: Floats) -> Equilibrium:
    """Find the equilibrium near q."""
    system, t, free = statics.system, statics.t, statics.free
    # Undeformed: the way there may lead through poses that no body can have.
    M = np.diag(system.tables.mass)[np.ix_(free, free)]
    f, J, g = statics.forces(q)
    lam: Any = np.linalg.lstsq(J[:, free].T, -f[free], rcond=None)[0]
    # A step of the damped motion that is safe wherever it begins: the time in which
    # the largest force moves the lightest body by the model's size.
    first = system.tables.body_dof[: system.n_moving]
    lightest = float(np.min(system.tables.mass[first]))
    most = max(statics.outer_force(J, lam), statics.inner_force(q))
    safe_step = np.sqrt(lightest * system.size / most)
    pseudo_step, last, residual, outer = safe_step, np.inf, np.inf, 0.0
    for iteration in range(MAX_ITERATION):
        out = f + J.T @ lam
        # At an unloaded pose no force is left to compare with: the largest so far. On
        # the way there contacts may be pressed much harder than in the end.
        outer = max(outer, statics.outer_force(J, lam))
        scale = max(outer, statics.inner_force(q))
        most = max(most, scale)
        residual = float(np.max(np.abs(out[free]), initial=0.0))
        left = float(np.max(np.abs(g), initial=0.0))
        if not np.isfinite(residual):
            break
        if residual <= BALANCED * scale and left <= CLOSED * max(system.size, 1.0):
            return _report(statics, q, lam, residual, iteration)
        size = residual / most + left / system.size
        if np.isfinite(last):
            pseudo_step *= min(10.0, max(0.1, last / max(size, 1e-300)))
            pseudo_step = max(pseudo_step, safe_step)
        last = size
        K = statics.stiffness(q, lam)[np.ix_(free, free)]
        Jf = J[:, free]
        n_row = len(Jf)
        # Downhill only: the step must see a positive stiffness on every motion that
        # the joints allow, or it would climb to an unstable pose.
        lowest = float(np.min(_modes(K, M, Jf)[0], initial=0.0))
        if lowest < 0.0:
            pseudo_step = min(pseudo_step, 1.0 / np.sqrt(-2.0 * lowest))
        matrix = np.block(
            [[K + M / pseudo_step**2, -Jf.T], [Jf, np.zeros((n_row, n_row))]]
        )
        weight = _weights(matrix) if system.tables.n_tail else np.ones(len(matrix))
        answer = (
            weight
            * (
                np.linalg.lstsq(
                    weight[:, None] * matrix * weight,
                    weight * np.concatenate([out[free], -g]),
                    rcond=DEPENDENT_STEP,
                )[0]
            )
        )
        move = np.zeros(system.n_dof)
        move[free] = answer[: len(K)]
        longest = float(np.max(np.abs(move) / system.tables.scale))
        if longest <= SETTLED_MOVE and residual <= SETTLED * most:
            return _report(statics, q, lam, residual, iteration)
        shorten = min(1.0, MAX_MOVE / longest) if longest > 0.0 else 1.0
        shorten = min(shorten, _bendable(system, move))
        q = q + shorten * move
        f, J, g = statics.forces(q)
        lam = lam + shorten * answer[len(K) :]
    raise SolveError(
        f"no static equilibrium found near the start (t = {t:g} s, force left "
        f"{residual:.3g} N); begin nearer to one, or check that something holds "
        "every motion"
    )


def _bendable(system: System, move: Floats) -> float:
    """Return the part of a move by which no body bends more than it may at once."""
    part = 1.0
    for name, one in system.flexible.items():
        eta = move[system.coordinates(name)][3:]
        change = abs(float(eta @ one.spin @ eta)) / one.inertia
        part = min(part, math.sqrt(MAX_BENT / max(change, 1e-300)))
    return part


def _weights(matrix: Floats) -> Floats:
    """Return factors of rows and columns that bring the largest entry of each to one.

    The stiffnesses of modes lie many orders of magnitude apart.
    """
    weight = np.ones(len(matrix))
    for _ in range(N_WEIGHING):
        largest = np.max(np.abs(weight[:, None] * matrix * weight), axis=1, initial=0.0)
        weight /= np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return weight


def _report(
    statics: _Statics, q: Floats, lam: Floats, residual: float, iterations: int
) -> Equilibrium:
    """Classify an equilibrium by the stiffness on the motions that joints allow."""
    system, free = statics.system, statics.free
    at = np.ix_(free, free)
    K = statics.stiffness(q, lam)[at]
    _, J, _ = statics.forces(q)
    mass = statics.mass()[at]
    if float(np.min(np.linalg.eigvalsh(mass), initial=1.0)) <= 0.0:
        raise SolveError(f"no static equilibrium: {next(bent(system, q[None]))}")
    values, vectors = _modes(K, mass, J[:, free])
    shapes = np.zeros((len(values), system.n_dof))
    shapes[:, free] = vectors.T
    beside = NEUTRAL_MODES if system.tables.n_tail else NEUTRAL
    tolerance = beside * max(float(np.max(np.abs(values), initial=0.0)), 1e-300)
    stability: Literal["stable", "unstable", "neutral"] = "stable"
    if np.any(values < -tolerance):
        stability = "unstable"
    elif np.any(values <= tolerance):
        stability = "neutral"
    notes = [*bent(system, q[None])]
    if stability == "unstable":
        notes.insert(0, _left(system, float(values[0]), shapes[0]))
    return Equilibrium(
        state=State(
            t=statics.t,
            positions=system.by_body(q),
            velocities=system.by_body(np.zeros_like(q)),
        ),
        stability=stability,
        stiffness=values,
        residual=residual,
        iterations=iterations,
        shapes=shapes,
        system=system,
        notes=tuple(notes),
    )


def _left(system: System, value: float, shape: Floats) -> str:
    """Return how an unstable equilibrium is left, in which shape."""
    found = f"not stable: it is left in mode 1, by exp(t {math.sqrt(-value):.3g}/s)"
    elastic: dict[str, float] = {}
    for name, one in system.flexible.items():
        eta = shape[system.coordinates(name)][3:]
        elastic[name] = float(one.stiffness @ eta**2)
    if sum(elastic.values()) > -BUCKLES * value:
        bends = max(elastic, key=lambda name: elastic[name])
        found += f"; body '{bends}' buckles: its load is above the critical one"
    return found


def _modes(K: Floats, M: Floats, J: Floats) -> tuple[Floats, Floats]:
    """Return stiffness per mass, 1/s^2, and shapes on the motions that J allows."""
    # Imported here: runs that need no equilibrium should not pay for SciPy.
    from scipy.linalg import eigh

    basis = _null_space(J)
    reduced = basis.T @ K @ basis
    found: Any = eigh(0.5 * (reduced + reduced.T), basis.T @ M @ basis)
    return found[0], basis @ found[1]


def _null_space(J: Floats) -> Floats:
    if len(J) == 0:
        return np.eye(J.shape[1])
    _, values, rows = np.linalg.svd(J)
    rank = int(np.sum(values > DEPENDENT_ROW * max(float(values[0]), 1e-300)))
    return rows[rank:].T
