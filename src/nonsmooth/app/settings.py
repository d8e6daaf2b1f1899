"""Numbers and choices inside a model, by name: `crank.mass`, `sole.friction.mu`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args, get_origin

from nonsmooth.elements.base import Element, field_types
from nonsmooth.errors import ModelError, nearest
from nonsmooth.gallery import Parameter
from nonsmooth.gallery._convert import convert
from nonsmooth.model import Model

_FAMILIES = ("bodies", "joints", "drives", "forces", "contacts", "events")


def with_field(model: Model, key: str, value: Any, where: str) -> Model:
    """Return the model with one number or choice of a named element changed.

    Parameters
    ----------
    model : Model
    key : str
        Element, field, and the fields inside that, with dots between.
    value : int, float or str
        Text is converted, as it comes from a command line.
    where : str
        What messages begin with.
    """
    name, *path = key.split(".")
    element = model.element(name, path[0] if path else "")
    changed = _changed(element, path, where, value)
    lists = {
        family: tuple(changed if e is element else e for e in getattr(model, family))
        for family in _FAMILIES
    }
    return dataclasses.replace(model, **lists)


def _changed(element: Element, path: Sequence[str], where: str, value: Any) -> Element:
    types = field_types(type(element))
    name, rest = path[0], path[1:]
    if name not in types:
        raise ModelError(
            f"{where}: {type(element).__name__} has no field '{name}'; "
            f"{nearest(name, types)}"
        )
    present = getattr(element, name)
    if rest and isinstance(present, Element):
        return dataclasses.replace(
            element, **{name: _changed(present, rest, where, value)}
        )
    if rest and present is None:
        raise ModelError(
            f"{where}: {element.label()} has no {name}; only what it has can be changed"
        )
    kind = types[name]
    if not rest and get_origin(kind) is Literal:
        return dataclasses.replace(element, **{name: convert(where, kind, value)})
    if rest or not _is_number(kind) or isinstance(present, tuple):
        raise ModelError(f"{where}: only numbers can be set, and this is not one")
    return dataclasses.replace(element, **{name: convert(where, float, value)})


def _is_number(kind: Any) -> bool:
    return kind is float or float in get_args(kind)


def fields(model: Model) -> Iterator[Parameter]:
    """Yield what `with_field` can change in a model, as parameters without ranges."""
    for family in _FAMILIES:
        for element in getattr(model, family):
            yield from _fields_of(element, element.name, "")


def _fields_of(element: Element, prefix: str, kind: str) -> Iterator[Parameter]:
    """Yield the fields of an element; `kind` is what it is, inside another one."""
    types = field_types(type(element))
    for item in dataclasses.fields(element):
        value, annotation = getattr(element, item.name), types[item.name]
        name = f"{prefix}.{item.name}"
        if isinstance(value, Element):
            yield from _fields_of(value, name, type(value).__name__)
            continue
        is_choice = get_origin(annotation) is Literal
        is_plain = isinstance(value, int | float) and not isinstance(value, bool)
        if is_choice or (is_plain and _is_number(annotation)):
            # Some units go on in words: "kg m^2, about the mass centre".
            unit, _, words = (item.metadata.get("unit") or "").partition(", ")
            choices = " | ".join(map(str, get_args(annotation)))
            yield Parameter(
                name=name,
                type=choices if is_choice else "float",
                default=value,
                unit=unit,
                meaning=", ".join(part for part in (kind, words) if part),
            )
