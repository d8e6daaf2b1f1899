"""Radau IIA of order 5 for stiff arcs.

    Z_i = h sum_j A_ij f(t + c_j h, y + Z_j)        y1 = y + Z_3

Simplified Newton on the transformed stages splits into one real and one complex
system. Both have the structure of q' = v, v' = a(q, v, t): with

    (s I - [0 I; Aq Av]) (x, u) = (b, c)

u = s x - b and (s^2 I - s Av - Aq) x = c + (s I - Av) b, so the matrices that are
factored have the size of q, not of y. Internal states of friction laws come along,
z' = r(q, v, z), as

    | s^2 I - s Av - Aq   -Az    | | x |   | c + (s I - Av) b |
    | -s Rv - Rq          s I - Rz | | z | = | d - Rv b         |

Aq, Av, Az and the R below them come from differences. The ledger is integrated by the
same quadrature, order 5.

References
----------
[HairerWanner1996]_ IV.8.
"""

import math

import numpy as np

from nonsmooth.kernels import modes, reactions, steps
from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, kernel
from nonsmooth.kernels.dense import lu_factor, lu_solve
from nonsmooth.kernels.run import Run
from nonsmooth.kernels.tables import Tables, Work

_R6 = 6.0**0.5
C1, C2 = (4.0 - _R6) / 10.0, (4.0 + _R6) / 10.0
B1, B2, B3 = (16.0 - _R6) / 36.0, (16.0 + _R6) / 36.0, 1.0 / 9.0
# Eigenvalues of A^-1, and the transformation that makes it block diagonal.
MU = 3.0 + 3.0 ** (2 / 3) - 3.0 ** (1 / 3)
MU_RE = 3.0 + 0.5 * (3.0 ** (1 / 3) - 3.0 ** (2 / 3))
MU_IM = -0.5 * (3.0 ** (5 / 6) + 3.0 ** (7 / 6))
T = np.array(
    [
        [0.09443876248897524, -0.14125529502095421, 0.03002919410514742],
        [0.25021312296533332, 0.20412935229379994, -0.38294211275726192],
        [1.0, 1.0, 0.0],
    ]
)
TI = np.array(
    [
        [4.17871859155190428, 0.32768282076106237, 0.52337644549944951],
        [-4.17871859155190428, -0.32768282076106237, 0.47662355450055044],
        [0.50287263494578682, -2.57192694985560522, 0.59603920482822492],
    ]
)
A = np.array(
    [
        [
            (88.0 - 7.0 * _R6) / 360.0,
            (296.0 - 169.0 * _R6) / 1800.0,
            (-2.0 + 3.0 * _R6) / 225.0,
        ],
        [
            (296.0 + 169.0 * _R6) / 1800.0,
            (88.0 + 7.0 * _R6) / 360.0,
            (-2.0 - 3.0 * _R6) / 225.0,
        ],
        [B1, B2, B3],
    ]
)
# Weights of the error estimate.
E1, E2, E3 = (-13.0 - 7.0 * _R6) / 3.0, (-13.0 + 7.0 * _R6) / 3.0, -1.0 / 3.0
# Collocation polynomial in powers of x from the stage increments.
Q = np.array(
    [
        [13 / 3 + 7 * _R6 / 3, -23 / 3 - 22 * _R6 / 3, 10 / 3 + 5 * _R6],
        [13 / 3 - 7 * _R6 / 3, -23 / 3 + 22 * _R6 / 3, 10 / 3 - 5 * _R6],
        [1 / 3, -8 / 3, 10 / 3],
    ]
)
MAX_NEWTON = 7
# Relative spacing of numbers.
EPSILON = 2.3e-16
# A Jacobian is kept while Newton converges faster than this.
KEEP_RATE = 1e-3
# And for no more steps than this: a stale one spoils the error estimate first.
MAX_AGE = 20
# Differences for the Jacobian: the square root of round-off.
DIFFERENCE = 1.5e-8
# Explicit steps are as good when h times the spectral radius is below this.
CALM = 1.0


