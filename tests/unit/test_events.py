"""Events: what fires, when, in which order, and what is left of the guard there."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq

from nonsmooth import (
    Contact,
    Event,
    Ground,
    Harmonic,
    Hertz,
    Line,
    Model,
    PointForce,
    PointMass,
    Ramp,
    Revolute,
    RigidBody,
    SpringDamper,
    State,
    TranslationDrive,
    simulate,
)
from nonsmooth.elements.laws import ConstantRate
from oracles import oscillators as osc

G = 9.81
EPS = float(np.finfo(float).eps)
RTOLS = (1e-3, 1e-6, 1e-9, 1e-12)


class Stuck(AssertionError):
    """Time has stopped."""


def watched(model: Model, until: float, **options):
    """Simulate; a run that stands still fails instead of hanging."""
    last, still = -1.0, 0

    def progress(done: float) -> None:
        nonlocal last, still
        still = still + 1 if done == last else 0
        last = done
        if still > 10:
            raise Stuck(f"the run stands still at {done:.17g} of its length")

    return simulate(model, until, progress=progress, **options)


def kinds(result) -> list[tuple[str, str]]:
    return [(event.element, event.kind) for event in result.events]


# ---- a thrown ball -------------------------------------------------------------

# Thrown so that it is back after one second: y = 4.905 t (1 - t).
THROW = 0.5 * G
PEAK = 0.125 * G


def ball(*events: Event, position=(0.0, 0.0), velocity=(1.0, THROW)) -> Model:
    body = PointMass(name="ball", mass=0.4, position=position, velocity=velocity)
    return Model(gravity=(0.0, -G), bodies=[body], events=events)


def height_times(height: float) -> tuple[float, float]:
    half = math.sqrt(2.0 * (PEAK - height) / G)
    return 0.5 - half, 0.5 + half


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("both", ["rising", "falling"]),
        ("rising", ["rising"]),
        ("falling", ["falling"]),
    ],
)
def test_direction_filters_events(direction, expected):
    model = ball(Event(name="e", b="ball", guard="y - 0.7", direction=direction))
    result = watched(model, 0.95)
    assert [event.kind for event in result.events] == expected
    rising, falling = height_times(0.7)
    times = {"rising": rising, "falling": falling}
    for event in result.events:
        # A parabola is integrated exactly by every method of order two and more.
        assert event.t == pytest.approx(times[event.kind], abs=1e-13)


@pytest.mark.parametrize("rtol", RTOLS)
def test_a_pair_of_roots_inside_one_step_is_not_lost(rtol):
    """The ball rises above a height by little and falls back."""
    for depth in (1e-1, 1e-2, 1e-4, 1e-6):
        model = ball(Event(name="e", b="ball", guard=f"y - {PEAK - depth!r}"))
        result = watched(model, 0.95, rtol=rtol)
        assert kinds(result) == [("e", "rising"), ("e", "falling")], depth
        # Near the peak a rounding of y moves the root by that over vy; sums over
        # twelve stages with weights up to five round by some ten units.
        speed = math.sqrt(2.0 * G * depth)
        assert result.events.t == pytest.approx(
            height_times(PEAK - depth), abs=1e-13 + 50 * EPS / speed
        )


@pytest.mark.parametrize("rtol", RTOLS)
def test_a_dip_is_found_whatever_the_step(rtol):
    """Straight motion: the step is as long as the run, the dip `width` of it."""
    body = PointMass(name="ball", mass=1.0, velocity=(1.0, 0.0))
    for width in (1e-1, 1e-2, 1e-4, 1e-6):
        dip = Event(name="e", b="ball", guard=f"(x - 0.53)**2 - {width**2!r}")
        result = watched(Model(bodies=[body], events=[dip]), 1.0, rtol=rtol)
        assert kinds(result) == [("e", "falling"), ("e", "rising")], width
        # The guard is a difference of numbers near 0.3 with slope 2 width.
        assert result.events.t == pytest.approx(
            [0.53 - width, 0.53 + width], abs=10 * EPS + EPS / width
        )


@pytest.mark.parametrize(("direction", "place"), [("falling", -1e-3), ("rising", 1e-3)])
def test_one_of_two_close_roots_can_be_chosen(direction, place):
    guard = "(x - 0.53)**2 - 1e-6"
    dip = Event(name="e", b="ball", guard=guard, direction=direction)
    body = PointMass(name="ball", mass=1.0, velocity=(1.0, 0.0))
    result = watched(Model(bodies=[body], events=[dip]), 1.0)
    assert [event.kind for event in result.events] == [direction]
    assert result.events.t == pytest.approx([0.53 + place], abs=1e-12)


@pytest.mark.parametrize("rtol", RTOLS)
def test_no_pair_of_roots_is_lost_wherever_it_lies(rtol):
    """A hundred pairs, 1e-6 to 0.3 apart, anywhere in the few steps of the run."""
    random = np.random.default_rng(7)
    body = PointMass(name="ball", mass=1.0, velocity=(1.0, 0.0))
    for _ in range(100):
        gap = float(10.0 ** random.uniform(-6.0, -0.5))
        one = float(random.uniform(0.01, 0.98 - gap))
        sign = random.choice(["", "-"])
        guard = f"{sign}(x - {one!r})*(x - {one + gap!r})"
        model = Model(bodies=[body], events=[Event(name="e", b="ball", guard=guard)])
        result = watched(model, 1.0, rtol=rtol)
        # Rounding of x by some units; the guard is a product, its roots are exact.
        assert result.events.t == pytest.approx([one, one + gap], abs=20 * EPS)


def test_a_guard_that_comes_near_but_not_through_does_not_fire():
    model = ball(Event(name="e", b="ball", guard=f"y - {PEAK + 1e-9!r}"))
    assert len(watched(model, 0.95).events) == 0


def test_several_guards_are_sorted_by_time():
    model = ball(
        Event(name="late", b="ball", guard="y - 1.0", direction="falling"),
        Event(name="top", b="ball", guard="vy"),
        Event(name="early", b="ball", guard="y - 0.3", direction="rising"),
        Event(name="wall", b="ball", guard="x - 0.8"),
    )
    result = watched(model, 0.95)
    assert kinds(result) == [
        ("early", "rising"),
        ("top", "falling"),
        ("late", "falling"),
        ("wall", "rising"),
    ]
    expected = [height_times(0.3)[0], 0.5, height_times(1.0)[1], 0.8]
    assert result.events.t == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("rtol", RTOLS)
def test_the_same_events_at_every_tolerance(rtol):
    """A fast guard on a slow motion: forty crossings, several in one step."""
    guard = Event(name="e", b="ball", guard="sin(20*pi*(x + 0.013))")
    body = PointMass(name="ball", mass=1.0, velocity=(1.0, 0.0))
    model = Model(bodies=[body], events=[guard])
    # The guard has ten periods a second; the nodes of a step must resolve it.
    result = watched(model, 2.0, rtol=rtol, max_step=0.1)
    expected = np.arange(1, 41) / 20.0 - 0.013
    assert result.events.t == pytest.approx(expected, abs=1e-13)
    alternating = ["falling" if k % 2 == 0 else "rising" for k in range(40)]
    assert [event.kind for event in result.events] == alternating


@pytest.mark.parametrize("method", ["rk4", "euler", "semi_implicit_euler"])
def test_an_event_at_the_end_of_a_step_is_not_lost(method):
    """Steps end at the crossing, up to round-off on either side."""
    body = PointMass(name="ball", mass=1.0, velocity=(1.0, 0.0))
    for k in range(1, 30):
        guard = Event(name="e", b="ball", guard=f"x - {k / 10!r}")
        model = Model(bodies=[body], events=[guard])
        result = watched(model, 3.0, method=method, step=0.1)
        assert kinds(result) == [("e", "rising")], k
        # Thirty additions of a tenth.
        assert result.events.t == pytest.approx([k / 10], abs=30 * EPS)


# ---- together ------------------------------------------------------------------


def test_events_of_two_symmetrical_bodies_fire_as_one():
    model = Model(
        gravity=(0.0, -G),
        bodies=[
            PointMass(name=name, mass=1.0, position=(x, 1.0))
            for name, x in (("left", -1.0), ("right", 1.0))
        ],
        events=[
            Event(name=f"{name}_down", b=name, guard="y - 0.2")
            for name in ("left", "right")
        ],
    )
    result = watched(model, 1.0)
    assert kinds(result) == [("left_down", "falling"), ("right_down", "falling")]
    assert result.events[0].t == result.events[1].t
    # One instant is one end of a step.
    assert np.all(np.diff(result.t) > 1e-9)


def test_a_stop_and_a_record_at_one_instant_are_both_kept():
    bar = RigidBody(
        name="bar",
        mass=1.0,
        inertia=0.1,
        position=(0.0, 1.0),
        points={"l": (-1.0, 0.0), "r": (1.0, 0.0)},
    )
    events = [
        Event(name="left", b="bar.l", guard="y - 0.2"),
        Event(name="right", b="bar.r", guard="y - 0.2", action="stop"),
    ]
    result = watched(Model(gravity=(0.0, -G), bodies=[bar], events=events), 1.0)
    assert result.status == "stopped"
    assert "right" in result.message
    assert [event.element for event in result.events] == ["left", "right"]
    assert [event.action for event in result.events] == ["record", "stop"]
    assert result.t_end == result.events[0].t == result.events[1].t


# ---- starts and ends -----------------------------------------------------------


def test_a_guard_that_starts_at_zero_is_armed_by_its_rate():
    """It leaves zero without an event, and fires when it comes back."""
    result = watched(ball(Event(name="floor", b="ball", guard="y")), 1.4)
    assert kinds(result) == [("floor", "falling")]
    assert result.events[0].t == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("direction", ["rising", "falling"])
def test_leaving_zero_at_the_start_is_no_crossing(direction):
    guard = Event(name="e", b="ball", guard="x", direction=direction)
    for velocity in ((1.0, 0.0), (-1.0, 0.0)):
        result = watched(ball(guard, velocity=velocity), 0.5)
        assert len(result.events) == 0


def test_a_guard_that_starts_flat_is_armed_by_its_acceleration():
    """y'' = -1 + t from rest: y falls, and passes zero at t = 3."""
    body = PointMass(name="ball", mass=1.0)
    push = PointForce(name="push", b="ball", fy=ConstantRate(rate=1.0, start=-1.0))
    guard = Event(name="e", b="ball", guard="y")
    result = watched(Model(bodies=[body], forces=[push], events=[guard]), 4.0)
    assert kinds(result) == [("e", "rising")]
    # y is a cubic, exact for the default method of order eight.
    assert result.events[0].t == pytest.approx(3.0, abs=1e-13)


@pytest.mark.parametrize("guard", ["x - 0.5", "y - 0.7"])
def test_a_run_that_goes_on_from_an_event_does_not_fire_it_again(guard):
    stop = Event(name="e", b="ball", guard=guard, action="stop")
    model = ball(stop)
    first = watched(model, 0.95)
    assert first.status == "stopped"
    second = watched(model, 0.95, start=first.state())
    if guard == "x - 0.5":
        assert len(second.events) == 0
        return
    assert kinds(second) == [("e", "falling")]
    assert second.events[0].t == pytest.approx(height_times(0.7)[1], abs=1e-13)


@pytest.mark.parametrize("back", [-1, 1])
def test_a_start_within_round_off_of_an_event_is_at_it(back):
    """A state read at an event has its guard at round-off, of either sign."""
    model = ball(Event(name="e", b="ball", guard="y - 0.7"))
    t = height_times(0.7)[0]
    start = State(
        t=t,
        positions={"ball": (t, 0.7 + back * 2 * EPS, 0.0)},
        velocities={"ball": (1.0, THROW - G * t, 0.0)},
    )
    result = watched(model, 0.95, start=start)
    assert kinds(result) == [("e", "falling")]


@pytest.mark.parametrize("guard", ["t - 1.5", "x - 1.5"])
@pytest.mark.parametrize("rtol", RTOLS)
def test_an_event_at_the_very_end_is_recorded_once(guard, rtol):
    body = PointMass(name="ball", mass=1.0, velocity=(1.0, 0.0))
    model = Model(bodies=[body], events=[Event(name="e", b="ball", guard=guard)])
    result = watched(model, 1.5, rtol=rtol)
    assert result.status == "finished"
    assert result.t_end == 1.5
    # x at the end is 1.5 up to round-off, so the crossing itself may not be reached.
    assert len(result.events) <= 1
    if guard == "t - 1.5":
        assert len(result.events) == 1
    assert result.events.t == pytest.approx([1.5] * len(result.events), abs=1e-14)


@pytest.mark.parametrize("rtol", RTOLS)
def test_a_stop_at_the_very_end(rtol):
    guard = Event(name="e", b="ball", guard="t - 1.5", action="stop")
    result = watched(ball(guard), 1.5, rtol=rtol)
    assert result.status == "stopped"
    assert result.t_end == 1.5


@pytest.mark.parametrize("rtol", RTOLS)
def test_an_event_at_a_break_of_a_law(rtol):
    """At 0.3 s the force begins; the ball passes x = 0.3 at that instant."""
    model = Model(
        bodies=[PointMass(name="ball", mass=1.0, velocity=(1.0, 0.0))],
        forces=[
            PointForce(name="f", b="ball", fy=Ramp(rate=1.0, duration=0.5, begin=0.3))
        ],
        events=[
            Event(name="place", b="ball", guard="x - 0.3"),
            Event(name="time", b="ball", guard="t - 0.8"),
        ],
    )
    result = watched(model, 1.5, rtol=rtol)
    assert kinds(result) == [("place", "rising"), ("time", "rising")]
    assert result.events.t == pytest.approx([0.3, 0.8], abs=1e-14)
    assert {0.3, 0.8} <= set(result.t)


# ---- stopping ------------------------------------------------------------------


def test_a_stop_ends_the_run_at_the_event():
    model = ball(
        Event(name="up", b="ball", guard="y - 0.3"),
        Event(name="top", b="ball", guard="vy", action="stop"),
        Event(name="never", b="ball", guard="x - 0.9"),
    )
    result = watched(model, 2.0)
    assert result.status == "stopped"
    assert "top" in result.message
    assert kinds(result) == [("up", "rising"), ("top", "falling")]
    assert result.t_end == result.events[-1].t == result.t[-1]
    assert result.t_end == pytest.approx(0.5, abs=1e-13)
    state = result.state()
    assert state.t == result.t_end
    assert state.positions["ball"][:2] == pytest.approx((0.5, PEAK), abs=1e-13)
    assert state.velocities["ball"][1] == pytest.approx(0.0, abs=4 * EPS * THROW)


def test_a_filtered_stop_lets_the_other_direction_pass():
    stop = Event(
        name="down", b="ball", guard="y - 0.3", direction="falling", action="stop"
    )
    result = watched(ball(stop), 2.0)
    assert kinds(result) == [("down", "falling")]
    assert result.t_end == pytest.approx(height_times(0.3)[1], abs=1e-13)


# ---- a pendulum: accuracy ------------------------------------------------------

ROD = osc.rod_pendulum(1.0)


def rod_model(*events: Event) -> Model:
    rod = RigidBody(
        name="rod",
        mass=1.0,
        inertia=1 / 12,
        position=(0.5, 0.0),
        points={"pin": (-0.5, 0.0), "tip": (0.5, 0.0)},
    )
    return Model(
        gravity=(0.0, -G),
        bodies=[rod],
        joints=[Revolute(name="hinge", b="rod.pin")],
        events=events,
    )


def rod_angle(t: float) -> float:
    return float(osc.pendulum(ROD, t, angle=math.pi / 2).q) - math.pi / 2


def rod_rate(t: float) -> float:
    return float(osc.pendulum(ROD, t, angle=math.pi / 2).v)


PERIOD = osc.pendulum_period(ROD, angle=math.pi / 2)


def crossings(f, until: float, n: int = 400) -> list[float]:
    """All roots of a closed form, bracketed on a fine grid."""
    grid = np.linspace(1e-3, until, n)
    values = [f(t) for t in grid]
    return [
        brentq(f, a, b, xtol=1e-15)
        for (a, fa), (b, fb) in pairwise(zip(grid, values, strict=True))
        if fa * fb < 0.0
    ]


GUARDS = {
    "theta + 1": lambda t: rod_angle(t) + 1.0,
    "omega + 2": lambda t: rod_rate(t) + 2.0,
    "x - 0.3": lambda t: math.cos(rod_angle(t)) - 0.3,
    "y + 0.9": lambda t: math.sin(rod_angle(t)) + 0.9,
    "vx + 1": lambda t: -math.sin(rod_angle(t)) * rod_rate(t) + 1.0,
    "vy - 1": lambda t: math.cos(rod_angle(t)) * rod_rate(t) - 1.0,
    "omega": rod_rate,
}
UNTIL = 1.3 * PERIOD


@pytest.mark.parametrize("guard", GUARDS)
def test_event_times_agree_with_the_closed_form(guard):
    b = "rod" if "theta" in guard or "omega" in guard else "rod.tip"
    model = rod_model(Event(name="e", b=b, guard=guard))
    result = watched(model, UNTIL, rtol=1e-13)
    exact = crossings(GUARDS[guard], UNTIL)
    # The run's own error, some 1e-13 per step over a few dozen steps.
    assert result.events.t == pytest.approx(exact, abs=3e-12)


@pytest.mark.parametrize(
    ("options", "within"),
    [
        # Error of the method over 0.4 s: some ten times the tolerance per step, or
        # the step's size to the power of the order.
        ({"method": "dop853", "rtol": 1e-12}, 1e-11),
        ({"method": "dopri5", "rtol": 1e-10}, 1e-8),
        ({"method": "radau", "rtol": 1e-9}, 1e-7),
        ({"method": "auto", "rtol": 1e-12}, 1e-11),
        ({"method": "rk4", "step": 2e-3}, 1e-9),
        ({"method": "euler", "step": 1e-4}, 1e-3),
        ({"method": "semi_implicit_euler", "step": 1e-4}, 1e-3),
    ],
    ids=lambda x: x["method"] if isinstance(x, dict) else "",
)
def test_every_method_lands_on_the_event(options, within):
    model = rod_model(Event(name="e", b="rod.tip", guard="y + 0.9", action="stop"))
    result = watched(model, 1.0, **options)
    (exact,) = crossings(GUARDS["y + 0.9"], 0.5)
    assert result.t_end == pytest.approx(exact, abs=within)
    # Landing corrects the size of the last step until the guard is at round-off: here
    # that of the projection, 4e-15 of the size for the pin and for the centre.
    left = result.sample([result.t_end], "rod.tip.y")["rod.tip.y"][0] + 0.9
    assert abs(left) < 2e-14


def test_an_event_between_two_moving_markers():
    """Two balls on crossing paths: the difference of their heights changes sign."""
    model = Model(
        gravity=(0.0, -G),
        bodies=[
            PointMass(name="one", mass=1.0, velocity=(0.0, 5.0)),
            PointMass(name="two", mass=1.0, position=(3.0, 1.0), velocity=(0.0, 3.0)),
        ],
        events=[
            Event(name="meet", a="two", b="one", guard="y"),
            Event(name="speed", a="one", b="two", guard="vy + 2 - 1e-3*(t - 0.2)"),
        ],
    )
    result = watched(model, 1.0)
    assert kinds(result) == [("speed", "falling"), ("meet", "rising")]
    assert result.events.t == pytest.approx([0.2, 0.5], abs=1e-12)


def test_a_guard_may_depend_on_acceleration_through_its_rate():
    """A velocity guard's rate is an acceleration: kinds follow its sign."""
    block = PointMass(name="block", mass=1.0, position=(1.5, 0.0))
    spring = SpringDamper(name="s", b="block", stiffness=4.0, rest_length=1.0)
    guard = Event(name="turn", b="block", guard="vx")
    result = watched(Model(bodies=[block], forces=[spring], events=[guard]), 4.0)
    # x = 1 + 0.5 cos 2t: rest at π/2 (far end, about to go up) and at π.
    assert kinds(result) == [("turn", "rising"), ("turn", "falling")]
    # The default tolerance, 1e-8 per step, over a few steps.
    assert result.events.t == pytest.approx([math.pi / 2, math.pi], abs=1e-7)


