"""The scene document: what is in it reads back, and lines between samples are right."""

import json
import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import jsonschema
import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Constant,
    ConstantRate,
    Contact,
    Coulomb,
    Event,
    ExpressionForce,
    Ground,
    Harmonic,
    KelvinVoigt,
    Line,
    Model,
    MovingSupport,
    PointMass,
    Polygon,
    Prismatic,
    Revolute,
    RigidBody,
    RotationDrive,
    Segment,
    Shape,
    SolveError,
    SpringDamper,
    TranslationDrive,
    gallery,
    simulate,
)
from nonsmooth.elements.bodies import Body
from nonsmooth.elements.drives import Drive
from nonsmooth.elements.forces import Force
from nonsmooth.elements.joints import Joint
from nonsmooth.errors import ModelError
from nonsmooth.views import contacts, glyphs, parts, sampling
from nonsmooth.views.figure import MODES
from nonsmooth.views.places import places
from nonsmooth.views.scene import Parameter, scene
from nonsmooth.views.source import Source
from nonsmooth.views.writer import ROUND_OFF
from oracles import bearings as slow
from oracles.scene_reader import Document

# Half a unit in the last place of single precision, relative.
SINGLE = 2.0**-24
UNTIL = {"compactor": 0.2, "free_standing": 1.0, "friction_laws": 2.0}
STEPPED = ("mode", "side")


def run(name, **parameters):
    until = UNTIL.get(name, gallery.duration(name))
    return simulate(gallery.build(name, **parameters), until=until)


@pytest.fixture(scope="module")
def runs():
    """Return a result and its document by the name of the system, each made once."""
    found: dict[str, Any] = {}

    def get(name):
        if name not in found:
            result = run(name)
            found[name] = result, Document(scene(result))
        return found[name]

    return get


def arrays(document):
    return {name: np.array(document.column(name)) for name in document.infos}


def sides(document):
    """Return times, and which of them end an arc."""
    t, arcs = np.array(document.column("t")), document.header["arcs"]
    is_last = np.zeros(len(t), dtype=bool)
    is_last[np.array(arcs[1:]) - 1] = True
    return t, is_last


def sampled(result, t, is_last, names):
    after, before = result.sample(t, names), result.sample(t, names, "before")
    return {name: np.where(is_last, before[name], after[name]) for name in names}


def peaks(result, columns):
    """Return the largest number of each unit."""
    found: dict[str, float] = {}
    for name, values in columns.items():
        unit, peak = result.table[name].unit, float(np.nanmax(np.abs(values)))
        found[unit] = max(peak, found.get(unit, 0.0))
    return found


# ---- numbers ---------------------------------------------------------------------


@pytest.mark.parametrize("name", gallery.names())
def test_columns_read_back(runs, name):
    result, document = runs(name)
    assert document.header["sampling"]["precision"] == 0.0
    t, is_last = sides(document)
    derived = {item["name"] for item in document.header["derived"]}
    names = [n for n in result.columns if n != "t" and n not in derived]
    assert set(names) <= set(document.infos)
    expected = sampled(result, t, is_last, names)
    largest = peaks(result, expected)
    for column in names:
        if column.endswith(".side"):
            continue
        found = np.array(document.column(column))
        # What is round-off beside the largest of its unit may be left out.
        slack = ROUND_OFF * largest[result.table[column].unit]
        slack = SINGLE * np.abs(expected[column]) + slack
        assert np.all(np.abs(found - expected[column]) <= slack), column


@pytest.mark.parametrize("name", ["compactor", "crank_rocker", "belt"])
def test_derived_points(runs, name):
    """The viewer's formulas, from rounded columns, give the points' motion."""
    result, document = runs(name)
    t, is_last = sides(document)
    items = [d for d in document.header["derived"] if not d.get("hidden")]
    assert items or name == "belt"
    expected = sampled(result, t, is_last, [item["name"] for item in items])
    for item in items:
        body, quantity = item["body"], item["quantity"]
        x, y = item["point"]
        get = lambda q: np.array(document.column(f"{body}.{q}"))  # noqa: B023, E731
        c, s = np.cos(get("theta")), np.sin(get("theta"))
        rx, ry = c * x - s * y, s * x + c * y
        w, a = get("omega"), get("alpha")
        change = {
            "x": rx,
            "y": ry,
            "vx": -w * ry,
            "vy": w * rx,
            "ax": -a * ry - w * w * rx,
            "ay": a * rx - w * w * ry,
        }[quantity]
        found = get(quantity) + change
        # Each term is rounded, theta also as the argument of sine and cosine.
        arm = math.hypot(x, y)
        size = np.abs(get(quantity)) + arm * (1.0 + np.abs(get("theta")))
        size = size * (1.0 + np.abs(w) + np.abs(a) + w * w)
        assert np.all(np.abs(found - expected[item["name"]]) <= 4.0 * SINGLE * size)


@pytest.mark.parametrize("name", ["compactor", "belt", "slider_in_guide"])
def test_events_have_both_values(runs, name):
    result, document = runs(name)
    t = np.array(document.column("t"))
    names = [
        f"{c}.{q}"
        for c in result.system.with_mode
        for q in ("normal_force", "friction_force", "mode")
    ]
    columns = {c: np.array(document.column(c)) for c in names}
    inner = [r.t for r in result.events if result.t_start < r.t < result.t_end]
    assert inner
    for instant in inner:
        places = np.flatnonzero(t == instant)  # exactly
        assert len(places) in (1, 2)
        before = result.sample(instant, names, "before")
        after = result.sample(instant, names, "after")
        for column in names:
            old, new = columns[column][places[[0, -1]]]
            # What is constant has more digits.
            assert np.float32(old) == np.float32(before[column][0])
            assert np.float32(new) == np.float32(after[column][0])


