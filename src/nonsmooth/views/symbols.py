"""A symbol for every kind of element and shape, as a sketch draws it.

A symbol is a function of a `Sketch` and an element. To give a kind its own, add it
here:

    @symbol(MySpring)
    def my_spring(s: Sketch, element: MySpring) -> None:
        s.line([s.point(element.a), s.point(element.b)])

For a shape, `s.owner` is the body that has it and `s.on_owner` leads to its frame.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.bodies import (
    Body,
    Ground,
    MovingSupport,
    PointMass,
    RigidBody,
)
from nonsmooth.elements.contacts import Contact
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
from nonsmooth.elements.shapes import Circle, Line, Polygon, Segment, Shape
from nonsmooth.views import drawing
from nonsmooth.views.bearings import Bearing
from nonsmooth.views.board import BODIES, DRIVES, FORCES, GUIDES, PINS, RIM, Sketch
from nonsmooth.views.drawing import PIN, SLIDER
from nonsmooth.views.figure import INK, MODES, PALE, PALETTE
from nonsmooth.views.places import to_local
from nonsmooth.views.stage import Looks

Floats = NDArray[np.float64]

OPEN_MARK = 0.75  # of the radius of the mark of a contact
# Half the width of a bare slot, in units.
SLOT = 0.5
# By how much a guide or slot is longer than the way of what slides in it, in units.
BEYOND = 1.4
# Thickness of the mark where a slider bears, beside the radius of other marks.
BEARING = 0.6

symbol: Looks[Sketch, None] = Looks()


# ---- bodies ----------------------------------------------------------------------


def _draw_shapes(s: Sketch, body: Body) -> None:
    """Draw the shapes of a body, and the floor that a contact takes it for."""
    s = replace(s, owner=body.name)
    for shape in drawing.shapes_of(body):
        symbol.draw(s, shape)
    if body.name in s.stage.floors:
        symbol.draw(s, Line())


@symbol(RigidBody)
def rigid_body(s: Sketch, body: RigidBody) -> None:
    """Draw the shapes; without any, a bar or a plate through points and centre."""
    centre = s.point(body.name)
    colour = s.colour_of(body.name)
    points = [s.point(f"{body.name}.{name}") for name in body.points]
    _draw_shapes(s, body)
    if drawing.is_solid(body):
        # What sticks out of the shapes is held by bars.
        places = [(0.0, 0.0), *body.points.values()]
        for place, point in zip(places, [centre, *points], strict=True):
            if drawing.is_bare(body, place, s.unit):
                s.line([centre, point], colour, s.bar, BODIES)
        s.text(centre, body.name, colour)
        return
    corners = drawing.hull(np.array([centre, *points]))
    if len(corners) >= 3:
        width = max(1.5, 0.4 * s.bar)
        s.polygon(corners, colour, colour, 0.25, width, BODIES, is_clear=True)
    elif len(corners) == 2:
        s.line(corners, colour, s.bar, BODIES)
        s.line(corners, colour, max(0.4, s.bar - 2.0), BODIES, 0.4)
    elif body.name not in s.stage.blocks:
        # A uniform disc of this mass and inertia, and a radius that shows it turn.
        radius = math.sqrt(2.0 * body.inertia / body.mass)
        radius = min(max(radius, s.unit), 8.0 * s.unit)
        s.disc(centre, radius, colour, colour, 0.22, 1.5, BODIES)
        end = s.place(centre, s.pose(body.name)[2], [(radius / s.unit, 0.0)])[0]
        s.line([centre, end], colour, 1.2, BODIES)
    is_apart = all(np.hypot(*(p - centre)) > 0.8 * s.unit for p in points)
    if is_apart and body.name not in s.stage.blocks and s.bar > 2.0:
        s.disc(centre, 0.2 * s.unit, INK, INK, 1.0, 0.5, BODIES)
    s.text(centre, body.name, colour)


@symbol(PointMass)
def point_mass(s: Sketch, body: PointMass) -> None:
    """Draw a disc, or a block on the surface that it may touch."""
    colour = s.colour_of(body.name)
    own = [spot for spot in s.stage.system.spots if spot.body == body.name]
    if own:
        foot, normal = (found[s.k] for found in s.stage.touching(own[0]))
        box = [(0.0, -1.3), (2.2, -1.3), (2.2, 1.3), (0.0, 1.3)]
        corners = s.place(foot, math.atan2(normal[1], normal[0]), box)
        s.polygon(corners, colour, colour, 0.4, 1.5, BODIES, is_clear=True)
    else:
        s.disc(s.point(body.name), 0.8 * s.unit, colour, colour, 0.6, 1.2, BODIES)
    s.text(s.point(body.name), body.name, colour)


@symbol(MovingSupport)
def moving_support(s: Sketch, body: MovingSupport) -> None:
    """Draw the shapes of a support, and its points as a grey bar or plate."""
    points = [s.point(body.name), *(s.point(f"{body.name}.{p}") for p in body.points)]
    corners = drawing.hull(np.array(points))
    _draw_shapes(s, body)
    if len(corners) >= 3:
        s.polygon(corners, PALE, PALE, 0.25, 1.2, BODIES, "///")
    elif len(corners) == 2:
        s.line(corners, PALE, s.bar, BODIES, 0.6)
    elif not body.shapes:
        # Under its floor, if it has one, the box shows how the support moves along.
        low = -1.8 if body.name in s.stage.floors else -0.9
        box = [(-0.9, low), (0.9, low), (0.9, low + 1.8), (-0.9, low + 1.8)]
        large = replace(s, unit=s.stand_unit)
        square = large.place(points[0], s.pose(body.name)[2], box)
        s.polygon(square, PALE, PALE, 0.25, 1.2, BODIES)
    s.text(points[0], body.name, PALE)


@symbol(Ground)
def ground(s: Sketch, body: Ground) -> None:
    """Draw the shapes; else the ground shows where something is fixed to it."""
    if s.ink == 1.0:
        _draw_shapes(s, body)


# ---- shapes, and where they touch ------------------------------------------------


def _area(s: Sketch, points: Floats) -> None:
    """Draw the area of a shape, hatched on a support."""
    colour = s.colour_of(s.owner)
    if s.is_support:
        s.polygon(points, PALE, PALE, 0.15, 1.2, GUIDES, "///")
    else:
        width = max(1.2, 0.25 * s.bar)
        s.polygon(points, colour, colour, 0.25, width, BODIES, is_clear=True)


@symbol(Shape)
def outline(s: Sketch, shape: Shape) -> None:
    """Draw a shape of the user's own by its corners."""
    corners, radius = s.on_owner(shape.corners()), shape.radius_of_corners()
    for corner in corners if radius > 0.0 else ():
        _area(s, corner + radius * RIM)
    if len(corners) > 2:
        _area(s, drawing.hull(corners))
    elif len(corners) == 2:
        s.line(corners, s.colour_of(s.owner), 1.5, BODIES)


