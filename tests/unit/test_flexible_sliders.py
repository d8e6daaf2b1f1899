"""Flexible bodies that slide in a guide: the block is the body's own mesh."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nonsmooth import gallery, io, simulate
from nonsmooth.elements.bodies import RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.joints import ElasticBlock, Prismatic
from nonsmooth.elements.materials import Material
from nonsmooth.elements.meshes import Patch, Rectangle
from nonsmooth.elements.normal import KelvinVoigt, Unilateral
from nonsmooth.errors import ModelError
from nonsmooth.model import Model
from nonsmooth.pack import pack

pytest.importorskip("skfem")

STEEL = Material(youngs_modulus=2.1e11, poissons_ratio=0.25, density=1.0 / 0.003)
MESH = Rectangle(width=0.6, height=0.5, size=0.06, order=1)


def model(
    body: dict[str, Any] | None = None, joint: dict[str, Any] | None = None
) -> Model:
    """Return the gallery's system with a flexible body as its slider."""
    whole = gallery.build("flexible_slider", clearance=0.0)
    guide, pin = whole.joints
    assert isinstance(guide, Prismatic)
    given: dict[str, Any] = {"mesh": MESH, "material": STEEL, "thickness": 0.01}
    slider = FlexibleBody(name="slider", **(given | (body or {})))
    given = {"name": "guide", "b": "slider", "friction": guide.friction}
    given["clearance"] = 0.0
    own = Prismatic(**(given | (joint or {})))
    ground, _, bar = whole.bodies
    return replace(whole, bodies=(ground, slider, bar), joints=(own, pin))


def test_it_is_condensed_by_default():
    """As a rigid body with an elastic block of the same mesh, given by hand."""
    system = pack(model())
    slider, joint = system.model.element("slider"), system.model.element("guide")
    assert isinstance(slider, RigidBody)
    assert isinstance(joint, Prismatic)
    assert slider.mass == pytest.approx(1.0, rel=1e-12)
    assert slider.inertia == pytest.approx((0.36 + 0.25) / 12.0, rel=1e-12)
    assert (joint.length, joint.height) == pytest.approx((0.6, 0.5), rel=1e-12)
    whole = gallery.build("flexible_slider", clearance=0.0)
    guide, *others = whole.joints
    assert isinstance(guide, Prismatic)
    block = ElasticBlock(material=STEEL, thickness=0.01, mesh=MESH)
    by_hand = replace(whole, joints=(replace(guide, block=block), *others))
    t = np.linspace(0.0, 3.0, 31)
    found = [
        simulate(one, until=3.0, rtol=1e-10).sample(t, ["slider.x", "guide.load"])
        for one in (system, by_hand)
    ]
    # Masses differ by round-off, which moves the steps: m, and N.
    for name, error in (("slider.x", 1e-8), ("guide.load", 1e-6)):
        np.testing.assert_allclose(found[0][name], found[1][name], rtol=0, atol=error)


@pytest.mark.parametrize("order", [1, 2])
def test_meshes_converge_to_the_rectangle_of_cells(order):
    """Largest load of the first stick, 19.62 N m on the pin; singular at its ends."""
    fine = model({"mesh": replace(MESH, size=0.025, order=order)})
    whole = gallery.build("flexible_slider", clearance=0.0, mesh=3)
    loads = [
        simulate(one, until=0.1).sample(0.0, "guide.load")["guide.load"][0]
        for one in (fine, whole)
    ]
    assert loads[0] == pytest.approx(loads[1], rel=0.01)


