"""What the viewer draws: parts of bodies, glyphs of joints and forces, spots.

All of it is plain data, described in `web/src/format.ts`. A part or a glyph is looked
up by the element's class, then by its base classes, so that a kind of the user's own
is drawn like its family. To give a kind its own glyph, add it here, and its painter
in `web/src/scene/glyphs.ts`:

    @glyph(MySpring)
    def my_spring(stage: Stage, element: MySpring) -> Item:
        return {"kind": "my_spring"}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.base import Element, Named
from nonsmooth.elements.bodies import (
    Body,
    Ground,
    MovingSupport,
    PointMass,
    RigidBody,
)
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
from nonsmooth.elements.shapes import Circle, Line, Polygon, Segment, Shape
from nonsmooth.views import contacts, drawing
from nonsmooth.views.figure import PALETTE
from nonsmooth.views.places import places, to_global, to_local

if TYPE_CHECKING:
    from nonsmooth.pack import Spot, System

Floats = NDArray[np.float64]
Item = dict[str, Any]  # an object of the document
E = TypeVar("E", bound=Element)

# Half of a block that stands for a point mass on a surface: height and width; of the
# box of a support without shapes; by how much a face is longer than what touches it.
MASS, SUPPORT, BEYOND = (2.2, 1.3), 0.9, 3.0
# A support that moves less than this part of what touches it is a platform with ends;
# its height, in units and beside its length.
PLATFORM, THICK = 0.5, (2.0, 0.03)
# Radius of the disc of a body without points, in units: least and most.
DISC = (1.0, 8.0)
# A normal that turns less than this, rad, stands still.
STILL = 1e-6

POSE = ("x", "y", "theta")
KINDS = ("ground", "support", "rigid", "point")  # of bodies
PLACE = ("place_x", "place_y", "normal_x", "normal_y")  # columns of a spot

_PARTS: dict[type[Element], Callable[[Any, Any], list[Item]]] = {}
_GLYPHS: dict[type[Element], Callable[[Any, Any], Item]] = {}


def part(
    kind: type[E],
) -> Callable[[Callable[[Stage, E], list[Item]]], Callable[[Stage, E], list[Item]]]:
    """Register the parts of a kind of body or shape, or of a whole family."""

    def register(
        function: Callable[[Stage, E], list[Item]],
    ) -> Callable[[Stage, E], list[Item]]:
        _PARTS[kind] = function
        return function

    return register


def glyph(
    kind: type[E],
) -> Callable[[Callable[[Stage, E], Item]], Callable[[Stage, E], Item]]:
    """Register the glyph of a kind of joint, drive or force, or of a whole family."""

    def register(function: Callable[[Stage, E], Item]) -> Callable[[Stage, E], Item]:
        _GLYPHS[kind] = function
        return function

    return register


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A mechanism and its motion at the samples."""

    system: System
    values: Mapping[str, Floats]  # columns at the samples
    n: int  # samples
    unit: float = 0.0  # m, length of a symbol
    owner: str = ""  # body whose shape is being drawn

    @cached_property
    def elements(self) -> dict[str, Named]:
        """All elements by name."""
        found: dict[str, Named] = {"ground": Ground()}
        return found | {e.name: e for e in self.system.model.elements()}

    @cached_property
    def poses(self) -> dict[str, Floats]:
        """Places and angles of all bodies but the ground, (n, 3) each."""
        return {
            name: np.column_stack([self.values[f"{name}.{c}"] for c in POSE])
            for name in self.system.bodies
            if name != "ground"
        }

    def body(self, reference: str) -> Named:
        """Return the body of "body" or "body.point"."""
        return self.elements.get(reference.partition(".")[0]) or Ground()

    def is_ground(self, reference: str) -> bool:
        """Return whether a marker is on the fixed frame."""
        return isinstance(self.body(reference), Ground)

    def point(self, reference: str) -> tuple[float, float]:
        """Return the place of "body" or "body.point" in the body's frame, m."""
        _, _, name = reference.partition(".")
        points: dict[str, Any] = getattr(self.body(reference), "points", {})
        return tuple(points[name]) if name else (0.0, 0.0)

    def marker(self, reference: str) -> Item:
        """Return "body" or "body.point" as body and place in its frame."""
        return {"body": self.body(reference).name, "point": self.point(reference)}

    def pose(self, reference: str) -> Floats:
        """Return x, y and theta of "body" or "body.point", (n, 3)."""
        body = self.poses.get(reference.partition(".")[0], np.zeros((self.n, 3)))
        place = to_global(body, np.array(self.point(reference)))
        return np.column_stack([place, body[:, 2]])

    def travel(self, joint: PinInSlot | Prismatic) -> tuple[float, float]:
        """Return how far b lies along a line fixed in a, least and most."""
        a, b = self.pose(joint.a), self.pose(joint.b)
        phi = a[:, 2] + joint.axis
        along = np.cos(phi) * (b[:, 0] - a[:, 0]) + np.sin(phi) * (b[:, 1] - a[:, 1])
        return _extremes(along)

    def normal(self, joint: PinInSlot | Prismatic) -> Floats:
        """Return the normal of a slot or guide, (n, 2)."""
        phi = self.pose(joint.a)[:, 2] + joint.axis
        return np.column_stack([-np.sin(phi), np.cos(phi)])

    def pivot(self, element: Joint | Force) -> Item:
        """Return where a rotation between a and b is best shown: at their joint."""
        pair = {self.body(element.a).name, self.body(element.b).name}
        for joint in self.system.model.joints:
            if {self.body(joint.a).name, self.body(joint.b).name} == pair:
                return self.marker(joint.b)
        return self.marker(element.b)

    @property
    def is_support(self) -> bool:
        """Whether the shape being drawn is on the ground or on a support."""
        return isinstance(self.body(self.owner), Ground | MovingSupport)

    def hatched(self, item: Item) -> Item:
        """Return a part, hatched on the ground and on supports."""
        return {**item, "is_hatched": True} if self.is_support else item


