# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false
"""Friction at rest in joints and contacts that hold each other, against statics."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from nonsmooth import (
    Constant,
    ConstantRate,
    Contact,
    Coulomb,
    Ground,
    KelvinVoigt,
    Line,
    Model,
    MovingSupport,
    PointForce,
    Prismatic,
    Revolute,
    RigidBody,
    RotationDrive,
    simulate,
)

G = 9.81
ROUND = 1e-9
# Redundant friction at rest is shared, and reported.
pytestmark = pytest.mark.filterwarnings("ignore::nonsmooth.NonsmoothWarning")

# -- a block with height ---------------------------------------------------------------


def block(push, height):
    return Model(
        gravity=(0.0, -G),
        bodies=[RigidBody(name="b", mass=1.0, inertia=0.1)],
        joints=[
            Prismatic(
                name="g",
                b="b",
                length=0.1,
                height=height,
                friction=Coulomb(mu=0.4, mu_static=0.5),
            )
        ],
        forces=[PointForce(name="p", b="b", fx=push)],
    )


def test_a_tall_block_at_rest_is_wedged_by_its_friction():
    """Load 10.85 N, ends 10.33 and -0.52 N: not its weight on one end."""
    found = simulate(block(4.0, 0.3), 0.1).sample(0.05)
    assert found["g.mode"][0] == 0.0
    assert found["g.load"][0] == pytest.approx(np.sqrt(3.0 * 4.0 * G), abs=ROUND)
    assert found["g.front_force"][0] == pytest.approx(10.3299423960, abs=ROUND)
    assert found["g.rear_force"][0] == pytest.approx(-0.5199423960, abs=ROUND)
    assert found["g.side"][0] == 2.0


@pytest.mark.parametrize("height", [0.0, 0.15, 0.3, 0.6])
@pytest.mark.parametrize("push", [-4.0, -2.0, 0.0, 1.0, 3.0, 4.5])
def test_the_load_of_a_block_at_rest_agrees_with_its_friction(height, push):
    """phi = P/G in G = max(N, (2/l) phi (h/2) N); the rest of u_f + u_r = N."""
    found = simulate(block(push, height), 0.1).sample(0.05)
    load = found["g.load"][0]
    lean = np.copysign(0.5 * height * G * abs(push) / (load * 0.1), push)
    assert load == pytest.approx(max(G, 2.0 * abs(lean)), abs=ROUND)
    assert found["g.front_force"][0] == pytest.approx(0.5 * G + lean, abs=ROUND)
    assert found["g.rear_force"][0] == pytest.approx(0.5 * G - lean, abs=ROUND)


def test_a_pin_that_its_drive_holds_is_at_rest():
    """Friction could be anything, and the drive takes the rest: it is zero."""
    arm = RigidBody(
        name="arm", mass=1.0, inertia=0.1, position=(0.3, 0.0), points={"p": (-0.3, 0)}
    )
    pin = Revolute(name="pin", b="arm.p", friction=Coulomb(mu=0.3), radius=0.05)
    drive = RotationDrive(name="hold", b="arm", law=Constant(value=0.0))
    model = Model(gravity=(0.0, -G), bodies=[arm], joints=[pin], drives=[drive])
    found = simulate(model, 1.0).sample(np.linspace(0.0, 1.0, 5))
    np.testing.assert_array_equal(found["pin.mode"], 0.0)
    np.testing.assert_array_equal(found["pin.friction_force"], 0.0)


# -- an arm with frictional pins, its tip on the floor ---------------------------------

MU = np.array([0.35, 0.25, 0.5])  # shoulder, elbow, tip
RADIUS = np.array([0.09, 0.07])
MASSES = (2.0, 1.5)
PRESS = 12.0  # N, of the tip


def places(first, second):
    """Return elbow and tip, the shoulder at the origin."""
    elbow = 0.6 * np.array([np.cos(first), np.sin(first)])
    return elbow, elbow + 0.5 * np.array([np.cos(second), np.sin(second)])


def arm_on_floor(first, second, rate):
    """Return an arm at rest whose lower link is pushed more and more."""
    stiffness = 1e6
    elbow, tip = places(first, second)
    up = np.array([0.0, -PRESS / stiffness - tip[1]])

    def rod(name, a, b, mass):
        length = float(np.hypot(*(b - a)))
        return RigidBody(
            name=name,
            mass=mass,
            inertia=mass * length**2 / 12.0,
            position=tuple((up + 0.5 * (a + b)).tolist()),
            angle=float(np.arctan2(*(b - a)[::-1])),
            points={"p": (-0.5 * length, 0.0), "q": (0.5 * length, 0.0)},
        )

    ends = (("shoulder", "ground.base", "upper.p"), ("elbow", "upper.q", "lower.p"))
    return Model(
        gravity=(0.0, -G),
        bodies=[
            Ground(points={"base": tuple(up.tolist())}),
            rod("upper", np.zeros(2), elbow, MASSES[0]),
            rod("lower", elbow, tip, MASSES[1]),
        ],
        joints=[
            Revolute(name=n, a=a, b=b, friction=Coulomb(mu=float(mu)), radius=float(r))
            for (n, a, b), mu, r in zip(ends, MU, RADIUS, strict=False)
        ],
        contacts=[
            Contact(
                name="tip",
                b="lower.q",
                normal=KelvinVoigt(stiffness=stiffness, damping=100.0),
                friction=Coulomb(mu=float(MU[2])),
            )
        ],
        forces=[
            PointForce(
                name="push",
                b="lower",
                fx=ConstantRate(rate=rate[0]),
                fy=ConstantRate(rate=rate[1]),
            )
        ],
    )


def part_used(first, second, push):
    """Return the least part of friction that can hold the arm under a push.

    The friction at the tip is what statics leaves open: it gives the rest.
    """
    elbow, tip = places(first, second)

    def cross(a, b):
        return a[0] * b[1] - a[1] * b[0]

    def most(friction):
        ground = np.array([friction, PRESS])
        down = np.array([0.0, -MASSES[1] * G]) + push
        on_lower = -(ground + down)
        middle = 0.5 * (tip - elbow)
        torque2 = -cross(tip - elbow, ground) - cross(middle, down)
        weight = np.array([0.0, -MASSES[0] * G])
        on_upper = on_lower - weight
        torque1 = torque2 - cross(0.5 * elbow, weight) + cross(elbow, on_lower)
        pins = np.array([np.hypot(*on_upper), np.hypot(*on_lower)])
        parts = np.abs([torque1, torque2]) / (MU[:2] * RADIUS * pins)
        return max(*parts, abs(friction) / (MU[2] * PRESS))

    # Not convex: the best of many brackets.
    tries = np.linspace(-3.0, 3.0, 601) * MU[2] * PRESS
    best = float(tries[np.argmin([most(x) for x in tries])])
    span = float(tries[1] - tries[0])
    found = minimize_scalar(
        most, bounds=(best - span, best + span), options={"xatol": 1e-13}
    )
    return float(found.fun)


ARMS = [
    (-1.46, -1.85, (3.0, 0.0)),
    (-1.33, -2.07, (-4.0, 1.0)),
    (-1.65, -1.4, (2.0, -3.0)),
    (-1.85, -0.93, (1.0, 4.0)),
]


@pytest.mark.parametrize(("first", "second", "rate"), ARMS)
def test_an_arm_on_the_floor_lets_go_where_no_friction_could_hold_it(
    first, second, rate
):
    """Three frictions hold two freedoms: one is redundant, none is beyond its limit."""
    rate = np.array(rate)
    assert part_used(first, second, 0.0 * rate) < 1.0
    limit = brentq(lambda t: part_used(first, second, t * rate) - 1.0, 0.0, 100.0)
    result = simulate(arm_on_floor(first, second, rate.tolist()), limit + 0.01)
    start = result.events[0]
    assert start.kind == "break_away"
    assert start.t == pytest.approx(limit, abs=1e-6)
    found = result.sample(np.linspace(0.0, start.t, 41), limit="before")
    for name, mu, kind in zip(
        ("shoulder", "elbow", "tip"), MU, ("load", "load", "normal_force"), strict=True
    ):
        load = found[f"{name}.{kind}"]
        beyond = np.abs(found[f"{name}.friction_force"]) - mu * load
        # Of the load; at the last instant all limits are reached.
        assert np.max(beyond / load) <= ROUND


# -- beside a pin that slides ----------------------------------------------------------

TURNS = 2.0  # rad/s, of the base, whose pin slides


def turned_arm(first, second, rate):
    """Return the same arm on a base that turns, its elbow on a ledge as well."""
    model = arm_on_floor(first, second, rate)
    ground, *links = model.bodies
    x, y = ground.points["base"]
    elbow, _ = places(first, second)
    shoulder, other = model.joints
    (tip,) = model.contacts
    ledge = Line(point=(0.0, float(elbow[1] + y + PRESS / tip.normal.stiffness)))
    return replace(
        model,
        bodies=[
            Ground(shapes={"ledge": ledge}),
            MovingSupport(
                name="base",
                x=Constant(value=x),
                y=Constant(value=y),
                theta=ConstantRate(rate=TURNS),
            ),
            *links,
        ],
        joints=[replace(shoulder, a="base"), other],
        contacts=[tip, replace(tip, name="ledge", a="ground.ledge", b="upper.q")],
    )


def part_used_beside(first, second, push):
    """Return the least part of friction that can hold that arm under a push.

    With the friction at the tip that at the ledge follows: the base turns against a
    couple that goes with the load of its pin.
    """
    elbow, tip = places(first, second)

    def cross(a, b):
        return a[0] * b[1] - a[1] * b[0]

    def most(friction):
        ground = np.array([friction, PRESS])
        down = np.array([0.0, -MASSES[1] * G]) + push
        on_lower = -(ground + down)
        middle = 0.5 * (tip - elbow)
        torque2 = -cross(tip - elbow, ground) - cross(middle, down)
        weight = np.array([0.0, -MASSES[0] * G])

        def moment(along):
            on_ledge = np.array([along, PRESS])
            load = np.hypot(*(on_lower - weight - on_ledge))
            total = MU[0] * RADIUS[0] * load - torque2 + cross(0.5 * elbow, weight)
            return total + cross(elbow, on_ledge - on_lower)

        along = brentq(moment, -1e3, 1e3, xtol=1e-13)
        limits = MU[1] * RADIUS[1] * np.hypot(*on_lower), MU[2] * PRESS
        parts = torque2 / limits[0], friction / limits[1], along / limits[1]
        return max(np.abs(parts))

    tries = np.linspace(-3.0, 3.0, 301) * MU[2] * PRESS
    best = float(tries[np.argmin([most(x) for x in tries])])
    span = float(tries[1] - tries[0])
    found = minimize_scalar(
        most, bounds=(best - span, best + span), options={"xatol": 1e-13}
    )
    return float(found.fun)


@pytest.mark.parametrize(("first", "second", "rate"), ARMS)
def test_an_arm_whose_base_turns_lets_go_where_no_friction_could_hold_it(
    first, second, rate
):
    """The load of the pin that slides is curved: one tangent of it does not tell."""
    rate = np.array(rate)
    assert part_used_beside(first, second, 0.0 * rate) < 1.0

    def left(t):
        return part_used_beside(first, second, t * rate) - 1.0

    limit = brentq(left, 0.0, 20.0)
    result = simulate(turned_arm(first, second, rate.tolist()), limit + 0.01)
    start = result.events[0]
    assert start.kind == "break_away"
    assert start.t == pytest.approx(limit, abs=1e-6)
    found = result.sample(np.linspace(0.0, start.t, 41), limit="before")
    for name, mu, kind in (
        ("elbow", MU[1], "load"),
        ("tip", MU[2], "normal_force"),
        ("ledge", MU[2], "normal_force"),
    ):
        load = found[f"{name}.{kind}"]
        beyond = np.abs(found[f"{name}.friction_force"]) - mu * load
        assert np.max(beyond / load) <= ROUND
