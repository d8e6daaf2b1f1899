"""From plain data to a model; a refusal says where, what, and what would be valid."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, NoReturn, cast, get_args, get_origin

from nonsmooth.elements.base import Element, Named, field_types
from nonsmooth.elements.wishes import Run
from nonsmooth.errors import TOO_LARGE, ModelError, brief, nearest
from nonsmooth.io.frame import (
    GALLERY_KEYS,
    RUN_KEY,
    SCHEMA_KEY,
    START,
    VERSION,
    VERSION_KEY,
)
from nonsmooth.io.kinds import (
    default_of,
    families,
    inputs_of,
    is_element,
    is_kind,
    lists,
    options_of,
)
from nonsmooth.io.words import Steps, describe, is_unicode, path_text, show
from nonsmooth.model import Model

# Builds a gallery system from its name and parameters; None if there is none.
Gallery = Callable[[str, dict[str, Any]], Model | None]
# The line of a value in a text; None if that is not known.
Line = Callable[[Steps], int | None]


def read(
    data: object, source: str, gallery: Gallery | None, line: Line = lambda _: None
) -> Model:
    """Build a model from plain data; see `io.from_dict`."""
    reader = _Reader(source, gallery, line)
    model = None
    with reader.noting():
        model = reader.document(data)
    reader.end()
    assert model is not None  # or something was noted
    return model


def read_part(
    key: str,
    family: type[Element],
    data: object,
    source: str,
    line: Line = lambda _: None,
) -> Element:
    """Build the one element of a document that holds nothing else, under `key`."""
    reader = _Reader(source, None, line)
    part = None
    with reader.noting():
        part = reader.part(key, family, data)
    reader.end()
    assert part is not None  # or something was noted
    return part


class _Noted(ModelError):
    """What is wrong has been noted already; the fields that could be read."""

    def __init__(self, values: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.values = values or {}


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
        return path_text(self.steps[self.n_owner :])


class _Reader:
    """Reads one document, and knows how to say where it is wrong."""

    def __init__(self, source: str, gallery: Gallery | None, line: Line) -> None:
        self.source = source
        self.gallery = gallery
        self.line = line
        self.found: list[str] = []  # what was wrong so far

    @contextlib.contextmanager
    def noting(self) -> Generator[None]:
        """Go on behind what is wrong inside; it is noted."""
        try:
            yield
        except _Noted:
            pass
        except ModelError as error:
            self.found.append(str(error))

    def end(self) -> None:
        """Raise what was noted, the first with the others."""
        if self.found:
            error = ModelError(self.found[0])
            error.others = tuple(self.found[1:])
            raise error

    def refuse(self, at: _Place, what: str) -> NoReturn:
        line = self.line(at.steps)
        head = [self.source] if self.source else []
        head += [f"line {line}"] if line is not None else []
        path = path_text(at.steps)
        if what.startswith(f"{path} = "):
            path = ""  # a field of the model itself: once is enough
        parts = [", ".join(head), path, at.owner, what]
        raise ModelError(": ".join(part for part in parts if part)) from None

    def refuse_value(self, at: _Place, value: object, valid: str) -> NoReturn:
        field = at.field()
        # A whole element: the path has already been said.
        said = f"{field} = {show(value)}" if field else show(value)
        self.refuse(at, f"{said}; {valid}")

    def mapping(self, value: object, at: _Place, valid: str) -> dict[str, Any]:
        """Return a mapping whose keys are text."""
        if not isinstance(value, Mapping):
            self.refuse_value(at, value, valid)
        for key in cast(Mapping[object, Any], value):
            if not isinstance(key, str):
                self.refuse(at, f"key {show(key)}; a key must be text")
        return dict(cast(Mapping[str, Any], value))

    def content(self, data: object) -> dict[str, Any]:
        """Return what a document holds beside its version, which is checked."""
        top = _Place()
        content = self.mapping(data, top, f"give a mapping that has '{START}'")
        if VERSION_KEY not in content:
            self.refuse(top, f"{VERSION_KEY} is missing; begin with '{START}'")
        version = content.pop(VERSION_KEY)
        if isinstance(version, bool) or version != VERSION:
            self.refuse_value(
                top / VERSION_KEY,
                version,
                f"this release reads format {VERSION}: '{START}'",
            )
        address = content.pop(SCHEMA_KEY, "")
        if not isinstance(address, str):
            self.refuse_value(top / SCHEMA_KEY, address, "give text")
        return content

    def part(self, key: str, family: type[Element], data: object) -> Element:
        content, top = self.content(data), _Place()
        if key not in content and "bodies" in content:
            self.refuse(top, f"this is a model, not a {key}: use nonsmooth run")
        for other in content:
            if other != key:
                remedy = f"a file with '{key}:' holds nothing else"
                self.refuse(top / other, f"unknown key {show(other)}; {remedy}")
        if key not in content:
            self.refuse(top, f"{key} is missing; give '{key}:' and its fields")
        return self.element(family, content[key], top / key)

    def document(self, data: object) -> Model:
        content = self.content(data)
        if "gallery" in content:
            return self.from_gallery(content)
        if "study" in content:
            self.refuse(_Place(), "this is a study, not a model: use nonsmooth sweep")
        return self.model(content)

    def model(self, data: dict[str, Any]) -> Model:
        values = self.fields(Model, data, _Place(), ("gallery",))
        try:
            return Model(**values)
        except ModelError as error:
            self.refuse_model(data, values, str(error))

    def refuse_model(
        self, data: dict[str, Any], values: dict[str, Any], message: str
    ) -> NoReturn:
        """Say of a model as a whole what is wrong, and where."""
        top = _Place()
        found: list[tuple[str, int]] = []
        for name, items in values.items():
            # `run`, which is one element, has a label that no message begins with.
            if name in lists() and isinstance(items, list | tuple):
                for k, element in enumerate(cast(Sequence[Element], items)):
                    if _follows(message, element.label()):
                        found.append((name, k))
        if not found:
            title = values.get("title")
            label = f"model {brief(title)}" if title else "model"
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
            if key not in (*GALLERY_KEYS, RUN_KEY):
                self.refuse(
                    top / key,
                    f"unknown key {show(key)}; beside gallery, only parameters and run "
                    "are allowed",
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
        if RUN_KEY in data:
            wishes = self.element(Run, data[RUN_KEY], top / RUN_KEY)
            return dataclasses.replace(model, **{RUN_KEY: wishes})
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
        inputs = inputs_of(cls)
        types = field_types(cls)
        n_found = len(self.found)
        for key in data:
            if key not in inputs:
                with self.noting():
                    remedy = cls.renamed.get(key) or nearest(key, [*inputs, *also])
                    self.refuse(at / key, f"unknown key {show(key)}; {remedy}")
        is_known = len(self.found) == n_found
        values: dict[str, Any] = {}
        for name, item in inputs.items():
            with self.noting():
                if name in data:
                    values[name] = self.value(types[name], data[name], at / name, item)
                elif default_of(item) is dataclasses.MISSING and is_known:
                    # A misspelt field would also be reported as missing.
                    valid = describe(types[name], item)
                    self.refuse(at, f"{name} is missing; give {name}: {valid}")
        if len(self.found) > n_found:
            raise _Noted(values)
        return values

    def element(self, family: type[Element], value: object, at: _Place) -> Element:
        data = self.mapping(value, at, f"give {describe(family)}")
        name = data.get("name")
        if issubclass(family, Named):
            is_known = isinstance(name, str)
            at = at.owned_by(f"{family.family} {brief(name)}" if is_known else "")
        kind = self.kind(family, data, at)
        data.pop("type", None)
        label = at.owner if issubclass(kind, Named) else kind.__name__
        try:
            return kind(**self.fields(kind, data, at, ("type",)))
        except _Noted as noted:
            with self.noting():
                self.also_wrong(kind, noted.values, at, label, data)
            raise
        except ValueError as error:  # also what a user's own check may raise
            message = str(error)
        self.refuse_built(at, label, message, data)

    def also_wrong(
        self,
        kind: type[Element],
        values: dict[str, Any],
        at: _Place,
        label: str,
        data: Mapping[str, Any],
    ) -> None:
        """Refuse what is wrong beside the fields that could not be read."""
        for name, item in inputs_of(kind).items():
            if name not in values and default_of(item) is dataclasses.MISSING:
                return
        try:
            kind(**values)
        except ValueError as error:
            # What is missing may be what was misspelt, or had another name.
            if "is missing" not in str(error):
                self.refuse_built(at, label, str(error), data)

    def kind(
        self, family: type[Element], data: dict[str, Any], at: _Place
    ) -> type[Element]:
        """Return the class that `type` names."""
        if "type" not in data:
            if is_kind(family):
                return family
            self.refuse(at, f"type is missing; {nearest('', family.kinds)}")
        name = data["type"]
        at = at / "type"
        if not isinstance(name, str):
            self.refuse_value(at, name, nearest("", family.kinds))
        kind = family.kinds.get(name)
        if kind is not None:
            return kind
        for other in families():
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
            "the module that defines them before you read the file, or give --import)",
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
        for option in options_of(annotation):
            if _fits(option, value):
                return self.option(option, value, at)
        valid = f"give {describe(annotation, item)}"
        if isinstance(value, str) and get_origin(annotation) is Literal:
            valid = nearest(value, get_args(annotation))
        elif str in options_of(annotation) and isinstance(value, bool | int | float):
            valid = f"give text, in quotes: '{show(value)}'"
        elif value is None and item and default_of(item) is not dataclasses.MISSING:
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
            if not is_unicode(value):
                self.refuse_value(at, value, "this is not valid Unicode")
            return value
        if is_element(annotation):
            return self.element(annotation, value, at)
        if origin is tuple:
            if arguments[-1] is ...:
                arguments = (arguments[0],) * len(value)
            elif len(value) != len(arguments):
                self.refuse_value(at, value, f"give {describe(annotation)}")
            pairs = zip(arguments, value, strict=True)
            if not any(is_element(part) for part in arguments):
                return tuple(self.value(t, v, at / k) for k, (t, v) in enumerate(pairs))
            n_found = len(self.found)
            items: list[Any] = []
            for k, (part, one) in enumerate(pairs):
                with self.noting():
                    items.append(self.value(part, one, at / k))
            if len(self.found) > n_found:
                raise _Noted
            return tuple(items)
        if origin is dict:
            content = self.mapping(value, at, f"give {describe(annotation)}")
            return {k: self.value(arguments[1], v, at / k) for k, v in content.items()}
        return value

    def number(self, value: float, at: _Place) -> float:
        try:
            number = float(value)
        except OverflowError:
            self.refuse_value(at, value, TOO_LARGE)
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
    if origin is dict or is_element(annotation):
        return isinstance(value, Mapping)
    return True  # a type of the user's own: the constructor checks it
