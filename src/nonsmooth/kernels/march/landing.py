"""From an acceptable step to one that ends on its first event."""

import math

from nonsmooth.kernels.abi import kernel
from nonsmooth.kernels.march import (
    guards,
    inside,
    locate,
    radau,
    shown,
    sides,
    steps,
)
from nonsmooth.kernels.march.attempt import SLACK, fail, is_assembled, land_explicit
from nonsmooth.kernels.march.between import told_rate
from nonsmooth.kernels.march.nearing import BESIDE, LEAP
from nonsmooth.kernels.march.record import is_finite
from nonsmooth.kernels.march.resolved import is_silent, largest_node
from nonsmooth.kernels.mechanics import segments
from nonsmooth.kernels.mechanics.tables import FORCE, FORWARD, GAP, MARGIN
from nonsmooth.kernels.run import N_NODE, NEWTON_FAILED, STEP_TOO_SMALL
from nonsmooth.kernels.tolerances import EPSILON, LANDED

# Retakes of the step until its time is at round-off.
MAX_LANDING = 6
# Part of a step by which its last correction may still move its end: else there is no
# zero but of the dense output, as of a slip that dies away below what a step may err.
MISLED = 1e-3
# Defect of the dense output times the way to an event, in units of the tolerance, up to
# which a step ends on it. The output was off by at most twice that in runs of the
# compactor, the belt and blocks.
DEFECT = 0.1
# A slip that is not as many times what its velocities may err by has zeros of which the
# dense output alone knows.
SEEN = 100.0
# Part of a step by which its end is moved along its tangent: the square is round-off.
# By more, if the tangent turns by less than the second, in units of the tolerance,
# where taking the step again leaves more than the third part of what was left before:
# stages near the method's reach, and Newton's method, have more round-off than that.
NUDGE, NUDGED, NEARER = 1e-7, 1e-3, 0.1
# Part of an overlap by which it may differ before a force has another tangent.
CURVED = 0.1
# Part of a step over which the rate of a reaction is a difference.
DIFFERENCE = 1e-3
# Halvings of a step that Newton's method refuses, or that misses what friction does at
# rest; then it is searched as it is, and halved as often where that misleads.
MAX_HALVING = 12
# Part of the time by which a step ends behind a jump.
BEHIND = 1e-13


@kernel
def watch_end(m, w, watch, h, row):
    """Evaluate the guards at the end of a landed step; y' there is in K[row]."""
    locate.see_end(m, w, watch, h, row, watch.guard)


@kernel
def end_at_node(m, w, watch, h, row):
    """Let `guard` be that of the end of a step that was searched, and has no event."""
    if not watch.is_at_end:
        watch_end(m, w, watch, h, row)
        return
    last = watch.node[N_NODE]
    for k in range(m.n_watch):
        watch.guard[k][0] = last[k][0]
        watch.guard[k][1] = last[k][1]


@kernel
def retake(m, w, nw, last, h):
    """Solve an implicit step again for a size h; return whether Newton converged.

    The polynomial of the step of size `last` from here is the guess.
    """
    nw.h_retake = last
    is_solved = radau.solve_stages(m, w, nw, h)
    nw.h_retake = 0.0
    if is_solved:
        radau.finish(m, w, nw, h)
    return is_solved


@kernel
def retake_explicit(m, w, s, tb, h, allowed):
    """Take an explicit step again for a size h; return whether it is acceptable."""
    steps.stages(m, w, s, tb, h)
    steps.raw_error(m, s, tb, h)
    if not (is_finite(m.n_y, s.y1) and land_explicit(m, w, s, tb, h)):
        return False
    return not tb.is_adaptive or steps.error(m, w, s) <= allowed


@kernel
def is_seen(m, w, watch, k):
    """Return whether the dense output is enough to tell where guard k is zero.

    It has round-off of a hundred times that of the step; a user's event is looked for
    for its own sake.
    """
    if k < m.n_user:
        return False
    if m.watch_kind[k] != FORWARD or not guards.has_rate(m, w, k):
        return True
    own = watch.step.set
    return largest_node(watch, k) > SEEN * (own.atol + own.rtol * w.speed)


@kernel
def ends_on_dense(m, w, r, h, part):
    """End an explicit step of size h after a part of it, on its dense output.

    Returns whether that is accurate: whether the output's rate is y' there. The dense
    output has one order less than the step, as has the error that is controlled; where
    not the tolerance but the longest step holds the error, it is not enough.
    """
    s, tb = r.step, r.tableau
    if not tb.is_adaptive or h >= s.set.h_max:
        return False
    x, rate, end = part / h, s.e[0], s.K[tb.n_stage]
    steps.on_dense(m, s, x, s.y1)
    for i in range(m.n_y):
        rate[i] = steps.rate_of_entry(s, h, x, i)
    if not land_explicit(m, w, s, tb, part):
        return False
    for i in range(m.n_y):
        rate[i] = part * (rate[i] - end[i])
    return steps.norm(m.n_y, rate, s.tol) <= DEFECT


