"""The next mode at an event.

Contacts that touch, release or separate change side. Contacts at rest are decided
together, normal forces known:

    v_t' = A lam_t + b
    0 <= v_t'+  _|_  mu0 lam_n + lam_t >= 0
    0 <= v_t'-  _|_  mu0 lam_n - lam_t >= 0

A contact that cannot stay drops to mu at once, and the rest are decided again.
[WangWang2015]_ Eqs. (9)-(13), (25).
"""

from nonsmooth.kernels import assemble, modes
from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, kernel, stack_floats
from nonsmooth.kernels.assemble import (
    CONTACT,
    GAP,
    GAP_RATE,
    LAM_N,
    LAM_T,
    OPEN,
    PRESSING,
    RELEASED,
    V_T,
)
from nonsmooth.kernels.run import Run
from nonsmooth.kernels.tables import Tables, Work

# A slip velocity this small beside the model's size (per second) is zero: round-off
# of a projection.
AT_REST = 1e-13
# Accelerations and forces this small beside the others are ties.
TIE = 1e-9

DECIDED, UNDECIDED = 0, 1


@kernel
def has_friction(m, k):
    """Return whether contact k can stick."""
    return m.contact_row[k] >= 0


@kernel
def activate(m, w):
    """Make the rows of sticking contacts constraints."""
    w.n_stuck = 0
    for k in range(m.n_contact):
        i = m.contact_row[k]
        if i >= 0:
            sticks = w.side[k] == PRESSING and w.slip[k] == 0
            w.is_active[i] = 1 if sticks else 0
            if sticks:
                w.n_stuck += 1


@kernel
def change_sides(m, w, r):
    """Apply the events of gaps and normal forces; mark who comes to rest."""
    for k in range(m.n_contact):
        fired = at(r.fired, m.n_guard + 4 * k)
        c = at(w.contact, CONTACT * k)
        r.rests[k] = 0
        r.freed[k] = 0
        if fired[0]:
            if w.side[k] == OPEN:
                w.side[k] = PRESSING
                w.approach[k] = max(0.0, -c[GAP_RATE])
                # Slip is what the velocity says; at rest it is decided below.
                w.slip[k] = 0
                if abs(c[V_T]) > AT_REST * r.size:
                    w.slip[k] = 1 if c[V_T] > 0.0 else -1
                else:
                    r.rests[k] = 1
            else:
                w.side[k] = OPEN
        elif fired[1]:
            if w.side[k] == PRESSING:
                w.side[k] = RELEASED
            else:
                w.side[k] = PRESSING
                w.slip[k] = 0
                if abs(c[V_T]) > AT_REST * r.size:
                    w.slip[k] = 1 if c[V_T] > 0.0 else -1
                else:
                    r.rests[k] = 1
        if not has_friction(m, k) or w.side[k] != PRESSING:
            continue
        if w.slip[k] != 0:
            if fired[2] and not fired[0] and not fired[1]:
                r.rests[k] = 1
        elif fired[2] or fired[3]:
            # Its friction is at the limit and goes on growing: it lets go.
            w.slip[k] = 1 if fired[2] else -1
            r.freed[k] = 1
        else:
            r.rests[k] = 1


@kernel
def bring_to_rest(m, w, r, t):
    """Set the slip of resting contacts exactly to zero, together with the joints."""
    n_rest = 0
    for k in range(m.n_contact):
        i = m.contact_row[k]
        if i >= 0:
            w.is_active[i] = r.rests[k]
            n_rest += r.rests[k]
    if n_rest > 0:
        v = at(r.y, m.n_dof)
        modes.configure(m, w, t, r.y, v)
        modes.factor_rows(m, w)
        modes.project_velocities(m, w, v)
    return n_rest


@kernel
def free_accelerations(m, w, r, t, n, b):
    """Write v_t' of the n listed contacts with no friction on them."""
    v = at(r.y, m.n_dof)
    modes.configure(m, w, t, r.y, v)
    modes.factor_rows(m, w)
    modes.accelerate(m, w, t, v, 0.0, 0.0, r.d)
    assemble.add_acceleration(m, w, r.d)
    for i in range(n):
        b[i] = assemble.slip_acceleration(m, w, r.listed[i])


