"""Stick, slip and who decides: redundant feet, ties, long rests, coupled contacts.

Where friction is not unique the motion is, and is known: whatever the feet share among
them, a body slides when all of them together can hold it no longer.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Contact,
    Coulomb,
    Couple,
    DampedHertz,
    Distance,
    Expression,
    Ground,
    Harmonic,
    Hertz,
    KelvinVoigt,
    Line,
    Model,
    MovingSupport,
    PointForce,
    PointMass,
    Polygon,
    RigidBody,
    Shape,
    SpringDamper,
    gallery,
    simulate,
)
from oracles import feet, stick_slip
from oracles.contact_audit import audit

G = 9.81
FIGURE = 1e-9  # m, s
# What a run may leave of the laws beside its largest force, and in m and m/s: events
# are located to 1e-15 s, in laws of up to 1e6 N/m, at forces of 10 N.
OBEYED = 1e-8
# The same where friction is not unique: its shares are found to about a millionth.
SHARED = 1e-5

pytestmark = pytest.mark.filterwarnings("ignore::nonsmooth.NonsmoothWarning")


def assert_sound(result, ledger: float = 1e-8, obeyed: float = OBEYED):
    balance = result.energy_balance
    assert balance.residual <= ledger * balance.exchanged
    found = audit(result)
    assert max(found.values()) <= obeyed, found


def history(result):
    return [r.kind for r in result.events]


# ---- blocks joined by rods: dependent rows, nothing tilts, closed forms ----------

SINK = 1024.0  # N/m for each kg; powers of two keep the blocks at rest to the last bit


def train(
    friction: list[tuple[float, float]], mass: list[float], fx: str, damping=0.0
) -> Model:
    """Blocks in a row, each tied to the next by a rod; the first is pushed."""
    n = len(mass)
    bodies = [
        PointMass(name=f"b{k}", mass=mass[k], position=(float(k), -G / SINK))
        for k in range(n)
    ]
    contacts = [
        Contact(
            name=f"c{k}",
            b=f"b{k}",
            normal=KelvinVoigt(stiffness=SINK * mass[k], damping=damping),
            friction=Coulomb(mu=friction[k][1], mu_static=friction[k][0]),
        )
        for k in range(n)
    ]
    rods = [
        Distance(name=f"rod{k}", a=f"b{k - 1}", b=f"b{k}", length=1.0)
        for k in range(1, n)
    ]
    push = PointForce(name="push", b="b0", fx=Expression(text=fx))
    return Model(
        gravity=(0.0, -G), bodies=bodies, contacts=contacts, joints=rods, forces=[push]
    )


TRAINS = [
    ([(0.4, 0.3), (0.4, 0.3)], [1.0, 1.0]),
    ([(0.2, 0.15), (0.4, 0.3)], [1.0, 1.0]),
    ([(0.4, 0.3), (0.2, 0.1)], [1.0, 1.0]),
    ([(0.4, 0.3), (0.4, 0.3)], [1.0, 5.0]),
    ([(0.4, 0.4), (0.4, 0.4)], [1.0, 5.0]),
    ([(0.2, 0.1), (0.5, 0.3), (0.3, 0.3)], [1.0, 2.0, 0.5]),
    ([(0.1, 0.1), (0.0, 0.0), (0.6, 0.5)], [1.0, 1.0, 1.0]),
    ([(0.3, 0.2)] * 6, [1.0, 4.0, 0.25, 2.0, 8.0, 0.5]),
]


@pytest.mark.parametrize("damping", [0.0, 30.0])
@pytest.mark.parametrize(("friction", "mass"), TRAINS)
def test_a_train_breaks_away_as_one(friction, mass, damping):
    holds = sum(mu0 * m * G for (mu0, _), m in zip(friction, mass, strict=True))
    brakes = sum(mu * m * G for (_, mu), m in zip(friction, mass, strict=True))
    t0 = holds / 10.0
    result = simulate(train(friction, mass, "10*t", damping), t0 + 0.5, rtol=1e-10)
    is_dry = [mu0 > 0.0 for mu0, _ in friction]
    assert history(result) == ["break_away"] * sum(is_dry)
    # Dependent rows are solved to 1e-10 of the forces.
    np.testing.assert_allclose(result.events.t, t0, rtol=0.0, atol=1e-8)
    # m a = 10 t - brakes from there on.
    s = 0.5
    speed = (5.0 * s**2 + (10.0 * t0 - brakes) * s) / sum(mass)
    for k in range(len(mass)):
        assert result.state().velocities[f"b{k}"][0] == pytest.approx(speed, abs=1e-7)
    assert_sound(result, obeyed=SHARED)


@pytest.mark.parametrize(("friction", "mass"), TRAINS)
def test_a_train_shaken_below_its_limit_stays_put(friction, mass):
    holds = sum(mu0 * m * G for (mu0, _), m in zip(friction, mass, strict=True))
    fx = f"{0.99 * holds!r}*sin(5*t)"
    result = simulate(train(friction, mass, fx, damping=10.0), 10.0)
    assert history(result) == []
    for k in range(len(mass)):
        assert abs(result.state().positions[f"b{k}"][0] - k) <= 1e-12
        assert np.max(np.abs(result[f"b{k}.vx"])) <= 1e-14
    # No energy is exchanged that a ledger could be measured by.
    assert max(audit(result).values()) <= SHARED
    assert result.energy_balance.residual <= 1e-9


@pytest.mark.parametrize(("friction", "mass"), TRAINS)
def test_a_train_shaken_beyond_its_limit_moves_as_one_block(friction, mass):
    """Against a single block with the sums of the limits, between the same guards."""
    holds = sum(mu0 * m * G for (mu0, _), m in zip(friction, mass, strict=True))
    brakes = sum(mu * m * G for (_, mu), m in zip(friction, mass, strict=True))
    total = sum(mass)
    fx = f"{1.6 * holds!r}*sin(5*t)"
    one = train([(holds / (total * G), brakes / (total * G))], [total], fx)
    ours = simulate(train(friction, mass, fx), 4.0, rtol=1e-10)
    theirs = simulate(one, 4.0, rtol=1e-10)
    n_dry = sum(mu0 > 0.0 for mu0, _ in friction)
    assert history(ours) == [k for k in history(theirs) for _ in range(n_dry)]
    assert len(theirs.events) >= 6
    t = np.linspace(0.0, 4.0, 41)
    np.testing.assert_allclose(
        ours.sample(t)["b0.x"], theirs.sample(t)["b0.x"], rtol=0.0, atol=1e-7
    )
    assert_sound(ours, obeyed=SHARED)


# ---- a box on its corners --------------------------------------------------------

HALF, HEIGHT, MASS = 0.5, 0.25, 2.0  # m, m, kg
BOX_LAWS = [
    KelvinVoigt(stiffness=1e5),
    KelvinVoigt(stiffness=1e5, damping=200.0),
    Hertz(stiffness=1e6),
    DampedHertz(stiffness=1e6, damping=1e6),
]
LAW_IDS = ["spring", "spring and damper", "Hertz", "damped Hertz"]


def depth(law: Any, load: float) -> float:
    """Overlap under a load at rest."""
    return (load / law.stiffness) ** (1.0 / getattr(law, "exponent", 1.0))


def box(
    law: Any,
    friction: Coulomb,
    offset: float = 0.0,
    gravity: tuple[float, float] = (0.0, -G),
    a: str = "ground",
    velocity: tuple[float, float] = (0.0, 0.0),
    **more: Any,
) -> Model:
    """A box at rest on two corners, its mass centre `offset` right of the middle.

    The normal forces are in equilibrium with what pulls it down, so that it is tilted
    by the difference of the overlaps.
    """
    load = -0.5 * MASS * gravity[1]
    left, right = (
        depth(law, load * (1 + side * offset / HALF)) for side in (-1.0, 1.0)
    )
    angle = math.asin((left - right) / (2 * HALF))
    corners = [(side * HALF - offset, -HEIGHT) for side in (-1.0, 1.0)]
    c, s = math.cos(angle), math.sin(angle)
    middle = sum(s * x + c * y for x, y in corners) / 2
    body = RigidBody(
        name="box",
        mass=MASS,
        inertia=MASS * (HALF**2 + HEIGHT**2) / 3,
        position=(0.0, -0.5 * (left + right) - middle),
        angle=angle,
        velocity=velocity,
        points={
            "left": corners[0],
            "right": corners[1],
            "sole": (-offset, -HEIGHT),
            "middle": (-offset, 0.0),
        },
    )
    contacts = [
        Contact(name=side, a=a, b=f"box.{side}", normal=law, friction=friction)
        for side in ("left", "right")
    ]
    bodies = [body, *more.pop("bodies", ())]
    return Model(gravity=gravity, bodies=bodies, contacts=contacts, **more)


def pushed(point: str) -> PointForce:
    return PointForce(name="push", b=f"box.{point}", fx=Expression(text="10*t"))


@pytest.mark.parametrize("mu", [0.3, 0.5])
@pytest.mark.parametrize("law", BOX_LAWS, ids=LAW_IDS)
def test_a_level_box_pushed_at_its_soles_holds_until_both_corners_are_at_their_limit(
    law, mu
):
    """The split is redundant, and nothing tilts the box before it slides."""
    friction = Coulomb(mu=mu, mu_static=0.5)
    result = simulate(box(law, friction, forces=[pushed("sole")]), 1.5, rtol=1e-10)
    assert history(result) == ["break_away", "break_away"]
    # Dependent rows are solved to 1e-10 of the forces; roundings let an undamped box
    # swing by 1e-9 of its load.
    np.testing.assert_allclose(
        result.events.t, 0.5 * MASS * G / 10.0, rtol=0.0, atol=1e-8
    )
    assert_sound(result)


def each_box(laws: list, ids: list[str]):
    """Each push and offset with the first law; each other law once of each push."""
    places = [(x, point) for x in (0.0, 0.2, -0.2) for point in ("sole", "middle")]
    cases = [(laws[0], *place) for place in places]
    names = [f"{ids[0]}, {point} {x}" for x, point in places]
    for law, name in zip(laws[1:], ids[1:], strict=True):
        cases += [(law, -0.2, "sole"), (law, 0.2, "middle")]
        names += [f"{name}, sole", f"{name}, middle"]
    return pytest.mark.parametrize(("law", "offset", "point"), cases, ids=names)


@each_box(BOX_LAWS, LAW_IDS)
def test_a_box_with_one_coefficient_slides_when_all_of_it_is_used(law, offset, point):
    """mu = mu0: corners that slip by the box's tilting, 1e-10 m, give nothing away."""
    model = box(law, Coulomb(mu=0.5), offset, forces=[pushed(point)])
    result = simulate(model, 1.5, rtol=1e-10)
    t0 = 0.5 * MASS * G / 10.0
    before, end = result.sample([t0 - 5e-3, 1.5])["box.sole.x"]
    # The box turns by up to 1e-3 rad as it is pushed at the middle: micrometres, and
    # swings as long if nothing damps it.
    assert abs(before - result.sample([0.0])["box.sole.x"][0]) <= 1e-7
    way = 10.0 / (6.0 * MASS) * (1.5 - t0) ** 3
    assert end - before == pytest.approx(way, abs=1e-4)
    last = [r for r in result.events if r.kind == "break_away"][-1].t
    assert last == pytest.approx(t0, abs=3e-3)
    assert_sound(result)


