"""What the viewer draws: where things press, parts of bodies, glyphs."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from nonsmooth import (
    Circle,
    Constant,
    ConstantRate,
    Contact,
    Coulomb,
    ExpressionForce,
    Ground,
    Harmonic,
    KelvinVoigt,
    Line,
    Model,
    MovingSupport,
    PointMass,
    Polygon,
    Prismatic,
    Revolute,
    RigidBody,
    RotationDrive,
    Segment,
    Shape,
    SpringDamper,
    TranslationDrive,
    simulate,
)
from nonsmooth.elements.bodies import Body
from nonsmooth.elements.drives import Drive
from nonsmooth.elements.forces import Force
from nonsmooth.elements.joints import Joint
from nonsmooth.views import glyphs, parts
from nonsmooth.views.places import places
from nonsmooth.views.scene import scene
from oracles import bearings as slow
from oracles.scene_reader import Document, sampled, sides
from oracles.scene_schema import check

# Half a unit in the last place of single precision, relative.
SINGLE = 2.0**-24


# ---- spots -----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Hill(Shape):
    """y = 0.1 sin x below the point, with a normal that is nearly right."""

    height: float = 0.1

    @staticmethod
    def nearest(p, a, b, out):
        slope = p[0] * math.cos(b[0])
        size = math.hypot(1.0, slope)
        out[0] = (b[1] - p[0] * math.sin(b[0])) / size
        out[1] = -slope / size
        out[2] = 1.0 / size
        out[3] = 0.0


SQUARE = ((-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1))
SURFACES = [
    Line(point=(0.1, 0.2), angle=0.7),
    Circle(center=(0.3, -0.1), radius=0.4),
    Segment(start=(-0.3, 0.1), end=(0.5, 0.3)),
    Polygon(vertices=SQUARE),
    Hill(),
]


@pytest.mark.parametrize("surface", SURFACES, ids=lambda s: type(s).__name__)
def test_places_of_many_instants(surface):
    from nonsmooth.pack import Spot

    rng = np.random.default_rng(1)
    n = 400
    poses = {
        "a": rng.uniform(-1.0, 1.0, (n, 3)) * (0.3, 0.3, 3.0),
        "b": rng.uniform(-1.0, 1.0, (n, 3)),
    }
    for owner, body in (("a", "b"), ("ground", "b"), ("a", "ground")):
        spot = Spot(
            name="s",
            element="s",
            owner=owner,
            surface=surface,
            body=body,
            centre=(0.1, 0.3),
            radius=0.15,
            has_friction=False,
        )
        found = places(spot, poses, n)
        expected = [
            slow.place(spot, {k: tuple(v[i]) for k, v in poses.items()})
            for i in range(n)
        ]
        for k in (0, 1):
            # Round-off of a few turns and additions of numbers of order one.
            assert found[k] == pytest.approx(
                np.array([e[k] for e in expected]), rel=0.0, abs=1e-13
            )


def test_spots_of_contacts(documents):
    """Places in a document are those that sketches draw."""
    result, document = documents("compactor")
    header = document.header
    t, is_last = sides(document)
    names = [f"{b}.{q}" for b in ("box", "rotor") for q in ("x", "y", "theta")]
    poses = sampled(result, t, is_last, names)
    derived = {item["name"]: item for item in header["derived"]}
    for spot, item in zip(result.system.spots, header["spots"], strict=True):
        assert item["name"] == spot.name
        assert item["family"] == "contact"
        assert item["can_stick"]
        assert item["at"] == {
            "body": spot.body,
            "point": list(spot.centre),
            "radius": spot.radius,
        }
        assert derived[item["x"]]["hidden"]
        assert derived[item["x"]]["point"] == list(spot.centre)
        for k in (0, len(t) // 2, len(t) - 1):
            at = {
                b: tuple(poses[f"{b}.{q}"][k] for q in ("x", "y", "theta"))
                for b in ("box", "rotor")
            }
            _, normal = slow.place(spot, at)
            found = [document.column(item[c])[k] for c in ("nx", "ny")]
            assert found == pytest.approx(normal, abs=2.0 * SINGLE)


@pytest.mark.parametrize("name", ["slider_in_guide", "crank_rocker", "trammel"])
def test_spots_of_joints(documents, name):
    """Bearings share forces as the slow way does, at the flank that bears."""
    result, document = documents(name)
    t, is_last = sides(document)
    for joint in result.system.model.joints:
        if joint.name not in result.system.slides:
            continue
        own = [s for s in document.header["spots"] if s["element"] == joint.name]
        columns = slow.bearing_columns(joint)
        columns += [f"{joint.b.partition('.')[0]}.{q}" for q in ("x", "y")]
        values = sampled(result, t, is_last, columns)
        for k in range(0, len(t), max(1, len(t) // 40)):
            at = {c: float(v[k]) for c, v in values.items()}
            expected = slow.bearings(joint, at)
            assert len(own) == len(expected)
            for spot, bearing in zip(own, expected, strict=True):
                normal = document.column(spot["normal"])[k]
                friction = document.column(spot["friction"])[k]
                # Shares are computed from forces before they are rounded.
                assert normal == pytest.approx(bearing.normal, rel=1e-6, abs=1e-9)
                assert friction == pytest.approx(bearing.friction, rel=1e-6, abs=1e-9)
                nx, ny = (document.column(spot[c])[k] for c in ("nx", "ny"))
                assert math.hypot(nx, ny) == pytest.approx(1.0, abs=4.0 * SINGLE)


def test_sides_hold_between_events(documents):
    """At events some force is zero; the document has the side beside it."""
    result, document = documents("slider_in_guide")
    t, is_last = sides(document)
    side = np.array(document.column("guide.side"))
    i = np.flatnonzero(~is_last)
    middle = 0.5 * (t[i] + t[i + 1])
    assert np.array_equal(side[i], result.sample(middle, "guide.side")["guide.side"])
    assert np.array_equal(side[is_last], side[np.flatnonzero(is_last) - 1])
    assert len(set(side.tolist())) > 1


# ---- looks -----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class OwnPin(Joint):
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


@dataclass(frozen=True, kw_only=True)
class OwnSpring(SpringDamper):
    """A subclass is drawn like its base."""


def bar(name="bar", **options):
    defaults: dict[str, Any] = {
        "mass": 1.0,
        "inertia": 0.1,
        "points": {"left": (-0.5, 0.0), "right": (0.5, 0.0)},
    }
    return RigidBody(name=name, **{**defaults, **options})


def shown(model, until=0.05):
    result = simulate(model, until=until)
    document = Document(scene(result))
    check(document, result)
    return document.header


def test_own_kinds_are_drawn_as_their_family():
    header = shown(
        Model(
            bodies=[bar(), bar("second", position=(1.0, 0.0))],
            joints=[OwnPin(name="pin", a="bar.right", b="second.left")],
            forces=[
                OwnSpring(name="spring", a="ground", b="bar.left", stiffness=1.0),
                ExpressionForce(name="wind", b="bar", fx="1"),
                ExpressionForce(name="pull", a="bar", b="second", fx="0.1"),
            ],
        )
    )
    kinds = {g["name"]: (g["family"], g["kind"]) for g in header["glyphs"]}
    assert kinds == {
        "pin": ("joint", "joint"),
        "spring": ("force", "spring"),
        "wind": ("force", "force"),
        "pull": ("force", "pair"),
    }
    pin = header["glyphs"][0]
    assert pin["a"] == {"body": "bar", "point": [0.5, 0.0]}
    assert pin["force"] == ["pin.force_x", "pin.force_y"]


def kinds_of(base):
    for kind in base.__subclasses__():
        yield kind
        yield from kinds_of(kind)


def test_every_family_has_a_look():
    for base, registry in (
        (Body, parts.part.kinds),
        (Shape, parts.part.kinds),
        (Joint, glyphs.glyph.kinds),
        (Drive, glyphs.glyph.kinds),
        (Force, glyphs.glyph.kinds),
    ):
        for kind in kinds_of(base):
            assert any(b in registry for b in kind.__mro__), kind


def test_bodies_without_shapes():
    header = shown(
        Model(
            bodies=[
                bar(),
                bar("plate", points={"a": (0, 1), "b": (1, 0)}, position=(3, 0)),
                bar("disc", points={}, position=(5, 0)),
                PointMass(name="mass", mass=1.0, position=(0, 2)),
                MovingSupport(
                    name="table", x=Harmonic(amplitude=0.1, angular_frequency=1.0)
                ),
            ]
        )
    )
    parts = {b["name"]: [p["kind"] for p in b["parts"]] for b in header["bodies"]}
    assert parts == {
        "ground": [],
        "table": ["polygon"],
        "bar": ["bar"],
        "plate": ["polygon"],
        "disc": ["circle"],
        "mass": ["dot"],
    }
    kinds = {b["name"]: b["kind"] for b in header["bodies"]}
    assert list(kinds) == ["ground", "table", "bar", "plate", "disc", "mass"]
    assert kinds["table"] == "support"
    assert kinds["mass"] == "point"
    colours = {b["name"]: b["colour"] for b in header["bodies"]}
    assert colours["ground"] is None
    assert colours["table"] is None
    assert len({colours[n] for n in ("bar", "plate", "disc", "mass")}) == 4
    # All that is seen lies in the box.
    left, low, right, high = header["box"]
    assert left <= -0.5
    assert right >= 5.0
    assert high >= 2.0 - 1e-9
    assert low <= 0.0


def test_the_head_of_a_hammer_is_on_its_handle():
    head = Circle(center=(0.5, 0.0), radius=0.1)
    hammer = bar(points={"pin": (-0.5, 0.0)}, shapes={"head": head})
    header = shown(Model(bodies=[hammer]))
    own = next(b["parts"] for b in header["bodies"] if b["name"] == "bar")
    handle = [p[end] for p in own if p["kind"] == "bar" for end in ("start", "end")]
    assert min(handle) == [-0.5, 0.0]
    assert max(handle) == [0.5, 0.0]


def test_shapes_and_floors():
    soft = KelvinVoigt(stiffness=1e4)
    body = bar(
        points={"left": (-0.2, -0.1), "arm": (0.0, 1.0)},
        position=(0.0, 0.5),
        shapes={"hull": Polygon(vertices=SQUARE), "face": Line(point=(0, 0.1))},
    )
    header = shown(
        Model(
            bodies=[
                Ground(
                    shapes={
                        "wall": Segment(start=(2, 0), end=(2, 1)),
                        "stone": Circle(center=(3, 0), radius=0.2),
                    }
                ),
                body,
                PointMass(name="bead", mass=0.1, position=(0.05, 0.7)),
            ],
            contacts=[
                Contact(name="foot", a="ground", b="bar.left", normal=soft),
                Contact(name="on", a="bar.face", b="bead", normal=soft),
                Contact(name="side", a="ground.wall", b="bead", normal=soft),
            ],
        )
    )
    bodies = {b["name"]: b for b in header["bodies"]}
    ground = {p["kind"]: p for p in bodies["ground"]["parts"]}
    # A contact means the floor.
    assert ground["line"] == {
        "kind": "line",
        "point": [0.0, 0.0],
        "angle": 0.0,
        "is_hatched": True,
    }
    assert ground["segment"]["is_hatched"]
    assert ground["circle"]["radius"] == 0.2
    own = bodies["bar"]["parts"]
    # The arm sticks out of the shapes; the other point is on them.
    bars = [p for p in own if p["kind"] == "bar"]
    assert bars == [{"kind": "bar", "start": [0.0, 0.0], "end": [0.0, 1.0]}]
    assert not any("is_hatched" in p for p in own)
    # A face of a body is an edge of its outline, if nothing touches it beyond.
    (face,) = [p for p in own if p["kind"] == "segment"]
    assert face["start"] == pytest.approx([-0.2, 0.1], abs=1e-15)
    assert face["end"] == pytest.approx([0.2, 0.1], abs=1e-15)


def test_a_face_beyond_its_body():
    body = bar(points={}, shapes={"hull": Polygon(vertices=SQUARE), "face": Line()})
    header = shown(
        Model(
            bodies=[body, PointMass(name="bead", mass=0.1, position=(0.7, 0.3))],
            contacts=[
                Contact(
                    name="on",
                    a="bar.face",
                    b="bead",
                    normal=KelvinVoigt(stiffness=1e4),
                )
            ],
        )
    )
    parts = {b["name"]: b["parts"] for b in header["bodies"]}
    (face,) = [p for p in parts["bar"] if p["kind"] == "segment"]
    # As long as what touches it, and some more.
    assert face["start"][0] < 0.7 < face["end"][0]


def test_floors_that_move():
    def floor(x):
        header = shown(
            Model(
                bodies=[
                    MovingSupport(name="table", x=x),
                    bar(points={"a": (-1, 0), "b": (1, 0)}, position=(0, 0.1)),
                ],
                contacts=[
                    Contact(
                        name=f"at_{p}",
                        a="table",
                        b=f"bar.{p}",
                        normal=KelvinVoigt(stiffness=1e4),
                    )
                    for p in ("a", "b")
                ],
            )
        )
        return next(b["parts"] for b in header["bodies"] if b["name"] == "table")

    # To and fro: a plate under both points.
    (plate,) = floor(Harmonic(amplitude=0.1, angular_frequency=1.0))
    xs, ys = zip(*plate["points"], strict=True)
    assert plate["kind"] == "polygon"
    assert min(xs) < -1.1
    assert max(xs) > 1.1
    assert max(ys) == 0.0
    # On and on: a belt without ends.
    (belt,) = floor(ConstantRate(rate=100.0))
    assert belt["kind"] == "line"


def test_what_is_held_is_not_seen_to_be_driven():
    header = shown(
        Model(
            bodies=[bar(velocity=(1.0, 0.0))],
            drives=[
                RotationDrive(name="held", b="bar", law=Constant(value=0.0)),
                TranslationDrive(name="moved", b="bar", law=ConstantRate(rate=1.0)),
            ],
        )
    )
    kinds = {g["name"]: g["kind"] for g in header["glyphs"]}
    assert kinds == {"held": "hold", "moved": "actuator"}


def test_joints_and_their_sizes(documents):
    header = documents("slider_in_guide")[1].header
    (guide,) = [g for g in header["glyphs"] if g["kind"] == "guide"]
    joint = documents("slider_in_guide")[0].system.model.element(guide["name"])
    assert guide["length"] == joint.length
    assert guide["mode"] == f"{joint.name}.mode"
    assert guide["angle"] == joint.axis - joint.angle
    low, high = guide["travel"]
    x = documents("slider_in_guide")[0]["slider.x"]
    assert high - low == pytest.approx(np.ptp(x), rel=1e-3)


def test_clearance():
    header = shown(
        Model(
            bodies=[bar("block", points={}, mass=1.0)],
            joints=[
                Prismatic(
                    name="guide",
                    b="block",
                    length=0.4,
                    height=0.2,
                    clearance=0.01,
                    normal=KelvinVoigt(stiffness=1e5),
                    friction=Coulomb(mu=0.2),
                )
            ],
            gravity=(0.0, -9.81),
        )
    )
    (guide,) = header["glyphs"]
    assert guide["clearance"] == 0.01
    assert guide["length"] == 0.4
    assert "force" not in guide  # it is contacts
    names = [s["name"] for s in header["spots"]]
    assert sorted(names) == sorted(
        f"guide.{e}_{f}" for e in ("front", "rear") for f in ("lower", "upper")
    )
    assert {s["family"] for s in header["spots"]} == {"joint"}
    assert {s["element"] for s in header["spots"]} == {"guide"}


def test_block_that_a_shape_shows():
    def glyph(height):
        box = ((-0.2, -height), (0.2, -height), (0.2, height), (-0.2, height))
        header = shown(
            Model(
                bodies=[bar("block", points={}, shapes={"s": Polygon(vertices=box)})],
                joints=[Prismatic(name="guide", b="block", length=0.4, height=0.2)],
            )
        )
        return header["glyphs"][0]

    assert glyph(0.1)["has_block"] is False
    assert "has_block" not in glyph(0.05)


def test_pivots(documents):
    header = documents("slider_crank")[1].header
    (motor,) = [g for g in header["glyphs"] if g["family"] == "drive"]
    assert motor["kind"] == "motor"
    pins = [g for g in header["glyphs"] if g["kind"] == "pin"]
    (pin,) = [
        g for g in pins if {g["a"]["body"], g["b"]["body"]} == {"ground", "crank"}
    ]
    assert motor["pivot"] == pin["b"]


def test_pins_with_friction():
    header = shown(
        Model(
            bodies=[bar(position=(0.5, 0.0))],
            joints=[
                Revolute(
                    name="pin", b="bar.left", radius=0.02, friction=Coulomb(mu=0.1)
                ),
            ],
            gravity=(0.0, -9.81),
        )
    )
    (pin,) = header["glyphs"]
    assert pin["radius"] == 0.02
    assert pin["mode"] == "pin.mode"
    (spot,) = header["spots"]
    assert (spot["name"], spot["family"]) == ("pin", "joint")


def bars_of(points, shapes):
    """Return the ends of the bars of a body."""
    body = RigidBody(name="body", mass=1.0, inertia=0.1, points=points, shapes=shapes)
    found = shown(Model(bodies=[body]))["bodies"]
    (parts,) = [item["parts"] for item in found if item["name"] == "body"]
    return [
        sorted([tuple(part["start"]), tuple(part["end"])])
        for part in parts
        if part["kind"] == "bar"
    ]


def test_bars_hold_points_at_shapes():
    """A hammer: its mass centre is in the middle of the rod, where there is nothing."""
    head = {"head": Circle(center=(0.25, 0.0), radius=0.03)}
    whole = [[(-0.25, 0.0), (0.25, 0.0)]]
    assert bars_of({"pin": (-0.25, 0.0), "end": (0.25, 0.0)}, head) == whole
    # Bent, it has a bar to each.
    bent = [sorted([(0.0, 0.0), end]) for end in ((-0.2, 0.1), (0.25, 0.0))]
    assert bars_of({"pin": (-0.2, 0.1)}, head) == bent
    # What is held by a shape at the centre needs one.
    plate = {"plate": Circle(center=(0.0, 0.0), radius=0.1)}
    one = [sorted([(0.0, 0.0), (-0.25, 0.0)])]
    assert bars_of({"pin": (-0.25, 0.0)}, plate) == one
    assert bars_of({"rim": (0.1, 0.0)}, plate) == []
