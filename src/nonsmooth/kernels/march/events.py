"""The event-driven scheme: march, locate, land, record, jump, switch.

`march` advances the state until the end of the arc, a stop event, a full log or the
given number of steps; everything it needs to go on is in its blocks.
"""

import math

from nonsmooth.kernels.abi import INTEGER, NUMBER, Block, far, kernel
from nonsmooth.kernels.friction.modes import OPEN, PRESSING
from nonsmooth.kernels.friction.rest import (
    CHATTERING,
    DECIDED,
    UNSOLVED,
    WRONG,
    tie,
)
from nonsmooth.kernels.march import (
    cross,
    fading,
    jump,
    radau,
    resolved,
    sides,
    slip,
    steps,
    switch,
)
from nonsmooth.kernels.march.attempt import (
    TOO_MANY_STEPS,
    attempt,
    check_stiffness,
    choose_method,
    heed_states,
)
from nonsmooth.kernels.march.cross import Crossing
from nonsmooth.kernels.march.landing import cut_at_event, leaps
from nonsmooth.kernels.march.record import is_finite, record
from nonsmooth.kernels.mechanics import bodies, segments
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import (
    CROSSED,
    END,
    FULL,
    NEWTON_FAILED,
    NOT_FINITE,
    STEP_TOO_SMALL,
    STOPPED,
    TICK,
    TOO_DEEP,
    UNDECIDED,
    Decision,
    Log,
    Newton,
    Step,
    Tableau,
    Watch,
)
from nonsmooth.kernels.tolerances import MIN_STEP

# Least determinant of joints with friction, beside that without, near which a step that
# shrinks does so because their forces grow without bound.
JAMMING = 1e-2
# Steps in a row, and what part of time they are, that mean no way on by steps; or of
# the run, if no longer ones could be searched.
CREEPING, SLOW, SEARCHED = 200, 1e-14, 1e-9


class Events(Block):
    """What the scheme works in."""

    step = Step
    watch = Watch
    rest = Decision
    newton = Newton
    tableau = Tableau
    crossing = Crossing

    is_fresh = INTEGER  # y' at (t, y) is in K[0]
    is_break = INTEGER  # a time law may have jumped
    is_armed = INTEGER  # sides of the guards are known
    is_implicit = INTEGER
    n_stiff = INTEGER
    n_calm = INTEGER
    n_creeping = INTEGER  # steps in a row without time passing
    is_halved = INTEGER  # the step was longer, and searched in vain
    n_unchecked = INTEGER  # explicit steps since stiffness was last looked for
    has_touched = INTEGER  # a contact has just touched down
    h_touch = NUMBER  # s, first step after the last touch-down
    h_stages = NUMBER  # s, of the step that a landing has its dense output from
    is_on_dense = INTEGER  # that output is known already


@kernel
def is_undecided(r, status):
    """Keep the status of a switch; return whether it has found no mode."""
    r.rest.status = status
    if status == DECIDED:
        return False
    r.step.t_fail = r.step.t
    return True


@kernel
def start_arc(m, w, r, t_stop):
    """Evaluate y' at the start, and arm the guards; return a status."""
    s, rest = r.step, r.rest
    if m.n_contact > 0 and (r.is_break or not rest.is_known):
        t = min(s.t, s.t_cap)
        if rest.is_known:
            status = switch.renew(m, w, r.watch, rest, t)
        else:
            status = switch.first_mode(m, w, rest, t)
        if is_undecided(r, status):
            return UNDECIDED
    r.is_break = 0
    r.watch.is_far = 0
    r.watch.is_known = 0
    resolved.forget_noise(m, r.watch)
    if m.n_history > 0:
        slip.begin(m, w, s)
    steps.evaluate(m, w, s, s.t, s.y, s.K[0])
    if w.has_lost_rank and w.n_stuck > 0 and not w.is_tied:
        tie(m, w, 1)
        steps.evaluate(m, w, s, s.t, s.y, s.K[0])
    if m.n_history > 0:
        slip.keep_friction(m, w)
    steps.note_end(m, w, s)
    steps.keep_heard(m, s)
    if not is_finite(m.n_y, s.K[0]):
        s.t_fail = s.t
        return NOT_FINITE
    if not r.is_armed:
        radius = steps.spectral_radius(m, w, s) if s.set.is_auto else 0.0
        if radius * (t_stop - s.t) > TOO_MANY_STEPS * r.tableau.reach:
            r.is_implicit = 1
    rest.is_known = 1
    r.is_fresh = 1
    s.pivot = w.pivot
    s.pivot_end = w.pivot
    s.pivot_rate = 0.0
    r.newton.has_jacobian = 0
    radau.forget_step(m, r.newton)
    if not r.is_armed:
        sides.arm(m, w, r.watch, steps.accelerations(m, s, 0))
        r.is_armed = 1
    return END


