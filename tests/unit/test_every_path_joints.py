# pyright: basic, reportArgumentType=false, reportCallIssue=false
# pyright: reportAttributeAccessIssue=false, reportReturnType=false
# pyright: reportOptionalOperand=false
"""Every path of friction in joints once, small enough to run as plain Python.

With NUMBA_DISABLE_JIT=1 the kernels are ordinary functions on arrays, with bounds
checked; with the JIT on the same tests run in no time. Expected values are closed
forms, so that both give the same numbers. LOCATED is for events of motions that the
method integrates to rtol = 1e-6; where velocities are linear in time it is exact.
"""

import math

import numpy as np
import pytest

from nonsmooth import (
    ConstantRate,
    Contact,
    Coulomb,
    CoulombViscous,
    Couple,
    Dahl,
    Distance,
    Expression,
    Ground,
    Karnopp,
    KelvinVoigt,
    LuGre,
    Model,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    RegularisedCoulomb,
    Revolute,
    RigidBody,
    RotationDrive,
    Stribeck,
    SwitchError,
    gallery,
    simulate,
    solvability,
)
from oracles.joint_audit import audit

pytestmark = pytest.mark.jit_off

G = 10.0
LOCATED = 1e-6
DRY = Coulomb(mu=0.3, mu_static=0.4)


def kinds(result):
    return [r.kind for r in result.events]


def slider(law, *, joint=PinInSlot, speed=0.0, fx=0.0, fy=0.0, **options):
    """Return a mass of 1 kg in a level slot or guide."""
    return Model(
        gravity=(0.0, -G),
        bodies=[RigidBody(name="m", mass=1.0, inertia=0.1, velocity=(speed, 0.0))],
        joints=[joint(name="j", b="m", friction=law, **options)],
        forces=[PointForce(name="push", b="m", fx=fx, fy=fy)],
    )


@pytest.mark.parametrize("method", ["dopri5", "radau"])
def test_a_point_stops(method):
    """−3 m/s² from 0.3 m/s."""
    model = slider(DRY, speed=0.3)
    result = simulate(model, 0.12, method=method, rtol=1e-6)
    assert kinds(result) == ["stick"]
    assert result.events.t[0] == pytest.approx(0.1, abs=LOCATED)


def test_a_block_breaks_away_and_comes_to_bear_on_its_corners():
    """The force acts above the middle: M = 0.1 F; u = 5 ± (M + mu h N/2)/l."""
    body = RigidBody(name="m", mass=1.0, inertia=0.1, points={"e": (0.0, 0.1)})
    model = Model(
        gravity=(0.0, -G),
        bodies=[body],
        joints=[Prismatic(name="j", b="m", friction=DRY, length=0.2, height=0.1)],
        forces=[PointForce(name="push", b="m.e", fx=Expression(text="40*t"))],
    )
    result = simulate(model, 0.12, rtol=1e-6)
    # The guide takes the couple 0.1 F: u_f, u_r = 5 ± (0.1 F + 0.4·0.05·10)/0.2 against
    # a slip forward; flat while F <= 8 N, so that it lets go at 4 N.
    assert kinds(result)[0] == "break_away"
    assert result.events.t[0] == pytest.approx(0.1, abs=LOCATED)
    assert audit(result, n=21)["corners"] < 1e-9


def test_a_pin_slows_down_and_holds():
    """A wheel on its axle: torque mu r m g."""
    wheel = RigidBody(name="m", mass=1.0, inertia=0.1, angular_velocity=0.3)
    pin = Revolute(name="j", b="m", friction=DRY, radius=0.1)
    model = Model(gravity=(0.0, -G), bodies=[wheel], joints=[pin])
    result = simulate(model, 0.15, rtol=1e-6)
    assert kinds(result) == ["stick"]
    assert result.events.t[0] == pytest.approx(0.1, abs=LOCATED)


def test_a_load_changes_its_flank():
    """Velocity 1 − 3 t + 15 t² until the load is gone at 0.1 s."""
    result = simulate(
        slider(Coulomb(mu=0.3), speed=1.0, fy=Expression(text="100*t")), 0.15, rtol=1e-6
    )
    assert kinds(result) == ["change_side"]
    assert result.events.t[0] == pytest.approx(0.1, abs=LOCATED)
    # Then again −0.3·100 (t − 0.1) m/s².
    end = 1.0 - 0.3 + 0.15 - 15.0 * 0.05**2
    assert result.state().velocities["m"][0] == pytest.approx(end, abs=LOCATED)


@pytest.mark.parametrize(
    "law",
    [
        CoulombViscous(mu=0.3, viscous=0.5),
        Stribeck(mu=0.3, mu_static=0.4, velocity=0.1),
        Karnopp(mu=0.3, dead_band=1e-2, mu_static=0.4),
        RegularisedCoulomb(mu=0.3, velocity=0.02),
        Dahl(mu=0.3, stiffness=100.0),
        LuGre(mu=0.3, mu_static=0.4, velocity=0.1, stiffness=100.0, damping=1.0),
    ],
    ids=lambda law: type(law).__name__,
)
def test_every_law_in_a_joint(law):
    result = simulate(slider(law, speed=0.2), 0.05, rtol=1e-5)
    wrong = audit(result, n=11)
    assert wrong["law"] < 1e-6
    assert wrong["motion"] < 1e-9
    assert wrong["ledger"] < 1e-4


