"""The friction problem of contacts at rest.

Contacts at rest are decided together, normal forces known:

    v_t'+ - v_t'- = A lam_t + b
    0 <= v_t'+  _|_  F+ = mu0 lam_n + lam_t >= 0
    0 <= v_t'-  _|_  F- = mu0 lam_n - lam_t >= 0

a linear complementarity problem of size 2 H for H contacts at rest. A is positive
semidefinite, so that it is the same as the convex problem of `complementarity.box`: it
always has a solution, and one motion. Contacts that cannot stay drop to mu at once, and
all are decided again. Only contacts that share bodies or joints, a group, decide
together: an event changes no acceleration in another group.

References
----------
[WangWang2015]_ Eqs. (9)-(13), (25); [ZhangWang2017]_ Eq. (38). With friction inside
joints loads are not known beforehand, and the problem is that of `joined`.
"""

import math

from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, kernel
from nonsmooth.kernels.complementarity.box import solve_box
from nonsmooth.kernels.complementarity.scaling import SOLVED
from nonsmooth.kernels.friction import flanks, joined, slides
from nonsmooth.kernels.friction.groups import has_slides, used
from nonsmooth.kernels.friction.joined import motion_limit, part_at_rest
from nonsmooth.kernels.friction.modes import (
    HELD,
    PRESSING,
    SLIP,
    STICK,
    YIELDING,
    set_grip,
    sign_of,
)
from nonsmooth.kernels.friction.response import push_alone, slip_due
from nonsmooth.kernels.look import spend
from nonsmooth.kernels.mechanics import bodies, contacts, dynamics, reactions
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import Decision
from nonsmooth.kernels.tolerances import (
    AT_LIMIT,
    AT_REST,
    MOVES,
    NO_ACCELERATION,
    NO_COMPLIANCE,
    NO_FORCE,
    TINY,
)

# Part of a step, or of this part of the run, in which a prescribed slip shows at once.
# At the start of a run, or where laws break, what begins to move does so from rest: s.
AT_ONCE, PART, AT_START = 1e-6, 1e-2, 1.0

# How a contact was let go: by friction that is not enough, or by a drive alone; or it
# yields from before, and may be balanced where forces have jumped; or it has no load.
FREED, PRESCRIBED, DOUBTED, BARE = 1, 2, 3, 4

DECIDED, UNSOLVED, WRONG, CHATTERING, NOT_UNIQUE, JAMMED = 0, 1, 2, 3, 4, 5


@kernel
def activate(m, w):
    """Make the rows of sticking contacts constraints."""
    w.n_gripped = 0
    w.n_rub = 0
    w.is_tied = 0
    for k in range(m.n_contact):
        if k >= m.n_touch and slides.is_sliding(m, w, k):
            w.n_rub += 1
        i = m.contact_row[k]
        if i >= 0:
            mode = w.mode[k]
            sticks = mode.side == PRESSING and mode.grip == STICK
            contacts.set_active(m, w, i, sticks)
            if sticks:
                w.n_gripped += 1 if k < m.n_touch else 0
                w.is_tied |= mode.is_tied


@kernel
def tie(m, w, is_tied):
    """Let rows that depend on each other do so for an arc, or be decided anew."""
    w.is_tied = is_tied
    for k in range(m.n_contact):
        mode = w.mode[k]
        sticks = mode.side == PRESSING and mode.grip == STICK
        mode.is_tied = is_tied if sticks and m.contact_row[k] >= 0 else 0


@kernel
def start_slip(m, w, k, sign):
    """Let contact k slip; one with a band yields until it leaves that."""
    mode = w.mode[k]
    if mode.grip == STICK:
        # At rest the flanks of a joint were not watched.
        c = w.contact[k]
        mode.flank = (1 if c.front < 0.0 else 0) | (2 if c.rear < 0.0 else 0)
    set_grip(mode, YIELDING if m.contact_band[k] > 0.0 else SLIP, sign)


@far(Tables, Work, Decision, NUMBER)
def accelerations(m, w, r, t):
    """Evaluate accelerations at the state `ahead`, of bodies and markers."""
    v = at(r.ahead, m.n_dof)
    dynamics.configure(m, w, t, r.ahead, v)
    reactions.factor_rows(m, w)
    dynamics.accelerate(m, w, t, v, 0.0, 0.0, r.step.d)
    bodies.add_acceleration(m, w, r.step.d)


# ---- the problem of one group --------------------------------------------------


