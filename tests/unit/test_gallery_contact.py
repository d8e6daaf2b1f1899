"""The gallery's systems with contact: starts, closed forms, balances, refusals.

FIGURE is what the closed forms are compared to: rtol = 1e-11 leaves less in positions
of order one and in the times of events.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import gallery, simulate
from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.friction import Coulomb
from nonsmooth.errors import ModelError
from nonsmooth.gallery.systems import free_standing
from oracles import stick_slip

RTOL = 1e-11
FIGURE = 1e-9  # m, s
# Constraints are projected to round-off after every step.
VIOLATION = 1e-11
# The ledger is integrated with the motion; this part of the energy exchanged is asked
# of every run.
LEDGER = 1e-8


def run(system, until=None, **given):
    until = gallery.duration(system) if until is None else until
    result = simulate(gallery.build(system, **given), until=until, rtol=RTOL)
    # Every event was located: none passed in a crossed span.
    assert len(result.crossed) == 0
    return result


def events(result, *elements):
    return [(r.element, r.kind) for r in result.events if r.element in elements]


def assert_sound(result):
    balance = result.energy_balance
    assert balance.residual <= LEDGER * balance.exchanged
    assert result.violation <= VIOLATION


# ---- belt ------------------------------------------------------------------------


BELTS = [
    {},
    {"m": 0.3, "k": 40.0, "speed": 0.25, "mu0": 0.9, "mu": 0.2},
    {"m": 7.0, "gravity": 1.6, "mu": 0.4},
]


def belt_oracle(given):
    values = {p.name: p.default for p in gallery.parameters("belt")} | given
    return stick_slip.Belt(
        mass=values["m"],
        stiffness=values["k"],
        speed=values["speed"],
        mu0=values["mu0"],
        mu=values["mu"],
        gravity=values["gravity"],
    )


def test_belt_figures():
    oracle = stick_slip.Belt()
    # Half a unit of the last decimal in which they are given.
    assert oracle.first_slip == pytest.approx(0.3924, abs=1e-15)
    assert oracle.period == pytest.approx(0.669357062343, abs=6e-13)


@pytest.mark.parametrize("given", BELTS[:2])
def test_belt_events(given):
    result, oracle = run("belt", **given), belt_oracle(given)
    n = len(result.events)
    assert n >= 8
    assert [r.kind for r in result.events] == (["break_away", "stick"] * n)[:n]
    np.testing.assert_allclose(result.events.t, oracle.events(n), rtol=0.0, atol=FIGURE)
    # None is missing at the end.
    assert oracle.events(n + 1)[-1] > result.t_end


@pytest.mark.parametrize("given", BELTS[:2])
def test_belt_motion(given):
    result, oracle = run("belt", **given), belt_oracle(given)
    t = np.linspace(0.0, result.t_end, 401)
    found = result.sample(t)
    exact = oracle.motion(t)
    # Velocities turn by up to w = 12 rad/s as fast as positions.
    np.testing.assert_allclose(found["block.x"], exact.x, rtol=0.0, atol=FIGURE)
    np.testing.assert_allclose(found["block.vx"], exact.v, rtol=0.0, atol=20 * FIGURE)


def test_belt_that_only_grazes():
    """With mu = mu0 the slip velocity comes back to zero at the top of its swing."""
    result, oracle = run("belt", **BELTS[2]), belt_oracle(BELTS[2])
    t = np.linspace(0.0, result.t_end, 101)
    # At zero rate of slip a root is as good as the root of the error: 1e-7 m then.
    np.testing.assert_allclose(
        result.sample(t)["block.x"], oracle.motion(t).x, rtol=0.0, atol=1e-7
    )


def test_belt_normal_force_is_the_weight():
    result = run("belt")
    found = result.sample()
    # Without rounding: the stiffness is a power of two.
    assert set(found["sole.normal_force"]) == {9.81}
    assert len(set(found["block.y"])) == 1
    assert set(found["block.vy"]) == {0.0}
    assert set(found["spring.force_y"]) == {0.0}
    # The spring's length, 1.2 m, rounds its stretch by 1e-16 m: 1e-14 N.
    np.testing.assert_allclose(
        found["spring.force_x"], -100.0 * found["block.x"], rtol=0.0, atol=1e-13
    )
    # What drives the belt is what it does to the block.
    np.testing.assert_allclose(
        found["belt.force_x"], found["sole.friction_force"], rtol=0.0, atol=1e-12
    )


def test_belt_backwards_is_the_mirror_image():
    there, back = run("belt"), run("belt", speed=-0.1)
    assert [r.kind for r in there.events] == [r.kind for r in back.events]
    # The same arithmetic but for the spring's rounding.
    np.testing.assert_allclose(back.events.t, there.events.t, rtol=0.0, atol=1e-12)
    t = np.linspace(0.0, 5.0, 51)
    np.testing.assert_allclose(
        back.sample(t)["block.x"], -there.sample(t)["block.x"], rtol=0.0, atol=1e-12
    )


def test_belt_sound():
    assert_sound(run("belt"))


# ---- incline ---------------------------------------------------------------------


INCLINES = [
    {},
    {"mu0": 0.35},
    {"angle": 35.0, "speed": 1.0, "mu0": 0.5, "mu": 0.1, "m": 4.0},
]


def incline_oracle(given):
    values = {p.name: p.default for p in gallery.parameters("incline")} | given
    return stick_slip.Incline(
        angle=math.radians(values["angle"]),
        speed=values["speed"],
        mu0=values["mu0"],
        mu=values["mu"],
        gravity=values["gravity"],
    )


def along(found, angle):
    """Return way and velocity up the incline."""
    c, s = math.cos(angle), math.sin(angle)
    return (
        c * found["block.x"] + s * found["block.y"],
        c * found["block.vx"] + s * found["block.vy"],
    )


def test_incline_figures():
    # Half a unit of the last decimal in which they are given.
    assert stick_slip.Incline().stop_time == pytest.approx(0.490137375, abs=6e-10)
    back = stick_slip.Incline(mu0=0.35).return_time
    assert back == pytest.approx(2.069213819, abs=6e-10)


@pytest.mark.parametrize("given", INCLINES)
def test_incline_motion(given):
    result, oracle = run("incline", **given), incline_oracle(given)
    t = np.linspace(0.0, result.t_end, 201)
    found = result.sample(t)
    way, speed = along(found, oracle.angle)
    exact = oracle.motion(t)
    np.testing.assert_allclose(way, exact.x, rtol=0.0, atol=FIGURE)
    np.testing.assert_allclose(speed, exact.v, rtol=0.0, atol=FIGURE)
    weight = given.get("m", 1.0) * 9.81 * math.cos(oracle.angle)
    # The normal spring of 1024 N/m per kg swings within the tolerance of the run.
    stiffness = 1024.0 * given.get("m", 1.0)
    # Its steps are as long as stability allows: ten tolerances at their ends, and twice
    # that between.
    atol = 20.0 * stiffness * result.options["rtol"] * result.system.size
    np.testing.assert_allclose(found["sole.normal_force"], weight, rtol=0.0, atol=atol)


@pytest.mark.parametrize("given", INCLINES)
def test_incline_events(given):
    result, oracle = run("incline", **given), incline_oracle(given)
    stays = oracle.fall == 0.0
    assert events(result, "sole") == [("sole", "stick" if stays else "reverse")]
    assert result.events[0].t == pytest.approx(oracle.stop_time, abs=FIGURE)
    assert result.events[0].after == ("stick" if stays else "slip-")
    if not stays:
        found = result.sample([oracle.return_time])
        # Back with some metres per second.
        assert along(found, oracle.angle)[0][0] == pytest.approx(0.0, abs=5 * FIGURE)
    assert_sound(result)


def test_incline_at_rest_stays_or_slides():
    for mu0, kinds in ((0.4, 0.0), (0.35, 1.0)):
        result = run("incline", until=1.0, speed=0.0, mu0=mu0)
        end = result.sample(1.0)
        exact = 0.5 * kinds * 9.81 * (math.sin(0.349066) - 0.3 * math.cos(0.349066))
        # The angle is given to 1e-6 rad.
        assert along(end, math.radians(20))[0][0] == pytest.approx(-exact, abs=2e-5)


# ---- two blocks ------------------------------------------------------------------


TWO_BLOCKS = [
    ({}, stick_slip.TwoBlocks()),
    (
        {"m2": 3.0, "speed": 0.6, "mu0_upper": 0.3, "mu_upper": 0.2, "k": 150.0},
        stick_slip.TwoBlocks(
            m2=3.0, speed=0.6, stiffness=150.0, mu0=(0.5, 0.3), mu=(0.3, 0.2)
        ),
    ),
]
WORDS = {0: "stick", 1: "slip+", -1: "slip-"}


@pytest.mark.parametrize(("given", "oracle"), TWO_BLOCKS)
def test_two_blocks(given, oracle):
    result = run("two_blocks", **given)
    t = np.linspace(0.0, result.t_end, 501)
    exact = stick_slip.two_blocks(oracle, t)
    found = result.sample(t)
    for k, name in enumerate(("lower", "upper")):
        # The reference at rtol 1e-12 loses about 1e-11 in 10 s.
        np.testing.assert_allclose(found[f"{name}.x"], exact.x[k], rtol=0, atol=FIGURE)
    modes = {"ground_lower": "stick", "lower_upper": "stick"}
    changes = []
    for record in result.events:
        modes[record.element] = record.after
        state = (record.t, *modes.values())
        if changes and changes[-1][0] == record.t:
            changes.pop()
        changes.append(state)
    assert [c[1:] for c in changes] == [
        (WORDS[c.slip[0]], WORDS[c.slip[1]]) for c in exact.changes
    ]
    np.testing.assert_allclose(
        [c[0] for c in changes], [c.t for c in exact.changes], rtol=0.0, atol=FIGURE
    )
    assert_sound(result)


def test_two_blocks_leave_together():
    """Both contacts let go in one instant, at mu0_lower (m1 + m2) g/(k speed)."""
    result = run("two_blocks", until=1.0)
    first = [r for r in result.events if r.t == result.events[0].t]
    assert {(r.element, r.kind) for r in first} == {
        ("ground_lower", "break_away"),
        ("lower_upper", "break_away"),
    }
    assert first[0].t == pytest.approx(0.5 * 3.0 * 9.81 / (100.0 * 0.2), abs=FIGURE)


def test_two_blocks_normal_forces():
    found = run("two_blocks").sample()
    # Places of 0.1 m are rounded by 1e-17 m, at 3e3 N/m; that may swing up a little.
    for name, weight in (("ground_lower", 29.43), ("lower_upper", 9.81)):
        np.testing.assert_allclose(
            found[f"{name}.normal_force"], weight, rtol=0.0, atol=1e-7
        )
    # The guide holds the lower block level to round-off.
    np.testing.assert_allclose(found["lower.theta"], 0.0, rtol=0.0, atol=1e-12)


# ---- compactor -------------------------------------------------------------------


def place(body, point):
    c, s = math.cos(body.angle), math.sin(body.angle)
    x, y = body.points[point]
    return body.position[0] + c * x - s * y, body.position[1] + s * x + c * y


def point_velocity(body, point):
    x, y = place(body, point)
    rx, ry = x - body.position[0], y - body.position[1]
    vx, vy = body.velocity
    return vx - body.angular_velocity * ry, vy + body.angular_velocity * rx


def rigid(model, name) -> RigidBody:
    body = model.element(name)
    assert isinstance(body, RigidBody)
    return body


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"eccentricity": 0.15, "rotor_speed": 25.0},
        {"K": 2e4, "n": 1.0, "c1x": 0.1},
        {"rotor_mass": 60.0, "ax": 0.12, "n": 2.2, "gravity": 1.6},
    ],
)
def test_compactor_equilibrium(given):
    """The corners carry the weight, and no moment is left, at rounding errors."""
    model = gallery.build("compactor", **given)
    box, rotor = rigid(model, "box"), rigid(model, "rotor")
    K, n, g = given.get("K", 3.1e6), given.get("n", 1.5), given.get("gravity", 9.81)
    total, moment = 0.0, 0.0
    for corner in ("left", "right"):
        x, y = place(box, corner)
        force = K * (-y) ** n
        total += force
        moment += force * x
    weight = (box.mass + rotor.mass) * g
    # Depths of 1e-3 m or more are differences of 0.1 m: 1e-13 of them is rounding.
    assert total == pytest.approx(weight, rel=1e-12)
    load = g * (box.mass * box.position[0] + rotor.mass * rotor.position[0])
    assert moment == pytest.approx(load, abs=1e-12 * weight)
    assert box.position[0] == 0.0
    assert place(rotor, "A") == pytest.approx(place(box, "A"), abs=1e-15)
    assert rotor.angle == box.angle
    assert (*box.velocity, box.angular_velocity) == (0.0, 0.0, 0.0)
    # Speeds of some m/s, rounded.
    assert point_velocity(rotor, "A") == pytest.approx((0.0, 0.0), abs=1e-14)


def test_compactor_rests_without_its_motor():
    result = run("compactor", until=0.2, rotor_speed=0.0)
    end = result.sample([0.0, 0.2])
    # A balance to 1e-13 of the weight moves the box by less than 1e-13 m.
    for name in ("box.x", "box.y", "box.theta"):
        assert end[name][1] == pytest.approx(end[name][0], abs=1e-12)
    assert not result.events


def test_compactor_starts():
    touching = gallery.build("compactor", start="touching")
    box = rigid(touching, "box")
    # Without rounding: the engine sees corners that touch.
    assert [place(box, name)[1] for name in ("left", "right")] == [0.0, 0.0]
    assert box.position == (0.0, 0.16)
    assert not touching.assemble
    rotor = rigid(touching, "rotor")
    assert rotor.velocity == pytest.approx((0.0, 420.0 * 0.018))
    spinning = gallery.build("compactor", start="spinning")
    assert spinning.assemble
    assert rigid(spinning, "rotor").velocity == (0.0, 0.0)
    assert rigid(spinning, "rotor").angular_velocity == 420.0
    assert rigid(spinning, "rotor").position == rotor.position


def test_compactor_spinning_is_made_consistent_by_an_impulse():
    """Impulse of the hinge and of the motor: momentum about everything is kept."""
    result = run("compactor", until=1e-3, start="spinning")
    found = result.sample(0.0)
    model = gallery.build("compactor", start="spinning")
    box, rotor = rigid(model, "box"), rigid(model, "rotor")

    def at_start(name):
        return float(found[name][0])

    momentum = [
        box.mass * at_start(f"box.{v}") + rotor.mass * at_start(f"rotor.{v}")
        for v in ("vx", "vy")
    ]
    # Sums of some kg m/s, rounded.
    assert momentum == pytest.approx([0.0, 0.0], abs=1e-12)
    spin = sum(
        body.inertia * at_start(f"{body.name}.omega")
        + body.mass
        * (
            body.position[0] * at_start(f"{body.name}.vy")
            - body.position[1] * at_start(f"{body.name}.vx")
        )
        for body in (box, rotor)
    )
    assert spin == pytest.approx(rotor.inertia * 420.0, rel=1e-12)
    # The motor turns the rotor as it should, the hinge holds.
    assert at_start("rotor.omega") - at_start("box.omega") == pytest.approx(420.0)
    for v in ("vx", "vy"):
        assert at_start(f"rotor.A.{v}") == pytest.approx(
            at_start(f"box.A.{v}"), abs=1e-12
        )


def test_compactor_drawn():
    model = gallery.build("compactor")
    box, rotor = rigid(model, "box"), rigid(model, "rotor")
    outline, disc = box.shapes["outline"], rotor.shapes["disc"]
    assert outline.corners()[:2] == (box.points["left"], box.points["right"])
    # Opposite corners are as far from O1.
    first, opposite = outline.corners()[0], outline.corners()[2]
    middle = [(a + b) / 2 for a, b in zip(first, opposite, strict=True)]
    assert middle == pytest.approx(box.points["O1"], abs=1e-16)
    inertia = 0.5 * rotor.mass * disc.radius_of_corners() ** 2
    assert inertia == pytest.approx(rotor.inertia)


# ---- free-standing body ----------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "platform", "relative", "height"),
    [
        ("1", (0.8 * math.pi, 0.0), 0.0, 4.58),
        ("2", (0.0, 0.99e-3 * 30 * math.pi), -1.0, 3.786),
        ("3", (math.pi, 0.9 * math.pi), 0.0, 4.58),
        ("bounce", (0.0, 0.0), 0.0, 0.6),
    ],
)
def test_free_standing_starts(case, platform, relative, height):
    model = gallery.build("free_standing", case=case)
    bodies = [rigid(model, name) for name in ("body", "left_leg", "right_leg")]
    for body in bodies:
        assert body.velocity == pytest.approx((platform[0], platform[1] + relative))
        assert body.angular_velocity == 0.0
    body, left, right = bodies
    # Sums of three lengths, rounded.
    assert body.position == pytest.approx((0.0, height), abs=1e-14)
    for leg, point in ((left, "A"), (right, "B")):
        assert place(leg, point) == pytest.approx(place(body, point), abs=1e-14)
        foot = place(leg, "foot")[1]
        # Without rounding: the engine sees feet that touch.
        assert foot == pytest.approx(0.4, abs=1e-15) if case == "bounce" else foot == 0
    assert place(left, "foot")[0] < place(right, "foot")[0]


def test_free_standing_parameters_override_the_case():
    model = gallery.build("free_standing", case=2, e=0, mu0="0.3", mu_ratio=0.5, J2=1)
    body = rigid(model, "body")
    assert body.points == {"A": (-7.208, -3.536), "B": (7.208, -3.536)}
    assert model.contacts[0].friction == Coulomb(mu=0.15, mu_static=0.3)
    assert rigid(model, "left_leg").inertia == 1.0
    assert model == gallery.build(
        "free_standing", case="2", e=0.0, mu0=0.3, mu_ratio=0.5, J2=1.0, b0=None
    )


def test_free_standing_bounce_inertias_follow_its_lengths():
    body = rigid(gallery.build("free_standing", case="bounce", b0=0.2), "body")
    assert body.inertia == pytest.approx(1.2 * (4 * 0.2**2 + 4 * 0.1**2) / 12)


@pytest.mark.slow
def test_free_standing_settled():
    free_standing._settled.cache_clear()
    model = gallery.build("free_standing", start="settled")
    other = gallery.build("free_standing", start="settled", X0=0.1, wx=1.0)
    # One run served both.
    assert free_standing._settled.cache_info().misses == 1
    for name in ("body", "left_leg", "right_leg"):
        body = rigid(model, name)
        assert body.velocity == (0.8 * math.pi, 0.0)
        assert replace(body, velocity=(0.1, 0.0)) == rigid(other, name)
    still = gallery.build("free_standing", start="settled", X0=0.0)
    result = simulate(still, until=1.0, rtol=RTOL)
    found = result.sample([0.0, 1.0])
    # What creeps after 20 s creeps with exp(-t/1 s): 1e-3 m exp(-20).
    assert np.ptp(found["body.x"]) < 1e-10
    total = found["left_foot.normal_force"] + found["right_foot.normal_force"]
    assert total == pytest.approx(520 * 9.81, rel=1e-8)


def test_free_standing_settled_needs_damping():
    with pytest.raises(ModelError, match=r"start = 'settled'; without damping"):
        gallery.build("free_standing", case="bounce", start="settled")


# ---- refusals --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "given", "message"),
    [
        ("belt", {"mu": 0.5}, "belt: mu = 0.5; must be <= mu0 = 0.4"),
        ("belt", {"mu0": -0.1}, "belt: mu0 = -0.1; must be >= 0"),
        ("belt", {"k": 0}, "belt: k = 0.0; must be > 0"),
        ("belt", {"gravity": -9.81}, "belt: gravity = -9.81; must be > 0"),
        ("incline", {"mu0": 0.2}, "incline: mu = 0.3; must be <= mu0 = 0.2"),
        ("incline", {"angle": 90}, "incline: angle = 90.0; must be between -90 and 90"),
        ("incline", {"m": -1}, "incline: m = -1.0; must be > 0"),
        ("two_blocks", {"mu_upper": 1}, "mu_upper = 1.0; must be <= mu0_upper = 0.15"),
        ("two_blocks", {"mu_lower": -1}, "mu_lower = -1.0; must be >= 0"),
        ("two_blocks", {"m2": 0}, "two_blocks: m2 = 0.0; must be > 0"),
        ("compactor", {"mu": 0.61}, "compactor: mu = 0.61; must be <= mu0 = 0.6"),
        ("compactor", {"c": -1}, "compactor: c = -1.0; must be >= 0"),
        ("compactor", {"n": 0.9}, "compactor: n = 0.9; must be >= 1"),
        ("compactor", {"rotor_mass": 0}, "rotor_mass = 0.0; must be > 0"),
        ("compactor", {"start": "spining"}, "start = 'spining'; did you mean 'spin"),
        ("compactor", {"rotor_sped": 1}, "no parameter 'rotor_sped'; did you mean"),
        ("compactor", {"c1x": -0.3}, "'equilibrium'; the box cannot rest on both corn"),
        ("free_standing", {"case": 4}, "case = 4; "),
        ("free_standing", {"case": "bunce"}, "case = 'bunce'; did you mean 'bounce'"),
        ("free_standing", {"mu_ratio": 1.1}, "mu_ratio = 1.1; must be <= 1"),
        ("free_standing", {"mu0": -1}, "free_standing: mu0 = -1.0; must be >= 0"),
        ("free_standing", {"K": "stiff"}, "K = 'stiff'; give a number"),
        ("free_standing", {"K": "None"}, "K = 'None'; give a number"),
        ("free_standing", {"l0": 0}, "l0 = 0.0; must be > 0"),
        ("free_standing", {"J1": 0}, "J1 = 0.0; must be > 0"),
        ("free_standing", {"th0": 2}, "th0 = 2.0; must be between"),
        ("free_standing", {"start": "seated"}, "start = 'seated'; did you mean"),
    ],
)
def test_refusals(system, given, message):
    with pytest.raises(ModelError, match=message):
        gallery.build(system, **given)


# ---- every one -------------------------------------------------------------------


@pytest.mark.parametrize("system", ["belt", "incline", "two_blocks", "compactor"])
def test_same_input_same_bits(system):
    until = min(0.5, gallery.duration(system))
    first, second = run(system, until=until), run(system, until=until)
    assert first.steps.y_end.tobytes() == second.steps.y_end.tobytes()
    assert list(first.events) == list(second.events)
