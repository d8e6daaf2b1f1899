"""Friction in joints against closed forms and slow references.

Where a reference is integrated (scipy, rtol = 1e-12, events located) our runs have
rtol = 1e-11, and MOTION is what both leave over a few seconds of motions of order one;
forces follow the state with the mechanisms' gains of up to a hundred: FORCE.
ROUND is for forces known in closed form: round-off of numbers up to a hundred.
"""

from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import (
    ConstantRate,
    Coulomb,
    Couple,
    Ground,
    Model,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    Revolute,
    RigidBody,
    RotationDrive,
    SpringDamper,
    SwitchError,
    TranslationDrive,
    gallery,
    simulate,
    solvability,
)
from nonsmooth.elements.bodies import Body
from oracles import four_bar_friction as fb
from oracles import slider_crank as sc
from oracles import sliding_joint as sj

RTOL = 1e-11
MOTION = 1e-8
FORCE = 1e-6  # N
ROUND = 1e-9


def kinds(result, joint):
    return [(e.t, e.kind) for e in result.events.of(joint)]


# -- elliptic trammel ------------------------------------------------------------------


def trammel(p: sj.Trammel, phi, rate):
    """Return the gallery's trammel with the oracle's coefficients and force."""
    model = gallery.build(
        "trammel",
        length=p.length,
        mass=p.mass,
        gravity=p.gravity,
        angle=phi,
        angular_velocity=rate,
    )
    along_x, along_y = model.joints
    return replace(
        model,
        joints=(
            replace(along_x, friction=Coulomb(mu=p.mu_a)),
            replace(along_y, friction=Coulomb(mu=p.mu_b)),
        ),
        forces=(PointForce(name="push", b="rod", fx=p.force[0], fy=p.force[1]),),
    )


