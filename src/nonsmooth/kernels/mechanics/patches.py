"""Patches of flexible bodies in contact: forces of nodes that keep gaps from closing.

A patch on b meets a surface on a, or a polyline, the patch of another flexible body.
Its nodes have no mass: beyond the shapes they answer at once, by their flexibility G.
With the gaps g of the shapes alone, the forces are a function of the state,

    0 <= lam  _|_  g + (N'G N + 1/k) lam >= 0        G = G_b + W G_a W'

with the normals N, the parts W = (1 - xi, xi) of a node in the segment it meets, and
the stiffness k of a penalty, if there is one. See docs/theory/flexible.md.

A patch as parameters, of n nodes and nm shapes, in the axes of its body:

    n, nm; s_x, s_y (n), nodes from the patch's centre
    D_x, D_y (nm, n); the same (n, nm)          shapes less those of the centre
    turn (nm); G_xx, G_xy, G_yx, G_yy (n, n), along x by forces along x, ...; 1/k (n)

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
from nonsmooth.kernels.mechanics import bodies
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.tolerances import CLOSED_NODE, DEPENDENT_NODE

# Columns of `contact_patch`: parameters of b's patch and a's, -1 for a surface; first
# entries of `Work.node` and `Work.node_mark`.
OF_B, OF_A, PLACE, MARK = 0, 1, 2, 3
# Numbers before the arrays of a patch.
HEAD = 2
# Arrays of n numbers for each patch: places in the body's axes from the marker, the
# same in global axes from the origin, forces in the body's axes.
X, Y, AT_X, AT_Y, F_X, F_Y, N_PART = range(7)
# Arrays of n numbers for the pair, n nodes of b: gap, normal in global axes, in the
# axes of b and of a, part of the second node of the segment, force; right side and two
# more of scratch. Columns of the matrix and its factors, n by n, follow.
GAP, N_X, N_Y, B_X, B_Y, A_X, A_Y, XI, LAM, RIGHT = range(10)
N_PAIR = RIGHT + 3
# Arrays of n integers: whether a node is closed, its segment (-1 for none), the nodes
# that are closed in order, whether a column is known. Then two more: the node that is
# nearest, whether the last solve failed.
CLOSED, SEGMENT, ORDER, KNOWN, N_MARK = range(5)
NEAREST, FAILED = range(2)
# Changes of the whole set without fewer faults before nodes are changed one by one.
PATIENCE, MAX_CHANGE = 10, 1000


# ---- where things are ----------------------------------------------------------


@kernel
def n_of(p):
    """Return the number of nodes of a patch."""
    return int(p[0])


@kernel
def shapes_by_node(p, n, nm):
    """Return where the shapes of node 0 along x begin; those along y are n nm on."""
    return at(p, HEAD + 2 * n + 2 * n * nm)


@kernel
def turn_of(p, n, nm):
    """Return where the rotation of the patch's centre begins; G follows."""
    return at(p, HEAD + 2 * n + 4 * n * nm)


@kernel
def part_b(m, w, k):
    """Return the arrays of b's patch."""
    return at(w.node, m.contact_patch[k][PLACE])


@kernel
def part_a(m, w, k, n):
    """Return the arrays of a's patch; b's has n nodes."""
    return at(w.node, m.contact_patch[k][PLACE] + N_PART * n)


@kernel
def pair_of(m, w, k, n):
    """Return the arrays of the pair, and the matrix behind them."""
    n_a = 0
    if m.contact_patch[k][OF_A] >= 0:
        n_a = n_of(at(m.par, m.contact_patch[k][OF_A]))
    return at(w.node, m.contact_patch[k][PLACE] + N_PART * (n + n_a))


@kernel
def place_nodes(m, w, marker, p, out):
    """Write the places of a patch's nodes; its marker has been moved.

    r_i = r_c + D_i eta + R(psi) s - psi E s        psi = turn.eta
    """
    n, nm = int(p[0]), int(p[1])
    body = m.marker_body[marker]
    eta = at(w.coordinate, m.body_dof[body] + 3)
    psi = 0.0
    turn = turn_of(p, n, nm)
    for j in range(nm):
        psi += turn[j] * eta[j]
    c, s = math.cos(psi), math.sin(psi) - psi
    x, y = at(out, X * n), at(out, Y * n)
    s_x, s_y = at(p, HEAD), at(p, HEAD + n)
    for i in range(n):
        x[i] = c * s_x[i] - s * s_y[i]
        y[i] = s * s_x[i] + c * s_y[i]
    for j in range(nm):
        D_x, D_y = at(p, HEAD + (2 + j) * n), at(p, HEAD + (2 + nm + j) * n)
        value = eta[j]
        for i in range(n):
            x[i] += value * D_x[i]
        for i in range(n):
            y[i] += value * D_y[i]
    motion = w.motion[marker]
    c, s = w.turn[body][0], w.turn[body][1]
    to_x, to_y = at(out, AT_X * n), at(out, AT_Y * n)
    for i in range(n):
        to_x[i] = motion[0] + c * x[i] - s * y[i]
        to_y[i] = motion[1] + s * x[i] + c * y[i]


