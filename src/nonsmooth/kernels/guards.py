"""Watching guards on the dense output of a step.

First the user's events, then four guards for each contact, then, if joints have
friction, the least determinant of their problem. A contact's guards are positive in
its mode:

    0  gap, or overlap                      touch_down, separate
       force of the front flank of a joint  change_side
    1  force / overlap, or its negative     release, re_engage
       force of the rear flank of a joint   change_side
    2  v_t times its sign, or mu0 lam_n + lam_t     stick or reverse, break_away
    3  mu0 lam_n - lam_t                    break_away

Force over overlap, because some laws vanish with the overlap whatever its rate.

A guard is sampled at a few nodes of the step, with its rate where that is cheap
(not for reactions). A change of sign between nodes brackets a root; so does an
extremum on the far side of zero, found where the rate changes sign or where a node
is lower than its neighbours, so that a pair of roots inside a step is not lost.
The side a guard starts from is remembered, not read from a value that may be
round-off.
"""

from nonsmooth.kernels import assemble, modes, reactions, slides, steps
from nonsmooth.kernels.abi import (
    FLOATS,
    INTEGER,
    NUMBER,
    at,
    call_guard,
    far,
    kernel,
    stack_floats,
)
from nonsmooth.kernels.assemble import (
    CONTACT,
    FOLLOWING,
    FORCE,
    GAP,
    GAP_RATE,
    HELD,
    LAM_N,
    LAM_T,
    OPEN,
    PINNED,
    PRESSING,
    STICK,
    V_T,
    YIELDING,
)
from nonsmooth.kernels.run import Run
from nonsmooth.kernels.tables import Tables, Work

N_NODE = 8
# Guards whose roots lie this close, relative to the time reached, fire as one.
TIE = 1e-12
MAX_BISECTION = 60
NONE = 2.0
# Overlap below which a law is evaluated there, as a part of the model's size: the
# ratio of force to overlap has a limit that round-off hides.
SMALLEST_OVERLAP = 1e-13
# Difference for the rate of a force, as a part of the time in which the overlap or its
# rate changes by itself.
LAW_DIFFERENCE, TINY = 1e-5, 1e-300
# Part of the model's weight below which a normal force says nothing about friction.
SMALLEST_FORCE = 1e-9
# Gap on the wrong side of zero, as a part of the model's size, that tells of a crossing
# not seen.
MISSED = 1e-10
# Gap that is round-off of positions, as a part of the model's size.
SMALLEST_GAP = 1e-15
# Part of the speeds it is the difference of below which a slip velocity is round-off.
SMALLEST_SLIP = 5e-14
# The same of a contact that others hold, below which they do not move: more, since
# their accelerations have round-off that adds up over a step.
MOVES = 1e-9
# Fractions of a step at which an extremum, and a root, count as found: a dip thinner
# than the first is no crossing; landing refines the second.
EXTREMUM_WIDTH, ROOT_WIDTH = 1e-9, 1e-15
# Parabolas through a low node and its neighbours until its depth is known to this part.
MAX_PARABOLA, DEPTH = 12, 0.1
# A value this small beside the largest of a step is the round-off of a zero.
ZERO = 1e-9
# A guard that would be at zero within this part of the time reached is there: a run
# that begins at an event of an earlier one.
ARMED = 1e-13
# Nodes of friction at rest may differ from their interpolation by this part of the
# least of them; where they vary by less than the next they are not looked at.
# Those that go down to zero, by a part of the largest.
RESOLVED, ALIKE, DEEPEST = 0.1, 0.1, 0.05
# How often the first interval is halved to find the lobe after such a start.
MAX_HALVING = 40
# Fraction of a step within which an event is at its start.
AT_ONCE = 1e-9
# Halvings of an interval to the longest moment before a mode is decided again.
SHORTEST = 6


@kernel
def force_rate(m, w, k, overlap, gap_rate):
    """Return the rate of force / overlap of contact k, by a difference of its law."""
    acceleration = assemble.gap_acceleration(m, w, k)
    pace = abs(gap_rate) / overlap + abs(acceleration) / (abs(gap_rate) + TINY)
    dt = LAW_DIFFERENCE / (pace + TINY)
    d0, d1 = overlap + dt * gap_rate, overlap - dt * gap_rate
    v0, v1 = gap_rate - dt * acceleration, gap_rate + dt * acceleration
    before = assemble.normal_force(m, w, k, -d0, v0) / d0
    after = assemble.normal_force(m, w, k, -d1, v1) / d1
    return (after - before) / (2.0 * dt)


