"""Observed order of every method: on a smooth arc, through events, through breaks.

Steps are made equal by tolerances so loose that only `max_step` limits them. Slopes
are fitted over a factor of three to four in the number of steps.
"""

import math
from dataclasses import asdict, dataclass, field

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from nonsmooth import (
    Baumgarte,
    Event,
    Ground,
    Harmonic,
    Model,
    MovingSupport,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    SmoothStep,
    SpringDamper,
    State,
    Table,
    TimeLaw,
    TranslationDrive,
    simulate,
)
from oracles import oscillators as osc

# Over the range of steps used, higher terms of the error shift a slope by up to
# half an order either way; pendulums, where leading terms cancel in part, gain more.
# A method that lost one whole order would miss the lower bound.
BELOW, ABOVE = 0.35, 1.3

LONG = 1.0  # s
# The mechanism stands far from the origin so that the choice of the first step, a
# hundredth part of |y|/|y'| at most a hundredfold, does not cut it below `max_step`.
FAR = 10.0  # m


@dataclass(frozen=True)
class Method:
    """A method, its order, and numbers of steps between truncation and round-off."""

    name: str
    order: int
    n: tuple[int, ...]
    extra: dict = field(default_factory=dict)

    def options(self, n: int) -> dict:
        h = LONG / n
        if self.name in ("rk4", "euler", "semi_implicit_euler"):
            return {"method": self.name, "step": h, **self.extra}
        # A little more than h, or round-off would split the last step in two.
        return {
            "method": self.name,
            "max_step": h * (1 + 1e-9),
            "rtol": 0.5,
            "loose": True,
            "atol": 1e3,
            **self.extra,
        }

    def __str__(self) -> str:
        hold = self.extra.get("stabilisation", "")
        return f"{self.name} {hold}".split("(")[0].strip()


DOPRI5 = Method("dopri5", 5, (15, 18, 21, 25, 30, 35, 42, 50))
# Below 1e-12, at 25 steps and more, round-off would show.
DOP853 = Method("dop853", 8, (8, 9, 10, 11, 12, 14, 16, 18, 20, 22))
RK4 = Method("rk4", 4, (30, 36, 42, 50, 60, 70, 84, 100))
EULER = Method("euler", 1, (200, 300, 400, 600, 800))
SEMI = Method("semi_implicit_euler", 1, (200, 300, 400, 600, 800))
# alpha and beta below the reach of rk4 (2.8/h) at the largest step.
BAUMGARTE = Method(
    "rk4", 4, RK4.n, {"stabilisation": Baumgarte(alpha=20.0, beta=100.0)}
)
FREE = Method("rk4", 4, RK4.n, {"stabilisation": "none"})
EXPLICIT = [DOPRI5, DOP853, RK4, EULER, SEMI, BAUMGARTE, FREE]
# Newton's tolerance follows atol, so that loose tolerances spoil it; a linear problem
# is solved by its two iterations at any tolerance.
RADAU = Method("radau", 5, (15, 18, 21, 25, 30, 35, 42, 50))


def each(methods):
    return pytest.mark.parametrize("method", methods, ids=str)


def fitted(n, errors) -> float:
    """Slope of log(error) over log(steps), positive."""
    assert np.all(np.asarray(errors) > 0.0)
    return float(-np.polyfit(np.log(n), np.log(errors), 1)[0])


def has_order(method: Method, errors) -> bool:
    slope = fitted(method.n, errors)
    print(f"{method}: order {slope:.2f} of {method.order}, errors {errors}")
    return method.order - BELOW < slope < method.order + ABOVE


# ---- a rod on a hinge, released from the horizontal -------------------------------

ROD = osc.rod_pendulum(1.0)
ANGLE = -1.3  # rad, watched for
EVENT_TIME = brentq(
    lambda t: float(osc.pendulum(ROD, t, angle=math.pi / 2).q) - math.pi / 2 - ANGLE,
    0.1,
    0.7,
    xtol=1e-15,
)


