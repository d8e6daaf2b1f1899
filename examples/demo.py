"""Two mechanisms of the gallery: run them, report, and plot into the folder demo/."""

import sys
from pathlib import Path

from nonsmooth import Result, gallery, simulate
from nonsmooth.views.plots import plot_energy

FOLDER = Path(__file__).resolve().parents[1] / "demo"
# System, parameters, time in s, quantities to plot, points whose paths to plot.
RUNS = (
    (
        "pendulum_chain",
        {"n": 5, "length": 0.4},
        3.0,
        ["rod1.theta", "rod5.theta", "hinge1.force_x", "hinge1.force_y"],
        ["rod1.tip", "rod3.tip", "rod5.tip"],
    ),
    (
        "slider_crank",
        {"speed": 12.0},
        1.2,
        ["slider.x", "slider.vx", "motor.torque", "guide.force_y"],
        ["crank.A", "rod", "slider"],
    ),
)


def report(result: Result) -> None:
    summary = result.summary()
    cost = summary["cost"]
    print(f"\n{summary['model']}: {summary['message']}, t = {summary['t_end']:g} s")
    print(f"  steps {cost['steps']}, evaluations {cost['evaluations']}")
    print(
        f"  energy: {summary['energy_exchanged']:.3g} J exchanged, "
        f"{summary['energy_residual']:.1e} J unaccounted for"
    )
    print(f"  joints: violated by at most {summary['violation']:.1e} m or rad")
    print(f"  accuracy, against a tighter run: {result.verify()}")


def main(folder: Path = FOLDER) -> dict[str, Result]:
    folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, Result] = {}
    for name, parameters, until, columns, points in RUNS:
        result = simulate(gallery.build(name, **parameters), until=until)
        report(result)
        result.plot(columns, str(folder / f"{name}_series.png"))
        result.plot_paths(points, str(folder / f"{name}_paths.png"))
        result.draw(path=str(folder / f"{name}_drawing.png"))
        plot_energy(result, folder / f"{name}_energy.png")
        results[name] = result
    print(f"\nplots: {folder}")
    return results


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
