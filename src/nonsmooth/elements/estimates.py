"""Stiffness and damping of normal laws, from materials, sizes and a restitution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nonsmooth.elements.materials import Material, find_material
from nonsmooth.errors import ModelError, show, worded


@worded
def contact_stiffness(
    *,
    radius: float,
    material: str | Material,
    other: str | Material | None = None,
    other_radius: float = math.inf,
    length: float | None = None,
    load: float | None = None,
    depth: float | None = None,
) -> float:
    """Return the stiffness of a contact of two elastic bodies.

    Of balls, N/m^1.5, for the exponent 1.5 of `Hertz` and its kin:

        K = 4/3 E* sqrt(R),    1/E* = 1/E1' + 1/E2',    1/R = 1/R1 + 1/R2

    with E' = E/(1 - nu^2). Of cylinders of a length across the plane, N/m: the load
    over the approach under it, for the exponent 1. It falls slowly with the load P:

        a^2 = 4 P R/(pi E* L)
        d = sum_i P/(pi E_i' L) (2 ln(4 R_i/a) - 1)          from the axis of each
        d = P/(pi E' L) (2 ln(2 h/a) - nu/(1 - nu))          of a flat, from its depth h

    Parameters
    ----------
    radius : float
        Of the ball or cylinder, m.
    material, other : str or Material
        Of both bodies; the same by default. See `nonsmooth.elements.materials`.
    other_radius : float
        Of the other body, m; a flat one by default, less than zero for a hollow.
    length : float, optional
        Of cylinders, across the plane of motion, m; balls without it.
    load : float, optional
        Force at which cylinders have this stiffness, N.
    depth : float, optional
        How far below its surface a flat body is held, m; of cylinders on flats.

    References
    ----------
    [Johnson1985]_ Eqs. (4.22), (4.23); (4.45), (4.56), (4.57), the last for one of its
    two contacts.
    """
    pair = (
        find_material(material),
        find_material(material if other is None else other),
    )
    moduli = [m.youngs_modulus / (1.0 - m.poissons_ratio**2) for m in pair]
    together = 1.0 / sum(1.0 / modulus for modulus in moduli)
    _check("radius", radius, "> 0 m")
    _check_number("other_radius", other_radius, "a number, m")
    curvature = 1.0 / radius + 1.0 / other_radius if other_radius else 0.0
    if not curvature > 0.0:
        valid = f"must be > 0 m, or < {-radius:g} m for a hollow that the other fits"
        raise ModelError(f"other_radius = {show(other_radius)}; {valid}")
    if length is None:
        return 4.0 / 3.0 * together / math.sqrt(curvature)
    _check("length", length, "> 0 m")
    if load is None:
        valid = "give load=..., in N: the stiffness of cylinders depends on it"
        raise ModelError(f"load = None; {valid}")
    _check("load", load, "> 0 N")
    half = math.sqrt(4.0 * load / (math.pi * together * length * curvature))
    way = 0.0
    sizes = (radius, abs(other_radius))
    for size, modulus, one in zip(sizes, moduli, pair, strict=True):
        if math.isfinite(size):
            part = 2.0 * math.log(4.0 * size / half) - 1.0
        else:
            if depth is None:
                valid = "give depth=..., in m: how far below its face a flat is held"
                raise ModelError(f"depth = None; {valid}")
            _check("depth", depth, f"> {half:.3g} m, half of the width pressed", half)
            nu = one.poissons_ratio
            part = 2.0 * math.log(2.0 * depth / half) - nu / (1.0 - nu)
        way += load / (math.pi * modulus * length) * part
    if not half < radius:
        valid = f"presses a width of {2.0 * half:.3g} m: too much for this radius"
        raise ModelError(f"load = {show(load)}; {valid}")
    return load / way


@worded
def hunt_crossley_damping(restitution: float, speed: float) -> float:
    """Return the damping of `HuntCrossley` for a restitution e at a speed v, s/m.

        c v (1 + e) = ln((1 + c v)/(1 - c e v))

    whatever stiffness, exponent and mass; at another speed the restitution is another.
    From m d'' = -K d^n (1 + c d'), its overlap equal on the way in and out.

    Parameters
    ----------
    restitution : float
        Speed after over speed before, > 0 and <= 1.
    speed : float
        Of approach, m/s.
    """
    _check_restitution(restitution)
    _check("speed", speed, "> 0 m/s")
    if restitution == 1.0:
        return 0.0
    e = restitution

    # In x = c v, below 1/e; divided by x^2 it rises from -(1 - e^2)/2 to infinity.
    def excess(x: float) -> float:
        return _bent_log(x) - e * e * _bent_log(-e * x)

    top = (1.0 - 1e-15) / e
    if excess(top) <= 0.0:  # the root is 1/e but for round-off
        return top / speed
    return _root(excess, 0.0, top) / speed


def _bent_log(y: float) -> float:
    """Return (ln(1 + y) - y)/y^2, also near zero."""
    if abs(y) > 0.05:  # below, terms that nearly cancel would be left
        return (math.log1p(y) - y) / (y * y)
    return sum((-y) ** k / -(k + 2.0) for k in range(14))


@worded
def kelvin_voigt_damping(restitution: float, stiffness: float, mass: float) -> float:
    """Return the damping of `KelvinVoigt` for a restitution e at any speed, N s/m.

        e = exp(-b t),   b = c/(2 m),   w0^2 = K/m,   w^2 = w0^2 - b^2
        w t = pi - atan2(2 b w, w^2 - b^2)      where the force has fallen to zero

    Parameters
    ----------
    restitution : float
        Speed after over speed before, > 0 and <= 1.
    stiffness : float
        Of the law, N/m.
    mass : float
        Of the pair, m1 m2/(m1 + m2), or of one body on the ground, kg.
    """
    _check_restitution(restitution)
    _check("stiffness", stiffness, "> 0 N/m")
    _check("mass", mass, "> 0 kg")
    if restitution == 1.0:
        return 0.0

    # In z = b/w0, from 0; beyond 1 the motion does not swing.
    def excess(z: float) -> float:
        root = math.sqrt(abs(1.0 - z * z))
        if root < 1e-6:
            angle = 2.0  # z t w0 in the limit
        elif z < 1.0:
            angle = z / root * (math.pi - math.atan2(2.0 * z * root, 1.0 - 2.0 * z * z))
        else:
            angle = z / root * 2.0 * math.log(z + root)
        return angle + math.log(restitution)

    high = 1.0
    while excess(high) < 0.0:
        high *= 2.0
    return 2.0 * _root(excess, 0.0, high) * math.sqrt(stiffness * mass)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return a root between two places of different signs, to round-off."""
    # Imported here: it costs a tenth of a second that most runs do not need.
    from scipy.optimize import brentq

    root: Any = brentq(function, low, high, xtol=1e-300, rtol=1e-14)  # pyright: ignore
    return float(root)


def _check_restitution(value: float) -> None:
    _check("restitution", value, "> 0 and <= 1")
    if value > 1.0:
        raise ModelError(f"restitution = {show(value)}; must be > 0 and <= 1")


def _check_number(name: str, value: Any, valid: str) -> None:
    if not isinstance(value, int | float) or math.isnan(value):
        raise ModelError(f"{name} = {show(value)}; must be {valid}")


def _check(name: str, value: float, valid: str, above: float = 0.0) -> None:
    _check_number(name, value, valid)
    if not (math.isfinite(value) and value > above):
        raise ModelError(f"{name} = {show(value)}; must be {valid}")
