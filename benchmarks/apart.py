"""Parts that share nothing: cost over their number, and many short runs.

Compactors side by side, and boxes that slide on one floor until they rest, each with
its own speed, so that no two events are at one time.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

from benchmarks.common import Row, timed
from nonsmooth import (
    Contact,
    Coulomb,
    Ground,
    KelvinVoigt,
    Line,
    Model,
    Polygon,
    RigidBody,
    gallery,
    simulate,
)
from nonsmooth.pack import pack

COUNTS = (1, 10, 100)
RTOL = 1e-8
BELTS = 1000
_FAMILIES = ("joints", "drives", "forces", "contacts")


def copies(model: Model, n: int) -> Model:
    """Return n copies of a model in one."""
    every: dict[str, list[Any]] = {name: [] for name in ("bodies", *_FAMILIES)}
    own = {body.name for body in model.bodies if body.has_mass}
    every["bodies"] += [body for body in model.bodies if body.name not in own]
    for k in range(n):

        def named(reference: str, k: int = k) -> str:
            body, dot, point = reference.partition(".")
            return f"{body}{k}{dot}{point}" if body in own else reference

        bodies: Any = [body for body in model.bodies if body.name in own]
        every["bodies"] += [replace(body, name=named(body.name)) for body in bodies]
        for family in _FAMILIES:
            for e in getattr(model, family):
                ends = {"a": named(e.a), "b": named(e.b)}
                every[family].append(replace(e, name=f"{e.name}_{k}", **ends))
    return replace(model, **every)


def sliding_boxes(n: int) -> Model:
    """Return n boxes that slide on one floor."""
    corners = ((-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05))
    boxes = [
        RigidBody(name=f"box{k}", mass=1.0, inertia=0.004, position=(float(k), 0.0499),
                  velocity=(1.0 + 0.01 * k, 0.0),
                  shapes={"sides": Polygon(vertices=corners)})
        for k in range(n)
    ]  # fmt: skip
    floors = [
        Contact(name=f"sole{k}", a="ground.floor", b=f"box{k}.sides",
                normal=KelvinVoigt(stiffness=1e5, damping=300.0),
                friction=Coulomb(mu=0.3, mu_static=0.35))
        for k in range(n)
    ]  # fmt: skip
    ground = Ground(shapes={"floor": Line()})
    return Model(gravity=(0.0, -9.81), bodies=[ground, *boxes], contacts=floors)


def _growth(name: str, models: dict[int, Model], until: float, aim: str) -> list[Row]:
    """Return cost over the number of parts, and its slope."""
    rows: list[Row] = []
    cost: dict[int, float] = {}
    for n, model in models.items():
        system = pack(model)
        one = timed(lambda s=system: simulate(s, until, rtol=RTOL), 3)
        cost[n] = one.cpu
        note = f"{one.result.cost['steps']} steps, {len(one.result.events)} events"
        per = f"{n} {name}, {until:g} s: whole call"
        rows.append(Row(what=per, value=one.cpu, unit="s", note=note))
    low, high = 10, max(cost)
    slope = math.log(cost[high] / cost[low]) / math.log(high / low)
    note = f"{aim}; from {low} to {high}"
    return [*rows, Row(what=f"{name}: exponent", value=slope, unit="1", note=note)]


def _belts() -> Row:
    """Return what many short runs take, packed each time."""
    model = gallery.belt()
    simulate(model, 1.0)
    least = math.inf
    for _ in range(3):
        begin = time.process_time()
        for _ in range(BELTS):
            simulate(model, 1.0)
        least = min(least, time.process_time() - begin)
    what = f"{BELTS} belts of 1 s, packed each time, one thread"
    return Row(what=what, value=least, unit="s", note="to reach: 2; was 6.5")


def run() -> list[Row]:
    """Measure growth with parts, and many short runs."""
    plate = gallery.compactor()
    compactors = {n: copies(plate, n) for n in COUNTS}
    boxes = {n: sliding_boxes(n) for n in COUNTS}
    aim = "to reach: 1.1; was 1.8 and more"
    return [
        *_growth("compactors", compactors, 0.2, aim),
        *_growth("boxes", boxes, 1.0, f"{aim}; 100 boxes in 0.3 s, was 4.2"),
        _belts(),
    ]
