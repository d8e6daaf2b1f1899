"""What a run gives back: arcs with dense output, events, forces, the energy ledger.

Forces are not stored: they are evaluated again from the state when asked for.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.elements.joints import Prismatic, Revolute
from nonsmooth.errors import ModelError, nearest
from nonsmooth.files import replacing
from nonsmooth.kernels import entry
from nonsmooth.kernels.assemble import (
    CONTACT,
    FORCE,
    FRONT,
    GAP,
    GAP_RATE,
    LAM_N,
    LAM_T,
    OPEN,
    PRESSING,
    REAR,
    V_T,
    YIELDING,
)
from nonsmooth.kernels.tables import Work
from nonsmooth.system import System

if TYPE_CHECKING:
    from pathlib import Path

    import pandas
    import xarray
    from matplotlib.figure import Figure

    from nonsmooth.solve.verify import Verification
    from nonsmooth.views.scene import Parameters

Floats = NDArray[np.float64]
Limit = Literal["before", "after"]

# A time this far outside the run, relative to its times, is its end.
ROUND_OFF = 1e-12
_POSE = ("x", "y", "theta", "vx", "vy", "omega", "ax", "ay", "alpha")
_POINT = ("x", "y", "vx", "vy", "ax", "ay")
_CONTACT = {
    "gap": GAP,
    "gap_rate": GAP_RATE,
    "normal_force": LAM_N,
    "friction_force": LAM_T,
    "slip_velocity": V_T,
}
_SLIDE = {
    "normal_force": FORCE,
    "load": LAM_N,
    "friction_force": LAM_T,
    "slip_velocity": V_T,
}
# The column `mode` of a contact: 0 stick, +1 or -1 slip, or one of these.
OPEN_MODE, RELEASED_MODE = 2, 3
_WRENCH = ("force_x", "force_y", "torque")


Triple = tuple[float, float, float]


def triples(names: Sequence[str], values: Floats) -> dict[str, Triple]:
    """Return three values for each name."""
    rows = values.reshape(-1, 3).tolist()
    return {name: (x, y, z) for name, (x, y, z) in zip(names, rows, strict=True)}


@dataclass(frozen=True, kw_only=True)
class State:
    """Positions and velocities at an instant; starts another run.

    Attributes
    ----------
    t : float
        Time, s.
    positions, velocities : dict
        (x, y, theta) and (vx, vy, omega) of each body with mass.
    approach : dict
        Rate at which each closed contact touched down, m/s; some normal laws
        remember it.
    deflection : dict
        Internal state of each friction law that has one, m.
    """

    t: float
    positions: dict[str, Triple]
    velocities: dict[str, Triple]
    approach: dict[str, float] = field(default_factory=dict[str, float])
    deflection: dict[str, float] = field(default_factory=dict[str, float])


def mode_name(side: int, slip: int, has_friction: bool = True) -> str:
    """Return the mode of a contact in words."""
    if side == OPEN:
        return "open"
    if side != PRESSING:
        return "released"
    if not has_friction:
        return "pressing"
    # A contact pinned by others is at rest as well; one that yields in its band is not.
    sign = {1: 1, YIELDING: 1, -1: -1, -YIELDING: -1}.get(slip, 0)
    return {1: "slip+", -1: "slip-"}.get(sign, "stick")


Pair = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class EventRecord:
    """One event: when, which element, what happened.

    Of a contact also its modes, slip velocity and forces before and after.
    """

    t: float  # s
    element: str
    kind: str  # "rising" or "falling" for a user's event
    action: str = "record"  # or "stop"
    before: str = ""  # mode of a contact
    after: str = ""
    cause: str = ""  # contact whose event changed this one's mode, if another's
    slip_velocity: Pair | None = None  # m/s
    normal_force: Pair | None = None  # N
    friction_force: Pair | None = None  # N

    def __str__(self) -> str:
        """Return a readable line."""
        line = f"{self.t:16.12g} s  {self.element:<16} {self.kind:<12}"
        if not self.before:
            return line.rstrip()
        line += f"{self.before:>8} -> {self.after:<8}"
        for symbol, pair, unit in (
            ("v_t", self.slip_velocity, "m/s"),
            ("N", self.normal_force, "N"),
            ("F_t", self.friction_force, "N"),
        ):
            if pair is not None:
                old, new = (f"{value + 0.0:.4g}" for value in pair)
                change = old if old == new else f"{old} -> {new}"
                line += f"  {symbol} {change} {unit}"
        return line + (f"  (by {self.cause})" if self.cause else "")

    @staticmethod
    def columns() -> tuple[str, ...]:
        """Return the names of what `row` gives."""
        pairs = ("slip_velocity", "normal_force", "friction_force")
        sides = tuple(
            f"{name}_{side}" for name in pairs for side in ("before", "after")
        )
        return ("t", "element", "kind", "action", "before", "after", "cause", *sides)

    def row(self) -> tuple[float | str, ...]:
        """Return the record as plain values; NaN for what it does not have."""
        nothing = (math.nan, math.nan)
        pairs = (self.slip_velocity, self.normal_force, self.friction_force)
        values = (value for pair in pairs for value in pair or nothing)
        texts = (self.element, self.kind, self.action)
        return (self.t, *texts, self.before, self.after, self.cause, *values)


class EventTable(Sequence[EventRecord]):
    """The events of a run, in order of time."""

    def __init__(self, records: Sequence[EventRecord]) -> None:
        self._records = tuple(records)

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self._records)

    @overload
    def __getitem__(self, index: int) -> EventRecord: ...
    @overload
    def __getitem__(self, index: slice) -> EventTable: ...
    def __getitem__(self, index: int | slice) -> EventRecord | EventTable:
        """Return one record, or a table of several."""
        if isinstance(index, slice):
            return EventTable(self._records[index])
        return self._records[index]

    def of(self, element: str) -> EventTable:
        """Return the events of one element."""
        return EventTable([r for r in self._records if r.element == element])

    @property
    def t(self) -> Floats:
        """Times, s."""
        return np.array([record.t for record in self._records])

    def counts(self) -> dict[str, int]:
        """Return how many events of each kind there were."""
        totals: dict[str, int] = {}
        for record in self._records:
            totals[record.kind] = totals.get(record.kind, 0) + 1
        return totals

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a data frame."""
        import pandas

        rows = [record.row() for record in self._records]
        return pandas.DataFrame(rows, columns=list(EventRecord.columns()))

    def __str__(self) -> str:
        """Return one line per event."""
        return "\n".join(str(record) for record in self._records) or "no events"


