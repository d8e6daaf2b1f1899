"""Every path once, small enough to run as plain Python.

With NUMBA_DISABLE_JIT=1 the kernels are ordinary functions on arrays, with bounds
checked; with the JIT on the same tests run in no time. All expected values are closed
forms.
"""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from nonsmooth import (
    Baumgarte,
    ConstantRate,
    Couple,
    Distance,
    Event,
    Expression,
    ExpressionForce,
    Harmonic,
    Model,
    ModelError,
    MovingSupport,
    NonsmoothWarning,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    RotationDrive,
    SmoothStep,
    SolveError,
    SpringDamper,
    Table,
    TorsionSpring,
    TranslationDrive,
    Weld,
    assembled,
    equilibrium,
    simulate,
)
from nonsmooth.kernels.abi import JIT
from nonsmooth.result import Limit
from oracles import oscillators as osc

pytestmark = pytest.mark.jit_off

G = 9.81
# Polynomial motions that the method integrates exactly: round-off of a few steps.
ROUND = 1e-12


def throw(*events: Event, **more) -> Model:
    """A ball at y = 4.905 t (1 - t)."""
    ball = PointMass(name="ball", mass=0.5, velocity=(1.0, 0.5 * G))
    return Model(gravity=(0.0, -G), bodies=[ball], events=events, **more)


def rod(angle: float = 0.0, **more) -> RigidBody:
    return RigidBody(
        name="rod",
        mass=1.0,
        inertia=1 / 12,
        position=(0.5 * math.cos(angle), 0.5 * math.sin(angle)),
        angle=angle,
        points={"pin": (-0.5, 0.0), "tip": (0.5, 0.0)},
        **more,
    )


HINGE = Revolute(name="hinge", b="rod.pin")


def pendulum(**more) -> Model:
    return Model(gravity=(0.0, -G), bodies=[rod()], joints=[HINGE], **more)


def swing(t: float) -> float:
    exact = osc.pendulum(osc.rod_pendulum(1.0), t, angle=math.pi / 2)
    return float(exact.q) - math.pi / 2


# ---- methods -------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "dop853", "dopri5", "radau"])
def test_adaptive_methods_on_a_parabola(method):
    result = simulate(throw(), 0.8, method=method, rtol=1e-6)
    x, y, _ = result.state().positions["ball"]
    # Exact for orders of two and more; Radau's iteration leaves its tolerance.
    within = 1e-8 if method == "radau" else ROUND
    assert (x, y) == pytest.approx((0.8, 0.5 * G * 0.8 * 0.2), abs=within)


@pytest.mark.parametrize(
    ("method", "defect"),
    # y after n steps of h: Euler adds G h t/2, the semi-implicit one takes it off.
    [("rk4", 0.0), ("euler", 0.5), ("semi_implicit_euler", -0.5)],
)
def test_fixed_steps_on_a_parabola(method, defect):
    h = 0.1
    result = simulate(throw(), 0.8, method=method, step=h)
    assert result.cost["steps"] == 8
    y = result.state().positions["ball"][1]
    assert y == pytest.approx(0.5 * G * 0.8 * 0.2 + defect * G * h * 0.8, abs=ROUND)


@pytest.mark.parametrize(
    ("options", "within"),
    [
        # The method's error over 0.3 s, a dozen steps of the tolerance.
        ({"method": "auto", "rtol": 1e-7}, 1e-6),
        ({"method": "dopri5", "rtol": 1e-5}, 1e-4),
        ({"method": "radau", "rtol": 1e-4}, 1e-4),
        ({"method": "rk4", "step": 0.03}, 1e-5),
        (
            {
                "method": "rk4",
                "step": 0.03,
                "stabilisation": Baumgarte(alpha=20.0, beta=100.0),
            },
            1e-4,
        ),
        ({"method": "rk4", "step": 0.03, "stabilisation": "none"}, 1e-5),
    ],
    ids=lambda x: str(x.get("method")) if isinstance(x, dict) else "",
)
def test_a_pendulum_by_every_method(options, within):
    result = simulate(pendulum(), 0.3, **options)
    angle = result.state().positions["rod"][2]
    assert angle == pytest.approx(swing(0.3), abs=within)


