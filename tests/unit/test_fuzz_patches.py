# pyright: basic
"""The audit of patches can fail: forces, friction and places of nodes are looked at."""

from dataclasses import replace
from functools import cache

import pytest

from fuzz.audit import audit
from fuzz.audit.notes import Notes
from fuzz.audit.patches import check_patches, pressed
from fuzz.families import make
from nonsmooth import simulate


class Tampered:
    """A result whose nodes bear, or are, what they do not."""

    def __init__(self, result, change, what):
        self._result, self._change, self._what = result, change, what

    def __getattr__(self, name):
        return getattr(self._result, name)

    def pressure(self, name, t):
        found = self._result.pressure(name, t)
        return replace(found, **{self._what: self._change(getattr(found, self._what))})


@cache
def pressed_bar(family="patches", seed=0):
    case = make(family, seed)
    return case.model, simulate(case.model, until=case.until)


def nodes_of(change, family="patches", seed=0, what="forces"):
    """Return what the audit finds where the forces of nodes are changed."""
    model, result = pressed_bar(family, seed)

    notes = Notes()
    check_patches(notes, Tampered(result, change, what), pressed(model))
    return {check for check, _ in notes.worst}


def test_patches_pass_and_are_looked_at():
    assert nodes_of(lambda forces: forces) == set()
    model, result = pressed_bar()
    assert "separate" in {event.kind for event in result.events}
    assert not audit(model, result).worst


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda forces: 1.001 * forces, "a node that presses"),
        (lambda forces: 0.999 * forces, "a node overlaps"),
        (lambda forces: -forces, "a node pulls"),
    ],
)
def test_forces_of_nodes_that_were_tampered_with(change, check):
    assert check in nodes_of(change)


@pytest.mark.parametrize("seed", [3, 6])
def test_pairs_of_patches_pass_and_are_looked_at(seed):
    """Without and with friction; the bars touch more than once."""
    model, result = pressed_bar("pairs", seed)
    assert (model.contacts[0].friction is None) == (seed == 3)
    assert result.events.counts()["separate"] > 1
    assert not audit(model, result).worst


@pytest.mark.parametrize(
    ("change", "what", "check"),
    [
        (lambda forces: 1.001 * forces, "forces", "a node that presses"),
        (lambda forces: 0.999 * forces, "forces", "a node overlaps"),
        (lambda forces: -forces, "forces", "a node pulls"),
        (lambda friction: 1.3 * friction, "friction", "cone of a node"),
        (lambda places: places + 1e-8, "places", "place of a node"),
    ],
)
def test_nodes_of_pairs_that_were_tampered_with(change, what, check):
    assert check in nodes_of(change, "pairs", 6, what)
