"""The friction problem of a group with joints: a horizontal complementarity problem.

Contacts at rest and joints that slide are decided together. Every flank of a joint
has a force u = u+ - u-, |u| = u+ + u-, and the load of a joint is G = sum |u|:

    u+ - u-     = u_0 + U F                0 <= u+   _|_ u-  >= 0
    v_t'+ - v_t'- = b + A F                0 <= v_t'+ _|_ F+ >= 0
    F+ + F-     = mu0 (G+ + G-)            0 <= v_t'- _|_ F- >= 0

    F = -phi G               of a joint that slides
    F = F+ - mu0 G+          of a joint at rest
    F = F+ - mu0 lam_n       of a contact at rest, F+ + F- = 2 mu0 lam_n

F+ and F- are what is left of friction against a slip of either sign; G+ and G- are
loads with friction at its limit against it, which differ for a block of some height.
In matrices A+ w = A- z + b with w = (u+, v_t'+, F-) and z = (u-, F+, v_t'-).

Unlike that of contacts alone this is not a P-problem: it may have several solutions or
none. It has one where friction changes loads by less than loads change friction; else
all complementary bases are tried.

References
----------
[WangWangZhuang2014]_ Eqs. (13)-(19); sticking, the flanks of a block, pins and contacts
are ours.
"""

import math

from nonsmooth.kernels.abi import INTEGER, at, far, kernel, stack_floats
from nonsmooth.kernels.complementarity.enumeration import enumerate_solutions
from nonsmooth.kernels.complementarity.horizontal import solve_horizontal
from nonsmooth.kernels.complementarity.scaling import INFEASIBLE, RAY, SOLVED
from nonsmooth.kernels.friction import slides
from nonsmooth.kernels.mechanics.tables import FACES, GUIDE, Tables, Work
from nonsmooth.kernels.run import MAX_PAIR, Decision
from nonsmooth.kernels.tolerances import AIMED, NO_FLANK

# What a flank's force does: load a joint that slides; load one at rest against a slip
# forward, backward, or either.
RUBBING, FORWARD, BACKWARD, EITHER = 0, 1, -1, 2
# What to do where there are several: stop; keep the present flanks; least friction.
UNIQUE, CONTINUE, LEAST = 0, 1, 2
# How it ends, as of a complementarity problem, or with more than one solution.
SEVERAL = 10
# Motions nearer than this, beside the largest force, or acceleration with or without
# friction, are one: contacts on nearly one line, one of which sticks, or the other, or
# both. Where a joint locks itself, loads differ by what they are.
SAME = 1e-4
# Part by which friction may change loads for a solution to be the only one.
CERTAIN = 0.5


@kernel
def list_terms(m, w, r, n):
    """List the flanks of all joints in the problem; n contacts are at rest."""
    n_term = 0
    for l in range(r.n_force):
        k = r.listed[l]
        if k < m.n_touch:
            continue
        mu0 = m.contact_mu0[k]
        is_high = m.contact_kind[k] == GUIDE and m.contact_height[k] > 0.0
        is_high |= m.contact_kind[k] == FACES
        for direction in range(2 if l < n and is_high else 1):
            for j in range(slides.n_flank(m, k)):
                kind, phi = RUBBING, w.contact[k].phi
                if l < n:
                    kind, phi = EITHER, 0.0
                    if is_high:
                        kind = FORWARD if direction == 0 else BACKWARD
                        phi = kind * mu0
                r.term_force[n_term] = l
                r.term_flank[n_term] = j
                r.term_phi[n_term] = phi
                r.term_kind[n_term] = kind
                n_term += 1
                if m.contact_kind[k] == FACES:
                    base = r.reaction_base[l]
                    slides.aim(m, w, k, phi, base[0], base[1])
    r.n_term = n_term


