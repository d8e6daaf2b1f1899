"""From time and state to markers, constraint rows and applied forces.

    g'  = J v + g_t          g'' = J a + bias          M a = f + J^T lam

Each stage reads only what the stages before it wrote: time laws and supports,
markers, joint rows, contacts, forces.
"""

import math

from nonsmooth.kernels.abi import (
    at,
    call_force,
    call_joint,
    call_law,
    call_limit,
    call_normal,
    call_shape,
    call_smooth,
    kernel,
    stack_floats,
)

# State of a contact: apart, pressing, or overlapping without force.
OPEN, PRESSING, RELEASED = 0, 1, 2
# Slip of a contact at rest: held by its row; or, where others hold it too, with its
# friction at the static limit, against a slip of either sign; or moving within the
# band of velocities that counts as rest, with its friction at that limit; or held by
# joints and drives alone, where friction can be anything and is taken as none; or, of
# joints that block one motion, with as large a part of its friction as the one held.
STICK, PINNED, YIELDING, HELD, FOLLOWING = 0, 2, 3, 4, 5
# Where a contact is: between shapes; or inside a joint, of a point in a slot, a block
# in a guide, a pin in a hole.
TOUCH, SLOT, GUIDE, PIN = 0, 1, 2, 3
# Its friction: none, decided between stick and slip, or a function of the state.
NONE, SET_VALUED, SMOOTH = 0, 1, 2
# Part of the fastest body's speed in the round-off of every other's.
SPREAD = 1e-2
# Numbers kept for each contact.
CONTACT = 16
(
    GAP,  # m
    N_X,  # normal, from a to b
    N_Y,
    TURN,  # rad/s, of the normal
    GAP_RATE,  # m/s
    V_T,  # m/s
    FORCE,  # N, the normal law's value, not cut off; of a joint along its normal
    LAM_N,  # N, the load: never negative
    LAM_T,  # N
    ARM,  # from marker a to the contact point: x, then y
    ARM_Y,
    SLIP_BIAS,  # m/s^2, v_t' = G_a a_a + G_b a_b + this
    PHI,  # of a joint that slides: lam_t = -(phi lam_n + drag)
    DRAG,  # N
    FRONT,  # N, of the flanks of a block in a guide, or of a point in a slot
    REAR,  # N
) = range(CONTACT)


@kernel
def time_laws(m, w, t):
    """Evaluate every time law: value, rate, acceleration."""
    for k in range(m.n_law):
        time_law(m, w, t, k)


@kernel
def time_law(m, w, t, k):
    """Evaluate time law k."""
    call_law(m.address[m.law_kind[k]], at(m.par, m.law_par[k]), t, at(w.law, 3 * k))


@kernel
def supports(m, w):
    """Copy the laws of the supports into pose, rate and acceleration."""
    for k in range(m.n_support):
        move_support(m, w, k)


@kernel
def move_support(m, w, k):
    """Copy the laws of support k into pose, rate and acceleration."""
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
    for k in range(m.n_body):
        turn_body(m, w, q, k)
    for i in range(m.n_marker):
        move_marker(m, w, q, v, i)


@kernel
def turn_body(m, w, q, k):
    """Write cosine and sine of the angle of body k."""
    n_moving = m.n_body - m.n_support
    theta = q[3 * k + 2] if k < n_moving else w.support[9 * (k - n_moving) + 2]
    w.turn[2 * k] = math.cos(theta)
    w.turn[2 * k + 1] = math.sin(theta)


