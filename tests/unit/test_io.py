"""Model files: exact round trips, refusals that say where, and the schema."""

import dataclasses
import json
import math
import re
import subprocess
import sys
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from nonsmooth import io
from nonsmooth.elements.base import Element, field_types, quantity
from nonsmooth.elements.bodies import Body, Ground, MovingSupport, PointMass, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.drives import Drive, RotationDrive
from nonsmooth.elements.events import Event
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.forces import ExpressionForce, Force, PointForce, SpringDamper
from nonsmooth.elements.friction import Coulomb, FrictionLaw
from nonsmooth.elements.joints import (
    ElasticBlock,
    Joint,
    PinInSlot,
    Prismatic,
    Revolute,
)
from nonsmooth.elements.laws import ConstantRate, Expression, Harmonic, Table, TimeLaw
from nonsmooth.elements.materials import Material, ModalDamping, RayleighDamping
from nonsmooth.elements.meshes import Bar, MeshFile, Patch, Rectangle, Refinement
from nonsmooth.elements.normal import (
    DampedHertz,
    Flores,
    KelvinVoigt,
    NormalLaw,
    Unilateral,
)
from nonsmooth.elements.shapes import Circle, Line, Polygon, Segment, Shape
from nonsmooth.elements.wishes import Run
from nonsmooth.errors import ModelError
from nonsmooth.io import kinds, yaml_text
from nonsmooth.model import Model


@pytest.fixture(autouse=True, scope="module")
def only_built_in_kinds():
    """Hide kinds that other test files register: messages list those there are."""
    with pytest.MonkeyPatch.context() as patch:
        families = (Body, Joint, Drive, Force, TimeLaw, Shape, NormalLaw, FrictionLaw)
        for family in families:
            kinds = family.kinds.items()
            built_in = {n: k for n, k in kinds if k.__module__.startswith("nonsmooth.")}
            patch.setattr(family, "kinds", built_in)
        yield


FORMATS = ("yaml", "json")

MODEL = Model(
    title="Crank: on and off",
    gravity=(0, -9.81),
    bodies=(
        RigidBody(
            name="crank",
            mass=2,
            inertia=0.1,
            position=(0.5, 0),
            points={"pin": (-0.5, 0), "end": (0.5, -0.0)},
        ),
        RigidBody(name="rod", mass=1e-5, inertia=3e6),
        MovingSupport(
            name="table", x=Harmonic(amplitude=0.1, angular_frequency=3), y=2.0
        ),
        Ground(points={"rail": (0, 1)}),
    ),
    joints=(
        Revolute(name="hinge", b="crank.pin"),
        PinInSlot(name="slot", a="ground.rail", b="rod", axis=1 / 3),
    ),
    drives=(
        RotationDrive(name="motor", b="crank", law=Expression(text="0.8*sin(pi*t)")),
        RotationDrive(
            name="other", b="rod", law=Table(times=(0, 1, 2.5), values=(0, 0.1, 0.3))
        ),
    ),
    forces=(
        SpringDamper(name="spring", a="table", b="rod", stiffness=1e22),
        ExpressionForce(name="push", b="rod", fx="-2e3*x", torque="3"),
    ),
    events=(Event(name="top", b="rod", guard="y - 0.2", action="stop"),),
    assemble=True,
    keep=("crank.theta",),
)

TEXT = """\
nonsmooth: 1
title: 'Crank: on and off'
gravity: [0, -9.81]

bodies:
  - type: RigidBody
    name: crank
    mass: 2
    inertia: 0.1
    position: [0.5, 0]
    points:
      pin: [-0.5, 0]
      end: [0.5, -0.0]
  - type: RigidBody
    name: rod
    mass: 1.0e-05
    inertia: 3000000
  - type: MovingSupport
    name: table
    x:
      type: Harmonic
      amplitude: 0.1
      angular_frequency: 3
    y: 2
  - type: Ground
    points:
      rail: [0, 1]

joints:
  - type: Revolute
    name: hinge
    b: crank.pin
  - type: PinInSlot
    name: slot
    a: ground.rail
    b: rod
    axis: 0.3333333333333333

drives:
  - type: RotationDrive
    name: motor
    b: crank
    law:
      type: Expression
      text: 0.8*sin(pi*t)
  - type: RotationDrive
    name: other
    b: rod
    law:
      type: Table
      times: [0, 1, 2.5]
      values: [0, 0.1, 0.3]

forces:
  - type: SpringDamper
    name: spring
    a: table
    b: rod
    stiffness: 1.0e+22
  - type: ExpressionForce
    name: push
    b: rod
    fx: -2e3*x
    torque: '3'

events:
  - type: Event
    name: top
    b: rod
    guard: y - 0.2
    action: stop

assemble: true
keep: [crank.theta]
"""

BODY = "bodies: [{type: RigidBody, name: arm, mass: 1, inertia: 1}]"
LAWS = "Constant, ConstantRate, Harmonic, Ramp, SmoothStep, Table, Expression"


@pytest.fixture(params=["C", "Python"])
def parser(request, monkeypatch):
    """Both parsers of PyYAML: not every build has the one in C."""
    if request.param == "Python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML without libyaml")


def agreed(monkeypatch, text):
    """Return the message with which both parsers of PyYAML refuse a text."""
    found = refusal(text)
    with monkeypatch.context() as patch:
        patch.delattr(yaml, "CSafeLoader", raising=False)
        assert refusal(text) == found
    return found


@cache
def validator():
    """Return the validator of model files; not a fixture, whose repr is long."""
    content = io.schema()
    jsonschema.Draft202012Validator.check_schema(content)
    json.dumps(content, allow_nan=False)
    return jsonschema.Draft202012Validator(content)


def refusal(text, format: Any = "yaml", **options):
    """Return the message with which a text is refused."""
    with pytest.raises(ModelError) as caught:
        io.loads(text, format, source="arm", **options)
    return str(caught.value)


# ---- writing and reading back ----------------------------------------------------


def test_yaml_is_pleasant_to_read():
    assert io.dumps(MODEL) == TEXT


def test_json_keeps_lists_on_one_line():
    text = io.dumps(MODEL, "json")
    assert '  "gravity": [0.0, -9.81],\n' in text
    assert json.loads(text) == io.to_dict(MODEL)


def test_plain_data():
    data = io.to_dict(MODEL)
    assert list(data)[:4] == ["nonsmooth", "title", "gravity", "bodies"]
    assert data["bodies"][3] == {"type": "Ground", "points": {"rail": [0.0, 1.0]}}
    assert data["drives"][0] == {
        "type": "RotationDrive",
        "name": "motor",
        "b": "crank",
        "law": {"type": "Expression", "text": "0.8*sin(pi*t)"},
    }
    assert io.from_dict(data) == MODEL


@pytest.mark.parametrize("format", FORMATS)
def test_round_trip(format):
    assert io.loads(io.dumps(MODEL, format), format) == MODEL


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".json", ".YAML"])
def test_files(tmp_path, suffix):
    path = tmp_path / f"arm{suffix}"
    io.save(MODEL, path)
    assert io.load(path) == MODEL
    assert io.load(str(path)) == MODEL
    assert b"\r" not in path.read_bytes()


