"""Parts of the documentation that are generated: MkDocs calls `on_page_markdown`.

A page holds a comment such as `<!-- generated: elements -->`, which is replaced by
what the code says about itself. So the pages cannot fall behind it.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nonsmooth import gallery
from nonsmooth.elements.base import Element
from nonsmooth.elements.bodies import Body
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.drives import Drive
from nonsmooth.elements.events import Event
from nonsmooth.elements.expressions import describe
from nonsmooth.elements.forces import Force
from nonsmooth.elements.friction import FrictionLaw
from nonsmooth.elements.joints import Joint
from nonsmooth.elements.laws import TimeLaw
from nonsmooth.elements.normal import NormalLaw
from nonsmooth.elements.shapes import Shape

HERE = Path(__file__).resolve().parent
FAMILIES: dict[str, type[Element]] = {
    "Bodies": Body,
    "Joints": Joint,
    "Drives": Drive,
    "Forces": Force,
    "Contacts": Contact,
    "Shapes": Shape,
    "Normal laws": NormalLaw,
    "Friction laws": FrictionLaw,
    "Time laws": TimeLaw,
    "Events": Event,
}
# How annotations read in a table.
TYPES = {
    "float": "number",
    "str": "text",
    "Point": "(x, y)",
    "dict[str, Point]": "{name: (x, y)}",
    "dict[str, Shape]": "{name: shape}",
    "tuple[Point, ...]": "list of (x, y)",
    "float | None": "number or none",
    "NormalLaw": "normal law",
    "NormalLaw | None": "normal law or none",
    "FrictionLaw | None": "friction law or none",
    "TimeLaw": "time law",
    "TimeLaw | float": "time law or number",
    "tuple[float, ...]": "list of numbers",
}


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replace the comments of one page, and link its citations."""
    markdown = re.sub(
        r"<!-- generated: (\w+) -->", lambda found: PARTS[found[1]](), markdown
    )
    source: str = page.file.src_uri
    if source == "references.md":
        return markdown
    target = "../" * source.count("/") + "references.md"
    return re.sub(r"\[([A-Z]\w+\d{4})\](?!\()", rf"[[\1]]({target}#\1)", markdown)


# ---- elements --------------------------------------------------------------------


def elements() -> str:
    """Return every kind of every family: its equation and its fields."""
    lines: list[str] = []
    for title, family in FAMILIES.items():
        lines += [f"## {title}", ""]
        for name, kind in family.kinds.items():
            lines += [f"### {name}", "", _prose(kind), "", _fields(kind), ""]
    return "\n".join(lines)


def _prose(kind: type[Element]) -> str:
    """Return a docstring, with equations as blocks of code."""
    whole = (inspect.getdoc(kind) or "").replace("]_", "]")
    paragraphs = re.split(r"\n\s*\n", whole)
    shown: list[str] = []
    for k, text in enumerate(paragraphs):
        is_equation = k > 0 and " = " in text and not text.rstrip().endswith(".")
        shown.append(f"```text\n{textwrap.dedent(text)}\n```" if is_equation else text)
    return "\n\n".join(shown)


def _fields(kind: type[Element]) -> str:
    """Return the table of a kind's fields."""
    notes = _notes(kind)
    rows = ["| field | type | unit, meaning | default |", "|---|---|---|---|"]
    for item in dataclasses.fields(kind):
        annotation, comment = notes[item.name]
        shown = TYPES.get(annotation, annotation.replace("|", "\\|"))
        if annotation.startswith("Literal"):
            choices = re.findall(r'"(\w+)"', annotation)
            shown = ", ".join(f'"{choice}"' for choice in choices)
        own = MEANINGS.get(f"{kind.__name__}.{item.name}")
        meaning = own or item.metadata.get("unit") or comment
        meaning = meaning or MEANINGS.get(item.name, "")
        rows.append(f"| `{item.name}` | {shown} | {meaning} | {_default(item)} |")
    return "\n".join(rows)


