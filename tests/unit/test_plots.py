"""Figures: panels, labels, jumps, files, and a symbol for every kind."""

import math
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Couple,
    Distance,
    Drive,
    Event,
    ExpressionForce,
    Force,
    Ground,
    Harmonic,
    Model,
    ModelError,
    MovingSupport,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    Ramp,
    Result,
    Revolute,
    RigidBody,
    RotationDrive,
    SpringDamper,
    TorsionSpring,
    TranslationDrive,
    Weld,
    simulate,
)
from nonsmooth.views.drawing import hull
from nonsmooth.views.plots import (
    draw,
    plot_energy,
    plot_paths,
    plot_series,
)

MASS, LENGTH = 2.0, 1.0  # kg, m
BEGIN, DURATION, RATE = 0.25, 0.5, 3.0  # s, s, rad/s


@pytest.fixture(scope="module")
def result() -> Result:
    """Return a rod that a motor runs up: its torque jumps twice."""
    rod = RigidBody(
        name="rod",
        mass=MASS,
        inertia=MASS * LENGTH**2 / 12,
        position=(LENGTH / 2, 0),
        points={"pin": (-LENGTH / 2, 0), "tip": (LENGTH / 2, 0)},
    )
    law = Ramp(rate=RATE, duration=DURATION, begin=BEGIN)
    model = Model(
        bodies=(rod,),
        joints=(Revolute(name="pin", b="rod.pin"),),
        drives=(RotationDrive(name="motor", b="rod", law=law),),
        events=(
            Event(name="half", b="rod", guard="theta - 0.5"),
            Event(name="full", b="rod", guard="theta - 1.0"),
        ),
    )
    return simulate(model, until=1.5)


@dataclass(frozen=True, kw_only=True)
class Magnet(Force):
    """A force of the user's own: it has no symbol."""

    strength: float  # N/m

    @staticmethod
    def wrench(p, s, t, a, b, out):
        for i in range(8):
            out[i] = 0.0
        out[0], out[1] = p[0] * (a[0] - b[0]), p[0] * (a[1] - b[1])
        out[3], out[4] = -out[0], -out[1]


@dataclass(frozen=True, kw_only=True)
class Lift(Drive):
    """A drive of the user's own."""

    @staticmethod
    def rows(p, s, a, b, out):
        for i in range(9):
            out[i] = 0.0
        out[0], out[1], out[2] = b[1] - a[1] - s[0], -s[1], -s[2]
        out[4], out[7] = -1.0, 1.0


@pytest.fixture(scope="module")
def zoo() -> Result:
    """Return a run with every kind of body, joint, drive and force."""
    ground = Ground(points={"O": (0, 0), "R": (2, 0), "low": (3, -1), "top": (0.5, 2)})
    model = Model(
        gravity=(0, -9.81),
        bodies=(
            ground,
            RigidBody(
                name="bar",
                mass=1,
                inertia=0.1,
                position=(0.5, 0),
                points={"a": (-0.5, 0), "b": (0.5, 0)},
            ),
            RigidBody(
                name="plate",
                mass=1,
                inertia=0.1,
                position=(2, 0.4),
                points={"a": (0, -0.4), "b": (0.4, 0.3), "c": (-0.4, 0.3)},
            ),
            RigidBody(name="wheel", mass=1, inertia=0.02, position=(3, 0.5)),
            RigidBody(name="block", mass=1, inertia=0.02, position=(3, -1)),
            RigidBody(
                name="stub",
                mass=1,
                inertia=0.1,
                position=(1.2, 0),
                points={"a": (-0.2, 0)},
            ),
            MovingSupport(
                name="shaker", x=Harmonic(amplitude=0.2, angular_frequency=3), y=-1
            ),
            MovingSupport(name="table", y=-3, points={"l": (-1, 0), "r": (1, 0)}),
            PointMass(name="bob", mass=1, position=(0, -1.6)),
            PointMass(name="bead", mass=1, position=(2.5, 1.5)),
        ),
        joints=(
            Revolute(name="pin", a="ground.O", b="bar.a"),
            Revolute(name="pivot", a="ground.R", b="plate.a"),
            Weld(name="weld", a="bar.b", b="stub.a"),
            PinInSlot(name="slot", a="ground.low", b="wheel", axis=math.pi / 2),
            Prismatic(name="guide", a="ground.low", b="block"),
            Distance(name="link", a="shaker", b="bob", length=0.6),
        ),
        drives=(
            TranslationDrive(
                name="pusher",
                a="ground.low",
                b="block",
                law=Harmonic(amplitude=0.1, angular_frequency=4),
            ),
            RotationDrive(
                name="motor", b="wheel", law=Harmonic(amplitude=1, angular_frequency=2)
            ),
            Lift(
                name="lift", b="bead", law=Harmonic(amplitude=0.2, angular_frequency=5)
            ),
        ),
        forces=(
            SpringDamper(
                name="spring", a="ground.top", b="bar.b", stiffness=50, damping=1
            ),
            SpringDamper(name="damper", a="bar.b", b="plate.c", damping=5),
            TorsionSpring(name="coil", b="plate", stiffness=20),
            PointForce(name="wind", b="plate.b", fx=5),
            Couple(name="torque", b="bar", torque=3),
            ExpressionForce(name="field", a="plate", b="bar.b", fx="-x", fy="-y"),
            Magnet(name="magnet", a="block", b="wheel", strength=1.0),
        ),
        assemble=True,
    )
    return simulate(model, until=0.3)