def test_byte_order_mark_and_windows_line_ends(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert io.load(path) == MODEL


def test_minus_zero_is_not_left_out():
    model = dataclasses.replace(MODEL, gravity=(-0.0, 0.0))
    for format in FORMATS:
        back = io.loads(io.dumps(model, format), format)
        assert math.copysign(1.0, back.gravity[0]) == -1.0


TITLES = (
    *("1e6", "1_000", "0o17", "010", "12:30", "yes", "off", "null", "~", "true"),
    *("", " ", "a\nb", "\t", "<<", "*a", "&a", "!x", "- a", "a: b", "a #b", "="),
    *("été 重力 🙂", "\ufeff", "\x00", "\x85", "\u2028", ".inf", "2026-01-31"),
    *("word " * 60, "a  " * 60),
)


@pytest.mark.usefixtures("parser")
def test_text_stays_text():
    for title in TITLES:
        model = dataclasses.replace(MODEL, title=title)
        text = io.dumps(model)
        assert io.loads(text) == model, title
        # A reader of YAML 1.1, as most are, must see the same.
        assert yaml.safe_load(text).get("title", "") == title


# ---- random models of all kinds --------------------------------------------------

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
POINTS = st.dictionaries(
    st.sampled_from(["pin", "end_2", "été", "on"]),
    st.tuples(NUMBERS, NUMBERS),
    max_size=3,
)
# Convex and counter-clockwise: some of 24 places on an ellipse, in order.
POLYGONS = st.builds(
    lambda places, a, b: Polygon(
        vertices=tuple(
            (a * math.cos(math.pi * k / 12), b * math.sin(math.pi * k / 12))
            for k in sorted(places)
        )
    ),
    st.sets(st.integers(0, 23), min_size=3),
    st.floats(1e-3, 1e3),
    st.floats(1e-3, 1e3),
)
SEGMENTS = (
    st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=2)
    .filter(lambda ends: math.dist(*ends) > 0.0)
    .map(lambda ends: Segment(start=ends[0], end=ends[1]))
)
COULOMB = st.lists(st.floats(0.0, 1e3), min_size=1, max_size=2).map(
    lambda mu: Coulomb(**dict(zip(("mu", "mu_static"), sorted(mu), strict=False)))
)
SHAPES = st.deferred(
    lambda: st.dictionaries(
        st.sampled_from(["rim", "sole_2", "größe"]), values(Shape, {}), max_size=2
    )
)
EXPRESSIONS = st.sampled_from(["0", "0.8*sin(pi*t)", "-2e3", "where(t < 1, t, 1)"])


def own_kinds(family):
    """Return the library's kinds of a family, without those of other tests.

    And without what only patches of flexible bodies can have: see test_patches.py.
    """
    found = [k for k in family.kinds.values() if k is not Unilateral]
    return [k for k in found if k.__module__.startswith("nonsmooth.")]


def values(annotation, metadata):
    """Return a strategy for the values that a field admits."""
    parts = get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Element):
        return st.one_of([elements(kind) for kind in own_kinds(annotation)])
    if annotation is float:
        low = metadata.get("above")
        low = metadata.get("minimum") if low is None else math.nextafter(low, math.inf)
        high = metadata.get("maximum")
        is_bounded = low is not None or high is not None
        return st.floats(low, high, allow_infinity=False) if is_bounded else NUMBERS
    if annotation == tuple[str, ...]:
        return st.lists(st.sampled_from(["one.x", "two.theta"])).map(tuple)
    if annotation is str:
        return EXPRESSIONS
    if annotation is NoneType:
        return st.none()
    if get_origin(annotation) is Literal:
        return st.sampled_from(parts)
    if get_origin(annotation) is dict:
        return SHAPES if parts[1] is Shape else POINTS
    if get_origin(annotation) is tuple:
        return st.tuples(*[values(part, {}) for part in parts])
    return st.one_of([values(part, metadata) for part in parts])


@cache
def elements(kind, **fixed):
    """Return a strategy for the elements of a kind; some of its fields are given."""
    if kind is Table:
        rows = st.dictionaries(NUMBERS, NUMBERS, min_size=2, max_size=5)
        return rows.map(
            lambda x: Table(times=tuple(sorted(x)), values=tuple(x.values()))
        )
    if kind is FlexibleBody:
        return flexible(fixed["name"])
    if kind is ElasticBlock:
        own = Material(youngs_modulus=1e9, density=1e3)
        return st.builds(
            ElasticBlock,
            material=st.sampled_from(["steel", own]),
            thickness=st.floats(1e-3, 1e3),
            plane=st.sampled_from(["stress", "strain"]),
            cells=st.tuples(st.integers(2, 400), st.integers(2, 400)),
            penalty=st.none() | st.floats(1.0, 1e12),
        )
    if kind in (Polygon, Segment, Coulomb):
        return {Polygon: POLYGONS, Segment: SEGMENTS, Coulomb: COULOMB}[kind]
    required = {name: st.just(value) for name, value in fixed.items()}
    optional = {}
    for item in dataclasses.fields(kind):
        if item.name not in fixed:
            strategy = values(field_types(kind)[item.name], item.metadata)
            is_required = item.default is item.default_factory  # both are MISSING
            (required if is_required else optional)[item.name] = strategy
    fields = st.fixed_dictionaries(required, optional=optional)
    return fields.map(lambda x: kind(**admissible(kind, x)))


def flexible(name):
    """Return a strategy for flexible bodies, whose fields depend on each other."""
    refined = Refinement(point=(0.5, 0.0), size=0.01)
    meshes = [
        Rectangle(width=2.0, height=0.5, size=0.1),
        MeshFile(path="bar.msh"),
        Bar(length=1.0, width=0.1, size=0.05, refine={"tip": refined}),
    ]
    dampings = [None, ModalDamping(ratio=0.01), RayleighDamping(stiffness=1e-6)]
    patch = Patch(boundary="left", center=(0.0, 0.0), radius=0.1)
    own = Material(youngs_modulus=1e9, density=1e3)
    return st.builds(
        FlexibleBody,
        name=st.just(name),
        mesh=st.sampled_from(meshes),
        material=st.sampled_from(["steel", own]),
        thickness=st.floats(1e-3, 1e3),
        plane=st.sampled_from(["stress", "strain"]),
        modes=st.integers(1, 200),
        damping=st.sampled_from(dampings),
        symmetric=st.sampled_from([None, "x", "y"]),
        points=POINTS,
        patches=st.sampled_from([{}, {"root": patch}]),
        position=st.none() | st.tuples(NUMBERS, NUMBERS),
        angle=NUMBERS,
        eta=st.lists(NUMBERS, max_size=3).map(tuple),
    )


