"""The table of events, from fired guards and modes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from nonsmooth.kernels import entry
from nonsmooth.kernels.entry import Guards
from nonsmooth.kernels.friction.modes import OPEN, PRESSING, SLIP, YIELDING
from nonsmooth.kernels.mechanics.tables import FORCE, GAP, GROUP, USER, Work
from nonsmooth.pack import System
from nonsmooth.result.display import rows_html
from nonsmooth.result.evaluate import evaluate, instants
from nonsmooth.result.state import Modes, mode_name
from nonsmooth.result.steps import Steps

if TYPE_CHECKING:
    import pandas

Floats = NDArray[np.float64]
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
    impulse: Pair | None = None  # N s, along the normal and the tangent

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
        if self.impulse is not None:
            line += "  impulse {:.4g}, {:.4g} N s".format(*self.impulse)
        return line + (f"  (by {self.cause})" if self.cause else "")

    @staticmethod
    def columns() -> tuple[str, ...]:
        """Return the names of what `row` gives."""
        pairs = ("slip_velocity", "normal_force", "friction_force")
        sides = tuple(
            f"{name}_{side}" for name in pairs for side in ("before", "after")
        )
        texts = ("element", "kind", "action", "before", "after", "cause")
        return ("t", *texts, *sides, "impulse_n", "impulse_t")

    def row(self) -> tuple[float | str, ...]:
        """Return the record as plain values; NaN for what it does not have."""
        nothing = (math.nan, math.nan)
        pairs = (self.slip_velocity, self.normal_force, self.friction_force)
        values = (v for pair in (*pairs, self.impulse) for v in pair or nothing)
        texts = (self.element, self.kind, self.action)
        return (self.t, *texts, self.before, self.after, self.cause, *values)


class EventTable(Sequence[EventRecord]):
    """The events of a run, in order of time."""

    def __init__(self, records: Sequence[EventRecord]) -> None:
        self._records = tuple(records)

    def __repr__(self) -> str:
        """Return how many of each kind there are, in a line."""
        kinds = ", ".join(f"{n} {kind}" for kind, n in self.counts().items())
        if not kinds:
            return "<EventTable: no events>"
        span = f"{self._records[0].t:.6g} to {self._records[-1].t:.6g} s"
        return f"<EventTable: {len(self)} events, {span}: {kinds}; print() lists them>"

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

    def _repr_html_(self) -> str:
        """Return the first rows as a notebook shows them."""
        head = ("t (s)", "element", "kind", "before", "after")
        rows = [[getattr(r, n) for n in ("t", *head[1:])] for r in self._records]
        return rows_html(head, rows, repr(self).partition(";")[0].strip("<>"))

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a data frame."""
        import pandas

        rows = [record.row() for record in self._records]
        return pandas.DataFrame(rows, columns=list(EventRecord.columns()))

    def __str__(self) -> str:
        """Return one line per event."""
        return "\n".join(str(record) for record in self._records) or "no events"


def event_records(system: System, steps: Steps, t_end: float) -> list[EventRecord]:
    """Return the events of a run in order of time."""
    records: list[EventRecord] = []
    fired = steps.fired
    changed: NDArray[np.bool_] = np.asarray(fired.any(axis=1))
    # A mode may also change where laws break, or in a review, when no guard has fired.
    changed[:-1] |= steps.changes()
    ends = np.flatnonzero(changed)
    if len(ends) == 0:
        return records
    work = system.work()
    before, after = _both_sides(system, steps, ends, t_end, work)
    times = np.append(steps.t, t_end)[ends + 1].tolist()
    for row, i in enumerate(ends.tolist()):
        for k in np.flatnonzero(fired[i, : len(system.events)]).tolist():
            records.append(_user_event(system, steps, i, k, times[row], work))
        if system.with_mode:
            guards = _fired_by(system, fired[i])
            records += _mode_events(system, before, after, row, times[row], guards)
    return records


def _fired_by(system: System, fired: NDArray[np.int64]) -> dict[int, list[int]]:
    """Return the kinds of the guards that fired, for each contact that had any."""
    m = system.tables
    found: dict[int, list[int]] = {}
    for k in np.flatnonzero(fired).tolist():
        # A group that gives way has no cause but itself.
        is_own = m.watch_kind[k] not in (USER, GROUP)
        if is_own and m.watch_owner[k] >= 0:
            found.setdefault(int(m.watch_owner[k]), []).append(int(m.watch_kind[k]))
    return found


@dataclass(frozen=True)
class _Side:
    """Contacts on one side of some instants."""

    mode: Modes  # (n, n_contact)
    contact: Any  # (n, n_contact) records
    impulse: Floats  # (n, n_contact, 2)


def _both_sides(
    system: System,
    steps: Steps,
    ends: NDArray[np.int64],
    t_end: float,
    work: Work,
) -> tuple[_Side, _Side]:
    """Return the contacts before and after the ends of given steps."""
    t = np.append(steps.t, t_end)[ends + 1]
    impulse = steps.impulse[ends]
    sides: list[_Side] = []
    for times, y, mode in (
        (np.minimum(t, steps.cap[ends]), steps.before(ends), steps.mode[ends]),
        (t, steps.after(ends), steps.mode_after(ends)),
    ):
        contact = evaluate(system, work, times, y, mode).contact
        sides.append(_Side(mode, contact, impulse))
    return sides[0], sides[1]


