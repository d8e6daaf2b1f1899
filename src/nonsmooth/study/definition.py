"""What a study is: a system, its parameters, what is kept of each run; plain data."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from nonsmooth import gallery
from nonsmooth.elements.base import Element
from nonsmooth.errors import ModelError, nearest
from nonsmooth.io import from_dict, load_part, to_dict
from nonsmooth.io.plain import plain
from nonsmooth.model import Model
from nonsmooth.result import Result
from nonsmooth.study.design import (
    Point,
    Points,
    Scalar,
    Values,
    is_number,
    points_of,
    values_of,
)
from nonsmooth.study.functions import codes_of, text_of
from nonsmooth.study.reducers import (
    Reducer,
    WholeRun,
    function_of,
    reducer_of,
    time_at,
)
from nonsmooth.study.settings import fields as settable
from nonsmooth.study.settings import short_path
from nonsmooth.study.systems import build_model, is_file, read_file

# Columns of a table after those of parameters and outputs.
ABOUT = ("status", "message", "doubts", "seconds")
# Points of a study whose model is built before anything runs: all of few, else those
# at the ends of each parameter.
FEW = 200
# Points of which those that are refused are counted.
COUNTED = 5000
# Refused values that are named one by one.
MAX_NAMED = 4
if TYPE_CHECKING:
    # Lists and functions may be given; what is stored are values and reducers.
    Many = Mapping[str, Any]
    Kept = Mapping[str, Any]
else:
    Many = dict[str, Values | tuple[Scalar, ...]]
    Kept = dict[str, Reducer]
_OPTIONS = ("method", "rtol", "atol", "step", "max_step", "scheme", "branch", "loose")


@dataclass(frozen=True, kw_only=True)
class Study(Element, family="study", is_kind=True):
    """Many runs of one system.

    Parameters
    ----------
    title : str
        What it is about.
    system : str or Model
        A system of the gallery, a model file, or a model.
    settings : dict
        Parameters that are the same in all runs.
    parameters : dict
        Values by keyword of the gallery (`rotor_speed`) or path
        (`contacts.sole.friction.mu`, `bodies.box.position.0`).
    paths : dict
        Names of your own for paths: a parameter or setting of that name gives its
        value to all of them, `{"mass": ("left.mass", "right.mass")}`.
    outputs : dict
        What is kept of each run, by name.
    until : float or str, optional
        End of each run, s, or an expression of parameters, `900*2*pi/rotor_speed`;
        of a system of the gallery its own time by default.
    combine : "cross" or "zip"
        Every value with every other, or first with first, second with second.
    sampling : "random" or "sobol"
        How parameters that are `Between` two values are drawn.
    samples, seed : int
        How many points are drawn, and from which seed.
    method, rtol, atol, step, max_step, scheme, branch, loose, assemble
        See `simulate`.
    """

    title: str = ""
    system: Model | str
    settings: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    # A field of its own: numbers of an element for a row function, which have this
    # name elsewhere, there are none of.
    parameters: Many = field()  # pyright: ignore[reportIncompatibleMethodOverride]
    paths: dict[str, str | tuple[str, ...]] = field(
        default_factory=dict[str, str | tuple[str, ...]]
    )
    outputs: Kept
    until: float | str | None = None
    combine: Literal["cross", "zip"] = "cross"
    sampling: Literal["random", "sobol"] = "random"
    samples: int = 0
    seed: int = 0
    method: str = "auto"
    rtol: float = 1e-8
    atol: float | None = None
    step: float | None = None
    max_step: float | None = None
    scheme: str = "events"
    branch: str = "unique"
    loose: bool = False
    assemble: bool | None = None

    def _checked(
        self, item: dataclasses.Field[Any], annotation: Any, value: Any
    ) -> Any:
        if item.name == "parameters":
            return {name: values_of(name, x) for name, x in self._mapping(item, value)}
        if item.name == "outputs":
            return {name: reducer_of(name, x) for name, x in self._mapping(item, value)}
        if item.name == "system" and isinstance(value, Model | str):
            return value
        return super()._checked(item, annotation, value)

    def _mapping(self, item: dataclasses.Field[Any], value: Any) -> Any:
        if not isinstance(value, Mapping) or not value:
            raise self.fail(item.name, value, "give {name: ..., ...}, one at least")
        return cast(Mapping[str, Any], value).items()

    def label(self) -> str:
        """Return how messages call the study."""
        return f"study '{self.title}'" if self.title else "study"

    def check(self) -> None:
        """Refuse what cannot be meant."""
        for name in self.settings:
            if name in self.parameters:
                raise self.fail("settings", name, "it is a parameter as well")
        for name in self.outputs:
            if name in self.parameters:
                raise self.fail("outputs", name, "a parameter has this name")
        for name in (*self.outputs, *self.parameters):
            if name in ABOUT:
                raise self.fail("outputs", name, "every table has a column so named")
        seen: dict[str, str] = {}
        for name in (*self.parameters, *self.settings):
            for path in self.paths_of(name):
                other = seen.setdefault(short_path(path), name)
                if other != name:
                    raise self.fail("parameters", name, f"it is '{other}' as well")
        for name in self.paths:
            if not name.isidentifier() or not self.paths_of(name):
                valid = "give a name, and the paths that it stands for"
                raise self.fail("paths", name, valid)
            if name not in self.parameters and name not in self.settings:
                valid = "no parameter and no setting has this name"
                raise self.fail("paths", name, valid)
        if self.seed < 0:
            raise self.fail("seed", self.seed, "must be >= 0")

    def paths_of(self, name: str) -> tuple[str, ...]:
        """Return what a parameter or setting gives its value to."""
        paths = self.paths.get(name, name)
        return (paths,) if isinstance(paths, str) else paths

    def spread(self, chosen: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """Return values by keyword and path, of those by name."""
        return {p: value for name, value in chosen.items() for p in self.paths_of(name)}

    @cached_property
    def values(self) -> dict[str, Values]:
        """The parameters' values."""
        return {name: values_of(name, x) for name, x in self.parameters.items()}

    @cached_property
    def points(self) -> Points:
        """The points, in the order of their numbers."""
        return points_of(
            self.values,
            combine=self.combine,
            sampling=self.sampling,
            samples=self.samples,
            seed=self.seed,
        )

    def options(self) -> dict[str, Any]:
        """Return the options of each run, as `simulate` takes them."""
        found = {name: getattr(self, name) for name in _OPTIONS}
        if self.max_step is None:
            del found["max_step"]
        if self.scheme == "events":
            del found["scheme"]  # a model of full finite elements has its own
        return found


