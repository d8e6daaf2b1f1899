"""Every example runs, and one of its numbers is right."""

import ast
import importlib
import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk

from oracles import crank_rocker, guide
from oracles import slider_crank as oracle

FOLDER = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py"))

# Examples run with the default rtol = 1e-8 per step, some hundred steps: errors of
# 1e-8 to 1e-6 are to be expected, and anything wrong is larger by far.
RUN = 1e-6
DEMO_PICTURES = (
    "contacts",
    "drawing",
    "energy",
    "hinge_and_motor",
    "motion",
    "travel",
)


def example(name: str):
    return importlib.import_module(f"examples.{name}")


@pytest.mark.parametrize("name", SCRIPTS)
def test_examples_are_short_and_say_what_they_are(name):
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    assert ast.get_docstring(ast.parse(text))
    assert 'if __name__ == "__main__":' in text


def test_every_example_is_checked():
    checked = {name.removeprefix("test_") for name in globals()}
    assert set(SCRIPTS) <= checked


def test_pendulum():
    run = example("pendulum")
    # Elliptic functions: sin(phi/2) = k sn(K - w t), phi from the downward vertical.
    w = math.sqrt(1.5 * 9.81 / run.LENGTH)
    k = math.sin(math.pi / 4)
    sn = ellipj(float(ellipk(k**2)) - w * 2.0, k**2)[0]
    expected = 2 * math.asin(k * sn) - math.pi / 2
    assert run.result.state().positions["rod"][2] == pytest.approx(expected, abs=RUN)


def test_elastic_slider_crank():
    """In a wide guide it bears as a rigid one does, without clearance more."""
    pytest.importorskip("skfem")
    run = example("elastic_slider_crank")
    rigid, wide, none = run.loads.values()
    np.testing.assert_allclose(wide, rigid, atol=1e-5 * rigid.max())
    assert none.max() > 1.05 * rigid.max()


def test_slider_crank():
    run = example("slider_crank")
    parameters = oracle.Parameters(
        crank=run.CRANK, rod=run.ROD, gravity=9.81, load=run.LOAD
    )
    for t in (0.3, 0.9):
        if t < run.RUN_UP:
            rate = run.SPEED / run.RUN_UP
            drive = oracle.Drive(0.5 * rate * t**2, rate * t, rate)
        else:
            drive = oracle.Drive(run.SPEED * (t - run.RUN_UP / 2), run.SPEED, 0.0)
        expected = oracle.forces(parameters, drive).torque
        torque = run.result.sample(t, "motor.torque")["motor.torque"][0]
        assert torque == pytest.approx(expected, abs=RUN)


def test_own_law():
    run = example("own_law")
    t = np.array([0.2, 0.5, 0.9])
    turn = 2 * math.pi / run.DURATION
    speed = run.STROKE / run.DURATION * (1 - np.cos(turn * t))
    acceleration = run.STROKE / run.DURATION * turn * np.sin(turn * t)
    expected = run.MASS * acceleration + run.DRAG * speed**2
    force = run.result.sample(t, "pusher.force")["pusher.force"]
    np.testing.assert_allclose(force, expected, atol=1e-9)  # no integration: round-off


def test_spring_events():
    run = example("spring_events")
    # x - rest = amplitude exp(-d t) cos(w t - phase) from rest: zero every half period.
    decay = run.DAMPING / (2 * run.MASS)
    w = math.sqrt(run.STIFFNESS / run.MASS - decay**2)
    passages = run.result.events.of("passage").t
    first = (math.pi / 2 + math.atan2(decay, w)) / w
    expected = first + math.pi / w * np.arange(len(passages))
    np.testing.assert_allclose(passages, expected, atol=RUN)
    assert run.result.status == "stopped"
    assert run.result.events[-1].element == "calm"
    x, vx = (run.result[f"trolley.{c}"][-1] for c in ("x", "vx"))
    left = math.hypot(x - run.REST, vx / run.frequency)
    assert left == pytest.approx(run.CALM, abs=1e-12)  # landed on: round-off


def test_equilibrium():
    run = example("equilibrium")
    # A spring of no rest length: the moment about the pin is that of two fixed
    # forces at the tip, stiffness times the hook's place and half the weight.
    fx = run.STIFFNESS * run.HOOK[0]
    fy = run.STIFFNESS * run.HOOK[1] - run.MASS * 9.81 / 2
    assert run.rest.stability == "stable"
    assert run.angle == pytest.approx(math.atan2(fy, fx), abs=1e-10)
    inertia = run.MASS * run.LENGTH**2 / 3
    w = math.sqrt(math.hypot(fx, fy) * run.LENGTH / inertia)
    # Stiffness comes from differences: six digits or more.
    assert run.period == pytest.approx(2 * math.pi / w, rel=1e-6)
    assert np.ptp(run.result["rod.theta"]) < 1e-9


def test_from_file():
    run = example("from_file")
    # Where circles about the crank pin B and the bearing D meet; rocker above.
    for t in (0.0, 0.7, 1.4):
        angle = 2 * math.pi * t + 0.3 * math.sin(2 * math.pi * t)
        b, d = 0.1 * np.exp(1j * angle), 0.4 + 0j
        reach = abs(b - d)
        cosine = (0.25**2 + reach**2 - 0.3**2) / (2 * 0.25 * reach)
        expected = np.angle(b - d) - math.acos(cosine)
        theta = run.result.sample(t, "rocker.theta")["rocker.theta"][0]
        assert math.remainder(theta - expected, 2 * math.pi) == pytest.approx(
            0.0, abs=RUN
        )
    # Twice a turn, for two turns.
    assert len(run.result.events) == 4


