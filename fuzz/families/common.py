"""What families share: a case, random laws and bodies, starts that carry the weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth import (
    Coulomb,
    CoulombViscous,
    Couple,
    Dahl,
    DampedHertz,
    Expression,
    ExpressionForce,
    Flores,
    Harmonic,
    Hertz,
    HuntCrossley,
    Karnopp,
    KelvinVoigt,
    LankaraniNikravesh,
    LuGre,
    Model,
    PointForce,
    Polygon,
    RegularisedCoulomb,
    RigidBody,
    SmoothStep,
    Stribeck,
    Table,
)
from nonsmooth.elements.forces import Force
from nonsmooth.elements.friction import FrictionLaw
from nonsmooth.elements.normal import NormalLaw

Rng = np.random.Generator
G = 9.81

NORMAL = (
    "KelvinVoigt",
    "Hertz",
    "DampedHertz",
    "HuntCrossley",
    "LankaraniNikravesh",
    "Flores",
)
STICKING = ("Coulomb", "Coulomb", "Coulomb", "CoulombViscous", "Stribeck")
FRICTION = (*STICKING, "Karnopp", "RegularisedCoulomb", "Dahl", "LuGre")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model, how long to run it, options, and what the family says about it."""

    model: Model
    until: float
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    traits: tuple[str, ...] = ()


Family = Callable[[Rng], Case]


def pick(rng: Rng, choices: Sequence[Any]) -> Any:
    """Return one of several, all equally likely."""
    return choices[int(rng.integers(len(choices)))]


def chance(rng: Rng, part: float) -> bool:
    """Return true in this part of all cases."""
    return bool(rng.random() < part)


def uniform(rng: Rng, low: float, high: float) -> float:
    """Return a number between two."""
    return float(rng.uniform(low, high))


def decades(rng: Rng, low: float, high: float) -> float:
    """Return a number between two, evenly in its logarithm."""
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


# -- laws ------------------------------------------------------------------------------


def normal_law(
    rng: Rng, mass: float, sink: float, kinds: Sequence[str] = NORMAL
) -> NormalLaw:
    """Return a law under which a mass sinks in by its weight as far as given, m.

    Damping is up to three tenths of critical, or a restitution of 0.4 to 1.
    """
    kind = pick(rng, kinds)
    exponent = pick(rng, (1.5, 1.5, 1.0, 1.2, 2.0))
    if kind == "KelvinVoigt":
        stiffness = mass * G / sink
        part = uniform(rng, 0.0, 0.3) if chance(rng, 0.8) else 0.0
        damping = 2.0 * part * math.sqrt(mass * stiffness)
        return KelvinVoigt(stiffness=stiffness, damping=damping)
    stiffness = mass * G / sink**exponent
    fall = math.sqrt(G * sink)  # m/s, a speed that the contact knows
    if kind == "Hertz":
        return Hertz(stiffness=stiffness, exponent=exponent)
    if kind == "DampedHertz":
        damping = uniform(rng, 0.0, 0.6) * mass * G / (sink * fall)
        return DampedHertz(stiffness=stiffness, exponent=exponent, damping=damping)
    if kind == "HuntCrossley":
        damping = uniform(rng, 0.0, 0.5) / fall
        return HuntCrossley(stiffness=stiffness, exponent=exponent, damping=damping)
    restitution = uniform(rng, 0.4, 1.0)
    if kind == "LankaraniNikravesh":
        return LankaraniNikravesh(
            stiffness=stiffness, exponent=exponent, restitution=restitution
        )
    return Flores(stiffness=stiffness, exponent=exponent, restitution=restitution)


def sinks(law: Any, weight: float) -> float:
    """Return how deep a weight lies in a law's spring, m."""
    return (weight / law.stiffness) ** (1.0 / getattr(law, "exponent", 1.0))


