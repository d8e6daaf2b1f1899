"""How near a group of sticking contacts is to giving way.

A mechanism is a motion y of the contacts, c_i y at contact i, with A = C C'. Load power
beside friction power, largest over all mechanisms,

    ratio = max over y of d y / sum_i limit_i |c_i y|        d = C' lam

is one when the group breaks away: by duality it is the least t for which forces within
t limit_i do the same as lam,

    min t    over  C' x = d,  |x_i| <= t limit_i

The largest ratio belongs to a mechanism of one freedom, in which all but one of as many
independent contacts as there are motions are at rest. With few motions all of those are
tried; else they are descended, from one to a neighbour, until none has a larger ratio.
"""

import math

import numpy as np

from nonsmooth.kernels.abi import FLOATS, INTEGER, NUMBER, far, kernel
from nonsmooth.kernels.complementarity.box import (
    DEPENDENT,
    Box,
    factor,
    grade,
    rank_tolerance,
    scale_box,
    solve_box,
    tie,
)
from nonsmooth.kernels.complementarity.scaling import SOLVED, is_finite
from nonsmooth.kernels.look import spend

# A load below this part of the forces' sum is round-off of it: forces of redundant
# contacts may be large and cancel.
NO_LOAD = 1e-14
# Load that contacts without friction bear: more than this part is no round-off.
HELD_LOAD = 1e-12
# Rows nearer than this, of length one, are one generator: what round-off leaves of
# parallel rows in a factor with a small pivot.
PARALLEL = 1e-9
# Rows that are parallel at a look: square of the sine of their angle.
SEEN = 1e-6
# Motion of a contact that is none in a mechanism: beside its terms, and beside the
# largest motion, where the terms are round-off themselves.
AT_REST, NO_MOTION = 1e-8, 1e-12
# Part by which limits are shrunk to see what gives way: accelerations that follow are
# far above round-off, and no other mechanism is as near but by design.
SHRUNK = 1e-6
# With so many generators all pairs are tried; more are descended.
MOST_PAIRS = 12
# Shift of generators, beside the mean friction power, that parts mechanisms which
# coincide: far above round-off, and far below what matters. The answer is without it.
SHIFT = 1e-10
# A power this small beside the lengths of its factors is zero.
NO_POWER = 1e-11
# A neighbour counts as better by more than this.
BETTER = 1e-9
# Neighbours visited at most, for each generator.
VISITS = 20
# A corner is begun with a generator of the last one if it is this far from the others.
WELL_APART = 1e-3
# Times the shift is made anew, until the power is like this part of the one before.
ROUNDS, LIKE = 5, 1e-1
# Multiples of this, without their integers, are spread evenly.
GOLDEN = 0.6180339887498949


# ---- generators ----------------------------------------------------------------


@kernel
def list_moving(p, n, lam):
    """List the contacts that joints do not hold; return how many."""
    m = 0
    for i in range(n):
        p.x[i] = p.d[i] * lam[i]
        p.critical[i] = 0
        if p.H[i * n + i] > 0.0:
            p.order[m] = i
            m += 1
    return m


@kernel
def write_load(p, n, m, r):
    """Write the load d = C' lam; what is round-off of it is zero. Return its size."""
    size = 0.0
    for i in range(m):
        size += abs(p.x[p.order[i]])
    for j in range(r):
        p.load[j] = 0.0
        for i in range(m):
            p.load[j] += p.C[i * n + j] * p.x[p.order[i]]
        if abs(p.load[j]) <= NO_LOAD * size:
            p.load[j] = 0.0
    return size


@kernel
def is_parallel(p, n, i, k, r):
    """Tell whether rows i, k of the factor are parallel; write c_i / c_k to slope."""
    C, H, order = p.C, p.H, p.order
    # Most are not, which one number tells.
    along = H[order[i] * n + order[k]]
    own = H[order[i] * n + order[i]]
    other = H[order[k] * n + order[k]]
    if along * along < (1.0 - SEEN) * own * other:
        return False
    p.slope = along / other
    apart = 0.0
    for j in range(r):
        gap = C[i * n + j] - p.slope * C[k * n + j]
        apart += gap * gap
    return apart <= PARALLEL * PARALLEL * own


@kernel
def write_generators(p, n, m, r):
    """Write limit_i c_i, parallel ones as one; return how many there are.

    `row` has the place in `order` that stands for each.
    """
    count = 0
    for i in range(m):
        limit = p.limit[p.order[i]]
        if limit <= 0.0:
            continue
        k = 0
        while k < count and not is_parallel(p, n, i, p.row[k], r):
            k += 1
        if k == count:
            p.row[k] = i
            for j in range(r):
                p.G[k * n + j] = limit * p.C[i * n + j]
            count += 1
        else:
            for j in range(r):
                p.G[k * n + j] += limit * abs(p.slope) * p.C[p.row[k] * n + j]
    return count


