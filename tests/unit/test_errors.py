# Wrong types and undefined names are what these tests are about.
# pyright: reportArgumentType=false, reportUndefinedVariable=false
"""Bad input and failed numerics: every refusal says who, what and what to try."""

import contextlib
import dataclasses
import math
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from nonsmooth import (
    Baumgarte,
    Constant,
    Couple,
    Distance,
    Event,
    Expression,
    ExpressionForce,
    Force,
    Ground,
    Harmonic,
    Interrupted,
    Joint,
    Model,
    ModelError,
    MovingSupport,
    PinInSlot,
    PointForce,
    PointMass,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    RotationDrive,
    SmoothStep,
    SolveError,
    SpringDamper,
    SwitchError,
    Table,
    TimeLaw,
    TorsionSpring,
    TranslationDrive,
    Weld,
    equilibrium,
    simulate,
)
from nonsmooth.elements.base import Element, field_types
from nonsmooth.errors import nearest

G = 9.81


def rod(**changes) -> RigidBody:
    fields: dict[str, Any] = {
        "name": "rod",
        "mass": 1.0,
        "inertia": 1 / 12,
        "position": (0.5, 0.0),
        "points": {"pin": (-0.5, 0.0), "tip": (0.5, 0.0)},
    }
    return RigidBody(**(fields | changes))


HINGE = Revolute(name="hinge", b="rod.pin")
BOB = PointMass(name="bob", mass=1.0)


def model(**changes) -> Model:
    fields: dict[str, Any] = {
        "gravity": (0.0, -G),
        "bodies": [rod()],
        "joints": [HINGE],
    }
    return Model(**(fields | changes))


# ---- fields --------------------------------------------------------------------

