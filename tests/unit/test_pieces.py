"""Bodies of several convex pieces: what they are together, and how they touch."""

import math
from typing import Any

import numpy as np
import pytest

from fuzz.audit import audit
from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Coulomb,
    Flores,
    Ground,
    Hertz,
    HuntCrossley,
    KelvinVoigt,
    Line,
    Model,
    ModelError,
    MovingSupport,
    PointForce,
    Polygon,
    Prismatic,
    RigidBody,
    Segment,
    Weld,
    simulate,
)
from nonsmooth.elements.shapes import Shape
from nonsmooth.pack import pack
from nonsmooth.pack.outlines import Outline
from nonsmooth.pack.pieces import pieces
from nonsmooth.study.settings import with_field
from nonsmooth.views.plots import draw
from nonsmooth.views.scene import scene

G = 9.81


def box(x0, x1, y0, y1):
    return Polygon(vertices=((x0, y0), (x1, y0), (x1, y1), (x0, y1)))


def turned(shape, angle, shift=(0.3, -0.2)):
    c, s = math.cos(angle), math.sin(angle)
    return Polygon(
        vertices=tuple(
            (shift[0] + c * x - s * y, shift[1] + s * x + c * y)
            for x, y in shape.vertices
        )
    )


def outlines(shapes) -> dict[str, Any]:
    found = pieces(shapes)
    assert all(isinstance(piece, Outline) for piece in found.values())
    return found


# ---- what they are together ------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.0])
def test_pieces_that_are_convex_together_are_one(angle):
    row = {f"p{k}": turned(box(k, k + 1, 0.0, 0.5), angle) for k in (2, 0, 1)}
    (one,) = outlines(row).values()
    assert list(pieces(row)) == ["p2"]
    assert len(one.vertices) == 4
    whole = turned(box(0.0, 3.0, 0.0, 0.5), angle)
    for corner in whole.vertices:
        assert min(math.dist(corner, v) for v in one.vertices) < 1e-14
    assert all(one.is_open)


@pytest.mark.parametrize("angle", [0.0, 1.1])
def test_faces_are_covered_where_pieces_touch(angle):
    """A web under a plate covers the middle third of its lower face."""
    tee = {"plate": box(-1.5, 1.5, 0.0, 0.2), "web": box(-0.5, 0.5, -1.0, 0.0)}
    found = outlines({name: turned(shape, angle) for name, shape in tee.items()})
    plate, web = found["plate"], found["web"]
    assert plate.is_open == (True, False, True, True, True, True)
    assert plate.edge == (0, 0, 0, 1, 2, 3)
    ends = [turned(box(-1.5, -0.5, 0.0, 1.0), angle).vertices[1]]
    ends += [turned(box(-1.5, 0.5, 0.0, 1.0), angle).vertices[1]]
    for vertex, end in zip(plate.vertices[1:3], ends, strict=True):
        assert math.dist(vertex, end) < 1e-14
    assert web.is_open == (True, True, False, True)
    # What bears is as thick as it is below an open face.
    assert plate.thickness == pytest.approx(0.2)
    assert web.thickness == pytest.approx(1.0)


@pytest.mark.parametrize(("miss", "is_near"), [(1e-7, True), (-1e-7, True), (1e-4, 0)])
def test_what_counts_as_touching(miss, is_near):
    """A millionth of the longest edge, here 1 m."""
    found = outlines({"low": box(0, 1, 0, 0.2), "up": box(0, 0.2, 0.2 + miss, 0.8)})
    assert found["up"].is_open == (not is_near, True, True, True)


def test_a_piece_with_no_open_face_is_left_out():
    inner = {"mid": box(0, 1, 0, 1)}
    inner |= {"w": box(-1, 0, -2, 1), "e": box(1, 2, 0, 3)}
    inner |= {"s": box(0, 3, -1, 0), "n": box(-2, 1, 1, 2)}
    found = outlines(inner)
    assert set(found) == {"w", "e", "s", "n"}


