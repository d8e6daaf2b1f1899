"""Contacts at one instant: gap, slip, forces, and the rows of those that stick.

Both bodies are seen at the same place, the point of b's disc nearest to a:

    gap'  = n·(v_b - v_a)        v_t = tau·(v_b - v_a)
    v_t'  = tau·(a_b - a_a) + omega_a n·(v_mb - v_ma) + n' gap'

That is a disc on a surface; pairs of outlines are in `flats`, patches of flexible
bodies in `patches`.
"""

import math

from nonsmooth.kernels.abi import (
    at,
    call_limit,
    call_normal,
    call_shape,
    call_smooth,
    kernel,
    stack_floats,
)
from nonsmooth.kernels.friction.modes import (
    HELD,
    OPEN,
    PRESSING,
    SLIP,
    STICK,
)
from nonsmooth.kernels.mechanics import bodies, flats, patches, segments
from nonsmooth.kernels.mechanics.tables import FLAT, NONE, PATCH, PIN, SMOOTH
from nonsmooth.kernels.tolerances import (
    FELT_FORCE,
    LOOK_AHEAD,
    LOOK_AHEAD_FLAT,
    MOVES,
    SMALLEST_FORCE,
    SPREAD,
)


@kernel
def contacts(m, w):
    """Gap, slip and normal force of every contact, and the rows of sticking ones."""
    for k in range(m.n_contact):
        contact(m, w, k)
        if m.contact_row[k] >= 0:
            contact_row(m, w, k)


@kernel
def contact(m, w, k):
    """Write the numbers of contact k; its markers have been moved."""
    c, mode = w.contact[k], w.mode[k]
    if m.contact_kind[k] == PIN:
        turn_pin(m, w, k)
    elif m.contact_kind[k] == PATCH:
        # Forces follow where they are applied.
        patches.clear_contact(w, k)
        if not w.is_blind:
            patches.press(m, w, k)
            patches.look(m, w, k)
        elif mode.side == PRESSING:
            patches.press(m, w, k)
        return
    elif m.contact_kind[k] == FLAT:
        flats.press(m, w, k)
    else:
        touch(m, w, k)
    if k >= m.n_touch:
        # The load is a reaction: friction is linear in it.
        c.drag = 0.0
        if m.contact_has_drag[k]:
            c.drag = -friction_force(m, w, k, 0.0, c.v_t)
        c.phi = -friction_force(m, w, k, 1.0, c.v_t) - c.drag
        if mode.grip == HELD:
            c.lam_t = 0.0
        return
    c.force = 0.0
    if mode.side != OPEN:
        c.force = law_force(m, w, k)
    c.lam_n = c.force if mode.side == PRESSING else 0.0
    if w.is_clamped:
        # Not max(): a NaN must come out.
        c.lam_n = 0.0 if c.gap >= 0.0 or c.force <= 0.0 else c.force
    c.lam_t = 0.0
    if mode.side == PRESSING or (w.is_clamped and c.lam_n > 0.0):
        c.lam_t = friction_force(m, w, k, c.lam_n, c.v_t)
        dry = 1.0 - wetted(m, k, c.lam_n)
        if dry > 0.0:
            c.lam_t -= dry * friction_force(m, w, k, 0.0, c.v_t)


@kernel
def cut_off(m, w):
    """Let no contact pull, at a state inside a step.

    Its velocities have the error of the step, by which a law that hardly presses any
    more may be past its release. To find where it is, a law may pull.
    """
    for k in range(m.n_touch):
        c = w.contact[k]
        if c.lam_n < 0.0:
            c.lam_n = 0.0
            c.lam_t = 0.0


@kernel
def wetted(m, k, lam_n):
    """Return the part of its drag, friction without a load, that a contact has.

    All of it from a trace of the weight on. Drag that jumps where a contact lets go has
    no motion where it lifts what then falls: it would let go and press without end.
    """
    if not m.contact_has_drag[k]:
        return 1.0
    return min(1.0, max(0.0, lam_n) / felt(m))


@kernel
def felt(m):
    """Return the load from which on a contact has its whole drag."""
    weight = m.weight_of_all if m.weight_of_all > 0.0 else m.moment
    return FELT_FORCE * weight


