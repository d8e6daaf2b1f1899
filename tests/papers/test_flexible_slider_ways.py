"""The flexible slider's other ways: the paper's own, moving in its clearance, at rest.

And in guides that move, with other laws of friction.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import splu

from nonsmooth import gallery, simulate
from nonsmooth.elements.bodies import MovingSupport, RigidBody
from nonsmooth.elements.friction import (
    CoulombViscous,
    LuGre,
    RegularisedCoulomb,
    Stribeck,
)
from nonsmooth.elements.joints import ElasticBlock, Prismatic
from nonsmooth.elements.laws import Expression
from nonsmooth.elements.materials import Material
from nonsmooth.errors import ModelError
from nonsmooth.fem.trial import Trial
from nonsmooth.gallery import kineto
from nonsmooth.result.replay import STUCK, replay
from oracles.elastic_slider import Slider

pytest.importorskip("skfem")

ASKED = 1e-6  # m
RTOL = 1e-10
START = -0.2955064022  # m, where the rigid motion repeats at once
PAPER = Material(youngs_modulus=2.1e11, poissons_ratio=0.25, density=333.3)


def run(until, rtol=RTOL, **given):
    return simulate(gallery.build("flexible_slider", **given), until=until, rtol=rtol)


@pytest.fixture(scope="module")
def tight():
    return run(16.0, rtol=1e-9, clearance=0.0)


@pytest.mark.parametrize("clearance", [0.0, 1e-4])
def test_full_finite_elements_on_springs(clearance):
    """The library's own trial iteration against the oracle's node-wise contact."""
    guide_of = gallery.build(
        "flexible_slider", load="penalty", penalty=1e15, clearance=clearance
    ).joints[0]
    assert isinstance(guide_of, Prismatic)
    assert guide_of.block is not None
    tried = Trial(0.6, 0.5, guide_of.block, clearance)
    slider = Slider(clearance=clearance)
    for normal, moment, phi in ((29.43, 19.62, 0.03), (28.0, -14.0, -0.03)):
        found = tried.solve(normal, moment, phi)
        assert found.is_converged
        # 30 times 1e-6 m/s^2 in acceleration, for 3 kg and mu = 0.03 is 1e-4 N.
        assert found.load == pytest.approx(slider.load(normal, moment, phi), abs=1e-4)
    with pytest.raises(ModelError) as error:
        Trial(0.6, 0.5, ElasticBlock(material=PAPER, thickness=0.01), 0.0)
    assert "springs need one" in str(error.value)


def test_acceleration_as_the_penalty_grows(tight):
    """All finite elements against the condensed engine: first order, then 1e-6."""
    off = []
    for stiff in (1e13, 1e14, 1e15):
        slider = kineto.Equations({"clearance": 0.0, "penalty": stiff})
        errors = []
        for t in (1.3, 9.4):
            at = tight.sample(t)
            x, v = float(at["slider.x"][0]), float(at["slider.vx"][0])
            found = slider.slip(t, x, v, 0.03 * np.sign(v))
            errors.append(abs(found.a - at["slider.ax"][0]))
        off.append(max(errors))
    assert off[2] < 1e-6
    assert off[0] / off[1] == pytest.approx(10.0, rel=0.1)


@pytest.mark.slow
def test_kineto_elastodynamics():
    """Newmark's steps of the paper; first order, where Karnopp's band ends."""
    model = gallery.build(
        "flexible_slider", clearance=0.0, load="penalty", law="karnopp"
    )
    engine = simulate(model, until=1.0)
    errors = []
    for step in (0.04, 0.02):
        found = kineto.kineto(1.0, step=step, clearance=0.0)
        assert found.is_converged
        assert len(found.t) == round(1.0 / step) + 1
        x = engine.sample(found.t, "slider.x")["slider.x"]
        errors.append(np.max(np.abs(found.x - x)))
    assert errors[1] < 2e-3
    assert errors[1] < 0.8 * errors[0]
    with pytest.raises(ModelError) as error:
        kineto.kineto(1.0, law="coulomb")
    assert "the paper's is 'karnopp'" in str(error.value)


@pytest.mark.parametrize("clearance", [0.0, 3e-8])
def test_friction_of_nodes_at_rest(clearance):
    """Replayed: Coulomb's bound, balance, no overlap, and places that are held.

    Displacements are those of the oracle's mesh, all nodes of it.
    """
    result = run(9.0, 1e-8, clearance=clearance)
    away = [e.t for e in result.events.of("guide") if e.kind == "break_away"]
    slider = Slider(clearance=clearance)
    ids, s, x = slider.faces, slider.sides, slider.places
    factored = splu(slider.system)
    n_held = 0
    for t in away:
        last: Any = None
        for now in replay(result, "guide", t, "before"):
            assert now.is_converged
            l, f = now.forces, now.friction
            assert np.all(np.abs(f) <= 0.04 * l)
            assert l.min() >= 0.0
            loads = np.zeros(slider.system.shape[0])
            loads[2 * ids + 1], loads[2 * ids] = s * l, f
            u = factored.solve(loads)
            closed = l > 0.0
            gaps = 0.5 * clearance + s * u[2 * ids + 1]
            frame = np.stack([s, s * x], axis=1)
            w = np.linalg.lstsq(frame[closed], -gaps[closed], rcond=None)[0]
            gaps += frame @ w
            # Deformations are some 1e-7 m; faults of 1e-9 of the load are allowed.
            assert np.max(np.abs(gaps[closed])) < 1e-15
            assert gaps.min() > -1e-15
            place = u[2 * ids] + 0.25 * s * w[1]
            at = result.sample(now.t, ["guide.friction_force", "guide.normal_force"])
            assert np.sum(s * l) == pytest.approx(at["guide.normal_force"][0], rel=1e-8)
            if now.t < t:
                whole = pytest.approx(at["guide.friction_force"][0], abs=1e-6)
                assert np.sum(f) == whole
            if last is not None:
                both = (now.state == STUCK) & (last[1] == STUCK)
                # One node holds wherever the frame is; two do not.
                if np.sum(both) > 1:
                    n_held += int(np.sum(both)) - 1
                    assert np.ptp((place - last[0])[both]) < 1e-15
            last = (place, now.state)
    assert n_held > 100
    # By the result itself: other than shared as the normal forces are.
    shared = result.pressure("guide", 0.9 * away[0])
    own = result.pressure("guide", 0.9 * away[0], history=True)
    assert own.is_converged
    assert np.sum(own.friction) == pytest.approx(np.sum(shared.friction), rel=1e-9)
    assert np.max(np.abs(own.friction - shared.friction)) > 1e-2
    # In motion there is no other history than that all nodes slip.
    later = result.pressure("guide", 1.5, history=True)
    np.testing.assert_allclose(later.friction, -0.03 * later.forces, rtol=1e-9)


@pytest.mark.slow
def test_motion_in_the_clearance():
    """A few modes, two patches: extremes are those of the quasi-static motion.

    The block rings until it starts, by less than 1e-6 of the model's size, which is
    much beside what it yields under its load: at rtol = 1e-6 it starts 0.018 s late.
    """
    whole = run(5.2, 1e-8, motion="dynamic", position=START)
    t = np.linspace(0.0, 5.2, 5201)
    x = whole.sample(t, "slider.x")["slider.x"]
    assert np.min(x) == pytest.approx(-0.389309, abs=3e-4)
    assert np.max(x) == pytest.approx(1.088372, abs=3e-4)
    # It strikes the upper face where it turns over, after 2.74 s, harder than it will
    # press on it.
    hits = [e.t for e in whole.events if (e.kind, e.element) == ("touch_down", "upper")]
    first = min(t for t in hits if t > 2.7)
    near = np.linspace(first, first + 2e-3, 401)
    forces = whole.sample(near, "upper.normal_force")["upper.normal_force"]
    calm = run(4.0, 1e-8, position=START)
    top = [f"guide.top_{end}.normal_force" for end in ("left", "right")]
    then = sum(calm.sample(first + 2e-3, name)[name][0] for name in top)
    assert np.max(forces) > 5.0 * then
    balance = whole.energy_balance
    assert balance.residual <= 1e-4 * balance.exchanged


def test_it_starts_in_its_clearance():
    """On two corners under the bar's weight, on its lower face without much of it."""
    whole = run(0.02, 1e-6, motion="dynamic")
    at = whole.sample(0.02)
    assert at["slider.theta"][0] == pytest.approx(-1e-4 / 0.6, rel=1e-2)
    assert abs(at["slider.y"][0]) < 1e-6
    assert at["guide.load"][0] == pytest.approx(66.0, abs=2.0)
    flat = run(0.02, 1e-6, motion="dynamic", bar_length=0.5).sample(0.02)
    assert flat["slider.y"][0] == pytest.approx(-5e-5, rel=1e-2)
    assert flat["guide.load"][0] == pytest.approx(29.43, abs=1.0)