def test_trammel_oracle_by_two_routes():
    """Newton and Euler with phi'', and the two constraints without it."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        mu_a, mu_b, *force = rng.uniform(0.0, 1.5, 4) * (1, 1, 20, 20)
        p = sj.Trammel(mu_a=mu_a, mu_b=mu_b, force=(force[0] - 10, force[1]))
        phi, rate = rng.uniform(-3, 3, 2)
        one = sorted(tuple(x) for x in sj.solutions(sj.trammel_problem(p, phi, rate)))
        two = sorted(tuple(f[:2]) for f in sj.trammel_forces(p, phi, rate))
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=ROUND)


@pytest.mark.parametrize(
    ("p", "phi", "rate", "until"),
    [
        (sj.Trammel(mu_a=0.1, mu_b=0.15), 0.4, 4.0, 3.0),
        (sj.Trammel(mu_a=0.3, mu_b=0.3, length=2.0, mass=3.0), 1.2, -0.5, 1.5),
        (sj.Trammel(mu_a=0.05, mu_b=0.6, force=(3.0, 2.0)), 0.2, 9.0, 1.5),
    ],
    ids=["swings", "heavy", "spins"],
)
def test_trammel_motion(p, phi, rate, until, validate):
    arcs = sj.trammel_motion(p, phi, rate, until)
    end = arcs[-1].t[1]
    result = simulate(trammel(p, phi, rate), until=min(until, end), rtol=RTOL)
    t = np.linspace(0.0, end, 103)[1:-1]
    found = result.sample(t)
    y = sj.sample(arcs, t)
    turn = -found["rod.theta"]
    validate("trammel: angle", turn, y[0], MOTION, "rad", "slow reference")
    np.testing.assert_allclose(-found["rod.omega"], y[1], rtol=0, atol=MOTION)
    mode = np.array([next(a for a in arcs if a.t[1] > x).mode for x in t])
    forces = np.array(
        [
            sj.trammel_solve(p, a, w, (-p.mu_a * m[0] * m[2], -p.mu_b * m[1] * m[3]))
            for (a, w), m in zip(y.T.tolist(), mode, strict=True)
        ]
    )
    # The normal of the guide along y points to −x.
    for column, values in (
        ("guide_x.normal_force", forces[:, 0]),
        ("guide_y.normal_force", -forces[:, 1]),
        ("guide_x.friction_force", forces[:, 2]),
        ("guide_y.friction_force", forces[:, 3]),
        ("rod.alpha", -forces[:, 4]),
    ):
        np.testing.assert_allclose(
            found[column], values, rtol=0, atol=FORCE, err_msg=column
        )
    np.testing.assert_array_equal(found["guide_x.mode"], mode[:, 0])
    np.testing.assert_array_equal(found["guide_y.mode"], mode[:, 1])
    np.testing.assert_array_equal(found["guide_x.side"], mode[:, 2])
    np.testing.assert_array_equal(found["guide_y.side"], -mode[:, 3])
    for joint, places in (("guide_x", (0, 2)), ("guide_y", (1, 3))):
        expected = [
            when
            for when, before, after in sj.events(arcs)
            if any(before[i] != after[i] for i in places)
        ]
        when = sorted({round(t, 7) for t, _ in kinds(result, joint) if 0 < t < end})
        assert when == pytest.approx(expected, abs=2e-7)
    balance = result.energy_balance
    assert balance.residual <= 1e-10 * balance.exchanged
    lost = sj.trammel_energy(p, *y[:, -1]) - sj.trammel_energy(p, phi, rate)
    if p.force == (0.0, 0.0):
        work = [
            result.energies([t[-1]]).work[f"{name}.friction"][0]
            for name in ("guide_x", "guide_y")
        ]
        assert sum(work) == pytest.approx(lost, abs=MOTION)


@pytest.mark.parametrize(
    ("mu_a", "mu_b", "phi", "rate"),
    [
        (0.3, 0.35, 0.4, 4.0),
        (0.539, 0.918, -0.603, 5.24),
        (0.878, 0.612, -0.271, 2.0),
    ],
)
def test_trammel_comes_to_rest(mu_a, mu_b, phi, rate):
    """Both ends hold: four forces, three equations, so that any share may be found.

    It must balance the weight, and neither end may hold more than mu N.
    """
    p = sj.Trammel(mu_a=mu_a, mu_b=mu_b)
    arcs = sj.trammel_motion(p, phi, rate, 5.0)
    end = arcs[-1].t[1]
    assert end < 5.0
    result = simulate(trammel(p, phi, rate), until=end + 0.3, rtol=RTOL)
    found = result.sample(end + 0.2)
    at_rest = float(arcs[-1].y(end)[0])
    assert -found["rod.theta"][0] == pytest.approx(at_rest, abs=MOTION)
    assert found["rod.omega"][0] == pytest.approx(0.0, abs=1e-14)
    n_a, f_a = (found[f"guide_x.{x}_force"][0] for x in ("normal", "friction"))
    n_b, f_b = (found[f"guide_y.{x}_force"][0] for x in ("normal", "friction"))
    c, s = np.cos(at_rest), np.sin(at_rest)
    assert f_a - n_b == pytest.approx(0.0, abs=ROUND)
    assert n_a + f_b == pytest.approx(p.mass * p.gravity, abs=ROUND)
    # About the mass centre; N_b of the oracle is −n_b.
    moment = c * (n_a - f_b) + s * (f_a + n_b)
    assert moment == pytest.approx(0.0, abs=ROUND)
    assert abs(f_a) <= mu_a * abs(n_a) + ROUND
    assert abs(f_b) <= mu_b * abs(n_b) + ROUND


@pytest.mark.parametrize("degrees", [10.0, 35.0, 40.0, 45.0, 52.0, 80.0, 135.0, 200.0])
def test_trammel_critical_friction(degrees):
    """1 at 45 deg; √2 where sin 2 phi < √8/3."""
    phi = np.radians(degrees)
    model = gallery.build("trammel", mu=0.25, angle=phi, angular_velocity=1.0)
    found = solvability(model)
    limit = sj.trammel_critical_mu(phi)
    assert 0.25 * found.critical_factor == pytest.approx(limit, rel=1e-9)
    problem = sj.trammel_problem(sj.Trammel(mu_a=0.25, mu_b=0.25), phi, 1.0)
    assert found.margin == pytest.approx(np.min(sj.determinants(problem)), abs=ROUND)
    assert found.is_always_unique
    assert found.status == "unique"
    if degrees == 45.0:
        assert limit == pytest.approx(1.0, abs=1e-15)
        assert not solvability(
            gallery.build("trammel", mu=1.001, angle=phi, angular_velocity=1.0)
        ).is_always_unique


@pytest.mark.parametrize("force", [(-21.9, 29.1), (-25.3, 37.3), (6.9, 16.4)])
@pytest.mark.parametrize("rate", [1.0, -1.0])
def test_trammel_beyond_critical_friction(force, rate):
    """mu = 1.2 at 45 deg: one solution or three, all of them found."""
    p = sj.Trammel(mu_a=1.2, mu_b=1.2, force=force)
    expected = sj.trammel_forces(p, np.pi / 4, rate)
    model = trammel(p, np.pi / 4, rate)
    found = solvability(model)
    assert not found.is_always_unique
    assert found.status == ("unique" if len(expected) == 1 else "several")
    pairs = sorted(
        (s["guide_x"].normal_force, -s["guide_y"].normal_force) for s in found.solutions
    )
    twins = sorted((f.normal_a, f.normal_b) for f in expected)
    np.testing.assert_allclose(pairs, twins, rtol=0, atol=ROUND)
    if len(expected) == 3:
        with pytest.raises(SwitchError, match="guide_"):
            simulate(model, until=0.01)


def test_trammel_oracle_has_both_answers():
    counts = {
        len(sj.trammel_forces(sj.Trammel(mu_a=1.2, mu_b=1.2, force=f), np.pi / 4, w))
        for f in ((-21.9, 29.1), (6.9, 16.4))
        for w in (1.0, -1.0)
    }
    assert counts == {1, 3}


# -- slider-crank ----------------------------------------------------------------------


@pytest.mark.parametrize("mu", [0.3, 1.0])
@pytest.mark.parametrize("height", [0.0, 0.02, 0.15])
def test_slider_crank_forces(mu, height):
    """The pin is in the middle of the block: its load is |N| max(1, mu h/l)."""
    length = 0.1
    model = gallery.build(
        "slider_crank", mu=mu, slider_length=length, slider_height=height, offset=0.05
    )
    result = simulate(model, until=1.0, rtol=RTOL)
    p = sc.Parameters(offset=0.05, gravity=9.81)
    grip = mu * max(1.0, mu * height / length)
    t = np.linspace(0.0031, 0.9973, 150)
    found = result.sample(t)
    for k, time in enumerate(t):
        drive = sc.constant_speed(time, 10.0)
        f = sc.forces(p, drive, mu=grip)
        # Motion is known, as far as rtol and the projection go; forces up to 30 N.
        friction, normal = f.guide
        assert found["guide.normal_force"][k] == pytest.approx(normal, abs=ROUND)
        assert found["guide.friction_force"][k] == pytest.approx(friction, abs=ROUND)
        load = abs(normal) * grip / mu
        assert found["guide.load"][k] == pytest.approx(load, abs=ROUND)
        assert found["motor.torque"][k] == pytest.approx(f.torque, abs=ROUND)
        assert found["crank_pin.force_x"][k] == pytest.approx(f.crank_rod[0], abs=ROUND)
    assert result.energy_balance.residual <= 1e-10 * result.energy_balance.exchanged


@pytest.mark.parametrize(("crank", "rod"), [(0.1, 0.3), (0.2, 0.25)])
def test_slider_crank_critical_friction(crank, rod):
    """sqrt(l² − r²)/r where the crank is upright; more everywhere else."""
    limit = sc.critical_mu(sc.Parameters(crank=crank, rod=rod))
    found = [
        0.1
        * solvability(
            gallery.build(
                "slider_crank",
                crank_length=crank,
                rod_length=rod,
                mu=0.1,
                slider_height=0.0,
                angle=0.5 * np.pi + off,
            )
        ).critical_factor
        for off in (-0.3, 0.0, 0.3)
    ]
    assert found[1] == pytest.approx(limit, rel=1e-9)
    assert min(found[0], found[2]) > limit * 1.01


def test_tall_slider_locks_at_less_friction():
    """Friction mu max(1, mu h/l) of the load: critical at mu = sqrt(2.828 l/h)."""
    model = gallery.build(
        "slider_crank", mu=0.1, slider_length=0.1, slider_height=0.3, angle=0.5 * np.pi
    )
    limit = np.sqrt(sc.critical_mu(sc.Parameters()) / 3.0)
    assert 0.1 * solvability(model).critical_factor == pytest.approx(limit, rel=1e-9)


@pytest.mark.parametrize("angle", [0.4, 1.3, 2.2, 4.0])
@pytest.mark.parametrize("mu", [1.0, 3.0])
def test_slider_crank_all_solutions(angle, mu):
    model = gallery.build("slider_crank", mu=mu, slider_height=0.0, angle=angle)
    p = sc.Parameters(gravity=9.81)
    expected = sorted(sc.guide_normal_forces(p, sc.Drive(angle, 10.0), mu))
    found = solvability(model)
    forces = sorted(s["guide"].normal_force for s in found.solutions)
    assert forces == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("mu", "pin_mu", "height"), [(0.2, 0.3, 0.05), (0.0, 0.8, 0.05), (0.4, 0.3, 0.2)]
)
def test_slider_crank_with_friction_everywhere(mu, pin_mu, height):
    """Three cones and a block on one or two flanks, all in one problem."""
    shape = {"length": 0.04, "height": height}
    model = gallery.build(
        "slider_crank",
        mu=mu,
        pin_mu=pin_mu,
        pin_radius=0.02,
        slider_length=0.04,
        slider_height=height,
    )
    result = simulate(model, until=0.7, rtol=RTOL)
    p = sc.Parameters(gravity=9.81)
    t = np.linspace(0.0011, 0.6987, 80)
    found = result.sample(t)
    for k, time in enumerate(t):
        drive = sc.constant_speed(time, 10.0)
        f = fb.slider_crank_forces(p, drive, mu=mu, pin_mu=pin_mu, radius=0.02, **shape)
        # The motion is known; what is left is round-off of the cones.
        for i, pin in enumerate(("main_pin", "crank_pin", "slider_pin")):
            for axis in range(2):
                assert found[f"{pin}.force_{'xy'[axis]}"][k] == pytest.approx(
                    f.force[i, axis], abs=ROUND
                )
            assert found[f"{pin}.friction_torque"][k] == pytest.approx(
                f.torque[i], abs=ROUND
            )
        assert found["motor.torque"][k] == pytest.approx(f.motor, abs=ROUND)
        if mu:
            for name in ("front", "rear", "friction"):
                value = getattr(f, name)
                assert found[f"guide.{name}_force"][k] == pytest.approx(
                    value, abs=ROUND
                )
    balance = result.energy_balance
    assert balance.residual <= 1e-10 * balance.exchanged


# -- pins ----------------------------------------------------------------------------


def four_bar(p: fb.FourBar, theta, rate, *, driven=False, mu_static=None):
    """Return the oracle's four-bar as a model."""
    now = fb.pose(p, theta, rate)
    roots = [np.zeros(2), p.crank * fb._e(theta), np.array([p.ground, 0.0])]
    speeds = [np.zeros(2), p.crank * rate * fb._turned(fb._e(theta)), np.zeros(2)]
    bodies: list[Body] = [Ground(points={"C": (p.ground, 0.0)})]
    for i, (name, mass, length, ends) in enumerate(
        (
            ("crank", p.mass1, p.crank, "OA"),
            ("coupler", p.mass2, p.coupler, "AB"),
            ("rocker", p.mass3, p.rocker, "CB"),
        )
    ):
        e, half = fb._e(now.angle[i]), 0.5 * length
        velocity = speeds[i] + half * now.rate[i] * fb._turned(e)
        bodies.append(
            RigidBody(
                name=name,
                mass=mass,
                inertia=mass * length**2 / 12.0,
                position=tuple(roots[i] + half * e),
                angle=float(now.angle[i]),
                velocity=tuple(velocity),
                angular_velocity=float(now.rate[i]),
                points={ends[0]: (-half, 0.0), ends[1]: (half, 0.0)},
            )
        )
    ends = (
        ("O", "ground", "crank.O"),
        ("A", "crank.A", "coupler.A"),
        ("B", "rocker.B", "coupler.B"),
        ("C", "ground.C", "rocker.C"),
    )
    joints = tuple(
        Revolute(
            name=name,
            a=a,
            b=b,
            friction=Coulomb(mu=p.mu[i], mu_static=mu_static) if p.mu[i] else None,
            radius=p.radius[i],
        )
        for i, (name, a, b) in enumerate(ends)
    )
    law = ConstantRate(rate=rate, start=theta)
    return Model(
        gravity=(0.0, -p.gravity),
        bodies=tuple(bodies),
        joints=joints,
        drives=(RotationDrive(name="motor", b="crank", law=law),) if driven else (),
        forces=() if driven else (Couple(name="motor", b="crank", torque=p.torque),),
    )