@kernel
def touch(m, w, k):
    """Write the geometry and rates of a disc against a surface."""
    a, b = w.motion[m.contact_a[k]], w.motion[m.contact_b[k]]
    c = w.contact[k]
    near = stack_floats(4)
    p = at(m.par, m.contact_shape_par[k])
    call_shape(m.address[m.contact_shape[k]], p, a, b, near)
    radius = m.contact_radius[k]
    if w.mode[k].is_behind:
        segments.turn_over(p, a, b, near)
    nx, ny = near[1], near[2]
    c.gap = near[0] - radius
    c.n_x = nx
    c.n_y = ny
    c.turn = near[3]
    tx, ty = ny, -nx
    c.arm_x = b[0] - radius * nx - a[0]
    c.arm_y = b[1] - radius * ny - a[1]
    dx, dy = b[3] - a[3], b[4] - a[4]
    wx = dx + b[5] * radius * ny + a[5] * c.arm_y
    wy = dy - b[5] * radius * nx - a[5] * c.arm_x
    c.gap_rate = nx * wx + ny * wy
    c.v_t = tx * wx + ty * wy
    c.slip_bias = a[5] * (nx * dx + ny * dy) + c.turn * c.gap_rate


@kernel
def turn_pin(m, w, k):
    """Write the rates of a pin that turns in a hole: v_t = r (omega_b - omega_a)."""
    a, b = w.motion[m.contact_a[k]], w.motion[m.contact_b[k]]
    w.contact[k].v_t = m.contact_radius[k] * (b[5] - a[5])


@kernel
def friction_force(m, w, k, lam_n, v_t):
    """Return lam_t of a contact that its row does not hold, under a given load."""
    law, mode = m.contact_law[k], w.mode[k]
    if law == NONE:
        return 0.0
    p = at(m.par, m.contact_friction_par[k])
    address = m.address[m.contact_friction[k]]
    if law == SMOOTH:
        z = w.z[m.contact_state[k]] if m.contact_state[k] >= 0 else 0.0
        return call_smooth(address, p, lam_n, v_t, z)
    if mode.grip == SLIP:
        return -mode.sign * call_limit(address, p, lam_n, abs(v_t))
    if mode.grip == STICK or mode.grip == HELD:
        return 0.0
    return -mode.sign * m.contact_mu0[k] * lam_n


@kernel
def signed_load(m, w, k):
    """Return the normal force of contact k, negative where its law would pull."""
    c = w.contact[k]
    if m.contact_kind[k] != FLAT or c.lam_n > 0.0:
        return c.lam_n
    return flats.pull(w.press[m.contact_flat[k]])


@kernel
def along_normal(c, x, y):
    """Return the size of the terms of a place along the normal of a contact."""
    return abs(c.n_x * x) + abs(c.n_y * y)


@kernel
def places(m, w, k, size):
    """Return the lengths that the gap of contact k is the difference of.

    The model's size, and how far both bodies are from the origin along the normal.
    """
    c = w.contact[k]
    a, b = w.motion[m.contact_a[k]], w.motion[m.contact_b[k]]
    return size + along_normal(c, a[0], a[1]) + along_normal(c, b[0], b[1])


@kernel
def own_weight(m, w, size, mass):
    """Return the scale of forces in a sticking contact: the weight of what it holds.

    That is of the mass which its friction moves. Among heavy bodies a light one has a
    scale of its own, down to what is round-off of theirs. A row that depends on others
    has no mass of its own.
    """
    weight = w.force * size * mass / m.moment
    return min(max(weight, FELT_FORCE * w.force), w.force) if weight > 0.0 else w.force


@kernel
def spared(weight, lam_n):
    """Return the friction that says nothing beside a load: it vanishes with the load.

    Beyond a release, where the law would pull, the limit is negative: a contact that
    holds anything breaks away before it lets go, and one that holds nothing does not.
    """
    return SMALLEST_FORCE * weight / (1.0 + max(0.0, lam_n) / (FELT_FORCE * weight))


@kernel
def law_force(m, w, k):
    """Return the force of the normal law at the present state, not cut off at zero."""
    if m.contact_kind[k] == FLAT:
        return w.press[m.contact_flat[k]].N
    if m.contact_kind[k] == PATCH:
        return w.contact[k].force
    return normal_force(m, w, k, w.contact[k].gap, w.contact[k].gap_rate)


