"""The index of a study: an SQLite file that says what became of each run.

    meta    key, value            format, library, definition of the study
    runs    k                     number of the point
            key                   hash of model, parameters, tolerances, library
            point, outputs        as JSON
            status                waiting, started, done or failed
            message, doubts       why it failed, or is not to be trusted
            seconds

One process writes, and holds a lock on a second file beside it for as long, which the
system gives back however the process ends. What was reported as done was committed
before. Others may read at any time.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sqlite3
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from nonsmooth.errors import ModelError
from nonsmooth.files import check_writable, replacing
from nonsmooth.study.definition import Prepared
from nonsmooth.study.runs import Outcome

FORMAT = 1  # of indices
SIGN = 0x6E6F6E73  # "nons", in the head of the file
# Outcomes are committed together, at most so many seconds after they came.
COMMIT_SECONDS = 0.25
# Rows that are read at once.
PAGE = 1000
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE runs (
    k INTEGER PRIMARY KEY, key TEXT, point TEXT, status TEXT DEFAULT 'waiting',
    outputs TEXT, message TEXT, doubts TEXT, seconds REAL
);
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One run as the index has it."""

    k: int
    point: dict[str, Any]
    status: str  # waiting, started, done, failed
    outputs: dict[str, Any] = field(default_factory=dict[str, Any])
    message: str = ""
    doubts: str = ""
    seconds: float = 0.0


