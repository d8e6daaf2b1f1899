"""What to say when no mode can be chosen at an event."""

from __future__ import annotations

import numpy as np

from nonsmooth.errors import FAILURES
from nonsmooth.kernels import switch
from nonsmooth.kernels.run import Run
from nonsmooth.kernels.tables import Work
from nonsmooth.result import mode_name
from nonsmooth.system import System

# Contacts at rest for which all modes are tried, 4^n bases.
MAX_TRIED = 5

_REASONS = {
    switch.UNSOLVED: "undecided",
    switch.WRONG: "wrong_mode",
    switch.CHATTERING: "chattering",
}


def undecided(system: System, state: Run, work: Work) -> str:
    """Return the sentence: time, contacts, candidate modes, what to try."""
    n = state.n_listed
    if state.switch_status == switch.UNSOLVED:
        listed = [int(k) for k in state.listed[:n]]
        candidates = _candidates(system, state, listed)
    else:
        listed = [int(k) for k in np.flatnonzero(work.side == 1)]
        candidates = [_now(system, work, listed)]
    return FAILURES[_REASONS[state.switch_status]].format(
        t=state.t_fail,
        who=", ".join(f"'{system.contacts[k]}'" for k in listed),
        modes="; ".join(candidates) or "none found",
    )


def _now(system: System, work: Work, listed: list[int]) -> str:
    """Return the modes of contacts as they stand."""
    names = (
        f"{system.contacts[k]} {mode_name(int(work.side[k]), int(work.slip[k]))}"
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
            f"{system.contacts[k]} {mode_name(1, int(np.sign(rate)))}"
            for k, rate in zip(listed, rates, strict=True)
        )
        modes.append(", ".join(parts))
    return modes
