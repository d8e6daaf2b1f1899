"""Numbers and choices inside a model, by name: `crank.mass`, `sole.friction.mu`.

The list that an element is in may stand before its name, `contacts.sole.friction.mu`,
and the place in a list after that of its field, `bodies.box.position.0`. Of the model
itself there is `gravity.0` and `gravity.1`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast, get_args, get_origin

from nonsmooth.elements.base import Element, Named, field_types
from nonsmooth.errors import ModelError, nearest, show
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
        Element, field, and the fields or places inside that, with dots between.
    value : int, float or str
        Text is converted, as it comes from a command line.
    where : str
        What messages begin with.
    """
    try:
        return _with_field(model, key, value, where)
    except ModelError as error:
        text = str(error)
        raise ModelError(
            text if text.startswith(where) else refused(where, key, value, text)
        ) from None


def with_fields(model: Model, chosen: Mapping[str, Any], where: str = "") -> Model:
    """Return the model with fields changed, in an order in which each is valid."""
    left, refusal = dict(chosen), None
    while left:
        for key, value in left.items():
            try:
                model = with_field(model, key, value, f"{where}{key}")
            except ModelError as error:
                refusal = refusal or error
            else:
                del left[key]
                refusal = None
                break
        if refusal:
            raise refusal
    return model


def refused(where: str, key: str, value: Any, text: str) -> str:
    """Return what an element says of a value, in the words of who set it.

    >>> refused("--set b.mass", "b.mass", "-1", "body 'b': mass = -1.0; must be > 0 kg")
    '--set b.mass = -1; must be > 0 kg'
    """
    shown = value if isinstance(value, str) else show(value)
    field = re.escape(key.rpartition(".")[2])
    own = re.fullmatch(rf"[^:;]*: {field} = [^;]*; (.*)", text, re.DOTALL)
    return f"{where} = {shown}; {own[1]}" if own else f"{where} = {shown}: {text}"


def _with_field(model: Model, key: str, value: Any, where: str) -> Model:
    if key.partition(".")[0] == "gravity" and not _has(model, "gravity"):
        path = key.split(".")[1:] or ["?"]
        gravity = _replaced(model.gravity, path, f"{where}: gravity", value)
        return dataclasses.replace(model, gravity=gravity)
    element, path = find(model, key, where)
    changed = _changed(element, path, where, value)
    lists = {
        family: tuple(changed if e is element else e for e in getattr(model, family))
        for family in _FAMILIES
    }
    return dataclasses.replace(model, **lists)


def short_path(key: str) -> str:
    """Return a key without the list that its element is in."""
    family, _, rest = key.partition(".")
    return rest if family in _FAMILIES and "." in rest else key


def _has(model: Model, name: str) -> bool:
    return any(e.name == name for family in _FAMILIES for e in getattr(model, family))


def find(model: Model, key: str, where: str) -> tuple[Named, list[str]]:
    """Return the element that a key begins with, and what follows."""
    family, _, rest = key.partition(".")
    if family not in _FAMILIES or not rest:
        name, *path = key.split(".")
        try:
            element = model.element(name, path[0] if path else "")
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None
    else:
        name, *path = rest.split(".")
        own: dict[str, Named] = {e.name: e for e in getattr(model, family)}
        if name not in own:
            raise ModelError(f"{where}: no {name!r} in {family}; {nearest(name, own)}")
        element = own[name]
    if not path:
        raise ModelError(
            f"{where}: name a field of {element.label()}; "
            f"{nearest('', field_types(type(element)))}"
        )
    return element, path


def _changed(element: Element, path: Sequence[str], where: str, value: Any) -> Element:
    types = field_types(type(element))
    name, rest = path[0], path[1:]
    if name not in types:
        remedy = element.renamed.get(name) or nearest(name, types)
        raise ModelError(
            f"{where}: {type(element).__name__} has no field '{name}'; {remedy}"
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
    if rest and isinstance(present, tuple | dict):
        inside = _replaced(cast(Any, present), rest, f"{where}: {name}", value)
        return dataclasses.replace(element, **{name: inside})
    kind = types[name]
    if not rest and get_origin(kind) is Literal:
        return dataclasses.replace(element, **{name: convert(where, kind, value)})
    number = _number(kind)
    if rest or number is None or isinstance(present, tuple):
        raise ModelError(f"{where}: only numbers can be set, and this is not one")
    # What says the same in other words gives way.
    others = dict.fromkeys(element.either if name in element.either else ())
    changed = others | {name: convert(where, number, value)}
    return dataclasses.replace(element, **changed)


def _replaced(present: Any, path: Sequence[str], where: str, value: Any) -> Any:
    """Return a tuple or mapping with what stands at a path replaced."""
    place, rest = path[0], path[1:]
    if isinstance(present, dict):
        content: dict[Any, Any] = dict(cast(dict[str, Any], present))
        if place not in content:
            raise ModelError(f"{where}: no '{place}'; {nearest(place, content)}")
        key: Any = place
    else:
        if not (place.isdecimal() and int(place) < len(present)):
            last = len(present) - 1
            raise ModelError(f"{where}: no place '{place}'; give 0 to {last}")
        content, key = dict(enumerate(cast(tuple[Any, ...], present))), int(place)
    inner = content[key]
    if rest and isinstance(inner, Element):
        content[key] = _changed(inner, rest, where, value)
    elif rest and isinstance(inner, tuple | dict):
        content[key] = _replaced(cast(Any, inner), rest, f"{where}.{place}", value)
    elif rest or isinstance(inner, bool) or not isinstance(inner, int | float):
        raise ModelError(f"{where}.{place}: only numbers can be set, this is not one")
    else:
        content[key] = convert(f"{where}.{place}", float, value)
    return content if isinstance(present, dict) else tuple(content.values())


def _number(kind: Any) -> type[float] | type[int] | None:
    """Return what numbers a field takes, if any."""
    for number in (float, int):
        if kind is number or number in get_args(kind):
            return number
    return None


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
        number = _number(annotation)
        if is_choice or (is_plain and number is not None):
            # Some units go on in words: "kg m^2, about the mass centre".
            unit, _, words = (item.metadata.get("unit") or "").partition(", ")
            choices = " | ".join(map(str, get_args(annotation)))
            yield Parameter(
                name=name,
                type=choices if is_choice else "int" if number is int else "float",
                default=value,
                unit=unit,
                meaning=", ".join(part for part in (kind, words) if part),
            )
