"""Kernels called from Python outside the march; arrays arrive flat and contiguous."""

from nonsmooth.kernels import (
    assemble,
    flanks,
    guards,
    modes,
    reactions,
    skyline,
    switch,
)
from nonsmooth.kernels.abi import at, data, kernel, stack_floats

# Least pivot of S, relative to its diagonal entry, of an ordinary pose.
NEARLY_SINGULAR = 1e-4


@kernel
def constraints(m, w, t, q, v, g, rate):
    """Write violation and its rate for every row; return the least pivot of S."""
    modes.configure(m, w, t, data(q), data(v))
    reactions.factor_rows(m, w)
    for i in range(m.n_row):
        g[i] = w.g[i]
        rate[i] = reactions.row_rate(m, w, i, data(v))
    return w.pivot


@kernel
def project_positions(m, w, t, q, v, size):
    """Move q onto the constraints; return the violation left."""
    return modes.project_positions(m, w, t, data(q), data(v), size)


@kernel
def project_velocities(m, w, t, q, v):
    """Change v by the impulse of the constraints."""
    modes.configure(m, w, t, data(q), data(v))
    reactions.factor_rows(m, w)
    modes.project_velocities(m, w, data(v))


@kernel
def gaps(m, w, b):
    """Return the largest part of b that S x = b cannot reach; factors are current."""
    reactions.solve_rows(m, w, data(b), w.lam)
    largest = 0.0
    skyline.residual(m.n_row, w.first, m.start, w.S, w.lam, data(b), w.r)
    for i in range(m.n_row):
        largest = max(largest, abs(w.r[i]))
    return largest


@kernel
def dense_matrix(m, w, S):
    """Write the skyline matrix S as a full one."""
    for i in range(m.n_row):
        S[i * m.n_row + i] = 1.0
        for j in range(w.first[i], i + 1 if w.is_active[i] else i):
            S[i * m.n_row + j] = w.S[m.start[i] + j]
            S[j * m.n_row + i] = S[i * m.n_row + j]


@kernel
def rows_matrix(m, w, J):
    """Write the constraint rows as a full matrix."""
    for i in range(m.n_row):
        for side in range(2):
            k = m.row_dof[2 * i + side]
            if k >= 0:
                for c in range(3):
                    J[i * m.n_dof + k + c] += w.J[6 * i + 3 * side + c]


@kernel
def derivative(m, w, t, y, alpha, beta, dy):
    """Write y' at one state."""
    modes.rhs(m, w, t, data(y), alpha, beta, data(dy))


@kernel
def guard_values(m, w, t, y, a, scratch, out):
    """Write value and rate of every guard at one state."""
    guards.evaluate(m, w, t, data(y), data(a), data(scratch), 1.0, data(out))


@kernel
def static_force(m, w, t, q, rest, f):
    """Write the applied force at rest, drives frozen at time t, without friction."""
    modes.configure(m, w, t, data(q), data(rest))
    freeze(m, w)
    assemble.markers(m, w, data(q), data(rest))
    assemble.rows(m, w)
    for k in range(m.n_contact):
        is_closed = w.contact[assemble.CONTACT * k + assemble.GAP] < 0.0
        is_closed = is_closed or k >= m.n_touch
        w.side[k] = assemble.PRESSING if is_closed else assemble.OPEN
        w.slip[k] = assemble.STICK
    assemble.contacts(m, w)
    assemble.forces(m, w, t)
    for i in range(m.n_dof):
        f[i] = w.f[i]


@kernel
def freeze(m, w):
    """Set the rates of all laws and supports to zero."""
    for k in range(m.n_law):
        w.law[3 * k + 1] = 0.0
        w.law[3 * k + 2] = 0.0
    assemble.supports(m, w)


@kernel
def project_samples(m, w, n, t, y, n_y, size, mode, held):
    """Move sampled states onto the constraints, except near a singular pose.

    There the correction would be larger than the error it mends.
    """
    for k in range(n):
        state = at(data(y), k * n_y)
        set_mode(
            m,
            w,
            at(data(mode), 3 * k * m.n_contact),
            at(data(held), 2 * k * m.n_contact),
        )
        modes.configure(m, w, t[k], state, at(state, m.n_dof))
        reactions.factor_rows(m, w)
        if w.pivot > NEARLY_SINGULAR:
            modes.project(m, w, t[k], state, size)


