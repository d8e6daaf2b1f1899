"""From contacts that may be at rest to a mode that agrees with the law.

    bring_to_rest   set their slip exactly to zero, together with the joints
    look_ahead      where a contact has no normal force yet, a moment later
    settle          decide who stays (`rest`), take back those that would slip against
                    their own friction
    comply          project velocities onto the mode chosen

The mode chosen is checked against the law before the arc starts.
"""

import math

from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, kernel
from nonsmooth.kernels.friction import slides
from nonsmooth.kernels.friction.groups import give_way, used
from nonsmooth.kernels.friction.modes import (
    PRESSING,
    SLIP,
    STICK,
    YIELDING,
    is_moving,
    is_slipping,
    set_grip,
    sign_of,
)
from nonsmooth.kernels.friction.response import push_alone, slip_compliance, slip_due
from nonsmooth.kernels.friction.rest import (
    BARE,
    DECIDED,
    DOUBTED,
    FREED,
    PRESCRIBED,
    WRONG,
    accelerations,
    activate,
    decide_rest,
    no_acceleration,
    start_slip,
    trace,
)
from nonsmooth.kernels.mechanics import bodies, contacts, dynamics, reactions
from nonsmooth.kernels.mechanics.contacts import has_friction
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import Decision
from nonsmooth.kernels.tolerances import (
    AT_LIMIT,
    AT_REST,
    MOVES,
    NO_COMPLIANCE,
    NO_FORCE,
    SMALLEST_FORCE,
    STOPPED,
    TINY,
    VERIFIED,
)

# Times the overlap looked ahead for by which others may move meanwhile, and part of
# their own: a mode that is right a moment later only ends at once.
MUCH, LITTLE = 10.0, 0.01
# Times a mode is decided where velocities that meet it turn a slip.
MAX_TURN = 3


@kernel
def is_resting(m, w, k):
    """Return whether contact k sticks, or others hold it."""
    mode = w.mode[k]
    return has_friction(m, k) and mode.side == PRESSING and not is_moving(mode)


@kernel
def is_at_rest(m, w, k):
    """Return whether the slip velocity of contact k is round-off, or in its band."""
    least = AT_REST * contacts.slip_scale(m, w, k)
    return abs(w.contact[k].v_t) <= max(least, m.contact_band[k])


@kernel
def come_to_rest(m, w, r, k):
    """Let contact k be at rest, to be decided; a band holds the velocity it has."""
    r.rests[k] = 1
    w.mode[k].drift = w.contact[k].v_t if m.contact_band[k] > 0.0 else 0.0


@kernel
def stay_at_rest(m, w, r, k):
    """Let contact k, at rest already, be decided again.

    One in its band keeps the velocity it has: others may hold it at another than its
    own, on nearly one line, or drives.
    """
    come_to_rest(m, w, r, k)


@kernel
def approach_rate(m, w, k):
    """Return the rate at which contact k overlaps, zero if that is round-off."""
    rate = -w.contact[k].gap_rate
    return rate if rate > AT_REST * contacts.slip_scale(m, w, k) else 0.0


@kernel
def begin_pressing(m, w, r, k):
    """Let contact k press, slipping as its velocity says or at rest."""
    mode = w.mode[k]
    mode.side = PRESSING
    set_grip(mode, STICK, 0)
    if has_friction(m, k):
        if is_at_rest(m, w, k):
            come_to_rest(m, w, r, k)
        else:
            set_grip(mode, SLIP, sign_of(w.contact[k].v_t))


@kernel
def bring_to_rest(m, w, r, t):
    """Set the slip of resting contacts exactly to zero, together with the joints.

    A contact that this would take more than round-off for is not at rest: two corners
    on nearly one line stop together only where the body turns no more.
    """
    while stop_slip(m, w, r, t) > 0:
        k = fastest(m, w, r)
        if k < 0:
            break
        unstop(m, w, r, k)


