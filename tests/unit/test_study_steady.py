"""Steady motions: maps, periods, kinds of motion, bifurcation diagrams, basins."""

import math

import numpy as np
import pytest

from nonsmooth import (
    Ground,
    Harmonic,
    Model,
    ModelError,
    PointForce,
    PointMass,
    SpringDamper,
    gallery,
    simulate,
)
from nonsmooth.study import (
    Between,
    Grid,
    Period,
    basins,
    bifurcation,
    classify,
    event_map,
    groups,
    stroboscopic,
    sweep,
)
from nonsmooth.study.attraction import grouped
from nonsmooth.study.steady import multiple, time_period
from oracles.stick_slip import Belt

PERIOD = 2.0 * math.pi / 420.0  # s, of the compactor


def forced(frequency: float = 7.0) -> Model:
    """Return a damped oscillator, whose steady motion is known."""
    return Model(
        bodies=[
            Ground(points={"wall": (-2.0, 0.0)}),
            PointMass(name="block", mass=2.0, position=(0.0, 0.0)),
        ],
        forces=[
            SpringDamper(
                name="spring",
                a="ground.wall",
                b="block",
                stiffness=50.0,
                damping=6.0,
                rest_length=2.0,
            ),
            PointForce(
                name="push",
                b="block",
                fx=Harmonic(amplitude=3.0, angular_frequency=frequency),
            ),
        ],
    )


def response(frequency: float) -> complex:
    """Return the steady motion x = Im(response exp(i w t)), a closed form."""
    return 3.0 / (50.0 - 2.0 * frequency**2 + 6.0j * frequency)


def test_stroboscopic_points_of_a_forced_oscillator():
    """Its transient falls by exp(-1.5 t): at 22 s it is below 1e-14 m."""
    result = simulate(forced(), 25.0, rtol=1e-11)
    period = 2.0 * math.pi / 7.0
    points = stroboscopic(result, period, ["block.x"], n=3, phase=0.25)
    expected = (response(7.0) * np.exp(0.5j * math.pi)).imag
    # The tolerance of the run, a few steps' worth.
    np.testing.assert_allclose(points, expected, atol=1e-8)


def test_maps_refuse_what_is_not_there():
    result = simulate(forced(), 0.5)
    with pytest.raises(ModelError, match="no multiple of the period 3 s"):
        stroboscopic(result, 3.0, ["block.x"], phase=0.5)
    with pytest.raises(ModelError, match="must be > 0 s"):
        stroboscopic(result, 0.0, ["block.x"])
    with pytest.raises(ModelError, match=r"kind = 'stik'; did you mean 'stick'"):
        event_map(result, ["block.x"], kind="stik")


def test_event_map_of_the_belt():
    """Each break-away is where the spring pulls with mu0 m g."""
    result = simulate(gallery.build("belt", mu0=0.52, k=80.0), 8.0, rtol=1e-10)
    points = event_map(result, ["block.x", "block.vx"], kind="break_away")
    assert len(points) >= 4
    np.testing.assert_allclose(points[:, 0], 0.52 * 9.81 / 80.0, rtol=1e-8)
    np.testing.assert_allclose(points[:, 1], 0.1, rtol=1e-8)


def test_multiples_of_known_sequences():
    k = np.arange(40)
    assert multiple(np.ones((40, 1)), 1e-9) == 1
    assert multiple((k % 3)[:, None], 1e-9) == 3
    # A transient before does not count.
    assert multiple((k % 2 + np.exp(-2.0 * k))[:, None], 1e-6) == 2
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    assert multiple(np.mod(k * golden, 1.0)[:, None], 1e-3) == 0
    # One column that does not repeat is enough.
    assert multiple(np.column_stack([k % 2, k]), 1e-3) == 0


def test_periods_of_known_instants():
    t = np.sort(np.concatenate([np.arange(30) * 0.7, np.arange(30) * 0.7 + 0.2]))
    assert time_period(t, 1e-9) == pytest.approx(0.7, rel=1e-13)
    assert math.isnan(time_period(np.arange(20.0) ** 2, 1e-6))
    assert math.isnan(time_period([0.1], 1e-6))


