"""Samples of a run: few, and lines between them keep to a stated tolerance."""

import math
import re
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Ground,
    Model,
    ModelError,
    MovingSupport,
    Revolute,
    RigidBody,
    RotationDrive,
    SolveError,
    SpringDamper,
    gallery,
    simulate,
)
from nonsmooth.columns import ACTING, QUANTITIES
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.views import contacts, sampling
from nonsmooth.views.scene import scene
from nonsmooth.views.source import Source
from nonsmooth.views.writer import ROUND_OFF, STEP
from oracles.random_joints import MECHANISMS
from oracles.scene_reader import Document, sampled, sides

# Half a unit in the last place of single precision, relative.
SINGLE = 2.0**-24


# ---- of the gallery --------------------------------------------------------------
AREA = re.compile(r"\.(top|bottom)_(left|right)\.")


def between(document, columns, t):
    """Return what the viewer shows at times inside arcs, on straight lines."""
    times, _ = sides(document)
    i = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    part = (t - times[i]) / (times[i + 1] - times[i])
    return {n: v[i] + part * (v[i + 1] - v[i]) for n, v in columns.items()}


@pytest.mark.parametrize("name", ["compactor", "crank_rocker", "trammel"])
def test_lines_keep_to_the_tolerance_of_a_small_budget(documents, name):
    result = documents(name)[0]
    document = Document(scene(result, budget=15_000))
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


@pytest.mark.parametrize("name", ["compactor", "pendulum_chain"])
def test_cubics_are_better(documents, name):
    """Between samples, places follow cubics from velocities."""
    result, document = documents(name)
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


def test_budget(documents):
    result = documents("compactor")[0]
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


def test_rounding_is_as_stated(documents):
    result, fine = documents("compactor")
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
        if name.rpartition(".")[2] in ("x", "y", "theta", "mode", "side"):
            assert np.all(error <= SINGLE * np.abs(wanted)), name
        else:
            slack = SINGLE * np.abs(wanted) + ROUND_OFF * np.max(np.abs(wanted))
            assert np.all(error <= 0.5 * precision * np.ptp(wanted) + slack), name
            has_rounded |= bool(np.any(error > slack))
    assert has_rounded


def test_same_bytes(documents):
    result = documents("belt")[0]
    assert scene(result) == scene(result)


def test_noise_costs_no_samples(documents):
    """A block that only slides has no rotation; its round-off is not resolved."""
    result, document = documents("two_blocks")
    assert document.n < 20 * len(result.steps.t)


def test_fine_grid(documents):
    result = documents("belt")[0]
    parts = np.full(len(result.steps.t), 20)
    grid = sampling.fine_grid(result, parts)
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


def test_chunks_change_little(documents, monkeypatch):
    """Long runs are sampled in parts, which only adds samples where parts meet."""
    result = documents("pendulum_chain")[0]
    whole = Document(scene(result))
    monkeypatch.setattr(sampling, "BATCH", 40_000)
    parts = Document(scene(result))
    assert whole.n <= parts.n <= 1.2 * whole.n
    assert set(whole.header) == set(parts.header)


# ---- at random times of random runs ---------------------------------------------


def curves(document, result):
    """Return all columns that lines are drawn of, points of bodies as well."""
    known = set(result.columns) - {"t"}
    # Places where contacts press are drawn, not plotted.
    stepped = ("mode", "side", *ACTING)
    names = [n for n in document.infos if n in known]
    found = {
        n: np.array(document.column(n))
        for n in names
        if n.rpartition(".")[2] not in stepped
    }
    for item in document.header["derived"]:
        if item["name"] not in known:
            continue
        body, quantity, (x, y) = item["body"], item["quantity"], item["point"]
        theta, w, a = (found[f"{body}.{q}"] for q in ("theta", "omega", "alpha"))
        c, s = np.cos(theta), np.sin(theta)
        rx, ry = c * x - s * y, s * x + c * y
        change = {
            "x": rx,
            "y": ry,
            "vx": -w * ry,
            "vy": w * rx,
            "ax": -a * ry - w * w * rx,
            "ay": a * rx - w * w * ry,
        }[quantity]
        found[item["name"]] = found[f"{body}.{quantity}"] + change
    return found


