"""The double pendulum in contact by finite elements with finite rotations.

An independent computation, total Lagrangian and explicit: triangles of order 2 with
lumped mass, Green's strain with Hooke's law in plane stress, central differences. No
modes, no floating frame, no flexibility of nodes: those of the tip have mass, and an
impulse that keeps them on the ground, with Coulomb's law for each. The rigid rod is
one angle; its end carries the node in the middle of the elastic rod's face, or the
mean of that face: an impulse shared among its nodes keeps them there.

    m v' = f(x) + impulses      f = -int P : dN/dX dV,  P = F (lam tr(E) + 2 mu E)

Run as a module, it prints the figures that the page of the double pendulum and its
tests quote, from tests/: `python -m oracles.struck_pendulum SIZE node|face [MU0]`.
"""

import math
import sys
from dataclasses import dataclass

import numpy as np
from numba import njit

from nonsmooth import gallery
from nonsmooth.fem.meshing import build

ARM, INERTIA = 0.5, 0.15 + 5.0 * 0.25**2  # m, kg m^2 about the hinge
ANGLES, RATES = (4.0 * math.pi / 3.0, 5.0 * math.pi / 4.0), (3.0, 10.0)
# Shares of corners and middles in the mass of an element: its diagonal, scaled.
CORNER, MIDDLE = 1.0 / 19.0, 16.0 / 57.0
SAFETY = 0.8  # of the critical step


@dataclass
class Struck:
    """What a computation gives, at the ends of its steps."""

    t: np.ndarray
    normal: np.ndarray  # N s, of the contact until then
    along: np.ndarray
    elbow: np.ndarray  # N s, (n, 2), of b1 on b2
    omega: np.ndarray  # rad/s, of the rigid rod
    friction: np.ndarray  # J, work
    energy: tuple[float, float]  # J, at the start and the end
    step: float  # s

    def at(self, t):
        """Return impulses, rate of the rod and energy left at time t."""
        k = np.searchsorted(self.t, t * (1.0 - 1e-9))
        # Central differences keep energy: what is left is what friction left.
        left = self.energy[0] + self.friction[k]
        return self.normal[k], self.along[k], self.omega[k], left

    def separations(self, shortest=1e-6):
        """Return when the tip leaves the ground for longer than given, s."""
        pressing = np.diff(self.normal, prepend=0.0) > 0.0
        last = np.flatnonzero(pressing)
        gap = np.diff(self.t[last])
        return self.t[last[:-1][gap > shortest]]


def gradients(x, cells):
    """Return dN/dX (n, 3, 6, 2) at three points of each element, and weights."""
    points = np.array([[1.0, 1.0], [4.0, 1.0], [1.0, 4.0]]) / 6.0
    grad = np.zeros((len(cells), 3, 6, 2))
    weight = np.zeros((len(cells), 3))
    for q, (r, s) in enumerate(points):
        u = 1.0 - r - s
        local = np.array(
            [
                [1.0 - 4.0 * u, 1.0 - 4.0 * u],
                [4.0 * r - 1.0, 0.0],
                [0.0, 4.0 * s - 1.0],
                [4.0 * (u - r), -4.0 * r],
                [4.0 * s, 4.0 * r],
                [-4.0 * s, 4.0 * (u - s)],
            ]
        )
        slope = np.einsum("eai,aj->eij", x[cells], local)
        grad[:, q] = local @ np.linalg.inv(slope)
        weight[:, q] = np.linalg.det(slope) / 6.0
    return grad, weight


@njit(cache=True)
def internal(x, cells, grad, weight, lam, mu, f):
    """Write the elastic forces; return the elastic energy."""
    energy = 0.0
    f[:] = 0.0
    for e in range(len(cells)):
        for q in range(3):
            F00, F01, F10, F11 = 0.0, 0.0, 0.0, 0.0
            for a in range(6):
                i = cells[e, a]
                g0, g1 = grad[e, q, a, 0], grad[e, q, a, 1]
                F00 += x[i, 0] * g0
                F01 += x[i, 0] * g1
                F10 += x[i, 1] * g0
                F11 += x[i, 1] * g1
            E00 = 0.5 * (F00 * F00 + F10 * F10 - 1.0)
            E11 = 0.5 * (F01 * F01 + F11 * F11 - 1.0)
            E01 = 0.5 * (F00 * F01 + F10 * F11)
            S00 = lam * (E00 + E11) + 2.0 * mu * E00
            S11 = lam * (E00 + E11) + 2.0 * mu * E11
            S01 = 2.0 * mu * E01
            w = weight[e, q]
            energy += 0.5 * w * (S00 * E00 + S11 * E11 + 2.0 * S01 * E01)
            P00, P01 = F00 * S00 + F01 * S01, F00 * S01 + F01 * S11
            P10, P11 = F10 * S00 + F11 * S01, F10 * S01 + F11 * S11
            for a in range(6):
                i = cells[e, a]
                g0, g1 = grad[e, q, a, 0], grad[e, q, a, 1]
                f[i, 0] -= w * (P00 * g0 + P01 * g1)
                f[i, 1] -= w * (P10 * g0 + P11 * g1)
    return energy


