"""N four-bar linkages."""

from __future__ import annotations

import time

import numpy as np

from nonsmooth.views.plots import draw
from pages import Page, curves, run

TOPS = {
    1: (0.077085471793, 0.997024488184),
    2: (0.057815795768, 0.998327267863),
}  # m, at 2 s


def fill(page: Page) -> None:
    """Run one loop, two and forty."""
    for n, top in TOPS.items():
        result = run("n_four_bar", n=n, rtol=1e-11)
        found = result.sample(2.0, ["rocker0.top.x", "rocker0.top.y"])
        for axis, wanted in zip("xy", top, strict=True):
            value = found[f"rocker0.top.{axis}"][0]
            page.number(f"top{n}_{axis}", value, ".12f", near=wanted, within=1e-10)
        balance = result.energy_balance
        energy = balance.kinetic + balance.potential
        rate = result.sample(result.t, "rocker0.omega")["rocker0.omega"]
        kinetic = ((n + 1) / 6.0 + n / 2.0) * rate**2
        is_so = np.allclose(balance.kinetic, kinetic, rtol=0.0, atol=1e-8)
        page.check("the kinetic energy is that of the formula", is_so)
        page.number(f"energy{n}", float(np.ptp(energy) / abs(energy[0])), ".0e")
    one = run("n_four_bar")
    t = np.linspace(0.0, 2.0, 2001)
    found = one.sample(t, ["rocker0.theta", "rocker0.omega", "hinge0.force_x"])
    page.figure(
        "motion",
        curves(
            {
                "angle (rad)": {"rocker": (t, found["rocker0.theta"])},
                "rate (rad/s)": {"rocker": (t, found["rocker0.omega"])},
            },
            legend=False,
        ),
    )
    page.check("the rods pass the flat pose", found["rocker0.theta"].min() < -np.pi)
    # The angle falls from pi/2 on; flat is 0 and -pi.
    for k, angle in enumerate((0.0, -np.pi)):
        page.number(f"flat{k}", np.interp(-angle, -found["rocker0.theta"], t), ".2f")
    run("n_four_bar", 0.1, n=40)
    begin = time.perf_counter()
    many = run("n_four_bar", n=40)
    page.number("many_seconds", time.perf_counter() - begin, ".2f")
    balance = many.energy_balance
    energy = balance.kinetic + balance.potential
    page.number("many_energy", float(np.ptp(energy) / abs(energy[0])), ".0e")
    page.number("many_violation", many.violation, ".0e")
    shown = run("n_four_bar", n=3)
    page.figure("sketch", draw(shown, [0.0, 0.35], names=False))
    page.live(shown, n=3)
