"""Friction forces at rest, normal forces known: a convex problem in a box.

    minimise 1/2 lam' A lam + b' lam    over |lam_i| <= limit_i,    a = A lam + b

A is symmetric and positive semidefinite, so that a solution always exists, and the
accelerations a are the same in all of them; only forces may be redundant. A contact
stays where a_i = 0, and accelerates against its friction, lam_i = -limit_i sign(a_i),
where it is not.

    x_i = d_i lam_i,   H_ij = A_ij / (d_i d_j),   d_i a power of two near sqrt(A_ii)

A few projected Gauss-Seidel sweeps guess which forces are at their limits; an active
set method on a pivoted Cholesky factor of the others ends it.
"""

import math

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
    INACCURATE,
    LIMIT,
    NOT_FINITE,
    SOLVED,
    is_finite,
    power_of_two,
)
from nonsmooth.kernels.look import Look, spend

# A row whose A_ii is this small beside the compliance without joints is held by them:
# what is left of it is round-off of the elimination.
HELD_ROW = 1e-11
# A pivot below this part of its diagonal, times the number of rows, is round-off: the
# row depends on others. Rows of bad masses have more of it: the second try.
DEPENDENT, MORE_DEPENDENT = 1e-14, 1e-12
FEWEST_ROWS = 4
# A part of a row, of length one, that is round-off.
NO_PART = 1e-14
# A pivot of a dependent row above this, times the number of rows, is still a curvature.
CURVED = 1e-15
# An acceleration this small beside the terms of its row, and beside this part of those
# of the largest, is round-off. One that is this many times larger is none.
ROW_ROUND_OFF, LARGEST_ROW, ACCELERATES = 1e-13, 1e-3, 3.0
# Part of that in a row that a Newton step has brought to rest.
SUMMED = 1e-2
# Largest violation of a condition, beside the same terms, in an answer that counts:
# what the sum of a long row adds to the above.
BOX_CHECK = 1e-12
# Sweeps before the active set: without a guess, and with one.
COLD_SWEEPS, WARM_SWEEPS = 5, 1
# Newton steps with one factor: the second takes away the round-off of the first.
REFINEMENTS = 3
# A step is of length zero below this part of the largest force.
NO_LENGTH = 1e-15
# Changes of the active set allowed: a few for each contact are needed.
CHANGES, CHANGES_PER_ROW = 50, 20


class Box(Block):
    """What box problems work in, for up to n_largest contacts."""

    look = Look
    is_warm = INTEGER  # whether what was found last is a guess
    rank = INTEGER  # of A
    n_change = INTEGER  # changes of the active set
    residual = NUMBER  # of the answer
    slope = NUMBER  # along the direction taken
    tied = NUMBER  # part of the compliance without joints that is none, where shared
    noise = floats("n_largest")  # round-off of b that the caller knows of, or zero
    slip = integers("n_largest")  # sign of each acceleration, 0 where it stays
    critical = integers("n_largest")  # slip in the mechanism that gives way first
    d = floats("n_largest")  # scales
    H = floats("n_largest * n_largest")  # (n, n) A scaled
    b = floats("n_largest")  # scaled
    limit = floats("n_largest")  # scaled
    x = floats("n_largest")  # forces, scaled
    g = floats("n_largest")  # accelerations, scaled
    small = floats("n_largest")  # what is round-off of g
    step = floats("n_largest")
    best = floats("n_largest")
    side = integers("n_largest")  # of each force: 0 free, +-1 at its limit
    order = integers("n_largest")  # rows of the factor
    C = floats("n_largest * n_largest")  # (n, n) factor, by rows of `order`
    left = floats("n_largest")  # diagonal that is left of each row of `order`
    least = floats("n_largest")  # pivot of each row that is none, beside round-off
    # Sharing and mechanisms.
    n_basis = INTEGER  # rows in `basis`
    G = floats("n_largest * n_largest")  # (m, r) generators
    T = floats("n_largest * n_largest")  # (m, r) powers along edges; a Hessian
    V = floats("n_largest * n_largest")  # (r, r) edges, by columns
    load = floats("n_largest")
    y = floats("n_largest")  # a mechanism
    row = integers("n_largest")  # contact that stands for each generator
    basis = integers("n_largest")  # contacts that are at rest in the last mechanism
    place = integers("n_largest")  # generator at rest along each edge, -1 for none
    # A problem just beyond break-away.
    push = floats("n_largest")
    shrunk = floats("n_largest")  # limits
    force = floats("n_largest")
    pace = floats("n_largest")  # accelerations


