"""Sketches of a mechanism: a symbol for every kind of element and shape.

A symbol is a function of a `Sketch` and an element. It is looked up by the
element's class, then by its base classes, so that a kind of the user's own is drawn
like its family. To give a kind its own symbol, add it here:

    @symbol(MySpring)
    def my_spring(s: Sketch, element: MySpring) -> None:
        s.line([s.point(element.a), s.point(element.b)])

For a shape, `s.owner` is the body that has it and `s.on_owner` leads to its frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.elements.base import Element, Named
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
from nonsmooth.views import contacts
from nonsmooth.views.drawing import (
    LONE,
    PIN,
    SLIDER,
    SYMBOL_PART,
    block_size,
    corners_of,
    is_bare,
    is_floor,
    is_outlined,
    is_solid,
    reach_of,
    shapes_of,
    symbol_size,
)
from nonsmooth.views.drawing import SQUARE as _SQUARE
from nonsmooth.views.drawing import hull as _hull
from nonsmooth.views.figure import INK, MODES, PALE, PALETTE, mode_label

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from nonsmooth.pack import Spot
    from nonsmooth.result import Result

Floats = NDArray[np.float64]
Pose = tuple[float, float, float]
Poses = dict[str, Pose]
Box = tuple[float, float, float, float]  # pt, left, low, right, high
E = TypeVar("E", bound=Element)

# Instants by default, and the number of bodies beyond which two are enough.
N_INSTANT, MANY_BODIES = 5, 60
# The faintest instant has this part of the last one's colour.
FAINTEST = 0.18
FEW_STANDS = 8
# Width of a bar beside the length of a typical body, and its range, pt.
BAR_PART, BAR_RANGE = 0.1, (1.2, 7.0)
# Width of the picture, pt; only the widths of strokes depend on it.
PICTURE = 400.0
# Length of the arrow of the largest force in contacts and joints beside the whole
# picture; arrows shorter than a part of that are left out.
LONGEST, SHORTEST = 0.2, 0.01
# Forces beyond which arrows are half as long.
FEW_FORCES = 6
# Names: distance from their place, height of a row, width of a letter, pt.
OFFSET, ROW, LETTER = 5.0, 11.0, 5.4
# Radius of the mark of a contact beside the whole picture, where they are few.
MARK_PART, FEW_MARKS = 0.009, 40
OPEN_MARK = 0.75  # of that
# Half the width of a bare slot, in units.
SLOT = 0.5
# By how much a guide or slot is longer than the way of what slides in it, in units.
BEYOND = 1.4
# Thickness of the mark where a slider bears, beside the radius of other marks.
BEARING = 0.6
# Levels, from below: what is drawn later hides what is drawn before.
GUIDES, BODIES, FORCES, PINS, DRIVES, TEXT = range(6)

_FORCES = ("normal_force", "friction_force")
_SYMBOLS: dict[type[Element], Callable[[Any, Any], None]] = {}


def symbol(
    kind: type[E],
) -> Callable[[Callable[[Sketch, E], None]], Callable[[Sketch, E], None]]:
    """Register the symbol of a kind, or of a whole family."""

    def register(function: Callable[[Sketch, E], None]) -> Callable[[Sketch, E], None]:
        _SYMBOLS[kind] = function
        return function

    return register


# ---- the drawing board ---------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Stroke:
    """A line or an area, waiting to be drawn."""

    points: Floats
    edge: tuple[float, ...]
    width: float  # pt
    face: Any = "none"


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """The mechanism at one instant, and the pens to draw it.

    Points are global (x, y) in metres; `unit` is the length of a symbol.
    """

    axes: Axes
    elements: dict[str, Named]
    colours: dict[str, str]  # of the bodies
    blocks: frozenset[str]  # bodies that are drawn as the block of a guide
    poses: Poses  # of every body at this instant
    history: Sequence[Poses]  # at every instant of the picture
    values: Mapping[str, float]  # columns of forces and contacts at this instant
    spots: Mapping[str, Sequence[Spot]]  # of every contact, and guide with clearance
    can_stick: Mapping[str, bool]  # of contacts and joints with friction
    places: Floats  # (n, 2) m, that the picture has to show
    unit: float  # m
    stand_unit: float  # m, the same for stands and floors
    mark: float  # m, radius of the mark of a contact
    dot: float  # m, roughly a point (pt) of the picture
    bar: float  # pt, width of a bar
    down: float  # rad, direction of gravity, or -y
    ink: float  # 1 for the last instant, less for the earlier ones
    layer: float  # of the instant
    scale: float  # m/N, of arrows of forces in contacts and joints; 0 for none
    labels: list[Box] | None  # names written so far; None for none
    # By level, line or area, dashes or hatching: Matplotlib draws a collection of
    # thousands as fast as it draws one line.
    strokes: dict[tuple[float, str, str], list[_Stroke]] = field(
        default_factory=dict["tuple[float, str, str]", "list[_Stroke]"]
    )
    owner: str = ""  # body whose shape is being drawn

    # -- where things are

    @property
    def pen(self) -> float:
        """Width of an outline, pt."""
        return min(1.2, 0.3 * self.bar)

    def body(self, reference: str) -> Named:
        """Return the body of "body" or "body.point"."""
        return self.elements.get(reference.partition(".")[0]) or Ground()

    def is_ground(self, reference: str) -> bool:
        """Return whether a marker is on the fixed frame."""
        return isinstance(self.body(reference), Ground)

    def pose(self, reference: str, poses: Poses | None = None) -> Pose:
        """Return x, y, theta of "body" or "body.point"."""
        name, _, point = reference.partition(".")
        x, y, theta = (self.poses if poses is None else poses).get(name, (0.0,) * 3)
        places: dict[str, tuple[float, float]] = getattr(
            self.body(reference), "points", {}
        )
        dx, dy = places[point] if point else (0.0, 0.0)
        c, n = math.cos(theta), math.sin(theta)
        return x + c * dx - n * dy, y + n * dx + c * dy, theta

    def point(self, reference: str) -> Floats:
        """Return the place of "body" or "body.point"."""
        return np.array(self.pose(reference)[:2])

    def place(self, origin: ArrayLike, angle: float, shape: ArrayLike) -> Floats:
        """Return a shape given in units, turned and moved to its place."""
        c, n = math.cos(angle), math.sin(angle)
        turn = np.array([[c, n], [-n, c]])
        return np.asarray(origin) + self.unit * np.asarray(shape, dtype=float) @ turn

    @property
    def is_support(self) -> bool:
        """Whether the shape being drawn is on the ground or on a support."""
        return isinstance(self.body(self.owner), Ground | MovingSupport)

    def on_owner(self, points: ArrayLike) -> Floats:
        """Return global places of points in the frame of the shape's body, m."""
        x, y, theta = self.pose(self.owner)
        c, n = math.cos(theta), math.sin(theta)
        own = np.asarray(points, dtype=float).reshape(-1, 2)
        return np.array([x, y]) + own @ np.array([[c, n], [-n, c]])

    def colour_of(self, reference: str) -> str:
        """Return the colour of a body."""
        return self.colours.get(reference.partition(".")[0], PALE)

    # -- pens

    def faded(self, colour: str, part: float = 1.0) -> tuple[float, ...]:
        """Return a colour mixed with white, the more the earlier the instant."""
        from matplotlib.colors import to_rgb

        weight = self.ink * part
        return tuple(1.0 - weight * (1.0 - c) for c in to_rgb(colour))

    def line(
        self,
        points: ArrayLike,
        colour: str = INK,
        width: float = 1.2,
        level: int = FORCES,
        part: float = 1.0,
        dashes: str = "-",
    ) -> None:
        """Draw a line with round ends."""
        stroke = _Stroke(
            points=np.asarray(points, dtype=float),
            edge=self.faded(colour, part),
            width=width,
        )
        self.strokes.setdefault((self.layer + level, "line", dashes), []).append(stroke)

    def polygon(
        self,
        points: ArrayLike,
        colour: str = INK,
        fill: str | None = None,
        part: float = 1.0,
        width: float = 1.2,
        level: int = FORCES,
        hatch: str = "",
        is_clear: bool = False,
    ) -> None:
        """Draw a closed shape; `part` lightens its filling, or makes it clearer."""
        face: Any = "none"
        if fill is not None:
            from matplotlib.colors import to_rgb

            clear = (*to_rgb(fill), self.ink * part)
            face = clear if is_clear else self.faded(fill, part)
        stroke = _Stroke(
            points=np.asarray(points, dtype=float),
            edge=self.faded(colour),
            width=width,
            face=face,
        )
        self.strokes.setdefault((self.layer + level, "area", hatch), []).append(stroke)

    def disc(
        self,
        centre: ArrayLike,
        radius: float,
        colour: str = INK,
        fill: str | None = "white",
        part: float = 1.0,
        width: float = 1.2,
        level: int = PINS,
    ) -> None:
        """Draw a disc; its radius is in metres."""
        rim = np.asarray(centre) + radius * _rim()
        self.polygon(rim, colour, fill, part, width, level)

    def text(self, place: ArrayLike, words: str, colour: str = INK) -> None:
        """Write a name right of its place: above it, below it, or above other names."""
        if self.labels is None or self.ink < 1.0:
            return
        from matplotlib.patheffects import withStroke

        x, y = (float(c) for c in np.asarray(place, dtype=float))
        left, middle = x / self.dot + OFFSET, y / self.dot
        right = left + LETTER * len(words)
        taken = sorted(
            (box[1], box[3])
            for box in self.labels
            if box[0] < right and left < box[2]  # not beside it
        )

        def is_free(low: float) -> bool:
            return all(high <= low or low + ROW <= base for base, high in taken)

        up = OFFSET
        if not is_free(middle + up) and is_free(middle - OFFSET - ROW):
            up = -OFFSET - ROW
        for base, high in taken:
            if base < middle + up + ROW and middle + up < high:
                up = high - middle
        self.labels.append((left, middle + up, right, middle + up + ROW))
        self.axes.annotate(
            words,
            (x, y),
            xytext=(OFFSET, up),
            textcoords="offset points",
            fontsize=8.5,
            color=colour,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=self.layer + TEXT,
        )

    def finish(self) -> None:
        """Hand all lines and areas to Matplotlib."""
        from matplotlib.collections import LineCollection, PolyCollection

        for (level, what, texture), strokes in self.strokes.items():
            points = [stroke.points for stroke in strokes]
            pens: dict[str, Any] = {
                "edgecolors": [stroke.edge for stroke in strokes],
                "linewidths": [stroke.width for stroke in strokes],
                "capstyle": "round",
                "joinstyle": "round",
                "zorder": level,
            }
            if what == "line":
                drawn = LineCollection(points, linestyles=texture, **pens)
            else:
                faces = [stroke.face for stroke in strokes]
                hatch = texture or None
                drawn = PolyCollection(points, facecolors=faces, hatch=hatch, **pens)
            self.axes.add_collection(drawn)
        for left, low, right, high in self.labels or ():
            self._show(self.dot * np.array([(left, low), (right, high)]))
        if np.ptp(self.places, axis=0).max() == 0.0:
            self._show(self.places[0] + np.array([(-0.3, 0.0), (0.3, 0.0)]) * LONE)

    def _show(self, points: Floats) -> None:
        """Let the picture include points."""
        self.axes.update_datalim(points)

    # -- parts that several symbols use

    def hatch(self, begin: ArrayLike, end: ArrayLike) -> None:
        """Draw the edge of the ground, which lies to the right of begin to end."""
        a, b = np.asarray(begin, dtype=float), np.asarray(end, dtype=float)
        length = float(np.hypot(*(b - a)))
        if length == 0.0:
            return
        along = (b - a) / length
        inward = np.array([along[1], -along[0]])
        n = max(3, round(length / (0.55 * self.unit)))
        self.line([a, b], PALE, 1.2, GUIDES)
        for k in range(n):
            foot = a + (b - a) * (k + 1) / n
            tip = foot + 0.6 * self.unit * (inward - along)
            self.line([foot, tip], PALE, 0.7, GUIDES)

    def pin(self, reference: str, other: str, radius: float | None = None) -> None:
        """Draw a pin, on a stand where one of its sides is fixed or a support."""
        centre = self.point(reference)
        for side in (reference, other):
            body = self.body(side)
            if isinstance(body, Ground):
                if self.ink == 1.0:
                    self.stand(centre)
            elif isinstance(body, MovingSupport):
                self.stand(centre, is_moving=True)
        self.disc(centre, radius or PIN * self.unit, width=self.pen)

    def stand(self, centre: ArrayLike, is_moving: bool = False) -> None:
        """Draw the stand of a fixed pin: a triangle on the ground, or on a support."""
        angle = self.down + 0.5 * math.pi
        large = replace(self, unit=self.stand_unit)
        feet = large.place(centre, angle, [(0, 0), (-0.95, -1.6), (0.95, -1.6)])
        self.polygon(feet, PALE, PALE, 0.25, 1.0, GUIDES)
        left, right = large.place(centre, angle, [(-1.5, -1.6), (1.5, -1.6)])
        if is_moving:
            self.line([left, right], PALE, 2.5, GUIDES)
        else:
            large.hatch(left, right)

    def along(self, a: str, b: str, axis: float) -> tuple[float, float]:
        """Return how far b lies along a line fixed in a, least and most."""
        reach: list[float] = []
        for poses in self.history:
            xa, ya, theta = self.pose(a, poses)
            xb, yb, _ = self.pose(b, poses)
            phi = theta + axis
            reach.append(math.cos(phi) * (xb - xa) + math.sin(phi) * (yb - ya))
        return min(reach), max(reach)

    def guide(
        self, joint: PinInSlot | Prismatic, half_width: float, pad: float, is_slot: bool
    ) -> None:
        """Draw the guide or slot in a along which b moves; sizes in metres."""
        a = joint.a
        if self.is_ground(a) and self.ink < 1.0:
            return
        xa, ya, theta = self.pose(a)
        low, high = self.along(a, joint.b, joint.axis)
        low, high = low - pad, high + pad
        metres = replace(self, unit=1.0)
        for side in (-half_width, half_width):
            shape = [(low, side), (high, side)]
            ends = metres.place((xa, ya), theta + joint.axis, shape)
            if not self.is_ground(a):
                self.line(ends, self.colour_of(a), 1.0, GUIDES)
            # The ground lies outside the slot, or under the guide.
            elif side < 0.0:
                self.hatch(*ends)
            elif is_slot:
                self.hatch(*ends[::-1])

    def mode(self, name: str) -> str:
        """Return the mode of a contact or joint with friction."""
        return contacts.mode_of(self.values[f"{name}.mode"], self.can_stick[name])

    def press(
        self, point: ArrayLike, direction: ArrayLike, normal: float, friction: float
    ) -> None:
        """Draw normal and friction force as arrows from where they act."""
        if self.ink < 1.0:
            return
        large = replace(self, unit=self.stand_unit)
        shortest = SHORTEST * LONGEST * PICTURE * self.dot
        nx, ny = np.asarray(direction, dtype=float)
        for force, along in ((normal, (nx, ny)), (friction, (ny, -nx))):
            size = self.scale * force
            head = np.asarray(point) + size * np.array(along)
            if abs(size) > shortest:
                large.arrow(point, head, PALETTE[3])

    def anchor(self, reference: str, direction: Floats) -> None:
        """Draw the wall that holds the end of a spring, `direction` leading away."""
        if self.is_ground(reference):
            angle = math.atan2(direction[1], direction[0]) - 0.5 * math.pi
            self.hatch(*self.place(self.point(reference), angle, [(-1.2, 0), (1.2, 0)]))

    def arrow(self, tail: ArrayLike, head: ArrayLike, colour: str) -> None:
        """Draw an arrow; a short one has a small head."""
        tail, head = np.asarray(tail, dtype=float), np.asarray(head, dtype=float)
        angle = math.atan2(*(head - tail)[::-1])
        length = 0.5 * float(np.hypot(*(head - tail)))
        small = self if length > self.unit else replace(self, unit=length)
        tip = small.place(head, angle, [(0, 0), (-1.1, 0.45), (-1.1, -0.45)])
        self.line([tail, 0.5 * (tip[1] + tip[2])], colour, 1.6, DRIVES)
        self.polygon(tip, colour, colour, 1.0, 0.5, DRIVES)

    def force_arrow(self, element: Force) -> None:
        """Draw an arrow onto b, in the direction of the force at this instant."""
        fx = self.values[f"{element.name}.force_x"]
        fy = self.values[f"{element.name}.force_y"]
        if math.hypot(fx, fy) > 0.0:
            head = self.point(element.b)
            tail = self.place(head, math.atan2(fy, fx), [(-4.5, 0.0)])[0]
            self.arrow(tail, head, PALETTE[3])
            self.text(tail, element.name, PALETTE[3])

    def turn_arrow(self, centre: ArrayLike, sense: float, colour: str) -> None:
        """Draw an arrow round a centre."""
        radius, begin, end = 2.0, -0.35 * math.pi, 0.75 * math.pi
        angles = np.linspace(begin, end, 40)[:: 1 if sense >= 0.0 else -1]
        rim = radius * np.column_stack([np.cos(angles), np.sin(angles)])
        points = self.place(centre, 0.0, rim)
        self.line(points, colour, 1.6, DRIVES)
        angle = float(angles[-1]) + math.copysign(0.5 * math.pi, sense)
        shape = [(0.9, 0), (-0.3, 0.45), (-0.3, -0.45)]
        self.polygon(
            self.place(points[-1], angle, shape), colour, colour, 1.0, 0.5, DRIVES
        )

    def pivot(self, element: Joint | Force) -> Floats:
        """Return where a rotation between a and b is best shown: at their joint."""
        pair = {self.body(element.a).name, self.body(element.b).name}
        for joint in self.elements.values():
            if not isinstance(joint, Joint) or isinstance(joint, Drive):
                continue
            if {self.body(joint.a).name, self.body(joint.b).name} == pair:
                return self.point(joint.b)
        return self.point(element.b)


