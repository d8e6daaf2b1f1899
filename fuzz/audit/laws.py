"""Normal and friction laws, written down again from their equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.audit.notes import Array
from nonsmooth import (
    Coulomb,
    CoulombViscous,
    Dahl,
    DampedHertz,
    Flores,
    Hertz,
    HuntCrossley,
    Karnopp,
    KelvinVoigt,
    LankaraniNikravesh,
    LuGre,
    RegularisedCoulomb,
    Stribeck,
)


def normal_force(law: Any, depth: Array, rate: Array, approach: Array) -> Array:
    """Return the force that presses apart, not cut off at zero."""
    d = np.maximum(depth, 0.0)
    if isinstance(law, KelvinVoigt):
        return law.stiffness * d + law.damping * rate
    spring = law.stiffness * d**law.exponent
    if isinstance(law, Hertz):
        return spring
    if isinstance(law, DampedHertz):
        return spring + law.damping * d * rate
    if isinstance(law, HuntCrossley):
        return spring * (1.0 + law.damping * rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(approach > 0.0, rate / approach, 0.0)
    if isinstance(law, LankaraniNikravesh):
        return spring * (1.0 + 0.75 * (1.0 - law.restitution**2) * part)
    assert isinstance(law, Flores)
    loss = 1.6 * (1.0 - law.restitution) / law.restitution
    return spring * (1.0 + loss * part)


def is_set_valued(law: Any) -> bool:
    """Tell whether a law truly sticks."""
    return isinstance(law, Coulomb | CoulombViscous | Stribeck | Karnopp)


def has_bristles(law: Any) -> bool:
    """Tell whether a law has an internal state."""
    return isinstance(law, Dahl | LuGre)


def static(law: Any) -> float:
    """Return the coefficient at rest of a law that sticks."""
    return law.mu if law.mu_static is None else law.mu_static


def drag(law: Any, v: Array) -> Array:
    """Return the part of friction that does not depend on the load, its size."""
    return getattr(law, "viscous", 0.0) * np.abs(v)


def friction_force(
    law: Any, load: Array, v: Array, sign: Array, z: Array | None = None
) -> Array:
    """Return friction on b of what is not at rest; of bristles with deflection z."""
    if isinstance(law, Coulomb):
        return -law.mu * load * sign
    if isinstance(law, CoulombViscous):
        return -(law.mu * load + law.viscous * np.abs(v)) * sign
    if isinstance(law, Stribeck):
        part = np.exp(-((np.abs(v) / law.velocity) ** law.exponent))
        mu = law.mu + (law.mu_static - law.mu) * part
        return -(mu * load + law.viscous * np.abs(v)) * sign
    if isinstance(law, Karnopp):
        fast = -(law.mu * load + law.viscous * np.abs(v)) * sign
        # It yields within its band at the limit of rest.
        return np.where(np.abs(v) > law.dead_band, fast, -static(law) * load * sign)
    if isinstance(law, RegularisedCoulomb):
        return -law.mu * load * np.tanh(v / law.velocity)
    assert z is not None
    if isinstance(law, Dahl):
        return -law.stiffness * load * z
    assert isinstance(law, LuGre)
    rate = bristle_rate(law, v, z)
    return -(law.stiffness * z + law.damping * rate) * load - law.viscous * v


def bristle_rate(law: Any, v: Array, z: Array) -> Array:
    """Return the rate of the bristles' deflection, m/s."""
    mu: Any = law.mu
    if isinstance(law, LuGre):
        mu = law.mu + (law.mu_static - law.mu) * np.exp(-((v / law.velocity) ** 2))
    return v - law.stiffness * np.abs(v) * z / mu
