"""Sweeps: points, paths, reducers against closed forms, tables, refusals."""

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

from nonsmooth import ModelError, gallery, save, simulate
from nonsmooth.elements.expressions import evaluate
from nonsmooth.errors import NonsmoothWarning
from nonsmooth.study import (
    AtEvents,
    Between,
    Count,
    EnergyPerCycle,
    Final,
    FirstTime,
    Grid,
    Listed,
    Maximum,
    Mean,
    Minimum,
    Period,
    Sequence,
    Span,
    Stroboscopic,
    Study,
    Table,
    load_study,
    sweep,
)
from nonsmooth.study.design import points_of
from nonsmooth.study.ready import names, path_of
from nonsmooth.study.settings import with_field
from oracles.stick_slip import Belt

END = {"x": Final(column="block.x")}


def points(parameters, **changes):
    options: dict[str, Any] = {"combine": "cross", "sampling": "random"}
    options |= {"samples": 0, "seed": 0}
    options |= changes
    return points_of(parameters, **options)


# -- points ----------------------------------------------------------------------------


def test_crossed_points_are_all_pairs_in_order():
    found = points({"a": Listed(values=(1, 2)), "b": Grid(low=0.0, high=1.0, n=3)})
    assert [tuple(p.values()) for p in found] == [
        (a, b) for a in (1, 2) for b in (0.0, 0.5, 1.0)
    ]
    assert found.dims == {"a": 2, "b": 3}


def test_zipped_points_go_in_step():
    found = points(
        {"a": Listed(values=(1, 2, 3)), "b": Listed(values=("x",))}, combine="zip"
    )
    assert [tuple(p.values()) for p in found] == [(1, "x"), (2, "x"), (3, "x")]


def test_logarithmic_grid():
    grid = Grid(low=1e-3, high=10.0, n=5, scale="log")
    found = np.array(grid.listed(), dtype=float)
    np.testing.assert_allclose(found, [1e-3, 1e-2, 0.1, 1.0, 10.0], rtol=1e-14)


@pytest.mark.parametrize("sampling", ["random", "sobol"])
def test_drawn_points_follow_their_seed(sampling):
    own = {
        "a": Between(low=-1.0, high=3.0),
        "b": Between(low=1.0, high=1e4, scale="log"),
    }
    first = points(own, sampling=sampling, samples=200, seed=5)
    assert first == points(own, sampling=sampling, samples=200, seed=5)
    assert first != points(own, sampling=sampling, samples=200, seed=6)
    a, b = np.array(first.columns["a"]), np.array(first.columns["b"])
    assert -1.0 <= a.min() < a.max() <= 3.0
    assert 1.0 <= b.min() < b.max() <= 1e4
    # A mean of 200 draws is within 4 standard deviations of the middle.
    assert abs(a.mean() - 1.0) < 4.0 * 4.0 / math.sqrt(12.0 * 200.0)
    assert abs(np.log10(b).mean() - 2.0) < 4.0 * 4.0 / math.sqrt(12.0 * 200.0)


def test_sobol_points_fill_evenly():
    """Each of 16 equal cells of the square has one of the first 16 points."""
    own = {"a": Between(low=0.0, high=1.0), "b": Between(low=0.0, high=1.0)}
    found = points(own, sampling="sobol", samples=16, seed=3)
    cells = {
        (int(4 * p["a"]), int(4 * p["b"])) for p in found if isinstance(p["a"], float)
    }
    assert len(cells) == 16


def test_drawn_points_are_crossed_with_listed_ones():
    found = points(
        {"a": Between(low=0.0, high=1.0), "b": Listed(values=(1, 2, 3))}, samples=4
    )
    assert found.dims == {"b": 3, "sample": 4}
    assert len(found) == 12
    assert found.columns["a"][:4] == found.columns["a"][4:8]


# -- paths -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("contacts.sole.friction.mu", lambda m: m.contacts[0].friction.mu),
        ("sole.friction.mu", lambda m: m.contacts[0].friction.mu),
        ("bodies.block.position.0", lambda m: m.bodies[2].position[0]),
        ("bodies.ground.points.wall.1", lambda m: m.bodies[0].points["wall"][1]),
        ("bodies.belt.x.rate", lambda m: m.bodies[1].x.rate),
        ("forces.spring.stiffness", lambda m: m.forces[0].stiffness),
    ],
)
def test_paths_lead_to_numbers(path, read):
    model = gallery.build("belt")
    assert read(with_field(model, path, 0.125, path)) == 0.125
    assert read(model) != 0.125


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("contacts.sol.friction.mu", "did you mean 'sole'"),
        ("contacts.sole.friction.mu_statc", "did you mean 'mu_static'"),
        ("bodies.block.position.2", "give 0 to 1"),
        ("bodies.block.position", "only numbers"),
        ("bodies.ground.points.wal.0", "did you mean 'wall'"),
        ("contacts.sole", "name a field"),
    ],
)
def test_wrong_paths_are_refused(path, why):
    with pytest.raises(ModelError, match=why):
        with_field(gallery.build("belt"), path, 0.125, path)