def test_other_shapes_stay_as_they_are():
    disc, edge = Circle(radius=0.1), Segment(start=(0.0, 0.0), end=(1.0, 0.0))
    found = pieces({"disc": disc, "box": box(0, 1, 0, 1), "edge": edge})
    assert found["disc"] is disc
    assert found["edge"] is edge


def test_pieces_that_overlap_are_refused():
    bodies = [
        RigidBody(
            name="ell",
            mass=1.0,
            inertia=1.0,
            shapes={"foot": box(0, 1, 0, 0.2), "leg": box(0, 0.2, 0.15, 0.8)},
        )
    ]
    contact = Contact(name="c", b="ell", normal=KelvinVoigt(stiffness=1e4))
    with pytest.raises(ModelError) as caught:
        pack(Model(bodies=bodies, contacts=[contact]))
    assert str(caught.value) == (
        "contact 'c': b = 'ell'; shapes 'foot' and 'leg' overlap by 0.05 m; give "
        "pieces that touch without overlapping, or name a shape"
    )


# ---- what a name means -----------------------------------------------------------


def rows(shapes, b="it", ground=None):
    law = KelvinVoigt(stiffness=1e6)
    its: dict[str, Shape] = {"u": box(0, 1, 5, 6), "v": box(0.5, 2, 6, 7)}
    bodies = [
        RigidBody(name="it", mass=1.0, inertia=1.0, shapes=its),
        RigidBody(name="own", mass=1.0, inertia=1.0, shapes=shapes),
        Ground(shapes=ground or {}),
    ]
    model = Model(bodies=bodies, contacts=[Contact(name="c", a="own", b=b, normal=law)])
    return pack(model).contacts


def test_parts_of_a_contact_have_the_names_of_pieces():
    one = {"o": box(0, 1, 0, 1)}
    two = {"p": box(0, 1, 0, 1), "q": box(0, 2, 1, 2), "line": Line()}
    assert rows(one, "it.u") == ("c",)
    assert rows(one) == ("c.u", "c.v")
    assert rows(two, "it.u") == ("c.p", "c.q")
    assert rows(two) == ("c.p.u", "c.p.v", "c.q.u", "c.q.v")
    # A segment touches by its ends, and in those of the other.
    edge = {"s": Segment(start=(1.0, 3.0), end=(0.0, 3.0)), "d": Circle(radius=0.1)}
    assert rows(edge, "it.u")[:2] == ("c.s.1", "c.s.2")
    assert rows(edge, "it.u")[-1] == "c.d"


def test_the_ground_alone_is_a_line_in_a_and_its_shapes_in_b():
    steps: dict[str, Shape] = {"low": box(0, 1, -1, 0), "high": box(1, 2, -1, 0.5)}
    assert rows({"o": box(0, 1, 1, 2)}, "ground", steps) == ("c.low", "c.high")
    law = KelvinVoigt(stiffness=1e6)
    body = RigidBody(name="own", mass=1.0, inertia=1.0, shapes={"o": box(0, 1, 0, 1)})
    contact = Contact(name="c", b="own", normal=law)
    found = pack(Model(bodies=[body, Ground(shapes=steps)], contacts=[contact]))
    assert [spot.surface for spot in found.spots] == [Line()]


def test_a_body_without_shapes_is_its_origin():
    law = KelvinVoigt(stiffness=1e6)
    bare = RigidBody(name="it", mass=1.0, inertia=1.0, position=(0.0, 0.5))
    found = pack(Model(bodies=[bare], contacts=[Contact(name="c", b="it", normal=law)]))
    assert found.spots[0].centre == (0.0, 0.0)
    assert not found.spots[0].is_flat


