"""From fired guards and modes to the table of events."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth.kernels import entry
from nonsmooth.kernels.assemble import OPEN, PRESSING
from nonsmooth.kernels.tables import Work
from nonsmooth.result import EventRecord, Steps
from nonsmooth.system import System


def mode_name(side: int, slip: int, has_friction: bool) -> str:
    """Return the mode of a contact in words."""
    if side == OPEN:
        return "open"
    if side != PRESSING:
        return "released"
    if not has_friction:
        return "pressing"
    return {0: "stick", 1: "slip+", -1: "slip-"}[slip]


def event_records(
    system: System,
    steps: Steps,
    fired: NDArray[np.int64],
    t_end: float,
    work: Work,
) -> list[EventRecord]:
    """Return the events of a run in order of time."""
    records: list[EventRecord] = []
    n_guard = len(system.events)
    for i in np.flatnonzero(fired.any(axis=1)):
        t = float(steps.t[i + 1]) if i + 1 < len(steps.t) else t_end
        is_last = i + 1 == len(steps.t)
        side = work.side if is_last else steps.side[i + 1]
        slip = work.slip if is_last else steps.slip[i + 1]
        for k in np.flatnonzero(fired[i, :n_guard]):
            records.append(_user_event(system, steps, int(i), int(k), t))
        for k, name in enumerate(system.contacts):
            own = fired[i, n_guard + 4 * k : n_guard + 4 * k + 4]
            old = (int(steps.side[i, k]), int(steps.slip[i, k]))
            new = (int(side[k]), int(slip[k]))
            has_friction = bool(system.tables.contact_row[k] >= 0)
            kind = _contact_kind(own, old, new)
            if kind:
                records.append(
                    EventRecord(
                        t=t,
                        element=name,
                        kind=kind,
                        before=mode_name(*old, has_friction),
                        after=mode_name(*new, has_friction),
                    )
                )
    return records


def _contact_kind(
    own: NDArray[np.int64], old: tuple[int, int], new: tuple[int, int]
) -> str:
    """Return what happened to a contact, "" for nothing."""
    if own[0]:
        return "touch_down" if old[0] == OPEN else "separate"
    if own[1]:
        return "release" if old[0] == PRESSING else "re_engage"
    if old[0] != PRESSING or (old == new and not own.any()):
        return ""
    if old[1] == 0:
        # Also a contact that another one's event has freed.
        return "break_away" if new[1] != 0 else ""
    return "stick" if new[1] == 0 else "reverse"


def _user_event(
    system: System, steps: Steps, i: int, k: int, t: float
) -> EventRecord:
    event = system.model.events[k]
    kind = event.direction
    if kind == "both":
        kind = "rising" if _rate(system, steps, i, k) > 0.0 else "falling"
    return EventRecord(t=t, element=event.name, kind=kind, action=event.action)


def _rate(system: System, steps: Steps, i: int, k: int) -> float:
    """Return the rate of a user's guard at the end of a step."""
    n, n_y = system.n_dof, system.n_y
    y = np.ascontiguousarray(steps.coef[i].sum(axis=0))
    dy, out = np.zeros(n_y), np.zeros(2 * system.tables.n_watch)
    t = min(float(steps.t[i] + steps.h[i]), float(steps.cap[i]))
    work = system.work()
    mode = np.concatenate([steps.side[i], steps.slip[i]])
    entry.mode_from(system.tables, work, mode, steps.approach[i].copy())
    entry.derivative(system.tables, work, t, y, 0.0, 0.0, dy)
    entry.guard_values(
        system.tables, work, t, y, dy[n : 2 * n].copy(), np.zeros(n_y), out
    )
    return float(out[2 * k + 1])