# ---- bodies --------------------------------------------------------------------


def _rim() -> Floats:
    """Return points of a circle of radius 1."""
    turn = np.linspace(0.0, 2.0 * math.pi, 65)[:-1]
    return np.column_stack([np.cos(turn), np.sin(turn)])


def _bare(s: Sketch, body: Body, markers: Sequence[str]) -> list[Floats]:
    """Return the places of markers that no shape of the body shows."""
    pose = s.poses[body.name]
    return [
        point
        for point in map(s.point, markers)
        if is_bare(body, pose, (point[0], point[1]), s.unit)
    ]


def _draw_shapes(s: Sketch, body: Body) -> None:
    """Draw the shapes of a body, and the floor that a contact takes it for."""
    s = replace(s, owner=body.name)
    for shape in shapes_of(body):
        _draw_element(s, shape)
    if is_floor(s.elements.values(), body):
        _draw_element(s, Line())


@symbol(RigidBody)
def rigid_body(s: Sketch, body: RigidBody) -> None:
    """Draw the shapes; without any, a bar or a plate through points and centre."""
    centre = s.point(body.name)
    colour = s.colour_of(body.name)
    points = [s.point(f"{body.name}.{name}") for name in body.points]
    _draw_shapes(s, body)
    if is_solid(body):
        # What sticks out of the shapes is held by bars.
        markers = [body.name, *(f"{body.name}.{name}" for name in body.points)]
        for point in _bare(s, body, markers):
            s.line([centre, point], colour, s.bar, BODIES)
        s.text(centre, body.name, colour)
        return
    corners = _hull(np.array([centre, *points]))
    if len(corners) >= 3:
        width = max(1.5, 0.4 * s.bar)
        s.polygon(corners, colour, colour, 0.25, width, BODIES, is_clear=True)
    elif len(corners) == 2:
        s.line(corners, colour, s.bar, BODIES)
        s.line(corners, colour, max(0.4, s.bar - 2.0), BODIES, 0.4)
    elif body.name not in s.blocks:
        # A uniform disc of this mass and inertia, and a radius that shows it turn.
        radius = math.sqrt(2.0 * body.inertia / body.mass)
        radius = min(max(radius, s.unit), 8.0 * s.unit)
        s.disc(centre, radius, colour, colour, 0.22, 1.5, BODIES)
        rim = s.place(centre, s.poses[body.name][2], [(radius / s.unit, 0.0)])
        s.line([centre, rim[0]], colour, 1.2, BODIES)
    is_apart = all(np.hypot(*(p - centre)) > 0.8 * s.unit for p in points)
    if is_apart and body.name not in s.blocks and s.bar > 2.0:
        s.disc(centre, 0.2 * s.unit, INK, INK, 1.0, 0.5, BODIES)
    s.text(centre, body.name, colour)


