"""What the viewer draws of bodies: areas, bars, faces, as `web/src/format.ts` says.

To give a kind of body or shape its own look, register a function of its parts here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
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
from nonsmooth.elements.shapes import Circle, Line, Point, Polygon, Segment, Shape
from nonsmooth.views import drawing
from nonsmooth.views.stage import Looks, Stage, extremes

Floats = NDArray[np.float64]
Item = dict[str, Any]  # an object of the document

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

KINDS = ("ground", "support", "rigid", "flexible", "point")  # of bodies

part: Looks[Stage, list[Item]] = Looks()


# ---- bodies ----------------------------------------------------------------------


def bodies(stage: Stage, meshes: Mapping[str, Item]) -> list[Item]:
    """Return all bodies, the ground first, then supports, then what moves.

    `meshes` has the numbers of those that are drawn as meshes.
    """
    ordered = sorted(
        (e for e in stage.elements if isinstance(e, Body)),
        key=lambda body: KINDS.index(
            _kind_of(stage, body) if stage.is_held(body.name) else "rigid"
        ),
    )
    return [
        {
            "name": body.name,
            "kind": _kind_of(stage, body),
            "colour": stage.colours.get(body.name),
            "is_fixed": isinstance(body, Ground),
            "parts": [
                item | meshes.get(body.name, {}) if item["kind"] == "mesh" else item
                for item in parts_of(stage, body)
            ],
            "points": {k: tuple(v) for k, v in getattr(body, "points", {}).items()},
            **(
                {"frame": stage.held[body.name].tolist()}
                if body.name in stage.held
                else {}
            ),
        }
        for body in ordered
    ]


def parts_of(stage: Stage, body: Body) -> list[Item]:
    """Return what a body looks like, in its frame."""
    return part.draw(replace(stage, owner=body.name), body) or []


def _kind_of(stage: Stage, body: Body) -> str:
    if isinstance(body, Ground):
        return "ground"
    if body.name in stage.flexible:
        return "flexible"
    if isinstance(body, MovingSupport):
        return "support"
    return "point" if isinstance(body, PointMass) else "rigid"


def _shapes(stage: Stage, body: Body) -> list[Item]:
    """Return the shapes of a body, and the floor that a contact takes it for."""
    parts: list[Item] = []
    for shape in drawing.shapes_of(body):
        parts += part.draw(stage, shape) or []
    if body.name in stage.floors:
        parts += part.draw(stage, Line()) or []
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
    if body.name in stage.flexible and body.name in stage.skins:
        return [{"kind": "mesh"}]
    if body.name in stage.skins:
        # An elastic block: its mesh takes the place of the shape that shows it.
        corners = stage.skins[body.name].corners
        others = {
            k: shape
            for k, shape in body.shapes.items()
            if not drawing.has_corners(shape, corners, stage.unit)
        }
        return [{"kind": "mesh"}, *_shapes(stage, replace(body, shapes=others))]
    parts = _shapes(stage, body)
    centre, points = (0.0, 0.0), list(body.points.values())
    if drawing.is_solid(body):
        # What sticks out of the shapes is held by bars, and so are shapes that a bar
        # would not reach, as the head of a hammer.
        bare = [p for p in points if drawing.is_bare(body, p, stage.unit)]
        if bare and drawing.is_bare(body, centre, stage.unit):
            # They meet at the centre, from where bars lead on to the shapes.
            bare += [_middle(shape) for shape in body.shapes.values()]
            ends = drawing.hull(np.array([centre, *bare]))
            if len(bare) == 2 and len(ends) == 2:
                return [*_outline(ends), *parts]  # a rod, without a seam
        bars = [{"kind": "bar", "start": centre, "end": tuple(p)} for p in bare]
        return [*bars, *parts]
    corners = drawing.hull(np.array([centre, *points]))
    parts += _outline(corners)
    if len(corners) == 1 and body.name not in stage.blocks:
        # A uniform disc of this mass and inertia.
        radius = math.sqrt(2.0 * body.inertia / body.mass)
        low, high = (size * stage.unit for size in DISC)
        radius = min(max(radius, low), high)
        parts.append({"kind": "circle", "center": centre, "radius": radius})
    return parts


def _middle(shape: Shape) -> Point:
    """Return a place inside a shape; the centre of the frame if it has no end."""
    corners = shape.corners()
    x, y = np.mean(corners, axis=0).tolist() if corners else (0.0, 0.0)
    return x, y


@part(PointMass)
def point_mass(stage: Stage, body: PointMass) -> list[Item]:
    """Draw a disc, or a block on the surface that it may touch."""
    for spot in stage.system.spots:
        if spot.body != body.name:
            continue
        normal = stage.touching(spot)[1]
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
    touched = [stage.touched(spot)[:, 0] for spot in spots]
    begin, end = extremes(np.concatenate(touched))
    low, high = extremes(pose[:, 0])
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


# ---- shapes ----------------------------------------------------------------------


def _hatched(stage: Stage, item: Item) -> Item:
    """Return a part, hatched on the ground and on supports."""
    return {**item, "is_hatched": True} if stage.is_held(stage.owner) else item


@part(Shape)
def any_shape(stage: Stage, shape: Shape) -> list[Item]:
    """Draw a shape of the user's own by its corners."""
    corners, radius = shape.corners(), shape.radius_of_corners()
    parts: list[Item] = []
    if radius > 0.0:
        discs = [{"kind": "circle", "center": c, "radius": radius} for c in corners]
        parts += [_hatched(stage, disc) for disc in discs]
    if len(corners) > 1:
        for item in _outline(drawing.hull(np.array(corners))):
            parts.append(_hatched(stage, item) if item["kind"] == "polygon" else item)
    return parts


