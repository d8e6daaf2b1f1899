"""Beams in closed form, or nearly so."""

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq


def series(gamma, lam, n=80):
    """Second and third derivatives at the free end of the two shapes of a pinned rod.

        v'''' - gamma ((1 - x) v')' - lam v = 0,    v(0) = v''(0) = 0

    A rod that hangs from its upper end: gamma = rho A g L^3/(EI) is its weight, lam =
    rho A w^2 L^4/(EI) its frequency. Power series, which converge everywhere.
    """
    found = []
    for first in (1, 3):
        a = np.zeros(n + 4)
        a[first] = 1.0
        for k in range(n):
            s = gamma * ((k + 2) * (k + 1) * a[k + 2] - (k + 1) ** 2 * a[k + 1])
            a[k + 4] = (s + lam * a[k]) / ((k + 4) * (k + 3) * (k + 2) * (k + 1))
        k = np.arange(len(a))
        found.append(((k * (k - 1) * a).sum(), (k * (k - 1) * (k - 2) * a).sum()))
    return np.array(found)


def pendulum_frequencies(gamma, count=3):
    """Roots sqrt(lam) of the characteristic equation of a hanging rod, increasing."""

    def determinant(root):
        return np.linalg.det(series(gamma, root * root))

    grid = np.linspace(1e-6, 16.0 * count * count, 4000)
    values = [determinant(root) for root in grid]
    roots = []
    for k in range(len(grid) - 1):
        if values[k] * values[k + 1] < 0.0:
            roots.append(brentq(determinant, grid[k], grid[k + 1], xtol=1e-13))
    return np.array(roots[:count])


def elastica(alpha):
    """Tip (x, y)/L of a cantilever with a dead load alpha = P L^2/(EI) across its tip.

    theta'' = -alpha cos(theta), theta(0) = 0, theta'(1) = 0
    """

    def run(curvature):
        def rate(_, z):
            return [z[1], -alpha * math.cos(z[0]), math.cos(z[0]), math.sin(z[0])]

        start = [0.0, curvature, 0.0, 0.0]
        return solve_ivp(rate, (0, 1), start, rtol=1e-12, atol=1e-13).y[:, -1]

    curvature = brentq(lambda c: run(c)[1], 0.0, alpha, xtol=1e-13)
    return run(curvature)[2:]


def ball_on_beam(law, mass, speed, w, phi, t_end, n):
    """Solve Timoshenko's integral equation; return times and forces.

        d(F) = v t - 1/m int (t - s) F ds - sum phi^2/w int sin w(t - s) F ds

    F is linear in each of n steps, for which the integrals are exact; each step is
    one equation for the next value of F. The law is k of F = k d^1.5, or two arrays:
    depths from 0 on, and forces, linear between.
    """
    h = t_end / n
    # Rigid motion of the ball and each mode under F linear over a step:
    # q(h) = c q + s q'/w + A F0 + B F1, and likewise the rate.
    c, s = np.cos(w * h), np.sin(w * h)
    up = (s / (w * h) - c) / w**2  # answer to a force that falls from 1 to 0
    rise = (1.0 - s / (w * h)) / w**2  # to one that rises from 0 to 1
    d_up = (c / h - 1.0 / h) / w**2 + s / w
    d_rise = (1.0 - c) / (h * w**2)
    q, dq = np.zeros_like(w), np.zeros_like(w)
    give = float(phi @ (rise * phi)) + h * h / (6.0 * mass)
    x, v, F = 0.0, speed, 0.0
    t, force = np.linspace(0.0, t_end, n + 1), np.zeros(n + 1)
    for i in range(n):
        q_free = c * q + s / w * dq + up * phi * F
        x_free = x + h * v - h * h / mass * F / 3.0
        depth = x_free - float(phi @ q_free)  # less give times the new force
        F1 = _pressed(law, depth, give)
        dq = -w * s * q + c * dq + (d_up * F + d_rise * F1) * phi
        q = q_free + rise * phi * F1
        x = x_free - h * h / (6.0 * mass) * F1
        v -= 0.5 * h / mass * (F + F1)
        F = force[i + 1] = F1
    return t, force


def _pressed(law, depth, give):
    """Solve F = law(depth - give F); of a power by Newton in the depth that is left."""
    if isinstance(law, tuple):
        depths, forces = law
        return float(np.interp(depth, depths + give * forces, forces))
    k = law
    if depth <= 0.0:
        return 0.0
    d = depth
    for _ in range(60):
        step = (d + give * k * d**1.5 - depth) / (1.0 + 1.5 * give * k * math.sqrt(d))
        d = max(d - step, 0.0)
        if abs(step) <= 1e-15 * depth:
            break
    return k * d**1.5
