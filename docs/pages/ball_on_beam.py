"""A ball on a beam, beside Timoshenko's integral equation."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from nonsmooth.pack.flexible import loads_of, reduce
from nonsmooth.views.mode_plot import plot_modes
from nonsmooth.views.plots import draw
from pages import ROOT, Page, curves, run

LENGTH, HEIGHT, SPEED = 0.1535, 0.01, 0.01
N_STEP = 100_000
# The figure asked for, and where contact ends: the steps of the integral equation.
SAME, SAME_TIME = 1e-4, 2e-8


def fill(page: Page) -> None:
    """Drop the ball, and solve the equation with the same modes."""
    sys.path.insert(0, str(ROOT / "tests"))
    from oracles.beam_theory import ball_on_beam

    result = run("ball_on_beam", rtol=1e-9)
    model = result.system.model
    beam: Any = model.element("beam")
    ball: Any = model.element("ball")
    one = reduce(beam, loads_of(model)["beam"])
    w, phi = np.sqrt(one.stiffness), one.sites["middle"].shape[1]
    contact: Any = model.element("contact")
    t, force = ball_on_beam(
        contact.normal.stiffness, ball.mass, SPEED, w, phi, 4e-4, N_STEP
    )
    steel = beam.material
    speed = math.sqrt(steel.youngs_modulus * HEIGHT**2 / 12.0 / steel.density)
    page.number("first_exact", math.pi / 2.0 / LENGTH**2 * speed, ".0f")
    page.number("first", w[0] / (2.0 * math.pi), ".0f")
    names = ["contact.normal_force", "ball.y", "beam.middle.y"]
    found = result.sample(t, names)
    ours = found["contact.normal_force"]
    peak = float(force.max())
    page.number("peak_exact", peak, ".4f")
    page.number("peak", float(ours.max()), ".4f", near=peak, within=SAME * peak)
    end = float(t[np.flatnonzero(force > 0.0)[-1]])
    ours_end = next(e.t for e in result.events if e.kind == "separate")
    page.number("end_exact", 1e6 * end, ".2f")
    page.number("end", 1e6 * ours_end, ".2f", near=1e6 * end, within=1e6 * SAME_TIME)
    worst = float(np.max(np.abs(ours - force))) / peak
    page.number("difference", worst, ".0e", near=0.0, within=SAME)
    at = slice(None, None, 100)
    ms, depth = 1e3 * t[at], 1e6 * (found["ball.y"] - ball.position[1])
    panels = {
        "force (N)": {
            "here": (ms, ours[at]),
            "integral equation": (ms, force[at]),
        },
        "way (µm)": {
            "ball": (ms, depth[at]),
            "beam": (ms, 1e6 * found["beam.middle.y"][at]),
        },
    }
    page.figure("force", curves(panels, x="time (ms)"))
    page.figure("sketch", draw(result, [0.0, 2.5e-4], names=True))
    page.figure("modes", plot_modes(result.system, most=6))
    page.live(result)
