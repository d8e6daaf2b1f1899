"""Contacts of a group as one: how near it is to slip.

Contacts that share bodies or joints are a group. Where slip accelerations under their
friction forces (`response`) depend on each other, friction at rest is redundant: its
motion is unique, its forces are not. Then no single contact tells when the group gives
way, but the group itself does: the part of their limits that forces use which hold it,
shared as well as can be. At one it begins to slip, in the mechanism that is critical.
"""

import math

from nonsmooth.kernels.abi import (
    INTEGER,
    NUMBER,
    at,
    far,
    kernel,
    stack_floats,
)
from nonsmooth.kernels.complementarity import fixed_point
from nonsmooth.kernels.complementarity.box import (
    DEPENDENT,
    factor,
    rank_tolerance,
    scale_box,
    tie,
)
from nonsmooth.kernels.complementarity.mechanism import group_ratio, let_go
from nonsmooth.kernels.complementarity.scaling import SOLVED
from nonsmooth.kernels.complementarity.sharing import share
from nonsmooth.kernels.friction import slides
from nonsmooth.kernels.friction.modes import PRESSING, STICK
from nonsmooth.kernels.friction.response import turn_loads, weigh, weigh_joined
from nonsmooth.kernels.linear.dense import lu_factor, lu_solve
from nonsmooth.kernels.mechanics import contacts, reactions
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.tolerances import TIED_RANK

# Part of its friction beyond which it does not matter how much more a group would need.
FAR_BEYOND = 2.0
# Part by which limits may be exceeded where all of them are reached: what sharing needs
# to see that it is possible, and far below what a limit is known to.
ABOVE = 1e-11
# Forces that their limits agree with to this part are shared.
AGREED = 1e-9
# Rounds in which tangents of loads are turned, each of which squares what they miss;
# and what is round-off of that, beside the loads.
MAX_TURN, TURNED = 10, 1e-12


@kernel
def is_stuck(m, w, k):
    """Return whether the row of contact k holds it."""
    mode = w.mode[k]
    return m.contact_row[k] >= 0 and mode.side == PRESSING and mode.grip == STICK


@kernel
def has_slides(m, g):
    """Return whether joints of group g have friction."""
    return m.group_slide[g + 1] > m.group_slide[g]


@kernel
def list_stuck(m, w, g):
    """List the contacts of group g that stick, with limits and forces."""
    n = 0
    for k in range(m.n_contact):
        if m.contact_group[k] == g and is_stuck(m, w, k):
            c = w.contact[k]
            w.held[n] = k
            w.held_limit[n] = m.contact_mu0[k] * max(0.0, c.lam_n)
            w.held_force[n] = c.lam_t
            n += 1
    return n


@kernel
def open_rows(m, w, n):
    """Let the n listed contacts go, and factor what is left."""
    for i in range(n):
        contacts.set_active(m, w, m.contact_row[w.held[i]], False)
    reactions.factor_rows(m, w)


@kernel
def close_rows(m, w, n):
    """Hold the n listed contacts again."""
    for i in range(n):
        k = w.held[i]
        contacts.set_active(m, w, m.contact_row[k], True)
        contacts.contact_row(m, w, k)
    reactions.factor_rows(m, w)


@kernel
def weigh_stuck(m, w, g):
    """List the contacts of group g that stick, and write their A; return how many."""
    n = list_stuck(m, w, g)
    if n > 1:
        # As their own rows have it.
        w.box.tied = TIED_RANK if w.is_tied and w.has_lost_rank else 0.0
        open_rows(m, w, n)
        if has_slides(m, g):
            weigh_joined(m, w, g, n)
        else:
            weigh(m, w, n)
        close_rows(m, w, n)
    return n


@kernel
def divide(w, n, A, limit):
    """Share the friction of the n listed contacts within the limits given.

    Returns whether that can be.
    """
    for i in range(n):
        w.box.slip[i] = 0
    return share(w.box, n, A, limit, w.held_free, w.held_force) == SOLVED


@kernel
def divide_beyond(w, n, A, part):
    """Share it within limits that are larger by the part in use, where that is more."""
    for i in range(n):
        w.box.shrunk[i] = max(part, 1.0) * (1.0 + ABOVE) * w.held_limit[i]
    divide(w, n, A, w.box.shrunk)


@kernel
def bear_held(m, w, n, i, slope):
    """Return the limit of listed contact i under the present friction, and its slopes.

    Those of the load, to the two reactions of a joint and to its own friction.
    """
    k = w.held[i]
    if k < m.n_touch:
        return w.held_limit[i]
    first, second = w.held_base[i][0], w.held_base[i][1]
    for j in range(n):
        first += w.held_reaction[2 * i * n + j] * w.held_force[j]
        second += w.held_reaction[(2 * i + 1) * n + j] * w.held_force[j]
    force = w.held_force[i]
    slides.load_slopes(m, w, k, force, first, second, slope)
    return m.contact_mu0[k] * slides.load_at_rest(m, w, k, force, first, second)