def rod_model(**more) -> Model:
    return Model(
        gravity=(0.0, -9.81),
        bodies=[
            RigidBody(
                name="rod",
                mass=1.0,
                inertia=1 / 12,
                position=(FAR + 0.5, 0.0),
                points={"pin": (-0.5, 0.0)},
            ),
            Ground(points={"pin": (FAR, 0.0)}),
        ],
        joints=[Revolute(name="hinge", a="ground.pin", b="rod.pin")],
        **more,
    )


def distance(state: State, name: str, angle: float, rate: float, pace: float) -> float:
    """Error of angle and rate together, which smooths the zeros of either."""
    return math.hypot(
        state.positions[name][2] - angle, (state.velocities[name][2] - rate) / pace
    )


def rod_error(state: State) -> float:
    exact = osc.pendulum(ROD, state.t, angle=math.pi / 2)
    angle = float(exact.q) - math.pi / 2
    return distance(state, "rod", angle, float(exact.v), ROD.frequency)


@each(EXPLICIT)
def test_order_on_a_smooth_arc(method: Method):
    model = rod_model()
    results = [simulate(model, LONG, **method.options(n)) for n in method.n]
    assert [r.cost["steps"] for r in results] == list(method.n)
    assert has_order(method, [rod_error(r.state()) for r in results])


@each(EXPLICIT)
def test_order_through_a_recorded_event(method: Method):
    model = rod_model(events=[Event(name="pass", b="rod", guard=f"theta - {ANGLE}")])
    results = [simulate(model, LONG, **method.options(n)) for n in method.n]
    assert all(len(r.events) == 1 for r in results)
    assert has_order(method, [rod_error(r.state()) for r in results])
    assert has_order(method, [abs(r.events.t[0] - EVENT_TIME) for r in results])


@each([DOPRI5, DOP853, RK4, EULER, SEMI])
def test_order_through_a_stop_and_a_new_start(method: Method):
    stop = Event(name="pass", b="rod", guard=f"theta - {ANGLE}", action="stop")
    model, rest = rod_model(events=[stop]), rod_model()
    errors = []
    for n in method.n:
        first = simulate(model, LONG, **method.options(n))
        assert first.status == "stopped"
        second = simulate(rest, LONG, start=first.state(), **method.options(n))
        errors.append(rod_error(second.state()))
    assert has_order(method, errors)


@each([DOPRI5, DOP853, RK4])
def test_dense_output_keeps_its_order(method: Method):
    """Between the ends of steps: order 4 of dopri5, 7 of dop853, 3 of rk4's cubic.

    Its local error is one order higher, and adds to a global error that is no larger.
    """
    model = rod_model()
    t = np.linspace(0.05, 0.95, 37)
    exact = osc.pendulum(ROD, t, angle=math.pi / 2)
    errors = []
    for n in method.n:
        samples = simulate(model, LONG, **method.options(n)).sample(t)
        q = samples["rod.theta"] - (exact.q - math.pi / 2)
        v = (samples["rod.omega"] - exact.v) / ROD.frequency
        errors.append(float(np.max(np.hypot(q, v))))
    assert has_order(method, errors)


# ---- a linear oscillator on a guide -----------------------------------------------

BLOCK = {"mass": 2.0, "stiffness": 70.0, "damping": 1.5}
REST = 3.0  # m, length of the spring, never reached by the amplitude
PLACE = 0.1  # m, watched for, relative to rest


def block_model(base: TimeLaw | float = 0.0, events=()) -> Model:
    """A block on a horizontal guide, held by a spring to a support at x = FAR."""
    return Model(
        bodies=[
            RigidBody(
                name="block",
                mass=BLOCK["mass"],
                inertia=0.1,
                position=(FAR + REST + 0.4, 0.0),
            ),
            MovingSupport(name="base", x=base, points={"eye": (FAR, 0.0)}),
        ],
        joints=[Prismatic(name="guide", b="block")],
        forces=[
            SpringDamper(
                name="spring",
                a="base.eye",
                b="block",
                stiffness=BLOCK["stiffness"],
                damping=BLOCK["damping"],
                rest_length=REST,
            )
        ],
        events=events,
    )


