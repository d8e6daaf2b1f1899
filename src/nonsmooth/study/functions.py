"""Functions of the user's own, as text: whether one has changed is seen from it."""

from __future__ import annotations

import inspect
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any, cast


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
