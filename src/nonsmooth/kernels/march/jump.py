"""What changes at an instant: velocities by impulses, internal states by contact.

Between the record of the step that ends and the switch to the next mode. The log has
the state before at the end of that step, the state after at the start of the next, and
the impulses of contacts; their work goes to the ledger, which so closes over an event:

    v+ = v + M^-1 (W_n imp_n + W_t imp_t + J^T imp)        work = imp · (v + v+) / 2
"""

from nonsmooth.kernels.abi import at, kernel, stack_floats
from nonsmooth.kernels.friction.modes import OPEN, RELEASED
from nonsmooth.kernels.mechanics import bodies, contacts, dynamics, reactions


@kernel
def touches_down(m, w, fired, k):
    """Return whether contact k begins to press."""
    gap, force = fired[m.contact_press[k]], fired[m.contact_press[k] + 1]
    side = w.mode[k].side
    return (side == OPEN and gap != 0) or (side == RELEASED and force != 0 and gap == 0)


@kernel
def jump(m, w, s, fired, impulse):
    """Let all jumps at this instant happen."""
    for k in range(m.n_contact):
        imp = impulse[k]
        imp[0] = 0.0
        imp[1] = 0.0
        state = m.contact_state[k]
        if state >= 0 and k < m.n_touch and touches_down(m, w, fired, k):
            # Bristles meet the surface straight.
            s.y[2 * m.n_dof + state] = 0.0


@kernel
def strike(m, w, s, k, imp_n, imp_t, imp):
    """Apply an impulse at contact k, with those of the joints, and book its work."""
    t = min(s.t, s.t_cap)
    v = at(s.y, m.n_dof)
    dynamics.configure(m, w, t, s.y, v)
    reactions.factor_rows(m, w)
    c = w.contact[k]
    before_n, before_t = contacts.normal_rate(m, w, k), c.v_t
    wrench = stack_floats(3)
    for i in range(m.n_dof):
        s.d[i] = 0.0
    wrench[0] = imp_n * c.n_x + imp_t * c.n_y
    wrench[1] = imp_n * c.n_y - imp_t * c.n_x
    wrench[2] = contacts.moment_on_b(m, w, k, imp_n, imp_t)
    bodies.add_wrench(m, w, m.contact_b[k], wrench, 1.0, s.d)
    wrench[2] = contacts.moment_on_a(m, w, k, imp_n, imp_t)
    bodies.add_wrench(m, w, m.contact_a[k], wrench, -1.0, s.d)
    bodies.solve_mass(m, w, s.d, s.d)
    reactions.oppose(m, w, s.d)
    for i in range(m.n_dof):
        v[i] += s.d[i]
    contacts_after(m, w, s, t)
    rate_n = contacts.normal_rate(m, w, k)
    imp[0] += imp_n
    imp[1] += imp_t
    work = at(s.y, 2 * m.n_dof + m.n_state)
    if m.contact_normal_work[k] >= 0:
        work[m.contact_normal_work[k]] += 0.5 * imp_n * (before_n + rate_n)
    work[m.contact_work[k]] += 0.5 * imp_t * (before_t + c.v_t)


@kernel
def contacts_after(m, w, s, t):
    """Evaluate markers and contacts at the velocities after an impulse."""
    v = at(s.y, m.n_dof)
    bodies.markers(m, w, s.y, v)
    contacts.contacts(m, w)