@symbol(PointMass)
def point_mass(s: Sketch, body: PointMass) -> None:
    """Draw a disc, or a block on the surface that it may touch."""
    colour = s.colour_of(body.name)
    own = [x for spots in s.spots.values() for x in spots if x.body == body.name]
    if own:
        foot, normal = contacts.place(own[0], s.poses)
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
    corners = _hull(np.array(points))
    _draw_shapes(s, body)
    if len(corners) >= 3:
        s.polygon(corners, PALE, PALE, 0.25, 1.2, BODIES, "///")
    elif len(corners) == 2:
        s.line(corners, PALE, s.bar, BODIES, 0.6)
    elif not body.shapes:
        # Under its floor, if it has one, the box shows how the support moves along.
        low = -1.8 if is_floor(s.elements.values(), body) else -0.9
        box = [(-0.9, low), (0.9, low), (0.9, low + 1.8), (-0.9, low + 1.8)]
        large = replace(s, unit=s.stand_unit)
        square = large.place(points[0], s.poses[body.name][2], box)
        s.polygon(square, PALE, PALE, 0.25, 1.2, BODIES)
    s.text(points[0], body.name, PALE)


@symbol(Ground)
def ground(s: Sketch, body: Ground) -> None:
    """Draw the shapes; else the ground shows where something is fixed to it."""
    if s.ink == 1.0:
        _draw_shapes(s, body)


