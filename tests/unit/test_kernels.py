"""Linear algebra, tableaux and the interface of compiled code."""

import importlib
import importlib.util
import json
import math
import os
import pkgutil
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numba
import numpy as np
import pytest
from scipy.integrate import DOP853, RK45
from scipy.integrate._ivp import dop853_coefficients
from scipy.sparse import csc_matrix

import nonsmooth.kernels as kernels
from nonsmooth.kernels import dense, radau, skyline
from nonsmooth.kernels.abi import FLOATS, INTEGER, INTEGERS, JIT, NUMBER, Block, data
from nonsmooth.kernels.run import Tableau
from nonsmooth.kernels.tableaux import EXPLICIT

compiled = numba.njit(error_model="numpy")


# ---- skyline -------------------------------------------------------------------


@compiled
def factor(n, first, start, S, shift, weight, L, d):
    return skyline.factor(
        n,
        data(first),
        data(start),
        data(S),
        shift,
        data(weight),
        skyline.RANK_TOLERANCE,
        data(L),
        data(d),
    )


@compiled
def solve(n, first, start, L, d, x):
    skyline.solve(0, n, data(first), data(start), data(L), data(d), data(x))


@compiled
def residual(n, first, start, S, x, b, r):
    return skyline.residual(
        n, data(first), data(start), data(S), data(x), data(b), data(r)
    )


@compiled
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

    def factor(self, shift: float = 0.0) -> float:
        weight = np.ones(self.n)
        return factor(
            self.n, self.first, self.start, self.S, shift, weight, self.L, self.d
        )

    def solve(self, b: np.ndarray) -> np.ndarray:
        x = b.copy()
        solve(self.n, self.first, self.start, self.L, self.d, x)
        return x

    def least_norm(self, b: np.ndarray) -> tuple[np.ndarray, float]:
        x, r = np.zeros(self.n), np.zeros(self.n)
        left = least_norm(
            self.n, self.first, self.start, self.S, self.L, self.d, b, r, x
        )
        return x, left

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
    assert np.allclose(lower @ np.diag(sky.d) @ lower.T, matrix, atol=tolerance)
    assert np.all(np.diag(lower) == 1.0)
    assert least == pytest.approx(np.min(sky.d / np.diag(matrix)), rel=1e-12)


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
    ours = sky.lower() @ np.diag(sky.d) @ sky.lower().T
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
    assert sky.factor() <= skyline.RANK_TOLERANCE
    sky.factor(skyline.REGULARISATION)
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
def test_what_cannot_be_reached_is_left_over():
    """S x = b with b outside the range: the residual stays, x stays bounded."""
    S = np.array([[1.0, 1.0], [1.0, 1.0]])
    sky = Skyline(S, np.zeros(2, dtype=np.int64))
    sky.factor(skyline.REGULARISATION)
    x, left = sky.least_norm(np.array([1.0, -1.0]))
    assert left == pytest.approx(1.0, rel=1e-6)
    assert np.all(np.abs(x) <= 2.0 / skyline.REGULARISATION)


@pytest.mark.jit_off
def test_a_row_without_mass_gives_finite_factors():
    sky = Skyline(np.diag([2.0, 0.0, 3.0]), np.arange(3))
    assert sky.factor() == 0.0
    assert np.all(np.isfinite(sky.d))
    assert np.all(sky.d > 0.0)


# ---- dense LU ------------------------------------------------------------------


@compiled
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


# ---- tableaux ------------------------------------------------------------------

# Coefficients are given to seventeen digits; sums have up to sixteen terms of size up
# to a few hundred (DOP853's dense output).
DIGITS = 1e-13


def tables(tb: Tableau) -> dict[str, np.ndarray]:
    n = tb.n
    return {
        "A": tb.A.reshape(n, n),
        "b": tb.b,
        "c": tb.c,
        "E": tb.E.reshape(2, n),
        "P": tb.P.reshape(n, tb.degree),
    }


def test_dopri5_is_scipys_rk45():
    t = tables(EXPLICIT["dopri5"]())
    assert t["A"][:6, :5] == pytest.approx(RK45.A, abs=1e-16)
    assert t["b"][:6] == pytest.approx(RK45.B, abs=1e-16)
    assert t["c"][:6] == pytest.approx(RK45.C, abs=1e-16)
    # The sign of an error estimate is free.
    assert np.abs(t["E"][0]) == pytest.approx(np.abs(RK45.E), abs=1e-16)
    assert not np.any(t["E"][1])
    assert t["P"] == pytest.approx(RK45.P, abs=1e-14)


