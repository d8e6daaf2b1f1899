"""Contacts: a surface on body a, a point, disc or outline on body b."""

from __future__ import annotations

from dataclasses import dataclass

from nonsmooth.elements.base import Named
from nonsmooth.elements.friction import FrictionLaw
from nonsmooth.elements.normal import NormalLaw


@dataclass(frozen=True, kw_only=True)
class Contact(Named, family="contact"):
    """A unilateral contact with a normal law, and friction if one is given.

    `a` and `b` are "body.shape" or "body.point"; "ground", or a support, alone means
    the line through its origin along its x axis.
    """

    a: str = "ground"
    b: str
    normal: NormalLaw
    friction: FrictionLaw | None = None


Contact.kinds["Contact"] = Contact
