# pyright: basic, reportArgumentType=false, reportCallIssue=false
# pyright: reportAttributeAccessIssue=false, reportReturnType=false
# pyright: reportOptionalOperand=false
"""Friction in joints, probed from outside: random mechanisms, audits, enumeration.

AUDIT is what a run at rtol = 1e-8 may leave in its own columns: forces are evaluated
from states on the constraints, so that Newton, Euler and the laws hold to round-off of
the linear equations (some 1e-12); friction at a located event is off by the event's
round-off times its rate (1e-7); the ledger has the error of the run. EVENT, in s, is
what rtol = 1e-9 leaves in times of events of motions of order one over two seconds.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import brentq

from nonsmooth import (
    Contact,
    Coulomb,
    Couple,
    Expression,
    KelvinVoigt,
    Model,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    Revolute,
    RigidBody,
    simulate,
    solvability,
)
from nonsmooth.elements.laws import TimeLaw
from nonsmooth.result import State
from oracles import joint_modes
from oracles.joint_audit import audit
from oracles.random_joints import MECHANISMS, PUSHED, SMOOTH

AUDIT = {"motion": 1e-9, "load": 1e-9, "wrench": 1e-10, "slip": 1e-10, "stuck": 1e-9,
         "sign": 1e-8, "law": 1e-7, "limit": 1e-7, "corners": 1e-7,
         "ledger": 1e-6}  # fmt: skip
EVENT = 2e-6
SEEDS = range(8)
# Redundant friction at rest is shared, and reported.
pytestmark = pytest.mark.filterwarnings("ignore::nonsmooth.NonsmoothWarning")


def found_wrong(result):
    return {k: v for k, v in audit(result).items() if v > AUDIT[k]}


def events(result, after=-1.0):
    """Return kinds and times, those of one instant in the order of their names."""
    records = [(round(e.t, 4), e.element, e.kind, e.t) for e in result.events]
    chosen = sorted(r for r in records if r[3] > after)
    return [r[1:3] for r in chosen], np.array([r[3] for r in chosen])


def assert_same_events(ours, theirs, after=-1.0):
    kinds, t = events(ours, after)
    expected, times = events(theirs, after)
    assert kinds == expected
    np.testing.assert_allclose(t, times, rtol=0.0, atol=EVENT)


# -- audits ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_random_mechanisms_obey_their_laws(name, seed):
    model = MECHANISMS[name](np.random.default_rng(seed))
    assert found_wrong(simulate(model, 2.0)) == {}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["chain", "block", "moving_slot"])
def test_random_mechanisms_with_bristles_obey_their_laws(name, seed):
    model = MECHANISMS[name](np.random.default_rng(seed), SMOOTH)
    assert found_wrong(simulate(model, 1.0)) == {}


def test_the_audit_sees_a_wrong_force():
    """The columns of a run against a model with other coefficients."""
    model = MECHANISMS["chain"](np.random.default_rng(1))
    result = simulate(model, 0.5)
    less = Coulomb(mu=1e-3)
    joints = tuple(replace(j, friction=less) for j in model.joints)
    other = replace(result.system, model=replace(model, joints=joints))
    wrong = found_wrong(replace(result, system=other))
    assert "law" in wrong
    heavier = tuple(replace(b, mass=2.0 * b.mass) for b in model.bodies)
    other = replace(result.system, model=replace(model, bodies=heavier))
    assert "motion" in found_wrong(replace(result, system=other))


# -- break-away neither early nor late -------------------------------------------------


@pytest.mark.parametrize("method", ["dop853", "dopri5", "radau"])
def test_a_load_that_passes_zero_lets_go(method):
    """Friction's limit is mu |10 (t − t0)|: a V that falls between samples."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        push, t0 = rng.uniform([0.02, 0.3], [0.5, 1.7]).tolist()
        load = Expression(text=f"10*(t-{t0!r})")
        model = Model(
            bodies=[PointMass(name="m", mass=1.0)],
            joints=[PinInSlot(name="slot", b="m", friction=Coulomb(mu=0.5))],
            forces=[PointForce(name="push", b="m", fx=push, fy=load)],
        )
        result = simulate(model, 2.0, method=method)
        first = result.events[0]
        assert first.kind == "break_away", seed
        # Friction below 1e-9 of the force is no event's business; its rate is 5 N/s.
        assert first.t == pytest.approx(t0 - push / 5.0, abs=1e-8)


