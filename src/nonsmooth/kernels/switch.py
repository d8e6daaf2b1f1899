"""The next mode at an event.

Contacts that touch, release or separate change side. Contacts at rest are decided
together, normal forces known:

    v_t'+ - v_t'- = A lam_t + b
    0 <= v_t'+  _|_  F+ = mu0 lam_n + lam_t >= 0
    0 <= v_t'-  _|_  F- = mu0 lam_n - lam_t >= 0

a linear complementarity problem of size 2 H for H contacts at rest. A contact that
cannot stay drops to mu at once, and the rest are decided again; the mode chosen is
checked against the law before the arc starts.

Only contacts that share bodies or joints, a group, decide together: an event changes
no acceleration in another group.

References
----------
[WangWang2015]_ Eqs. (9)-(13), (25); [ZhangWang2017]_ Eq. (38). With friction inside
joints loads are not known beforehand, and the problem is that of `flanks`.
"""

import math

from nonsmooth.kernels import assemble, flanks, lcp, modes, reactions, slides
from nonsmooth.kernels.abi import (
    INTEGER,
    NUMBER,
    at,
    far,
    kernel,
    stack_floats,
)
from nonsmooth.kernels.assemble import (
    CONTACT,
    FOLLOWING,
    FRONT,
    GAP,
    GAP_RATE,
    HELD,
    LAM_N,
    LAM_T,
    OPEN,
    PIN,
    PINNED,
    PRESSING,
    REAR,
    RELEASED,
    STICK,
    V_T,
    YIELDING,
)
from nonsmooth.kernels.guards import MOVES, SMALLEST_FORCE, SMALLEST_SLIP
from nonsmooth.kernels.lcp import Hlcp, Lcp
from nonsmooth.kernels.run import Run
from nonsmooth.kernels.tables import Tables, Work

# A slip velocity this small beside the speeds it is the difference of is zero. Its
# guard fires at half of it.
AT_REST = 2.0 * SMALLEST_SLIP
# A gap this small beside the model's size is closed: the round-off of a start.
CLOSED = 1e-14
# Friction this near to its limit, relative to it, is at the limit; contacts that reach
# it together with another are let go together.
TIE = 1e-9
# An acceleration this small beside its parts is round-off. Not more: a body that tilts
# by 1e-6 lets one of two corners slip, by as little.
NO_ACCELERATION = 1e-13
# A force this small beside the weight is round-off of the others.
NO_FORCE, TINY = 1e-12, 1e-300
# Overlap, as a part of the model's size, to which a contact without force is followed
# before its friction is decided.
LOOK_AHEAD = 1e-8
# Overlap, as a part of the model's size, within which a step begins after touch-down.
FELT = 1e-3
# A contact that yields by less than this part of what it would alone is held by others.
NO_COMPLIANCE = 1e-12
# Part of a step, or of this part of the run, in which a prescribed slip shows at once.
# At the start of a run, or where laws break, what begins to move does so from rest: s.
AT_ONCE, PART, AT_START = 1e-6, 1e-2, 1.0
# Joints block one motion if their determinants are zero, to this part.
ONE_MOTION = 1e-8
# Rounds of finding the flanks of joints that hold each other.
MAX_LEAN = 8
# Part by which the friction problem's diagonal is raised where it is not solved.
COMPLIANCE = 1e-10
# Friction beyond its limit by less than this is round-off of an ill-conditioned matrix.
VERIFIED = 1e-6
# Switches in a row without time passing, for each contact and in all, that mean that
# no mode lasts.
CHATTER, CHATTER_PER_CONTACT = 30, 4
# Switches within a part of the run that mean the same.
FLOOD, FLOOD_PART = 20000, 1e-4
# Time has passed if it moved by more than this part of itself, and of a step.
NO_TIME, PASSED = 1e-13, 1e-8

DECIDED, UNSOLVED, WRONG, CHATTERING, NOT_UNIQUE, JAMMED = 0, 1, 2, 3, 4, 5


@kernel
def has_friction(m, k):
    """Return whether contact k can stick."""
    return m.contact_row[k] >= 0


@kernel
def set_active(m, w, i, is_active):
    """Make the row of a contact constrain, or empty."""
    w.n_stuck += (1 if is_active else 0) - w.is_active[i]
    w.is_active[i] = 1 if is_active else 0
    w.first[i] = m.first[i] if is_active else i
    if not is_active:
        w.g[i] = 0.0
        w.g_t[i] = 0.0
        w.bias[i] = 0.0
        w.lam[i] = 0.0
        w.x[i] = 0.0
        for j in range(6):
            w.J[6 * i + j] = 0.0
    w.n_row = m.n_row
    while w.n_row > 0 and not w.is_active[w.n_row - 1]:
        w.n_row -= 1


@kernel
def activate(m, w):
    """Make the rows of sticking contacts constraints."""
    w.n_gripped = 0
    w.n_pinned = 0
    w.n_rub = 0
    for k in range(m.n_contact):
        if k >= m.n_touch and slides.is_sliding(m, w, k):
            w.n_rub += 1
        i = m.contact_row[k]
        if i >= 0:
            sticks = w.side[k] == PRESSING and w.slip[k] == STICK
            set_active(m, w, i, sticks)
            if sticks:
                w.n_gripped += 1 if k < m.n_touch else 0
            elif w.side[k] == PRESSING and abs(w.slip[k]) == PINNED:
                w.n_pinned += 1
    find_leaders(m, w)


