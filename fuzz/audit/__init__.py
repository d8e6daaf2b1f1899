"""The audit: whether a run obeys its model, as its columns alone tell.

Nothing of the engine is used but `result.sample`, the table of events, the ends of
steps, the ledger's two numbers, and bristles of `result.state`. The model is given
apart from the result, so that a result can be audited against another model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.audit import laws, tolerances
from fuzz.audit.contacts import Pressed, approach_rates, check_contact, mates_of
from fuzz.audit.course import (
    check_continuity,
    check_integrals,
    check_ledger,
    check_lift_offs,
)
from fuzz.audit.friction import Even
from fuzz.audit.geometry import Flat, Part, is_corner_on_corner, pairs
from fuzz.audit.joints import check_closed, check_sliding, check_wrench
from fuzz.audit.newton import body_of, check_elements, check_newton, sum_forces
from fuzz.audit.notes import Array, Finding, Notes
from fuzz.audit.patches import add_patches, check_patches, pressed
from fuzz.audit.scene import Scene
from nonsmooth import Model, Segment

__all__ = ["Finding", "Notes", "audit", "traits"]

N_EVEN = 201
# Around an event, at these parts of the way to its neighbours.
AROUND = (1e-1, 1e-3, 1e-6)
# Of a run with very many events, so many are looked at on both sides.
MOST_EVENTS = 300
# States of bristles are asked for one by one.
MOST_STATES = 400
# Instants at which to look for what happens in a run.
MOST_TRAITS = 3000


def _instants(result: Any) -> tuple[Array, Array, Array]:
    """Return even instants, those around events, and the events themselves."""
    even = np.linspace(result.t_start, result.t_end, N_EVEN)
    events = np.unique(result.events.t)
    events = events[(events > result.t_start) & (events <= result.t_end)]
    if len(events) > MOST_EVENTS:
        events = events[np.linspace(0, len(events) - 1, MOST_EVENTS).astype(int)]
    ends = np.concatenate(([result.t_start], events, [result.t_end]))
    gaps = np.diff(ends)
    around = [
        edge
        for part in AROUND
        for edge in (ends[:-1] + part * gaps, ends[1:] - part * gaps)
    ]
    return even, np.unique(np.concatenate(around)), events


@dataclass(frozen=True, kw_only=True)
class _Samples:
    """All columns at all instants, and which instants are of what kind."""

    columns: dict[str, Array]
    shifts: dict[str, Array]  # how much they change while an event may have happened
    even: Even
    is_before: Any  # the left limit


def _jumps(model: Model, result: Any, events: Array, rtol: float) -> list[Any]:
    """Return spans within which the gap of what passes the end of a segment jumps.

    Which side of that an event is on is round-off.
    """
    scene = Scene(model, result.sample([result.t_start]))
    parts = [p for p in pairs(scene) if isinstance(p, Part)]
    ends = [p.name for p in parts if p.end or isinstance(p.surface, Segment)]
    if not ends or not len(events):
        return []
    late = tolerances.LOCATED * rtol * (result.t_end - result.t_start)
    names = [f"{name}.gap" for name in ends]
    first, last = result.t_start, result.t_end
    before = result.sample(np.clip(events - late, first, last), names)
    after = result.sample(np.clip(events + late, first, last), names)
    moved = np.max([np.abs(after[name] - before[name]) for name in names], axis=0)
    chosen = events[moved > tolerances.LEAP * scene.size]
    return [(t - late, t + late) for t in chosen.tolist()]


def _samples(model: Model, result: Any, rtol: float) -> _Samples:
    """Return samples at even instants, around events, and on both sides of them."""
    even, around, events = _instants(result)
    # What happens in a span that was crossed is known to first order only.
    crossed: list[Any] = [*getattr(result, "crossed", ())]
    for begin, end in (*crossed, *_jumps(model, result, events, rtol)):
        even, around, events = (
            t[(t < begin) | (t > end)] for t in (even, around, events)
        )
    first = result.sample(np.concatenate((even, around, events)))
    columns = {name: first[name] for name in first}
    if len(events):
        last = result.sample(events, limit="before")
        columns = {k: np.concatenate((v, last[k])) for k, v in columns.items()}
    place = np.arange(len(columns["t"]))
    steps = np.asarray(result.t)
    begin = steps[np.maximum(np.searchsorted(steps, even, side="right") - 1, 0)]
    is_before = place >= len(place) - len(events)
    return _Samples(
        columns=columns,
        shifts=_shifts(result, columns, events, is_before, rtol),
        even=Even(here=place < len(even), begin=result.sample(begin)),
        is_before=is_before,
    )


def _shifts(
    result: Any, columns: dict[str, Array], events: Array, is_before: Any, rtol: float
) -> dict[str, Array]:
    """Return by how much columns change within the error of a located instant.

    Near events, away from them and no farther than half way to the next; else zero.
    """
    t = columns["t"]
    shifts = {name: np.zeros_like(t) for name in columns}
    if not len(events):
        return shifts
    late = tolerances.LOCATED * rtol * (result.t_end - result.t_start)
    ends = np.concatenate(([result.t_start], events, [result.t_end]))
    k = np.searchsorted(ends, t, side="left")
    left, right = ends[np.maximum(k - 1, 0)], ends[np.minimum(k, len(ends) - 1)]
    right = np.where(t == right, ends[np.minimum(k + 1, len(ends) - 1)], right)
    after = ~is_before & (np.abs(t - np.where(np.isin(t, events), t, left)) <= late)
    before = ~after & (np.abs(ends[np.minimum(k, len(ends) - 1)] - t) <= late)
    for chosen, away in ((after, 0.5 * (t + right)), (before, 0.5 * (t + left))):
        if not np.any(chosen):
            continue
        step = np.clip(away - t, -late, late)[chosen]
        moved = result.sample(t[chosen] + step)
        for name, shift in shifts.items():
            shift[chosen] = np.abs(moved[name] - columns[name][chosen])
    return shifts


def _bristles(result: Any, samples: _Samples, name: str, law: Any) -> Array | None:
    """Return deflections at some instants, NaN at others; None if there are none."""
    if not laws.has_bristles(law):
        return None
    t = samples.columns["t"]
    found = np.full_like(t, np.nan)
    for k in np.unique(np.linspace(0, len(t) - 1, MOST_STATES).astype(int)).tolist():
        limit = "before" if samples.is_before[k] else "after"
        found[k] = result.state(float(t[k]), limit=limit).deflection[name]
    return found


def audit(model: Model, result: Any, rtol: float = 1e-8) -> Notes:
    """Check everything that the columns of a run can tell."""
    notes, samples = Notes(), _samples(model, result, rtol)
    scene = Scene(model, samples.columns)
    found = list(pairs(scene))
    contacts = [Pressed(scene, p) for p in found if not isinstance(p, str)]
    sums = sum_forces(scene, contacts)
    patches = pressed(model)
    add_patches(scene, sums, patches)
    check_patches(notes, result, patches)
    unseen = {p for p in found if isinstance(p, str)}
    for contact in model.contacts:
        if contact.name in unseen:
            sums.unseen |= {body_of(contact.a), body_of(contact.b)}
    check_elements(notes, scene)
    check_newton(notes, sums)
    check_closed(notes, scene)
    check_wrench(notes, scene, sums)
    kinds = (samples.shifts, samples.even)
    for contact in contacts:
        pair = contact.pair
        force = sum((sums.size[k][0] for k in (pair.a, pair.b) if k in sums.size), 0.0)
        force = force + 1e-6 * sums.largest
        approach = approach_rates(result, contact)
        z = _bristles(result, samples, pair.name, pair.friction)
        mates = mates_of(contact, contacts)
        check_contact(notes, contact, approach, force, *kinds, z, rtol, mates)
    for joint in model.joints:
        law = getattr(joint, "friction", None)
        if law is not None and getattr(joint, "clearance", None) is None:
            z = _bristles(result, samples, joint.name, law)
            check_sliding(notes, scene, sums, joint, *kinds, z, rtol)
    check_integrals(notes, model, result, rtol)
    check_continuity(notes, model, result, np.unique(result.events.t), rtol)
    check_ledger(notes, model, result, rtol)
    friction = {contact.name: contact.pair.friction for contact in contacts}
    check_lift_offs(notes, model, result, friction)
    return notes


def traits(model: Model, result: Any) -> set[str]:
    """Return what happened in a run: sticks, lifts off, ..."""
    t = np.union1d(np.linspace(result.t_start, result.t_end, N_EVEN), result.t)
    if len(t) > MOST_TRAITS:
        t = t[np.linspace(0, len(t) - 1, MOST_TRAITS).astype(int)]
    scene = Scene(model, result.sample(t))
    found: set[str] = set()
    for name in scene.columns:
        if name.endswith(".mode") and np.any(scene[name] == 0.0):
            found.add("sticks")
    kinds = {event.kind for event in result.events}
    if kinds & {"release", "separate"}:
        found.add("lifts off")
    pieces = [pair for pair in pairs(scene) if isinstance(pair, Flat)]
    for contact in (*model.contacts, *pieces):
        if np.any(is_corner_on_corner(scene, contact)):
            found.add("corner on corner")
    return found
