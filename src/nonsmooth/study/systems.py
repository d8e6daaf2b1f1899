"""Systems by name: of the gallery, or in a file."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from nonsmooth import gallery
from nonsmooth.errors import ModelError, nearest
from nonsmooth.model import Model
from nonsmooth.study.settings import refused, with_fields

MODEL_SUFFIXES = (".yaml", ".yml", ".json")
# A model file says so near its beginning; other YAML files are not worth listing. The
# schema has the word too, but no version after it.
SIGN, SIGN_WITHIN = re.compile(rb"\bnonsmooth[\"']?\s*:\s*\d"), 65_536
_IS_STUDY = re.compile(rb"^[{\s]*[\"']?study[\"']?\s*:", re.MULTILINE)
# Entries of a folder that are looked at, to say what may have been meant.
MAX_ENTRIES = 1000


def is_file(system: str) -> bool:
    """Return whether a system is meant as a file, not as one of the gallery."""
    has_suffix = Path(system).suffix.lower() in MODEL_SUFFIXES
    return has_suffix or os.sep in system or "/" in system


def files_in(folder: Path, what: Literal["model", "study"] = "model") -> list[Path]:
    """Return the files of a folder that hold models, or studies, by name."""
    try:
        entries = sorted(folder.iterdir())[:MAX_ENTRIES]
    except OSError:
        return []
    found: list[Path] = []
    for path in entries:
        if path.suffix.lower() in MODEL_SUFFIXES and path.is_file():
            with contextlib.suppress(OSError), path.open("rb") as file:
                head = file.read(SIGN_WITHIN)
                is_study = _IS_STUDY.search(head) is not None
                if SIGN.search(head) and is_study == (what == "study"):
                    found.append(path)
    return found


def unknown(
    name: str, built_in: Iterable[str], what: Literal["model", "study"] = "model"
) -> ModelError:
    """Return the error for what is neither built in nor a file: what may be meant."""
    path, kind = Path(name), "system" if what == "model" else "study"
    if path.is_dir():
        files = [file.name for file in files_in(path, what)]
        shown = ", ".join(files[:8]) + (", ..." if len(files) > 8 else "")
        there = (
            f"name a {what} file in it: {shown}"
            if files
            else f"it has no {what}; give a file"
        )
        return ModelError(f"{name}: this is a folder; {there}")
    files = files_in(path.parent, what)
    # Endings are alike, and would make any two names near each other.
    named = {one: one for one in built_in} | {file.stem: str(file) for file in files}
    close = difflib.get_close_matches(path.stem, named, n=1)
    hint = f"did you mean '{named[close[0]]}'?" if close else ""
    if not is_file(name):
        suffixes = ", ".join(MODEL_SUFFIXES)
        hint = hint or nearest("", named.values())
        return ModelError(
            f"no built-in {kind} '{name}'; {hint} (a {what} file ends in {suffixes})"
        )
    if not hint and files:
        hint = nearest("", map(str, files))
    hint = hint or f"no {what} file is beside it"
    return ModelError(f"{name}: No such file or directory; {hint}")


def _from_gallery(name: str, parameters: dict[str, Any]) -> Model:
    return gallery.build(name, **parameters)


def read_file(path: str) -> Model:
    """Return the model of a file, which may name a system of the gallery."""
    from nonsmooth import io

    if Path(path).is_dir():
        raise unknown(path, gallery.names())
    try:
        return io.load(path, gallery=_from_gallery)
    except FileNotFoundError:
        raise unknown(path, gallery.names()) from None


def _built(system: str, keywords: Mapping[str, Any], where: str) -> Model:
    """Return a system of the gallery; a refusal names what was set, as it was set."""
    try:
        return gallery.build(system, **keywords)
    except ModelError as error:
        text = str(error)
        if where:
            unknown = [k for k in keywords if f"no parameter '{k}'" in text]
            named = [k for k in keywords if text.startswith(f"{system}: {k} = ")]
            blamed = unknown or named or list(keywords)
            if unknown:
                text = f"{where}{unknown[0]}: {text}"
            elif len(blamed) == 1:
                key = blamed[0]
                text = refused(f"{where}{key}", key, keywords[key], text)
            elif blamed:
                given = " ".join(f"{where}{k}={v}" for k, v in keywords.items())
                text = f"{given}: {text}"
        raise ModelError(text) from None


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
            raise unknown(system, gallery.names())
        model = _built(system, keywords, where)
    else:
        if keywords:
            key = next(iter(keywords))
            raise ModelError(
                f"{where}{key}: in a file, name an element's field: {where}crank.mass"
                f"{'=2' if where else ''}"
            )
        model = read_file(system) if isinstance(system, str) else system
    return with_fields(model, {k: v for k, v in chosen.items() if "." in k}, where)