@each_box(BOX_LAWS[1::2], LAW_IDS[1::2])
def test_a_box_with_two_coefficients_slides_between_them(law, offset, point):
    """A tilted box has one split, which tiny slips change: it slides no earlier than
    on mu alone, and no later than on mu0.
    """
    friction = Coulomb(mu=0.3, mu_static=0.5)
    model = box(law, friction, offset, forces=[pushed(point)])
    result = simulate(model, 1.5, rtol=1e-10)
    last = [r for r in result.events if r.kind == "break_away"][-1].t
    assert 0.3 * MASS * G / 10.0 < last < 0.5 * MASS * G / 10.0 + 1e-4
    x = result.sample([0.3 * MASS * G / 10.0, 1.5])["box.sole.x"]
    assert abs(x[0] - result.sample([0.0])["box.sole.x"][0]) <= 1e-7
    assert x[1] > 0.1
    # Few events: feet that saw at their limit, not one that chatters.
    assert len(result.events) <= 12
    assert_sound(result)


@pytest.mark.parametrize("law", BOX_LAWS[1::2], ids=LAW_IDS[1::2])
def test_a_level_box_pushed_at_its_middle_in_closed_form(law):
    """It tilts forward from the start, so that the rear corner slips, with mu, while
    the front one sticks, with mu0; normal forces are those of a lever.

        F = mu N_left + mu0 N_right,   N_right - N_left = F height/half
    """
    mu, mu0 = 0.3, 0.5
    model = box(law, Coulomb(mu=mu, mu_static=mu0), forces=[pushed("middle")])
    result = simulate(model, 1.5, rtol=1e-10)
    last = [r for r in result.events if r.kind == "break_away"][-1]
    force = 0.5 * (mu + mu0) * MASS * G / (1 - 0.5 * (mu0 - mu) * HEIGHT / HALF)
    assert last.element == "right"
    # The box tilts as it is pushed harder, at 1e-3 rad/s: it lags, and its lever
    # shortens, by some 1e-5.
    assert last.t == pytest.approx(force / 10.0, rel=3e-5)
    assert_sound(result)