BAD_FIELDS = [
    # what is built, what the message must say
    (lambda: rod(mass=0.0), r"body 'rod': mass = 0.0; must be > 0 kg"),
    (lambda: rod(mass=-2.0), r"body 'rod': mass = -2.0; must be > 0 kg"),
    (lambda: rod(mass=math.nan), r"body 'rod': mass = nan; must be finite"),
    (lambda: rod(mass=math.inf), r"body 'rod': mass = inf; must be finite"),
    (lambda: rod(mass="heavy"), r"body 'rod': mass = 'heavy'; give a number"),
    (lambda: rod(mass=None), r"body 'rod': mass = None; give a number"),
    (lambda: rod(mass=True), r"body 'rod': mass = True; give a number"),
    (lambda: rod(inertia=0.0), r"body 'rod': inertia = 0.0; must be > 0 kg m\^2"),
    (lambda: rod(inertia=-1.0), r"body 'rod': inertia = -1.0; must be > 0"),
    (lambda: rod(inertia=math.nan), r"body 'rod': inertia = nan; must be finite"),
    (lambda: PointMass(name="bob", mass=0.0), r"body 'bob': mass = 0.0; must be > 0"),
    (lambda: rod(position=(0.0, math.nan)), r"position = \(0.0, nan\); must be finite"),
    (
        lambda: rod(position=(1.0, 2.0, 3.0)),
        r"position = \(1.0, 2.0, 3.0\); give \(a num",
    ),
    (lambda: rod(angle=math.inf), r"angle = inf; must be finite"),
    (lambda: rod(angular_velocity=math.nan), r"angular_velocity = nan; must be finite"),
    (lambda: rod(points={"p": (0.0, math.inf)}), r"points = .*; must be finite"),
    (lambda: rod(points={"1": (0.0, 0.0)}), r"points = '1'; use letters"),
    (lambda: rod(name="1rod"), r"name = '1rod'; use letters, digits"),
    (lambda: rod(name="a.b"), r"name = 'a.b'; use letters, digits"),
    (lambda: rod(name=""), r"name = ''; use letters, digits"),
    (lambda: Ground(name="floor"), r"name = 'floor'; the ground is called 'ground'"),
    (
        lambda: Distance(name="d", b="rod", length=0.0),
        r"joint 'd': length = 0.0; .*> 0",
    ),
    (
        lambda: SpringDamper(name="s", b="rod", stiffness=-1.0),
        r"force 's': stiffness = -1.0; must be >= 0 N/m",
    ),
    (
        lambda: SpringDamper(name="s", b="rod", damping=-1.0),
        r"force 's': damping = -1.0; must be >= 0 N s/m",
    ),
    (
        lambda: TorsionSpring(name="s", b="rod", stiffness=math.nan),
        r"force 's': stiffness = nan; must be finite",
    ),
    (
        lambda: PointForce(name="f", a="bob", b="rod"),
        r"force 'f': a = 'bob'; a prescribed force acts on b alone",
    ),
    (
        lambda: PointForce(name="f", b="rod", fx="1"),
        r"force 'f': fx = '1'; give a time law: .*Harmonic",
    ),
    (
        lambda: PointForce(name="f", b="rod", frame="wrong"),
        r"force 'f': frame = 'wrong'; give one of 'global', 'body'",
    ),
    (
        lambda: RotationDrive(name="m", b="rod", law=3.0),
        r"drive 'm': law = 3.0; give a time law: .*Harmonic",
    ),
    (lambda: Ramp(rate=1.0, duration=0.0), r"Ramp: duration = 0.0; must be > 0 s"),
    (lambda: SmoothStep(end=1.0, duration=-1.0), r"SmoothStep: duration = -1.0"),
    (
        lambda: Harmonic(amplitude=1.0, angular_frequency=math.nan),
        r"Harmonic: angular_frequency = nan; must be finite",
    ),
    (
        lambda: Harmonic(amplitude=1.0, frequency=3.0),  # pyright: ignore
        r"Harmonic: no field 'frequency'; give angular_frequency in rad/s, or freq",
    ),
    (
        lambda: Harmonic(amplitude=1.0),
        r"Harmonic: angular_frequency is missing; .* or frequency_hz in Hz",
    ),
    (
        lambda: Harmonic(amplitude=1.0, angular_frequency=3.0, frequency_hz=1.0),
        r"Harmonic: frequency_hz = 1.0; angular_frequency .* is given as well",
    ),
    (lambda: Table(times=(0.0,), values=(1.0,)), r"Table: times.*at least two times"),
    (
        lambda: Table(times=(0.0, 1.0), values=(1.0,)),
        r"Table: values = \(1.0,\); 1 for 2 times; give one for each",
    ),
    (
        lambda: Table(times=(0.0, 1.0, 1.0), values=(1.0, 2.0, 3.0)),
        r"Table: times\[2\] = 1.0; must be > 1 s",
    ),
    (
        lambda: Table(times=(0.0, math.nan), values=(1.0, 2.0)),
        r"Table: times = .*must be finite",
    ),
    (lambda: Expression(text="sin("), r"Expression, text, column 4"),
    (
        lambda: Event(name="e", b="rod", guard="height - 1"),
        r"event 'e', guard, column 1: unknown name 'height'; .*theta",
    ),
    (
        lambda: Event(name="e", b="rod", guard="x", direction="up"),
        r"event 'e': direction = 'up'; give one of 'both', 'rising', 'falling'",
    ),
    (
        lambda: Event(name="e", b="rod", guard="x", action="halt"),
        r"event 'e': action = 'halt'; give one of 'record', 'stop'",
    ),
    (
        lambda: ExpressionForce(name="f", b="rod", fx="1/0"),
        r"force 'f', fx",
    ),
    (lambda: Baumgarte(alpha="a", beta=1.0), r"Baumgarte: alpha = 'a'; must be >= 0"),
    (lambda: Baumgarte(alpha=-1.0, beta=1.0), r"Baumgarte: alpha = -1.0; must be >= 0"),
    (
        lambda: Baumgarte(alpha=1.0, beta=math.nan),
        r"Baumgarte: beta = nan; must be >= 0",
    ),
]


@pytest.mark.parametrize(
    ("build", "message"), BAD_FIELDS, ids=[m for _, m in BAD_FIELDS]
)
def test_a_bad_field_is_refused_when_it_is_given(build, message):
    with pytest.raises(ModelError, match=message):
        build()


