"""Contacts in motion against independent solutions: laws, states, shapes, supports.

FIGURE is what trajectories and the times of events are compared to: runs at RTOL, and
references by SciPy at 1e-13, are each well within it.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Coulomb,
    DampedHertz,
    Expression,
    Flores,
    Ground,
    Harmonic,
    Hertz,
    HuntCrossley,
    KelvinVoigt,
    LankaraniNikravesh,
    Line,
    Model,
    MovingSupport,
    NormalLaw,
    PointMass,
    Polygon,
    Revolute,
    RigidBody,
    Segment,
    Shape,
    simulate,
)
from oracles import driven_plate, rocker
from oracles.contact_audit import audit

G = 9.81
RTOL = 1e-12
FIGURE = 1e-9  # m, s
# Of the energy exchanged: the ledger is integrated with the motion.
LEDGER = 1e-10
# Sums of products of a few numbers of order one.
ROUND = 1e-13
# What a run may leave of the laws, beside the largest force: the round-off of an event
# located to 1e-15 s, in laws of up to 1e7 N/m.
OBEYED = 1e-8

LAWS = [
    KelvinVoigt(stiffness=2e4),
    KelvinVoigt(stiffness=2e4, damping=60.0),
    Hertz(stiffness=1e6),
    DampedHertz(stiffness=1e6, damping=5e4),
    HuntCrossley(stiffness=1e6, damping=0.3),
    LankaraniNikravesh(stiffness=1e6, restitution=0.8),
    Flores(stiffness=1e6, restitution=0.5),
]


def short(value) -> str:
    return value if isinstance(value, str) else type(value).__name__


def each(laws):
    return pytest.mark.parametrize("law", laws, ids=short)


def plain(law: NormalLaw) -> driven_plate.Law:
    """The law as a Python function; its equations were checked by hand elsewhere."""
    p = law.parameters()
    return lambda d, rate, latch: law.force(p, d, rate, latch)  # pyright: ignore


def above_plate(law, motion, y: float, v: float = 0.0, **more) -> Model:
    ball = PointMass(name="ball", mass=1.0, position=(0.0, y), velocity=(0.0, v))
    contact = Contact(name="c", a="plate", b="ball", normal=law)
    return Model(
        gravity=(0.0, -G),
        bodies=[MovingSupport(name="plate", y=motion), ball],
        contacts=[contact],
        **more,
    )


def history(result):
    return [r.kind for r in result.events]


def assert_sound(result, ledger: float = LEDGER, obeyed: float = OBEYED):
    balance = result.energy_balance
    assert balance.residual <= ledger * balance.exchanged
    found = audit(result)
    assert max(found.values()) <= obeyed, found


def assert_same_as(oracle: driven_plate.Run, result, t):
    assert history(result) == [change.kind for change in oracle.changes]
    times = [change.t for change in oracle.changes]
    np.testing.assert_allclose(result.events.t, times, rtol=0.0, atol=FIGURE)
    samples = result.sample(t)
    np.testing.assert_allclose(samples["ball.y"], oracle.y, rtol=0.0, atol=FIGURE)
    # Contacts turn velocities by up to 1e3 rad/s.
    np.testing.assert_allclose(
        samples["ball.vy"], oracle.v, rtol=0.0, atol=1e3 * FIGURE
    )


# ---- a ball dropped on the ground ------------------------------------------------


@each(LAWS)
def test_dropped_ball(law, validate):
    t = np.linspace(0.0, 0.9, 91)
    result = simulate(above_plate(law, 0.0, y=0.1), t[-1], rtol=RTOL)
    plate = driven_plate.Plate(plain(law), lambda t: (0.0, 0.0))
    assert history(result).count("touch_down") >= 3
    exact = driven_plate.run(plate, 0.1, 0.0, t)
    assert_same_as(exact, result, t)
    what = "dropped ball, six normal laws: height"
    validate(what, result.sample(t)["ball.y"], exact.y, FIGURE, "m", "slow reference")
    assert_sound(result)


def test_a_spring_without_damper_throws_back_in_closed_form(validate):
    """Half a swing about m g/k, and a parabola; all of the height comes back."""
    k, height = 2e4, 0.1
    speed, w = math.sqrt(2 * G * height), math.sqrt(k)
    sink = G / k
    fall = speed / G
    # d = sink (1 - cos ws) + (speed/w) sin ws is zero again at this s.
    contact = (2 * math.pi - 2 * math.atan2(speed / w, sink)) / w
    result = simulate(
        above_plate(KelvinVoigt(stiffness=k), 0.0, y=height), 1.0, rtol=RTOL
    )
    expected = [fall]
    for _ in range(len(result.events) // 2):
        expected += [expected[-1] + contact, expected[-1] + contact + 2 * fall]
    times = result.events.t
    exact = expected[: len(times)]
    validate("ball on a spring: instants", times, exact, FIGURE, "s", "closed form")
    deepest = sink + math.hypot(sink, speed / w)
    t = expected[0] + np.linspace(0.0, contact, 2001)
    # The extremum of a parabola, missed by half of a two-thousandth of the contact.
    assert -result.sample(t)["ball.y"].min() == pytest.approx(deepest, rel=1e-6)


def test_the_force_of_a_damper_jumps_at_touch_down():
    law = KelvinVoigt(stiffness=2e4, damping=60.0)
    first = simulate(above_plate(law, 0.0, y=0.1), 0.2, rtol=RTOL).events[0]
    assert first.kind == "touch_down"
    assert first.normal_force == pytest.approx((0.0, 60.0 * math.sqrt(0.2 * G)))
    assert (first.before, first.after) == ("open", "pressing")


def test_damping_ends_the_contact_before_the_overlap():
    """F = 0 where k d + c d' = 0, then free flight out of the overlap."""
    law = KelvinVoigt(stiffness=2e4, damping=60.0)
    result = simulate(above_plate(law, 0.0, y=0.1), 0.4, rtol=RTOL)
    assert history(result)[:3] == ["touch_down", "release", "separate"]
    release, separate = result.events[1:3]
    assert (release.after, separate.before) == ("released", "released")
    samples = result.sample([release.t])
    d, rate = -samples["c.gap"][0], -samples["c.gap_rate"][0]
    assert d > 1e-4
    # Newtons, of a law of 2e4 N/m at a time that is good to 1e-15 s and 1 m/s.
    assert 2e4 * d + 60.0 * rate == pytest.approx(0.0, abs=1e-8)
    flight = separate.t - release.t
    # -d + v s - g s²/2 = 0
    assert d == pytest.approx(-rate * flight - 0.5 * G * flight**2, abs=ROUND)