@kernel
def dot(r, a, b):
    """Return the product of two vectors."""
    total = 0.0
    for j in range(r):
        total += a[j] * b[j]
    return total


@kernel
def power_ratio(p, n, m, r, y):
    """Return load power beside friction power in a mechanism, signed."""
    friction = 0.0
    for k in range(m):
        total = 0.0
        for j in range(r):
            total += p.G[k * n + j] * y[j]
        friction += abs(total)
    return dot(r, p.load, y) / friction if friction > 0.0 else 0.0


@kernel
def keep_better(p, n, m, r, best):
    """Keep the mechanism in `step` if its ratio is above the best; return the best."""
    ratio = power_ratio(p, n, m, r, p.step)
    if abs(ratio) > best:
        best = abs(ratio)
        for j in range(r):
            p.y[j] = p.step[j] if ratio > 0.0 else -p.step[j]
    return best


@kernel
def try_all(p, n, m, r):
    """Try all mechanisms of up to three motions; return the largest ratio."""
    G, y = p.G, p.step
    best = 0.0
    if r == 1:
        y[0] = 1.0
        return keep_better(p, n, m, r, best)
    for i in range(m):
        if r == 2:
            y[0] = -G[i * n + 1]
            y[1] = G[i * n]
            best = keep_better(p, n, m, r, best)
        for k in range(i if r == 3 else 0):
            for j in range(3):
                a, b = (j + 1) % 3, (j + 2) % 3
                y[j] = G[i * n + a] * G[k * n + b] - G[i * n + b] * G[k * n + a]
            best = keep_better(p, n, m, r, best)
    return best


# ---- descent over mechanisms ---------------------------------------------------
#
# Among mechanisms of unit load power the friction power sum |g_k y| is least. A corner
# is a mechanism y with r - 1 generators at rest; along edge j, column j of V, all of
# them stay at rest but one, and the load has no power. T = G V has the powers along
# edges, and in its last column those of the mechanism itself, the last column of V.


@kernel
def scale_motions(p, n, m, r):
    """Scale the motions so that generators are near one in each; scales to `small`."""
    for j in range(r):
        size = 0.0
        for k in range(m):
            size = max(size, abs(p.G[k * n + j]))
        p.small[j] = size
        p.load[j] /= size
        for k in range(m):
            p.G[k * n + j] /= size
    for k in range(m):
        own = 0.0
        for j in range(r):
            own += p.G[k * n + j] * p.G[k * n + j]
        p.left[k] = math.sqrt(own)
        p.side[k] = 0
        p.b[k] = 0.0


@kernel
def first_edges(p, n, m, r):
    """Begin with no generator at rest: edges are motions without load power."""
    V = p.V
    q = 0
    for j in range(r):
        if abs(p.load[j]) > abs(p.load[q]):
            q = j
    j = 0
    for c in range(r):
        if c != q:
            for i in range(r):
                V[i * n + j] = 1.0 if i == c else 0.0
            V[q * n + j] = -p.load[c] / p.load[q]
            p.place[j] = -1
            j += 1
    for i in range(r):
        V[i * n + r - 1] = 1.0 / p.load[q] if i == q else 0.0
    for j in range(r):
        for k in range(m):
            p.T[k * n + j] = power_along(p, n, r, k, j)


@kernel
def power_along(p, n, r, k, j):
    """Return the power of generator k along edge j."""
    total = 0.0
    for i in range(r):
        total += p.G[k * n + i] * p.V[i * n + j]
    return total


@kernel
def bring_to_rest(p, n, m, r, k, j):
    """Go along edge j until generator k is at rest, which takes its place there."""
    T, V = p.T, p.V
    pivot = T[k * n + j]
    if p.place[j] >= 0:
        p.side[p.place[j]] = 0
    p.place[j] = k
    p.side[k] = 1
    for i in range(m):
        T[i * n + j] /= pivot
    for i in range(r):
        V[i * n + j] /= pivot
    for c in range(r):
        value = T[k * n + c]
        if c != j and value != 0.0:
            for i in range(m):
                T[i * n + c] -= value * T[i * n + j]
            for i in range(r):
                V[i * n + c] -= value * V[i * n + j]
            T[k * n + c] = 0.0


@kernel
def edge_length(p, n, r, j):
    """Return the length of edge j."""
    total = 0.0
    for i in range(r):
        total += p.V[i * n + j] * p.V[i * n + j]
    return math.sqrt(total)


@kernel
def edge_slope(p, n, m, r, j):
    """Return the change of friction power along edge j, of generators that move."""
    total = 0.0
    for k in range(m):
        if p.side[k] == 0:
            a = p.T[k * n + j]
            total += a if p.T[k * n + r - 1] >= 0.0 else -a
    return total


