"""Linear algebra: the skyline of rows, dense LU."""

import numpy as np
import pytest
from scipy.sparse import csc_matrix

from nonsmooth.kernels import tolerances
from nonsmooth.kernels.abi import (
    data,
    jit,
)
from nonsmooth.kernels.linear import dense, skyline

# ---- skyline -------------------------------------------------------------------


@jit
def factor(n, first, start, S, shift, weight, rank, is_contact, L, d):
    return skyline.factor(
        n,
        data(first),
        data(start),
        data(S),
        shift,
        data(weight),
        rank,
        is_contact,
        data(L),
        data(d),
    )


@jit
def solve(n, first, start, L, d, x):
    skyline.solve(0, n, data(first), data(start), data(L), data(d), data(x))


@jit
def residual(n, first, start, S, x, b, r):
    return skyline.residual(
        n, data(first), data(start), data(S), data(x), data(b), data(r)
    )


@jit
def least_norm(n, first, start, S, L, d, b, r, x):
    return skyline.least_norm(
        n,
        data(first),
        data(start),
        data(S),
        data(L),
        data(d),
        data(b),
        data(r),
        data(x),
    )


@jit
def spread(n, first, start, S, L, d, weight, tied, null, gram, swap, y, x):
    n_tied = skyline.list_left_out(n, len(tied), data(d), data(tied))
    skyline.find_null(
        n,
        data(first),
        data(start),
        data(S),
        data(L),
        data(d),
        n_tied,
        data(tied),
        data(null),
    )
    skyline.weigh_null(
        n,
        data(start),
        data(S),
        data(weight),
        n_tied,
        data(null),
        data(gram),
        data(swap),
    )
    skyline.spread(
        n,
        data(start),
        data(S),
        data(weight),
        n_tied,
        data(null),
        data(gram),
        data(swap),
        data(y),
        data(x),
    )
    return n_tied


class Skyline:
    """A symmetric matrix in profile storage, and its factors."""

    def __init__(self, matrix: np.ndarray, first: np.ndarray) -> None:
        self.n = len(matrix)
        self.first = first.astype(np.int64)
        length = np.arange(self.n) - first + 1
        self.start = (np.cumsum(length) - length - first).astype(np.int64)
        self.S = np.concatenate(
            [matrix[i, first[i] : i + 1] for i in range(self.n)]
        ).astype(float)
        self.L = np.zeros_like(self.S)
        self.d = np.zeros(self.n)

    @property
    def pivots(self):
        with np.errstate(divide="ignore"):
            return 1.0 / self.d

    def factor(
        self,
        shift: float = 0.0,
        rank: float = tolerances.RANK,
        is_contact: bool = False,
    ) -> float:
        weight = np.ones(self.n)
        given = (self.n, self.first, self.start, self.S, shift, weight, rank)
        return factor(*given, is_contact, self.L, self.d)

    def solve(self, b: np.ndarray) -> np.ndarray:
        x = b.copy()
        solve(self.n, self.first, self.start, self.L, self.d, x)
        return x

    def least_norm(self, b: np.ndarray) -> tuple[np.ndarray, float]:
        x, r = np.zeros((2, self.n))
        left = least_norm(
            self.n, self.first, self.start, self.S, self.L, self.d, b, r, x
        )
        return x, left

    def spread(self, b: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, int]:
        """Solve with dependent rows left out, then spread; return how many they are."""
        x, n = self.solve(b), self.n
        tied, swap = np.zeros((2, n), dtype=np.int64)
        null, gram, y = np.zeros(n * n), np.zeros(n * n), np.zeros(n)
        n_tied = spread(
            *(n, self.first, self.start, self.S, self.L, self.d, weight),
            *(tied, null, gram, swap, y, x),
        )
        return x, n_tied

    def lower(self) -> np.ndarray:
        full = np.zeros((self.n, self.n))
        for i in range(self.n):
            begin = self.start[i] + self.first[i]
            full[i, self.first[i] : i + 1] = self.L[begin : self.start[i] + i + 1]
        return full


