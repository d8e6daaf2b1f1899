"""A study as one page of HTML: map or diagram, filters, what each run was, the viewer.

`nonsmooth serve` sends the same page without data, and its script asks for them.
"""

from __future__ import annotations

import base64
import html
import json
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from nonsmooth.errors import ModelError, SolveError
from nonsmooth.files import replacing
from nonsmooth.views.figure import check_folder
from nonsmooth.views.report import viewer
from nonsmooth.views.scene import scene

if TYPE_CHECKING:
    from nonsmooth.result import Result
    from nonsmooth.study.table import Table

SUFFIXES = (".html", ".htm")
SCRIPT = Path(__file__).parent / "study_page.js"
# Nothing is fetched; scripts and styles are in the page.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:"
)
# Runs of a page: more would not be told apart on a screen.
MAX_RUNS = 200_000
# Runs that a page holds with all their motion, and the bytes of each and of all.
MAX_SCENES, SCENE_BYTES, PAGE_BYTES = 200, 1_000_000, 30_000_000
# Numbers of a list that a diagram shows: the latest.
MAX_LIST = 64

_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 1rem 1.4rem; color: #333; }
h1 { font-size: 1.35rem; margin: 0 0 .3rem; } h2 { font-size: 1.05rem; }
#controls label { margin-right: 1.2rem; white-space: nowrap; }
#bar { width: 24rem; } p { margin: .3rem 0; }
#main { display: flex; flex-wrap: wrap; gap: 1.4rem; margin-top: .6rem; }
canvas { width: min(820px, 96vw); height: 540px; cursor: crosshair; }
#side { flex: 1 1 22rem; max-width: 34rem; }
#filters span { display: inline-block; min-width: 6rem; margin-right: .5rem; }
#filters input[type=number] { width: 7.5rem; }
#filters label { margin-right: .7rem; }
table { border-collapse: collapse; } td { padding: 0 .8rem 0 0; vertical-align: top; }
td { overflow-wrap: anywhere; max-width: 24rem; }
code { background: #f3f3f3; padding: .3rem; display: block; overflow-wrap: anywhere; }
#tip { position: absolute; background: #fffffff2; border: 1px solid #bbb;
  padding: .3rem .6rem; border-radius: 4px; pointer-events: none; max-width: 30rem; }
