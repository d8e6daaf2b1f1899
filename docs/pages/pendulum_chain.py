"""A chain of rods."""

from __future__ import annotations

import numpy as np
from scipy.special import ellipj, ellipk

from nonsmooth.views.plots import draw
from pages import Page, curves, run

TIP = (-1.662115135816, -1.041466637193)  # m, after 1 s


def fill(page: Page) -> None:
    """Swing one rod, two, and two that differ a little."""
    one = run("pendulum_chain", 2.0, n=1, rtol=1e-10)
    w, k = np.sqrt(1.5 * 9.81), np.sin(0.25 * np.pi)
    t = np.linspace(0.0, 2.0, 401)
    sn = ellipj(float(ellipk(k**2)) - w * t, k**2)[0]
    exact = 2.0 * np.arcsin(k * sn) - 0.5 * np.pi
    theta = one.sample(t, "rod1.theta")["rod1.theta"]
    page.number("one_off", np.abs(theta - exact).max(), ".0e", near=0.0, within=1e-7)

    two = run("pendulum_chain", 1.0, rtol=1e-11)
    found = two.sample(1.0, ["rod2.tip.x", "rod2.tip.y"])
    for axis, wanted in zip("xy", TIP, strict=True):
        value = found[f"rod2.tip.{axis}"][0]
        page.number(f"tip_{axis}", value, ".12f", near=wanted, within=1e-10)
    balance = run("pendulum_chain").energy_balance
    energy = balance.kinetic + balance.potential
    page.number("energy_off", float(np.ptp(energy)), ".0e")

    off = 1e-9  # rad
    pair = [run("pendulum_chain", 20.0, angle=a, rtol=1e-12) for a in (0.0, off)]
    t = np.linspace(0.0, 20.0, 4001)
    tips = [result.sample(t, ["rod2.theta"])["rod2.theta"] for result in pair]
    apart = np.abs(tips[1] - tips[0])
    late = (apart > 10.0 * off) & (apart < 0.1)
    rate = float(np.polyfit(t[late], np.log(apart[late]), 1)[0])
    page.number("growth", np.exp(rate), ".1f")
    figure = curves(
        {
            "angle of rod 2 (rad)": {
                "from 0": (t, tips[0]),
                "from 1e-9 rad": (t, tips[1]),
            },
            "apart (rad)": {"difference": (t[1:], np.maximum(apart[1:], 1e-16))},
        }
    )
    figure.axes[1].set_yscale("log")
    page.figure("chaos", figure)
    shown = run("pendulum_chain")
    page.figure("sketch", draw(shown, [0.0, 0.35, 0.6], names=True))
    page.live(shown)
