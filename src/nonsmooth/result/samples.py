"""Named columns at chosen times."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.columns import Column
from nonsmooth.errors import ModelError, nearest, show
from nonsmooth.files import replacing
from nonsmooth.result.display import rows_html

if TYPE_CHECKING:
    import pandas
    import xarray

Floats = NDArray[np.float64]
# Columns in a `repr`.
MAX_SHOWN = 20


class Samples(Mapping[str, Floats]):
    """Named columns of a result at chosen times; `samples["t"]` are the times."""

    def __init__(self, columns: dict[str, Floats], table: Mapping[str, Column]) -> None:
        self._columns, self._table = columns, table

    def __repr__(self) -> str:
        """Return names, units and ranges, a line each."""
        lines = [f"<Samples at {len(self['t'])} instants, least .. greatest:"]
        for name, values in list(self._columns.items())[:MAX_SHOWN]:
            unit = self.units[name]
            low, high = (np.min(values), np.max(values)) if len(values) else (0.0, 0.0)
            lines.append(f"  {name}  {low:.6g} .. {high:.6g} {unit}".rstrip())
        if len(self) > MAX_SHOWN:
            lines.append(f"  ... and {len(self) - MAX_SHOWN} more")
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        """Return the first instants as a notebook shows them."""
        names = list(self._columns)[:MAX_SHOWN]
        head = [f"{n} ({self.units[n]})" if self.units[n] else n for n in names]
        rows = list(zip(*(self[n].tolist() for n in names), strict=True))
        note = f"Samples at {len(rows)} instants, {len(self)} columns"
        return rows_html(head, rows, note)

    def __getitem__(self, name: str) -> Floats:
        """Return one column."""
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(
                f"no column '{name}'; {nearest(name, self._columns)}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._columns)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    @property
    def units(self) -> dict[str, str]:
        """Unit of each column, "" of one without."""
        return {n: self._table[n].unit if n in self._table else "s" for n in self}

    def to_numpy(self) -> Floats:
        """Return all columns side by side, `t` first."""
        return np.column_stack(list(self._columns.values()))

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame; `frame.attrs["units"]` has the units by column."""
        import pandas

        frame = pandas.DataFrame(self._columns)
        frame.attrs = {"units": self.units}
        return frame

    def to_xarray(self) -> xarray.Dataset:
        """Return a dataset over the dimension t, with labels and units."""
        import xarray

        dataset = xarray.Dataset({k: ("t", v) for k, v in self._columns.items()})
        dataset["t"].attrs = {"long_name": "time", "units": "s"}
        for name in dataset.data_vars:
            column = self._table[str(name)]
            dataset[name].attrs = {"long_name": column.label, "units": column.unit}
        return dataset

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write comma-separated text that reads back to the same numbers."""
        write_csv(path, self._columns)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file, with the unit of each column in its metadata."""
        write_parquet(path, self._columns, self.units)


def times_of(t: ArrayLike) -> Floats:
    """Return times as an array; refuse what is none."""
    try:
        return np.atleast_1d(np.asarray(t, dtype=float))
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"t = {show(t)}; give times, in s") from None


def time_of(t: Any) -> Floats:
    """Return one time as an array; refuse what is none."""
    times = times_of(t)
    if times.shape != (1,):
        raise ModelError(f"t = {show(t)}; give one time, in s")
    return times


def names_of(names: Any) -> list[str] | None:
    """Return names of columns as a list; refuse what is none."""
    if names is None:
        return None
    is_list = isinstance(names, Iterable) and not isinstance(names, str | bytes)
    chosen: list[Any] = list(cast(Iterable[Any], names)) if is_list else [names]
    if not all(isinstance(name, str) for name in chosen):
        given = show(cast(object, names))
        raise ModelError(f"names = {given}; give names of columns, as text")
    return chosen


def write_csv(path: str | os.PathLike[str], columns: Mapping[str, Any]) -> None:
    """Write columns of numbers and words as comma-separated text."""
    with replacing(path) as place, place.open("w", encoding="utf-8", newline="") as f:
        # Numbers are written by repr, which reads back to the same.
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(x.tolist() for x in columns.values()), strict=True))


def write_parquet(
    path: str | os.PathLike[str],
    columns: Mapping[str, Any],
    units: Mapping[str, str] | None = None,
) -> None:
    """Write columns of numbers and words as a Parquet file.

    The units stand in each field's metadata, and as JSON under "units" in the file's.
    """
    import pyarrow
    import pyarrow.parquet

    arrow: Any = pyarrow  # its types are not known
    table = arrow.table(dict(columns))
    if units:
        fields = [f.with_metadata({"unit": units[f.name]}) for f in table.schema]
        schema = arrow.schema(fields, metadata={"units": json.dumps(dict(units))})
        table = table.cast(schema)
    with replacing(path) as place:
        pyarrow.parquet.write_table(table, place)
