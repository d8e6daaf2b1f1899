"""Figures of a result: quantities over time, paths, energy, the mechanism itself.

Every function returns a Matplotlib figure and writes it to `path` if there is one.
Matplotlib is imported when a figure is made.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.errors import ModelError
from nonsmooth.views import figure as look
from nonsmooth.views import sketch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.result import EventTable, Result

Floats = NDArray[np.float64]
Path = str | os.PathLike[str]

# Quantity and unit of a column, by the last part of its name.
QUANTITIES = {
    **dict.fromkeys(("x", "y"), ("position", "m")),
    "theta": ("angle", "rad"),
    **dict.fromkeys(("vx", "vy"), ("velocity", "m/s")),
    "omega": ("angular velocity", "rad/s"),
    **dict.fromkeys(("ax", "ay"), ("acceleration", "m/s²")),
    "alpha": ("angular acceleration", "rad/s²"),
    **dict.fromkeys(("force", "force_x", "force_y"), ("force", "N")),
    "torque": ("torque", "N m"),
}

# Points inside each step: the dense output is a polynomial of degree 7 at most.
POINTS_PER_STEP = 12
# Points over the whole run, where steps are long; and where they are many.
MIN_POINTS, MAX_POINTS = 600, 20_000
# Numbers evaluated at once, so that large models fit in memory.
BATCH = 4_000_000
EVENT_MARKS = ("v", "D", "s", "o", "^", "P")
# Works of a ledger that are drawn one by one; the smallest are summed up.
MAX_WORKS = 6


# ---- samples ---------------------------------------------------------------------


def _arc_times(result: Result) -> list[Floats]:
    """Return times that resolve every arc, both of its ends included."""
    steps, ends = result.steps, result.t
    n = len(steps.t)
    if n == 0:
        raise ModelError(f"there is nothing to plot: {result.message}")
    spacing = (result.t_end - result.t_start) / MIN_POINTS
    inside = max(1, min(POINTS_PER_STEP, MAX_POINTS // n))
    stride = max(1, n // MAX_POINTS)
    firsts = np.flatnonzero(np.diff(steps.arc, prepend=-1))
    arcs: list[Floats] = []
    for begin, end in zip(firsts, [*firsts[1:], n], strict=True):
        t0, t1 = (
            ends[begin:end:stride],
            np.append(ends[begin:end:stride][1:], ends[end]),
        )
        count = np.maximum(inside, np.ceil((t1 - t0) / spacing)).astype(int)
        parts: list[Floats] = [
            np.linspace(float(a), float(b), int(k), endpoint=False)
            for a, b, k in zip(t0, t1, count, strict=True)
        ]
        arcs.append(np.append(np.concatenate(parts), ends[end]))
    return arcs


def _batch(result: Result) -> int:
    """Return how many instants may be evaluated at once."""
    m = result.system.tables
    return max(1, BATCH // (9 * m.n_marker + 8 * m.n_force + 6 * m.n_dof + 1))


def _sample(
    result: Result, t: Floats, names: Sequence[str], limit: Any = "after"
) -> dict[str, Floats]:
    """Sample in batches: a result evaluates every quantity of the model at once."""
    size = _batch(result)
    columns: dict[str, list[Floats]] = {name: [] for name in names}
    for begin in range(0, len(t), size):
        part = result.sample(t[begin : begin + size], names, limit)
        for name in names:
            columns[name].append(part[name])
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def _sample_arcs(result: Result, names: Sequence[str]) -> dict[str, Floats]:
    """Sample every arc up to both of its ends, with a NaN between arcs.

    At a jump both one-sided values appear, and no line joins them.
    """
    arcs = _arc_times(result)
    inner = _sample(result, np.concatenate([t[:-1] for t in arcs]), names)
    last = _sample(result, np.array([t[-1] for t in arcs]), names, "before")
    begins = np.cumsum([0, *(len(t) - 1 for t in arcs)])
    columns = {"t": np.concatenate([[*t, np.nan] for t in arcs])}
    for name in names:
        parts = [
            [*inner[name][begins[k] : begins[k + 1]], last[name][k], np.nan]
            for k in range(len(arcs))
        ]
        columns[name] = np.concatenate(parts)
    return columns


def _listed(names: str | Sequence[str]) -> list[str]:
    chosen = [names] if isinstance(names, str) else list(names)
    if not chosen:
        raise ModelError("names = []; give at least one")
    return list(dict.fromkeys(chosen))


def _show_events(axes: Axes, events: EventTable, is_top: bool) -> None:
    """Draw thin lines at the instants of events; at the top, a mark by element."""
    elements = list(dict.fromkeys(record.element for record in events))
    for k, element in enumerate(elements):
        t = events.of(element).t
        across: dict[str, Any] = {
            "transform": axes.get_xaxis_transform(),
            "zorder": 1.6,
        }
        axes.vlines(t, 0.0, 1.0, colors=look.PALE, linewidth=0.6, **across)
        if is_top:
            axes.plot(
                t,
                np.ones_like(t),
                ls="none",
                marker=EVENT_MARKS[k % len(EVENT_MARKS)],
                ms=5.0,
                color=look.PALE,
                clip_on=False,
                label=f"event {element}",
                **across,
            )


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
    chosen = [name for name in _listed(names) if name != "t"]
    panels: dict[str, list[str]] = {}
    titles: dict[str, list[str]] = {}
    for name in chosen:
        quantity, unit = QUANTITIES.get(name.rpartition(".")[2], ("value", ""))
        panels.setdefault(unit, []).append(name)
        titles.setdefault(unit, []).append(quantity)
    lines = _sample_arcs(result, chosen)
    with look.style():
        figure = look.new_figure(7.5, 0.8 + 1.75 * len(panels))
        grid: Any = figure.subplots(len(panels), 1, sharex=True, squeeze=False)
        for row, (unit, members) in enumerate(panels.items()):
            axes: Axes = grid[row, 0]
            for k, name in enumerate(members):
                colour, dashes = look.line_look(k)
                axes.plot(lines["t"], lines[name], color=colour, ls=dashes, label=name)
            _show_events(axes, result.events, is_top=row == 0)
            title = ", ".join(dict.fromkeys(titles[unit]))
            axes.set_ylabel(f"{title} ({unit})" if unit else title)
            _legend(axes)
        grid[-1, 0].set_xlabel("time (s)")
        grid[-1, 0].set_xlim(result.t_start, result.t_end)
        return look.finish(figure, path)


def _legend(axes: Axes) -> None:
    """Put a legend to the right, where it hides no line."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.2)