# ---- the third state: a plate that moves -----------------------------------------

# Damping times speed exceeds stiffness times overlap while the plate falls away, and
# the plate is back before the ball has left it.
PLATES = [
    pytest.param(
        KelvinVoigt(stiffness=37200.0, damping=547.9), (4.6e-3, 55.0), (2.62e-4, 202.0),
        id="KelvinVoigt",
    ),
    pytest.param(
        DampedHertz(stiffness=1.4e6, damping=4.47e6), (2.26e-3, 47.4), (2.36e-4, 217.0),
        id="DampedHertz",
    ),
    pytest.param(
        HuntCrossley(stiffness=5.05e5, damping=18.4), (1.51e-3, 71.6), (1.15e-4, 321.8),
        id="HuntCrossley",
    ),
    pytest.param(
        Flores(stiffness=153167.0, restitution=0.24), (2.03e-3, 80.5), (9.2e-5, 355.0),
        id="Flores",
    ),
]  # fmt: skip


def wave(*parts):
    text = " + ".join(f"{a!r}*sin({w!r}*t)" for a, w in parts)

    def motion(t):
        return (
            sum(a * math.sin(w * t) for a, w in parts),
            sum(a * w * math.cos(w * t) for a, w in parts),
        )

    return Expression(text=text), motion


