"""Results: names, samples, limits, restarts, exports, refusals."""

import csv
import json
import math
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Couple,
    Distance,
    Event,
    Ground,
    Harmonic,
    Model,
    ModelError,
    MovingSupport,
    PointForce,
    PointMass,
    Ramp,
    Result,
    Revolute,
    RigidBody,
    RotationDrive,
    SpringDamper,
    State,
    TranslationDrive,
    Weld,
    simulate,
)
from nonsmooth.result import Limit
from oracles import oscillators as osc

G = 9.81
EPS = float(np.finfo(float).eps)
ROD = osc.rod_pendulum(1.0)


def rod_model(*events: Event) -> Model:
    """A uniform rod of 1 m and 1 kg, released from the horizontal."""
    rod = RigidBody(
        name="rod",
        mass=1.0,
        inertia=1 / 12,
        position=(0.5, 0.0),
        points={"pin": (-0.5, 0.0), "tip": (0.5, 0.0)},
    )
    return Model(
        title="rod",
        gravity=(0.0, -G),
        bodies=[rod],
        joints=[Revolute(name="hinge", b="rod.pin")],
        events=events,
    )


def exact(t) -> tuple[np.ndarray, np.ndarray]:
    """Angle from +x, and rate, of that rod."""
    response = osc.pendulum(ROD, t, angle=math.pi / 2)
    return response.q - math.pi / 2, response.v


@pytest.fixture(scope="module")
def rod() -> Result:
    return simulate(rod_model(), 1.2, rtol=1e-11)


# The run's tolerance of 1e-11 per step, a few dozen steps.
RUN = 1e-9


# ---- names ---------------------------------------------------------------------


STILL = Harmonic(amplitude=0.0, angular_frequency=1.0)


def everything() -> Model:
    """One element of every family that has columns."""
    return Model(
        gravity=(0.0, -G),
        bodies=[
            MovingSupport(name="deck", points={"eye": (0.0, 0.0)}),
            RigidBody(
                name="arm",
                mass=1.0,
                inertia=0.1,
                position=(1.0, 0.0),
                points={"left": (-1.0, 0.0), "right": (1.0, 0.0)},
            ),
            PointMass(name="bob", mass=0.5, position=(3.0, 0.0)),
            RigidBody(name="cart", mass=2.0, inertia=0.2, position=(0.0, -2.0)),
            Ground(points={"nail": (0.0, 5.0)}),
        ],
        joints=[
            Revolute(name="hinge", a="deck.eye", b="arm.left"),
            Distance(name="link", a="arm.right", b="bob", length=1.0),
        ],
        drives=[
            RotationDrive(name="motor", b="arm", law=STILL),
            TranslationDrive(name="pusher", b="cart", law=STILL),
        ],
        forces=[
            SpringDamper(name="spring", a="ground.nail", b="arm.right", stiffness=2.0),
            Couple(name="twist", b="cart", torque=0.1),
        ],
        events=[Event(name="pass", b="bob", guard="y + 0.1")],
    )


BODY = ("x", "y", "theta", "vx", "vy", "omega", "ax", "ay", "alpha")
POINT = ("x", "y", "vx", "vy", "ax", "ay")
WRENCH = ("force_x", "force_y", "torque")


def test_columns_are_complete_and_in_a_fixed_order():
    """Bodies with mass, supports, joints, drives, forces, supports' forces."""
    result = simulate(everything(), 0.2)
    expected = ["t"]
    for body, points in (
        ("arm", ("left", "right")),
        ("bob", ()),
        ("cart", ()),
        ("deck", ("eye",)),
    ):
        expected += [f"{body}.{name}" for name in BODY]
        expected += [f"{body}.{point}.{name}" for point in points for name in POINT]
    expected += [f"{joint}.{name}" for joint in ("hinge", "link") for name in WRENCH]
    expected += ["motor.torque", "pusher.force"]
    expected += [f"{force}.{name}" for force in ("spring", "twist") for name in WRENCH]
    expected += [f"deck.{name}" for name in WRENCH]
    assert result.columns == tuple(expected)
    samples = result.sample()
    assert tuple(samples) == result.columns
    assert len(samples) == len(expected)
    assert all(len(column) == len(result.t) for column in samples.values())
    # The same model gives the same names in another process or on another day: they
    # follow the order of the model alone.
    assert simulate(everything(), 0.1).columns == result.columns


