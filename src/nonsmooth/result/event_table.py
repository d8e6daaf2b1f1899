"""The table of events, kept as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from nonsmooth.result.display import rows_html

if TYPE_CHECKING:
    import pandas

Floats = NDArray[np.float64]
Pair = tuple[float, float]

# What a record has beside its time: words, and pairs of numbers where bit k of `has` is
# set.
TEXTS = ("element", "kind", "action", "before", "after", "cause")
PAIRS = ("slip_velocity", "normal_force", "friction_force", "impulse")
ROW: Any = np.dtype(
    [
        ("t", "f8"),
        ("has", "u1"),
        *((name, "i4") for name in TEXTS),
        *((name, "f8", 2) for name in PAIRS),
    ]
)
# By the first part of a column's name.
UNITS = {"slip_velocity": "m/s", "normal_force": "N", "friction_force": "N"}
UNITS["impulse"] = "N s"
# Records made at a time.
CHUNK = 4096


@dataclass(frozen=True, kw_only=True)
class EventRecord:
    """One event: when, which element, what happened.

    Of a contact also its modes, slip velocity and forces before and after.
    """

    t: float  # s
    element: str
    kind: str  # "rising" or "falling" for a user's event
    action: str = "record"  # or "stop"
    before: str = ""  # mode of a contact
    after: str = ""
    cause: str = ""  # contact whose event changed this one's mode, if another's
    slip_velocity: Pair | None = None  # m/s
    normal_force: Pair | None = None  # N
    friction_force: Pair | None = None  # N
    impulse: Pair | None = None  # N s, along the normal and the tangent

    def __str__(self) -> str:
        """Return a readable line."""
        line = f"{self.t:16.12g} s  {self.element:<16} {self.kind:<12}"
        if not self.before:
            return line.rstrip()
        line += f"{self.before:>8} -> {self.after:<8}"
        for symbol, pair, unit in (
            ("v_t", self.slip_velocity, "m/s"),
            ("N", self.normal_force, "N"),
            ("F_t", self.friction_force, "N"),
        ):
            if pair is not None:
                old, new = (f"{value + 0.0:.4g}" for value in pair)
                change = old if old == new else f"{old} -> {new}"
                line += f"  {symbol} {change} {unit}"
        if self.impulse is not None:
            line += "  impulse {:.4g}, {:.4g} N s".format(*self.impulse)
        return line + (f"  (by {self.cause})" if self.cause else "")

    @staticmethod
    def columns() -> tuple[str, ...]:
        """Return the names of what `row` gives."""
        pairs = ("slip_velocity", "normal_force", "friction_force")
        sides = tuple(
            f"{name}_{side}" for name in pairs for side in ("before", "after")
        )
        texts = ("element", "kind", "action", "before", "after", "cause")
        return ("t", *texts, *sides, "impulse_n", "impulse_t")

    def row(self) -> tuple[float | str, ...]:
        """Return the record as plain values; NaN for what it does not have."""
        nothing = (math.nan, math.nan)
        pairs = (self.slip_velocity, self.normal_force, self.friction_force)
        values = (v for pair in (*pairs, self.impulse) for v in pair or nothing)
        texts = (self.element, self.kind, self.action)
        return (self.t, *texts, self.before, self.after, self.cause, *values)


class EventTable(Sequence[EventRecord]):
    """The events of a run, in order of time.

    A long run has hundreds of thousands: they are kept as rows of numbers, and a record
    is made where one is asked for.
    """

    def __init__(self, records: Sequence[EventRecord] = ()) -> None:
        words: dict[str, int] = {}
        rows: Any = np.zeros(len(records), dtype=ROW)
        for row, record in zip(rows, records, strict=True):
            row["t"] = record.t
            for name in TEXTS:
                row[name] = words.setdefault(getattr(record, name), len(words))
            for k, name in enumerate(PAIRS):
                pair = getattr(record, name)
                if pair is not None:
                    row["has"] |= 1 << k
                    row[name] = pair
        self._rows = rows
        self._words: tuple[str, ...] = tuple(words)

    @classmethod
    def of_rows(cls, rows: Any, words: Sequence[str]) -> EventTable:
        """Return the table of given rows of `ROW`, whose texts are numbers of words."""
        table = cls()
        table._rows, table._words = rows, tuple(words)
        return table

    @classmethod
    def joined(cls, tables: Sequence[EventTable], place: dict[str, int]) -> EventTable:
        """Return the events of several tables in order of time, then of elements."""
        words: dict[str, int] = {}
        rows: list[Any] = [np.zeros(0, dtype=ROW)]
        for table in tables:
            own = np.array([words.setdefault(w, len(words)) for w in table._words])
            rows.append(table._rows.copy())
            for name in TEXTS if len(own) else ():
                rows[-1][name] = own[rows[-1][name]]
        found = np.concatenate(rows)
        order = np.array([place.get(word, 0) for word in words], dtype=np.int64)
        of = order[found["element"]] if len(found) else found["element"]
        return cls.of_rows(found[np.lexsort((of, found["t"]))], list(words))

    def __repr__(self) -> str:
        """Return how many of each kind there are, in a line."""
        kinds = ", ".join(f"{n} {kind}" for kind, n in self.counts().items())
        if not kinds:
            return "<EventTable: no events>"
        span = f"{self.t[0]:.6g} to {self.t[-1]:.6g} s"
        return f"<EventTable: {len(self)} events, {span}: {kinds}; print() lists them>"

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> EventRecord: ...
    @overload
    def __getitem__(self, index: slice) -> EventTable: ...
    def __getitem__(self, index: int | slice) -> EventRecord | EventTable:
        """Return one record, or a table of several."""
        if isinstance(index, slice):
            return self.of_rows(self._rows[index], self._words)
        return self._record(self._rows[index].item())

    def __iter__(self) -> Iterator[EventRecord]:
        """Iterate over the records."""
        for begin in range(0, len(self), CHUNK):
            yield from map(self._record, self._rows[begin : begin + CHUNK].tolist())

    def _record(self, row: Any) -> EventRecord:
        t, has, *rest = row
        texts = [self._words[int(k)] for k in rest[: len(TEXTS)]]
        pairs = (
            tuple(pair.tolist()) if has >> k & 1 else None
            for k, pair in enumerate(rest[len(TEXTS) :])
        )
        fields: dict[str, Any] = dict(
            zip((*TEXTS, *PAIRS), (*texts, *pairs), strict=True)
        )
        return EventRecord(t=t, **fields)

    def _word(self, text: str) -> int:
        return self._words.index(text) if text in self._words else -1

    def of(self, element: str) -> EventTable:
        """Return the events of one element."""
        is_own = self._rows["element"] == self._word(element)
        return self.of_rows(self._rows[is_own], self._words)

    @property
    def t(self) -> Floats:
        """Times, s."""
        return np.array(self._rows["t"])

    def counts(self) -> dict[str, int]:
        """Return how many events of each kind there were, the first kind first."""
        kinds, first, n = np.unique(
            self._rows["kind"], return_index=True, return_counts=True
        )
        order = np.argsort(first)
        return {self._words[kinds[k]]: int(n[k]) for k in order.tolist()}

    def _repr_html_(self) -> str:
        """Return the first rows as a notebook shows them."""
        head = ("t (s)", "element", "kind", "before", "after")
        rows = [[getattr(r, n) for n in ("t", *head[1:])] for r in self]
        return rows_html(head, rows, repr(self).partition(";")[0].strip("<>"))

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a data frame; `frame.attrs["units"]` has the units."""
        import pandas

        rows = [record.row() for record in self]
        names = EventRecord.columns()
        frame = pandas.DataFrame(rows, columns=list(names))
        units = {name: UNITS.get(name.rpartition("_")[0], "") for name in names}
        frame.attrs = {"units": units | {"t": "s"}}
        return frame

    def __str__(self) -> str:
        """Return one line per event."""
        return "\n".join(str(record) for record in self) or "no events"
