"""Two outlines that overlap, against areas, fine sums and differences."""

import dataclasses
import math

import numpy as np
import pytest

from nonsmooth import (
    DampedHertz,
    Hertz,
    HuntCrossley,
    KelvinVoigt,
    Line,
    Polygon,
)
from nonsmooth.kernels import abi, entry
from nonsmooth.kernels.mechanics.outlines import Press
from nonsmooth.kernels.mechanics.pressure import EVEN
from nonsmooth.pack.outlines import (
    FEW,
    MANY,
    MORE,
    SOME,
    Pair,
    full_face,
    outline,
    points,
)
from oracles import outlines as slow

BOX = ((-0.5, -0.3), (0.5, -0.3), (0.5, 0.3), (-0.5, 0.3))
OTHERS = {
    "box": ((-0.4, -0.25), (0.4, -0.25), (0.4, 0.25), (-0.4, 0.25)),
    "five": ((-0.4, -0.3), (0.3, -0.2), (0.5, 0.3), (-0.1, 0.5), (-0.5, 0.2)),
    "wedge": ((0.0, -0.3), (0.4, 0.3), (-0.4, 0.3)),
}
# Angles of b: flat, nearly flat, on a corner; and where its middle is along a's face.
POSES = [(0.0, 0.05), (1e-3, -0.1), (0.7, 0.1), (2.3, 0.0), (0.4, 0.55), (-0.9, -0.6)]
STATES = [
    (other, theta, x, is_line)
    for other in OTHERS
    for theta, x in POSES
    for is_line in (False, True)
]


def pair(normal, other=OTHERS["box"], is_line=False):
    a = Line(point=(0.0, 0.3)) if is_line else Polygon(vertices=BOX)
    b = Polygon(vertices=other)
    own, its = outline(a), outline(b)
    assert own is not None
    assert its is not None
    return Pair(a=own, b=its, normal=normal, length=full_face([own], [its]))


def covered(normal, its, k):
    """The left or right half of the box, its face in the middle covered."""
    low, high = ((-0.5, 0.0), (0.0, 0.5))[k]
    half = outline(
        Polygon(vertices=((low, -0.3), (high, -0.3), (high, 0.3), (low, 0.3)))
    )
    assert half is not None
    is_open = [True] * 4
    is_open[1 if k == 0 else 3] = False
    half = dataclasses.replace(half, is_open=tuple(is_open))
    return Pair(a=half, b=its, normal=normal, length=pair(normal, its.vertices).length)


def evaluate(own, a, b, approach=0.0):
    o = Press()
    entry.outline_pair(
        abi.address("normal", type(own.normal).force),
        np.array(own.normal.parameters()),
        np.array(own.parameters()),
        np.array(a, float),
        np.array(b, float),
        approach,
        True,
        np.zeros(own.n_scratch),
        o,
    )
    return o


def placed(own, a, b):
    """Both outlines in global axes, for the oracle."""
    its = slow.placed(own.b.shape.vertices, b[:3])
    if own.a.vertices:
        return slow.placed(own.a.vertices, a[:3]), its
    normal = np.array([-math.sin(a[2]), math.cos(a[2])])
    return (normal, normal @ a[:2] + 0.3), its


def pressed(own, theta, x, depth, a=(0.1, -0.2, 0.3)):
    """The pose of b, turned by theta from a, at which it overlaps by `depth`."""
    c, s = math.cos(a[2]), math.sin(a[2])
    low, high = 0.2, 2.0
    b = np.zeros(3)
    for _ in range(80):
        y = 0.5 * (low + high)
        b = np.array([a[0] + c * x - s * y, a[1] + s * x + c * y, a[2] + theta])
        if slow.gap(*placed(own, np.array(a), b)) > -depth:
            high = y
        else:
            low = y
    return np.array(a), b


def moment(o):
    """Moment of all pressure about the origin of b."""
    return o.M - (o.D_x * o.T_y - o.D_y * o.T_x)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0, 1.2])