@symbol(Polygon)
def polygon(s: Sketch, shape: Polygon) -> None:
    """Draw the area."""
    _area(s, s.on_owner(shape.vertices))


@symbol(Circle)
def circle(s: Sketch, shape: Circle) -> None:
    """Draw the area, with a radius that shows it turn."""
    _area(s, s.on_owner(np.asarray(shape.center) + shape.radius * RIM))
    if not s.is_support:
        x, y = shape.center
        radius = s.on_owner([(x, y), (x + shape.radius, y)])
        s.line(radius, s.colour_of(s.owner), 1.0, BODIES)


@symbol(Segment)
def segment(s: Sketch, shape: Segment) -> None:
    """Draw the face, hatched behind on a support."""
    ends = s.on_owner([shape.start, shape.end])
    if s.is_support:
        s.hatch(*ends)
    else:
        s.line(ends, s.colour_of(s.owner), max(1.2, 0.5 * s.bar), BODIES)


@symbol(Line)
def line(s: Sketch, shape: Line) -> None:
    """Draw the face: all along the picture, or where something can touch it."""
    direction = np.array([math.cos(shape.angle), math.sin(shape.angle)])
    point = np.array(shape.point)
    if s.is_support:
        seen = to_local(s.stage.frame(s.owner)[s.k], s.places)
    else:
        spots = [x for x in s.stage.system.spots if x.owner == s.owner]
        touched = [s.stage.touched(x) for x in spots if x.surface == shape]
        seen = np.concatenate([*touched, np.zeros((0, 2))])
    if len(seen) == 0:
        return
    along = (seen - point) @ direction
    large = replace(s, unit=s.stand_unit)
    pad = 3.0 * large.unit
    begin, end = float(np.min(along)) - pad, float(np.max(along)) + pad
    ends = s.on_owner([point + begin * direction, point + end * direction])
    if s.is_support and s.ink == 1.0:
        large.hatch(*ends)
    else:
        s.line(ends, s.colour_of(s.owner), 1.2, GUIDES)


