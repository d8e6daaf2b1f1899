"""Pages of runs: one file, nothing fetched, the run in it; and `--report`."""

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import nonsmooth
from nonsmooth import (
    ExpressionForce,
    Model,
    ModelError,
    PointMass,
    Run,
    SolveError,
    gallery,
    simulate,
)
from nonsmooth.app.cli import main
from nonsmooth.views import report as report_module
from nonsmooth.views.report import page, report
from oracles.scene_reader import Document


class Page(HTMLParser):
    """Elements of a page, and the text of its scripts, as a browser reads them."""

    def __init__(self, text):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.title = ""
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._in = ""

    def handle_data(self, data):
        if self._in == "script":
            self.scripts[-1] += data
        elif self._in == "title":
            self.title += data

    def of(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def document(self):
        return Document(base64.b64decode(self.scripts[0], validate=True))


@pytest.fixture(scope="module")
def belt():
    return simulate(gallery.build("belt"), until=2.0)


def test_page_is_complete(belt, tmp_path):
    path = belt.report(tmp_path / "run.html")
    assert path == tmp_path / "run.html"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    found = Page(text)
    assert found.title == belt.system.model.title
    metas = found.of("meta")
    assert {"charset": "utf-8"} in metas
    assert any(meta.get("name") == "viewport" for meta in metas)
    assert found.of("noscript")
    assert {"id": "nonsmooth"} in found.of("div")
    first, second = found.of("script")
    assert first == {"type": "application/octet-stream", "id": "scene"}
    assert second == {}
    assert found.document.header["run"]["t_end"] == belt.t_end
    # The viewer is whole: nothing in it ends its script.
    assert len(found.scripts[1].strip()) == len(report_module.viewer())


def opened(path):
    """Return the plots on which a page opens, panels of names."""
    return Page(path.read_text(encoding="utf-8")).document.header.get("plots")


def test_page_opens_on_what_the_model_wishes(tmp_path):
    plot = ("block.x", "sole", "block.vx")
    model = replace(gallery.build("belt"), run=Run(until=0.1, plot=plot))
    touch = ["sole.normal_force", "sole.friction_force"]
    assert opened(simulate(model).report(tmp_path / "run.html")) == [
        ["block.x"],
        touch,
        ["sole.slip_velocity", "block.vx"],
    ]


def test_page_refuses_a_wish_for_what_there_is_not(tmp_path, capsys):
    wrong = replace(gallery.build("belt"), run=Run(until=0.1, plot=("block.xx",)))
    with pytest.raises(
        ModelError, match=r"run: plot = 'block.xx'; did you mean 'block.x'"
    ):
        simulate(wrong).report(tmp_path / "run.html")
    nonsmooth.save(wrong, tmp_path / "wrong.yaml")
    page = tmp_path / "page.html"
    assert main(["run", str(tmp_path / "wrong.yaml"), "--report", str(page)]) != 0
    # Before anything is computed.
    assert "run: plot = 'block.xx'" in capsys.readouterr().err
    assert not page.exists()


def test_page_without_wishes_leaves_the_choice_to_the_viewer(belt, tmp_path):
    assert opened(belt.report(tmp_path / "run.html")) is None


def test_page_of_a_guide_opens_on_the_ends_of_its_block(tmp_path):
    """Not on three of the four halves of its faces."""
    result = simulate(gallery.build("slider_in_guide"), 0.01)
    assert opened(result.report(tmp_path / "run.html")) == [
        ["guide.front_force", "guide.rear_force"],
        ["guide.friction_force"],
        ["guide.slip_velocity"],
    ]


def test_nothing_is_fetched(belt, tmp_path):
    text = belt.report(tmp_path / "run.html").read_text(encoding="utf-8")
    found = Page(text)
    (policy,) = [
        meta["content"]
        for meta in found.of("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in str(policy).split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == "'unsafe-inline'"
    assert "connect-src" not in rules  # so that the default holds
    for tag, attributes in found.tags:
        assert not {"src", "href", "action"} & set(attributes), tag
        assert tag not in ("link", "iframe", "img", "object", "embed")


def test_title_cannot_break_out(belt, tmp_path):
    title = '</title><script>alert(1)</script> & "x"'
    path = report(belt, tmp_path / "run.html", title=title)
    found = Page(path.read_text(encoding="utf-8"))
    assert found.title == title
    assert len(found.scripts) == 2
    assert found.document.header["title"] == title


def test_script_cannot_end_early(belt, tmp_path, monkeypatch):
    (tmp_path / "report.js").write_text('const a = "</script><!-- <script>";')
    monkeypatch.setattr(report_module, "STATIC", tmp_path)
    found = Page(page(b"abc", "t"))
    assert len(found.scripts) == 2
    assert found.scripts[1].strip() == r'const a = "<\/script><\!-- <script>";'


def test_same_page(belt, tmp_path):
    first = belt.report(tmp_path / "a.html").read_bytes()
    assert first == belt.report(tmp_path / "b.html").read_bytes()


def test_long_run_fits(tmp_path):
    """A page of thousands of events has at most 2 MB."""
    result = simulate(gallery.build("compactor"), until=10.0)
    assert len(result.events) > 3000
    path = result.report(tmp_path / "run.html")
    assert path.stat().st_size <= 2_000_000
    header = Page(path.read_text(encoding="utf-8")).document.header
    # 2.5 % as measured: the ends of 4117 arcs alone take half of the page.
    assert header["sampling"]["tolerance"] <= 0.03
    assert len(header["events"]["rows"]) == len(result.events)


@pytest.mark.parametrize("name", ["run.txt", "run", "run.html.gz"])
def test_wrong_suffix(belt, tmp_path, name):
    with pytest.raises(ModelError, match=r"use \.html"):
        belt.report(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_missing_folder(belt, tmp_path):
    with pytest.raises(ModelError, match="no folder"):
        belt.report(tmp_path / "none" / "run.html")


def test_missing_build(belt, tmp_path, monkeypatch):
    monkeypatch.setattr(report_module, "STATIC", tmp_path / "static")
    with pytest.raises(FileNotFoundError, match=r"report\.js is missing.*\./dev web"):
        belt.report(tmp_path / "run.html")
    assert not (tmp_path / "run.html").exists()


def failing():
    """Return a model whose law has no value after 0.5 s."""
    return Model(
        title="law that ends",
        bodies=[PointMass(name="m", mass=1.0)],
        forces=[ExpressionForce(name="f", b="m", fx="sqrt(0.5 - t)")],
    )


def test_failed_run(tmp_path):
    with pytest.raises(SolveError) as error:
        simulate(failing(), until=1.0)
    assert error.value.result is not None
    path = error.value.result.report(tmp_path / "run.html")
    run = Page(path.read_text(encoding="utf-8")).document.header["run"]
    assert run["status"] == "failed"
    assert "f" in run["message"]


# ---- the command -----------------------------------------------------------------


def header_of(path):
    return Page(path.read_text(encoding="utf-8")).document.header


def test_command(tmp_path, capsys):
    path = tmp_path / "run.html"
    words = ["run", "belt", "--until", "1", "--set", "mu=0.25", "--set", "block.mass=2"]
    assert main([*words, "--report", str(path)]) == 0
    out = capsys.readouterr().out
    assert re.search(rf"^report +{re.escape(str(path))}$", out, re.MULTILINE)
    header = header_of(path)
    shown = {p["name"]: p for p in header["parameters"]}
    known = gallery.parameters("belt")
    assert list(shown) == [*(p.name for p in known), "block.mass"]
    assert shown["mu"]["value"] == 0.25  # the one used, as a number
    assert shown["block.mass"]["value"] == 2.0
    for p in known:
        assert (shown[p.name]["unit"], shown[p.name]["meaning"]) == (p.unit, p.meaning)
        assert p.name == "mu" or shown[p.name]["value"] == p.default


def test_command_with_json_prints_nothing_else(tmp_path, capsys):
    import json

    path = tmp_path / "run.html"
    assert main(["run", "belt", "--until", "1", "--json", "--report", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "finished"
    assert path.exists()


def test_command_with_a_file(tmp_path, capsys):
    from nonsmooth import io

    model = tmp_path / "fall.yaml"
    io.save(Model(bodies=[PointMass(name="m", mass=1.0)]), model)
    path = tmp_path / "run.html"
    words = ["run", str(model), "--until", "1", "--set", "m.mass=3"]
    assert main([*words, "--report", str(path)]) == 0
    header = header_of(path)
    assert header["title"] == "fall"  # the model has no title
    shown = {p["name"]: p["value"] for p in header["parameters"]}
    # Its name, not where it is.
    assert shown == {"file": "fall.yaml", "m.mass": 3.0}


def test_command_of_a_failing_run(tmp_path, capsys):
    from nonsmooth import io

    model = tmp_path / "ends.yaml"
    io.save(failing(), model)
    path = tmp_path / "run.html"
    words = ["run", str(model), "--until", "1", "--report", str(path)]
    assert main(words) == 1
    header = header_of(path)
    assert header["run"]["status"] == "failed"
    # What was computed: to where the law has a value.
    assert np.isclose(header["run"]["t_end"], 0.5, atol=1e-3)
    assert "report" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "hint"), [("run.pdf", "use .html"), ("none/run.html", "no folder")]
)
def test_command_refuses_before_it_computes(tmp_path, capsys, name, hint):
    words = ["run", "compactor", "--until", "1e6", "--report", str(tmp_path / name)]
    assert main(words) == 2
    assert hint in capsys.readouterr().err
