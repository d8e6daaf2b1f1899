"""Contacts that cannot be, runs that cannot go on, and a user's own laws."""

import math
import re
from dataclasses import dataclass
from statistics import median

import numpy as np
import pytest

from nonsmooth import (
    Baumgarte,
    Circle,
    Contact,
    Coulomb,
    Event,
    Expression,
    ExpressionForce,
    Flores,
    Ground,
    Harmonic,
    Hertz,
    KelvinVoigt,
    Line,
    Model,
    ModelError,
    MovingSupport,
    NormalLaw,
    PointForce,
    PointMass,
    Polygon,
    Ramp,
    RigidBody,
    Shape,
    SolveError,
    SwitchError,
    gallery,
    simulate,
)
from nonsmooth.elements.base import quantity
from oracles.contact_audit import audit

G = 9.81


def drop(law: NormalLaw, y: float = 0.1, **more) -> Model:
    ball = PointMass(name="ball", mass=1.0, position=(0.0, y))
    contact = Contact(name="sole", b="ball", normal=law)
    return Model(gravity=(0.0, -G), bodies=[ball], contacts=[contact], **more)


# ---- what a user would write -----------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MySpring(NormalLaw):
    """F = k d + c d'."""

    k: float = quantity("N/m", above=0.0)
    c: float = 0.0

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap + p[1] * overlap_rate


@dataclass(frozen=True, kw_only=True)
class Fragile(NormalLaw):
    """A shell that breaks at a depth: no number beyond it."""

    k: float
    depth: float

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap if overlap < p[1] else math.nan


@dataclass(frozen=True, kw_only=True)
class Nothing(NormalLaw):
    """No number anywhere."""

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return math.nan


@dataclass(frozen=True, kw_only=True)
class Sticky(NormalLaw):
    """Pulls only."""

    k: float

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return -p[0] * overlap


@dataclass(frozen=True, kw_only=True)
class Pad(NormalLaw):
    """A force at once, whatever the overlap."""

    f: float

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0]


@dataclass(frozen=True, kw_only=True)
class Bowl(Shape):
    """The inside of a circle."""

    radius: float = quantity("m", above=0.0)

    @staticmethod
    def nearest(p, a, b, out):
        dx, dy = b[0] - a[0], b[1] - a[1]
        wx, wy = b[3] - a[3], b[4] - a[4]
        distance = math.hypot(dx, dy)
        out[0] = p[0] - distance
        out[1] = -dx / distance
        out[2] = -dy / distance
        out[3] = (dx * wy - dy * wx) / (distance * distance)


def test_an_own_normal_law_gives_the_same_bits_as_a_built_in():
    ours = simulate(drop(MySpring(k=1e4, c=20.0)), 1.0)
    theirs = simulate(drop(KelvinVoigt(stiffness=1e4, damping=20.0)), 1.0)
    assert ours.steps.coef.tobytes() == theirs.steps.coef.tobytes()
    assert [str(r) for r in ours.events] == [str(r) for r in theirs.events]


@pytest.mark.slow
def test_an_own_normal_law_runs_at_native_speed():
    """At most 1.2 times as long as a built-in law; a law in Python would take 100."""
    tables = [drop(law) for law in (MySpring(k=1e4), KelvinVoigt(stiffness=1e4))]
    spent = [
        [simulate(model, 60.0).cost["cpu_seconds"] for model in tables]
        for _ in range(9)
    ]
    ratio = median(ours / theirs for ours, theirs in spent)
    # Twice, for a machine that does other things.
    assert ratio <= 2.4


def test_an_own_shape():
    """A ball that slides in a bowl: with little friction it swings like a pendulum."""
    radius, angle = 1.0, 0.2
    ball = PointMass(
        name="ball",
        mass=1.0,
        position=(radius * math.sin(angle), -radius * math.cos(angle)),
    )
    contact = Contact(
        name="c",
        a="ground.bowl",
        b="ball",
        normal=KelvinVoigt(stiffness=1e6, damping=2e3),
        friction=Coulomb(mu=0.02, mu_static=0.03),
    )
    model = Model(
        gravity=(0.0, -G),
        bodies=[Ground(shapes={"bowl": Bowl(radius=radius)}), ball],
        contacts=[contact],
    )
    result = simulate(model, 10.0, rtol=1e-10)
    kinds = [r.kind for r in result.events]
    assert kinds == ["reverse"] * (len(kinds) - 1) + ["stick"]
    samples = result.sample([0.0, *result.events.t])
    swing = np.abs(np.arctan2(samples["ball.x"], -samples["ball.y"]))
    # Each half swing ends 2 mu nearer, or beyond by what is left; a little more is
    # lost where the ball is pressed harder, by v²/(r g) < 0.04.
    np.testing.assert_allclose(
        swing[1:], np.abs(swing[:-1] - 0.04), rtol=0.0, atol=0.04 * 0.04
    )
    # It stays where the slope is less than mu0.
    assert math.tan(swing[-1]) < 0.03
    assert max(audit(result).values()) <= 1e-9


