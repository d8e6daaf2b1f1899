"""Waves as pictures: a field over place and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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


def plot_waves(
    result: Result,
    bodies: str | Sequence[str],
    name: str = "velocity.x",
    path: str | None = None,
) -> Figure:
    """Draw a field over place along x and time, in colours with one range.

    Parameters
    ----------
    result : Result
    bodies : str or sequence of str
        Flexible bodies. Values across a body are averaged.
    name : str
        A field of one number, or one component of it, as in "stress.xx".
    path : str, optional
        File to write.
    """
    chosen = [bodies] if isinstance(bodies, str) else list(bodies)
    if not chosen:
        raise ModelError("bodies = []; give at least one")
    t = np.linspace(result.t_start, result.t_end, N_TIMES)
    pictures = [_picture(result, body, name, t) for body in chosen]
    most = max(float(np.nanmax(np.abs(values))) for _, values, _, _ in pictures)
    _, _, label, unit = pictures[0]
    with style():
        figure = new_figure(7.0, 4.5)
        axes = figure.subplots()
        for x, values, _, _ in pictures:
            drawn = axes.pcolormesh(
                x,
                1e6 * t,
                values,
                cmap="RdBu_r",
                vmin=-most,
                vmax=most,
                rasterized=True,
            )
            if values is pictures[-1][1]:
                figure.colorbar(drawn, ax=axes, label=f"{label} ({unit})")
        axes.set_xlabel("x (m)")
        axes.set_ylabel("t (µs)")
        return finish(figure, path)


def _picture(
    result: Result, body: str, name: str, t: Floats
) -> tuple[Floats, Floats, str, str]:
    """Return places, values (time, place), label and unit of a body."""
    first = result.field(body, name, float(t[0]))
    if first.values.ndim > 1:
        parts = ", ".join(f"{name}.{c}" for c in first.components)
        raise ModelError(f"field '{name}' has several components; give one of {parts}")
    x: Floats = first.places[:, 0]
    levels = np.unique(np.round(x, 12))
    edges: Floats = np.linspace(
        float(np.min(x)), float(np.max(x)), min(N_PLACES, len(levels)) + 1
    )
    of = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(of, minlength=len(edges) - 1)
    values = np.empty((len(t), len(edges) - 1))
    for k, at in enumerate(t.tolist()):
        field = result.field(body, name, at)
        total = np.bincount(of, weights=field.values, minlength=len(edges) - 1)
        values[k] = np.divide(
            total, counts, out=np.full(len(counts), np.nan), where=counts > 0
        )
    return 0.5 * (edges[1:] + edges[:-1]), values, first.label, first.unit
