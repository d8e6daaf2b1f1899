"""The paper's own scheme for flexible contact: equations (1) to (4), solved whole."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Contact,
    Coulomb,
    FlexibleBody,
    Ground,
    Line,
    Model,
    ModelError,
    Patch,
    Rectangle,
    Result,
    Unilateral,
    gallery,
    simulate,
)
from nonsmooth.views.source import ledger_names

SYSTEM = "flexible_double_pendulum"
FORCES = ["contact.normal_force", "contact.friction_force"]


@pytest.fixture(scope="module")
def struck():
    model = gallery.build(SYSTEM, gravity=0.0, modes=20)
    return simulate(model, until=6e-5, scheme="appended")


def test_contact_by_multipliers(struck):
    """Nodes press and never pull; friction stays in its cone; the first pulse ends."""
    press, rub = (struck[name] for name in FORCES)
    assert press.max() > 5e3
    assert np.all(press >= 0.0)
    assert np.all(np.abs(rub) <= 0.7 * press * (1.0 + 1e-9))
    kinds = [event.kind for event in struck.events]
    assert kinds[:2] == ["touch_down", "separate"]
    assert "steps of" in struck.notes[0]


def test_steps_and_nodes_of_the_paper(struck):
    """47 nodes, 20 modes and two frames; they bear steps of 2e-7 s."""
    assert struck.options["step"] == 2e-7
    assert "120 coordinates" in struck.notes[0]


def test_energy_of_nodes_with_mass(struck):
    """A node that is stopped loses its energy, which is an entry of the ledger.

    What is left are the changes of mass and joints within a step, 1e-7 of the energy.
    """
    balance, start = struck.energy_balance, struck.energy_balance.kinetic[0]
    assert balance.work["contact.friction"][-1] < 0.0
    assert balance.work["contact.onset"][-1] < -1e-4 * start
    assert balance.residual < 5e-7 * start


def test_pictures_files_and_fields(struck, tmp_path):
    """A run is drawn, reported and kept as any other."""
    struck.report(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size > 1e5
    struck.draw(1e-5, tmp_path / "run.png")
    struck.save(tmp_path / "run.nsr")
    again = Result.load(tmp_path / "run.nsr")
    assert np.array_equal(again[FORCES[0]], struck[FORCES[0]])
    assert again.events[0].kind == "touch_down"
    assert again.energy_balance.residual == struck.energy_balance.residual
    # The tip's place by the modes of the model: what nodes add is smaller than its way.
    field = again.field("b2", "displacement", 1e-5)
    tip = struck.sample(1e-5, ["b2.tip.x", "b2.tip.y"])
    there = np.array([tip["b2.tip.x"][0], tip["b2.tip.y"][0]])
    away = np.linalg.norm(field.places - there, axis=1).min()
    assert away < 0.5 * np.linalg.norm(field.values, axis=1).max()


def test_joint_stays_closed(struck):
    found = struck.sample(struck.t, ["b1.elbow.x", "b2.elbow.x"])
    off = np.abs(found["b1.elbow.x"] - found["b2.elbow.x"]).max()
    # One step turns the rods by 2e-6 rad: its square, on 0.5 m.
    assert off <= struck.violation < 1e-11


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


def _impulse(result, until):
    t = np.linspace(0.0, until, 2001)
    return np.trapezoid(result.sample(t, FORCES[0])[FORCES[0]], t)


@pytest.mark.slow
def test_finer_nodes_come_nearer(monkeypatch):
    """The first peak: 47 nodes 2.5 mm apart are too stiff, 400 of 0.65 mm are less."""
    wanted = simulate(gallery.build(SYSTEM, gravity=0.0), until=6e-6)
    model, found = gallery.build(SYSTEM, gravity=0.0, modes=20), []
    for n, step in ((47, 2e-7), (400, 5e-8)):
        monkeypatch.setattr("nonsmooth.solve.mixed.NODES", n)
        one = simulate(model, until=6e-6, scheme="appended", step=step)
        found.append(one[FORCES[0]].max() / wanted[FORCES[0]].max() - 1.0)
    assert found[0] > 0.25
    assert 0.0 < found[1] < 0.12


def test_nodes_that_fill_a_body():
    """A block of which all is nodes: rigid motion is in the frame only.

    Its impulse is that of massless nodes to the energy that nodes with mass lose.
    """
    block = FlexibleBody(
        name="block",
        mesh=Rectangle(width=0.04, height=0.02, center=(0.0, 0.0), size=0.005),
        material="steel",
        thickness=0.01,
        modes=10,
        position=(0.0, 0.01 + 1e-6),
        velocity=(0.2, -1.0),
        patches={"sole": Patch(boundary="bottom")},
    )
    sole = Contact(
        name="contact",
        a="ground.floor",
        b="block.sole",
        normal=Unilateral(),
        friction=Coulomb(mu=0.3),
    )
    ground = Ground(shapes={"floor": Line()})
    model = Model(bodies=[ground, block], contacts=[sole])
    one = simulate(model, until=3e-5, scheme="appended")
    two = simulate(model, until=3e-5)
    lost = one.energy_balance.work["contact.onset"][-1] / one.energy_balance.kinetic[0]
    assert -0.1 < lost < -0.01
    assert _impulse(one, 3e-5) == pytest.approx(_impulse(two, 3e-5), rel=0.03)
    assert one.energy_balance.residual < 1e-6 * one.energy_balance.kinetic[0]
    assert one.events.counts() == {"touch_down": 1, "separate": 1}


@pytest.mark.parametrize("system", ["rods", SYSTEM])
def test_the_ledger_is_reported_by_its_own_names(system):
    """Entries of what is recorded are not those of the event loop."""
    scheme = "waves" if system == "rods" else "appended"
    names = ledger_names(simulate(gallery.build(system), until=2e-6, scheme=scheme))
    assert "work:contact.onset" in names
    assert ("work:contact.friction" in names) == (scheme == "appended")


@pytest.mark.slow
def test_impulse_beside_events():
    """Nodes with mass, and modes with flexibility: alike to some per cent."""
    model = gallery.build(SYSTEM, gravity=0.0, modes=20)
    wanted = simulate(gallery.build(SYSTEM, gravity=0.0), until=1e-4)
    found = simulate(model, until=1e-4, scheme="appended", step=5e-8)
    assert _impulse(found, 1e-4) == pytest.approx(_impulse(wanted, 1e-4), rel=0.08)


def test_refusals():
    model = gallery.build(SYSTEM, modes=20, contact_size=3e-4)
    with pytest.raises(ModelError, match=r"scheme 'appended': 0 contacts; give one"):
        simulate(replace(model, contacts=()), until=1e-5, scheme="appended")
    beside = gallery.build("elastic_slider_crank")
    with pytest.raises(ModelError, match=r"is for revolute joints without friction"):
        simulate(beside, until=1e-5, scheme="appended")
    with pytest.raises(ModelError, match=r"step = -1"):
        simulate(model, until=1e-5, scheme="appended", step=-1.0)
    stiff = gallery.build(SYSTEM, modes=80, contact_size=3e-4)
    with pytest.raises(ModelError, match=r"step = 2e-07; explicit steps .* stable to"):
        simulate(stiff, until=1e-5, scheme="appended", step=2e-7)


@pytest.mark.parametrize(
    ("system", "scheme", "until"),
    [("rods", "waves", 1e-6), (SYSTEM, "appended", 4e-7)],
)
def test_angles_of_more_than_a_turn_are_noted_in_every_scheme(system, scheme, until):
    """As by `events`: they may be in degrees."""
    model = gallery.build(system)
    bodies = list(model.bodies)
    at = next(k for k, body in enumerate(bodies) if hasattr(body, "angle"))
    body: Any = bodies[at]
    turned = bodies[at] = replace(body, angle=body.angle + 4.0 * np.pi)
    result = simulate(replace(model, bodies=bodies), until=until, scheme=scheme)
    assert any(f"'{turned.name}': angle = " in note for note in result.notes)
    assert not any("angles" in note for note in simulate(model, until).notes)


def test_modes_that_are_too_few_are_doubted_as_by_events():
    """Four shapes for a blow that is shorter than the period of the last."""
    model = gallery.build(SYSTEM, gravity=0.0, modes=4)
    words = "energy of its vibration was in the upper half of its shapes"
    for scheme in ("events", "appended"):
        result = simulate(model, until=2e-5, scheme=scheme)
        assert any(words in doubt for doubt in result.doubts), scheme