@kernel
def find_leaders(m, w):
    """Find the joint that holds those that follow it, in each group."""
    for g in range(m.n_group):
        w.leader[g] = -1
        has_followers = False
        held = -1
        for k in range(m.group_slide[g], m.group_slide[g + 1]):
            has_followers = has_followers or abs(w.slip[k]) == FOLLOWING
            if m.contact_row[k] >= 0 and w.slip[k] == STICK:
                held = k
        if has_followers:
            w.leader[g] = held


@kernel
def is_resting(m, w, k):
    """Return whether contact k sticks or is pinned."""
    is_closed = has_friction(m, k) and w.side[k] == PRESSING
    slip = abs(w.slip[k])
    return is_closed and slip != 1 and slip != YIELDING


@kernel
def is_at_rest(m, w, k):
    """Return whether the slip velocity of contact k is round-off, or in its band."""
    least = AT_REST * assemble.slip_scale(m, w, k)
    return abs(w.contact[CONTACT * k + V_T]) <= max(least, m.contact_band[k])


@kernel
def come_to_rest(m, w, r, k):
    """Let contact k be at rest, to be decided; a band holds the velocity it has."""
    r.rests[k] = 1
    w.hold[k] = w.contact[CONTACT * k + V_T] if m.contact_band[k] > 0.0 else 0.0


@kernel
def start_slip(m, w, k, sign):
    """Let contact k slip; one with a band yields until it leaves that."""
    if w.slip[k] == STICK:
        # At rest the flanks of a joint were not watched.
        c = at(w.contact, CONTACT * k)
        w.flank[k] = (1 if c[FRONT] < 0.0 else 0) | (2 if c[REAR] < 0.0 else 0)
    w.slip[k] = sign * (YIELDING if m.contact_band[k] > 0.0 else 1)


@kernel
def note_speed(m, w, r):
    """Keep the largest speed of a body, at least the model's size in a second."""
    w.speed = 0.0
    w.spin = 0.0
    for k in range(0, m.n_dof, 3):
        v = at(r.y, m.n_dof + k)
        w.speed = max(w.speed, math.hypot(v[0], v[1]), abs(v[2]) * r.size)
        w.spin = max(w.spin, abs(v[2]))
    # Where all comes to rest, velocities decay into round-off of what they were.
    w.speed = max(w.speed, r.size)
    w.spin = max(w.spin, 1.0)


@kernel
def begin_pressing(m, w, r, k):
    """Let contact k press, slipping as its velocity says or at rest."""
    c = at(w.contact, CONTACT * k)
    w.side[k] = PRESSING
    w.slip[k] = STICK
    if has_friction(m, k):
        if is_at_rest(m, w, k):
            come_to_rest(m, w, r, k)
        else:
            w.slip[k] = 1 if c[V_T] > 0.0 else -1


@kernel
def straighten(m, r, k):
    """Let the bristles of contact k meet the surface straight."""
    if m.contact_state[k] >= 0:
        r.y[2 * m.n_dof + m.contact_state[k]] = 0.0


@kernel
def is_touch_down(m, w, r):
    """Return 1 if a contact that fired begins to press, else 0."""
    for k in range(m.n_touch):
        fired = at(r.fired, m.n_guard + 4 * k)
        if w.side[k] != PRESSING and (fired[0] or fired[1]):
            return 1
    return 0


@kernel
def touch(m, w, r):
    """Mark the groups with a contact that fired; return whether one broke away."""
    for g in range(m.n_group):
        r.is_touched[g] = 0
    is_break = False
    for k in range(m.n_contact):
        fired = at(r.fired, m.n_guard + 4 * k)
        if fired[0] or fired[1] or fired[2] or fired[3]:
            r.is_touched[m.contact_group[k]] = 1
            is_break = is_break or w.slip[k] == STICK
    return is_break


@kernel
def is_tied(m, r, k, i):
    """Return whether resting contact k has come to its limit, side i, with another."""
    values = at(r.guard, 2 * (m.n_guard + 4 * k))
    # F+ and F- add up to twice the limit.
    return values[2 * i] <= TIE * 0.5 * (values[4] + values[6])


@kernel
def come_to_zero(m, w, r, k):
    """Let contact k, whose slip velocity has crossed zero, be at rest.

    Unless it crossed long ago, while its force was too small to matter.
    """
    c = at(w.contact, CONTACT * k)
    if k < m.n_touch and c[LAM_N] <= 2.0 * SMALLEST_FORCE * m.force:
        w.slip[k] = 1 if c[V_T] > 0.0 else -1
    else:
        come_to_rest(m, w, r, k)


@kernel
def leave_band(m, w, r, k, fired):
    """Let contact k, which yields, slip beyond its band, or be balanced in it."""
    if fired[2]:
        w.slip[k] = 1 if w.slip[k] > 0 else -1
    elif fired[3]:
        come_to_rest(m, w, r, k)