def waved(kind, force):
    """Return a mass of 10 N at rest, held by friction of at most 5 N."""
    law = Coulomb(mu=0.5)
    body = RigidBody(name="m", mass=1.0, inertia=0.1)
    push = PointForce(name="push", b="m", fx=force)
    if kind == "slot":
        joint = PinInSlot(name="j", b="m", friction=law)
    elif kind == "guide":
        joint = Prismatic(name="j", b="m", length=0.3, friction=law)
    elif kind == "pin":
        joint = Revolute(name="j", b="m", radius=1.0, friction=law)
        push = Couple(name="push", b="m", torque=force)
    else:
        soft = KelvinVoigt(stiffness=1e4, damping=10.0)
        return Model(
            gravity=(0.0, -10.0),
            bodies=[PointMass(name="m", mass=1.0, position=(0.0, -1e-3))],
            contacts=[Contact(name="j", b="m", normal=soft, friction=law)],
            forces=[push],
        )
    return Model(gravity=(0.0, -10.0), bodies=[body], joints=[joint], forces=[push])


@pytest.mark.parametrize("kind", ["slot", "guide", "pin", "contact"])
@pytest.mark.parametrize("seed", range(5))
def test_an_oscillating_force_lets_go_at_its_first_crest(kind, seed):
    """While all is at rest only the force tells how short a step must be."""
    size, rate = np.random.default_rng(seed).uniform([2.6, 3.0], [8.0, 80.0]).tolist()

    def left(t):
        return 5.0 - abs(size * t * np.sin(rate * t))

    t = np.linspace(0.0, 2.0, 20001)
    beyond = np.flatnonzero([left(x) < 0.0 for x in t])
    result = simulate(waved(kind, Expression(text=f"{size!r}*t*sin({rate!r}*t)")), 2.0)
    if len(beyond) == 0:
        assert len(result.events) == 0
        return
    expected = brentq(left, t[beyond[0] - 1], t[beyond[0]], xtol=1e-14)
    assert result.events[0].t == pytest.approx(expected, abs=1e-8)


def rod_at_rest(first):
    """Return a rod in two slots that its weight does not move, but some force does.

    The model as a function of the force's factor, from the given seed on.
    """
    for seed in range(first, first + 1000):
        base = PUSHED["pushed_rod"](np.random.default_rng(seed), 0.5)
        push = base.forces[0]
        assert isinstance(push, PointForce)

        def loaded(fx, fy, base=base, push=push):
            force = replace(push, fx=fx, fy=fy)
            return replace(base, forces=(force,), gravity=(0.0, -9.81))

        def holds(factor, loaded=loaded, push=push):
            model = loaded(factor * push.fx, factor * push.fy)
            q = joint_modes.start(model)
            found = joint_modes.motions(model, q, 0.0 * q)
            # Near a dead centre it may be allowed to move as well.
            return any(np.all(np.abs(motion.rate) < 1e-6) for motion in found)

        if holds(0.0) and holds(0.2) and not holds(20.0):
            grows = (Expression(text=f"{x!r}*t") for x in (push.fx, push.fy))
            return loaded(*grows), holds
    raise AssertionError("no such rod")


@pytest.mark.parametrize("first", range(0, 6000, 1000))
def test_a_closed_loop_at_rest_lets_go_at_its_limit_load(first):
    """Two points on one motion share friction; a linear program knows the limit."""
    model, holds = rod_at_rest(first)
    factors = np.linspace(0.2, 20.0, 100)
    high = next(x for x in factors.tolist() if not holds(x))
    low = high - (factors[1] - factors[0])
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    result = simulate(model, high + 0.1)
    # Before that a point may come to bear on its other flank.
    leaves = [e.t for e in result.events if e.kind != "change_side"]
    assert len(leaves) >= 2
    # The linear program decides to 1e-9 of forces of some ten newtons.
    assert leaves[:2] == pytest.approx([high, high], abs=1e-6)


# -- all motions -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", PUSHED)
def test_solvability_finds_every_motion(kind):
    for seed in range(24):
        rng = np.random.default_rng(seed)
        model = PUSHED[kind](rng, (0.4, 1.0, 3.0)[seed % 3])
        q = joint_modes.start(model)
        moves = seed % 2 == 1
        v = joint_modes.random_velocity(model, rng) if moves else 0.0 * q
        names = [b.name for b in model.bodies if isinstance(b, RigidBody)]
        state = State(
            t=0.0,
            positions=dict(zip(names, map(tuple, q.reshape(-1, 3)), strict=True)),
            velocities=dict(zip(names, map(tuple, v.reshape(-1, 3)), strict=True)),
        )
        found = solvability(model, state)
        expected = joint_modes.motions(model, q, v)
        status = {0: "none", 1: "unique"}.get(len(expected), "several")
        assert (seed, found.status) == (seed, status)
        assert len(found.solutions) == len(expected)
        moving = [m for m in expected if moves or np.any(np.abs(m.rate) > 1e-6)]
        ours = [[f.friction_force for f in s.values()] for s in found.solutions]
        for motion in moving:
            # Round-off of numbers of ten; rates of Jacobians by differences.
            size = 1.0 + float(np.max(np.abs(motion.friction)))
            near = [
                np.allclose(f, motion.friction, rtol=0.0, atol=1e-5 * size)
                for f in ours
            ]
            assert any(near), seed
        if found.is_always_unique:
            assert len(expected) == 1


