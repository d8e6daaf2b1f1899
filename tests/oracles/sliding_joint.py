"""Joints with dry friction: the force problem, all its solutions, and motions.

Let n joints slip. Their normal forces lam solve

    S lam + S* |lam| = b,

S from the constraints alone, S* from the friction -mu |lam| sgn(v_t) under either
sign of lam. For each choice of signs D = diag(±1) this is linear; all 2^n choices are
tried here, none is preferred. There is one solution for every b if, and only if, all
det(S + S* D) have one strict sign.

The crank-rocker with a driven crank is in `crank_rocker`, the slider-crank in
`slider_crank`; there the motion is known and forces follow one by one. Here are

- the crank-rocker under a given torque, or driven at the rocker. Paper's signs, as
  in `crank_rocker`: with d = th2 − th1, J = J2 + m3 L3²,

      J1 a1 = s lam + T1                  T1 = −c w1 + m1 g L1 sin th1
      J a2 = M − L3 (lam cos d + F_f sin d) + T2
      s a1 = L3 cos d a2 + v_r (w2 − 2 w1)

  T2 the moment of the weights of crank and slider, M the torque on the crank.
- the elliptic trammel: a uniform rod of length l at the angle phi. Its end A runs
  along the x axis at (l cos phi, 0), its end B along the y axis at (0, l sin phi).
  The guides push the rod at A along +y by N_a, at B along +x by N_b; friction F_a is
  along +x, F_b along +y. Both guides hold on both sides.

References
----------
[WangWangZhuang2014]_, Eqs. (13)–(19).
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oracles import crank_rocker

Array = NDArray[np.float64]

# Of the references; DOP853 then errs by some 1e-12 over a few seconds.
RTOL, ATOL = 1e-12, 1e-13


# -- the force problem ------------------------------------------------------------


class Problem(NamedTuple):
    """S lam + S* |lam| = b."""

    s: Array  # (n, n)
    s_star: Array  # (n, n)
    b: Array  # (n,)


def _signs(n: int) -> list[Array]:
    return [np.array(signs) for signs in product((1.0, -1.0), repeat=n)]


def solutions(problem: Problem) -> list[Array]:
    """All normal forces that solve the problem, for none of them is zero."""
    found: list[Array] = []
    for signs in _signs(len(problem.b)):
        lam = np.linalg.solve(problem.s + problem.s_star * signs, problem.b)
        if np.all(lam * signs > 0.0):
            found.append(np.asarray(lam, np.float64))
    return found


def determinants(problem: Problem) -> Array:
    """Return det(S + S* D)/det S for all sign choices D; D = 1 first."""
    base = np.linalg.det(problem.s)
    signs = _signs(len(problem.b))
    return np.array(
        [np.linalg.det(problem.s + problem.s_star * d) / base for d in signs]
    )


def critical_factor(problem: Problem) -> float:
    """Return the least k > 0 with det(S + k S* D) = 0 for some D; inf if none.

    Then −1/k is an eigenvalue of S⁻¹ S* D: no search is needed.
    """
    plain = np.linalg.solve(problem.s, problem.s_star)
    least = np.inf
    for signs in _signs(len(problem.b)):
        for value in np.linalg.eigvals(-plain * signs):
            # Friction that does nothing leaves eigenvalues of round-off size.
            if abs(value.imag) < 1e-12 and value.real > 1e-12:
                least = min(least, 1.0 / value.real)
    return float(least)


# -- arcs and events --------------------------------------------------------------


class Arc(NamedTuple):
    """A piece of smooth motion in one mode."""

    mode: Any
    t: tuple[float, float]  # s
    y: Callable[[Any], Array]  # state over time, (n_state, n_time)


class Guard(NamedTuple):
    """A function that ends an arc where it becomes zero in one direction."""

    name: str
    value: Callable[[float, Array], float]
    direction: float


def march(
    slope: Callable[[float, Array], Any],
    guards: list[Guard],
    t: float,
    y: Array,
    until: float,
    max_step: float,
) -> tuple[float, Array, str | None, Callable[[Any], Array]]:
    """Integrate to the first zero of a guard, or to `until`."""
    events: list[Any] = []
    for guard in guards:

        def event(t: float, y: Array, guard: Guard = guard) -> float:
            return guard.value(t, y)

        event.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
        event.direction = guard.direction  # pyright: ignore[reportFunctionMemberAccess]
        events.append(event)
    run: Any = solve_ivp(
        slope,
        (t, until),
        y,
        method="DOP853",
        rtol=RTOL,
        atol=ATOL,
        events=events,
        dense_output=True,
        max_step=max_step,
    )
    hits = [(times[0], i) for i, times in enumerate(run.t_events or []) if len(times)]
    if not hits:
        return until, run.y[:, -1], None, run.sol
    at, which = min(hits)
    return float(at), run.y_events[which][0], guards[which].name, run.sol


def sample(arcs: list[Arc], t: Array) -> Array:
    """Return the states of a motion at the times t, shape (n_state, n_time)."""
    ends = np.array([arc.t[1] for arc in arcs[:-1]])
    which = np.searchsorted(ends, t, side="right")
    return np.column_stack([arcs[i].y(x) for i, x in zip(which, t, strict=True)])


def events(arcs: list[Arc]) -> list[tuple[float, Any, Any]]:
    """Return (time, mode before, mode after) of all events."""
    return [(one.t[1], one.mode, two.mode) for one, two in pairwise(arcs)]


# -- crank-rocker, not driven at the crank ----------------------------------------


class RockerDrive(NamedTuple):
    """Rocker angle and its derivatives at one time, paper's signs."""

    angle: float  # rad
    rate: float  # rad/s
    acceleration: float  # rad/s²