@kernel
def node_rate(m, w, marker, p, part, i, out):
    """Write the velocity of node i of a patch."""
    n, nm = int(p[0]), int(p[1])
    body = m.marker_body[marker]
    dof = m.body_dof[body]
    eta, rate = at(w.coordinate, dof + 3), at(w.coordinate, m.n_dof + dof + 3)
    omega = w.coordinate[m.n_dof + dof + 2]
    by_node = shapes_by_node(p, n, nm)
    D_x, D_y = at(by_node, i * nm), at(by_node, (n + i) * nm)
    turn = turn_of(p, n, nm)
    psi, spin, v_x, v_y = 0.0, 0.0, 0.0, 0.0
    for j in range(nm):
        psi += turn[j] * eta[j]
        spin += turn[j] * rate[j]
        v_x += D_x[j] * rate[j]
        v_y += D_y[j] * rate[j]
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
def find_segment(n_a, x, y, p_x, p_y, j):
    """Return the segment of a polyline that a point is across from, from j on; -1."""
    came = 0
    for _ in range(2 * n_a):
        d_x, d_y = x[j + 1] - x[j], y[j + 1] - y[j]
        along = (p_x - x[j]) * d_x + (p_y - y[j]) * d_y
        step = 0
        if along < 0.0:
            step = -1
        elif along > d_x * d_x + d_y * d_y:
            step = 1
        # Between two segments, at a corner that points outwards, either will do.
        if step == 0 or step == -came:
            return j
        if j + step < 0 or j + step > n_a - 2:
            return -1
        j += step
        came = step
    return -1


@kernel
def gaps_to_polyline(m, w, k, n, part, pair):
    """Write gaps and normals of nodes against the patch of another body.

    Its nodes follow each other with the body on their left. A node that is across from
    no segment is far away.
    """
    q = at(m.par, m.contact_patch[k][OF_A])
    n_a, line = n_of(q), part_a(m, w, k, n)
    x, y = at(line, AT_X * n_a), at(line, AT_Y * n_a)
    segment = at(w.node_mark, m.contact_patch[k][MARK] + SEGMENT * n)
    last = 0
    for i in range(n):
        p_x, p_y = part[AT_X * n + i], part[AT_Y * n + i]
        j = find_segment(n_a, x, y, p_x, p_y, last)
        segment[i] = j
        if j < 0:
            pair[GAP * n + i] = math.inf
            pair[N_X * n + i] = 0.0
            pair[N_Y * n + i] = 0.0
            continue
        last = j
        d_x, d_y = x[j + 1] - x[j], y[j + 1] - y[j]
        length = math.sqrt(d_x * d_x + d_y * d_y)
        n_x, n_y = d_y / length, -d_x / length
        xi = ((p_x - x[j]) * d_x + (p_y - y[j]) * d_y) / (length * length)
        pair[XI * n + i] = min(1.0, max(0.0, xi))
        pair[GAP * n + i] = n_x * (p_x - x[j]) + n_y * (p_y - y[j])
        pair[N_X * n + i] = n_x
        pair[N_Y * n + i] = n_y


@kernel
def turn_normals(w, body, n, pair, to_x, to_y):
    """Write the normals in the axes of a body."""
    c, s = w.turn[body][0], w.turn[body][1]
    for i in range(n):
        n_x, n_y = pair[N_X * n + i], pair[N_Y * n + i]
        pair[to_x * n + i] = c * n_x + s * n_y
        pair[to_y * n + i] = c * n_y - s * n_x