# ---- shapes, and where they touch ----------------------------------------------


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
        _area(s, corner + radius * _rim())
    if len(corners) > 2:
        _area(s, _hull(corners))
    elif len(corners) == 2:
        s.line(corners, s.colour_of(s.owner), 1.5, BODIES)


@symbol(Polygon)
def polygon(s: Sketch, shape: Polygon) -> None:
    """Draw the area."""
    _area(s, s.on_owner(shape.vertices))


@symbol(Circle)
def circle(s: Sketch, shape: Circle) -> None:
    """Draw the area, with a radius that shows it turn."""
    _area(s, s.on_owner(np.asarray(shape.center) + shape.radius * _rim()))
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
        x, y, theta = s.pose(s.owner)
        c, n = math.cos(theta), math.sin(theta)
        seen = (s.places - (x, y)) @ np.array([[c, -n], [n, c]]) - point
    else:
        here = [
            spot
            for spots in s.spots.values()
            for spot in spots
            if spot.owner == s.owner and spot.surface == shape
        ]
        seen = np.array(
            [_seen_from(poses, spot) for poses in s.history for spot in here]
        ).reshape(-1, 2)
        seen = seen - point
    if len(seen) == 0:
        return
    along = seen @ direction
    large = replace(s, unit=s.stand_unit)
    pad = 3.0 * large.unit
    begin, end = float(np.min(along)) - pad, float(np.max(along)) + pad
    ends = s.on_owner([point + begin * direction, point + end * direction])
    if s.is_support and s.ink == 1.0:
        large.hatch(*ends)
    else:
        s.line(ends, s.colour_of(s.owner), 1.2, GUIDES)