@pytest.mark.slow  # the reference takes a few seconds
@pytest.mark.parametrize(("law", "slow", "fast"), PLATES)
def test_released_and_engaged_again_on_a_driven_plate(law, slow, fast):
    expression, motion = wave(slow, fast)
    t = np.linspace(0.0, 0.6, 121)
    # Falls on the plate, so that laws that remember the approach have one.
    y, v = 2e-3, 0.0
    result = simulate(above_plate(law, expression, y, v), t[-1], rtol=RTOL)
    plate = driven_plate.Plate(plain(law), motion)
    assert_same_as(driven_plate.run(plate, y, v, t), result, t)
    assert result.events.counts()["re_engage"] >= 2
    assert_sound(result)


def test_released_at_the_start():
    """A plate that falls away at 1 m/s under a ball pressed in by 1 mm."""
    law = KelvinVoigt(stiffness=2e4, damping=60.0)
    expression, motion = wave((0.02, -50.0))
    t = np.linspace(0.0, 0.2, 41)
    result = simulate(above_plate(law, expression, -1e-3, 0.0), t[-1], rtol=RTOL)
    assert result.sample([0.0])["c.mode"] == [3.0]
    plate = driven_plate.Plate(plain(law), motion)
    assert_same_as(driven_plate.run(plate, -1e-3, 0.0, t), result, t)


@pytest.mark.parametrize("until", [0.3333, 0.4])
def test_no_pair_of_events_is_lost_in_flight(until):
    """While released only the plate's motion tells of a short grip, 1.3 ms long."""
    law = DampedHertz(stiffness=1501439.8556592732, damping=5053280.175220265)
    expression, _ = wave(
        (0.0027327881080406995, 96.09595216577878),
        (4.6761989208679415e-05, 484.7348021547454),
    )
    result = simulate(above_plate(law, expression, 0.01), until, rtol=RTOL)
    # Times from the slow reference, to 1e-8 s.
    pair = [r for r in result.events if 0.265 < r.t < 0.275]
    assert [r.kind for r in pair] == ["re_engage", "release"]
    assert [r.t for r in pair] == pytest.approx([0.269355058, 0.270619744], abs=2e-9)


# ---- runs cut in mid-contact -----------------------------------------------------


@each(LAWS)
def test_a_run_cut_in_contact_goes_on_as_if_it_had_not_been(law):
    model = above_plate(law, Harmonic(amplitude=2e-3, angular_frequency=50.0), y=0.02)
    whole = simulate(model, 0.4, rtol=RTOL)
    touch = [r.t for r in whole.events if r.kind == "touch_down"]
    for cut in (touch[0] + 1e-3, touch[1] + 4e-4):
        assert whole.sample([cut])["c.gap"][0] < 0.0
        state = whole.state(cut)
        assert set(state.mode) == {"c"}
        rest = simulate(model, 0.4, rtol=RTOL, start=state)
        kinds = [r.kind for r in whole.events if r.t < cut] + history(rest)
        assert kinds == history(whole)
        ours, theirs = whole.state(), rest.state()
        assert theirs.positions["ball"] == pytest.approx(
            ours.positions["ball"], abs=FIGURE
        )


@each([LAWS[-2], LAWS[-1]])
def test_the_approach_rate_is_remembered(law):
    model = above_plate(law, 0.0, y=0.1)
    result = simulate(model, 0.25, rtol=RTOL)
    touch, leave = (r.t for r in result.events[:2])
    middle = 0.5 * (touch + leave)
    speed = math.sqrt(0.2 * G)
    state = result.state(middle)
    assert state.mode["c"]["approach"] == pytest.approx(speed)
    # Without it another contact would follow.
    mode = {"c": state.mode["c"] | {"approach": 9.0}}
    other = simulate(model, 0.25, rtol=RTOL, start=replace(state, mode=mode))
    gap = other.state().positions["ball"][1] - result.state().positions["ball"][1]
    assert abs(gap) > 1e-5


