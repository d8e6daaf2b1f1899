"""Guards: what is watched, and its value and rate at a state.

    kind      owner           positive while                       events
    USER      event           its own side                         the user's
    GAP       contact         open, or overlapping                 touch_down, separate
    FORCE     contact         pressing, or not: force / overlap    release, re_engage
    FLANK     joint, 1 or 2   a flank bears as it did              change_side
    FORWARD   with friction   it slips so, or has friction left    stick, reverse,
                              against a slip forward               break_away
    BACKWARD  with friction   the same against a slip backward     break_away
    GROUP     contacts        friction at rest, redundant, has some     break_away
                              left: 1 - the part it uses
    MARGIN    joints          their loads are unique: the least determinant

Each guard has a number: first the user's, then what presses and what rubs of each
contact, `contact_press` and `contact_rub`, those of groups, then the margin;
`watch_kind` and `watch_owner` lead back. A new kind is a line here and in `pack`, its
value in `contact_guards`, whether it has a rate and is a reaction below, and what
follows in `switch`.

Force over overlap, of outlines the largest of any point, because some laws vanish with
the overlap whatever its rate.
"""

import math

from nonsmooth.kernels.abi import (
    FLOATS,
    NUMBER,
    at,
    call_guard,
    far,
    floats,
    kernel,
)
from nonsmooth.kernels.friction import groups, response, slides
from nonsmooth.kernels.friction.modes import (
    HELD,
    OPEN,
    PRESSING,
    SLIP,
    STICK,
    YIELDING,
)
from nonsmooth.kernels.mechanics import bodies, contacts, dynamics, flats, reactions
from nonsmooth.kernels.mechanics.tables import (
    BACKWARD,
    FLANK,
    FLAT,
    FORCE,
    FORWARD,
    GAP,
    GROUP,
    MARGIN,
    PATCH,
    PIN,
    USER,
    Tables,
    Work,
)
from nonsmooth.kernels.tolerances import (
    AT_LIMIT,
    EPSILON,
    MOVES,
    NO_ACCELERATION,
    SMALLEST_FORCE,
    SMALLEST_GAP,
    SMALLEST_OVERLAP,
    SMALLEST_SLIP,
    TINY,
)

# Difference for the rate of a force, as a part of the time in which the overlap or its
# rate changes by itself.
LAW_DIFFERENCE = 1e-5
# Round-off of a depth beside the lengths it is made of, several coordinates, and of a
# law of some power of it; the part of a load that it never is more than.
PLACES, NEAR_LIMIT = 30.0 * EPSILON, 0.5 * AT_LIMIT


@kernel
def has_rate(m, w, k):
    """Return whether guard k comes with its rate."""
    kind = m.watch_kind[k]
    if kind == FORWARD:
        grip = w.mode[m.watch_owner[k]].grip
        return grip == SLIP or grip == YIELDING
    if kind == FORCE:
        # Of outlines it would need the motion of all their points.
        return m.contact_kind[m.watch_owner[k]] != FLAT
    return kind == USER or kind == GAP


@kernel
def is_reaction(m, w, k):
    """Return whether guard k is a reaction: it needs the motion of the whole system."""
    kind = m.watch_kind[k]
    if kind == FORWARD or kind == BACKWARD:
        grip = w.mode[m.watch_owner[k]].grip
        return grip == STICK or (kind == BACKWARD and grip == YIELDING)
    return kind == FLANK or kind == GROUP or kind == MARGIN


@kernel
def is_friction_at_rest(m, w, k):
    """Return whether guard k is what is left of friction at rest."""
    kind = m.watch_kind[k]
    is_friction = kind == FORWARD or kind == BACKWARD
    return kind == GROUP or (is_friction and w.mode[m.watch_owner[k]].grip == STICK)


@kernel
def is_event(m, k, direction):
    """Return whether a crossing in a direction, by its sign, is an event of guard k."""
    # A contact's guards fall.
    wanted = m.guard_direction[k] if k < m.n_user else -1
    return wanted == 0 or wanted * direction > 0.0


@kernel
def set_guard(out, k, value, rate):
    """Write value and rate of guard k."""
    guard = out[k]
    guard[0] = value
    guard[1] = rate


@kernel
def force_rate(m, w, k, overlap, gap_rate):
    """Return the rate of force / overlap of contact k, by a difference of its law."""
    acceleration = contacts.gap_acceleration(m, w, k)
    pace = abs(gap_rate) / overlap + abs(acceleration) / (abs(gap_rate) + TINY)
    dt = LAW_DIFFERENCE / (pace + TINY)
    d0, d1 = overlap + dt * gap_rate, overlap - dt * gap_rate
    v0, v1 = gap_rate - dt * acceleration, gap_rate + dt * acceleration
    before = contacts.normal_force(m, w, k, -d0, v0) / d0
    after = contacts.normal_force(m, w, k, -d1, v1) / d1
    return (after - before) / (2.0 * dt)


