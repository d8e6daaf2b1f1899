"""Kernels called from Python outside the march; arrays arrive flat."""

from nonsmooth.kernels.abi import (
    FLOATS,
    INTEGER,
    INTEGERS,
    NUMBER,
    Block,
    at,
    far,
    floats,
    kernel,
    records,
    stack_floats,
)
from nonsmooth.kernels.friction import flanks, rest, shown, slides
from nonsmooth.kernels.friction.modes import (
    OPEN,
    PRESSING,
    STICK,
    Mode,
    copy_mode,
    set_grip,
)
from nonsmooth.kernels.linear import skyline
from nonsmooth.kernels.march import guards, jump, switch
from nonsmooth.kernels.mechanics import (
    apart,
    assemble,
    bodies,
    contacts,
    dynamics,
    outlines,
    reactions,
)
from nonsmooth.kernels.mechanics.contacts import copy_contact
from nonsmooth.kernels.mechanics.outlines import Press
from nonsmooth.kernels.mechanics.tables import FOR_RESULTS, Contact, Tables, Work
from nonsmooth.kernels.run import Decision, Step
from nonsmooth.kernels.tolerances import TOO_SINGULAR

# ---- starts --------------------------------------------------------------------


@far(Tables, Work, NUMBER, FLOATS, FLOATS, FLOATS, FLOATS, returns=NUMBER)
def constraints(m, w, t, q, v, g, rate):
    """Write violation and its rate for every row; return the least pivot of S."""
    dynamics.configure(m, w, t, q, v)
    reactions.factor_rows(m, w)
    for i in range(m.n_row):
        g[i] = w.g[i]
        rate[i] = reactions.row_rate(m, w, i, v)
    return w.pivot


@far(Tables, Work, FLOATS, FLOATS, FLOATS)
def row_sizes(m, w, v, size, terms):
    """Write the size of each row, m or rad, and of the terms of its rate.

    The model's size for a length, one for an angle; rows are configured.
    """
    for i in range(m.n_row):
        size[i] = 0.0
        terms[i] = abs(w.g_t[i])
        for side in range(2):
            dof = m.row_side[i][side]
            if dof >= 0:
                J = at(w.J, m.row_side[i][2 + side])
                for j in range(m.row_n[i][side]):
                    size[i] = max(size[i], abs(J[j]) * m.scale[dof + j])
                    terms[i] += abs(J[j] * v[dof + j])


@far(Tables, Work, NUMBER, FLOATS, FLOATS, NUMBER, returns=NUMBER)
def project_positions(m, w, t, q, v, size):
    """Move q onto the constraints; return the violation left."""
    return dynamics.project_positions(m, w, t, q, v, size)


@far(Tables, Work, NUMBER, FLOATS, FLOATS)
def project_velocities(m, w, t, q, v):
    """Change v by the impulse of the constraints."""
    dynamics.configure(m, w, t, q, v)
    reactions.factor_rows(m, w)
    dynamics.project_velocities(m, w, v)


@far(Tables, Work, FLOATS, returns=NUMBER)
def gaps(m, w, b):
    """Return the largest part of b that S x = b cannot reach; factors are current."""
    reactions.solve_rows(m, w, b, w.lam)
    return skyline.residual(m.n_row, w.first, m.start, w.S, w.lam, b, w.r)


@far(Tables, Work, FLOATS)
def dense_matrix(m, w, S):
    """Write the skyline matrix S as a full one."""
    n = m.n_row
    for i in range(n):
        S[i * n + i] = 1.0
        for j in range(w.first[i], i + 1 if w.is_active[i] else i):
            S[i * n + j] = w.S[m.start[i] + j]
            S[j * n + i] = S[i * n + j]


@far(Tables, Work, FLOATS)
def rows_matrix(m, w, J):
    """Write the constraint rows as a full matrix."""
    for i in range(m.n_row):
        out = at(J, i * m.n_dof)
        for side in range(2):
            dof = m.row_side[i][side]
            if dof >= 0:
                block = at(w.J, m.row_side[i][2 + side])
                bodies.add_row(m, w, dof, block, 1.0, out)


