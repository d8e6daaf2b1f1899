"""A stack of boxes."""

from __future__ import annotations

import math
import time

import numpy as np

from nonsmooth.views.plots import draw, plot_contacts
from pages import Page, curves, jumps, printed, run

N, M, G, MU0, AMPLITUDE = 5, 1.0, 9.81, 0.3, 0.01


def fill(page: Page) -> None:
    """Weigh the stack at rest, then shake it until it slides."""
    rest = run("box_stack", 1.0, amplitude=0.0)
    rows: list[list[str]] = []
    for k in range(N):
        load = float(rest[f"c{k + 1}.normal_force"][-1])
        weight = (N - k) * M * G
        off = abs(load - weight) / weight
        page.check(f"contact c{k + 1} carries what is above it", off < 1e-6)
        rows.append([f"`c{k + 1}`", printed(weight, ".2f"), printed(load, ".6f")])
    page.table("loads", rows)
    limit = math.sqrt(MU0 * G / AMPLITUDE)
    page.number("limit", limit, ".2f")
    quiet = run("box_stack")
    page.check("nothing slides at 10 rad/s", not len(quiet.events))
    fast = run("box_stack", n=1, frequency=1.1 * limit)
    first = next(e.t for e in fast.events if e.kind == "break_away")
    exact = math.asin(1.0 / 1.21) / (1.1 * limit)
    page.number("first_exact", exact, ".4f")
    page.number("first", first, ".4f", near=exact, within=5e-3 * exact)
    begin = time.perf_counter()
    run("box_stack", 1.0, n=20, amplitude=0.0)
    page.number("seconds", time.perf_counter() - begin, ".1f")
    names = [f"c{k + 1}.friction_force" for k in range(N)]
    found = jumps(quiet, names, 2000)
    forces = {name.partition(".")[0]: (found["t"], found[name]) for name in names}
    page.figure("friction", curves({"friction (N)": forces}))
    shaken = run("box_stack", n=3, frequency=18.0)
    page.check("three boxes slide at 18 rad/s", len(shaken.events) > 0)
    page.number("far", np.ptp(shaken["box3.x"]), ".3f")
    page.figure("contacts", plot_contacts(shaken, span=(0.0, 1.0)))
    page.figure("sketch", draw(quiet, 1.0, names=True))
    page.live(quiet)