def admissible(kind, fields):
    """Return fields that go together: what one of them asks of another."""
    if issubclass(kind, FrictionLaw) and fields.get("mu_static") is not None:
        fields["mu"], fields["mu_static"] = sorted((fields["mu"], fields["mu_static"]))
    if kind is Revolute and fields.get("radius") is None:
        fields.pop("friction", None)
    if kind is Harmonic:
        hz = fields.pop("frequency_hz", None)
        if hz is not None and abs(hz) < 1e300:
            return fields | {"angular_frequency": None, "frequency_hz": hz}
        fields["angular_frequency"] = fields.get("angular_frequency") or 0.0
    if kind is Prismatic:
        if not (fields.get("length") or 0.0) > 0.0:
            fields["length"] = 1.0
        height = fields.get("height", 0.0)
        if fields.get("block") is not None and fields.get("friction") and height > 0.0:
            fields.setdefault("clearance", 1e-4)
            fields["clearance"] = fields["clearance"] or 0.0
            fields.pop("normal", None)
        elif fields.get("clearance") is None or fields.get("normal") is None:
            fields.pop("clearance", None)
            fields.pop("normal", None)
        if fields.get("clearance") is None or fields.get("normal") is not None:
            fields.pop("block", None)
        # Rigid corners of random models bear by a law, elastic blocks by their nodes.
        if fields.get("block") is None or fields.get("load") == "corners":
            fields.pop("load", None)
    return fields


def random_models():
    """Return a strategy for models with at most one element of each kind."""
    lists = {}
    for name, annotation in field_types(Model).items():
        family = next(iter(get_args(annotation)), None)
        if not isinstance(family, type) or not issubclass(family, Element):
            continue
        if family is Run:
            continue
        choices = []
        if name == "bodies":
            choices += [elements(RigidBody, name=word) for word in ("one", "two")]
        for kind in own_kinds(family):
            fixed = {"name": f"{name}-{kind.__name__}"}
            if kind is Ground:
                fixed["name"] = "ground"
            if name != "bodies":
                fixed["b"] = "two"
                fixed["a"] = "ground" if kind in (PointForce, Contact) else "one"
            choices.append(st.none() | elements(kind, **fixed))
        lists[name] = st.tuples(*choices).map(lambda x: tuple(filter(None, x)))
    return st.builds(
        Model,
        title=st.text(),
        gravity=st.tuples(NUMBERS, NUMBERS),
        assemble=st.booleans(),
        keep=st.lists(st.sampled_from(["one.x", "two.theta"])),
        run=st.none() | elements(Run),
        **lists,
    )


@given(random_models())
@settings(max_examples=100, deadline=None)
def test_random_models_survive_files(model):
    for format in FORMATS:
        text = io.dumps(model, format)
        back = io.loads(text, format)
        assert back == model
        assert repr(back) == repr(model)  # -0.0 too
        assert io.dumps(back, format) == text
    # The schema checks a file as any reader sees it, also one of YAML 1.1.
    assert yaml.safe_load(io.dumps(model)) == io.to_dict(model)
    assert validator().is_valid(io.to_dict(model))


# ---- numbers and words of YAML ---------------------------------------------------


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1e6", 1e6),
        ("1.e-3", 1e-3),
        ("-2E5", -2e5),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("010", 10.0),
        ("0x1F", 31.0),
        ("0o17", 15.0),
        ("6.02214076e+23", 6.02214076e23),
    ],
)
def test_numbers_of_yaml(text, number):
    model = io.loads(f"nonsmooth: 1\n{BODY}\ngravity: [{text}, 0]")
    assert model.gravity[0] == number


@pytest.mark.parametrize("text", ["1_000", "12:30", "1,5", "0b1", "1e", "e6", "."])
def test_not_numbers_of_yaml(text):
    message = refusal(f"nonsmooth: 1\n{BODY}\ngravity:\n- {text}\n- 0")
    assert message == (
        f"arm, line 4: gravity[0] = '{text}'; give a number"  # one line each
    )


@pytest.mark.parametrize("word", ["on", "off", "yes", "No", "y", "2026-01-31", "12:30"])
def test_words_stay_text(word):
    assert io.loads(f"nonsmooth: 1\n{BODY}\ntitle: {word}").title == word


# ---- refusals --------------------------------------------------------------------

