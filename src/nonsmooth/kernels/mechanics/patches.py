"""Patches of flexible bodies in contact: forces of nodes that keep gaps from closing.

A patch on b meets a surface on a, or a polyline, the patch of another flexible body.
Its nodes have no mass: beyond the shapes they answer at once, by their flexibility G.
With the gaps g of the shapes alone, the forces are a function of the state,

    0 <= lam  _|_  g + (N'G N + 1/k) lam >= 0        G = G_b + W G_a W'

with the normals N, the parts W = (1 - xi, xi) of a node in the segment it meets, and
the stiffness k of a penalty, if there is one. Patches with friction are in `rough`. See
docs/theory/flexible.md.

A patch as parameters, of n nodes, nm shapes and nr patterns, in the axes of its body:

    n, nm, nr; s_x, s_y (n), nodes from the patch's centre
    U_x, U_y (nr, 2, n); V (nr, nm)            shapes less those of the centre: U'V
    turn (nm); G_xx, G_xy, G_yx, G_yy (n, n), along x by forces along x, ...; 1/k (n)

All shapes together move the nodes of a small patch in a few patterns only.

Places and forces are in `Work.node`: those of b's patch, of a's, then of the pair.
"""

import math

from nonsmooth.kernels.abi import (
    INTEGER,
    at,
    call_shape,
    far,
    kernel,
    stack_floats,
)
from nonsmooth.kernels.friction.modes import PRESSING
from nonsmooth.kernels.linear.products import dot
from nonsmooth.kernels.mechanics import bodies, polylines, rough
from nonsmooth.kernels.mechanics.nodes import (
    A_X,
    A_Y,
    AT_X,
    AT_Y,
    B_X,
    B_Y,
    CLOSED,
    F_X,
    F_Y,
    FAILED,
    FRONT,
    GAP,
    GIVE_X,
    GIVE_Y,
    HEAD,
    HISTORY,
    LAM,
    LAM_T,
    MARK,
    N_MARK,
    N_X,
    N_Y,
    NEAREST,
    OF_A,
    OF_B,
    SEGMENT,
    XI,
    X,
    Y,
    give_way,
    n_of,
    pair_of,
    part_a,
    part_b,
    parts_of,
    patterns_of,
    solve,
    turn_of,
)
from nonsmooth.kernels.mechanics.tables import Tables, Work

# ---- where things are ----------------------------------------------------------


@kernel
def place_nodes(m, w, marker, p, out):
    """Write the places of a patch's nodes; its marker has been moved.

    r_i = r_c + D_i eta + R(psi) s - psi E s        psi = turn.eta
    """
    n, nm, nr = int(p[0]), int(p[1]), int(p[2])
    body = m.marker_body[marker]
    eta = at(w.coordinate, m.body_dof[body] + 3)
    psi = dot(nm, turn_of(p, n, nm, nr), eta)
    c, s = math.cos(psi), math.sin(psi) - psi
    # y follows x, in the patterns too.
    x, y = at(out, X * n), at(out, Y * n)
    s_x, s_y = at(p, HEAD), at(p, HEAD + n)
    for i in range(n):
        x[i] = c * s_x[i] - s * s_y[i]
        y[i] = s * s_x[i] + c * s_y[i]
    U, V = patterns_of(p, n), parts_of(p, n, nr)
    for j in range(nr):
        pattern, value = at(U, 2 * n * j), dot(nm, at(V, nm * j), eta)
        for i in range(2 * n):
            x[i] += value * pattern[i]
    motion = w.motion[marker]
    c, s = w.turn[body][0], w.turn[body][1]
    to_x, to_y = at(out, AT_X * n), at(out, AT_Y * n)
    for i in range(n):
        to_x[i] = motion[0] + c * x[i] - s * y[i]
        to_y[i] = motion[1] + s * x[i] + c * y[i]


