"""Friction at rest in a box: solver, sharing and mechanisms beside slow references."""

import math

import numpy as np
import pytest

from nonsmooth.complementarity import box as api
from nonsmooth.complementarity import solve_box
from nonsmooth.errors import ModelError
from oracles import box as oracle

# Largest violation of a condition; `BOX_CHECK` of the kernels.
CHECK = 1e-12
# scipy's linear programmes are exact to 1e-10 of rows of length one; what is solved for
# is larger by their condition, below 1e4 for bodies with masses near one.
PROGRAMME = 1e-6
# SLSQP ends where the sum of squares is flat to 1e-15: the forces, to its root.
FLAT = 1e-6


class Group:
    """The kernels on arrays, in one block of the largest size."""

    def __init__(self, n):
        self.kernels = api._kernels()
        self.work = self.kernels.box_work(n)

    def solve(self, A, b, limit, free=None, guess=None):
        n = len(b)
        lam = np.full(n, math.nan) if guess is None else guess.copy()
        a = np.zeros(n)
        self.work.is_warm = int(guess is not None)
        free = np.diag(A).copy() if free is None else free
        args = np.ravel(A).astype(float), b, limit, free, lam, a
        status = self.kernels.solve(self.work, n, *args)
        return status, lam, a, self.work.slip[:n].copy()

    def share(self, A, limit, lam, slip=None):
        n = len(lam)
        out = lam.copy()
        self.work.slip[:n] = 0 if slip is None else slip
        args = np.ravel(A).astype(float), limit, np.diag(A).copy(), out
        return self.kernels.share(self.work, n, *args), out

    def ratio(self, A, limit, lam, is_warm=0, name="group_ratio"):
        n = len(lam)
        self.work.is_warm = is_warm
        args = np.ravel(A).astype(float), limit, np.diag(A).copy(), lam
        value = getattr(self.kernels, name)(self.work, n, *args)
        return value, self.work.critical[:n].copy()


@pytest.fixture(scope="module")
def group():
    return Group(60)


def rows(*parts):
    return np.array(parts, dtype=float)


# ---- the problem in a box ----------------------------------------------------------


@pytest.mark.jit_off
def test_one_contact_stays_or_moves():
    stays = solve_box([[2.0]], [3.0], [1.5])
    assert (stays.slip[0], stays.lam[0], stays.acceleration[0]) == (0, -1.5, 0)
    moves = solve_box([[2.0]], [-4.0], [1.5])
    assert (moves.slip[0], moves.lam[0], moves.acceleration[0]) == (-1, 1.5, -1)


@pytest.mark.jit_off
def test_random_small_problems_agree_with_enumeration(group):
    rng = np.random.default_rng(1)
    for _ in range(25):
        n = int(rng.integers(1, 5))
        A, b, limit, free = oracle.problem(rng, 2, n)
        status, lam, a, slip = group.solve(A, b, limit, free)
        assert status == group.kernels.SOLVED
        assert oracle.kkt_residual(A, b, limit, lam) <= CHECK
        best, reference = oracle.by_enumeration(A, b, limit)
        # Values are flat at the minimum; accelerations follow by their root at worst,
        # and enumeration accepts forces 1e-12 outside.
        size = 1 + np.abs(b) @ limit
        assert 0.5 * lam @ A @ lam + b @ lam <= best + 1e-11 * size
        np.testing.assert_allclose(a, A @ reference + b, atol=1e-5 * size)
        assert (lam[slip != 0] == -(slip * limit)[slip != 0]).all()
        assert (np.sign(a)[slip != 0] == slip[slip != 0]).all()


@pytest.mark.jit_off
def test_load_outside_the_range_goes_to_a_limit(group):
    """Two equal rows that want different accelerations: forces run apart."""
    A = np.ones((2, 2))
    status, lam, a, slip = group.solve(A, rows(1, -1), rows(2, 3))
    assert status == group.kernels.SOLVED
    # By hand: lam = (-2, 3) has a = (2, 0), so that the second stays inside.
    assert slip[0] == 1
    assert lam[0] == -2
    assert a[1] == pytest.approx(0, abs=1e-15)
    assert lam[1] == pytest.approx(3)