BODIES = "RigidBody, PointMass, MovingSupport, Ground, FlexibleBody"
IN_PYTHON = (
    "(kinds of your own live in Python: import the module that defines them before "
    "you read the file, or give --import)"
)
REFUSALS = [
    # keys and kinds
    (
        "mass: 2",
        "mas: 2",
        "line 8: bodies[0].mas: body 'crank': unknown key 'mas'; did you mean 'mass'?",
    ),
    (
        "    mass: 2\n",
        "",
        "line 6: bodies[0]: body 'crank': mass is missing; "
        "give mass: a number > 0 (kg)",
    ),
    (
        "    name: crank\n",
        "",
        "line 6: bodies[0]: name is missing; give name: text",
    ),
    (
        "type: RigidBody",
        "type: RigidBdy",
        "line 6: bodies[0].type: body 'crank': type = 'RigidBdy'; "
        f"did you mean 'RigidBody'? {IN_PYTHON}",
    ),
    (
        "type: Expression\n",
        "type: Mine\n",
        "line 44: drives[0].law.type: drive 'motor': law.type = 'Mine'; "
        f"valid: {LAWS} {IN_PYTHON}",
    ),
    (
        "type: RigidBody",
        "type: Revolute",
        "line 6: bodies[0].type: body 'crank': type = 'Revolute'; "
        f"this is a kind of joint, not of body; valid: {BODIES}",
    ),
    (
        "type: RigidBody\n    name",
        "name",
        f"line 6: bodies[0]: body 'crank': type is missing; valid: {BODIES}",
    ),
    (
        "type: RigidBody",
        "type: 1",
        f"line 6: bodies[0].type: body 'crank': type = 1; valid: {BODIES}",
    ),
    (
        "      rail: [0, 1]",
        "      rail: [0, 1]\n    mass: 1",
        "line 28: bodies[3].mass: unknown key 'mass'; valid: name, points, "
        "shapes, type",
    ),
    (
        "pin: [-0.5, 0]",
        "1: [-0.5, 0]",
        "line 11: bodies[0].points: body 'crank': key 1; a key must be text",
    ),
    # types
    (
        "mass: 2",
        "mass: heavy",
        "line 8: bodies[0].mass: body 'crank': mass = 'heavy'; give a number > 0 (kg)",
    ),
    (
        "mass: 2",
        "mass:",
        "line 8: bodies[0].mass: body 'crank': mass = null; give a number > 0 (kg)",
    ),
    (
        "mass: 2",
        "mass: true",
        "line 8: bodies[0].mass: body 'crank': mass = true; give a number > 0 (kg)",
    ),
    (
        "mass: 2",
        "mass: .nan",
        "line 8: bodies[0].mass: body 'crank': mass = nan; must be finite",
    ),
    (
        "mass: 2",
        "mass: -.inf",
        "line 8: bodies[0].mass: body 'crank': mass = -inf; must be finite",
    ),
    (
        "mass: 2",
        f"mass: {'9' * 5000}",
        "line 8: bodies[0].mass: body 'crank': mass = a huge number; too large, "
        "numbers end at 1.8e308",
    ),
    (
        "mass: 2",
        "mass: 1e999",
        "line 8: bodies[0].mass: body 'crank': mass = inf; must be finite",
    ),
    (
        "stiffness: 1.0e+22",
        "stiffness: soft",
        "line 59: forces[0].stiffness: force 'spring': stiffness = 'soft'; "
        "give a number >= 0 (N/m)",
    ),
    (
        "angular_frequency: 3",
        "angular_frequency: 3 Hz",
        "line 23: bodies[2].x.angular_frequency: body 'table': "
        "x.angular_frequency = '3 Hz'; give a number (rad/s) or null",
    ),
    (
        "angular_frequency: 3",
        "frequency: 3",
        "line 23: bodies[2].x.frequency: body 'table': unknown key 'frequency'; "
        "give angular_frequency in rad/s, or frequency_hz in Hz",
    ),
    (
        "    y: 2\n",
        "    y: [2]\n",
        "line 24: bodies[2].y: body 'table': y = [2]; "
        f"give {{type: {LAWS.replace(', ', ' | ')}, ...}} or a number (m)",
    ),
    (
        "position: [0.5, 0]",
        "position: [0.5]",
        "line 10: bodies[0].position: body 'crank': position = [0.5]; "
        "give [number, number]",
    ),
    (
        "pin: [-0.5, 0]",
        "pin: [-0.5, left]",
        "line 12: bodies[0].points.pin[1]: body 'crank': points.pin[1] = 'left'; "
        "give a number",
    ),
    (
        "pin: [-0.5, 0]",
        "pin: 3",
        "line 12: bodies[0].points.pin: body 'crank': points.pin = 3; "
        "give [number, number]",
    ),
    (
        "    points:\n      rail: [0, 1]",
        "    points:",
        "line 26: bodies[3].points: points = null; "
        "give {name: [number, number], ...}, or leave it out",
    ),
    (
        "values: [0, 0.1, 0.3]",
        "values: [0, 0.1, .inf]",
        "line 52: drives[1].law.values[2]: drive 'other': law.values[2] = inf; "
        "must be finite",
    ),
    (
        "action: stop",
        "action: stpo",
        "line 71: events[0].action: event 'top': action = 'stpo'; did you mean 'stop'?",
    ),
    (
        "action: stop",
        "action: 1",
        "line 71: events[0].action: event 'top': action = 1; give 'record' | 'stop'",
    ),
    (
        "torque: '3'",
        "torque: 3",
        "line 64: forces[1].torque: force 'push': torque = 3; "
        "give text, in quotes: '3'",
    ),
    (
        "assemble: true",
        "assemble: yes",
        "line 73: assemble = 'yes'; give true or false",
    ),
    (
        "keep: [crank.theta]",
        "keep: crank.theta",
        "line 74: keep = 'crank.theta'; give [text, ...]",
    ),
    (
        "  - type: RigidBody\n    name: rod\n",
        "  - rod\n  - name: rod\n",
        "line 14: bodies[1] = 'rod'; "
        f"give {{type: {BODIES.replace(', ', ' | ')}, ...}}",
    ),
    # what the elements themselves refuse
    (
        "mass: 2",
        "mass: -2",
        "line 8: bodies[0].mass: body 'crank': mass = -2.0; must be > 0 kg",
    ),
    (
        "name: crank",
        "name: the crank",
        "line 7: bodies[0].name: body 'the crank': name = 'the crank'; "
        "use letters, digits, '_' and '-', a letter first",
    ),
    (
        "pin: [-0.5, 0]",
        "a b: [-0.5, 0]",
        "line 11: bodies[0].points: body 'crank': points = 'a b'; "
        "use letters, digits and '_', a letter first",
    ),
    (
        "times: [0, 1, 2.5]",
        "times: [0, 1, 1]",
        "line 51: drives[1].law.times: drive 'other': Table: times[2] = 1.0; "
        "must be > 1 s",
    ),
    (
        "sin(pi*t)",
        "sin(pi*x)",
        "line 45: drives[0].law.text: drive 'motor': Expression, text, column 12: "
        "unknown name 'x'; valid: t, pi",
    ),
    (
        "fx: -2e3*x",
        "fx: -2e3*",
        "line 63: forces[1].fx: force 'push', fx, column 6: cannot read the "
        "expression at its end: invalid syntax",
    ),
    (
        "guard: y - 0.2",
        "guard: y - 0.2^2",
        "line 70: events[0].guard: event 'top', guard, column 8: the character '^' "
        "is not valid; write a power as a**b",
    ),
    # what the model refuses
    (
        "name: rod",
        "name: crank",
        "line 15: bodies[1].name: body 'crank': name = 'crank'; already used by a body",
    ),
    (
        "name: hinge",
        "name: crank",
        "line 31: joints[0].name: joint 'crank': name = 'crank'; "
        "already used by a body",
    ),
    (
        "b: rod",
        "b: rob",
        "line 36: joints[1].b: joint 'slot': b = 'rob'; no body 'rob'; "
        "did you mean 'rod'?",
    ),
    (
        "keep: [crank.theta]",
        "keep: [crank.angle]",
        "line 74: keep: model 'Crank: on and off': keep = 'crank.angle'; "
        "give body.x, body.y or body.theta",
    ),
    # the top
    (
        "assemble",
        "asemble",
        "line 73: asemble: unknown key 'asemble'; did you mean 'assemble'?",
    ),
    ("nonsmooth: 1\n", "", "nonsmooth is missing; begin with 'nonsmooth: 1'"),
    (
        "nonsmooth: 1",
        "nonsmooth: 2",
        "line 1: nonsmooth = 2; this release reads format 1: 'nonsmooth: 1'",
    ),
    (
        "nonsmooth: 1",
        "nonsmooth: true",
        "line 1: nonsmooth = true; this release reads format 1: 'nonsmooth: 1'",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), REFUSALS)
def test_refusals(monkeypatch, old, new, message):
    """By both parsers, and of plain data in the same words."""
    assert old in TEXT
    text = TEXT.replace(old, new, 1)
    found = agreed(monkeypatch, text)
    assert found == ("arm, " if message.startswith("line") else "arm: ") + message
    with pytest.raises(ModelError) as caught:
        io.from_dict(yaml_text.Document(text, "").data)
    assert str(caught.value) == re.sub(r"^line \d+: ", "", message)


def test_missing_list_of_bodies():
    assert refusal("nonsmooth: 1") == (
        "arm: bodies is missing; give bodies: "
        f"[{{type: {BODIES.replace(', ', ' | ')}, ...}}, ...]"
    )


@pytest.mark.parametrize(
    ("text", "found"), [("[1, 2]", "[1, 2]"), ("---", "null"), ("arm", "'arm'")]
)
def test_not_a_mapping(text, found):
    message = refusal(text)
    assert message == f"arm: {found}; give a mapping that has 'nonsmooth: 1'"


def test_long_values_are_shortened():
    message = refusal(TEXT.replace("mass: 2", f"mass: {'x' * 9999}"))
    assert len(message) < 200


def test_event_needs_no_type():
    assert io.loads(TEXT.replace("type: Event\n    name", "name")) == MODEL


def test_schema_key_is_for_editors():
    assert io.loads("$schema: model.json\n" + TEXT) == MODEL
    assert refusal("$schema: 1\n" + TEXT) == "arm, line 1: $schema = 1; give text"


def test_no_source_no_prefix():
    with pytest.raises(ModelError, match=r"^nonsmooth is missing"):
        io.from_dict({})


