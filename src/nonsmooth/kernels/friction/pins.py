"""Loads of up to four pins that friction changes little: rounds in place of factors.

The problem of `slides` for pins alone. With R the reactions under unit loads,

    lam = lam_0 + R G        G_k = |lam_k|

and where the sum of |R_kl| over l is below one for every pin the loads are unique. Well
below it Newton's steps need no factors: a few terms of a series will do,

    (I - D) d = r = |lam| - G        D_kl = e_k·R_kl        e_k = lam_k / |lam_k|
    d = P r        P = I + D + D^2 + D^3

and so do the directions of the first round, with them P. Friction of a pin is a couple:
as long as bodies have no tails it turns them and does nothing else.

Four fill a vector unit: numbers of pins stand side by side, a matrix by its columns,
and loops have four rounds each, so that all of it stays in registers.
"""

import math

from nonsmooth.kernels.abi import FLOATS, INTEGER, at, far, kernel, stack_floats
from nonsmooth.kernels.linear import skyline
from nonsmooth.kernels.mechanics.tables import PIN, Tables, Work
from nonsmooth.kernels.tolerances import TINY

# Sum of |R_kl| up to which the series is used: what it leaves out is 1e-4 then.
WEAK = 0.1
# Powers of D in the series; rounds, of which two or three are mostly enough.
N_POWER, MAX_ROUND = 3, 10
# Corrections until the next would change loads by round-off, beside them: it is smaller
# by the same factor as the last was.
STILL = 1e-16


@kernel
def are_few_pins(m, w, n):
    """Return whether the n listed contacts are up to four pins, on independent rows."""
    if n < 1 or n > 4 or m.n_tail > 0 or w.has_lost_rank:
        return False
    for l in range(n):
        if m.contact_kind[w.rub[l]] != PIN:
            return False
    return True


@kernel
def turn(m, w, n, at_a, at_b, by_a, by_b):
    """Write which bodies the friction of pins turns, and what unit loads do to them."""
    for l in range(4):
        at_a[l], at_b[l], by_a[l], by_b[l] = -1.0, -1.0, 0.0, 0.0
    for l in range(n):
        k = w.rub[l]
        couple = w.contact[k].phi * m.contact_radius[k]
        a = m.body_dof[m.marker_body[m.contact_a[k]]]
        b = m.body_dof[m.marker_body[m.contact_b[k]]]
        if a >= 0:
            at_a[l], by_a[l] = a, -couple * w.minv[a + 2]
        if b >= 0:
            at_b[l], by_b[l] = b, couple * w.minv[b + 2]


@kernel
def push(m, w, n, begin, end):
    """Write J M^-1 W Phi of the n listed pins: what unit loads do to rows."""
    at_a, at_b = stack_floats(4), stack_floats(4)
    by_a, by_b = stack_floats(4), stack_floats(4)
    turn(m, w, n, at_a, at_b, by_a, by_b)
    for i in range(begin, end):
        own, place = at(w.response, 4 * i), m.row_side[i]
        for l in range(4):
            own[l] = 0.0
        for side in range(2):
            if place[side] >= 0:
                body, J = float(place[side]), w.J[place[2 + side] + 2]
                for l in range(4):
                    on_a = by_a[l] if at_a[l] == body else 0.0
                    on_b = by_b[l] if at_b[l] == body else 0.0
                    own[l] += J * (on_a + on_b)


@kernel
def gather(m, w, n, x, y, G, X, Y):
    """Write reactions of pins, first loads, and the two parts of R by columns.

    Returns the largest sum of |R_kl| of a pin. Behind the last it stands again; its
    columns are empty there. Loads begin with what friction added to reactions at the
    last evaluation.
    """
    most = 0.0
    for k in range(4):
        i = m.contact_joint[w.rub[min(k, n - 1)]]
        first, second, total = at(w.response, 4 * i), at(w.response, 4 * i + 4), 0.0
        for l in range(4):
            X[4 * l + k] = first[l]
            Y[4 * l + k] = second[l]
            total += abs(first[l]) + abs(second[l])
        # Not max(): a NaN must come out.
        if not total <= most:
            most = total
        x[k] = w.lam[i]
        y[k] = w.lam[i + 1]
        last_x, last_y = x[k] + w.bent[i], y[k] + w.bent[i + 1]
        G[k] = math.sqrt(last_x * last_x + last_y * last_y)
    return most


@kernel
def multiply(A, f, out):
    """Add A f to `out`."""
    p, q, r, s = out[0], out[1], out[2], out[3]
    for l in range(4):
        factor = f[l]
        p += factor * A[4 * l]
        q += factor * A[4 * l + 1]
        r += factor * A[4 * l + 2]
        s += factor * A[4 * l + 3]
    out[0], out[1], out[2], out[3] = p, q, r, s