@kernel
def stop_on(p, n, m, r, j, slope):
    """Return the generator at which friction power along an edge is least, or -1.

    From one change of sign to the next, each of which adds to the slope.
    """
    T = p.T
    sign = -1.0 if slope > 0.0 else 1.0
    least = NO_POWER * edge_length(p, n, r, j)
    for k in range(m):
        p.best[k] = np.inf
        a = sign * T[k * n + j]
        value = T[k * n + r - 1]
        is_ahead = a < 0.0 if value >= 0.0 else a > 0.0
        if p.side[k] == 0 and is_ahead and abs(a) > least * p.left[k]:
            p.best[k] = abs(value / a)
    rise = -abs(slope) + (1.0 if p.place[j] >= 0 else 0.0)
    found = -1
    for _ in range(m):
        first = 0
        for k in range(m):
            if p.best[k] < p.best[first]:
                first = k
        if p.best[first] == np.inf:
            return found
        found = first
        p.best[first] = np.inf
        rise += 2.0 * abs(T[first * n + j])
        if rise >= 0.0:
            return found
    return found


@kernel
def reuse(p, n, m, r):
    """Bring to rest what was at rest in the last mechanism, where it still can be."""
    for l in range(p.n_basis):
        for k in range(m):
            if p.order[p.row[k]] == p.basis[l] and p.side[k] == 0:
                best, q = WELL_APART * p.left[k], -1
                for j in range(r - 1):
                    size = abs(p.T[k * n + j])
                    if p.place[j] < 0 and size > best * edge_length(p, n, r, j):
                        best, q = size / edge_length(p, n, r, j), j
                if q >= 0:
                    bring_to_rest(p, n, m, r, k, q)


@kernel
def first_corner(p, n, m, r):
    """Bring as many generators to rest as a corner has; return whether it can."""
    for j in range(r - 1):
        if p.place[j] < 0:
            slope = edge_slope(p, n, m, r, j)
            k = stop_on(p, n, m, r, j, slope)
            if k < 0:
                # Nothing ahead: the other way.
                k = stop_on(p, n, m, r, j, -slope if slope != 0.0 else 1.0)
            if k < 0:
                return False
            bring_to_rest(p, n, m, r, k, j)
    return True


@kernel
def friction_power(n, m, r, T):
    """Return the friction power of the present mechanism."""
    total = 0.0
    for k in range(m):
        total += abs(T[k * n + r - 1])
    return total


@kernel
def shift(p, n, m, r, size):
    """Shift generators that move, so that no two come to rest at once.

    By fixed numbers, so that the answer depends on nothing but the problem.
    """
    for k in range(m):
        p.b[k] = 0.0
        if p.side[k] == 0:
            part = (k + 1) * GOLDEN
            part = 0.5 + part - math.floor(part)
            p.b[k] = part * size if p.T[k * n + r - 1] < 0.0 else -part * size
            p.T[k * n + r - 1] -= p.b[k]


@kernel
def shift_back(p, n, m, r):
    """Take the shifts out of the mechanism and of its powers."""
    for j in range(r - 1):
        if p.place[j] >= 0:
            value = p.b[p.place[j]]
            for i in range(r):
                p.V[i * n + r - 1] -= value * p.V[i * n + j]
    for k in range(m):
        p.b[k] = 0.0
        p.T[k * n + r - 1] = 0.0
        if p.side[k] == 0:
            p.T[k * n + r - 1] = power_along(p, n, r, k, r - 1)


@kernel
def visit(p, n, m, r):
    """Go to neighbours while one has less friction power."""
    for _ in range(VISITS * m):
        best, q, slope = 1.0 + BETTER, -1, 0.0
        for j in range(r - 1):
            value = edge_slope(p, n, m, r, j)
            if abs(value) > best:
                best, q, slope = abs(value), j, value
        if q < 0 or spend(p.look, 2 * m * r):
            return
        k = stop_on(p, n, m, r, q, slope)
        if k < 0:
            return
        bring_to_rest(p, n, m, r, k, q)


@far(Box, INTEGER, INTEGER, INTEGER, returns=NUMBER)
def descend(p, n, m, r):
    """Go down to the mechanism of least friction power; return its ratio."""
    scale_motions(p, n, m, r)
    first_edges(p, n, m, r)
    if p.is_warm:
        reuse(p, n, m, r)
    if first_corner(p, n, m, r):
        for _ in range(ROUNDS):
            power = friction_power(n, m, r, p.T)
            shift(p, n, m, r, SHIFT * power / m)
            visit(p, n, m, r)
            shift_back(p, n, m, r)
            # The shift was meant beside a power like this.
            if friction_power(n, m, r, p.T) >= LIKE * power:
                break
    p.n_basis = 0
    for j in range(r - 1):
        if p.place[j] >= 0:
            p.basis[p.n_basis] = p.order[p.row[p.place[j]]]
            p.n_basis += 1
    for j in range(r):
        p.step[j] = p.V[j * n + r - 1]
    ratio = keep_better(p, n, m, r, 0.0)
    for j in range(r):
        p.y[j] /= p.small[j]
    return ratio