# ---- contacts and shapes ---------------------------------------------------------

CONTACTS = Model(
    title="Block on a belt",
    bodies=(
        RigidBody(
            name="block",
            mass=2,
            inertia=0.1,
            points={"toe": (0.1, -0.05)},
            shapes={
                "outline": Polygon(vertices=((0, 0), (1, 0), (0, 0.5))),
                "heel": Circle(center=(-0.1, -0.05), radius=0.01),
            },
        ),
        MovingSupport(name="belt", x=ConstantRate(rate=0.5)),
        Ground(
            points={"nail": (0, 1)},
            shapes={
                "ramp": Line(angle=0.25),
                "step": Segment(start=(1, 0), end=(2, 0)),
            },
        ),
        PointMass(name="bob", mass=1),
    ),
    contacts=(
        Contact(
            name="sole",
            a="belt",
            b="block.outline",
            normal=DampedHertz(stiffness=1e7, damping=2e5),
            friction=Coulomb(mu=0.3, mu_static=0.4),
        ),
        Contact(
            name="drop",
            a="ground.ramp",
            b="bob",
            normal=Flores(stiffness=1e22, restitution=0.5),
        ),
        Contact(name="bare", b="block.toe", normal=KelvinVoigt(stiffness=1e5)),
    ),
)

CONTACTS_TEXT = """\
nonsmooth: 1
title: Block on a belt

bodies:
  - type: RigidBody
    name: block
    mass: 2
    inertia: 0.1
    points:
      toe: [0.1, -0.05]
    shapes:
      outline:
        type: Polygon
        vertices:
          - [0, 0]
          - [1, 0]
          - [0, 0.5]
      heel:
        type: Circle
        center: [-0.1, -0.05]
        radius: 0.01
  - type: MovingSupport
    name: belt
    x:
      type: ConstantRate
      rate: 0.5
  - type: Ground
    points:
      nail: [0, 1]
    shapes:
      ramp:
        type: Line
        angle: 0.25
      step:
        type: Segment
        start: [1, 0]
        end: [2, 0]
  - type: PointMass
    name: bob
    mass: 1

contacts:
  - type: Contact
    name: sole
    a: belt
    b: block.outline
    normal:
      type: DampedHertz
      stiffness: 10000000
      damping: 200000
    friction:
      type: Coulomb
      mu: 0.3
      mu_static: 0.4
  - type: Contact
    name: drop
    a: ground.ramp
    b: bob
    normal:
      type: Flores
      stiffness: 1.0e+22
      restitution: 0.5
  - type: Contact
    name: bare
    b: block.toe
    normal:
      type: KelvinVoigt
      stiffness: 100000
"""


def test_contacts_are_pleasant_to_read():
    assert io.dumps(CONTACTS) == CONTACTS_TEXT


@pytest.mark.parametrize("format", FORMATS)
def test_contacts_round_trip(format, tmp_path):
    assert io.loads(io.dumps(CONTACTS, format), format) == CONTACTS
    path = tmp_path / f"block.{format}"
    io.save(CONTACTS, path)
    assert io.load(path) == CONTACTS


def test_a_contact_needs_no_type_and_no_friction():
    text = CONTACTS_TEXT.replace("type: Contact\n    name", "name")
    assert io.loads(text) == CONTACTS
    text = CONTACTS_TEXT.replace("b: bob\n", "b: bob\n    friction: null\n")
    assert io.loads(text) == CONTACTS


NORMALS = "KelvinVoigt, Hertz, DampedHertz, HuntCrossley, LankaraniNikravesh, Flores"
NORMALS += ", Unilateral"
CONTACT_REFUSALS = [
    (
        "      heel:\n        type: Circle",
        "      heel:\n        type: Cirlce",
        "line 19: bodies[0].shapes.heel.type: body 'block': "
        f"shapes.heel.type = 'Cirlce'; did you mean 'Circle'? {IN_PYTHON}",
    ),
    (
        "        type: Circle\n",
        "",
        "line 18: bodies[0].shapes.heel: body 'block': type is missing; "
        "valid: Line, Circle, Segment, Polygon",
    ),
    (
        "type: Circle",
        "type: Hertz",
        "line 19: bodies[0].shapes.heel.type: body 'block': "
        "shapes.heel.type = 'Hertz'; this is a kind of normal law, not of shape; "
        "valid: Line, Circle, Segment, Polygon",
    ),
    (
        "radius: 0.01",
        "radius: -1",
        "line 21: bodies[0].shapes.heel.radius: body 'block': Circle: "
        "radius = -1.0; must be > 0 m",
    ),
    (
        "          - [1, 0]\n",
        "          - [1, left]\n",
        "line 16: bodies[0].shapes.outline.vertices[1][1]: body 'block': "
        "shapes.outline.vertices[1][1] = 'left'; give a number",
    ),
    (
        "          - [1, 0]\n          - [0, 0.5]\n",
        "          - [0, 0.5]\n          - [1, 0]\n",
        "line 14: bodies[0].shapes.outline.vertices: body 'block': Polygon: "
        "vertices = ((0.0, 0.0), (0.0, 0.5), (1.0, 0.0)); they run clockwise; "
        "reverse their order",
    ),
    (
        "end: [2, 0]",
        "end: [1, 0]",
        "line 37: bodies[2].shapes.step.end: Segment: end = (1.0, 0.0); "
        "must differ from start",
    ),
    (
        "      heel:",
        "      toe:",
        "line 11: bodies[0].shapes: body 'block': shapes = 'toe'; "
        "a point has this name; choose another",
    ),
    (
        "      heel:",
        "      x:",
        "line 11: bodies[0].shapes: body 'block': shapes = 'x'; "
        "this name is a column's; choose another",
    ),
    (
        "    mass: 1\n",
        "    mass: 1\n    shapes: {rim: {type: Circle, radius: 1}}\n",
        "line 41: bodies[3].shapes: body 'bob': unknown key 'shapes'; "
        "valid: name, mass, position, velocity, type",
    ),
    (
        "normal:\n      type: Flores\n      stiffness: 1.0e+22\n      restitution: 0.5",
        "normal: 3",
        "line 59: contacts[1].normal: contact 'drop': normal = 3; "
        f"give {{type: {NORMALS.replace(', ', ' | ')}, ...}}",
    ),
    (
        "type: Flores",
        "type: Floris",
        "line 60: contacts[1].normal.type: contact 'drop': normal.type = 'Floris'; "
        f"did you mean 'Flores'? {IN_PYTHON}",
    ),
    (
        "restitution: 0.5",
        "restitution: 1.5",
        "line 62: contacts[1].normal.restitution: contact 'drop': Flores: "
        "restitution = 1.5; must be <= 1",
    ),
    (
        "restitution: 0.5",
        "restitution: high",
        "line 62: contacts[1].normal.restitution: contact 'drop': "
        "normal.restitution = 'high'; give a number > 0 and <= 1",
    ),
    (
        "mu_static: 0.4",
        "mu_static: 0.2",
        "line 54: contacts[0].friction.mu_static: contact 'sole': Coulomb: "
        "mu_static = 0.2; must be >= mu = 0.3",
    ),
    (
        "mu_static: 0.4",
        "mu_statc: 0.4",
        "line 54: contacts[0].friction.mu_statc: contact 'sole': "
        "unknown key 'mu_statc'; did you mean 'mu_static'?",
    ),
    (
        "      type: Coulomb\n      mu: 0.3\n",
        "      type: Coulomb\n",
        "line 51: contacts[0].friction: contact 'sole': mu is missing; "
        "give mu: a number >= 0",
    ),
    (
        "    b: bob\n    normal:\n      type: Flores\n      stiffness: 1.0e+22\n"
        "      restitution: 0.5\n",
        "    b: bob\n",
        "line 55: contacts[1]: contact 'drop': normal is missing; "
        f"give normal: {{type: {NORMALS.replace(', ', ' | ')}, ...}}",
    ),
    (
        "type: Contact\n    name: drop",
        "type: Contacts\n    name: drop",
        "line 55: contacts[1].type: contact 'drop': type = 'Contacts'; "
        f"did you mean 'Contact'? {IN_PYTHON}",
    ),
    (
        "a: ground.ramp",
        "a: ground.rmap",
        "line 57: contacts[1].a: contact 'drop': a = 'ground.rmap'; "
        "no such point or shape; did you mean 'ramp'?",
    ),
    (
        "a: ground.ramp",
        "a: ground.nail",
        "line 57: contacts[1].a: contact 'drop': a = 'ground.nail'; "
        "a point has no surface to touch; give a shape (valid: ramp, step)",
    ),
    (
        "name: drop",
        "name: sole",
        "line 56: contacts[1].name: contact 'sole': name = 'sole'; "
        "already used by a contact",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), CONTACT_REFUSALS)