@kernel
def contact_guards(m, w, k, size, out):
    """Write the four guards of contact k and their rates, zero where not known.

    The first two watch what presses, the others friction.
    """
    for i in range(4):
        out[2 * i] = 1.0
        out[2 * i + 1] = 0.0
    if k < m.n_touch:
        touch_guards(m, w, k, size, out)
        if w.side[k] == OPEN:
            return
        if not w.contact[CONTACT * k + LAM_N] > SMALLEST_FORCE * m.force:
            return
    elif not w.is_quiet:
        values = stack_floats(4)
        slides.reaction_guards(m, w, k, values)
        for i in range(4):
            out[2 * i] = values[i]
    if m.contact_row[k] >= 0:
        friction_guards(m, w, k, at(out, 4))


@kernel
def touch_guards(m, w, k, size, out):
    """Write the guards of gap and normal force."""
    c = at(w.contact, CONTACT * k)
    gap = c[GAP]
    sign = 1.0 if w.side[k] == OPEN else -1.0
    # Below round-off its sign says nothing.
    out[0] = sign * gap + SMALLEST_GAP * size
    out[1] = sign * c[GAP_RATE]
    if w.side[k] == OPEN:
        return
    overlap, force = -gap, c[FORCE]
    if overlap < SMALLEST_OVERLAP * size:
        overlap = SMALLEST_OVERLAP * size
        force = assemble.normal_force(m, w, k, -overlap, c[GAP_RATE])
    sign = 1.0 if w.side[k] == PRESSING else -1.0
    out[2] = sign * force / overlap
    out[3] = sign * force_rate(m, w, k, overlap, c[GAP_RATE])


@kernel
def friction_guards(m, w, k, out):
    """Write the guards of slip, or of friction at rest.

    Within the band of velocities that counts as rest a contact yields until it leaves
    the band, or until friction is enough to balance it.
    """
    c = at(w.contact, CONTACT * k)
    slip, band = w.slip[k], m.contact_band[k]
    sign = 1.0 if slip > 0 else -1.0
    if abs(slip) == 1:
        slack = SMALLEST_SLIP * assemble.slip_scale(m, w, k)
        out[0] = sign * c[V_T] - band + slack
        out[1] = sign * assemble.slip_acceleration(m, w, k)
    elif abs(slip) == YIELDING:
        rate = assemble.slip_acceleration(m, w, k)
        out[0] = band - sign * c[V_T]
        out[1] = -sign * rate
        out[2] = sign * rate
    elif abs(slip) == PINNED or slip == HELD or abs(slip) == FOLLOWING:
        # Others hold it; where they move, so does it.
        least = MOVES * assemble.slip_scale(m, w, k)
        out[0] = max(least, band) - abs(c[V_T])
    elif slip == STICK and k < m.n_touch:
        limit = m.contact_mu0[k] * c[LAM_N]
        out[0] = limit + c[LAM_T]
        out[2] = limit - c[LAM_T]


@kernel
def has_rate(m, w, k):
    """Return whether guard k comes with its rate."""
    if k < m.n_guard:
        return True
    contact = (k - m.n_guard) // 4
    if contact >= m.n_contact:
        return False
    i = (k - m.n_guard) % 4
    if i < 2:
        return contact < m.n_touch
    slip = abs(w.slip[contact])
    return i == 2 and (slip == 1 or slip == YIELDING)


@kernel
def needs_reactions(w):
    """Return whether some guard is a reaction: friction at rest, or load of a joint."""
    return w.n_gripped > 0 or (w.n_stuck + w.n_rub > 0 and not w.is_quiet)


@kernel
def is_reaction(m, w, k):
    """Return whether guard k is a reaction."""
    contact = (k - m.n_guard) // 4
    if k < m.n_guard:
        return False
    if contact >= m.n_contact:
        return True
    i = (k - m.n_guard) % 4
    if i < 2:
        return contact >= m.n_touch
    return w.slip[contact] == STICK or (i == 3 and abs(w.slip[contact]) == YIELDING)


