"""Pictures of modes: of flexible bodies, and of a system about its equilibrium."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.errors import ModelError
from nonsmooth.views import figure as look
from nonsmooth.views.board import COLOURS
from nonsmooth.views.meshes import Skin, skins_of
from nonsmooth.views.sketch import draw_on

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.pack import System
    from nonsmooth.result import Result

# The largest displacement beside the body, and the largest stretch or turn of a side:
# what is more would fold over. Panels in a row, modes of a body.
LARGEST, STEEPEST, ACROSS, MOST = 0.12, 0.5, 3, 12


def plot_modes(
    system: System, path: str | os.PathLike[str] | None = None, most: int = MOST
) -> Figure:
    """Draw the lowest modes of every flexible body.

    Parameters
    ----------
    system : System
    path : str or path, optional
        File to write; its ending decides the format.
    most : int
        Modes of each body.
    """
    skins = skins_of(system)
    if not skins:
        raise ModelError("there is no flexible body with a mesh to draw")
    panels: list[tuple[str, Skin, int]] = []
    for name, skin in skins.items():
        n = min(most, system.flexible[name].n_mode or skin.shapes.shape[2])
        panels += [(name, skin, k) for k in range(n)]
    with look.style():
        figure, grid = _grid(len(panels), 1.15)
        for axes, (name, skin, k) in zip(grid.flat, panels, strict=False):
            stiffness = float(np.asarray(system.flexible[name].stiffness)[k])
            hertz = math.sqrt(stiffness) / (2.0 * math.pi)
            _draw(axes, skin, k)
            axes.set_title(f"{name}, mode {k + 1}: {hertz:.4g} Hz", fontsize=8.5)
        return look.finish(figure, path)


def plot_motions(
    results: Mapping[str, Result], path: str | os.PathLike[str] | None = None
) -> Figure:
    """Draw modes about an equilibrium, `Equilibrium.motion`, by their titles.

    Both ends of each, the one fainter.
    """
    with look.style():
        figure, grid = _grid(len(results), 1.6)
        for axes, (title, one) in zip(grid.flat, results.items(), strict=False):
            half = 0.5 * (one.t_end - one.t_start) / one.options["periods"]
            draw_on(axes, one, one.t_start + np.array([0.0, half]), scale=1.0)
            axes.set_title("", loc="left")
            axes.set_title(title, fontsize=8.5)
            axes.set_aspect("equal", adjustable="datalim")
            axes.set_axis_off()
        return look.finish(figure, path)


def _grid(n: int, height: float) -> tuple[Figure, Any]:
    """Return a figure with panels for n pictures of a height, in."""
    rows = math.ceil(n / ACROSS)
    figure = look.new_figure(9.0, height * rows)
    grid: Any = figure.subplots(rows, ACROSS, squeeze=False)
    for axes in grid.flat[n:]:
        axes.set_axis_off()
    return figure, grid


def _draw(axes: Any, skin: Skin, k: int) -> None:
    """Draw one mode over the body at rest, coloured by how far it moves."""
    from matplotlib.collections import PolyCollection

    eta = np.zeros(skin.shapes.shape[2])
    eta[k] = 1.0
    size = skin.fields["displacement"].at(eta)
    a, b = skin.sides.T
    moves = np.linalg.norm(skin.shapes[a, :, k] - skin.shapes[b, :, k], axis=1)
    slope = float(np.max(moves / np.linalg.norm(skin.nodes[a] - skin.nodes[b], axis=1)))
    extent = float(np.ptp(skin.nodes, axis=0).max())
    scale = min(LARGEST * extent / float(size.max()), STEEPEST / slope)
    nodes = skin.moved(eta, scale)
    cells = PolyCollection(
        [nodes[cell] for cell in skin.cells], cmap=COLOURS, edgecolors="face", lw=0.3
    )
    cells.set_array(np.array([size[cell].mean() for cell in skin.cells]))
    axes.add_collection(cells)
    for rim in skin.rims:
        closed = np.append(rim, rim[:1])
        axes.plot(*skin.nodes[closed].T, color=look.PALE, lw=0.6)
        axes.plot(*nodes[closed].T, color=look.INK, lw=0.6)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.08)
    axes.set_axis_off()
