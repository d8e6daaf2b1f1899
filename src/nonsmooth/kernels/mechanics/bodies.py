"""Bodies behind a waist: the one module that knows how many coordinates a body has.

Joints, forces and contacts see markers; the linear problem sees rows. What lies between
is here. A body with mass has the coordinates (x, y, theta) of its frame, whose origin
is the mass centre; then those of its own, its tail, if it has any. With a tail eta

    p = c + R r(eta)        theta_p = theta + psi(eta)             a marker
    T = 1/2 m |c'|^2 + 1/2 J w^2 + w h.eta' + 1/2 eta'.D eta'      J(eta), h(eta)

so that its mass is an arrow. With g = D^-1 h

    alpha = (t - g.f) / (J - h.g)        eta'' = D^-1 f - g alpha

and elimination stays diagonal if the coefficient of theta in each row is replaced by
J_theta - g.J_eta, with weights 1/m, 1/m, 1/(J - h.g), 1/D. Rows are kept so, reduced.

A kind with a tail supplies three functions of its coordinates q = (x, y, theta, eta):

    weigh(p, q, out)        J, then h, then what `inner` wants to know of it
    inner(p, q, v, out)     its generalised force, gyroscopic, elastic, damping; then
                            its potential, and the power of what has none; what
                            `weigh` wrote at the same coordinates follows
    place(p, s, q, v, out)  of the marker s: r, psi; their second derivatives without
                            eta''; then d(r, psi)/d(eta_j) for each j

Prescribed bodies, supports and the ground, have no coordinates: what is done to them is
their load.
"""

import math

from nonsmooth.kernels.abi import (
    FLOATS,
    INTEGER,
    NUMBER,
    at,
    call_inner,
    call_law,
    call_place,
    call_weigh,
    far,
    kernel,
)
from nonsmooth.kernels.linear import products
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.tolerances import TINY

WEIGH, INNER, PLACE = 0, 1, 2


# ---- tails ---------------------------------------------------------------------


@kernel
def has_any(n, x):
    """Return 1 if one of n numbers is not zero, else 0."""
    for j in range(n):
        if x[j] != 0.0:
            return 1
    return 0


@far(Tables, Work, FLOATS, INTEGER)
def weigh_tail(m, w, q, k):
    """Write the inertia of body k and the coupling of its tail."""
    i, dof = m.body_tail[k], m.body_dof[k]
    out = at(w.inner[i], m.body_n[k] + 2)
    call_weigh(
        m.address[m.tail_kind[i][WEIGH]], at(m.par, m.tail_par[i]), at(q, dof), out
    )
    w.inertia[i] = out[0]
    inertia = out[0]
    h, minv, couple = at(out, 1), at(m.minv, dof + 3), at(w.couple, dof + 3)
    n = m.body_n[k] - 3
    w.is_coupled[i] = has_any(n, h)
    for j in range(n):
        couple[j] = minv[j] * h[j]
    if w.is_coupled[i]:
        inertia -= products.dot(n, couple, h)
    w.minv[dof + 2] = 1.0 / inertia if m.minv[dof + 2] > 0.0 else 0.0


@far(Tables, Work, FLOATS, FLOATS, INTEGER)
def place_marker(m, w, q, v, i):
    """Write marker i in the frame of its body, which has a tail, to `local`."""
    k = m.marker_body[i]
    t, dof = m.body_tail[k], m.body_dof[k]
    call_place(
        m.address[m.tail_kind[t][PLACE]],
        at(m.par, m.tail_par[t]),
        at(m.par, m.marker_par[i]),
        at(q, dof),
        at(v, dof),
        w.local,
    )
    if m.n_patch > 0:
        # Nodes of patches need more of their body than its markers tell.
        for part in range(2):
            of, own = q if part == 0 else v, at(w.coordinate, part * m.n_dof)
            for j in range(dof, dof + m.body_n[k]):
                own[j] = of[j]