def test_two_pins_at_rest_and_one_that_slips():
    """A folded chain; the outer pin is the weaker one."""
    rods = [
        RigidBody(
            name=f"rod{k}",
            mass=1.0,
            inertia=0.02,
            position=(0.25 + 0.5 * k, 0.0),
            points={"p": (-0.25, 0.0), "q": (0.25, 0.0)},
        )
        for k in range(2)
    ]
    pins = [
        Revolute(name="j0", b="rod0.p", friction=Coulomb(mu=0.9), radius=1.0),
        Revolute(
            name="j1", a="rod0.q", b="rod1.p", friction=Coulomb(mu=0.2), radius=0.1
        ),
    ]
    model = Model(gravity=(0.0, -G), bodies=rods, joints=pins)
    result = simulate(model, 0.03, rtol=1e-5)
    assert result["j0.mode"][0] == 0.0
    assert result["j1.mode"][0] == -1.0
    wrong = audit(result, n=11)
    assert wrong["law"] < 1e-9
    assert wrong["limit"] < 1e-9


def test_a_closed_loop_at_rest_shares_friction():
    """Two masses in one line on slots, with a push that grows: 3 N + 3 N hold it."""
    bodies = [
        PointMass(name=n, mass=1.0, position=(x, 0.0))
        for n, x in (("a", 0.0), ("b", 1.0))
    ]
    model = Model(
        gravity=(0.0, -G),
        bodies=bodies,
        joints=[
            *(PinInSlot(name=f"j{n}", b=n, friction=Coulomb(mu=0.3)) for n in "ab"),
            Distance(name="bar", a="a", b="b", length=1.0),
        ],
        forces=[PointForce(name="push", b="a", fx=Expression(text="60*t"))],
    )
    result = simulate(model, 0.12, rtol=1e-6)
    assert kinds(result) == ["break_away", "break_away"]
    np.testing.assert_allclose(result.events.t, 0.1, rtol=0.0, atol=LOCATED)


def test_a_joint_and_a_contact_in_one_group():
    """A post in a vertical slot that stands on the ground, pushed aside."""
    post = RigidBody(
        name="m", mass=1.0, inertia=0.1, position=(0.0, 0.19), points={"f": (0.0, -0.2)}
    )
    model = Model(
        gravity=(0.0, -G),
        bodies=[Ground(points={"s": (0.0, 0.19)}), post],
        joints=[
            PinInSlot(name="j", a="ground.s", b="m", axis=0.5 * math.pi, friction=DRY)
        ],
        contacts=[
            Contact(
                name="foot", b="m.f", normal=KelvinVoigt(stiffness=1e3), friction=DRY
            )
        ],
        forces=[PointForce(name="push", b="m", fx=5.0)],
    )
    result = simulate(model, 0.05, rtol=1e-5)
    wrong = audit(result, n=11)
    assert wrong["motion"] < 1e-9
    assert wrong["law"] < 1e-7
    assert wrong["limit"] < 1e-7


def test_a_driven_rotor_with_a_slot():
    """v' = w² x − mu |2 w v|, from rest at the slot's pin: sliding outwards."""
    w, mu = 2.0, 0.25
    model = Model(
        bodies=[
            RigidBody(name="rotor", mass=1.0, inertia=0.1, angular_velocity=w),
            PointMass(name="m", mass=1.0, position=(0.5, 0.0), velocity=(1.0, 0.5 * w)),
        ],
        joints=[
            Revolute(name="pin", b="rotor"),
            PinInSlot(name="j", a="rotor", b="m", friction=Coulomb(mu=mu)),
        ],
        drives=[RotationDrive(name="motor", b="rotor", law=ConstantRate(rate=w))],
    )
    result = simulate(model, 0.1, rtol=1e-8)
    # r'' + 2 mu w r' − w² r = 0
    root = math.sqrt(1.0 + mu * mu)
    p, q = w * (-mu + root), w * (-mu - root)
    A = (1.0 - 0.5 * q) / (p - q)
    r = A * math.exp(0.1 * p) + (0.5 - A) * math.exp(0.1 * q)
    x, y, _ = result.state().positions["m"]
    assert math.hypot(x, y) == pytest.approx(r, abs=LOCATED)


def test_a_jam_is_reported_and_understood():
    model = gallery.build("crank_rocker", driven="rocker", angle=np.radians(115.0))
    answer = solvability(model)
    assert answer.status != "unique"
    assert answer.margin < 0.0
    with pytest.raises(SwitchError, match="slider"):
        simulate(model, 0.01)


def test_no_load_at_all():
    free = Model(
        bodies=[PointMass(name="m", mass=1.0, velocity=(1.0, 0.0))],
        joints=[PinInSlot(name="j", b="m", friction=DRY)],
    )
    result = simulate(free, 0.1, rtol=1e-5)
    assert kinds(result) == []
    assert result.state().positions["m"][0] == pytest.approx(0.1, abs=1e-12)


def test_a_couple_on_a_stuck_pin_and_its_restart():
    body = RigidBody(name="m", mass=1.0, inertia=0.1)
    model = Model(
        gravity=(0.0, -G),
        bodies=[body],
        joints=[Revolute(name="j", b="m", friction=DRY, radius=0.1)],
        forces=[Couple(name="turn", b="m", torque=Expression(text="8*t"))],
    )
    whole = simulate(model, 0.08, rtol=1e-6)
    assert kinds(whole) == ["break_away"]
    assert whole.events.t[0] == pytest.approx(0.05, abs=LOCATED)
    rest = simulate(model, 0.08, rtol=1e-6, start=whole.state(0.03))
    assert rest.events.t[0] == pytest.approx(0.05, abs=LOCATED)
