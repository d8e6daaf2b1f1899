"""Named columns at chosen times."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import Column
from nonsmooth.errors import nearest
from nonsmooth.files import replacing

if TYPE_CHECKING:
    import pandas
    import xarray

Floats = NDArray[np.float64]


class Samples(Mapping[str, Floats]):
    """Named columns of a result at chosen times; `samples["t"]` are the times."""

    def __init__(self, columns: dict[str, Floats], table: Mapping[str, Column]) -> None:
        self._columns, self._table = columns, table

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

    def to_numpy(self) -> Floats:
        """Return all columns side by side, `t` first."""
        return np.column_stack(list(self._columns.values()))

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame."""
        import pandas

        return pandas.DataFrame(self._columns)

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
        with replacing(path) as place, place.open("w", encoding="utf-8") as file:
            file.write(",".join(self._columns) + "\n")
            for row in self.to_numpy().tolist():
                file.write(",".join(map(repr, row)) + "\n")

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file."""
        import pyarrow
        import pyarrow.parquet

        table: Any = getattr(pyarrow, "table")(dict(self._columns))  # noqa: B009
        with replacing(path) as place:
            pyarrow.parquet.write_table(table, place)
