"""The gallery's systems with friction in joints: parameters, starts, figures, files.

FIGURE is what closed forms and references are compared to: rtol = 1e-11 leaves less in
positions of order one and in the times of events. FORCE is in N and N m: where the
motion is known, forces are a linear solve and differ by round-off.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nonsmooth
from nonsmooth import gallery, simulate
from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.forces import Couple
from nonsmooth.elements.friction import (
    Coulomb,
    CoulombViscous,
    Dahl,
    Karnopp,
    LuGre,
    RegularisedCoulomb,
    Stribeck,
)
from nonsmooth.elements.joints import PinInSlot, Prismatic, Revolute
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.elements.normal import KelvinVoigt
from nonsmooth.errors import ModelError, SwitchError
from oracles import crank_rocker, guide, slider_crank, sliding_joint, stick_slip

RTOL = 1e-11
FIGURE = 1e-8  # m, s
FORCE = 1e-9  # N, N m
# The ledger is integrated with the motion; this part of the energy exchanged is asked
# of every run.
LEDGER = 1e-8
# Starts are closed forms: a few roundings of lengths and speeds of order one.
ROUND_OFF = 1e-13

VARIANTS = [
    ("crank_rocker", {}),
    ("crank_rocker", {"driven": "rocker", "mu0": 0.3}),
    ("crank_rocker", {"driven": "torque", "torque": 2.0, "angle": 1.0}),
    ("crank_rocker", {"mu": 0.0}),
    ("slider_crank", {"mu": 0.1, "mu0": 0.2, "slider_height": 0.0}),
    ("slider_crank", {"pin_mu": 0.1, "pin_radius": 0.02}),
    ("slider_crank", {"clearance": 1e-4, "mu": 0.1}),
    ("slider_crank", {"clearance": 0.0}),
    ("trammel", {"mu0": 0.2, "angular_velocity": 3.0}),
    ("slider_in_guide", {}),
    ("slider_in_guide", {"law": "karnopp", "dead_band": 1e-4}),
    ("slider_in_guide", {"viscous": 0.1, "spring_rest": 0.25}),
    ("slider_in_guide", {"clearance": 1e-4, "position": -0.3}),
    ("friction_laws", {}),
]


def run(system, until=None, **given):
    until = gallery.duration(system) if until is None else until
    result = simulate(gallery.build(system, **given), until=until, rtol=RTOL)
    # Every event was located: none passed in a crossed span.
    assert len(result.crossed) == 0
    return result


def element(model, name, kind):
    found = model.element(name)
    assert isinstance(found, kind)
    return found


def place(body, point):
    c, s = math.cos(body.angle), math.sin(body.angle)
    x, y = body.points[point]
    return body.position[0] + c * x - s * y, body.position[1] + s * x + c * y


def point_velocity(body, point):
    x, y = place(body, point)
    rx, ry = x - body.position[0], y - body.position[1]
    vx, vy = body.velocity
    return vx - body.angular_velocity * ry, vy + body.angular_velocity * rx


def residuals(model):
    from nonsmooth.kernels import entry
    from nonsmooth.pack import pack
    from nonsmooth.solve.start import initial_values

    system = pack(model)
    q, v = initial_values(system, None)
    g, rate = np.zeros(system.n_row), np.zeros(system.n_row)
    entry.constraints(system.tables, system.work(), 0.0, q, v, g, rate)
    return float(np.max(np.abs(g))), float(np.max(np.abs(rate)))


def assert_sound(result):
    balance = result.energy_balance
    assert balance.residual <= LEDGER * balance.exchanged


# ---- every one -------------------------------------------------------------------


@pytest.mark.parametrize(("system", "given"), VARIANTS)
def test_files_hold_every_variant(system, given, tmp_path):
    model = gallery.build(system, **given)
    for suffix in ("yaml", "json"):
        path = tmp_path / f"model.{suffix}"
        nonsmooth.save(model, path)
        assert nonsmooth.load(path) == model


@pytest.mark.parametrize(("system", "given"), VARIANTS)
def test_text_makes_the_same_model(system, given):
    text = {name: str(value) for name, value in given.items()}
    assert gallery.build(system, **text) == gallery.build(system, **given)


@pytest.mark.parametrize(("system", "given"), VARIANTS)
def test_starts_are_consistent(system, given):
    assert max(residuals(gallery.build(system, **given))) < ROUND_OFF


# ---- crank-rocker ----------------------------------------------------------------


def test_crank_rocker_friction():
    def law(**given):
        return element(gallery.build("crank_rocker", **given), "slider", PinInSlot)

    assert law().friction == Coulomb(mu=0.2)
    assert law(mu0=0.3).friction == Coulomb(mu=0.2, mu_static=0.3)
    assert law(mu=0.0).friction is None
    assert law(mu=0.0, mu0=0.0).friction is None
    assert law(mu=0.0, mu0=0.3).friction == Coulomb(mu=0.0, mu_static=0.3)


def test_crank_rocker_drives():
    crank = gallery.build("crank_rocker", angle=0.5)
    rocker = gallery.build("crank_rocker", angle=0.5, driven="rocker")
    torque = gallery.build("crank_rocker", angle=0.5, driven="torque", torque=2.5)
    start = 0.5 * math.pi - 0.5
    assert crank.drives[0].b == "crank"
    assert crank.drives[0].law == ConstantRate(rate=-3.0, start=start)
    # The same start, whatever is driven.
    assert crank.bodies == rocker.bodies == torque.bodies
    assert [m.drives[0].name for m in (crank, rocker)] == ["motor", "motor"]
    body = element(rocker, "rocker", RigidBody)
    assert rocker.drives[0].b == "rocker"
    law = ConstantRate(rate=body.angular_velocity, start=body.angle)
    assert rocker.drives[0].law == law
    # The paper's torque is clockwise.
    assert not torque.drives
    assert element(torque, "motor", Couple).torque == -2.5


@settings(max_examples=40, deadline=None)
@given(angle=st.floats(-10.0, 10.0), speed=st.floats(-5.0, 5.0))
def test_crank_rocker_starts_at_any_angle(angle, speed):
    """B is on the rocker and moves along it as the closed form says."""
    model = gallery.build("crank_rocker", angle=angle, speed=speed)
    crank, rocker = (element(model, name, RigidBody) for name in ("crank", "rocker"))
    p = crank_rocker.Parameters(speed=speed)
    exact = crank_rocker.kinematics(p, angle)
    along = math.cos(rocker.angle), math.sin(rocker.angle)
    b = place(crank, "B")
    velocity = np.subtract(
        point_velocity(crank, "B"),
        (-rocker.angular_velocity * b[1], rocker.angular_velocity * b[0]),
    )
    assert place(rocker, "O") == pytest.approx((0.0, 0.0), abs=ROUND_OFF)
    assert place(crank, "O1") == pytest.approx((0.0, 1.0), abs=ROUND_OFF)
    assert along[0] * b[1] - along[1] * b[0] == pytest.approx(0.0, abs=ROUND_OFF)
    assert np.dot(velocity, along) == pytest.approx(exact.v_r, abs=ROUND_OFF)
    assert rocker.angular_velocity == pytest.approx(-exact.rate1, abs=ROUND_OFF)


@pytest.mark.parametrize("damping", [0.0, 8.0])
def test_crank_rocker_forces(damping):
    result = run("crank_rocker", damping=damping)
    p = crank_rocker.Parameters(damping=damping)
    turn = gallery.duration("crank_rocker")
    # None of them at a reversal.
    t = (np.arange(36) + 0.5) / 36.0 * turn
    found = result.sample(t)
    exact = crank_rocker.forces(p, p.speed * t)
    for name, values in (
        ("slider.normal_force", exact.lam),
        ("slider.friction_force", exact.friction),
        ("slider.load", np.abs(exact.lam)),
        ("slider.side", np.sign(exact.lam)),
        ("slider.slip_velocity", crank_rocker.kinematics(p, p.speed * t).v_r),
        ("motor.torque", -exact.torque),
    ):
        np.testing.assert_allclose(found[name], values, rtol=0.0, atol=FORCE)
    assert_sound(result)


@pytest.mark.parametrize("limit", ["before", "after"])
def test_crank_rocker_jumps_at_half_a_turn(limit):
    result = run("crank_rocker", damping=8.0)
    (reverse,) = (r for r in result.events if r.kind == "reverse")
    # Half a turn: the slip velocity, 9 m/s^2 times t, is at its rounding there.
    assert reverse.t == pytest.approx(math.pi / 3.0, abs=1e-12)
    at = result.sample(reverse.t, limit=limit)
    exact = crank_rocker.forces(
        crank_rocker.Parameters(damping=8.0), math.pi, -1 if limit == "before" else 1
    )
    assert at["slider.friction_force"][0] == pytest.approx(exact.friction, abs=FORCE)
    assert abs(at["slider.friction_force"][0]) == pytest.approx(9.6, abs=FORCE)
    assert at["motor.torque"][0] == pytest.approx(-24.0, abs=FORCE)


def test_crank_rocker_under_a_torque():
    given = {"driven": "torque", "torque": 5.0, "angle": 0.7, "gravity": 9.81}
    result = run("crank_rocker", until=1.0, **given)
    p = crank_rocker.Parameters(gravity=9.81)
    arcs = sliding_joint.torque_driven_motion(p, 0.7, 3.0, 1.0, lambda t: 5.0)
    assert arcs[-1].t[1] == 1.0
    t = np.linspace(0.0, 1.0, 41)
    angle, rate = sliding_joint.sample(arcs, t)
    found = result.sample(t)
    # Rates of some rad/s, and accelerations ten times that.
    np.testing.assert_allclose(
        found["crank.theta"], 0.5 * math.pi - angle, rtol=0.0, atol=10 * FIGURE
    )
    np.testing.assert_allclose(found["crank.omega"], -rate, rtol=0, atol=10 * FIGURE)
    assert set(found["motor.torque"]) == {-5.0}
    assert_sound(result)


def test_crank_rocker_jams_if_the_rocker_drives():
    """Towards the dead centre, where mu |tan d| > 1: from 108.05 deg on."""
    with pytest.raises(SwitchError, match="slider") as caught:
        run("crank_rocker", driven="rocker")
    result = caught.value.result
    assert result is not None
    crank = 0.5 * math.pi - result.state().positions["crank"][2]
    # The limit in closed form: cot(d) = mu.
    p = crank_rocker.Parameters()
    assert crank_rocker.critical_mu_rocker(p, crank) == pytest.approx(0.2, abs=1e-6)
    # Half a unit of the decimals given.
    assert math.degrees(crank) == pytest.approx(108.05, abs=6e-3)


# ---- slider-crank ----------------------------------------------------------------


def test_slider_crank_is_without_friction_by_default():
    model = gallery.build("slider_crank")
    assert model.joints == (
        Revolute(name="main_pin", b="crank.O"),
        Revolute(name="crank_pin", a="crank.A", b="rod.A"),
        Revolute(name="slider_pin", a="rod.B", b="slider"),
        Prismatic(name="guide", a="ground.guide", b="slider"),
    )
    # A square half as wide as the crank is long, rounded.
    slider = element(model, "slider", RigidBody)
    assert slider.inertia == pytest.approx(0.05**2 / 6.0, rel=1e-15)


def test_slider_crank_options():
    model = gallery.build("slider_crank", mu=0.1, mu0=0.2, pin_mu=0.3, pin_radius=0.02)
    fit = element(model, "guide", Prismatic)
    assert fit.friction == Coulomb(mu=0.1, mu_static=0.2)
    assert (fit.length, fit.height) == (0.05, 0.05)
    assert (fit.clearance, fit.normal) == (None, None)
    for name in ("main_pin", "crank_pin", "slider_pin"):
        pin = element(model, name, Revolute)
        assert (pin.friction, pin.radius) == (Coulomb(mu=0.3), 0.02)
    loose = element(
        gallery.build(
            "slider_crank",
            clearance=1e-4,
            slider_length=0.08,
            slider_height=0.02,
            contact_stiffness=1e7,
            contact_damping=10.0,
        ),
        "guide",
        Prismatic,
    )
    assert (loose.length, loose.height, loose.clearance) == (0.08, 0.02, 1e-4)
    assert loose.friction is None
    assert loose.normal == KelvinVoigt(stiffness=1e7, damping=10.0)


@pytest.mark.parametrize("given", [{"mu": 0.3}, {"mu": 0.5, "slider_height": 0.0}])
def test_slider_crank_with_friction(given):
    """The block lies flat, so that its load is |N|: forces in closed form."""
    result = run("slider_crank", until=0.6, **given)
    p = slider_crank.Parameters(gravity=9.81)
    for t in np.linspace(0.013, 0.6, 30):
        drive = slider_crank.constant_speed(t, 10.0)
        (normal,) = slider_crank.guide_normal_forces(p, drive, given["mu"])
        at = result.sample(t)
        assert at["guide.normal_force"][0] == pytest.approx(normal, abs=FORCE)
        assert at["guide.load"][0] == pytest.approx(abs(normal), abs=FORCE)
        friction = -given["mu"] * abs(normal) * np.sign(at["slider.vx"][0])
        assert at["guide.friction_force"][0] == pytest.approx(friction, abs=FORCE)
        exact = slider_crank.forces(p, drive, mu=given["mu"])
        assert at["motor.torque"][0] == pytest.approx(exact.torque, abs=FORCE)
    assert_sound(result)


def test_slider_crank_pins_rub():
    """The motor's work beyond that of smooth pins is what the pins take."""
    smooth, rough = run("slider_crank"), run("slider_crank", pin_mu=0.2)
    work = rough.energy_balance.work
    taken = np.sum([work[f"{name}.friction"] for name in PINS], axis=0)
    np.testing.assert_array_less(taken[1:], 0.0)
    # The same motion: what was stored is the same.
    extra = work["motor"][-1] - smooth.energy_balance.work["motor"][-1]
    exchanged = rough.energy_balance.exchanged
    assert extra == pytest.approx(-taken[-1], abs=LEDGER * exchanged)
    found = rough.sample()
    for name in PINS:
        load = np.hypot(found[f"{name}.force_x"], found[f"{name}.force_y"])
        np.testing.assert_allclose(found[f"{name}.load"], load, rtol=0, atol=FORCE)
        torque = found[f"{name}.friction_torque"]
        slips = found[f"{name}.mode"] != 0.0
        # Exact cone: mu r |F|.
        np.testing.assert_allclose(
            np.abs(torque[slips]), 0.2 * 0.01 * load[slips], rtol=0, atol=FORCE
        )
    assert_sound(rough)


