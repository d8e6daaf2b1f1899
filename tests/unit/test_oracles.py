"""The oracles against each other, against published figures and against balances.

ROUND covers the round-off of formulas with numbers of order one to a hundred;
FIGURE is half a unit in the twelfth decimal, in which the figures are given.
"""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar

from oracles import crank_rocker as cr
from oracles import n_four_bar as nfb
from oracles import oscillators as osc
from oracles import rod_chain as chain
from oracles import slider_crank as sc

DATA = Path(__file__).parent.parent / "data"
ROUND = 1e-12
FIGURE = 6e-13
# Differences over 1e-4 s, fourth order: truncation near 1e-13 of the fifth
# derivative (up to 1e6 here), round-off near 1e-12 of the value.
DIFFERENCE = 1e-6
# DOP853 at rtol 1e-13 over a few periods.
REFERENCE = 1e-11


def rate_of(f: Callable[[float], float], x: float, h: float = 1e-4) -> float:
    """Derivative by central differences of fourth order."""
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


def close(a, b, *, atol: float, rtol: float = 0.0) -> bool:
    """As in NumPy, but without the relative tolerance that is there by default."""
    return bool(np.allclose(a, b, rtol=rtol, atol=atol))


def cross(a: np.ndarray, b: np.ndarray) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def integrate(f: Callable[[float, np.ndarray], list[float]], start, t: float):
    run = solve_ivp(f, (0.0, t), start, method="DOP853", rtol=1e-13, atol=1e-14)
    return run.y[:, -1]


# -- N-four-bar -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "x", "y"),
    [(1, 0.077085471793, 0.997024488184), (2, 0.057815795768, 0.998327267863)],
)
def test_n_four_bar_reaches_the_published_figures(n: int, x: float, y: float):
    assert close(nfb.top(n, 2.0), (x, y), atol=FIGURE)


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_n_four_bar_motion_is_exact(n: int):
    for t in (0.0, 0.4, 0.72, 2.0, 5.0):
        theta, rate = nfb.motion(n, t)
        exact_theta, exact_rate = nfb.motion_mp(n, t)
        # The digits asked of the oracle; it reaches 1e-14.
        assert float(exact_theta - float(theta)) == pytest.approx(0, abs=1e-13)
        assert float(exact_rate - float(rate)) == pytest.approx(0, abs=1e-13)


def test_n_four_bar_is_a_pendulum_started_upright():
    k = nfb.stiffness(3)
    p = osc.Pendulum(mass=1.0, distance=1.0, inertia=nfb.GRAVITY / k)
    t = np.linspace(0, 6, 61)
    theta, rate = nfb.motion(3, t)
    same = osc.pendulum(p, t, angle=-np.pi, rate=1.0)
    # Two elliptic routes; a relative error of 1e-16 in k moves th by 1e-14 at 6 s.
    assert close(same.q + np.pi, theta, atol=ROUND)
    assert close(same.v, rate, atol=ROUND)
    assert osc.pendulum_period(p, angle=-np.pi, rate=1.0) == pytest.approx(
        nfb.period(3), abs=ROUND
    )


def test_n_four_bar_energy_and_passages():
    t = np.linspace(0, 4, 41)
    kinetic, potential = nfb.energy(5, *nfb.motion(5, t))
    assert np.ptp(kinetic + potential) < 500 * ROUND  # of a total of 85 J
    assert close(nfb.passage_time(5, nfb.motion(5, t)[0]), t, atol=ROUND)
    flat = nfb.flat_times(5, 4.0)
    assert flat.size == 4
    theta, rate = nfb.motion(5, flat)
    assert close(np.cos(theta), 0, atol=ROUND)
    assert close(rate**2, 1 + 2 * nfb.stiffness(5), atol=100 * ROUND)


