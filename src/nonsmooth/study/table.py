"""The table of a study: a row for each run, parameters first, then what was kept."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from nonsmooth import __version__
from nonsmooth.errors import ModelError, NonsmoothWarning, nearest
from nonsmooth.model import Model
from nonsmooth.result import Result
from nonsmooth.study.definition import ABOUT, Prepared, prepare_again
from nonsmooth.study.design import distinct
from nonsmooth.study.index import Row, read_index, runs_folder
from nonsmooth.study.settings import short_path
from nonsmooth.study.units import units_of

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure


class Table(Mapping[str, Any]):
    """What a study has found.

    `table["speed"]` is a column: an array of numbers, NaN where a run has none, or of
    words or lists. Rows are in the order of the points.

    Attributes
    ----------
    parameters, outputs : tuple of str
        Names of columns.
    definition : dict
        The study as plain data, with its seed, tolerances and the library's version.
    dims : dict
        Shape: number of values by dimension; see `to_xarray`.
    path : str or None
        The index it was read from.
    """

    def __init__(
        self,
        definition: dict[str, Any],
        dims: dict[str, int],
        rows: Iterable[Row],
        path: str | None = None,
    ) -> None:
        self.definition, self.dims, self.path = definition, dims, path
        self.parameters = tuple(definition["parameters"])
        self.outputs = tuple(definition["outputs"])
        names = (*self.parameters, *self.outputs, *ABOUT)
        found: dict[str, list[Any]] = {name: [] for name in names}
        # Row by row: all of them at once would take several times the memory.
        for row in rows:
            for name in self.parameters:
                found[name].append(row.point[name])
            for name in self.outputs:
                found[name].append(row.outputs.get(name))
            for name in ABOUT:
                found[name].append(getattr(row, name))
        self._columns: dict[str, Any] = {}
        for name in names:
            self._columns[name] = _column(found.pop(name))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Table:
        """Read the table of a study from its index, also of one that is running."""
        with read_index(path) as found:
            return Table(*found, os.fspath(path))

    def __getitem__(self, name: str) -> Any:
        """Return one column."""
        try:
            return self._columns[name]
        except KeyError:
            near = nearest(name, self._columns)
            raise KeyError(f"no column '{name}'; {near}") from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._columns)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    @property
    def n_run(self) -> int:
        """Number of runs."""
        return len(self._columns["status"])

    def counts(self) -> dict[str, int]:
        """Return the number of runs by status."""
        words, n = np.unique(self["status"], return_counts=True)
        return dict(zip(words.tolist(), n.tolist(), strict=True))

    def failures(self) -> dict[int, str]:
        """Return why runs failed or did not end, by their number."""
        reasons = {"started": "it was interrupted", "waiting": "it has not been run"}
        return {
            k: str(reasons.get(status, self["message"][k]))
            for k, status in enumerate(self["status"].tolist())
            if status != "done"
        }

    def __repr__(self) -> str:
        """Return what is in it, in a few lines."""
        title = self.definition.get("title") or self.definition["system"] or "a model"
        counts = ", ".join(f"{n} {status}" for status, n in self.counts().items())
        lines = [f"<Table of {title}: {self.n_run} runs, {counts}"]
        for name in (*self.parameters, *self.outputs):
            lines.append(f"  {name}: {_in_words(self[name])}")
        return "\n".join(lines) + ">"

    # -- runs --------------------------------------------------------------------

    def point(self, k: int) -> dict[str, Any]:
        """Return the parameters of run k."""
        if not 0 <= k < self.n_run:
            raise ModelError(f"run {k}; there are 0 to {self.n_run - 1}")
        return {name: _plain(self[name][k]) for name in self.parameters}

    @cached_property
    def _ready(self) -> Prepared:
        return prepare_again(self.definition)

    @cached_property
    def _units(self) -> dict[str, str]:
        first = self._ready.model(self.point(0))
        return units_of(self._ready.base, first, self.definition["outputs"])

    def paths_of(self, name: str) -> tuple[str, ...]:
        """Return what a parameter or setting gives its value to."""
        paths = self.definition.get("paths", {}).get(name, name)
        return (paths,) if isinstance(paths, str) else tuple(paths)

    def label(self, name: str) -> str:
        """Return a column's name with its unit, if it is known: "speed (m/s)"."""
        unit = self._units.get(short_path(self.paths_of(name)[0]), "")
        return f"{name} ({unit})" if unit not in ("", "1") else name

    def is_log(self, name: str) -> bool:
        """Return whether a parameter was spread in equal ratios."""
        values: Any = self.definition["parameters"].get(name, {})
        return isinstance(values, dict) and cast(Any, values).get("scale") == "log"

    def model(self, k: int) -> Model:
        """Return the model of run k."""
        return self._ready.model(self.point(k))

    def until(self, k: int) -> float:
        """Return the end of run k, s."""
        return self._ready.until(self.point(k))

    def options(self) -> dict[str, Any]:
        """Return what all runs were made with, as `simulate` takes it."""
        return {**self._ready.study.options(), "assemble": self._ready.study.assemble}

    def kept(self, k: int) -> Path | None:
        """Return where run k was saved, if the study keeps whole runs."""
        # Files of another study may lie there.
        kinds = {given.get("type") for given in self.definition["outputs"].values()}
        if self.path is None or "WholeRun" not in kinds or self["status"][k] != "done":
            return None
        place = runs_folder(self.path) / f"{k}.nsr"
        return place if place.exists() else None

    def run(self, k: int) -> Result:
        """Return run k: as it was saved, or else computed again.

        Raises
        ------
        SolveError
            It fails, as it did in the study; its partial result is in the error.
        """
        point, saved = self.point(k), self.kept(k)
        if saved is not None:
            return Result.load(saved)
        if self.definition["library"] != __version__:
            warnings.warn(
                f"the study was made by nonsmooth {self.definition['library']}, and "
                f"this is {__version__}: the run may differ",
                NonsmoothWarning,
                stacklevel=2,
            )
        return self._ready.simulate(point)

    # -- exports -----------------------------------------------------------------

    def flat(self) -> dict[str, Any]:
        """Return the columns with lists spread over columns of their own, `name.0`."""
        found: dict[str, Any] = {}
        for name, column in self._columns.items():
            if not _is_lists(column):
                found[name] = column
                continue
            lists: list[list[float]] = [x or [] for x in column.tolist()]
            n = max(map(len, lists))
            whole = np.full((len(lists), n), math.nan)
            for k, values in enumerate(lists):
                # The latest values stand last, so that columns are comparable.
                whole[k, n - len(values) :] = values
            found |= {f"{name}.{i}": whole[:, i] for i in range(n)}
        return found

    def _repr_html_(self) -> str:
        """Return the first rows as a notebook shows them."""
        from nonsmooth.result.display import rows_html

        flat = self.flat()
        rows = list(zip(*(column.tolist() for column in flat.values()), strict=True))
        return rows_html(list(flat), rows, repr(self).splitlines()[0].strip("<>"))

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row for each run."""
        import pandas

        return pandas.DataFrame(self._columns)

    def to_xarray(self) -> xarray.Dataset:
        """Return a dataset over the parameters, if they were crossed.

        Each parameter that was listed is a dimension; what was drawn or zipped is a
        coordinate along `sample` or `point`.
        """
        import xarray

        shape = tuple(self.dims.values())
        data: dict[str, Any] = {}
        coordinates: dict[str, Any] = {}
        for name in self.parameters:
            if name in self.dims:
                coordinates[name] = distinct(self[name].tolist())
                if len(coordinates[name]) != self.dims[name]:
                    # A value that is given twice.
                    axis = list(self.dims).index(name)
                    whole = np.reshape(self[name], shape)
                    coordinates[name] = np.moveaxis(whole, axis, 0).reshape(
                        shape[axis], -1
                    )[:, 0]
            else:
                dim = next(d for d in ("sample", "point") if d in self.dims)
                axis = list(self.dims).index(dim)
                whole = np.moveaxis(np.reshape(self[name], shape), axis, 0)
                coordinates[name] = (dim, whole.reshape(shape[axis], -1)[:, 0])
        for name in (*self.outputs, *ABOUT):
            column = self[name]
            if _is_lists(column):
                own = [v for k, v in self.flat().items() if k.startswith(f"{name}.")]
                whole = np.stack(own, axis=1).reshape(*shape, len(own))
                data[name] = ([*self.dims, f"{name}_k"], whole)
            else:
                data[name] = (list(self.dims), np.reshape(column, shape))
        dataset = xarray.Dataset(data, coordinates)
        dataset.attrs = {"title": self.definition.get("title", "")}
        return dataset

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write comma-separated text; numbers read back the same."""
        from nonsmooth.result.samples import write_csv

        write_csv(path, self.flat())

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file."""
        from nonsmooth.result.samples import write_parquet

        write_parquet(path, self.flat())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file of the kind that its suffix names: .csv or .parquet."""
        suffix = Path(path).suffix.lower()
        if suffix not in (".csv", ".parquet"):
            raise ModelError(f"{path}: use .csv or .parquet")
        if suffix == ".csv":
            self.to_csv(path)
        else:
            self.to_parquet(path)

    # -- pictures ----------------------------------------------------------------

    def plot(
        self,
        x: str | None = None,
        y: str | None = None,
        output: str | None = None,
        path: str | None = None,
    ) -> Figure:
        """Plot an output over one parameter, or as a map over two."""
        from nonsmooth.views.study_plots import plot_table

        return plot_table(self, x, y, output, path)

    def page(
        self,
        path: str | os.PathLike[str],
        runs: Literal["kept", "all"] | Sequence[int] = "kept",
    ) -> None:
        """Write a page of HTML: a map, what each run was, the viewer for some of them.

        Parameters
        ----------
        path : path
            Ends in .html.
        runs : "kept", "all" or sequence of int
            Runs that a click opens in the viewer: those that the study keeps whole,
            all, or some, which are computed again where they were not kept. At most
            200.
        """
        from nonsmooth.views.study_page import write_page

        write_page(self, path, runs)


def _in_words(column: Any) -> str:
    """Return what a column holds, in a few words."""
    if column.dtype == float:
        known = column[np.isfinite(column)]
        if len(known) == 0:
            return "no number"
        return f"{known.min():.6g} to {known.max():.6g}"
    if _is_lists(column):
        return "lists"
    known = list(dict.fromkeys(str(x) for x in column.tolist()))
    return ", ".join(known[:3]) + (", ..." if len(known) > 3 else "")


def _is_lists(column: Any) -> bool:
    return column.dtype == object and any(isinstance(x, list) for x in column)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _column(values: Sequence[Any]) -> Any:
    """Return an array: of numbers, of words, or of objects where they are mixed."""
    known = [v for v in values if v is not None]
    if all(isinstance(v, bool) for v in known) and known and len(known) == len(values):
        return np.array(values, dtype=bool)
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in known):
        return np.array([math.nan if v is None else v for v in values], dtype=float)
    if all(isinstance(v, str) for v in known):
        return np.array(["" if v is None else v for v in values], dtype=object)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