# -- no load, loads that jump ----------------------------------------------------------


@pytest.mark.parametrize("speed", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["slot", "guide", "pin"])
def test_joints_without_any_load(kind, speed):
    """Nothing presses, so nothing rubs."""
    body = RigidBody(
        name="m",
        mass=1.0,
        inertia=0.1,
        velocity=(0.0, 0.0) if kind == "pin" else (speed, 0.0),
        angular_velocity=speed if kind == "pin" else 0.0,
    )
    model = replace(waved(kind, 0.0), gravity=(0.0, 0.0), bodies=(body,), forces=())
    result = simulate(model, 0.5)
    assert len(result.events) == 0
    x, _, theta = result.state().positions["m"]
    moved = theta if kind == "pin" else x
    assert moved == pytest.approx(0.5 * speed, abs=1e-12)


@dataclass(frozen=True, kw_only=True)
class Jump(TimeLaw):
    """One value before an instant, another from then on."""

    at: float
    before: float
    after: float

    def breaks(self):
        return (self.at,)

    @staticmethod
    def evaluate(p, t, s):
        s[0] = p[1] if t < p[0] else p[2]
        s[1] = 0.0
        s[2] = 0.0


def slot(fx, fy=0.0, speed=0.0):
    return Model(
        gravity=(0.0, -10.0),
        bodies=[PointMass(name="m", mass=1.0, velocity=(speed, 0.0))],
        joints=[PinInSlot(name="slot", b="m", friction=Coulomb(mu=0.3, mu_static=0.4))],
        forces=[PointForce(name="push", b="m", fx=fx, fy=fy)],
    )


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        # 6 N against 3 N from 0.5 s on.
        (slot(Jump(at=0.5, before=1.0, after=6.0)), [("break_away", 0.5)]),
        # To 1.5 m/s, then −2 m/s².
        (slot(Jump(at=0.5, before=6.0, after=1.0)), [("stick", 1.25)]),
        # 3 − 0.75 m/s, then on the other flank under 15 N.
        (
            slot(0.0, Jump(at=0.25, before=0.0, after=25.0), 3.0),
            [("change_side", 0.25), ("stick", 0.75)],
        ),
        # No load at all from 0.25 s on.
        (slot(1.0, Jump(at=0.25, before=0.0, after=10.0)), [("break_away", 0.25)]),
        (slot(0.0, Jump(at=0.25, before=0.0, after=10.0)), []),
    ],
    ids=["let go", "caught", "thrown over", "unloaded", "nothing happens"],
)
def test_forces_that_jump(model, expected):
    result = simulate(model, 2.0)
    assert [e.kind for e in result.events] == [kind for kind, _ in expected]
    # Steps end on breaks; the rest is exact for polynomials.
    np.testing.assert_allclose(
        result.events.t, [t for _, t in expected], rtol=0.0, atol=1e-9
    )
    assert found_wrong(result) == {}


# -- what must not matter --------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MECHANISMS)
def test_events_depend_neither_on_tolerance_nor_on_method_nor_on_order(name, seed):
    rng = np.random.default_rng(20 + seed)
    model = MECHANISMS[name](rng)
    result = simulate(model, 1.0, rtol=1e-9)
    assert_same_events(simulate(model, 1.0, rtol=1e-11), result)
    assert_same_events(simulate(model, 1.0, rtol=1e-9, method="radau"), result)
    turned = replace(model, bodies=model.bodies[::-1], joints=model.joints[::-1])
    assert_same_events(simulate(turned, 1.0, rtol=1e-9), result)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_run_goes_on_from_any_of_its_states(name, seed):
    """Also from an event, from either of its limits."""
    rng = np.random.default_rng(20 + seed)
    model = MECHANISMS[name](rng)
    whole = simulate(model, 1.0, rtol=1e-9)
    starts = [(float(t), "after") for t in rng.uniform(0.05, 0.95, 2)]
    for event in whole.events[:2]:
        starts += [(event.t, "before"), (event.t, "after")]
    for t, limit in starts:
        if 0.0 < t < 0.99:
            rest = simulate(model, 1.0, rtol=1e-9, start=whole.state(t, limit))
            assert_same_events(rest, whole, t + EVENT)


@pytest.mark.parametrize("kind", ["slot", "guide", "pin", "contact"])
def test_a_start_exactly_at_the_limit_of_friction(kind):
    model = waved(kind, Expression(text="10*t"))
    first = simulate(model, 1.0)
    assert first.events[0].t == pytest.approx(0.5, abs=1e-8)
    for limit in ("before", "after"):
        rest = simulate(model, 1.0, start=first.state(first.events[0].t, limit))
        assert len(rest.events) <= 1
        end, expected = rest.state(), first.state()
        np.testing.assert_allclose(
            end.positions["m"], expected.positions["m"], rtol=0.0, atol=1e-8
        )