def test_a_point_mass_has_no_rotation():
    result = simulate(everything(), 0.2)
    for name in ("theta", "omega", "alpha"):
        assert not np.any(result[f"bob.{name}"])


def test_chosen_names_come_in_the_order_asked_for(rod):
    samples = rod.sample([0.1, 0.2], ["rod.omega", "t", "hinge.force_y"])
    assert list(samples) == ["t", "rod.omega", "hinge.force_y"]
    assert samples.to_numpy().shape == (2, 3)
    assert np.array_equal(samples.to_numpy()[:, 0], [0.1, 0.2])
    one = rod.sample(0.3, "rod.omega")
    assert list(one) == ["t", "rod.omega"]
    assert one["t"].tolist() == [0.3]


def test_indexing_gives_the_ends_of_steps(rod):
    assert np.array_equal(rod["t"], rod.t)
    assert np.array_equal(rod["rod.theta"], rod.sample(names="rod.theta")["rod.theta"])
    assert rod.t[0] == 0.0
    assert rod.t[-1] == rod.t_end == 1.2
    assert np.all(np.diff(rod.t) > 0.0)


# ---- values --------------------------------------------------------------------


def test_motion_of_body_and_points(rod):
    t = np.linspace(0.0, 1.2, 41)
    samples = rod.sample(t)
    angle, rate = exact(t)
    alpha = -1.5 * G * np.cos(angle)
    c, s = np.cos(angle), np.sin(angle)
    for name, radius in (("rod", 0.5), ("rod.tip", 1.0), ("rod.pin", 0.0)):
        expected = {
            "x": radius * c,
            "y": radius * s,
            "vx": -radius * s * rate,
            "vy": radius * c * rate,
            "ax": -radius * (s * alpha + c * rate**2),
            "ay": radius * (c * alpha - s * rate**2),
        }
        for quantity, values in expected.items():
            # Accelerations reach 30 m/s^2 and turn with the angle's error.
            assert samples[f"{name}.{quantity}"] == pytest.approx(values, abs=30 * RUN)
    assert samples["rod.theta"] == pytest.approx(angle, abs=RUN)
    assert samples["rod.omega"] == pytest.approx(rate, abs=10 * RUN)
    assert samples["rod.alpha"] == pytest.approx(alpha, abs=30 * RUN)


def test_joint_forces_act_on_b(rod):
    t = np.linspace(0.0, 1.2, 41)
    angle, rate = exact(t)
    fx, fy = osc.pendulum_reaction(ROD, angle + math.pi / 2, rate)
    samples = rod.sample(t)
    # Forces of 25 N, as far as the motion is right.
    assert samples["hinge.force_x"] == pytest.approx(fx, abs=100 * RUN)
    assert samples["hinge.force_y"] == pytest.approx(fy, abs=100 * RUN)
    assert not np.any(samples["hinge.torque"])