PINS = ("main_pin", "crank_pin", "slider_pin")
ENDS, FLANKS = ("front", "rear"), ("lower", "upper")


def test_slider_crank_rattles_in_a_clearance():
    result = run("slider_crank", until=0.4, clearance=1e-3, mu=0.1, speed=30.0)
    y = result.sample()["slider.y"]
    # Half a millimetre to either side, and the overlap of some 100 N at 1e6 N/m.
    assert 0.5e-3 < np.max(y) < 0.5e-3 + 5e-4
    assert 0.5e-3 < -np.min(y) < 0.5e-3 + 5e-4
    elements = {record.element for record in result.events}
    assert {f"guide.{end}_{flank}" for end in ENDS for flank in FLANKS} <= elements
    kinds = {record.kind for record in result.events}
    assert {"touch_down", "separate"} <= kinds
    assert_sound(result)


# ---- trammel ---------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    angle=st.floats(-10.0, 10.0), rate=st.floats(-5.0, 5.0), length=st.floats(0.1, 3.0)
)
def test_trammel_starts_at_any_angle(angle, rate, length):
    model = gallery.build("trammel", angle=angle, angular_velocity=rate, length=length)
    rod = element(model, "rod", RigidBody)
    c, s = length * math.cos(angle), length * math.sin(angle)
    assert place(rod, "A") == pytest.approx((c, 0.0), abs=ROUND_OFF)
    assert place(rod, "B") == pytest.approx((0.0, s), abs=ROUND_OFF)
    velocities = (-s * rate, 0.0, 0.0, c * rate)
    found = (*point_velocity(rod, "A"), *point_velocity(rod, "B"))
    # Speeds up to 15 m/s.
    assert found == pytest.approx(velocities, abs=10 * ROUND_OFF)


