"""The paper's own scheme for flexible contact: equations (1) to (4), solved whole."""

from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import ModelError, gallery, simulate

SYSTEM = "flexible_double_pendulum"
FORCES = ["contact.normal_force", "contact.friction_force"]


@pytest.fixture(scope="module")
def struck():
    model = gallery.build(SYSTEM, gravity=0.0, modes=20)
    return simulate(model, until=1.2e-5, scheme="appended")


def test_contact_by_multipliers(struck):
    """Nodes press and never pull; friction stays in its cone; the first pulse ends."""
    press, rub = (struck[name] for name in FORCES)
    assert press.max() > 5e3
    assert np.all(press >= 0.0)
    assert np.all(np.abs(rub) <= 0.7 * press * (1.0 + 1e-9))
    kinds = [event.kind for event in struck.events]
    assert kinds[:2] == ["touch_down", "separate"]
    assert "steps of" in struck.notes[0]


def test_energy_of_nodes_with_mass(struck):
    """A node that is stopped loses its energy: 1e-3, and seen in the ledger."""
    balance = struck.energy_balance
    assert balance.work["contact.friction"][-1] < 0.0
    assert balance.residual < 2e-3 * balance.kinetic[0]


def test_joint_stays_closed(struck):
    found = struck.sample(struck.t, ["b1.elbow.x", "b2.elbow.x"])
    assert found["b1.elbow.x"] == pytest.approx(found["b2.elbow.x"], abs=1e-9)


def test_forces_and_summary(struck):
    """Multipliers of joints are columns; there is no state to go on from."""
    assert np.hypot(struck["elbow.force_x"], struck["elbow.force_y"]).max() > 100.0
    assert set(struck["contact.mode"]) <= {-1.0, 0.0, 1.0, 2.0}
    assert struck.summary()["n_events"] >= 2
    with pytest.raises(ModelError, match=r"scheme 'appended' has no state"):
        struck.state()


def test_implicit_flight():
    """Steps of 5 ms of the midpoint rule: of second order, beside located events."""
    model = gallery.build(SYSTEM, start="release", modes=20)
    one = simulate(model, until=0.05, scheme="appended")
    assert one.cost["steps"] == one.cost["implicit_steps"] == 10
    two = simulate(model, until=0.05)
    for name in ("b1.theta", "b2.x", "b2.y"):
        at = [one.sample(0.05, name)[name][0], two.sample(0.05, name)[name][0]]
        assert at[0] == pytest.approx(at[1], abs=2e-5)
    balance = one.energy_balance
    assert balance.residual < 1e-3 * balance.kinetic[0]


@pytest.mark.slow
def test_impulse_beside_events():
    """Coarse nodes with mass, and modes with flexibility: alike to some per cent."""
    model = gallery.build(SYSTEM, gravity=0.0, modes=20)
    wanted = simulate(gallery.build(SYSTEM, gravity=0.0), until=1e-4)
    found = simulate(model, until=1e-4, scheme="appended")
    t = np.linspace(0.0, 1e-4, 5001)
    one, two = (
        np.trapezoid(r.sample(t, FORCES[0])[FORCES[0]], t) for r in (found, wanted)
    )
    assert one == pytest.approx(two, rel=0.08)


def test_refusals():
    model = gallery.build(SYSTEM, modes=20, contact_size=3e-4)
    with pytest.raises(ModelError, match=r"scheme 'appended': 0 contacts; give one"):
        simulate(replace(model, contacts=()), until=1e-5, scheme="appended")
    beside = gallery.build("elastic_slider_crank")
    with pytest.raises(ModelError, match=r"is for revolute joints without friction"):
        simulate(beside, until=1e-5, scheme="appended")
    with pytest.raises(ModelError, match=r"step = -1"):
        simulate(model, until=1e-5, scheme="appended", step=-1.0)
