"""Figures of a result: over time, in the plane, energy, friction, the mechanism.

Every function returns a Matplotlib figure and writes it to `path` if there is one.
Matplotlib is imported when a figure is made.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.columns import SIDES, Column, width
from nonsmooth.errors import ModelError, nearest
from nonsmooth.views import contacts, sketch
from nonsmooth.views import figure as look

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.result import EventTable, Result

Floats = NDArray[np.float64]
Path = str | os.PathLike[str]

# Points inside each step: the dense output is a polynomial of degree 7 at most.
POINTS_PER_STEP = 12
# Points over the whole run, where steps are long; and where they are many.
MIN_POINTS, MAX_POINTS = 600, 20_000
# Numbers evaluated at once, so that large models fit in memory.
BATCH = 4_000_000
EVENT_MARKS = ("v", "D", "s", "o", "^", "P", "X", "<")
# Events beyond which their lines are paler, and beyond which there are none.
MANY_EVENTS, MAX_EVENTS = 40, 400
# Contacts and joints beyond which a picture is not readable, and whose limits show.
MAX_CONTACTS, FEW_CONTACTS = 12, 3
# Events nearer than this part of a picture cannot be told apart.
TIE = 1e-3
# Height of a row of a legend below a drawing, in.
LEGEND_ROW = 0.25
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
    firsts = contacts.arc_begins(result)
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
    return max(1, BATCH // width(result.system))


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


def _event_groups(events: EventTable) -> dict[str, Floats]:
    """Return the instants of events: by kind those of modes, else by element."""
    groups: dict[str, list[float]] = {}
    for record in events:
        name = record.kind if record.before else f"event {record.element}"
        groups.setdefault(name, []).append(record.t)
    return {name: np.array(times) for name, times in groups.items()}


def _show_events(axes: Axes, events: EventTable, is_top: bool) -> None:
    """Draw thin lines at the instants of events; at the top, marks that tell which."""
    is_many = len(events) > MANY_EVENTS
    colour = look.FAINT if is_many else look.PALE
    across: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "zorder": 1.6}
    for k, (name, t) in enumerate(_event_groups(events).items()):
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
                color=look.PALE,
                clip_on=False,
                label=name.replace("_", " "),
                **across,
            )
    if is_top and MANY_EVENTS < len(events) <= MAX_EVENTS:
        label = f"{len(events)} events"
        axes.plot([], [], color=colour, linewidth=0.8, label=label)


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
    lines = _sample_arcs(result, chosen)
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
            _show_events(axes, result.events, is_top=row == 0)
            _name_values(axes, columns)
            _legend(axes)
        grid[-1, 0].set_xlabel("time (s)")
        grid[-1, 0].set_xlim(result.t_start, result.t_end)
        return look.finish(figure, path)


def _name_values(axes: Axes, columns: Sequence[Column]) -> None:
    """Label the axis of columns of one unit, or of values that have names."""
    title = ", ".join(dict.fromkeys(column.label for column in columns))
    unit, values = columns[0].unit, columns[0].values
    axes.set_ylabel(f"{title} ({unit})" if unit else title)
    if values:
        axes.set_yticks(list(values), map(look.mode_label, values.values()))
        axes.set_ylim(min(values) - 0.5, max(values) + 0.5)


def _legend(axes: Axes, handles: Sequence[Artist] | None = None) -> None:
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
            n_colour = len(look.PALETTE) - 3
            colour, dashes = look.PALETTE[2 + k % n_colour], ("--", ":")[k // n_colour]
            upper.plot(t, values, color=colour, ls=dashes, label=name)
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


# ---- contacts --------------------------------------------------------------------


def plot_contacts(
    result: Result,
    path: Path | None = None,
    *,
    names: str | Sequence[str] | None = None,
    span: tuple[float, float] | None = None,
) -> Figure:
    """Plot forces, slip, modes and events of contacts and joints with friction.

    The friction force is drawn within its limit at rest, shaded, of a few contacts. At
    a jump both one-sided values are drawn and not joined. Slip is shown where the
    contact presses. Events are ticks in the colour of their contact.

    The normal force of a joint has a sign, that of the flank that pushes; which flanks
    bear is a strip of its own. Where a block tilts in its guide the load on both ends,
    dotted, exceeds the normal force.

    Parameters
    ----------
    result : Result
    path : str or path, optional
        File to write.
    names : str or sequence of str, optional
        Contacts, as in columns, and joints; the first few by default.
    span : (float, float), optional
        Times to show, s; the whole run by default.
    """
    known = result.system.with_mode
    chosen = list(known[:MAX_CONTACTS]) if names is None else _listed(names)
    for name in chosen:
        if name not in known:
            raise ModelError(f"no contact '{name}'; {nearest(name, known)}")
    if not chosen:
        raise ModelError(
            "there is nothing to plot: the model has no contacts, nor friction in "
            "joints"
        )
    shown = (result.t_start, result.t_end) if span is None else span
    if not result.t_start <= shown[0] < shown[1] <= result.t_end:
        raise ModelError(
            f"span = {span!r}; give two times from {result.t_start:g} to "
            f"{result.t_end:g} s"
        )
    quantities = ("normal_force", "friction_force", "slip_velocity", "mode")
    columns = [f"{n}.{c}" for n in chosen for c in quantities]
    columns += [f"{n}.load" for n in chosen if n in result.system.slides]
    lines = _sample_arcs(result, columns)
    sides = {
        name: _sides(result, name, lines["t"])
        for name in chosen
        if f"{name}.side" in result.columns
    }
    # Of a slider that never changes its side the sign of the force says enough.
    sides = {n: x for n, x in sides.items() if len(x) > 1 or _has_ends(result, n)}
    groups = _event_groups(_of_contacts(result.events, chosen))
    heights = [1.6, 1.6, 1.6, 0.45 + 0.22 * len(chosen)]
    heights += [0.45 + 0.22 * len(sides)] if sides else []
    heights += [0.45 + 0.2 * max(1, len(groups))]
    with look.style():
        figure = look.new_figure(7.5, 0.5 + sum(heights))
        panels: Any = figure.subplots(
            len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights}
        )
        for axes, quantity in zip(panels[:3], quantities[:3], strict=True):
            for k, name in enumerate(chosen):
                _plot_contact(axes, result, lines, name, quantity, k)
            _show_events(axes, result.events, is_top=False)
            _name_values(axes, [result.table[f"{chosen[0]}.{quantity}"]])
        _legend(panels[0], _force_legend(panels[0], result, chosen))
        _legend(panels[1], _limit_legend(result, chosen))
        stays = contacts.stays(result)
        modes = {name: stays[name] for name in chosen}
        _show_stays(panels[3], "mode", modes, look.MODES)
        if sides:
            _show_stays(panels[4], "side", sides, look.SIDES)
        width = shown[1] - shown[0]
        _show_ticks(panels[-1], result.events, chosen, list(groups), width)
        panels[-1].set_xlabel("time (s)")
        panels[-1].set_xlim(*shown)
        figure.align_ylabels()
        return look.finish(figure, path)


def _of_contacts(events: EventTable, names: Sequence[str]) -> EventTable:
    return type(events)([e for e in events if e.before and e.element in names])


def _plot_contact(
    axes: Axes,
    result: Result,
    lines: dict[str, Floats],
    name: str,
    quantity: str,
    k: int,
) -> None:
    """Plot one quantity of one contact or joint."""
    colour, dashes = look.line_look(k)
    t, values = lines["t"], lines[f"{name}.{quantity}"]
    if quantity == "slip_velocity":
        # Only what presses slips: the rest is flight.
        is_pressing = np.abs(lines[f"{name}.mode"]) <= 1.0
        values = np.where(is_pressing, values, np.nan)
    n_contact = sum(1 for column in lines if column.endswith(".mode"))
    load = lines.get(f"{name}.load", lines[f"{name}.normal_force"])
    if quantity == "friction_force" and n_contact <= FEW_CONTACTS:
        limit = _static(result, name) * load
        if np.nanmax(limit) > 0.0:
            axes.fill_between(t, -limit, limit, color=colour, alpha=0.2, lw=0.0)
    if quantity == "normal_force" and _has_ends(result, name):
        axes.plot(t, load, color=colour, ls=":", lw=1.4)
    axes.plot(t, values, color=colour, ls=dashes, lw=1.2, label=name)


def _sides(result: Result, name: str, t: Floats) -> list[contacts.Stay]:
    """Return the flanks of a joint that bear, over times with NaN between arcs.

    They are seen half-way between the times: at an event some force is zero, and its
    sign is round-off.
    """
    is_inside = np.diff(t) > 0.0
    begin, end = t[:-1][is_inside], t[1:][is_inside]
    column = f"{name}.side"
    values = _sample(result, 0.5 * (begin + end), [column])[column]
    names = [SIDES[int(value)] for value in values]
    return contacts.merged(names, begin.tolist(), end.tolist())


def _static(result: Result, name: str) -> float:
    """Return the coefficient at rest, 0 for a law without a limit."""
    index = result.system.with_mode.index(name)
    return float(result.system.tables.contact_mu0[index])


def _has_ends(result: Result, name: str) -> bool:
    """Return whether the load of a joint is not the magnitude of its normal force."""
    return f"{name}.front_force" in result.columns


def _force_legend(axes: Axes, result: Result, names: Sequence[str]) -> list[Artist]:
    from matplotlib.lines import Line2D

    handles: list[Artist] = list(axes.get_legend_handles_labels()[0])
    if any(_has_ends(result, name) for name in names):
        handles.append(Line2D([], [], color=look.PALE, ls=":", lw=1.4, label="load"))
    return handles


def _limit_legend(result: Result, names: Sequence[str]) -> list[Artist]:
    from matplotlib.patches import Patch

    has_limit = any(_static(result, name) > 0.0 for name in names)
    if len(names) > FEW_CONTACTS or not has_limit:
        return []
    is_of_joints = any(name in result.system.slides for name in names)
    label = "± mu0 load" if is_of_joints else "± mu0 N"
    return [Patch(fc=look.PALE, alpha=0.3, label=label)]


def _show_stays(
    axes: Axes, what: str, rows: dict[str, list[contacts.Stay]], looks: dict[str, str]
) -> None:
    """Draw a bar for each contact or joint, coloured by its mode or side over time."""
    from matplotlib.patches import Patch

    for row, stays in enumerate(rows.values()):
        place = (row - 0.38, 0.76)
        for mode, colour in looks.items():
            own = [stay for stay in stays if stay.mode == mode]
            if own:
                pieces = [(stay.begin, stay.end - stay.begin) for stay in own]
                axes.broken_barh(pieces, place, fc=colour)
        frame = [(stays[0].begin, stays[-1].end - stays[0].begin)]
        axes.broken_barh(frame, place, fc="none", ec=look.PALE, lw=0.8)
    _rows(axes, list(rows))
    axes.set_ylabel(what)
    seen = {stay.mode for stays in rows.values() for stay in stays}
    handles = [
        Patch(fc=colour, ec=look.PALE, label=look.mode_label(mode))
        for mode, colour in looks.items()
        if mode in seen
    ]
    _legend(axes, handles)


def _show_ticks(
    axes: Axes,
    events: EventTable,
    names: Sequence[str],
    kinds: Sequence[str],
    width: float,
) -> None:
    """Draw a row of ticks for each kind of event, in the colours of their owners.

    What happens to several at once, as far as can be seen, shares the height of a row.
    """
    for row, kind in enumerate(kinds):
        found = [
            (names.index(e.element), e.t, round(e.t / (TIE * width)))
            for e in _of_contacts(events, names)
            if e.kind == kind
        ]
        owners: dict[int, list[int]] = {}
        for k, _, place in found:
            owners.setdefault(place, []).append(k)
        for k in range(len(names)):
            ticks: list[tuple[float, float, float]] = []
            for _, t, place in (item for item in found if item[0] == k):
                own = sorted(set(owners[place]))
                high, low = 0.72 / len(own), row - 0.36
                base = low + own.index(k) * high
                ticks.append((t, base, base + high))
            if ticks:
                colour = look.line_look(k)[0]
                axes.vlines(*zip(*ticks, strict=True), colors=colour, linewidth=1.0)
    _rows(axes, [kind.replace("_", " ") for kind in kinds] or ["none"])
    axes.set_ylabel("event")


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows of a panel, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0.0)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_axisbelow(True)


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
    forces: bool = False,
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
        handles = sketch.draw_on(axes, result, times, names, forces)
        look.fit_plane(figure, axes)
        if handles:
            columns = min(len(handles), 4)
            figure.legend(handles=handles, loc="outside lower center", ncols=columns)
            rows = -(-len(handles) // columns)
            figure.set_figheight(figure.get_figheight() + LEGEND_ROW * rows)
        return look.finish(figure, path)