def panels(figure: Any) -> Any:
    """Return the axes; Matplotlib's types say less than its objects do."""
    return figure.axes


def labels(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


# ---- over time -------------------------------------------------------------------


def test_series_has_one_panel_per_unit(result):
    names = ["rod.x", "rod.tip.y", "rod.theta", "motor.torque", "pin.force_x"]
    figure = plot_series(result, names)
    by_label = {axes.get_ylabel(): axes for axes in figure.axes}
    assert list(by_label) == [
        "position (m)",
        "angle (rad)",
        "torque (N m)",
        "force (N)",
    ]
    assert labels(by_label["position (m)"])[:2] == ["rod.x", "rod.tip.y"]
    assert labels(by_label["torque (N m)"]) == ["motor.torque"]
    assert figure.axes[-1].get_xlabel() == "time (s)"
    assert figure.axes[-1].get_xlim() == (0.0, 1.5)


def test_jumps_are_not_joined_and_both_values_are_drawn(result):
    axes = panels(plot_series(result, "motor.torque"))[0]
    t, torque = axes.lines[0].get_data()
    # Three arcs, each ended by a gap.
    gaps = np.flatnonzero(np.isnan(torque))
    assert len(gaps) == 3
    ends = gaps[:2]
    # The torque of a rod about its end while it speeds up, m l^2/3 alpha; zero
    # before and after. Tolerance: round-off of the linear solve.
    expected = MASS * LENGTH**2 / 3 * RATE / DURATION
    np.testing.assert_allclose(t[ends - 1], [BEGIN, BEGIN + DURATION], rtol=1e-15)
    np.testing.assert_allclose(t[ends + 1], [BEGIN, BEGIN + DURATION], rtol=1e-15)
    np.testing.assert_allclose(torque[ends - 1], [0.0, expected], atol=1e-12)
    np.testing.assert_allclose(torque[ends + 1], [expected, 0.0], atol=1e-12)


def test_lines_are_dense_within_steps(result):
    t = panels(plot_series(result, "rod.x"))[0].lines[0].get_xdata()
    t = t[~np.isnan(t)]
    assert np.max(np.diff(t)) <= 1.5 / 500
    assert np.all(np.diff(t) >= 0.0)


def test_events_are_marked_in_every_panel(result):
    figure = plot_series(result, ["rod.x", "rod.theta"])
    top, below = panels(figure)
    assert labels(top) == ["rod.x", "event half", "event full"]
    assert labels(below) == ["rod.theta"]
    # theta = RATE/(2 DURATION) u^2 = 0.5, u = t - BEGIN
    half = BEGIN + math.sqrt(0.5 * 2 * DURATION / RATE)
    for axes in (top, below):
        (segment,) = axes.collections[0].get_segments()
        assert segment[0][0] == pytest.approx(half, abs=1e-9)


def test_series_refuses_unknown_names(result):
    with pytest.raises(ModelError, match=r"did you mean 'motor.torque'"):
        plot_series(result, "motor.torqe")
    with pytest.raises(ModelError, match="at least one"):
        plot_series(result, [])


def test_energy_shows_the_ledger(result):
    upper, lower = panels(plot_energy(result))
    assert labels(upper)[:4] == [
        "kinetic",
        "potential",
        "kinetic + potential",
        "work of motor",
    ]
    lines = {line.get_label(): line for line in upper.lines}
    # The motor's work is the rod's energy; tolerance: that of the run.
    energy = 0.5 * MASS * LENGTH**2 / 3 * RATE**2
    for name in ("kinetic", "kinetic + potential", "work of motor"):
        assert lines[name].get_ydata()[-1] == pytest.approx(energy, rel=1e-7)
    balance = result.energy_balance
    np.testing.assert_array_equal(lower.lines[0].get_ydata(), balance.imbalance)


def test_energy_between_steps_agrees_with_the_ledger_at_their_ends(zoo):
    upper = panels(plot_energy(zoo))[0]
    lines = {line.get_label(): line for line in upper.lines}
    balance = zoo.energy_balance
    t = lines["potential"].get_xdata()
    for name in ("kinetic", "potential"):
        drawn = np.interp(balance.t, t, lines[name].get_ydata())
        # The ends of steps are among the times: nothing is interpolated.
        np.testing.assert_allclose(drawn, getattr(balance, name), rtol=1e-12)
    assert any(label.endswith("others") for label in lines)


# ---- in the plane ----------------------------------------------------------------


def test_paths_have_equal_scales_and_marked_ends(result):
    axes = panels(plot_paths(result, ["rod.tip", "rod"]))[0]
    assert axes.get_aspect() == 1.0
    assert labels(axes) == ["rod.tip", "rod", "t = 0 s", "t = 1.5 s"]
    path, start, end = axes.lines[:3]
    x, y = path.get_data()
    # Tolerance: the samples are projected to round-off.
    seen = ~np.isnan(x)
    np.testing.assert_allclose(np.hypot(x[seen], y[seen]), LENGTH, rtol=1e-12)
    assert start.get_xdata()[0] == pytest.approx(LENGTH)
    angle = RATE * (1.5 - BEGIN - DURATION / 2)
    assert end.get_xdata()[0] == pytest.approx(LENGTH * math.cos(angle), abs=1e-9)


def test_draw_has_a_symbol_for_every_kind(zoo):
    figure = draw(zoo, [0.0, 0.3], names=True)
    axes = figure.axes[0]
    assert axes.get_aspect() == 1.0
    assert axes.get_title(loc="left") == "t = 0, 0.3 s"
    written = {text.get_text() for text in axes.texts}
    named = {element.name for element in zoo.system.model.elements()} - {"ground"}
    assert written == named
    # Bars, plates, pins, springs, arrows, at two instants.
    assert len(axes.collections) > 10
    figure.canvas.draw()


def test_earlier_instants_are_fainter(result):
    axes = panels(draw(result, [0.0, 0.75, 1.5]))[0]
    shade: dict[int, float] = {}
    for collection in axes.collections:
        layer = int(collection.get_zorder() // 10)
        darkest = float(np.min(collection.get_edgecolor()[:, :3]))
        shade[layer] = min(shade.get(layer, 1.0), darkest)
    assert shade[1] > shade[2] > shade[3]


def test_drawing_is_at_the_right_place(result):
    axes = panels(draw(result, 0.0))[0]
    bars = [
        path.vertices
        for collection in axes.collections
        for path in collection.get_paths()
        if len(path.vertices) == 2
    ]
    ends = np.array([[0.0, 0.0], [LENGTH, 0.0]])
    assert any(np.allclose(bar, ends, atol=1e-12) for bar in bars)


def testhull():
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5), (0.5, 0.0)])
    assert sorted(map(tuple, hull(square).tolist())) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    line = np.array([(0.0, 0.0), (0.1, 0.3), (0.2, 0.6), (0.3, 0.9)])
    np.testing.assert_allclose(hull(line), line[[0, -1]])
    assert len(hull(np.zeros((3, 2)))) == 1