@kernel
def contact_guards(m, w, k, size, out):
    """Write the guards of contact k and their rates, zero where not known."""
    if k < m.n_touch:
        touch_guards(m, w, k, size, out)
    else:
        joint_guards(m, w, k, out)
    rub = m.contact_rub[k]
    if rub < 0:
        return
    if k < m.n_touch:
        set_guard(out, rub, 1.0, 0.0)
        set_guard(out, rub + 1, 1.0, 0.0)
        if w.mode[k].side != PRESSING:
            return
    friction_guards(m, w, k, size, out, rub)


@kernel
def touch_guards(m, w, k, size, out):
    """Write the guards of gap and normal force."""
    c, side = w.contact[k], w.mode[k].side
    gap, press = c.gap, m.contact_press[k]
    sign = 1.0 if side == OPEN else -1.0
    # Below round-off its sign says nothing.
    slack = SMALLEST_GAP * contacts.places(m, w, k, size)
    set_guard(out, press, sign * gap + slack, sign * c.gap_rate)
    if side == OPEN or m.contact_kind[k] == PATCH:
        # The force of a patch ends with its overlap.
        set_guard(out, press + 1, 1.0, 0.0)
        return
    if m.contact_kind[k] == FLAT:
        sign = 1.0 if side == PRESSING else -1.0
        set_guard(out, press + 1, sign * flats.firmness(m, w, k, size), 0.0)
        return
    overlap, force = -gap, c.force
    if overlap < SMALLEST_OVERLAP * size:
        overlap = SMALLEST_OVERLAP * size
        force = contacts.normal_force(m, w, k, -overlap, c.gap_rate)
    sign = 1.0 if side == PRESSING else -1.0
    rate = force_rate(m, w, k, overlap, c.gap_rate)
    set_guard(out, press + 1, sign * force / overlap, sign * rate)


@kernel
def joint_guards(m, w, k, out):
    """Write the guards of a joint that are reactions, unless all stay far from zero."""
    if not w.is_quiet:
        slides.hear(m, w, k)
    for j in range(slides.n_flank(m, k) if m.contact_press[k] >= 0 else 0):
        i = m.contact_press[k] + j
        set_guard(out, i, 1.0 if w.is_quiet else w.heard[i], 0.0)
    for j in range(2 if m.contact_rub[k] >= 0 else 0):
        i = m.contact_rub[k] + j
        # In place of a rate, which it does not have, what loads a joint at rest.
        bears = bears_at_rest(m, w, k, j) if w.mode[k].grip == STICK else 0.0
        set_guard(out, i, 1.0 if w.is_quiet else w.heard[i], bears)


@kernel
def bears_at_rest(m, w, k, j):
    """Return one of the two forces that load joint k: at rest friction needs both."""
    c = w.contact[k]
    if m.contact_kind[k] == PIN:
        return w.lam[m.contact_joint[k] + j]
    return c.rear if j else c.front


@kernel
def friction_guards(m, w, k, size, out, rub):
    """Write the guards of slip, or of friction at rest.

    Within the band of velocities that counts as rest a contact yields until it leaves
    the band, or until friction is enough to balance it.
    """
    c, mode, band = w.contact[k], w.mode[k], m.contact_band[k]
    sign = mode.sign
    if mode.grip == SLIP:
        slack = SMALLEST_SLIP * contacts.slip_scale(m, w, k)
        rate = sign * contacts.slip_acceleration(m, w, k)
        set_guard(out, rub, sign * c.v_t - band + slack, rate)
    elif mode.grip == YIELDING:
        rate = contacts.slip_acceleration(m, w, k)
        set_guard(out, rub, band - sign * c.v_t, -sign * rate)
        # Round-off comes from forces as large as the weight.
        compliance = response.slip_compliance(m, w, k, w.held_a)
        slack = NO_ACCELERATION * compliance * w.force
        # Without a load nothing balances it.
        has_load = k >= m.n_touch or c.lam_n > SMALLEST_FORCE * w.force
        set_guard(out, rub + 1, sign * rate + slack if has_load else 1.0, 0.0)
    elif mode.grip == HELD:
        # Where they move, so does it.
        least = MOVES * contacts.slip_scale(m, w, k)
        set_guard(out, rub, max(least, band) - abs(c.v_t), 0.0)
    elif k < m.n_touch and contacts.is_tied(m, w, k):
        away = contacts.slip_beyond(m, w, k)
        set_guard(out, rub, 1.0 - away, 0.0)
        set_guard(out, rub + 1, 1.0 + away, 0.0)
    elif k < m.n_touch and not slides.is_shared(m, w, m.contact_group[k]):
        limit = limit_at_rest(m, w, k, size)
        set_guard(out, rub, limit + c.lam_t, 0.0)
        set_guard(out, rub + 1, limit - c.lam_t, 0.0)