@pytest.mark.jit_off
def test_a_row_that_joints_hold_is_prescribed(group):
    """Round-off of an eliminated row is no compliance; its acceleration is given."""
    A = rows([1, 1e-14], [1e-14, 1e-14])
    free = rows(1, 1)
    status, lam, a, slip = group.solve(A, rows(0.5, 0.25), rows(1, 1), free)
    assert status == group.kernels.SOLVED
    assert slip.tolist() == [0, 1]
    assert lam.tolist() == [-0.5, -1]
    assert a.tolist() == [0, 0.25]
    group.work.noise[1] = 0.3
    *_, slip = group.solve(A, rows(0.5, 0.25), rows(1, 1), free)
    group.work.noise[1] = 0.0
    assert slip.tolist() == [0, 0]
    assert group.work.rank == 1


@pytest.mark.jit_off
def test_nearly_equal_rows_rest_to_the_noise_of_all(group):
    """Four feet that hardly differ: what is left of each adds up along them."""
    i = np.arange(4.0)
    A = 0.1360766351638535 + 1.0839928e-10 * np.add.outer(i, i)
    b = -2.8607220822638965e-05 - 3.032995556e-12 * i
    group.work.noise[:4] = 9.0243e-12
    status, _, a, slip = group.solve(A, b, np.full(4, 134.71), np.diag(A).copy())
    group.work.noise[:4] = 0.0
    assert status == group.kernels.SOLVED
    assert slip.tolist() == [0, 0, 0, 0]
    assert np.max(np.abs(a)) < 3.0 * 9.0243e-12


@pytest.mark.jit_off
def test_units_do_not_matter(group):
    """Powers of two change nothing at all."""
    rng = np.random.default_rng(3)
    A, b, limit, _ = oracle.problem(rng, 1, 4)
    units = 2.0 ** np.array([-30, 0, 11, 40])
    _, lam, a, slip = group.solve(A, b, limit)
    scaled = A * np.outer(units, units)
    _, lam_, a_, slip_ = group.solve(scaled, b * units, limit / units)
    assert (lam_ * units == lam).all()
    assert (a_ / units == a).all()
    assert (slip_ == slip).all()


KINDS = [
    # bodies, contacts, joints, decades of masses
    (1, 3, 0, 0),
    (1, 10, 0, 6),
    (3, 8, 0, 3),
    (3, 12, 4, 6),
    (6, 20, 0, 6),
    (6, 20, 8, 3),
    (16, 60, 0, 6),
    (16, 60, 20, 3),
]


@pytest.mark.parametrize(("n_body", "n", "n_joint", "spread"), KINDS)
def test_degenerate_problems_cold_and_warm(group, n_body, n, n_joint, spread):
    rng = np.random.default_rng([n_body, n, n_joint, spread])
    for _ in range(500 if n < 60 else 100):
        A, b, limit, free = oracle.problem(rng, n_body, n, spread, n_joint)
        status, lam, a, slip = group.solve(A, b, limit, free)
        assert status == group.kernels.SOLVED
        assert oracle.kkt_residual(A, b, limit, lam) <= CHECK
        assert (lam[slip != 0] == -(slip * limit)[slip != 0]).all()
        again, _, a_, _ = group.solve(A, b, limit, free, guess=lam)
        assert again == group.kernels.SOLVED
        # Accelerations are unique; how exactly they are known is told by their terms.
        terms = np.abs(A) @ np.abs(lam) + np.abs(b)
        scale = np.sqrt(np.where(np.diag(A) > 0, np.diag(A), free))
        scale[scale == 0] = 1.0
        size = (terms / scale).max(initial=0.0) + 1e-300
        # Energy that forces of round-off can exchange: the root of CHECK.
        np.testing.assert_allclose((a_ - a) / scale / size, 0, atol=1e-6)


@pytest.mark.parametrize("near", [1e-3, 1e-6, 1e-7, 1e-8, 1e-12])
def test_nearly_parallel_rows(group, near):
    rng = np.random.default_rng(7)
    for _ in range(300):
        n = int(rng.integers(2, 12))
        W = oracle.body_rows(rng, 3, n)
        for i in range(1, n):
            if rng.random() < 0.6:
                W[i] = W[rng.integers(i)] * rng.choice([1.0, -2.0])
                W[i] += near * rng.normal(size=9)
        inverse = 10.0 ** rng.uniform(-3, 3, 9)
        limit = rng.choice([1.0, 0.5, 0.0], size=n)
        push = W.T @ (limit * rng.uniform(-1.5, 1.5, n))
        A, b = (W * inverse) @ W.T, W @ (inverse * push)
        status, lam, *_ = group.solve(A, b, limit)
        assert status == group.kernels.SOLVED
        assert oracle.kkt_residual(A, b, limit, lam) <= CHECK


