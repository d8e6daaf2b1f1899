"""Joint rows, applied forces, and the powers of the ledger.

g'  = J v + g_t          g'' = J a + bias          M a = f + J^T lam
"""

from nonsmooth.kernels.abi import at, call_force, call_joint, kernel
from nonsmooth.kernels.friction.modes import PRESSING
from nonsmooth.kernels.mechanics import bodies, contacts
from nonsmooth.kernels.mechanics.tables import PATCH


@kernel
def rows(m, w):
    """Violation, Jacobian, time rate and bias of every joint and drive."""
    for k in range(m.n_joint):
        a, b = m.joint_a[k], m.joint_b[k]
        first = m.joint_row[k]
        call_joint(
            m.address[m.joint_kind[k]],
            at(m.par, m.joint_par[k]),
            at(w.law, m.joint_law[k]),
            w.motion[a],
            w.motion[b],
            at(w.block, first),
        )
        for i in range(first, first + m.joint_n_row[k]):
            block = w.block[i]
            w.g[i] = block[0]
            w.g_t[i] = block[1]
            w.bias[i] = block[2]
            contacts.carry_row(m, w, i, a, b)


@kernel
def forces(m, w, t):
    """Gravity, tails, every force element and contact, on bodies and supports."""
    bodies.body_forces(m, w)
    for k in range(m.n_force):
        a, b = m.force_a[k], m.force_b[k]
        out = w.wrench[k]
        call_force(
            m.address[m.force_kind[k]],
            at(m.par, m.force_par[k]),
            at(w.law, m.force_law[k]),
            t,
            w.motion[a],
            w.motion[b],
            out,
        )
        bodies.push(m, w, b, out, 1.0)
        bodies.push(m, w, a, at(out, 3), 1.0)
    for k in range(m.n_touch):
        if w.mode[k].side == PRESSING:
            c = w.contact[k]
            contacts.push_contact(m, w, k, c.lam_n, c.lam_t)
    for k in range(m.n_touch, m.n_contact):
        # What does not depend on the load; the rest is found with the reactions.
        drag = w.contact[k].drag
        if drag != 0.0:
            contacts.push_friction(m, w, k, -drag)


@kernel
def load_supports(m, w):
    """Add the joints' reactions to the load of each support."""
    for k in range(m.n_joint):
        for side in range(2):
            marker = m.joint_b[k] if side else m.joint_a[k]
            if not bodies.is_moving(m, marker):
                for i in range(m.joint_row[k], m.joint_row[k] + m.joint_n_row[k]):
                    G = at(w.block[i], 3 + 3 * side)
                    bodies.push(m, w, marker, G, w.lam[i])


@kernel
def powers(m, w, power):
    """Rate of work of every drive, force element, contact, support and tail.

    A drive supplies `-lam g_t`, with g_t the row's own time rate; a force element
    without potential the power of its two wrenches; a support the power of the
    force it must exert to balance its load.
    """
    for k in range(m.n_joint):
        if m.joint_work[k] >= 0:
            total = 0.0
            for i in range(m.joint_row[k], m.joint_row[k] + m.joint_n_row[k]):
                total -= w.lam[i] * w.block[i][1]
            power[m.joint_work[k]] = total
    for k in range(m.n_force):
        out = w.wrench[k]
        if m.force_has_potential[k]:
            power[m.force_work[k]] = out[7]
        else:
            a, b = at(w.motion[m.force_a[k]], 3), at(w.motion[m.force_b[k]], 3)
            total = 0.0
            for i in range(3):
                total += out[i] * b[i] + out[3 + i] * a[i]
            power[m.force_work[k]] = total
    for k in range(m.n_contact):
        c = w.contact[k]
        # That of rough patches is booked at the end of each step.
        is_patch = m.contact_kind[k] == PATCH
        power[m.contact_work[k]] = 0.0 if is_patch else c.lam_t * c.v_t
        if m.contact_normal_work[k] >= 0:
            power[m.contact_normal_work[k]] = contacts.closing_power(m, w, k)
    for k in range(m.n_support):
        if m.support_work[k] >= 0:
            total = 0.0
            for i in range(3):
                total -= w.load[k][i] * w.support[k][3 + i]
            power[m.support_work[k]] = total
    for i in range(m.n_tail):
        power[m.tail_work[i]] = w.inner[i][m.body_n[m.tail_body[i]] + 1]