def _extremes(values: Floats) -> tuple[float, float]:
    """Return least and most of what is finite."""
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)


def _look_up(
    registry: Mapping[type[Element], Callable[[Any, Any], Any]],
    stage: Stage,
    element: Element,
) -> Any:
    for kind in type(element).__mro__:
        if kind in registry:
            return registry[kind](stage, element)
    return None


# ---- bodies --------------------------------------------------------------------


def bodies(stage: Stage) -> list[Item]:
    """Return all bodies, the ground first, then supports, then what moves."""
    moving = stage.system.bodies[: stage.system.n_moving]
    n_colour = len(PALETTE) - 1  # black is for outlines
    colours = {name: PALETTE[k % n_colour] for k, name in enumerate(moving)}
    ordered = sorted(
        (e for e in stage.elements.values() if isinstance(e, Body)),
        key=lambda body: KINDS.index(_kind_of(body) if _is_held(body) else "rigid"),
    )
    return [
        {
            "name": body.name,
            "kind": _kind_of(body),
            "colour": colours.get(body.name),
            "is_fixed": isinstance(body, Ground),
            "parts": _look_up(_PARTS, replace(stage, owner=body.name), body) or [],
            "points": {k: tuple(v) for k, v in getattr(body, "points", {}).items()},
        }
        for body in ordered
    ]


def _is_held(body: Body) -> bool:
    return isinstance(body, Ground | MovingSupport)


def _kind_of(body: Body) -> str:
    if isinstance(body, Ground):
        return "ground"
    if isinstance(body, MovingSupport):
        return "support"
    return "point" if isinstance(body, PointMass) else "rigid"


def _shapes(stage: Stage, body: Body) -> list[Item]:
    """Return the shapes of a body, and the floor that a contact takes it for."""
    parts: list[Item] = []
    for shape in drawing.shapes_of(body):
        parts += _look_up(_PARTS, stage, shape)
    if drawing.is_floor(stage.elements.values(), body):
        parts += _look_up(_PARTS, stage, Line())
    return parts


def _outline(corners: Floats) -> list[Item]:
    """Return an area, or a bar between two points."""
    if len(corners) >= 3:
        return [{"kind": "polygon", "points": corners.tolist()}]
    if len(corners) == 2:
        start, end = corners.tolist()
        return [{"kind": "bar", "start": start, "end": end}]
    return []


