"""The friction problem of contacts at rest.

Contacts at rest are decided together, normal forces known:

    v_t'+ - v_t'- = A lam_t + b
    0 <= v_t'+  _|_  F+ = mu0 lam_n + lam_t >= 0
    0 <= v_t'-  _|_  F- = mu0 lam_n - lam_t >= 0

a linear complementarity problem of size 2 H for H contacts at rest. A contact that
cannot stay drops to mu at once, and the rest are decided again. Only contacts that
share bodies or joints, a group, decide together: an event changes no acceleration in
another group.

References
----------
[WangWang2015]_ Eqs. (9)-(13), (25); [ZhangWang2017]_ Eq. (38). With friction inside
joints loads are not known beforehand, and the problem is that of `flanks`.
"""

import math

from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, kernel, stack_floats
from nonsmooth.kernels.complementarity.lemke import lemke
from nonsmooth.kernels.complementarity.scaling import RAY, SOLVED
from nonsmooth.kernels.friction import flanks, slides
from nonsmooth.kernels.friction.modes import (
    FOLLOWING,
    HELD,
    PINNED,
    PRESSING,
    SLIP,
    STICK,
    YIELDING,
    set_grip,
    sign_of,
)
from nonsmooth.kernels.look import spend
from nonsmooth.kernels.mechanics import bodies, contacts, dynamics, reactions
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import Decision
from nonsmooth.kernels.tolerances import (
    AT_LIMIT,
    MOVES,
    NO_ACCELERATION,
    NO_COMPLIANCE,
    NO_FORCE,
    ONE_MOTION,
    TINY,
)

# Part of a step, or of this part of the run, in which a prescribed slip shows at once.
# At the start of a run, or where laws break, what begins to move does so from rest: s.
AT_ONCE, PART, AT_START = 1e-6, 1e-2, 1.0
# Rounds of finding the flanks of joints that hold each other.
MAX_LEAN = 8
# Part by which the friction problem's diagonal is raised where it is not solved.
COMPLIANCE = 1e-10

DECIDED, UNSOLVED, WRONG, CHATTERING, NOT_UNIQUE, JAMMED = 0, 1, 2, 3, 4, 5


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
            mode = w.mode[k]
            sticks = mode.side == PRESSING and mode.grip == STICK
            contacts.set_active(m, w, i, sticks)
            if sticks:
                w.n_gripped += 1 if k < m.n_touch else 0
            elif mode.side == PRESSING and mode.grip == PINNED:
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
            grip = w.mode[k].grip
            has_followers = has_followers or grip == FOLLOWING
            if m.contact_row[k] >= 0 and grip == STICK:
                held = k
        if has_followers:
            w.leader[g] = held


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


# ---- what friction forces do ---------------------------------------------------


@kernel
def push_alone(m, w, k, a):
    """Write the accelerations under a unit friction force at contact k, rows aside."""
    G = stack_floats(6)
    contacts.coefficients(m, w, k, G)
    for i in range(m.n_dof):
        a[i] = 0.0
    bodies.add_wrench(m, w, m.contact_a[k], G, 1.0, a)
    bodies.add_wrench(m, w, m.contact_b[k], at(G, 3), 1.0, a)
    bodies.solve_mass(m, w, a, a)


@kernel
def slip_due(m, w, k, a):
    """Return the slip acceleration of contact k due to accelerations a."""
    G = stack_floats(6)
    contacts.coefficients(m, w, k, G)
    total = bodies.from_body(m, w, m.contact_a[k], G, a)
    return total + bodies.from_body(m, w, m.contact_b[k], at(G, 3), a)


@far(Tables, Work, Decision, INTEGER, returns=NUMBER, is_door=True)
def slip_compliance(m, w, r, k):
    """Return the slip acceleration of contact k under a unit friction force."""
    push_alone(m, w, k, r.step.d)
    return slip_due(m, w, k, r.step.d)


@kernel
def delassus(m, w, r):
    """Write what unit friction forces of the listed contacts do.

    Slip accelerations, and reactions of joints that have friction. Rows are configured
    and factored without them.
    """
    nf, A, a = r.n_force, r.delassus, r.step.d
    for j in range(nf):
        push_alone(m, w, r.listed[j], a)
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


# ---- the problem of one group --------------------------------------------------


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
            r.limit[i] = m.contact_mu0[k] * max(0.0, w.contact[k].lam_n)
        if k >= m.n_touch:
            base = r.reaction_base[i]
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
def try_friction(r, n, compliance):
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
    return lemke(r.lcp, 2 * n, M, q, r.z_lcp, r.w_lcp, residual)


