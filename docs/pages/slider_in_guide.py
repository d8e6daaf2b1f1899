"""The slider in its guide, the rigid limit of Zhang and Wang (2016)."""

from __future__ import annotations

import numpy as np

from nonsmooth import Result
from nonsmooth.views.plots import draw
from pages import Curves, Floats, Page, curves, jumps, printed, run, series

START = -0.2955064022  # m, where the motion repeats at once
PERIOD = 8.0  # s
AREAS = {
    "1 top-left": ("rear", -1.0, "f1_topleft"),
    "2 top-right": ("front", -1.0, "f2_topright"),
    "3 bottom-left": ("rear", 1.0, "f3_botleft"),
    "4 bottom-right": ("front", 1.0, "f4_botright"),
}
EVENTS = (0.239317, 2.736925, 5.092205, 6.451162, 7.707030)  # s, six decimals


def fill(page: Page) -> None:
    """Run the cycle, Karnopp's law and the loose guide."""
    cycle = run("slider_in_guide", 2.0 * PERIOD, position=START, rtol=1e-10)
    cycle_numbers(page, cycle)
    figures(page, cycle)
    karnopp(page, cycle)
    loose(page)
    shown = run("slider_in_guide", PERIOD, position=START)
    page.figure("sketch", draw(shown, [1.2, 3.6]))
    page.live(shown, position=START)


def cycle_numbers(page: Page, cycle: Result) -> None:
    """Put in the events and the extremes of the motion that repeats."""
    rest = run("slider_in_guide", 1.0, rtol=1e-10)
    digit = 1.1e-6  # six decimals are given
    page.number("from_rest", rest.events[0].t, ".6f", near=0.304720, within=digit)
    found = [e for e in cycle.events.of("guide") if e.kind != "change_side"]
    times = [e.t for e in found[:5]]
    for k, (t, wanted) in enumerate(zip(times, EVENTS, strict=True)):
        shift = PERIOD if k == 0 else 0.0
        page.number(f"event{k}", t + shift, ".6f", near=wanted + shift, within=digit)
    kinds = [e.kind for e in found[:5]]
    for event in found[1:4]:
        sides = ("before", "after")
        names = ["slider.ax", "motor.torque"]
        before, after = (cycle.sample(event.t, names, side) for side in sides)
        jump = [abs(float(after[name][0] - before[name][0])) for name in names]
        page.check("acceleration and torque jump at a reversal", min(jump) > 1e-3)
    page.check(
        "the block breaks away, reverses three times and sticks",
        kinds == ["break_away", *["reverse"] * 3, "stick"],
    )
    t = np.linspace(0.0, PERIOD, 16001)
    names = ["slider.x", "motor.torque", "guide.load", "guide.side"]
    names += ["guide.front_force", "guide.rear_force"]
    values = cycle.sample(t, names)
    for name, form, low, high, off in (
        ("slider.x", ".6f", -0.389309, 1.088372, 1.1e-6),
        ("motor.torque", ".4f", -19.6218, 19.6200, 1e-4),
        ("guide.load", ".3f", 28.196, 66.141, 1e-3),
    ):
        key = name.partition(".")[2]
        page.number(f"{key}_low", values[name].min(), form, near=low, within=off)
        page.number(f"{key}_high", values[name].max(), form, near=high, within=off)
    table = series("flexible_slider_rigid_cycle.csv")
    at = cycle.sample(table["t"], ["slider.x", *names[1:3], "guide.friction_force"])
    page.number("series_x", float(np.abs(at["slider.x"] - table["x2"]).max()), ".0e")
    force = max(
        float(np.abs(at[name] - table[column]).max())
        for name, column in (
            ("motor.torque", "torque"),
            ("guide.load", "G"),
            ("guide.friction_force", "Ff"),
        )
    )
    page.number("series_force", force, ".0e", near=0.0, within=1e-6)
    ends = ["guide.front_force", "guide.rear_force"]
    at = cycle.sample(table["t"], [*ends, "guide.friction_force", "guide.load"])
    off = [
        float(np.abs(friction - table[column]).max())
        for friction, (_, _, column) in zip(
            by_area({name: at[name] for name in at}), AREAS.values(), strict=True
        )
    ]
    page.number("series_areas", max(off), ".0e", near=0.0, within=1e-6)
    for area, (end, sign, _) in AREAS.items():
        pressed = sign * values[f"guide.{end}_force"] > 0.0
        page.number(f"area{area[0]}", 100.0 * float(np.mean(pressed)), ".1f")
    changes = np.flatnonzero(np.diff(values["guide.side"] == 1.0)) + 1
    flat = [f"{x:.4f}" for x in refined(cycle, t[changes])]
    page.check("it lies on its lower face twice a period", len(flat) == 4)
    for k, words in enumerate(flat):
        page.text(f"flat{k}", words)