@kernel
def normal_force(m, w, k, gap, gap_rate):
    """Return the law's value, of outlines on a full face; not cut off at zero."""
    return call_normal(
        m.address[m.contact_normal[k]],
        at(m.par, m.contact_normal_par[k]),
        max(0.0, -gap),
        -gap_rate,
        w.mode[k].approach,
    )


# ---- internal states of friction laws ------------------------------------------


@kernel
def states(m, w, v):
    """Take over the internal states of friction laws; they follow the velocities."""
    for i in range(m.n_state):
        w.z[i] = v[m.n_dof + i]


@kernel
def recall(m, w, y):
    """Take over what rough patches remember; it ends the state."""
    for i in range(m.n_history):
        w.history[i] = y[m.n_y - m.n_history + i]


@kernel
def state_rates(m, w, rate):
    """Write the rates of the internal states; a contact without force keeps its."""
    for k in range(m.n_contact if m.n_state > 0 else 0):
        i = m.contact_state[k]
        if i >= 0:
            rate[i] = 0.0
            if w.mode[k].side == PRESSING:
                c = w.contact[k]
                p = at(m.par, m.contact_friction_par[k])
                address = m.address[m.contact_rate[k]]
                rate[i] = call_smooth(address, p, c.lam_n, c.v_t, w.z[i])


@kernel
def state_decay(m, w):
    """Return the largest rate at which an internal state settles by itself, 1/s."""
    largest = 0.0
    for k in range(m.n_contact):
        i = m.contact_state[k]
        if i >= 0 and w.mode[k].side == PRESSING:
            c, scale = w.contact[k], m.state_scale[i]
            p = at(m.par, m.contact_friction_par[k])
            address = m.address[m.contact_rate[k]]
            rate = call_smooth(address, p, c.lam_n, c.v_t, w.z[i])
            moved = call_smooth(address, p, c.lam_n, c.v_t, w.z[i] + scale)
            largest = max(largest, abs(moved - rate) / scale)
    return largest


# ---- rows and forces -----------------------------------------------------------


@kernel
def coefficients(m, w, k, G):
    """Write v_t's coefficients on the motions of markers a and b."""
    if m.contact_kind[k] == PIN:
        for i in range(6):
            G[i] = 0.0
        G[2] = -m.contact_radius[k]
        G[5] = m.contact_radius[k]
        return
    c = w.contact[k]
    if m.contact_kind[k] == FLAT:
        flats.coefficients(c, w.press[m.contact_flat[k]], G)
        return
    tx, ty = c.n_y, -c.n_x
    G[0] = -tx
    G[1] = -ty
    G[2] = -(c.arm_x * ty - c.arm_y * tx)
    G[3] = tx
    G[4] = ty
    # (-r n) x tau = r
    G[5] = m.contact_radius[k]


@kernel
def contact_row(m, w, k):
    """Write the row v_t = drift of a sticking contact; another's was emptied before."""
    i = m.contact_row[k]
    if not w.is_active[i]:
        return
    w.g[i] = 0.0
    w.g_t[i] = -w.mode[k].drift
    w.bias[i] = w.contact[k].slip_bias
    coefficients(m, w, k, at(w.block[i], 3))
    carry_row(m, w, i, m.contact_a[k], m.contact_b[k])


@kernel
def carry_row(m, w, i, a, b):
    """Carry row i from its markers a and b to their bodies."""
    place = m.row_side[i]
    for side in range(2):
        marker = b if side else a
        G = at(w.block[i], 3 + 3 * side)
        motion = w.motion[marker]
        w.bias[i] += G[0] * motion[6] + G[1] * motion[7] + G[2] * motion[8]
        if place[side] >= 0:
            bodies.to_body(m, w, marker, G, at(w.J, place[2 + side]))
        else:
            w.g_t[i] += G[0] * motion[3] + G[1] * motion[4] + G[2] * motion[5]