@kernel
def user_guard(m, w, t, k, out):
    """Write value and rate of a user's guard; its markers have been moved."""
    call_guard(
        m.address[m.guard_kind[k]],
        at(m.par, m.guard_par[k]),
        t,
        at(w.motion, 9 * m.guard_a[k]),
        at(w.motion, 9 * m.guard_b[k]),
        out,
    )


@far(Tables, Work, NUMBER, FLOATS, FLOATS, FLOATS, NUMBER, FLOATS)
def evaluate(m, w, t, y, a, scratch, size, out):
    """Value and rate of every guard at (t, y) with accelerations a."""
    v = at(y, m.n_dof)
    if needs_reactions(w):
        modes.configure(m, w, t, y, v)
        reactions.factor_rows(m, w)
        modes.accelerate(m, w, t, v, 0.0, 0.0, scratch)
        assemble.add_acceleration(m, w, scratch)
    else:
        assemble.time_laws(m, w, t)
        assemble.supports(m, w)
        assemble.markers(m, w, y, v)
        assemble.states(m, w, v)
        assemble.contacts(m, w)
        assemble.add_acceleration(m, w, a)
    for k in range(m.n_guard):
        user_guard(m, w, t, k, at(out, 2 * k))
    for k in range(m.n_contact):
        contact_guards(m, w, k, size, at(out, 2 * (m.n_guard + 4 * k)))
    if m.n_contact > m.n_touch:
        last = 2 * (m.n_guard + 4 * m.n_contact)
        out[last] = 1.0 if w.is_quiet else w.margin
        out[last + 1] = 0.0


@far(Tables, Work, Run, NUMBER, NUMBER, FLOATS)
def on_dense(m, w, r, h, x, out):
    """Value and rate of every guard at the fraction x of the step."""
    steps.on_dense(r, x, r.dense)
    steps.rate_on_dense(m, r, h, x, r.rate)
    evaluate(m, w, min(r.t + x * h, r.t_cap), r.dense, r.rate, r.d, r.size, out)


@kernel
def follow(m, w, r, h, x, t, i):
    """Move marker i alone to the fraction x of the step."""
    k = m.marker_body[i]
    support = k - (m.n_body - m.n_support)
    if support < 0:
        steps.body_on_dense(m, r, h, x, k)
    else:
        first = m.support_law[support]
        for law in range(first, first + 3 if first >= 0 else first):
            assemble.time_law(m, w, t, law)
        assemble.move_support(m, w, support)
    assemble.turn_body(m, w, r.dense, k)
    assemble.move_marker(m, w, r.dense, at(r.dense, m.n_dof), i)
    assemble.accelerate_marker(m, w, r.rate, i)


@far(Tables, Work, Run, NUMBER, NUMBER, INTEGER)
def one_on_dense(m, w, r, h, x, k):
    """Value and rate of guard k at the fraction x of the step, in `guard`.

    One that is no reaction needs the motion of its two bodies only.
    """
    if is_reaction(m, w, k):
        on_dense(m, w, r, h, x, r.guard)
        return
    t = min(r.t + x * h, r.t_cap)
    if k < m.n_guard:
        follow(m, w, r, h, x, t, m.guard_a[k])
        follow(m, w, r, h, x, t, m.guard_b[k])
        user_guard(m, w, t, k, at(r.guard, 2 * k))
        return
    i = (k - m.n_guard) // 4
    follow(m, w, r, h, x, t, m.contact_a[i])
    follow(m, w, r, h, x, t, m.contact_b[i])
    state = m.contact_state[i]
    if state >= 0:
        steps.state_on_dense(m, w, r, x, state)
    assemble.contact(m, w, i, at(w.contact, CONTACT * i))
    contact_guards(m, w, i, r.size, at(r.guard, 2 * (m.n_guard + 4 * i)))


@kernel
def arm(m, w, r, a):
    """Set the sides of all guards: one at zero by its rate."""
    w.is_quiet = 0
    evaluate(m, w, min(r.t, r.t_cap), r.y, a, r.d, r.size, r.guard)
    for k in range(m.n_guard):
        value, rate = r.guard[2 * k], r.guard[2 * k + 1]
        is_zero = abs(value) <= ARMED * abs(rate * r.t)
        r.is_at_zero[k] = 1 if is_zero else 0
        r.side[k] = rate if is_zero else value
    for k in range(m.n_guard, m.n_watch):
        # A contact's guards are positive in its mode, and may start at zero.
        r.is_at_zero[k] = 1
        r.side[k] = 1.0


