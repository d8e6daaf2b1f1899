"""The patch of another flexible body as a polyline that nodes of b press on.

A node of b at p, across from the part xi of the segment d = x_(j+1) - x_j of length l,
has the gap g, normal n and tangent tau,

    g = n.(p - x_j)    n = (d_y, -d_x)/l    tau = -d/l    xi = d.(p - x_j)/l^2

What a gives there is U = U_j + W (U_(j+1) - U_j), W = 3 xi^2 - 2 xi^3. Were W = xi, the
energy V of the flexibility would have kinks at nodes of a, which draw what touches to
them and hold it by jumps alone.

V depends on n and xi as well, through place and direction of the forces f on b and -f
on a. With what nodes of b and a give under f and under +f, u and U, each node with a
force adds to the forces -dV/dq

    front = -f.(U_(j+1) - U_j) W'(xi)/l           on b along tau, reversed on a, by xi
    couple e = u x f                              on b
    couple E = U x f                              on the frame of a
    couple -e - E + f.tau n.(p - x_h) + front g   on the segment, n/l at its two nodes

so that all of it together turns nothing. Friction acts on a where the node remembers
to touch it, x_h. See docs/theory/flexible.md.
"""

import math

from nonsmooth.kernels.abi import at, kernel
from nonsmooth.kernels.mechanics.nodes import (
    A_X,
    A_Y,
    AT_X,
    AT_Y,
    F_X,
    F_Y,
    FRONT,
    GAP,
    GIVE_X,
    GIVE_Y,
    HISTORY,
    LAM,
    LAM_T,
    LEFT,
    MARK,
    N_X,
    N_Y,
    OF_A,
    SEGMENT,
    SHARE,
    XI,
    add_both,
    between,
    clear,
    flexibility,
    met,
    n_of,
    part_a,
)

# ---- gaps ----------------------------------------------------------------------


@kernel
def find_segment(n_a, x, y, p_x, p_y, j):
    """Return the segment of a polyline that a point is across from, from j on; -1."""
    came = 0
    for _ in range(2 * n_a):
        d_x, d_y = x[j + 1] - x[j], y[j + 1] - y[j]
        along = (p_x - x[j]) * d_x + (p_y - y[j]) * d_y
        step = 0
        if along < 0.0:
            step = -1
        elif along > d_x * d_x + d_y * d_y:
            step = 1
        # Between two segments, at a corner that points outwards, either will do.
        if step == 0 or step == -came:
            return j
        if j + step < 0 or j + step > n_a - 2:
            return -1
        j += step
        came = step
    return -1


@kernel
def write_gaps(m, w, k, n, part, pair):
    """Write gaps and normals of nodes against the patch of another body.

    Its nodes follow each other with the body on their left. A node that is across from
    no segment is as far as the nearer end, has no normal, and cannot press.
    """
    q = at(m.par, m.contact_patch[k][OF_A])
    n_a, line = n_of(q), part_a(m, w, k, n)
    x, y = at(line, AT_X * n_a), at(line, AT_Y * n_a)
    segment = at(w.node_mark, m.contact_patch[k][MARK] + SEGMENT * n)
    last = 0
    for i in range(n):
        p_x, p_y = part[AT_X * n + i], part[AT_Y * n + i]
        j = find_segment(n_a, x, y, p_x, p_y, last)
        segment[i] = j
        if j < 0:
            first = math.hypot(p_x - x[0], p_y - y[0])
            second = math.hypot(p_x - x[n_a - 1], p_y - y[n_a - 1])
            pair[GAP * n + i] = min(first, second)
            pair[N_X * n + i] = 0.0
            pair[N_Y * n + i] = 0.0
            continue
        last = j
        d_x, d_y = x[j + 1] - x[j], y[j + 1] - y[j]
        length = math.sqrt(d_x * d_x + d_y * d_y)
        n_x, n_y = d_y / length, -d_x / length
        xi = ((p_x - x[j]) * d_x + (p_y - y[j]) * d_y) / (length * length)
        pair[XI * n + i] = xi
        xi = min(1.0, max(0.0, xi))
        pair[SHARE * n + i] = xi * xi * (3.0 - 2.0 * xi)
        pair[GAP * n + i] = n_x * (p_x - x[j]) + n_y * (p_y - y[j])
        pair[N_X * n + i] = n_x
        pair[N_Y * n + i] = n_y


# ---- forces --------------------------------------------------------------------


@kernel
def force_on(pair, n, i):
    """Return the force on node i of b, in the axes of a."""
    lam, along = pair[LAM * n + i], pair[LAM_T * n + i]
    n_x, n_y = pair[A_X * n + i], pair[A_Y * n + i]
    return lam * n_x + along * n_y, lam * n_y - along * n_x


@kernel
def touched(n_a, place):
    """Return segment, and part of it, of a place on a polyline."""
    j = min(int(place), n_a - 2)
    return j, place - j