@pytest.mark.parametrize("n", [1, 4])
def test_n_four_bar_reactions_balance(n: int):
    theta, rate = (float(x) for x in nfb.motion(n, 0.6))
    r = nfb.reactions(n, theta, rate)
    acc = float(nfb.acceleration(n, theta))
    s, c = np.sin(theta), np.cos(theta)
    a = np.array([c * acc - s * rate**2, -s * acc - c * rate**2])
    weight = np.array([0.0, nfb.GRAVITY])
    total = (n + 1) * (0.5 * a + weight) + n * (a + weight)
    assert close(r.pin.sum(axis=0), total, atol=100 * ROUND)
    # Each rocker by itself; the last one was not needed to find the forces.
    top = np.zeros((n + 1, 2))
    top[:n] -= r.left
    top[1:] -= r.right
    assert close(r.pin + top, 0.5 * a + weight, atol=100 * ROUND)
    up = np.array([s, c])
    for pin, push in zip(r.pin, top, strict=True):
        moment = cross(0.5 * up, push) - cross(0.5 * up, pin)
        assert moment == pytest.approx(-acc / 12.0, abs=100 * ROUND)


# -- chain of rods --------------------------------------------------------------


def test_rod_chain_reaches_the_published_figure():
    tip = chain.tip(chain.motion(2, 1.0).theta)[:, 0]
    assert close(tip, (-1.662115135816, -1.041466637193), atol=FIGURE)


def test_rod_chain_agrees_with_taylor_series():
    theta, rate = chain.motion_mp(2, 0.4, digits=18)
    m = chain.motion(2, 0.4)
    assert close(m.theta[:, 0], np.array(theta, dtype=float), atol=1e-13)
    assert close(m.rate[:, 0], np.array(rate, dtype=float), atol=1e-12)


def test_one_rod_is_a_pendulum():
    t = np.array([0.3, 1.0, 2.5])
    m = chain.motion(1, t)
    p = osc.rod_pendulum(1.0)
    exact = osc.pendulum(p, t, angle=0.5 * np.pi)
    assert close(m.theta[0], exact.q - 0.5 * np.pi, atol=REFERENCE)
    assert close(m.rate[0], exact.v, atol=REFERENCE)
    for j in range(t.size):
        force = chain.reactions(m.theta[:, j], m.rate[:, j], m.acceleration[:, j])
        same = osc.pendulum_reaction(p, exact.q[j], exact.v[j])
        assert close(force[0], same, atol=100 * REFERENCE)


@pytest.mark.parametrize("n", [2, 5, 12])
def test_rod_chain_satisfies_newton_and_euler(n: int):
    m = chain.motion(n, [0.0, 0.7], theta=np.linspace(0, 1, n), gravity=9.81)
    energies = []
    for j in range(2):
        theta, rate, acc = m.theta[:, j], m.rate[:, j], m.acceleration[:, j]
        force = chain.reactions(theta, rate, acc)
        residual = chain.moment_residuals(theta, acc, force)
        assert close(residual, 0, atol=1000 * ROUND)  # forces reach 300 N
        energies.append(sum(chain.energy(theta, rate)))
    assert energies[1] == pytest.approx(energies[0], abs=100 * REFERENCE)


# -- crank-rocker ---------------------------------------------------------------


@pytest.mark.parametrize("damping", [0, 8])
def test_crank_rocker_reaches_the_table(damping: int):
    p = cr.Parameters(damping=damping)
    names = ("theta1", "w1", "a1", "s", "vr", "lamN", "Ff", "M")
    with (DATA / f"crank_rocker_c{damping}.csv").open() as file:
        for row in csv.DictReader(file):
            text = row["theta2_deg"]
            side = {"-": -1, "+": 1}.get(text[-1], 0)
            angle = np.deg2rad(float(text.rstrip("+-")))
            mine = [*cr.kinematics(p, angle), *cr.forces(p, angle, side)]
            table = [float(row[name]) for name in names]
            # The table has all digits of doubles; forces reach 117 N.
            assert close(mine, table, atol=ROUND), text


def test_crank_rocker_reaches_the_figures_of_the_specification():
    p = cr.Parameters(damping=8.0)
    at_150 = cr.forces(p, np.deg2rad(150.0))
    figures = (-116.9716509871, 23.3943301974, 43.9854428991)
    assert close(at_150, figures, atol=6e-11)  # ten decimals given
    before, after = (cr.forces(p, np.pi, side) for side in (-1, 1))
    assert close([before.friction, after.friction], [9.6, -9.6], atol=ROUND)
    assert close([before.torque, after.torque], 24.0, atol=ROUND)
    for damping, figure in ((0.0, 13.404128655), (8.0, 38.796089155)):
        work = cr.work_per_turn(cr.Parameters(damping=damping))
        assert work.motor == pytest.approx(figure, abs=6e-10)  # nine decimals given
        assert work.motor == pytest.approx(work.friction + work.damper, abs=1e-11)