# What fields that many kinds share mean, or a field of one kind.
MEANINGS = {
    "name": "unique in the model",
    "a": '"body" or "body.point"',
    "b": '"body" or "body.point"',
    "law": "of the prescribed motion",
    "value": "in the unit of what it drives",
    "start": "in the unit of what it drives",
    "end": "in the unit of what it drives",
    "amplitude": "in the unit of what it drives",
    "offset": "in the unit of what it drives",
    "values": "in the unit of what it drives",
    "text": "expression in t, s",
    "guard": "expression; the event is where it crosses zero",
    "direction": "which crossings count",
    "action": "note the instant, or end the run there",
    "frame": 'axes of fx and fy; "body" turns with b',
    "Contact.a": '"body.shape"; the ground or a support may stand alone',
    "Contact.b": '"body", "body.point" or "body.shape"',
    "normal": "gives the normal force",
    "friction": "none: no friction",
    "exponent": "of the overlap",
    "Stribeck.exponent": "of the speed",
    "restitution": "e",
}


def _default(item: dataclasses.Field[Any]) -> str:
    if item.default is not dataclasses.MISSING:
        return f"`{item.default!r}`"
    is_given = item.default_factory is not dataclasses.MISSING
    return "none" if is_given else "required"


def _notes(kind: type[Element]) -> dict[str, tuple[str, str]]:
    """Return annotation and comment of every field, from the source."""
    notes: dict[str, tuple[str, str]] = {}
    for base in reversed(kind.__mro__):
        if not issubclass(base, Element):
            continue
        source = textwrap.dedent(inspect.getsource(base))
        lines = source.splitlines()
        (body,) = ast.parse(source).body
        assert isinstance(body, ast.ClassDef)
        for node in body.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                comment = lines[(node.end_lineno or 1) - 1].partition("#")[2].strip()
                notes[node.target.id] = (ast.unparse(node.annotation), comment)
                # ast.unparse writes single quotes.
                text, comment = notes[node.target.id]
                notes[node.target.id] = (text.replace("'", '"'), comment)
    return notes


# ---- the rest --------------------------------------------------------------------


def gallery_systems() -> str:
    """Return every system of the gallery with its parameters."""
    lines: list[str] = []
    for name in gallery.names():
        lines += [f"## {name}", "", f"{gallery.summary(name)}.", ""]
        lines += [gallery.describe(name), ""]
        lines += ["| parameter | default | unit | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{p.name}` | {p.default} | {p.unit} | {p.meaning} |"
            for p in gallery.parameters(name)
        ]
        lines += ["", f"Runs for {gallery.duration(name):.4g} s by default.", ""]
    return "\n".join(lines)


def expressions() -> str:
    """Return the language of expressions."""
    return f"```text\n{describe()}\n```"


def references() -> str:
    """Return the entries of references.bib as a list."""
    text = (HERE / "references.bib").read_text(encoding="utf-8")
    entries: list[str] = []
    for key, body in re.findall(r"@\w+\{(\w+),\n(.*?)\n\}", text, re.DOTALL):
        found = dict(re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", body, re.MULTILINE))
        entries.append(f"<a id='{key}'></a>**[{key}]** {_entry(found)}")
    return "\n\n".join(entries)


def _entry(found: dict[str, str]) -> str:
    """Return one reference as text."""
    authors = found["author"].replace(" and ", "; ")
    parts = [f"{authors} ({found['year']}). *{found['title'].strip('{}')}*."]
    if "journal" in found:
        place = found["journal"] + (f" {found['volume']}" if "volume" in found else "")
        place += f" ({found['number']})" if "number" in found else ""
        parts.append(place + (f", {found['pages']}." if "pages" in found else "."))
    if "publisher" in found:
        edition = f"{found['edition']} edition, " if "edition" in found else ""
        parts.append(f"{edition}{found['publisher']}.")
    if "doi" in found:
        parts.append(f"doi:{found['doi']}.")
    if "note" in found:
        parts.append(f"{found['note']}.")
    return " ".join(parts).replace("--", "–")


PARTS: dict[str, Callable[[], str]] = {
    "elements": elements,
    "gallery": gallery_systems,
    "expressions": expressions,
    "references": references,
}
