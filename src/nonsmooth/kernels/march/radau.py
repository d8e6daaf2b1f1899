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

from nonsmooth.kernels.abi import INTEGER, NUMBER, at, far, kernel
from nonsmooth.kernels.linear.dense import lu_factor, lu_solve
from nonsmooth.kernels.march import steps
from nonsmooth.kernels.mechanics import dynamics, reactions
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.run import Newton
from nonsmooth.kernels.tolerances import EPSILON

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
# A Jacobian is kept while Newton converges faster than this; one of more coordinates
# than the third number costs more than some iterations, and is kept longer.
KEEP_RATE, KEEP_LARGE, LARGE = 1e-3, 0.1, 15
# And for no more steps than this: a stale one spoils the error estimate first.
MAX_AGE = 20
# Differences for the Jacobian: the square root of round-off.
DIFFERENCE = 1.5e-8
# Explicit steps are as good when h times the spectral radius is below this.
CALM = 1.0


@far(Tables, Work, Newton)
def jacobian(m, w, nw):
    """Differences of a and z' at (t, y); K[0] holds y' there."""
    s = nw.step
    n, n_z = m.n_dof, m.n_state
    for i in range(m.n_y):
        s.stage[i] = s.y[i]
    for j in range(2 * n + n_z):
        scale = steps.size_of(m, j)
        if n <= j < 2 * n:
            scale = max(abs(s.y[j]), scale)
        s.stage[j] = s.y[j] + DIFFERENCE * max(scale, abs(s.y[j]) * DIFFERENCE)
        step = s.stage[j] - s.y[j]
        steps.evaluate(m, w, s, s.t, s.stage, s.d)
        for i in range(n + n_z):
            rate = (s.d[n + i] - s.K[0][n + i]) / step
            if j < n:
                nw.Aq[i][j] = rate
            elif j < 2 * n:
                nw.Av[i][j - n] = rate
            else:
                nw.Az[i][j - 2 * n] = rate
        s.stage[j] = s.y[j]
    s.n_jacobian += 1
    nw.is_jacobian_new = 1
    nw.has_jacobian = 1
    nw.jacobian_age = 0
    nw.h_factored = 0.0
    nw.radius = spectral_radius(m, nw, nw.x, s.d)


@kernel
def spectral_radius(m, nw, x, new):
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
                total += nw.Aq[i][j] * x[j] + nw.Av[i][j] * x[n + j]
            for j in range(n_z):
                total += nw.Az[i][j] * x[2 * n + j]
            new[n + i] = total
            growth = max(growth, abs(total))
        if not growth > 0.0:
            return 0.0
        for i in range(2 * n + n_z):
            x[i] = new[i] / growth
    return growth


@far(Tables, Newton, NUMBER, returns=INTEGER)
def factor_newton(m, nw, h):
    """Factor the matrix of (x, z) for the real and the complex eigenvalue."""
    n, n_z = m.n_dof, m.n_state
    size = n + n_z
    s = MU / h
    z = complex(MU_RE / h, MU_IM / h)
    for i in range(size):
        for j in range(n):
            nw.real_lu[i * size + j] = -s * nw.Av[i][j] - nw.Aq[i][j]
            nw.complex_lu[i * size + j] = -z * nw.Av[i][j] - nw.Aq[i][j]
        for j in range(n_z):
            nw.real_lu[i * size + n + j] = -nw.Az[i][j]
            nw.complex_lu[i * size + n + j] = -nw.Az[i][j]
        nw.real_lu[i * size + i] += s * s if i < n else s
        nw.complex_lu[i * size + i] += z * z if i < n else z
    if not lu_factor(size, nw.real_lu, nw.real_swap):
        return 0
    return 1 if lu_factor(size, nw.complex_lu, nw.complex_swap) else 0


@kernel
def solve_newton(n, n_z, s, Av, lu, swap, x):
    """Solve for (x, u, z) in place; the right-hand side is (b, c, d)."""
    # c + (s I - Av) b, written over c, and d - Rv b; b is still needed for u.
    for i in range(n + n_z):
        total = x[n + i] + s * x[i] if i < n else x[n + i]
        for j in range(n):
            total -= Av[i][j] * x[j]
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


@kernel
def mix(M, k, X, i):
    """Return entry i of row k of M X, M a transformation of the three stages."""
    return M[k, 0] * X[0][i] + M[k, 1] * X[1][i] + M[k, 2] * X[2][i]


