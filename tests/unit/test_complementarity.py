"""Complementarity problems: textbook cases, enumeration, exact and scipy oracles."""

import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, nnls

from nonsmooth import complementarity
from nonsmooth.complementarity import (
    TOLERANCE,
    all_hlcp_solutions,
    all_solutions,
    check_lcp,
    is_p_matrix,
    solve_hlcp,
    solve_lcp,
    solve_mlcp,
    w_property,
)
from nonsmooth.errors import ModelError

# Solvers are accurate to round-off times the condition of the final basis; random
# bases of these sizes stay below 1e6.
CLOSE = 1e-9

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 5)
# The first call loads or compiles kernels.
relaxed = settings(deadline=None, max_examples=60)


def assert_solves(solution, A_plus, A_minus, b):
    """Assert signs and complementarity exactly, the equations to their tolerance."""
    assert solution.status == "solved", solution.message
    w, z = solution.w, solution.z
    assert (w >= 0).all()
    assert (z >= 0).all()
    assert ((w == 0) | (z == 0)).all()
    gap = np.abs(A_plus @ w - A_minus @ z - b)
    terms = np.abs(A_plus) @ w + np.abs(A_minus) @ z + np.abs(b)
    # TOLERANCE beside the row's own terms, or a hundredth of the largest: units here
    # are alike in all rows.
    assert (gap <= TOLERANCE * np.maximum(terms, 1e-2 * terms.max(initial=0))).all()
    assert solution.residual <= TOLERANCE


def assert_solves_lcp(solution, M, q):
    assert_solves(solution, np.eye(len(q)), np.asarray(M, float), np.asarray(q, float))


# ---- textbook cases --------------------------------------------------------------

TEXTBOOK = {
    "Murty 1988, example 2.8": (
        [[1, -1, -1, -1], [-1, 1, -1, -1], [1, 1, 2, 0], [1, 1, 0, 2]],
        [3, 5, -9, -5],
        "solved",
    ),
    "Murty 1988, example 2.9: no solution": (
        [[-1, 0, -3], [1, -2, -5], [-2, -1, -2]],
        [-3, -2, -1],
        "none",
    ),
    "Kostreva 1979, example 1: cycles without care for ties": (
        [[1, 2, 0], [0, 1, 2], [2, 0, 1]],
        [-1, -1, -1],
        "solved",
    ),
    "Kostreva 1979, example 2: cycles without care for ties": (
        [[1, -1, 3], [2, -1, 3], [-1, -2, 0]],
        [-1, -1, -1],
        "none",
    ),
    "all w, z zero": ([[1, 2], [2, 1]], [0, 0], "solved"),
    "degenerate: many zeros in q": (
        [[2, -1, 0], [-1, 2, -1], [0, -1, 2]],
        [0, -1, 0],
        "solved",
    ),
}


@pytest.mark.jit_off
@pytest.mark.parametrize("name", TEXTBOOK)
def test_textbook(name):
    M, q, status = TEXTBOOK[name]
    solution = solve_lcp(M, q)
    assert solution.status == status
    assert (status == "none") == (all_solutions(M, q) == ())
    if status == "solved":
        assert_solves_lcp(solution, M, q)


@pytest.mark.jit_off
def test_murty_example_2_11_depends_on_the_cover():
    M, q = [[-1.5, 2], [-4, 4]], [-5, 17]
    ray = solve_lcp(M, q, cover=[5, 16])
    assert ray.status == "ray"
    assert "P-matrix" in ray.message
    assert np.isnan(ray.z).all()
    found = solve_lcp(M, q, cover=[1, 1])
    assert_solves_lcp(found, M, q)
    # M z = -q by hand.
    np.testing.assert_allclose(found.z, [27, 22.75], rtol=1e-13)


@pytest.mark.parametrize("n", [2, 5, 10])
def test_murty_exponential_example(n):
    """A P-matrix on which Lemke's path visits 2^n bases; our scaling avoids them."""
    M = np.eye(n) + 2 * np.tril(np.ones((n, n)), -1)
    q = -np.cumsum(2.0 ** np.arange(n, 0, -1))
    solution = solve_lcp(M, q, cover=np.ones(n))
    assert solution.pivots == 2**n
    # Small integers: exact.
    np.testing.assert_array_equal(solution.z, [2.0**n, *np.zeros(n - 1)])
    assert solve_lcp(M, q).pivots < 2 * n


