"""The command line for one who begins: own laws, wishes in files, all errors."""

import subprocess
import sys
from pathlib import Path

import pytest

from nonsmooth import Model, ModelError, PointMass, Run, gallery, io, simulate
from nonsmooth.app.cli import main

LAW = '''\
"""A spring that hardens."""
from dataclasses import dataclass

from nonsmooth import NormalLaw
from nonsmooth.elements.base import quantity


@dataclass(frozen=True, kw_only=True)
class Hardening(NormalLaw):
    stiffness: float = quantity("N/m", above=0.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap * (1.0 + 10.0 * overlap)
'''
MODEL = """\
nonsmooth: 1
gravity: [0, -9.81]
bodies:
  - {type: PointMass, name: ball, mass: 1, position: [0, 0.1]}
contacts:
  - {type: Contact, name: c, b: ball, normal: {type: Hardening, stiffness: 1000}}
run: {until: 0.5, every: 0.1, save: [ball.y]}
"""


def run(*argv: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nonsmooth", *argv]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_model_with_a_law_of_ones_own(tmp_path):
    """In a process of its own: what is imported stays."""
    (tmp_path / "my_laws.py").write_text(LAW)
    (tmp_path / "feeder.yaml").write_text(MODEL)
    argv = ("run", "feeder.yaml", "--save", "run.csv")
    found = run(*argv, folder=tmp_path)
    assert found.returncode == 2
    assert "type = 'Hardening'" in found.stderr
    assert "--import" in found.stderr
    found = run(*argv, "--import", "my_laws.py", "--quiet", folder=tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")
    lines = (tmp_path / "run.csv").read_text().splitlines()
    assert lines[0] == "t,ball.y"
    assert len(lines) == 7


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none.py", None, "--import none.py: no such file; check its name"),
        ("laws.txt", "x = 1", "--import laws.txt: give a Python file"),
        ("broken.py", "x = (\n", "--import broken.py, line 1: SyntaxError: '(' was ne"),
        (
            "wrong.py",
            "\nmth.pi\n",
            "line 2: NameError: name 'mth' is not defined",
        ),
        ("math.py", "", "--import math.py: a module 'math' is there already; rename"),
    ],
)
def test_a_script_that_cannot_be_imported(
    tmp_path, monkeypatch, capsys, name, text, message
):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path(name).write_text(text)
    assert main(["check", "belt", "--import", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_wishes_of_a_model(tmp_path, capsys):
    ball = PointMass(name="ball", mass=1.0)
    model = Model(bodies=[ball], run=Run(until=2.0, every=0.5, save=("ball.x",)))
    assert io.loads(io.dumps(model)) == model
    assert simulate(model).t_end == 2.0
    assert simulate(model, 1.0).t_end == 1.0
    with pytest.raises(ModelError, match="until = None; must be a time > 0 s"):
        simulate(Model(bodies=[ball]))
    with pytest.raises(ModelError, match=r"Run: until = -1.0; must be > 0 s"):
        Run(until=-1.0)
    path = tmp_path / "model.yaml"
    io.save(Model(bodies=[ball], run=Run(until=2.0, save=("ball.z",))), path)
    assert main(["run", str(path), "--save", str(tmp_path / "run.csv")]) == 2
    assert "run: save = 'ball.z'; ball has x, y, theta" in capsys.readouterr().err
    path.write_text("nonsmooth: 1\ngallery: belt\nrun: {until: 0.5}\n")
    assert main(["run", str(path)]) == 0
    assert "0.5 s" in capsys.readouterr().out
    path.write_text("nonsmooth: 1\ngallery: belt\nrun: {untl: 0.5}\n")
    assert main(["run", str(path)]) == 2
    assert "line 3: run.untl: unknown key 'untl'; did" in capsys.readouterr().err
    path.write_text("nonsmooth: 1\ngallery: belt\n")
    assert main(["run", str(path)]) == 2
    assert "give --until T, in s, or in the file run:" in capsys.readouterr().err


BAD = """\
nonsmooth: 1
gravty: [0, -9.81]
bodies:
  - {type: RigidBody, name: a, mass: -1, inertia: 0.1}
  - {type: RigidBody, name: b, mas: 1, inertia: 0.1, angle: x}
  - {type: Rigid, name: c}
joints:
  - {type: Revolute, name: pin, b: a, radius: -2}
"""


def test_check_lists_all_errors_of_each_file(tmp_path, capsys):
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text(BAD)
    two.write_text(BAD.replace("gravty", "gravity"))
    assert main(["check", str(one), "belt", str(two)]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("\nbelt: ")
    lines = err.splitlines()
    told = ["gravty", "mass = -1.0", "'mas'", "angle = 'x'", "'Rigid'", "radius = -2.0"]
    assert len(lines) == 11
    for line, word in zip(lines, [*told, *told[1:]], strict=True):
        assert line.startswith("error: ")
        assert word in line
    assert all("one.yaml, line" in line for line in lines[:6])
    with pytest.raises(ModelError) as caught:
        io.load(one)
    assert "gravty" in str(caught.value)
    assert len(caught.value.others) == 5


def test_what_is_wrong_beside_an_unknown_key_is_told(tmp_path, capsys):
    file = tmp_path / "one.yaml"
    file.write_text(
        "nonsmooth: 1\nbodies:\n"
        "- {type: RigidBody, name: a, mass: -1, inertia: 2, posn: [0, 0]}\n"
    )
    assert main(["check", str(file)]) == 1
    unknown, mass = capsys.readouterr().err.splitlines()
    assert "unknown key 'posn'; did you mean 'position'?" in unknown
    assert "bodies[0].mass: body 'a': mass = -1.0; must be > 0 kg" in mass


def test_a_model_with_wishes_that_is_wrong_as_a_whole(tmp_path, capsys):
    file = tmp_path / "one.yaml"
    file.write_text(
        "nonsmooth: 1\nbodies:\n"
        "- {type: RigidBody, name: a, mass: 1, inertia: 2, points: {x: [1, 0]}}\n"
        "run: {until: 1}\n"
    )
    assert main(["run", str(file)]) == 2
    told = "line 3: bodies[0].points: body 'a': points = 'x'; this name is a column's"
    assert told in capsys.readouterr().err


def test_a_page_that_is_larger_than_pages_are_says_why(tmp_path, capsys, monkeypatch):
    file = str(tmp_path / "run.html")
    command = ["run", "belt", "--until", "1", "--report", file]
    assert main(command) == 0
    assert f"\nreport       {file}\n" in capsys.readouterr().out
    monkeypatch.setattr("nonsmooth.views.report.PAGE", 100_000)
    assert main(command) == 0
    told = f"MB, as all 2 events are kept, in {file}\n"
    assert told in capsys.readouterr().out


def test_a_pose(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / "pose.svg"
    argv = ["run", "pendulum_chain", "--until", "0.5"]
    assert main([*argv, "--pose", str(path), "--at", "0.2"]) == 0
    assert "drawn        t = 0.2 s in" in capsys.readouterr().out
    assert path.read_text().startswith("<?xml")
    assert main([*argv, "--pose", str(path), "--at", "0.7"]) == 2
    assert "--at 0.7: must be >= 0 and <= 0.5 s" in capsys.readouterr().err
    assert main([*argv, "--at", "0.2"]) == 2
    assert "--at needs --pose FILE" in capsys.readouterr().err


def test_quiet_and_loose(capsys):
    argv = ["run", "belt", "--until", "1", "--rtol", "0.1"]
    assert main(argv) == 2
    assert "--loose allows it all the same" in capsys.readouterr().err
    assert main([*argv, "--loose", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("warning: not to be trusted: --rtol 0.1")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("r", "run"),
        ("run be", "belt"),
        ("run belt --sch", "--scheme"),
        ("run belt --scheme pa", "paper"),
        ("completion z", ""),
    ],
)
def test_bash_completes(tmp_path, capsys, words, found):
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "complete.sh"
    script.write_text(
        capsys.readouterr().out
        + f"COMP_WORDS=(nonsmooth {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
        + "_nonsmooth; echo ${COMPREPLY[@]}\n"
    )
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (found, "")


def test_other_shells(capsys):
    assert main(["completion", "fish"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in gallery.names())
    assert "__fish_seen_subcommand_from run' -l until" in text
    assert main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out.startswith("autoload -Uz bashcompinit")
    assert main(["completion", "csh"]) == 2
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err
