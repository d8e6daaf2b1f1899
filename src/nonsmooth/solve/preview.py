"""A model as it starts, before any run: a picture, with what is to be said of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.forces import Force
from nonsmooth.elements.joints import Joint
from nonsmooth.errors import ModelError, SolveError
from nonsmooth.model import Model
from nonsmooth.pack import System, pack
from nonsmooth.pack.magnitudes import notes_on_angles
from nonsmooth.solve.simulate import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nonsmooth.views.stage import Stage

# A run as short as this shows the forces and modes of the start, s.
INSTANT = 1e-9


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The start of a model."""

    stage: Stage  # the start; columns that are not known are NaN
    warnings: tuple[str, ...]  # sentences
    is_valid: bool  # whether it can run


def preview(model: Model | System) -> Preview:
    """Return a model as it starts; one that cannot run, as far as it is known."""
    from nonsmooth.views.meshes import skins_of
    from nonsmooth.views.sketch import stage_of
    from nonsmooth.views.solids import still_skins
    from nonsmooth.views.source import start_values
    from nonsmooth.views.stage import Stage

    system = model if isinstance(model, System) else pack(model)
    found = [*_loose(system.model), *notes_on_angles(system.model)]
    try:
        result = simulate(system, INSTANT)
    except (ModelError, SolveError) as error:
        values = start_values(system, 0.0)
        for name in system.with_mode:
            values[f"{name}.mode"] = np.full(1, 2.0)
        skins = {**skins_of(system), **still_skins(system)}
        stage = Stage(system=system, values=values, n=1, skins=skins)
        return Preview(stage=stage, warnings=(str(error), *found), is_valid=False)
    # What the scheme of full bodies says is of the run.
    remarks = () if system.full else result.remarks
    warnings = tuple(dict.fromkeys((*remarks, *found)))
    stage = stage_of(result, np.array([result.t_start]), scale=1.0)
    return Preview(stage=stage, warnings=warnings, is_valid=True)


def _loose(model: Model) -> Iterator[str]:
    """Yield a sentence for each body that nothing holds."""
    held: set[str] = set()
    for element in model.elements():
        if isinstance(element, Joint | Force | Contact):
            held |= {element.a.partition(".")[0], element.b.partition(".")[0]}
    for body in model.bodies:
        if body.has_mass and body.name not in held:
            yield f"body '{body.name}': it has no joint, force or contact"


def draw(
    model: Model | System | Preview,
    path: str | os.PathLike[str] | None = None,
    *,
    names: bool = True,
    forces: bool = False,
) -> Figure:
    """Draw a model as it starts, with names, and with warnings in place.

    What a warning names has a red ring; the sentences stand above. A model whose start
    is refused is drawn, too, and says why.

    Parameters
    ----------
    model : Model, System or Preview
    path : str or path, optional
        File to write; its ending decides the format.
    names : bool
        Whether to write the names of the elements.
    forces : bool
        Whether to draw the forces of contacts, and of joints with friction.
    """
    from nonsmooth.views import figure as look
    from nonsmooth.views.plots import show_stage

    start = model if isinstance(model, Preview) else preview(model)
    known = {element.name for element in start.stage.elements}
    quoted = re.findall(r"'([^']+)'", " ".join(start.warnings))
    marked = {name for word in quoted for name in (word, word.partition(".")[0])}
    with look.style():
        return show_stage(
            start.stage,
            np.zeros(1),
            path,
            has_names=names,
            has_forces=forces and start.is_valid,
            marked=sorted(marked & known),
            above=start.warnings,
        )


def shown(model: Model | System) -> str:
    """Return what a notebook shows of a model."""
    from nonsmooth.views.notebook import words_and_picture

    return words_and_picture(model, lambda: draw(model))
