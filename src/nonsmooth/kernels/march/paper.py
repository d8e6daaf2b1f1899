"""The papers' own scheme: fixed steps, modes decided at their ends.

A step of the classical Runge-Kutta method with Baumgarte's stabilisation; normal
forces cut off at zero within the step; then

- a contact whose slip velocity has changed sign is at rest,
- so is a sticking one whose friction exceeds mu0 lam_n,
- all contacts at rest are decided together by the complementarity problem.

Nothing is located and nothing projected, so that events are good to one step, and a
start may violate the constraints. Steps are recorded in spans of one mode, with a
cubic through their ends.

References
----------
[WangWang2015]_ section 4; [ZhangWang2017]_ section 4.
"""

import math

from nonsmooth.kernels.abi import INTEGER, NUMBER, Block, far, kernel
from nonsmooth.kernels.friction.modes import (
    OPEN,
    PRESSING,
    RELEASED,
    SLIP,
    STICK,
    copy_mode,
    set_grip,
    sign_of,
)
from nonsmooth.kernels.friction.rest import DECIDED, activate, decide_rest
from nonsmooth.kernels.march import steps
from nonsmooth.kernels.march.record import is_finite, record
from nonsmooth.kernels.mechanics import dynamics
from nonsmooth.kernels.mechanics.contacts import has_friction
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import (
    END,
    FULL,
    NOT_FINITE,
    TICK,
    UNDECIDED,
    Decision,
    Log,
    Span,
    Step,
    Tableau,
)
from nonsmooth.kernels.tolerances import MIN_STEP

# Steps in one record at most.
SPAN = 100


class Paper(Block):
    """What the scheme works in."""

    step = Step
    rest = Decision
    span = Span
    tableau = Tableau

    is_fresh = INTEGER  # a span has begun
    is_break = INTEGER  # not used: forces are taken as they come


@kernel
def shown_side(c):
    """Return the state of a contact from its gap and force."""
    if c.gap >= 0.0:
        return OPEN
    return PRESSING if c.lam_n > 0.0 else RELEASED


@kernel
def mark(m, w, rest, span):
    """Mark contacts at rest, note sides; return whether any rests."""
    is_any = False
    for k in range(m.n_contact):
        rest.rests[k] = 0
        c, mode = w.contact[k], w.mode[k]
        was_pressing = span.shown[k] == PRESSING
        if span.shown[k] == OPEN and c.gap < 0.0:
            mode.approach = max(0.0, -c.gap_rate)
        span.shown[k] = shown_side(c)
        if not has_friction(m, k):
            continue
        sign = 1 if c.v_t >= 0.0 else -1
        if span.shown[k] != PRESSING or (not was_pressing and c.v_t != 0.0):
            set_grip(mode, SLIP, sign)
        elif mode.grip == STICK:
            is_beyond = abs(c.lam_t) > m.contact_mu0[k] * c.lam_n
            rest.rests[k] = 1 if is_beyond else 0
        elif mode.sign * c.v_t <= 0.0:
            rest.rests[k] = 1
        is_any = is_any or rest.rests[k] != 0
    return is_any


@kernel
def join_group(m, w, rest, span):
    """Let the sticking contacts of a group be decided with one of it at rest."""
    for g in range(m.n_group):
        rest.is_touched[g] = 0
    for k in range(m.n_contact):
        if rest.rests[k]:
            rest.is_touched[m.contact_group[k]] = 1
    for k in range(m.n_contact):
        is_stuck = span.shown[k] == PRESSING and has_friction(m, k)
        is_stuck = is_stuck and w.mode[k].grip == STICK
        if is_stuck and rest.is_touched[m.contact_group[k]]:
            rest.rests[k] = 1


@kernel
def note_changes(m, w, span):
    """Mark as fired the guards that explain each contact's change; return if any."""
    is_any = False
    fired = span.fired
    for k in range(m.n_contact):
        last, mode = span.mode[k], w.mode[k]
        old, new = last.side, span.shown[k]
        press, rub = m.contact_press[k], m.contact_rub[k]
        fired[press] = 1 if old != new and (old == OPEN or new == OPEN) else 0
        fired[press + 1] = 1 if old != new and old != OPEN and new != OPEN else 0
        is_any = is_any or fired[press] + fired[press + 1] > 0
        if rub >= 0:
            # Of a contact without force the slip is only remembered.
            is_slip = new == PRESSING and old == PRESSING
            is_slip = is_slip and (last.grip != mode.grip or last.sign != mode.sign)
            fired[rub] = 1 if is_slip else 0
            is_any = is_any or is_slip
    return is_any