def test_forces_agree_with_scipy_where_they_are_unique(group):
    rng = np.random.default_rng(11)
    for _ in range(50):
        n = int(rng.integers(2, 9))
        R = rng.normal(size=(n + 2, n))
        A, b = R.T @ R, rng.normal(size=n)
        limit = rng.uniform(0.05, 1, n)
        _, lam, *_ = group.solve(A, b, limit)
        # Round-off times the condition of the matrix, squared by its factor in scipy.
        tolerance = 1e-14 * np.linalg.cond(A) + 1e-12
        reference = oracle.by_least_squares(A, b, limit)
        np.testing.assert_allclose(lam, reference, atol=tolerance)


@pytest.mark.jit_off
def test_nothing_that_is_not_finite_is_solved(group):
    for value in (math.nan, math.inf):
        for k in range(4):
            A, b, limit, free = np.eye(2), np.ones(2), np.ones(2), np.ones(2)
            (A, b, limit, free)[k].reshape(-1)[1] = value
            status, *_ = group.solve(A, b, limit, free)
            assert status == group.kernels.NOT_FINITE
    assert math.isnan(group.ratio(np.eye(1), rows(1), rows(math.inf))[0])
    status, _ = group.share(np.eye(1), rows(1), rows(math.nan))
    assert status == group.kernels.NOT_FINITE


def test_a_stopped_run_ends(group):
    rng = np.random.default_rng(0)
    A, b, limit, free = oracle.problem(rng, 16, 60, 3)
    group.work.look.is_stopped = 1
    status, *_ = group.solve(A, b, 0.1 * limit, free)
    group.work.look.is_stopped = 0
    # Either the sweeps had solved it, or it says that it did not.
    assert status in (group.kernels.SOLVED, group.kernels.LIMIT)


# ---- sharing -----------------------------------------------------------------------


@pytest.mark.jit_off
def test_parallel_contacts_share_as_their_limits_are(group):
    A = np.ones((3, 3))
    limit = rows(1, 2, 5)
    status, lam = group.share(A, limit, rows(4, 0, 0))
    assert status == group.kernels.SOLVED
    np.testing.assert_allclose(lam, 0.5 * limit, rtol=1e-15)


@pytest.mark.jit_off
def test_what_cannot_be_shared_is_left(group):
    A = np.ones((2, 2))
    status, lam = group.share(A, rows(1, 2), rows(3.1, 0))
    assert status == group.kernels.INFEASIBLE
    assert lam.tolist() == [3.1, 0]
    status, lam = group.share(A, rows(0, 2), rows(1.5, 0))
    assert status == group.kernels.SOLVED
    np.testing.assert_allclose(lam, [0, 1.5], rtol=1e-15)


@pytest.mark.jit_off
def test_contacts_that_slip_keep_their_force(group):
    A = np.ones((3, 3))
    status, lam = group.share(A, rows(1, 1, 1), rows(1, 0.5, 0), np.array([-1, 0, 0]))
    assert status == group.kernels.SOLVED
    np.testing.assert_allclose(lam, [1, 0.25, 0.25], rtol=1e-15)


@pytest.mark.parametrize(
    ("n_body", "n", "part"), [(1, 6, 1.05), (2, 8, 1.5), (1, 8, 4)]
)
def test_shares_agree_with_scipy(group, n_body, n, part):
    rng = np.random.default_rng([n_body, n])
    n_bound = 0
    for _ in range(30):
        W = oracle.body_rows(rng, n_body, n)
        A = W @ W.T
        limit = rng.choice([0.3, 1.0, 2.0], size=n)
        lam = limit * rng.uniform(-1, 1, n)
        limit = limit * part * group.ratio(A, limit, lam)[0]
        status, found = group.share(A, limit, lam)
        assert status == group.kernels.SOLVED
        assert (np.abs(found) <= limit).all()
        np.testing.assert_allclose(A @ found, A @ lam, atol=1e-13 * limit.sum())
        # From another point within the limits.
        _, start, *_ = group.solve(A, -A @ lam, limit)
        reference = oracle.shared(A, limit, start)
        np.testing.assert_allclose(found, reference, atol=FLAT * limit.max())
        n_bound += int((np.abs(found) == limit).any())
    assert part > 1.1 or n_bound > 5  # the first kind must feel its limits


