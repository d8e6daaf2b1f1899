"""The paper's own way to move `flexible_slider`, for comparison.

Kineto-elastodynamics [ZhangWang2016]_: Newmark's steps of the rigid motion, with the
friction that the block's finite elements have under the inertia of each step; penalty
springs on all of its nodes, contact states by trial (`nonsmooth.fem.trial`), Karnopp's
law looked at at the ends of steps. A step changes acceleration and friction in turn
until both agree. Slow, and of first order at reversals: the engine's answer is
`gallery.build("flexible_slider", load="penalty", law="karnopp")`.

    m a = F - k (x - rest) + m1 (L/2) w^2 cos th + F_f
    N = m g - m1 (L/2) w^2 sin th,    M = m1 (L/2) (g cos th - a sin th)
    |v| > DV:   F_f = -sgn(v) mu G(N, M) - viscous v
    |v| <= DV:  F_f = -F_e, at most mu0 G

Unlike the paper's springs at rest, which have no history, rest is decided for the block
as a whole, by one solve with mu0 in the direction in which it would start; clearance is
part of the gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.joints import Prismatic
from nonsmooth.errors import ModelError, SolveError, show

Floats = NDArray[np.float64]
# Of acceleration, m/s^2, that is left over in a step; rounds in which it is reached.
AGREED, MAX_ROUND = 1e-8, 60


@dataclass(frozen=True, kw_only=True)
class Kineto:
    """Columns over time, one row for each step."""

    t: Floats  # s
    x: Floats  # m
    v: Floats  # m/s
    a: Floats  # m/s^2
    torque: Floats  # N m, motor on bar
    load: Floats  # N, G
    friction: Floats  # N, along +x
    n_closed: Floats  # nodes that press
    trials: int  # solves of all finite elements
    message: str = ""  # why it ended early

    @property
    def is_converged(self) -> bool:
        """Whether contact states and acceleration agreed in every step."""
        return not self.message


@dataclass(frozen=True, kw_only=True)
class Instant:
    """Acceleration and what goes with it."""

    a: float
    torque: float
    load: float
    friction: float
    n_closed: int


class Equations:
    """The equations of one instant, of parameters of `flexible_slider`."""

    def __init__(self, given: dict[str, Any]) -> None:
        from nonsmooth import gallery
        from nonsmooth.fem.trial import Trial

        fixed = {"load": "penalty", "law": "karnopp"}
        for name, value in fixed.items():
            if given.get(name, value) != value:
                raise ModelError(
                    f"kineto: {name} = {show(given[name])}; the paper's is {value!r}"
                )
        guide = gallery.build("flexible_slider", **(given | fixed)).element("guide")
        assert isinstance(guide, Prismatic)
        assert guide.block is not None
        assert guide.length is not None
        law: Any = guide.friction
        self.p = gallery.values("flexible_slider", **given)
        self.band: float = law.dead_band
        self.trial = Trial(guide.length, guide.height, guide.block, self.p["clearance"])
        self.trials = 0

    def load(self, t: float, a: float, phi: float) -> tuple[float, float, int]:
        """Return G, the torque and how many nodes press."""
        p = self.p
        th, arm = p["speed"] * t, 0.5 * p["bar_mass"] * p["bar_length"]
        mass = p["bar_mass"] + p["slider_mass"]
        normal = mass * p["gravity"] - arm * p["speed"] ** 2 * math.sin(th)
        torque = arm * (p["gravity"] * math.cos(th) - a * math.sin(th))
        found = self.trial.solve(normal, torque, phi)
        self.trials += found.trials
        if not found.is_converged:
            raise SolveError(
                f"t = {t:.6g} s: no contact states of {len(found.gaps)} nodes agree "
                f"after {found.trials} trials; try a softer penalty or a shorter step"
            )
        return found.load, torque, int(np.sum(found.gaps < 0.0))

    def applied(self, t: float, x: float) -> float:
        """Return F_e, all forces along the guide but friction."""
        p = self.p
        arm = 0.5 * p["bar_mass"] * p["bar_length"]
        push = p["force"] * math.sin(p["frequency"] * t)
        pull = p["k"] * (x - p["spring_rest"])
        return push - pull + arm * p["speed"] ** 2 * math.cos(p["speed"] * t)

    def slip(self, t: float, x: float, v: float, part: float) -> Instant:
        """Return the instant with friction -part G, by turns of a and G."""
        mass = self.p["bar_mass"] + self.p["slider_mass"]
        drag = self.p["viscous"] * v
        a = (self.applied(t, x) - drag) / mass
        for _ in range(MAX_ROUND):
            load, torque, n = self.load(t, a, part)
            friction = -part * load - drag
            new = (self.applied(t, x) + friction) / mass
            if abs(new - a) <= AGREED:
                return Instant(
                    a=new, torque=torque, load=load, friction=friction, n_closed=n
                )
            a = new
        raise SolveError(f"t = {t:.6g} s: acceleration and friction do not agree")

    def at(self, t: float, x: float, v: float) -> Instant:
        """Return the instant by Karnopp's law."""
        p = self.p
        if abs(v) > self.band:
            return self.slip(t, x, v, math.copysign(p["mu"], v))
        force = self.applied(t, x)
        start = self.slip(t, x, 0.0, math.copysign(p["mu0"], force))
        if start.a * force > 0.0:
            return start
        load, torque, n = self.load(t, 0.0, force / max(start.load, abs(force)))
        return Instant(a=0.0, torque=torque, load=load, friction=-force, n_closed=n)


