"""The next mode at an event.

Contacts that touch, release or separate change side; those at rest are decided together
by `friction.settle`. A switch begins from the guards that fired (`switch`), from laws
that may have jumped (`renew`), from friction that rows do not determine (`review`), or
from nothing (`first_mode`).
"""

import math

from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, kernel
from nonsmooth.kernels.friction import flanks, groups, slides
from nonsmooth.kernels.friction.modes import (
    HELD,
    OPEN,
    PRESSING,
    RELEASED,
    SLIP,
    STICK,
    YIELDING,
    copy_mode,
    is_slipping,
    set_grip,
    sign_of,
)
from nonsmooth.kernels.friction.response import slip_compliance
from nonsmooth.kernels.friction.rest import (
    AT_ONCE,
    CHATTERING,
    DECIDED,
    JAMMED,
    NOT_UNIQUE,
    PART,
    accelerations,
    activate,
    start_slip,
    tie,
)
from nonsmooth.kernels.friction.settle import (
    approach_rate,
    begin_pressing,
    come_to_rest,
    decide,
    follow,
    go_ahead,
    is_at_rest,
    is_resting,
    look_ahead,
    moves,
    settle,
    stay_at_rest,
    unstop,
)
from nonsmooth.kernels.mechanics import contacts, dynamics, segments
from nonsmooth.kernels.mechanics.contacts import has_friction
from nonsmooth.kernels.mechanics.tables import MARGIN, PATCH, Tables, Work
from nonsmooth.kernels.run import Decision, Watch
from nonsmooth.kernels.tolerances import (
    AT_LIMIT,
    AT_REST,
    CLOSED,
    FELT,
    LOOK_AHEAD,
    NO_FORCE,
    NO_TIME,
    PASSED,
    SMALLEST_FORCE,
)

# Switches in a row without time passing, for each contact and in all, that mean that
# no mode lasts.
CHATTER, CHATTER_PER_CONTACT = 30, 4
# Switches within a part of the run that mean the same; so many less after a span that
# was crossed.
FLOOD, FLOOD_PER_CONTACT, FLOOD_PART, KNOWN = 300, 50, 1e-4, 250


@kernel
def evaluate(m, w, r, t):
    """Note how fast things are, and evaluate contacts at the present state."""
    s = r.step
    dynamics.note_speed(m, w, at(s.y, m.n_dof), s.set.size, s.set.pace)
    look_again(m, w, r, t)


@kernel
def look_again(m, w, r, t):
    """Evaluate contacts at the present state, with the speeds noted before."""
    tie(m, w, 0)
    dynamics.configure(m, w, t, r.step.y, at(r.step.y, m.n_dof))


@kernel
def touch_all(m, r):
    """Let every group be decided, nobody at rest or freed yet."""
    for g in range(m.n_group):
        r.is_touched[g] = 1
    for k in range(m.n_contact):
        r.rests[k] = 0
        r.freed[k] = 0
        r.balanced[k] = 0


@kernel
def guard_again(m, watch, r, is_all):
    """Let guards of the groups that were decided start at zero."""
    for k in range(m.n_user, m.n_watch):
        owner = m.watch_owner[k]
        if is_all or (owner >= 0 and r.is_touched[m.contact_group[owner]]):
            watch.is_at_zero[k] = 1


# ---- at the guards that fired --------------------------------------------------


@kernel
def touch(m, w, r, fired):
    """Mark the groups with a contact that fired; return whether one broke away."""
    for g in range(m.n_group):
        r.is_touched[g] = 0
    is_break = False
    for k in range(m.n_user, m.n_watch):
        owner = m.watch_owner[k]
        if fired[k] and owner >= 0:
            r.is_touched[m.contact_group[owner]] = 1
            is_break = is_break or w.mode[owner].grip == STICK
    return is_break