@kernel
def node_rate(m, w, marker, p, part, i, out):
    """Write the velocity of node i of a patch."""
    n, nm, nr = int(p[0]), int(p[1]), int(p[2])
    body = m.marker_body[marker]
    dof = m.body_dof[body]
    eta, rate = at(w.coordinate, dof + 3), at(w.coordinate, m.n_dof + dof + 3)
    omega = w.coordinate[m.n_dof + dof + 2]
    turn = turn_of(p, n, nm, nr)
    psi, spin, v_x, v_y = dot(nm, turn, eta), dot(nm, turn, rate), 0.0, 0.0
    U, V = patterns_of(p, n), parts_of(p, n, nr)
    for j in range(nr):
        pattern, value = at(U, 2 * n * j), dot(nm, at(V, nm * j), rate)
        v_x += value * pattern[i]
        v_y += value * pattern[n + i]
    c, s = math.cos(psi) - 1.0, math.sin(psi)
    s_x, s_y = p[HEAD + i], p[HEAD + n + i]
    v_x -= spin * (s * s_x + c * s_y)
    v_y += spin * (c * s_x - s * s_y)
    motion = w.motion[marker]
    c, s = w.turn[body][0], w.turn[body][1]
    out[0] = motion[3] + c * v_x - s * v_y - omega * (part[AT_Y * n + i] - motion[1])
    out[1] = motion[4] + s * v_x + c * v_y + omega * (part[AT_X * n + i] - motion[0])


@kernel
def relative_rate(m, w, k, i, out):
    """Write the velocity of node i of b less that of what it meets on a."""
    p = at(m.par, m.contact_patch[k][OF_B])
    n = n_of(p)
    part, pair = part_b(m, w, k), pair_of(m, w, k, n)
    node_rate(m, w, m.contact_b[k], p, part, i, out)
    marker, at_a = m.contact_a[k], m.contact_patch[k][OF_A]
    if at_a < 0:
        a = w.motion[marker]
        out[0] -= a[3] - a[5] * (part[AT_Y * n + i] - a[1])
        out[1] -= a[4] + a[5] * (part[AT_X * n + i] - a[0])
        return
    j = w.node_mark[m.contact_patch[k][MARK] + SEGMENT * n + i]
    if j < 0:
        return
    other = stack_floats(2)
    xi = pair[XI * n + i]
    for end in range(2):
        weight = xi if end else 1.0 - xi
        node_rate(m, w, marker, at(m.par, at_a), part_a(m, w, k, n), j + end, other)
        out[0] -= weight * other[0]
        out[1] -= weight * other[1]


# ---- gaps ----------------------------------------------------------------------


@kernel
def gaps_to_surface(m, w, k, n, part, pair):
    """Write gaps and normals of nodes against a surface."""
    near, node = stack_floats(4), stack_floats(9)
    for i in range(9):
        node[i] = 0.0
    shape = m.address[m.contact_shape[k]]
    p, a = at(m.par, m.contact_shape_par[k]), w.motion[m.contact_a[k]]
    for i in range(n):
        node[0] = part[AT_X * n + i]
        node[1] = part[AT_Y * n + i]
        call_shape(shape, p, a, node, near)
        pair[GAP * n + i] = near[0]
        pair[N_X * n + i] = near[1]
        pair[N_Y * n + i] = near[2]


@kernel
def turn_normals(w, body, n, pair, to_x, to_y):
    """Write the normals in the axes of a body."""
    c, s = w.turn[body][0], w.turn[body][1]
    for i in range(n):
        n_x, n_y = pair[N_X * n + i], pair[N_Y * n + i]
        pair[to_x * n + i] = c * n_x + s * n_y
        pair[to_y * n + i] = c * n_y - s * n_x


@far(Tables, Work, INTEGER)
def press(m, w, k):
    """Write the gaps of contact k; its markers have been moved.

    The forces are found where they are applied: guards do without.
    """
    p = at(m.par, m.contact_patch[k][OF_B])
    n = n_of(p)
    part, pair = part_b(m, w, k), pair_of(m, w, k, n)
    place_nodes(m, w, m.contact_b[k], p, part)
    if m.contact_patch[k][OF_A] >= 0:
        q = at(m.par, m.contact_patch[k][OF_A])
        place_nodes(m, w, m.contact_a[k], q, part_a(m, w, k, n))
        polylines.write_gaps(m, w, k, n, part, pair)
    else:
        gaps_to_surface(m, w, k, n, part, pair)


