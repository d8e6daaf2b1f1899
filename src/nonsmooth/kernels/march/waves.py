"""Full finite elements, marched by central differences with lumped masses.

    v_(n+1/2) = v_(n-1/2) + h M^-1 (f - K u_n + J' lam_n)
    u_(n+1)   = u_n + h v_(n+1/2)
    0 <= lam_n  _|_  g(u_(n+1)) >= 0

The multipliers of a step close the gaps at its end, a forward increment
[CarpenterEtAl1991]_: nodes that meet lose the energy of an impact without rebound, a
constraint that holds does no work. Of a penalty lam_n = k max(0, -g(u_n)). The first
step has half the span, from u_0 and v_0. With

    E_n = 1/2 v_(n-1/2)'M v_(n+1/2) + 1/2 u_n'K u_n

the work of a force is exactly E_(n+1) - E_n = h/2 v_(n+1/2)'(f_n + f_(n+1)).

Nodes have two displacements in global axes; a rigid body is one node without stiffness.
Node b touches a chain of nodes of another body, the body on its left, or another node,
or a line or circle that a rigid node or the ground carries. A row of the record is

    9 of each body        x, y, theta, rates, accelerations
    6 of each point       x, y, rates, accelerations
    1 of each gauge
    N_CONTACT of each contact
"""

import math

from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, kernel
from nonsmooth.kernels.march.record import is_finite
from nonsmooth.kernels.march.wave_contact import (
    account,
    account_before,
    approach,
    find_gap,
    gap_of,
    masters,
    press,
)
from nonsmooth.kernels.march.wave_tables import (
    DIVERGED,
    DONE,
    N_CONTACT,
    UNSOLVED,
    Solid,
    State,
)

# Steps between two looks whether velocities are finite.
LOOK = 64


# ---- inner forces --------------------------------------------------------------


@kernel
def accelerate(m, w, span):
    """Change all velocities by inner forces and weight over a span; return u'K u/2.

    A block K_ij, j > i, serves both nodes: K_ij (u_j - u_i) for i, its transpose for j,
    whose sum is complete when its turn comes. Forces of differences: a body that moves
    as a whole has none.
    """
    u, v, old, minv = at(w.u, 0), at(w.v, 0), at(w.old, 0), at(m.minv, 0)
    first, column, block = at(m.first, 0), at(m.column, 0), at(m.block, 0)
    rest, force = at(m.rest, 0), at(w.force, 0)
    stored = 0.0
    for i in range(m.n_node):
        x = 2 * i
        ux, uy = u[x], u[x + 1]
        fx = force[x] + rest[2 * x] * ux + rest[2 * x + 2] * uy
        fy = force[x + 1] + rest[2 * x + 1] * ux + rest[2 * x + 3] * uy
        for k in range(first[i], first[i + 1]):
            j, b = 2 * column[k], 4 * k
            dx, dy = u[j] - ux, u[j + 1] - uy
            fx += block[b] * dx + block[b + 2] * dy
            fy += block[b + 1] * dx + block[b + 3] * dy
            force[j] -= block[b] * dx + block[b + 1] * dy
            force[j + 1] -= block[b + 2] * dx + block[b + 3] * dy
        force[x], force[x + 1] = 0.0, 0.0
        stored += ux * fx + uy * fy
        old[x], old[x + 1] = v[x], v[x + 1]
        v[x] += span * (m.fall_x * is_free(minv[x]) - minv[x] * fx)
        v[x + 1] += span * (m.fall_y * is_free(minv[x + 1]) - minv[x + 1] * fy)
    return 0.5 * stored


@kernel
def is_free(minv):
    """Return 1 where a displacement is not held."""
    return 1.0 if minv > 0.0 else 0.0


# ---- the record ----------------------------------------------------------------


