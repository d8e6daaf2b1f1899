"""A rigid slider in a guide with a small clearance, by event-located integration.

A slider of mass m2, length l and height h runs along x in a straight guide. A bar of
mass m1 and length L on a pin at its centre turns by th = w t, counter-clockwise from
+x, driven by a motor whose reaction is on the slider. A spring k and the force
F(t) = F0 sin(nu t) act along x. With s the sign of the velocity

    (m1 + m2) a = F − k x + m1 (L/2) w² cos th + F_f
    N = (m1 + m2) g − m1 (L/2) w² sin th
    M = m1 (L/2) (g cos th − a sin th)
    G = max(|N|, (2/l) |M + s mu (h/2) N|),     F_f = −s mu G

N is what the guide bears (> 0 unless there is little gravity), M the motor's torque on
the bar, G the sum of all normal forces on the slider: |N| where it lies flat on a face,
more where two diagonal corners press. Since M depends on a and G on M, F_f is an
implicit function; it is solved here piece by piece, one after the other.

At rest the slider sticks unless one solve with mu' instead of mu lets it start in one
direction. While it sticks F_f balances all other forces, and mu in G is the part of
friction that is used: |F_f|/G.

Karnopp's law: for |v| <= DV, friction balances the other forces up to mu' G, so that
the slider creeps with the velocity it has; for |v| > DV it slides as above.

Corners: the ends bear u = N/2 ± (M + s mu (h/2) N)/l at the right (front) and left
(rear) end, on the lower face if u > 0, on the upper one if u < 0.

References
----------
[ZhangWang2016]_, in the limit of a rigid slider.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import root_scalar

from oracles.sliding_joint import Arc, Guard, march, sample

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Guide:
    """The paper's slider."""

    slider_mass: float = 1.0  # kg, m2
    bar_mass: float = 2.0  # kg, m1
    bar_length: float = 2.0  # m, L
    length: float = 0.6  # m, l, of the slider
    height: float = 0.5  # m, h, of the slider
    stiffness: float = 1.0  # N/m, k, relaxed at x = 0
    force: float = 3.0  # N, F0
    frequency: float = 0.5 * np.pi  # rad/s, of the force
    speed: float = 0.25 * np.pi  # rad/s, of the bar
    mu: float = 0.03
    mu_static: float = 0.04  # mu'
    gravity: float = 9.81  # m/s²
    dead_band: float = 0.0  # m/s, DV of Karnopp's law; 0 stands for Coulomb's
    # G of (N, M, phi) instead of corners; phi is the signed part of friction in use
    load: Callable[[float, float, float], float] | None = None

    @property
    def mass(self) -> float:
        """m1 + m2, kg."""
        return self.slider_mass + self.bar_mass

    @property
    def period(self) -> float:
        """One turn of the bar, s; a multiple of the force's period as given."""
        return 2.0 * np.pi / self.speed


class Forces(NamedTuple):
    """Acceleration and forces at one instant."""

    a: float  # m/s²
    friction: float  # N, F_f, along +x
    total: float  # N, G
    normal: float  # N, N
    torque: float  # N m, M, motor on bar
    front: float  # N, u of the end at +x
    rear: float  # N, u of the end at −x


def areas(p: Guide, f: Forces) -> Array:
    """Friction by areas: top left, top right, bottom left, bottom right, N.

    Corners bear the ends' forces. On a slider that lies flat, both on one face, the
    pressure is linear where it presses at all: over all of the face, or over
    3 (l/2 − |e|) from the end nearer to the resultant at e.
    """
    share = np.array(
        [max(-f.rear, 0.0), max(-f.front, 0.0), max(f.rear, 0.0), max(f.front, 0.0)]
    )
    if f.front > 0.0 and f.rear > 0.0:
        e = 0.5 * p.length * (f.front - f.rear) / f.normal
        if abs(e) <= p.length / 6.0:
            far = 0.5 - 1.5 * abs(e) / p.length
        else:
            pressed = 3.0 * (0.5 * p.length - abs(e))
            far = (max(pressed - 0.5 * p.length, 0.0) / pressed) ** 2
        right = 1.0 - far if e > 0.0 else far
        share[2:] = f.normal * np.array([1.0 - right, right])
    return f.friction / f.total * share