def test_auto_turns_implicit_on_a_stiff_hinge():
    hinge = osc.StiffHinge(fast=1e5)
    spring = TorsionSpring(
        name="it", b="rod", stiffness=hinge.stiffness, damping=hinge.damping
    )
    model = Model(bodies=[rod(0.5)], joints=[HINGE], forces=[spring])
    result = simulate(model, 0.3, rtol=1e-4)
    assert result.cost["implicit_steps"] > 0
    exact = osc.stiff_hinge(hinge, 0.3, angle=0.5)
    # Some steps of the tolerance.
    angle = result.state().positions["rod"][2]
    assert angle == pytest.approx(float(exact.q), abs=1e-3)


# ---- events --------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_events_on_the_way_up_and_down(method):
    event = Event(name="e", b="ball", guard="y - 0.7")
    result = simulate(throw(event), 0.95, method=method, rtol=1e-6)
    half = math.sqrt(2.0 * (0.125 * G - 0.7) / G)
    within = 1e-8 if method == "radau" else ROUND
    assert [e.kind for e in result.events] == ["rising", "falling"]
    assert result.events.t == pytest.approx([0.5 - half, 0.5 + half], abs=within)


def test_a_dip_and_a_stop():
    dip = Event(name="dip", b="ball", guard="(x - 0.4)**2 - 1e-6")
    stop = Event(name="top", b="ball", guard="vy", action="stop")
    result = simulate(throw(dip, stop), 0.95, rtol=1e-4)
    assert [e.element for e in result.events] == ["dip", "dip", "top"]
    assert result.events.t == pytest.approx([0.399, 0.401, 0.5], abs=ROUND)
    assert result.status == "stopped"


# ---- drives and supports -------------------------------------------------------


def test_a_rotation_drive_with_a_break():
    """J s'' = 1/3 * 2/0.2 while the ramp lasts, from 0.1 to 0.3 s."""
    law = Ramp(rate=2.0, duration=0.2, begin=0.1)
    drive = RotationDrive(name="motor", b="rod", law=law)
    model = Model(bodies=[rod()], joints=[HINGE], drives=[drive])
    result = simulate(model, 0.4, rtol=1e-6)
    assert set(law.breaks()) <= set(result.t)
    for instant, before, after in ((0.1, 0.0, 10 / 3), (law.breaks()[1], 10 / 3, 0.0)):
        sides: list[tuple[Limit, float]] = [("before", before), ("after", after)]
        for limit, torque in sides:
            found = result.sample([instant], "motor.torque", limit)["motor.torque"]
            assert found == pytest.approx([torque], abs=ROUND)
    assert result.state().positions["rod"][2] == pytest.approx(0.4, abs=ROUND)
    assert result.energy_balance.work["motor"][-1] == pytest.approx(2 / 3, abs=ROUND)


