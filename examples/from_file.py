"""Read a model from a file, run it, and look at it."""

from pathlib import Path

from nonsmooth import load, simulate

model = load(Path(__file__).with_name("four_bar_file.yaml"))
result = simulate(model, until=2.0)

if __name__ == "__main__":
    print(result.events)
    result.plot(["rocker.theta", "motor.torque", "bearing_A.force_x"], "four_bar.png")
    result.plot_paths(["crank.B", "coupler.P", "rocker.C"], "four_bar_paths.png")
    result.draw(path="four_bar_drawing.png")
