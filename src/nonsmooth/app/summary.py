"""A run in numbers and in words: what `nonsmooth run` prints and writes."""

from __future__ import annotations

import csv
import dataclasses
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from nonsmooth import columns
from nonsmooth.elements.bodies import PointMass
from nonsmooth.files import replacing
from nonsmooth.result import EventRecord, EventTable, Limit, Result
from nonsmooth.views import contacts

Floats = NDArray[np.float64]
Extreme = dict[str, float]

# Extremes are looked for at this many places in each step; only at its ends if that
# means to evaluate more than so many numbers.
PER_STEP = 4
MAX_NUMBERS = 100_000_000
# Numbers evaluated at once, so that large models fit in memory.
BATCH = 4_000_000
# Less than this is round-off beside quantities of order one, and reads as noise.
ROUND_OFF = 1e-12
# So is, of contacts and joints, less than this part of the largest: forces and slip are
# zero at many events, to the accuracy with which these are located.
NOISE_PART = 1e-7
# Lines of text for each group of extremes.
MAX_LINES = 6

# What is listed of a contact in text, under shorter names.
CONTACT_WORDS = {
    "normal_force": "normal",
    "friction_force": "friction",
    "slip_velocity": "slip",
}
# The same of a joint with friction.
JOINT_WORDS = {"load": "load", "friction_force": "friction", "slip_velocity": "slip"}
PAIRS = ("slip_velocity", "normal_force", "friction_force")
# A side is looked up this part of a step away from the event that changes it, where
# forces are zero.
ASIDE = 1e-3


# ---- numbers -------------------------------------------------------------------


def figures(result: Result) -> dict[str, Any]:
    """Return the summary, the final state and the extremes as plain data.

    Every number is finite; what is not (a step limit of infinity) is None.
    """
    numbers: dict[str, Any] = dict(result.summary())
    system = result.system
    has_steps = len(result.steps.t) > 0
    # Where quantities are recorded there is no state that another run takes.
    has_state = has_steps and result.options["scheme"] not in ("waves", "appended")
    numbers["final"] = dataclasses.asdict(result.state()) if has_state else None
    numbers["extremes"] = extremes(result) if has_steps else {}
    numbers["contacts"] = mode_figures(result, system.contacts) if has_steps else {}
    numbers["joints"] = joint_figures(result) if has_steps else {}
    return plain(numbers)


