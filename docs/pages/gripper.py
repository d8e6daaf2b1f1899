"""A gripper."""

from __future__ import annotations

import math

from scipy.optimize import brentq

from nonsmooth.views.plots import draw, plot_contacts
from pages import Page, curves, jumps, run

MU0, SQUEEZE, LIFT, M, G = 0.5, 15.0, 0.2, 1.0, 9.81
TIGHT, LOOSE = 13.1, 12.9  # N, a little above and below the limit


def fill(page: Page) -> None:
    """Find the least squeeze that lifts the box."""
    peak = 10.0 / math.sqrt(3.0) * LIFT / 0.6**2
    limit = M * (G + peak) / (2.0 * MU0)
    page.number("peak", peak, ".3f")
    page.number("limit", limit, ".3f")
    page.check("the squeezes are on both sides of the limit", LOOSE < limit < TIGHT)
    for pads in ("flat", "round"):
        held = run("gripper", pads=pads, squeeze=TIGHT)
        page.check(f"{pads} pads hold", not len(held.events))
        below = float(held["hand.y"][-1] - held["box.y"][-1])
        page.number(f"{pads}_held", below, ".0e", near=0.0, within=1e-10)
        lost = run("gripper", pads=pads, squeeze=LOOSE)
        first = next(e.t for e in lost.events if e.kind == "break_away")
        page.number(f"{pads}_lost", first, ".5f", near=_begin(), within=1e-4)
    page.number("begin", _begin(), ".5f")
    result, lost = run("gripper"), run("gripper", squeeze=10.5)
    panels: dict[str, dict[str, tuple[object, object]]] = {
        "height (m)": {},
        "friction of a pad (N)": {},
    }
    for name, one in (("15 N", result), ("10.5 N", lost)):
        found = jumps(one, ["box.y", "left.friction_force"], 1500)
        is_seen = found["box.y"] > -0.1
        t = found["t"][is_seen]
        panels["height (m)"][name] = (t, found["box.y"][is_seen])
        force = found["left.friction_force"][is_seen]
        panels["friction of a pad (N)"][name] = (t, force)
    page.figure("motion", curves(panels))
    page.figure("contacts", plot_contacts(lost, span=(0.2, 0.6)))
    page.figure("sketch", draw(result, [0.0, 1.0], names=True))
    page.live(result)


def _begin() -> float:
    """Return when the hand's acceleration reaches what the loose pads can give."""

    def left(t: float) -> float:
        u = (t - 0.3) / 0.6
        gain = LIFT * (60.0 * u - 180.0 * u**2 + 120.0 * u**3) / 0.6**2
        return gain - (2.0 * MU0 * LOOSE / M - G)

    # It grows until the part (3 - sqrt(3))/6 of the lift.
    return float(brentq(left, 0.3, 0.3 + 0.6 * (3.0 - math.sqrt(3.0)) / 6.0))