@kernel
def change_sides(m, w, r, t):
    """Apply the events of gaps and normal forces; mark who is at rest, or let go."""
    is_break = touch(m, w, r)
    for k in range(m.n_contact):
        r.rests[k] = 0
        r.freed[k] = 0
        if not r.is_touched[m.contact_group[k]]:
            continue
        fired = at(r.fired, m.n_guard + 4 * k)
        c = at(w.contact, CONTACT * k)
        if k >= m.n_touch:
            # The other flank bears.
            w.flank[k] ^= (1 if fired[0] else 0) | (2 if fired[1] else 0)
        elif fired[0]:
            if w.side[k] == OPEN:
                w.approach[k] = max(0.0, -c[GAP_RATE])
                straighten(m, r, k)
                begin_pressing(m, w, r, k)
            else:
                w.side[k] = OPEN
            continue
        elif fired[1]:
            if w.side[k] == PRESSING:
                w.side[k] = RELEASED
            else:
                straighten(m, r, k)
                begin_pressing(m, w, r, k)
            continue
        if not has_friction(m, k) or w.side[k] != PRESSING:
            continue
        if abs(w.slip[k]) == 1:
            # Of a contact with a band only its own guard tells.
            if m.contact_band[k] == 0.0 and is_at_rest(m, w, k):
                come_to_rest(m, w, r, k)
            elif fired[2]:
                come_to_zero(m, w, r, k)
            continue
        if abs(w.slip[k]) == YIELDING:
            leave_band(m, w, r, k, fired)
            continue
        if w.slip[k] == HELD and fired[2]:
            # What holds it has begun to move.
            w.slip[k] = 1 if c[V_T] > 0.0 else -1
            continue
        r.rests[k] = 1
        if w.slip[k] != STICK:
            continue
        for i in range(2, 4):
            is_let_go = fired[i] != 0
            if is_break and not is_let_go and is_tied(m, r, k, i):
                is_let_go = True
                r.n_tie += 1
                r.t_tie = min(r.t_tie, t)
            if is_let_go:
                # Its friction is at the limit and goes on growing.
                start_slip(m, w, k, 1 if i == 2 else -1)
                r.rests[k] = 0
                r.freed[k] = 1
                break


@kernel
def bring_to_rest(m, w, r, t):
    """Set the slip of resting contacts exactly to zero, together with the joints."""
    n_rest = 0
    for k in range(m.n_contact):
        i = m.contact_row[k]
        if i >= 0 and r.is_touched[m.contact_group[k]]:
            set_active(m, w, i, r.rests[k] != 0)
            n_rest += r.rests[k]
    if n_rest > 0:
        v = at(r.y, m.n_dof)
        modes.configure(m, w, t, r.y, v)
        reactions.factor_rows(m, w)
        modes.project_velocities(m, w, v)


@kernel
def stop_others(m, w, r, t):
    """Let contacts be at rest that have come so with others; return whether any has.

    Where a mechanism stops, all its joints do, and the slip of one is zero sooner than
    that of another by round-off only.
    """
    is_any = False
    modes.configure(m, w, t, r.y, at(r.y, m.n_dof))
    for k in range(m.n_contact):
        is_here = r.is_touched[m.contact_group[k]] and has_friction(m, k)
        is_slipping = w.side[k] == PRESSING and abs(w.slip[k]) == 1
        if not is_here or not is_slipping or r.rests[k] or r.freed[k]:
            continue
        if m.contact_band[k] == 0.0 and is_at_rest(m, w, k):
            come_to_rest(m, w, r, k)
            is_any = True
    return is_any


@kernel
def accelerations(m, w, r, t):
    """Evaluate accelerations at the state `ahead`, of bodies and markers."""
    v = at(r.ahead, m.n_dof)
    modes.configure(m, w, t, r.ahead, v)
    reactions.factor_rows(m, w)
    modes.accelerate(m, w, t, v, 0.0, 0.0, r.d)
    assemble.add_acceleration(m, w, r.d)


@kernel
def time_to_overlap(m, w, k, depth):
    """Return how long a closed contact takes to overlap by `depth`, 0 if it opens."""
    rate = -w.contact[CONTACT * k + GAP_RATE]
    acceleration = -assemble.gap_acceleration(m, w, k)
    root = rate * rate + 2.0 * acceleration * depth
    if root < 0.0 or rate + math.sqrt(root) <= 0.0:
        return 0.0
    return 2.0 * depth / (rate + math.sqrt(root))


@kernel
def time_to_feel(m, w, r):
    """Return how long a contact that has just closed takes to be felt, in s.

    To overlap by a little, or for its force then to stop the bodies' approach.
    """
    shortest = math.inf
    depth = FELT * r.size
    for k in range(m.n_touch):
        c = at(w.contact, CONTACT * k)
        if w.side[k] == PRESSING and -c[GAP] <= CLOSED * r.size + LOOK_AHEAD * r.size:
            rate = max(-c[GAP_RATE], 0.0)
            if rate > 0.0:
                shortest = min(shortest, depth / rate)
                force = assemble.normal_force(m, w, k, -depth, c[GAP_RATE])
                pull = abs(force) * slip_compliance(m, w, r, k)
                shortest = min(shortest, rate / pull if pull > 0.0 else shortest)
    return shortest


