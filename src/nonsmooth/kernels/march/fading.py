"""Where a motion dies away: slips that are round-off are rest, without a guard's zero.

A slide that a damper brings to its end has no zero of its slip to be found, only ever
less of it, and leaves friction at its limit. In the end slip and acceleration are both
round-off, of either sign. So after each step that ends with such a slip all is decided
again, as at an event.
"""

from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, kernel
from nonsmooth.kernels.friction import slides
from nonsmooth.kernels.friction.modes import PRESSING, STICK, copy_mode, is_slipping
from nonsmooth.kernels.friction.response import slip_compliance
from nonsmooth.kernels.friction.rest import (
    DECIDED,
    accelerations,
    activate,
    no_acceleration,
)
from nonsmooth.kernels.friction.settle import is_at_rest
from nonsmooth.kernels.march.guards import limit_at_rest, round_off
from nonsmooth.kernels.march.switch import decide_anew, guard_again, look_again
from nonsmooth.kernels.mechanics import contacts, dynamics, reactions
from nonsmooth.kernels.mechanics.contacts import has_friction
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import Decision, Watch


@kernel
def no_gain(m, w, r, k):
    """Return the acceleration of contact k that tells nothing of its slip to come.

    A stiff contact that presses feels the round-off of places besides.
    """
    free = slip_compliance(m, w, k, r.step.d)
    none = no_acceleration(m, w, r, k, free)
    if k >= m.n_touch:
        return none
    return none + free * round_off(m, w, k, w.contact[k].lam_n, r.step.set.size)


@kernel
def has_faded(m, w, r):
    """Return whether a contact still slips by round-off, and does not gain speed."""
    for k in range(m.n_contact):
        mode = w.mode[k]
        slips = has_friction(m, k) and mode.side == PRESSING and is_slipping(mode)
        if slips and m.contact_band[k] == 0.0 and is_at_rest(m, w, k):
            gain = mode.sign * contacts.slip_acceleration(m, w, k)
            if gain <= no_gain(m, w, r, k):
                return True
    return False


@kernel
def is_as_it_was(m, w, r):
    """Return whether all contacts have the mode that was kept."""
    for k in range(m.n_contact):
        mode, kept = w.mode[k], r.kept[k]
        if mode.side != kept.side or mode.grip != kept.grip or mode.sign != kept.sign:
            return False
    return True


@kernel
def holds_more(m, w, r, t):
    """Return whether a contact that has come to rest needs more friction than it has.

    As its guard will have it, which would let it go at once.
    """
    for i in range(m.n_y):
        r.ahead[i] = r.step.y[i]
    accelerations(m, w, r, t)
    for k in range(m.n_touch):
        mode = w.mode[k]
        has_stopped = mode.grip == STICK and is_slipping(r.kept[k])
        if not has_stopped or slides.is_shared(m, w, m.contact_group[k]):
            continue
        if abs(w.contact[k].lam_t) > limit_at_rest(m, w, k, r.step.set.size):
            return True
    return False


@far(Tables, Work, Watch, Decision, NUMBER, returns=INTEGER)
def fade(m, w, watch, r, t):
    """Decide all contacts again where a slip has faded, by the speeds it fades from.

    Returns 1 if the mode changed, 0 if not, -1 if undecided. What slips by round-off
    only because friction can hardly move it goes on until friction holds it.
    """
    s = r.step
    v, before = at(s.y, m.n_dof), watch.rate
    for i in range(m.n_dof):
        before[i] = v[i]
    for k in range(m.n_contact):
        copy_mode(w.mode[k], r.kept[k])
    look_again(m, w, r, t)
    r.status = decide_anew(m, w, r, t)
    if r.status != DECIDED:
        return -1
    if not is_as_it_was(m, w, r) and not holds_more(m, w, r, t):
        guard_again(m, watch, r, True)
        return 1
    for i in range(m.n_dof):
        v[i] = before[i]
    for k in range(m.n_contact):
        copy_mode(r.kept[k], w.mode[k])
    activate(m, w)
    dynamics.configure(m, w, t, s.y, v)
    reactions.factor_rows(m, w)
    return 0
