"""One guard, or all, at a fraction of a step, on its dense output."""

from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, floats, kernel
from nonsmooth.kernels.look import spend
from nonsmooth.kernels.march import steps
from nonsmooth.kernels.march.guards import (
    contact_guards,
    evaluate,
    is_reaction,
    user_guard,
)
from nonsmooth.kernels.mechanics import bodies, contacts
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import Watch


@far(Tables, Work, Watch, NUMBER, NUMBER, floats("n_watch, 2"))
def on_dense(m, w, watch, h, x, out):
    """Value and rate of every guard at the fraction x of the step."""
    s = watch.step
    watch.is_at_end = 0
    steps.on_dense(m, s, x, watch.dense)
    steps.rate_on_dense(m, s, h, x, watch.rate)
    t = min(s.t + x * h, s.t_cap)
    # Of factors most; rows of a mean width.
    spend(s.look, 100 * m.n_watch + m.n_profile * m.n_profile // max(m.n_row, 1))
    evaluate(m, w, t, watch.dense, watch.rate, s.d, s.set.size, out)


@kernel
def follow(m, w, watch, h, x, t, i):
    """Move marker i alone to the fraction x of the step."""
    k = m.marker_body[i]
    support = m.body_support[k]
    if support < 0:
        steps.body_on_dense(m, watch.step, h, x, k, watch.dense, watch.rate)
    else:
        first = m.support_law[support]
        for law in range(first, first + 3 if first >= 0 else first):
            bodies.time_law(m, w, t, law)
        bodies.move_support(m, w, support)
    bodies.turn_body(m, w, watch.dense, k)
    bodies.move_marker(m, w, watch.dense, at(watch.dense, m.n_dof), i)
    bodies.accelerate_marker(m, w, watch.rate, i)


@far(Tables, Work, Watch, NUMBER, NUMBER, INTEGER)
def one_on_dense(m, w, watch, h, x, k):
    """Value and rate of guard k at the fraction x of the step, in `guard`.

    One that is no reaction needs the motion of its two bodies only.
    """
    if is_reaction(m, w, k):
        on_dense(m, w, watch, h, x, watch.guard)
        return
    s = watch.step
    watch.is_at_end = 0
    t = min(s.t + x * h, s.t_cap)
    if k < m.n_user:
        follow(m, w, watch, h, x, t, m.guard_a[k])
        follow(m, w, watch, h, x, t, m.guard_b[k])
        user_guard(m, w, t, k, watch.guard)
        return
    i = m.watch_owner[k]
    follow(m, w, watch, h, x, t, m.contact_a[i])
    follow(m, w, watch, h, x, t, m.contact_b[i])
    state = m.contact_state[i]
    if state >= 0:
        steps.state_on_dense(m, w, s, x, state)
    contacts.contact(m, w, i)
    contact_guards(m, w, i, s.set.size, watch.guard)


@kernel
def value_at(m, w, watch, h, x, k):
    """Return guard k at the fraction x of the step."""
    one_on_dense(m, w, watch, h, x, k)
    return watch.guard[k][0]