@far(Tables, Work, INTEGER, is_door=True)
def press(m, w, k):
    """Write the gaps of contact k and the nearest node; its markers have been moved.

    The forces are found where they are applied: guards do without.
    """
    p = at(m.par, m.contact_patch[k][OF_B])
    n, c = n_of(p), w.contact[k]
    part, pair = part_b(m, w, k), pair_of(m, w, k, n)
    place_nodes(m, w, m.contact_b[k], p, part)
    if m.contact_patch[k][OF_A] >= 0:
        q = at(m.par, m.contact_patch[k][OF_A])
        place_nodes(m, w, m.contact_a[k], q, part_a(m, w, k, n))
        gaps_to_polyline(m, w, k, n, part, pair)
    else:
        gaps_to_surface(m, w, k, n, part, pair)
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
    c.force = 0.0
    c.lam_n = 0.0
    c.lam_t = 0.0
    c.front = 0.0
    c.rear = 0.0
    c.n_closed = 0.0
    c.stored = 0.0


# ---- forces --------------------------------------------------------------------


@kernel
def flexibility(p):
    """Return where G of a patch begins: xx, xy, yx, yy; then 1/k."""
    n, nm = int(p[0]), int(p[1])
    return at(turn_of(p, n, nm), nm)


@kernel
def add_give(G, n, j, f_x, f_y, x, y):
    """Add what all nodes of a patch give under a force at node j.

    G is symmetric: its columns are its rows, which are contiguous.
    """
    xx, xy = at(G, j * n), at(G, (n + j) * n)
    yx, yy = at(G, (2 * n + j) * n), at(G, (3 * n + j) * n)
    for i in range(n):
        x[i] += f_x * xx[i] + f_y * yx[i]
    for i in range(n):
        y[i] += f_x * xy[i] + f_y * yy[i]


@kernel
def add_along(n, direction_x, direction_y, x, y, out):
    """Add the parts of displacements along given directions."""
    for i in range(n):
        out[i] += direction_x[i] * x[i] + direction_y[i] * y[i]


@kernel
def clear(n, x):
    """Set n numbers to zero."""
    for i in range(n):
        x[i] = 0.0


@kernel
def write_column(m, w, k, p, n, pair, j, out):
    """Write the changes of all gaps under a unit force at node j of b."""
    scratch = at(pair, (RIGHT + 1) * n)
    x, y = scratch, at(scratch, n)
    clear(2 * n, scratch)
    clear(n, out)
    G = flexibility(p)
    add_give(G, n, j, pair[B_X * n + j], pair[B_Y * n + j], x, y)
    add_along(n, at(pair, B_X * n), at(pair, B_Y * n), x, y, out)
    out[j] += G[4 * n * n + j]
    if m.contact_patch[k][OF_A] < 0:
        return
    q = at(m.par, m.contact_patch[k][OF_A])
    n_a = n_of(q)
    segment = at(w.node_mark, m.contact_patch[k][MARK] + SEGMENT * n)
    # Places of a's forces, which are written later.
    line = part_a(m, w, k, n)
    x, y = at(line, F_X * n_a), at(line, F_Y * n_a)
    clear(n_a, x)
    clear(n_a, y)
    G, xi, l = flexibility(q), pair[XI * n + j], segment[j]
    f_x, f_y = pair[A_X * n + j], pair[A_Y * n + j]
    add_give(G, n_a, l, (1.0 - xi) * f_x, (1.0 - xi) * f_y, x, y)
    add_give(G, n_a, l + 1, xi * f_x, xi * f_y, x, y)
    for i in range(n):
        l, xi = segment[i], pair[XI * n + i]
        if l >= 0:
            along_x = x[l] + xi * (x[l + 1] - x[l])
            along_y = y[l] + xi * (y[l + 1] - y[l])
            out[i] += pair[A_X * n + i] * along_x + pair[A_Y * n + i] * along_y


@kernel
def solve_closed(n, pair, columns, order, n_closed):
    """Write the forces that close the gaps of given nodes; return if that is possible.

    Cholesky's factors, column by column, each row contiguous.
    """
    A, x = at(columns, n * n), at(pair, RIGHT * n)
    front = at(pair, (RIGHT + 1) * n)
    for r in range(n_closed):
        row, column = at(A, r * n), at(columns, order[r] * n)
        for c in range(r + 1):
            row[c] = column[order[c]]
        x[r] = -pair[GAP * n + order[r]]
    for c in range(n_closed):
        pivot = A[c * n + c]
        # Not <=: a NaN must come out.
        if not pivot > DEPENDENT_NODE * columns[order[c] * (n + 1)]:
            return False
        root = math.sqrt(pivot)
        A[c * n + c] = root
        x[c] /= root
        for r in range(c + 1, n_closed):
            front[r] = A[r * n + c] / root
            A[r * n + c] = front[r]
        for r in range(c + 1, n_closed):
            row, value = at(A, r * n), front[r]
            x[r] -= value * x[c]
            for i in range(c + 1, r + 1):
                row[i] -= value * front[i]
    for r in range(n_closed - 1, -1, -1):
        row = at(A, r * n)
        x[r] /= row[r]
        value = x[r]
        for c in range(r):
            x[c] -= value * row[c]
    return True


