"""The elliptic trammel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq

from nonsmooth import gallery, solvability
from nonsmooth.views.plots import draw
from pages import Page, curves, jumps, run

GUIDES = ("guide_x", "guide_y")


def critical(phi: float) -> float:
    """Return the least mu for which a determinant vanishes, in closed form."""

    def least(mu: float) -> float:
        return min(
            4.0 - 3.0 * math.sin(2.0 * phi) * (a + b) + 2.0 * a * b
            for a in (-mu, mu)
            for b in (-mu, mu)
        )

    # Where the smallest determinant first touches zero from above.
    grid = np.linspace(0.0, 2.0, 20001)
    first = int(np.argmax(np.array([least(mu) for mu in grid]) <= 0.0))
    if least(grid[first]) == 0.0:
        return float(grid[first])
    return float(brentq(least, grid[first - 1], grid[first]))


def fill(page: Page) -> None:
    """Swing the rod, and find how much friction it bears."""
    exact, found = ["critical μ, closed form"], ["critical μ, `solvability`"]
    for degrees in (45.0, 50.0, 60.0):
        phi = math.radians(degrees)
        mu = critical(phi)
        here = 0.1 * solvability(gallery.build("trammel", angle=phi)).critical_factor
        page.check("solvability gives the closed form", abs(here - mu) < 1e-6)
        exact.append(f"{mu:.6f}")
        found.append(f"{here:.6f}")
    page.table("critical", [exact, found])
    result = run("trammel")
    sticks = [e for e in result.events if e.kind == "stick"]
    page.number("stop", sticks[-1].t, ".4f")
    angle = -result.sample(result.t_end, "rod.theta")["rod.theta"][0]
    page.number("stop_angle", math.degrees(angle), ".1f")
    names = ["rod.theta"]
    names += [f"{g}.{q}_force" for g in GUIDES for q in ("normal", "friction")]
    lines = jumps(result, names, 3000)
    t = lines["t"]

    def of(quantity: str) -> dict[str, Any]:
        return {guide: (t, lines[f"{guide}.{quantity}_force"]) for guide in GUIDES}

    page.figure(
        "forces",
        curves(
            {
                "angle φ (rad)": {"rod": (t, -lines["rod.theta"])},
                "normal force (N)": of("normal"),
                "friction (N)": of("friction"),
            }
        ),
    )
    page.figure("sketch", draw(result, [0.0, 0.3, 0.5], names=True))
    page.live(result)