def _seen_from(poses: Poses, spot: Spot) -> tuple[float, float]:
    """Return the touching point of a spot in the frame of the surface's body."""
    (x, y), _ = contacts.place(spot, poses)
    x0, y0, theta = poses.get(spot.owner, (0.0, 0.0, 0.0))
    c, n = math.cos(theta), math.sin(theta)
    return c * (x - x0) + n * (y - y0), -n * (x - x0) + c * (y - y0)


def _draw_spots(s: Sketch, spots: Sequence[Spot]) -> None:
    """Draw discs in the colour of the mode, and the forces on their body."""
    for spot in spots:
        point, normal = contacts.place(spot, s.poses)
        mode = s.mode(spot.name)
        # Outlines have many spots, most of them open.
        radius = OPEN_MARK * s.mark if mode == "open" else s.mark
        s.disc(point, radius, INK, MODES[mode], 1.0, 1.0, PINS)
        s.press(point, normal, *(s.values[f"{spot.name}.{c}"] for c in _FORCES))


@symbol(Contact)
def contact(s: Sketch, element: Contact) -> None:
    """Draw the places where bodies may touch."""
    _draw_spots(s, s.spots[element.name])
    s.text(contacts.place(s.spots[element.name][0], s.poses)[0], element.name)


# ---- joints --------------------------------------------------------------------


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
    if joint.name in s.can_stick:
        s.disc(centre, radius, INK, MODES[s.mode(joint.name)], width=s.pen)
        force = np.array([s.values[f"{joint.name}.force_{c}"] for c in "xy"])
        for bearing in contacts.bearings(joint, s.values):
            if bearing.normal > 0.0:
                direction = force / bearing.normal
                rim = centre - radius * direction
                s.press(rim, direction, bearing.normal, bearing.friction)
    # The name stands beside the rim of a large pin.
    s.text(centre + math.sqrt(0.5) * (radius - PIN * s.unit), joint.name)


