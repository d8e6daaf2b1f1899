"""Values, paths and types in the words of a file, for messages."""

from __future__ import annotations

import dataclasses
import re
import reprlib
from collections.abc import Iterator
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from nonsmooth.io.kinds import is_element, options_of

# The way from the top of a file to a value: keys and positions.
Steps = tuple[str | int, ...]
MAX_DIGITS = 4000  # of a whole number that Python reads


class _Repr(reprlib.Repr):
    """Short text for a value, in the words of a file."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60
        self.maxlevel = 3

    def repr_int(self, x: int, level: int) -> str:
        # Python writes whole numbers of a few thousand digits only.
        is_short = x.bit_length() < 10_000
        return super().repr_int(x, level) if is_short else "a huge number"

    def repr_bool(self, x: bool, level: int) -> str:
        return "true" if x else "false"

    def repr_NoneType(self, x: None, level: int) -> str:
        return "null"


show = _Repr().repr


def path_text(steps: Steps) -> str:
    """Return a path as text.

    >>> path_text(("bodies", 1, "points", "pin"))
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
            text += f"[{show(step)}]"
    return text


def describe(annotation: Any, item: dataclasses.Field[Any] | None = None) -> str:
    """Return what a file may hold in a place, in words."""
    return " or ".join(_describe_option(part, item) for part in options_of(annotation))


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
        return " | ".join(show(choice) for choice in arguments)
    if origin is tuple:
        parts = ["..." if part is ... else describe(part) for part in arguments]
        words = f"[{', '.join(part.removeprefix('a ') for part in parts)}]"
        unit = item.metadata.get("unit") if item and arguments[0] is str else None
        return f"{words}: {unit}" if unit else words
    if origin is dict:
        return f"{{name: {describe(arguments[1])}, ...}}"
    if is_element(annotation):
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


def whole_number(digits: str) -> int:
    """Return a whole number; one of thousands of digits as another that is too large.

    Python does not read such a one. It is refused later, in its place.
    """
    return int(digits[:MAX_DIGITS])


def is_unicode(text: str) -> bool:
    """Return whether text can be written to a file; a lone surrogate cannot."""
    return not re.search("[\ud800-\udfff]", text)
