"""Model files: YAML and JSON, and the schema with which editors check them.

A file holds the same data as the objects. An element is a mapping with its kind
under `type` and its fields by name; what equals its default is left out.

    nonsmooth: 1
    gravity: [0, -9.81]

    bodies:
      - type: RigidBody
        name: arm
        mass: 2
        inertia: 0.1
        points:
          pin: [-0.5, 0]

    joints:
      - type: Revolute
        name: pin
        b: arm.pin

A file may name a system of the gallery instead:

    nonsmooth: 1
    gallery: pendulum_chain
    parameters: {length: 2}

Reading never runs code: `type` is looked up among the registered kinds, and a kind
defined in a user's script is found once that script has been imported. Scalars
follow YAML 1.2, so 1e6 is a number while `on`, `no` and 2026-01-31 are text. A
refusal names the file, the line, the path, the element, the value and the remedy.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, Union, cast, get_args, get_origin

from nonsmooth.elements.base import Element, Named, field_types
from nonsmooth.errors import ModelError, nearest
from nonsmooth.model import Model

VERSION = 1  # of the file format
SIZE_LIMIT = 5_000_000  # bytes; bounds the time a hostile file can take
DEPTH_LIMIT = 40  # levels of nesting; a model needs about six

Format = Literal["yaml", "json"]
# Builds a gallery system from its name and parameters; None if there is none.
Gallery = Callable[[str, dict[str, Any]], Model | None]
# The way from the top of a file to a value: keys and positions.
Steps = tuple[str | int, ...]

_FORMATS: Mapping[str, Format] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}
# Top-level keys that are not fields of the model.
_VERSION_KEY = "nonsmooth"
_SCHEMA_KEY = "$schema"  # for editors
_GALLERY_KEYS = ("gallery", "parameters")


# ---- public functions ----------------------------------------------------------


def to_dict(model: Model) -> dict[str, Any]:
    """Return a model as plain data: mappings, lists, text and numbers."""
    return {_VERSION_KEY: VERSION, **_fields(model)}


def from_dict(
    data: object, *, source: str = "", gallery: Gallery | None = None
) -> Model:
    """Build a model from plain data.

    Parameters
    ----------
    data : mapping
        As `to_dict` returns it.
    source : str
        Where the data comes from; messages begin with it.
    gallery : callable, optional
        Called as `gallery(name, parameters)` for data that names a gallery system.
        It returns the model, or None for an unknown name.

    Raises
    ------
    ModelError
        With source, path, element, value and what would be valid.
    """
    return _Reader(source, gallery, lambda steps: None).document(data)


def loads(
    text: str,
    format: Format = "yaml",
    *,
    source: str = "",
    gallery: Gallery | None = None,
) -> Model:
    """Build a model from text; see `from_dict` for the rest."""
    _check_format(format)
    if not _is_unicode(text):
        raise ModelError(f"{source or 'text'}: not valid Unicode; use UTF-8")
    if len(text.encode()) > SIZE_LIMIT:
        raise _too_large(source, "split it")
    if format == "json":
        data = _json_data(text, source)
        return from_dict(data, source=source, gallery=gallery)
    document = _YamlDocument(text, source)
    return _Reader(source, gallery, document.line).document(document.data)


def load(path: str | Path, *, gallery: Gallery | None = None) -> Model:
    """Read a model from a `.yaml`, `.yml` or `.json` file.

    Raises `OSError` if the file cannot be read, `ModelError` if it is not a model.
    """
    path = Path(path)
    source = str(path)
    format = _format_of(path)
    with path.open("rb") as file:
        raw = file.read(SIZE_LIMIT + 1)
    if len(raw) > SIZE_LIMIT:
        raise _too_large(source, "split it")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ModelError(
            f"{source}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8; "
            "save the file as UTF-8"
        ) from None
    return loads(text, format, source=source, gallery=gallery)


def dumps(model: Model, format: Format = "yaml") -> str:
    """Return a model as text, such that `loads` gives an equal model."""
    _check_format(format)
    data = to_dict(model)
    text = _json_text(data) + "\n" if format == "json" else _yaml_text(data)
    if len(text.encode()) > SIZE_LIMIT:
        raise _too_large(model.label(), "shorten its tables")
    return text


def save(model: Model, path: str | Path) -> None:
    """Write a model to a `.yaml`, `.yml` or `.json` file."""
    path = Path(path)
    text = dumps(model, _format_of(path))
    path.write_text(text, encoding="utf-8", newline="\n")


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of model files.

    It is generated from the registered kinds, those of the user included.
    """
    definitions: dict[str, Any] = {}
    for family in _families():
        definitions[_slug(family)] = _family_schema(family)
        for name, kind in family.kinds.items():
            definitions[f"{_slug(family)}.{name}"] = _kind_schema(family, kind)
    head = {
        _VERSION_KEY: {"const": VERSION, "description": "version of the file format"},
        _SCHEMA_KEY: {"type": "string"},
    }
    definitions["model"] = _object(
        head | _properties(Model), [_VERSION_KEY, *_required(Model)], _summary(Model)
    )
    name, parameters = _GALLERY_KEYS
    definitions["gallery"] = _object(
        {**head, name: {"type": "string"}, parameters: {"type": "object"}},
        [_VERSION_KEY, name],
        "A system of the gallery, with its parameters.",
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "nonsmooth model",
        "anyOf": [{"$ref": "#/$defs/model"}, {"$ref": "#/$defs/gallery"}],
        "$defs": definitions,
    }


