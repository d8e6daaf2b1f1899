"""What elements and results say of themselves, and of fields that they have not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import nonsmooth as ns
from nonsmooth import ModelError, gallery, simulate


def refusal(kind: Any, *args: Any, **fields: Any) -> str:
    with pytest.raises(ModelError) as caught:
        kind(*args, **fields)
    return str(caught.value)


def test_a_misspelt_field_is_answered_with_the_nearest():
    text = refusal(ns.RigidBody, name="rod", mass=1.0, inertai=2.0)
    assert text == "RigidBody 'rod': no field 'inertai'; did you mean 'inertia'?"


def test_a_missing_field_is_named_with_its_unit():
    text = refusal(ns.RigidBody, name="rod", mass=1.0)
    assert text.startswith("RigidBody 'rod': inertia is missing; give inertia=..., kg")


def test_fields_have_names():
    text = refusal(ns.Revolute, "pin", b="rod")
    assert text.startswith("Revolute: 'pin' given without a name; write name=...")


def test_a_law_that_is_no_dataclass_is_told_what_to_write():
    class Plain(ns.TimeLaw):
        rate: float = 1.0

    try:
        assert "Plain: not a dataclass; write @dataclass" in refusal(Plain, rate=1.0)
        assert "Plain: not a dataclass" in refusal(Plain)
    finally:
        del ns.TimeLaw.kinds["Plain"]


def test_an_error_inside_a_check_is_not_hidden():
    @dataclass(frozen=True, kw_only=True)
    class Odd(ns.TimeLaw):
        rate: float = 1.0

        def check(self) -> None:
            raise TypeError("of its own")

    try:
        with pytest.raises(TypeError, match="of its own"):
            Odd(rate=2.0)
    finally:
        del ns.TimeLaw.kinds["Odd"]


def test_a_result_fits_a_screen_and_says_how_it_ended():
    model = gallery.compactor()
    result = simulate(model, until=0.02)
    assert repr(model) == (
        "<model 'compactor': 2 bodies, 1 joint, 1 drive, 2 contacts>"
    )
    assert repr(model) in repr(result.system)
    assert "finished, 0 to 0.02 s" in repr(result)
    assert f"{len(result.events)} events" in repr(result.events)
    assert "box.x  " in repr(result.sample(names="box.x"))
    assert "residual" in repr(result.energy_balance)
    shown = (result, result.system, result.events, result.sample())
    assert all(len(repr(one)) < 2000 for one in shown)