def unit_of(name):
    return QUANTITIES[name.rpartition(".")[2]].unit


def rounding(document, columns, name):
    """Return by how much numbers of a column are rounded, at most."""
    sizes = {n: np.max(np.abs(v)) for n, v in columns.items()}
    same = [sizes[n] for n in columns if unit_of(n) == unit_of(name)]
    # What is round-off beside the largest of its unit may be left out.
    left_out = ROUND_OFF * max(same)
    item = next((d for d in document.header["derived"] if d["name"] == name), None)
    if item is None:
        info = document.infos[name]
        if "origin" in info:
            ways = [
                np.ptp(columns[n])
                for n in columns
                if n.rpartition(".")[2] in ("x", "y")
            ]
            step = max(STEP * max(ways), ROUND_OFF * sizes[name])
            # The numbers are up to twice the range.
            return 0.5 * step + 2.0 * SINGLE * np.ptp(columns[name]) + left_out
        return (0.0 if info["type"] == "f64" else SINGLE * sizes[name]) + left_out
    body, quantity = item["body"], item["quantity"]
    own = rounding(document, columns, f"{body}.{quantity}")
    arm = math.hypot(*item["point"])
    turned = rounding(document, columns, f"{body}.theta")
    w, a = (sizes[f"{body}.{q}"] for q in ("omega", "alpha"))
    # The angle and the rates, each in single precision.
    return own + arm * (turned * (1.0 + w + a + w * w) + 3.0 * SINGLE * (w + a + w * w))


EPSILON = float(np.finfo(float).eps)


def check(result, budget=10_000_000, n=1500):
    document = Document(scene(result, budget=budget))
    info = document.header["sampling"]
    columns = curves(document, result)
    names = list(columns)
    times = np.array(document.column("t"))
    rng = np.random.default_rng(5)
    t = np.sort(rng.uniform(result.t_start, result.t_end, n))
    i = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    part = (t - times[i]) / (times[i + 1] - times[i])
    expected = result.sample(t, names)
    source = Source(result)
    noise = dict(zip(source.curves, source.scales.noise, strict=False))
    ranges = {m: max(np.ptp(columns[m]), np.ptp(expected[m])) for m in names}
    for name in names:
        if math.isinf(noise[name]):
            continue  # round-off, of which nothing is promised
        if AREA.search(name):
            continue  # has kinks where nothing is an event, without friction
        values = columns[name]
        found = values[i] + part * (values[i + 1] - values[i])
        error = np.max(np.abs(found - expected[name]))
        same = [ranges[m] for m in names if unit_of(m) == unit_of(name)]
        scale = max(ranges[name], sampling.SMALL * max(same))
        # Errors are measured on a grid: in a turn of 128 parts that is cut into some
        # 70, the middle of a line may lie between two of them. A point of it is there
        # at 1/4 of the line, where it misses by 3/4 of the most.
        relative = info["tolerance"] / 0.75 + info["precision"]
        # Two of the rounded numbers, and what the sampling leaves unresolved: a number
        # in single precision.
        slack = 2.0 * rounding(document, columns, name)
        # An angle that stays zero is round-off of one radian.
        slack += EPSILON * (unit_of(name) == "rad")
        slack += (
            sampling.SINGLE
            * np.max(np.abs(values))
            * (name.rpartition(".")[2] not in ("x", "y"))
        )
        assert error <= relative * scale + slack, name
    return document, columns


@pytest.mark.parametrize("kind", MECHANISMS)
def test_random_mechanisms(kind):
    model = MECHANISMS[kind](np.random.default_rng([0, 71]))
    result = simulate(model, until=0.5)
    check(result)


