"""Sketches of a mechanism at chosen instants."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.drives import Drive
from nonsmooth.elements.forces import Force
from nonsmooth.elements.joints import Joint
from nonsmooth.views import contacts
from nonsmooth.views.bearings import Bearing, bearings
from nonsmooth.views.blocks import block_skins, block_values
from nonsmooth.views.board import COLOURS, LONGEST, PICTURE, Sketch
from nonsmooth.views.drawing import LONE, SYMBOL_PART, symbol_size
from nonsmooth.views.figure import INK, MODES, PALETTE, mode_label
from nonsmooth.views.glyphs import glyphs
from nonsmooth.views.meshes import enlargement, skins_of
from nonsmooth.views.shades import Shading
from nonsmooth.views.solids import solid_skins, solid_values, states_of
from nonsmooth.views.stage import Stage, reach
from nonsmooth.views.symbols import paint

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from nonsmooth.result import Result

Floats = NDArray[np.float64]

# Instants by default, and the number of bodies beyond which two are enough.
N_INSTANT, MANY_BODIES = 5, 60
# The faintest instant has this part of the last one's colour.
FAINTEST = 0.18
FEW_STANDS = 8
# Width of a bar beside the length of a typical body, and its range, pt.
BAR_PART, BAR_RANGE = 0.1, (1.2, 7.0)
# Forces beyond which arrows are half as long.
FEW_FORCES = 6
# Radius of the mark of a contact beside the whole picture, where they are few.
MARK_PART, FEW_MARKS = 0.009, 40


def instants(result: Result) -> int:
    """Return how many instants a picture of the run shows by default."""
    return N_INSTANT if result.system.n_moving <= MANY_BODIES else 2


def draw_on(
    axes: Axes, result: Result, times: Floats, scale: float | None = None
) -> None:
    """Draw a run at increasing times."""
    draw_stage(axes, stage_of(result, times, scale), times)


def draw_stage(
    axes: Axes,
    stage: Stage,
    times: Floats,
    has_names: bool = False,
    has_forces: bool = False,
    shading: Shading | None = None,
    marked: Iterable[str] = (),
) -> list[Artist]:
    """Draw the mechanism at increasing times; return what a legend has to explain.

    What is marked has a ring round it.
    """
    last = len(times) - 1
    board, largest = ready(axes, stage, has_names, has_forces, shading, (last,))
    looks = {item["name"]: item for item in glyphs(board.stage)}
    for k in range(len(times)):
        ink = 1.0 if k == last else FAINTEST + 0.4 * k / last
        s = replace(board, k=k, ink=ink, layer=10.0 * (1 + k))
        for element in stage.elements:
            # What acts on the mechanism is shown once, at the last instant.
            if k == last or not isinstance(element, Drive | Force):
                paint(s, element, looks)
    for name in marked:
        board.ring(name)
    board.finish()
    axes.autoscale_view()
    axes.set_axisbelow(True)
    shown = ", ".join(f"{t:.4g}" for t in times)
    axes.set_title(f"t = {shown} s", fontsize=9.5, loc="left")
    return explained(stage, largest)


def ready(
    axes: Axes,
    stage: Stage,
    has_names: bool,
    has_forces: bool,
    shading: Shading | None,
    instants: Iterable[int],
) -> tuple[Sketch, float | None]:
    """Return a sketch, and the largest force of instants where forces are drawn, N."""
    board = _board(axes, stage)
    board = replace(board, labels=[] if has_names else None)
    if shading is not None:
        board = _shaded(axes, board, shading)
    found = [bearing for those in board.bearings.values() for bearing in those]
    sizes = [
        math.hypot(stage.values[b.force][k], b.friction[k])
        for k in instants
        for b in found
    ]
    largest = max(sizes, default=0.0)
    if not (has_forces and largest > 0.0):
        return board, None
    longest = LONGEST if np.count_nonzero(sizes) <= FEW_FORCES else 0.5 * LONGEST
    return replace(board, scale=longest * PICTURE * board.dot / largest), largest


def stage_of(result: Result, times: Floats, scale: float | None = None) -> Stage:
    """Return the mechanism at the times; its deformation can be seen by default."""
    states = states_of(result, times)
    stage = Stage(
        system=result.system,
        values={
            **result.sample(times),
            **block_values(result, times, "after"),
            **solid_values(result.system, states, times),
        },
        n=len(times),
        skins={
            **skins_of(result.system),
            **block_skins(result.system),
            **solid_skins(result, states),
        },
    )
    if scale is None:
        moved = [
            skin.fields["displacement"].at(stage.eta(name))
            for name, skin in stage.skins.items()
        ]
        largest = max((float(found.max()) for found in moved), default=0.0)
        extent = float(np.ptp(reach(stage, has_bare=True)[0], axis=0).max())
        scale = enlargement(largest, extent)
    return replace(stage, scale=scale, known={})


def _shaded(axes: Axes, board: Sketch, shading: Shading) -> Sketch:
    """Return a sketch in the colours of a field, and draw what they mean."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    colours = ScalarMappable(Normalize(*shading.range), cmap=COLOURS)
    figure: Any = axes.figure
    beyond = "both" if shading.is_cut else "neither"
    figure.colorbar(colours, ax=axes, label=shading.label, shrink=0.7, extend=beyond)
    return replace(board, shades=shading.values, range=shading.range)


