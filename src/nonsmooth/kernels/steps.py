"""One step of an explicit method: stages, error, projection, dense output."""

import math

from nonsmooth.kernels import modes, slides
from nonsmooth.kernels.abi import FLOATS, NUMBER, at, far, kernel
from nonsmooth.kernels.run import Run, Tableau
from nonsmooth.kernels.tables import Tables, Work

SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
# Power iterations for the spectral radius, and their differences relative to the
# model's size and one radian.
N_POWER, POWER_STEP = 8, 1e-8
# A guard whose least value at the stages of a step is above this part of its range over
# them has no zero between: the lowest point of a parabola is not so far below.
QUIET = 0.25


@kernel
def evaluate(m, w, r, t, y, dy):
    """Write y' = f(t, y) and count it."""
    r.n_rhs += 1
    modes.rhs(m, w, min(t, r.t_cap), y, r.alpha, r.beta, dy)
    if m.n_contact > m.n_touch:
        hear(m, w, r)
    if w.has_lost_rank:
        if w.n_stuck > 0:
            r.t_redundant = min(r.t_redundant, t)
        else:
            r.t_singular = min(r.t_singular, t)


@kernel
def hear(m, w, r):
    """Note how near the guards of joints come to zero at the stages of a step.

    Each is a reaction; where none comes near, they need not be looked for again.
    """
    for k in range(m.n_touch, m.n_contact):
        values = at(r.heard, 4 * (k - m.n_touch))
        slides.reaction_guards(m, w, k, values)
    n = 4 * (m.n_contact - m.n_touch)
    r.heard[n] = w.margin
    for i in range(n + 1):
        r.low[i] = min(r.low[i], r.heard[i])
        r.high[i] = max(r.high[i], r.heard[i])


@kernel
def begin_hearing(m, r):
    """Forget all stages but the start of the step."""
    if m.n_contact > m.n_touch:
        for i in range(4 * (m.n_contact - m.n_touch) + 1):
            r.low[i] = r.first[i]
            r.high[i] = r.first[i]


@kernel
def note_end(m, w, r):
    """Note the guards of joints at the end of a step."""
    if m.n_contact > m.n_touch:
        hear(m, w, r)
        for i in range(4 * (m.n_contact - m.n_touch) + 1):
            r.at_end[i] = r.heard[i]


@kernel
def keep_heard(m, r):
    """Let what was heard last be the start of a step."""
    if m.n_contact > m.n_touch:
        for i in range(4 * (m.n_contact - m.n_touch) + 1):
            r.first[i] = r.at_end[i]


@kernel
def is_quiet(m, r):
    """Return 1 if the guards of joints stay away from zero, else 0."""
    for i in range(4 * (m.n_contact - m.n_touch) + 1):
        if not r.low[i] > QUIET * (r.high[i] - r.low[i]):
            return 0
    return 1


@kernel
def set_tolerances(m, r, y, y1):
    """Admissible error of each coordinate and rate.

    Positions are measured against the size of the model and angles against one
    radian, so that the result does not depend on where the origin is or how often
    a rotor has turned; velocities against the body's own speed; works against the
    kinetic energy or the work done so far.
    """
    n, tol = m.n_dof, r.tol
    energy = 0.0
    for k in range(0, n, 3):
        v, v1 = at(y, n + k), at(y1, n + k)
        speed = max(math.hypot(v[0], v[1]), math.hypot(v1[0], v1[1]))
        spin = max(abs(v[2]), abs(v1[2]))
        tol[k] = r.atol + r.rtol * m.scale[k]
        tol[k + 1] = tol[k]
        tol[k + 2] = r.atol + r.rtol * m.scale[k + 2]
        tol[n + k] = r.atol + r.rtol * speed
        tol[n + k + 1] = tol[n + k]
        tol[n + k + 2] = r.atol + r.rtol * spin
        energy += 0.5 * (m.mass[k] * speed * speed + m.mass[k + 2] * spin * spin)
    for i in range(m.n_state):
        tol[2 * n + i] = (r.atol + r.rtol) * m.state_scale[i]
    for i in range(2 * n + m.n_state, r.n_y):
        done = max(abs(y[i]), abs(y1[i]))
        tol[i] = r.atol * m.energy + r.rtol * max(energy, done)


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
            k = at(K, j * n_y)
            for i in range(n_y):
                out[i] += weight * k[i]
    for i in range(n_y):
        out[i] = y[i] + h * out[i]


