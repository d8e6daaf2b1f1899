"""Lemke's method with lexicographic pivoting, for w = M z + q, 0 <= w _|_ z >= 0.

References
----------
Cottle, Pang & Stone (1992), sections 4.4 and 4.9; Murty (1988), sections 2.2 and 2.6;
full entries in `docs/theory/complementarity.md`.
"""

import numpy as np

from nonsmooth.kernels.abi import (
    FLOATS,
    INTEGER,
    NUMBER,
    Block,
    far,
    floats,
    integers,
    kernel,
)
from nonsmooth.kernels.complementarity.scaling import (
    CHECK,
    CLIP,
    INACCURATE,
    INFEASIBLE,
    LIMIT,
    NOT_FINITE,
    PIVOT,
    RAY,
    SOLVED,
    TIE,
    check,
    clip,
    equilibrate,
    is_finite,
    scale_right,
)
from nonsmooth.kernels.linear.dense import lu_factor, lu_solve
from nonsmooth.kernels.look import Look, spend

# A dictionary is computed afresh after n and so many pivots.
REFRESH = 20


class Lcp(Block):
    """What `lemke` works in, for up to n_pair pairs."""

    look = Look
    limit = INTEGER  # pivots allowed
    n_pivot = INTEGER  # pivots made
    n_basic = INTEGER  # z in the final basis
    entering = INTEGER  # variable: w_i is i, z_i is n + i, z_0 is 2 n
    scale = NUMBER  # power of two just above the largest |r q|
    residual = NUMBER  # of the answer
    d = floats("n_pair")  # covering vector; d[0] = 0 for ones in the scaled problem
    r = floats("n_pair")  # row scales
    c = floats("n_pair")  # column scales
    A = floats("n_pair * n_pair")  # (n, n) M scaled
    b = floats("n_pair")  # q scaled
    T = floats("n_pair * (n_pair + 2)")  # dictionary: basic = T (non-basic, 1)
    x = floats("n_pair")
    label = integers("2 * n_pair + 1")  # variable in each row, then in each column
    where = integers("2 * n_pair + 1")  # place of each variable in `label`
    pick = integers("n_pair")
    swap = integers("n_pair")


@far(INTEGER, INTEGER, FLOATS, INTEGER, INTEGER)
def exchange(rows, width, T, r, s):
    """Exchange the basic variable of row r with the non-basic one of column s."""
    pivot = T[r * width + s]
    for j in range(width):
        T[r * width + j] /= -pivot
    T[r * width + s] = 1.0 / pivot
    for i in range(rows):
        a = T[i * width + s]
        if i != r and a != 0.0:
            T[i * width + s] = 0.0
            for j in range(width):
                T[i * width + j] += a * T[r * width + j]


@far(Lcp, INTEGER, INTEGER, INTEGER, returns=INTEGER)
def pivot(p, n, r, s):
    """Exchange row r and column s with their labels; return what left the basis."""
    exchange(n, n + 2, p.T, r, s)
    out = p.label[r]
    new = p.label[n + s]
    p.label[r] = new
    p.label[n + s] = out
    p.where[new] = r
    p.where[out] = n + s
    return out


@kernel
def load(p, n):
    """Set up the dictionary w = A z + d z_0 + b."""
    T = p.T
    for i in range(n):
        for j in range(n):
            T[i * (n + 2) + j] = p.A[i * n + j]
        T[i * (n + 2) + n] = p.r[i] * p.d[i] if p.d[0] > 0.0 else 1.0
        T[i * (n + 2) + n + 1] = p.b[i]
    for k in range(2 * n + 1):
        p.label[k] = k
        p.where[k] = k


