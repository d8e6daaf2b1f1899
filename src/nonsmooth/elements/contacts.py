"""Contacts: a surface on body a, a point, disc or outline on body b."""

from __future__ import annotations

from dataclasses import dataclass

from nonsmooth.elements.base import Named
from nonsmooth.elements.friction import FrictionLaw, check_law
from nonsmooth.elements.normal import NormalLaw


@dataclass(frozen=True, kw_only=True)
class Contact(Named, family="contact", is_kind=True):
    """A unilateral contact with a normal law, and friction if one is given.

    `a` and `b` are "body.shape", `b` also "body.point". "body" alone takes all its
    shapes but lines, in `b` its origin if it has none. But "ground", or a support,
    alone in `a` means the line through its origin along its x axis.

    gap = distance of b from the surface of a,  overlap = -gap

    A polygon on a line or on another polygon is one contact with one friction force:
    each floats in the depth field of the other, and a flat face as long as the pair's
    (the shorter of their longest faces) has the force of the normal law. Where a
    segment takes part there is a contact for each corner of b, and for each corner of a
    if b has edges; they are numbered "name.1", "name.2", ... The normal points from a
    to b.

    Of a body of several shapes each is a contact of its own, "name.shape", or
    "name.shape_a.shape_b" if both bodies have several. Polygons that touch are one if
    they are convex together, under the name of the first; else the faces on which they
    touch are covered: nothing catches there. They must not overlap.
    """

    a: str = "ground"
    b: str
    normal: NormalLaw
    friction: FrictionLaw | None = None

    def check(self) -> None:
        super().check()
        check_law(self, self.friction, in_joint=False)
