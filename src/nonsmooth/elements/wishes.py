"""What a model's author wishes of a run; the command line and `simulate` follow."""

from __future__ import annotations

from dataclasses import dataclass

from nonsmooth.elements.base import Element, quantity


@dataclass(frozen=True, kw_only=True)
class Run(Element, family="run", is_kind=True):
    """How long a model is to run, and what is to be kept of it.

    Files are named by who runs it, never by a model: a model that comes from elsewhere
    writes nothing.
    """

    until: float | None = quantity("s, end of the run", default=None, above=0.0)
    every: float | None = quantity("s, between saved rows", default=None, above=0.0)
    save: tuple[str, ...] = quantity(
        "names of columns, all by default; --save names the file", default=()
    )
    plot: tuple[str, ...] = quantity(
        "names of columns, points or contacts; --plot names the file, reports, app and "
        "notebook open on them",
        default=(),
    )
