"""Refusals the systems share. Every message names the system and the parameter."""

from __future__ import annotations

from nonsmooth.errors import ModelError


def positive(system: str, **values: float) -> None:
    """Refuse values that are not > 0."""
    for name, value in values.items():
        if not value > 0:
            raise ModelError(f"{system}: {name} = {value!r}; must be > 0")


def at_least(system: str, minimum: float, **values: float) -> None:
    """Refuse values below a minimum."""
    for name, value in values.items():
        if not value >= minimum:
            raise ModelError(f"{system}: {name} = {value!r}; must be >= {minimum:g}")