@kernel
def is_touch_down(m, w, fired):
    """Return 1 if a contact that fired begins to press, else 0."""
    for k in range(m.n_touch):
        press = m.contact_press[k]
        if w.mode[k].side != PRESSING and (fired[press] or fired[press + 1]):
            return 1
    return 0


@kernel
def change_side(m, w, r, k, fired):
    """Apply the event of gap or normal force of contact k; return if there was one."""
    gap, force = fired[m.contact_press[k]], fired[m.contact_press[k] + 1]
    mode = w.mode[k]
    if gap:
        if mode.side == OPEN:
            mode.approach = approach_rate(m, w, k)
            begin_pressing(m, w, r, k)
        else:
            mode.side = OPEN
    elif force:
        if mode.side == PRESSING:
            mode.side = RELEASED
        else:
            begin_pressing(m, w, r, k)
    return gap != 0 or force != 0


@kernel
def change_flanks(m, w, k, fired):
    """Let the other flank bear where a flank of joint k fired."""
    press = m.contact_press[k]
    for j in range(slides.n_flank(m, k) if press >= 0 else 0):
        if fired[press + j]:
            w.mode[k].flank ^= 1 << j


@kernel
def come_to_zero(m, w, r, k):
    """Let contact k, whose slip velocity has crossed zero, be at rest.

    Unless it crossed long ago, while its force was too small to matter.
    """
    c = w.contact[k]
    if k < m.n_touch and c.lam_n <= 2.0 * SMALLEST_FORCE * w.force:
        w.mode[k].sign = sign_of(c.v_t)
    else:
        come_to_rest(m, w, r, k)


@kernel
def is_tied(m, watch, k, i):
    """Return whether resting contact k has come to its limit, side i, with another."""
    rub = m.contact_rub[k]
    forward, backward = watch.guard[rub][0], watch.guard[rub + 1][0]
    # F+ and F- add up to twice the limit.
    left = backward if i else forward
    return left <= AT_LIMIT * 0.5 * (forward + backward)


@kernel
def break_away(m, w, watch, r, k, is_break, t):
    """Let contact k go where its friction is at the limit and goes on growing."""
    for i in range(2):
        is_let_go = watch.fired[m.contact_rub[k] + i] != 0
        if is_break and not is_let_go and is_tied(m, watch, k, i):
            is_let_go = True
            r.n_tie += 1
            r.t_tie = min(r.t_tie, t)
        if is_let_go:
            start_slip(m, w, k, -1 if i else 1)
            r.rests[k] = 0
            r.freed[k] = 1
            return


@kernel
def change_slip(m, w, watch, r, k, is_break, t):
    """Apply the events of friction of contact k; mark it at rest, or let it go."""
    mode = w.mode[k]
    forward = watch.fired[m.contact_rub[k]]
    backward = watch.fired[m.contact_rub[k] + 1]
    if mode.grip == SLIP:
        # Of a contact with a band only its own guard tells.
        has_crossed = m.contact_band[k] == 0.0 and mode.sign * w.contact[k].v_t < 0.0
        if m.contact_band[k] == 0.0 and is_at_rest(m, w, k):
            come_to_rest(m, w, r, k)
        elif forward or has_crossed:
            # With another, to round-off; its own guard has some slack.
            come_to_zero(m, w, r, k)
    elif mode.grip == YIELDING:
        # It leaves its band, or is balanced in it.
        if forward:
            mode.grip = SLIP
        elif backward:
            come_to_rest(m, w, r, k)
            r.balanced[k] = 1
    elif mode.grip == HELD and forward:
        # What holds it has begun to move.
        set_grip(mode, SLIP, sign_of(w.contact[k].v_t))
    else:
        stay_at_rest(m, w, r, k)
        if mode.grip == STICK:
            break_away(m, w, watch, r, k, is_break, t)