@symbol(Prismatic)
def prismatic(s: Sketch, joint: Prismatic) -> None:
    """Draw a block in a guide, and where its ends bear."""
    half, high = block_size(joint, s.unit)
    gap = 0.5 * (joint.clearance or 0.0)
    has_size = joint.length is not None
    s.guide(joint, high + gap, half + BEYOND * s.unit, has_size)
    corners = _block_corners(s, joint, s.poses)
    colour = s.colour_of(joint.b)
    if not _is_shown(s, joint, corners):
        s.polygon(corners, colour, colour, 0.3, 1.5, BODIES, is_clear=True)
    _draw_spots(s, s.spots.get(joint.name, ()))
    if joint.name in s.can_stick:
        along, up = _axes(s, joint)
        for bearing in contacts.bearings(joint, s.values):
            # u > 0 pushes along n: the end rests on the flank below.
            across = -math.copysign(high, bearing.normal) * up
            point = s.point(joint.b) + bearing.end * half * along + across
            if bearing.normal != 0.0:
                s.disc(point, s.mark, INK, MODES[s.mode(joint.name)], 1.0, 1.0, PINS)
            s.press(point, up, bearing.normal, bearing.friction)
    # The name stands beside the front lower corner, the body's in the middle.
    s.text(corners[1] if has_size else s.point(joint.b), joint.name)


def _axes(s: Sketch, joint: PinInSlot | Prismatic) -> tuple[Floats, Floats]:
    """Return tangent and normal of a slot or guide."""
    phi = s.pose(joint.a)[2] + joint.axis
    c, n = math.cos(phi), math.sin(phi)
    return np.array([c, n]), np.array([-n, c])


def _block_corners(s: Sketch, joint: Prismatic, poses: Poses) -> Floats:
    """Return the corners of a block, which turns with b in a guide with clearance."""
    half, high = block_size(joint, s.unit)
    x, y, theta = s.pose(joint.b, poses)
    box = np.array(_SQUARE) * (half, high)
    turn = theta - joint.angle + joint.axis
    return replace(s, unit=1.0).place((x, y), turn, box)


def _is_shown(s: Sketch, joint: Prismatic, corners: Floats) -> bool:
    """Return whether a shape of b's body shows the block."""
    body = s.body(joint.b)
    return is_outlined(body, s.pose(body.name), corners, s.unit)


@symbol(PinInSlot)
def pin_in_slot(s: Sketch, joint: PinInSlot) -> None:
    """Draw a slot and the pin in it, with friction on a slider, and where it bears."""
    pad, centre = (SLIDER[0] + BEYOND) * s.unit, s.point(joint.b)
    if joint.name not in s.can_stick:
        s.guide(joint, SLOT * s.unit, pad, True)
        s.disc(centre, PIN * s.unit, width=s.pen)
        s.text(centre, joint.name)
        return
    half, high = (size * s.unit for size in SLIDER)
    s.guide(joint, high, pad, True)
    along, up = _axes(s, joint)
    box = [x * half * along + y * high * up for x, y in _SQUARE]
    colour, mode = s.colour_of(joint.b), s.mode(joint.name)
    s.polygon(centre + box, colour, colour, 0.35, 1.2, FORCES)
    for bearing in contacts.bearings(joint, s.values):
        # lam > 0 pushes along n: the slider rests on the flank below.
        foot = centre - np.sign(bearing.normal) * high * up
        if bearing.normal != 0.0:
            deep = math.copysign(BEARING * s.mark, bearing.normal) * up
            ends = np.array([foot - half * along, foot + half * along])
            strip = [*ends, *(ends + deep)[::-1]]
            s.polygon(strip, INK, MODES[mode], 1.0, 0.8, PINS)
        s.press(foot, up, bearing.normal, bearing.friction)
    s.disc(centre, PIN * s.unit, INK, MODES[mode], width=s.pen)
    s.text(centre, joint.name)


@symbol(Weld)
def weld(s: Sketch, joint: Weld) -> None:
    """Draw a square, on hatching where it is fixed."""
    x, y, angle = s.pose(joint.b)
    box = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
    if s.ink == 1.0 and (s.is_ground(joint.a) or s.is_ground(joint.b)):
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


# ---- drives: what the engine prescribes ----------------------------------------


@symbol(Drive)
def drive(s: Sketch, element: Drive) -> None:
    """Draw a ring round the driven point."""
    s.disc(s.point(element.b), 1.1 * s.unit, PALETTE[1], None, 1.0, 1.6, DRIVES)
    s.text(s.point(element.b), element.name, PALETTE[1])


@symbol(RotationDrive)
def rotation_drive(s: Sketch, element: RotationDrive) -> None:
    """Draw an arrow round the joint, in the positive sense."""
    centre = s.pivot(element)
    s.turn_arrow(centre, 1.0, PALETTE[1])
    s.text(centre, element.name, PALETTE[1])


