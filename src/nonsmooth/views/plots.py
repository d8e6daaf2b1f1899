"""Figures of a result: over time, in the plane, energy, friction, the mechanism.

Every function returns a Matplotlib figure and writes it to `path` if there is one.
Matplotlib is imported when a figure is made.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.errors import ModelError, show
from nonsmooth.result.samples import times_of
from nonsmooth.views import curves, sketch
from nonsmooth.views import figure as look
from nonsmooth.views.contact_plot import plot_contacts
from nonsmooth.views.shades import Shades, Shading, shading_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.columns import Column
    from nonsmooth.result import Result
    from nonsmooth.views.stage import Stage

__all__ = ["draw", "plot_contacts", "plot_energy", "plot_paths", "plot_series"]

Floats = NDArray[np.float64]
Path = str | os.PathLike[str]

# Height of a row of a legend below a drawing, in.
LEGEND_ROW = 0.25
# Works of a ledger that are drawn one by one; the smallest are summed up.
MAX_WORKS = 6


# ---- over time -------------------------------------------------------------------


def plot_series(
    result: Result, names: str | Sequence[str], path: Path | None = None
) -> Figure:
    """Plot quantities over time, one panel for each unit.

    At a jump both one-sided values are drawn and not joined. Events are thin
    vertical lines.

    Parameters
    ----------
    result : Result
    names : str or sequence of str
        Columns, e.g. "crank.theta", "motor.torque"; see `Result.columns`.
    path : str or path, optional
        File to write; its ending decides the format.
    """
    chosen = [name for name in curves.listed(names) if name != "t"]
    lines = curves.sample_arcs(result, chosen)
    panels: dict[str, list[Column]] = {}
    for column in (result.table[name] for name in chosen):
        # What has no unit has names on its axis, of its own.
        panels.setdefault(column.unit or column.label, []).append(column)
    with look.style():
        figure = look.new_figure(7.5, 0.8 + 1.75 * len(panels))
        grid: Any = figure.subplots(len(panels), 1, sharex=True, squeeze=False)
        for row, columns in enumerate(panels.values()):
            axes: Axes = grid[row, 0]
            for k, name in enumerate(column.name for column in columns):
                colour, dashes = look.line_look(k)
                axes.plot(lines["t"], lines[name], color=colour, ls=dashes, label=name)
            look.show_events(axes, result.events, is_top=row == 0)
            look.name_values(axes, columns)
            look.legend(axes)
        grid[-1, 0].set_xlabel("time (s)")
        grid[-1, 0].set_xlim(result.t_start, result.t_end)
        return look.finish(figure, path, result.doubts)


def plot_energy(result: Result, path: Path | None = None) -> Figure:
    """Plot the energy ledger: what is stored, what was done, what is left over.

    The lower panel shows the imbalance at the ends of the steps, whose largest
    magnitude is `result.energy_balance.residual`.
    """
    t = np.concatenate(curves.arc_times(result))
    # Both sides of a break have the same energies: no need to tell arcs apart.
    ledger = result.energies(t)
    balance = result.energy_balance
    with look.style():
        figure = look.new_figure(7.5, 4.8)
        upper, lower = figure.subplots(
            2, 1, sharex=True, gridspec_kw={"height_ratios": (3, 1)}
        )
        stored = {"kinetic": ledger.kinetic, "potential": ledger.potential}
        for k, (name, values) in enumerate(stored.items()):
            upper.plot(t, values, color=look.PALETTE[k], label=name)
        total = ledger.kinetic + ledger.potential
        upper.plot(t, total, color=look.INK, label="kinetic + potential")
        for k, (name, values) in enumerate(_works(ledger.work).items()):
            n_colour = len(look.PALETTE) - 3
            colour, dashes = look.PALETTE[2 + k % n_colour], ("--", ":")[k // n_colour]
            upper.plot(t, values, color=colour, ls=dashes, label=name)
        look.show_events(upper, result.events, is_top=True)
        upper.set_ylabel("energy, work (J)")
        look.legend(upper)
        lower.plot(balance.t, balance.imbalance, color=look.INK, label="imbalance")
        look.show_events(lower, result.events, is_top=False)
        lower.set_ylabel("imbalance (J)")
        lower.set_xlabel("time (s)")
        lower.set_xlim(result.t_start, result.t_end)
        return look.finish(figure, path, result.doubts)


def _works(work: dict[str, Floats]) -> dict[str, Floats]:
    """Return the works to draw: those that matter by name, the rest as a sum."""
    size = {name: float(np.max(np.abs(done))) for name, done in work.items()}
    order = sorted((name for name in work if size[name] > 0.0), key=lambda n: -size[n])
    if len(order) <= MAX_WORKS:
        return {f"work of {name}": work[name] for name in work if name in order}
    shown, rest = order[: MAX_WORKS - 1], order[MAX_WORKS - 1 :]
    total = np.sum([work[name] for name in rest], axis=0)
    return {
        **{f"work of {name}": work[name] for name in shown},
        f"work of {len(rest)} others": total,
    }


# ---- in the plane ----------------------------------------------------------------


def plot_paths(
    result: Result, points: str | Sequence[str], path: Path | None = None
) -> Figure:
    """Plot the paths of points in the plane.

    Parameters
    ----------
    result : Result
    points : str or sequence of str
        "body" or "body.point"; an open circle marks its start, a disc its end.
    path : str or path, optional
        File to write.
    """
    chosen = curves.listed(points)
    columns = [f"{point}.{c}" for point in chosen for c in "xy"]
    lines = curves.sample_arcs(result, columns)
    with look.style():
        figure = look.new_figure(6.5, 5.0)
        axes = figure.subplots()
        for k, point in enumerate(chosen):
            colour, dashes = look.line_look(k)
            x, y = lines[f"{point}.x"], lines[f"{point}.y"]
            axes.plot(x, y, color=colour, ls=dashes, label=point)
            # The last entry is the NaN that ends an arc.
            _mark(axes, x[:1], y[:1], colour, is_start=True)
            _mark(axes, x[-2:-1], y[-2:-1], colour, is_start=False)
        for t, is_start in ((result.t_start, True), (result.t_end, False)):
            _mark(axes, [], [], look.INK, is_start, f"t = {t:g} s")
        look.legend(axes)
        look.fit_plane(figure, axes)
        return look.finish(figure, path, result.doubts)


def _mark(
    axes: Axes,
    x: ArrayLike,
    y: ArrayLike,
    colour: str,
    is_start: bool,
    label: str | None = None,
) -> None:
    """Mark the start of a path by an open circle, its end by a disc."""
    inside = "white" if is_start else colour
    axes.plot(
        np.asarray(x),
        np.asarray(y),
        ls="none",
        marker="o",
        ms=6.0,
        color=colour,
        markerfacecolor=inside,
        zorder=3.0,
        label=label,
    )


def draw(
    result: Result,
    t: ArrayLike | None = None,
    path: Path | None = None,
    *,
    names: bool = False,
    forces: bool = False,
    scale: float | None = None,
    field: str | Shades | None = None,
) -> Figure:
    """Draw the mechanism at chosen instants, earlier ones fainter.

    Contacts are discs in the colour of their mode. So are pins with friction, and the
    flanks or corners on which sliders and blocks with friction bear.

    Parameters
    ----------
    result : Result
    t : array_like, optional
        Times, s; a few over the whole run by default.
    path : str or path, optional
        File to write.
    names : bool
        Whether to write the names of the elements.
    forces : bool
        Whether to draw normal and friction forces of contacts, and of joints with
        friction, at the last instant: arrows on the body that has the disc or corner,
        of joints on b.
    scale : float, optional
        Factor of the deformation of flexible bodies, 1 for what it is; by default one
        that shows it. The legend says which.
    field : str or mapping, optional
        Colours of flexible bodies at the last instant: a field of one number as
        `Result.field` has them, such as "von_mises" or "stress.xx", or the size of
        "displacement" or "velocity"; or values of all nodes of the meshes by body,
        (n_node) or (n_time, n_node). The colour bar has the range over the run, of
        given values that over the times. Displacement and equivalent stress of a body
        with modes are those of the modes, as in the viewer.
    """
    if len(result.steps.t) == 0:
        raise ModelError(f"there is nothing to draw: {result.message}")
    if t is None:
        times = np.linspace(result.t_start, result.t_end, sketch.instants(result))
    else:
        times = np.unique(times_of(t))
    if len(times) == 0:
        raise ModelError("t = []; give at least one time")
    is_number = isinstance(scale, int | float) and 0.0 < scale < 1e300
    if scale is not None and not is_number:
        raise ModelError(f"scale = {show(scale)}; must be a number > 0")
    stage = sketch.stage_of(result, times, scale)
    shading = None if field is None else shading_of(result, stage, times, field)
    with look.style():
        doubts = [f"not to be trusted: {doubt}" for doubt in result.doubts]
        shown = (stage, times, path, names, forces, shading)
        return show_stage(*shown, above=doubts)


def show_stage(
    stage: Stage,
    times: Floats,
    path: Path | None = None,
    has_names: bool = False,
    has_forces: bool = False,
    shading: Shading | None = None,
    marked: Iterable[str] = (),
    above: Sequence[str] = (),
) -> Figure:
    """Return a figure of the mechanism, its legend, and sentences above."""
    figure = look.new_figure(6.5, 5.0)
    axes = figure.subplots()
    drawn = (axes, stage, times, has_names, has_forces, shading, marked)
    handles = sketch.draw_stage(*drawn)
    look.fit_plane(figure, axes)
    high = figure.get_figheight()
    if handles:
        columns = min(len(handles), 4)
        figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        high += LEGEND_ROW * -(-len(handles) // columns)
    figure.set_figheight(high)
    look.write_above(figure, above)
    return look.finish(figure, path)
