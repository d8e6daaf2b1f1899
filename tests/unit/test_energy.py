"""The energy ledger: it closes, and every entry is right on its own."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from nonsmooth import (
    ConstantRate,
    Couple,
    Distance,
    ExpressionForce,
    Force,
    Harmonic,
    Model,
    MovingSupport,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    RotationDrive,
    SmoothStep,
    SpringDamper,
    TorsionSpring,
    TranslationDrive,
    simulate,
)
from nonsmooth.elements.base import quantity
from oracles import oscillators as osc

G = 9.81
# Works are integrated with the same error control as the motion: each step may err by
# rtol of the energy in play, and some ten steps' errors do not cancel.
CLOSED = 10.0


# ---- users' forces -------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class QuadraticDrag(Force):
    """F = -drag |v| v on b, a user's force without potential."""

    drag: float = quantity("N s^2/m^2")

    @staticmethod
    def wrench(p, s, t, a, b, out):
        speed = math.hypot(b[3], b[4])
        for i in range(8):
            out[i] = 0.0
        out[0] = -p[0] * speed * b[3]
        out[1] = -p[0] * speed * b[4]


@dataclass(frozen=True, kw_only=True)
class Duffing(Force):
    """F = -k x^3 - c v along x, a user's force with potential."""

    has_potential: ClassVar[bool] = True
    k: float = quantity("N/m^3")
    c: float = quantity("N s/m")

    @staticmethod
    def wrench(p, s, t, a, b, out):
        x, v = b[0] - a[0], b[3] - a[3]
        for i in range(8):
            out[i] = 0.0
        out[0] = -p[0] * x * x * x - p[1] * v
        out[3] = -out[0]
        out[5] = (b[1] - a[1]) * out[0]
        out[6] = 0.25 * p[0] * x * x * x * x
        out[7] = -p[1] * v * v


@dataclass(frozen=True, kw_only=True)
class LyingDamper(Force):
    """A damper that declares no loss: its ledger entry stays at zero."""

    has_potential: ClassVar[bool] = True
    c: float = quantity("N s/m")

    @staticmethod
    def wrench(p, s, t, a, b, out):
        for i in range(8):
            out[i] = 0.0
        out[0] = -p[0] * b[3]


# ---- models --------------------------------------------------------------------


def rod(**more) -> RigidBody:
    return RigidBody(
        name="rod",
        mass=1.0,
        inertia=1 / 12,
        position=(0.5, 0.0),
        points={"pin": (-0.5, 0.0), "tip": (0.5, 0.0)},
        **more,
    )


HINGE = Revolute(name="hinge", b="rod.pin")


def hinged(*forces: Force, drives=()) -> Model:
    return Model(
        gravity=(0.0, -G), bodies=[rod()], joints=[HINGE], forces=forces, drives=drives
    )


def crowd() -> Model:
    """Two arms on a shaken support, with a drive, dampers and users' forces."""
    second = RigidBody(
        name="two",
        mass=0.7,
        inertia=0.05,
        position=(1.4, 0.0),
        velocity=(0.6, 0.0),
        points={"pin": (-0.4, 0.0)},
    )
    return Model(
        gravity=(0.0, -G),
        bodies=[
            rod(velocity=(0.6, 0.0)),
            second,
            MovingSupport(
                name="base", x=Harmonic(amplitude=0.1, angular_frequency=6.0)
            ),
        ],
        joints=[
            Revolute(name="hinge", a="base", b="rod.pin"),
            Revolute(name="elbow", a="rod.tip", b="two.pin"),
        ],
        drives=[
            RotationDrive(
                name="motor",
                a="rod",
                b="two",
                law=Ramp(rate=2, duration=0.5, begin=0.3),
            )
        ],
        forces=[
            TorsionSpring(name="damper", b="rod", stiffness=3.0, damping=0.4),
            QuadraticDrag(name="drag", b="two", drag=0.3),
            Duffing(name="duffing", a="base", b="two", k=2.0, c=0.1),
            ExpressionForce(
                name="text", b="rod.tip", fx="sin(3*t)", torque="-0.1*omega"
            ),
            Couple(
                name="couple",
                a="rod",
                b="two",
                torque=Harmonic(amplitude=0.5, angular_frequency=2),
            ),
            PointForce(name="push", b="two", fx=0.4, fy=0.2, frame="body"),
        ],
    )


