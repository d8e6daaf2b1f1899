"""Products of contiguous vectors and matrices, arranged for vector units.

Sums are in four parts, and rows are taken four at a time: a sum in one part waits for
each of its terms, and a row at a time reads and writes the answer for each.
"""

from nonsmooth.kernels.abi import at, kernel


@kernel
def dot(n, x, y):
    """Return x.y."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for i in range(n // 4):
        k = 4 * i
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        d += x[k + 3] * y[k + 3]
    for k in range(4 * (n // 4), n):
        a += x[k] * y[k]
    return (a + b) + (c + d)


@kernel
def weighted(n, d, x):
    """Return x.(d x) of a diagonal d."""
    a, b = 0.0, 0.0
    for i in range(n // 2):
        k = 2 * i
        a += d[k] * x[k] * x[k]
        b += d[k + 1] * x[k + 1] * x[k + 1]
    if n % 2:
        a += d[n - 1] * x[n - 1] * x[n - 1]
    return a + b


@kernel
def add_rows(n, M, x, out):
    """Add x'M of a square matrix to n numbers."""
    for i in range(n // 4):
        k = 4 * i
        p, q = at(M, k * n), at(M, (k + 1) * n)
        r, s = at(M, (k + 2) * n), at(M, (k + 3) * n)
        a, b, c, d = x[k], x[k + 1], x[k + 2], x[k + 3]
        for j in range(n):
            out[j] += (a * p[j] + b * q[j]) + (c * r[j] + d * s[j])
    for k in range(4 * (n // 4), n):
        row, a = at(M, k * n), x[k]
        for j in range(n):
            out[j] += a * row[j]


@kernel
def add_rows_of_both(n, M, x, y, to_x, to_y):
    """Add x'M and y'M of a square matrix, read once, to n numbers each."""
    for i in range(n // 2):
        k = 2 * i
        p, q = at(M, k * n), at(M, (k + 1) * n)
        a, b, c, d = x[k], x[k + 1], y[k], y[k + 1]
        for j in range(n):
            to_x[j] += a * p[j] + b * q[j]
            to_y[j] += c * p[j] + d * q[j]
    if n % 2:
        row, a, c = at(M, (n - 1) * n), x[n - 1], y[n - 1]
        for j in range(n):
            to_x[j] += a * row[j]
            to_y[j] += c * row[j]