@kernel
def move_marker(m, w, q, v, i):
    """Write the motion of marker i; its body has been turned."""
    n_moving = m.n_body - m.n_support
    k = m.marker_body[i]
    c, s = w.turn[2 * k], w.turn[2 * k + 1]
    rx = c * m.marker_x[i] - s * m.marker_y[i]
    ry = s * m.marker_x[i] + c * m.marker_y[i]
    w.arm[2 * i] = rx
    w.arm[2 * i + 1] = ry
    motion = at(w.motion, 9 * i)
    if k < n_moving:
        omega = v[3 * k + 2]
        motion[0] = q[3 * k] + rx
        motion[1] = q[3 * k + 1] + ry
        motion[2] = q[3 * k + 2]
        motion[3] = v[3 * k] - omega * ry
        motion[4] = v[3 * k + 1] + omega * rx
        motion[5] = omega
        motion[6] = -omega * omega * rx
        motion[7] = -omega * omega * ry
        motion[8] = 0.0
    else:
        b = at(w.support, 9 * (k - n_moving))
        omega, alpha = b[5], b[8]
        motion[0] = b[0] + rx
        motion[1] = b[1] + ry
        motion[2] = b[2]
        motion[3] = b[3] - omega * ry
        motion[4] = b[4] + omega * rx
        motion[5] = omega
        motion[6] = b[6] - alpha * ry - omega * omega * rx
        motion[7] = b[7] + alpha * rx - omega * omega * ry
        motion[8] = alpha


@kernel
def add_acceleration(m, w, a):
    """Turn each marker's acceleration bias into its acceleration."""
    for i in range(m.n_marker):
        accelerate_marker(m, w, a, i)


@kernel
def accelerate_marker(m, w, a, i):
    """Turn the acceleration bias of marker i into its acceleration."""
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
def contacts(m, w):
    """Gap, slip and normal force of every contact, and the rows of sticking ones.

    Both bodies are seen at the same place, the point of b's disc nearest to a:

        gap'  = n·(v_b - v_a)        v_t = tau·(v_b - v_a)
        v_t'  = tau·(a_b - a_a) + omega_a n·(v_mb - v_ma) + n' gap'
    """
    for k in range(m.n_contact):
        c = at(w.contact, CONTACT * k)
        contact(m, w, k, c)
        if m.contact_row[k] >= 0:
            contact_row(m, w, k, c)


@kernel
def contact(m, w, k, c):
    """Write the numbers of contact k; its markers have been moved."""
    if m.contact_kind[k] == PIN:
        turn_pin(m, w, k, c)
    else:
        touch(m, w, k, c)
    if k >= m.n_touch:
        # The load is a reaction: friction is linear in it.
        c[DRAG] = 0.0
        if m.contact_has_drag[k]:
            c[DRAG] = -friction_force(m, w, k, 0.0, c[V_T])
        c[PHI] = -friction_force(m, w, k, 1.0, c[V_T]) - c[DRAG]
        if w.slip[k] == HELD:
            c[LAM_T] = 0.0
        return
    c[FORCE] = 0.0
    if w.side[k] != OPEN:
        c[FORCE] = normal_force(m, w, k, c[GAP], c[GAP_RATE])
    c[LAM_N] = c[FORCE] if w.side[k] == PRESSING else 0.0
    if w.is_clamped:
        c[LAM_N] = max(0.0, c[FORCE]) if c[GAP] < 0.0 else 0.0
    c[LAM_T] = 0.0
    if w.side[k] == PRESSING or (w.is_clamped and c[LAM_N] > 0.0):
        c[LAM_T] = friction_force(m, w, k, c[LAM_N], c[V_T])


@kernel
def touch(m, w, k, c):
    """Write the geometry and rates of a disc against a surface."""
    a = at(w.motion, 9 * m.contact_a[k])
    b = at(w.motion, 9 * m.contact_b[k])
    call_shape(
        m.address[m.contact_shape[k]], at(m.par, m.contact_shape_par[k]), a, b, c
    )
    radius = m.contact_radius[k]
    c[GAP] -= radius
    nx, ny = c[N_X], c[N_Y]
    tx, ty = ny, -nx
    c[ARM] = b[0] - radius * nx - a[0]
    c[ARM_Y] = b[1] - radius * ny - a[1]
    dx, dy = b[3] - a[3], b[4] - a[4]
    wx = dx + b[5] * radius * ny + a[5] * c[ARM_Y]
    wy = dy - b[5] * radius * nx - a[5] * c[ARM]
    c[GAP_RATE] = nx * wx + ny * wy
    c[V_T] = tx * wx + ty * wy
    c[SLIP_BIAS] = a[5] * (nx * dx + ny * dy) + c[TURN] * c[GAP_RATE]


