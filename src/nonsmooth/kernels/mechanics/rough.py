"""Forces of rough patches: each node is open, sticks or slips.

With the gaps g of the shapes alone and the ways d along the surface since the last
step, of n nodes with the forces ln along the normal and lt along the tangent,

    0 <= ln  _|_  g + (Gnn + 1/k) ln + Gnt lt >= 0
    lt in -mu ln Sgn(d + Gtn ln + Gtt lt)        mu0 for a node that stuck in that step

A pattern says what each node does. Its forces follow from as many linear equations,
solved without exchange of rows: a pivot that is not positive means that friction is so
large that forces are not unique. Signs, cones and complementarity of all nodes are
checked; those at fault change. See docs/theory/flexible.md.

A patch remembers three arrays of n numbers: where its nodes touch a, in a's axes, or
their place on the polyline (segment and part of it) and 0; whether they stick.
"""

import math

from nonsmooth.kernels.abi import INTEGER, at, far, kernel
from nonsmooth.kernels.mechanics.nodes import (
    A_X,
    A_Y,
    AT_X,
    AT_Y,
    B_X,
    B_Y,
    CLOSED,
    GAP,
    HISTORY,
    KNOWN,
    LAM,
    LAM_T,
    MARK,
    N_PAIR,
    N_X,
    N_Y,
    OF_A,
    OF_B,
    PATIENCE,
    RIGHT,
    SEGMENT,
    SHARE,
    UNKNOWN,
    XI,
    add_along,
    add_both,
    add_give,
    between,
    clear,
    flexibility,
    met,
    n_of,
    pair_of,
    part_a,
    part_b,
)
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.tolerances import CLOSED_NODE, DEPENDENT_NODE, TINY

# What a node does: no force, no slip, slip along the tangent or against it.
OPEN_NODE, STUCK, FORWARD, BACKWARD = 0, 1, 2, 3
# What a patch remembers of a node: nothing yet, that it slipped or was open, stuck.
UNSET, SLIPPED, HELD = 0.0, 1.0, 2.0
# Arrays of n numbers behind those of the pair: ways by the shapes alone, ways, gaps;
# friction and ways where work was booked last, and in the middle of a step. Then 2 n
# forces that are solved for, 4 n columns of n numbers, the matrix.
WAY, SLIP, LEFT, BEFORE, PREVIOUS, BETWEEN, HALFWAY, SOLVED = range(8)
N_ROUGH = SOLVED + 2
MAX_CHANGE = 300
# What `solve` returns instead of a number of nodes.
NO_PATTERN, NO_PIVOT = -1, -2


@kernel
def rough_of(m, w, k, n):
    """Return the arrays behind those of the pair."""
    return at(pair_of(m, w, k, n), N_PAIR * n)


@kernel
def history_of(m, w, k):
    """Return what contact k remembers."""
    return at(w.history, m.contact_patch[k][HISTORY])


@kernel
def mu_of(m, k, state):
    """Return the coefficient of a node."""
    if state == HELD:
        return m.contact_mu0[k]
    return m.par[m.contact_friction_par[k]]


@kernel
def sign_of_slip(pattern):
    """Return the direction in which a node slips."""
    return 1.0 if pattern == FORWARD else -1.0


# ---- where nodes were ----------------------------------------------------------


@kernel
def write_ways(m, w, k, n, pair, out):
    """Write how far nodes went along the surface since they were remembered."""
    part, H = part_b(m, w, k), history_of(m, w, k)
    if m.contact_patch[k][OF_A] < 0:
        a = w.motion[m.contact_a[k]]
        c, s = math.cos(a[2]), math.sin(a[2])
        for i in range(n):
            d_x = part[AT_X * n + i] - a[0] - (c * H[i] - s * H[n + i])
            d_y = part[AT_Y * n + i] - a[1] - (s * H[i] + c * H[n + i])
            out[i] = pair[N_Y * n + i] * d_x - pair[N_X * n + i] * d_y
        return
    n_a = n_of(at(m.par, m.contact_patch[k][OF_A]))
    line = part_a(m, w, k, n)
    x, y = at(line, AT_X * n_a), at(line, AT_Y * n_a)
    for i in range(n):
        j = min(int(H[i]), n_a - 2)
        xi = H[i] - j
        d_x = part[AT_X * n + i] - x[j] - xi * (x[j + 1] - x[j])
        d_y = part[AT_Y * n + i] - y[j] - xi * (y[j + 1] - y[j])
        out[i] = pair[N_Y * n + i] * d_x - pair[N_X * n + i] * d_y


