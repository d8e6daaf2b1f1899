"""Meshes of flexible bodies, as descriptions: what to mesh and how finely.

A kind is cut into blocks with four sides, straight or circular, or is an outline, or
a file. `nonsmooth.fem` makes the mesh. Every side that is not between two blocks is a
part of the boundary and has a name, by which supports, patches and contacts call it;
`outline` is the whole boundary. Places are in the mesh's own axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from nonsmooth.elements.base import Element, quantity
from nonsmooth.elements.shapes import Point

# Half the side of the square at the core of a disc, over the radius: between flat
# cells on the rim, at its corners, and narrow ones between core and rim.
_CORE = 0.5
# Elements of one rod.
MOST_ELEMENTS = 10_000_000
Side = tuple[int, int]  # corners at its ends
Axis = Literal["x", "y"]  # along which a body is symmetric
Plane = Literal["stress", "strain"]  # thin plate, or body that cannot widen


@dataclass(frozen=True)
class Blocks:
    """Blocks of four corners each, counter-clockwise, and what their sides are."""

    corners: tuple[Point, ...]
    blocks: tuple[tuple[int, int, int, int], ...]
    centers: dict[Side, Point]  # of sides that are circular
    names: dict[Side, str]  # of sides on the boundary


@dataclass(frozen=True)
class Part:
    """A part of an outline, from one vertex to the next."""

    start: Point
    end: Point
    center: Point | None  # of an arc
    turns_left: bool  # as an arc that bulges outwards does
    name: str


@dataclass(frozen=True, kw_only=True)
class Refinement(Element, family="refinement", is_kind=True):
    """Smaller triangles around a place.

    h(d) = size + growth max(d - radius, 0),   d: distance from the place

    No triangle has a side longer than h at its point nearest to the place.
    """

    point: Point = quantity("m")
    size: float = quantity("m, of the smallest elements", above=0.0)
    radius: float = quantity("m, of the region of that size", default=0.0, minimum=0.0)
    growth: float = quantity("", default=0.35, above=0.0)


@dataclass(frozen=True, kw_only=True)
class MeshShape(Element, family="mesh"):
    """Base of all meshes."""


@dataclass(frozen=True, kw_only=True)
class MeshFile(MeshShape):
    """A mesh in a file beside the model, in any format that meshio reads.

    Triangles with 3 or 6 nodes, or quadrilaterals with 4 or 9. Named groups of lines
    (physical groups of Gmsh, sets of others) are the named boundaries.
    """

    path: str  # from the folder of the model
    # That folder: `io.load` knows it; the current one for a model made in Python.
    folder: str = field(default=".", init=False, compare=False)

    def check(self) -> None:
        parts = self.path.replace("\\", "/").split("/")
        if not self.path or not parts[0] or ".." in parts or ":" in parts[0]:
            valid = "give a path inside the folder of the model, without '..'"
            raise self.fail("path", self.path, valid)


@dataclass(frozen=True, kw_only=True)
class _Meshed(MeshShape):
    """A shape that we mesh ourselves."""

    size: float = quantity("m, longest side of an element", above=0.0)
    cells: Literal["triangle", "quadrilateral"] = "triangle"
    order: Literal[1, 2] = 2  # of the elements
    refine: dict[str, Refinement] = field(default_factory=dict)  # around places

    def check(self) -> None:
        if self.refine and self.cells != "triangle":
            valid = "only triangles can be refined around a place"
            raise self.fail("cells", self.cells, valid)

    def cut(self) -> Blocks:
        """Return the blocks this shape is cut into."""
        raise NotImplementedError


Meshed = _Meshed  # to ask for; a name with "_" keeps it out of the kinds


@dataclass(frozen=True, kw_only=True)
class Rectangle(_Meshed):
    """A rectangle about its centre; boundaries `left`, `right`, `bottom`, `top`."""

    width: float = quantity("m, along x", above=0.0)
    height: float = quantity("m, along y", above=0.0)
    center: Point = quantity("m", default=(0.0, 0.0))

    def cut(self) -> Blocks:
        (x, y), w, h = self.center, 0.5 * self.width, 0.5 * self.height
        corners = ((x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h))
        names = {(0, 1): "bottom", (1, 2): "right", (2, 3): "top", (3, 0): "left"}
        return Blocks(corners, ((0, 1, 2, 3),), {}, names)


@dataclass(frozen=True, kw_only=True)
class Disc(_Meshed):
    """A full disc; boundary `rim`."""

    radius: float = quantity("m", above=0.0)
    center: Point = quantity("m", default=(0.0, 0.0))

    def cut(self) -> Blocks:
        core = _square(self.center, _CORE * self.radius)
        rim = _square(self.center, self.radius / math.sqrt(2.0))
        sides = tuple((4 + k, 4 + (k + 1) % 4) for k in range(4))
        around = tuple((a, b, b - 4, a - 4) for a, b in sides)
        return Blocks(
            core + rim,
            ((0, 1, 2, 3), *around),
            dict.fromkeys(sides, self.center),
            dict.fromkeys(sides, "rim"),
        )


@dataclass(frozen=True, kw_only=True)
class Ring(_Meshed):
    """A disc with a round hole in its middle; boundaries `inner`, `outer`."""

    inner_radius: float = quantity("m", above=0.0)
    outer_radius: float = quantity("m", above=0.0)
    center: Point = quantity("m", default=(0.0, 0.0))

    def check(self) -> None:
        super().check()
        if not self.outer_radius > self.inner_radius:
            valid = f"must be > inner_radius, {self.inner_radius:g} m"
            raise self.fail("outer_radius", self.outer_radius, valid)

    def cut(self) -> Blocks:
        inner = _square(self.center, self.inner_radius / math.sqrt(2.0))
        outer = _square(self.center, self.outer_radius / math.sqrt(2.0))
        holes = tuple((k, (k + 1) % 4) for k in range(4))
        rims = tuple((4 + a, 4 + b) for a, b in holes)
        around = tuple((a + 4, b + 4, b, a) for a, b in holes)
        names = dict.fromkeys(holes, "inner") | dict.fromkeys(rims, "outer")
        return Blocks(
            inner + outer, around, dict.fromkeys(holes + rims, self.center), names
        )


@dataclass(frozen=True, kw_only=True)
class Bar(_Meshed):
    """A straight bar along x with a round head.

    From its flat face, `end`, at `start`, to the tip of the half circle of radius
    width/2, `head`, at start + length; its sides are `lower` and `upper`.
    """

    length: float = quantity("m, head included", above=0.0)
    width: float = quantity("m", above=0.0)
    start: Point = quantity("m, middle of the flat face", default=(0.0, 0.0))

    def check(self) -> None:
        super().check()
        if not self.length > 0.5 * self.width:
            valid = f"must be > width/2, {0.5 * self.width:g} m, the radius of the head"
            raise self.fail("length", self.length, valid)

    def cut(self) -> Blocks:
        r, (x0, y0) = 0.5 * self.width, self.start
        k, e, c = _CORE * r, r / math.sqrt(2.0), x0 + self.length - r
        heights = (-r, -k, k, r)
        corners = (
            *((x0, y0 + y) for y in heights),
            *((c, y0 + y) for y in heights),
            (c + k, y0 - k),
            (c + k, y0 + k),
            (c + e, y0 - e),
            (c + e, y0 + e),
        )
        bar = tuple((k, k + 4, k + 5, k + 1) for k in range(3))
        head = ((5, 8, 9, 6), (4, 10, 8, 5), (10, 11, 9, 8), (6, 9, 11, 7))
        arcs: tuple[Side, ...] = ((4, 10), (10, 11), (11, 7))
        names = {(0, 4): "lower", (7, 3): "upper"}
        names |= dict.fromkeys(((1, 0), (2, 1), (3, 2)), "end")
        names |= dict.fromkeys(arcs, "head")
        return Blocks(corners, bar + head, dict.fromkeys(arcs, (c, y0)), names)


@dataclass(frozen=True, kw_only=True)
class Outline(_Meshed):
    """The inside of a closed line of straight and circular parts, with triangles.

    Part k leads from vertex k to the next; bulges[k] is the tangent of a quarter of
    the angle it turns through, 0 for a straight part, 1 for a half circle that bulges
    outwards.
    """

    vertices: tuple[Point, ...] = quantity("m, counter-clockwise")
    bulges: tuple[float, ...] = quantity("1; none: all parts are straight", default=())
    names: tuple[str, ...] = ()  # of the parts; none: `outline` alone

    def check(self) -> None:
        super().check()
        n = len(self.vertices)
        if n < 2 or (n < 3 and not any(self.bulges)):
            raise self.fail("vertices", self.vertices, "give three or more")
        for name in ("bulges", "names"):
            value = getattr(self, name)
            if value and len(value) != n:
                raise self.fail(name, value, f"give one for each of {n} vertices")
        if self.cells != "triangle":
            raise self.fail("cells", self.cells, "an outline has triangles")
        for k, (a, b) in enumerate(pairwise((*self.vertices, self.vertices[0]))):
            if a == b:
                valid = "the same as the next; leave one out"
                raise self.fail(f"vertices[{k}]", a, valid)

    def parts(self) -> tuple[Part, ...]:
        """Return the parts of the outline, in order."""
        n = len(self.vertices)
        bulges = self.bulges or (0.0,) * n
        names = self.names or ("",) * n
        ends = pairwise((*self.vertices, self.vertices[0]))
        return tuple(
            Part(a, b, _center(a, b, bulge), bulge > 0.0, name)
            for (a, b), bulge, name in zip(ends, bulges, names, strict=True)
        )


@dataclass(frozen=True, kw_only=True)
class Rod(MeshShape):
    """A round rod along x that only stretches; boundaries `left` and `right`.

    Equal elements of order 1, for a body with modes = "full".
    """

    length: float = quantity("m", above=0.0)
    radius: float = quantity("m", above=0.0)
    elements: int = quantity("number of elements", default=100)
    start: Point = quantity("m, its left end", default=(0.0, 0.0))

    def check(self) -> None:
        if not 2 <= self.elements <= MOST_ELEMENTS:
            valid = f"give 2 to {MOST_ELEMENTS}"
            raise self.fail("elements", self.elements, valid)


@dataclass(frozen=True, kw_only=True)
class Gauge(Element, family="gauge", is_kind=True):
    """A strain gauge: what a body is stretched by at a place, in a direction.

    strain = d'eps d,  d = (cos angle, sin angle)

    Place and direction are in the axes of the mesh.
    """

    point: Point = quantity("m")
    angle: float = quantity("rad", default=0.0)


@dataclass(frozen=True, kw_only=True)
class Patch(Element, family="patch", is_kind=True):
    """Nodes of a boundary where contact can happen, or that a joint holds.

    All nodes of the boundary, or those within a distance of a place.
    """

    boundary: str = "outline"  # name in the mesh
    center: Point | None = quantity("m, in the mesh's axes", default=None)
    radius: float | None = quantity("m, around the centre", default=None, above=0.0)

    def check(self) -> None:
        if (self.center is None) != (self.radius is None):
            valid = "give center and radius, or neither"
            raise self.fail("radius", self.radius, valid)


def _square(center: Point, half: float) -> tuple[Point, ...]:
    x, y = center
    signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return tuple((x + half * i, y + half * j) for i, j in signs)


def _center(a: Point, b: Point, bulge: float) -> Point | None:
    """Return the centre of the arc from a to b, to the left of a -> b if bulge > 0."""
    if bulge == 0.0:
        return None
    # From the middle of the chord, its left normal times (1 - bulge^2)/(4 bulge).
    f = 0.25 * (1.0 - bulge * bulge) / bulge
    x, y = 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])
    return (x - f * (b[1] - a[1]), y + f * (b[0] - a[0]))