@kernel
def unstop(m, w, r, k):
    """Let contact k slip on as its velocity says."""
    r.rests[k] = 0
    r.freed[k] = FREED
    set_grip(w.mode[k], SLIP, sign_of(w.contact[k].v_t))


@kernel
def moves(m, w, k):
    """Return whether contact k, held by others, slips by more than round-off."""
    least = MOVES * contacts.slip_scale(m, w, k)
    return abs(w.contact[k].v_t) > m.contact_band[k] + least


@kernel
def stop_slip(m, w, r, t):
    """Project velocities onto the rows at rest; return whether that is too much.

    Then they are as before. The change is measured by its energy, beside that of slip
    velocities that are nothing.
    """
    y = r.step.y
    v, before = at(y, m.n_dof), at(r.ahead, m.n_dof)
    n_rest = 0
    for k in range(m.n_contact):
        i = m.contact_row[k]
        if i >= 0 and r.is_touched[m.contact_group[k]]:
            contacts.set_active(m, w, i, r.rests[k] != 0)
            n_rest += r.rests[k]
    if n_rest == 0:
        return 0
    for i in range(m.n_dof):
        before[i] = v[i]
    dynamics.configure(m, w, t, y, v)
    reactions.factor_rows(m, w)
    dynamics.project_velocities(m, w, v)
    allowed = 0.0
    for k in range(m.n_contact):
        if r.rests[k]:
            least = max(STOPPED * contacts.slip_scale(m, w, k), m.contact_band[k])
            free = slip_compliance(m, w, k, r.step.d)
            allowed += least / math.sqrt(free) if free > 0.0 else 0.0
    for i in range(m.n_dof):
        r.step.d[i] = v[i] - before[i]
    is_stopped = 2.0 * bodies.kinetic_energy(m, w, r.step.d) <= allowed * allowed
    if w.has_lost_rank and is_stopped:
        dynamics.configure(m, w, t, y, v)
        for k in range(m.n_touch):
            # Rows that depend on others are not met for their own sake.
            is_stopped = is_stopped and not (r.rests[k] and moves(m, w, k))
        dynamics.configure(m, w, t, y, before)
    if is_stopped:
        return 0
    for i in range(m.n_dof):
        v[i] = before[i]
    return n_rest - 1


@kernel
def fastest(m, w, r):
    """Return the contact between shapes at rest that slips most, -1 for none."""
    found, most = -1, -1.0
    for k in range(m.n_touch):
        if r.rests[k] and m.contact_band[k] == 0.0:
            slip = abs(w.contact[k].v_t) / (contacts.slip_scale(m, w, k) + TINY)
            if slip > most:
                found, most = k, slip
    return found


@kernel
def stop_others(m, w, r, t):
    """Let contacts be at rest that have come so with others; return whether any has.

    Where a mechanism stops, all its joints do, and the slip of one is zero sooner than
    that of another by round-off only.
    """
    is_any = False
    dynamics.configure(m, w, t, r.step.y, at(r.step.y, m.n_dof))
    for k in range(m.n_contact):
        mode = w.mode[k]
        is_here = r.is_touched[m.contact_group[k]] and has_friction(m, k)
        is_here = is_here and mode.side == PRESSING and is_slipping(mode)
        if not is_here or r.rests[k] or r.freed[k]:
            continue
        if m.contact_band[k] == 0.0 and is_at_rest(m, w, k):
            come_to_rest(m, w, r, k)
            is_any = True
    return is_any


@kernel
def doubt_yielding(m, w, r):
    """Let contacts that yield in their band be taken back if forces have jumped."""
    for k in range(m.n_contact):
        mode = w.mode[k]
        is_here = r.is_touched[m.contact_group[k]] and mode.side == PRESSING
        if is_here and mode.grip == YIELDING and not r.rests[k]:
            r.freed[k] = DOUBTED
            mode.drift = w.contact[k].v_t