# ---- files and surroundings ------------------------------------------------------


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_files_are_written(result, tmp_path, ending):
    path = tmp_path / f"series.{ending}"
    plot_series(result, "rod.x", path)
    head = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    content = path.read_bytes()
    assert content.startswith(head)
    assert len(content) > 5_000


@pytest.mark.parametrize("view", [draw, plot_energy, plot_paths])
def test_pictures_are_not_empty(result, tmp_path, view):
    from matplotlib.image import imread

    path = tmp_path / "view.png"
    if view is plot_paths:
        view(result, "rod.tip", path)
    else:
        view(result, path=path)
    picture = imread(path)
    assert min(picture.shape[:2]) > 300
    assert np.mean(picture[..., :3] < 0.9) > 0.003  # ink on white


def test_result_has_the_views_as_methods(result, tmp_path):
    assert result.plot("rod.x").axes
    assert result.plot_paths("rod.tip").axes
    assert result.draw([0.0, 1.0]).axes


def test_a_notebook_shows_the_figure(result):
    figure: Any = plot_series(result, "rod.x")
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_matplotlib_is_imported_late_and_pyplot_never():
    code = (
        "import sys, nonsmooth.views.plots\n"
        "assert 'matplotlib' not in sys.modules\n"
        "assert 'numba' not in sys.modules\n"
        "from nonsmooth.views.figure import new_figure, style\n"
        "with style():\n"
        "    new_figure(2, 2).subplots()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
