"""Linear complementarity problems, standard and horizontal.

       w = M z + q        0 <= w _|_ z >= 0        standard
    A+ w = A- z + b       0 <= w _|_ z >= 0        horizontal

Lemke's method with lexicographic pivoting solves the first; a complementary basis
turns the second into the first; all complementary bases in turn give every solution
of a small problem. Rows and variables are first scaled by powers of two, which costs
no round-off and makes the tolerances below independent of the units. Scaling by rows
only changes Lemke's covering vector, scaling by columns only the units of z, so what
is known of his method for a class of matrices still holds.

Matrices are stored by rows. `Lcp` and `Hlcp` hold the arrays that kernels work in.
Far kernels are linked by `abi.link`.

References
----------
Cottle, Pang & Stone (1992), sections 4.4 and 4.9; Murty (1988), sections 2.2 and 2.6;
full entries in `docs/theory/complementarity.md`.
"""

import math

import numpy as np

from nonsmooth.kernels.abi import (
    FLOATS,
    INTEGER,
    INTEGERS,
    NUMBER,
    Block,
    at,
    data,
    far,
    kernel,
)
from nonsmooth.kernels.dense import lu_factor, lu_solve

# What a kernel ends with; `complementarity.py` has the sentences.
SOLVED, RAY, INFEASIBLE, LIMIT = 0, 1, 2, 3
NOT_FINITE, INACCURATE, NO_BASIS = -1, -2, -3

# All tolerances refer to the scaled problem: entries and largest |q| near one.
# An entry of the dictionary this small beside its column is round-off: what
# cancellation leaves of 1e-16 after a growth of up to 1e5.
PIVOT = 1e-11
# Values that reach zero within this of each other do so together.
TIE = 1e-12
# A basic value this little below zero, beside the largest, is zero.
CLIP = 1e-11
# Largest residual of an answer that counts as solved: a clipped value in the
# smallest row that still counts, below.
CHECK = 1e-9
# A residual refers to the terms of its row, or to this part of the largest row.
SMALL_ROW = 1e-2
# A pivot this small beside the largest makes a basis singular.
RANK = 1e-10
# Two solutions nearer than this, beside their largest value, are one.
MERGE = 1e-8
# An entry so many binary digits below the largest of its row and of its column is
# round-off, and says nothing about scale.
NOISE = 40
SWEEPS = 8
# Largest exponent of a scale: products of three scales stay finite.
LARGEST = 300
# A dictionary is computed afresh after n and so many pivots.
REFRESH = 20
# Bases from which a horizontal problem is tried: in random problems with sticking
# bilateral joints every second one leads to a solution if there is one.
ATTEMPTS = 20
# A side that an attempt does not prefer is taken if its pivot is so much larger.
AVERSION = 1e-3
# Bland's rule needs a few pivots per row; it is given many.
SIMPLEX_PIVOTS = 1000


class Lcp(Block):
    """What `lemke` works in, for up to n pairs."""

    limit = INTEGER  # pivots allowed
    n_pivot = INTEGER  # pivots made
    n_basic = INTEGER  # z in the final basis
    entering = INTEGER  # variable: w_i is i, z_i is n + i, z_0 is 2 n
    scale = NUMBER  # power of two just above the largest |r q|
    residual = NUMBER  # of the answer
    d = FLOATS  # (n) covering vector; d[0] = 0 for ones in the scaled problem
    r = FLOATS  # (n) row scales
    c = FLOATS  # (n) column scales
    A = FLOATS  # (n, n) M scaled
    b = FLOATS  # (n) q scaled
    T = FLOATS  # (n, n + 2) dictionary: basic = T (non-basic, 1)
    x = FLOATS  # (n)
    label = INTEGERS  # (2 n + 1) variable in each row, then in each column
    where = INTEGERS  # (2 n + 1) place of each variable in `label`
    pick = INTEGERS  # (n)
    swap = INTEGERS  # (n)


class Hlcp(Block):
    """What the horizontal problem and enumeration work in, for up to n pairs."""

    n_pivot = INTEGER  # pivots made, all attempts together
    n_point = INTEGER  # solutions listed
    scale = NUMBER
    residual = NUMBER
    r = FLOATS  # (n) row scales
    c = FLOATS  # (2 n) scales of w, then of z
    W = FLOATS  # (n, 2 n) A+ and -A-, scaled
    b = FLOATS  # (n) scaled
    E = FLOATS  # (n, 2 n + 1) W and b after elimination
    B = FLOATS  # (n, n) one complementary basis
    S = FLOATS  # (n + 1, n + 1) dictionary of the simplex method
    x = FLOATS  # (n)
    pair = INTEGERS  # (n) pair that is basic in each row
    side = INTEGERS  # (n) of each pair: 0, w is basic; 1, z; -1, neither
    label = INTEGERS  # (2 n) variable in each row of S, then in each column
    swap = INTEGERS  # (n)
    M = FLOATS  # (n, n) the standard problem it is turned into
    q = FLOATS  # (n)
    basic = FLOATS  # (n) its w
    other = FLOATS  # (n) its z


