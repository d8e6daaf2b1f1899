"""Every solution of a small horizontal problem, from all complementary bases in turn.

Slow, and the reference for the other solvers.
"""

import numpy as np

from nonsmooth.kernels.abi import FLOATS, INTEGER, INTEGERS, at, far, kernel
from nonsmooth.kernels.complementarity.horizontal import Hlcp, prepare_horizontal
from nonsmooth.kernels.complementarity.lemke import exchange
from nonsmooth.kernels.complementarity.scaling import (
    CLIP,
    MERGE,
    NOT_FINITE,
    PIVOT,
    RANK,
    TIE,
    clip,
)
from nonsmooth.kernels.linear.dense import lu_factor, lu_solve

# Bland's rule needs a few pivots per row; it is given many.
SIMPLEX_PIVOTS = 1000


@kernel
def take_basis(h, n, mask):
    """Write the basis in which z_i is basic where bit i of `mask` is set."""
    for j in range(n):
        h.side[j] = (mask >> j) & 1
        for i in range(n):
            h.B[i * n + j] = h.W[i * 2 * n + j + n * h.side[j]]


@kernel
def factor_basis(h, n):
    """Factor the basis; return the sign of its determinant, 0 if it is singular."""
    if not lu_factor(n, h.B, h.swap):
        return 0
    least = np.inf
    largest = 0.0
    sign = 1
    for k in range(n):
        u = h.B[k * n + k]
        least = min(least, abs(u))
        largest = max(largest, abs(u))
        if (u < 0.0) != (h.swap[k] != k):
            sign = -sign
    return sign if least > RANK * largest else 0


@kernel
def has_w_property(h, n):
    """Tell whether all determinants of mixed columns of A+ and A- share one sign."""
    first = 0
    for mask in range(1 << n):
        take_basis(h, n, mask)
        sign = factor_basis(h, n)
        # W holds -A-.
        for j in range(n):
            if h.side[j] == 1:
                sign = -sign
        if mask == 0:
            first = sign
        if sign == 0 or sign != first:
            return False
    return True


@kernel
def simplex(n, S, label):
    """Minimise the last row of a dictionary by Bland's rule; return whether bounded.

    Variables n and above are artificial: they may leave the basis, never enter.
    """
    wide = n + 1
    for _ in range(SIMPLEX_PIVOTS):
        s = -1
        for j in range(n):
            if label[n + j] < n and S[n * wide + j] < -PIVOT:
                if s < 0 or label[n + j] < label[n + s]:
                    s = j
        if s < 0:
            return True
        least = np.inf
        for i in range(n):
            if S[i * wide + s] < -PIVOT:
                least = min(least, max(S[i * wide + n], 0.0) / -S[i * wide + s])
        if least == np.inf:
            return False
        r = -1
        first = n
        for i in range(n):
            a = -S[i * wide + s]
            # Artificial variables leave before others.
            rank = label[i] - 2 * n if label[i] >= n else label[i]
            if a > PIVOT and S[i * wide + n] - least * a <= TIE and rank < first:
                r = i
                first = rank
        exchange(n + 1, wide, S, r, s)
        label[r], label[n + s] = label[n + s], label[r]
    return True


@kernel
def find_vertex(h, n):
    """Find x >= 0 with B x = b for a singular basis; return whether there is one."""
    S = h.S
    wide = n + 1
    for j in range(wide):
        S[n * wide + j] = 0.0
    for i in range(n):
        h.label[i] = n + i
        h.label[n + i] = i
        sign = -1.0 if h.b[i] < 0.0 else 1.0
        for j in range(n):
            S[i * wide + j] = -sign * h.W[i * 2 * n + j + n * h.side[j]]
        S[i * wide + n] = abs(h.b[i])
        for j in range(wide):
            S[n * wide + j] += S[i * wide + j]
    simplex(n, S, h.label)
    if S[n * wide + n] > CLIP:
        return False
    for i in range(n):
        h.x[i] = 0.0
    for i in range(n):
        if h.label[i] < n:
            h.x[h.label[i]] = max(0.0, S[i * wide + n])
    return True


@kernel
def is_continuum(h, n):
    """Tell whether the vertex just found is not the only point.

    Any other point is positive where the vertex is zero; so maximise that sum.
    """
    S = h.S
    wide = n + 1
    for i in range(n):
        if h.label[i] < n:
            continue
        # An artificial variable at zero gives way to any other.
        S[i * wide + n] = 0.0
        s = 0
        best = 0.0
        for j in range(n):
            if h.label[n + j] < n and abs(S[i * wide + j]) > best:
                best = abs(S[i * wide + j])
                s = j
        if best > PIVOT:
            exchange(n + 1, wide, S, i, s)
            h.label[i], h.label[n + s] = h.label[n + s], h.label[i]
    for j in range(wide):
        S[n * wide + j] = -1.0 if j < n and h.label[n + j] < n else 0.0
    for i in range(n):
        if h.label[i] < n and S[i * wide + n] <= CLIP:
            S[i * wide + n] = 0.0
            for j in range(n):
                S[n * wide + j] -= S[i * wide + j]
    return not simplex(n, S, h.label) or S[n * wide + n] < -MERGE


@kernel
def place(h, n, points):
    """Append the point that the basis gives, unless it is listed."""
    point = at(points, h.n_point * 2 * n)
    size = 1.0
    for j in range(n):
        point[j] = h.x[j] if h.side[j] == 0 else 0.0
        point[n + j] = h.x[j] if h.side[j] == 1 else 0.0
        size = max(size, h.x[j])
    for k in range(h.n_point):
        apart = 0.0
        for j in range(2 * n):
            apart = max(apart, abs(point[j] - points[k * 2 * n + j]))
        if apart <= MERGE * size:
            return
    h.n_point += 1


@kernel
def is_supported(n, mask, point):
    """Tell whether a point uses only the basic variables of a basis."""
    for j in range(n):
        if point[j if (mask >> j) & 1 else n + j] > CLIP:
            return False
    return True


@far(Hlcp, INTEGER, FLOATS, FLOATS, FLOATS, FLOATS, INTEGERS, INTEGERS, returns=INTEGER)
def enumerate_solutions(h, n, A_plus, A_minus, b, points, is_isolated, kind):
    """Write every solution (w, z) to `points`, (2^n, 2 n); return how many, or status.

    A singular basis with more than one point is a continuum: one of its vertices is
    listed, and every listed point in it is not isolated. `kind` is scratch, (2^n).
    """
    if not prepare_horizontal(h, n, A_plus, A_minus, b):
        return NOT_FINITE
    h.n_point = 0
    for mask in range(1 << n):
        kind[mask] = 0
        take_basis(h, n, mask)
        if factor_basis(h, n) != 0:
            for i in range(n):
                h.x[i] = h.b[i]
            lu_solve(n, h.B, h.swap, h.x)
            if clip(n, h.x):
                place(h, n, points)
        elif find_vertex(h, n):
            place(h, n, points)
            kind[mask] = 1 if is_continuum(h, n) else 0
    for k in range(h.n_point):
        is_isolated[k] = 1
        for mask in range(1 << n):
            if kind[mask] == 1 and is_supported(n, mask, at(points, k * 2 * n)):
                is_isolated[k] = 0
        for j in range(2 * n):
            points[k * 2 * n + j] *= h.c[j] * h.scale
    return h.n_point