MODELS = {
    "damper": hinged(TorsionSpring(name="it", b="rod", damping=0.3, stiffness=1.0)),
    "drive": hinged(
        drives=[
            RotationDrive(
                name="it", b="rod", law=Ramp(rate=3.0, duration=0.7, begin=0.2)
            )
        ]
    ),
    "support": Model(
        gravity=(0.0, -G),
        bodies=[
            rod(velocity=(0.6, 0.0)),
            MovingSupport(name="it", x=Harmonic(amplitude=0.1, angular_frequency=6.0)),
        ],
        joints=[Revolute(name="hinge", a="it", b="rod.pin")],
    ),
    "user": hinged(QuadraticDrag(name="it", b="rod.tip", drag=0.3)),
    "user with potential": hinged(Duffing(name="it", b="rod.tip", k=3.0, c=0.2)),
    "expression": hinged(
        ExpressionForce(name="it", b="rod.tip", fx="-0.5*vx*abs(vx)", fy="sin(3*t)")
    ),
    "crowd": crowd(),
}


@pytest.mark.parametrize(
    ("name", "method", "rtol"),
    [
        # All entries at once; tighter, Radau takes thousands of steps.
        *(("crowd", "auto", rtol) for rtol in (1e-4, 1e-6, 1e-8, 1e-10)),
        *(("crowd", "dopri5", rtol) for rtol in (1e-4, 1e-6, 1e-8, 1e-10)),
        *(("crowd", "radau", rtol) for rtol in (1e-4, 1e-6, 1e-8)),
        # Each alone, where nothing else asks for short steps.
        *((name, "auto", 1e-10) for name in MODELS if name != "crowd"),
        *((name, "radau", 1e-6) for name in MODELS if name != "crowd"),
    ],
)
def test_the_ledger_closes(name, method, rtol):
    balance = simulate(MODELS[name], 2.0, method=method, rtol=rtol).energy_balance
    done = sum(np.max(np.abs(work)) for work in balance.work.values())
    # The entries are no trifle, or closing would prove nothing.
    assert done > 0.05 * balance.exchanged
    assert balance.residual <= CLOSED * rtol * balance.exchanged


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau"])
@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-11])
def test_the_ledger_closes_where_the_motion_is_prescribed(method, rtol):
    """Nothing but the works themselves asks for short steps here."""
    balance = simulate(MODELS["drive"], 2.0, method=method, rtol=rtol).energy_balance
    assert balance.residual <= CLOSED * rtol * balance.exchanged


def test_the_ledger_of_a_fixed_step_closes_with_its_order():
    steps = np.array([0.02, 0.01, 0.005])
    left = [
        simulate(MODELS["damper"], 1.0, method="rk4", step=h).energy_balance.residual
        for h in steps
    ]
    slope = np.polyfit(np.log(steps), np.log(left), 1)[0]
    # Order four; higher terms of the error move the fit by less than half.
    assert 3.5 < slope < 5.5


# ---- entries against closed forms ----------------------------------------------

RTOL = 1e-10
# A hundred steps of rtol times energies of order ten.
CLOSE: dict[str, Any] = {"abs": 1e-7, "rel": 0.0}


def works(model: Model, until: float = 1.0):
    result = simulate(model, until, rtol=RTOL)
    return result, {k: float(w[-1]) for k, w in result.energy_balance.work.items()}


def test_a_damper_takes_what_the_oscillator_loses():
    values = {"mass": 2.0, "stiffness": 50.0, "damping": 3.0}
    block = PointMass(name="block", mass=2.0, position=(1.7, 0.0))
    spring = SpringDamper(
        name="it", b="block", stiffness=50.0, damping=3.0, rest_length=1.0
    )
    result, work = works(Model(bodies=[block], forces=[spring]))
    t = result.t
    x, v = osc.free_response(t, position=0.7, **values)
    energy = 0.5 * 50.0 * x**2 + 0.5 * 2.0 * v**2
    balance = result.energy_balance
    assert balance.work["it"] == pytest.approx(energy - energy[0], **CLOSE)
    assert balance.kinetic == pytest.approx(0.5 * 2.0 * v**2, **CLOSE)
    assert balance.potential == pytest.approx(0.5 * 50.0 * x**2, **CLOSE)
    assert work["it"] < -5.0