def kineto(until: float, *, step: float = 0.01, **given: Any) -> Kineto:
    """Move `flexible_slider` as the paper does.

    Parameters
    ----------
    until : float
        End, s.
    step : float
        Length of Newmark's steps (beta = 1/4, gamma = 1/2), s.
    **given
        Parameters of `flexible_slider`; the load is on penalty springs, the law
        Karnopp's.

    Returns
    -------
    Kineto
        If no contact states agree, what was computed until then, with a message.
    """
    if not (step > 0.0 and until > 0.0):
        raise ModelError(f"kineto: step = {step:g}, until = {until:g}; must be > 0 s")
    slider = Equations(given)
    n = math.ceil(until / step - 1e-9)
    t, x, v = 0.0, float(slider.p["position"]), 0.0
    rows: list[tuple[float, ...]] = []
    message = ""
    try:
        now = slider.at(t, x, v)
        rows.append(_row(t, x, v, now))
        for k in range(1, n + 1):
            h = min(k * step, until) - t
            t, x, v, now = _newmark(slider, t, x, v, now, h)
            rows.append(_row(t, x, v, now))
    except SolveError as error:
        message = str(error)
    table = np.array(rows).reshape(-1, 8).T
    names = ("t", "x", "v", "a", "torque", "load", "friction", "n_closed")
    columns: Any = dict(zip(names, table, strict=True))
    return Kineto(**columns, trials=slider.trials, message=message)


def _row(t: float, x: float, v: float, i: Instant) -> tuple[float, ...]:
    return (t, x, v, i.a, i.torque, i.load, i.friction, float(i.n_closed))


def _newmark(
    slider: Equations, t: float, x: float, v: float, now: Instant, h: float
) -> tuple[float, float, float, Instant]:
    """Return time, place, velocity and the instant after a step."""
    new, a, x1, v1 = now, now.a, x, v
    for _ in range(MAX_ROUND):
        x1 = x + h * v + 0.25 * h * h * (now.a + a)
        v1 = v + 0.5 * h * (now.a + a)
        if v * v1 < 0.0:
            v1 = 0.0  # it came to rest within the step
        new = slider.at(t + h, x1, v1)
        if abs(new.a - a) <= AGREED or v1 == 0.0:
            return t + h, x1, v1, new
        a = new.a
    # Karnopp's band and Newmark's mean do not agree on which side of it this ends.
    return t + h, x1, v1, new