def test_corners_say_that_they_ignore_the_clearance():
    result = run(0.1, load="corners", clearance=3e-4)
    assert "clearance = 0.0003 m is ignored" in result.notes[0]


def test_guides_that_move_are_fixed_ones_in_another_field():
    """A guide that is lifted ever faster: as under more gravity; no other frame."""
    lift = 2.0  # m/s^2
    heavy = gallery.build("flexible_slider", clearance=3e-8, gravity=9.81 + lift)
    still = gallery.build("flexible_slider", clearance=3e-8)
    _, slider, bar = still.bodies
    support = MovingSupport(
        name="base",
        y=Expression(text=f"{0.5 * lift}*t**2"),
        points={"wall": (-3.0, 0.0)},
    )
    guide_of, pin = still.joints
    spring, push = still.forces
    moving = replace(
        still,
        bodies=(support, slider, bar),
        joints=(replace(guide_of, a="base"), pin),
        forces=(replace(spring, a="base.wall"), push),
    )
    t = np.linspace(0.0, 4.0, 41)
    names = ["slider.x", "guide.load", "guide.top_left.normal_force", "motor.torque"]
    wanted = simulate(heavy, until=4.0, rtol=RTOL).sample(t, names)
    found = simulate(moving, until=4.0, rtol=RTOL).sample(t, names)
    for name in names:
        scale = np.max(np.abs(wanted[name]))
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-6 * scale)