@kernel
def give_way(m, w, k, n, pair):
    """Write what a's nodes give under the forces on b, in a's axes, at its forces."""
    q = at(m.par, m.contact_patch[k][OF_A])
    n_a, line, G = n_of(q), part_a(m, w, k, n), flexibility(q)
    segment = at(w.node_mark, m.contact_patch[k][MARK] + SEGMENT * n)
    low, high = met(m, w, k, n)
    x, y = at(line, F_X * n_a), at(line, F_Y * n_a)
    clear(high - low, at(x, low))
    clear(high - low, at(y, low))
    for i in range(n):
        if pair[LAM * n + i] != 0.0:
            f_x, f_y = force_on(pair, n, i)
            share = pair[SHARE * n + i]
            add_both(G, n_a, segment[i], share, f_x, f_y, low, high, x, y)


@kernel
def turn_segments(m, w, k, n, part, pair):
    """Write forces for the turn of segments and the way along them; return two couples.

    That on b, and the reversed one on the frame of a. What a's nodes give is known;
    the force of a segment's couple is left with each node.
    """
    q = at(m.par, m.contact_patch[k][OF_A])
    n_a, line = n_of(q), part_a(m, w, k, n)
    segment = at(w.node_mark, m.contact_patch[k][MARK] + SEGMENT * n)
    x, y = at(line, AT_X * n_a), at(line, AT_Y * n_a)
    to_x, to_y = at(line, F_X * n_a), at(line, F_Y * n_a)
    is_rough = m.contact_patch[k][HISTORY] >= 0
    H = at(w.history, max(m.contact_patch[k][HISTORY], 0))
    on_b, on_a = 0.0, 0.0
    for i in range(n):
        pair[FRONT * n + i] = 0.0
        pair[LEFT * n + i] = 0.0
        if pair[LAM * n + i] == 0.0:
            continue
        j, share = segment[i], pair[SHARE * n + i]
        length = math.hypot(x[j + 1] - x[j], y[j + 1] - y[j])
        f_x, f_y = force_on(pair, n, i)
        d_x, d_y = to_x[j + 1] - to_x[j], to_y[j + 1] - to_y[j]
        xi = min(1.0, max(0.0, pair[XI * n + i]))
        front = -6.0 * xi * (1.0 - xi) * (f_x * d_x + f_y * d_y) / length
        turn = between(to_x, j, share) * f_y - between(to_y, j, share) * f_x
        on_a -= turn
        own = pair[GIVE_X * n + i] * part[F_Y * n + i]
        own -= pair[GIVE_Y * n + i] * part[F_X * n + i]
        on_b += own
        couple = front * pair[GAP * n + i] - own - turn
        if is_rough:
            l, part_of = touched(n_a, H[i])
            r_x = part[AT_X * n + i] - between(x, l, part_of)
            r_y = part[AT_Y * n + i] - between(y, l, part_of)
            beside = pair[N_X * n + i] * r_x + pair[N_Y * n + i] * r_y
            couple += pair[LAM_T * n + i] * beside
        pair[FRONT * n + i] = front
        pair[LEFT * n + i] = couple / length
    return on_b, on_a


@kernel
def write_forces(m, w, k, n, pair):
    """Write the forces on a's nodes, in a's axes."""
    q = at(m.par, m.contact_patch[k][OF_A])
    n_a, line = n_of(q), part_a(m, w, k, n)
    segment = at(w.node_mark, m.contact_patch[k][MARK] + SEGMENT * n)
    to_x, to_y = at(line, F_X * n_a), at(line, F_Y * n_a)
    is_rough = m.contact_patch[k][HISTORY] >= 0
    H = at(w.history, max(m.contact_patch[k][HISTORY], 0))
    clear(n_a, to_x)
    clear(n_a, to_y)
    for i in range(n):
        if pair[LAM * n + i] == 0.0:
            continue
        j, xi, turn = segment[i], pair[XI * n + i], pair[LEFT * n + i]
        n_x, n_y = pair[A_X * n + i], pair[A_Y * n + i]
        lam, front = pair[LAM * n + i], pair[FRONT * n + i]
        f_x, f_y = lam * n_x + front * n_y, lam * n_y - front * n_x
        to_x[j] += turn * n_x - (1.0 - xi) * f_x
        to_y[j] += turn * n_y - (1.0 - xi) * f_y
        to_x[j + 1] -= turn * n_x + xi * f_x
        to_y[j + 1] -= turn * n_y + xi * f_y
        if is_rough:
            along = pair[LAM_T * n + i]
            l, part_of = touched(n_a, H[i])
            to_x[l] -= (1.0 - part_of) * along * n_y
            to_y[l] += (1.0 - part_of) * along * n_x
            to_x[l + 1] -= part_of * along * n_y
            to_y[l + 1] += part_of * along * n_x
