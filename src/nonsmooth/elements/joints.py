"""Joints: constraints between two markers.

A kind supplies the static function `rows(p, s, a, b, out)`. For each of its
`n_row` rows it writes nine numbers in terms of the poses (x, y, theta) of markers
a and b:

    out[9 r]         g            violation
    out[9 r + 1]     dg/dt        explicit time rate (of drives)
    out[9 r + 2]     bias         g'' = G_a a_a + G_b a_b + bias
    out[9 r + 3: 6]  G_a = dg/d(pose of a)
    out[9 r + 6: 9]  G_b = dg/d(pose of b)

`a[0:3]`, `b[0:3]` are the poses, `a[3:6]`, `b[3:6]` their rates. The reaction on b
is G_b^T lam, a force at the marker and a couple, in global axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from nonsmooth.elements.base import Named, quantity


@dataclass(frozen=True, kw_only=True)
class Joint(Named, family="joint"):
    """Base of all joints; `a` and `b` are "body" or "body.point"."""

    row_name: ClassVar[str] = "rows"
    n_row: ClassVar[int] = 0
    # Whether the joint takes hold of the rotation of a, of b.
    holds_angle: ClassVar[tuple[bool, bool]] = (False, False)

    a: str = "ground"
    b: str


@dataclass(frozen=True, kw_only=True)
class Revolute(Joint):
    """Two points stay together.

    g = p_b - p_a
    """

    n_row: ClassVar[int] = 2

    @staticmethod
    def rows(p, s, a, b, out):
        for r in range(2):
            o = 9 * r
            for i in range(9):
                out[o + i] = 0.0
            out[o] = b[r] - a[r]
            out[o + 3 + r] = -1.0
            out[o + 6 + r] = 1.0


@dataclass(frozen=True, kw_only=True)
class PinInSlot(Joint):
    """Point b stays on a line through point a, turning with a's body.

    g = n·(p_b - p_a),  n = (-sin φ, cos φ),  φ = theta_a + axis
    """

    n_row: ClassVar[int] = 1
    holds_angle: ClassVar[tuple[bool, bool]] = (True, False)

    axis: float = quantity("rad, direction of the slot in a's frame", default=0.0)

    @staticmethod
    def rows(p, s, a, b, out):
        phi = a[2] + p[0]
        ux, uy = math.cos(phi), math.sin(phi)
        dx, dy = b[0] - a[0], b[1] - a[1]
        wx, wy = b[3] - a[3], b[4] - a[4]
        omega = a[5]
        along = ux * dx + uy * dy
        across = -uy * dx + ux * dy
        out[0] = across
        out[1] = 0.0
        out[2] = -2.0 * omega * (ux * wx + uy * wy) - omega * omega * across
        out[3] = uy
        out[4] = -ux
        out[5] = -along
        out[6] = -uy
        out[7] = ux
        out[8] = 0.0


@dataclass(frozen=True, kw_only=True)
class Prismatic(Joint):
    """Point b slides on a line fixed in a, without turning relative to a.

    g_1 = n·(p_b - p_a),  g_2 = theta_b - theta_a - angle
    """

    n_row: ClassVar[int] = 2
    holds_angle: ClassVar[tuple[bool, bool]] = (True, True)

    axis: float = quantity("rad, direction of the guide in a's frame", default=0.0)
    angle: float = quantity("rad, of b relative to a", default=0.0)

    @staticmethod
    def rows(p, s, a, b, out):
        phi = a[2] + p[0]
        ux, uy = math.cos(phi), math.sin(phi)
        dx, dy = b[0] - a[0], b[1] - a[1]
        wx, wy = b[3] - a[3], b[4] - a[4]
        omega = a[5]
        across = -uy * dx + ux * dy
        out[0] = across
        out[1] = 0.0
        out[2] = -2.0 * omega * (ux * wx + uy * wy) - omega * omega * across
        out[3] = uy
        out[4] = -ux
        out[5] = -(ux * dx + uy * dy)
        out[6] = -uy
        out[7] = ux
        out[8] = 0.0
        for i in range(9, 18):
            out[i] = 0.0
        out[9] = b[2] - a[2] - p[1]
        out[14] = -1.0
        out[17] = 1.0


@dataclass(frozen=True, kw_only=True)
class Weld(Joint):
    """Two markers stay together and keep their relative angle.

    g = (p_b - p_a, theta_b - theta_a - angle)
    """

    n_row: ClassVar[int] = 3
    holds_angle: ClassVar[tuple[bool, bool]] = (True, True)

    angle: float = quantity("rad, of b relative to a", default=0.0)

    @staticmethod
    def rows(p, s, a, b, out):
        for r in range(3):
            o = 9 * r
            for i in range(9):
                out[o + i] = 0.0
            out[o] = b[r] - a[r]
            out[o + 3 + r] = -1.0
            out[o + 6 + r] = 1.0
        out[18] -= p[0]


@dataclass(frozen=True, kw_only=True)
class Distance(Joint):
    """Two points keep their distance: a massless rod with pins.

    g = |p_b - p_a| - length
    """

    n_row: ClassVar[int] = 1

    length: float = quantity("m", above=0.0)

    @staticmethod
    def rows(p, s, a, b, out):
        dx, dy = b[0] - a[0], b[1] - a[1]
        wx, wy = b[3] - a[3], b[4] - a[4]
        distance = math.hypot(dx, dy)
        ux, uy = dx / distance, dy / distance
        across = ux * wy - uy * wx
        out[0] = distance - p[0]
        out[1] = 0.0
        out[2] = across * across / distance
        out[3] = -ux
        out[4] = -uy
        out[5] = 0.0
        out[6] = ux
        out[7] = uy
        out[8] = 0.0
