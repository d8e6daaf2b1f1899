"""One mass under each friction law: closed forms, and slow references by SciPy.

The mass moves along x under a constant load, so that friction is a function of the
motion alone; `lam_t` is the friction force on it, `zc = mu/stiffness` the largest
deflection of bristles. Every law is written here once more, from its source.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

Array = NDArray[np.float64]


class Motion(NamedTuple):
    """Position and velocity over time."""

    x: Array  # m
    v: Array  # m/s


class Change(NamedTuple):
    """An instant at which the mode changes."""

    t: float  # s
    kind: str  # as the library calls it


class Run(NamedTuple):
    """Motion at given times, and all changes of mode."""

    x: Array  # m
    v: Array  # m/s
    changes: list[Change]


def _sampled(solution: Any, t: Array) -> Array:
    """Return a dense output at given times, of which there may be none."""
    return solution(t) if len(t) else solution(solution.t_min)[:, None][:, :0]


def _root(f: Callable[[float], Any], end: float) -> float:
    """Return the root of f between 0 and `end`, to round-off."""
    found: Any = brentq(f, 0.0, end, xtol=1e-16, rtol=np.float64(1e-15))
    return float(found)


# -- dry friction and a film --------------------------------------------------------


@dataclass(frozen=True)
class Slide:
    """A block thrown along a plane: m v' = -mu N - c v."""

    mass: float  # kg
    load: float  # N
    mu: float
    viscous: float  # N s/m
    speed: float  # m/s, > 0

    @property
    def stop_time(self) -> float:
        """m/c ln(1 + c v0/(mu N)), s; m v0/(mu N) without a film."""
        dry = self.mu * self.load
        if self.viscous == 0.0:
            return self.mass * self.speed / dry
        ratio = self.viscous * self.speed / dry
        return self.mass / self.viscous * float(np.log1p(ratio))

    @property
    def distance(self) -> float:
        """m/c (v0 - mu N/m stop_time), m; m v0²/(2 mu N) without a film."""
        dry = self.mu * self.load
        if self.viscous == 0.0:
            return 0.5 * self.mass * self.speed**2 / dry
        return (self.mass * self.speed - dry * self.stop_time) / self.viscous

    def motion(self, t: ArrayLike) -> Motion:
        """Return the motion from x = 0 on."""
        t = np.minimum(np.asarray(t, dtype=np.float64), self.stop_time)
        dry = self.mu * self.load
        if self.viscous == 0.0:
            a = dry / self.mass
            return Motion(self.speed * t - 0.5 * a * t**2, self.speed - a * t)
        fade = -np.expm1(-self.viscous / self.mass * t)
        top = self.speed + dry / self.viscous
        x = (self.mass * top * fade - dry * t) / self.viscous
        return Motion(x, self.speed - top * fade)


