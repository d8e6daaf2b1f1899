"""Gaps that dip between two nodes: what passes a corner there.

The distance of a point from a convex shape is a convex function of its place. Seen from
the shape it moves with an acceleration of at most A, so that between two nodes with
values g and rates r

    gap(t) >= g0 + r0 t - A t^2/2,    gap(t) >= g1 - r1 (h - t) - A (h - t)^2/2

where of an outline that turns another corner may come in faster: r0 - S and r1 + S, S
being the largest difference of their speeds. If the larger of the two is positive all
the way, nothing touches. Else the gap is looked at where both are lowest, and the same
is asked on either side, until that is answered. Not so for lines: gaps to them turn no
faster than bodies move.
"""

import math

from nonsmooth.kernels.abi import kernel, stack_floats
from nonsmooth.kernels.friction.modes import OPEN
from nonsmooth.kernels.march.between import NONE
from nonsmooth.kernels.march.inside import one_on_dense
from nonsmooth.kernels.mechanics.tables import GAP
from nonsmooth.kernels.run import N_NODE

# Looks at one gap between two nodes; fraction of a step of the thinnest dip.
MOST, THINNEST = 60, 1e-9
# Gap at an event, as a part of the model's size, that has jumped; part of a step beside
# it.
LEAP, BESIDE = 1e-9, 1e-9
# Intervals that wait, three numbers each, for which there is room in `dip_between`.
WAITING = 40


@kernel
def bends(m, w, k):
    """Return whether guard k is the gap of an open contact that is not with a line."""
    if k < m.n_user or m.watch_kind[k] != GAP:
        return False
    owner = m.watch_owner[k]
    return m.contact_reach[owner] >= 0.0 and w.mode[owner].side == OPEN


@kernel
def note_bends(m, w, watch, is_first):
    """Keep the largest accelerations of open contacts, and how fast corners swing."""
    for k in range(m.n_touch):
        reach = m.contact_reach[k]
        if reach < 0.0 or w.mode[k].side != OPEN:
            continue
        a, b = w.motion[m.contact_a[k]], w.motion[m.contact_b[k]]
        apart = math.hypot(b[0] - a[0], b[1] - a[1])
        speed = math.hypot(b[3] - a[3], b[4] - a[4])
        most = math.hypot(b[6] - a[6], b[7] - a[7])
        most += 2.0 * abs(a[5]) * speed + (a[5] * a[5] + abs(a[8])) * apart
        spin = abs(b[5] - a[5])
        most += reach * (spin * spin + abs(b[8] - a[8]))
        if is_first:
            watch.bend[k] = 0.0
            watch.swing[k] = 0.0
        watch.bend[k] = max(watch.bend[k], most)
        watch.swing[k] = max(watch.swing[k], 2.0 * reach * spin)


@kernel
def lowest(g0, r0, g1, r1, h, most):
    """Return where in a time h a gap may be lowest, and a bound of it there.

    None, h itself, where it is not below both ends.
    """
    sway = 0.5 * most * h * h
    down, along = g0 - g1 + r1 * h + sway, (r0 - r1 - most * h) * h
    x = -down / along if along != 0.0 else 1.0
    if not 0.0 < x < 1.0:
        return 1.0, min(g0, g1)
    return x, g0 + r0 * h * x - sway * x * x


@kernel
def dip(m, w, watch, h, k, j):
    """Fraction where gap k is not positive between nodes j - 1 and j, or NONE.

    Both are positive; `guard` has its value there.
    """
    first, last = watch.node[j - 1][k], watch.node[j][k]
    x0, x1 = (j - 1) / N_NODE, j / N_NODE
    return dip_between(m, w, watch, h, k, x0, first[0], first[1], x1, last[0], last[1])


@kernel
def dip_before(m, w, watch, h, k, j, x):
    """Fraction where gap k is not positive before it jumps at x after node j - 1.

    NONE if it does not jump there, or is positive until then.
    """
    x1 = x - BESIDE
    first = watch.node[j - 1][k]
    x0 = (j - 1) / N_NODE
    if not x1 > x0:
        return NONE
    one_on_dense(m, w, watch, h, x1, k)
    g, r = watch.guard[k][0], watch.guard[k][1]
    if not g > LEAP * watch.step.set.size:
        return NONE
    return dip_between(m, w, watch, h, k, x0, first[0], first[1], x1, g, r)


@kernel
def dip_between(m, w, watch, h, k, x0, g0, r0, x1, g1, r1):
    """Fraction where gap k, positive at x0 and x1, is not so between them, or NONE."""
    most, swing = watch.bend[m.watch_owner[k]], watch.swing[m.watch_owner[k]]
    wait = stack_floats(120)
    n, left = 0, MOST
    while True:
        x, bound = lowest(g0, r0 - swing, g1, r1 + swing, (x1 - x0) * h, most)
        if bound <= 0.0 and x1 - x0 > THINNEST and left > 0 and n < WAITING:
            left -= 1
            # Not too near an end, where bounds are poor.
            x = x0 + min(max(x, 0.1), 0.9) * (x1 - x0)
            one_on_dense(m, w, watch, h, x, k)
            g, r = watch.guard[k][0], watch.guard[k][1]
            if not g > 0.0:
                return x
            wait[3 * n] = x1
            wait[3 * n + 1] = g1
            wait[3 * n + 2] = r1
            n += 1
            x1, g1, r1 = x, g, r
            continue
        if n == 0:
            return NONE
        n -= 1
        x0, g0, r0 = x1, g1, r1
        x1, g1, r1 = wait[3 * n], wait[3 * n + 1], wait[3 * n + 2]