def test_dop853_is_scipys():
    t = tables(EXPLICIT["dop853"]())
    assert t["A"][:12, :12] == pytest.approx(DOP853.A, abs=1e-16)
    assert t["b"][:12] == pytest.approx(DOP853.B, abs=1e-16)
    assert t["c"] == pytest.approx(dop853_coefficients.C, abs=1e-16)
    assert t["A"] == pytest.approx(dop853_coefficients.A, abs=1e-16)
    assert np.abs(t["E"][0, :13]) == pytest.approx(np.abs(DOP853.E5), abs=1e-16)
    assert np.abs(t["E"][1, :13]) == pytest.approx(np.abs(DOP853.E3), abs=1e-16)


def test_dop853_has_scipys_dense_output():
    """SciPy nests it in x and 1 - x; ours is expanded in powers of x."""
    P = tables(EXPLICIT["dop853"]())["P"]
    K = np.random.default_rng(5).normal(size=16)
    step = dop853_coefficients.A[12] @ K
    # As in scipy.integrate.DOP853 with h = 1; K[0] and K[12] are slopes at the ends.
    F = [step, K[0] - step, 2.0 * step - (K[12] + K[0]), *(dop853_coefficients.D @ K)]
    for x in np.linspace(0.0, 1.0, 11):
        nested = 0.0
        for i, f in enumerate(reversed(F)):
            nested += f
            nested *= x if i % 2 == 0 else 1.0 - x
        ours = K @ P @ x ** np.arange(1, 8)
        # Entries of P reach a thousand.
        assert ours == pytest.approx(nested, abs=1e-11)


@cache
def trees(order: int) -> tuple:
    """Rooted trees with `order` nodes, each a sorted tuple of its branches."""
    if order == 1:
        return ((),)
    found = set()

    def grow(left: int, limit, branches):
        if left == 0:
            found.add(tuple(sorted(branches)))
            return
        for size in range(1, left + 1):
            for branch in trees(size):
                if limit is None or branch <= limit:
                    grow(left - size, branch, (*branches, branch))

    grow(order - 1, None, ())
    return tuple(sorted(found))


def nodes(tree) -> int:
    return 1 + sum(nodes(branch) for branch in tree)


def density(tree) -> int:
    return nodes(tree) * math.prod(density(branch) for branch in tree)


def weight(tree, A: np.ndarray) -> np.ndarray:
    """Elementary weights of the stages."""
    value = np.ones(len(A))
    for branch in tree:
        value = value * (A @ weight(branch, A))
    return value


def defect(A: np.ndarray, b: np.ndarray, order: int, x: float = 1.0) -> float:
    """Largest error of the order conditions up to `order`."""
    return max(
        abs(float(b @ weight(tree, A)) - x**n / density(tree))
        for n in range(1, order + 1)
        for tree in trees(n)
    )


