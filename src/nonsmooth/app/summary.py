"""A run in numbers and in words: what `nonsmooth run` prints."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.bodies import PointMass
from nonsmooth.result import Limit, Result

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
# Lines of text for each group of extremes.
MAX_LINES = 6

UNITS = {"x": "m", "y": "m", "theta": "rad", "force": "N", "torque": "N m"}


# ---- numbers ---------------------------------------------------------------------


def figures(result: Result) -> dict[str, Any]:
    """Return the summary, the final state and the extremes as plain data.

    Every number is finite; what is not (a step limit of infinity) is None.
    """
    numbers: dict[str, Any] = dict(result.summary())
    has_steps = len(result.steps.t) > 0
    numbers["final"] = dataclasses.asdict(result.state()) if has_steps else None
    numbers["extremes"] = extremes(result) if has_steps else {}
    return plain(numbers)


def extremes(result: Result) -> dict[str, Extreme]:
    """Return least and largest value, and their times, of what matters most.

    x, y and theta of every body with mass; the force of every joint (its
    magnitude) and its torque if it can have one; the output of every drive.
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
    t, m = result.t, result.system.tables
    width = 9 * m.n_marker + 8 * m.n_force + 6 * m.n_dof + 1
    if PER_STEP * len(t) * width <= MAX_NUMBERS:
        parts = [t[:-1] + k / PER_STEP * np.diff(t) for k in range(PER_STEP)]
        instants = np.append(np.stack(parts, axis=1), t[-1])
    else:
        instants = t
    size = max(1, BATCH // width)
    for begin in range(0, len(instants), size):
        yield instants[begin : begin + size], "after"
    # Where an arc ends, forces may jump: the values before count as well.
    ends = np.append(result.steps.t[1:][np.diff(result.steps.arc) > 0], result.t_end)
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
    couples = [f"{j.name}.torque" for j in model.joints if j.holds_angle[1]]
    forces = [f"{j.name}.force_{axis}" for j in model.joints for axis in "xy"]
    samples = result.sample(t, [*places, *outputs, *couples, *forces], limit)
    for name in (*places, *outputs):
        yield name, samples[name]
    for joint in model.joints:
        x, y = samples[f"{joint.name}.force_x"], samples[f"{joint.name}.force_y"]
        yield f"{joint.name}.force", np.hypot(x, y)
    for name in couples:
        yield name, samples[name]


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


# ---- words -----------------------------------------------------------------------


def text(result: Result, numbers: dict[str, Any]) -> str:
    """Return a run in a few lines; `numbers` are its `figures`."""
    lines = [
        ("status", f"{_status(result)} at t = {result.t_end:.9g} s"),
        ("events", _events(numbers["events"])),
        *_motion(result, numbers["extremes"]),
        *_forces(result, numbers["extremes"]),
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


def _span(name: str, extreme: Extreme) -> str:
    quantity = name.rpartition(".")[2]
    low, high = _number(extreme["min"]), _number(extreme["max"])
    return (low if low == high else f"{low} .. {high}") + f" {UNITS[quantity]}"


def _number(value: float) -> str:
    return f"{0.0 if abs(value) < ROUND_OFF else value:.5g}"


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
            f"{name:<{width}}  {_span(name, extreme)}, largest at t = {t:.5g} s"
        )
    return _grouped("forces", lines)


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