@kernel
def note_body(m, w, b, span, late, h, row):
    """Write mean motion of a body, deformation included; then move it.

    `late` is the share of the velocities after t_n in those at it. Both in one loop:
    fetching its nodes takes longer than the sums.
    """
    x, y, vx, vy, ax, ay, kinetic = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    turn, spin, kick = 0.0, 0.0, 0.0
    start, way = m.body_start[b], m.body_way[b]
    us, olds, vs, masses = at(w.u, 0), at(w.old, 0), at(w.v, 0), at(m.mass, 0)
    arms, inertia = at(m.arm, 0), m.body_inertia[b]
    for i in range(m.body_first[b], m.body_first[b + 1]):
        mass, j = masses[i], 2 * i
        ox, oy = olds[j], olds[j + 1]
        nx, ny = vs[j] - ox, vs[j + 1] - oy
        x += mass * us[j]
        y += mass * us[j + 1]
        vx += mass * ox
        vy += mass * oy
        ax += mass * nx
        ay += mass * ny
        if inertia > 0.0:
            turn += arms[j] * us[j] + arms[j + 1] * us[j + 1]
            spin += arms[j] * ox + arms[j + 1] * oy
            kick += arms[j] * nx + arms[j + 1] * ny
        # v_(n-1/2).v_(n+1/2); at the start that of v_0.
        fx, fy = ox + 2.0 * late * nx, oy + 2.0 * late * ny
        kinetic += mass * (ox * fx + oy * fy)
        us[j] += h * vs[j]
        us[j + 1] += h * vs[j + 1]
    w.kinetic += 0.5 * kinetic
    w.potential -= m.fall_x * x + m.fall_y * y
    vx, vy, mass = vx + late * ax, vy + late * ay, m.body_mass[b]
    o = 9 * b
    row[o] = start[0] + (way[0] * x + way[1] * y) / mass
    row[o + 1] = start[1] + (way[2] * x + way[3] * y) / mass
    row[o + 2], row[o + 5], row[o + 8] = start[2], start[3], 0.0
    row[o + 3] = (way[0] * vx + way[1] * vy) / mass
    row[o + 4] = (way[2] * vx + way[3] * vy) / mass
    row[o + 6] = (way[0] * ax + way[1] * ay) / (mass * span)
    row[o + 7] = (way[2] * ax + way[3] * ay) / (mass * span)
    if inertia > 0.0:
        row[o + 2] += turn / inertia
        row[o + 5] = (spin + late * kick) / inertia
        row[o + 8] = kick / (inertia * span)


@kernel
def note_points(m, w, span, late, row):
    """Write motion of points, and gauges."""
    o = 9 * m.n_body
    for p in range(m.n_point):
        for c in range(2):
            x, v, a = m.point_place[p][c], 0.0, 0.0
            for e in range(m.point_first[p], m.point_first[p + 1]):
                i, weight = m.point_node[e], m.point_weight[e]
                x += weight * w.u[i][c]
                change = w.v[i][c] - w.old[i][c]
                v += weight * (w.old[i][c] + late * change)
                a += weight * change
            row[o + c], row[o + 2 + c], row[o + 4 + c] = x, v, a / span
        o += 6
    for g in range(m.n_gauge):
        value = 0.0
        for e in range(m.gauge_first[g], m.gauge_first[g + 1]):
            u, weight = w.u[m.gauge_node[e]], m.gauge_weight[e]
            value += weight[0] * u[0] + weight[1] * u[1]
        row[o] = value
        o += 1