def test_a_rotation_drive_supplies_kinetic_and_potential_energy():
    law = SmoothStep(end=1.2, duration=0.8)
    result, _ = works(hinged(drives=[RotationDrive(name="it", b="rod", law=law)]))
    u = np.clip(result.t / 0.8, 0.0, 1.0)
    angle = 1.2 * u**3 * (10 - 15 * u + 6 * u**2)
    rate = 1.2 * 30 * u**2 * (1 - u) ** 2 / 0.8
    expected = 0.5 / 3.0 * rate**2 + 0.5 * G * np.sin(angle)
    assert result.energy_balance.work["it"] == pytest.approx(expected, **CLOSE)


def test_a_translation_drive_supplies_kinetic_and_potential_energy():
    """A load is lifted along an axis of 0.5 rad by v = 3 t, F = m (3 + g sin 0.5)."""
    lift = TranslationDrive(
        name="it", b="load", axis=0.5, law=Ramp(rate=3.0, duration=1.0)
    )
    track = PinInSlot(name="track", b="load", axis=0.5)
    load = PointMass(name="load", mass=2.0)
    model = Model(gravity=(0, -G), bodies=[load], joints=[track], drives=[lift])
    result, _ = works(model)
    path, speed = 1.5 * result.t**2, 3.0 * result.t
    expected = 0.5 * 2.0 * speed**2 + 2.0 * G * math.sin(0.5) * path
    assert result.energy_balance.work["it"] == pytest.approx(expected, **CLOSE)


def test_a_drive_at_constant_speed_feeds_the_damper():
    """W = c w² t for the drive, and the opposite for the damper."""
    model = Model(
        bodies=[RigidBody(name="disc", mass=1.0, inertia=0.2, angular_velocity=3.0)],
        joints=[Revolute(name="axle", b="disc")],
        drives=[RotationDrive(name="motor", b="disc", law=ConstantRate(rate=3.0))],
        forces=[TorsionSpring(name="damper", b="disc", damping=0.7)],
    )
    result, _ = works(model, 2.0)
    loss = 0.7 * 9.0 * result.t
    # Constant powers: exact but for round-off.
    close: dict[str, Any] = {"abs": 1e-12, "rel": 0.0}
    assert result.energy_balance.work["motor"] == pytest.approx(loss, **close)
    assert result.energy_balance.work["damper"] == pytest.approx(-loss, **close)


def test_a_drive_between_two_bodies_works_on_their_relative_motion():
    """Discs 0.2 and 0.3 kg m² spun apart: w_b = 0.6 s', w_a = -0.4 s' at s' = 2 t."""
    model = Model(
        bodies=[
            RigidBody(name="a", mass=1.0, inertia=0.3),
            RigidBody(name="b", mass=1.0, inertia=0.2),
        ],
        joints=[Revolute(name="pin", a="a", b="b")],
        drives=[
            RotationDrive(name="it", a="a", b="b", law=Ramp(rate=2.0, duration=1.0))
        ],
    )
    result, work = works(model)
    assert result["b.omega"][-1] == pytest.approx(0.6 * 2.0, abs=1e-12)
    assert result["a.omega"][-1] == pytest.approx(-0.4 * 2.0, abs=1e-12)
    # Reduced inertia 0.12 kg m²; polynomials of low degree, exact but for round-off.
    assert work["it"] == pytest.approx(0.5 * 0.12 * 4.0, abs=1e-12)


def test_a_support_supplies_what_its_load_gains():
    """A lift with a bob hanging in it, y' = 2 t: F = m (2 + g)."""
    model = Model(
        gravity=(0.0, -G),
        bodies=[
            PointMass(name="bob", mass=3.0, position=(0.0, -1.0)),
            MovingSupport(name="lift", y=Ramp(rate=2.0, duration=1.0)),
        ],
        joints=[Distance(name="rope", a="lift", b="bob", length=1.0)],
    )
    result, _ = works(model)
    t = result.t
    expected = 0.5 * 3.0 * (2.0 * t) ** 2 + 3.0 * G * t**2
    assert result.energy_balance.work["lift"] == pytest.approx(expected, **CLOSE)


def test_a_spring_on_a_moving_support_stores_and_the_support_works():
    """The free end of a spring is pulled: all work is stored, none lost."""
    model = Model(
        bodies=[
            RigidBody(name="block", mass=1.0, inertia=1.0, position=(1.0, 0.0)),
            MovingSupport(name="hand", x=Ramp(rate=1.0, duration=1.0, start=2.0)),
        ],
        joints=[Prismatic(name="guide", b="block")],
        drives=[
            TranslationDrive(
                name="stop", b="block", law=ConstantRate(rate=0.0, start=1.0)
            )
        ],
        forces=[
            SpringDamper(
                name="spring", a="block", b="hand", stiffness=40.0, rest_length=1.0
            )
        ],
    )
    _, work = works(model)
    assert work["hand"] == pytest.approx(0.5 * 40.0 * 0.5**2, **CLOSE)
    assert work["spring"] == 0.0
    assert work["stop"] == 0.0