def test_refusals_of_contacts(monkeypatch, old, new, message):
    assert old in CONTACTS_TEXT
    text = CONTACTS_TEXT.replace(old, new, 1)
    assert agreed(monkeypatch, text) == f"arm, {message}"
    with pytest.raises(ModelError) as caught:
        io.from_dict(yaml_text.Document(text, "").data)
    assert str(caught.value) == re.sub(r"^line \d+: ", "", message)


# ---- the text itself -------------------------------------------------------------


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mass: 2", "mass: 2\n    mass: 3", "line 9, column 5: key 'mass' appears "),
        ("pin: [-", "'end': [-", "line 13, column 7: key 'end' appears twice, first"),
        ("mass: 2", "mass: !!float 2", "line 8, column 11: tags are not used; remove "),
        (
            "mass: 2",
            "mass: !!python/object/apply:os.getcwd []",
            "line 8, column 11: tags are not used; "
            "remove '!!python/object/apply:os.getcwd'",
        ),
        ("mass: 2", "mass: &m 2", "line 8, column 11: anchors (&) and aliases (*) are"),
        ("mass: 2", "mass: *m", "line 8, column 11: anchors (&) and aliases (*) are"),
        ("mass: 2", "<<: {mass: 2}", "line 8, column 5: merge keys (<<) are not used"),
        ("mass: 2", "[mass]: 2", "line 8, column 5: a key must be text"),
        ("mass: 2", "mass: 2: 3", "line 8, column 12: mapping values are not allowed "),
        ("mass: 2", "mass: [2", "line 9, column "),
        ("keep", "---\nkeep", "line 74, column 1: a second document begins here; "),
        ("title", "- " * 50, "line 2, column "),
    ],
)
def test_syntax(old, new, message):
    found = refusal(TEXT.replace(old, new, 1))
    assert found.startswith(f"arm, {message}")


@pytest.mark.usefixtures("parser")
def test_tabs():
    found = refusal("nonsmooth: 1\nbodies:\n\t- name: a")
    assert found.startswith("arm, line 3, column ")
    assert found.endswith("; indent with spaces, not tabs")


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("text", ["", "# nothing\n", "\n\n"])
def test_empty(text):
    assert refusal(text) == "arm: no content; begin with 'nonsmooth: 1'"


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("opening", ["[", "- ", "{a: "])
def test_deep_nesting_stops_early(opening):
    assert "nested too deeply; at most 40 levels" in refusal(opening * 100_000)


@pytest.mark.usefixtures("parser")
def test_control_characters():
    message = refusal("nonsmooth: 1\ntitle: \x01")
    assert message.startswith("arm")


def test_a_chain_of_aliases_costs_nothing():
    lines = [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 30)]
    message = refusal("\n".join(["a0: &a0 [x]", *lines]))
    assert "anchors" in message


@pytest.mark.parametrize("format", FORMATS)
def test_size_is_limited(format, tmp_path):
    large = " " * io.SIZE_LIMIT + " "
    expected = "larger than 5 MB, the limit of a model file; split it"
    assert refusal(large, format) == f"arm: {expected}"
    path = tmp_path / f"arm.{format}"
    path.write_text(large)
    with pytest.raises(ModelError, match=r"arm\.\w+: larger than 5 MB"):
        io.load(path)


def test_nothing_is_written_that_could_not_be_read(monkeypatch):
    monkeypatch.setattr(io, "SIZE_LIMIT", 1000)
    with pytest.raises(ModelError, match=r"'Crank: on and off': larger .* shorten"):
        io.dumps(MODEL)


def test_not_utf_8(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_bytes(b"nonsmooth: 1\ntitle: \xe9t\xe9\n")
    with pytest.raises(ModelError, match=r"arm\.yaml, line 2: byte 0xe9 is not UTF-8"):
        io.load(path)


def test_half_a_character():
    model = dataclasses.replace(MODEL, title="\ud800")
    with pytest.raises(ModelError, match=r"model '.*': title = .* not valid Unicode"):
        io.dumps(model, "json")
    message = refusal('{"nonsmooth": 1, "title": "\\ud800", "bodies": []}', "json")
    assert message == "arm: title = '\\ud800'; this is not valid Unicode"
    assert refusal("title: \ud800") == "arm: not valid Unicode; use UTF-8"


def test_names_of_files(tmp_path):
    with pytest.raises(ModelError, match=r"ends in '\.txt'; use \.yaml, \.yml, \.json"):
        io.load(tmp_path / "arm.txt")
    with pytest.raises(ModelError, match=r"ends in ''"):
        io.save(MODEL, tmp_path / "arm")
    with pytest.raises(FileNotFoundError):
        io.load(tmp_path / "arm.yaml")


def test_unknown_format():
    toml: Any = "toml"
    with pytest.raises(ModelError, match="format = 'toml'; use 'yaml' or 'json'"):
        io.loads("", toml)
    with pytest.raises(ModelError, match="format = 'toml'; use 'yaml' or 'json'"):
        io.dumps(MODEL, toml)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "arm: key 'a' appears twice in a mapping"),
        (
            '{"bodies": [{"name": "crank", "mass": 1, "mass": 2}]}',
            "arm: key 'mass' appears twice in a mapping (name = 'crank')",
        ),
        (
            '{"nonsmooth": 1, "bodies": [{"type": "PointMass", "name": "ball", '
            '"mass": NaN}]}',
            "arm: bodies[0].mass: body 'ball': mass = nan; must be finite",
        ),
        (
            '{"nonsmooth": 1, "bodies": [], "gravity": [0, -Infinity]}',
            "arm: gravity[1] = -inf; must be finite",
        ),
        ('{"nonsmooth": NaN}', "arm: nonsmooth = nan; this release reads format 1"),
        ('{"nonsmooth": 1, "bodies": NaN}', "arm: bodies = nan; give ["),
        ('{"nonsmooth": 1, "title": NaN}', "arm: title = nan; give text"),
        ('{"nonsmooth": 1, "x": NaN}', "arm: x: unknown key 'x'"),
        ('{"a": 1,}', "arm, line 1, column "),
        ('{\n"a" 1}', "arm, line 2, column 5: Expecting ':' delimiter"),
        ("", "arm, line 1, column 1: Expecting value"),
        ("[" * 100_000, "arm: nested too deeply"),
        (
            f'{{"nonsmooth": 1, "bodies": [], "gravity": [0, -{"9" * 5000}]}}',
            "arm: gravity[1] = a huge number; too large, numbers end at 1.8e308",
        ),
        (
            f'{{"nonsmooth": 1, "bodies": [], "gravity": [{"9" * 400}, 0]}}',
            "arm: gravity[0] = 9999",
        ),
        (
            '{"nonsmooth": 1, "bodies": [], "gravity": [1e999, 0]}',
            "arm: gravity[0] = inf; must be finite",
        ),
    ],
)
def test_json_refusals(text, message):
    assert refusal(text, "json").startswith(message)