@pytest.mark.parametrize("law", BOX_LAWS, ids=LAW_IDS)
@pytest.mark.parametrize(("mu", "mu0"), [(0.3, 0.5), (0.4, 0.4)])
def test_a_box_on_a_shaking_table(law, mu, mu0):
    w = 4.0 * math.pi
    for part, slides in ((0.97 * mu, False), (1.1 * mu0, True)):
        swing = part * G / w**2
        table = MovingSupport(
            name="table", x=Harmonic(amplitude=swing, angular_frequency=w)
        )
        friction = Coulomb(mu=mu, mu_static=mu0)
        model = box(law, friction, a="table", velocity=(swing * w, 0.0), bodies=[table])
        result = simulate(model, 2.0)
        t = np.linspace(0.0, 2.0, 401)
        samples = result.sample(t)
        moved = np.ptp(samples["box.sole.x"] - samples["table.x"])
        # Tilts of 1e-4 rad shift the soles by their square.
        assert moved > 5e-4 if slides else moved < 1e-6
        assert_sound(result, ledger=1e-6)


@pytest.mark.parametrize("law", BOX_LAWS[1::2], ids=LAW_IDS[1::2])
@pytest.mark.parametrize(("mu", "mu0"), [(0.3, 0.5), (0.4, 0.4)])
def test_a_box_on_an_incline(law, mu, mu0):
    for slope, slides in ((0.95 * mu, False), (1.05 * mu0, True)):
        angle = math.atan(slope)
        gravity = (G * math.sin(angle), -G * math.cos(angle))
        model = box(law, Coulomb(mu=mu, mu_static=mu0), gravity=gravity)
        result = simulate(model, 2.0)
        start, end = result.sample([0.0, 2.0])["box.sole.x"]
        pull = gravity[0] + mu * gravity[1]
        # It starts level and swings into its tilt, of 1e-4 rad, before it holds or
        # while it begins to slide.
        assert end - start == pytest.approx(2.0 * pull if slides else 0.0, abs=1e-2)
        if not slides:
            assert end - start == pytest.approx(0.0, abs=1e-4)
            late = result.sample([1.0])["box.sole.x"][0]
            assert end == pytest.approx(late, abs=1e-12)
        assert_sound(result)