@each([LAWS[-2], LAWS[-1]])
def test_a_contact_closed_at_the_start_has_no_approach_rate_when_cut_either(law):
    """It is not damped, as its docstring says, in neither part of the run."""
    # The plate begins to rise at rest below the ball, both accelerating.
    motion = Expression(text="2e-3*(1 - cos(60*t))")
    model = above_plate(law, motion, y=0.0)
    whole = simulate(model, 0.2, rtol=RTOL)
    cut = 0.6 * whole.events[0].t
    assert whole.state(cut).mode["c"]["approach"] == 0.0
    rest = simulate(model, 0.2, rtol=RTOL, start=whole.state(cut))
    np.testing.assert_allclose(rest.events.t, whole.events.t, rtol=0.0, atol=FIGURE)


# ---- discs: sliding, rolling, colliding ------------------------------------------

RADIUS, STIFF = 0.1, 1e5  # m, N/m
DRY = Coulomb(mu=0.2, mu_static=0.3)


def disc(name="disc", at=(0.0, 0.0), v=(0.0, 0.0), spin=0.0, mass=1.0, radius=RADIUS):
    return RigidBody(
        name=name,
        mass=mass,
        inertia=0.5 * mass * radius**2,
        position=at,
        velocity=v,
        angular_velocity=spin,
        shapes={"rim": Circle(radius=radius)},
    )


def on_line(v=0.0, spin=0.0, slope=0.0, friction=DRY) -> Model:
    """A disc on a line, its normal force in equilibrium."""
    depth = G * math.cos(slope) / STIFF
    normal = (-math.sin(slope), math.cos(slope))
    height = RADIUS - depth
    body = disc(
        at=(normal[0] * height, normal[1] * height),
        v=(v * math.cos(slope), v * math.sin(slope)),
        spin=spin,
    )
    return Model(
        gravity=(0.0, -G),
        bodies=[Ground(shapes={"slope": Line(angle=slope)}), body],
        contacts=[
            Contact(
                name="c",
                a="ground.slope",
                b="disc.rim",
                normal=KelvinVoigt(stiffness=STIFF),
                friction=friction,
            )
        ],
    )


@pytest.mark.parametrize(("v", "spin"), [(3.0, 0.0), (1.0, 40.0), (-2.0, 0.0)])
def test_a_sliding_disc_ends_up_rolling(v, spin, validate):
    """The angular momentum about the line stays: m r v - I w, with I = m r²/2."""
    result = simulate(on_line(v, spin), 2.0, rtol=1e-11)
    assert history(result) == ["stick"]
    slip = v + spin * RADIUS
    # v' = -mu g, (w r)' = -2 mu g sgn: the slip falls by 3 mu g.
    when, exact = result.events[0].t, abs(slip) / (0.6 * G)
    validate("sliding disc: begins to roll", when, exact, FIGURE, "s", "closed form")
    end = result.state().velocities["disc"]
    rolling = (v - 0.5 * spin * RADIUS) / 1.5
    assert (end[0], end[2]) == pytest.approx((rolling, -rolling / RADIUS), abs=FIGURE)
    t = np.linspace(result.events[0].t, 2.0, 101)
    assert np.max(np.abs(result.sample(t)["c.slip_velocity"])) <= 1e-14
    assert_sound(result)


@pytest.mark.parametrize("slope", [0.35, -0.5, 0.9, -1.1])
def test_a_disc_on_an_incline_rolls_or_slides(slope, validate):
    """It rolls with 2/3 of the pull if a third of it is at most mu0 times the load."""
    result = simulate(on_line(slope=slope), 1.0, rtol=1e-11)
    pull, load = G * abs(math.sin(slope)), G * math.cos(slope)
    rolls = pull / 3.0 <= 0.3 * load
    assert rolls == (abs(slope) < 0.75)
    speed = 2.0 / 3.0 * pull if rolls else pull - 0.2 * load
    x, y, spin = result.state().velocities["disc"]
    mine = math.hypot(x, y)
    validate("disc on an incline: speed", mine, speed, FIGURE, "m/s", "closed form")
    assert x * slope < 0.0
    turn = speed / RADIUS if rolls else 2.0 * 0.2 * load / RADIUS
    assert spin == pytest.approx(math.copysign(turn, slope), abs=10 * FIGURE)
    assert history(result) == []
    assert_sound(result)


