"""The event loop: march, locate, land, record.

`march` advances the state until the end of the arc, a stop event, a full log or the
given number of steps; everything it needs to go on is in the block `r`.
"""

import math

from nonsmooth.kernels import guards, radau, steps, switch
from nonsmooth.kernels.abi import at, kernel
from nonsmooth.kernels.run import (
    CANNOT_ASSEMBLE,
    END,
    FULL,
    NEWTON_FAILED,
    NOT_FINITE,
    STEP_TOO_SMALL,
    STOPPED,
    TICK,
    UNDECIDED,
)

# Steps in a row that look stiff before the implicit method takes over, and calm
# steps that clear the suspicion [HairerWanner1996]_ IV.2; calm implicit steps that
# hand back, more than a passing transient takes.
STIFF_STEPS, CALM_STEPS, HAND_BACK = 15, 6, 24
# Explicit steps between looks at the spectral radius, and the part of the method's
# reach at which a step counts as held by stability.
UNCHECKED_STEPS, HELD = 64, 0.6
# A step must move time by more than a few units of round-off.
MIN_STEP = 1e-15
# A step that fails at this size, relative to the time, fails for good.
HOPELESS = 1e-12
# A projection that leaves more than this part of the model's size has not converged.
ASSEMBLED = 1e-7
# Least pivots of S: of a pose that is nearly singular, and of the end of a step
# relative to its start when it runs into one; and by how much it is then shortened.
# The distance from the pose goes with the root of the pivot.
NEARLY_SINGULAR = 5e-2
APPROACH = 0.04
SHORTEN = 0.7
# A pose ahead by less than the first part of a step is crossed by it; one by less than
# the second is approached by the third part of the way, to be crossed from there. The
# first over the gap below is 1.3: no step much longer than the tolerance asks for.
CROSSED, CLOSE, APPROACHED = 0.6, 1.7, 0.55
# Middle of the widest gap between the stages of both explicit methods.
WIDEST_GAP = 0.467
# Error allowed in such a step, in units of the tolerance: round-off near the pose
# shows in the estimate.
SLACK = 1000.0
# Relative spacing of numbers.
EPSILON = 2.3e-16
# Landing on an event: retakes of the step until its time is at round-off.
MAX_LANDING = 6
LANDED = 3e-16
# Part of a step by which its end is moved along its tangent: the square is round-off.
NUDGE = 1e-7
# Halvings of a step that Newton's method refuses.
MAX_HALVING = 12
# Explicit steps that stability alone would ask of a run that begins implicitly.
TOO_MANY_STEPS = 5e3


@kernel
def step_size(r, t_stop):
    """Return the step to try: never past t_stop, and no sliver left before it."""
    left = t_stop - r.t
    h = min(r.h, r.h_max)
    if h >= left:
        return left
    # Two equal steps rather than a full one and a sliver.
    return 0.5 * left if h > 0.75 * left else h


@kernel
def is_finite(n, x):
    """Return whether every entry is."""
    total = 0.0
    for i in range(n):
        total += abs(x[i])
    return total < 1e300


@kernel
def land_explicit(m, w, r, tb, h):
    """Project the end of an explicit step; y' there goes to K[n_stage].

    Returns whether the constraints could be met.
    """
    left = steps.land(m, w, r, r.t + h, at(r.K, tb.n_stage * r.n_y))
    return is_assembled(r, left)


@kernel
def is_assembled(r, left):
    """Note the violation left by a step; return whether it is acceptable."""
    if r.is_projected and not left <= ASSEMBLED * r.size:
        return False
    r.violation = max(r.violation, left)
    return True


@kernel
def fixed_step(m, w, r, tb, t_stop):
    """Take a step of given size; return its size, or a failure < 0."""
    left = t_stop - r.t
    # A remainder within a millionth of a step is the sum's round-off.
    h = left if left < r.h_fixed * (1.0 + 1e-6) else r.h_fixed
    steps.begin_hearing(m, r)
    steps.stages(m, w, r, tb, h)
    if not is_finite(r.n_y, r.y1):
        r.t_fail = r.t + h
        return float(NOT_FINITE)
    if not land_explicit(m, w, r, tb, h):
        r.t_fail = r.t + h
        return float(CANNOT_ASSEMBLE)
    return h


