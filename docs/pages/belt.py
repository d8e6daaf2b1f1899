"""A block on a belt."""

from __future__ import annotations

import math
import time

import numpy as np

from nonsmooth.views.plots import draw, plot_contacts
from pages import Page, curves, run

M, K, SPEED, MU0, MU, G = 1.0, 100.0, 0.1, 0.4, 0.3, 9.81


def fill(page: Page) -> None:
    """Compare the stick-slip with its closed form."""
    result = run("belt", 20.0)
    away = np.array([e.t for e in result.events if e.kind == "break_away"])
    w, d = math.sqrt(K / M), (MU0 - MU) * M * G / K
    first = MU0 * M * G / (K * SPEED)
    period = 2.0 * d / SPEED + (2.0 * math.pi - 2.0 * math.atan(d * w / SPEED)) / w
    page.number("first_exact", first, ".4f")
    page.number("first", away[0], ".10f", near=first, within=1e-12)
    page.number("first_off", abs(away[0] - first), ".0e")
    page.number("period_exact", period, ".12f")
    page.number("period", float(np.diff(away)[0]), ".12f", near=period, within=1e-8)
    page.number("period_off", np.abs(np.diff(away) - period).max(), ".0e")
    stuck = result.sample(0.5 * first, "sole.slip_velocity")["sole.slip_velocity"][0]
    page.number("stuck", stuck, ".1g", near=0.0, within=1e-16)
    begin = time.perf_counter()
    run("belt", 20.0)
    page.number("seconds", time.perf_counter() - begin, ".3f")
    short = run("belt", 2.0)
    page.figure("contacts", plot_contacts(short))
    page.figure("sketch", draw(short, 0.3, names=True))
    t = np.linspace(0.0, 5.0, 4001)
    found = result.sample(t, ["block.x", "block.vx"])
    page.figure(
        "phase",
        curves(
            {"velocity (m/s)": {"": (found["block.x"], found["block.vx"])}},
            x="stretch of the spring (m)",
            width=5.0,
            height=2.8,
            legend=False,
        ),
    )
    page.live(run("belt"))