@kernel
def correction(m, nw, h):
    """Write the correction of the transformed stages to x and z; return its size."""
    n, n_z = m.n_dof, m.n_state
    n2 = 2 * n + n_z
    s, z = MU / h, complex(MU_RE / h, MU_IM / h)
    W, F = nw.W, nw.F
    for i in range(n2):
        nw.x[i] = mix(TI, 0, F, i) - s * W[0][i]
        f = complex(mix(TI, 1, F, i), mix(TI, 2, F, i))
        nw.z[i] = f - z * complex(W[1][i], W[2][i])
    solve_newton(n, n_z, s, nw.Av, nw.real_lu, nw.real_swap, nw.x)
    solve_newton(n, n_z, z, nw.Av, nw.complex_lu, nw.complex_swap, nw.z)
    size = 0.0
    for i in range(n2):
        change = max(abs(nw.x[i]), abs(nw.z[i].real), abs(nw.z[i].imag))
        change /= nw.step.tol[i]
        if not change <= size:
            size = change
    return size


@far(Tables, Work, Newton, NUMBER, NUMBER, returns=INTEGER)
def iterate(m, w, nw, h, tolerance):
    """Iterate on the stages from the guess in Z; return iterations, or -1."""
    s = nw.step
    n2 = 2 * m.n_dof + m.n_state
    Z, W = nw.Z, nw.W
    for i in range(n2):
        for k in range(3):
            W[k][i] = mix(TI, k, Z, i)
    size_last, rate = 0.0, -1.0
    for iteration in range(MAX_NEWTON):
        for k in range(3):
            for i in range(n2):
                s.stage[i] = s.y[i] + Z[k][i]
            steps.evaluate(m, w, s, s.t + node(k) * h, s.stage, nw.F[k])
        size = correction(m, nw, h)
        if not size < 1e300:
            return -1
        # A guess that is right to round-off, or nearly so, shows no rate.
        is_still = size <= max(10.0 * EPSILON / s.set.rtol, 1e-3 * tolerance)
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
            W[0][i] += nw.x[i]
            W[1][i] += nw.z[i].real
            W[2][i] += nw.z[i].imag
            for k in range(3):
                Z[k][i] = mix(T, k, W, i)
        if is_still or (0.0 <= rate < 1.0 and rate / (1.0 - rate) * size < tolerance):
            nw.rate = max(rate, 0.0) if not is_still else 0.0
            return iteration + 1
        size_last = size
    return -1


@kernel
def guess(m, nw, h):
    """Extrapolate the last step's collocation polynomial to the new stages.

    Or, when a step is taken again, read it off its own.
    """
    n2 = 2 * m.n_dof + m.n_state
    last = nw.previous
    for k in range(3):
        is_again = nw.h_retake > 0.0
        if is_again:
            x = node(k) * h / nw.h_retake
        else:
            x = 1.0 + node(k) * h / nw.h_last if nw.h_last > 0.0 else 1.0
        for i in range(n2):
            p0, p1, p2 = last[0][i], last[1][i], last[2][i]
            end = 0.0 if is_again else p0 + p1 + p2
            nw.Z[k][i] = x * (p0 + x * (p1 + x * p2)) - end


@far(Tables, Work, Newton, NUMBER, returns=INTEGER)
def solve_stages(m, w, nw, h):
    """Solve the stages for a step h, with a new Jacobian if need be.

    Returns whether Newton converged.
    """
    s = nw.step
    steps.set_tolerances(m, s, s.y, s.y)
    rtol = s.set.rtol
    tolerance = max(10.0 * EPSILON / rtol, min(0.03, math.sqrt(rtol)))
    if not nw.has_jacobian:
        jacobian(m, w, nw)
    while True:
        if nw.h_factored != h:
            if not factor_newton(m, nw, h):
                return 0
            nw.h_factored = h
        guess(m, nw, h)
        if iterate(m, w, nw, h, tolerance) > 0:
            return 1
        if nw.is_jacobian_new:
            return 0
        jacobian(m, w, nw)


@far(Tables, Work, Newton, NUMBER, INTEGER, returns=NUMBER)
def error(m, w, nw, h, is_retry):
    """Estimate the error of the step whose stages are in Z."""
    s = nw.step
    n2 = 2 * m.n_dof + m.n_state
    for i in range(n2):
        s.y1[i] = s.y[i] + nw.Z[2][i]
    for i in range(n2, m.n_y):
        s.y1[i] = s.y[i]
    steps.set_tolerances(m, s, s.y, s.y1)
    estimate = filtered_error(m, w, nw, h, s.K[0])
    if is_retry and estimate > 1.0:
        # Filter once more: the stiff components of the first estimate are too large.
        for i in range(n2):
            s.stage[i] = s.y[i] + nw.x[i]
        steps.evaluate(m, w, s, s.t, s.stage, s.d)
        estimate = filtered_error(m, w, nw, h, s.d)
    return estimate


