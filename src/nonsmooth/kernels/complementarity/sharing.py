"""How redundant contacts share friction: least sum of squares beside the limits.

    minimise 1/2 sum lam_i^2 / limit_i    over |lam_i| <= limit_i,  A lam given

With A = E E' and the load E' lam = d this is, by duality, free of conditions and smooth
in an acceleration y:

    minimise sum limit_i h(e_i y) - d y,     h(u) = u^2/2, or |u| - 1/2 beyond one
    lam_i = limit_i clip(e_i y, -1, 1)

so that parallel contacts reach their limits together, and forces are continuous in load
and limits. Newton's method with an exact search along each line ends in finitely many
steps, for the function is quadratic in pieces.
"""

import math

import numpy as np

from nonsmooth.kernels.abi import FLOATS, INTEGER, far, kernel
from nonsmooth.kernels.complementarity.box import (
    DEPENDENT,
    Box,
    factor,
    grade,
    rank_tolerance,
    scale_box,
    solve_lower,
    solve_upper,
    tie,
)
from nonsmooth.kernels.complementarity.scaling import (
    INFEASIBLE,
    LIMIT,
    NOT_FINITE,
    SOLVED,
    is_finite,
)
from nonsmooth.kernels.look import spend

# A load is met within this part of its terms: round-off of long sums. What does not get
# there is accepted below the second; below the third the forces are corrected.
MET, NEARLY_MET, ROUGH = 1e-14, 1e-12, 1e-8
# Part of the full curvature that is added where all contacts are at their limits and
# there is none: directions stay downhill, and Newton's method stays one.
CURVATURE = 1e-10
# A slope below this part of its terms, or a bracket this short beside its end, ends a
# search along a line.
SEARCHED = 1e-15
# A pivot below this part of its diagonal is round-off.
NO_PIVOT = 1e-15
NEWTON_STEPS, SEARCHES, REFINEMENTS = 60, 100, 3


@kernel
def list_sharing(p, n, lam):
    """List contacts that may share; return how many.

    Those that slip, and those that joints hold, keep their force.
    """
    m = 0
    for i in range(n):
        p.x[i] = p.d[i] * lam[i]
        if p.slip[i] == 0 and p.H[i * n + i] > 0.0:
            p.order[m] = i
            m += 1
    return m


@kernel
def write_load(p, n, m, r):
    """Write rows E, and the load E' lam of the listed contacts; return the rank left.

    That of contacts with friction, which are the first pivots; -1 if others would have
    to bear a load.
    """
    size = 0.0
    for i in range(m):
        size += abs(p.x[p.order[i]])
        for j in range(r):
            p.G[i * n + j] = p.C[i * n + j] * p.d[p.order[i]]
    left = 0
    while left < r and p.limit[p.order[left]] > 0.0:
        left += 1
    for j in range(r):
        p.load[j] = 0.0
        for i in range(m):
            p.load[j] += p.C[i * n + j] * p.x[p.order[i]]
        if j >= left and abs(p.load[j]) > NEARLY_MET * size:
            return -1
    return left


@kernel
def share_of(p, o, u):
    """Return the force of contact o, scaled, where its row gives u."""
    return p.limit[o] * min(max(u, -1.0), 1.0)


@kernel
def pull(p, n, m, r):
    """Write e_i y to `best`, and the forces that follow."""
    for i in range(m):
        u = 0.0
        for j in range(r):
            u += p.G[i * n + j] * p.y[j]
        p.best[i] = u
        p.x[p.order[i]] = share_of(p, p.order[i], u)


@kernel
def find_unmet(p, n, m, r):
    """Write the load that is not met to `step`; return its largest part of terms."""
    for j in range(r):
        p.step[j] = p.load[j]
        p.small[j] = abs(p.load[j])
    for i in range(m):
        x = p.x[p.order[i]]
        for j in range(r):
            p.step[j] -= p.C[i * n + j] * x
            p.small[j] += abs(p.C[i * n + j] * x)
    worst = 0.0
    for j in range(r):
        if abs(p.step[j]) > worst * p.small[j]:
            worst = abs(p.step[j]) / p.small[j]
    return worst


@kernel
def curvature(p, n, m, r):
    """Write and factor the curvature sum limit_i e_i e_i' of contacts below a limit."""
    K = p.T
    for j in range(r):
        for k in range(j + 1):
            K[j * n + k] = 0.0
    for i in range(m):
        o = p.order[i]
        weight = p.limit[o] / p.d[o]
        if abs(p.best[i]) > 1.0:
            weight *= CURVATURE
        for j in range(r):
            value = weight * p.G[i * n + j]
            for k in range(j + 1):
                K[j * n + k] += value * p.G[i * n + k]
    cholesky(n, r, K)


@kernel
def cholesky(n, r, K):
    """Factor a positive definite matrix in place; round-off does not stop it."""
    for j in range(r):
        for k in range(j + 1):
            value = K[j * n + k]
            for l in range(k):
                value -= K[j * n + l] * K[k * n + l]
            if k < j:
                K[j * n + k] = value / K[k * n + k]
            else:
                K[j * n + j] = math.sqrt(max(value, NO_PIVOT * K[j * n + j]))