@part(RigidBody)
def rigid_body(stage: Stage, body: RigidBody) -> list[Item]:
    """Draw the shapes; without any, a bar or a plate through points and centre."""
    parts = _shapes(stage, body)
    centre, points = (0.0, 0.0), list(body.points.values())
    if drawing.is_solid(body):
        # What sticks out of the shapes is held by bars.
        here = (0.0, 0.0, 0.0)
        bare = [
            p for p in points if drawing.is_bare(body, here, (p[0], p[1]), stage.unit)
        ]
        bars = [{"kind": "bar", "start": centre, "end": tuple(p)} for p in bare]
        return [*bars, *parts]
    corners = drawing.hull(np.array([centre, *points]))
    parts += _outline(corners)
    if len(corners) == 1 and body.name not in _blocks(stage):
        # A uniform disc of this mass and inertia.
        radius = math.sqrt(2.0 * body.inertia / body.mass)
        low, high = (size * stage.unit for size in DISC)
        radius = min(max(radius, low), high)
        parts.append({"kind": "circle", "center": centre, "radius": radius})
    return parts


def _blocks(stage: Stage) -> set[str]:
    """Return the bodies that are drawn as the block of a guide."""
    joints = stage.system.model.joints
    return {stage.body(j.b).name for j in joints if isinstance(j, Prismatic)}


@part(PointMass)
def point_mass(stage: Stage, body: PointMass) -> list[Item]:
    """Draw a disc, or a block on the surface that it may touch."""
    for spot in stage.system.spots:
        if spot.body != body.name:
            continue
        normal = places(spot, stage.poses, stage.n)[1]
        angle = np.unwrap(np.arctan2(normal[:, 1], normal[:, 0]))
        if np.ptp(angle) < STILL:
            phi, (high, half) = float(angle[0]), MASS
            box = [(0.0, -half), (high, -half), (high, half), (0.0, half)]
            c, s = math.cos(phi) * stage.unit, math.sin(phi) * stage.unit
            points = [(c * x - s * y, s * x + c * y) for x, y in box]
            return [{"kind": "polygon", "points": points}]
    return [{"kind": "dot", "center": (0.0, 0.0)}]


@part(MovingSupport)
def moving_support(stage: Stage, body: MovingSupport) -> list[Item]:
    """Draw the shapes of a support, and its points as a bar or plate."""
    if platform := _platform(stage, body):
        return platform
    parts = _shapes(stage, body)
    corners = drawing.hull(np.array([(0.0, 0.0), *body.points.values()]))
    outline = _outline(corners)
    if not outline and not parts:
        outline = _outline(np.array(drawing.SQUARE) * SUPPORT * stage.unit)
    for item in outline:
        if item["kind"] == "polygon":
            item["is_hatched"] = True
    return [*outline, *parts]


def _platform(stage: Stage, body: MovingSupport) -> list[Item]:
    """Return a floor that moves to and fro as a plate under all that touches it."""
    if body.shapes or body.points:
        return []
    spots = [spot for spot in stage.system.spots if spot.owner == body.name]
    if not spots or any(spot.surface != Line() for spot in spots):
        return []
    pose = stage.poses[body.name]
    touched = [to_local(pose, _touching(stage, spot))[:, 0] for spot in spots]
    begin, end = _extremes(np.concatenate(touched))
    low, high = _extremes(pose[:, 0])
    # A belt that runs on has no ends in sight.
    if high - low >= PLATFORM * (end - begin):
        return []
    pad, thick = THICK[0] * stage.unit, THICK[1] * (end - begin)
    begin, end, depth = begin - pad - thick, end + pad + thick, max(pad, thick)
    corners = [(begin, -depth), (end, -depth), (end, 0.0), (begin, 0.0)]
    return [{"kind": "polygon", "points": corners, "is_hatched": True}]


@part(Body)
def any_body(stage: Stage, body: Body) -> list[Item]:
    """Draw the shapes; else the ground shows where something is fixed to it."""
    return _shapes(stage, body)


# ---- shapes --------------------------------------------------------------------


@part(Shape)
def any_shape(stage: Stage, shape: Shape) -> list[Item]:
    """Draw a shape of the user's own by its corners."""
    corners, radius = shape.corners(), shape.radius_of_corners()
    parts: list[Item] = []
    if radius > 0.0:
        discs = [{"kind": "circle", "center": c, "radius": radius} for c in corners]
        parts += [stage.hatched(disc) for disc in discs]
    if len(corners) > 1:
        for item in _outline(drawing.hull(np.array(corners))):
            parts.append(stage.hatched(item) if item["kind"] == "polygon" else item)
    return parts