@part(Polygon)
def polygon(stage: Stage, shape: Polygon) -> list[Item]:
    """Draw the area."""
    return [_hatched(stage, {"kind": "polygon", "points": shape.vertices})]


@part(Circle)
def circle(stage: Stage, shape: Circle) -> list[Item]:
    """Draw the area."""
    item = {"kind": "circle", "center": shape.center, "radius": shape.radius}
    return [_hatched(stage, item)]


@part(Segment)
def segment(stage: Stage, shape: Segment) -> list[Item]:
    """Draw the face."""
    return [
        _hatched(stage, {"kind": "segment", "start": shape.start, "end": shape.end})
    ]


@part(Line)
def line(stage: Stage, shape: Line) -> list[Item]:
    """Draw the face: without ends, or on a body where something can touch it."""
    if stage.is_held(stage.owner):
        item = {"kind": "line", "point": shape.point, "angle": shape.angle}
        return [_hatched(stage, item)]
    direction = np.array([math.cos(shape.angle), math.sin(shape.angle)])
    point = np.array(shape.point)
    along = [
        extremes((stage.touched(spot) - point) @ direction)
        for spot in stage.system.spots
        if spot.owner == stage.owner and spot.surface == shape
    ]
    if not along:
        return []
    begin, end = min(a for a, _ in along), max(b for _, b in along)
    body = stage.body(stage.owner)
    corners = np.concatenate([*map(drawing.corners_of, drawing.shapes_of(body))])
    low, high = extremes((corners - point) @ direction)
    edge = [point + x * direction for x in (low, high)]
    is_edge = (
        low <= begin
        and end <= high
        and not any(
            drawing.is_bare(body, (float(x), float(y)), stage.unit) for x, y in edge
        )
    )
    # An edge of a solid body; else as long as what touches it.
    pad = BEYOND * stage.unit
    ends = [begin - pad, end + pad]
    if is_edge:
        ends = [low, high]
    first, last = ((point + x * direction).tolist() for x in ends)
    return [{"kind": "segment", "start": first, "end": last}]