@pytest.mark.parametrize("depth", [2e-3, 2e-2])
def test_the_force_is_the_gradient_of_an_energy(exponent, depth):
    for other, theta, x, is_line in STATES:
        own = pair(Hertz(stiffness=1e5, exponent=exponent), OTHERS[other], is_line)
        a, b = pressed(own, theta, x, depth)
        o = evaluate(own, [*a, 0, 0, 0], [*b, 0, 0, 0])

        def energy(b):
            return slow.energy(
                *placed(own, a, b),  # noqa: B023
                lambda d: 1e5 / own.length * d**exponent,  # noqa: B023
            )

        h = 1e-5 * depth
        slope = [(energy(b - h * e) - energy(b + h * e)) / (2.0 * h) for e in np.eye(3)]
        # Round-off of energies over 2h, beside their differences; where corners are
        # passed, second derivatives jump, and the difference has a part of h/depth.
        found = np.array([o.T_x, o.T_y, moment(o)])
        assert found == pytest.approx(slope, abs=2e-5 * np.abs(slope).max())
        tight = np.abs(found - slope).max() / np.abs(slope).max()
        assert tight <= 3e-8 or theta in (0.0, 1e-3)


@pytest.mark.parametrize(
    "law",
    [
        KelvinVoigt(stiffness=1e5, damping=50.0),
        HuntCrossley(stiffness=1e6, damping=0.3),
        DampedHertz(stiffness=1e6, damping=1e5),
    ],
    ids=lambda law: type(law).__name__,
)
@pytest.mark.parametrize(
    "rates_b",
    [(-0.4, -0.6, 0.9), (-3.0, 9.0, 30.0), (4.0, 6.0, -40.0)],
    ids=["presses", "lifts", "rolls"],
)
def test_damping_by_fine_sums(law, rates_b):
    """Also where part of the edges would pull, and does not."""
    rates_a = (0.3, -0.2, 0.5)
    for other, theta, x, is_line in STATES:
        own = pair(law, OTHERS[other], is_line)
        a, b = pressed(own, theta, x, 0.02)
        o = evaluate(own, [*a, *rates_a], [*b, *rates_b])

        def pressure(depth, rate):
            p = law.parameters()
            values = [
                type(law).force(p, d, r, 0.0)
                for d, r in zip(depth.tolist(), rate.tolist(), strict=True)
            ]
            return np.array(values) / own.length  # noqa: B023

        n = 2000
        force, torque, S, X = slow.resultant(
            *placed(own, a, b),
            (*a[:2], *rates_a),
            (*b[:2], *rates_b),
            pressure,
            n=n,
        )
        # Midpoints: cells at the ends of pieces, of 0.8/n m beside at least 0.02 m.
        allowed = 2.0 * (0.8 / n) / 0.02 * max(np.abs(force).max(), S)
        torque -= a[0] * force[1] - a[1] * force[0]
        assert [o.T_x, o.T_y] == pytest.approx(force, abs=allowed)
        assert pytest.approx(torque, abs=allowed) == o.M
        assert pytest.approx(S, abs=allowed) == o.S
        P = X / S - a[:2]
        assert [o.P_x, o.P_y] == pytest.approx(P, abs=2.0 * (0.8 / n))
        # The resultant is along n at P, with a couple.
        assert pytest.approx(o.n_x * o.T_x + o.n_y * o.T_y, rel=1e-14) == o.N


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("left", [0.1, 0.03, 0.01])
def test_pressure_that_ends_next_to_the_end_of_an_edge(exponent, left):
    """A tilted face lifts at its shallow end, the last part of what overlaps.

    Without the cut the force is off by some left^(exponent + 1).
    """
    law = HuntCrossley(stiffness=1e6, exponent=exponent, damping=0.5)
    own = pair(law, is_line=True)
    theta, depth = 0.02, 0.005
    a, b = pressed(own, theta, 0.0, depth, a=(0.0, 0.0, 0.0))
    # The bottom face overlaps from its right end, or left, to where the depth is zero;
    # its rate falls along it, to -1/damping where the pressure ends.
    edge = slow.placed(own.b.vertices, b)[:2]
    low = edge[np.argmin(edge[:, 1])]
    far = edge[np.argmax(edge[:, 1])]
    zero = low + (far - low) * (0.3 - low[1]) / (far[1] - low[1])
    last = zero + left * (low - zero)
    spin = 2.0 / (last[0] - low[0]) / law.damping
    rates = (0.0, 1.0 / law.damping + spin * (b[0] - last[0]), spin)
    o = evaluate(own, [*a, 0, 0, 0], [*b, *rates])

    def pressure(phi, rate):
        return 1e6 / own.length * phi**exponent * (1.0 + 0.5 * rate)

    motion_a, motion_b = (*a[:2], 0, 0, 0), (*b[:2], *rates)
    n = 400_000
    force, _, _, _ = slow.resultant(*placed(own, a, b), motion_a, motion_b, pressure, n)
    # Midpoints: a cell at either end of what presses, where pressure is small.
    assert o.T_y == pytest.approx(force[1], rel=1e-8)


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_rates_by_differences(exponent):
    va, vb = np.array([0.3, -0.2, 0.5]), np.array([-0.4, -0.6, 0.9])
    aa, ab = np.array([1.0, 2.0, -3.0]), np.array([-2.0, 0.5, 4.0])
    for other, theta, x, is_line in STATES:
        if theta == 0.0:
            continue  # corners are equally deep there: the gap has a kink
        own = pair(Hertz(stiffness=1e5, exponent=exponent), OTHERS[other], is_line)
        a, b = pressed(own, theta, x, 0.02)

        def after(t):
            return evaluate(
                own,  # noqa: B023
                [*(a + t * va + 0.5 * t * t * aa), *(va + t * aa)],  # noqa: B023
                [*(b + t * vb + 0.5 * t * t * ab), *(vb + t * ab)],  # noqa: B023
            )

        o, h = after(0.0), 2e-6
        up, down = after(h), after(-h)

        def rate(get):
            return (get(up) - get(down)) / (2.0 * h)  # noqa: B023

        # Second differences of what varies by itself over 0.02 m, that is within 0.02 s
        # at 1 m/s: (h/0.02)^2, round-off over h, and of C1 functions h/0.02.
        near = 5e-4
        assert rate(lambda s: s.gap) == pytest.approx(o.gap_rate, abs=1e-7)
        turned = rate(lambda s: math.atan2(s.n_y, s.n_x))
        assert turned == pytest.approx(o.turn, abs=near)
        tau = np.array([o.n_y, -o.n_x])
        P = np.array([o.P_x, o.P_y])
        arm_b = P - (b - a)[:2]
        turn = lambda r: np.array([-r[1], r[0]])  # noqa: E731
        bodies = ab[:2] + ab[2] * turn(arm_b) - aa[:2] - aa[2] * turn(P)
        slip = rate(lambda s: s.v_t)
        assert slip == pytest.approx(tau @ bodies + o.bias, abs=near * 10.0)
        full_a = np.array([*a, *va, *aa])
        full_b = np.array([*b, *vb, *ab])
        bend = entry.outline_acceleration(o, full_a, full_b)
        assert rate(lambda s: s.gap_rate) == pytest.approx(bend, abs=1e-6)


