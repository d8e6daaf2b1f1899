"""A user's law, written in the user's script, is as good and as fast as a built-in."""

import math
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

import numpy as np
import pytest

from nonsmooth import (
    Drive,
    Force,
    Harmonic,
    Joint,
    Model,
    MovingSupport,
    PinInSlot,
    Revolute,
    RigidBody,
    RotationDrive,
    SpringDamper,
    TimeLaw,
    TorsionSpring,
    equilibrium,
    simulate,
)
from nonsmooth.elements.base import quantity
from nonsmooth.kernels import abi
from nonsmooth.pack import pack

G = 9.81


# ---- what a user would write ---------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MyWave(TimeLaw):
    """s = offset + amplitude sin(angular_frequency t + phase)."""

    amplitude: float
    angular_frequency: float = quantity("rad/s")
    phase: float = 0.0
    offset: float = 0.0

    @staticmethod
    def evaluate(p, t, s):
        sine = math.sin(p[1] * t + p[2])
        s[0] = p[3] + p[0] * sine
        s[1] = p[0] * p[1] * math.cos(p[1] * t + p[2])
        s[2] = -p[0] * p[1] * p[1] * sine


@dataclass(frozen=True, kw_only=True)
class MySpring(Force):
    """A spring and damper on the line between two points."""

    has_potential: ClassVar[bool] = True

    stiffness: float = quantity("N/m", minimum=0.0)
    damping: float = quantity("N s/m", default=0.0)
    rest_length: float = quantity("m", default=0.0)

    @staticmethod
    def wrench(p, s, t, a, b, out):
        dx, dy = b[0] - a[0], b[1] - a[1]
        length = math.hypot(dx, dy)
        ux, uy = dx / length, dy / length
        rate = ux * (b[3] - a[3]) + uy * (b[4] - a[4])
        stretch = length - p[2]
        pull = p[0] * stretch + p[1] * rate
        for i in range(8):
            out[i] = 0.0
        out[0] = -pull * ux
        out[1] = -pull * uy
        out[3] = pull * ux
        out[4] = pull * uy
        out[6] = 0.5 * p[0] * stretch * stretch
        out[7] = -p[1] * rate * rate


@dataclass(frozen=True, kw_only=True)
class MyPin(Joint):
    """Two points stay together."""

    n_row: ClassVar[int] = 2

    @staticmethod
    def rows(p, s, a, b, out):
        for r in range(2):
            o = 9 * r
            for i in range(9):
                out[o + i] = 0.0
            out[o] = b[r] - a[r]
            out[o + 3 + r] = -1.0
            out[o + 6 + r] = 1.0


@dataclass(frozen=True, kw_only=True)
class MySlot(Joint):
    """Point b stays on a line through point a."""

    n_row: ClassVar[int] = 1
    holds_angle: ClassVar[tuple[bool, bool]] = (True, False)

    axis: float = quantity("rad", default=0.0)

    @staticmethod
    def rows(p, s, a, b, out):
        phi = a[2] + p[0]
        ux, uy = math.cos(phi), math.sin(phi)
        dx, dy = b[0] - a[0], b[1] - a[1]
        wx, wy = b[3] - a[3], b[4] - a[4]
        omega = a[5]
        along = ux * dx + uy * dy
        across = -uy * dx + ux * dy
        out[0] = across
        out[1] = 0.0
        out[2] = -2.0 * omega * (ux * wx + uy * wy) - omega * omega * across
        out[3] = uy
        out[4] = -ux
        out[5] = -along
        out[6] = -uy
        out[7] = ux
        out[8] = 0.0


@dataclass(frozen=True, kw_only=True)
class MyMotor(Drive):
    """Prescribed rotation."""

    holds_angle: ClassVar[tuple[bool, bool]] = (True, True)
    output: ClassVar[str] = "torque"

    @staticmethod
    def rows(p, s, a, b, out):
        for i in range(9):
            out[i] = 0.0
        out[0] = b[2] - a[2] - s[0]
        out[1] = -s[1]
        out[2] = -s[2]
        out[5] = -1.0
        out[8] = 1.0


@dataclass(frozen=True, kw_only=True)
class PulsedCouple(Force):
    """A couple made of two time laws, one of them the user's own."""

    couples: ClassVar[tuple[bool, bool]] = (True, True)

    base: TimeLaw
    ripple: TimeLaw
    gain: float

    @staticmethod
    def wrench(p, s, t, a, b, out):
        for i in range(8):
            out[i] = 0.0
        out[2] = s[0] + p[0] * s[3]
        out[5] = -out[2]