@kernel
def look_ahead(m, w, r, t):
    """Write to `ahead` the state at which friction is decided; return its time.

    That is now, unless a contact at rest has no normal force yet. Then friction's
    limit and what it must hold are both zero, and their ratio shows a moment later.
    """
    n = m.n_dof
    for i in range(r.n_y):
        r.ahead[i] = r.y[i]
    for k in range(m.n_contact):
        if r.rests[k]:
            # A pinned one keeps its friction until all are decided.
            if abs(w.slip[k]) == 1 or abs(w.slip[k]) == YIELDING:
                w.slip[k] = STICK
            set_active(m, w, m.contact_row[k], False)
    # The friction of joints is not decided yet.
    w.is_bare = 1
    accelerations(m, w, r, t)
    w.is_bare = 0
    dt = 0.0
    for k in range(m.n_touch):
        if r.rests[k] and w.contact[CONTACT * k + LAM_N] <= SMALLEST_FORCE * m.force:
            dt = max(dt, time_to_overlap(m, w, k, LOOK_AHEAD * r.size))
    for i in range(n):
        r.ahead[i] += dt * (r.y[n + i] + 0.5 * dt * r.d[i])
        r.ahead[n + i] += dt * r.d[i]
    return min(t + dt, r.t_cap)


@kernel
def delassus(m, w, r):
    """Write what unit friction forces of the listed contacts do.

    Slip accelerations, and reactions of joints that have friction. Rows are configured
    and factored without them.
    """
    nf, A = r.n_force, r.delassus
    for j in range(nf):
        for i in range(m.n_dof):
            r.d[i] = 0.0
        spread(m, w, r.listed[j], 1.0, r.d)
        for i in range(m.n_dof):
            r.d[i] *= m.minv[i]
        for i in range(m.n_row):
            w.x[i] = w.g_t[i] - reactions.row_rate(m, w, i, r.d)
        reactions.respond(m, w, r.d)
        for i in range(nf):
            k = r.listed[i]
            A[i * nf + j] = gather(m, w, k, r.d)
            if k >= m.n_touch:
                place = 2 * i * nf + j
                note_reactions(
                    m, w, k, at(r.reaction, place), at(r.reaction, place + nf)
                )


@kernel
def note_reactions(m, w, k, first, second):
    """Copy the one or two reactions that load contact k of a joint."""
    i = m.contact_joint[k]
    first[0] = w.lam[i]
    if slides.has_two(m, k):
        second[0] = w.lam[i + 1]


@kernel
def spread(m, w, k, force, f):
    """Add a friction force at contact k to the generalised force f."""
    c = at(w.contact, CONTACT * k)
    G = stack_floats(6)
    assemble.contact_block(m, k, c, G)
    for side in range(2):
        marker = m.contact_b[k] if side else m.contact_a[k]
        o = 3 * m.marker_body[marker]
        if o < m.n_dof:
            g = at(G, 3 * side)
            f[o] += force * g[0]
            f[o + 1] += force * g[1]
            f[o + 2] += force * (
                g[2] - g[0] * w.arm[2 * marker + 1] + g[1] * w.arm[2 * marker]
            )


@kernel
def gather(m, w, k, a):
    """Return the slip acceleration of contact k due to body accelerations a."""
    c = at(w.contact, CONTACT * k)
    G = stack_floats(6)
    assemble.contact_block(m, k, c, G)
    total = 0.0
    for side in range(2):
        marker = m.contact_b[k] if side else m.contact_a[k]
        o = 3 * m.marker_body[marker]
        if o < m.n_dof:
            g = at(G, 3 * side)
            total += g[0] * a[o] + g[1] * a[o + 1]
            total += a[o + 2] * (
                g[2] - g[0] * w.arm[2 * marker + 1] + g[1] * w.arm[2 * marker]
            )
    return total


@kernel
def slip_compliance(m, w, r, k):
    """Return the slip acceleration of contact k under a unit friction force."""
    for i in range(m.n_dof):
        r.d[i] = 0.0
    spread(m, w, k, 1.0, r.d)
    for i in range(m.n_dof):
        r.d[i] *= m.minv[i]
    return gather(m, w, k, r.d)


@kernel
def list_group(m, w, r, g):
    """List the contacts of group g at rest, then its joints that slide."""
    n = 0
    for k in range(m.n_contact):
        if r.rests[k] and m.contact_group[k] == g:
            w.slip[k] = STICK
            set_active(m, w, m.contact_row[k], False)
            r.listed[n] = k
            n += 1
    r.n_listed = n
    for k in range(m.group_slide[g], m.group_slide[g + 1]):
        if not r.rests[k] and slides.is_sliding(m, w, k):
            r.listed[n] = k
            n += 1
    r.n_force = n


@kernel
def pose(m, w, r, t, g):
    """Set up the friction problem of group g; return how many forces it has."""
    list_group(m, w, r, g)
    if r.n_force == 0:
        return 0
    w.is_bare = 1
    accelerations(m, w, r, t)
    w.is_bare = 0
    for i in range(r.n_force):
        k = r.listed[i]
        r.slip_rate[i] = assemble.slip_acceleration(m, w, k)
        if i < r.n_listed:
            r.limit[i] = m.contact_mu0[k] * max(0.0, w.contact[CONTACT * k + LAM_N])
        if k >= m.n_touch:
            base = at(r.reaction_base, 2 * i)
            note_reactions(m, w, k, base, at(base, 1))
    delassus(m, w, r)
    for i in range(r.n_listed):
        # Of joints that block one motion this is their slip in it, but for a factor.
        k = r.listed[i]
        has_joints = m.group_slide[g + 1] > m.group_slide[g]
        compliance = max(r.delassus[i * r.n_force + i], TINY)
        w.ratio[k] = math.sqrt(compliance) if has_joints else 1.0
    return r.n_force


