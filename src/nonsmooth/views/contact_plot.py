"""The figure of contacts and joints with friction: forces, slip, modes, events."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import AREAS, MODES, SIDES
from nonsmooth.errors import ModelError, nearest
from nonsmooth.views import contacts, curves
from nonsmooth.views import figure as look
from nonsmooth.views.sampling import sample

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nonsmooth.result import EventTable, Result

Floats = NDArray[np.float64]

# Contacts and joints beyond which a picture is not readable, and whose limits show.
MAX_CONTACTS, FEW_CONTACTS = 12, 3
# Events nearer than this part of a picture cannot be told apart.
TIE = 1e-3
PLOTTED = ("normal_force", "friction_force", "slip_velocity")


def plot_contacts(
    result: Result,
    path: str | os.PathLike[str] | None = None,
    *,
    names: str | Sequence[str] | None = None,
    span: tuple[float, float] | None = None,
) -> Figure:
    """Plot forces, slip, modes and events of contacts and joints with friction.

    The friction force is drawn within its limit at rest, shaded, of a few contacts. At
    a jump both one-sided values are drawn and not joined. Slip is shown where the
    contact presses. Events are ticks in the colour of their contact.

    The normal force of a joint has a sign, that of the flank that pushes; which flanks
    bear is a strip of its own; of an elastic block its four areas have one each, open
    where nothing presses. Where a block tilts in its guide the load on both ends,
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
    chosen = _chosen(result, names)
    shown = (result.t_start, result.t_end) if span is None else span
    if not result.t_start <= shown[0] < shown[1] <= result.t_end:
        raise ModelError(
            f"span = {span!r}; give two times from {result.t_start:g} to "
            f"{result.t_end:g} s"
        )
    columns = [f"{n}.{c}" for n in chosen for c in (*PLOTTED, "mode")]
    columns += [f"{n}.load" for n in chosen if n in result.system.slides]
    lines = curves.sample_arcs(result, columns)
    stays = contacts.stays(result)
    modes: dict[str, list[contacts.Stay]] = {}
    patterns = _patterns(result, chosen, lines["t"])
    for name in chosen:
        modes |= {name: stays[name]} | patterns.pop(name, {})
    sides = _sides(result, chosen, lines["t"])
    groups = look.event_groups(_of_contacts(result.events, chosen))
    heights = [1.6, 1.6, 1.6, 0.45 + 0.22 * len(modes)]
    heights += [0.45 + 0.22 * len(sides)] if sides else []
    heights += [0.45 + 0.2 * max(1, len(groups))]
    with look.style():
        figure = look.new_figure(7.5, 0.5 + sum(heights))
        panels: Any = figure.subplots(
            len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights}
        )
        for axes, quantity in zip(panels[:3], PLOTTED, strict=True):
            for k, name in enumerate(chosen):
                _plot_contact(axes, result, lines, name, quantity, k)
            look.show_events(axes, result.events, is_top=False)
            look.name_values(axes, [result.table[f"{chosen[0]}.{quantity}"]])
        look.legend(panels[0], _force_legend(panels[0], result, chosen))
        look.legend(panels[1], _limit_legend(result, chosen))
        _show_stays(panels[3], "mode", modes, look.MODES)
        if sides:
            _show_stays(panels[4], "side", sides, look.SIDES)
        width = shown[1] - shown[0]
        _show_ticks(panels[-1], result.events, chosen, list(groups), width)
        panels[-1].set_xlabel("time (s)")
        panels[-1].set_xlim(*shown)
        figure.align_ylabels()
        return look.finish(figure, path, result.doubts)


def _chosen(result: Result, names: str | Sequence[str] | None) -> list[str]:
    """Return the contacts and joints to show."""
    known = result.system.with_mode
    chosen = list(known[:MAX_CONTACTS]) if names is None else curves.listed(names)
    for name in chosen:
        if name not in known:
            raise ModelError(f"no contact '{name}'; {nearest(name, known)}")
    if not chosen:
        raise ModelError(
            "there is nothing to plot: the model has no contacts, nor friction in "
            "joints"
        )
    return chosen


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


def _sides(
    result: Result, names: Sequence[str], t: Floats
) -> dict[str, list[contacts.Stay]]:
    """Return the flanks of joints that bear, over times with NaN between arcs.

    They are seen half-way between the times: at an event some force is zero, and its
    sign is round-off.
    """
    columns = {
        n: f"{n}.side"
        for n in names
        # Of an elastic block areas tell more.
        if f"{n}.side" in result.table and f"{n}.{AREAS[0]}.mode" not in result.table
    }
    found = _between(result, t, [*columns.values()], SIDES)
    # Of a slider that never changes its side the sign of the force says enough.
    return {
        name: found[column]
        for name, column in columns.items()
        if len(found[column]) > 1 or _has_ends(result, name)
    }


def _patterns(
    result: Result, names: Sequence[str], t: Floats
) -> dict[str, dict[str, list[contacts.Stay]]]:
    """Return the modes of the areas of elastic blocks, by joint."""
    columns = {
        n: [f"{n}.{area}.mode" for area in AREAS]
        for n in names
        if f"{n}.{AREAS[0]}.mode" in result.table
    }
    found = _between(result, t, [c for own in columns.values() for c in own], MODES)
    return {
        name: {column.removesuffix(".mode"): found[column] for column in own}
        for name, own in columns.items()
    }


def _between(
    result: Result, t: Floats, columns: Sequence[str], words: Mapping[int, str]
) -> dict[str, list[contacts.Stay]]:
    """Return columns of whole numbers in words, half-way between times."""
    if not columns:
        return {}
    is_inside = np.diff(t) > 0.0
    begin, end = t[:-1][is_inside], t[1:][is_inside]
    values = sample(result, 0.5 * (begin + end), columns)
    return {
        column: contacts.merged(
            [words[int(value)] for value in values[column]],
            begin.tolist(),
            end.tolist(),
        )
        for column in columns
    }


def _static(result: Result, name: str) -> float:
    """Return the coefficient at rest, 0 for a law without a limit."""
    index = result.system.with_mode.index(name)
    return float(result.system.tables.contact_mu0[index])


def _has_ends(result: Result, name: str) -> bool:
    """Return whether the load of a joint is not the magnitude of its normal force."""
    return f"{name}.front_force" in result.table


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
    look.legend(axes, handles)


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