@far(Tables, Work, NUMBER, FLOATS, FLOATS, FLOATS)
def static_force(m, w, t, q, still, f):
    """Write the applied force at rest, drives frozen at time t, without friction."""
    dynamics.configure(m, w, t, q, still)
    freeze(m, w)
    bodies.markers(m, w, q, still)
    assemble.rows(m, w)
    for k in range(m.n_contact):
        is_closed = w.contact[k].gap < 0.0 or k >= m.n_touch
        w.mode[k].side = PRESSING if is_closed else OPEN
        set_grip(w.mode[k], STICK, 0)
    contacts.contacts(m, w)
    assemble.forces(m, w, t)
    for i in range(m.n_dof):
        f[i] = w.f[i]


@kernel
def freeze(m, w):
    """Set the rates of all laws and supports to zero."""
    for k in range(m.n_law):
        law = w.law[k]
        law[1] = 0.0
        law[2] = 0.0
    bodies.supports(m, w)


@far(Tables, Work, INTEGER, FLOATS, FLOATS)
def law_values(m, w, n, t, out):
    """Write value, rate and acceleration of every time law at n times."""
    for k in range(n):
        bodies.time_laws(m, w, t[k])
        copy(3 * m.n_law, at(w.law, 0), at(out, 3 * m.n_law * k))


@far(Tables, Work, NUMBER, FLOATS)
def laws_and_rows(m, w, t, y):
    """Evaluate laws, rows and forces, to look for one that is not finite."""
    v = at(y, m.n_dof)
    dynamics.configure(m, w, t, y, v)
    assemble.forces(m, w, t)


# ---- samples of a run ----------------------------------------------------------


class Instants(Block):
    """States and modes at n instants, and what follows from them."""

    n = INTEGER
    t = floats("n")  # s, at which laws are evaluated
    y = floats("n, n_y")
    mode = records(Mode, "n, n_contact")
    lam = floats("n, n_row")
    a = floats("n, n_dof")
    motion = floats("n, n_marker, 9")  # pose, rate, acceleration of each marker
    wrench = floats("n, n_force, 8")
    joint = floats("n, n_joint, 3")  # force and couple on marker b
    load = floats("n, n_support, 3")
    contact = records(Contact, "n, n_contact")
    area = floats("n, n_area, 8")  # N, of blocks in guides, see `slides.areas`
    kinetic = floats("n")  # J
    inner = floats("n, n_tail")  # J, potential of tails


@kernel
def copy(n, source, target):
    """Copy n numbers."""
    for i in range(n):
        target[i] = source[i]


@kernel
def take_mode(m, w, mode):
    """Take over the modes of all contacts."""
    for k in range(m.n_contact):
        copy_mode(mode[k], w.mode[k])
    rest.activate(m, w)


@far(Tables, Work, Instants, INTEGER)
def set_mode(m, w, s, k):
    """Take over the mode of instant k."""
    take_mode(m, w, s.mode[k])


@far(Tables, Work, Instants, NUMBER)
def project_samples(m, w, s, size):
    """Move sampled states onto the constraints, except near a singular pose.

    There the correction would be larger than the error it mends.
    """
    for k in range(s.n):
        y = s.y[k]
        take_mode(m, w, s.mode[k])
        dynamics.configure(m, w, s.t[k], y, at(y, m.n_dof))
        reactions.factor_rows(m, w)
        if w.pivot > TOO_SINGULAR:
            dynamics.project(m, w, s.t[k], y, size)


@far(Tables, Work, Instants, NUMBER, NUMBER)
def evaluate_samples(m, w, s, alpha, beta):
    """Accelerations, marker motion, reactions, forces and energies at instants."""
    w.least_use = FOR_RESULTS
    for k in range(s.n):
        y, t, a = s.y[k], s.t[k], s.a[k]
        v = at(y, m.n_dof)
        take_mode(m, w, s.mode[k])
        contacts.recall(m, w, y)
        dynamics.configure(m, w, t, y, v)
        contacts.cut_off(m, w)
        reactions.factor_rows(m, w)
        dynamics.accelerate(m, w, t, v, alpha, beta, a)
        if w.n_stuck > 1:
            shown.share_friction(m, w, a)
        bodies.add_acceleration(m, w, a)
        copy(m.n_row, w.lam, s.lam[k])
        copy(9 * m.n_marker, at(w.motion, 0), at(s.motion[k], 0))
        copy(8 * m.n_force, at(w.wrench, 0), at(s.wrench[k], 0))
        copy(3 * m.n_support, at(w.load, 0), at(s.load[k], 0))
        joint_wrenches(m, w, s.joint[k])
        for i in range(m.n_contact):
            contacts.show(m, w, i)
            copy_contact(w.contact[i], s.contact[k][i])
        if m.n_area > 0:
            slides.areas(m, w, at(s.area[k], 0))
        s.kinetic[k] = bodies.kinetic_energy(m, w, v)
        for i in range(m.n_tail):
            s.inner[k][i] = w.inner[i][m.body_n[m.tail_body[i]]]
    dynamics.open_eyes(w)


