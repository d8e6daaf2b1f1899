"""A run as one page of HTML, with the viewer in it; it needs no server and no network.

The viewer is built from `web/`; its build is part of the package.
"""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from nonsmooth.errors import ModelError
from nonsmooth.files import replacing
from nonsmooth.views.figure import check_folder
from nonsmooth.views.scene import Parameters, scene

if TYPE_CHECKING:
    from nonsmooth.result import Result

STATIC = Path(__file__).parent / "static"
SUFFIXES = (".html", ".htm")
# Bytes of a page, and of what is neither viewer nor run.
PAGE, FRAME = 1_950_000, 5_000
# No page needs less than this for its run, whatever the viewer takes.
LEAST = 200_000

# Nothing may be fetched, and nothing sent.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
_SCENE = '<script type="application/octet-stream" {key}>{text}</script>'
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="nonsmooth {version}">
<title>{title}</title>
</head>
<body>
<noscript>This page shows a simulation; it needs JavaScript, but no network.</noscript>
<div id="nonsmooth"></div>
{scenes}
<script>
{viewer}
</script>
</body>
</html>
"""

# Of several runs the address tells which is shown; the page is read again for another.
# They are short, and play over and over.
_CHOICE = """
<style>
#choice {{ position: fixed; right: 45%; top: 0.6em; z-index: 9; max-width: 40%; }}
</style>
<select id="choice" aria-label="run">{options}</select>
<script>
{{
  const choice = document.getElementById("choice");
  const given = Number(new URLSearchParams(location.search).get("run"));
  choice.selectedIndex = given >= 1 && given <= choice.length ? given - 1 : 0;
  document.querySelectorAll(".scene")[choice.selectedIndex].id = "scene";
  choice.onchange = () => (location.search = "?run=" + (choice.selectedIndex + 1));
  if (!location.hash) location.hash = "loop=1";
  const ready = setInterval(() => {{
    if (!window.nonsmooth) return;
    clearInterval(ready);
    window.nonsmooth.viewer.play();
  }}, 50);
}}
</script>"""


def static(name: str) -> str:
    """Return a part of the viewer's build."""
    path = STATIC / name
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileNotFoundError(
            f"the viewer's build {name} is missing from this installation; install "
            "nonsmooth again, or in a checkout run: ./dev web"
        ) from None


def page(documents: bytes | Mapping[str, bytes], title: str = "") -> str:
    """Return the page of a run, from its scene document; or of a choice of them."""
    from nonsmooth import __version__

    if isinstance(documents, bytes):
        scenes = _SCENE.format(key='id="scene"', text=_text(documents))
    else:
        scenes = "\n".join(
            _SCENE.format(key='class="scene"', text=_text(one))
            for one in documents.values()
        )
        options = "".join(f"<option>{html.escape(name)}</option>" for name in documents)
        scenes += _CHOICE.format(options=options)
    return _PAGE.format(
        policy=POLICY,
        version=__version__,
        title=html.escape(title or "A run of nonsmooth"),
        scenes=scenes,
        viewer=viewer(),
    )


def _text(document: bytes) -> str:
    return base64.b64encode(document).decode()


def viewer() -> str:
    """Return the viewer's build as it may stand in a page."""
    # The end of the script would be the end of the text; in a string or a regular
    # expression the backslash changes nothing.
    text = static("report.js").replace("</script", "<\\/script")
    return text.replace("<!--", "<\\!--").strip()


def report(
    result: Result,
    path: str | os.PathLike[str],
    parameters: Parameters = (),
    title: str | None = None,
) -> Path:
    """Write a run as one page of HTML; return where.

    It opens on the quantities of the model's `Run(plot=...)`, if there are some.

    Parameters
    ----------
    result : Result
        Finished or not; one that failed at once shows its start, and why.
    path : str or path
        Ends in .html.
    parameters : mapping, or sequence of dict
        What the run was made with, for the reader: values by name; or name and value
        of each, unit and meaning if it has them.
    title : str, optional
        That of the model by default.
    """
    place = _place(path)
    title = result.system.model.title if title is None else title
    document = scene(result, parameters, _room(1), title)
    _write(place, page(document, title))
    return place


def report_choice(
    results: Mapping[str, Result], path: str | os.PathLike[str], title: str = ""
) -> Path:
    """Write short runs as one page on which the reader chooses one; return where.

    Parameters
    ----------
    results : mapping
        Runs by what the choice calls them.
    path : str or path
        Ends in .html.
    title : str
    """
    place, room = _place(path), _room(len(results))
    documents = {
        name: scene(one, (), room, f"{title}: {name}" if title else name)
        for name, one in results.items()
    }
    _write(place, page(documents, title))
    return place


def _place(path: str | os.PathLike[str]) -> Path:
    """Return where a page goes, refused before anything is drawn."""
    place = Path(path)
    if place.suffix.lower() not in SUFFIXES:
        raise ModelError(f"report: {place}: use {' or '.join(SUFFIXES)}")
    check_folder("report", place)
    return place


def _room(n: int) -> int:
    """Return the bytes of each of n runs; base 64 has four letters for three."""
    room = (PAGE - FRAME - len(viewer().encode())) * 3 // 4
    return max(room, LEAST) // n


def _write(place: Path, text: str) -> None:
    with replacing(place) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