@kernel
def push_contact(m, w, k, lam_n, lam_t):
    """Apply a contact's force to both bodies."""
    if m.contact_kind[k] == PATCH:
        patches.push(m, w, k)
        return
    c = w.contact[k]
    wrench = stack_floats(3)
    wrench[0] = lam_n * c.n_x + lam_t * c.n_y
    wrench[1] = lam_n * c.n_y - lam_t * c.n_x
    couple = 0.0
    if m.contact_kind[k] == FLAT:
        couple = flats.couple(c, w.press[m.contact_flat[k]], lam_n)
    wrench[2] = moment_on_b(m, w, k, lam_n, lam_t) + couple
    bodies.push(m, w, m.contact_b[k], wrench, 1.0)
    wrench[2] = moment_on_a(m, w, k, lam_n, lam_t) + couple
    bodies.push(m, w, m.contact_a[k], wrench, -1.0)


@kernel
def moment_on_b(m, w, k, lam_n, lam_t):
    """Return the moment about marker b of a force at the point of contact k."""
    if m.contact_kind[k] != FLAT:
        return m.contact_radius[k] * lam_t
    c, o = w.contact[k], w.press[m.contact_flat[k]]
    fx = lam_n * c.n_x + lam_t * c.n_y
    fy = lam_n * c.n_y - lam_t * c.n_x
    return (c.arm_x - o.D_x) * fy - (c.arm_y - o.D_y) * fx


@kernel
def moment_on_a(m, w, k, lam_n, lam_t):
    """Return the moment of the same force about marker a, where it acts reversed."""
    c = w.contact[k]
    fx = lam_n * c.n_x + lam_t * c.n_y
    fy = lam_n * c.n_y - lam_t * c.n_x
    return c.arm_x * fy - c.arm_y * fx


@kernel
def closing_power(m, w, k):
    """Return the power of the normal force of contact k on both bodies."""
    c = w.contact[k]
    if m.contact_kind[k] == FLAT:
        return flats.power(c, w.press[m.contact_flat[k]])
    return c.lam_n * c.gap_rate


@kernel
def normal_rate(m, w, k):
    """Return the velocity along the normal where the force of contact k acts."""
    if m.contact_kind[k] == FLAT:
        return w.press[m.contact_flat[k]].v_n
    return w.contact[k].gap_rate


@kernel
def push_friction(m, w, k, force):
    """Apply a friction force inside a joint to both bodies."""
    G = stack_floats(6)
    coefficients(m, w, k, G)
    bodies.push(m, w, m.contact_a[k], G, force)
    bodies.push(m, w, m.contact_b[k], at(G, 3), force)


@kernel
def stick_forces(m, w):
    """Take the friction of sticking contacts from the reactions, also on supports."""
    for k in range(m.n_contact if w.n_stuck > 0 else 0):
        i = m.contact_row[k]
        if i >= 0 and w.is_active[i]:
            w.contact[k].lam_t = w.lam[i]
            for side in range(2):
                marker = m.contact_b[k] if side else m.contact_a[k]
                if not bodies.is_moving(m, marker):
                    G = at(w.block[i], 3 + 3 * side)
                    bodies.push(m, w, marker, G, w.lam[i])


# ---- accelerations and scales --------------------------------------------------


@kernel
def is_tied(m, w, k):
    """Return whether others hold contact k as well as their rows are the same.

    Contacts between shapes with a band are each held at a slip of their own.
    """
    is_drifting = k < m.n_touch and m.contact_band[k] > 0.0
    return w.mode[k].is_tied and w.has_lost_rank and not is_drifting


@kernel
def slip_beyond(m, w, k):
    """Return the slip velocity of a contact that others hold, 1 where it moves."""
    least = max(MOVES * slip_scale(m, w, k), m.contact_band[k])
    return (w.contact[k].v_t - w.mode[k].drift) / least


@kernel
def slip_acceleration(m, w, k):
    """Return v_t' of contact k, the markers' accelerations being known."""
    a, b = at(w.motion[m.contact_a[k]], 6), at(w.motion[m.contact_b[k]], 6)
    G = stack_floats(6)
    coefficients(m, w, k, G)
    total = w.contact[k].slip_bias
    for i in range(3):
        total += G[i] * a[i] + G[3 + i] * b[i]
    return total