def test_a_support_reports_the_force_it_exerts():
    """A welded block on a shaken support: F = m (a - g), and its moment."""
    shake = Harmonic(amplitude=0.2, angular_frequency=5.0)
    turn = Harmonic(amplitude=0.1, angular_frequency=3.0)
    block = RigidBody(
        name="block",
        mass=2.0,
        inertia=0.3,
        position=(0.4, 0.0),
        points={"p": (-0.4, 0)},
    )
    model = Model(
        gravity=(0.0, -G),
        bodies=[block, MovingSupport(name="table", x=shake, theta=turn)],
        joints=[Weld(name="bolt", a="table", b="block.p")],
        assemble=True,
    )
    result = simulate(model, 1.0)
    t = np.linspace(0.0, 1.0, 21)
    samples = result.sample(t)
    base = -0.2 * 25.0 * np.sin(5 * t)
    theta, omega = 0.1 * np.sin(3 * t), 0.3 * np.cos(3 * t)
    alpha = -0.9 * np.sin(3 * t)
    rx, ry = 0.4 * np.cos(theta), 0.4 * np.sin(theta)
    ax = base - alpha * ry - omega**2 * rx
    ay = alpha * rx - omega**2 * ry
    fx, fy = 2.0 * ax, 2.0 * (ay + G)
    # The motion is prescribed: projected to round-off, forces follow from it.
    close: dict[str, Any] = {"abs": 1e-11}
    assert samples["table.force_x"] == pytest.approx(fx, **close)
    assert samples["table.force_y"] == pytest.approx(fy, **close)
    torque = 0.3 * alpha + rx * fy - ry * fx
    assert samples["table.torque"] == pytest.approx(torque, **close)
    for name in WRENCH:
        assert samples[f"bolt.{name}"] == pytest.approx(
            samples[f"table.{name}"], **close
        )
    for name, values in (("x", 0.2 * np.sin(5 * t)), ("theta", theta), ("ax", base)):
        assert samples[f"table.{name}"] == pytest.approx(values, abs=1e-13)


def test_force_columns_give_the_wrench_on_b():
    model = Model(
        bodies=[PointMass(name="ball", mass=1.0, position=(3.0, 4.0))],
        forces=[
            SpringDamper(name="spring", b="ball", stiffness=2.0, rest_length=1.0),
            PointForce(name="push", b="ball", fx=0.3, fy=-0.2),
        ],
    )
    samples = simulate(model, 0.1).sample([0.0])
    # Pull of 2 N/m * 4 m along (-3, -4)/5: three roundings.
    assert samples["spring.force_x"] == pytest.approx([-4.8], rel=4 * EPS)
    assert samples["spring.force_y"] == pytest.approx([-6.4], rel=4 * EPS)
    assert samples["push.force_x"].tolist() == [0.3]
    assert samples["push.force_y"].tolist() == [-0.2]


def test_samples_between_steps_stay_on_the_constraints(rod):
    t = np.linspace(0.0, 1.2, 333)
    samples = rod.sample(t, ["rod.pin.x", "rod.pin.y", "rod.pin.vx", "rod.pin.vy"])
    # Projected after interpolation: a few units of round-off of 1 m and 5 m/s.
    assert np.max(np.abs(samples.to_numpy()[:, 1:])) < 2e-14


# ---- limits --------------------------------------------------------------------

RAMP = Ramp(rate=3.0, duration=0.4, begin=0.2)


def flywheel() -> Model:
    return Model(
        bodies=[RigidBody(name="wheel", mass=1.0, inertia=0.5)],
        joints=[Revolute(name="axle", b="wheel")],
        drives=[RotationDrive(name="motor", b="wheel", law=RAMP)],
    )


@pytest.mark.parametrize(
    ("instant", "before", "after"),
    # J s'' = 0.5 * 3/0.4 while the ramp lasts.
    [(RAMP.breaks()[0], 0.0, 3.75), (RAMP.breaks()[1], 3.75, 0.0)],
)
@pytest.mark.parametrize("method", ["auto", "dopri5", "radau", "rk4"])
def test_a_drive_has_two_torques_at_a_break(instant, before, after, method):
    options: dict[str, Any] = {"method": method}
    if method == "rk4":
        options["step"] = 0.03
    result = simulate(flywheel(), 1.0, **options)
    sides: list[tuple[Limit, float]] = [("before", before), ("after", after)]
    for limit, torque in sides:
        found = result.sample([instant], "motor.torque", limit)["motor.torque"]
        assert found == pytest.approx([torque], rel=4 * EPS, abs=4 * EPS)
    # Away from the break both limits agree.
    t = np.array([instant - 0.05, instant + 0.05])
    ours, theirs = (
        result.sample(t, "motor.torque", limit)["motor.torque"]
        for limit in ("before", "after")
    )
    assert np.array_equal(ours, theirs)
    assert ours == pytest.approx([before, after], rel=4 * EPS, abs=4 * EPS)