@kernel
def finish_dense(m, w, r, h):
    """Let the dense output be that of the landed explicit step of size h."""
    s = r.step
    if not r.is_on_dense:
        steps.dense(m, w, s, r.tableau, r.h_stages)
    steps.stretch(m, s, h / r.h_stages)
    if r.is_on_dense:
        steps.correct_dense(m, s)


@kernel
def shorter_step(m, w, r, h):
    """Take half the step, or less, without an event; return its size, or a failure."""
    s = r.step
    for k in range(m.n_watch):
        r.watch.fired[k] = 0
    for _ in range(MAX_HALVING):
        h *= 0.5
        if r.is_implicit:
            radau.forget_step(m, r.newton)
            if radau.solve_stages(m, w, r.newton, h):
                radau.finish(m, w, r.newton, h)
                return h
        elif retake_explicit(m, w, s, r.tableau, h, 1.0):
            steps.dense(m, w, s, r.tableau, h)
            return h
    return fail(s, h, NEWTON_FAILED if r.is_implicit else STEP_TOO_SMALL)


@kernel
def rate_at_root(m, w, watch, h, k):
    """Return the rate of guard k where it fires; of a reaction, as nodes tell it.

    The margin of uniqueness is a least of many, without a slope that lasts: 0.
    """
    x = watch.root[k]
    if not guards.has_rate(m, w, k) and m.watch_kind[k] != MARGIN:
        rate = told_rate(watch, h, k, x)
        if rate < 0.0:
            return rate
    x0 = max(0.0, x - DIFFERENCE)
    before = 0.0
    if m.watch_kind[k] == MARGIN:
        x0 = x
    if not guards.has_rate(m, w, k) and x > x0:
        inside.on_dense(m, w, watch, h, x0, watch.guard)
        before = watch.guard[k][0]
    inside.on_dense(m, w, watch, h, x, watch.guard)
    if guards.has_rate(m, w, k) or x == x0:
        return watch.guard[k][1]
    rate = (watch.guard[k][0] - before) / ((x - x0) * h)
    # What grows is no crossing that a correction could follow.
    return min(rate, 0.0)


@kernel
def way_to_zero(m, w, watch, k, rate, gap):
    """Return the time from the end of a landed step to the zero of guard k.

    By its rate and, if it is a force, its gap where the dense output has the zero. A
    force over its overlap d may go with d^0.2: its tangent holds near the zero only,
    and where d is another it is d that is to be as there.
    """
    if m.watch_kind[k] == FORCE and guards.has_rate(m, w, k):
        c = w.contact[m.watch_owner[k]]
        if c.gap_rate > 0.0 and abs(c.gap - gap) > CURVED * abs(gap):
            return (gap - c.gap) / c.gap_rate
    return -watch.guard[k][0] / rate if rate != 0.0 else 0.0


@kernel
def earliest(m, watch):
    """Return the earliest of the guards that fire as one: none is to be past its zero.

    But a gap if there is one, whose root is sharp: force ends with it, and flatly.
    """
    k, is_gap = -1, False
    for i in range(m.n_watch):
        if not watch.fired[i] or (is_gap and m.watch_kind[i] != GAP):
            continue
        is_first = m.watch_kind[i] == GAP and not is_gap
        if k < 0 or is_first or watch.root[i] < watch.root[k]:
            k, is_gap = i, is_gap or m.watch_kind[i] == GAP
    return k


@kernel
def leaps(m, w, watch, k):
    """Return whether guard k is the gap of what gets below a segment past an end."""
    if not m.has_backs or k < m.n_user or m.watch_kind[k] != GAP:
        return False
    owner = m.watch_owner[k]
    is_far = abs(watch.guard[k][0]) > LEAP * watch.step.set.size
    return is_far and segments.is_seen_wrong(m, w, owner)


@kernel
def has_jumped(m, w, watch, h, k):
    """Return whether guard k has no zero where it fires.

    That is a gap past the end of a segment, or of the end where a corner passes it.
    """
    if m.watch_kind[k] != GAP:
        return False
    least = math.inf
    for way in range(-1, 2, 2):
        x = watch.root[k] + way * BESIDE
        inside.on_dense(m, w, watch, h, x, watch.guard)
        least = min(least, abs(watch.guard[k][0]))
    return least > LEAP * watch.step.set.size