@kernel
def follow(m, w, r, t):
    """Let joints at rest that block one motion use their friction alike.

    One of them holds the motion, the others follow it. Returns whether they do.
    """
    n, nf, A = r.n_listed, r.n_force, r.delassus
    leader, most = 0, -1.0
    for i in range(n):
        k = r.listed[i]
        if k < m.n_touch:
            return False
        # The one whose friction can do most: another may bear nothing.
        limit = m.contact_mu0[k] * w.contact[CONTACT * k + LAM_N]
        if A[i * nf + i] * limit * limit > most:
            leader, most = i, A[i * nf + i] * limit * limit
    if n < 2:
        return False
    for i in range(n):
        both = A[i * nf + i] * A[leader * nf + leader]
        if abs(A[i * nf + leader] * A[leader * nf + i] - both) > ONE_MOTION * both:
            return False
    for i in range(n):
        sign = 1 if A[i * nf + leader] > 0.0 else -1
        k = r.listed[i]
        w.slip[k] = STICK if i == leader else sign * FOLLOWING
    activate(m, w)
    for _ in range(MAX_LEAN):
        # Their flanks were not watched.
        accelerations(m, w, r, t)
        is_new = False
        for i in range(n):
            k = r.listed[i]
            c = at(w.contact, CONTACT * k)
            flank = (1 if c[FRONT] < 0.0 else 0) | (2 if c[REAR] < 0.0 else 0)
            is_new = is_new or (flank != w.flank[k] and i != leader)
            w.flank[k] = flank
        if not is_new:
            break
    return True


@kernel
def can_stay(m, w, r, t):
    """Return whether all listed contacts can stay at rest, none of a joint sliding.

    What is at rest stays so if it can: with friction in joints there may be a motion
    that agrees with the law as well.
    """
    if r.n_listed == 0 or r.n_force > r.n_listed:
        return False
    if not follow(m, w, r, t):
        for i in range(r.n_listed):
            set_active(m, w, m.contact_row[r.listed[i]], True)
        accelerations(m, w, r, t)
    is_possible = True
    for i in range(r.n_listed):
        k = r.listed[i]
        if w.slip[k] != STICK:
            continue
        lam_t = w.contact[CONTACT * k + LAM_T]
        limit = slides.most(m, w, k, -1.0 if lam_t > 0.0 else 1.0)
        if abs(lam_t) > limit * (1.0 + TIE) + NO_FORCE * m.force:
            is_possible = False
    return is_possible


@kernel
def try_friction(r, p, n, compliance):
    """Set up and solve the friction problem, its diagonal a little larger."""
    M, q = r.M, r.q_lcp
    for i in range(n):
        total = r.slip_rate[i]
        for j in range(n):
            a = r.delassus[i * n + j]
            if i == j:
                a *= 1.0 + compliance
            total -= a * r.limit[j]
            M[i * 2 * n + j] = a
            M[i * 2 * n + n + j] = 1.0 if i == j else 0.0
            M[(n + i) * 2 * n + j] = -1.0 if i == j else 0.0
            M[(n + i) * 2 * n + n + j] = 0.0
        q[i] = total
        q[n + i] = 2.0 * r.limit[i]
    residual = stack_floats(4)
    return lcp.lemke(p, 2 * n, M, q, r.z_lcp, r.w_lcp, residual)


@far(Run, Lcp, INTEGER, returns=INTEGER)
def solve_friction(r, p, n):
    """Solve the friction problem by Lemke's method.

    | v_t'+ |   | A   I | | F+    |   | b - A L |
    | F-    | = | -I  0 | | v_t'- | + | 2 L     |,   L = mu0 lam_n
    """
    status = lcp.RAY
    for attempt in range(2):
        # Dependent contacts may defeat the pivoting; a trace of compliance tells them
        # apart, and is smaller than what counts as an acceleration.
        status = try_friction(r, p, n, attempt * COMPLIANCE)
        if status == lcp.SOLVED:
            break
    for i in range(n):
        # v_t'+ is in w, v_t'- in z.
        r.slip_change[i] = r.w_lcp[i] - r.z_lcp[n + i]
    return status


@kernel
def drop_held(m, w, r):
    """Decide the listed contacts that joints and drives alone hold; return how many.

    Friction does not change their slip: it begins where it is prescribed so, else they
    are at rest, and within a band they are so at any rate.
    """
    n_held = 0
    for i in range(r.n_listed):
        k = r.listed[i]
        free = slip_compliance(m, w, r, k)
        if abs(r.delassus[i * r.n_force + i]) > NO_COMPLIANCE * free:
            continue
        n_held += 1
        r.rests[k] = 0
        rate = r.slip_rate[i]
        # A drive that comes to rest decelerates ever less, and velocities are round-off
        # before accelerations are: it moves if it shows at once.
        moment = AT_ONCE * max(r.h, PART * r.span) if r.h > 0.0 else AT_START
        is_moving = abs(rate) * moment > MOVES * assemble.slip_scale(m, w, k)
        if m.contact_band[k] == 0.0 and is_moving:
            start_slip(m, w, k, 1 if rate > 0.0 else -1)
            r.freed[k] = 1
        else:
            w.slip[k] = HELD
    return n_held


