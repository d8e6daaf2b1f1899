"""The events of a run, from fired guards and modes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.kernels import entry
from nonsmooth.kernels.entry import Guards
from nonsmooth.kernels.friction.modes import OPEN, PRESSING, SLIP, YIELDING
from nonsmooth.kernels.mechanics.tables import FORCE, GAP, GROUP, USER, Work
from nonsmooth.kernels.tolerances import JUMPED
from nonsmooth.pack import System
from nonsmooth.result.apart import Apart
from nonsmooth.result.evaluate import evaluate, instants
from nonsmooth.result.event_table import PAIRS, ROW, EventTable
from nonsmooth.result.state import Modes, mode_name
from nonsmooth.result.steps import Steps

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]

# Instants looked at together: forces of one take kilobytes.
BLOCK = 256


@dataclass
class _Words:
    """Words by number, as they come."""

    number: dict[str, int] = field(default_factory=dict[str, int])

    def __call__(self, text: str) -> int:
        return self.number.setdefault(text, len(self.number))


def event_table(system: System, steps: Steps | Apart, t_end: float) -> EventTable:
    """Return the events of a run in order of time."""
    if isinstance(steps, Steps):
        return _table(system, steps, t_end)
    # At one instant the user's events come first, then contacts, in their order.
    place = {name: k for k, name in enumerate((*system.events, *system.with_mode))}
    return EventTable.joined(event_tables(system, steps, t_end), place)


def event_tables(
    system: System, steps: Steps | Apart, t_end: float
) -> list[EventTable]:
    """Return the events of each part that marched apart; one table if none did."""
    if isinstance(steps, Steps):
        return [_table(system, steps, t_end)]
    own = zip(system.parts, steps.own, steps.ends, strict=True)
    return [_table(part.system, of, end) for part, of, end in own if len(of.t)]


def _table(system: System, steps: Steps, t_end: float) -> EventTable:
    changed: Bools = steps.has_fired()
    # A mode may also change where laws break, or in a review, when no guard has fired.
    changed[:-1] |= steps.changes()
    ends = np.flatnonzero(changed)
    work, words = system.work(), _Words()
    found: list[Any] = [np.zeros(0, dtype=ROW)]
    for begin in range(0, len(ends), BLOCK):
        some = ends[begin : begin + BLOCK]
        found.append(_block(system, steps, some, t_end, work, words))
    return EventTable.of_rows(np.concatenate(found), list(words.number))


def _block(
    system: System,
    steps: Steps,
    ends: Integers,
    t_end: float,
    work: Work,
    words: _Words,
) -> Any:
    """Return the rows of events at the ends of given steps."""
    t = np.where(
        ends + 1 < len(steps.t), steps.t[np.minimum(ends + 1, len(steps.t) - 1)], t_end
    )
    fired = np.asarray(steps.fired[ends]) != 0
    parts: list[Any] = []
    # The user's events of an instant come first, in their order, then contacts.
    order: list[Integers] = []
    place: list[Integers] = []
    for k in range(len(system.events)):
        at = np.flatnonzero(fired[:, k])
        rows: Any = np.zeros(len(at), dtype=ROW)
        rows["kind"] = [
            words(_user_kind(system, steps, int(i), k, work)) for i in ends[at]
        ]
        rows["element"] = words(system.events[k])
        rows["action"] = words(system.model.events[k].action)
        rows["before"] = rows["after"] = rows["cause"] = words("")
        parts.append(rows)
        place.append(at)
        order.append(np.full(len(at), k))
    if system.with_mode:
        sides = _both_sides(system, steps, ends, t, work)
        at, k, rows = _mode_events(system, sides, _Fired(system, fired), words)
        parts.append(rows)
        place.append(at)
        order.append(len(system.events) + k)
    if system.flight is not None:
        for k, (body, T) in enumerate(system.flight.shapes.items()):
            at, rows = _flight_events(system, steps, ends, body, T.shape, words)
            parts.append(rows)
            place.append(at)
            order.append(
                np.full(len(at), len(system.events) + len(system.with_mode) + k)
            )
    at = np.concatenate(place)
    new = np.lexsort((np.concatenate(order), at))
    rows = np.concatenate(parts)[new]
    rows["t"] = t[at[new]]
    return rows


class _Fired:
    """Which guards of each contact fired, (n, n_contact)."""

    def __init__(self, system: System, fired: Bools) -> None:
        m = system.tables
        shape = (len(fired), len(system.with_mode))
        self.gap, self.force = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        self.any = np.zeros(shape, dtype=bool)
        for k in np.flatnonzero(fired.any(axis=0)).tolist():
            # A group that gives way has no cause but itself.
            kind, owner = m.watch_kind[k], int(m.watch_owner[k])
            if kind in (USER, GROUP) or owner < 0:
                continue
            self.any[:, owner] |= fired[:, k]
            if kind in (GAP, FORCE):
                which = self.gap if kind == GAP else self.force
                which[:, owner] |= fired[:, k]

    def causes(self, at: Integers, system: System, words: _Words) -> Integers:
        """Return whose guards fired at given instants, as words."""
        sets, of = np.unique(self.any[at], axis=0, return_inverse=True)
        names = np.array(system.with_mode)
        found = [words(", ".join(names[own].tolist())) for own in sets]
        return np.array(found, dtype=np.int64)[of.reshape(-1)]


@dataclass(frozen=True)
class _Sides:
    """Contacts before and after some instants."""

    mode: tuple[Modes, Modes]  # (n, n_contact) each
    contact: tuple[Any, Any]  # (n, n_contact) records
    impulse: Floats  # (n, n_contact, 2)
    is_any_new: Bools  # (n)


def _both_sides(
    system: System, steps: Steps, ends: Integers, t: Floats, work: Work
) -> _Sides:
    """Return the contacts before and after the ends of given steps."""
    old, new = steps.mode[ends], steps.mode_after(ends)
    before, after = (
        np.asarray(evaluate(system, work, times, y, mode).contact)
        for times, y, mode in (
            (np.minimum(t, steps.cap[ends]), steps.before(ends), old),
            (t, steps.after(ends), new),
        )
    )
    is_new = np.zeros(len(ends), dtype=bool)
    for name in ("side", "grip", "sign"):
        is_new |= (old[name] != new[name]).any(axis=1)
    return _Sides((old, new), (before, after), steps.impulse[ends], is_new)


def _mode_events(
    system: System, sides: _Sides, guards: _Fired, words: _Words
) -> tuple[Integers, Integers, Any]:
    """Return when something happened to which contact or joint, and the rows."""
    n = len(system.contacts)
    contacts = _contact_kinds(guards, sides, slice(n))
    joints = _slide_kinds(guards, sides, slice(n, None))
    kind = np.concatenate([contacts, joints], axis=1)
    at, k = np.nonzero(kind != "")
    rows: Any = np.zeros(len(at), dtype=ROW)
    of_element = np.array([words(name) for name in system.with_mode])
    rows["element"] = of_element[k]
    rows["kind"] = _numbers(kind[at, k], words)
    rows["action"] = words("record")
    has_friction: Bools = np.asarray(system.tables.contact_row)[k] >= 0
    rows["before"] = _mode_words(sides.mode[0][at, k], has_friction, words)
    rows["after"] = _mode_words(sides.mode[1][at, k], has_friction, words)
    is_own = guards.any[at, k]
    rows["cause"] = np.where(is_own, words(""), guards.causes(at, system, words))
    for pair, name in zip(PAIRS, ("v_t", "lam_n", "lam_t"), strict=False):
        for side in range(2):
            of = sides.contact[side]
            rows[pair][:, side] = of[name][at, k]
            if name == "lam_n":
                # That of a joint may pull.
                is_joint = k >= n
                rows[pair][is_joint, side] = of["force"][at[is_joint], k[is_joint]]
    rows["impulse"] = sides.impulse[at, k]
    has = (1 << len(PAIRS)) - 1
    rows["has"] = np.where(rows["impulse"].any(axis=1), has, has >> 1)
    return at, k, rows


def _flight_events(
    system: System,
    steps: Steps,
    ends: Integers,
    body: str,
    n: tuple[int, ...],
    words: _Words,
) -> tuple[Integers, Any]:
    """Return when a body dropped shapes, or had them again, and its rows."""
    flight = system.flight
    assert flight is not None
    old = flight.is_flying(steps.mode[ends])
    new = flight.is_flying(steps.mode_after(ends))
    at = np.flatnonzero(old != new)
    rows: Any = np.zeros(len(at), dtype=ROW)
    rows["element"] = words(body)
    rows["action"], rows["cause"] = words("record"), words("")
    drop, have = words("drop_modes"), words("return_modes")
    rows["kind"] = np.where(new[at], drop, have)
    many, few = (words(f"{k} shapes") for k in n)
    rows["before"] = np.where(new[at], many, few)
    rows["after"] = np.where(new[at], few, many)
    return at, rows


def _numbers(texts: Any, words: _Words) -> Any:
    """Return the numbers of words."""
    some, of = np.unique(texts, return_inverse=True)
    return np.array([words(str(text)) for text in some], dtype=np.int64)[of]


def _mode_words(mode: Modes, has_friction: Bools, words: _Words) -> Any:
    """Return the names of modes as words."""
    names = ("side", "grip", "sign")
    columns = [np.asarray(mode[name], dtype=np.int64) for name in names]
    key: Any = np.stack([*columns, has_friction])
    some, first, of = np.unique(key, axis=1, return_index=True, return_inverse=True)
    found = [words(mode_name(mode[i], bool(has_friction[i]))) for i in first.tolist()]
    assert some.shape[1] == len(found)
    return np.array(found, dtype=np.int64)[of.reshape(-1)]


def _contact_kinds(guards: _Fired, sides: _Sides, own: slice) -> Any:
    """Return what happened to contacts, "" for nothing.

    A slip velocity that touches zero and goes on counts where it lets another contact
    go (two corners on one line, while the body turns through it).
    """
    old, new = sides.mode[0][:, own], sides.mode[1][:, own]
    is_same = _are_same(old, new) & (old["side"] == new["side"])
    stays = is_same & ~(guards.any[:, own] & sides.is_any_new[:, None])
    slips = np.where((old["side"] != PRESSING) | stays, "", _slip_kinds(old, new))
    touches = np.where(old["side"] == OPEN, "touch_down", "separate")
    presses = np.where(old["side"] == PRESSING, "release", "re_engage")
    return np.where(
        guards.gap[:, own], touches, np.where(guards.force[:, own], presses, slips)
    )


def _are_same(old: Any, new: Any) -> Any:
    return (old["grip"] == new["grip"]) & (old["sign"] == new["sign"])


def _move(mode: Any) -> Any:
    return (mode["grip"] == SLIP) | (mode["grip"] == YIELDING)


def _slip_kinds(old: Any, new: Any) -> Any:
    """Return what happened to the slip of a contact, "" for nothing."""
    # Also a contact that another one's event has freed.
    from_rest = np.where(_move(new), "break_away", "")
    # From yielding within a band to slip beyond it nothing has turned.
    is_same = (old["grip"] != new["grip"]) & (old["sign"] == new["sign"])
    goes_on = np.where(is_same, "", "reverse")
    return np.where(_move(old), np.where(_move(new), goes_on, "stick"), from_rest)


def _slide_kinds(guards: _Fired, sides: _Sides, own: slice) -> Any:
    """Return what happened to joints with friction, "" for nothing."""
    old, new = sides.mode[0][:, own], sides.mode[1][:, own]
    is_new = (old["flank"] != new["flank"]) & (guards.any[:, own] | _move(new))
    changes = np.where(is_new, "change_side", "")
    return np.where(_are_same(old, new), changes, _slip_kinds(old, new))


def _user_kind(system: System, steps: Steps, i: int, k: int, work: Work) -> str:
    kind = system.model.events[k].direction
    if kind == "both":
        return "rising" if _goes(system, steps, i, k, work) > 0.0 else "falling"
    return kind


def _goes(system: System, steps: Steps, i: int, k: int, work: Work) -> float:
    """Return where to a user's guard goes at the end of a step, by its sign."""
    one = np.array([i])
    t = min(float(steps.t[i] + steps.h[i]), float(steps.cap[i]))
    found = guards_at(system, work, t, steps.before(one), steps.mode[one])
    value, rate = found[k].tolist()
    return value if abs(value) > JUMPED * abs(rate * t) else rate


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