def test_crank_rocker_solvability_limits():
    p = cr.Parameters()
    low = minimize_scalar(
        lambda x: float(cr.critical_mu_torque(p, x)), bounds=(2, 3), method="bounded"
    )
    assert low.fun == pytest.approx(0.70857, abs=6e-6)  # figures as given: 5 and 2
    assert np.rad2deg(low.x) == pytest.approx(138.34, abs=6e-3)  # decimals

    def excess(degrees: float) -> float:
        return float(cr.critical_mu_rocker(p, np.deg2rad(degrees))) - 0.2

    assert brentq(excess, 100, 119) == pytest.approx(108.05, abs=6e-3)
    assert brentq(excess, 121, 140) == pytest.approx(130.67, abs=6e-3)


CASES = [
    cr.Parameters(damping=3.0, gravity=9.81),
    cr.Parameters(mu=0.0, gravity=9.81, speed=-2.0),
    cr.Parameters(length3=0.7, length4=0.9, mass3=1.5, mu=0.35, damping=1.0),
]


@pytest.mark.parametrize("p", CASES)
@pytest.mark.parametrize("crank_angle", [-2.5, -1.2, 0.3, 1.9])
def test_crank_rocker_satisfies_newton_and_euler_in_our_signs(
    p: cr.Parameters, crank_angle: float
):
    """Moments about the mass centres, which no formula of the oracle uses."""
    state = cr.ccw_state(p, crank_angle)
    r = cr.reactions(p, 0.5 * np.pi - crank_angle)
    rocker = np.array([np.cos(state.rocker_angle), np.sin(state.rocker_angle)])
    crank = np.array([np.cos(crank_angle), np.sin(crank_angle)])
    b = np.array([0.0, p.length4]) + p.length3 * crank
    assert cross(rocker, b) == pytest.approx(0, abs=ROUND)  # B is on the rocker
    central = p.inertia1 - p.mass1 * p.length1**2
    centre = p.length1 * rocker
    moment = cross(-centre, r.pin_rocker) + cross(b - centre, r.slot)
    moment -= p.damping * float(state.rocker_rate)
    assert central * state.rocker_acceleration == pytest.approx(moment, abs=100 * ROUND)
    moment = cross(-p.length2 * crank, r.pin_crank) + float(state.torque)
    moment += cross((p.length3 - p.length2) * crank, r.pin_slider)
    assert moment == pytest.approx(0, abs=100 * ROUND)
    # House signs: on the slider, lam_n along n and lam_t along e, n turned −90 deg.
    n = np.array([-rocker[1], rocker[0]])
    assert close(-r.slot, state.lam_n * n + state.lam_t * rocker, atol=ROUND)
    # Coulomb, and power.
    assert state.lam_t * state.v_t <= 0
    assert abs(state.lam_t) == pytest.approx(p.mu * abs(state.lam_n), abs=ROUND)
    power = state.torque * state.crank_rate + state.lam_t * state.v_t
    power -= p.damping * state.rocker_rate**2

    def stored(t: float) -> float:
        kinetic, potential = cr.energy(p, 0.5 * np.pi - crank_angle + p.speed * t)
        return float(kinetic + potential)

    assert rate_of(stored, 0.0) == pytest.approx(float(power), abs=DIFFERENCE)


@pytest.mark.parametrize("p", CASES)
def test_crank_rocker_motion_by_differences(p: cr.Parameters):
    for theta2 in (0.4, 1.7, 2.9, 4.1, 6.0):

        def at(t: float, theta2: float = theta2) -> cr.Motion:
            return cr.kinematics(p, theta2 + p.speed * t)

        now = at(0.0)
        assert rate_of(lambda t: float(at(t).theta1), 0) == pytest.approx(
            float(now.rate1), abs=DIFFERENCE
        )
        assert rate_of(lambda t: float(at(t).rate1), 0) == pytest.approx(
            float(now.acceleration1), abs=DIFFERENCE
        )
        assert rate_of(lambda t: float(at(t).s), 0) == pytest.approx(
            float(now.v_r), abs=DIFFERENCE
        )
    work = cr.work_per_turn(p)
    assert work.motor == pytest.approx(work.friction + work.damper, abs=1e-10)


