"""From time and state to markers, constraint rows and applied forces.

    g'  = J v + g_t          g'' = J a + bias          M a = f + J^T lam

Each stage reads only what the stages before it wrote: time laws and supports,
markers, joint rows, forces.
"""

import math

from nonsmooth.kernels.abi import at, call_force, call_joint, call_law, kernel


@kernel
def time_laws(m, w, t):
    """Evaluate every time law: value, rate, acceleration."""
    for k in range(m.n_law):
        call_law(m.address[m.law_kind[k]], at(m.par, m.law_par[k]), t, at(w.law, 3 * k))


@kernel
def supports(m, w):
    """Copy the laws of the supports into pose, rate and acceleration."""
    for k in range(m.n_support):
        first = m.support_law[k]
        for i in range(3):
            for order in range(3):
                value = 0.0
                if first >= 0:
                    value = w.law[3 * (first + i) + order]
                w.support[9 * k + 3 * order + i] = value


@kernel
def markers(m, w, q, v):
    """Pose, rate and acceleration bias of every marker.

        p = c + R(theta) s     p' = c' + omega x r     p'' = c'' + alpha x r - omega² r

    The bias of a marker on a prescribed body is its whole acceleration.
    """
    n_moving = m.n_body - m.n_support
    for k in range(m.n_body):
        theta = q[3 * k + 2] if k < n_moving else w.support[9 * (k - n_moving) + 2]
        w.turn[2 * k] = math.cos(theta)
        w.turn[2 * k + 1] = math.sin(theta)
    motion = w.motion
    for i in range(m.n_marker):
        k = m.marker_body[i]
        c, s = w.turn[2 * k], w.turn[2 * k + 1]
        rx = c * m.marker_x[i] - s * m.marker_y[i]
        ry = s * m.marker_x[i] + c * m.marker_y[i]
        w.arm[2 * i] = rx
        w.arm[2 * i + 1] = ry
        o = 9 * i
        if k < n_moving:
            omega = v[3 * k + 2]
            motion[o] = q[3 * k] + rx
            motion[o + 1] = q[3 * k + 1] + ry
            motion[o + 2] = q[3 * k + 2]
            motion[o + 3] = v[3 * k] - omega * ry
            motion[o + 4] = v[3 * k + 1] + omega * rx
            motion[o + 5] = omega
            motion[o + 6] = -omega * omega * rx
            motion[o + 7] = -omega * omega * ry
            motion[o + 8] = 0.0
        else:
            b = at(w.support, 9 * (k - n_moving))
            omega, alpha = b[5], b[8]
            motion[o] = b[0] + rx
            motion[o + 1] = b[1] + ry
            motion[o + 2] = b[2]
            motion[o + 3] = b[3] - omega * ry
            motion[o + 4] = b[4] + omega * rx
            motion[o + 5] = omega
            motion[o + 6] = b[6] - alpha * ry - omega * omega * rx
            motion[o + 7] = b[7] + alpha * rx - omega * omega * ry
            motion[o + 8] = alpha


@kernel
def add_acceleration(m, w, a):
    """Turn each marker's acceleration bias into its acceleration."""
    for i in range(m.n_marker):
        k = 3 * m.marker_body[i]
        if k < m.n_dof:
            alpha = a[k + 2]
            w.motion[9 * i + 6] += a[k] - alpha * w.arm[2 * i + 1]
            w.motion[9 * i + 7] += a[k + 1] + alpha * w.arm[2 * i]
            w.motion[9 * i + 8] += alpha


@kernel
def rows(m, w):
    """Violation, Jacobian, time rate and bias of every joint and drive."""
    for k in range(m.n_joint):
        a, b = m.joint_a[k], m.joint_b[k]
        first = m.joint_row[k]
        call_joint(
            m.address[m.joint_kind[k]],
            at(m.par, m.joint_par[k]),
            at(w.law, 3 * m.joint_law[k]),
            at(w.motion, 9 * a),
            at(w.motion, 9 * b),
            at(w.block, 9 * first),
        )
        for i in range(first, first + m.joint_n_row[k]):
            w.g[i] = w.block[9 * i]
            w.g_t[i] = w.block[9 * i + 1]
            w.bias[i] = w.block[9 * i + 2]
            for side in range(2):
                carry_row(m, w, i, side, b if side else a)