class Free(NamedTuple):
    """What one solution of the force problem means, paper's signs."""

    lam: float  # N, on the slider along n
    friction: float  # N, on the slider along e
    acceleration2: float  # rad/s², crank
    torque: float  # N m, of the drive, clockwise; on what it drives


def _crank_inertia(p: crank_rocker.Parameters) -> float:
    return p.inertia2 + p.mass3 * p.length3**2


def _weights(p: crank_rocker.Parameters, th1: float, th2: float) -> tuple[float, float]:
    rocker = p.mass1 * p.gravity * p.length1 * np.sin(th1)
    crank = (p.mass2 * p.length2 + p.mass3 * p.length3) * p.gravity * np.sin(th2)
    return float(rocker), float(crank)


def torque_driven(
    p: crank_rocker.Parameters, theta2: float, rate2: float, torque: float = 0.0
) -> Problem:
    """Return the force problem of the crank-rocker under a torque on the crank.

    p.speed has no meaning. The slider must be moving.
    """
    m, d, inertia, t1, t2 = _torque_driven(p, theta2, rate2)
    arm = p.length3 * np.cos(d)
    s = m.s**2 / p.inertia1 + arm**2 / inertia
    star = -p.mu * np.sign(m.v_r) * arm * p.length3 * np.sin(d) / inertia
    b = arm * (torque + t2) / inertia - m.s * t1 / p.inertia1
    b += m.v_r * (rate2 - 2.0 * m.rate1)
    return Problem(np.array([[s]]), np.array([[star]]), np.array([b]))


def torque_driven_forces(
    p: crank_rocker.Parameters, theta2: float, rate2: float, torque: float = 0.0
) -> list[Free]:
    """All solutions under a torque on the crank, with what they do to the crank."""
    m, d, inertia, _, t2 = _torque_driven(p, theta2, rate2)
    found: list[Free] = []
    for (lam,) in solutions(torque_driven(p, theta2, rate2, torque)):
        friction = -p.mu * abs(lam) * np.sign(m.v_r)
        push = lam * np.cos(d) + friction * np.sin(d)
        a2 = (torque + t2 - p.length3 * push) / inertia
        found.append(Free(float(lam), float(friction), float(a2), torque))
    return found


def _torque_driven(p: crank_rocker.Parameters, theta2: float, rate2: float) -> Any:
    m = crank_rocker.kinematics(_at_speed(p, rate2), theta2)
    t1, t2 = _weights(p, float(m.theta1), theta2)
    t1 -= p.damping * float(m.rate1)
    return m, theta2 - m.theta1, _crank_inertia(p), t1, t2


def _at_speed(p: crank_rocker.Parameters, speed: float) -> crank_rocker.Parameters:
    values = {name: getattr(p, name) for name in p.__dataclass_fields__}
    return crank_rocker.Parameters(**{**values, "speed": speed})


