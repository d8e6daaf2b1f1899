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


# By tests/oracles/struck_pendulum.py, of whose runs tests/papers has the numbers: what
# `WHAT` says at `ENDS`, s, with the elbow on a node; middle and half of the range over
# tips of 0.3, 0.15 and 0.075 mm.
ENDS = (3.5e-4, 7e-4)
ORACLE = (
    ((0.3148, 0.0014), (-0.0902, 0.0011), (3.0692, 0.0007), (5.5796, 0.0016)),
    ((0.4201, 0.0006), (-0.1324, 0.0008), (3.0921, 0.0010), (5.5447, 0.0033)),
)
# The elbow on its face, a tip of 0.15 mm: normal impulses, first separation, ms.
ON_FACE = (0.3120, 0.4016, 0.2264)
WHAT = ("normal impulse, N s", "tangential, N s", "b1.omega, rad/s", "energy left, J")


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
    _stages(page, result)
    ms = 1e3 * t
    panels = {"force (kN)": {"normal": (ms, force / 1e3), "friction": (ms, rub / 1e3)}}
    page.figure("forces", curves(panels, x="time (ms)"))
    _modes(page)
    _elbow(page, result)
    _pieces(page)
    _schemes(page, result)
    _story(page)
    page.figure("sketch", draw(result, [0.0], names=True))
    page.live(result, gravity=0.0)


def _figures(result: Result, end: float) -> list[float]:
    """Return impulses, angular velocity and energy at an instant."""
    along, normal, _ = result.impulse("contact", end=end)
    ledger = result.energies([0.0, end])
    omega = result.sample(end, "b1.omega")["b1.omega"][0]
    return [normal, along, omega, ledger.kinetic[1] + ledger.potential[1]]


def _stages(page: Page, result: Result) -> None:
    """Put in the figures, what meshes, modes and steps change, and the oracle's."""
    others = [
        run(NAME, gravity=0.0, contact_size=1e-4),
        run(NAME, gravity=0.0, modes=150),
        run(NAME, gravity=0.0, max_step=2e-7),
    ]
    rows: list[list[str]] = []
    for end, oracle in zip(ENDS, ORACLE, strict=True):
        found = _figures(result, end)
        moved = [_figures(other, end) for other in others]
        for k, what in enumerate(WHAT):
            middle, spread = oracle[k]
            rows.append(
                [
                    f"{1e3 * end:g}",
                    what,
                    f"{found[k]:.4f}",
                    *(f"{other[k] - found[k]:+.4f}" for other in moved),
                    f"{middle:.4f} ± {spread:.4f}",
                ]
            )
            size = oracle[0][0] if k < 2 else middle
            page.check(
                f"{what} is within 1 % of the oracle",
                abs(found[k] - middle) < 0.01 * size + spread,
            )
    page.table("stages", rows)


def _modes(page: Page) -> None:
    """Compare numbers of modes and sizes of elements."""
    rows: list[list[str]] = []
    first = np.arange(0.0, 2e-5, 5e-8)
    cases = [(18, 5e-5), (20, 5e-5), (40, 5e-5), (80, 5e-5), (150, 5e-5), (80, 1e-4)]
    for modes, size in [*cases, (80, 3e-4)]:
        other = run(NAME, 3.5e-4, gravity=0.0, modes=modes, contact_size=size)
        values = other.sample(first, FORCE)[FORCE]
        k = int(np.argmax(values))
        along, normal, _ = other.impulse("contact")
        row = [f"{modes}", f"{1e3 * size:g}", f"{values[k]:.0f}"]
        rows.append([*row, f"{1e6 * first[k]:.2f}", f"{normal:.4f}", f"{along:.4f}"])
        if modes == 18:
            page.check("18 modes are 5 % low", abs(values[k] / PEAK - 0.946) < 0.01)
    page.table("modes", rows)


def _elbow(page: Page, result: Result) -> None:
    """Spread the elbow over the face."""
    other = run(NAME, gravity=0.0, elbow="face")
    for name, end, near in (("early", 3.5e-4, -0.45), ("late", 7e-4, -4.1)):
        moved = _figures(other, end)[0] / _figures(result, end)[0] - 1.0
        page.number(f"moved_{name}", 100.0 * moved, ".1f", near=near, within=0.3)


def _pieces(page: Page) -> None:
    """Cut the rod into pieces."""
    rows: list[list[str]] = []
    for pieces in (1, 2, 4, 8):
        for modes in (80, 160):
            other = run(
                NAME,
                gravity=0.0,
                pieces=pieces,
                modes=modes,
                elbow="face",
                contact_size=1.5e-4,
                flight_modes="all",
            )
            sums = [_figures(other, end)[0] for end in ENDS]
            apart = next(event.t for event in other.events if event.kind == "separate")
            row = [f"{pieces}", f"{modes}", *(f"{x:.4f}" for x in sums)]
            rows.append([*row, f"{1e3 * apart:.4f}"])
            near = all(
                abs(one / oracle - 1.0) < 5e-3
                for one, oracle in zip(sums, ON_FACE[:2], strict=True)
            )
            page.check(f"{pieces} pieces are within 0.5 % of the oracle", near)
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
