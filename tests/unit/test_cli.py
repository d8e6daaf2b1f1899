"""The command line, through `main(argv)`; one test through the installed command."""

import csv
import io
import json
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import nonsmooth
from nonsmooth import gallery
from nonsmooth.app import cli, outputs, summary
from nonsmooth.app import gallery as gallery_command
from nonsmooth.app.bar import Bar
from nonsmooth.app.cli import main
from nonsmooth.app.command import read_model
from nonsmooth.elements.base import Element

ARM = """\
nonsmooth: 1
title: arm
gravity: [0, -9.81]
bodies:
  - {type: RigidBody, name: arm, mass: 1, inertia: 0.1, position: [0.5, 0],
     points: {pin: [-0.5, 0]}}
joints:
  - {type: Revolute, name: hinge, b: arm.pin}
events:
  - {name: low, b: arm, guard: x, direction: falling, action: stop}
  - {name: deep, b: arm, guard: y + 0.25}
"""

BURST = """\
nonsmooth: 1
bodies:
  - {type: RigidBody, name: block, mass: 1, inertia: 1}
forces:
  - {type: ExpressionForce, name: burst, b: block, fx: sqrt(0.5 - t)}
"""

# A carriage wedges in its guide, pushed above its middle.
CARRIAGE = """\
nonsmooth: 1
title: carriage in a guide
gravity: [0, -9.81]
bodies:
  - {type: RigidBody, name: carriage, mass: 3, inertia: 0.08, points: {a: [0.2, 0.2]}}
joints:
  - {type: Prismatic, name: rails, b: carriage, length: 0.4, height: 0.3,
     friction: {type: Coulomb, mu: 0.2, mu_static: 0.3}}
forces:
  - {type: PointForce, name: push, b: carriage.a,
     fx: {type: Harmonic, amplitude: 40, angular_frequency: 12}}
"""

COMMAND = Path(sys.executable).parent / "nonsmooth"


@pytest.fixture
def file(tmp_path):
    def write(text, name="model.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def run(capsys, *argv):
    """Return the exit code, stdout and stderr."""
    code = main(argv)
    out, err = capsys.readouterr()
    return code, out, err


def run_json(capsys, *argv):
    code, out, err = run(capsys, "run", *argv, "--json")
    assert code == 0, err
    return json.loads(out)


def refused(capsys, *argv, code=2):
    """Return the error line; nothing else may be printed."""
    found, out, err = run(capsys, *argv)
    assert (found, out) == (code, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err.removeprefix("error: ").rstrip()


# ---- help ------------------------------------------------------------------------


def test_help(capsys):
    for argv in ([], ["--help"]):
        code, out, _ = run(capsys, *argv)
        assert code == 0
        for command in cli.COMMANDS:
            assert re.search(rf"^    {command}\b", out, re.MULTILINE)
        assert "nonsmooth run pendulum_chain" in out


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_help_of_a_command(capsys, command):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert out.startswith(f"usage: nonsmooth {command}")


def examples():
    """Yield every command line shown in help texts."""
    parser = cli._parser()
    texts = [parser.format_help()]
    for action in parser._subparsers._group_actions:  # pyright: ignore
        texts += [sub.format_help() for sub in action.choices.values()]  # pyright: ignore
    for text in texts:
        for line in text.splitlines():
            if line.startswith("  nonsmooth "):
                words = re.split(r"\s{2,}| > ", line.strip())[0].split()
                yield words[1:]


@pytest.mark.parametrize("argv", list(examples()), ids=" ".join)
def test_examples_parse(argv):
    args = cli._arguments(argv)
    if argv[0] == "run" and not args.system.endswith(".yaml"):
        read_model(args.system, args.set)


def test_json_keys_are_documented(capsys):
    numbers = run_json(
        capsys, "pendulum_chain", "--until", "0.1", "--verify", "--events"
    )
    _, text, _ = run(capsys, "run", "--help")
    documented = text.partition("--json prints")[2]
    for key in numbers:
        assert key in documented, key


def test_version(capsys):
    code, out, _ = run(capsys, "--version")
    assert (code, out) == (0, f"nonsmooth {nonsmooth.__version__}\n")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["runn"], "no command 'runn'; did you mean 'run'?"),
        (["--bogus"], "give a command"),
        (["run"], "the following arguments are required: SYSTEM"),
        (
            ["run", "x", "--metod", "rk4"],
            "no option '--metod'; did you mean '--met",
        ),
        (["run", "x", "y"], "no argument 'y'; one too many"),
        (["run", "x", "--until", "soon"], "argument --until: 'soon'; give a number"),
        (["run", "x", "--until", "inf"], "argument --until: 'inf'; give a number"),
        (["run", "x", "--until", "1e400"], "argument --until: '1e400'; too large, num"),
        (["run", "x", "--until", "9" * 5000], "argument --until: '9999"),
        (["run", "x", "--method", "eulr"], "argument --method: invalid choice: 'eulr'"),
    ],
)
def test_usage_errors(capsys, argv, message):
    error = refused(capsys, *argv)
    assert error.startswith(message)
    assert "--help)" in error


def test_help_and_gallery_import_little():
    code = (
        "import sys; from nonsmooth.app.cli import main\n"
        "main(['--help']); main(['gallery']); main(['gallery', 'slider_crank'])\n"
        "heavy = {'numba', 'numpy', 'scipy', 'matplotlib', 'pandas', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"


# ---- gallery ---------------------------------------------------------------------


def test_gallery(capsys):
    code, out, _ = run(capsys, "gallery")
    assert code == 0
    for name in gallery.names():
        assert f"\n{name} " in out
        assert gallery.summary(name) in out


@pytest.mark.parametrize("name", gallery.names())
def test_gallery_of_a_system(capsys, name):
    code, out, _ = run(capsys, "gallery", name)
    assert code == 0
    # The story above the table may begin a line with the name of a parameter.
    table = out.partition("\nparameter ")[2].splitlines()
    for p in gallery.parameters(name):
        line = next(x for x in table if x.startswith(f"{p.name} "))
        assert p.unit in line
        assert p.meaning in line
    assert f"nonsmooth run {name} " in out


def test_gallery_of_an_unknown_system(capsys):
    error = refused(capsys, "gallery", "slidercrank")
    assert error == "no gallery system 'slidercrank'; did you mean 'slider_crank'?"


class Terminal(io.StringIO):
    """Stands in for a terminal."""

    def isatty(self):
        return True


def test_tables_on_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys, "stdout", Terminal())
    gallery_command.table(["a", "b"], [["one", "[bold]long text " * 10]])
    text = sys.stdout.getvalue()  # pyright: ignore
    assert "[bold]" in text
    plain = re.sub(r"\x1b\[\d*m", "", text)
    assert max(map(len, plain.splitlines())) <= 60


# ---- run -------------------------------------------------------------------------