@kernel
def faults(n, pair, columns, closed, order, n_closed, is_one):
    """Change nodes that pull or overlap, or the last of them; return how many."""
    x, gap, deepest = at(pair, RIGHT * n), at(pair, (RIGHT + 1) * n), 0.0
    for i in range(n):
        gap[i] = pair[GAP * n + i]
        deepest = max(deepest, -gap[i])
    for c in range(n_closed):
        column, value = at(columns, order[c] * n), x[c]
        for i in range(n):
            gap[i] += value * column[i]
    n_fault, last, r = 0, -1, 0
    for i in range(n):
        is_wrong = gap[i] < -CLOSED_NODE * deepest
        if closed[i]:
            is_wrong = x[r] < 0.0
            r += 1
        if is_wrong:
            n_fault += 1
            last = i
            if not is_one:
                closed[i] = 1 - closed[i]
    if is_one and last >= 0:
        closed[last] = 1 - closed[last]
    return n_fault


@kernel
def start_set(n, pair, closed, known):
    """Let the closed nodes be those of the last solution, or those that overlap."""
    n_closed = 0
    for i in range(n):
        if not pair[GAP * n + i] < math.inf:
            closed[i] = 0
        n_closed += closed[i]
        known[i] = 0
    if n_closed == 0:
        for i in range(n):
            closed[i] = 1 if pair[GAP * n + i] < 0.0 else 0


@kernel
def solve(m, w, k, p, n, pair):
    """Write the forces of all nodes; return how many press, -1 if none were found.

    The set of closed nodes starts from the last. All nodes at fault change together
    while that helps, else the last of them alone: that comes to an end for every
    positive definite matrix [JudicePires1994]_.
    """
    marks = at(w.node_mark, m.contact_patch[k][MARK])
    closed, order, known = (
        at(marks, CLOSED * n),
        at(marks, ORDER * n),
        at(marks, KNOWN * n),
    )
    columns, x = at(pair, N_PAIR * n), at(pair, RIGHT * n)
    start_set(n, pair, closed, known)
    best, patience, n_closed, is_solved = n + 1, PATIENCE, 0, False
    for _ in range(MAX_CHANGE):
        n_closed = 0
        for i in range(n):
            if closed[i]:
                order[n_closed] = i
                n_closed += 1
                if not known[i]:
                    write_column(m, w, k, p, n, pair, i, at(columns, i * n))
                    known[i] = 1
        if not solve_closed(n, pair, columns, order, n_closed):
            break
        n_fault = faults(n, pair, columns, closed, order, n_closed, patience == 0)
        if n_fault == 0:
            is_solved = True
            break
        if n_fault < best:
            best, patience = n_fault, PATIENCE
        elif patience > 0:
            patience -= 1
    clear(n, at(pair, LAM * n))
    for r in range(n_closed):
        pair[LAM * n + order[r]] = x[r] if is_solved else math.nan
    return n_closed if is_solved else -1


@kernel
def lean(p, n, part, pair):
    """Return the couple of forces on b due to where their nodes give way along a."""
    x, y = at(pair, (RIGHT + 1) * n), at(pair, (RIGHT + 2) * n)
    clear(2 * n, x)
    for j in range(n):
        if pair[LAM * n + j] != 0.0:
            add_give(flexibility(p), n, j, part[F_X * n + j], part[F_Y * n + j], x, y)
    total = 0.0
    for i in range(n):
        total += x[i] * part[F_Y * n + i] - y[i] * part[F_X * n + i]
    return total


