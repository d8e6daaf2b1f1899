"""A run that cannot be trusted says so, wherever its result is read."""

import json
from typing import Any

import numpy as np
import pytest

from fuzz.families import make
from nonsmooth import Baumgarte, Model, Revolute, RigidBody, gallery, simulate
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


def test_contacts_of_parts_and_guides_with_clearance_are_looked_at():
    """Their parts are no elements of the model."""
    crank = gallery.slider_crank(clearance=1e-3, slider_length=0.1, slider_height=0.05)
    for model in (gallery.ratchet(), crank):
        result = simulate(model, 0.01)
        assert any("." in part for part in result.system.contacts)
        assert not result.doubts


@pytest.mark.parametrize(
    "options", [{"rtol": 1.0, "loose": True}, {"method": "rk4", "step": 0.2}]
)
def test_a_ledger_that_does_not_close(options):
    result = simulate(arm(), until=3.0, **options)
    assert result.status == "finished"
    why = result.doubts[-1]
    assert "ledger does not close" in why
    assert f"not to be trusted: {why}" in result.notes
    assert why in repr(result)
    for figure in (result.plot("rod0.theta"), result.plot_energy(), result.draw()):
        title = figure.get_suptitle()
        assert "not to be trusted: " in title
        assert " ".join(why.split()[:4]) in " ".join(title.split())
    assert why in result.summary()["doubts"]
    # As the advice has it.
    better: dict[str, Any] = {"rtol": 1e-6}
    if "rtol" not in options:
        better = options | {"step": 0.002}
    assert simulate(arm(), until=3.0, **better).doubts == ()


@pytest.mark.parametrize("rtol", [1e-2, 1e-3])
def test_a_rough_tolerance(rtol):
    """Rods on frictional pins end a tenth of their way off; the ledger closes."""
    case = make("chains", 8002)
    bodies = [b.name for b in case.model.bodies if b.has_mass]
    names = [f"{body}.{axis}" for body in bodies for axis in "xy"]
    ends: list[list[float]] = []
    doubts: list[tuple[str, ...]] = []
    way = 0.0
    for tried in (1e-8, rtol, 1e-4):
        result = simulate(case.model, case.until, rtol=tried, loose=True)
        ends.append([result[name][-1] for name in names])
        doubts.append(result.doubts)
        way = max(np.ptp(result[name]) for name in names)
    true, rough, better = np.array(ends)
    assert np.max(np.abs(rough - true)) > 0.1 * way
    # At the coarser one the ledger may not close, either.
    (why,) = (doubt for doubt in doubts[1] if doubt.startswith("rtol"))
    assert f"rtol = {rtol:g} allows each of" in why
    # As the advice has it.
    assert doubts[0] == doubts[2] == ()
    assert np.max(np.abs(better - true)) < 0.03 * way


def test_joints_that_come_apart():
    """Steps that were refused do not count."""
    loose = Baumgarte(alpha=0.01, beta=0.01)
    options: dict[str, Any] = {"rtol": 0.01, "loose": True}
    options["stabilisation"] = loose
    result = simulate(arm(), until=3.0, **options)
    names = ["rod0.p.x", "rod0.p.y", "rod0.q.x", "rod0.q.y", "rod1.p.x", "rod1.p.y"]
    at = result.sample([*result.steps.t, result.t_end], names)
    apart = [at[f"rod1.p.{axis}"] - at[f"rod0.q.{axis}"] for axis in "xy"]
    rows = [at["rod0.p.x"], at["rod0.p.y"], *apart]
    assert result.violation == pytest.approx(np.max(np.abs(rows)), rel=1e-9)
    assert result.violation > 1e-3
    assert any("came apart" in why for why in result.doubts)
    # As the advice has it.
    advice: list[dict[str, Any]] = [
        {"rtol": 0.01, "loose": True},
        options | {"rtol": 1e-8},
        options | {"stabilisation": Baumgarte(alpha=10.0, beta=10.0)},
    ]
    for better in advice:
        doubts = simulate(arm(), until=3.0, **better).doubts
        assert not any("came apart" in why for why in doubts)


def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "arm.yaml"
    save(arm(), path)
    run = ["run", str(path), "--until", "3", "--rtol", "1", "--loose"]
    assert main(run) == 0
    assert "ledger does not close" in capsys.readouterr().out
    assert main([*run, "--strict"]) == 3
    capsys.readouterr()
    assert main([*run, "--strict", "--json"]) == 3
    assert "ledger does not close" in json.loads(capsys.readouterr().out)["doubts"][-1]
    assert main(["run", str(path), "--until", "3", "--strict"]) == 0
