"""Friction inside joints that slide, together with the reactions it depends on.

A sliding contact inside a joint presses with its flanks, whose forces u_j are linear in
the joint's reactions lam. Its load and its friction force are

    G = sum_j |u_j|        lam_t = -(phi G + drag)

with phi and drag known from the slip velocity. In a mode the sign of each u_j is known,
too, so that G is linear in lam, and lam in all friction forces:

    lam = lam_0 + sum_l Y_l lam_t,l        S Y_l = -J M^-1 W_l
    (I + D Phi) G = G_0        D_kl = sum_j sgn(u_kj) u_kj(Y_l)

S is symmetric and factored already; only the small matrix is not. Its size is the
number of joints of one group that slide.

- A point in a slot has one flank, u = lam. [WangWangZhuang2014]_ Eqs. (13)-(19)
- A block in a guide has its two ends, see `nonsmooth.elements.joints.Prismatic`.
- A pin in a hole has one, u = e·lam, with e the direction of its force: the exact cone.
  Since |lam| = e·lam, the above with the last e is a step of Newton's method; what is
  left is corrected with the same factors.
- An elastic block has one, its load G(lam) by `faces`, u = G + G'·(lam - lam'), by
  Newton's method in the same way.

The loads exist and are unique for every G_0 iff the determinant of I + D Phi has the
same sign for every choice of signs.
"""

import math

from nonsmooth.kernels.abi import (
    FLOATS,
    INTEGER,
    NUMBER,
    at,
    far,
    kernel,
    stack_floats,
)
from nonsmooth.kernels.friction import faces
from nonsmooth.kernels.friction.loads import (
    aim,
    block,
    block_part,
    block_slopes,
    curved,
    is_curved,
    linear_areas,
    tangent,
    way_of,
)
from nonsmooth.kernels.friction.modes import SLIP, STICK, is_free
from nonsmooth.kernels.linear import skyline
from nonsmooth.kernels.linear.dense import lu_factor, lu_solve
from nonsmooth.kernels.mechanics import bodies, contacts, reactions
from nonsmooth.kernels.mechanics.tables import FACES, GUIDE, PIN, Tables, Work
from nonsmooth.kernels.tolerances import AT_REST, NO_FORCE, TINY

# Rounds of finding where curved loads point.
MAX_CONE = 50
# Flanks of a group for which all signs are tried.
MAX_FLANK = 10


@kernel
def n_flank(m, k):
    """Return how many flanks contact k has."""
    return 2 if m.contact_kind[k] == GUIDE else 1


@kernel
def flank_force(m, w, k, j, phi, first, second):
    """Return the force of flank j of contact k under its one or two reactions.

    Of a curved load, its change with them: see `base_force`.
    """
    kind = m.contact_kind[k]
    if is_curved(m, k):
        e = tangent(m, w, k, phi)
        return e[0] * first + e[1] * second
    if kind == GUIDE:
        couple = second + 0.5 * phi * m.contact_height[k] * first
        couple /= m.contact_length[k]
        return 0.5 * first + (couple if j == 0 else -couple)
    return first


@kernel
def base_force(m, w, k, phi):
    """Return the force of a flank without reactions: of a tangent."""
    return tangent(m, w, k, phi)[2] if m.contact_kind[k] == FACES else 0.0


@kernel
def has_two(m, k):
    """Return whether contact k rubs under two reactions of its joint, not one."""
    return is_curved(m, k) or m.contact_kind[k] == GUIDE


@kernel
def flank(m, w, k, j, phi, lam):
    """Return the force of flank j of contact k under reactions lam."""
    i = m.contact_joint[k]
    second = lam[i + 1] if has_two(m, k) else 0.0
    base = base_force(m, w, k, phi)
    return base + flank_force(m, w, k, j, phi, lam[i], second)