@kernel
def gap_acceleration(m, w, k):
    """Return gap'' of contact k, the markers' accelerations being known.

    n·(a_b - a_a - alpha_a x arm) + omega_b r n' - omega_a (tau·(v_mb - v_ma) + r n')
        - n' v_t
    """
    if m.contact_kind[k] == FLAT:
        return flats.gap_acceleration(m, w, k)
    c = w.contact[k]
    a, b = w.motion[m.contact_a[k]], w.motion[m.contact_b[k]]
    nx, ny = c.n_x, c.n_y
    r, turn = m.contact_radius[k], c.turn
    total = nx * (b[6] - a[6] + a[8] * c.arm_y) + ny * (b[7] - a[7] - a[8] * c.arm_x)
    along = ny * (b[3] - a[3]) - nx * (b[4] - a[4])
    return total + b[5] * r * turn - a[5] * (along + r * turn) - turn * c.v_t


@kernel
def slip_scale(m, w, k):
    """Return the speeds that the slip velocity of contact k is the difference of.

    With a trace of the fastest body's, whose round-off a projection spreads.
    """
    a, b = w.motion[m.contact_a[k]], w.motion[m.contact_b[k]]
    if m.contact_kind[k] == PIN:
        return m.contact_radius[k] * (abs(a[5]) + abs(b[5]) + SPREAD * w.spin)
    if m.contact_kind[k] == FLAT:
        return flats.slip_scale(m, w, k)
    c = w.contact[k]
    speed = math.hypot(a[3], a[4]) + math.hypot(b[3], b[4])
    speed += abs(a[5]) * math.hypot(c.arm_x, c.arm_y)
    return speed + abs(b[5]) * m.contact_radius[k] + SPREAD * w.speed


@kernel
def look_ahead(m, k):
    """Return how far contact k is followed before its friction is decided."""
    return LOOK_AHEAD_FLAT if m.contact_kind[k] == FLAT else LOOK_AHEAD


# ---- which rows constrain ------------------------------------------------------


@kernel
def has_friction(m, k):
    """Return whether contact k can stick."""
    return m.contact_row[k] >= 0


@kernel
def set_active(m, w, i, is_active):
    """Make the row of a contact constrain, or empty."""
    w.n_stuck += (1 if is_active else 0) - w.is_active[i]
    w.is_active[i] = 1 if is_active else 0
    w.first[i] = m.first[i] if is_active else i
    if not is_active:
        w.g[i] = 0.0
        w.g_t[i] = 0.0
        w.bias[i] = 0.0
        w.lam[i] = 0.0
        w.x[i] = 0.0
        for side in range(2):
            J = at(w.J, m.row_side[i][2 + side])
            for j in range(m.row_n[i][side]):
                J[j] = 0.0
    w.n_active = m.n_row
    while w.n_active > 0 and not w.is_active[w.n_active - 1]:
        w.n_active -= 1


@kernel
def show(m, w, k):
    """Write what only results need of contact k."""
    if m.contact_kind[k] == FLAT:
        flats.show(m, w, k)
        return
    if m.contact_kind[k] == PATCH:
        patches.show(m, w, k)
        return
    mode = w.mode[k]
    if mode.side == OPEN and segments.is_seen_wrong(m, w, k):
        # Between two nodes of a step, far away, it has passed below a segment.
        mode.is_behind = 1 - mode.is_behind
        touch(m, w, k)
    a, c = w.motion[m.contact_a[k]], w.contact[k]
    c.point_x = a[0] + c.arm_x
    c.point_y = a[1] + c.arm_y


@kernel
def copy_contact(a, b):
    """Make contact b equal to contact a."""
    b.gap = a.gap
    b.n_x = a.n_x
    b.n_y = a.n_y
    b.turn = a.turn
    b.gap_rate = a.gap_rate
    b.v_t = a.v_t
    b.force = a.force
    b.lam_n = a.lam_n
    b.lam_t = a.lam_t
    b.arm_x = a.arm_x
    b.arm_y = a.arm_y
    b.slip_bias = a.slip_bias
    b.phi = a.phi
    b.drag = a.drag
    b.front = a.front
    b.rear = a.rear
    b.point_x = a.point_x
    b.point_y = a.point_y
    b.width = a.width
    b.n_closed = a.n_closed
    b.n_stuck = a.n_stuck
    b.stored = a.stored
