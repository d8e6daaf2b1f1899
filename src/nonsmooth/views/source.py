"""Quantities of a run at any instants, for its scene document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import ACTING, columns_of
from nonsmooth.elements.bodies import MovingSupport
from nonsmooth.elements.expressions import evaluate
from nonsmooth.elements.laws import Expression
from nonsmooth.views import sampling
from nonsmooth.views.sampling import Grid

if TYPE_CHECKING:
    from nonsmooth.pack import System
    from nonsmooth.result import Limit, Result

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

MOTION = ("x", "y", "theta", "vx", "vy", "omega")
# Names that no element can have, since theirs have no colon.
KINETIC, POTENTIAL, WORK = "energy:kinetic", "energy:potential", "work:"


def ledger_names(result: Result) -> list[str]:
    """Return the columns of the ledger; what is recorded has entries of its own."""
    works = getattr(result.steps, "works", result.system.works)
    return [KINETIC, POTENTIAL, *(WORK + name for name in works)]


@dataclass(frozen=True, kw_only=True)
class Samples:
    """All columns of a document that a result has, at the instants of a grid."""

    grid: Grid
    values: dict[str, Floats]  # by column of the result
    ledger: dict[str, Floats]  # J, by column of the document


class Source:
    """Quantities of a run at any instants, both one-sided values at events."""

    def __init__(self, result: Result) -> None:
        self.result = result
        # Modes are for the eye only in what they do to points.
        table = [c for c in result.table.values() if not c.kind.startswith("eta")]
        own = [f"{n}.eta." for n, one in result.system.flexible.items() if one.mesh]
        modes = [n for n in result.table if n.startswith(tuple(own))] if own else []
        self.names = [*(column.name for column in table), *modes]
        curves = [c for c in table if not c.values and c.kind not in ACTING]
        self.curves = [column.name for column in curves]
        self._entries = ledger_names(result)
        units = [column.unit for column in curves] + ["J"] * len(self._entries)
        self.width = len(units)
        is_place = [column.kind in ("x", "y") for column in curves]
        is_place += [False] * len(self._entries)
        self.turns = sampling.find_turns(result, self._rates, len(result.system.bodies))
        self.scales = sampling.find_scales(
            result, self.plotted, units, is_place=np.array(is_place), turns=self.turns
        )

    def _rates(self, t: Floats, is_last: Flags) -> Floats:
        """Return the angular velocities of all bodies."""
        bodies = self.result.system.model.bodies
        held = [f"{b.name}.omega" for b in bodies if isinstance(b, MovingSupport)]
        driven = self._sampled(t, is_last, held)[0].values() if held else ()
        return np.column_stack([self.result.spins(t), *driven])

    def _sampled(
        self, t: Floats, is_last: Flags, names: Sequence[str]
    ) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return columns and the ledger, in batches that fit in memory."""
        columns = {name: np.empty(len(t)) for name in names}
        ledger = {name: np.empty(len(t)) for name in self._entries}
        size = sampling.batch(self.result.system)
        sides: tuple[tuple[Flags, Limit], ...]
        sides = ((~is_last, "after"), (is_last, "before"))
        for which, limit in sides:
            chosen = np.flatnonzero(which)
            for begin in range(0, len(chosen), size):
                at = chosen[begin : begin + size]
                found, energies = self.result.survey(t[at], names, limit)
                entries = [energies.kinetic, energies.potential]
                entries += energies.work.values()
                for name in names:
                    columns[name][at] = found[name]
                for name, values in zip(self._entries, entries, strict=True):
                    ledger[name][at] = values
        return columns, ledger

    def plotted(self, t: Floats, is_last: Flags) -> Floats:
        """Return all curves side by side."""
        columns, ledger = self._sampled(t, is_last, self.curves)
        return np.column_stack([*columns.values(), *ledger.values()])

    def all(self, grid: Grid) -> Samples:
        """Return all columns of a document that a result has."""
        found, ledger = self._sampled(grid.t, grid.is_last, self.names)
        sides = [c.name for c in self.result.table.values() if c.kind == "side"]
        if sides:
            # At an event some force is zero, and its sign is round-off: the side is
            # that half-way to the next sample.
            middle = 0.5 * (grid.t[:-1] + grid.t[1:])
            held, _ = self._sampled(middle, np.zeros(len(middle), dtype=bool), sides)
            last = np.flatnonzero(grid.is_last)
            for name in sides:
                values = np.append(held[name], 0.0)
                values[last] = values[last - 1]
                found[name] = values
        return Samples(grid=grid, values=found, ledger=ledger)


def start_values(system: System, t: float) -> dict[str, Floats]:
    """Return the columns of a start, as far as they are known without a run."""
    values = dict.fromkeys(columns_of(system), np.full(1, np.nan))
    for name in system.bodies[: system.n_moving]:
        where = system.coordinates(name).start
        values_at, rates = system.start[where : where + 3].T.tolist()
        for quantity, value in zip(MOTION, (*values_at, *rates), strict=True):
            values[f"{name}.{quantity}"] = np.full(1, value)
    for body in system.model.bodies:
        if isinstance(body, MovingSupport):
            for quantity in MOTION:
                law = getattr(body, quantity, 0.0)
                at = np.zeros(3)
                if isinstance(law, int | float):
                    at[0] = law
                elif isinstance(law, Expression):
                    at[0] = evaluate(law.text, {"t": t}, f"{body.name}.{quantity}")
                else:
                    type(law).evaluate(law.parameters(), t, at)
                values[f"{body.name}.{quantity}"] = at[:1]
    return values


def start_of(result: Result) -> Samples:
    """Return the start of a run without steps, as far as it is known."""
    nothing = np.full(1, np.nan)
    values = start_values(result.system, result.t_start)
    ledger = dict.fromkeys(ledger_names(result), nothing)
    grid = Grid(
        t=np.array([result.t_start]),
        is_last=np.zeros(1, dtype=bool),
        arcs=np.array([0, 1]),
    )
    return Samples(grid=grid, values=values, ledger=ledger)
