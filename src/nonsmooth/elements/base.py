"""What every element of a model has in common: fields that are checked, a registry.

An element is a frozen dataclass of plain data. Subclassing a family registers a
kind; its fields are checked when it is built, and its parameters are its numbers
in the order of the fields.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from nonsmooth.elements.own import check_own
from nonsmooth.errors import TOO_LARGE, ModelError, brief, nearest, show

# Of a name, which stands in columns, legends and files.
MAX_LETTERS = 100
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]*")


def quantity(
    unit: str,
    *,
    default: Any = dataclasses.MISSING,
    above: float | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
) -> Any:
    """Declare a number with its unit and admissible range.

    Parameters
    ----------
    unit : str
        SI unit, shown in documentation, schema and messages.
    default : optional
        Value when the field is left out; `dict` for an empty mapping.
    above, minimum, maximum : float, optional
        The value must be > `above`, or >= `minimum`, and <= `maximum`.
    """
    limits = {"above": above, "minimum": minimum, "maximum": maximum}
    if default is dict:
        return field(default_factory=dict, metadata={"unit": unit})
    return field(default=default, metadata={"unit": unit, **limits})


def _plain(value: Any) -> Any:
    """Return lists and numbers for NumPy arrays and scalars, nested or not."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _told(error: str, annotation: Any) -> str:
    """Return what is valid, where the choices of a field are known."""
    words = {int: "a whole number", float: "a number"}
    parts = get_args(annotation)
    choices = [repr(c) for p in parts if get_origin(p) is Literal for c in get_args(p)]
    if choices:
        numbers = [words[part] for part in parts if part in words]
        return f"give {' or '.join([*numbers, *choices])}"
    if "Expected `array`" in error and parts[-1:] == (...,):
        return error.replace("Expected `array`, got", "give a list, also of one, not")
    return f"give {_wanted(annotation)}"


def _told_kinds(family: type[Element], annotation: Any, value: Any) -> str:
    """Return which elements are valid; a function may have been meant to make one."""
    kinds = f": {', '.join(sorted(family.kinds))}" if family.kinds else ""
    text = " or its name" if str in get_args(annotation) else ""
    call = (
        f"; call the function, {value.__name__}()" if inspect.isfunction(value) else ""
    )
    return f"give a {family.family}{text}{kinds}{call}"


def _wanted(annotation: Any) -> str:
    """Return in words what a type admits."""
    words = {str: "text", float: "a number", int: "a whole number"}
    words |= {bool: "True or False", NoneType: "None"}
    parts, origin = get_args(annotation), get_origin(annotation)
    if annotation in words:
        return words[annotation]
    if origin is tuple:
        inner = ["..." if part is ... else _wanted(part) for part in parts]
        return f"({', '.join(inner)})"
    if origin is dict:
        return f"{{name: {_wanted(parts[1])}, ...}}"
    if origin is Literal:
        return " or ".join(map(repr, parts))
    known = [_wanted(part) for part in parts]
    return " or ".join(known) if known else getattr(annotation, "__name__", "another")


def _numbers(value: Any) -> Iterator[float]:
    """Yield every number inside a field's value."""
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _numbers(item)


@cache
def field_types(cls: type) -> dict[str, Any]:
    """Return the resolved type of every field of a kind."""
    hints = get_type_hints(cls)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


@cache
def family_of(annotation: Any) -> type[Element] | None:
    """Return the family whose kinds a field may hold, if it holds elements."""
    for part in (annotation, *get_args(annotation)):
        if isinstance(part, type) and issubclass(part, Element):
            return part
    return None


