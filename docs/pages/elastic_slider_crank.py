"""The slider-crank with an elastic rod, over two turns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth import Result
from nonsmooth.views.plots import draw
from pages import Page, curves, run, series

PLACES = [f"rod.{point}.{axis}" for point in ("middle", "A", "B") for axis in "xy"]


def fill(page: Page) -> None:
    """Compare with finite rotations, then make the rod stiffer."""
    result = run("elastic_slider_crank")
    wanted = series("elastic_slider_crank.csv")
    t = np.linspace(0.0, result.t_end, 1200)
    off, at = _deflection(result, t), wanted["t"]
    there = _deflection(result, np.minimum(at, result.t_end))
    apart = float(np.abs(there - wanted["deflection"]).max())
    largest = float(np.abs(there).max())
    page.number("apart", 1e3 * apart, ".4f", near=0.0, within=2e-3 * 1e3 * largest)
    page.number("largest", 1e3 * float(np.abs(off).max()), ".3f")
    page.number("wanted", 1e3 * float(np.abs(wanted["deflection"]).max()), ".4f")
    page.number("found", 1e3 * largest, ".4f")
    end = result.sample(result.t_end, "slider.x")["slider.x"][0]
    last = float(wanted["slider_x"][-1])
    page.number("slider_wanted", last, ".6f")
    page.number("slider_found", end, ".6f", near=last, within=3e-6)
    balance = result.energy_balance
    page.number("closing", balance.residual / balance.kinetic[0], ".0e")
    ms = 1e3 * t
    panels = {"deflection (mm)": {"ten modes": (ms, 1e3 * off)}}
    rings = {"finite rotations": (1e3 * at, 1e3 * wanted["deflection"])}
    page.figure(
        "deflection",
        curves(panels, x="time (ms)", height=2.4, dots={"deflection (mm)": rings}),
    )
    rows: list[list[str]] = []
    for factor in (1, 10, 100):
        other = run("elastic_slider_crank", 0.02, youngs_modulus=200e9 * factor)
        most = np.abs(_deflection(other, np.linspace(0.0, 0.02, 400))).max()
        rows.append([f"{200 * factor} GPa", f"{1e3 * most:.4f}"])
    page.table("stiffer", rows)
    page.figure("sketch", draw(result, [0.0, 0.0105], names=True))
    page.live(result)


def _deflection(result: Result, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far the rod's middle is off the line of its pins."""
    found = result.sample(t, PLACES)
    m_x, m_y, a_x, a_y, b_x, b_y = (found[name] for name in PLACES)
    d_x, d_y = b_x - a_x, b_y - a_y
    return ((m_y - a_y) * d_x - (m_x - a_x) * d_y) / np.hypot(d_x, d_y)
