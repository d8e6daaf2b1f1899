"""The plate compactor of Wang and Wang (2015)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from nonsmooth import Baumgarte, Result
from nonsmooth.views.plots import draw, plot_contacts
from pages import Curves, Floats, Page, curves, jumps, printed, run, series

STARTS = ("spinning", "touching", "equilibrium")
WINDOWS = ((0.5, 1.0), (1.0, 2.0), (1.0, 3.0), (2.0, 3.0), (3.0, 6.0), (6.0, 10.0))
CORNERS = ("left", "right")
LATE = (2.85, 3.0)  # s, ten turns of the rotor in the motion that settles
NEAR = (2.94, 3.0)  # s, four of them
TURN = 2.0 * np.pi / 420.0  # s
PAPER_SPEED = 19.58  # m/min, in the text to Fig. 2


def slope(result: Result, window: tuple[float, float]) -> float:
    """Return the slope of x_O1 by least squares, m/min."""
    t = np.linspace(*window, 2001)
    return 60.0 * float(np.polyfit(t, result.sample(t, "box.O1.x")["box.O1.x"], 1)[0])


def hinge_error(result: Result) -> Floats:
    """Return the distance of the two points A at the steps, m."""
    names = ["box.A.x", "box.A.y", "rotor.A.x", "rotor.A.y"]
    found = result.sample(result.t, names)
    x, y = (found[f"rotor.A.{axis}"] - found[f"box.A.{axis}"] for axis in "xy")
    return np.hypot(x, y)


def fill(page: Page) -> None:
    """Run the compactor in all its cases."""
    long = {start: run("compactor", 10.0, start=start, rtol=1e-10) for start in STARTS}
    speeds(page, long)
    transient = run("compactor", rtol=1e-8)
    spinning = run("compactor", 3.0, start="spinning", rtol=1e-10)
    what_happens(page, spinning, run("compactor", rtol=1e-10))
    accuracy(page)
    motion(page, spinning)
    slow_rotors(page)
    violations(page)
    page.figure("sketch", draw(transient, 0.175, names=True, forces=True))
    page.live(transient)


def speeds(page: Page, long: dict[str, Result]) -> None:
    """Put in the mean speeds, and the travel from the three starts."""
    rows: list[list[str]] = []
    for start in STARTS:
        found = [f"{slope(long[start], window):.2f}" for window in WINDOWS]
        found[2] = f"**{found[2]}**"
        rows.append([f"`{start}`", *found])
    page.table("speeds", rows)
    page.number(
        "mean_speed",
        slope(long["spinning"], (1.0, 3.0)),
        ".2f",
        near=PAPER_SPEED,
        within=0.02,
    )
    fixed = run("compactor", 3.0, start="spinning", scheme="paper")
    page.number(
        "mean_speed_scheme",
        slope(fixed, (1.0, 3.0)),
        ".2f",
        near=PAPER_SPEED,
        within=0.02,
    )
    t = np.linspace(0.0, 3.0, 1501)
    travel: Curves = {}
    for start, result in long.items():
        x = result.sample(t, "box.O1.x")["box.O1.x"]
        travel[f"from {start}"] = (t, x - x[0])
    at = np.linspace(1.0, 3.0, 9)
    x = np.interp(1.0, *travel["from spinning"]) + PAPER_SPEED / 60.0 * (at - 1.0)
    title = "travel of O1 (m)"
    page.figure(
        "travel",
        curves(
            {title: travel}, dots={title: {"paper: 19.58 m/min": (at, x)}}, height=2.4
        ),
    )
    beat(page, long["spinning"])


def beat(page: Page, result: Result) -> None:
    """Put in after how many turns the motion repeats, and how nearly."""
    t = np.linspace(6.0, 8.0, 8001)
    turns = np.arange(1, 13)
    found = [result.sample(t + k * TURN, "box.O1.y")["box.O1.y"] for k in (0, *turns)]
    off = [float(np.std(later - found[0])) for later in found[1:]]
    best = int(np.argmin(off))
    page.number("beat_turns", int(turns[best]), ".0f", near=7, within=0)
    page.number("beat_off", 100.0 * off[best] / float(np.std(found[0])), ".0f")
    page.number("beat_one_turn", 100.0 * off[0] / float(np.std(found[0])), ".0f")


def what_happens(page: Page, spinning: Result, transient: Result) -> None:
    """Put in the table of the two runs."""
    counts = transient.events.counts()
    page.number("transient_events", len(transient.events), ".0f")
    for kind in ("reverse", "release", "separate", "touch_down"):
        page.number(f"transient_{kind}", counts.get(kind, 0), ".0f")
    for label, result in (("spinning", spinning), ("transient", transient)):
        t = np.linspace(result.t_start, result.t_end, 60001)
        t = np.union1d(t, result.t)
        names = ["motor.torque", "hinge.force_x", "hinge.force_y", "box.theta"]
        names += [f"{c}.{q}" for c in CORNERS for q in ("normal_force", "mode")]
        found = result.sample(t, names)
        for corner in CORNERS:
            name = f"{label}_peak_{corner}"
            page.number(name, found[f"{corner}.normal_force"].max(), ".0f")
        in_air = air(result)
        for corner in CORNERS:
            page.number(f"{label}_air_{corner}", 100.0 * in_air[corner], ".0f")
        page.number(f"{label}_torque_low", found["motor.torque"].min(), ".1f")
        page.number(f"{label}_torque_high", found["motor.torque"].max(), ".1f")
        force = np.hypot(found["hinge.force_x"], found["hinge.force_y"])
        page.number(f"{label}_hinge", 1e-3 * force.max(), ".1f")
        page.number(f"{label}_theta_low", found["box.theta"].min(), ".3f")
        page.number(f"{label}_theta_high", found["box.theta"].max(), ".3f")
        balance = result.energy_balance
        work = {name: float(values[-1]) for name, values in balance.work.items()}
        page.number(f"{label}_work", work["motor"], ".1f")
        for part in ("friction", "normal"):
            taken = -sum(work[f"{corner}.{part}"] for corner in CORNERS)
            page.number(f"{label}_{part}", taken, ".1f")
        page.number(f"{label}_residual", balance.residual / balance.exchanged, ".0e")
        page.number(f"{label}_violation", result.violation, ".1e")
    page.number("spinning_events", len(spinning.events), ".0f")
    found = spinning.sample(spinning.t, ["rotor.theta", "box.theta"])
    off = found["rotor.theta"] - found["box.theta"] - 420.0 * spinning.t
    # Round-off of an angle of 1260 rad.
    page.check("the motor is kept to round-off", np.abs(off).max() < 1e-11)


def air(result: Result) -> dict[str, float]:
    """Return the part of the time in which each corner is above the ground."""
    names = [f"{corner}.mode" for corner in CORNERS]
    middle = result.steps.t + 0.5 * result.steps.h
    found = result.sample(middle, names)
    weight = result.steps.h / result.steps.h.sum()
    return {c: float(weight[found[f"{c}.mode"] == 2].sum()) for c in CORNERS}


def accuracy(page: Page) -> None:
    """Put in errors and cost, against the reference solution."""
    wanted = series("compactor_transient.csv")

    def error(result: Result) -> float:
        found = result.sample(wanted["t"], "box.theta")["box.theta"]
        return float(np.abs(found - wanted["theta1"]).max())

    rtols = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
    errors, steps, seconds = ["error of θ, rad"], ["steps"], ["time, s"]
    events: set[int] = set()
    for rtol in rtols:
        result = run("compactor", rtol=rtol)
        begin = time.perf_counter()
        result = run("compactor", rtol=rtol)
        seconds.append(f"{time.perf_counter() - begin:.3f}")
        errors.append(printed(error(result), ".0e"))
        steps.append(f"{len(result.steps.t)}")
        events.add(len(result.events))
    begin = time.perf_counter()
    fixed = run("compactor", scheme="paper")
    seconds.append(f"{time.perf_counter() - begin:.1f}")
    errors.append(printed(error(fixed), ".1e"))
    steps.append("500 000")
    page.table("accuracy", [errors, steps, seconds])
    page.check("every tolerance finds the same 80 events", events == {80})


def motion(page: Page, spinning: Result) -> None:
    """Draw the paper's Figs. 2 (b) to 7, once the motion has settled."""
    t = np.linspace(*LATE, 1201)
    names = ["box.O1.x", "box.O1.y", "box.theta", "motor.torque"]
    names += ["hinge.force_x", "hinge.force_y"]
    names += [f"{corner}.normal_force" for corner in CORNERS]
    found = spinning.sample(t, names)
    x = found["box.O1.x"]
    page.figure(
        "pose",
        curves(
            {
                "Fig. 2 (b): x_O1 (m)": {"": (t, x)},
                "Fig. 3: y_O1 (m)": {"": (t, found["box.O1.y"])},
                "Fig. 4: θ1 (rad)": {"": (t, found["box.theta"])},
            },
            legend=False,
        ),
    )
    page.figure(
        "forces",
        curves(
            {
                "Fig. 5: F_N (N)": {
                    corner: (t, found[f"{corner}.normal_force"]) for corner in CORNERS
                },
                "Fig. 6: F_A (N)": {
                    "x": (t, found["hinge.force_x"]),
                    "y": (t, found["hinge.force_y"]),
                },
                "Fig. 7: M_e (N m)": {"": (t, found["motor.torque"])},
            }
        ),
    )
    page.figure("contacts", plot_contacts(spinning, span=NEAR))


