"""A ball on a beam, beside Timoshenko's integral equation."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from nonsmooth import RigidBody, gallery, simulate
from nonsmooth.pack.flexible import loads_of, reduce
from nonsmooth.views.mode_plot import plot_modes
from nonsmooth.views.plots import draw
from pages import ROOT, Page, curves, run

LENGTH, HEIGHT, SPEED = 0.1535, 0.01, 0.01
N_STEP = 100_000
# The figure asked for, and where contact ends: the steps of the integral equation.
SAME, SAME_TIME = 1e-4, 2e-8
# The same of a disc on a patch, whose shapes differ over its width; modes, and the end.
SAME_PATCH, MODES, UNTIL = 3e-3, 60, 3e-5


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
    _disc(page)
    page.figure("sketch", draw(result, [0.0, 2.5e-4], names=True))
    page.figure("modes", plot_modes(result.system, most=6))
    page.live(result)


def _disc(page: Page) -> None:
    """Press a rigid disc on a patch, and solve the equation with its compliance."""
    from oracles.beam_theory import ball_on_beam
    from oracles.pressed_patches import disc_on_patch

    model = gallery.build("ball_on_beam", contact="patch", modes=MODES)
    result = simulate(model, until=UNTIL)
    one, ball = result.system.flexible["beam"], model.element("ball")
    assert isinstance(ball, RigidBody)
    face, radius = one.sites["face"], ball.position[1]
    depths = np.linspace(0.0, 2.0 * (radius - result["ball.y"].min()), 400)
    law = (depths, disc_on_patch(face.nodes, radius, depths))
    w, phi = np.sqrt(one.stiffness), face.shape[1]
    t, force = ball_on_beam(law, ball.mass, SPEED, w, phi, UNTIL, 6000)
    page.number("disc_modes", MODES, ".0f")
    names = ["contact.normal_force", "contact.n_closed"]
    found = result.sample(t, names)
    ours, peak = found["contact.normal_force"], float(force.max())
    page.number("disc_peak_exact", peak, ".3f")
    page.number("disc_peak", float(ours.max()), ".3f", near=peak, within=1e-3 * peak)
    end = 1e6 * float(t[np.flatnonzero(force > 0.0)[-1]])
    page.number("disc_end_exact", end, ".2f")
    page.number("disc_end", 1e6 * result.events[0].t, ".2f", near=end, within=0.05)
    worst = float(np.max(np.abs(ours - force))) / peak
    page.number("disc_difference", worst, ".0e", near=0.0, within=SAME_PATCH)
    us = 1e6 * t[::10]
    panels = {
        "force (N)": {
            "here": (us, ours[::10]),
            "integral equation": (us, force[::10]),
        },
        "nodes that press": {"": (us, found["contact.n_closed"][::10])},
    }
    page.figure("disc", curves(panels, x="time (µs)"))
