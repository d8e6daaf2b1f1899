"""Box problems on arrays, for Python."""

from nonsmooth.kernels.complementarity import box, mechanism, sharing
from nonsmooth.kernels.complementarity.scaling import (  # noqa: F401 (what they return)
    INACCURATE,
    INFEASIBLE,
    LIMIT,
    NOT_FINITE,
    SOLVED,
)
from nonsmooth.kernels.look import Look


def box_work(n):
    """Return what box problems work in."""
    return box.Box({"n_largest": n}, look=Look())


solve = box.solve_box
share = sharing.share
group_ratio = mechanism.group_ratio
let_go = mechanism.let_go