def test_shares_are_continuous(group):
    """Along a line of loads forces change no faster than a fixed multiple of it."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        W = oracle.body_rows(rng, 1, 7)
        A = W @ W.T
        limit = rng.choice([0.3, 1.0, 2.0], size=7)
        lam = rng.normal(size=7)
        whole = group.ratio(A, limit, lam)[0]
        if whole == 0:
            continue
        way = np.linspace(0, 1 / whole, 400)
        path = np.array([group.share(A, limit, t * lam)[1] for t in way[1:-1]])
        # The smallest motion of these rows resists with 1e-2 of the largest or more.
        assert np.abs(np.diff(path, axis=0)).max() <= 100 / 400 * limit.max()


def test_shares_after_a_decision(group):
    rng = np.random.default_rng(4)
    for n_body, n, n_joint, spread in KINDS:
        for _ in range(60):
            A, b, limit, free = oracle.problem(rng, n_body, n, min(spread, 3), n_joint)
            _, lam, _, slip = group.solve(A, b, limit, free)
            status, found = group.share(A, limit, lam, slip)
            assert status == group.kernels.SOLVED
            assert (np.abs(found) <= limit).all()
            assert (found[slip != 0] == lam[slip != 0]).all()
            assert oracle.kkt_residual(A, b, limit, found) <= 100 * CHECK


# ---- mechanisms --------------------------------------------------------------------


@pytest.mark.jit_off
def test_ratios_by_hand(group):
    # Independent: the contact nearest to its limit.
    value, critical = group.ratio(np.eye(2), rows(1, 2), rows(0.5, -1.5))
    assert (value, critical.tolist()) == (0.75, [0, 1])
    # Parallel: all together, each against its friction.
    A = np.outer([1.0, -2.0, 1.0], [1.0, -2.0, 1.0])
    value, critical = group.ratio(A, rows(1, 1, 0), rows(6, 0, 0))
    assert value == pytest.approx(2, rel=1e-15)
    assert critical.tolist() == [-1, 1, -1]
    assert group.ratio(A, rows(1, 1, 0), rows(0, 0, 0))[0] == 0
    # Without friction in a loaded motion, and in none.
    assert group.ratio(A, np.zeros(3), rows(1, 0, 0))[0] == math.inf
    assert group.work.critical[:3].tolist() == [-1, 1, -1]
    assert group.ratio(A, np.zeros(3), rows(2, 1, 0))[0] == 0


@pytest.mark.jit_off
def test_a_disc_held_at_four_points(group):
    """A disc, four feet round it: turned, all slide; pushed, those along the push."""
    W = rows([1, 0, 1], [0, 1, 1], [-1, 0, 1], [0, -1, 1])
    A = W @ W.T
    turn = rows(0.5, 0.5, 0.5, 0.5)
    turned, critical = group.ratio(A, np.ones(4), turn)
    # d = (0, 0, 2), y = (0, 0, 1): 2 of 4; but also y = (1, 1, 1), round two feet.
    assert turned == pytest.approx(0.5, rel=1e-14)
    assert (critical <= 0).all()
    again, critical = group.ratio(A, np.ones(4), turn, name="let_go")
    assert again == turned
    assert critical.tolist() == [-1, -1, -1, -1]
    pushed, critical = group.ratio(A, np.ones(4), rows(0.5, 0, -0.5, 0), name="let_go")
    # d = (1, 0, 0), y = (1, 0, 0): 1 of 2; the others do not slide.
    assert pushed == pytest.approx(0.5, rel=1e-14)
    assert critical.tolist() == [-1, 0, 1, 0]


@pytest.mark.parametrize(
    ("n_body", "n"), [(1, 3), (1, 10), (1, 25), (2, 9), (3, 12), (5, 20), (8, 30)]
)
def test_ratio_agrees_with_both_programmes(group, n_body, n):
    rng = np.random.default_rng([n_body, n])
    for k in range(40):
        W = oracle.body_rows(rng, n_body, n)
        A = W @ W.T
        limit = rng.choice([0.5, 1.0, 2.0], size=n)
        lam = rng.normal(size=n)
        value, _ = group.ratio(A, limit, lam)
        assert value == pytest.approx(oracle.ratio(A, limit, lam), rel=PROGRAMME)
        if k < 10:
            dual = oracle.power_ratio(A, limit, lam)
            assert value == pytest.approx(dual, rel=PROGRAMME)
        # Any forces that do the same give the same, and so does a guess.
        _, other = group.share(A, 1.1 * value * limit, lam)
        assert group.ratio(A, limit, other)[0] == pytest.approx(value, rel=1e-9)
        warm, _ = group.ratio(A, limit * (1 + 1e-9), lam, is_warm=1)
        assert warm == pytest.approx(value, rel=1e-8)


# Where all limits that resist are 1e-8 of others, 1e-10 of which parts mechanisms that
# coincide, the ratio is known to 1e-2 only. No group needs ten times its friction.
MOST_LOADED = 1e4


@pytest.mark.parametrize("spread", [0, 3])
def test_sharing_proves_the_ratio(group, spread):
    """Forces at the ratio's limits exist, a little below they do not."""
    rng = np.random.default_rng(spread)
    n_loaded = 0
    for n_body, n, n_joint, _ in KINDS:
        for _ in range(60):
            A, _, limit, _ = oracle.problem(rng, n_body, n, spread, n_joint)
            lam = rng.normal(size=n)
            value, critical = group.ratio(A, limit, lam)
            if 0 < value < MOST_LOADED:
                n_loaded += 1
                # The tolerance of sharing, and merged rows, beside a ratio.
                status, _ = group.share(A, limit * value * (1 + 1e-6), lam)
                assert status == group.kernels.SOLVED
                status, _ = group.share(A, limit * value * (1 - 1e-6), lam)
                assert status == group.kernels.INFEASIBLE
                assert critical.any()
    assert n_loaded > 300