@kernel
def time_to_overlap(m, w, k, depth):
    """Return how long a closed contact takes to overlap by `depth`, 0 if it opens.

    One that overlaps already, and presses anew: to move by so much. What closes as
    round-off has it takes no time that tells of anything: faces that move as one.
    """
    rate = -w.contact[k].gap_rate
    acceleration = -contacts.gap_acceleration(m, w, k)
    if abs(rate) <= AT_REST * contacts.slip_scale(m, w, k):
        rate = 0.0
    if abs(acceleration) <= NO_FORCE * w.force * slip_compliance(m, w, k, w.held_a):
        acceleration = 0.0
    if w.contact[k].gap < -depth:
        rate, acceleration = abs(rate), abs(acceleration)
    root = rate * rate + 2.0 * acceleration * depth
    if root < 0.0 or rate + math.sqrt(root) <= 0.0:
        return 0.0
    return 2.0 * depth / (rate + math.sqrt(root))


@far(Tables, Work, Decision, NUMBER, returns=NUMBER)
def look_ahead(m, w, r, t):
    """Write to `ahead` the state at which friction is decided; return its time.

    That is now, unless a contact at rest has no normal force yet. Then friction's
    limit and what it must hold are both zero, and their ratio shows a moment later.
    """
    for i in range(m.n_y):
        r.ahead[i] = r.step.y[i]
    for k in range(m.n_contact):
        if r.rests[k]:
            if is_moving(w.mode[k]):
                set_grip(w.mode[k], STICK, 0)
            contacts.set_active(m, w, m.contact_row[k], False)
    # The friction of joints is not decided yet.
    w.is_bare = 1
    accelerations(m, w, r, t)
    w.is_bare = 0
    return go_ahead(m, r, t, time_ahead(m, w, r))


@kernel
def time_ahead(m, w, r):
    """Return how long contacts at rest without normal force take to show one.

    The first of them, and no longer than others take to move by some times as much, or
    by a part of their own overlap: what closes slowly beside what moves fast shows
    nothing, and forces of the rest are to stay what they are.
    """
    first, longest = math.inf, math.inf
    for k in range(m.n_touch):
        if w.mode[k].side != PRESSING:
            continue
        depth = contacts.look_ahead(m, k) * r.step.set.size
        most, c = MUCH * depth, w.contact[k]
        if c.lam_n > NO_FORCE * w.force:
            most = min(most, -LITTLE * c.gap)
        elif r.rests[k]:
            dt = time_to_overlap(m, w, k, depth)
            first = min(first, dt if dt > 0.0 else math.inf)
        longest = min(longest, time_to_move(m, w, k, most))
    return min(first, longest) if first < math.inf else 0.0


@kernel
def time_to_move(m, w, k, depth):
    """Return a time in which the overlap of contact k changes by `depth` at most."""
    rate = abs(w.contact[k].gap_rate)
    acceleration = abs(contacts.gap_acceleration(m, w, k))
    root = rate + math.sqrt(rate * rate + 2.0 * acceleration * depth)
    return 2.0 * depth / root if root > 0.0 else math.inf


@kernel
def go_ahead(m, r, t, dt):
    """Move the state `ahead` by dt with present accelerations; return its time."""
    n, y = m.n_dof, r.step.y
    for i in range(n):
        a = r.step.d[i]
        r.ahead[i] += dt * (y[n + i] + 0.5 * dt * a)
        r.ahead[n + i] += dt * a
    return min(t + dt, r.step.t_cap)


@kernel
def recall_wrong(m, w, r):
    """Take back contacts let go that would slip against their own friction.

    Returns how many. Accelerations are those of the mode chosen.
    """
    n_wrong = 0
    for k in range(m.n_contact):
        # What moves already does not rest.
        if r.freed[k] and is_at_rest(m, w, k):
            rate = w.mode[k].sign * contacts.slip_acceleration(m, w, k)
            limit = m.contact_mu0[k] * w.contact[k].lam_n
            round_off = AT_LIMIT * limit + NO_FORCE * w.force
            if rate < -round_off * slip_compliance(m, w, k, r.step.d):
                r.freed[k] = 0
                r.rests[k] = 1
                n_wrong += 1
    return n_wrong


