"""The mode of a state: taken over by a run where it agrees with the state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.kernels.friction.modes import (
    OPEN,
    PRESSING,
    SLIP,
    STICK,
)
from nonsmooth.kernels.tolerances import SMALLEST_FORCE, VERIFIED
from nonsmooth.pack import System
from nonsmooth.result.evaluate import evaluate
from nonsmooth.result.state import MODE, State

Floats = NDArray[np.float64]

# Gaps, of the model's size, and slips, of the largest speed, of a state at an event.
SMALL_GAP, SMALL_SLIP = 1e-12, 1e-9


def mode_array(system: System, start: State) -> Any:
    """Return the mode of a state as records, None where it has none for this model."""
    if not system.with_mode or set(start.mode) != set(system.with_mode):
        return None
    mode = np.zeros(len(system.with_mode), dtype=MODE)
    for k, name in enumerate(system.with_mode):
        for field in MODE.names:
            mode[field][k] = start.mode[name].get(field, 0)
    return mode


def agrees(system: System, t: float, y: Floats, mode: Any) -> bool:
    """Return whether gaps, forces and slips of a state are those of its mode.

    Another model, or a state that was changed, may ask for another one.
    """
    m, n = system.tables, system.n_dof
    found = evaluate(system, system.work(), np.array([t]), y[None], mode[None])
    contact: Any = np.asarray(found.contact)[0]
    touch = np.zeros(len(system.with_mode), dtype=bool)
    touch[: len(system.contacts)] = True
    side, grip, sign = (np.asarray(mode[x], int) for x in ("side", "grip", "sign"))
    gap, force, slip, load, friction = (
        np.asarray(contact[x], float) for x in ("gap", "force", "v_t", "lam_n", "lam_t")
    )
    small = SMALL_GAP * system.size
    weight = SMALLEST_FORCE * float(m.weight_of_all or m.moment)
    is_open = side == OPEN
    is_wrong = touch & np.where(is_open, gap < -small, gap > small)
    pulls = np.where(side == PRESSING, force < -weight, force > weight)
    is_wrong |= touch & ~is_open & pulls
    can_stick = (np.asarray(m.contact_row, int) >= 0) & (side == PRESSING)
    speed = max(float(np.max(np.abs(y[n : 2 * n]), initial=0.0)), system.size)
    least = SMALL_SLIP * speed
    is_wrong |= can_stick & (grip == SLIP) & (sign * slip < -least)
    is_stuck = can_stick & (grip == STICK)
    is_wrong |= is_stuck & (np.abs(slip - np.asarray(mode["drift"], float)) > least)
    # The load of a block at rest in a guide depends on its friction: left to guards.
    limit = np.asarray(m.contact_mu0) * load * (1.0 + VERIFIED) + weight
    is_wrong |= is_stuck & touch & (np.abs(friction) > limit)
    return not bool(is_wrong.any())
