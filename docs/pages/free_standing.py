"""The free-standing body of Zhang and Wang (2017)."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from nonsmooth import Result
from nonsmooth.views.plots import draw, plot_contacts
from pages import Curves, Floats, Page, curves, jumps, run, series

FEET = {"2": "left_foot", "3": "right_foot"}


def drift(result: Result, t: Any) -> Floats:
    """Return x_xd, the place of the body on the platform less that at the start."""
    found = result.sample(np.concatenate([[0.0], t]), ["body.x", "platform.x"])
    x = found["body.x"] - found["platform.x"]
    return x[1:] - x[0]


def fill(page: Page) -> None:
    """Run the three cases and the bounce."""
    case1 = run("free_standing", 22.0, rtol=1e-9)
    cases: dict[str, Result] = {
        "1": case1,
        "1 e0": run("free_standing", 16.0, e=0.0),
        "2": run("free_standing", 10.0, case="2"),
        "2 e0": run("free_standing", 10.0, case="2", e=0.0),
        "3": run("free_standing", 12.0, case="3"),
        "3 Y0": run("free_standing", 16.0, case="3", Y0=0.0),
    }
    claims(page, cases)
    drifts(page, cases)
    detail(page)
    feet(page, cases["2"])
    settled(page)
    bounce(page)


def claims(page: Page, cases: dict[str, Result]) -> None:
    """Put in the drifts, beside what the paper says of them."""
    figures = {2.0: 0.0407517997, 4.0: 0.0652158929, 10.0: 0.1539668132}
    for t, x in figures.items():
        found = drift(cases["1"], [t])[0]
        page.number(f"case1_{t:.0f}", found, ".7f", near=x, within=1e-7)
    late = np.diff(drift(cases["1"], [18.0, 20.0, 22.0]))
    page.number("case1_drift", late[-1], ".7f", near=0.0296188848, within=1e-7)
    x = drift(cases["1 e0"], [12.0, 14.0, 16.0])
    page.number("case1_periodic", x[-1], ".7f", near=x[0], within=1e-6)
    times = [0.5, 1.0, 2.0, 4.0, 10.0]
    creep = 1e3 * drift(cases["2"], times)
    page.text("case2_creep", ", ".join(f"−{-x:.3g}" for x in creep))
    page.number("case2_events", len(cases["2"].events), ".0f")
    off = np.abs(drift(cases["2 e0"], np.linspace(0.0, 10.0, 501))).max()
    page.check("the body without offset does not move in case 2", off < 1e-12)
    page.number("case2_pairs", len(cases["2 e0"].events) / 2, ".0f")
    steps = np.diff(drift(cases["3"], [6.0, 8.0, 10.0, 12.0]))
    page.number("case3_drift", steps[-1], ".3f", near=float(steps[-2]), within=2e-3)
    x = drift(cases["3 Y0"], [12.0, 14.0, 16.0])
    page.number("case3_periodic", x[-1], ".7f", near=x[0], within=1e-6)


def drifts(page: Page, cases: dict[str, Result]) -> None:
    """Draw Figs. 6, 9 and 11: the place on the platform."""
    wanted = series("free_standing_case1_offset.csv")
    some = np.arange(len(wanted["t"])) % 20 == 0

    def line(case: str) -> tuple[Floats, Floats]:
        t = np.linspace(0.0, 10.0, 2001)
        return t, drift(cases[case], t)

    first, second, third = "Fig. 6: x_xd (m)", "Fig. 9: x_xd (m)", "Fig. 11: x_xd (m)"
    panels: dict[str, Curves] = {
        first: {"e = −0.915 m": line("1"), "e = 0": line("1 e0")},
        second: {"e = −3.673 m": line("2"), "e = 0": line("2 e0")},
        third: {"Y0 = 0.9 m": line("3"), "Y0 = 0": line("3 Y0")},
    }
    reference = {"reference": (wanted["t"][some], wanted["x_xd"][some])}
    page.figure("drift", curves(panels, dots={first: reference}))


def detail(page: Page) -> None:
    """Draw Figs. 7 and 8, and list the first events of case 1."""
    case = run("free_standing", 10.0)
    fine = run("free_standing", 10.0, rtol=1e-10)
    wanted = series("free_standing_case1_offset.csv")
    page.number("case1_events", len(case.events), ".0f", near=38, within=0)
    kinds = {"stick": "sticks", "break_away": "breaks away"}
    rows = [
        [f"{e.t:.9f}", e.element.removesuffix("_foot"), kinds[e.kind]]
        for e in fine.events[:6]
    ]
    page.table("first_events", rows)
    gap = case.events[4].t - case.events[3].t
    page.number("case1_apart", 1e6 * gap, ".0f")
    near = [t + np.linspace(-1e-5, 1e-5, 201) for t in case.events.t]
    found = case.sample(np.concatenate([*near, case.events.t]))
    peaks = [found[f"{foot}.normal_force"].max() for foot in FEET.values()]
    page.number("case1_peak_left", peaks[0], ".1f", near=4871.65, within=0.05)
    page.number("case1_peak_right", peaks[1], ".1f", near=3503.79, within=0.05)
    error = np.abs(drift(case, wanted["t"]) - wanted["x_xd"]).max()
    page.number("case1_error", error, ".0e")
    run("free_standing", 1.0)
    begin = time.perf_counter()
    run("free_standing", 10.0)
    page.number("case1_seconds", time.perf_counter() - begin, ".2f")
    page.number("case1_steps", len(case.steps.t), ".0f")

    quantities = ("slip_velocity", "normal_force", "friction_force")
    lines = jumps(case, [f"{foot}.{q}" for foot in FEET.values() for q in quantities])
    is_early = lines["t"] <= 4.0
    t = lines["t"][is_early]

    def of(quantity: str) -> Curves:
        return {
            f"foot {number}, {foot.removesuffix('_foot')}": (
                t,
                lines[f"{foot}.{quantity}"][is_early],
            )
            for number, foot in FEET.items()
        }

    titles = ("Fig. 7: v_t (m/s)", "Fig. 8: F_N (N)", "Fig. 8: F_f (N)")
    panels = {
        title: of(quantity) for title, quantity in zip(titles, quantities, strict=True)
    }
    some = (wanted["t"] <= 4.0) & (np.arange(len(wanted["t"])) % 8 == 1)
    at = wanted["t"][some]
    dots: dict[str, Curves] = {}
    for title, column in zip(titles, ("gdot", "FN", "Ff"), strict=True):
        both = np.concatenate([wanted[f"{column}{n}"][some] for n in FEET])
        dots[title] = {"reference": (np.concatenate([at, at]), both)}
    page.figure("feet", curves(panels, dots=dots))
    short = run("free_standing", 4.0)
    page.figure("contacts", plot_contacts(short))
    page.figure("sketch", draw(short, 0.3, names=True, forces=True))
    page.live(case)


def feet(page: Page, case: Result) -> None:
    """Draw Fig. 10: the normal forces in case 2, at the start and later."""
    t = np.linspace(0.0, 0.5, 4001)
    found = case.sample(t, [f"{foot}.normal_force" for foot in FEET.values()])
    lines: Curves = {
        f"foot {n}": (t[20:], found[f"{foot}.normal_force"][20:])
        for n, foot in FEET.items()
    }
    page.figure("shaken", curves({"Fig. 10: F_N (N)": lines}, height=2.2))


def settled(page: Page) -> None:
    """Put in what case 3 does from the other start."""
    rocks = run("free_standing", 6.0, case="3", Y0=0.0, start="settled")
    found = rocks.sample(np.linspace(0.0, 6.0, 12001))
    page.number("rocks", np.abs(found["body.theta"]).max(), ".2f")
    force = max(found[f"{foot}.normal_force"].max() for foot in FEET.values())
    page.number("rocks_force", force, ".1e")
    moves = run("free_standing", 12.0, case="3", start="settled")
    steps = np.diff(drift(moves, [8.0, 10.0, 12.0]))
    page.check("case 3 drifts from settled as from touching", steps[-1] > 2.8)


def bounce(page: Page) -> None:
    """Draw Fig. 5, the bounce without loss."""
    result = run("free_standing", 2.2, case="bounce", rtol=1e-12)
    foot = result.events.of("left_foot")
    down = np.array([e.t for e in foot if e.kind == "touch_down"][:4])
    up = np.array([e.t for e in foot if e.kind == "separate"][:4])
    fall = math.sqrt(0.8 / 9.81)
    page.number("fall", down[0], ".10f", near=fall, within=1e-9)
    period = float(np.diff(down)[0])
    page.number("bounce_period", period, ".10f", near=0.5738679453, within=1e-8)
    contact = 1e3 * float((up - down)[0])
    page.number("bounce_contact", contact, ".7f", near=2.7306961, within=1e-5)
    t = np.linspace(down[0], up[0], 4001)
    found = result.sample(t, ["left_foot.gap", "left_foot.normal_force"])
    depth = 1e3 * -found["left_foot.gap"].min()
    page.number("bounce_depth", depth, ".7f", near=2.6026843, within=1e-5)
    force = found["left_foot.normal_force"].max()
    page.number("bounce_force", force, ".3f", near=2655.597, within=0.02)
    wanted = series("free_standing_bounce.csv")
    shown = (wanted["t"] < fall + 3.0 * period) & (np.arange(len(wanted["t"])) % 8 == 0)
    t = np.linspace(0.0, 2.0, 2001)
    title = "Fig. 5: y1 (m)"
    page.figure(
        "bounce",
        curves(
            {title: {"here": (t, result.sample(t, "body.y")["body.y"])}},
            dots={title: {"reference": (wanted["t"][shown], wanted["y1"][shown])}},
            height=2.0,
        ),
    )