def test_run(capsys):
    code, out, err = run(capsys, "run", "pendulum_chain")
    assert (code, err) == (0, "")
    heads = [line.split()[0] for line in out.splitlines() if line[0] != " "]
    assert heads == [
        "pendulum", "status", "events", "motion", "forces", "energy", "constraints",
        "cost",
    ]  # fmt: skip
    assert "status       finished at t = 5 s" in out
    assert "hinge1.force" in out


def test_run_as_json(capsys):
    numbers = run_json(capsys, "slider_crank", "--until", "1", "--rtol", "1e-10")
    assert numbers["status"] == "finished"
    assert numbers["t_end"] == numbers["final"]["t"] == 1.0
    assert numbers["options"]["rtol"] == 1e-10
    assert numbers["options"]["max_step"] is None
    model = gallery.build("slider_crank")
    state = nonsmooth.simulate(model, until=1.0, rtol=1e-10).state()
    assert numbers["final"]["positions"] == {
        name: list(place) for name, place in state.positions.items()
    }
    extremes = numbers["extremes"]
    assert set(extremes["motor.torque"]) == {"min", "t_min", "max", "t_max"}
    # Extremes are found on a grid of instants 4 to a step, about 0.01 s apart: near
    # one of x = 0.1 cos(10 t) + ... the loss is below 0.1 (10 * 0.005)^2 / 2 or so.
    assert extremes["slider.x"]["max"] == pytest.approx(0.4, abs=2e-4)
    assert extremes["slider.x"]["min"] == pytest.approx(0.2, abs=2e-4)
    assert extremes["crank.theta"]["max"] == pytest.approx(10.0, abs=1e-12)


def test_set(capsys):
    numbers = run_json(
        capsys, "pendulum_chain", "--until", "0.1", "--set", "n=3", "--set", "mass=2"
    )
    assert set(numbers["final"]["positions"]) == {"rod1", "rod2", "rod3"}


def test_set_a_field(capsys):
    """Twice the gravity force on one body is twice its mass; a law's rate as well."""
    light = run_json(capsys, "slider_crank", "--until", "0.1")
    heavy = run_json(capsys, "slider_crank", "--until", "0.1", "--set", "slider.mass=2")
    torque = "motor.torque"
    assert heavy["extremes"][torque]["max"] > light["extremes"][torque]["max"]
    fast = run_json(
        capsys, "slider_crank", "--until", "0.1",
        "--set", "motor.law.rate=20", "--set", "crank.angular_velocity=20",
        "--assemble",
    )  # fmt: skip
    # The end of a drive is exact to round-off.
    assert fast["final"]["positions"]["crank"][2] == pytest.approx(2.0, abs=1e-12)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["pendulum_chan"], "no built-in system 'pendulum_chan'; did you mean 'pendul"),
        (
            ["pendulum_chain", "--set", "nn=3"],
            "--set nn: pendulum_chain: no parameter",
        ),
        (["pendulum_chain", "--set", "n"], "--set n: write --set KEY=VALUE"),
        (["pendulum_chain", "--set", "n=1", "--set", "n=2"], "--set n is given twice"),
        (["pendulum_chain", "--set", "n=two"], "--set n = two; give a whole number"),
        (
            ["pendulum_chain", "--set", "rod9.mass=1"],
            "--set rod9.mass: model 'pend",
        ),
        (
            ["ball_on_beam", "--set", "beam.modes=8.5"],
            "--set beam.modes = '8.5'; give a whole",
        ),
        (["pendulum_chain", "--set", "rod1.mas=1"], "--set rod1.mas: RigidBody has no"),
        (
            ["pendulum_chain", "--set", "rod1.mass=x"],
            "--set rod1.mass = 'x'; give a nu",
        ),
        (
            ["pendulum_chain", "--set", "rod1.mass=0"],
            "--set rod1.mass = 0; must be > 0",
        ),
        (
            ["pendulum_chain", "--set", "rod1.position=0"],
            "--set rod1.position: only n",
        ),
        (["pendulum_chain", "--set", "rod1.name=3"], "--set rod1.name: only numbers"),
        (["pendulum_chain", "--set", "rod1.mass.x=3"], "--set rod1.mass.x: only num"),
        (["pendulum_chain", "--until", "-1"], "--until -1; must be a time > 0 s"),
        (["pendulum_chain", "--method", "rk4"], "--method rk4 needs --step H"),
        (["pendulum_chain", "--save", "x.txt"], "--save x.txt: use .csv, .parquet, .n"),
        (["pendulum_chain", "--save", "no/x.csv"], "--save no/x.csv: no folder 'no'"),
        (["pendulum_chain", "--plot", "x.bmp"], "--plot x.bmp: use .png, .svg, .pdf"),
        (["pendulum_chain", "--plot-names", "a"], "--plot-names needs --plot FILE"),
        (["pendulum_chain", "--every", "1"], "--every needs --save FILE"),
        (["pendulum_chain", "--every", "0", "--save", "x.csv"], "--every 0: must be >"),
        (["pendulum_chain", "--every", "9", "--save", "x.csv"], "--every 9: must be >"),
        (
            ["pendulum_chain", "--every", "5e-324", "--save", "x.csv"],
            "--every 4.94066e-324: inf rows of about",
        ),
        (
            ["pendulum_chain", "--every", "1e-9", "--save", "x.csv"],
            "--every 1e-09: 5e+09 rows of about ",
        ),
        (
            ["pendulum_chain", "--plot", "x.png", "--plot-names", "rod9.x"],
            "--plot-names: no quantity 'rod9.x'; did you mean",
        ),
        (
            ["pendulum_chain", "--plot", "x.png", "--plot-names", "rod1.z"],
            "--plot-names: no quantity 'rod1.z'",
        ),
        (["slider_crank", "--set", "motor.law.rate=1"], "inconsistent start: drive 'm"),
        (["missing.yaml", "--until", "1"], "missing.yaml: No such file"),
    ],
)
def test_run_refuses(capsys, tmp_path, monkeypatch, argv, message):
    monkeypatch.chdir(tmp_path)
    assert refused(capsys, "run", *argv).startswith(message)
    assert not list(tmp_path.iterdir())


def test_packages_that_are_missing(capsys, monkeypatch):
    monkeypatch.setattr(outputs, "find_spec", lambda name: None)
    error = refused(capsys, "run", "pendulum_chain", "--save", "x.parquet")
    assert error == ("--save x.parquet needs pyarrow: pip install 'nonsmooth[data]'")


def test_solver_options(capsys):
    numbers = run_json(
        capsys, "crank_rocker", "--until", "0.1", "--method", "euler",
        "--step", "1e-3", "--baumgarte", "10", "100",
    )  # fmt: skip
    assert numbers["cost"]["steps"] == 100
    assert numbers["options"]["stabilisation"] == {"alpha": 10.0, "beta": 100.0}


def test_verify(capsys):
    numbers = run_json(capsys, "pendulum_chain", "--until", "0.5", "--verify")
    found = numbers["verification"]
    # Ten times rtol, the default 1e-8.
    assert 0.0 < found["position"] < 1e-7
    assert found["events"] is True
    assert "tighter" not in found
    _, out, _ = run(capsys, "run", "pendulum_chain", "--until", "0.5", "--verify")
    assert "\nverified     within " in out