def test_a_wheel_drives_another_by_friction():
    """Both on axles: constant torque until the rims agree, then they roll."""
    press = 0.01  # m, overlap
    big, small, speed = 0.3, 0.1, 5.0  # m, m, rad/s
    roller = disc(radius=small, at=(big + small - press, 0.0))
    model = Model(
        bodies=[
            MovingSupport(
                name="wheel",
                theta=ConstantRate(rate=speed),
                shapes={"rim": Circle(radius=big)},
            ),
            roller,
            Ground(points={"axle": roller.position}),
        ],
        joints=[Revolute(name="axle", a="ground.axle", b="disc")],
        contacts=[
            Contact(
                name="c",
                a="wheel.rim",
                b="disc.rim",
                normal=KelvinVoigt(stiffness=1e3),
                friction=DRY,
            )
        ],
    )
    result = simulate(model, 2.0, rtol=1e-11)
    # Seen at the rim of the roller, the wheel's is nearer by the overlap.
    end = speed * (big - press) / small
    torque = 0.2 * 1e3 * press * small
    assert history(result) == ["stick"]
    time = roller.inertia * end / torque
    assert result.events[0].t == pytest.approx(time, abs=FIGURE)
    assert result.state().velocities["disc"][2] == pytest.approx(-end, abs=10 * FIGURE)
    assert_sound(result)


# ---- bodies in free flight: momentum, angular momentum, energy -------------------


def total_momenta(result, model, t):
    """Return px, py and the angular momentum about the origin, each over time."""
    samples = result.sample(t)
    totals = np.zeros((3, len(t)))
    for body in model.bodies:
        at = body.name
        x, y, vx, vy = (samples[f"{at}.{c}"] for c in ("x", "y", "vx", "vy"))
        totals += body.mass * np.stack([vx, vy, x * vy - y * vx])
        if isinstance(body, RigidBody):
            totals[2] += body.inertia * samples[f"{at}.omega"]
    return totals


SQUARE = ((-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1))
TRIANGLE = ((-0.2, -0.1), (0.2, -0.1), (0.05, 0.25))


def shaped(name, shape: Shape, at, v=(0.0, 0.0), spin=0.0, angle=0.0):
    return RigidBody(
        name=name,
        mass=1.3,
        inertia=0.02,
        position=at,
        velocity=v,
        angular_velocity=spin,
        angle=angle,
        points={"tip": (0.1, 0.05)},
        shapes={"s": shape},
    )


PAIRS = {
    "circle on circle": (
        shaped("a", Circle(radius=0.1), (0.0, 0.0), (2.0, 0.0), 5.0),
        shaped("b", Circle(center=(0.03, 0.0), radius=0.15), (0.6, 0.08)),
    ),
    "circle on polygon": (
        shaped("a", Polygon(vertices=SQUARE), (0.0, 0.0), (1.0, 0.2), 2.0),
        shaped("b", Circle(radius=0.1), (0.6, 0.12), spin=-3.0),
    ),
    "circle on segment": (
        shaped("a", Segment(start=(0.2, 0.2), end=(0.2, -0.2)), (0, 0), (1.0, 0.2), 1),
        shaped("b", Circle(radius=0.1), (0.6, 0.12), spin=-3.0),
    ),
    "polygon on polygon": (
        shaped("a", Polygon(vertices=SQUARE), (0.0, 0.0), (1.0, 0.2), 2.0),
        shaped("b", Polygon(vertices=TRIANGLE), (0.6, 0.1), spin=-3.0, angle=0.3),
    ),
    "polygon on circle": (
        shaped("a", Circle(radius=0.1), (0.0, 0.0), (2.0, 0.1), 5.0),
        shaped("b", Polygon(vertices=TRIANGLE), (0.5, 0.05), angle=1.0),
    ),
    "point on circle": (
        shaped("a", Circle(radius=0.1), (0.0, 0.0), (2.0, 0.0), 5.0),
        PointMass(name="b", mass=0.5, position=(0.5, 0.05)),
    ),
    "point on polygon": (
        shaped("a", Polygon(vertices=SQUARE), (0.0, 0.0), (2.0, 0.0), 1.0),
        PointMass(name="b", mass=0.5, position=(0.5, 0.05)),
    ),
}
FLIGHT_LAWS = [
    KelvinVoigt(stiffness=1e5, damping=10.0),
    Hertz(stiffness=1e7),
    DampedHertz(stiffness=1e7, damping=1e6),
    Flores(stiffness=1e7, restitution=0.7),
]


