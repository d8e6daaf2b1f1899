"""Two rods: the paper's figures, and the speed that was measured."""

from __future__ import annotations

import numpy as np

from nonsmooth import Result, gallery, simulate
from nonsmooth.views.plots import draw
from pages import Page, curves, run

FORCE = "contact.normal_force"
UNTIL = 5e-4  # s
FINE, MESHES = 500, (300, 500, 800)
# Closed form.
EXACT, LASTS, STRAIN = 453.492, 392.792, -2.06216e-5
SPEED, MEASURED = 0.21, 5112.0
LEVELS = (0.2, 0.3, 0.4, 0.5)


def fill(page: Page) -> None:
    """Run rods of three kinds."""
    result = run("rods", UNTIL)
    meshes = {n: _revolved(n) for n in MESHES}
    round_one = meshes[FINE]
    rigid = run("rods", UNTIL, model="rigid_spring")
    _numbers(page, result)
    rigid_t = np.linspace(0.0, UNTIL, 1001)
    half = rigid.sample(rigid_t, [FORCE, "b2.p10.vx"])
    peak = float(half[FORCE].max())
    page.number("over", 100.0 * (peak / EXACT - 1.0), ".0f", near=57.0, within=1.0)
    us, fine_us, rigid_us = 1e6 * result.t, 1e6 * round_one.t, 1e6 * rigid_t

    def three(name: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        return {
            "one dimension": (us, result[name]),
            "revolution": (fine_us, round_one[name]),
        }

    spring = {"rigid, spring": (rigid_us, half["b2.p10.vx"])}
    time = "time (µs)"
    page.figure("top", curves({"velocity (m/s)": three("b2.p10.vx") | spring}, x=time))
    page.figure("gauge", curves({"strain": three("b2.gauge.strain")}, x=time))
    all_points = {f"p{k}": (us, result[f"b2.p{k}.vx"]) for k in range(11)}
    page.figure("points", curves({"velocity (m/s)": all_points}, x=time, height=2.5))
    spring = {"rigid, spring": (rigid_us, half[FORCE])}
    page.figure("force", curves({"force (N)": three(FORCE) | spring}, x=time))
    page.figure("waves", result.plot_waves(["b1", "b2"], "stress.xx"))
    page.figure("field", draw(result, [1e-4], field="stress.xx"))
    _speeds(page, round_one)
    _meshes(page, meshes)
    page.figure("sketch", draw(result, [0.0], names=True))
    page.live(result)


def _revolved(elements: int) -> Result:
    model = gallery.build("rods", model="axisymmetric", elements=elements)
    return simulate(model, 4.2e-4)


def _meshes(page: Page, meshes: dict[int, Result]) -> None:
    """Put in what different meshes find."""
    rows: list[list[str]] = []
    left: list[float] = []
    for n, result in meshes.items():
        middle = (result.t > 1e-4) & (result.t < 3.6e-4)
        plateau = float(result[FORCE][middle].mean())
        page.check(f"plateau on {n} elements", abs(plateau - EXACT) < 0.5)
        end = [e.t for e in result.events if e.kind == "separate"][-1]
        left.append(float(result["b2.vx"][-1]))
        rows.append([f"{n}", f"{plateau:.1f}", f"{1e6 * end:.1f}", f"{left[-1]:.5f}"])
    page.table("meshes", rows)
    page.number("left", left[-1], ".4f", near=0.2088, within=2e-4)
    # What three meshes leave open, and not less than a unit of the last digit shown.
    spread = max(float(np.ptp(left)), 1e-4)
    page.number("spread", spread, ".4f", near=1e-4, within=1e-4)


def _numbers(page: Page, result: Result) -> None:
    """Put in what the closed form has."""
    force, h = result[FORCE], float(result.options["step"])
    pressed = np.flatnonzero(force > 1e-6 * EXACT)
    page.number("elements", 200, ".0f")
    page.number("force", float(force[pressed].mean()), ".3f", near=EXACT, within=1e-3)
    last = float(1e6 * result.t[pressed[-1]])
    page.number("duration", last, ".3f", near=LASTS, within=1.01e6 * h)
    middle = (result.t > 1e-5) & (result.t < 3.8e-4)
    strain = result["b2.gauge.strain"][middle].mean()
    page.number("strain", strain, ".5e", near=STRAIN, within=1e-9)
    balance = result.energy_balance
    lost = -balance.work["contact.onset"][-1] / balance.kinetic[0]
    page.number("lost", lost, ".4g", near=1.25e-3, within=1e-9)
    total = result["b1.vx"] + result["b2.vx"]
    page.number("momentum", np.max(np.abs(total / SPEED - 1.0)), ".0e")


def _speeds(page: Page, result: Result) -> None:
    """Put in what the rods as bodies of revolution show."""
    rows: list[list[str]] = []
    found: list[float] = []
    for level in LEVELS:
        times: list[float] = []
        for point, top in (("p0", 0.5), ("p10", 1.0)):
            v = result[f"b2.{point}.vx"] / (top * SPEED)
            k = int(np.flatnonzero(v >= level)[0])
            part = (level - v[k - 1]) / (v[k] - v[k - 1])
            times.append(float(result.t[k - 1] + part * np.diff(result.t)[k - 1]))
        found.append(1.0 / (times[1] - times[0]))
        rows.append([f"{100 * level:.0f} %", f"{found[-1]:.0f}"])
    rows.append(["measured", f"{MEASURED:.0f}"])
    page.table("speeds", rows)
    page.number("fine", FINE, ".0f")
