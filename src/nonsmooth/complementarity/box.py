"""Friction at rest, normal forces known: a convex problem in a box.

    minimise 1/2 lam' A lam + b' lam    over |lam_i| <= limit_i,    a = A lam + b

Equations and tolerances are in `docs/theory/complementarity.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.complementarity.inputs import Floats, array, problem
from nonsmooth.errors import ModelError

BoxStatus = Literal["solved", "limit", "failed"]

# A matrix whose two halves differ by more, or with an eigenvalue further below zero, in
# units in which its diagonal is one, is wrong rather than rounded.
WRONG = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class BoxSolution:
    """Answer to a problem in a box.

    Attributes
    ----------
    lam : array
        Friction forces. Where contacts are redundant, those of least sum of
        lam**2 / limit.
    acceleration : array
        A lam + b; the same for all solutions.
    slip : array of int
        Sign of the acceleration, and 0 where it is none but for round-off. A contact
        that accelerates has lam = -slip * limit.
    status : str
        "solved": all conditions hold within `residual`; "limit": too many changes;
        "failed": a condition is violated.
    rank : int
        Of A, but for round-off: contacts above it are redundant.
    residual : float
        Largest violation of a condition, beside the terms of its row.
    """

    lam: Floats
    acceleration: Floats
    slip: NDArray[np.int64]
    status: BoxStatus
    rank: int
    residual: float


def solve_box(A: ArrayLike, b: ArrayLike, limit: ArrayLike) -> BoxSolution:
    """Minimise 1/2 lam' A lam + b' lam over |lam_i| <= limit_i.

    Parameters
    ----------
    A : array, (n, n)
        Symmetric and positive semidefinite: accelerations due to unit forces.
    b : array, (n,)
        Accelerations without friction.
    limit : array, (n,)
        Largest forces, >= 0.

    Returns
    -------
    BoxSolution

    Examples
    --------
    A block of 2 kg on two feet, pushed by 6 N: it holds 8 N, and they share.

    >>> A = [[0.5, 0.5], [0.5, 0.5]]
    >>> held = solve_box(A, [3, 3], limit=[6, 2])
    >>> held.status, held.rank, held.slip.tolist(), held.lam.round(6).tolist()
    ('solved', 1, [0, 0], [-4.5, -1.5])

    With 10 N it starts, against both.

    >>> moves = solve_box(A, [5, 5], limit=[6, 2])
    >>> moves.slip.tolist(), moves.acceleration.tolist(), moves.lam.tolist()
    ([1, 1], [1.0, 1.0], [-6.0, -2.0])
    """
    A_, b_ = problem(A=A, b=b)
    n = len(b_)
    limit_ = array("limit", limit, (n,))
    if not (limit_ >= 0).all():
        k = int(np.argmin(limit_))
        raise ModelError(f"limit[{k}] = {float(limit_[k])}; must be >= 0")
    _check_matrix(A_)
    kernels = _kernels()
    work = kernels.box_work(n)
    lam, a, free = np.zeros(n), np.zeros(n), np.diag(A_).copy()
    flat = A_.reshape(-1)
    status = int(kernels.solve(work, n, flat, b_, limit_, free, lam, a))
    names: dict[int, BoxStatus] = {kernels.SOLVED: "solved", kernels.LIMIT: "limit"}
    residual, rank = work.residual, work.rank
    if status == kernels.SOLVED:
        kernels.share(work, n, flat, limit_, free, lam)
    return BoxSolution(
        lam=lam,
        acceleration=a,
        slip=work.slip.copy(),
        status=names.get(status, "failed"),
        rank=rank,
        residual=residual,
    )


def _check_matrix(A: Floats) -> None:
    """Refuse what is not symmetric and positive semidefinite."""
    own = np.diag(A)
    if (own < 0).any():
        k = int(np.argmin(own))
        raise ModelError(f"A[{k}, {k}] = {float(own[k])}; must be >= 0")
    size = np.sqrt(np.where(own > 0, own, 1.0))
    H = A / size / size[:, None]
    if not np.abs(H - H.T).max() <= WRONG:
        raise ModelError("A is not symmetric")
    if np.linalg.eigvalsh(H)[0] < -WRONG * len(A):
        raise ModelError("A is not positive semidefinite")


@cache
def _kernels() -> Any:
    """Import the kernels, once per process."""
    from nonsmooth.kernels.complementarity import box_arrays

    return box_arrays