def test_fathi_example():
    """Symmetric positive definite, with an exponential path for other methods."""
    n = 10
    L = np.eye(n) + 2 * np.tril(np.ones((n, n)), -1)
    solution = solve_lcp(L @ L.T, -np.ones(n), cover=np.ones(n))
    assert_solves_lcp(solution, L @ L.T, -np.ones(n))


def test_beale_linear_programme():
    """Beale's cycling example for the simplex method, as an LCP; optimum -5/4."""
    A = np.array([[0.25, -8, -1, 9], [0.5, -12, -0.5, 3], [0, 0, 1, 0]])
    b, c = np.array([0, 0, 1.0]), np.array([-0.75, 20, -0.5, 6])
    M = np.block([[np.zeros((4, 4)), A.T], [-A, np.zeros((3, 3))]])
    solution = solve_lcp(M, np.r_[c, b])
    assert_solves_lcp(solution, M, np.r_[c, b])
    # A few pivots on numbers of order ten.
    assert c @ solution.z[:4] == pytest.approx(-1.25, rel=1e-13)


def test_bimatrix_game():
    """Von Stengel's 3 x 2 game; any Nash equilibrium satisfies the conditions."""
    A = np.array([[3, 3], [2, 5], [0, 6.0]])
    B = np.array([[3, 2], [2, 6], [3, 1.0]])
    M = np.block([[np.zeros((3, 3)), 7 - A], [(7 - B).T, np.zeros((2, 2))]])
    q = -np.ones(5)
    solution = solve_lcp(M, q)
    assert_solves_lcp(solution, M, q)
    # Costs of unused strategies are no lower than those of used ones.
    x, y = solution.z[:3] / solution.z[:3].sum(), solution.z[3:] / solution.z[3:].sum()
    assert (A @ y).max() == pytest.approx(x @ A @ y, rel=1e-12)
    assert (x @ B).max() == pytest.approx(x @ B @ y, rel=1e-12)


# ---- none, several, a continuum --------------------------------------------------


@pytest.mark.jit_off
def test_infeasible_is_proved():
    """M positive semidefinite: Lemke's ray is a proof."""
    solution = solve_lcp([[1, -1], [-1, 1]], [-1, -1])
    assert solution.status == "none"
    assert "Painlevé" in solution.message
    assert solve_lcp([[1, -1], [-1, 1]], [-1, -1], method="enumeration").count == 0


@pytest.mark.jit_off
@pytest.mark.parametrize(("q", "count"), [(1.0, 2), (-1.0, 0)])
def test_painleve_two_or_none(q, count):
    """A normal contact whose push makes it approach: w = -z + q."""
    solutions = all_solutions([[-1]], [q])
    assert len(solutions) == count
    for solution in solutions:
        assert solution.count == count
        assert solution.is_isolated
        assert "one of 2" in solution.message
    assert solve_lcp([[-1]], [q]).status == ("solved" if count else "none")


@pytest.mark.jit_off
def test_continuum():
    """Two supports in one line carry one weight: z1 + z2 = 1."""
    M, q = np.ones((2, 2)), -np.ones(2)
    solutions = all_solutions(M, q)
    assert solutions
    for solution in solutions:
        assert solution.is_isolated is False
        assert "continuum" in solution.message
        # Integers.
        assert solution.z.sum() == 1
    assert_solves_lcp(solve_lcp(M, q), M, q)


@pytest.mark.jit_off
def test_singular_basis_with_a_single_point_is_no_continuum():
    """z = 0 alone, though M is singular: its null vector has two signs."""
    (solution,) = all_solutions([[1, 1], [1, 1]], [0, 0])
    assert solution.is_isolated
    (solution,) = all_solutions([[1, -1], [-1, 1]], [1, 2])
    # z = t (1, 1) leaves w = q > 0: not complementary.
    assert solution.is_isolated
    assert not all_solutions([[1, -1], [-1, 1]], [0, 0])[0].is_isolated


@pytest.mark.jit_off
def test_duplicates_are_merged():
    """q = 0: every basis of a P-matrix gives the same point."""
    assert len(all_solutions([[2, 1, 0], [1, 2, 1], [0, 1, 2]], [0, 0, 0])) == 1


