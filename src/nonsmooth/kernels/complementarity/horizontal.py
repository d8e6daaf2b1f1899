"""The horizontal problem A+ w = A- z + b, 0 <= w _|_ z >= 0, as a standard one.

References
----------
Cottle, Pang & Stone (1992), section 1.5; full entry in
`docs/theory/complementarity.md`.
"""

import numpy as np

from nonsmooth.kernels.abi import (
    FLOATS,
    INTEGER,
    NUMBER,
    Block,
    at,
    far,
    floats,
    integers,
    kernel,
)
from nonsmooth.kernels.complementarity.lemke import Lcp, lemke
from nonsmooth.kernels.complementarity.scaling import (
    CHECK,
    INACCURATE,
    INFEASIBLE,
    NO_BASIS,
    NOT_FINITE,
    PIVOT,
    RANK,
    RAY,
    SOLVED,
    check,
    equilibrate,
    is_finite,
    scale_right,
)

# Bases from which a horizontal problem is tried: in random problems with sticking
# bilateral joints every second one leads to a solution if there is one.
ATTEMPTS = 20
# A side that an attempt does not prefer is taken if its pivot is so much larger.
AVERSION = 1e-3


class Hlcp(Block):
    """What the horizontal problem and enumeration work in, for up to n_pair pairs."""

    n_pivot = INTEGER  # pivots made, all attempts together
    n_point = INTEGER  # solutions listed
    scale = NUMBER
    residual = NUMBER
    r = floats("n_pair")  # row scales
    c = floats("2 * n_pair")  # scales of w, then of z
    W = floats("2 * n_pair * n_pair")  # (n, 2 n) A+ and -A-, scaled
    b = floats("n_pair")  # scaled
    E = floats("n_pair * (2 * n_pair + 1)")  # W and b after elimination
    B = floats("n_pair * n_pair")  # one complementary basis
    S = floats("(n_pair + 1) ** 2")  # dictionary of the simplex method
    x = floats("n_pair")
    pair = integers("n_pair")  # pair that is basic in each row
    side = integers("n_pair")  # of each pair: 0, w is basic; 1, z; -1, neither
    label = integers("2 * n_pair")  # variable in each row of S, then in each column
    swap = integers("n_pair")
    M = floats("n_pair * n_pair")  # the standard problem it is turned into
    q = floats("n_pair")
    basic = floats("n_pair")  # its w
    other = floats("n_pair")  # its z


@kernel
def prepare_horizontal(h, n, A_plus, A_minus, b):
    """Scale A+ w - A- z = b; return whether it is finite."""
    if not (is_finite(n * n, A_plus) and is_finite(n * n, A_minus)):
        return False
    if not is_finite(n, b):
        return False
    W = h.W
    for i in range(n):
        for j in range(n):
            W[i * 2 * n + j] = A_plus[i * n + j]
            W[i * 2 * n + n + j] = -A_minus[i * n + j]
    equilibrate(n, 2 * n, W, h.E, h.r, h.c)
    for i in range(n):
        for j in range(2 * n):
            W[i * 2 * n + j] *= h.r[i] * h.c[j]
    h.scale = scale_right(n, b, h.r, h.b)
    return True


@kernel
def preference(n, j, attempt):
    """Weight of column j as a pivot: even at first, then by side and by attempt."""
    if attempt == 0:
        return 1.0
    # Scrambled bits: each attempt prefers another side of each pair.
    bits = (j % n + 1) * 0x9E3779B1 ^ attempt * 0x85EBCA77
    return 1.0 if ((bits ^ bits >> 15) >> 3) & 1 == j // n else AVERSION