def test_expressions_have_values():
    assert evaluate("2*pi/w", {"w": 420.0}, "x") == 2.0 * math.pi / 420.0
    values = {"a": 2.0, "b": -3.0}
    text = "where(a > 1, hypot(a, b) + max(a, b)**3 - mod(7, a), -b)"
    assert evaluate(text, values, "x") == math.hypot(2.0, -3.0) + 8.0 - 1.0
    with pytest.raises(ModelError, match="not a finite number at a = 2, b = -3"):
        evaluate("log(b)", values, "x")


# -- reducers --------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.045, 0.21])
def test_reducers_of_the_belt_against_its_closed_form(speed):
    """The block sticks and slips; the oracle is exact, the run's rtol is 1e-10."""
    belt = Belt(speed=speed, mu0=0.47, mu=0.26, stiffness=140.0)
    table = sweep(
        "belt",
        {"speed": [speed]},
        {
            "period": Period(element="sole", kind="break_away"),
            "first": FirstTime(kind="break_away"),
            "sticks": Count(kind="stick", element="sole"),
            "mean": Mean(column="block.vx", last="speed*0 + 2"),
            "force": Mean(column="sole.normal_force"),
            "top": Maximum(column="block.x"),
            "at": AtEvents(column="block.x", kind="break_away", n=2),
            "words": Sequence(last=2.0),
            "spring": EnergyPerCycle(work="belt", period=2.0),
        },
        settings={"mu0": 0.47, "mu": 0.26, "k": 140.0},
        until=16.0,
        rtol=1e-10,
    )
    assert table.counts() == {"done": 1}
    period = 2.0 * belt.surplus / speed + belt.slip_time
    assert table["period"][0] == pytest.approx(period, rel=1e-8)
    assert table["first"][0] == pytest.approx(belt.first_slip, rel=1e-8)
    stretch = 0.47 * 9.81 / 140.0
    assert table["at"][0] == pytest.approx([stretch, stretch], rel=1e-7)
    assert table["force"][0] == pytest.approx(9.81, rel=1e-9)
    n = math.floor((16.0 - belt.first_slip - belt.slip_time) / period) + 1
    assert table["sticks"][0] == n
    assert set(table["words"][0].split(", ")) <= {"sole break_away", "sole stick"}
    # The spring's stretch at the top of a slip: its middle and its amplitude.
    top = 0.26 * 9.81 / 140.0 + math.hypot(belt.surplus, speed / belt.frequency)
    # Extremes are read at quarters of steps: second order in a quarter of a step.
    assert table["top"][0] == pytest.approx(top, rel=2e-3)
    result = simulate(
        gallery.build("belt", speed=speed, mu0=0.47, mu=0.26, k=140.0), 16.0, rtol=1e-10
    )
    x = result.sample([14.0, 16.0], "block.x")["block.x"]
    assert table["mean"][0] == pytest.approx((x[1] - x[0]) / 2.0, abs=1e-12)


def test_means_by_quadrature_are_exact_for_what_is_smooth():
    """A pendulum's drive force is smooth; dense samples by Simpson are the oracle."""
    from scipy.integrate import simpson

    result = simulate(gallery.build("slider_crank"), 1.0, rtol=1e-10)
    t = np.linspace(0.3, 1.0, 20001)
    y = result.sample(t, "motor.torque")["motor.torque"]
    found = Mean(column="motor.torque", last=0.7).reduce(result, {})
    # Dense output of forces is of lower order than the states between steps.
    assert found == pytest.approx(simpson(y, x=t) / 0.7, rel=1e-6, abs=1e-6)
    assert Minimum(column="motor.torque").reduce(result, {}) == pytest.approx(
        np.min(result.sample(np.linspace(0, 1, 20001), "motor.torque")["motor.torque"]),
        rel=2e-2,
    )
    spread = Span(column="motor.torque").reduce(result, {})
    assert spread > 0.0