def test_groups_of_values():
    found = groups([3.01, 1.0, math.nan, 1.02, 3.0, 2.0], 0.1)
    assert found.tolist() == [2, 0, -1, 0, 2, 1]
    assert groups([], 0.1).tolist() == []


def test_belt_period_over_speed_against_its_closed_form():
    """The figure of the study `belt_speed`, at parameters of another belt."""
    table = sweep(
        "belt",
        {"speed": Grid(low=0.03, high=0.6, n=9), "mu": [0.22, 0.37]},
        {"period": Period(element="sole", kind="break_away")},
        settings={"mu0": 0.55, "k": 230.0, "m": 1.7},
        until=25.0,
        rtol=1e-10,
    )
    for k in range(table.n_run):
        point = table.point(k)
        belt = Belt(mass=1.7, stiffness=230.0, mu0=0.55, **point)
        expected = 2.0 * belt.surplus / belt.speed + belt.slip_time
        assert table["period"][k] == pytest.approx(expected, rel=1e-8)


# -- diagrams --------------------------------------------------------------------------


def test_diagram_of_a_linear_oscillator_has_no_hysteresis():
    """Points are the closed form's, whatever the direction: there is one motion."""
    diagram = bifurcation(
        forced(),
        "push.fx.angular_frequency",
        Grid(low=4.0, high=9.0, n=4),
        "block.x",
        # Paths cannot stand in expressions: runs of a common length, and the map is
        # that of their own frequency only at 2 pi.
        period=1.0,
        settle=20,
        n=4,
        rtol=1e-10,
    )
    assert [branch.direction for branch in diagram.branches] == ["up", "down"]
    up, down = diagram.branches
    assert up.values.tolist() == down.values.tolist()[::-1]
    for branch in diagram.branches:
        assert not branch.failures
        for i, w in enumerate(branch.values.tolist()):
            # n runs of 24 periods each have gone before.
            t = 24.0 * (i + 1) + np.arange(-3.0, 1.0)
            expected = (response(w) * np.exp(1j * w * t)).imag
            # What is left of the transient after 20 s, and the run's tolerance.
            np.testing.assert_allclose(branch.points[i], expected, atol=1e-7)


def test_diagram_of_a_drive_goes_on_at_its_phase():
    """A slider-crank without friction has one motion: kinematics, at any speed."""
    diagram = bifurcation(
        "slider_crank",
        "speed",
        [5.0, 6.5, 8.0],
        "slider.x",
        period="2*pi/speed",
        settle=2,
        n=3,
        directions="up",
    )
    (branch,) = diagram.branches
    assert not branch.failures
    start = simulate(gallery.build("slider_crank"), 0.1).sample(0.0, "slider.x")
    for points in branch.points:
        np.testing.assert_allclose(points, start["slider.x"][0], atol=1e-6)
    assert branch.multiples.tolist() == [1, 1, 1]
    with pytest.raises(ModelError, match="one direction"):
        diagram.hysteresis(1e-3)


def test_event_diagram_of_the_belt():
    diagram = bifurcation(
        "belt",
        "mu0",
        [0.45, 0.6],
        "block.x",
        event=("sole", "break_away"),
        period=1.0,
        settle=2,
        n=3,
    )
    for branch in diagram.branches:
        for mu0, points in zip(branch.values, branch.points, strict=True):
            assert len(points) > 0
            np.testing.assert_allclose(points[-1], mu0 * 9.81 / 100.0, rtol=1e-6)
    assert diagram.hysteresis(1e-3) == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"period": None}, "period is missing"),
        ({"directions": "left"}, "give 'up', 'down' or 'both'"),
        ({"parameter": "sped"}, "did you mean 'speed'"),
        ({"column": "blck.x"}, "did you mean 'block.x'"),
        ({"values": []}, "at least one value"),
    ],
)
def test_bad_diagrams_are_refused(changes, why):
    given = {
        "system": "belt",
        "parameter": "speed",
        "values": [0.1],
        "column": "block.x",
        "period": 1.0,
    }
    with pytest.raises(ModelError, match=why):
        bifurcation(**(given | changes))


# -- the compactor ---------------------------------------------------------------------