def chosen(rng, system):
    """Return parameters of a gallery system within the ranges of its sliders."""
    found: dict[str, Any] = {}
    for item in gallery.parameters(system):
        if item.low is None or item.high is None or rng.random() < 0.5:
            continue
        if item.type == "int":
            found[item.name] = int(rng.integers(item.low, min(item.high, 4) + 1))
        elif item.type == "float":
            # Not too far from what is known to run.
            value = float(rng.uniform(item.low, item.high))
            default = value if item.default is None else float(item.default)
            found[item.name] = 0.7 * default + 0.3 * value
    return found


@pytest.mark.parametrize(
    "system", ["compactor", "free_standing", "friction_laws", "slider_crank", "trammel"]
)
def test_gallery_at_random_parameters(system):
    rng = np.random.default_rng([ord(letter) for letter in system])
    until = min(0.5, gallery.duration(system))
    for _ in range(20):
        try:
            result = simulate(gallery.build(system, **chosen(rng, system)), until=until)
        except (ModelError, SolveError):
            continue  # values that do not go together
        check(result)
        return
    pytest.fail("no parameters can be run")


def rotors(rng, place):
    """Return what turns fast, at a place: driven, free, flying, and a support."""
    x, y = place
    speeds = rng.uniform(-1.0, 1.0, 4) * 10.0 ** rng.uniform(0.0, 2.3, 4)
    point = tuple(rng.uniform(-1.0, 1.0, 2).tolist())
    driven, free, flying, support = speeds.tolist()

    def wheel(name, at, speed, **given):
        return RigidBody(
            name=name,
            mass=1.0,
            inertia=0.1,
            position=at,
            angular_velocity=speed,
            points={"rim": point},
            **given,
        )

    turning: dict[str, Any] = {
        "x": x,
        "y": y - 3.0,
        "theta": ConstantRate(rate=support),
    }
    return Model(
        gravity=(0.0, -9.81),
        bodies=[
            Ground(points={"one": (x, y), "two": (x + 3.0, y)}),
            wheel("driven", (x, y), driven),
            wheel("free", (x + 3.0, y), free),
            wheel("flying", (x, y + 3.0), flying, velocity=(1.0, 4.0)),
            MovingSupport(name="support", points={"rim": point}, **turning),
        ],
        joints=[
            Revolute(name="pin_one", a="ground.one", b="driven"),
            Revolute(name="pin_two", a="ground.two", b="free"),
        ],
        drives=[RotationDrive(name="motor", b="driven", law=ConstantRate(rate=driven))],
        forces=[SpringDamper(name="soft", a="ground.two", b="flying", stiffness=2.0)],
    )


@pytest.mark.parametrize(("seed", "distance"), [(0, 0.0), (1, 1e2), (2, 1e6), (3, 1e6)])
def test_what_turns_fast_and_far_away(seed, distance):
    rng = np.random.default_rng([seed, 5])
    place = (distance * rng.uniform(0.5, 1.0), -distance * rng.uniform(0.5, 1.0))
    result = simulate(rotors(rng, place), until=1.0)
    document, columns = check(result)
    assert document.header["sampling"]["tolerance"] < 2.0 * sampling.FINEST
    # The rim goes round, and the document knows how far.
    speed = abs(result["driven.omega"][0])
    arm = math.hypot(*document.header["bodies"][-1]["points"]["rim"])
    if speed > 2.0 * math.pi:
        # 64 samples or more in a turn: half a part of it is left out at an end.
        least = 1.0 - (math.pi / 64.0) ** 2 / 2.0
        assert np.ptp(columns["driven.rim.x"]) >= 2.0 * least * arm
    if distance == 1e6:
        # Errors are beside the way, not beside the distance.
        source = Source(result)
        size = source.scales.size[source.curves.index("flying.x")]
        assert size < 1.1 * np.ptp(columns["flying.x"])
        assert "origin" in document.infos["flying.x"]
        assert document.infos["driven.x"]["type"] == "constant"


