"""Messages of the command line are in its own words, and say what may be meant."""

from argparse import Namespace
from typing import Any

import pytest

from nonsmooth import Model, PointMass, Revolute, RigidBody, Run, io, simulate
from nonsmooth.app.cli import main
from nonsmooth.app.serve import _begin
from nonsmooth.app.wording import in_options
from nonsmooth.errors import ModelError

SHAKEN = """\
nonsmooth: 1
bodies:
  - type: MovingSupport
    name: floor
    x: {type: Harmonic, amplitude: 0.05, frequency_hz: 2}
  - {type: PointMass, name: box, mass: 2}
run: {until: 0.1}
"""
STUDY = """\
nonsmooth: 1
study:
  system: belt
  parameters: {speed: [0.1]}
  outputs: {end: {type: Final, column: block.x}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a model, a study and another file."""
    (tmp_path / "shaken.yaml").write_text(SHAKEN)
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "other.yaml").write_text("a: 1\n")
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys, *argv, code=2):
    """Return the one line of an error."""
    assert main(argv) == code
    return capsys.readouterr().err.removeprefix("error: ").strip()


# ---- --set ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("block.mass=-1", "--set block.mass = -1; must be > 0 kg"),
        ("sole.friction.mu=-0.5", "--set sole.friction.mu = -0.5; must be >= 0"),
        ("m=-1", "--set m = -1; must be > 0"),
        ("blok.mass=1", "--set blok.mass: model 'block on a belt': no element 'blok'"),
        ("sped=1", "--set sped: belt: no parameter 'sped'; did you mean 'speed'?"),
    ],
)
def test_a_value_out_of_range_is_named_as_it_was_set(capsys, setting, words):
    assert said(capsys, "run", "belt", "--set", setting).startswith(words)


def test_of_several_settings_that_at_fault_is_named(capsys):
    argv = ("--set", "speed=2", "--set", "m=-1")
    assert said(capsys, "run", "belt", *argv) == "--set m = -1; must be > 0"


@pytest.mark.parametrize(
    ("field", "omega"), [("frequency_hz=3", 18.8495559), ("angular_frequency=7", 7.0)]
)
def test_a_frequency_is_set_either_way(capsys, field, omega):
    assert main(["run", "shaken.yaml", "--set", f"floor.x.{field}", "--json"]) == 0
    assert '"status": "finished"' in capsys.readouterr().out
    from nonsmooth.study.systems import build_model

    key, _, value = field.partition("=")
    floor: Any = build_model("shaken.yaml", {f"floor.x.{key}": float(value)}).bodies[0]
    assert floor.x.omega == pytest.approx(omega)


def test_a_field_of_another_name_is_told(capsys):
    words = said(capsys, "run", "shaken.yaml", "--set", "floor.x.frequency=3")
    assert "give angular_frequency in rad/s, or frequency_hz in Hz" in words


def test_settings_that_are_valid_together_come_in_any_order(capsys):
    """The coefficient in motion may not exceed that at rest, 0.4, on the way."""
    both = ("--set", "sole.friction.mu=0.5", "--set", "sole.friction.mu_static=0.6")
    assert main(["run", "belt", *both, "--until", "0.1"]) == 0
    turned = (*both[2:], *both[:2])
    assert main(["run", "belt", *turned, "--until", "0.1"]) == 0


# ---- options -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("--until -1", "--until -1; must be a time > 0 s"),
        (
            "--step 0.01",
            "--step 0.01: method 'auto' chooses its own steps; use --max",
        ),
        ("--max-step -1", "--max-step -1; must be > 0 s"),
        ("--rtol 0.1", "--rtol 0.1; must be <= 0.001"),
        ("--method rk4", "--method rk4 needs --step H, in s"),
        ("--memory -3", "--memory -3; must be > 0 MB"),
        ("--baumgarte -1 2", "--baumgarte: alpha = -1.0; must be >= 0"),
        ("--scheme waves --step 1 --courant 1", "--step and --courant are both given"),
        ("--scheme waves", "--scheme waves: no body has modes = 'full'"),
    ],
)
def test_options_are_named_as_they_were_given(capsys, argv, words):
    assert said(capsys, "run", "belt", *argv.split()).startswith(words)