@kernel
def let_go(m, w, r, n):
    """Release the listed contacts that accelerate; return how many."""
    n_slip = 0
    nf = r.n_force
    for i in range(n):
        rate = r.slip_change[i]
        # Round-off comes from forces as large as the weight.
        size = abs(r.slip_rate[i]) + r.delassus[i * nf + i] * m.force
        for j in range(n):
            size += abs(r.delassus[i * nf + j]) * r.limit[j]
        if abs(rate) > NO_ACCELERATION * size:
            k = r.listed[i]
            start_slip(m, w, k, 1 if rate > 0.0 else -1)
            r.rests[k] = 0
            r.freed[k] = 1
            n_slip += 1
    return n_slip


@kernel
def decide_rest(m, w, r, p, h, t):
    """Decide stick or slip for all contacts at rest; return a status."""
    for g in range(m.n_group):
        if not r.is_touched[g]:
            continue
        while pose(m, w, r, t, g) > 0:
            if drop_held(m, w, r) > 0:
                continue
            if m.group_slide[g + 1] > m.group_slide[g]:
                if can_stay(m, w, r, t):
                    break
                if r.n_listed > 0 and r.n_force == r.n_listed:
                    pose(m, w, r, t, g)
                r.lcp_status = flanks.solve(m, w, r, p, h, r.n_listed)
            else:
                r.n_solution = 1
                r.lcp_status = solve_friction(r, p, r.n_listed)
            if r.lcp_status == flanks.SEVERAL:
                return NOT_UNIQUE
            if r.lcp_status != lcp.SOLVED:
                return UNSOLVED
            if r.n_solution > 1:
                r.t_branch = min(r.t_branch, t)
            if let_go(m, w, r, r.n_listed) == 0:
                if m.group_slide[g + 1] > m.group_slide[g]:
                    follow(m, w, r, t)
                break
    return DECIDED


@kernel
def pin_held(m, w, r):
    """Pin contacts let go that others hold; return how many.

    Their friction stays at the limit, and what more is asked for goes to the others.
    """
    n_pinned = 0
    for k in range(m.n_contact):
        if r.freed[k] and w.n_stuck > 0 and is_held(m, w, r, k):
            w.slip[k] = PINNED if w.slip[k] > 0 else -PINNED
            r.freed[k] = 0
            n_pinned += 1
    w.n_pinned += n_pinned
    return n_pinned


@kernel
def is_held(m, w, r, k):
    """Return whether contact k neither slips nor can, for joints and others' sticking.

    A body may let it slip though no force at this instant would: two corners on one
    line, while it turns.
    """
    free = slip_compliance(m, w, r, k)
    if abs(assemble.slip_acceleration(m, w, k)) > NO_ACCELERATION * free * m.force:
        return False
    for i in range(m.n_dof):
        r.d[i] = 0.0
    spread(m, w, k, 1.0, r.d)
    for i in range(m.n_dof):
        r.d[i] *= m.minv[i]
    for i in range(m.n_row):
        w.x[i] = w.g_t[i] - reactions.row_rate(m, w, i, r.d)
    reactions.respond(m, w, r.d)
    return abs(gather(m, w, k, r.d)) <= NO_COMPLIANCE * free


@kernel
def recall_wrong(m, w, r):
    """Take back contacts let go that would slip against their own friction.

    Returns how many. Accelerations are those of the mode chosen.
    """
    n_wrong = 0
    for k in range(m.n_contact):
        if r.freed[k]:
            sign = 1.0 if w.slip[k] > 0 else -1.0
            rate = sign * assemble.slip_acceleration(m, w, k)
            limit = m.contact_mu0[k] * w.contact[CONTACT * k + LAM_N]
            round_off = TIE * limit + NO_FORCE * m.force
            if rate < -round_off * slip_compliance(m, w, r, k):
                r.freed[k] = 0
                r.rests[k] = 1
                n_wrong += 1
    return n_wrong


@kernel
def agrees(m, w, r):
    """Return whether the friction of sticking contacts is within its limits."""
    for k in range(m.n_contact):
        if r.is_touched[m.contact_group[k]] and has_friction(m, k):
            lam_t = w.contact[CONTACT * k + LAM_T]
            # Friction opposes the slip that begins.
            limit = slides.most(m, w, k, -1.0 if lam_t > 0.0 else 1.0)
            limit = limit * (1.0 + VERIFIED) + SMALLEST_FORCE * m.force
            is_stuck = w.side[k] == PRESSING and w.slip[k] == STICK
            if is_stuck and abs(lam_t) > limit:
                return False
    return True


@kernel
def comply(m, w, r, t):
    """Project velocities onto the mode chosen; let slip follow them.

    Dependent rows could not be met all before; now those that remain are.
    """
    v = at(r.y, m.n_dof)
    modes.configure(m, w, t, r.y, v)
    if w.n_stuck > 0:
        reactions.factor_rows(m, w)
        modes.project_velocities(m, w, v)
        modes.configure(m, w, t, r.y, v)
    for k in range(m.n_contact):
        v_t = w.contact[CONTACT * k + V_T]
        is_slipping = w.side[k] == PRESSING and abs(w.slip[k]) == 1
        is_slipping = is_slipping and has_friction(m, k) and m.contact_band[k] == 0.0
        if is_slipping and w.slip[k] * v_t < 0.0 and not is_at_rest(m, w, k):
            w.slip[k] = 1 if v_t > 0.0 else -1


