"""Whether nodes of a step show what guards do between them.

Where nothing but a guard is quick, as of `sin(1000*x)` in free flight, or the gap to a
support that shakes while nothing else moves, no error limits the step. Between two
nodes such a guard is compared with the cubic through their values and rates, off the
middle, so that no beat of nodes and guard hides it.
"""

from nonsmooth.kernels.abi import kernel
from nonsmooth.kernels.friction.modes import PRESSING
from nonsmooth.kernels.march.inside import value_at
from nonsmooth.kernels.mechanics.tables import GAP
from nonsmooth.kernels.run import N_NODE
from nonsmooth.kernels.tolerances import CLOSED

# Place between two nodes.
PLACE = 0.382
# Part of the lower of two nodes by which a guard on one side of zero may differ from
# the cubic, and of the larger one, which round-off needs; and of the larger one where
# it crosses zero between them.
ALIKE, ROUND, ACROSS = 0.1, 1e-3, 0.25
# How much longer steps may become after each in which nodes showed all.
RELAX = 2.0


@kernel
def is_moved(m, marker):
    """Return whether a marker's body is a support that laws of time move."""
    support = m.body_support[m.marker_body[marker]]
    return support >= 0 and m.support_law[support] >= 0


@kernel
def has_back(m, k):
    """Return whether guard k is the gap to a segment, which jumps below its ends."""
    return k >= m.n_user and m.contact_face[m.watch_owner[k]] >= 0


@kernel
def is_led(m, w, k):
    """Return whether guard k is a gap to a support that moves, and no force tells."""
    owner = m.watch_owner[k]
    if m.watch_kind[k] != GAP or w.mode[owner].side == PRESSING:
        return False
    a, b = m.contact_a[owner], m.contact_b[owner]
    return is_moved(m, a) or is_moved(m, b)


@kernel
def is_shown(m, w, watch, h, k, j, least):
    """Return whether guard k is as nodes j - 1 and j have it, but for `least`."""
    first, last = watch.node[j - 1][k], watch.node[j][k]
    g0, g1 = first[0], last[0]
    rate0, rate1 = first[1] * h / N_NODE, last[1] * h / N_NODE
    is_across = (g0 > 0.0) != (g1 > 0.0)
    if is_across and ((rate0 == 0.0 and rate1 == 0.0) or has_back(m, k)):
        # A jump: no step is short enough to show more.
        return True
    x, c = PLACE, 1.0 - PLACE
    cubic = c * c * ((1.0 + 2.0 * x) * g0 + x * rate0)
    cubic += x * x * ((1.0 + 2.0 * c) * g1 - c * rate1)
    low, high = min(abs(g0), abs(g1)), max(abs(g0), abs(g1))
    allowed = ACROSS * high if is_across else ALIKE * low + ROUND * high
    allowed = max(allowed, least)
    value = value_at(m, w, watch, h, (j - 1 + PLACE) / N_NODE, k)
    # A rate may be infinite at the end of a domain, as of a root.
    return abs(value - cubic) <= allowed or not cubic - cubic == 0.0


@kernel
def are_shown(m, w, watch, h, earliest):
    """Return whether the nodes show what guards do before the earliest event.

    Those of users, and gaps to supports that move.
    """
    for k in range(m.n_watch):
        if k >= m.n_user and not is_led(m, w, k):
            continue
        least = 0.0 if k < m.n_user else CLOSED * watch.step.set.size
        for j in range(1, N_NODE + 1):
            if (j - 1) / N_NODE >= earliest:
                break
            if not is_shown(m, w, watch, h, k, j, least):
                return False
    return True


@kernel
def heed_guards(s, h, is_halved):
    """Limit the next steps to what the nodes of this one have shown."""
    if is_halved:
        s.h_shown = h
    else:
        s.h_shown = max(s.h_shown, RELAX * h)
