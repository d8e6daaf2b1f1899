"""Loads of many joints that slide in one group: the problem of `slides`, banded.

There a small matrix stands for the joints that slide, and it is full: through the
reactions every pin of a long row presses on every other. As long as reactions are not
eliminated the problem is as sparse as their rows are. With C = J M^-1 W, loads
G = E lam + base in the present mode, and friction -Phi G,

    S (lam - lam_0) = C Phi G        T (lam - lam_0) = C Phi (E lam_0 + base)
    T = S - C Phi E

A column of C has entries in the rows on its two bodies, a row of E in those of its own
joint, which are among them: T has the profile of S, though it is not symmetric, and its
factors cost what those of S do. det T / det S is the determinant of I + D Phi. A flank
that changes its sign changes T by a matrix of rank one, and the determinant by

    1 + 2 s_kj phi_k e_kj Z C_k        Z = T^-1, within the profile

so that all these determinants together cost no more than a few factorisations.

Where D Phi is small whatever the signs there is one solution. With x = M^-1/2 W Phi,
columns scaled to unit length and E by as much, |D Phi| is at most the norm of x times
that of M^-1/2 J' S^-1 E', and

    |M^-1/2 J' S^-1 E'| <= c        if S - E'E / c^2 is positive definite
"""

import math

from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, kernel
from nonsmooth.kernels.friction import slides
from nonsmooth.kernels.linear import profile
from nonsmooth.kernels.mechanics import bodies
from nonsmooth.kernels.mechanics.tables import Tables, Work

# Growth of numbers in the factors beyond which rows would have to be exchanged: four
# digits of sixteen.
MAX_GROWTH = 1e4


@kernel
def incline(m, w, l):
    """Write the slopes of the load of listed contact l by its two reactions."""
    k = w.rub[l]
    phi, slope = w.contact[k].phi, w.slope[l]
    slope[0], slope[1] = 0.0, 0.0
    for j in range(slides.n_flank(m, k)):
        sign = slides.side(m, w, k, j)
        slope[0] += sign * slides.flank_force(m, w, k, j, phi, 1.0, 0.0)
        slope[1] += sign * slides.flank_force(m, w, k, j, phi, 0.0, 1.0)


@kernel
def rise(m, w, l, x):
    """Return what changes x of reactions add to the load of listed contact l."""
    k = w.rub[l]
    i, slope = m.contact_joint[k], w.slope[l]
    second = slope[1] * x[i + 1] if slides.has_two(m, k) else 0.0
    return slope[0] * x[i] + second


@kernel
def take_off(m, w, i, j, value):
    """Take a value off entry (i, j) of T."""
    if i >= j:
        w.lower[m.start[i] + j] -= value
    else:
        w.upper[m.start[j] + i] -= value


@kernel
def copy_rows(m, w, begin, end):
    """Let T be S."""
    for i in range(begin, end):
        o = m.start[i]
        for j in range(o + w.first[i], o + i + 1):
            w.lower[j] = w.S[j]
            w.upper[j] = w.S[j]


@kernel
def assemble(m, w, n, begin, end):
    """Write T = S - C Phi E."""
    copy_rows(m, w, begin, end)
    for l in range(n):
        incline(m, w, l)
        k = w.rub[l]
        phi, slope, own = w.contact[k].phi, w.slope[l], m.contact_joint[k]
        for side in range(2):
            marker = m.contact_b[k] if side else m.contact_a[k]
            if not bodies.is_moving(m, marker):
                continue
            body = m.marker_body[marker]
            for e in range(m.body_first[body], m.body_first[body + 1]):
                i = m.body_row[e][0]
                if not w.is_active[i]:
                    continue
                J = at(w.J, m.body_row[e][1])
                W = w.rub_block[l][side]
                c = phi * bodies.meet(m, w, m.body_dof[body], J, W)
                take_off(m, w, i, own, c * slope[0])
                if slides.has_two(m, k):
                    take_off(m, w, i, own + 1, c * slope[1])


