"""Accelerations and reactions at a state, and projection onto the constraints.

    | M   J^T | | a    |   | f                          |
    | J   0   | | -lam | = | -bias - alpha g' - beta g  |

alpha and beta are Baumgarte's, zero when the state is projected instead.
"""

from nonsmooth.kernels import assemble, skyline
from nonsmooth.kernels.abi import FLOATS, NUMBER, at, far, kernel
from nonsmooth.kernels.assemble import CONTACT, LAM_N
from nonsmooth.kernels.tables import Tables, Work

# A violation this small beside the model's size is round-off.
ROUND_OFF = 4e-15
MAX_PROJECTION = 8
# Weights of reactions that are not unique: of contacts that can bear little beside
# others, at most; and of joints.
MAX_WEIGHT, JOINT_WEIGHT = 1e4, 1e-5


@far(Tables, Work, NUMBER, FLOATS, FLOATS)
def configure(m, w, t, q, v):
    """Evaluate laws, supports, markers and joint rows."""
    assemble.time_laws(m, w, t)
    assemble.supports(m, w)
    assemble.markers(m, w, q, v)
    assemble.rows(m, w)
    assemble.contacts(m, w)


@far(Tables, Work)
def factor_rows(m, w):
    """Form S = J M^-1 J^T and factor it; note a loss of rank."""
    S, J = w.S, w.J
    for i in range(m.n_profile):
        S[i] = 0.0
    for k in range(m.n_pair):
        a = at(J, m.pair_i[k])
        b = at(J, m.pair_j[k])
        c = at(m.minv, m.pair_dof[k])
        S[m.pair_at[k]] += a[0] * c[0] * b[0] + a[1] * c[1] * b[1] + a[2] * c[2] * b[2]
    for k in range(m.n_contact):
        i = m.contact_row[k]
        if i >= 0 and not w.is_active[i]:
            S[m.start[i] + i] = 1.0
    w.has_lost_rank = 0
    rank = skyline.CONTACT_RANK if w.n_stuck > 0 else skyline.RANK_TOLERANCE
    least = skyline.factor(m.n_row, m.first, m.start, S, 0.0, w.weight, rank, w.L, w.d)
    # Contacts that stand on one line are no singular pose of the mechanism.
    w.pivot = least if w.n_stuck == 0 else 1.0
    if least <= rank:
        w.n_rank_loss += 1
        w.has_lost_rank = 1
        share_friction(m, w)
        shift = skyline.REGULARISATION
        skyline.factor(m.n_row, m.first, m.start, S, shift, w.weight, rank, w.L, w.d)


@kernel
def share_friction(m, w):
    """Weigh the friction of sticking contacts by their limits.

    Where it is not unique, contacts on one line then bear in proportion to what they
    can, and reach their limits together.
    """
    for i in range(m.n_row):
        # A joint may bear what contacts cannot.
        w.weight[i] = 1.0 if w.n_stuck == 0 else JOINT_WEIGHT
    largest = 0.0
    for k in range(m.n_contact):
        i = m.contact_row[k]
        if i >= 0 and w.is_active[i]:
            largest = max(largest, bearing(m, w, k))
    for k in range(m.n_contact):
        i = m.contact_row[k]
        if i >= 0 and w.is_active[i]:
            own = bearing(m, w, k)
            w.weight[i] = min(largest / own, MAX_WEIGHT) if own > 0.0 else MAX_WEIGHT


@kernel
def bearing(m, w, k):
    """Return what contact k can bear, in the units in which reactions are weighed."""
    i = m.contact_row[k]
    limit = m.contact_mu0[k] * w.contact[CONTACT * k + LAM_N]
    return limit * w.S[m.start[i] + i]


@kernel
def solve_rows(m, w, b, x):
    """Solve S x = b with the current factors, least norm if S lost rank."""
    if w.has_lost_rank:
        skyline.least_norm(m.n_row, m.first, m.start, w.S, w.L, w.d, b, w.r, x)
        return
    for i in range(m.n_row):
        x[i] = b[i]
    skyline.solve(m.n_row, m.first, m.start, w.L, w.d, x)


@kernel
def row_rate(m, w, i, v):
    """Return g' of row i."""
    total = w.g_t[i]
    for side in range(2):
        k = m.row_dof[2 * i + side]
        if k >= 0:
            J = at(w.J, 6 * i + 3 * side)
            total += J[0] * v[k] + J[1] * v[k + 1] + J[2] * v[k + 2]
    return total


