"""LDL^T of the constraint matrix S = J M^-1 J^T, stored by rows from their first entry.

All bodies are eliminated before the joint rows (their masses are diagonal), so S
is symmetric and positive semidefinite whatever the mechanism, and rows can be
ordered freely for a short profile. One storage serves both ends: a small mechanism
fills its profile and is a dense problem; a chain of a thousand loops keeps a
constant band and costs a constant time per loop. Entry (i, j) stands at
`start[i] + j`, `first[i] <= j <= i`.
"""

from nonsmooth.kernels.abi import at, kernel
from nonsmooth.kernels.tolerances import CONTACT_RANK, REFINED

MAX_REFINEMENT = 12
# Residual beside b that refinement may leave; more is of rows that nearly depend on
# others.
HALTED = 1e-14


@kernel
def factor(n, first, start, S, shift, weight, rank, L, d):
    """Factor S + shift diag(weight S) = L D L^T; return the least pivot / diagonal.

    u_ij = S_ij - sum_k u_ik L_jk,   L_ij = u_ij / d_j,   d_i = S_ii - sum_j u_ij L_ij

    A row whose pivot is below `rank` times its diagonal entry depends on others.
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
            L[oi + j] = u / d[j]
            pivot -= u * L[oi + j]
        least = min(least, pivot / diagonal) if diagonal > 0.0 else 0.0
        if pivot <= rank * diagonal:
            # Keep the factors finite; the caller regularises.
            pivot = diagonal if diagonal > 0.0 else 1.0
        d[i] = pivot
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
        x[i] /= d[i]
    for i in range(end - 1, begin - 1, -1):
        oi = start[i]
        xi = x[i]
        for j in range(first[i], i):
            x[j] -= L[oi + j] * xi


@kernel
def solve_many(begin, end, first, start, L, d, n, x):
    """Solve L D L^T x = x in place for n right-hand sides side by side."""
    for i in range(begin, end):
        xi = at(x, i * n)
        for j in range(first[i], i):
            factor = L[start[i] + j]
            xj = at(x, j * n)
            for k in range(n):
                xi[k] -= factor * xj[k]
    for i in range(begin, end):
        inverse = 1.0 / d[i]
        for k in range(n):
            x[i * n + k] *= inverse
    for i in range(end - 1, begin - 1, -1):
        xi = at(x, i * n)
        for j in range(first[i], i):
            factor = L[start[i] + j]
            xj = at(x, j * n)
            for k in range(n):
                xj[k] -= factor * xi[k]


@kernel
def multiply(n, first, start, S, x, y):
    """Write y = S x."""
    for i in range(n):
        oi = start[i]
        xi = x[i]
        y[i] = S[oi + i] * xi
        for j in range(first[i], i):
            y[i] += S[oi + j] * x[j]
            y[j] += S[oi + j] * xi


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
def dot(n, x, y):
    """Return the sum of products."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@kernel
def least_norm(n, first, start, S, L, d, b, is_strict, r, z, p, x):
    """Solve S x = b with the factors of S + shift diag(weight S), S of any rank.

        x <- x + (S + shift diag(weight S))^-1 (b - S x),   x = 0 at first

    The limit has the least norm, weighted by diag(weight S), among all solutions.
    Rows that nearly depend on others halt it; if it is strict, they are met by
    conjugate gradients.
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
        if left <= REFINED * size:
            return left
        # What no longer halves is round-off, or b has a part outside the range.
        if k > 0 and left > 0.5 * before:
            break
        solve(0, n, first, start, L, d, r)
        for i in range(n):
            x[i] += r[i]
    if not is_strict or left <= HALTED * size:
        return left
    left = residual(n, first, start, S, x, b, r)
    return descend(n, first, start, S, L, d, size, left, r, z, p, x)


@kernel
def descend(n, first, start, S, L, d, size, left, r, z, p, x):
    """Go on from x, with r = b - S x, by conjugate gradients; return the residual.

    The factors are those of the matrix that it is preconditioned by. Each direction p
    meets one row that nearly depends on others; where p S p is nothing beside what it
    would be of independent rows, they do depend, and what is left is out of reach.
    """
    last = 0.0
    for i in range(n):
        p[i] = 0.0
    for _ in range(MAX_REFINEMENT):
        for i in range(n):
            z[i] = r[i]
        solve(0, n, first, start, L, d, z)
        push = dot(n, r, z)
        ratio = push / last if last > 0.0 else 0.0
        last = push
        apart = 0.0
        for i in range(n):
            p[i] = z[i] + ratio * p[i]
            apart += S[start[i] + i] * p[i] * p[i]
        multiply(n, first, start, S, p, z)
        bend = dot(n, p, z)
        if not bend > CONTACT_RANK * apart:
            break
        for i in range(n):
            x[i] += push / bend * p[i]
            r[i] -= push / bend * z[i]
        left = 0.0
        for i in range(n):
            left = max(left, abs(r[i]))
        if left <= HALTED * size:
            break
    return left
