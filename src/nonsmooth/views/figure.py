"""How our figures look, and how they are made without pyplot's global state.

A figure belongs to its caller: it opens no window, is not kept in a list, and shows
itself when it is the last value of a notebook's cell.
"""

from __future__ import annotations

import io
import math
import os
import textwrap
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ModelError
from nonsmooth.files import replacing

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.columns import Column
    from nonsmooth.result import EventTable

# Okabe and Ito's colours, distinct for colour-blind readers; without their yellow,
# which is too pale for a line on white.
PALETTE = (
    "#0072B2",  # blue
    "#D55E00",  # vermilion
    "#009E73",  # green
    "#CC79A7",  # purple
    "#E69F00",  # orange
    "#56B4E9",  # sky blue
    "#000000",
)
DASHES = ("-", "--", "-.", ":")
INK = "#333333"  # outlines and text
PALE = "#8A8A8A"  # ground, guides, events
WARNING = "#C00000"
FAINT = "#D4D4D4"  # events where they are many

# Modes of contacts and joints in pictures, with their colours, in the order of legends.
MODES = {
    "stick": "#009E73",
    "slip+": "#D55E00",
    "slip-": "#F0A366",
    "pressing": "#0072B2",
    "released": "#F0E442",
    "open": "#FFFFFF",
}

# Flanks of a joint that bear, by `columns.SIDES`.
SIDES = {
    "+": "#0072B2",
    "-": "#CC79A7",
    "front+ rear-": "#56B4E9",
    "front- rear+": "#E8C3D6",
    "none": "#FFFFFF",
}

# Letters of a label beside a panel of plots, which is as high as 26, and of a line of
# one that is broken.
MAX_LABEL, LABEL_LINE = 26, 20
EVENT_MARKS = ("v", "D", "s", "o", "^", "P", "X", "<")
# Events beyond which their lines are paler, and beyond which there are none.
MANY_EVENTS, MAX_EVENTS = 40, 400
# Letters of a sentence above a figure in an inch, and the height of its lines, in.
LETTERS, LINE_ROW = 14.5, 0.17

STYLE: dict[Any, Any] = {
    "font.size": 10.0,
    "axes.labelsize": 10.0,
    "legend.fontsize": 9.0,
    "axes.edgecolor": PALE,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 4),
    "grid.color": "#E5E5E5",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "savefig.dpi": 150,
}


def mode_label(mode: str) -> str:
    """Return how a mode or side is called in legends."""
    signed = mode.replace(" ", ", ").replace("+", " +").replace("-", " −")
    return signed.strip()