@kernel
def push(m, w, n, begin, end, load, x):
    """Write x = C Phi G of loads G."""
    a = w.held_a
    for i in range(m.n_dof):
        a[i] = 0.0
    for l in range(n):
        k = w.rub[l]
        force = w.contact[k].phi * load[l]
        for side in range(2):
            marker = m.contact_b[k] if side else m.contact_a[k]
            dof = m.body_dof[m.marker_body[marker]]
            if dof >= 0:
                bodies.add_response(m, w, dof, w.rub_block[l][side], force, a)
    for i in range(begin, end):
        x[i] = 0.0
        place = m.row_side[i]
        for side in range(2 if w.is_active[i] else 0):
            if place[side] >= 0:
                J = at(w.J, place[2 + side])
                x[i] += bodies.dot(m, w, place[side], J, a)


@kernel
def solve(m, w, n, begin, end, load):
    """Write T^-1 C Phi G of loads G to w.x, and add what that raises to them."""
    push(m, w, n, begin, end, load, w.x)
    profile.solve(begin, end, w.first, m.start, w.lower, w.upper, w.pivots, w.x)
    for l in range(n):
        load[l] += rise(m, w, l, w.x)


@kernel
def factor(m, w, n, begin, end):
    """Factor T in the present mode; return whether no rows need be exchanged."""
    assemble(m, w, n, begin, end)
    growth = profile.factor(begin, end, w.first, m.start, w.lower, w.upper, w.pivots)
    return growth <= MAX_GROWTH


@far(Tables, Work, INTEGER, INTEGER, INTEGER, returns=INTEGER)
def solve_loads(m, w, n, begin, end):
    """Write loads and reactions with the present tangents; return whether that can be.

    Else rows would have to be exchanged, as they are in `slides`.
    """
    if not factor(m, w, n, begin, end):
        return 0
    for l in range(n):
        k = w.rub[l]
        base = slides.base_force(m, w, k, w.contact[k].phi)
        w.load_of[l] = base + rise(m, w, l, w.lam)
    solve(m, w, n, begin, end, w.load_of)
    for i in range(begin, end):
        w.new[i] = w.lam[i] + w.x[i]
    return 1


@kernel
def correct_loads(m, w, n, begin, end):
    """Correct loads and reactions by what curved loads are more than their tangents."""
    solve(m, w, n, begin, end, w.excess)
    for l in range(n):
        w.load_of[l] += w.excess[l]
    for i in range(begin, end):
        w.new[i] += w.x[i]


# ---- whether friction has one solution -------------------------------------------


@kernel
def determinant(w, begin, end):
    """Return det T / det S of the present flanks."""
    total = 1.0
    for i in range(begin, end):
        total *= w.pivots[i] * w.d[i]
    return total


@far(Tables, Work, INTEGER, INTEGER, returns=NUMBER)
def least_determinant(m, w, g, n):
    """Return the least of the present flanks and of each one of them changed.

    Not a number where rows would have to be exchanged.
    """
    begin, end = m.group_row[g], min(m.group_end[g], w.n_active)
    if not factor(m, w, n, begin, end):
        return math.nan
    now = determinant(w, begin, end)
    least = now
    profile.invert(
        begin, end, w.first, m.start, w.reach, w.r, w.x, w.new, w.spare,
        w.lower, w.upper, w.pivots,
    )  # fmt: skip
    for l in range(n):
        k = w.rub[l]
        phi, own = w.contact[k].phi, m.contact_joint[k]
        for row in range(2):
            # What unit friction does to both reactions of the joint.
            w.slope[l][row] = 0.0
            if row == 0 or slides.has_two(m, k):
                w.slope[l][row] = answer(m, w, l, own + row)
        for j in range(slides.n_flank(m, k)):
            first, second = w.slope[l][0], w.slope[l][1]
            change = slides.flank_force(m, w, k, j, phi, first, second)
            ratio = 1.0 + 2.0 * slides.side(m, w, k, j) * phi * change
            least = min(least, now * ratio)
    return least