def test_a_heavy_guide_on_wheels():
    """A guide on a body of its own: momentum along the track, and the ledger."""
    still = gallery.build("flexible_slider", clearance=0.0, k=0.0, force=0.0)
    _, slider, bar = still.bodies
    cart = RigidBody(name="cart", mass=5.0, inertia=1.0)
    guide_of, pin = still.joints
    free = replace(
        still,
        bodies=(cart, slider, bar),
        joints=(
            Prismatic(name="track", b="cart"),
            replace(guide_of, a="cart"),
            pin,
        ),
        forces=(),
    )
    result = simulate(free, until=6.0, rtol=1e-9)
    at = result.sample(np.linspace(0.0, 6.0, 61))
    momentum = 5.0 * at["cart.vx"] + at["slider.vx"] + 2.0 * at["bar.vx"]
    np.testing.assert_allclose(momentum, momentum[0], atol=1e-9)
    assert np.ptp(at["cart.x"]) > 1e-3
    balance = result.energy_balance
    assert balance.residual <= 1e-7 * balance.exchanged


@pytest.mark.parametrize(
    "law",
    [
        CoulombViscous(mu=0.03, mu_static=0.04, viscous=0.5),
        Stribeck(mu=0.03, mu_static=0.04, velocity=0.05),
        RegularisedCoulomb(mu=0.03, velocity=1e-3),
        LuGre(mu=0.03, mu_static=0.04, velocity=0.05, stiffness=1e4, damping=10.0),
    ],
)
def test_other_laws_in_a_wide_guide(law):
    """As for the rigid block, and the ledger closes; without clearance as well."""
    t = np.linspace(0.0, 3.0, 31)
    found = []
    for given in ({"load": "corners"}, {"clearance": 1e-4}, {"clearance": 0.0}):
        model = gallery.build("flexible_slider", **given)
        guide_of, pin = model.joints
        rubbing: Any = {"friction": law}
        result = simulate(
            replace(model, joints=(replace(guide_of, **rubbing), pin)), until=3.0
        )
        balance = result.energy_balance
        assert balance.residual <= 1e-8 * balance.exchanged
        found.append(result.sample(t, "slider.x")["slider.x"])
    np.testing.assert_allclose(found[1], found[0], atol=ASKED)
    assert np.max(np.abs(found[2] - found[0])) > 0.1
