"""A mass on a plate that rocks about a pivot on it, with dry friction, by SciPy.

In the plate's frame, (xi, eta) along and across it, theta(t) prescribed:

    m (xi''  - theta'' eta - 2 theta' eta' - theta'² xi)  = -m g sin theta + F
    m (eta'' + theta'' xi  + 2 theta' xi'  - theta'² eta) = -m g cos theta + N

N = -k eta - c eta' while the mass presses, which it does all the time here.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]


class Change(NamedTuple):
    """An event."""

    t: float  # s
    kind: str
    slip: int  # after it


@dataclass(frozen=True)
class Rocker:
    """Plate, mass and laws."""

    amplitude: float = 0.5  # rad
    frequency: float = 2.0  # rad/s
    mass: float = 1.0  # kg
    stiffness: float = 1e5  # N/m
    damping: float = 50.0  # N s/m
    mu0: float = 0.3
    mu: float = 0.2
    gravity: float = 9.81  # m/s²

    def turn(self, t: float) -> tuple[float, float, float]:
        """Return theta and its two rates."""
        w = self.frequency
        sine, cosine = np.sin(w * t), np.cos(w * t)
        return (
            self.amplitude * sine,
            self.amplitude * w * cosine,
            -self.amplitude * w * w * sine,
        )

    def normal(self, y: Array) -> float:
        """Return N."""
        return float(-self.stiffness * y[1] - self.damping * y[3])

    def accelerate(self, t: float, y: Array, slip: int) -> tuple[float, float, float]:
        """Return xi'', eta'' and F; slip 0 sticks."""
        theta, rate, acceleration = self.turn(t)
        xi, eta, u, v = y
        across = -self.gravity * np.cos(theta) + self.normal(y) / self.mass
        across += -acceleration * xi - 2 * rate * u + rate**2 * eta
        along = -self.gravity * np.sin(theta)
        along += acceleration * eta + 2 * rate * v + rate**2 * xi
        if slip == 0:
            return 0.0, across, -self.mass * along
        force = -slip * self.mu * self.normal(y)
        return along + force / self.mass, across, force


def run(p: Rocker, y: Array, until: float) -> tuple[Array, list[Change]]:
    """Integrate (xi, eta, xi', eta') from a sliding start; return end and events."""
    now, slip = 0.0, int(np.sign(y[2]))
    changes: list[Change] = []
    while True:
        guards: list[Any] = [lambda t, y, s=slip: s * y[2]]
        if slip == 0:
            guards = [
                lambda t, y, s=s: p.mu0 * p.normal(y) + s * p.accelerate(t, y, 0)[2]
                for s in (1, -1)
            ]
        for guard in guards:
            guard.terminal, guard.direction = True, -1

        def slope(t: float, y: Array, slip: int = slip) -> list[float]:
            along, across, _ = p.accelerate(t, y, slip)
            return [y[2], y[3], along, across]

        arc: Any = solve_ivp(
            slope,
            (now, until),
            y,
            method="DOP853",
            rtol=1e-12,
            atol=1e-14,
            max_step=0.01,
            events=guards,
        )
        now, y = float(arc.t[-1]), arc.y[:, -1].copy()
        if arc.status == 0:
            return y, changes
        if slip == 0:
            slip = 1 if len(arc.t_events[0]) else -1
            changes.append(Change(now, "break_away", slip))
            continue
        y[2] = 0.0
        needed = p.accelerate(now, y, 0)[2]
        slip = 0 if abs(needed) <= p.mu0 * p.normal(y) else -int(np.sign(needed))
        changes.append(Change(now, "reverse" if slip else "stick", slip))