# ---- the ratio -----------------------------------------------------------------


@kernel
def write_critical(p, n, m, r, y):
    """Write which contacts slip in a mechanism, and how: against their friction."""
    largest = 0.0
    for i in range(m):
        total = 0.0
        terms = 0.0
        for j in range(r):
            total += p.C[i * n + j] * y[j]
            terms += abs(p.C[i * n + j] * y[j])
        p.best[i] = total if abs(total) > AT_REST * terms else 0.0
        largest = max(largest, abs(total))
    for i in range(m):
        if abs(p.best[i]) > NO_MOTION * largest:
            p.critical[p.order[i]] = -1 if p.best[i] > 0.0 else 1


@kernel
def single_ratio(p, m):
    """Return the largest ratio of single contacts, for those that are independent."""
    ratio = 0.0
    found = -1
    size = 0.0
    for k in range(m):
        size += abs(p.x[p.order[k]])
    for k in range(m):
        i = p.order[k]
        force = abs(p.x[i])
        if p.limit[i] > 0.0:
            own = force / p.limit[i]
        else:
            own = np.inf if force > HELD_LOAD * size else 0.0
        if own > ratio:
            ratio = own
            found = i
    if found >= 0:
        p.critical[found] = -1 if p.x[found] > 0.0 else 1
    return ratio


@kernel
def loose_motion(p, n, m, first, r, size):
    """Tell whether a motion that no friction resists is loaded; write its slips."""
    for j in range(first, r):
        if abs(p.load[j]) > HELD_LOAD * size:
            for i in range(r):
                p.y[i] = 0.0
            p.y[j] = p.load[j]
            write_critical(p, n, m, r, p.y)
            return True
    return False


@far(Box, INTEGER, FLOATS, FLOATS, FLOATS, FLOATS, returns=NUMBER)
def group_ratio(p, n, A, limit, free, lam):
    """Return the ratio of load to friction power of the group: one at break-away.

    `lam` are forces that hold the contacts; they may be beyond single limits. Writes to
    p.critical the sign of slip of each contact in the mechanism that gives way first,
    or in one of them (see `let_go`).
    Infinite where a motion that no friction resists is loaded; NaN for bad numbers.
    """
    if not (is_finite(n, lam) and scale_box(p, n, A, limit, free)):
        return np.nan
    tie(p, n, free)
    m = list_moving(p, n, lam)
    r = factor(p, n, m, rank_tolerance(n, DEPENDENT))
    p.rank = r
    if r == m:
        return single_ratio(p, m)
    r = grade(p, n, m, r, rank_tolerance(n, DEPENDENT))
    size = write_load(p, n, m, r)
    resisted = 0
    while resisted < r and p.limit[p.order[resisted]] > 0.0:
        resisted += 1
    if loose_motion(p, n, m, resisted, r, size):
        return np.inf
    is_loaded = False
    for j in range(resisted):
        is_loaded = is_loaded or p.load[j] != 0.0
    if not is_loaded:
        return 0.0
    count = write_generators(p, n, m, resisted)
    if resisted <= 2 or (resisted == 3 and count <= MOST_PAIRS):
        ratio = try_all(p, n, count, resisted)
    else:
        ratio = descend(p, n, count, resisted)
    write_critical(p, n, m, resisted, p.y)
    return ratio


@far(Box, INTEGER, FLOATS, FLOATS, FLOATS, FLOATS, returns=NUMBER)
def let_go(p, n, A, limit, free, lam):
    """Write to p.critical what slips when the group gives way; return its ratio.

    Several mechanisms may give way together, as those of a disc that is turned on four
    feet; `group_ratio` names one, and the motion is made of all. So the friction
    problem is posed a little beyond break-away. p.slip has the same signs.
    """
    ratio = group_ratio(p, n, A, limit, free, lam)
    if not 0.0 < ratio < np.inf:
        return ratio
    for i in range(n):
        p.push[i] = 0.0
        for j in range(n):
            p.push[i] -= A[i * n + j] * lam[j]
        p.shrunk[i] = ratio * (1.0 - SHRUNK) * limit[i]
        p.force[i] = lam[i]
    is_warm = p.is_warm
    p.is_warm = 1
    status = solve_box(p, n, A, p.push, p.shrunk, free, p.force, p.pace)
    p.is_warm = is_warm
    has_slip = False
    for i in range(n):
        has_slip = has_slip or p.slip[i] != 0
    # Great masses may hide it; then it is the mechanism that was found.
    if status == SOLVED and has_slip:
        for i in range(n):
            p.critical[i] = p.slip[i]
    return ratio