# ---- files -----------------------------------------------------------------------


def test_run_a_file(capsys, file):
    path = file(ARM)
    code, out, _ = run(capsys, "run", path, "--until", "2", "--events")
    assert code == 0
    assert out.startswith("arm\nstatus       stopped by event 'low' at t = ")
    assert "events       2 falling" in out
    table = out.split("\n\n")[1].splitlines()
    assert [line.split()[2] for line in table] == ["deep", "low"]
    listed = run_json(capsys, path, "--until", "2", "--events")["event_list"]
    assert [event["element"] for event in listed] == ["deep", "low"]


def test_set_in_a_file(capsys, file):
    """The hinge force of an arm swinging through the vertical, (1 + 2 k) m g."""
    path = file(ARM)
    numbers = run_json(capsys, path, "--until", "2", "--set", "arm.mass=2")
    # m l^2 / (J + m l^2) with l = 0.5 m; at the bottom the force is at its largest.
    part = 2 * 0.25 / (0.1 + 2 * 0.25)
    # The run ends there exactly, at an error of rtol = 1e-8.
    wanted = 2 * 9.81 * (1 + 2 * part)
    assert numbers["extremes"]["hinge.force"]["max"] == pytest.approx(wanted, rel=1e-6)


def test_a_file_of_the_gallery(capsys, file):
    path = file("nonsmooth: 1\ngallery: pendulum_chain\nparameters: {n: 3}")
    assert len(run_json(capsys, path, "--until", "0.1")["final"]["positions"]) == 3
    path = file("nonsmooth: 1\ngallery: pendulum_chian")
    error = refused(capsys, "run", path, "--until", "1")
    assert "line 2" in error
    assert "did you mean 'pendulum_chain'?" in error


def test_a_file_needs_until(capsys, file):
    path = file(ARM)
    why = "no end; give --until T, in s, or in the file run: {until: T}"
    assert refused(capsys, "run", path) == f"{path}: {why}"
    error = refused(capsys, "run", path, "--until", "1", "--set", "mass=2")
    assert error.startswith("--set mass: in a file, name an element's field")


# ---- contacts --------------------------------------------------------------------

# The default belt: m g = 9.81 N, mu0 = 0.4, mu = 0.3, k = 100 N/m, speed 0.1 m/s.
BELT = ["belt", "--until", "2"]


def test_summary_of_contacts(capsys):
    code, out, _ = run(capsys, "run", *BELT)
    assert code == 0
    lines = dict(line.split(maxsplit=1) for line in out.splitlines()[1:])
    assert lines["events"] == "3 break_away, 2 stick"
    name, normal, friction, slip = re.split(r"\s{2,}", lines["contacts"])
    assert (name, normal) == ("sole", "normal 9.81 N")
    # mu0 m g just before the block lets go.
    assert friction == "friction 0 .. 3.924 N"
    assert slip.startswith("slip -0.24")
    # What is left of the slip where it sticks is not shown.
    assert slip.endswith(" .. 0 m/s")
    assert re.match(r"sole   slip- [\d.]+ %, stick [\d.]+ %$", lines["modes"])


def test_contacts_as_json(capsys):
    numbers = run_json(capsys, *BELT)
    found = numbers["contacts"]["sole"]
    assert found["events"] == numbers["events"]
    # Each period has one stick of 2 (mu0 - mu) m g/(k speed); the first is longer.
    stick = 0.3924 + 2 * 0.1962
    assert found["time"]["stick"] == pytest.approx(stick, abs=1e-7)  # a few rtol
    assert sum(found["time"].values()) == pytest.approx(2.0, abs=1e-12)
    extremes = numbers["extremes"]
    swing = (0.4 - 0.3) * 9.81 / 100 * 10  # m/s
    fastest = 0.1 + math.hypot(0.1, swing)
    # Found on a grid of at least 4 instants a step, near the minimum of a cosine.
    least = extremes["sole.slip_velocity"]["min"]
    assert least == pytest.approx(-fastest, rel=1e-3)
    # Both sides of a jump count: the end of a stick is its largest friction.
    largest = extremes["sole.friction_force"]
    assert largest["max"] == pytest.approx(0.4 * 9.81, abs=1e-7)
    assert largest["t_max"] in [e.t for e in belt_events()]
    assert extremes["sole.normal_force"]["min"] == pytest.approx(9.81, rel=1e-12)
    assert extremes["sole.gap"]["max"] < 0.0


def belt_events():
    return nonsmooth.simulate(gallery.build("belt"), until=2.0).events


def test_slip_counts_while_pressing_only(capsys):
    """The right corner of the compactor is fastest in flight."""
    numbers = run_json(capsys, "compactor", "--until", "0.1")
    result = nonsmooth.simulate(gallery.build("compactor"), until=0.1)
    t = np.linspace(0.0, 0.1, 2001)
    columns = result.sample(t)
    for corner in ("left", "right"):
        slip = np.abs(columns[f"{corner}.slip_velocity"])
        is_pressing = np.abs(columns[f"{corner}.mode"]) <= 1
        found = numbers["extremes"][f"{corner}.slip_velocity"]
        peak = max(abs(found["min"]), abs(found["max"]))
        # The two grids miss the peak by some parts in a hundred at most.
        assert peak == pytest.approx(np.max(slip[is_pressing]), rel=0.03)
    assert np.max(slip) > 1.1 * peak


def test_events_of_contacts(capsys, tmp_path):
    path = tmp_path / "events.csv"
    argv = [*BELT, "--events", "--save-events", str(path)]
    code, out, _ = run(capsys, "run", *argv)
    assert code == 0
    assert f"saved        5 events in {path}" in out
    head, *rows = out.split("\n\n")[1].splitlines()
    assert re.split(r"\s{2,}", head) == [
        "t (s)", "element", "event", "before", "after", "slip (m/s)", "normal (N)",
        "friction (N)",
    ]  # fmt: skip
    cells = [re.split(r"\s{2,}", row) for row in rows]
    wanted = ["sole", "break_away", "stick", "slip-", "0", "9.81", "3.924 -> 2.943"]
    assert cells[0][1:] == wanted
    assert float(cells[0][0]) == pytest.approx(0.3924, abs=1e-7)  # a few rtol
    # The file has the same events, to the last digit.
    records = belt_events()
    with path.open(newline="") as file:
        found = list(csv.DictReader(file))
    assert len(found) == len(records) == len(cells)
    for row, record in zip(found, records, strict=True):
        assert float(row["t"]) == record.t
        assert (row["element"], row["kind"]) == (record.element, record.kind)
        assert (row["before"], row["after"]) == (record.before, record.after)
        pair = (float(row["friction_force_before"]), float(row["friction_force_after"]))
        assert pair == record.friction_force
    listed = run_json(capsys, *BELT, "--events")["event_list"]
    assert [e["t"] for e in listed] == [record.t for record in records]
    assert listed[0]["friction_force"] == list(records[0].friction_force or ())


