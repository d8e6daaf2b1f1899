"""Systematic mutations of plain data: every place of a model, every way to be wrong."""

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Steps = tuple[str | int, ...]
REQUIRED = {"type", "name", "b", "mass", "inertia", "nonsmooth", "bodies", "law"}
# Less than zero has no meaning in these, whatever the kind.
NOT_NEGATIVE = {
    "mass",
    "inertia",
    "stiffness",
    "damping",
    "mu",
    "mu_static",
    "radius",
    "thickness",
    "youngs_modulus",
    "density",
    "exponent",
    "duration",
    "size",
    "clearance",
    "rest_length",
}
TEXTS = ("", "abc", "1,5", "3 Hz", "ünïcödé ✓", "a\x00b", "x" * 5000, "../etc")
NAMES = ("", "9lives", "a b", "a.b", "a\nb", "x" * 500, "💥", "../a", "-")


@dataclass(frozen=True)
class Mutation:
    """One change of a document."""

    what: str
    steps: Steps
    data: Any
    value: Any = ...  # what stands there now, if the message is to show it
    must_refuse: bool = True

    @property
    def place(self) -> tuple[str, ...]:
        """What a message may name: the field, or the element it belongs to."""
        if self.what in ("missing", "duplicate", "extreme"):
            return ()  # what leans on it may be blamed
        words = [str(step) for step in self.steps if isinstance(step, str)]
        return tuple(words[-2:]) or ("nonsmooth", "bodies", "mapping", "key")


def at(data: Any, steps: Steps) -> Any:
    for step in steps:
        data = data[step]
    return data


def changed(data: Any, steps: Steps, value: Any) -> Any:
    """Return the data with another value at a place."""
    if not steps:
        return value
    other = copy.copy(data)
    other[steps[0]] = changed(data[steps[0]], steps[1:], value)
    return other


def without(data: Any, steps: Steps) -> Any:
    """Return the data without what stands at a place."""
    parent = copy.copy(at(data, steps[:-1]))
    del parent[steps[-1]]
    return changed(data, steps[:-1], parent)


def places(data: Any, steps: Steps = ()) -> Iterator[Steps]:
    """Yield every place, of alike elements of a list the first and the last."""
    yield steps
    if isinstance(data, dict):
        for key in data:
            yield from places(data[key], (*steps, key))
    elif isinstance(data, list):
        for k in sorted({0, len(data) - 1}) if data else ():
            yield from places(data[k], (*steps, k))


def mutations(data: dict[str, Any]) -> Iterator[Mutation]:
    """Yield every mutation of a model's plain data."""
    for steps in places(data):
        value = at(data, steps)
        last = steps[-1] if steps else ""
        if isinstance(value, dict):
            yield from _of_mapping(data, steps, value)
        elif isinstance(value, list):
            yield from _of_list(data, steps, value)
        elif isinstance(value, bool):
            for bad in ("yes", 2, None, [True], math.nan):
                yield Mutation("wrong type", steps, changed(data, steps, bad), bad)
        elif isinstance(value, int | float):
            yield from _of_number(data, steps)
        else:
            yield from _of_text(data, steps)
        if isinstance(last, str) and last:
            gone = without(data, steps)
            is_wrong = last in REQUIRED and len(steps) != 1
            what = "missing"
            yield Mutation(what, steps, gone, must_refuse=is_wrong and last != "type")


def _of_mapping(data: Any, steps: Steps, value: dict[str, Any]) -> Iterator[Mutation]:
    extra = {**value, "colour": "red"}
    in_names = bool(steps) and steps[-1] in ("points", "shapes", "patches", "gauges")
    place = (*steps, "colour")
    yield Mutation("extra", place, changed(data, steps, extra))
    last = steps[-1] if steps else ""
    for bad in (None, 7, "text", [value], math.nan, True):
        is_none = bad is None and last in ("friction", "damping", "block", "run")
        is_law = bad == 7 and last in ("x", "y", "theta", "fx", "fy", "torque")
        is_name = bad == "text" and last == "material"
        wrong = not (is_none or is_law or is_name)
        yield Mutation(
            "wrong type", steps, changed(data, steps, bad), bad, must_refuse=wrong
        )
    if in_names and value:
        first = next(iter(value.values()))
        for name in NAMES:
            renamed = {**value, name: first}
            yield Mutation("name", steps, changed(data, steps, renamed), name)
    odd = {**value, 7: 1}
    yield Mutation("key", steps, changed(data, steps, odd), 7)


def _of_list(data: Any, steps: Steps, value: list[Any]) -> Iterator[Mutation]:
    for bad in (None, 7, "text", {"a": 1}, math.nan, True):
        is_none = bad is None and steps[-1] in ("position", "center")
        given = ... if is_none else bad  # what goes with it may be blamed
        yield Mutation(
            "wrong type", steps, changed(data, steps, bad), given, not is_none
        )
    for bad in (None, 7, "text", [[]], {}):
        longer = [*value, bad]
        is_words = all(isinstance(item, str) for item in value) and bad == "text"
        yield Mutation(
            "extra", steps, changed(data, steps, longer), must_refuse=not is_words
        )
    if value and isinstance(value[0], dict) and "name" in value[0]:
        twice = changed(data, steps, [*value, value[0]])
        yield Mutation("duplicate", steps, twice, value[0]["name"])
    if value and isinstance(value[0], int | float):
        shorter = changed(data, steps, value[:-1])
        is_pair = len(value) == 2
        yield Mutation("shorter", steps, shorter, must_refuse=is_pair)


def _of_number(data: Any, steps: Steps) -> Iterator[Mutation]:
    for bad in (math.nan, math.inf, -math.inf, 10**400, -(10**400)):
        yield Mutation("not finite", steps, changed(data, steps, bad), bad)
    for bad in (None, [], [1.0], {}, {"a": 1}, True, *TEXTS):
        # Some fields have a choice of a number or a law, or null for none.
        given = ... if bad is None else bad
        yield Mutation(
            "wrong type", steps, changed(data, steps, bad), given, bad is not None
        )
    for bad in (-1.0, 0.0, 1e300, -1e300, 1e-300, 5e-324, 1e18):
        is_negative = bad == -1.0 and steps[-1] in NOT_NEGATIVE
        yield Mutation(
            "extreme", steps, changed(data, steps, bad), must_refuse=is_negative
        )


def _of_text(data: Any, steps: Steps) -> Iterator[Mutation]:
    last = steps[-1]
    for bad in (7, 1.5, True, None, [], {}, math.nan, 10**400):
        is_wrong = not (last in ("title", "symmetric", "damping") and bad is None)
        given = ... if last == "modes" and bad == 7 else bad
        yield Mutation(
            "wrong type", steps, changed(data, steps, bad), given, must_refuse=is_wrong
        )
    if last == "title":
        return
    # Whether a mesh has such a boundary is known once there is a mesh.
    is_later = "boundary" in steps or "fixed" in steps
    for bad in NAMES if last == "name" else TEXTS:
        yield Mutation("text", steps, changed(data, steps, bad), bad, not is_later)