@kernel
def rebuild(p, n):
    """Compute the dictionary of the present basis afresh; return whether it exists.

    Long paths and small pivots spoil a dictionary that is only updated; here each
    pivot is the largest.
    """
    T = p.T
    wanted = p.pick
    stays = p.swap
    for i in range(n):
        wanted[i] = p.label[i]
    load(p, n)
    while True:
        missing = n
        for i in range(n):
            stays[i] = 0
        for k in range(n):
            if p.where[wanted[k]] < n:
                stays[p.where[wanted[k]]] = 1
                missing -= 1
        if missing == 0:
            return True
        best, r, s = 0.0, 0, 0
        for k in range(n):
            j = p.where[wanted[k]] - n
            for i in range(n if j >= 0 else 0):
                if stays[i] == 0 and abs(T[i * (n + 2) + j]) > best:
                    best, r, s = abs(T[i * (n + 2) + j]), i, j
        if best == 0.0 or spend(p.look, 2 * n * n):
            return False
        pivot(p, n, r, s)


@kernel
def perturbation(n, T, where, i, k):
    """Coefficient of eps^(k+1) in basic value i, for q + (eps, eps^2, ...)."""
    place = where[k]
    if place < n:
        return 1.0 if place == i else 0.0
    return -T[i * (n + 2) + place - n]


@kernel
def first_tied(p, n, s, least, floor, slack):
    """Row that falls to zero first for q + (eps, eps^2, ...), of those tied for q.

    z_0 leaves whenever it can, for that is a solution.
    """
    T = p.T
    ties = p.pick
    count = 0
    for i in range(n):
        a = -T[i * (n + 2) + s]
        if a > floor and T[i * (n + 2) + n + 1] - least * a <= slack:
            if p.label[i] == 2 * n:
                return i
            ties[count] = i
            count += 1
    for k in range(n):
        if count == 1:
            break
        least = np.inf
        for t in range(count):
            ratio = perturbation(n, T, p.where, ties[t], k) / -T[ties[t] * (n + 2) + s]
            least = min(least, ratio)
        kept = 0
        for t in range(count):
            ratio = perturbation(n, T, p.where, ties[t], k) / -T[ties[t] * (n + 2) + s]
            if ratio <= least + TIE * max(1.0, abs(least)):
                ties[kept] = ties[t]
                kept += 1
        count = kept
    # None at all after an overflow.
    return ties[0] if count > 0 else -1


@kernel
def blocking(p, n, s):
    """Row that first falls to zero as the variable of column s grows, -1 for none.

    Ties are broken as if q were q + (eps, eps^2, ...), so that no basis comes twice.
    """
    T = p.T
    size = 1.0
    high = 1.0
    for i in range(n):
        size = max(size, abs(T[i * (n + 2) + s]))
        high = max(high, abs(T[i * (n + 2) + n + 1]))
    least = np.inf
    for i in range(n):
        a = -T[i * (n + 2) + s]
        if a > PIVOT * size:
            least = min(least, max(T[i * (n + 2) + n + 1], 0.0) / a)
    if least == np.inf:
        return -1
    return first_tied(p, n, s, least, PIVOT * size, TIE * high)


@kernel
def enter_cover(p, n):
    """Bring in z_0 at the value that makes all w >= 0."""
    T = p.T
    least = np.inf
    r = 0
    for i in range(n):
        ratio = T[i * (n + 2) + n + 1] / T[i * (n + 2) + n]
        # The last of tied rows is the lexicographic choice.
        if ratio <= least + TIE:
            least = min(least, ratio)
            r = i
    p.entering = pivot(p, n, r, n) + n
    p.n_pivot += 1


@kernel
def follow(p, n, until):
    """Follow Lemke's path until z_0 leaves, a ray, or so many pivots."""
    while p.n_pivot < until:
        s = p.where[p.entering] - n
        r = blocking(p, n, s)
        if r < 0:
            return RAY
        out = pivot(p, n, r, s)
        p.n_pivot += 1
        if spend(p.look, n * n):
            return LIMIT
        if out == 2 * n:
            return SOLVED
        p.entering = out + n if out < n else out - n
    return LIMIT


