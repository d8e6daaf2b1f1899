"""What to say when no mode can be chosen at an event."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonsmooth.errors import FAILURES
from nonsmooth.kernels import flanks, switch
from nonsmooth.kernels.run import Run
from nonsmooth.kernels.tables import Work
from nonsmooth.result import State, mode_name, triples
from nonsmooth.solve.solvability import Solution, group_solutions, solvability
from nonsmooth.system import System

# Contacts at rest for which all modes are tried, 4^n bases.
MAX_TRIED = 5
# Least determinant, beside that without friction, at which a step that shrinks to
# round-off does so because forces grow without bound.
JAMMING = 1e-2

_REASONS = {
    switch.UNSOLVED: "undecided",
    switch.WRONG: "wrong_mode",
    switch.CHATTERING: "chattering",
}


def undecided(system: System, state: Run, work: Work) -> str:
    """Return the sentence: time, contacts, candidate modes, what to try."""
    status = state.switch_status
    if status == switch.JAMMED:
        return FAILURES["jammed"].format(
            t=state.t_fail, who=_joints(system, _all_slides(system))
        )
    if status == switch.NOT_UNIQUE and state.lcp_status != flanks.SEVERAL:
        return FAILURES["not_unique"].format(
            t=state.t_fail,
            who=_joints(system, _all_slides(system)),
            solutions=_present(system, work),
        )
    if _is_of_joints(system, state):
        return _of_joints(system, state)
    n = state.n_listed
    if status == switch.UNSOLVED:
        listed = [int(k) for k in state.listed[:n]]
        candidates = _candidates(system, state, listed)
    else:
        listed = [int(k) for k in np.flatnonzero(work.side == 1)]
        candidates = [_now(system, work, listed)]
    return FAILURES[_REASONS[status]].format(
        t=state.t_fail,
        who=", ".join(f"'{system.with_mode[k]}'" for k in listed),
        modes="; ".join(candidates) or "none found",
    )


def jams(system: System, state: Run, work: Work) -> str | None:
    """Return the sentence for a run that cannot go on because a joint jams, if so."""
    if not system.slides:
        return None
    n = system.n_dof
    names = system.bodies[: system.n_moving]
    here = State(
        t=float(state.t),
        positions=triples(names, state.y[:n]),
        velocities=triples(names, state.y[n : 2 * n]),
    )
    margin = solvability(system, here).margin
    if not margin < JAMMING:
        return None
    return FAILURES["jams"].format(
        t=state.t,
        who=_joints(system, _all_slides(system)),
        margin=margin,
        solutions=_present(system, work),
    )


def _all_slides(system: System) -> list[int]:
    return list(range(len(system.contacts), len(system.with_mode)))


def _is_of_joints(system: System, state: Run) -> bool:
    """Return whether a problem with joints was not solved."""
    is_failed = state.switch_status in (switch.UNSOLVED, switch.NOT_UNIQUE)
    listed = state.listed[: state.n_force]
    return is_failed and bool(np.any(listed >= len(system.contacts)))


def _of_joints(system: System, state: Run) -> str:
    """Return the sentence for joints with several solutions, or none."""
    listed = [int(k) for k in state.listed[: state.n_force]]
    solutions = group_solutions(system, state)
    reason = "several" if state.switch_status == switch.NOT_UNIQUE else "no_solution"
    return FAILURES[reason].format(
        t=state.t_fail,
        who=_joints(system, [k for k in listed if k >= len(system.contacts)]),
        n=len(solutions),
        solutions="; or ".join(map(_in_words, solutions)),
    )


def _joints(system: System, listed: list[int]) -> str:
    """Return the names of joints with their coefficients of friction."""
    parts: list[str] = []
    for k in listed:
        name = system.with_mode[k]
        joint: Any = system.model.element(name)
        parts.append(f"joint '{name}' (mu = {coefficient(joint.friction):g})")
    return ", ".join(parts)


def coefficient(law: Any) -> float:
    """Return the coefficient of a friction law in motion."""
    return float(getattr(law, "mu", law.static))


def _in_words(solution: Solution) -> str:
    return ", ".join(f"{name} {force}" for name, force in solution.items())


def _present(system: System, work: Work) -> str:
    """Return the forces of all joints with friction as they stand."""
    from nonsmooth.kernels.assemble import CONTACT, FORCE, LAM_T

    values = work.contact.reshape(-1, CONTACT)
    return ", ".join(
        f"{system.with_mode[k]} normal force {values[k, FORCE]:.6g} N, friction "
        f"{values[k, LAM_T]:.6g} N"
        for k in _all_slides(system)
    )


def _now(system: System, work: Work, listed: list[int]) -> str:
    """Return the modes of contacts as they stand."""
    names = (
        f"{system.with_mode[k]} {mode_name(int(work.side[k]), int(work.slip[k]))}"
        for k in listed
    )
    return ", ".join(names)


def _candidates(system: System, state: Run, listed: list[int]) -> list[str]:
    """Return every mode that solves the friction problem, if it is small."""
    n = len(listed)
    if not 0 < n <= MAX_TRIED:
        return []
    from nonsmooth.complementarity import all_solutions

    M = state.M[: 4 * n * n].reshape(2 * n, 2 * n)
    found = all_solutions(M, state.q_lcp[: 2 * n])
    modes: list[str] = []
    for solution in found:
        rates = solution.w[:n] - solution.z[n:]
        parts = (
            f"{system.with_mode[k]} {mode_name(1, int(np.sign(rate)))}"
            for k, rate in zip(listed, rates, strict=True)
        )
        modes.append(", ".join(parts))
    return modes