def test_what_gives_way_is_what_the_problem_lets_go(group):
    """With limits a millionth below break-away the problem shows the same slips."""
    rng = np.random.default_rng(5)
    n_same = n_all = 0
    for _ in range(300):
        n_body = int(rng.integers(1, 4))
        n = int(rng.integers(3, 11))
        W = oracle.body_rows(rng, n_body, n)
        A = W @ W.T
        limit = rng.choice([0.5, 1.0, 2.0], size=n)
        lam = limit * rng.uniform(-1, 1, n)
        value, critical = group.ratio(A, limit, lam)
        *_, slip = group.solve(A, -A @ lam, limit * value * (1 - 1e-6))
        n_all += 1
        n_same += int((slip == critical).all())
        # Never the other way.
        assert (slip * critical >= 0).all()
    # Others may lie within a millionth, and go too.
    assert n_same >= 0.98 * n_all


# ---- Python ------------------------------------------------------------------------


@pytest.mark.jit_off
def test_the_answer_shares_and_tells_its_rank():
    found = solve_box(np.ones((2, 2)) / 2, [3, 3], [6, 2])
    assert (found.status, found.rank) == ("solved", 1)
    assert found.residual <= CHECK
    np.testing.assert_allclose(found.lam, [-4.5, -1.5], rtol=1e-15)


@pytest.mark.jit_off
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[1, 2]], [1], [1]), "must be square"),
        (([[1]], [1], [-1]), r"limit\[0\] = -1.0; must be >= 0"),
        (([[1]], [1], [1, 2]), r"limit has the shape \(2,\)"),
        (([[-1]], [1], [1]), r"A\[0, 0\] = -1.0; must be >= 0"),
        (([[1, 0.5], [0, 1]], [1, 1], [1, 1]), "not symmetric"),
        (([[1, 2], [2, 1]], [1, 1], [1, 1]), "not positive semidefinite"),
    ],
)
def test_bad_input_is_refused(arguments, words):
    with pytest.raises(ModelError, match=words):
        solve_box(*arguments)