def test_compactor_is_dropped_as_asked():
    model = gallery.build(
        "compactor", start="dropped", height=0.003, tilt=-0.04, phase=2.5
    )
    start = simulate(model, 1e-3).sample(0.0)
    assert start["right.gap"][0] == pytest.approx(0.003, abs=1e-15)
    assert start["left.gap"][0] == pytest.approx(
        0.003 + 0.4 * math.sin(0.04), abs=1e-15
    )
    assert start["rotor.theta"][0] - start["box.theta"][0] == pytest.approx(2.5)
    for name in ("box.vx", "box.vy", "box.omega"):
        assert start[name][0] == 0.0
    assert start["rotor.omega"][0] == 420.0
    with pytest.raises(ModelError, match=r"height = 0\.1; it is for start = 'dropped'"):
        gallery.build("compactor", height=0.1)


# Runs of the built-in study `compactor_basins`, one of each motion, with its speed.
MOTIONS = {62: 16.03, 82: 17.58, 142: 17.99}
FASTEST = 106


@pytest.mark.slow
def test_steady_motions_of_the_compactor_coexist():
    """Three attractors at 420 rad/s, and a fourth that is weakly attracted.

    Speeds in m/min are those of the specification; each motion is not quite periodic,
    so that means over 100 revolutions differ by 0.02.
    """
    from nonsmooth.study import load_study
    from nonsmooth.study.ready import path_of

    points = load_study(path_of("compactor_basins")).points
    chosen = [points[k] for k in MOTIONS]
    found = basins(
        "compactor",
        {name: [point[name] for point in chosen] for name in chosen[0]},
        "box.vx",
        period="2*pi/rotor_speed",
        n_periods=900,
        tolerance=0.2 / 60.0,
        combine="zip",
        settings={"start": "dropped"},
    )
    np.testing.assert_allclose(60.0 * found.speeds, list(MOTIONS.values()), atol=0.02)
    assert found.counts.tolist() == [1, 1, 1]


@pytest.mark.slow
def test_the_fastest_motion_of_the_compactor_is_weakly_attracted():
    """A run between 19.0 and 19.8 m/min after 900 revolutions converges, slowly.

    It comes to a motion that repeats after seven revolutions. States approach it with
    an e-fold of 23 s, and their distance is what changes in seven revolutions.
    """
    from nonsmooth.study import load_study
    from nonsmooth.study.ready import path_of

    point = load_study(path_of("compactor_basins")).points[FASTEST]
    model = gallery.build("compactor", start="dropped", **point)
    result = simulate(model, 5600 * PERIOD)
    at = np.arange(5601) * PERIOD
    x = result.sample(np.minimum(at, result.t_end), "box.x")["box.x"]
    speed = 60.0 * (x[100:] - x[:-100]) / (100.0 * PERIOD)
    assert 19.0 < speed[800] < speed[1900] < speed[2900] < 19.80
    motion = classify(result, "box.vx", PERIOD, n=98, tolerance=0.01)
    assert motion.period == 7
    assert 60.0 * motion.speed == pytest.approx(19.799, abs=2e-3)
    points = stroboscopic(result, PERIOD, ["box.theta", "box.vy"])
    moved = np.abs(points[7:] - points[:-7])
    # Largest in windows longer than the slow swing about the motion.
    far = np.array([moved[k : k + 300].max(axis=0) for k in range(1500, 5200, 300)])
    rates = np.polyfit(PERIOD * 300.0 * np.arange(len(far)), np.log(far), 1)[0]
    # A fit over five e-folds of a decay that still curves.
    np.testing.assert_allclose(-1.0 / rates, 23.0, rtol=0.1)


def test_basins_of_a_table(tmp_path):
    found = basins(
        "slider_crank",
        {"speed": [5.0, 5.5, 9.0], "crank_mass": Between(low=0.5, high=2.0)},
        "crank.omega",
        period="2*pi/speed",
        n_periods=3,
        last=1,
        tolerance=1.0,
        samples=3,
    )
    # The drive says it all: two motions, 5 and 5.5 count as one.
    assert found.counts.tolist() == [6, 3]
    assert found.speeds[1] == pytest.approx(9.0, rel=1e-9)
    assert np.all(found.group[:6] == 0)
    found.plot("speed", "crank_mass", str(tmp_path / "basins.png"))
    assert (tmp_path / "basins.png").stat().st_size > 5000
    assert len(grouped(found.table, 0.1).speeds) == 3