@pytest.mark.parametrize("law", [KelvinVoigt(stiffness=1e5), Hertz(stiffness=1e6)])
def test_aligned_equal_boxes(law):
    """Continuous at every offset, and pushed aside by half the depth over the width."""
    own = pair(law, BOX)
    depth, width = 1e-4, 1.0
    offsets = [0.0, 1e-12, 1e-6, 1e-3]
    for sign in (1.0, -1.0):
        forces = []
        for offset in offsets:
            x = sign * offset * width
            o = evaluate(own, np.zeros(6), [x, 0.6 - depth, 0.0, 0.0, 0.0, 0.0])
            # Of the load of the full face; beside an edge of the depth it is all there.
            full = type(law).force(law.parameters(), depth, 0.0, 0.0)
            assert abs(o.T_x) <= (0.5 * depth / width) * full * (1.0 + 1e-9)
            forces.append((o.T_x, o.T_y))
        # 1e-12 m beside a depth of 1e-4 m changes forces by 1e-12 of the load at most.
        assert forces[1] == pytest.approx(forces[0], abs=2e-12 * forces[0][1])
        # Without an offset nothing pushes aside, but for round-off.
        assert abs(forces[0][0]) <= 1e-15 * forces[0][1]


def test_past_the_end_of_a_face_and_from_corner_to_corner():
    """Forces along a path change by no more than in proportion to the way."""
    own = pair(KelvinVoigt(stiffness=1e5), OTHERS["box"])
    for theta in (0.0, 0.3, math.pi / 4.0, 1e-5):
        steps = []
        for n in (400, 4000):
            x = np.linspace(-1.2, 1.2, n + 1)
            found = []
            for place in x:
                o = evaluate(own, np.zeros(6), [place, 0.54, theta, 0.0, 0.0, 0.0])
                found.append((o.T_x, o.T_y, o.M))
            steps.append(np.abs(np.diff(found, axis=0)).max())
        # A jump would be as large on the finer path.
        assert steps[1] <= 0.15 * steps[0]


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_no_work_round_closed_loops(exponent):
    own = pair(Hertz(stiffness=1e5, exponent=exponent))
    # Gauss on 4000 arcs; a kink in the slope of the force leaves 1/n^2 of its arc.
    n = 4000
    node, weight = np.polynomial.legendre.leggauss(3)
    s = (np.arange(n)[:, None] + 0.5 * (1.0 + node)) / n
    ds = np.broadcast_to(0.5 * weight / n, s.shape).ravel()
    total, size = 0.0, 0.0
    for phase, step in zip(2.0 * math.pi * s.ravel(), ds, strict=True):
        c, e = math.cos(phase), math.sin(phase)
        o = evaluate(
            own, np.zeros(6), [0.5 + 0.3 * c, 0.56 + 0.02 * e, 0.4 * e * c, 0, 0, 0]
        )
        way = (-0.3 * e, 0.02 * c, 0.4 * (c * c - e * e))
        work = o.T_x * way[0] + o.T_y * way[1] + moment(o) * way[2]
        total += work * 2.0 * math.pi * step
        size += abs(work) * 2.0 * math.pi * step
    assert abs(total) <= size / n**2