def test_trammel_forces_at_the_start():
    result = run("trammel", until=0.01, mu=0.3, angle=0.6, angular_velocity=2.0)
    p = sliding_joint.Trammel(mu_a=0.3, mu_b=0.3)
    (exact,) = sliding_joint.trammel_forces(p, 0.6, 2.0)
    at = result.sample(0.0)
    # The normal of guide_y, along +y, points to -x; its tangent is +y.
    for name, value in (
        ("guide_x.normal_force", exact.normal_a),
        ("guide_y.normal_force", -exact.normal_b),
        ("guide_x.friction_force", exact.friction_a),
        ("guide_y.friction_force", exact.friction_b),
        ("rod.alpha", -exact.acceleration),
    ):
        assert at[name][0] == pytest.approx(value, abs=FORCE)


def test_trammel_motion():
    result = run("trammel", until=1.0, angular_velocity=-1.0)
    p = sliding_joint.Trammel(mu_a=0.1, mu_b=0.1)
    arcs = sliding_joint.trammel_motion(p, 0.25 * math.pi, -1.0, 1.0)
    t = np.linspace(0.0, 1.0, 41)
    angle, _ = sliding_joint.sample(arcs, t)
    found = result.sample(t, "rod.theta")["rod.theta"]
    np.testing.assert_allclose(found, -angle, rtol=0.0, atol=FIGURE)
    assert_sound(result)


