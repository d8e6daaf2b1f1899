"""A run as one page of HTML, with the viewer in it; it needs no server and no network.

The viewer is built from `web/`; its build is part of the package.
"""

from __future__ import annotations

import base64
import html
import os
from pathlib import Path
from typing import TYPE_CHECKING

from nonsmooth.errors import ModelError
from nonsmooth.files import replacing
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
<script type="application/octet-stream" id="scene">{scene}</script>
<script>
{viewer}
</script>
</body>
</html>
"""


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


def page(document: bytes, title: str = "") -> str:
    """Return the page of a run, from its scene document."""
    from nonsmooth import __version__

    return _PAGE.format(
        policy=POLICY,
        version=__version__,
        title=html.escape(title or "A run of nonsmooth"),
        scene=base64.b64encode(document).decode(),
        viewer=_viewer(),
    )


def _viewer() -> str:
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
    place = Path(path)
    if place.suffix.lower() not in SUFFIXES:
        raise ModelError(f"report: {place}: use {' or '.join(SUFFIXES)}")
    if not place.parent.is_dir():
        raise ModelError(f"report: {place}: no folder '{place.parent}'")
    title = result.system.model.title if title is None else title
    # Text of base 64 has four letters for three bytes.
    room = (PAGE - FRAME - len(_viewer().encode())) * 3 // 4
    document = scene(result, parameters, max(room, LEAST), title)
    with replacing(place) as temporary:
        temporary.write_text(page(document, title), encoding="utf-8", newline="\n")
    return place