@kernel
def pass_ends(m, w, watch):
    """Let nothing touch that gets below a segment past an end: its gap has jumped."""
    for k in range(m.n_touch):
        press = m.contact_press[k]
        if watch.fired[press] and leaps(m, w, watch, press):
            watch.fired[press] = 0


@kernel
def watch_step(m, w, r, h, row, t_stop):
    """Cut the step at its first event; return its size, whether to stop, to switch."""
    h = cut_at_event(m, w, r, h, row, t_stop)
    if m.has_backs:
        pass_ends(m, w, r.watch)
    is_stop, is_switch = False, False
    for k in range(m.n_watch):
        if r.watch.fired[k]:
            if k >= m.n_user:
                is_switch = True
            elif m.guard_is_stop[k]:
                is_stop = True
    return h, is_stop, is_switch


@kernel
def go_on(m, w, r, h, row, t_stop):
    """Let the end of the step be the start of the next."""
    s = r.step
    s.n_step += 1
    s.violation = max(s.violation, s.left)
    s.pivot_rate = (math.sqrt(s.pivot_end) - math.sqrt(s.pivot)) / h
    s.pivot = s.pivot_end
    s.t = t_stop if h == t_stop - s.t else s.t + h
    first, last = s.K[0], s.K[row]
    for i in range(m.n_y):
        s.y[i] = s.y1[i]
        first[i] = last[i]
    steps.keep_heard(m, s)


@kernel
def is_too_deep(m, w, watch):
    """Return whether shapes overlap by more than they may, at the end of a step."""
    for k in range(m.n_touch):
        if w.mode[k].side != OPEN:
            if watch.guard[m.contact_press[k]][0] > m.contact_deepest[k]:
                return True
    return False


@kernel
def change_mode(m, w, r, log):
    """Jump and switch at the guards that fired; return END or UNDECIDED."""
    s, watch = r.step, r.watch
    r.has_touched = switch.is_touch_down(m, w, watch.fired)
    jump.jump(m, w, s, watch.fired, log.impulse[log.n - 1])
    status = switch.switch(m, w, watch, r.rest, min(s.t, s.t_cap))
    if is_undecided(r, status):
        return UNDECIDED
    r.is_fresh = 0
    if r.has_touched:
        # A normal law need not be smooth where it begins, and may be stiff.
        s.h = min(s.h, r.h_touch, switch.time_to_feel(m, w, r.rest))
    return END


@kernel
def can_cross(m, w, r, status):
    """Return whether the run can go on by crossing a span.

    Friction in joints that has no solution has none in a step, and forces that grow
    without bound stop a run for good.
    """
    if m.n_contact == 0 or r.step.set.h_fixed > 0.0:
        return False
    has_joints = m.n_contact > m.n_touch
    if status == STEP_TOO_SMALL or status == NEWTON_FAILED:
        return not has_joints or w.margin > JAMMING
    is_open = r.rest.status == CHATTERING or r.rest.status == WRONG
    is_open = is_open or (r.rest.status == UNSOLVED and not has_joints)
    return status == UNDECIDED and is_open


@kernel
def cross_span(m, w, r, log, t_stop, status):
    """Cross a span where no mode lasts, and record it; return END or the failure."""
    s = r.step
    if log.n >= log.capacity:
        # The mode is decided anew in the next call, which has room.
        r.rest.is_known = 0
        r.is_fresh = 0
        return END
    span = cross.cross(m, w, r.rest, r.crossing, t_stop)
    if span <= 0.0:
        return status
    for k in range(m.n_watch):
        r.watch.fired[k] = 0
    record(m, s, log, s.t, span, s.y, w.mode, r.watch.fired, CROSSED)
    s.n_step += 1
    s.t = t_stop if span == t_stop - s.t else s.t + span
    for i in range(m.n_y):
        s.y[i] = s.y1[i]
    r.rest.is_known = 0
    r.rest.n_chatter = 0
    r.rest.n_flood = switch.KNOWN
    r.rest.t_flood = s.t
    r.is_fresh = 0
    # A user's guard that crossed zero on the way fires at once.
    for k in range(m.n_watch):
        r.watch.is_at_zero[k] = 0 if k < m.n_user else 1
    # What made steps tiny is behind.
    s.h = span
    return END


