"""Normal laws of compliant contact.

A kind supplies the static function `force(p, overlap, overlap_rate, approach_rate)`
for overlap >= 0: the force that presses the bodies apart, *not* cut off at zero. The
engine cuts it off, and watches its sign: a damped contact is released where the
force would pull, while the overlap is still positive. `approach_rate` is the rate of
overlap latched at touch-down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nonsmooth.elements.base import Element, quantity


@dataclass(frozen=True, kw_only=True)
class NormalLaw(Element, family="normal law"):
    """Base of all normal laws."""

    row_name: ClassVar[str] = "force"


@dataclass(frozen=True, kw_only=True)
class KelvinVoigt(NormalLaw):
    """Linear spring and damper: F = stiffness d + damping d'."""

    stiffness: float = quantity("N/m", above=0.0)
    damping: float = quantity("N s/m", default=0.0, minimum=0.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap + p[1] * overlap_rate


@dataclass(frozen=True, kw_only=True)
class Hertz(NormalLaw):
    """Elastic, without loss: F = stiffness d^exponent [Hertz1881]_."""

    stiffness: float = quantity("N/m^exponent", above=0.0)
    exponent: float = quantity("", default=1.5, minimum=1.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap ** p[1]


@dataclass(frozen=True, kw_only=True)
class DampedHertz(NormalLaw):
    """F = stiffness d^exponent + damping d d' [WangWang2015]_ Eq. (1)."""

    stiffness: float = quantity("N/m^exponent", above=0.0)
    exponent: float = quantity("", default=1.5, minimum=1.0)
    damping: float = quantity("N s/m^2", default=0.0, minimum=0.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap ** p[1] + p[2] * overlap * overlap_rate


@dataclass(frozen=True, kw_only=True)
class HuntCrossley(NormalLaw):
    """F = stiffness d^exponent (1 + damping d') [HuntCrossley1975]_."""

    stiffness: float = quantity("N/m^exponent", above=0.0)
    exponent: float = quantity("", default=1.5, minimum=1.0)
    damping: float = quantity("s/m", default=0.0, minimum=0.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap ** p[1] * (1.0 + p[2] * overlap_rate)


@dataclass(frozen=True, kw_only=True)
class LankaraniNikravesh(NormalLaw):
    """F = stiffness d^n (1 + 3 (1 - e^2)/4 d'/d'_0) [LankaraniNikravesh1990]_.

    e is the restitution, d'_0 the rate at touch-down; meant for e near one.
    """

    stiffness: float = quantity("N/m^exponent", above=0.0)
    exponent: float = quantity("", default=1.5, minimum=1.0)
    restitution: float = quantity("", default=1.0, minimum=0.0)

    def check(self) -> None:
        if self.restitution > 1.0:
            raise self.fail("restitution", self.restitution, "must be <= 1")

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        loss = 0.75 * (1.0 - p[2] * p[2])
        ratio = overlap_rate / approach_rate if approach_rate > 0.0 else 0.0
        return p[0] * overlap ** p[1] * (1.0 + loss * ratio)


@dataclass(frozen=True, kw_only=True)
class Flores(NormalLaw):
    """F = stiffness d^n (1 + 8 (1 - e)/(5 e) d'/d'_0) [Flores2011]_.

    e is the restitution, d'_0 the rate at touch-down; for the whole range of e.
    """

    stiffness: float = quantity("N/m^exponent", above=0.0)
    exponent: float = quantity("", default=1.5, minimum=1.0)
    restitution: float = quantity("", default=1.0, above=0.0)

    def check(self) -> None:
        if self.restitution > 1.0:
            raise self.fail("restitution", self.restitution, "must be <= 1")

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        loss = 8.0 * (1.0 - p[2]) / (5.0 * p[2])
        ratio = overlap_rate / approach_rate if approach_rate > 0.0 else 0.0
        return p[0] * overlap ** p[1] * (1.0 + loss * ratio)
