"""The table of columns: labels, units, and names of values that there are."""

import re

import numpy as np
import pytest

from nonsmooth import Result, gallery, simulate
from nonsmooth.columns import QUANTITIES, columns_of


def run(name: str, until: float, **parameters) -> Result:
    return simulate(gallery.build(name, **parameters), until)


@pytest.fixture(scope="module")
def runs() -> list[Result]:
    """Return systems that have every kind of column between them."""
    return [
        run("compactor", 0.05),
        run("slider_crank", 0.1, mu=0.1, pin_mu=0.1, angle=0.3),
        run("trammel", 0.1),
        run("slider_in_guide", 0.1),
        run("belt", 0.5),
        run("rods", 1e-4, elements=20),
    ]


def test_every_column_has_a_label_and_a_unit_or_names(runs):
    kinds: set[str] = set()
    for result in runs:
        for name, column in result.table.items():
            assert name == column.name == f"{column.owner}.{column.kind}"
            is_half = re.search(r"\.(top|bottom)_(left|right)$", column.owner)
            of_half = " of half a face" if is_half else ""
            assert column.label == QUANTITIES[column.kind].label + of_half
            assert bool(column.unit) != bool(column.values)
            kinds.add(column.kind)
    # No system here has a drive that pushes, modes, or a patch with friction.
    assert kinds == QUANTITIES.keys() - {"force", "eta", "eta_rate", "n_stuck"}


def test_values_that_have_names_have_no_others(runs):
    for result in runs:
        samples = result.sample(np.linspace(result.t_start, result.t_end, 50))
        for name, column in result.table.items():
            if column.values:
                assert set(samples[name]) <= column.values.keys()


def test_the_table_needs_no_run(runs):
    system = runs[0].system
    assert columns_of(system) == runs[0].table
    # An owner has its columns under no other name.
    owners = {column.owner for column in columns_of(system).values()}
    assert {*system.bodies, *system.joints, *system.with_mode} - {"ground"} <= owners