def test_events_without_contacts_in_a_file(capsys, file, tmp_path):
    path = tmp_path / "events.csv"
    run(capsys, "run", file(ARM), "--until", "2", "--save-events", str(path))
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["element"] for row in rows] == ["deep", "low"]
    assert {row["normal_force_before"] for row in rows} == {""}


def test_the_design_s_compactor(capsys):
    """It sticks, slips, opens, touches and releases; causes are named."""
    argv = ["--set", "rotor_speed=25", "--set", "eccentricity=0.15", "--until", "1.5"]
    code, out, err = run(capsys, "run", "compactor", *argv, "--events")
    assert (code, err) == (0, "")
    for kind in ("stick", "break_away", "reverse", "release", "separate", "touch_down"):
        assert re.search(rf"events .*\d {kind}", out)
    for mode in ("open", "stick", "slip+", "slip-", "released"):
        assert re.search(rf"left .*{re.escape(mode)} [\d.]+ %", out)
    assert re.search(r" break_away .*   by (left|right)\n", out)
    # Zeros to the accuracy of landing are zeros.
    for row in out.split("\n\n")[1].splitlines()[1:]:
        assert not re.search(r"\de-(0[5-9]|1\d)", row.partition(" ")[2])


def test_the_paper_s_scheme(capsys):
    argv = ["compactor", "--until", "1e-3", "--scheme", "paper", "--step", "1e-6"]
    numbers = run_json(capsys, *argv)
    assert numbers["options"]["scheme"] == "paper"
    assert numbers["cost"]["steps"] == 1000
    exact = run_json(capsys, "compactor", "--until", "1e-3")
    found, wanted = (n["final"]["positions"]["box"] for n in (numbers, exact))
    # Friction is decided to one step: an acceleration of 1e2 m/s^2 wrong for 1e-6 s
    # moves the box by less than 1e-7 m in 1e-3 s.
    np.testing.assert_allclose(found, wanted, atol=1e-7)


def test_set_a_field_of_a_contact(capsys):
    argv = ["--set", "sole.friction.mu=0.2", "--set", "sole.friction.mu_static=0.2"]
    numbers = run_json(capsys, *BELT, *argv)
    largest = numbers["extremes"]["sole.friction_force"]["max"]
    assert largest == pytest.approx(0.2 * 9.81, rel=1e-9)  # round-off of N


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--save-events", "x.txt"], "--save-events x.txt: use .csv"),
        (["--save-events", "no/x.csv"], "--save-events no/x.csv: no folder 'no'"),
        (["--scheme", "papr"], "argument --scheme: invalid choice: 'papr'"),
        (["--step", "1e-3"], "--step 0.001: method 'auto' chooses its own steps"),
        (["--scheme", "paper", "--method", "radau"], "--method radau; scheme 'pap"),
        (
            ["--plot", "x.png", "--plot-names", "sole.gapp"],
            "--plot-names: no quantity 'sole.gapp'; did you mean 'sole.gap'",
        ),
        (
            ["--plot", "x.png", "--plot-names", "sol"],
            "--plot-names: no quantity 'sol'",
        ),
        (
            ["--set", "sole.friction.mu=1"],
            "--set sole.friction.mu = 1: Coulomb: mu_stat",
        ),
    ],
)
def test_contacts_refuse(capsys, tmp_path, monkeypatch, argv, message):
    monkeypatch.chdir(tmp_path)
    assert refused(capsys, "run", *BELT, *argv).startswith(message)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("names", "function", "drawn"),
    [
        ([], "plot_contacts", {"names": None}),
        (["--plot-names", "sole"], "plot_contacts", {"names": ["sole"]}),
        (["--plot-names", "sole.gap,block.x"], "plot_series", {}),
    ],
)
def test_plot_contacts(capsys, tmp_path, monkeypatch, names, function, drawn):
    plots = pytest.importorskip("nonsmooth.views.plots")
    calls = []
    monkeypatch.setattr(plots, function, lambda *args, **kw: calls.append((args, kw)))
    path = str(tmp_path / "x.png")
    assert run(capsys, "run", *BELT, "--plot", path, *names)[0] == 0
    ((args, keywords),) = calls
    assert args[-1] == path
    assert keywords == drawn


def test_check_counts_contacts_apart(capsys):
    """Rows of contacts hold only while they stick: they are no constraints."""
    _, out, _ = run(capsys, "check", "compactor")
    assert "contacts             2 (left, right)" in out
    assert "coordinates          6, with 3 constraints" in out
    assert "degrees of freedom   4, 1 of them driven" in out


# ---- friction in joints --------------------------------------------------------------

# The carriage breaks away where 40 sin(12 t) = 0.3 m g; sliding forward, its rear end
# leaves the lower flank where 0.2 m F = m g (0.4 m - 0.2 0.3 m)/2.
WEIGHT = 3.0 * 9.81
BREAKS = math.asin(0.3 * WEIGHT / 40.0) / 12.0
TILTS = math.asin(0.85 * WEIGHT / 40.0) / 12.0
ROCKER = ["crank_rocker", "--set", "driven=rocker"]


def test_summary_of_joints(capsys, file):
    code, out, _ = run(capsys, "run", file(CARRIAGE), "--until", "0.2")
    assert code == 0
    lines = dict(line.split(maxsplit=1) for line in out.splitlines()[1:])
    assert lines["events"] == "1 break_away, 1 change_side"
    name, load, friction, slip, work = re.split(r"\s{2,}", lines["joints"])
    assert name == "rails"
    # Flat the load is the weight. Wedged it is 2 (M + mu h/2 m g)/l, most where the
    # moment M of the push is 8 N m; the grid of instants misses that by a little.
    span = re.fullmatch(r"load 29\.43 \.\. (.*) N \(most at t = 0\.1[23]\d* s\)", load)
    assert span is not None
    assert float(span[1]) == pytest.approx(5.0 * (8.0 + 0.03 * WEIGHT), rel=1e-2)
    # 0.2 of that load, more than the 0.3 m g at which it breaks away.
    found = re.fullmatch(r"friction (.*) \.\. 0 N", friction)
    assert found is not None
    # Five digits are printed.
    assert float(found[1]) == pytest.approx(-0.2 * float(span[1]), rel=1e-4)
    assert re.match(r"slip 0 \.\. [\d.]+ m/s", slip)
    assert re.match(r"work -[\d.]+ J", work)
    assert re.match(r"rails   slip\+ [\d.]+ %, stick 9\.27 %$", lines["modes"])