# ---- samples at an event -------------------------------------------------------


def test_both_limits_at_an_event_are_the_same_state():
    model = rod_model(Event(name="e", b="rod", guard="theta + 1"))
    result = watched(model, 0.6)
    t = [result.events[0].t]
    before, after = result.sample(t, limit="before"), result.sample(t, limit="after")
    for name in result.columns:
        # Two steps meet in one state; both are evaluated at it, up to the round-off
        # of a polynomial's sum and, for the reactions, of one evaluation.
        assert before[name] == pytest.approx(after[name], abs=1e-13, rel=1e-13)


def test_an_event_at_a_jump_of_a_drive_has_two_forces():
    """The drive's acceleration, and with it its force, jumps where the event is."""
    ramp = Ramp(rate=2.0, duration=0.5, begin=0.3)
    model = Model(
        bodies=[PointMass(name="cart", mass=3.0)],
        drives=[TranslationDrive(name="motor", b="cart", law=ramp)],
        events=[Event(name="e", b="cart", guard="t - 0.3")],
    )
    result = watched(model, 1.0)
    assert result.events.t == pytest.approx([0.3], abs=2 * EPS)
    before = result.sample([0.3], "motor.force", "before")["motor.force"][0]
    after = result.sample([0.3], "motor.force", "after")["motor.force"][0]
    # m s'' = 0, then 3 * 2/0.5; one multiplication.
    assert before == 0.0
    assert after == pytest.approx(12.0, rel=4 * EPS)