@kernel
def remember(m, w, k, n, i, give_n, give_t, H):
    """Write where node i touches, moved from its place by the shapes alone."""
    pair = pair_of(m, w, k, n)
    if m.contact_patch[k][OF_A] < 0:
        part, a = part_b(m, w, k), w.motion[m.contact_a[k]]
        n_x, n_y = pair[N_X * n + i], pair[N_Y * n + i]
        d_x = part[AT_X * n + i] - a[0] + give_n * n_x + give_t * n_y
        d_y = part[AT_Y * n + i] - a[1] + give_n * n_y - give_t * n_x
        c, s = math.cos(a[2]), math.sin(a[2])
        H[i] = c * d_x + s * d_y
        H[n + i] = c * d_y - s * d_x
        return
    remember_along(m, w, k, n, i, give_t, H)


@kernel
def remember_along(m, w, k, n, i, give_t, H):
    """Write where on a polyline node i touches, moved along it."""
    part, pair = part_b(m, w, k), pair_of(m, w, k, n)
    n_a, line = n_of(at(m.par, m.contact_patch[k][OF_A])), part_a(m, w, k, n)
    x, y = at(line, AT_X * n_a), at(line, AT_Y * n_a)
    j = w.node_mark[m.contact_patch[k][MARK] + SEGMENT * n + i]
    H[n + i] = 0.0
    if j < 0:
        # Across from nothing: it would come on at the nearer end.
        p_x, p_y = part[AT_X * n + i], part[AT_Y * n + i]
        first = math.hypot(p_x - x[0], p_y - y[0])
        last = math.hypot(p_x - x[n_a - 1], p_y - y[n_a - 1])
        H[i] = 0.0 if first < last else n_a - 1.0
        return
    length = math.hypot(x[j + 1] - x[j], y[j + 1] - y[j])
    xi = min(1.0, max(0.0, pair[XI * n + i]))
    # The tangent runs against the polyline, which has its body on the left.
    H[i] = min(max(j + xi - give_t / length, 0.0), n_a - 1.0)


# ---- flexibility ---------------------------------------------------------------


@kernel
def write_response(m, w, k, p, n, pair, j, is_along, low, high, out):
    """Write changes of gaps, then of ways, under a unit force at node j.

    Along the tangent, or the normal; nodes of a from `low` to before `high` are met.
    """
    scratch = at(pair, (RIGHT + 1) * n)
    x, y = scratch, at(scratch, n)
    clear(2 * n, scratch)
    clear(2 * n, out)
    f_x, f_y = pair[B_X * n + j], pair[B_Y * n + j]
    G = flexibility(p)
    if is_along:
        add_give(G, n, j, f_y, -f_x, 0, n, x, y)
    else:
        add_give(G, n, j, f_x, f_y, 0, n, x, y)
        out[j] += G[4 * n * n + j]
    add_along(n, at(pair, B_X * n), at(pair, B_Y * n), x, y, out)
    add_across(n, at(pair, B_X * n), at(pair, B_Y * n), x, y, at(out, n))
    if m.contact_patch[k][OF_A] < 0:
        return
    q = at(m.par, m.contact_patch[k][OF_A])
    n_a = n_of(q)
    segment = at(w.node_mark, m.contact_patch[k][MARK] + SEGMENT * n)
    # Places of a's forces, which are written later.
    line = part_a(m, w, k, n)
    x, y = at(line, 4 * n_a), at(line, 5 * n_a)
    clear(high - low, at(x, low))
    clear(high - low, at(y, low))
    G, share, l = flexibility(q), pair[SHARE * n + j], segment[j]
    f_x, f_y = pair[A_X * n + j], pair[A_Y * n + j]
    if is_along:
        f_x, f_y = f_y, -f_x
    add_both(G, n_a, l, share, f_x, f_y, low, high, x, y)
    for i in range(n):
        l, share = segment[i], pair[SHARE * n + i]
        if l >= 0:
            to_x, to_y = between(x, l, share), between(y, l, share)
            n_x, n_y = pair[A_X * n + i], pair[A_Y * n + i]
            out[i] += n_x * to_x + n_y * to_y
            out[n + i] += n_y * to_x - n_x * to_y


