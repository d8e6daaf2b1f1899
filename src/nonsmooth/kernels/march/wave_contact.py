"""Contact of the nodes of the scheme `waves`: gaps, multipliers, work."""

import math

from nonsmooth.kernels.abi import kernel
from nonsmooth.kernels.march.wave_tables import (
    CHAIN,
    CIRCLE,
    NODE,
    SEPARATE,
    TOUCH_DOWN,
)

# Sweeps over the nodes in contact, and the change of a multiplier, beside the largest,
# that ends them: round-off.
MAX_SWEEPS, SETTLED = 20000, 1e-13
EPSILON = 2e-15
# Beyond the ends of a chain, as parts of its last segment: a corner that slides off by
# the strain of a body is still on it.
BEYOND = 0.05


@kernel
def at_node(m, w, i, ahead, c):
    """Return a coordinate of node i, `ahead` seconds after t_n."""
    return m.place[i][c] + w.u[i][c] + ahead * w.v[i][c]


@kernel
def find_on_chain(m, w, k, s, x, y, ahead):
    """Find the segment of contact k's chain that node s is at, and its gap."""
    begin, end = m.contact_chain[k][0], m.contact_chain[k][1]
    j = w.segment[s]
    came = 0
    for _ in range(end - begin):
        i0, i1 = m.chain[j], m.chain[j + 1]
        x0, y0 = at_node(m, w, i0, ahead, 0), at_node(m, w, i0, ahead, 1)
        dx = at_node(m, w, i1, ahead, 0) - x0
        dy = at_node(m, w, i1, ahead, 1) - y0
        length = math.sqrt(dx * dx + dy * dy)
        part = ((x - x0) * dx + (y - y0) * dy) / (length * length)
        # Not to and fro at a corner between two segments.
        if part < 0.0 and j > begin and came <= 0:
            j, came = j - 1, -1
        elif part > 1.0 and j < end - 2 and came >= 0:
            j, came = j + 1, 1
        else:
            break
    w.segment[s] = j
    w.is_near[s] = 1 if -BEYOND <= part <= 1.0 + BEYOND else 0
    # Outwards: to the right of the boundary, which has its body on the left.
    w.normal[s][0], w.normal[s][1] = dy / length, -dx / length
    w.gap[s] = ((x - x0) * dy - (y - y0) * dx) / length
    w.part[s] = min(1.0, max(0.0, part))


@kernel
def find_gap(m, w, k, s, ahead):
    """Find gap and normal of node s of contact k, `ahead` seconds after t_n."""
    i, kind, owner = m.slave[s], m.contact_kind[k], m.contact_owner[k]
    x, y = at_node(m, w, i, ahead, 0), at_node(m, w, i, ahead, 1)
    surface, normal = m.contact_surface[k], w.normal[s]
    w.is_near[s] = 1
    if kind == CHAIN:
        find_on_chain(m, w, k, s, x, y, ahead)
        return
    if kind == NODE:
        j = m.chain[m.contact_chain[k][0]]
        x -= at_node(m, w, j, ahead, 0)
        y -= at_node(m, w, j, ahead, 1)
    else:
        x -= surface[0]
        y -= surface[1]
        if owner >= 0:
            x -= w.u[owner][0] + ahead * w.v[owner][0]
            y -= w.u[owner][1] + ahead * w.v[owner][1]
    if kind == CIRCLE:
        far = max(math.sqrt(x * x + y * y), 1e-300)
        normal[0], normal[1] = x / far, y / far
        w.gap[s] = far - surface[4]
    else:
        normal[0], normal[1] = surface[2], surface[3]
        w.gap[s] = x * normal[0] + y * normal[1]


@kernel
def masters(m, w, k, s):
    """Return both nodes that node s of contact k presses on, and their shares."""
    kind = m.contact_kind[k]
    if kind == CHAIN:
        j = w.segment[s]
        return m.chain[j], m.chain[j + 1], 1.0 - w.part[s], w.part[s]
    if kind == NODE:
        j = m.chain[m.contact_chain[k][0]]
        return j, j, 1.0, 0.0
    j = m.contact_owner[k]
    return j, j, 1.0 if j >= 0 else 0.0, 0.0


@kernel
def along(w, i, n, is_old):
    """Return the velocity of node i along n, in this step or before."""
    if is_old:
        return n[0] * w.old[i][0] + n[1] * w.old[i][1]
    return n[0] * w.v[i][0] + n[1] * w.v[i][1]


@kernel
def approach(m, w, k, s, is_old):
    """Return the rate of the gap of node s, with velocities of this step or before."""
    n, i = w.normal[s], m.slave[s]
    a, b, p, q = masters(m, w, k, s)
    rate = along(w, i, n, is_old)
    if p != 0.0:
        rate -= p * along(w, a, n, is_old)
    if q != 0.0:
        rate -= q * along(w, b, n, is_old)
    return rate


@kernel
def push(m, w, k, s, impulse):
    """Change velocities by an impulse of node s along its normal."""
    n, i = w.normal[s], m.slave[s]
    a, b, p, q = masters(m, w, k, s)
    for c in range(2):
        w.v[i][c] += m.minv[i][c] * impulse * n[c]
        if p != 0.0:
            w.v[a][c] -= m.minv[a][c] * p * impulse * n[c]
        if q != 0.0:
            w.v[b][c] -= m.minv[b][c] * q * impulse * n[c]