def test_joints_as_json(capsys, file):
    numbers = run_json(capsys, file(CARRIAGE), "--until", "0.2")
    assert numbers["contacts"] == {}
    found = numbers["joints"]["rails"]
    assert found["events"] == numbers["events"] == {"break_away": 1, "change_side": 1}
    assert found["time"]["stick"] == pytest.approx(BREAKS, abs=1e-7)  # a few rtol
    assert sum(found["time"].values()) == pytest.approx(0.2, abs=1e-12)
    # What friction takes is missing from the work of the push; tolerance: the ledger's.
    model = nonsmooth.load(file(CARRIAGE))
    balance = nonsmooth.simulate(model, until=0.2).energy_balance
    kinetic = balance.kinetic[-1] - balance.work["push"][-1]
    assert found["work"] == pytest.approx(kinetic, abs=10 * balance.residual)
    assert found["work"] < 0.0
    extremes = numbers["extremes"]
    for kind in ("load", "normal_force", "friction_force", "slip_velocity"):
        assert set(extremes[f"rails.{kind}"]) == {"min", "t_min", "max", "t_max"}
    least = extremes["rails.load"]["min"]
    assert least == pytest.approx(WEIGHT, rel=1e-9)  # round-off of a force balance
    assert numbers["options"]["branch"] == "unique"


def test_events_of_joints(capsys, file, tmp_path):
    path = tmp_path / "events.csv"
    argv = [file(CARRIAGE), "--until", "0.2", "--events", "--save-events", str(path)]
    code, out, _ = run(capsys, "run", *argv)
    assert code == 0
    head, *rows = out.split("\n\n")[1].splitlines()
    assert head.split()[:5] == ["t", "(s)", "element", "event", "before"]
    away, tilt = (re.split(r"\s{2,}", row) for row in rows)
    assert away[1:6] == ["rails", "break_away", "stick", "slip+", "0"]
    assert away[6:] == ["29.43", "-8.829 -> -5.886"]
    assert tilt[1:5] == ["rails", "change_side", "slip+", "slip+"]
    assert tilt[-1] == "side + -> front+ rear-"
    times = [float(row[0]) for row in (away, tilt)]
    assert times == pytest.approx([BREAKS, TILTS], abs=1e-7)  # a few rtol
    assert "change_side" in path.read_text()


def test_a_guide_with_clearance(capsys, file):
    """Its corners are contacts; it has no reaction of its own."""
    corner = (
        "clearance: 1e-3, normal: {type: KelvinVoigt, stiffness: 1e6, damping: 2e3}"
    )
    text = CARRIAGE.replace("height: 0.3,", f"height: 0.3, {corner},")
    numbers = run_json(capsys, file(text), "--until", "0.02")
    corners = {
        f"rails.{end}_{flank}"
        for end in ("front", "rear")
        for flank in ("lower", "upper")
    }
    assert set(numbers["contacts"]) == corners
    assert numbers["joints"] == {}
    assert "rails.force" not in numbers["extremes"]
    _, out, _ = run(capsys, "check", file(text))
    assert "contacts             4 (rails.front_lower, rails.rear_lower" in out
    assert "friction in joints" not in out
    error = refused(
        capsys, "run", file(text), "--until", "1",
        "--plot", "x.png", "--plot-names", "rails.force_x",
    )  # fmt: skip
    assert error.startswith("--plot-names: no quantity 'rails.force_x'")


def test_a_run_that_jams(capsys, tmp_path):
    """Driven by its rocker, the mechanism jams at 108.05 deg of the crank."""
    save = str(tmp_path / "run.csv")
    code, out, err = run(capsys, "run", *ROCKER, "--save", save)
    assert code == 1
    # The crank is at pi/2 - theta; the limit is where mu tan(d) = 1.
    assert "status       failed at t = 0.5124228" in out
    assert "joints       slider   load 0 .. " in out
    error, note = err.splitlines()
    assert error.startswith("error: t = 0.512422846 s, joint 'slider' (mu = 0.2): ")
    assert note == f"what was computed until t = 0.512422846 s is in {save}"
    names = Path(save).read_text().partition("\n")[0].split(",")
    assert "slider.load" in names


def test_branches(capsys):
    """Near its dead centre, at 2.1 rad of the crank, there are two solutions."""
    argv = [*ROCKER, "--set", "angle=2.1", "--until", "0.02"]
    code, out, err = run(capsys, "run", *argv)
    assert code == 1
    assert "status       failed at t = 0 s" in out
    assert "joints" not in out
    assert "friction has 2 solutions here: slider slip-, normal force" in err
    assert err.endswith("choose with --branch continue or --branch least\n")
    numbers = run_json(capsys, *argv, "--branch", "least")
    assert numbers["options"]["branch"] == "least"
    assert "branch 'least' was followed" in numbers["notes"][0]
    error = refused(capsys, "run", *argv, "--branch", "most")
    assert error.startswith("argument --branch: invalid choice: 'most'")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--set", "driven=rokcer"], "--set driven = rokcer; did you mean"),
        (
            ["--set", "hinge_O.friction.mu=0.1"],
            "--set hinge_O.friction.mu: joint 'hinge_O' has no friction; only what it",
        ),
        (["--set", "slider.friction=0.1"], "--set slider.friction: only numbers can"),
        (
            ["--set", "slider.friction.mu=-1"],
            "--set slider.friction.mu = -1; must be >",
        ),
        (
            ["--plot", "x.png", "--plot-names", "slider.lod"],
            "--plot-names: no quantity 'slider.lod'; did you mean 'slider.load'",
        ),
        (
            ["--plot", "x.png", "--plot-names", "hinge_O.load"],
            "--plot-names: no quantity 'hinge_O.load'",
        ),
        (["--scheme", "paper"], "joint 'slider': scheme 'paper' is for contacts"),
    ],
)
def test_joints_refuse(capsys, tmp_path, monkeypatch, argv, message):
    monkeypatch.chdir(tmp_path)
    assert refused(capsys, "run", "crank_rocker", *argv).startswith(message)
    assert not list(tmp_path.iterdir())


def test_set_a_choice_of_an_element(capsys, file):
    stop = "low.action=record"
    code, out, _ = run(capsys, "run", file(ARM), "--until", "0.6", "--set", stop)
    assert code == 0
    assert "status       finished at t = 0.6 s" in out
    error = refused(
        capsys, "run", file(ARM), "--until", "1", "--set", "low.action=stpo"
    )
    assert error == "--set low.action = 'stpo'; did you mean 'stop'?"


@pytest.mark.parametrize(
    ("names", "function"),
    [
        ([], "plot_contacts"),
        (["--plot-names", "rails"], "plot_contacts"),
        (["--plot-names", "rails.load,rails.side,rails.front_force"], "plot_series"),
    ],
)
def test_plot_joints(capsys, file, tmp_path, monkeypatch, names, function):
    plots = pytest.importorskip("nonsmooth.views.plots")
    calls = []
    monkeypatch.setattr(plots, function, lambda *args, **kw: calls.append(args))
    path = str(tmp_path / "x.png")
    argv = [file(CARRIAGE), "--until", "0.1", "--plot", path, *names]
    assert run(capsys, "run", *argv)[0] == 0
    ((*_, drawn),) = calls
    assert drawn == path


def test_check_of_friction_in_joints(capsys, file):
    _, out, _ = run(capsys, "check", file(CARRIAGE))
    assert "coordinates          3, with 2 constraints\n" in out
    assert "degrees of freedom   1\n" in out
    *_, status, forces, margin = out.splitlines()
    assert status == "friction in joints   1 (rails): one solution at the start"
    assert forces.strip() == "rails: stick, normal force 29.43 N, friction 0 N"
    # Nothing resists its reaction: the load does not depend on the friction.
    assert margin.startswith("margin               1: all forces have one solution")
    assert margin.endswith("however large the friction")


