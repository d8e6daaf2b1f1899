"""Patches with friction: nodes that are open, stick or slip, and what they remember."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Contact,
    Coulomb,
    CoulombViscous,
    FlexibleBody,
    Material,
    ModalDamping,
    Model,
    ModelError,
    MovingSupport,
    Patch,
    SmoothStep,
    SolveError,
    Unilateral,
    simulate,
)
from nonsmooth.elements.meshes import Rectangle, Refinement

# Nearly incompressible, in plane strain: pressure and slip hardly know of each other.
SOFT = Material(youngs_modulus=70e9, poissons_ratio=0.49, density=2700.0)
RUBBER = Material(youngs_modulus=1e6, poissons_ratio=0.3, density=1000.0)
THICK = 2e-3  # m


def sledge(mu=0.3, mu_static=0.4, velocity=(0.1, 0.0), **changes):
    """Return a soft block on the ground."""
    body = FlexibleBody(
        name="b",
        mesh=Rectangle(width=0.02, height=0.01, center=(0.0, 0.005), size=5e-3),
        material=RUBBER,
        thickness=0.01,
        modes=4,
        damping=ModalDamping(ratio=0.1),
        velocity=velocity,
        patches={"sole": Patch(boundary="bottom")},
    )
    return Model(
        gravity=(0.0, -9.81),
        bodies=(replace(body, **changes),),
        contacts=(
            Contact(
                name="c",
                b="b.sole",
                normal=Unilateral(),
                friction=Coulomb(mu=mu, mu_static=mu_static),
            ),
        ),
    )


@pytest.fixture(scope="module")
def slid():
    return simulate(sledge(), until=0.06)


def test_a_sledge_slides_and_stops(slid):
    """It loses its energy to friction, way v^2/(2 mu g), and stays where it stopped."""
    balance = slid.energy_balance
    start = 0.5 * 0.1**2 * 2e-3
    # Simpson's rule leaves 6e-6, the trapezoidal one 8e-4.
    assert balance.residual < 3e-5 * start
    assert balance.work["c.friction"][-1] == pytest.approx(-start, rel=0.02)
    end = slid.sample([0.0, 0.06], ["b.x", "b.vx", "c.mode", "c.n_stuck", "c.n_closed"])
    way = 0.1**2 / (2.0 * 0.3 * 9.81)
    # It arrives unloaded and bounces on its own springs.
    assert end["b.x"][1] - end["b.x"][0] == pytest.approx(way, rel=0.03)
    assert abs(end["b.vx"][1]) < 1e-3


def conditions(result, name, t, mu, mu_static):
    """Return forces, friction, gaps and ways at an instant, by the flexibility itself.

    Ways since the step began are not known here: only what a state alone must fulfil.
    """
    found = result.pressure(name, t)
    body = result.system.flexible["b"]
    nodes = body.sites["sole"].nodes
    n = len(found.forces)
    # Body and ground are turned by little: axes of the body at theta.
    theta = result.sample(t, ["b.theta"])["b.theta"][0]
    c, s = math.cos(theta), math.sin(theta)
    turn = np.array([[c, s], [-s, c]])
    tangent = np.stack([found.normals[:, 1], -found.normals[:, 0]], axis=1)
    force = found.forces[:, None] * found.normals + found.friction[:, None] * tangent
    give = nodes.flexibility @ (force @ turn.T).ravel()
    moved = found.places + give.reshape(n, 2) @ turn
    return found, moved[:, 1]


@pytest.mark.parametrize("t", [0.005, 0.02, 0.033, 0.05])
def test_signs_cone_and_complementarity(slid, t):
    found, gap = conditions(slid, "c", t, 0.3, 0.4)
    assert np.all(found.forces >= 0.0)
    assert np.all(np.abs(found.friction) <= 0.4 * found.forces * (1.0 + 1e-9))
    assert np.all(gap > -1e-14)
    # Round-off of places of 1e-2 m, beside overlaps of the shapes of 1e-6 m.
    assert np.abs(gap[found.forces > 0.0]).max() < 1e-14
    slid_at = slid.sample(t, ["c.n_closed", "c.n_stuck", "c.mode", "c.friction_force"])
    assert slid_at["c.n_closed"][0] == np.count_nonzero(found.forces)
    assert slid_at["c.friction_force"][0] == pytest.approx(found.friction.sum())
    stuck = np.abs(found.friction) < 0.3 * found.forces * (1.0 - 1e-9)
    assert slid_at["c.n_stuck"][0] >= np.count_nonzero(stuck)
    if slid_at["c.n_stuck"][0] == slid_at["c.n_closed"][0]:
        assert slid_at["c.mode"][0] == 0.0


def test_a_run_may_be_split(slid):
    """What nodes remember goes with the state."""
    state = slid.state(0.033)
    assert len(state.history["c"]) % 3 == 0
    again = simulate(sledge(), until=0.06, start=state)
    names = ["b.x", "b.vx", "c.friction_force"]
    one, two = slid.sample(0.045, names), again.sample(0.045, names)
    # Steps differ, and with them nodal histories, of first order.
    assert two["b.x"][0] == pytest.approx(one["b.x"][0], abs=2e-6)
    forces = slid.sample([0.033], names)["c.friction_force"]
    assert again.sample(0.033, names)["c.friction_force"] == pytest.approx(forces)


def test_work_of_friction_is_of_high_order():
    """The ledger closes to what kinks leave, where nodes change what they do."""
    for step in (2e-5, 5e-6):
        short = simulate(sledge(velocity=(0.005, 0.0)), until=3e-3, max_step=step)
        balance = short.energy_balance
        # 2e-7 and 6e-8; with the trapezoidal rule 3e-5 and 2e-6.
        assert balance.residual < 6e-7 * balance.exchanged


def test_a_slide_does_not_depend_on_the_step():
    """What nodes remember within a step tells the sign of friction, not its size."""
    names, runs = ["b.x", "b.y", "b.vx", "b.vy", "b.omega"], []
    t = np.linspace(0.0, 0.01, 51)
    for step in (np.inf, 5e-6):
        run = simulate(sledge(), until=0.01, rtol=1e-10, max_step=step)
        runs.append(run.sample(t, names))
    for name in names:
        one, two = (run[name] for run in runs)
        # 1e-7, of nodes that close and open on their own.
        assert np.abs(one - two).max() < 2e-6 * np.ptp(two)


def pressed(mu, way, depth=2e-6, radius=7.5e-3):
    """Return a round support that is pressed into a block, then moved sideways."""
    fine = Refinement(point=(0.0, 0.0), size=1.5e-5, radius=1e-4)
    block = FlexibleBody(
        name="block",
        mesh=Rectangle(
            width=0.02,
            height=0.02,
            center=(0.0, -0.01),
            size=2.5e-3,
            refine={"top": fine},
        ),
        material=SOFT,
        thickness=THICK,
        plane="strain",
        modes=10,
        fixed=("bottom",),
        damping=ModalDamping(ratio=0.5),
        patches={"face": Patch(boundary="top", center=(0.0, 0.0), radius=1.2e-4)},
    )
    down = SmoothStep(start=radius + 1e-7, end=radius - depth, duration=4e-4)
    aside = SmoothStep(start=0.0, end=way, begin=5e-4, duration=4e-4)
    ball = MovingSupport(
        name="ball", x=aside, y=down, shapes={"rim": Circle(radius=radius)}
    )
    return Model(
        bodies=(block, ball),
        contacts=(
            Contact(
                name="c",
                a="ball.rim",
                b="block.face",
                normal=Unilateral(),
                friction=Coulomb(mu=mu),
            ),
        ),
    )


def test_stick_zone_of_cattaneo():
    """Pressed, then moved aside: the middle sticks over c = a sqrt(1 - Q/(mu P))."""
    mu = 0.5
    result = simulate(pressed(mu, 1.3e-6), until=1e-3, rtol=1e-7)
    end = result.sample(1e-3, ["c.normal_force", "c.friction_force"])
    press, rub = end["c.normal_force"][0], abs(end["c.friction_force"][0])
    used = rub / (mu * press)
    assert 0.2 < used < 0.9
    found = result.pressure("c", 1e-3)
    inside = found.forces > 0.0
    # At the end all is at rest: nodes that slipped are at their limit, to the damping.
    stuck = inside & (np.abs(found.friction) < 0.99 * mu * found.forces)
    width, zone = (np.ptp(found.places[who, 0]) for who in (inside, stuck))
    gap = np.abs(np.diff(found.places[:, 0])).max()
    # Of Dundurs' 0.02 a few per cent are left; edges are between nodes.
    wanted = math.sqrt(1.0 - used)
    assert zone / width == pytest.approx(wanted, abs=0.05 + 2.0 * gap / width)


def test_other_laws_are_refused():
    model = sledge()
    law = CoulombViscous(mu=0.3, viscous=1.0)
    with pytest.raises(ModelError, match=r"nodes of a patch have Coulomb"):
        replace(model, contacts=(replace(model.contacts[0], friction=law),))


def test_too_much_friction_is_told():
    """Beyond what makes forces unique, the run fails with time and nodes."""
    with pytest.raises(SolveError, match=r"contact 'c'.*pivot"):
        simulate(sledge(mu=30.0, mu_static=30.0), until=0.01)
