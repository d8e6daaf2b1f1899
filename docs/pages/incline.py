"""A block on an incline."""

from __future__ import annotations

import math
from dataclasses import replace

from nonsmooth import Event, gallery, simulate
from nonsmooth.views.plots import draw
from pages import Curves, Page, curves, jumps, run

ANGLE, SPEED, MU, G = math.radians(20.0), 3.0, 0.3, 9.81


def fill(page: Page) -> None:
    """Throw the block up with two coefficients at rest."""
    stays = run("incline")
    slides = run("incline", mu0=0.35)
    up = G * (math.sin(ANGLE) + MU * math.cos(ANGLE))
    down = G * (math.sin(ANGLE) - MU * math.cos(ANGLE))
    stop = SPEED / up
    page.number("slope", math.tan(ANGLE), ".3f")
    page.number("stop_exact", stop, ".9f")
    page.number("stop", stays.events[0].t, ".9f", near=stop, within=1e-9)
    page.check("it sticks", stays.events[0].kind == "stick")
    page.check("it reverses", slides.events[0].kind == "reverse")
    force = stays.events[0].friction_force
    assert force is not None
    page.number("force_before", force[0], ".2f")
    page.number("force_after", force[1], ".2f")
    model = gallery.build("incline", mu0=0.35)
    block = model.element("block")
    start = getattr(block, "position")[0]  # noqa: B009 (any element)
    back = Event(name="back", b="block", guard=f"x - {start!r}", action="stop")
    returned = simulate(replace(model, events=(back,)), until=5.0).t_end
    height = 0.5 * SPEED**2 / up
    exact = stop + math.sqrt(2.0 * height / down)
    page.number("back_exact", exact, ".9f")
    page.number("back", returned, ".9f", near=exact, within=1e-8)
    panels: dict[str, Curves] = {"along the slope (m)": {}, "friction (N)": {}}
    for label, result in (("μ0 = 0.4", stays), ("μ0 = 0.35", slides)):
        found = jumps(result, ["block.x", "block.y", "sole.friction_force"], 800)
        s = found["block.x"] * math.cos(ANGLE) + found["block.y"] * math.sin(ANGLE)
        panels["along the slope (m)"][label] = (found["t"], s)
        panels["friction (N)"][label] = (found["t"], found["sole.friction_force"])
    page.figure("motion", curves(panels))
    page.figure("sketch", draw(slides, [0.0, 0.2, 0.49], names=True))
    page.live(slides, mu0=0.35)