@kernel
def carry_row(m, w, i, side, marker):
    """Carry a side of row i from its marker to the marker's body."""
    G = at(w.block, 9 * i + 3 + 3 * side)
    motion = at(w.motion, 9 * marker)
    w.bias[i] += G[0] * motion[6] + G[1] * motion[7] + G[2] * motion[8]
    if 3 * m.marker_body[marker] < m.n_dof:
        J = at(w.J, 6 * i + 3 * side)
        J[0] = G[0]
        J[1] = G[1]
        J[2] = G[2] - G[0] * w.arm[2 * marker + 1] + G[1] * w.arm[2 * marker]
    else:
        w.g_t[i] += G[0] * motion[3] + G[1] * motion[4] + G[2] * motion[5]


@kernel
def push(m, w, marker, wrench, factor):
    """Add factor times a wrench at a marker to its body's force or load."""
    fx, fy = factor * wrench[0], factor * wrench[1]
    moment = factor * wrench[2] + w.arm[2 * marker] * fy - w.arm[2 * marker + 1] * fx
    k = 3 * m.marker_body[marker]
    target = at(w.f, k) if k < m.n_dof else at(w.load, k - m.n_dof)
    target[0] += fx
    target[1] += fy
    target[2] += moment


@kernel
def forces(m, w, t):
    """Gravity and every force element, on bodies and supports."""
    for i in range(m.n_dof):
        w.f[i] = m.weight[i]
    for i in range(3 * m.n_support):
        w.load[i] = 0.0
    for k in range(m.n_force):
        out = at(w.wrench, 8 * k)
        call_force(
            m.address[m.force_kind[k]],
            at(m.par, m.force_par[k]),
            at(w.law, 3 * m.force_law[k]),
            t,
            at(w.motion, 9 * m.force_a[k]),
            at(w.motion, 9 * m.force_b[k]),
            out,
        )
        push(m, w, m.force_b[k], out, 1.0)
        push(m, w, m.force_a[k], at(out, 3), 1.0)


@kernel
def load_supports(m, w):
    """Add the joints' reactions to the load of each support."""
    for k in range(m.n_joint):
        for side in range(2):
            marker = m.joint_b[k] if side else m.joint_a[k]
            if 3 * m.marker_body[marker] >= m.n_dof:
                for i in range(m.joint_row[k], m.joint_row[k] + m.joint_n_row[k]):
                    push(m, w, marker, at(w.block, 9 * i + 3 + 3 * side), w.lam[i])


@kernel
def powers(m, w, power):
    """Rate of work of every drive, force element and support.

    A drive supplies `-lam g_t`, with g_t the row's own time rate; a force element
    without potential the power of its two wrenches; a support the power of the
    force it must exert to balance its load.
    """
    for k in range(m.n_joint):
        if m.joint_work[k] >= 0:
            total = 0.0
            for i in range(m.joint_row[k], m.joint_row[k] + m.joint_n_row[k]):
                total -= w.lam[i] * w.block[9 * i + 1]
            power[m.joint_work[k]] = total
    for k in range(m.n_force):
        out = at(w.wrench, 8 * k)
        if m.force_has_potential[k]:
            power[m.force_work[k]] = out[7]
        else:
            a = at(w.motion, 9 * m.force_a[k] + 3)
            b = at(w.motion, 9 * m.force_b[k] + 3)
            total = 0.0
            for i in range(3):
                total += out[i] * b[i] + out[3 + i] * a[i]
            power[m.force_work[k]] = total
    for k in range(m.n_support):
        if m.support_work[k] >= 0:
            total = 0.0
            for i in range(3):
                total -= w.load[3 * k + i] * w.support[9 * k + 3 + i]
            power[m.support_work[k]] = total
