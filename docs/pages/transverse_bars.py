"""Two bars, beside a full finite-element computation of their first impact."""

from __future__ import annotations

import numpy as np

from nonsmooth import Result, gallery, simulate
from nonsmooth.views.plots import draw
from pages import Page, curves, run, series

FORCE = "contact.normal_force"
FACTORS = (0.01, 0.1, 1.0, 5.0)
FIRST = 1.4e-4  # s
# Of the spec: the first impact, then the march in NumPy of all.
PEAK, PEAK_AT, END, IMPULSE = 31.93, 17.5, 129.9, 2.213e-3
LARGEST, LAST, TOTAL, REBOUND = 40.79, 3.875, 7.983e-3, 0.1222


def fill(page: Page) -> None:
    """Run constraint and penalties."""
    result = run("transverse_bars")
    t = np.arange(0.0, FIRST, 2.5e-7)
    force = result.sample(t, FORCE)[FORCE]
    k = int(np.argmax(force))
    peak = page.number("peak", force[k], ".2f", near=PEAK, within=0.3)
    page.number("peak_again", peak, ".2f")
    page.number("peak_at", 1e6 * t[k], ".1f", near=PEAK_AT, within=1.0)
    page.number("end", 1e6 * result.events[0].t, ".1f", near=END, within=1.0)
    impulse = float(np.trapezoid(force, t))
    page.number("impulse", impulse, ".3e", near=IMPULSE, within=0.01 * IMPULSE)
    data = series("transverse_bars_first_impact.csv")
    panel = {
        "here": (1e6 * t, force),
        "finite elements": (1e6 * data["t"], data["F_fine"]),
    }
    page.figure("first", curves({"force (N)": panel}, x="time (µs)"))
    _whole(page, result)
    found = {"constraint": (1e6 * t, force)}
    rows: list[list[str]] = []
    for factor in FACTORS:
        model = gallery.build(
            "transverse_bars", method="penalty", penalty_factor=factor
        )
        soft = simulate(model, until=FIRST)
        values = soft.sample(t, FORCE)[FORCE]
        found[f"factor {factor:g}"] = (1e6 * t, values)
        rows.append([f"{factor:g}", f"{values.max():.2f}"])
    page.table("penalty", rows)
    page.figure("springs", curves({"force (N)": found}, x="time (µs)"))
    page.figure("sketch", draw(result, [0.0], names=True))
    page.live(result)


def _whole(page: Page, result: Result) -> None:
    """Put in what happens until the bars part."""
    t = np.arange(0.0, 6e-3, 2.5e-7)
    names = [FORCE, "b1.y", "b2.middle.y"]
    found = result.sample(t, names)
    force = found[FORCE]
    k = int(np.argmax(force))
    page.number("largest", force[k], ".2f", near=LARGEST, within=0.05)
    page.number("largest_at", 1e3 * t[k], ".3f")
    ends = [e.t for e in result.events if e.kind == "separate"]
    page.number("n_span", len(ends), ".0f")
    page.number("last", 1e3 * ends[-1], ".3f", near=LAST, within=2e-3)
    total = float(np.trapezoid(force, t))
    page.number("total", total, ".3e", near=TOTAL, within=2e-3 * TOTAL)
    page.number("rebound", result["b1.vy"][-1], ".4f", near=REBOUND, within=5e-4)
    balance = result.energy_balance
    page.number("energy", balance.residual / balance.kinetic[0], ".0e")
    at, ms = slice(None, None, 20), 1e3 * t
    panels = {
        "force (N)": {"": (ms, force)},
        "way (µm)": {
            "b1, mass centre": (ms[at], 1e6 * (found["b1.y"] - found["b1.y"][0])[at]),
            "b2, middle": (ms[at], 1e6 * found["b2.middle.y"][at]),
        },
    }
    page.figure("all", curves(panels, x="time (ms)"))