def block_error(state: State, exact: osc.Response) -> float:
    pace = math.sqrt(BLOCK["stiffness"] / BLOCK["mass"])
    return math.hypot(
        state.positions["block"][0] - FAR - REST - float(exact.q),
        (state.velocities["block"][0] - float(exact.v)) / pace,
    )


def free_block(t: float) -> osc.Response:
    return osc.free_response(t, position=0.4, **BLOCK)


PLACE_TIME = brentq(lambda t: float(free_block(t).q) - PLACE, 0.0, 0.4, xtol=1e-15)


@each([RADAU, DOPRI5, DOP853])
def test_order_on_a_forced_oscillator(method: Method):
    base = Harmonic(amplitude=0.2, angular_frequency=4.0)
    model = block_model(base)
    exact = osc.base_excited(
        LONG, amplitude=0.2, frequency=4.0, position=0.4, velocity=0.0, **BLOCK
    )
    results = [simulate(model, LONG, **method.options(n)) for n in method.n]
    assert [r.cost["steps"] for r in results] == list(method.n)
    assert has_order(method, [block_error(r.state(), exact) for r in results])


def test_order_of_radau_through_an_event():
    guard = f"x - {FAR + REST + PLACE}"
    record = block_model(events=[Event(name="pass", b="block", guard=guard)])
    stop = block_model(
        events=[Event(name="pass", b="block", guard=guard, action="stop")]
    )
    recorded, times, restarted = [], [], []
    for n in RADAU.n:
        options = RADAU.options(n)
        result = simulate(record, LONG, **options)
        times.append(abs(result.events.t[0] - PLACE_TIME))
        recorded.append(block_error(result.state(), free_block(LONG)))
        first = simulate(stop, LONG, **options)
        second = simulate(block_model(), LONG, start=first.state(), **options)
        restarted.append(block_error(second.state(), free_block(LONG)))
    assert has_order(RADAU, recorded)
    assert has_order(RADAU, times)
    assert has_order(RADAU, restarted)


def test_radau_keeps_its_order_on_the_pendulum_with_its_own_steps():
    """Here the tolerance sets the steps; error over steps still falls as n^-5."""
    model = rod_model()
    n, errors = [], []
    for rtol in 10.0 ** -np.arange(5.0, 10.5, 0.5):
        result = simulate(model, LONG, method="radau", rtol=rtol)
        n.append(result.cost["steps"])
        errors.append(rod_error(result.state()))
    # Steps follow the estimate of order 3, whose first steps are shorter than the
    # fifth order needs: the slope is steeper by up to one.
    assert RADAU.order - BELOW < fitted(n, errors) < RADAU.order + 1.5


# ---- a rod on a driven cart: the law's acceleration jumps in its equation -----------

CART_START = 0.5  # rad, of the rod from the downward vertical


def cart_model(law: TimeLaw, speed: float = 0.0) -> Model:
    """The cart starts with the law's speed, and the rod goes along."""
    th = CART_START
    return Model(
        gravity=(0.0, -9.81),
        bodies=[
            RigidBody(
                name="cart",
                mass=2.0,
                inertia=0.1,
                position=(FAR, 0.0),
                velocity=(speed, 0.0),
            ),
            RigidBody(
                name="rod",
                mass=1.0,
                inertia=1 / 12,
                position=(FAR + 0.5 * math.sin(th), -0.5 * math.cos(th)),
                angle=th - math.pi / 2,
                velocity=(speed, 0.0),
                points={"pin": (-0.5, 0.0)},
            ),
        ],
        joints=[
            Prismatic(name="rail", b="cart"),
            Revolute(name="hinge", a="cart", b="rod.pin"),
        ],
        drives=[TranslationDrive(name="motor", b="cart", law=law)],
    )