def line_look(k: int) -> tuple[str, str]:
    """Return colour and dashes of the k-th line of a panel."""
    return PALETTE[k % len(PALETTE)], DASHES[k // len(PALETTE) % len(DASHES)]


@contextmanager
def style() -> Generator[None]:
    """Apply our look to what is drawn inside, and to nothing else."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError(
            "plots need Matplotlib; install it with: pip install 'nonsmooth[plot]'"
        ) from None
    with matplotlib.rc_context(STYLE):
        yield


@cache
def _figure_class() -> type[Figure]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        """A figure that a notebook shows by itself."""

        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            FigureCanvasAgg(self)
            self.savefig(buffer, format="png")
            return buffer.getvalue()

    return NotebookFigure


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure; sizes in inches."""
    return _figure_class()(figsize=(width, height), layout="constrained")


def fit_plane(figure: Figure, axes: Axes) -> None:
    """Label the plane, draw both directions alike, and fit the paper to the content."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.05)
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    width, height = axes.dataLim.width, axes.dataLim.height
    part = height / width if width > 0.0 else math.inf
    # Inches of the axes themselves, beside their labels.
    across = figure.get_figwidth() - 1.5
    figure.set_figheight(0.9 + min(max(across * part * 1.05, 1.6), 5.5))


def write_above(figure: Figure, texts: Sequence[str]) -> None:
    """Write sentences above a figure, if there are any."""
    letters = int(LETTERS * figure.get_figwidth())
    lines = [line for text in texts for line in textwrap.wrap(text, letters)]
    if lines:
        figure.suptitle("\n".join(lines), fontsize=8.5, color=WARNING)
        figure.set_figheight(figure.get_figheight() + LINE_ROW * len(lines))


def check_folder(what: str, path: str | os.PathLike[str]) -> None:
    """Refuse to show a run in a file whose folder is missing."""
    if not Path(path).parent.is_dir():
        raise ModelError(f"{what}: {path}: no folder '{Path(path).parent}'")


def finish(
    figure: Figure,
    path: str | os.PathLike[str] | None,
    doubts: Sequence[str] = (),
) -> Figure:
    """Write the figure if there is a path; the ending decides the format.

    `doubts` tell why a run is not to be trusted; they are written above it.
    """
    write_above(figure, [f"not to be trusted: {doubt}" for doubt in doubts])
    if path is not None:
        place = Path(path)
        known = figure.canvas.get_supported_filetypes()
        if place.suffix[1:].lower() not in ("", *known):
            raise ModelError(f"plot: {place}: use .png, .svg or .pdf")
        check_folder("plot", place)
        # Without an ending, matplotlib would add this one, to the temporary name.
        with replacing(place if place.suffix else f"{path}.png") as temporary:
            # Named here, as a device or a pipe has no ending.
            figure.savefig(temporary, format=place.suffix[1:] or "png")
    return figure


# ---- parts of panels ------------------------------------------------------------


def legend(axes: Axes, handles: Sequence[Artist] | None = None) -> None:
    """Put a legend to the right, where it hides no line; none if it would be empty."""
    shown = axes.get_legend_handles_labels()[0] if handles is None else handles
    if not shown:
        return
    axes.legend(
        handles=list(shown),
        loc="upper left",
        bbox_to_anchor=(1.0, 1.02),
        borderaxespad=0.2,
    )


def name_values(axes: Axes, columns: Sequence[Column]) -> None:
    """Label the axis of columns of one unit, or of values that have names."""
    title = ", ".join(dict.fromkeys(column.label for column in columns))
    unit, values = columns[0].unit, columns[0].values
    title = f"{title} ({unit})" if unit else title
    is_long = len(title) > MAX_LABEL
    axes.set_ylabel(textwrap.fill(title, LABEL_LINE) if is_long else title)
    if values:
        axes.set_yticks(list(values), map(mode_label, values.values()))
        axes.set_ylim(min(values) - 0.5, max(values) + 0.5)


def event_groups(events: EventTable) -> dict[str, NDArray[np.float64]]:
    """Return the instants of events: by kind those of modes, else by element."""
    groups: dict[str, list[float]] = {}
    for record in events:
        name = record.kind if record.before else f"event {record.element}"
        groups.setdefault(name, []).append(record.t)
    return {name: np.array(times) for name, times in groups.items()}


def show_events(axes: Axes, events: EventTable, is_top: bool) -> None:
    """Draw thin lines at the instants of events; at the top, marks that tell which."""
    is_many = len(events) > MANY_EVENTS
    colour = FAINT if is_many else PALE
    across: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "zorder": 1.6}
    for k, (name, t) in enumerate(event_groups(events).items()):
        if len(events) <= MAX_EVENTS:
            width = 0.4 if is_many else 0.6
            axes.vlines(t, 0.0, 1.0, colors=colour, linewidth=width, **across)
        if is_top and not is_many:
            axes.plot(
                t,
                np.ones_like(t),
                ls="none",
                marker=EVENT_MARKS[k % len(EVENT_MARKS)],
                ms=5.0,
                color=PALE,
                clip_on=False,
                label=name.replace("_", " "),
                **across,
            )
    if is_top and MANY_EVENTS < len(events) <= MAX_EVENTS:
        label = f"{len(events)} events"
        axes.plot([], [], color=colour, linewidth=0.8, label=label)