@kernel
def extremum(m, w, r, h, k, x0, x1, side):
    """Fraction where guard k, approaching at x0, turns back before x1."""
    for _ in range(MAX_BISECTION):
        x = 0.5 * (x0 + x1)
        one_on_dense(m, w, r, h, x, k)
        if side * r.guard[2 * k] <= 0.0:
            return x
        if side * r.guard[2 * k + 1] < 0.0:
            x0 = x
        else:
            x1 = x
        if x1 - x0 < EXTREMUM_WIDTH:
            break
    return NONE


@kernel
def dip(m, w, r, h, k, x, g, x0, g0, x1, g1):
    """Fraction where guard k, low at x between x0 and x1, is not positive, or NONE."""
    for _ in range(MAX_PARABOLA):
        # Vertex of the parabola through the three points, and its height.
        p, q = (x - x0) * (g - g1), (x - x1) * (g - g0)
        if p == q:
            return NONE
        new = x - 0.5 * ((x - x0) * p - (x - x1) * q) / (p - q)
        slope = (g1 - g0) / (x1 - x0)
        bend = ((g1 - g) / (x1 - x) - (g - g0) / (x - x0)) / (x1 - x0)
        lowest = (
            g
            + (new - x) * (slope + bend * (2.0 * x - x0 - x1))
            + bend * (new - x) * (new - x)
        )
        if not x0 < new < x1 or abs(new - x) < EXTREMUM_WIDTH:
            return NONE
        one_on_dense(m, w, r, h, new, k)
        value = r.guard[2 * k]
        if value <= 0.0:
            return new
        if abs(value - lowest) <= DEPTH * value:
            return NONE
        if value < g:
            if new < x:
                x1, g1 = x, g
            else:
                x0, g0 = x, g
            x, g = new, value
        elif new < x:
            x0, g0 = new, value
        else:
            x1, g1 = new, value
    return NONE


@kernel
def root(m, w, r, h, k, x0, x1, side):
    """Fraction where guard k leaves `side` between x0 and x1.

    Chandrupatla's method: inverse quadratic interpolation where that is safe, else
    bisection [Chandrupatla1997]_.
    """
    one_on_dense(m, w, r, h, x0, k)
    # A start at zero is round-off: it counts as on its side.
    gb = max(side * r.guard[2 * k], 1e-300)
    one_on_dense(m, w, r, h, x1, k)
    ga = side * r.guard[2 * k]
    # The root is between a and b; c is the last point that was given up.
    a, b = x1, x0
    c, gc, t = b, gb, 0.5
    width = ROOT_WIDTH
    for _ in range(MAX_BISECTION):
        x = a + t * (b - a)
        one_on_dense(m, w, r, h, x, k)
        g = side * r.guard[2 * k]
        if (g > 0.0) == (ga > 0.0):
            c, gc = a, ga
        else:
            c, gc, b, gb = b, gb, a, ga
        a, ga = x, g
        least = width / abs(b - a)
        if least >= 1.0 or g == 0.0:
            break
        xi, phi = (a - b) / (c - b), (ga - gb) / (gc - gb)
        t = 0.5
        if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
            t = ga / (gb - ga) * gc / (gb - gc)
            t += (c - a) / (b - a) * ga / (gc - ga) * gb / (gc - gb)
        if t < 0.5 * least:
            # Step across the root: farther each time that round-off has hidden it.
            t = 0.5 * least
            width *= 4.0
        t = min(t, 1.0 - 0.5 * least)
    return a if ga <= 0.0 else b


@kernel
def root_after_zero(m, w, r, h, k, x1, side):
    """Root of guard k before x1 after a start at zero, not counting the start.

    Looks for the lobe on its side by halving; without one the guard has only touched
    zero before, and there is no root.
    """
    x = x1
    for _ in range(MAX_HALVING):
        last = x
        x = 0.5 * x
        one_on_dense(m, w, r, h, x, k)
        if side * r.guard[2 * k] > 0.0:
            return root(m, w, r, h, k, x, last, side)
    return NONE


@kernel
def moment(r):
    """Return the fraction of a step to go on in a mode that ends at once."""
    return 0.5 ** max(SHORTEST, MAX_HALVING - 2 * r.n_chatter) / N_NODE


@kernel
def is_at_once(r, k):
    """Return whether guard k was past zero at the start: there is no landing on it."""
    return r.root[k] <= max(AT_ONCE, moment(r))


