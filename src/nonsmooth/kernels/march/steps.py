"""One step of an explicit method: stages, error, projection, dense output."""

import math

from nonsmooth.kernels.abi import FLOATS, NUMBER, at, far, kernel
from nonsmooth.kernels.friction import slides
from nonsmooth.kernels.mechanics import bodies, dynamics
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import Step, Tableau

SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
# An error, in units of the tolerance, that is none.
NO_ERROR = 1e-100
# Power iterations for the spectral radius, and their differences relative to the
# model's size and one radian.
N_POWER, POWER_STEP = 8, 1e-8


@kernel
def evaluate(m, w, s, t, y, dy):
    """Write y' = f(t, y) and count it."""
    s.n_rhs += 1
    dynamics.rhs(m, w, min(t, s.t_cap), y, s.set.alpha, s.set.beta, dy)
    if m.n_contact > m.n_touch:
        hear(m, w, s)
    if w.has_lost_rank:
        if w.n_stuck > 0:
            s.t_redundant = min(s.t_redundant, t)
        else:
            s.t_singular = min(s.t_singular, t)


# ---- guards of joints at the stages --------------------------------------------


@kernel
def hear(m, w, s):
    """Note how near the guards of joints come to zero at the stages of a step.

    Each is a reaction; where none comes near, they need not be looked for again.
    """
    for k in range(m.n_touch, m.n_contact):
        slides.hear(m, w, k)
    w.heard[m.n_watch - 1] = w.margin
    low, high, heard = s.low, s.high, w.heard
    for i in range(m.n_heard, m.n_watch):
        value = heard[i]
        low[i] = value if value < low[i] else low[i]
        high[i] = value if value > high[i] else high[i]


@kernel
def begin_hearing(m, s):
    """Forget all stages but the start of the step."""
    for i in range(m.n_heard, m.n_watch):
        s.low[i] = s.first[i]
        s.high[i] = s.first[i]


@kernel
def note_end(m, w, s):
    """Note the guards of joints at the end of a step."""
    if m.n_contact > m.n_touch:
        hear(m, w, s)
        for i in range(m.n_heard, m.n_watch):
            s.at_end[i] = w.heard[i]


@kernel
def keep_heard(m, s):
    """Let what was heard last be the start of a step."""
    for i in range(m.n_heard, m.n_watch):
        s.first[i] = s.at_end[i]


# ---- error and step size -------------------------------------------------------


@kernel
def set_tolerances(m, s, y, y1):
    """Admissible error of each coordinate, rate, internal state and work.

    Works are measured against the kinetic energy or the work done so far; the rest as
    in `bodies.set_tolerances`.
    """
    n, tol, atol, rtol = m.n_dof, s.tol, s.set.atol, s.set.rtol
    energy = bodies.set_tolerances(m, atol, rtol, y, y1, tol)
    for i in range(m.n_state):
        tol[2 * n + i] = (atol + rtol) * m.state_scale[i]
    for i in range(2 * n + m.n_state, m.n_y):
        done = max(abs(y[i]), abs(y1[i]))
        tol[i] = atol * m.energy + rtol * max(energy, done)


@kernel
def norm(n, x, tol):
    """Largest |x| in units of its tolerance."""
    largest = 0.0
    for i in range(n):
        ratio = abs(x[i]) / tol[i]
        # Not max(): a NaN must come out.
        if not ratio <= largest:
            largest = ratio
    return largest


@kernel
def combine(n_y, y, h, n, weights, K, out):
    """Write y + h sum_j weights_j K_j."""
    for i in range(n_y):
        out[i] = 0.0
    for j in range(n):
        weight = weights[j]
        if weight != 0.0:
            k = K[j]
            for i in range(n_y):
                out[i] += weight * k[i]
    for i in range(n_y):
        out[i] = y[i] + h * out[i]


@far(Tables, Work, Step, NUMBER, returns=NUMBER)
def first_step(m, w, s, order):
    """Choose a first step from y' and y'' [HairerNorsettWanner1993]_ II.4."""
    n = m.n_y
    end = s.K[1]
    set_tolerances(m, s, s.y, s.y)
    d0 = norm(n, s.y, s.tol)
    d1 = norm(n, s.K[0], s.tol)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = min(h0, s.set.h_max)
    for i in range(m.n_y):
        s.stage[i] = s.y[i] + h0 * s.K[0][i]
    evaluate(m, w, s, s.t + h0, s.stage, end)
    for i in range(n):
        s.stage[i] = end[i] - s.K[0][i]
    d2 = norm(n, s.stage, s.tol) / h0
    largest = max(d1, d2)
    h1 = max(1e-6, h0 * 1e-3)
    if largest > 1e-15:
        h1 = (0.01 / largest) ** (1.0 / (order + 1.0))
    return min(100.0 * h0, h1, s.set.h_max)