def test_event_rows(runs):
    result, document = runs("compactor")
    events = document.header["events"]
    assert len(events["rows"]) == len(result.events) > 10
    for record, row in zip(result.events, events["rows"], strict=True):
        cells = dict(zip(events["columns"], row, strict=True))
        assert cells["t"] == record.t
        texts = ("element", "kind", "action", "before", "after", "cause")
        assert [cells[c] for c in texts] == [getattr(record, c) for c in texts]
        for quantity in ("slip_velocity", "normal_force", "friction_force"):
            pair = getattr(record, quantity)
            found = [cells[f"{quantity}_{side}"] for side in ("before", "after")]
            # Nine digits.
            assert pair is None or found == pytest.approx(pair, rel=1e-8, abs=0.0)
            assert pair is not None or found == [None, None]


def test_user_events_are_samples():
    model = gallery.build("pendulum_chain")
    event = Event(name="half", b="rod1", guard="t - 0.123456789")
    result = simulate(replace(model, events=(event,)), until=1.0)
    document = Document(scene(result))
    assert result.events[0].t in document.column("t")
    assert len(document.header["arcs"]) == 2


def test_energies(runs):
    result, document = runs("compactor")
    t, _ = sides(document)
    ledger = result.energies(t)
    energy = document.header["energy"]
    expected = {"kinetic": ledger.kinetic, "potential": ledger.potential}
    for key, values in expected.items():
        found = np.array(document.column(energy[key]))
        assert found == pytest.approx(values, rel=SINGLE, abs=0.0)
    assert energy["works"] == [f"work:{name}" for name in result.system.works]
    for name, values in ledger.work.items():
        found = np.array(document.column(f"work:{name}"))
        assert found == pytest.approx(values, rel=SINGLE, abs=1e-12)


# ---- sampling --------------------------------------------------------------------


def between(document, columns, t):
    """Return what the viewer shows at times inside arcs, on straight lines."""
    times, _ = sides(document)
    i = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    part = (t - times[i]) / (times[i + 1] - times[i])
    return {n: v[i] + part * (v[i + 1] - v[i]) for n, v in columns.items()}


@pytest.mark.parametrize(
    "name",
    ["compactor", "belt", "crank_rocker", "free_standing", "two_blocks", "trammel"],
)
@pytest.mark.parametrize("budget", [10_000_000, 15_000])
def test_lines_keep_to_the_tolerance(runs, name, budget):
    result = runs(name)[0]
    document = Document(scene(result, budget=budget))
    tolerance = document.header["sampling"]["tolerance"]
    precision = document.header["sampling"]["precision"]
    assert tolerance >= sampling.FINEST
    names = [
        c
        for c, info in document.infos.items()
        if c in result.columns and info["type"] == "f32" and c != "t"
    ]
    columns = {n: np.array(document.column(n)) for n in names}
    rng = np.random.default_rng(5)
    t = np.sort(rng.uniform(result.t_start, result.t_end, 4000))
    found, expected = between(document, columns, t), result.sample(t, names)
    ranges = {n: np.ptp(columns[n]) for n in names}
    units = {n: result.table[n].unit for n in names}
    source = Source(result)
    noise = dict(zip(source.curves, source.scales.noise, strict=False))
    for column in names:
        if math.isinf(noise[column]):
            continue  # round-off, of which nothing is promised
        same = [ranges[n] for n in names if units[n] == units[column]]
        scale = max(ranges[column], sampling.SMALL * max(same))
        error = np.max(np.abs(found[column] - expected[column])) / scale
        # Errors are measured on a grid; between its points they are larger by a few
        # per cent. Rounding adds its step.
        single = 2.0 * SINGLE * np.max(np.abs(columns[column])) / scale
        assert error <= 1.1 * tolerance + precision + single, column


@pytest.mark.parametrize("name", ["compactor", "pendulum_chain", "crank_rocker"])
def test_cubics_are_better(runs, name):
    """Between samples, places follow cubics from velocities."""
    result, document = runs(name)
    times, is_last = sides(document)
    i = np.flatnonzero(~is_last)
    h = times[i + 1] - times[i]
    middle = times[i] + 0.5 * h
    for body in result.system.bodies[: result.system.n_moving]:
        for place, rate in (("x", "vx"), ("y", "vy"), ("theta", "omega")):
            q = np.array(document.column(f"{body}.{place}"))
            v = np.array(document.column(f"{body}.{rate}"))
            found = 0.5 * (q[i] + q[i + 1]) + 0.125 * h * (v[i] - v[i + 1])
            expected = result.sample(middle, f"{body}.{place}")[f"{body}.{place}"]
            error = np.max(np.abs(found - expected))
            # h^4/384 q'''' beside the h^2/8 q'' that lines may have, 5e-4; and the
            # rounding of places.
            assert error <= 1e-4 * np.ptp(q) + 2.0 * SINGLE * np.max(np.abs(q))


