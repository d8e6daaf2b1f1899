"""What to say when no mode can be chosen at an event."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonsmooth.errors import ADVICE, FAILURES
from nonsmooth.kernels.friction import flanks, rest
from nonsmooth.kernels.friction.modes import PRESSING
from nonsmooth.kernels.march.events import JAMMING
from nonsmooth.kernels.mechanics.tables import Work
from nonsmooth.kernels.run import Decision, Step
from nonsmooth.pack import System
from nonsmooth.result import State, mode_name
from nonsmooth.solve.solvability import Solution, group_solutions, solvability

_REASONS = {
    rest.UNSOLVED: "undecided",
    rest.WRONG: "wrong_mode",
    rest.CHATTERING: "chattering",
}


def advice(system: System, step: float | None) -> str:
    """Return what to try where modes or steps come to no end."""
    if step:
        return ADVICE["fixed"].format(h=step)
    model = system.model
    rubs = (getattr(e, "friction", None) for e in (*model.contacts, *model.joints))
    return ADVICE["friction" if any(rubs) else "law"]


def undecided(
    system: System, state: Decision, work: Work, step: float | None = None
) -> str:
    """Return the sentence: time, contacts, modes, what to try; `step` if fixed."""
    status, t = state.status, state.step.t_fail
    if status == rest.JAMMED:
        return FAILURES["jammed"].format(t=t, who=_joints(system, _all_slides(system)))
    if status == rest.NOT_UNIQUE and state.lcp_status != flanks.SEVERAL:
        return FAILURES["not_unique"].format(
            t=t,
            who=_joints(system, _all_slides(system)),
            solutions=_present(system, work),
        )
    if _is_of_joints(system, state):
        return _of_joints(system, state)
    listed = [int(k) for k in np.flatnonzero(work.mode["side"] == PRESSING)]
    return FAILURES[_REASONS[status]].format(
        t=t,
        who=", ".join(f"'{system.with_mode[k]}'" for k in listed),
        modes=_now(system, work, listed),
        advice=advice(system, step),
    )


def jams(system: System, step: Step, work: Work) -> str | None:
    """Return the sentence for a run that cannot go on because a joint jams, if so."""
    if not system.slides:
        return None
    n = system.n_dof
    here = State(
        t=step.t,
        positions=system.by_body(step.y[:n]),
        velocities=system.by_body(step.y[n : 2 * n]),
    )
    margin = min(solvability(system, here).margin, float(work.margin))
    if not margin < JAMMING:
        return None
    return FAILURES["jams"].format(
        t=step.t,
        who=_joints(system, _all_slides(system)),
        margin=margin,
        solutions=_present(system, work),
    )


def _all_slides(system: System) -> list[int]:
    return list(range(len(system.contacts), len(system.with_mode)))


def _is_of_joints(system: System, state: Decision) -> bool:
    """Return whether a problem with joints was not solved."""
    is_failed = state.status in (rest.UNSOLVED, rest.NOT_UNIQUE)
    listed = state.listed[: state.n_force]
    return is_failed and bool(np.any(listed >= len(system.contacts)))


def _of_joints(system: System, state: Decision) -> str:
    """Return the sentence for joints with several solutions, or none."""
    listed = [int(k) for k in state.listed[: state.n_force]]
    solutions = group_solutions(system, state)
    reason = "several" if state.status == rest.NOT_UNIQUE else "no_solution"
    return FAILURES[reason].format(
        t=state.step.t_fail,
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
    values: Any = work.contact
    return ", ".join(
        f"{system.with_mode[k]} normal force {values[k].force:.6g} N, friction "
        f"{values[k].lam_t:.6g} N"
        for k in _all_slides(system)
    )


def _now(system: System, work: Work, listed: list[int]) -> str:
    """Return the modes of contacts as they stand."""
    return ", ".join(f"{system.with_mode[k]} {mode_name(work.mode[k])}" for k in listed)