def test_check_finds_where_friction_is_not_unique(capsys):
    argv = ["check", *ROCKER, "--set", "angle=2.1"]
    code, out, _ = run(capsys, *argv)
    assert code == 0
    assert "friction in joints   1 (slider): 2 solutions at the start; a run" in out
    first, second, margin = out.splitlines()[-3:]
    assert first.split()[:3] == ["1.", "slider:", "slip-,"]
    assert second.split()[:3] == ["2.", "slider:", "slip-,"]
    # mu |tan d| = 1 is the limit, d the angle between crank and rocker; to the digits
    # that are printed.
    x, y = 0.5 * math.sin(2.1), 1.0 + 0.5 * math.cos(2.1)
    factor = 1.0 / (0.2 * abs(math.tan(2.1 - math.atan2(x, y))))
    assert f"below {factor:.4g} times the friction all have one" in margin


@pytest.mark.parametrize("mu", [0.1, 0.5])
def test_check_tells_how_much_more_friction(capsys, mu):
    """A trammel at 45 deg has one solution as long as mu < 1."""
    _, out, _ = run(capsys, "check", "trammel", "--set", f"mu={mu}")
    found = re.search(r"in this pose, up to ([\d.]+) times the friction", out)
    assert found is not None
    # The five digits that are printed.
    assert float(found[1]) == pytest.approx(1.0 / mu, rel=1e-4)


def test_the_gallery_shows_choices(capsys):
    _, out, _ = run(capsys, "gallery", "crank_rocker")
    assert re.search(r"^driven +crank +crank \| rocker \| torque ", out, re.M)
    # Another parameter sets it.
    assert re.search(r"^mu0 +- +1 ", out, re.M)


# ---- saving ----------------------------------------------------------------------


def test_save_csv(capsys, tmp_path):
    path = tmp_path / "run.csv"
    argv = ["pendulum_chain", "--until", "0.3", "--every", "0.1", "--save", str(path)]
    code, out, _ = run(capsys, "run", *argv)
    assert code == 0
    assert f"4 rows of 49 columns in {path}" in out
    table = np.genfromtxt(path, delimiter=",", names=True)
    np.testing.assert_array_equal(table["t"], [0.0, 0.1, 0.2, 0.3])
    model = gallery.build("pendulum_chain")
    exact = nonsmooth.simulate(model, until=0.3).sample(table["t"], "rod2.y")["rod2.y"]
    # Text that reads back to the same numbers.
    np.testing.assert_array_equal(table["rod2y"], exact)


def test_save_npz_and_parquet(capsys, tmp_path):
    for suffix in ("npz", "parquet"):
        path = str(tmp_path / f"run.{suffix}")
        numbers = run_json(capsys, "pendulum_chain", "--until", "0.3", "--save", path)
        if suffix == "npz":
            with np.load(path) as columns:
                t = columns["t"]
                assert len(columns["hinge1.force_x"]) == len(t)
        else:
            pandas = pytest.importorskip("pandas")
            t = pandas.read_parquet(path)["t"].to_numpy()
        # Without --every: the solver's own steps.
        assert len(t) == numbers["cost"]["steps"] + 1


def test_a_failed_run_is_saved(capsys, file, tmp_path):
    path, save = file(BURST), str(tmp_path / "run.csv")
    code, out, err = run(capsys, "run", path, "--until", "1", "--save", save)
    assert code == 1
    assert "status       failed at t = 0.5 s" in out
    error, note = err.splitlines()
    assert error.startswith("error: t = 0.5 s: force 'burst' is not finite")
    assert note == f"what was computed until t = 0.5 s is in {save}"
    last = Path(save).read_text().splitlines()[-1]
    # The law ends at 0.5 s; the solver comes as near as steps of round-off allow.
    assert float(last.split(",")[0]) == pytest.approx(0.5, abs=1e-6)


def test_a_failed_run_as_json(capsys, file):
    code, out, err = run(capsys, "run", file(BURST), "--until", "1", "--json")
    assert code == 1
    assert json.loads(out)["status"] == "failed"
    assert err.startswith("error: ")


def test_a_folder_cannot_be_overwritten(capsys, tmp_path):
    folder = tmp_path / "run.csv"
    folder.mkdir()
    error = refused(capsys, "run", "pendulum_chain", "--save", str(folder))
    assert error == f"--save {folder}: it is a folder"


# ---- plotting --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "function", "drawn"),
    [
        (
            [],
            "plot_series",
            ["crank.theta", "rod.theta", "slider.theta", "motor.torque"],
        ),
        (["--plot-names", "rod.x, rod.B.y"], "plot_series", ["rod.x", "rod.B.y"]),
        (["--plot-names", "rod.B,rod"], "plot_paths", ["rod.B", "rod"]),
    ],
)
def test_plot(capsys, tmp_path, monkeypatch, names, function, drawn):
    plots = pytest.importorskip("nonsmooth.views.plots")
    calls = []
    monkeypatch.setattr(plots, function, lambda *args: calls.append(args))
    path = str(tmp_path / "x.png")
    code, out, _ = run(
        capsys, "run", "slider_crank", "--until", "0.1", "--plot", path, *names
    )
    assert code == 0
    assert [(args[1], args[2]) for args in calls] == [(drawn, path)]
    assert out.endswith(f"drawn        {path}\n")


def test_a_figure_is_written(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "x.png"
    argv = ["pendulum_chain", "--until", "0.1", "--plot", str(path), "--json"]
    json.loads(run(capsys, "run", *argv)[1])
    assert path.stat().st_size > 1000


# ---- progress and interruption ---------------------------------------------------


def test_interruption(capsys, monkeypatch):
    def simulate(system, until, *, progress, **options):
        progress(0.25)
        raise KeyboardInterrupt

    monkeypatch.setattr("nonsmooth.solve.simulate.simulate", simulate)
    error = refused(capsys, "run", "pendulum_chain", "--until", "8", code=130)
    assert error.startswith("interrupted at t = 2 s of 8 s, after ")
    assert error.endswith("; nothing was saved")


def test_an_interrupted_run_is_saved(capsys, monkeypatch, tmp_path):
    def ctrl_c(bar, part):
        raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "__call__", ctrl_c)
    save = str(tmp_path / "run.csv")
    argv = ["pendulum_chain", "--until", "1", "--method", "rk4", "--step", "1e-4"]
    code, out, err = run(capsys, "run", *argv, "--save", save)
    assert code == 130
    assert "status       failed at t = " in out
    error, note = err.splitlines()
    assert error.startswith("error: interrupted at t = ")
    assert note.endswith(f" is in {save}")
    assert len(Path(save).read_text().splitlines()) > 1


