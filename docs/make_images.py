"""Make the pictures of the guide, the tutorial, the start page and the README.

python docs/make_images.py

Those of the gallery are made with the site: see `pages`.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from nonsmooth import Result, gallery, simulate
from nonsmooth.io import loads
from nonsmooth.views.plots import draw, plot_contacts, plot_series

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


def guide_wheel() -> Result:
    """Run the wheel of the guide, from its file."""
    text = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    block = text.partition("```yaml\n")[2].partition("```")[0]
    return simulate(loads(block), until=2.0)


def compactor() -> None:
    """Write the picture of the plate compactor."""
    hopping = run("compactor", 3.0, start="spinning")
    sketch = draw(run("compactor", 0.2), 0.175, names=True, forces=True)
    contacts = plot_contacts(hopping, span=(2.94, 3.0))
    write("compactor", beside(picture(sketch, 90), picture(contacts, 75)))


def tutorial() -> None:
    """Run the pages of the tutorial, and keep the pictures that they show."""
    for page in sorted((ROOT / "docs" / "tutorial").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        space: dict[str, Any] = {"__name__": page.stem}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.M):
                exec(compile(block, page.name, "exec", dont_inherit=True), space)
            for name in re.findall(r"images/(tutorial/\w+)\.png", text):
                image = Image.open(f"{Path(name).name}.png").convert("RGB")
                write(name, image.resize((image.width // 2, image.height // 2)))


def main() -> None:
    """Run the examples and write every picture."""
    sys.path.insert(0, str(ROOT))
    FOLDER.mkdir(exist_ok=True)
    compactor()
    tutorial()
    write("contacts", picture(plot_contacts(guide_wheel(), span=(0.0, 1.2)), 90))
    example: Any = importlib.import_module("examples.from_file")
    four_bar = example.result
    mechanism = draw(four_bar, [0.08, 0.62, 0.9])
    series = plot_series(four_bar, ["rocker.theta", "motor.torque", "pin_B.force_x"])
    series.set_figheight(4.2)
    write("overview", beside(picture(mechanism), picture(series)))
    example = importlib.import_module("examples.slider_crank")
    crank = example.result
    names = ["slider.x", "motor.torque", "guide.force_y"]
    write("series", picture(plot_series(crank, names)))
    write("drawing", picture(draw(crank, [0.15, 0.3, 0.42, 0.58], names=True)))


if __name__ == "__main__":
    main()