@kernel
def give_way(m, w, watch, r, t):
    """Let go who slips where groups of redundant friction at rest give way."""
    for g in range(m.n_group):
        guard = m.group_guard[g]
        if guard < 0 or not watch.fired[guard]:
            continue
        for i in range(m.n_y):
            r.ahead[i] = r.step.y[i]
        accelerations(m, w, r, t)
        for i in range(groups.give_way(m, w, g)):
            if w.box.critical[i] != 0:
                k = w.held[i]
                start_slip(m, w, k, w.box.critical[i])
                r.rests[k] = 0
                r.freed[k] = 1


@kernel
def take_back(m, w, r):
    """Let who broke away be decided anew where others of its group come to rest.

    Their friction jumps, and with it what the limit was reached by: two feet that hold
    each other, one slipping by round-off, both rest if they can.
    """
    for k in range(m.n_contact):
        # It has slipped until now.
        if not (r.rests[k] and is_slipping(w.mode[k])):
            continue
        for j in range(m.n_contact):
            if r.freed[j] and m.contact_group[j] == m.contact_group[k]:
                r.freed[j] = 0
                r.rests[j] = 1


@kernel
def change_modes(m, w, watch, r, t):
    """Apply all events; mark who is at rest, or let go."""
    is_break = touch(m, w, r, watch.fired)
    for k in range(m.n_contact):
        r.rests[k] = 0
        r.freed[k] = 0
        r.balanced[k] = 0
    give_way(m, w, watch, r, t)
    for k in range(m.n_contact):
        if not r.is_touched[m.contact_group[k]]:
            continue
        if k >= m.n_touch:
            change_flanks(m, w, k, watch.fired)
        elif change_side(m, w, r, k, watch.fired):
            r.freed[k] = 0
            continue
        if has_friction(m, k) and w.mode[k].side == PRESSING and not r.freed[k]:
            change_slip(m, w, watch, r, k, is_break, t)
    take_back(m, w, r)


@kernel
def is_chattering(m, r, t):
    """Count a switch at t; return whether there are too many without time passing."""
    if t - r.t_switch > NO_TIME * abs(t) + PASSED * r.step.h:
        r.n_chatter = 0
    r.n_chatter += 1
    r.t_switch = t
    if t - r.t_flood > FLOOD_PART * r.step.set.span:
        r.t_flood = t
        r.n_flood = 0
    r.n_flood += 1
    allowed = CHATTER + CHATTER_PER_CONTACT * m.n_contact
    flood = FLOOD + FLOOD_PER_CONTACT * m.n_contact
    return r.n_chatter > allowed or r.n_flood > flood


@kernel
def pass_margin(m, w, watch, r, t):
    """Go on where solutions of friction in joints may cease to be unique, or not."""
    last = m.n_watch - 1
    if m.watch_kind[last] != MARGIN or not watch.fired[last]:
        return DECIDED
    if w.is_chosen:
        return JAMMED
    if r.step.set.branch == flanks.UNIQUE:
        return NOT_UNIQUE
    # From here on only the present flanks are watched.
    w.is_chosen = 1
    r.t_branch = min(r.t_branch, t)
    return DECIDED


@far(Tables, Work, Watch, Decision, NUMBER, returns=INTEGER)
def switch(m, w, watch, r, t):
    """Choose the next mode at the present state from the guards that fired."""
    if is_chattering(m, r, t):
        return CHATTERING
    status = pass_margin(m, w, watch, r, t)
    if status != DECIDED:
        return status
    evaluate(m, w, r, t)
    change_modes(m, w, watch, r, t)
    status = decide(m, w, r, t)
    guard_again(m, watch, r, False)
    return status


# ---- without a guard -----------------------------------------------------------


@kernel
def decide_anew(m, w, r, t):
    """Decide all contacts that rest, or slip by round-off; return a status."""
    touch_all(m, r)
    for k in range(m.n_contact):
        if not has_friction(m, k) or w.mode[k].side != PRESSING:
            continue
        is_slow = m.contact_band[k] == 0.0 and is_at_rest(m, w, k)
        if is_resting(m, w, k):
            stay_at_rest(m, w, r, k)
        elif is_slipping(w.mode[k]) and is_slow:
            come_to_rest(m, w, r, k)
    return decide(m, w, r, t)