@dataclass(frozen=True, kw_only=True)
class Softening(Force):
    """T = -k tanh(th): a torsion spring the library does not have."""

    couples: ClassVar[tuple[bool, bool]] = (True, True)

    k: float = quantity("N m")

    @staticmethod
    def wrench(p, s, t, a, b, out):
        for i in range(8):
            out[i] = 0.0
        out[2] = -p[0] * math.tanh(b[2] - a[2])
        out[5] = -out[2]


# ---- the same mechanism with either --------------------------------------------


def mechanism(law, spring, pin, slot, motor) -> Model:
    """A driven crank that pulls an arm by a spring, with a pin in a turning slot."""

    def bar(name, x, length, mass):
        return RigidBody(
            name=name,
            mass=mass,
            inertia=mass * length**2 / 12,
            position=(x + 0.5 * length, 0.0),
            points={"in": (-0.5 * length, 0.0), "out": (0.5 * length, 0.0)},
        )

    return Model(
        gravity=(0.0, -G),
        bodies=[
            bar("crank", 0.0, 0.5, 1.0),
            bar("arm", 2.0, 1.0, 2.0),
            RigidBody(name="stone", mass=0.5, inertia=0.01, position=(0.4, 0.0)),
            MovingSupport(name="deck", points={"eye": (2.0, 0.0)}),
        ],
        joints=[
            pin(name="axle", b="crank.in"),
            pin(name="hinge", a="deck.eye", b="arm.in"),
            slot(name="slot", a="crank.in", b="stone"),
        ],
        drives=[
            motor(
                name="motor", b="crank", law=law(amplitude=0.7, angular_frequency=3.0)
            )
        ],
        forces=[
            spring(
                name="spring",
                a="crank.out",
                b="arm.out",
                stiffness=20.0,
                damping=1.0,
                rest_length=2.0,
            ),
            spring(name="tie", a="arm.in", b="stone", stiffness=5.0, damping=0.3),
        ],
        assemble=True,
        keep=["crank.theta"],
    )


MINE = mechanism(MyWave, MySpring, MyPin, MySlot, MyMotor)
BUILT_IN = mechanism(Harmonic, SpringDamper, Revolute, PinInSlot, RotationDrive)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "auto"},
        {"method": "dopri5"},
        {"method": "radau"},
        {"method": "rk4", "step": 0.005},
    ],
    ids=lambda x: x["method"],
)
def test_a_users_laws_give_the_built_in_result(options):
    mine, ours = (simulate(model, 1.0, **options) for model in (MINE, BUILT_IN))
    assert mine.columns == ours.columns
    t = np.linspace(0.0, 1.0, 21)
    a, b = mine.sample(t), ours.sample(t)
    for name in ours.columns:
        # The same formulas; the compiler may fuse them differently, and the motion
        # multiplies round-off by less than a thousand. Forces reach 30 N.
        assert a[name] == pytest.approx(b[name], abs=3e-11, rel=1e-12), name
    assert mine.energy_balance.work.keys() == ours.energy_balance.work.keys()
    for name, work in ours.energy_balance.work.items():
        assert mine.energy_balance.work[name][-1] == pytest.approx(work[-1], abs=1e-11)


@pytest.mark.parametrize(
    "which", ["law", "spring", "pin", "slot", "motor"], ids=lambda x: x
)
def test_kinds_may_be_mixed(which):
    kinds = {
        "law": Harmonic,
        "spring": SpringDamper,
        "pin": Revolute,
        "slot": PinInSlot,
        "motor": RotationDrive,
    }
    user = {
        "law": MyWave,
        "spring": MySpring,
        "pin": MyPin,
        "slot": MySlot,
        "motor": MyMotor,
    }
    mixed = mechanism(**(kinds | {which: user[which]}))
    ours = simulate(BUILT_IN, 0.3).state()
    theirs = simulate(mixed, 0.3).state()
    for body, pose in ours.positions.items():
        # As above, over a shorter time.
        assert theirs.positions[body] == pytest.approx(pose, abs=1e-12)