def test_a_law_that_always_pulls_never_holds():
    result = simulate(drop(Sticky(k=1e4)), 0.3)
    kinds = [r.kind for r in result.events]
    assert kinds[0] == "touch_down"
    # Free fall all the way.
    assert result.state().positions["ball"][1] == pytest.approx(
        0.1 - 0.5 * G * 0.09, abs=1e-12
    )
    # The step in which it is found out lasts 1e-15 s.
    assert max(audit(result).values()) <= 1e-10


def test_a_law_that_jumps_at_touch_down_bounces():
    """F = 3 m g: down for a time t, up for t/2 with twice the acceleration."""
    result = simulate(drop(Pad(f=3 * G)), 0.6, rtol=1e-10)
    fall = math.sqrt(0.2 / G)
    # It is stopped at 2 g within t/2, thrown back in as long, and rises for t again.
    expected = [fall, 2 * fall, 4 * fall]
    assert [r.kind for r in result.events[:3]] == [
        "touch_down",
        "separate",
        "touch_down",
    ]
    assert result.events.t[:3] == pytest.approx(expected, abs=1e-9)


# ---- NaN, and who gave it --------------------------------------------------------


def test_a_law_that_breaks_is_named_and_the_run_is_kept():
    with pytest.raises(SolveError, match=r"contact 'sole' is not finite") as error:
        simulate(drop(Fragile(k=500.0, depth=0.02)), 1.0)
    assert not isinstance(error.value, SwitchError)
    result = error.value.result
    assert result is not None
    assert result.status == "failed"
    # It was computed until just before the shell broke.
    assert [r.kind for r in result.events] == ["touch_down"]
    depth = -result.state().positions["ball"][1]
    assert 0.0 < depth <= 0.02
    assert result.t_end > math.sqrt(0.2 / G)
    assert str(error.value).startswith("t = 0.1")
    assert len(result.sample(np.linspace(0.0, result.t_end, 5))["ball.y"]) == 5


@dataclass(frozen=True, kw_only=True)
class OneWay(NormalLaw):
    """No number where the bodies part."""

    k: float

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap if overlap_rate > -1e-3 else math.nan


def dropped_box(law):
    """A box that falls on a corner: outlines ask their law at many depths and rates."""
    sides = ((-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05))
    box = RigidBody(
        name="box",
        mass=1.0,
        inertia=0.01,
        position=(0.0, 0.3),
        angle=0.1,
        velocity=(0.5, 0.0),
        shapes={"rim": Polygon(vertices=sides)},
    )
    contact = Contact(
        name="sole", a="ground", b="box.rim", normal=law, friction=Coulomb(mu=0.3)
    )
    return Model(gravity=(0.0, -G), bodies=[box], contacts=[contact])


@pytest.mark.parametrize("method", ["auto", "dop853", "radau"])
@pytest.mark.parametrize("law", [Fragile(k=1e5, depth=1e-3), OneWay(k=1e5)])
def test_a_law_between_outlines_that_breaks_is_named_with_what_it_was_given(
    law, method
):
    """It was taken for no force, and bodies fell through each other, or without end."""
    with pytest.raises(SolveError, match=r"contact 'sole' is not finite") as error:
        simulate(dropped_box(law), 1.0, method=method)
    text = str(error.value)
    assert f"{type(law).__name__} at overlap = " in text
    assert "approach_rate = 2.171" in text
    assert re.match(r"t = 0\.22\d+ s: ", text)


def test_a_law_between_outlines_that_breaks_ends_a_run_of_fixed_steps():
    with pytest.raises(SolveError, match=r"contact 'sole' is not finite"):
        simulate(
            dropped_box(Fragile(k=1e5, depth=1e-3)), 1.0, scheme="paper", step=1e-3
        )


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_guard_without_a_number_is_named(method):
    """It could not fire any more, unseen."""
    body = RigidBody(name="m", mass=1.0, inertia=1.0)
    event = Event(name="low", b="m", guard="log(1 + y) + 9")
    model = Model(gravity=(0.0, -G), bodies=[body], events=[event])
    with pytest.raises(SolveError, match=r"event 'low' is not finite.*guard") as error:
        simulate(model, 1.0, method=method)
    t = float(str(error.value).split()[2])
    assert t == pytest.approx(math.sqrt(2.0 / G), rel=1e-8)


