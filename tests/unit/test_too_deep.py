"""Outlines that sink in too deep: the reason told, and that its advice helps."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest

from fuzz.audit.locks import is_refuted
from fuzz.families import make
from nonsmooth import (
    Circle,
    ConstantRate,
    Contact,
    Coulomb,
    KelvinVoigt,
    Model,
    ModelError,
    MovingSupport,
    PointMass,
    Polygon,
    Prismatic,
    RigidBody,
    SmoothStep,
    SolveError,
    SpringDamper,
    TranslationDrive,
    simulate,
)


def latch(family, seed, factor=1.0, friction=None):
    """A random latch with its law made stiffer, or another friction."""
    case = make(family, seed)
    (contact,) = case.model.contacts
    law: Any = contact.normal
    law = replace(law, stiffness=factor * law.stiffness)
    rub = friction or contact.friction
    contact = replace(contact, normal=law, friction=rub)
    return replace(case.model, contacts=[contact]), case.until


def sprung(model: Model, force: float) -> Model:
    """The same with a hand that pushes by a spring, with a force at most."""
    way: Any = model.drives[0].law
    travel = way.end if isinstance(way, SmoothStep) else 2.0 * way.amplitude
    bolt: Any = next(b for b in model.bodies if b.name == "bolt")
    tail = bolt.points["tail"][0]
    long = -2.0 * tail
    points = {"end": (tail - long, 0.0)}
    hand = MovingSupport(name="mover", x=way, points=points)
    spring = SpringDamper(
        name="push",
        a="mover.end",
        b="bolt.tail",
        stiffness=force / travel,
        damping=2e-3 * force / travel,
        rest_length=long,
    )
    return replace(
        model,
        bodies=[*model.bodies, hand],
        forces=[*model.forces, spring],
        drives=[],
    )


def stops(model, until):
    """Return what a run says as it stops, and what it has computed."""
    with pytest.raises(SolveError, match="a quarter of the thickness") as told:
        simulate(model, until)
    return str(told.value), told.value.result


@pytest.mark.parametrize("seed", [2, 6, 17])
def test_a_drive_that_goes_on_against_a_lock_is_named(seed):
    """However stiff the law is; all that is advised helps, with the numbers told."""
    model, until = latch("jams", seed)
    text, result = stops(model, until)
    assert "it sticks while drive 'hand' moves on, so that friction locks it" in text
    stiffer, _ = stops(*latch("jams", seed, 100.0))
    assert "friction locks it" in stiffer
    force, friction = (
        float(found[1])
        for found in (
            re.search(r"no more than (\S+) N", text),
            re.search(r"friction below ([^ ,]+)", text),
        )
        if found
    )
    assert simulate(sprung(model, force), until).status == "finished"
    slippery = latch("jams", seed, friction=Coulomb(mu=0.5 * friction))
    assert simulate(*slippery).status == "finished"
    # By statics: the way to the hinge is in the cone of friction, and in no smaller.
    assert not is_refuted(model, result, text)
    less, _ = latch("jams", seed, friction=Coulomb(mu=0.9 * friction))
    assert is_refuted(less, result, text)


def test_a_drive_that_goes_on_where_its_way_is_blocked_is_named():
    """With a soft law it slips while it sinks in; with a stiff one it is locked."""
    text, _ = stops(*latch("jams", 0, 0.01))
    assert "while drive 'hand' moves on: if they could give way" in text
    assert "if the way is blocked" in text
    text, _ = stops(*latch("jams", 0))
    assert "friction locks it" in text


def test_a_drive_where_a_stiffer_law_helps_is_named():
    text, _ = stops(*latch("jams", 5, 0.01))
    assert "while drive 'hand' moves on: if they could give way" in text
    assert simulate(*latch("jams", 5)).status == "finished"


def test_a_lever_that_turns_away_from_a_stiff_contact_is_not_said_to_be_locked():
    """It sticks, but its hinge is beside the cone of friction: the law is too soft."""
    text, _ = stops(*latch("jams", 400058))
    assert "while drive 'hand' moves on: if they could give way" in text
    assert simulate(*latch("jams", 400058, 100.0)).status == "finished"


def test_a_law_too_soft_for_its_spring_is_named():
    text, _ = stops(*latch("latches", 6, 1e-3))
    assert "try a stiffer normal law" in text
    assert "moves on" not in text
    assert simulate(*latch("latches", 6)).status == "finished"


def test_a_body_without_a_hinge_is_not_judged():
    """Whether it is locked depends on more than one line."""
    model, until = latch("jams", 2)
    text, result = stops(model, until)
    free: Any = [b for b in model.bodies if isinstance(b, RigidBody)]
    slippery = replace(model.contacts[0], friction=Coulomb(mu=0.0))
    loose = Model(bodies=free, contacts=[slippery])
    assert not is_refuted(loose, result, text)


@pytest.mark.parametrize("friction", [None, Coulomb(mu=0.7)])
def test_a_free_box_thrown_on_a_belt_is_not_said_to_be_locked(friction):
    """Its own motion presses it: as the message has it, a stiffer law helps."""
    side = 0.1
    square = ((-side, -side), (side, -side), (side, side), (-side, side))
    box = RigidBody(
        name="box",
        mass=1.0,
        inertia=1 / 150,
        position=(0.0, side * math.sqrt(2.0) + 1e-3),
        angle=0.25 * math.pi,
        velocity=(0.0, -3.0),
        shapes={"o": Polygon(vertices=square)},
    )
    belt = MovingSupport(name="belt", x=ConstantRate(rate=0.01))

    def model(stiffness):
        law = KelvinVoigt(stiffness=stiffness)
        c = Contact(name="c", a="belt", b="box.o", normal=law, friction=friction)
        return Model(gravity=(0.0, -9.81), bodies=[belt, box], contacts=[c])

    with pytest.raises(SolveError) as caught:
        simulate(model(2e4), 0.3)
    assert "try a stiffer normal law" in str(caught.value)
    assert "locks" not in str(caught.value)
    assert simulate(model(8e4), 0.3).status == "finished"


PLATE = Polygon(vertices=((-1.0, -0.05), (1.0, -0.05), (1.0, 0.05), (-1.0, 0.05)))


def dropped_on_a_plate(radius, stiffness, height, speed=-3.0):
    """A ball, or a point, thrown on a plate 0.1 m thick; `height` is of its middle."""
    shapes: Any = {"rim": Circle(radius=radius)} if radius else {}
    ball = (
        RigidBody(
            name="ball",
            mass=1.0,
            inertia=1e-3,
            position=(0.1, height),
            velocity=(0.0, speed),
            shapes=shapes,
        )
        if radius
        else PointMass(
            name="ball", mass=1.0, position=(0.1, height), velocity=(0.0, speed)
        )
    )
    plate = MovingSupport(name="plate", shapes={"o": PLATE})
    law = KelvinVoigt(stiffness=stiffness)
    end = "ball.rim" if radius else "ball"
    return Model(
        gravity=(0.0, -9.81),
        bodies=[plate, ball],
        contacts=[Contact(name="c", a="plate.o", b=end, normal=law)],
    )


@pytest.mark.parametrize("radius", [0.0, 0.04])
def test_what_would_pass_through_a_plate_is_stopped(radius):
    """A quarter of the thickness and half of the radius: farther on it came out below.

    It went on there with a law that pushed it down, and nothing was said.
    """
    most = 0.25 * 0.1 + 0.5 * radius
    with pytest.raises(SolveError) as told:
        simulate(dropped_on_a_plate(radius, 1e3, 0.1), 0.3)
    text = str(told.value)
    assert "contact 'c': it overlaps by" in text
    assert f"more than {most:.3g} m" in text
    assert "half way to where it is in the middle of the polygon" in text
    # As the message has it.
    stiffer = simulate(dropped_on_a_plate(radius, 1e5, 0.1), 0.3)
    assert stiffer.sample([0.3])["ball.y"][0] > 0.05


@pytest.mark.parametrize("radius", [0.0, 0.04])
def test_a_start_in_a_plate_is_refused(radius):
    with pytest.raises(ModelError, match="half way to where it is in the middle of"):
        simulate(dropped_on_a_plate(radius, 1e5, 0.02), 0.1)


def side_of(size):
    return Polygon(
        vertices=((-size, -size), (size, -size), (size, size), (-size, size))
    )


def test_a_support_that_does_not_move_is_not_blamed():
    """A box thrown on a table at rest: nothing pushes it but its own motion."""
    table = MovingSupport(name="table", y=0.2)
    box = RigidBody(
        name="box",
        mass=1.0,
        inertia=1.0 / 150.0,
        position=(0.0, 0.31),
        velocity=(0.0, -3.0),
        shapes={"o": side_of(0.1)},
    )
    law = KelvinVoigt(stiffness=1e3)
    model = Model(
        bodies=[table, box],
        contacts=[Contact(name="c", a="table", b="box.o", normal=law)],
    )
    with pytest.raises(SolveError) as told:
        simulate(model, 0.3)
    assert "try a stiffer normal law" in str(told.value)
    assert "moves on" not in str(told.value)


def test_a_drive_that_pushes_through_another_contact_is_named():
    """A driven ram presses one box, and that another, into the ground."""
    boxes = [
        RigidBody(
            name=name,
            mass=1.0,
            inertia=1.0 / 150.0,
            position=(0.0, y),
            velocity=(0.0, -0.1 if name == "ram" else 0.0),
            shapes={"o": side_of(0.1)},
        )
        for name, y in (("low", 0.1), ("high", 0.3), ("ram", 0.5))
    ]
    hard, soft = KelvinVoigt(stiffness=1e7), KelvinVoigt(stiffness=1e4, damping=50.0)
    guide = Prismatic(name="guide", a="ground", b="ram", axis=0.5 * math.pi)
    hand = TranslationDrive(
        name="hand",
        a="ground",
        b="ram",
        axis=0.5 * math.pi,
        law=ConstantRate(rate=-0.1, start=0.5),
    )
    model = Model(
        gravity=(0.0, -9.81),
        bodies=boxes,
        joints=[guide],
        drives=[hand],
        contacts=[
            Contact(name="floor", a="ground", b="low.o", normal=soft),
            Contact(name="c1", a="low.o", b="high.o", normal=hard),
            Contact(name="c2", a="high.o", b="ram.o", normal=hard),
        ],
    )
    with pytest.raises(SolveError, match="contact 'floor'") as told:
        simulate(model, 1.0)
    assert "while drive 'hand' moves on" in str(told.value)
