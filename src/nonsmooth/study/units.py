"""Units of the columns of a study, for pictures and pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nonsmooth import gallery
from nonsmooth.columns import columns_of
from nonsmooth.errors import ModelError
from nonsmooth.model import Model
from nonsmooth.pack import pack
from nonsmooth.study.settings import fields, short_path

# Of reducers that read no column.
_OF_KINDS = {"Period": "s", "FirstTime": "s", "EnergyPerCycle": "J"}


def units_of(base: Model | str, model: Model, outputs: Mapping[str, Any]) -> Any:
    """Return units by name: of parameters, and of outputs as a definition has them.

    Parameters
    ----------
    base : str or Model
        Name of a system of the gallery, or a model.
    model : Model
        One of the study's.
    outputs : mapping
        Reducers as plain data; of functions nothing is known.
    """
    found = {short_path(p.name): p.unit for p in fields(model)}
    if isinstance(base, str):
        found |= {p.name: p.unit for p in gallery.parameters(base)}
    columns: Mapping[str, Any] = {}
    if any("column" in given for given in outputs.values()):
        try:
            columns = columns_of(pack(model))
        except ModelError:
            # A study of another release, whose model is not valid in this one.
            columns = {}
    for name, given in outputs.items():
        column = given.get("column")
        unit = columns[column].unit if column in columns else ""
        found[name] = _OF_KINDS.get(given.get("type", ""), unit)
    return found