def torque_driven_motion(
    p: crank_rocker.Parameters,
    theta2: float,
    rate2: float,
    until: float,
    torque: Callable[[float], float] = lambda t: 0.0,
) -> list[Arc]:
    """Motion (th2, w2) under a torque, cut where lam or v_r changes sign.

    The force problem must have one solution all along and the crank must keep
    turning one way. Where the slider reverses, th2 = k π, sin d = 0 and friction does
    no more than change its sign.
    """
    way = np.sign(rate2)
    t, y = 0.0, np.array([theta2, rate2])
    arcs: list[Arc] = []
    slip = float(crank_rocker.slip_sign(_at_speed(p, rate2), theta2, 1))
    side = float(np.sign(_free_in_mode(p, theta2, rate2, torque(0.0), slip, 1.0).lam))
    while t < until:

        def slope(t: float, y: Array, mode: Any = (slip, side)) -> list[float]:
            free = _free_in_mode(p, y[0], y[1], torque(t), *mode)
            return [y[1], free.acceleration2]

        def load(t: float, y: Array, mode: Any = (slip, side)) -> float:
            return _free_in_mode(p, y[0], y[1], torque(t), *mode).lam

        turn = np.pi * (np.floor(way * y[0] / np.pi + 1e-9) + 1.0) * way
        guards = [
            Guard("flank", load, -side),
            Guard("reverse", lambda t, y, turn=turn: y[0] - turn, way),
            Guard("stop", lambda t, y: y[1], -way),
        ]
        end, y, name, sol = march(slope, guards, t, y, until, 0.05)
        arcs.append(Arc((slip, side), (t, end), sol))
        t = end
        if name == "flank":
            side = -side
        elif name == "reverse":
            slip = -slip
        elif name == "stop":
            break
    return arcs


def _free_in_mode(
    p: crank_rocker.Parameters,
    theta2: float,
    rate2: float,
    torque: float,
    slip: float,
    side: float,
) -> Free:
    """Return the forces for given signs of v_r and lam."""
    _, d, inertia, _, t2 = _torque_driven(p, theta2, rate2)
    problem = torque_driven(p, theta2, rate2, torque)
    arm = p.length3 * np.cos(d)
    star = -p.mu * slip * arm * p.length3 * np.sin(d) / inertia
    lam = float(problem.b[0] / (problem.s[0, 0] + side * star))
    friction = -p.mu * side * lam * slip
    push = lam * np.cos(d) + friction * np.sin(d)
    a2 = (torque + t2 - p.length3 * push) / inertia
    return Free(lam, float(friction), float(a2), torque)


def crank_angle(p: crank_rocker.Parameters, theta1: float, theta2: float) -> float:
    """Return the crank angle that belongs to a rocker angle, near a given one.

    L4 sin th1 = L3 sin d has two roots d in a turn, one on either side of the dead
    centre d = π/2.
    """
    ratio = np.arcsin(p.length4 * np.sin(theta1) / p.length3)
    roots = np.array([ratio, np.pi - ratio]) + theta1
    turns = np.round((theta2 - roots) / (2.0 * np.pi))
    roots = roots + 2.0 * np.pi * turns
    return float(roots[np.argmin(np.abs(roots - theta2))])


def rocker_driven(
    p: crank_rocker.Parameters, theta2: float, drive: RockerDrive, torque: float = 0.0
) -> Problem:
    """Return the force problem of the crank-rocker whose rocker is driven.

    cos d lam − mu sgn(v_r) sin d |lam| = (torque + T2 − J a2)/L3, times the sign of
    cos d, so that S > 0. theta2 must belong to the drive's angle.
    """
    m, d, a2 = _rocker_driven(p, theta2, drive)
    _, t2 = _weights(p, drive.angle, theta2)
    s, star = np.cos(d), -p.mu * np.sign(m.v_r) * np.sin(d)
    b = (torque + t2 - _crank_inertia(p) * a2) / p.length3
    scale = np.sign(s)
    return Problem(
        np.array([[scale * s]]), np.array([[scale * star]]), np.array([scale * b])
    )


def rocker_driven_forces(
    p: crank_rocker.Parameters, theta2: float, drive: RockerDrive, torque: float = 0.0
) -> list[Free]:
    """All solutions with the rocker driven; `torque` of each is that on the rocker."""
    m, _, a2 = _rocker_driven(p, theta2, drive)
    t1, _ = _weights(p, drive.angle, theta2)
    t1 -= p.damping * drive.rate
    found: list[Free] = []
    for (lam,) in solutions(rocker_driven(p, theta2, drive, torque)):
        friction = -p.mu * abs(lam) * np.sign(m.v_r)
        motor = p.inertia1 * drive.acceleration - t1 - m.s * lam
        found.append(Free(float(lam), float(friction), a2, float(motor)))
    return found