@kernel
def joint_wrenches(m, w, out):
    """Write force and couple of every joint on its marker b: G_b^T lam, friction."""
    for k in range(m.n_joint):
        wrench = out[k]
        for c in range(3):
            total = 0.0
            for i in range(m.joint_row[k], m.joint_row[k] + m.joint_n_row[k]):
                total += w.lam[i] * w.block[i][6 + c]
            wrench[c] = total
    G = stack_floats(6)
    for k in range(m.n_touch, m.n_contact):
        contacts.coefficients(m, w, k, G)
        for j in range(m.n_joint):
            if m.joint_row[j] == m.contact_joint[k]:
                wrench = out[j]
                for c in range(3):
                    wrench[c] += w.contact[k].lam_t * G[3 + c]


@far(INTEGER, FLOATS, INTEGERS, INTEGER, INTEGER, FLOATS, FLOATS)
def on_dense(n, x, step, n_coef, n_y, coef, out):
    """Evaluate the dense output of given steps at given fractions."""
    for k in range(n):
        c = at(coef, step[k] * n_coef * n_y)
        for i in range(n_y):
            value = 0.0
            for p in range(n_coef - 1, 0, -1):
                value = x[k] * (c[p * n_y + i] + value)
            out[k * n_y + i] = c[i] + value


# ---- linearisation -------------------------------------------------------------


@far(Tables, Work, NUMBER, FLOATS, NUMBER, NUMBER, FLOATS)
def derivative(m, w, t, y, alpha, beta, dy):
    """Write y' at one state."""
    dynamics.rhs(m, w, t, y, alpha, beta, dy)


class Guards(Block):
    """Value and rate of every guard."""

    guard = floats("n_watch, 2")


@far(Tables, Work, NUMBER, FLOATS, FLOATS, FLOATS, NUMBER, Guards)
def guard_values(m, w, t, y, a, scratch, size, out):
    """Write value and rate of every guard at one state."""
    guards.evaluate(m, w, t, y, a, scratch, size, out.guard)


# ---- jumps and the friction problem --------------------------------------------


@far(Tables, Work, Step, INTEGER, NUMBER, NUMBER, FLOATS)
def strike(m, w, s, k, imp_n, imp_t, imp):
    """Apply an impulse at contact k to the state of a step."""
    jump.strike(m, w, s, k, imp_n, imp_t, imp)


@far(Tables, Work, Decision, NUMBER, INTEGER, returns=INTEGER)
def friction_problem(m, w, r, t, g):
    """Set up and solve the friction problem of group g at the present state."""
    y = r.step.y
    for k in range(m.n_contact):
        w.mode[k].side = OPEN
        set_grip(w.mode[k], STICK, 0)
    rest.activate(m, w)
    switch.evaluate(m, w, r, t)
    switch.first_sides(m, w, r)
    for i in range(m.n_y):
        r.ahead[i] = y[i]
    r.n_term = 0
    while rest.pose(m, w, r, t, g) > 0:
        if rest.drop_held(m, w, r) == 0:
            return flanks.solve(m, w, r, r.n_listed)
    return 0


@far(INTEGER, FLOATS, FLOATS, FLOATS, FLOATS, NUMBER, INTEGER, FLOATS, Press)
def outline_pair(law, par, p, a, b, approach, has_rates, scratch, o):
    """Evaluate two outlines alone."""
    outlines.outlines(law, par, p, a, b, approach, has_rates, scratch, o)


@far(FLOATS, FLOATS, FLOATS, FLOATS, Press)
def outline_distance(p, a, b, scratch, o):
    """Write the distance of two outlines that are apart, after `outline_pair`."""
    apart.part(p, a, b, scratch, o)


@far(Press, FLOATS, FLOATS, returns=NUMBER)
def outline_acceleration(o, a, b):
    """Return gap'' of two outlines, from motions with accelerations."""
    return outlines.gap_acceleration(o, a, b)