@part(Polygon)
def polygon(stage: Stage, shape: Polygon) -> list[Item]:
    """Draw the area."""
    return [stage.hatched({"kind": "polygon", "points": shape.vertices})]


@part(Circle)
def circle(stage: Stage, shape: Circle) -> list[Item]:
    """Draw the area."""
    item = {"kind": "circle", "center": shape.center, "radius": shape.radius}
    return [stage.hatched(item)]


@part(Segment)
def segment(stage: Stage, shape: Segment) -> list[Item]:
    """Draw the face."""
    return [stage.hatched({"kind": "segment", "start": shape.start, "end": shape.end})]


@part(Line)
def line(stage: Stage, shape: Line) -> list[Item]:
    """Draw the face: without ends, or on a body where something can touch it."""
    if stage.is_support:
        item = {"kind": "line", "point": shape.point, "angle": shape.angle}
        return [stage.hatched(item)]
    direction = np.array([math.cos(shape.angle), math.sin(shape.angle)])
    point, owner = np.array(shape.point), stage.poses[stage.owner]
    along = [
        _extremes((to_local(owner, _touching(stage, spot)) - point) @ direction)
        for spot in stage.system.spots
        if spot.owner == stage.owner and spot.surface == shape
    ]
    if not along:
        return []
    begin, end = min(a for a, _ in along), max(b for _, b in along)
    body, here = stage.body(stage.owner), (0.0, 0.0, 0.0)
    corners = np.concatenate([*map(drawing.corners_of, drawing.shapes_of(body))])
    low, high = _extremes((corners - point) @ direction)
    edge = [point + x * direction for x in (low, high)]
    is_edge = (
        low <= begin
        and end <= high
        and not any(
            drawing.is_bare(body, here, (float(x), float(y)), stage.unit)
            for x, y in edge
        )
    )
    # An edge of a solid body; else as long as what touches it.
    pad = BEYOND * stage.unit
    ends = [begin - pad, end + pad]
    if is_edge:
        ends = [low, high]
    first, last = ((point + x * direction).tolist() for x in ends)
    return [{"kind": "segment", "start": first, "end": last}]


def _touching(stage: Stage, spot: Spot) -> Floats:
    return places(spot, stage.poses, stage.n)[0]


# ---- joints, drives, forces ----------------------------------------------------


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
            own = _look_up(_GLYPHS, stage, element)
            item: Item = {
                "kind": own.pop("kind"),
                "family": family,
                "name": element.name,
                "a": stage.marker(element.a),
                "b": stage.marker(element.b),
                **own,
            }
            if element.name in with_mode:
                item["mode"] = f"{element.name}.mode"
            columns = [f"{element.name}.{c}" for c in ("force_x", "force_y", "torque")]
            if all(column in stage.values for column in columns[:2]):
                item["force"] = columns[:2]
            if columns[2] in stage.values:
                item["torque"] = columns[2]
            found.append(item)
    return found


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
    corners = block_corners(joint, stage.unit) + np.array(stage.point(joint.b))
    here = (0.0, 0.0, 0.0)
    if drawing.is_outlined(stage.body(joint.b), here, corners, stage.unit):
        item["has_block"] = False
    return item


def block_corners(joint: Prismatic, unit: float) -> Floats:
    """Return the corners of a block, from b, in the frame of b's body, m."""
    turn = joint.axis - joint.angle
    c, s = math.cos(turn), math.sin(turn)
    box = np.array(drawing.SQUARE) * drawing.block_size(joint, unit)
    return box @ np.array([[c, s], [-s, c]])


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
    return {"kind": kind, "pivot": stage.pivot(element)}


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
    return {"kind": "couple", "pivot": stage.pivot(element)}


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
    return {"kind": "spiral", "pivot": stage.pivot(element)}


# ---- spots ---------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Place:
    """A spot and the columns that only its drawing needs."""

    spot: Item
    derived: list[Item]
    columns: dict[str, Floats]


def spots(stage: Stage) -> Iterator[Place]:
    """Return where contacts and joints with friction press."""
    sticks = contacts.can_stick(stage.system)
    for spot in stage.system.spots:
        yield _contact(stage, spot, sticks[spot.name])
    for name in stage.system.slides:
        joint = stage.elements[name]
        if isinstance(joint, Revolute):
            yield _pin(stage, joint, sticks[name])
        elif isinstance(joint, PinInSlot):
            yield _slider(stage, joint, sticks[name])
        elif isinstance(joint, Prismatic):
            yield from _block(stage, joint, sticks[name])