def check_pins(p, found, theta, rate, modes, atol, driven=False):
    for k in range(len(theta)):
        f = fb.forces(p, theta[k], rate[k], modes[k], driven=driven)
        for i, pin in enumerate(fb.PINS):
            for axis in range(2):
                assert found[f"{pin}.force_{'xy'[axis]}"][k] == pytest.approx(
                    f.force[i, axis], abs=atol
                )
            torque = found[f"{pin}.friction_torque"][k]
            assert torque == pytest.approx(f.torque[i], abs=atol)
            size = float(np.hypot(*f.force[i]))
            assert found[f"{pin}.load"][k] == pytest.approx(size, abs=atol)
            assert found[f"{pin}.friction_force"][k] * p.radius[i] == pytest.approx(
                torque, abs=atol
            )
        if driven:
            assert found["motor.torque"][k] == pytest.approx(f.motor, abs=atol)


def test_four_bar_with_friction_in_all_pins(validate):
    p = fb.FourBar(torque=3.0)
    theta, rate, until = 0.6, 4.0, 1.2
    arcs = fb.motion(p, theta, rate, until)
    assert len(arcs) > 2
    result = simulate(four_bar(p, theta, rate), until=until, rtol=RTOL)
    t = np.linspace(0.007, until, 40)
    found = result.sample(t)
    y = sj.sample(arcs, t)
    what, turn = "four-bar with four rubbing pins: angle", found["crank.theta"]
    validate(what, turn, y[0], MOTION, "rad", "slow reference")
    np.testing.assert_allclose(found["crank.omega"], y[1], rtol=0, atol=10 * MOTION)
    modes = [np.array(next(a for a in arcs if a.t[1] >= x).mode) for x in t]
    # Loads reach 400 N.
    check_pins(p, found, y[0], y[1], modes, 10 * FORCE)
    for i, pin in enumerate(fb.PINS):
        expected = [when for when, old, new in sj.events(arcs) if old[i] != new[i]]
        assert [t for t, _ in kinds(result, pin) if t > 0.0] == pytest.approx(
            expected, abs=MOTION
        )
    work = sum(result.energy_balance.work[f"{pin}.friction"][-1] for pin in fb.PINS)
    assert work == pytest.approx(y[2, -1], abs=10 * MOTION)
    balance = result.energy_balance
    assert balance.residual <= 1e-10 * balance.exchanged


