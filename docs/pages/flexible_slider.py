"""The flexible slider of Zhang and Wang (2016)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth import Result
from nonsmooth.gallery.kineto import Equations
from nonsmooth.result.blocks import stiffness_ratio
from nonsmooth.views.plots import draw, plot_contacts
from pages import Curves, Page, curves, jumps, printed, run, series

Floats = NDArray[np.float64]
START = -0.2955064022  # m, where the motion in the rigid limit repeats at once
PERIOD = 8.0  # s
AREAS = {
    "1 top-left": ("top_left", "f1_topleft"),
    "2 top-right": ("top_right", "f2_topright"),
    "3 bottom-left": ("bottom_left", "f3_botleft"),
    "4 bottom-right": ("bottom_right", "f4_botright"),
}
CLEARANCES = (0.0, 1e-9, 1e-8, 3e-8, 1e-7, 3e-7, 1e-6, 1e-5, 1e-4)  # m


def fill(page: Page) -> None:
    """Run the cycle with clearance and without, and a study over the clearance."""
    loose = run("flexible_slider", 2.0 * PERIOD, position=START, rtol=1e-10)
    tight = run("flexible_slider", 6.0 * PERIOD, clearance=0.0, rtol=1e-8)
    limit(page, loose)
    none(page, tight)
    figures(page, loose, tight)
    pressures(page, loose, tight)
    patterns(page, loose, tight)
    rest(page, tight)
    study(page)
    meshes(page)
    springs(page, tight)
    bands(page)
    rattling(page, loose)
    shown = run("flexible_slider", PERIOD, clearance=0.0)
    page.figure("sketch", draw(shown, [1.2, 3.6]))
    page.live(shown, clearance=0.0)


def limit(page: Page, loose: Result) -> None:
    """Put in how near the motion with clearance is to the rigid limit."""
    table = series("flexible_slider_rigid_cycle.csv")
    at = loose.sample(table["t"], ["slider.x", "guide.load"])
    off = float(np.abs(at["slider.x"] - table["x2"]).max())
    page.number("loose_x", off, ".0e", near=0.0, within=1e-6)
    off = float(np.abs(at["guide.load"] - table["G"]).max())
    page.number("loose_load", off, ".0e", near=0.0, within=1e-6)
    page.number("loose_ratio", stiffness_ratio(loose, "guide"), ".0f")


def none(page: Page, tight: Result) -> None:
    """Put in sticks and extremes without clearance, in the sixth period."""
    last = 5.0 * PERIOD
    events = [e for e in tight.events.of("guide") if e.t > last]
    sticks = [e.t - last for e in events if e.kind == "stick"]
    away = [e.t - last for e in events if e.kind == "break_away"]
    page.check("it sticks twice in a period", len(sticks) == len(away) == 2)
    for k, t in enumerate(sticks):
        page.number(f"stick{k}", t, ".3f")
    for k, t in enumerate(away):
        page.number(f"away{k}", t, ".3f")
    t = np.linspace(last, last + PERIOD, 4001)
    found = tight.sample(t, ["slider.x", "guide.load"])
    page.number("tight_low", found["slider.x"].min(), ".4f")
    page.number("tight_high", found["slider.x"].max(), ".4f")
    page.number("tight_load", found["guide.load"].max(), ".1f")
    stuck = tight.sample(t, "guide.mode")["guide.mode"] == 0.0
    page.number("tight_part", 100.0 * float(np.mean(stuck)), ".0f")


def figures(page: Page, loose: Result, tight: Result) -> None:
    """Draw Figs. 5 to 9, of both."""
    titles = {
        "Fig. 5: x2 (m)": "slider.x",
        "Fig. 6: x2′ (m/s)": "slider.vx",
        "Fig. 7: x2″ (m/s²)": "slider.ax",
        "Fig. 8: torque (N m)": "motor.torque",
        "sum of normal forces (N)": "guide.load",
    }
    parts = [f"guide.{area}.friction_force" for area, _ in AREAS.values()]
    names = [*titles.values(), *parts]
    one = jumps(loose, names, 3000)
    two = jumps(tight, names, 9000)
    late = two["t"] >= 4.0 * PERIOD
    shifted = two["t"][late] - 4.0 * PERIOD
    panels: dict[str, Curves] = {}
    for title, name in titles.items():
        panels[title] = {
            "c = 0.1 mm": (one["t"], one[name]),
            "c = 0": (shifted, two[name][late]),
        }
    page.figure("motion", curves(panels, span=(0.0, 2.0 * PERIOD)))
    table = series("flexible_slider_rigid_cycle.csv")
    some = np.arange(len(table["t"])) % 20 == 0
    lines: dict[str, Curves] = {}
    dots: dict[str, Curves] = {}
    for (title, (_, column)), name in zip(AREAS.items(), parts, strict=True):
        lines[f"{title} (N)"] = {
            "c = 0.1 mm": (one["t"], one[name]),
            "c = 0": (shifted, two[name][late]),
        }
        dots[f"{title} (N)"] = {"rigid": (table["t"][some], table[column][some])}
    page.figure("areas", curves(lines, dots=dots, height=1.4, span=(0.0, PERIOD)))


def pressures(page: Page, loose: Result, tight: Result) -> None:
    """Draw the pressure along both faces at one instant."""
    panels: dict[str, Curves] = {"lower face (kPa)": {}, "upper face (kPa)": {}}
    for label, result, shift in (
        ("c = 0.1 mm", loose, 0.0),
        ("c = 0", tight, 5.0 * PERIOD),
    ):
        found = result.pressure("guide", 1.2 + shift)
        n = len(found.forces) // 2
        x = found.places[:n, 0] - found.places[:n, 0].mean()
        for k, title in enumerate(panels):
            panels[title][label] = (x, 1e-3 * found.pressure[k * n : (k + 1) * n])
        name = "loose" if shift == 0.0 else "tight"
        page.number(f"{name}_nodes", int(np.sum(found.forces > 0.0)), ".0f")
    page.figure("pressure", curves(panels, x="along the block (m)"))


def study(page: Page) -> None:
    """Put in the motion over the clearance: the transition between the regimes."""
    t = np.linspace(4.0 * PERIOD, 5.0 * PERIOD, 401)
    rigid = run("flexible_slider", 5.0 * PERIOD, load="corners", rtol=1e-9)
    true = rigid.sample(t, "slider.x")["slider.x"]
    rows: list[list[str]] = []
    for clearance in CLEARANCES:
        result = run("flexible_slider", 5.0 * PERIOD, clearance=clearance, rtol=1e-8)
        found = result.sample(t, ["slider.x", "guide.load", "guide.mode"])
        sticks = [e for e in result.events.of("guide") if e.kind == "stick"]
        n_stick = sum(e.t > t[0] for e in sticks)
        rows.append(
            [
                f"{clearance:g}",
                printed(stiffness_ratio(result, "guide"), ".2g"),
                printed(found["guide.load"].max(), ".1f"),
                str(n_stick),
                printed(100.0 * float(np.mean(found["guide.mode"] == 0.0)), ".1f"),
                printed(np.abs(found["slider.x"] - true).max(), ".1e"),
            ]
        )
    page.table("study", rows)


def meshes(page: Page) -> None:
    """Put in how values without clearance converge with the mesh."""
    rows: list[list[str]] = []
    values: list[list[float]] = []
    last = 5.0 * PERIOD
    for mesh in (1, 2, 4):
        result = run(
            "flexible_slider", 6.0 * PERIOD, clearance=0.0, mesh=mesh, rtol=1e-7
        )
        events = [e for e in result.events.of("guide") if e.t > last]
        t = np.linspace(last, last + PERIOD, 2001)
        found = result.sample(t, ["slider.x", "guide.load"])
        times = [e.t - last for e in events if e.kind != "change_side"]
        x = found["slider.x"]
        values.append([*times, x.min(), x.max(), found["guide.load"].max()])
        rows.append([str(684 * mesh**2), *_cells(values[-1])])
    limit, error = extrapolated(np.array(values))
    page.check("the mesh is fine enough", bool(np.all(error[:-1] < 0.02)))
    rows.append(["limit", *_cells(limit.tolist())])
    rows.append(["±", *_cells(error.tolist())])
    page.table("meshes", rows)


def patterns(page: Page, loose: Result, tight: Result) -> None:
    """Draw which areas press over time."""
    page.figure("pattern_loose", plot_contacts(loose, span=(0.0, PERIOD)))
    last = 5.0 * PERIOD
    page.figure("pattern_tight", plot_contacts(tight, span=(last, last + PERIOD)))


def rest(page: Page, tight: Result) -> None:
    """Draw how nodes share friction at rest, with and without its history."""
    t = 0.7 * tight.events.of("guide")[0].t
    panels: dict[str, Curves] = {"lower face (N)": {}, "upper face (N)": {}}
    for label, history in (("as normal forces", False), ("with history", True)):
        found = tight.pressure("guide", t, history=history)
        page.check("friction at rest was found", found.is_converged)
        n = len(found.forces) // 2
        x = found.places[:n, 0] - found.places[:n, 0].mean()
        for k, title in enumerate(panels):
            own = slice(k * n, (k + 1) * n)
            panels[title][label] = (x, found.friction[own])
            if history:
                panels[title]["bound"] = (x, -0.04 * found.forces[own])
    page.number("rest_t", t, ".2f")
    page.figure("rest", curves(panels, x="along the block (m)"))


def springs(page: Page, tight: Result) -> None:
    """Put in how all finite elements on springs tend to the condensed block."""
    rows: list[list[str]] = []
    t = np.linspace(0.0, PERIOD, 401)
    true = tight.sample(t, "slider.x")["slider.x"]
    for penalty in (1e11, 1e12, 1e13, 1e14, 1e15):
        slider = Equations({"clearance": 0.0, "penalty": penalty})
        off = 0.0
        for at in (1.3, 9.4):
            now = tight.sample(at)
            x, v = float(now["slider.x"][0]), float(now["slider.vx"][0])
            found = slider.slip(at, x, v, 0.03 * np.sign(v))
            off = max(off, abs(found.a - float(now["slider.ax"][0])))
        given = {"load": "penalty", "penalty": penalty, "clearance": 0.0}
        result = run("flexible_slider", PERIOD, rtol=1e-8, **given)
        moved = float(np.abs(result.sample(t, "slider.x")["slider.x"] - true).max())
        rows.append([f"{penalty:.0e}", printed(off, ".1e"), printed(moved, ".1e")])
        if penalty == 1e15:
            page.check("springs tend to contact", off < 1e-6)
    page.table("springs", rows)


def bands(page: Page) -> None:
    """Put in the error of Karnopp's law over its band."""
    t = np.linspace(0.0, PERIOD, 801)
    rows: list[list[str]] = []
    errors: list[list[float]] = []
    true = [
        run("flexible_slider", PERIOD, clearance=c, rtol=1e-9).sample(t, "slider.x")
        for c in (1e-4, 0.0)
    ]
    for band in (1e-2, 1e-3, 1e-4, 1e-5):
        own: list[float] = []
        stays = 0.0
        for c, exact in zip((1e-4, 0.0), true, strict=True):
            given = {"law": "karnopp", "dead_band": band, "clearance": c}
            found = run("flexible_slider", PERIOD, rtol=1e-9, **given)
            x = found.sample(t, "slider.x")["slider.x"]
            own.append(float(np.abs(x - exact["slider.x"]).max()))
            stays = stays or float(abs(x[-1] - exact["slider.x"][-1]))
        order = ["", ""]
        if errors:
            order = [
                f"{np.log10(a / b):.2f}" for a, b in zip(errors[-1], own, strict=True)
            ]
        errors.append(own)
        rows.append(
            [
                f"{band:.0e}",
                f"{stays:.1e}",
                f"{own[0]:.1e}",
                order[0],
                f"{own[1]:.1e}",
                order[1],
            ]
        )
    page.table("bands", rows)


