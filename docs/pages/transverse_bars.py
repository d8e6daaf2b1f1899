"""Two bars, beside a full finite-element computation of their first impact."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nonsmooth import Result, gallery, simulate
from nonsmooth.pack import pack
from nonsmooth.pack.waves import pack_waves
from nonsmooth.views.plots import draw
from pages import Curves, Page, curves, run, series

FORCE = "contact.normal_force"
FACTORS = (0.01, 0.1, 1.0, 5.0)
FIRST = 1.4e-4  # s
COARSE = 1.5e-3  # m
BENT_AT = 1.9e-3  # s
# Of the paper's Table 2: step and time of its constraint, and of LS-DYNA's penalties.
PAPER = (
    ("100 ns", "2 h 57 min"),
    ("20 ns", "1 h 6 min"),
    ("10 ns", "2 h 8 min"),
    ("10 ns", "2 h 2 min"),
    ("1 ns", "19 h 49 min"),
)
# Of the spec: the first impact, then the march in NumPy of all. Meshes and modes leave
# 0.003 m/s of the rebound, a small difference.
PEAK, PEAK_AT, END, IMPULSE = 31.93, 17.5, 129.9, 2.213e-3
LARGEST, LAST, TOTAL, REBOUND = 40.79, 3.875, 7.983e-3, 0.1222


def fill(page: Page) -> None:
    """Run constraint and penalties."""
    result = run("transverse_bars")
    t = np.arange(0.0, FIRST, 2.5e-7)
    force = result.sample(t, FORCE)[FORCE]
    k = int(np.argmax(force))
    page.number("peak", force[k], ".2f", near=PEAK, within=0.3)
    page.number("peak_at", 1e6 * t[k], ".1f", near=PEAK_AT, within=1.0)
    page.number("end", 1e6 * result.events[0].t, ".1f", near=END, within=1.0)
    impulse = float(np.trapezoid(force, t))
    page.number("impulse", impulse, ".3e", near=IMPULSE, within=0.01 * IMPULSE)
    data = series("transverse_bars_first_impact.csv")
    panel = {
        "here": (1e6 * t, force),
        "finite elements": (1e6 * data["t"], data["F_fine"]),
    }
    page.figure("first", curves({"force (N)": panel}, x="time (µs)"))
    _whole(page, result)
    _penalties(page, result)
    _full(page)
    page.figure("sketch", draw(result, [0.0], names=True))
    page.figure("bent", draw(result, [BENT_AT], field="von_mises"))
    page.live(result)


def _penalties(page: Page, result: Result) -> None:
    """Put in the paper's Figs 3 to 6 and its Table 2, beside ours."""
    t = np.arange(0.0, 6e-3, 1e-6)
    first = np.arange(0.0, FIRST, 2.5e-7)
    exact = result.sample(t, FORCE)[FORCE]
    rows = [
        [
            "constraint",
            "",
            *_cost(result),
            f"{result.sample(first, FORCE)[FORCE].max():.2f}",
            *PAPER[0],
        ]
    ]
    panels: dict[str, Curves] = {}
    for factor, theirs in zip(FACTORS, PAPER[1:], strict=True):
        model = gallery.build(
            "transverse_bars", method="penalty", penalty_factor=factor
        )
        soft = simulate(model, until=6e-3)
        peak = soft.sample(first, FORCE)[FORCE].max()
        rows.append(["penalty", f"{factor:g}", *_cost(soft), f"{peak:.2f}", *theirs])
        panels[f"factor {factor:g}\nforce (N)"] = {
            "constraint": (1e3 * t, exact),
            "penalty": (1e3 * t, soft.sample(t, FORCE)[FORCE]),
        }
    page.table("penalty", rows)
    page.figure("springs", curves(panels, x="time (ms)", span=(0.0, 4.2)))