def lcp_work(n, limit):
    """Return work arrays for `lemke`."""
    floats = {"d": n, "r": n, "c": n, "A": n * n, "b": n, "T": n * (n + 2), "x": n}
    integers = {"label": 2 * n + 1, "where": 2 * n + 1, "pick": n, "swap": n}
    return Lcp(
        limit=limit,
        n_pivot=0,
        n_basic=0,
        entering=0,
        scale=1.0,
        residual=np.inf,
        **{name: np.zeros(size) for name, size in floats.items()},
        **{name: np.zeros(size, dtype=np.int64) for name, size in integers.items()},
    )


def hlcp_work(n):
    """Return work arrays for the horizontal problem."""
    floats = {"r": n, "c": 2 * n, "W": 2 * n * n, "b": n, "E": n * (2 * n + 1)}
    floats |= {"B": n * n, "S": (n + 1) ** 2, "x": n}
    floats |= {"M": n * n, "q": n, "basic": n, "other": n}
    integers = {"pair": n, "side": n, "label": 2 * n, "swap": n}
    return Hlcp(
        n_pivot=0,
        n_point=0,
        scale=1.0,
        residual=np.inf,
        **{name: np.zeros(size) for name, size in floats.items()},
        **{name: np.zeros(size, dtype=np.int64) for name, size in integers.items()},
    )


# ---- scaling and checking --------------------------------------------------------


@kernel
def exponents(n, m, A, E, r, c):
    """Write the binary exponents of A; those of zeros and of noise are -inf."""
    for i in range(n):
        r[i] = -np.inf
    for j in range(m):
        c[j] = -np.inf
    for i in range(n):
        for j in range(m):
            a = A[i * m + j]
            e = float(math.frexp(a)[1]) if a != 0.0 else -np.inf
            E[i * m + j] = e
            r[i] = max(r[i], e)
            c[j] = max(c[j], e)
    for i in range(n):
        for j in range(m):
            if E[i * m + j] < min(r[i], c[j]) - NOISE:
                E[i * m + j] = -np.inf


@kernel
def centre(n, m, E, r, c):
    """Bring the mean of E_ij + r_i + c_j to zero in each row, then in each column.

    Over finite entries; return the largest change of r or c.
    """
    change = 0.0
    for i in range(n):
        total = 0.0
        count = 0
        for j in range(m):
            if E[i * m + j] != -np.inf:
                total += E[i * m + j] + r[i] + c[j]
                count += 1
        if count > 0:
            r[i] -= total / count
            change = max(change, abs(total / count))
    for j in range(m):
        total = 0.0
        count = 0
        for i in range(n):
            if E[i * m + j] != -np.inf:
                total += E[i * m + j] + r[i] + c[j]
                count += 1
        if count > 0:
            c[j] -= total / count
            change = max(change, abs(total / count))
    return change


@kernel
def power_of_two(e):
    """Return 2^e for the integer nearest to e, within the range of floats."""
    return math.ldexp(1.0, round(min(max(e, -LARGEST), LARGEST)))


@far(INTEGER, INTEGER, FLOATS, FLOATS, FLOATS, FLOATS)
def equilibrate(n, m, A, E, r, c):
    """Find powers of two r, c that bring the entries of diag(r) A diag(c) near one.

    Least squares for the exponents, by rows and columns in turn, since this scaling
    undoes any change of units.

    References
    ----------
    Curtis & Reid (1972).
    """
    exponents(n, m, A, E, r, c)
    for i in range(n):
        r[i] = 0.0
    for j in range(m):
        c[j] = 0.0
    for _ in range(SWEEPS):
        if centre(n, m, E, r, c) < 0.5:
            break
    for i in range(n):
        r[i] = power_of_two(r[i])
    for j in range(m):
        c[j] = power_of_two(c[j])