@far(Tables, Work, Run)
def jacobian(m, w, r):
    """Differences of a and z' at (t, y); K[0] holds y' there."""
    n, n_z = m.n_dof, m.n_state
    for i in range(r.n_y):
        r.stage[i] = r.y[i]
    for j in range(2 * n + n_z):
        scale = steps.size_of(m, j)
        if n <= j < 2 * n:
            scale = max(abs(r.y[j]), scale)
        r.stage[j] = r.y[j] + DIFFERENCE * max(scale, abs(r.y[j]) * DIFFERENCE)
        step = r.stage[j] - r.y[j]
        steps.evaluate(m, w, r, r.t, r.stage, r.d)
        for i in range(n + n_z):
            rate = (r.d[n + i] - r.K[n + i]) / step
            if j < n:
                r.Aq[i * n + j] = rate
            elif j < 2 * n:
                r.Av[i * n + j - n] = rate
            else:
                r.Az[i * n_z + j - 2 * n] = rate
        r.stage[j] = r.y[j]
    r.n_jacobian += 1
    r.is_jacobian_new = 1
    r.has_jacobian = 1
    r.jacobian_age = 0
    r.h_factored = 0.0
    r.radius = spectral_radius(m, r, r.x, r.d)


@kernel
def spectral_radius(m, r, x, new):
    """Estimate the largest |eigenvalue| of the Jacobian by power iteration."""
    n, n_z = m.n_dof, m.n_state
    for i in range(2 * n + n_z):
        x[i] = 1.0 + 0.1 * (i % 7)
    growth = 0.0
    for _ in range(12):
        growth = 0.0
        for i in range(n):
            new[i] = x[n + i]
            growth = max(growth, abs(new[i]))
        for i in range(n + n_z):
            total = 0.0
            for j in range(n):
                total += r.Aq[i * n + j] * x[j] + r.Av[i * n + j] * x[n + j]
            for j in range(n_z):
                total += r.Az[i * n_z + j] * x[2 * n + j]
            new[n + i] = total
            growth = max(growth, abs(total))
        if not growth > 0.0:
            return 0.0
        for i in range(2 * n + n_z):
            x[i] = new[i] / growth
    return growth


@far(Tables, Run, NUMBER, returns=INTEGER)
def factor_newton(m, r, h):
    """Factor the matrix of (x, z) for the real and the complex eigenvalue."""
    n, n_z = m.n_dof, m.n_state
    size = n + n_z
    s = MU / h
    z = complex(MU_RE / h, MU_IM / h)
    for i in range(size):
        for j in range(n):
            k = i * n + j
            r.real_lu[i * size + j] = -s * r.Av[k] - r.Aq[k]
            r.complex_lu[i * size + j] = -z * r.Av[k] - r.Aq[k]
        for j in range(n_z):
            r.real_lu[i * size + n + j] = -r.Az[i * n_z + j]
            r.complex_lu[i * size + n + j] = -r.Az[i * n_z + j]
        r.real_lu[i * size + i] += s * s if i < n else s
        r.complex_lu[i * size + i] += z * z if i < n else z
    if not lu_factor(size, r.real_lu, r.real_swap):
        return 0
    return 1 if lu_factor(size, r.complex_lu, r.complex_swap) else 0


@kernel
def solve_newton(n, n_z, s, Av, lu, swap, x):
    """Solve for (x, u, z) in place; the right-hand side is (b, c, d)."""
    # c + (s I - Av) b, written over c, and d - Rv b; b is still needed for u.
    for i in range(n + n_z):
        total = x[n + i] + s * x[i] if i < n else x[n + i]
        for j in range(n):
            total -= Av[i * n + j] * x[j]
        x[n + i] = total
    lu_solve(n + n_z, lu, swap, at(x, n))
    for i in range(n):
        position = x[n + i]
        x[n + i] = s * position - x[i]
        x[i] = position


@kernel
def node(k):
    """Return the place of stage k in the step."""
    return C1 if k == 0 else (C2 if k == 1 else 1.0)