@far(Tables, Work, FLOATS, INTEGER)
def bend_marker(m, w, v, i):
    """Add the part of its body's tail to the motion of marker i, given in `local`."""
    k = m.marker_body[i]
    dof = m.body_dof[k]
    turn, motion, local = w.turn[k], w.motion[i], w.local
    c, s = turn[0], turn[1]
    omega = v[dof + 2]
    vx, vy, spin = 0.0, 0.0, 0.0
    motion[2] += local[2]
    rate, change, shape = at(v, dof + 3), at(local, 6), at(w.shape, m.marker_shape[i])
    for j in range(m.body_n[k] - 3):
        dx = c * change[3 * j] - s * change[3 * j + 1]
        dy = s * change[3 * j] + c * change[3 * j + 1]
        turned = change[3 * j + 2]
        shape[3 * j] = dx
        shape[3 * j + 1] = dy
        shape[3 * j + 2] = turned
        vx += dx * rate[j]
        vy += dy * rate[j]
        spin += turned * rate[j]
    motion[3] += vx
    motion[4] += vy
    motion[5] += spin
    motion[6] += c * local[3] - s * local[4] - 2.0 * omega * vy
    motion[7] += s * local[3] + c * local[4] + 2.0 * omega * vx
    motion[8] += local[5]


@kernel
def width(m, dof):
    """Return how many coordinates the body has whose first is `dof`."""
    return m.body_n[m.dof_body[dof]]


@far(Tables, Work, FLOATS, INTEGER)
def accelerate_tail(m, w, a, i):
    """Add the part of its body's tail to the acceleration of marker i."""
    k = m.marker_body[i]
    motion, tail = w.motion[i], at(a, m.body_dof[k] + 3)
    shape = at(w.shape, m.marker_shape[i])
    x, y, alpha = 0.0, 0.0, 0.0
    for j in range(m.body_n[k] - 3):
        x += shape[3 * j] * tail[j]
        y += shape[3 * j + 1] * tail[j]
        alpha += shape[3 * j + 2] * tail[j]
    motion[6] += x
    motion[7] += y
    motion[8] += alpha


@far(Tables, Work, INTEGER, FLOATS, FLOATS)
def to_tail(m, w, marker, G, J):
    """Write a row's coefficients on a tail, and reduce that of the rotation."""
    k = m.marker_body[marker]
    for j in range(3, m.body_n[k]):
        shape = at(w.shape, m.marker_shape[marker] + 3 * (j - 3))
        J[j] = G[0] * shape[0] + G[1] * shape[1] + G[2] * shape[2]
        J[2] -= w.couple[m.body_dof[k] + j] * J[j]


@far(Tables, Work, INTEGER, FLOATS, FLOATS, returns=NUMBER)
def from_tail(m, w, marker, G, a):
    """Return G times the motion of a marker due to rates of its tail."""
    k = m.marker_body[marker]
    total = 0.0
    for j in range(3, m.body_n[k]):
        shape = at(w.shape, m.marker_shape[marker] + 3 * (j - 3))
        rate = a[m.body_dof[k] + j]
        total += rate * (G[0] * shape[0] + G[1] * shape[1] + G[2] * shape[2])
    return total


@far(Tables, Work, INTEGER, FLOATS, NUMBER, FLOATS)
def push_tail(m, w, marker, wrench, factor, f):
    """Add factor times a wrench at a marker to the forces on its tail."""
    k = m.marker_body[marker]
    for j in range(3, m.body_n[k]):
        shape = at(w.shape, m.marker_shape[marker] + 3 * (j - 3))
        for c in range(3):
            f[m.body_dof[k] + j] += factor * wrench[c] * shape[c]


@far(Tables, Work, INTEGER, FLOATS, FLOATS, returns=NUMBER)
def meet_tail(m, w, dof, A, B):
    """Return the part of tails in A M^-1 B^T."""
    c, total = at(w.minv, dof), 0.0
    for j in range(3, width(m, dof)):
        total += A[j] * c[j] * B[j]
    return total


@far(Tables, Work, INTEGER, FLOATS, FLOATS, returns=NUMBER)
def dot_tail(m, w, dof, J, v):
    """Return the part of a tail in J v."""
    total = 0.0
    for j in range(3, width(m, dof)):
        total += J[j] * (v[dof + j] + w.couple[dof + j] * v[dof + 2])
    return total


@far(Tables, Work, INTEGER, FLOATS, NUMBER, FLOATS)
def add_tail(m, w, dof, J, factor, out):
    """Add the part of a tail in J^T factor."""
    for j in range(3, width(m, dof)):
        out[dof + j] += J[j] * factor
        out[dof + 2] += w.couple[dof + j] * J[j] * factor