@kernel
def evaluate_terms(m, w, r):
    """Write the flanks' forces, without friction and under unit friction forces."""
    nf = r.n_force
    # A flank is linear in its joint's two reactions.
    lam = w.r
    for i in range(r.n_term):
        l = r.term_force[i]
        k = r.listed[l]
        first = m.contact_joint[k]
        n_row = 2 if slides.has_two(m, k) else 1
        for j in range(nf + 1):
            for row in range(n_row):
                lam[first + row] = (
                    r.reaction_base[l][row]
                    if j == nf
                    else r.reaction[(2 * l + row) * nf + j]
                )
            second = lam[first + 1] if n_row == 2 else 0.0
            j_flank, phi = r.term_flank[i], r.term_phi[i]
            u = slides.flank_force(m, w, k, j_flank, phi, lam[first], second)
            if j == nf:
                r.term_base[i] = u + slides.base_force(m, w, k, phi)
            else:
                r.term_response[i * nf + j] = u


@kernel
def assemble_forces(m, w, r, n):
    """Write the friction forces in terms of the unknowns of all pairs.

    A flank's u+ and u- enter alike, so one coefficient stands for both; F+ of a
    contact at rest, at nt + l, stands in z alone.
    """
    nt, nf = r.n_term, r.n_force
    for l in range(nf):
        k = r.listed[l]
        r.constant[l] = 0.0
        for i in range(nt + n):
            r.coef[l * (nt + n) + i] = 0.0
        if l < n:
            r.coef[l * (nt + n) + nt + l] = 1.0
            if k < m.n_touch:
                r.constant[l] = -r.limit[l]
    for i in range(nt):
        l = r.term_force[i]
        kind = r.term_kind[i]
        if kind == RUBBING:
            r.coef[l * (nt + n) + i] = -r.term_phi[i]
        elif kind != BACKWARD:
            r.coef[l * (nt + n) + i] = -m.contact_mu0[r.listed[l]]


@kernel
def assemble_problem(m, w, r, n):
    """Write A+, A- and b; n contacts are at rest."""
    nt, nf = r.n_term, r.n_force
    size, wide = nt + 2 * n, nt + n
    P, N, b = r.A_plus, r.A_minus, r.b_hlcp
    for i in range(size * size):
        P[i] = 0.0
        N[i] = 0.0
    for row in range(nt + n):
        b[row] = r.term_base[row] if row < nt else r.slip_rate[row - nt]
        for l in range(nf):
            a = (
                r.term_response[row * nf + l]
                if row < nt
                else r.delassus[(row - nt) * nf + l]
            )
            b[row] += a * r.constant[l]
            for i in range(wide):
                change = a * r.coef[l * wide + i]
                N[row * size + i] += change
                if i < nt:
                    P[row * size + i] -= change
        P[row * size + row] += 1.0
        if row < nt:
            N[row * size + row] += 1.0
        else:
            # v_t'- is the partner of F-.
            N[row * size + row + n] += 1.0
    for l in range(n):
        row = nt + n + l
        P[row * size + row] = 1.0
        N[row * size + nt + l] = -1.0
        b[row] = 2.0 * r.limit[l] if r.listed[l] < m.n_touch else 0.0
        for i in range(nt):
            if r.term_force[i] == l:
                mu0 = m.contact_mu0[r.listed[l]]
                if r.term_kind[i] == EITHER:
                    mu0 *= 2.0
                P[row * size + i] = -mu0
                N[row * size + i] = mu0


@kernel
def read(m, r, n, w_, z):
    """Take friction forces and slip accelerations from a solution (w, z)."""
    nt, nf = r.n_term, r.n_force
    wide = nt + n
    for l in range(nf):
        force = r.constant[l]
        for i in range(wide):
            value = z[i] + w_[i] if i < nt else z[i]
            force += r.coef[l * wide + i] * value
        r.friction[l] = force
    for l in range(n):
        r.slip_change[l] = w_[nt + l] - z[nt + n + l]


