"""What must not matter: direction, place, names, order, cuts, and doing it again."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonsmooth import (
    Distance,
    Event,
    ExpressionForce,
    Ground,
    Harmonic,
    Model,
    PinInSlot,
    PointForce,
    PointMass,
    Revolute,
    RigidBody,
    RotationDrive,
    SpringDamper,
    TorsionSpring,
    simulate,
)

UNTIL, RTOL = 0.8, 1e-10
# Two runs whose steps differ are each within some hundred times rtol of the truth;
# the mechanism's motion multiplies errors by less than ten in that time.
SAME = 1e3 * RTOL

few = settings(max_examples=8, deadline=None, derandomize=True)


@dataclass(frozen=True)
class Frame:
    """Where and how a scene stands, and what its parts are called."""

    turn: float = 0.0  # rad
    shift: tuple[float, float] = (0.0, 0.0)  # m
    prefix: str = ""
    order: tuple[int, ...] = (0, 1, 2, 3, 4)  # of bodies and joints

    def place(self, x: float, y: float) -> tuple[float, float]:
        fx, fy = self.arrow(x, y)
        return (fx + self.shift[0], fy + self.shift[1])

    def arrow(self, x: Any, y: Any) -> tuple[Any, Any]:
        c, s = math.cos(self.turn), math.sin(self.turn)
        return (c * x - s * y, s * x + c * y)

    def name(self, text: str) -> str:
        return text if text.startswith("ground") else self.prefix + text

    def sorted(self, items: list) -> list:
        return [items[k] for k in self.order if k < len(items)]


def scene(frame: Frame, height: float = 0.3) -> Model:
    """A driven crank, two arms, a slider in a slot and a bob, with springs and dampers.

    `height` sets the start: the arms' angles.
    """
    n, turn = frame.name, frame.turn
    elbow = (0.8 * math.cos(height), 0.8 * math.sin(height))
    end = (elbow[0] + 0.6 * math.cos(-height), elbow[1] + 0.6 * math.sin(-height))

    def bar(name, start, angle, length, mass):
        x = start[0] + 0.5 * length * math.cos(angle)
        y = start[1] + 0.5 * length * math.sin(angle)
        return RigidBody(
            name=n(name),
            mass=mass,
            inertia=mass * length**2 / 12,
            position=frame.place(x, y),
            angle=angle + turn,
            points={"in": (-0.5 * length, 0.0), "out": (0.5 * length, 0.0)},
        )

    bodies = [
        bar("upper", (0.0, 0.0), height, 0.8, 1.0),
        bar("lower", elbow, -height, 0.6, 0.7),
        bar("crank", (2.0, 0.0), 0.5 * math.pi, 0.4, 0.5),
        PointMass(name=n("slider"), mass=0.4, position=frame.place(0.0, -1.0)),
        PointMass(name=n("bob"), mass=0.3, position=frame.place(end[0], end[1] - 0.5)),
    ]
    joints = [
        Revolute(name=n("shoulder"), a="ground.origin", b=n("upper") + ".in"),
        Revolute(name=n("elbow"), a=n("upper") + ".out", b=n("lower") + ".in"),
        Revolute(name=n("axle"), a="ground.axle", b=n("crank") + ".in"),
        PinInSlot(name=n("slot"), a="ground.rail", b=n("slider"), axis=0.3 + turn),
        Distance(name=n("rope"), a=n("lower") + ".out", b=n("bob"), length=0.5),
    ]
    ground = Ground(
        points={
            "origin": frame.place(0.0, 0.0),
            "axle": frame.place(2.0, 0.0),
            "rail": frame.place(0.0, -1.0),
        }
    )
    return Model(
        gravity=frame.arrow(0.0, -9.81),
        bodies=[*frame.sorted(bodies), ground],
        joints=frame.sorted(joints),
        drives=[
            RotationDrive(
                name=n("motor"),
                b=n("crank"),
                law=Harmonic(
                    amplitude=0.5, angular_frequency=3.0, offset=0.5 * math.pi + turn
                ),
            )
        ],
        forces=frame.sorted(
            [
                SpringDamper(
                    name=n("spring"),
                    a=n("crank") + ".out",
                    b=n("lower") + ".out",
                    stiffness=30.0,
                    damping=0.5,
                    rest_length=0.4,
                ),
                TorsionSpring(
                    name=n("twist"),
                    a=n("upper"),
                    b=n("lower"),
                    stiffness=2.0,
                    damping=0.1,
                    rest_angle=-0.4,
                ),
                SpringDamper(
                    name=n("tie"), a="ground.origin", b=n("slider"), stiffness=9.0
                ),
                PointForce(name=n("push"), b=n("lower"), fx=0.7, frame="body"),
                ExpressionForce(
                    name=n("brake"), a=n("upper"), b=n("lower"), torque="-0.2*omega"
                ),
            ]
        ),
        events=[Event(name=n("straight"), a=n("upper"), b=n("lower"), guard="theta")],
        # Speeds of the crank follow its drive.
        assemble=True,
        keep=[n("crank") + ".theta"],
    )


PLACES = ("upper", "lower", "crank", "slider", "bob", "upper.out", "lower.out")
TIMES = np.linspace(0.0, UNTIL, 9)


def seen(frame: Frame, height: float = 0.3, **options) -> dict[str, np.ndarray]:
    """What happens in a scene, told in the untransformed frame."""
    result = simulate(scene(frame, height), UNTIL, rtol=RTOL, **options)
    samples = result.sample(TIMES)
    column = {
        name.removeprefix(frame.prefix): samples[name] for name in result.columns[1:]
    }
    back = Frame(turn=-frame.turn)
    told = {"events": result.events.t}
    for body in PLACES:
        x, y = column[f"{body}.x"], column[f"{body}.y"]
        told[f"{body} at"] = np.stack(
            back.arrow(x - frame.shift[0], y - frame.shift[1])
        )
        told[f"{body} speed"] = np.stack(
            back.arrow(column[f"{body}.vx"], column[f"{body}.vy"])
        )
    for body in ("upper", "lower", "crank"):
        told[f"{body} angle"] = column[f"{body}.theta"] - frame.turn
        told[f"{body} rate"] = column[f"{body}.omega"]
    for joint in ("shoulder", "elbow", "axle", "slot", "rope"):
        told[f"{joint} force"] = np.stack(
            back.arrow(column[f"{joint}.force_x"], column[f"{joint}.force_y"])
        )
    told["motor"] = column["motor.torque"]
    balance = result.energy_balance
    for name, work in balance.work.items():
        told[f"{name.removeprefix(frame.prefix)} work"] = work[-1:]
    return told


def agree(ours: dict, theirs: dict, within: float) -> None:
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        # Forces reach 30 N and follow the motion's error times stiffnesses of 30 N/m.
        slack = within * (100.0 if "force" in name or name == "motor" else 1.0)
        assert theirs[name] == pytest.approx(values, abs=slack, rel=slack), name


@few
@given(turn=st.floats(-3.0, 3.0), height=st.floats(0.1, 1.0))
def test_turning_the_scene_changes_nothing(turn, height):
    agree(seen(Frame(), height), seen(Frame(turn=turn), height), SAME)


@few
@given(
    shift=st.tuples(
        st.sampled_from([-1e3, -1.0, 1e3]), st.sampled_from([-1e3, 0.1, 1e3])
    )
)
def test_moving_the_scene_a_kilometre_changes_nothing(shift):
    # Positions near 1e3 m round to 1e-13 m, at every step, and speeds by that per
    # step: small beside SAME.
    agree(seen(Frame()), seen(Frame(shift=shift)), SAME)


@few
@given(order=st.permutations(range(5)), height=st.floats(0.1, 1.0))
def test_the_order_of_elements_changes_nothing(order, height):
    agree(seen(Frame(), height), seen(Frame(order=tuple(order)), height), SAME)


def bits(result):
    """Return all that was logged, of each part that marched apart."""
    names = ("t", "h", "coef", "cap", "method", "arc")
    parts = getattr(result.steps, "own", (result.steps,))
    return [getattr(steps, name).tobytes() for steps in parts for name in names]


@few
@given(prefix=st.sampled_from(["a", "zz_", "x-"]))
def test_names_change_nothing_at_all(prefix):
    """Not a bit: nothing looks at names after packing."""
    ours = simulate(scene(Frame()), UNTIL)
    theirs = simulate(scene(Frame(prefix=prefix)), UNTIL)
    assert bits(ours) == bits(theirs)


@few
@given(cut=st.floats(0.05, 0.75), height=st.floats(0.1, 1.0))
def test_cutting_a_run_in_two_changes_nothing(cut, height):
    model = scene(Frame(), height)
    whole = simulate(model, UNTIL, rtol=RTOL)
    first = simulate(model, cut, rtol=RTOL)
    second = simulate(model, UNTIL, rtol=RTOL, start=first.state())
    ours, theirs = whole.state(), second.state()
    for body, pose in ours.positions.items():
        assert theirs.positions[body] == pytest.approx(pose, abs=SAME)
        rates = ours.velocities[body]
        assert theirs.velocities[body] == pytest.approx(rates, abs=10 * SAME)
    events = [*first.events.t, *second.events.t]
    assert events == pytest.approx(whole.events.t.tolist(), abs=SAME)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "auto"},
        {"method": "dopri5"},
        {"method": "radau"},
        {"method": "rk4", "step": 0.01},
    ],
    ids=lambda x: x["method"],
)
def test_the_same_input_gives_the_same_bits(options):
    model = scene(Frame())
    ours, theirs = (simulate(model, UNTIL, **options) for _ in range(2))
    assert len(ours.events) > 0
    assert bits(ours) == bits(theirs)
    assert ours.events.t.tobytes() == theirs.events.t.tobytes()
    assert ours.sample(TIMES).to_numpy().tobytes() == (
        theirs.sample(TIMES).to_numpy().tobytes()
    )


def test_a_fresh_model_gives_the_same_bits():
    """Equal objects, not the same ones: nothing depends on identity or on hashes."""
    ours, theirs = (simulate(scene(Frame()), UNTIL) for _ in range(2))
    assert bits(ours) == bits(theirs)


def test_the_frame_does_move_the_scene():
    """The transformations above are not idle."""
    ours = simulate(scene(Frame()), UNTIL)["lower.x"]
    turned = simulate(scene(Frame(turn=1.0)), UNTIL)["lower.x"]
    assert abs(ours[-1] - turned[-1]) > 0.1