@kernel
def turn_pin(m, w, k, c):
    """Write the rates of a pin that turns in a hole: v_t = r (omega_b - omega_a)."""
    a = at(w.motion, 9 * m.contact_a[k])
    b = at(w.motion, 9 * m.contact_b[k])
    c[V_T] = m.contact_radius[k] * (b[5] - a[5])


@kernel
def friction_force(m, w, k, lam_n, v_t):
    """Return lam_t of a contact that its row does not hold, under a given load."""
    law, slip = m.contact_law[k], w.slip[k]
    if law == NONE:
        return 0.0
    p = at(m.par, m.contact_friction_par[k])
    address = m.address[m.contact_friction[k]]
    if law == SMOOTH:
        z = w.z[m.contact_state[k]] if m.contact_state[k] >= 0 else 0.0
        return call_smooth(address, p, lam_n, v_t, z)
    sign = 1.0 if slip > 0 else -1.0
    if abs(slip) == 1:
        return -sign * call_limit(address, p, lam_n, abs(v_t))
    if slip == STICK or slip == HELD:
        return 0.0
    part = w.part[m.contact_group[k]] if abs(slip) == FOLLOWING else 1.0
    return -sign * part * m.contact_mu0[k] * lam_n


@kernel
def states(m, w, v):
    """Take over the internal states of friction laws; they follow the velocities."""
    for i in range(m.n_state):
        w.z[i] = v[m.n_dof + i]


@kernel
def state_rates(m, w, rate):
    """Write the rates of the internal states; a contact without force keeps its."""
    for k in range(m.n_contact):
        i = m.contact_state[k]
        if i >= 0:
            rate[i] = 0.0
            if w.side[k] == PRESSING:
                c = at(w.contact, CONTACT * k)
                p = at(m.par, m.contact_friction_par[k])
                address = m.address[m.contact_rate[k]]
                rate[i] = call_smooth(address, p, c[LAM_N], c[V_T], w.z[i])


@kernel
def slip_scale(m, w, k):
    """Return the speeds that the slip velocity of contact k is the difference of.

    With a trace of the fastest body's, whose round-off a projection spreads.
    """
    c = at(w.contact, CONTACT * k)
    a = at(w.motion, 9 * m.contact_a[k])
    b = at(w.motion, 9 * m.contact_b[k])
    if m.contact_kind[k] == PIN:
        return m.contact_radius[k] * (abs(a[5]) + abs(b[5]) + SPREAD * w.spin)
    speed = math.hypot(a[3], a[4]) + math.hypot(b[3], b[4])
    speed += abs(a[5]) * math.hypot(c[ARM], c[ARM_Y])
    return speed + abs(b[5]) * m.contact_radius[k] + SPREAD * w.speed


@kernel
def normal_force(m, w, k, gap, gap_rate):
    """Return the normal law's value, not cut off at zero."""
    return call_normal(
        m.address[m.contact_normal[k]],
        at(m.par, m.contact_normal_par[k]),
        max(0.0, -gap),
        -gap_rate,
        w.approach[k],
    )


@kernel
def contact_block(m, k, c, G):
    """Write v_t's coefficients on the motions of markers a and b."""
    if m.contact_kind[k] == PIN:
        for i in range(6):
            G[i] = 0.0
        G[2] = -m.contact_radius[k]
        G[5] = m.contact_radius[k]
        return
    tx, ty = c[N_Y], -c[N_X]
    G[0] = -tx
    G[1] = -ty
    G[2] = -(c[ARM] * ty - c[ARM_Y] * tx)
    G[3] = tx
    G[4] = ty
    # (-r n) x tau = r
    G[5] = m.contact_radius[k]


@kernel
def contact_row(m, w, k, c):
    """Write the row v_t = hold of a sticking contact; another's was emptied before."""
    i = m.contact_row[k]
    if not w.is_active[i]:
        return
    w.g[i] = 0.0
    w.g_t[i] = -w.hold[k]
    w.bias[i] = c[SLIP_BIAS]
    contact_block(m, k, c, at(w.block, 9 * i + 3))
    for side in range(2):
        carry_row(m, w, i, side, m.contact_b[k] if side else m.contact_a[k])