def test_turned_and_moved_guides_are_the_same_block():
    """A guide along y of a body whose mesh stands upright, its middle elsewhere."""
    flat = model({"position": (0.0, 0.0)})
    upright = Rectangle(width=0.5, height=0.6, center=(3.0, -1.0), size=0.06, order=1)
    quarter = 0.5 * math.pi
    ends = {"faces": ("right", "left"), "axis": quarter, "b": "slider.pin"}
    body = {"mesh": upright, "points": {"pin": (3.0, -1.0)}, "position": (0.0, 0.0)}
    turned = model(body, ends)
    ground, slider, bar = turned.bodies
    spring, push = turned.forces
    motor: Any = turned.drives[0]
    start: Any = {"position": (0.0, 1.0), "velocity": (-0.25 * math.pi, 0.0)}
    wall: Any = {"points": {"wall": (0.0, -3.0)}}
    along: Any = {"fx": 0.0, "fy": getattr(push, "fx")}  # noqa: B009
    turned = replace(
        turned,
        gravity=(9.81, 0.0),
        bodies=(replace(ground, **wall), slider, replace(bar, angle=quarter, **start)),
        drives=(replace(motor, law=replace(motor.law, start=quarter)),),
        forces=(spring, replace(push, **along)),
    )
    t = np.linspace(0.0, 2.0, 21)
    one = simulate(flat, until=2.0, rtol=1e-9).sample(t)
    other = simulate(turned, until=2.0, rtol=1e-9).sample(t)
    # The cells are not quite the same: 10 by 9 and 9 by 10, cut along other diagonals.
    np.testing.assert_allclose(other["guide.load"], one["guide.load"], rtol=0.02)
    np.testing.assert_allclose(other["slider.y"], one["slider.x"], atol=5e-3)


def test_files_and_springs():
    springs = model(joint={"normal": Unilateral(penalty=1e14)})
    assert io.loads(io.dumps(springs)) == springs
    joint = pack(springs).model.element("guide")
    assert isinstance(joint, Prismatic)
    assert joint.block is not None
    assert joint.block.penalty == 1e14
    assert joint.normal is None


def test_corners_are_the_rigid_limit():
    """Length and height are the mesh's; the clearance is ignored, which is noted."""
    result = simulate(model(joint={"load": "corners", "clearance": 1e-3}), until=1.0)
    rigid = simulate(gallery.build("slider_in_guide"), until=1.0)
    t = np.linspace(0.0, 1.0, 11)
    found, wanted = (
        one.sample(t, "guide.load")["guide.load"] for one in (result, rigid)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-7)
    assert "clearance = 0.001 m is ignored" in result.notes[0]
    assert not rigid.notes


@pytest.mark.parametrize(
    ("body", "joint", "text"),
    [
        ({}, {"clearance": None, "length": 0.6},
         "clearance = None; the forces on the faces of flexible body 'slider'"),
        ({}, {"clearance": None}, "needs a clearance instead"),
        ({}, {"clearance": -1e-4}, "must be >= 0 m, by which the guide is wider"),
        ({}, {"faces": ("bottom", "lid")}, "no boundary 'lid'; valid: bottom"),
        ({}, {"faces": ("bottom", "left")}, "'left' is not straight along the guide"),
        ({}, {"faces": ("top", "top")}, "in the middle between two faces"),
        ({"points": {"p": (0.0, 0.1)}}, {"b": "slider.p"}, "at -0.35 and 0.15 m"),
        ({}, {"length": 0.5}, "that of body 'slider' is 0.6 m; leave it out"),
        ({}, {"height": 0.4}, "that of body 'slider' is 0.5 m; leave it out"),
        ({}, {"friction": None}, "friction = None; an elastic slider differs"),
        ({}, {"load": "corners", "clearance": None, "length": 0.6}, "only with a"),
        ({}, {"load": "corners", "normal": KelvinVoigt(stiffness=1e6), "length": 0.6},
         "corners with a law of contact bear by it"),
        ({"modes": "full"}, {}, "it moves as a rigid body"),
        ({"fixed": ("left",)}, {}, "it moves as a rigid body"),
        ({"points": {"far": (9.0, 0.0)}}, {}, "outside the mesh"),
    ],
)  # fmt: skip
def test_refused(body, joint, text):
    with pytest.raises(ModelError) as error:
        pack(model(body, joint))
    assert text in str(error.value)


def test_no_contact_elsewhere():
    body = {"patches": {"end": Patch(boundary="right")}}
    touching = replace(
        model(body),
        contacts=(Contact(name="stop", b="slider.end", normal=Unilateral()),),
    )
    with pytest.raises(ModelError) as error:
        pack(touching)
    assert "moves as a rigid one in guide 'guide'" in str(error.value)