@far(Tables, Work, Run, NUMBER, returns=NUMBER)
def first_step(m, w, r, order):
    """Choose a first step from y' and y'' [HairerNorsettWanner1993]_ II.4."""
    n = r.n_y
    end = at(r.K, n)
    set_tolerances(m, r, r.y, r.y)
    d0 = norm(n, r.y, r.tol)
    d1 = norm(n, r.K, r.tol)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = min(h0, r.h_max)
    for i in range(r.n_y):
        r.stage[i] = r.y[i] + h0 * r.K[i]
    evaluate(m, w, r, r.t + h0, r.stage, end)
    for i in range(n):
        r.stage[i] = end[i] - r.K[i]
    d2 = norm(n, r.stage, r.tol) / h0
    largest = max(d1, d2)
    h1 = max(1e-6, h0 * 1e-3)
    if largest > 1e-15:
        h1 = (0.01 / largest) ** (1.0 / (order + 1.0))
    return min(100.0 * h0, h1, r.h_max)


@kernel
def size_of(m, i):
    """Return the size of entry i of the state: m, rad, the same per s, or m of z."""
    if i < 2 * m.n_dof:
        return m.scale[i % m.n_dof]
    return m.state_scale[i - 2 * m.n_dof]


@far(Tables, Work, Run, returns=NUMBER)
def spectral_radius(m, w, r):
    """Estimate the largest |eigenvalue| of y' = f(y) at (t, y), in 1/s.

    A few power iterations with differences of f; K[0] holds f. An explicit method
    needs steps of a few times its inverse.
    """
    n = 2 * m.n_dof + m.n_state
    new = at(r.K, r.n_y)
    for i in range(r.n_y):
        r.stage[i] = r.y[i]
        r.e[i] = 0.0
    for i in range(n):
        r.e[i] = 1.0 + 0.1 * (i % 7)
        if i >= 2 * m.n_dof:
            r.e[i] *= size_of(m, i)
    radius = 0.0
    for _ in range(N_POWER):
        length = 0.0
        for i in range(n):
            length = max(length, abs(r.e[i]) / size_of(m, i))
        if not (0.0 < length < math.inf):
            break
        for i in range(n):
            r.stage[i] = r.y[i] + POWER_STEP / length * r.e[i]
        evaluate(m, w, r, r.t, r.stage, new)
        for i in range(n):
            r.e[i] = (new[i] - r.K[i]) / POWER_STEP
        size = 0.0
        for i in range(n):
            size = max(size, abs(r.e[i]) / size_of(m, i))
        radius = size
    return radius if radius < math.inf else 0.0


@far(Tables, Work, Run, Tableau, NUMBER)
def stages(m, w, r, tb, h):
    """Take the stages and the step's end y1; K[0] is known. Leaves the last stage."""
    n_y = r.n_y
    for i in range(1, tb.n_stage):
        combine(n_y, r.y, h, i, at(tb.A, i * tb.n), r.K, r.stage)
        evaluate(m, w, r, r.t + tb.c[i] * h, r.stage, at(r.K, i * n_y))
    combine(n_y, r.y, h, tb.n_stage, tb.b, r.K, r.y1)
    if tb.is_semi_implicit:
        for i in range(m.n_dof):
            r.y1[i] = r.y[i] + h * r.y1[m.n_dof + i]
    if tb.needs_end:
        evaluate(m, w, r, r.t + h, r.y1, at(r.K, tb.n_stage * n_y))


@kernel
def raw_error(m, r, tb, h):
    """Write the estimated errors h E k of the unprojected end, one after the other."""
    n_y = r.n_y
    n_stage = tb.n_stage + 1 if tb.needs_end else tb.n_stage
    for i in range(2 * n_y):
        r.e[i] = 0.0
    for row in range(2):
        e = at(r.e, row * n_y)
        for j in range(n_stage):
            weight = h * tb.E[row * tb.n + j]
            if weight != 0.0:
                k = at(r.K, j * n_y)
                for i in range(n_y):
                    e[i] += weight * k[i]


@kernel
def tangent_norm(m, w, r, e):
    """Return the norm of an error after projection.

    The projection removes what the constraints forbid, so that only the rest counts
    in full. Without this a step across a singular pose would be refused for an error
    that does not survive it. What is removed bends the rest by its square, and counts
    so.
    """
    n = m.n_dof
    whole = norm(r.n_y, e, r.tol)
    if not r.is_projected or m.n_row == 0 or not whole < math.inf:
        return whole
    # A sticking contact holds velocities; its place is not corrected afterwards, so
    # that there every error of position counts.
    if w.n_stuck == 0:
        modes.keep_tangent(m, w, e)
    modes.keep_tangent(m, w, at(e, n))
    return max(norm(r.n_y, e, r.tol), whole * math.sqrt(r.rtol))


@far(Tables, Work, Run, returns=NUMBER)
def error(m, w, r):
    """Return the error of the landed step in units of the tolerance."""
    set_tolerances(m, r, r.y, r.y1)
    e5 = tangent_norm(m, w, r, r.e)
    e3 = tangent_norm(m, w, r, at(r.e, r.n_y))
    if e3 > 0.0:
        e5 = e5 * e5 / math.sqrt(e5 * e5 + 0.01 * e3 * e3)
    return e5


