"""LDL^T of the constraint matrix S = J M^-1 J^T, stored by rows from their first entry.

All bodies are eliminated before the joint rows (their masses are diagonal), so S
is symmetric and positive semidefinite whatever the mechanism, and rows can be
ordered freely for a short profile. One storage serves both ends: a small mechanism
fills its profile and is a dense problem; a chain of a thousand loops keeps a
constant band and costs a constant time per loop. Entry (i, j) stands at
`start[i] + j`, `first[i] <= j <= i`. Of D the inverse is kept: quotients take long.
"""

import math

from nonsmooth.kernels.abi import at, kernel
from nonsmooth.kernels.linear import dense
from nonsmooth.kernels.tolerances import EPSILON, REFINED

MAX_REFINEMENT = 12
# A pivot, beside its diagonal entry, that may be the round-off of smaller ones before
# it; and how many times that round-off it then is at most.
SMALL, SPOILT = 1e-5, 4.0


@kernel
def is_spoilt(i, first, start, S, L, d, pivot):
    """Return whether a pivot is what round-off of the small ones before it leaves.

    A pivot d_j that is left of S_jj has the error eps S_jj / d_j, beside it.
    """
    oi, error = start[i], 0.0
    for j in range(first[i], i):
        if d[j] != 0.0:
            error += L[oi + j] * L[oi + j] * S[start[j] + j]
    return pivot <= SPOILT * EPSILON * error


@kernel
def factor(n, first, start, S, shift, weight, rank, is_contact, L, d):
    """Factor S + shift diag(weight S) = L D L^T; return the least pivot / diagonal.

    u_ij = S_ij - sum_k u_ik L_jk,   L_ij = u_ij / d_j,   d_i = S_ii - sum_j u_ij L_ij

    d has the inverse pivots. A row whose pivot is below `rank` times its diagonal entry
    depends on others, and is left out: its pivot is infinite, so that `solve` gives it
    nothing. So is one with sticking contacts that is round-off.
    """
    least = 1.0
    for i in range(n):
        fi = first[i]
        oi = start[i]
        for j in range(fi, i):
            oj = start[j]
            low = max(fi, first[j])
            u = S[oi + j]
            for k in range(low, j):
                u -= L[oi + k] * L[oj + k]
            L[oi + j] = u
        diagonal = S[oi + i] * (1.0 + shift * weight[i])
        pivot = diagonal
        for j in range(fi, i):
            u = L[oi + j]
            L[oi + j] = u * d[j]
            pivot -= u * L[oi + j]
        least = min(least, pivot / diagonal) if diagonal > 0.0 else 0.0
        if pivot <= rank * diagonal:
            pivot = math.inf
        elif is_contact and pivot <= SMALL * diagonal:
            if is_spoilt(i, first, start, S, L, d, pivot):
                pivot, least = math.inf, 0.0
        d[i] = 1.0 / pivot
        L[oi + i] = 1.0
    return least


@kernel
def solve(begin, end, first, start, L, d, x):
    """Solve L D L^T x = x in place, for rows that are not coupled to others."""
    for i in range(begin, end):
        oi = start[i]
        total = x[i]
        for j in range(first[i], i):
            total -= L[oi + j] * x[j]
        x[i] = total
    for i in range(begin, end):
        x[i] *= d[i]
    for i in range(end - 1, begin - 1, -1):
        oi = start[i]
        xi = x[i]
        for j in range(first[i], i):
            x[j] -= L[oi + j] * xi