def test_a_misspelt_field_is_refused():
    with pytest.raises(ModelError, match="RigidBody 'rod': no field 'weight'"):
        rod(weight=1.0)


# ---- models --------------------------------------------------------------------

DECK = MovingSupport(name="deck")
CONSTANT = Constant(value=0.0)
BAD_MODELS = [
    ({"bodies": []}, r"bodies = \[\]; give at least one with mass"),
    ({"bodies": [DECK], "joints": []}, r"give at least one with mass"),
    ({"bodies": [rod(), rod()]}, r"body 'rod': name = 'rod'; already used by a body"),
    (
        {"joints": [HINGE, Revolute(name="rod", b="rod.tip")]},
        r"joint 'rod': name = 'rod'; already used by a body",
    ),
    (
        {"forces": [Couple(name="hinge", b="rod", torque=1.0)]},
        r"force 'hinge': name = 'hinge'; already used by a joint",
    ),
    (
        {"events": [Event(name="hinge", b="rod", guard="x")]},
        r"event 'hinge': name = 'hinge'; already used by a joint",
    ),
    ({"bodies": [rod(name="ground")]}, r"name = 'ground'; .*fixed frame"),
    (
        {"bodies": [rod(points={"vx": (0, 0)})], "joints": []},
        r"body 'rod': points = 'vx'; this name is a column's",
    ),
    (
        {"joints": [Revolute(name="h", b="rdo.pin")]},
        r"joint 'h': b = 'rdo.pin'; no body 'rdo'; did you mean 'rod'\?",
    ),
    (
        {"joints": [Revolute(name="h", b="rod.pni")]},
        r"joint 'h': b = 'rod.pni'; no such point; did you mean 'pin'\?",
    ),
    (
        {"joints": [Revolute(name="h", a="ground.nail", b="rod.pin")]},
        r"joint 'h': a = 'ground.nail'; no such point",
    ),
    (
        {"forces": [SpringDamper(name="s", b="rod.middle")]},
        r"force 's': b = 'rod.middle'; no such point; valid: pin, tip",
    ),
    (
        {"events": [Event(name="e", b="rot", guard="x")]},
        r"event 'e': b = 'rot'; no body 'rot'; did you mean 'rod'\?",
    ),
    (
        {"drives": [RotationDrive(name="m", b="rood", law=CONSTANT)]},
        r"drive 'm': b = 'rood'; no body 'rood'; did you mean 'rod'\?",
    ),
    (
        {"joints": [Revolute(name="h", a="rod.tip", b="rod.pin")]},
        r"joint 'h': b = 'rod.pin'; a and b are both on body 'rod'",
    ),
    (
        {"forces": [SpringDamper(name="s", a="rod", b="rod.tip")]},
        r"force 's': b = 'rod.tip'; a and b are both on body 'rod'",
    ),
    (
        {"bodies": [rod(), DECK], "joints": [HINGE, Weld(name="w", b="deck")]},
        r"joint 'w': b = 'deck'; neither a nor b is on a body with mass",
    ),
    (
        {"bodies": [rod(), BOB], "joints": [Weld(name="w", b="bob")]},
        r"joint 'w': b = 'bob'; a point mass has no angle; use a RigidBody",
    ),
    (
        {"bodies": [rod(), BOB], "joints": [Prismatic(name="w", b="bob")]},
        r"joint 'w': b = 'bob'; a point mass has no angle",
    ),
    (
        {"bodies": [rod(), BOB], "joints": [PinInSlot(name="w", a="bob", b="rod")]},
        r"joint 'w': a = 'bob'; a point mass has no angle",
    ),
    (
        {
            "bodies": [rod(), BOB],
            "drives": [RotationDrive(name="m", b="bob", law=CONSTANT)],
        },
        r"drive 'm': b = 'bob'; a point mass has no angle",
    ),
    (
        {"bodies": [rod(), BOB], "forces": [Couple(name="c", b="bob", torque=1.0)]},
        r"force 'c': b = 'bob'; a point mass has no angle",
    ),
    (
        {
            "bodies": [rod(), BOB],
            "forces": [ExpressionForce(name="f", a="bob", b="rod", fx="1")],
        },
        r"force 'f': a = 'bob'; a point mass has no angle",
    ),
    (
        {"bodies": [rod(), BOB], "joints": [Revolute(name="p", b="bob.eye")]},
        r"joint 'p': b = 'bob.eye'; no such point; there are none",
    ),
    (
        {
            "drives": [
                RotationDrive(name="m0", b="rod", law=CONSTANT),
                RotationDrive(name="m1", b="rod", law=CONSTANT),
            ]
        },
        r"drive 'm1': b = 'rod'; drive 'm0' already prescribes this motion",
    ),
    (
        {
            "drives": [
                TranslationDrive(name="m0", b="rod.tip", axis=0.3, law=CONSTANT),
                TranslationDrive(name="m1", b="rod.tip", axis=0.3, law=CONSTANT),
            ]
        },
        r"drive 'm1': b = 'rod.tip'; drive 'm0' already prescribes this motion",
    ),
    ({"joints": [1]}, r"joints\[0\] = 1; give one of: .*Revolute"),
    ({"joints": 5}, r"joints = 5; give a list"),
    ({"drives": [HINGE]}, r"drives\[0\] = .*; give one of: .*RotationDrive"),
    (
        {"joints": [RotationDrive(name="m", b="rod", law=CONSTANT)]},
        r"joints\[0\] = .*; give one of: .*Revolute",
    ),
    ({"gravity": (0.0, math.inf)}, r"gravity = \(0.0, inf\); must be finite"),
    ({"gravity": 9.81}, r"gravity = 9.81"),
    ({"keep": ["rdo.x"]}, r"keep = 'rdo.x'; no body 'rdo'; did you mean 'rod'\?"),
    ({"keep": ["rod"]}, r"keep = 'rod'; give body.x, body.y or body.theta"),
    ({"keep": ["rod.z"]}, r"keep = 'rod.z'; give body.x, body.y or body.theta"),
]


