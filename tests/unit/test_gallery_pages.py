"""The gallery's pages: every system has one, markers and numbers fit, scripts run.

The scripts compare numbers with those of the papers themselves, by `near` and `within`;
a page whose text is no longer so fails to be filled.
"""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nonsmooth import gallery
from nonsmooth.views.figure import new_figure

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

pytest.importorskip("matplotlib")
# Scripts of the documentation, which is no package.
sys.path.insert(0, str(DOCS))
equations: Any = importlib.import_module("equations")
pages: Any = importlib.import_module("pages")

# Seconds of one page's script, its kernels compiled; those above are for slow runs.
SLOW = {"compactor", "free_standing", "crank_rocker", "flexible_slider"}
SLOW |= {"flexible_double_pendulum", "rods", "transverse_bars"}
SLOW |= {"elastic_gripper", "elastic_slider_crank"}
SYSTEMS = [
    pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
    for name in gallery.names()
]


def markdown(system):
    return (DOCS / "gallery" / f"{system}.md").read_text(encoding="utf-8")


def asked(text):
    """Return the numbers and figures that a page asks for."""
    figures = re.findall(r"\{\{ figure (\w+): ", text)
    return set(re.findall(r"\{\{ (\w+) \}\}", text)), set(figures)


# ---- all pages ---------------------------------------------------------------------


def test_every_system_has_a_page():
    written = {path.stem for path in (DOCS / "gallery").glob("*.md")}
    assert written == {*gallery.names(), "index"}
    scripts = {path.stem for path in (DOCS / "pages").glob("*.py")}
    assert scripts == {*gallery.names(), "__init__", "__main__"}


def test_every_page_is_in_the_menu_and_in_the_index():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    index = markdown("index")
    for system in gallery.names():
        assert f"gallery/{system}.md" in menu
        assert f"[`{system}`]({system}.md)" in index


@pytest.mark.parametrize("system", gallery.names())
def test_page_has_its_parts(system):
    text = markdown(system)
    numbers, figures = asked(text)
    assert {"viewer", "parameters"} <= numbers
    assert "sketch" in figures
    for part in ("## The model", "```eq\n", "## Run it", "```python\n"):
        assert part in text
    assert f"nonsmooth run {system} " in text


def test_no_place_of_this_machine_is_written():
    paths = [p for p in DOCS.rglob("*.*") if p.suffix not in (".png", ".pyc")]
    assert len(paths) > 40
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert str(Path.home()) + "/" not in text, path
        found = re.search(r"(?<![\w.:/])/(tmp|home|root|work|Users)/", text)
        assert not found, path


@pytest.mark.parametrize("system", SYSTEMS)
def test_script_gives_what_the_page_asks_for(system):
    page = pages.filled(system)
    numbers, figures = asked(markdown(system))
    assert numbers == {*page.numbers, "viewer", "parameters"}
    assert figures == set(page.figures)
    assert page.run.status == "finished"
    # The parameters that the viewer shows are those the run was made with.
    model = gallery.build(system, **page.parameters)
    assert model == page.run.system.model


def test_kept_screenshots_are_small():
    folder = DOCS / "images" / "pages"
    for system in (*gallery.names(), "index"):
        assert (folder / f"{system}.png").stat().st_size <= 60_000


def test_keys_of_the_viewer_are_documented():
    source = (ROOT / "web" / "src" / "ui" / "keys.ts").read_text(encoding="utf-8")
    table = re.search(r"PLAIN: Record<string, Action> = \{(.*?)\};", source, re.DOTALL)
    assert table
    keys = re.findall(r'^\s+"?([^":\n]+)"?: "', table[1], re.MULTILINE)
    names = {" ": "space", "ArrowLeft": "←", "ArrowRight": "→"}
    guide = (DOCS / "viewer.md").read_text(encoding="utf-8")
    text = guide.partition("## Keys")[2].partition("\n## ")[0]
    assert len(keys) > 8
    for key in keys:
        word = names.get(key, key)
        assert f"`{word}`" in text or word in re.findall(r"[^\s|,`]+", text), key


# ---- the means ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (-1.5e-08, ".1e", "−1.5e-8"),
        (2e10, ".0e", "2e10"),
        (-0.0004, ".2f", "0.00"),
        (19.574, ".2f", "19.57"),
    ],
)
def test_printed(value, form, text):
    assert pages.printed(value, form) == text


def test_numbers_are_checked():
    page = pages.Page("belt")
    page.number("good", 1.001, near=1.0, within=0.01)
    with pytest.raises(pages.PageError, match=r"belt: off is 1\.1, and the page says"):
        page.number("off", 1.1, near=1.0, within=0.01)
    with pytest.raises(pages.PageError, match="belt: bad is nan"):
        page.number("bad", float("nan"))
    with pytest.raises(pages.PageError, match="good is defined twice"):
        page.number("good", 2.0)
    with pytest.raises(pages.PageError, match="it is not so that it sticks"):
        page.check("it sticks", False)
    assert page.numbers == {"good": "1.001"}


