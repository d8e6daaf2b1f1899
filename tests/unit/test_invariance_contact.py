"""What must not matter to contacts: direction, place, side, units, names and order.

The scene is a sledge on two feet of different height, so that its friction is unique,
shaken by a force until it sticks, slips, lifts a foot and hits a disc that rolls.
"""

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Contact,
    Coulomb,
    DampedHertz,
    Expression,
    Ground,
    KelvinVoigt,
    Line,
    Model,
    PointForce,
    Polygon,
    RigidBody,
    SpringDamper,
    simulate,
)

UNTIL, RTOL = 1.2, 1e-10
# Two runs whose steps differ are each within some hundred times rtol of the truth, and
# the impact of the disc multiplies errors by about ten.
SAME = 1e4 * RTOL  # s, m, relative to the size of the scene

BODIES = ("sledge", "disc")
CONTACTS = ("heel", "toe", "rim", "bump")


@dataclass(frozen=True)
class Frame:
    """Where, how and in what units a scene stands."""

    turn: float = 0.0  # rad
    shift: tuple[float, float] = (0.0, 0.0)  # m
    mirror: int = 1  # -1: x is reversed before the turn
    unit: float = 1.0  # m for each metre of the scene
    prefix: str = ""
    order: tuple[int, ...] = (0, 1, 2, 3)

    def arrow(self, x: Any, y: Any) -> tuple[Any, Any]:
        c, s = math.cos(self.turn), math.sin(self.turn)
        x, y = self.mirror * self.unit * x, self.unit * y
        return (c * x - s * y, s * x + c * y)

    def place(self, x: float, y: float) -> tuple[float, float]:
        dx, dy = self.arrow(x, y)
        return (dx + self.shift[0], dy + self.shift[1])

    def own(self, x: float, y: float) -> tuple[float, float]:
        """A place in a body's frame."""
        return (self.mirror * self.unit * x, self.unit * y)

    def outline(self, *corners: tuple[float, float]) -> tuple[tuple[float, float], ...]:
        """Corners in a body's frame, counter-clockwise."""
        return tuple(self.own(x, y) for x, y in corners[:: self.mirror])

    def sorted(self, items: list) -> list:
        return [items[k] for k in self.order if k < len(items)]


def scene(f: Frame) -> Model:
    s, n = f.unit, f.prefix
    sledge = RigidBody(
        name=n + "sledge",
        mass=3.0,
        inertia=0.2 * s**2,
        position=f.place(0.1, 0.3),
        angle=f.turn,
        velocity=f.arrow(0.4, 0.0),
        points={
            "heel": f.own(-0.3, -0.3),
            "toe": f.own(0.25, -0.2),
            "eye": f.own(-0.3, 0.1),
        },
        shapes={
            "nose": Polygon(
                vertices=f.outline((0.2, -0.15), (0.4, -0.1), (0.4, 0.2), (0.2, 0.2))
            )
        },
    )
    disc = RigidBody(
        name=n + "disc",
        mass=0.5,
        inertia=0.01 * s**2,
        position=f.place(0.9, 0.3),
        velocity=f.arrow(-0.5, 0.0),
        angular_velocity=f.mirror * 1.0,
        angle=f.turn,
        shapes={"rim": Circle(radius=0.2 * s)},
    )
    ground = Ground(
        points={"wall": f.place(-1.5, 0.4)},
        shapes={
            "floor": Line(point=f.place(0.0, 0.0), angle=f.turn),
            "step": Line(point=f.place(0.0, 0.1), angle=f.turn),
        },
    )
    hertz = DampedHertz(stiffness=4e5 * s**-0.5, damping=2e5 / s)
    spring = KelvinVoigt(stiffness=3e4, damping=15.0)
    dry = Coulomb(mu=0.3, mu_static=0.45)
    contacts = [
        Contact(name=n + "heel", a="ground.floor", b=n + "sledge.heel", normal=hertz),
        Contact(name=n + "toe", a="ground.step", b=n + "sledge.toe", normal=hertz),
        Contact(name=n + "rim", a="ground.step", b=n + "disc.rim", normal=spring),
        Contact(name=n + "bump", a=n + "sledge.nose", b=n + "disc.rim", normal=spring),
    ]
    contacts = [replace(contact, friction=dry) for contact in contacts]
    fx, fy = f.arrow(1.0, 0.3)
    shake = "(25*sin(11*t) + 9*sin(23*t))"
    return Model(
        gravity=f.arrow(0.0, -9.81),
        bodies=[*f.sorted([sledge, disc]), ground],
        forces=[
            PointForce(
                name=n + "shake",
                b=n + "sledge",
                fx=Expression(text=f"{fx!r}*{shake}"),
                fy=Expression(text=f"{fy!r}*{shake}"),
            ),
            SpringDamper(
                name=n + "rope",
                a="ground.wall",
                b=n + "sledge.eye",
                stiffness=40.0,
                damping=1.0,
                rest_length=1.2 * s,
            ),
        ],
        contacts=f.sorted(contacts),
    )