@pytest.mark.parametrize(
    ("changes", "message"), BAD_MODELS, ids=[m for _, m in BAD_MODELS]
)
def test_a_model_that_has_no_meaning_is_refused(changes, message):
    with pytest.raises(ModelError, match=message):
        model(**changes)


def test_different_axes_are_different_drives():
    """Not refused: along x and along y are two motions."""
    drives = [
        TranslationDrive(name="m0", b="bob", axis=0.0, law=CONSTANT),
        TranslationDrive(name="m1", b="bob", axis=math.pi / 2, law=CONSTANT),
    ]
    assert simulate(Model(bodies=[BOB], drives=drives), 0.1).status == "finished"


def test_an_unknown_element_is_named_with_the_nearest():
    with pytest.raises(ModelError, match=r"no element 'hinj'; did you mean 'hinge'\?"):
        model().element("hinj")
    assert model().element("hinge") == HINGE


def test_nearest_names():
    assert nearest("crnak", ["crank", "rod"]) == "did you mean 'crank'?"
    assert nearest("zzz", ["crank", "rod"]) == "valid: crank, rod"
    assert nearest("zzz", []) == "there are none to choose from"
    many = [f"body{k}" for k in range(20)]
    assert nearest("zzz", many).endswith("body11, ...")


def test_model_errors_are_value_errors_and_switch_errors_are_solve_errors():
    assert issubclass(ModelError, ValueError)
    assert issubclass(SolveError, RuntimeError)
    assert issubclass(SwitchError, SolveError)


def test_a_loop_that_skips_failures_ends_at_ctrl_c():
    """It is no SolveError, nor any Exception, and carries what was computed."""

    def ctrl_c(part):
        if part > 0.2:
            raise KeyboardInterrupt

    def runs_that_may_fail():
        for _ in range(3):
            begun.append(1)
            with contextlib.suppress(SolveError):
                simulate(model, 1.0, method="rk4", step=1e-5, progress=ctrl_c)

    assert not issubclass(Interrupted, Exception)
    model = Model(bodies=[RigidBody(name="block", mass=1.0, inertia=1.0)])
    begun = []
    with pytest.raises(KeyboardInterrupt) as caught:
        runs_that_may_fail()
    assert len(begun) == 1
    assert isinstance(caught.value, Interrupted)
    result = caught.value.result
    assert result is not None
    assert 0.0 < result.t_end < 1.0
    assert str(caught.value) == result.message
    assert str(pickle.loads(pickle.dumps(Interrupted("stopped")))) == "stopped"


