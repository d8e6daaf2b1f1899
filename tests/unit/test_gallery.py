"""The gallery: found by listing, documented, refusing nonsense, consistent."""

import importlib
import inspect
import math
import pickle
import pydoc
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonsmooth import gallery, io, simulate
from nonsmooth.app.cli import main
from nonsmooth.elements.bodies import RigidBody
from nonsmooth.errors import ModelError
from nonsmooth.gallery import _checks, systems
from nonsmooth.gallery._convert import convert
from nonsmooth.model import Model

SYSTEMS = gallery.names()
# Each value of a parameter is another mesh to be reduced; those of two systems take
# minutes.
FINE = ("flexible_double_pendulum", "transverse_bars")
MARKED = [
    pytest.param(name, marks=[pytest.mark.slow] if name == "ball_on_beam" else [])
    for name in SYSTEMS
    if name not in FINE
]

TOY = '''
"""A toy.

More about it.
"""

from typing import Literal

from nonsmooth import Model, RigidBody

UNTIL = 3


def toy(
    *,
    mass: float = 1.0,
    n: int = 2,
    name: str = "block",
    heavy: bool = False,
    side: Literal["left", "right"] = "left",
    spin: float | None = None,
    turns: Literal[1, 2] | None = None,
) -> Model:
    """Make a toy.

    It does nothing.

    Parameters
    ----------
    mass : float
        Mass of it, all in
        all, kg. Never zero.
    n : int
        Number of it, or so.
    name, side : str
        Anything.
    heavy : bool
        Whether it is; the default is
        that it is not.
    spin : float, optional
        Its spin, rad/s; set by `side`.
    turns : int, optional
        How often.

    References
    ----------
    [Nobody1900]_
    """
    if spin is None:
        spin = 1.0 if side == "left" else -1.0
    spin *= turns or 1
    mass = 10 * mass if heavy else mass
    body = RigidBody(name=name, mass=mass, inertia=n, angular_velocity=spin)
    return Model(title=side, bodies=[body])
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Add a system to the gallery: one file, nothing else."""
    (tmp_path / "toy.py").write_text(TOY)
    monkeypatch.setattr(systems, "__path__", [*systems.__path__, str(tmp_path)])
    yield
    sys.modules.pop("nonsmooth.gallery.systems.toy", None)
    systems.__dict__.pop("toy", None)
    gallery._builder.cache_clear()


# ---- every system ----------------------------------------------------------------


def test_systems():
    smooth = {"crank_rocker", "n_four_bar", "pendulum_chain", "slider_crank"}
    contact = {"belt", "compactor", "free_standing", "incline", "two_blocks"}
    assert smooth | contact <= set(SYSTEMS)
    assert tuple(sorted(SYSTEMS)) == SYSTEMS


def is_set(parameter):
    """Return whether another parameter sets this one, and its text says so."""
    return parameter.default is None and "set by `" in parameter.meaning


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_parameter_is_documented(system):
    function = gallery._function(system)
    known = inspect.signature(function).parameters.values()
    assert all(p.kind is p.KEYWORD_ONLY for p in known)
    described = gallery.parameters(system)
    assert [p.name for p in described] == [p.name for p in known]
    for p in described:
        assert p.meaning, p
        assert p.unit or p.type != "float", p
        is_choice = " | " in p.type
        assert type(p.default).__name__ == p.type or is_choice or is_set(p), p
    assert gallery.summary(system)
    assert "Source: " in gallery.describe(system)
    assert 0.0 < gallery.duration(system) < math.inf


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_element_is_documented(system):
    text = gallery.describe(system)
    for element in gallery.build(system).elements():
        if element.name != "ground":
            stem = re.sub(r"\d+$", "", element.name)
            assert f"`{stem}" in text, element.name
        for point in getattr(element, "points", {}):
            assert element.name == "ground" or f"`{point}`" in text, point


@pytest.mark.parametrize("system", SYSTEMS)
def test_files_hold_every_system(system):
    model = gallery.build(system)
    assert io.loads(io.dumps(model)) == model
    text = f"nonsmooth: 1\ngallery: {system}"
    hook = lambda name, parameters: gallery.build(name, **parameters)  # noqa: E731
    assert io.loads(text, gallery=hook) == model


def residuals(model):
    from nonsmooth.pack import pack
    from nonsmooth.solve.start import initial_values

    system = pack(model)
    q, v = initial_values(system, None)
    from nonsmooth.kernels import entry

    g, rate = np.zeros(system.n_row), np.zeros(system.n_row)
    entry.constraints(system.tables, system.work(), 0.0, q, v, g, rate)
    return max(np.abs(g), default=0.0), max(np.abs(rate), default=0.0)


# Starts are closed forms: a few roundings of lengths and speeds of order one (the
# slider-crank's, up to 10 rad/s, are smaller still).
ROUND_OFF = 1e-13


@pytest.mark.parametrize("system", SYSTEMS)
def test_starts_are_consistent(system):
    # The mass centre of a mesh is known as well as its arcs follow the circle; starts
    # are taken to 1e-8.
    meshed = system == "flexible_double_pendulum"
    allowed = 5e-9 if meshed else ROUND_OFF
    assert max(residuals(gallery.build(system))) < allowed


@settings(max_examples=40, deadline=None)
@given(
    angle=st.floats(-10.0, 10.0),
    speed=st.floats(-5.0, 5.0),
    offset=st.floats(-0.15, 0.15),
)
def test_slider_crank_starts_at_any_angle(angle, speed, offset):
    model = gallery.build("slider_crank", angle=angle, speed=speed, offset=offset)
    assert max(residuals(model)) < ROUND_OFF


@settings(max_examples=20, deadline=None)
@given(
    speed=st.floats(-5.0, 5.0),
    crank=st.floats(0.1, 0.9),
    slider=st.floats(0.0, 3.0),
)
def test_crank_rocker_starts_with_any_parameters(speed, crank, slider):
    model = gallery.build(
        "crank_rocker", speed=speed, crank_length=crank, slider_mass=slider
    )
    assert max(residuals(model)) < ROUND_OFF


# ---- ranges ----------------------------------------------------------------------

# Zero unless another parameter is changed as well, so that no end could be built.
WITHOUT_RANGE = {("crank_rocker", "torque")}


@pytest.mark.parametrize("system", SYSTEMS)
def test_ranges(system):
    """Numbers have a range around their default, of their own type."""
    named = set(gallery._ranges(system))
    for p in gallery.parameters(system):
        named.discard(p.name)
        is_number = p.type in ("int", "float") and p.default is not None
        if not is_number or (system, p.name) in WITHOUT_RANGE:
            assert p.low is None, p
            assert p.high is None, p
            continue
        assert p.low is not None, p
        assert p.high is not None, p
        assert isinstance(p.default, int | float)
        assert type(p.low) is type(p.high) is type(p.default), p
        assert p.low <= p.default <= p.high, p
        assert p.low < p.high, p
    assert not named  # no range without a parameter


@pytest.mark.parametrize("system", MARKED)
def test_ends_of_ranges_are_valid(system):
    """With the other parameters at their defaults, and up to a packed system."""
    from nonsmooth.pack import pack

    for p in gallery.parameters(system):
        if p.low is not None:
            pack(gallery.build(system, **{p.name: p.low}))
            pack(gallery.build(system, **{p.name: p.high}))


def test_the_command_shows_ranges(capsys):
    assert main(["gallery", "belt"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^k +100 +N/m +10 to 1000 +float +Stiffness", out, re.M)


def test_values():
    found = gallery.values("trammel", mu="0.2", mu0=0.3)
    defaults = {p.name: p.default for p in gallery.parameters("trammel")}
    assert found == {**defaults, "mu": 0.2, "mu0": 0.3}
    # Whether they go together is not asked.
    assert gallery.values("trammel", mu=0.2, mu0=0.1)["mu0"] == 0.1
    with pytest.raises(ModelError, match="no parameter 'mu1'; did you mean 'mu"):
        gallery.values("trammel", mu1=1)


def test_choices():
    found = {p.name: p for p in gallery.parameters("compactor")}
    assert found["start"].choices == ("equilibrium", "touching", "spinning", "dropped")
    assert found["mu"].choices == ()


# ---- single systems --------------------------------------------------------------


def rigid(model, name):
    body = model.element(name)
    assert isinstance(body, RigidBody)
    return body


def test_pendulum_chain():
    model = gallery.build("pendulum_chain", n=3, length=2.0, angle=math.pi / 2)
    assert [body.name for body in model.bodies] == ["rod1", "rod2", "rod3"]
    assert [(j.name, j.a, j.b) for j in model.joints] == [
        ("hinge1", "ground", "rod1.pin"),
        ("hinge2", "rod1.tip", "rod2.pin"),
        ("hinge3", "rod2.tip", "rod3.pin"),
    ]
    assert rigid(model, "rod3").position == pytest.approx((0.0, 5.0))


def test_n_four_bar_is_built_fast():
    begin = time.process_time()
    model = gallery.build("n_four_bar", n=1000)
    # Measured: 0.1 s. A quadratic algorithm would take minutes.
    assert time.process_time() - begin < 2.0
    assert len(model.bodies) == 2002  # with the ground
    assert len(model.joints) == 3001


def test_crank_rocker_carries_its_slider():
    """Mass, static moment and inertia about O1 are the sums of both parts."""
    crank = rigid(gallery.build("crank_rocker"), "crank")
    arm = -crank.points["O1"][0]
    # Sums of a few products: round-off.
    assert crank.mass == pytest.approx(2.5, rel=1e-15)
    assert crank.mass * arm == pytest.approx(2 * 0.25 + 0.5 * 0.5, rel=1e-15)
    about_pivot = crank.inertia + crank.mass * arm**2
    assert about_pivot == pytest.approx(1 / 6 + 0.5 * 0.5**2, rel=1e-15)
    assert crank.points["B"][0] + arm == pytest.approx(0.5, rel=1e-15)
    assert crank.angular_velocity == -3.0


# ---- refusals --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "given", "message"),
    [
        ("pendulum_chan", {}, "no gallery system 'pendulum_chan'; did you mean 'pendu"),
        ("_checks", {}, "no gallery system '_checks'"),
        ("pendulum_chain", {"lenght": 1}, "no parameter 'lenght'; did you mean 'len"),
        ("pendulum_chain", {"n": 2.5}, "pendulum_chain: n = 2.5; give a whole number"),
        ("pendulum_chain", {"n": True}, "pendulum_chain: n = True; give a whole"),
        ("pendulum_chain", {"n": "2.0"}, "pendulum_chain: n = '2.0'; give a whole"),
        ("pendulum_chain", {"n": None}, "pendulum_chain: n = None; give a whole"),
        ("pendulum_chain", {"n": 0}, "pendulum_chain: n = 0; give 1 to 100000"),
        ("n_four_bar", {"n": 10**9}, "n_four_bar: n = 1000000000; give 1 to 100000"),
        ("pendulum_chain", {"mass": "two"}, "mass = 'two'; give a number"),
        ("pendulum_chain", {"mass": "inf"}, "mass = 'inf'; give a number"),
        ("pendulum_chain", {"mass": math.nan}, "mass = nan; give a number"),
        ("pendulum_chain", {"mass": [1.0]}, r"mass = \[1.0\]; give a number"),
        ("pendulum_chain", {"mass": -1}, "mass = -1.0; must be > 0"),
        ("pendulum_chain", {"length": 0}, "length = 0.0; must be > 0"),
        ("slider_crank", {"rod_length": 0.1}, "rod_length = 0.1; the crank can turn"),
        ("slider_crank", {"offset": -0.3}, r"crank_length \+ \|offset\| = 0.4 m"),
        ("crank_rocker", {"damping": -1}, "damping = -1.0; must be >= 0"),
        ("crank_rocker", {"distance": 0.5}, "distance = 0.5; must be > crank_length"),
        ("crank_rocker", {"rocker_length": 1}, "rocker_length = 1.0; must be >= dist"),
    ],
)
def test_refusals(system, given, message):
    with pytest.raises(ModelError, match=message):
        gallery.build(system, **given)


@pytest.mark.parametrize("call", [gallery.parameters, gallery.duration])
def test_unknown_systems(call):
    with pytest.raises(ModelError, match="did you mean 'slider_crank'"):
        call("slider_crnak")


# ---- text to values --------------------------------------------------------------


def test_text_is_converted():
    built = gallery.build("pendulum_chain", n="3", length="2", mass=".5e1", angle="-1.")
    assert built == gallery.build(
        "pendulum_chain", n=3, length=2.0, mass=5.0, angle=-1.0
    )


def test_numpy_numbers_are_taken():
    built = gallery.build("pendulum_chain", n=np.int64(3), length=np.float64(2.0))
    assert built == gallery.build("pendulum_chain", n=3, length=2.0)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_survives_as_text(value):
    assert convert("x", float, repr(value)) == value


@pytest.mark.parametrize(
    "text",
    ["", " 1", "1_000", "0x10", "1/2", "pi", "1e", "nan", "Infinity", "٣"],
)
def test_only_simple_numbers(text):
    with pytest.raises(ModelError, match="give a number"):
        convert("x", float, text)


def test_huge_whole_numbers():
    for value in ("1e999", 10**400, -(10**5000)):
        with pytest.raises(ModelError, match=r"too large, numbers end at 1\.8e308"):
            convert("x", float, value)
    with pytest.raises(ModelError, match="give a whole number"):
        convert("n", int, "9" * 5000)


# ---- numbers beyond all measure --------------------------------------------------


@pytest.mark.parametrize("system", SYSTEMS)
def test_extreme_numbers_are_refused_in_a_sentence(system):
    """Or taken; but nothing overflows with a traceback."""
    for p in gallery.parameters(system):
        for value in (1e155, -1e155, 1e308, 1e-155, 5e-324, 10**400, 10**5000):
            try:
                gallery.build(system, **{p.name: value})
            except ModelError as error:
                message = str(error)
                assert re.match(r"\w+(?: '[\w ]+')?: \w+.* = .*; \w", message), message
                assert len(message) < 600


@pytest.mark.parametrize(
    ("system", "given", "message"),
    [
        (
            "pendulum_chain",
            {"length": 1e155},
            "too large to compute with, 0.1 to 5 is usual",
        ),
        ("compactor", {"a": 1e-155}, "too small to compute with, "),
        ("crank_rocker", {"rocker_length": 1e300, "mu": 0.1}, "too large to compute"),
        ("slider_crank", {"crank_length": 1e155, "rod_length": 1e300}, "too large to"),
    ],
)
def test_what_overflows_is_named(system, given, message):
    worst = max(given, key=lambda name: abs(math.log10(given[name])))
    text = f"{system}: {worst} = {given[worst]!r}; {message}"
    with pytest.raises(ModelError, match=f"^{re.escape(text)}"):
        getattr(gallery, system)(**given)


def test_a_mistake_in_a_system_is_not_blamed_on_its_numbers(toy, monkeypatch):
    def broken(**values):
        return 1 / 0

    monkeypatch.setattr(gallery, "_function", lambda system: broken)
    monkeypatch.setattr(gallery, "values", lambda system, **given: {"mass": 2.0})
    with pytest.raises(ZeroDivisionError):
        gallery.build("toy")


# ---- a new system ----------------------------------------------------------------


@pytest.mark.usefixtures("toy")
def test_a_new_module_is_a_new_system():
    assert "toy" in gallery.names()
    assert gallery.summary("toy") == "A toy"
    assert gallery.describe("toy") == (
        "Make a toy.\n\nIt does nothing.\n\nSource: [Nobody1900]"
    )
    assert gallery.duration("toy") == 3.0
    found = {p.name: p for p in gallery.parameters("toy")}
    assert found["mass"].unit == "kg"
    assert found["mass"].meaning == "Mass of it, all in all. Never zero"
    assert found["n"].meaning == "Number of it, or so"
    assert found["n"].unit == ""
    assert found["heavy"].meaning == "Whether it is; the default is that it is not"
    assert found["side"].type == "left | right"
    assert found["side"].meaning == found["name"].meaning == "Anything"


@pytest.mark.usefixtures("toy")
def test_all_types_convert():
    model = gallery.build("toy", mass="2", heavy="True", side="right", name="b", n="3")
    assert isinstance(model, Model)
    assert model.title == "right"
    assert rigid(model, "b").mass == 20.0
    assert gallery.build("toy", heavy=False) == gallery.build("toy")
    for wrong, message in (
        ({"heavy": "yes"}, "heavy = 'yes'; give true or false"),
        ({"heavy": 1}, "heavy = 1; give true or false"),
        ({"side": "rigth"}, "side = 'rigth'; did you mean 'right'?"),
        ({"name": 3}, "name = 3; give text"),
    ):
        with pytest.raises(ModelError, match=re.escape(f"toy: {message}")):
            gallery.build("toy", **wrong)


@pytest.mark.usefixtures("toy")
def test_optional_parameters():
    found = {p.name: p for p in gallery.parameters("toy")}
    assert (found["spin"].type, found["spin"].default) == ("float", None)
    assert found["spin"].unit == "rad/s"
    assert found["spin"].meaning == "Its spin; set by `side`"
    assert (found["turns"].type, found["turns"].default) == ("1 | 2", None)

    def spin(**given):
        return rigid(gallery.build("toy", **given), "block").angular_velocity

    assert spin() == spin(spin=None) == spin(side="left", turns=None) == 1.0
    assert spin(side="right") == -1.0
    assert spin(side="right", spin="0.5") == spin(spin=0.5) == 0.5
    assert spin(turns="2") == spin(turns=2) == 2.0
    # Zero is a value, and None is nothing a command line can say.
    assert spin(spin=0) == 0.0
    for wrong, message in (
        ({"spin": "None"}, "spin = 'None'; give a number"),
        ({"spin": ""}, "spin = ''; give a number"),
        ({"spin": True}, "spin = True; give a number"),
        ({"turns": 3}, "turns = 3; "),
        ({"mass": None}, "mass = None; give a number"),
    ):
        with pytest.raises(ModelError, match=re.escape(f"toy: {message}")):
            gallery.build("toy", **wrong)


def test_units():
    units = {
        p.name: p.unit
        for system in ("compactor", "incline", "free_standing")
        for p in gallery.parameters(system)
    }
    assert units["K"] == "N/m^n"
    assert units["c2"] == "N s/m^2"
    assert units["angle"] == "deg"
    assert units["mu0"] == "1"


# ---- by its name -----------------------------------------------------------------


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_is_a_function_of_the_gallery(system):
    function = getattr(gallery, system)
    assert function() == gallery.build(system)
    assert function is getattr(gallery, system)
    assert system in dir(gallery)
    assert pickle.loads(pickle.dumps(function)) is function
    # Also once its module has been imported, which binds its name to a package.
    importlib.import_module(f"nonsmooth.gallery.systems.{system}")
    assert callable(getattr(gallery, system))


def test_help_of_a_system():
    text = pydoc.plain(pydoc.render_doc(gallery.belt))
    assert "nonsmooth.gallery" in text
    assert "belt(*, m: 'float' = 1.0, k: 'float' = 100.0" in text
    assert "Let a belt run under a block" in text
    assert inspect.signature(gallery.belt) == inspect.signature(
        gallery._function("belt")
    )


def test_a_function_checks_as_build_does(toy):
    assert gallery.toy(n=2) == gallery.build("toy", n=2)
    with pytest.raises(ModelError, match=r"^toy: no parameter 'nn'; did you mean 'n'"):
        gallery.toy(nn=2)
    with pytest.raises(ModelError, match=r"^toy: 2 given without a name; write its "):
        gallery.toy(2)
    with pytest.raises(AttributeError, match="has no attribute 'tyo'"):
        _ = gallery.tyo


# ---- imports ---------------------------------------------------------------------


def test_the_gallery_is_there_after_import_nonsmooth():
    code = (
        "import sys, nonsmooth\n"
        "print('nonsmooth.gallery' in sys.modules)\n"
        "model = nonsmooth.gallery.compactor(rotor_speed=25)\n"
        "print(model == nonsmooth.gallery.build('compactor', rotor_speed=25.0))\n"
        "print({'numba', 'numpy', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True", "set()"]


def test_the_gallery_is_cheap_to_import():
    code = (
        "import sys; from nonsmooth import gallery\n"
        "for name in gallery.names(): gallery.build(name), gallery.parameters(name)\n"
        "print(*({'numba', 'numpy', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_limit_of_counts():
    _checks.count("toy", n=_checks.MAX_COUNT)


@pytest.mark.parametrize("system", MARKED)
def test_the_end_of_one_slider_can_be_run(system):
    """All else as it is by default; a range that cannot be run is too wide."""
    for item in gallery.parameters(system):
        for end in (item.low, item.high):
            if item.low is not None and item.high is not None:
                simulate(gallery.build(system, **{item.name: end}), until=1e-3)