def plot_energy(result: Result, path: Path | None = None) -> Figure:
    """Plot the energy ledger: what is stored, what was done, what is left over.

    The lower panel shows the imbalance at the ends of the steps, whose largest
    magnitude is `result.energy_balance.residual`.
    """
    t = np.concatenate(_arc_times(result))
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
            colour = look.PALETTE[2 + k % (len(look.PALETTE) - 3)]
            upper.plot(t, values, color=colour, ls="--", label=name)
        _show_events(upper, result.events, is_top=True)
        upper.set_ylabel("energy, work (J)")
        _legend(upper)
        lower.plot(balance.t, balance.imbalance, color=look.INK, label="imbalance")
        _show_events(lower, result.events, is_top=False)
        lower.set_ylabel("imbalance (J)")
        lower.set_xlabel("time (s)")
        lower.set_xlim(result.t_start, result.t_end)
        return look.finish(figure, path)


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
    chosen = _listed(points)
    columns = [f"{point}.{c}" for point in chosen for c in "xy"]
    lines = _sample_arcs(result, columns)
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
        _legend(axes)
        look.fit_plane(figure, axes)
        return look.finish(figure, path)


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
) -> Figure:
    """Draw the mechanism at chosen instants, earlier ones fainter.

    Parameters
    ----------
    result : Result
    t : array_like, optional
        Times, s; a few over the whole run by default.
    path : str or path, optional
        File to write.
    names : bool
        Whether to write the names of the elements.
    """
    if len(result.steps.t) == 0:
        raise ModelError(f"there is nothing to draw: {result.message}")
    if t is None:
        times = np.linspace(result.t_start, result.t_end, sketch.instants(result))
    else:
        times = np.unique(np.asarray(t, dtype=float))
    if len(times) == 0:
        raise ModelError("t = []; give at least one time")
    with look.style():
        figure = look.new_figure(6.5, 5.0)
        axes = figure.subplots()
        sketch.draw_on(axes, result, times, names)
        look.fit_plane(figure, axes)
        return look.finish(figure, path)
