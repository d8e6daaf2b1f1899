"""Drives: one coordinate of marker b relative to marker a follows a time law.

A drive is a joint row with a time rate; its multiplier is the drive's force or
torque on b. With `a="ground"` the motion is absolute.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from nonsmooth.elements.base import quantity
from nonsmooth.elements.joints import Joint
from nonsmooth.elements.laws import TimeLaw


@dataclass(frozen=True, kw_only=True)
class Drive(Joint, family="drive"):
    """Base of all drives; `s` holds the law's value, rate and acceleration."""

    n_row: ClassVar[int] = 1
    # Name of the multiplier's column.
    output: ClassVar[str] = "force"

    law: TimeLaw


@dataclass(frozen=True, kw_only=True)
class RotationDrive(Drive):
    """Prescribed rotation; reports `torque`.

    g = theta_b - theta_a - s(t)
    """

    holds_angle: ClassVar[tuple[bool, bool]] = (True, True)
    output: ClassVar[str] = "torque"

    @staticmethod
    def rows(p, s, a, b, out):
        for i in range(9):
            out[i] = 0.0
        out[0] = b[2] - a[2] - s[0]
        out[1] = -s[1]
        out[2] = -s[2]
        out[5] = -1.0
        out[8] = 1.0


@dataclass(frozen=True, kw_only=True)
class TranslationDrive(Drive):
    """Prescribed translation along an axis fixed in a; reports `force`.

    g = u·(p_b - p_a) - s(t),  u = (cos φ, sin φ),  φ = theta_a + axis
    """

    holds_angle: ClassVar[tuple[bool, bool]] = (True, False)

    axis: float = quantity("rad, in a's frame", default=0.0)

    @staticmethod
    def rows(p, s, a, b, out):
        phi = a[2] + p[0]
        ux, uy = math.cos(phi), math.sin(phi)
        dx, dy = b[0] - a[0], b[1] - a[1]
        wx, wy = b[3] - a[3], b[4] - a[4]
        omega = a[5]
        along = ux * dx + uy * dy
        out[0] = along - s[0]
        out[1] = -s[1]
        out[2] = -s[2] + 2.0 * omega * (-uy * wx + ux * wy) - omega * omega * along
        out[3] = -ux
        out[4] = -uy
        out[5] = -uy * dx + ux * dy
        out[6] = ux
        out[7] = uy
        out[8] = 0.0