def test_a_break_at_the_end_of_a_run_is_read_before_it():
    """The ramp ends with the run: its torque lasts to the end."""
    end = RAMP.breaks()[1]
    result = simulate(flywheel(), end)
    torque = result.sample([end], "motor.torque", "before")["motor.torque"]
    assert torque == pytest.approx([3.75], rel=4 * EPS)
    # Constant torques on both sides of the other break need no short steps.
    assert result.cost["steps"] < 25


def test_positions_are_the_same_on_both_sides_of_a_break():
    result = simulate(flywheel(), 1.0)
    for instant in RAMP.breaks():
        for name in ("wheel.theta", "wheel.omega"):
            before = result.sample([instant], name, "before")[name]
            after = result.sample([instant], name, "after")[name]
            # The law one unit of round-off earlier.
            assert before == pytest.approx(after, abs=1e-14)


def test_the_ends_of_a_run_have_one_limit(rod):
    for t in (0.0, 1.2):
        before, after = rod.sample([t], limit="before"), rod.sample([t], limit="after")
        for name in rod.columns:
            assert before[name] == after[name]


# ---- states and restarts -------------------------------------------------------


def test_state_is_the_end_by_default(rod):
    state = rod.state()
    assert isinstance(state, State)
    assert state.t == 1.2
    angle, rate = exact(1.2)
    assert state.positions["rod"][2] == pytest.approx(float(angle), abs=RUN)
    assert state.velocities["rod"][2] == pytest.approx(float(rate), abs=10 * RUN)


def test_state_agrees_with_samples(rod):
    state, samples = rod.state(0.37), rod.sample([0.37])
    for k, name in enumerate(("x", "y", "theta")):
        assert state.positions["rod"][k] == samples[f"rod.{name}"][0]
    for k, name in enumerate(("vx", "vy", "omega")):
        assert state.velocities["rod"][k] == samples[f"rod.{name}"][0]


@pytest.mark.parametrize("split", [0.1, 0.5, 0.97])
@pytest.mark.parametrize("method", ["auto", "dopri5", "radau"])
def test_splitting_a_run_gives_the_same_motion(split, method):
    model, rtol = rod_model(), 1e-9
    whole = simulate(model, 1.0, rtol=rtol, method=method)
    first = simulate(model, split, rtol=rtol, method=method)
    second = simulate(model, 1.0, rtol=rtol, method=method, start=first.state())
    assert second.t_start == split
    # Both are within some hundred steps of rtol of the exact motion.
    close: dict[str, Any] = {"abs": 100 * rtol}
    ours, theirs = whole.state(), second.state()
    assert ours.positions["rod"] == pytest.approx(theirs.positions["rod"], **close)
    assert ours.velocities["rod"] == pytest.approx(theirs.velocities["rod"], **close)


def test_a_state_may_be_taken_inside_a_run(rod):
    """From the dense output, of order seven and projected onto the joints."""
    later = simulate(rod_model(), 1.2, start=rod.state(0.613), rtol=1e-11)
    ours, theirs = rod.state(), later.state()
    # Dense output is as good as the steps here; joined with both runs' errors.
    assert ours.positions["rod"] == pytest.approx(theirs.positions["rod"], abs=10 * RUN)