@kernel
def push_nodes(m, w, marker, p, part, couple):
    """Apply the forces on the nodes of a patch, and a couple, to its body."""
    n, nm = int(p[0]), int(p[1])
    body = m.marker_body[marker]
    dof = m.body_dof[body]
    psi = 0.0
    turn = turn_of(p, n, nm)
    for j in range(nm):
        psi += turn[j] * w.coordinate[dof + 3 + j]
    c, s = math.cos(psi) - 1.0, math.sin(psi)
    by_node = shapes_by_node(p, n, nm)
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
        D_x, D_y = at(by_node, i * nm), at(by_node, (n + i) * nm)
        for j in range(nm):
            f[j] += f_x * D_x[j] + f_y * D_y[j]
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
def push_on_a(m, w, k, n, part, pair, couple):
    """Apply the reversed forces to the surface, or to the nodes of the polyline."""
    marker = m.contact_a[k]
    if m.contact_patch[k][OF_A] < 0:
        a, wrench = w.motion[marker], stack_floats(3)
        wrench[0] = 0.0
        wrench[1] = 0.0
        wrench[2] = couple
        for i in range(n):
            lam = pair[LAM * n + i]
            f_x, f_y = lam * pair[N_X * n + i], lam * pair[N_Y * n + i]
            wrench[0] += f_x
            wrench[1] += f_y
            wrench[2] += (part[AT_X * n + i] - a[0]) * f_y
            wrench[2] -= (part[AT_Y * n + i] - a[1]) * f_x
        bodies.push(m, w, marker, wrench, -1.0)
        return
    q = at(m.par, m.contact_patch[k][OF_A])
    n_a, line = n_of(q), part_a(m, w, k, n)
    segment = at(w.node_mark, m.contact_patch[k][MARK] + SEGMENT * n)
    for i in range(2 * n_a):
        line[F_X * n_a + i] = 0.0
    for i in range(n):
        lam = pair[LAM * n + i]
        if lam == 0.0:
            continue
        for end in range(2):
            xi = pair[XI * n + i]
            part_of = -lam * (xi if end else 1.0 - xi)
            line[F_X * n_a + segment[i] + end] += part_of * pair[A_X * n + i]
            line[F_Y * n_a + segment[i] + end] += part_of * pair[A_Y * n + i]
    push_nodes(m, w, marker, q, line, -couple)


@far(Tables, Work, INTEGER, is_door=True)
def push(m, w, k):
    """Find the forces of contact k and apply them to both bodies."""
    p = at(m.par, m.contact_patch[k][OF_B])
    n, c = n_of(p), w.contact[k]
    part, pair = part_b(m, w, k), pair_of(m, w, k, n)
    turn_normals(w, m.marker_body[m.contact_b[k]], n, pair, B_X, B_Y)
    if m.contact_patch[k][OF_A] >= 0:
        turn_normals(w, m.marker_body[m.contact_a[k]], n, pair, A_X, A_Y)
    n_closed = solve(m, w, k, p, n, pair)
    marks = at(w.node_mark, m.contact_patch[k][MARK] + N_MARK * n)
    marks[FAILED] = 1 if n_closed < 0 else 0
    if n_closed == 0:
        return
    sum_x, sum_y = 0.0, 0.0
    for i in range(n):
        lam = pair[LAM * n + i]
        part[F_X * n + i] = lam * pair[B_X * n + i]
        part[F_Y * n + i] = lam * pair[B_Y * n + i]
        if lam != 0.0:
            sum_x += lam * pair[N_X * n + i]
            sum_y += lam * pair[N_Y * n + i]
            c.stored -= 0.5 * lam * pair[GAP * n + i]
    c.force = math.hypot(sum_x, sum_y)
    c.lam_n = c.force
    c.n_closed = float(n_closed)
    c.front = pair[LAM * n]
    c.rear = pair[LAM * n + n - 1]
    couple = lean(p, n, part, pair)
    push_nodes(m, w, m.contact_b[k], p, part, couple)
    push_on_a(m, w, k, n, part, pair, couple)


# ---- for results ---------------------------------------------------------------


@far(Tables, Work, INTEGER, is_door=True)
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
    total, point_x, point_y = 0.0, 0.0, 0.0
    for i in range(n):
        lam = pair[LAM * n + i]
        c.n_x += lam * pair[N_X * n + i] / c.lam_n
        c.n_y += lam * pair[N_Y * n + i] / c.lam_n
        point_x += lam * part[AT_X * n + i]
        point_y += lam * part[AT_Y * n + i]
        total += lam
    c.point_x = point_x / total
    c.point_y = point_y / total
    rate = stack_floats(2)
    slip, low, high = 0.0, math.inf, -math.inf
    for i in range(n):
        lam = pair[LAM * n + i]
        if lam > 0.0:
            relative_rate(m, w, k, i, rate)
            slip += lam * (c.n_y * rate[0] - c.n_x * rate[1]) / total
            along = c.n_y * part[AT_X * n + i] - c.n_x * part[AT_Y * n + i]
            low = min(low, along)
            high = max(high, along)
    c.v_t = slip
    c.width = high - low