def test_budget(runs):
    result = runs("compactor")[0]
    fine = scene(result)
    assert Document(fine).header["sampling"]["tolerance"] == sampling.FINEST
    # Numbers are rounded before samples are left out.
    rounded = scene(result, budget=len(fine) - 1)
    info = Document(rounded).header["sampling"]
    assert (info["n"], info["tolerance"]) == (Document(fine).n, sampling.FINEST)
    assert info["precision"] > 0.0
    for part in (0.7, 0.5):
        budget = int(part * len(rounded))
        small = scene(result, budget=budget)
        # Not much is left unused.
        assert 0.85 * budget < len(small) <= budget
        info = Document(small).header["sampling"]
        assert info["tolerance"] > sampling.FINEST
        assert info["n"] < Document(fine).n
    # Nothing fits: events stay, and the tolerance says how coarse it is.
    least = Document(scene(result, budget=10))
    assert least.header["sampling"]["tolerance"] == sampling.COARSEST
    assert len(least.header["arcs"]) == len(Document(fine).header["arcs"])


def test_rounding_is_as_stated(runs):
    result, fine = runs("compactor")
    coarse = Document(scene(result, budget=60_000))
    precision = coarse.header["sampling"]["precision"]
    assert precision > 0.0
    t, is_last = sides(coarse)
    names = [n for n in fine.infos if n in result.columns and n != "t"]
    expected = sampled(result, t, is_last, names)
    has_rounded = False
    for name in names:
        found, wanted = np.array(coarse.column(name)), expected[name]
        error = np.abs(found - wanted)
        if name.rpartition(".")[2] in ("x", "y", "theta", *STEPPED):
            assert np.all(error <= SINGLE * np.abs(wanted)), name
        else:
            slack = SINGLE * np.abs(wanted) + ROUND_OFF * np.max(np.abs(wanted))
            assert np.all(error <= 0.5 * precision * np.ptp(wanted) + slack), name
            has_rounded |= bool(np.any(error > slack))
    assert has_rounded


def test_same_bytes(runs):
    result = runs("belt")[0]
    assert scene(result) == scene(result)


def test_noise_costs_no_samples():
    """A block that only slides has no rotation; its round-off is not resolved."""
    result = run("two_blocks")
    document = Document(scene(result))
    assert document.n < 20 * len(result.steps.t)


def test_fine_grid(runs):
    result = runs("belt")[0]
    grid = sampling.fine_grid(result, 20)
    begins = contacts.arc_begins(result)
    assert np.array_equal(grid.t[grid.arcs[:-1]], result.steps.t[begins])
    ends = np.append(result.steps.t[begins[1:]], result.t_end)
    assert np.array_equal(grid.t[grid.arcs[1:] - 1], ends)
    assert np.array_equal(np.flatnonzero(grid.is_last), grid.arcs[1:] - 1)
    for a, b in zip(grid.arcs[:-1], grid.arcs[1:], strict=True):
        assert np.all(np.diff(grid.t[a:b]) > 0.0)
    assert np.all(np.isin(result.t, grid.t))


def test_keys_of_a_parabola():
    """Lines of a parabola over intervals h miss it by h^2/4 of its range."""
    t = np.linspace(0.0, 1.0, 1025)
    is_last = np.zeros(len(t), dtype=bool)
    is_last[-1] = True
    grid = sampling.Grid(t=t, is_last=is_last, arcs=np.array([0, len(t)]))
    scales = sampling.Scales(size=np.ones(1), noise=np.zeros(1))
    keys = sampling.find_keys(grid, np.array([]), lambda t, _: t[:, None] ** 2, scales)
    for k in range(1, 5):
        h = 2.0**-k
        # A little more than the error of h: the samples that h needs, not h/2.
        assert len(keys.at(1.001 * h * h / 4.0)) == 2**k + 1
        assert len(keys.at(0.999 * h * h / 4.0)) == 2 ** (k + 1) + 1


def test_chunks_change_little(runs, monkeypatch):
    """Long runs are sampled in parts, which only adds samples where parts meet."""
    result = runs("pendulum_chain")[0]
    whole = Document(scene(result))
    monkeypatch.setattr(sampling, "BATCH", 40_000)
    parts = Document(scene(result))
    assert whole.n <= parts.n <= 1.2 * whole.n
    assert set(whole.header) == set(parts.header)


# ---- the header ------------------------------------------------------------------

NUMBER, TEXT, POINT = (
    {"type": "number"},
    {"type": "string"},
    {
        "type": "array",
        "items": {"type": "number"},
        "minItems": 2,
        "maxItems": 2,
    },
)
SCALAR = {"type": ["string", "number", "boolean", "null"]}
MARKER = {"body": TEXT, "point": POINT}


def record(fields, **optional):
    return {
        "type": "object",
        "properties": {**fields, **optional},
        "required": list(fields),
        "additionalProperties": False,
    }


def some(item):
    return {"type": "array", "items": item}


def every(value):
    return {"type": "object", "additionalProperties": value}


def part(kind, hatched=True, **fields):
    optional = {"is_hatched": {"const": True}} if hatched else {}
    return record({"kind": {"const": kind}, **fields}, **optional)