@kernel
def runs_into_singularity(r, h, t_stop):
    """Return whether a step ends much nearer to a singular pose than it began.

    Close to such a pose a state can be projected, and its accelerations found, with
    few digits only. A step should end before it or beyond; one that is bound to end
    there, at t_stop, has no choice.
    """
    is_bound = h >= t_stop - r.t
    return (
        not is_bound
        and r.pivot_end < NEARLY_SINGULAR
        and r.pivot_end < APPROACH * r.pivot
    )


@kernel
def aim(r, h):
    """Return a step that takes a singular pose ahead in its stride, and its tolerance.

    The root of the least pivot goes to zero linearly there, which tells when. A step
    with the pose in the widest gap between its stages keeps them all away from it;
    if that would be too long, a shorter step comes first.
    """
    if r.pivot > NEARLY_SINGULAR or not r.pivot_rate < 0.0:
        return h, 1.0
    ahead = -math.sqrt(r.pivot) / r.pivot_rate
    if ahead < CROSSED * h:
        return ahead / WIDEST_GAP, SLACK
    return (APPROACHED * ahead if ahead < CLOSE * h else h), 1.0


@kernel
def explicit_step(m, w, r, tb, t_stop):
    """Find an acceptable explicit step; return its size, or a failure < 0."""
    if r.h == 0.0:
        r.h = steps.first_step(m, w, r, tb.order)
    limit = steps.GROW
    while True:
        steps.begin_hearing(m, r)
        allowed = 1.0
        h = step_size(r, t_stop)
        if limit > 1.0 and h < t_stop - r.t:
            # On the first attempt only: a refused step shrinks as any other.
            h, allowed = aim(r, h)
            h = min(h, t_stop - r.t)
        if h <= MIN_STEP * abs(r.t):
            return float(STEP_TOO_SMALL)
        steps.stages(m, w, r, tb, h)
        steps.raw_error(m, r, tb, h)
        error = math.inf
        reason = NOT_FINITE
        if is_finite(r.n_y, r.y1):
            reason = CANNOT_ASSEMBLE
            if land_explicit(m, w, r, tb, h):
                error = steps.error(m, w, r)
        if error <= allowed and runs_into_singularity(r, h, t_stop):
            # Not an error: the step stays as long next time.
            r.n_reject += 1
            r.h = h
            h = SHORTEN * h
            steps.stages(m, w, r, tb, h)
            land_explicit(m, w, r, tb, h)
            return h
        if error <= allowed:
            grow = min(limit, steps.SAFETY * max(error, 1e-12) ** (-1.0 / tb.order))
            # A step cut short by t_stop says nothing against a larger one.
            r.h = max(h * grow, r.h if h < 0.9 * r.h else 0.0)
            return h
        r.n_reject += 1
        limit = 1.0
        shrink = steps.SHRINK
        if error < 1e300:
            shrink = max(shrink, steps.SAFETY * error ** (-1.0 / tb.order))
        elif h < HOPELESS * max(abs(r.t), 1e-3):
            r.t_fail = r.t + h
            return float(reason)
        r.h = h * shrink


@kernel
def implicit_step(m, w, r, t_stop):
    """Find an acceptable implicit step; return its size, or a failure < 0."""
    if r.h == 0.0:
        r.h = steps.first_step(m, w, r, 4)
    is_retry = 1 if r.h_last == 0.0 else 0
    limit = steps.GROW
    while True:
        steps.begin_hearing(m, r)
        h = step_size(r, t_stop)
        if h <= MIN_STEP * abs(r.t):
            return float(STEP_TOO_SMALL)
        if not radau.solve_stages(m, w, r, h):
            if h < HOPELESS * max(abs(r.t), 1e-3):
                r.t_fail = r.t + h
                return float(NEWTON_FAILED)
            r.n_reject += 1
            r.h = 0.5 * h
            continue
        error = max(radau.error(m, w, r, h, is_retry), 1e-10)
        if error <= 1.0:
            if not is_assembled(r, radau.finish(m, w, r, h)):
                if h < HOPELESS * max(abs(r.t), 1e-3):
                    r.t_fail = r.t + h
                    return float(CANNOT_ASSEMBLE)
                r.n_reject += 1
                r.h = 0.2 * h
                continue
            error = max(error, r.ledger_error)
        grow = steps.SAFETY * error ** (-0.25)
        if error <= 1.0:
            break
        r.n_reject += 1
        is_retry = 1
        limit = 1.0
        r.h = h * max(steps.SHRINK, grow)
    if r.h_last > 0.0:
        # Gustafsson's predictive control.
        grow *= min(1.0, (h / r.h_last) * (r.error_last / error) ** 0.25)
    grow = min(limit, max(steps.SHRINK, grow))
    r.jacobian_age += 1
    if r.newton_rate > radau.KEEP_RATE or r.jacobian_age >= radau.MAX_AGE:
        r.has_jacobian = 0
    elif 1.0 <= grow < 1.2:
        # Not worth new factors.
        grow = 1.0
    r.is_jacobian_new = 0
    r.h = max(h * grow, r.h if h < 0.9 * r.h else 0.0)
    r.error_last = error
    return h


