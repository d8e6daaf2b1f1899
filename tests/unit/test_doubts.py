"""A run that cannot be trusted says so, wherever its result is read."""

import json
from typing import Any

import numpy as np
import pytest

from nonsmooth import Baumgarte, Model, Revolute, RigidBody, simulate
from nonsmooth.app.cli import main
from nonsmooth.io import save


def arm():
    """Two rods that fall from the horizontal."""
    rods = [
        RigidBody(
            name=f"rod{i}",
            mass=1.0,
            inertia=0.1,
            position=(0.5 + i, 0.0),
            points={"p": (-0.5, 0.0), "q": (0.5, 0.0)},
        )
        for i in range(2)
    ]
    pins = [
        Revolute(name="pin0", b="rod0.p"),
        Revolute(name="pin1", a="rod0.q", b="rod1.p"),
    ]
    return Model(gravity=(0, -9.81), bodies=rods, joints=pins)


def test_nothing_tells_against_a_good_run():
    result = simulate(arm(), until=3.0)
    assert result.doubts == ()


@pytest.mark.parametrize("options", [{"rtol": 1.0}, {"method": "rk4", "step": 0.2}])
def test_a_ledger_that_does_not_close(options):
    result = simulate(arm(), until=3.0, **options)
    assert result.status == "finished"
    (why,) = result.doubts
    assert "ledger does not close" in why
    assert why in result.notes
    assert why in result.summary()["doubts"]
    # As the advice has it.
    better: dict[str, Any] = {"rtol": 1e-6}
    if "rtol" not in options:
        better = options | {"step": 0.002}
    assert simulate(arm(), until=3.0, **better).doubts == ()


def test_joints_that_come_apart():
    """Steps that were refused do not count."""
    loose = Baumgarte(alpha=0.01, beta=0.01)
    options: dict[str, Any] = {"rtol": 0.01, "stabilisation": loose}
    result = simulate(arm(), until=3.0, **options)
    names = ["rod0.p.x", "rod0.p.y", "rod0.q.x", "rod0.q.y", "rod1.p.x", "rod1.p.y"]
    at = result.sample([*result.steps.t, result.t_end], names)
    apart = [at[f"rod1.p.{axis}"] - at[f"rod0.q.{axis}"] for axis in "xy"]
    rows = [at["rod0.p.x"], at["rod0.p.y"], *apart]
    assert result.violation == pytest.approx(np.max(np.abs(rows)), rel=1e-9)
    assert result.violation > 1e-3
    assert "came apart" in result.doubts[0]
    # As the advice has it.
    advice: list[dict[str, Any]] = [
        {"rtol": 0.01},
        options | {"rtol": 1e-8},
        options | {"stabilisation": Baumgarte(alpha=10.0, beta=10.0)},
    ]
    for better in advice:
        doubts = simulate(arm(), until=3.0, **better).doubts
        assert not any("came apart" in why for why in doubts)


def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "arm.yaml"
    save(arm(), path)
    run = ["run", str(path), "--until", "3", "--rtol", "1"]
    assert main(run) == 0
    assert "ledger does not close" in capsys.readouterr().out
    assert main([*run, "--strict"]) == 3
    capsys.readouterr()
    assert main([*run, "--strict", "--json"]) == 3
    assert "ledger does not close" in json.loads(capsys.readouterr().out)["doubts"][0]
    assert main(["run", str(path), "--until", "3", "--strict"]) == 0
