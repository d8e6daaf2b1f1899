"""Friction at rest as results show it: redundant forces shared within their limits.

The motion needs none of this: rows hold what sticks, whatever its forces are.
"""

from nonsmooth.kernels.abi import FLOATS, at, far, kernel, stack_floats
from nonsmooth.kernels.friction import slides
from nonsmooth.kernels.friction.groups import (
    close_rows,
    divide,
    divide_beyond,
    has_slides,
    hold,
    list_stuck,
    open_rows,
)
from nonsmooth.kernels.friction.response import weigh, weigh_joined
from nonsmooth.kernels.mechanics import assemble, bodies, contacts, reactions
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.tolerances import AT_LIMIT, NO_FORCE, TIED_RANK, TINY

# Contacts that stick on nearly one line, but are not tied, where friction is beyond a
# limit: rows that differ by this part of a compliance share it, if that changes
# accelerations by no more than this part of what the weight does: as states are known.
NEARLY_TIED, NO_CHANGE = 1e-6, 1e-8
# Rounds in which the friction of joints that slide follows that of others at rest, and
# its last change, beside it.
MAX_SLIDE, FOLLOWED = 30, 1e-13


@far(Tables, Work, FLOATS)
def share_friction(m, w, a):
    """Share redundant friction at rest within its limits, with reactions and loads.

    Rows share it already in proportion to the limits; what they leave beyond a limit is
    shared anew. Accelerations a are unique, and stay, where rows depend on each other;
    where they nearly do, they follow the forces: friction on nearly one line is known
    as well as the state is, over their distance from one line.
    """
    for g in range(m.n_group):
        is_shared = slides.is_shared(m, w, g)
        if not is_shared and w.n_gripped < 2:
            continue
        n = list_stuck(m, w, g)
        n_touch, n_joint = 0, 0
        for i in range(n):
            limit = w.held_limit[i] * (1.0 + AT_LIMIT) + NO_FORCE * w.force
            is_beyond = abs(w.held_force[i]) > limit
            n_touch += 1 if is_beyond and w.held[i] < m.n_touch else 0
            n_joint += 1 if is_beyond and w.held[i] >= m.n_touch else 0
        # Limits of joints follow from how it is shared; but where others slide, so does
        # their friction.
        is_joined = is_shared and has_slides(m, g)
        is_joined = is_joined and slides.list_sliding(m, w, g) == 0
        if n > 1 and (n_touch + n_joint > 0 or is_joined):
            is_near = n_touch > 0 and n_joint == 0 and not w.has_lost_rank
            is_tied = w.has_lost_rank and w.is_tied
            w.box.tied = NEARLY_TIED if is_near else TIED_RANK if is_tied else 0.0
            share_group(m, w, g, n, a, is_near)


@kernel
def keep_motion(w, n):
    """Keep the friction that was where another would change accelerations."""
    has_changed = False
    for i in range(n):
        change = 0.0
        for j in range(n):
            last = w.contact[w.held[j]].lam_t
            change += w.held_A[i * n + j] * (w.held_force[j] - last)
        largest = NO_CHANGE * w.held_free[i] * w.force
        has_changed = has_changed or abs(change) > largest
    for i in range(n if has_changed else 0):
        w.held_force[i] = w.contact[w.held[i]].lam_t


@kernel
def push_changes(m, w, n, n_slide):
    """Write what changes of friction do: to `held_a` and, of reactions, `lam`.

    Of the n listed contacts, and of joints that slide.
    """
    for i in range(m.n_dof):
        w.held_a[i] = 0.0
    G = stack_floats(6)
    for i in range(n + n_slide):
        k = w.held[i] if i < n else w.rub[i - n]
        change = w.excess[i - n] if i >= n else w.held_force[i] - w.contact[k].lam_t
        contacts.coefficients(m, w, k, G)
        bodies.add_wrench(m, w, m.contact_a[k], G, change, w.held_a)
        bodies.add_wrench(m, w, m.contact_b[k], at(G, 3), change, w.held_a)
    bodies.solve_mass(m, w, w.held_a, w.held_a)
    reactions.oppose(m, w, w.held_a)


@kernel
def change_slides(m, w, n_slide):
    """Let the friction of joints that slide follow their loads; return the change.

    The largest, beside the friction.
    """
    largest = 0.0
    for i in range(m.n_row):
        w.r[i] = w.new[i] + w.lam[i]
    for l in range(n_slide):
        k = w.rub[l]
        c = w.contact[k]
        G = slides.load(m, w, k, c.phi, w.r)
        change = -c.phi * (G - c.lam_n)
        size = abs(c.phi) * G + TINY
        largest = max(largest, abs(change - w.excess[l]) / size)
        w.excess[l] = change
    return largest


@kernel
def share_group(m, w, g, n, a, is_near):
    """Share the friction of the n listed contacts of group g; a are accelerations.

    Of contacts on nearly one line, if they hardly change.
    """
    for i in range(m.n_row):
        w.new[i] = w.lam[i]
    open_rows(m, w, n)
    if has_slides(m, g):
        weigh_joined(m, w, g, n)
        hold(m, w, g, n)
    else:
        weigh(m, w, n)
        if not divide(w, n, w.held_A, w.held_limit):
            # At break-away the limits are met to round-off, from either side.
            divide_beyond(w, n, w.held_A, hold(m, w, g, n))
    if is_near:
        keep_motion(w, n)
    n_slide = slides.list_sliding(m, w, g)
    for l in range(n_slide):
        w.excess[l] = 0.0
    for _ in range(MAX_SLIDE if n_slide > 0 else 1):
        push_changes(m, w, n, n_slide)
        if change_slides(m, w, n_slide) <= FOLLOWED:
            break
    for i in range(m.n_dof):
        a[i] += w.held_a[i]
    for i in range(m.n_row):
        w.x[i] = w.lam[i] if w.is_active[i] else 0.0
    close_rows(m, w, n)
    for i in range(m.n_row):
        w.lam[i] = w.x[i]
    for i in range(n):
        k = w.held[i]
        w.lam[m.contact_row[k]] = w.held_force[i] - w.contact[k].lam_t
    # Loads of supports take the changes; then all is as it should be.
    assemble.load_supports(m, w)
    contacts.stick_forces(m, w)
    for l in range(n_slide):
        c = w.contact[w.rub[l]]
        contacts.push_friction(m, w, w.rub[l], w.excess[l])
        c.lam_t += w.excess[l]
    for i in range(m.n_row):
        w.lam[i] += w.new[i]
    for l in range(n_slide):
        c = w.contact[w.rub[l]]
        c.lam_n = slides.load(m, w, w.rub[l], c.phi, w.lam)
    for k in range(m.n_contact):
        i = m.contact_row[k]
        if i >= 0 and w.is_active[i]:
            w.contact[k].lam_t = w.lam[i]
    if has_slides(m, g):
        slides.bear(m, w)