def _format_of(path: Path) -> Format:
    format = _FORMATS.get(path.suffix.lower())
    if format is None:
        raise ModelError(
            f"{path}: file name ends in '{path.suffix}'; use {', '.join(_FORMATS)}"
        )
    return format


def _check_format(format: str) -> None:
    if format not in _FORMATS.values():
        raise ModelError(f"format = {format!r}; use 'yaml' or 'json'")


def _too_large(who: str, remedy: str) -> ModelError:
    size = f"larger than {SIZE_LIMIT // 1_000_000} MB, the limit of a model file"
    return ModelError(f"{who or 'text'}: {size}; {remedy}")


# ---- what the kinds say about themselves ---------------------------------------


def _inputs(cls: type[Element]) -> dict[str, dataclasses.Field[Any]]:
    """Return the fields of a kind that a file may hold."""
    inputs = {item.name: item for item in dataclasses.fields(cls) if item.init}
    if "type" in inputs:
        raise ModelError(
            f"{cls.__name__}: a field cannot be called 'type', which names the kind "
            "in files; choose another name"
        )
    return inputs


def _default(item: dataclasses.Field[Any]) -> Any:
    """Return the default of a field, or MISSING."""
    if item.default_factory is not dataclasses.MISSING:
        return item.default_factory()
    return item.default


def _required(cls: type[Element]) -> list[str]:
    inputs = _inputs(cls).items()
    return [name for name, item in inputs if _default(item) is dataclasses.MISSING]


