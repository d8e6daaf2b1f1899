"""Plain data from JSON and back."""

from __future__ import annotations

import json
from typing import Any, cast

from nonsmooth.errors import ModelError
from nonsmooth.io.words import show, whole_number


def dump(value: Any, indent: str = "") -> str:
    """Return JSON with one line for each key, and for each list of scalars."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        content = cast(dict[str, Any], value)
        rows = [
            f"{json.dumps(key, ensure_ascii=False)}: {dump(item, inner)}"
            for key, item in content.items()
        ]
        brackets = "{}"
    elif isinstance(value, list) and any(
        isinstance(item, dict | list) for item in cast(list[Any], value)
    ):
        rows = [dump(item, inner) for item in cast(list[Any], value)]
        brackets = "[]"
    else:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    lines = ",\n".join(inner + row for row in rows)
    return f"{brackets[0]}\n{lines}\n{indent}{brackets[1]}"


def parse(text: str, source: str) -> Any:
    """Return the data of a text; no key may appear twice in a mapping."""
    head = f"{source}: " if source else ""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(pairs)
        if len(data) == len(pairs):
            return data
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        of = f" (name = {show(data['name'])})" if "name" in data else ""
        raise ModelError(
            f"{head}key {show(twice)} appears twice in a mapping{of}; keep one"
        )

    try:
        # NaN and Infinity, which JSON does not have, are refused in their place too.
        return json.loads(
            text, object_pairs_hook=unique, parse_constant=float, parse_int=whole_number
        )
    except json.JSONDecodeError as error:
        comma = ", " if source else ""
        place = f"{source}{comma}line {error.lineno}, column {error.colno}"
        remedy = "check quotes, commas and brackets before it"
        raise ModelError(f"{place}: {error.msg}; {remedy}") from None
    except RecursionError:
        raise ModelError(
            f"{head}nested too deeply; a model needs about six levels"
        ) from None