@far(Tables, Work, INTEGER)
def look(m, w, k):
    """Write what contact k is seen as: its nearest node, whose gap has been written."""
    n, c = n_of(at(m.par, m.contact_patch[k][OF_B])), w.contact[k]
    part, pair = part_b(m, w, k), pair_of(m, w, k, n)
    nearest = 0
    for i in range(1, n):
        if pair[GAP * n + i] < pair[GAP * n + nearest]:
            nearest = i
    w.node_mark[m.contact_patch[k][MARK] + N_MARK * n + NEAREST] = nearest
    c.gap = pair[GAP * n + nearest]
    c.n_x = pair[N_X * n + nearest]
    c.n_y = pair[N_Y * n + nearest]
    rate = stack_floats(2)
    relative_rate(m, w, k, nearest, rate)
    c.gap_rate = c.n_x * rate[0] + c.n_y * rate[1]
    c.v_t = c.n_y * rate[0] - c.n_x * rate[1]
    c.turn = 0.0
    c.slip_bias = 0.0
    a = w.motion[m.contact_a[k]]
    c.arm_x = part[AT_X * n + nearest] - a[0]
    c.arm_y = part[AT_Y * n + nearest] - a[1]


@kernel
def clear_contact(w, k):
    """Let contact k have no force."""
    c = w.contact[k]
    c.force = 0.0
    c.lam_n = 0.0
    c.lam_t = 0.0
    c.front = 0.0
    c.rear = 0.0
    c.n_closed = 0.0
    c.n_stuck = 0.0
    c.stored = 0.0


# ---- forces --------------------------------------------------------------------


@kernel
def push_nodes(m, w, marker, p, part, couple):
    """Apply the forces on the nodes of a patch, and a couple, to its body."""
    n, nm, nr = int(p[0]), int(p[1]), int(p[2])
    body = m.marker_body[marker]
    dof = m.body_dof[body]
    turn = turn_of(p, n, nm, nr)
    psi = dot(nm, turn, at(w.coordinate, dof + 3))
    c, s = math.cos(psi) - 1.0, math.sin(psi)
    f = at(w.f, dof + 3)
    sum_x, sum_y, twist = 0.0, 0.0, 0.0
    for i in range(n):
        f_x, f_y = part[F_X * n + i], part[F_Y * n + i]
        if f_x == 0.0 and f_y == 0.0:
            continue
        sum_x += f_x
        sum_y += f_y
        couple += part[X * n + i] * f_y - part[Y * n + i] * f_x
        s_x, s_y = p[HEAD + i], p[HEAD + n + i]
        twist += f_y * (c * s_x - s * s_y) - f_x * (s * s_x + c * s_y)
    U, V = patterns_of(p, n), parts_of(p, n, nr)
    for i in range(nr):
        # Forces along y follow those along x.
        value, row = dot(2 * n, at(U, 2 * n * i), at(part, F_X * n)), at(V, nm * i)
        for j in range(nm):
            f[j] += value * row[j]
    wrench = stack_floats(3)
    c, s = w.turn[body][0], w.turn[body][1]
    wrench[0] = c * sum_x - s * sum_y
    wrench[1] = s * sum_x + c * sum_y
    wrench[2] = couple
    bodies.add_at_origin(w, marker, wrench, 1.0, at(w.f, dof))
    for j in range(nm):
        shape = at(w.shape, m.marker_shape[marker] + 3 * j)
        f[j] += wrench[0] * shape[0] + wrench[1] * shape[1] + twist * turn[j]


@kernel
def turn_normals_of(m, w, k, n, part, pair):
    """Write forces along a surface for the turn of its normals; return two couples.

    A node that gives way by u under its force f has e = u x f. Where its normal turns,

        phi' = s omega_a + kappa tau.(v - v_a)        power -e (phi' - omega_b)

    so that b bears the couple e, a the couple -s e, and node and origin of a the forces
    -+ e kappa along tau. A flat has s = 1 and kappa = 0, a circle turns no normal.
    """
    near, node = stack_floats(4), stack_floats(9)
    still, turning = stack_floats(9), stack_floats(9)
    shape = m.address[m.contact_shape[k]]
    p, a = at(m.par, m.contact_shape_par[k]), w.motion[m.contact_a[k]]
    for j in range(9):
        node[j] = 0.0
        still[j] = a[j] if j < 3 else 0.0
        turning[j] = still[j]
    turning[5] = 1.0
    on_b, on_a = 0.0, 0.0
    for i in range(n):
        pair[FRONT * n + i] = 0.0
        if pair[LAM * n + i] == 0.0:
            continue
        e = pair[GIVE_X * n + i] * part[F_Y * n + i]
        e -= pair[GIVE_Y * n + i] * part[F_X * n + i]
        node[0] = part[AT_X * n + i]
        node[1] = part[AT_Y * n + i]
        node[3] = 0.0
        node[4] = 0.0
        call_shape(shape, p, turning, node, near)
        on_b += e
        # Friction at the node, beside the surface by the gap.
        beside = pair[LAM_T * n + i] * pair[GAP * n + i]
        e -= beside
        on_a += e * near[3] + beside
        node[3] = pair[N_Y * n + i]
        node[4] = -pair[N_X * n + i]
        call_shape(shape, p, still, node, near)
        pair[FRONT * n + i] = -e * near[3]
    return on_b, on_a