@kernel
def choose_basis(h, n, attempt):
    """Gauss-Jordan by the largest pivot among the pairs not yet used; return rank.

    Row k of E then reads: basic variable of pair[k] + (non-basic part) = last column.
    """
    E = h.E
    wide = 2 * n + 1
    for i in range(n):
        h.side[i] = -1
        for j in range(2 * n):
            E[i * wide + j] = h.W[i * 2 * n + j]
        E[i * wide + 2 * n] = h.b[i]
    for k in range(n):
        best, r, s = 0.0, 0, -1
        for j in range(2 * n):
            weight = preference(n, j, attempt) if h.side[j % n] < 0 else 0.0
            for i in range(k, n):
                size = abs(E[i * wide + j])
                if size > RANK and size * weight > best:
                    best, r, s = size * weight, i, j
        if s < 0:
            return k
        value = E[r * wide + s]
        for j in range(wide):
            E[r * wide + j], E[k * wide + j] = E[k * wide + j], E[r * wide + j]
            E[k * wide + j] /= value
        for i in range(n):
            a = E[i * wide + s]
            if i != k and a != 0.0:
                for j in range(wide):
                    E[i * wide + j] -= a * E[k * wide + j]
        h.pair[k] = s % n
        h.side[s % n] = s // n
    return n


@kernel
def leftover(h, n, rank):
    """Judge the equations without a pivot.

    SOLVED: they repeat others. INFEASIBLE: they contradict others. NO_BASIS: they
    hold variables whose partners are basic already.
    """
    wide = 2 * n + 1
    status = SOLVED
    for i in range(rank, n):
        for j in range(2 * n):
            if abs(h.E[i * wide + j]) > RANK and h.side[j % n] != j // n:
                return NO_BASIS
        if abs(h.E[i * wide + 2 * n]) > CHECK:
            status = INFEASIBLE
    return status


@kernel
def try_basis(h, p, n, attempt, w, z, out):
    """Solve the scaled problem from one basis."""
    m = choose_basis(h, n, attempt)
    status = leftover(h, n, m)
    if status != SOLVED:
        return status
    for i in range(n):
        w[i] = 0.0
        z[i] = 0.0
    for k in range(m):
        row = at(h.E, k * (2 * n + 1))
        for l in range(m):
            a = row[h.pair[l] + n * (1 - h.side[h.pair[l]])]
            # A row of round-off alone must not be scaled up to ones.
            h.M[k * m + l] = -a if abs(a) > PIVOT else 0.0
        h.q[k] = row[2 * n]
    status = lemke(p, m, h.M, h.q, h.other, h.basic, out)
    h.n_pivot += p.n_pivot
    for k in range(m):
        i = h.pair[k]
        w[i] = h.basic[k] if h.side[i] == 0 else h.other[k]
        z[i] = h.other[k] if h.side[i] == 0 else h.basic[k]
    if status == SOLVED or status == INACCURATE:
        h.residual = check(n, 1, h.W, h.b, w, z, out)
        return SOLVED if h.residual <= CHECK else INACCURATE
    # With pairs held at zero, a proof for the rest is none for the whole.
    return RAY if status == INFEASIBLE and m < n else status


@far(
    Hlcp, Lcp, INTEGER, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, returns=INTEGER
)
def solve_horizontal(h, p, n, A_plus, A_minus, b, w, z, out):
    """Solve A+ w = A- z + b, 0 <= w _|_ z >= 0, by Lemke from a regular basis.

    One variable of each pair is solved for, so that the rest is a standard problem.
    Where equations repeat others, the pairs without a pivot are held at zero. A ray
    is followed by attempts from other bases, since each gives another path.
    """
    h.n_pivot = 0
    h.residual = np.inf
    if not prepare_horizontal(h, n, A_plus, A_minus, b):
        return NOT_FINITE
    status = NO_BASIS
    for attempt in range(ATTEMPTS):
        latest = try_basis(h, p, n, attempt, w, z, out)
        # A ray or the limit says more than a failed attempt.
        if latest >= 0 or status == NO_BASIS:
            status = latest
        if latest == SOLVED or latest == INFEASIBLE:
            break
    for i in range(n):
        w[i] = w[i] * h.c[i] * h.scale if status == SOLVED else np.nan
        z[i] = z[i] * h.c[n + i] * h.scale if status == SOLVED else np.nan
    return status
