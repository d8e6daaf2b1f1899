"""Both sides of a jump: internal states today, velocities where there are impulses."""

import math

import numpy as np
import pytest

from nonsmooth import (
    Contact,
    KelvinVoigt,
    LuGre,
    Model,
    PointMass,
    Revolute,
    RigidBody,
    simulate,
)
from nonsmooth.kernels import entry
from nonsmooth.kernels.look import Look
from nonsmooth.pack import pack
from nonsmooth.solve.options import Options
from nonsmooth.solve.schemes.base import settings_of, sizes_of, step_at

G = 9.81


@pytest.fixture(scope="module")
def bouncing():
    """A ball that slides while it bounces: its bristles straighten at touch-down."""
    law = LuGre(mu=0.3, mu_static=0.4, velocity=0.1, stiffness=1e3, damping=1.0)
    sole = Contact(
        name="sole", b="ball", normal=KelvinVoigt(stiffness=1e4), friction=law
    )
    ball = PointMass(name="ball", mass=1.0, position=(0.0, 0.05), velocity=(1.0, 0.0))
    model = Model(gravity=(0.0, -G), bodies=[ball], contacts=[sole])
    return simulate(model, until=0.6)


@pytest.mark.jit_off
def test_before_and_after_differ_where_something_jumps(bouncing):
    downs = [e.t for e in bouncing.events if e.kind == "touch_down"]
    assert len(downs) > 2
    for t in downs[1:]:
        before = bouncing.state(t, limit="before")
        after = bouncing.state(t, limit="after")
        assert before.deflection["sole"] != 0.0
        assert after.deflection["sole"] == 0.0
        # Nothing else jumps.
        assert before.positions == after.positions
        assert before.velocities == after.velocities


def test_before_is_the_limit_from_the_left(bouncing):
    t = [e.t for e in bouncing.events if e.kind == "touch_down"][1]
    left = bouncing.state(t - 1e-9).deflection["sole"]
    # In flight the bristles keep their place.
    assert bouncing.state(t, limit="before").deflection["sole"] == left


def test_where_nothing_jumps_both_sides_are_one(bouncing):
    leaves = [e.t for e in bouncing.events if e.kind in ("release", "separate")]
    assert len(leaves) >= 2
    for t in leaves:
        before = bouncing.state(t, limit="before")
        after = bouncing.state(t, limit="after")
        assert before.positions == after.positions
        assert before.velocities == after.velocities
        assert before.deflection == after.deflection


def test_modes_on_both_sides(bouncing):
    event = next(e for e in bouncing.events if e.kind == "touch_down")
    before, after = (bouncing.state(event.t, limit=x) for x in ("before", "after"))
    assert before.mode["sole"]["side"] != after.mode["sole"]["side"]
    assert math.isclose(after.mode["sole"]["approach"], math.sqrt(2 * G * 0.05))


# ---- impulses --------------------------------------------------------------------


def struck(imp_n, imp_t):
    """A hinged rod whose tip is struck: state before and after, impulse, ledger."""
    rod = RigidBody(
        name="rod",
        mass=2.0,
        inertia=0.3,
        position=(0.5, 0.0),
        angular_velocity=-1.5,
        velocity=(0.0, -0.75),
        points={"pin": (-0.5, 0.0), "tip": (0.5, 0.0)},
    )
    hinge = Revolute(name="hinge", b="rod.pin")
    tip = Contact(name="tip", b="rod.tip", normal=KelvinVoigt(stiffness=1e4))
    system = pack(Model(bodies=[rod], joints=[hinge], contacts=[tip]))
    options = Options()
    sizes = sizes_of(system, options)
    q, v = np.array([0.5, 0.0, 0.0]), np.array([0.0, -0.75, -1.5])
    step = step_at(sizes, settings_of(system, options, 1.0), Look(), 0.0, q, v)
    imp = np.zeros(2)
    entry.strike(system.tables, system.work(), step, 0, imp_n, imp_t, imp)
    return system, v, np.array(step.y), imp


def test_an_impulse_changes_velocities_together_with_the_joints():
    system, _, y, imp = struck(0.8, 0.0)
    # About the hinge: J = 0.3 + 2 0.5^2, lever 1.
    inertia = 0.3 + 2.0 * 0.25
    omega = -1.5 + 0.8 / inertia
    # Round-off of a few operations.
    assert np.allclose(y[3:6], [0.0, 0.5 * omega, omega], atol=1e-14)
    assert imp.tolist() == [0.8, 0.0]
    # The ledger's entry is the change of kinetic energy.
    work = y[6 + system.works.index("tip.normal")]
    gained = 0.5 * inertia * (omega**2 - 1.5**2)
    assert math.isclose(work, gained, rel_tol=1e-13)


def test_an_impulse_along_the_rod_is_borne_by_the_hinge():
    system, v, y, _ = struck(0.0, 1.0)
    assert np.allclose(y[3:6], v, atol=1e-14)
    assert abs(y[6 + system.works.index("tip.friction")]) < 1e-14
