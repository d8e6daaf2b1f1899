"""From a model to plain data: mappings, lists, text and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from nonsmooth.elements.base import Element
from nonsmooth.errors import ModelError
from nonsmooth.io.kinds import default_of, inputs_of
from nonsmooth.io.words import is_unicode, show


def fields(element: Element) -> dict[str, Any]:
    """Return the fields of an element that differ from their defaults."""
    data: dict[str, Any] = {}
    for name, item in inputs_of(type(element)).items():
        value = getattr(element, name)
        default = default_of(item)
        # Equal is not enough: 0.0 equals -0.0.
        if value != default or repr(value) != repr(default):
            data[name] = plain(value, f"{element.label()}: {name}")
    return data


def plain(value: Any, where: str) -> Any:
    """Return a value as plain data; `where` begins a refusal."""
    if isinstance(value, Element):
        kind = type(value).__name__
        if kind not in value.kinds:
            raise ModelError(
                f"{where}: {kind} is not registered, so it could not be read back; "
                "give its class a name without a leading '_'"
            )
        return {"type": kind, **fields(value)}
    if value is None or isinstance(value, bool):
        return value
    # Subclasses of these become the plain type, which every writer knows.
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        if not is_unicode(value):
            raise ModelError(f"{where} = {show(value)}; this is not valid Unicode")
        return str.__str__(value)
    if isinstance(value, list | tuple):
        return [plain(item, where) for item in cast(Sequence[Any], value)]
    if isinstance(value, Mapping):
        content = cast(Mapping[str, Any], value)
        return {plain(key, where): plain(x, where) for key, x in content.items()}
    raise ModelError(f"{where} = {show(value)}; this cannot be written to a file")