PARTS = [
    part("polygon", points={**some(POINT), "minItems": 3}),
    part("circle", center=POINT, radius={"type": "number", "exclusiveMinimum": 0}),
    part("segment", start=POINT, end=POINT),
    part("line", point=POINT, angle=NUMBER),
    part("bar", hatched=False, start=POINT, end=POINT),
    part("dot", hatched=False, center=POINT),
]
SCHEMA = record(
    {
        "format": {"const": "nonsmooth-scene"},
        "version": {"const": 1},
        "generator": {"type": "string", "pattern": r"^nonsmooth \d"},
        "title": TEXT,
        "run": record(
            {
                "status": {"enum": ["finished", "stopped", "failed"]},
                "message": TEXT,
                "t_start": NUMBER,
                "t_end": NUMBER,
                "notes": some(TEXT),
                "options": every(SCALAR),
                "cost": every(NUMBER),
                "energy_residual": {"type": ["number", "null"]},
                "energy_exchanged": {"type": ["number", "null"]},
                "violation": NUMBER,
            }
        ),
        "parameters": some(
            record({"name": TEXT, "value": SCALAR, "unit": TEXT, "meaning": TEXT})
        ),
        "sampling": record(
            {"n": {"type": "integer", "minimum": 1}, "tolerance": NUMBER},
            precision=NUMBER,
        ),
        "arcs": some({"type": "integer"}),
        "columns": some(
            record(
                {
                    "name": TEXT,
                    "unit": TEXT,
                    "type": {"enum": ["f32", "f64", "i8", "constant"]},
                },
                hidden={"const": True},
                offset={"type": "integer"},
                length={"type": "integer"},
                origin=NUMBER,
                value={"type": ["number", "null"]},
            )
        ),
        "derived": some(
            record(
                {
                    "name": TEXT,
                    "unit": TEXT,
                    "body": TEXT,
                    "point": POINT,
                    "quantity": {"enum": ["x", "y", "vx", "vy", "ax", "ay"]},
                },
                hidden={"const": True},
            )
        ),
        "bodies": some(
            record(
                {
                    "name": TEXT,
                    "kind": {"enum": ["ground", "support", "rigid", "point"]},
                    "colour": {
                        "type": ["string", "null"],
                        "pattern": "^#[0-9A-F]{6}$",
                    },
                    "is_fixed": {"type": "boolean"},
                    "parts": some({"oneOf": PARTS}),
                    "points": every(POINT),
                }
            )
        ),
        "glyphs": some(
            record(
                {
                    "kind": TEXT,
                    "family": {"enum": ["joint", "drive", "force"]},
                    "name": TEXT,
                    "a": record(MARKER),
                    "b": record(MARKER),
                },
                axis=NUMBER,
                angle=NUMBER,
                travel=POINT,
                length=NUMBER,
                height=NUMBER,
                clearance=NUMBER,
                has_block={"const": False},
                radius=NUMBER,
                has_spring={"type": "boolean"},
                has_damper={"type": "boolean"},
                mode=TEXT,
                pivot=record(MARKER),
                force={**some(TEXT), "minItems": 2, "maxItems": 2},
                torque=TEXT,
            )
        ),
        "spots": some(
            record(
                {
                    "name": TEXT,
                    "element": TEXT,
                    "family": {"enum": ["contact", "joint"]},
                    "can_stick": {"type": "boolean"},
                    **dict.fromkeys(
                        ("mode", "x", "y", "nx", "ny", "normal", "friction"), TEXT
                    ),
                },
                at=record({**MARKER, "radius": NUMBER}),
            )
        ),
        "events": record({"columns": some(TEXT), "rows": some(some(SCALAR))}),
        "energy": record({"kinetic": TEXT, "potential": TEXT, "works": some(TEXT)}),
        "modes": every(TEXT),
        "gravity": POINT,
        "box": {**some(NUMBER), "minItems": 4, "maxItems": 4},
        "unit": {"type": "number", "exclusiveMinimum": 0},
    }
)


def check(document, result):
    """Check every field of a header, and that what it names is there."""
    header, n = document.header, document.n
    jsonschema.validate(header, SCHEMA)
    # JSON has no NaN.
    json.dumps(header, allow_nan=False)
    names = [column["name"] for column in header["columns"]]
    names += [item["name"] for item in header["derived"]]
    assert len(set(names)) == len(names)
    assert names[0] == "t"
    offset = 0
    for column in header["columns"]:
        is_constant = column["type"] == "constant"
        assert is_constant == ("offset" not in column) == ("value" in column)
        if not is_constant:
            assert column["offset"] == offset
            offset += column["length"]
    assert offset == len(document.arrays)
    arcs = header["arcs"]
    assert arcs[0] == 0
    assert arcs[-1] == n
    assert all(a < b for a, b in pairwise(arcs))
    t = document.column("t")
    for a, b in pairwise(arcs):
        assert all(x < y for x, y in zip(t[a : b - 1], t[a + 1 : b], strict=True))
    bodies = {body["name"]: body for body in header["bodies"]}
    assert set(bodies) == {*result.system.bodies}
    for name, body in bodies.items():
        assert body["is_fixed"] == (name == "ground")
        motion = ("x", "y", "theta", "vx", "vy", "omega")
        assert body["is_fixed"] or all(f"{name}.{q}" in names for q in motion)
    used = [header["energy"]["kinetic"], header["energy"]["potential"]]
    used += header["energy"]["works"]
    markers = [item for item in header["derived"]]
    for glyph in header["glyphs"]:
        markers += [glyph["a"], glyph["b"]]
        markers += [glyph["pivot"]] if "pivot" in glyph else []
        used += [
            *glyph.get("force", []),
            *(glyph[c] for c in ("mode", "torque") if c in glyph),
        ]
    for spot in header["spots"]:
        used += [spot[c] for c in ("mode", "x", "y", "nx", "ny", "normal", "friction")]
        markers += [spot["at"]] if "at" in spot else []
    assert set(used) <= set(names)
    assert {marker["body"] for marker in markers} <= set(bodies)
    assert header["modes"] == MODES
    assert list(header["modes"]) == list(MODES)  # in the order of legends
    left, low, right, high = header["box"]
    assert left <= right
    assert low <= high