# ---- scaling and factors -------------------------------------------------------


@far(Box, INTEGER, FLOATS, FLOATS, FLOATS, returns=INTEGER)
def scale_box(p, n, A, limit, free):
    """Scale A and the limits; return whether all is finite.

    Rows of contacts that joints hold become zero.
    """
    if not (is_finite(n * n, A) and is_finite(n, limit) and is_finite(n, free)):
        return 0
    for i in range(n):
        own = A[i * n + i]
        # A zero stays: a held row is compared in units of its free compliance.
        p.side[i] = 1 if own > HELD_ROW * free[i] else 0
        size = own if p.side[i] else max(free[i], 0.0)
        p.d[i] = 1.0
        if size > 0.0:
            p.d[i] = power_of_two(0.5 * math.frexp(size)[1])
        p.limit[i] = p.d[i] * limit[i]
        p.least[i] = 0.0
        for j in range(i + 1):
            value = 0.5 * (A[i * n + j] + A[j * n + i]) / p.d[i] / p.d[j]
            if not (p.side[i] and p.side[j]):
                value = 0.0
            p.H[i * n + j] = value
            p.H[j * n + i] = value
    return 1


@kernel
def tie(p, n, free):
    """Let rows depend on each other that differ by less than the part `tied`."""
    for i in range(n):
        p.least[i] = p.tied * free[i] / p.d[i] / p.d[i]


@kernel
def rank_tolerance(n, part):
    """Return the part of its diagonal below which a pivot is round-off."""
    return part * max(n, FEWEST_ROWS)


@far(Box, INTEGER, INTEGER, NUMBER, returns=INTEGER)
def factor(p, n, m, tolerance):
    """Factor the block of H of the m rows in `order`, C C', by pivots; return rank.

    Rows are put into the order of their pivots, those that depend on others last; they
    have their part in the factor, too.
    """
    C, H, order = p.C, p.H, p.order
    for i in range(m):
        p.left[i] = H[order[i] * n + order[i]]
    for k in range(m):
        q = -1
        most = 0.0
        for i in range(k, m):
            o = order[i]
            if p.left[i] > most and p.left[i] > max(
                tolerance * H[o * n + o], p.least[o]
            ):
                most = p.left[i]
                q = i
        if q < 0:
            return k
        order[k], order[q] = order[q], order[k]
        p.left[k], p.left[q] = p.left[q], p.left[k]
        for j in range(k):
            C[k * n + j], C[q * n + j] = C[q * n + j], C[k * n + j]
        root = math.sqrt(p.left[k])
        C[k * n + k] = root
        for j in range(k + 1, m):
            C[k * n + j] = 0.0
        for i in range(k + 1, m):
            value = H[order[i] * n + order[k]]
            for j in range(k):
                value -= C[i * n + j] * C[k * n + j]
            value /= root
            C[i * n + k] = value
            p.left[i] -= value * value
    return m


