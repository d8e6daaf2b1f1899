"""The scene document: all that the viewer knows of a run, in one piece of bytes.

    gzip( length of the header (uint32, little-endian) | header (JSON) | arrays )

`web/src/format.ts` describes the header field by field; the two files change
together. Numbers over time are columns in single precision, at the instants that
`sampling` chooses. Their bit patterns are stored as differences, first bytes first:
of a smooth curve little remains to compress.

Single precision is not enough for a place far away, which moves little: it is stored
from an origin nearby. What moves far as well, or turns very often, is stored in double
precision, and so is what single precision cannot hold.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from nonsmooth import columns
from nonsmooth.elements.bodies import Ground, MovingSupport, PointMass, RigidBody
from nonsmooth.elements.drives import Drive
from nonsmooth.elements.forces import SpringDamper
from nonsmooth.elements.joints import Joint, Prismatic
from nonsmooth.errors import ModelError
from nonsmooth.views import drawing, sampling
from nonsmooth.views import glyphs as look
from nonsmooth.views.figure import MODES
from nonsmooth.views.glyphs import POSE, Item, Stage
from nonsmooth.views.places import to_global
from nonsmooth.views.sampling import Grid

if TYPE_CHECKING:
    from nonsmooth.result import Limit, Result

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Pack = Callable[[float, float], bytes]  # from tolerance and precision

FORMAT, VERSION = "nonsmooth-scene", 1
# Bytes of a document: with the viewer, and as text, it makes a page of 2 MB.
BUDGET = 1_300_000
# Trials to meet a budget, and how much of it is enough.
N_TRIAL, AIM, ENOUGH = 6, 0.97, 0.92
# Bytes of a number, as a first guess.
LIKELY = 2.0
# Where a budget is short, numbers are rounded to this part of their column's range;
# but for places, which are looked at closely.
PRECISION = 2.0**-14
# Values this small beside the largest of their unit are round-off: not worth a byte.
ROUND_OFF = 1e-13
# Half a unit in the last place of single precision, relative; its largest number.
SINGLE, LARGEST = 2.0**-24, float(np.finfo(np.float32).max)
# A place is far away beyond this many times its range. From its origin it is rounded to
# this part of the longest way of all, and at most as if there were no origin: what
# should stand still has round-off, which costs bytes.
FAR, STEP = 100.0, 2.0**-30
# What rounding may move in a picture: angles, rad, and places beside a symbol.
TURNED, MOVED = 1e-3, 0.01
# Digits of the numbers of an event, beside its time; columns have seven.
DIGITS = 9
MOTION = ("x", "y", "theta", "vx", "vy", "omega")
PLACES = ("x", "y", "place_x", "place_y")
# Names that no element can have, since theirs have no colon.
KINETIC, POTENTIAL, WORK = "energy:kinetic", "energy:potential", "work:"


class Parameter(TypedDict):
    """A parameter that a page shows."""

    name: str
    value: str | float | bool | None
    unit: NotRequired[str]
    meaning: NotRequired[str]


# A mapping has the values alone.
Parameters = Sequence[Parameter] | Mapping[str, str | float | bool | None]


def _ledger_names(works: Iterable[str]) -> list[str]:
    """Return the columns of the ledger."""
    return [KINETIC, POTENTIAL, *(WORK + name for name in works)]


def scene(
    result: Result,
    parameters: Parameters = (),
    budget: int = BUDGET,
    title: str | None = None,
) -> bytes:
    """Return the document of a run.

    Parameters
    ----------
    result : Result
        Finished or not.
    parameters : mapping, or sequence of dict
        What the run was made with, for the reader: values by name; or name and value
        of each, unit and meaning if it has them.
    budget : int
        Bytes; samples become fewer until the document fits, down to a tolerance of
        5 % of the ranges. Events are kept in any case.
    title : str, optional
        That of the model by default.
    """
    if len(result.steps.t) == 0:
        return _Document(result, parameters, title).packed(_start(result), 0.0, 0.0)
    source = _Source(result)
    grid = sampling.fine_grid(result, source.width, source.turns)
    keys = sampling.find_keys(grid, result.events.t, source.plotted, source.scales)
    document = _Document(result, parameters, title)

    def pack(tolerance: float, precision: float) -> bytes:
        grid = keys.at(tolerance)
        samples = source.all(grid)
        return document.packed(samples, keys.reached(tolerance), precision)

    return _fitted(pack, keys, budget, n_column=source.width)


def _fitted(pack: Pack, keys: sampling.Keys, budget: int, n_column: int) -> bytes:
    """Return the finest document that fits, or else the coarsest.

    Precision is given up first: it is beyond any tolerance.
    """
    finest, coarsest = sampling.FINEST, sampling.COARSEST
    key = np.sort(keys.key)[::-1]
    each = LIKELY * n_column  # bytes per sample
    for precision in (0.0, PRECISION):
        # Not tried if it is far too large.
        if len(keys.at(finest)) * each < 2 * budget:
            packed = pack(finest, precision)
            if len(packed) <= budget:
                return packed
    # The finest known to fit, the coarsest known not to.
    best, low, high = b"", finest, coarsest
    for _ in range(N_TRIAL):
        wanted = min(int(AIM * budget / each), len(key) - 1)
        tolerance = min(max(float(key[wanted]), low), high)
        packed = pack(tolerance, PRECISION)
        each = len(packed) / len(keys.at(tolerance))
        if len(packed) <= budget:
            best, high = packed, tolerance
            if len(packed) >= ENOUGH * budget:
                break
        elif tolerance == coarsest:
            return packed
        else:
            low = tolerance
    return best or pack(coarsest, PRECISION)


# ---- numbers ---------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Samples:
    grid: Grid
    values: dict[str, Floats]  # by column of the result
    ledger: dict[str, Floats]  # J, by column of the document


class _Source:
    """Quantities of a run at any instants, both one-sided values at events."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.names = list(result.table)
        table = result.table.values()
        curves = [column for column in table if not column.values]
        self.curves = [column.name for column in curves]
        self._ledger_names = _ledger_names(result.system.works)
        self._size = max(1, sampling.BATCH // columns.width(result.system))
        units = [column.unit for column in curves] + ["J"] * len(self._ledger_names)
        self.width = len(units)
        is_place = [column.kind in PLACES for column in curves]
        is_place += [False] * len(self._ledger_names)
        rates = [column.name for column in table if column.kind == "omega"]
        self.turns = sampling.find_turns(result, self._some(rates), len(rates))
        self.scales = sampling.find_scales(
            result, self.plotted, units, is_place=np.array(is_place), turns=self.turns
        )

    def _some(self, names: Sequence[str]) -> sampling.Evaluate:
        def evaluate(t: Floats, is_last: Flags) -> Floats:
            return np.column_stack([*self._sampled(t, is_last, names).values()])

        return evaluate

    def _sampled(
        self, t: Floats, is_last: Flags, names: Sequence[str]
    ) -> dict[str, Floats]:
        columns = {name: np.empty(len(t)) for name in names}
        sides: tuple[tuple[Flags, Limit], ...]
        sides = ((~is_last, "after"), (is_last, "before"))
        for which, limit in sides:
            places = np.flatnonzero(which)
            for begin in range(0, len(places), self._size):
                part = places[begin : begin + self._size]
                found = self.result.sample(t[part], names, limit)
                for name in names:
                    columns[name][part] = found[name]
        return columns

    def _ledger(self, t: Floats) -> list[Floats]:
        parts: list[list[Floats]] = []
        for begin in range(0, len(t), self._size):
            ledger = self.result.energies(t[begin : begin + self._size])
            parts.append([ledger.kinetic, ledger.potential, *ledger.work.values()])
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    def plotted(self, t: Floats, is_last: Flags) -> Floats:
        """Return all curves side by side."""
        columns = self._sampled(t, is_last, self.curves)
        return np.column_stack([*columns.values(), *self._ledger(t)])

    def all(self, grid: Grid) -> _Samples:
        """Return all columns of a document that a result has."""
        found = self._sampled(grid.t, grid.is_last, self.names)
        sides = [c.name for c in self.result.table.values() if c.kind == "side"]
        if sides:
            # At an event some force is zero, and its sign is round-off: the side is
            # that half-way to the next sample.
            middle = 0.5 * (grid.t[:-1] + grid.t[1:])
            held = self._sampled(middle, np.zeros(len(middle), dtype=bool), sides)
            last = np.flatnonzero(grid.is_last)
            for name in sides:
                values = np.append(held[name], 0.0)
                values[last] = values[last - 1]
                found[name] = values
        ledger = dict(zip(self._ledger_names, self._ledger(grid.t), strict=True))
        return _Samples(grid=grid, values=found, ledger=ledger)


def _start(result: Result) -> _Samples:
    """Return the start of a run without steps, as far as it is known."""
    nothing = np.full(1, np.nan)
    values = dict.fromkeys(result.table, nothing)
    for body in result.system.model.bodies:
        if not isinstance(body, RigidBody | PointMass):
            continue
        state = (*body.position, getattr(body, "angle", 0.0), *body.velocity)
        state = (*state, getattr(body, "angular_velocity", 0.0))
        for quantity, value in zip(MOTION, state, strict=True):
            values[f"{body.name}.{quantity}"] = np.full(1, value)
    for body in result.system.model.bodies:
        if isinstance(body, MovingSupport):
            for quantity in MOTION:
                law = getattr(body, quantity, 0.0)
                at = np.zeros(3)
                if isinstance(law, int | float):
                    at[0] = law
                else:
                    type(law).evaluate(law.parameters(), result.t_start, at)
                values[f"{body.name}.{quantity}"] = at[:1]
    ledger = dict.fromkeys(_ledger_names(result.system.works), nothing)
    grid = Grid(
        t=np.array([result.t_start]),
        is_last=np.zeros(1, dtype=bool),
        arcs=np.array([0, 1]),
    )
    return _Samples(grid=grid, values=values, ledger=ledger)


# ---- the document ----------------------------------------------------------------


class _Document:
    def __init__(
        self, result: Result, parameters: Parameters, title: str | None
    ) -> None:
        self.result, self.parameters = result, _rows(parameters)
        if not isinstance(title, str | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"title = {title!r}; give text")
        self.title = result.system.model.title if title is None else title
        self.info = _run_info(result)
        self.events = _events(result)

    def packed(self, samples: _Samples, tolerance: float, precision: float) -> bytes:
        """Return the bytes of the document."""
        grid, system = samples.grid, self.result.system
        stage = Stage(system=system, values=samples.values, n=len(grid))
        box, unit = _sizes(stage)
        stage = replace(stage, unit=unit)
        places = list(look.spots(stage))
        writer = _Writer(precision)
        writer.times(grid.t)
        # Points of bodies are computed by the viewer.
        derived = list(_points(stage))
        kept = {item["name"] for item in derived}
        shown = {n: v for n, v in samples.values.items() if n not in kept}
        table = self.result.table
        units = {name: table[name].unit for name in shown}
        units |= dict.fromkeys(samples.ledger, "J")
        kinds = {name: table[name].kind for name in shown}
        shown |= samples.ledger
        noise = _noise(shown, units)
        ways = [_span(shown[name])[1] for name in kinds if kinds[name] in PLACES]
        detail = _Detail(unit=unit, step=STEP * max(ways, default=0.0))
        for name, values in shown.items():
            column: Item = {"name": name, "unit": units[name]}
            kind = kinds.get(name, "")
            if name in table and table[name].values:
                writer.add_stepped(column, values)
            elif kind in POSE:
                writer.add_place(column, values, kind, detail, noise[units[name]])
            else:
                writer.add(column, values, noise[units[name]])
        for place in places:
            for name, values in place.columns.items():
                kind = name.rpartition(".")[2]
                known = columns.QUANTITIES.get(kind)
                column = {"name": name, "unit": known.unit if known else ""}
                column["hidden"] = True
                writer.add_place(column, values, kind, detail)
        from nonsmooth import __version__

        header: Item = {
            "format": FORMAT,
            "version": VERSION,
            "generator": f"nonsmooth {__version__}",
            "title": self.title,
            "run": self.info,
            "parameters": self.parameters,
            "sampling": {
                "n": len(grid),
                "tolerance": _stated(tolerance),
                "precision": precision,
            },
            "arcs": grid.arcs.tolist(),
            "columns": writer.columns,
            "derived": [
                *derived,
                *(item for place in places for item in place.derived),
            ],
            "bodies": look.bodies(stage),
            "glyphs": look.glyphs(stage),
            "spots": [place.spot for place in places],
            "events": self.events,
            "energy": {
                "kinetic": KINETIC,
                "potential": POTENTIAL,
                "works": [WORK + name for name in system.works],
            },
            "modes": MODES,
            "gravity": list(system.model.gravity),
            "box": box,
            "unit": unit,
        }
        text = json.dumps(
            header, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        ).encode()
        size = len(text).to_bytes(4, "little")
        # Without the time of writing: the same result gives the same bytes.
        return gzip.compress(size + text + writer.bytes(), 9, mtime=0)


@dataclass(frozen=True, kw_only=True)
class _Detail:
    """How closely places are looked at."""

    unit: float  # m, length of a symbol
    step: float  # m, of places far away


class _Writer:
    """Columns and their bytes."""

    def __init__(self, precision: float) -> None:
        self.precision = precision
        self.columns: list[Item] = []
        self._parts: list[bytes] = []
        self._offset = 0

    def times(self, t: Floats) -> None:
        """Add the times."""
        self._add({"name": "t", "unit": "s"}, "f64", t.astype("<f8"))

    def add_stepped(self, column: Item, values: Floats) -> None:
        """Add a column of small whole numbers."""
        is_known = not np.any(np.isnan(values))
        self._put(column, values.astype("i1" if is_known else "<f4"))

    def add_place(
        self,
        column: Item,
        values: Floats,
        kind: str,
        detail: _Detail,
        noise: float = 0.0,
    ) -> None:
        """Add a column of places or angles, which are looked at closely."""
        low, way = _span(values)
        size = max(-low, low + way)
        if kind in PLACES and way > 0.0 and size > FAR * way:
            # No finer than round-off.
            step = max(min(detail.step, SINGLE * size), ROUND_OFF * size)
            # The same exponent for all numbers: their first bits do not change.
            origin = low - way
            relative = _rounded(values - origin, step)
            self._put(column, relative.astype("<f4"), origin)
            return
        seen = TURNED if kind == "theta" else MOVED * detail.unit
        is_fine = kind not in ("theta", *PLACES) or SINGLE * size <= seen
        self._put(column, _numbers(values, noise, is_fine))

    def add(self, column: Item, values: Floats, noise: float = 0.0) -> None:
        """Add a column of anything else, rounded if the budget is short."""
        low, extent = _span(values)
        if self.precision > 0.0 and extent > 0.0:
            values = _rounded(values, self.precision * extent)
        is_fine = max(-low, low + extent) <= LARGEST
        self._put(column, _numbers(values, noise, is_fine))

    def _put(self, column: Item, numbers: NDArray[Any], origin: float = 0.0) -> None:
        """Add numbers; those that stand still are one."""
        first = float(numbers[0])
        if math.isnan(first) and np.all(np.isnan(numbers)):
            self.columns.append(column | {"type": "constant", "value": None})
        elif math.isfinite(first) and np.all(numbers == numbers[0]):
            value = first + origin
            self.columns.append(column | {"type": "constant", "value": value})
        elif numbers.dtype == np.int8:
            self._add(column, "i8", numbers)
        elif numbers.dtype == np.float64:
            self._add(column, "f64", numbers)
        else:
            from_origin: Item = {"origin": origin} if origin else {}
            change = np.diff(numbers.view("<i4"), prepend=np.int32(0))
            self._add(column | from_origin, "f32", change)

    def _add(self, column: Item, kind: str, numbers: NDArray[Any]) -> None:
        width = numbers.dtype.itemsize
        # All first bytes, then all second ones.
        part = numbers.view(np.uint8).reshape(-1, width).T.tobytes()
        where = {"type": kind, "offset": self._offset, "length": len(part)}
        self.columns.append(column | where)
        self._parts.append(part)
        self._offset += len(part)

    def bytes(self) -> bytes:
        """Return all arrays."""
        return b"".join(self._parts)


def _stated(tolerance: float) -> float:
    """Return a tolerance with two digits, not less than it is."""
    stated = float(f"{tolerance:.1e}")
    return stated if stated >= tolerance else float(f"{1.05 * tolerance:.1e}")


def _span(values: Floats) -> tuple[float, float]:
    """Return the least value and the range."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return 0.0, 0.0
    low, high = float(known.min()), float(known.max())
    return low, high - low


def _rounded(values: Floats, step: float) -> Floats:
    """Return multiples of a step, or of one that is a little less."""
    # A power of two leaves zeros in the mantissa.
    step = 2.0 ** math.floor(math.log2(step))
    return np.round(values / step) * step


def _numbers(values: Floats, noise: float, is_fine: bool) -> NDArray[Any]:
    """Return numbers in single precision where that is fine enough."""
    values = values + 0.0
    if np.max(np.abs(values), initial=0.0) <= noise:
        return np.zeros(len(values), dtype="<f4")
    is_still = bool(np.all(values == values[0]))
    return values.astype("<f4" if is_fine and not is_still else "<f8")


def _noise(columns: Mapping[str, Floats], units: Mapping[str, str]) -> dict[str, float]:
    """Return by unit what is round-off."""
    peaks: dict[str, float] = {}
    for name, values in columns.items():
        known = values[np.isfinite(values)]
        peak = float(np.max(np.abs(known), initial=0.0))
        peaks[units[name]] = max(peaks.get(units[name], 0.0), peak)
    return {unit: ROUND_OFF * peak for unit, peak in peaks.items()}


def _points(stage: Stage) -> Iterable[Item]:
    """Return the quantities of points, which the viewer computes."""
    for name in stage.system.bodies:
        if name == "ground":
            continue
        points: dict[str, Any] = getattr(stage.elements[name], "points", {})
        for point, place in points.items():
            for quantity in ("x", "y", "vx", "vy", "ax", "ay"):
                column = f"{name}.{point}.{quantity}"
                if column in stage.values:
                    yield {
                        "name": column,
                        "unit": columns.QUANTITIES[quantity].unit,
                        "body": name,
                        "point": tuple(place),
                        "quantity": quantity,
                    }


def _sizes(stage: Stage) -> tuple[list[float], float]:
    """Return the box that holds all that is seen, and the length of a symbol, m."""
    found: list[Floats] = []
    lengths: list[float] = []
    for element in stage.elements.values():
        if element.name in stage.poses:
            if isinstance(element, MovingSupport) and not (
                element.points or element.shapes
            ):
                continue
            own = drawing.reach_of(element)
            pose = stage.poses[element.name][:, None, :]
            reach = to_global(pose, own[None, :, :])
            found.append(reach.reshape(-1, 2))
            lengths.append(float(np.ptp(reach[-1], axis=0).max()))
        elif isinstance(element, Joint) and not isinstance(element, Drive):
            for side in (element.a, element.b):
                if stage.is_ground(side):
                    found.append(stage.pose(side)[:1, :2])
            if isinstance(element, Prismatic) and element.length is not None:
                # Its own size, not that of a symbol.
                corners = look.block_corners(element, unit=0.0)
                own = corners + np.array(stage.point(element.b))
                pose = stage.poses.get(stage.body(element.b).name, np.zeros((1, 3)))
                found.append(to_global(pose[:, None, :], own).reshape(-1, 2))
        elif isinstance(element, Ground):
            found += [drawing.corners_of(s) for s in drawing.shapes_of(element)]
        elif isinstance(element, SpringDamper):
            found += [stage.pose(side)[:, :2] for side in (element.a, element.b)]
    if not any(len(part) for part in found):
        found += [pose[:, :2] for pose in stage.poses.values()] or [np.zeros((1, 2))]
    places = np.concatenate(found)
    places = places[np.all(np.isfinite(places), axis=1)]
    if len(places) == 0:
        places = np.zeros((1, 2))
    low, high = places.min(axis=0), places.max(axis=0)
    extent = float(np.max(high - low)) or drawing.LONE
    known = [length for length in lengths if length > 0.0 and math.isfinite(length)]
    return [*low.tolist(), *high.tolist()], drawing.symbol_size(extent, known)


# ---- words -----------------------------------------------------------------------


def _rows(parameters: Parameters) -> list[Item]:
    """Return parameters as the page shows them."""
    given: Any = parameters
    if isinstance(given, Mapping):
        pairs = cast("Mapping[str, Any]", given).items()
        given = [{"name": name, "value": value} for name, value in pairs]
    rows: list[Item] = []
    for item in given:
        if not (isinstance(item, Mapping) and {"name", "value"} <= item.keys()):
            raise ModelError(
                f"parameters: {item!r}; give name and value of each, as in "
                "{'mu': 0.3} or [{'name': 'mu', 'value': 0.3, 'unit': '1'}]"
            )
        row = cast("Mapping[str, Any]", item)
        words = {key: str(row.get(key, "")) for key in ("unit", "meaning")}
        name, value = str(row["name"]), _scalar(row["value"])
        rows.append({"name": name, "value": value, **words})
    return rows


def _scalar(value: Any) -> str | float | bool | None:
    """Return what JSON can hold."""
    if isinstance(value, np.generic):
        return _scalar(cast(Any, value).item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def _run_info(result: Result) -> Item:
    balance = result.energy_balance if len(result.steps.t) else None
    return {
        "status": result.status,
        "message": result.message,
        "t_start": float(result.t_start),
        "t_end": float(result.t_end),
        "notes": list(result.notes),
        "options": {name: _scalar(value) for name, value in result.options.items()},
        "cost": {name: _scalar(value) for name, value in result.cost.items()},
        "energy_residual": _scalar(balance.residual) if balance else None,
        "energy_exchanged": _scalar(balance.exchanged) if balance else None,
        "violation": _scalar(float(result.violation)),
    }


def _events(result: Result) -> Item:
    from nonsmooth.result import EventRecord

    def cell(value: float | str) -> str | float | None:
        if isinstance(value, str):
            return value
        if not math.isfinite(value):
            return None
        return float(f"{value:.{DIGITS}g}") + 0.0

    rows: list[list[str | float | None]] = []
    for record in result.events:
        t, *rest = record.row()
        rows.append([float(t), *map(cell, rest)])
    return {"columns": list(EventRecord.columns()), "rows": rows}
