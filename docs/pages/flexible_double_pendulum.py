"""The double pendulum that strikes the ground, from contact on."""

from __future__ import annotations

import numpy as np

from nonsmooth import Result
from nonsmooth.views.plots import draw
from pages import Page, curves, run

NAME = "flexible_double_pendulum"
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
    _modes(page)
    _pieces(page)
    _schemes(page, result)
    _story(page)
    page.figure("sketch", draw(result, [0.0], names=True))
    page.live(result, gravity=0.0)


def _modes(page: Page) -> None:
    """Compare numbers of modes and sizes of elements."""
    rows: list[list[str]] = []
    first, all_t = np.arange(0.0, 2e-5, 5e-8), np.arange(0.0, 3.5e-4, 2e-7)
    cases = [(20, 5e-5), (40, 5e-5), (80, 5e-5), (150, 5e-5), (80, 1e-4), (80, 3e-4)]
    for modes, size in cases:
        other = run(NAME, 3.5e-4, gravity=0.0, modes=modes, contact_size=size)
        values = other.sample(first, FORCE)[FORCE]
        k = int(np.argmax(values))
        sums = [
            np.trapezoid(other.sample(all_t, n)[n], all_t) for n in (FORCE, FRICTION)
        ]
        row = [f"{modes}", f"{1e3 * size:g}", f"{values[k]:.0f}"]
        rows.append([*row, f"{1e6 * first[k]:.2f}", *(f"{x:.4f}" for x in sums)])
    page.table("modes", rows)


def _pieces(page: Page) -> None:
    """Cut the rod into pieces."""
    rows: list[list[str]] = []
    t = np.arange(0.0, 7e-4, 2e-7)
    for pieces in (1, 2, 4, 8):
        other = run(
            NAME,
            7e-4,
            gravity=0.0,
            pieces=pieces,
            modes=max(80, 15 * pieces),
            contact_size=3e-4,
        )
        force = other.sample(t, FORCE)[FORCE]
        sums = [np.trapezoid(force[t <= end], t[t <= end]) for end in (3.5e-4, 7e-4)]
        apart = next(event.t for event in other.events if event.kind == "separate")
        rows.append([f"{pieces}", *(f"{x:.4f}" for x in sums), f"{1e3 * apart:.4f}"])
        page.check(
            f"{pieces} pieces are near the oracle", abs(sums[1] / 0.4208 - 1) < 0.01
        )
    page.table("pieces", rows)


def _schemes(page: Page, result: Result) -> None:
    """Run the paper's scheme, and draw both."""
    end = 3.5e-4
    other = run(NAME, end, gravity=0.0, modes=20, scheme="appended")
    ours = run(NAME, end, gravity=0.0)
    t = np.arange(0.0, end, 2e-7)
    lines: dict[str, dict[str, tuple[object, object]]] = {
        "normal force (kN)": {},
        "impulse (N s)": {},
    }
    for name, label, one in (
        ("appended", "appended, 20 modes", other),
        ("here", "here, 80 modes", ours),
    ):
        force = one.sample(t, FORCE)[FORCE]
        lines["normal force (kN)"][label] = (1e3 * t, force / 1e3)
        impulse = np.concatenate([[0.0], np.cumsum(0.5 * (force[1:] + force[:-1]))])
        lines["impulse (N s)"][label] = (1e3 * t, 2e-7 * impulse)
        page.number(f"{name}_impulse", float(np.trapezoid(force, t)), ".4f")
        page.number(f"{name}_steps", one.cost["steps"], ".0f")
        touches = sum(event.kind == "touch_down" for event in one.events)
        page.number(f"{name}_touches", touches, ".0f")
        balance = one.energy_balance
        page.number(f"{name}_closing", balance.residual / balance.kinetic[0], ".0e")
    page.figure("schemes", curves(lines, x="time (ms)", height=2.2))


def _story(page: Page) -> None:
    """Run from release to the flight after the contact."""
    whole = run(NAME, 0.2, start="release")
    touch = [event.t for event in whole.events if event.kind == "touch_down"]
    apart = [event.t for event in whole.events if event.kind == "separate"]
    page.number("before", 1e3 * touch[0], ".1f", near=95.0, within=0.1)
    page.number("lasts", 1e3 * (apart[-1] - touch[0]), ".2f")
    balance = whole.energy_balance
    page.number("dropped", -balance.work["b2.dropped"][-1], ".3f")
    page.number("whole_closing", balance.residual / balance.kinetic.max(), ".0e")
    t = np.linspace(0.0, whole.t_end, 2000)
    found = whole.sample(t, ["contact.gap", "b1.omega"])
    ledger, ms = whole.energies(t), 1e3 * t
    panels = {
        "gap (mm)": {"tip": (ms, 1e3 * found["contact.gap"])},
        "b1.omega (rad/s)": {"b1": (ms, found["b1.omega"])},
        "energy (J)": {
            "kinetic": (ms, ledger.kinetic),
            "friction": (ms, ledger.work["contact.friction"]),
            "dropped": (ms, ledger.work["b2.dropped"]),
        },
    }
    page.figure("story", curves(panels, x="time (ms)"))


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
