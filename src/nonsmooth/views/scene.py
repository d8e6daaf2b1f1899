"""The scene document: all that the viewer knows of a run, in one piece of bytes.

    gzip( length of the header (uint32, little-endian) | header (JSON) | arrays )

`web/src/format.ts` describes the header field by field; the two files change
together. Numbers over time are columns at the instants that `sampling` chooses;
`writer` makes them bytes.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import ACTING, POINT, QUANTITIES
from nonsmooth.errors import ModelError
from nonsmooth.views import drawing, sampling
from nonsmooth.views.bearings import Bearing, bearings
from nonsmooth.views.blocks import block_skins, block_values, blocks_of
from nonsmooth.views.figure import MODES
from nonsmooth.views.glyphs import glyphs, spot
from nonsmooth.views.meshes import MOST_SEEN, condense, enlargement, skins_of
from nonsmooth.views.opening import opening
from nonsmooth.views.parts import Item, bodies
from nonsmooth.views.solids import (
    solid_skins,
    solid_values,
    states_of,
    still_skins,
)
from nonsmooth.views.source import (
    KINETIC,
    POTENTIAL,
    Samples,
    Source,
    ledger_names,
    start_of,
)
from nonsmooth.views.stage import Stage, reach
from nonsmooth.views.writer import Writer, noise_of, span

if TYPE_CHECKING:
    from nonsmooth.pack import System
    from nonsmooth.result import Limit, Result

Floats = NDArray[np.float64]
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
# Motion of meshes is rounded to this part of its largest component.
MESH_STEP = 2.0**-11
# Of a model that has not been run; the code of a contact that does not touch.
NOT_RUN, OPEN = "not run yet", 2.0
# Digits of the numbers of an event, beside its time; columns have seven.
DIGITS = 9


class Parameter(TypedDict):
    """A parameter that a page shows."""

    name: str
    value: str | float | bool | None
    unit: NotRequired[str]
    meaning: NotRequired[str]


# A mapping has the values alone.
Parameters = Sequence[Parameter] | Mapping[str, str | float | bool | None]


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
        5 % of the ranges. Events are kept in any case; a document that does not fit
        for that says so among the notes.
    title : str, optional
        That of the model by default.
    """
    document = _Document(result, parameters, title)
    if len(result.steps.t) == 0:
        return document.packed(start_of(result), 0.0, 0.0)
    source = Source(result)
    parts = sampling.find_parts(result, source.plotted, source.scales, source.turns)
    grid = sampling.fine_grid(result, parts, source.turns)
    keys = sampling.find_keys(grid, result.events.t, source.plotted, source.scales)

    def pack(tolerance: float, precision: float) -> bytes:
        grid = keys.at(tolerance)
        samples = source.all(grid)
        return document.packed(samples, keys.reached(tolerance), precision)

    packed = _fitted(pack, keys, budget, n_column=source.width)
    if len(packed) > budget:
        document.info["notes"].append(
            f"the data of this page take {len(packed) / 1e6:.2g} MB instead of "
            f"{budget / 1e6:.2g}: both values of every quantity at each of "
            f"{len(np.unique(result.events.t))} instants of events are kept; show a "
            "shorter part of the run for a smaller page"
        )
        packed = pack(sampling.COARSEST, PRECISION)
    return packed


def still(system: System, parameters: Parameters = ()) -> bytes:
    """Return the document of a model as it is given, before any run.

    Nothing is simulated: forces are not known, and contacts count as open.
    """
    from nonsmooth.result import Result

    start = Result(
        system=system,
        steps=_NoSteps(),
        t_start=0.0,
        t_end=0.0,
        status="stopped",
        message=NOT_RUN,
        options={},
        cost={},
        violation=0.0,
    )
    document = _Document(start, parameters, None)
    samples = start_of(start)
    for name in system.with_mode:
        samples.values[f"{name}.mode"] = np.full(1, OPEN)
    return document.packed(samples, 0.0, 0.0)


class _NoSteps:
    """The steps of a run that has not begun."""

    t = np.zeros(0)


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


# ---- the document ----------------------------------------------------------------