@far(Tables, Work, Watch, Decision, NUMBER, returns=INTEGER)
def renew(m, w, watch, r, t):
    """Decide all contacts again where laws break: forces may jump, or drives stop."""
    evaluate(m, w, r, t)
    status = decide_anew(m, w, r, t)
    guard_again(m, watch, r, True)
    return status


@kernel
def creep(m, w, r):
    """Let contacts slip that move, though they stick: nothing holds them exactly."""
    for k in range(m.n_touch):
        is_stuck = r.rests[k] and w.mode[k].grip == STICK
        if is_stuck and moves(m, w, k):
            unstop(m, w, r, k)


@far(Tables, Work, Watch, Decision, NUMBER, returns=INTEGER)
def review(m, w, watch, r, t):
    """Decide sticking contacts again whose rows depend on each other.

    Their rows do not hold what little distinguishes them, and no guard shows when it
    begins to matter. Returns 1 if the mode changed, 0 if not, -1 if undecided.
    """
    touch_all(m, r)
    for k in range(m.n_contact):
        copy_mode(w.mode[k], r.kept[k])
        if is_resting(m, w, k):
            stay_at_rest(m, w, r, k)
    n_resting = w.n_stuck
    tie(m, w, 0)
    creep(m, w, r)
    r.status = settle(m, w, r, look_ahead(m, w, r, t))
    if r.status != DECIDED:
        return -1
    if w.n_stuck == n_resting and w.has_lost_rank:
        # As it was.
        for k in range(m.n_contact):
            set_grip(w.mode[k], r.kept[k].grip, r.kept[k].sign)
        tie(m, w, 1)
        activate(m, w)
        return 0
    r.status = follow(m, w, r, t, r.status)
    guard_again(m, watch, r, True)
    return 1 if r.status == DECIDED else -1


# ---- at the start of a run -----------------------------------------------------


@kernel
def first_sides(m, w, r):
    """Set sides by gap, or by its rate where the gap is closed."""
    touch_all(m, r)
    for k in range(m.n_contact):
        if k >= m.n_touch:
            begin_pressing(m, w, r, k)
            continue
        c, mode = w.contact[k], w.mode[k]
        first, least = c.gap, least_gap(m, w, r, k)
        if abs(first) <= least:
            first = 0.0 if is_gap_still(m, w, k) else c.gap_rate
        if first < 0.0:
            # Unless an earlier run has left the rate it touched down with.
            if math.isnan(mode.approach):
                is_closed = c.gap < -least
                mode.approach = 0.0 if is_closed else approach_rate(m, w, k)
            begin_pressing(m, w, r, k)
            if c.gap < 0.0 and contacts.law_force(m, w, k) < 0.0:
                mode.side = RELEASED
                r.rests[k] = 0


@kernel
def least_gap(m, w, r, k):
    """Return the gap of contact k that is none at the start of a run."""
    return CLOSED * contacts.places(m, w, k, r.step.set.size)


@kernel
def is_gap_still(m, w, k):
    """Return whether the rate of the gap of contact k is round-off."""
    return abs(w.contact[k].gap_rate) <= AT_REST * contacts.slip_scale(m, w, k)


@kernel
def close_by_acceleration(m, w, r, t):
    """Let contacts that touch at rest press unless they part; return if any does.

    Bodies that begin to move as one may press each other later: nothing tells yet, and
    a contact that presses without overlap has no force.
    """
    for i in range(m.n_y):
        r.ahead[i] = r.step.y[i]
    accelerations(m, w, r, t)
    is_new = False
    for k in range(m.n_touch):
        c = w.contact[k]
        is_closed = abs(c.gap) <= least_gap(m, w, r, k) and is_gap_still(m, w, k)
        round_off = NO_FORCE * w.force * slip_compliance(m, w, k, r.step.d)
        closes = contacts.gap_acceleration(m, w, k) <= round_off
        if is_closed and w.mode[k].side == OPEN and closes:
            w.mode[k].approach = 0.0
            begin_pressing(m, w, r, k)
            is_new = True
    return is_new