@kernel
def size_of(m, i):
    """Return the size of entry i of the state: m, rad, the same per s, or m of z."""
    if i < 2 * m.n_dof:
        return m.scale[i % m.n_dof]
    return m.state_scale[i - 2 * m.n_dof]


@far(Tables, Work, Step, returns=NUMBER)
def spectral_radius(m, w, s):
    """Estimate the largest |eigenvalue| of y' = f(y) at (t, y), in 1/s.

    A few power iterations with differences of f; K[0] holds f. An explicit method
    needs steps of a few times its inverse. What rings grows by turns, from places to
    speeds and back: two iterations tell.
    """
    n = 2 * m.n_dof + m.n_state
    new = s.K[1]
    e = s.e[0]
    for i in range(m.n_y):
        s.stage[i] = s.y[i]
        e[i] = 0.0
    for i in range(n):
        e[i] = 1.0 + 0.1 * (i % 7)
        if i >= 2 * m.n_dof:
            e[i] *= size_of(m, i)
    radius, growth = 0.0, 0.0
    for _ in range(N_POWER):
        length = 0.0
        for i in range(n):
            length = max(length, abs(e[i]) / size_of(m, i))
        if not (0.0 < length < math.inf):
            break
        for i in range(n):
            s.stage[i] = s.y[i] + POWER_STEP / length * e[i]
        evaluate(m, w, s, s.t, s.stage, new)
        for i in range(n):
            e[i] = (new[i] - s.K[0][i]) / POWER_STEP
        size = 0.0
        for i in range(n):
            size = max(size, abs(e[i]) / size_of(m, i))
        radius, growth = math.sqrt(growth * size), size
    return radius if radius < math.inf else 0.0


@far(Tables, Work, Step, Tableau, NUMBER)
def stages(m, w, s, tb, h):
    """Take the stages and the step's end y1; K[0] is known. Leaves the last stage."""
    n_y = m.n_y
    for i in range(1, tb.n_stage):
        combine(n_y, s.y, h, i, tb.A[i], s.K, s.stage)
        evaluate(m, w, s, s.t + tb.c[i] * h, s.stage, s.K[i])
    combine(n_y, s.y, h, tb.n_stage, tb.b, s.K, s.y1)
    if tb.is_semi_implicit:
        for i in range(m.n_dof):
            s.y1[i] = s.y[i] + h * s.y1[m.n_dof + i]
    if tb.needs_end:
        evaluate(m, w, s, s.t + h, s.y1, s.K[tb.n_stage])


@kernel
def raw_error(m, s, tb, h):
    """Write the estimated errors h E k of the unprojected end, one after the other."""
    n_stage = tb.n_stage + 1 if tb.needs_end else tb.n_stage
    for row in range(2):
        e = s.e[row]
        for i in range(m.n_y):
            e[i] = 0.0
        for j in range(n_stage):
            weight = h * tb.E[row][j]
            if weight != 0.0:
                k = s.K[j]
                for i in range(m.n_y):
                    e[i] += weight * k[i]


@kernel
def tangent_norm(m, w, s, e):
    """Return the norm of an error after projection.

    The projection removes what the constraints forbid, so that only the rest counts
    in full. Without this a step across a singular pose would be refused for an error
    that does not survive it. What is removed bends the rest by its square, and counts
    so.
    """
    n = m.n_dof
    whole = norm(m.n_y, e, s.tol)
    if not s.set.is_projected or m.n_row == 0 or not whole < math.inf:
        return whole
    # A sticking contact holds velocities; its place is not corrected afterwards, so
    # that there every error of position counts.
    if w.n_stuck == 0:
        dynamics.keep_tangent(m, w, e)
    dynamics.keep_tangent(m, w, at(e, n))
    return max(norm(m.n_y, e, s.tol), whole * math.sqrt(s.set.rtol))


@far(Tables, Work, Step, returns=NUMBER)
def error(m, w, s):
    """Return the error of the landed step in units of the tolerance."""
    set_tolerances(m, s, s.y, s.y1)
    e5 = tangent_norm(m, w, s, s.e[0])
    e3 = tangent_norm(m, w, s, s.e[1])
    # Below, squares vanish.
    if e3 > NO_ERROR:
        e5 = e5 * e5 / math.sqrt(e5 * e5 + 0.01 * e3 * e3)
    return e5


@far(Tables, Work, Step, NUMBER, FLOATS, returns=NUMBER)
def land(m, w, s, t, end):
    """Project the step's end and write y' there to `end`; keep what was moved."""
    y1, moved = s.y1, s.moved
    t_law = min(t, s.t_cap)
    if not s.set.is_projected:
        for i in range(m.n_y):
            moved[i] = 0.0
        evaluate(m, w, s, t, y1, end)
        note_end(m, w, s)
        return dynamics.violation(m, w)
    for i in range(m.n_y):
        moved[i] = -y1[i]
    left = dynamics.project(m, w, t_law, y1, s.set.size)
    s.pivot_end = w.pivot
    for i in range(m.n_y):
        moved[i] += y1[i]
    s.n_rhs += 1
    dynamics.derive(m, w, t_law, at(y1, m.n_dof), 0.0, 0.0, end)
    note_end(m, w, s)
    return left