@kernel
def aim_all(m, w, r):
    """Set tangents of curved loads to their forces under friction; return the change.

    Of pins, of a direction; of blocks, of slopes.
    """
    nf = r.n_force
    change = 0.0
    for i in range(r.n_term):
        l = r.term_force[i]
        k = r.listed[l]
        if not slides.is_curved(m, k):
            continue
        x, y = r.reaction_base[l][0], r.reaction_base[l][1]
        for j in range(nf):
            x += r.reaction[2 * l * nf + j] * r.friction[j]
            y += r.reaction[(2 * l + 1) * nf + j] * r.friction[j]
        phi = r.term_phi[i]
        e = slides.tangent(m, w, k, phi)
        before_x, before_y = e[0], e[1]
        if math.hypot(x, y) > 0.0:
            slides.aim(m, w, k, phi, x, y)
            length = 1.0
            if m.contact_kind[k] == FACES:
                length = m.contact_length[k]
            by_y = length * abs(e[1] - before_y)
            change = max(change, abs(e[0] - before_x), by_y)
    return change


@kernel
def is_certain(m, w, r, n):
    """Return whether friction changes loads too little for several solutions.

    With a contact at rest among several forces that is not a proof, and is asked for
    with some margin.
    """
    nf = r.n_force
    most = 1.0 if n == 0 or nf == 1 else CERTAIN
    for l in range(nf):
        forward, backward = 0.0, 0.0
        for i in range(r.n_term):
            if r.term_force[i] != l:
                continue
            total = 0.0
            for j in range(nf):
                k = r.listed[j]
                phi = m.contact_mu0[k] if j < n else w.contact[k].phi
                total += abs(r.term_response[i * nf + j] * phi)
            if r.term_kind[i] != BACKWARD:
                forward += total
            if r.term_kind[i] != FORWARD:
                backward += total
        if max(forward, backward) >= most:
            return False
    return True


@kernel
def is_sure(m, w, r, n):
    """Return whether the friction last found is the only solution for its loads."""
    list_terms(m, w, r, n)
    aim_all(m, w, r)
    evaluate_terms(m, w, r)
    return is_certain(m, w, r, n)


@kernel
def changed_flanks(w, r, w_, z):
    """Return how many flanks of sliding joints a solution changes."""
    n_changed = 0
    for i in range(r.n_term):
        if r.term_kind[i] == RUBBING:
            k = r.listed[r.term_force[i]]
            was_negative = (w.mode[k].flank >> r.term_flank[i]) & 1
            is_negative = 1 if z[i] > w_[i] else 0
            n_changed += 1 if was_negative != is_negative else 0
    return n_changed


@kernel
def goes(m, w, r, n):
    """Return whether joints just let go slip so in the solution last read."""
    nf = r.n_force
    for l in range(n, nf):
        k = r.listed[l]
        if not r.freed[k]:
            continue
        rate, size = r.slip_rate[l], abs(r.slip_rate[l])
        for j in range(nf):
            part = r.delassus[l * nf + j] * r.friction[j]
            rate += part
            size += abs(part)
        if w.mode[k].sign * rate < -NO_FLANK * size:
            return False
    return True


@kernel
def is_same(r, n, friction, slip):
    """Return whether the solution last read is the motion given, but for round-off.

    Contacts at rest that nearly depend on each other may share friction in many ways.
    """
    most_force, most_rate = 0.0, 0.0
    for l in range(r.n_force):
        most_force = max(most_force, abs(r.friction[l]), abs(friction[l]))
    for l in range(n):
        most_rate = max(most_rate, abs(r.slip_rate[l]), abs(r.slip_change[l]))
    for l in range(n, r.n_force):
        if abs(r.friction[l] - friction[l]) > SAME * most_force:
            return False
    for l in range(n):
        if abs(r.slip_change[l] - slip[l]) > SAME * most_rate:
            return False
    return True