@kernel
def delassus(m, w, r, n, A):
    """Write the accelerations of the n listed contacts under unit friction forces.

    Rows are configured and factored without them.
    """
    for j in range(n):
        for i in range(m.n_dof):
            r.d[i] = 0.0
        spread(m, w, r.listed[j], 1.0, r.d)
        for i in range(m.n_dof):
            r.d[i] *= m.minv[i]
        for i in range(m.n_row):
            w.x[i] = w.g_t[i] - modes.row_rate(m, w, i, r.d)
        modes.respond(m, w, r.d)
        for i in range(n):
            A[i * n + j] = gather(m, w, r.listed[i], r.d)


@kernel
def spread(m, w, k, force, f):
    """Add a friction force at contact k to the generalised force f."""
    c = at(w.contact, CONTACT * k)
    G = stack_floats(6)
    assemble.contact_block(m, k, c, G)
    for side in range(2):
        marker = m.contact_b[k] if side else m.contact_a[k]
        o = 3 * m.marker_body[marker]
        if o < m.n_dof:
            g = at(G, 3 * side)
            f[o] += force * g[0]
            f[o + 1] += force * g[1]
            f[o + 2] += force * (
                g[2] - g[0] * w.arm[2 * marker + 1] + g[1] * w.arm[2 * marker]
            )


@kernel
def gather(m, w, k, a):
    """Return the slip acceleration of contact k due to body accelerations a."""
    c = at(w.contact, CONTACT * k)
    G = stack_floats(6)
    assemble.contact_block(m, k, c, G)
    total = 0.0
    for side in range(2):
        marker = m.contact_b[k] if side else m.contact_a[k]
        o = 3 * m.marker_body[marker]
        if o < m.n_dof:
            g = at(G, 3 * side)
            total += g[0] * a[o] + g[1] * a[o + 1]
            total += a[o + 2] * (
                g[2] - g[0] * w.arm[2 * marker + 1] + g[1] * w.arm[2 * marker]
            )
    return total


@kernel
def box_problem(n, A, b, limit, lam):
    """Solve the friction problem by projected Gauss-Seidel, then exactly.

    Stands in for Lemke's method on the problem of size 2 n.
    """
    for i in range(n):
        lam[i] = 0.0
    for _ in range(10000):
        change = 0.0
        for i in range(n):
            rest = b[i]
            for j in range(n):
                rest += A[i * n + j] * lam[j]
            d = A[i * n + i]
            if not d > 0.0:
                continue
            new = min(limit[i], max(-limit[i], lam[i] - rest / d))
            change = max(change, abs(new - lam[i]) / (limit[i] + 1e-300))
            lam[i] = new
        if change < 1e-15:
            break


@kernel
def decide_rest(m, w, r, t):
    """Decide stick or slip for all contacts at rest; return how many slip."""
    n_slip = 0
    while True:
        n = 0
        for k in range(m.n_contact):
            i = m.contact_row[k]
            if i >= 0:
                w.is_active[i] = 0
                if r.rests[k]:
                    # No friction on those to be decided.
                    w.slip[k] = 0
                    r.listed[n] = k
                    n += 1
        if n == 0:
            return n_slip
        free_accelerations(m, w, r, t, n, r.slip_rate)
        delassus(m, w, r, n, r.delassus)
        for i in range(n):
            k = r.listed[i]
            r.limit[i] = m.contact_mu0[k] * max(0.0, w.contact[CONTACT * k + LAM_N])
        box_problem(n, r.delassus, r.slip_rate, r.limit, r.friction)
        released = 0
        for i in range(n):
            rate = r.slip_rate[i]
            size = abs(rate)
            for j in range(n):
                rate += r.delassus[i * n + j] * r.friction[j]
                size += abs(r.delassus[i * n + j] * r.friction[j])
            at_limit = abs(r.friction[i]) >= r.limit[i] * (1.0 - TIE)
            if at_limit and abs(rate) > TIE * size:
                k = r.listed[i]
                w.slip[k] = 1 if rate > 0.0 else -1
                r.rests[k] = 0
                r.freed[k] = 1
                released += 1
        n_slip += released
        if released == 0:
            return n_slip