RAMP = Ramp(start=FAR, rate=2.0, duration=0.35, begin=0.22)
# A spline's third derivative jumps at its knots.
KNOTS = (0.0, 0.31, 0.64, 1.0)
HEIGHTS = tuple(FAR + x for x in (0.0, 0.04, 0.02, 0.1))
TABLE = Table(times=KNOTS, values=HEIGHTS)
SPLINE = CubicSpline(KNOTS, HEIGHTS, bc_type="natural")
STEP = SmoothStep(start=FAR, end=FAR + 0.2, duration=0.65, begin=0.17)


def ramp_state() -> tuple[float, float]:
    """Angle and rate at the end: three swings in the gravity seen on the cart."""
    th, rate, now = CART_START, 0.0, 0.0
    after = RAMP.begin + RAMP.duration
    acceleration = RAMP.rate / RAMP.duration
    for until, push in ((RAMP.begin, 0.0), (after, acceleration), (LONG, 0.0)):
        tilt = math.atan2(-push, 9.81)
        rod = osc.rod_pendulum(1.0, gravity=math.hypot(push, 9.81))
        q, v = osc.pendulum(rod, until - now, angle=th - tilt, rate=rate)
        th, rate, now = float(q) + tilt, float(v), until
    return th - math.pi / 2, rate


def piecewise_state(law: TimeLaw, acceleration) -> tuple[float, float]:
    """The same by SciPy, piece by piece between the breaks."""

    def slope(t, y):
        push = acceleration(t)
        return [y[1], -1.5 * (9.81 * math.sin(y[0]) + push * math.cos(y[0]))]

    y, now = [CART_START, 0.0], 0.0
    for until in (*(t for t in law.breaks() if 0.0 < t < LONG), LONG):
        run = solve_ivp(slope, (now, until), y, "DOP853", rtol=1e-13, atol=1e-14)
        y, now = run.y[:, -1], until
    return float(y[0]) - math.pi / 2, float(y[1])


def smooth_step_state() -> tuple[float, float]:
    def acceleration(t):
        u = min(1.0, max(0.0, (t - STEP.begin) / STEP.duration))
        return 0.2 * 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / STEP.duration**2

    return piecewise_state(STEP, acceleration)


def table_state() -> tuple[float, float]:
    return piecewise_state(TABLE, lambda t: float(SPLINE(t, 2)))


BREAKS = [
    pytest.param(RAMP, 0.0, ramp_state, id="ramp"),
    pytest.param(STEP, 0.0, smooth_step_state, id="step"),
    pytest.param(TABLE, float(SPLINE(0.0, 1)), table_state, id="table"),
]


@pytest.mark.parametrize(("law", "speed", "exact"), BREAKS)
@each([DOPRI5, DOP853, RK4, EULER, BAUMGARTE])
def test_order_through_the_breaks_of_a_law(method: Method, law, speed, exact):
    model = cart_model(law, speed)
    angle, rate = exact()
    errors = []
    for n in method.n:
        result = simulate(model, LONG, **method.options(n))
        # Every break inside is the end of a step, to the last bit.
        assert {t for t in law.breaks() if 0.0 < t < LONG} <= set(result.t)
        errors.append(distance(result.state(), "rod", angle, rate, ROD.frequency))
    assert has_order(method, errors)


@dataclass(frozen=True, kw_only=True)
class SilentRamp(TimeLaw):
    """A law of a user's own that does not tell its breaks; those of text are found."""

    rate: float
    duration: float
    begin: float
    start: float

    evaluate = staticmethod(Ramp.evaluate)


def test_a_break_that_is_not_declared_costs_the_order():
    """What the tests above would show if breaks were missed."""
    angle, rate = ramp_state()
    model = cart_model(SilentRamp(**asdict(RAMP)))
    errors = [
        distance(
            simulate(model, LONG, **DOP853.options(n)).state(),
            "rod",
            angle,
            rate,
            ROD.frequency,
        )
        for n in DOP853.n
    ]
    # The jump is one of y'': the error of the step across it is of order h².
    assert fitted(DOP853.n, errors) < 4.0