class Samples(Mapping[str, Floats]):
    """Named columns of a result at chosen times; `samples["t"]` are the times."""

    def __init__(self, columns: dict[str, Floats]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> Floats:
        """Return one column."""
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(
                f"no column '{name}'; {nearest(name, self._columns)}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._columns)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    def to_numpy(self) -> Floats:
        """Return all columns side by side, `t` first."""
        return np.column_stack(list(self._columns.values()))

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame."""
        import pandas

        return pandas.DataFrame(self._columns)

    def to_xarray(self) -> xarray.Dataset:
        """Return a dataset over the dimension t."""
        import xarray

        columns = dict(self._columns)
        t = columns.pop("t")
        return xarray.Dataset({k: ("t", v) for k, v in columns.items()}, {"t": t})

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write comma-separated text that reads back to the same numbers."""
        with replacing(path) as place, place.open("w", encoding="utf-8") as file:
            file.write(",".join(self._columns) + "\n")
            for row in self.to_numpy().tolist():
                file.write(",".join(map(repr, row)) + "\n")

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file."""
        import pyarrow
        import pyarrow.parquet

        table: Any = getattr(pyarrow, "table")(dict(self._columns))  # noqa: B009
        with replacing(path) as place:
            pyarrow.parquet.write_table(table, place)


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class Modes:
    """Modes of contacts and joints with friction, one row for each step or instant."""

    side: NDArray[np.int64]  # (n, n_contact) open, pressing or released
    slip: NDArray[np.int64]  # (n, n_contact) stick, pinned, or sign of the slip
    flank: NDArray[np.int64]  # (n, n_contact) bit j set: flank j pushes along -n
    approach: Floats  # (n, n_contact) m/s, rate of overlap at touch-down
    hold: Floats  # (n, n_contact) m/s, slip velocity at which a contact is held

    def at(self, rows: NDArray[np.int64]) -> Modes:
        """Return some of the rows."""
        return Modes(
            side=self.side[rows],
            slip=self.slip[rows],
            flank=self.flank[rows],
            approach=self.approach[rows],
            hold=self.hold[rows],
        )

    def changes(self) -> NDArray[np.bool_]:
        """Return whether the mode changes from each row to the next."""
        is_new = np.diff(self.side, axis=0) != 0
        is_new |= np.diff(self.slip, axis=0) != 0
        is_new |= np.diff(self.flank, axis=0) != 0
        return np.asarray(is_new.any(axis=1))

    def flat(self) -> tuple[NDArray[np.int64], Floats]:
        """Return the mode's integers and its rates, row by row, as kernels take."""
        mode = np.concatenate([self.side, self.slip, self.flank], axis=1)
        held = np.concatenate([self.approach, self.hold], axis=1)
        return mode.reshape(-1), held.reshape(-1)


def _sides(contact: Floats) -> Floats:
    """Return the flanks that bear: +-1 both ends alike, +-2 diagonal, 0 none."""
    front, rear = np.sign(contact[:, :, FRONT]), np.sign(contact[:, :, REAR])
    is_diagonal = front * rear < 0.0
    both = np.where(front != 0.0, front, rear)
    return np.where(is_diagonal, 2.0 * front, both)


def evaluate_states(
    system: System,
    work: Work,
    t: Floats,
    y: Floats,
    modes: Modes,
    baumgarte: tuple[float, float] = (0.0, 0.0),
) -> dict[str, Floats]:
    """Evaluate accelerations, reactions and forces at given states and modes."""
    m, n = system.tables, len(t)
    sizes = {
        "lam": m.n_row,
        "a": m.n_dof,
        "motion": 9 * m.n_marker,
        "wrench": 8 * m.n_force,
        "joint": 3 * m.n_joint,
        "load": 3 * m.n_support,
        "contact": CONTACT * m.n_contact,
    }
    arrays = {name: np.empty((n, size)) for name, size in sizes.items()}
    entry.evaluate_samples(
        m,
        work,
        n,
        np.ascontiguousarray(t),
        np.ascontiguousarray(y).reshape(-1),
        system.n_y,
        *baumgarte,
        *modes.flat(),
        *(array.reshape(-1) for array in arrays.values()),
    )
    return arrays


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Dense output of all steps: y at the start, then coefficients of powers of x."""

    t: Floats  # (n) s, start of each step
    h: Floats  # (n) s
    coef: Floats  # (n, 1 + n_coef, n_y)
    cap: Floats  # (n) s, laws are evaluated no later than this
    is_implicit: NDArray[np.int64]  # (n)
    arc: NDArray[np.int64]  # (n) number of the arc each step belongs to
    modes: Modes
    y_end: Floats  # (n_y) state at the end of the last step


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """A run, complete or not.

    Attributes
    ----------
    t_start, t_end : float
        Interval covered, s.
    status : str
        "finished", "stopped" (by an event) or "failed".
    message : str
        Why it ended.
    events : EventTable
    options : dict
        What the run was asked for.
    cost : dict
        Steps, rejections, evaluations, CPU time.
    """

    system: System
    steps: Steps
    t_start: float
    t_end: float
    status: Literal["finished", "stopped", "failed"]
    message: str
    events: EventTable
    options: dict[str, Any]
    cost: dict[str, float]
    violation: float  # m or rad, largest after any step
    is_projected: bool = True
    baumgarte: tuple[float, float] = (0.0, 0.0)
    notes: tuple[str, ...] = ()

    # -- states ---------------------------------------------------------------

    @property
    def t(self) -> Floats:
        """Ends of all steps, s, with the start."""
        return np.append(self.steps.t, self.t_end)

    def _find(self, t: Floats, limit: Limit) -> tuple[NDArray[np.int64], Floats]:
        """Return the step and the fraction of it for each time."""
        if limit not in ("before", "after"):
            raise ModelError(f"limit = {limit!r}; give 'before' or 'after'")
        slack = ROUND_OFF * max(abs(self.t_start), abs(self.t_end), 1e-300)
        outside = (t < self.t_start - slack) | (t > self.t_end + slack)
        if np.any(outside | ~np.isfinite(t)):
            worst = t[outside | ~np.isfinite(t)][0]
            raise ModelError(
                f"t = {worst:g} s lies outside the run, "
                f"{self.t_start:g} to {self.t_end:g} s"
            )
        side = "left" if limit == "before" else "right"
        index = np.searchsorted(self.steps.t, t, side=side) - 1
        index = np.clip(index, 0, len(self.steps.t) - 1)
        x = (t - self.steps.t[index]) / self.steps.h[index]
        # The quotient may miss the end of a step by a rounding.
        x[t == self.t[index + 1]] = 1.0
        # The end of one step and the start of the next may differ by round-off.
        return index.astype(np.int64), np.clip(x, 0.0, 1.0)

    def _states(
        self, t: Floats, limit: Limit, *, project: bool
    ) -> tuple[Floats, Floats]:
        """Return the states y and the times at which laws are evaluated."""
        n_y, coef = self.system.n_y, self.steps.coef
        if len(self.steps.t) == 0:
            raise ModelError(f"the run has no steps: {self.message}")
        index, x = self._find(t, limit)
        y = np.empty((len(t), n_y))
        entry.on_dense(
            len(t), x, index, coef.reshape(-1), coef.shape[1] - 1, n_y, y.reshape(-1)
        )
        # The polynomial loses some digits at its end; the state there is known.
        for k in np.flatnonzero(x == 1.0):
            after = index[k] + 1
            y[k] = coef[after, 0] if after < len(coef) else self.steps.y_end
        t_law = np.minimum(t, self.steps.cap[index])
        # A step's ends are on the constraints already.
        inside = (x > 0.0) & (x < 1.0)
        if project and self.is_projected and np.any(inside):
            moved = np.ascontiguousarray(y[inside])
            entry.project_samples(
                self.system.tables,
                self._work,
                len(moved),
                np.ascontiguousarray(t_law[inside]),
                moved.reshape(-1),
                n_y,
                self.system.size,
                *self.steps.modes.at(index[inside]).flat(),
            )
            y[inside] = moved
        return y, t_law

    @cached_property
    def _work(self) -> Work:
        return self.system.work()

    def state(self, t: float | None = None, limit: Limit = "after") -> State:
        """Return the state at time t, the end by default; it can start another run."""
        at = self.t_end if t is None else float(t)
        y, _ = self._states(np.array([at]), limit, project=True)
        n = self.system.n_dof
        names = self.system.bodies[: self.system.n_moving]
        return State(
            t=at,
            positions=triples(names, y[0, :n]),
            velocities=triples(names, y[0, n : 2 * n]),
            approach=self._approach(np.array([at]), limit),
            deflection=self._deflections(y[0, 2 * n :]),
        )

    def _deflections(self, z: Floats) -> dict[str, float]:
        """Return the internal states of friction laws by the element that has them."""
        state = self.system.tables.contact_state.tolist()
        with_state = zip(self.system.with_mode, state, strict=True)
        return {name: float(z[k]) for name, k in with_state if k >= 0}

    def _approach(self, t: Floats, limit: Limit) -> dict[str, float]:
        step = self._find(t, limit)[0][0]
        side, rate = self.steps.modes.side[step], self.steps.modes.approach[step]
        closed = zip(self.system.contacts, side, rate, strict=False)
        return {name: float(v) for name, s, v in closed if s != OPEN}

    # -- named quantities -------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of every quantity `sample` can give."""
        return ("t", *self._places)

    @cached_property
    def _places(self) -> dict[str, tuple[str, int, float]]:
        """Where each column stands: array, index, factor."""
        system = self.system
        places: dict[str, tuple[str, int, float]] = {}
        for name, k in system.markers.items():
            if name == "ground" or name.startswith("ground."):
                continue
            for quantity in _POINT if "." in name else _POSE:
                places[f"{name}.{quantity}"] = (
                    "motion",
                    9 * k + _POSE.index(quantity),
                    1.0,
                )
        n_joint = system.n_held
        for k, name in enumerate(system.joints):
            if k < n_joint:
                for i, quantity in enumerate(_WRENCH):
                    places[f"{name}.{quantity}"] = ("joint", 3 * k + i, 1.0)
            else:
                drive = system.model.drives[k - n_joint]
                row = int(system.tables.joint_row[k])
                places[f"{name}.{drive.output}"] = ("lam", row, 1.0)
        for k, name in enumerate(system.forces):
            for i, quantity in enumerate(_WRENCH):
                places[f"{name}.{quantity}"] = ("wrench", 8 * k + i, 1.0)
        for k, name in enumerate(system.contacts):
            for quantity, i in _CONTACT.items():
                places[f"{name}.{quantity}"] = ("contact", CONTACT * k + i, 1.0)
            places[f"{name}.mode"] = ("mode", k, 1.0)
        for k, name in enumerate(system.slides, len(system.contacts)):
            for quantity, i in _SLIDE.items():
                places[f"{name}.{quantity}"] = ("contact", CONTACT * k + i, 1.0)
            joint = system.model.element(name)
            if isinstance(joint, Revolute):
                radius = float(system.tables.contact_radius[k])
                place = ("contact", CONTACT * k + LAM_T, radius)
                places[f"{name}.friction_torque"] = place
            else:
                places[f"{name}.side"] = ("flank", k, 1.0)
            if isinstance(joint, Prismatic):
                places[f"{name}.front_force"] = ("contact", CONTACT * k + FRONT, 1.0)
                places[f"{name}.rear_force"] = ("contact", CONTACT * k + REAR, 1.0)
            places[f"{name}.mode"] = ("mode", k, 1.0)
        for k, name in enumerate(system.supports[:-1]):
            for i, quantity in enumerate(_WRENCH):
                places[f"{name}.{quantity}"] = ("load", 3 * k + i, -1.0)
        return places

    def _evaluate(
        self, y: Floats, t_law: Floats, index: NDArray[np.int64]
    ) -> dict[str, Floats]:
        """Evaluate accelerations, reactions and forces at states."""
        m, modes = self.system.tables, self.steps.modes.at(index)
        arrays = evaluate_states(
            self.system, self._work, t_law, y, modes, self.baumgarte
        )
        side, slip = modes.side, modes.slip
        # 0 stick, +-1 slip, 2 open, 3 released; without stick 1 is pressing.
        moves = (abs(slip) == 1) | (abs(slip) == YIELDING)
        slip = np.where(m.contact_row >= 0, np.where(moves, np.sign(slip), 0), 1)
        arrays["mode"] = np.select(
            [side == PRESSING, side == OPEN], [slip, OPEN_MODE], RELEASED_MODE
        ).astype(float)
        arrays["flank"] = _sides(arrays["contact"].reshape(len(t_law), -1, CONTACT))
        return arrays

    def sample(
        self,
        t: ArrayLike | None = None,
        names: str | Sequence[str] | None = None,
        limit: Limit = "after",
    ) -> Samples:
        """Return named quantities at given times.

        Parameters
        ----------
        t : array_like, optional
            Times, s; the ends of all steps by default.
        names : str or sequence of str, optional
            Columns, e.g. "crank.theta", "motor.torque"; all by default. See
            `columns`.
        limit : "before" or "after"
            Which one-sided value to give at an event.
        """
        times = np.atleast_1d(np.asarray(self.t if t is None else t, dtype=float))
        wanted = [names] if isinstance(names, str) else names
        chosen = (
            list(self._places) if wanted is None else [n for n in wanted if n != "t"]
        )
        for name in chosen:
            if name not in self._places:
                raise ModelError(f"no quantity '{name}'; {nearest(name, self._places)}")
        y, t_law = self._states(times, limit, project=True)
        arrays = self._evaluate(y, t_law, self._find(times, limit)[0])
        columns: dict[str, Floats] = {"t": times}
        for name in chosen:
            array, index, factor = self._places[name]
            columns[name] = factor * arrays[array][:, index]
        return Samples(columns)

    def __getitem__(self, name: str) -> Floats:
        """Return one quantity at the ends of all steps, `result.t`."""
        return self.sample(names=name)[name] if name != "t" else self.t

    # -- energy -------------------------------------------------------------------

    @cached_property
    def energy_balance(self) -> EnergyBalance:
        """The energy ledger at the ends of all steps."""
        return self.energies(self.t)

    def energies(self, t: ArrayLike) -> EnergyBalance:
        """Return the energy ledger at given times.

        Parameters
        ----------
        t : array_like
            Times, s; the ledger's residual is over these.
        """
        system = self.system
        times = np.atleast_1d(np.asarray(t, dtype=float))
        y, t_law = self._states(times, "after", project=False)
        n = system.n_dof
        q, v, work = y[:, :n], y[:, n : 2 * n], y[:, 2 * n + system.n_state :]
        potential = -(q @ system.tables.weight)
        springs = np.flatnonzero(system.tables.force_has_potential)
        if len(springs):
            index = self._find(times, "after")[0]
            wrench = self._evaluate(y, t_law, index)["wrench"].reshape(
                len(times), -1, 8
            )
            potential = potential + wrench[:, springs, 6].sum(axis=1)
        return EnergyBalance(
            t=times,
            kinetic=0.5 * (v * v) @ system.tables.mass,
            potential=potential,
            work={name: work[:, k] for k, name in enumerate(system.works)},
        )

    # -- overview -------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Return the run in numbers; the keys are documented in the user guide."""
        balance = self.energy_balance if len(self.steps.t) else None
        return {
            "model": self.system.model.title,
            "status": self.status,
            "message": self.message,
            "t_start": self.t_start,
            "t_end": self.t_end,
            "events": self.events.counts(),
            "n_events": len(self.events),
            "energy_residual": balance.residual if balance else None,
            "energy_exchanged": balance.exchanged if balance else None,
            "violation": self.violation,
            "notes": list(self.notes),
            "options": dict(self.options),
            "cost": dict(self.cost),
        }

    # -- conveniences, one line each ------------------------------------------------

    def verify(self, factor: float = 1e-2) -> Verification:
        """Repeat the run at tighter tolerance and report the difference."""
        from nonsmooth.solve.verify import verify

        return verify(self, factor)

    def plot(self, names: str | Sequence[str], path: str | None = None) -> Figure:
        """Plot quantities over time."""
        from nonsmooth.views.plots import plot_series

        return plot_series(self, names, path)

    def plot_paths(
        self, points: str | Sequence[str], path: str | None = None
    ) -> Figure:
        """Plot the trajectories of points."""
        from nonsmooth.views.plots import plot_paths

        return plot_paths(self, points, path)

    def plot_energy(self, path: str | None = None) -> Figure:
        """Plot energies and works over time."""
        from nonsmooth.views.plots import plot_energy

        return plot_energy(self, path)

    def plot_contacts(
        self,
        path: str | None = None,
        *,
        names: str | Sequence[str] | None = None,
        span: tuple[float, float] | None = None,
    ) -> Figure:
        """Plot forces, slip, modes and events of the contacts over time."""
        from nonsmooth.views.plots import plot_contacts

        return plot_contacts(self, path, names=names, span=span)

    def draw(
        self,
        t: ArrayLike | None = None,
        path: str | None = None,
        *,
        names: bool = False,
        forces: bool = False,
    ) -> Figure:
        """Draw the mechanism at chosen instants."""
        from nonsmooth.views.plots import draw

        return draw(self, t, path, names=names, forces=forces)

    def report(self, path: str | os.PathLike[str], parameters: Parameters = ()) -> Path:
        """Write the run as one page of HTML that shows it move."""
        from nonsmooth.views.report import report

        return report(self, path, parameters)

    def widget(self, parameters: Parameters = (), **options: Any) -> Any:
        """Return a widget that shows the run in a notebook."""
        from nonsmooth.views.widget import widget

        return widget(self, parameters, **options)