@kernel
def stride(n):
    """Return how far rows of `response` stand apart: solved for four at a time."""
    return 4 * ((n + 3) // 4)


@kernel
def add_flank(m, w, k, j, n, factor, out):
    """Add factor times the forces of flank j of contact k due to the loads of n.

    Returns the sum of their magnitudes.
    """
    phi, i = w.contact[k].phi, m.contact_joint[k] * stride(n)
    c = flank_force(m, w, k, j, phi, 1.0, 0.0)
    first, total = at(w.response, i), 0.0
    if has_two(m, k):
        d, second = flank_force(m, w, k, j, phi, 0.0, 1.0), at(first, stride(n))
        for l in range(n):
            change = c * first[l] + d * second[l]
            out[l] += factor * change
            total += abs(change)
    else:
        for l in range(n):
            change = c * first[l]
            out[l] += factor * change
            total += abs(change)
    return total


@kernel
def load(m, w, k, phi, lam):
    """Return the load of contact k under reactions lam."""
    i = m.contact_joint[k]
    return load_under(m, w, k, phi, lam[i], lam[i + 1] if has_two(m, k) else 0.0)


@kernel
def load_under(m, w, k, phi, first, second):
    """Return the load of contact k under its one or two reactions."""
    if is_curved(m, k):
        return curved(m, w, k, phi, first, second)
    total = 0.0
    for j in range(n_flank(m, k)):
        total += abs(flank_force(m, w, k, j, phi, first, second))
    return total


@kernel
def side(m, w, k, j):
    """Return the sign of flank j of contact k in the present mode."""
    if is_curved(m, k):
        return 1.0
    return -1.0 if (w.mode[k].flank >> j) & 1 else 1.0


@kernel
def turn(m, w, k, W):
    """Write what a unit friction force of contact k is on both bodies, reduced."""
    G = stack_floats(6)
    contacts.coefficients(m, w, k, G)
    for side in range(2):
        marker = m.contact_b[k] if side else m.contact_a[k]
        if bodies.is_moving(m, marker):
            bodies.to_body(m, w, marker, at(G, 3 * side), W[side])


@kernel
def bend(m, w, k, W, force, x, stride):
    """Subtract J M^-1 W force from x, row by row: what a friction force does."""
    for side in range(2):
        marker = m.contact_b[k] if side else m.contact_a[k]
        if not bodies.is_moving(m, marker):
            continue
        body = m.marker_body[marker]
        own, minv = W[side], at(w.minv, m.body_dof[body])
        # What the force does to the frame; tails are added row by row.
        a, b, c = (
            force * minv[0] * own[0],
            force * minv[1] * own[1],
            force * minv[2] * own[2],
        )
        for entry in range(m.body_first[body], m.body_first[body + 1]):
            row, J = m.body_row[entry][0], at(w.J, m.body_row[entry][1])
            x[row * stride] -= a * J[0] + b * J[1] + c * J[2]
            if m.n_tail > 0:
                tail = bodies.meet_tail(m, w, m.body_dof[body], J, own)
                x[row * stride] -= force * tail


@far(Tables, Work, INTEGER, INTEGER)
def respond(m, w, g, n):
    """Write the reactions of group g under unit loads of its n contacts: Y Phi."""
    begin, end = m.group_row[g], min(m.group_end[g], w.n_active)
    Y, wide = w.response, stride(n)
    for i in range(begin * wide, end * wide):
        Y[i] = 0.0
    for l in range(n):
        k = w.rub[l]
        turn(m, w, k, w.rub_block[l])
        bend(m, w, k, w.rub_block[l], -w.contact[k].phi, at(Y, l), wide)
    if not w.has_lost_rank:
        skyline.solve_many(begin, end, w.first, m.start, w.L, w.d, wide, Y)
        return
    for l in range(n):
        for i in range(m.n_row):
            w.x[i] = Y[i * wide + l] if begin <= i < end else 0.0
        reactions.solve_rows(m, w, w.x, w.new)
        for i in range(begin, end):
            Y[i * wide + l] = w.new[i]


@far(Tables, Work, INTEGER)
def solve_loads(m, w, n):
    """Solve (I + D Phi) G = G_0 for the listed contacts.

    Notes the largest sum of |D Phi| in a row, whatever the signs.
    """
    B, G = w.lu, w.load_of
    w.coupling = 0.0
    for i in range(n):
        k = w.rub[i]
        own = at(B, i * n)
        G[i] = 0.0
        for l in range(n):
            own[l] = 0.0
        own[i] = 1.0
        total = 0.0
        for j in range(n_flank(m, k)):
            sign = side(m, w, k, j)
            G[i] += sign * flank(m, w, k, j, w.contact[k].phi, w.lam)
            total += add_flank(m, w, k, j, n, -sign, own)
        w.coupling = max(w.coupling, total)
    if lu_factor(n, B, w.swap):
        lu_solve(n, B, w.swap, G)


@kernel
def aim_all(m, w, n, lam, kind):
    """Set the tangents of curved loads to the forces in lam; of one kind, -1 of all."""
    for l in range(n):
        k = w.rub[l]
        if is_curved(m, k) and (kind < 0 or m.contact_kind[k] == kind):
            i = m.contact_joint[k]
            aim(m, w, k, w.contact[k].phi, lam[i], lam[i + 1])


@kernel
def react(m, w, n, begin, end):
    """Write the reactions under the present loads."""
    for i in range(begin, end):
        own, total = at(w.response, i * stride(n)), w.lam[i]
        for l in range(n):
            total += w.load_of[l] * own[l]
        w.new[i] = total


@kernel
def find_excess(m, w, n):
    """Write what curved loads are more than their tangents tell.

    Returns the largest, beside its load.
    """
    largest = 0.0
    for l in range(n):
        k = w.rub[l]
        w.excess[l] = 0.0
        if is_curved(m, k):
            i = m.contact_joint[k]
            size = curved(m, w, k, w.contact[k].phi, w.new[i], w.new[i + 1])
            w.excess[l] = size - w.load_of[l]
            largest = max(largest, abs(w.excess[l]) / (size + TINY))
    return largest


@kernel
def correct_loads(m, w, n):
    """Correct all loads by what curved ones are more than their tangents tell."""
    lu_solve(n, w.lu, w.swap, w.excess)
    for l in range(n):
        w.load_of[l] += w.excess[l]


@kernel
def determinant(n, lu, swap):
    """Return the determinant of a factored matrix."""
    total = 1.0
    for k in range(n):
        total *= lu[k * n + k] if swap[k] == k else -lu[k * n + k]
    return total


@far(Tables, Work, INTEGER, returns=NUMBER)
def least_determinant(m, w, n):
    """Return the least determinant of I + D Phi over all signs of flanks.

    Of many flanks only the present signs, and each one of them changed.
    """
    n_sign = 0
    for i in range(n):
        n_sign += n_flank(m, w.rub[i])
    is_small = n_sign <= MAX_FLANK
    least = math.inf
    for choice in range(1 << n_sign if is_small else n_sign + 1):
        B = w.matrix
        bit = 0
        for i in range(n):
            k = w.rub[i]
            for l in range(n):
                B[i * n + l] = 1.0 if i == l else 0.0
            for j in range(n_flank(m, k)):
                is_other = (choice >> bit) & 1 if is_small else choice == bit + 1
                sign = -side(m, w, k, j) if is_other else side(m, w, k, j)
                bit += 1
                add_flank(m, w, k, j, n, -sign, at(B, i * n))
        value = determinant(n, B, w.swap) if lu_factor(n, B, w.swap) else 0.0
        least = min(least, value)
    return least


@kernel
def is_sliding(m, w, k):
    """Return whether contact k of a joint is not held by its row."""
    return m.contact_row[k] < 0 or is_free(w.mode[k])


@kernel
def list_sliding(m, w, g):
    """List the joints of group g that slide; return how many."""
    n = 0
    for k in range(m.group_slide[g], m.group_slide[g + 1]):
        if is_sliding(m, w, k):
            w.rub[n] = k
            n += 1
    return n


@kernel
def most(m, w, k, sign):
    """Return the friction that contact k has at most at rest, against a slip.

    `sign` is the slip's; the ends of a block bear differently against either.
    """
    mu = m.contact_mu0[k]
    if k < m.n_touch:
        return mu * w.contact[k].lam_n
    return mu * load(m, w, k, sign * mu, w.lam)


@kernel
def hear(m, w, k):
    """Write the guards of contact k of a joint, 1 for those that it has not.

    The flanks and the slip of one that slides, less what counts as rest; what is left
    of the friction of one at rest.
    """
    if m.contact_kind[k] == PIN and w.mode[k].grip == SLIP:
        rub = m.contact_rub[k]
        w.heard[rub] = slip_left(m, w, k)
        w.heard[rub + 1] = 1.0
    else:
        hear_any(m, w, k)


@kernel
def slip_left(m, w, k):
    """Return the slip of contact k less what counts as rest."""
    rest = m.contact_band[k] + AT_REST * contacts.slip_scale(m, w, k)
    return w.mode[k].sign * w.contact[k].v_t - rest


@far(Tables, Work, INTEGER)
def hear_any(m, w, k):
    """Write the same guards of any contact of a joint."""
    c = w.contact[k]
    press, rub = m.contact_press[k], m.contact_rub[k]
    # Without any load there is nothing to decide.
    slack = NO_FORCE * w.force
    has_flanks = is_sliding(m, w, k)
    for j in range(n_flank(m, k) if press >= 0 else 0):
        value = side(m, w, k, j) * (c.rear if j else c.front) + slack
        w.heard[press + j] = value if has_flanks else 1.0
    if rub < 0:
        return
    w.heard[rub] = 1.0
    w.heard[rub + 1] = 1.0
    mode = w.mode[k]
    if mode.grip == SLIP:
        w.heard[rub] = slip_left(m, w, k)
    if mode.grip != STICK:
        return
    if contacts.is_tied(m, w, k):
        away = contacts.slip_beyond(m, w, k)
        w.heard[rub] = 1.0 - away
        w.heard[rub + 1] = 1.0 + away
    elif not is_shared(m, w, m.contact_group[k]):
        w.heard[rub] = most(m, w, k, 1.0) + c.lam_t + slack
        w.heard[rub + 1] = most(m, w, k, -1.0) - c.lam_t + slack


@kernel
def is_shared(m, w, g):
    """Return whether friction at rest in group g may be redundant.

    Where two contacts on nearly one line and joints hold each other, pivots do not
    show it: the first small one spoils the next.
    """
    if m.group_guard[g] < 0 or w.n_stuck < 2:
        return False
    has_slides = m.group_slide[g + 1] > m.group_slide[g]
    return w.has_lost_rank or (has_slides and w.n_gripped > 1)


@kernel
def first_root(p, q, c):
    """Return the least x >= 0 with x |p + q x| = c; infinite if there is none."""
    if c == 0.0:
        return 0.0
    p, is_against, q = abs(p), p * q < 0.0, abs(q)
    if p == 0.0 and q == 0.0:
        return math.inf
    if is_against and p * p >= 4.0 * q * c:
        return 2.0 * c / (p + math.sqrt(p * p - 4.0 * q * c))
    root = math.sqrt(p * p + 4.0 * q * c)
    return (p + root) / (2.0 * q) if is_against else 2.0 * c / (p + root)


@kernel
def used_part(m, k, lam_t, first, second):
    """Return the phi with lam_t = -phi G(phi), of a block at rest: the least.

    x = |phi| solves x |first| = |lam_t| where the block lies flat, and where it is
    wedged x (2/l) |second + phi (h/2) first| = |lam_t|; G is the larger.
    """
    sign = -1.0 if lam_t > 0.0 else 1.0
    flat = abs(lam_t / first) if first != 0.0 else math.inf
    lean = 0.5 * sign * m.contact_height[k] * first
    wedged = first_root(second, lean, 0.5 * m.contact_length[k] * abs(lam_t))
    # Beyond what any friction could be, there is no such part.
    return sign * min(flat, wedged, 2.0 * m.contact_mu0[k])


@kernel
def load_at_rest(m, w, k, lam_t, first, second):
    """Return the load of joint k at rest under its reactions and friction."""
    if m.contact_kind[k] == PIN:
        return math.hypot(first, second)
    if m.contact_kind[k] == FACES:
        phi = block_part(m, w, k, lam_t, first, second)
        return block(m, w, k, 0, phi, first, second)
    if m.contact_kind[k] != GUIDE:
        return abs(first)
    phi = used_part(m, k, lam_t, first, second)
    front = flank_force(m, w, k, 0, phi, first, second)
    return abs(front) + abs(flank_force(m, w, k, 1, phi, first, second))


@kernel
def load_slopes(m, w, k, lam_t, first, second, out):
    """Write how the load of joint k at rest changes with its reactions and friction.

    Of a wedged block, W = (2/l) |second + phi (h/2) first| with phi W = -lam_t.
    """
    out[0] = 1.0 if first > 0.0 else -1.0
    out[1] = 0.0
    out[2] = 0.0
    if m.contact_kind[k] == PIN:
        size = math.hypot(first, second)
        out[0] = first / size if size > 0.0 else 0.0
        out[1] = second / size if size > 0.0 else 0.0
    if m.contact_kind[k] == FACES:
        block_slopes(m, w, k, lam_t, first, second, out)
    if m.contact_kind[k] != GUIDE:
        return
    phi = used_part(m, k, lam_t, first, second)
    half = 0.5 * m.contact_height[k]
    couple = second + phi * half * first
    unit = math.copysign(2.0 / m.contact_length[k], couple)
    W = unit * couple
    if W <= abs(first) or W == 0.0:
        return
    stiff = W + unit * half * first * phi
    out[0] = unit * half * phi * W / stiff
    out[1] = unit * W / stiff
    out[2] = -unit * half * first / stiff


@far(Tables, Work, returns=NUMBER)
def bear_at_rest(m, w):
    """Write the loads of joints at rest; return their largest change, beside them."""
    change = 0.0
    for k in range(m.n_touch, m.n_contact):
        i = m.contact_row[k]
        if i >= 0 and w.is_active[i]:
            c = w.contact[k]
            first = m.contact_joint[k]
            second = w.lam[first + 1] if has_two(m, k) else 0.0
            G = load_at_rest(m, w, k, w.lam[i], w.lam[first], second)
            change = max(change, abs(G - c.lam_n) / (G + TINY))
            c.lam_n = G
    return change


@far(Tables, Work)
def bear(m, w):
    """Write normal force, flanks and load of every contact inside a joint."""
    for k in range(m.n_touch, m.n_contact):
        c = w.contact[k]
        i = m.contact_joint[k]
        phi = c.phi
        if m.contact_kind[k] == GUIDE and not is_sliding(m, w, k):
            phi = used_part(m, k, c.lam_t, w.lam[i], w.lam[i + 1])
        if m.contact_kind[k] == FACES:
            bear_block(m, w, k)
            continue
        if m.contact_kind[k] != PIN or not is_sliding(m, w, k):
            c.lam_n = load(m, w, k, phi, w.lam)
        if m.contact_kind[k] == PIN:
            c.force = c.lam_n
            continue
        c.force = w.lam[i]
        c.front = flank(m, w, k, 0, phi, w.lam)
        c.rear = 0.0
        if n_flank(m, k) == 2:
            c.rear = flank(m, w, k, 1, phi, w.lam)


@kernel
def bear_block(m, w, k):
    """Write load, normal force and forces of both ends of an elastic block."""
    c = w.contact[k]
    i = m.contact_joint[k]
    first, second = w.lam[i], w.lam[i + 1]
    phi, way = c.phi, way_of(m, k, c.phi)
    if not is_sliding(m, w, k):
        phi, way = block_part(m, w, k, c.lam_t, first, second), 0
    G = block(m, w, k, way, phi, first, second)
    if not is_sliding(m, w, k):
        c.lam_n = G
    c.force = first
    place = m.contact_faces[k]
    p = at(m.par, place[0])
    n = int(p[faces.COUNT])
    area = stack_floats(4)
    faces.sum_areas(p, n, faces.kept_of(at(w.node, place[1]), n, way), area)
    c.rear = area[2] - area[0]
    c.front = area[3] - area[1]


@far(Tables, Work, FLOATS)
def areas(m, w, out):
    """Write normal forces, then friction, of every block in a guide by areas.

    Top left, top right, bottom left, bottom right; left is at the rear. Friction is
    shared as the normal forces are.
    """
    for k in range(m.n_touch, m.n_contact):
        if m.contact_area[k] < 0:
            continue
        own, c = at(out, 8 * m.contact_area[k]), w.contact[k]
        if m.contact_kind[k] == FACES:
            place = m.contact_faces[k]
            p = at(m.par, place[0])
            n = int(p[faces.COUNT])
            way = way_of(m, k, c.phi) if is_sliding(m, w, k) else 0
            faces.sum_areas(p, n, faces.kept_of(at(w.node, place[1]), n, way), own)
        else:
            linear_areas(c.front, c.rear, own)
        total = own[0] + own[1] + own[2] + own[3]
        part = c.lam_t / total if total > 0.0 else 0.0
        for i in range(4):
            own[4 + i] = part * own[i]
