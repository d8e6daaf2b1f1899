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

from nonsmooth.kernels import modes, steps, switch
from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, kernel
from nonsmooth.kernels.assemble import (
    CONTACT,
    GAP,
    GAP_RATE,
    LAM_N,
    LAM_T,
    OPEN,
    PRESSING,
    RELEASED,
    V_T,
)
from nonsmooth.kernels.lcp import Hlcp, Lcp
from nonsmooth.kernels.loop import MIN_STEP, is_finite, record
from nonsmooth.kernels.run import (
    END,
    FULL,
    NOT_FINITE,
    TICK,
    UNDECIDED,
    Run,
)
from nonsmooth.kernels.tables import Tables, Work

# Steps in one record at most.
SPAN = 100


@kernel
def shown_side(c):
    """Return the state of a contact from its gap and force."""
    if c[GAP] >= 0.0:
        return OPEN
    return PRESSING if c[LAM_N] > 0.0 else RELEASED


@kernel
def mark(m, w, r):
    """Mark contacts at rest, note sides; return whether any rests."""
    is_any = False
    for k in range(m.n_contact):
        r.rests[k] = 0
        c = at(w.contact, CONTACT * k)
        was_pressing = r.shown[k] == PRESSING
        if r.shown[k] == OPEN and c[GAP] < 0.0:
            w.approach[k] = max(0.0, -c[GAP_RATE])
        r.shown[k] = shown_side(c)
        if not switch.has_friction(m, k):
            continue
        sign = 1 if c[V_T] >= 0.0 else -1
        if r.shown[k] != PRESSING or (not was_pressing and c[V_T] != 0.0):
            w.slip[k] = sign
        elif w.slip[k] == 0:
            r.rests[k] = 1 if abs(c[LAM_T]) > m.contact_mu0[k] * c[LAM_N] else 0
        elif w.slip[k] * c[V_T] <= 0.0:
            r.rests[k] = 1
        is_any = is_any or r.rests[k] != 0
    return is_any


@kernel
def join_group(m, w, r):
    """Let the sticking contacts of a group be decided with one of it at rest."""
    for g in range(m.n_group):
        r.is_touched[g] = 0
    for k in range(m.n_contact):
        if r.rests[k]:
            r.is_touched[m.contact_group[k]] = 1
    for k in range(m.n_contact):
        is_stuck = r.shown[k] == PRESSING and switch.has_friction(m, k)
        if is_stuck and w.slip[k] == 0 and r.is_touched[m.contact_group[k]]:
            r.rests[k] = 1


@kernel
def note_changes(m, w, r):
    """Mark as fired the guards that explain each contact's change; return if any."""
    is_any = False
    for k in range(m.n_contact):
        fired = at(r.fired, m.n_guard + 4 * k)
        old, new = r.span_side[k], r.shown[k]
        fired[0] = 1 if old != new and (old == OPEN or new == OPEN) else 0
        fired[1] = 1 if old != new and old != OPEN and new != OPEN else 0
        # Of a contact without force the slip is only remembered.
        is_slip = new == PRESSING and old == PRESSING and r.span_slip[k] != w.slip[k]
        fired[2] = 1 if is_slip else 0
        is_any = is_any or fired[0] + fired[1] + fired[2] > 0
    return is_any


@far(Tables, Work, Run, Lcp, Hlcp, NUMBER, returns=INTEGER)
def decide(m, w, r, p, hl, t):
    """Choose the next mode from the signs at a step's end.

    Returns 1 if it changed, 0 if not, UNDECIDED.
    """
    if mark(m, w, r):
        join_group(m, w, r)
        for i in range(r.n_y):
            r.ahead[i] = r.y[i]
        r.switch_status = switch.decide_rest(m, w, r, p, hl, t)
        if r.switch_status != switch.DECIDED:
            return UNDECIDED
    switch.activate(m, w)
    return 1 if note_changes(m, w, r) else 0