def _columns(name: str, place: Floats, normal: Floats) -> dict[str, Floats]:
    pairs = zip(PLACE, (*place.T, *normal.T), strict=True)
    return {f"{name}.{c}": values for c, values in pairs}


def _item(name: str, element: str, family: str, can_stick: bool) -> Item:
    return {
        "name": name,
        "element": element,
        "family": family,
        "can_stick": can_stick,
        "mode": f"{element}.mode",
        **{
            key: f"{name}.{c}"
            for key, c in zip(("x", "y", "nx", "ny"), PLACE, strict=True)
        },
        "normal": f"{name}.normal_force",
        "friction": f"{name}.friction_force",
    }


def _contact(stage: Stage, spot: Spot, can_stick: bool) -> Place:
    place, normal = places(spot, stage.poses, stage.n)
    family = "joint" if isinstance(stage.elements[spot.element], Joint) else "contact"
    item = _item(spot.name, spot.element, family, can_stick)
    item["mode"] = f"{spot.name}.mode"
    columns = _columns(spot.name, place, normal)
    derived: list[Item] = []
    if spot.body in stage.poses:
        item["at"] = {
            "body": spot.body,
            "point": spot.centre,
            "radius": spot.radius,
        }
        if spot.radius == 0.0:
            # A point of a body moves with it.
            for key in ("x", "y"):
                del columns[f"{spot.name}.place_{key}"]
                point = {"body": spot.body, "point": spot.centre, "quantity": key}
                name = f"{spot.name}.place_{key}"
                derived.append({"name": name, "unit": "m", **point, "hidden": True})
    return Place(spot=item, derived=derived, columns=columns)


def _pin(stage: Stage, joint: Revolute, can_stick: bool) -> Place:
    """Return where a pin presses: at its rim, against its force."""
    name = joint.name
    radius = max(joint.radius or 0.0, drawing.PIN * stage.unit)
    force = np.column_stack([stage.values[f"{name}.force_{c}"] for c in "xy"])
    size = np.hypot(force[:, 0], force[:, 1])[:, None]
    up = np.broadcast_to(np.array([0.0, 1.0]), force.shape)
    normal = np.divide(force, size, out=np.array(up), where=size > 0.0)
    place = stage.pose(joint.b)[:, :2] - radius * normal
    item = _item(name, name, "joint", can_stick)
    return Place(spot=item, derived=[], columns=_columns(name, place, normal))


def _slider(stage: Stage, joint: PinInSlot, can_stick: bool) -> Place:
    name, normal = joint.name, stage.normal(joint)
    # lam > 0 pushes along n: the slider rests on the flank below.
    side = np.sign(stage.values[f"{name}.normal_force"])[:, None]
    high = drawing.SLIDER[1] * stage.unit
    place = stage.pose(joint.b)[:, :2] - side * high * normal
    item = _item(name, name, "joint", can_stick)
    return Place(spot=item, derived=[], columns=_columns(name, place, normal))


def _block(stage: Stage, joint: Prismatic, can_stick: bool) -> Iterator[Place]:
    """Return where the ends of a block press; they share its friction."""
    values, normal = stage.values, stage.normal(joint)
    along = np.column_stack([normal[:, 1], -normal[:, 0]])
    half, high = drawing.block_size(joint, stage.unit)
    front, rear = (values[f"{joint.name}.{end}_force"] for end in ("front", "rear"))
    load = np.abs(front) + np.abs(rear)
    whole = np.full(stage.n, 0.5)
    share = np.divide(np.abs(front), load, out=whole, where=load > 0.0)
    friction = values[f"{joint.name}.friction_force"]
    for end, sign, force, part in (
        ("front", 1.0, front, share),
        ("rear", -1.0, rear, 1.0 - share),
    ):
        name = f"{joint.name}.{end}"
        side = np.where(force < 0.0, -1.0, 1.0)[:, None]
        place = stage.pose(joint.b)[:, :2] + sign * half * along
        place = place - side * high * normal
        item = _item(name, joint.name, "joint", can_stick)
        item["normal"] = f"{joint.name}.{end}_force"
        columns = _columns(name, place, normal)
        columns[item["friction"]] = part * friction
        yield Place(spot=item, derived=[], columns=columns)
