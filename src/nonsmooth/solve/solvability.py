"""How many solutions the friction of joints has at a state.

The load of a joint depends on its friction, which depends on the load. With

    A+ w = A- z + b,    0 <= w _|_ z >= 0

of `kernels.flanks` there is one solution for every b as long as the determinants of
S + S* D share one sign for all signs D; beyond, there are several or none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ModelError, worded
from nonsmooth.kernels import entry
from nonsmooth.kernels.friction import flanks
from nonsmooth.kernels.look import Look
from nonsmooth.kernels.mechanics.tables import FACES, GUIDE, PIN
from nonsmooth.kernels.run import MAX_PAIR
from nonsmooth.model import Model
from nonsmooth.pack import System, pack
from nonsmooth.result import State
from nonsmooth.solve.options import Options
from nonsmooth.solve.schemes.base import decision_of, settings_of, sizes_of, step_at
from nonsmooth.solve.start import consistent_start

Floats = NDArray[np.float64]

# Joints whose signs, flank and slip, are all tried.
MAX_SIGNS = 12
# Motions nearer than this, beside the largest force or acceleration, are one.
SAME = 1e-7
# Factors between which a critical one is looked for, and in how many places.
FACTORS = np.geomspace(1e-3, 1e4, 701)


@dataclass(frozen=True, kw_only=True)
class JointForce:
    """Forces of one joint in one solution."""

    normal_force: float  # N, along the normal; of a pin its magnitude
    friction_force: float  # N
    side: int  # sign of the normal force
    slip: Literal["stick", "slip+", "slip-"]

    def __str__(self) -> str:
        """Return the forces in words."""
        return (
            f"{self.slip}, normal force {self.normal_force:.6g} N, friction "
            f"{self.friction_force:.6g} N"
        )


Solution = dict[str, JointForce]


@dataclass(frozen=True, kw_only=True)
class Solvability:
    """What the friction problem of the joints allows at a state.

    Attributes
    ----------
    status : "unique", "several" or "none"
        Motions, and forces of joints that slide, that the forces at this state allow.
        Friction that joints at rest may share as they like is one of them.
    is_always_unique : bool
        Whether it would be unique whatever the forces.
    margin : float
        Least determinant of S + S* D over that of S, over all flanks, and both slips of
        joints at rest: 1 without friction, <= 0 where uniqueness is lost.
    critical_factor : float
        By which all coefficients could be multiplied before it is lost, inf if never.
    solutions : tuple of dict
        Forces of the joints with friction, by name, for each solution.
    """

    status: Literal["unique", "several", "none"]
    is_always_unique: bool
    margin: float
    critical_factor: float
    solutions: tuple[Solution, ...]

    def __str__(self) -> str:
        """Return the answer in words."""
        lines = [
            f"{self.status}; margin {self.margin:.6g}, critical factor of friction "
            f"{self.critical_factor:.6g}"
        ]
        for k, solution in enumerate(self.solutions, 1):
            parts = (f"{name}: {force}" for name, force in solution.items())
            lines.append(f"  {k}. " + "; ".join(parts))
        return "\n".join(lines)


@worded
def solvability(model: Model | System, start: State | None = None) -> Solvability:
    """Tell how many solutions the friction of joints has at a state.

    Parameters
    ----------
    model : Model or System
    start : State, optional
        A state of a run, `result.state(t)`; the model's own start by default.

    Returns
    -------
    Solvability
    """
    system = model if isinstance(model, System) else pack(model)
    if not system.slides:
        raise ModelError(f"{system.model.label()}: no joint has friction")
    t = start.t if start is not None else 0.0
    work, options, m = system.work(), Options(branch="least"), system.tables
    q, v = consistent_start(system, work, t, start, None)
    # The arrays of the problem are those of a run.
    sizes = sizes_of(system, options)
    settings = settings_of(system, options, math.inf)
    run = decision_of(sizes, step_at(sizes, settings, Look(), t, q, v))
    parts: list[Solvability] = []
    for g in range(m.n_group):
        if m.group_slide[g + 1] > m.group_slide[g]:
            entry.friction_problem(m, work, run, t, g)
            if run.n_term:
                parts.append(_group(system, run, work))
    return _together(parts)


def _together(parts: list[Solvability]) -> Solvability:
    """Join independent groups: a solution of all is one of each."""
    if len(parts) == 1:
        return parts[0]
    solutions = tuple(
        {name: force for part in choice for name, force in part.items()}
        for choice in itertools.product(*(part.solutions for part in parts))
    )
    return Solvability(
        status=_status(len(solutions)),
        is_always_unique=all(part.is_always_unique for part in parts),
        margin=min((part.margin for part in parts), default=1.0),
        critical_factor=min((part.critical_factor for part in parts), default=math.inf),
        solutions=solutions,
    )


def _status(n: int) -> Literal["unique", "several", "none"]:
    return "unique" if n == 1 else ("several" if n > 1 else "none")


def _group(system: System, run: Any, work: Any) -> Solvability:
    """Answer for the group whose problem stands in the run's arrays."""
    solutions = group_solutions(system, run)
    joints = _Joints(system, run, work)
    margin = joints.margin(1.0)
    return Solvability(
        status=_status(len(solutions)),
        is_always_unique=margin > 0.0,
        margin=margin,
        critical_factor=joints.critical_factor(),
        solutions=tuple(solutions),
    )