def test_there_are_as_many_trees_as_there_should_be():
    assert [len(trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("name", EXPLICIT)
def test_order_conditions(name):
    tb = EXPLICIT[name]()
    t = tables(tb)
    A, b = t["A"], t["b"]
    assert A.sum(axis=1) == pytest.approx(t["c"], abs=DIGITS)
    assert defect(A, b, tb.order) < DIGITS
    # And no higher: the bound above is not idle.
    assert defect(A, b, tb.order + 1) > 1e-7
    # Explicit, and stage n_stage is the step's end.
    assert not np.any(np.triu(A))
    assert A[tb.n_stage, : tb.n_stage] == pytest.approx(b[: tb.n_stage], abs=1e-16)
    assert t["c"][tb.n_stage] == 1.0


@pytest.mark.parametrize(("name", "order"), [("dopri5", 4), ("dop853", 7), ("rk4", 3)])
def test_order_of_dense_output(name, order):
    tb = EXPLICIT[name]()
    t = tables(tb)
    for x in (0.13, 0.5, 0.77, 1.0):
        b = t["P"] @ x ** np.arange(1, tb.degree + 1)
        # Entries of P reach a thousand for order seven.
        assert defect(t["A"], b, order, x) < (1e-11 if order == 7 else DIGITS)
    at_half = t["P"] @ 0.5 ** np.arange(1, tb.degree + 1)
    assert defect(t["A"], at_half, order + 1, 0.5) > 1e-9
    assert t["P"].sum(axis=1) == pytest.approx(t["b"], abs=1e-11)


@pytest.mark.parametrize(("name", "order"), [("dopri5", 4), ("dop853", 5)])
def test_order_of_the_error_estimate(name, order):
    """The first row of E is the difference to a method of that order."""
    tb = EXPLICIT[name]()
    t = tables(tb)
    other = t["b"] - t["E"][0]
    assert defect(t["A"], other, order) < DIGITS
    assert defect(t["A"], other, order + 1) > 1e-7
    if tb.order == 8:
        assert defect(t["A"], t["b"] - t["E"][1], 3) < DIGITS


@pytest.mark.parametrize("name", ["dopri5", "dop853"])
def test_reach_is_where_the_method_becomes_unstable(name):
    tb = EXPLICIT[name]()
    t = tables(tb)

    def growth(z: float) -> float:
        stages = np.linalg.solve(np.eye(tb.n) - z * t["A"], np.ones(tb.n))
        return abs(1.0 + z * float(t["b"] @ stages))

    assert growth(-tb.reach) < 1.02
    assert growth(-1.1 * tb.reach) > 1.0


# ---- Radau ---------------------------------------------------------------------

C = np.array([radau.C1, radau.C2, 1.0])


def radau_matrix() -> np.ndarray:
    """Collocation at C: A_ij = ∫_0^c_i l_j."""
    powers = C[:, None] ** np.arange(3)
    integrals = C[:, None] ** np.arange(1, 4) / np.arange(1, 4)
    return integrals @ np.linalg.inv(powers)


def test_radau_weights_are_exact_to_degree_four():
    b = np.array([radau.B1, radau.B2, radau.B3])
    for degree in range(5):
        assert b @ C**degree == pytest.approx(1.0 / (degree + 1), abs=1e-15)
    assert abs(b @ C**5 - 1.0 / 6.0) > 1e-4
    assert radau_matrix()[2] == pytest.approx(b, abs=1e-14)


def test_radau_transformation_makes_the_inverse_block_diagonal():
    inverse = np.linalg.inv(radau_matrix())
    expected = np.array(
        [
            [radau.MU, 0.0, 0.0],
            [0.0, radau.MU_RE, radau.MU_IM],
            [0.0, -radau.MU_IM, radau.MU_RE],
        ]
    )
    found = radau.TI @ inverse @ radau.T
    # The complex pair may stand either way round; ours multiplies W1 + i W2.
    z = complex(radau.MU_RE, radau.MU_IM)
    W = np.array([0.3, 0.7, -0.2])
    rotated = found @ W
    pair = z * complex(W[1], W[2])
    assert rotated == pytest.approx([radau.MU * W[0], pair.real, pair.imag], abs=1e-13)
    assert np.sort_complex(np.linalg.eigvals(expected)) == pytest.approx(
        np.sort_complex(np.linalg.eigvals(inverse)), abs=1e-13
    )
    product = radau.TI @ radau.T
    assert product == pytest.approx(np.eye(3), abs=1e-14)


def test_radau_dense_output_passes_through_the_stages():
    powers = C[:, None] ** np.arange(1, 4)
    assert powers @ radau.Q.T == pytest.approx(np.eye(3), abs=1e-13)


def test_radau_error_weights_see_the_fourth_order():
    """(E Z)/h + f(0) vanishes for y of degree three and not beyond."""
    E = np.array([radau.E1, radau.E2, radau.E3])
    for degree in (1, 2, 3):
        start = 1.0 if degree == 1 else 0.0
        assert start + E @ C**degree == pytest.approx(0.0, abs=1e-13)
    assert abs(E @ C**4) > 1e-2


# ---- blocks --------------------------------------------------------------------


class Sample(Block):
    """A block with one slot of most kinds."""

    count = INTEGER
    size = NUMBER
    values = FLOATS
    places = INTEGERS


def sample(**changes) -> Sample:
    fields = {
        "count": 3,
        "size": 2.5,
        "values": np.arange(3.0),
        "places": np.array([2, 0, 1]),
    }
    return Sample(**(fields | changes))


@compiled
def use(block):
    """Read every slot, and write some."""
    total = block.size
    for i in range(block.count):
        total += block.values[block.places[i]]
    for i in range(block.count):
        block.values[i] = -1.0
    block.size = total
    block.count += 4
    return total


@pytest.mark.jit_off
def test_kernels_read_and_write_a_block():
    values = np.arange(3.0)
    block = sample(values=values)
    assert use(block) == 5.5
    assert block.size == 5.5
    assert block.count == 7
    # The array is the caller's own, not a copy.
    assert values.tolist() == [-1.0, -1.0, -1.0]
    assert np.shares_memory(block.values, values)


@pytest.mark.jit_off
def test_slots_can_be_set_but_arrays_not_replaced():
    block = sample()
    block.size = 1
    block.count = 7
    assert (block.size, block.count) == (1.0, 7)
    assert isinstance(block.size, float)
    assert isinstance(block.count, int)
    with pytest.raises(AttributeError, match="values"):
        block.values = np.zeros(3)
    with pytest.raises(KeyError):
        block.other = 1


@pytest.mark.jit_off
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extra": 1}, "extra"),
        ({"values": np.arange(3)}, r"Sample.values: int64"),
        ({"values": np.zeros(3, dtype=np.float32)}, r"Sample.values: float32"),
        ({"places": np.zeros(3)}, r"Sample.places: float64"),
        ({"values": np.zeros((3, 4))[:, 1]}, r"Sample.values"),
    ],
)
def test_a_block_refuses_what_kernels_cannot_read(changes, message):
    with pytest.raises(TypeError, match=message):
        sample(**changes)