def test_whole_numbers_of_any_length():
    """Python writes numbers of at most 4300 digits; a message shows its number."""
    text = "nonsmooth: 1\nbodies:\n  - {type: PointMass, name: a, mass: 0xNUMBER}\n"
    with pytest.raises(ModelError, match="mass"):
        io.loads(text.replace("NUMBER", "f" * 5000))


# ---- gallery ---------------------------------------------------------------------


def gallery(name, parameters):
    if name != "crank":
        return None
    if set(parameters) - {"length", "masses", "style"}:
        raise ModelError("gallery 'crank': no parameter 'lenght'")
    return dataclasses.replace(MODEL, title=repr(parameters))


def test_gallery():
    text = "nonsmooth: 1\ngallery: crank\nparameters: {length: 2, masses: [1, 2e3]}"
    model = io.loads(text, gallery=gallery)
    assert model.title == "{'length': 2, 'masses': [1, 2000.0]}"
    assert io.loads("nonsmooth: 1\ngallery: crank", gallery=gallery).title == "{}"


def test_gallery_from_a_file(tmp_path):
    path = tmp_path / "study.json"
    path.write_text('{"nonsmooth": 1, "gallery": "crank"}')
    assert io.load(path, gallery=gallery).title == "{}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gallery: cranck", "line 2: gallery = 'cranck'; there is no such gallery "),
        ("gallery: 3", "line 2: gallery = 3; give the name of a gallery system"),
        ("gallery: crank\nparameters: 3", "line 3: parameters = 3; give {name: value"),
        ("gallery: crank\nparameters:", "line 3: parameters = null; give {name: value"),
        (
            "gallery: crank\nparameters:\n  length: .nan",
            "line 4: parameters.length = nan; must be finite",
        ),
        (
            "gallery: crank\nparameters:\n  style: {a: [0, .inf]}",
            "line 4: parameters.style.a[1] = inf; must be finite",
        ),
        (
            "gallery: crank\nparameters: {lenght: 3}",
            "line 3: parameters: gallery 'crank': no parameter 'lenght'",
        ),
        (
            "gallery: crank\nbodies: []",
            "line 3: bodies: unknown key 'bodies'; beside gallery, only parameters ",
        ),
    ],
)
def test_gallery_refusals(text, message):
    found = refusal(f"nonsmooth: 1\n{text}", gallery=gallery)
    assert found.startswith(f"arm, {message}")


def test_no_gallery():
    assert refusal("nonsmooth: 1\ngallery: crank") == (
        "arm, line 2: gallery = 'crank'; gallery systems are not available here; "
        "write the elements out"
    )
    for key in ("galery", "parameters"):
        assert f"unknown key '{key}'" in refusal(f"nonsmooth: 1\n{BODY}\n{key}: x")


# ---- kinds of the user -----------------------------------------------------------


@pytest.fixture
def chirp():
    """A time law as a user writes it, forgotten afterwards."""

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Chirp(TimeLaw):
        """A rising tone."""

        rate: float = quantity("rad/s^2", above=0.0)
        carrier: TimeLaw | None = None
        n_cycle: int = 1

        def check(self):
            if self.n_cycle > 9:
                raise ValueError("too many cycles")

        @staticmethod
        def evaluate(p, t, s):
            s[0] = p[0] * t

    yield Chirp
    del TimeLaw.kinds["Chirp"]


def driven(law):
    drive = RotationDrive(name="motor", b="crank", law=law)
    return dataclasses.replace(MODEL, drives=(drive,))


@pytest.mark.parametrize("format", FORMATS)
def test_kinds_of_the_user(chirp, format):
    model = driven(chirp(rate=2, carrier=ConstantRate(rate=1), n_cycle=3))
    text = io.dumps(model, format)
    assert io.loads(text, format) == model
    assert jsonschema.Draft202012Validator(io.schema()).is_valid(io.to_dict(model))


def test_kinds_of_the_user_are_checked(chirp):
    text = io.dumps(driven(chirp(rate=2, n_cycle=3)))
    assert refusal(text.replace("n_cycle: 3", "n_cycle: 3.5")) == (
        "arm, line 46: drives[0].law.n_cycle: drive 'motor': law.n_cycle = 3.5; "
        "give a whole number"
    )
    assert refusal(text.replace("n_cycle: 3", "n_cycle: 10")) == (
        "arm, line 43: drives[0].law: drive 'motor': too many cycles"
    )
    assert io.loads(text.replace("n_cycle: 3", "carrier: null")) == driven(
        chirp(rate=2)
    )


def test_a_kind_that_was_not_imported(chirp):
    text = io.dumps(driven(chirp(rate=2)))
    kind = TimeLaw.kinds.pop("Chirp")
    try:
        assert "kinds of your own live in Python" in refusal(text)
    finally:
        TimeLaw.kinds["Chirp"] = kind


def test_a_kind_without_a_public_name():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class _Hidden(TimeLaw):
        @staticmethod
        def evaluate(p, t, s):
            s[0] = t

    with pytest.raises(ModelError, match=r"'motor': law: _Hidden is not registered"):
        io.dumps(driven(_Hidden()))


def test_a_field_cannot_be_called_type():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class _Typed(TimeLaw):
        type: str = ""

    with pytest.raises(ModelError, match="a field cannot be called 'type'"):
        kinds.inputs_of(_Typed)


# ---- schema ----------------------------------------------------------------------