class _Document:
    """What a run has to tell, whatever its samples."""

    def __init__(
        self, result: Result, parameters: Parameters, title: str | None
    ) -> None:
        self.result, self.parameters = result, _rows(parameters)
        if not isinstance(title, str | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"title = {title!r}; give text")
        self.title = result.system.model.title if title is None else title
        has_begun = not isinstance(result.steps, _NoSteps)
        self.states = states_of(result) if has_begun else np.zeros(0)
        solids = (
            solid_skins(result, self.states)
            if has_begun
            else still_skins(result.system)
        )
        self.skins = {
            **skins_of(result.system),
            **block_skins(result.system),
            **solids,
        }
        self.plots = opening(result.system)
        self.info = _run_info(result)
        self.events = _events(result)

    def packed(self, samples: Samples, tolerance: float, precision: float) -> bytes:
        """Return the bytes of the document."""
        stage = Stage(
            system=self.result.system,
            values={
                **samples.values,
                **self._blocks(samples.grid),
                **solid_values(self.result.system, self.states, samples.grid.t),
            },
            n=len(samples.grid),
            skins=self.skins,
        )
        seen, lengths = reach(stage, has_bare=False)
        low, high = seen.min(axis=0), seen.max(axis=0)
        extent = float(np.max(high - low)) or drawing.LONE
        stage = replace(stage, unit=drawing.symbol_size(extent, lengths))
        found = list(bearings(stage))
        # What moves with a body is computed by the viewer.
        points, centres = list(_points(stage)), list(_centres(stage, found))
        derived = {item["name"] for item in (*points, *centres)}
        writer = self._written(samples, stage.unit, precision, derived)
        for bearing in found:
            _write_bearing(writer, stage, bearing, derived)
        meshes, largest = _write_meshes(writer, stage)
        header = {
            **self._head(samples.grid, tolerance, precision),
            "columns": writer.columns,
            "derived": [*points, *centres],
            "bodies": bodies(stage, meshes),
            "glyphs": glyphs(stage),
            "spots": [spot(stage, bearing) for bearing in found],
            **self._tail(),
            "box": [*low.tolist(), *high.tolist()],
            "unit": stage.unit,
        }
        if meshes:
            header["enlarged"] = enlargement(largest, extent)
        text = json.dumps(
            header, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        ).encode()
        size = len(text).to_bytes(4, "little")
        # Without the time of writing: the same result gives the same bytes.
        return gzip.compress(size + text + writer.bytes(), 9, mtime=0)

    def _blocks(self, grid: sampling.Grid) -> dict[str, Floats]:
        """Return the coordinates of elastic blocks."""
        nothing = np.full(len(grid), np.nan)
        found = {
            f"{name}.eta.{j}": nothing
            for name in blocks_of(self.result.system)
            for j in range(self.skins[name].shapes.shape[2])
        }
        if len(self.result.steps.t) == 0:
            return found
        sides: tuple[tuple[Any, Limit], ...]
        sides = ((~grid.is_last, "after"), (grid.is_last, "before"))
        for which, limit in sides if found else ():
            own = block_values(self.result, grid.t[which], limit)
            for name, values in own.items():
                found[name] = np.array(found[name])
                found[name][which] = values
        return found

    def _head(self, grid: sampling.Grid, tolerance: float, precision: float) -> Item:
        from nonsmooth import __version__

        return {
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
        }

    def _tail(self) -> Item:
        system = self.result.system
        works = ledger_names(self.result)[2:]
        return {
            "events": self.events,
            "energy": {"kinetic": KINETIC, "potential": POTENTIAL, "works": works},
            "modes": MODES,
            "gravity": list(system.model.gravity),
            **({"plots": self.plots} if self.plots else {}),
        }

    def _written(
        self, samples: Samples, unit: float, precision: float, derived: set[str]
    ) -> Writer:
        """Return a writer that has the columns of the result."""
        table = self.result.table
        shown = {
            name: values
            for name, values in samples.values.items()
            if name not in derived
            and table[name].kind not in ACTING
            and not table[name].kind.startswith("eta")
        }
        places = [name for name in shown if table[name].kind in ("x", "y")]
        way = max((span(shown[name])[1] for name in places), default=0.0)
        units = {name: table[name].unit for name in shown}
        units |= dict.fromkeys(samples.ledger, "J")
        noise = noise_of(shown | samples.ledger, units)
        writer = Writer(precision, unit, way)
        writer.times(samples.grid.t)
        for name, values in (shown | samples.ledger).items():
            column: Item = {"name": name, "unit": units[name]}
            kind = table[name].kind if name in table else ""
            if name in table and table[name].values:
                writer.add_stepped(column, values)
            elif kind in ("x", "y"):
                writer.add_place(column, values, noise[units[name]])
            elif kind == "theta":
                writer.add_angle(column, values, noise[units[name]])
            else:
                writer.add(column, values, noise[units[name]])
        return writer


