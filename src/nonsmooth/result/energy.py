"""The energy ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Numbers evaluated at a time, so that long runs fit in memory.
BATCH = 250_000


@dataclass(frozen=True, kw_only=True, repr=False)
class EnergyBalance:
    """The energy ledger: what was stored, and what every element did.

    Each work is integrated from force times velocity with the method's own order,
    so the residual is a check of the whole run:

        residual = max over t of |kinetic + potential - start - sum of works|
    """

    t: Floats  # s, the ends of the steps
    kinetic: Floats  # J
    potential: Floats  # J, of gravity and springs
    work: dict[str, Floats]  # J, of every drive, force, damper and support

    def __repr__(self) -> str:
        """Return the balance over the whole span, in a line."""
        works = "".join(f", {n} {w[-1] - w[0]:.6g} J" for n, w in self.work.items())
        return (
            f"<EnergyBalance, {self.t[0]:g} to {self.t[-1]:g} s: "
            f"kinetic {self.kinetic[0]:.6g} -> {self.kinetic[-1]:.6g} J, "
            f"potential {self.potential[0]:.6g} -> {self.potential[-1]:.6g} J{works}; "
            f"residual {self.residual:.2g} J of {self.exchanged:.6g} J exchanged>"
        )

    @staticmethod
    def joined(parts: Sequence[EnergyBalance]) -> EnergyBalance:
        """Return one ledger of several that follow each other."""
        if len(parts) == 1:
            return parts[0]
        return EnergyBalance(
            t=np.concatenate([p.t for p in parts]),
            kinetic=np.concatenate([p.kinetic for p in parts]),
            potential=np.concatenate([p.potential for p in parts]),
            work={k: np.concatenate([p.work[k] for p in parts]) for k in parts[0].work},
        )

    @cached_property
    def imbalance(self) -> Floats:
        """Energy that no entry accounts for, J."""
        energy = self.kinetic + self.potential
        done = sum(self.work.values(), np.zeros_like(energy))
        return energy - energy[0] - done

    @property
    def residual(self) -> float:
        """Largest imbalance, J."""
        return float(np.max(np.abs(self.imbalance)))

    @property
    def exchanged(self) -> float:
        """Largest sum of what changed form or was done until some instant, J."""
        moved = np.abs(self.kinetic - self.kinetic[0])
        moved = moved + np.abs(self.potential - self.potential[0])
        for done in self.work.values():
            moved = moved + np.abs(done)
        return float(np.max(moved))


def in_batches(
    ledger: Callable[[Floats], EnergyBalance], times: Floats, width: int
) -> EnergyBalance:
    """Return the ledger at many times, of which each takes `width` numbers."""
    size = max(1, BATCH // width)
    begins = range(0, max(len(times), 1), size)
    return EnergyBalance.joined([ledger(times[i : i + size]) for i in begins])