@far(Tables, Work, INTEGER, FLOATS, NUMBER, NUMBER, FLOATS)
def respond_tail(m, w, dof, J, factor, alpha, a):
    """Add the part of a tail in M^-1 J^T factor; alpha is that of the rotation."""
    for j in range(3, width(m, dof)):
        a[dof + j] += w.minv[dof + j] * factor * J[j] - w.couple[dof + j] * alpha


# ---- motion: from coordinates to markers ---------------------------------------


@kernel
def time_laws(m, w, t):
    """Evaluate every time law: value, rate, acceleration."""
    for k in range(m.n_law):
        time_law(m, w, t, k)


@kernel
def time_law(m, w, t, k):
    """Evaluate time law k."""
    call_law(m.address[m.law_kind[k]], at(m.par, m.law_par[k]), t, w.law[k])


@kernel
def supports(m, w):
    """Copy the laws of the supports into pose, rate and acceleration."""
    for k in range(m.n_support):
        move_support(m, w, k)


@kernel
def move_support(m, w, k):
    """Copy the laws of support k into pose, rate and acceleration."""
    first = m.support_law[k]
    support = w.support[k]
    for i in range(3):
        for order in range(3):
            value = 0.0
            if first >= 0:
                value = w.law[first + i][order]
            support[3 * order + i] = value


@kernel
def is_moving(m, marker):
    """Return whether a marker's body has coordinates."""
    return m.body_dof[m.marker_body[marker]] >= 0


@kernel
def place(m, w, t, y):
    """Move supports and markers to the state y at t."""
    time_laws(m, w, t)
    supports(m, w)
    markers(m, w, y, at(y, m.n_dof))


@kernel
def markers(m, w, q, v):
    """Pose, rate and acceleration bias of every marker.

        p = c + R(theta) s     p' = c' + omega x r     p'' = c'' + alpha x r - omega² r

    The bias of a marker on a prescribed body is its whole acceleration. Markers on
    tails that nothing asks for are left out.
    """
    for k in range(m.n_body):
        turn_body(m, w, q, k)
    for i in range(m.n_marker):
        if m.marker_use[i] >= w.least_use:
            move_marker(m, w, q, v, i)


@kernel
def turn_body(m, w, q, k):
    """Write cosine and sine of the angle of body k, and the inertia of its tail."""
    dof = m.body_dof[k]
    theta = q[dof + 2] if dof >= 0 else w.support[m.body_support[k]][2]
    turn = w.turn[k]
    turn[0] = math.cos(theta)
    turn[1] = math.sin(theta)
    if m.n_tail > 0 and m.body_tail[k] >= 0:
        weigh_tail(m, w, q, k)


@kernel
def move_marker(m, w, q, v, i):
    """Write the motion of marker i; its body has been turned."""
    k = m.marker_body[i]
    dof = m.body_dof[k]
    turn, arm, motion = w.turn[k], w.arm[i], w.motion[i]
    c, s = turn[0], turn[1]
    x, y = m.marker_x[i], m.marker_y[i]
    has_tail = m.n_tail > 0 and m.body_tail[k] >= 0
    if has_tail:
        place_marker(m, w, q, v, i)
        x, y = w.local[0], w.local[1]
    rx = c * x - s * y
    ry = s * x + c * y
    arm[0] = rx
    arm[1] = ry
    if dof >= 0:
        omega = v[dof + 2]
        motion[0] = q[dof] + rx
        motion[1] = q[dof + 1] + ry
        motion[2] = q[dof + 2]
        motion[3] = v[dof] - omega * ry
        motion[4] = v[dof + 1] + omega * rx
        motion[5] = omega
        motion[6] = -omega * omega * rx
        motion[7] = -omega * omega * ry
        motion[8] = 0.0
        if has_tail:
            bend_marker(m, w, v, i)
    else:
        b = w.support[m.body_support[k]]
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
        if m.marker_use[i] >= w.least_use:
            accelerate_marker(m, w, a, i)


@kernel
def accelerate_marker(m, w, a, i):
    """Turn the acceleration bias of marker i into its acceleration."""
    k = m.marker_body[i]
    dof = m.body_dof[k]
    if dof < 0:
        return
    motion, arm = w.motion[i], w.arm[i]
    alpha = a[dof + 2]
    motion[6] += a[dof] - alpha * arm[1]
    motion[7] += a[dof + 1] + alpha * arm[0]
    motion[8] += alpha
    if m.n_tail > 0:
        accelerate_tail(m, w, a, i)