@pytest.mark.parametrize(("mu", "is_unique"), [(0.99, True), (1.01, False)])
def test_trammel_loses_uniqueness_from_mu_one_on(mu, is_unique):
    model = gallery.build("trammel", mu=mu, angular_velocity=1.0)
    found = nonsmooth.solvability(model)
    assert found.is_always_unique is is_unique
    # A closed form, and a root.
    assert found.critical_factor == pytest.approx(1.0 / mu, rel=1e-9)


# ---- slider in its guide ---------------------------------------------------------


def test_slider_in_guide_laws():
    def law(**given):
        model = gallery.build("slider_in_guide", **given)
        return element(model, "guide", Prismatic).friction

    assert law() == Coulomb(mu=0.03, mu_static=0.04)
    assert law(viscous=0.1) == CoulombViscous(mu=0.03, mu_static=0.04, viscous=0.1)
    assert law(law="karnopp") == Karnopp(mu=0.03, mu_static=0.04, dead_band=1e-3)
    assert law(law="karnopp", dead_band=0.1, viscous=2.0) == Karnopp(
        mu=0.03, mu_static=0.04, dead_band=0.1, viscous=2.0
    )


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"bar_length": 0.3},  # flat on its lower face
        {"stiffness": 1e5, "slider_length": 1.0},
        {"clearance": 0.0},
    ],
)
def test_slider_in_guide_is_balanced_in_its_clearance(given):
    model = gallery.build("slider_in_guide", **{"clearance": 1e-4, **given})
    slider, bar = (element(model, name, RigidBody) for name in ("slider", "bar"))
    joint = element(model, "guide", Prismatic)
    assert joint.length is not None
    assert joint.clearance is not None
    stiffness = given.get("stiffness", 1e6)
    flank = 0.5 * (joint.height + joint.clearance)
    total, moment = 0.0, 0.0
    c, s = math.cos(slider.angle), math.sin(slider.angle)
    for x in (-0.5 * joint.length, 0.5 * joint.length):
        for y in (-0.5 * joint.height, 0.5 * joint.height):
            height = slider.position[1] + s * x + c * y
            overlap = abs(height) - flank
            force = -math.copysign(stiffness * max(0.0, overlap), height)
            total += force
            moment += force * (c * x - s * y)
    # Depths of 1e-5 m are differences of 0.25 m; arms change by less than 1e-3.
    weight = (slider.mass + bar.mass) * 9.81
    assert total == pytest.approx(weight, rel=1e-9)
    torque = bar.mass * 9.81 * (bar.position[0] - slider.position[0])
    assert moment == pytest.approx(torque, rel=1e-3)
    assert place(bar, "pin") == pytest.approx(slider.position, abs=1e-15)