def test_a_state_of_other_bodies_is_refused(rod):
    state = rod.state()
    other = State(
        t=0.0,
        positions={"stick": state.positions["rod"]},
        velocities={"stick": state.velocities["rod"]},
    )
    with pytest.raises(ModelError, match=r"start.positions.*\['rod', 'stick'\]"):
        simulate(rod_model(), 1.0, start=other)


def test_a_restart_must_end_later(rod):
    with pytest.raises(ModelError, match=r"until = 1.2; must be a time > 1.2 s"):
        simulate(rod_model(), 1.2, start=rod.state())


# ---- exports -------------------------------------------------------------------


def test_csv_reads_back_to_the_same_numbers(rod, tmp_path):
    samples = rod.sample(np.linspace(0.0, 1.2, 25))
    samples.to_csv(tmp_path / "rod.csv")
    with open(tmp_path / "rod.csv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert tuple(header) == rod.columns
    back = np.array([[float(x) for x in row] for row in rows])
    # Shortest text that reads back: bit for bit.
    assert back.tobytes() == samples.to_numpy().tobytes()


def test_pandas_has_the_same_columns_and_numbers(rod):
    pytest.importorskip("pandas")
    samples = rod.sample(np.linspace(0.0, 1.2, 25))
    frame = samples.to_pandas()
    assert tuple(frame.columns) == rod.columns
    assert np.array_equal(frame.to_numpy(), samples.to_numpy())
    assert frame.attrs["units"] == rod.columns.units
    assert rod.columns.units["t"] == "s"
    assert rod.columns.units["rod.omega"] == "rad/s"
    assert "rod.omega (rad/s)" in repr(rod.columns)


def test_xarray_runs_over_time(rod):
    pytest.importorskip("xarray")
    samples = rod.sample(np.linspace(0.0, 1.2, 25))
    dataset = samples.to_xarray()
    assert dict(dataset.sizes) == {"t": 25}
    assert set(dataset.data_vars) == set(rod.columns) - {"t"}
    assert np.array_equal(dataset["t"], samples["t"])
    assert np.array_equal(dataset["rod.theta"], samples["rod.theta"])
    assert dataset["rod.theta"].attrs == {"long_name": "angle", "units": "rad"}
    assert dataset["t"].attrs["units"] == "s"


def test_parquet_reads_back_to_the_same_numbers(rod, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    samples = rod.sample(np.linspace(0.0, 1.2, 25))
    samples.to_parquet(tmp_path / "rod.parquet")
    table = parquet.read_table(tmp_path / "rod.parquet")
    assert json.loads(table.schema.metadata[b"units"]) == rod.columns.units
    assert table.schema.field("rod.omega").metadata == {b"unit": b"rad/s"}
    assert tuple(table.column_names) == rod.columns
    for name in rod.columns:
        assert np.array_equal(table[name].to_numpy(), samples[name])


# ---- refusals ------------------------------------------------------------------


@pytest.mark.parametrize("t", [-0.1, 1.3, math.nan, math.inf])
def test_times_outside_the_run_are_refused(rod, t):
    with pytest.raises(ModelError, match=r"outside the run, 0 to 1.2 s"):
        rod.sample([0.5, t])
    with pytest.raises(ModelError, match="outside the run"):
        rod.state(t)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("rod.thet", r"did you mean 'rod.theta'\?"),
        ("hinge.forcex", r"did you mean 'hinge.force_x'\?"),
        ("bone", "valid: "),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(rod, name, hint):
    with pytest.raises(ModelError, match=rf"no quantity '{name}'; {hint}"):
        rod.sample(names=name)
    with pytest.raises(ModelError, match=rf"no quantity '{name}'; {hint}"):
        rod[name]
    with pytest.raises(KeyError, match=rf"no column '{name}'; {hint}"):
        rod.sample([0.1])[name]


def test_an_unknown_limit_is_refused(rod):
    with pytest.raises(ModelError, match="limit = 'left'; give 'before' or 'after'"):
        rod.sample([0.1], limit="left")


# ---- events and overview -------------------------------------------------------


@pytest.fixture(scope="module")
def eventful() -> Result:
    return simulate(
        rod_model(
            Event(name="low", b="rod.tip", guard="y + 0.9"),
            Event(name="turn", b="rod", guard="omega"),
        ),
        2.0,
    )


def test_the_event_table_can_be_searched(eventful):
    events = eventful.events
    # In one swing and a little: twice down and up again, and both ends.
    assert events.counts() == {"falling": 3, "rising": 3}
    low, turn = events.of("low"), events.of("turn")
    assert [event.kind for event in low] == ["falling", "rising"] * 2
    assert [event.kind for event in turn] == ["rising", "falling"]
    assert {event.element for event in low} == {"low"}
    assert np.all(np.diff(events.t) > 0.0)
    assert len(events[1:]) == len(events) - 1
    assert events[-1].t == events.t[-1]
    lines = str(events).splitlines()
    assert len(lines) == len(events)
    assert "low" in lines[0]


def test_the_event_table_exports(eventful):
    pytest.importorskip("pandas")
    frame = eventful.events.to_pandas()
    assert list(frame.columns[:4]) == ["t", "element", "kind", "action"]
    assert np.array_equal(frame["t"], eventful.events.t)
    assert frame.attrs["units"]["t"] == "s"
    assert frame.attrs["units"]["slip_velocity_before"] == "m/s"


def test_no_events_read_as_such(rod):
    assert str(rod.events) == "no events"
    assert len(rod.events.t) == 0


def test_the_summary_tells_what_was_done(eventful):
    summary = eventful.summary()
    assert summary["model"] == "rod"
    assert summary["status"] == "finished"
    assert (summary["t_start"], summary["t_end"]) == (0.0, 2.0)
    assert summary["n_events"] == len(eventful.events)
    assert summary["options"]["rtol"] == 1e-8
    assert summary["cost"]["steps"] == len(eventful.steps.t)
    # Ten tolerances of what was exchanged: see test_energy.
    assert summary["energy_residual"] <= 1e-7 * summary["energy_exchanged"]
    # Projected to round-off of the model's size, 1 m.
    assert 0.0 <= summary["violation"] < 1e-13


# ---- verification --------------------------------------------------------------


def test_verify_estimates_the_true_error():
    result = simulate(rod_model(), 1.2, rtol=1e-6)
    report = result.verify()
    t = np.linspace(0.0, 1.2, 201)
    samples = result.sample(t)
    angle, rate = exact(t)
    error = np.max(np.abs(samples["rod.theta"] - angle))
    spin = np.max(np.abs(samples["rod.omega"] - rate))
    # The repetition at a hundredth of rtol is itself a hundred times better.
    assert report.angle == pytest.approx(error, rel=0.1)
    assert report.angular_velocity == pytest.approx(spin, rel=0.1)
    assert report.worst == "rod"
    assert report.events
    assert report.tighter.options["rtol"] == pytest.approx(1e-8)


def test_verify_compares_events(eventful):
    report = eventful.verify()
    assert report.events
    # A hundred steps of rtol at speeds of order one.
    assert 0.0 < report.event_time < 1e-6
    assert "same events" in str(report)


def test_verify_halves_a_fixed_step():
    result = simulate(rod_model(), 0.5, method="rk4", step=0.02)
    report = result.verify(0.5)
    assert report.tighter.options["step"] == pytest.approx(0.01)
    angle, _ = exact(0.5)
    error = abs(result.state().positions["rod"][2] - float(angle))
    # Order four: the difference to half the step is 15/16 of the error at the end,
    # and the report covers all times before it too.
    assert report.angle >= 0.9 * error * 15 / 16


@pytest.mark.parametrize("factor", [0.0, 1.0, -1.0])
def test_verify_refuses_what_is_not_tighter(rod, factor):
    with pytest.raises(ModelError, match="must lie between 0 and 1"):
        rod.verify(factor)
