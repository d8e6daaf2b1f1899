"""Crossing a short span in which events accumulate, by implicit set-valued steps.

Where modes change again and again without time passing, no mode lasts, and events have
no end (a ball that comes to rest by ever smaller bounces, a law that switches at zero
load). Such a span is crossed by small steps of first order, with friction decided
inside each step by the same convex problem as at rest, for the velocity at its end:

    v_t+ = v_t + h (A lam_t + b)        |lam_t| <= limit, against v_t+
    v+ = v + h a(q, v, lam_t)           q+ = q + h v+

With friction in joints limits follow from their loads, as at rest. Normal forces are
cut off at zero, and nothing is located. The span is crossed twice,
with steps of two sizes; their difference is the estimate of the error, and is noted.
A span that did not suffice is followed by one twice as long.

References
----------
Moreau (1988), Jean (1999): the velocity form; with forces of compliant contact.
"""

from nonsmooth.kernels.abi import (
    FLOATS,
    INTEGER,
    NUMBER,
    Block,
    at,
    far,
    floats,
    kernel,
)
from nonsmooth.kernels.complementarity.scaling import LIMIT, SOLVED
from nonsmooth.kernels.friction import joined, rest
from nonsmooth.kernels.friction.groups import has_slides
from nonsmooth.kernels.friction.modes import (
    HELD,
    OPEN,
    PRESSING,
    RELEASED,
    SLIP,
    STICK,
    set_grip,
    sign_of,
)
from nonsmooth.kernels.friction.settle import is_at_rest
from nonsmooth.kernels.march import steps
from nonsmooth.kernels.march.record import is_finite
from nonsmooth.kernels.march.switch import FLOOD_PART
from nonsmooth.kernels.mechanics import (
    assemble,
    bodies,
    contacts,
    dynamics,
    reactions,
    segments,
)
from nonsmooth.kernels.mechanics.contacts import has_friction
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import Decision
from nonsmooth.kernels.tolerances import NO_COMPLIANCE

# Steps of a span: of the estimate, and of the result.
FEW, MANY = 8, 16
# First span, as a part of the run and of the time in which the model moves by itself;
# the longest, as a part of the run.
FIRST, OWN, LONGEST = 1e-9, 1e-2, 1e-3
# Difference of two crossings, in units of the tolerance, after which the next span may
# be longer than explicit normal forces are said to bear.
CALM = 1e-2
# Slip velocity, beside the speeds it is the difference of, that no step stops.
FAST = 1e-3
# Part of the loads of joints by which they may differ from what friction was found for.
NEARLY_MET = 1e-3
# A span follows another if it begins within so many of its lengths, or while switches
# are counted.
SOON = 20.0


class Crossing(Block):
    """Spans that were crossed."""

    n = INTEGER
    t_first = NUMBER  # s
    t_last = NUMBER  # s, end of the last
    span = NUMBER  # s, length of the last
    total = NUMBER  # s
    error = NUMBER  # sum of the largest differences, in units of the tolerance
    last = NUMBER  # that of the last
    start = floats("n_y")
    rough = floats("n_y")  # end by few steps
    force = floats("n_contact")  # friction


@kernel
def show_sides(m, w):
    """Set the sides of contacts by gap and force, for the step that begins."""
    for k in range(m.n_touch):
        c, mode = w.contact[k], w.mode[k]
        if mode.side == OPEN and c.gap < 0.0:
            mode.approach = max(0.0, -c.gap_rate)
        mode.side = OPEN if c.gap >= 0.0 else PRESSING


@kernel
def list_open(m, w, r, g):
    """Mark the contacts of group g whose friction the step decides.

    Joints that slide fast do so all step, and their friction is known but for the load.
    """
    for k in range(m.n_contact):
        mode, v_t = w.mode[k], w.contact[k].v_t
        is_here = m.contact_group[k] == g and has_friction(m, k)
        r.rests[k] = 1 if is_here and mode.side == PRESSING else 0
        r.dropped[k] = 0 if is_at_rest(m, w, k) else 1
        r.balanced[k] = 0
        is_joint = is_here and k >= m.n_touch
        if is_joint and abs(v_t) > FAST * contacts.slip_scale(m, w, k):
            r.rests[k] = 0
            set_grip(mode, SLIP, sign_of(v_t))


@kernel
def leave_held(m, w, r, x):
    """Take out contacts that joints and drives alone hold; return how many."""
    n_held = 0
    for i in range(r.n_listed):
        k = r.listed[i]
        if abs(r.delassus[i * r.n_force + i]) <= NO_COMPLIANCE * r.free[i]:
            c, mode = w.contact[k], w.mode[k]
            r.rests[k] = 0
            n_held += 1
            if is_at_rest(m, w, k):
                set_grip(mode, HELD, 0)
            else:
                set_grip(mode, SLIP, sign_of(c.v_t))
            x.force[k] = contacts.friction_force(m, w, k, c.lam_n, c.v_t)
    return n_held


@kernel
def friction_inside(m, w, r, x, t, h):
    """Write the friction that holds or opposes slip at the end of the step."""
    for g in range(m.n_group):
        list_open(m, w, r, g)
        while rest.pose(m, w, r, t, g) > 0:
            if leave_held(m, w, r, x) > 0:
                continue
            n = r.n_listed
            for i in range(n):
                r.slip_rate[i] += w.contact[r.listed[i]].v_t / h
            if has_slides(m, g):
                status = joined.solve_joined(m, w, r, n)
            else:
                status = rest.solve_friction(m, w, r, n)
            # The loads of joints may not be met by any friction; a step bears a little.
            is_near = status == LIMIT and w.search.apart <= NEARLY_MET
            if status != SOLVED and not is_near:
                return False
            for i in range(r.n_force):
                x.force[r.listed[i]] = r.friction[i]
            for i in range(n):
                slip = w.box.slip[i]
                grip = SLIP if slip != 0 else STICK
                set_grip(w.mode[r.listed[i]], grip, slip)
            break
    return True


