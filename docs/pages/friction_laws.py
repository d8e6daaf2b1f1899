"""Seven laws of friction on one belt."""

from __future__ import annotations

import math

import numpy as np

from nonsmooth import Result, gallery
from nonsmooth.views.plots import draw
from pages import Page, curves, jumps, run

LAWS = tuple(joint.b for joint in gallery.build("friction_laws").joints)
FIRST = 0.4 * 9.81 / (100.0 * 0.1)  # s, where Coulomb's block breaks away
# Coulomb's period, as on the page of the belt.
_D = 0.1 * 9.81 / 100.0
PERIOD = 2.0 * _D / 0.1 + (2.0 * math.pi - 2.0 * math.atan(_D * 10.0 / 0.1)) / 10.0


def fill(page: Page) -> None:
    """Let the seven blocks ride."""
    result = run("friction_laws", 10.0)
    page.number("first", FIRST, ".6f")
    for law in LAWS:
        creep = result.sample(FIRST, [f"{law}.x"])[f"{law}.x"][0]
        page.number(f"creep_{law}", 1e3 * (0.1 * FIRST - float(creep)), ".2f")
    for law in ("coulomb", "viscous", "stribeck", "karnopp"):
        first, _ = breaks(result, law)
        page.number(f"first_{law}", first, ".6f", near=FIRST, within=1e-6)
    page.number(
        "period_coulomb", breaks(result, "coulomb")[1], ".6f", near=PERIOD, within=1e-6
    )
    for law in ("stribeck", "karnopp"):
        page.number(f"period_{law}", breaks(result, law)[1], ".6f")
    page.check(
        "the viscous block never sticks again",
        result.events.of("sole_viscous").counts().get("stick", 0) == 0,
    )
    page.number("period_lugre", swing(result, "lugre"), ".2f")
    short = run("friction_laws", 3.0)
    names = [f"{law}.x" for law in LAWS]
    names += [f"sole_{law}.{q}" for law in LAWS for q in ("slip_velocity",)]
    names += [f"sole_{law}.friction_force" for law in LAWS]
    found = jumps(short, names, 2400)
    t = found["t"]
    page.figure(
        "compared",
        curves(
            {
                "stretch (m)": {law: (t, found[f"{law}.x"]) for law in LAWS},
                "slip (m/s)": {
                    law: (t, found[f"sole_{law}.slip_velocity"]) for law in LAWS
                },
                "friction (N)": {
                    law: (t, found[f"sole_{law}.friction_force"]) for law in LAWS
                },
            },
            height=2.3,
        ),
    )
    page.figure("sketch", draw(short, 0.3))
    page.live(run("friction_laws"))


def breaks(result: Result, law: str) -> tuple[float, float]:
    """Return the first break-away of a block, and its last period or 0."""
    away = [e.t for e in result.events.of(f"sole_{law}") if e.kind == "break_away"]
    return away[0], away[-1] - away[-2] if len(away) > 1 else 0.0


def swing(result: Result, law: str) -> float:
    """Return the time between the last two highest stretches of a spring."""
    t = np.linspace(5.0, 10.0, 20001)
    x = result.sample(t, [f"{law}.x"])[f"{law}.x"]
    tops = np.flatnonzero((x[1:-1] > x[:-2]) & (x[1:-1] >= x[2:])) + 1
    return float(t[tops[-1]] - t[tops[-2]])