@kernel
def choose(m, w, r, n, status):
    """Look for all solutions and take the one, or that of the branch asked for."""
    size = r.n_term + 2 * n
    r.n_solution = 0
    found = enumerate_solutions(
        r.hlcp,
        size,
        r.A_plus,
        r.A_minus,
        r.b_hlcp,
        r.points,
        r.is_isolated,
        r.base_kind,
    )
    if found < 0:
        return found
    best, least = -1, math.inf
    for k in range(found):
        point = at(r.points, k * 2 * size)
        if not r.is_isolated[k]:
            continue
        read(m, r, n, point, at(point, size))
        if not goes(m, w, r, n):
            continue
        if r.n_solution > 0 and is_same(r, n, w.held_force, w.held_limit):
            continue
        if r.n_solution == 0:
            for l in range(r.n_force):
                w.held_force[l] = r.friction[l]
                w.held_limit[l] = r.slip_change[l]
        r.n_solution += 1
        cost = 0.0
        for l in range(r.n_force):
            cost += abs(r.friction[l])
        if r.step.set.branch == CONTINUE and r.is_known:
            # Friction decides among those that change as few.
            n_changed = changed_flanks(w, r, point, at(point, size))
            cost = n_changed + cost / (cost + w.force)
        if cost < least:
            best, least = k, cost
    if r.n_solution > 1 and r.step.set.branch == UNIQUE:
        return SEVERAL
    if best < 0:
        # A continuum of redundant forces; or joints to be taken back. Or nothing.
        read(m, r, n, r.w_hlcp, r.z_hlcp)
        return status if found > 0 else INFEASIBLE
    point = at(r.points, best * 2 * size)
    for i in range(size):
        r.w_hlcp[i] = point[i]
        r.z_hlcp[i] = point[size + i]
    read(m, r, n, r.w_hlcp, r.z_hlcp)
    return SOLVED


@kernel
def set_flanks(m, w, r):
    """Set the flanks of joints that slide; one without force stays as it is."""
    largest = 0.0
    for i in range(r.n_term):
        largest = max(largest, r.w_hlcp[i], r.z_hlcp[i])
    for i in range(r.n_term):
        u = r.w_hlcp[i] - r.z_hlcp[i]
        k, bit = r.listed[r.term_force[i]], 1 << r.term_flank[i]
        if r.term_kind[i] == RUBBING and abs(u) > NO_FLANK * largest:
            mode = w.mode[k]
            mode.flank = (mode.flank & ~bit) | (bit if u < 0.0 else 0)


@kernel
def note_limits(m, r, n):
    """Note the friction that joints at rest have at most, for the size of things."""
    for l in range(n):
        k = r.listed[l]
        if k >= m.n_touch:
            r.limit[l] = 0.0
            for i in range(r.n_term):
                if r.term_force[i] == l:
                    r.limit[l] += m.contact_mu0[k] * (r.w_hlcp[i] + r.z_hlcp[i])


@far(Tables, Work, Decision, INTEGER, returns=INTEGER)
def solve(m, w, r, n):
    """Solve the problem with n contacts at rest; return a status.

    Writes friction forces and slip accelerations, and sets the flanks of joints that
    slide.
    """
    list_terms(m, w, r, n)
    size = r.n_term + 2 * n
    status = RAY
    residual = stack_floats(4)
    for _ in range(slides.MAX_CONE):
        evaluate_terms(m, w, r)
        assemble_forces(m, w, r, n)
        assemble_problem(m, w, r, n)
        status = solve_horizontal(
            r.hlcp,
            r.lcp,
            size,
            r.A_plus,
            r.A_minus,
            r.b_hlcp,
            r.w_hlcp,
            r.z_hlcp,
            residual,
        )
        if status != SOLVED:
            break
        read(m, r, n, r.w_hlcp, r.z_hlcp)
        if aim_all(m, w, r) <= AIMED:
            break
    r.n_solution = 1
    if status != SOLVED or not is_certain(m, w, r, n):
        if size <= MAX_PAIR:
            status = choose(m, w, r, n, status)
        else:
            r.n_unchecked += 1
    if status == SOLVED:
        note_limits(m, r, n)
        set_flanks(m, w, r)
    return status