@kernel
def next_row(p, n, m, r, k, tolerance):
    """Return the row from k on whose part behind column k is largest, times its limit.

    Of rows without a limit, which come last, the largest; -1 if all are round-off.
    """
    q = -1
    most = 0.0
    has_limit = False
    for i in range(k, m):
        o = p.order[i]
        own = 0.0
        for j in range(k, r):
            own += p.C[i * n + j] * p.C[i * n + j]
        if own > tolerance * p.H[o * n + o]:
            limit = p.limit[o]
            size = own * limit * limit if limit > 0.0 else own
            if q < 0 or (limit > 0.0) > has_limit:
                q, most, has_limit = i, size, limit > 0.0
            elif size > most and (limit > 0.0) == has_limit:
                q, most = i, size
    return q


@far(Box, INTEGER, INTEGER, INTEGER, NUMBER, returns=INTEGER)
def grade(p, n, m, r, tolerance):
    """Turn the factor so that rows of large limits come first; return its rank.

    What only small limits resist then has columns of its own, in which others are zero
    rather than round-off beside which those limits are nothing.
    """
    C, v = p.C, p.step
    for k in range(r):
        q = next_row(p, n, m, r, k, tolerance)
        if q < 0:
            return k
        p.order[k], p.order[q] = p.order[q], p.order[k]
        own = 0.0
        for j in range(r):
            C[k * n + j], C[q * n + j] = C[q * n + j], C[k * n + j]
            if j >= k:
                own += C[k * n + j] * C[k * n + j]
        root = math.copysign(math.sqrt(own), -C[k * n + k])
        # A reflection that takes the row's part to its first entry.
        for j in range(k, r):
            v[j] = C[k * n + j]
            C[k * n + j] = 0.0
        v[k] -= root
        C[k * n + k] = root
        half = root * v[k]
        for i in range(k + 1, m):
            along = 0.0
            for j in range(k, r):
                along += C[i * n + j] * v[j]
            along /= half
            for j in range(k, r):
                value = C[i * n + j] + along * v[j]
                C[i * n + j] = value if abs(value) > NO_PART else 0.0
    return r


@kernel
def solve_lower(n, r, C, x):
    """Solve with the leading r rows of a lower factor, in place."""
    for i in range(r):
        value = x[i]
        for j in range(i):
            value -= C[i * n + j] * x[j]
        x[i] = value / C[i * n + i]


@kernel
def solve_upper(n, r, C, x):
    """Solve with the transpose of the leading r rows of a lower factor, in place."""
    for i in range(r - 1, -1, -1):
        x[i] /= C[i * n + i]
        for j in range(i):
            x[j] -= C[i * n + j] * x[i]


# ---- the active set ------------------------------------------------------------


@kernel
def take_guess(p, n, lam):
    """Take the forces to start from, within their limits."""
    for i in range(n):
        x = p.d[i] * lam[i] if p.is_warm and math.isfinite(lam[i]) else 0.0
        p.x[i] = min(max(x, -p.limit[i]), p.limit[i])


@kernel
def sweep(p, n, n_sweep):
    """Improve the forces one by one, and note which are at their limits."""
    for _ in range(n_sweep):
        for i in range(n):
            own = p.H[i * n + i]
            if own > 0.0:
                g = p.b[i]
                for j in range(n):
                    g += p.H[i * n + j] * p.x[j]
                p.x[i] = min(max(p.x[i] - g / own, -p.limit[i]), p.limit[i])
    for i in range(n):
        p.side[i] = 0
        if p.x[i] >= p.limit[i]:
            p.side[i] = 1
        elif p.x[i] <= -p.limit[i]:
            p.side[i] = -1


@kernel
def accelerate(p, n):
    """Write accelerations g = H x + b, and what is round-off of them."""
    largest = 0.0
    for i in range(n):
        g = p.b[i]
        terms = abs(g)
        for j in range(n):
            term = p.H[i * n + j] * p.x[j]
            g += term
            terms += abs(term)
        p.g[i] = g
        p.small[i] = terms
        largest = max(largest, terms)
    for i in range(n):
        terms = p.small[i] + LARGEST_ROW * largest
        p.small[i] = ROW_ROUND_OFF * terms + p.noise[i] / p.d[i]


