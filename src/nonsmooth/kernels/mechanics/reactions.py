"""Constraint rows: their matrix, its factors, and reactions from them.

    S = J M^-1 J^T

Rows of contacts that do not stick are empty, with a unit diagonal.
"""

from nonsmooth.kernels.abi import at, far, kernel
from nonsmooth.kernels.linear import skyline
from nonsmooth.kernels.mechanics import bodies
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.tolerances import CONTACT_RANK, RANK, REGULARISATION, TIED_RANK

# Weights of reactions that are not unique: of contacts that can bear little beside
# others, at most; and of joints.
MAX_WEIGHT, JOINT_WEIGHT = 1e4, 1e-5


@far(Tables, Work)
def factor_rows(m, w):
    """Form S = J M^-1 J^T and factor it; note a loss of rank."""
    S, J = w.S, w.J
    for i in range(w.n_active):
        o = m.start[i]
        for j in range(w.first[i], i):
            S[o + j] = 0.0
        S[o + i] = 0.0 if w.is_active[i] else 1.0
    # Pairs with the row of a contact come last, and are empty where none sticks.
    for k in range(m.n_pair if w.n_stuck > 0 else m.n_joint_pair):
        pair = m.pair[k]
        S[pair[3]] += bodies.meet(m, w, pair[2], at(J, pair[0]), at(J, pair[1]))
    w.has_lost_rank = 0
    least = factor(m, w, 0.0)
    # Contacts that stand on one line are no singular pose of the mechanism.
    w.pivot = least if w.n_stuck == 0 else 1.0
    if least <= rank(w):
        w.n_rank_loss += 1
        w.has_lost_rank = 1
        # What is left of a row that depends on others is round-off, of either sign.
        w.pivot = 0.0 if w.n_stuck == 0 else 1.0
        factor_shared(m, w)


@kernel
def rank(w):
    """Return the part of a diagonal entry below which a pivot is none."""
    if w.n_stuck == 0:
        return RANK
    return TIED_RANK if w.is_tied else CONTACT_RANK


@kernel
def factor(m, w, shift):
    """Factor S, regularised; return the least pivot."""
    n, is_contact = w.n_active, w.n_stuck > 0 and shift == 0.0
    return skyline.factor(
        n, w.first, m.start, w.S, shift, w.weight, rank(w), is_contact, w.L, w.d
    )


@kernel
def factor_shared(m, w):
    """Factor S with dependent rows; friction that is not unique is shared."""
    share_friction(m, w)
    n = w.n_active
    w.n_tied = 0
    if w.n_stuck > 0:
        w.n_tied = skyline.list_left_out(n, m.n_tie, w.d, w.tied)
    if w.n_tied == 0:
        # Joints pass poses in which their rows depend on each other, and the reactions
        # of those that are kept would go beyond all bounds.
        factor(m, w, REGULARISATION)
        return
    skyline.find_null(n, w.first, m.start, w.S, w.L, w.d, w.n_tied, w.tied, w.null)
    skyline.weigh_null(n, m.start, w.S, w.weight, w.n_tied, w.null, w.gram, w.gram_swap)


@kernel
def share_friction(m, w):
    """Weigh the friction of sticking contacts by their limits.

    Where it is not unique, contacts on one line then bear in proportion to what they
    can, and reach their limits together; so do joints that block one motion, in which
    they slip in given ratios.
    """
    for i in range(m.n_row):
        # A joint may bear what contacts cannot.
        w.weight[i] = 1.0 if w.n_stuck == 0 else JOINT_WEIGHT
    largest = 0.0
    for k in range(m.n_contact):
        i = m.contact_row[k]
        if i >= 0 and w.is_active[i]:
            largest = max(largest, bearing(m, w, k))
    for k in range(m.n_contact):
        i = m.contact_row[k]
        if i >= 0 and w.is_active[i]:
            own = bearing(m, w, k)
            w.weight[i] = min(largest / own, MAX_WEIGHT) if own > 0.0 else MAX_WEIGHT


@kernel
def bearing(m, w, k):
    """Return what contact k can bear, in the units in which reactions are weighed."""
    i = m.contact_row[k]
    limit = m.contact_mu0[k] * w.contact[k].lam_n
    return limit * w.S[m.start[i] + i] / w.ratio[k]


@kernel
def solve_rows(m, w, b, x):
    """Solve S x = b with the current factors, least norm if S lost rank."""
    n = w.n_active
    if w.has_lost_rank and w.n_tied == 0:
        skyline.least_norm(n, w.first, m.start, w.S, w.L, w.d, b, w.r, x)
        return
    for i in range(n):
        x[i] = b[i]
    skyline.solve(0, n, w.first, m.start, w.L, w.d, x)
    if w.has_lost_rank:
        part = w.null_part
        skyline.spread(
            n, m.start, w.S, w.weight, w.n_tied, w.null, w.gram, w.gram_swap, part, x
        )


@kernel
def row_rate(m, w, i, v):
    """Return g' of row i."""
    total = w.g_t[i]
    place = m.row_side[i]
    for side in range(2):
        if place[side] >= 0:
            total += bodies.dot(m, w, place[side], at(w.J, place[2 + side]), v)
    return total


@kernel
def add_reactions(m, w, lam, out):
    """Add J^T lam to out."""
    for i in range(w.n_active):
        if not w.is_active[i]:
            continue
        place = m.row_side[i]
        for side in range(2):
            if place[side] >= 0:
                J = at(w.J, place[2 + side])
                bodies.add_row(m, w, place[side], J, lam[i], out)


@kernel
def respond(m, w, a):
    """Add M^-1 J^T S^-1 x to a, with x in w.x; the multipliers go to w.lam."""
    solve_rows(m, w, w.x, w.lam)
    react(m, w, a)


@kernel
def react(m, w, a):
    """Add M^-1 J^T lam to a, and write it to w.a."""
    for i in range(m.n_dof):
        w.a[i] = 0.0
    add_reactions(m, w, w.lam, w.a)
    bodies.solve_mass(m, w, w.a, w.a)
    for i in range(m.n_dof):
        a[i] += w.a[i]


@kernel
def oppose(m, w, a):
    """Let the rows answer accelerations a that they forbid, and add what they cause."""
    for i in range(m.n_row):
        # row_rate(a) is g_t + J a
        w.x[i] = w.g_t[i] - row_rate(m, w, i, a)
    respond(m, w, a)