@kernel
def forget_step(m, r):
    """Forget the last implicit step: its polynomial is no guess any more."""
    r.h_last = 0.0
    for i in range(3 * (2 * m.n_dof + m.n_state)):
        r.previous[i] = 0.0


@kernel
def watch_end(m, w, r, h, row):
    """Evaluate the guards at the end of a landed step."""
    a = at(r.K, row * r.n_y + m.n_dof)
    guards.evaluate(m, w, min(r.t + h, r.t_cap), r.y1, a, r.d, r.size, r.guard)


@kernel
def retake(m, w, r, last, h):
    """Solve an implicit step again for a size h; return whether Newton converged.

    The polynomial of the step of size `last` from here is the guess.
    """
    r.h_retake = last
    is_solved = radau.solve_stages(m, w, r, h)
    r.h_retake = 0.0
    if is_solved:
        radau.finish(m, w, r, h)
    return is_solved


@kernel
def shorter_step(m, w, r, tb, h):
    """Take half the step, or less, without an event; return its size, or a failure."""
    for k in range(m.n_watch):
        r.fired[k] = 0
    for _ in range(MAX_HALVING):
        h *= 0.5
        if r.is_implicit:
            forget_step(m, r)
            if radau.solve_stages(m, w, r, h):
                radau.finish(m, w, r, h)
                return h
        else:
            steps.stages(m, w, r, tb, h)
            steps.raw_error(m, r, tb, h)
            if is_finite(r.n_y, r.y1) and land_explicit(m, w, r, tb, h):
                if not tb.is_adaptive or steps.error(m, w, r) <= 1.0:
                    steps.dense(m, w, r, tb, h)
                    return h
    r.t_fail = r.t + h
    return float(NEWTON_FAILED if r.is_implicit else STEP_TOO_SMALL)


@kernel
def land_on_event(m, w, r, tb, h):
    """Retake the step so that it ends on its first fired guard.

    The root on the dense output has the interpolant's order only; a few Newton
    corrections of the step's size make the landing as good as the method. Returns
    the step's size; 0 if the guard is not where the dense output has it; a failure < 0.
    """
    k = 0
    while not r.fired[k]:
        k += 1
    longest = h
    last = h
    is_at_once = guards.is_at_once(r, k)
    guards.on_dense(m, w, r, h, r.root[k], r.guard)
    rate = r.guard[2 * k + 1]
    # A root at the very start is an event of the step before that fell behind its end.
    h = max(h * r.root[k], EPSILON * abs(r.t))
    for attempts in range(1, MAX_LANDING + 1):
        if r.is_implicit:
            if not retake(m, w, r, last, h):
                return 0.0
            last = h
        else:
            steps.stages(m, w, r, tb, h)
            steps.raw_error(m, r, tb, h)
            if not (is_finite(r.n_y, r.y1) and land_explicit(m, w, r, tb, h)):
                return 0.0
            if tb.is_adaptive and not steps.error(m, w, r) <= SLACK:
                return 0.0
            r.h_stages = h
        row = 1 if r.is_implicit else tb.n_stage
        t1 = min(r.t + h, r.t_cap)
        watch_end(m, w, r, h, row)
        change = -r.guard[2 * k] / rate if rate != 0.0 else 0.0
        is_landed = abs(change) <= LANDED * max(abs(t1), h)
        is_landed = is_landed or guards.is_round_off(m, r, k)
        if is_landed or attempts == MAX_LANDING or is_at_once:
            break
        if abs(change) > 0.1 * longest or not 0.0 < h + change <= longest:
            return 0.0
        if abs(change) <= NUDGE * h and not r.is_implicit:
            nudge(m, w, r, tb, h, change)
            return h + change
        h += change
    return h


