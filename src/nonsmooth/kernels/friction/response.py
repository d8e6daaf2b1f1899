"""What friction forces of a group do: to slips, and to the reactions that load joints.

Unit forces of n contacts cause the slip accelerations and reactions

    A = W' M^-1 W        R        joints, and contacts that are not listed, eliminated

Beside contacts at rest joints may slide. Their friction f_l = -phi_l G_l follows the
forces F at rest, through loads of the reactions,

    lam = lam_0 + R F + R_f f        G_l = G_l(lam)

which are curved for pins and elastic blocks. Here it is linear in F, by tangents at
given forces (`linearise`); `turn_loads` puts these where friction has been shared, with
the loads as they are there, and corrects the shares by what they then miss.
"""

from nonsmooth.kernels.abi import (
    FLOATS,
    INTEGER,
    NUMBER,
    at,
    far,
    kernel,
    stack_floats,
)
from nonsmooth.kernels.complementarity.box import (
    DEPENDENT,
    factor,
    rank_tolerance,
    scale_box,
    solve_lower,
    tie,
)
from nonsmooth.kernels.friction import slides
from nonsmooth.kernels.linear.dense import lu_factor, lu_solve
from nonsmooth.kernels.mechanics import bodies, contacts, reactions
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.tolerances import TINY

# Corrections of loads by one tangent, until they change by this part of them: their
# round-off.
MAX_CHORD, STILL = 30, 1e-15


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


@far(Tables, Work, INTEGER, FLOATS, returns=NUMBER)
def slip_compliance(m, w, k, a):
    """Return the slip acceleration of contact k under a unit friction force."""
    push_alone(m, w, k, a)
    return slip_due(m, w, k, a)


@kernel
def weigh(m, w, n):
    """Write A of the n listed contacts, whose rows are open."""
    for j in range(n):
        push_alone(m, w, w.held[j], w.held_a)
        w.held_free[j] = slip_due(m, w, w.held[j], w.held_a)
        reactions.oppose(m, w, w.held_a)
        for i in range(n):
            w.held_A[i * n + j] = slip_due(m, w, w.held[i], w.held_a)


# ---- with joints that slide beside ---------------------------------------------


@kernel
def respond(m, w, n_slide):
    """Write and factor what loads of the joints that slide do to each other."""
    wide = slides.stride(n_slide)
    for l in range(n_slide):
        k = w.rub[l]
        push_alone(m, w, k, w.held_a)
        reactions.oppose(m, w, w.held_a)
        for i in range(m.n_row):
            w.response[i * wide + l] = -w.contact[k].phi * w.lam[i]
    slides.solve_loads(m, w, n_slide)


@kernel
def list_beside(m, w, g, n):
    """List the joints of group g that slide after the n contacts that are listed."""
    n_slide = slides.list_sliding(m, w, g)
    for l in range(n_slide):
        w.held[n + l] = w.rub[l]
    w.n_beside = n_slide


@kernel
def reaction(m, k, row, lam):
    """Return the first or second reaction that loads joint k, zero if it has none."""
    if k < m.n_touch or (row == 1 and not slides.has_two(m, k)):
        return 0.0
    return lam[m.contact_joint[k] + row]


@kernel
def note_present(m, w, n):
    """Note the forces, and the reactions and loads with them, of the last evaluation.

    Where tangents are to be.
    """
    for i in range(n + w.n_beside):
        for row in range(2):
            w.held_now[i][row] = reaction(m, w.held[i], row, w.lam)
    for i in range(n):
        w.held_at[i] = w.held_force[i]
        w.held_miss[i] = 0.0
    for l in range(w.n_beside):
        w.held_load[l] = load_now(m, w, n, l)


@kernel
def load_now(m, w, n, l):
    """Return the load of joint l that slides, under the reactions noted."""
    k, now = w.held[n + l], w.held_now[n + l]
    return slides.load_under(m, w, k, w.contact[k].phi, now[0], now[1])


