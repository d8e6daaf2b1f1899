"""Runs on disk: one file that holds all a result needs to say what it can say.

A file is a ZIP archive that NumPy opens like any `.npz`, and this is its format:

    nonsmooth.json    the head: format, version of the library, model, options, what
                      the numbers belong to
    y_end.npy, mode_end.npy
                      state and modes after the last step
    0/t.npy ...       the first chunk of steps: the slots of `kernels.run.Log`;
                      then 1/t.npy, and so on
    part 0/0/t.npy ...
                      the same of each part that marched apart, with an end of its own
    NAME/stiffness.npy ...
                      the reduction of flexible body NAME, with the mesh it is drawn by
    waves/rows.npy ...
                      of the scheme `waves`, in place of steps: what `History` holds

Coordinates, works, contacts and guards are named in the head, so that a release that
orders them otherwise still reads the file. Archives carry check sums: what is torn or
damaged is refused. Nothing in a file is run; laws of a user's own must have been
imported, as for a model file.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.flexible import Nodes, Reduced, Site
from nonsmooth.errors import ModelError
from nonsmooth.files import replacing
from nonsmooth.io import from_dict, to_dict
from nonsmooth.kernels.mechanics import tables
from nonsmooth.kernels.run import Log
from nonsmooth.pack import System, pack
from nonsmooth.pack.waves import pack_waves
from nonsmooth.result import Apart, Result, Steps
from nonsmooth.result.event_table import EventRecord
from nonsmooth.result.history import Frames, History
from nonsmooth.result.state import MODE
from nonsmooth.result.track import Track
from nonsmooth.solve.options import Baumgarte

FORMAT = 1  # of saved runs
SUFFIX = ".nsr"
HEAD = "nonsmooth.json"
FORMAT_KEY = "nonsmooth_result"
# Steps are rough numbers that hardly shrink; flags beside them do, at any level.
LEVEL = 1
_PLAIN = ("t_start", "t_end", "status", "message", "cost", "violation", "is_projected")
_GUARDS = ("USER", "GAP", "FORCE", "FLANK", "FORWARD", "BACKWARD", "GROUP", "MARGIN")


def save(result: Result, file: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write a run to a file, or to what is open for writing bytes."""
    if isinstance(file, str | os.PathLike):
        with replacing(file) as place, place.open("wb") as target:
            _write(result, target)
    else:
        _write(result, file)


def load(file: str | os.PathLike[str] | IO[bytes]) -> Result:
    """Read a run that `save` has written.

    Raises
    ------
    ModelError
        It is none, or is torn or damaged, or of another format.
    OSError
        It cannot be read.
    """
    is_path = isinstance(file, str | os.PathLike)
    who = os.fspath(file) if is_path else "saved run"
    try:
        with zipfile.ZipFile(file) as archive:
            return _Reader(archive, str(who)).result()
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        begin = b""
        if is_path:
            with open(file, "rb") as source:
                begin = source.read(4)
        if is_path and begin != b"PK\x03\x04":
            raise ModelError(f"{who}: this is not a saved run") from None
        why = error.args[0] if error.args else "it ends too soon"
        raise ModelError(f"{who}: the file is torn or damaged ({why})") from None


# -- writing -----------------------------------------------------------------------


def _write(result: Result, target: IO[bytes]) -> None:
    from nonsmooth import __version__

    system, steps = result.system, result.steps
    options = dict(result.options)
    held = options["stabilisation"]
    if isinstance(held, Baumgarte):
        options["stabilisation"] = dataclasses.asdict(held)
    head: dict[str, Any] = {
        FORMAT_KEY: FORMAT,
        "library": __version__,
        "model": to_dict(system.model),
        **{name: getattr(result, name) for name in _PLAIN},
        "options": options,
        "baumgarte": result.baumgarte,
        "remarks": result.remarks,
        "engine": result.engine,
        "layout": layout(system),
        "flexible": {name: _shapes(own) for name, own in system.flexible.items()},
    }
    if isinstance(steps, History):
        own = {name: getattr(steps, name) for name in _WAVES}
        head["waves"] = {**own, "works": list(steps.works)}
    elif isinstance(steps, Track):
        events = [dataclasses.asdict(event) for event in steps.records]
        own = {"names": steps.names, "works": list(steps.works), "events": events}
        head["track"] = own
    elif isinstance(steps, Apart):
        head["parts"] = _parts(steps)
    else:
        head["chunks"] = _lengths(steps)
    with zipfile.ZipFile(
        target, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL
    ) as archive:
        # Python's JSON: NaN and Infinity are written as such.
        archive.writestr(HEAD, json.dumps(head))
        for name, array in _arrays_of(steps):
            _put(archive, name, array)
        for name, reduced in system.flexible.items():
            for key, array in _arrays(reduced).items():
                _put(archive, f"{name}/{key}", array)