def test_schema_says_what_the_kinds_say():
    definitions = io.schema()["$defs"]
    body = definitions["body.RigidBody"]
    assert body["description"] == (
        "A rigid body; its frame has its origin at the mass centre."
    )
    assert body["required"] == ["type", "name", "mass", "inertia"]
    assert body["additionalProperties"] is False
    assert body["properties"]["type"] == {"const": "RigidBody"}
    assert body["properties"]["mass"] == {
        "description": "kg",
        "type": "number",
        "exclusiveMinimum": 0.0,
    }
    assert body["properties"]["position"]["default"] == [0.0, 0.0]
    assert definitions["force.SpringDamper"]["properties"]["damping"]["minimum"] == 0
    assert definitions["body.MovingSupport"]["properties"]["x"]["anyOf"] == [
        {"$ref": "#/$defs/time_law"},
        {"type": "number"},
    ]
    assert definitions["event.Event"]["properties"]["action"]["enum"] == [
        "record",
        "stop",
    ]
    assert definitions["event.Event"]["required"] == ["name", "b", "guard"]


def test_schema_accepts_what_is_valid():
    validator().validate(io.to_dict(MODEL))
    validator().validate({"nonsmooth": 1, "gallery": "crank", "parameters": {"a": 1}})
    content = io.to_dict(MODEL)
    del content["events"][0]["type"]
    content["$schema"] = "model.json"
    validator().validate(content)


def test_schema_refuses_what_is_refused():
    tried = 0
    for old, new, message in REFUSALS:
        if not re.search("unknown key|missing|type =|give |must be >", message):
            continue
        if re.search("keep:|Table", message):
            continue
        data = yaml_text.Document(TEXT.replace(old, new, 1), "").data
        assert not validator().is_valid(data), message
        tried += 1
    assert tried >= 25


def test_schema_of_contacts():
    validator().validate(io.to_dict(CONTACTS))
    definitions = io.schema()["$defs"]
    assert definitions["contact.Contact"]["required"] == ["name", "b", "normal"]
    assert definitions["contact.Contact"]["properties"]["friction"]["anyOf"] == [
        {"$ref": "#/$defs/friction_law"},
        {"type": "null"},
    ]
    assert definitions["body.Ground"]["properties"]["shapes"] == {
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/shape"},
        "default": {},
    }
    assert "shapes" not in definitions["body.PointMass"]["properties"]
    assert definitions["normal_law.Flores"]["properties"]["restitution"] == {
        "type": "number",
        "exclusiveMinimum": 0.0,
        "maximum": 1.0,
        "default": 1.0,
    }


def test_schema_refuses_what_is_refused_of_contacts():
    words = "unknown key|missing|type =|give a|give {|must be <= 1"
    tried = 0
    for old, new, message in CONTACT_REFUSALS:
        if not re.search(words, message) or "point" in message:
            continue
        data = yaml_text.Document(CONTACTS_TEXT.replace(old, new, 1), "").data
        assert not validator().is_valid(data), message
        tried += 1
    assert tried >= 13


def test_schema_names_the_kinds():
    content = io.to_dict(MODEL)
    content["bodies"][0]["type"] = "RigidBdy"
    errors = [e for e in validator().iter_errors(content) for e in e.context or [e]]
    assert any("is not one of ['RigidBody'," in e.message for e in errors)


# ---- imports ---------------------------------------------------------------------


def test_import_is_cheap():
    heavy = "{'yaml', 'numba', 'numpy', 'scipy', 'nonsmooth.pack'}"
    code = f"import sys, nonsmooth.io; print(*({heavy} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == ""


# ---- friction in joints ------------------------------------------------------------

RUBBING = """\
nonsmooth: 1
bodies:
  - {type: RigidBody, name: block, mass: 1, inertia: 0.01, points: {eye: [0, 0]}}
joints:
  - type: Prismatic
    name: guide
    b: block
    length: 0.2
    friction: {type: Coulomb, mu: 0.2}
"""
EVERY_LAW = (
    "{type: Coulomb, mu: 0.2, mu_static: 0.3}",
    "{type: CoulombViscous, mu: 0.2, viscous: 3}",
    "{type: Stribeck, mu: 0.2, mu_static: 0.3, velocity: 0.01}",
    "{type: Karnopp, mu: 0.2, dead_band: 1e-3}",
    "{type: RegularisedCoulomb, mu: 0.2, velocity: 1e-3}",
    "{type: Dahl, mu: 0.2, stiffness: 1e3}",
    "{type: LuGre, mu: 0.2, mu_static: 0.3, velocity: 0.01, stiffness: 1e3}",
)


def test_every_friction_law_is_tried():
    kinds = {text.removeprefix("{type: ").partition(",")[0] for text in EVERY_LAW}
    ours = [k for k in FrictionLaw.kinds.values() if k.__module__.startswith("nonsm")]
    assert kinds == {kind.__name__ for kind in ours}


@pytest.mark.parametrize("law", EVERY_LAW)
@pytest.mark.parametrize(
    "joint",
    [
        "{type: PinInSlot, axis: 0.3}",
        "{type: Revolute, radius: 0.02}",
        "{type: Prismatic, length: 0.2, height: 0.1}",
        "{type: Prismatic, length: 0.2, clearance: 1e-3, "
        "normal: {type: KelvinVoigt, stiffness: 1e6}}",
    ],
)
def test_a_joint_with_friction_survives_a_file(joint, law):
    head = RUBBING.partition("joints:")[0]
    inner = f"{joint[:-1]}, name: j, b: block.eye, friction: {law}}}"
    text = f"{head}joints:\n  - {inner}\n"
    model = io.loads(text)
    (found,) = model.joints
    assert isinstance(found, Revolute | PinInSlot | Prismatic)
    assert type(found.friction).__name__ in law
    for format in FORMATS:
        assert io.loads(io.dumps(model, format), format) == model
    validator().validate(io.to_dict(model))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Coulomb", "Colomb", "line 9: joints[0].friction.type: joint 'guide': friction"
         ".type = 'Colomb'; did you mean 'Coulomb'?"),
        ("mu: 0.2", "nu: 0.2", "line 9: joints[0].friction.nu: joint 'guide': unknown "
         "key 'nu'; valid: mu, mu_static, type"),
        ("mu: 0.2", "mu: -1", "line 9: joints[0].friction.mu: joint 'guide': Coulomb: "
         "mu = -1.0; must be >= 0"),
        ("mu: 0.2", "mu: 0.2, mu_static: 0.1", "line 9: joints[0].friction.mu_static: "
         "joint 'guide': Coulomb: mu_static = 0.1; must be >= mu = 0.2"),
        ("{type: Coulomb, mu: 0.2}", "0.2", "line 9: joints[0].friction: joint 'guide'"
         ": friction = 0.2; give {type: Coulomb | CoulombViscous"),
        ("type: Coulomb", "type: Hertz", "line 9: joints[0].friction.type: joint 'guid"
         "e': friction.type = 'Hertz'; this is a kind of normal law, not of friction"),
        ("length: 0.2", "height: 0.2", "line 5: joints[0]: joint 'guide': length = "
         "None; a slider of no length cannot bear a moment"),
        ("length: 0.2", "length: 0.2\n    clearance: 1e-3", "line 5: joints[0]: joint "
         "'guide': normal = None; corners in a guide with clearance need a law"),
    ],
)  # fmt: skip
def test_friction_in_joints_is_refused_with_its_place(old, new, message):
    with pytest.raises(ModelError) as caught:
        io.loads(RUBBING.replace(old, new))
    assert message in str(caught.value)
