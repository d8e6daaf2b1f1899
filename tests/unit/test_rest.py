"""Friction at rest: where it begins, where it is given up, and what results show."""

import math

import numpy as np
import pytest

from fuzz.families import make
from nonsmooth import (
    ConstantRate,
    Contact,
    Coulomb,
    Dahl,
    ExpressionForce,
    Ground,
    Harmonic,
    KelvinVoigt,
    Line,
    Model,
    PinInSlot,
    PointForce,
    PointMass,
    RigidBody,
    Weld,
    simulate,
)

G = 9.81
# Redundant friction at rest is shared, and reported.
pytestmark = pytest.mark.filterwarnings("ignore::nonsmooth.NonsmoothWarning")


def test_a_slip_that_dies_away_ends_at_rest():
    """A push that is just the friction, and a damper: v = v0 e^(-t/T), without a zero.

    It was shown to slip by 1e-20 m/s for ever.
    """
    mu, pace = 0.3, 5.0
    box = PointMass(name="box", mass=1.0, position=(0.0, -G / 1e5), velocity=(0.1, 0.0))
    push = ExpressionForce(
        name="push", b="box", fx=f"{mu * G!r} - {pace} * vx", fy="0", torque="0"
    )
    rubber = KelvinVoigt(stiffness=1e5, damping=300.0)
    sole = Contact(name="sole", b="box", normal=rubber, friction=Coulomb(mu=mu))
    model = Model(gravity=(0.0, -G), bodies=[box], forces=[push], contacts=[sole])
    result = simulate(model, 12.0)
    found = result.sample([1.0, 12.0], ["sole.mode", "sole.slip_velocity", "box.x"])
    assert found["sole.mode"].tolist() == [1.0, 0.0]
    # To the tolerance of the run.
    assert found["sole.slip_velocity"][0] == pytest.approx(0.1 * math.exp(-pace), 1e-5)
    assert found["sole.slip_velocity"][1] == 0.0
    assert found["box.x"][1] == pytest.approx(0.1 / pace, abs=1e-6)


@pytest.mark.parametrize("push", [1e-2, 1e-4])
def test_a_joint_at_rest_slips_where_its_load_passes_zero(push):
    """For 5e-3 or 5e-5 s, in steps of a second: where mu |N| is less than the push.

    N = k (t - t0) there, so that it slips from -tau on, tau = P / (mu k), and stops
    where the impulse of both is zero: at (1 + sqrt 2) tau.
    """
    mu, k = 0.5, 10.0
    rod = RigidBody(name="rod", mass=1.0, inertia=0.1)
    slot = PinInSlot(name="slot", b="rod", friction=Coulomb(mu=mu))
    sway = Harmonic(amplitude=k, angular_frequency=1.0, phase=1.0)
    load = PointForce(name="load", b="rod", fx=push, fy=sway)
    model = Model(bodies=[rod], joints=[slot], forces=[load])
    events = simulate(model, 4.0).events
    assert [e.kind for e in events] == ["break_away", "change_side", "stick"]
    zero, tau = math.pi - 1.0, push / (mu * k)
    first, last = events[0].t - zero, events[2].t - zero
    # The sine bends: third order in tau.
    assert first == pytest.approx(-tau, rel=1e-8, abs=tau**3)
    assert last == pytest.approx(
        (1.0 + math.sqrt(2.0)) * tau, rel=1e-6, abs=20 * tau**3
    )


def test_bristles_are_settled_inside_a_step():
    """Bristles of a slot that hardly changes its pace, in long explicit steps.

    Those ended at mu/stiffness, but were off by 1.2e-3 of it within.
    """
    case = make("guides", 7026)
    slot = next(j for j in case.model.joints if j.name == "slot")
    assert isinstance(slot, PinInSlot)
    assert isinstance(slot.friction, Dahl)
    result = simulate(case.model, case.until, rtol=1e-8)
    t = np.linspace(0.0, case.until, 801)
    z = np.abs([result.state(x).deflection["slot"] for x in t])
    # What the dense output makes of a settled state at the longest such step.
    assert np.max(z) <= slot.friction.mu / slot.friction.stiffness * (1.0 + 1e-5)


def test_columns_do_not_depend_on_what_was_sampled_before():
    """Two slots at rest that hold each other: one of several ways to share friction.

    It was looked for from the last: 32 N at one instant after another, 0.0006 N after
    any other.
    """
    case = make("guides", 20102)
    result = simulate(case.model, case.until, rtol=1e-8)
    t = 0.43599364150038655
    names = ["slot1.friction_force", "slot2.friction_force"]
    alone = result.sample([t], names)
    after = result.sample([0.30968946467541114, t], names)
    for name in names:
        # As well as forces and their limits are made to agree.
        assert after[name][1] == pytest.approx(alone[name][0], rel=1e-9)


@pytest.mark.parametrize("mass", [1.0, 1.7e-3, 1e-6])
def test_a_light_box_on_a_heavy_table_slides_at_its_own_limit(mass):
    """A push that grows by the box's weight in a second: at mu_s, in seconds.

    What was spared of friction went with the weight of the whole model: a box of 1.7 g
    slid 1.7e-6 late, one of 1 mg 0.1.
    """
    mu, sink = 0.5, 1e-5
    face = Line(point=(0.0, 0.5))
    table = RigidBody(
        name="table", mass=50.0, inertia=1.0, position=(0.0, -0.5), shapes={"top": face}
    )
    stand = Ground(points={"stand": (0.0, -0.5)})
    box = PointMass(name="box", mass=mass, position=(0.0, -sink))
    rubber = KelvinVoigt(stiffness=mass * G / sink, damping=20.0 * mass)
    rough = Coulomb(mu=0.3, mu_static=mu)
    model = Model(
        gravity=(0.0, -G),
        bodies=[stand, table, box],
        joints=[Weld(name="weld", a="ground.stand", b="table")],
        forces=[PointForce(name="push", b="box", fx=ConstantRate(rate=mass * G))],
        contacts=[
            Contact(name="sole", a="table.top", b="box", normal=rubber, friction=rough)
        ],
    )
    [away] = simulate(model, 0.6).events
    assert away.kind == "break_away"
    assert away.t == pytest.approx(mu, rel=1e-9)


def test_feet_on_one_line_that_turn_by_round_off_are_at_rest():
    """A body on four feet rocks to its rest on a belt: at 3e-5 rad/s in the end.

    Its feet then part by 1e-11 m/s^2, which no friction prevents and no velocity shows:
    they were decided to slip by 2e-15 m/s, with full friction against each other, up to
    the end. Slips of this size now end at 0.1035 to 0.1046 s, by their round-off.
    """
    case = make("feet", 20619)
    result = simulate(case.model, case.until)
    found = result.sample(np.linspace(0.106, case.until, 50))
    for name in ("c0", "c1", "c2", "c3"):
        assert not np.any(found[f"{name}.mode"])
        # What is left of its rocking.
        limit = 1e-3 * found[f"{name}.normal_force"]
        assert np.all(np.abs(found[f"{name}.friction_force"]) < limit)