@pytest.mark.parametrize("damping", [0.0, 200.0])
@pytest.mark.parametrize(
    "places", [(-1.0, 0.3, 1.0), (-1.0, -0.2, 0.4, 1.0), (-1.0, -0.5, 0.0, 0.5, 1.0)]
)
def test_many_feet_on_one_line(places, damping):
    """Touching at the start: the body sinks, swings, is pushed at its soles, slides."""
    body = RigidBody(
        name="bench",
        mass=MASS,
        inertia=0.2,
        position=(0.0, HEIGHT),
        points={f"f{k}": (x * HALF, -HEIGHT) for k, x in enumerate(places)}
        | {"sole": (0.0, -HEIGHT)},
    )
    contacts = [
        Contact(
            name=f"c{k}",
            b=f"bench.f{k}",
            normal=KelvinVoigt(stiffness=1e5, damping=damping),
            friction=Coulomb(mu=0.3, mu_static=0.5),
        )
        for k in range(len(places))
    ]
    push = PointForce(name="push", b="bench.sole", fx=Expression(text="10*t"))
    model = Model(gravity=(0.0, -G), bodies=[body], contacts=contacts, forces=[push])
    result = simulate(model, 1.5)
    t = np.linspace(0.0, 1.5, 301)
    x = result.sample(t)["bench.sole.x"]
    start = t[np.flatnonzero(np.abs(x) > 1e-4)[0]]
    # Where nothing damps them, loads swing between none and twice their mean.
    earliest = 0.3 * MASS * G / 10.0 if damping else 0.0
    assert earliest < start < 0.5 * MASS * G / 10.0 + 0.02
    # Where it gives way, friction that is not unique is shared at its limits, which a
    # group that stands on more feet than it needs is known to reach to a millionth.
    assert_sound(result, ledger=1e-7, obeyed=SHARED)


# ---- bodies on bodies ------------------------------------------------------------


def brick(
    name: str, at: tuple[float, float], half=(0.2, 0.1), **more: Any
) -> RigidBody:
    l, h = half
    return RigidBody(
        name=name,
        mass=1.0,
        inertia=(l**2 + h**2) / 3,
        position=at,
        shapes={"o": Polygon(vertices=((-l, -h), (l, -h), (l, h), (-l, h)))},
        **more,
    )


SOFT = KelvinVoigt(stiffness=1e5, damping=100.0)
ROUGH = Coulomb(mu=0.3, mu_static=0.4)


def piled(*bricks: RigidBody, pairs: list[tuple[str, str]], **more: Any) -> Model:
    contacts = [
        Contact(
            name=f"{a}_{b}",
            a=a if a == "ground" else f"{a}.o",
            b=f"{b}.o",
            normal=SOFT,
            friction=ROUGH,
        )
        for a, b in pairs
    ]
    return Model(gravity=(0.0, -G), bodies=bricks, contacts=contacts, **more)


def fastest(result) -> float:
    return max(abs(x) for v in result.state().velocities.values() for x in v)


def load(result, pair: str) -> float:
    """Sum of the normal forces of a pair at the end."""
    names = [c for c in result.system.contacts if c.partition(".")[0] == pair]
    end = result.sample([result.t_end])
    return sum(float(end[f"{name}.normal_force"][0]) for name in names)


@pytest.mark.parametrize("angle", [0.0, 0.1, 0.5, -1.2, 3.0])
def test_a_dropped_brick_comes_to_rest(angle):
    model = piled(brick("a", (0.0, 0.4), angle=angle), pairs=[("ground", "a")])
    result = simulate(model, 3.0)
    _, y, turned = result.state().positions["a"]
    # On one of its sides, pressed in by m g/k of the longest.
    side = round(turned / (0.5 * math.pi))
    assert turned == pytest.approx(side * 0.5 * math.pi, abs=1e-6)
    sink = G / SOFT.stiffness * (2.0 if side % 2 else 1.0)
    assert y == pytest.approx((0.2 if side % 2 else 0.1) - sink, abs=1e-8)
    # Swings die out with damping/2 mass = 50 1/s, from 1 m/s.
    assert fastest(result) <= 1e-9
    assert load(result, "ground_a") == pytest.approx(G, abs=1e-6)
    assert_sound(result)