@dataclass(frozen=True)
class Story:
    """What happens in a scene, told in the frame and the units of the first one."""

    events: dict[str, list[tuple[str, str, str]]]  # of each contact
    times: dict[str, np.ndarray]  # s
    motion: dict[str, np.ndarray]  # m, m/s, N


TIMES = np.linspace(0.0, UNTIL, 25)
_OTHER_SIDE = {"slip+": "slip-", "slip-": "slip+"}


def told(f: Frame, model: Model | None = None) -> Story:
    result = simulate(scene(f) if model is None else model, UNTIL, rtol=RTOL)
    samples = result.sample(TIMES)
    back = Frame(turn=-f.turn)
    events, times, motion = {}, {}, {}

    def seen(mode: str) -> str:
        return _OTHER_SIDE.get(mode, mode) if f.mirror < 0 else mode

    for name in CONTACTS:
        own = result.events.of(f.prefix + name)
        events[name] = [(r.kind, seen(r.before), seen(r.after)) for r in own]
        times[name] = own.t
        for quantity, sign in (("normal_force", 1.0), ("friction_force", f.mirror)):
            column = samples[f"{f.prefix}{name}.{quantity}"]
            motion[f"{name} {quantity}"] = sign * column / f.unit
    for name in BODIES:
        at = f.prefix + name
        x, y = samples[f"{at}.x"] - f.shift[0], samples[f"{at}.y"] - f.shift[1]
        x, y = back.arrow(x, y)
        vx, vy = back.arrow(samples[f"{at}.vx"], samples[f"{at}.vy"])
        motion[f"{name} at"] = np.stack([f.mirror * x, y]) / f.unit
        motion[f"{name} speed"] = np.stack([f.mirror * vx, vy]) / f.unit
        motion[f"{name} angle"] = f.mirror * (samples[f"{at}.theta"] - f.turn)
    return Story(events, times, motion)


@cache
def first() -> Story:
    return told(Frame())


def agree(theirs: Story, within: float = SAME) -> None:
    ours = first()
    assert theirs.events == ours.events
    for name, t in ours.times.items():
        assert theirs.times[name] == pytest.approx(t, abs=within), name
    for name, values in ours.motion.items():
        # Speeds turn by 100 rad/s at most, forces by contacts of 3e4 N/m and more.
        slack = {"speed": 100.0, "force": 1e5}.get(name.replace("_", " ").split()[-1])
        np.testing.assert_allclose(
            theirs.motion[name],
            values,
            rtol=0.0,
            atol=within * (slack or 1.0),
            err_msg=name,
        )


def test_the_scene_has_events_of_every_kind():
    """Or the tests below would say little."""
    kinds = {kind for own in first().events.values() for kind, _, _ in own}
    assert kinds == {
        "touch_down",
        "release",
        "separate",
        "stick",
        "break_away",
        "reverse",
    }


@pytest.mark.parametrize("turn", [-2.8, -0.4, 0.5 * math.pi, 1.1])
def test_turning_the_scene_changes_nothing(turn):
    agree(told(Frame(turn=turn)))


