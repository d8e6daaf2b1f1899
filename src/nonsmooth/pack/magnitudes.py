"""Refuse numbers whose products would not be numbers any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nonsmooth.elements.base import Element, field_types
from nonsmooth.errors import ModelError
from nonsmooth.model import Model

# Three of the largest may be multiplied, and a mass divided by another.
LARGEST, LIGHTEST = 1e100, 1e-100


def check_magnitudes(model: Model) -> None:
    """Refuse a model with a number that overflows as soon as it is used."""
    for element, field, value in _numbers(model):
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


def _numbers(model: Model) -> Iterator[tuple[Element, str, float]]:
    """Yield every number of every element, with the field it stands in."""
    families = (model.bodies, model.joints, model.drives, model.forces)
    for family in (*families, model.contacts, model.events):
        for element in family:
            yield from _of(element, element, "")


def _of(owner: Element, value: Any, path: str) -> Iterator[tuple[Element, str, float]]:
    inside: Any = value
    if isinstance(value, int | float):
        yield owner, path, float(value)
    elif isinstance(value, Element):
        for name in field_types(type(value)):
            inner = f"{path}.{name}" if path else name
            yield from _of(owner, getattr(value, name), inner)
    elif isinstance(value, dict):
        for key, item in inside.items():
            yield from _of(owner, item, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple):
        for k, item in enumerate(inside):
            yield from _of(owner, item, f"{path}[{k}]")
