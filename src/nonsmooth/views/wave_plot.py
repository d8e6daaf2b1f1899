"""Waves as pictures: a field over place and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ModelError
from nonsmooth.views.figure import finish, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.result import Result

Floats = NDArray[np.float64]

# Instants, and places along each body.
N_TIMES, N_PLACES = 300, 300
# Least end of a run, s, factor and unit of its time axis.
UNITS = ((1.0, 1.0, "s"), (2e-3, 1e3, "ms"), (0.0, 1e6, "µs"))


def plot_waves(
    result: Result,
    bodies: str | Sequence[str],
    name: str = "velocity.x",
    path: str | None = None,
    along: Literal["x", "y"] | None = None,
) -> Figure:
    """Draw a field over place and time, in colours with one range.

    Parameters
    ----------
    result : Result
    bodies : str or sequence of str
        Flexible bodies. Values across a body are averaged.
    name : str
        A field of one number, or one component of it, as in "stress.xx".
    path : str, optional
        File to write.
    along : "x" or "y", optional
        Axis of the places; that along which the bodies are longer by default.
    """
    chosen = [bodies] if isinstance(bodies, str) else list(bodies)
    if not chosen:
        raise ModelError("bodies = []; give at least one")
    t = np.linspace(result.t_start, result.t_end, N_TIMES)
    axis = _axis(result, chosen, along)
    pictures = [_picture(result, body, name, t, axis) for body in chosen]
    factor, unit_of_time = next(u for u in UNITS if result.t_end >= u[0])[1:]
    most = max(float(np.max(np.abs(values))) for _, values, _, _ in pictures)
    _, _, label, unit = pictures[0]
    with style():
        figure = new_figure(7.0, 4.5)
        axes = figure.subplots()
        for x, values, _, _ in pictures:
            drawn = axes.pcolormesh(
                x,
                factor * t,
                values,
                cmap="RdBu_r",
                vmin=-most,
                vmax=most,
                rasterized=True,
            )
            if values is pictures[-1][1]:
                figure.colorbar(drawn, ax=axes, label=f"{label} ({unit})")
        axes.set_xlabel(f"{'xy'[axis]} (m)")
        axes.set_ylabel(f"t ({unit_of_time})")
        return finish(figure, path, result.doubts)


def _axis(result: Result, bodies: Sequence[str], along: str | None) -> int:
    """Return the axis of the places, 0 or 1."""
    if along is not None:
        if along not in ("x", "y"):
            raise ModelError(f"along = {along!r}; give 'x' or 'y'")
        return "xy".index(along)
    begin = result.t_start
    places = [result.field(b, "displacement", begin).places for b in bodies]
    return int(np.argmax(np.ptp(np.concatenate(places), axis=0)))


def _picture(
    result: Result, body: str, name: str, t: Floats, axis: int
) -> tuple[Floats, Floats, str, str]:
    """Return places, values (time, place), label and unit of a body."""
    first = result.field(body, name, float(t[0]))
    if first.values.ndim > 1:
        parts = ", ".join(f"{name}.{c}" for c in first.components)
        raise ModelError(f"field '{name}' has several components; give one of {parts}")
    x: Floats = first.places[:, axis]
    levels = np.unique(np.round(x, 12))
    n = min(N_PLACES, len(levels))
    while True:
        edges: Floats = np.linspace(float(np.min(x)), float(np.max(x)), n + 1)
        of = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, n - 1)
        counts = np.bincount(of, minlength=n)
        # Not finer than the mesh, which may be uneven.
        if counts.all() or n == 1:
            break
        n = max(1, int(0.9 * n))
    values = np.empty((len(t), len(edges) - 1))
    for k, at in enumerate(t.tolist()):
        field = result.field(body, name, at)
        total = np.bincount(of, weights=field.values, minlength=len(edges) - 1)
        values[k] = total / counts
    return 0.5 * (edges[1:] + edges[:-1]), values, first.label, first.unit