def load_study(path: str | Path) -> Study:
    """Read a study from a `.yaml`, `.yml` or `.json` file; no code is run.

        nonsmooth: 1
        study:
          system: belt
          parameters:
            speed: {type: Grid, low: 0.02, high: 0.5, n: 25}
          outputs:
            period: {type: Period, element: sole, kind: break_away}

    A model file that it names is sought from its own folder.
    """
    study = load_part(path, "study", Study)
    assert isinstance(study, Study)
    if isinstance(study.system, str) and is_file(study.system):
        place = Path(path).parent / study.system
        study = dataclasses.replace(study, system=str(place))
    return study


@dataclass(frozen=True)
class Prepared:
    """A study that is ready to run: its system is read, and all names are known."""

    study: Study
    base: Model | str  # of the gallery
    constants: dict[str, float]  # numbers that expressions may use
    library: str  # version

    def __reduce__(self) -> Any:
        """Pickle what it is made of, without points and hashes, which may be large."""
        study = dataclasses.replace(self.study)
        return (Prepared, (study, self.base, self.constants, self.library))

    def chosen(self, point: Point) -> dict[str, Scalar]:
        """Return all values of a point, with the settings."""
        return {**self.study.settings, **point}

    def model(self, point: Point) -> Model:
        """Return the model of a point."""
        return build_model(self.base, self.study.spread(self.chosen(point)))

    def numbers(self, point: Point) -> dict[str, float]:
        """Return what expressions may use at a point."""
        own = {k: float(v) for k, v in point.items() if is_number(v)}
        return {**self.constants, **{k: v for k, v in own.items() if k.isidentifier()}}

    def until(self, point: Point) -> float:
        """Return the end of the run at a point, s."""
        until = self.study.until
        if until is None:
            assert isinstance(self.base, str)
            return gallery.duration(self.base)
        return time_at(until, self.numbers(point), f"{self.study.label()}: until")

    def simulate(
        self, point: Point, progress: Callable[[float], None] | None = None
    ) -> Result:
        """Carry out the run of a point."""
        from nonsmooth.solve.simulate import simulate

        return simulate(
            self.model(point),
            self.until(point),
            assemble=self.study.assemble,
            progress=progress,
            **self.study.options(),
        )

    @cached_property
    def definition(self) -> dict[str, Any]:
        """All that the results depend on, as plain data."""
        study = self.study
        data = {
            item.name: plain(getattr(study, item.name), item.name)
            for item in dataclasses.fields(study)
            if item.name not in ("system", "outputs")
        }
        data["outputs"] = {
            name: _described(name, reducer) for name, reducer in study.outputs.items()
        }
        data["system"] = self.base if isinstance(self.base, str) else ""
        if not study.paths:
            del data["paths"]  # an index of before has none
        model = build_model(self.base, study.spread(study.settings))
        data["model"] = to_dict(model)
        codes = codes_of(model, study.outputs, study.parameters)
        if codes:
            data["code"] = codes
        data["library"] = self.library
        # As it is read again: tuples are lists.
        return json.loads(json.dumps(data))

    @cached_property
    def digest(self) -> str:
        """A hash of the definition."""
        text = json.dumps(self.definition, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def key(self, point: Point) -> str:
        """Return the hash of model, parameters, tolerances and version of a run."""
        whole = self._head.copy()
        whole.update(json.dumps(point, sort_keys=True).encode())
        return whole.hexdigest()[:32]

    @cached_property
    def _head(self) -> Any:
        own = {k: v for k, v in self.definition.items() if k not in _OF_POINTS}
        return hashlib.sha256(json.dumps(own, sort_keys=True).encode())


# What says which points there are, and nothing about one of them.
_OF_POINTS = ("parameters", "combine", "sampling", "samples", "seed", "title")


def _described(name: str, reducer: Reducer) -> Any:
    """Return a reducer as plain data; a function by its name and code."""
    function = function_of(reducer)
    if function is None:
        return plain(reducer, f"output '{name}'")
    return {
        "function": getattr(function, "__qualname__", repr(type(function))),
        "code": hashlib.sha256(text_of(function).encode()).hexdigest()[:16],
    }


def prepare(study: Study) -> Prepared:
    """Return a study that is ready to run; refuse names and values that are not known.

    Raises
    ------
    ModelError
        With the parameter or output at fault, and what would be valid.
    """
    from nonsmooth import __version__
    from nonsmooth.solve.options import Options

    Options(**study.options())
    system = study.system
    base: Model | str = system
    if isinstance(system, str) and is_file(system):
        base = read_file(system)
    _check_names(base, study)
    if isinstance(base, Model) and study.until is None:
        raise study.fail("until", None, "a model needs an end, in s")
    ready = Prepared(study, base, _constants(base, study), __version__)
    _check_points(ready)
    _check_outputs(ready)
    return ready


def _constants(base: Model | str, study: Study) -> dict[str, float]:
    """Return the numbers that expressions may use, whatever the point."""
    found: dict[str, Any] = dict(study.settings)
    if isinstance(base, str):
        spread = study.spread(study.settings)
        keywords = {k: v for k, v in spread.items() if "." not in k}
        found |= gallery.values(base, **keywords)
    numbers = {k: float(v) for k, v in found.items() if is_number(v)}
    return {k: v for k, v in numbers.items() if k.isidentifier()}


def prepare_again(definition: Mapping[str, Any]) -> Prepared:
    """Return a study from its definition, to repeat single runs of it.

    Its points and outputs are left out: functions among them are known by name only.
    """
    names = (*_OPTIONS, "title", "until", "assemble", "settings")
    # A field that is new in this release has its default.
    kept: dict[str, Any] = {n: definition[n] for n in names if n in definition}
    base = definition["system"] or from_dict(definition["model"])
    if isinstance(base, Model):
        # It was written with its settings.
        kept.pop("settings", None)
    parameters = {name: [0] for name in definition["parameters"]}
    known = (*parameters, *kept.get("settings", ()))
    paths = definition.get("paths", {})
    study = Study(
        system=base,
        parameters=parameters,
        paths={name: own for name, own in paths.items() if name in known},
        outputs={"whole": WholeRun()},
        **kept,
    )
    return Prepared(study, base, _constants(base, study), definition["library"])


def _check_names(base: Model | str, study: Study) -> None:
    """Refuse parameters that there are not, with the nearest that there are."""
    given = [*study.spread(dict.fromkeys((*study.parameters, *study.settings), 0))]
    keywords = [name for name in given if "." not in name]
    if isinstance(base, Model):
        known = [p.name for p in settable(base)]
        for name in keywords:
            raise ModelError(
                f"parameter '{name}': name a field by its path; {nearest(name, known)}"
            )
        return
    known = [p.name for p in gallery.parameters(base)]
    for name in keywords:
        if name not in known:
            raise ModelError(f"{base}: no parameter '{name}'; {nearest(name, known)}")


def _check_points(ready: Prepared) -> None:
    """Refuse values outside a parameter's range: which, and how many."""
    points = ready.study.points
    chosen = list(range(min(len(points), FEW)))
    if len(points) > FEW:
        ends: set[int] = set()
        for column in points.columns.values():
            places = range(len(column))
            ends |= {
                end(places, key=lambda k: _sort_key(column[k])) for end in (min, max)
            }
        chosen = sorted(ends)
    first = _refusals(ready, chosen, 1)
    if not first:
        return
    every = _refusals(ready, list(range(min(len(points), COUNTED))), COUNTED)
    k, why = next(iter((every or first).items()))
    if len(every) == len(points) and len(set(every.values())) == 1:
        # A name, as a rule, and no value.
        raise ModelError(why)
    blamed = _blamed(ready, list(every or first))
    some = "" if len(points) <= COUNTED else f" of the first {COUNTED}"
    raise ModelError(
        f"{blamed}{len(every or first)} of {len(points)} points{some} are refused; "
        f"the first, number {k}: {why}"
    )


def _sort_key(value: Scalar) -> tuple[str, Any]:
    return ("", float(value)) if is_number(value) else (str(value), 0.0)


def _refusals(ready: Prepared, chosen: list[int], most: int) -> dict[int, str]:
    """Return why models of points are refused, by number, at most so many."""
    found: dict[int, str] = {}
    for k in chosen:
        point = ready.study.points[k]
        try:
            ready.model(point)
            if not ready.until(point) > 0.0:
                raise ModelError(f"until = {ready.until(point):g}; must be > 0 s")
        except ModelError as error:
            found[k] = str(error)
            if len(found) == most:
                break
    return found


def _blamed(ready: Prepared, refused: list[int]) -> str:
    """Return the parameter whose values set refused points apart, if one does."""
    points, bad = ready.study.points, set(refused)
    for name, column in points.columns.items():
        wrong = {column[k] for k in bad}
        right = {v for k, v in enumerate(column[:COUNTED]) if k not in bad}
        if not wrong & right:
            order = sorted(wrong, key=_sort_key)
            words = [f"{v:.6g}" if is_number(v) else str(v) for v in order]
            shown = ", ".join(words)
            if len(words) > MAX_NAMED:
                shown = f"{words[0]} to {words[-1]}, {len(words)} values"
            return f"parameter '{name}' = {shown}: "
    return ""


def _check_outputs(ready: Prepared) -> None:
    """Refuse columns, elements, kinds and works that the system does not have."""
    from nonsmooth.columns import columns_of
    from nonsmooth.pack import pack
    from nonsmooth.study.steady import KINDS

    point = ready.study.points[0]
    system = pack(ready.model(point))
    table = columns_of(system)
    known: dict[str, Any] = {
        "element": (*system.with_mode, *system.events),
        "kind": KINDS,
        "work": system.works,
    }
    for name, reducer in ready.study.outputs.items():
        for column in reducer.names():
            if column not in table:
                raise ModelError(
                    f"output '{name}': no quantity '{column}'; {nearest(column, table)}"
                )
        for key, valid in known.items():
            value = getattr(reducer, key, None)
            if value is not None and value not in valid:
                raise ModelError(
                    f"output '{name}': {key} = {value!r}; {nearest(value, valid)}"
                )
        for key in ("last", "period"):
            value = getattr(reducer, key, None)
            if value is None:
                continue
            where = f"output '{name}': {key}"
            time = time_at(value, ready.numbers(point), where)
            if not time > 0.0:
                raise ModelError(f"{where} = {time:g}; must be > 0 s")
            if time > ready.until(point):
                raise ModelError(
                    f"{where} = {time:g} s; a run ends at {ready.until(point):g} s: "
                    "give at most that"
                )
