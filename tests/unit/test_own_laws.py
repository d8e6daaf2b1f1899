# Wrong types and undefined names are what these tests are about.
# pyright: reportArgumentType=false, reportUndefinedVariable=false
# pyright: reportCallIssue=false, reportAttributeAccessIssue=false
# pyright: reportUnusedExpression=false
"""Mistakes in laws of one's own and in calls are told in the user's words."""

import importlib.util
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from nonsmooth import (
    Baumgarte,
    Contact,
    FrictionLaw,
    HuntCrossley,
    Model,
    ModelError,
    NormalLaw,
    PointMass,
    Polygon,
    RigidBody,
    TimeLaw,
    contact_stiffness,
    equilibrium,
    gallery,
    simulate,
)
from nonsmooth.elements.own import FUNCTIONS
from nonsmooth.kernels.abi.rows import FAMILIES
from nonsmooth.pack import pack

FIRM = HuntCrossley(stiffness=1e6, damping=0.1)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Forget the kinds that a test has made."""
    families = (NormalLaw, FrictionLaw, TimeLaw)
    known = [dict(family.kinds) for family in families]
    yield
    for family, kinds in zip(families, known, strict=True):
        family.kinds.clear()
        family.kinds.update(kinds)


def own(base: type[Any], **functions: Any) -> Any:
    """Return a kind with one field, c, and static functions."""
    space = {name: staticmethod(f) for name, f in functions.items()}
    space |= {"__annotations__": {"c": "float"}, "__module__": __name__}
    return dataclass(frozen=True, kw_only=True)(type(base)("Mine", (base,), space))


def too_few(p, overlap):
    return p[0] * overlap


def of_an_object(self, lam_n, speed):
    return self.c * lam_n


def divides(p, lam_n, speed):
    return p[0] * lam_n / speed


def misspelt(p, overlap, overlap_rate, approach_rate):
    return p[0] * overlapp  # noqa: F821


def silent(p, overlap, overlap_rate, approach_rate):
    p[0] * overlap


def beyond(p, overlap, overlap_rate, approach_rate):
    return p[1] * overlap


def negative(p, lam_n, speed):
    return -p[0] * lam_n


def no_place(p, t):
    return p[0] * t


def late(p, t, s):
    s[0] = p[3]


@pytest.mark.parametrize(
    ("base", "functions", "message"),
    [
        (
            NormalLaw,
            {},
            r"Mine: force is missing; write @staticmethod def force\(p",
        ),
        (
            NormalLaw,
            {"force": too_few},
            r"Mine: force\(p, overlap\) has 2 arguments; it is called with 4: write "
            r"def force\(p, overlap, overlap_rate, approach_rate\)",
        ),
        (
            NormalLaw,
            {"force": misspelt},
            "Mine: force uses 'overlapp', which is not defined; did you mean 'overlap'",
        ),
        (
            NormalLaw,
            {"force": silent},
            "returns None; return a number, N .is there",
        ),
        (
            NormalLaw,
            {"force": beyond},
            r"reads p\[1\], but p has 1 numbers: p\[0\]",
        ),
        (
            FrictionLaw,
            {"limit": of_an_object},
            r"Mine: limit\(self, lam_n, speed\) has self; .* write @staticmethod above "
            r"it, and def limit\(p, lam_n, speed\), where p\[0\] is c",
        ),
        (
            FrictionLaw,
            {"limit": divides},
            r"Mine: limit\(p, 1, 0\) fails: ZeroDivisionError",
        ),
        (FrictionLaw, {"limit": negative}, r"limit\(p, 1, 0\) = -2 N; must be >= 0"),
        (
            TimeLaw,
            {"evaluate": no_place},
            r"is called with 3: write def evaluate",
        ),
        (TimeLaw, {"evaluate": late}, r"evaluate reads p\[3\], but p has 1 numbers"),
    ],
)
def test_a_law_of_ones_own(base, functions, message):
    kind = own(base, **functions)
    with pytest.raises(ModelError, match=message):
        kind(c=2.0)


def test_arguments_are_those_of_the_kernels():
    names = {"evaluate": "law", "rows": "joint", "wrench": "force", "nearest": "shape"}
    for family, functions in FUNCTIONS.items():
        for name, words in functions.items():
            own = {"normal law": "normal", "friction law": "smooth"}.get(family, name)
            kernel = own if name == "force" else names.get(name, name)
            assert words.split() == list(FAMILIES[kernel]), (family, name)


def test_a_method_is_no_static_function():
    def force(self, p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap

    kind = own(NormalLaw)
    kind.force = force
    with pytest.raises(ModelError, match="write @staticmethod above it, and def"):
        kind(c=1.0)


def test_a_class_without_dataclass():
    class Bare(NormalLaw):
        c: float

    with pytest.raises(ModelError, match="Bare: not a dataclass; write @dataclass"):
        Bare(c=1.0)


def test_a_wrong_kind_elsewhere_does_not_stop_a_run():
    """It is registered, but no model has it."""
    own(NormalLaw)
    assert simulate(ball(), 0.01).status == "finished"


def ball() -> Model:
    body = PointMass(name="ball", mass=1.0, position=(0.0, 0.1))
    contact = Contact(name="c", b="ball", normal=FIRM)
    return Model(gravity=(0.0, -9.81), bodies=[body], contacts=[contact])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: simulate(ball(), 0.1, rtoll=1e-6),
            "no argument 'rtoll'; did you",
        ),
        (
            lambda: simulate(ball(), 0.1, 1e-6),
            "1e-06 given without a name; write",
        ),
        (
            lambda: simulate(ball(), 0.1, until=1.0),
            "until is given twice; give",
        ),
        (lambda: simulate(), "simulate: model is missing; give model="),
        (lambda: simulate("belt", 1.0), "model = 'belt'; give a Model or a System"),
        (lambda: equilibrium("belt"), "model = 'belt'; give a Model or a System"),
        (lambda: Baumgarte(alpha=1.0), "Baumgarte: beta is missing; give beta="),
        (
            lambda: contact_stiffness(radius=1.0),
            "material is missing; give mat",
        ),
        (lambda: gallery.build(), "build: system is missing"),
        (lambda: RUN.sample("now"), "t = 'now'; give times, in s"),
        (lambda: RUN.sample(names=3), "names = 3; give names of columns"),
        (lambda: RUN.state("now"), "t = 'now'; give times, in s"),
        (lambda: RUN.plot(), "Result.plot: names is missing"),
        (lambda: RUN.plot("ball.y", "run.xyz"), "plot: run.xyz: use .png, .svg or .p"),
        (
            lambda: gallery.belt(3.0),
            "belt: 3.0 given without a name; write its name: m",
        ),
        (
            lambda: Contact(name="c", b=ball().bodies[0], normal=FIRM),
            "contact 'c': b = body 'ball'; give its name, 'ball'",
        ),
        (
            lambda: Model(bodies=ball().bodies[0]),
            "model: bodies = body 'ball'; give a list",
        ),
        (
            lambda: RUN.draw(colour="red"),
            "Result.draw: no argument 'colour'; valid",
        ),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ModelError, match=message):
        call()


RUN: Any = simulate(ball(), 0.01)


def test_a_type_error_inside_is_left_alone():
    def progress(part: float) -> None:
        raise TypeError("of the user's own")

    with pytest.raises(TypeError, match="of the user's own"):
        simulate(ball(), 0.1, progress=progress)


def written(path, name: str, module: str) -> None:
    """Import a file that defines a friction law, under the name of a module."""
    path.write_text(
        "from dataclasses import dataclass\nfrom nonsmooth import FrictionLaw\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        f"class {name}(FrictionLaw):\n    mu: float\n"
    )
    spec = importlib.util.spec_from_file_location(module, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[module] = made
    try:
        spec.loader.exec_module(made)
    except ModelError:
        del sys.modules[module]
        raise


def test_a_name_that_is_taken_is_refused(tmp_path, monkeypatch):
    """A file that says Coulomb means one law, whatever was imported."""
    with pytest.raises(ModelError, match=r"class Coulomb in .*a\.py: .* is built in"):
        written(tmp_path / "a.py", "Coulomb", "own_a")
    assert FrictionLaw.kinds["Coulomb"].__module__ == "nonsmooth.elements.friction"
    monkeypatch.setitem(sys.modules, "own_a", None)
    written(tmp_path / "a.py", "Waxed", "own_a")
    with pytest.raises(ModelError, match=r"Waxed in .*b\.py: .* defined in .*a\.py"):
        written(tmp_path / "b.py", "Waxed", "own_b")
    # The same file once more, also by another name; a cell that is run again.
    written(tmp_path / "a.py", "Waxed", "own_a")
    monkeypatch.setitem(sys.modules, "own_c", None)
    written(tmp_path / "a.py", "Waxed", "own_c")
    own(FrictionLaw)
    own(FrictionLaw)


def test_a_law_of_an_outline_that_fails_in_python():
    """An outline asks it in Python where a point would call it compiled."""

    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap + math.sqrt(overlap_rate)

    corners = ((-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1))
    box = RigidBody(
        name="box", mass=1.0, inertia=0.01, shapes={"o": Polygon(vertices=corners)}
    )
    law = own(NormalLaw, force=force)(c=1e4)
    model = Model(bodies=[box], contacts=[Contact(name="c", b="box.o", normal=law)])
    with pytest.raises(ModelError, match=r"Mine: force fails with .*give it a value"):
        pack(model)
