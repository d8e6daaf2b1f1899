"""Model files: YAML and JSON, and the schema with which editors check them.

A file holds the same data as the objects. An element is a mapping with its kind
under `type` and its fields by name; what equals its default is left out.

    nonsmooth: 1
    gravity: [0, -9.81]

    bodies:
      - type: RigidBody
        name: arm
        mass: 2
        inertia: 0.1
        points:
          pin: [-0.5, 0]

    joints:
      - type: Revolute
        name: pin
        b: arm.pin

A file may name a system of the gallery instead:

    nonsmooth: 1
    gallery: pendulum_chain
    parameters: {length: 2}

Reading never runs code: `type` is looked up among the registered kinds, and a kind
defined in a user's script is found once that script has been imported. Scalars
follow YAML 1.2, so 1e6 is a number while `on`, `no` and 2026-01-31 are text. A
refusal names the file, the line, the path, the element, the value and the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from nonsmooth.elements.base import Element
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.meshes import MeshFile
from nonsmooth.errors import ModelError
from nonsmooth.files import replacing
from nonsmooth.io import json_text, yaml_text
from nonsmooth.io.frame import SIZE_LIMIT, VERSION, VERSION_KEY
from nonsmooth.io.json_schema import schema
from nonsmooth.io.plain import fields
from nonsmooth.io.reader import Gallery, read, read_part
from nonsmooth.io.words import is_unicode
from nonsmooth.model import Model

__all__ = [
    "SIZE_LIMIT",
    "VERSION",
    "Format",
    "Gallery",
    "dumps",
    "from_dict",
    "load",
    "load_part",
    "loads",
    "save",
    "schema",
    "to_dict",
]

Format = Literal["yaml", "json"]

_FORMATS: Mapping[str, Format] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def to_dict(model: Model) -> dict[str, Any]:
    """Return a model as plain data: mappings, lists, text and numbers."""
    return {VERSION_KEY: VERSION, **fields(model)}


def from_dict(
    data: object, *, source: str = "", gallery: Gallery | None = None
) -> Model:
    """Build a model from plain data.

    Parameters
    ----------
    data : mapping
        As `to_dict` returns it.
    source : str
        Where the data comes from; messages begin with it.
    gallery : callable, optional
        Called as `gallery(name, parameters)` for data that names a gallery system.
        It returns the model, or None for an unknown name.

    Raises
    ------
    ModelError
        With source, path, element, value and what would be valid.
    """
    return read(data, source, gallery)


def loads(
    text: str,
    format: Format = "yaml",
    *,
    source: str = "",
    gallery: Gallery | None = None,
    folder: str | Path | None = None,
) -> Model:
    """Build a model from text; see `from_dict` for the rest.

    Its mesh files are looked for in the folder, if one is given.
    """
    _check_format(format)
    if not is_unicode(text):
        raise ModelError(f"{source or 'text'}: not valid Unicode; use UTF-8")
    if len(text.encode()) > SIZE_LIMIT:
        raise _too_large(source, "split it")
    if format == "json":
        model = read(json_text.parse(text, source), source, gallery)
    else:
        document = yaml_text.Document(text, source)
        model = read(document.data, source, gallery, document.line)
    for mesh in _mesh_files(model) if folder is not None else ():
        object.__setattr__(mesh, "folder", str(folder))
    return model


def load(path: str | Path, *, gallery: Gallery | None = None) -> Model:
    """Read a model from a `.yaml`, `.yml` or `.json` file.

    Raises `OSError` if the file cannot be read, `ModelError` if it is not a model.
    """
    path = Path(path)
    format = _format_of(path)
    text = _text_of(path)
    return loads(text, format, source=str(path), gallery=gallery, folder=path.parent)


def load_part(path: str | Path, key: str, family: type[Element]) -> Element:
    """Read a file that holds one element under a key, and no model."""
    path = Path(path)
    format, source = _format_of(path), str(path)
    text = _text_of(path)
    if format == "json":
        return read_part(key, family, json_text.parse(text, source), source)
    document = yaml_text.Document(text, source)
    return read_part(key, family, document.data, source, document.line)


def _text_of(path: Path) -> str:
    """Return the text of a file that is not too large."""
    source = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(SIZE_LIMIT + 1)
    except ValueError:  # a null byte, or what is not Unicode
        raise ModelError(f"{source!r}: not a valid file name") from None
    if len(raw) > SIZE_LIMIT:
        raise _too_large(source, "split it")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ModelError(
            f"{source}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8; "
            "save the file as UTF-8"
        ) from None


def dumps(model: Model, format: Format = "yaml") -> str:
    """Return a model as text, such that `loads` gives an equal model."""
    _check_format(format)
    data = to_dict(model)
    text = json_text.dump(data) + "\n" if format == "json" else yaml_text.dump(data)
    if len(text.encode()) > SIZE_LIMIT:
        raise _too_large(model.label(), "shorten its tables")
    return text


def save(model: Model, path: str | Path) -> None:
    """Write a model to a `.yaml`, `.yml` or `.json` file.

    Mesh files are copied beside it, unless they are there: a model file finds them from
    its own folder.
    """
    path = Path(path)
    text = dumps(model, _format_of(path))
    for mesh in _mesh_files(model):
        _take_along(mesh, path.parent)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _mesh_files(model: Model) -> list[MeshFile]:
    """Return the mesh files of a model's bodies."""
    meshes = [b.mesh for b in model.bodies if isinstance(b, FlexibleBody)]
    return [mesh for mesh in meshes if isinstance(mesh, MeshFile)]


def _take_along(mesh: MeshFile, folder: Path) -> None:
    """Copy a mesh file into a folder, if it is found and is not there."""
    source, target = Path(mesh.folder, mesh.path), folder / mesh.path
    if not source.is_file() or (target.exists() and target.samefile(source)):
        return
    content = source.read_bytes()
    if target.exists():
        if target.read_bytes() != content:
            there = f"another file of this name is in {folder}; choose another folder"
            raise mesh.fail("path", mesh.path, there)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as temporary:
        temporary.write_bytes(content)


def _format_of(path: Path) -> Format:
    format = _FORMATS.get(path.suffix.lower())
    if format is None:
        raise ModelError(
            f"{path}: file name ends in '{path.suffix}'; use {', '.join(_FORMATS)}"
        )
    return format


def _check_format(format: str) -> None:
    if format not in _FORMATS.values():
        raise ModelError(f"format = {format!r}; use 'yaml' or 'json'")


def _too_large(who: str, remedy: str) -> ModelError:
    size = f"larger than {SIZE_LIMIT // 1_000_000} MB, the limit of a model file"
    return ModelError(f"{who or 'text'}: {size}; {remedy}")