def test_a_law_without_any_number_is_refused_at_once():
    with pytest.raises(ModelError, match=r"contact 'sole'.*law is not finite"):
        simulate(drop(Nothing()), 1.0)


def test_discs_with_a_common_centre_are_refused():
    """Their normal has no direction."""
    body = RigidBody(
        name="a", mass=1.0, inertia=1.0, shapes={"rim": Circle(radius=0.1)}
    )
    other = RigidBody(
        name="b", mass=1.0, inertia=1.0, shapes={"rim": Circle(radius=0.2)}
    )
    contact = Contact(name="c", a="a.rim", b="b.rim", normal=Hertz(stiffness=1e5))
    with pytest.raises(ModelError, match="contact 'c'"):
        simulate(Model(bodies=[body, other], contacts=[contact]), 1.0)


def test_a_disc_that_is_driven_through_another_stops_the_run():
    """At half the sum of the radii; at their centres there would be no normal."""
    ball = RigidBody(
        name="ball",
        mass=1.0,
        inertia=1.0,
        position=(0.0, 0.3),
        shapes={"rim": Circle(radius=0.1)},
    )
    push = PointForce(name="push", b="ball", fy=-1e4)
    contact = Contact(
        name="c", a="ground.stone", b="ball.rim", normal=KelvinVoigt(stiffness=1e4)
    )
    ground = Ground(shapes={"stone": Circle(radius=0.2)})
    model = Model(bodies=[ground, ball], forces=[push], contacts=[contact])
    with pytest.raises(SolveError, match=r"'c': it overlaps .* 0.15 m") as found:
        simulate(model, 1.0)
    assert found.value.result is not None
    # At the end of the step that comes there.
    gap = found.value.result["c.gap"]
    assert gap[-1] < -0.15 <= gap[-2]


# ---- starts ----------------------------------------------------------------------


@pytest.mark.parametrize("y", [-0.5, -3.0])
def test_a_deep_overlap_at_the_start_is_refused(y):
    with pytest.raises(ModelError, match=rf"contact 'sole': overlaps by {-y:g} m"):
        simulate(drop(Hertz(stiffness=1e5), y=y), 1.0)


def test_a_body_on_the_wrong_side_is_refused_with_the_remedy():
    def run(surface):
        ball = PointMass(name="ball", mass=1.0, position=(0.0, -1.0))
        roof = Contact(
            name="roof", a="ground.roof", b="ball", normal=Hertz(stiffness=1e5)
        )
        ground = Ground(shapes={"roof": surface})
        model = Model(gravity=(0, G), bodies=[ground, ball], contacts=[roof])
        return simulate(model, 1.0)

    with pytest.raises(ModelError, match="turn the line by pi"):
        run(Line())
    assert np.max(run(Line(angle=math.pi))["ball.y"]) < 0.1


# ---- laws that jump --------------------------------------------------------------


def test_what_jumps_is_to_be_smoothed():
    """The advice of the implicit method, tried."""

    def run(force):
        ball = PointMass(name="ball", mass=1.0, velocity=(1.0, 0.0))
        drag = ExpressionForce(name="drag", b="ball", fx=force)
        return simulate(Model(bodies=[ball], forces=[drag]), 3.0, method="radau")

    with pytest.raises(SolveError, match=r"smooth it, as tanh\(v/0.001\)"):
        run("-sign(vx)")
    assert run("-tanh(vx/0.001)")["ball.x"][-1] == pytest.approx(0.5, rel=1e-2)


def test_a_small_overlap_at_the_start_is_not():
    result = simulate(drop(KelvinVoigt(stiffness=1e4), y=-1e-3), 0.1)
    assert result.sample([0.0])["sole.normal_force"] == pytest.approx([10.0])


def test_a_start_exactly_in_touch_is_decided_by_the_acceleration():
    """Gap and rate are zero: gravity presses, a force upwards opens."""
    up = PointForce(name="lift", b="ball", fy=2 * G)
    rests = simulate(drop(KelvinVoigt(stiffness=1e4), y=0.0), 0.1)
    flies = simulate(drop(KelvinVoigt(stiffness=1e4), y=0.0, forces=[up]), 0.1)
    assert rests.sample([0.0])["sole.mode"] == [1.0]
    assert flies.sample([0.0])["sole.mode"] == [2.0]
    assert flies.state().positions["ball"][1] == pytest.approx(0.5 * G * 0.01)
    assert [r.kind for r in flies.events] == []


# ---- platforms that jump ---------------------------------------------------------


