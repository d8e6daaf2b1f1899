"""What a run gives back: arcs with dense output, events, forces, the energy ledger.

Forces are not stored: they are evaluated again from the state when asked for. A result
may be used by many threads, is pickled whole, and computes what it derives once.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.columns import Column, Names, columns_of, width
from nonsmooth.errors import ModelError, brief, nearest, show, worded_methods
from nonsmooth.pack import System
from nonsmooth.result.apart import Apart
from nonsmooth.result.bands import lags
from nonsmooth.result.blocks import regimes
from nonsmooth.result.doubts import doubts
from nonsmooth.result.energy import EnergyBalance, in_batches
from nonsmooth.result.evaluate import (
    evaluate,
    gauges,
    mode_numbers,
    pattern_numbers,
    project,
    side_numbers,
    whole_numbers,
)
from nonsmooth.result.event_table import EventTable
from nonsmooth.result.events import event_table
from nonsmooth.result.fields import Field, fields_of
from nonsmooth.result.history import History
from nonsmooth.result.impulses import Impulse, impulse_of
from nonsmooth.result.pressure import Pressure, pressure_of, with_history
from nonsmooth.result.samples import Samples, names_of, time_of, times_of
from nonsmooth.result.state import MODE, State
from nonsmooth.result.track import Track

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from nonsmooth.solve.linearise import Linearisation
    from nonsmooth.solve.verify import Verification
    from nonsmooth.views.scene import Parameters

Floats = NDArray[np.float64]
Limit = Literal["before", "after"]
Instant = float | None  # s; None for an end of the run
Words = str | Sequence[str]

MAX_APART = 10_000  # instants of the ledger of parts that marched apart
RECORDED = (History, Track)  # in place of steps: quantities, and no states
# A time this far outside the run, relative to its times, is its end.
ROUND_OFF = 1e-12


def _flat(array: Floats) -> Floats:
    """Return an array with one row for each instant, also if there are none."""
    return array.reshape(len(array), math.prod(array.shape[1:]))


@worded_methods
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
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
    options : dict
        What the run was asked for.
    cost : dict
        Steps, rejections, evaluations, CPU time.
    """

    system: System
    steps: Any  # Steps, Apart, or the History of a run of waves
    t_start: float
    t_end: float
    status: Literal["finished", "stopped", "failed"]
    message: str
    options: dict[str, Any]
    cost: dict[str, float]
    violation: float  # m or rad, largest after any step
    is_projected: bool = True
    baumgarte: tuple[float, float] = (0.0, 0.0)
    remarks: tuple[str, ...] = ()
    engine: str = ""  # for which processors its code was compiled

    def __repr__(self) -> str:
        """Return how the run went, in a few lines."""
        lines = [
            f"<Result of {self.system.model.label()}: {self.status}, "
            f"{self.t_start:g} to {self.t_end:g} s, {self.message}",
            f"  {self.cost['steps']:.0f} steps, {len(self.events)} events, "
            f"{len(self.columns)} columns; see .summary(), .events, .columns, .sample",
            *(f"  not to be trusted: {doubt}" for doubt in self.doubts),
            *(f"  note: {remark}" for remark in self.remarks),
        ]
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        """Return the same with a picture, as a notebook shows it."""
        from nonsmooth.views.notebook import words_and_picture

        return words_and_picture(self, self.draw)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known about the run, with `doubts`."""
        told = map("not to be trusted: {}".format, self.doubts)
        return (*self.remarks, *self._regimes, *told)

    @cached_property
    def _regimes(self) -> tuple[str, ...]:
        more = () if isinstance(self.steps, RECORDED) else lags(self)
        return (*regimes(self), *more)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Why the run is not to be trusted; empty if nothing tells against it."""
        return tuple(doubts(self))

    @cached_property
    def crossed(self) -> Floats:
        """Begin and end of each span that was crossed without its events, s, (n, 2)."""
        steps = self.steps
        if len(steps.t) == 0 or isinstance(steps, RECORDED):
            return np.zeros((0, 2))
        return steps.crossed()

    @cached_property
    def events(self) -> EventTable:
        """The events in order of time, with both sides of each."""
        if len(self.steps.t) == 0:
            return EventTable(())
        if isinstance(self.steps, RECORDED):
            return EventTable(self.steps.events())
        return event_table(self.system, self.steps, self.t_end)

    # -- states ------------------------------------------------------------------

    @cached_property
    def t(self) -> Floats:
        """Ends of all steps, s, with the start."""
        return np.append(self.steps.t, self.t_end)

    def _find(self, t: Floats, limit: Limit) -> tuple[NDArray[np.int64], Floats]:
        """Return the step and the fraction of it for each time."""
        if limit not in ("before", "after"):
            raise ModelError(f"limit = {show(limit)}; give 'before' or 'after'")
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
        self, t: Floats, limit: Limit, *, project_inside: bool
    ) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Return the states y, the times at which laws are evaluated, and the steps."""
        steps = self.steps
        if len(steps.t) == 0:
            raise ModelError(f"the run has no steps: {self.message}")
        if isinstance(steps, RECORDED):
            raise ModelError(
                f"a run of scheme '{self.options['scheme']}' has no state that another "
                "could start from"
            )
        index, x = self._find(t, limit)
        y = steps.inside(index, x)
        # The polynomial loses some digits at its end; the states there are known. Only
        # the end of the run is an end where "after" is asked for.
        ends = np.flatnonzero(x == 1.0)
        at_end = steps.before if limit == "before" else steps.after
        y[ends] = at_end(index[ends])
        t_law = np.minimum(t, steps.cap[index])
        # A step's ends are on the constraints already.
        inside = np.flatnonzero((x > 0.0) & (x < 1.0))
        has_rows = self.system.tables.n_row > 0
        if project_inside and self.is_projected and has_rows and len(inside):
            mode, work = steps.mode[index[inside]], self.system.work()
            y[inside] = project(self.system, work, t_law[inside], y[inside], mode)
        return y, t_law, index

    def spins(self, t: Floats) -> Floats:
        """Return angular velocities of the bodies with mass, (n, n_moving), rad/s."""
        system = self.system
        moving = system.bodies[: system.n_moving]
        if isinstance(self.steps, RECORDED):
            return self.steps.spins(t)
        y, _, _ = self._states(t, "after", project_inside=False)
        third = [system.coordinates(name).start + 2 for name in moving]
        return y[:, system.n_dof + np.array(third, dtype=np.int64)]

    def _modes(self, t: Floats, index: NDArray[np.int64], limit: Limit) -> Any:
        """Return the modes at given times, which lie in given steps."""
        mode = self.steps.mode[index]
        if limit == "after" and not isinstance(self.steps, RECORDED):
            ends = np.flatnonzero(t >= self.t_end)
            mode[ends] = self.steps.mode_after(index[ends])
        return mode

    def state(self, t: Instant = None, limit: Limit = "after") -> State:
        """Return the state at time t, the end by default; it can start another run."""
        at = time_of(self.t_end if t is None else t)
        y, _, index = self._states(at, limit, project_inside=True)
        n, system = self.system.n_dof, self.system
        mode = self._modes(at, index, limit)[0]
        z = system.tables.contact_state.tolist()
        names = system.with_mode
        return State(
            t=float(at[0]),
            positions=system.by_body(y[0, :n]),
            velocities=system.by_body(y[0, n : 2 * n]),
            deflection={
                name: float(y[0, 2 * n + k])
                for name, k in zip(names, z, strict=True)
                if k >= 0
            },
            history={
                name: tuple(y[0, where].tolist())
                for name, where in system.histories().items()
            },
            mode={
                name: {field: mode[field][k].item() for field in MODE.names}
                for k, name in enumerate(names)
            },
        )

    # -- named quantities --------------------------------------------------------

    @property
    def columns(self) -> Names:
        """Names of every quantity `sample` can give, and `units` of them."""
        return Names(self.table)

    @cached_property
    def table(self) -> dict[str, Column]:
        """Every quantity with its label and unit, by name."""
        if isinstance(self.steps, Track):
            return self.steps.table
        return columns_of(self.system)

    def _evaluate(
        self, y: Floats, t_law: Floats, index: NDArray[np.int64]
    ) -> dict[str, Any]:
        """Evaluate accelerations, reactions and forces at states."""
        mode = self.steps.mode[index]
        work = self.system.work()
        found = evaluate(self.system, work, t_law, y, mode, self.baumgarte)
        n = len(t_law)
        contact: Any = np.asarray(found.contact)
        n_field = len(contact.dtype.names)
        return {
            "y": y,
            "lam": found.lam,
            "motion": _flat(found.motion),
            "wrench": _flat(found.wrench),
            "joint": _flat(found.joint),
            "load": _flat(found.load),
            "contact": contact.view(np.float64).reshape(n, contact.shape[1] * n_field),
            "area": _flat(found.area),
            "pattern": pattern_numbers(self.system, mode, found),
            "mode": mode_numbers(self.system, mode, contact),
            "whole": whole_numbers(self.system, contact),
            "flank": side_numbers(contact),
            "kinetic": found.kinetic,
            "inner": found.inner,
            "stored": np.asarray(contact["stored"], dtype=float),
            "gauge": gauges(self.system, y),
        }

    def _arrays(self, t: Floats, limit: Limit) -> dict[str, Any]:
        """Return what columns are taken from, at given times."""
        if isinstance(self.steps, RECORDED):
            if len(self.steps.t) == 0:
                raise ModelError(f"the run has no steps: {self.message}")
            self._find(t, limit)
            return {"series": self.steps.sample(t)}
        return self._evaluate(*self._states(t, limit, project_inside=True))

    def sample(
        self,
        t: ArrayLike | None = None,
        names: Words | None = None,
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
        times = times_of(self.t if t is None else t)
        return self.survey(times, names_of(names), limit)[0]

    def survey(
        self, times: Floats, names: Sequence[str] | None, limit: Limit = "after"
    ) -> tuple[Samples, EnergyBalance]:
        """Return what `sample` and `energies` do, from one evaluation."""
        chosen = list(self.table) if names is None else [n for n in names if n != "t"]
        for name in chosen:
            if name not in self.table:
                near = nearest(str(name), self.table)
                raise ModelError(f"no quantity {brief(name)}; {near}")
        arrays = self._arrays(times, limit)
        columns: dict[str, Floats] = {"t": times}
        for name in chosen:
            column = self.table[name]
            columns[name] = column.factor * arrays[column.array][:, column.index]
        if isinstance(self.steps, RECORDED):
            return Samples(columns, self.table), self.steps.balance(times)
        return Samples(columns, self.table), self._ledger(times, arrays)

    def __getitem__(self, name: str) -> Floats:
        """Return one quantity at the ends of all steps, `result.t`."""
        return self.sample(names=name)[name] if name != "t" else self.t

    def pressure(
        self,
        contact: str,
        t: Instant = None,
        limit: Limit = "after",
        *,
        history: bool = False,
    ) -> Pressure:
        """Return forces and pressure of nodes at time t, by default the end.

        Parameters
        ----------
        contact : str
            A contact with `normal=Unilateral()`, or a joint with an elastic block.
        t : float, optional
            Time, s.
        limit : "before" or "after"
            Which one-sided value to give at an event.
        history : bool
            Whether to follow the friction of an elastic block's nodes since it came to
            rest, node by node; else it is shared as the normal forces are.
        """
        at = time_of(self.t_end if t is None else t)
        if isinstance(self.steps, RECORDED):
            self._find(at, limit)
            return self.steps.pressure(contact, float(at[0]))
        y, t_law, mode = self.at(at, limit)
        found = pressure_of(self.system, contact, float(t_law[0]), y, mode)
        if not history:
            return found
        return with_history(self, contact, float(at[0]), limit, found)

    def at(self, t: Floats, limit: Limit = "after") -> tuple[Floats, Floats, Any]:
        """Return states, times at which laws are evaluated, and modes, at times."""
        y, t_law, index = self._states(t, limit, project_inside=True)
        return y, t_law, self._modes(t, index, limit)

    def states(self, t: ArrayLike) -> Floats:
        """Return the integrated states (q, v, z, work) at given times, (n, n_y)."""
        times = times_of(t)
        return self._states(times, "after", project_inside=True)[0]

    def field(self, body: str, name: str, t: Instant = None) -> Field:
        """Return a field of a flexible body at its nodes at time t, the end by default.

        Parameters
        ----------
        body : str
            A flexible body.
        name : str
            "displacement", "velocity", "strain", "stress", "principal_strain",
            "principal_stress" or "von_mises"; of the first four also one component, as
            in "stress.xx". Tensors are in the axes of the mesh.
        t : float, optional
            Time, s.
        """
        return self.fields(body, (name,), t)[0]

    def fields(self, body: str, names: Sequence[str], t: Instant = None) -> list[Field]:
        """Return several fields of a body at one time, cheaper than one by one."""
        at = float(time_of(self.t_end if t is None else t)[0])
        self._find(np.array([at]), "after")
        return fields_of(self, body, names, at)

    # -- momentum and energy -----------------------------------------------------

    def impulse(self, name: str, begin: Instant = None, end: Instant = None) -> Impulse:
        """Return the impulse on b of a contact, joint or force over a span, s."""
        return impulse_of(self, name, begin, end)

    @cached_property
    def energy_balance(self) -> EnergyBalance:
        """The energy ledger at the ends of steps; of many parts' steps at some."""
        stride = 1 + len(self.t) // MAX_APART if isinstance(self.steps, Apart) else 1
        return self.energies(np.append(self.t[:-1:stride], self.t_end))

    def energies(self, t: ArrayLike) -> EnergyBalance:
        """Return the energy ledger at given times, s; its residual is over these."""
        times = times_of(t)
        if isinstance(self.steps, RECORDED):
            self._find(times, "after")
            return self.steps.balance(times)
        m = self.system.tables
        is_whole = not (np.any(m.force_has_potential) or m.n_tail)

        def ledger(some: Floats) -> EnergyBalance:
            y, t_law, index = self._states(some, "after", project_inside=False)
            arrays = {"y": y} if is_whole else self._evaluate(y, t_law, index)
            return self._ledger(some, arrays)

        return in_batches(ledger, times, width(self.system))

    def _ledger(self, times: Floats, arrays: dict[str, Any]) -> EnergyBalance:
        """Return the ledger at states; of springs and tails it needs more of them."""
        system, m, y = self.system, self.system.tables, arrays["y"]
        n = system.n_dof
        q, v, work = y[:, :n], y[:, n : 2 * n], y[:, 2 * n + system.n_state :]
        potential = -(q @ m.weight)
        kinetic = 0.5 * (v * v) @ m.mass
        springs = np.flatnonzero(m.force_has_potential)
        if len(springs) or m.n_tail:
            wrench = arrays["wrench"].reshape(len(times), m.n_force, 8)
            potential = potential + wrench[:, springs, 6].sum(axis=1)
            potential = potential + arrays["inner"].sum(axis=1)
            potential = potential + arrays["stored"].sum(axis=1)
            kinetic = arrays["kinetic"]
        # Copies: views would keep all that was evaluated.
        return EnergyBalance(
            t=times,
            kinetic=np.array(kinetic),
            potential=potential,
            work={name: work[:, k].copy() for k, name in enumerate(system.works)},
        )

    # -- overview ----------------------------------------------------------------

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
            "doubts": list(self.doubts),
            "options": dict(self.options),
            "cost": dict(self.cost),
            "engine": self.engine,
        }

    # -- conveniences, one line each ---------------------------------------------

    def save(self, file: str | os.PathLike[str] | IO[bytes]) -> None:
        """Write the run to one file, usually `*.nsr`; `Result.load` reads it."""
        from nonsmooth.solve.saved import save

        save(self, file)

    @staticmethod
    def load(file: str | os.PathLike[str] | IO[bytes]) -> Result:
        """Read a run that was saved, perhaps elsewhere; refuse what is none."""
        from nonsmooth.solve.saved import load

        return load(file)

    def verify(self, factor: float = 1e-2) -> Verification:
        """Repeat the run at tighter tolerance and report the difference."""
        from nonsmooth.solve.verify import verify

        return verify(self, factor)

    def linearise(self, t: Instant = None, limit: Limit = "after") -> Linearisation:
        """Linearise the flow and every guard at a time, the end by default."""
        from nonsmooth.solve.linearise import linearise

        return linearise(self.system, self.state(t, limit))

    def plot(self, names: Words, path: str | None = None) -> Figure:
        """Plot quantities over time."""
        from nonsmooth.views.plots import plot_series

        return plot_series(self, names, path)

    def plot_paths(self, points: Words, path: str | None = None) -> Figure:
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
        names: Words | None = None,
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
        scale: float | None = None,
        field: Any = None,
    ) -> Figure:
        """Draw the mechanism at chosen instants."""
        from nonsmooth.views.plots import draw

        return draw(self, t, path, names=names, forces=forces, scale=scale, field=field)

    def film(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write the run as a film; options as of `nonsmooth.views.film.film`."""
        from nonsmooth.views.film import film

        return film(self, path, **options)

    def plot_waves(
        self,
        body: Words,
        name: str = "velocity.x",
        path: str | None = None,
        along: Literal["x", "y"] | None = None,
    ) -> Figure:
        """Draw a field over place and time: how waves travel through bodies."""
        from nonsmooth.views.wave_plot import plot_waves

        return plot_waves(self, body, name, path, along)

    def save_vtu(
        self,
        folder: str | os.PathLike[str],
        t: ArrayLike | None = None,
        names: Sequence[str] = ("displacement", "velocity", "stress", "von_mises"),
    ) -> list[Path]:
        """Write fields of all flexible bodies at given times, for ParaView."""
        from nonsmooth.io.vtu import save_vtu

        return save_vtu(self, folder, t, names)

    def report(self, path: str | os.PathLike[str], parameters: Parameters = ()) -> Path:
        """Write the run as one page of HTML that shows it move."""
        from nonsmooth.views.report import report

        return report(self, path, parameters)

    def widget(self, parameters: Parameters = (), **options: Any) -> Any:
        """Return a widget that shows the run in a notebook."""
        from nonsmooth.views.widget import widget

        return widget(self, parameters, **options)
