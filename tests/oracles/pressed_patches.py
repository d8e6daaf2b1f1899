"""Frictionless contact of patches on residual flexibility, in plain NumPy.

0 <= lam  _|_  g + G lam >= 0
"""

import numpy as np
from scipy.integrate import solve_ivp


def press(g, flexibility, active=None):
    """Return the forces, by an active set that starts from an earlier one."""
    lam = np.zeros(len(g))
    active = g < 0.0 if active is None or not active.any() else active.copy()
    for _ in range(10 * len(g)):
        lam[:] = 0.0
        if active.any():
            on = np.flatnonzero(active)
            lam[on] = np.linalg.solve(flexibility[np.ix_(on, on)], -g[on])
        pulls = lam < 0.0
        gap = g + flexibility @ lam
        opens = ~active & (gap < -1e-15)
        if not (pulls.any() or opens.any()):
            return lam
        active = (active & ~pulls) | opens
    raise RuntimeError("the active set does not settle")


def disc_on_patch(nodes, radius, depths):
    """Return the forces of a disc pressed so deep into nodes along x, statically.

    What they give beyond the modes is all that they give: the local part.
    """
    flexibility, x = nodes.flexibility[1::2, 1::2], nodes.places[:, 0]
    gaps = np.hypot(x, radius - np.reshape(depths, (-1, 1))) - radius
    return np.array([press(gap, flexibility).sum() for gap in gaps])


def weights(at, nodes):
    """Return W: the part of each node of a polyline in its height at the places."""
    k = np.clip(np.searchsorted(nodes, at) - 1, 0, len(nodes) - 2)
    xi = (at - nodes[k]) / (nodes[k + 1] - nodes[k])
    rows = np.zeros((len(at), len(nodes)))
    rows[np.arange(len(at)), k] = 1.0 - xi
    rows[np.arange(len(at)), k + 1] = xi
    return rows


def smooth(rows):
    """Return the parts of nodes in what a polyline gives, smooth in the place."""
    return rows**2 * (3.0 - 2.0 * rows)


class Bars:
    """A bar that falls head first, along -y, on the face of one that is held.

    State: height of the frame of `top`, its eta, those of `low`, their rates, and the
    impulse. The bar `top` lies along x in its own axes, its head at +x.
    """

    def __init__(self, top, low, head, face):
        self.top, self.low = top, low
        above, below = top.patches[head], low.patches[face]
        x, order = above.places[:, 1], np.argsort(below.places[:, 0])
        reach = np.abs(below.places[:, 0]).max()
        used = np.flatnonzero(np.abs(x) <= reach)
        w = weights(x[used], below.places[order, 0])
        # Heights are minus the body's own x for `top`, its y for `low`.
        self.gap = above.places[:, 0].max() - above.places[used, 0]
        self.by_top = -above.shapes[used, 0]
        self.by_low = w @ below.shapes[order, 1]
        own = above.flexibility[::2, ::2][np.ix_(used, used)]
        its = below.flexibility[1::2, 1::2][np.ix_(order, order)]
        w = smooth(w)
        self.flexibility = own + w @ its @ w.T
        self.active = np.zeros(len(used), dtype=bool)
        self.n = 1 + top.n + low.n
        self.w2 = np.concatenate(([0.0], top.frequencies**2, low.frequencies**2))
        unit = np.ones((len(used), 1))
        self.rows = np.concatenate((unit, self.by_top, -self.by_low), axis=1)
        self.minv = np.ones(self.n)
        self.minv[0] = 1.0 / top.mass

    def forces(self, q):
        lam = press(self.gap + self.rows @ q, self.flexibility, self.active)
        self.active = lam > 0.0
        return lam

    def energy(self, y):
        q, v = y[: self.n], y[self.n : 2 * self.n]
        lam = self.forces(q)
        still = 0.5 * self.w2 @ q**2 + 0.5 * lam @ self.flexibility @ lam
        return 0.5 * np.sum(v**2 / self.minv) + still

    def rate(self, _t, y):
        q, v = y[: self.n], y[self.n : 2 * self.n]
        lam = self.forces(q)
        a = self.minv * (self.rows.T @ lam) - self.w2 * q
        return np.concatenate((v, a, [lam.sum()]))

    def march(self, speed, times, rtol=1e-8):
        """Return the force and the impulse at the times, and the energy's change."""
        y = np.zeros(2 * self.n + 1)
        y[self.n] = -speed
        scale = speed * np.sqrt(self.top.mass)
        size = np.full(2 * self.n + 1, scale)
        size[: self.n] = scale * times[-1]
        size[-1] = speed * self.top.mass
        found = solve_ivp(
            self.rate,
            (0.0, times[-1]),
            y,
            method="DOP853",
            t_eval=times,
            rtol=1e-12,
            atol=rtol * size,
        )
        force = [self.forces(q).sum() for q in found.y[: self.n].T]
        change = self.energy(found.y[:, -1]) / self.energy(y) - 1.0
        return np.array(force), found.y[-1], change