@kernel
def look_back(m, w, r, h, t_stop):
    """Between events: look for stiffness, and review friction that is not unique."""
    if r.has_touched:
        r.h_touch = h
        r.has_touched = 0
    s = r.step
    has_faded = fading.has_faded(m, w, r.rest)
    check_stiffness(m, w, r, h, t_stop)
    if has_faded:
        change = fading.fade(m, w, r.watch, r.rest, min(s.t, s.t_cap))
        if change < 0:
            s.t_fail = s.t
            return UNDECIDED
        if change > 0:
            r.is_fresh = 0
            # Where all fades, what rows on nearly one line differ by moves nothing.
            tie(m, w, 1)
            return END
    if w.n_gripped > 1 and w.has_lost_rank:
        change = switch.review(m, w, r.watch, r.rest, min(s.t, s.t_cap))
        if change < 0:
            s.t_fail = s.t
            return UNDECIDED
        if change > 0:
            r.is_fresh = 0
    return END


@kernel
def advance(m, w, r, log, t_stop):
    """Take and record one step; return END, STOPPED or a failure."""
    s = r.step
    h = attempt(m, w, r, t_stop)
    if h <= 0.0:
        return int(h)
    row = 1 if r.is_implicit else r.tableau.n_stage
    if not is_finite(m.n_y, s.K[row]):
        s.t_fail = s.t + h
        return NOT_FINITE
    was_implicit = r.is_implicit
    # The stiffness test needs the last stage, which the dense output overwrites.
    change = 0
    if s.set.is_auto:
        choose_method(m, r, h)
        change = r.is_implicit - was_implicit
        r.is_implicit = was_implicit
    if not was_implicit:
        steps.dense(m, w, s, r.tableau, h)
    is_stop, is_switch = False, False
    if m.n_watch > 0:
        h, is_stop, is_switch = watch_step(m, w, r, h, row, t_stop)
        if s.look.is_stopped:
            return TICK
        if h <= 0.0:
            return int(h)
    creeps = h <= SLOW * abs(s.t) or (r.is_halved and h <= SEARCHED * s.set.span)
    r.n_creeping = r.n_creeping + 1 if creeps else 0
    if s.t + h == s.t or r.n_creeping > CREEPING:
        r.n_creeping = 0
        return STEP_TOO_SMALL
    is_rubbing = m.n_history > 0 and slip.is_rubbing(m, w)
    if is_rubbing:
        slip.book(m, w, s, h)
    record(m, s, log, s.t, h, s.y, w.mode, r.watch.fired, was_implicit)
    go_on(m, w, r, h, row, t_stop)
    if is_rubbing:
        slip.commit(m, w, s)
    heed_states(m, w, r)
    if m.has_backs:
        segments.note_sunk(m, w, PRESSING)
        bodies.place(m, w, min(s.t, s.t_cap), s.y)
        if segments.turn_faces(m, w):
            r.watch.is_known = 0
    if is_too_deep(m, w, r.watch):
        s.t_fail = s.t
        return TOO_DEEP
    if was_implicit:
        r.newton.h_last = h
    r.is_implicit = was_implicit + change
    if is_switch:
        status = change_mode(m, w, r, log)
    else:
        status = look_back(m, w, r, h, t_stop)
    return STOPPED if status == END and is_stop else status


@far(Tables, Work, Events, Log, NUMBER, INTEGER, returns=INTEGER)
def march(m, w, r, log, t_stop, max_steps):
    """Advance until t_stop, a stop event, a full log or `max_steps`."""
    s = r.step
    for _ in range(max_steps):
        # An event may land within round-off of the end.
        if s.t >= t_stop - MIN_STEP * abs(t_stop):
            s.t = t_stop
            return END
        if log.n >= log.capacity:
            return FULL
        if s.look.is_stopped:
            return TICK
        status = END if r.is_fresh else start_arc(m, w, r, t_stop)
        if status == END:
            status = advance(m, w, r, log, t_stop)
        if can_cross(m, w, r, status):
            status = cross_span(m, w, r, log, t_stop, status)
        if status != END:
            return status
    return TICK
