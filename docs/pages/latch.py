"""A latch."""

from __future__ import annotations

import math

from nonsmooth.views.plots import draw, plot_contacts
from pages import Page, curves, jumps, printed, run

PRELOAD, HOLD = 10.0, math.radians(60.0)


def fill(page: Page) -> None:
    """Find the pull that opens the latch, and the friction that locks it."""
    page.number("locks", 1.0 / math.tan(HOLD), ".3f")
    rows: list[list[str]] = []
    for mu in (0.0, 0.15, 0.3):
        result = run("latch", mu=mu)
        opens = next(
            e.t
            for e in result.events
            if e.t > 1.0 and e.element == "catch.bar.tooth" and e.kind == "separate"
        )
        pull = float(result.sample([opens])["push.force_x"][0])
        exact = PRELOAD * math.tan(HOLD + math.atan(mu))
        page.check(f"mu = {mu} opens as said", abs(pull / exact - 1.0) < 5e-3)
        rows.append([f"{mu:g}", printed(exact, ".3f"), printed(pull, ".3f")])
    page.table("pulls", rows)
    result, locked = run("latch"), run("latch", mu=0.6)
    page.check("it has opened", result["bolt.x"][-1] > 0.02)
    page.check("it is locked", locked["bolt.x"][-1] < -0.01)
    page.number("held", locked["push.force_x"][-1], ".1f")
    panels: dict[str, dict[str, tuple[object, object]]] = {
        "place of the bolt (m)": {},
        "pull of the hand (N)": {},
    }
    for name, one in (("μ = 0.3", result), ("μ = 0.6", locked)):
        found = jumps(one, ["bolt.x", "push.force_x"], 2500)
        panels["place of the bolt (m)"][name] = (found["t"], found["bolt.x"])
        panels["pull of the hand (N)"][name] = (found["t"], found["push.force_x"])
    page.figure("motion", curves(panels))
    names = ["catch.bar.tooth", "catch.tooth.tooth"]
    page.figure("contacts", plot_contacts(result, names=names))
    page.figure("sketch", draw(result, [0.0, 0.25, 1.1], names=True))
    page.live(result)
