"""Impulses: forces of contacts, joints and force elements, integrated over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import WRENCH
from nonsmooth.elements.bodies import Ground
from nonsmooth.errors import ModelError, brief, nearest

if TYPE_CHECKING:
    from nonsmooth.result.result import Result

Floats = NDArray[np.float64]
# Gauss's points in a step: exact for polynomials of degree 9, where states are of 7.
N_GAUSS = 5
ON_CONTACT = ("normal_force", "friction_force", "normal_x", "normal_y")
ON_CONTACT += ("point_x", "point_y")


class Impulse(NamedTuple):
    """What a force on b gave over a span of time."""

    x: float  # N s
    y: float
    moment: float  # N m s, about the origin


def quadrature(ends: Floats, begin: float, end: float) -> tuple[Floats, Floats]:
    """Return instants and weights (s) of an integral over steps with given ends."""
    x, w = np.polynomial.legendre.leggauss(N_GAUSS)
    inner = ends[(ends > begin) & (ends < end)]
    cuts = np.concatenate([[begin], inner, [end]])
    half = 0.5 * np.diff(cuts)[:, None]
    return ((cuts[:-1, None] + half) + half * x).ravel(), (half * w).ravel()


def impulse_of(
    result: Result, name: str, begin: float | None, end: float | None
) -> Impulse:
    """Return the impulse of a contact, joint or force element on its b."""
    first = result.t_start if begin is None else float(begin)
    last = result.t_end if end is None else float(end)
    if not result.t_start <= first <= last <= result.t_end:
        raise ModelError(
            f"begin = {first:g}, end = {last:g}: give a span within the run, "
            f"{result.t_start:g} to {result.t_end:g} s"
        )
    t, weights = quadrature(result.t, first, last)
    parts = [k for k in _contacts(result) if k == name or k.startswith(f"{name}.")]
    if parts:
        found = sum(_on_contact(result, part, t) for part in parts)
    else:
        found = _at_marker(result, name, t)
    x, y, moment = (found @ weights).tolist()
    return Impulse(x, y, moment)


def _contacts(result: Result) -> list[str]:
    return [n[: -len(".point_x")] for n in result.table if n.endswith(".point_x")]


def _on_contact(result: Result, name: str, t: Floats) -> Floats:
    """Return the force of a contact on its b and its moment, (3, n)."""
    s = result.sample(t, [f"{name}.{kind}" for kind in ON_CONTACT])
    press, rub, nx, ny, x, y = (s[f"{name}.{kind}"] for kind in ON_CONTACT)
    fx, fy = press * nx + rub * ny, press * ny - rub * nx
    return np.array([fx, fy, x * fy - y * fx])


def _at_marker(result: Result, name: str, t: Floats) -> Floats:
    """Return the force of a joint or force element on its b and its moment, (3, n)."""
    model, has = result.system.model, set(result.table)
    known = [e.name for e in (*model.joints, *model.forces)]
    if name not in known or f"{name}.force_x" not in has:
        valid = nearest(name, [*_contacts(result), *known])
        raise ModelError(f"no contact, joint or force {brief(name)}; {valid}")
    element: Any = model.element(name)
    s = result.sample(t, [f"{name}.{kind}" for kind in WRENCH])
    fx, fy, couple = (s[f"{name}.{kind}"] for kind in WRENCH)
    x, y = _place(result, element.b, t)
    return np.array([fx, fy, x * fy - y * fx + couple])


def _place(result: Result, marker: str, t: Floats) -> tuple[Any, Any]:
    """Return where a marker is; one of the ground stays."""
    body, _, point = marker.partition(".")
    ground = result.system.model.element(body)
    if isinstance(ground, Ground):
        return ground.points[point] if point else (0.0, 0.0)
    s = result.sample(t, [f"{marker}.x", f"{marker}.y"])
    return s[f"{marker}.x"], s[f"{marker}.y"]