@kernel
def answer(m, w, l, own):
    """Return entry `own` of Z C_l."""
    k, total = w.rub[l], 0.0
    for side in range(2):
        marker = m.contact_b[k] if side else m.contact_a[k]
        if not bodies.is_moving(m, marker):
            continue
        body = m.marker_body[marker]
        for e in range(m.body_first[body], m.body_first[body + 1]):
            i = m.body_row[e][0]
            if w.is_active[i]:
                J = at(w.J, m.body_row[e][1])
                W = w.rub_block[l][side]
                c = bodies.meet(m, w, m.body_dof[body], J, W)
                z = profile.entry(m.start, w.lower, w.upper, w.pivots, own, i)
                total += z * c
    return total


@kernel
def size_of(m, w, l, side):
    """Return |x|^2 of listed contact l on one of its bodies; 0 if prescribed."""
    k = w.rub[l]
    marker = m.contact_b[k] if side else m.contact_a[k]
    if not bodies.is_moving(m, marker):
        return 0.0
    phi, W = w.contact[k].phi, w.rub_block[l][side]
    return phi * phi * bodies.meet(m, w, m.body_dof[m.marker_body[marker]], W, W)


@kernel
def most_on_a_body(m, w, n):
    """Return a bound of the square of the norm of all x, each of unit length.

    That of x x' on two bodies is at most twice what it is on either.
    """
    most = 0.0
    for i in range(m.n_dof):
        w.held_a[i] = 0.0
    for l in range(n):
        k = w.rub[l]
        both = size_of(m, w, l, 0) + size_of(m, w, l, 1)
        for side in range(2):
            own = size_of(m, w, l, side)
            if own > 0.0:
                marker = m.contact_b[k] if side else m.contact_a[k]
                dof = m.body_dof[m.marker_body[marker]]
                w.held_a[dof] += (2.0 if own < both else 1.0) * own / both
                most = max(most, w.held_a[dof])
    return most


@far(Tables, Work, INTEGER, INTEGER, NUMBER, returns=INTEGER)
def is_certain(m, w, g, n, most):
    """Return whether |D Phi| is below `most` whatever the signs of flanks.

    A no proves nothing. Factors are not kept.
    """
    begin, end = m.group_row[g], min(m.group_end[g], w.n_active)
    part = most_on_a_body(m, w, n) / (most * most)
    copy_rows(m, w, begin, end)
    for l in range(n):
        k = w.rub[l]
        own, phi, count = m.contact_joint[k], w.contact[k].phi, slides.n_flank(m, k)
        # Of a sum of flanks, that of each times their number.
        size = part * count * (size_of(m, w, l, 0) + size_of(m, w, l, 1))
        for j in range(count):
            first = slides.flank_force(m, w, k, j, phi, 1.0, 0.0)
            take_off(m, w, own, own, size * first * first)
            if slides.has_two(m, k):
                second = slides.flank_force(m, w, k, j, phi, 0.0, 1.0)
                take_off(m, w, own + 1, own, size * first * second)
                take_off(m, w, own + 1, own + 1, size * second * second)
    return is_definite(begin, end, w.first, m.start, w.lower, w.x)


@kernel
def is_definite(begin, end, first, start, A, d):
    """Return whether a symmetric matrix is positive definite; it is overwritten."""
    for i in range(begin, end):
        fi, oi = first[i], start[i]
        pivot = A[oi + i]
        for j in range(fi, i):
            u = A[oi + j]
            for k in range(max(fi, first[j]), j):
                u -= A[oi + k] * A[start[j] + k]
            A[oi + j] = u
        for j in range(fi, i):
            u = A[oi + j]
            A[oi + j] = u / d[j]
            pivot -= u * A[oi + j]
        if not pivot > 0.0 or not pivot < math.inf:
            return 0
        d[i] = pivot
    return 1