@far(Tables, Work, Run, NUMBER, NUMBER, returns=INTEGER)
def iterate(m, w, r, h, tolerance):
    """Iterate on the stages from the guess in Z; return iterations, or -1."""
    n, n_z = m.n_dof, m.n_state
    n2 = 2 * n + n_z
    s = MU / h
    z = complex(MU_RE / h, MU_IM / h)
    Z, W, F = r.Z, r.W, r.F
    for i in range(n2):
        for k in range(3):
            W[k * n2 + i] = (
                TI[k, 0] * Z[i] + TI[k, 1] * Z[n2 + i] + TI[k, 2] * Z[2 * n2 + i]
            )
    size_last, rate = 0.0, -1.0
    for iteration in range(MAX_NEWTON):
        for k in range(3):
            for i in range(n2):
                r.stage[i] = r.y[i] + Z[k * n2 + i]
            steps.evaluate(m, w, r, r.t + node(k) * h, r.stage, at(F, k * r.n_y))
        for i in range(n2):
            f0, f1, f2 = F[i], F[r.n_y + i], F[2 * r.n_y + i]
            r.x[i] = TI[0, 0] * f0 + TI[0, 1] * f1 + TI[0, 2] * f2 - s * W[i]
            r.z[i] = complex(
                TI[1, 0] * f0 + TI[1, 1] * f1 + TI[1, 2] * f2,
                TI[2, 0] * f0 + TI[2, 1] * f1 + TI[2, 2] * f2,
            ) - z * complex(W[n2 + i], W[2 * n2 + i])
        solve_newton(n, n_z, s, r.Av, r.real_lu, r.real_swap, r.x)
        solve_newton(n, n_z, z, r.Av, r.complex_lu, r.complex_swap, r.z)
        size = 0.0
        for i in range(n2):
            change = max(abs(r.x[i]), abs(r.z[i].real), abs(r.z[i].imag)) / r.tol[i]
            if not change <= size:
                size = change
        if not size < 1e300:
            return -1
        # A guess that is right to round-off, or nearly so, shows no rate.
        is_still = size <= max(10.0 * EPSILON / r.rtol, 1e-3 * tolerance)
        if iteration > 0 and not is_still:
            rate = size / size_last
            # A joint hands the correction of one coordinate on to others one iteration
            # later, so that the first rate may be near one.
            limit = 2.0 if iteration == 1 else 1.0
            left = MAX_NEWTON - iteration
            if rate >= limit or (
                iteration > 1 and rate**left / (1.0 - rate) * size > tolerance
            ):
                return -1
        for i in range(n2):
            W[i] += r.x[i]
            W[n2 + i] += r.z[i].real
            W[2 * n2 + i] += r.z[i].imag
            for k in range(3):
                Z[k * n2 + i] = (
                    T[k, 0] * W[i] + T[k, 1] * W[n2 + i] + T[k, 2] * W[2 * n2 + i]
                )
        if is_still or (0.0 <= rate < 1.0 and rate / (1.0 - rate) * size < tolerance):
            r.newton_rate = max(rate, 0.0) if not is_still else 0.0
            return iteration + 1
        size_last = size
    return -1


@kernel
def guess(m, r, h):
    """Extrapolate the last step's collocation polynomial to the new stages.

    Or, when a step is taken again, read it off its own.
    """
    n2 = 2 * m.n_dof + m.n_state
    for k in range(3):
        if r.h_retake > 0.0:
            x = node(k) * h / r.h_retake
            for i in range(n2):
                p0, p1, p2 = r.previous[i], r.previous[n2 + i], r.previous[2 * n2 + i]
                r.Z[k * n2 + i] = x * (p0 + x * (p1 + x * p2))
            continue
        x = 1.0 + node(k) * h / r.h_last if r.h_last > 0.0 else 1.0
        for i in range(n2):
            p0, p1, p2 = r.previous[i], r.previous[n2 + i], r.previous[2 * n2 + i]
            r.Z[k * n2 + i] = x * (p0 + x * (p1 + x * p2)) - (p0 + p1 + p2)


@far(Tables, Work, Run, NUMBER, returns=INTEGER)
def solve_stages(m, w, r, h):
    """Solve the stages for a step h, with a new Jacobian if need be.

    Returns whether Newton converged.
    """
    steps.set_tolerances(m, r, r.y, r.y)
    tolerance = max(10.0 * EPSILON / r.rtol, min(0.03, math.sqrt(r.rtol)))
    if not r.has_jacobian:
        jacobian(m, w, r)
    while True:
        if r.h_factored != h:
            if not factor_newton(m, r, h):
                return 0
            r.h_factored = h
        guess(m, r, h)
        if iterate(m, w, r, h, tolerance) > 0:
            return 1
        if r.is_jacobian_new:
            return 0
        jacobian(m, w, r)