@pytest.mark.parametrize(
    ("law", "end"),
    [
        (ConstantRate(rate=0.5), 0.1),
        (SmoothStep(end=0.3, duration=0.2), 0.3),
        (Table(times=(0.0, 0.1, 0.2), values=(0.0, 0.05, 0.3)), 0.3),
        (Expression(text="0.3*sin(t)"), 0.3 * math.sin(0.2)),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_translation_drive_follows_its_law(law, end):
    model = Model(
        bodies=[RigidBody(name="cart", mass=2.0, inertia=0.1)],
        joints=[Prismatic(name="rail", b="cart")],
        drives=[TranslationDrive(name="motor", b="cart", law=law)],
        assemble=True,
    )
    result = simulate(model, 0.2, rtol=1e-5)
    assert result.state().positions["cart"][0] == pytest.approx(end, abs=ROUND)


def test_a_moving_support_carries_a_load():
    """A lift with y' = 2 t: F = m (2 + g), and its work."""
    model = Model(
        gravity=(0.0, -G),
        bodies=[
            PointMass(name="bob", mass=3.0, position=(0.0, -1.0)),
            MovingSupport(name="lift", y=Ramp(rate=2.0, duration=1.0)),
        ],
        joints=[Distance(name="rope", a="lift", b="bob", length=1.0)],
    )
    result = simulate(model, 0.3, rtol=1e-6)
    assert result["lift.force_y"] == pytest.approx(3.0 * (2.0 + G), abs=1e-10)
    work = result.energy_balance.work["lift"][-1]
    assert work == pytest.approx(6.0 * 0.09 + 3.0 * G * 0.09, abs=1e-8)


def test_a_pin_in_a_turning_slot():
    """Without gravity r = cosh(w t)."""
    slot = RigidBody(name="slot", mass=1.0, inertia=1.0, angular_velocity=2.0)
    bead = PointMass(name="bead", mass=0.5, position=(1.0, 0.0), velocity=(0.0, 2.0))
    model = Model(
        bodies=[slot, bead],
        joints=[
            Revolute(name="axle", b="slot"),
            PinInSlot(name="it", a="slot", b="bead"),
        ],
        drives=[RotationDrive(name="motor", b="slot", law=ConstantRate(rate=2.0))],
    )
    result = simulate(model, 0.4, rtol=1e-8)
    exact = osc.rotating_slot(0.4, mass=0.5, speed=2.0)
    x, y, _ = result.state().positions["bead"]
    # A dozen steps of 1e-8.
    assert math.hypot(x, y) == pytest.approx(float(exact.r), abs=1e-7)
    assert result["motor.torque"][-1] == pytest.approx(float(exact.torque), abs=1e-6)


# ---- forces --------------------------------------------------------------------


def test_prescribed_forces():
    body = RigidBody(name="body", mass=2.0, inertia=0.5)
    model = Model(
        bodies=[body],
        forces=[
            PointForce(name="push", b="body", fx=3.0, fy=ConstantRate(rate=6.0)),
            Couple(name="twist", b="body", torque=0.5),
        ],
    )
    result = simulate(model, 1.0, rtol=1e-6)
    # x = 3/4 t², y = t³/2, th = t²/2.
    expected = (0.75, 0.5, 0.5)
    assert result.state().positions["body"] == pytest.approx(expected, abs=ROUND)


def test_springs_and_dampers():
    values = {"mass": 2.0, "stiffness": 50.0, "damping": 3.0}
    block = PointMass(name="block", mass=2.0, position=(1.7, 0.0))
    spring = SpringDamper(
        name="it", b="block", stiffness=50.0, damping=3.0, rest_length=1.0
    )
    result = simulate(Model(bodies=[block], forces=[spring]), 0.4, rtol=1e-7)
    x, v = osc.free_response(0.4, position=0.7, **values)
    # A dozen steps of 1e-7.
    assert result.state().positions["block"][0] == pytest.approx(1.0 + x, abs=1e-6)
    lost = 25.0 * 0.49 - 25.0 * x**2 - v**2
    assert result.energy_balance.work["it"][-1] == pytest.approx(-lost, abs=1e-5)


def test_an_expression_force():
    ball = PointMass(name="ball", mass=2.0, velocity=(3.0, 4.0))
    drag = ExpressionForce(name="it", b="ball", fx="-vx", fy="-vy")
    model = Model(gravity=(0.0, -G), bodies=[ball], forces=[drag])
    result = simulate(model, 0.5, rtol=1e-7)
    path = osc.projectile(0.5, velocity=(3.0, 4.0), gravity=G, drag=0.5)
    x, y, _ = result.state().positions["ball"]
    assert (x, y) == pytest.approx((float(path.x), float(path.y)), abs=1e-6)


# ---- starts, statics, failures -------------------------------------------------


def test_assembly_and_refusal():
    body = RigidBody(
        name="rod",
        mass=1.0,
        inertia=1 / 12,
        position=(0.9, 0.7),
        angle=0.4,
        points={"pin": (-0.5, 0.0)},
    )
    with pytest.raises(ModelError, match="joint 'hinge' is violated"):
        simulate(Model(bodies=[body], joints=[HINGE]), 0.1)
    model = Model(bodies=[body], joints=[HINGE], assemble=True, keep=["rod.theta"])
    (moved,) = assembled(model).bodies
    assert isinstance(moved, RigidBody)
    expected = (0.5 * math.cos(0.4), 0.5 * math.sin(0.4))
    assert moved.position == pytest.approx(expected, abs=ROUND)


def test_redundant_bolts_share_the_load():
    block = RigidBody(name="block", mass=3.0, inertia=0.1)
    bolts = [Weld(name=name, b="block") for name in ("one", "two")]
    model = Model(gravity=(0.0, -G), bodies=[block], joints=bolts)
    with pytest.warns(NonsmoothWarning, match="one, two"):
        result = simulate(model, 0.1, rtol=1e-5)
    # Round-off over the regularisation of 1e-7.
    assert result["one.force_y"] == pytest.approx(1.5 * G, abs=1e-7)


def test_an_equilibrium():
    found = equilibrium(pendulum())
    assert found.stability == "stable"
    assert found.stiffness == pytest.approx([1.5 * G], rel=1e-6)


def test_a_force_that_turns_nan_is_named():
    force = ExpressionForce(name="wind", b="ball", fy="sqrt(0.18 - t)")
    with (
        np.errstate(all="ignore"),
        pytest.raises(SolveError, match="force 'wind'") as caught,
    ):
        simulate(throw(forces=[force]), 0.4, method="rk4", step=0.05)
    assert caught.value.result is not None
    assert caught.value.result.t_end == pytest.approx(0.15, abs=1e-12)


def test_many_rows_are_reordered():
    """A chain long enough for the reverse Cuthill-McKee numbering: eight rods."""
    bodies = [
        RigidBody(
            name=f"rod{k}",
            mass=1.0,
            inertia=1 / 12,
            position=(k + 0.5, 0.0),
            points={"in": (-0.5, 0.0), "out": (0.5, 0.0)},
        )
        for k in range(8)
    ]
    joints = [Revolute(name="j0", b="rod0.in")] + [
        Revolute(name=f"j{k}", a=f"rod{k - 1}.out", b=f"rod{k}.in") for k in range(1, 8)
    ]
    # The order in the model is the worst one.
    order = [3, 7, 0, 5, 1, 6, 2, 4]
    model = Model(
        gravity=(0.0, -G),
        bodies=[bodies[k] for k in order],
        joints=[joints[k] for k in order],
    )
    result = simulate(model, 0.02, method="rk4", step=0.01)
    # Straight and at rest: only the first two links feel their neighbours less than
    # fully; the last rod falls freely at first.
    balance = result.energy_balance
    # Order four with steps of 0.01 s.
    assert balance.residual < 1e-6 * balance.exchanged
    assert result.violation < ROUND


# ---- the two agree -------------------------------------------------------------

COMPARE = """
import json
from nonsmooth import *
model = Model(
    gravity=(0, -9.81),
    bodies=[RigidBody(name="rod", mass=1, inertia=0.1, position=(0.5, 0),
                      points={"pin": (-0.5, 0)}),
            MovingSupport(name="wall", x=Harmonic(amplitude=0.1, frequency_hz=0.5))],
    joints=[Revolute(name="hinge", a="wall", b="rod.pin")],
    forces=[SpringDamper(name="spring", b="rod", stiffness=9, damping=0.2)],
    events=[Event(name="low", b="rod", guard="theta + 0.1")],
    assemble=True,
)
out = []
for options in ({}, {"method": "radau", "rtol": 1e-4}, {"method": "rk4", "step": 0.03}):
    result = simulate(model, 0.2, **options)
    out.append(result.sample([0.0, 0.07, 0.2]).to_numpy().tolist())
    out.append([result.events.t.tolist()])
print(json.dumps(out))
"""


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="needs both")
def test_plain_python_gives_the_compiled_numbers():
    found = []
    for off in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-c", COMPARE],
            env=os.environ | {"NUMBA_DISABLE_JIT": off},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(run.stdout.splitlines()[-1]))
    assert len(found[0]) == 6
    for ours, theirs in zip(*found, strict=True):
        # The compiler may fuse operations: round-off of some dozens of steps.
        assert np.array(ours) == pytest.approx(np.array(theirs), abs=1e-11, rel=1e-11)


def test_harmonic_laws_in_a_support():
    """A spring-mass on a shaken base."""
    shake = Harmonic(amplitude=0.1, angular_frequency=4.0)
    model = Model(
        bodies=[
            PointMass(name="block", mass=2.0, position=(1.0, 0.0)),
            MovingSupport(name="base", x=shake),
        ],
        forces=[
            SpringDamper(
                name="it", a="base", b="block", stiffness=50.0, rest_length=1.0
            )
        ],
    )
    result = simulate(model, 0.4, rtol=1e-7)
    exact = osc.base_excited(
        0.4, mass=2.0, stiffness=50.0, amplitude=0.1, frequency=4.0
    )
    # A dozen steps of 1e-7.
    assert result.state().positions["block"][0] - 1.0 == pytest.approx(
        float(exact.q), abs=1e-6
    )