def test_a_contact_may_have_the_name_of_a_body():
    """Its columns are not those of a body; a field tells which is meant."""
    law = KelvinVoigt(stiffness=1e4)
    both = Model(
        gravity=(0.0, -G),
        bodies=[
            RigidBody(name="foot", mass=1.0, inertia=0.1, points={"tip": (0.0, -0.1)}),
            MovingSupport(name="belt", y=-0.1, x=ConstantRate(rate=0.1)),
            Ground(shapes={"floor": Line(point=(0.0, -0.1))}),
        ],
        contacts=[
            Contact(name="foot", a="belt", b="foot.tip", normal=law),
            Contact(name="belt", a="ground.floor", b="foot.tip", normal=law),
        ],
    )
    result = simulate(both, until=0.01)
    names = [n for n in result.columns if n.startswith(("foot.", "belt."))]
    assert len(set(names)) == len(names)
    assert {"foot.x", "foot.tip.x", "foot.gap", "belt.force_x"} <= set(names)
    assert np.all(result["foot.gap"] <= 0.0)
    assert isinstance(both.element("foot"), RigidBody)
    assert isinstance(both.element("foot", "normal"), Contact)
    stiff = with_field(both, "foot.normal.stiffness", 2e4, "set").contacts[0].normal
    assert stiff == KelvinVoigt(stiffness=2e4)
    draw(result, 0.0, names=True)
    assert scene(result)


# ---- sliding over joints ---------------------------------------------------------

WHOLE = {"p": box(-1.0, 2.0, -0.3, 0.0)}
ROW = {f"p{k}": box(-1.0 + 0.3 * k, -1.0 + 0.3 * (k + 1), -0.3, 0.0) for k in range(10)}
# Convex neither as a whole nor in part, though level on top.
TEE = {
    "left": box(-1.0, 0.0, -0.1, 0.0),
    "mid": box(0.0, 0.2, -0.6, 0.0),
    "right": box(0.2, 2.0, -0.1, 0.0),
}


def slide(shapes, friction, law):
    """A box that slides at 2 m/s over a beam, level at its weight's depth."""
    beam = RigidBody(name="beam", mass=10.0, inertia=1.0, shapes=shapes)
    block = RigidBody(
        name="box",
        mass=1.0,
        inertia=0.04 / 6.0,
        position=(-0.5, 0.1 - G / 1e6),
        velocity=(2.0, 0.0),
        shapes={"o": box(-0.1, 0.1, -0.1, 0.1)},
    )
    model = Model(
        gravity=(0.0, -G),
        bodies=[beam, block],
        joints=[Weld(name="held", b="beam")],
        contacts=[
            Contact(name="c", a="beam", b="box", normal=law, friction=friction),
        ],
    )
    # Forces below are compared to 1e-9 m of depth.
    return simulate(model, until=0.6, rtol=1e-10)


@pytest.mark.parametrize("friction", [None, Coulomb(mu=0.3, mu_static=0.4)])
def test_a_box_slides_over_a_row_of_boxes_as_over_one(friction):
    law = HuntCrossley(stiffness=1e6, exponent=1.0, damping=0.3)
    one, many = (slide(shapes, friction, law) for shapes in (WHOLE, ROW))
    assert many.system.contacts == ("c",)
    t = np.linspace(0.0, 0.6, 101)
    found, expected = many.sample(t), one.sample(t)
    for name in ("box.x", "box.y", "c.normal_force", "c.friction_force", "beam.x"):
        assert found[name] == pytest.approx(expected[name], rel=1e-12, abs=1e-15)


