"""Make the pictures of the documentation from the examples.

python docs/make_images.py
"""

from __future__ import annotations

import importlib
import io
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from nonsmooth.views.plots import draw, plot_energy, plot_paths, plot_series

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


def main() -> None:
    """Run the examples and write every picture."""
    sys.path.insert(0, str(ROOT))
    FOLDER.mkdir(exist_ok=True)
    example: Any = importlib.import_module("examples.from_file")
    four_bar = example.result
    mechanism = draw(four_bar, [0.08, 0.62, 0.9])
    series = plot_series(four_bar, ["rocker.theta", "motor.torque", "pin_B.force_x"])
    series.set_figheight(4.2)
    write("overview", beside(picture(mechanism), picture(series)))
    write("paths", picture(plot_paths(four_bar, ["crank.B", "coupler.P", "rocker.C"])))
    write("energy", picture(plot_energy(four_bar)))
    example = importlib.import_module("examples.slider_crank")
    run = example.result
    names = ["slider.x", "motor.torque", "guide.force_y"]
    write("series", picture(plot_series(run, names)))
    write("drawing", picture(draw(run, [0.15, 0.3, 0.42, 0.58], names=True)))


if __name__ == "__main__":
    main()
