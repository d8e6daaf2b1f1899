"""Why a user's law does not compile, in words of who wrote it."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from types import FunctionType
from typing import Any

# What Numba says, and what is meant; groups are put in.
_WORDS = (
    (
        r"Untyped global name '(\w+)':.*<class 'function'>",
        "{0} is a plain function of Python; write @numba.njit above it",
    ),
    (
        r"Untyped global name '(\w+)':.*<class '([\w.]+)'>",
        "{0} is a {1}; a law may read numbers, and tuples and arrays of them",
    ),
    (
        r"No implementation .*<built-in function [gs]etitem>",
        "an index must be one integer; there are no slices",
    ),
    (
        r"No implementation .*exception_match",
        "there is no try and except; test what may be wrong instead",
    ),
    (
        r"No implementation .*<(?:built-in |ufunc )?(?:function )?'?(\w+)",
        "{0} cannot be called so; a law has numbers only, and one entry at a time of "
        "a, b, p, s and out",
    ),
    (r"Cannot cast Literal\[str\]\((.*)\) to float64", "'{0}' is text, not a number"),
    (r"Cannot cast (\S+) to float64", "a {0} is given where a number is needed"),
    (
        r"Cannot unify (\S+) and (\S+) for '(\w+)",
        "{2} is a {0} at one place and a {1} at another",
    ),
)


def reason(error: Exception, function: Any) -> str:
    """Return why a function does not compile, and its line, from Numba's message."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # Typing errors open with the stage; the reason comes after it.
    reasons = [x for x in lines if not x.startswith(("Failed in", "-", "During"))]
    said = _in_words(next(iter(reasons or lines), type(error).__name__))
    places = re.findall(r' at (\S.*) \((\d+)\)|File "(.+)", line (\d+)', text)
    found = [(a or c, int(b or d)) for a, b, c, d in places]
    if isinstance(function, FunctionType):
        # What the function calls may be Numba's own.
        own = Path(function.__code__.co_filename)
        found = [(str(own), n) for file, n in found if Path(file).name == own.name]
    if not found:
        return said
    file, number = found[0]
    written = linecache.getline(file, number).strip()
    return f"{said} (line {number} of {Path(file).name}: {written})"


def _in_words(said: str) -> str:
    for pattern, words in _WORDS:
        if found := re.search(pattern, said):
            return words.format(*(_kind(word) for word in found.groups()))
    return said


def _kind(word: str) -> str:
    """Return what Numba's name of a type says to a user."""
    names = {"float64": "number", "int64": "integer", "unicode_type": "text"}
    return "text" if word.startswith("Literal[str]") else names.get(word, word)