class _Kind(type):
    """The class of all kinds: refuses fields that a kind has not, in a sentence."""

    @property
    def __doc__(cls) -> str | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What a class says of itself, and its fields with their units."""
        own = vars(cls).get("__doc__")
        if "__dataclass_fields__" not in vars(cls) or "Parameters\n" in (own or ""):
            return own
        items: tuple[Any, ...] = dataclasses.fields(cls)  # pyright: ignore[reportArgumentType]
        lines = [line for item in items for line in _lines_about(item)]
        parts = [inspect.cleandoc(own or cls.__name__)]
        if lines:
            parts.append("\n".join(("Parameters", "----------", *lines)))
        return "\n\n".join(parts)

    @property
    def __signature__(cls) -> inspect.Signature:
        """The fields, as help and completion show them."""
        own = inspect.signature(getattr(cls, "__init__"))  # noqa: B009
        return own.replace(parameters=list(own.parameters.values())[1:])

    if not TYPE_CHECKING:  # a type checker reads the fields themselves

        def __call__(cls, *args, **fields):
            known = vars(cls).get("__dataclass_fields__", {})
            is_open = not known and "__annotations__" in vars(cls)
            if args or is_open or not fields.keys() <= known.keys():
                raise _misfit(cls, args, fields)
            _say_what_to_do(cls)
            try:
                return super().__call__(**fields)
            except TypeError:
                if missing := _missing(cls, fields):
                    raise missing from None
                raise


def _say_what_to_do(cls: type[Element]) -> None:
    """Have a frozen kind say how to change a field; its decorator says only not so."""
    if vars(cls).get("__setattr__", _refuse) is not _refuse:
        cls.__setattr__ = _refuse


def _refuse(self: Element, name: str, value: Any) -> None:
    names = [item.name for item in dataclasses.fields(self)]
    what = f"{name} cannot be set, elements do not change; make another by "
    what += f"dataclasses.replace(..., {name}={show(value)})"
    if name not in names:
        what = f"no field {name!r}; {nearest(name, names)}"
    raise dataclasses.FrozenInstanceError(f"{self.label()}: {what}")


def _lines_about(item: dataclasses.Field[Any]) -> Iterator[str]:
    """Yield the lines of a docstring about a field: type, unit, range, default."""
    if not item.init:
        return
    signs = {"above": ">", "minimum": ">=", "maximum": "<="}
    words = [item.metadata.get("unit") or ""]
    for key, sign in signs.items():
        if item.metadata.get(key) is not None:
            words.append(f"{sign} {item.metadata[key]:g}")
    if item.default is not dataclasses.MISSING:
        words.append(f"by default {item.default!r}")
    elif item.default_factory is not dataclasses.MISSING:
        words.append("by default none")
    yield f"{item.name} : {item.type}"
    if said := ", ".join(word for word in words if word):
        yield f"    {said}"


def _called(cls: type[Element], fields: dict[str, Any]) -> str:
    """Return how messages call an element that is not there yet."""
    name = fields.get("name")
    return f"{cls.__name__} {brief(name)}" if isinstance(name, str) else cls.__name__


def _misfit(
    cls: type[Element], args: tuple[Any, ...], fields: dict[str, Any]
) -> ModelError:
    """Return the error for arguments that are no fields of a kind."""
    called = _called(cls, fields)
    if "__dataclass_fields__" not in vars(cls):
        return ModelError(
            f"{called}: not a dataclass; write @dataclass(frozen=True, kw_only=True) "
            "above its class"
        )
    names = [item.name for item in dataclasses.fields(cls) if item.init]
    if args:
        return ModelError(
            f"{called}: {show(args[0])} given without a name; write {names[0]}=..., "
            f"all fields have names: {', '.join(names)}"
        )
    wrong = next(name for name in fields if name not in names)
    left = [name for name in names if name not in fields]
    remedy = cls.renamed.get(wrong) or nearest(wrong, left or names)
    return ModelError(f"{called}: no field {wrong!r}; {remedy}")


def _missing(cls: type[Element], fields: dict[str, Any]) -> ModelError | None:
    """Return the error for a field without a default that was left out, if any."""
    for item in dataclasses.fields(cls):
        is_open = item.default is item.default_factory is dataclasses.MISSING
        if item.init and is_open and item.name not in fields:
            unit = item.metadata.get("unit", "")
            valid = f"give {item.name}=..." + (f", {unit}" if unit else "")
            text = f"{_called(cls, fields)}: {item.name} is missing; {valid}"
            return ModelError(text)
    return None


def is_own(kind: type) -> bool:
    """Return whether a kind is the user's own, not one of the library."""
    return not kind.__module__.startswith("nonsmooth.")


