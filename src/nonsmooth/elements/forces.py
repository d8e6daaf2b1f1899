"""Forces between two markers, or on one marker.

A kind supplies the static function `wrench(p, s, t, a, b, out)`:

    out[0:3]  force (x, y) and couple on b, at the marker, global axes
    out[3:6]  the same on a
    out[6]    potential energy          only where `has_potential` is True
    out[7]    power of the rest         only where `has_potential` is True

`p` holds the numbers among the fields in order, `s` the values of its time laws,
three each; `a` and `b` pose and rate of the markers. All eight must be written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from nonsmooth.elements.base import Named, quantity
from nonsmooth.elements.expressions import MARKER_VARIABLES, parse
from nonsmooth.elements.laws import TimeLaw


@dataclass(frozen=True, kw_only=True)
class Force(Named, family="force"):
    """Base of all forces; `a` and `b` are "body" or "body.point"."""

    row_name: ClassVar[str] = "wrench"
    has_potential: ClassVar[bool] = False
    # Whether the kind puts a couple on a, on b.
    couples: ClassVar[tuple[bool, bool]] = (False, False)

    a: str = "ground"
    b: str

    @property
    def turns(self) -> tuple[bool, bool]:
        """Whether this force puts a couple on a, on b."""
        return self.couples

    @property
    def sees_angle(self) -> tuple[bool, bool]:
        """Whether it depends on the rotation of a, of b, as one that turns with b."""
        is_carried = getattr(self, "frame", "global") == "body"
        return (self.turns[0], self.turns[1] or is_carried)


@dataclass(frozen=True, kw_only=True)
class SpringDamper(Force):
    """A linear spring and damper on the line between two points.

    F = stiffness (l - rest_length) + damping l',  pulling b towards a
    """

    has_potential: ClassVar[bool] = True

    stiffness: float = quantity("N/m", default=0.0, minimum=0.0)
    damping: float = quantity("N s/m", default=0.0, minimum=0.0)
    rest_length: float = quantity("m", default=0.0, minimum=0.0)

    @staticmethod
    def wrench(p, s, t, a, b, out):
        dx, dy = b[0] - a[0], b[1] - a[1]
        length = math.hypot(dx, dy)
        if length > 0.0:
            ux, uy = dx / length, dy / length
            rate = ux * (b[3] - a[3]) + uy * (b[4] - a[4])
            stretch = length - p[2]
            pull = p[0] * stretch + p[1] * rate
            fx, fy = -pull * ux, -pull * uy
            loss = -p[1] * rate * rate
        else:
            # The direction of a spring of no length is undefined unless it is also
            # unstretched, where force and damping are isotropic.
            stretch = -p[2]
            fx = -p[1] * (b[3] - a[3]) if p[2] == 0.0 else math.nan
            fy = -p[1] * (b[4] - a[4]) if p[2] == 0.0 else math.nan
            loss = fx * (b[3] - a[3]) + fy * (b[4] - a[4])
        out[0] = fx
        out[1] = fy
        out[2] = 0.0
        out[3] = -fx
        out[4] = -fy
        out[5] = 0.0
        out[6] = 0.5 * p[0] * stretch * stretch
        out[7] = loss


@dataclass(frozen=True, kw_only=True)
class TorsionSpring(Force):
    """A linear torsion spring and damper.

    T = -stiffness (theta_b - theta_a - rest_angle) - damping (omega_b - omega_a), on b
    """

    has_potential: ClassVar[bool] = True
    couples: ClassVar[tuple[bool, bool]] = (True, True)

    stiffness: float = quantity("N m/rad", default=0.0, minimum=0.0)
    damping: float = quantity("N m s/rad", default=0.0, minimum=0.0)
    rest_angle: float = quantity("rad", default=0.0)

    @staticmethod
    def wrench(p, s, t, a, b, out):
        twist = b[2] - a[2] - p[2]
        rate = b[5] - a[5]
        torque = -p[0] * twist - p[1] * rate
        out[0] = 0.0
        out[1] = 0.0
        out[2] = torque
        out[3] = 0.0
        out[4] = 0.0
        out[5] = -torque
        out[6] = 0.5 * p[0] * twist * twist
        out[7] = -p[1] * rate * rate


@dataclass(frozen=True, kw_only=True)
class PointForce(Force):
    """A prescribed force on point b, in global axes or turning with b's body."""

    fx: TimeLaw | float = quantity("N", default=0.0)
    fy: TimeLaw | float = quantity("N", default=0.0)
    frame: Literal["global", "body"] = "global"

    def parameters(self) -> list[float]:
        return [1.0 if self.frame == "body" else 0.0]

    @staticmethod
    def wrench(p, s, t, a, b, out):
        fx, fy = s[0], s[3]
        if p[0] != 0.0:
            c, n = math.cos(b[2]), math.sin(b[2])
            fx, fy = c * fx - n * fy, n * fx + c * fy
        out[0] = fx
        out[1] = fy
        for i in range(2, 8):
            out[i] = 0.0

    def check(self) -> None:
        super().check()
        if self.a != "ground":
            raise self.fail("a", self.a, "a prescribed force acts on b alone; omit a")


@dataclass(frozen=True, kw_only=True)
class Couple(Force):
    """A prescribed torque on b, and its reaction on a."""

    couples: ClassVar[tuple[bool, bool]] = (True, True)

    torque: TimeLaw | float = quantity("N m")

    def parameters(self) -> list[float]:
        return []

    @staticmethod
    def wrench(p, s, t, a, b, out):
        for i in range(8):
            out[i] = 0.0
        out[2] = s[0]
        out[5] = -s[0]


@dataclass(frozen=True, kw_only=True)
class ExpressionForce(Force):
    """Force and torque on b as text in t, x, y, theta, vx, vy, omega.

    The variables are the motion of b relative to a, in global axes; a receives the
    opposite force, and the opposite moment.
    """

    row_kernel: ClassVar[str] = "mechanics.program:marker_force"

    fx: str = quantity("N", default="0")
    fy: str = quantity("N", default="0")
    torque: str = quantity("N m", default="0")

    @property
    def turns(self) -> tuple[bool, bool]:
        """Whether the force puts a couple on a, on b."""
        return (True, self.torque.strip() != "0")

    def check(self) -> None:
        super().check()
        self.parameters()

    def programs(self) -> list[tuple[float, ...]]:
        return [
            parse(getattr(self, name), MARKER_VARIABLES, f"{self.label()}, {name}")
            for name in ("fx", "fy", "torque")
        ]

    def parameters(self) -> list[float]:
        return [number for program in self.programs() for number in program]