@kernel
def note_contact(m, w, k, row, o):
    """Write what a contact bears at t_n."""
    begin, end = m.contact_first[k], m.contact_first[k + 1]
    force, n_closed, nearest, least = 0.0, 0, -1, math.inf
    px, py, nx, ny, slip, rate = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    first, last = -1, -1
    for s in range(begin, end):
        if w.is_near[s] == 0:
            continue
        gap = gap_of(m, w, k, s, 0.0)
        if gap < least:
            least, nearest = gap, s
        lam = w.lam[s]
        if lam > 0.0:
            i, n = m.slave[s], w.normal[s]
            n_closed += 1
            first = s if first < 0 else first
            last = s
            force += lam
            px += lam * (m.place[i][0] + w.u[i][0])
            py += lam * (m.place[i][1] + w.u[i][1])
            nx += lam * n[0]
            ny += lam * n[1]
    if nearest < 0:
        for c in range(N_CONTACT):
            row[o + c] = 0.0
        row[o], row[o + 10] = math.inf, 2.0
        return
    if n_closed:
        total = max(math.sqrt(nx * nx + ny * ny), 1e-300)
        px, py, nx, ny, force = px / force, py / force, nx / total, ny / total, total
    else:
        i = m.slave[nearest]
        px, py = m.place[i][0] + w.u[i][0], m.place[i][1] + w.u[i][1]
        nx, ny = w.normal[nearest][0], w.normal[nearest][1]
    rate = 0.5 * (approach(m, w, k, nearest, True) + approach(m, w, k, nearest, False))
    i = m.slave[nearest]
    a, b, p, q = masters(m, w, k, nearest)
    # Along the tangent (n_y, -n_x).
    slip = ny * w.v[i][0] - nx * w.v[i][1]
    if p != 0.0:
        slip -= p * (ny * w.v[a][0] - nx * w.v[a][1])
    if q != 0.0:
        slip -= q * (ny * w.v[b][0] - nx * w.v[b][1])
    wide = 0.0
    if n_closed:
        i, j = m.slave[first], m.slave[last]
        dx = m.place[j][0] + w.u[j][0] - m.place[i][0] - w.u[i][0]
        dy = m.place[j][1] + w.u[j][1] - m.place[i][1] - w.u[i][1]
        wide = math.sqrt(dx * dx + dy * dy)
    row[o], row[o + 1], row[o + 2], row[o + 3] = least, rate, force, 0.0
    row[o + 4], row[o + 5], row[o + 6] = slip, px, py
    row[o + 7], row[o + 8], row[o + 9] = nx, ny, wide
    row[o + 10], row[o + 11] = 1.0 if n_closed else 2.0, n_closed


@kernel
def note(m, w, span, h, stored):
    """Write a row: the instant t_n, velocities on both sides known; move all nodes."""
    w.kinetic, w.potential = 0.0, stored
    row = w.rows[w.n_row]
    late = 0.0 if w.n == 0 and h > 0.0 else 0.5
    note_points(m, w, span, late, row)
    o = 9 * m.n_body + 6 * m.n_point + m.n_gauge
    for k in range(m.n_contact):
        note_contact(m, w, k, row, o + N_CONTACT * k)
        w.works[w.n_row][k] = w.work[k]
    for b in range(m.n_body):
        note_body(m, w, b, span, late, h, row)
    w.energies[w.n_row][0], w.energies[w.n_row][1] = w.kinetic, w.potential
    w.n_row += 1


@far(Solid, State)
def find_gaps(m, w):
    """Find gaps and normals of all nodes at t_n; segments are guessed."""
    for k in range(m.n_contact):
        for s in range(m.contact_first[k], m.contact_first[k + 1]):
            find_gap(m, w, k, s, 0.0)


@far(Solid, State, NUMBER)
def record(m, w, span):
    """Write a row for a method that is not marched here; energies are its own."""
    note(m, w, span, 0.0, 0.0)


@kernel
def advance(n, u, v, h):
    """Move all nodes."""
    for i in range(n):
        u[i] += h * v[i]


@far(Solid, State, INTEGER, returns=INTEGER)
def march(m, w, n_steps):
    """Take so many steps."""
    for _ in range(n_steps):
        is_first = w.n == 0
        span = 0.5 * m.h if is_first else m.h
        stored = accelerate(m, w, span)
        is_solved = press(m, w, span)
        if not is_first:
            account_before(m, w, span)
        if w.n % w.stride == 0:
            note(m, w, span, m.h, stored)
        else:
            advance(2 * m.n_node, at(w.u, 0), at(w.v, 0), m.h)
        account(m, w, span, is_first)
        w.n += 1
        if not is_solved:
            return UNSOLVED
        if w.n % LOOK == 0 and not is_finite(2 * m.n_node, at(w.v, 0)):
            return DIVERGED
    return DONE
