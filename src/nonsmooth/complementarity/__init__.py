"""Linear complementarity problems: solve one, list all solutions, judge a matrix.

       w = M z + q        0 <= w _|_ z >= 0        standard    (LCP)
    A+ w = A- z + b       0 <= w _|_ z >= 0        horizontal  (HLCP)

Every place where a mechanism may do one thing or another (stick or slip, press on
one flank or the other, stay or lift off) ends in one of these, or in a problem in a
box (`solve_box`). Nothing here knows of mechanisms, and everything can be used alone.

Answers are checked before they are returned: `status` is "solved" only if the signs,
w_i z_i = 0 and the equations hold within `TOLERANCE`, in units that the problem
itself defines.

References
----------
Cottle, Pang & Stone (1992); Lemke (1965); Murty (1988); Sznajder & Gowda (1995); full
entries in `docs/theory/complementarity.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.complementarity.box import BoxSolution, solve_box
from nonsmooth.complementarity.inputs import Floats
from nonsmooth.complementarity.inputs import array as _array
from nonsmooth.complementarity.inputs import problem as _problem
from nonsmooth.complementarity.inputs import square as _square
from nonsmooth.errors import ModelError, nearest

__all__ = [
    "TOLERANCE",
    "BoxSolution",
    "Residuals",
    "Solution",
    "all_hlcp_solutions",
    "all_solutions",
    "check_hlcp",
    "check_lcp",
    "is_p_matrix",
    "solve_box",
    "solve_hlcp",
    "solve_lcp",
    "solve_mlcp",
    "w_property",
]

Status = Literal["solved", "none", "ray", "limit", "failed"]
Method = Literal["lemke", "enumeration"]

# Largest residual of an answer that counts as solved; `scaling.CHECK`.
TOLERANCE = 1e-9
# 2^n bases: beyond these sizes the answer takes more than a second.
MAX_ENUMERATION = 12
MAX_DETERMINANTS = 16
# Lemke needs about n pivots in practice, 2^n at worst.
PIVOTS, PIVOTS_PER_PAIR = 5000, 50

_METHODS = ("lemke", "enumeration")
_RAY = (
    "No solution was found: every path that was tried ended on a ray. This cannot "
    "happen for a P-matrix. No mode of the mechanism may satisfy the laws (friction "
    "too large for rigid contact, as in Painlevé's problem), or one exists that these "
    "paths do not reach"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Residuals:
    """How far a point is from satisfying a problem; all relative, zero if it does."""

    negative_w: float  # largest -w_i, beside the largest value of the problem
    negative_z: float  # largest -z_i
    overlap: float  # largest min(w_i, z_i)
    equation: float  # largest difference of two sides, beside the terms of its row

    @property
    def largest(self) -> float:
        """The one that counts."""
        return max(self.negative_w, self.negative_z, self.overlap, self.equation)


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """Answer to a complementarity problem.

    Attributes
    ----------
    z, w : array
        In a horizontal problem `w` belongs to A+ and `z` to A-. One of w_i and z_i is
        exactly zero. NaN unless the status is "solved" or "failed".
    status : str
        "solved"; "none": no solution exists, which is proved; "ray": none was found;
        "limit": too many pivots; "failed": the answer violates a condition.
    message : str
        The same as a sentence, with what it means for a mechanism.
    residual : float
        Largest relative violation of a condition, at most `TOLERANCE` if solved.
    pivots : int
        Exchanges of basic variables, all attempts together.
    count : int or None
        Number of solutions, where all were sought; each continuum counts by the
        vertices that were found.
    is_isolated : bool or None
        Whether no other solution is arbitrarily near, where all were sought.
    u : array
        Free variables of a mixed problem.
    """

    z: Floats
    w: Floats
    status: Status
    message: str
    residual: float
    pivots: int = 0
    count: int | None = None
    is_isolated: bool | None = None
    u: Floats = field(default_factory=lambda: np.empty(0))


def solve_lcp(
    M: ArrayLike,
    q: ArrayLike,
    *,
    method: Method = "lemke",
    cover: ArrayLike | None = None,
    max_pivots: int | None = None,
) -> Solution:
    """Solve w = M z + q, 0 <= w _|_ z >= 0.

    Parameters
    ----------
    M : array, (n, n)
    q : array, (n,)
    method : "lemke" or "enumeration"
        Lemke's method with lexicographic pivoting; or every complementary basis, for
        up to 12 pairs, which also tells how many solutions there are.
    cover : array, (n,), optional
        Covering vector of Lemke's method, positive. Ones in the scaled problem by
        default; then a ray is followed by attempts from other bases.
    max_pivots : int, optional
        Limit for one path; 5000 + 50 n by default.

    Returns
    -------
    Solution

    Examples
    --------
    >>> solution = solve_lcp([[2, 1], [1, 2]], [-5, -6])
    >>> solution.status, solution.z.round(6).tolist()
    ('solved', [1.333333, 2.333333])

    References
    ----------
    Cottle, Pang & Stone (1992), algorithm 4.4.5 and section 4.9; Lemke (1965).
    """
    M_, q_ = _problem(M=M, q=q)
    n = len(q_)
    if _method(method) == "enumeration":
        return _first(all_solutions(M_, q_), n)
    lcp = _kernels()
    work = lcp.lcp_work(n, _limit(max_pivots, n))
    if cover is not None:
        work.d[:] = _cover(cover, n)
    z, w, out = np.empty(n), np.empty(n), np.empty(4)
    status = int(lcp.solve_standard(work, n, M_.reshape(-1), q_, z, w, out))
    answer = _answer(status, z, w, work.residual, work.n_pivot)
    if status == lcp.RAY and cover is None:
        again = solve_hlcp(np.eye(n), M_, q_, max_pivots=max_pivots)
        return replace(again, pivots=answer.pivots + again.pivots)
    return answer


def solve_hlcp(
    A_plus: ArrayLike,
    A_minus: ArrayLike,
    b: ArrayLike,
    *,
    method: Method = "lemke",
    max_pivots: int | None = None,
) -> Solution:
    """Solve A+ w = A- z + b, 0 <= w _|_ z >= 0.

    One variable of each pair is solved for, by the largest pivots, and Lemke's method
    takes the rest; after a ray this is tried from other sets of basic variables, 20
    in all. Equations that repeat others are dropped, and their pairs held at zero.
    Where no set of basic variables, one of each pair, can be solved for, all are
    enumerated if there are at most 12 pairs.

    Parameters
    ----------
    A_plus, A_minus : array, (n, n)
    b : array, (n,)
    method : "lemke" or "enumeration"
    max_pivots : int, optional
        Limit for one path; 5000 + 50 n by default.

    Returns
    -------
    Solution
        `w` is lam+ and `z` is lam- of a joint with two flanks.

    References
    ----------
    [WangWangZhuang2014]_ Eqs. (17)-(19).
    """
    plus, minus, b_ = _problem(A_plus=A_plus, A_minus=A_minus, b=b)
    n = len(b_)
    if _method(method) == "enumeration":
        return _first(all_hlcp_solutions(plus, minus, b_), n)
    lcp = _kernels()
    work, inner = lcp.hlcp_work(n), lcp.lcp_work(n, _limit(max_pivots, n))
    z, w, out = np.empty(n), np.empty(n), np.empty(4)
    status = int(
        lcp.solve_horizontal(
            work, inner, n, plus.reshape(-1), minus.reshape(-1), b_, w, z, out
        )
    )
    if status == lcp.NO_BASIS and n <= MAX_ENUMERATION:
        return _first(all_hlcp_solutions(plus, minus, b_), n)
    return _answer(status, z, w, work.residual, work.n_pivot)


def solve_mlcp(
    A: ArrayLike,
    C: ArrayLike,
    D: ArrayLike,
    B: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
) -> Solution:
    """Solve a mixed problem, whose variables u are free.

        0 = A u + C z + a
        w = D u + B z + b        0 <= w _|_ z >= 0

    u is eliminated by LU. Where A is singular, each u becomes the difference of a
    pair, u = u+ - u-, of a horizontal problem.

    Parameters
    ----------
    A : array, (m, m)
    C : array, (m, n)
    D : array, (n, m)
    B : array, (n, n)
    a : array, (m,)
    b : array, (n,)

    Returns
    -------
    Solution
        With the free variables in `u`.
    """
    A_, a_ = _problem(A=A, a=a)
    B_, b_ = _problem(B=B, b=b)
    m, n = len(a_), len(b_)
    C_, D_ = _array("C", C, (m, n)), _array("D", D, (n, m))
    plus = np.block([[A_, np.zeros((m, n))], [-D_, np.eye(n)]])
    minus = np.block([[A_, -C_], [-D_, B_]])
    right = np.concatenate([-a_, b_])

    try:
        X = np.linalg.solve(A_, np.column_stack([C_, a_]))
    except np.linalg.LinAlgError:
        X = np.full((m, n + 1), np.nan)
    if np.isfinite(X).all():
        answer = solve_lcp(B_ - D_ @ X[:, :n], b_ - D_ @ X[:, n])
        u = -X[:, :n] @ answer.z - X[:, n]
        if answer.status in ("none", "ray", "limit"):
            return replace(answer, u=u)
        found = check_hlcp(
            plus,
            minus,
            right,
            np.concatenate([np.maximum(u, 0), answer.w]),
            np.concatenate([np.maximum(-u, 0), answer.z]),
        )
        if answer.status == "solved" and found.largest <= TOLERANCE:
            return replace(answer, u=u, residual=found.largest)
    answer = solve_hlcp(plus, minus, right)
    u = answer.w[:m] - answer.z[:m]
    return replace(answer, w=answer.w[m:], z=answer.z[m:], u=u)


def all_solutions(M: ArrayLike, q: ArrayLike) -> tuple[Solution, ...]:
    """Return every solution of w = M z + q, 0 <= w _|_ z >= 0, up to 12 pairs.

    Every complementary basis is solved by LU. Solutions that differ by less than 1e-8
    of their largest value are merged. A singular basis may hold a continuum: then one
    of its vertices is listed, and what lies in it has `is_isolated` false.

    Returns
    -------
    tuple of Solution
        Empty if there is none.

    Examples
    --------
    >>> [s.z.tolist() for s in all_solutions([[-1]], [1])]
    [[0.0], [1.0]]
    """
    M_, q_ = _problem(M=M, q=q)
    return all_hlcp_solutions(np.eye(len(q_)), M_, q_)


def all_hlcp_solutions(
    A_plus: ArrayLike, A_minus: ArrayLike, b: ArrayLike
) -> tuple[Solution, ...]:
    """Return every solution of A+ w = A- z + b, 0 <= w _|_ z >= 0; `all_solutions`."""
    plus, minus, b_ = _problem(A_plus=A_plus, A_minus=A_minus, b=b)
    n = len(b_)
    _small("all_solutions", n, MAX_ENUMERATION)
    lcp = _kernels()
    work = lcp.hlcp_work(n)
    points = np.empty((2**n, 2 * n))
    is_isolated = np.zeros(2**n, dtype=np.int64)
    count = int(
        lcp.all_points(
            work,
            n,
            plus.reshape(-1),
            minus.reshape(-1),
            b_,
            points.reshape(-1),
            is_isolated,
            np.zeros(2**n, dtype=np.int64),
        )
    )
    return tuple(
        _listed(
            points[k, :n].copy(),
            points[k, n:].copy(),
            check_hlcp(plus, minus, b_, points[k, :n], points[k, n:]).largest,
            count,
            bool(is_isolated[k]),
        )
        for k in range(count)
    )


def check_lcp(
    M: ArrayLike, q: ArrayLike, z: ArrayLike, w: ArrayLike | None = None
) -> Residuals:
    """Return how far z, and w = M z + q unless given, are from a solution."""
    M_, q_ = _problem(M=M, q=q)
    n = len(q_)
    z_ = _array("z", z, (n,))
    w_ = M_ @ z_ + q_ if w is None else _array("w", w, (n,))
    return check_hlcp(np.eye(n), M_, q_, w_, z_)


def check_hlcp(
    A_plus: ArrayLike, A_minus: ArrayLike, b: ArrayLike, w: ArrayLike, z: ArrayLike
) -> Residuals:
    """Return how far w and z are from a solution of A+ w = A- z + b."""
    plus, minus, b_ = _problem(A_plus=A_plus, A_minus=A_minus, b=b)
    n = len(b_)
    w_, z_ = _array("w", w, (n,)), _array("z", z, (n,))
    lcp = _kernels()
    out = np.empty(4)
    lcp.check_point(
        lcp.hlcp_work(n), n, plus.reshape(-1), minus.reshape(-1), b_, w_, z_, out
    )
    values = [float(value) for value in out]
    return Residuals(
        negative_w=values[0],
        negative_z=values[1],
        overlap=values[2],
        equation=values[3],
    )


def is_p_matrix(M: ArrayLike) -> bool:
    """Tell whether all principal minors of M are positive, up to 16 pairs.

    Then, and only then, w = M z + q has exactly one solution for every q.

    References
    ----------
    Cottle, Pang & Stone (1992), theorem 3.3.7.
    """
    M_ = _square("M", M)
    return w_property(np.eye(len(M_)), M_)


def w_property(A_plus: ArrayLike, A_minus: ArrayLike) -> bool:
    """Tell whether A+ w = A- z + b has exactly one solution for every b.

    That is so if and only if the determinants of all matrices whose column i is
    column i of A+ or of A- have one strict sign; up to 16 pairs. A determinant counts
    as zero when the matrix, scaled, has a pivot below 1e-10 of the largest.

    References
    ----------
    Sznajder & Gowda (1995).
    """
    plus = _square("A_plus", A_plus)
    n = len(plus)
    minus = _array("A_minus", A_minus, (n, n))
    _small("w_property", n, MAX_DETERMINANTS)
    lcp = _kernels()
    return bool(
        lcp.w_property(
            lcp.hlcp_work(n), n, plus.reshape(-1), minus.reshape(-1), np.zeros(n)
        )
    )


# ---- answers -------------------------------------------------------------------


def _answer(
    status: int, z: Floats, w: Floats, residual: float, pivots: int
) -> Solution:
    """Return what a kernel found, with the sentence for its status."""
    lcp = _kernels()
    names: dict[int, tuple[Status, str]] = {
        lcp.SOLVED: ("solved", "Solved: all conditions hold."),
        lcp.INFEASIBLE: ("none", _none("proved by the ray or by the equations")),
        lcp.RAY: ("ray", f"{_RAY}; all_solutions decides, for up to 12 pairs."),
        lcp.LIMIT: (
            "limit",
            f"No answer after {pivots} pivots; raise max_pivots.",
        ),
        lcp.INACCURATE: ("failed", _inaccurate(residual)),
        lcp.NO_BASIS: (
            "failed",
            "No choice of one variable of each pair was found that the equations "
            "determine; with more than 12 pairs nothing else is tried.",
        ),
    }
    name, message = names[status]
    return Solution(
        z=z, w=w, status=name, message=message, residual=residual, pivots=pivots
    )


def _listed(
    w: Floats, z: Floats, residual: float, count: int, is_isolated: bool
) -> Solution:
    """Return one of all solutions, checked."""
    message = "Solved: this is the only solution."
    if not is_isolated:
        message = (
            "Solved: one point of a continuum of solutions. Forces, or the motion "
            "itself, are not determined (redundant contacts share a load, say)."
        )
    elif count > 1:
        message = (
            f"Solved: one of {count} solutions. The laws of rigid contact allow "
            "several motions here."
        )
    is_good = residual <= TOLERANCE
    return Solution(
        z=z,
        w=w,
        status="solved" if is_good else "failed",
        message=message if is_good else _inaccurate(residual),
        residual=residual,
        count=count,
        is_isolated=is_isolated,
    )


def _first(solutions: tuple[Solution, ...], n: int) -> Solution:
    """Return the first of all solutions, or that there is none."""
    for solution in solutions:
        if solution.status == "solved":
            return solution
    if solutions:
        return solutions[0]
    nothing = np.full(n, np.nan)
    return Solution(
        z=nothing,
        w=nothing.copy(),
        status="none",
        message=_none("every choice of one variable of each pair was tried"),
        residual=np.inf,
        count=0,
    )


def _none(how: str) -> str:
    return (
        f"No solution exists ({how}). No mode of the mechanism satisfies the laws: "
        "look for friction too large for rigid contact (Painlevé), or for "
        "contradicting constraints."
    )


def _inaccurate(residual: float) -> str:
    return (
        f"The answer violates a condition by {residual:.1e} of the terms involved, "
        f"where {TOLERANCE:.0e} is allowed: the problem is too ill-conditioned."
    )


# ---- input ---------------------------------------------------------------------


@cache
def _kernels() -> Any:
    """Import the kernels, once per process."""
    from nonsmooth.kernels.complementarity import arrays

    return arrays


def _cover(value: ArrayLike, n: int) -> Floats:
    cover = _array("cover", value, (n,))
    if not (cover > 0).all():
        k = int(np.argmin(cover))
        raise ModelError(f"cover[{k}] = {float(cover[k])}; must be > 0")
    return cover


def _limit(value: int | None, n: int) -> int:
    if value is None:
        return PIVOTS + PIVOTS_PER_PAIR * n
    if value < 1:
        raise ModelError(f"max_pivots = {value!r}; must be at least 1")
    return value


def _method(value: str) -> str:
    if value not in _METHODS:
        raise ModelError(f"method = {value!r}; {nearest(str(value), _METHODS)}")
    return value


def _small(what: str, n: int, most: int) -> None:
    if n > most:
        raise ModelError(f"{what}: {n} pairs; must be at most {most}, for 2^n bases")