@kernel
def recall_wrong(m, w, r, t):
    """Take back contacts let go that would slip against their own friction.

    Returns how many.
    """
    v = at(r.y, m.n_dof)
    modes.configure(m, w, t, r.y, v)
    modes.factor_rows(m, w)
    modes.accelerate(m, w, t, v, 0.0, 0.0, r.d)
    assemble.add_acceleration(m, w, r.d)
    n_wrong = 0
    for k in range(m.n_contact):
        if r.freed[k]:
            c = at(w.contact, CONTACT * k)
            rate = w.slip[k] * assemble.slip_acceleration(m, w, k)
            # Friction at mu0 and at mu differ: a rate below that is a tie.
            if rate < -TIE * abs(c[LAM_T]) * slip_compliance(m, w, r, k):
                r.freed[k] = 0
                r.rests[k] = 1
                n_wrong += 1
    return n_wrong


@kernel
def slip_compliance(m, w, r, k):
    """Return the slip acceleration of contact k under a unit friction force."""
    for i in range(m.n_dof):
        r.d[i] = 0.0
    spread(m, w, k, 1.0, r.d)
    for i in range(m.n_dof):
        r.d[i] *= m.minv[i]
    return gather(m, w, k, r.d)


@far(Tables, Work, Run, NUMBER, returns=INTEGER)
def decide(m, w, r, t):
    """Decide all contacts at rest, until the mode agrees with the law."""
    bring_to_rest(m, w, r, t)
    for _ in range(2 + m.n_contact):
        decide_rest(m, w, r, t)
        activate(m, w)
        for k in range(m.n_contact):
            # Those decided to stick are at rest still, should another be recalled.
            sticks = has_friction(m, k) and w.side[k] == PRESSING and w.slip[k] == 0
            r.rests[k] = 1 if sticks else 0
        if recall_wrong(m, w, r, t) == 0:
            return DECIDED
    return UNDECIDED


@far(Tables, Work, Run, NUMBER, returns=INTEGER)
def switch(m, w, r, t):
    """Choose the next mode at the state r.y from the guards that fired."""
    modes.configure(m, w, t, r.y, at(r.y, m.n_dof))
    change_sides(m, w, r)
    return decide(m, w, r, t)


@far(Tables, Work, Run, NUMBER, returns=INTEGER)
def first_mode(m, w, r, t):
    """Choose the mode a run begins in."""
    v = at(r.y, m.n_dof)
    for k in range(m.n_contact):
        w.side[k] = OPEN
        w.slip[k] = 0
    activate(m, w)
    modes.configure(m, w, t, r.y, v)
    modes.factor_rows(m, w)
    modes.accelerate(m, w, t, v, 0.0, 0.0, r.d)
    assemble.add_acceleration(m, w, r.d)
    for k in range(m.n_contact):
        c = at(w.contact, CONTACT * k)
        r.rests[k] = 0
        r.freed[k] = 0
        # By the first derivative that is not zero, up to the acceleration.
        first = c[GAP]
        if abs(first) <= 1e-14 * r.size:
            first = c[GAP_RATE]
            if abs(first) <= AT_REST * r.size:
                first = assemble.gap_acceleration(m, w, k)
        if first < 0.0:
            w.approach[k] = max(0.0, -c[GAP_RATE])
            w.side[k] = PRESSING
            if c[GAP] < 0.0 and assemble.normal_force(m, w, k, c[GAP], c[GAP_RATE]) < 0.0:
                w.side[k] = RELEASED
            elif has_friction(m, k):
                if abs(c[V_T]) > AT_REST * r.size:
                    w.slip[k] = 1 if c[V_T] > 0.0 else -1
                else:
                    r.rests[k] = 1
    return decide(m, w, r, t)
