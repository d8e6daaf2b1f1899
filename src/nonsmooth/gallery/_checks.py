"""Refusals the systems share. Every message names the system and the parameter."""

from __future__ import annotations

from nonsmooth.elements.friction import Coulomb
from nonsmooth.errors import ModelError, show

# A system of more bodies than this would only fill the memory.
MAX_COUNT = 100_000


def count(system: str, **values: int) -> None:
    """Refuse numbers of things that are not between 1 and `MAX_COUNT`."""
    for name, value in values.items():
        if not 1 <= value <= MAX_COUNT:
            raise ModelError(f"{system}: {name} = {show(value)}; give 1 to {MAX_COUNT}")


def positive(system: str, **values: float) -> None:
    """Refuse values that are not > 0."""
    for name, value in values.items():
        if not value > 0:
            raise ModelError(f"{system}: {name} = {show(value)}; must be > 0")


def at_least(system: str, minimum: float, **values: float) -> None:
    """Refuse values below a minimum."""
    for name, value in values.items():
        if not value >= minimum:
            raise ModelError(
                f"{system}: {name} = {show(value)}; must be >= {minimum:g}"
            )


def friction(system: str, **pair: float) -> None:
    """Refuse coefficients at rest and of slip, in this order, unless 0 <= mu <= mu0."""
    at_least(system, 0.0, **pair)
    (rest, mu0), (slip, mu) = pair.items()
    if not mu <= mu0:
        raise ModelError(f"{system}: {slip} = {show(mu)}; must be <= {rest} = {mu0:g}")


def coulomb(system: str, mu: float, mu0: float | None) -> Coulomb | None:
    """Return dry friction, none where there is none; mu0 is mu where left out."""
    at_least(system, 0.0, mu=mu)
    if mu0 is not None:
        friction(system, mu0=mu0, mu=mu)
    return Coulomb(mu=mu, mu_static=mu0) if mu or mu0 else None
