"""From fired guards and modes to the table of events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nonsmooth.kernels import entry
from nonsmooth.kernels.assemble import (
    CONTACT,
    FORCE,
    LAM_N,
    LAM_T,
    OPEN,
    PRESSING,
    V_T,
    YIELDING,
)
from nonsmooth.kernels.tables import Work
from nonsmooth.result import EventRecord, Modes, Steps, evaluate_states, mode_name
from nonsmooth.system import System

# Slips of a contact that moves.
_SLIPS = (1, YIELDING)


def event_records(
    system: System,
    steps: Steps,
    fired: NDArray[np.int64],
    t_end: float,
    work: Work,
) -> list[EventRecord]:
    """Return the events of a run in order of time."""
    records: list[EventRecord] = []
    n_guard, n_contact = len(system.events), len(system.with_mode)
    changed: NDArray[np.bool_] = np.asarray(fired.any(axis=1))
    # A mode may also change in a review, when no guard has fired.
    changed[:-1] |= steps.modes.changes()
    ends = np.flatnonzero(changed)
    before, after = _both_sides(system, steps, ends, t_end, work)
    for row, i in enumerate(ends.tolist()):
        t = float(steps.t[i + 1]) if i + 1 < len(steps.t) else t_end
        for k in np.flatnonzero(fired[i, :n_guard]).tolist():
            records.append(_user_event(system, steps, i, k, t))
        own = fired[i, n_guard : n_guard + 4 * n_contact].reshape(n_contact, 4)
        names = system.with_mode
        cause = [name for name, f in zip(names, own, strict=True) if f.any()]
        is_mode_new = not (
            np.array_equal(before.modes.side[row], after.modes.side[row])
            and np.array_equal(before.modes.slip[row], after.modes.slip[row])
        )
        for k, name in enumerate(names):
            old, new = before.mode(row, k), after.mode(row, k)
            is_joint = k >= len(system.contacts)
            if is_joint:
                is_side_new = before.modes.flank[row, k] != after.modes.flank[row, k]
                kind = _slide_kind(own[k], old[1], new[1], bool(is_side_new))
            else:
                kind = _contact_kind(own[k], old, new, is_mode_new)
            if kind:
                has_friction = bool(system.tables.contact_row[k] >= 0)
                v_t, lam_n, lam_t = (
                    (before.value(row, k, at), after.value(row, k, at))
                    for at in (V_T, FORCE if is_joint else LAM_N, LAM_T)
                )
                records.append(
                    EventRecord(
                        t=t,
                        element=name,
                        kind=kind,
                        before=mode_name(*old, has_friction),
                        after=mode_name(*new, has_friction),
                        cause="" if own[k].any() else ", ".join(cause),
                        slip_velocity=v_t,
                        normal_force=lam_n,
                        friction_force=lam_t,
                    )
                )
    return records


@dataclass(frozen=True)
class _Side:
    """Contacts on one side of some instants."""

    modes: Modes
    contact: NDArray[np.float64]  # (n, n_contact, CONTACT)

    def mode(self, row: int, k: int) -> tuple[int, int]:
        return int(self.modes.side[row, k]), int(self.modes.slip[row, k])

    def value(self, row: int, k: int, quantity: int) -> float:
        return float(self.contact[row, k, quantity])


def _both_sides(
    system: System,
    steps: Steps,
    ends: NDArray[np.int64],
    t_end: float,
    work: Work,
) -> tuple[_Side, _Side]:
    """Return the contacts before and after the ends of given steps."""
    # What follows the last step is not recorded; it is still in the work arrays.
    t = np.append(steps.t, t_end)[ends + 1]
    y = np.concatenate([steps.coef[:, 0], steps.y_end[None]])[ends + 1]
    modes = Modes(
        side=np.concatenate([steps.modes.side, work.side[None]]),
        slip=np.concatenate([steps.modes.slip, work.slip[None]]),
        flank=np.concatenate([steps.modes.flank, work.flank[None]]),
        approach=np.concatenate([steps.modes.approach, work.approach[None]]),
        hold=np.concatenate([steps.modes.hold, work.hold[None]]),
    )
    last = steps.coef[ends].sum(axis=1)
    return (
        _side(system, np.minimum(t, steps.cap[ends]), last, modes.at(ends)),
        _side(system, t, y, modes.at(ends + 1)),
    )


def _side(
    system: System, t: NDArray[np.float64], y: NDArray[np.float64], modes: Modes
) -> _Side:
    arrays = evaluate_states(system, system.work(), t, y, modes)
    return _Side(
        modes, arrays["contact"].reshape(len(t), len(system.with_mode), CONTACT)
    )


def _contact_kind(
    own: NDArray[np.int64],
    old: tuple[int, int],
    new: tuple[int, int],
    is_mode_new: bool,
) -> str:
    """Return what happened to a contact, "" for nothing.

    A slip velocity that touches zero and goes on counts where it lets another contact
    go (two corners on one line, while the body turns through it).
    """
    if own[0]:
        return "touch_down" if old[0] == OPEN else "separate"
    if own[1]:
        return "release" if old[0] == PRESSING else "re_engage"
    if old[0] != PRESSING or (new == old and not (own.any() and is_mode_new)):
        return ""
    return _slip_kind(old[1], new[1])


def _slip_kind(old: int, new: int) -> str:
    """Return what happened to the slip of a contact, "" for nothing."""
    was_slipping, is_slipping = abs(old) in _SLIPS, abs(new) in _SLIPS
    if not was_slipping:
        # Also a contact that another one's event has freed.
        return "break_away" if is_slipping else ""
    if not is_slipping:
        return "stick"
    # From yielding within a band to slip beyond it nothing has turned.
    is_same = abs(old) != abs(new) and (old > 0) == (new > 0)
    return "" if is_same else "reverse"


def _slide_kind(own: NDArray[np.int64], old: int, new: int, is_side_new: bool) -> str:
    """Return what happened to a joint with friction, "" for nothing."""
    if new != old:
        return _slip_kind(old, new)
    return "change_side" if is_side_new and (own.any() or abs(new) in _SLIPS) else ""


def _user_event(system: System, steps: Steps, i: int, k: int, t: float) -> EventRecord:
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
    entry.mode_from(system.tables, work, *steps.modes.at(np.array([i])).flat())
    entry.derivative(system.tables, work, t, y, 0.0, 0.0, dy)
    entry.guard_values(
        system.tables, work, t, y, dy[n : 2 * n].copy(), np.zeros(n_y), out
    )
    return float(out[2 * k + 1])