@kernel
def slope_at(p, m, t, push):
    """Return slope, curvature and terms of the slope at length t along a direction.

    `g` has the changes of e_i y along it; `push` is what the load does.
    """
    slope = -push
    terms = abs(push)
    bend = 0.0
    for i in range(m):
        o = p.order[i]
        u = p.best[i] + t * p.g[i]
        change = p.g[i] / p.d[o]
        part = share_of(p, o, u) * change
        slope += part
        terms += abs(part)
        if abs(u) <= 1.0:
            bend += p.limit[o] * change * p.g[i]
    return slope, bend, terms


@kernel
def search(p, n, m, r):
    """Return the length along `step` at which its slope vanishes."""
    push = 0.0
    for j in range(r):
        push += p.load[j] * p.step[j]
    for i in range(m):
        p.g[i] = 0.0
        for j in range(r):
            p.g[i] += p.G[i * n + j] * p.step[j]
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(SEARCHES):
        slope, bend, terms = slope_at(p, m, t, push)
        # At break-away the last piece is flat, and must not be followed for ever.
        if abs(slope) <= SEARCHED * terms:
            return t
        if slope < 0.0:
            low = t
        else:
            high = t
        t = t - slope / bend if bend > 0.0 else np.inf
        if not low < t < high:
            t = 2.0 * low if high == np.inf else 0.5 * (low + high)
        if high - low <= SEARCHED * high:
            break
    return t


@kernel
def correct(p, n, m, r):
    """Correct the forces below their limits by what is not met, at the same curvature.

    Forces are corrected rather than the acceleration, whose own round-off is larger
    where few contacts resist.
    """
    for i in range(m):
        o = p.order[i]
        if abs(p.best[i]) <= 1.0:
            change = 0.0
            for j in range(r):
                change += p.G[i * n + j] * p.step[j]
            x = p.x[o] + p.limit[o] * change
            p.x[o] = min(max(x, -p.limit[o]), p.limit[o])


@kernel
def refine(p, n, m, r):
    """Correct the forces until they meet the load; return what is not met."""
    unmet = find_unmet(p, n, m, r)
    for _ in range(REFINEMENTS):
        if unmet <= MET:
            break
        curvature(p, n, m, r)
        solve_lower(n, r, p.T, p.step)
        solve_upper(n, r, p.T, p.step)
        correct(p, n, m, r)
        unmet = find_unmet(p, n, m, r)
    return unmet


@kernel
def balance(p, n, m, r):
    """Find the acceleration that shares the load; return status."""
    for j in range(r):
        p.y[j] = 0.0
    unmet = np.inf
    for _ in range(NEWTON_STEPS):
        last = unmet
        pull(p, n, m, r)
        unmet = find_unmet(p, n, m, r)
        if unmet <= MET or (unmet <= ROUGH and unmet >= 0.5 * last):
            break
        if spend(p.look, m * r * (r + 4)):
            return LIMIT
        curvature(p, n, m, r)
        solve_lower(n, r, p.T, p.step)
        solve_upper(n, r, p.T, p.step)
        t = search(p, n, m, r)
        for j in range(r):
            p.y[j] += t * p.step[j]
    return SOLVED if refine(p, n, m, r) <= NEARLY_MET else INFEASIBLE


@kernel
def is_within(p, n):
    """Tell whether all forces are within their limits, but for round-off."""
    size = 0.0
    for i in range(n):
        size = max(size, abs(p.x[i]))
    for i in range(n):
        if abs(p.x[i]) > p.limit[i] + NEARLY_MET * size:
            return False
    return True


@far(Box, INTEGER, FLOATS, FLOATS, FLOATS, FLOATS, returns=INTEGER)
def share(p, n, A, limit, free, lam):
    """Share the friction `lam` anew among redundant contacts, A lam unchanged.

    Contacts with a sign in p.slip keep their force; `lam` of others may be beyond its
    limit. INFEASIBLE: no forces within their limits do the same; `lam` is left as it
    is.
    """
    if not (is_finite(n, lam) and scale_box(p, n, A, limit, free)):
        return NOT_FINITE
    tie(p, n, free)
    m = list_sharing(p, n, lam)
    r = factor(p, n, m, rank_tolerance(n, DEPENDENT))
    if r == m:
        return SOLVED if is_within(p, n) else INFEASIBLE
    r = grade(p, n, m, r, rank_tolerance(n, DEPENDENT))
    r = write_load(p, n, m, r)
    status = balance(p, n, m, r) if r >= 0 else INFEASIBLE
    if status == SOLVED:
        for i in range(m):
            o = p.order[i]
            lam[o] = math.copysign(limit[o], p.x[o])
            if abs(p.x[o]) < p.limit[o]:
                lam[o] = p.x[o] / p.d[o]
    return status