@pytest.mark.parametrize("offsets", [(0.0, 0.0), (0.02, -0.03)], ids=["level", "askew"])
@pytest.mark.parametrize("clearance", [0.0, 1e-3])
def test_a_pile_carries_its_weight(offsets, clearance):
    halves = [(0.3, 0.1), (0.2, 0.1), (0.1, 0.1)]
    places = [
        (x, 0.1 + 0.2 * k + clearance * (k + 1)) for k, x in enumerate((0.0, *offsets))
    ]
    bricks = [
        brick(name, at, half)
        for name, at, half in zip("abc", places, halves, strict=True)
    ]
    pairs = [("ground", "a"), ("a", "b"), ("b", "c")]
    # Rocking fades with c w^2/24 I and less, 2 1/s of the narrow one that is askew.
    result = simulate(piled(*bricks, pairs=pairs), 8.0)
    assert fastest(result) <= 1e-6
    for k, (a, b) in enumerate(pairs):
        assert load(result, f"{a}_{b}") == pytest.approx((3 - k) * G, abs=1e-4)
    assert_sound(result, ledger=1e-7)


# Offsets less than, about and more than the overlap at rest, 5e-5 to 1e-4 m.
@pytest.mark.parametrize("offset", [0.0, 1e-7, 1e-5, 5e-5, 1e-3])
@pytest.mark.parametrize("clearance", [0.0, 1e-3])
def test_equal_bricks_in_a_pile(clearance, offset):
    """Corners upon corners: forces are continuous there."""
    bricks = [
        brick(name, (offset * (k % 2), 0.1 + 0.2 * k + clearance * (k + 1)))
        for k, name in enumerate("abc")
    ]
    pairs = [("ground", "a"), ("a", "b"), ("b", "c")]
    result = simulate(piled(*bricks, pairs=pairs), 6.0)
    assert fastest(result) <= 1e-6
    for k, (a, b) in enumerate(pairs):
        assert load(result, f"{a}_{b}") == pytest.approx((3 - k) * G, abs=1e-4)
    assert_sound(result, ledger=1e-7)


# With a nose, so that no two corners meet.
WAGON = ((-0.1, -0.1), (0.1, -0.1), (0.14, 0.01), (0.1, 0.1), (-0.1, 0.1))


def test_a_row_of_wagons_is_pushed():
    """One after the other starts; in the end all three slide with one acceleration."""
    sink = 0.5 * G / SOFT.stiffness
    wagons = [
        replace(
            brick(name, (0.25 * k, 0.1 - sink)), shapes={"o": Polygon(vertices=WAGON)}
        )
        for k, name in enumerate("abc")
    ]
    pairs = [("ground", n) for n in "abc"] + [("a", "b"), ("b", "c")]
    push = PointForce(name="push", b="a", fx=20.0)
    result = simulate(piled(*wagons, pairs=pairs, forces=[push]), 1.5)
    hits = [
        r.element[:3]
        for r in result.events
        if r.kind == "touch_down" and "_" in r.element
    ]
    assert hits[0] == "a_b"
    assert "b_c" in hits
    late = result.sample(np.linspace(1.0, 1.5, 201))
    for name in "abc":
        # They swing against each other by little.
        assert late[f"{name}.vx"][-1] == pytest.approx(late["a.vx"][-1], abs=0.05)
    # 20 N against friction on the weight of three, and swings of their loads.
    gained = sum(late[f"{n}.vx"][-1] - late[f"{n}.vx"][0] for n in "abc")
    assert gained == pytest.approx(0.5 * (20.0 - 0.3 * 3 * G), abs=2e-2)
    assert_sound(result)


def test_a_row_of_equal_bricks_is_pushed():
    """Their lower corners are at one height, and meet."""
    sink = 0.5 * G / SOFT.stiffness
    half = (0.1, 0.1)
    bricks = [brick(n, (0.21 * k, 0.1 - sink), half) for k, n in enumerate("abc")]
    pairs = [("ground", n) for n in "abc"] + [("a", "b"), ("b", "c")]
    push = PointForce(name="push", b="a", fx=20.0)
    result = simulate(piled(*bricks, pairs=pairs, forces=[push]), 1.0)
    late = result.sample(np.linspace(0.7, 1.0, 201))
    gained = sum(late[f"{n}.vx"][-1] - late[f"{n}.vx"][0] for n in "abc")
    assert gained == pytest.approx(0.3 * (20.0 - 0.3 * 3 * G), abs=2e-2)
    assert_sound(result)


@pytest.mark.parametrize("seed", range(16))
def test_bricks_and_wedges_that_tumble(seed):
    """On a floor or into a V, and on each other; checked by what they leave behind."""
    rng = np.random.default_rng(seed)

    def number(low: float, high: float) -> float:
        return float(rng.uniform(low, high))

    walls: dict[str, Shape] = {"floor": Line()}
    if seed % 3 == 0:
        walls = {"floor": Line(angle=-0.4), "ramp": Line(angle=0.5)}
    laws = (SOFT, DampedHertz(stiffness=3e6, damping=1e6), Hertz(stiffness=3e6))
    bodies: list[Any] = [Ground(shapes=walls)]
    pairs: list[tuple[str, str]] = []
    for k in range(1 + seed % 3):
        l, h = number(0.08, 0.2), number(0.05, 0.15)
        corners = [(-l, -h), (l, -h), (l, h), (-l, h)]
        if number(0.0, 1.0) > 0.6:
            # About its centre of area.
            corners = [(-l, -h), (l, -h), (0.0, 2.0 * h)]
        body = RigidBody(
            name=f"b{k}",
            mass=number(0.5, 2.0),
            inertia=number(0.005, 0.03),
            position=(number(-0.1, 0.1), 0.5 + 0.5 * k),
            angle=number(-3.0, 3.0),
            velocity=(number(-1.0, 1.0), 0.0),
            angular_velocity=number(-3.0, 3.0),
            shapes={"o": Polygon(vertices=tuple(corners))},
        )
        pairs += [(f"ground.{wall}", f"b{k}.o") for wall in walls]
        pairs += [(f"b{j}.o", f"b{k}.o") for j in range(k)]
        bodies.append(body)
    contacts = [
        Contact(name=f"c{i}", a=a, b=b, normal=laws[seed % 4 % 3], friction=ROUGH)
        for i, (a, b) in enumerate(pairs)
    ]
    model = Model(gravity=(0.0, -G), bodies=bodies, contacts=contacts)
    result = simulate(model, 1.2)
    assert len(result.events) > 5
    assert_sound(result, ledger=1e-7, obeyed=SHARED)