# A law of the normal does not know which shapes meet: each pair with one law without
# friction and one with it, each law with one pair.
COLLISIONS = [
    *((pair, FLIGHT_LAWS[1], None) for pair in PAIRS),
    *((pair, FLIGHT_LAWS[0], DRY) for pair in PAIRS),
    *(("polygon on polygon", law, DRY) for law in FLIGHT_LAWS[1:]),
    *(("circle on circle", law, None) for law in (FLIGHT_LAWS[0], *FLIGHT_LAWS[2:])),
]


@pytest.mark.parametrize(("pair", "law", "friction"), COLLISIONS, ids=short)
def test_a_collision_in_flight(pair, law, friction):
    a, b = PAIRS[pair]
    contact = Contact(
        name="c",
        a="a.s",
        b="b.s" if isinstance(b, RigidBody) else "b",
        normal=law,
        friction=friction,
    )
    model = Model(bodies=[a, b], contacts=[contact])
    result = simulate(model, 0.5, rtol=1e-11)
    counts = result.events.counts()
    # Soft bodies that turn may touch again.
    assert 1 <= counts["touch_down"] == counts["separate"] <= 3
    t = np.linspace(0.0, 0.5, 51)
    momenta = total_momenta(result, model, t)
    # Forces are equal and opposite at one place: only round-off adds up.
    np.testing.assert_allclose(
        momenta, np.broadcast_to(momenta[:, :1], momenta.shape), rtol=0.0, atol=1e-11
    )
    assert_sound(result)
    # The bodies part, and what is lost is lost in the contact.
    balance = result.energy_balance
    lost = balance.kinetic[0] - balance.kinetic[-1]
    is_elastic = isinstance(law, Hertz) and friction is None
    # d^1.5 is not smooth at either end: a thousand times rtol.
    assert lost == pytest.approx(0.0, abs=1e-8) if is_elastic else lost > 1e-4
    end = result.sample([0.5])
    assert all(end[f"{name}.gap"][0] > 0.0 for name in result.system.contacts)


@each(FLIGHT_LAWS)
def test_discs_that_collide_head_on_are_a_ball_of_the_reduced_mass(law):
    """Against the plate without gravity."""
    first, second, speed = 1.0, 3.0, 1.7
    model = Model(
        bodies=[
            disc("a", mass=first, v=(speed, 0.0)),
            disc("b", mass=second, at=(2 * RADIUS + 0.05, 0.0)),
        ],
        contacts=[Contact(name="c", a="a.rim", b="b.rim", normal=law)],
    )
    result = simulate(model, 0.1, rtol=RTOL)
    plate = driven_plate.Plate(
        plain(law), lambda t: (0.0, 0.0), first * second / (first + second), 0.0
    )
    t = np.linspace(0.0, 0.1, 41)
    exact = driven_plate.run(plate, 0.05, -speed, t)
    assert history(result) == [change.kind for change in exact.changes]
    np.testing.assert_allclose(
        result.events.t, [change.t for change in exact.changes], rtol=0.0, atol=FIGURE
    )
    np.testing.assert_allclose(
        result.sample(t)["c.gap"], exact.y, rtol=0.0, atol=FIGURE
    )
    centre = first * speed / (first + second)
    apart = float(exact.v[-1])
    found = result.state().velocities
    assert found["a"][0] == pytest.approx(
        centre - apart * second / (first + second), abs=1e3 * FIGURE
    )
    assert found["b"][0] == pytest.approx(
        centre + apart * first / (first + second), abs=1e3 * FIGURE
    )