@symbol(TranslationDrive)
def translation_drive(s: Sketch, element: TranslationDrive) -> None:
    """Draw an arrow along the driven direction."""
    angle = s.pose(element.a)[2] + element.axis
    tail, head = s.place(s.point(element.b), angle, [(1.9, 0.0), (5.0, 0.0)])
    s.arrow(tail, head, PALETTE[1])
    s.text(head, element.name, PALETTE[1])


# ---- forces --------------------------------------------------------------------


@symbol(Force)
def force(s: Sketch, element: Force) -> None:
    """Draw a dashed line from a to b, or the arrow of a force on b alone."""
    if s.is_ground(element.a):
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
    torque = s.values[f"{element.name}.torque"]
    if torque != 0.0:
        centre = s.pivot(element)
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
    if has_spring or not has_damper:
        n = 7
        inner = np.linspace(2 * lead, length - 2 * lead, 2 * n)
        zigzag = np.where(np.arange(2 * n) % 2 == 0, 0.55, -0.55)
        zigzag[[0, -1]] = 0.0
        shape = [(0, 0), (lead, 0), (lead, aside)]
        shape += list(zip(inner, zigzag + aside, strict=True))
        shape += [(length - lead, aside), (length - lead, 0), (length, 0)]
        s.line(s.place(a, angle, shape), PALETTE[2], 1.2)
    if has_damper:
        middle, half = 0.5 * length, min(1.1, 0.2 * length)
        for shape in (
            [(0, 0), (lead, 0), (lead, -aside), (middle - half, -aside)],
            [(middle + 0.2 * half, -aside), (length - lead, -aside)],
            [(length - lead, -aside), (length - lead, 0), (length, 0)],
            [(middle + 0.2 * half, 0.4 - aside), (middle + 0.2 * half, -0.4 - aside)],
            [
                (middle + half, 0.55 - aside),
                (middle - half, 0.55 - aside),
                (middle - half, -0.55 - aside),
                (middle + half, -0.55 - aside),
            ],
        ):
            s.line(s.place(a, angle, shape), PALETTE[2], 1.2)
    s.text(0.5 * (a + b), element.name, PALETTE[2])


@symbol(TorsionSpring)
def torsion_spring(s: Sketch, element: TorsionSpring) -> None:
    """Draw a spiral at the joint."""
    centre = s.pivot(element)
    angle = np.linspace(0.0, 4.5 * math.pi, 90)
    radius = 0.5 + 1.3 * angle / angle[-1]
    spiral = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    s.line(s.place(centre, s.pose(element.b)[2], spiral), PALETTE[2], 1.0)
    s.text(centre, element.name, PALETTE[2])


# ---- the picture ---------------------------------------------------------------


def instants(result: Result) -> int:
    """Return how many instants a picture of the run shows by default."""
    return N_INSTANT if result.system.n_moving <= MANY_BODIES else 2


def _draw_element(s: Sketch, element: Element) -> None:
    for kind in type(element).__mro__:
        if kind in _SYMBOLS:
            _SYMBOLS[kind](s, element)
            return


def _reaches(s: Sketch) -> tuple[Floats, list[float]]:
    """Return all places of the picture, and the extent of each body with points."""
    places: list[Floats] = []
    lengths: list[float] = []
    for element in s.elements.values():
        if isinstance(element, RigidBody | PointMass | MovingSupport):
            own = reach_of(element)
            for x, y, theta in (poses[element.name] for poses in s.history):
                c, n = math.cos(theta), math.sin(theta)
                places.append(np.array([x, y]) + own @ np.array([[c, n], [-n, c]]))
            lengths.append(float(np.ptp(places[-1], axis=0).max()))
        elif isinstance(element, Joint) and not isinstance(element, Drive):
            sides = [side for side in (element.a, element.b) if s.is_ground(side)]
            places.extend(np.array([s.pose(side)[:2]]) for side in sides)
            if isinstance(element, Prismatic) and element.length is not None:
                bare = replace(s, unit=0.0)  # its size, not that of a symbol
                places += [_block_corners(bare, element, p) for p in s.history]
        elif isinstance(element, Ground):
            places += [corners_of(shape) for shape in shapes_of(element)]
        elif isinstance(element, SpringDamper):
            places.append(np.array([s.point(element.a), s.point(element.b)]))
    return np.concatenate(places), [length for length in lengths if length > 0.0]