def _touch(s: Sketch, bearing: Bearing) -> None:
    """Draw a disc in the colour of the mode where something presses, and the forces."""
    mode = s.mode(bearing.owner)
    # Outlines have many spots, most of them open.
    radius = OPEN_MARK * s.mark if mode == "open" else s.mark
    if bearing.spot or s.value(bearing.force) != 0.0:
        s.disc(bearing.place[s.k], radius, INK, MODES[mode], 1.0, 1.0, PINS)
    s.press(bearing)


@symbol(Contact)
def contact(s: Sketch, element: Contact) -> None:
    """Draw the places where bodies may touch."""
    found = s.bearings[element.name]
    if all(b.spot and b.spot.is_flat for b in found):
        # Of many pieces only those that touch, or one that may.
        touching = [b for b in found if s.mode(b.owner) != "open"]
        found = touching or found[:1]
    for bearing in found:
        _touch(s, bearing)
    s.text(found[0].place[s.k], element.name)


# ---- joints ----------------------------------------------------------------------


@symbol(Joint)
def any_joint(s: Sketch, joint: Joint) -> None:
    """Draw a pin."""
    s.pin(joint.b, joint.a)
    s.text(s.point(joint.b), joint.name)


@symbol(Revolute)
def revolute(s: Sketch, joint: Revolute) -> None:
    """Draw a pin, with friction in the colour of its mode; its force at the rim."""
    centre, radius = s.point(joint.b), max(joint.radius or 0.0, PIN * s.unit)
    s.pin(joint.b, joint.a, radius)
    for bearing in s.bearings.get(joint.name, ()):
        s.disc(centre, radius, INK, MODES[s.mode(joint.name)], width=s.pen)
        s.press(bearing)
    # The name stands beside the rim of a large pin.
    s.text(centre + math.sqrt(0.5) * (radius - PIN * s.unit), joint.name)


@symbol(Prismatic)
def prismatic(s: Sketch, joint: Prismatic) -> None:
    """Draw a block in a guide, and where its ends bear."""
    half, high = drawing.block_size(joint, s.unit)
    gap = 0.5 * (joint.clearance or 0.0)
    has_size = joint.length is not None
    s.guide(joint, high + gap, half + BEYOND * s.unit, has_size)
    corners = s.stage.block(joint, s.unit)[s.k]
    colour = s.colour_of(joint.b)
    if not s.stage.shows_block(joint):
        s.polygon(corners, colour, colour, 0.3, 1.5, BODIES, is_clear=True)
    for bearing in s.bearings.get(joint.name, ()):
        _touch(s, bearing)
    # The name stands beside the front lower corner, the body's in the middle.
    s.text(corners[1] if has_size else s.point(joint.b), joint.name)