def test_equal_discs_exchange_their_speeds():
    """A row of five: the first stops, the last leaves, for springs without loss.

    Pairs are hit one after the other, for gaps of 1 cm.
    """
    n = 5
    step = 2 * RADIUS + 0.01
    bodies = [disc(f"d{k}", at=(k * step, 0.0)) for k in range(n)]
    bodies[0] = replace(bodies[0], velocity=(2.0, 0.0))
    law = KelvinVoigt(stiffness=1e6)
    contacts = [
        Contact(name=f"c{k}", a=f"d{k}.rim", b=f"d{k + 1}.rim", normal=law)
        for k in range(n - 1)
    ]
    result = simulate(Model(bodies=bodies, contacts=contacts), 0.2, rtol=RTOL)
    assert history(result) == ["touch_down", "separate"] * (n - 1)
    contact = math.pi * math.sqrt(0.5 / 1e6)
    # A disc that is hit has gone half of its way to the next one in contact.
    flight = 0.01 / 2.0 - 0.5 * contact
    expected = np.cumsum([flight, contact] * (n - 1)) + 0.5 * contact
    np.testing.assert_allclose(result.events.t, expected, rtol=0.0, atol=FIGURE)
    speeds = [result.state().velocities[f"d{k}"][0] for k in range(n)]
    assert speeds == pytest.approx([0.0] * (n - 1) + [2.0], abs=1e-7)


# With and without friction and gravity, two for each law.
@pytest.mark.parametrize("seed", range(8))
def test_discs_between_walls_never_pass_through_each_other(seed):
    """Long flights, short contacts: modes are audited at every step's end.

    Without damping, friction and gravity also the kinetic energy returns.
    """
    law = FLIGHT_LAWS[(seed + 1) % 4]
    rng = np.random.default_rng(seed)
    bodies, contacts = [], []
    for k in range(4):
        radius, x, y = (float(v) for v in rng.uniform([0.08, 0, 0.3], [0.15, 0, 0.9]))
        x = -0.7 + 1.4 * k / 3
        vx, vy = rng.uniform(-2.0, 2.0, 2).tolist()
        spin = float(rng.uniform(-5, 5))
        bodies.append(disc(f"b{k}", (x, y), (vx, vy), spin, 1.0 + k, radius))
        for wall in ("floor", "left", "right"):
            contacts.append((f"ground.{wall}", f"b{k}.rim"))
        contacts += [(f"b{j}.rim", f"b{k}.rim") for j in range(k)]
    walls: dict[str, Shape] = {
        "floor": Line(),
        "left": Line(point=(-1.0, 0.0), angle=-math.pi / 2),
        "right": Line(point=(1.0, 0.0), angle=math.pi / 2),
    }
    friction = DRY if seed % 3 else None
    model = Model(
        gravity=(0.0, -G if seed % 2 else 0.0),
        bodies=[Ground(shapes=walls), *bodies],
        contacts=[
            Contact(name=f"c{i}", a=a, b=b, normal=law, friction=friction)
            for i, (a, b) in enumerate(contacts)
        ],
    )
    result = simulate(model, 2.0, rtol=1e-9)
    assert len(result.events) >= 3
    # Round-off of events in laws of up to 1e7 N/m^1.5 at forces of 1e3 N.
    assert_sound(result, ledger=1e-8, obeyed=1e-9)
    if seed % 6 == 0 and isinstance(law, Hertz):
        kinetic = result.energy_balance.kinetic
        is_free = np.all(
            [result[f"{c}.mode"] == 2.0 for c in result.system.contacts], axis=0
        )
        np.testing.assert_allclose(kinetic[is_free], kinetic[0], rtol=1e-7)