@kernel
def is_infeasible(p, n):
    """Tell whether the ray proves that no z >= 0 has w >= 0.

        u >= 0,   M^T u <= 0,   q^T u < 0,   u the change of z along the ray

    For a positive semidefinite or copositive-plus M it always does.
    """
    u = p.x
    s = p.where[p.entering] - n
    for i in range(n):
        place = p.where[n + i]
        change = p.T[place * (n + 2) + s] if place < n else 0.0
        u[i] = change if change > PIVOT else 0.0
        if p.entering == n + i:
            u[i] = 1.0
        # A^T and b are scaled by rows: c/r takes u to the multipliers of those.
        u[i] *= p.c[i] / p.r[i]
    for j in range(n):
        total = 0.0
        terms = 0.0
        for i in range(n):
            total += p.A[i * n + j] * u[i]
            terms += abs(p.A[i * n + j] * u[i])
        if total > PIVOT * terms:
            return False
    total = 0.0
    terms = 0.0
    for i in range(n):
        total += p.b[i] * u[i]
        terms += u[i]
    return total < -CLIP * terms


@far(Lcp, INTEGER, FLOATS, FLOATS)
def finish(p, n, z, w):
    """Solve for the final basis from the data themselves, and refine once.

    A_KK z_K = -b_K,   w = A_K z_K + b outside K,   K = basic z
    """
    B = p.T
    p.n_basic = 0
    for i in range(n):
        z[i] = 0.0
        if p.where[n + i] < n:
            p.pick[p.n_basic] = i
            p.n_basic += 1
    k = p.n_basic
    for a in range(k):
        for b in range(k):
            B[a * k + b] = p.A[p.pick[a] * n + p.pick[b]]
    for _ in range(2 if lu_factor(k, B, p.swap) else 0):
        for a in range(k):
            p.x[a] = -p.b[p.pick[a]]
            for b in range(k):
                p.x[a] -= p.A[p.pick[a] * n + p.pick[b]] * z[p.pick[b]]
        lu_solve(k, B, p.swap, p.x)
        for a in range(k):
            z[p.pick[a]] += p.x[a]
    for i in range(n):
        w[i] = 0.0
        if p.where[n + i] >= n:
            w[i] = p.b[i]
            for a in range(k):
                w[i] += p.A[i * n + p.pick[a]] * z[p.pick[a]]
    clip(n, z)
    clip(n, w)


@kernel
def prepare(p, n, M, q):
    """Scale the problem; return whether it is finite."""
    p.n_pivot = 0
    if not (is_finite(n * n, M) and is_finite(n, q)):
        return False
    equilibrate(n, n, M, p.A, p.r, p.c)
    for i in range(n):
        for j in range(n):
            p.A[i * n + j] = p.r[i] * M[i * n + j] * p.c[j]
    p.scale = scale_right(n, q, p.r, p.b)
    return True


@far(Lcp, INTEGER, returns=INTEGER)
def search(p, n):
    """Follow Lemke's path from the loaded dictionary, computed afresh now and then."""
    enter_cover(p, n)
    status = LIMIT
    while p.n_pivot < p.limit and not p.look.is_stopped:
        before = p.n_pivot
        status = follow(p, n, min(p.limit, before + n + REFRESH))
        # A ray counts only in a fresh dictionary.
        if status == SOLVED or (status == RAY and p.n_pivot == before):
            return status
        if not rebuild(p, n):
            return INACCURATE
    return status


@far(Lcp, INTEGER, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, returns=INTEGER)
def lemke(p, n, M, q, z, w, out):
    """Solve w = M z + q, 0 <= w _|_ z >= 0; write the residuals to `out`, (4).

    Answers are checked: SOLVED satisfies all conditions within CHECK, with w_i = 0 or
    z_i = 0 exactly. INFEASIBLE is proved. After RAY a solution may still exist.
    """
    p.residual = np.inf
    status = NOT_FINITE
    if prepare(p, n, M, q):
        load(p, n)
        least = 0.0
        for i in range(n):
            least = min(least, p.b[i])
        status = search(p, n) if least < -TIE else SOLVED
    if status == RAY and is_infeasible(p, n):
        status = INFEASIBLE
    if status == SOLVED:
        finish(p, n, z, w)
        p.residual = check(n, 0, p.A, p.b, w, z, out)
        if not p.residual <= CHECK:
            status = INACCURATE
    for i in range(n):
        z[i] = z[i] * p.c[i] * p.scale if p.residual < np.inf else np.nan
        w[i] = w[i] / p.r[i] * p.scale if p.residual < np.inf else np.nan
    return status