@kernel
def push_contact(m, w, k, lam_n, lam_t):
    """Apply a contact's force to both bodies."""
    c = at(w.contact, CONTACT * k)
    fx = lam_n * c[N_X] + lam_t * c[N_Y]
    fy = lam_n * c[N_Y] - lam_t * c[N_X]
    wrench = stack_floats(3)
    wrench[0] = fx
    wrench[1] = fy
    wrench[2] = m.contact_radius[k] * lam_t
    push(m, w, m.contact_b[k], wrench, 1.0)
    wrench[2] = c[ARM] * fy - c[ARM_Y] * fx
    push(m, w, m.contact_a[k], wrench, -1.0)


@kernel
def push_friction(m, w, k, force):
    """Apply a friction force inside a joint to both bodies."""
    G = stack_floats(6)
    contact_block(m, k, at(w.contact, CONTACT * k), G)
    push(m, w, m.contact_a[k], G, force)
    push(m, w, m.contact_b[k], at(G, 3), force)


@kernel
def stick_forces(m, w):
    """Take the friction of sticking contacts from the reactions, also on supports."""
    for k in range(m.n_contact):
        i = m.contact_row[k]
        if i >= 0 and w.is_active[i]:
            w.contact[CONTACT * k + LAM_T] = w.lam[i]
            for side in range(2):
                marker = m.contact_b[k] if side else m.contact_a[k]
                if 3 * m.marker_body[marker] >= m.n_dof:
                    push(m, w, marker, at(w.block, 9 * i + 3 + 3 * side), w.lam[i])


@kernel
def slip_acceleration(m, w, k):
    """Return v_t' of contact k, the markers' accelerations being known."""
    c = at(w.contact, CONTACT * k)
    a = at(w.motion, 9 * m.contact_a[k] + 6)
    b = at(w.motion, 9 * m.contact_b[k] + 6)
    G = stack_floats(6)
    contact_block(m, k, c, G)
    total = c[SLIP_BIAS]
    for i in range(3):
        total += G[i] * a[i] + G[3 + i] * b[i]
    return total


@kernel
def gap_acceleration(m, w, k):
    """Return gap'' of contact k, the markers' accelerations being known.

    n·(a_b - a_a - alpha_a x arm) + omega_b r n' - omega_a (tau·(v_mb - v_ma) + r n')
        - n' v_t
    """
    c = at(w.contact, CONTACT * k)
    a = at(w.motion, 9 * m.contact_a[k])
    b = at(w.motion, 9 * m.contact_b[k])
    nx, ny = c[N_X], c[N_Y]
    r, turn = m.contact_radius[k], c[TURN]
    total = nx * (b[6] - a[6] + a[8] * c[ARM_Y]) + ny * (b[7] - a[7] - a[8] * c[ARM])
    along = ny * (b[3] - a[3]) - nx * (b[4] - a[4])
    return total + b[5] * r * turn - a[5] * (along + r * turn) - turn * c[V_T]


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
    for k in range(m.n_touch):
        if w.side[k] == PRESSING:
            c = at(w.contact, CONTACT * k)
            push_contact(m, w, k, c[LAM_N], c[LAM_T])
    for k in range(m.n_touch, m.n_contact):
        # What does not depend on the load; the rest is found with the reactions.
        drag = w.contact[CONTACT * k + DRAG]
        if drag != 0.0:
            push_friction(m, w, k, -drag)


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
    for k in range(m.n_contact):
        c = at(w.contact, CONTACT * k)
        power[m.contact_work[k]] = c[LAM_T] * c[V_T]
        if m.contact_normal_work[k] >= 0:
            power[m.contact_normal_work[k]] = c[LAM_N] * c[GAP_RATE]
    for k in range(m.n_support):
        if m.support_work[k] >= 0:
            total = 0.0
            for i in range(3):
                total -= w.load[3 * k + i] * w.support[9 * k + 3 + i]
            power[m.support_work[k]] = total