# ---- ties ------------------------------------------------------------------------


def on_springs(name: str, x: float) -> PointMass:
    return PointMass(name=name, mass=1.0, position=(x, -G / SINK))


def dry(name: str, b: str, mu0=0.4, mu=0.3) -> Contact:
    return Contact(
        name=name,
        b=b,
        normal=KelvinVoigt(stiffness=SINK),
        friction=Coulomb(mu=mu, mu_static=mu0),
    )


@pytest.mark.parametrize("n", [2, 5])
def test_equal_blocks_that_have_nothing_to_do_with_each_other(n):
    model = Model(
        gravity=(0.0, -G),
        bodies=[on_springs(f"b{k}", float(k)) for k in range(n)],
        contacts=[dry(f"c{k}", f"b{k}") for k in range(n)],
        forces=[
            PointForce(name=f"p{k}", b=f"b{k}", fx=Expression(text="10*t"))
            for k in range(n)
        ],
    )
    result = simulate(model, 1.0, rtol=1e-10)
    assert history(result) == ["break_away"] * n
    # All in one instant, and that of the closed form.
    assert set(result.events.t) == {result.events.t[0]}
    assert result.events.t[0] == pytest.approx(0.3924, abs=1e-12)
    end = [result.state().velocities[f"b{k}"] for k in range(n)]
    assert len(set(end)) == 1