# -- slider-crank ---------------------------------------------------------------

SLIDERS = [
    sc.Parameters(),
    sc.Parameters(offset=0.05, gravity=9.81, load=-40.0, centre3=(0.02, 0.03)),
    sc.Parameters(crank=0.2, rod=0.5, branch=-1, offset=-0.1, gravity=9.81, mass3=3.0),
    sc.Parameters(centre1=-0.03, inertia1=0.02, centre2=0.1, inertia2=0.03),
]
LAWS: list[Callable[[float], sc.Drive]] = [
    lambda t: sc.constant_speed(t, -12.0, 0.4),
    lambda t: sc.spin_up(t, 20.0, 0.3, -0.2),
]


@pytest.mark.parametrize("p", SLIDERS)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("mu", "t"), [(0.0, 0.1), (0.3, 0.33)])
def test_slider_crank_balances(p: sc.Parameters, law, mu: float, t: float):
    drive, m = law(t), sc.kinematics(p, law(t))
    assert rate_of(lambda x: law(x).angle, t) == pytest.approx(drive.rate, abs=1e-8)
    assert rate_of(lambda x: law(x).rate, t) == pytest.approx(
        drive.acceleration, abs=DIFFERENCE
    )
    for value, slope in (("angle2", m.rate2), ("rate2", m.acceleration2)):
        by_difference = rate_of(
            lambda x, v=value: getattr(sc.kinematics(p, law(x)), v), t
        )
        assert by_difference == pytest.approx(slope, abs=DIFFERENCE)
    for value, slope in (("x", m.v), ("v", m.a)):
        by_difference = rate_of(
            lambda x, v=value: getattr(sc.kinematics(p, law(x)), v), t
        )
        assert by_difference == pytest.approx(slope, abs=DIFFERENCE)
    f = sc.forces(p, drive, mu=mu)
    power = f.torque * drive.rate + (p.load + f.guide[0]) * m.v
    stored = rate_of(lambda x: sum(sc.energy(p, law(x))), t)
    assert stored == pytest.approx(power, abs=100 * DIFFERENCE)  # powers reach 1 kW
    # Moments about the mass centres of rod and crank, which the oracle does not use.
    d1, d2, j1, j2 = sc._centres(p)
    along1 = np.array([np.cos(drive.angle), np.sin(drive.angle)])
    along2 = np.array([np.cos(m.angle2), np.sin(m.angle2)])
    moment = cross(-d2 * along2, f.crank_rod)
    moment += cross((p.rod - d2) * along2, -f.rod_slider)
    assert moment == pytest.approx(j2 * m.acceleration2, abs=100 * ROUND)
    moment = cross(-d1 * along1, f.ground_crank) + f.torque
    moment += cross((p.crank - d1) * along1, -f.crank_rod)
    assert moment == pytest.approx(j1 * drive.acceleration, abs=100 * ROUND)
    # Slider: no turning about its mass centre, Coulomb in the guide.
    off = np.array(p.centre3)
    at_pin = f.rod_slider + f.guide + np.array([p.load, 0.0])
    assert cross(-off, at_pin) + f.guide_couple == pytest.approx(0, abs=100 * ROUND)
    assert f.guide[0] * m.v <= 0
    assert abs(f.guide[0]) == pytest.approx(mu * abs(f.guide[1]), abs=ROUND)


def test_slider_crank_without_mass_is_a_lever():
    p = sc.Parameters(mass1=0.0, mass2=0.0, mass3=0.0, load=-7.0)
    drive = sc.Drive(0.8, 2.0, 0.0)
    f, m = sc.forces(p, drive), sc.kinematics(p, drive)
    assert f.torque == pytest.approx(7.0 * m.v / drive.rate, abs=ROUND)
    assert f.guide[1] == pytest.approx(-7.0 * np.tan(m.angle2), abs=ROUND)