@kernel
def list_free(p, n):
    """List the forces that are not at their limits; return how many."""
    m = 0
    for i in range(n):
        if p.side[i] == 0:
            p.order[m] = i
            m += 1
    return m


@kernel
def null_direction(p, n, m, r):
    """Write the steepest direction that H does not see; return its row, -1 for none.

    z_k = 1 for one dependent row k, H z = 0 in the rows that are not; the slope g' z
    counts if it is above the round-off of its terms.
    """
    C, z = p.C, p.step
    found = -1
    most = 1.0
    for k in range(r, m):
        for j in range(r):
            z[j] = -C[k * n + j]
        solve_upper(n, r, C, z)
        slope = p.g[p.order[k]]
        small = p.small[p.order[k]]
        for j in range(r):
            slope += z[j] * p.g[p.order[j]]
            small += SUMMED * abs(z[j]) * p.small[p.order[j]]
        if abs(slope) > most * small:
            most = abs(slope) / small
            found = k
            for j in range(r):
                p.best[j] = -z[j] if slope > 0.0 else z[j]
            p.best[r] = -1.0 if slope > 0.0 else 1.0
            p.slope = abs(slope)
    return found


@kernel
def newton_direction(p, n, r, is_exact):
    """Write the step to where the independent forces have no acceleration.

    Round-off counts for refinement only: in rows that nearly depend on each other it
    could turn a force that was just released against its limit.
    """
    for j in range(r):
        i = p.order[j]
        p.best[j] = -p.g[i] if is_exact or abs(p.g[i]) > p.small[i] else 0.0
    solve_lower(n, r, p.C, p.best)
    solve_upper(n, r, p.C, p.best)


@kernel
def go(p, m, longest):
    """Go along `best` in the first m rows of `order` to the first limit.

    Return the length, at most `longest`. What reaches its limit is fixed there, the
    lowest of those that do so together.
    """
    length = longest
    first = -1
    for j in range(m):
        i = p.order[j]
        if p.best[j] != 0.0:
            way = math.copysign(p.limit[i], p.best[j]) - p.x[i]
            reach = max(way / p.best[j], 0.0)
            if reach < length or (reach == length and first >= 0 and i < first):
                length = reach
                first = i
    for j in range(m):
        i = p.order[j]
        end = p.x[i] + length * p.best[j]
        p.x[i] = min(max(end, -p.limit[i]), p.limit[i])
        if i == first:
            p.side[i] = 1 if p.best[j] > 0.0 else -1
            p.x[i] = p.side[i] * p.limit[i]
    return length


