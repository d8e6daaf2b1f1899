"""Make the pictures of the documentation from the examples and the gallery.

python docs/make_images.py
"""

from __future__ import annotations

import importlib
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from nonsmooth import Result, gallery, simulate
from nonsmooth.io import loads
from nonsmooth.views import figure as look
from nonsmooth.views.plots import (
    draw,
    plot_contacts,
    plot_energy,
    plot_paths,
    plot_series,
)

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "images"
# Few colours keep files small; lines on white need no more.
COLOURS = 96
LARGEST = 100_000  # bytes


def picture(figure: Figure, dpi: int = 110) -> Image.Image:
    """Return a figure as an image."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return Image.open(buffer).convert("RGB")


def write(name: str, image: Image.Image) -> None:
    """Write an image, small enough for a repository."""
    path = FOLDER / f"{name}.png"
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {image.width} x {image.height}, {size} bytes")
    assert size < LARGEST, f"{path} is too large"


def beside(left: Image.Image, right: Image.Image) -> Image.Image:
    """Return two images side by side, as high as the higher one."""
    height = max(left.height, right.height)
    whole = Image.new("RGB", (left.width + right.width, height), "white")
    whole.paste(left, (0, (height - left.height) // 2))
    whole.paste(right, (left.width, (height - right.height) // 2))
    return whole


def run(system: str, until: float, **parameters: Any) -> Result:
    """Simulate a system of the gallery."""
    return simulate(gallery.build(system, **parameters), until=until, rtol=1e-9)


Curves = dict[str, tuple[Any, Any]]


def curves(panels: dict[str, Curves], width: float = 7.5) -> Figure:
    """Plot lines, {label: (t, values)}, in one panel for each title of an axis."""
    with look.style():
        figure = look.new_figure(width, 0.6 + 1.7 * len(panels))
        grid: Any = figure.subplots(len(panels), 1, squeeze=False)
        labels: list[str] = []
        for axes, (title, lines) in zip(grid[:, 0], panels.items(), strict=True):
            for k, (label, (t, values)) in enumerate(lines.items()):
                colour, dashes = look.line_look(k)
                axes.plot(t, values, color=colour, ls=dashes, label=label)
            axes.set_ylabel(title)
            axes.margins(x=0.0)
            if list(lines) != labels:  # else the panel above tells
                axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
            labels = list(lines)
        grid[-1, 0].set_xlabel("time (s)")
        return look.finish(figure, None)


def guide_wheel() -> Result:
    """Run the wheel of the guide, from its file."""
    text = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    block = text.partition("```yaml\n")[2].partition("```")[0]
    return simulate(loads(block), until=2.0)


def compactor() -> None:
    """Write the pictures of the plate compactor."""
    hopping = run("compactor", 3.0, start="spinning")
    sketch = draw(run("compactor", 0.2), 0.175, names=True, forces=True)
    contacts = plot_contacts(hopping, span=(2.94, 3.0))
    write("compactor", beside(picture(sketch, 90), picture(contacts, 75)))
    t = np.linspace(0.0, 3.0, 1501)
    travel: Curves = {}
    for start in ("spinning", "touching", "equilibrium"):
        x = run("compactor", 3.0, start=start).sample(t, "box.O1.x")["box.O1.x"]
        travel[f"from {start}"] = (t, x - x[0])
    write("compactor_travel", picture(curves({"travel of O1 (m)": travel})))
    slow = run("compactor", 0.4, rotor_speed=20.0, eccentricity=0.1)
    write("compactor_slow", picture(plot_contacts(slow), 80))


def free_standing() -> None:
    """Write the pictures of the free-standing body."""
    t = np.linspace(0.0, 10.0, 1501)

    def drift(**parameters: Any) -> tuple[Any, Any]:
        found = run("free_standing", 10.0, **parameters).sample(t)
        x = found["body.x"] - found["platform.x"]
        return t, x - x[0]

    panels = {
        "case 1: x_xd (m)": {
            "e = −0.915 m": drift(case="1"),
            "e = 0": drift(case="1", e=0.0),
        },
        "case 2: x_xd (m)": {
            "e = −3.673 m": drift(case="2"),
            "e = 0": drift(case="2", e=0.0),
        },
        "case 3: x_xd (m)": {
            "Y0 = 0.9 m": drift(case="3"),
            "Y0 = 0": drift(case="3", Y0=0.0),
        },
    }
    write("free_standing", picture(curves(panels)))
    first = run("free_standing", 4.0)
    write("free_standing_contacts", picture(plot_contacts(first), 80))


def crank_rocker() -> None:
    """Write the picture of the frictional crank-rocker."""
    turn = gallery.duration("crank_rocker")
    result = run("crank_rocker", turn, damping=8.0)
    t = np.linspace(0.0, turn, 2001)
    found = result.sample(t)
    panels: dict[str, Curves] = {
        "normal force (N)": {"slider": (t, found["slider.normal_force"])},
        "friction (N)": {"slider": (t, found["slider.friction_force"])},
        "slip (m/s)": {"slider": (t, found["slider.slip_velocity"])},
        "torque (N m)": {"motor": (t, found["motor.torque"])},
    }
    sketch = draw(result, [0.1, 0.75], names=True)
    write("crank_rocker", beside(picture(sketch, 90), picture(curves(panels), 75)))


def slider_in_guide() -> None:
    """Write the picture of the slider in its guide, one period."""
    result = run("slider_in_guide", 8.0, position=-0.2955064022)
    t = np.linspace(0.0, 8.0, 2001)
    found = result.sample(t)
    panels: dict[str, Curves] = {
        "place (m)": {"slider": (t, found["slider.x"])},
        "friction (N)": {"guide": (t, found["guide.friction_force"])},
        "force on an end (N)": {
            "front, + below": (t, found["guide.front_force"]),
            "rear, + below": (t, found["guide.rear_force"]),
        },
        "torque (N m)": {"motor": (t, found["motor.torque"])},
    }
    sketch = draw(result, [1.2, 3.6])
    write("slider_in_guide", beside(picture(sketch, 80), picture(curves(panels), 75)))


def slider_crank() -> None:
    """Write the picture of a loose slider."""
    loose = run("slider_crank", 0.4, clearance=1e-3, mu=0.1, speed=30.0)
    write("slider_crank_clearance", picture(plot_contacts(loose), 80))


def trammel() -> None:
    """Write the picture of the trammel."""
    result = run("trammel", 3.0)
    t = np.linspace(0.0, 3.0, 3001)
    found = result.sample(t)
    panels: dict[str, Curves] = {
        "angle (rad)": {"φ": (t, -found["rod.theta"])},
        "normal force (N)": {
            name: (t, found[f"{name}.normal_force"]) for name in ("guide_x", "guide_y")
        },
        "friction (N)": {
            name: (t, found[f"{name}.friction_force"])
            for name in ("guide_x", "guide_y")
        },
    }
    sketch = draw(result, [0.0, 0.3, 0.5], names=True)
    write("trammel", beside(picture(sketch, 80), picture(curves(panels), 80)))


def friction_laws() -> None:
    """Write the comparison of the laws of friction."""
    result = run("friction_laws", 3.0)
    t = np.linspace(0.0, 3.0, 3001)
    found = result.sample(t)
    names = [joint.b for joint in gallery.build("friction_laws").joints]
    panels: dict[str, Curves] = {
        "stretch (m)": {law: (t, found[f"{law}.x"]) for law in names},
        "slip (m/s)": {law: (t, found[f"sole_{law}.slip_velocity"]) for law in names},
        "friction (N)": {
            law: (t, found[f"sole_{law}.friction_force"]) for law in names
        },
    }
    write("friction_laws", picture(curves(panels, 9.0)))


def main() -> None:
    """Run the examples and write every picture."""
    sys.path.insert(0, str(ROOT))
    FOLDER.mkdir(exist_ok=True)
    compactor()
    free_standing()
    crank_rocker()
    slider_in_guide()
    slider_crank()
    trammel()
    friction_laws()
    write("belt", picture(plot_contacts(run("belt", 2.0)), 80))
    write("contacts", picture(plot_contacts(guide_wheel(), span=(0.0, 1.2)), 90))
    example: Any = importlib.import_module("examples.from_file")
    four_bar = example.result
    mechanism = draw(four_bar, [0.08, 0.62, 0.9])
    series = plot_series(four_bar, ["rocker.theta", "motor.torque", "pin_B.force_x"])
    series.set_figheight(4.2)
    write("overview", beside(picture(mechanism), picture(series)))
    write("paths", picture(plot_paths(four_bar, ["crank.B", "coupler.P", "rocker.C"])))
    write("energy", picture(plot_energy(four_bar)))
    example = importlib.import_module("examples.slider_crank")
    crank = example.result
    names = ["slider.x", "motor.torque", "guide.force_y"]
    write("series", picture(plot_series(crank, names)))
    write("drawing", picture(draw(crank, [0.15, 0.3, 0.42, 0.58], names=True)))


if __name__ == "__main__":
    main()