@kernel
def flank_of(w, k, j):
    """Return the force of flank j of contact k."""
    return w.contact[k].rear if j else w.contact[k].front


@kernel
def lean(m, w, r, t):
    """Set the flanks that have no force yet by the force they have a moment later."""
    for i in range(m.n_y):
        r.ahead[i] = r.step.y[i]
    accelerations(m, w, r, t)
    n_open = 0
    for k in range(m.n_touch, m.n_contact):
        r.unsigned[k] = 0
        for j in range(0 if slides.is_curved(m, k) else slides.n_flank(m, k)):
            if abs(flank_of(w, k, j)) <= SMALLEST_FORCE * w.force:
                r.unsigned[k] |= 1 << j
                n_open += 1
    if n_open == 0:
        return
    dt = AT_ONCE * PART * r.step.set.span
    accelerations(m, w, r, go_ahead(m, r, t, dt))
    for k in range(m.n_touch, m.n_contact):
        mode = w.mode[k]
        for j in range(2):
            u = flank_of(w, k, j)
            if (r.unsigned[k] >> j) & 1 and u != 0.0:
                mode.flank = (mode.flank & ~(1 << j)) | ((1 << j) if u < 0.0 else 0)


@far(Tables, Work, Decision, NUMBER, returns=INTEGER)
def first_mode(m, w, r, t):
    """Choose the mode a run begins in.

    Sides by the first derivative of the gap that is not zero; accelerations come
    last, with the contacts that press already.
    """
    for k in range(m.n_contact):
        mode = w.mode[k]
        mode.side = OPEN
        set_grip(mode, STICK, 0)
        mode.flank = 0
        mode.drift = 0.0
        mode.is_behind = 0
    w.is_chosen = 0
    activate(m, w)
    evaluate(m, w, r, t)
    if segments.see_faces(m, w):
        look_again(m, w, r, t)
    segments.note_sunk(m, w, OPEN)
    first_sides(m, w, r)
    status = decide(m, w, r, t)
    if status == DECIDED and close_by_acceleration(m, w, r, t):
        status = decide(m, w, r, t)
    if status == DECIDED and w.n_rub > 0:
        lean(m, w, r, t)
    return status


@kernel
def time_to_feel(m, w, r):
    """Return how long a contact that has just closed takes to be felt, in s.

    To overlap by a little, or for its force then to stop the bodies' approach. Beside
    friction in joints, whose loads follow at once, to have its drag.
    """
    shortest = math.inf
    size = r.step.set.size
    depth = FELT * size
    for k in range(m.n_touch):
        c = w.contact[k]
        if m.contact_kind[k] == PATCH:
            # Its force begins smoothly, with the shapes at rest.
            continue
        if (
            w.mode[k].side == PRESSING
            and -c.gap <= least_gap(m, w, r, k) + LOOK_AHEAD * size
        ):
            rate = max(-c.gap_rate, 0.0)
            if rate > 0.0:
                shortest = min(shortest, depth / rate)
                force = contacts.normal_force(m, w, k, -depth, c.gap_rate)
                pull = abs(force) * slip_compliance(m, w, k, r.step.d)
                shortest = min(shortest, rate / pull if pull > 0.0 else shortest)
                if m.contact_has_drag[k] and m.n_contact > m.n_touch and force > 0.0:
                    # No later than on a straight way to the force at that depth.
                    trace = contacts.felt(m)
                    shortest = min(shortest, depth / rate * trace / force)
    return shortest