def _options(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type itself."""
    is_union = get_origin(annotation) in (Union, UnionType)
    return get_args(annotation) if is_union else (annotation,)


def _is_element(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Element)


def _families() -> list[type[Element]]:
    """Return every family a model can hold, at any depth."""
    found: list[type[Element]] = []

    def visit(annotation: Any) -> None:
        if not _is_element(annotation):
            for part in get_args(annotation):
                visit(part)
        elif annotation not in found:
            found.append(annotation)
            for kind in annotation.kinds.values():
                visit_fields(kind)

    def visit_fields(cls: type[Element]) -> None:
        types = field_types(cls)
        for name in _inputs(cls):
            visit(types[name])

    visit_fields(Model)
    return found


def _lists() -> list[str]:
    """Return the fields of a model that hold elements."""
    types = field_types(Model).items()
    return [name for name, kind in types if any(map(_is_element, get_args(kind)))]


def _is_kind(family: type[Element]) -> bool:
    """Return whether a family is a kind itself, as Event: `type` may be left out."""
    return family.kinds.get(family.__name__) is family


def _describe(annotation: Any, item: dataclasses.Field[Any] | None = None) -> str:
    """Return what a file may hold in a place, in words."""
    return " or ".join(_describe_option(part, item) for part in _options(annotation))


_WORDS = {
    int: "a whole number",
    bool: "true or false",
    str: "text",
    NoneType: "null",
}


def _describe_option(annotation: Any, item: dataclasses.Field[Any] | None) -> str:
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if annotation is float:
        return " ".join(["a number", *_bounds(item)])
    if annotation in _WORDS:
        return _WORDS[annotation]
    if origin is Literal:
        return " | ".join(_show(choice) for choice in arguments)
    if origin is tuple:
        parts = ["..." if part is ... else _describe(part) for part in arguments]
        return f"[{', '.join(part.removeprefix('a ') for part in parts)}]"
    if origin is dict:
        return f"{{name: {_describe(arguments[1])}, ...}}"
    if _is_element(annotation):
        return f"{{type: {' | '.join(annotation.kinds)}, ...}}"
    return str(annotation)


def _bounds(item: dataclasses.Field[Any] | None) -> Iterator[str]:
    """Yield range and unit of a quantity."""
    if item is not None:
        signs = {"above": ">", "minimum": ">=", "maximum": "<="}
        limits = [
            f"{sign} {item.metadata[key]:g}"
            for key, sign in signs.items()
            if item.metadata.get(key) is not None
        ]
        if limits:
            yield " and ".join(limits)
        if item.metadata.get("unit"):
            yield f"({item.metadata['unit']})"


# ---- values in messages --------------------------------------------------------


class _Repr(reprlib.Repr):
    """Short text for a value, in the words of a file."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60

    def repr_int(self, x: int, level: int) -> str:
        # Python writes whole numbers of a few thousand digits only.
        is_short = x.bit_length() < 10_000
        return super().repr_int(x, level) if is_short else "a huge number"

    def repr_bool(self, x: bool, level: int) -> str:
        return "true" if x else "false"

    def repr_NoneType(self, x: None, level: int) -> str:
        return "null"


_show = _Repr().repr


def _path_text(steps: Steps) -> str:
    """Return a path as text.

    >>> _path_text(("bodies", 1, "points", "pin"))
    'bodies[1].points.pin'
    """
    text = ""
    for step in steps:
        if (
            isinstance(step, str)
            and step.removeprefix("$").isidentifier()
            and len(step) <= 60
        ):
            text += f".{step}" if text else step
        else:
            text += f"[{_show(step)}]"
    return text


# ---- from plain data to a model ------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where a value stands, and the named element it belongs to."""

    steps: Steps = ()
    owner: str = ""  # e.g. "body 'crank'"
    n_owner: int = 0  # steps that lead to the owner

    def __truediv__(self, step: str | int) -> _Place:
        return dataclasses.replace(self, steps=(*self.steps, step))

    def owned_by(self, owner: str) -> _Place:
        return _Place(self.steps, owner, len(self.steps))

    def field(self) -> str:
        """Return the path as seen from the owner."""
        return _path_text(self.steps[self.n_owner :])


class _Reader:
    """Reads one document, and knows how to say where it is wrong."""

    def __init__(
        self,
        source: str,
        gallery: Gallery | None,
        line: Callable[[Steps], int | None],
    ) -> None:
        self.source = source
        self.gallery = gallery
        self.line = line

    def refuse(self, at: _Place, what: str) -> NoReturn:
        line = self.line(at.steps)
        head = [self.source] if self.source else []
        head += [f"line {line}"] if line is not None else []
        path = _path_text(at.steps)
        if what.startswith(f"{path} = "):
            path = ""  # a field of the model itself: once is enough
        parts = [", ".join(head), path, at.owner, what]
        raise ModelError(": ".join(part for part in parts if part)) from None

    def refuse_value(self, at: _Place, value: object, valid: str) -> NoReturn:
        field = at.field()
        # A whole element: the path has already been said.
        said = f"{field} = {_show(value)}" if field else _show(value)
        self.refuse(at, f"{said}; {valid}")

    def mapping(self, value: object, at: _Place, valid: str) -> dict[str, Any]:
        """Return a mapping whose keys are text."""
        if not isinstance(value, Mapping):
            self.refuse_value(at, value, valid)
        for key in cast(Mapping[object, Any], value):
            if not isinstance(key, str):
                self.refuse(at, f"key {_show(key)}; a key must be text")
        return dict(cast(Mapping[str, Any], value))

    def document(self, data: object) -> Model:
        top = _Place()
        start = f"{_VERSION_KEY}: {VERSION}"
        content = self.mapping(data, top, f"give a mapping that has '{start}'")
        if _VERSION_KEY not in content:
            self.refuse(top, f"{_VERSION_KEY} is missing; begin with '{start}'")
        version = content.pop(_VERSION_KEY)
        if isinstance(version, bool) or version != VERSION:
            self.refuse_value(
                top / _VERSION_KEY,
                version,
                f"this release reads format {VERSION}: '{start}'",
            )
        address = content.pop(_SCHEMA_KEY, "")
        if not isinstance(address, str):
            self.refuse_value(top / _SCHEMA_KEY, address, "give text")
        if "gallery" in content:
            return self.from_gallery(content)
        return self.model(content)

    def model(self, data: dict[str, Any]) -> Model:
        top = _Place()
        values = self.fields(Model, data, top, ("gallery",))
        try:
            return Model(**values)
        except ModelError as error:
            message = str(error)
        found: list[tuple[str, int]] = []
        for name in values:
            if name in _lists():
                for k, element in enumerate(values[name]):
                    if _follows(message, element.label()):
                        found.append((name, k))
        if not found:
            title = values.get("title")
            label = f"model '{title}'" if title else "model"
            self.refuse_built(top, label, message, data)
        # Of two elements that share a name, the second is to blame.
        name, k = found[:2][-1]
        label = values[name][k].label()
        self.refuse_built(
            (top / name / k).owned_by(label), label, message, data[name][k]
        )

    def from_gallery(self, data: dict[str, Any]) -> Model:
        top = _Place()
        for key in data:
            if key not in _GALLERY_KEYS:
                self.refuse(
                    top / key,
                    f"unknown key {_show(key)}; beside gallery, only parameters are "
                    "allowed",
                )
        name = data["gallery"]
        at = top / "gallery"
        if not isinstance(name, str):
            self.refuse_value(at, name, "give the name of a gallery system")
        if self.gallery is None:
            self.refuse_value(
                at,
                name,
                "gallery systems are not available here; write the elements out",
            )
        parameters: dict[str, Any] = {}
        if "parameters" in data:
            at = top / "parameters"
            given = data["parameters"]
            parameters = self.mapping(given, at, "give {name: value, ...}")
            for key, value in parameters.items():
                self.check_finite(value, at / key)
        try:
            model = self.gallery(name, parameters)
        except ModelError as error:
            self.refuse(at, str(error))
        if model is None:
            self.refuse_value(top / "gallery", name, "there is no such gallery system")
        return model

    def check_finite(self, value: object, at: _Place) -> None:
        if isinstance(value, float) and not math.isfinite(value):
            self.refuse_value(at, value, "must be finite")
        if isinstance(value, list | tuple):
            for k, item in enumerate(cast(Sequence[object], value)):
                self.check_finite(item, at / k)
        elif isinstance(value, Mapping):
            for key, item in cast(Mapping[str, object], value).items():
                self.check_finite(item, at / key)

    def fields(
        self,
        cls: type[Element],
        data: dict[str, Any],
        at: _Place,
        also: Sequence[str],
    ) -> dict[str, Any]:
        """Return the fields of a kind, each read as its type demands.

        `also` are keys that a misspelt one may have meant.
        """
        inputs = _inputs(cls)
        types = field_types(cls)
        for key in data:
            # First of all: a misspelt field would also be reported as missing.
            if key not in inputs:
                remedy = nearest(key, [*inputs, *also])
                self.refuse(at / key, f"unknown key {_show(key)}; {remedy}")
        values: dict[str, Any] = {}
        for name, item in inputs.items():
            if name in data:
                values[name] = self.value(types[name], data[name], at / name, item)
            elif _default(item) is dataclasses.MISSING:
                valid = _describe(types[name], item)
                self.refuse(at, f"{name} is missing; give {name}: {valid}")
        return values

    def element(self, family: type[Element], value: object, at: _Place) -> Element:
        data = self.mapping(value, at, f"give {_describe(family)}")
        name = data.get("name")
        if issubclass(family, Named):
            is_known = isinstance(name, str)
            at = at.owned_by(f"{family.family} '{name}'" if is_known else "")
        kind = self.kind(family, data, at)
        data.pop("type", None)
        values = self.fields(kind, data, at, ("type",))
        try:
            return kind(**values)
        except ValueError as error:  # also what a user's own check may raise
            message = str(error)
        label = at.owner if issubclass(kind, Named) else kind.__name__
        self.refuse_built(at, label, message, data)

    def kind(
        self, family: type[Element], data: dict[str, Any], at: _Place
    ) -> type[Element]:
        """Return the class that `type` names."""
        if "type" not in data:
            if _is_kind(family):
                return family
            self.refuse(at, f"type is missing; {nearest('', family.kinds)}")
        name = data["type"]
        at = at / "type"
        if not isinstance(name, str):
            self.refuse_value(at, name, nearest("", family.kinds))
        kind = family.kinds.get(name)
        if kind is not None:
            return kind
        for other in _families():
            if name in other.kinds:
                self.refuse_value(
                    at,
                    name,
                    f"this is a kind of {other.family}, not of {family.family}; "
                    f"{nearest('', family.kinds)}",
                )
        self.refuse_value(
            at,
            name,
            f"{nearest(name, family.kinds)} (kinds of your own live in Python: import "
            "the module that defines them before you read the file)",
        )

    def refuse_built(
        self, at: _Place, label: str, message: str, data: Mapping[str, Any]
    ) -> NoReturn:
        """Pass on what a constructor says, with the path of the field it names."""
        field = _follows(message, label)
        to = at / field if field in data else at
        if message.startswith(at.owner):
            to = to.owned_by("")
        self.refuse(to, message)

    def value(
        self,
        annotation: Any,
        value: object,
        at: _Place,
        item: dataclasses.Field[Any] | None = None,
    ) -> Any:
        """Return a value as its type demands, or refuse it."""
        for option in _options(annotation):
            if _fits(option, value):
                return self.option(option, value, at)
        valid = f"give {_describe(annotation, item)}"
        if isinstance(value, str) and get_origin(annotation) is Literal:
            valid = nearest(value, get_args(annotation))
        elif str in _options(annotation) and isinstance(value, bool | int | float):
            valid = f"give text, in quotes: '{_show(value)}'"
        elif value is None and item and _default(item) is not dataclasses.MISSING:
            valid += ", or leave it out"
        self.refuse_value(at, value, valid)

    def option(self, annotation: Any, value: Any, at: _Place) -> Any:
        """Return a value that fits its type, with all that is inside it."""
        arguments = get_args(annotation)
        origin = get_origin(annotation)
        if annotation is float:
            return self.number(value, at)
        if annotation is int:
            return int(value)
        if annotation is str:
            if not _is_unicode(value):
                self.refuse_value(at, value, "this is not valid Unicode")
            return value
        if _is_element(annotation):
            return self.element(annotation, value, at)
        if origin is tuple:
            if arguments[-1] is ...:
                arguments = (arguments[0],) * len(value)
            elif len(value) != len(arguments):
                self.refuse_value(at, value, f"give {_describe(annotation)}")
            pairs = zip(arguments, value, strict=True)
            return tuple(self.value(t, v, at / k) for k, (t, v) in enumerate(pairs))
        if origin is dict:
            content = self.mapping(value, at, f"give {_describe(annotation)}")
            return {k: self.value(arguments[1], v, at / k) for k, v in content.items()}
        return value

    def number(self, value: float, at: _Place) -> float:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.refuse_value(at, value, "must be finite")
        return number


def _follows(message: str, label: str) -> str:
    """Return the word after the label with which a message begins, or "".

    Messages of constructors begin "body 'crank': mass = ..." or, from expressions,
    "force 'push', fx, column 3: ...".
    """
    if not message.startswith(label):
        return ""
    found = re.match(r"[:,] (\w+)", message.removeprefix(label))
    return found[1] if found else ""


def _fits(annotation: Any, value: object) -> bool:
    """Return whether a value has the outer shape of a type."""
    if annotation in (float, int):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return annotation is float or value == value // 1
    if annotation in (bool, str, NoneType):
        return isinstance(value, annotation)
    origin = get_origin(annotation)
    if origin is Literal:
        return any(
            value == choice and type(value) is type(choice)
            for choice in get_args(annotation)
        )
    if origin is tuple:
        return isinstance(value, list | tuple)
    if origin is dict or _is_element(annotation):
        return isinstance(value, Mapping)
    return True  # a type of the user's own: the constructor checks it


def _is_unicode(text: str) -> bool:
    """Return whether text can be written to a file; a lone surrogate cannot."""
    return not re.search("[\ud800-\udfff]", text)


# ---- from a model to plain data ------------------------------------------------


def _fields(element: Element) -> dict[str, Any]:
    """Return the fields of an element that differ from their defaults."""
    data: dict[str, Any] = {}
    for name, item in _inputs(type(element)).items():
        value = getattr(element, name)
        default = _default(item)
        # Equal is not enough: 0.0 equals -0.0.
        if value != default or repr(value) != repr(default):
            data[name] = _plain(value, f"{element.label()}: {name}")
    return data


def _plain(value: Any, where: str) -> Any:
    if isinstance(value, Element):
        kind = type(value).__name__
        if kind not in value.kinds:
            raise ModelError(
                f"{where}: {kind} is not registered, so it could not be read back; "
                "give its class a name without a leading '_'"
            )
        return {"type": kind, **_fields(value)}
    if value is None or isinstance(value, bool):
        return value
    # Subclasses of these become the plain type, which every writer knows.
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        if not _is_unicode(value):
            raise ModelError(f"{where} = {_show(value)}; this is not valid Unicode")
        return str.__str__(value)
    if isinstance(value, list | tuple):
        return [_plain(item, where) for item in cast(Sequence[Any], value)]
    if isinstance(value, Mapping):
        content = cast(Mapping[str, Any], value)
        return {_plain(key, where): _plain(x, where) for key, x in content.items()}
    raise ModelError(f"{where} = {_show(value)}; this cannot be written to a file")


# ---- JSON ----------------------------------------------------------------------


def _json_text(value: Any, indent: str = "") -> str:
    """Return JSON with one line for each key, and for each list of scalars."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        content = cast(dict[str, Any], value)
        rows = [
            f"{json.dumps(key, ensure_ascii=False)}: {_json_text(item, inner)}"
            for key, item in content.items()
        ]
        brackets = "{}"
    elif isinstance(value, list) and any(
        isinstance(item, dict | list) for item in cast(list[Any], value)
    ):
        rows = [_json_text(item, inner) for item in cast(list[Any], value)]
        brackets = "[]"
    else:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    lines = ",\n".join(inner + row for row in rows)
    return f"{brackets[0]}\n{lines}\n{indent}{brackets[1]}"


def _json_data(text: str, source: str) -> Any:
    head = f"{source}: " if source else ""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(pairs)
        if len(data) == len(pairs):
            return data
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        of = f" (name = {_show(data['name'])})" if "name" in data else ""
        raise ModelError(f"{head}key {_show(twice)} appears twice in a mapping{of}")

    def constant(name: str) -> NoReturn:
        raise ModelError(f"{head}{name} is not a number of JSON; numbers are finite")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except json.JSONDecodeError as error:
        comma = ", " if source else ""
        place = f"{source}{comma}line {error.lineno}, column {error.colno}"
        raise ModelError(f"{place}: {error.msg}") from None
    except RecursionError:
        raise ModelError(f"{head}nested too deeply") from None
    except ModelError:
        raise
    except ValueError:  # Python reads whole numbers of a few thousand digits only
        raise ModelError(f"{head}a number has too many digits") from None


# ---- YAML ----------------------------------------------------------------------

# Numbers and words of YAML 1.2 (its core schema).
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CONSTANTS: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **{
        f"{sign}{word}": float(f"{sign}inf")
        for sign in ("", "+", "-")
        for word in (".inf", ".Inf", ".INF")
    },
}


def _yaml_scalar(text: str) -> Any:
    """Return the value of a scalar without quotes."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text, base)
    return float(text) if _FLOAT.fullmatch(text) else text


_NO_KEY = object()


class _YamlDocument:
    """Plain data from YAML, and the line of every key and item.

    Built from the parser's events: no tags, so no constructors; no aliases, so the
    data is no larger than the text; no recursion.
    """

    def __init__(self, text: str, source: str) -> None:
        import yaml  # not needed by those who write models in Python

        self.source = source
        self.data: Any = _NO_KEY
        self.lines: dict[int, dict[Any, int]] = {}  # of each container, by id
        # Open containers, and the key that waits for its value.
        self.stack: list[tuple[Any, list[Any]]] = []
        # The parser in C is six times as fast; not every build of PyYAML has it.
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            for event in cast(Iterator[Any], yaml.parse(text, Loader=loader)):
                self.take(event, yaml)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = " ".join(filter(None, (error.context, error.problem)))
            rows = text.split("\n")[mark.line :] if mark is not None else []
            if rows and re.match(r" *\t", rows[0]):
                problem += "; indent with spaces, not tabs"
            self.refuse(mark, problem)
        except yaml.YAMLError as error:
            self.refuse(None, str(error).splitlines()[0])
        except RecursionError:
            self.refuse(None, "nested too deeply")
        if self.data is _NO_KEY:
            self.refuse(None, f"no content; begin with '{_VERSION_KEY}: {VERSION}'")

    def refuse(self, mark: Any, what: str) -> NoReturn:
        head = [self.source] if self.source else []
        if mark is not None:
            head += [f"line {mark.line + 1}", f"column {mark.column + 1}"]
        raise ModelError(f"{', '.join(head) or 'text'}: {what}") from None

    def line(self, steps: Steps) -> int | None:
        """Return the line of a value, or of the last thing on the way to it."""
        node, line = self.data, None
        for step in steps:
            lines = self.lines.get(id(node), {})
            if step not in lines:
                break
            node, line = node[step], lines[step]
        return line

    def take(self, event: Any, yaml: Any) -> None:
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            self.refuse(mark, "anchors (&) and aliases (*) are not used; write it out")
        if getattr(event, "tag", None) is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self.refuse(mark, f"tags are not used; remove '{tag}'")
        if isinstance(event, yaml.ScalarEvent):
            is_plain = event.implicit[0]
            if is_plain and event.value == "<<":
                self.refuse(mark, "merge keys (<<) are not used; write it out")
            try:
                value = _yaml_scalar(event.value) if is_plain else event.value
            except ValueError:
                self.refuse(mark, "this number has too many digits")
            self.put(value, mark, is_scalar=True)
        elif isinstance(event, yaml.CollectionStartEvent):
            is_list = isinstance(event, yaml.SequenceStartEvent)
            value: Any = [] if is_list else {}
            self.put(value, mark, is_scalar=False)
            self.stack.append((value, [_NO_KEY]))
            if len(self.stack) > DEPTH_LIMIT:
                self.refuse(mark, f"nested too deeply; at most {DEPTH_LIMIT} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            self.stack.pop()
        elif isinstance(event, yaml.DocumentStartEvent) and self.data is not _NO_KEY:
            self.refuse(mark, "a second document begins here; a file holds one")

    def put(self, value: Any, mark: Any, *, is_scalar: bool) -> None:
        """Add a value to the innermost open container."""
        if not self.stack:
            self.data = value
            return
        container, waiting = self.stack[-1]
        lines = self.lines.setdefault(id(container), {})
        if isinstance(container, list):
            items = cast(list[Any], container)
            lines[len(items)] = mark.line + 1
            items.append(value)
        elif waiting[0] is not _NO_KEY:
            container[waiting[0]] = value
            waiting[0] = _NO_KEY
        elif not is_scalar:
            self.refuse(mark, "a key must be text")
        elif value in lines:
            self.refuse(
                mark, f"key {_show(value)} appears twice, first in line {lines[value]}"
            )
        else:
            lines[value] = mark.line + 1
            waiting[0] = value


def _yaml_text(data: dict[str, Any]) -> str:
    """Return YAML, with blank lines around each list of elements."""
    import yaml

    parts: list[dict[str, Any]] = []
    after_list = True
    for key, value in data.items():
        is_list = key in _lists()
        if is_list or after_list:
            parts.append({})
        parts[-1][key] = value
        after_list = is_list
    texts = [
        yaml.dump(
            part,
            Dumper=_yaml_dumper(),
            sort_keys=False,
            allow_unicode=True,
            default_flow_style=False,
            width=88,
        )
        for part in parts
    ]
    return "\n".join(texts)


@cache
def _yaml_dumper() -> Any:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes lists of scalars on one line, and numbers as short as they are."""

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            # PyYAML would put the dashes of a list under the first letter of its key.
            super().increase_indent(flow, False)

        def put_float(self, value: float) -> yaml.ScalarNode:
            text = repr(value)
            if text.endswith(".0") and text != "-0.0":
                return self.represent_scalar("tag:yaml.org,2002:int", text[:-2])
            if "." not in text:  # 1e-05: a number in YAML 1.2, but text in YAML 1.1
                text = text.replace("e", ".0e")
            return self.represent_scalar("tag:yaml.org,2002:float", text)

        def put_text(self, value: str) -> yaml.ScalarNode:
            # Parsers do not agree on what ends a line, so such letters are escaped.
            style = None if value.isprintable() else '"'
            return self.represent_scalar("tag:yaml.org,2002:str", value, style=style)

        def put_list(self, value: list[Any]) -> yaml.SequenceNode:
            is_flat = not any(isinstance(item, dict | list) for item in value)
            return self.represent_sequence(
                "tag:yaml.org,2002:seq", value, flow_style=is_flat
            )

    Dumper.add_representer(float, Dumper.put_float)
    Dumper.add_representer(str, Dumper.put_text)
    Dumper.add_representer(list, Dumper.put_list)
    # Text that any reader, of YAML 1.1 or 1.2, would take for a number gets quotes.
    for tag, pattern in (("int", _INTEGER), ("float", _FLOAT)):
        whole = re.compile(rf"(?:{pattern.pattern})\Z")
        Dumper.add_implicit_resolver(
            f"tag:yaml.org,2002:{tag}", whole, list("-+.0123456789")
        )
    return Dumper


# ---- schema --------------------------------------------------------------------


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
        "required": [] if _is_kind(family) else ["type"],
        "anyOf": [{"$ref": f"#/$defs/{_slug(family)}.{kind}"} for kind in kinds],
    }


def _kind_schema(family: type[Element], kind: type[Element]) -> dict[str, Any]:
    required = _required(kind)
    if kind is not family:
        required = ["type", *required]
    properties = {"type": {"const": kind.__name__}, **_properties(kind)}
    return _object(properties, required, _summary(kind))


def _properties(cls: type[Element]) -> dict[str, Any]:
    types = field_types(cls)
    properties: dict[str, Any] = {}
    for name, item in _inputs(cls).items():
        content = _type_schema(types[name], item)
        if item.metadata.get("unit"):
            content = {"description": item.metadata["unit"], **content}
        default = _default(item)
        if default is not dataclasses.MISSING:
            content["default"] = _plain(default, f"{cls.__name__}: {name}")
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
    options = _options(annotation)
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
    if _is_element(annotation):
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
