"""Shapes on bodies, for contact.

A contact is a disc on body b (a point is a disc of radius zero) against a surface
on body a; other pairs are taken apart into such discs and surfaces when a model is
packed, but for a polygon on a line or polygon, which is one contact (`pack.outlines`).
A surface supplies the static function `nearest(p, a, b, out)`:

    out[0]    distance of b's centre from the surface, m, negative inside
    out[1:3]  unit normal at the nearest point, out of the surface, global axes
    out[3]    rate of rotation of the normal, rad/s

`p` holds the fields in the frame of a's body, `a[0:6]` the motion of that body's
origin, `b[0:6]` that of the disc's centre. Only these four may be written.

Contact laws see the overlap of the undeformed outlines, so it has to be small beside
radii, edges and segments. Inside a corner, where two edges are equally near, the
normal jumps from one to the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from nonsmooth.elements.base import Element, quantity
from nonsmooth.errors import ModelError

Point = tuple[float, float]  # m, m

# Sine of the smallest turn that counts as a corner. Coordinates written with a few
# digits put a vertex within 1e-15 of the line it was meant to lie on.
_STRAIGHT = 1e-12


@dataclass(frozen=True, kw_only=True)
class Shape(Element, family="shape"):
    """Base of all shapes; places are in the frame of the body that has the shape."""

    row_name: ClassVar[str] = "nearest"

    def corners(self) -> tuple[Point, ...]:
        """Return the centres of the discs that stand for this shape on body b."""
        return ()

    def radius_of_corners(self) -> float:
        """Return the radius of these discs, m."""
        return 0.0

    def pair_parameters(self, arm: Point | None) -> list[float]:
        """Return the parameters in a pair.

        `arm` leads from a corner of the other body's outline to its middle, in that
        body's frame; None for a point or a disc.
        """
        return self.parameters()


@dataclass(frozen=True, kw_only=True)
class Line(Shape):
    """A straight surface without ends; the body is on the right of its direction.

    distance = n·(p_b - point),  n = (-sin φ, cos φ),  φ = theta_a + angle

    With angle 0 it is a floor, the body below. It can be touched, but has no corners
    to touch with: it stands in `a` of a contact, never in `b`.
    """

    point: Point = quantity("m", default=(0.0, 0.0))
    angle: float = quantity("rad, of its direction", default=0.0)

    def parameters(self) -> list[float]:
        return [*self.point, math.cos(self.angle), math.sin(self.angle)]

    @staticmethod
    def nearest(p, a, b, out):
        c, s = 1.0, 0.0
        if a[2] != 0.0:
            c, s = math.cos(a[2]), math.sin(a[2])
        nx, ny = -(s * p[2] + c * p[3]), c * p[2] - s * p[3]
        dx = b[0] - a[0] - (c * p[0] - s * p[1])
        dy = b[1] - a[1] - (s * p[0] + c * p[1])
        out[0] = nx * dx + ny * dy
        out[1] = nx
        out[2] = ny
        out[3] = a[5]


@dataclass(frozen=True, kw_only=True)
class Circle(Shape):
    """A disc.

    distance = |p_b - center| - radius

    A centre that falls on the other has no nearest point: the normal is NaN there,
    and a run that comes to it fails.
    """

    center: Point = quantity("m", default=(0.0, 0.0))
    radius: float = quantity("m", above=0.0)

    def corners(self) -> tuple[Point, ...]:
        return (self.center,)

    def radius_of_corners(self) -> float:
        return self.radius

    @staticmethod
    def nearest(p, a, b, out):
        c, s = math.cos(a[2]), math.sin(a[2])
        rx, ry = c * p[0] - s * p[1], s * p[0] + c * p[1]
        dx, dy = b[0] - a[0] - rx, b[1] - a[1] - ry
        wx, wy = b[3] - a[3] + a[5] * ry, b[4] - a[4] - a[5] * rx
        distance = math.hypot(dx, dy)
        out[0] = distance - p[2]
        if distance > 0.0:
            out[1] = dx / distance
            out[2] = dy / distance
            out[3] = (dx * wy - dy * wx) / (distance * distance)
        else:
            out[1] = math.nan
            out[2] = math.nan
            out[3] = math.nan


@dataclass(frozen=True, kw_only=True)
class Segment(Shape):
    """A straight surface between two points; the body is on the right of start to end.

    distance = n·(p_b - start)            between the ends; minus that from behind
    distance = |p_b - end|, |p_b - start|  beyond them

    It is touched from both sides, as a thin plate: from which follows from where a body
    has been. A point that starts below it by more than 0.005 of its length, or a disc
    whose centre does, starts behind; one that is nearer does if the middle of its body
    is. A point that slides past an end leaves at once; where it comes back no lower
    than twice the deepest it has been in segments of this body it is on the same side
    again, and on the other where it is lower. So segments that continue each other
    carry a point across their common end, but a disc rests on both of them within
    sqrt(2 radius overlap) of it.
    """

    start: Point = quantity("m")
    end: Point = quantity("m")

    def check(self) -> None:
        if math.dist(self.start, self.end) == 0.0:
            raise self.fail("end", self.end, "must differ from start")

    def corners(self) -> tuple[Point, ...]:
        return (self.start, self.end)

    @staticmethod
    def nearest(p, a, b, out):
        c, s = math.cos(a[2]), math.sin(a[2])
        # b's centre in a's frame, from start and from end. Each end is judged from
        # itself: then a centre beyond it is never on it, and has a direction.
        gx, gy = b[0] - a[0], b[1] - a[1]
        qx, qy = c * gx + s * gy, -s * gx + c * gy
        x, y = qx - p[0], qy - p[1]
        u, v = qx - p[2], qy - p[3]
        ex, ey = p[2] - p[0], p[3] - p[1]
        before, beyond = ex * x + ey * y < 0.0, ex * u + ey * v > 0.0
        if before or beyond:
            if beyond:
                x, y = u, v
            distance = math.hypot(x, y)
            dx, dy = c * x - s * y, s * x + c * y
            wx = b[3] - a[3] + a[5] * (gy - dy)
            wy = b[4] - a[4] - a[5] * (gx - dx)
            out[0] = distance
            out[1] = dx / distance
            out[2] = dy / distance
            out[3] = (dx * wy - dy * wx) / (distance * distance)
        else:
            length = math.hypot(ex, ey)
            nx, ny = -ey / length, ex / length
            out[0] = nx * x + ny * y
            out[1] = c * nx - s * ny
            out[2] = s * nx + c * ny
            out[3] = a[5]


@dataclass(frozen=True, kw_only=True)
class Polygon(Shape):
    """A convex polygon, its vertices counter-clockwise.

    distance = max n_k·(p_b - vertex_k)  inside, and before an edge
    distance = |p_b - vertex_k|          before a vertex

    n_k is the outward normal of the edge that begins at vertex k. Inside, for an end of
    a segment, edges that look the way the segment ends do not count. A body that is not
    convex is several polygons. Polygons on lines and on each other touch by areas.
    """

    vertices: tuple[Point, ...] = quantity("m")

    def check(self) -> None:
        n = len(self.vertices)
        if n < 3:
            raise self.fail("vertices", self.vertices, "give at least three")
        for k, vertex in enumerate(self.vertices):
            if vertex == self.vertices[k - 1]:
                # The outline closes by itself, from the last vertex to the first.
                k, other = (k, k - 1) if k > 0 else (n - 1, 0)
                raise self._fail_at(k, f"the same as vertices[{other}]; leave it out")
        turns = [self._turn(k) for k in range(n)]
        if not math.isfinite(sum(turns)):
            valid = "too large, their products overflow; give sizes below 1e150 m"
            raise self.fail("vertices", self.vertices, valid)
        n_turn = round(sum(turns) / (2.0 * math.pi))  # a star goes around twice
        side = -1.0 if n_turn < 0 else 1.0
        wrong = [k for k in range(n) if not side * math.sin(turns[k]) > _STRAIGHT]
        if not wrong and n_turn == 1:
            return
        if not wrong and n_turn == -1:
            raise self.fail(
                "vertices", self.vertices, "they run clockwise; reverse their order"
            )
        self._refuse_crossing()
        if not wrong:
            raise self.fail("vertices", self.vertices, "they go around more than once")
        k = wrong[0]
        if abs(math.sin(turns[k])) > _STRAIGHT:
            valid = "the outline turns inwards here; give several convex polygons"
        elif math.cos(turns[k]) > 0.0:
            valid = "on the straight line between its neighbours; leave it out"
        else:
            valid = "the outline turns back on itself here"
        raise self._fail_at(k, valid)

    def _fail_at(self, k: int, valid: str) -> ModelError:
        return self.fail(f"vertices[{k}]", self.vertices[k], valid)

    def _turn(self, k: int) -> float:
        """Return the turn of the outline at vertex k, rad, to the left > 0."""
        n = len(self.vertices)
        (x0, y0), (x1, y1), (x2, y2) = (self.vertices[(k + i) % n] for i in (-1, 0, 1))
        ux, uy, vx, vy = x1 - x0, y1 - y0, x2 - x1, y2 - y1
        return math.atan2(ux * vy - uy * vx, ux * vx + uy * vy)

    def _refuse_crossing(self) -> None:
        """Refuse two edges that cross."""
        edges = list(pairwise((*self.vertices, self.vertices[0])))
        for j, edge in enumerate(edges):
            for i, other in enumerate(edges[:j]):
                if _parts(edge, other) and _parts(other, edge):
                    raise self.fail(
                        "vertices",
                        self.vertices,
                        f"the edges after vertices[{i}] and vertices[{j}] cross; give "
                        "the vertices in order around the outline",
                    )

    def corners(self) -> tuple[Point, ...]:
        return self.vertices

    def parameters(self) -> list[float]:
        return self.pair_parameters(None)

    def pair_parameters(self, arm: Point | None) -> list[float]:
        # After the vertices: length of the arm, 0 for none, and the arm.
        tail = (0.0, 0.0, 0.0) if arm is None else (math.hypot(*arm), *arm)
        places = (c for v in self.vertices for c in v)
        return [float(len(self.vertices)), *places, *tail]

    @staticmethod
    def nearest(p, a, b, out):
        n = int(p[0])
        c, s = math.cos(a[2]), math.sin(a[2])
        gx, gy = b[0] - a[0], b[1] - a[1]
        qx, qy = c * gx + s * gy, -s * gx + c * gy
        # The edge whose line is farthest below b's centre holds the nearest point:
        # from there, the other normals point farther aside.
        best, edge = -math.inf, 0
        for k in range(n):
            i, j = 1 + 2 * k, 1 + 2 * ((k + 1) % n)
            ex, ey = p[j] - p[i], p[j + 1] - p[i + 1]
            height = (ey * (qx - p[i]) - ex * (qy - p[i + 1])) / math.hypot(ex, ey)
            if height > best:
                best, edge = height, k
        extra = 1 + 2 * n
        if p[extra] != 0.0 and best <= 1e-9 * p[extra]:
            # An end of a segment on b, inside or on the boundary: faces that look the
            # way it ends do not count. Without this a box would hang with its side on
            # the end of what it lies on.
            cb, sb = math.cos(b[2]), math.sin(b[2])
            mx = cb * p[extra + 1] - sb * p[extra + 2]
            my = sb * p[extra + 1] + cb * p[extra + 2]
            tx, ty = c * mx + s * my, -s * mx + c * my
            facing = -math.inf
            for k in range(n):
                i, j = 1 + 2 * k, 1 + 2 * ((k + 1) % n)
                ex, ey = p[j] - p[i], p[j + 1] - p[i + 1]
                length = math.hypot(ex, ey)
                # Faces along it look a little the wrong way where it lies on them.
                if ey * tx - ex * ty > -0.3 * length * p[extra]:
                    height = (ey * (qx - p[i]) - ex * (qy - p[i + 1])) / length
                    if height > facing:
                        facing, edge = height, k
            if facing > -math.inf:
                best = facing
        i, j = 1 + 2 * edge, 1 + 2 * ((edge + 1) % n)
        ex, ey = p[j] - p[i], p[j + 1] - p[i + 1]
        x, y = qx - p[i], qy - p[i + 1]
        u, v = qx - p[j], qy - p[j + 1]
        before, beyond = ex * x + ey * y < 0.0, ex * u + ey * v > 0.0
        if best > 0.0 and (before or beyond):
            if beyond:
                x, y = u, v
            distance = math.hypot(x, y)
            dx, dy = c * x - s * y, s * x + c * y
            wx = b[3] - a[3] + a[5] * (gy - dy)
            wy = b[4] - a[4] - a[5] * (gx - dx)
            out[0] = distance
            out[1] = dx / distance
            out[2] = dy / distance
            out[3] = (dx * wy - dy * wx) / (distance * distance)
        else:
            length = math.hypot(ex, ey)
            nx, ny = ey / length, -ex / length
            out[0] = best
            out[1] = c * nx - s * ny
            out[2] = s * nx + c * ny
            out[3] = a[5]


def _parts(edge: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Return whether the ends of the other edge are on both sides of this one."""
    (x0, y0), (x1, y1) = edge
    r, s = ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) for x, y in other)
    return r * s < 0.0
