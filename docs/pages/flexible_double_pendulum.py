"""The double pendulum that strikes the ground, from contact on."""

from __future__ import annotations

import numpy as np

from nonsmooth import Result
from nonsmooth.views.plots import draw
from pages import Page, curves, run

FORCE, FRICTION = "contact.normal_force", "contact.friction_force"
# Of a finite-rotation computation: first peak, N and us.
PEAK, PEAK_AT = 10060.0, 4.9
# Of rigid bodies: velocity of the tip at contact.
TIP = (4.849, -4.250)


def fill(page: Page) -> None:
    """Run the contact stage without gravity, then compare numbers of modes."""
    result = run("flexible_double_pendulum", gravity=0.0)
    t = np.arange(0.0, 7e-4, 1e-7)
    force, rub = (result.sample(t, name)[name] for name in (FORCE, FRICTION))
    k = int(np.argmax(force[t < 2e-5]))
    page.number("peak", force[k], ".0f", near=PEAK, within=0.02 * PEAK)
    page.number("peak_at", 1e6 * t[k], ".1f", near=PEAK_AT, within=1.0)
    start = result.sample(0.0, ["b2.tip.vx", "b2.tip.vy"])
    page.number("tip_x", start["b2.tip.vx"][0], ".3f", near=TIP[0], within=5e-4)
    page.number("tip_y", start["b2.tip.vy"][0], ".3f", near=TIP[1], within=5e-4)
    second = np.flatnonzero((t > 1.8e-4) & (t < 3e-4))
    k = int(second[np.argmax(force[second])])
    page.number("second_at", 1e3 * t[k], ".3f", near=0.215, within=0.02)
    page.number("second", force[k], ".0f")
    balance = result.energy_balance
    page.number("closing", balance.residual / balance.kinetic[0], ".1e")
    page.number("lost", -balance.work["contact.friction"][-1], ".3f")
    page.table("stages", [_stage(result, t, force, rub, end) for end in (3.5e-4, 7e-4)])
    ms = 1e3 * t
    panels = {"force (kN)": {"normal": (ms, force / 1e3), "friction": (ms, rub / 1e3)}}
    page.figure("forces", curves(panels, x="time (ms)"))
    rows: list[list[str]] = []
    first = np.arange(0.0, 2e-5, 5e-8)
    for modes in (20, 40, 80):
        other = run("flexible_double_pendulum", 2e-5, gravity=0.0, modes=modes)
        values = other.sample(first, FORCE)[FORCE]
        k = int(np.argmax(values))
        rows.append([f"{modes}", f"{values[k]:.0f}", f"{1e6 * first[k]:.2f}"])
    page.table("modes", rows)
    page.figure("sketch", draw(result, [0.0], names=True))
    page.live(result, gravity=0.0)


def _stage(
    result: Result,
    t: np.ndarray,
    force: np.ndarray,
    rub: np.ndarray,
    end: float,
) -> list[str]:
    """Return impulses, angular velocity and energy at an instant."""
    until = t <= end
    balance = result.energy_balance
    energy = np.interp(end, balance.t, balance.kinetic + balance.potential)
    omega = result.sample(end, "b1.omega")["b1.omega"][0]
    normal, along = (float(np.trapezoid(f[until], t[until])) for f in (force, rub))
    return [
        f"{1e3 * end:g}",
        f"{normal:.4f}",
        f"{along:.4f}",
        f"{omega:.4f}",
        f"{energy:.4f}",
    ]
