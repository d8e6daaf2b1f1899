"""The JSON Schema of model files, generated from the registered kinds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from nonsmooth.elements.base import Element, field_types
from nonsmooth.io.frame import GALLERY_KEYS, RUN_KEY, SCHEMA_KEY, VERSION, VERSION_KEY
from nonsmooth.io.kinds import (
    default_of,
    families,
    inputs_of,
    is_element,
    is_kind,
    options_of,
    required_of,
)
from nonsmooth.io.plain import plain
from nonsmooth.model import Model


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of model files.

    It is generated from the registered kinds, those of the user included.
    """
    definitions: dict[str, Any] = {}
    for family in families():
        definitions[_slug(family)] = _family_schema(family)
        for name, kind in family.kinds.items():
            definitions[f"{_slug(family)}.{name}"] = _kind_schema(family, kind)
    head = {
        VERSION_KEY: {"const": VERSION, "description": "version of the file format"},
        SCHEMA_KEY: {"type": "string"},
    }
    definitions["model"] = _object(
        head | _properties(Model), [VERSION_KEY, *required_of(Model)], _summary(Model)
    )
    name, parameters = GALLERY_KEYS
    definitions["gallery"] = _object(
        {
            **head,
            name: {"type": "string"},
            parameters: {"type": "object"},
            RUN_KEY: _properties(Model)[RUN_KEY],
        },
        [VERSION_KEY, name],
        "A system of the gallery, with its parameters.",
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "nonsmooth model",
        "anyOf": [{"$ref": "#/$defs/model"}, {"$ref": "#/$defs/gallery"}],
        "$defs": definitions,
    }


def _slug(family: type[Element]) -> str:
    return family.family.replace(" ", "_")


def _summary(cls: type[Element]) -> str:
    """Return the first line of a docstring, but not what dataclasses make up."""
    text = (cls.__doc__ or "").strip().split("\n")[0]
    return "" if text.startswith(f"{cls.__name__}(") else text


def _object(
    properties: dict[str, Any], required: list[str], description: str = ""
) -> dict[str, Any]:
    return {
        **({"description": description} if description else {}),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _family_schema(family: type[Element]) -> dict[str, Any]:
    kinds = list(family.kinds)
    return {
        "type": "object",
        "properties": {"type": {"enum": kinds}},
        "required": [] if is_kind(family) else ["type"],
        "anyOf": [{"$ref": f"#/$defs/{_slug(family)}.{kind}"} for kind in kinds],
    }


def _kind_schema(family: type[Element], kind: type[Element]) -> dict[str, Any]:
    required = required_of(kind)
    if kind is not family:
        required = ["type", *required]
    properties = {"type": {"const": kind.__name__}, **_properties(kind)}
    return _object(properties, required, _summary(kind))


def _properties(cls: type[Element]) -> dict[str, Any]:
    types = field_types(cls)
    properties: dict[str, Any] = {}
    for name, item in inputs_of(cls).items():
        content = _type_schema(types[name], item)
        if item.metadata.get("unit"):
            content = {"description": item.metadata["unit"], **content}
        default = default_of(item)
        if default is not dataclasses.MISSING:
            content["default"] = plain(default, f"{cls.__name__}: {name}")
        properties[name] = content
    return properties


_SCHEMAS: Mapping[Any, str] = {
    int: "integer",
    bool: "boolean",
    str: "string",
    NoneType: "null",
}


def _type_schema(
    annotation: Any, item: dataclasses.Field[Any] | None = None
) -> dict[str, Any]:
    """Return the schema of the values that a type admits."""
    options = options_of(annotation)
    if len(options) > 1:
        return {"anyOf": [_type_schema(option, item) for option in options]}
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if annotation is float:
        return {"type": "number", **_range_schema(item)}
    if annotation in _SCHEMAS:
        return {"type": _SCHEMAS[annotation]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if is_element(annotation):
        return {"$ref": f"#/$defs/{_slug(annotation)}"}
    if origin is dict:
        return {"type": "object", "additionalProperties": _type_schema(arguments[1])}
    if origin is tuple and arguments[-1] is ...:
        return {"type": "array", "items": _type_schema(arguments[0])}
    if origin is tuple:
        return {
            "type": "array",
            "prefixItems": [_type_schema(part) for part in arguments],
            "items": False,
            "minItems": len(arguments),
        }
    return {}  # a type of the user's own: the constructor checks it


def _range_schema(item: dataclasses.Field[Any] | None) -> dict[str, float]:
    if item is None:
        return {}
    limits = {"exclusiveMinimum": "above", "minimum": "minimum", "maximum": "maximum"}
    return {
        word: item.metadata[key]
        for word, key in limits.items()
        if item.metadata.get(key) is not None
    }