def random_profile(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A positive definite matrix whose rows begin at random columns."""
    random = np.random.default_rng(seed)
    first = np.array([random.integers(0, i + 1) for i in range(n)])
    lower = np.eye(n)
    for i in range(n):
        lower[i, first[i] : i] = random.uniform(-1.0, 1.0, i - first[i])
    d = random.uniform(0.5, 2.0, n)
    return lower @ np.diag(d) @ lower.T, first


PROFILES = [(1, 0), (2, 1), (5, 2), (12, 3), (30, 4)]


@pytest.mark.jit_off
@pytest.mark.parametrize(("n", "seed"), PROFILES)
def test_factors_multiply_to_the_matrix(n, seed):
    matrix, first = random_profile(n, seed)
    sky = Skyline(matrix, first)
    least = sky.factor()
    lower = sky.lower()
    # Round-off grows with the size of the factors, here below n.
    tolerance = 1e-15 * n * np.max(np.abs(matrix))
    assert np.allclose(lower @ np.diag(sky.pivots) @ lower.T, matrix, atol=tolerance)
    assert np.all(np.diag(lower) == 1.0)
    assert least == pytest.approx(np.min(sky.pivots / np.diag(matrix)), rel=1e-12)


@pytest.mark.jit_off
@pytest.mark.parametrize(("n", "seed"), PROFILES)
def test_solutions_agree_with_numpy(n, seed):
    matrix, first = random_profile(n, seed)
    b = np.random.default_rng(seed).normal(size=n)
    sky = Skyline(matrix, first)
    sky.factor()
    # The condition number times round-off, with some room.
    tolerance = 1e-14 * np.linalg.cond(matrix)
    expected = np.linalg.solve(matrix, b)
    scale = np.max(np.abs(expected))
    assert sky.solve(b) == pytest.approx(expected, abs=tolerance * scale)


@pytest.mark.parametrize(("n", "seed"), PROFILES)
def test_factors_agree_with_qdldl(n, seed):
    qdldl = pytest.importorskip("qdldl")
    matrix, first = random_profile(n, seed)
    b = np.random.default_rng(seed).normal(size=n)
    sky = Skyline(matrix, first)
    sky.factor()
    solver = qdldl.Solver(csc_matrix(matrix))
    theirs = solver.solve(b)
    tolerance = 1e-14 * np.linalg.cond(matrix) * np.max(np.abs(theirs))
    assert sky.solve(b) == pytest.approx(theirs, abs=tolerance)
    L, d, p = solver.factors()
    lower = np.eye(n) + L.toarray()
    theirs = lower @ np.diag(d) @ lower.T
    ours = sky.lower() @ np.diag(sky.pivots) @ sky.lower().T
    assert np.allclose(
        ours[np.ix_(p, p)], theirs, atol=1e-14 * n * np.abs(matrix).max()
    )


@pytest.mark.jit_off
def test_residual_is_b_minus_s_x():
    matrix, first = random_profile(9, 8)
    random = np.random.default_rng(9)
    x, b, r = random.normal(size=9), random.normal(size=9), np.zeros(9)
    sky = Skyline(matrix, first)
    largest = residual(9, sky.first, sky.start, sky.S, x, b, r)
    # Nine products of order ten.
    assert r == pytest.approx(b - matrix @ x, abs=1e-13)
    assert largest == np.max(np.abs(r))


def semidefinite(n: int, rank: int, seed: int) -> np.ndarray:
    """J M⁻¹ Jᵀ of a given rank, with rows of different sizes."""
    random = np.random.default_rng(seed)
    J = random.normal(size=(rank, rank + 3))
    J = random.normal(size=(n, rank)) @ J
    J *= random.uniform(0.3, 3.0, n)[:, None]
    return J @ J.T


@pytest.mark.jit_off
@pytest.mark.parametrize(("n", "rank"), [(2, 1), (4, 3), (6, 4), (12, 9)])
def test_a_singular_matrix_is_noticed_and_solved_by_least_norm(n, rank):
    S = semidefinite(n, rank, seed=n)
    b = S @ np.random.default_rng(1).normal(size=n)
    sky = Skyline(S, np.zeros(n, dtype=np.int64))
    assert sky.factor() <= tolerances.RANK
    sky.factor(tolerances.REGULARISATION)
    x, left = sky.least_norm(b)
    D = np.diag(1.0 / np.sqrt(np.diag(S)))
    expected = D @ np.linalg.pinv(D @ S @ D, rcond=1e-9) @ D @ b
    # Round-off over the regularisation in the null space, 2e-9; times the condition
    # of the rest in the range, below 1e3.
    scale = np.max(np.abs(expected))
    assert x == pytest.approx(expected, abs=3e-8 * scale)
    assert np.max(np.abs(S @ x - b)) <= 1e-11 * np.max(np.abs(b))
    assert left <= 1e-11 * np.max(np.abs(b))


@pytest.mark.jit_off
@pytest.mark.parametrize(("n", "rank"), [(2, 1), (4, 3), (6, 4), (12, 9)])
def test_rows_left_out_share_by_weight(n, rank):
    S = semidefinite(n, rank, seed=n)
    b = S @ np.random.default_rng(1).normal(size=n)
    weight = np.random.default_rng(2).uniform(0.1, 10.0, n)
    sky = Skyline(S, np.zeros(n, dtype=np.int64))
    sky.factor()
    x, n_tied = sky.spread(b, weight)
    D = np.diag(1.0 / np.sqrt(weight * np.diag(S)))
    expected = D @ np.linalg.pinv(D @ S @ D, rcond=1e-9) @ D @ b
    assert n_tied == n - rank
    # Round-off times the condition of the rows kept, below 1e4.
    assert x == pytest.approx(expected, abs=1e-11 * np.max(np.abs(expected)))


@pytest.mark.jit_off
@pytest.mark.parametrize("tilt", [1e-4, 1e-5])
def test_rows_that_nearly_depend_on_others_are_met(tilt):
    """Four feet of a body that tilts a little: two motions, of sizes 1 and tilt."""
    place = np.array([-1.5, -0.5, 0.5, 1.5])
    J = np.column_stack((np.ones(4), tilt * place))
    sky = Skyline(J @ J.T, np.zeros(4, dtype=np.int64))
    sky.factor(rank=tolerances.CONTACT_RANK)
    y = np.array([1.0, 2.0])
    x, n_tied = sky.spread(J @ y, np.ones(4))
    assert n_tied == 2
    # Motions due to x: those asked for, to round-off of S over its least part.
    assert J.T @ x == pytest.approx(y, rel=1e-15 / tilt**2)


@pytest.mark.jit_off
def test_what_cannot_be_reached_is_left_over():
    """S x = b with b outside the range: the residual stays, x stays bounded."""
    S = np.array([[1.0, 1.0], [1.0, 1.0]])
    sky = Skyline(S, np.zeros(2, dtype=np.int64))
    sky.factor(tolerances.REGULARISATION)
    x, left = sky.least_norm(np.array([1.0, -1.0]))
    assert left == pytest.approx(1.0, rel=1e-6)
    assert np.all(np.abs(x) <= 2.0 / tolerances.REGULARISATION)


@pytest.mark.jit_off
def test_a_row_without_mass_gives_finite_factors():
    sky = Skyline(np.diag([2.0, 0.0, 3.0]), np.arange(3))
    assert sky.factor() == 0.0
    assert np.all(sky.pivots > 0.0)
    assert np.array_equal(sky.solve(np.ones(3)), [0.5, 0.0, 1.0 / 3.0])


@pytest.mark.jit_off
@pytest.mark.parametrize("apart", [1e-2, 1e-3, 3e-4, 1e-4])
def test_a_row_behind_a_small_pivot_depends_on_others(apart):
    """Three rows of a plane, two of them nearly alike; a fourth is far from all.

    The second pivot, apart^2, spoils the third: what is left of it is round-off.
    """
    rng = np.random.default_rng(3)
    rows = np.zeros((4, 3))
    for _ in range(40):
        size = rng.uniform(0.1, 10.0, size=(3, 1))
        angle = rng.uniform(0.0, 6.0) + np.array([0.0, apart, rng.uniform(0.4, 1.2)])
        rows[:3, :2] = size * np.column_stack([np.cos(angle), np.sin(angle)])
        rows[3] = 0.0, 0.0, 1.0
        sky = Skyline(rows @ rows.T, np.zeros(4, dtype=np.int64))
        assert sky.factor(rank=tolerances.CONTACT_RANK, is_contact=True) <= 1e-11
        assert list(np.isinf(sky.pivots)) == [False, False, True, False]
    # What is not round-off stays: a plane and a little more.
    rows[2, 2] = 1e-2
    rows[3] = 0.0, 1.0, 1.0
    sky = Skyline((rows @ rows.T)[:3, :3], np.zeros(3, dtype=np.int64))
    assert sky.factor(rank=tolerances.CONTACT_RANK, is_contact=True) > 0.0
    assert np.all(np.isfinite(sky.pivots))


# ---- dense LU ------------------------------------------------------------------


@jit
def lu_solve(n, A, swap, x):
    if not dense.lu_factor(n, data(A), data(swap)):
        return False
    dense.lu_solve(n, data(A), data(swap), data(x))
    return True


@pytest.mark.jit_off
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 15])
def test_lu_agrees_with_numpy(n, dtype):
    random = np.random.default_rng(n)
    A = random.normal(size=(n, n)).astype(dtype)
    b = random.normal(size=n).astype(dtype)
    if dtype is np.complex128:
        A = A + 1j * random.normal(size=(n, n))
        b = b + 1j * random.normal(size=n)
    x = b.copy()
    assert lu_solve(n, A.reshape(-1).copy(), np.zeros(n, dtype=np.int64), x)
    expected = np.linalg.solve(A, b)
    tolerance = 1e-14 * np.linalg.cond(A) * np.max(np.abs(expected))
    assert np.allclose(x, expected, rtol=0.0, atol=tolerance)


@pytest.mark.jit_off
def test_lu_exchanges_rows():
    """A zero in the corner is no obstacle."""
    A = np.array([0.0, 2.0, 3.0, 1.0])
    x = np.array([4.0, 5.0])
    assert lu_solve(2, A, np.zeros(2, dtype=np.int64), x)
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.jit_off
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_lu_reports_a_singular_matrix(dtype):
    A = np.array([1.0, 2.0, 2.0, 4.0], dtype=dtype)
    assert not lu_solve(2, A, np.zeros(2, dtype=np.int64), np.ones(2, dtype=dtype))