def test_a_bar_appears_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Bar("working", patience=0.0) as bar:
        limit = time.monotonic() + 10.0
        while bar._bar is None and time.monotonic() < limit:
            time.sleep(0.01)
        bar(0.5)
        assert bar._bar is not None
        bar._bar.refresh()
    text = sys.stderr.getvalue()  # pyright: ignore
    assert "working" in text
    assert "50%" in text


def test_no_bar_for_short_work(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Bar("working") as bar:
        bar(0.5)
    assert sys.stderr.getvalue() == ""  # pyright: ignore


def test_no_bar_without_a_terminal(capsys):
    with Bar("working", patience=0.0) as bar:
        time.sleep(0.1)
        bar(0.5)
    assert bar._bar is None
    assert capsys.readouterr().err == ""


# ---- modes -----------------------------------------------------------------------


BEAM = """\
nonsmooth: 1
title: free beam
bodies:
  - type: FlexibleBody
    name: beam
    mesh: {type: Rectangle, width: 0.4, height: 0.01, size: 0.01, cells: quadrilateral}
    material: {type: Material, youngs_modulus: 210e9, poissons_ratio: 0.0,
               density: 7850}
    thickness: 0.02
    modes: 4
    points: {end: [0.2, 0.0]}
"""


def test_modes(capsys, file, tmp_path):
    """A free beam against Bernoulli's frequencies."""
    pytest.importorskip("skfem")
    path, picture = file(BEAM), tmp_path / "modes.png"
    code, out, _ = run(capsys, "modes", path, "--json", "--plot", str(picture))
    assert code == 0
    beam = json.loads(out)["bodies"]["beam"]
    assert beam["mass"] == pytest.approx(0.4 * 0.01 * 0.02 * 7850, rel=1e-12)
    speed = math.sqrt(210e9 * 0.01**2 / 12.0 / 7850)
    # Roots of cos x cosh x = 1; shear and rotary inertia take less than 1 %.
    exact = [(x / 0.4) ** 2 * speed / (2.0 * math.pi) for x in (4.730041, 7.853205)]
    assert beam["frequencies"][:2] == pytest.approx(exact, rel=0.01)
    assert len(beam["frequencies"]) == 4
    assert 0.0 < beam["lost"]["end"]["force_y"] < 1.0
    assert picture.stat().st_size > 5000
    code, out, _ = run(capsys, "modes", path)
    assert code == 0
    assert "4 modes to " in out
    assert "force x" in out


def test_modes_need_a_flexible_body(capsys):
    assert "no flexible body" in refused(capsys, "modes", "belt")


# ---- check, schema, warmup -------------------------------------------------------


def test_check(capsys, file):
    path = file(ARM)
    code, out, _ = run(capsys, "check", path)
    assert code == 0
    lines = dict(line.split("  ", 1) for line in out.splitlines()[1:])
    found = {head: line.strip() for head, line in lines.items()}
    assert out.startswith(f"{path}: arm\n")
    assert found["bodies"] == "1 (arm)"
    assert found["events"] == "2 (low, deep)"
    assert found["coordinates"] == "3, with 2 constraints"
    assert found["degrees of freedom"] == "1"
    assert found["redundancy"] == "none"
    assert found["start"] == "consistent"


def test_check_counts_what_is_driven_and_redundant(capsys, file):
    _, out, _ = run(capsys, "check", "slider_crank")
    assert "degrees of freedom   1, 1 of them driven" in out
    hinge = "  - {type: Revolute, name: hinge, b: arm.pin}"
    twice = ARM.replace(hinge, f"{hinge}\n{hinge.replace('hinge', 'twice')}")
    _, out, _ = run(capsys, "check", file(twice))
    assert "degrees of freedom   1\n" in out
    assert "redundancy           2 constraint(s) among hinge, twice" in out


CORNERS = "[[-0.1, -0.05], [0.1, -0.05], [0.1, 0.05], [-0.1, 0.05]]"
BOX = f"{{type: Polygon, vertices: {CORNERS}}}"
LAW = "{type: KelvinVoigt, stiffness: 1.0e+5}"
BOXES = f"""\
nonsmooth: 1
gravity: [0, -9.81]
bodies:
  - type: RigidBody
    name: low
    mass: 1
    inertia: 0.01
    position: [0, Y1]
    shapes: {{o: {BOX}}}
  - type: RigidBody
    name: top
    mass: 1
    inertia: 0.01
    position: [0, Y2]
    shapes: {{o: {BOX}}}
contacts:
  - {{type: Contact, name: c1, b: low.o, normal: {LAW}}}
  - {{type: Contact, name: c2, a: low.o, b: top.o, normal: {LAW}}}
"""


def test_check_tells_of_a_stack_in_the_air_and_of_deep_overlaps(capsys, file):
    def text(low, top):
        return BOXES.replace("Y1", str(low)).replace("Y2", str(top))

    code, out, _ = run(capsys, "check", file(text(0.05, 0.149)))
    assert code == 0
    assert "in the air" not in out
    code, out, _ = run(capsys, "check", file(text(0.05, 0.17)))
    assert code == 0
    assert "contact 'c2' is open by 0.02 m at the start" in out
    assert "lower its bodies until they overlap" in out
    code, _, err = run(capsys, "check", file(text(0.05, 0.12)))
    assert code == 1
    assert "contact 'c2': the outlines overlap by 0.03 m" in err
    assert "at most 0.025 m" in err


def test_check_tells_of_an_assembled_start(capsys, file):
    text = ARM.replace("[0.5, 0]", "[0.6, 0]") + "assemble: true\n"
    _, out, _ = run(capsys, "check", file(text))
    assert (
        "start                assembled; positions moved by at most 0.1 m (body" in out
    )


def test_check_of_a_large_system(capsys, file):
    path = file("nonsmooth: 1\ngallery: pendulum_chain\nparameters: {n: 400}")
    _, out, _ = run(capsys, "check", path)
    assert "bodies               400 (rod1, rod2, " in out
    assert "degrees of freedom   400, if no constraint is redundant" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ARM.replace("mass: 1", "mass: -1"), "mass = -1"),
        (ARM.replace("[0.5, 0]", "[0.6, 0]"), "inconsistent start: joint 'hinge'"),
        (ARM.replace("arm.pin", "arm.pni"), "did you mean 'pin'?"),
        ("nonsmooth: [", "line "),
    ],
)
def test_check_refuses(capsys, file, text, message):
    assert message in refused(capsys, "check", file(text), code=1)


def test_check_of_several_files_tells_of_each(capsys, file):
    code, out, error = run(
        capsys, "check", "missing.yaml", "belt", "nowhere.yaml", "incline"
    )
    assert code == 1
    assert "belt: " in out
    assert "incline: " in out
    assert "missing.yaml" in error
    assert "nowhere.yaml" in error


def test_check_of_a_missing_file(capsys):
    error = refused(capsys, "check", "missing.yaml", code=1)
    assert error.startswith("missing.yaml: No such file or directory; no model file")


