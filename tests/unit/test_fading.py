"""What dies away is rest in the end; what moves slowly is not.

A mass on a floor is pulled by a force, with a damper and perhaps a spring beside it,

    m x'' = pull(t) - mu m g - c x' - k x          while it slips forward

whose solutions are closed forms. Velocities below 1e-15 of the model's size in the
time of the run are round-off (theory of contact), and so is what keeps less than that.
"""

import numpy as np
import pytest

from nonsmooth import (
    Contact,
    Coulomb,
    Expression,
    Ground,
    KelvinVoigt,
    Model,
    PointForce,
    PointMass,
    SpringDamper,
    simulate,
)

MASS, MU, G = 0.7, 0.3, 9.81
LIMIT = MU * MASS * G


def pulled(pull, stiffness=1e5, spring=0.0, damping=0.0, speed=0.0):
    """Return a mass in balance on its floor, with mu = mu_static, that is pulled."""
    depth = MASS * G / stiffness
    links = []
    if spring or damping:
        links = [
            SpringDamper(
                name="link",
                a="ground.wall",
                b="mass",
                stiffness=spring,
                damping=damping,
                rest_length=1.0,
            )
        ]
    return Model(
        gravity=(0.0, -G),
        bodies=[
            # At the height of the mass, on which the link pulls along x.
            Ground(points={"wall": (-1.0, -depth)}),
            PointMass(
                name="mass", mass=MASS, position=(0.0, -depth), velocity=(speed, 0.0)
            ),
        ],
        forces=[PointForce(name="pull", b="mass", fx=pull), *links],
        contacts=[
            Contact(
                name="floor",
                b="mass",
                normal=KelvinVoigt(stiffness=stiffness, damping=10.0),
                friction=Coulomb(mu=MU, mu_static=MU),
            )
        ],
    )


@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7, 1e9])
@pytest.mark.parametrize("spring", [20.0, 50.0, 170.0])
def test_a_slide_that_dies_away_is_rest_and_stays(stiffness, spring):
    """It creeps to where the spring takes what friction does not, and never turns.

    With the rates p < q of decay x' = V (exp(-p t) - exp(-q t)), V = E p q/(k (q - p)).
    """
    damping, excess = 30.0, 1.0
    root = np.sqrt(damping**2 - 4.0 * MASS * spring)
    p, q = ((damping - s * root) / (2.0 * MASS) for s in (1.0, -1.0))
    # By then it slips 1e-20 of what it did at first.
    until = 46.0 / p
    model = pulled(LIMIT + excess, stiffness, spring, damping)
    result = simulate(model, until, rtol=1e-8)
    t = np.linspace(0.0, until, 2001)
    c = result.sample(t)
    speed = excess * p * q / (spring * (q - p)) * (np.exp(-p * t) - np.exp(-q * t))
    slips = c["floor.mode"] == 1.0
    # Errors of the dense output, a hundredth of the tolerance, may let it turn before.
    assert np.all(slips[1:][speed[1:] > 1e-10 * np.max(speed)])
    rests = c["floor.mode"] == 0.0
    assert rests[-1]
    # For good, and friction is at its limit; what the dense output had turn too early
    # goes on creeping once or twice.
    first = int(np.argmax(rests))
    assert np.all(rests[first + 10 :])
    assert len(result.events) <= 5
    friction = c["floor.friction_force"][rests]
    assert friction == pytest.approx(-LIMIT, rel=1e-9)
    assert c["mass.x"][-1] == pytest.approx(excess / spring, rel=1e-7)


@pytest.mark.parametrize("speed", [1e-4, 1e-7, 1e-10, 1e-12])
@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7])
def test_a_slow_slip_is_no_rest(speed, stiffness):
    """A damper takes what the pull is more than friction: it creeps on for ever."""
    damping, until = 30.0, 5.0
    model = pulled(LIMIT + damping * speed, stiffness, 0.0, damping, speed)
    result = simulate(model, until, rtol=1e-8)
    c = result.sample(np.linspace(0.0, until, 401))
    assert np.all(c["floor.mode"] == 1.0)
    assert c["mass.x"][-1] == pytest.approx(speed * until, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("rate", [1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7])
def test_what_starts_slowly_from_rest_moves(rate, stiffness):
    """The pull passes the limit of friction at 1 s: x = r (t - 1)^3/(6 m).

    Coefficients in motion and at rest are the same, so that it begins without a jump.
    """
    text = Expression(text=f"{LIMIT!r} + {rate!r} * (t - 1.0)")
    result = simulate(pulled(text, stiffness), 3.0, rtol=1e-8)
    (event,) = (e for e in result.events if e.kind == "break_away")
    # As well as the limit is known: 5e-10 of it at most.
    late = 5e-10 * LIMIT / rate + 1e-9
    assert event.t == pytest.approx(1.0, abs=late)
    t = np.linspace(event.t, 3.0, 301)[1:]
    c = result.sample(t)
    assert np.all(c["floor.mode"] == 1.0)
    way = rate * (t - 1.0) ** 3 / (6.0 * MASS)
    slack = rate * late * 4.0 / MASS
    assert c["mass.x"] == pytest.approx(way, rel=1e-6, abs=slack)