@kernel
def weigh_joined(m, w, g, n):
    """Write A of the n listed contacts, whose rows are open, and what joints bear.

    A_ij = a_i' M a_j: joints take most of what a force would do, and the round-off of
    what is left must not hide that rows depend on each other. Joints of the group that
    slide follow with their friction, beside it: see `yield_to`.
    """
    list_beside(m, w, g, n)
    note_present(m, w, n)
    n_slide = w.n_beside
    respond(m, w, n_slide)
    for j in range(n):
        a = at(w.held_motion, j * m.n_dof)
        push_alone(m, w, w.held[j], a)
        w.held_free[j] = slip_due(m, w, w.held[j], a)
        reactions.oppose(m, w, a)
        for i in range(j + 1):
            value = bodies.inner(m, w, at(w.held_motion, i * m.n_dof), a)
            w.held_own[i * n + j] = value
            w.held_own[j * n + i] = value
        for l in range(n_slide):
            w.held_beside[j * n_slide + l] = slip_due(m, w, w.rub[l], a)
        for i in range(n + n_slide):
            for row in range(2):
                lam = reaction(m, w.held[i], row, w.lam)
                w.held_alone[(2 * i + row) * n + j] = lam
    linearise(m, w, n)


@kernel
def follow(m, w, n, j):
    """Write what follows a unit of force j: loads, and reactions with their friction.

    Of joints that slide, and of those at rest.
    """
    n_slide = w.n_beside
    wide = slides.stride(n_slide)
    for l in range(n_slide):
        k, own = w.held[n + l], at(w.held_alone, 2 * (n + l) * n)
        w.excess[l] = 0.0
        for s in range(slides.n_flank(m, k)):
            phi = w.contact[k].phi
            force = slides.flank_force(m, w, k, s, phi, own[j], own[n + j])
            w.excess[l] += slides.side(m, w, k, s) * force
    lu_solve(n_slide, w.lu, w.swap, w.excess)
    for l in range(n_slide):
        w.held_change[l * n + j] = w.excess[l]
    for i in range(n):
        k = w.held[i]
        for row in range(2):
            place = (2 * i + row) * n + j
            w.held_reaction[place] = w.held_alone[place]
            if k >= m.n_touch:
                first = (m.contact_joint[k] + row) * wide
                w.held_reaction[place] += due_to_loads(m, w, k, row, first, n_slide)


@kernel
def due_to_loads(m, w, k, row, first, n_slide):
    """Return the change of a reaction of joint k with the loads in `excess`."""
    total = 0.0
    if row == 0 or slides.has_two(m, k):
        for l in range(n_slide):
            total += w.response[first + l] * w.excess[l]
    return total


@kernel
def linearise(m, w, n):
    """Let all be linear in the friction at rest, by tangents where it was noted.

    The forces are corrected by what makes up for the slip accelerations in `held_miss`.
    """
    n_slide = w.n_beside
    for l in range(n_slide):
        k, now = w.held[n + l], w.held_now[n + l]
        if slides.is_curved(m, k):
            slides.aim(m, w, k, w.contact[k].phi, now[0], now[1])
    slides.solve_loads(m, w, n_slide)
    for j in range(n):
        follow(m, w, n, j)
    for i in range(n):
        for row in range(2):
            # Without this friction.
            total = w.held_now[i][row]
            for j in range(n):
                total -= w.held_reaction[(2 * i + row) * n + j] * w.held_at[j]
            w.held_base[i][row] = total
    for i in range(n * n):
        w.held_A[i] = w.held_own[i]
    if n_slide > 0:
        yield_to(m, w, n)


