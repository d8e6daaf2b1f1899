"""Box problems on arrays, for Python."""

from nonsmooth.kernels.abi import data, entry
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


@entry
def solve(p, n, A, b, limit, free, lam, a):
    """Solve a box problem."""
    return box.solve_box(
        p, n, data(A), data(b), data(limit), data(free), data(lam), data(a)
    )


@entry
def share(p, n, A, limit, free, lam):
    """Share friction anew among redundant contacts."""
    return sharing.share(p, n, data(A), data(limit), data(free), data(lam))


@entry
def group_ratio(p, n, A, limit, free, lam):
    """Return how near a group of sticking contacts is to giving way."""
    return mechanism.group_ratio(p, n, data(A), data(limit), data(free), data(lam))


@entry
def let_go(p, n, A, limit, free, lam):
    """Find what slips when a group of sticking contacts gives way."""
    return mechanism.let_go(p, n, data(A), data(limit), data(free), data(lam))