@pytest.mark.parametrize("name", gallery.names())
def test_header(runs, name):
    result, document = runs(name)
    check(document, result)
    header = document.header
    model = result.system.model
    assert header["title"] == model.title
    assert [g["name"] for g in header["glyphs"]] == [
        e.name for e in (*model.joints, *model.drives, *model.forces)
    ]
    assert {s["name"] for s in header["spots"]} >= set(result.system.contacts)
    assert {s["element"] for s in header["spots"]} >= set(result.system.slides)
    # Every body but blocks of guides is seen.
    blocks = {j.b.partition(".")[0] for j in model.joints if isinstance(j, Prismatic)}
    for body in header["bodies"]:
        assert body["parts"] or body["name"] in {"ground", *blocks}
    visible = [
        n for n in result.columns if n not in {d["name"] for d in header["derived"]}
    ]
    shown = [c["name"] for c in header["columns"] if not c.get("hidden")]
    assert set(shown) == {
        *visible,
        *header["energy"]["works"],
        "energy:kinetic",
        "energy:potential",
    }


def test_units(runs):
    _, document = runs("compactor")
    units = {name: info["unit"] for name, info in document.infos.items()}
    assert units["t"] == "s"
    assert units["box.x"] == "m"
    assert units["box.omega"] == "rad/s"
    assert units["left.normal_force"] == "N"
    assert units["motor.torque"] == "N m"
    assert units["energy:kinetic"] == "J"
    assert units["left.mode"] == ""


def test_parameters_and_title(runs):
    result = runs("incline")[0]
    count: Any = np.int64(3)
    parameters: list[Parameter] = [
        {"name": "mu", "value": 0.3},
        {"name": "n", "value": count, "unit": "1", "meaning": "count"},
        {"name": "end", "value": math.inf},
    ]
    header = Document(scene(result, parameters, title="été <b>")).header
    assert header["title"] == "été <b>"
    assert header["parameters"] == [
        {"name": "mu", "value": 0.3, "unit": "", "meaning": ""},
        {"name": "n", "value": 3, "unit": "1", "meaning": "count"},
        {"name": "end", "value": None, "unit": "", "meaning": ""},
    ]


# ---- spots -----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Hill(Shape):
    """y = 0.1 sin x below the point, with a normal that is nearly right."""

    height: float = 0.1

    @staticmethod
    def nearest(p, a, b, out):
        slope = p[0] * math.cos(b[0])
        size = math.hypot(1.0, slope)
        out[0] = (b[1] - p[0] * math.sin(b[0])) / size
        out[1] = -slope / size
        out[2] = 1.0 / size
        out[3] = 0.0


SQUARE = ((-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1))
SURFACES = [
    Line(point=(0.1, 0.2), angle=0.7),
    Circle(center=(0.3, -0.1), radius=0.4),
    Segment(start=(-0.3, 0.1), end=(0.5, 0.3)),
    Polygon(vertices=SQUARE),
    Hill(),
]


