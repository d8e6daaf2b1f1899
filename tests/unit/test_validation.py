"""The page Validation: its file and the tests agree, and a grown error is noticed."""

import ast
import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import validation

ROOT = Path(__file__).resolve().parents[2]
ROW = {"test": "a.py::test_it", "what": "x", "against": "closed form", "unit": "m"}
KEPT = {"a.py::test_it: x": ROW | {"size": 1.0, "within": 1e-6, "error": 1e-8}}

# Scripts of the documentation, which is no package.
sys.path.insert(0, str(ROOT / "docs"))
measured: Any = importlib.import_module("measured")


def test_every_comparison_is_kept_and_every_kept_one_is_made():
    asking = {
        f"{path.relative_to(ROOT).as_posix()}::{node.name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and "validate" in [argument.arg for argument in node.args.args]
    }
    assert asking == {row["test"] for row in validation.read().values()}


def test_every_paper_is_on_the_page():
    page = measured.validation()
    for path in (ROOT / "tests" / "papers").glob("test_*.py"):
        if path.stem != "test_flexible_slider_ways":  # orders and limits, no figures
            assert f"`tests/papers/{path.name}`" in page
    for row in validation.read().values():
        assert row["what"].replace("|", "\\|") in page
        assert 0.0 <= row["error"] <= row["within"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"error": 9e-8}, ""),
        ({"error": 1.1e-7}, "the page says 1e-08"),
        ({"error": float("nan")}, "the page says 1e-08"),
        ({"what": "y"}, "'y' is not in validation.json"),
        ({"unit": "mm"}, "says unit = 'm', the test 'mm'"),
    ],
)
def test_what_is_no_longer_so_is_said(change, said):
    row = ROW | {"size": 1.0, "within": 1e-6, "error": 1e-8} | change
    assert said in validation.complaint(row, KEPT)
    assert bool(validation.complaint(row, KEPT)) == bool(said)


def test_the_worst_of_several_is_kept():
    rows = [
        validation.compared("t", "x", found, [1.0, 2.0], within, "m", "closed form")
        for found, within in (([1.0, 2.1], 1.0), ([1.0, 2.05], 0.1))
    ]
    assert [row["error"] for row in rows] == pytest.approx([0.1, 0.05])
    # Half of what was asked for, instead of a tenth.
    assert validation.worse(rows[0], rows[1]) is rows[1]
    assert validation.worse(rows[1], rows[0]) is rows[1]
    with pytest.raises(ValueError, match="shapes"):
        validation.compared("t", "x", [1.0], [1.0, 2.0], 1.0, "m", "closed form")


def test_figures_that_pages_quote_have_been_measured():
    pages = (ROOT / "docs").glob("*.md")
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    quoted = re.findall(r"\{\{ measured (\w+): (.*?) \}\}", text)
    assert len(quoted) > 10
    for case, what in quoted:
        assert re.match(r"[\d.]", measured.measured(case, what))


def test_the_held_block_was_run_in_four_tools():
    rows = measured.held_block().splitlines()[2:]
    tools = {row.split(" | ")[0].removeprefix("| ") for row in rows}
    assert tools == {"nonsmooth", "exudyn", "mujoco", "pymunk"}


def test_a_figure_that_nobody_measured_is_refused():
    with pytest.raises(measured.pages.PageError, match="'belt' has measured 'speed'"):
        measured.measured("belt", "speed")
