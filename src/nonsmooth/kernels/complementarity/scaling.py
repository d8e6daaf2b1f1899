"""Scaling and checking of complementarity problems, and what their solvers end with.

       w = M z + q        0 <= w _|_ z >= 0        standard
    A+ w = A- z + b       0 <= w _|_ z >= 0        horizontal

Rows and variables are first scaled by powers of two, which costs no round-off and makes
the tolerances below independent of the units. Scaling by rows only changes Lemke's
covering vector, scaling by columns only the units of z, so what is known of his method
for a class of matrices still holds. Matrices are stored by rows.
"""

import math

import numpy as np

from nonsmooth.kernels.abi import FLOATS, INTEGER, NUMBER, far, kernel

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