@far(Decision, INTEGER, returns=INTEGER)
def solve_friction(r, n):
    """Solve the friction problem by Lemke's method.

    | v_t'+ |   | A   I | | F+    |   | b - A L |
    | F-    | = | -I  0 | | v_t'- | + | 2 L     |,   L = mu0 lam_n
    """
    status = RAY
    for attempt in range(2):
        # Dependent contacts may defeat the pivoting; a trace of compliance tells them
        # apart, and is smaller than what counts as an acceleration.
        status = try_friction(r, n, attempt * COMPLIANCE)
        if status == SOLVED:
            break
    for i in range(n):
        # v_t'+ is in w, v_t'- in z.
        r.slip_change[i] = r.w_lcp[i] - r.z_lcp[n + i]
    return status


# ---- joints at rest that hold each other ---------------------------------------


@kernel
def most_able(m, w, r):
    """Return the listed joint whose friction can do most, -1 if a contact is listed."""
    n, nf, A = r.n_listed, r.n_force, r.delassus
    leader, most = 0, -1.0
    for i in range(n):
        k = r.listed[i]
        if k < m.n_touch:
            return -1
        # Another may bear nothing.
        limit = m.contact_mu0[k] * w.contact[k].lam_n
        if A[i * nf + i] * limit * limit > most:
            leader, most = i, A[i * nf + i] * limit * limit
    return leader


@far(Tables, Work, Decision, NUMBER, returns=INTEGER)
def follow(m, w, r, t):
    """Let joints at rest that block one motion use their friction alike.

    One of them holds the motion, the others follow it. Returns whether they do.
    """
    n, nf, A = r.n_listed, r.n_force, r.delassus
    leader = most_able(m, w, r)
    if leader < 0 or n < 2:
        return 0
    for i in range(n):
        both = A[i * nf + i] * A[leader * nf + leader]
        if abs(A[i * nf + leader] * A[leader * nf + i] - both) > ONE_MOTION * both:
            return 0
    for i in range(n):
        sign = sign_of(A[i * nf + leader])
        is_leader = i == leader
        set_grip(
            w.mode[r.listed[i]],
            STICK if is_leader else FOLLOWING,
            0 if is_leader else sign,
        )
    activate(m, w)
    for _ in range(MAX_LEAN):
        # Their flanks were not watched.
        accelerations(m, w, r, t)
        is_new = False
        for i in range(n):
            c, mode = w.contact[r.listed[i]], w.mode[r.listed[i]]
            flank = (1 if c.front < 0.0 else 0) | (2 if c.rear < 0.0 else 0)
            is_new = is_new or (flank != mode.flank and i != leader)
            mode.flank = flank
        if not is_new:
            break
    return 1


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
            contacts.set_active(m, w, m.contact_row[r.listed[i]], True)
        accelerations(m, w, r, t)
    is_possible = True
    for i in range(r.n_listed):
        k = r.listed[i]
        if w.mode[k].grip != STICK:
            continue
        lam_t = w.contact[k].lam_t
        limit = slides.most(m, w, k, -1.0 if lam_t > 0.0 else 1.0)
        if abs(lam_t) > limit * (1.0 + AT_LIMIT) + NO_FORCE * w.force:
            is_possible = False
    return is_possible


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
        free = slip_compliance(m, w, r, k)
        if abs(r.delassus[i * r.n_force + i]) > NO_COMPLIANCE * free:
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
            r.freed[k] = 1
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
            r.freed[k] = 1
            n_slip += 1
    return n_slip


@far(Tables, Work, Decision, NUMBER, returns=INTEGER)
def decide_rest(m, w, r, t):
    """Decide stick or slip for all contacts at rest; return a status."""
    for g in range(m.n_group):
        if not r.is_touched[g]:
            continue
        has_joints = m.group_slide[g + 1] > m.group_slide[g]
        while pose(m, w, r, t, g) > 0:
            if drop_held(m, w, r) > 0:
                continue
            if has_joints:
                if can_stay(m, w, r, t):
                    break
                if r.n_listed > 0 and r.n_force == r.n_listed:
                    pose(m, w, r, t, g)
                r.lcp_status = flanks.solve(m, w, r, r.n_listed)
            else:
                r.n_solution = 1
                r.lcp_status = solve_friction(r, r.n_listed)
            if r.lcp_status == flanks.SEVERAL:
                return NOT_UNIQUE
            if r.lcp_status != SOLVED:
                return UNSOLVED
            if r.n_solution > 1:
                r.t_branch = min(r.t_branch, t)
            if let_go(m, w, r, r.n_listed) == 0:
                if has_joints:
                    follow(m, w, r, t)
                break
    return DECIDED