@far(Tables, Work, Step, Decision, Span, NUMBER, returns=INTEGER)
def decide(m, w, s, rest, span, t):
    """Choose the next mode from the signs at a step's end.

    Returns 1 if it changed, 0 if not, UNDECIDED.
    """
    if mark(m, w, rest, span):
        join_group(m, w, rest, span)
        for i in range(m.n_y):
            rest.ahead[i] = s.y[i]
        rest.status = decide_rest(m, w, rest, t)
        if rest.status != DECIDED:
            return UNDECIDED
    activate(m, w)
    return 1 if note_changes(m, w, span) else 0


@kernel
def begin_span(m, w, s, span):
    """Note state and mode at the start of a span, and evaluate y' there."""
    steps.evaluate(m, w, s, s.t, s.y, s.K[0])
    for i in range(m.n_y):
        span.y[i] = s.y[i]
        span.rate[i] = s.K[0][i]
    for k in range(m.n_contact):
        copy_mode(w.mode[k], span.mode[k])
        span.mode[k].side = span.shown[k]
    return END if is_finite(m.n_y, s.K[0]) else NOT_FINITE


@kernel
def first_mode(m, w, r):
    """Choose the mode a run begins in; return a status."""
    s = r.step
    w.is_clamped = 1
    for k in range(m.n_contact):
        w.mode[k].side = PRESSING
        set_grip(w.mode[k], SLIP, 1)
    activate(m, w)
    steps.evaluate(m, w, s, s.t, s.y, s.K[0])
    for k in range(m.n_contact):
        c, mode = w.contact[k], w.mode[k]
        r.span.shown[k] = shown_side(c)
        mode.sign = sign_of(c.v_t)
        if math.isnan(mode.approach):
            mode.approach = max(0.0, -c.gap_rate)
    return decide(m, w, s, r.rest, r.span, s.t)


@kernel
def step(m, w, s, tb, h):
    """Take one step; y' at its end goes to K[0]. Return whether it is finite."""
    steps.stages(m, w, s, tb, h)
    for i in range(m.n_y):
        s.y[i] = s.y1[i]
    s.n_step += 1
    steps.evaluate(m, w, s, s.t + h, s.y, s.K[0])
    s.violation = max(s.violation, dynamics.violation(m, w))
    return is_finite(m.n_y, s.K[0])


@kernel
def hermite(m, s, span, h):
    """Write the cubic through both ends of the span to C; its end is y, K[0]."""
    for p in range(s.n_coef):
        for i in range(m.n_y):
            s.C[p][i] = 0.0
    for i in range(m.n_y):
        rise = s.y[i] - span.y[i]
        first, last = h * span.rate[i], h * s.K[0][i]
        s.C[0][i] = first
        s.C[1][i] = 3.0 * rise - 2.0 * first - last
        s.C[2][i] = first + last - 2.0 * rise


@kernel
def advance(m, w, r, log, t_stop):
    """Take and record a span of steps in one mode; return END or a failure."""
    s, span = r.step, r.span
    t0 = s.t
    change = 0
    for _ in range(SPAN):
        left = t_stop - s.t
        # A remainder within a millionth of a step is the sum's round-off.
        is_last = left < s.set.h_fixed * (1.0 + 1e-6)
        h = left if is_last else s.set.h_fixed
        if not step(m, w, s, r.tableau, h):
            s.t_fail = s.t + h
            return NOT_FINITE
        s.t = t_stop if is_last else s.t + h
        change = decide(m, w, s, r.rest, span, s.t)
        if change != 0 or is_last:
            break
    h = s.t - t0
    hermite(m, s, span, h)
    record(m, s, log, t0, h, span.y, span.mode, span.fired, 0)
    if change == UNDECIDED:
        s.t_fail = s.t
        return UNDECIDED
    return begin_span(m, w, s, span)


@far(Tables, Work, Paper, Log, NUMBER, INTEGER, returns=INTEGER)
def march(m, w, r, log, t_stop, max_spans):
    """Advance until t_stop, a full log or `max_spans`."""
    s = r.step
    for _ in range(max_spans):
        if s.t >= t_stop - MIN_STEP * abs(t_stop):
            s.t = t_stop
            return END
        if log.n >= log.capacity:
            return FULL
        if not r.rest.is_known:
            r.rest.is_known = 1
            if first_mode(m, w, r) == UNDECIDED:
                s.t_fail = s.t
                return UNDECIDED
        if not r.is_fresh:
            r.is_fresh = 1
            status = begin_span(m, w, s, r.span)
            if status != END:
                s.t_fail = s.t
                return status
        status = advance(m, w, r, log, t_stop)
        if status != END:
            return status
    return TICK