def test_a_box_slides_over_joints_that_are_level():
    """Energy is kept; forces on the box add up to those of one piece."""
    law = KelvinVoigt(stiffness=1e6)
    one, tee = (slide(shapes, None, law) for shapes in (WHOLE, TEE))
    names = tee.system.contacts
    assert names == ("c.left", "c.mid", "c.right")
    kinds = [(e.element, e.kind) for e in tee.events]
    assert kinds == [
        ("c.mid", "touch_down"),
        ("c.left", "separate"),
        ("c.right", "touch_down"),
        ("c.mid", "separate"),
    ]
    t = np.linspace(0.0, 0.6, 290)  # not where an end passes
    found, expected = tee.sample(t), one.sample(t)
    # The box swings by 5e-5 of its weight: its ends sink in less than its middle.
    for part, near in (("x", 1e-6), ("y", 1e-4)):
        total = sum(
            found[f"{n}.normal_force"] * found[f"{n}.normal_{part}"] for n in names
        )
        whole = expected["c.normal_force"] * expected[f"c.normal_{part}"]
        assert total == pytest.approx(whole, abs=near * G)
    assert found["box.vx"] == pytest.approx(2.0, abs=1e-8)
    assert found["box.theta"] == pytest.approx(0.0, abs=1e-7)


def test_friction_over_joints_that_are_level():
    """Pieces on one face rub as one; a box that rocks feels joints by little."""
    law = HuntCrossley(stiffness=1e6, exponent=1.0, damping=0.3)
    rub = Coulomb(mu=0.3, mu_static=0.4)
    one, tee = (slide(shapes, rub, law) for shapes in (WHOLE, TEE))
    t = np.linspace(0.0, 0.6, 290)
    found, expected = tee.sample(t), one.sample(t)
    # Within a depth of either joint, where depths of pieces are not those of the whole,
    # the force is off by K d^2/2l, 1.6e-3 N, for 1e-4 s: 2e-7 m/s each, over 0.4 s.
    assert found["box.x"] == pytest.approx(expected["box.x"], abs=2e-7)
    total = sum(found[f"{n}.friction_force"] for n in tee.system.contacts)
    assert total == pytest.approx(expected["c.friction_force"], abs=5e-3 * 0.3 * G)


# ---- bodies that are not convex ----------------------------------------------------

ELL = {"foot": box(0.0, 0.3, 0.0, 0.1), "leg": box(0.0, 0.1, 0.1, 0.4)}
CENTRE = (0.1, 0.15)  # of both plates, of equal areas


def ell(angle):
    """An L about its mass centre."""
    shapes: dict[str, Shape] = {
        name: Polygon(
            vertices=tuple((x - CENTRE[0], y - CENTRE[1]) for x, y in shape.vertices)
        )
        for name, shape in ELL.items()
    }
    return RigidBody(
        name="ell",
        mass=2.0,
        inertia=0.04,
        position=(0.0, 0.3),
        angle=angle,
        shapes=shapes,
    )


def test_an_ell_comes_to_rest_on_a_floor():
    """Its foot bears, tilted by the load's place: W e over the springs' moment."""
    law = HuntCrossley(stiffness=2e5, exponent=1.0, damping=20.0)
    rub = Coulomb(mu=0.5)
    contact = Contact(name="c", b="ell", normal=law, friction=rub)
    model = Model(gravity=(0.0, -G), bodies=[ell(0.1)], contacts=[contact])
    result = simulate(model, until=3.0)
    assert result.system.contacts == ("c",)
    assert result["c.normal_force"][-1] == pytest.approx(2.0 * G, rel=1e-6)
    tilt = 2.0 * G * (0.15 - CENTRE[0]) * 12.0 / (2e5 * 0.3**2)
    assert result["ell.theta"][-1] == pytest.approx(tilt, rel=1e-2)


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_pieces_side_by_side_on_a_floor_have_one_friction_force(rate):
    """Pushed at its foot, an L slides at mu_static m g, where mu is less.

    With a force for each piece one slid while the other stuck: 12 % early.
    """
    mass, stiffness, static = 2.0, 1e6, 0.5
    weight = mass * G
    x, y = 0.15, 0.1  # of the mass centre
    shapes: dict[str, Shape] = {
        "post": box(-x, 0.1 - x, -y, 0.3 - y),
        "base": box(0.1 - x, 0.4 - x, -y, 0.1 - y),
    }
    body = RigidBody(
        name="ell",
        mass=mass,
        inertia=0.02,
        position=(x, y - weight / stiffness),
        points={"low": (0.0, -0.09)},
        shapes=shapes,
    )
    begin = 0.5 * static * weight
    push = PointForce(name="push", b="ell.low", fx=ConstantRate(start=begin, rate=rate))
    law = KelvinVoigt(stiffness=stiffness, damping=2e3)
    rub = Coulomb(mu=0.4, mu_static=static)
    contact = Contact(name="c", b="ell", normal=law, friction=rub)
    model = Model(gravity=(0.0, -G), bodies=[body], forces=[push], contacts=[contact])
    result = simulate(model, 1.1 * begin / rate)
    away = [e.t for e in result.events if e.kind == "break_away"]
    # By then the tilt of the start has faded.
    force = [begin + rate * t for t in away]
    assert force == pytest.approx([static * weight], rel=1e-9)
    before = result.sample([0.5 * begin / rate])
    assert before["c.normal_force"][0] == pytest.approx(weight, rel=1e-9)
    # It leans by some 1e-4 rad, and a side is in the floor by a little.
    assert before["c.width"][0] == pytest.approx(0.4, rel=1e-7)