@kernel
def is_round_off(m, r, k):
    """Return whether guard k, a gap, is as near to zero as positions can tell."""
    is_gap = m.n_guard <= k < m.n_guard + 4 * m.n_touch and (k - m.n_guard) % 4 == 0
    return is_gap and abs(r.guard[2 * k]) <= SMALLEST_GAP * r.size


@kernel
def starts_at_zero(m, r, k):
    """Return whether guard k is zero at the start of the step, but for round-off."""
    if not r.is_at_zero[k] or k < m.n_guard:
        return r.is_at_zero[k] != 0
    n = 2 * m.n_watch
    largest = 0.0
    for j in range(N_NODE + 1):
        largest = max(largest, abs(r.node[j * n + 2 * k]))
    return abs(r.node[2 * k]) <= ZERO * largest


@kernel
def lost_dip(m, w, r, h, k, j):
    """Fraction of a dip below zero about node j of a guard without rate, or NONE."""
    n = 2 * m.n_watch
    node = at(r.node, (j - 1) * n + 2 * k)
    last, here, after = node[0], node[n], node[2 * n]
    if not (last > here and here < after and after > 0.0):
        return NONE
    x = j / N_NODE
    return dip(m, w, r, h, k, x, here, x - 1 / N_NODE, last, x + 1 / N_NODE, after)


@kernel
def first_root(m, w, r, h, k, limit):
    """First root of guard k in its direction up to the fraction `limit`, or NONE."""
    n = 2 * m.n_watch
    # Flat to second order at the start: the first node tells its side.
    start = r.side[k] if r.side[k] != 0.0 else r.node[n + 2 * k]
    side = 1.0 if start > 0.0 else -1.0
    is_zero = starts_at_zero(m, r, k)
    is_rated = has_rate(m, w, k)
    for j in range(1, N_NODE + 1):
        x0, x1 = (j - 1) / N_NODE, j / N_NODE
        if x0 >= limit:
            break
        if side * r.node[j * n + 2 * k] > 0.0:
            if not is_rated:
                x = lost_dip(m, w, r, h, k, j) if j < N_NODE else NONE
                if x != NONE:
                    return root(m, w, r, h, k, x0, x, side)
                continue
            rate0, rate1 = r.node[(j - 1) * n + 2 * k + 1], r.node[j * n + 2 * k + 1]
            if not (side * rate0 < 0.0 and side * rate1 > 0.0):
                continue
            if j == 1 and is_zero:
                # It only touched zero, and is back on the side it came from.
                continue
            x = extremum(m, w, r, h, k, x0, x1, side)
            if x == NONE:
                continue
            # It passes zero and comes back within the interval.
            if is_event(m, k, -side):
                return root(m, w, r, h, k, x0, x, side)
            return root(m, w, r, h, k, x, x1, -side)
        x = NONE
        if is_event(m, k, -side):
            if j > 1 or not is_zero:
                return root(m, w, r, h, k, x0, x1, side)
            x = root_after_zero(m, w, r, h, k, x1, side)
            if x == NONE and k >= m.n_guard:
                # It leaves its mode at once: let the switch decide a moment later, and
                # a longer one if that was too short to tell.
                return moment(r)
        if x != NONE:
            return x
        side = -side
    return NONE


@kernel
def is_resolved(m, w, r, k):
    """Return whether the nodes of guard k, a reaction, show what it does between them.

    Where all is at rest no error limits the step, and reactions may do anything in it.
    The odd nodes are compared with the polynomial through the even ones.
    """
    n = 2 * m.n_watch
    g = at(r.node, 2 * k)
    least, largest = g[0], g[0]
    for j in range(1, N_NODE + 1):
        least = min(least, g[j * n])
        largest = max(largest, g[j * n])
    if largest - least <= ALIKE * least:
        return True
    allowed = RESOLVED * max(least, DEEPEST * largest, SMALLEST_FORCE * m.force)
    for j in range(1, N_NODE, 2):
        value = 0.0
        for i in range(0, N_NODE + 1, 2):
            weight = 1.0
            for l in range(0, N_NODE + 1, 2):
                if l != i:
                    weight *= (j - l) / (i - l)
            value += weight * g[i * n]
        if abs(value - g[j * n]) > allowed:
            return False
    return True


