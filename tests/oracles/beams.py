"""Timoshenko's beam: frequencies by its transfer matrix, and modes of Euler's.

w' = psi + Q/(kappa G A)       psi' = M/(E I)
Q' = -rho A omega^2 w          M' = -Q - rho I omega^2 psi
"""

import numpy as np
from scipy.integrate import quad
from scipy.linalg import expm
from scipy.optimize import brentq

# First roots of cos x cosh x = 1: free-free and clamped-clamped.
FREE_ROOTS = (4.730040744862704, 7.853204624095838, 10.995607838001671)

# Rows of the state (w, psi, M, Q) that vanish at the far end, and are free at this.
ENDS = {"free": ((2, 3), (0, 1)), "clamped": ((0, 1), (2, 3)), "tip": ((2, 3), (2, 3))}


def frequencies(ends, n, *, length, height, thickness, e, nu, rho):
    """Return the first frequencies, rad/s, of a beam with rectangular section."""
    area, second = height * thickness, thickness * height**3 / 12.0
    # The shear factor of plane stress (Timoshenko 1922).
    shear = 5.0 * (1.0 + nu) / (6.0 + 5.0 * nu) * 0.5 * e / (1.0 + nu) * area
    rows, columns = ENDS[ends]
    unit = np.sqrt(e * second / (rho * area)) / length**2

    def determinant(omega):
        a = np.zeros((4, 4))
        # Lengths in units of the beam's, moments of E I/L, forces of E I/L^2.
        a[0, 1] = 1.0
        a[0, 3] = e * second / (shear * length**2)
        a[1, 2] = 1.0
        a[2, 1] = -rho * second * omega**2 * length**2 / (e * second)
        a[2, 3] = -1.0
        a[3, 0] = -rho * area * omega**2 * length**4 / (e * second)
        return np.linalg.det(expm(a)[np.ix_(rows, columns)])

    grid = unit * np.linspace(1.0, 1.3 * ((n + 1) * np.pi) ** 2, 400 * (n + 1))
    values = [determinant(omega) for omega in grid]
    found = [
        brentq(determinant, grid[k], grid[k + 1], xtol=1e-12 * unit)
        for k in range(len(grid) - 1)
        if values[k] * values[k + 1] < 0.0
    ]
    return np.array(found[:n])


def free_mode(x, k=0):
    """Return mode k of a free beam from 0 to 1, and its slope; its mean square is 1."""
    b = FREE_ROOTS[k]
    s = (np.cosh(b) - np.cos(b)) / (np.sinh(b) - np.sin(b))
    y = np.cosh(b * x) + np.cos(b * x) - s * (np.sinh(b * x) + np.sin(b * x))
    slope = np.sinh(b * x) - np.sin(b * x) - s * (np.cosh(b * x) + np.cos(b * x))
    return y, b * slope


def spin_stiffening(k=0):
    """Return phi'K_w phi of a mode: the pull of spinning on its slope."""
    pull = quad(lambda x: 0.5 * x * (1.0 - x) * free_mode(x, k)[1] ** 2, 0.0, 1.0)[0]
    return pull


def shortening(k=0):
    """Return L m phi'K phi of an end pulled: tension grows from the far end to it."""
    return quad(lambda x: x * free_mode(x, k)[1] ** 2, 0.0, 1.0)[0]