iframe { width: 100%; height: 640px; border: 1px solid #d4d4d4; }
"""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{policy}
<meta name="generator" content="nonsmooth {version}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<h1 id="title">{title}</h1>
<p><span id="counts">{counts}</span> <progress id="bar" hidden></progress></p>
<noscript>This page shows a study; it needs JavaScript, but no network.</noscript>
<div id="controls"></div>
<div id="main"><canvas id="map" tabindex="0" role="img"
 aria-label="map of the study; arrow keys go from run to run, Enter opens one"></canvas>
<div id="side"><details open><summary>filters</summary><div id="filters"></div>
<p id="shown"></p></details><div id="run" aria-live="polite"></div></div></div>
<div id="view" aria-live="polite"></div>
<div id="tip" hidden></div>
{scripts}
</body>
</html>
"""


def write_page(
    table: Table,
    path: str | os.PathLike[str],
    runs: Literal["kept", "all"] | Sequence[int] = "kept",
) -> Path:
    """Write a study as one page of HTML that needs no network; return where.

    `runs` are those that a click opens in the viewer; see `Table.page`.
    """
    place = Path(path)
    check_folder("page", place)
    if place.suffix.lower() not in SUFFIXES:
        raise ModelError(f"page: {place}: use {' or '.join(SUFFIXES)}")
    if table.n_run > MAX_RUNS:
        raise ModelError(f"page: {table.n_run} runs; at most {MAX_RUNS} on a page")
    data = json.dumps(document(table), allow_nan=False)
    scripts = [
        # In a script element only "</" and "<!--" have a meaning.
        f'<script type="application/json" id="study">{_safe(data)}</script>',
        *_scenes(table, _chosen(table, runs)),
        f"<script>\n{SCRIPT.read_text(encoding='utf-8')}\n</script>",
    ]
    counts = ", ".join(f"{n} {status}" for status, n in table.counts().items())
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    text = frame(
        title_of(table),
        scripts,
        counts=f"{table.n_run} runs: {counts}",
        policy=policy,
    )
    with replacing(place) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return place


def frame(
    title: str, scripts: Iterable[str], *, counts: str = "", policy: str = ""
) -> str:
    """Return the page around its scripts."""
    from nonsmooth import __version__

    return _PAGE.format(
        policy=policy,
        version=__version__,
        title=html.escape(title),
        counts=html.escape(counts),
        style=_STYLE,
        scripts="\n".join(scripts),
    )


def title_of(table: Table) -> str:
    """Return what a page calls a study."""
    return table.definition.get("title") or table.definition["system"] or "study"


def _safe(text: str) -> str:
    return text.replace("<", "\\u003c")


# -- runs with their motion ------------------------------------------------------------


def _chosen(table: Table, runs: Literal["kept", "all"] | Sequence[int]) -> list[int]:
    """Return the runs that the page holds with all their motion."""
    if runs == "kept":
        found = [k for k in range(table.n_run) if table.kept(k) is not None]
        return found[:MAX_SCENES]
    if isinstance(runs, str) and runs != "all":
        raise ModelError(f"page: runs = {runs!r}; give 'kept', 'all' or numbers")
    chosen = list(range(table.n_run)) if runs == "all" else list(cast(Any, runs))
    if len(chosen) > MAX_SCENES:
        raise ModelError(
            f"page: {len(chosen)} runs with all their motion; at most {MAX_SCENES}: "
            "name some, or use `nonsmooth serve`, which opens any"
        )
    for k in chosen:
        table.point(k)
    return chosen


def _scenes(table: Table, chosen: Sequence[int]) -> list[str]:
    """Return runs as script elements, and the viewer if there are any."""
    if not chosen:
        return []
    room = min(SCENE_BYTES, PAGE_BYTES // len(chosen))
    found: list[str] = []
    for k in chosen:
        try:
            result: Result | None = table.run(k)
        except SolveError as error:
            result = error.result
        if result is None:
            continue
        words = ", ".join(f"{n} = {_word(v)}" for n, v in table.point(k).items())
        data = scene(result, (), room, f"run {k}: {words}")
        text = base64.b64encode(data).decode()
        found.append(
            f'<script type="application/octet-stream" class="scene" data-run="{k}">'
            f"{text}</script>"
        )
    return [*found, f'<script type="text/plain" id="viewer">{viewer()}</script>']


def _word(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# -- data ------------------------------------------------------------------------------


def document(table: Table) -> dict[str, Any]:
    """Return what the page shows, as plain data."""
    columns: dict[str, list[Any]] = {}
    for name in (*table.parameters, *table.outputs, "status", "message", "doubts"):
        column = table[name]
        if column.dtype == float:
            columns[name] = [x if np.isfinite(x) else None for x in column.tolist()]
        else:
            columns[name] = [_cell(x) for x in column.tolist()]
    shown = (*table.parameters, *table.outputs)
    return {
        "title": title_of(table),
        "parameters": list(table.parameters),
        "paths": {name: table.paths_of(name) for name in table.parameters},
        "outputs": list(table.outputs),
        "dims": table.dims,
        "labels": {name: table.label(name) for name in shown},
        "logarithmic": [name for name in table.parameters if table.is_log(name)],
        "counts": table.counts(),
        "command": _command(table),
        "until": _ends(table),
        "columns": columns,
    }


def _cell(value: Any) -> Any:
    """Return a value as a cell of a page: of long lists the latest."""
    if isinstance(value, list):
        last = cast(list[float], value)[-MAX_LIST:]
        return [x if np.isfinite(x) else None for x in last]
    return value


def _ends(table: Table) -> list[float]:
    """Return the end of each run, s; one number if all are alike."""
    if isinstance(table.definition["until"], str):
        return [table.until(k) for k in range(table.n_run)]
    return [table.until(0)]


def _command(table: Table) -> str:
    """Return how a command that repeats a run begins; a file's name is not known."""
    system = table.definition["system"] or "MODEL.yaml"
    parts = ["nonsmooth", "run", shlex.quote(system)]
    for name, value in table.definition.get("settings", {}).items():
        for path in table.paths_of(name):
            parts.append(f"--set {shlex.quote(f'{path}={value}')}")
    usual = {"method": "auto", "rtol": 1e-8, "scheme": "events", "branch": "unique"}
    for name, value in table.options().items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            parts.append(option)
        elif value not in (None, False, usual.get(name)):
            parts.append(f"{option} {value}")
    return " ".join(parts)
