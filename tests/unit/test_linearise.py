"""The flow and its guards linearised, beside closed forms and perturbed runs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import (
    Contact,
    Coulomb,
    Event,
    ExpressionForce,
    KelvinVoigt,
    Model,
    ModelError,
    PointMass,
    Revolute,
    RigidBody,
    gallery,
    simulate,
)
from nonsmooth.solve.linearise import linearise

G = 9.81
# Central differences of smooth functions, relative to their scale.
CLOSE = 1e-7


def entry(found, row, column):
    return found.jacobian[found.names.index(row), found.names.index(column)]


@pytest.mark.jit_off
def test_an_oscillator():
    ball = PointMass(name="ball", mass=2.0, position=(0.3, 0.0), velocity=(0.5, 0.0))
    spring = ExpressionForce(name="spring", b="ball", fx="-8*x - 3*vx", fy="0")
    event = Event(name="near", b="ball", guard="x - 0.1*t - 0.2")
    result = simulate(Model(bodies=[ball], forces=[spring], events=[event]), 0.1)
    found = result.linearise(0.05)
    assert entry(found, "ball.vx", "ball.x") == pytest.approx(-4.0, abs=CLOSE)
    assert entry(found, "ball.vx", "ball.vx") == pytest.approx(-1.5, abs=CLOSE)
    assert entry(found, "ball.x", "ball.vx") == pytest.approx(1.0, abs=CLOSE)
    assert found.guards == (("near", "user"),)
    gradient = dict(zip(found.names, found.gradients[0], strict=True))
    assert gradient["ball.x"] == pytest.approx(1.0, abs=CLOSE)
    assert gradient["ball.vx"] == pytest.approx(0.0, abs=CLOSE)
    assert found.rates[0] == pytest.approx(-0.1, abs=CLOSE)
    x = result.sample([0.05])["ball.x"][0]
    assert found.values[0] == pytest.approx(x - 0.205, abs=1e-14)


def test_a_hanging_pendulum_has_its_frequency():
    rod = RigidBody(
        name="rod",
        mass=1.5,
        inertia=0.2,
        position=(0.0, -0.7),
        points={"pin": (0.0, 0.7)},
    )
    model = Model(
        gravity=(0.0, -G), bodies=[rod], joints=[Revolute(name="hinge", b="rod.pin")]
    )
    found = simulate(model, 0.01).linearise(0.0)
    omega = math.sqrt(1.5 * G * 0.7 / (0.2 + 1.5 * 0.7**2))
    values = np.linalg.eigvals(found.jacobian)
    # What the hinge forbids is at the level of accelerations: zeros.
    assert np.min(np.abs(values - 1j * omega)) < 1e-6
    assert np.sum(np.abs(values) < 1e-3) == 4


def sliding(friction):
    block = RigidBody(
        name="block",
        mass=1.0,
        inertia=0.1,
        position=(0.0, -G / 1e4),
        velocity=(0.4, 0.0),
        points={"sole": (0.0, 0.0)},
    )
    sole = Contact(
        name="sole",
        b="block.sole",
        normal=KelvinVoigt(stiffness=1e4, damping=20.0),
        friction=friction,
    )
    return Model(gravity=(0.0, -G), bodies=[block], contacts=[sole])


def test_a_contact_that_slips_and_then_sticks():
    result = simulate(sliding(Coulomb(mu=0.2, mu_static=0.3)), 0.5)
    assert [e.kind for e in result.events] == ["stick"]
    slips, sticks = result.linearise(0.1), result.linearise(0.4)
    # Friction follows the normal force: mu k of the depth.
    assert entry(slips, "block.vx", "block.y") == pytest.approx(0.2e4, rel=1e-6)
    assert entry(slips, "block.vy", "block.y") == pytest.approx(-1e4, rel=1e-6)
    assert entry(slips, "block.vy", "block.vy") == pytest.approx(-20.0, rel=1e-6)
    assert entry(sticks, "block.vx", "block.y") == pytest.approx(0.0, abs=1e-4)
    kinds = [kind for _, kind in slips.guards]
    assert kinds == ["gap", "force", "forward", "backward"]
    gap = dict(zip(slips.names, slips.gradients[0], strict=True))
    assert gap["block.y"] == pytest.approx(-1.0, abs=CLOSE)  # positive while pressed
    slip = dict(zip(slips.names, slips.gradients[2], strict=True))
    assert slip["block.vx"] == pytest.approx(1.0, abs=CLOSE)


def flat(state):
    """Return (q, v) of a state."""
    parts = (*state.positions.values(), *state.velocities.values())
    return np.concatenate(parts)


@pytest.mark.parametrize("name", ["pendulum_chain", "incline"])
def test_the_flow_changes_along_the_motion_as_it_says(name):
    """f(y2) - f(y1) = A (y2 - y1), for two states of one arc; no law of time in it."""
    system = gallery.build(name)
    result = simulate(system, 0.2, rtol=1e-12)
    first, second = result.state(0.1), result.state(0.1 + 1e-5)
    one, two = linearise(system, first), linearise(system, second)
    step = flat(second) - flat(first)
    n = len(step)
    change = two.rate[:n] - one.rate[:n]
    assert np.max(np.abs(change)) > 1e-6
    # To first order in 1e-5 s.
    error = change - one.jacobian[:n, :n] @ step
    assert np.max(np.abs(error)) < 1e-4 * np.max(np.abs(change)) + 1e-9


def test_a_state_without_a_mode_is_refused_where_it_needs_one():
    result = simulate(sliding(Coulomb(mu=0.2)), 0.01)
    with pytest.raises(ModelError, match="state: has no mode"):
        linearise(result.system, replace(result.state(), mode={}))