def test_slider_in_guide_events():
    """From rest: break-away, then reversals and sticks as the reference has them."""
    result = run("slider_in_guide", until=9.0)
    arcs = guide.motion(guide.Guide(), 9.0)
    expected = [(one.t[1], one.mode, two.mode) for one, two in itertools.pairwise(arcs)]
    kinds = {0: "stick", 1: "slip+", -1: "slip-"}
    found = [r for r in result.events.of("guide") if r.kind != "change_side"]
    assert [(r.before, r.after) for r in found] == [
        (kinds[before], kinds[after]) for _, before, after in expected
    ]
    np.testing.assert_allclose(
        [r.t for r in found], [t for t, _, _ in expected], rtol=0.0, atol=FIGURE
    )
    # Half a unit of the last decimal given.
    assert found[0].t == pytest.approx(0.304720, abs=6e-7)
    assert_sound(result)


def test_slider_in_guide_forces():
    p = guide.Guide()
    result = run("slider_in_guide", until=8.0)
    t = np.linspace(0.01, 7.99, 57)
    exact = guide.series(p, guide.motion(p, 8.0), t)
    found = result.sample(t)
    np.testing.assert_allclose(found["slider.x"], exact.x, rtol=0.0, atol=FIGURE)
    slips = exact.mode != 0
    # At rest the forces of the ends depend on where friction is taken from.
    for name, field in (
        ("motor.torque", "torque"),
        ("guide.normal_force", "normal"),
        ("guide.load", "total"),
        ("guide.friction_force", "friction"),
        ("guide.front_force", "front"),
        ("guide.rear_force", "rear"),
    ):
        values = np.array([getattr(f, field) for f in exact.forces])
        # Forces follow from positions by stiffnesses of some N/m.
        np.testing.assert_allclose(
            found[name][slips], values[slips], rtol=0.0, atol=10 * FIGURE, err_msg=name
        )