YOU = {
    "left": box(-0.2, -0.1, -0.1, 0.1),
    "right": box(0.1, 0.2, -0.1, 0.1),
    "web": box(-0.2, 0.2, 0.1, 0.15),
}
POST = {"post": box(-0.15, -0.05, -0.1, 0.2), "base": box(-0.05, 0.25, -0.1, 0.0)}
PLATE = {"o": box(-1.0, 1.0, -0.3, 0.0)}
SPLIT = {
    "left": box(-1.0, -0.03, -0.1, 0.0),
    "mid": box(-0.03, 0.05, -0.6, 0.0),
    "right": box(0.05, 1.0, -0.1, 0.0),
}


@pytest.mark.parametrize(
    ("shapes", "table", "near"),
    [
        (POST, PLATE, 1e-9),
        (YOU, PLATE, 1e-9),
        ({"o": box(-0.2, 0.2, -0.1, 0.1)}, SPLIT, 1e-9),
        (YOU, SPLIT, 1e-9),
        # Beside its inner corner the depth of the base is not the whole's: d/w squared.
        (POST, SPLIT, 1e-8),
    ],
    ids=["L", "U", "box on pieces", "U on pieces", "L on pieces"],
)
def test_pieces_on_a_face_of_a_polygon_have_one_friction_force(shapes, table, near):
    """They slide at mu_static m g together; with a frame for each 10 to 12 % early."""
    mass, stiffness, static, rate = 2.0, 1e6, 0.5, 2.0
    weight = mass * G
    body = RigidBody(
        name="it",
        mass=mass,
        inertia=0.02,
        position=(0.0, 0.1 - weight / stiffness),
        points={"low": (0.0, -0.09)},
        shapes=shapes,
    )
    slab = RigidBody(name="slab", mass=50.0, inertia=5.0, shapes=table)
    begin = 0.5 * static * weight
    push = PointForce(name="push", b="it.low", fx=ConstantRate(start=begin, rate=rate))
    law = KelvinVoigt(stiffness=stiffness, damping=2e3)
    rub = Coulomb(mu=0.4, mu_static=static)
    contact = Contact(name="c", a="slab", b="it", normal=law, friction=rub)
    model = Model(
        gravity=(0.0, -G),
        bodies=[slab, body],
        joints=[Weld(name="held", b="slab")],
        forces=[push],
        contacts=[contact],
    )
    result = simulate(model, 1.05 * begin / rate)
    away = {e.t for e in result.events if e.kind == "break_away"}
    force = [begin + rate * t for t in away]
    assert force == pytest.approx([static * weight], rel=near)
    # And none slips before.
    before = result.t < min(away)
    for name in result.system.contacts:
        assert set(result[f"{name}.mode"][before]) <= {0.0, 2.0}
    assert audit(model, result).findings == []