@njit(cache=True)
def press(x, v, f, mass, tip, stuck, ground, rub, h, total):
    """Keep the nodes of the tip above the ground, each with friction."""
    for j in range(len(tip)):
        i = tip[j]
        imp = mass[i] * ((ground - x[i, 1]) / h - v[i, 1])
        if imp <= 0.0:
            stuck[j] = 0.0
            continue
        limit = (rub[0] if stuck[j] else rub[1]) * imp
        along = -mass[i] * v[i, 0]
        stuck[j] = 1.0 if abs(along) <= limit else 0.0
        along = min(max(along, -limit), limit)
        # Means of half steps, as central differences have them.
        before = v[i, 0] - h * f[i, 0] / mass[i]
        total[5] += 0.5 * along * (before + v[i, 0] + along / mass[i])
        v[i, 1] += imp / mass[i]
        v[i, 0] += along / mass[i]
        total[0] += imp
        total[1] += along


@njit(cache=True)
def hold(x, v, mass, elbow, share, rod, h, total):
    """Turn the rod, and keep the mean of the elbow's nodes on its end.

    The impulse acts along the ways of this step and closes the next: Newton's method
    for the rate of the rod.
    """
    x0, x1, v0, v1, give = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(len(elbow)):
        i, a = elbow[j], share[j]
        x0 += a * x[i, 0]
        x1 += a * x[i, 1]
        v0 += a * v[i, 0]
        v1 += a * v[i, 1]
        give += a * a / mass[i]
    c, s, rate = math.cos(rod[0]), math.sin(rod[0]), rod[1]
    imp0, imp1 = 0.0, 0.0
    for _ in range(4):
        angle = rod[0] + h * rate
        imp0 = ((ARM * math.cos(angle) - x0) / h - v0) / give
        imp1 = ((ARM * math.sin(angle) - x1) / h - v1) / give
        wrong = INERTIA * (rate - rod[1]) + ARM * (c * imp1 - s * imp0)
        rate -= wrong / (INERTIA + ARM * ARM * math.cos(h * rate) / give)
    for j in range(len(elbow)):
        i, a = elbow[j], share[j]
        v[i, 0] += a * imp0 / mass[i]
        v[i, 1] += a * imp1 / mass[i]
    total[2] += imp0
    total[3] += imp1
    rod[1] = rate
    rod[0] += h * rate
    total[4] = rate


@njit(cache=True)
def march(x, v, mass, cells, grad, weight, law, tip, ground, rub, hung, rod, h, n):
    """Take n steps; `hung` are nodes and shares, `rod` angle and rate.

    Return impulses of tip and elbow, the rod's rate and the work of friction.
    """
    f = np.zeros_like(x)
    out = np.zeros((n, 6))
    stuck = np.zeros(len(tip))
    total = np.zeros(6)
    elbow, share = hung
    for k in range(n):
        internal(x, cells, grad, weight, law[0], law[1], f)
        for i in range(len(x)):
            v[i, 0] += h * f[i, 0] / mass[i]
            v[i, 1] += h * f[i, 1] / mass[i]
        press(x, v, f, mass, tip, stuck, ground, rub, h, total)
        hold(x, v, mass, elbow, share, rod, h, total)
        for i in range(len(x)):
            x[i, 0] += h * v[i, 0]
            x[i, 1] += h * v[i, 1]
        out[k] = total
    return out


def critical_step(x, cells, grad, weight, lam, mu, mass):
    """Return 2/w of the highest frequency, by power iteration."""
    rng = np.random.default_rng(0)
    e = rng.standard_normal(x.shape)
    f = np.zeros_like(x)
    top = 0.0
    for _ in range(60):
        e /= np.abs(e).max()
        internal(x + 1e-9 * e, cells, grad, weight, lam, mu, f)
        e = -f / mass[:, None] / 1e-9
        top = np.abs(e).max()
    return 2.0 / math.sqrt(top)


