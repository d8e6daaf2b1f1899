"""How a sketch paints what the viewer gets, too: parts of bodies, glyphs, bearings.

`views/parts.py` and `views/glyphs.py` decide what an element looks like; a painter
here puts it on paper, one in `web/src/scene/` on the screen. A painter of a part draws
on `s.owner`, the body that has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.base import Named
from nonsmooth.elements.bodies import Body, Ground
from nonsmooth.elements.contacts import Contact
from nonsmooth.views import drawing
from nonsmooth.views.bearings import Bearing
from nonsmooth.views.board import BODIES, DRIVES, FORCES, GUIDES, PINS, RIM, Sketch
from nonsmooth.views.drawing import PIN, SLIDER
from nonsmooth.views.figure import INK, MODES, PALE, PALETTE
from nonsmooth.views.meshes import Skin
from nonsmooth.views.parts import Item, parts_of
from nonsmooth.views.places import to_local

Floats = NDArray[np.float64]

OPEN_MARK = 0.75  # of the radius of the mark of a contact
# Half the width of a bare slot, in units.
SLOT = 0.5
# By how much a guide or slot is longer than the way of what slides in it, in units.
BEYOND = 1.4
# Thickness of the mark where a slider bears, beside the radius of other marks.
BEARING = 0.6


def paint(s: Sketch, element: Named, looks: Mapping[str, Item]) -> None:
    """Paint an element; joints, drives and forces have looks, by their names."""
    if isinstance(element, Body):
        _body(s, element)
    elif isinstance(element, Contact):
        _contact(s, element)
    elif element.name in looks:
        item = looks[element.name]
        kind = item["kind"]
        GLYPHS[kind if kind in GLYPHS else item["family"]](s, element, item)


# ---- bodies: the parts that the viewer draws --------------------------------------


def _body(s: Sketch, body: Body) -> None:
    """Draw the parts of a body."""
    is_ground = isinstance(body, Ground)
    if is_ground and s.ink < 1.0:
        return
    on_it = replace(s, owner=body.name)
    for item in parts_of(s.stage, body):
        PARTS[item["kind"]](on_it, item)
    if not is_ground:
        s.text(s.point(body.name), body.name, s.colour_of(body.name))


def _area(s: Sketch, item: Item, points: Floats) -> None:
    """Draw an area, hatched on a support."""
    if "is_hatched" in item:
        s.polygon(points, PALE, PALE, 0.2, 1.2, GUIDES, "///")
    else:
        colour, width = s.colour_of(s.owner), max(1.2, 0.25 * s.bar)
        s.polygon(points, colour, colour, 0.25, width, BODIES, is_clear=True)


def _polygon(s: Sketch, item: Item) -> None:
    _area(s, item, s.on_owner(item["points"]))


def _circle(s: Sketch, item: Item) -> None:
    """Draw a disc, with a radius that shows it turn."""
    (x, y), radius = item["center"], item["radius"]
    _area(s, item, s.on_owner(np.array([x, y]) + radius * RIM))
    if "is_hatched" not in item:
        ends = s.on_owner([(x, y), (x + radius, y)])
        s.line(ends, s.colour_of(s.owner), 1.0, BODIES)


def _segment(s: Sketch, item: Item) -> None:
    """Draw a face, hatched behind on a support."""
    ends = s.on_owner([item["start"], item["end"]])
    if "is_hatched" in item:
        s.hatch(*ends)
    else:
        s.line(ends, s.colour_of(s.owner), max(1.2, 0.5 * s.bar), BODIES)


def _line(s: Sketch, item: Item) -> None:
    """Draw a face without ends, all along the picture."""
    direction = np.array([math.cos(item["angle"]), math.sin(item["angle"])])
    point = np.array(item["point"])
    seen = to_local(s.stage.frame(s.owner)[s.k], s.places)
    along = (seen - point) @ direction
    large = replace(s, unit=s.stand_unit)
    pad = 3.0 * large.unit
    begin, end = float(np.min(along)) - pad, float(np.max(along)) + pad
    ends = s.on_owner([point + begin * direction, point + end * direction])
    if s.ink == 1.0:
        large.hatch(*ends)
    else:
        s.line(ends, s.colour_of(s.owner), 1.2, GUIDES)


def _bar(s: Sketch, item: Item) -> None:
    ends, colour = s.on_owner([item["start"], item["end"]]), s.colour_of(s.owner)
    s.line(ends, colour, s.bar, BODIES)
    s.line(ends, colour, max(0.4, s.bar - 2.0), BODIES, 0.4)


def _dot(s: Sketch, item: Item) -> None:
    centre, colour = s.on_owner([item["center"]])[0], s.colour_of(s.owner)
    s.disc(centre, 0.8 * s.unit, colour, colour, 0.6, 1.2, BODIES)


def _mesh(s: Sketch, item: Item) -> None:
    """Draw a deformed mesh, in the colours of a field if there is one."""
    skin, colour = s.stage.skins[s.owner], s.colour_of(s.owner)
    nodes = s.on_owner(s.stage.mesh(s.owner)[s.k])
    has_field = s.ink == 1.0 and s.owner in s.shades
    if has_field:
        values = s.shades[s.owner][s.k]
        for cell in skin.cells:
            s.shade(nodes[cell], float(values[cell].mean()))
    elif s.ink == 1.0:
        for ends in nodes[skin.sides]:
            s.line(ends, colour, 0.3, BODIES, 0.5)
    for rim in skin.rims:
        face = None if has_field or len(skin.rims) > 1 else colour
        s.polygon(nodes[rim], colour, face, 0.18, 0.9, BODIES, is_clear=True)
    if skin.faces and s.ink == 1.0:
        _pressure(s, skin, nodes)


def _pressure(s: Sketch, skin: Skin, nodes: Floats) -> None:
    """Draw the pressure on faces as an area behind them."""
    eta = s.stage.eta(s.owner)
    values = skin.fields["pressure"].at(eta)
    largest = float(np.max(values))
    origin, colour = s.on_owner([(0.0, 0.0)])[0], PALETTE[3]
    for face in skin.faces:
        size = np.maximum(values[s.k, face.nodes], 0.0) / (largest or 1.0)
        out = s.on_owner([face.normal])[0] - origin
        deep = nodes[face.nodes] + face.reach * size[:, None] * out
        if np.any(size > 0.0):
            strip = np.concatenate([nodes[face.nodes], deep[::-1]])
            s.polygon(strip, colour, colour, 0.35, 0.8, FORCES)


PARTS: dict[str, Callable[[Sketch, Item], None]] = {
    "polygon": _polygon,
    "circle": _circle,
    "segment": _segment,
    "line": _line,
    "bar": _bar,
    "dot": _dot,
    "mesh": _mesh,
}


# ---- where they touch ------------------------------------------------------------


def _touch(s: Sketch, bearing: Bearing) -> None:
    """Draw a disc in the colour of the mode where something presses, and the forces."""
    mode = s.mode(bearing.owner)
    # Outlines have many spots, most of them open.
    radius = OPEN_MARK * s.mark if mode == "open" else s.mark
    if bearing.spot or s.value(bearing.force) != 0.0:
        s.disc(bearing.place[s.k], radius, INK, MODES[mode], 1.0, 1.0, PINS)
    s.press(bearing)


def _contact(s: Sketch, element: Contact) -> None:
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


def _joint(s: Sketch, joint: Any, item: Item) -> None:
    """Draw a pin, with friction in the colour of its mode; its force at the rim."""
    centre, radius = s.point(joint.b), max(item.get("radius", 0.0), PIN * s.unit)
    s.pin(joint.b, joint.a, radius)
    for bearing in s.bearings.get(joint.name, ()):
        s.disc(centre, radius, INK, MODES[s.mode(joint.name)], width=s.pen)
        s.press(bearing)
    # The name stands beside the rim of a large pin.
    s.text(centre + math.sqrt(0.5) * (radius - PIN * s.unit), joint.name)


def _guide(s: Sketch, joint: Any, item: Item) -> None:
    """Draw a block in a guide, and where its ends bear."""
    half, high = drawing.block_size(joint, s.unit)
    has_size = "length" in item
    # That of an elastic block is enlarged as its deformation is, so that faces touch.
    enlarged = s.stage.scale if "is_elastic" in item else 1.0
    gap = 0.5 * enlarged * item.get("clearance", 0.0)
    s.guide(joint.a, item, high + gap, half + BEYOND * s.unit, has_size)
    corners = s.stage.block(joint, s.unit)[s.k]
    colour = s.colour_of(joint.b)
    if item.get("has_block", True):
        s.polygon(corners, colour, colour, 0.3, 1.5, BODIES, is_clear=True)
    for bearing in s.bearings.get(joint.name, ()):
        _touch(s, bearing)
    # The name stands beside the front lower corner, the body's in the middle.
    s.text(corners[1] if has_size else s.point(joint.b), joint.name)


def _slot(s: Sketch, joint: Any, item: Item) -> None:
    """Draw a slot and the pin in it, with friction on a slider, and where it bears."""
    pad, centre = (SLIDER[0] + BEYOND) * s.unit, s.point(joint.b)
    fill = "white"
    if "mode" not in item:
        s.guide(joint.a, item, SLOT * s.unit, pad, True)
    else:
        s.guide(joint.a, item, SLIDER[1] * s.unit, pad, True)
        fill = MODES[s.mode(joint.name)]
        _slider(s, joint, fill)
    s.disc(centre, PIN * s.unit, INK, fill, width=s.pen)
    s.text(centre, joint.name)


def _slider(s: Sketch, joint: Any, fill: str) -> None:
    """Draw the slider of a pin with friction, and a strip where it bears."""
    half, high = (size * s.unit for size in SLIDER)
    up = s.stage.normal(joint)[s.k]
    along = np.array([up[1], -up[0]])
    box = [x * half * along + y * high * up for x, y in drawing.SQUARE]
    colour = s.colour_of(joint.b)
    s.polygon(s.point(joint.b) + box, colour, colour, 0.35, 1.2, FORCES)
    for bearing in s.bearings[joint.name]:
        foot, normal = bearing.place[s.k], s.value(bearing.force)
        if normal != 0.0:
            deep = math.copysign(BEARING * s.mark, normal) * up
            ends = np.array([foot - half * along, foot + half * along])
            strip = [*ends, *(ends + deep)[::-1]]
            s.polygon(strip, INK, fill, 1.0, 0.8, PINS)
        s.press(bearing)


def _weld(s: Sketch, joint: Any, item: Item) -> None:
    """Draw a square, on hatching where it is fixed."""
    x, y, angle = s.pose(joint.b)
    if s.ink == 1.0 and (s.stage.is_ground(joint.a) or s.stage.is_ground(joint.b)):
        turn = s.down + 0.5 * math.pi
        s.hatch(*s.place((x, y), turn, [(-1.3, -0.5), (1.3, -0.5)]))
    box = 0.5 * np.array(drawing.SQUARE)
    s.polygon(s.place((x, y), angle, box), INK, INK, 1.0, 1.0, PINS)
    s.text((x, y), joint.name)


def _rod(s: Sketch, joint: Any, item: Item) -> None:
    """Draw a thin rod with a pin at both ends."""
    ends = [s.point(joint.a), s.point(joint.b)]
    s.line(ends, INK, 1.5, BODIES)
    s.pin(joint.a, joint.a)
    s.pin(joint.b, joint.b)
    s.text(0.5 * (ends[0] + ends[1]), joint.name)


# ---- drives: what the engine prescribes ------------------------------------------


def _drive(s: Sketch, element: Any, item: Item) -> None:
    """Draw a ring round the driven point."""
    s.disc(s.point(element.b), 1.1 * s.unit, PALETTE[1], None, 1.0, 1.6, DRIVES)
    s.text(s.point(element.b), element.name, PALETTE[1])


def _motor(s: Sketch, element: Any, item: Item) -> None:
    """Draw an arrow round the joint, in the positive sense."""
    centre = s.point(s.stage.pivot(element))
    s.turn_arrow(centre, 1.0, PALETTE[1])
    s.text(centre, element.name, PALETTE[1])


def _hold(s: Sketch, element: Any, item: Item) -> None:
    """Name what is but held."""
    s.text(s.point(element.b), element.name, PALETTE[1])


def _actuator(s: Sketch, element: Any, item: Item) -> None:
    """Draw an arrow along the driven direction."""
    angle = s.pose(element.a)[2] + item["axis"]
    tail, head = s.place(s.point(element.b), angle, [(1.9, 0.0), (5.0, 0.0)])
    s.arrow(tail, head, PALETTE[1])
    s.text(head, element.name, PALETTE[1])


# ---- forces ----------------------------------------------------------------------


def _force(s: Sketch, element: Any, item: Item) -> None:
    """Draw the arrow of a force on b."""
    s.force_arrow(element)


def _pair(s: Sketch, element: Any, item: Item) -> None:
    """Draw a dashed line from a to b."""
    ends = [s.point(element.a), s.point(element.b)]
    s.line(ends, PALETTE[3], 1.2, FORCES, dashes="--")
    s.text(0.5 * (ends[0] + ends[1]), element.name, PALETTE[3])


def _couple(s: Sketch, element: Any, item: Item) -> None:
    """Draw an arrow round the joint, in the sense of the torque."""
    torque = s.value(item["torque"])
    if torque != 0.0:
        centre = s.point(s.stage.pivot(element))
        s.turn_arrow(centre, torque, PALETTE[3])
        s.text(centre, element.name, PALETTE[3])


def _spring(s: Sketch, element: Any, item: Item) -> None:
    """Draw a zigzag for stiffness, a dashpot for damping, side by side for both."""
    a, b = s.point(element.a), s.point(element.b)
    length = float(np.hypot(*(b - a))) / s.unit
    if length == 0.0:
        return
    direction = (b - a) / (length * s.unit)
    s.anchor(element.a, direction)
    s.anchor(element.b, -direction)
    angle = math.atan2(direction[1], direction[0])
    has_damper = item.get("has_damper", False)
    has_spring = item.get("has_spring", not has_damper)
    aside = 0.75 if has_spring and has_damper else 0.0
    # Straight ends, as long as there is room for them.
    lead = min(1.2, 0.15 * length)
    shapes: list[Any] = []
    if has_spring:
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


def _spiral(s: Sketch, element: Any, item: Item) -> None:
    """Draw a spiral at the joint."""
    centre = s.point(s.stage.pivot(element))
    angle = np.linspace(0.0, 4.5 * math.pi, 90)
    radius = 0.5 + 1.3 * angle / angle[-1]
    spiral = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    s.line(s.place(centre, s.pose(element.b)[2], spiral), PALETTE[2], 1.0)
    s.text(centre, element.name, PALETTE[2])


# By the kind of a glyph; those without a painter of their own have their family's.
GLYPHS: dict[str, Callable[[Sketch, Any, Item], None]] = {
    "joint": _joint,
    "pin": _joint,
    "guide": _guide,
    "slot": _slot,
    "weld": _weld,
    "rod": _rod,
    "drive": _drive,
    "motor": _motor,
    "hold": _hold,
    "actuator": _actuator,
    "force": _force,
    "pair": _pair,
    "couple": _couple,
    "spring": _spring,
    "spiral": _spiral,
}
