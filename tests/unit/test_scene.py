"""The scene document: what is in it reads back, and lines between samples are right."""

import math
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Contact,
    Coulomb,
    Event,
    ExpressionForce,
    Ground,
    KelvinVoigt,
    Line,
    Model,
    PointMass,
    Prismatic,
    RigidBody,
    SolveError,
    SpringDamper,
    gallery,
    simulate,
)
from nonsmooth.columns import ACTING
from nonsmooth.errors import ModelError
from nonsmooth.views.scene import Parameter, scene
from nonsmooth.views.writer import ROUND_OFF
from oracles.scene_reader import Document, sampled, sides
from oracles.scene_schema import check

# Half a unit in the last place of single precision, relative.
SINGLE = 2.0**-24
STEPPED = ("mode", "side")


def arrays(document):
    return {name: np.array(document.column(name)) for name in document.infos}


def peaks(result, columns):
    """Return the largest number of each unit."""
    found: dict[str, float] = {}
    for name, values in columns.items():
        unit, peak = result.table[name].unit, float(np.nanmax(np.abs(values)))
        found[unit] = max(peak, found.get(unit, 0.0))
    return found


# ---- numbers ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["compactor", "crank_rocker", "friction_laws", "n_four_bar", "two_blocks"]
)
def test_columns_read_back(documents, name):
    result, document = documents(name)
    assert document.header["sampling"]["precision"] == 0.0
    t, is_last = sides(document)
    derived = {item["name"] for item in document.header["derived"]}
    names = [n for n in result.columns if n != "t" and n not in derived]
    names = [n for n in names if n.rpartition(".")[2] not in ACTING]
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


@pytest.mark.parametrize("name", ["compactor", "crank_rocker"])
def test_derived_points(documents, name):
    """The viewer's formulas, from rounded columns, give the points' motion."""
    result, document = documents(name)
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
def test_events_have_both_values(documents, name):
    result, document = documents(name)
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


def test_event_rows(documents):
    result, document = documents("compactor")
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


def test_energies(documents):
    result, document = documents("compactor")
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


# ---- names and places that are not ordinary --------------------------------------


def ball(x=0.0, name="ball"):
    """Return a ball that falls on a floor and rolls off, at a place."""
    return Model(
        gravity=(0.0, -9.81),
        bodies=[
            Ground(shapes={"floor": Line(point=(x, 0.0))}),
            RigidBody(
                name=name,
                mass=1.0,
                inertia=0.1,
                position=(x, 0.5),
                velocity=(1.0, 0.0),
                shapes={"disc": Circle(radius=0.1)},
            ),
        ],
        contacts=[
            Contact(
                name="sole",
                a="ground.floor",
                b=f"{name}.disc",
                normal=KelvinVoigt(stiffness=1e4, damping=5.0),
                friction=Coulomb(mu=0.3),
            )
        ],
    )


def test_places_far_from_the_origin():
    """At 1000 km a ball that moves by 0.4 m must not jump by 6 cm."""
    result = simulate(ball(x=1e6), until=1.0)
    document = Document(scene(result))
    t = np.array(document.column("t"))
    # The disc touches below its centre.
    x = result.sample(t, ["ball.x"])["ball.x"]
    for column in ("ball.x", "sole.place_x"):
        found = np.array(document.column(column))
        # A tenth of a pixel in a picture of 1000.
        assert np.max(np.abs(found - x)) < 1e-4 * np.ptp(x)


def test_works_of_any_name():
    """Words of the ledger and of columns are names like any other."""
    names = ("kinetic", "potential", "mode", "side")
    springs = [
        SpringDamper(name=n, b="block", stiffness=5.0, damping=1.0) for n in names
    ]
    block = RigidBody(name="block", mass=1.0, inertia=1.0)
    result = simulate(
        Model(gravity=(0.0, -9.81), bodies=[block], forces=springs), until=1.0
    )
    document = Document(scene(result))
    energy = document.header["energy"]
    ledger = result.energies(np.array(document.column("t")))
    expected = [ledger.kinetic, ledger.potential, *(ledger.work[n] for n in names)]
    columns = [energy["kinetic"], energy["potential"], *energy["works"]]
    for column, values in zip(columns, expected, strict=True):
        # Single precision.
        size = 2.0**-23 * np.max(np.abs(values))
        np.testing.assert_allclose(document.column(column), values, rtol=0, atol=size)


def test_units_of_a_body_called_energy():
    document = Document(scene(simulate(ball(name="energy"), until=0.1)))
    units = {name: info["unit"] for name, info in document.infos.items()}
    assert units["energy.x"] == "m"
    assert units["energy.omega"] == "rad/s"
    assert units["energy:kinetic"] == "J"


# ---- the header ------------------------------------------------------------------


@pytest.mark.parametrize("name", gallery.names())
def test_header(documents, name):
    result, document = documents(name)
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
    visible = [n for n in visible if n.rpartition(".")[2] not in ACTING]
    visible = [n for n in visible if ".eta." not in n and ".eta_rate." not in n]
    shown = [c["name"] for c in header["columns"] if not c.get("hidden")]
    assert set(shown) == {
        *visible,
        *header["energy"]["works"],
        "energy:kinetic",
        "energy:potential",
    }


def test_units(documents):
    _, document = documents("compactor")
    units = {name: info["unit"] for name, info in document.infos.items()}
    assert units["t"] == "s"
    assert units["box.x"] == "m"
    assert units["box.omega"] == "rad/s"
    assert units["left.normal_force"] == "N"
    assert units["motor.torque"] == "N m"
    assert units["energy:kinetic"] == "J"
    assert units["left.mode"] == ""


def test_parameters_and_title(documents):
    result = documents("incline")[0]
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


# ---- runs that ended early -------------------------------------------------------


def test_a_document_that_does_not_fit_says_so():
    """Events are kept whatever the budget."""
    result = simulate(gallery.belt(), until=3.0)
    n = len(np.unique(result.events.t))
    assert n > 3
    small = Document(scene(result, budget=1000)).header
    assert "0.001" in small["run"]["notes"][-1]
    assert f"each of {n} instants of events" in small["run"]["notes"][-1]
    assert small["run"]["notes"][:-1] == Document(scene(result)).header["run"]["notes"]


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


def test_run_without_steps(documents):
    result = documents("belt")[0]
    log = copy(result.steps.chunks[0])
    log.n = 0
    empty = replace(result.steps, chunks=(log,))
    broken = replace(
        result,
        steps=empty,
        t_end=result.t_start,
        status="failed",
        message="it broke at once",
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


def test_parameters_that_say_nothing_are_refused():
    result = simulate(gallery.build("belt"), until=0.01)
    wrong: Any
    for wrong in ([{"name": "mu"}], ["mu"], "mu", [3]):
        with pytest.raises(ModelError, match="give name and value of each"):
            scene(result, wrong)
