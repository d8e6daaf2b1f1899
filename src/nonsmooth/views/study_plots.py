"""Figures of studies: curves and maps, bifurcation diagrams, basins, residuals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.errors import ModelError, nearest
from nonsmooth.views import figure as look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.study.attraction import Basins
    from nonsmooth.study.diagrams import Diagram
    from nonsmooth.study.fitting import Fit
    from nonsmooth.study.table import Table

Path = str | os.PathLike[str]


def plot_table(
    table: Table,
    x: str | None = None,
    y: str | None = None,
    output: str | None = None,
    path: Path | None = None,
) -> Figure:
    """Plot an output over a parameter, or as a map over two.

    Parameters
    ----------
    table : Table
    x, y : str, optional
        Parameters with numbers; the first ones by default. With `x` alone, or where
        there is one, all runs are points over it; so they are where parameters go in
        step, over the first.
    output : str, optional
        The first with numbers by default.
    path : path, optional
        File to write.
    """
    axes = [name for name in table.parameters if table[name].dtype == float]
    outputs = [name for name in table.outputs if table[name].dtype == float]
    if not axes or not outputs:
        raise ModelError("nothing to plot: no parameter or no output is a number")
    if x is None:
        # In step there are no pairs to make a map of.
        is_map = len(axes) > 1 and not _is_zipped(table)
        x, y = axes[0], y or (axes[1] if is_map else None)
    across = _known(x or axes[0], axes)
    shown = _known(output or outputs[0], outputs)
    if y is None or y == x:
        return _curve(table, across, shown, path)
    return _map(table, across, _known(y, axes), shown, path)


def _is_zipped(table: Table) -> bool:
    """Return whether all parameters go in step."""
    return list(table.dims) == ["point"]


def _known(name: str, known: list[str]) -> str:
    if name not in known:
        raise ModelError(f"no column '{name}' of numbers; {nearest(name, known)}")
    return name


def _curve(table: Table, x: str, output: str, path: Path | None) -> Figure:
    with look.style():
        figure = look.new_figure(7.0, 3.6)
        axes = figure.subplots()
        is_line = list(table.dims) == [x] or _is_zipped(table)
        axes.plot(table[x], table[output], "o-" if is_line else "o", ms=3.0)
        _name_axes(axes, table, x, output)
        others = [name for name in table.parameters if name != x]
        if _is_zipped(table) and others:
            axes.set_xlabel(f"{table.label(x)}, in step with {', '.join(others)}")
        return look.finish(figure, path)


def _map(table: Table, x: str, y: str, output: str, path: Path | None) -> Figure:
    with look.style():
        figure = look.new_figure(6.6, 4.8)
        axes = figure.subplots()
        values = np.ma.masked_invalid(table[output])
        if set(table.dims) == {x, y}:
            shape = tuple(table.dims.values())
            grid = [np.reshape(table[name], shape) for name in (x, y)]
            # Lines of a grid would stand on the cells.
            axes.grid(False)
            drawn: Any = axes.pcolormesh(
                *grid, values.reshape(shape), shading="nearest", rasterized=True
            )
        else:
            drawn = axes.scatter(table[x], table[y], c=values, s=16.0)
        bar = figure.colorbar(drawn, ax=axes)
        bar.set_label(table.label(output))
        failed = np.isnan(table[output])
        if failed.any():
            axes.plot(
                table[x][failed],
                table[y][failed],
                "x",
                color=look.PALE,
                ms=4.0,
                label="no value",
            )
            look.legend(axes)
        _name_axes(axes, table, x, y)
        return look.finish(figure, path)


def _name_axes(axes: Any, table: Table, x: str, y: str) -> None:
    """Write names and units beside the axes; equal ratios are equal lengths."""
    axes.set_xlabel(table.label(x))
    axes.set_ylabel(table.label(y))
    if table.is_log(x):
        axes.set_xscale("log")
    if table.is_log(y):
        axes.set_yscale("log")


def plot_diagram(diagram: Diagram, path: Path | None = None) -> Figure:
    """Plot a bifurcation diagram, a colour for each direction."""
    with look.style():
        figure = look.new_figure(7.0, 4.2)
        axes = figure.subplots()
        for k, branch in enumerate(diagram.branches):
            x = np.repeat(branch.values, [len(own) for own in branch.points])
            # The second direction is drawn larger and below: both are seen.
            axes.plot(
                x,
                np.concatenate([*branch.points, np.zeros(0)]),
                ls="none",
                marker=".",
                ms=2.0 + 2.0 * k,
                color=look.PALETTE[k],
                label=branch.direction,
                zorder=3 - k,
            )
        axes.set_xlabel(diagram.parameter)
        axes.set_ylabel(diagram.column)
        look.legend(axes)
        return look.finish(figure, path)


def plot_basins(
    basins: Basins, x: str | None = None, y: str | None = None, path: Path | None = None
) -> Figure:
    """Plot starts over two parameters, a colour for each motion they come to."""
    table = basins.table
    axes_names = [name for name in table.parameters if table[name].dtype == float]
    if len(axes_names) < 2:
        raise ModelError("basins over fewer than two parameters; use a plot of speed")
    across = _known(x or axes_names[0], axes_names)
    up = _known(y or axes_names[1], axes_names)
    with look.style():
        figure = look.new_figure(7.0, 4.8)
        axes = figure.subplots()
        for k, (speed, n) in enumerate(zip(basins.speeds, basins.counts, strict=True)):
            own = basins.group == k
            axes.plot(
                table[across][own],
                table[up][own],
                ls="none",
                marker=look.EVENT_MARKS[k % len(look.EVENT_MARKS)],
                ms=4.0,
                color=look.PALETTE[k % len(look.PALETTE)],
                label=f"{speed:.5g} ({n})",
            )
        _name_axes(axes, table, across, up)
        look.legend(axes)
        return look.finish(figure, path)


def plot_residuals(fit: Fit, path: Path | None = None) -> Figure:
    """Plot the residuals of a fit over time, a panel for each column."""
    with look.style():
        n = len(fit.residuals)
        figure = look.new_figure(7.0, 0.8 + 1.9 * n)
        grid: Any = figure.subplots(n, 1, sharex=True, squeeze=False)
        for row, (name, values) in enumerate(fit.residuals.items()):
            axes = grid[row, 0]
            axes.axhline(0.0, color=look.PALE, lw=0.8)
            axes.plot(fit.t, values, ".", ms=3.0, color=look.PALETTE[0])
            unit = fit.result.table[name].unit
            axes.set_ylabel(f"{name} ({unit})" if unit else name)
        grid[-1, 0].set_xlabel("time (s)")
        return look.finish(figure, path)