def test_an_event_on_a_driven_marker():
    """A guard on a body that follows a law fires where the law says."""
    law = Harmonic(amplitude=0.5, angular_frequency=3.0)
    model = Model(
        bodies=[
            PointMass(name="cart", mass=1.0, velocity=(1.5, 0.0)),
            Ground(points={"p": (0.3, 0.0)}),
        ],
        drives=[TranslationDrive(name="motor", b="cart", law=law)],
        events=[Event(name="e", a="ground.p", b="cart", guard="x")],
    )
    result = watched(model, 1.0)
    first = math.asin(0.6) / 3.0
    assert kinds(result) == [("e", "rising"), ("e", "falling")]
    # The position is projected onto the law at every end of a step: round-off only.
    assert result.events.t == pytest.approx([first, math.pi / 3 - first], abs=1e-14)


@pytest.mark.parametrize("depth", [1e-2, 1e-3, 1e-5])
def test_a_body_that_turns_evenly_touches_in_every_turn(depth):
    """No error shortens its steps; of 20 touch-downs half were missed."""
    rotor = RigidBody(
        name="rotor",
        mass=1.0,
        inertia=0.1,
        angular_velocity=30.0,
        points={"tip": (0.1, 0.0)},
    )
    floor = Ground(shapes={"floor": Line(point=(0.0, depth - 0.1), angle=0.0)})
    model = Model(
        bodies=[floor, rotor],
        joints=[Revolute(name="pin", b="rotor")],
        contacts=[
            Contact(
                name="tip",
                a="ground.floor",
                b="rotor.tip",
                normal=Hertz(stiffness=1e3, exponent=1.0),
            )
        ],
        events=[Event(name="level", b="rotor.tip", guard="y", direction="rising")],
    )
    result = simulate(model, 20 * 2.0 * math.pi / 30.0)
    counts = result.events.counts()
    assert counts["touch_down"] == 20
    assert counts["rising"] == 19