def test_slider_crank_solvability_limit():
    p = sc.Parameters(crank=0.2, rod=0.3, load=30.0)
    limit = sc.critical_mu(p)
    drives = [sc.constant_speed(t, 1.0) for t in np.linspace(0.01, 6.27, 400)]
    below = [len(sc.guide_normal_forces(p, d, 0.999 * limit)) for d in drives]
    above = [len(sc.guide_normal_forces(p, d, 1.05 * limit)) for d in drives]
    assert set(below) == {1}
    assert set(above) - {1}  # somewhere none or two


# -- oscillators ----------------------------------------------------------------


@pytest.mark.parametrize("damping", [0.0, 0.6, 3.999999, 4.0, 4.000001, 4.1, 9.0, 80.0])
def test_free_response_against_integration(damping: float):
    m, k, force = 2.0, 2.0, 1.5

    def slope(_, y):
        return [y[1], (force - damping * y[1] - k * y[0]) / m]

    end = integrate(slope, [0.3, -0.7], 2.5)
    exact = osc.free_response(
        2.5,
        mass=m,
        stiffness=k,
        damping=damping,
        position=0.3,
        velocity=-0.7,
        force=force,
    )
    assert close([exact.q, exact.v], end, atol=REFERENCE)


def test_base_excited_against_integration():
    m, c, k, y, w = 1.5, 0.4, 30.0, 0.02, 7.0

    def slope(t, s):
        spring = k * (s[0] - y * np.sin(w * t))
        damper = c * (s[1] - y * w * np.cos(w * t))
        return [s[1], -(spring + damper) / m]

    end = integrate(slope, [0.1, 0.2], 3.0)
    exact = osc.base_excited(
        3.0,
        mass=m,
        stiffness=k,
        damping=c,
        amplitude=y,
        frequency=w,
        position=0.1,
        velocity=0.2,
    )
    assert close([exact.q, exact.v], end, atol=REFERENCE)


def test_torsion_pendulum_energy_and_period():
    t = np.linspace(0, 5, 50)
    r = osc.torsion_pendulum(t, inertia=0.2, stiffness=7.0, angle=1.0)
    assert close(0.2 * r.v**2 + 7.0 * r.q**2, 7.0, atol=10 * ROUND)
    turn = 2 * np.pi * np.sqrt(0.2 / 7.0)
    assert osc.torsion_pendulum(
        turn, inertia=0.2, stiffness=7.0, angle=1.0
    ).q == pytest.approx(1.0, abs=ROUND)


def test_stiff_hinge_by_two_routes():
    h = osc.StiffHinge(slow=0.7)
    fast, slow = osc.eigenvalues(h.inertia, h.damping, h.stiffness)
    # c and k are rounded, which the fast eigenvalue hands on to the slow one.
    assert fast.real == pytest.approx(-1e6, rel=1e-14)
    assert slow.real == pytest.approx(-0.7, rel=1e-9)
    t = np.array([0.0, 1e-7, 1e-6, 1e-5, 1e-2, 1.0, 5.0])
    one = osc.stiff_hinge(h, t, angle=0.2, rate=300.0, torque=1e4)
    two = osc.torsion_pendulum(
        t,
        inertia=h.inertia,
        stiffness=h.stiffness,
        damping=h.damping,
        angle=0.2,
        rate=300.0,
        torque=1e4,
    )
    assert close(one.q, two.q, atol=1e-9)
    assert close(one.v, two.v, rtol=1e-9, atol=1e-9)
    assert one.q[0] == pytest.approx(0.2, abs=ROUND)
    assert one.v[0] == pytest.approx(300.0, rel=ROUND)
    one = osc.stiff_hinge_driven(h, t, amplitude=0.3, frequency=5.0, angle=0.1)
    two = osc.base_excited(
        t,
        mass=h.inertia,
        stiffness=h.stiffness,
        damping=h.damping,
        amplitude=0.3,
        frequency=5.0,
        position=0.1,
    )
    assert close(one.q, two.q, atol=1e-9)
    assert close(one.v, two.v, rtol=1e-9, atol=1e-8)