def _lengths(steps: Steps) -> list[int]:
    return [int(log.n) for log in steps.chunks]


def _parts(steps: Apart) -> list[dict[str, Any]]:
    """Return what of parts that marched apart is not an array."""
    own = zip(steps.system.parts, steps.own, steps.ends, strict=True)
    return [
        {"layout": layout(part.system), "chunks": _lengths(of), "end": end}
        for part, of, end in own
    ]


def _arrays_of(steps: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every array of what was computed, with its name."""
    if isinstance(steps, History):
        yield from _wave_arrays(steps).items()
        return
    if isinstance(steps, Track):
        yield from ((f"track/{name}", getattr(steps, name)) for name in _TRACK)
        yield "track/works", np.array([*steps.works.values()])
        return
    yield f"{place}y_end", steps.y_end
    yield f"{place}mode_end", steps.mode_end
    if isinstance(steps, Apart):
        for k, own in enumerate(steps.own):
            yield from _arrays_of(own, f"part {k}/")
        return
    for k, log in enumerate(steps.chunks):
        for name in _slots():
            yield f"{place}{k}/{name}", np.asarray(getattr(log, name))[: log.n]


def _put(archive: zipfile.ZipFile, name: str, array: Any) -> None:
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _slots() -> list[str]:
    return list(Log._layout.arrays)  # pyright: ignore[reportPrivateUsage]


def layout(system: System) -> dict[str, list[str]]:
    """Return names for what logged numbers belong to: states, contacts, guards."""
    m = system.tables
    kinds = {getattr(tables, name): name.lower() for name in _GUARDS}
    guards: list[str] = []
    for kind, k in zip(m.watch_kind.tolist(), m.watch_owner.tolist(), strict=True):
        names = system.events if kind == tables.USER else system.with_mode
        guards.append(f"{kinds[kind]} {names[k] if k >= 0 else ''}".rstrip())
    return {
        "state": list(system.state_names()),
        "contacts": list(system.with_mode),
        "guards": _distinct(guards),
    }


def _distinct(names: list[str]) -> list[str]:
    """Return names with a number behind those that appear again."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return found


# -- flexible bodies -----------------------------------------------------------------

_REDUCED = ("centre", "stiffness", "lever", "gyro", "spin", "pull")
_OPTIONAL = ("gauges", "shapes")
_SITE = ("place", "shape", "turn", "lost")
_NODES = ("places", "shapes", "weights", "flexibility")


def _shapes(own: Reduced) -> dict[str, Any]:
    """Return what of a reduction is not an array."""
    sites = {
        name: {"bend": site.bend is not None, "nodes": site.nodes is not None}
        for name, site in own.sites.items()
    }
    mesh = own.mesh
    return {
        "mass": own.mass,
        "inertia": own.inertia,
        "n_mode": own.n_mode,
        "sites": sites,
        "notes": own.notes,
        "has": [name for name in _OPTIONAL if getattr(own, name) is not None],
        "mesh": mesh
        and {"cell": mesh.cell, "order": mesh.order, "edges": list(mesh.edges)},
    }


def _arrays(own: Reduced) -> dict[str, Any]:
    found = {name: getattr(own, name) for name in (*_REDUCED, *_OPTIONAL)}
    for key, site in own.sites.items():
        parts = {name: getattr(site, name) for name in (*_SITE, "bend")}
        found |= {f"{key}/{n}": a for n, a in parts.items()}
        if site.nodes is not None:
            found |= {f"{key}/nodes/{n}": getattr(site.nodes, n) for n in _NODES}
    if own.mesh is not None:
        found |= {"mesh/nodes": own.mesh.nodes, "mesh/cells": own.mesh.cells}
        found |= {f"mesh/edges/{n}": edges for n, edges in own.mesh.edges.items()}
    return {name: array for name, array in found.items() if array is not None}


_TRACK = ("instants", "rows", "kinetic", "potential", "is_closed")

# -- waves ---------------------------------------------------------------------------

_WAVES = ("method", "h_step", "stride")
_ROWS = ("rows", "energies", "changes_at", "edges")
_FRAMES = ("step", "u", "v", "lam", "segment")
# Nodes of a mesh that is made again lie where they lay, but for round-off of their
# coordinates.
_SAME_PLACE = 1e-12


def _wave_arrays(steps: History) -> dict[str, Any]:
    found = {f"waves/{name}": getattr(steps, name) for name in _ROWS}
    found |= {f"waves/works/{k}": x for k, x in enumerate(steps.works.values())}
    found |= {f"waves/frames/{name}": getattr(steps.frames, name) for name in _FRAMES}
    return found | {"waves/place": np.asarray(steps.waves.solid.place)}


# -- reading -----------------------------------------------------------------------


class _Reader:
    """Reads one file, and says what is wrong with it."""

    def __init__(self, archive: zipfile.ZipFile, who: str) -> None:
        self.archive, self.who = archive, who

    def refuse(self, why: str) -> ModelError:
        return ModelError(f"{self.who}: {why}")

    def head(self) -> dict[str, Any]:
        if HEAD not in self.archive.namelist():
            raise self.refuse("this is not a saved run")
        try:
            head = json.loads(self.archive.read(HEAD))
            version = head[FORMAT_KEY]
        except (ValueError, TypeError, KeyError):
            raise self.refuse("this is not a saved run") from None
        if version != FORMAT:
            raise self.refuse(
                f"a run of format {version!r}, saved by nonsmooth "
                f"{head.get('library', '?')}; this release reads format {FORMAT}"
            )
        return head

    def array(self, name: str) -> NDArray[Any]:
        # Whole: the check sum is known at the end of a member.
        raw = io.BytesIO(self.archive.read(f"{name}.npy"))
        try:
            return np.lib.format.read_array(raw, allow_pickle=False)
        except (ValueError, MemoryError) as error:
            raise self.refuse(f"the file is damaged ({name}: {error})") from None

    def result(self) -> Result:
        head = self.head()
        try:
            return self._result(head)
        except (TypeError, AttributeError, IndexError) as error:
            raise self.refuse(f"the head of the file is damaged ({error})") from None

    def _result(self, head: dict[str, Any]) -> Result:
        model = from_dict(head["model"], source=self.who)
        of = {name: self.reduced(name, own) for name, own in head["flexible"].items()}
        system = pack(model, of)
        if "waves" in head:
            steps = self.waves(system, head)
        elif "track" in head:
            steps = self.track(system, head["track"])
        elif head.get("parts"):
            steps = self.apart(system, head)
        else:
            steps = self.steps("", system, head)
        options: dict[str, Any] = dict(head["options"])
        held: Any = options["stabilisation"]
        if held is not None and not isinstance(held, str):
            options["stabilisation"] = Baumgarte(**held)
        return Result(
            system=system,
            steps=steps,
            options=options,
            baumgarte=tuple(head["baumgarte"]),
            remarks=tuple(head["remarks"]),
            engine=head.get("engine", ""),
            **{name: head[name] for name in _PLAIN},
        )

    def steps(self, place: str, system: System, head: dict[str, Any]) -> Steps:
        """Return the steps of a system."""
        order = self.orders(system, head["layout"])
        n = len(head["chunks"])
        chunks = tuple(self.log(f"{place}{k}", system, order) for k in range(n))
        if [log.n for log in chunks] != head["chunks"]:
            raise self.refuse("the file is damaged (steps are missing)")
        return Steps(
            system=system,
            chunks=chunks,
            y_end=self.array(f"{place}y_end")[order["state"]],
            mode_end=self.modes(f"{place}mode_end")[order["contacts"]],
        )

    def apart(self, system: System, head: dict[str, Any]) -> Apart:
        """Return the steps of parts that marched apart."""
        order, heads = self.orders(system, head["layout"]), head["parts"]
        if len(heads) != len(system.parts):
            raise self.refuse(
                f"this release parts the model into {len(system.parts)}, not "
                f"{len(heads)}; run it again"
            )
        own = enumerate(zip(system.parts, heads, strict=True))
        return Apart(
            system=system,
            own=tuple(self.steps(f"part {k}/", p.system, h) for k, (p, h) in own),
            ends=tuple(own["end"] for own in heads),
            t_end=head["t_end"],
            y_end=self.array("y_end")[order["state"]],
            mode_end=self.modes("mode_end")[order["contacts"]],
        )

    def track(self, system: System, own: dict[str, Any]) -> Track:
        """Return what a run of `appended` has recorded."""
        arrays: dict[str, Any] = {n: self.array(f"track/{n}") for n in _TRACK}
        return Track(
            system=system,
            names=tuple(own["names"]),
            works=dict(zip(own["works"], self.array("track/works"), strict=True)),
            records=tuple(EventRecord(**event) for event in own["events"]),
            **arrays,
        )

    def waves(self, system: System, head: dict[str, Any]) -> History:
        """Return what a run of `waves` has recorded; its mesh is made again."""
        waves, own = pack_waves(system), head["waves"]
        waves.solid.h = own["h_step"]
        place, now = self.array("waves/place"), np.asarray(waves.solid.place)
        is_same = place.shape == now.shape and np.allclose(
            place, now, rtol=0.0, atol=_SAME_PLACE * system.size
        )
        if not is_same:
            raise self.refuse("this release makes other meshes of it; run it again")
        works = {
            name: self.array(f"waves/works/{k}") for k, name in enumerate(own["works"])
        }
        frames = {name: self.array(f"waves/frames/{name}") for name in _FRAMES}
        rows: dict[str, Any] = {n: self.array(f"waves/{n}") for n in _ROWS}
        return History(
            waves=waves,
            t_end=head["t_end"],
            works=works,
            frames=Frames(**frames),
            **{name: own[name] for name in _WAVES},
            **rows,
        )

    def orders(
        self, system: System, named: dict[str, list[str]]
    ) -> dict[str, NDArray[np.int64]]:
        """Return where this release's states, contacts and guards stand in the file."""
        found: dict[str, NDArray[np.int64]] = {}
        for what, names in layout(system).items():
            place = {name: k for k, name in enumerate(named[what])}
            if place.keys() != set(names):
                other = sorted(place.keys() ^ set(names))
                raise self.refuse(
                    f"this release gives the model other {what} than that which "
                    f"saved it ({', '.join(other[:3])}); run it again"
                )
            found[what] = np.array([place[name] for name in names], dtype=np.int64)
        return found

    def modes(self, name: str) -> Any:
        array = self.array(name)
        if set(array.dtype.names or ()) != set(MODE.names):
            raise self.refuse("modes have other fields in this release; run it again")
        found = np.zeros(array.shape, dtype=MODE)
        for field in MODE.names:
            found[field] = array[field]
        return found

    def log(
        self, where: str, system: System, order: dict[str, NDArray[np.int64]]
    ) -> Log:
        """Return one chunk of steps."""
        by = {"coef": "state", "end": "state", "fired": "guards"}
        by |= {"impulse": "contacts", "mode": "contacts"}
        values: dict[str, Any] = {}
        for name in _slots():
            place = f"{where}/{name}"
            array = self.modes(place) if name == "mode" else self.array(place)
            if name in by:
                axis = array.ndim - 1 if by[name] == "state" else 1
                array = np.take(array, order[by[name]], axis=axis)
            values[name] = np.ascontiguousarray(array)
        n = len(values["t"])
        sizes = system.tables.sizes() | {"n_coef": values["coef"].shape[1] - 1}
        return Log(sizes, capacity=n, n=n, **values)

    def reduced(self, name: str, own: dict[str, Any]) -> Reduced:
        """Return the reduction of a flexible body."""
        from nonsmooth.fem.mesh import Mesh

        def get(key: str) -> Any:
            return self.array(f"{name}/{key}")

        sites: dict[str, Site] = {}
        for key, has in own["sites"].items():
            nodes = None
            if has["nodes"]:
                nodes = Nodes(**{n: get(f"{key}/nodes/{n}") for n in _NODES})
            sites[key] = Site(
                **{n: get(f"{key}/{n}") for n in _SITE},
                bend=get(f"{key}/bend") if has["bend"] else None,
                nodes=nodes,
            )
        mesh, drawn = None, own["mesh"]
        if drawn is not None:
            edges = {n: get(f"mesh/edges/{n}") for n in drawn.pop("edges")}
            mesh = Mesh(
                nodes=get("mesh/nodes"), cells=get("mesh/cells"), edges=edges, **drawn
            )
        return Reduced(
            mass=own["mass"],
            inertia=own["inertia"],
            n_mode=own["n_mode"],
            sites=sites,
            notes=tuple(own["notes"]),
            mesh=mesh,
            **{n: get(n) for n in (*_REDUCED, *own["has"])},
        )