def slow_rotors(page: Page) -> None:
    """Draw Figs. 9 and 10 with slow rotors, and count what happens."""
    for eccentricity in (0.1, 0.15):
        fast = run("compactor", 0.5, eccentricity=eccentricity, rtol=1e-6)
        turned = np.abs(fast.sample(np.linspace(0.0, 0.5, 501))["box.theta"]).max()
        page.check("the box overturns at 420 rad/s", turned > 0.5 * np.pi)
    panels: dict[str, Any] = {}
    for label, eccentricity, speed, number in (
        ("slow", 0.1, 20.0, 9),
        ("rich", 0.15, 25.0, 10),
    ):
        result = run(
            "compactor", 1.5, eccentricity=eccentricity, rotor_speed=speed, rtol=1e-10
        )
        counts = result.events.counts()
        for kind in ("stick", "break_away", "reverse"):
            page.number(f"{label}_{kind}", counts.get(kind, 0), ".0f")
        page.number(f"{label}_hops", counts.get("touch_down", 0), ".0f")
        times = np.unique(result.events.t)
        page.number(f"{label}_closest", 1e6 * np.diff(times).min(), ".2g")
        middle = result.steps.t + 0.5 * result.steps.h
        found = result.sample(np.union1d(middle, np.linspace(0.0, 1.5, 15001)))
        rate = np.array([found[f"{corner}.slip_velocity"] for corner in CORNERS])
        mode = np.array([found[f"{corner}.mode"] for corner in CORNERS])
        creeps = np.any(mode == 0, axis=0) & (np.abs(mode) == 1)
        page.number(f"{label}_creep", float(np.abs(rate[creeps]).max()), ".1e")
        if label == "slow":
            found = result.sample(middle, [f"{corner}.mode" for corner in CORNERS])
            sticks = np.any([found[f"{c}.mode"] == 0 for c in CORNERS], axis=0)
            weight = result.steps.h / result.steps.h.sum()
            page.number("slow_stuck", 100.0 * float(weight[sticks].sum()), ".0f")
        quantities = ("friction_force", "slip_velocity")
        found = jumps(result, [f"{c}.{q}" for c in CORNERS for q in quantities])
        early = found["t"] <= 0.7
        t = found["t"][early]
        for title, quantity in (
            (f"Fig. {number}: F_τ (N)", "friction_force"),
            (f"Fig. {number}: v_t (m/s)", "slip_velocity"),
        ):
            panels[title] = {c: (t, found[f"{c}.{quantity}"][early]) for c in CORNERS}
    page.figure("slow", curves(panels))


def violations(page: Page) -> None:
    """Draw Fig. 8: what the hinge is off by, in the paper's scheme."""
    given: dict[str, Any] = {"start": "spinning", "scheme": "paper"}
    kept = run("compactor", 1.0, **given)
    free = run("compactor", 0.02, **given, stabilisation=Baumgarte(alpha=0.0, beta=0.0))
    error, loose = hinge_error(kept), hinge_error(free)
    page.number("hinge_peak", error.max(), ".2e", near=7.56e-6, within=2e-8)
    page.number("hinge_drift", loose[-1] / free.t[-1], ".2f")
    page.figure(
        "violation",
        curves(
            {
                "Fig. 8: |Φ*| (µm)": {"": (kept.t, 1e6 * error)},
            },
            height=2.0,
            legend=False,
        ),
    )
