"""How cost grows with the number of contacts: blocks on a belt, coupled by springs.

A row of blocks on one belt, each tied to the ground as the block of the gallery's
`belt` is, and to its neighbours by weaker springs (Burridge and Knopoff's model of a
fault). Without springs of their own the far blocks would only ride along. They start
stuck, at different stretches, and their friction differs a little, so that events come
one at a time and at the same rate for each block throughout.
"""

from __future__ import annotations

import numpy as np

from benchmarks.common import Row, Timed, timed
from nonsmooth import (
    ConstantRate,
    Contact,
    Coulomb,
    Ground,
    KelvinVoigt,
    Model,
    MovingSupport,
    PointMass,
    SpringDamper,
    simulate,
)
from nonsmooth.pack import pack

BLOCKS = (1, 2, 5, 10, 20, 50, 100, 200)
FITTED = 10  # the fewest blocks that a slope is fitted to
UNTIL, RTOL = 2.0, 1e-8  # s, 1
MASS, GRAVITY, SPEED = 1.0, 9.81, 0.1  # kg, m/s^2, m/s
OWN, COUPLING, FLOOR = 100.0, 25.0, 1e4  # N/m
PITCH, LENGTH = 1.0, 0.5  # m, between blocks and of their own springs
SPREAD = 0.02  # m, of the stretches at the start; 1, of the coefficients of friction
GOLDEN = 0.6180339887498949  # its multiples are spread evenly, in no order


def row_of_blocks(n: int) -> Model:
    """Return n blocks on a belt."""
    depth = MASS * GRAVITY / FLOOR
    parts = [k * GOLDEN % 1.0 for k in range(n)]
    walls = {f"wall{k}": (k * PITCH - LENGTH, -depth) for k in range(n)}
    blocks = [
        PointMass(name=f"block{k}", mass=MASS, velocity=(SPEED, 0.0),
                  position=(k * PITCH + SPREAD * (2.0 * part - 1.0), -depth))
        for k, part in enumerate(parts)
    ]  # fmt: skip
    springs = [
        SpringDamper(name=f"own{k}", a=f"ground.wall{k}", b=f"block{k}",
                     stiffness=OWN, rest_length=LENGTH)
        for k in range(n)
    ]  # fmt: skip
    springs += [
        SpringDamper(name=f"coupling{k}", a=f"block{k}", b=f"block{k + 1}",
                     stiffness=COUPLING, rest_length=PITCH)
        for k in range(n - 1)
    ]  # fmt: skip
    contacts = [
        Contact(name=f"sole{k}", a="belt", b=f"block{k}",
                normal=KelvinVoigt(stiffness=FLOOR),
                friction=Coulomb(mu=0.3 * (1.0 + SPREAD * part),
                                 mu_static=0.4 * (1.0 + SPREAD * part)))
        for k, part in enumerate(parts)
    ]  # fmt: skip
    belt = MovingSupport(name="belt", x=ConstantRate(rate=SPEED))
    return Model(
        gravity=(0.0, -GRAVITY),
        bodies=[Ground(points=walls), belt, *blocks],
        forces=springs,
        contacts=contacts,
    )


def growth(runs: dict[int, float], fewest: int = FITTED) -> float:
    """Return the slope of log cost over log n, from the fewest on."""
    n = [n for n in runs if n >= fewest]
    return float(np.polyfit(np.log(n), np.log([runs[k] for k in n]), 1)[0])


def run() -> list[Row]:
    """Measure all sizes, and fit the growth of the parts."""
    runs: dict[int, Timed] = {}
    rows: list[Row] = []
    for n in BLOCKS:
        system = pack(row_of_blocks(n))
        repeat = 5 if n <= 20 else 2
        runs[n] = one = timed(lambda s=system: simulate(s, UNTIL, rtol=RTOL), repeat)
        cost, n_event = one.result.cost, len(one.result.events)
        rows += [
            Row(what=f"{n} blocks: per simulated second", value=one.march / UNTIL,
                unit="s", note=f"whole call {one.cpu / UNTIL:.5f} CPU; "
                f"{n_event / UNTIL:g} events, {cost['steps'] / UNTIL:g} steps and "
                f"{cost['evaluations'] / UNTIL:g} right-hand sides per second"),
            Row(what=f"{n} blocks: per step and contact", unit="us",
                value=one.march / cost["steps"] / n * 1e6),
        ]  # fmt: skip
    cost = {n: run.result.cost for n, run in runs.items()}
    # Where an event ends nearly every step, steps grow as events do.
    for text, values in (
        ("time per simulated second", {n: r.march for n, r in runs.items()}),
        ("events", {n: float(len(r.result.events)) for n, r in runs.items()}),
        ("steps", {n: float(c["steps"]) for n, c in cost.items()}),
        ("time per step", {n: r.march / cost[n]["steps"] for n, r in runs.items()}),
        ("time outside the loop", {n: r.cpu - r.march for n, r in runs.items()}),
    ):
        rows.append(
            Row(what=f"growth of {text}: exponent of the number of blocks", unit="",
                value=growth(values), note=f"{FITTED} to {BLOCKS[-1]} blocks")
        )  # fmt: skip
    return rows