def test_stroboscopic_points_of_a_forced_motion_repeat():
    result = simulate(gallery.build("slider_crank", speed=8.0), 5.0)
    found = Stroboscopic(column="slider.vx", period="2*pi/speed", n=4).reduce(
        result, {"speed": 8.0}
    )
    assert len(found) == 4
    np.testing.assert_allclose(found, found[-1], atol=1e-6)


# -- sweeps ----------------------------------------------------------------------------


def test_a_sweep_is_the_loop_it_stands_for():
    table = sweep(
        "belt",
        {"speed": [0.1, 0.2], "bodies.block.position.0": [0.0, 0.01]},
        END,
        until=1.3,
    )
    k = 0
    for speed in (0.1, 0.2):
        for x in (0.0, 0.01):
            model = with_field(
                gallery.build("belt", speed=speed), "block.position.0", x, ""
            )
            expected = simulate(model, 1.3).sample(1.3, "block.x")["block.x"][0]
            assert table["x"][k] == expected
            assert table.point(k) == {"speed": speed, "bodies.block.position.0": x}
            k += 1


def test_choices_and_functions():
    table = sweep(
        "compactor",
        {"start": ["equilibrium", "touching"]},
        {"n": lambda result: len(result.events), "word": lambda result: result.status},
        until=0.02,
    )
    assert table["start"].tolist() == ["equilibrium", "touching"]
    assert table["word"].tolist() == ["finished", "finished"]
    assert all(table["n"] > 0)


def test_a_run_that_fails_is_listed_and_others_go_on():
    def picky(result):
        if result.system.model.forces[0].stiffness > 150.0:
            raise RuntimeError("too stiff for me")
        return 1.0

    table = sweep("belt", {"k": [100.0, 200.0]}, {"f": picky}, until=0.1)
    assert table["status"].tolist() == ["done", "failed"]
    assert table.failures() == {1: "RuntimeError: too stiff for me"}
    assert math.isnan(table["f"][1])


def test_doubts_are_in_the_table():
    table = sweep(
        "slider_crank",
        {"speed": [10.0]},
        {"x": Final(column="slider.x")},
        until=2.0,
        method="euler",
        step=2e-2,
    )
    assert "energy" in table["doubts"][0] or "joints" in table["doubts"][0]


def test_models_and_files_are_swept(tmp_path):
    model = gallery.build("belt", mu0=0.5)
    save(model, tmp_path / "belt.yaml")
    (tmp_path / "study.yaml").write_text(
        "nonsmooth: 1\nstudy:\n  system: belt.yaml\n  until: 1\n"
        "  parameters:\n    sole.friction.mu: [0.2, 0.3]\n"
        "  outputs:\n    x: {type: Final, column: block.x}\n"
    )
    from_file = sweep(load_study(tmp_path / "study.yaml"))
    from_model = sweep(model, {"sole.friction.mu": [0.2, 0.3]}, END, until=1.0)
    np.testing.assert_array_equal(from_file["x"], from_model["x"])
    assert from_file["x"][0] != from_file["x"][1]


@pytest.mark.parametrize("name", names())
def test_built_in_studies_are_valid(name):
    from nonsmooth.study.definition import prepare

    study = load_study(path_of(name))
    assert study.title
    if name != "free_standing_drift":  # building it settles a body, slow
        assert prepare(study).digest


# -- tables ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    return sweep(
        "belt",
        {"speed": [0.1, 0.2, 0.3], "mu": [0.2, 0.3]},
        {**END, "points": Stroboscopic(column="block.x", period=0.25, n=3)},
        until=1.0,
    )


def test_table_in_a_notebook(table):
    shown = table._repr_html_()
    assert shown.startswith("<p>Table of ")
    assert all(f"<th>{name}</th>" in shown for name in table.parameters)


def test_table_to_pandas(table):
    frame = table.to_pandas()
    assert list(frame.columns[:4]) == ["speed", "mu", "x", "points"]
    assert len(frame) == 6


def test_table_to_xarray(table):
    data = table.to_xarray()
    assert data["x"].dims == ("speed", "mu")
    assert data["points"].shape == (3, 2, 3)
    assert float(data["x"].sel(speed=0.3, mu=0.2)) == table["x"][4]


