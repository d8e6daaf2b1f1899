"""A ratchet and pawl."""

from __future__ import annotations

import math

from nonsmooth.views.plots import draw, plot_contacts
from pages import Page, curves, jumps, run

MU, SPRING, REACH, FACE = 0.3, 0.3, 0.08, math.radians(30.0)
TOE = (0.005 * math.sin(FACE), 0.09 + 0.005 * math.cos(FACE))


def fill(page: Page) -> None:
    """Find the torque that lifts the pawl, and count teeth the other way."""
    limit = SPRING / REACH * (TOE[0] + TOE[1] / math.tan(FACE - math.atan(MU)))
    page.number("limit", limit, ".3f")
    page.number("locks", math.tan(FACE), ".3f")
    held = run("ratchet", torque=0.985 * limit)
    turn = float(held["wheel.theta"][-1])
    page.number("held", turn, ".1g", near=0.0, within=2e-3)
    over = run("ratchet", torque=1.2 * limit)
    lifts = next(
        e.t
        for e in over.events
        if e.kind == "separate" and e.element == "tooth.t2.nose"
    )
    torque = float(over.sample([lifts])["load.torque"][0])
    page.number("lifts", torque, ".3f", near=limit, within=0.01 * limit)
    free = run("ratchet", torque=-0.8)
    passed = -float(free["wheel.theta"][-1]) / (2.0 * math.pi / 12.0)
    page.number("passed", math.floor(passed), ".0f")
    page.check("it passes some teeth", passed > 5.0)
    panels: dict[str, dict[str, tuple[object, object]]] = {
        "angle of the wheel (rad)": {},
        "angle of the pawl (rad)": {},
    }
    for name, one in (("held", held), ("slips", over), ("turns freely", free)):
        found = jumps(one, ["wheel.theta", "pawl.theta"], 2500)
        t = found["t"]
        panels["angle of the wheel (rad)"][name] = (t, found["wheel.theta"])
        panels["angle of the pawl (rad)"][name] = (t, found["pawl.theta"])
    page.figure("motion", curves(panels))
    names = ["tooth.t1.nose", "tooth.t2.nose"]
    page.figure("contacts", plot_contacts(held, names=names, span=(0.0, 0.6)))
    page.figure("sketch", draw(held, 1.0, names=True))
    page.live(free, torque=-0.8)
