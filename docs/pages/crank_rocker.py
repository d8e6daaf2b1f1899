"""The crank-rocker of Wang, Wang and Zhuang (2014)."""

from __future__ import annotations

import csv
import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from nonsmooth import Baumgarte, Result, SwitchError, gallery, simulate, solvability
from nonsmooth.views.plots import draw
from pages import DATA, Curves, Floats, Page, curves, jumps, run

TURN = gallery.duration("crank_rocker")  # s
NAMES = {
    "lamN": "slider.normal_force",
    "Ff": "slider.friction_force",
    "M": "motor.torque",
}
WORK = {0: 13.404128655, 8: 38.796089155}  # J in a turn, by quadrature


def table(damping: int) -> dict[str, list[str]]:
    """Return the columns of exact values in the paper's signs, as text."""
    path = DATA / f"crank_rocker_c{damping}.csv"
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def degrees(t: Floats) -> Floats:
    """Return the paper's angle of the crank."""
    return np.degrees(3.0 * t)


def fill(page: Page) -> None:
    """Run a turn without and with damping, and look where forces are not unique."""
    turns = {c: run("crank_rocker", TURN, damping=float(c), rtol=1e-8) for c in (0, 8)}
    values(page, turns)
    claims(page, turns)
    figures(page, turns)
    stabilised(page)
    not_unique(page)
    page.figure("sketch", draw(turns[8], [0.1, 0.75], names=True))
    page.live(turns[8], damping=8.0)


def values(page: Page, turns: dict[int, Result]) -> None:
    """Put in forces at 150 and 180 degrees, and the works."""
    at = turns[8].sample(math.radians(150.0) / 3.0, list(NAMES.values()))
    wanted = {"lamN": -116.9716509871, "Ff": 23.3943301974, "M": -43.9854428991}
    for key, name in NAMES.items():
        sign = -1.0 if key == "M" else 1.0
        found = sign * float(at[name][0])
        page.number(f"at150_{key}", found, ".10f", near=sign * wanted[key], within=1e-8)
    reverse = next(
        e for e in turns[8].events.of("slider") if e.kind == "reverse" and e.t > 1.0
    )
    assert reverse.friction_force is not None
    before, after = reverse.friction_force
    page.number("jump_before", before, ".10f", near=9.6, within=1e-9)
    page.number("jump_after", after, ".10f", near=-9.6, within=1e-9)
    torque = [
        float(turns[8].sample(reverse.t, "motor.torque", side)["motor.torque"][0])
        for side in ("before", "after")
    ]
    page.number("jump_torque", -torque[0], ".10f", near=-torque[1], within=1e-9)
    for damping, result in turns.items():
        exact = table(damping)
        inside = [
            k for k, text in enumerate(exact["theta2_deg"]) if text[-1] not in "+-"
        ]
        t = np.radians([float(exact["theta2_deg"][k]) for k in inside]) / 3.0
        found = result.sample(t, list(NAMES.values()))
        off = 0.0
        for key, name in NAMES.items():
            sign = -1.0 if key == "M" else 1.0
            column = np.array([float(exact[key][k]) for k in inside])
            off = max(off, float(np.abs(sign * found[name] - column).max()))
        page.number(f"error_c{damping}", off, ".0e", near=0.0, within=1e-9)
        work = result.energy_balance.work
        page.number(
            f"work_c{damping}",
            float(work["motor"][-1]),
            ".9f",
            near=WORK[damping],
            within=1e-7,
        )
    page.number(
        "friction_c0", -turns[0].energy_balance.work["slider.friction"][-1], ".9f"
    )


def claims(page: Page, turns: dict[int, Result]) -> None:
    """Check what the paper says in words."""
    names = ["rocker.alpha", *NAMES.values()]
    for t in (0.0, 0.5 * TURN):
        found = turns[0].sample(t, names)
        # Round-off of accelerations of 10 rad/s² and forces of 100 N.
        page.check(
            "all is zero at 0 and 180 degrees without damping",
            all(abs(float(found[name][0])) < 1e-9 for name in names),
        )
    kinds = {event.kind for event in turns[8].events.of("slider")}
    page.check("the slider never sticks", "stick" not in kinds)


