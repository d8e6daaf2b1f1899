"""Systems by name: of the gallery, or in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nonsmooth import gallery
from nonsmooth.errors import ModelError, nearest
from nonsmooth.model import Model
from nonsmooth.study.settings import with_field

MODEL_SUFFIXES = (".yaml", ".yml", ".json")


def is_file(system: str) -> bool:
    """Return whether a system is meant as a file, not as one of the gallery."""
    has_suffix = Path(system).suffix.lower() in MODEL_SUFFIXES
    return has_suffix or os.sep in system or "/" in system


def _from_gallery(name: str, parameters: dict[str, Any]) -> Model:
    return gallery.build(name, **parameters)


def read_file(path: str) -> Model:
    """Return the model of a file, which may name a system of the gallery."""
    from nonsmooth import io

    return io.load(path, gallery=_from_gallery)


def build_model(
    system: str | Model, chosen: Mapping[str, Any], where: str = ""
) -> Model:
    """Return a model with values chosen: keywords of the gallery, fields by their path.

    Parameters
    ----------
    system : str or Model
        Name of a system of the gallery, a model file, or a model.
    chosen : mapping
        Values by keyword (no dot) or path, `sole.friction.mu`; see `with_field`.
    where : str
        What messages about a value begin with.
    """
    keywords = {key: value for key, value in chosen.items() if "." not in key}
    if isinstance(system, str) and not is_file(system):
        if system not in gallery.names():
            raise ModelError(
                f"no built-in system '{system}'; {nearest(system, gallery.names())} "
                f"(a model file ends in {', '.join(MODEL_SUFFIXES)})"
            )
        model = gallery.build(system, **keywords)
    else:
        if keywords:
            key = next(iter(keywords))
            raise ModelError(
                f"{where}{key}: in a file, name an element's field: {where}crank.mass"
                f"{'=2' if where else ''}"
            )
        model = read_file(system) if isinstance(system, str) else system
    for key, value in chosen.items():
        if "." in key:
            model = with_field(model, key, value, f"{where}{key}")
    return model