def draw_on(
    axes: Axes,
    result: Result,
    times: Floats,
    has_names: bool = False,
    has_forces: bool = False,
) -> list[Artist]:
    """Draw the mechanism at increasing times; return what the legend has to explain."""
    model = result.system.model
    elements: dict[str, Named] = {"ground": Ground()}
    elements |= {element.name: element for element in model.elements()}
    moving = result.system.bodies[: result.system.n_moving]
    n_colour = len(PALETTE) - 1  # black is for outlines
    guides = [joint for joint in model.joints if isinstance(joint, Prismatic)]
    bodies = [name for name in result.system.bodies if name != "ground"]
    columns = [f"{name}.{c}" for name in bodies for c in ("x", "y", "theta")]
    columns += [
        f"{f.name}.{c}" for f in model.forces for c in ("force_x", "force_y", "torque")
    ]
    columns += [
        f"{name}.{c}" for name in result.system.contacts for c in ("mode", *_FORCES)
    ]
    slides = [
        joint
        for joint in model.joints
        if isinstance(joint, contacts.Slide) and joint.name in result.system.slides
    ]
    columns += [c for joint in slides for c in contacts.bearing_columns(joint)]
    samples = result.sample(times, columns)
    history: list[Poses] = [
        {
            name: (
                float(samples[f"{name}.x"][k]),
                float(samples[f"{name}.y"][k]),
                float(samples[f"{name}.theta"][k]),
            )
            for name in bodies
        }
        for k in range(len(times))
    ]
    gx, gy = model.gravity
    last = len(times) - 1
    spots: dict[str, list[Spot]] = {}
    for spot in result.system.spots:
        spots.setdefault(spot.element, []).append(spot)
    can_stick = contacts.can_stick(result.system)
    board = Sketch(
        axes=axes,
        elements=elements,
        colours={name: PALETTE[k % n_colour] for k, name in enumerate(moving)},
        blocks=frozenset(joint.b.partition(".")[0] for joint in guides),
        poses=history[last],
        history=history,
        values={},
        spots=spots,
        can_stick=can_stick,
        places=np.zeros((0, 2)),
        unit=1.0,
        stand_unit=1.0,
        mark=1.0,
        dot=1.0,
        bar=1.0,
        down=math.atan2(gy, gx) if (gx, gy) != (0.0, 0.0) else -0.5 * math.pi,
        ink=1.0,
        layer=0.0,
        scale=0.0,
        labels=[] if has_names else None,
    )
    board = _scaled(board)
    at_last = {name: float(samples[name][last]) for name in columns}
    sizes = _force_sizes(result.system.contacts, slides, at_last)
    largest = max(sizes, default=0.0)
    if has_forces and largest > 0.0:
        longest = LONGEST if np.count_nonzero(sizes) <= FEW_FORCES else 0.5 * LONGEST
        board = replace(board, scale=longest * PICTURE * board.dot / largest)
    for k, poses in enumerate(history):
        s = replace(
            board,
            poses=poses,
            values={name: float(samples[name][k]) for name in columns},
            ink=1.0 if k == last else FAINTEST + 0.4 * k / last,
            layer=10.0 * (1 + k),
        )
        for element in elements.values():
            # What acts on the mechanism is shown once, at the last instant.
            if k == last or not isinstance(element, Drive | Force):
                _draw_element(s, element)
    board.finish()
    axes.autoscale_view()
    axes.set_axisbelow(True)
    shown = ", ".join(f"{t:.4g}" for t in times)
    axes.set_title(f"t = {shown} s", fontsize=9.5, loc="left")
    modes = {
        contacts.mode_of(value, sticks)
        for name, sticks in can_stick.items()
        for value in samples[f"{name}.mode"]
    }
    owners = [
        what
        for what, found in (("contact", result.system.contacts), ("joint", slides))
        if found
    ]
    text = f"{' and '.join(owners)} forces, the largest {largest:.4g} N"
    return _explained(modes, text if board.scale > 0.0 else None)


def _force_sizes(
    names: Sequence[str],
    slides: Sequence[contacts.Slide],
    values: Mapping[str, float],
) -> list[float]:
    """Return the forces of contacts, and where joints with friction bear, N."""
    pairs = [tuple(values[f"{name}.{c}"] for c in _FORCES) for name in names]
    pairs += [
        (bearing.normal, bearing.friction)
        for joint in slides
        for bearing in contacts.bearings(joint, values)
    ]
    return [math.hypot(*pair) for pair in pairs]


def _explained(modes: set[str], forces: str | None) -> list[Artist]:
    """Return the entries of a legend: modes in the picture, and the scale of arrows."""
    from matplotlib.lines import Line2D

    shown = [mode for mode in MODES if mode in modes]
    pen: dict[str, Any] = {"ls": "none", "marker": "o", "ms": 7.0, "mec": INK}
    entries: list[Artist] = [
        Line2D([], [], mfc=MODES[mode], label=mode_label(mode), **pen) for mode in shown
    ]
    if forces is not None:
        entries.append(Line2D([], [], color=PALETTE[3], label=forces))
    return entries


def _scaled(s: Sketch) -> Sketch:
    """Return the sketch with sizes that suit the picture."""
    places, lengths = _reaches(s)
    extent = float(np.ptp(places, axis=0).max()) or LONE
    typical = float(np.median(lengths)) if lengths else extent
    unit = symbol_size(extent, lengths)
    fixed = [
        joint
        for joint in s.elements.values()
        if isinstance(joint, Joint) and (s.is_ground(joint.a) or s.is_ground(joint.b))
    ]
    # In a long chain of short bodies a stand would vanish beside the whole.
    has_room = len(fixed) <= FEW_STANDS
    n_mark = len(s.can_stick)
    return replace(
        s,
        unit=unit,
        places=places,
        stand_unit=max(unit, 0.5 * SYMBOL_PART * extent) if has_room else unit,
        mark=max(0.5 * unit, MARK_PART * extent if n_mark <= FEW_MARKS else 0.0),
        dot=extent / PICTURE,
        bar=float(np.clip(BAR_PART * PICTURE * typical / extent, *BAR_RANGE)),
    )