def refined(cycle: Result, near: Floats) -> list[float]:
    """Return the instants of the guide's events that are nearest to given ones."""
    times = np.array([e.t for e in cycle.events.of("guide")])
    return [float(times[np.argmin(np.abs(times - t))]) for t in near]


def figures(page: Page, cycle: Result) -> None:
    """Draw Figs. 5 to 9."""
    names = ["slider.x", "slider.vx", "slider.ax", "motor.torque"]
    names += ["guide.friction_force", "guide.front_force", "guide.rear_force"]
    names += ["guide.load"]
    found = jumps(cycle, names, 4000)
    table = series("flexible_slider_rigid_cycle.csv")
    some = np.arange(len(table["t"])) % 20 == 0
    two = np.concatenate([table["t"][some], table["t"][some] + PERIOD])
    t = found["t"]
    titles = {
        "Fig. 5: x2 (m)": ("slider.x", "x2"),
        "Fig. 6: x2′ (m/s)": ("slider.vx", "v2"),
        "Fig. 7: x2″ (m/s²)": ("slider.ax", "a2"),
        "Fig. 8: torque (N m)": ("motor.torque", "torque"),
    }
    page.figure(
        "motion",
        curves(
            {title: {"here": (t, found[name])} for title, (name, _) in titles.items()},
            dots={
                title: {"reference": (two, np.tile(table[column][some], 2))}
                for title, (_, column) in titles.items()
            },
        ),
    )
    lines: dict[str, Curves] = {}
    dots: dict[str, Curves] = {}
    for (area, (_, _, column)), friction in zip(
        AREAS.items(), by_area(found), strict=True
    ):
        title = f"{area} (N)"
        lines[title] = {"here": (t, friction)}
        dots[title] = {"reference": (two, np.tile(table[column][some], 2))}
    page.figure("areas", curves(lines, dots=dots, height=1.4))


def by_area(found: dict[str, Floats]) -> list[Floats]:
    """Return the friction on the areas 1 to 4.

    It is shared as the normal forces are. Corners bear the forces of the ends. Where
    the block lies flat, the pressure is linear where it presses at all: over all of
    the face, or over 3 (l/2 - |e|) from the end nearer to the resultant at e.
    """
    front, rear = found["guide.front_force"], found["guide.rear_force"]
    part = found["guide.friction_force"] / found["guide.load"]
    normal = front + rear
    e = 0.5 * (front - rear) / normal  # in lengths of the block
    pressed = np.maximum(3.0 * (0.5 - np.abs(e)), 1e-12)
    edge = (np.maximum(pressed - 0.5, 0.0) / pressed) ** 2
    far = np.where(np.abs(e) <= 1.0 / 6.0, 0.5 - 1.5 * np.abs(e), edge)
    right = np.where(e > 0.0, 1.0 - far, far)
    is_flat = (front > 0.0) & (rear > 0.0)
    below = (
        np.where(is_flat, normal * (1.0 - right), np.maximum(rear, 0.0)),
        np.where(is_flat, normal * right, np.maximum(front, 0.0)),
    )
    areas = (np.maximum(-rear, 0.0), np.maximum(-front, 0.0), *below)
    return [part * area for area in areas]


def karnopp(page: Page, cycle: Result) -> None:
    """Put in how far Karnopp's law is off, by its dead band."""
    t = np.linspace(0.0, PERIOD, 801)
    true = cycle.sample(t, "slider.x")["slider.x"]
    cells: list[str] = []
    for band in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        result = run(
            "slider_in_guide",
            5.0 * PERIOD,
            position=START,
            law="karnopp",
            dead_band=band,
            rtol=1e-9,
        )
        x = result.sample(t + 4.0 * PERIOD, "slider.x")["slider.x"]
        cells.append(printed(np.abs(x - true).max(), ".1e"))
    page.table("karnopp", [["x is off by, m", *cells]])


def loose(page: Page) -> None:
    """Put in how the motion with a clearance tends to the limit."""
    t = np.linspace(0.0, PERIOD, 1601)
    limit = run("slider_in_guide", PERIOD, mu0=0.03, rtol=1e-10)
    true = limit.sample(t, "slider.x")["slider.x"]
    early: list[str] = []
    late: list[str] = []
    for clearance in (1e-3, 1e-4, 1e-5):
        result = run("slider_in_guide", PERIOD, mu0=0.03, clearance=clearance)
        off = np.abs(result.sample(t, "slider.x")["slider.x"] - true)
        early.append(printed(off[t <= 2.0].max(), ".1e"))
        late.append(printed(off.max(), ".1e"))
    page.table(
        "clearance",
        [["x is off within 2 s, m", *early], ["x is off within 8 s, m", *late]],
    )
    rough = run("slider_in_guide", 0.5, clearance=1e-5)
    away = [e.t for e in rough.events if e.kind == "break_away"]
    page.number("sets_off", away[-1], ".3f")