def test_blocks_pulled_apart_by_equal_forces_stay_mirror_images():
    """A spring between them: both reach their limit, and stop, in one instant."""
    stiffness, rate = 50.0, 10.0
    model = Model(
        gravity=(0.0, -G),
        bodies=[on_springs("l", -1.0), on_springs("r", 1.0)],
        contacts=[dry("cl", "l"), dry("cr", "r")],
        forces=[
            SpringDamper(name="s", a="l", b="r", stiffness=stiffness, rest_length=2.0),
            PointForce(name="pl", b="l", fx=Expression(text=f"-{rate}*t")),
            PointForce(name="pr", b="r", fx=Expression(text=f"{rate}*t")),
        ],
    )
    result = simulate(model, 5.0, rtol=1e-11)
    # Seen from the middle, the far end of a spring of twice the stiffness moves at
    # rate/(2 stiffness): the belt's motion on top of a steady one.
    belt = stick_slip.Belt(stiffness=2 * stiffness, speed=rate / (2 * stiffness))
    times = belt.events(len(result.events) // 2)
    np.testing.assert_allclose(
        result.events.t, np.repeat(times, 2), rtol=0.0, atol=FIGURE
    )
    assert history(result)[:4] == ["break_away"] * 2 + ["stick"] * 2
    t = np.linspace(0.0, 5.0, 201)
    samples = result.sample(t)
    np.testing.assert_allclose(samples["l.x"], -samples["r.x"], rtol=0.0, atol=1e-13)


@pytest.mark.slow
def test_a_symmetric_body_on_two_legs_stays_put():
    """Case 2 of the free-standing body: both feet come to their limit together."""
    result = simulate(gallery.build("free_standing", case="2", e=0.0), 10.0)
    assert len(result.events) > 1000
    times = result.events.t.reshape(-1, 2)
    # Both feet within what counts as one instant.
    np.testing.assert_allclose(times[:, 0], times[:, 1], rtol=1e-12)
    samples = result.sample(np.linspace(0.0, 10.0, 1001))
    # Round-off of a body 15 m wide, not once amplified.
    assert np.max(np.abs(samples["body.x"] - samples["body.x"][0])) <= 1e-13
    assert np.max(np.abs(samples["body.theta"])) <= 1e-13


# ---- rest is rest ----------------------------------------------------------------


def stuck_slip(result, t, name: str):
    samples = result.sample(t)
    is_stuck = samples[f"{name}.mode"] == 0.0
    assert is_stuck.any()
    return np.max(np.abs(samples[f"{name}.slip_velocity"][is_stuck]))


def test_a_block_on_a_shaking_table_rides_along_for_a_long_time():
    """Velocities agree to the last digits; places to what integrating them leaves."""
    table = MovingSupport(
        name="table",
        x=Expression(text="0.1*sin(3*t) + 0.05*sin(7.3*t)"),
        y=Expression(text="0.01*sin(5*t)"),
    )
    block = PointMass(
        name="block", mass=1.0, position=(0.2, -1e-4), velocity=(0.665, 0.05)
    )
    contact = Contact(
        name="c",
        a="table",
        b="block",
        normal=KelvinVoigt(stiffness=1e5, damping=100.0),
        friction=Coulomb(mu=0.6, mu_static=0.7),
    )
    model = Model(gravity=(0.0, -G), bodies=[table, block], contacts=[contact])
    result = simulate(model, 100.0)
    assert history(result) == []
    t = np.linspace(0.0, 100.0, 5001)
    samples = result.sample(t)
    # Units in the last place of speeds of 0.7 m/s.
    assert stuck_slip(result, t, "c") <= 5e-16
    moved = samples["block.x"] - samples["table.x"] - 0.2
    # Errors of some 1e3 steps, each within rtol = 1e-8 of a speed, do not add up.
    assert np.max(np.abs(moved)) <= 1e-8
    assert_sound(result)


def test_a_disc_that_sticks_to_a_turning_plate_rolls_off_it_exactly():
    """The row of a rolling contact turns with the plate: v_t stays at round-off."""
    plate = MovingSupport(
        name="plate", theta=Harmonic(amplitude=0.2, angular_frequency=1.3)
    )
    wheel = RigidBody(
        name="wheel",
        mass=1.0,
        inertia=0.005,
        position=(0.0, 0.1 - G / 1e5),
        shapes={"rim": Circle(radius=0.1)},
    )
    contact = Contact(
        name="c",
        a="plate",
        b="wheel.rim",
        normal=KelvinVoigt(stiffness=1e5, damping=100.0),
        friction=Coulomb(mu=0.6, mu_static=0.7),
    )
    model = Model(gravity=(0.0, -G), bodies=[plate, wheel], contacts=[contact])
    result = simulate(model, 5.0, rtol=1e-10)
    t = np.linspace(0.1, 5.0, 491)
    samples = result.sample(t)
    assert set(samples["c.mode"]) == {0.0}
    assert np.max(np.abs(samples["wheel.omega"])) > 5.0
    assert stuck_slip(result, t, "c") <= 1e-14
    # Rolling without slip on a plate: the way along it is radius times the turn
    # relative to it, but for the overlap, 1e-4 m, that the plate turns with.
    theta = samples["plate.theta"]
    along = samples["wheel.x"] * np.cos(theta) + samples["wheel.y"] * np.sin(theta)
    rolled = along + 0.1 * (samples["wheel.theta"] - theta)
    assert np.ptp(rolled) <= 1e-3
    assert_sound(result)


def test_slip_is_exactly_zero_on_the_belt():
    result = simulate(gallery.build("belt"), 20.0, rtol=1e-4)
    t = np.linspace(0.0, 20.0, 4001)
    samples = result.sample(t)
    is_stuck = samples["sole.mode"] == 0.0
    # From the block's own velocity and the belt's 0.1 m/s.
    assert np.max(np.abs(samples["block.vx"][is_stuck] - 0.1)) <= 1e-14


# ---- several contacts of one body against a reference that tries every mode ------


def random_stand(seed: int, n: int) -> tuple[Model, feet.Body, tuple[float, ...]]:
    """A body on feet of different height, shaken and turned; the same for both."""
    rng = np.random.default_rng(seed)

    def number(low: float, high: float) -> float:
        return float(rng.uniform(low, high))

    mass, gravity = number(0.5, 3.0), (number(-0.5, 0.5), -G)
    inertia = mass * number(0.02, 0.2)
    terms = [
        (size * mass * G * number(0.1, 0.8), number(3.0, 30.0), number(0.0, 6.0))
        for size in (1.0, 0.6, 0.2)
    ]
    texts = [f"{f!r}*sin({w!r}*t + {phase!r})" for f, w, phase in terms]
    stand: list[feet.Foot] = []
    shapes, points, contacts = {}, {}, []
    for k in range(n):
        x = (k / (n - 1) - 0.5) * number(0.6, 1.0)
        y = -number(0.1, 0.4)
        # Three tangents of one direction would depend on each other.
        tilt = number(-0.4, 0.4) if n > 2 else number(-0.3, 0.3) * (k % 2)
        stiffness = 10.0 ** number(3.5, 5.0)
        mu = number(0.1, 0.6)
        mu0 = mu * (1.0, 1.3, 1.8)[int(rng.integers(3))]
        law: Any
        if seed % 2:
            law = DampedHertz(
                stiffness=30 * stiffness, damping=30 * stiffness * number(0.0, 2.0)
            )
        else:
            law = KelvinVoigt(
                stiffness=stiffness, damping=number(0.0, 0.5) * math.sqrt(stiffness)
            )
        p = law.parameters()
        point = (x, y + number(1e-4, 1e-3))
        stand.append(
            feet.Foot(
                (x, y),
                lambda d, rate, law=law, p=p: law.force(p, d, rate, 0.0),
                mu0,
                mu,
                point,
                tilt,
            )
        )
        shapes[f"l{k}"] = Line(point=point, angle=tilt)
        points[f"f{k}"] = (x, y)
        contacts.append(
            Contact(
                name=f"c{k}",
                a=f"ground.l{k}",
                b=f"body.f{k}",
                normal=law,
                friction=Coulomb(mu=mu, mu_static=mu0),
            )
        )
    start = (number(-0.5, 0.5), number(-0.2, 0.0), number(-0.5, 0.5))
    body = RigidBody(
        name="body",
        mass=mass,
        inertia=inertia,
        velocity=start[:2],
        angular_velocity=start[2],
        points=points,
    )
    model = Model(
        gravity=gravity,
        bodies=[Ground(shapes=shapes), body],
        contacts=contacts,
        forces=[
            PointForce(
                name="shake",
                b="body",
                fx=Expression(text=texts[0]),
                fy=Expression(text=texts[1]),
            ),
            Couple(name="turn", b="body", torque=Expression(text=texts[2])),
        ],
    )

    def loads(t: float) -> tuple[float, float, float]:
        x, y, z = (f * math.sin(w * t + phase) for f, w, phase in terms)
        return x, y, z

    return model, feet.Body(stand, mass, inertia, gravity, loads), start


@pytest.mark.slow  # the reference takes a few seconds for each
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [2, 3])
def test_feet_decide_together(seed, n):
    model, body, start = random_stand(seed, n)
    t = np.linspace(0.0, 0.5, 51)
    exact = feet.run(body, (0.0, 0.0, 0.0), start, t)
    result = simulate(model, 0.5, rtol=1e-11)
    found = [(r.element, r.kind) for r in result.events]
    assert found == [(f"c{c.foot}", c.kind) for c in exact.changes]
    # Both runs are within some 1e-11 of the truth; events at small rates lose a digit
    # or two.
    np.testing.assert_allclose(
        result.events.t, [c.t for c in exact.changes], rtol=0.0, atol=FIGURE
    )
    samples = result.sample(t)
    q = np.stack([samples[f"body.{c}"] for c in ("x", "y", "theta")])
    np.testing.assert_allclose(q, exact.q, rtol=0.0, atol=FIGURE)
    assert_sound(result)