def mode_figures(
    result: Result, names: Sequence[str]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the events by kind and the time in each mode, s, of contacts or joints."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    every = contacts.stays(result)
    for name in names:
        stays = every[name]
        time: dict[str, float] = {}
        for stay in stays:
            time[stay.mode] = time.get(stay.mode, 0.0) + stay.end - stay.begin
        counts = result.events.of(name).counts()
        found[name] = {"events": dict(counts), "time": time}
    return found


def joint_figures(result: Result) -> dict[str, dict[str, Any]]:
    """Return the same of joints with friction, and the work of friction, J."""
    work = result.energy_balance.work
    return {
        name: {**found, "work": float(work[f"{name}.friction"][-1])}
        for name, found in mode_figures(result, result.system.slides).items()
    }


def extremes(result: Result) -> dict[str, Extreme]:
    """Return least and largest value, and their times, of what matters most.

    x, y and theta of every body with mass; the force of every joint (its
    magnitude) and its torque if it can have one; the output of every drive; gap and
    forces of every contact, and its slip velocity while it presses; load, forces and
    slip velocity of every joint with friction.
    """
    found: dict[str, Extreme] = {}
    for t, limit in _instants(result):
        for name, values in _quantities(result, t, limit):
            # Where a run fails, a law may have no value.
            places = np.flatnonzero(np.isfinite(values))
            if len(places) == 0:
                continue
            low = places[np.argmin(values[places])]
            high = places[np.argmax(values[places])]
            old = found.setdefault(name, {"min": math.inf, "max": -math.inf})
            if values[low] < old["min"]:
                old |= {"min": float(values[low]), "t_min": float(t[low])}
            if values[high] > old["max"]:
                old |= {"max": float(values[high]), "t_max": float(t[high])}
    return found


def _instants(result: Result) -> Iterator[tuple[Floats, Limit]]:
    """Yield times to look at, in batches, with the one-sided limit to take there."""
    t, width = result.t, columns.width(result.system)
    if PER_STEP * len(t) * width <= MAX_NUMBERS:
        parts = [t[:-1] + k / PER_STEP * np.diff(t) for k in range(PER_STEP)]
        instants = np.append(np.stack(parts, axis=1), t[-1])
    else:
        instants = t
    size = max(1, BATCH // width)
    for begin in range(0, len(instants), size):
        yield instants[begin : begin + size], "after"
    # Where an arc ends, forces may jump: the values before count as well.
    ends = np.append(result.steps.t[contacts.arc_begins(result)[1:]], result.t_end)
    for begin in range(0, len(ends), size):
        yield ends[begin : begin + size], "before"


def _quantities(
    result: Result, t: Floats, limit: Limit
) -> Iterator[tuple[str, Floats]]:
    model = result.system.model
    moving = set(result.system.bodies[: result.system.n_moving])
    places: list[str] = []
    for body in model.bodies:
        if body.name in moving:
            kinds = ("x", "y") if isinstance(body, PointMass) else ("x", "y", "theta")
            places += [f"{body.name}.{kind}" for kind in kinds]
    outputs = [f"{drive.name}.{drive.output}" for drive in model.drives]
    # A guide with clearance is contacts, not a constraint.
    held = [j for j in model.joints if j.name in result.system.joints]
    couples = [f"{j.name}.torque" for j in held if j.holds_angle[1]]
    forces = [f"{j.name}.force_{axis}" for j in held for axis in "xy"]
    touch = ("mode", "gap", *PAIRS)
    pairs = [f"{name}.{kind}" for name in result.system.contacts for kind in touch]
    slide = ("load", *PAIRS)
    slides = [f"{name}.{kind}" for name in result.system.slides for kind in slide]
    names = [*places, *outputs, *couples, *forces, *pairs, *slides]
    samples = result.sample(t, names, limit)
    for name in (*places, *outputs):
        yield name, samples[name]
    for joint in held:
        x, y = samples[f"{joint.name}.force_x"], samples[f"{joint.name}.force_y"]
        yield f"{joint.name}.force", np.hypot(x, y)
    for name in (*couples, *slides):
        yield name, samples[name]
    for name in result.system.contacts:
        is_pressing = np.abs(samples[f"{name}.mode"]) <= 1.0
        for kind in touch[1:]:
            values = samples[f"{name}.{kind}"]
            is_slip = kind == "slip_velocity"
            yield (
                f"{name}.{kind}",
                np.where(is_pressing, values, np.nan) if is_slip else values,
            )


def plain(value: Any) -> Any:
    """Return what JSON can hold."""
    if isinstance(value, dict):
        items = cast("dict[object, Any]", value).items()
        return {str(key): plain(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("Sequence[Any]", value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if isinstance(value, np.generic):
        return plain(cast(Any, value).item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# ---- words ---------------------------------------------------------------------


def text(result: Result, numbers: dict[str, Any]) -> str:
    """Return a run in a few lines; `numbers` are its `figures`."""
    lines = [
        ("status", f"{_status(result)} at t = {result.t_end:.9g} s"),
        ("events", _events(numbers["events"])),
        *_motion(result, numbers["extremes"]),
        *_forces(result, numbers["extremes"]),
        *_contacts(result, numbers["extremes"]),
        *_joints(numbers),
        *_modes(result, {**numbers["contacts"], **numbers["joints"]}),
        ("energy", _energy(numbers)),
        ("constraints", f"violated by at most {result.violation:.1e} (m or rad)"),
        ("cost", _cost(result)),
    ]
    lines += [("note", note) for note in result.notes]
    return "\n".join(f"{head:<12} {line}" for head, line in lines)


def _status(result: Result) -> str:
    return result.message if result.status == "stopped" else result.status


def _events(counts: dict[str, int]) -> str:
    listed = [f"{count} {kind}" for kind, count in counts.items()]
    return ", ".join(listed) or "none"


def _range(extreme: Extreme) -> float:
    return extreme["max"] - extreme["min"]


def _peak(extreme: Extreme) -> float:
    return max(abs(extreme["min"]), abs(extreme["max"]))


def _span(name: str, extreme: Extreme, noise: float = ROUND_OFF) -> str:
    unit = columns.QUANTITIES[name.rpartition(".")[2]].unit
    low, high = _number(extreme["min"], noise), _number(extreme["max"], noise)
    return (low if low == high else f"{low} .. {high}") + f" {unit}"


def _number(value: float, noise: float = ROUND_OFF) -> str:
    return f"{0.0 if abs(value) < noise else value:.5g}"


def _grouped(head: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for k, line in enumerate(lines[:MAX_LINES]):
        yield (head if k == 0 else ""), line
    if len(lines) > MAX_LINES:
        yield "", f"and {len(lines) - MAX_LINES} more (all of them with --json)"


def _motion(result: Result, found: dict[str, Extreme]) -> Iterator[tuple[str, str]]:
    """Describe where the bodies went, the farthest travelled first."""
    bodies: dict[str, list[str]] = {}
    for name in found:
        body, _, quantity = name.rpartition(".")
        if quantity in ("x", "y", "theta"):
            bodies.setdefault(body, []).append(name)

    def travel(body: str) -> float:
        return max(_range(found[name]) for name in bodies[body][:2])

    width = max((len(body) for body in bodies), default=0)
    lines = [
        f"{body:<{width}}  "
        + "   ".join(
            f"{n.rpartition('.')[2]} {_span(n, found[n])}" for n in bodies[body]
        )
        for body in sorted(bodies, key=travel, reverse=True)
    ]
    return _grouped("motion", lines)


def _forces(result: Result, found: dict[str, Extreme]) -> Iterator[tuple[str, str]]:
    """Describe drives, then joints, the most loaded first."""
    drives = {drive.name for drive in result.system.model.drives}

    def rank(name: str) -> tuple[bool, float]:
        return name.rpartition(".")[0] in drives, _peak(found[name])

    names = [
        name
        for name in found
        if name.rpartition(".")[2] in ("force", "torque")
        and _peak(found[name]) > ROUND_OFF
    ]
    names.sort(key=rank, reverse=True)
    width = max((len(name) for name in names[:MAX_LINES]), default=0)
    lines: list[str] = []
    for name in names:
        extreme = found[name]
        t = extreme["t_max" if extreme["max"] == _peak(extreme) else "t_min"]
        lines.append(
            f"{name:<{width}}  {_span(name, extreme)}, largest at t = {_number(t)} s"
        )
    return _grouped("forces", lines)


def _noise(found: dict[str, Extreme]) -> dict[str, float]:
    """Return below what the quantities of contacts and joints are as good as zero."""
    peaks: dict[str, float] = dict.fromkeys((*CONTACT_WORDS, *JOINT_WORDS), 0.0)
    for name, extreme in found.items():
        kind = name.rpartition(".")[2]
        if kind in peaks:
            peaks[kind] = max(peaks[kind], _peak(extreme))
    return {kind: max(ROUND_OFF, NOISE_PART * peak) for kind, peak in peaks.items()}


def _cells(
    name: str, words: dict[str, str], found: dict[str, Extreme], noise: dict[str, float]
) -> list[str]:
    """Return the name of a contact or joint, and its extremes in words."""
    cells = [name]
    for kind, word in words.items():
        extreme = found.get(f"{name}.{kind}")
        text = f"{word} {_span(kind, extreme, noise[kind])}" if extreme else ""
        # The first tells how hard it is pressed.
        if extreme and len(cells) == 1 and ".." in text:
            text += f" (most at t = {_number(extreme['t_max'])} s)"
        cells.append(text)
    return cells


def _by_load(names: Sequence[str], kind: str, found: dict[str, Extreme]) -> list[str]:
    """Return contacts or joints, the most loaded first."""

    def load(name: str) -> float:
        return found.get(f"{name}.{kind}", {"max": 0.0})["max"]

    return sorted(names, key=load, reverse=True)


def _contacts(result: Result, found: dict[str, Extreme]) -> Iterator[tuple[str, str]]:
    """Describe forces and slip of contacts, the most loaded first."""
    noise = _noise(found)
    names = _by_load(result.system.contacts, "normal_force", found)
    rows = [_cells(name, CONTACT_WORDS, found, noise) for name in names]
    return _grouped("contacts", _columns(rows) if found else [])


def _joints(numbers: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Describe load, friction, slip and work of joints, the most loaded first."""
    found, noise = numbers["extremes"], _noise(numbers["extremes"])
    rows: list[list[str]] = []
    for name in _by_load(list(numbers["joints"]), "load", found):
        work = _number(numbers["joints"][name]["work"])
        rows.append([*_cells(name, JOINT_WORDS, found, noise), f"work {work} J"])
    return _grouped("joints", _columns(rows))


def _modes(
    result: Result, found: dict[str, dict[str, dict[str, float]]]
) -> Iterator[tuple[str, str]]:
    """Describe which part of the run contacts and joints spend in which mode."""
    whole = result.t_end - result.t_start
    rows: list[list[str]] = []
    for name, figures in found.items():
        modes = sorted(figures["time"].items(), key=lambda item: -item[1])
        parts = ", ".join(f"{mode} {100.0 * t / whole:.3g} %" for mode, t in modes)
        rows.append([name, parts])
    return _grouped("modes", _columns(rows))


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines, the cells of a column as wide as the widest."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "   ".join(
            f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def _energy(numbers: dict[str, Any]) -> str:
    residual, exchanged = numbers["energy_residual"], numbers["energy_exchanged"]
    if residual is None:
        return "unknown"
    if not exchanged:
        return f"residual {residual:.1e} J; none was exchanged"
    part = residual / exchanged
    return f"residual {residual:.1e} J, {part:.1e} of the {exchanged:.5g} J exchanged"


def _cost(result: Result) -> str:
    cost = result.cost
    steps = f"{cost['steps']:.0f} steps ({cost['rejected']:.0f} rejected"
    if cost.get("implicit_steps"):
        steps += f", {cost['implicit_steps']:.0f} implicit"
    return (
        f"{steps}), {cost['evaluations']:.0f} evaluations, "
        f"{cost['cpu_seconds']:.3g} s CPU"
    )


# ---- events --------------------------------------------------------------------


def events_text(result: Result, numbers: dict[str, Any]) -> str:
    """Return the events as a table; of contacts with modes, slip and forces."""
    events = result.events
    if not any(record.before for record in events):
        return str(events)
    noise = _noise(numbers["extremes"])
    sides = _sides(result)
    head = ["t (s)", "element", "event", "before", "after"]
    head += [f"{CONTACT_WORDS[k]} ({columns.QUANTITIES[k].unit})" for k in PAIRS]
    rows = [[*head, ""]]
    for record in events:
        row = [f"{record.t:.12g}", record.element, record.kind]
        row += [record.before, record.after]
        row += [_pair(getattr(record, name), noise[name]) for name in PAIRS]
        note = sides.get((record.t, record.element), "")
        rows.append([*row, f"by {record.cause}" if record.cause else note])
    return "\n".join(_columns(rows))


def _sides(result: Result) -> dict[tuple[float, str], str]:
    """Return what changes of side lead from and to, by time and joint."""
    changes = [record for record in result.events if record.kind == "change_side"]
    found: dict[tuple[float, str], str] = {}
    if not changes:
        return found
    begin, h = result.steps.t, result.steps.h
    t = np.array([record.t for record in changes])
    after = np.clip(np.searchsorted(begin, t, side="right") - 1, 0, len(h) - 1)
    before = np.clip(np.searchsorted(begin, t, side="left") - 1, 0, len(h) - 1)
    instants = np.concatenate([t - ASIDE * h[before], t + ASIDE * h[after]])
    instants = np.clip(instants, result.t_start, result.t_end)
    names = sorted({f"{record.element}.side" for record in changes})
    samples = result.sample(instants, names)
    for k, record in enumerate(changes):
        values = samples[f"{record.element}.side"][[k, k + len(t)]]
        old, new = (columns.SIDES[int(value)] for value in values)
        # What follows the end of a run is not known.
        if old != new:
            found[record.t, record.element] = f"side {old} -> {new}"
    return found


def _pair(pair: tuple[float, float] | None, noise: float) -> str:
    """Return what a quantity was and became; once if it did not change."""
    if pair is None:
        return ""
    old, new = (f"{0.0 if abs(x) <= noise else x:.4g}" for x in pair)
    return old if old == new else f"{old} -> {new}"


def write_events(events: EventTable, path: str | os.PathLike[str]) -> None:
    """Write the events as comma-separated text; numbers read back the same."""
    with (
        replacing(path) as place,
        place.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(EventRecord.columns())
        for record in events:
            row = (_cell(value) for value in record.row())
            writer.writerow(row)


def _cell(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "" if math.isnan(value) else repr(float(value))