@kernel
def solve_many(begin, end, first, start, L, d, n, x):
    """Solve L D L^T x = x in place for n right-hand sides side by side.

    Four at a time, which fill a vector unit: n is a multiple of four.
    """
    for block in range(n // 4):
        solve_four(begin, end, first, start, L, d, n, at(x, 4 * block))


@kernel
def solve_four(begin, end, first, start, L, d, n, x):
    """Solve for four right-hand sides side by side; rows of x are n numbers apart."""
    for i in range(begin, end):
        oi, xi = start[i], at(x, i * n)
        p, q, r, s = xi[0], xi[1], xi[2], xi[3]
        for j in range(first[i], i):
            factor, xj = L[oi + j], at(x, j * n)
            p -= factor * xj[0]
            q -= factor * xj[1]
            r -= factor * xj[2]
            s -= factor * xj[3]
        xi[0], xi[1], xi[2], xi[3] = p, q, r, s
    for i in range(begin, end):
        inverse, xi = d[i], at(x, i * n)
        for k in range(4):
            xi[k] *= inverse
    for i in range(end - 1, begin - 1, -1):
        oi, xi = start[i], at(x, i * n)
        p, q, r, s = xi[0], xi[1], xi[2], xi[3]
        for j in range(first[i], i):
            factor, xj = L[oi + j], at(x, j * n)
            xj[0] -= factor * p
            xj[1] -= factor * q
            xj[2] -= factor * r
            xj[3] -= factor * s


@kernel
def solve_five(begin, end, first, start, L, d, x, y):
    """Solve for four right-hand sides side by side, and for one more, y.

    Each number waits for the last: five take hardly longer than one.
    """
    for i in range(begin, end):
        oi, xi = start[i], at(x, 4 * i)
        p, q, r, s, t = xi[0], xi[1], xi[2], xi[3], y[i]
        for j in range(first[i], i):
            factor, xj = L[oi + j], at(x, 4 * j)
            p -= factor * xj[0]
            q -= factor * xj[1]
            r -= factor * xj[2]
            s -= factor * xj[3]
            t -= factor * y[j]
        xi[0], xi[1], xi[2], xi[3], y[i] = p, q, r, s, t
    for i in range(begin, end):
        inverse, xi = d[i], at(x, 4 * i)
        y[i] *= inverse
        for k in range(4):
            xi[k] *= inverse
    for i in range(end - 1, begin - 1, -1):
        oi, xi = start[i], at(x, 4 * i)
        p, q, r, s, t = xi[0], xi[1], xi[2], xi[3], y[i]
        for j in range(first[i], i):
            factor, xj = L[oi + j], at(x, 4 * j)
            xj[0] -= factor * p
            xj[1] -= factor * q
            xj[2] -= factor * r
            xj[3] -= factor * s
            y[j] -= factor * t


@kernel
def residual(n, first, start, S, x, b, r):
    """r = b - S x; return its largest magnitude.

    Taken off one by one: a difference of sums would lose the digits that refinement
    near a singular pose goes by.
    """
    for i in range(n):
        r[i] = b[i]
    for i in range(n):
        oi = start[i]
        xi = x[i]
        total = S[oi + i] * xi
        for j in range(first[i], i):
            total += S[oi + j] * x[j]
            r[j] -= S[oi + j] * xi
        r[i] -= total
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(r[i]))
    return largest


@kernel
def least_norm(n, first, start, S, L, d, b, r, x):
    """Solve S x = b with the factors of S + shift diag(weight S), S of any rank.

        x <- x + (S + shift diag(weight S))^-1 (b - S x),   x = 0 at first

    The limit has the least norm, weighted by diag(weight S), among all solutions.
    Returns the residual left.
    """
    size = 0.0
    for i in range(n):
        x[i] = 0.0
        size = max(size, abs(b[i]))
    left = size
    for k in range(MAX_REFINEMENT):
        before = left
        left = residual(n, first, start, S, x, b, r)
        # What no longer halves is round-off, or b has a part outside the range.
        if left <= REFINED * size or (k > 0 and left > 0.5 * before):
            break
        solve(0, n, first, start, L, d, r)
        for i in range(n):
            x[i] += r[i]
    return left


# ---- rows that depend on others ------------------------------------------------


@kernel
def list_left_out(n, most, d, tied):
    """List the rows that `factor` has left out; return how many, 0 beyond `most`."""
    n_tied = 0
    for i in range(n):
        if d[i] == 0.0:
            if n_tied == most:
                return 0
            tied[n_tied] = i
            n_tied += 1
    return n_tied


@kernel
def find_null(n, first, start, S, L, d, n_tied, tied, null):
    """Write the vectors N with S N = 0, each 1 at one of the rows left out."""
    for k in range(n_tied):
        i, x = tied[k], at(null, k * n)
        for j in range(n):
            row, column = max(i, j), min(i, j)
            x[j] = -S[start[row] + column] if column >= first[row] else 0.0
        solve(0, n, first, start, L, d, x)
        x[i] = 1.0


@kernel
def weigh_null(n, start, S, weight, n_tied, null, gram, swap):
    """Factor N'W N, with W = diag(weight S)."""
    for k in range(n_tied):
        x = at(null, k * n)
        for l in range(k + 1):
            y = at(null, l * n)
            total = 0.0
            for i in range(n):
                total += weight[i] * S[start[i] + i] * x[i] * y[i]
            gram[k * n_tied + l] = total
            gram[l * n_tied + k] = total
    dense.lu_factor(n_tied, gram, swap)


@kernel
def spread(n, start, S, weight, n_tied, null, gram, swap, y, x):
    """Make a solution x that of least norm, weighted by W: x - N (N'W N)^-1 N'W x."""
    for k in range(n_tied):
        own = at(null, k * n)
        y[k] = 0.0
        for i in range(n):
            y[k] += weight[i] * S[start[i] + i] * own[i] * x[i]
    dense.lu_solve(n_tied, gram, swap, y)
    for k in range(n_tied):
        own = at(null, k * n)
        for i in range(n):
            x[i] -= y[k] * own[i]