def test_pieces_on_two_faces_have_a_friction_force_each():
    """A clamp of two jaws holds a post by its flanks: normals are opposite."""
    jaws: dict[str, Shape] = {
        "left": box(-0.2, -0.1, -0.1, 0.1),
        "right": box(0.1, 0.2, -0.1, 0.1),
        "web": box(-0.2, 0.2, 0.1, 0.15),
    }
    stiffness, mass = 1e6, 1.0
    sink = 5e-5  # of the post in either jaw
    post = RigidBody(
        name="post",
        mass=mass,
        inertia=0.01,
        shapes={"o": box(-0.1 - sink, 0.1 + sink, -0.3, 0.05)},
    )
    clamp = RigidBody(name="clamp", mass=5.0, inertia=0.1, shapes=jaws)
    law = KelvinVoigt(stiffness=stiffness, damping=1e3)
    rub = Coulomb(mu=0.3, mu_static=0.4)
    model = Model(
        gravity=(0.0, -G),
        bodies=[clamp, post],
        joints=[Weld(name="held", b="clamp")],
        contacts=[Contact(name="c", a="clamp", b="post", normal=law, friction=rub)],
    )
    result = simulate(model, 0.5)
    assert result["c.left.normal_x"][-1] == pytest.approx(1.0, abs=1e-3)
    assert result["c.right.normal_x"][-1] == pytest.approx(-1.0, abs=1e-3)
    last = {name: values[0] for name, values in result.sample([0.5]).items()}
    total = 0.0
    for name in ("c.left", "c.right"):
        assert abs(last[f"{name}.friction_force"]) > 0.3 * mass * G
        total += last[f"{name}.normal_force"] * last[f"{name}.normal_y"]
        total -= last[f"{name}.friction_force"] * last[f"{name}.normal_x"]
    assert total == pytest.approx(mass * G, rel=1e-9)
    assert abs(result["post.vy"][-1]) <= 1e-9
    assert audit(model, result).findings == []


def test_a_hook_holds():
    """A hook of three pieces on a bar of two: the load hangs, and does not slip off."""
    hook: dict[str, Shape] = {
        "shank": box(-0.01, 0.01, -0.1, 0.1),
        "top": box(0.01, 0.06, 0.08, 0.1),
        "tip": box(0.04, 0.06, 0.05, 0.08),
    }
    bar: dict[str, Shape] = {
        "near": box(0.015, 0.025, -0.01, 0.01),
        "far": box(0.025, 0.035, -0.02, 0.01),
    }
    law = HuntCrossley(stiffness=1e6, exponent=1.0, damping=10.0)
    load = RigidBody(
        name="hook", mass=1.0, inertia=0.01, position=(0.0, -0.07), shapes=hook
    )
    rail = MovingSupport(name="rail", shapes=bar)
    model = Model(
        gravity=(0.0, -G),
        bodies=[rail, load],
        contacts=[
            Contact(name="c", a="hook", b="rail", normal=law, friction=Coulomb(mu=0.2))
        ],
    )
    result = simulate(model, until=1.5)
    # It swings below the bar, from its upper face and against its flank.
    names = result.system.contacts
    assert len(names) == 6
    lifts: Any = (
        result[f"{n}.normal_force"] * result[f"{n}.normal_y"]
        - result[f"{n}.friction_force"] * result[f"{n}.normal_x"]
        for n in names
    )
    lift: Any = -sum(lifts)
    late = result.t > 0.5
    mean = np.trapezoid(lift[late], result.t[late]) / np.ptp(result.t[late])
    # But for what it still moves up or down.
    fall = (result["hook.vy"][late][-1] - result["hook.vy"][late][0]) / 1.0
    assert mean == pytest.approx(G + fall, rel=1e-2)
    assert np.max(np.abs(result["hook.vy"][late])) < 0.1
    assert abs(result["hook.x"][-1]) < 0.05


