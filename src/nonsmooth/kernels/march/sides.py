"""Sides of guards at the ends of a step, and who is past zero there."""

from nonsmooth.kernels.abi import kernel
from nonsmooth.kernels.march.guards import evaluate, is_event
from nonsmooth.kernels.march.resolved import largest_node
from nonsmooth.kernels.mechanics import contacts
from nonsmooth.kernels.mechanics.tables import GAP
from nonsmooth.kernels.tolerances import ARMED, JUMPED, MISSED, SMALLEST_GAP, ZERO


@kernel
def arm(m, w, watch, a):
    """Set the sides of all guards: one at zero by its rate."""
    s = watch.step
    w.is_quiet = 0
    evaluate(m, w, min(s.t, s.t_cap), s.y, a, s.d, s.set.size, watch.guard)
    for k in range(m.n_user):
        value, rate = watch.guard[k][0], watch.guard[k][1]
        is_zero = abs(value) <= ARMED * abs(rate * s.t)
        watch.is_at_zero[k] = 1 if is_zero else 0
        watch.side[k] = rate if is_zero else value
    for k in range(m.n_user, m.n_watch):
        # A contact's guards are positive in its mode, and may start at zero.
        watch.is_at_zero[k] = 1
        watch.side[k] = 1.0


@kernel
def fire_at_end(m, watch, t):
    """Fire the guards that reach zero within round-off of the end of an arc."""
    for k in range(m.n_user):
        value, rate = watch.guard[k][0], watch.guard[k][1]
        is_here = abs(value) <= ARMED * abs(rate * t) and rate * watch.side[k] < 0.0
        if is_here and is_event(m, k, rate):
            watch.fired[k] = 1


@kernel
def is_sound(m, watch):
    """Return whether no open contact overlaps at the end of a step, and none gapes."""
    for k in range(m.n_touch):
        if watch.guard[m.contact_press[k]][0] < -MISSED * watch.step.set.size:
            return False
    return True


@kernel
def is_clean(m, w, watch):
    """Return whether no contact's guard but those that fired is past zero.

    On the shorter step that lands on an event another one may come first.
    """
    for k in range(m.n_user, m.n_watch):
        value = watch.guard[k][0]
        if watch.fired[k] or value >= 0.0:
            continue
        # Of faces that just touch, which come and go, by round-off of places.
        least = 0.0
        if m.watch_kind[k] == GAP:
            size = watch.step.set.size
            least = SMALLEST_GAP * contacts.places(m, w, m.watch_owner[k], size)
        if value < -max(ZERO * largest_node(watch, k), least):
            return False
    return True


@kernel
def settle(m, watch, t):
    """Update the sides at the end t of a step from the values in `guard`."""
    for k in range(m.n_user):
        value, rate = watch.guard[k][0], watch.guard[k][1]
        watch.is_at_zero[k] = watch.fired[k]
        if watch.fired[k]:
            # It crossed: what is left of its value is round-off, unless it jumped.
            has_jumped = abs(value) > JUMPED * abs(rate * t)
            direction = m.guard_direction[k]
            watch.side[k] = value if has_jumped else rate
            watch.side[k] = float(direction) if direction else watch.side[k]
        elif value * watch.side[k] >= 0.0 or not is_event(m, k, -watch.side[k]):
            # A crossing that is an event but did not fire lies within round-off of the
            # end; the next step finds it.
            if value != 0.0:
                watch.side[k] = value
    for k in range(m.n_user, m.n_watch):
        watch.is_at_zero[k] = 0


@kernel
def begin_at_end(m, watch):
    """Let the guards at the end of a step, in `guard`, be those of the next start."""
    for k in range(m.n_watch):
        watch.node[0][k][0] = watch.guard[k][0]
        watch.node[0][k][1] = watch.guard[k][1]
    watch.is_known = 1
