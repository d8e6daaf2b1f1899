"""Friction at rest where joints rub, too: limits depend on friction.

    |F_i| <= mu_i G_i,   G = G(u_0 + U F)      of a joint at rest; of a contact G known
    F_i = -phi_i G_i                           of a joint that slides

For given loads G this is the convex problem of `complementarity.box`, its redundant
forces shared; the loads that follow from its friction must be those it was posed with.
They are looked for by `complementarity.fixed_point`, from loads without friction. Where
friction changes loads by less than loads change friction there is one answer, and this
finds it. Elsewhere there may be several or none: `flanks` tells.
"""

from nonsmooth.kernels.abi import INTEGER, at, call_limit, far, kernel
from nonsmooth.kernels.complementarity import fixed_point
from nonsmooth.kernels.complementarity.box import solve_box
from nonsmooth.kernels.complementarity.scaling import LIMIT, SOLVED
from nonsmooth.kernels.complementarity.sharing import share
from nonsmooth.kernels.friction import slides
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import Decision
from nonsmooth.kernels.tolerances import AT_LIMIT, NO_ACCELERATION, NO_FLANK


@kernel
def speed(w, k):
    """Return the speed at which contact k begins to slip: it may slip already.

    In a span that is crossed, where who slips is decided with who rests.
    """
    return abs(w.contact[k].v_t) if w.is_clamped else 0.0


@kernel
def motion_limit(m, w, k):
    """Return the friction of contact k when it begins to move."""
    lam_n = max(0.0, w.contact[k].lam_n)
    if m.contact_band[k] > 0.0:
        return m.contact_mu0[k] * lam_n
    p = at(m.par, m.contact_friction_par[k])
    return call_limit(m.address[m.contact_friction[k]], p, lam_n, speed(w, k))


@kernel
def motion_part(m, w, k):
    """Return the friction of joint k when it begins to move, beside its load."""
    if m.contact_band[k] > 0.0:
        return m.contact_mu0[k]
    p = at(m.par, m.contact_friction_par[k])
    address, v = m.address[m.contact_friction[k]], speed(w, k)
    return call_limit(address, p, 1.0, v) - call_limit(address, p, 0.0, v)


@kernel
def part_at_rest(m, r, k):
    """Return the friction of contact k at rest, at most, beside its load.

    One that its limit balances is at rest: forces of stiff contacts have more round-off
    than what tells that it is not.
    """
    mu = m.contact_mu0[k]
    return mu * (1.0 + AT_LIMIT) if r.balanced[k] else mu


@kernel
def part_of(m, w, r, k):
    """Return the same of joint k, or where it begins to move."""
    mu = part_at_rest(m, r, k)
    return min(mu, motion_part(m, w, k)) if r.dropped[k] else mu


@kernel
def reaction_of(r, l, row):
    """Return a reaction of the joint listed as l under the present friction."""
    nf = r.n_force
    total = r.reaction_base[l][row]
    for j in range(nf):
        total += r.reaction[(2 * l + row) * nf + j] * r.friction[j]
    return total


@kernel
def load_of(m, w, r, n, l):
    """Return the load of the joint listed as l under the present friction."""
    k = r.listed[l]
    first = reaction_of(r, l, 0)
    second = reaction_of(r, l, 1) if slides.has_two(m, k) else 0.0
    if l < n:
        return slides.load_at_rest(m, w, k, r.friction[l], first, second)
    return slides.load_under(m, w, k, w.contact[k].phi, first, second)


@kernel
def pose_box(m, w, r, n):
    """Write the box problem of the n contacts at rest for the loads in `search`."""
    nf = r.n_force
    for l in range(n, nf):
        k = r.listed[l]
        r.friction[l] = -w.contact[k].phi * w.search.x[l]
    for i in range(n):
        k = r.listed[i]
        if k >= m.n_touch:
            r.limit[i] = part_of(m, w, r, k) * max(w.search.x[i], 0.0)
        w.held_force[i] = r.slip_rate[i]
        for j in range(n):
            w.held_A[i * n + j] = r.delassus[i * nf + j]
        for l in range(n, nf):
            w.held_force[i] += r.delassus[i * nf + l] * r.friction[l]
        # Round-off comes from forces as large as the weight.
        w.box.noise[i] = NO_ACCELERATION * r.free[i] * w.force


@kernel
def meet_loads(m, w, r, n):
    """Find loads and friction that agree; return a status."""
    nf, p = r.n_force, w.search
    fixed_point.begin(p, nf)
    while True:
        pose_box(m, w, r, n)
        A, b, lam = w.held_A, w.held_force, r.friction
        status = solve_box(w.box, n, A, b, r.limit, r.free, lam, r.slip_change)
        if status != SOLVED:
            return status
        share(w.box, n, A, r.limit, r.free, lam)
        for l in range(nf):
            p.y[l] = p.x[l]
            if r.listed[l] >= m.n_touch:
                p.y[l] = load_of(m, w, r, n, l)
        if fixed_point.is_met(p, nf):
            return SOLVED
        if not fixed_point.advance(p, nf):
            return LIMIT


@far(Tables, Work, Decision, INTEGER, returns=INTEGER)
def solve_joined(m, w, r, n):
    """Solve the friction problem of n contacts at rest; return a status.

    Limits drop to those of motion where contacts accelerate, all of a round together
    and with both signs; who has dropped stays so.
    """
    for l in range(r.n_force):
        r.friction[l] = 0.0
    for l in range(r.n_force):
        is_joint = r.listed[l] >= m.n_touch
        w.search.x[l] = load_of(m, w, r, n, l) if is_joint else 1.0
    for _ in range(1 + n):
        for i in range(n):
            k = r.listed[i]
            if k < m.n_touch and r.dropped[k]:
                r.limit[i] = min(r.limit[i], motion_limit(m, w, k))
        status = meet_loads(m, w, r, n)
        n_dropped = 0
        for i in range(n):
            if w.box.slip[i] != 0 and not r.dropped[r.listed[i]]:
                r.dropped[r.listed[i]] = 1
                n_dropped += 1
        if status != SOLVED or n_dropped == 0:
            return status
    return SOLVED


@kernel
def lean(m, w, r, n):
    """Set the flanks of joints that slide in the solution; one without force stays."""
    for l in range(r.n_force):
        k = r.listed[l]
        if k < m.n_touch or (l < n and w.box.slip[l] == 0):
            continue
        phi = w.contact[k].phi
        if l < n:
            phi = w.box.slip[l] * part_of(m, w, r, k)
        first = reaction_of(r, l, 0)
        second = reaction_of(r, l, 1) if slides.has_two(m, k) else 0.0
        for j in range(0 if slides.is_curved(m, k) else slides.n_flank(m, k)):
            u = slides.flank_force(m, w, k, j, phi, first, second)
            bit = 1 << j
            if abs(u) > NO_FLANK * w.search.x[l]:
                mode = w.mode[k]
                mode.flank = (mode.flank & ~bit) | (bit if u < 0.0 else 0)