@kernel
def delassus(m, w, r):
    """Write what unit friction forces of the listed contacts do.

    Slip accelerations, and reactions of joints that have friction. Rows are configured
    and factored without them.
    """
    nf, A, a = r.n_force, r.delassus, r.step.d
    for j in range(nf):
        push_alone(m, w, r.listed[j], a)
        r.free[j] = slip_due(m, w, r.listed[j], a)
        reactions.oppose(m, w, a)
        for i in range(nf):
            k = r.listed[i]
            A[i * nf + j] = slip_due(m, w, k, a)
            if k >= m.n_touch:
                place = 2 * i * nf + j
                note_reactions(
                    m, w, k, at(r.reaction, place), at(r.reaction, place + nf)
                )
        if spend(r.step.look, m.n_profile + 30 * nf):
            return


@kernel
def note_reactions(m, w, k, first, second):
    """Copy the one or two reactions that load contact k of a joint."""
    i = m.contact_joint[k]
    first[0] = w.lam[i]
    if slides.has_two(m, k):
        second[0] = w.lam[i + 1]


@kernel
def list_group(m, w, r, g):
    """List the contacts of group g at rest, then its joints that slide."""
    n = 0
    for k in range(m.n_contact):
        if r.rests[k] and m.contact_group[k] == g:
            set_grip(w.mode[k], STICK, 0)
            contacts.set_active(m, w, m.contact_row[k], False)
            r.listed[n] = k
            n += 1
    r.n_listed = n
    for k in range(m.group_slide[g], m.group_slide[g + 1]):
        if not r.rests[k] and slides.is_sliding(m, w, k):
            r.listed[n] = k
            n += 1
    r.n_force = n


@far(Tables, Work, Decision, NUMBER, INTEGER, returns=INTEGER)
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
        r.slip_rate[i] = contacts.slip_acceleration(m, w, k)
        if i < r.n_listed:
            r.limit[i] = part_at_rest(m, r, k) * max(0.0, w.contact[k].lam_n)
        if k >= m.n_touch:
            base = r.reaction_base[i]
            note_reactions(m, w, k, base, at(base, 1))
    delassus(m, w, r)
    spare(m, w, r)
    for i in range(r.n_listed):
        # Of joints that block one motion this is their slip in it, but for a factor.
        k = r.listed[i]
        compliance = max(r.delassus[i * r.n_force + i], TINY)
        w.ratio[k] = math.sqrt(compliance) if has_slides(m, g) else 1.0
    return r.n_force


@kernel
def spare(m, w, r):
    """Let contacts between shapes bear what says nothing, as their guards do.

    Where faces have just met, loads and what friction must hold are both round-off.
    """
    for i in range(r.n_listed):
        k = r.listed[i]
        if k < m.n_touch and r.free[i] > 0.0:
            r.limit[i] += trace(m, w, r, k, r.free[i]) / r.free[i]


@kernel
def trace(m, w, r, k, free):
    """Return the slip acceleration by friction that is spared, of compliance `free`."""
    own = contacts.own_weight(m, w, r.step.set.size, 1.0 / free)
    return free * contacts.spared(own, w.contact[k].lam_n)


@kernel
def no_acceleration(m, w, r, k, free):
    """Return the slip acceleration that is none at contact k, of compliance `free`.

    Round-off comes from forces as large as the weight. And what has not become more
    than round-off of a velocity after a part of the run is rest.
    """
    size = free * w.force
    slip = AT_REST * contacts.slip_scale(m, w, k)
    slow = min(slip / (PART * r.step.set.span), AT_LIMIT * size)
    return NO_ACCELERATION * size + slow


@far(Tables, Work, Decision, INTEGER, returns=INTEGER)
def solve_friction(m, w, r, n):
    """Solve the friction problem of n contacts, loads known; return a status.

    Limits drop to those of motion where contacts accelerate, all of a round together
    and with both signs; who has dropped stays so.
    """
    for i in range(n):
        w.box.noise[i] = no_acceleration(m, w, r, r.listed[i], r.free[i])
    for _ in range(1 + n):
        for i in range(n):
            if r.dropped[r.listed[i]]:
                r.limit[i] = min(r.limit[i], motion_limit(m, w, r.listed[i]))
        status = solve_box(
            w.box,
            n,
            r.delassus,
            r.slip_rate,
            r.limit,
            r.free,
            r.friction,
            r.slip_change,
        )
        n_dropped = 0
        for i in range(n):
            k = r.listed[i]
            if w.box.slip[i] != 0 and not r.dropped[k]:
                r.dropped[k] = 1
                n_dropped += 1
        if status != SOLVED or n_dropped == 0:
            return status
    return SOLVED


@kernel
def let_slip(m, w, r, n):
    """Release the contacts that slip in the solution of the friction problem."""
    for i in range(n):
        if w.box.slip[i] != 0:
            k = r.listed[i]
            start_slip(m, w, k, w.box.slip[i])
            r.rests[k] = 0
            r.freed[k] = FREED


# ---- with friction in joints ---------------------------------------------------