def platform(law) -> Model:
    ball = PointMass(name="ball", mass=1.0, position=(0.0, 0.5))
    contact = Contact(name="c", a="plate", b="ball", normal=KelvinVoigt(stiffness=1e4))
    return Model(
        gravity=(0.0, -G),
        bodies=[MovingSupport(name="plate", y=law), ball],
        contacts=[contact],
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("where(t < 0.1, 0, 0.05)", "jumps by 0.05"),
        ("abs(t - 0.1)", "rate that jumps by 1 "),
        ("0.01*floor(3*t)", "jumps by 0.01"),
    ],
)
def test_a_platform_that_jumps_is_refused_by_name(text, what):
    with pytest.raises(ModelError, match=f"body 'plate'.*{what}"):
        simulate(platform(Expression(text=text)), 1.0)


@pytest.mark.parametrize(
    "law",
    [
        Harmonic(amplitude=0.1, angular_frequency=300.0),
        Ramp(rate=-1.0, duration=1e-3, begin=0.1),
        Expression(text="0.05*smoothstep(1000*(t - 0.1))"),
    ],
    ids=["fast", "ramp", "smooth step"],
)
def test_a_platform_that_is_only_fast_is_not(law):
    result = simulate(platform(law), 0.6)
    assert "touch_down" in {r.kind for r in result.events}


@pytest.mark.parametrize("until", [1e-12, 1e-10, 1e-8, 1e-3])
@pytest.mark.parametrize(
    "text", ["0.05*(1 + tanh((t - 0.6)/0.08))", "0.05*(1 + tanh((t - 0.5)/1e-4))"]
)
def test_round_off_of_a_smooth_law_is_no_jump(text, until):
    """In a short run such a law moves by less than the round-off of its terms."""
    assert simulate(platform(Expression(text=text)), until).t_end == until


# ---- the papers' scheme: what it cannot do ---------------------------------------

SPRING = KelvinVoigt(stiffness=1e4, damping=5.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "dop853"}, "scheme 'paper' is the method 'rk4'"),
        ({"method": "radau"}, "scheme 'paper' is the method 'rk4'"),
        ({"method": "euler", "step": 1e-4}, "scheme 'paper' is the method 'rk4'"),
        ({"stabilisation": "projection"}, "scheme 'paper' does not project"),
        ({"step": -1e-4}, "step"),
        ({"step": 0.0}, "step"),
    ],
    ids=lambda x: str(x) if isinstance(x, dict) else "",
)
def test_options_that_do_not_go_with_the_papers_scheme(options, message):
    with pytest.raises(ModelError, match=message):
        simulate(drop(SPRING), 0.1, scheme="paper", **options)


def test_the_papers_scheme_knows_no_events_of_a_user():
    model = drop(SPRING, events=[Event(name="half", b="ball", guard="y - 0.05")])
    with pytest.raises(ModelError, match="event 'half': scheme 'paper' locates no"):
        simulate(model, 0.1, scheme="paper", step=1e-4)


def test_an_unknown_scheme_is_refused_with_the_nearest():
    with pytest.raises(ModelError, match="did you mean 'paper'"):
        simulate(drop(SPRING), 0.1, scheme="papre")


@pytest.mark.parametrize("law", [SPRING, Flores(stiffness=1e6, restitution=0.7)])
def test_the_papers_scheme_is_good_to_a_step(law):
    """Nothing is located: a bounce differs by the steps in which it begins and ends."""
    exact = simulate(drop(law), 0.3, rtol=1e-10)
    for step in (1e-4, 1e-5):
        found = simulate(drop(law), 0.3, scheme="paper", step=step)
        assert [r.kind for r in found.events] == [r.kind for r in exact.events]
        assert np.max(np.abs(found.events.t - exact.events.t)) <= 2 * step
        ours, theirs = (r.state().positions["ball"][1] for r in (found, exact))
        # A step at the speed of the impact, 1.4 m/s.
        assert abs(ours - theirs) <= 1.4 * step


def test_the_papers_scheme_sticks_too():
    """Stops on the incline a step late at most, and stays."""
    model = gallery.build("incline")
    # Within the reach of the method at this step, 2.8e4 1/s.
    hold = Baumgarte(alpha=1e3, beta=1e5)
    result = simulate(model, 1.0, scheme="paper", step=1e-4, stabilisation=hold)
    stop = [r for r in result.events if r.kind == "stick"]
    assert [r.t for r in stop] == pytest.approx([0.490137375], abs=2e-4)
    late = result.sample([0.6, 1.0])["block.x"]
    # Velocities of a step's braking, 5e-4 m/s, are not projected away.
    assert abs(late[1] - late[0]) <= 4e-4