@kernel
def add_reactions(m, w, lam, out):
    """Add J^T lam to out."""
    for i in range(m.n_row):
        for side in range(2):
            k = m.row_dof[2 * i + side]
            if k >= 0:
                J = at(w.J, 6 * i + 3 * side)
                out[k] += J[0] * lam[i]
                out[k + 1] += J[1] * lam[i]
                out[k + 2] += J[2] * lam[i]


@kernel
def respond(m, w, a):
    """Add M^-1 J^T S^-1 x to a, with x in w.x; the multipliers go to w.lam."""
    solve_rows(m, w, w.x, w.lam)
    for i in range(m.n_dof):
        w.a[i] = 0.0
    add_reactions(m, w, w.lam, w.a)
    for i in range(m.n_dof):
        w.a[i] *= m.minv[i]
        a[i] += w.a[i]


@kernel
def accelerate(m, w, t, v, alpha, beta, a):
    """Solve for reactions and accelerations; rows are configured and factored."""
    assemble.forces(m, w, t)
    for i in range(m.n_dof):
        a[i] = m.minv[i] * w.f[i]
    for i in range(m.n_row):
        # row_rate(a) is g_t + J a
        w.x[i] = w.g_t[i] - row_rate(m, w, i, a) - w.bias[i]
        if alpha != 0.0 or beta != 0.0:
            w.x[i] -= alpha * row_rate(m, w, i, v) + beta * w.g[i]
    respond(m, w, a)
    assemble.load_supports(m, w)
    assemble.stick_forces(m, w)


@far(Tables, Work, NUMBER, FLOATS, NUMBER, NUMBER, FLOATS)
def derive(m, w, t, v, alpha, beta, dy):
    """Write y' where the rows are configured and factored already."""
    accelerate(m, w, t, v, alpha, beta, at(dy, m.n_dof))
    for i in range(m.n_dof):
        dy[i] = v[i]
    assemble.powers(m, w, at(dy, 2 * m.n_dof))


@kernel
def violation(m, w):
    """Return the largest |g|."""
    largest = 0.0
    for i in range(m.n_row):
        # Not max(): a NaN must come out.
        if not abs(w.g[i]) <= largest:
            largest = abs(w.g[i])
    return largest


@kernel
def project_positions(m, w, t, q, v, size):
    """Move q onto g = 0 by the mass-weighted shortest way; leave rows configured.

        q <- q - M^-1 J^T (J M^-1 J^T)^-1 g

    Stops at round-off, or where a step no longer helps (a singular pose bounds
    what can be reached). Returns the violation left.
    """
    configure(m, w, t, q, v)
    left = violation(m, w)
    for _ in range(MAX_PROJECTION):
        if left <= ROUND_OFF * size:
            break
        factor_rows(m, w)
        for i in range(m.n_row):
            w.x[i] = -w.g[i]
        respond(m, w, q)
        configure(m, w, t, q, v)
        before = left
        left = violation(m, w)
        if not left < before:
            # Round-off has been met from above: undo a step that did not help.
            for i in range(m.n_dof):
                q[i] -= w.a[i]
            configure(m, w, t, q, v)
            left = before
            break
    return left


@kernel
def project_velocities(m, w, v):
    """Change v by the impulse that makes g' = 0; rows are configured and factored.

    v <- v - M^-1 J^T (J M^-1 J^T)^-1 (J v + g_t)
    """
    for i in range(m.n_row):
        w.x[i] = -row_rate(m, w, i, v)
    respond(m, w, v)


@far(Tables, Work, NUMBER, FLOATS, NUMBER, returns=NUMBER)
def project(m, w, t, y, size):
    """Project positions, then velocities; return the violation left."""
    v = at(y, m.n_dof)
    left = project_positions(m, w, t, y, v, size)
    factor_rows(m, w)
    project_velocities(m, w, v)
    # The rows' biases and the markers' rates belong to the new velocities.
    configure(m, w, t, y, v)
    return left


@far(Tables, Work, FLOATS)
def keep_tangent(m, w, x):
    """Remove from x what the constraints forbid; rows are configured and factored.

    x <- x - M^-1 J^T (J M^-1 J^T)^-1 J x
    """
    for i in range(m.n_row):
        w.x[i] = w.g_t[i] - row_rate(m, w, i, x)
    respond(m, w, x)


@far(Tables, Work, NUMBER, FLOATS, NUMBER, NUMBER, FLOATS)
def rhs(m, w, t, y, alpha, beta, dy):
    """Write y' = (v, a, power) at the state y = (q, v, work)."""
    v = at(y, m.n_dof)
    configure(m, w, t, y, v)
    factor_rows(m, w)
    derive(m, w, t, v, alpha, beta, dy)