@kernel
def push_on_a(m, w, k, n, part, pair, couple):
    """Apply the reversed forces to the surface, or to the nodes of the polyline."""
    marker = m.contact_a[k]
    if m.contact_patch[k][OF_A] < 0:
        a, wrench = w.motion[marker], stack_floats(3)
        wrench[0] = 0.0
        wrench[1] = 0.0
        wrench[2] = couple
        for i in range(n):
            # At the origin of a.
            wrench[0] += pair[FRONT * n + i] * pair[N_Y * n + i]
            wrench[1] -= pair[FRONT * n + i] * pair[N_X * n + i]
            lam, along = pair[LAM * n + i], pair[LAM_T * n + i]
            f_x = lam * pair[N_X * n + i] + along * pair[N_Y * n + i]
            f_y = lam * pair[N_Y * n + i] - along * pair[N_X * n + i]
            wrench[0] += f_x
            wrench[1] += f_y
            wrench[2] += (part[AT_X * n + i] - a[0]) * f_y
            wrench[2] -= (part[AT_Y * n + i] - a[1]) * f_x
        bodies.push(m, w, marker, wrench, -1.0)
        return
    q, line = at(m.par, m.contact_patch[k][OF_A]), part_a(m, w, k, n)
    polylines.write_forces(m, w, k, n, pair)
    push_nodes(m, w, marker, q, line, -couple)


@kernel
def grip(m, w, k, n, pair):
    """Add what a rough patch stores along the tangent; count nodes that stick."""
    c, extra = w.contact[k], rough.rough_of(m, w, k, n)
    pattern = at(w.node_mark, m.contact_patch[k][MARK] + CLOSED * n)
    for i in range(n):
        give = extra[rough.SLIP * n + i] - extra[rough.WAY * n + i]
        c.stored += 0.5 * pair[LAM_T * n + i] * give
        if pattern[i] == rough.STUCK:
            c.n_stuck += 1.0


@far(Tables, Work, INTEGER)
def push(m, w, k):
    """Find the forces of contact k and apply them to both bodies."""
    p = at(m.par, m.contact_patch[k][OF_B])
    n, c = n_of(p), w.contact[k]
    part, pair = part_b(m, w, k), pair_of(m, w, k, n)
    turn_normals(w, m.marker_body[m.contact_b[k]], n, pair, B_X, B_Y)
    if m.contact_patch[k][OF_A] >= 0:
        turn_normals(w, m.marker_body[m.contact_a[k]], n, pair, A_X, A_Y)
    is_rough = m.contact_patch[k][HISTORY] >= 0
    n_closed = rough.solve(m, w, k) if is_rough else solve(m, w, k, p, n, pair)
    marks = at(w.node_mark, m.contact_patch[k][MARK] + N_MARK * n)
    marks[FAILED] = -min(n_closed, 0)
    if n_closed == 0:
        return
    sum_x, sum_y = 0.0, 0.0
    for i in range(n):
        lam, along = pair[LAM * n + i], pair[LAM_T * n + i]
        part[F_X * n + i] = lam * pair[B_X * n + i] + along * pair[B_Y * n + i]
        part[F_Y * n + i] = lam * pair[B_Y * n + i] - along * pair[B_X * n + i]
        if lam != 0.0:
            sum_x += lam * pair[N_X * n + i]
            sum_y += lam * pair[N_Y * n + i]
            c.stored -= 0.5 * lam * pair[GAP * n + i]
            c.lam_t += along
    if is_rough:
        grip(m, w, k, n, pair)
        give_way(p, n, part, pair)
    if m.contact_patch[k][OF_A] < 0:
        couple, on_a = turn_normals_of(m, w, k, n, part, pair)
    else:
        if is_rough:
            polylines.give_way(m, w, k, n, pair)
        couple, on_a = polylines.turn_segments(m, w, k, n, part, pair)
    for i in range(n):
        along = pair[FRONT * n + i]
        part[F_X * n + i] += along * pair[B_Y * n + i]
        part[F_Y * n + i] -= along * pair[B_X * n + i]
        sum_x += along * pair[N_Y * n + i]
        sum_y -= along * pair[N_X * n + i]
    c.force = math.hypot(sum_x, sum_y)
    c.lam_n = c.force
    c.n_closed = float(n_closed)
    c.front = pair[LAM * n]
    c.rear = pair[LAM * n + n - 1]
    push_nodes(m, w, m.contact_b[k], p, part, couple)
    push_on_a(m, w, k, n, part, pair, on_a)


