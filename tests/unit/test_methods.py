"""Runge-Kutta tables and the constants of Radau."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.integrate import DOP853, RK45
from scipy.integrate._ivp import dop853_coefficients

from nonsmooth.kernels.march import radau
from nonsmooth.kernels.march.tableaux import EXPLICIT
from nonsmooth.kernels.run import Tableau

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