def test_every_number_of_an_element_has_a_unit():
    """Words for what has none: a number of things, a ratio."""

    def kinds(cls: type[Element]) -> Iterator[type[Element]]:
        for sub in cls.__subclasses__():
            if sub.__module__.startswith("nonsmooth.elements"):
                yield sub
                yield from kinds(sub)

    found = set(kinds(Element))
    assert len(found) > 60
    for kind in found:
        for item in dataclasses.fields(kind):
            is_number = "float" in str(field_types(kind)[item.name])
            is_known = "unit" in item.metadata or item.name in NO_UNIT
            assert is_known or not is_number, (kind, item.name)
            if item.metadata.get("unit") and "Parameters" not in vars(kind)["__doc__"]:
                line = f"{item.name} : {item.type}\n    {item.metadata['unit']}"
                assert line in (kind.__doc__ or "")


# Elements inside, or a mapping to them.
NO_UNIT = ("block",)


# ---- options -------------------------------------------------------------------

BAD_OPTIONS = [
    ({"method": "rk45"}, r"method = 'rk45'; did you mean 'rk4'\? valid: auto, dop8"),
    ({"method": "fast"}, r"method = 'fast'; valid: auto, dop853, dopri5, radau"),
    ({"method": "rk4"}, r"method = 'rk4' needs step = \.\.\., in s"),
    ({"step": 0.1}, r"step = 0.1: method 'auto' chooses its own steps; use max_step"),
    ({"method": "rk4", "step": 0.0}, r"step = 0.0; must be a number > 0"),
    ({"method": "rk4", "step": -1.0}, r"step = -1.0; must be a number > 0"),
    ({"method": "rk4", "step": math.nan}, r"step = nan; must be a number > 0"),
    ({"rtol": 0.0}, r"rtol = 0.0; must be a number > 0"),
    ({"rtol": -1e-6}, r"rtol = -1e-06; must be a number > 0"),
    ({"rtol": math.nan}, r"rtol = nan; must be a number > 0"),
    ({"rtol": "tight"}, r"rtol = 'tight'; must be a number > 0"),
    ({"rtol": 1e-16}, r"rtol = 1e-16; must be >= 1e-14, above round-off"),
    ({"rtol": 0.01}, r"rtol = 0.01; must be <= 0.001, .* loose=True allows it"),
    ({"rtol": 0.01, "loose": 2}, r"loose = 2; give True or False"),
    ({"rtol": 1.5, "loose": True}, r"rtol = 1.5; must be <= 1"),
    ({"atol": 0.0}, r"atol = 0.0; must be a number > 0"),
    ({"max_step": 0.0}, r"max_step = 0.0; must be"),
    ({"max_step": math.nan}, r"max_step = nan; must be"),
    ({"max_step": "long"}, r"max_step = 'long'; must be"),
    ({"stabilisation": "glue"}, r"stabilisation = 'glue'; give 'projection', 'none'"),
]


@pytest.mark.parametrize(
    ("options", "message"), BAD_OPTIONS, ids=[m for _, m in BAD_OPTIONS]
)
def test_a_bad_option_is_refused(options, message):
    with pytest.raises(ModelError, match=message):
        simulate(model(), 1.0, **options)


def test_a_field_that_is_set_says_how_to_change_it():
    rigid: Any = rod()
    refusal = dataclasses.FrozenInstanceError
    with pytest.raises(refusal, match=r"body 'rod': mass .*replace\(\.\.\., mass=2\)"):
        rigid.mass = 2
    with pytest.raises(refusal, match=r"body 'rod': no field 'mas'; did you mean"):
        rigid.mas = 2
    whole: Any = model()
    with pytest.raises(refusal, match=r"model.*: gravity cannot be set"):
        whole.gravity = (0, 0)
    assert dataclasses.replace(rigid, mass=2).mass == 2.0