@kernel
def land_on_event(m, w, r, h):
    """Let the step end on the earliest of the guards that fired.

    On the dense output where that is accurate enough; else it is taken again, with a
    few Newton corrections of its size, for a landing as good as the method. Returns
    the step's size; 0 if the guard is not where the dense output has it; a failure < 0.
    """
    s, tb, watch = r.step, r.tableau, r.watch
    k = earliest(m, watch)
    is_told = is_seen(m, w, watch, k)
    longest, last, way = h, h, 0.0
    is_jump = m.has_backs and has_jumped(m, w, watch, h, k)
    is_at_once = locate.is_at_once(watch, k, r.rest.n_chatter)
    rate = rate_at_root(m, w, watch, h, k)
    gap = w.contact[m.watch_owner[k]].gap if m.watch_kind[k] == FORCE else 0.0
    # A root at the very start is an event of the step before that fell behind its end.
    h = max(h * watch.root[k], EPSILON * abs(s.t))
    for attempts in range(1, MAX_LANDING + 1):
        if r.is_implicit:
            if not retake(m, w, r.newton, last, h):
                return 0.0
            last = h
        elif is_told and attempts == 1 and ends_on_dense(m, w, r, longest, h):
            r.is_on_dense, r.h_stages = 1, longest
        else:
            if not retake_explicit(m, w, s, tb, h, SLACK):
                return 0.0
            r.is_on_dense, r.h_stages = 0, h
        row = 1 if r.is_implicit else tb.n_stage
        t1 = min(s.t + h, s.t_cap)
        watch_end(m, w, watch, h, row)
        change = way_to_zero(m, w, watch, k, rate, gap)
        is_landed = abs(change) <= LANDED * max(abs(t1), h)
        is_landed = is_landed or locate.is_round_off(m, w, watch, k)
        if is_jump:
            is_landed = watch.guard[k][0] < 0.0 or attempts == MAX_LANDING
            change = BEHIND * max(abs(t1), h)
        if is_landed or is_at_once:
            break
        if attempts == MAX_LANDING:
            if abs(change) > MISLED * longest:
                return 0.0
            break
        if abs(change) > 0.1 * longest or not 0.0 < h + change <= longest:
            return 0.0
        is_rough = attempts > 1 and abs(change) > NEARER * abs(way)
        if abs(change) <= (MISLED if is_rough else NUDGE) * h:
            if nudge(m, w, r, h, change):
                return h + change
        way = change
        h += change
    return h


@kernel
def nudge(m, w, r, h, change):
    """Move the end of a landed step by a little, without taking it again.

    Returns whether it is on its tangent still.
    """
    s, row = r.step, 1 if r.is_implicit else r.tableau.n_stage
    rate, kept, turn = s.K[row], s.e[0], s.d
    for i in range(m.n_y):
        s.y1[i] += change * rate[i]
        kept[i] = s.moved[i]
        turn[i] = rate[i]
    is_assembled(s, steps.land(m, w, s, s.t + h + change, rate))
    for i in range(m.n_y):
        s.moved[i] += kept[i]
        turn[i] = 0.5 * change * (rate[i] - turn[i])
    is_near = abs(change) <= NUDGE * h or steps.norm(m.n_y, turn, s.tol) <= NUDGED
    if r.is_implicit:
        # Its dense output is written already.
        steps.stretch(m, s, (h + change) / h)
        steps.on_dense(m, s, 1.0, s.moved)
        for i in range(m.n_y):
            s.moved[i] = s.y1[i] - s.moved[i]
        steps.correct_dense(m, s)
    watch_end(m, w, r.watch, h + change, row)
    return is_near


@kernel
def cut_at_event(m, w, r, h, row, t_stop):
    """Cut the step at its first event, if any; return its size, or a failure < 0."""
    s, watch, is_halved = r.step, r.watch, False
    r.is_halved = 0
    if not r.is_implicit and r.tableau.is_adaptive and is_silent(m, w, s):
        for k in range(m.n_watch):
            watch.fired[k] = 0
        sides.settle(m, watch, s.t + h)
        watch.is_known = 0
        return h
    for i in range(2 * MAX_HALVING):
        landed = 0.0
        is_strict = 1 if i < MAX_HALVING else 0
        earliest = locate.locate(m, w, watch, h, row, r.rest.n_chatter, is_strict)
        if s.look.is_stopped:
            return h
        if watch.is_far:
            break
        if is_strict and s.set.h_fixed == 0.0:
            if not shown.are_shown(m, w, watch, h, min(earliest, 1.0)):
                is_halved, watch.is_resolved, earliest = True, 0, locate.NONE
        if earliest <= 1.0:
            landed = land_on_event(m, w, r, h)
        elif watch.is_resolved:
            end_at_node(m, w, watch, h, row)
            if sides.is_sound(m, watch):
                break
        if landed < 0.0:
            return landed
        if landed > 0.0 and sides.is_clean(m, w, watch):
            longest, h = h, landed
            if not r.is_implicit:
                finish_dense(m, w, r, h)
            sides.settle(m, watch, s.t + h)
            sides.begin_at_end(m, watch)
            shown.heed_guards(s, longest, is_halved)
            return h
        # The dense output misled: a shorter step knows better.
        r.is_halved = 1
        h = shorter_step(m, w, r, landed if landed > 0.0 else h)
        if h < 0.0:
            return h
        s.h = min(s.h, 2.0 * h)
    else:
        watch_end(m, w, watch, h, row)
    shown.heed_guards(s, h, is_halved)
    if h == t_stop - s.t:
        sides.fire_at_end(m, watch, t_stop)
    sides.settle(m, watch, s.t + h)
    if not watch.is_far:
        sides.begin_at_end(m, watch)
    return h