@kernel
def is_short(p, n, m, length):
    """Tell whether a step moved nothing."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(p.x[i]))
    for j in range(m):
        if length * abs(p.best[j]) > NO_LENGTH * largest:
            return False
    return True


@kernel
def release(p, n, is_first):
    """Free the force that pulls inwards most, or first; return whether there is one."""
    most = 1.0
    found = -1
    for i in range(n):
        # Without a limit there is nothing to free.
        inwards = p.side[i] * p.g[i] if p.limit[i] > 0.0 else 0.0
        if inwards > most * p.small[i]:
            most = inwards / p.small[i] if p.small[i] > 0.0 else np.inf
            found = i
            if is_first:
                break
    if found < 0:
        return False
    p.side[found] = 0
    return True


@kernel
def is_still(p, m):
    """Tell whether no force of the first m rows of `order` is accelerated."""
    for j in range(m):
        if abs(p.g[p.order[j]]) > p.small[p.order[j]]:
            return False
    return True


@far(Box, INTEGER, NUMBER, returns=INTEGER)
def descend(p, n, tolerance):
    """Change the active set until every condition holds."""
    n_short = 0
    for _ in range(CHANGES + CHANGES_PER_ROW * n):
        p.n_change += 1
        m = list_free(p, n)
        r = factor(p, n, m, tolerance)
        if spend(p.look, 2 * n * n + m * r * (r + 1)):
            return LIMIT
        accelerate(p, n)
        k = null_direction(p, n, m, r)
        if k >= 0:
            # The row takes its place behind the independent ones.
            p.order[r], p.order[k] = p.order[k], p.order[r]
            curvature = p.left[k]
            longest = np.inf
            if curvature > rank_tolerance(n, CURVED):
                longest = p.slope / curvature
            length = go(p, r + 1, longest)
            n_short = n_short + 1 if is_short(p, n, r + 1, length) else 0
            continue
        length = 1.0
        for k in range(REFINEMENTS):
            newton_direction(p, n, r, k > 0)
            length = go(p, r, 1.0)
            n_short = n_short + 1 if is_short(p, n, r, length) else 0
            accelerate(p, n)
            if length < 1.0 or (k > 0 and is_still(p, r)):
                break
        if length == 1.0 and not release(p, n, n_short > 2 * n):
            return SOLVED
    return LIMIT


# ---- the answer ----------------------------------------------------------------


@kernel
def violation(p, n):
    """Return the largest violation of a condition, beside the terms of its row."""
    worst = 0.0
    for i in range(n):
        g = p.g[i]
        if p.limit[i] <= 0.0:
            g = 0.0
        elif p.x[i] >= p.limit[i]:
            g = max(g, 0.0)
        elif p.x[i] <= -p.limit[i]:
            g = min(g, 0.0)
        # A row that depends on others is at rest with them, to the noise of all.
        g = max(abs(g) - ACCELERATES * p.noise[i] / p.d[i], 0.0)
        small = p.small[i] - p.noise[i] / p.d[i]
        if not g * ROW_ROUND_OFF <= worst * small:
            worst = g * ROW_ROUND_OFF / small
    return worst


@kernel
def write_answer(p, n, limit, lam, a):
    """Write forces, accelerations and signs of slip."""
    for i in range(n):
        lam[i] = p.side[i] * limit[i] if p.side[i] != 0 else p.x[i] / p.d[i]
        a[i] = p.g[i] * p.d[i]
        p.slip[i] = 0
        if p.side[i] != 0 and abs(p.g[i]) > ACCELERATES * p.small[i]:
            p.slip[i] = 1 if p.g[i] > 0.0 else -1


@kernel
def find_rank(p, n):
    """Write the rank of A."""
    for i in range(n):
        p.order[i] = i
    p.rank = factor(p, n, n, rank_tolerance(n, DEPENDENT))


@far(Box, INTEGER, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, returns=INTEGER)
def solve_box(p, n, A, b, limit, free, lam, a):
    """Minimise 1/2 lam' A lam + b' lam over |lam_i| <= limit_i; write a = A lam + b.

    `free` is what A_ii would be without joints. If p.is_warm, `lam` is a guess. SOLVED
    means that every condition holds within BOX_CHECK; p.slip has the signs of the
    accelerations, where lam_i = -p.slip[i] limit_i.
    """
    p.residual = np.inf
    p.rank = 0
    p.n_change = 0
    status = NOT_FINITE
    if is_finite(n, b) and scale_box(p, n, A, limit, free):
        for i in range(n):
            p.b[i] = b[i] / p.d[i]
        take_guess(p, n, lam)
        find_rank(p, n)
        sweep(p, n, WARM_SWEEPS if p.is_warm else COLD_SWEEPS)
        status = descend(p, n, rank_tolerance(n, DEPENDENT))
        p.residual = violation(p, n)
        if not p.residual <= BOX_CHECK and not p.look.is_stopped:
            sweep(p, n, COLD_SWEEPS)
            status = descend(p, n, rank_tolerance(n, MORE_DEPENDENT))
            p.residual = violation(p, n)
        # A limit reached while all conditions hold within the check does no harm.
        if p.residual <= BOX_CHECK:
            status = SOLVED
        elif status == SOLVED:
            status = INACCURATE
        write_answer(p, n, limit, lam, a)
    return status
