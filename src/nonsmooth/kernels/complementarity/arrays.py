"""The solvers on arrays, for Python."""

import math

from nonsmooth.kernels.abi import FLOATS, INTEGER, NUMBER, far
from nonsmooth.kernels.complementarity import enumeration, horizontal, lemke, scaling
from nonsmooth.kernels.complementarity.horizontal import Hlcp
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


solve_standard = lemke.lemke
solve_horizontal = horizontal.solve_horizontal
all_points = enumeration.enumerate_solutions


@far(Hlcp, INTEGER, FLOATS, FLOATS, FLOATS, returns=INTEGER)
def w_property(h, n, A_plus, A_minus, b):
    """Return whether all mixed determinants share one sign; b is any finite vector."""
    horizontal.prepare_horizontal(h, n, A_plus, A_minus, b)
    return enumeration.has_w_property(h, n)


@far(Hlcp, INTEGER, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, returns=NUMBER)
def check_point(h, n, A_plus, A_minus, b, w, z, out):
    """Check any point (w, z) of a horizontal problem."""
    horizontal.prepare_horizontal(h, n, A_plus, A_minus, b)
    for i in range(n):
        h.basic[i] = w[i] / h.c[i] / h.scale
        h.other[i] = z[i] / h.c[n + i] / h.scale
    return scaling.check(n, 1, h.W, h.b, h.basic, h.other, out)