@pytest.mark.jit_off
def test_a_block_refuses_missing_slots():
    with pytest.raises(TypeError, match=r"missing.*size"):
        Sample(count=1, values=np.zeros(1), places=np.zeros(1, dtype=np.int64))


@pytest.mark.jit_off
def test_a_copy_shares_what_is_not_changed():
    block = sample()
    other = block.copy_with(size=9.0, places=np.array([0, 1, 2]))
    assert (block.size, other.size) == (2.5, 9.0)
    assert other.count == 3
    assert np.shares_memory(block.values, other.values)
    assert other.places.tolist() == [0, 1, 2]
    assert block.places.tolist() == [2, 0, 1]


@pytest.mark.jit_off
def test_a_matrix_is_seen_flat():
    block = sample(values=np.arange(6.0).reshape(2, 3))
    assert block.values.shape == (6,)


# ---- one specialisation, cache, imports ----------------------------------------

# Written for real and complex numbers: two each.
TWICE = {"dense.lu_factor", "dense.lu_solve", "radau.solve_newton"}

COUNT_SIGNATURES = """
import importlib, json, pkgutil, sys
from nonsmooth import *
import nonsmooth.kernels as kernels
from numba.core.dispatcher import Dispatcher
model = Model(
    gravity=(0, -9.81),
    bodies=[RigidBody(name="rod", mass=1, inertia=0.1, position=(0.5, 0),
                      points={"pin": (-0.5, 0)}),
            MovingSupport(name="wall", x=Harmonic(amplitude=0.0, frequency=1.0))],
    joints=[Revolute(name="hinge", a="wall", b="rod.pin")],
    forces=[TorsionSpring(name="spring", b="rod", stiffness=3e5, damping=3e5)],
    events=[Event(name="low", b="rod", guard="theta + 0.1")],
)
for options in ({}, {"method": "dopri5"}, {"method": "radau"},
                {"method": "rk4", "step": 1e-7}):
    result = simulate(model, 1e-5, **options)
    result.sample()
    result.energy_balance
assembled(model)
equilibrium(model)
count = {}
for info in pkgutil.iter_modules(kernels.__path__):
    module = importlib.import_module(f"nonsmooth.kernels.{info.name}")
    for name, item in vars(module).items():
        if isinstance(item, Dispatcher) and item.py_func.__module__ == module.__name__:
            count[f"{info.name}.{name}"] = [str(s) for s in item.signatures]
print(json.dumps(count))
"""


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
def test_every_kernel_is_compiled_for_one_set_of_types(tmp_path):
    """In a process with an empty cache, since cached code leaves no signatures."""
    run = subprocess.run(
        [sys.executable, "-c", COUNT_SIGNATURES],
        env=os.environ | {"NONSMOOTH_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=500,
    )
    count = json.loads(run.stdout)
    used = {name: s for name, s in count.items() if s}
    # Kernels of other solvers stay idle; those of these runs are many.
    assert len(used) > 50
    for name, signatures in used.items():
        assert len(signatures) <= (2 if name in TWICE else 1), (name, signatures)
    # The cache is where it was asked for, and nothing else is.
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("kernels-")


@pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
def test_no_kernel_called_here_has_a_second_specialisation():
    for info in pkgutil.iter_modules(kernels.__path__):
        module = importlib.import_module(f"nonsmooth.kernels.{info.name}")
        for name, item in vars(module).items():
            key = f"{info.name}.{name}"
            if getattr(item, "signatures", None) and hasattr(item, "py_func"):
                allowed = 2 if key in TWICE else 1
                home = item.py_func.__module__.endswith(info.name)
                assert not home or len(item.signatures) <= allowed, key


def folder_of(package: Path, monkeypatch) -> str:
    """Name of the cache folder that a copy of the kernels would use."""
    # Executing the copy sets it; the test must not.
    monkeypatch.setattr("numba.config.CACHE_DIR", str(kernels.cache_folder))
    spec = importlib.util.spec_from_file_location("copied", package / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.cache_folder.name


def test_the_cache_is_named_by_the_sources(tmp_path, monkeypatch):
    source = Path(kernels.__file__).parent
    copy = tmp_path / "kernels"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    same = folder_of(copy, monkeypatch)
    assert same == folder_of(source, monkeypatch)
    for name in ("abi.py", "skyline.py"):
        before = folder_of(copy, monkeypatch)
        with (copy / name).open("a", encoding="utf-8") as file:
            file.write("# one more line\n")
        assert folder_of(copy, monkeypatch) != before
    (copy / "another.py").write_text("", encoding="utf-8")
    grown = folder_of(copy, monkeypatch)
    (copy / "another.py").rename(copy / "renamed.py")
    assert folder_of(copy, monkeypatch) != grown


def test_the_cache_can_be_put_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("NONSMOOTH_CACHE_DIR", str(tmp_path))
    assert kernels.cache_root() == tmp_path
    monkeypatch.delenv("NONSMOOTH_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert kernels.cache_root() == tmp_path / "x" / "nonsmooth"


HEAVY = ("numba", "matplotlib", "scipy", "pandas", "xarray", "pyarrow")


def test_importing_is_light():
    """Numba comes with the first model that is packed, the rest when asked for."""
    code = (
        "import sys, time; begin = time.perf_counter(); import nonsmooth;"
        "spent = time.perf_counter() - begin;"
        "nonsmooth.Model(bodies=[nonsmooth.PointMass(name='a', mass=1)]);"
        f"print([m for m in {HEAVY!r} if m in sys.modules], spent)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    print(f"import nonsmooth: {run.stdout.split()[-1]} s")
    assert run.stdout.startswith("[] ")


def test_the_public_names_all_exist():
    import nonsmooth

    for name in nonsmooth.__all__:
        assert getattr(nonsmooth, name) is not None
    assert dir(nonsmooth) == sorted(nonsmooth.__all__)
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = nonsmooth.simulat


OPEN_DOORS = """
from nonsmooth import gallery, simulate
from nonsmooth.kernels import abi

def waiting():
    return {symbol.split(".")[-2] for symbol in abi._far}

simulate(gallery.build("pendulum_chain"), until=0.1)
assert "switch" in waiting() and "slides" in waiting(), waiting()
assert "modes" not in waiting() and "steps" not in waiting(), waiting()
result = simulate(gallery.build("belt"), until=1.0)
assert not waiting(), waiting()
print(*result.events.counts())
"""


@pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
def test_kernels_of_contacts_wait_for_the_first_contact():
    """In a process of its own, since others may have opened the doors already."""
    argv = [sys.executable, "-c", OPEN_DOORS]
    run = subprocess.run(argv, capture_output=True, text=True, timeout=500)
    assert run.returncode == 0, run.stderr
    assert {"break_away", "stick"} <= set(run.stdout.split())
