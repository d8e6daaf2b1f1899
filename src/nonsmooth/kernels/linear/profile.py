"""LU of a matrix that is not symmetric, but has the profile of the constraint rows.

Entries on and below the diagonal, (i, j), stand at `start[i] + j` of `lower`, entries
above it, (j, i), there in `upper`: columns of the one are stored as rows of the other
are. No rows are exchanged, so that the profile stays; `factor` tells how large its
numbers have become on the way.
"""

import math

from nonsmooth.kernels.abi import kernel


@kernel
def factor(begin, end, first, start, lower, upper, d):
    """Factor A = L U in place, L with a unit diagonal; return the growth.

        l_ij = (a_ij - sum_k l_ik u_kj) / u_jj      u_ji = a_ji - sum_k l_jk u_ki

    The pivots u_ii go to d. The growth is the largest of what is taken off a diagonal
    entry, beside it: times epsilon, the error of the factors. Infinite where a pivot
    is zero.
    """
    growth = 1.0
    for i in range(begin, end):
        fi, oi = first[i], start[i]
        for j in range(fi, i):
            oj = start[j]
            l, u = lower[oi + j], upper[oi + j]
            for k in range(max(fi, first[j]), j):
                l -= lower[oi + k] * upper[oj + k]
                u -= lower[oj + k] * upper[oi + k]
            lower[oi + j] = l / d[j]
            upper[oi + j] = u
        pivot, size = lower[oi + i], 0.0
        diagonal = abs(pivot)
        for k in range(fi, i):
            change = lower[oi + k] * upper[oi + k]
            pivot -= change
            size += abs(change)
        d[i] = pivot
        # Not max(): a NaN must come out.
        if not size <= growth * diagonal:
            growth = size / diagonal if diagonal > 0.0 else math.inf
        if not abs(pivot) > 0.0:
            return math.inf
    return growth


@kernel
def solve(begin, end, first, start, lower, upper, d, x):
    """Solve L U x = x in place."""
    for i in range(begin, end):
        oi, total = start[i], x[i]
        for k in range(first[i], i):
            total -= lower[oi + k] * x[k]
        x[i] = total
    for i in range(end - 1, begin - 1, -1):
        oi, xi = start[i], x[i] / d[i]
        x[i] = xi
        for k in range(first[i], i):
            x[k] -= upper[oi + k] * xi


@kernel
def entry(start, lower, upper, d, i, j):
    """Return entry (i, j) of an inverse that `invert` has written."""
    if i == j:
        return d[i]
    return lower[start[i] + j] if i > j else upper[start[j] + i]


@kernel
def invert(begin, end, first, start, last, row, column, right, below, lower, upper, d):
    """Replace the factors by the entries of the inverse Z within the profile.

        z_ij = -sum_k u_ik z_kj / u_ii        z_ji = -sum_k z_jk l_ki       i < j, k
        z_ii = (1 - sum_k u_ik z_ki) / u_ii

    From the last row upwards: what a row needs lies within the profile, too. Its
    diagonal goes to d. `last` to `below` are scratch. After Erisman and Tinney,
    Comm. ACM 18 (1975), 177.
    """
    for i in range(begin, end):
        last[i] = i
        for j in range(first[i], i):
            last[j] = i
    for i in range(end - 1, begin - 1, -1):
        after = last[i] + 1
        for k in range(i + 1, after):
            is_here = first[k] <= i
            row[k] = upper[start[k] + i] if is_here else 0.0
            column[k] = lower[start[k] + i] if is_here else 0.0
            right[k], below[k] = row[k] * d[k], column[k] * d[k]
        for j in range(i + 1, after):
            if first[j] > i:
                continue
            oj, u, l, more_u, more_l = start[j], row[j], column[j], 0.0, 0.0
            for k in range(i + 1, j):
                more_u += row[k] * upper[oj + k]
                more_l += column[k] * lower[oj + k]
                right[k] += u * lower[oj + k]
                below[k] += l * upper[oj + k]
            right[j] += more_u
            below[j] += more_l
        own = 1.0
        for k in range(i + 1, after):
            if first[k] <= i:
                own += row[k] * below[k]
                upper[start[k] + i] = -right[k] / d[i]
                lower[start[k] + i] = -below[k]
        d[i] = own / d[i]