# ---- supports that move and turn -------------------------------------------------


def test_a_mass_on_a_rocking_plate():
    p, until, place = rocker.Rocker(), 6.0, 0.3
    depth = p.mass * p.gravity / p.stiffness
    lift = p.amplitude * p.frequency
    model = Model(
        gravity=(0.0, -p.gravity),
        bodies=[
            MovingSupport(
                name="plate",
                theta=Harmonic(amplitude=p.amplitude, angular_frequency=p.frequency),
            ),
            PointMass(
                name="mass",
                mass=p.mass,
                position=(place, -depth),
                velocity=(0.0, lift * place),
            ),
        ],
        contacts=[
            Contact(
                name="c",
                a="plate",
                b="mass",
                normal=KelvinVoigt(stiffness=p.stiffness, damping=p.damping),
                friction=Coulomb(mu=p.mu, mu_static=p.mu0),
            )
        ],
    )
    result = simulate(model, until, rtol=1e-11)
    # At rest in space, the mass slides on the plate that turns below its depth.
    start = np.array([place, -depth, lift * -depth, 0.0])
    end, changes = rocker.run(p, start, until)
    assert history(result) == [change.kind for change in changes]
    assert {"stick", "break_away", "reverse"} <= set(history(result))
    np.testing.assert_allclose(
        result.events.t, [c.t for c in changes], rtol=0.0, atol=FIGURE
    )
    theta, _, _ = p.turn(until)
    x, y, _ = result.state().positions["mass"]
    along = x * math.cos(theta) + y * math.sin(theta)
    # It goes 3 m along the plate, with a pull that grows with the way.
    assert along == pytest.approx(end[0], abs=1e2 * FIGURE)
    assert_sound(result)


@pytest.mark.parametrize("slope", [0.3, -0.25])
def test_a_plate_that_slides_along_itself_is_a_belt(slope):
    """On an incline: a mass at rest in space is dragged until it rides."""
    speed, mu = 1.5, 0.6
    normal = KelvinVoigt(stiffness=STIFF)
    n, tau = (-math.sin(slope), math.cos(slope)), (math.cos(slope), math.sin(slope))
    depth = G * math.cos(slope) / STIFF
    model = Model(
        gravity=(0.0, -G),
        bodies=[
            MovingSupport(
                name="belt",
                x=ConstantRate(rate=speed * tau[0]),
                y=ConstantRate(rate=speed * tau[1]),
                theta=slope,
            ),
            PointMass(name="mass", mass=2.0, position=(-depth * n[0], -depth * n[1])),
        ],
        contacts=[
            Contact(
                name="c",
                a="belt",
                b="mass",
                normal=replace(normal, stiffness=2.0 * STIFF),
                friction=Coulomb(mu=mu),
            )
        ],
    )
    result = simulate(model, 1.0, rtol=1e-11)
    pull = mu * G * math.cos(slope) - G * math.sin(slope)
    assert history(result) == ["stick"]
    assert result.events[0].t == pytest.approx(speed / pull, abs=FIGURE)
    end = result.state()
    vx, vy, _ = end.velocities["mass"]
    # Along the belt exactly; across it the spring swings by the run's tolerance.
    along = vx * tau[0] + vy * tau[1]
    assert along == pytest.approx(speed, abs=1e-14)
    assert (vx, vy) == pytest.approx((speed * tau[0], speed * tau[1]), abs=1e-11)
    x, y, _ = end.positions["mass"]
    way = speed * 1.0 - 0.5 * speed**2 / pull
    assert x * tau[0] + y * tau[1] == pytest.approx(way, abs=FIGURE)
    # The belt's drive works on the mass and against friction.
    assert_sound(result)