class Index:
    """The index of a study, open for writing by this process alone.

    Parameters
    ----------
    ready : Prepared
    path : path, optional
        The file; in memory if there is none.
    wait : float
        Seconds to wait for another process that has it.
    """

    def __init__(
        self, ready: Prepared, path: str | os.PathLike[str] | None, wait: float = 0.0
    ) -> None:
        self.path = Path(path) if path is not None else None
        self._lock: sqlite3.Connection | None = None
        self._since: list[Outcome] = []
        self._started: list[int] = []
        self._committed_at = time.monotonic()
        if self.path is None:
            self._db = sqlite3.connect(":memory:")
            self._create(ready)
            return
        check_writable(self.path)
        self._take_lock(wait)
        try:
            is_new = not self.path.exists() or self.path.stat().st_size == 0
            if not is_new:
                _check_sign(self.path)
            self._db = sqlite3.connect(self.path, timeout=30.0)
            with _explained(self.path):
                self._db.execute("PRAGMA synchronous = FULL")
                if is_new or not self._has_tables():
                    self._create(ready)
                else:
                    self._compare(ready)
        except BaseException:
            self.close()
            raise

    def _take_lock(self, wait: float) -> None:
        assert self.path is not None
        place = self.path.with_name(f"{self.path.name}-lock")
        lock = sqlite3.connect(place, timeout=max(wait, 0.0), isolation_level=None)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            lock.close()
            raise ModelError(
                f"{self.path}: another process works on this study; wait for it, or "
                "give wait=SECONDS"
            ) from None
        self._lock = lock

    def _has_tables(self) -> bool:
        rows = self._db.execute("SELECT name FROM sqlite_master").fetchall()
        return ("runs",) in rows

    def _create(self, ready: Prepared) -> None:
        points = ready.study.points
        rows = (
            (k, ready.key(point), json.dumps(point)) for k, point in enumerate(points)
        )
        meta = {
            "format": FORMAT,
            "library": ready.library,
            "definition": json.dumps(ready.definition),
            "dims": json.dumps(points.dims),
        }
        # All or nothing: a half-made index would look like one of fewer points.
        self._db.execute(f"PRAGMA application_id = {SIGN}")
        with self._db:
            self._db.execute("BEGIN")
            for statement in _TABLES.split(";"):
                self._db.execute(statement)
            self._db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            self._db.executemany(
                "INSERT INTO runs (k, key, point) VALUES (?, ?, ?)", rows
            )

    def _compare(self, ready: Prepared) -> None:
        """Refuse an index of another study, format or release."""
        meta = dict(self._db.execute("SELECT key, value FROM meta"))
        if int(meta.get("format", 0)) != FORMAT:
            raise ModelError(
                f"{self.path}: an index of format {meta.get('format')}; this release "
                f"works with format {FORMAT}: give another file"
            )
        if meta["library"] != ready.library:
            raise ModelError(
                f"{self.path}: its runs were made by nonsmooth {meta['library']}, and "
                f"this is {ready.library}: give another file, or go on with the other"
            )
        old, new = json.loads(meta["definition"]), dict(ready.definition)
        # A title changes no run.
        old["title"] = new["title"]
        changes = list(differences(old, new))
        if changes:
            more = f" and {len(changes) - 3} more" if len(changes) > 3 else ""
            raise ModelError(
                f"{self.path}: the study has changed since its runs were made: "
                f"{'; '.join(changes[:3])}{more}. Give another file, or change it back"
            )

    # -- writing -----------------------------------------------------------------

    def begin(self, *, rerun: bool) -> list[int]:
        """Return the numbers of the runs to carry out.

        Those that wait, and those that were started and did not end; with `rerun`
        those that failed as well.
        """
        again = ["waiting", "started", *(["failed"] if rerun else [])]
        marks = ",".join("?" * len(again))
        text = f"SELECT k FROM runs WHERE status IN ({marks}) ORDER BY k"
        return [k for (k,) in self._db.execute(text, again)]

    def start(self, numbers: Iterable[int]) -> None:
        """Note that runs are under way; written with the next outcomes."""
        self._started += numbers

    def add(self, outcomes: Sequence[Outcome]) -> bool:
        """Take outcomes; return whether all so far are on disk."""
        self._since += outcomes
        if time.monotonic() - self._committed_at < COMMIT_SECONDS:
            return False
        self.commit()
        return True

    def commit(self) -> None:
        """Write what has come since the last time, whole runs first."""
        for outcome in self._since:
            if outcome.whole:
                self._write_run(outcome)
        rows = [
            (
                o.status,
                json.dumps(o.outputs),
                o.message,
                o.doubts,
                o.seconds,
                o.k,
            )
            for o in self._since
        ]
        with _explained(self.path), self._db:
            self._db.executemany(
                "UPDATE runs SET status='started' WHERE k=?",
                [(k,) for k in self._started],
            )
            self._db.executemany(
                "UPDATE runs SET status=?, outputs=?, message=?, doubts=?, seconds=? "
                "WHERE k=?",
                rows,
            )
        self._since.clear()
        self._started.clear()
        self._committed_at = time.monotonic()

    def _write_run(self, outcome: Outcome) -> None:
        if self.path is None:
            return
        folder = runs_folder(self.path)
        target = folder / f"{outcome.k}.nsr"
        try:
            folder.mkdir(exist_ok=True)
            with replacing(target) as place:
                place.write_bytes(outcome.whole)
        except OSError as error:
            raise _no_room(target, error.strerror or str(error)) from error

    # -- reading -----------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """Return the number of runs by status."""
        text = "SELECT status, COUNT(*) FROM runs GROUP BY status"
        return dict(self._db.execute(text))

    def rows(self) -> Iterator[Row]:
        """Yield all runs in the order of their points."""
        return _rows(self._db)

    def close(self) -> None:
        """Give the file back."""
        with contextlib.suppress(AttributeError):
            self._db.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def runs_folder(path: str | os.PathLike[str]) -> Path:
    """Return the folder of a study's whole runs, beside its index."""
    return Path(path).with_suffix(".runs")


def _rows(db: sqlite3.Connection) -> Iterator[Row]:
    text = (
        "SELECT k, point, status, outputs, message, doubts, seconds FROM runs "
        "WHERE k >= ? ORDER BY k LIMIT ?"
    )
    first = 0
    # In pages: a reader that held the file would keep the writer waiting.
    while page := db.execute(text, (first, PAGE)).fetchall():
        for k, point, status, outputs, message, doubts, seconds in page:
            yield Row(
                k=k,
                point=json.loads(point),
                status=status,
                outputs=json.loads(outputs or "{}"),
                message=message or "",
                doubts=doubts or "",
                seconds=seconds or 0.0,
            )
        first = page[-1][0] + 1


