"""Films of a run: frames drawn like pictures, written as a video or an animation."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ModelError
from nonsmooth.files import replacing
from nonsmooth.views import figure as look
from nonsmooth.views import sketch
from nonsmooth.views.glyphs import glyphs
from nonsmooth.views.shades import Shades, Shading, shading_of
from nonsmooth.views.symbols import paint

if TYPE_CHECKING:
    from nonsmooth.result import Result

Frame = NDArray[np.uint8]  # (height, width, 3)

# Endings: those that Pillow writes, and those that need ffmpeg.
ANIMATIONS, VIDEOS = (".gif", ".webp"), (".mp4", ".webm")
# Frames in a second; seconds that a film lasts by default, at least and at most.
RATE, LASTS = 25, (2.0, 12.0)
MAX_FRAMES = 10_000
DPI = 100


def check_film(path: str | os.PathLike[str]) -> None:
    """Refuse a file that cannot be written as a film here."""
    suffix = Path(path).suffix.lower()
    if suffix not in (*ANIMATIONS, *VIDEOS):
        known = ", ".join((*ANIMATIONS, *VIDEOS))
        raise ModelError(f"{path}: films end with one of {known}")
    if suffix in VIDEOS and shutil.which("ffmpeg") is None:
        raise ModelError(f"{path}: {suffix} needs ffmpeg; install it, or write a .gif")


def film(
    result: Result,
    path: str | os.PathLike[str],
    *,
    speed: float | None = None,
    names: bool = False,
    forces: bool = False,
    scale: float | None = None,
    field: str | Shades | None = None,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Write the run as a film; the ending decides the format.

    Parameters
    ----------
    result : Result
    path : str or path
        .gif and .webp are written by Pillow, .mp4 and .webm by ffmpeg.
    speed : float, optional
        Seconds of the run that a second of the film shows; 1 by default where the
        film lasts 2 to 12 s then, else what makes it so. The title says which.
    names, forces, scale, field
        As of `draw`.
    progress : callable, optional
        Called with the part that is done, 0 to 1.
    """
    check_film(path)
    look.check_folder("film", path)
    if len(result.steps.t) == 0:
        raise ModelError(f"there is nothing to draw: {result.message}")
    length = result.t_end - result.t_start
    if speed is None:
        speed = length / float(np.clip(length, *LASTS))
    n = round(RATE * length / speed) + 1 if speed > 0.0 else 0
    if not 2 <= n <= MAX_FRAMES:
        raise ModelError(
            f"speed = {speed!r}: {n} frames of {length:g} s; give one for which there "
            f"are 2 to {MAX_FRAMES}"
        )
    times = np.linspace(result.t_start, result.t_end, n)
    stage = sketch.stage_of(result, times, scale)
    shading = None if field is None else shading_of(result, stage, times, field)
    with look.style(), replacing(path) as temporary:
        frames = _frames(stage, times, speed, names, forces, shading, progress)
        write = _animation if Path(path).suffix.lower() in ANIMATIONS else _video
        write(Path(temporary), frames, Path(path).suffix.lower())
    return Path(path)


def _frames(
    stage: Any,
    times: NDArray[np.float64],
    speed: float,
    has_names: bool,
    has_forces: bool,
    shading: Shading | None,
    progress: Callable[[float], None] | None,
) -> Iterator[Frame]:
    """Yield the pictures, all in one frame of the plane."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = look.new_figure(6.5, 5.0)
    axes = figure.subplots()
    every = range(len(times))
    board, largest = sketch.ready(axes, stage, has_names, has_forces, shading, every)
    axes.update_datalim(board.places)
    look.fit_plane(figure, axes)
    handles = sketch.explained(stage, largest)
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=4)
        figure.set_figheight(figure.get_figheight() + 0.3)
    _even(figure)
    low, high = board.places.min(axis=0), board.places.max(axis=0)
    pad = 0.06 * float(max(*(high - low), board.unit))
    canvas = FigureCanvasAgg(figure)
    looks = {item["name"]: item for item in glyphs(board.stage)}
    pace = "" if speed == 1.0 else f", {speed:.3g} s in a second"
    for k, t in enumerate(times.tolist()):
        axes.clear()
        axes.set_aspect("equal", adjustable="box")
        axes.set_axisbelow(True)
        labels: list[Any] | None = [] if has_names else None
        s = replace(board, k=k, labels=labels, strokes={})
        for element in stage.elements:
            paint(s, element, looks)
        s.finish()
        axes.set_xlim(low[0] - pad, high[0] + pad)
        axes.set_ylim(low[1] - pad, high[1] + pad)
        axes.set_xlabel("x (m)")
        axes.set_ylabel("y (m)")
        axes.set_title(f"t = {t:.4f} s{pace}", fontsize=9.5, loc="left")
        canvas.draw()
        if k == 0:
            # The layout of the first frame stays.
            figure.set_layout_engine("none")
        yield np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
        if progress is not None:
            progress((k + 1) / len(times))


def _even(figure: Any) -> None:
    """Make the size an even number of points, as videos need."""
    figure.set_dpi(DPI)
    width, height = (2 * round(0.5 * DPI * size) for size in figure.get_size_inches())
    figure.set_size_inches(width / DPI, height / DPI)


def _animation(path: Path, frames: Iterator[Frame], suffix: str) -> None:
    from PIL import Image

    pictures = [Image.fromarray(frame) for frame in frames]
    if suffix == ".gif":
        # One palette for all, or colours would flicker.
        some = np.concatenate(
            [np.asarray(p) for p in pictures[:: len(pictures) // 8 + 1]]
        )
        palette = Image.fromarray(some).quantize(255)
        plain = Image.Dither.NONE
        pictures = [p.quantize(palette=palette, dither=plain) for p in pictures]
    pictures[0].save(
        path,
        format=suffix[1:],
        save_all=True,
        append_images=pictures[1:],
        duration=1000 // RATE,
        loop=0,
    )


def _video(path: Path, frames: Iterator[Frame], suffix: str) -> None:
    first = next(frames)
    height, width, _ = first.shape
    command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo"]
    command += ["-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(RATE)]
    command += ["-i", "-", "-pix_fmt", "yuv420p", "-f", suffix[1:], str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            process.stdin.write(first.tobytes())
            for frame in frames:
                process.stdin.write(frame.tobytes())
            process.stdin.close()
        except BrokenPipeError:
            pass
        why = process.stderr.read().decode(errors="replace").strip()
    if process.returncode != 0:
        raise OSError(f"ffmpeg: {why.splitlines()[-1] if why else 'failed'}")