@kernel
def bend(m, w, n):
    """Write limits, and how the part that each contact uses changes with friction.

    With r_i = F_i / L_i and L' its gradient, r_i L_i changes like P F, P = 1 - r L'. In
    x = P F limits are as if they were constant: A becomes P^-T A P^-1. Returns whether
    that can be.
    """
    P = w.held_P
    slope = stack_floats(3)
    for i in range(n):
        k = w.held[i]
        limit = bear_held(m, w, n, i, slope)
        w.held_limit[i] = limit
        part = w.held_force[i] / limit if limit > 0.0 else 0.0
        part = min(max(part, -FAR_BEYOND), FAR_BEYOND) * m.contact_mu0[k]
        for j in range(n):
            P[i * n + j] = 1.0 if i == j else 0.0
            if k >= m.n_touch:
                change = slope[0] * w.held_reaction[2 * i * n + j]
                change += slope[1] * w.held_reaction[(2 * i + 1) * n + j]
                change += slope[2] if i == j else 0.0
                P[i * n + j] -= part * change
    if not lu_factor(n, P, w.held_swap):
        return False
    # P^-1 by columns.
    for j in range(n):
        column = at(w.held_inverse, j * n)
        for i in range(n):
            column[i] = 1.0 if i == j else 0.0
        lu_solve(n, P, w.held_swap, column)
    return turn(w, n)


@kernel
def turn(w, n):
    """Write P^-T A P^-1; return whether all is finite.

    By the factor of A, cut off where rows depend on others: so they do after.
    """
    p = w.box
    if not scale_box(p, n, w.held_A, w.held_limit, w.held_free):
        return False
    tie(p, n, w.held_free)
    for i in range(n):
        p.order[i] = i
    r = factor(p, n, n, rank_tolerance(n, DEPENDENT))
    for i in range(n):
        for j in range(r):
            total = 0.0
            for l in range(n):
                k = p.order[l]
                total += w.held_inverse[i * n + k] * p.d[k] * p.C[l * n + j]
            w.held_P[i * n + j] = total
    for i in range(n):
        for j in range(n):
            total = 0.0
            for l in range(r):
                total += w.held_P[i * n + l] * w.held_P[j * n + l]
            w.held_bent[i * n + j] = total
    return True


@kernel
def agree(m, w, n):
    """Share friction until limits agree with it; return the part of it in use.

    Infinite where they do not.
    """
    limit, free, force = w.held_limit, w.held_free, w.held_force
    p = w.search
    fixed_point.begin(p, n)
    for i in range(n):
        p.x[i] = force[i]
    while True:
        if not bend(m, w, n):
            return math.inf
        part = group_ratio(w.box, n, w.held_bent, limit, free, force)
        if not part < math.inf:
            return part
        divide_beyond(w, n, w.held_bent, part)
        for i in range(n):
            p.y[i] = p.x[i]
            for j in range(n):
                p.y[i] += w.held_inverse[j * n + i] * (force[j] - p.x[j])
        is_over = fixed_point.is_met(p, n) or not fixed_point.advance(p, n)
        for i in range(n):
            force[i] = p.y[i] if is_over else p.x[i]
        if is_over:
            return part if p.apart <= AGREED else math.inf


@kernel
def share_afresh(m, w, n):
    """Share friction within the limits of loads without any: the same from any state.

    Keeps what it was.
    """
    slope, force = stack_floats(3), w.held_force
    for i in range(n):
        w.held_last[i] = force[i]
        force[i] = 0.0
    for i in range(n):
        w.held_limit[i] = bear_held(m, w, n, i, slope)
    for i in range(n):
        force[i] = w.held_last[i]
    part = group_ratio(w.box, n, w.held_A, w.held_limit, w.held_free, force)
    if part < math.inf:
        divide_beyond(w, n, w.held_A, part)


@kernel
def hold_tangents(m, w, n):
    """Return the part of its friction that a group uses, joints that slide linear.

    Limits of joints are loads, which depend on how friction is shared: so that is done
    until they agree. Beyond one, all limits are taken to be as much larger. There may
    be several such ways: the first is from loads without friction, and where that does
    not hold the group, one near the last is looked for.
    """
    force = w.held_force
    share_afresh(m, w, n)
    part = agree(m, w, n)
    if part <= 1.0:
        return part
    for i in range(n):
        w.held_first[i] = force[i]
        force[i] = w.held_last[i]
    other = agree(m, w, n)
    if other <= part or not part < math.inf:
        return other
    for i in range(n):
        force[i] = w.held_first[i]
    bend(m, w, n)
    return part


@kernel
def hold(m, w, g, n):
    """Return the part of its friction that group g uses, shared as well as can be.

    Loads of joints that slide beside are curved: tangents are turned to where friction
    has been shared, and it is shared again, until they tell the loads.
    """
    if not has_slides(m, g):
        limit, force = w.held_limit, w.held_force
        return group_ratio(w.box, n, w.held_A, limit, w.held_free, force)
    part = hold_tangents(m, w, n)
    for _ in range(MAX_TURN if w.n_beside > 0 else 0):
        # Far beyond, it does not matter how far.
        if not part < FAR_BEYOND or turn_loads(m, w, n) <= TURNED:
            break
        part = hold_tangents(m, w, n)
    return part


@far(Tables, Work, INTEGER, returns=NUMBER)
def used(m, w, g):
    """Return the part of its friction that group g uses.

    Forces are those of the last evaluation; reactions are not kept.
    """
    n = weigh_stuck(m, w, g)
    # Infinite where nothing resists.
    return min(hold(m, w, g, n), FAR_BEYOND) if n > 1 else 0.0


@far(Tables, Work, INTEGER, returns=INTEGER)
def give_way(m, w, g):
    """Find who slips where group g gives way; return how many stick until then.

    They are in `w.held`, the signs of their slip in `w.box.critical`.
    """
    n = weigh_stuck(m, w, g)
    if n > 1:
        hold(m, w, g, n)
        let_go(w.box, n, w.held_A, w.held_limit, w.held_free, w.held_force)
    return n if n > 1 else 0