def rattling(page: Page, loose: Result) -> None:
    """Draw the forces of a block that moves in its clearance, beside those at rest."""
    given = {"motion": "dynamic", "position": START}
    moving = run("flexible_slider", 5.2, rtol=1e-8, **given)
    t = np.linspace(0.0, 5.2, 5201)
    x = moving.sample(t, "slider.x")["slider.x"]
    page.number("rattle_low", x.min() + 0.389309, ".1e", near=0.0, within=3e-4)
    page.number("rattle_high", x.max() - 1.088372, ".1e", near=0.0, within=3e-4)
    names = ["lower.normal_force", "upper.normal_force"]
    panels: dict[str, Curves] = {}
    near = np.linspace(2.7, 3.0, 12001)
    dynamic = moving.sample(near, names)
    calm = loose.sample(near)
    for face, name in (("lower", "bottom"), ("upper", "top")):
        still = sum(
            calm[f"guide.{name}_{end}.normal_force"] for end in ("left", "right")
        )
        panels[f"{face} face (N)"] = {
            "in motion": (near, dynamic[f"{face}.normal_force"]),
            "balanced": (near, still),
        }
    most = max(float(dynamic[name].max()) for name in names)
    page.number("rattle_peak", most, ".0f")
    page.number("rattle_cpu", moving.cost["cpu_seconds"], ".0f")
    page.figure("rattling", curves(panels))


def extrapolated(values: Floats) -> tuple[Floats, Floats]:
    """Return values for no size of cells, and their distance from the finest mesh.

    Of three meshes, each twice as fine as the one before, by their order, which corners
    make uneven.
    """
    coarse, middle, fine = values
    ratio = (coarse - middle) / np.where(middle == fine, 1e-300, middle - fine)
    step = (fine - middle) / (np.clip(ratio, 2.0**0.5, 4.0) - 1.0)
    return fine + step, np.abs(step)


def _cells(values: list[float]) -> list[str]:
    *times, low, high, load = values
    return [
        ", ".join(f"{t:.3f}" for t in times),
        f"{low:.4f}",
        f"{high:.4f}",
        f"{load:.2f}",
    ]
