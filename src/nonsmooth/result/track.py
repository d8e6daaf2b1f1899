"""A run that keeps named quantities from step to step, and no states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import Column, columns_of
from nonsmooth.errors import ModelError
from nonsmooth.kernels.friction.modes import OPEN, PRESSING
from nonsmooth.pack import System
from nonsmooth.result.energy import EnergyBalance
from nonsmooth.result.event_table import EventRecord
from nonsmooth.result.pressure import Pressure
from nonsmooth.result.state import MODE, Modes

Floats = NDArray[np.float64]

# Columns that have no values between those of two steps.
COUNTED = ("mode", "n_closed", "n_stuck")


@dataclass(frozen=True, kw_only=True, eq=False)
class Track:
    """What stands in place of `Steps` in the result of scheme `appended`."""

    system: System
    instants: Floats  # (n + 1), s
    names: tuple[str, ...]
    rows: Floats  # (n + 1, n_name)
    kinetic: Floats  # (n + 1), J
    potential: Floats
    works: dict[str, Floats]
    is_closed: Floats  # (n + 1), whether something presses
    records: tuple[EventRecord, ...]

    @cached_property
    def table(self) -> dict[str, Column]:
        """Columns by name, as of other runs where they have the same name."""
        known = columns_of(self.system)
        return {
            name: replace(known[name], array="series", index=k, factor=1.0)
            for k, name in enumerate(self.names)
        }

    @property
    def t(self) -> Floats:
        """Begin of each step, s."""
        return self.instants[:-1]

    @property
    def h(self) -> Floats:
        """Length of each step, s."""
        return np.diff(self.instants)

    @cached_property
    def mode(self) -> Modes:
        """Modes of contacts, (n, n_contact) records."""
        modes: Any = np.zeros((len(self.t), len(self.system.with_mode)), dtype=MODE)
        closed = self.is_closed[:-1, None] > 0.0
        modes["side"][:] = np.where(closed, PRESSING, OPEN)
        return modes

    @cached_property
    def arc(self) -> NDArray[np.int64]:
        """Number of the arc that each step belongs to."""
        new = np.diff(self.is_closed[:-1]) != 0.0
        return np.concatenate(([0], np.cumsum(new))).astype(np.int64)

    def spins(self, t: Floats) -> Floats:
        """Return angular velocities of the bodies with mass, rad/s."""
        moving = self.system.bodies[: self.system.n_moving]
        return self.sample(t)[:, [self.names.index(f"{name}.omega") for name in moving]]

    def amplitudes(self, body: str) -> tuple[Floats, Floats]:
        """Return the amplitudes of a body's shapes and their rates, (n, n_shape)."""
        kinds = (f"{body}.eta.", f"{body}.eta_rate.")
        eta, rate = (
            self.rows[:, [k for k, n in enumerate(self.names) if n.startswith(kind)]]
            for kind in kinds
        )
        return eta, rate

    def sample(self, t: Floats) -> Floats:
        """Return rows at given times, on straight lines between the steps."""
        found = np.empty((len(t), len(self.names)))
        last = np.searchsorted(self.instants, t, side="right") - 1
        for k, name in enumerate(self.names):
            if name.rpartition(".")[2] in COUNTED:
                found[:, k] = self.rows[np.clip(last, 0, None), k]
            else:
                found[:, k] = np.interp(t, self.instants, self.rows[:, k])
        return found

    def balance(self, t: Floats) -> EnergyBalance:
        """Return the ledger at given times."""
        return EnergyBalance(
            t=t,
            kinetic=np.interp(t, self.instants, self.kinetic),
            potential=np.interp(t, self.instants, self.potential),
            work={n: np.interp(t, self.instants, w) for n, w in self.works.items()},
        )

    def events(self) -> Sequence[EventRecord]:
        """Return touch-downs and separations, good to one step."""
        return self.records

    def pressure(self, contact: str, t: float) -> Pressure:
        """Refuse: forces of single nodes are not kept."""
        raise ModelError(
            f"contact '{contact}': scheme 'appended' keeps no forces of nodes at "
            f"{t:g} s; use scheme 'events'"
        )
