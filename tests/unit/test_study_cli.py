"""`nonsmooth sweep`, figures and the page of a study."""

import gc
import json
import re
import sqlite3
import weakref
from typing import Any

import numpy as np
import pytest

from nonsmooth import ModelError
from nonsmooth.app.cli import main
from nonsmooth.app.sweep import _words
from nonsmooth.elements.base import field_types
from nonsmooth.study import Final, Grid, Progress, Study, bifurcation, sweep
from nonsmooth.study.reducers import Reducer
from nonsmooth.views.study_page import document

TEXT = """\
nonsmooth: 1
study:
  title: a block <on> a belt
  system: belt
  settings: {k: 120}
  parameters:
    speed: {type: Grid, low: 0.1, high: 0.3, n: 3}
    mu: [0.1, 0.2]
  outputs:
    x: {type: Final, column: block.x}
    points: {type: Stroboscopic, column: block.x, period: 0.1/speed, n: 2}
  until: 2
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "study.yaml"
    path.write_text(TEXT)
    return path


def test_a_study_runs_and_writes_its_files(study, capsys):
    words = ["--save", "t.csv", "--plot", "map.png", "--page", "page.html"]
    assert main(["sweep", "study.yaml", *words]) == 0
    said = capsys.readouterr().out
    assert "a block <on> a belt" in said
    assert "6, 6 done, in study.db" in said
    assert (study.parent / "study.db").exists()
    assert (study.parent / "map.png").stat().st_size > 5000
    head = (study.parent / "t.csv").read_text().splitlines()[0]
    assert head.startswith("speed,mu,x,points.0,points.1,status")
    page = (study.parent / "page.html").read_text()
    assert "a block &lt;on&gt; a belt" in page
    found = re.search(r'id="study">(.*)</script>', page)
    assert found is not None
    data = json.loads(found[1])
    assert data["columns"]["speed"] == [0.1, 0.1, 0.2, 0.2, 0.3, 0.3]
    assert data["command"] == "nonsmooth run belt --set k=120"
    assert "http" not in page.replace("http-equiv", "")


def test_a_study_goes_on_and_says_what_changed(study, capsys):
    assert main(["sweep", "study.yaml", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers == {
        "runs": 6,
        "done": 6,
        "failed": 0,
        "doubted": 0,
        "store": "study.db",
    }
    study.write_text(TEXT.replace("until: 2", "until: 3"))
    assert main(["sweep", "study.yaml"]) == 2
    error = capsys.readouterr().err
    assert "the study has changed" in error
    assert "until was 2.0 and is 3.0" in error


def test_status_runs_nothing(study, capsys):
    """It reads what another process writes; without an index there is nothing."""
    assert main(["sweep", "study.yaml", "--status"]) == 2
    assert "no such index" in capsys.readouterr().err
    assert main(["sweep", "study.yaml"]) == 0
    with sqlite3.connect("study.db") as db:
        db.execute("UPDATE runs SET status = 'waiting' WHERE k > 3")
        db.execute("UPDATE runs SET status = 'started' WHERE k = 2")
    capsys.readouterr()
    assert main(["sweep", "study.yaml", "--status", "--failures"]) == 0
    said = capsys.readouterr().out
    assert "6, 3 done, in study.db" in said
    assert "left         1 started, 2 waiting" in said
    assert "run 2 (speed = 0.2, mu = 0.1): it was interrupted" in said
    assert main(["sweep", "study.yaml", "--status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 3


def test_failures_are_listed(study, capsys):
    main(["sweep", "study.yaml"])
    db = sqlite3.connect("study.db")
    with db:
        db.execute("UPDATE runs SET status='failed', message='it jams' WHERE k=4")
    db.close()
    capsys.readouterr()
    assert main(["sweep", "study.yaml", "--failures"]) == 1
    said = capsys.readouterr().out
    assert "run 4 (speed = 0.3, mu = 0.1): it jams" in said
    assert main(["sweep", "study.yaml", "--rerun"]) == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["none.yaml"], "none.yaml: No such file"),
        (["belt_sped"], "did you mean 'belt_speed'"),
        (["study.yaml", "--save", "t.xls"], "use .csv, .parquet"),
        (["study.yaml", "--plot", "no/map.png"], "no folder 'no'"),
        (["study.yaml", "--workers", "0"], "workers = 0"),
        (["study.yaml", "--executor", "cluster"], "invalid choice"),
        (["study.yaml", "--address", "tcp://x"], "executor='dask'"),
        (["study.yaml", "--sav", "t.csv"], "did you mean '--save'"),
    ],
)
def test_bad_commands_are_refused(study, capsys, words, why):
    assert main(["sweep", *words]) == 2
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1
    assert not (study.parent / "study.db").exists()


def test_built_in_studies_are_listed(capsys):
    assert main(["sweep"]) == 0
    said = capsys.readouterr().out
    assert "compactor_basins" in said
    assert "belt's speed" in said


def test_progress_in_words():
    words = _words(Progress(n=1000, done=410, failed=2, rate=38.46, left=5025.0))
    assert words == "412 of 1000, 38.5/s, 1:23:45 left, 2 failed"
    assert "left" not in _words(
        Progress(n=9, done=0, failed=0, rate=0.0, left=float("nan"))
    )


# -- pictures --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    return sweep(
        "belt",
        {"speed": Grid(low=0.1, high=0.3, n=3), "mu": [0.1, 0.2]},
        {"x": Final(column="block.x")},
        until=1.0,
    )


def test_map_and_curve(table):
    whole = table.plot()
    (axes, bar) = whole.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("speed (m/s)", "mu")
    assert bar.get_ylabel() == "x (m)"
    np.testing.assert_array_equal(
        np.asarray(axes.collections[0].get_array()).ravel(), table["x"]
    )
    curve = table.plot("speed")
    np.testing.assert_array_equal(curve.axes[0].lines[0].get_ydata(), table["x"])
    with pytest.raises(ModelError, match="did you mean 'speed'"):
        table.plot("sped")


def test_diagram_is_drawn(tmp_path):
    diagram = bifurcation(
        "belt", "mu0", [0.45, 0.6], "block.x", period=1.0, settle=1, n=2
    )
    figure = diagram.plot(str(tmp_path / "diagram.svg"))
    assert len(figure.axes[0].lines) == 2
    lengths = [np.size(line.get_xdata()) for line in figure.axes[0].lines]
    assert lengths == [4, 4]


def test_page_says_what_has_no_value(table):
    data = document(table)
    assert data["outputs"] == ["x"]
    assert len(data["columns"]["status"]) == 6
    with pytest.raises(ModelError, match=r"use \.html"):
        table.page("study.txt")


# -- memory ----------------------------------------------------------------------------


def test_results_do_not_pile_up():
    """However many runs there are, few results are alive at a time."""
    alive: list[weakref.ref] = []
    most = [0]

    def watch(result):
        alive.append(weakref.ref(result))
        if len(alive) % 20 == 0:
            gc.collect()
        most[0] = max(most[0], sum(ref() is not None for ref in alive))
        return 0.0

    study = Study(
        system="belt",
        parameters={"speed": Grid(low=0.1, high=0.2, n=80)},
        outputs={"f": watch},
        until=0.01,
    )
    sweep(study, workers=2)
    assert len(alive) == 80
    # Those at work, and those that wait for the collector: it comes every 20 runs.
    assert most[0] <= 30


def test_a_window_longer_than_the_run_is_refused(study, capsys):
    output = "x: {type: Mean, column: block.x, last: 7}"
    study.write_text(TEXT.replace("x: {type: Final, column: block.x}", output))
    assert main(["sweep", "study.yaml"]) == 2
    assert "output 'x': last = 7 s; a run ends at 2 s" in capsys.readouterr().err


def test_a_model_is_no_study_and_a_study_no_model(study, capsys):
    assert main(["run", "study.yaml"]) == 2
    assert (
        "this is a study, not a model: use nonsmooth sweep" in capsys.readouterr().err
    )
    study.write_text("nonsmooth: 1\ntitle: a\nbodies: []\n")
    assert main(["sweep", "study.yaml"]) == 2
    assert "this is a model, not a study: use nonsmooth run" in capsys.readouterr().err


# ---- one value for several fields, values in step --------------------------------

BOTH = {"mass": ("upper.mass", "lower.mass")}


def two_masses(**fields):
    ends = {"x": Final(column="upper.x")}
    given: dict[str, Any] = {"parameters": {"mass": [1.0, 2.0]}, "paths": BOTH}
    given |= {"until": 0.1, **fields}
    return Study(system="two_blocks", outputs=ends, **given)


def masses(model: Any) -> list[float]:
    return [model.element(name).mass for name in ("upper", "lower")]


def test_one_parameter_for_several_fields(tmp_path):
    store = tmp_path / "both.db"
    table = sweep(two_masses(until="0.1*mass"), store=store)
    assert table.counts() == {"done": 2}
    for one in (table, table.load(store)):
        assert masses(one.model(1)) == [2.0, 2.0]
        assert one.until(1) == pytest.approx(0.2)  # an expression knows the name
        assert one.label("mass") == "mass (kg)"
        assert document(one)["paths"] == {"mass": ("upper.mass", "lower.mass")}
    # Nothing is computed again.
    again = sweep(two_masses(until="0.1*mass"), store=store)
    assert again["seconds"].tolist() == table["seconds"].tolist()


def test_a_setting_for_several_fields(tmp_path):
    study = two_masses(parameters={"mu_upper": [0.1]}, settings={"mass": 3.0})
    assert masses(sweep(study).model(0)) == [3.0, 3.0]


def test_several_fields_in_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = TEXT.replace("mu: [0.1, 0.2]", "friction: [0.1, 0.2]")
    text = text.replace("  until: 2", "  paths: {friction: mu}\n  until: 2")
    (tmp_path / "study.yaml").write_text(text)
    assert main(["sweep", "study.yaml", "--save", "t.csv"]) == 0
    assert (tmp_path / "t.csv").read_text().startswith("speed,friction,x,")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"paths": {"weight": ("upper.mass",)}}, "paths = 'weight'; no parameter and"),
        ({"paths": {"mass": ()}}, "paths = 'mass'; give a name, and the paths"),
        ({"parameters": {"mass": [1], "upper.mass": [2]}}, "it is 'mass' as well"),
    ],
)
def test_paths_that_make_no_sense(fields, words):
    with pytest.raises(ModelError, match=words):
        two_masses(**fields)


def test_values_in_step_are_plotted_as_a_curve():
    values = {"m": [1.0, 2.0, 4.0], "k": [100.0, 150.0, 250.0]}
    table = sweep(
        "belt", values, {"x": Final(column="block.x")}, until=0.1, combine="zip"
    )
    (axes,) = table.plot().axes
    (line,) = axes.lines
    assert np.asarray(line.get_xdata()).tolist() == values["m"]
    assert line.get_linestyle() == "-"
    assert axes.get_xlabel() == "m (kg), in step with k"
    assert axes.get_ylabel() == "x (m)"


def test_help_names_all_reducers(capsys):
    assert main(["sweep", "--help"]) == 0
    said = capsys.readouterr().out
    fields = {"column", "last", "element", "kind", "period", "work", "n"}
    for name, kind in Reducer.kinds.items():
        if not name.startswith("_"):
            assert re.search(rf"\b{name}\b", said), name
            assert fields >= set(field_types(kind)) - {"columns", "tolerance"}, name