def exact_vertices(W, b):
    """Solutions of W (w, z) = b with independent columns, in rational numbers."""
    n = len(b)
    found = set()
    for choice in product((0, n, None), repeat=n):
        columns = [i + k for i, k in enumerate(choice) if k is not None]
        rows = [
            [Fraction(W[i][c]) for c in columns] + [Fraction(b[i])] for i in range(n)
        ]
        rank = 0
        for c in range(len(columns) + 1):
            pivot = next((i for i in range(rank, n) if rows[i][c] != 0), None)
            if pivot is None:
                continue
            rows[rank], rows[pivot] = rows[pivot], rows[rank]
            rows[rank] = [value / rows[rank][c] for value in rows[rank]]
            for i in range(n):
                if i != rank:
                    factor = rows[i][c]
                    rows[i] = [
                        a - factor * d for a, d in zip(rows[i], rows[rank], strict=True)
                    ]
            rank += 1
            if c == len(columns):
                rank = -1  # the last column has a pivot: contradiction
        x = [rows[k][-1] for k in range(len(columns))]
        if rank == len(columns) and min(x, default=Fraction(0)) >= 0:
            point = [Fraction(0)] * (2 * n)
            for c, value in zip(columns, x, strict=True):
                point[c] = value
            found.add(tuple(point))
    return found