@kernel
def add_across(n, direction_x, direction_y, x, y, out):
    """Add the parts of displacements across given directions, turned by -90 deg."""
    for i in range(n):
        out[i] += direction_y[i] * x[i] - direction_x[i] * y[i]


# ---- one pattern ---------------------------------------------------------------


@kernel
def fill_matrix(m, w, k, n, pair, extra, columns, A, unknown, pattern, n_unknown):
    """Write matrix and right side of a pattern; slipping nodes have one unknown."""
    H, x = at(history_of(m, w, k), 2 * n), at(extra, SOLVED * n)
    for c in range(n_unknown):
        j, is_along = unknown[c] // 2, unknown[c] % 2
        column = at(columns, (4 * j + 2 * is_along) * n)
        other = at(columns, (4 * j + 2) * n)
        share = 0.0
        if pattern[j] != STUCK:
            share = -sign_of_slip(pattern[j]) * mu_of(m, k, H[j])
        for r in range(n_unknown):
            i = unknown[r] // 2 + n * (unknown[r] % 2)
            A[r * 2 * n + c] = column[i] + share * other[i]
    for r in range(n_unknown):
        i, is_along = unknown[r] // 2, unknown[r] % 2
        x[r] = -extra[WAY * n + i] if is_along else -pair[GAP * n + i]


@kernel
def eliminate(n, n_unknown, A, x, columns, unknown):
    """Solve A x = x without exchanging rows; return whether pivots are positive."""
    for c in range(n_unknown):
        row, j, is_along = at(A, c * 2 * n), unknown[c] // 2, unknown[c] % 2
        pivot, own = row[c], columns[(4 * j + 3 * is_along) * n + j]
        # Not <=: a NaN must come out.
        if not pivot > DEPENDENT_NODE * own:
            return False
        for r in range(c + 1, n_unknown):
            below = at(A, r * 2 * n)
            part = below[c] / pivot
            x[r] -= part * x[c]
            for i in range(c + 1, n_unknown):
                below[i] -= part * row[i]
    for c in range(n_unknown - 1, -1, -1):
        row, total = at(A, c * 2 * n), x[c]
        for i in range(c + 1, n_unknown):
            total -= row[i] * x[i]
        x[c] = total / row[c]
    return True


@kernel
def write_forces(m, w, k, n, pair, extra, columns, unknown, pattern, n_unknown):
    """Write forces, gaps and ways of all nodes from what was solved for."""
    H, x = at(history_of(m, w, k), 2 * n), at(extra, SOLVED * n)
    lam, along = at(pair, LAM * n), at(pair, LAM_T * n)
    gap, way = at(extra, LEFT * n), at(extra, SLIP * n)
    for i in range(n):
        lam[i] = 0.0
        along[i] = 0.0
        gap[i] = pair[GAP * n + i]
        way[i] = extra[WAY * n + i]
    for c in range(n_unknown):
        j = unknown[c] // 2
        if unknown[c] % 2:
            along[j] = x[c]
            continue
        lam[j] = x[c]
        if pattern[j] != STUCK:
            along[j] = -sign_of_slip(pattern[j]) * mu_of(m, k, H[j]) * x[c]
    for j in range(n):
        if pattern[j] == OPEN_NODE:
            continue
        press, rub = at(columns, 4 * j * n), at(columns, (4 * j + 2) * n)
        f, f_t = lam[j], along[j]
        for i in range(n):
            gap[i] += f * press[i] + f_t * rub[i]
        press, rub = at(press, n), at(rub, n)
        for i in range(n):
            way[i] += f * press[i] + f_t * rub[i]


