"""Functions and kinds of the user's own: whether one has changed is seen from here."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any, cast

from nonsmooth.elements.base import Element, is_own


def text_of(value: Any, seen: tuple[int, ...] = ()) -> str:
    """Return a function and what it holds as text that is the same in every process.

    Code, defaults, values that it closes over, fields of an object that is called. Of
    values that are neither plain nor functions the kind is all there is to go by, and
    of functions that it calls the names.
    """
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return repr(value)
    if id(value) in seen:  # a function that calls itself closes over itself
        return "itself"

    def inner(*parts: Any) -> str:
        return repr([text_of(part, (*seen, id(value))) for part in parts])

    if isinstance(value, partial):
        held: Any = cast(Any, value)
        return inner(held.func, held.args, held.keywords)
    if isinstance(value, MethodType):
        return inner(value.__func__, value.__self__)
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        held = inner(value.__defaults__, value.__kwdefaults__, cells)
        return f"{_code_text(value.__code__)} {held}"
    if isinstance(value, dict):
        pairs = cast(dict[Any, Any], value).items()
        return inner(*[x for pair in sorted(pairs, key=str) for x in pair])
    if isinstance(value, tuple | list):
        return inner(*cast(Any, value))
    kind: Any = cast(Any, type(value))
    call = inspect.getattr_static(kind, "__call__", None)
    if isinstance(call, FunctionType):
        return f"{kind.__qualname__} {inner(call, vars(value))}"
    return str(kind.__qualname__)


def _code_text(code: CodeType) -> str:
    """Return compiled code as text."""
    inner = [
        _code_text(constant) if isinstance(constant, CodeType) else repr(constant)
        for constant in code.co_consts
    ]
    return repr((code.co_code, code.co_names, inner))


def codes_of(*values: Any) -> dict[str, str]:
    """Return a hash of the code of each kind of the user's own among elements.

    Its functions with what they call, its fields with their defaults, and the same of
    the user's classes that it is made from.
    """
    found = {kind.__name__: kind for value in values for kind in _kinds(value)}
    return {name: _code_of(found[name]) for name in sorted(found)}


def _kinds(value: Any) -> Iterator[type[Element]]:
    """Yield the kinds of the user's own in an element, at any depth."""
    if isinstance(value, Element) and is_own(type(value)):
        yield type(value)
    if isinstance(value, dict):
        parts: Any = cast(dict[Any, Any], value).values()
    elif isinstance(value, tuple | list):
        parts = cast(Any, value)
    elif dataclasses.is_dataclass(value):
        parts = (getattr(value, item.name) for item in dataclasses.fields(value))
    else:
        return
    for part in parts:
        yield from _kinds(part)


def _code_of(kind: type[Element]) -> str:
    from nonsmooth.kernels.abi import digest

    of_function = cast(Any, digest).of_function

    parts = [repr([item.name for item in dataclasses.fields(kind)])]
    for cls in filter(is_own, kind.__mro__[:-1]):
        for name, value in sorted(vars(cls).items()):
            if name.startswith("__"):
                continue
            inner = getattr(value, "__func__", getattr(value, "fget", value))
            is_function = isinstance(inner, FunctionType)
            parts.append(
                f"{name} {of_function(inner) if is_function else text_of(value)}"
            )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