def test_slider_in_guide_begins_with_its_periodic_motion():
    result = run("slider_in_guide", until=16.0, position=-0.2955064022)
    t = np.linspace(0.0, 8.0, 81)
    first = result.sample(t, "slider.x")["slider.x"]
    second = result.sample(t + 8.0, "slider.x")["slider.x"]
    # The place is given to 5e-11 m.
    np.testing.assert_allclose(second, first, rtol=0.0, atol=FIGURE)


def test_slider_in_guide_is_shifted_by_its_spring():
    shifted = run("slider_in_guide", until=4.0, spring_rest=0.25, position=0.25)
    plain = run("slider_in_guide", until=4.0)
    t = np.linspace(0.0, 4.0, 41)
    np.testing.assert_allclose(
        shifted.sample(t, "slider.x")["slider.x"] - 0.25,
        plain.sample(t, "slider.x")["slider.x"],
        rtol=0.0,
        atol=FIGURE,
    )


def test_slider_in_guide_with_a_clearance_tends_to_its_limit():
    """As the clearance does, since the tilt does, with the same friction at rest.

    More at rest lets one corner go before the other: then there is another limit.
    """
    t = np.linspace(0.0, 2.0, 41)
    limit = run("slider_in_guide", until=2.0, mu0=0.03).sample(t)["slider.x"]
    errors: list[float] = []
    for clearance in (1e-3, 1e-4):
        loose = run("slider_in_guide", until=2.0, mu0=0.03, clearance=clearance)
        errors.append(np.max(np.abs(loose.sample(t)["slider.x"] - limit)))
        assert_sound(loose)
    assert errors[0] < 1e-3
    # The overlap of the corners, 1e-4 m, is a part of it, and does not change.
    assert 5.0 < errors[0] / errors[1] < 20.0


# ---- laws of friction ------------------------------------------------------------

LAWS = {
    "coulomb": Coulomb,
    "viscous": CoulombViscous,
    "stribeck": Stribeck,
    "karnopp": Karnopp,
    "regularised": RegularisedCoulomb,
    "dahl": Dahl,
    "lugre": LuGre,
}


def test_friction_laws_are_all_there():
    model = gallery.build("friction_laws")
    soles = {joint.name: joint for joint in model.joints}
    assert len(soles) == len(LAWS)
    for name, kind in LAWS.items():
        joint = element(model, f"sole_{name}", PinInSlot)
        assert isinstance(joint.friction, kind)
        assert joint.b == name
    # Laws of the library, none forgotten.
    assert set(Coulomb.kinds) >= {kind.__name__ for kind in LAWS.values()}


def test_friction_laws_coulomb_is_the_belt():
    result = run("friction_laws")
    found = result.events.of("sole_coulomb")
    n = len(found)
    assert n >= 8
    assert [r.kind for r in found] == (["break_away", "stick"] * n)[:n]
    np.testing.assert_allclose(
        found.t, stick_slip.Belt().events(n), rtol=0.0, atol=FIGURE
    )
    assert_sound(result)


def test_friction_laws_do_what_they_are_said_to_do():
    result = run("friction_laws")
    kinds = {name: [r.kind for r in result.events.of(f"sole_{name}")] for name in LAWS}
    # The film takes what is needed to stick again: 2 N s/m is a tenth of critical, and
    # exp(-0.1 * 4) of 0.14 m/s is less than the belt's 0.1 m/s.
    assert kinds["viscous"] == ["break_away"]
    for name in ("coulomb", "stribeck", "karnopp"):
        assert kinds[name].count("break_away") >= 5, name
    for name in ("regularised", "dahl", "lugre"):
        assert "break_away" not in kinds[name]
    away = result.events.of("sole_coulomb").t[0]
    creep = {
        name: float(
            result.sample(away - 0.01, f"sole_{name}.slip_velocity")[
                f"sole_{name}.slip_velocity"
            ][0]
        )
        for name in LAWS
    }
    # Truly at rest, to round-off.
    assert max(abs(creep[name]) for name in ("coulomb", "stribeck")) < 1e-12
    for name in ("regularised", "dahl", "lugre"):
        assert creep[name] < -1e-4, name
    loads = result.sample(names=[f"sole_{name}.load" for name in LAWS])
    for name in LAWS:
        # The weight, whatever the friction: round-off.
        np.testing.assert_allclose(loads[f"sole_{name}.load"], 9.81, rtol=1e-12)


