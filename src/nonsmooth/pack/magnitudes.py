"""Refuse numbers whose products would not be numbers any more; note odd ones."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from nonsmooth.elements.base import Element
from nonsmooth.errors import ModelError
from nonsmooth.model import Model

# Three of the largest may be multiplied, and a mass divided by another.
LARGEST, LIGHTEST = 1e100, 1e-100


def check_magnitudes(model: Model) -> None:
    """Refuse a model with a number that overflows as soon as it is used."""
    for element, field, value, _ in _numbers(model):
        if abs(value) > LARGEST:
            raise ModelError(
                f"{element.label()}: {field} = {value!r}; must be at most {LARGEST:g}, "
                "or products of such numbers overflow"
            )
    for body in model.bodies:
        if body.has_mass:
            for field in ("mass", "inertia"):
                value = getattr(body, field, 1.0)
                if value < LIGHTEST:
                    raise ModelError(
                        f"{body.label()}: {field} = {value!r}; must be at least "
                        f"{LIGHTEST:g}, or its inverse overflows"
                    )
    for k, value in enumerate(model.gravity):
        if abs(value) > LARGEST:
            raise ModelError(
                f"model: gravity[{k}] = {value!r}; must be at most {LARGEST:g} m/s^2"
            )


def notes_on_angles(model: Model) -> Iterator[str]:
    """Yield a note for each angle of more than a turn: it may be in degrees."""
    for element, field, value, unit in _numbers(model):
        turns = abs(value) / (2.0 * math.pi)
        if unit.partition(",")[0] == "rad" and turns > 1.0:
            yield (
                f"{element.label()}: {field} = {value:g}; angles are in radians, and "
                f"{value:g} rad is {turns:.3g} turns; for degrees "
                f"math.radians({value:g}), {math.radians(value):.6g}"
            )


def _numbers(model: Model) -> Iterator[tuple[Element, str, float, str]]:
    """Yield every number of every element, with the field it stands in and its unit."""
    families = (model.bodies, model.joints, model.drives, model.forces)
    for family in (*families, model.contacts, model.events):
        for element in family:
            yield from _of(element, element, "", "")


@functools.cache
def _fields(kind: type[Element]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a kind of elements, with their units."""
    return tuple((item.name, item.metadata.get("unit", "")) for item in fields(kind))


def _of(
    owner: Element, value: Any, path: str, unit: str
) -> Iterator[tuple[Element, str, float, str]]:
    inside: Any = value
    if isinstance(value, int | float):
        yield owner, path, float(value), unit
    elif isinstance(value, Element):
        for name, own in _fields(type(value)):
            item = getattr(value, name)
            # Most are names, or not given: no need to look into them.
            if item is not None and type(item) is not str:
                yield from _of(owner, item, f"{path}.{name}" if path else name, own)
    elif isinstance(value, dict):
        for key, item in inside.items():
            yield from _of(owner, item, f"{path}[{key!r}]", unit)
    elif isinstance(value, list | tuple):
        for k, item in enumerate(inside):
            yield from _of(owner, item, f"{path}[{k}]", unit)