@kernel
def nudge(m, w, r, tb, h, change):
    """Move the end of a landed explicit step by a little, without taking it again."""
    row = tb.n_stage * r.n_y
    for i in range(r.n_y):
        r.y1[i] += change * r.K[row + i]
        r.e[i] = r.moved[i]
    land_explicit(m, w, r, tb, h + change)
    for i in range(r.n_y):
        r.moved[i] += r.e[i]
    watch_end(m, w, r, h + change, tb.n_stage)


@kernel
def record(m, w, r, log, t, h, y, side, slip, is_implicit):
    """Append a step from state y at t in a given mode to the log."""
    i = log.n
    n = r.n_y
    log.t[i] = t
    log.h[i] = h
    log.is_implicit[i] = is_implicit
    coef = at(log.coef, i * (1 + r.n_coef) * n)
    for j in range(n):
        coef[j] = y[j]
    for j in range(r.n_coef * n):
        coef[n + j] = r.C[j]
    for k in range(m.n_watch):
        log.event[i * m.n_watch + k] = r.fired[k]
    for k in range(m.n_contact):
        log.side[i * m.n_contact + k] = side[k]
        log.slip[i * m.n_contact + k] = slip[k]
        log.flank[i * m.n_contact + k] = w.flank[k]
        log.approach[i * m.n_contact + k] = w.approach[k]
        log.hold[i * m.n_contact + k] = w.hold[k]
    log.n = i + 1


@kernel
def choose_method(m, r, tb, h):
    """Count stiff and calm steps; change method when the count is reached."""
    if r.is_implicit:
        # A step that is still growing, after a start or an event, says nothing.
        is_calm = h * r.radius < radau.CALM and r.h < 2.0 * h
        r.n_calm = r.n_calm + 1 if is_calm else 0
        if r.n_calm >= HAND_BACK:
            r.is_implicit = 0
            r.n_calm = 0
            r.n_stiff = 0
        return
    r.n_unchecked += 1
    if steps.stiffness(m, r, tb, h) > tb.reach:
        r.n_stiff += 1
        r.n_calm = 0
        if r.n_stiff >= STIFF_STEPS:
            r.is_implicit = 1
            r.n_stiff = 0
            r.has_jacobian = 0
            forget_step(m, r)
    else:
        r.n_calm += 1
        if r.n_calm >= CALM_STEPS:
            r.n_stiff = 0


@kernel
def start_arc(m, w, r, tb, p, hl, t_stop):
    """Evaluate y' at the start, and arm the guards; return a status."""
    if m.n_contact > 0 and (r.is_break or not r.is_mode_known):
        t = min(r.t, r.t_cap)
        if r.is_mode_known:
            r.switch_status = switch.renew(m, w, r, p, hl, t)
        else:
            r.switch_status = switch.first_mode(m, w, r, p, hl, t)
        if r.switch_status != switch.DECIDED:
            r.t_fail = r.t
            return UNDECIDED
    r.is_break = 0
    steps.evaluate(m, w, r, r.t, r.y, r.K)
    steps.note_end(m, w, r)
    steps.keep_heard(m, r)
    if not is_finite(r.n_y, r.K):
        r.t_fail = r.t
        return NOT_FINITE
    if not r.is_mode_known:
        r.is_mode_known = 1
        radius = steps.spectral_radius(m, w, r) if r.is_auto else 0.0
        if radius * (t_stop - r.t) > TOO_MANY_STEPS * tb.reach:
            r.is_implicit = 1
    r.is_fresh = 1
    r.pivot = w.pivot
    r.pivot_end = w.pivot
    r.pivot_rate = 0.0
    r.has_jacobian = 0
    forget_step(m, r)
    if not r.is_armed:
        guards.arm(m, w, r, at(r.K, m.n_dof))
        r.is_armed = 1
    return END


@kernel
def attempt(m, w, r, tb, t_stop):
    """Take one step by the current method; return its size, or a failure < 0."""
    if r.is_implicit:
        return implicit_step(m, w, r, t_stop)
    if tb.is_adaptive:
        return explicit_step(m, w, r, tb, t_stop)
    return fixed_step(m, w, r, tb, t_stop)