@pytest.mark.parametrize("law", [KelvinVoigt(stiffness=1e5), Hertz(stiffness=1e6)])
def test_a_full_face_has_the_force_of_the_law(law):
    own = pair(law, is_line=True)
    o = evaluate(own, np.zeros(6), [3.0, 0.55 - 1e-3, 0.0, 0.0, 0.0, 0.0])
    full = type(law).force(law.parameters(), 1e-3, 0.0, 0.0)
    assert pytest.approx(full, rel=1e-12) == o.N  # 1e-3 of places of order one
    assert o.width == pytest.approx(0.8, rel=1e-15)
    # The box stands on its bottom: the point is below its middle.
    assert pytest.approx(3.0, abs=1e-14) == o.P_x


def test_gap_and_distance():
    rng = np.random.default_rng(3)
    n_open = 0
    for _ in range(300):
        own = pair(KelvinVoigt(stiffness=1.0), OTHERS["five"])
        a = np.array([0.0, 0.0, rng.uniform(-3.0, 3.0)])
        b = np.array([*rng.uniform(-1.3, 1.3, 2), rng.uniform(-3.0, 3.0)])
        va, vb = rng.normal(size=3), rng.normal(size=3)
        o = evaluate(own, [*a, *va], [*b, *vb])
        shapes = placed(own, a, b)
        assert o.gap == pytest.approx(slow.gap(*shapes), abs=1e-14)
        assert (o.S > 0.0) == (o.gap < 0.0)
        if o.gap < 1e-3:
            continue
        n_open += 1
        p, scratch = np.array(own.parameters()), np.zeros(own.n_scratch)
        motions = np.array([*a, *va]), np.array([*b, *vb])
        entry.outline_distance(p, *motions, scratch, o)
        assert o.gap == pytest.approx(slow.distance(*shapes), abs=1e-14)
        h = 1e-7
        far = [slow.distance(*placed(own, a + s * va, b + s * vb)) for s in (h, -h)]
        # Round-off over 2h.
        assert o.gap_rate == pytest.approx((far[0] - far[1]) / (2.0 * h), abs=1e-6)
    assert n_open > 30