def test_four_bar_driven_with_friction_in_all_pins():
    p = fb.FourBar()
    rate = 3.0
    result = simulate(four_bar(p, 0.6, rate, driven=True), until=2.0, rtol=RTOL)
    t = np.linspace(0.003, 1.998, 60)
    theta = 0.6 + rate * t
    modes = [np.sign(fb.slip_rates(fb.pose(p, x, rate))) for x in theta]
    found = result.sample(t)
    # The motion is known: what remains is the solution of the cones, to round-off.
    check_pins(p, found, theta, np.full(60, rate), modes, ROUND, driven=True)


def test_one_frictional_pin_among_plain_ones():
    p = fb.FourBar(mu=(0.0, 0.0, 0.5, 0.0))
    arcs = fb.motion(p, 0.6, 6.0, 0.5)
    until = arcs[-1].t[1]  # where it comes to a stop
    result = simulate(four_bar(p, 0.6, 6.0), until=until, rtol=RTOL)
    t = np.linspace(0.0, until, 21)
    y = sj.sample(arcs, t)
    found = result.sample(t)
    np.testing.assert_allclose(found["crank.theta"], y[0], rtol=0, atol=MOTION)
    assert "O.load" not in result.columns


# -- pendulum on a frictional pin -----------------------------------------------------