def _board(axes: Axes, stage: Stage) -> Sketch:
    """Return a sketch of the last instant, with sizes that suit the picture."""
    places, lengths = reach(stage, has_bare=True)
    extent = float(np.ptp(places, axis=0).max()) or LONE
    typical = float(np.median(lengths)) if lengths else extent
    unit = symbol_size(extent, lengths)
    stage = replace(stage, unit=unit)
    fixed = [
        joint
        for joint in stage.elements
        if isinstance(joint, Joint)
        and (stage.is_ground(joint.a) or stage.is_ground(joint.b))
    ]
    # In a long chain of short bodies a stand would vanish beside the whole.
    has_room = len(fixed) <= FEW_STANDS
    has_few = len(stage.can_stick) <= FEW_MARKS
    found: dict[str, list[Bearing]] = {}
    for bearing in bearings(stage):
        found.setdefault(bearing.element, []).append(bearing)
    return Sketch(
        axes=axes,
        stage=stage,
        k=stage.n - 1,
        bearings=found,
        places=places,
        unit=unit,
        stand_unit=max(unit, 0.5 * SYMBOL_PART * extent) if has_room else unit,
        mark=max(0.5 * unit, MARK_PART * extent if has_few else 0.0),
        dot=extent / PICTURE,
        bar=float(np.clip(BAR_PART * PICTURE * typical / extent, *BAR_RANGE)),
    )


def explained(stage: Stage, largest: float | None) -> list[Artist]:
    """Return the entries of a legend: modes in the picture, and the scale of arrows."""
    from matplotlib.lines import Line2D

    modes = {
        contacts.mode_of(value, can_stick)
        for name, can_stick in stage.can_stick.items()
        for value in stage.values[f"{name}.mode"]
    }
    pen: dict[str, Any] = {"ls": "none", "marker": "o", "ms": 7.0, "mec": INK}
    entries: list[Artist] = [
        Line2D([], [], mfc=MODES[mode], label=mode_label(mode), **pen)
        for mode in MODES
        if mode in modes
    ]
    if stage.skins:
        how = f"× {stage.scale:g}" if stage.scale != 1.0 else "as it is"
        entries.append(Line2D([], [], ls="none", label=f"deformation {how}"))
    if largest is not None:
        families = (("contact", stage.system.contacts), ("joint", stage.system.slides))
        owners = " and ".join(what for what, found in families if found)
        label = f"{owners} forces, the largest {largest:.4g} N"
        entries.append(Line2D([], [], color=PALETTE[3], label=label))
    return entries
