"""Laws that are powers of the depth: closed forms against points on every piece."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from nonsmooth import (
    DampedHertz,
    Flores,
    Hertz,
    HuntCrossley,
    KelvinVoigt,
    LankaraniNikravesh,
    Polygon,
)
from nonsmooth.elements.base import quantity
from nonsmooth.elements.normal import NormalLaw
from nonsmooth.kernels import abi, entry
from nonsmooth.kernels.mechanics import powers as kernel
from nonsmooth.kernels.mechanics.outlines import Press
from nonsmooth.pack.outlines import N_POWERS, Pair, full_face, outline, powers

BOX = ((-0.5, -0.3), (0.5, -0.3), (0.5, 0.3), (-0.5, 0.3))
FIVE = ((-0.4, -0.3), (0.3, -0.2), (0.5, 0.3), (-0.1, 0.5), (-0.5, 0.2))
# Angles of b: flat, nearly flat, on a corner; and where its middle is along a's face.
POSES = [(0.0, 0.05), (1e-3, -0.1), (0.7, 0.1), (2.3, 0.0), (0.4, 0.55), (-0.9, -0.6)]

LAWS = [
    KelvinVoigt(stiffness=1e5),
    KelvinVoigt(stiffness=1e5, damping=50.0),
    Hertz(stiffness=1e6),
    Hertz(stiffness=1e6, exponent=1.2),
    HuntCrossley(stiffness=1e6, exponent=1.0, damping=0.3),
    HuntCrossley(stiffness=1e6, exponent=1.7, damping=0.3),
    DampedHertz(stiffness=1e6, damping=1e5),
    DampedHertz(stiffness=1e6, exponent=1.8, damping=1e5),
    DampedHertz(stiffness=1e6, exponent=2.0, damping=1e5),
    LankaraniNikravesh(stiffness=1e6, restitution=0.4),
    Flores(stiffness=1e6, exponent=1.3, restitution=0.4),
]
# Of the sums: twelve points of other powers are right to 6e-10, of their rates by parts
# over a hundredth of the depth to 2e-9.
NEAR, NEAR_RATES = 1e-9, 1e-8
SUMS = ("F_x", "F_y", "T_x", "T_y", "M", "S", "X_x", "X_y", "area")
RATES = ("rate_F_x", "rate_F_y", "rate_S", "rate_X_x", "rate_X_y")


def pair(law, other):
    own, its = (outline(Polygon(vertices=v)) for v in (BOX, other))
    assert own is not None
    assert its is not None
    return Pair(a=own, b=its, normal=law, length=full_face([own], [its]))


def height(own, theta, x, depth):
    """How high b stands where it overlaps by `depth`."""
    low, high = 0.2, 2.0
    for _ in range(60):
        y = 0.5 * (low + high)
        b = [x, y, theta, 0.0, 0.0, 0.0]
        low, high = (
            (low, y) if both(own, [0.0] * 6, b, 0.0)[0].gap > -depth else (y, high)
        )
    return low


def both(own, a, b, approach):
    """The same pair as a power, and with that forgotten."""
    found = []
    for is_power in (True, False):
        p = np.array(own.parameters())
        a, b = np.array(a), np.array(b)
        if not is_power:
            p[kernel.DEGREE : kernel.DEGREE + N_POWERS] = 0.0
        o = Press()
        address = abi.address("normal", type(own.normal).force)
        par, scratch = np.array(own.normal.parameters()), np.zeros(own.n_scratch)
        entry.outline_pair(address, par, p, a, b, approach, True, scratch, o)
        found.append(o)
    return found


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_closed_forms_are_what_points_sum_up(law):
    assert powers(law)[0] > 0.0
    rng = np.random.default_rng(3)
    for other, pose, depth in product((BOX, FIVE), POSES, (1e-5, 2e-2)):
        own = pair(law, other)
        b = [pose[1], height(own, *pose, depth), pose[0]]
        for size in (0.0, 0.1, 10.0):
            rates = size * rng.normal(size=(2, 3))
            one, two = both(own, [0.0] * 3 + [*rates[0]], [*b, *rates[1]], 0.6)
            assert one.gap == pytest.approx(-depth, rel=1e-9)
            load = abs(two.S) + abs(two.T_x) + abs(two.T_y)
            pace = abs(two.rate_S) + two.S * size * (1.0 + 1.0 / depth)
            for name in SUMS:
                found, expected = getattr(one, name), getattr(two, name)
                assert found == pytest.approx(expected, abs=NEAR * load)
            for name in RATES:
                found, expected = getattr(one, name), getattr(two, name)
                assert found == pytest.approx(expected, abs=NEAR_RATES * pace)
            # Whether it presses anywhere is the release's guard.
            assert (one.firmness > 0.0) == (two.firmness > 0.0)


@dataclass(frozen=True, kw_only=True)
class Stiffening(NormalLaw):
    """Linear up to a depth, and stiffer beyond."""

    stiffness: float = quantity("N/m", above=0.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * (overlap + max(0.0, overlap - 1e-3))


@dataclass(frozen=True, kw_only=True)
class Squared(NormalLaw):
    """Damped by the square of the rate."""

    stiffness: float = quantity("N/m", above=0.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap * (1.0 + overlap_rate * abs(overlap_rate))


def test_what_is_a_power():
    assert powers(KelvinVoigt(stiffness=1e5, damping=3.0))[:3] == [1.0, 0.0, 1.0]
    assert powers(Hertz(stiffness=1e5, exponent=1.2))[:3] == [1.2, 1.2, 0.0]
    assert powers(DampedHertz(stiffness=1e9, damping=1e-3))[:3] == [1.5, 1.0, 1.0]
    none = [0.0] * N_POWERS
    assert powers(Stiffening(stiffness=1e5)) == none
    assert powers(Squared(stiffness=1e5)) == none
    # It may pull between two ends where it presses.
    assert powers(DampedHertz(stiffness=1e9, exponent=2.5, damping=1.0)) == none