def _points(stage: Stage) -> Iterator[Item]:
    """Yield the quantities of points of rigid bodies."""
    for name in (n for n in stage.poses if n not in stage.flexible):
        points: dict[str, Any] = getattr(stage.body(name), "points", {})
        for point, place in points.items():
            for kind in POINT:
                column = f"{name}.{point}.{kind}"
                yield {
                    "name": column,
                    "unit": QUANTITIES[kind].unit,
                    "body": name,
                    "point": tuple(place),
                    "quantity": kind,
                }


def _centres(stage: Stage, found: Iterable[Bearing]) -> Iterator[Item]:
    """Yield the places of bearings that are points of a body."""
    for bearing in found:
        disc = bearing.spot
        is_point = disc and disc.radius == 0.0 and not disc.is_flat
        is_rigid = disc and disc.body in stage.poses and disc.body not in stage.flexible
        if disc and is_point and is_rigid:
            for kind in ("x", "y"):
                yield {
                    "name": f"{bearing.name}.place_{kind}",
                    "unit": "m",
                    "body": disc.body,
                    "point": disc.centre,
                    "quantity": kind,
                    "hidden": True,
                }


def _write_bearing(
    writer: Writer, stage: Stage, bearing: Bearing, derived: set[str]
) -> None:
    """Write the columns that only the drawing of a bearing needs."""
    for i, axis in enumerate("xy"):
        name = f"{bearing.name}.place_{axis}"
        if name not in derived:
            place = bearing.place[:, i]
            writer.add_place({"name": name, "unit": "", "hidden": True}, place)
    for i, axis in enumerate("xy"):
        name = f"{bearing.name}.normal_{axis}"
        normal = bearing.normal[:, i]
        writer.add_plain({"name": name, "unit": "", "hidden": True}, normal)
    name = bearing.rub
    if name not in stage.values:
        writer.add_plain({"name": name, "unit": "N", "hidden": True}, bearing.friction)


def _write_meshes(writer: Writer, stage: Stage) -> tuple[dict[str, Item], float]:
    """Write the meshes of flexible bodies; return them, and the largest deformation."""
    found: dict[str, Item] = {}
    largest = 0.0
    motions = {
        name: condense(skin, stage.eta(name)) for name, skin in stage.skins.items()
    }
    for name, motion in motions.items():
        step = MESH_STEP * float(np.max(np.abs(motion.coordinates), initial=0.0))
        columns = [f"{name}:shape.{j}" for j in range(motion.turn.shape[1])]
        for column, values in zip(columns, motion.coordinates.T, strict=True):
            item: Item = {"name": column, "unit": "", "hidden": True}
            writer.add_component(item, values, step or 1.0)
        found[name] = {"coordinates": columns}
    for name, skin in stage.skins.items():
        turn, eta = motions[name].turn, stage.eta(name)
        seen = eta[:: 1 + len(eta) // MOST_SEEN]
        fields: list[Item] = []
        for field in skin.fields.values():
            values = field.at(seen)
            item = {"name": field.name, "unit": field.unit, "across": field.across}
            item["range"] = [float(values.min()), float(values.max())]
            item["n_component"] = field.shapes.shape[1]
            item["shapes"] = writer.block(field.shapes @ turn)
            fields.append(item)
        largest = max(largest, fields[0]["range"][1])
        found[name] |= {
            "nodes": writer.block(skin.nodes),
            "triangles": writer.block(skin.triangles),
            "sides": writer.block(skin.sides),
            "rims": [rim.tolist() for rim in skin.rims],
            "sites": skin.sites,
            "fields": fields,
            "faces": [
                {"nodes": f.nodes.tolist(), "normal": f.normal, "reach": f.reach}
                for f in skin.faces
            ],
        }
    return found, largest


def _stated(tolerance: float) -> float:
    """Return a tolerance with two digits, not less than it is."""
    stated = float(f"{tolerance:.1e}")
    return stated if stated >= tolerance else float(f"{1.05 * tolerance:.1e}")


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
    has_begun = not isinstance(result.steps, _NoSteps)
    return {
        "status": result.status,
        "message": result.message,
        "t_start": float(result.t_start),
        "t_end": float(result.t_end),
        "notes": list(result.notes) if has_begun else [],
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