@symbol(PinInSlot)
def pin_in_slot(s: Sketch, joint: PinInSlot) -> None:
    """Draw a slot and the pin in it, with friction on a slider, and where it bears."""
    pad, centre = (SLIDER[0] + BEYOND) * s.unit, s.point(joint.b)
    if joint.name not in s.bearings:
        s.guide(joint, SLOT * s.unit, pad, True)
        s.disc(centre, PIN * s.unit, width=s.pen)
        s.text(centre, joint.name)
        return
    half, high = (size * s.unit for size in SLIDER)
    s.guide(joint, high, pad, True)
    up = s.stage.normal(joint)[s.k]
    along = np.array([up[1], -up[0]])
    box = [x * half * along + y * high * up for x, y in drawing.SQUARE]
    colour, mode = s.colour_of(joint.b), s.mode(joint.name)
    s.polygon(centre + box, colour, colour, 0.35, 1.2, FORCES)
    for bearing in s.bearings[joint.name]:
        foot, normal = bearing.place[s.k], s.value(bearing.force)
        if normal != 0.0:
            deep = math.copysign(BEARING * s.mark, normal) * up
            ends = np.array([foot - half * along, foot + half * along])
            strip = [*ends, *(ends + deep)[::-1]]
            s.polygon(strip, INK, MODES[mode], 1.0, 0.8, PINS)
        s.press(bearing)
    s.disc(centre, PIN * s.unit, INK, MODES[mode], width=s.pen)
    s.text(centre, joint.name)


@symbol(Weld)
def weld(s: Sketch, joint: Weld) -> None:
    """Draw a square, on hatching where it is fixed."""
    x, y, angle = s.pose(joint.b)
    box = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
    if s.ink == 1.0 and (s.stage.is_ground(joint.a) or s.stage.is_ground(joint.b)):
        turn = s.down + 0.5 * math.pi
        s.hatch(*s.place((x, y), turn, [(-1.3, -0.5), (1.3, -0.5)]))
    s.polygon(s.place((x, y), angle, box), INK, INK, 1.0, 1.0, PINS)
    s.text((x, y), joint.name)


@symbol(Distance)
def distance(s: Sketch, joint: Distance) -> None:
    """Draw a thin rod with a pin at both ends."""
    ends = [s.point(joint.a), s.point(joint.b)]
    s.line(ends, INK, 1.5, BODIES)
    s.pin(joint.a, joint.a)
    s.pin(joint.b, joint.b)
    s.text(0.5 * (ends[0] + ends[1]), joint.name)


# ---- drives: what the engine prescribes ------------------------------------------


@symbol(Drive)
def drive(s: Sketch, element: Drive) -> None:
    """Draw a ring round the driven point."""
    s.disc(s.point(element.b), 1.1 * s.unit, PALETTE[1], None, 1.0, 1.6, DRIVES)
    s.text(s.point(element.b), element.name, PALETTE[1])


@symbol(RotationDrive)
def rotation_drive(s: Sketch, element: RotationDrive) -> None:
    """Draw an arrow round the joint, in the positive sense."""
    centre = s.point(s.stage.pivot(element))
    s.turn_arrow(centre, 1.0, PALETTE[1])
    s.text(centre, element.name, PALETTE[1])


@symbol(TranslationDrive)
def translation_drive(s: Sketch, element: TranslationDrive) -> None:
    """Draw an arrow along the driven direction."""
    angle = s.pose(element.a)[2] + element.axis
    tail, head = s.place(s.point(element.b), angle, [(1.9, 0.0), (5.0, 0.0)])
    s.arrow(tail, head, PALETTE[1])
    s.text(head, element.name, PALETTE[1])


# ---- forces ----------------------------------------------------------------------


