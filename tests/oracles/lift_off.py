"""A mass pulled off the floor and a little sideways: motion in closed form.

    m y'' = -m g + r t + N,    N = -K y - c y'    from rest at y = -m g/K
    m x'' = F - mu N           from mu0 N = F on, until then at rest

The vertical motion is an even one and two exponentials, which may be complex. Nothing
of the library is used.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

G = 9.81  # m/s^2


@dataclass(frozen=True, kw_only=True)
class LiftOff:
    """A mass on a Kelvin-Voigt floor under F along x and r t along y."""

    mass: float
    stiffness: float
    damping: float
    rate: float  # N/s
    side: float  # N
    mu: float
    mu0: float

    def load(self, t: Any, order: int = 0) -> Any:
        """Return N at t, not cut off, or a first integral of it for order -1."""
        m, k, c, r = self.mass, self.stiffness, self.damping, self.rate
        # Beside y = (r t - m g - c r/K)/K, which moves on evenly.
        root = np.emath.sqrt(c * c - 4.0 * k * m)
        if root == 0.0:
            # Critical: roots a little apart do the same but for the square of that.
            root = 1e-6 * c
        s1, s2 = (-c + root) / (2.0 * m), (-c - root) / (2.0 * m)
        y0, v0 = c * r / k**2, -r / k
        a1, a2 = (v0 - s2 * y0) / (s1 - s2), (v0 - s1 * y0) / (s2 - s1)
        total = sum(
            -(k + c * s) * a * np.exp(s * t) * s**order for s, a in ((s1, a1), (s2, a2))
        )
        even = m * G - r * t if order == 0 else m * G * t - 0.5 * r * t**2
        return np.real(total) + even

    def _first(self, value: float, begin: float) -> float:
        """Return the first time after `begin` at which N has fallen to a value."""
        t = np.linspace(begin, 4.0 * self.mass * G / self.rate, 20001)
        i = int(np.argmax(self.load(t) < value))
        return float(brentq(lambda x: self.load(x) - value, t[i - 1], t[i], xtol=1e-15))

    def solve(self, until: float) -> tuple[float, float, float]:
        """Return the times of break-away and release, and x' at the end."""
        begin = self._first(self.side / self.mu0, 0.0)
        end = self._first(0.0, begin)
        rubbed = self.load(end, -1) - self.load(begin, -1)
        return begin, end, (self.side * (until - begin) - self.mu * rubbed) / self.mass