def figures(page: Page, turns: dict[int, Result]) -> None:
    """Draw Figs. 3 to 6."""
    t = np.linspace(0.0, 2.0 * TURN, 2001)
    two = run("crank_rocker", 2.0 * TURN)
    found = two.sample(t, ["rocker.omega", "crank.omega"])
    page.figure(
        "rates",
        curves(
            {
                "Fig. 3: rate (rad/s)": {
                    "rocker θ1′": (t, -found["rocker.omega"]),
                    "crank θ2′": (t, -found["crank.omega"]),
                }
            },
            height=2.1,
        ),
    )
    found = jumps(turns[0], ["rocker.alpha", *NAMES.values()])
    angle = degrees(found["t"])
    exact = table(0)
    marks = np.array([float(text.rstrip("+-")) for text in exact["theta2_deg"]])
    fourth, fifth = "Fig. 4: θ1″ (rad/s²)", "Fig. 5: forces, c = 0"
    lines: Curves = {
        "M (N m)": (angle, -found["motor.torque"]),
        "λ_N (N)": (angle, found["slider.normal_force"]),
        "F_f (N)": (angle, found["slider.friction_force"]),
    }
    both = np.concatenate([np.array(exact[key], dtype=float) for key in NAMES])
    page.figure(
        "undamped",
        curves(
            {fourth: {"rocker": (angle, -found["rocker.alpha"])}, fifth: lines},
            dots={
                fourth: {"exact": (marks, np.array(exact["a1"], dtype=float))},
                fifth: {"exact": (np.tile(marks, 3), both)},
            },
            x="angle of the crank θ2 (deg)",
            height=2.1,
        ),
    )
    found = jumps(turns[8], list(NAMES.values()))
    angle = degrees(found["t"])
    exact = table(8)
    sixth, more = "Fig. 6: F_f (N), c = 8", "forces, c = 8"
    page.figure(
        "damped",
        curves(
            {
                sixth: {"F_f": (angle, found["slider.friction_force"])},
                more: {
                    "M (N m)": (angle, -found["motor.torque"]),
                    "λ_N (N)": (angle, found["slider.normal_force"]),
                },
            },
            dots={sixth: {"exact": (marks, np.array(exact["Ff"], dtype=float))}},
            x="angle of the crank θ2 (deg)",
            height=2.1,
        ),
    )


def stabilised(page: Page) -> None:
    """Put in the errors of the constraints with Euler's method, in steps."""

    def error(h: float, alpha: float, beta: float, damping: float) -> float:
        result = run(
            "crank_rocker",
            TURN,
            damping=damping,
            method="euler",
            step=h,
            stabilisation=Baumgarte(alpha=alpha, beta=beta),
        )
        found = result.sample(result.t, ["rocker.theta", "crank.theta"])
        th1, th2 = (0.5 * np.pi - found[f"{x}.theta"] for x in ("rocker", "crank"))
        slide = np.sin(th1) - 0.5 * np.sin(th2 - th1)
        return float(np.hypot(slide, th2 - 3.0 * result.t).max()) / h

    for name, alpha, beta in (("weak", 1.1, 1.1), ("strong", 20.0, 100.0)):
        worst = max(error(1e-3, alpha, beta, c) for c in (0.0, 8.0))
        page.number(f"euler_{name}", worst, ".1f", near=1.5, within=1.5)


def not_unique(page: Page) -> None:
    """Put in where uniqueness is lost, and what a run says there."""

    def limit(angle: float) -> float:
        free = gallery.build("crank_rocker", driven="torque", angle=math.radians(angle))
        return 0.2 * solvability(free).critical_factor

    lowest = minimize_scalar(
        limit, bounds=(136.0, 141.0), method="bounded", options={"xatol": 1e-4}
    )
    page.number("critical_angle", lowest.x, ".2f", near=138.34, within=0.006)
    page.number("critical_mu", lowest.fun, ".7f", near=0.70857, within=6e-6)

    def margin(angle: float) -> float:
        driven = gallery.build(
            "crank_rocker", driven="rocker", angle=math.radians(angle)
        )
        return solvability(driven).critical_factor - 1.0

    for name, low, high, figure in (
        ("jam_from", 100.0, 112.0, 108.05),
        ("jam_to", 128.0, 135.0, 130.67),
    ):
        page.number(
            name, float(brentq(margin, low, high)), ".4f", near=figure, within=0.005
        )
    words: list[str] = []
    for angle in (2.0, 2.2):
        jammed = gallery.build("crank_rocker", driven="rocker", angle=angle)
        try:
            simulate(jammed, until=1.0)
        except SwitchError as error:
            words.append(str(error))
    page.check("runs from 2.0 and 2.2 rad end", len(words) == 2)
    page.text("several", words[1])
    page.text("no_solution", words[0])
    result: Result | None = None
    try:
        simulate(gallery.build("crank_rocker", driven="rocker"), until=1.0)
    except SwitchError as error:
        result = error.result
    assert result is not None
    end = result.sample(result.t_end, "crank.theta")["crank.theta"][0]
    page.number("jam_run", 90.0 - math.degrees(end), ".2f", near=108.05, within=0.01)