@kernel
def is_friction_at_rest(m, w, k):
    """Return whether guard k is what is left of the friction of a joint at rest."""
    contact = (k - m.n_guard) // 4
    if k < m.n_guard or contact >= m.n_contact or (k - m.n_guard) % 4 < 2:
        return False
    return contact >= m.n_touch and w.slip[contact] == STICK


@kernel
def all_resolved(m, w, r):
    """Return whether the nodes tell of every guard that is friction at rest."""
    for k in range(m.n_guard, m.n_watch):
        if is_friction_at_rest(m, w, k) and not is_resolved(m, w, r, k):
            return False
    return True


@far(Tables, Work, Run, NUMBER, returns=NUMBER)
def locate(m, w, r, h):
    """Return the fraction of the step's earliest event, or NONE; mark who fires."""
    n = 2 * m.n_watch
    # Of a state at rest the stages of a step say too little.
    w.is_quiet = 0
    if m.n_contact > m.n_touch and w.n_stuck == 0:
        w.is_quiet = steps.is_quiet(m, r)
    for j in range(N_NODE + 1):
        on_dense(m, w, r, h, j / N_NODE, at(r.node, j * n))
    earliest = NONE
    for k in range(m.n_watch):
        r.fired[k] = 0
        r.root[k] = first_root(m, w, r, h, k, earliest)
        earliest = min(earliest, r.root[k])
    r.is_resolved = 1
    if w.n_stuck > w.n_gripped and r.h_fixed == 0.0:
        # Beyond another event nodes are of no mode.
        is_other = False
        for k in range(m.n_watch):
            if r.root[k] <= min(earliest, 1.0) and not is_friction_at_rest(m, w, k):
                is_other = True
        if not is_other and not all_resolved(m, w, r):
            r.is_resolved = 0
            return NONE
    if earliest <= 1.0:
        tie = TIE * max(abs(r.t + earliest * h), h) / h
        for k in range(m.n_watch):
            # In the shortest of steps a tie is longer than the step.
            if r.root[k] <= min(earliest + tie, 1.0):
                r.fired[k] = 1
    return earliest


@kernel
def is_event(m, k, direction):
    """Return whether a crossing in a direction, by its sign, is an event of guard k."""
    # A contact's guards fall.
    wanted = m.guard_direction[k] if k < m.n_guard else -1
    return wanted == 0 or wanted * direction > 0.0


@kernel
def fire_at_end(m, r, t):
    """Fire the guards that reach zero within round-off of the end of an arc."""
    for k in range(m.n_guard):
        value, rate = r.guard[2 * k], r.guard[2 * k + 1]
        is_here = abs(value) <= ARMED * abs(rate * t) and rate * r.side[k] < 0.0
        if is_here and is_event(m, k, rate):
            r.fired[k] = 1


@kernel
def is_sound(m, r):
    """Return whether no open contact overlaps at the end of a step, and none gapes."""
    for k in range(m.n_guard, m.n_guard + 4 * m.n_touch, 4):
        if r.guard[2 * k] < -MISSED * r.size:
            return False
    return True


@kernel
def is_clean(m, r):
    """Return whether no contact's guard but those that fired is past zero.

    On the shorter step that lands on an event another one may come first.
    """
    n = 2 * m.n_watch
    for k in range(m.n_guard, m.n_watch):
        if r.fired[k] or r.guard[2 * k] >= 0.0:
            continue
        largest = 0.0
        for j in range(N_NODE + 1):
            largest = max(largest, abs(r.node[j * n + 2 * k]))
        if r.guard[2 * k] < -ZERO * largest:
            return False
    return True


@kernel
def settle(m, r):
    """Update the sides at the end of a step from the values in `guard`."""
    for k in range(m.n_guard):
        r.is_at_zero[k] = r.fired[k]
        if r.fired[k]:
            # It crossed: what is left of its value is round-off.
            direction = m.guard_direction[k]
            r.side[k] = float(direction) if direction else r.guard[2 * k + 1]
        elif r.guard[2 * k] * r.side[k] >= 0.0 or not is_event(m, k, -r.side[k]):
            # A crossing that is an event but did not fire lies within round-off of the
            # end; the next step finds it.
            if r.guard[2 * k] != 0.0:
                r.side[k] = r.guard[2 * k]
    for k in range(m.n_guard, m.n_watch):
        r.is_at_zero[k] = 0