@pytest.mark.parametrize("x", [0.0, 0.1, -0.25, 0.6])
def test_a_covered_face_does_not_show(x):
    """Two pieces with their common face covered press as the whole does."""
    law = Hertz(stiffness=1e5)
    its = outline(Polygon(vertices=OTHERS["five"]))
    assert its is not None
    halves = [covered(law, its, k) for k in range(2)]
    whole = pair(law, OTHERS["five"])
    for theta in (0.0, -0.14, 0.5, 2.0):
        a, b = pressed(whole, theta, x, 5e-3)
        # Beyond a covered face nothing is inside, however near.
        found = [evaluate(own, [*a, 0, 0, 0], [*b, 0, 0, 0]) for own in halves]
        expected = evaluate(whole, [*a, 0, 0, 0], [*b, 0, 0, 0])
        assert all((o.gap < 0.0) == (o.S > 0.0) for o in found)
        for name in ("T_x", "T_y", "M"):
            value = getattr(expected, name)
            total = sum(getattr(o, name) for o in found)
            assert total == pytest.approx(value, abs=1e-11 * expected.S)


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize(("theta", "x"), [(1e-3, 0.05), (-0.1, -0.27), (0.4, 0.25)])
def test_rates_where_an_edge_ends_at_a_covered_face(half, theta, x):
    """Both bodies turn and slide; the sums change as their rates say."""
    its = outline(Polygon(vertices=OTHERS["box"]))
    assert its is not None
    own = covered(KelvinVoigt(stiffness=1e5), its, half)
    va, vb = np.array([0.3, -0.2, 0.5]), np.array([-0.4, -0.6, 0.9])
    a, b = pressed(pair(own.normal), theta, x, 0.02)

    def after(t):
        return evaluate(own, [*(a + t * va), *va], [*(b + t * vb), *vb])

    o, h = after(0.0), 1e-6
    assert o.S > 0.0
    up, down = after(h), after(-h)
    # Sums of a law of degree one are polynomials of the pose, but for h^2 of turns;
    # their round-off over h is 1e-10 of them. X is from a's origin, which moves.
    for name in ("F_x", "F_y", "S"):
        found = (getattr(up, name) - getattr(down, name)) / (2.0 * h)
        rate = getattr(o, f"rate_{name}")
        assert found == pytest.approx(rate, abs=1e-7 * o.S / 0.02)
    for name in "xy":
        found = getattr(up, f"X_{name}") - getattr(down, f"X_{name}")
        rate = getattr(o, f"rate_X_{name}")
        assert found / (2.0 * h) == pytest.approx(rate, abs=1e-7 * o.S / 0.02)