@far(Tables, Work, Run, NUMBER, INTEGER, returns=NUMBER)
def error(m, w, r, h, is_retry):
    """Estimate the error of the step whose stages are in Z."""
    n2 = 2 * m.n_dof + m.n_state
    for i in range(n2):
        r.y1[i] = r.y[i] + r.Z[2 * n2 + i]
    for i in range(n2, r.n_y):
        r.y1[i] = r.y[i]
    steps.set_tolerances(m, r, r.y, r.y1)
    estimate = filtered_error(m, w, r, h, r.K)
    if is_retry and estimate > 1.0:
        # Filter once more: the stiff components of the first estimate are too large.
        for i in range(n2):
            r.stage[i] = r.y[i] + r.x[i]
        steps.evaluate(m, w, r, r.t, r.stage, r.d)
        estimate = filtered_error(m, w, r, h, r.d)
    return estimate


@kernel
def filtered_error(m, w, r, h, start):
    """Norm of (MU/h I - J)^-1 (start + E Z / h), without what is projected away."""
    n2 = 2 * m.n_dof + m.n_state
    Z = r.Z
    for i in range(n2):
        r.x[i] = start[i] + (E1 * Z[i] + E2 * Z[n2 + i] + E3 * Z[2 * n2 + i]) / h
    solve_newton(m.n_dof, m.n_state, MU / h, r.Av, r.real_lu, r.real_swap, r.x)
    if r.is_projected:
        modes.configure(m, w, min(r.t + h, r.t_cap), r.y1, at(r.y1, m.n_dof))
        reactions.factor_rows(m, w)
    for i in range(n2):
        r.e[i] = r.x[i]
    # The ledger is judged in `finish`, from powers at the converged stages.
    for i in range(n2, r.n_y):
        r.e[i] = 0.0
    return steps.tangent_norm(m, w, r, r.e)


@kernel
def ledger_error(r, h, i, p2):
    """Note the error of ledger entry i, whose equation is a plain quadrature."""
    p0, p1 = r.F[i], r.F[r.n_y + i]
    total = r.K[i]
    for k in range(3):
        weight = E1 if k == 0 else (E2 if k == 1 else E3)
        total += weight * (A[k, 0] * p0 + A[k, 1] * p1 + A[k, 2] * p2)
    if not abs(h / MU * total) / r.tol[i] <= r.ledger_error:
        r.ledger_error = abs(h / MU * total) / r.tol[i]


@far(Tables, Work, Run, NUMBER, returns=NUMBER)
def finish(m, w, r, h):
    """Write y1, the end's y' to K[1], and the dense output of an accepted step."""
    n2, n_y = 2 * m.n_dof + m.n_state, r.n_y
    Z, C = r.Z, r.C
    # Powers at the converged stages: those of the last iteration lag behind it.
    for k in range(2):
        for i in range(n2):
            r.stage[i] = r.y[i] + Z[k * n2 + i]
        steps.evaluate(m, w, r, r.t + node(k) * h, r.stage, at(r.F, k * n_y))
    for i in range(n2):
        r.y1[i] = r.y[i] + Z[2 * n2 + i]
    end = at(r.K, n_y)
    left = steps.land(m, w, r, r.t + h, end)
    for i in range(r.n_coef * n_y):
        C[i] = 0.0
    for p in range(3):
        for i in range(n2):
            C[p * n_y + i] = (
                Q[0, p] * Z[i] + Q[1, p] * Z[n2 + i] + Q[2, p] * Z[2 * n2 + i]
            )
            r.previous[p * n2 + i] = C[p * n_y + i]
    r.ledger_error = 0.0
    for i in range(n2, n_y):
        # Where the joints leave some motion free, its error governs; a stiff force
        # makes powers too rough to be judged.
        if m.n_row >= m.n_dof:
            ledger_error(r, h, i, end[i])
        power0, power1 = h * r.K[i], h * end[i]
        step = h * (B1 * r.F[i] + B2 * r.F[n_y + i] + B3 * end[i])
        r.y1[i] = r.y[i] + step
        r.moved[i] = 0.0
        # Cubic through both ends with their powers.
        C[i] = power0
        C[n_y + i] = 3.0 * step - 2.0 * power0 - power1
        C[2 * n_y + i] = power0 + power1 - 2.0 * step
    steps.correct_dense(r)
    return left