def _applied(p: Guide, t: float, x: float) -> tuple[float, float, float]:
    """Return the force along x without friction, N, and sin th."""
    th = p.speed * t
    centrifugal = 0.5 * p.bar_mass * p.bar_length * p.speed**2
    push = p.force * np.sin(p.frequency * t) - p.stiffness * x
    push += centrifugal * np.cos(th)
    normal = p.mass * p.gravity - centrifugal * np.sin(th)
    return float(push), float(normal), float(th)


def _forces(p: Guide, a: float, friction: float, part: float, t: float, x: float):
    """Collect all forces from the acceleration; part = −F_f/G, signed."""
    _, normal, th = _applied(p, t, x)
    arm = 0.5 * p.bar_mass * p.bar_length
    torque = arm * (p.gravity * np.cos(th) - a * np.sin(th))
    lean = (torque + part * 0.5 * p.height * normal) / p.length
    front, rear = 0.5 * normal + lean, 0.5 * normal - lean
    total = abs(front) + abs(rear)
    if p.load is not None:
        total = p.load(normal, float(torque), part)
    return Forces(
        float(a), float(friction), float(total), normal, float(torque), front, rear
    )


def slipping(p: Guide, t: float, x: float, slip: float, mu: float) -> Forces:
    """Forces while slipping in the direction ±1 with a coefficient.

    m a + slip mu G(a) = P with G = |N|, or ±(2/l)(M(a) + slip mu (h/2) N); the left
    side grows with a, so exactly one of the three pieces is right: that of most G.
    """
    push, normal, th = _applied(p, t, x)
    arm = 0.5 * p.bar_mass * p.bar_length
    if p.load is not None:
        return _slipping_by_load(p, t, x, slip * mu)
    still = arm * p.gravity * np.cos(th) + slip * mu * 0.5 * p.height * normal
    found: list[Forces] = []
    for piece in (0.0, 1.0, -1.0):
        if piece == 0.0:
            a = (push - slip * mu * abs(normal)) / p.mass
            total = abs(normal)
        else:
            grip = slip * mu * piece * 2.0 / p.length
            a = (push - grip * still) / (p.mass - grip * arm * np.sin(th))
            total = piece * 2.0 / p.length * (still - a * arm * np.sin(th))
        forces = _forces(p, a, -slip * mu * total, slip * mu, t, x)
        # Of the three, the piece whose G is the largest at its own a.
        if abs(forces.total - total) <= 1e-10 * forces.total:
            found.append(forces)
    return found[0]


def _slipping_by_load(p: Guide, t: float, x: float, part: float) -> Forces:
    """Forces while slipping, of a load law: m a + part G(a) = P, by secants."""
    load = p.load
    assert load is not None
    push, normal, th = _applied(p, t, x)
    arm = 0.5 * p.bar_mass * p.bar_length

    def excess(a: float) -> float:
        torque = arm * (p.gravity * np.cos(th) - a * np.sin(th))
        return (push - part * load(normal, float(torque), part)) / p.mass - a

    root = root_scalar(excess, x0=push / p.mass, x1=excess(push / p.mass), xtol=1e-14)
    assert root.converged
    a = float(root.root)
    return _forces(p, a, p.mass * a - push, part, t, x)


def balanced(p: Guide, t: float, x: float) -> Forces:
    """Forces while friction balances what is applied, a = 0, G from its fixed point."""
    push, normal, th = _applied(p, t, x)
    torque = 0.5 * p.bar_mass * p.bar_length * p.gravity * np.cos(th)
    total = abs(normal)
    for _ in range(200):
        lean = 2.0 / p.length * (torque + push / total * 0.5 * p.height * normal)
        new = max(abs(normal), abs(lean))
        if p.load is not None:
            new = p.load(normal, torque, push / total)
        if abs(new - total) <= 1e-15 * new:
            break
        total = new
    return _forces(p, 0.0, -push, push / total, t, x)


def at_rest(p: Guide, t: float, x: float) -> int:
    """Return the way the slider starts from rest: ±1, or 0 if it sticks."""
    for slip in (1, -1):
        if slipping(p, t, x, slip, p.mu_static).a * slip > 0.0:
            return slip
    return 0


def forces(p: Guide, t: float, y: ArrayLike, mode: int) -> Forces:
    """Forces in a mode: 0 balanced, ±1 slip, ±2 Karnopp's limit in the band."""
    x = float(np.asarray(y)[0])
    if mode == 0:
        return balanced(p, t, x)
    return slipping(p, t, x, np.sign(mode), p.mu if abs(mode) == 1 else p.mu_static)


