"""The solvers on arrays, for Python."""

import math

from nonsmooth.kernels.abi import data, entry
from nonsmooth.kernels.complementarity import enumeration, horizontal, lemke, scaling
from nonsmooth.kernels.complementarity.scaling import (  # noqa: F401 (what they return)
    INACCURATE,
    INFEASIBLE,
    LIMIT,
    NO_BASIS,
    NOT_FINITE,
    RAY,
    SOLVED,
)
from nonsmooth.kernels.look import Look


def lcp_work(n, limit):
    """Return what Lemke's method works in."""
    return lemke.Lcp({"n_pair": n}, look=Look(), limit=limit, residual=math.inf)


def hlcp_work(n):
    """Return what the horizontal problem works in."""
    return horizontal.Hlcp({"n_pair": n}, residual=math.inf)


@entry
def solve_standard(p, n, M, q, z, w, out):
    """Solve w = M z + q by Lemke's method."""
    return lemke.lemke(p, n, data(M), data(q), data(z), data(w), data(out))


@entry
def solve_horizontal(h, p, n, A_plus, A_minus, b, w, z, out):
    """Solve A+ w = A- z + b by Lemke's method."""
    return horizontal.solve_horizontal(
        h, p, n, data(A_plus), data(A_minus), data(b), data(w), data(z), data(out)
    )


@entry
def all_points(h, n, A_plus, A_minus, b, points, is_isolated, kind):
    """Write all solutions; return how many."""
    return enumeration.enumerate_solutions(
        h,
        n,
        data(A_plus),
        data(A_minus),
        data(b),
        data(points),
        data(is_isolated),
        data(kind),
    )


@entry
def w_property(h, n, A_plus, A_minus, b):
    """Return whether all mixed determinants share one sign; b is any finite vector."""
    horizontal.prepare_horizontal(h, n, data(A_plus), data(A_minus), data(b))
    return enumeration.has_w_property(h, n)


@entry
def check_point(h, n, A_plus, A_minus, b, w, z, out):
    """Check any point (w, z) of a horizontal problem."""
    horizontal.prepare_horizontal(h, n, data(A_plus), data(A_minus), data(b))
    for i in range(n):
        h.basic[i] = w[i] / h.c[i] / h.scale
        h.other[i] = z[i] / h.c[n + i] / h.scale
    return scaling.check(n, 1, h.W, h.b, h.basic, h.other, data(out))
