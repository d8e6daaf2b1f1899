"""What stands for joints, drives and forces in pictures, and where something presses.

All of it is plain data, described in `web/src/format.ts`. To give a kind its look, name
one that there is:

    @glyph(MySpring)
    def my_spring(stage: Stage, element: MySpring) -> Item:
        return {"kind": "spring"}

A new one needs a painter in `views/symbols.py` and one in `web/src/scene/glyphs.ts`.
"""

from __future__ import annotations

from typing import Any

from nonsmooth.columns import WRENCH
from nonsmooth.elements.drives import Drive, RotationDrive, TranslationDrive
from nonsmooth.elements.forces import (
    Couple,
    Force,
    PointForce,
    SpringDamper,
    TorsionSpring,
)
from nonsmooth.elements.joints import (
    Distance,
    Joint,
    PinInSlot,
    Prismatic,
    Revolute,
    Weld,
)
from nonsmooth.elements.laws import Constant
from nonsmooth.views import drawing
from nonsmooth.views.bearings import Bearing
from nonsmooth.views.parts import Item
from nonsmooth.views.stage import Looks, Stage

glyph: Looks[Stage, Item] = Looks()


def glyphs(stage: Stage) -> list[Item]:
    """Return what stands for joints, drives and forces."""
    model, with_mode = stage.system.model, stage.system.slides
    found: list[Item] = []
    for family, elements in (
        ("joint", model.joints),
        ("drive", model.drives),
        ("force", model.forces),
    ):
        for element in elements:
            own = glyph.draw(stage, element) or {}
            item: Item = {
                "kind": own.pop("kind"),
                "family": family,
                "name": element.name,
                "a": _marker(stage, element.a),
                "b": _marker(stage, element.b),
                **own,
            }
            if element.name in with_mode:
                item["mode"] = f"{element.name}.mode"
            columns = [f"{element.name}.{c}" for c in WRENCH]
            if all(column in stage.values for column in columns[:2]):
                item["force"] = columns[:2]
            if columns[2] in stage.values:
                item["torque"] = columns[2]
            found.append(item)
    return found


def _marker(stage: Stage, reference: str) -> Item:
    """Return "body" or "body.point" as body and place in its frame."""
    body, _, point = reference.partition(".")
    item: Item = {"body": stage.body(body).name, "point": stage.point(reference)}
    if body in stage.skins and point in stage.skins[body].sites:
        item["node"] = stage.skins[body].sites[point]
    return item


@glyph(Joint)
def any_joint(stage: Stage, joint: Joint) -> Item:
    """Draw a pin."""
    return {"kind": "joint"}


@glyph(Revolute)
def revolute(stage: Stage, joint: Revolute) -> Item:
    """Draw a pin."""
    return {"kind": "pin"} | ({"radius": joint.radius} if joint.radius else {})


@glyph(PinInSlot)
def pin_in_slot(stage: Stage, joint: PinInSlot) -> Item:
    """Draw a slot and the pin in it, with friction on a slider."""
    return {"kind": "slot", "axis": joint.axis, "travel": stage.travel(joint)}


@glyph(Prismatic)
def prismatic(stage: Stage, joint: Prismatic) -> Item:
    """Draw a block in a guide."""
    item: Item = {
        "kind": "guide",
        "axis": joint.axis,
        "angle": joint.axis - joint.angle,
        "travel": stage.travel(joint),
    }
    half, high = drawing.block_size(joint, stage.unit)
    if joint.length is not None:
        item |= {"length": 2.0 * half, "height": 2.0 * high}
    if joint.clearance is not None:
        item["clearance"] = joint.clearance
        if joint.block is not None:
            item["is_elastic"] = True
    if stage.shows_block(joint):
        item["has_block"] = False
    return item


@glyph(Weld)
def weld(stage: Stage, joint: Weld) -> Item:
    """Draw a square."""
    return {"kind": "weld"}


@glyph(Distance)
def distance(stage: Stage, joint: Distance) -> Item:
    """Draw a thin rod with a pin at both ends."""
    return {"kind": "rod"}


@glyph(Drive)
def drive(stage: Stage, element: Drive) -> Item:
    """Draw a ring round the driven point."""
    return {"kind": "drive"}


@glyph(RotationDrive)
def rotation_drive(stage: Stage, element: RotationDrive) -> Item:
    """Draw an arrow round the joint; what is but held has none."""
    kind = "hold" if isinstance(element.law, Constant) else "motor"
    return {"kind": kind, "pivot": _marker(stage, stage.pivot(element))}


@glyph(TranslationDrive)
def translation_drive(stage: Stage, element: TranslationDrive) -> Item:
    """Draw an arrow along the driven direction; what is but held has none."""
    kind = "hold" if isinstance(element.law, Constant) else "actuator"
    return {"kind": kind, "axis": element.axis}


@glyph(Force)
def force(stage: Stage, element: Force) -> Item:
    """Draw a line from a to b, or the arrow of a force on b alone."""
    return {"kind": "force" if stage.is_ground(element.a) else "pair"}


@glyph(PointForce)
def point_force(stage: Stage, element: PointForce) -> Item:
    """Draw the arrow of the force."""
    return {"kind": "force"}


@glyph(Couple)
def couple(stage: Stage, element: Couple) -> Item:
    """Draw an arrow round the joint."""
    return {"kind": "couple", "pivot": _marker(stage, stage.pivot(element))}


@glyph(SpringDamper)
def spring_damper(stage: Stage, element: SpringDamper) -> Item:
    """Draw a zigzag for stiffness, a dashpot for damping, side by side for both."""
    return {
        "kind": "spring",
        "has_spring": element.stiffness > 0.0 or element.damping == 0.0,
        "has_damper": element.damping > 0.0,
    }


@glyph(TorsionSpring)
def torsion_spring(stage: Stage, element: TorsionSpring) -> Item:
    """Draw a spiral at the joint."""
    return {"kind": "spiral", "pivot": _marker(stage, stage.pivot(element))}


# ---- where something presses -----------------------------------------------------


def spot(stage: Stage, bearing: Bearing) -> Item:
    """Return a bearing; its columns have the names of `place_columns`."""
    name = bearing.name
    is_joint = any(j.name == bearing.element for j in stage.system.model.joints)
    item: Item = {
        "name": name,
        "element": bearing.element,
        "family": "joint" if is_joint else "contact",
        "can_stick": stage.can_stick[bearing.owner],
        "mode": f"{bearing.owner}.mode",
        "x": f"{name}.place_x",
        "y": f"{name}.place_y",
        "nx": f"{name}.normal_x",
        "ny": f"{name}.normal_y",
        "normal": bearing.force,
        "friction": bearing.rub,
    }
    disc = bearing.spot
    if disc and disc.body in stage.skins and disc.body in stage.flexible:
        contact: Any = stage.system.model.element(disc.element, "b")
        item["on"] = _marker(stage, contact.b)
    elif disc and disc.body in stage.poses and not disc.is_flat:
        item["at"] = {"body": disc.body, "point": disc.centre, "radius": disc.radius}
    return item