@kernel
def begin_span(m, w, r):
    """Note state and mode at the start of a span, and evaluate y' there."""
    steps.evaluate(m, w, r, r.t, r.y, r.K)
    for i in range(r.n_y):
        r.span_y[i] = r.y[i]
        r.span_rate[i] = r.K[i]
    for k in range(m.n_contact):
        r.span_side[k] = r.shown[k]
        r.span_slip[k] = w.slip[k]
    return END if is_finite(r.n_y, r.K) else NOT_FINITE


@kernel
def first_mode(m, w, r, p, hl):
    """Choose the mode a run begins in; return a status."""
    w.is_clamped = 1
    for k in range(m.n_contact):
        w.side[k] = PRESSING
        w.slip[k] = 1
    switch.activate(m, w)
    steps.evaluate(m, w, r, r.t, r.y, r.K)
    for k in range(m.n_contact):
        c = at(w.contact, CONTACT * k)
        r.shown[k] = shown_side(c)
        w.slip[k] = 1 if c[V_T] > 0.0 else -1
        if math.isnan(w.approach[k]):
            w.approach[k] = max(0.0, -c[GAP_RATE])
    return decide(m, w, r, p, hl, r.t)


@kernel
def step(m, w, r, tb, h):
    """Take one step; y' at its end goes to K[0]. Return whether it is finite."""
    steps.stages(m, w, r, tb, h)
    for i in range(r.n_y):
        r.y[i] = r.y1[i]
    r.n_step += 1
    steps.evaluate(m, w, r, r.t + h, r.y, r.K)
    r.violation = max(r.violation, modes.violation(m, w))
    return is_finite(r.n_y, r.K)


@kernel
def hermite(r, h):
    """Write the cubic through both ends of the span to C; its end is y, K[0]."""
    n, C = r.n_y, r.C
    for i in range(r.n_coef * n):
        C[i] = 0.0
    for i in range(n):
        rise = r.y[i] - r.span_y[i]
        first, last = h * r.span_rate[i], h * r.K[i]
        C[i] = first
        C[n + i] = 3.0 * rise - 2.0 * first - last
        C[2 * n + i] = first + last - 2.0 * rise


@kernel
def advance(m, w, r, tb, log, p, hl, t_stop):
    """Take and record a span of steps in one mode; return END or a failure."""
    t0 = r.t
    change = 0
    for _ in range(SPAN):
        left = t_stop - r.t
        # A remainder within a millionth of a step is the sum's round-off.
        is_last = left < r.h_fixed * (1.0 + 1e-6)
        h = left if is_last else r.h_fixed
        if not step(m, w, r, tb, h):
            r.t_fail = r.t + h
            return NOT_FINITE
        r.t = t_stop if is_last else r.t + h
        change = decide(m, w, r, p, hl, r.t)
        if change != 0 or is_last:
            break
    hermite(r, r.t - t0)
    h = r.t - t0
    record(m, w, r, log, t0, h, r.span_y, r.span_side, r.span_slip, r.is_implicit)
    if change == UNDECIDED:
        r.t_fail = r.t
        return UNDECIDED
    return begin_span(m, w, r)


@kernel
def march(m, w, r, tb, log, p, hl, t_stop, max_spans):
    """Advance until t_stop, a full log or `max_spans`."""
    for _ in range(max_spans):
        if r.t >= t_stop - MIN_STEP * abs(t_stop):
            r.t = t_stop
            return END
        if log.n >= log.capacity:
            return FULL
        if not r.is_mode_known:
            r.is_mode_known = 1
            if first_mode(m, w, r, p, hl) == UNDECIDED:
                r.t_fail = r.t
                return UNDECIDED
        if not r.is_fresh:
            r.is_fresh = 1
            status = begin_span(m, w, r)
            if status != END:
                r.t_fail = r.t
                return status
        status = advance(m, w, r, tb, log, p, hl, t_stop)
        if status != END:
            return status
    return TICK