def pendulum(p: fb.Pendulum, phi, rate=0.0, *, couple=None):
    place = p.arm * np.array([np.sin(phi), -np.cos(phi)])
    body = RigidBody(
        name="bob",
        mass=p.mass,
        inertia=p.inertia,
        position=tuple(place),
        angle=phi,
        velocity=(-place[1] * rate, place[0] * rate),
        angular_velocity=rate,
        points={"pin": (0.0, p.arm)},
    )
    pin = Revolute(
        name="pin",
        b="bob.pin",
        friction=Coulomb(mu=p.mu, mu_static=p.mu_static),
        radius=p.radius,
    )
    return Model(
        gravity=(0.0, -p.gravity),
        bodies=(body,),
        joints=(pin,),
        forces=()
        if couple is None
        else (Couple(name="twist", b="bob", torque=couple),),
    )


def test_pendulum_swings_until_its_pin_holds():
    """Sixteen swings; the last stop is at l |sin phi| <= mu' r."""
    p = fb.Pendulum()
    until = 14.5
    arcs = fb.pendulum_motion(p, 1.2, 0.0, until)
    assert arcs[-1].mode == 0.0
    result = simulate(pendulum(p, 1.2), until=until, rtol=RTOL)
    t = np.linspace(0.0, until, 146)
    found = result.sample(t)
    y = sj.sample(arcs, t)
    np.testing.assert_allclose(found["bob.theta"], y[0], rtol=0, atol=MOTION)
    np.testing.assert_allclose(found["bob.omega"], y[1], rtol=0, atol=MOTION)
    events = [(t, kind) for t, kind in kinds(result, "pin") if t > 0.0]
    expected = [when for when, _, _ in sj.events(arcs)]
    assert [t for t, _ in events] == pytest.approx(expected, abs=MOTION)
    assert [kind for _, kind in events] == ["reverse"] * (len(arcs) - 2) + ["stick"]
    # At rest the pin bears the weight and as much torque as gravity asks for.
    assert found["pin.load"][-1] == pytest.approx(p.mass * p.gravity, abs=ROUND)
    weight = p.mass * p.gravity * p.arm * np.sin(y[0, -1])
    assert found["pin.friction_torque"][-1] == pytest.approx(weight, abs=FORCE)
    assert found["bob.omega"][-1] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(("part", "moves"), [(0.999, False), (1.001, True)])