def _rocker_driven(
    p: crank_rocker.Parameters, theta2: float, drive: RockerDrive
) -> tuple[crank_rocker.Motion, float, float]:
    d = theta2 - drive.angle
    s = float(crank_rocker.kinematics(p, theta2).s)
    w2 = s * drive.rate / (p.length3 * np.cos(d))
    m = crank_rocker.kinematics(_at_speed(p, w2), theta2)
    a2 = (s * drive.acceleration - float(m.v_r) * (w2 - 2.0 * drive.rate)) / (
        p.length3 * np.cos(d)
    )
    return m, d, float(a2)


# -- elliptic trammel -------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Trammel:
    """A uniform rod between two guides at right angles."""

    length: float = 1.0  # m, l, from A to B
    mass: float = 1.0  # kg
    mu_a: float = 0.3  # in the guide of A, along x
    mu_b: float = 0.3  # in the guide of B, along y
    gravity: float = 9.81  # m/s², along −y
    force: tuple[float, float] = (0.0, 0.0)  # N, on the mass centre


class TrammelForces(NamedTuple):
    """One solution of the force problem."""

    normal_a: float  # N, on the rod at A, along +y
    normal_b: float  # N, on the rod at B, along +x
    friction_a: float  # N, along +x
    friction_b: float  # N, along +y
    acceleration: float  # rad/s², phi''


def trammel_slip(phi: float, rate: float) -> tuple[float, float]:
    """Return the signs of the slip velocities of A (along x) and B (along y)."""
    return float(-np.sign(np.sin(phi) * rate)), float(np.sign(np.cos(phi) * rate))


def _trammel_matrix(
    p: Trammel, phi: float, drag: tuple[float, float]
) -> tuple[Array, Array]:
    """Newton's and Euler's equations in (N_a, N_b, phi''), F_i = drag_i N_i.

    m x'' = N_b + F_a, m y'' = N_a + F_b − m g, and about the mass centre
    −I phi'' = l/2 (cos phi (N_a − F_b) + sin phi (F_a − N_b)), since the rod turns
    clockwise as phi grows; the mass centre is at l/2 (cos phi, sin phi).
    """
    c, s, half = np.cos(phi), np.sin(phi), 0.5 * p.length
    inertia = p.mass * p.length**2 / 12.0
    a, b = drag
    matrix = np.array(
        [
            [a, 1.0, p.mass * half * s],
            [1.0, b, -p.mass * half * c],
            [half * (c + s * a), -half * (s + c * b), inertia],
        ]
    )
    return matrix, np.array([c, s])


def trammel_solve(
    p: Trammel, phi: float, rate: float, drag: tuple[float, float]
) -> TrammelForces:
    """Forces and acceleration for friction F_i = drag_i N_i."""
    matrix, along = _trammel_matrix(p, phi, drag)
    right = np.zeros(3)
    right[:2] = -0.5 * p.mass * p.length * rate**2 * along
    right[:2] -= p.force
    right[1] += p.mass * p.gravity
    n_a, n_b, acceleration = (float(x) for x in np.linalg.solve(matrix, right))
    return TrammelForces(n_a, n_b, drag[0] * n_a, drag[1] * n_b, acceleration)


def trammel_forces(p: Trammel, phi: float, rate: float) -> list[TrammelForces]:
    """All solutions while both ends slip: four choices of flanks are tried."""
    return _trammel_forces(p, phi, rate, trammel_slip(phi, rate))


def _trammel_forces(
    p: Trammel, phi: float, rate: float, slip: tuple[float, float]
) -> list[TrammelForces]:
    found: list[TrammelForces] = []
    for flank_a, flank_b in product((1.0, -1.0), repeat=2):
        drag = (-p.mu_a * slip[0] * flank_a, -p.mu_b * slip[1] * flank_b)
        forces = trammel_solve(p, phi, rate, drag)
        if forces.normal_a * flank_a > 0.0 and forces.normal_b * flank_b > 0.0:
            found.append(forces)
    return found