@far(Tables, Work, Run, NUMBER, FLOATS, returns=NUMBER)
def land(m, w, r, t, end):
    """Project the step's end and write y' there to `end`; keep what was moved."""
    y1, moved = r.y1, r.moved
    t_law = min(t, r.t_cap)
    if not r.is_projected:
        for i in range(r.n_y):
            moved[i] = 0.0
        evaluate(m, w, r, t, y1, end)
        note_end(m, w, r)
        return modes.violation(m, w)
    for i in range(r.n_y):
        moved[i] = -y1[i]
    left = modes.project(m, w, t_law, y1, r.size)
    r.pivot_end = w.pivot
    for i in range(r.n_y):
        moved[i] += y1[i]
    r.n_rhs += 1
    modes.derive(m, w, t_law, at(y1, m.n_dof), 0.0, 0.0, end)
    note_end(m, w, r)
    return left


@kernel
def stiffness(m, r, tb, h):
    """Estimate |h lam| from the last stage and the end, both at t + h.

    [HairerWanner1996]_ IV.2: beyond the method's reach the step is held by
    stability, not by accuracy.
    """
    up, down = 0.0, 0.0
    end = at(r.K, tb.n_stage * r.n_y)
    last = at(r.K, (tb.n_stage - 1) * r.n_y)
    for i in range(2 * m.n_dof + m.n_state):
        up = max(up, abs(end[i] - last[i]) / r.tol[i])
        down = max(down, abs(r.y1[i] - r.stage[i]) / r.tol[i])
    return h * up / down if down > 0.0 else 0.0


@kernel
def correct_dense(r):
    """Bend the dense output so that it ends on the projected state.

    y(x) + (3 x^2 - 2 x^3) (projected - unprojected)
    """
    n = r.n_y
    for i in range(n):
        r.C[n + i] += 3.0 * r.moved[i]
        r.C[2 * n + i] -= 2.0 * r.moved[i]


@far(Tables, Work, Run, Tableau, NUMBER)
def dense(m, w, r, tb, h):
    """Write the dense output of the step to C; y' at the end is K[n_stage]."""
    n_y, C = r.n_y, r.C
    for i in range(tb.n_stage + 1, tb.n):
        combine(n_y, r.y, h, i, at(tb.A, i * tb.n), r.K, r.stage)
        evaluate(m, w, r, r.t + tb.c[i] * h, r.stage, at(r.K, i * n_y))
    for i in range(r.n_coef * n_y):
        C[i] = 0.0
    for j in range(tb.n):
        k = at(r.K, j * n_y)
        for p in range(tb.degree):
            weight = h * tb.P[j * tb.degree + p]
            if weight != 0.0:
                c = at(C, p * n_y)
                for i in range(n_y):
                    c[i] += weight * k[i]
    if tb.is_semi_implicit:
        for i in range(m.n_dof):
            r.moved[i] = r.y1[i] - r.y[i] - h * r.K[i]
    correct_dense(r)


@kernel
def stretch(r, ratio):
    """Let the dense output's fractions refer to a step longer by a factor."""
    factor = 1.0
    for p in range(r.n_coef):
        factor *= ratio
        for i in range(r.n_y):
            r.C[p * r.n_y + i] *= factor


@kernel
def on_dense(r, x, out):
    """State at the fraction x of the step."""
    n, C = r.n_y, r.C
    for i in range(n):
        value = 0.0
        for p in range(r.n_coef - 1, -1, -1):
            value = x * (C[p * n + i] + value)
        out[i] = r.y[i] + value


@kernel
def body_on_dense(m, r, h, x, k):
    """State and accelerations of body k alone at the fraction x of the step."""
    n, C = r.n_y, r.C
    for i in range(3 * k, 3 * k + 3):
        place, speed, rate = 0.0, 0.0, 0.0
        j = m.n_dof + i
        for p in range(r.n_coef - 1, -1, -1):
            place = x * (C[p * n + i] + place)
            rate = (p + 1) * C[p * n + j] + x * rate
            speed = x * (C[p * n + j] + speed)
        r.dense[i] = r.y[i] + place
        r.dense[j] = r.y[j] + speed
        r.rate[i] = rate / h


@kernel
def state_on_dense(m, w, r, x, k):
    """Take over internal state k at the fraction x of the step."""
    i = 2 * m.n_dof + k
    value = 0.0
    for p in range(r.n_coef - 1, -1, -1):
        value = x * (r.C[p * r.n_y + i] + value)
    w.z[k] = r.y[i] + value


@kernel
def rate_on_dense(m, r, h, x, out):
    """Accelerations at the fraction x of the step, from the dense velocities."""
    for i in range(m.n_dof):
        value = 0.0
        for p in range(r.n_coef - 1, -1, -1):
            value = (p + 1) * r.C[p * r.n_y + m.n_dof + i] + x * value
        out[i] = value / h