# ---- refusals --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "given", "message"),
    [
        ("crank_rocker", {"mu": -0.1}, "crank_rocker: mu = -0.1; must be >= 0"),
        ("crank_rocker", {"mu0": 0.1}, "crank_rocker: mu = 0.2; must be <= mu0 = 0.1"),
        ("crank_rocker", {"mu0": -1}, "crank_rocker: mu0 = -1.0; must be >= 0"),
        ("crank_rocker", {"driven": "crnk"}, "driven = 'crnk'; did you mean 'crank'"),
        ("crank_rocker", {"torque": 2}, "torque = 2.0; must be 0 with driven = 'crank"),
        (
            "crank_rocker",
            {"driven": "rocker", "angle": 2 * math.pi / 3},
            "angle = 2.09.*; must not be a dead centre",
        ),
        ("slider_crank", {"mu": -1}, "slider_crank: mu = -1.0; must be >= 0"),
        ("slider_crank", {"pin_mu": -1}, "slider_crank: pin_mu = -1.0; must be >= 0"),
        ("slider_crank", {"pin_radius": 0}, "pin_radius = 0.0; must be > 0"),
        ("slider_crank", {"slider_length": 0}, "slider_length = 0.0; must be > 0"),
        ("slider_crank", {"slider_height": -1}, "slider_height = -1.0; must be >= 0"),
        ("slider_crank", {"clearance": -1e-3}, "clearance = -0.001; must be >= 0"),
        ("slider_crank", {"contact_stiffness": 0}, "contact_stiffness = 0.0; must be"),
        ("slider_crank", {"contact_damping": -1}, "contact_damping = -1.0; must be >="),
        ("trammel", {"length": 0}, "trammel: length = 0.0; must be > 0"),
        ("trammel", {"mass": -1}, "trammel: mass = -1.0; must be > 0"),
        ("trammel", {"mu0": 0.05}, "trammel: mu = 0.1; must be <= mu0 = 0.05"),
        ("slider_in_guide", {"mu": 0.05}, "mu = 0.05; must be <= mu0 = 0.04"),
        ("slider_in_guide", {"mu0": -1}, "slider_in_guide: mu0 = -1.0; must be >= 0"),
        ("slider_in_guide", {"law": "lugre"}, "law = 'lugre'; "),
        ("slider_in_guide", {"dead_band": 1}, "dead_band = 1.0; must be left out"),
        (
            "slider_in_guide",
            {"law": "karnopp", "dead_band": 0},
            "dead_band = 0.0; must be > 0",
        ),
        ("slider_in_guide", {"clearance": -1}, "clearance = -1.0; must be >= 0"),
        ("slider_in_guide", {"clearance": 0.5}, "clearance = 0.5; must be < 0.28"),
        ("slider_in_guide", {"slider_length": 0}, "slider_length = 0.0; must be > 0"),
        ("slider_in_guide", {"viscous": -1}, "viscous = -1.0; must be >= 0"),
        ("friction_laws", {"width": 0}, "friction_laws: width = 0.0; must be > 0"),
        ("friction_laws", {"mu": 0}, "friction_laws: mu = 0.0; must be > 0"),
        ("friction_laws", {"mu": 0.5}, "mu = 0.5; must be <= mu0 = 0.4"),
        ("friction_laws", {"bristle_damping": -1}, "bristle_damping = -1.0; must be >"),
    ],
)
def test_refusals(system, given, message):
    with pytest.raises(ModelError, match=message):
        gallery.build(system, **given)


@pytest.mark.parametrize("system", ["trammel", "slider_in_guide", "friction_laws"])
def test_same_input_same_bits(system):
    first, second = run(system, until=1.0), run(system, until=1.0)
    assert first.steps.y_end.tobytes() == second.steps.y_end.tobytes()
    assert list(first.events) == list(second.events)
