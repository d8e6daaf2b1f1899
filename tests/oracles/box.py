"""Random friction problems at rest, and slow references for what solves them."""

from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog, lsq_linear, minimize


def kkt_residual(A, b, limit, lam):
    """Return the largest violation of a condition of the box problem.

    Beside the terms of its row and a thousandth of those of the largest row, rows and
    forces in units in which A has ones on its diagonal.
    """
    d = np.sqrt(np.where(np.diag(A) > 0, np.diag(A), 1.0))
    H, x, L, c = A / np.outer(d, d), d * lam, d * limit, b / d
    g = H @ x + c
    terms = np.abs(H) @ np.abs(x) + np.abs(c)
    terms = terms + 1e-3 * terms.max(initial=0.0)
    bad = np.abs(g)
    bad[x >= L] = np.maximum(g, 0.0)[x >= L]
    bad[x <= -L] = np.maximum(-g, 0.0)[x <= -L]
    bad[L == 0] = 0.0
    outside = np.maximum(np.abs(lam) - limit, 0.0)
    if outside.max(initial=0.0) > 0.0:
        return np.inf
    return float((bad / np.where(terms > 0, terms, 1.0)).max(initial=0.0))


# ---- problems --------------------------------------------------------------------


def body_rows(rng, n_body, n):
    """Return random contact rows between planar bodies, some parallel or repeated."""
    W = np.zeros((n, 3 * n_body))
    for i in range(n):
        if i > 0 and rng.random() < 0.4:
            W[i] = W[rng.integers(i)] * rng.choice([1.0, -1.0, 0.5])
            continue
        angle = rng.choice([0.0, 0.5 * np.pi, rng.uniform(0, 2 * np.pi)])
        tau = np.array([np.cos(angle), np.sin(angle)])
        one = int(rng.integers(n_body))
        other = int(rng.integers(-1, n_body))
        for body, sign in ((one, 1.0), (other, -1.0)):
            if body >= 0 and (body != one or sign > 0):
                arm = rng.choice([-1.0, 0.0, 1.0, rng.normal()], size=2)
                turn = arm[0] * tau[1] - arm[1] * tau[0]
                W[i, 3 * body : 3 * body + 3] = sign * np.array([*tau, turn])
    return W


def problem(rng, n_body, n, spread=0.0, n_joint=0) -> tuple[Any, ...]:
    """Return A, b, limits and free compliances of contacts at rest.

    Masses are spread over 10^(-spread) ... 10^spread; joints are random rows between
    the bodies, eliminated.
    """
    W = body_rows(rng, n_body, n)
    inverse = np.diag(10.0 ** rng.uniform(-spread, spread, 3 * n_body))
    push = rng.normal(size=3 * n_body) * rng.choice([1e-3, 1.0, 10.0])
    free = np.diag(W @ inverse @ W.T).copy()
    if n_joint > 0:
        # Half the factor first, so that A is positive semidefinite to round-off.
        root = np.sqrt(np.diag(inverse))
        J = rng.normal(size=(n_joint, 3 * n_body)) * root
        Q = np.linalg.qr(J.T)[0]
        R = (W * root).T
        R = R - Q @ (Q.T @ R)
        R = R - Q @ (Q.T @ R)
        force = root * push
        A, b = R.T @ R, R.T @ (force - Q @ (Q.T @ force))
    else:
        A, b = W @ inverse @ W.T, W @ (inverse @ push)
    limit = rng.choice([0.0, 0.3, 1.0, 1.0, 1e-8, 2.0], size=n)
    if rng.random() < 0.5:
        limit = rng.uniform(0.0, 1.0, n) * 10.0 ** rng.uniform(-3, 3)
    return A, b, limit, free


# ---- references ------------------------------------------------------------------


def by_enumeration(A, b, limit):
    """Return the least value over all choices of forces free or at a limit, and lam.

    Each choice is solved by least squares; those within the limits count.
    """
    n = len(b)
    best, found = np.inf, np.zeros(n)
    for sides in product((0, 1, -1), repeat=n):
        side = np.array(sides)
        free = side == 0
        lam = side * limit
        if free.any():
            right = -(b + A @ lam)[free]
            lam[free] = np.linalg.lstsq(A[np.ix_(free, free)], right, rcond=1e-12)[0]
        lam = np.where(np.abs(lam) <= limit * (1 + 1e-12), lam, np.nan)
        value = 0.5 * lam @ A @ lam + b @ lam
        if value < best:
            best, found = value, lam
    return best, found


def by_least_squares(A, b, limit):
    """Return lam by scipy, for b in the range of A."""
    values, vectors = np.linalg.eigh(A)
    kept = values > 1e-12 * values.max()
    R = (vectors[:, kept] * np.sqrt(values[kept])).T
    right = -(vectors[:, kept] / np.sqrt(values[kept])).T @ b
    bounds = (-limit, np.maximum(limit, 1e-300))
    return lsq_linear(R, right, bounds=bounds, method="bvls", tol=1e-14).x


def motions(A):
    """Return rows N with N x = N lam where A x = A lam, of length one."""
    own = np.diag(A)
    d = np.sqrt(np.where(own > 0, own, 1.0))
    values, vectors = np.linalg.eigh(A / np.outer(d, d))
    return vectors[:, values > 1e-13 * len(A)].T * d


def ratio(A, limit, lam):
    """Return the least t for which forces within t limit do what lam does."""
    n = len(lam)
    N = motions(A)
    load = N @ lam
    size = np.abs(load).max(initial=0.0)
    if size == 0.0:
        return 0.0
    rows = np.hstack([N * limit, np.zeros((len(N), 1))])
    within = np.vstack([np.eye(n), -np.eye(n)])
    found: Any = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.hstack([within, -np.ones((2 * n, 1))]),
        b_ub=np.zeros(2 * n),
        A_eq=rows,
        b_eq=load / size,
        bounds=[(None, None)] * n + [(0, None)],
        method="highs-ds",
        options={
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
        },
    )
    return float(found.fun) * size if found.status == 0 else np.inf


def power_ratio(A, limit, lam):
    """Return the largest load power beside friction power, over mechanisms.

    The dual of `ratio`: motions a = A z of the contacts with sum limit |a| = 1.
    """
    N = motions(A)
    k, n = N.shape
    # y and u >= |y N|; friction power sum limit u is at most one.
    found: Any = linprog(
        np.append(-(N @ lam), np.zeros(n)),
        A_ub=np.vstack(
            [
                np.hstack([N.T, -np.eye(n)]),
                np.hstack([-N.T, -np.eye(n)]),
                np.append(np.zeros(k), limit)[None],
            ]
        ),
        b_ub=np.append(np.zeros(2 * n), 1.0),
        bounds=[(None, None)] * k + [(0, None)] * n,
        method="highs-ds",
    )
    return -float(found.fun)


def shared(A, limit, lam):
    """Return the forces of least sum lam^2 / limit within limits > 0, A lam kept."""
    N = motions(A)
    null = np.linalg.svd(N)[2][len(N) :].T

    def forces(z):
        return lam + null @ z

    found: Any = minimize(
        lambda z: (forces(z) ** 2 / limit).sum(),
        np.zeros(null.shape[1]),
        jac=lambda z: 2 * null.T @ (forces(z) / limit),
        constraints=[
            {
                "type": "ineq",
                "fun": lambda z: limit - forces(z),
                "jac": lambda z: -null,
            },
            {"type": "ineq", "fun": lambda z: limit + forces(z), "jac": lambda z: null},
        ],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return forces(found.x)