def test_feeder():
    run = example("feeder")
    a, w, g = run.AMPLITUDE, run.FREQUENCY, run.GRAVITY

    def velocity(t):
        return a * w * (math.cos(w * t) - 0.7 * math.cos(2 * w * t))

    def push(t):  # what the part lacks to follow the tray, over its mass
        return a * w**2 * (1.4 * math.sin(2 * w * t) - math.sin(w * t))

    # The normal force is the weight throughout. The part breaks away where the tray
    # brakes with mu_static g, is braked by mu g, and is thrown back by it as soon as
    # the tray overtakes: each instant is the root of one equation.
    away = brentq(lambda t: push(t) + run.MU_STATIC * g, 0.07, 0.08)
    start = velocity(away)
    turn = brentq(
        lambda t: start - run.MU * g * (t - away) - velocity(t), away + 0.02, 0.25
    )
    middle = velocity(turn)
    rest = brentq(lambda t: middle + run.MU * g * (t - turn) - velocity(t), 0.25, 0.33)
    assert [e.kind for e in run.result.events[:3]] == ["break_away", "reverse", "stick"]
    np.testing.assert_allclose(run.result.events.t[:3], [away, turn, rest], atol=RUN)
    # And so on, every period of the tray.
    later = run.result.events.t[3:6] - run.result.events.t[:3]
    np.testing.assert_allclose(later, 2 * math.pi / w, atol=RUN)


def test_crank_rocker():
    run = example("crank_rocker")
    p = crank_rocker.Parameters(damping=run.DAMPING, speed=run.SPEED)
    for side, values in run.half_turn.items():
        exact = crank_rocker.forces(p, math.pi, -1 if side == "before" else 1)
        expected = [exact.lam, exact.friction, -exact.torque]
        # The crank is driven: no integration, round-off.
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9)
    lost = crank_rocker.work_per_turn(p).friction
    assert -run.work == pytest.approx(lost, abs=RUN)
    # Closed forms, of which the angle is given to 5e-3 deg; both are smooth there.
    at = math.radians(138.34)
    exact = crank_rocker.critical_mu_torque(p, at)
    assert run.critical == pytest.approx(float(exact), rel=1e-9)
    error = run.jam()
    assert error is not None
    assert "slider" in str(error)
    crank = 0.5 * math.pi - error.result.state().positions["crank"][2]
    assert crank_rocker.critical_mu_rocker(p, crank) == pytest.approx(0.2, abs=RUN)


def test_slider_in_guide():
    run = example("slider_in_guide")
    p = guide.Guide()
    # One period of the reference from the same place; it is at rest at its ends.
    arcs = guide.motion(p, run.PERIOD, x=run.START)
    expected = [arc.t[1] for arc in arcs[:-1]]
    kinds = ("stick", "reverse", "break_away")
    found = [r.t for r in run.result.events if r.kind in kinds and r.t < run.PERIOD]
    np.testing.assert_allclose(found, expected, atol=RUN)
    # Errors of Karnopp's law go with the root of its band, each a tenth of the other:
    # 3.2, and 10 or 1 for any other order.
    errors = [run.errors[band] for band in run.BANDS]
    for large, small in pairwise(errors):
        assert 2.5 < large / small < 4.0


def test_friction_laws():
    run = example("friction_laws")
    m, k, speed, mu0, mu, g, width = 1.0, 100.0, 0.1, 0.4, 0.3, 9.81, 0.05
    assert run.away == pytest.approx(mu0 * m * g / (k * speed), abs=RUN)
    assert run.creep["coulomb"] == pytest.approx(0.0, abs=1e-12)  # it sticks: round-off

    def smeared(t, y):
        return [y[1], mu * g * math.tanh((speed - y[1]) / width) - k / m * y[0]]

    swing = solve_ivp(smeared, (0, run.away), [0, speed], rtol=1e-10, atol=1e-12)
    expected = speed * run.away - swing.y[0, -1]
    assert run.creep["regularised"] == pytest.approx(expected, abs=RUN)


def test_demo(tmp_path, capsys):
    results = example("demo").main(tmp_path)
    angle = 10.0 * 2.0
    expected = 0.1 * math.cos(angle) + math.sqrt(0.3**2 - (0.1 * math.sin(angle)) ** 2)
    x = results["slider_crank"].state().positions["slider"][0]
    assert x == pytest.approx(expected, abs=RUN)
    wanted = {f"compactor_{name}.png" for name in DEMO_PICTURES}
    written = {path.name for path in tmp_path.glob("*.png")}
    assert wanted < written
    out = capsys.readouterr().out
    assert str(tmp_path) in out
    for name in written:
        assert name in out
    # The paper's speed beside ours; those of the other starts are an independent
    # solution's, all to the digits shown.
    assert "over 1 to 3 s, m/min" in out
    for line in (
        r"from spinning +19.5[678] .*2015: 19.58,",
        r"from touching +18.(39|40|41)\n",
        r"from equilibrium +17.8[567]\n",
    ):
        assert re.search(line, out)
    # 80 events of the reference in 0.5 s.
    assert "30 reverse, 17 release, 17 separate, 16 touch_down" in out