def test_what_was_not_given_keeps_its_name():
    """The end may come from the file, and a word may be a word."""
    args = Namespace(until=None, step=None)
    text = "until = 5 s: a table of the model is defined from 0 to 1 s"
    assert in_options(text, args) == text
    assert in_options("the step has shrunk", args) == "the step has shrunk"


def test_a_start_that_does_not_fit_is_told_in_the_words_of_the_command(capsys):
    rod = RigidBody(name="rod", mass=1.0, inertia=0.1, position=(0.3, 0.0))
    pin = Revolute(name="pin", b="rod")
    io.save(Model(bodies=[rod], joints=[pin]), "apart.yaml")
    error = said(capsys, "run", "apart.yaml", "--until", "1")
    assert error.endswith("correct the positions, or give --assemble")
    error = said(capsys, "check", "apart.yaml", code=1)
    assert error.endswith("correct the positions, or set `assemble: true` in the model")


# ---- files and names -----------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("shaken.yml", "shaken.yml: No such file or directory; did you mean 'shaken.y"),
        ("shakn.yaml", "shakn.yaml: No such file or directory; did you mean 'shaken.y"),
        ("shaken", "no built-in system 'shaken'; did you mean 'shaken.yaml'?"),
        ("bellt", "no built-in system 'bellt'; did you mean 'belt'?"),
        ("belt.yaml", "belt.yaml: No such file or directory; did you mean 'belt'?"),
        ("qqq.yaml", "qqq.yaml: No such file or directory; valid: shaken.yaml"),
        (".", ".: this is a folder; name a model file in it: shaken.yaml"),
        ("models", "models: this is a folder; it has no model"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(capsys, name, words):
    for command in ("run", "draw"):
        assert said(capsys, command, name).startswith(words)


def test_a_misspelt_study_too(capsys):
    words = "studdy.yaml: No such file or directory; did you mean 'study.yaml'?"
    assert said(capsys, "sweep", "studdy.yaml") == words
    assert "did you mean 'belt_speed'" in said(capsys, "sweep", "belt_sped")


def test_check_of_a_folder_checks_its_models(capsys):
    assert main(["check", "."]) == 0
    out = capsys.readouterr().out
    assert out.startswith("shaken.yaml: ")
    assert "study" not in out


def test_serve_begins_with_a_file_a_folder_or_a_system(folder):
    assert _begin("models") == (folder.relative_to(folder) / "models", "")
    assert _begin(str(folder / "shaken.yaml")) == (folder, "#file=shaken.yaml")
    assert _begin("belt")[1] == "#system=belt"
    with pytest.raises(ModelError, match=r"did you mean 'shaken.yaml'\?"):
        _begin("shakn.yaml")
    with pytest.raises(ModelError, match=r"^no folder 'nowhere'$"):
        _begin("nowhere")


# ---- wishes --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ("save: [box.xx]", "run: save = 'box.xx'; did you mean 'box.x'?"),
        ("plot: [bax.x]", "run: plot = 'bax.x'; did you mean 'box.x'?"),
        ("save: [box.height]", "run: save = 'box.height'; box has x, y, theta"),
    ],
)
def test_check_refuses_wishes_for_what_there_is_not(capsys, folder, wishes, words):
    text = SHAKEN.replace("until: 0.1", f"until: 0.1, {wishes}")
    (folder / "shaken.yaml").write_text(text)
    error = said(capsys, "check", "shaken.yaml", code=1)
    assert error.startswith(f"shaken.yaml: {words}")


def test_wishes_that_there_are(capsys, folder):
    text = SHAKEN.replace("until: 0.1", "until: 0.1, save: [t, box.x], plot: [box]")
    (folder / "shaken.yaml").write_text(text)
    assert main(["check", "shaken.yaml"]) == 0


def test_python_runs_a_model_whose_wishes_are_wrong():
    """They are for who saves and plots."""
    ball = PointMass(name="ball", mass=1.0)
    result = simulate(Model(bodies=[ball], run=Run(until=0.1, save=("ball.z",))))
    assert result.status == "finished"