@contextlib.contextmanager
def _reading(
    path: str | os.PathLike[str],
) -> Generator[tuple[sqlite3.Connection, dict[str, str]]]:
    """Yield an index to read from, and what it says about itself."""
    if not Path(path).exists():
        raise FileNotFoundError(errno.ENOENT, "no such index", os.fspath(path))
    _check_sign(Path(path))
    where = f"{Path(path).resolve().as_uri()}?mode=ro"
    db = sqlite3.connect(where, uri=True, timeout=30.0)
    with contextlib.closing(db), _explained(Path(path)):
        meta: dict[str, str] = dict(db.execute("SELECT key, value FROM meta"))
        if int(meta.get("format", 0)) != FORMAT:
            raise ModelError(f"{path}: an index of format {meta.get('format')}")
        yield db, meta


def read_counts(path: str | os.PathLike[str]) -> tuple[str, dict[str, int]]:
    """Return title and number of runs by status of a study, without its table."""
    with _reading(path) as (db, meta):
        text = "SELECT status, COUNT(*) FROM runs GROUP BY status"
        definition: dict[str, Any] = json.loads(meta["definition"])
        title = definition.get("title") or definition["system"] or "study"
        return str(title), dict(db.execute(text))


@contextlib.contextmanager
def read_index(
    path: str | os.PathLike[str],
) -> Generator[tuple[dict[str, Any], dict[str, int], Iterator[Row]]]:
    """Yield definition, dimensions and runs of a study, also of one that is running.

    Raises
    ------
    ModelError
        The file is not an index, or one of another format.
    """
    with _reading(path) as (db, meta):
        yield json.loads(meta["definition"]), json.loads(meta["dims"]), _rows(db)


def _check_sign(path: Path) -> None:
    """Refuse a file that is no index: nothing foreign is written to."""
    with path.open("rb") as file:
        head = file.read(72)
    is_sqlite = head.startswith(b"SQLite format 3\0") and len(head) == 72
    if not is_sqlite or int.from_bytes(head[68:72], "big") not in (SIGN, 0):
        raise ModelError(f"{path}: this is not the index of a study")


@contextlib.contextmanager
def _explained(path: Path | None) -> Generator[None]:
    """Turn errors of the database into sentences."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "full" in text or "disk I/O" in text:
            raise _no_room(path, text) from error
        raise ModelError(f"{path}: the index is damaged ({text})") from error


def _no_room(path: Path | None, why: str) -> OSError:
    return OSError(
        errno.ENOSPC,
        f"cannot write ({why}); what was reported as done is kept, and the study goes "
        "on from there when there is room",
        str(path),
    )


def differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Yield what is not the same in two pieces of plain data, in words."""
    if isinstance(old, dict) and isinstance(new, dict):
        old, new = cast(dict[str, Any], old), cast(dict[str, Any], new)
        for key in {**old, **new}:
            path = f"{where}.{key}" if where else key
            if key not in new:
                yield f"{path} was {_short(old[key])} and is gone"
            elif key not in old:
                yield f"{path} = {_short(new[key])} is new"
            else:
                yield from differences(old[key], new[key], path)
    elif _is_pair_of_lists(old, new):
        old, new = cast(list[Any], old), cast(list[Any], new)
        for k in range(len(old)):
            a, b = old[k], new[k]
            yield from differences(a, b, f"{where}[{k}]")
    elif old != new:
        yield f"{where} was {_short(old)} and is {_short(new)}"


def _is_pair_of_lists(a: Any, b: Any) -> bool:
    is_lists = isinstance(a, list) and isinstance(b, list)
    return is_lists and len(cast(Any, a)) == len(cast(Any, b))


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