@far(Tables, Work, Run, Lcp, Hlcp, NUMBER, returns=INTEGER)
def decide(m, w, r, p, h, t):
    """Bring contacts to rest and decide them, until the mode agrees with the law."""
    bring_to_rest(m, w, r, t)
    while stop_others(m, w, r, t):
        bring_to_rest(m, w, r, t)
    status = settle(m, w, r, p, h, look_ahead(m, w, r, t))
    if status == DECIDED:
        comply(m, w, r, t)
    return status


@kernel
def pin_first(m, w, r, t_ahead):
    """Pin contacts at their limit that others hold; return whether that is all.

    Their friction must not drop to mu before it is known that they slip.
    """
    n_freed = 0
    for k in range(m.n_contact):
        if r.freed[k]:
            w.slip[k] = PINNED if w.slip[k] > 0 else -PINNED
            n_freed += 1
    if n_freed == 0:
        return False
    activate(m, w)
    accelerations(m, w, r, t_ahead)
    n_pinned = 0
    for k in range(m.n_contact):
        if r.freed[k]:
            if w.n_stuck > 0 and is_held(m, w, r, k):
                r.freed[k] = 0
                r.rests[k] = 1
                n_pinned += 1
            else:
                start_slip(m, w, k, 1 if w.slip[k] > 0 else -1)
    if n_pinned < n_freed:
        return False
    accelerations(m, w, r, t_ahead)
    return agrees(m, w, r)


@kernel
def settle(m, w, r, p, h, t_ahead):
    """Decide all contacts at rest by the state `ahead`; return a status."""
    if pin_first(m, w, r, t_ahead):
        return DECIDED
    for _ in range(2 + m.n_contact):
        status = decide_rest(m, w, r, p, h, t_ahead)
        activate(m, w)
        if status != DECIDED:
            return status
        for k in range(m.n_contact):
            # Those decided to stick are at rest still, should another be recalled.
            is_here = r.is_touched[m.contact_group[k]] != 0
            r.rests[k] = 1 if is_here and is_resting(m, w, k) else 0
        accelerations(m, w, r, t_ahead)
        pin_held(m, w, r)
        # Trying who is held has left other reactions.
        accelerations(m, w, r, t_ahead)
        if recall_wrong(m, w, r) == 0:
            # Dependent rows share friction in a way that may not be the law's.
            return DECIDED if w.has_lost_rank or agrees(m, w, r) else WRONG
    return WRONG


@kernel
def is_chattering(m, r, t):
    """Count a switch at t; return whether there are too many without time passing."""
    if t - r.t_switch > NO_TIME * abs(t) + PASSED * r.h:
        r.n_chatter = 0
    r.n_chatter += 1
    r.t_switch = t
    if t - r.t_flood > FLOOD_PART * r.span:
        r.t_flood = t
        r.n_flood = 0
    r.n_flood += 1
    allowed = CHATTER + CHATTER_PER_CONTACT * m.n_contact
    return r.n_chatter > allowed or r.n_flood > FLOOD


@far(Tables, Work, Run, Lcp, Hlcp, NUMBER, returns=INTEGER, is_door=True)
def switch(m, w, r, p, h, t):
    """Choose the next mode at the state r.y from the guards that fired."""
    if is_chattering(m, r, t):
        return CHATTERING
    if m.n_contact > m.n_touch and r.fired[m.n_guard + 4 * m.n_contact]:
        if w.is_chosen:
            return JAMMED
        if r.branch == flanks.UNIQUE:
            return NOT_UNIQUE
        # From here on only the present flanks are watched.
        w.is_chosen = 1
        r.t_branch = min(r.t_branch, t)
    note_speed(m, w, r)
    modes.configure(m, w, t, r.y, at(r.y, m.n_dof))
    change_sides(m, w, r, t)
    status = decide(m, w, r, p, h, t)
    for k in range(m.n_contact):
        if r.is_touched[m.contact_group[k]]:
            for i in range(4):
                r.is_at_zero[m.n_guard + 4 * k + i] = 1
    return status


@far(Tables, Work, Run, Lcp, Hlcp, NUMBER, returns=INTEGER, is_door=True)
def renew(m, w, r, p, h, t):
    """Decide all contacts again where laws break: forces may jump, or drives stop."""
    note_speed(m, w, r)
    modes.configure(m, w, t, r.y, at(r.y, m.n_dof))
    for g in range(m.n_group):
        r.is_touched[g] = 1
    for k in range(m.n_contact):
        r.rests[k] = 0
        r.freed[k] = 0
        if not has_friction(m, k) or w.side[k] != PRESSING:
            continue
        is_slow = m.contact_band[k] == 0.0 and is_at_rest(m, w, k)
        if is_resting(m, w, k):
            r.rests[k] = 1
        elif abs(w.slip[k]) == 1 and is_slow:
            come_to_rest(m, w, r, k)
    status = decide(m, w, r, p, h, t)
    for k in range(m.n_guard, m.n_watch):
        r.is_at_zero[k] = 1
    return status


