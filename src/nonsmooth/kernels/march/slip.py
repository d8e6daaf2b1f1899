"""What rough patches remember, from step to step.

Within a step the friction of a node depends on how far it went since the step began,
and on whether it stuck before. Both are frozen in the step and follow when it is
recorded: what turns back, or no longer sticks, is noticed by up to a step late, which
neither the estimate of the step sees nor the ledger.

The work of friction is booked at the end of each step, node by node: force times way,
both taken as quadratics through start, middle and end. Nodes that close have no force
until then: the middle tells. Where a force jumps, as coefficients do, it goes linearly
with the way, because nodes give way so.
"""

from nonsmooth.kernels.abi import NUMBER, at, far, kernel
from nonsmooth.kernels.friction.modes import PRESSING
from nonsmooth.kernels.march import steps
from nonsmooth.kernels.mechanics import contacts, dynamics, rough
from nonsmooth.kernels.mechanics.nodes import (
    CLOSED,
    GAP,
    HISTORY,
    LAM_T,
    MARK,
    OF_B,
    n_of,
    pair_of,
)
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import Step


@kernel
def rubs(m, w, k):
    """Return whether contact k is a rough patch that presses."""
    return m.contact_patch[k][HISTORY] >= 0 and w.mode[k].side == PRESSING


@kernel
def is_rubbing(m, w):
    """Return whether some rough patch presses."""
    for k in range(m.n_touch):
        if rubs(m, w, k):
            return True
    return False


@kernel
def remembered(m, s, k):
    """Return what contact k remembers, in the state."""
    return at(s.y, m.n_y - m.n_history + m.contact_patch[k][HISTORY])


@far(Tables, Work, Step)
def begin(m, w, s):
    """Let patches that have touched remember where their nodes are; open ones forget.

    A node that has just closed has the friction of motion.
    """
    is_configured = False
    for k in range(m.n_touch):
        if m.contact_patch[k][HISTORY] < 0:
            continue
        n, H = n_of(at(m.par, m.contact_patch[k][OF_B])), remembered(m, s, k)
        state = at(H, 2 * n)
        if not rubs(m, w, k):
            for i in range(n):
                state[i] = rough.UNSET
            continue
        if state[0] != rough.UNSET:
            continue
        if not is_configured:
            dynamics.configure(m, w, min(s.t, s.t_cap), s.y, at(s.y, m.n_dof))
            is_configured = True
        for i in range(n):
            rough.remember(m, w, k, n, i, 0.0, 0.0, H)
            state[i] = rough.SLIPPED
    contacts.recall(m, w, s.y)


@kernel
def done(m, w, k):
    """Return the work of friction since forces and ways were kept, and keep them.

    By the trapezoidal rule.
    """
    n = n_of(at(m.par, m.contact_patch[k][OF_B]))
    along, extra = at(pair_of(m, w, k, n), LAM_T * n), rough.rough_of(m, w, k, n)
    way = at(extra, rough.SLIP * n)
    before, previous = at(extra, rough.BEFORE * n), at(extra, rough.PREVIOUS * n)
    total = 0.0
    for i in range(n):
        total += 0.5 * (before[i] + along[i]) * (way[i] - previous[i])
        before[i] = along[i]
        previous[i] = way[i]
    return total


@kernel
def keep_middle(m, w, k):
    """Keep forces and ways in the middle of a step."""
    n = n_of(at(m.par, m.contact_patch[k][OF_B]))
    along, extra = at(pair_of(m, w, k, n), LAM_T * n), rough.rough_of(m, w, k, n)
    for i in range(n):
        extra[rough.BETWEEN * n + i] = along[i]
        extra[rough.HALFWAY * n + i] = extra[rough.SLIP * n + i]


@kernel
def done_in_step(m, w, k):
    """Return the work of friction over a step, and keep forces and ways at its end.

    Simpson's rule for force times rate is exact for both as quadratics.
    """
    n = n_of(at(m.par, m.contact_patch[k][OF_B]))
    along, extra = at(pair_of(m, w, k, n), LAM_T * n), rough.rough_of(m, w, k, n)
    way, halfway = at(extra, rough.SLIP * n), at(extra, rough.HALFWAY * n)
    before, previous = at(extra, rough.BEFORE * n), at(extra, rough.PREVIOUS * n)
    between, total = at(extra, rough.BETWEEN * n), 0.0
    for i in range(n):
        first, second = halfway[i] - previous[i], way[i] - halfway[i]
        total += before[i] * (3.0 * first - second)
        total += 4.0 * between[i] * (first + second)
        total += along[i] * (3.0 * second - first)
        before[i] = along[i]
        previous[i] = way[i]
    return total / 6.0


@far(Tables, Work)
def keep_friction(m, w):
    """Let work be booked from here on."""
    for k in range(m.n_touch):
        if rubs(m, w, k):
            done(m, w, k)


@far(Tables, Work, Step, NUMBER)
def book(m, w, s, h):
    """Book the work of friction over a step of size h, along its dense output.

    The end is evaluated last.
    """
    steps.on_dense(m, s, 0.5, s.stage)
    steps.evaluate(m, w, s, s.t + 0.5 * h, s.stage, s.d)
    for k in range(m.n_touch):
        if rubs(m, w, k):
            keep_middle(m, w, k)
    steps.evaluate(m, w, s, s.t + h, s.y1, s.d)
    for k in range(m.n_touch):
        if rubs(m, w, k):
            entry = 2 * m.n_dof + m.n_state + m.contact_work[k]
            total = done_in_step(m, w, k)
            s.C[0][entry] += total
            s.y1[entry] += total


@far(Tables, Work, Step)
def commit(m, w, s):
    """Let patches remember the end of the step, which was evaluated last; write y'.

    A node that sticks no longer has less friction at once, and gives way at once.
    """
    for k in range(m.n_touch):
        if not rubs(m, w, k):
            continue
        n, H = n_of(at(m.par, m.contact_patch[k][OF_B])), remembered(m, s, k)
        pair, extra = pair_of(m, w, k, n), rough.rough_of(m, w, k, n)
        pattern = at(w.node_mark, m.contact_patch[k][MARK] + CLOSED * n)
        state, previous = at(H, 2 * n), at(extra, rough.PREVIOUS * n)
        for i in range(n):
            if pattern[i] == rough.STUCK:
                state[i] = rough.HELD
                continue
            state[i] = rough.SLIPPED
            # Open nodes give way as well, under the forces of others.
            give_n = extra[rough.LEFT * n + i] - pair[GAP * n + i]
            give_t = extra[rough.SLIP * n + i] - extra[rough.WAY * n + i]
            rough.remember(m, w, k, n, i, give_n, give_t, H)
            previous[i] = 0.0
    contacts.recall(m, w, s.y)
    steps.evaluate(m, w, s, s.t, s.y, s.K[0])
    for k in range(m.n_touch):
        if rubs(m, w, k):
            entry = 2 * m.n_dof + m.n_state + m.contact_work[k]
            s.y[entry] += done(m, w, k)
