"""A state that starts another run, and modes in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.kernels.friction.modes import (
    OPEN,
    PRESSING,
    SLIP,
    YIELDING,
    Mode,
)

# The mode of every contact, (n, n_contact) records with the fields of `Mode`.
Modes = NDArray[np.void]
MODE: Any = Mode.dtype()


@dataclass(frozen=True, kw_only=True)
class State:
    """Positions, velocities and modes at an instant; starts another run.

    Attributes
    ----------
    t : float
        Time, s.
    positions, velocities : dict
        (x, y, theta) and (vx, vy, omega) of each body with mass; of one with
        coordinates of its own these follow.
    deflection : dict
        Internal state of each friction law that has one, m.
    history : dict
        What the nodes of each patch with friction remember, see `kernels.mechanics`.
    mode : dict
        Mode of each contact and joint with friction, {field: number}; a run that starts
        here goes on in it where it still agrees with the state, else decides anew.
    """

    t: float
    positions: dict[str, tuple[float, ...]]
    velocities: dict[str, tuple[float, ...]]
    deflection: dict[str, float] = field(default_factory=dict[str, float])
    history: dict[str, tuple[float, ...]] = field(
        default_factory=dict[str, tuple[float, ...]]
    )
    mode: dict[str, dict[str, float]] = field(
        default_factory=dict[str, dict[str, float]]
    )


def slip_of(mode: Any) -> Any:
    """Return the sign of the slip of contacts, 0 at rest.

    One that drives hold is at rest as well; one that yields in its band is not.
    """
    moves = (mode["grip"] == SLIP) | (mode["grip"] == YIELDING)
    return np.where(moves, mode["sign"], 0)


def mode_name(mode: Any, has_friction: bool = True) -> str:
    """Return the mode of a contact in words."""
    if mode["side"] == OPEN:
        return "open"
    if mode["side"] != PRESSING:
        return "released"
    if not has_friction:
        return "pressing"
    return {1: "slip+", -1: "slip-"}.get(int(slip_of(mode)), "stick")
