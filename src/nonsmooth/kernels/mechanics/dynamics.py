"""Accelerations and reactions at a state, and projection onto the constraints.

    | M   J^T | | a    |   | f                          |
    | J   0   | | -lam | = | -bias - alpha g' - beta g  |

alpha and beta are Baumgarte's, zero when the state is projected instead.
"""

from nonsmooth.kernels.abi import FLOATS, NUMBER, at, far, kernel
from nonsmooth.kernels.friction import rubbing, slides
from nonsmooth.kernels.friction.modes import PRESSING
from nonsmooth.kernels.mechanics import assemble, bodies, contacts
from nonsmooth.kernels.mechanics.reactions import (
    factor_rows,
    factor_shared,
    oppose,
    react,
    respond,
    row_rate,
    solve_rows,
)
from nonsmooth.kernels.mechanics.tables import (
    FOR_ALL,
    FOR_PATCHES,
    PATCH,
    Tables,
    Work,
)
from nonsmooth.kernels.tolerances import REMEMBERED, ROUND_OFF, SHARED

MAX_PROJECTION = 8
# Rounds of sharing friction among joints at rest.
MAX_SHARE = 30


@far(Tables, Work, NUMBER, FLOATS, FLOATS)
def configure(m, w, t, q, v):
    """Evaluate laws, supports, markers, tails, joint rows and contacts.

    The states of friction laws follow the velocities.
    """
    bodies.time_laws(m, w, t)
    bodies.supports(m, w)
    bodies.markers(m, w, q, v)
    bodies.inner_forces(m, w, q, v)
    assemble.rows(m, w)
    contacts.states(m, w, v)
    contacts.contacts(m, w)


@far(Tables, Work, NUMBER, FLOATS, NUMBER, NUMBER, FLOATS)
def accelerate(m, w, t, v, alpha, beta, a):
    """Solve for reactions and accelerations; rows are configured and factored."""
    assemble.forces(m, w, t)
    bodies.solve_mass(m, w, w.f, a)
    for i in range(w.n_active):
        w.x[i] = 0.0
        if not w.is_active[i]:
            continue
        # row_rate(a) is g_t + J a
        w.x[i] = w.g_t[i] - row_rate(m, w, i, a) - w.bias[i]
        if alpha != 0.0 or beta != 0.0:
            w.x[i] -= alpha * row_rate(m, w, i, v) + beta * w.g[i]
    w.margin = 1.0
    is_rubbing = w.n_rub > 0 and not w.is_bare
    done = rubbing.rub_alone(m, w, a) if is_rubbing else 0
    if done == 0:
        solve_rows(m, w, w.x, w.lam)
        if w.has_lost_rank and w.n_stuck > w.n_gripped and w.n_rub > 0:
            share(m, w)
    if is_rubbing and done < 2:
        rubbing.rub(m, w, a)
    react(m, w, a)
    assemble.load_supports(m, w)
    contacts.stick_forces(m, w)
    if m.n_contact > m.n_touch:
        slides.bear(m, w)


@kernel
def share(m, w):
    """Share friction at rest among joints in proportion to their limits, as they are.

    Limits are loads, which depend on the friction. Where other joints slide, their
    friction depends on it in turn.
    """
    for _ in range(MAX_SHARE):
        if slides.bear_at_rest(m, w) <= SHARED:
            break
        factor_shared(m, w)
        solve_rows(m, w, w.x, w.lam)


@far(Tables, Work, NUMBER, FLOATS, NUMBER, NUMBER, FLOATS)
def derive(m, w, t, v, alpha, beta, dy):
    """Write y' where the rows are configured and factored already."""
    accelerate(m, w, t, v, alpha, beta, at(dy, m.n_dof))
    for i in range(m.n_dof):
        dy[i] = v[i]
    contacts.state_rates(m, w, at(dy, 2 * m.n_dof))
    assemble.powers(m, w, at(dy, 2 * m.n_dof + m.n_state))
    for i in range(m.n_y - m.n_history, m.n_y):
        dy[i] = 0.0


@far(Tables, Work, NUMBER, FLOATS, NUMBER, NUMBER, FLOATS)
def rhs(m, w, t, y, alpha, beta, dy):
    """Write y' = (v, a, z', power, 0) at y = (q, v, z, work, history)."""
    v = at(y, m.n_dof)
    shut_eyes(m, w)
    configure(m, w, t, y, v)
    open_eyes(w)
    factor_rows(m, w)
    derive(m, w, t, v, alpha, beta, dy)


@kernel
def shut_eyes(m, w):
    """Let nothing be worked out that has no part in the motion of the present mode."""
    w.is_blind = 1
    w.least_use = FOR_ALL
    for k in range(m.n_touch if m.n_patch > 0 else 0):
        if m.contact_kind[k] == PATCH and w.mode[k].side == PRESSING:
            w.least_use = FOR_PATCHES


@kernel
def open_eyes(w):
    """Let guards see all again."""
    w.is_blind = 0
    w.least_use = FOR_PATCHES


@kernel
def violation(m, w):
    """Return the largest |g|."""
    largest = 0.0
    for i in range(w.n_active):
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
        for i in range(w.n_active):
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
    for i in range(w.n_active):
        w.x[i] = -row_rate(m, w, i, v)
    respond(m, w, v)


@far(Tables, Work, NUMBER, FLOATS, NUMBER, returns=NUMBER)
def project(m, w, t, y, size):
    """Project positions, then velocities; return the violation left."""
    v = at(y, m.n_dof)
    shut_eyes(m, w)
    left = project_positions(m, w, t, y, v, size)
    factor_rows(m, w)
    if w.n_active > 0:
        project_velocities(m, w, v)
        # The rows' biases and the markers' rates belong to the new velocities.
        configure(m, w, t, y, v)
    open_eyes(w)
    return left


@far(Tables, Work, FLOATS)
def keep_tangent(m, w, x):
    """Remove from x what the constraints forbid; rows are configured and factored.

    x <- x - M^-1 J^T (J M^-1 J^T)^-1 J x
    """
    oppose(m, w, x)


@kernel
def note_speed(m, w, v, size, least):
    """Keep the largest speed and rotation of a body, at least `least` sizes, radians.

    Where all comes to rest, velocities decay into round-off of what they were, also if
    events on the way have found them slower already.
    """
    w.speed = size * least
    w.spin = least
    for k in range(m.n_moving):
        spin = abs(v[m.body_dof[k] + 2])
        w.speed = max(w.speed, bodies.speed_of(m, k, v), spin * size)
        w.spin = max(w.spin, spin)
    w.top_speed = max(w.top_speed, w.speed)
    w.top_spin = max(w.top_spin, w.spin)
    w.speed = max(w.speed, REMEMBERED * w.top_speed)
    w.spin = max(w.spin, REMEMBERED * w.top_spin)