# ---- forces: from markers to coordinates ---------------------------------------


@kernel
def to_body(m, w, marker, G, J):
    """Write the row of coefficients G on a marker as a reduced one on its body."""
    arm = w.arm[marker]
    J[0] = G[0]
    J[1] = G[1]
    J[2] = G[2] - G[0] * arm[1] + G[1] * arm[0]
    if m.n_tail > 0:
        to_tail(m, w, marker, G, J)


@kernel
def from_body(m, w, marker, G, a):
    """Return G times the motion of a marker due to rates a of its coordinates."""
    dof = m.body_dof[m.marker_body[marker]]
    if dof < 0:
        return 0.0
    arm = w.arm[marker]
    total = G[0] * a[dof] + G[1] * a[dof + 1]
    total += a[dof + 2] * (G[2] - G[0] * arm[1] + G[1] * arm[0])
    if m.n_tail > 0:
        total += from_tail(m, w, marker, G, a)
    return total


@kernel
def add_wrench(m, w, marker, wrench, factor, f):
    """Add factor times a wrench at a marker to a generalised force."""
    dof = m.body_dof[m.marker_body[marker]]
    if dof < 0:
        return
    add_at_origin(w, marker, wrench, factor, at(f, dof))
    if m.n_tail > 0:
        push_tail(m, w, marker, wrench, factor, f)


@kernel
def add_at_origin(w, marker, wrench, factor, target):
    """Add factor times a wrench at a marker, moved to its body's origin."""
    arm = w.arm[marker]
    fx, fy = factor * wrench[0], factor * wrench[1]
    target[0] += fx
    target[1] += fy
    target[2] += factor * wrench[2] + arm[0] * fy - arm[1] * fx


@kernel
def push(m, w, marker, wrench, factor):
    """Add factor times a wrench at a marker to its body's force or load."""
    k = m.marker_body[marker]
    dof = m.body_dof[k]
    target = at(w.f, dof) if dof >= 0 else w.load[m.body_support[k]]
    add_at_origin(w, marker, wrench, factor, target)
    if m.n_tail > 0:
        push_tail(m, w, marker, wrench, factor, w.f)


@kernel
def inner_forces(m, w, q, v):
    """Evaluate what tails exert on their bodies."""
    for i in range(m.n_tail):
        dof = m.body_dof[m.tail_body[i]]
        address = m.address[m.tail_kind[i][INNER]]
        p = at(m.par, m.tail_par[i])
        call_inner(address, p, at(q, dof), at(v, dof), w.inner[i])


@kernel
def body_forces(m, w):
    """Begin the applied force with gravity and what tails exert; no loads yet."""
    f, weight = w.f, m.weight
    for i in range(m.n_dof):
        f[i] = weight[i]
    for k in range(m.n_support):
        load = w.load[k]
        for i in range(3):
            load[i] = 0.0
    for i in range(m.n_tail):
        k = m.tail_body[i]
        inner, f = w.inner[i], at(w.f, m.body_dof[k])
        for j in range(m.body_n[k]):
            f[j] += inner[j]


# ---- mass ----------------------------------------------------------------------


@kernel
def solve_mass(m, w, f, x):
    """Write the accelerations x that a generalised force f causes alone."""
    minv = w.minv
    for i in range(m.n_dof):
        x[i] = minv[i] * f[i]
    if m.n_tail > 0:
        solve_tails(m, w, x)


@far(Tables, Work, FLOATS)
def solve_tails(m, w, x):
    """Correct accelerations for the coupling of tails with their rotation."""
    for i in range(m.n_tail):
        if not w.is_coupled[i]:
            continue
        k = m.tail_body[i]
        dof = m.body_dof[k]
        couple, mass, tail = at(w.couple, dof + 3), at(m.mass, dof + 3), at(x, dof + 3)
        n, total = m.body_n[k] - 3, 0.0
        for j in range(n):
            # x holds f / D here: g.f = h.x
            total += couple[j] * mass[j] * tail[j]
        x[dof + 2] -= w.minv[dof + 2] * total
        alpha = x[dof + 2]
        for j in range(n):
            tail[j] -= couple[j] * alpha