@kernel
def can_stay(m, w, r, t, g):
    """Return whether all listed contacts can stay at rest, none of a joint sliding.

    What is at rest stays so if it can: with friction in joints there may be a motion
    that agrees with the law as well.
    """
    if r.n_listed == 0 or r.n_force > r.n_listed:
        return False
    for i in range(r.n_listed):
        if r.dropped[r.listed[i]]:
            return False
    for i in range(r.n_listed):
        contacts.set_active(m, w, m.contact_row[r.listed[i]], True)
    accelerations(m, w, r, t)
    if slides.is_shared(m, w, g):
        return used(m, w, g) <= 1.0 + AT_LIMIT
    for i in range(r.n_listed):
        k = r.listed[i]
        lam_t = w.contact[k].lam_t
        limit = slides.most(m, w, k, -1.0 if lam_t > 0.0 else 1.0)
        if abs(lam_t) > limit * (1.0 + AT_LIMIT) + NO_FORCE * w.force:
            return False
    return True


@kernel
def decide_joined(m, w, r, n):
    """Decide a group whose joints have friction; return a status, and if it is final.

    Where solutions need not be unique all of them are looked for.
    """
    r.n_solution = 1
    if n > 0:
        r.lcp_status = joined.solve_joined(m, w, r, n)
        if r.lcp_status == SOLVED and flanks.is_sure(m, w, r, n):
            let_slip(m, w, r, n)
            joined.lean(m, w, r, n)
            return DECIDED, True
    is_found = n > 0 and r.lcp_status == SOLVED
    r.lcp_status = flanks.solve(m, w, r, n)
    if r.lcp_status == flanks.SEVERAL:
        return NOT_UNIQUE, True
    if is_found and (r.lcp_status != SOLVED or r.n_solution == 1):
        joined.solve_joined(m, w, r, n)
        let_slip(m, w, r, n)
        joined.lean(m, w, r, n)
        return DECIDED, True
    if r.lcp_status != SOLVED:
        return UNSOLVED, True
    return DECIDED, let_go(m, w, r, n) == 0


# ---- who stays and who goes ----------------------------------------------------


@kernel
def drop_held(m, w, r):
    """Decide the listed contacts that joints and drives alone hold; return how many.

    Friction does not change their slip: it begins where it is prescribed so, else they
    are at rest, and within a band they are so at any rate.
    """
    n_held = 0
    s = r.step
    for i in range(r.n_listed):
        k = r.listed[i]
        if abs(r.delassus[i * r.n_force + i]) > NO_COMPLIANCE * r.free[i]:
            continue
        n_held += 1
        r.rests[k] = 0
        rate = r.slip_rate[i]
        # A drive that comes to rest decelerates ever less, and velocities are round-off
        # before accelerations are: it moves if it shows at once.
        moment = AT_ONCE * max(s.h, PART * s.set.span) if s.h > 0.0 else AT_START
        is_moving = abs(rate) * moment > MOVES * contacts.slip_scale(m, w, k)
        if m.contact_band[k] == 0.0 and is_moving:
            start_slip(m, w, k, sign_of(rate))
            r.freed[k] = PRESCRIBED
        else:
            set_grip(w.mode[k], HELD, 0)
    return n_held


@kernel
def let_go(m, w, r, n):
    """Release the listed contacts that accelerate; return how many."""
    n_slip = 0
    nf = r.n_force
    for i in range(n):
        rate = r.slip_change[i]
        # Round-off comes from forces as large as the weight.
        size = abs(r.slip_rate[i]) + r.delassus[i * nf + i] * w.force
        for j in range(n):
            size += abs(r.delassus[i * nf + j]) * r.limit[j]
        if abs(rate) > NO_ACCELERATION * size:
            k = r.listed[i]
            start_slip(m, w, k, sign_of(rate))
            r.rests[k] = 0
            r.freed[k] = FREED
            n_slip += 1
    return n_slip


@far(Tables, Work, Decision, NUMBER, returns=INTEGER)
def decide_rest(m, w, r, t):
    """Decide stick or slip for all contacts at rest; return a status."""
    for g in range(m.n_group):
        if not r.is_touched[g]:
            continue
        has_joints = has_slides(m, g)
        while pose(m, w, r, t, g) > 0:
            if drop_held(m, w, r) > 0:
                continue
            if not has_joints:
                r.lcp_status = solve_friction(m, w, r, r.n_listed)
                if r.lcp_status != SOLVED:
                    return UNSOLVED
                let_slip(m, w, r, r.n_listed)
                break
            if can_stay(m, w, r, t, g):
                break
            if r.n_listed > 0 and r.n_force == r.n_listed:
                pose(m, w, r, t, g)
            status, is_final = decide_joined(m, w, r, r.n_listed)
            if status != DECIDED:
                return status
            if r.n_solution > 1:
                r.t_branch = min(r.t_branch, t)
            if is_final:
                break
    return DECIDED