def test_drawn_table_to_xarray():
    drawn = sweep(
        "belt",
        {"speed": Between(low=0.1, high=0.3), "mu": [0.1, 0.2]},
        END,
        until=0.1,
        samples=3,
    )
    data = drawn.to_xarray()
    assert data["x"].dims == ("mu", "sample")
    np.testing.assert_array_equal(data["speed"].to_numpy(), drawn["speed"][:3])


def test_table_to_csv_and_parquet(table, tmp_path):
    import pandas

    table.save(tmp_path / "table.csv")
    table.save(tmp_path / "table.parquet")
    for frame in (
        pandas.read_csv(tmp_path / "table.csv"),
        pandas.read_parquet(tmp_path / "table.parquet"),
    ):
        np.testing.assert_array_equal(frame["x"], table["x"])
        assert frame["points.2"][0] == table["points"][0][2]
    with pytest.raises(ModelError, match=r"use \.csv or \.parquet"):
        table.save(tmp_path / "table.xls")


# -- refusals --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "parameters", "outputs", "changes", "why"),
    [
        ("belt", {"sped": [1.0]}, END, {}, "no parameter 'sped'; did you mean 'speed'"),
        ("bell", {"speed": [1.0]}, END, {}, "no gallery system 'bell'; did you mean"),
        ("belt", {"sole.friction.nu": [1.0]}, END, {}, "no field 'nu'; valid: mu"),
        ("belt", {"speed": []}, END, {}, "parameter 'speed': .*at least one value"),
        ("belt", {}, END, {}, "parameters = {}; give"),
        ("belt", {"speed": [0.1]}, {}, {}, "outputs = {}; give"),
        ("belt", {"speed": [0.1]}, {"x": Final(column="blok.x")}, {}, "output 'x': no"),
        ("belt", {"speed": [0.1]}, {"x": "Meen"}, {}, "did you mean 'Mean'"),
        (
            "belt",
            {"speed": [0.1]},
            {"x": Count(kind="stik")},
            {},
            "did you mean 'stick",
        ),
        ("belt", {"speed": [0.1]}, {"x": Count(element="sol")}, {}, "mean 'sole'"),
        ("belt", {"speed": Between(low=0.1, high=1.0)}, END, {}, "samples = 0"),
        (
            "belt",
            {"speed": [0.1, 0.2, 0.3], "mu": [0.1, 0.2]},
            END,
            {"combine": "zip"},
            "'mu' has 2 values and 'speed' 3",
        ),
        (
            "belt",
            {"m": Grid(low=-1.0, high=1.0, n=5)},
            END,
            {},
            "'m' = .*3 of 5 points are refused; the first, number 0: .*m = -1",
        ),
        (
            "belt",
            {"mu": Grid(low=0.1, high=0.6, n=6), "mu0": [0.4, 0.5]},
            END,
            {},
            "3 of 12 points are refused; the first, number 8: ",
        ),
        (
            "belt",
            {"speed": [0.1]},
            END,
            {"settings": {"speed": 1.0}},
            "it is a parameter",
        ),
        ("belt", {"speed": [0.1]}, END, {"until": "1/sped"}, "sped"),
        ("belt", {"speed": [0.1]}, END, {"until": -1.0}, "must be > 0 s"),
        ("belt", {"speed": [0.1]}, END, {"method": "rk5"}, "did you mean 'rk4'"),
        (
            gallery.build,
            {"speed": [0.1]},
            END,
            {},
            "system = function build; give a model or its name; call the function, bu",
        ),
        ("belt", {"speed": [0.1]}, END, {"rtol": 0.0}, "rtol = 0"),
        ("belt", {"speed": [0.1]}, END, {"executor": "thread"}, "mean 'threads'"),
        ("belt", {"speed": [0.1]}, END, {"workers": 0}, "workers = 0"),
        ("belt", {"speed": [0.1]}, END, {"address": "tcp://x"}, "executor='dask'"),
        ("belt", {"speed": [0.1]}, END, {"wait": -1.0}, "wait = -1"),
        ("belt", {"speed": [0.1]}, {"status": Count()}, {}, "column so named"),
        ("belt", {"gravity.2": [0.1]}, END, {}, "no place '2'; give 0 to 1"),
        (
            "belt",
            {"sole.friction.mu": [0.1], "contacts.sole.friction.mu": [0.2]},
            END,
            {},
            "it is 'sole.friction.mu' as well",
        ),
        (
            "belt",
            {"speed": [0.1]},
            {"x": Mean(column="block.x", last="speed - 1")},
            {},
            "output 'x': last = -0.9; must be > 0",
        ),
    ],
)
def test_bad_studies_are_refused(system, parameters, outputs, changes, why):
    options = {"until": 1.0} | changes
    with pytest.raises(ModelError, match=why):
        sweep(system, parameters, outputs, **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Mean(column="block.x", last=-1.0),
        lambda: Stroboscopic(column="block.x", period=0.0),
        lambda: AtEvents(column="block.x", n=0),
        lambda: EnergyPerCycle(work="motor", period=1.0, n=-2),
        lambda: Period(tolerance=0.0),
    ],
)
def test_reducers_refuse_what_is_not_above_zero(make):
    with pytest.raises(ModelError, match="must be > 0"):
        make()