def trammel_problem(p: Trammel, phi: float, rate: float) -> Problem:
    """Return the problem in (N_a, N_b), phi'' eliminated.

    With c = cos phi, s = sin phi

        m S = [[1 + 3 c², −3 s c], [−3 s c, 1 + 3 s²]],
        m² det(S + S* D) = 4 − 3 sin(2 phi) (p_a + p_b) + 2 p_a p_b,

    where p = ± mu, all four choices.
    """
    c, s = np.cos(phi), np.sin(phi)
    slip_a, slip_b = trammel_slip(phi, rate)
    plain = np.array([[1 + 3 * c * c, -3 * s * c], [-3 * s * c, 1 + 3 * s * s]])
    star = -np.array(
        [
            [3 * s * c * p.mu_a * slip_a, (1 - 3 * c * c) * p.mu_b * slip_b],
            [(1 - 3 * s * s) * p.mu_a * slip_a, 3 * s * c * p.mu_b * slip_b],
        ]
    )
    # y_a'' and x_b'' without any force of the guides.
    free = 0.5 * p.length * rate**2 * np.array([s, c])
    free += np.array([p.force[1], p.force[0]]) / p.mass
    free[0] -= p.gravity
    return Problem(plain / p.mass, star / p.mass, -free)


def trammel_critical_mu(phi: float) -> float:
    """Friction, the same in both guides, from which the trammel is ill-posed.

    4 − 6 |sin 2 phi| mu + 2 mu² = 0, or 4 − 2 mu² = 0 if this has no root: 1 at
    45 deg, at most √2.
    """
    w = abs(np.sin(2.0 * phi))
    inner = 9.0 * w * w - 8.0
    return float(0.5 * (3.0 * w - np.sqrt(inner)) if inner > 0.0 else np.sqrt(2.0))


def trammel_energy(p: Trammel, phi: float, rate: float) -> float:
    """Kinetic and potential energy, J: m l² w²/6 + m g (l/2) sin phi."""
    kinetic = p.mass * (p.length * rate) ** 2 / 6.0
    return float(kinetic + 0.5 * p.mass * p.gravity * p.length * np.sin(phi))


def trammel_motion(p: Trammel, phi: float, rate: float, until: float) -> list[Arc]:
    """Motion (phi, phi') cut at every change of a flank or a slip direction.

    Where the rod stops it slides back if it can, else the motion ends there: at rest
    both ends hold it, and how much each of them is undetermined.
    """
    t, y, way = 0.0, np.array([phi, rate]), float(np.sign(rate))
    arcs: list[Arc] = []
    slip, flank = _trammel_mode(p, phi, rate, way)
    while t < until:
        drag = (-p.mu_a * slip[0] * flank[0], -p.mu_b * slip[1] * flank[1])

        def slope(t: float, y: Array, drag: Any = drag) -> list[float]:
            return [y[1], trammel_solve(p, y[0], y[1], drag).acceleration]

        def normal(t: float, y: Array, i: int, drag: Any = drag) -> float:
            return trammel_solve(p, y[0], y[1], drag)[i]

        guards = [
            Guard("flank_a", lambda t, y, f=normal: f(t, y, 0), -flank[0]),
            Guard("flank_b", lambda t, y, f=normal: f(t, y, 1), -flank[1]),
            # A slows down towards sin phi = 0, B towards cos phi = 0.
            Guard("slip_a", lambda t, y, w=way: -np.sin(y[0]) * w, -slip[0]),
            Guard("slip_b", lambda t, y, w=way: np.cos(y[0]) * w, -slip[1]),
            Guard("stop", lambda t, y: y[1], -way),
        ]
        end, y, name, sol = march(slope, guards, t, y, until, 0.02)
        arcs.append(Arc((*slip, *flank), (t, end), sol))
        t = end
        if name is None:
            break
        if name == "stop":
            y[1], way = 0.0, -way
            back = _trammel_forces(p, y[0], 0.0, trammel_slip(y[0], way))
            if len(back) != 1 or back[0].acceleration * way <= 0.0:
                break
            slip, flank = _trammel_mode(p, y[0], 0.0, way)
            continue
        kind, end_name = name.split("_")
        changed = flank if kind == "flank" else slip
        changed["ab".index(end_name)] *= -1.0
        if kind == "slip":
            # Friction jumps, and the normal forces with it.
            (forces,) = _trammel_forces(p, y[0], y[1], (slip[0], slip[1]))
            flank = [float(np.sign(x)) for x in forces[:2]]
    return arcs


def _trammel_mode(
    p: Trammel, phi: float, rate: float, way: float
) -> tuple[list[float], list[float]]:
    """Return the signs of both slips and of both normal forces."""
    slip = trammel_slip(phi, way)
    (forces,) = _trammel_forces(p, phi, rate, slip)
    return list(slip), [float(np.sign(x)) for x in forces[:2]]