def test_a_force_may_hold_several_laws():
    """T = 2 + 0.5 * 3 sin(4 t) on a disc of 0.5 kg m²."""
    couple = PulsedCouple(
        name="it",
        b="disc",
        base=Harmonic(amplitude=0.0, angular_frequency=1.0, offset=2.0),
        ripple=MyWave(amplitude=3.0, angular_frequency=4.0),
        gain=0.5,
    )
    disc = RigidBody(name="disc", mass=1.0, inertia=0.5)
    result = simulate(Model(bodies=[disc], forces=[couple]), 1.0, rtol=1e-10)
    t = result.t
    omega = (2.0 * t + 1.5 / 4.0 * (1.0 - np.cos(4.0 * t))) / 0.5
    # A few dozen steps of 1e-10 of a rate of 4 rad/s.
    assert result["disc.omega"] == pytest.approx(omega, abs=1e-8)
    assert result["it.torque"] == pytest.approx(2.0 + 1.5 * np.sin(4.0 * t), abs=1e-14)


def test_a_new_law_works_everywhere():
    """In the solver, the ledger and the equilibrium, without a line elsewhere."""
    disc = RigidBody(name="disc", mass=1.0, inertia=0.5, angle=0.8)
    twist = TorsionSpring(name="bias", b="disc", stiffness=1.0, rest_angle=0.3)
    spring = Softening(name="it", b="disc", k=2.0)
    axle = Revolute(name="axle", b="disc")
    model = Model(bodies=[disc], joints=[axle], forces=[spring, twist])
    found = equilibrium(model)
    angle = found.state.positions["disc"][2]
    # 2 tanh x + x = 0.3, balanced to 1e-11 of the forces.
    assert 2.0 * math.tanh(angle) + angle == pytest.approx(0.3, abs=1e-9)
    assert found.stiffness == pytest.approx(
        [(1.0 + 2.0 / math.cosh(angle) ** 2) / 0.5], rel=1e-7
    )
    result = simulate(model, 3.0, rtol=1e-10)

    def energy(x):
        return 2.0 * math.log(math.cosh(x)) + 0.5 * (x - 0.3) ** 2

    end, rate = (
        result.state().positions["disc"][2],
        result.state().velocities["disc"][2],
    )
    # Energy is kept by this law: a hundred steps of 1e-10.
    assert 0.25 * rate**2 + energy(end) == pytest.approx(energy(0.8), abs=1e-8)
    work = result.energy_balance.work["it"][-1]
    expected = 2.0 * (math.log(math.cosh(0.8)) - math.log(math.cosh(end)))
    assert work == pytest.approx(expected, abs=1e-8)


def test_a_users_kind_is_registered_and_checked():
    assert TimeLaw.kinds["MyWave"] is MyWave
    assert Force.kinds["MySpring"] is MySpring
    assert Joint.kinds["MyPin"] is MyPin
    assert Drive.kinds["MyMotor"] is MyMotor
    assert "MyMotor" not in Joint.kinds
    with pytest.raises(ValueError, match=r"force 's': stiffness = -1.0; must be >= 0"):
        MySpring(name="s", b="x", stiffness=-1.0)


def test_a_users_kind_survives_a_file():
    io = pytest.importorskip("nonsmooth.io")
    assert io.loads(io.dumps(MINE)) == MINE


@pytest.mark.skipif(not abi.JIT, reason="nothing is compiled with the JIT off")
def test_a_users_law_does_not_recompile_the_solver():
    from nonsmooth.kernels.abi import library

    simulate(BUILT_IN, 0.01).sample()
    heard = []
    library.listeners.append(lambda done, n: heard.append(done))
    simulate(MINE, 0.01).sample()
    library.listeners.pop()
    assert heard == []


# ---- speed ---------------------------------------------------------------------


def seconds(system) -> float:
    """CPU time of a run of many steps, in compiled code."""
    return simulate(system, 60.0, method="rk4", step=1e-3).cost["cpu_seconds"]


@pytest.mark.slow
@pytest.mark.skipif(not abi.JIT, reason="nothing is compiled with the JIT off")
def test_a_users_laws_cost_no_more_than_built_in_ones():
    """Both are called by address; the same work takes the same time.

    The bound of 1.2 leaves room for other programs on the machine: medians of nine
    interleaved runs of 60 000 steps scatter by a few per cent. A law that fell back
    on Python would cost a hundred times more.
    """
    mine, ours = pack(MINE), pack(BUILT_IN)
    pairs = [(seconds(mine), seconds(ours)) for _ in range(10)][1:]
    ratio = median(a / b for a, b in pairs)
    print(f"user's / built-in: {ratio:.3f}, {median(b for _, b in pairs):.3f} s each")
    assert ratio < 1.2