@kernel
def filtered_error(m, w, nw, h, start):
    """Norm of (MU/h I - J)^-1 (start + E Z / h), without what is projected away."""
    s, Z = nw.step, nw.Z
    n2 = 2 * m.n_dof + m.n_state
    for i in range(n2):
        nw.x[i] = start[i] + (E1 * Z[0][i] + E2 * Z[1][i] + E3 * Z[2][i]) / h
    solve_newton(m.n_dof, m.n_state, MU / h, nw.Av, nw.real_lu, nw.real_swap, nw.x)
    if s.set.is_projected:
        dynamics.configure(m, w, min(s.t + h, s.t_cap), s.y1, at(s.y1, m.n_dof))
        reactions.factor_rows(m, w)
    e = s.e[0]
    for i in range(n2):
        e[i] = nw.x[i]
    # The ledger is judged in `finish`, from powers at the converged stages.
    for i in range(n2, m.n_y):
        e[i] = 0.0
    return steps.tangent_norm(m, w, s, e)


@kernel
def ledger_error(nw, h, i, p2):
    """Note the error of ledger entry i, whose equation is a plain quadrature."""
    s = nw.step
    p0, p1 = nw.F[0][i], nw.F[1][i]
    total = s.K[0][i]
    for k in range(3):
        weight = E1 if k == 0 else (E2 if k == 1 else E3)
        total += weight * (A[k, 0] * p0 + A[k, 1] * p1 + A[k, 2] * p2)
    if not abs(h / MU * total) / s.tol[i] <= nw.ledger_error:
        nw.ledger_error = abs(h / MU * total) / s.tol[i]


@far(Tables, Work, Newton, NUMBER, returns=NUMBER)
def finish(m, w, nw, h):
    """Write y1, the end's y' to K[1], and the dense output of an accepted step."""
    s = nw.step
    n2, n_y = 2 * m.n_dof + m.n_state, m.n_y
    Z, C = nw.Z, s.C
    # Powers at the converged stages: those of the last iteration lag behind it.
    for k in range(2):
        for i in range(n2):
            s.stage[i] = s.y[i] + Z[k][i]
        steps.evaluate(m, w, s, s.t + node(k) * h, s.stage, nw.F[k])
    for i in range(n2):
        s.y1[i] = s.y[i] + Z[2][i]
    end = s.K[1]
    left = steps.land(m, w, s, s.t + h, end)
    for p in range(s.n_coef):
        for i in range(n_y):
            C[p][i] = 0.0
    for p in range(3):
        for i in range(n2):
            C[p][i] = Q[0, p] * Z[0][i] + Q[1, p] * Z[1][i] + Q[2, p] * Z[2][i]
            nw.previous[p][i] = C[p][i]
    nw.ledger_error = 0.0
    for i in range(n2, n_y):
        # Where the joints leave some motion free, its error governs; a stiff force
        # makes powers too rough to be judged.
        if m.n_row >= m.n_dof:
            ledger_error(nw, h, i, end[i])
        power0, power1 = h * s.K[0][i], h * end[i]
        step = h * (B1 * nw.F[0][i] + B2 * nw.F[1][i] + B3 * end[i])
        s.y1[i] = s.y[i] + step
        s.moved[i] = 0.0
        # Cubic through both ends with their powers.
        C[0][i] = power0
        C[1][i] = 3.0 * step - 2.0 * power0 - power1
        C[2][i] = power0 + power1 - 2.0 * step
    steps.correct_dense(m, s)
    return left


@kernel
def keeps_jacobian(m, nw):
    """Return whether the Jacobian is good enough for the next step."""
    keep = KEEP_RATE if m.n_dof <= LARGE else KEEP_LARGE
    return nw.rate <= keep and nw.jacobian_age < MAX_AGE


@kernel
def forget_step(m, nw):
    """Forget the last implicit step: its polynomial is no guess any more."""
    nw.h_last = 0.0
    if nw.n_implicit > 0:
        for p in range(3):
            for i in range(2 * m.n_dof + m.n_state):
                nw.previous[p][i] = 0.0
