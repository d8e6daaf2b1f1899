"""Boxes whose faces touch exactly at the start: they settle, and stay there."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import (
    Contact,
    Coulomb,
    DampedHertz,
    HuntCrossley,
    KelvinVoigt,
    Model,
    Polygon,
    RigidBody,
    simulate,
)

G, W, H = 9.81, 0.2, 0.1
K, C = 1e5, 300.0


def brick(name, x, y, angle=0.0):
    """A brick of 1 kg."""
    corners = ((-W / 2, -H / 2), (W / 2, -H / 2), (W / 2, H / 2), (-W / 2, H / 2))
    return RigidBody(
        name=name,
        mass=1.0,
        inertia=(W**2 + H**2) / 12.0,
        position=(x, y),
        angle=angle,
        shapes={"o": Polygon(vertices=corners)},
    )


def pile(places, pairs, law):
    """Bricks at places; pairs of their numbers touch, -1 is the ground."""
    contacts = [
        Contact(
            name=f"c{k}",
            a="ground" if a < 0 else f"b{a}.o",
            b=f"b{b}.o",
            normal=law,
            friction=Coulomb(mu=0.4, mu_static=0.5),
        )
        for k, (a, b) in enumerate(pairs)
    ]
    bodies = [brick(f"b{k}", x, y) for k, (x, y) in enumerate(places)]
    return Model(gravity=(0.0, -G), bodies=bodies, contacts=contacts)


def stack(n, law, x=0.0):
    places = [(x, (k + 0.5) * H) for k in range(n)]
    return pile(places, [(k - 1, k) for k in range(n)], law)


def chain(n, until, damping):
    """Masses on springs: what a stack is as long as all press; heights in the end."""

    def rate(_, z):
        y, v = z[:n], z[n:]
        overlap, closing = -np.diff(y, prepend=0.0), -np.diff(v, prepend=0.0)
        force = np.append(K * overlap + damping * closing, 0.0)
        return np.append(v, force[:-1] - force[1:] - G)

    found = solve_ivp(
        rate, (0.0, until), np.zeros(2 * n), method="Radau", rtol=1e-10, atol=1e-14
    )
    return found.y[:n, -1]


@pytest.mark.parametrize("n", [2, 5, 10])
def test_a_stack_sinks_as_a_chain_of_springs(n):
    """Where it differs: beside the ends of a face depth is measured to the sides."""
    until = 0.02
    law = KelvinVoigt(stiffness=K, damping=C)
    result = simulate(stack(n, law), until, rtol=1e-9)
    last = result.sample([until])
    sunk = [last[f"b{k}.y"][0] - (k + 0.5) * H for k in range(n)]
    deepest = n * G / K
    assert sunk == pytest.approx(chain(n, until, C), rel=2.0 * deepest / W)


@pytest.mark.parametrize(
    "law",
    [
        KelvinVoigt(stiffness=K, damping=2000.0),
        HuntCrossley(stiffness=K, exponent=1.0, damping=20.0),
        DampedHertz(stiffness=1e6, exponent=1.2, damping=5e6),
    ],
    ids=lambda law: type(law).__name__,
)
@pytest.mark.parametrize("x", [0.0, 7.3])
def test_a_stack_comes_to_rest_under_its_weight(law, x):
    n = 12
    result = simulate(stack(n, law, x), 2.0)
    assert not result.doubts
    last = result.sample([2.0])
    for k in range(n):
        load = last[f"c{k}.normal_force"][0]
        # The slowest vibration has died away to this.
        assert load == pytest.approx((n - k) * G, rel=1e-4)
        assert last[f"b{k}.x"][0] == pytest.approx(x, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_stack_that_is_not_straight_settles_soon(seed):
    """Boxes aside by up to 1 mm: slips of 1e-14 m/s under loads of 1e-7 N at first.

    Modes were decided for a moment later, when loads had doubled, and ended at once:
    21000 steps and 24 crossed spans, where these take 500.
    """
    n, shift = 16, np.random.default_rng(seed).uniform(-1e-3, 1e-3, 16)
    law = KelvinVoigt(stiffness=1e6, damping=600.0)
    places = [(shift[k], (k + 0.5) * H) for k in range(n)]
    model = pile(places, [(k - 1, k) for k in range(n)], law)
    result = simulate(model, 1.0)
    assert not result.doubts
    assert len(result.crossed) == 0
    assert result.cost["steps"] < 1500


def test_bricks_in_a_row_do_not_push_each_other():
    n = 5
    places = [(k * W, 0.5 * H) for k in range(n)]
    pairs = [(-1, k) for k in range(n)] + list(pairwise(range(n)))
    law = KelvinVoigt(stiffness=K, damping=C)
    result = simulate(pile(places, pairs, law), 0.5)
    assert not result.doubts
    last = result.sample([0.5])
    for k in range(n):
        assert last[f"c{k}.normal_force"][0] == pytest.approx(G, rel=1e-6)
        # Sides of this depth lift each other by no more than depth over height.
        assert last[f"b{k}.x"][0] == pytest.approx(k * W, abs=1e-7)


def test_a_wall_carries_its_weight():
    rows = (4, 3, 2, 1)
    places, pairs, number = [], [], {}
    for level, n in enumerate(rows):
        for k in range(n):
            here = number[level, k] = len(places)
            places.append(((k + 0.5 * level) * W, (level + 0.5) * H))
            below = [number[level - 1, k], number[level - 1, k + 1]] if level else [-1]
            pairs += [(a, here) for a in below]
            if k:
                pairs.append((here - 1, here))
    law = KelvinVoigt(stiffness=K, damping=C)
    result = simulate(pile(places, pairs, law), 0.5)
    assert not result.doubts
    last = result.sample([0.5])
    ground = [last[f"c{k}.normal_force"][0] for k, (a, _) in enumerate(pairs) if a < 0]
    assert sum(ground) == pytest.approx(sum(rows) * G, rel=1e-6)
