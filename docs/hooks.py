"""Parts of the documentation that are generated; MkDocs calls the functions `on_...`.

A page holds a marker such as `{{ elements }}`, which is replaced by what the code says
about itself, or, on the pages of the gallery, by what a run gives: see `pages`. So the
pages cannot fall behind. A marker that nobody defines is an error, and so is a number
that no page asks for.
"""

from __future__ import annotations

import ast
import dataclasses
import html
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

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
from nonsmooth.views.report import STATIC

HERE = Path(__file__).resolve().parent
# MkDocs loads this file by its path.
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

import equations  # noqa: E402
import measured  # noqa: E402
import pages  # noqa: E402

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


_MARKER = re.compile(r"\{\{ (\w+) \}\}")
_MEASURED = re.compile(r"\{\{ measured (\w+): (.*?) \}\}")
_FIGURE = re.compile(r"\{\{ figure (\w+): (.*?) \}\}", re.DOTALL)


def on_pre_build(**_: Any) -> None:
    """Run what the pages of the gallery show, where that is not done yet."""
    try:
        for _system, _seconds in pages.make_all():
            pass
    except pages.PageError as error:
        raise PluginError(str(error)) from error


def on_files(files: Any, *, config: Any) -> Any:
    """Add figures and live runs to the site."""
    for system in pages.names():
        for name, path in pages.files(system).items():
            file = File.generated(config, f"gallery/{name}", abs_src_path=str(path))
            files.append(file)
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replace the markers of one page, and link its citations."""
    source: str = page.file.src_uri
    folder, _slash, name = source.removesuffix(".md").rpartition("/")
    system = name if folder == "gallery" and name in pages.names() else ""
    try:
        markdown = filled(markdown, system)
    except pages.PageError as error:
        raise PluginError(f"{source}: {error}") from error
    markdown = equations.replaced(markdown)
    if source == "references.md":
        return markdown
    target = "../" * source.count("/") + "references.md"
    return re.sub(r"\[([A-Z]\w+\d{4})\](?!\()", rf"[[\1]]({target}#\1)", markdown)


# ---- the gallery -------------------------------------------------------------------


def filled(markdown: str, system: str = "") -> str:
    """Replace the markers of a page; of a system's page, all that was made is used."""
    numbers = pages.numbers(system) if system else {}
    figures = set(pages.drawn(system)) if system else set[str]()
    used: set[str] = set()

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name in numbers:
            used.add(name)
            return numbers[name]
        if system and name in OF_A_SYSTEM:
            used.add(name)
            return OF_A_SYSTEM[name](system)
        if name in PARTS:
            return PARTS[name]()
        raise pages.PageError(f"nobody defines {found[0]}")

    def drawing(found: re.Match[str]) -> str:
        name, caption = found.groups()
        if name not in figures:
            raise pages.PageError(f"nobody draws {{{{ figure {name} }}}}")
        used.add(f"figure {name}")
        return figure(system, name, caption)

    markdown = _MEASURED.sub(lambda m: measured.measured(m[1], m[2]), markdown)
    # Captions may hold numbers, so these come first.
    markdown = _FIGURE.sub(drawing, _MARKER.sub(value, markdown))
    if rest := re.search(r"\{\{ .*", markdown):
        raise pages.PageError(f"this is no marker: {rest[0]}")
    if not system:
        return markdown
    wanted = {*numbers, *OF_A_SYSTEM, *(f"figure {name}" for name in figures)}
    if left := sorted(wanted - used):
        raise pages.PageError(f"does not ask for {', '.join(left)}")
    return markdown


def figure(system: str, name: str, caption: str) -> str:
    """Return a figure with its caption, as Markdown."""
    words = " ".join(caption.split())
    path = pages.drawn(system)[name]
    size = f"width={width(path)} " if path.suffix == ".png" else ""
    alt = re.sub(r"[*`\[\]]", "", words) or f"{system}: {name}"
    return (
        f'<figure markdown="span">\n![{alt}]({system}.{path.name})'
        f"{{ {size}loading=lazy }}\n"
        f'<figcaption markdown="span">{words}</figcaption>\n</figure>'
    )


def width(png: Path) -> int:
    """Return the width of a picture in the browser's pixels; it has two for each."""
    return int.from_bytes(png.read_bytes()[16:20], "big") // 2


def viewer(system: str) -> str:
    """Return the live run, in a frame of its own."""
    file = f"{system}.{pages.REPORT}"
    return (
        f'<div class="viewer"><iframe src="{file}" loading="lazy" '
        f'title="{system}, live"></iframe>'
        f'<p><a href="{file}" target="_blank">open in its own window</a></p></div>'
    )


def parameters(system: str) -> str:
    """Return the parameters of a system as a table that opens on a click."""
    rows = [
        f"<tr><td><code>{p.name}</code></td><td>{_value(p.default)}</td>"
        f"<td>{html.escape(p.unit)}</td><td>{html.escape(p.meaning)}</td></tr>"
        for p in gallery.parameters(system)
    ]
    return (
        f"<details><summary>All {len(rows)} parameters</summary>"
        "<table><thead><tr><th>parameter</th><th>default</th><th>unit</th>"
        f"<th>meaning</th></tr></thead><tbody>{''.join(rows)}</tbody></table></details>"
    )


def _value(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else html.escape(str(value))


def cards() -> str:
    """Return the systems with their sketches, each a link to its page."""
    found = [
        f'<a href="{system}.html"><img src="{system}.'
        f'{pages.drawn(system)["sketch"].name}" alt="" '
        f'loading="lazy"><strong>{system}</strong>'
        f"<span>{html.escape(gallery.summary(system))}.</span></a>"
        for system in pages.names()
    ]
    return f'<div class="cards">{"".join(found)}</div>'


def report_sizes() -> str:
    """Return how large the reports of the gallery are."""
    sizes = {
        s: pages.files(s)[f"{s}.{pages.REPORT}"].stat().st_size for s in gallery.names()
    }
    least, most = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    return (
        f"from {sizes[least] // 1000} kB (`{least}`) to {sizes[most] // 1000} kB "
        f"(`{most}`)"
    )


def viewer_size() -> str:
    """Return how large the viewer is."""
    return f"{(STATIC / 'report.js').stat().st_size // 1000} kB"


OF_A_SYSTEM: dict[str, Callable[[str], str]] = {
    "viewer": viewer,
    "parameters": parameters,
}


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
    whole = inspect.cleandoc(vars(kind).get("__doc__") or "").replace("]_", "]")
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
    "cards": cards,
    "report_sizes": report_sizes,
    "viewer_size": viewer_size,
    "performance": measured.performance,
    "validation": measured.validation,
    "held_block": measured.held_block,
    "gallery": gallery_systems,
    "expressions": expressions,
    "references": references,
}