@pytest.mark.parametrize("shift", [(100.0, 0.0), (-3.0, 55.0)])
def test_moving_the_scene_changes_nothing(shift):
    # Overlaps are differences of places: at 100 m they round to 1e-14 m, and forces of
    # 4e5 N/m^1.5 with them, far below SAME.
    agree(told(Frame(shift=shift)))


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_the_mirror_image_is_the_mirror_image(turn):
    agree(told(Frame(mirror=-1, turn=turn)))


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_a_model_in_other_units_does_the_same(unit):
    # In kilometres and millimetres the absolute part of the tolerance, an SI number,
    # differs: a hundredth of rtol beside speeds of 1e-3 m/s is ten times rtol.
    agree(told(Frame(unit=unit)), within=20 * SAME)


@pytest.mark.parametrize("order", [(1, 0, 3, 2), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_the_order_of_bodies_and_contacts_changes_nothing(order):
    agree(told(Frame(order=order)))


def test_which_body_stands_in_a_changes_nothing():
    """A disc against an outline is the same pair as the outline against the disc."""
    model = scene(Frame())
    contacts = [
        replace(c, a=c.b, b=c.a) if c.name == "bump" else c for c in model.contacts
    ]
    ours, theirs = first(), told(Frame(), replace(model, contacts=tuple(contacts)))
    assert theirs.times["bump"] == pytest.approx(ours.times["bump"], abs=SAME)
    agree(theirs)


def test_names_change_nothing_at_all():
    """Not a bit: nothing looks at names after packing."""
    ours = simulate(scene(Frame()), UNTIL)
    theirs = simulate(scene(Frame(prefix="zz_")), UNTIL)
    assert ours.steps.coef.tobytes() == theirs.steps.coef.tobytes()
    assert ours.events.t.tobytes() == theirs.events.t.tobytes()


def test_the_same_input_gives_the_same_bits():
    ours, theirs = (simulate(scene(Frame()), UNTIL, rtol=1e-6) for _ in range(2))
    for name in ("t", "h", "coef", "method"):
        assert (
            getattr(ours.steps, name).tobytes() == getattr(theirs.steps, name).tobytes()
        )
    for name in ("mode", "gap", "normal_force", "friction_force", "slip_velocity"):
        for contact in CONTACTS:
            column = f"{contact}.{name}"
            assert ours[column].tobytes() == theirs[column].tobytes()
    assert [str(r) for r in ours.events] == [str(r) for r in theirs.events]


@pytest.mark.parametrize("cut", [0.2, 0.3128, 0.6, 0.9])
def test_cutting_a_run_in_two_changes_nothing(cut):
    """In the impact, between two events 65 microseconds apart, slipping, sticking."""
    model = scene(Frame())
    whole = simulate(model, UNTIL, rtol=RTOL)
    head = simulate(model, cut, rtol=RTOL)
    for start in (head.state(), whole.state(cut)):
        tail = simulate(model, UNTIL, rtol=RTOL, start=start)
        kinds = [(r.element, r.kind) for r in (*head.events, *tail.events)]
        assert kinds == [(r.element, r.kind) for r in whole.events]
        t = np.append(head.events.t, tail.events.t)
        np.testing.assert_allclose(t, whole.events.t, rtol=0.0, atol=SAME)
        for body, pose in whole.state().positions.items():
            assert tail.state().positions[body] == pytest.approx(pose, abs=SAME)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-12])
def test_the_tolerance_does_not_change_the_events(rtol):
    result = simulate(scene(Frame()), UNTIL, rtol=rtol)
    for name, own in first().events.items():
        found = [(r.kind, r.before, r.after) for r in result.events.of(name)]
        assert found == own, name


@pytest.mark.parametrize("method", ["dopri5", "dop853", "radau"])
def test_the_method_does_not_change_the_events(method):
    result = simulate(scene(Frame()), UNTIL, rtol=1e-8, method=method)
    for name, own in first().events.items():
        found = [(r.kind, r.before, r.after) for r in result.events.of(name)]
        assert found == own, name
    # The tolerance of this run, times the hundred or so of SAME.
    assert result.state().positions["sledge"][:2] == pytest.approx(
        first().motion["sledge at"][:, -1], abs=1e-5
    )