@pytest.mark.parametrize("exponent", [1.0, 1.2, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("fall", [0.0, 1e-6, 0.999 * EVEN, 1.001 * EVEN, 0.5])
def test_sums_and_rates_of_a_tilted_face(exponent, fall):
    """On a line: powers of the depth, integrated in closed form, and their rates."""
    stiffness, depth, width = 1e5, 1e-3, 0.8
    law = Hertz(stiffness=stiffness, exponent=exponent)
    own = pair(law, is_line=True)
    theta = -math.asin(fall * depth / width)
    # The right corner of the bottom is at the depth, the left one is less deep.
    c, s = math.cos(theta), math.sin(theta)
    corner = s * 0.4 - c * 0.25
    rates = (0.0, -0.7, 0.3)
    o = evaluate(own, np.zeros(6), [0.0, 0.3 - depth - corner, theta, *rates])
    # s from the deep corner: phi = depth - drop s, and rate - turn s with it.
    drop = depth * fall / width

    def sums(power):  # int phi^power ds and int phi^power s ds
        node, weight = np.polynomial.legendre.leggauss(40)
        place = 0.5 * width * (1.0 + node)
        phi = (depth - drop * place) ** power * weight * 0.5 * width
        return np.sum(phi), np.sum(phi * place)

    whole, _ = sums(exponent)
    scale = stiffness / own.length
    # Depths are differences of places of order one: round-off over the depth.
    near = 20.0 * np.finfo(float).eps / depth
    side = o.S - scale * whole  # of both side edges, closed form below
    ends = [depth, depth - drop * width]
    edges = sum(d ** (exponent + 1.0) / (exponent + 1.0) for d in ends) / c
    assert side == pytest.approx(scale * edges, abs=near * o.S)
    # The law's slope along the face, times the rate of the depth, -(v_y + omega x).
    x = c * 0.4 + s * 0.25
    rate = -(rates[1] + rates[2] * x)
    change, turn = sums(exponent - 1.0)
    expected = exponent * (rate * change + rates[2] * c * turn)
    for d, at in zip(ends, (x, x - c * width), strict=True):
        expected += -(rates[1] + rates[2] * at) * d**exponent / c
        # Along a side the depth is passed at places that lean by the tilt.
        expected += rates[2] * s * d ** (exponent + 1.0) / (c * c) / (exponent + 1.0)
    # Twelve points of the power 1.2, by parts over a fall of a hundredth and more.
    assert o.rate_S == pytest.approx(scale * expected, rel=2e-9)


def test_the_same_motion_is_not_evaluated_again_and_another_is():
    own = pair(HuntCrossley(stiffness=1e6, damping=0.3))
    a = np.array([0.1, -0.2, 0.3, 0.3, -0.2, 0.5])
    _, place = pressed(own, 0.05, 0.1, 2e-3)
    b = np.array([*place, -0.4, -0.6, 0.9])
    address = abi.address("normal", HuntCrossley.force)
    p, q = np.array(own.normal.parameters()), np.array(own.parameters())
    scratch, o = np.zeros(own.n_scratch), Press()
    names = ("T_x", "T_y", "M", "v_t", "bias", "firmness", "gap_rate")

    def again(a, b, approach, has_rates):
        entry.outline_pair(address, p, q, a, b, approach, has_rates, scratch, o)
        found = [getattr(o, name) for name in names]
        fresh = Press()
        entry.outline_pair(address, p, q, a, b, approach, has_rates, scratch, fresh)
        assert found == [getattr(fresh, name) for name in names]

    again(a, b, 0.0, True)
    o.T_x = 1.0  # it stays as it is
    entry.outline_pair(address, p, q, a, b, 0.0, True, scratch, o)
    assert o.T_x == 1.0
    for i in range(6):
        for motion in (a, b):
            motion[i] += 1e-9
            again(a, b, 0.0, True)
    again(a, b, 0.0, False)
    again(a, b, 0.1, False)
    # The distance of outlines that are apart is written over what was known.
    b[1] += 1.0
    again(a, b, 0.1, True)
    entry.outline_distance(q, a, b, scratch, o)
    again(a, b, 0.1, True)


def test_points_for_a_law():
    assert points(KelvinVoigt(stiffness=1e5, damping=3.0)) == FEW
    assert points(HuntCrossley(stiffness=1e5, exponent=1.0, damping=0.4)) == FEW
    assert points(Hertz(stiffness=1e5, exponent=2.0)) == FEW
    assert points(HuntCrossley(stiffness=1e5, exponent=2.0, damping=0.4)) == MORE
    assert points(Hertz(stiffness=1e5)) == SOME
    assert points(HuntCrossley(stiffness=1e5, damping=0.4)) == SOME
    assert points(DampedHertz(stiffness=1e5, damping=0.4)) == SOME
    assert points(Hertz(stiffness=1e5, exponent=1.2)) == MANY


@pytest.mark.parametrize(
    "law",
    [
        KelvinVoigt(stiffness=1e5, damping=50.0),
        HuntCrossley(stiffness=1e6, damping=0.3),
        DampedHertz(stiffness=1e6, damping=1e5),
    ],
    ids=lambda law: type(law).__name__,
)
def test_force_and_couple_vanish_together_at_release(law):
    """A tilted box that lifts and turns: at the speed at which it lets go, no jump."""
    own = pair(law, OTHERS["box"], is_line=True)
    a, b = pressed(own, 0.01, 0.0, 4e-3, a=(0.0, 0.0, 0.0))

    def at_speed(v):
        return evaluate(own, [*a, 0, 0, 0], [*b, 0.0, v, 0.7 * v])

    low, high = 0.0, 1e4
    assert at_speed(low).firmness > 0.0 > at_speed(high).firmness
    for _ in range(60):
        v = 0.5 * (low + high)
        low, high = (v, high) if at_speed(v).firmness > 0.0 else (low, v)
    rest, before, after = at_speed(0.0), at_speed(low * 0.999), at_speed(high)
    assert (after.N, after.couple) == (0.0, 0.0)
    # 1e-3 before it what is left is a small part at the last corner.
    assert 0.0 < before.N <= 1e-2 * rest.N
    # Its arm is within the pressed zone, or friction's point would run away.
    assert abs(before.couple) <= before.N * 0.8