@kernel
def yield_to(m, w, n):
    """Let A be that of contacts beside which joints slide, whose friction K F follows.

    With B_il the slip of contact i under friction l, which is that of l under i,

        a = (A + B K) F = C E' F        A = C C'

    friction that holds is that with E'F given: A becomes E E'.
    """
    p, E, n_slide = w.box, w.held_inverse, w.n_beside
    if not scale_box(p, n, w.held_own, w.held_limit, w.held_free):
        return
    tie(p, n, w.held_free)
    for i in range(n):
        p.order[i] = i
    r = factor(p, n, n, rank_tolerance(n, DEPENDENT))
    for i in range(r):
        k = p.order[i]
        for j in range(n):
            total = w.held_own[k * n + j]
            for l in range(n_slide):
                part = w.held_beside[k * n_slide + l] * w.contact[w.rub[l]].phi
                total -= part * w.held_change[l * n + j]
            E[j * n + i] = total / p.d[k]
        p.step[i] = w.held_miss[k] / p.d[k]
    for j in range(n):
        solve_lower(n, r, p.C, at(E, j * n))
    solve_lower(n, r, p.C, p.step)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for l in range(r):
                total += E[i * n + l] * E[j * n + l]
            w.held_A[i * n + j] = total
    make_up(w, n, r)


@kernel
def make_up(w, n, r):
    """Correct the forces by the least that has E'F more by what is in `step`."""
    E, P, y = w.held_inverse, w.held_P, w.box.step
    for i in range(r):
        for j in range(r):
            total = 0.0
            for k in range(n):
                total += E[k * n + i] * E[k * n + j]
            P[i * r + j] = total
    if not lu_factor(r, P, w.held_swap):
        return
    lu_solve(r, P, w.held_swap, y)
    for k in range(n):
        for i in range(r):
            w.held_force[k] += E[k * n + i] * y[i]


# ---- tangents that turn --------------------------------------------------------


@kernel
def move_present(m, w, n, sign):
    """Add the reactions under changes of friction and loads to those noted.

    Of friction since the tangents, and of the loads in `excess`.
    """
    n_slide = w.n_beside
    wide = slides.stride(n_slide)
    for i in range(n + n_slide):
        k = w.held[i]
        for row in range(2 if k >= m.n_touch else 0):
            total = 0.0
            for j in range(n):
                change = w.held_force[j] - w.held_at[j]
                total += sign * w.held_alone[(2 * i + row) * n + j] * change
            first = (m.contact_joint[k] + row) * wide
            w.held_now[i][row] += total + due_to_loads(m, w, k, row, first, n_slide)


@kernel
def turn_loads(m, w, n):
    """Put the tangents where friction has been shared; return the loads' change.

    The largest by which they differ from what the last tangents told, beside them. The
    forces are corrected, so that they hold the contacts with the loads as they are.
    """
    n_slide = w.n_beside
    for l in range(n_slide):
        w.excess[l] = 0.0
        for j in range(n):
            change = w.held_force[j] - w.held_at[j]
            w.excess[l] += w.held_change[l * n + j] * change
        w.held_load[l] += w.excess[l]
        w.load_of[l] = w.held_load[l]
    move_present(m, w, n, 1.0)
    for j in range(n):
        w.held_at[j] = w.held_force[j]
    last = 1.0
    for _ in range(MAX_CHORD):
        change = 0.0
        for l in range(n_slide):
            G = load_now(m, w, n, l)
            w.excess[l] = G - w.held_load[l]
            change = max(change, abs(w.excess[l]) / (G + TINY))
        if not STILL < change < last:
            break
        last = change
        lu_solve(n_slide, w.lu, w.swap, w.excess)
        for l in range(n_slide):
            w.held_load[l] += w.excess[l]
        move_present(m, w, n, 0.0)
    return miss_after(m, w, n)


@kernel
def miss_after(m, w, n):
    """Linearise anew, making up for what the last tangents, in `load_of`, missed."""
    n_slide = w.n_beside
    largest = 0.0
    for i in range(n):
        w.held_miss[i] = 0.0
    for l in range(n_slide):
        change = w.held_load[l] - w.load_of[l]
        largest = max(largest, abs(change) / (w.held_load[l] + TINY))
        for i in range(n):
            part = w.held_beside[i * n_slide + l] * w.contact[w.rub[l]].phi
            w.held_miss[i] += part * change
    linearise(m, w, n)
    return largest