@far(Tables, Work, Run, Lcp, Hlcp, NUMBER, returns=INTEGER, is_door=True)
def review(m, w, r, p, h, t):
    """Decide sticking contacts again whose rows depend on each other.

    Their rows do not hold what little distinguishes them, and no guard shows when it
    begins to matter. Returns 1 if the mode changed, 0 if not, -1 if undecided.
    """
    for g in range(m.n_group):
        r.is_touched[g] = 1
    for k in range(m.n_contact):
        r.kept[k] = w.slip[k]
        r.rests[k] = 1 if is_resting(m, w, k) else 0
        r.freed[k] = 0
    n_resting = w.n_stuck + w.n_pinned
    r.switch_status = settle(m, w, r, p, h, look_ahead(m, w, r, t))
    if r.switch_status != DECIDED:
        return -1
    if w.n_stuck + w.n_pinned == n_resting:
        # Pins and all, as it was.
        for k in range(m.n_contact):
            w.slip[k] = r.kept[k]
        activate(m, w)
        return 0
    comply(m, w, r, t)
    for k in range(m.n_guard, m.n_watch):
        r.is_at_zero[k] = 1
    return 1


@kernel
def first_sides(m, w, r):
    """Set sides by gap, or by its rate where the gap is closed."""
    for g in range(m.n_group):
        r.is_touched[g] = 1
    for k in range(m.n_contact):
        c = at(w.contact, CONTACT * k)
        r.rests[k] = 0
        r.freed[k] = 0
        if k >= m.n_touch:
            begin_pressing(m, w, r, k)
            continue
        first = c[GAP]
        if abs(first) <= CLOSED * r.size:
            first = c[GAP_RATE]
        if first < 0.0:
            # Unless an earlier run has left the rate it touched down with.
            if math.isnan(w.approach[k]):
                w.approach[k] = max(0.0, -c[GAP_RATE])
            begin_pressing(m, w, r, k)
            if (
                c[GAP] < 0.0
                and assemble.normal_force(m, w, k, c[GAP], c[GAP_RATE]) < 0.0
            ):
                w.side[k] = RELEASED
                r.rests[k] = 0


@kernel
def close_by_acceleration(m, w, r, t):
    """Let contacts that touch at rest press if they accelerate so; return if any."""
    for i in range(r.n_y):
        r.ahead[i] = r.y[i]
    accelerations(m, w, r, t)
    is_new = False
    for k in range(m.n_touch):
        c = at(w.contact, CONTACT * k)
        is_closed = abs(c[GAP]) <= CLOSED * r.size and c[GAP_RATE] == 0.0
        round_off = NO_FORCE * m.force * slip_compliance(m, w, r, k)
        closes = assemble.gap_acceleration(m, w, k) < -round_off
        if is_closed and w.side[k] == OPEN and closes:
            w.approach[k] = 0.0
            begin_pressing(m, w, r, k)
            is_new = True
    return is_new


@kernel
def has_no_sign(m, w, k, j):
    """Return whether the force of flank j of contact k is round-off."""
    u = w.contact[CONTACT * k + (FRONT if j == 0 else REAR)]
    return abs(u) <= SMALLEST_FORCE * m.force


@kernel
def lean(m, w, r, t):
    """Set the flanks that have no force yet by the force they have a moment later."""
    for i in range(r.n_y):
        r.ahead[i] = r.y[i]
    accelerations(m, w, r, t)
    n, n_open = m.n_dof, 0
    for k in range(m.n_touch, m.n_contact):
        r.kept[k] = 0
        for j in range(slides.n_flank(m, k) if m.contact_kind[k] != PIN else 0):
            if has_no_sign(m, w, k, j):
                r.kept[k] |= 1 << j
                n_open += 1
    if n_open == 0:
        return
    dt = AT_ONCE * PART * r.span
    for i in range(n):
        r.ahead[i] += dt * (r.y[n + i] + 0.5 * dt * r.d[i])
        r.ahead[n + i] += dt * r.d[i]
    accelerations(m, w, r, min(t + dt, r.t_cap))
    for k in range(m.n_touch, m.n_contact):
        for j in range(2):
            u = w.contact[CONTACT * k + (FRONT if j == 0 else REAR)]
            if (r.kept[k] >> j) & 1 and u != 0.0:
                w.flank[k] = (w.flank[k] & ~(1 << j)) | ((1 << j) if u < 0.0 else 0)


@far(Tables, Work, Run, Lcp, Hlcp, NUMBER, returns=INTEGER, is_door=True)
def first_mode(m, w, r, p, h, t):
    """Choose the mode a run begins in.

    Sides by the first derivative of the gap that is not zero; accelerations come
    last, with the contacts that press already.
    """
    for k in range(m.n_contact):
        w.side[k] = OPEN
        w.slip[k] = STICK
        w.flank[k] = 0
        w.hold[k] = 0.0
    w.is_chosen = 0
    activate(m, w)
    note_speed(m, w, r)
    modes.configure(m, w, t, r.y, at(r.y, m.n_dof))
    first_sides(m, w, r)
    status = decide(m, w, r, p, h, t)
    if status == DECIDED and close_by_acceleration(m, w, r, t):
        status = decide(m, w, r, p, h, t)
    if status == DECIDED and w.n_rub > 0:
        lean(m, w, r, t)
    return status