@symbol(Force)
def force(s: Sketch, element: Force) -> None:
    """Draw a dashed line from a to b, or the arrow of a force on b alone."""
    if s.stage.is_ground(element.a):
        s.force_arrow(element)
    else:
        ends = [s.point(element.a), s.point(element.b)]
        s.line(ends, PALETTE[3], 1.2, FORCES, dashes="--")
        s.text(0.5 * (ends[0] + ends[1]), element.name, PALETTE[3])


@symbol(PointForce)
def point_force(s: Sketch, element: PointForce) -> None:
    """Draw the arrow of the force."""
    s.force_arrow(element)


@symbol(Couple)
def couple(s: Sketch, element: Couple) -> None:
    """Draw an arrow round the joint, in the sense of the torque."""
    torque = s.value(f"{element.name}.torque")
    if torque != 0.0:
        centre = s.point(s.stage.pivot(element))
        s.turn_arrow(centre, torque, PALETTE[3])
        s.text(centre, element.name, PALETTE[3])


@symbol(SpringDamper)
def spring_damper(s: Sketch, element: SpringDamper) -> None:
    """Draw a zigzag for stiffness, a dashpot for damping, side by side for both."""
    a, b = s.point(element.a), s.point(element.b)
    length = float(np.hypot(*(b - a))) / s.unit
    if length == 0.0:
        return
    direction = (b - a) / (length * s.unit)
    s.anchor(element.a, direction)
    s.anchor(element.b, -direction)
    angle = math.atan2(direction[1], direction[0])
    has_spring, has_damper = element.stiffness > 0.0, element.damping > 0.0
    aside = 0.75 if has_spring and has_damper else 0.0
    # Straight ends, as long as there is room for them.
    lead = min(1.2, 0.15 * length)
    shapes: list[Any] = []
    if has_spring or not has_damper:
        shapes.append(_zigzag(length, lead, aside))
    if has_damper:
        shapes += _dashpot(length, lead, -aside)
    for shape in shapes:
        s.line(s.place(a, angle, shape), PALETTE[2], 1.2)
    s.text(0.5 * (a + b), element.name, PALETTE[2])


def _zigzag(length: float, lead: float, aside: float) -> list[tuple[float, float]]:
    """Return a spring from (0, 0) to (length, 0), `aside` between its ends."""
    n = 7
    inner = np.linspace(2 * lead, length - 2 * lead, 2 * n)
    zigzag = np.where(np.arange(2 * n) % 2 == 0, 0.55, -0.55)
    zigzag[[0, -1]] = 0.0
    shape = [(0.0, 0.0), (lead, 0.0), (lead, aside)]
    shape += list(zip(inner.tolist(), (zigzag + aside).tolist(), strict=True))
    return [*shape, (length - lead, aside), (length - lead, 0.0), (length, 0.0)]


def _dashpot(
    length: float, lead: float, aside: float
) -> list[list[tuple[float, float]]]:
    """Return the lines of a damper from (0, 0) to (length, 0)."""
    half = min(1.1, 0.2 * length)
    low, high = 0.5 * length - half, 0.5 * length + half
    disc = 0.5 * length + 0.2 * half
    left, right = aside + 0.55, aside - 0.55
    return [
        [(0.0, 0.0), (lead, 0.0), (lead, aside), (low, aside)],
        [(disc, aside), (length - lead, aside)],
        [(length - lead, aside), (length - lead, 0.0), (length, 0.0)],
        [(disc, aside + 0.4), (disc, aside - 0.4)],
        [(high, left), (low, left), (low, right), (high, right)],
    ]


@symbol(TorsionSpring)
def torsion_spring(s: Sketch, element: TorsionSpring) -> None:
    """Draw a spiral at the joint."""
    centre = s.point(s.stage.pivot(element))
    angle = np.linspace(0.0, 4.5 * math.pi, 90)
    radius = 0.5 + 1.3 * angle / angle[-1]
    spiral = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    s.line(s.place(centre, s.pose(element.b)[2], spiral), PALETTE[2], 1.0)
    s.text(centre, element.name, PALETTE[2])