@kernel
def is_held(m, w, k):
    """Return whether others that stick hold contact k; reactions are not kept."""
    push_alone(m, w, k, w.held_a)
    free = slip_due(m, w, k, w.held_a)
    reactions.oppose(m, w, w.held_a)
    return slip_due(m, w, k, w.held_a) <= NO_COMPLIANCE * free


@kernel
def recall_held(m, w, r, t):
    """Take back contacts that yield, but are held by others; return how many.

    Their acceleration is round-off, and tells nothing of friction.
    """
    n_held, n_doubted = 0, 0
    for k in range(m.n_contact):
        if r.freed[k] == DOUBTED:
            n_doubted += 1
            if is_held(m, w, k):
                r.freed[k] = 0
                r.rests[k] = 1
                n_held += 1
    if n_doubted > 0 and n_held == 0:
        accelerations(m, w, r, t)
    return n_held


@kernel
def excess(m, w, k):
    """Return the part of its limit by which the friction of contact k is beyond it."""
    lam_t = w.contact[k].lam_t
    # Friction opposes the slip that begins.
    limit = slides.most(m, w, k, -1.0 if lam_t > 0.0 else 1.0)
    return (abs(lam_t) - SMALLEST_FORCE * w.force) / (limit + TINY) - 1.0


@kernel
def worst(m, w, r):
    """Return the sticking contact that is farthest beyond its limit, -1 for none."""
    found, most = -1, VERIFIED
    for k in range(m.n_contact):
        g = m.contact_group[k]
        is_here = r.is_touched[g] and has_friction(m, k)
        mode = w.mode[k]
        is_stuck = mode.side == PRESSING and mode.grip == STICK
        if is_here and is_stuck and not slides.is_shared(m, w, g):
            beyond = excess(m, w, k)
            if beyond > most:
                found, most = k, beyond
    return found


@kernel
def let_go(m, w, r, k, sign):
    """Let contact k slip, though its slip acceleration is round-off."""
    start_slip(m, w, k, sign)
    r.rests[k] = 0
    r.freed[k] = FREED


@kernel
def agrees(m, w, r, t):
    """Return whether the friction of sticking contacts is within its limits.

    Those that are not are let go: rows that nearly depend on each other tell of a slip
    by the force it takes to prevent it, where its acceleration is round-off.
    """
    if w.has_lost_rank:
        # Dependent rows share friction in a way that may not be the law's.
        return True
    k = worst(m, w, r)
    if k >= 0:
        let_go(m, w, r, k, -sign_of(w.contact[k].lam_t))
        return False
    for g in range(m.n_group):
        # Reactions are not kept, and not needed any more.
        is_shared = r.is_touched[g] and slides.is_shared(m, w, g)
        if is_shared and used(m, w, g) > 1.0 + VERIFIED:
            accelerations(m, w, r, t)
            for i in range(give_way(m, w, g)):
                if w.box.critical[i] != 0:
                    let_go(m, w, r, w.held[i], w.box.critical[i])
            return False
    return True


@kernel
def comply(m, w, r, t):
    """Project velocities onto the mode chosen; let slip follow them.

    Dependent rows could not be met all before; now those that remain are. Returns
    whether a slip has turned: then friction has, and all is to be decided again.
    """
    y = r.step.y
    v = at(y, m.n_dof)
    dynamics.configure(m, w, t, y, v)
    if w.n_stuck > 0:
        reactions.factor_rows(m, w)
        dynamics.project_velocities(m, w, v)
        dynamics.configure(m, w, t, y, v)
    has_turned = False
    for k in range(m.n_contact):
        mode, v_t = w.mode[k], w.contact[k].v_t
        slips = mode.side == PRESSING and is_slipping(mode)
        slips = slips and has_friction(m, k) and m.contact_band[k] == 0.0
        # What a drive lets go slips as that accelerates: its velocity is round-off.
        slips = slips and r.freed[k] != PRESCRIBED
        if slips and mode.sign * v_t < 0.0 and not is_at_rest(m, w, k):
            mode.sign = sign_of(v_t)
            has_turned = has_turned or r.is_touched[m.contact_group[k]] != 0
    return has_turned


