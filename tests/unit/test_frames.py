"""Pieces on one face: how much pairs are, and the rates of what follows."""

import math

import numpy as np
import pytest

from nonsmooth import HuntCrossley, Polygon
from nonsmooth.kernels import abi, entry
from nonsmooth.kernels.mechanics import frames
from nonsmooth.kernels.mechanics.outlines import Press
from nonsmooth.pack.outlines import Pair, full_face, outline

LAW = HuntCrossley(stiffness=1e6, exponent=1.5, damping=0.3)
DEPTH = 2e-4


def slab(x0, x1, slope, rise=0.0):
    """A piece whose upper face leans, and is at a height of `rise` at its middle."""
    lean = 0.5 * (x1 - x0) * slope
    return Polygon(
        vertices=((x0, -0.3), (x1, -0.3), (x1, rise + lean), (x0, rise - lean))
    )


def plain(name):
    function = getattr(frames, name)
    return getattr(function, "py_func", function)


def pairs(pieces, a, b, keel=0.0):
    """Two pieces of a under a box whose lower face is two, each with a slope."""
    high = -0.1 + 0.2 * keel
    corners = ((-0.2, high), (0.0, -0.1), (0.2, high), (0.2, 0.1), (-0.2, 0.1))
    if keel == 0.0:
        corners = (corners[0], *corners[2:])
    its = outline(Polygon(vertices=corners))
    assert its is not None
    found = []
    for piece in pieces:
        own = outline(piece)
        assert own is not None
        length = full_face([own], [its])
        pair = Pair(a=own, b=its, normal=LAW, length=length, has_mates=True)
        o = Press()
        entry.outline_pair(
            abi.address("normal", HuntCrossley.force),
            np.array(LAW.parameters()),
            np.array(pair.parameters()),
            np.array(a, float),
            np.array(b, float),
            0.0,
            True,
            np.zeros(pair.n_scratch),
            o,
        )
        found.append(o)
    return found


def share(one, two):
    """The kernel, in Python: all that it calls as well."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("fall", "pressed_way", "share_of"):
            patch.setattr(frames, name, plain(name))
        return plain("share")(one, two)


@pytest.mark.parametrize("rise", [0.0, 0.5 * DEPTH, -0.5 * DEPTH])
def test_pieces_under_one_face_are_all_of_it(rise):
    """Level ones, and ridges that a level box presses."""
    for slope in (0.0, 0.1, 1.0):
        pieces = (slab(-0.15, -0.05, slope, rise), slab(0.05, 0.15, -slope))
        b = [0.0, 0.1 - DEPTH + 0.05 * slope, 0.0, 0.0, 0.0, 0.0]
        assert share(*pairs(pieces, [0.0] * 6, b)) == (1.0, 0.0)


def keeled(slope, near):
    """Slabs under both faces of a keel, one nearer to its edge."""
    left = slab(-0.15, -0.05, -slope, 0.1 * slope)
    return left, slab(near - 0.03, near + 0.03, slope, near * slope)


@pytest.mark.parametrize(("slope", "is_one"), [(0.3, 0.0), (0.08, 0.0), (0.02, 1.0)])
def test_pieces_under_two_faces_are_not(slope, is_one):
    b = [0.0, 0.1 - DEPTH, 0.0, 0.0, 0.0, 0.0]
    found, _ = share(*pairs(keeled(slope, 0.1), [0.0] * 6, b, slope))
    assert found == is_one


@pytest.mark.parametrize(("slope", "near"), [(0.045, 0.1), (0.045, 0.08), (0.02, 0.05)])
def test_the_rate_of_what_two_pairs_share(slope, near):
    """Against differences, where it is between none and all."""
    a, rates_a = np.array([0.1, -0.2, 0.3]), np.array([0.03, -0.02, 0.04])
    c, s = math.cos(a[2]), math.sin(a[2])
    x, y = 1e-4, 0.1 - DEPTH
    b = np.array([a[0] + c * x - s * y, a[1] + s * x + c * y, a[2] + 3e-4])
    rates_b = np.array([-0.02, 0.03, -0.05])

    def at(t):
        own, its = [*(a + t * rates_a), *rates_a], [*(b + t * rates_b), *rates_b]
        return share(*pairs(keeled(slope, near), own, its, slope))

    h = 1e-7
    found, rate = at(0.0)
    assert 0.01 < found < 0.99
    # Of equal heights, normals that turn together keep their angle.
    assert (abs(rate) > 1.0) == (near < 0.1)
    # Second differences over h; round-off of the depth over it.
    expected = (at(h)[0] - at(-h)[0]) / (2.0 * h)
    assert rate == pytest.approx(expected, rel=1e-4, abs=1e-6)
