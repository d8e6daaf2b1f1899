"""The plate compactor and two mechanisms; a page where it moves and plots, in demo/."""

import sys
from pathlib import Path

import numpy as np

from nonsmooth import Result, gallery, simulate
from nonsmooth.app import summary
from nonsmooth.views.plots import draw

FOLDER = Path(__file__).resolve().parents[1] / "demo"
WINDOW = (1.0, 3.0)  # s
PAPER = "(Wang and Wang 2015: 19.58, start and window not given)"
STARTS = {"spinning": PAPER, "touching": "", "equilibrium": ""}
MOTION = ["box.O1.x", "box.left.y", "box.right.y", "box.theta"]
FORCES = ["hinge.force_x", "hinge.force_y", "motor.torque"]
SMOOTH = {"pendulum_chain": "rod1.theta", "slider_crank": "motor.torque"}


def mean_speed(result: Result) -> float:
    """Return the slope of x_O1 over the window, by least squares, m/min."""
    t = np.linspace(*WINDOW, 4001)
    return 60 * float(np.polyfit(t, result.sample(t, "box.O1.x")["box.O1.x"], 1)[0])


def main(folder: Path = FOLDER) -> dict[str, Result]:
    folder.mkdir(parents=True, exist_ok=True)
    run = simulate(gallery.build("compactor"), until=0.5)
    print("plate compactor from equilibrium")
    print(summary.text(run, summary.figures(run)))
    run.plot(MOTION, f"{folder}/compactor_motion.png")
    run.plot(FORCES, f"{folder}/compactor_hinge_and_motor.png")
    run.plot_contacts(f"{folder}/compactor_contacts.png")
    run.plot_energy(f"{folder}/compactor_energy.png")
    draw(run, 0.175, f"{folder}/compactor_drawing.png", names=True, forces=True)
    report = run.report(f"{folder}/compactor.html")
    results = {"compactor": run}
    print(f"\nmean speed, slope of x_O1 over {WINDOW[0]:g} to {WINDOW[1]:g} s, m/min")
    for start, note in STARTS.items():
        model = gallery.build("compactor", start=start)
        results[start] = run = simulate(model, until=WINDOW[1], rtol=1e-10)
        print(f"  from {start:<12} {mean_speed(run):.2f}   {note}".rstrip())
    results["spinning"].plot("box.O1.x", f"{folder}/compactor_travel.png")

    for name, column in SMOOTH.items():
        results[name] = run = simulate(gallery.build(name), gallery.duration(name))
        print(f"\n{name}: t = {run.t_end:g} s, accuracy against a tighter run:")
        print(f"  {run.verify()}")
        run.plot(column, f"{folder}/{name}_series.png")
        run.draw(path=f"{folder}/{name}_drawing.png")
    names = sorted(path.name for path in folder.glob("*.png"))
    print(f"\npictures in {folder}", *names, sep="\n  ")
    print(f"\nto see the compactor move, open in a browser:\n  {report}")
    return results


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
