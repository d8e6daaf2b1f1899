"""Normal laws of compliant contact.

A kind supplies the static function `force(p, overlap, overlap_rate, approach_rate)`
for overlap >= 0: the force that presses the bodies apart, N, *not* cut off at zero.
The engine cuts it off, and watches its sign: a damped contact is released where the
force would pull, while the overlap is still positive. `approach_rate` is the rate of
overlap latched at touch-down, zero for a contact that was closed at the start.

Below d is the overlap, d' its rate (positive while the bodies approach), d'_0 the
approach rate. Stiffness and damping belong to the pair of bodies, not to a material.
Between outlines they give the force of a full face, the shorter of the longest of both:
the pressure at a point is the force at its depth over that length.
With exponent 1.5 the laws are those of two balls, or of a ball and a plane; bodies
that touch along a line, as cylinders across the plane of motion, are nearer to 1.
Common exponents are taken apart in each law: a general power costs ten times a root.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from nonsmooth.elements.base import Element, quantity


@dataclass(frozen=True, kw_only=True)
class NormalLaw(Element, family="normal law"):
    """Base of all normal laws; derive from it for a law of your own.

    A kind is a dataclass with the static function

        force(p, overlap, overlap_rate, approach_rate)

    It returns the force that presses the bodies apart, N, for overlap >= 0; not cut off
    at zero: the engine does that, and a contact is released where the force would pull.

        p              the numbers among the fields, in their order
        overlap        m, not negative
        overlap_rate   m/s, positive while the bodies approach
        approach_rate  m/s, overlap_rate at touch-down; 0 of one closed at the start

    It is compiled: numbers, `math`, other functions of numbers. It must be smooth for
    overlap > 0, and may jump at zero.

    Examples
    --------
    A spring that hardens towards a depth, under a falling foot::

        from dataclasses import dataclass

        from nonsmooth import Contact, Model, NormalLaw, PointMass, simulate
        from nonsmooth.elements.base import quantity

        @dataclass(frozen=True, kw_only=True)
        class Foam(NormalLaw):
            stiffness: float = quantity("N/m", above=0.0)
            depth: float = quantity("m", above=0.0)
            damping: float = quantity("N s/m^2", default=0.0, minimum=0.0)

            @staticmethod
            def force(p, overlap, overlap_rate, approach_rate):
                spring = p[0] * overlap * (1.0 + (overlap / p[1]) ** 3)
                return spring + p[2] * overlap * overlap_rate

        foam = Foam(stiffness=2e4, depth=0.005, damping=5e4)
        foot = PointMass(name="foot", mass=3.0, position=(0.0, 0.1))
        sole = Contact(name="sole", b="foot", normal=foam)
        model = Model(gravity=(0.0, -9.81), bodies=[foot], contacts=[sole])
        print(simulate(model, until=0.5).events.counts())

    In a model file it is `{type: Foam, stiffness: 20000, depth: 0.005}`, with
    `--import` of the Python file that defines it.
    """

    row_name: ClassVar[str] = "force"


@dataclass(frozen=True, kw_only=True)
class KelvinVoigt(NormalLaw):
    """A linear spring and damper.

    F = stiffness d + damping d'

    The restitution does not depend on the speed. The force jumps to damping d'_0 at
    touch-down and would pull before the overlap ends, where the contact is released;
    neither is seen in an experiment [HuntCrossley1975]_.
    """

    stiffness: float = quantity("N/m", above=0.0)
    damping: float = quantity("N s/m", default=0.0, minimum=0.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        return p[0] * overlap + p[1] * overlap_rate


@dataclass(frozen=True, kw_only=True)
class Hertz(NormalLaw):
    """Elastic bodies, without loss.

    F = stiffness d^exponent

    For small smooth contact areas, and impacts slow beside the waves in the bodies
    [Hertz1881]_.
    """

    stiffness: float = quantity("N/m^exponent", above=0.0)
    exponent: float = quantity("", default=1.5, minimum=1.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        if p[1] == 1.5:
            power = overlap * math.sqrt(overlap)
        elif p[1] == 1.0:
            power = overlap
        else:
            power = overlap * overlap if p[1] == 2.0 else overlap ** p[1]
        return p[0] * power


@dataclass(frozen=True, kw_only=True)
class DampedHertz(NormalLaw):
    """Hertz's spring with a damper that grows with the overlap.

    F = stiffness d^exponent + damping d d'

    With exponent > 1 the force would pull before the overlap ends, and the contact is
    released there. The damping is found by experiment: [WangWang2015]_ Eq. (1),
    [ZhangWang2017]_ Eq. (2).
    """

    stiffness: float = quantity("N/m^exponent", above=0.0)
    exponent: float = quantity("", default=1.5, minimum=1.0)
    damping: float = quantity("N s/m^2", default=0.0, minimum=0.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        if p[1] == 1.5:
            power = overlap * math.sqrt(overlap)
        elif p[1] == 1.0:
            power = overlap
        else:
            power = overlap * overlap if p[1] == 2.0 else overlap ** p[1]
        return p[0] * power + p[2] * overlap * overlap_rate


@dataclass(frozen=True, kw_only=True)
class HuntCrossley(NormalLaw):
    """Hertz's spring with a damper in proportion to its force.

    F = stiffness d^exponent (1 + damping d')

    In an impact at small speed the restitution is 1 - 2/3 damping d'_0, whatever
    stiffness, exponent and mass. The law pulls only where the bodies part faster than
    1/damping, which an impact alone never brings about [HuntCrossley1975]_.
    """

    stiffness: float = quantity("N/m^exponent", above=0.0)
    exponent: float = quantity("", default=1.5, minimum=1.0)
    damping: float = quantity("s/m", default=0.0, minimum=0.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        if p[1] == 1.5:
            power = overlap * math.sqrt(overlap)
        elif p[1] == 1.0:
            power = overlap
        else:
            power = overlap * overlap if p[1] == 2.0 else overlap ** p[1]
        return p[0] * power * (1.0 + p[2] * overlap_rate)


@dataclass(frozen=True, kw_only=True)
class LankaraniNikravesh(NormalLaw):
    """Hertz's spring, damped for a given restitution near one.

    F = stiffness d^exponent (1 + 3/4 (1 - e^2) d'/d'_0),  e = restitution

    Bodies rebound with e + 1.5 (1 - e)^2 to second order: 0.913 for e = 0.9, but 0.72
    for e = 0.5. The damping belongs to an impact: a contact that closes slowly and is
    loaded afterwards is damped very strongly, and one closed at the start not at all
    [LankaraniNikravesh1990]_.
    """

    stiffness: float = quantity("N/m^exponent", above=0.0)
    exponent: float = quantity("", default=1.5, minimum=1.0)
    restitution: float = quantity("", default=1.0, minimum=0.0, maximum=1.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        loss = 0.75 * (1.0 - p[2] * p[2])
        ratio = overlap_rate / approach_rate if approach_rate > 0.0 else 0.0
        if p[1] == 1.5:
            power = overlap * math.sqrt(overlap)
        elif p[1] == 1.0:
            power = overlap
        else:
            power = overlap * overlap if p[1] == 2.0 else overlap ** p[1]
        return p[0] * power * (1.0 + loss * ratio)


@dataclass(frozen=True, kw_only=True)
class Flores(NormalLaw):
    """Hertz's spring, damped for a given restitution of any size.

    F = stiffness d^exponent (1 + 8/5 (1 - e)/e d'/d'_0),  e = restitution

    Bodies rebound with e to within 0.046, always on the low side: 0.894 for e = 0.9,
    0.47 for e = 0.5. As with Lankarani and Nikravesh the damping belongs to an impact:
    a contact that closes slowly and is loaded afterwards is damped very strongly, and
    one closed at the start not at all [FloresEtAl2011]_.
    """

    stiffness: float = quantity("N/m^exponent", above=0.0)
    exponent: float = quantity("", default=1.5, minimum=1.0)
    restitution: float = quantity("", default=1.0, above=0.0, maximum=1.0)

    @staticmethod
    def force(p, overlap, overlap_rate, approach_rate):
        loss = 8.0 * (1.0 - p[2]) / (5.0 * p[2])
        ratio = overlap_rate / approach_rate if approach_rate > 0.0 else 0.0
        if p[1] == 1.5:
            power = overlap * math.sqrt(overlap)
        elif p[1] == 1.0:
            power = overlap
        else:
            power = overlap * overlap if p[1] == 2.0 else overlap ** p[1]
        return p[0] * power * (1.0 + loss * ratio)


@dataclass(frozen=True, kw_only=True)
class Unilateral(NormalLaw):
    """No overlap: each node of a patch is a constraint while it presses.

    0 <= force  _|_  gap >= 0        at each node

    `b` is a patch of a flexible body, `a` a surface, or a patch of another one. With a
    `penalty` nodes overlap by force/(penalty length), each with its length of the
    boundary: for comparison, since the force depends on it [HongLiu2012]_.
    """

    row_name: ClassVar[str] = ""
    penalty: float | None = quantity("N/m^2", default=None, above=0.0)
