"""Values as a parameter's annotation demands them, from Python or from text."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from nonsmooth.errors import TOO_LARGE, ModelError, nearest, show

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
# No "inf", "nan", "1_000", hexadecimal or arithmetic.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def convert(where: str, annotation: Any, value: Any) -> Any:
    """Return a value as int, float, bool, str or one of a Literal's choices.

    A number that a word can stand for, `int | Literal["full"]`, is either.
    Text is converted; anything else must have the right type already. None is kept
    where the annotation allows it.

    Raises
    ------
    ModelError
        The message begins with `where`.
    """
    kind = without_none(annotation)
    if value is None and kind is not annotation:
        return None
    annotation = kind
    if is_either(annotation):
        annotation, words = get_args(annotation)
        if value in get_args(words):
            return value
    if get_origin(annotation) is Literal:
        choices = {str(choice): choice for choice in get_args(annotation)}
        text = value if isinstance(value, str) else show(value)
        if text in choices:
            return choices[text]
        raise ModelError(f"{where} = {show(value)}; {nearest(text, choices)}")
    function, valid = _CONVERSIONS[annotation]
    try:
        converted = function(value)
    except OverflowError:
        raise ModelError(f"{where} = {show(value)}; {TOO_LARGE}") from None
    if converted is None:
        raise ModelError(f"{where} = {show(value)}; give {valid}")
    return converted


def without_none(annotation: Any) -> Any:
    """Return `float` for `float | None`, and likewise; what has no None as it is."""
    kinds = [part for part in get_args(annotation) if part is not NoneType]
    is_optional = len(kinds) < len(get_args(annotation))
    return kinds[0] if is_optional else annotation


def is_either(annotation: Any) -> bool:
    """Return whether it is a number that a word can stand for."""
    return get_origin(annotation) in (Union, UnionType)


def _to_int(value: Any) -> int | None:
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        return None
    return int(value)


def _to_float(value: Any) -> float | None:
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            return None
        if math.isinf(float(value)):
            raise OverflowError
    elif isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _to_bool(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    return value if isinstance(value, bool) else None


def _to_str(value: Any) -> str | None:
    return value if isinstance(value, str) else None


_CONVERSIONS: dict[Any, tuple[Callable[[Any], Any], str]] = {
    int: (_to_int, "a whole number, e.g. 2"),
    float: (_to_float, "a number, e.g. 0.5 or 1e-3"),
    bool: (_to_bool, "true or false"),
    str: (_to_str, "text"),
}