def _in_band(p: Guide, t: float, x: float) -> int:
    return 2 * at_rest(p, t, x)


def _next(p: Guide, t: float, y: Array, mode: int, name: str) -> int:
    """Return the mode after an event; snap the velocity where it is known."""
    if name == "break_plus" or name == "break_minus":
        way = 1 if name == "break_plus" else -1
        if p.dead_band == 0.0:
            return way
        # At the band's edge already, or on the way to the other one.
        return way if way * y[1] >= p.dead_band * (1.0 - 1e-12) else 2 * way
    if name == "zero":
        y[1] = 0.0
        return at_rest(p, t, y[0])
    if name == "enter":
        y[1] = np.sign(mode) * p.dead_band
        way = _in_band(p, t, y[0])
        # Friction's limit drives it out again on the side where it came in.
        return way if way * mode <= 0 else way // 2
    if name == "leave":
        way = int(np.sign(mode))
        y[1] = way * p.dead_band
        return way
    return 0  # "hold": the limit is no longer needed


def motion(
    p: Guide, until: float, *, t: float = 0.0, x: float = 0.0, v: float = 0.0
) -> list[Arc]:
    """Motion (x, v) with every event located; modes as in `forces`."""
    y = np.array([x, v])
    band = p.dead_band
    if abs(v) > band:
        mode = int(np.sign(v))
    else:
        mode = _edge(p, _in_band(p, t, x), v) if band else at_rest(p, t, x)
    arcs: list[Arc] = []
    while t < until:

        def slope(t: float, y: Array, mode: int = mode) -> list[float]:
            return [y[1], forces(p, t, y, mode).a]

        def surplus(t: float, y: Array, way: int) -> float:
            return way * slipping(p, t, y[0], way, p.mu_static).a

        guards: list[Guard] = []
        if mode == 0:
            guards = [
                Guard("break_plus", lambda t, y, f=surplus: f(t, y, 1), 1),
                Guard("break_minus", lambda t, y, f=surplus: f(t, y, -1), 1),
            ]
        elif abs(mode) == 1:
            name = "enter" if band else "zero"
            guards = [Guard(name, lambda t, y, m=mode: m * y[1] - band, -1)]
        else:
            way = mode // 2
            guards = [
                Guard("leave", lambda t, y, w=way: w * y[1] - band, 1),
                Guard("hold", lambda t, y, w=way, f=surplus: f(t, y, w), -1),
            ]
        end, y, name, sol = march(slope, guards, t, y, until, 0.05)
        arcs.append(Arc(mode, (t, end), sol))
        t = end
        if name is not None:
            mode = _next(p, t, y, mode, name)
    return arcs


def _edge(p: Guide, mode: int, v: float) -> int:
    """Return slip at once for a limit at the edge of the band it leads out of."""
    return mode // 2 if mode and mode * v >= 2 * p.dead_band else mode


def cycle(p: Guide, x: float = 0.0) -> list[Arc]:
    """Return one period of the motion that repeats, from t = 0 on.

    The slider must stick at t = 0: then its place is all there is to find, as the
    fixed point of a period's map, by secants.
    """

    def miss(x: float) -> float:
        last = motion(p, p.period, x=x)[-1]
        return float(last.y(last.t[1])[0]) - x

    root = root_scalar(miss, x0=x, x1=x + 0.01, method="secant", xtol=1e-12)
    return motion(p, p.period, x=float(root.root))


class Series(NamedTuple):
    """A motion and its forces over time."""

    t: Array  # s
    x: Array  # m
    v: Array  # m/s
    mode: NDArray[np.int64]
    forces: list[Forces]


def series(p: Guide, arcs: list[Arc], t: Array) -> Series:
    """Sample a motion; at an event what holds after it."""
    y = sample(arcs, t)
    ends = np.array([arc.t[1] for arc in arcs[:-1]])
    mode = np.array([arcs[i].mode for i in np.searchsorted(ends, t, side="right")])
    each = [
        forces(p, x, y[:, i], m) for i, (x, m) in enumerate(zip(t, mode, strict=True))
    ]
    return Series(t, y[0], y[1], mode, each)