def test_stiff_hinge_in_gravity():
    h = osc.StiffHinge(slow=2.0)
    t = np.array([1e-6, 1e-3, 0.5, 2.0])
    # Radau at rtol 1e-12, a dissipative problem: errors do not pile up.
    plain = osc.stiff_hinge_gravity(h, t, gravity=0.0, angle=0.3, rate=100.0)
    exact = osc.stiff_hinge(h, t, angle=0.3, rate=100.0)
    assert close(plain.q, exact.q, atol=REFERENCE)
    assert close(plain.v, exact.v, rtol=1e-8, atol=REFERENCE)
    # At a slow time scale the weight sags the hinge by W/k, to first order.
    end = osc.stiff_hinge_gravity(h, 20.0)
    sag = -0.5 * 9.81 / h.stiffness
    assert end.q == pytest.approx(sag, rel=1e-9)


PENDULUMS = [(0.0, 0.5), (2.9, 0.0), (-1.0, -6.0), (0.4, 9.0), (-3.0, 0.3), (1.0, -7.0)]


@pytest.mark.parametrize(("angle", "rate"), PENDULUMS)
def test_pendulum_against_integration(angle: float, rate: float):
    p = osc.rod_pendulum(1.2, mass=0.8)

    def slope(_, y):
        return [y[1], -(p.frequency**2) * np.sin(y[0])]

    t = 2.3
    exact = osc.pendulum(p, t, angle=angle, rate=rate)
    end = integrate(slope, [angle, rate], t)
    assert close([exact.q, exact.v], end, atol=10 * REFERENCE)
    start = osc.pendulum(p, 0.0, angle=angle, rate=rate)
    assert close([start.q, start.v], [angle, rate], atol=ROUND)
    after = osc.pendulum(
        p, osc.pendulum_period(p, angle=angle, rate=rate), angle=angle, rate=rate
    )
    turns = round((float(after.q) - angle) / (2 * np.pi))
    assert after.q - 2 * np.pi * turns == pytest.approx(angle, abs=REFERENCE)
    assert after.v == pytest.approx(rate, abs=REFERENCE)


def test_pendulum_at_the_separatrix():
    p = osc.simple_pendulum(1.0)
    t = np.array([0.0, 0.7, 2.0])
    # 2 W is a double, so k² = 1 holds exactly; neighbours differ by 1e-9 here.
    exact = osc.pendulum(p, t, rate=2 * p.frequency)
    near = osc.pendulum(p, t, rate=2 * p.frequency * (1 - 1e-13))
    assert osc.pendulum_modulus(p, 0.0, 2 * p.frequency) == 1.0
    assert close(exact.q, near.q, atol=1e-9)
    assert close(exact.v, near.v, atol=1e-9)


def test_pendulum_hinge_force():
    p = osc.simple_pendulum(2.0, mass=3.0)
    still = osc.pendulum_reaction(p, 0.0, 0.0)
    assert close(still, (0, 3.0 * 9.81), atol=ROUND)
    # At the lowest point after release from the horizontal: three times the weight.
    w = np.sqrt(2.0) * p.frequency
    assert close(osc.pendulum_reaction(p, 0.0, w), (0, 9.0 * 9.81), atol=ROUND)


@pytest.mark.parametrize("drag", [0.0, 0.3])
def test_projectile_against_integration(drag: float):
    def slope(_, y):
        return [y[2], y[3], -drag * y[2], -9.81 - drag * y[3]]

    end = integrate(slope, [1.0, 2.0, 3.0, 4.0], 1.7)
    exact = osc.projectile(1.7, position=(1, 2), velocity=(3, 4), drag=drag)
    assert close(exact, end, atol=REFERENCE)


def test_rotating_slot_against_integration_and_power():
    w, g, f0, m = 2.0, 9.81, 0.4, 1.5

    def slope(t, y):
        return [y[1], w**2 * y[0] - g * np.sin(f0 + w * t)]

    def at(t: float) -> osc.SlotState:
        return osc.rotating_slot(t, mass=m, speed=w, r=0.6, v=-0.3, gravity=g, angle=f0)

    end = integrate(slope, [0.6, -0.3], 1.1)
    now = at(1.1)
    assert close([now.r, now.v], end, atol=REFERENCE)

    def energy(t: float) -> float:
        s = at(t)
        height = s.r * np.sin(f0 + w * t)
        return float(0.5 * m * (s.v**2 + (w * s.r) ** 2) + m * g * height)

    assert rate_of(energy, 1.1) == pytest.approx(float(now.torque) * w, abs=DIFFERENCE)