def test_pendulum_at_the_limit_of_rest(part, moves):
    p = fb.Pendulum()
    phi = float(np.arcsin(part * p.mu_static * p.radius / p.arm))
    result = simulate(pendulum(p, phi), until=0.5, rtol=RTOL)
    end = result.sample(0.5, ("bob.theta", "pin.mode", "pin.load"))
    assert (abs(end["bob.theta"][0] - phi) > 1e-6) == moves
    if not moves:
        assert end["pin.mode"][0] == 0.0
        assert end["bob.theta"][0] == pytest.approx(phi, abs=1e-15)


@pytest.mark.parametrize("rate", [2.0, -2.0])
def test_pendulum_breaks_away_under_a_growing_couple(rate):
    """At the time where |couple - m g l sin phi| = mu' r m g."""
    p = fb.Pendulum()
    phi, way = 0.02, float(np.sign(rate))
    weight = p.mass * p.gravity
    when = p.mu_static * p.radius * weight + way * weight * p.arm * np.sin(phi)
    when /= abs(rate)
    result = simulate(
        pendulum(p, phi, couple=ConstantRate(rate=rate)), until=when + 0.05, rtol=RTOL
    )
    first = result.events.of("pin")[0]
    assert (first.t, first.kind) == (pytest.approx(when, abs=1e-10), "break_away")
    assert first.friction_force is not None
    before, after = first.friction_force
    assert before == pytest.approx(-way * p.mu_static * weight, abs=FORCE)
    # It slips from rest with mu, under the load that belongs to its acceleration.
    acceleration, load = fb.pendulum_forces(p, phi, 0.0, way, rate * when)
    assert after == pytest.approx(-way * p.mu * load, abs=FORCE)
    found = result.sample(first.t, ("bob.alpha", "pin.load"))
    assert found["bob.alpha"][0] == pytest.approx(acceleration, abs=FORCE)
    assert found["pin.load"][0] == pytest.approx(load, abs=FORCE)


# -- stick and break-away in slots and guides ------------------------------------------

MASS, G, SLOPE = 2.0, 9.81, 0.3
MU, MU_STATIC = 0.25, 0.4
LAW = Coulomb(mu=MU, mu_static=MU_STATIC)
ALONG = np.array([np.cos(SLOPE), np.sin(SLOPE)])


def on_slope(kind, *, push=None, speed=0.0):
    """Return a block in an inclined slot or guide, pushed along it."""
    velocity = tuple(speed * ALONG)
    if kind == "slot":
        body = PointMass(name="block", mass=MASS, velocity=velocity)
        joint = PinInSlot(name="joint", b="block", axis=SLOPE, friction=LAW)
    else:
        body = RigidBody(
            name="block", mass=MASS, inertia=0.01, angle=SLOPE, velocity=velocity
        )
        joint = Prismatic(
            name="joint",
            b="block",
            axis=SLOPE,
            angle=SLOPE,
            friction=LAW,
            length=0.2,
            height=0.1,
        )
    forces = ()
    if push is not None:
        components = [ConstantRate(rate=push[0] * x, start=push[1] * x) for x in ALONG]
        forces = (
            PointForce(name="push", b="block", fx=components[0], fy=components[1]),
        )
    return Model(gravity=(0.0, -G), bodies=(body,), joints=(joint,), forces=forces)


NORMAL, PULL = MASS * G * np.cos(SLOPE), MASS * G * np.sin(SLOPE)