def test_jumps_have_both_sides():
    found = pages.jumps(pages.run("incline"), ["sole.friction_force"], 100)
    t, force = found["t"], found["sole.friction_force"]
    twice = np.flatnonzero(np.diff(t) == 0.0)
    assert len(twice) == 1
    # m g cos(20 deg) mu downwards, then m g sin(20 deg): closed form, to round-off
    # and the swing of the block on its spring, 1e-9 of the force.
    limit = 9.81 * np.cos(np.radians(20.0))
    assert force[twice[0]] == pytest.approx(-0.3 * limit, rel=1e-6)
    stuck = 9.81 * np.sin(np.radians(20.0))
    assert force[twice[0] + 1] == pytest.approx(stuck, rel=1e-6)
    assert np.all(np.diff(t) >= 0.0)


@pytest.fixture
def hooks():
    pytest.importorskip("material")
    return importlib.import_module("hooks")


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Return a page with one number and one figure, in a cache of its own."""
    monkeypatch.setattr(pages, "CACHE", tmp_path)
    page = pages.Page("belt")
    page.number("speed", 0.1)
    page.figure("sketch", new_figure(2.0, 1.0))
    page.run = pages.run("belt", 0.1)
    (tmp_path / "belt").mkdir()
    pages.write(page, tmp_path / "belt")
    return page


PAGE = "{{ viewer }} {{ figure sketch: At {{ speed }} m/s. }} {{ parameters }}"


def test_markers_are_replaced(made, hooks):
    text = hooks.filled(PAGE, "belt")
    assert "belt.report.html" in text
    assert "At 0.1 m/s." in text
    assert "belt.sketch.svg" in text
    assert "<code>mu0</code>" in text
    assert "{{" not in text
    files = pages.files("belt")
    assert set(files) == {"belt.sketch.svg", "belt.report.html"}
    assert "<script" in files["belt.report.html"].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PAGE + "{{ weight }}", r"nobody defines \{\{ weight \}\}"),
        (PAGE + "{{ figure no: x }}", "nobody draws"),
        (PAGE + "{{ speed", "this is no marker"),
        (PAGE.replace("{{ speed }}", "1"), "does not ask for speed"),
        ("{{ viewer }}", "does not ask for figure sketch, parameters, speed"),
    ],
)
def test_markers_that_do_not_fit_are_errors(made, hooks, text, message):
    with pytest.raises(pages.PageError, match=message):
        hooks.filled(text, "belt")


def test_cache_notices_sources(monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "CACHE", tmp_path)
    assert not pages.is_current("belt")
    (tmp_path / "belt").mkdir()
    (tmp_path / "belt" / pages.STAMP).write_text(pages.stamp("belt"))
    assert pages.is_current("belt")
    assert pages.stamp("belt") != pages.stamp("incline")
    source = pages.HERE / "belt.py"
    changed = {source: source.read_bytes() + b"\n"}
    real = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda p: changed.get(p) or real(p))
    assert not pages.is_current("belt")


def test_failing_page_is_reported():
    with pytest.raises(pages.PageError, match=r"no module docs/pages/nobody\.py"):
        pages.make_apart("nobody")


# ---- equations ---------------------------------------------------------------------


def test_equations_in_blocks():
    text = "```eq\nF_N = max(0, K d^n)        (1–3)\n```"
    assert equations.replaced(text) == (
        "<div class='eq' style='grid-template-columns:repeat(1,max-content) 1fr;"
        "grid-template-rows:auto'><span style='grid-area:1/1/1/2'>"
        "<i>F</i><sub><i>N</i></sub> = max(0, <i>K</i> <i>d</i><sup><i>n</i></sup>)"
        "</span><span class='eq-number' style='grid-area:1/2'>(1–3)</span></div>"
    )


def test_what_is_aligned_in_the_text_stands_in_columns():
    found = equations.block("a = b       c = d\n\nlonger = e  so\n        = f\n")
    assert re.findall("grid-area:([^']*)'>(.*?)</span>", found) == [
        ("1/1/1/3", "<i>a</i> = <i>b</i>"),
        ("1/3/1/4", "<i>c</i> = <i>d</i>"),
        ("3/1/3/3", "longer = <i>e</i>"),
        ("3/3/3/4", "so"),
        ("4/2/4/4", "= <i>f</i>"),
    ]
    assert "grid-template-rows:auto 0.6em auto auto" in found


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("lam+ = mu0 z", "<i>λ</i><sup>+</sup> = <i>μ</i><sub>0</sub> <i>z</i>"),
        ("S* + b", "<i>S</i><sup>&#42;</sup> + <i>b</i>"),
        ("a <= 1e-6", "<i>a</i> ≤ 1e-6"),
        ("e^(−x/c)", "<i>e</i><sup>−<i>x</i>/<i>c</i></sup>"),
        ("∫ gap dt", "∫ gap d<i>t</i>"),
        ("v_{static} Kg", "<i>v</i><sub>static</sub> <i>Kg</i>"),
    ],
)
def test_quantities_and_words(text, shown):
    assert equations.inline(text) == shown


def test_equations_in_lines():
    text = "With $μ_0 < 1$ and `$x$`:\n\n```text\n$y$ $z$\n```\n"
    assert equations.replaced(text) == (
        "With <span class='eq-in'><i>μ</i><sub>0</sub> &lt; 1</span> and `$x$`:\n\n"
        "```text\n$y$ $z$\n```\n"
    )


def test_letters_with_marks_stay_together():
    assert equations.inline("q̈_{ab}") == "<i>q̈</i><sub><i>ab</i></sub>"