@pytest.mark.parametrize("surface", SURFACES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("radius", [0.0, 0.15])
def test_places_of_many_instants(surface, radius):
    from nonsmooth.system import Spot

    rng = np.random.default_rng(1)
    n = 400
    poses = {
        "a": rng.uniform(-1.0, 1.0, (n, 3)) * (0.3, 0.3, 3.0),
        "b": rng.uniform(-1.0, 1.0, (n, 3)),
    }
    for owner, body in (("a", "b"), ("ground", "b"), ("a", "ground")):
        spot = Spot(
            name="s",
            element="s",
            owner=owner,
            surface=surface,
            body=body,
            centre=(0.1, 0.3),
            radius=radius,
            has_friction=False,
        )
        found = places(spot, poses, n)
        expected = [
            slow.place(spot, {k: tuple(v[i]) for k, v in poses.items()})
            for i in range(n)
        ]
        for k in (0, 1):
            # Round-off of a few turns and additions of numbers of order one.
            assert found[k] == pytest.approx(
                np.array([e[k] for e in expected]), rel=0.0, abs=1e-13
            )


def test_spots_of_contacts(runs):
    """Places in a document are those that sketches draw."""
    result, document = runs("compactor")
    header = document.header
    t, is_last = sides(document)
    names = [f"{b}.{q}" for b in ("box", "rotor") for q in ("x", "y", "theta")]
    poses = sampled(result, t, is_last, names)
    derived = {item["name"]: item for item in header["derived"]}
    for spot, item in zip(result.system.spots, header["spots"], strict=True):
        assert item["name"] == spot.name
        assert item["family"] == "contact"
        assert item["can_stick"]
        assert item["at"] == {
            "body": spot.body,
            "point": list(spot.centre),
            "radius": spot.radius,
        }
        assert derived[item["x"]]["hidden"]
        assert derived[item["x"]]["point"] == list(spot.centre)
        for k in (0, len(t) // 2, len(t) - 1):
            at = {
                b: tuple(poses[f"{b}.{q}"][k] for q in ("x", "y", "theta"))
                for b in ("box", "rotor")
            }
            _, normal = slow.place(spot, at)
            found = [document.column(item[c])[k] for c in ("nx", "ny")]
            assert found == pytest.approx(normal, abs=2.0 * SINGLE)


@pytest.mark.parametrize("name", ["slider_in_guide", "crank_rocker", "trammel"])
def test_spots_of_joints(runs, name):
    """Bearings share forces as the slow way does, at the flank that bears."""
    result, document = runs(name)
    t, is_last = sides(document)
    for joint in result.system.model.joints:
        if joint.name not in result.system.slides:
            continue
        own = [s for s in document.header["spots"] if s["element"] == joint.name]
        columns = slow.bearing_columns(joint)
        columns += [f"{joint.b.partition('.')[0]}.{q}" for q in ("x", "y")]
        values = sampled(result, t, is_last, columns)
        for k in range(0, len(t), max(1, len(t) // 40)):
            at = {c: float(v[k]) for c, v in values.items()}
            expected = slow.bearings(joint, at)
            assert len(own) == len(expected)
            for spot, bearing in zip(own, expected, strict=True):
                normal = document.column(spot["normal"])[k]
                friction = document.column(spot["friction"])[k]
                # Shares are computed from forces before they are rounded.
                assert normal == pytest.approx(bearing.normal, rel=1e-6, abs=1e-9)
                assert friction == pytest.approx(bearing.friction, rel=1e-6, abs=1e-9)
                nx, ny = (document.column(spot[c])[k] for c in ("nx", "ny"))
                assert math.hypot(nx, ny) == pytest.approx(1.0, abs=4.0 * SINGLE)


def test_sides_hold_between_events(runs):
    """At events some force is zero; the document has the side beside it."""
    result, document = runs("slider_in_guide")
    t, is_last = sides(document)
    side = np.array(document.column("guide.side"))
    i = np.flatnonzero(~is_last)
    middle = 0.5 * (t[i] + t[i + 1])
    assert np.array_equal(side[i], result.sample(middle, "guide.side")["guide.side"])
    assert np.array_equal(side[is_last], side[np.flatnonzero(is_last) - 1])
    assert len(set(side.tolist())) > 1


# ---- looks -----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class OwnPin(Joint):
    n_row: ClassVar[int] = 2

    @staticmethod
    def rows(p, s, a, b, out):
        for r in range(2):
            o = 9 * r
            for i in range(9):
                out[o + i] = 0.0
            out[o] = b[r] - a[r]
            out[o + 3 + r] = -1.0
            out[o + 6 + r] = 1.0


@dataclass(frozen=True, kw_only=True)
class OwnSpring(SpringDamper):
    """A subclass is drawn like its base."""


def bar(name="bar", **options):
    defaults: dict[str, Any] = {
        "mass": 1.0,
        "inertia": 0.1,
        "points": {"left": (-0.5, 0.0), "right": (0.5, 0.0)},
    }
    return RigidBody(name=name, **{**defaults, **options})


def shown(model, until=0.05):
    result = simulate(model, until=until)
    document = Document(scene(result))
    check(document, result)
    return document.header


def test_own_kinds_are_drawn_as_their_family():
    header = shown(
        Model(
            bodies=[bar(), bar("second", position=(1.0, 0.0))],
            joints=[OwnPin(name="pin", a="bar.right", b="second.left")],
            forces=[
                OwnSpring(name="spring", a="ground", b="bar.left", stiffness=1.0),
                ExpressionForce(name="wind", b="bar", fx="1"),
                ExpressionForce(name="pull", a="bar", b="second", fx="0.1"),
            ],
        )
    )
    kinds = {g["name"]: (g["family"], g["kind"]) for g in header["glyphs"]}
    assert kinds == {
        "pin": ("joint", "joint"),
        "spring": ("force", "spring"),
        "wind": ("force", "force"),
        "pull": ("force", "pair"),
    }
    pin = header["glyphs"][0]
    assert pin["a"] == {"body": "bar", "point": [0.5, 0.0]}
    assert pin["force"] == ["pin.force_x", "pin.force_y"]


def kinds_of(base):
    for kind in base.__subclasses__():
        yield kind
        yield from kinds_of(kind)


def test_every_family_has_a_look():
    for base, registry in (
        (Body, parts.part.kinds),
        (Shape, parts.part.kinds),
        (Joint, glyphs.glyph.kinds),
        (Drive, glyphs.glyph.kinds),
        (Force, glyphs.glyph.kinds),
    ):
        for kind in kinds_of(base):
            assert any(b in registry for b in kind.__mro__), kind


def test_bodies_without_shapes():
    header = shown(
        Model(
            bodies=[
                bar(),
                bar("plate", points={"a": (0, 1), "b": (1, 0)}, position=(3, 0)),
                bar("disc", points={}, position=(5, 0)),
                PointMass(name="mass", mass=1.0, position=(0, 2)),
                MovingSupport(name="table", x=Harmonic(amplitude=0.1, frequency=1.0)),
            ]
        )
    )
    parts = {b["name"]: [p["kind"] for p in b["parts"]] for b in header["bodies"]}
    assert parts == {
        "ground": [],
        "table": ["polygon"],
        "bar": ["bar"],
        "plate": ["polygon"],
        "disc": ["circle"],
        "mass": ["dot"],
    }
    kinds = {b["name"]: b["kind"] for b in header["bodies"]}
    assert list(kinds) == ["ground", "table", "bar", "plate", "disc", "mass"]
    assert kinds["table"] == "support"
    assert kinds["mass"] == "point"
    colours = {b["name"]: b["colour"] for b in header["bodies"]}
    assert colours["ground"] is None
    assert colours["table"] is None
    assert len({colours[n] for n in ("bar", "plate", "disc", "mass")}) == 4
    # All that is seen lies in the box.
    left, low, right, high = header["box"]
    assert left <= -0.5
    assert right >= 5.0
    assert high >= 2.0 - 1e-9
    assert low <= 0.0


def test_shapes_and_floors():
    soft = KelvinVoigt(stiffness=1e4)
    body = bar(
        points={"left": (-0.2, -0.1), "arm": (0.0, 1.0)},
        position=(0.0, 0.5),
        shapes={"hull": Polygon(vertices=SQUARE), "face": Line(point=(0, 0.1))},
    )
    header = shown(
        Model(
            bodies=[
                Ground(
                    shapes={
                        "wall": Segment(start=(2, 0), end=(2, 1)),
                        "stone": Circle(center=(3, 0), radius=0.2),
                    }
                ),
                body,
                PointMass(name="bead", mass=0.1, position=(0.05, 0.7)),
            ],
            contacts=[
                Contact(name="foot", a="ground", b="bar.left", normal=soft),
                Contact(name="on", a="bar.face", b="bead", normal=soft),
                Contact(name="side", a="ground.wall", b="bead", normal=soft),
            ],
        )
    )
    bodies = {b["name"]: b for b in header["bodies"]}
    ground = {p["kind"]: p for p in bodies["ground"]["parts"]}
    # A contact means the floor.
    assert ground["line"] == {
        "kind": "line",
        "point": [0.0, 0.0],
        "angle": 0.0,
        "is_hatched": True,
    }
    assert ground["segment"]["is_hatched"]
    assert ground["circle"]["radius"] == 0.2
    own = bodies["bar"]["parts"]
    # The arm sticks out of the shapes; the other point is on them.
    bars = [p for p in own if p["kind"] == "bar"]
    assert bars == [{"kind": "bar", "start": [0.0, 0.0], "end": [0.0, 1.0]}]
    assert not any("is_hatched" in p for p in own)
    # A face of a body is an edge of its outline, if nothing touches it beyond.
    (face,) = [p for p in own if p["kind"] == "segment"]
    assert face["start"] == pytest.approx([-0.2, 0.1], abs=1e-15)
    assert face["end"] == pytest.approx([0.2, 0.1], abs=1e-15)


def test_a_face_beyond_its_body():
    body = bar(points={}, shapes={"hull": Polygon(vertices=SQUARE), "face": Line()})
    header = shown(
        Model(
            bodies=[body, PointMass(name="bead", mass=0.1, position=(0.7, 0.3))],
            contacts=[
                Contact(
                    name="on",
                    a="bar.face",
                    b="bead",
                    normal=KelvinVoigt(stiffness=1e4),
                )
            ],
        )
    )
    parts = {b["name"]: b["parts"] for b in header["bodies"]}
    (face,) = [p for p in parts["bar"] if p["kind"] == "segment"]
    # As long as what touches it, and some more.
    assert face["start"][0] < 0.7 < face["end"][0]


def test_floors_that_move():
    def floor(x):
        header = shown(
            Model(
                bodies=[
                    MovingSupport(name="table", x=x),
                    bar(points={"a": (-1, 0), "b": (1, 0)}, position=(0, 0.1)),
                ],
                contacts=[
                    Contact(
                        name=f"at_{p}",
                        a="table",
                        b=f"bar.{p}",
                        normal=KelvinVoigt(stiffness=1e4),
                    )
                    for p in ("a", "b")
                ],
            )
        )
        return next(b["parts"] for b in header["bodies"] if b["name"] == "table")

    # To and fro: a plate under both points.
    (plate,) = floor(Harmonic(amplitude=0.1, frequency=1.0))
    xs, ys = zip(*plate["points"], strict=True)
    assert plate["kind"] == "polygon"
    assert min(xs) < -1.1
    assert max(xs) > 1.1
    assert max(ys) == 0.0
    # On and on: a belt without ends.
    (belt,) = floor(ConstantRate(rate=100.0))
    assert belt["kind"] == "line"


def test_what_is_held_is_not_seen_to_be_driven():
    header = shown(
        Model(
            bodies=[bar(velocity=(1.0, 0.0))],
            drives=[
                RotationDrive(name="held", b="bar", law=Constant(value=0.0)),
                TranslationDrive(name="moved", b="bar", law=ConstantRate(rate=1.0)),
            ],
        )
    )
    kinds = {g["name"]: g["kind"] for g in header["glyphs"]}
    assert kinds == {"held": "hold", "moved": "actuator"}


def test_joints_and_their_sizes(runs):
    header = runs("slider_in_guide")[1].header
    (guide,) = [g for g in header["glyphs"] if g["kind"] == "guide"]
    joint = runs("slider_in_guide")[0].system.model.element(guide["name"])
    assert guide["length"] == joint.length
    assert guide["mode"] == f"{joint.name}.mode"
    assert guide["angle"] == joint.axis - joint.angle
    low, high = guide["travel"]
    x = runs("slider_in_guide")[0]["slider.x"]
    assert high - low == pytest.approx(np.ptp(x), rel=1e-3)


def test_clearance():
    header = shown(
        Model(
            bodies=[bar("block", points={}, mass=1.0)],
            joints=[
                Prismatic(
                    name="guide",
                    b="block",
                    length=0.4,
                    height=0.2,
                    clearance=0.01,
                    normal=KelvinVoigt(stiffness=1e5),
                    friction=Coulomb(mu=0.2),
                )
            ],
            gravity=(0.0, -9.81),
        )
    )
    (guide,) = header["glyphs"]
    assert guide["clearance"] == 0.01
    assert guide["length"] == 0.4
    assert "force" not in guide  # it is contacts
    names = [s["name"] for s in header["spots"]]
    assert sorted(names) == sorted(
        f"guide.{e}_{f}" for e in ("front", "rear") for f in ("lower", "upper")
    )
    assert {s["family"] for s in header["spots"]} == {"joint"}
    assert {s["element"] for s in header["spots"]} == {"guide"}


def test_block_that_a_shape_shows():
    def glyph(height):
        box = ((-0.2, -height), (0.2, -height), (0.2, height), (-0.2, height))
        header = shown(
            Model(
                bodies=[bar("block", points={}, shapes={"s": Polygon(vertices=box)})],
                joints=[Prismatic(name="guide", b="block", length=0.4, height=0.2)],
            )
        )
        return header["glyphs"][0]

    assert glyph(0.1)["has_block"] is False
    assert "has_block" not in glyph(0.05)


def test_pivots(runs):
    header = runs("slider_crank")[1].header
    (motor,) = [g for g in header["glyphs"] if g["family"] == "drive"]
    assert motor["kind"] == "motor"
    pins = [g for g in header["glyphs"] if g["kind"] == "pin"]
    (pin,) = [
        g for g in pins if {g["a"]["body"], g["b"]["body"]} == {"ground", "crank"}
    ]
    assert motor["pivot"] == pin["b"]


def test_pins_with_friction():
    header = shown(
        Model(
            bodies=[bar(position=(0.5, 0.0))],
            joints=[
                Revolute(
                    name="pin", b="bar.left", radius=0.02, friction=Coulomb(mu=0.1)
                ),
            ],
            gravity=(0.0, -9.81),
        )
    )
    (pin,) = header["glyphs"]
    assert pin["radius"] == 0.02
    assert pin["mode"] == "pin.mode"
    (spot,) = header["spots"]
    assert (spot["name"], spot["family"]) == ("pin", "joint")


# ---- runs that ended early -------------------------------------------------------


def test_failed_run():
    """A law without a value ends a run; what was computed is shown."""
    model = Model(
        bodies=[PointMass(name="m", mass=1.0)],
        forces=[ExpressionForce(name="f", b="m", fx="sqrt(0.5 - t)")],
    )
    with pytest.raises(SolveError) as error:
        simulate(model, until=1.0)
    result = error.value.result
    assert result is not None
    document = Document(scene(result))
    check(document, result)
    assert document.header["run"]["status"] == "failed"
    assert document.header["run"]["message"] == result.message


def test_run_without_steps(runs):
    result = run("belt")
    steps = result.steps
    none = {f: getattr(steps, f)[:0] for f in ("t", "h", "coef", "cap", "arc")}
    modes = steps.modes.at(np.zeros(0, dtype=np.int64))
    is_implicit = steps.is_implicit[:0]
    empty = replace(steps, **none, modes=modes, is_implicit=is_implicit)
    broken = replace(
        result,
        steps=empty,
        t_end=result.t_start,
        status="failed",
        message="it broke at once",
        events=result.events[:0],
    )
    document = Document(scene(broken))
    check(document, broken)
    header = document.header
    assert (header["run"]["status"], document.n) == ("failed", 1)
    assert header["run"]["energy_residual"] is None
    # The start is drawn; forces are not known.
    moving = result.system.bodies[: result.system.n_moving]
    assert moving
    for name in moving:
        body: Any = result.system.model.element(name)
        place = [document.column(f"{name}.{q}")[0] for q in ("x", "y")]
        assert place == pytest.approx(body.position, rel=SINGLE)
    assert math.isnan(document.column("sole.normal_force")[0])


def test_stopped_run():
    model = gallery.build("pendulum_chain")
    event = Event(name="enough", b="rod1", guard="t - 0.3", action="stop")
    result = simulate(replace(model, events=(event,)), until=1.0)
    document = Document(scene(result))
    check(document, result)
    assert document.header["run"]["status"] == "stopped"
    assert document.column("t")[-1] == result.t_end == pytest.approx(0.3)


def test_parameters_by_name():
    result = simulate(gallery.build("belt"), until=0.01)
    short = Document(scene(result, {"mu": 0.3, "start": "rest"})).header
    rows: list[Parameter] = [
        {"name": "mu", "value": 0.3},
        {"name": "start", "value": "rest"},
    ]
    whole = Document(scene(result, rows)).header
    assert short["parameters"] == whole["parameters"]
    assert short["parameters"][0] == {
        "name": "mu",
        "value": 0.3,
        "unit": "",
        "meaning": "",
    }


@pytest.mark.parametrize("wrong", [[{"name": "mu"}], ["mu"], "mu", [3]])
def test_parameters_that_say_nothing_are_refused(wrong: Any):
    result = simulate(gallery.build("belt"), until=0.01)
    with pytest.raises(ModelError, match="give name and value of each"):
        scene(result, wrong)
