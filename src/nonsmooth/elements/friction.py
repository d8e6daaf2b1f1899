"""Friction laws."""

from __future__ import annotations

from dataclasses import dataclass

from nonsmooth.elements.base import Element, quantity


@dataclass(frozen=True, kw_only=True)
class FrictionLaw(Element, family="friction law"):
    """Base of all friction laws."""


@dataclass(frozen=True, kw_only=True)
class Coulomb(FrictionLaw):
    """Dry friction, set-valued at rest.

    lam_t = -mu lam_n sgn(v_t) while slipping, |lam_t| <= mu_static lam_n at rest.
    """

    mu: float = quantity("", minimum=0.0)
    mu_static: float | None = None  # mu by default

    def check(self) -> None:
        if self.mu_static is None:
            object.__setattr__(self, "mu_static", self.mu)
        if self.static < self.mu:
            raise self.fail(
                "mu_static", self.mu_static, f"must be >= mu = {self.mu:g}"
            )

    @property
    def static(self) -> float:
        """The static coefficient."""
        return self.mu if self.mu_static is None else self.mu_static