def friction_law(
    rng: Rng,
    kinds: Sequence[str] = FRICTION,
    low: float = 0.05,
    high: float = 0.7,
    size: float = 1.0,
) -> FrictionLaw:
    """Return a law of one of the kinds; its speeds and bristles go with a size, m."""
    kind = pick(rng, kinds)
    mu = uniform(rng, low, high)
    static = mu * pick(rng, (1.0, uniform(rng, 1.0, 1.8)))
    pace = size * decades(rng, 1e-2, 1.0)  # m/s
    if kind == "Coulomb":
        return Coulomb(mu=mu, mu_static=static)
    if kind == "CoulombViscous":
        return CoulombViscous(mu=mu, mu_static=static, viscous=decades(rng, 1e-2, 3.0))
    if kind == "Stribeck":
        return Stribeck(
            mu=mu,
            mu_static=static,
            velocity=pace,
            exponent=pick(rng, (2.0, 1.0, 1.4)),
            viscous=pick(rng, (0.0, decades(rng, 1e-2, 1.0))),
        )
    if kind == "Karnopp":
        return Karnopp(mu=mu, mu_static=static, dead_band=1e-3 * pace)
    if kind == "RegularisedCoulomb":
        return RegularisedCoulomb(mu=mu, velocity=1e-2 * pace)
    stiffness = decades(rng, 30.0, 1e3) / size
    if kind == "Dahl":
        return Dahl(mu=mu, stiffness=stiffness)
    return LuGre(
        mu=mu,
        mu_static=static,
        velocity=pace,
        stiffness=stiffness,
        damping=uniform(rng, 0.0, 0.5) / pace,
        viscous=pick(rng, (0.0, 0.2)),
    )


def wave(rng: Rng, size: float, pace: float, until: float) -> Any:
    """Return a time law of a force: it swings, steps, ramps or follows a table."""
    kind = int(rng.integers(5))
    if kind <= 1:
        return Harmonic(
            amplitude=size,
            angular_frequency=pace,
            phase=uniform(rng, -math.pi, math.pi),
        )
    if kind == 2:
        return SmoothStep(end=size, duration=0.4 * until, begin=0.1 * until)
    if kind == 3:
        return Expression(text=f"{size!r}*{pace!r}*t*sin({pace!r}*t)")
    times = tuple(np.linspace(0.0, 1.01 * until, 7).tolist())
    return Table(times=times, values=tuple((size * rng.normal(size=7)).tolist()))


def excite(
    rng: Rng,
    body: str,
    force: float,
    arm: float,
    pace: float,
    until: float,
    *,
    can_turn: bool = True,
) -> list[Force]:
    """Return a force or couple on a body that changes with time, or none.

    A mass without extent does not turn: it has no couple, and no axes.
    """
    kind = int(rng.integers(5)) if can_turn else pick(rng, (0, 2, 4))
    if kind == 0:
        return []
    if kind == 1:
        torque = wave(rng, force * arm, pace, until)
        return [Couple(name="push", b=body, torque=torque)]
    if kind == 2:
        damper = f"-{force / (arm * pace)!r}"
        swing = f"{force!r}*cos({pace!r}*t)"
        return [
            ExpressionForce(name="push", b=body, fx=f"{swing} {damper}*vx", fy=swing)
        ]
    fx, fy = wave(rng, force, pace, until), wave(rng, 0.7 * force, 1.3 * pace, until)
    frame = "body" if kind == 3 else "global"
    return [PointForce(name="push", b=body, fx=fx, fy=fy, frame=frame)]


# -- bodies ----------------------------------------------------------------------------


def rod(
    name: str, start: ArrayLike, end: ArrayLike, mass: float, **fields: Any
) -> RigidBody:
    """Return a uniform rod with the points p and q at its ends."""
    (x0, y0), (x1, y1) = np.asarray(start).tolist(), np.asarray(end).tolist()
    length = math.hypot(x1 - x0, y1 - y0)
    points = {"p": (-0.5 * length, 0.0), "q": (0.5 * length, 0.0)}
    return RigidBody(
        name=name,
        mass=mass,
        inertia=mass * length**2 / 12.0,
        position=(0.5 * (x0 + x1), 0.5 * (y0 + y1)),
        angle=math.atan2(y1 - y0, x1 - x0),
        points=points | fields.pop("points", {}),
        **fields,
    )


def rectangle(width: float, height: float, at: ArrayLike = (0.0, 0.0)) -> Polygon:
    """Return a rectangle with its middle at a place."""
    x, y = np.asarray(at, dtype=float).tolist()
    w, h = 0.5 * width, 0.5 * height
    return Polygon(
        vertices=((x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h))
    )


def box(
    name: str, width: float, height: float, mass: float, at: ArrayLike, **fields: Any
) -> RigidBody:
    """Return a box with the shape `outline` and its middle at a place."""
    x, y = np.asarray(at, dtype=float).tolist()
    return RigidBody(
        name=name,
        mass=mass,
        inertia=mass * (width**2 + height**2) / 12.0,
        position=(x, y),
        shapes={"outline": rectangle(width, height)} | fields.pop("shapes", {}),
        **fields,
    )


def seconds(size: float, many: float = 3.0) -> float:
    """Return the end of a run, s: so many periods in which a thing of a size swings."""
    return many * 2.0 * math.sqrt(size / G)
