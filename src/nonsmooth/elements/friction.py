"""Friction laws.

In a contact lam_n is the normal force on b, v_t the slip velocity of b relative to a
along the tangent, lam_t the friction force on b along the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from nonsmooth.elements.base import Element, quantity


@dataclass(frozen=True, kw_only=True)
class FrictionLaw(Element, family="friction law"):
    """Base of all friction laws."""


@dataclass(frozen=True, kw_only=True)
class Coulomb(FrictionLaw):
    """Dry friction, set-valued at rest.

    lam_t = -mu lam_n sgn(v_t)     while slipping
    |lam_t| <= mu_static lam_n     at rest, as much of it as keeps v_t = 0

    A contact at rest truly sticks; it breaks away where more than mu_static lam_n
    would be needed, and has mu from then on. The coefficients depend neither on speed
    nor on the time at rest. [WangWang2015]_ Eqs. (2)-(4).
    """

    mu: float = quantity("", minimum=0.0)  # while slipping
    mu_static: float | None = quantity("", default=None, minimum=0.0)  # mu by default

    def check(self) -> None:
        if self.static < self.mu:
            raise self.fail("mu_static", self.mu_static, f"must be >= mu = {self.mu:g}")

    @property
    def static(self) -> float:
        """The coefficient at rest."""
        return self.mu if self.mu_static is None else self.mu_static