def test_prescribed_forces_do_force_times_path():
    body = RigidBody(name="body", mass=2.0, inertia=0.5)
    other = RigidBody(name="other", mass=1.0, inertia=0.25)
    model = Model(
        bodies=[body, other],
        forces=[
            PointForce(name="push", b="body", fx=3.0, fy=-1.0),
            Couple(name="twist", a="other", b="body", torque=0.7),
        ],
    )
    _, work = works(model)
    # x = 3/4 t², y = -1/4 t²; angles 0.7 t² and -1.4 t². Exact but for round-off.
    assert work["push"] == pytest.approx(3.0 * 0.75 + 0.25, abs=1e-12)
    assert work["twist"] == pytest.approx(0.7 * (0.7 + 1.4), abs=1e-12)


def test_drag_takes_what_flight_loses():
    """Linear drag as text; the exact speeds fade as exp(-t/2)."""
    ball = PointMass(name="ball", mass=2.0, velocity=(3.0, 4.0))
    drag = ExpressionForce(name="it", b="ball", fx="-vx", fy="-vy")
    # The reaction's moment on the ground is nobody's business.
    result, _ = works(Model(gravity=(0, -G), bodies=[ball], forces=[drag]))
    path = osc.projectile(result.t, velocity=(3.0, 4.0), gravity=G, drag=0.5)
    energy = path.v_x**2 + path.v_y**2 + 2.0 * G * path.y
    expected = energy - energy[0]
    assert result.energy_balance.work["it"] == pytest.approx(expected, **CLOSE)


def test_a_users_drag_takes_what_the_ball_loses():
    """v' = -k/m v²: v = v0/(1 + k v0 t/m)."""
    ball = PointMass(name="ball", mass=2.0, velocity=(3.0, 0.0))
    drag = QuadraticDrag(name="it", b="ball", drag=0.4)
    result, _ = works(Model(bodies=[ball], forces=[drag]))
    speed = 3.0 / (1.0 + 0.2 * 3.0 * result.t)
    expected = speed**2 - 9.0
    assert result.energy_balance.work["it"] == pytest.approx(expected, **CLOSE)


# ---- no entry is a remainder ---------------------------------------------------


@pytest.mark.parametrize("name", ["motor", "damper", "drag", "duffing", "text", "base"])
def test_leaving_an_entry_out_shows_in_the_residual(name):
    balance = simulate(crowd(), 2.0).energy_balance
    missing = balance.work[name]
    rest = {k: w for k, w in balance.work.items() if k != name}
    without = replace(balance, work=rest)
    # What closes to 1e-7 with the entry is open by exactly the entry without it.
    assert np.max(np.abs(missing)) > 1e-3
    slack = CLOSED * 1e-8 * balance.exchanged
    assert without.residual == pytest.approx(np.max(np.abs(missing)), abs=slack)


def test_a_force_that_hides_its_loss_is_found_out():
    ball = PointMass(name="ball", mass=2.0, velocity=(3.0, 0.0))
    damper = LyingDamper(name="it", b="ball", c=1.0)
    result, work = works(Model(bodies=[ball], forces=[damper]))
    lost = 9.0 * (1.0 - math.exp(-1.0))
    assert work["it"] == 0.0
    assert result.energy_balance.residual == pytest.approx(lost, abs=1e-7)


def test_the_start_is_the_zero_of_the_ledger():
    balance = simulate(crowd(), 0.5).energy_balance
    assert balance.imbalance[0] == 0.0
    assert all(work[0] == 0.0 for work in balance.work.values())
    assert set(balance.work) == {
        *("motor", "damper", "drag", "duffing", "text", "couple", "push", "base")
    }


def test_exchanged_counts_what_changed_form():
    """A swing from the horizontal to the vertical: the drop, twice."""
    balance = simulate(hinged(), 0.48285, rtol=1e-10).energy_balance
    fallen = -balance.potential[-1]
    assert balance.kinetic[-1] == pytest.approx(fallen, abs=1e-8)
    assert balance.exchanged == pytest.approx(2.0 * fallen, abs=1e-8)
