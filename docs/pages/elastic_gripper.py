"""A gripper with elastic fingers."""

from __future__ import annotations

import numpy as np

from nonsmooth.views.plots import draw
from pages import Page, curves, run

M, G, MU0, LIFT = 0.15, 9.81, 0.6, 0.05
NAMES = ["box.y", "left.normal_force", "left.friction_force"]
COUNTS = ["left.n_closed", "left.n_stuck"]


def fill(page: Page) -> None:
    """Lift the box, then squeeze too little."""
    result, loose = run("elastic_gripper"), run("elastic_gripper", squeeze=1.0)
    end = result.sample(result.t_end, [*NAMES, "right.friction_force"])
    force = page.number("force", end["left.normal_force"][0], ".3f")
    # Tangents of the two faces are opposite.
    both = float(end["left.friction_force"][0] - end["right.friction_force"][0])
    weight = page.number("weight", M * G, ".4f")
    page.number("friction", abs(both), ".4f", near=weight, within=1e-3 * weight)
    page.check("the pads could bear more", 2.0 * MU0 * force > weight)
    start = result.sample(0.15, "box.y")["box.y"][0]
    below = LIFT - (end["box.y"][0] - start)
    page.number("below", 1e3 * below, ".2f", near=0.0, within=0.5)
    low = loose.sample(loose.t_end, "box.y")["box.y"][0]
    page.check("1 N do not lift the box", abs(low) < 1e-3)
    balance = result.energy_balance
    page.number("closing", balance.residual / balance.exchanged, ".0e")
    t = np.linspace(0.0, result.t_end, 1500)
    found, other = result.sample(t, NAMES + COUNTS), loose.sample(t, NAMES)
    panels = {
        "height (mm)": {
            "3 N": (t, 1e3 * found["box.y"]),
            "1 N": (t, 1e3 * other["box.y"]),
        },
        "normal force (N)": {
            "3 N": (t, found[NAMES[1]]),
            "1 N": (t, other[NAMES[1]]),
        },
        "friction (N)": {"3 N": (t, found[NAMES[2]]), "1 N": (t, other[NAMES[2]])},
    }
    page.figure("forces", curves(panels))
    nodes = {"press": (t, found[COUNTS[0]]), "stick": (t, found[COUNTS[1]])}
    page.figure("nodes", curves({"nodes": nodes}))
    page.figure("sketch", draw(result, [0.0, 0.6], names=True))
    page.live(result)