@kernel
def scale_right(n, q, r, b):
    """b = r q / scale, with the largest |b| in [0.5, 1); return the scale."""
    size = 0.0
    for i in range(n):
        size = max(size, abs(r[i] * q[i]))
    scale = math.ldexp(1.0, math.frexp(size)[1]) if size > 0.0 else 1.0
    for i in range(n):
        b[i] = r[i] * q[i] / scale
    return scale


@kernel
def is_finite(n, a):
    """Tell whether n numbers are finite."""
    for i in range(n):
        if not math.isfinite(a[i]):
            return False
    return True


@kernel
def clip(n, x):
    """Set to zero what is negative by round-off; return whether all are >= 0."""
    size = 1.0
    for i in range(n):
        size = max(size, abs(x[i]))
    is_positive = True
    for i in range(n):
        if x[i] < 0.0:
            if x[i] >= -CLIP * size:
                x[i] = 0.0
            else:
                is_positive = False
        elif not math.isfinite(x[i]):
            is_positive = False
    return is_positive


@kernel
def row_terms(n, is_horizontal, A, b, w, z, i):
    """Return |residual| of equation i and the sum of the magnitudes of its terms."""
    gap = -b[i] if is_horizontal else b[i] - w[i]
    terms = abs(b[i]) if is_horizontal else abs(b[i]) + abs(w[i])
    for j in range(n):
        if is_horizontal:
            x = A[i * 2 * n + j] * w[j]
            y = A[i * 2 * n + n + j] * z[j]
        else:
            x = 0.0
            y = A[i * n + j] * z[j]
        gap += x + y
        terms += abs(x) + abs(y)
    return abs(gap), terms


@far(INTEGER, INTEGER, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, returns=NUMBER)
def check(n, is_horizontal, A, b, w, z, out):
    """Write the residuals of an answer, all scaled; return the largest.

        out = max(-w), max(-z), max min(w, z), max |equation|

    The first three refer to the largest value of the problem, the last to the terms
    of its row. Standard: A z + b - w; horizontal: A (w, z) - b.
    """
    for k in range(4):
        out[k] = 0.0
    if not (is_finite(n, w) and is_finite(n, z)):
        out[3] = np.inf
        return np.inf
    size = 0.0
    for i in range(n):
        _, terms = row_terms(n, is_horizontal, A, b, w, z, i)
        size = max(size, terms, abs(w[i]), abs(z[i]))
    if size == 0.0:
        return 0.0
    for i in range(n):
        gap, terms = row_terms(n, is_horizontal, A, b, w, z, i)
        out[0] = max(out[0], -w[i] / size)
        out[1] = max(out[1], -z[i] / size)
        out[2] = max(out[2], min(w[i], z[i]) / size)
        out[3] = max(out[3], gap / max(terms, SMALL_ROW * size))
    return max(out[0], out[1], out[2], out[3])


# ---- Lemke -----------------------------------------------------------------------


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
        if best == 0.0:
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
    while p.n_pivot < p.limit:
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


# ---- horizontal problem ----------------------------------------------------------


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
def horizontal(h, p, n, A_plus, A_minus, b, w, z, out):
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


# ---- all complementary bases -----------------------------------------------------


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


# ---- called from Python ----------------------------------------------------------


@kernel
def solve_standard(p, n, M, q, z, w, out):
    """`lemke` on arrays."""
    return lemke(p, n, data(M), data(q), data(z), data(w), data(out))


@kernel
def solve_horizontal(h, p, n, A_plus, A_minus, b, w, z, out):
    """`horizontal` on arrays."""
    return horizontal(
        h, p, n, data(A_plus), data(A_minus), data(b), data(w), data(z), data(out)
    )


@kernel
def all_points(h, n, A_plus, A_minus, b, points, is_isolated, kind):
    """`enumerate_solutions` on arrays."""
    return enumerate_solutions(
        h,
        n,
        data(A_plus),
        data(A_minus),
        data(b),
        data(points),
        data(is_isolated),
        data(kind),
    )


@kernel
def w_property(h, n, A_plus, A_minus, b):
    """`has_w_property` on arrays; b is any finite vector."""
    prepare_horizontal(h, n, data(A_plus), data(A_minus), data(b))
    return has_w_property(h, n)


@kernel
def check_point(h, n, A_plus, A_minus, b, w, z, out):
    """`check` any point (w, z) of a horizontal problem."""
    prepare_horizontal(h, n, data(A_plus), data(A_minus), data(b))
    for i in range(n):
        h.basic[i] = w[i] / h.c[i] / h.scale
        h.other[i] = z[i] / h.c[n + i] / h.scale
    return check(n, 1, h.W, h.b, h.basic, h.other, data(out))
