"""Stiff arcs: few steps, right answers, and back to the explicit method."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import (
    Contact,
    Coulomb,
    Event,
    ExpressionForce,
    Harmonic,
    Hertz,
    Model,
    MovingSupport,
    PointMass,
    Revolute,
    RigidBody,
    SpringDamper,
    TimeLaw,
    TorsionSpring,
    simulate,
)
from oracles import oscillators as osc

G = 9.81
HINGE = osc.StiffHinge()  # eigenvalues -1e6 and -1 per second
ANGLE = 0.5


def rod(angle: float) -> RigidBody:
    return RigidBody(
        name="rod",
        mass=1.0,
        inertia=1 / 12,
        position=(0.5 * math.cos(angle), 0.5 * math.sin(angle)),
        angle=angle,
        points={"pin": (-0.5, 0.0)},
    )


def hinged(angle=ANGLE, hinge=HINGE, theta: TimeLaw | float = 0.0, **more) -> Model:
    """A rod on a damped torsion hinge whose other side follows `theta`."""
    return Model(
        bodies=[rod(angle), MovingSupport(name="wall", theta=theta)],
        joints=[Revolute(name="pin", b="rod.pin")],
        forces=[
            TorsionSpring(
                name="hinge",
                a="wall",
                b="rod",
                stiffness=hinge.stiffness,
                damping=hinge.damping,
            )
        ],
        **more,
    )


RTOLS = (1e-4, 1e-6, 1e-8)


def few(rtol: float, amplitude: float = 0.0) -> float:
    """Bound on the steps over 5 s: those of SciPy's Radau, which the slow motion sets.

    Half as many more for another norm of the error, and forty before stiffness is
    noticed. Stability alone would ask an explicit method for 5 s * 1e6/6 steps.
    """
    j, c, k = HINGE.inertia, HINGE.damping, HINGE.stiffness

    def slope(t, y):
        wall, rate = amplitude * math.sin(3 * t), 3 * amplitude * math.cos(3 * t)
        return [y[1], -(c * (y[1] - rate) + k * (y[0] - wall)) / j]

    run = solve_ivp(
        slope,
        (0.0, 5.0),
        [0.0 if amplitude else ANGLE, 0.0],
        method="Radau",
        rtol=rtol,
        atol=0.01 * rtol,
        jac=np.array([[0.0, 1.0], [-k / j, -c / j]]),
    )
    return 1.5 * len(run.t) + 40


@pytest.mark.parametrize("rtol", RTOLS)
@pytest.mark.parametrize("method", ["auto", "radau"])
def test_a_free_hinge_takes_few_steps(method, rtol):
    result = simulate(hinged(), 5.0, method=method, rtol=rtol)
    assert result.cost["steps"] < few(rtol)
    assert result.cost["rejected"] < 0.5 * result.cost["steps"]
    exact = osc.stiff_hinge(HINGE, result.t, angle=ANGLE)
    # Errors of single steps fade with exp(-t); a few are alive at a time.
    assert result["rod.theta"] == pytest.approx(exact.q, abs=10 * rtol)
    late = result.t > 0.1
    assert result["rod.omega"][late] == pytest.approx(exact.v[late], abs=10 * rtol)


@pytest.mark.parametrize("rtol", RTOLS)
@pytest.mark.parametrize("method", ["auto", "radau"])
def test_a_driven_hinge_takes_few_steps(method, rtol):
    wave = Harmonic(amplitude=0.5, angular_frequency=3.0)
    model = hinged(0.0, theta=wave)
    result = simulate(model, 5.0, method=method, rtol=rtol)
    exact = osc.stiff_hinge_driven(HINGE, result.t, amplitude=0.5, frequency=3.0)
    assert result["rod.theta"] == pytest.approx(exact.q, abs=10 * rtol)
    assert result.cost["steps"] < few(rtol, amplitude=0.5)
    assert result.cost["rejected"] < 0.5 * result.cost["steps"]


def test_a_hinge_in_gravity_agrees_with_the_reference():
    model = hinged(gravity=(0.0, -G))
    t = np.array([0.3, 1.0, 5.0])
    exact = osc.stiff_hinge_gravity(HINGE, t, gravity=G, angle=ANGLE)
    result = simulate(model, 5.0, rtol=1e-9)
    # Dense output of the implicit method is a cubic: local error h^4 with steps near
    # 0.02, and slopes of order one.
    assert result.sample(t)["rod.theta"] == pytest.approx(exact.q, abs=1e-7)
    end = result.state().positions["rod"][2]
    assert end == pytest.approx(float(exact.q[-1]), abs=1e-8)


def test_the_fast_part_is_followed_at_the_start():
    """Released with a rate of 1 rad/s: it is gone after some microseconds."""
    body = rod(0.0)
    model = hinged(0.0)
    start = RigidBody(
        name="rod",
        mass=1.0,
        inertia=1 / 12,
        position=body.position,
        velocity=(0.0, 0.5),
        angular_velocity=1.0,
        points=body.points,
    )
    model = Model(
        bodies=[start, model.bodies[1]], joints=model.joints, forces=model.forces
    )
    result = simulate(model, 1e-5, rtol=1e-9)
    exact = osc.stiff_hinge(HINGE, result.t, rate=1.0)
    # Ten times the tolerance, over ten times the fast time.
    assert result["rod.omega"] == pytest.approx(exact.v, abs=1e-8)


def test_the_ledger_of_a_stiff_run_closes():
    balance = simulate(hinged(gravity=(0.0, -G)), 5.0, rtol=1e-8).energy_balance
    # As for other runs: see test_energy.
    assert balance.residual < 10 * 1e-8 * balance.exchanged
    assert balance.work["hinge"][-1] < -0.1


# ---- which method --------------------------------------------------------------


def test_auto_goes_over_to_the_implicit_method_and_says_so():
    result = simulate(hinged(), 5.0)
    implicit = result.steps.method
    assert result.cost["implicit_steps"] == np.sum(implicit) > 0.5 * len(implicit)
    # Stability would ask for 5 s * 1e6/6 explicit steps, so that it begins implicitly;
    # it may hand over to the higher order for the transient.
    assert implicit[0] == 1
    assert np.sum(np.abs(np.diff(implicit))) <= 2
    assert np.all(implicit[result.steps.t > 1e-3] == 1)
    # Over 2 ms that is a few hundred: it begins explicitly, and goes over after the
    # fifteen steps in a row that look stiff.
    short = simulate(hinged(), 2e-3)
    assert np.sum(np.abs(np.diff(short.steps.method))) == 1
    assert short.steps.method[0] == 0
    assert short.t[np.argmax(short.steps.method)] < 1e-3
    assert result.options["method"] == "auto"


def test_the_explicit_method_can_be_forced():
    """A mild hinge, eigenvalue -1e3: held by stability, 5 s * 1e3/6 steps."""
    mild = osc.StiffHinge(fast=1e3)
    explicit = simulate(hinged(hinge=mild), 5.0, method="dop853")
    auto = simulate(hinged(hinge=mild), 5.0, method="auto")
    assert explicit.cost["implicit_steps"] == 0
    # |h lam| < 6.1, the reach of the method on the real axis; control keeps near it.
    assert 5.0 * 1e3 / 7.5 < explicit.cost["steps"] < 5.0 * 1e3 / 4.0
    assert auto.cost["steps"] < 0.5 * explicit.cost["steps"]
    end = osc.stiff_hinge(mild, 5.0, angle=ANGLE).q
    for result in (explicit, auto):
        assert result.state().positions["rod"][2] == pytest.approx(float(end), abs=1e-7)


def test_the_implicit_method_can_be_forced_on_a_calm_motion():
    pendulum = Model(
        gravity=(0.0, -G),
        bodies=[rod(0.0)],
        joints=[Revolute(name="pin", b="rod.pin")],
    )
    exact = osc.pendulum(osc.rod_pendulum(1.0), 2.0, angle=math.pi / 2)
    result = simulate(pendulum, 2.0, method="radau", rtol=1e-8)
    assert np.all(result.steps.method == 1)
    # A few hundred steps of 1e-8, of which the estimate overstates the error.
    assert result.state().positions["rod"][2] == pytest.approx(
        float(exact.q) - math.pi / 2, abs=1e-7
    )
    assert simulate(pendulum, 2.0).cost["implicit_steps"] == 0


def test_auto_returns_to_the_explicit_method_when_it_is_calm():
    """The damper is let go between 1.5 and 2 s; then the rod swings freely."""
    model = Model(
        gravity=(0.0, -G),
        bodies=[rod(0.0)],
        joints=[Revolute(name="pin", b="rod.pin")],
        forces=[
            ExpressionForce(
                name="brake", b="rod", torque="-1e5*smoothstep((2 - t)/0.5)*omega"
            )
        ],
    )
    result = simulate(model, 6.0, rtol=1e-8)
    implicit = result.steps.method
    braked = (result.steps.t > 0.1) & (result.steps.t < 1.5)
    free = result.steps.t > 2.0
    assert np.all(implicit[braked] == 1)
    assert np.all(implicit[free] == 0)
    # Free swings of order eight: a dozen steps a second, not Radau's hundred.
    assert np.sum(free) < 80
    tight = simulate(model, 6.0, rtol=1e-10)
    # A hundred steps of the looser tolerance.
    assert result.state().positions["rod"] == pytest.approx(
        tight.state().positions["rod"], abs=1e-6
    )


def test_a_stiff_spring_that_oscillates_stays_explicit():
    """Stability does not hold the step where the motion itself is fast."""
    spring = SpringDamper(name="s", b="ball", stiffness=1e6, rest_length=1.0)
    ball = PointMass(name="ball", mass=1.0, position=(1.001, 0.0))
    result = simulate(Model(bodies=[ball], forces=[spring]), 0.05, rtol=1e-6)
    assert result.cost["implicit_steps"] == 0
    exact = osc.free_response(result.t, mass=1.0, stiffness=1e6, position=1e-3)
    # Eight periods; the length's error is rtol of the model's size, 1 m, per step.
    assert result["ball.x"] - 1.0 == pytest.approx(exact.q, abs=1e-4)


@pytest.mark.parametrize("method", ["auto", "dop853"])
def test_a_stiff_contact_in_balance_stays_calm_inside_the_first_step(method):
    """A mass slides over a stiff floor: nothing but stability limits the step.

    Its period is 0.01 s, a first step by error alone was 0.05 s: its ends were right,
    but stages, and the dense output with them, off by 1e-4 m/s.
    """
    law = Hertz(stiffness=2e6, exponent=1.2)
    depth = (G / law.stiffness) ** (1.0 / law.exponent)
    ball = PointMass(
        name="ball", mass=1.0, position=(0.0, -depth), velocity=(20.0, 0.0)
    )
    sole = Contact(name="sole", b="ball", normal=law, friction=Coulomb(mu=0.3))
    model = Model(gravity=(0.0, -G), bodies=[ball], contacts=[sole])
    result = simulate(model, 0.5, method=method)
    inside = result.sample(np.linspace(0.0, result.t[3], 400))
    # Round-off of the balance, 1e-15 N, and some hundreds of times that.
    assert np.max(np.abs(inside["ball.vy"])) < 1e-12


# ---- events --------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_an_event_in_a_stiff_arc_is_located(method):
    """The angle halves at t = ln 2 of the slow part."""
    event = Event(name="half", b="rod", guard=f"theta - {0.5 * ANGLE}")
    result = simulate(hinged(events=[event]), 3.0, method=method, rtol=1e-9)
    # th = 0.5 exp(-t) (1 + 1e-6): the fast part shifts it by a microsecond.
    exact = math.log(2.0 * HINGE.fast / (HINGE.fast - HINGE.slow))
    assert [e.kind for e in result.events] == ["falling"]
    assert result.events[0].t == pytest.approx(exact, abs=1e-7)
    theta = result.sample(result.events.t, "rod.theta")["rod.theta"]
    # The step is retaken until it ends on the guard; Newton's tolerance is what is
    # left between two takes.
    assert theta == pytest.approx([0.5 * ANGLE], abs=1e-12)
