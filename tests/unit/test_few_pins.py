# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false
"""Loads of a few pins: rounds without factors, beside the full matrix of `slides`.

Both go on until corrections are round-off, of some ten unknowns and condition below
1e3: they may differ by 1e-12.
"""

import math

import numpy as np
import pytest

from nonsmooth import Coulomb, Ground, Model, Revolute, RigidBody, SpringDamper
from nonsmooth.kernels import entry
from nonsmooth.kernels.friction import pins, rubbing, slides
from nonsmooth.kernels.friction.modes import PRESSING, SLIP
from nonsmooth.kernels.mechanics import dynamics
from nonsmooth.pack import pack
from nonsmooth.result.evaluate import instants
from nonsmooth.solve.start import consistent_start

SAME = 1e-12


def arm(n, radius, mu=0.3, seed=0, name="", x=0.0):
    """Return bodies and joints of n rods in a row, the first on the ground, turning."""
    rng = np.random.default_rng(seed)
    half, bodies, joints = 0.2, [], []
    place, speed, before = np.array([x, 0.0]), np.zeros(2), f"ground.root{name}"
    for k in range(n):
        angle, omega = rng.uniform(-2.0, 2.0), rng.normal(scale=3.0)
        way = half * np.array([math.cos(angle), math.sin(angle)])
        turned = omega * np.array([-way[1], way[0]])
        bodies.append(
            RigidBody(name=f"rod{name}{k}", mass=rng.uniform(0.5, 2.0), inertia=0.02,
                      position=tuple(place + way), angle=angle,
                      velocity=tuple(speed + turned), angular_velocity=omega,
                      points={"root": (-half, 0.0), "tip": (half, 0.0)})
        )  # fmt: skip
        joints.append(
            Revolute(name=f"pin{name}{k}", a=before, b=f"rod{name}{k}.root",
                     friction=Coulomb(mu=mu), radius=radius)
        )  # fmt: skip
        place, speed = place + 2.0 * way, speed + 2.0 * turned
        before = f"rod{name}{k}.tip"
    return bodies, joints


def model_of(*arms, forces=()):
    """Return a model of arms on the ground, named as they were made."""
    roots = {"root": (0.0, 0.0), "root_two": (3.0, 0.0)}
    return Model(
        gravity=(0.0, -9.81),
        bodies=[Ground(points=roots), *(b for bodies, _ in arms for b in bodies)],
        joints=[j for _, joints in arms for j in joints],
        forces=forces,
    )


def evaluated(model, is_full=False):
    """Return tables, work and y' where all pins slide as they turn.

    By the full matrix, if asked: it is used for a branch that was chosen.
    """
    system = pack(model)
    m, w = system.tables, system.work()
    mode = np.zeros((1, m.n_contact), dtype=w.mode.dtype)
    mode["side"], mode["grip"] = PRESSING, SLIP
    y = np.zeros((1, m.n_y))
    y[0, : 2 * m.n_dof] = np.concatenate(consistent_start(system, w, 0.0, None, None))
    dynamics.configure(m, w, 0.0, y[0], y[0, m.n_dof :])
    mode["sign"][0] = np.sign(w.contact["v_t"])
    entry.set_mode(m, w, instants(system, np.zeros(1), y, mode), 0)
    w.is_chosen = int(is_full)
    dy = np.zeros(m.n_y)
    for _ in range(2):
        # The second begins with what the first has found.
        dynamics.rhs(m, w, 0.0, y[0], 0.0, 0.0, dy)
    return m, w, dy


def is_same(a, b):
    return a == pytest.approx(b, rel=SAME, abs=SAME * np.abs(b).max())


@pytest.mark.jit_off
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("radius", [0.005, 0.3])
def test_motion_and_forces_are_those_of_the_full_matrix(n, radius):
    model = model_of(arm(n, radius, seed=n))
    _, full, by_factors = evaluated(model, is_full=True)
    _, few, by_rounds = evaluated(model)
    assert is_same(by_rounds, by_factors)
    assert is_same(few.lam, full.lam)
    for name in ("lam_n", "lam_t"):
        assert is_same(few.contact[name], full.contact[name])
    assert is_same(few.load, full.load)
    assert few.margin == 1.0 or radius > 0.1


@pytest.mark.jit_off
def test_groups_of_their_own_share_reactions_with_none():
    pull = SpringDamper(name="pull", a="rod0.tip", b="rod_two0.tip", stiffness=30.0)
    arms = arm(2, 0.01), arm(3, 0.01, seed=1, name="_two", x=3.0)
    model = model_of(*arms, forces=[pull])
    m, full, by_factors = evaluated(model, is_full=True)
    assert m.n_group == 2
    _, few, by_rounds = evaluated(model)
    assert is_same(by_rounds, by_factors)
    assert is_same(few.lam, full.lam)


@pytest.mark.jit_off
@pytest.mark.parametrize(("radius", "is_found"), [(0.005, 1), (0.3, 0)])
def test_what_friction_changes_much_is_left_to_factors(radius, is_found):
    n = 3
    m, w, _ = evaluated(model_of(arm(n, radius)))
    end = min(m.group_end[0], w.n_active)
    v, a = np.zeros(m.n_dof), np.zeros(m.n_dof)
    w.is_bare = 1
    dynamics.accelerate(m, w, 0.0, v, 0.0, 0.0, a)
    before = w.lam.copy()
    slides.respond(m, w, 0, n)
    response = w.response[: 4 * end].copy()
    assert rubbing.find_loads(m, w, 0, n, 0) == 1
    loads, reactions = w.load_of[:n].copy(), w.new.copy()
    w.bent[:] = 0.0
    assert pins.rub(m, w, n, 0, end, 1, a) == is_found
    assert is_same(w.response[: 4 * end], response)
    assert is_same(w.lam, reactions if is_found else before)
    if is_found:
        assert is_same(w.load_of[:n], loads)