def test_turning_is_not_noise():
    """Steps of many turns: a few instants in each would show no curve."""
    wheel = RigidBody(
        name="wheel",
        mass=1.0,
        inertia=0.1,
        angular_velocity=50.0,
        points={"rim": (1.0, 0.0)},
    )
    result = simulate(Model(bodies=[wheel]), until=10.0)
    source = Source(result)
    assert np.max(source.turns) > 2.0 * math.pi * 16.0
    assert not np.any(source.scales.noise)
    check(result)


def test_more_turns_than_numbers(monkeypatch):
    """The fine grid is bounded, and what it misses is stated."""
    monkeypatch.setattr(sampling, "MANY_NUMBERS", 20_000)
    rng = np.random.default_rng(1)
    result = simulate(rotors(rng, (0.0, 0.0)), until=20.0)
    source = Source(result)
    assert np.sum(source.turns) > 2.0 * math.pi * 150.0
    parts = sampling.find_parts(result, source.plotted, source.scales, source.turns)
    grid = sampling.fine_grid(result, parts, source.turns)
    assert len(grid) * source.width < 3 * sampling.MANY_NUMBERS
    document, _ = check(result)
    # Lines over such an angle miss a circle by that.
    least = 0.5 - 0.5 * math.cos(min(0.5 * grid.turn, math.pi))
    assert document.header["sampling"]["tolerance"] >= least > sampling.COARSEST


def test_precision_follows_what_is_seen():
    """A car that goes far, and a rotor that has turned often, move evenly."""
    common: dict[str, Any] = {
        "mass": 1.0,
        "inertia": 1.0,
        "shapes": {"disc": Circle(radius=0.5)},
    }
    bodies = [
        RigidBody(name="car", velocity=(1e5, 0.0), **common),
        RigidBody(name="walker", velocity=(1.0, 0.0), **common),
        RigidBody(name="rotor", angular_velocity=5e3, **common),
        RigidBody(name="wound", angle=1e6, **common),
    ]
    document = Document(scene(simulate(Model(bodies=bodies), until=10.0)))
    kinds = {n: info["type"] for n, info in document.infos.items()}
    assert kinds["walker.x"] == "f32"
    assert kinds["car.x"] == kinds["rotor.theta"] == "f64"
    assert document.column("wound.theta")[0] == 1e6
    t = np.array(document.column("t"))
    # The motion is even: round-off of the polynomials of a few long steps.
    np.testing.assert_allclose(document.column("rotor.theta"), 5e3 * t, rtol=1e-12)
    np.testing.assert_allclose(document.column("car.x"), 1e5 * t, rtol=1e-12)


def test_energies_beyond_single_precision():
    body = RigidBody(name="b", mass=1e20, inertia=1.0, velocity=(1e10, 0.0))
    spring = SpringDamper(name="spring", b="b", stiffness=1e21)
    result = simulate(Model(bodies=[body], forces=[spring]), until=1.0)
    document = Document(scene(result))
    t = np.array(document.column("t"))
    kinetic = np.array(document.column(document.header["energy"]["kinetic"]))
    assert np.max(kinetic) > np.finfo(np.float32).max
    np.testing.assert_allclose(kinetic, result.energies(t).kinetic, rtol=1e-15)


def test_a_point_that_turns_fast():
    """A crank turns 32 times in 4 steps: its tip moves on a circle all the same."""
    crank = RigidBody(
        name="crank",
        mass=1.0,
        inertia=0.1,
        angular_velocity=20.0,
        points={"tip": (1.0, 0.0)},
    )
    law = ConstantRate(rate=20.0)
    model = Model(
        bodies=[crank],
        joints=[Revolute(name="pin", b="crank")],
        drives=[RotationDrive(name="motor", b="crank", law=law)],
    )
    header = Document(scene(simulate(model, until=10.0))).header
    # Ten samples in a turn show the width of a circle to 1 - cos(pi / 10) = 5 %.
    np.testing.assert_allclose(header["box"], [-1, -1, 1, 1], rtol=0, atol=0.05)
    assert header["sampling"]["n"] > 10 * 20.0 * 10.0 / (2.0 * np.pi)