@kernel
def stiffness(m, s, tb, h):
    """Estimate |h lam| from the last stage and the end, both at t + h.

    [HairerWanner1996]_ IV.2: beyond the method's reach the step is held by
    stability, not by accuracy.
    """
    up, down = 0.0, 0.0
    end, last = s.K[tb.n_stage], s.K[tb.n_stage - 1]
    for i in range(2 * m.n_dof + m.n_state):
        up = max(up, abs(end[i] - last[i]) / s.tol[i])
        down = max(down, abs(s.y1[i] - s.stage[i]) / s.tol[i])
    return h * up / down if down > 0.0 else 0.0


@kernel
def correct_dense(m, s):
    """Bend the dense output so that it ends on the projected state.

    y(x) + (3 x^2 - 2 x^3) (projected - unprojected)
    """
    for i in range(m.n_y):
        s.C[1][i] += 3.0 * s.moved[i]
        s.C[2][i] -= 2.0 * s.moved[i]


@far(Tables, Work, Step, Tableau, NUMBER)
def dense(m, w, s, tb, h):
    """Write the dense output of the step to C; y' at the end is K[n_stage]."""
    n_y, C = m.n_y, s.C
    for i in range(tb.n_stage + 1, tb.n):
        combine(n_y, s.y, h, i, tb.A[i], s.K, s.stage)
        evaluate(m, w, s, s.t + tb.c[i] * h, s.stage, s.K[i])
    for p in range(s.n_coef):
        for i in range(n_y):
            C[p][i] = 0.0
    for j in range(tb.n):
        k = s.K[j]
        for p in range(tb.degree):
            weight = h * tb.P[j][p]
            if weight != 0.0:
                c = C[p]
                for i in range(n_y):
                    c[i] += weight * k[i]
    if tb.is_semi_implicit:
        for i in range(m.n_dof):
            s.moved[i] = s.y1[i] - s.y[i] - h * s.K[0][i]
    correct_dense(m, s)


@kernel
def stretch(m, s, ratio):
    """Let the dense output's fractions refer to a step longer by a factor."""
    factor = 1.0
    for p in range(s.n_coef):
        factor *= ratio
        for i in range(m.n_y):
            s.C[p][i] *= factor


# ---- inside the step -----------------------------------------------------------


@kernel
def on_dense(m, s, x, out):
    """State at the fraction x of the step."""
    y = s.y
    for i in range(m.n_y):
        out[i] = 0.0
    for p in range(s.n_coef - 1, -1, -1):
        c = s.C[p]
        for i in range(m.n_y):
            out[i] = x * (c[i] + out[i])
    for i in range(m.n_y):
        out[i] += y[i]


@kernel
def entry_on_dense(s, x, i):
    """Entry i of the state at the fraction x of the step."""
    value = 0.0
    for p in range(s.n_coef - 1, -1, -1):
        value = x * (s.C[p][i] + value)
    return s.y[i] + value


@kernel
def rate_of_entry(s, h, x, i):
    """Rate of entry i of the state at the fraction x of the step."""
    value = 0.0
    for p in range(s.n_coef - 1, -1, -1):
        value = (p + 1) * s.C[p][i] + x * value
    return value / h


@kernel
def body_on_dense(m, s, h, x, k, y, a):
    """State and accelerations of body k alone at the fraction x of the step."""
    first = m.body_dof[k]
    for i in range(first, first + m.body_n[k]):
        y[i] = entry_on_dense(s, x, i)
        y[m.n_dof + i] = entry_on_dense(s, x, m.n_dof + i)
        a[i] = rate_of_entry(s, h, x, m.n_dof + i)


@kernel
def state_on_dense(m, w, s, x, k):
    """Take over internal state k at the fraction x of the step."""
    w.z[k] = entry_on_dense(s, x, 2 * m.n_dof + k)


@kernel
def rate_on_dense(m, s, h, x, out):
    """Accelerations at the fraction x of the step, from the dense velocities."""
    n = m.n_dof
    for i in range(n):
        out[i] = 0.0
    for p in range(s.n_coef - 1, -1, -1):
        c, power = at(s.C[p], n), p + 1.0
        for i in range(n):
            out[i] = power * c[i] + x * out[i]
    for i in range(n):
        out[i] /= h


@kernel
def accelerations(m, s, row):
    """Return the accelerations in K[row]."""
    return at(s.K[row], m.n_dof)