@pytest.mark.parametrize("until", [0.0, -1.0, math.nan, math.inf, "1", None])
def test_an_end_that_is_no_later_time_is_refused(until):
    with pytest.raises(ModelError, match=rf"until = {until!r}; must be a time > 0 s"):
        simulate(model(), until)


def test_a_table_that_is_too_short_is_refused():
    drive = RotationDrive(
        name="m", b="rod", law=Table(times=(0.0, 0.5), values=(0.0, 0.0))
    )
    with pytest.raises(ModelError, match=r"until = 1 s: .*from 0 to 0.5 s only"):
        simulate(model(drives=[drive]), 1.0)
    with pytest.raises(ModelError, match=r"t = 1 s: a table .* is not defined there"):
        equilibrium(model(drives=[drive]), t=1.0)


# ---- laws that fail ------------------------------------------------------------

WHEN = 0.4  # s


@dataclass(frozen=True, kw_only=True)
class NotANumberLaw(TimeLaw):
    """Zero, and NaN in one of its outputs from `when` on."""

    when: float
    which: float

    @staticmethod
    def evaluate(p, t, s):
        for i in range(3):
            s[i] = math.nan if t >= p[0] and i == p[1] else 0.0


@dataclass(frozen=True, kw_only=True)
class NotANumberForce(Force):
    """NaN from `when` on."""

    when: float

    @staticmethod
    def wrench(p, s, t, a, b, out):
        for i in range(8):
            out[i] = 0.0
        out[0] = 1.0 if t < p[0] else math.nan


@dataclass(frozen=True, kw_only=True)
class NotANumberPin(Joint):
    """A hinge whose bias is NaN below an angle."""

    n_row: ClassVar[int] = 2

    @staticmethod
    def rows(p, s, a, b, out):
        for r in range(2):
            o = 9 * r
            for i in range(9):
                out[o + i] = 0.0
            out[o] = b[r] - a[r]
            out[o + 3 + r] = -1.0
            out[o + 6 + r] = 1.0
        if b[2] < -0.5:
            out[2] = math.nan


METHODS = [
    {"method": "auto"},
    {"method": "dopri5"},
    {"method": "radau"},
    {"method": "rk4", "step": 0.01},
    {"method": "semi_implicit_euler", "step": 0.01},
]


def each_method(test):
    names = [m["method"] for m in METHODS]
    return pytest.mark.parametrize("options", METHODS, ids=names)(test)


def failure(bad: Model, options: dict, when: float, who: str):
    """Run into a failure; check time, element and partial result."""
    with pytest.raises(SolveError, match=who) as caught:
        simulate(bad, 1.0, **options)
    assert "not finite" in str(caught.value)
    result = caught.value.result
    assert result is not None
    assert result is not None
    assert result.status == "failed"
    assert result.message == str(caught.value)
    told = float(str(caught.value).split("t = ")[1].split(" s")[0])
    # A step that cannot be halved any more ends at the instant; a fixed one is as
    # near as its size.
    within = options.get("step", 1e-8)
    assert told == pytest.approx(when, abs=within)
    assert when - 2 * within <= result.t_end <= when + 1e-12
    assert np.all(np.isfinite(result.sample().to_numpy()[:-1]))
    return result


@each_method
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_drive_law_that_turns_nan_is_named(options, which):
    law = NotANumberLaw(when=WHEN, which=float(which))
    drive = RotationDrive(name="motor", b="rod", law=law)
    failure(model(drives=[drive]), options, WHEN, "drive 'motor'")


@each_method
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_support_law_that_turns_nan_is_named(options, which):
    law = NotANumberLaw(when=WHEN, which=float(which))
    bodies = [rod(), MovingSupport(name="deck", y=law)]
    hinge = Revolute(name="hinge", a="deck", b="rod.pin")
    failure(model(bodies=bodies, joints=[hinge]), options, WHEN, "body 'deck'")


