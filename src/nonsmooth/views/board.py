"""The drawing board of a sketch: where things are, pens, parts of symbols."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonsmooth.elements.bodies import Ground, MovingSupport
from nonsmooth.elements.forces import Force
from nonsmooth.views import contacts
from nonsmooth.views.bearings import Bearing
from nonsmooth.views.drawing import LONE, PIN
from nonsmooth.views.figure import INK, PALE, PALETTE, WARNING
from nonsmooth.views.parts import Item
from nonsmooth.views.places import to_global
from nonsmooth.views.stage import Stage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Box = tuple[float, float, float, float]  # pt, left, low, right, high

# Width of the picture, pt; only the widths of strokes depend on it.
PICTURE = 400.0
# Length of the arrow of the largest force in contacts and joints beside the whole
# picture; arrows shorter than a part of that are left out.
LONGEST, SHORTEST = 0.2, 0.01
# Names: distance from their place, height of a row, width of a letter, pt.
OFFSET, ROW, LETTER = 5.0, 11.0, 5.4
# Levels, from below: what is drawn later hides what is drawn before.
GUIDES, BODIES, FORCES, PINS, DRIVES, TEXT = range(6)

COLOURS = "viridis"  # of fields

# Points of a circle of radius 1.
_TURN = np.linspace(0.0, 2.0 * math.pi, 65)[:-1]
RIM = np.column_stack([np.cos(_TURN), np.sin(_TURN)])


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
    stage: Stage  # the mechanism at every instant of the picture
    k: int  # this instant
    bearings: Mapping[str, Sequence[Bearing]]  # by element
    places: Floats  # (n, 2) m, that the picture has to show
    unit: float  # m
    stand_unit: float  # m, the same for stands and floors
    mark: float  # m, radius of the mark of a contact
    dot: float  # m, roughly a point (pt) of the picture
    bar: float  # pt, width of a bar
    ink: float = 1.0  # 1 for the last instant, less for the earlier ones
    layer: float = 0.0  # of the instant
    scale: float = 0.0  # m/N, of arrows of forces in contacts and joints; 0 for none
    labels: list[Box] | None = None  # names written so far; None for none
    # By level, line or area, dashes or hatching: Matplotlib draws a collection of
    # thousands as fast as it draws one line.
    strokes: dict[tuple[float, str, str], list[_Stroke]] = field(
        default_factory=dict["tuple[float, str, str]", "list[_Stroke]"]
    )
    owner: str = ""  # body whose part is being drawn
    # A field by body, (n_instant, n_node), the range of its colours and their map.
    shades: Mapping[str, Floats] = field(default_factory=dict[str, "Floats"])
    range: tuple[float, float] = (0.0, 1.0)

    # -- where things are

    @property
    def pen(self) -> float:
        """Width of an outline, pt."""
        return min(1.2, 0.3 * self.bar)

    @property
    def down(self) -> float:
        """Direction of gravity, or -y, rad."""
        gx, gy = self.stage.system.model.gravity
        return math.atan2(gy, gx) if (gx, gy) != (0.0, 0.0) else -0.5 * math.pi

    def value(self, column: str) -> float:
        """Return a column at this instant."""
        return float(self.stage.values[column][self.k])

    def pose(self, reference: str) -> tuple[float, float, float]:
        """Return x, y, theta of "body" or "body.point"."""
        x, y, theta = self.stage.pose(reference)[self.k].tolist()
        return x, y, theta

    def point(self, reference: str) -> Floats:
        """Return the place of "body" or "body.point"."""
        return self.stage.pose(reference)[self.k, :2]

    def place(self, origin: ArrayLike, angle: float, shape: ArrayLike) -> Floats:
        """Return a shape given in units, turned and moved to its place."""
        c, n = math.cos(angle), math.sin(angle)
        turn = np.array([[c, n], [-n, c]])
        return np.asarray(origin) + self.unit * np.asarray(shape, dtype=float) @ turn

    def on_owner(self, points: ArrayLike) -> Floats:
        """Return global places of points in the frame of the shape's body, m."""
        own = np.asarray(points, dtype=float).reshape(-1, 2)
        return to_global(self.stage.frame(self.owner)[self.k], own)

    def colour_of(self, reference: str) -> str:
        """Return the colour of a body."""
        return self.stage.colours.get(reference.partition(".")[0], PALE)

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

    def shade(self, points: Floats, value: float) -> None:
        """Draw a cell in the colour of a value."""
        from matplotlib import colormaps

        low, high = self.range
        part = (value - low) / (high - low) if high > low else 0.0
        face = colormaps[COLOURS](part)
        stroke = _Stroke(points=points, edge=face, width=0.3, face=face)
        self.strokes.setdefault((self.layer + BODIES, "area", ""), []).append(stroke)

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
        points = np.asarray(centre) + radius * RIM
        self.polygon(points, colour, fill, part, width, level)

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
            body = self.stage.body(side)
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

    def guide(
        self, owner: str, item: Item, half_width: float, pad: float, is_slot: bool
    ) -> None:
        """Draw the guide or slot along which something moves; sizes in metres."""
        is_fixed = self.stage.is_ground(owner)
        if is_fixed and self.ink < 1.0:
            return
        x, y, theta = self.pose(owner)
        low, high = item["travel"]
        low, high = low - pad, high + pad
        metres = replace(self, unit=1.0)
        for side in (-half_width, half_width):
            shape = [(low, side), (high, side)]
            ends = metres.place((x, y), theta + item["axis"], shape)
            if not is_fixed:
                self.line(ends, self.colour_of(owner), 1.0, GUIDES)
            # The ground lies outside the slot, or under the guide.
            elif side < 0.0:
                self.hatch(*ends)
            elif is_slot:
                self.hatch(*ends[::-1])

    def mode(self, name: str) -> str:
        """Return the mode of a contact or joint with friction."""
        can_stick = self.stage.can_stick[name]
        return contacts.mode_of(self.value(f"{name}.mode"), can_stick)

    def press(self, bearing: Bearing) -> None:
        """Draw normal and friction force as arrows from where they act."""
        if self.ink < 1.0:
            return
        large = replace(self, unit=self.stand_unit)
        shortest = SHORTEST * LONGEST * PICTURE * self.dot
        point, (nx, ny) = bearing.place[self.k], bearing.normal[self.k]
        normal, friction = self.value(bearing.force), float(bearing.friction[self.k])
        for force, along in ((normal, (nx, ny)), (friction, (ny, -nx))):
            size = self.scale * force
            if abs(size) > shortest:
                large.arrow(point, point + size * np.array(along), PALETTE[3])

    def anchor(self, reference: str, direction: Floats) -> None:
        """Draw the wall that holds the end of a spring, `direction` leading away."""
        if self.stage.is_ground(reference):
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
        fx, fy = (self.value(f"{element.name}.force_{c}") for c in "xy")
        if math.hypot(fx, fy) > 0.0:
            head = self.point(element.b)
            tail = self.place(head, math.atan2(fy, fx), [(-4.5, 0.0)])[0]
            self.arrow(tail, head, PALETTE[3])
            self.text(tail, element.name, PALETTE[3])

    def ring(self, name: str) -> None:
        """Draw a ring round an element that something is to be said of."""
        top = replace(self, layer=self.layer + 100.0)
        for element in self.stage.elements:
            if element.name == name:
                places = [b.place[self.k] for b in self.bearings.get(name, ())]
                reference = getattr(element, "b", name)
                places = [p for p in places if np.all(np.isfinite(p))]
                for place in places or [self.point(reference)]:
                    top.disc(place, 2.2 * self.unit, WARNING, None, 1.0, 2.0, DRIVES)

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
