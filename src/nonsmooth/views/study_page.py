"""A study as one page of HTML: map or curve, filters, what each run was."""

from __future__ import annotations

import html
import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from nonsmooth.errors import ModelError
from nonsmooth.files import replacing

if TYPE_CHECKING:
    from nonsmooth.study.table import Table

SUFFIXES = (".html", ".htm")
STATIC = Path(__file__).parent / "study_page.js"
# Nothing is fetched; scripts and styles are in the page.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
# Runs of a page: more would not be told apart on a screen.
MAX_RUNS = 200_000

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="nonsmooth {version}">
<title>{title}</title>
<style>
body {{ font: 14px/1.4 system-ui, sans-serif; margin: 1.2rem; color: #333; }}
#controls label {{ margin-right: 1rem; white-space: nowrap; }}
#main {{ display: flex; flex-wrap: wrap; gap: 1rem; margin-top: .8rem; }}
canvas {{ border: 1px solid #d4d4d4; cursor: crosshair; }}
#side {{ max-width: 30rem; }}
table {{ border-collapse: collapse; }} td {{ padding: 0 .8rem 0 0; }}
code {{ background: #f3f3f3; padding: .2rem; display: block; overflow-wrap: anywhere; }}
</style>
</head>
<body>
<h1 id="title">{title}</h1>
<p id="counts">{counts}</p>
<noscript>This page shows a study; it needs JavaScript, but no network.</noscript>
<div id="controls"></div>
<div id="main"><canvas id="map" width="760" height="520" tabindex="0"
 aria-label="map of the study; arrow keys go from run to run"></canvas>
<div id="side"><div id="filters"></div>
<div id="run" aria-live="polite"></div></div></div>
<script type="application/json" id="study">{data}</script>
<script>
{script}
</script>
</body>
</html>
"""


def write_page(table: Table, path: str | os.PathLike[str]) -> Path:
    """Write a study as one page of HTML that needs no network; return where."""
    from nonsmooth import __version__

    place = Path(path)
    if place.suffix.lower() not in SUFFIXES:
        raise ModelError(f"page: {place}: use {' or '.join(SUFFIXES)}")
    if table.n_run > MAX_RUNS:
        raise ModelError(f"page: {table.n_run} runs; at most {MAX_RUNS} on a page")
    title = table.definition.get("title") or table.definition["system"] or "study"
    counts = ", ".join(f"{n} {status}" for status, n in table.counts().items())
    # In a script element only "</" and "<!--" have a meaning.
    data = json.dumps(document(table), allow_nan=False).replace("<", "\\u003c")
    text = _PAGE.format(
        policy=POLICY,
        version=__version__,
        title=html.escape(title),
        counts=f"{table.n_run} runs: {html.escape(counts)}",
        data=data,
        script=STATIC.read_text(encoding="utf-8"),
    )
    with replacing(place) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return place


def document(table: Table) -> dict[str, Any]:
    """Return what the page shows, as plain data."""
    columns: dict[str, list[Any]] = {}
    for name in (*table.parameters, *table.outputs, "status", "message", "doubts"):
        column = table[name]
        if column.dtype == float:
            columns[name] = [x if np.isfinite(x) else None for x in column.tolist()]
        else:
            columns[name] = [_short(x) for x in column.tolist()]
    return {
        "parameters": list(table.parameters),
        "outputs": list(table.outputs),
        "dims": table.dims,
        "command": _command(table),
        "columns": columns,
    }


def _short(value: Any) -> Any:
    """Return a value as a cell of a page: lists in words."""
    if isinstance(value, list):
        return ", ".join(f"{x:.6g}" for x in cast(list[float], value)[:12])
    return value


def _command(table: Table) -> str:
    """Return how a command that repeats a run begins; a file's name is not known."""
    system = table.definition["system"] or "MODEL.yaml"
    parts = ["nonsmooth", "run", shlex.quote(system)]
    for name, value in table.definition.get("settings", {}).items():
        parts.append(f"--set {shlex.quote(f'{name}={value}')}")
    return " ".join(parts)