@dataclass(frozen=True)
class Swing:
    """A mass on a spring with dry friction and a film, let go at x0.

    m x'' + c x' + k x = -mu N sgn(x'): half a swing about mu N/k or -mu N/k after the
    other, each of the duration π/w_d, until |x| <= mu0 N/k at a turn. Without the film
    a whole cycle loses 4 mu N/k.
    """

    mass: float  # kg
    stiffness: float  # N/m
    load: float  # N
    mu: float
    mu0: float
    start: float  # m
    viscous: float = 0.0  # N s/m, below critical

    @property
    def half(self) -> float:
        """Duration of half a swing, s."""
        d = 0.5 * self.viscous / self.mass
        return float(np.pi / np.sqrt(self.stiffness / self.mass - d**2))

    @property
    def turns(self) -> list[float]:
        """Places of all turns from the start on; the mass rests at the last one."""
        middle = self.mu * self.load / self.stiffness
        fade = float(np.exp(-0.5 * self.viscous / self.mass * self.half))
        places = [self.start]
        while abs(places[-1]) > self.mu0 * self.load / self.stiffness:
            centre = np.copysign(middle, places[-1])
            places.append(float(centre - fade * (places[-1] - centre)))
        return places

    @property
    def stop_time(self) -> float:
        """Beginning of the rest, s."""
        return self.half * (len(self.turns) - 1)

    def motion(self, t: ArrayLike) -> Motion:
        """Return the motion; at rest after the last turn."""
        t = np.asarray(t, dtype=np.float64)
        turns = np.array(self.turns)
        k = np.minimum((t // self.half).astype(int), len(turns) - 1)
        s = np.where(k == len(turns) - 1, 0.0, t - k * self.half)
        centre = np.copysign(self.mu * self.load / self.stiffness, turns[k])
        d, w = 0.5 * self.viscous / self.mass, np.pi / self.half
        y = np.where(k == len(turns) - 1, 0.0, turns[k] - centre)
        rest = np.where(k == len(turns) - 1, turns[k], centre)
        fade = np.exp(-d * s)
        x = rest + y * fade * (np.cos(w * s) + d / w * np.sin(w * s))
        v = -y * fade * self.stiffness / self.mass * np.sin(w * s) / w
        return Motion(x, v)


# -- Stribeck -------------------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """Friction that falls with speed: (mu + (mu0 - mu) e^(-(v/vs)^n)) N + c v."""

    load: float  # N
    mu: float
    mu0: float
    velocity: float  # m/s
    exponent: float = 2.0
    viscous: float = 0.0  # N s/m

    def __call__(self, speed: float) -> float:
        """Return friction at a speed >= 0, N."""
        fall = np.exp(-((max(speed, 0.0) / self.velocity) ** self.exponent))
        dry = self.mu + (self.mu0 - self.mu) * fall
        return float(dry * self.load + self.viscous * speed)


class Stop(NamedTuple):
    """How a thrown block comes to rest."""

    t: float  # s
    x: float  # m


def stop(mass: float, friction: Callable[[float], float], speed: float) -> Stop:
    """Return time and way to rest, ∫ m dv/F(v) and ∫ m v dv/F(v), by quadrature.

    v = w² takes an infinite slope of F at rest away.
    """
    options: Any = {"epsabs": 1e-14, "epsrel": 1e-13, "limit": 200}
    top = float(np.sqrt(speed))
    time = quad(lambda w: 2 * w * mass / friction(w * w), 0.0, top, **options)[0]
    way = quad(lambda w: 2 * w**3 * mass / friction(w * w), 0.0, top, **options)[0]
    return Stop(float(time), float(way))


def dragged(
    mass: float,
    stiffness: float,
    speed: float,
    friction: Callable[[float], float],
    static: float,
    t: ArrayLike,
) -> Run:
    """Return the motion of a block that a spring drags along, from rest at x = 0.

    The far end of the spring moves at a constant speed; friction(v) is that of a slip,
    `static` what holds at rest, both N. Slips are integrated by DOP853 at rtol 1e-13
    with located ends; rests have closed forms.
    """
    t = np.asarray(t, dtype=np.float64)
    until = float(t[-1])
    out = np.zeros((2, len(t)))
    now, x = 0.0, 0.0
    changes: list[Change] = []

    def rate(s: float, y: Array) -> list[float]:
        return [y[1], (stiffness * (speed * s - y[0]) - friction(y[1])) / mass]

    def halts(s: float, y: Array) -> float:
        return y[1]

    halts.__dict__.update(terminal=True, direction=-1.0)
    while now < until:
        # stiffness (speed s - x) = static
        leave = max(now, (static / stiffness + x) / speed)
        inside = (t >= now) & (t <= leave)
        out[0, inside] = x
        out[1, inside] = 0.0
        if leave >= until:
            break
        changes.append(Change(leave, "break_away"))
        run: Any = solve_ivp(
            rate,
            (leave, until),
            [x, 0.0],
            method="DOP853",
            rtol=1e-13,
            atol=1e-15,
            events=halts,
            dense_output=True,
            max_step=0.02,
        )
        now = float(run.t[-1])
        inside = (t > leave) & (t <= now)
        out[:, inside] = _sampled(run.sol, t[inside])
        x = float(run.y[0, -1])
        if run.status == 1:
            changes.append(Change(now, "stick"))
    return Run(out[0], out[1], changes)


# -- Karnopp --------------------------------------------------------------------------


@dataclass(frozen=True)
class Band:
    """Karnopp's law: speeds up to `band` count as rest, v' = 0 there if it can be."""

    mass: float  # kg
    load: float  # N
    mu: float
    mu0: float
    band: float  # m/s
    viscous: float = 0.0  # N s/m

    def friction(self, v: float, applied: float) -> float:
        """Return lam_t at a velocity, under an applied force."""
        if abs(v) > self.band:
            return -float(np.sign(v)) * self.mu * self.load - self.viscous * v
        most = self.mu0 * self.load
        return -min(max(applied, -most), most)

    def pulled(self, rate: float, t: ArrayLike) -> Motion:
        """Return the motion from rest under the force rate·t, a film left out.

        At rest until t0 = mu0 N/rate; m v = rate (t - t0)²/2 until v = band; then
        friction falls to mu N.
        """
        t = np.asarray(t, dtype=np.float64)
        m, start = self.mass, self.mu0 * self.load / rate
        edge = start + float(np.sqrt(2 * m * self.band / rate))
        s = np.clip(t - start, 0.0, edge - start)
        x, v = rate * s**3 / (6 * m), rate * s**2 / (2 * m)
        u = np.maximum(t - edge, 0.0)
        a = (rate * edge - self.mu * self.load) / m
        x = x + v * u + a * u**2 / 2 + rate * u**3 / (6 * m)
        return Motion(x, v + a * u + rate * u**2 / (2 * m))

    def thrown(self, speed: float, t: ArrayLike) -> Motion:
        """Return the motion of a block thrown along: it creeps on at v = band."""
        slide = Slide(self.mass, self.load, self.mu, self.viscous, speed)
        t = np.asarray(t, dtype=np.float64)
        enter = _root(lambda s: slide.motion(s).v - self.band, slide.stop_time)
        x, v = slide.motion(np.minimum(t, enter))
        creeps = t > enter
        late = np.where(creeps, t - enter, 0.0)
        return Motion(x + self.band * late, np.where(creeps, self.band, v))

    def run(
        self, applied: Callable[[float, float], float], start: tuple[float, float],
        t: ArrayLike,
    ) -> Run:  # fmt: skip
        """Return the motion under a force applied(t, x), by DOP853 at rtol 1e-13.

        Outside the band it slips, inside it holds its velocity or yields at the static
        limit; ends of all three are located.
        """
        t = np.asarray(t, dtype=np.float64)
        until, now, y = float(t[-1]), float(t[0]), np.array(start, dtype=np.float64)
        out = np.zeros((2, len(t)))
        most = self.mu0 * self.load
        changes: list[Change] = []
        # ±1 slips, 0 holds, ±2 yields to a force of this sign
        mode = int(np.sign(y[1])) if abs(y[1]) > self.band else None
        while now < until:
            if mode is None:
                force = applied(now, y[0])
                mode = 0 if abs(force) < most else int(2 * np.sign(force))

            def rate(s: float, y: Array, mode: int = mode) -> list[float]:
                sign = np.sign(mode)
                pull = applied(s, y[0])
                if abs(mode) == 1:
                    pull -= sign * self.mu * self.load + self.viscous * y[1]
                else:
                    pull -= sign * most if mode else pull
                return [y[1], pull / self.mass]

            def edge(s: float, y: Array, mode: int = mode) -> float:
                """Fall to zero where the velocity ends the mode."""
                if mode == 0:
                    return 1.0
                beyond = np.sign(mode) * y[1] - self.band
                return float(beyond if abs(mode) == 1 else -beyond)

            def balance(s: float, y: Array, mode: int = mode) -> float:
                """Fall to zero where the force ends the mode."""
                if abs(mode) == 1:
                    return 1.0
                beyond = abs(applied(s, y[0])) - most
                return beyond if mode else -beyond

            edge.__dict__.update(terminal=True, direction=-1.0)
            balance.__dict__.update(terminal=True, direction=-1.0)
            run: Any = solve_ivp(
                rate,
                (now, until),
                y,
                method="DOP853",
                rtol=1e-13,
                atol=1e-15,
                events=[edge, balance],
                dense_output=True,
                max_step=0.02,
            )
            inside = (t >= now) & (t <= run.t[-1])
            out[:, inside] = _sampled(run.sol, t[inside])
            now, y = float(run.t[-1]), run.y[:, -1].copy()
            if run.status == 0:
                break
            force = applied(now, y[0])
            if abs(mode) == 1:
                y[1] = mode * self.band
                new = 0 if abs(force) < most else int(2 * np.sign(force))
                changes.append(Change(now, "reverse" if new else "stick"))
            elif mode == 0:
                new = int(2 * np.sign(force))
                # It may stand at the edge of the band already.
                if np.sign(new) * y[1] > self.band * (1 - 1e-12):
                    new = new // 2
                changes.append(Change(now, "break_away"))
            else:
                new = mode // 2 if len(run.t_events[0]) else 0
            mode = new
        return Run(out[0], out[1], changes)


# -- regularised Coulomb --------------------------------------------------------------


@dataclass(frozen=True)
class Smeared:
    """m v' = F - mu N tanh(v/vs)."""

    mass: float  # kg
    load: float  # N
    mu: float
    velocity: float  # m/s

    def decay(self, speed: float, t: ArrayLike) -> Array:
        """Return v without a force: sinh(v/vs) = sinh(v0/vs) e^(-mu N t/(m vs))."""
        t = np.asarray(t, dtype=np.float64)
        rate = self.mu * self.load / (self.mass * self.velocity)
        top = np.sinh(speed / self.velocity)
        return self.velocity * np.arcsinh(top * np.exp(-rate * t))

    def creep(self, force: float) -> float:
        """Return the steady velocity vs artanh(F/(mu N)) under |F| < mu N, m/s."""
        return self.velocity * float(np.arctanh(force / (self.mu * self.load)))

    def time_to(self, v: ArrayLike, force: float) -> Array:
        """Return the time from rest to a velocity below that of the creep, s.

        With a = F/(mu N), u = v/vs and the time m vs/(mu N) as unit,
        t = -(a u + ln(cosh u - sinh u/a))/(1 - a²).
        """
        u = np.asarray(v, dtype=np.float64) / self.velocity
        a = force / (self.mu * self.load)
        unit = self.mass * self.velocity / (self.mu * self.load)
        inner = a * u + np.log(np.cosh(u) - np.sinh(u) / a)
        return -unit * inner / (1 - a**2)


# -- bristles -------------------------------------------------------------------------


@dataclass(frozen=True)
class Dahl:
    """lam_t = -s N z, dz/dx = 1 - z/zc sgn(v): arcs of exponentials over x."""

    load: float  # N
    mu: float
    stiffness: float  # 1/m

    @property
    def zc(self) -> float:
        """Deflection in steady slip, m."""
        return self.mu / self.stiffness

    def arc(self, z: float, way: ArrayLike) -> Array:
        """Return z after a way (signed, without a turn) from a deflection z."""
        way = np.asarray(way, dtype=np.float64)
        end = np.where(way < 0.0, -self.zc, self.zc)
        return end + (z - end) * np.exp(-np.abs(way) / self.zc)

    def along(self, x: Callable[[ArrayLike], Array], turns: list[float], t: ArrayLike):
        """Return lam_t over time for a given x(t) with turns at given times, z(0) = 0.

        x(t) must be monotonous between 0, the turns and the end.
        """
        t = np.asarray(t, dtype=np.float64)
        z, out = 0.0, np.zeros_like(t)
        for begin, end in zip([0.0, *turns], [*turns, np.inf], strict=True):
            inside = (t >= begin) & (t <= end)
            out[inside] = self.arc(z, x(t[inside]) - x(begin))
            z = float(self.arc(z, x(end) - x(begin))) if np.isfinite(end) else z
        return -self.stiffness * self.load * out

    def loss(self, amplitude: float) -> float:
        """Return what a closed loop of a displacement ±A takes, J.

        z at the turns is zc tanh(A/zc); 4 mu N (A - zc tanh(A/zc)).
        """
        width = amplitude - self.zc * np.tanh(amplitude / self.zc)
        return 4.0 * self.mu * self.load * float(width)

    def way(self, mass: float, speed: float) -> float:
        """Return how far a mass thrown from z = 0 gets, m.

        m v0²/2 = mu N (x - zc (1 - e^(-x/zc))).
        """
        energy = 0.5 * mass * speed**2 / (self.mu * self.load)
        return _root(
            lambda x: x + self.zc * np.expm1(-x / self.zc) - energy, energy + self.zc
        )

    def rate(self, v: float, z: float) -> float:
        """Return z', m/s."""
        return v * (1.0 - np.sign(v) * z / self.zc)

    def friction(self, v: float, z: float) -> float:
        """Return lam_t, N."""
        return -self.stiffness * self.load * z


@dataclass(frozen=True)
class LuGre:
    """sigma0 = s N, sigma1 = d N, sigma2 = c of the source, g(v)/sigma0 = mu(v)/s."""

    load: float  # N
    mu: float
    mu0: float
    velocity: float  # m/s
    stiffness: float  # 1/m
    damping: float = 0.0  # s/m
    viscous: float = 0.0  # N s/m

    def coefficient(self, v: float) -> float:
        """Return Stribeck's curve."""
        fall = np.exp(-((v / self.velocity) ** 2))
        return float(self.mu + (self.mu0 - self.mu) * fall)

    def rate(self, v: float, z: float) -> float:
        """Return z', m/s."""
        return v - abs(v) * self.stiffness / self.coefficient(v) * z

    def friction(self, v: float, z: float) -> float:
        """Return lam_t, N."""
        bristles = self.stiffness * z + self.damping * self.rate(v, z)
        return -bristles * self.load - self.viscous * v

    def steady(self, v: float) -> float:
        """Return lam_t in steady slip, where z' = 0."""
        return -float(np.sign(v)) * self.coefficient(v) * self.load - self.viscous * v

    def poles(self, mass: float, stiffness: float = 0.0) -> complex:
        """Return the pole of a small oscillation on the bristles, Im > 0.

        z' = v to first order: m s² + (d N + c) s + s N + k = 0.
        """
        drag = self.damping * self.load + self.viscous
        spring = self.stiffness * self.load + stiffness
        root = np.sqrt(complex(drag**2 - 4 * mass * spring))
        return complex((-drag + root) / (2 * mass))


def driven(law: Dahl | LuGre, v: Callable[[float], float], turns: list[float],
           t: ArrayLike) -> Array:  # fmt: skip
    """Return lam_t for a prescribed v(t), z(0) = 0, by DOP853 at rtol 1e-13.

    z' has a kink where v changes its sign: the integration stops there.
    """
    t = np.asarray(t, dtype=np.float64)
    z, out = 0.0, np.zeros_like(t)
    ends = [s for s in turns if s < t[-1]]
    for begin, end in zip([0.0, *ends], [*ends, float(t[-1])], strict=True):
        run: Any = solve_ivp(
            lambda s, y: [law.rate(v(s), y[0])],
            (begin, end),
            [z],
            method="DOP853",
            rtol=1e-13,
            atol=1e-16,
            dense_output=True,
            max_step=max(1e-12, (end - begin) / 50),
        )
        inside = (t >= begin) & (t <= end)
        out[inside] = _sampled(run.sol, t[inside])[0]
        z = float(run.y[0, -1])
    return np.array([law.friction(v(s), z) for s, z in zip(t, out, strict=True)])


def oscillate(
    law: Dahl | LuGre,
    mass: float,
    stiffness: float,
    force: Callable[[float], float],
    start: tuple[float, float],
    t: ArrayLike,
) -> Motion:
    """Return m x'' + k x = F(t) + lam_t from (x, v), z = 0, by DOP853 at rtol 1e-13.

    Every turn is located, and the integration begins anew.
    """
    t = np.asarray(t, dtype=np.float64)
    until, now, y = float(t[-1]), float(t[0]), np.array([*start, 0.0])
    out = np.zeros((3, len(t)))

    def rate(s: float, y: Array) -> list[float]:
        pull = force(s) - stiffness * y[0] + law.friction(y[1], y[2])
        return [y[1], pull / mass, law.rate(y[1], y[2])]

    while now < until:
        sign = np.sign(y[1]) or np.sign(rate(now, y)[1])
        if sign == 0.0:
            raise ValueError("a mass that nothing moves has no turns")

        def turns(s: float, y: Array) -> float:
            return y[1]

        turns.__dict__.update(terminal=True, direction=-sign)
        run: Any = solve_ivp(
            rate,
            (now, until),
            y,
            method="DOP853",
            rtol=1e-13,
            atol=1e-16,
            events=turns,
            dense_output=True,
        )
        inside = (t >= now) & (t <= run.t[-1])
        out[:, inside] = _sampled(run.sol, t[inside])
        now, y = float(run.t[-1]), run.y[:, -1].copy()
        if run.status == 1:
            y[1] = 0.0
    return Motion(out[0], out[1])


# -- a block with clearance ------------------------------------------------------------


@dataclass(frozen=True)
class Loose:
    """A block between two flanks, which its four corners touch; x along the guide.

    Each corner presses with k d^1.5 (1 + c d'), never less than zero, and rubs with
    -mu F tanh(v_t/vs).
    """

    mass: float  # kg
    inertia: float  # kg m²
    length: float  # m
    height: float  # m
    clearance: float  # m, of both flanks together
    stiffness: float  # N/m^1.5
    damping: float  # s/m
    mu: float
    velocity: float  # m/s
    gravity: tuple[float, float]  # m/s²

    def corners(self, y: Array) -> Iterator[tuple[str, float, float, Array]]:
        """Yield name, normal force, friction along x and the arm of each corner."""
        turn = np.array([[np.cos(y[2]), -np.sin(y[2])], [np.sin(y[2]), np.cos(y[2])]])
        flank = 0.5 * (self.height + self.clearance)
        for end, along in (("front", 0.5), ("rear", -0.5)):
            for face, up in (("lower", 1.0), ("upper", -1.0)):
                arm = turn @ [along * self.length, -0.5 * up * self.height]
                # The flank below pushes up, the one above down.
                depth = -(flank + up * (y[1] + arm[1]))
                depth_rate = -up * (y[4] + y[5] * arm[0])
                slip = y[3] - y[5] * arm[1]
                force = 0.0
                if depth > 0.0:
                    force = self.stiffness * depth**1.5
                    force *= max(0.0, 1.0 + self.damping * depth_rate)
                rub = -self.mu * force * float(np.tanh(slip / self.velocity))
                yield f"{end}_{face}", up * force, rub, arm

    def rate(self, _t: float, y: Array) -> list[float]:
        """Return y' of y = (x, y, theta, vx, vy, omega)."""
        fx, fy = (self.mass * g for g in self.gravity)
        couple = 0.0
        for _, force, rub, arm in self.corners(y):
            fx += rub
            fy += force
            couple += arm[0] * force - arm[1] * rub
        a = [fx / self.mass, fy / self.mass, couple / self.inertia]
        return [y[3], y[4], y[5], *a]

    def run(self, start: ArrayLike, t: ArrayLike) -> Array:
        """Return the motion, (6, n), by DOP853 at rtol 1e-13, steps below 0.1 ms."""
        t = np.asarray(t, dtype=np.float64)
        run: Any = solve_ivp(
            self.rate,
            (float(t[0]), float(t[-1])),
            np.asarray(start, dtype=np.float64),
            method="DOP853",
            t_eval=t,
            rtol=1e-13,
            atol=1e-15,
            max_step=1e-4,
        )
        return run.y
