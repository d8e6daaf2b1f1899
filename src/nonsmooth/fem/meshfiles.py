"""Meshes from files, through meshio."""

from __future__ import annotations

import contextlib
import importlib
import io
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nonsmooth.errors import ModelError, show
from nonsmooth.fem.mesh import Floats, Ints, Mesh, make

# meshio's name of a cell: corners, order
CELLS: dict[str, tuple[int, Literal[1, 2]]] = {
    "triangle": (3, 1),
    "triangle6": (3, 2),
    "quad": (4, 1),
    "quad9": (4, 2),
}
LINES = ("line", "line3")


def read(path: str, base: Path) -> Mesh:
    """Read a mesh and its named boundaries from a file in the folder `base`."""
    file = (base / path).resolve()
    if not file.is_relative_to(base.resolve()):
        # A link may lead outside where the path does not.
        raise _error(path, "outside the folder of the model; put it inside")
    if not file.is_file():
        raise _error(path, "there is no such file in the folder of the model")
    found = _load(path, file)
    kinds = [kind for kind in CELLS if kind in found.cells_dict]
    others = sorted({block.type for block in found.cells} - {*CELLS, *LINES, "vertex"})
    if len(kinds) != 1 or others:
        has = ", ".join([*kinds, *others]) or "none"
        raise _error(path, f"it has cells {has}; give one of {', '.join(CELLS)}")
    n, order = CELLS[kinds[0]]
    cells = np.asarray(found.cells_dict[kinds[0]], dtype=np.int64)
    places: Floats = np.asarray(found.points, dtype=np.float64)
    if places.shape[1] > 2 and np.ptp(places[:, 2]) > 1e-9 * np.ptp(places):
        raise _error(path, "it is not plane; give a mesh with the same z everywhere")
    # Only vertices are numbered: files hold middles and loose nodes among them.
    used, corners = np.unique(cells[:, :n], return_inverse=True)
    number = np.full(len(places), -1, dtype=np.int64)
    number[used] = np.arange(len(used))
    names = {key: number[pairs] for key, pairs in _boundaries(found).items()}
    corners = corners.reshape(-1, n).astype(np.int64)
    points = np.ascontiguousarray(places[used, :2])
    middles = places[cells[:, n:], :2] if order == 2 else None
    return make(points, corners, order, names, middles)


def _error(path: str, valid: str) -> ModelError:
    return ModelError(f"MeshFile: path = {show(path)}; {valid}")


def _load(path: str, file: Path) -> Any:
    try:
        meshio: Any = importlib.import_module("meshio")
    except ImportError:
        raise ImportError(
            "mesh files need meshio; install it with: pip install 'nonsmooth[fem]'"
        ) from None
    # meshio prints warnings and errors, and ends the program at some of these.
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            return meshio.read(file)
        except (Exception, SystemExit) as error:
            why = str(error) if isinstance(error, Exception) else ""
            why = " ".join((why.strip() or said.getvalue()).split())
            raise _error(path, f"it cannot be read: {why}") from None


def _boundaries(found: Any) -> dict[str, Ints]:
    """Return the ends of the edges of every named group of lines."""
    names: dict[str, list[Ints]] = {}
    groups = {int(value[0]): key for key, value in found.field_data.items()}
    tags = found.cell_data.get("gmsh:physical")
    for k, block in enumerate(found.cells):
        if block.type not in LINES:
            continue
        ends = np.asarray(block.data, dtype=np.int64)[:, :2]
        if tags is not None and groups:
            for tag in np.unique(tags[k]):
                if int(tag) in groups:
                    chosen = ends[np.asarray(tags[k]) == tag]
                    names.setdefault(groups[int(tag)], []).append(chosen)
        for key, sets in found.cell_sets.items():
            member = np.asarray(sets[k], dtype=np.int64)
            if member.size and not key.startswith("gmsh:") and key not in names:
                names.setdefault(key, []).append(ends[member])
    return {key: np.unique(np.concatenate(x), axis=0) for key, x in names.items()}
