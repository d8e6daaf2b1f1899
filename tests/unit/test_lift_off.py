"""What sticks while its load goes to zero breaks away before it lifts off."""

import numpy as np
import pytest

from nonsmooth import (
    ConstantRate,
    Contact,
    Coulomb,
    KelvinVoigt,
    Model,
    PointForce,
    PointMass,
    simulate,
)
from tests.oracles.lift_off import G, LiftOff

# Events and velocities at the default tolerance, against the closed form.
CLOSE = 1e-6


def variant(seed):
    rng = np.random.default_rng(seed)
    mass, sink = 10.0 ** rng.uniform(-1.0, 1.5), 10.0 ** rng.uniform(-4.5, -2.5)
    stiffness = mass * G / sink
    mu = rng.uniform(0.1, 0.9)
    return LiftOff(
        mass=mass,
        stiffness=stiffness,
        damping=2.0 * np.sqrt(stiffness * mass) * 10.0 ** rng.uniform(-2.0, 0.3),
        rate=mass * G / 10.0 ** rng.uniform(-1.5, 0.3),
        side=mass * G * 10.0 ** rng.uniform(-4.0, -1.0),
        mu=mu,
        mu0=mu * rng.choice([1.0, rng.uniform(1.0, 2.0)]),
    )


def run(case, until):
    box = PointMass(
        name="box", mass=case.mass, position=(0, -case.mass * G / case.stiffness)
    )
    model = Model(
        gravity=(0, -G),
        bodies=[box],
        forces=[
            PointForce(name="p", b="box", fx=case.side, fy=ConstantRate(rate=case.rate))
        ],
        contacts=[
            Contact(
                name="c",
                b="box",
                normal=KelvinVoigt(stiffness=case.stiffness, damping=case.damping),
                friction=Coulomb(mu=case.mu, mu_static=case.mu0),
            )
        ],
    )
    return simulate(model, until=until)


def check(case):
    until = 1.2 * case.mass * G / case.rate
    begin, end, speed = case.solve(until)
    result = run(case, until)
    kinds = {e.kind: e.t for e in result.events}
    assert list(kinds)[:2] == ["break_away", "release"]
    assert kinds["break_away"] == pytest.approx(begin, abs=CLOSE * until)
    assert kinds["release"] == pytest.approx(end, abs=CLOSE * until)
    assert result["box.vx"][-1] == pytest.approx(speed, rel=CLOSE)


def test_a_break_away_before_a_lift_off():
    """The model whose break-away was missed, and x' 2.7 % too low."""
    case = LiftOff(
        mass=1.0, stiffness=1e4, damping=200.0, rate=100.0, side=0.05, mu=0.4, mu0=0.5
    )
    assert case.solve(0.12)[2] == pytest.approx(0.001125, abs=1e-6)
    check(case)


@pytest.mark.parametrize("first", range(0, 30, 10))
def test_random_lift_offs(first):
    for seed in range(first, first + 10):
        check(variant(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(30, 300, 30))
def test_more_random_lift_offs(first):
    for seed in range(first, first + 30):
        check(variant(seed))