def _check_name_is_free(kind: type[Element], other: type[Element] | None) -> None:
    """Refuse a kind by whose name files and studies would mean another one.

    Defining one again is no clash: a cell that is run once more, a module reloaded.
    """
    if other is None or not is_own(kind):
        return
    name, here = kind.__name__, _file_of(kind)
    if not is_own(other):
        raise ModelError(
            f"class {name} in {here or kind.__module__}: a {kind.family} {name} is "
            f"built in; give yours another name"
        )
    there = _file_of(other)
    if here and there and here != there:
        raise ModelError(
            f"class {name} in {here}: a {kind.family} {name} is defined in {there} as "
            "well; rename one of them"
        )


def _file_of(kind: type[Element]) -> str | None:
    """Return the file that defines a kind; None of a notebook or a session."""
    return getattr(sys.modules.get(kind.__module__), "__file__", None)


@dataclass(frozen=True, kw_only=True)
class Element(metaclass=_Kind):
    """Base of everything that may stand in a model.

    A family is a subclass made with `family="..."`; its subclasses are kinds and
    register themselves under their class name. A family of one kind is that kind
    itself, made with `is_kind=True`.
    """

    family: ClassVar[str] = "element"
    kinds: ClassVar[dict[str, type[Element]]] = {}
    # Name of the static function that is compiled for a kind of this family, and,
    # where that function must itself call kernels, "module:name" of it in
    # `nonsmooth.kernels` instead.
    row_name: ClassVar[str] = ""
    row_kernel: ClassVar[str] = ""
    # Fields of earlier releases, and what to write instead.
    renamed: ClassVar[dict[str, str]] = {}
    # Fields that say one thing in different words, of which one is given.
    either: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(
        cls, *, family: str | None = None, is_kind: bool = False, **kwargs: Any
    ) -> None:
        """Open a family, or register a kind."""
        super().__init_subclass__(**kwargs)
        if family is not None:
            cls.family = family
            cls.kinds = {}
        if is_kind or (family is None and not cls.__name__.startswith("_")):
            _check_name_is_free(cls, cls.kinds.get(cls.__name__))
            cls.kinds[cls.__name__] = cls

    def label(self) -> str:
        """Return how messages call this element."""
        name = getattr(self, "name", None)
        known = isinstance(name, str) and name
        return f"{self.family} {brief(name)}" if known else type(self).__name__

    def fail(self, field_name: str, value: Any, valid: str) -> ModelError:
        """Return the error for a field: element, field, value, what would be valid."""
        return ModelError(f"{self.label()}: {field_name} = {show(value)}; {valid}")

    def __post_init__(self) -> None:
        """Check every field and store it as plain immutable data."""
        types = field_types(type(self))
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            checked = self._checked(item, types[item.name], value)
            if checked is not value:
                object.__setattr__(self, item.name, checked)
        self.check()
        if is_own(type(self)):
            check_own(self)

    def check(self) -> None:
        """Refuse what the fields' own ranges cannot express."""

    def _checked(
        self, item: dataclasses.Field[Any], annotation: Any, value: Any
    ) -> Any:
        # Most values are what they are to be.
        if annotation is str and type(value) is str:
            return value
        if annotation is float and type(value) is float and math.isfinite(value):
            self._check_range(item, value, value)
            return value
        if get_origin(annotation) is dict and family_of(annotation) is not None:
            return self._checked_mapping(item, annotation, value)
        family = family_of(annotation)
        if family is not None:
            if isinstance(value, family) or (
                value is None and NoneType in get_args(annotation)
            ):
                return value
            if isinstance(value, str) and str in get_args(annotation):
                return value
            if float not in get_args(annotation) or not isinstance(value, int | float):
                raise self.fail(
                    item.name, value, _told_kinds(family, annotation, value)
                )
            annotation = float
        if get_origin(annotation) is Literal:
            choices = get_args(annotation)
            # True is not 1 here.
            if isinstance(value, bool) or value not in choices:
                valid = ", ".join(repr(choice) for choice in choices)
                raise self.fail(item.name, value, f"give one of {valid}")
            return value
        try:
            plain = msgspec.convert(_plain(value), annotation)
        except msgspec.ValidationError as error:
            is_large = str(error).startswith("Number out of range")
            valid = TOO_LARGE if is_large else _told(str(error), annotation)
            if annotation is str and isinstance(name := getattr(value, "name", 0), str):
                valid = f"give its name, {name!r}"
            raise self.fail(item.name, value, valid) from None
        try:
            is_finite = all(map(math.isfinite, _numbers(plain)))
        except OverflowError:
            raise self.fail(item.name, value, TOO_LARGE) from None
        if not is_finite:
            raise self.fail(item.name, value, "must be finite")
        if plain is not None:
            self._check_range(item, plain, value)
        return plain

    def _check_range(
        self, item: dataclasses.Field[Any], plain: Any, given: Any
    ) -> None:
        above = item.metadata.get("above")
        minimum = item.metadata.get("minimum")
        maximum = item.metadata.get("maximum")
        unit = item.metadata.get("unit")
        if above is not None and not plain > above:
            raise self.fail(item.name, given, f"must be > {above:g} {unit}".rstrip())
        if minimum is not None and not plain >= minimum:
            raise self.fail(item.name, given, f"must be >= {minimum:g} {unit}".rstrip())
        if maximum is not None and not plain <= maximum:
            raise self.fail(item.name, given, f"must be <= {maximum:g} {unit}".rstrip())

    def _checked_mapping(
        self, item: dataclasses.Field[Any], annotation: Any, value: Any
    ) -> dict[str, Element]:
        """Check a mapping from names to elements."""
        family = family_of(annotation)
        assert family is not None
        if not isinstance(value, dict):
            valid = f"give {{name: {family.family}, ...}}"
            raise self.fail(item.name, value, valid)
        mapping: dict[Any, Any] = dict(value)
        for name, element in mapping.items():
            if not isinstance(name, str):
                raise self.fail(item.name, name, "a name must be text")
            if not isinstance(element, family):
                kinds = ", ".join(sorted(family.kinds))
                valid = f"give a {family.family}: {kinds}"
                raise self.fail(f"{item.name}[{name!r}]", element, valid)
        return mapping

    def parameters(self) -> list[float]:
        """Return the numbers a row function finds at `p`, in the order of the fields.

        Strings and nested elements are left out.
        """
        values: list[float] = []
        for name in field_types(type(self)):
            value = getattr(self, name)
            if not isinstance(value, str | Element | dict):
                values.extend(_numbers(value))
        return values

    def programs(self) -> list[tuple[float, ...]]:
        """Return the expressions of this kind as they were parsed, the time first."""
        return []

    def row_function(self) -> Callable[..., Any] | str:
        """Return the function compiled for this kind, or its name in the kernels."""
        function = self.row_kernel or getattr(type(self), self.row_name, None)
        if function is None:
            kind = type(self).__name__
            raise ModelError(
                f"{self.label()}: {kind} has no static function '{self.row_name}'"
            )
        return function


@dataclass(frozen=True, kw_only=True)
class Named(Element, family="element"):
    """An element with a name, unique in its model."""

    name: str

    def check(self) -> None:
        """Refuse a name that could not stand in a column name."""
        if not _NAME.fullmatch(self.name):
            raise self.fail(
                "name", self.name, "use letters, digits, '_' and '-', a letter first"
            )
        if len(self.name) > MAX_LETTERS:
            raise self.fail("name", self.name, f"give at most {MAX_LETTERS} letters")

    def check_names(self, field_name: str) -> None:
        """Refuse names of what a body has that could not stand in a column name."""
        for name in getattr(self, field_name, {}):
            if not name.isidentifier():
                valid = "use letters, digits and '_', a letter first"
                raise self.fail(field_name, name, valid)
            if len(name) > MAX_LETTERS:
                raise self.fail(field_name, name, f"give at most {MAX_LETTERS} letters")