@kernel
def miss(x, y, G, size, r, part):
    """Write |lam| and what it is more than the loads; return the most, beside it."""
    for k in range(4):
        size[k] = math.sqrt(x[k] * x[k] + y[k] * y[k])
        r[k] = size[k] - G[k]
        part[k] = abs(r[k]) / (size[k] + TINY)
    return max(max(part[0], part[1]), max(part[2], part[3]))


@kernel
def aim(x, y, size, ex, ey, X, Y, D):
    """Set directions to where reactions are, and write D."""
    for k in range(4):
        inverse = 1.0 / (size[k] + TINY)
        ex[k] = x[k] * inverse
        ey[k] = y[k] * inverse
    for l in range(4):
        for k in range(4):
            D[4 * l + k] = ex[k] * X[4 * l + k] + ey[k] * Y[4 * l + k]


@kernel
def sum_series(D, P, Q):
    """Write P = I + D (I + D (I + D)); Q is scratch."""
    for i in range(16):
        P[i] = D[i]
    for _ in range(N_POWER - 1):
        for k in range(4):
            P[5 * k] += 1.0
        for i in range(16):
            Q[i] = P[i]
            P[i] = 0.0
        for l in range(4):
            multiply(D, at(Q, 4 * l), at(P, 4 * l))
    for k in range(4):
        P[5 * k] += 1.0


@kernel
def find_loads(m, w, n):
    """Find loads from `response`; return whether friction changes them so little."""
    X, Y, D = stack_floats(16), stack_floats(16), stack_floats(16)
    x, y, G = stack_floats(4), stack_floats(4), stack_floats(4)
    ex, ey = stack_floats(4), stack_floats(4)
    size, r, part = stack_floats(4), stack_floats(4), stack_floats(4)
    P, Q, d = stack_floats(16), stack_floats(16), stack_floats(4)
    most = gather(m, w, n, x, y, G, X, Y)
    if not most <= WEAK:
        return 0
    multiply(X, G, x)
    multiply(Y, G, y)
    change = miss(x, y, G, size, r, part)
    aim(x, y, size, ex, ey, X, Y, D)
    sum_series(D, P, Q)
    # At first, what the series leaves out, and how far directions turn at most.
    rate = most**N_POWER * most + change
    for _ in range(MAX_ROUND):
        for k in range(4):
            d[k] = 0.0
        multiply(P, r, d)
        for k in range(4):
            G[k] += d[k]
        if change * rate <= STILL:
            for k in range(n):
                w.load_of[k] = G[k]
                e = w.cone[w.rub[k]]
                e[0] = ex[k]
                e[1] = ey[k]
            return 1
        multiply(X, d, x)
        multiply(Y, d, y)
        last = change
        change = miss(x, y, G, size, r, part)
        rate = change / last
    return 0


@kernel
def apply(m, w, n, begin, end, a):
    """Add what the friction of pins does to reactions and accelerations."""
    G = stack_floats(4)
    for l in range(4):
        G[l] = w.load_of[l] if l < n else 0.0
    for i in range(begin, end):
        R = at(w.response, 4 * i)
        change = G[0] * R[0] + G[1] * R[1] + G[2] * R[2] + G[3] * R[3]
        w.bent[i] = change if abs(change) < math.inf else 0.0
        w.lam[i] += change
    for l in range(n):
        k = w.rub[l]
        c = w.contact[k]
        force = -c.phi * G[l]
        c.lam_n = G[l]
        c.lam_t = force - c.drag
        slide(m, w, m.contact_a[k], -force * m.contact_radius[k], a)
        slide(m, w, m.contact_b[k], force * m.contact_radius[k], a)


@kernel
def slide(m, w, marker, couple, a):
    """Add a couple on the body of a marker to accelerations, or loads of supports."""
    body = m.marker_body[marker]
    dof = m.body_dof[body]
    if dof >= 0:
        a[dof + 2] += w.minv[dof + 2] * couple
    else:
        w.load[m.body_support[body]][2] += couple


@far(Tables, Work, INTEGER, INTEGER, INTEGER, INTEGER, FLOATS, returns=INTEGER)
def rub(m, w, n, begin, end, is_solved, a):
    """Find the friction of the n listed pins, and add what it does; 0 if not found.

    Reactions without friction are found as well, if they are not yet.
    """
    push(m, w, n, begin, end)
    if is_solved:
        skyline.solve_four(begin, end, w.first, m.start, w.L, w.d, 4, w.response)
    else:
        for i in range(begin, end):
            w.lam[i] = w.x[i]
        skyline.solve_five(begin, end, w.first, m.start, w.L, w.d, w.response, w.lam)
    if not find_loads(m, w, n):
        return 0
    apply(m, w, n, begin, end, a)
    return 1
