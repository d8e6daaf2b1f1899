"""Pages of figures: what benchmarks measured, and what tests compare.

Both are kept in files that the benchmarks and the tests write; nothing here is a
number.
"""

from __future__ import annotations

import ast
import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import pages

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PEERS = ROOT / "benchmarks" / "peers" / "held_block.csv"
VALIDATION = ROOT / "tests" / "data" / "validation.json"
# The machine of the short table; others have tables of their own.
MACHINE = "linux-x86_64-2cores"


def row(*words: str) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(word.replace('|', chr(92) + '|') for word in words)} |"


# ---- benchmarks ------------------------------------------------------------------


@cache
def results() -> dict[str, list[dict[str, str]]]:
    """Return the rows of every machine."""
    found: dict[str, list[dict[str, str]]] = {}
    for path in sorted(RESULTS.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            found[path.stem] = list(csv.DictReader(file))
    return found


def figure(value: float, digits: int) -> str:
    """Return a number with few digits, and without an exponent if it is large."""
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.{digits}g}"


def performance() -> str:
    """Return what the benchmarks measured last, a table for each case and machine."""
    lines: list[str] = []
    found = results()
    for case in sorted({one["case"] for rows in found.values() for one in rows}):
        lines += [f"### {case}", ""]
        for machine, rows in found.items():
            own = [one for one in rows if one["case"] == case]
            if not own:
                continue
            dates = sorted({one["date"] for one in own})
            lines += [f"{machine}, {' and '.join(dates)}", ""]
            lines += [row("what", "value", "unit", "note"), "|---|---|---|---|"]
            for one in own:
                value = figure(float(one["value"]), 3)
                lines.append(row(one["what"], value, one["unit"], one["note"]))
            lines.append("")
    return "\n".join(lines)


def measured(case: str, what: str) -> str:
    """Return one figure of the short table, two digits of it, with its unit."""
    for one in results().get(MACHINE, []):
        if (one["case"], one["what"]) == (case, what):
            value, unit = float(one["value"]), one["unit"]
            if unit == "s" and abs(value) < 0.1:
                value, unit = 1e3 * value, "ms"
            return f"{figure(value, 2)} {unit if unit != '1' else ''}".strip()
    raise pages.PageError(f"no benchmark '{case}' has measured '{what}'")


def held_block() -> str:
    """Return the table of a block held by friction in several tools."""
    units = {"stops": "stops off by, m", "creeps": "creeps, m", "cpu": "CPU, s"}
    with PEERS.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    head = row("tool", "setting", *units.values())
    body = [row(*(one[n] for n in ("tool", "setting", *units))) for one in lines]
    return "\n".join([head, "|---|---|---|---|---|", *body])


# ---- tests -----------------------------------------------------------------------


def comparisons() -> list[dict[str, Any]]:
    """Return the comparisons that tests have recorded, in the order of their files."""
    return json.loads(VALIDATION.read_text(encoding="utf-8"))


@cache
def _module(path: str) -> tuple[str, frozenset[str]]:
    """Return the first line of a test file's docstring, and its functions."""
    try:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    except OSError as error:
        raise pages.PageError(f"{VALIDATION.name} names {path}: {error}") from error
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    title = (ast.get_docstring(tree) or path).partition("\n")[0].rstrip(".")
    return title, frozenset(names)


def validation() -> str:
    """Return every comparison with its error, a table for each file of tests."""
    lines: list[str] = []
    head = row("what", "against", "size", "error", "asked", "unit", "test")
    last = ""
    for one in comparisons():
        path, _, test = one["test"].partition("::")
        title, tests = _module(path)
        if test not in tests:
            raise pages.PageError(f"{VALIDATION.name}: there is no test {one['test']}")
        if path != last:
            lines += ["", f"### {title}", "", f"`{path}`", ""]
            lines += [head, "|---|---|---|---|---|---|---|"]
            last = path
        names = ("size", "error", "within")
        numbers = (f"<span class='num'>{one[name]:.2g}</span>" for name in names)
        words = (one["what"], one["against"], *numbers, one["unit"])
        # Names of tests are long: they may be parted at their underscores.
        name = test.removeprefix("test_").replace("_", "_<wbr>")
        lines.append(row(*words, f"<code>{name}</code>"))
    return "\n".join(lines)