@pytest.mark.parametrize("kind", ["slot", "guide"])
@pytest.mark.parametrize("rate", [10.0, -3.0])
def test_break_away_under_a_growing_force(kind, rate):
    """rate t - m g sin = ± mu' N; from there on m a = rate t - m g sin ∓ mu N."""
    way = np.sign(rate)
    when = (MU_STATIC * NORMAL + way * PULL) / abs(rate)
    until = when + 0.5
    result = simulate(on_slope(kind, push=(rate, 0.0)), until=until, rtol=RTOL)
    (event,) = result.events.of("joint")
    assert event.kind == "break_away"
    assert event.t == pytest.approx(when, abs=1e-11)
    assert event.friction_force == pytest.approx(
        (-way * MU_STATIC * NORMAL, -way * MU * NORMAL), abs=ROUND
    )
    assert event.normal_force == pytest.approx((NORMAL, NORMAL), abs=ROUND)
    held = np.linspace(0.0, when - 1e-6, 11)
    found = result.sample(held)
    np.testing.assert_allclose(
        found["joint.friction_force"], PULL - rate * held, rtol=0, atol=ROUND
    )
    np.testing.assert_array_equal(found["joint.mode"], 0.0)
    np.testing.assert_allclose(found["block.x"], 0.0, rtol=0, atol=1e-14)
    # m s'' = way (mu' - mu) N + rate tau.
    tau = np.linspace(0.0, 0.5, 11)
    s = (0.5 * way * (MU_STATIC - MU) * NORMAL * tau**2 + rate * tau**3 / 6.0) / MASS
    found = result.sample(when + tau)
    np.testing.assert_allclose(
        np.cos(SLOPE) * found["block.x"] + np.sin(SLOPE) * found["block.y"],
        s,
        rtol=0,
        atol=1e-10,
    )
    np.testing.assert_allclose(found["joint.load"], NORMAL, rtol=0, atol=ROUND)


@pytest.mark.parametrize("kind", ["slot", "guide"])
@pytest.mark.parametrize(("hold", "speed"), [(0.0, 3.0), (-2.5, 2.0)])
def test_thrown_up_the_slope(kind, hold, speed):
    """It stops after v/a; it stays if |hold - m g sin| <= mu' N, else slides back."""
    result = simulate(
        on_slope(kind, push=(0.0, hold), speed=speed), until=1.5, rtol=RTOL
    )
    up = (PULL - hold + MU * NORMAL) / MASS
    stop = speed / up
    (event,) = result.events.of("joint")
    assert event.t == pytest.approx(stop, abs=1e-11)
    stays = abs(hold - PULL) <= MU_STATIC * NORMAL
    assert event.kind == ("stick" if stays else "reverse")
    assert stays == (hold == 0.0)
    back = 0.0 if stays else (PULL - hold - MU * NORMAL) / MASS
    place = 0.5 * speed * stop - 0.5 * back * (1.5 - stop) ** 2
    end = result.sample(1.5, ("block.x", "joint.friction_force"))
    assert end["block.x"][0] == pytest.approx(place * np.cos(SLOPE), abs=1e-10)
    friction = PULL - hold if stays else MU * NORMAL
    assert end["joint.friction_force"][0] == pytest.approx(friction, abs=ROUND)


