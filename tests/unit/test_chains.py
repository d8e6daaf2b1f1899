# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportCallIssue=false
"""Loads of many sliding joints: the banded matrix beside the full one.

A cart that rubs in its guide, by two flanks, carries a chain of rods that rub in their
pins. Both ways solve the same linear equations, of some thirty unknowns and condition
below 1e3, until corrections are round-off: they may differ by 1e-12.
"""

import math

import numpy as np
import pytest

from nonsmooth import Coulomb, Model, Prismatic, Revolute, RigidBody
from nonsmooth.kernels import entry
from nonsmooth.kernels.friction import chains, response, rubbing, slides
from nonsmooth.kernels.friction.modes import PRESSING, SLIP
from nonsmooth.kernels.mechanics import dynamics
from nonsmooth.pack import pack
from nonsmooth.result.evaluate import instants
from nonsmooth.solve.start import consistent_start

SAME = 1e-12
N = 11  # rods


def chain(seed, mu, radius):
    """Return a cart with a chain of N rods of 0.4 m; all turn and slide."""
    rng = np.random.default_rng(seed)
    rub = Coulomb(mu=mu)
    half = 0.2
    cart = RigidBody(name="cart", mass=2.0, inertia=0.1, velocity=(rng.normal(), 0.0))
    bodies = [cart]
    guide = Prismatic(name="guide", a="ground", b="cart", friction=rub, length=0.3,
                      height=0.1)  # fmt: skip
    joints = [guide]
    place, speed, before = np.zeros(2), np.array(cart.velocity), "cart"
    for k in range(N):
        angle, omega = rng.uniform(-2.0, 2.0), rng.normal(scale=3.0)
        arm = half * np.array([math.cos(angle), math.sin(angle)])
        turned = omega * np.array([-arm[1], arm[0]])
        bodies.append(
            RigidBody(name=f"rod{k}", mass=rng.uniform(0.5, 2.0), inertia=0.02,
                      position=tuple(place + arm), angle=angle,
                      velocity=tuple(speed + turned), angular_velocity=omega,
                      points={"root": (-half, 0.0), "tip": (half, 0.0)})
        )  # fmt: skip
        joints.append(
            Revolute(name=f"pin{k}", a=before, b=f"rod{k}.root", friction=rub,
                     radius=radius)
        )  # fmt: skip
        place, speed, before = place + 2.0 * arm, speed + 2.0 * turned, f"rod{k}.tip"
    return Model(gravity=(0.0, -9.81), bodies=bodies, joints=joints)


def at_start(model):
    """Return tables and work where all joints slide, with reactions without friction.

    The signs of flanks are those of a mode that need not be the law's.
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
    dy = np.zeros(m.n_y)
    dynamics.rhs(m, w, 0.0, y[0], 0.0, 0.0, dy)
    assert list(w.rub[: N + 1]) == list(range(m.n_contact))
    w.is_bare = 1
    dynamics.rhs(m, w, 0.0, y[0], 0.0, 0.0, dy)
    return m, w


def coupling(m, w, n):
    """Return D Phi, flank by flank, from what unit loads do to reactions."""
    wide = 4 * ((n + 3) // 4)
    Y = np.array(w.response[: m.n_row * wide]).reshape(m.n_row, wide)[:, :n]
    rows = []
    for k in w.rub[:n]:
        i = m.contact_joint[k]
        if m.contact_length[k] > 0.0:
            turn = 0.5 * w.contact["phi"][k] * m.contact_height[k]
            couple = (Y[i + 1] + turn * Y[i]) / m.contact_length[k]
            rows += [0.5 * Y[i] + couple, 0.5 * Y[i] - couple]
        else:
            rows.append(w.cone[k][0] * Y[i] + w.cone[k][1] * Y[i + 1])
    return -np.array(rows)


@pytest.mark.jit_off
@pytest.mark.parametrize(("seed", "mu", "radius"), [(0, 0.2, 0.02), (1, 0.3, 0.05)])
def test_loads_and_determinants_are_those_of_the_full_matrix(seed, mu, radius):
    m, w = at_start(chain(seed, mu, radius))
    n = N + 1
    slides.respond(m, w, 0, n)
    assert rubbing.find_loads(m, w, 0, n, 0) == 1
    loads, reactions = w.load_of[:n].copy(), w.new.copy()
    least = slides.least_determinant(m, w, n)
    w.load_of[:n] = 0.0
    w.new[:] = 0.0
    assert rubbing.find_loads(m, w, 0, n, 1) == 1
    assert w.load_of[:n] == pytest.approx(loads, rel=SAME)
    assert w.new == pytest.approx(reactions, abs=SAME * np.abs(reactions).max())
    assert chains.least_determinant(m, w, 0, n) == pytest.approx(least, rel=SAME)
    assert least != pytest.approx(1.0, rel=0.01)


@pytest.mark.jit_off
@pytest.mark.parametrize("radius", [0.02, 0.1])
def test_what_is_certain_is_so_for_all_signs(radius):
    m, w = at_start(chain(2, 0.3, radius))
    n = N + 1
    slides.respond(m, w, 0, n)
    rows = coupling(m, w, n)
    # Two flanks of the guide add up with either sign.
    most = max(
        np.linalg.norm(np.vstack([rows[0] + sign * rows[1], rows[2:]]), 2)
        for sign in (1.0, -1.0)
    )
    assert not chains.is_certain(m, w, 0, n, most)
    # It is a bound, of several factors of two, of what is certain.
    assert chains.is_certain(m, w, 0, n, 10.0 * most)


@pytest.mark.jit_off
def test_what_follows_contacts_at_rest_is_the_same_problem():
    m, w = at_start(chain(3, 0.3, 0.05))
    n = N + 1
    slides.respond(m, w, 0, n)
    wide = slides.stride(n)
    Y = np.array(w.response[: m.n_row * wide]).reshape(m.n_row, wide)[:, :n]
    slides.solve_loads(m, w, n)
    lu, swap = w.lu[: n * n].copy(), w.swap[:n].copy()
    w.response[:], w.lu[:] = 0.0, 0.0
    response.respond(m, w, n)
    own = np.array(w.response[: m.n_row * wide]).reshape(m.n_row, wide)[:, :n]
    assert own == pytest.approx(Y, abs=SAME * np.abs(Y).max())
    assert w.swap[:n] == pytest.approx(swap)
    assert w.lu[: n * n] == pytest.approx(lu, abs=SAME)
    # Reactions to a unit friction force of the first, with the loads it brings about.
    w.held[:n] = w.rub[:n]
    w.rub[: n - 1] = w.held[1:n]
    w.n_beside = n - 1
    response.respond(m, w, n - 1)
    alone = Y[:, 0] / -w.contact[w.held[0]].phi
    places = [m.contact_joint[k] + row for k in w.held[:n] for row in range(2)]
    w.held_alone[: 2 * n] = alone[places]
    response.follow(m, w, 1, 0)
    loads = w.held_change[: n - 1]
    lam = alone + Y[:, 1:] @ loads
    assert w.held_reaction[:2] == pytest.approx(lam[places[:2]], abs=SAME * 10.0)
    pins = [w.cone[k][:2] @ lam[m.contact_joint[k] :][:2] for k in w.held[1:n]]
    assert loads == pytest.approx(pins, abs=SAME * 10.0)
