"""What the registered kinds say about themselves: fields, types, families."""

from __future__ import annotations

import dataclasses
from types import UnionType
from typing import Any, Union, get_args, get_origin

from nonsmooth.elements.base import Element, field_types
from nonsmooth.errors import ModelError
from nonsmooth.model import Model


def inputs_of(cls: type[Element]) -> dict[str, dataclasses.Field[Any]]:
    """Return the fields of a kind that a file may hold."""
    inputs = {item.name: item for item in dataclasses.fields(cls) if item.init}
    if "type" in inputs:
        raise ModelError(
            f"{cls.__name__}: a field cannot be called 'type', which names the kind "
            "in files; choose another name"
        )
    return inputs


def default_of(item: dataclasses.Field[Any]) -> Any:
    """Return the default of a field, or MISSING."""
    if item.default_factory is not dataclasses.MISSING:
        return item.default_factory()
    return item.default


def required_of(cls: type[Element]) -> list[str]:
    """Return the fields without a default."""
    inputs = inputs_of(cls).items()
    return [name for name, item in inputs if default_of(item) is dataclasses.MISSING]


def options_of(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type itself."""
    is_union = get_origin(annotation) in (Union, UnionType)
    return get_args(annotation) if is_union else (annotation,)


def is_element(annotation: Any) -> bool:
    """Return whether a type is a family or kind of elements."""
    return isinstance(annotation, type) and issubclass(annotation, Element)


def families() -> list[type[Element]]:
    """Return every family a model can hold, at any depth."""
    found: list[type[Element]] = []

    def visit(annotation: Any) -> None:
        if not is_element(annotation):
            for part in get_args(annotation):
                visit(part)
        elif annotation not in found:
            found.append(annotation)
            for kind in annotation.kinds.values():
                visit_fields(kind)

    def visit_fields(cls: type[Element]) -> None:
        types = field_types(cls)
        for name in inputs_of(cls):
            visit(types[name])

    visit_fields(Model)
    return found


def lists() -> list[str]:
    """Return the fields of a model that hold elements."""
    types = field_types(Model).items()
    return [name for name, kind in types if any(map(is_element, get_args(kind)))]


def is_kind(family: type[Element]) -> bool:
    """Return whether a family is a kind itself, as Event: `type` may be left out."""
    return family.kinds.get(family.__name__) is family