@pytest.mark.parametrize("is_standard", [True, False])
@given(seed=seeds)
@relaxed
def test_enumeration_against_exact_arithmetic(is_standard, seed):
    """Small integers: singular and degenerate bases abound."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    plus = np.eye(n, dtype=int) if is_standard else rng.integers(-k, k + 1, (n, n))
    minus, b = rng.integers(-k, k + 1, (n, n)), rng.integers(-k, k + 1, n)
    exact = exact_vertices(np.hstack([plus, -minus]).tolist(), b.tolist())
    listed = all_hlcp_solutions(plus, minus, b)
    assert bool(listed) == bool(exact)
    points = np.array([[float(value) for value in point] for point in exact])
    for solution in listed:
        assert_solves(solution, plus, minus, b)
        own = np.r_[solution.w, solution.z]
        assert np.abs(points - own).max(axis=1).min() < CLOSE
    # A point off the list belongs to a continuum, of which one vertex is listed.
    if all(solution.is_isolated for solution in listed):
        assert len(listed) == len(exact)

    solution = solve_lcp(minus, b) if is_standard else solve_hlcp(plus, minus, b)
    assert solution.status in ("solved", "none", "ray")
    if solution.status == "solved":
        assert_solves(solution, plus, minus, b)
        assert exact
    if solution.status == "none":
        assert not exact


# ---- classes of matrices ---------------------------------------------------------


def random_p_matrix(rng, n):
    """Positive definite part plus skew part: all principal minors positive."""
    A, S = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    return A @ A.T + S - S.T + 0.1 * np.eye(n)


@given(seed=seeds, n=sizes)
@relaxed
def test_p_matrix_has_one_solution(seed, n):
    rng = np.random.default_rng(seed)
    M, q = random_p_matrix(rng, n), rng.standard_normal(n)
    assert is_p_matrix(M)
    solution = solve_lcp(M, q)
    assert_solves_lcp(solution, M, q)
    (only,) = all_solutions(M, q)
    assert only.is_isolated
    np.testing.assert_allclose(solution.z, only.z, atol=CLOSE * (1 + only.z.max()))
    np.testing.assert_allclose(solution.w, only.w, atol=CLOSE * (1 + only.w.max()))


@given(seed=seeds, n=sizes)
@relaxed
def test_copositive_plus_and_feasible_is_solved(seed, n):
    """Semidefinite + non-negative with positive diagonal + skew."""
    rng = np.random.default_rng(seed)
    A, S = rng.standard_normal((n, rng.integers(1, n + 1))), rng.standard_normal((n, n))
    M = A @ A.T + np.diag(rng.uniform(0.1, 1, n)) + rng.uniform(0, 1, (n, n)) + S - S.T
    q = rng.uniform(0, 1, n) - M @ rng.uniform(0, 1, n)
    assert_solves_lcp(solve_lcp(M, q), M, q)


@given(seed=seeds, n=st.integers(1, 12), is_feasible=st.booleans())
@relaxed
def test_semidefinite_against_nnls(seed, n, is_feasible):
    """M = A^T A, q = -A^T b: least squares with z >= 0. A z is unique, z is not."""
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((rng.integers(1, n + 1), n)), rng.standard_normal(1)
    b = rng.standard_normal(len(A)) * b
    M, q = A.T @ A, -A.T @ b
    if is_feasible:
        solution = solve_lcp(M, q)
        assert_solves_lcp(solution, M, q)
        z, _ = nnls(A, b)
        # The square root of the tolerance: residuals of the normal equations square
        # the condition of A.
        np.testing.assert_allclose(
            A @ solution.z, A @ z, atol=3e-5 * (1 + abs(b).max())
        )
    else:
        # Any q: solved or proved infeasible, never undecided.
        solution = solve_lcp(M, rng.standard_normal(n))
        assert solution.status in ("solved", "none")


@pytest.mark.parametrize("n", [20, 50, 100, 200])
def test_large_problems(n):
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n // 2))
    for M, q in [
        (random_p_matrix(rng, n), rng.standard_normal(n)),
        (A @ A.T, A @ rng.standard_normal(n // 2)),  # semidefinite, feasible
        friction_problem(rng, n // 2, n_dof=6)[:2],
        friction_problem(rng, n // 2, n_dof=n, has_twins=True)[:2],
    ]:
        solution = solve_lcp(M, q)
        assert_solves_lcp(solution, M, q)
        assert solution.pivots < 5 * n


def test_is_p_matrix():
    assert is_p_matrix([[1, 2], [0, 1]])
    assert is_p_matrix([[1, -1e6], [1e6, 1]])
    assert is_p_matrix(np.diag([1e-12, 1e12]))
    assert not is_p_matrix([[0]])
    assert not is_p_matrix([[1, 2], [2, 1]])
    assert not is_p_matrix([[1, 1], [1, 1]])
    assert not is_p_matrix([[-1]])


# ---- friction --------------------------------------------------------------------


def friction_problem(rng, H, *, n_dof, has_twins=False):
    """Contacts at rest with known normal forces.

        (a-, F+) = [[G, 1], [-1, 0]] (F-, a+) + (-b - G mu N, 2 mu N)

    Wang & Wang (2015), Eq. (25), with a_t = b + G F_t, F± = mu N ± F_t. `has_twins`
    lets contacts share a tangent, so that G is singular. Returns M, q, G, b, mu N.
    """
    mass = rng.uniform(0.5, 5, n_dof)
    J = rng.standard_normal((H, n_dof))
    if has_twins:
        J[H // 2 :] = J[rng.integers(0, max(1, H // 2), H - H // 2)]
    G = (J / mass) @ J.T
    limit = rng.uniform(0, 1, H) * rng.uniform(0, 50, H)
    b = (J / mass) @ (rng.standard_normal(n_dof) * 10 ** rng.uniform(-1, 3))
    one, none = np.eye(H), np.zeros((H, H))
    M = np.block([[G, one], [-one, none]])
    return M, np.r_[-b - G @ limit, 2 * limit], G, b, limit


@given(seed=seeds, H=st.integers(1, 10), n_dof=st.integers(1, 12), twins=st.booleans())
@relaxed
def test_friction_satisfies_coulomb(seed, H, n_dof, twins):
    """Always solvable; the acceleration is the one of the box-constrained minimum."""
    rng = np.random.default_rng(seed)
    M, q, G, b, limit = friction_problem(rng, H, n_dof=n_dof, has_twins=twins)
    solution = solve_lcp(M, q)
    assert_solves_lcp(solution, M, q)
    F = limit - solution.z[:H]
    a = solution.z[H:] - solution.w[:H]
    size = abs(b).max() + (abs(G) @ limit).max()
    # Conditions hold to TOLERANCE of the terms; sums of H terms lose a little.
    np.testing.assert_allclose(a, b + G @ F, atol=1e-8 * size)
    assert (np.abs(F) <= limit * (1 + 1e-12)).all()
    is_sliding = np.abs(a) > 1e-7 * size
    np.testing.assert_allclose(
        F[is_sliding], (-limit * np.sign(a))[is_sliding], atol=1e-9 * limit.max()
    )
    # minimise |R F - c|^2 in the box, G = R^T R, R^T c = -b: the same conditions.
    values, vectors = np.linalg.eigh(G)
    root = np.sqrt(np.maximum(values, 0))
    R = root[:, None] * vectors.T
    is_kept = root > 1e-7 * root.max()
    c = np.where(is_kept, -(vectors.T @ b) / np.where(is_kept, root, 1), 0)
    box = np.maximum(limit, 1e-12)
    found = lsq_linear(R, c, bounds=(-box, box), tol=1e-14, max_iter=500)
    # lsq_linear stops at a relative change of the cost, the square of the distance.
    np.testing.assert_allclose(a, b + G @ found.x, atol=1e-5 * size)


@given(seed=seeds, H=st.integers(1, 3), twins=st.booleans())
@relaxed
def test_friction_motion_is_unique(seed, H, twins):
    """Several divisions of friction among contacts, one motion."""
    rng = np.random.default_rng(seed)
    M, q, G, b, limit = friction_problem(rng, H, n_dof=3, has_twins=twins)
    solutions = all_solutions(M, q)
    assert solutions
    size = abs(b).max() + (abs(G) @ limit).max()
    first = solutions[0].z[H:] - solutions[0].w[:H]
    for solution in solutions:
        a = solution.z[H:] - solution.w[:H]
        np.testing.assert_allclose(a, first, atol=1e-8 * size)
    if not twins:
        assert len(solutions) == 1


@pytest.mark.jit_off
@pytest.mark.parametrize(
    ("force", "acceleration", "is_unique"),
    [(0.25, 0.0, False), (0.5, 0.0, True), (2.0, 0.75, True)],
)
def test_two_corners_share_one_tangent(force, acceleration, is_unique):
    """A block of mass 2 on two corners, friction limit 0.25 each, pushed sideways.

    Below the joint limit the corners share the load in any way; at it, and beyond,
    both are saturated.
    """
    G, b, limit = np.full((2, 2), 0.5), np.full(2, force / 2), np.full(2, 0.25)
    M = np.block([[G, np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    q = np.r_[-b - G @ limit, 2 * limit]
    solution = solve_lcp(M, q)
    assert_solves_lcp(solution, M, q)
    # Powers of two: exact.
    np.testing.assert_array_equal(solution.z[2:] - solution.w[:2], acceleration)
    assert {other.is_isolated for other in all_solutions(M, q)} == {is_unique}


@given(seed=seeds, H=st.integers(1, 4))
@relaxed
def test_units_do_no_harm(seed, H):
    """Forces in MN, accelerations in um/s^2, and back."""
    rng = np.random.default_rng(seed)
    M, q, *_ = friction_problem(rng, H, n_dof=2 * H)
    row = np.r_[np.full(H, 1e6), np.full(H, 1e-6)]
    column = np.r_[np.full(H, 1e6), np.full(H, 1e-6)]
    there = solve_lcp(M, q)
    other = solve_lcp(row[:, None] * M * column, row * q)
    assert there.status == other.status == "solved"
    size = there.z.max(initial=0) + there.w.max(initial=0)
    # n_dof >= H: one solution; the factors 1e6 are not powers of two and round off.
    np.testing.assert_allclose(other.z * column, there.z, atol=CLOSE * size)
    np.testing.assert_allclose(other.w / row, there.w, atol=CLOSE * size)


@given(seed=seeds, n=sizes)
@relaxed
def test_any_units_per_row_and_column(seed, n):
    rng = np.random.default_rng(seed)
    M, q = random_p_matrix(rng, n), rng.standard_normal(n)
    row, column = 10.0 ** rng.integers(-6, 7, n), 10.0 ** rng.integers(-6, 7, n)
    there = solve_lcp(M, q)
    other = solve_lcp(row[:, None] * M * column, row * q)
    assert other.status == "solved"
    np.testing.assert_allclose(
        other.z * column, there.z, atol=CLOSE * (1 + there.z.max())
    )


# ---- horizontal problem ----------------------------------------------------------


@pytest.mark.jit_off
@pytest.mark.parametrize("S_star", [-0.6, 0.0, 0.6])
@pytest.mark.parametrize("b", [-2.0, 2.0])
def test_one_sliding_joint(S_star, b):
    """S lam + S* |lam| = b with |S*| < S: one flank carries the load."""
    plus, minus = np.array([[1 + S_star]]), np.array([[1 - S_star]])
    assert w_property(plus, minus)
    solution = solve_hlcp(plus, minus, [b])
    assert_solves(solution, plus, minus, [b])
    expected = b / (1 + S_star) if b > 0 else b / (1 - S_star)
    # One division.
    assert solution.w[0] - solution.z[0] == pytest.approx(expected, rel=1e-15)
    assert len(all_hlcp_solutions(plus, minus, [b])) == 1


@pytest.mark.jit_off
@pytest.mark.parametrize("S_star", [-1.5, 1.5])
@pytest.mark.parametrize("b", [-2.0, 2.0])
def test_one_sliding_joint_with_too_much_friction(S_star, b):
    """|S*| > S: both flanks, or none, according to the sign of b."""
    plus, minus = np.array([[1 + S_star]]), np.array([[1 - S_star]])
    assert not w_property(plus, minus)
    count = 2 if b * S_star > 0 else 0
    solutions = all_hlcp_solutions(plus, minus, [b])
    assert len(solutions) == count
    for solution in solutions:
        lam = solution.w[0] - solution.z[0]
        assert lam + S_star * abs(lam) == pytest.approx(b, rel=1e-15)
    assert solve_hlcp(plus, minus, [b]).status == ("solved" if count else "none")


@pytest.mark.jit_off
def test_self_locking_joint():
    """S* = S: the matrix of one flank vanishes."""
    assert solve_hlcp([[2]], [[0]], [3]).w[0] == 1.5
    assert solve_hlcp([[2]], [[0]], [-3]).status == "none"
    assert solve_hlcp([[0]], [[2]], [-3]).z[0] == 1.5
    assert solve_hlcp([[0]], [[0]], [1]).status == "none"
    assert solve_hlcp([[0]], [[0]], [0]).status == "solved"


@given(seed=seeds, n=st.integers(1, 3), friction=st.sampled_from([0.5, 0.9, 3.0]))
@relaxed
def test_sliding_joints_against_enumeration(seed, n, friction):
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((n, n + 2))
    S, S_star = J @ J.T, rng.standard_normal((n, n))
    S_star *= friction * np.linalg.eigvalsh(S)[0] / np.linalg.norm(S_star, 2)
    plus, minus, b = S + S_star, S - S_star, rng.standard_normal(n)
    solution = solve_hlcp(plus, minus, b)
    solutions = all_hlcp_solutions(plus, minus, b)
    if friction < 1:
        # (S + S* D) is then regular for every diagonal D with |D| <= 1.
        assert w_property(plus, minus)
        assert len(solutions) == 1
    if solution.status == "solved":
        assert_solves(solution, plus, minus, b)
        apart = [abs(solution.w - other.w).max() for other in solutions]
        assert min(apart) <= CLOSE * (1 + solution.w.max())
    else:
        assert solution.status == ("ray" if solutions else solution.status)
        assert friction > 1


@given(seed=seeds, n=st.integers(1, 4))
@relaxed
def test_w_property_against_determinants(seed, n):
    rng = np.random.default_rng(seed)
    plus = np.eye(n) + 0.4 * rng.standard_normal((n, n))
    minus = np.eye(n) + 0.4 * rng.standard_normal((n, n))
    signs = {
        np.sign(np.linalg.det(np.where(choice, plus, minus)))
        for choice in product([True, False], repeat=n)
    }
    assert w_property(plus, minus) == (len(signs) == 1)


@given(seed=seeds, n=st.integers(2, 8))
@relaxed
def test_redundant_joints(seed, n):
    """Fewer directions than joints: the equations repeat, forces are not unique."""
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((n, max(1, n // 2)))
    S, b = J @ J.T, J @ rng.standard_normal(max(1, n // 2))
    solution = solve_hlcp(S, S, b)
    assert_solves(solution, S, S, b)
    # Without friction the resultant is unique: J^T lam, from least squares.
    lam = np.linalg.lstsq(S, b, rcond=1e-10)[0]
    found = J.T @ (solution.w - solution.z)
    np.testing.assert_allclose(found, J.T @ lam, atol=1e-6 * (1 + abs(lam).max()))


@given(seed=seeds, k=st.integers(1, 2))
@relaxed
def test_sticking_bilateral_joints(seed, k):
    """Pairs (lam+, lam-), (a+, F+), (a-, F-) of k joints at rest.

    0 = b_n + G_nn lam + G_nt F_t,       lam = lam+ - lam-
    a+ - a- = b_t + G_tn lam + G_tt F_t,  F_t = (F+ - F-) / 2
    F+ + F- = 2 mu (lam+ + lam-)
    """
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((2 * k, 2 * k + 2))
    G, b, mu = J @ J.T, rng.standard_normal(2 * k), rng.uniform(0, 0.5, k)
    nn, nt, tn, tt = G[:k, :k], G[:k, k:] / 2, G[k:, :k], G[k:, k:] / 2
    one, none = np.eye(k), np.zeros((k, k))
    two_mu = np.diag(2 * mu)
    plus = np.block([[nn, none, none], [tn, -one, one], [two_mu, none, none]])
    minus = np.block([[nn, -nt, nt], [tn, -tt, tt], [-two_mu, one, one]])
    right = np.r_[-b, np.zeros(k)]
    solution = solve_hlcp(plus, minus, right)
    solutions = all_hlcp_solutions(plus, minus, right)
    assert solution.status in ("solved", "ray", "none")
    assert solution.status != ("none" if solutions else "solved")
    if solution.status == "solved":
        assert_solves(solution, plus, minus, right)
        lam, F = (
            solution.w[:k] - solution.z[:k],
            solution.z[k : 2 * k] - mu * abs(solution.w[:k] - solution.z[:k]),
        )
        a = solution.w[k : 2 * k] - solution.w[2 * k :]
        size = 1 + abs(lam).max()
        # Conditions hold to TOLERANCE; entries of G reach ten.
        np.testing.assert_allclose(nn @ lam + 2 * nt @ F, -b[:k], atol=1e-7 * size)
        np.testing.assert_allclose(a, b[k:] + tn @ lam + 2 * tt @ F, atol=1e-7 * size)
        assert (abs(F) <= mu * abs(lam) + 1e-8 * size).all()


@pytest.mark.jit_off
def test_no_complementary_basis_falls_back_to_enumeration():
    """Both columns of pair 2 vanish, and the rest has rank 2: no regular basis."""
    plus, minus = [[1, 0], [0, 0]], [[0, 0], [1, 0]]
    solution = solve_hlcp(plus, minus, [1, 0])
    assert_solves(solution, np.array(plus), np.array(minus), [1, 0])
    assert solve_hlcp(plus, minus, [1, -1]).status == "none"
    assert solve_hlcp(plus, minus, [1, 0]).is_isolated is False


@pytest.mark.jit_off
def test_round_off_of_the_elimination_is_not_taken_for_data():
    """Integers; a row or a right side of the reduced problem should vanish."""
    plus, minus = [[3, -3, -2], [2, 3, -3], [-2, -3, 3]], [[-3, 2, 1], [-1, -1, -3]]
    assert solve_hlcp(plus, [*minus, [1, 1, -2]], [-2, 2, 2]).status in ("none", "ray")
    plus, minus = [[-1, -1, -3], [3, -2, 3], [0, 3, -2]], [[-2, -1, 3], [-2, 2, 0]]
    solution = solve_hlcp(plus, [*minus, [2, -2, -1]], [2, -3, 3])
    assert solution.status == "solved"
    # By hand: w = 0.
    np.testing.assert_allclose(solution.z, [1 / 6, 5 / 3, 0], atol=1e-14)


# ---- mixed problem ---------------------------------------------------------------


@given(seed=seeds, m=st.integers(1, 4), n=st.integers(1, 4))
@relaxed
def test_mixed_problem(seed, m, n):
    """Joints (free multipliers) and unilateral contacts of one mechanism."""
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((m + n, m + n + 1))
    G, b = J @ J.T, rng.standard_normal(m + n)
    solution = solve_mlcp(G[:m, :m], G[:m, m:], G[m:, :m], G[m:, m:], b[:m], b[m:])
    assert solution.status == "solved"
    lam = np.r_[solution.u, solution.z]
    # TOLERANCE of terms of order |G| |lam|.
    atol = 1e-9 * (1 + (abs(G) @ abs(lam)).max())
    np.testing.assert_allclose(G @ lam + b, np.r_[np.zeros(m), solution.w], atol=atol)


@pytest.mark.jit_off
def test_mixed_problem_with_singular_block():
    """0 = z - 1, w = u + 3 z - 4: u = 1 is found though A = 0."""
    solution = solve_mlcp([[0]], [[1]], [[1]], [[3]], [-1], [-4])
    assert solution.status == "solved"
    # A few divisions.
    found = [solution.u[0], solution.z[0], solution.w[0]]
    assert found == pytest.approx([1, 1, 0], rel=1e-15)


# ---- statuses, checks, input -----------------------------------------------------


@pytest.mark.jit_off
def test_limit():
    solution = solve_lcp([[1, 2, 0], [0, 1, 2], [2, 0, 1]], [-1, -1, -1], max_pivots=2)
    assert solution.status == "limit"
    assert "2 pivots" in solution.message
    assert np.isnan(solution.z).all()


@pytest.mark.jit_off
def test_check_sees_each_violation():
    M, q = np.array([[2.0, 0], [0, 2]]), np.array([-2.0, 2])
    assert check_lcp(M, q, [1, 0]).largest == 0
    assert check_lcp(M, q, [1, -1e-6]).negative_z > TOLERANCE
    assert check_lcp(M, q, [1 - 1e-6, 0]).negative_w > TOLERANCE
    assert check_lcp(M, q, [1, 1e-6]).overlap > TOLERANCE
    assert check_lcp(M, q, [1, 0], [0, 2 + 1e-6]).equation > TOLERANCE
    assert check_lcp(1e9 * M, 1e9 * q, [1, 0], [0, 2e9 + 1e3]).equation > TOLERANCE


@pytest.mark.jit_off
def test_a_wrong_answer_is_never_called_solved():
    point = np.array([1.0]), np.array([0.0])
    listed = complementarity._listed(*point, 1e-6, 1, True)
    assert listed.status == "failed"
    assert "1.0e-06" in listed.message
    lcp = complementarity._kernels()
    assert complementarity._answer(lcp.INACCURATE, *point, 1e-6, 3).status == "failed"


@pytest.mark.jit_off
def test_kernel_refuses_what_is_not_finite():
    lcp = complementarity._kernels()
    z, w, out = np.empty(1), np.empty(1), np.empty(4)
    work = lcp.lcp_work(1, 10)
    for M, q in [(np.nan, 1.0), (1.0, np.inf)]:
        status = lcp.solve_standard(work, 1, np.array([M]), np.array([q]), z, w, out)
        assert status == lcp.NOT_FINITE
        assert np.isnan(z[0])


@pytest.mark.jit_off
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"M": [[1, 2]], "q": [1]}, r"M has the shape \(1, 2\); must be square"),
        ({"M": [[1]], "q": [1, 2]}, r"q has the shape \(2,\); must be \(1,\)"),
        ({"M": [[1, 2], [3]], "q": [1]}, "M = .* must be an array of numbers"),
        ({"M": [[1, np.nan], [0, 1]], "q": [1, 1]}, r"M\[0, 1\] = nan; must be finite"),
        ({"M": [[1]], "q": [np.inf]}, r"q\[0\] = inf; must be finite"),
        ({"M": [[1]], "q": [1], "method": "lemk"}, "did you mean 'lemke'"),
        ({"M": [[1]], "q": [1], "cover": [0]}, r"cover\[0\] = 0.0; must be > 0"),
        ({"M": [[1]], "q": [1], "max_pivots": 0}, "max_pivots = 0"),
        ({"M": np.eye(13), "q": np.ones(13), "method": "enumeration"}, "13 pairs"),
    ],
)
def test_bad_input_is_refused(arguments, words):
    with pytest.raises(ModelError, match=words):
        solve_lcp(**arguments)


def test_numba_is_imported_on_first_use_only():
    code = (
        "import sys, nonsmooth.complementarity as c; sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
