"""What runs are off by as they come, at the default tolerance of 1e-8.

A step may be off by 1e-8 of the sizes of a model, and so may the few hundred steps of a
calm run together, times a hundred; the compactor's motion grows errors a thousandfold.
"""

import csv
from pathlib import Path

import numpy as np

from nonsmooth import gallery, simulate
from oracles.stick_slip import Belt

DATA = Path(__file__).parents[1] / "data"
CALM = 1e-6  # m, rad, s


def table(name):
    with (DATA / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def test_belt(validate):
    result = simulate(gallery.build("belt"), 20.0)
    found = result.events.t
    wanted = Belt().events(len(found))
    validate("belt, 20 s: instants", found, wanted, CALM, "s", "closed form")


def test_chain(validate):
    end = simulate(gallery.build("pendulum_chain"), 1.0).sample(1.0)
    found = [end[f"rod2.tip.{axis}"][0] for axis in "xy"]
    wanted = [-1.662115135816, -1.041466637193]
    validate("chain of rods, 1 s: tip", found, wanted, CALM, "m", "slow reference")


def test_free_standing(validate):
    wanted = table("free_standing_case1_offset.csv")
    found = simulate(gallery.build("free_standing"), 10.0).sample(wanted["t"])
    what, against = "free-standing body, 10 s: angle", "independent solution"
    validate(what, found["body.theta"], wanted["th1"], CALM, "rad", against)


def test_compactor(validate):
    wanted = table("compactor_transient.csv")
    found = simulate(gallery.build("compactor"), 0.5).sample(wanted["t"])
    what, against = "compactor, 0.5 s: angle", "independent solution"
    validate(what, found["box.theta"], wanted["theta1"], 1e-5, "rad", against)