@kernel
def inner(m, w, u, v):
    """Return u' M v; tails have been weighed."""
    total = 0.0
    for i in range(m.n_dof):
        total += m.mass[i] * u[i] * v[i]
    for i in range(m.n_tail):
        k = m.tail_body[i]
        dof = m.body_dof[k]
        turn = dof + 2
        total += (w.inertia[i] - m.mass[turn]) * u[turn] * v[turn]
        for j in range(dof + 3, dof + m.body_n[k]):
            both = u[turn] * v[j] + v[turn] * u[j]
            total += m.mass[j] * w.couple[j] * both
    return total


@kernel
def kinetic_energy(m, w, v):
    """Return it at velocities v; tails have been weighed."""
    return 0.5 * inner(m, w, v, v)


# ---- reduced rows --------------------------------------------------------------


@kernel
def meet(m, w, dof, A, B):
    """Return A M^-1 B^T of two reduced rows on one body."""
    c = at(w.minv, dof)
    total = A[0] * c[0] * B[0] + A[1] * c[1] * B[1] + A[2] * c[2] * B[2]
    return total + meet_tail(m, w, dof, A, B) if m.n_tail > 0 else total


@kernel
def dot(m, w, dof, J, v):
    """Return J v of a reduced row on one body."""
    total = J[0] * v[dof] + J[1] * v[dof + 1] + J[2] * v[dof + 2]
    return total + dot_tail(m, w, dof, J, v) if m.n_tail > 0 else total


@kernel
def add_row(m, w, dof, J, factor, out):
    """Add J^T factor of a reduced row to a generalised force."""
    out[dof] += J[0] * factor
    out[dof + 1] += J[1] * factor
    out[dof + 2] += J[2] * factor
    if m.n_tail > 0:
        add_tail(m, w, dof, J, factor, out)


@kernel
def add_response(m, w, dof, J, factor, a):
    """Add M^-1 J^T factor of a reduced row to accelerations."""
    alpha = w.minv[dof + 2] * factor * J[2]
    a[dof] += w.minv[dof] * factor * J[0]
    a[dof + 1] += w.minv[dof + 1] * factor * J[1]
    a[dof + 2] += alpha
    if m.n_tail > 0:
        respond_tail(m, w, dof, J, factor, alpha, a)


# ---- sizes of things -----------------------------------------------------------


@kernel
def speed_of(m, k, v):
    """Return the speed of body k, m/s, with that of its tail."""
    dof = m.body_dof[k]
    speed = math.hypot(v[dof], v[dof + 1])
    for j in range(3, m.body_n[k]):
        speed = max(speed, abs(v[dof + j]) * m.scale[dof] / m.scale[dof + j])
    return speed


@kernel
def fastest_turn(m, v):
    """Return the fastest rotation of a body, rad/s, and never zero."""
    spin = TINY
    for k in range(m.n_moving):
        spin = max(spin, abs(v[m.body_dof[k] + 2]))
    return spin


@kernel
def set_tolerances(m, atol, rtol, y, y1, tol):
    """Write the admissible error of each coordinate and rate; return the energy.

    Positions are measured against the size of the model and angles against one
    radian, so that the result does not depend on where the origin is or how often
    a rotor has turned; velocities against the body's own speed.
    """
    n = m.n_dof
    energy = 0.0
    for k in range(m.n_moving):
        dof = m.body_dof[k]
        v, v1 = at(y, n), at(y1, n)
        speed = max(speed_of(m, k, v), speed_of(m, k, v1))
        spin = max(abs(v[dof + 2]), abs(v1[dof + 2]))
        tol[dof] = atol + rtol * m.scale[dof]
        tol[dof + 1] = tol[dof]
        tol[dof + 2] = atol + rtol * m.scale[dof + 2]
        tol[n + dof] = atol + rtol * speed
        tol[n + dof + 1] = tol[n + dof]
        tol[n + dof + 2] = atol + rtol * spin
        for j in range(dof + 3, dof + m.body_n[k]):
            ratio = m.scale[j] / m.scale[dof]
            tol[j] = atol * ratio + rtol * m.scale[j]
            tol[n + j] = tol[n + dof] * ratio
        energy += 0.5 * (m.mass[dof] * speed * speed + m.mass[dof + 2] * spin * spin)
    return energy