@kernel
def rest_again(m, w, r):
    """Let who is at rest be decided anew, with those that slip as they do."""
    for k in range(m.n_contact):
        is_here = r.is_touched[m.contact_group[k]] != 0
        r.rests[k] = 1 if is_here and is_resting(m, w, k) else 0
        r.freed[k] = 0


@kernel
def has_no_force_yet(m, w, r, k):
    """Return whether contact k is to stick, and begins to press from rest."""
    if not r.rests[k] or w.mode[k].grip != STICK or m.contact_band[k] > 0.0:
        return False
    is_bare = w.contact[k].lam_n <= NO_FORCE * w.force
    return is_bare and k < m.n_touch and approach_rate(m, w, k) == 0.0


@kernel
def slip_first(m, w, r, t):
    """Let contacts that begin to press from rest slip if they accelerate by then.

    Those decided to stick a moment later have no friction yet: what must be held from
    the first begins to move, and stops as soon as the load is enough.
    """
    dynamics.configure(m, w, t, r.step.y, at(r.step.y, m.n_dof))
    n_bare = 0
    for k in range(m.n_touch):
        if has_no_force_yet(m, w, r, k):
            r.freed[k] = BARE
            contacts.set_active(m, w, m.contact_row[k], False)
            n_bare += 1
    if n_bare == 0:
        return
    for i in range(m.n_y):
        r.ahead[i] = r.step.y[i]
    accelerations(m, w, r, t)
    for k in range(m.n_touch):
        if r.freed[k] != BARE:
            continue
        r.freed[k] = 0
        rate = contacts.slip_acceleration(m, w, k)
        free = slip_compliance(m, w, k, r.step.d)
        if abs(rate) > no_acceleration(m, w, r, k, free) + trace(m, w, r, k, free):
            let_go(m, w, r, k, sign_of(rate))
    activate(m, w)


@far(Tables, Work, Decision, NUMBER, returns=INTEGER)
def settle(m, w, r, t_ahead):
    """Decide all contacts at rest by the state `ahead`; return a status."""
    for k in range(m.n_contact):
        # Who has begun to slip is not at rest again until it has moved.
        r.dropped[k] = r.freed[k]
    for _ in range(2 + m.n_contact):
        status = decide_rest(m, w, r, t_ahead)
        activate(m, w)
        if status != DECIDED:
            return status
        for k in range(m.n_contact):
            # Those decided to stick are at rest still, should another be recalled.
            is_here = r.is_touched[m.contact_group[k]] != 0
            r.rests[k] = 1 if is_here and is_resting(m, w, k) else 0
        accelerations(m, w, r, t_ahead)
        if recall_held(m, w, r, t_ahead) + recall_wrong(m, w, r) > 0:
            continue
        if agrees(m, w, r, t_ahead):
            if t_ahead > r.step.t:
                slip_first(m, w, r, min(r.step.t, r.step.t_cap))
            return DECIDED
    return WRONG


@far(Tables, Work, Decision, NUMBER, INTEGER, returns=INTEGER)
def follow(m, w, r, t, status):
    """Let velocities meet the mode decided; decide again where that turns a slip."""
    for i in range(MAX_TURN):
        if status != DECIDED or not comply(m, w, r, t) or i == MAX_TURN - 1:
            break
        rest_again(m, w, r)
        status = settle(m, w, r, look_ahead(m, w, r, t))
    return status


@far(Tables, Work, Decision, NUMBER, returns=INTEGER)
def decide(m, w, r, t):
    """Bring contacts to rest and decide them, until the mode agrees with the law."""
    bring_to_rest(m, w, r, t)
    while stop_others(m, w, r, t):
        bring_to_rest(m, w, r, t)
    doubt_yielding(m, w, r)
    return follow(m, w, r, t, settle(m, w, r, look_ahead(m, w, r, t)))
