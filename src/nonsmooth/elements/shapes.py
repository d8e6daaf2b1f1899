"""Shapes on bodies, for contact.

A contact is a disc on body b (a point is a disc of radius zero) against a surface
on body a; other pairs are taken apart into such discs and surfaces when a model is
packed. A surface supplies the static function `nearest(p, a, b, out)`:

    out[0]    distance of b's centre from the surface, negative inside
    out[1:3]  unit normal at the nearest point, out of the surface, global axes
    out[3]    rate of rotation of the normal, rad/s

`p` holds the fields in the frame of a's body, `a[0:6]` the motion of that body's
origin, `b[0:6]` that of the disc's centre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from nonsmooth.elements.base import Element, quantity

Point = tuple[float, float]  # m, m


@dataclass(frozen=True, kw_only=True)
class Shape(Element, family="shape"):
    """Base of all shapes."""

    row_name: ClassVar[str] = "nearest"

    def corners(self) -> tuple[Point, ...]:
        """Return the points that stand for this shape on body b."""
        return ()

    def radius_of_corners(self) -> float:
        """Return the radius of the discs at `corners`, m."""
        return 0.0


@dataclass(frozen=True, kw_only=True)
class Line(Shape):
    """A straight, endless surface; the body is below it, seen along its direction."""

    point: Point = (0.0, 0.0)  # m
    angle: float = quantity("rad, of its direction", default=0.0)

    @staticmethod
    def nearest(p, a, b, out):
        phi = a[2] + p[2]
        nx, ny = -math.sin(phi), math.cos(phi)
        c, s = math.cos(a[2]), math.sin(a[2])
        dx = b[0] - a[0] - (c * p[0] - s * p[1])
        dy = b[1] - a[1] - (s * p[0] + c * p[1])
        out[0] = nx * dx + ny * dy
        out[1] = nx
        out[2] = ny
        out[3] = a[5]


@dataclass(frozen=True, kw_only=True)
class Circle(Shape):
    """A disc."""

    center: Point = (0.0, 0.0)  # m
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
        out[1] = dx / distance
        out[2] = dy / distance
        out[3] = (dx * wy - dy * wx) / (distance * distance)


@dataclass(frozen=True, kw_only=True)
class Segment(Shape):
    """A straight surface between two points; touched from either side, or on an end."""

    start: Point  # m
    end: Point  # m

    def check(self) -> None:
        if math.dist(self.start, self.end) == 0.0:
            raise self.fail("end", self.end, "must differ from start")

    def corners(self) -> tuple[Point, ...]:
        return (self.start, self.end)

    @staticmethod
    def nearest(p, a, b, out):
        c, s = math.cos(a[2]), math.sin(a[2])
        # b's centre in a's frame, relative to the start
        gx, gy = b[0] - a[0], b[1] - a[1]
        x, y = c * gx + s * gy - p[0], -s * gx + c * gy - p[1]
        ex, ey = p[2] - p[0], p[3] - p[1]
        length = math.hypot(ex, ey)
        ux, uy = ex / length, ey / length
        along, across = ux * x + uy * y, -uy * x + ux * y
        if 0.0 <= along <= length:
            side = 1.0 if across >= 0.0 else -1.0
            out[0] = side * across
            lx, ly = -side * uy, side * ux
            out[3] = a[5]
            out[1] = c * lx - s * ly
            out[2] = s * lx + c * ly
        else:
            # nearest to an end: as a disc of no radius
            kx, ky = (p[0], p[1]) if along < 0.0 else (p[2], p[3])
            rx, ry = c * kx - s * ky, s * kx + c * ky
            dx, dy = gx - rx, gy - ry
            wx, wy = b[3] - a[3] + a[5] * ry, b[4] - a[4] - a[5] * rx
            distance = math.hypot(dx, dy)
            out[0] = distance
            out[1] = dx / distance
            out[2] = dy / distance
            out[3] = (dx * wy - dy * wx) / (distance * distance)


@dataclass(frozen=True, kw_only=True)
class Polygon(Shape):
    """A convex polygon, its vertices counter-clockwise."""

    vertices: tuple[Point, ...]  # m

    def check(self) -> None:
        n = len(self.vertices)
        if n < 3:
            raise self.fail("vertices", self.vertices, "give at least three")
        turns = 0.0
        for k in range(n):
            (x0, y0), (x1, y1), (x2, y2) = (
                self.vertices[(k + i) % n] for i in range(3)
            )
            cross = (x1 - x0) * (y2 - y1) - (y1 - y0) * (x2 - x1)
            if not cross > 0.0:
                raise self.fail(
                    f"vertices[{(k + 1) % n}]",
                    self.vertices[(k + 1) % n],
                    "must be a strictly convex corner, vertices counter-clockwise",
                )
            along = (x1 - x0) * (x2 - x1) + (y1 - y0) * (y2 - y1)
            turns += math.atan2(cross, along)
        if turns > 2.0 * math.pi + 1e-6:
            raise self.fail(
                "vertices", self.vertices, "the outline intersects itself"
            )

    def corners(self) -> tuple[Point, ...]:
        return self.vertices

    def parameters(self) -> list[float]:
        return [float(len(self.vertices)), *(c for v in self.vertices for c in v)]

    @staticmethod
    def nearest(p, a, b, out):
        n = int(p[0])
        c, s = math.cos(a[2]), math.sin(a[2])
        gx, gy = b[0] - a[0], b[1] - a[1]
        x, y = c * gx + s * gy, -s * gx + c * gy
        # the edge whose line is farthest below b's centre
        best, edge = -math.inf, 0
        for k in range(n):
            o, q = 1 + 2 * k, 1 + 2 * ((k + 1) % n)
            ex, ey = p[q] - p[o], p[q + 1] - p[o + 1]
            length = math.hypot(ex, ey)
            height = (ey * (x - p[o]) - ex * (y - p[o + 1])) / length
            if height > best:
                best, edge = height, k
        o, q = 1 + 2 * edge, 1 + 2 * ((edge + 1) % n)
        ex, ey = p[q] - p[o], p[q + 1] - p[o + 1]
        length = math.hypot(ex, ey)
        along = (ex * (x - p[o]) + ey * (y - p[o + 1])) / length
        if best <= 0.0 or 0.0 <= along <= length:
            lx, ly = ey / length, -ex / length
            out[0] = best
            out[1] = c * lx - s * ly
            out[2] = s * lx + c * ly
            out[3] = a[5]
        else:
            # nearest to a vertex
            if along < 0.0:
                kx, ky = p[o], p[o + 1]
            else:
                kx, ky = p[q], p[q + 1]
            rx, ry = c * kx - s * ky, s * kx + c * ky
            dx, dy = gx - rx, gy - ry
            wx, wy = b[3] - a[3] + a[5] * ry, b[4] - a[4] - a[5] * rx
            distance = math.hypot(dx, dy)
            out[0] = distance
            out[1] = dx / distance
            out[2] = dy / distance
            out[3] = (dx * wy - dy * wx) / (distance * distance)
