"""Documents of random runs keep to the tolerance that they state, at random times."""

import math
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
from nonsmooth.columns import QUANTITIES
from nonsmooth.elements.laws import ConstantRate
from nonsmooth.views import sampling
from nonsmooth.views.scene import scene
from nonsmooth.views.source import Source
from nonsmooth.views.writer import ROUND_OFF, STEP
from oracles.random_joints import MECHANISMS
from oracles.scene_reader import Document

# Half a unit in the last place of single precision, relative.
SINGLE = 2.0**-24


def curves(document, result):
    """Return all columns that lines are drawn of, points of bodies as well."""
    known = set(result.columns) - {"t"}
    stepped = ("mode", "side")
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
        slack += (
            sampling.SINGLE
            * np.max(np.abs(values))
            * (name.rpartition(".")[2] not in ("x", "y"))
        )
        assert error <= relative * scale + slack, name
    return document, columns


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", MECHANISMS)
def test_random_mechanisms(kind, seed):
    model = MECHANISMS[kind](np.random.default_rng([seed, 71]))
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


@pytest.mark.parametrize("system", gallery.names())
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


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("distance", [0.0, 1e2, 1e6])
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
    grid = sampling.fine_grid(result, source.width, source.turns)
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