def test_spring_pulls_in_jerks():
    """A slot dragged by a spring: stick and slip alternate as on a belt.

    Seen from the spring's far end, each slip lasts (2π − 2 atan(D w/v))/w and each rest
    2 D/v, with D = (mu' − mu) m g/k.
    """
    k, speed, m, until = 200.0, 0.1, 1.0, 4.0
    puller = RigidBody(
        name="puller",
        mass=1.0,
        inertia=1.0,
        position=(1.0, 0.0),
        velocity=(speed, 0.0),
    )
    pull = SpringDamper(
        name="spring", a="puller", b="block", stiffness=k, rest_length=1.0
    )
    law = ConstantRate(rate=speed, start=1.0)
    model = Model(
        gravity=(0.0, -G),
        bodies=(PointMass(name="block", mass=m), puller),
        joints=(
            PinInSlot(name="joint", b="block", friction=LAW),
            Prismatic(name="rail", b="puller"),
        ),
        drives=(TranslationDrive(name="winch", b="puller", law=law),),
        forces=(pull,),
    )
    result = simulate(model, until=until, rtol=RTOL)
    w, excess = np.sqrt(k / m), (MU_STATIC - MU) * m * G / k
    first = MU_STATIC * m * G / (k * speed)
    slip = (2.0 * np.pi - 2.0 * np.arctan(excess * w / speed)) / w
    rest = 2.0 * excess / speed
    expected = [first + (n // 2) * (slip + rest) + (n % 2) * slip for n in range(50)]
    expected = [t for t in expected if t < until]
    events = kinds(result, "joint")
    assert len(events) > 10
    assert [kind for _, kind in events] == [
        ("break_away", "stick")[n % 2] for n in range(len(expected))
    ]
    # Errors add up over the jerks.
    assert [t for t, _ in events] == pytest.approx(expected, abs=MOTION)


# -- the drawer ------------------------------------------------------------------------

LENGTH, HEIGHT = 0.4, 0.0


def drawer(arm, push, *, gravity=0.0, height=HEIGHT, law=LAW):
    """Return a block in a guide along x, pushed along it at `arm` above its middle."""
    return Model(
        gravity=(0.0, -gravity),
        bodies=(
            RigidBody(
                name="block", mass=MASS, inertia=0.03, points={"knob": (0.0, arm)}
            ),
        ),
        joints=(
            Prismatic(
                name="guide", b="block", friction=law, length=LENGTH, height=height
            ),
        ),
        forces=(PointForce(name="push", b="block.knob", fx=push),),
    )


@pytest.mark.parametrize("push", [1.0, 1000.0])
@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize(("part", "locks"), [(0.98, False), (1.02, True)])
def test_drawer_locks_beyond_a_critical_arm(push, way, part, locks):
    """Without weight the ends bear ± P e/l: it locks for e > l/(2 mu'), for any P."""
    arm = part * LENGTH / (2.0 * MU_STATIC)
    result = simulate(drawer(arm, way * push), until=0.1, rtol=RTOL)
    found = result.sample(0.05)
    couple = push * arm / LENGTH
    assert found["guide.load"][0] == pytest.approx(2.0 * couple, rel=1e-12)
    # The push above the middle presses the front end down: the lower flank pushes up.
    assert found["guide.front_force"][0] == pytest.approx(way * couple, rel=1e-12)
    assert found["guide.rear_force"][0] == pytest.approx(-way * couple, rel=1e-12)
    assert found["guide.side"][0] == 2.0 * way
    if locks:
        assert found["guide.mode"][0] == 0.0
        assert found["block.vx"][0] == 0.0
    else:
        a = way * (push - 2.0 * MU * couple) / MASS
        assert found["block.ax"][0] == pytest.approx(a, rel=1e-10)
        assert found["block.x"][0] == pytest.approx(0.5 * a * 0.05**2, rel=1e-8)


def test_drawer_with_weight_lies_flat_then_on_two_corners():
    """G = max(N, (2/l) |M + s mu (h/2) N|): flat while P e <= about N l/2.

    The push grows; it breaks away where P = mu' N, still flat, and the front end takes
    over the weight where 2 (P e + mu (h/2) N)/l = N; from there on friction grows.
    """
    arm, height, rate = 0.3, 0.1, 20.0
    weight = MASS * G
    law = Coulomb(mu=0.1, mu_static=0.2)
    result = simulate(
        drawer(arm, ConstantRate(rate=rate), gravity=G, height=height, law=law),
        until=1.2,
        rtol=RTOL,
    )
    start = 0.2 * weight / rate
    corner = (0.5 * weight * LENGTH - 0.1 * 0.5 * height * weight) / (arm * rate)
    assert start < corner < 1.2
    events = kinds(result, "guide")
    assert events == [
        (pytest.approx(start, abs=1e-10), "break_away"),
        (pytest.approx(corner, abs=1e-10), "change_side"),
    ]
    t = np.linspace(start + 1e-6, 1.2, 41)
    found = result.sample(t)
    lean = 2.0 / LENGTH * (rate * t * arm + 0.1 * 0.5 * height * weight)
    load = np.maximum(weight, lean)
    np.testing.assert_allclose(found["guide.load"], load, rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        found["guide.friction_force"], -0.1 * load, rtol=0, atol=1e-8
    )
    np.testing.assert_allclose(
        found["guide.front_force"], 0.5 * (weight + lean), rtol=0, atol=1e-8
    )
    np.testing.assert_array_equal(found["guide.side"], np.where(t < corner, 1.0, 2.0))
    np.testing.assert_allclose(
        found["block.ax"], (rate * t - 0.1 * load) / MASS, rtol=0, atol=1e-8
    )


def test_drawer_stands_still_with_part_of_its_friction():
    """At rest the ends share friction: G solves G = (2/l) (P e + (P/G) (h/2) N)."""
    arm, push, height = 0.5, 10.0, 0.2
    weight = MASS * G
    result = simulate(drawer(arm, push, gravity=G, height=height), until=0.1, rtol=RTOL)
    found = result.sample(0.05)
    b, c = 2.0 / LENGTH * push * arm, 2.0 / LENGTH * push * 0.5 * height * weight
    load = 0.5 * (b + np.sqrt(b * b + 4.0 * c))
    assert load > weight
    assert push < MU_STATIC * load
    assert found["guide.mode"][0] == 0.0
    assert found["guide.friction_force"][0] == pytest.approx(-push, abs=ROUND)
    assert found["guide.load"][0] == pytest.approx(load, abs=ROUND)