# ---- for results ---------------------------------------------------------------


@kernel
def lean_of(n, pair, i):
    """Return the couple of the force on node i of b due to where it gives way."""
    lam, along = pair[LAM * n + i], pair[LAM_T * n + i]
    f_x = lam * pair[B_X * n + i] + along * pair[B_Y * n + i]
    f_y = lam * pair[B_Y * n + i] - along * pair[B_X * n + i]
    return pair[GIVE_X * n + i] * f_y - pair[GIVE_Y * n + i] * f_x


@far(Tables, Work, INTEGER)
def show(m, w, k):
    """Write direction, point, width and mean slip of contact k, by its forces."""
    c = w.contact[k]
    a = w.motion[m.contact_a[k]]
    c.point_x = a[0] + c.arm_x
    c.point_y = a[1] + c.arm_y
    c.width = 0.0
    if w.mode[k].side != PRESSING or not c.lam_n > 0.0:
        return
    p = at(m.par, m.contact_patch[k][OF_B])
    n = n_of(p)
    part, pair = part_b(m, w, k), pair_of(m, w, k, n)
    c.n_x = 0.0
    c.n_y = 0.0
    is_rough = m.contact_patch[k][HISTORY] >= 0
    total, point_x, point_y, turn = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        lam, along = pair[LAM * n + i], pair[FRONT * n + i]
        n_x, n_y = pair[N_X * n + i], pair[N_Y * n + i]
        c.n_x += (lam * n_x + along * n_y) / c.lam_n
        c.n_y += (lam * n_y - along * n_x) / c.lam_n
        x, y = part[AT_X * n + i] - a[0], part[AT_Y * n + i] - a[1]
        along += pair[LAM_T * n + i]
        turn += x * (lam * n_y - along * n_x) - y * (lam * n_x + along * n_y)
        turn += lean_of(n, pair, i)
        point_x += lam * x
        point_y += lam * y
        total += lam
    point_x /= total
    point_y /= total
    # Forces that are not parallel, or of nodes that gave way, act beside the mean of
    # their places. Friction is that of all along the mean tangent.
    turn += c.lam_t * (point_x * c.n_x + point_y * c.n_y)
    miss = turn / c.lam_n - (point_x * c.n_y - point_y * c.n_x)
    c.point_x = a[0] + point_x + miss * c.n_y
    c.point_y = a[1] + point_y - miss * c.n_x
    rate = stack_floats(2)
    slip, moving, low, high = 0.0, 0.0, math.inf, -math.inf
    pattern = at(w.node_mark, m.contact_patch[k][MARK] + CLOSED * n)
    for i in range(n):
        lam = pair[LAM * n + i]
        if lam > 0.0:
            if not (is_rough and pattern[i] == rough.STUCK):
                relative_rate(m, w, k, i, rate)
                slip += lam * (c.n_y * rate[0] - c.n_x * rate[1])
                moving += lam
            along = c.n_y * part[AT_X * n + i] - c.n_x * part[AT_Y * n + i]
            low = min(low, along)
            high = max(high, along)
    c.v_t = slip / moving if moving > 0.0 else 0.0
    c.width = high - low