@kernel
def watch(m, w, r, tb, h, row, t_stop):
    """Cut the step at its first event, if any; return its size, or a failure < 0."""
    for _ in range(MAX_HALVING):
        landed = 0.0
        if guards.locate(m, w, r, h) <= 1.0:
            landed = land_on_event(m, w, r, tb, h)
        elif r.is_resolved:
            watch_end(m, w, r, h, row)
            if guards.is_sound(m, r):
                break
        if landed < 0.0:
            return landed
        if landed > 0.0 and guards.is_clean(m, r):
            h = landed
            if not r.is_implicit:
                steps.dense(m, w, r, tb, r.h_stages)
                steps.stretch(r, h / r.h_stages)
            guards.settle(m, r)
            return h
        # The dense output misled: a shorter step knows better.
        h = shorter_step(m, w, r, tb, landed if landed > 0.0 else h)
        if h < 0.0:
            return h
        r.h = min(r.h, 2.0 * h)
    else:
        watch_end(m, w, r, h, row)
    if h == t_stop - r.t:
        guards.fire_at_end(m, r, t_stop)
    guards.settle(m, r)
    return h


@kernel
def advance(m, w, r, tb, log, p, hl, t_stop):
    """Take and record one step; return END, STOPPED or a failure."""
    h = attempt(m, w, r, tb, t_stop)
    if h <= 0.0:
        return int(h)
    row = 1 if r.is_implicit else tb.n_stage
    if not is_finite(r.n_y, at(r.K, row * r.n_y)):
        r.t_fail = r.t + h
        return NOT_FINITE
    was_implicit = r.is_implicit
    # The stiffness test needs the last stage, which the dense output overwrites.
    change = 0
    if r.is_auto:
        choose_method(m, r, tb, h)
        change = r.is_implicit - was_implicit
        r.is_implicit = was_implicit
    if not was_implicit:
        steps.dense(m, w, r, tb, h)
    status = END
    is_switched = False
    if m.n_watch > 0:
        h = watch(m, w, r, tb, h, row, t_stop)
        if h <= 0.0:
            return int(h)
        for k in range(m.n_guard):
            if r.fired[k] and m.guard_is_stop[k]:
                status = STOPPED
        for k in range(m.n_guard, m.n_watch):
            if r.fired[k]:
                is_switched = True
    if r.t + h == r.t:
        return STEP_TOO_SMALL
    record(m, w, r, log, r.t, h, r.y, w.side, w.slip, was_implicit)
    r.n_step += 1
    r.pivot_rate = (math.sqrt(r.pivot_end) - math.sqrt(r.pivot)) / h
    r.pivot = r.pivot_end
    r.t = t_stop if h == t_stop - r.t else r.t + h
    if was_implicit:
        r.h_last = h
    r.is_implicit = was_implicit + change
    for i in range(r.n_y):
        r.y[i] = r.y1[i]
        r.K[i] = r.K[row * r.n_y + i]
    steps.keep_heard(m, r)
    if is_switched:
        r.has_touched = switch.is_touch_down(m, w, r)
        r.switch_status = switch.switch(m, w, r, p, hl, min(r.t, r.t_cap))
        if r.switch_status != switch.DECIDED:
            r.t_fail = r.t
            return UNDECIDED
        r.is_fresh = 0
        if r.has_touched:
            # A normal law need not be smooth where it begins, and may be stiff.
            r.h = min(r.h, r.h_touch, switch.time_to_feel(m, w, r))
        return status
    if r.has_touched:
        r.h_touch = h
        r.has_touched = 0
    if r.n_unchecked >= UNCHECKED_STEPS and not r.is_implicit and r.is_auto:
        # At a tight tolerance the test at every step drowns in round-off.
        r.n_unchecked = 0
        radius = steps.spectral_radius(m, w, r)
        if h * radius > HELD * tb.reach and t_stop - r.t > UNCHECKED_STEPS * h:
            r.is_implicit = 1
            r.has_jacobian = 0
            forget_step(m, r)
    if w.n_pinned > 0 or (w.n_gripped > 1 and w.has_lost_rank):
        change = switch.review(m, w, r, p, hl, min(r.t, r.t_cap))
        if change < 0:
            r.t_fail = r.t
            return UNDECIDED
        if change > 0:
            r.is_fresh = 0
    return status


@kernel
def march(m, w, r, tb, log, p, hl, t_stop, max_steps):
    """Advance until t_stop, a stop event, a full log or `max_steps`."""
    for _ in range(max_steps):
        # An event may land within round-off of the end.
        if r.t >= t_stop - MIN_STEP * abs(t_stop):
            r.t = t_stop
            return END
        if log.n >= log.capacity:
            return FULL
        if not r.is_fresh:
            status = start_arc(m, w, r, tb, p, hl, t_stop)
            if status != END:
                return status
        status = advance(m, w, r, tb, log, p, hl, t_stop)
        if status != END:
            return status
    return TICK