@kernel
def evaluate_samples(
    m,
    w,
    n,
    t,
    y,
    n_y,
    alpha,
    beta,
    mode,
    held,
    lam,
    a,
    motion,
    wrench,
    joint,
    load,
    contact,
):
    """Accelerations, marker motion, reactions and forces at sampled states."""
    for k in range(n):
        state = at(data(y), k * n_y)
        v = at(state, m.n_dof)
        set_mode(
            m,
            w,
            at(data(mode), 3 * k * m.n_contact),
            at(data(held), 2 * k * m.n_contact),
        )
        modes.configure(m, w, t[k], state, v)
        reactions.factor_rows(m, w)
        modes.accelerate(m, w, t[k], v, alpha, beta, at(data(a), k * m.n_dof))
        assemble.add_acceleration(m, w, at(data(a), k * m.n_dof))
        copy(m.n_row, w.lam, at(data(lam), k * m.n_row))
        copy(9 * m.n_marker, w.motion, at(data(motion), k * 9 * m.n_marker))
        copy(8 * m.n_force, w.wrench, at(data(wrench), k * 8 * m.n_force))
        copy(3 * m.n_support, w.load, at(data(load), k * 3 * m.n_support))
        joint_wrenches(m, w, at(data(joint), k * 3 * m.n_joint))
        n_contact = assemble.CONTACT * m.n_contact
        copy(n_contact, w.contact, at(data(contact), k * n_contact))


@kernel
def set_sample_mode(m, w, k, mode, held):
    """Set the mode of sample k."""
    n = m.n_contact
    set_mode(m, w, at(data(mode), 3 * k * n), at(data(held), 2 * k * n))


@kernel
def set_mode(m, w, mode, held):
    """Set sides, slips and flanks; rates of approach, and slip held."""
    for k in range(m.n_contact):
        w.side[k] = mode[k]
        w.slip[k] = mode[m.n_contact + k]
        w.flank[k] = mode[2 * m.n_contact + k]
        w.approach[k] = held[k]
        w.hold[k] = held[m.n_contact + k]
    switch.activate(m, w)


@kernel
def copy(n, source, target):
    """Copy n numbers."""
    for i in range(n):
        target[i] = source[i]


@kernel
def joint_wrenches(m, w, out):
    """Write force and couple of every joint on its marker b: G_b^T lam, friction."""
    for k in range(m.n_joint):
        for c in range(3):
            total = 0.0
            for i in range(m.joint_row[k], m.joint_row[k] + m.joint_n_row[k]):
                total += w.lam[i] * w.block[9 * i + 6 + c]
            out[3 * k + c] = total
    G = stack_floats(6)
    for k in range(m.n_touch, m.n_contact):
        contact = at(w.contact, assemble.CONTACT * k)
        assemble.contact_block(m, k, contact, G)
        for j in range(m.n_joint):
            if m.joint_row[j] == m.contact_joint[k]:
                for c in range(3):
                    out[3 * j + c] += contact[assemble.LAM_T] * G[3 + c]


@kernel
def laws_and_rows(m, w, t, y):
    """Evaluate laws, rows and forces, to look for one that is not finite."""
    v = at(data(y), m.n_dof)
    modes.configure(m, w, t, data(y), v)
    assemble.forces(m, w, t)


@kernel
def on_dense(n, x, step, coef, n_coef, n_y, out):
    """Evaluate the dense output of given steps at given fractions."""
    for k in range(n):
        c = at(data(coef), step[k] * (1 + n_coef) * n_y)
        for i in range(n_y):
            value = 0.0
            for p in range(n_coef, 0, -1):
                value = x[k] * (c[p * n_y + i] + value)
            out[k * n_y + i] = c[i] + value


@kernel
def friction_problem(m, w, r, p, h, t, g):
    """Set up and solve the friction problem of group g at the state r.y."""
    for k in range(m.n_contact):
        w.side[k] = assemble.OPEN
        w.slip[k] = assemble.STICK
    switch.activate(m, w)
    switch.note_speed(m, w, r)
    modes.configure(m, w, t, r.y, at(r.y, m.n_dof))
    switch.first_sides(m, w, r)
    for i in range(r.n_y):
        r.ahead[i] = r.y[i]
    r.n_term = 0
    while switch.pose(m, w, r, t, g) > 0:
        if switch.drop_held(m, w, r) == 0:
            return flanks.solve(m, w, r, p, h, r.n_listed)
    return 0


@kernel
def law_values(m, w, n, t, out):
    """Write value, rate and acceleration of every time law at n times."""
    for k in range(n):
        assemble.time_laws(m, w, t[k])
        copy(3 * m.n_law, w.law, at(data(out), k * 3 * m.n_law))


@kernel
def mode_from(m, w, mode, held):
    """Set the mode from arrays."""
    set_mode(m, w, data(mode), data(held))