def _full(page: Page) -> None:
    """Put in full finite elements, beside modes of the same mesh."""
    model = gallery.build("transverse_bars", modes="full", mesh_size=COARSE)
    full = simulate(model, FIRST)
    t = np.arange(0.0, FIRST, 2e-7)
    forces: Curves = {"full": (1e6 * t, full.sample(t, FORCE)[FORCE])}
    speed = full.sample(t, "b1.vy")["b1.vy"]
    peak = full[FORCE].max()
    page.number("coarse", peak, ".1f", near=35.1, within=0.3)
    columns = [[f"{1e6 * full.events[-1].t:.2f}", f"{peak:.1f}", ""]]
    differences: list[float] = []
    for n in (20, 40, 80):
        bodies: list[Any] = [replace(b, modes=n, lumped=True) for b in model.bodies]  # type: ignore[call-arg]
        reduced = simulate(replace(model, bodies=tuple(bodies)), FIRST)
        found = reduced.sample(t, [FORCE, "b1.vy"])
        off = np.abs(found["b1.vy"] - speed).max() / np.ptp(speed)
        differences.append(float(off))
        end, most = 1e6 * reduced.events[0].t, found[FORCE].max()
        columns.append([f"{end:.2f}", f"{most:.1f}", f"{off:.1e}"])
        if n == 80:
            forces["80 modes"] = (1e6 * t, found[FORCE])
    page.check("modes approach full elements", np.all(np.diff(differences) < 0.0))
    what = ("end, µs", "largest force, N", "momentum differs by, of what is passed on")
    table = zip(what, zip(*columns, strict=True), strict=True)
    page.table("same", [[name, *row] for name, row in table])
    page.figure("full", curves({"force (N)": forces}, x="time (µs)"))
    free = pack_waves(pack(model)).critical_step
    rows = [["constraint", f"{1e9 * free:.0f}", ""]]
    for factor in (0.1, 1.0, 5.0, 50.0):
        soft = gallery.build(
            "transverse_bars",
            modes="full",
            mesh_size=COARSE,
            method="penalty",
            penalty_factor=factor,
        )
        h = pack_waves(pack(soft)).critical_step
        rows.append([f"penalty {factor:g}", f"{1e9 * h:.0f}", f"{h / free:.3f}"])
    page.table("critical", rows)


def _cost(result: Result) -> list[str]:
    """Return the median step while the bars press, ns, and the seconds of a run."""
    steps = result.steps
    pressing = result["contact.normal_force"][1:] > 0.0
    step = float(np.median(steps.h[pressing]))
    return [f"{1e9 * step:.0f}", f"{result.cost['cpu_seconds']:.1f}"]


def _whole(page: Page, result: Result) -> None:
    """Put in what happens until the bars part."""
    t = np.arange(0.0, 6e-3, 2.5e-7)
    names = [FORCE, "b1.y", "b2.middle.y"]
    found = result.sample(t, names)
    force = found[FORCE]
    k = int(np.argmax(force))
    page.number("largest", force[k], ".2f", near=LARGEST, within=0.05)
    page.number("largest_at", 1e3 * t[k], ".3f")
    ends = [e.t for e in result.events if e.kind == "separate"]
    page.number("n_span", len(ends), ".0f")
    page.number("last", 1e3 * ends[-1], ".3f", near=LAST, within=2e-3)
    total = float(np.trapezoid(force, t))
    page.number("total", total, ".3e", near=TOTAL, within=2e-3 * TOTAL)
    page.number("rebound", result["b1.vy"][-1], ".4f", near=REBOUND, within=3e-3)
    balance = result.energy_balance
    page.number("energy", balance.residual / balance.kinetic[0], ".0e")
    at, ms = slice(None, None, 20), 1e3 * t
    panels = {
        "force (N)": {"": (ms, force)},
        "way (µm)": {
            "b1, mass centre": (ms[at], 1e6 * (found["b1.y"] - found["b1.y"][0])[at]),
            "b2, middle": (ms[at], 1e6 * found["b2.middle.y"][at]),
        },
    }
    page.figure("all", curves(panels, x="time (ms)"))