def _mode_events(
    system: System,
    before: _Side,
    after: _Side,
    row: int,
    t: float,
    guards: dict[int, list[int]],
) -> list[EventRecord]:
    """Return what happened to contacts and joints at one instant."""
    records: list[EventRecord] = []
    cause = ", ".join(system.with_mode[k] for k in sorted(guards))
    old_modes, new_modes = before.mode[row], after.mode[row]
    is_any_new = any(
        not np.array_equal(old_modes[name], new_modes[name])
        for name in ("side", "grip", "sign")
    )
    for k, name in enumerate(system.with_mode):
        own = guards.get(k, [])
        old, new = old_modes[k], new_modes[k]
        is_joint = k >= len(system.contacts)
        if is_joint:
            kind = _slide_kind(bool(own), old, new)
        else:
            kind = _contact_kind(own, old, new, is_any_new)
        if not kind:
            continue
        has_friction = bool(system.tables.contact_row[k] >= 0)
        a, b = before.contact[row, k], after.contact[row, k]
        impulse = before.impulse[row, k]
        normal = "force" if is_joint else "lam_n"
        records.append(
            EventRecord(
                t=t,
                element=name,
                kind=kind,
                before=mode_name(old, has_friction),
                after=mode_name(new, has_friction),
                cause="" if own else cause,
                slip_velocity=(float(a["v_t"]), float(b["v_t"])),
                normal_force=(float(a[normal]), float(b[normal])),
                friction_force=(float(a["lam_t"]), float(b["lam_t"])),
                impulse=tuple(impulse.tolist()) if impulse.any() else None,
            )
        )
    return records


def _contact_kind(own: list[int], old: Any, new: Any, is_any_new: bool) -> str:
    """Return what happened to a contact, "" for nothing.

    A slip velocity that touches zero and goes on counts where it lets another contact
    go (two corners on one line, while the body turns through it).
    """
    if GAP in own:
        return "touch_down" if old["side"] == OPEN else "separate"
    if FORCE in own:
        return "release" if old["side"] == PRESSING else "re_engage"
    is_same = _is_same(old, new) and old["side"] == new["side"]
    if old["side"] != PRESSING or (is_same and not (own and is_any_new)):
        return ""
    return _slip_kind(old, new)


def _is_same(old: Any, new: Any) -> bool:
    return bool(old["grip"] == new["grip"] and old["sign"] == new["sign"])


def _moves(mode: Any) -> bool:
    return bool(mode["grip"] == SLIP or mode["grip"] == YIELDING)


def _slip_kind(old: Any, new: Any) -> str:
    """Return what happened to the slip of a contact, "" for nothing."""
    if not _moves(old):
        # Also a contact that another one's event has freed.
        return "break_away" if _moves(new) else ""
    if not _moves(new):
        return "stick"
    # From yielding within a band to slip beyond it nothing has turned.
    is_same = old["grip"] != new["grip"] and old["sign"] == new["sign"]
    return "" if is_same else "reverse"


def _slide_kind(has_fired: bool, old: Any, new: Any) -> str:
    """Return what happened to a joint with friction, "" for nothing."""
    if not _is_same(old, new):
        return _slip_kind(old, new)
    is_side_new = old["flank"] != new["flank"]
    return "change_side" if is_side_new and (has_fired or _moves(new)) else ""


def _user_event(
    system: System, steps: Steps, i: int, k: int, t: float, work: Work
) -> EventRecord:
    event = system.model.events[k]
    kind = event.direction
    if kind == "both":
        kind = "rising" if _rate(system, steps, i, k, work) > 0.0 else "falling"
    return EventRecord(t=t, element=event.name, kind=kind, action=event.action)


def _rate(system: System, steps: Steps, i: int, k: int, work: Work) -> float:
    """Return the rate of a user's guard at the end of a step."""
    one = np.array([i])
    t = min(float(steps.t[i] + steps.h[i]), float(steps.cap[i]))
    return float(guards_at(system, work, t, steps.before(one), steps.mode[one])[k, 1])


def guards_at(system: System, work: Work, t: float, y: Floats, mode: Modes) -> Floats:
    """Return value and rate of every guard at one state, (n_watch, 2)."""
    m, n = system.tables, system.n_dof
    samples = instants(system, np.array([t]), y, mode)
    entry.set_mode(m, work, samples, 0)
    dy, watch = np.zeros(system.n_y), Guards(system.tables.sizes())
    entry.derivative(m, work, t, samples.y[0], 0.0, 0.0, dy)
    a = dy[n : 2 * n].copy()
    entry.guard_values(
        m, work, t, samples.y[0], a, np.zeros(system.n_y), system.size, watch
    )
    return watch.guard