@pytest.mark.parametrize("seed", range(20, 40))
def test_three_feet_on_parallel_lines_hold_each_other(seed):
    """Three tangents, two motions: friction is not unique, whatever the pose."""
    model, _, _ = random_stand(seed, 3)
    ground = model.bodies[0]
    assert isinstance(ground, Ground)
    level = {
        name: replace(line, angle=0.0)
        for name, line in ground.shapes.items()
        if isinstance(line, Line)
    }
    model = replace(model, bodies=(replace(ground, shapes=level), *model.bodies[1:]))
    result = simulate(model, 0.5)
    # A few for each of the shaking's swings; the worst of these seeds, tilted, has 60.
    assert len(result.events) < 150
    assert_sound(result, ledger=1e-7, obeyed=SHARED)


# ---- long runs -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [1e-4, 1e-8, 1e-11])
def test_three_hundred_periods_of_the_belt(rtol, validate):
    result = simulate(gallery.build("belt"), 200.0, rtol=rtol)
    n = len(result.events)
    exact = stick_slip.Belt().events(n + 1)
    assert exact[-1] > 200.0
    assert history(result) == (["break_away", "stick"] * n)[:n]
    # Each period starts from the same state but for the stick before: errors add up
    # linearly, some rtol in each of 300.
    what = f"belt, 300 periods at rtol = {rtol:g}: instants"
    within = max(300 * 10 * rtol, FIGURE)
    validate(what, result.events.t, exact[:-1], within, "s", "closed form")
    assert_sound(result, ledger=1e-2 * rtol + 1e-12)


@pytest.mark.slow
def test_the_free_standing_body_drifts_steadily():
    result = simulate(gallery.build("free_standing", case="1"), 40.0)
    samples = result.sample(np.arange(18.0, 41.0, 2.0))
    x = samples["body.x"] - samples["platform.x"]
    # The figure of the reference, to half its last digit and the run's own error.
    np.testing.assert_allclose(np.diff(x), 0.0296188848, rtol=0.0, atol=2e-9)
    assert_sound(result)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "rtol"), [("equilibrium", 1e-4), ("touching", 1e-6), ("spinning", 1e-8)]
)
def test_the_compactor_runs_on(start, rtol):
    """Thousands of impacts: at any tolerance the laws are obeyed at every step."""
    result = simulate(gallery.build("compactor", start=start), 10.0, rtol=rtol)
    assert len(result.events) > 3000
    assert_sound(result, ledger=10 * rtol)
    assert result.violation <= 1e-11


@pytest.mark.slow
def test_events_microseconds_apart_do_not_depend_on_the_tolerance():
    model = gallery.build("compactor", eccentricity=0.15, rotor_speed=25.0)
    # An event close to the end could fall behind it.
    runs = [simulate(model, 1.45, rtol=10.0**-k) for k in range(4, 12)]
    ours = [(r.element, r.kind) for r in runs[-1].events]
    assert np.diff(runs[-1].events.t).min() < 1e-6
    for run in runs:
        assert [(r.element, r.kind) for r in run.events] == ours
