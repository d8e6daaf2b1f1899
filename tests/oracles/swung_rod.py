"""The elastic rod of a slider-crank by finite elements with finite rotations.

An independent computation, total Lagrangian and explicit, with the elements of
`struck_pendulum`: no modes and no floating frame. The mean of the rod's left face
follows the crank pin, that of its right face the slider, which has mass along x and
stays at y = 0.
"""

import math

import numpy as np
from numba import njit

from nonsmooth.fem.meshing import build
from oracles.struck_pendulum import CORNER, MIDDLE, critical_step, gradients, internal

SAFETY = 0.8  # of the critical step


@njit(cache=True)
def march(
    x, v, mass, cells, grad, weight, law, left, right, share, r, rate, m3, h, n, to
):
    """Take n steps; write the places of given nodes and of both means after each."""
    f = np.zeros_like(x)
    out = np.zeros((n, 6))
    gain_l, gain_r = 0.0, 0.0
    for j in range(len(left)):
        gain_l += share[0, j] ** 2 / mass[left[j]]
        gain_r += share[1, j] ** 2 / mass[right[j]]
    slide = 0.0
    for k in range(n):
        internal(x, cells, grad, weight, law[0], law[1], f)
        for i in range(len(x)):
            v[i, 0] += h * f[i, 0] / mass[i]
            v[i, 1] += h * f[i, 1] / mass[i]
        angle = rate * h * (k + 1)
        pin = (r * math.cos(angle), r * math.sin(angle))
        for axis in range(2):
            place, speed, end, end_speed = 0.0, 0.0, 0.0, 0.0
            for j in range(len(left)):
                place += share[0, j] * x[left[j], axis]
                speed += share[0, j] * v[left[j], axis]
                end += share[1, j] * x[right[j], axis]
                end_speed += share[1, j] * v[right[j], axis]
            push = ((pin[axis] - place) / h - speed) / gain_l
            if axis == 0:
                pull = (slide - end_speed) / (gain_r + 1.0 / m3)
                slide -= pull / m3
            else:
                pull = (-end / h - end_speed) / gain_r
            for j in range(len(left)):
                v[left[j], axis] += share[0, j] * push / mass[left[j]]
                v[right[j], axis] += share[1, j] * pull / mass[right[j]]
        for i in range(len(x)):
            x[i, 0] += h * v[i, 0]
            x[i, 1] += h * v[i, 1]
        for j in range(len(left)):
            for axis in range(2):
                out[k, axis] += share[0, j] * x[left[j], axis]
                out[k, 2 + axis] += share[1, j] * x[right[j], axis]
        out[k, 4] = x[to, 0]
        out[k, 5] = x[to, 1]
    return out


def swing(body, *, until, crank, speed, slider_mass, material):
    """March the gallery's rod; return times, deflections of its middle, slider's x."""
    mesh = build(body.mesh)
    X, cells, thick = mesh.nodes, mesh.cells, body.thickness
    youngs, nu = material.youngs_modulus, material.poissons_ratio
    grad, weight = gradients(X, cells)
    area = weight.sum(axis=1)
    mass = np.zeros(len(X))
    for a in range(6):
        share = CORNER if a < 3 else MIDDLE
        np.add.at(mass, cells[:, a], share * area * thick * material.density)
    lam, shear = youngs * nu / (1.0 - nu * nu), 0.5 * youngs / (1.0 + nu)
    weight = weight * thick
    x = X + np.array([crank, 0.0])
    length = float(np.ptp(X[:, 0]))
    turn = -crank * speed / length
    v = np.stack([-turn * X[:, 1], crank * speed + turn * X[:, 0]], axis=1)
    sides, shares = [], []
    for name in ("left", "right"):
        nodes = np.unique(mesh.edges[name])
        nodes = nodes[np.argsort(X[nodes, 1])]
        # Simpson's rule over sides with a node in the middle.
        simpson = np.zeros(len(nodes))
        for k in range(0, len(nodes) - 2, 2):
            step = X[nodes[k + 2], 1] - X[nodes[k], 1]
            simpson[k : k + 3] += step / 6.0 * np.array([1.0, 4.0, 1.0])
        sides.append(nodes)
        shares.append(simpson / simpson.sum())
    middle = int(np.argmin(np.linalg.norm(X - [0.5 * length, 0.0], axis=1)))
    assert np.linalg.norm(X[middle] - [0.5 * length, 0.0]) < 1e-9
    h = SAFETY * critical_step(x, cells, grad, weight, lam, shear, mass)
    n = math.ceil(until / h)
    h = until / n
    law = np.array([lam, shear])
    out = march(
        x, v, mass, cells, grad, weight, law, sides[0], sides[1], np.array(shares),
        crank, speed, slider_mass, h, n, middle,
    )  # fmt: skip
    a, b, m = out[:, :2], out[:, 2:4], out[:, 4:]
    d = b - a
    off = ((m - a)[:, 1] * d[:, 0] - (m - a)[:, 0] * d[:, 1]) / np.hypot(*d.T)
    return h * np.arange(1, n + 1), off, b[:, 0]