def group_solutions(system: System, run: Any) -> list[Solution]:
    """Return the solutions of the problem that stands in the run's arrays."""
    from nonsmooth.complementarity import all_hlcp_solutions

    n, nt, nf = run.n_listed, run.n_term, run.n_force
    size = nt + 2 * n
    if size > MAX_PAIR:
        return []
    shape = (size, size)
    found = all_hlcp_solutions(
        run.A_plus[: size * size].reshape(shape),
        run.A_minus[: size * size].reshape(shape),
        run.b_hlcp[:size],
    )
    coef = run.coef[: nf * (nt + n)].reshape(nf, nt + n)
    solutions: list[Solution] = []
    motions: list[Floats] = []
    rests = run.term_force[:nt] < n
    scale = float(np.max(np.abs(run.b_hlcp[:size]), initial=0.0))
    for point in found:
        both = np.concatenate([point.w[:nt] + point.z[:nt], point.z[nt : nt + n]])
        friction = run.constant[:nf] + coef @ both
        flank = point.w[:nt] - point.z[:nt]
        rate = point.w[nt : nt + n] - point.z[nt + n :]
        solution: Solution = {}
        for place in range(nf):
            k = int(run.listed[place])
            if k < len(system.contacts):
                continue
            is_own = run.term_force[:nt] == place
            # Flanks against a backward slip repeat those against a forward one.
            is_own &= run.term_kind[:nt] != flanks.BACKWARD
            force = float(flank[is_own].sum())
            slip = float(rate[place]) if place < n else -float(friction[place])
            name: Any = "stick" if slip == 0.0 else ("slip+" if slip > 0 else "slip-")
            solution[system.with_mode[k]] = JointForce(
                normal_force=force,
                friction_force=float(friction[place]),
                side=int(np.sign(force)),
                slip=name,
            )
        # Friction that is not unique, of joints that hold each other, is one motion.
        motion = np.concatenate([rate, np.where(rests, 0.0, flank)])
        scale = max(scale, float(np.max(np.abs(motion), initial=0.0)))
        same = SAME * scale
        if all(np.max(np.abs(motion - other)) > same for other in motions):
            motions.append(motion)
            solutions.append(solution)
    return solutions


class _Joints:
    """Reactions of a group's joints under each other's friction."""

    def __init__(self, system: System, run: Any, work: Any) -> None:
        m = system.tables
        nf = run.n_force
        listed = run.listed[:nf]
        places = np.flatnonzero(listed >= m.n_touch)
        self.k = [int(k) for k in listed[places]]
        response = run.reaction[: 2 * nf * nf].reshape(nf, 2, nf)
        self.response = response[places][:, :, places]
        self.is_resting = places < run.n_listed
        self.phi: Floats = np.where(
            self.is_resting, m.contact_mu0[self.k], work.contact["phi"][self.k]
        )
        self.kind = m.contact_kind[self.k]
        self.cone = work.cone[self.k]
        self.length = m.contact_length[self.k]
        self.height = m.contact_height[self.k]

    def _flanks(self, place: int, phi: float) -> list[Floats]:
        """Return the coefficients of the flanks' forces on the two reactions."""
        if self.kind[place] == PIN:
            return [self.cone[place, :2]]
        if self.kind[place] == FACES:
            first = 3 * (0 if phi == 0.0 else 1 if phi > 0.0 else 2)
            return [self.cone[place, first : first + 2]]
        if self.kind[place] == GUIDE:
            turn = 0.5 * phi * self.height[place] / self.length[place]
            arm = 1.0 / self.length[place]
            return [np.array([0.5 + turn, arm]), np.array([0.5 - turn, -arm])]
        return [np.array([1.0, 0.0])]

    def _determinants(self, factor: float) -> list[float]:
        """Return the determinants of I + D Phi for all signs of flanks and slips."""
        n = len(self.k)
        slips: list[tuple[float, ...]] = [
            (1.0, -1.0) if rests else (1.0,) for rests in self.is_resting
        ]
        values: list[float] = []
        for slip in itertools.product(*slips):
            phi: Floats = np.asarray(factor * np.array(slip) * self.phi)
            rows: list[list[Floats]] = [
                [
                    np.asarray(c @ self.response[i] * phi)
                    for c in self._flanks(i, float(phi[i]))
                ]
                for i in range(n)
            ]
            n_flank = sum(len(row) for row in rows)
            for signs in itertools.product((1.0, -1.0), repeat=n_flank):
                left = iter(signs)
                D = np.zeros((n, n))
                for i, row in enumerate(rows):
                    for part in row:
                        D[i] += next(left) * part
                values.append(float(np.linalg.det(np.eye(n) + D)))
        return values

    def margin(self, factor: float) -> float:
        """Return the least determinant with friction multiplied by a factor."""
        n_sign = int(np.sum(np.where(self.kind == GUIDE, 2, 1) + self.is_resting))
        if n_sign > MAX_SIGNS:
            return math.nan
        return min(self._determinants(factor))

    def critical_factor(self) -> float:
        """Return the least factor at which a determinant is zero."""
        margin: Callable[[float], float] = self.margin
        if math.isnan(margin(1.0)):
            return math.nan
        low = 0.0
        for high in FACTORS.tolist():
            if margin(high) <= 0.0:
                break
            low = high
        else:
            return math.inf
        for _ in range(80):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if margin(middle) > 0.0 else (low, middle)
        return high