@far(Tables, Work, Decision, Crossing, FLOATS, NUMBER, NUMBER, returns=INTEGER)
def small_step(m, w, r, x, y, t, h):
    """Advance y by one step; return whether that was possible."""
    s, n = r.step, m.n_dof
    v = at(y, n)
    for k in range(m.n_contact):
        x.force[k] = 0.0
        if m.contact_row[k] >= 0:
            contacts.set_active(m, w, m.contact_row[k], False)
    dynamics.note_speed(m, w, v, s.set.size, s.set.pace)
    dynamics.configure(m, w, t, y, v)
    if segments.turn_faces(m, w):
        dynamics.configure(m, w, t, y, v)
    show_sides(m, w)
    for i in range(m.n_y):
        r.ahead[i] = y[i]
    if not friction_inside(m, w, r, x, t, h):
        return 0
    dynamics.configure(m, w, t, y, v)
    for k in range(m.n_contact):
        if k >= m.n_touch:
            # Applied with what does not depend on the load.
            w.contact[k].drag -= x.force[k]
        elif has_friction(m, k):
            w.contact[k].lam_t = x.force[k]
    reactions.factor_rows(m, w)
    w.is_bare = 1
    dynamics.accelerate(m, w, t, v, 0.0, 0.0, s.d)
    w.is_bare = 0
    for k in range(m.n_touch, m.n_contact):
        w.contact[k].lam_t = -w.contact[k].drag
    work = 2 * n + m.n_state
    contacts.state_rates(m, w, at(s.d, 2 * n))
    for i in range(m.n_state):
        y[2 * n + i] += h * s.d[2 * n + i]
    for i in range(n):
        v[i] += h * s.d[i]
        y[i] += h * v[i]
    # Powers by the velocities at the end, as friction was decided.
    bodies.markers(m, w, y, v)
    keep_forces(m, w, y, v)
    assemble.powers(m, w, at(s.d, work))
    for i in range(m.n_work):
        y[work + i] += h * s.d[work + i]
    dynamics.project(m, w, min(t + h, s.t_cap), y, s.set.size)
    return is_finite(m.n_y, y)


@kernel
def keep_forces(m, w, y, v):
    """Evaluate rates of contacts at the end of a step, its forces kept."""
    for k in range(m.n_contact):
        c = w.contact[k]
        lam_n, lam_t = c.lam_n, c.lam_t
        contacts.contact(m, w, k)
        c.lam_n = lam_n
        c.lam_t = lam_t


@kernel
def go(m, w, r, x, y, t, span, n_step):
    """Cross a span by n steps from y; return whether that was possible."""
    h = span / n_step
    for i in range(n_step):
        if not small_step(m, w, r, x, y, min(t + i * h, r.step.t_cap), h):
            return False
    return True


@kernel
def choose_span(m, w, r, x, left):
    """Return the length to cross: longer where the last was too short."""
    s = r.step
    pace = steps.spectral_radius(m, w, s)
    span = max(FIRST * s.set.span, 1e-13 * abs(s.t))
    if pace > 0.0:
        # No longer than explicit normal forces bear.
        span = min(span, OWN / pace)
    if x.n > 0 and s.t - x.t_last <= max(SOON * x.span, FLOOD_PART * s.set.span):
        span = 2.0 * x.span
        # What contacts on each other's corners do is no pace: their faces change.
        pace = pace if x.last > CALM else 0.0
    longest = LONGEST * s.set.span
    if pace > 0.0:
        longest = min(longest, MANY * 0.5 / pace)
    return min(span, longest, left)


@far(Tables, Work, Decision, Crossing, NUMBER, returns=NUMBER)
def cross(m, w, r, x, t_stop):
    """Cross a span from the present state; return its length, 0 if that failed.

    The end is in `y1`, the straight way to it in C; modes are those of the last step.
    """
    s = r.step
    t = min(s.t, s.t_cap)
    span = choose_span(m, w, r, x, t_stop - s.t)
    was_clamped = w.is_clamped
    w.is_clamped = 1
    for i in range(m.n_y):
        x.start[i] = s.y[i]
        x.rough[i] = s.y[i]
        s.y1[i] = s.y[i]
    is_done = go(m, w, r, x, x.rough, t, span, FEW)
    is_done = is_done and go(m, w, r, x, s.y1, t, span, MANY)
    w.is_clamped = was_clamped
    if not is_done:
        return 0.0
    finish(m, w, r, x, span)
    return span


@kernel
def finish(m, w, r, x, span):
    """Note a span, its error, and the way to its end."""
    s = r.step
    bodies.set_tolerances(m, s.set.atol, s.set.rtol, x.start, s.y1, s.tol)
    error = 0.0
    for i in range(2 * m.n_dof):
        error = max(error, abs(s.y1[i] - x.rough[i]) / s.tol[i])
    x.error += error
    x.last = error
    if x.n == 0:
        x.t_first = s.t
    x.n += 1
    x.span = span
    x.total += span
    x.t_last = s.t + span
    for i in range(m.n_y):
        s.C[0][i] = s.y1[i] - s.y[i]
        for p in range(1, s.n_coef):
            s.C[p][i] = 0.0
    for k in range(m.n_touch):
        c, mode = w.contact[k], w.mode[k]
        if mode.side == PRESSING and not c.lam_n > 0.0:
            mode.side = RELEASED if c.gap < 0.0 else OPEN
    rest.activate(m, w)
