"""Materials and damping of flexible bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nonsmooth.elements.base import Element, quantity
from nonsmooth.errors import ModelError, nearest, show


@dataclass(frozen=True, kw_only=True)
class Material(Element, family="material", is_kind=True):
    """A linear elastic, isotropic material."""

    youngs_modulus: float = quantity("Pa", above=0.0)
    poissons_ratio: float = quantity("", default=0.3)
    density: float = quantity("kg/m^3", above=0.0)

    def check(self) -> None:
        if not -1.0 < self.poissons_ratio < 0.5:
            valid = "must be > -1 and < 0.5, where a material keeps its volume"
            raise self.fail("poissons_ratio", self.poissons_ratio, valid)


def _material(e: float, nu: float, rho: float) -> Material:
    return Material(youngs_modulus=e, poissons_ratio=nu, density=rho)


# At room temperature. The alloy or grade moves the modulus by a few per cent; give
# your own where that counts.
MATERIALS = {
    # structural steel: EN 1993-1-1, 3.2.6; density EN 1991-1-1, Table A.4
    "steel": _material(210e9, 0.3, 7850.0),
    # EN 1999-1-1, 3.2.5
    "aluminium": _material(70e9, 0.3, 2700.0),
    # [KayeLaby1995]_, elastic constants and densities of solids
    "titanium": _material(115.7e9, 0.321, 4506.0),
    "copper": _material(129.8e9, 0.343, 8960.0),
    "brass": _material(100.6e9, 0.35, 8500.0),
    "glass": _material(71.3e9, 0.22, 2500.0),
}


def find_material(chosen: str | Material) -> Material:
    """Return a material by its name, or the one given."""
    if isinstance(chosen, Material):
        return chosen
    if chosen not in MATERIALS:
        valid = f"{nearest(chosen, MATERIALS)} Or give a Material"
        raise ModelError(f"material = {show(chosen)}; {valid}")
    return MATERIALS[chosen]


@dataclass(frozen=True, kw_only=True)
class Damping(Element, family="damping"):
    """Base of all kinds of damping; diagonal in the modes."""

    def ratios(self, frequencies: Sequence[float]) -> list[float]:
        """Return the part of critical damping of each mode, from its rad/s."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class ModalDamping(Damping):
    """The same part of critical damping in all modes."""

    ratio: float = quantity("", minimum=0.0)

    def ratios(self, frequencies: Sequence[float]) -> list[float]:
        return [self.ratio for _ in frequencies]


@dataclass(frozen=True, kw_only=True)
class RayleighDamping(Damping):
    """Damping that is a sum of mass and stiffness.

    D = mass M + stiffness K,    zeta = mass/(2 w) + stiffness w/2
    """

    mass: float = quantity("1/s", default=0.0, minimum=0.0)
    stiffness: float = quantity("s", default=0.0, minimum=0.0)

    def ratios(self, frequencies: Sequence[float]) -> list[float]:
        return [0.5 * (self.mass / w + self.stiffness * w) for w in frequencies]