@kernel
def give(m, w, k, s):
    """Return how fast the gap of node s opens by a unit impulse, 1/kg."""
    n, i = w.normal[s], m.slave[s]
    a, b, p, q = masters(m, w, k, s)
    total = 0.0
    for c in range(2):
        one = m.minv[i][c]
        if p != 0.0:
            one += p * p * m.minv[a][c]
        if q != 0.0:
            one += q * q * m.minv[b][c]
        total += one * n[c] * n[c]
    return total


@kernel
def press(m, w, span):
    """Find the multipliers of a step; velocities are those without; return success.

    Gauss and Seidel's sweeps over the nodes, each node's multiplier cut off at zero;
    nodes that share no node of the other body are right after the first. Normals are
    those without contact.
    """
    h = m.h
    for k in range(m.n_contact):
        for s in range(m.contact_first[k], m.contact_first[k + 1]):
            is_soft = m.stiffness[s] > 0.0
            find_gap(m, w, k, s, 0.0 if is_soft else h)
            if is_soft:
                w.lam[s] = max(0.0, -m.stiffness[s] * w.gap[s])
            if w.is_near[s] == 0:
                w.lam[s] = 0.0
    # From the multipliers of the last step, which are nearly right where they hold.
    for k in range(m.n_contact):
        for s in range(m.contact_first[k], m.contact_first[k + 1]):
            if w.lam[s] > 0.0:
                push(m, w, k, s, span * w.lam[s])
    for sweep in range(MAX_SWEEPS):
        change, largest = 0.0, 0.0
        for k in range(m.n_contact):
            noise = EPSILON * known_to(m, w, k)
            for s in range(m.contact_first[k], m.contact_first[k + 1]):
                ease = give(m, w, k, s)
                if m.stiffness[s] > 0.0 or w.is_near[s] == 0 or ease == 0.0:
                    continue
                gap = gap_of(m, w, k, s, h)
                new = max(0.0, w.lam[s] - gap / (h * span * ease))
                step = new - w.lam[s]
                if step != 0.0:
                    push(m, w, k, s, span * step)
                    w.lam[s] = new
                if abs(step) * h * span * ease > noise:
                    change = max(change, abs(step))
                largest = max(largest, new)
        w.n_sweep = max(w.n_sweep, sweep + 1)
        if change <= SETTLED * largest:
            return True
    return False


@kernel
def known_to(m, w, k):
    """Return what the gaps of a contact are made of, m: round-off is a part of it.

    Nodes of a contact share others, and so the largest: by differences where they touch
    nodes, else by coordinates.
    """
    surface, kind, most = m.contact_surface[k], m.contact_kind[k], 0.0
    for s in range(m.contact_first[k], m.contact_first[k + 1]):
        i, x = m.slave[s], abs(surface[4])
        a, b, _, q = masters(m, w, k, s)
        for c in range(2):
            x += abs(w.u[i][c]) + m.h * abs(w.v[i][c])
            if kind == CHAIN or kind == NODE:
                x += abs(m.place[i][c] - m.place[a][c])
                if q != 0.0:
                    x += abs(m.place[i][c] - m.place[b][c])
            else:
                x += abs(m.place[i][c]) + abs(surface[c])
        most = max(most, x)
    return most


@kernel
def apart(m, w, i, j, ahead, c):
    """Return a coordinate of node i, seen from node j, `ahead` seconds after t_n."""
    still = (m.place[i][c] - m.place[j][c]) + (w.u[i][c] - w.u[j][c])
    return still + ahead * (w.v[i][c] - w.v[j][c])


@kernel
def gap_of(m, w, k, s, ahead):
    """Return the gap of node s along its normal, `ahead` seconds after t_n."""
    i = m.slave[s]
    a, b, p, q = masters(m, w, k, s)
    kind, surface, n = m.contact_kind[k], m.contact_surface[k], w.normal[s]
    gap = 0.0
    for c in range(2):
        if kind == CHAIN or kind == NODE:
            # Differences first: nodes that touch are near each other, not the origin.
            x = p * apart(m, w, i, a, ahead, c)
            if q != 0.0:
                x += q * apart(m, w, i, b, ahead, c)
        else:
            x = at_node(m, w, i, ahead, c) - surface[c]
            if a >= 0:
                x -= w.u[a][c] + ahead * w.v[a][c]
        gap += x * n[c]
    return gap - surface[4] if kind == CIRCLE else gap


@kernel
def account(m, w, span, is_first):
    """Add up what contacts have done; note touch-downs and separations."""
    for k in range(m.n_contact):
        is_closed = 0
        for s in range(m.contact_first[k], m.contact_first[k + 1]):
            if w.lam[s] > 0.0:
                is_closed = 1
                rates = approach(m, w, k, s, False)
                # At the first instant the velocity before is that of the start; its
                # part was not counted by a row.
                if is_first:
                    rates += approach(m, w, k, s, True)
                w.work[k] += 0.5 * span * w.lam[s] * rates
        begin, end = m.contact_first[k], m.contact_first[k + 1]
        w.edge[k] = max(w.edge[k], w.lam[begin], w.lam[end - 1])
        if is_closed != w.is_closed[k]:
            if w.n_event < w.n_events:
                event = w.events[w.n_event]
                event[0], event[1] = w.n, k
                event[2] = TOUCH_DOWN if is_closed else SEPARATE
            w.n_event += 1
            w.is_closed[k] = is_closed


@kernel
def account_before(m, w, span):
    """Add the part of the work that the velocities before the step have done."""
    for k in range(m.n_contact):
        for s in range(m.contact_first[k], m.contact_first[k + 1]):
            if w.lam[s] > 0.0:
                w.work[k] += 0.5 * span * w.lam[s] * approach(m, w, k, s, True)
