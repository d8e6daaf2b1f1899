"""Plain data from YAML and back. Scalars follow YAML 1.2, its core schema."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NoReturn, cast

from nonsmooth.errors import ModelError
from nonsmooth.io.frame import DEPTH_LIMIT, START
from nonsmooth.io.kinds import lists
from nonsmooth.io.words import Steps, show, whole_number

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


def _scalar(text: str) -> Any:
    """Return the value of a scalar without quotes."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text, base) if base != 10 else whole_number(text)
    return float(text) if _FLOAT.fullmatch(text) else text


_NO_KEY = object()


class Document:
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
                self._take(event, yaml)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = " ".join(filter(None, (error.context, error.problem)))
            rows = text.split("\n")[mark.line :] if mark is not None else []
            if rows and re.match(r" *\t", rows[0]):
                problem += "; indent with spaces, not tabs"
            else:
                problem += "; check quotes, brackets and indents there"
            self._refuse(mark, problem)
        except yaml.YAMLError as error:
            self._refuse(None, str(error).splitlines()[0])
        except RecursionError:
            self._refuse(None, "nested too deeply; a model needs about six levels")
        if self.data is _NO_KEY:
            self._refuse(None, f"no content; begin with '{START}'")

    def _refuse(self, mark: Any, what: str) -> NoReturn:
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

    def _take(self, event: Any, yaml: Any) -> None:
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            self._refuse(mark, "anchors (&) and aliases (*) are not used; write it out")
        if getattr(event, "tag", None) is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._refuse(mark, f"tags are not used; remove '{tag}'")
        if isinstance(event, yaml.ScalarEvent):
            is_plain = event.implicit[0]
            if is_plain and event.value == "<<":
                self._refuse(mark, "merge keys (<<) are not used; write it out")
            value = _scalar(event.value) if is_plain else event.value
            self._put(value, mark, is_scalar=True)
        elif isinstance(event, yaml.CollectionStartEvent):
            is_list = isinstance(event, yaml.SequenceStartEvent)
            value: Any = [] if is_list else {}
            self._put(value, mark, is_scalar=False)
            self.stack.append((value, [_NO_KEY]))
            if len(self.stack) > DEPTH_LIMIT:
                self._refuse(mark, f"nested too deeply; at most {DEPTH_LIMIT} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            self.stack.pop()
        elif isinstance(event, yaml.DocumentStartEvent) and self.data is not _NO_KEY:
            self._refuse(mark, "a second document begins here; a file holds one")

    def _put(self, value: Any, mark: Any, *, is_scalar: bool) -> None:
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
            self._refuse(mark, "a key must be text")
        elif value in lines:
            self._refuse(
                mark,
                f"key {show(value)} appears twice, first in line {lines[value]}; keep "
                "one",
            )
        else:
            lines[value] = mark.line + 1
            waiting[0] = value


def dump(data: dict[str, Any]) -> str:
    """Return YAML, with blank lines around each list of elements."""
    import yaml

    parts: list[dict[str, Any]] = []
    after_list = True
    for key, value in data.items():
        is_list = key in lists()
        if is_list or after_list:
            parts.append({})
        parts[-1][key] = value
        after_list = is_list
    texts = [
        yaml.dump(
            part,
            Dumper=_dumper(),
            sort_keys=False,
            allow_unicode=True,
            default_flow_style=False,
            width=88,
        )
        for part in parts
    ]
    return "\n".join(texts)


@cache
def _dumper() -> Any:
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