def test_a_round_nose_among_the_pieces():
    """A disc at the end of a bar touches first, and bears the load."""
    nose = Circle(radius=0.02)
    pieces: dict[str, Shape] = {"bar": box(-0.2, 0.0, -0.02, 0.02), "nose": nose}
    body = RigidBody(
        name="pin", mass=0.5, inertia=1e-3, position=(-0.022, 0.0), shapes=pieces
    )
    wall = Ground(
        shapes={"low": box(0.0, 0.1, -0.1, 0.0), "up": box(0.0, 0.2, 0.0, 0.1)}
    )
    model = Model(
        bodies=[wall, body],
        joints=[Prismatic(name="guide", b="pin")],
        forces=[PointForce(name="push", b="pin", fx=5.0)],
        contacts=[
            Contact(
                name="c", a="pin", b="ground", normal=Hertz(stiffness=1e8, exponent=1.5)
            )
        ],
    )
    names = pack(model).contacts
    assert names == ("c.bar.low", "c.bar.up", "c.nose.low", "c.nose.up")


# ---- a leg that lifts off while it sticks ----------------------------------------


def plate(left, right, bottom, top):
    """Return a rectangle."""
    corners = ((left, bottom), (right, bottom), (right, top), (left, top))
    return Polygon(vertices=corners)


def landing(law, mass, inertia, y, **start: Any):
    """Return two legs and what joins them, falling on a polygon."""
    legs = {
        "l": plate(-0.06, -0.03, -0.06, 0.06),
        "m": plate(-0.03, 0.03, -0.02, 0.02),
        "r": plate(0.03, 0.06, -0.06, 0.06),
    }
    sizes: Any = {"mass": mass, "inertia": inertia, "position": (0.0, y)}
    body = RigidBody(name="b", shapes={**legs}, **sizes, **start)
    floor = Ground(shapes={"f": plate(-1.0, 1.0, -0.2, 0.0)})
    contact = Contact(
        name="c",
        a="b",
        b="ground",
        normal=law,
        friction=Coulomb(mu=0.6, mu_static=0.8),
    )
    return Model(gravity=(0.0, -9.81), bodies=[floor, body], contacts=[contact])


LANDINGS: list[Any] = [
    # Flush: steps became ever smaller as the second leg left.
    (
        HuntCrossley(stiffness=1e7, exponent=1.0, damping=1.0),
        (0.06, 2e-4, 0.0601),
        {"velocity": (-0.01, -0.2)},
    ),
    # Tilted: its turning, 1.3 rad/s, was gone within 1e-10 s as a leg left.
    (
        Flores(stiffness=5e5, exponent=1.0, restitution=0.5),
        (0.5, 0.5 * 0.0033, 0.06158),
        {"velocity": (0.28, -0.2), "angular_velocity": -1.7, "angle": 0.023},
    ),
]


@pytest.mark.parametrize(("law", "body", "start"), LANDINGS)
def test_a_leg_that_leaves_while_it_sticks_keeps_the_line_of_the_other(
    law, body, start
):
    """With a point of its own, at the last, both held the body's rotation."""
    result = simulate(landing(law, *body, **start), 0.1)
    omega, t = result["b.omega"], result.t
    # No friction is large enough to turn it by this in so short a time.
    steps = np.abs(np.diff(omega))[np.diff(t) < 1e-8]
    most = 0.8 * np.max(result["c.normal_force"]) * 0.1 / body[1] * 1e-8
    assert np.max(steps, initial=0.0) <= most
    ledger = result.energy_balance
    assert abs(ledger.residual) <= 1e-6 * ledger.exchanged
    assert result.doubts == ()
    assert any(e.kind == "separate" and e.before == "stick" for e in result.events)
