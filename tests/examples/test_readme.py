"""README and documentation: code runs as written, and what they say is so."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk

from nonsmooth import gallery, io, simulate
from nonsmooth.study.definition import load_study

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text(path), re.DOTALL | re.M)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def run(path: Path) -> dict[str, Any]:
    """Run the Python blocks of a page, one after the other."""
    space: dict[str, Any] = {"__name__": f"page_{path.stem}"}
    for block in blocks(path, "python"):
        exec(compile(block, name(path), "exec"), space)
    return space


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=name)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(page)


@pytest.fixture
def readme_results(tmp_path, monkeypatch):
    """Run the examples of the README, each alone; return their results."""
    monkeypatch.chdir(tmp_path)
    results: list[Any] = []
    for block in blocks(ROOT / "README.md", "python"):
        assert len([line for line in block.splitlines() if line.strip()]) <= 10
        space: dict[str, Any] = {"__name__": "readme"}
        exec(compile(block, "README.md", "exec"), space)
        results.append(space["result"])
    return results


def test_readme_pendulum_is_right(readme_results, tmp_path):
    result, _, _ = readme_results
    # Elliptic functions: sin(phi/2) = k sn(K - w t), phi from the downward vertical,
    # for a uniform rod of 1 m released at 90 degrees. Tolerance: that of the run.
    w, k = np.sqrt(1.5 * 9.81), np.sin(np.pi / 4)
    t = np.array([0.5, 1.0])
    sn = ellipj(float(ellipk(k**2)) - w * t, k**2)[0]
    theta = result.sample(t, "rod.theta")["rod.theta"]
    np.testing.assert_allclose(theta, 2 * np.arcsin(k * sn) - np.pi / 2, atol=1e-6)
    assert (tmp_path / "pendulum.png").stat().st_size > 10_000


def test_readme_ell_is_right(readme_results):
    """Its foot carries it, on all its width: the load is in its middle third."""
    _, _, result = readme_results
    last = result.sample(1.0)
    assert result.system.contacts == ("floor",)
    # It has not quite come to rest.
    assert last["floor.normal_force"][0] == pytest.approx(2.0 * 9.81, rel=0.02)
    assert last["floor.width"][0] == pytest.approx(0.3, rel=0.1)


def test_readme_box_is_right(readme_results, tmp_path):
    _, result, _ = readme_results
    # The floor accelerates by 5 sin(10 t) m/s^2 against the box, which lets go where
    # that is mu_static g, and is carried with mu g until it has the floor's velocity.
    # Tolerance: that of the run.
    away = np.arcsin(0.4 * 9.81 / 5.0) / 10.0
    speed = 0.5 * np.cos(10.0 * away)
    stick = brentq(
        lambda t: speed - 0.3 * 9.81 * (t - away) - 0.5 * np.cos(10.0 * t),
        away + 0.1,
        0.5,
    )
    first, second = result.events[:2]
    assert (first.kind, second.kind) == ("break_away", "stick")
    assert [first.t, second.t] == pytest.approx([away, stick], abs=1e-6)
    assert (tmp_path / "box.png").stat().st_size > 10_000


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "yaml")], ids=name)
def test_yaml_blocks_are_models_or_studies(page, tmp_path):
    for block in blocks(page, "yaml"):
        if re.search("^study:", block, re.M):
            path = tmp_path / "study.yaml"
            path.write_text(block, encoding="utf-8")
            assert load_study(path).parameters
            continue
        model = io.loads(
            block, gallery=lambda system, values: gallery.build(system, **values)
        )
        assert simulate(model, until=0.1).status == "finished"


def test_commands_of_the_readme_exist():
    """Every option that the README shows is one the command knows."""
    shown = re.findall(r"^    nonsmooth (\w+)(.*)", text(ROOT / "README.md"), re.M)
    assert {"run", "gallery", "serve", "sweep", "draw"} <= {name for name, _ in shown}
    for command, rest in shown:
        code = f"from nonsmooth.app.cli import main; main(['{command}', '--help'])"
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, capture_output=True, text=True)
        for option in re.findall(r"--[\w-]+", rest):
            assert option in done.stdout, f"{command} {option}"


def anchors(path: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", text(path), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in heads}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", text(page)):
        if target.startswith("http"):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path), target


def test_references_are_complete():
    bibliography = text(DOCS / "references.bib")
    keys = set(re.findall(r"^@\w+\{(\w+),", bibliography, re.M))
    cited: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        cited |= set(re.findall(r"\[([A-Z]\w+\d{4})\]_", text(path)))
    for path in PAGES:
        cited |= set(re.findall(r"\[([A-Z]\w+\d{4})\]", text(path)))
    assert cited == keys


def test_summary_keys_are_documented():
    guide = text(DOCS / "guide.md")
    table = guide.partition("### Summary")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`(\w+)`", table))
    summary = simulate(gallery.build("slider_crank"), until=0.1).summary()
    for key in (*summary, *summary["options"], *summary["cost"]):
        assert key in documented, key


def test_pictures_are_small_and_used():
    shown = "".join(text(page) for page in PAGES)
    for path in (DOCS / "images").glob("*.png"):
        assert path.stat().st_size < 100_000, path.name
        assert f"images/{path.name}" in shown, path.name


# The first build runs the systems of the gallery, for a minute or two.
@pytest.mark.slow
def test_documentation_builds(tmp_path):
    pytest.importorskip("material")
    words = ["build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    page = text(tmp_path / "site" / "reference" / "elements.html")
    assert "SpringDamper" in page
    for system in gallery.names():
        folder = tmp_path / "site" / "gallery"
        page = text(folder / f"{system}.html")
        assert "{{" not in page
        # All that the page shows is there: pictures and the live run.
        for file in re.findall(rf'(?:src|href)="({system}\.[^"]+)"', page):
            assert (folder / file).exists(), file
        assert f'<iframe src="{system}.report.html"' in page
    # Nothing is fetched from the web by a reader.
    for path in (tmp_path / "site").rglob("*.html"):
        assert not re.search(
            r'(src|href)="https?://(?!squidfunk)[^"]*\.(js|css)', text(path)
        )