def test_a_function_that_returns_nothing_fails_its_run():
    table = sweep("belt", {"speed": [0.1]}, {"x": lambda result: None}, until=0.1)
    assert "<lambda> returned None; it must return a number" in table.failures()[0]


def test_gravity_is_a_parameter():
    model = gallery.build("belt")
    table = sweep(model, {"gravity.1": [-9.81, -5.0]}, END, until=1.0)
    expected = simulate(dataclasses.replace(model, gravity=(0.0, -5.0)), 1.0)
    assert table["x"][1] == expected.sample(1.0, "block.x")["block.x"][0]
    assert table["x"][0] != table["x"][1]


def test_a_table_says_what_is_in_it_and_repeats_runs(tmp_path):
    """Also with functions, which its index knows by name only."""
    table = sweep(
        gallery.build("belt"),
        {"sole.friction.mu": [0.1, 0.2], "block.mass": [1.0, 2.0]},
        {"x": lambda result: result.sample(result.t_end, "block.x")["block.x"][0]},
        until=1.0,
        settings={"spring.stiffness": 80.0},
        rtol=1e-6,
        store=tmp_path / "study.db",
    )
    assert "4 runs, 4 done" in repr(table)
    assert "block.mass: 1 to 2" in repr(table)
    loaded = Table.load(tmp_path / "study.db")
    run = loaded.run(3)
    assert run.sample(1.0, "block.x")["block.x"][0] == table["x"][3]
    assert run.options["rtol"] == 1e-6
    with pytest.raises(ModelError, match="there are 0 to 3"):
        loaded.run(4)
    loaded.definition["library"] = "0.0.9"
    with pytest.warns(NonsmoothWarning, match=r"made by nonsmooth 0\.0\.9"):
        loaded.run(0)


def test_values_outside_a_range_are_counted_in_large_studies():
    grid = Grid(low=-0.5, high=1.0, n=301)
    with pytest.raises(
        ModelError, match=r"'m' = -0\.5 to 0, 101 values: 101 of 301 points are refused"
    ):
        sweep("belt", {"m": grid}, END, until=1.0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("study:\n  system: belt", "nonsmooth is missing"),
        ("nonsmooth: 1\nsystem: belt", "unknown key 'system'"),
        ("nonsmooth: 1\nstudy: {system: belt}", "parameters is missing"),
        (
            "nonsmooth: 1\nstudy:\n  system: belt\n  parameters: {mu: [0.1]}\n"
            "  outputs:\n    x: {type: Meen, column: block.x}",
            "line 6: study.outputs.x.type = 'Meen'; did you mean 'Mean'",
        ),
        (
            "nonsmooth: 1\nstudy:\n  system: belt\n  parametres: {mu: [0.1]}",
            "line 4: study.parametres: unknown key 'parametres'; did you mean 'para",
        ),
        (
            "nonsmooth: 1\nstudy:\n  system: belt\n  outputs: {x: {type: Count}}\n"
            "  parameters: {mu: {type: Grid, low: 0, high: 1, n: 0}}",
            "the grid is empty",
        ),
        (
            "nonsmooth: 1\nstudy:\n  system: belt\n  parameters: {mu: [0.1]}\n"
            "  outputs: {x: {type: _Function, function: print}}",
            "_Function",
        ),
    ],
)
def test_bad_study_files_are_refused(tmp_path, text, why):
    (tmp_path / "study.yaml").write_text(text)
    with pytest.raises(ModelError, match=why):
        load_study(tmp_path / "study.yaml")


def test_a_study_is_not_given_twice():
    study = Study(system="belt", parameters={"mu": [0.2]}, outputs=END, until=1.0)
    with pytest.raises(ModelError, match="part of the study already"):
        sweep(study, until=2.0)
    assert json.dumps(sweep(study).definition)