@kernel
def limit_at_rest(m, w, k, size):
    """Return the friction beyond which sticking contact k is let go.

    Beyond what is round-off of its load, and of the acceleration it would have then:
    by that the friction problem tells, and what it holds is not let go at once.
    """
    load = contacts.signed_load(m, w, k)
    limit = m.contact_mu0[k] * load
    off = m.contact_mu0[k] * round_off(m, w, k, load, size)
    off += NO_ACCELERATION * w.force * leverage(m, w, k) ** 2
    # Smoothly no more than that part of the limit.
    most = NEAR_LIMIT * max(0.0, limit)
    off = off * most / (off + most + TINY)
    own = contacts.own_weight(m, w, size, w.d[m.contact_row[k]])
    return limit + off + contacts.spared(own, load)


@kernel
def place_scale(m, w, k, size):
    """Return the lengths that the depth of contact k is the difference of."""
    if m.contact_kind[k] == FLAT:
        return size
    c = w.contact[k]
    total = contacts.along_normal(c, c.arm_x, c.arm_y) + m.contact_radius[k]
    for side in range(2):
        marker = m.contact_b[k] if side else m.contact_a[k]
        total += contacts.along_normal(c, w.motion[marker][0], w.motion[marker][1])
        total += contacts.along_normal(c, w.arm[marker][0], w.arm[marker][1])
    return total


@kernel
def round_off(m, w, k, load, size):
    """Return what of the load of contact k is round-off of places: stiff ones feel it.

    Friction that stays at its limit, where a slide has died away, is no break-away.
    Where friction at rest must hold what a load does, it is off by more than the load.
    """
    depth = -w.contact[k].gap
    if load <= 0.0 or depth <= 0.0:
        return 0.0
    part = PLACES * place_scale(m, w, k, size) / depth
    return load * min(part * leverage(m, w, k), NEAR_LIMIT)


@kernel
def leverage(m, w, k):
    """Return how much friction at rest it takes, at most, to hold a load of one.

    A load causes the slip acceleration A_tn, which friction A_tn / A_tt prevents. That
    is no more than sqrt(A_nn / A_tt), since A is semidefinite; A_nn is about what A_tt
    is without rows. It is large in jams, where friction can hardly move anything.
    """
    i = m.contact_row[k]
    # d has inverse pivots.
    return math.sqrt(max(1.0, w.S[m.start[i] + i] * w.d[i]))


@kernel
def group_guard(m, w, g, size, out):
    """Write the guard of redundant friction at rest in group g, if it can have any."""
    k = m.group_guard[g]
    if k >= 0:
        part = 0.0
        if slides.is_shared(m, w, g):
            part = groups.used(m, w, g) - group_round_off(m, w, g, size)
        set_guard(out, k, 1.0 - part, 0.0)


@kernel
def group_round_off(m, w, g, size):
    """Return what of the limits of group g is round-off of places, as a part of them.

    Only contacts between shapes feel it; a single one is spared it as well.
    """
    total, off = 0.0, 0.0
    for k in range(m.n_contact):
        if m.contact_group[k] == g and groups.is_stuck(m, w, k):
            load = max(0.0, w.contact[k].lam_n)
            total += m.contact_mu0[k] * load
            if k < m.n_touch:
                off += m.contact_mu0[k] * round_off(m, w, k, load, size)
    return off / total if total > 0.0 else 0.0


@kernel
def user_guard(m, w, t, k, out):
    """Write value and rate of a user's guard; its markers have been moved."""
    call_guard(
        m.address[m.guard_kind[k]],
        at(m.par, m.guard_par[k]),
        t,
        w.motion[m.guard_a[k]],
        w.motion[m.guard_b[k]],
        out[k],
    )


@kernel
def needs_reactions(w):
    """Return whether some guard is a reaction: friction at rest, or load of a joint."""
    return w.n_gripped > 0 or (w.n_stuck + w.n_rub > 0 and not w.is_quiet)


@far(Tables, Work, NUMBER, FLOATS, FLOATS, FLOATS, NUMBER, floats("n_watch, 2"))
def evaluate(m, w, t, y, a, scratch, size, out):
    """Value and rate of every guard at (t, y) with accelerations a."""
    v = at(y, m.n_dof)
    if needs_reactions(w):
        dynamics.configure(m, w, t, y, v)
        reactions.factor_rows(m, w)
        dynamics.accelerate(m, w, t, v, 0.0, 0.0, scratch)
        bodies.add_acceleration(m, w, scratch)
    else:
        bodies.time_laws(m, w, t)
        bodies.supports(m, w)
        bodies.markers(m, w, y, v)
        contacts.states(m, w, v)
        contacts.contacts(m, w)
        bodies.add_acceleration(m, w, a)
    for k in range(m.n_user):
        user_guard(m, w, t, k, out)
    for k in range(m.n_contact):
        contact_guards(m, w, k, size, out)
    for g in range(m.n_group):
        group_guard(m, w, g, size, out)
    if m.n_contact > m.n_touch:
        set_guard(out, m.n_watch - 1, 1.0 if w.is_quiet else w.margin, 0.0)