@each_method
def test_a_force_that_turns_nan_is_named(options):
    force = NotANumberForce(name="wind", b="rod.tip", when=WHEN)
    failure(model(forces=[force]), options, WHEN, "force 'wind'")


@each_method
def test_an_expression_outside_its_domain_is_named(options):
    force = ExpressionForce(name="wind", b="rod.tip", fy=f"sqrt({WHEN} - t)")
    failure(model(forces=[force]), options, WHEN, "force 'wind'")


@each_method
def test_a_joint_that_turns_nan_is_named(options):
    pin = NotANumberPin(name="hinge", b="rod.pin")
    with pytest.raises(SolveError, match=r"joint 'hinge' is not finite") as caught:
        simulate(model(joints=[pin]), 1.0, **options)
    result = caught.value.result
    assert result is not None
    assert result is not None
    angle = result.state().positions["rod"][2]
    # One fixed step at a rate of 4 rad/s before the angle, or next to it.
    assert angle == pytest.approx(-0.5, abs=5 * options.get("step", 1e-6))


def test_nan_at_the_start_leaves_an_empty_result():
    force = NotANumberForce(name="wind", b="rod.tip", when=-1.0)
    with pytest.raises(SolveError, match=r"t = 0 s: force 'wind'") as caught:
        simulate(model(forces=[force]), 1.0)
    result = caught.value.result
    assert result is not None
    assert result is not None
    assert len(result.steps.t) == 0
    assert result.t_end == 0.0
    with pytest.raises(
        ModelError, match=r"the run has no steps: t = 0 s: force 'wind'"
    ):
        result.sample()
    assert result.summary()["status"] == "failed"


def test_nan_of_a_drive_at_the_start_is_refused():
    law = NotANumberLaw(when=-1.0, which=0.0)
    drive = RotationDrive(name="motor", b="rod", law=law)
    with pytest.raises((ModelError, SolveError), match=r"drive 'motor'"):
        simulate(model(drives=[drive]), 1.0)


def test_motion_without_bound_ends_in_time():
    """w' ~ w³: infinite after a finite time."""
    force = ExpressionForce(name="wind", b="rod.tip", torque="omega**3 + 1 + omega")
    with pytest.raises(SolveError) as caught:
        simulate(model(forces=[force], gravity=(0.0, 0.0)), 10.0)
    assert caught.value.result is not None
    assert 0.0 < caught.value.result.t_end < 1.0


# ---- laws that do not compile --------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class UndefinedName(TimeLaw):
    @staticmethod
    def evaluate(p, t, s):
        s[0] = no_such_function(t)  # noqa: F821


@dataclass(frozen=True, kw_only=True)
class TextForce(Force):
    @staticmethod
    def wrench(p, s, t, a, b, out):
        out[0] = "a lot"


@dataclass(frozen=True, kw_only=True)
class ShortJoint(Joint):
    n_row: ClassVar[int] = 1

    @staticmethod
    def rows(p, s, a, b):
        a[0] = 1.0


NOT_COMPILED = [
    (
        lambda: UndefinedName(),
        ["UndefinedName: evaluate uses 'no_such_function', which is not defined"],
    ),
    (
        lambda: simulate(model(forces=[TextForce(name="wind", b="rod")]), 1.0),
        [
            "force 'wind': TextForce does not compile: 'a lot' is text, not a number",
            'of test_errors.py: out[0] = "a lot")',
        ],
    ),
    (
        lambda: ShortJoint(name="peg", b="rod"),
        ["ShortJoint: rows(", "write def rows(p, s, a, b, out)"],
    ),
]


@pytest.mark.parametrize(("bad", "words"), NOT_COMPILED, ids=["law", "force", "joint"])
def test_a_users_law_that_does_not_compile_names_its_element(bad, words):
    with pytest.raises(ModelError) as caught:
        bad()
    text = str(caught.value)
    for word in words:
        assert word in text
    assert "\x1b" not in text  # no colours
    assert len(text.splitlines()) == 1
    assert (caught.value.__cause__ is not None) == ("not compile" in text)
