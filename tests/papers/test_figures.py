"""Published figures of the gallery's classics.

The figures have 12 decimals; 1e-9 m is asked for. The runs use rtol = 1e-11, at
which the errors at the end are below 1e-11 m (largest measured: 4e-12 m), so that
1e-9 leaves a margin of a hundred and still notices a lost digit.
"""

import math

import numpy as np
import pytest

from nonsmooth import gallery, simulate
from oracles import n_four_bar, rod_chain, slider_crank

RTOL = 1e-11
FIGURE = 1e-9  # m
TWELVE = "slow reference, twelve decimals"


@pytest.mark.parametrize(
    ("n", "top"),
    [
        (1, (0.077085471793, 0.997024488184)),
        (2, (0.057815795768, 0.998327267863)),
    ],
)
def test_n_four_bar(n, top, validate):
    """The run passes the singular flat pose twice."""
    result = simulate(gallery.build("n_four_bar", n=n), until=2.0, rtol=RTOL)
    end = result.sample(2.0, ["rocker0.top.x", "rocker0.top.y"])
    found = [end[f"rocker0.top.{axis}"][0] for axis in "xy"]
    validate("N four-bars through flat poses", found, top, FIGURE, "m", TWELVE)


@pytest.mark.parametrize("n", [1, 2])
def test_n_four_bar_energy_is_constant(n):
    balance = simulate(
        gallery.build("n_four_bar", n=n), until=2.0, rtol=RTOL
    ).energy_balance
    energy = balance.kinetic + balance.potential
    # Nothing does work; rtol = 1e-11 leaves 4e-12 of the energy or less.
    assert np.ptp(energy) <= 1e-10 * abs(energy[0])


@pytest.mark.parametrize("speed", [1.0, -2.0])
def test_n_four_bar_follows_its_closed_form(speed, validate):
    result = simulate(gallery.build("n_four_bar", speed=speed), until=1.5, rtol=RTOL)
    t = np.linspace(0.0, 1.5, 31)
    theta, rate = n_four_bar.motion(1, t, rate=abs(speed))
    sense = math.copysign(1.0, speed)
    found = result.sample(t, ["rocker1.theta", "rocker1.omega"])
    # Angles, of order one, are as good as the figures; rates are up to 10 rad/s.
    wanted = 0.5 * math.pi - sense * theta
    turn = found["rocker1.theta"]
    validate("four-bar: angle", turn, wanted, FIGURE, "rad", "closed form")
    np.testing.assert_allclose(
        found["rocker1.omega"], -sense * rate, rtol=0, atol=10 * FIGURE
    )


def test_chain_tip(validate):
    result = simulate(gallery.build("pendulum_chain"), until=1.0, rtol=RTOL)
    tip = result.sample(1.0, ["rod2.tip.x", "rod2.tip.y"])
    found, wanted = tip.to_numpy()[0, 1:], [-1.662115135816, -1.041466637193]
    validate("chain of rods: tip", found, wanted, FIGURE, "m", TWELVE)


def test_chain_with_other_parameters():
    given = {"n": 3, "length": 0.7, "mass": 2.0, "gravity": 3.0, "angle": -0.4}
    result = simulate(gallery.build("pendulum_chain", **given), until=1.0, rtol=RTOL)
    exact = rod_chain.motion(3, 1.0, theta=-0.4, gravity=3.0, mass=2.0, length=0.7)
    found = result.sample(1.0)
    force = rod_chain.reactions(
        exact.theta[:, 0],
        exact.rate[:, 0],
        exact.acceleration[:, 0],
        gravity=3.0,
        mass=2.0,
        length=0.7,
    )
    for k in range(3):
        # The figures' accuracy again; forces are tens of N, hence ten times as much.
        theta = found[f"rod{k + 1}.theta"][0]
        assert theta == pytest.approx(exact.theta[k, 0], abs=FIGURE)
        for i, axis in enumerate("xy"):
            reaction = found[f"hinge{k + 1}.force_{axis}"][0]
            assert reaction == pytest.approx(force[k, i], abs=10 * FIGURE)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"gravity": 0.0, "angle": 2.0},
        {"speed": -7.0, "angle": -1.0, "offset": 0.05},
        {"crank_mass": 3.0, "rod_mass": 0.5, "slider_mass": 2.0, "rod_length": 0.2},
    ],
)
def test_slider_crank_reactions(given, validate):
    model = gallery.build("slider_crank", **given)
    result = simulate(model, until=2.0, rtol=RTOL)
    values = {p.name: p.default for p in gallery.parameters("slider_crank")} | given
    oracle = slider_crank.Parameters(
        crank=values["crank_length"],
        rod=values["rod_length"],
        offset=values["offset"],
        mass1=values["crank_mass"],
        mass2=values["rod_mass"],
        mass3=values["slider_mass"],
        gravity=values["gravity"],
    )
    t = np.linspace(0.0, 2.0, 81)
    found = result.sample(t)
    exact = [
        slider_crank.forces(
            oracle, slider_crank.constant_speed(x, values["speed"], values["angle"])
        )
        for x in t
    ]

    # The motion is prescribed, so states and forces are exact to round-off: 1e-9 of
    # forces of some tens of N is far above it and far below any error of modelling.
    def agree(name, wanted):
        what, against = "slider-crank: forces of joints and motor", "closed form"
        validate(what, found[name], wanted, 1e-9, "N, N m", against)

    for joint, name in (
        ("main_pin", "ground_crank"),
        ("crank_pin", "crank_rod"),
        ("slider_pin", "rod_slider"),
        ("guide", "guide"),
    ):
        force = np.array([getattr(f, name) for f in exact])
        agree(f"{joint}.force_x", force[:, 0])
        agree(f"{joint}.force_y", force[:, 1])
    agree("guide.torque", [f.guide_couple for f in exact])
    agree("motor.torque", [f.torque for f in exact])
