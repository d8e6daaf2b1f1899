"""Joints that slide: their friction, added to reactions and accelerations.

Loads of few joints in a group are found by the small full matrix of `slides`, those of
many by the banded one of `chains`; both with Newton's method where loads are curved.
"""

import math

from nonsmooth.kernels.abi import FLOATS, INTEGER, at, far, kernel, stack_floats
from nonsmooth.kernels.friction import chains, pins, slides
from nonsmooth.kernels.friction.loads import is_curved
from nonsmooth.kernels.mechanics import bodies, contacts
from nonsmooth.kernels.mechanics.tables import FACES, PIN, Tables, Work

# Corrections until the next would change the loads of pins by round-off, beside them:
# it is smaller by the same factor as the last was. One that is no smaller than the next
# part of the last asks for new directions.
STILL, SLOW = 1e-16, 0.1
# Coupling from which on the margin of uniqueness is worked out: below 1 it is positive,
# and a guard that comes near zero is to be seen there.
NEARLY_LOST = 0.9
# Joints of a group up to which the full matrix is used: all signs of its flanks may be
# tried then, and it is as fast.
MAX_FULL = slides.MAX_FLANK


@kernel
def solve_loads(m, w, n, begin, end, is_banded):
    """Solve for loads and reactions with the present tangents; return whether done."""
    if is_banded:
        return chains.solve_loads(m, w, n, begin, end)
    slides.solve_loads(m, w, n)
    slides.react(m, w, n, begin, end)
    return 1


@kernel
def correct_loads(m, w, n, begin, end, is_banded):
    """Correct them by what curved loads are more than their tangents tell.

    The factors are those of the last directions: a chord instead of Newton's tangent.
    """
    if is_banded:
        chains.correct_loads(m, w, n, begin, end)
    else:
        slides.correct_loads(m, w, n)
        slides.react(m, w, n, begin, end)


@far(Tables, Work, INTEGER, INTEGER, INTEGER, returns=INTEGER)
def find_loads(m, w, g, n, is_banded):
    """Find loads and reactions of the n listed contacts of group g.

    Returns 0 where the banded matrix cannot be factored, else 1.
    """
    begin, end = m.group_row[g], min(m.group_end[g], w.n_active)
    has_curved = 0
    for l in range(n):
        if is_curved(m, w.rub[l]):
            has_curved = 1
    if has_curved:
        # Reactions without friction, and what it added at the last evaluation, are
        # near. A block's last tangent is nearer: mostly the same nodes press, and then
        # it is exact.
        for i in range(begin, end):
            w.new[i] = w.lam[i] + w.bent[i]
        slides.aim_all(m, w, n, w.new, PIN)
    if not solve_loads(m, w, n, begin, end, is_banded):
        return 0
    last = 1.0
    for i in range(slides.MAX_CONE if has_curved else 0):
        change = slides.find_excess(m, w, n)
        # At first, the directions' error, the root of twice what it does to a load.
        rate = change / last if i > 0 else math.sqrt(2.0 * change)
        if change > SLOW * last and change * rate > STILL:
            # The directions have turned too far. A tangent is never above the load of a
            # pin, so that tangents lead to it from anywhere; a chord may lead nowhere.
            slides.aim_all(m, w, n, w.new, -1)
            if not solve_loads(m, w, n, begin, end, is_banded):
                return 0
            last = change
            continue
        correct_loads(m, w, n, begin, end, is_banded)
        if change * rate <= STILL:
            if i > 1:
                slides.aim_all(m, w, n, w.new, FACES)
            break
        last = change
    return 1


@far(Tables, Work, INTEGER, INTEGER)
def note_margin(m, w, g, n):
    """Note how near the loads that `chains` has found are to having no one solution."""
    if w.is_chosen:
        begin, end = m.group_row[g], min(m.group_end[g], w.n_active)
        w.margin = min(w.margin, chains.determinant(w, begin, end))
    elif not chains.is_certain(m, w, g, n, NEARLY_LOST):
        least = chains.least_determinant(m, w, g, n)
        if math.isnan(least):
            slides.respond(m, w, g, n)
            least = slides.least_determinant(m, w, n)
        w.margin = min(w.margin, least)


@kernel
def rub_group(m, w, g, n, a):
    """Find the friction of the n listed contacts of group g, and add what it does."""
    begin, end = m.group_row[g], min(m.group_end[g], w.n_active)
    if not w.is_chosen and pins.are_few_pins(m, w, n):
        if pins.rub(m, w, n, begin, end, 1, a):
            return
    is_banded = 0
    if n > MAX_FULL and not w.has_lost_rank:
        for l in range(n):
            slides.turn(m, w, w.rub[l], w.rub_block[l])
        is_banded = find_loads(m, w, g, n, 1)
    if not is_banded:
        slides.respond(m, w, g, n)
        find_loads(m, w, g, n, 0)
    for i in range(begin, end):
        change = w.new[i] - w.lam[i]
        w.bent[i] = change if abs(change) < math.inf else 0.0
        w.lam[i] = w.new[i]
    for l in range(n):
        c = w.contact[w.rub[l]]
        force = -c.phi * w.load_of[l]
        c.lam_n = w.load_of[l]
        c.lam_t = force - c.drag
        slide(m, w, w.rub[l], w.rub_block[l], force, a)
    if is_banded:
        note_margin(m, w, g, n)
    elif w.is_chosen:
        w.margin = min(w.margin, slides.determinant(n, w.lu, w.swap))
    elif w.coupling >= NEARLY_LOST:
        w.margin = min(w.margin, slides.least_determinant(m, w, n))


@kernel
def slide(m, w, k, W, force, a):
    """Add a friction force of contact k to accelerations, and to loads of supports."""
    for side in range(2):
        marker = m.contact_b[k] if side else m.contact_a[k]
        dof = m.body_dof[m.marker_body[marker]]
        if dof >= 0:
            bodies.add_response(m, w, dof, W[side], force, a)
        else:
            G = stack_floats(6)
            contacts.coefficients(m, w, k, G)
            bodies.push(m, w, marker, at(G, 3 * side), force)


@far(Tables, Work, FLOATS, returns=INTEGER)
def rub_alone(m, w, a):
    """Solve for reactions where all rows are of a few pins, and add their friction.

    Returns 0 where they are not, 1 if reactions have been found, 2 if friction, too.
    """
    if m.n_group != 1 or w.is_chosen:
        return 0
    begin, end = m.group_row[0], m.group_end[0]
    n = slides.list_sliding(m, w, 0)
    if begin > 0 or end < w.n_active or not pins.are_few_pins(m, w, n):
        return 0
    return 1 + pins.rub(m, w, n, 0, w.n_active, 0, a)


@far(Tables, Work, FLOATS)
def rub(m, w, a):
    """Add the friction of all joints that slide to reactions and accelerations."""
    for g in range(m.n_group):
        n = slides.list_sliding(m, w, g)
        if n > 0:
            rub_group(m, w, g, n, a)
