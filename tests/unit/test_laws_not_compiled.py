"""A law that does not compile is told with its reason and its line."""

# What is wrong is wrong on purpose.
# pyright: reportArgumentType=false
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from nonsmooth import Force, Model, ModelError, PointMass, SolveError, simulate
from nonsmooth.kernels.abi import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled with the JIT off")
SETTINGS = {"pull": 1.0}


def double(x):
    return 2.0 * x


def reads_a_dict(p, s, t, a, b, out):
    out[0] = SETTINGS["pull"]


def calls_a_function(p, s, t, a, b, out):
    out[0] = double(t)


def takes_a_slice(p, s, t, a, b, out):
    out[0:8] = 0.0


def makes_an_array(p, s, t, a, b, out):
    out[0] = np.zeros(3).sum()


def takes_a_length(p, s, t, a, b, out):
    out[0] = len(b)


def tries(p, s, t, a, b, out):
    try:
        out[0] = math.sqrt(t)
    except ValueError:
        out[0] = 0.0


def changes_its_mind(p, s, t, a, b, out):
    k = 1.0
    if t > 0.5:
        k = "a"
    out[0] = k


def prints(p, s, t, a, b, out):
    print(t)


def raises(p, s, t, a, b, out):
    for i in range(8):
        out[i] = 0.0
    if t > 0.5:
        raise ValueError("too late")


def run(function: Any) -> None:
    """Simulate with a force of one's own."""
    space = {"wrench": staticmethod(function), "__module__": __name__}
    meta: Any = type(Force)
    kind = dataclass(frozen=True, kw_only=True)(meta("Mine", (Force,), space))
    try:
        force, body = kind(name="wind", b="mass"), PointMass(name="mass", mass=1.0)
        simulate(Model(bodies=[body], forces=[force]), 1.0)
    finally:
        del Force.kinds["Mine"]


@pytest.mark.parametrize(
    ("function", "reason", "line"),
    [
        (reads_a_dict, "SETTINGS is a dict; a law may read", 'SETTINGS["pull"]'),
        (calls_a_function, "double is a plain function of Python", "double(t)"),
        (takes_a_slice, "an index must be one integer", "out[0:8]"),
        (makes_an_array, "zeros cannot be called so", "np.zeros(3).sum()"),
        (takes_a_length, "len cannot be called so", "len(b)"),
        (tries, "there is no try and except", "except ValueError:"),
        (changes_its_mind, "k is a number at one place and a text at", "out[0] = k"),
        (prints, "it needs Python while it runs, as print does", ""),
    ],
)
def test_why_a_law_does_not_compile_is_told_with_its_line(function, reason, line):
    with pytest.raises(ModelError) as caught:
        run(function)
    text = str(caught.value)
    assert text.startswith(f"force 'wind': Mine does not compile: {reason}")
    assert line in text
    assert not line or f"of {__name__.split('.')[-1]}.py: " in text


def test_what_a_law_raises_ends_the_run():
    with pytest.raises(SolveError, match=r"t = 0\.5 s: force 'wind' is not finite"):
        run(raises)