def strike(
    body, *, until, face=False, mu0=0.7, mu=0.6, youngs=200e9, nu=0.3, density=8000.0
):
    """March a whole rod of the gallery's model from contact on, without gravity.

    The elbow holds the middle node of the end's face, or the mean of that face.
    """
    mesh = build(body.mesh)
    cells, X, thick = mesh.cells, mesh.nodes, body.thickness
    # Corners, then the middles of 01, 12 and 02.
    for mid, (a, b) in ((3, (0, 1)), (4, (1, 2)), (5, (0, 2))):
        chord = 0.5 * (X[cells[:, a]] + X[cells[:, b]])
        assert np.abs(X[cells[:, mid]] - chord).max() < 1e-4
    grad, weight = gradients(X, cells)
    area = weight.sum(axis=1)
    mass = np.zeros(len(X))
    for a in range(6):
        share = CORNER if a < 3 else MIDDLE
        np.add.at(mass, cells[:, a], share * area * thick * density)
    lam, shear = youngs * nu / (1.0 - nu * nu), 0.5 * youngs / (1.0 + nu)
    weight = weight * thick
    c, s = math.cos(ANGLES[1]), math.sin(ANGLES[1])
    base = ARM * np.array([math.cos(ANGLES[0]), math.sin(ANGLES[0])])
    x = base + X @ np.array([[c, s], [-s, c]])
    v = np.empty_like(x)
    turn = ARM * RATES[0] * np.array([-math.sin(ANGLES[0]), math.cos(ANGLES[0])])
    v[:, 0] = turn[0] - RATES[1] * (x[:, 1] - base[1])
    v[:, 1] = turn[1] + RATES[1] * (x[:, 0] - base[0])
    tip = np.unique(mesh.edges["head"])
    hung = hung_by(mesh, face=face)
    h = SAFETY * critical_step(x, cells, grad, weight, lam, shear, mass)
    n = math.ceil(until / h)
    h = until / n
    rod = np.array([ANGLES[0], RATES[0]])
    ground = float(x[tip, 1].min())
    start = _energy(v, mass, rod)
    rub, law = np.array([mu0, mu]), np.array([lam, shear])
    out = march(x, v, mass, cells, grad, weight, law, tip, ground, rub, hung, rod, h, n)
    end = _energy(v, mass, rod)
    end += internal(x, cells, grad, weight, lam, shear, np.zeros_like(x))
    return Struck(
        t=h * np.arange(1, n + 1),
        normal=out[:, 0],
        along=out[:, 1],
        elbow=out[:, 2:4],
        omega=out[:, 4],
        friction=out[:, 5],
        energy=(start, end),
        step=h,
    )


def hung_by(mesh, *, face):
    """Return the nodes that the elbow holds, and their shares."""
    if not face:
        node = int(np.argmin(np.linalg.norm(mesh.nodes, axis=1)))
        assert np.linalg.norm(mesh.nodes[node]) < 1e-12
        return np.array([node]), np.ones(1)
    share = np.zeros(len(mesh.nodes))
    for a, b, mid in mesh.edges["end"]:
        length = np.linalg.norm(mesh.nodes[a] - mesh.nodes[b])
        # Simpson's rule: the mean displacement of an edge of order 2.
        np.add.at(share, [a, b, mid], length * np.array([1.0, 1.0, 4.0]) / 6.0)
    nodes = np.flatnonzero(share)
    return nodes, share[nodes] / share.sum()


def _energy(v, mass, rod):
    """Return the kinetic energy."""
    return 0.5 * float(mass @ (v**2).sum(axis=1)) + 0.5 * INERTIA * rod[1] ** 2


def mean_force(struck, t, width):
    """Return the normal force as the mean of impulses over a width of time."""
    impulse = np.interp([t - 0.5 * width, t + 0.5 * width], struck.t, struck.normal)
    return float(np.diff(impulse)[0]) / width


def main(size, elbow, mu0="0.7", until="7e-4"):
    """Print the figures of a tip of given size, m."""
    model = gallery.build(
        "flexible_double_pendulum", gravity=0.0, contact_size=float(size)
    )
    body = next(body for body in model.bodies if body.name == "b2")
    found = strike(body, until=float(until), face=elbow == "face", mu0=float(mu0))
    print(f"{size} m, on its {elbow}, mu0 {mu0}, steps of {found.step:.3g} s")
    start, end = found.energy
    print(f"not accounted for: {(end - start - found.friction[-1]) / start:.1e}")
    for t in (1e-4, 2e-4, 3.5e-4, 5e-4, 7e-4):
        if t <= float(until):
            print(f"{t:g}", *(f"{value:.6g}" for value in found.at(t)))
    print("separations, us:", *np.round(1e6 * found.separations(), 2))
    force = [mean_force(found, t, 4e-7) for t in np.arange(1e-6, 1e-5, 1e-7)]
    k = int(np.argmax(force))
    print(f"first peak {force[k]:.0f} N at {1.0 + 0.1 * k:.1f} us", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