def test_schema(capsys, tmp_path):
    code, out, _ = run(capsys, "schema")
    assert code == 0
    path = tmp_path / "schema.json"
    code, nothing, _ = run(capsys, "schema", "--out", str(path))
    assert (code, nothing) == (0, "")
    assert json.loads(path.read_text()) == json.loads(out)
    assert "RigidBody" in out


def test_cache_tells_and_clears(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("NONSMOOTH_CACHE_DIR", str(tmp_path))
    for name, n in (("kernels-0", 3_000_000), ("reductions", 500_000), ("mine", 9)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_bytes(bytes(n))
    code, out, _ = run(capsys, "cache")
    assert code == 0
    assert f"cache {tmp_path}: 3.5 MB" in out
    assert "reductions: reduced flexible bodies, 1 files, 0.5 MB" in out
    code, out, _ = run(capsys, "cache", "--clear")
    assert (code, out) == (0, f"removed 3.5 MB from {tmp_path}\n")
    # What others have put there stays.
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    monkeypatch.setenv("NONSMOOTH_CACHE_DIR", str(tmp_path / "none"))
    assert "0.0 MB" in run(capsys, "cache")[1]


def test_warmup(capsys):
    code, out, _ = run(capsys, "warmup")
    assert code == 0
    assert out.splitlines()[-1].startswith("ready in")


def test_the_library_holds_every_row_function():
    from nonsmooth.pack import rows

    families = [f for group in rows.ROW_FUNCTIONS.values() for f in group]
    assert {family.family for family in families} == families_with_rows()
    symbols = {row.symbol for row in rows.built_in_rows()}
    friction = "nonsmooth.elements.friction"
    assert f"limit {friction}.Coulomb.limit" in symbols
    assert {f"smooth {friction}.Dahl.force", f"rate {friction}.LuGre.rate"} <= symbols
    assert f"smooth {friction}.Coulomb.force" not in symbols


def test_warmup_compiles_everything():
    """In a process of its own: no run afterwards needs Numba."""
    code = (
        "import sys; from nonsmooth.app.cli import main; main(['warmup'])\n"
        "for name in ('compactor', 'crank_rocker', 'slider_in_guide', 'n_four_bar'):\n"
        "    main(['run', name, '--until', '0.01'])\n"
        "main(['run', 'belt', '--scheme', 'paper', '--step', '1e-4', '--until', '1'])\n"
        "print('numba' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "False\n"


def families_with_rows():
    """Return the families whose kinds have a function to compile."""
    found: set[str] = set()

    def visit(cls):
        for sub in cls.__subclasses__():
            if sub.row_name or sub.row_kernel:
                found.add(sub.family)
            visit(sub)

    visit(Element)
    return found


# ---- summary ---------------------------------------------------------------------


def test_plain_data():
    assert summary.plain({"a": (np.float64(1.5), math.inf, np.int64(2), None)}) == {
        "a": [1.5, None, 2, None]
    }


def test_extremes_see_both_sides_of_a_jump(capsys, file):
    """A force that is switched off: its largest value is the one before."""
    text = """\
nonsmooth: 1
bodies:
  - {type: RigidBody, name: block, mass: 2, inertia: 1}
drives:
  - {type: TranslationDrive, name: pull, b: block,
     law: {type: Ramp, rate: 3, duration: 0.5}}
"""
    numbers = run_json(capsys, file(text), "--until", "1")
    # 2 kg at 6 m/s^2, constant until 0.5 s, then nothing.
    force = numbers["extremes"]["pull.force"]
    assert force["max"] == pytest.approx(12.0, rel=1e-12)
    assert force["min"] == pytest.approx(0.0, abs=1e-12)


def test_summary_of_many_bodies(capsys):
    argv = ["pendulum_chain", "--set", "n=9", "--until", "0.1"]
    _, out, _ = run(capsys, "run", *argv)
    assert out.count("and 3 more (all of them with --json)") == 2
    motion = [line.split()[-15:] for line in out.splitlines() if "theta" in line]
    assert len(motion) == summary.MAX_LINES


# ---- the installed command -------------------------------------------------------


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not installed")
def test_the_installed_command():
    done = subprocess.run([COMMAND, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"nonsmooth {nonsmooth.__version__}\n")
    done = subprocess.run([COMMAND, "run", "nothing"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no built-in system 'nothing'")


def test_a_terminal_without_these_letters(file):
    path = file(
        "nonsmooth: 1\ntitle: Bär\nbodies: [{type: PointMass, name: a, mass: 1}]"
    )
    argv = [sys.executable, "-m", "nonsmooth.app.cli", "check", path]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(argv, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert r": B\xe4r" in done.stdout


def test_a_closed_pipe():
    code = "import sys; from nonsmooth.app.cli import main; sys.exit(main(['schema']))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert errors == b""


def cpu(*argv):
    """CPU time of a process, s: the least of four, since other work slows them down."""
    resource = pytest.importorskip("resource")
    spent = []
    for _ in range(4):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *argv], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(
            after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        )
    return min(spent)


@pytest.mark.slow
def test_a_cached_run_starts_fast():
    """Beside Numba's own import, so that the speed of the machine does not matter.

    That took 0.33 s on the machine for which 1.2 s was the aim.
    """
    from nonsmooth.kernels import abi

    if not abi.JIT:
        pytest.skip("nothing is cached with the JIT off")
    run = cpu("-m", "nonsmooth.app.cli", "run", "pendulum_chain")
    ratio = run / cpu("-c", "import numba")
    print(f"run / import of Numba: {ratio:.2f}, {run:.2f} s of CPU time")
    assert ratio <= 1.2 / 0.33


def test_a_refused_start_of_an_outline_is_drawn(tmp_path, capsys):
    path = tmp_path / "model.yaml"
    path.write_text(
        "nonsmooth: 1\nbodies:\n"
        "  - {type: RigidBody, name: box, mass: 1, inertia: 0.01, shapes: {o: {type: "
        "Polygon, vertices: [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]]}}}\n"
        "contacts: [{name: c, b: box.o, normal: {type: KelvinVoigt, stiffness: 1e5}}]\n"
    )
    assert main(["draw", str(path), "--out", str(tmp_path / "a.png")]) == 0
    assert "the outlines overlap by 0.1 m" in capsys.readouterr().err


def test_json_is_printed_though_quiet(capsys):
    assert main(["run", "pendulum_chain", "--until", "0.01", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "finished"


def test_check_says_of_which_file_a_start_is_refused(tmp_path, capsys):
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    support = "  - {type: MovingSupport, name: table, y: 0.0}\n"
    for path, x in ((good, 0.0), (bad, 0.5)):
        path.write_text(
            f"nonsmooth: 1\nbodies:\n{support}"
            "  - {type: RigidBody, name: box, mass: 1, inertia: 1, position: "
            f"[{x}, 0]}}\n"
            "joints: [{type: Revolute, name: pin, a: table, b: box}]\n"
        )
    assert main(["check", str(bad), str(good)]) == 1
    said = capsys.readouterr()
    assert said.err.startswith(f"error: {bad}: inconsistent start")
    assert "and 1 moving support\n" in said.out
