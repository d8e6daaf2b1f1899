"""Fields as VTU files and a PVD series, which ParaView opens.

ASCII, with numbers that read back to the same; a file for each body and instant.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.errors import ModelError
from nonsmooth.files import replacing
from nonsmooth.result import Field, Result

# VTK's numbers of cells, by their nodes here; corners come first in both.
_KINDS = {2: 3, 3: 5, 4: 9, 6: 22, 9: 28}
# Instants of a series by default.
N_TIMES = 50


def save_vtu(
    result: Result,
    folder: str | os.PathLike[str],
    t: ArrayLike | None = None,
    names: Sequence[str] = ("displacement", "velocity", "stress", "von_mises"),
) -> list[Path]:
    """Write fields of all flexible bodies, and `series.pvd`, which lists the files.

    Parameters
    ----------
    result : Result
    folder : path
        Made where there is none.
    t : array_like, optional
        Times, s; fifty over the run by default.
    names : sequence of str
        Fields, see `Result.field`.
    """
    bodies = [b.name for b in result.system.model.bodies if isinstance(b, FlexibleBody)]
    if not bodies:
        raise ModelError("no body is flexible: there are no fields to write")
    if t is None:
        t = np.linspace(result.t_start, result.t_end, N_TIMES)
    times: list[float] = np.atleast_1d(np.asarray(t, dtype=float)).tolist()
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    lines: list[str] = []
    for k, at in enumerate(times):
        for part, body in enumerate(bodies):
            fields = result.fields(body, names, at)
            path = place / f"{body}_{k:04d}.vtu"
            with replacing(path) as file:
                file.write_text(_vtu(fields), encoding="utf-8")
            written.append(path)
            lines.append(
                f'<DataSet timestep="{at!r}" part="{part}" file="{path.name}"/>'
            )
    whole = "\n".join(lines)
    text = (
        '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n'
        f"<Collection>\n{whole}\n</Collection>\n</VTKFile>\n"
    )
    series = place / "series.pvd"
    with replacing(series) as file:
        file.write_text(text, encoding="utf-8")
    return [*written, series]


def _vtu(fields: Sequence[Field]) -> str:
    first = fields[0]
    cells: Any = first.cells
    n, n_cell, n_local = len(first.nodes), *map(int, cells.shape)
    places = np.zeros((n, 3))
    # Displacements warp the mesh there: places are undeformed.
    shift = [f.values for f in fields if f.name == "displacement"]
    places[:, :2] = first.places - (shift[0] if shift else 0.0)
    data = "".join(_array(f.name, _in_space(f)) for f in fields)
    ends = n_local * np.arange(1, n_cell + 1, dtype=np.int64)
    kinds = np.full(n_cell, _KINDS[n_local])
    return (
        '<?xml version="1.0"?>\n'
        '<VTKFile type="UnstructuredGrid" version="0.1">\n<UnstructuredGrid>\n'
        f'<Piece NumberOfPoints="{n}" NumberOfCells="{n_cell}">\n'
        f"<Points>\n{_array('Points', places)}</Points>\n<Cells>\n"
        f"{_array('connectivity', first.cells)}{_array('offsets', ends)}"
        f"{_array('types', kinds)}</Cells>\n<PointData>\n{data}</PointData>\n"
        "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"
    )


def _in_space(field: Field) -> NDArray[np.float64]:
    """Return a vector with its third component."""
    values = field.values
    if field.components == ("x", "y"):
        return np.column_stack((values, np.zeros(len(values))))
    return values


def _array(name: str, values: NDArray[np.generic]) -> str:
    kind = "Float64" if values.dtype.kind == "f" else "Int64"
    table = values.reshape(len(values), -1)
    text = "\n".join(" ".join(map(repr, row)) for row in table.tolist())
    return (
        f'<DataArray type="{kind}" Name="{name}" '
        f'NumberOfComponents="{table.shape[1]}" format="ascii">\n{text}\n</DataArray>\n'
    )
