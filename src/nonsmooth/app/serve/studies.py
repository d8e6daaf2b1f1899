"""Studies in the served folder: a list of them, their page, and their runs to open.

A study is what its index says; one that is under way is read while it is written. Runs
that a reader opens are computed again, one at a time like all runs of the server,
unless the study has kept them.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nonsmooth.app.serve.jobs import Job, Refused, resolved, walk
from nonsmooth.errors import ModelError
from nonsmooth.io import to_dict
from nonsmooth.study.index import read_counts
from nonsmooth.study.table import Table
from nonsmooth.views.study_page import MAX_RUNS, document, frame

SUFFIXES = (".db",)
# Studies listed.
MAX_LISTED = 200
FIELDS = ("file", "run")
_LIST = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>studies</title>
<link rel="icon" href="data:,">
<style>body {{ font: 15px/1.5 system-ui, sans-serif; margin: 1.5rem; color: #333; }}
td, th {{ padding: .2rem 1.2rem .2rem 0; text-align: left; }}</style>
</head>
<body>
<h1>Studies</h1>
{content}
<p><a href="./">single runs</a></p>
</body>
</html>
"""


def place_of(folder: Path, name: str) -> Path:
    """Return the index that a relative name stands for, inside the folder."""
    return resolved(folder, name, SUFFIXES, "study's index")


def listed(folder: Path) -> list[dict[str, Any]]:
    """Return the studies of a folder: file, title, runs by status."""
    found: list[dict[str, Any]] = []
    for path in walk(folder, SUFFIXES):
        name = path.relative_to(folder).as_posix()
        try:
            title, counts = read_counts(place_of(folder, name))
        except (Refused, ModelError, OSError):
            continue
        found.append({"file": name, "title": title, "counts": counts})
        if len(found) == MAX_LISTED:
            break
    return found


def list_page(folder: Path) -> str:
    """Return the page that lists the studies of a folder."""
    rows = [
        f'<tr><td><a href="study?file={quote(one["file"])}">'
        f"{html.escape(one['title'])}</a></td><td>{html.escape(one['file'])}</td>"
        f"<td>{_words(one['counts'])}</td></tr>"
        for one in listed(folder)
    ]
    content = (
        "<p>There is no study here yet. <code>nonsmooth sweep study.yaml</code> in "
        "this folder makes one.</p>"
    )
    if rows:
        head = "<tr><th>study</th><th>index</th><th>runs</th></tr>"
        content = f"<table>{head}{''.join(rows)}</table>"
    return _LIST.format(content=content)


def _words(counts: Mapping[str, int]) -> str:
    return html.escape(", ".join(f"{n} {status}" for status, n in counts.items()))


def page(folder: Path, name: str) -> str:
    """Return the page of a study, whose script asks for the data."""
    title, _ = _read(folder, name)
    return frame(title, ['<script src="static/study.js"></script>'])


def data(folder: Path, name: str, since: str) -> dict[str, Any]:
    """Return what the page shows; counts alone if nothing is new since a stamp."""
    title, counts = _read(folder, name)
    if sum(counts.values()) > MAX_RUNS:
        raise Refused(422, f"{title}: at most {MAX_RUNS} runs on a page")
    stamp = json.dumps(counts, sort_keys=True)
    found: dict[str, Any] = {"stamp": stamp, "counts": counts}
    if stamp != since:
        found = document(_table(folder, name)) | found
    return found


def _read(folder: Path, name: str) -> tuple[str, dict[str, int]]:
    try:
        return read_counts(place_of(folder, name))
    except (ModelError, OSError) as error:
        raise _refused(folder, name, error) from None


def _table(folder: Path, name: str) -> Table:
    try:
        return Table.load(place_of(folder, name))
    except (ModelError, OSError) as error:
        raise _refused(folder, name, error) from None


def _refused(folder: Path, name: str, error: Exception) -> Refused:
    # The client knows the file by its name in the folder.
    return Refused(422, str(error).replace(str(place_of(folder, name)), name), "file")


def job(folder: Path, given: Mapping[str, Any]) -> Job:
    """Return the run of a study that is to be opened: {file, run}."""
    if set(given) != set(FIELDS) or not isinstance(given["file"], str):
        raise Refused(422, "give file, the index of a study, and run, a number")
    k = given["run"]
    if not isinstance(k, int) or isinstance(k, bool):
        raise Refused(422, f"run = {k!r}; give a number", "run")
    table = _table(folder, given["file"])
    try:
        options = {n: v for n, v in table.options().items() if v is not None}
        return Job(
            source="text",
            name=f"{given['file']}, run {k}",
            text=json.dumps(to_dict(table.model(k))),
            format="json",
            until=table.until(k),
            options=options,
            saved=table.kept(k),
        )
    except ModelError as error:
        raise Refused(422, str(error), "run") from None