@kernel
def judge(m, w, k, n, pair, extra, pattern, is_one):
    """Change nodes that break a condition, or the last of them; return how many."""
    H = at(history_of(m, w, k), 2 * n)
    deepest, largest = 0.0, 0.0
    for i in range(n):
        deepest = max(deepest, -pair[GAP * n + i])
        largest = max(largest, abs(pair[LAM * n + i]))
    n_fault, last, wanted = 0, -1, 0
    for i in range(n):
        lam, along = pair[LAM * n + i], pair[LAM_T * n + i]
        way, own, new = extra[SLIP * n + i], pattern[i], pattern[i]
        if own == OPEN_NODE:
            is_met = pair[N_X * n + i] != 0.0 or pair[N_Y * n + i] != 0.0
            if is_met and extra[LEFT * n + i] < -CLOSED_NODE * deepest:
                new = FORWARD if way > 0.0 else BACKWARD
        elif lam < 0.0:
            new = OPEN_NODE
        elif own == STUCK:
            limit = mu_of(m, k, H[i]) * lam
            if abs(along) > limit + CLOSED_NODE * largest + TINY:
                new = BACKWARD if along > 0.0 else FORWARD
        elif sign_of_slip(own) * way < -CLOSED_NODE * deepest:
            new = STUCK
        if new != own:
            n_fault += 1
            last, wanted = i, new
            if not is_one:
                pattern[i] = new
    if is_one and last >= 0:
        pattern[last] = wanted
    return n_fault


@kernel
def first_pattern(n, pair, extra, pattern, known):
    """Begin with the last pattern, or with the nodes that overlap, slipping."""
    n_closed = 0
    for i in range(n):
        known[i] = 0
        if pair[N_X * n + i] == 0.0 and pair[N_Y * n + i] == 0.0:
            pattern[i] = OPEN_NODE
        n_closed += 1 if pattern[i] != OPEN_NODE else 0
    if n_closed == 0:
        for i in range(n):
            if pair[GAP * n + i] < 0.0:
                pattern[i] = FORWARD if extra[WAY * n + i] > 0.0 else BACKWARD


@far(Tables, Work, INTEGER, returns=INTEGER)
def solve(m, w, k):
    """Write the forces of all nodes; return how many are closed, or why not.

    The pattern starts from the last. All nodes at fault change together while that
    helps, else the last of them alone.
    """
    p = at(m.par, m.contact_patch[k][OF_B])
    n = n_of(p)
    pair, extra = pair_of(m, w, k, n), rough_of(m, w, k, n)
    columns = at(extra, N_ROUGH * n)
    A = at(columns, 4 * n * n)
    marks = at(w.node_mark, m.contact_patch[k][MARK])
    pattern, known = at(marks, CLOSED * n), at(marks, KNOWN * n)
    unknown = at(marks, UNKNOWN * n)
    write_ways(m, w, k, n, pair, at(extra, WAY * n))
    first_pattern(n, pair, extra, pattern, known)
    low, high = met(m, w, k, n)
    best, patience, status = 2 * n, PATIENCE, NO_PATTERN
    for _ in range(MAX_CHANGE):
        n_unknown, n_closed = 0, 0
        for i in range(n):
            if pattern[i] == OPEN_NODE:
                continue
            n_closed += 1
            unknown[n_unknown] = 2 * i
            n_unknown += 1
            if pattern[i] == STUCK:
                unknown[n_unknown] = 2 * i + 1
                n_unknown += 1
            if not known[i]:
                for c in range(2):
                    to = at(columns, (4 * i + 2 * c) * n)
                    write_response(m, w, k, p, n, pair, i, c, low, high, to)
                known[i] = 1
        fill_matrix(m, w, k, n, pair, extra, columns, A, unknown, pattern, n_unknown)
        x = at(extra, SOLVED * n)
        if not eliminate(n, n_unknown, A, x, columns, unknown):
            status = NO_PIVOT
            break
        write_forces(m, w, k, n, pair, extra, columns, unknown, pattern, n_unknown)
        n_fault = judge(m, w, k, n, pair, extra, pattern, patience == 0)
        if n_fault == 0:
            return n_closed
        if n_fault < best:
            best, patience = n_fault, PATIENCE
        elif patience > 0:
            patience -= 1
    for i in range(n):
        if pattern[i] != OPEN_NODE:
            pair[LAM * n + i] = math.nan
    return status
