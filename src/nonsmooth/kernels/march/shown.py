"""Whether nodes of a step show what a user's guards do between them.

Where nothing but a guard is quick, as of `sin(1000*x)` in free flight, no error limits
the step. Between two nodes each guard is compared with the cubic through their values
and rates, off the middle, so that no beat of nodes and guard hides it.
"""

from nonsmooth.kernels.abi import kernel
from nonsmooth.kernels.march.locate import value_at
from nonsmooth.kernels.run import N_NODE

# Place between two nodes.
PLACE = 0.382
# Part of the lower of two nodes by which a guard on one side of zero may differ from
# the cubic, and of the larger one, which round-off needs; and of the larger one where
# it crosses zero between them.
ALIKE, ROUND, ACROSS = 0.1, 1e-3, 0.25
# How much longer steps may become after each in which nodes showed all.
RELAX = 2.0


@kernel
def is_shown(m, w, watch, h, k, j):
    """Return whether guard k is as nodes j - 1 and j have it between them."""
    first, last = watch.node[j - 1][k], watch.node[j][k]
    g0, g1 = first[0], last[0]
    rate0, rate1 = first[1] * h / N_NODE, last[1] * h / N_NODE
    is_across = (g0 > 0.0) != (g1 > 0.0)
    if is_across and rate0 == 0.0 and rate1 == 0.0:
        # A jump: no step is short enough to show more.
        return True
    x, c = PLACE, 1.0 - PLACE
    cubic = c * c * ((1.0 + 2.0 * x) * g0 + x * rate0)
    cubic += x * x * ((1.0 + 2.0 * c) * g1 - c * rate1)
    low, high = min(abs(g0), abs(g1)), max(abs(g0), abs(g1))
    allowed = ACROSS * high if is_across else ALIKE * low + ROUND * high
    value = value_at(m, w, watch, h, (j - 1 + PLACE) / N_NODE, k)
    # A rate may be infinite at the end of a domain, as of a root.
    return abs(value - cubic) <= allowed or not cubic - cubic == 0.0


@kernel
def are_shown(m, w, watch, h, earliest):
    """Return whether the nodes show all user's guards before the earliest event."""
    for k in range(m.n_user):
        for j in range(1, N_NODE + 1):
            if (j - 1) / N_NODE < earliest and not is_shown(m, w, watch, h, k, j):
                return False
    return True


@kernel
def heed_guards(m, s, h, is_halved):
    """Limit the next steps to what the nodes of this one have shown."""
    if is_halved:
        s.h_shown = h
    elif m.n_user > 0:
        s.h_shown = max(s.h_shown, RELAX * h)
