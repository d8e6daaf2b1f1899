"""Mechanisms with friction in their pins: slow references.

The four-bar linkage; further down a slider-crank that also rubs in its guide, and a
pendulum.

Crank OA, coupler AB and rocker CB are uniform rods; O = (0, 0) and C = (d, 0) are on
the ground. Angles th1, th2, th3 are counter-clockwise from +x, of OA, AB and CB. A pin
of radius r that bears the force F resists by the torque

    T = −mu r |F| sgn(w_b − w_a)      on b, reversed on a,

the exact cone. All positions and rates follow from (th1, w1) by the loop
a e1 + b e2 = d + c e3; the accelerations are affine in th1''. The unknowns are then the
eight components of force and th1'', or the motor's torque if the crank is driven; nine
equations of Newton and Euler, for three bodies, determine them. |F| is found by fixed
point: solve the linear equations for given |F|, take the new |F|, repeat to round-off.

Pins are numbered O, A, B, C. Forces and torques act on the second body of
ground–crank, crank–coupler, rocker–coupler, ground–rocker.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracles import slider_crank
from oracles.sliding_joint import Arc, Guard, march

Array = NDArray[np.float64]
PINS = ("O", "A", "B", "C")


@dataclass(frozen=True, kw_only=True)
class FourBar:
    """A crank-rocker by default, with the coupler above."""

    crank: float = 0.4  # m, a
    coupler: float = 1.1  # m, b
    rocker: float = 0.9  # m, c
    ground: float = 1.0  # m, d
    mass1: float = 1.0  # kg, crank
    mass2: float = 2.0  # kg, coupler
    mass3: float = 1.5  # kg, rocker
    mu: tuple[float, ...] = (0.3, 0.2, 0.25, 0.35)
    radius: tuple[float, ...] = (0.05, 0.04, 0.04, 0.05)  # m
    gravity: float = 9.81  # m/s², along −y
    torque: float = 0.0  # N m, on the crank, counter-clockwise


class Pose(NamedTuple):
    """Angles, rates, and accelerations per unit of th1'' and without it."""

    angle: Array  # rad, (3,)
    rate: Array  # rad/s
    gain: Array  # th'' = gain th1'' + rest
    rest: Array  # rad/s²


class Forces(NamedTuple):
    """Forces at one instant, by pins."""

    force: Array  # N, (4, 2)
    torque: Array  # N m, (4,), of friction
    motor: float  # N m, on the crank
    acceleration: float  # rad/s², th1''


def _e(angle: float) -> Array:
    return np.array([np.cos(angle), np.sin(angle)])


def _turned(vector: Array) -> Array:
    return np.array([-vector[1], vector[0]])


def pose(p: FourBar, theta: float, rate: float) -> Pose:
    """All angles and rates from those of the crank; the coupler is above A–C."""
    tip = p.crank * _e(theta)
    across = np.array([p.ground, 0.0]) - tip
    reach = float(np.hypot(*across))
    cos_a = (reach**2 + p.coupler**2 - p.rocker**2) / (2.0 * reach * p.coupler)
    th2 = float(np.arctan2(across[1], across[0]) + np.arccos(cos_a))
    b = tip + p.coupler * _e(th2) - np.array([p.ground, 0.0])
    th3 = float(np.arctan2(b[1], b[0]))
    # b w2 e2' − c w3 e3' = −a w1 e1', and the same again for the accelerations.
    matrix = np.column_stack(
        [p.coupler * _turned(_e(th2)), -p.rocker * _turned(_e(th3))]
    )
    gain = np.linalg.solve(matrix, -p.crank * _turned(_e(theta)))
    w2, w3 = gain * rate
    bend = p.crank * rate**2 * _e(theta) + p.coupler * w2**2 * _e(th2)
    rest = np.linalg.solve(matrix, bend - p.rocker * w3**2 * _e(th3))
    return Pose(
        np.array([theta, th2, th3]),
        np.array([rate, w2, w3]),
        np.array([1.0, *gain]),
        np.array([0.0, *rest]),
    )


def slip_rates(now: Pose) -> Array:
    """Return w_b − w_a of the four pins, rad/s."""
    w1, w2, w3 = now.rate
    return np.array([w1, w2 - w1, w2 - w3, w3])


def forces(
    p: FourBar,
    theta: float,
    rate: float,
    signs: Array | None = None,
    driven: bool = False,
) -> Forces:
    """Forces and acceleration; with a driven crank, th1'' = 0, and the motor's torque.

    Parameters
    ----------
    signs
        Of the slip rates, those of the pose by default.
    """
    now = pose(p, theta, rate)
    if signs is None:
        signs = np.sign(slip_rates(now))
    lengths = np.array([p.crank, p.coupler, p.rocker])
    masses = np.array([p.mass1, p.mass2, p.mass3])
    roots = [np.zeros(2), p.crank * _e(theta), np.array([p.ground, 0.0])]
    # Accelerations of the mass centres: gain th1'' + rest, from that of each root.
    gain_c, rest_c = np.zeros((3, 2)), np.zeros((3, 2))
    for i in range(3):
        e = _e(now.angle[i])
        gain_c[i] = 0.5 * lengths[i] * now.gain[i] * _turned(e)
        rest_c[i] = 0.5 * lengths[i] * (now.rest[i] * _turned(e) - now.rate[i] ** 2 * e)
    gain_c[1] += p.crank * _turned(_e(theta))
    rest_c[1] -= p.crank * rate**2 * _e(theta)
    # Who feels which pin: (body, pin, sign, place).
    a, b = roots[1], roots[1] + p.coupler * _e(now.angle[1])
    feels = [
        (0, 0, 1.0, roots[0]),
        (0, 1, -1.0, a),
        (1, 1, 1.0, a),
        (1, 2, 1.0, b),
        (2, 2, -1.0, b),
        (2, 3, 1.0, roots[2]),
    ]
    centres = [roots[i] + 0.5 * lengths[i] * _e(now.angle[i]) for i in range(3)]
    matrix, right = np.zeros((9, 9)), np.zeros(9)
    spin = np.zeros((9, 4))  # friction torques, by pins
    for body, pin, sign, place in feels:
        arm = place - centres[body]
        matrix[3 * body, 2 * pin] += sign
        matrix[3 * body + 1, 2 * pin + 1] += sign
        matrix[3 * body + 2, 2 * pin] -= sign * arm[1]
        matrix[3 * body + 2, 2 * pin + 1] += sign * arm[0]
        spin[3 * body + 2, pin] += sign
    for i in range(3):
        inertia = masses[i] * lengths[i] ** 2 / 12.0
        right[3 * i : 3 * i + 2] = masses[i] * (rest_c[i] + np.array([0, p.gravity]))
        right[3 * i + 2] = inertia * now.rest[i]
        if not driven:
            matrix[3 * i : 3 * i + 2, 8] = -masses[i] * gain_c[i]
            matrix[3 * i + 2, 8] = -inertia * now.gain[i]
    if driven:
        matrix[2, 8] = 1.0
    else:
        right[2] -= p.torque
    grip = -np.array(p.mu) * np.array(p.radius) * signs
    torque, x = np.zeros(4), np.zeros(9)
    for _ in range(500):
        x = np.asarray(np.linalg.solve(matrix, right - spin @ torque), np.float64)
        new = grip * np.hypot(x[0:8:2], x[1:8:2])
        change = float(np.max(np.abs(new - torque)))
        torque = new
        if change <= 1e-15 * float(np.max(np.abs(x))):
            break
    return Forces(
        x[:8].reshape(4, 2),
        torque,
        float(x[8]) if driven else p.torque,
        0.0 if driven else float(x[8]),
    )


def energy(p: FourBar, theta: float, rate: float) -> float:
    """Kinetic and potential energy, J."""
    now = pose(p, theta, rate)
    tip = p.crank * _e(theta)
    total = 0.0
    for i, (mass, length) in enumerate(
        ((p.mass1, p.crank), (p.mass2, p.coupler), (p.mass3, p.rocker))
    ):
        half = 0.5 * length
        e = _e(now.angle[i])
        v = half * now.rate[i] * _turned(e)
        height = half * e[1]
        if i == 1:
            v = v + p.crank * rate * _turned(_e(theta))
            height += tip[1]
        inertia = mass * length**2 / 12.0
        total += 0.5 * (mass * float(v @ v) + inertia * now.rate[i] ** 2)
        total += mass * p.gravity * float(height)
    return float(total)


def motion(p: FourBar, theta: float, rate: float, until: float) -> list[Arc]:
    """Motion (th1, w1, work of friction), cut where a pin changes its sense.

    It ends where the crank stops; the modes are the signs of the slip rates.
    """
    t, y = 0.0, np.array([theta, rate, 0.0])
    signs = np.sign(slip_rates(pose(p, theta, rate)))
    arcs: list[Arc] = []
    while t < until:

        def slope(t: float, y: Array, signs: Array = signs) -> list[float]:
            f = forces(p, y[0], y[1], signs)
            power = float(f.torque @ slip_rates(pose(p, y[0], y[1])))
            return [y[1], f.acceleration, power]

        def rate_of(t: float, y: Array, i: int) -> float:
            return float(slip_rates(pose(p, y[0], y[1]))[i])

        guards = [
            Guard(PINS[i], lambda t, y, i=i: rate_of(t, y, i), -signs[i])
            for i in range(4)
        ]
        end, y, name, sol = march(slope, guards, t, y, until, 0.02)
        arcs.append(Arc(tuple(signs), (t, end), sol))
        t = end
        # All pins stop at once if the crank does; which of them is named is chance.
        if name is None or abs(y[1]) < 1e-9:
            break
        signs = signs.copy()
        signs[PINS.index(name)] *= -1.0
    return arcs


# -- slider-crank -----------------------------------------------------------------


class SliderCrank(NamedTuple):
    """Forces of a driven slider-crank with friction everywhere, on the second body."""

    force: Array  # N, (3, 2), pins O (on the crank), A (on the rod), B (on the slider)
    torque: Array  # N m, (3,), of friction in the pins
    normal: float  # N, guide on slider, along +y
    friction: float  # N, guide on slider, along +x
    front: float  # N, of the end at +x, > 0 upwards
    rear: float  # N
    motor: float  # N m


def slider_crank_forces(
    p: slider_crank.Parameters,
    drive: slider_crank.Drive,
    *,
    mu: float,
    length: float,
    height: float,
    pin_mu: float,
    radius: float,
) -> SliderCrank:
    """Forces of uniform rods and a block whose pin is in its middle.

    The motion is known: nine equations of Newton and Euler are linear in six pin
    forces, the guide's normal force and couple C, and the motor's torque. The friction
    of pins and guide is put on the right and found by fixed point. The pin's friction
    turns the block, so that C is not zero, and G = max(|N|, (2/l)|C + s mu (h/2) N|).
    """
    m = slider_crank.kinematics(p, drive)
    e1, e2 = _e(drive.angle), _e(m.angle2)
    way = np.sign(m.v)
    a = p.crank * (drive.acceleration * _turned(e1) - drive.rate**2 * e1)
    acc1 = 0.5 * a
    acc2 = a + 0.5 * p.rod * (m.acceleration2 * _turned(e2) - m.rate2**2 * e2)
    lift = np.array([0.0, p.gravity])
    matrix = np.zeros((9, 9))  # unknowns: O, A, B, normal, couple, motor
    arm1, arm2 = 0.5 * p.crank * e1, 0.5 * p.rod * e2
    for body, pin, sign, arm in (
        (0, 0, 1.0, -arm1),
        (0, 1, -1.0, arm1),
        (1, 1, 1.0, -arm2),
        (1, 2, -1.0, arm2),
        (2, 2, 1.0, np.zeros(2)),
    ):
        matrix[3 * body, 2 * pin] += sign
        matrix[3 * body + 1, 2 * pin + 1] += sign
        matrix[3 * body + 2, 2 * pin] -= sign * arm[1]
        matrix[3 * body + 2, 2 * pin + 1] += sign * arm[0]
    matrix[7, 6] = matrix[8, 7] = matrix[2, 8] = 1.0
    right = np.zeros(9)
    right[0:2] = p.mass1 * (acc1 + lift)
    right[2] = p.mass1 * p.crank**2 / 12.0 * drive.acceleration
    right[3:5] = p.mass2 * (acc2 + lift)
    right[5] = p.mass2 * p.rod**2 / 12.0 * m.acceleration2
    right[6:8] = p.mass3 * (np.array([m.a, 0.0]) + lift)
    grip = -pin_mu * radius * np.sign([drive.rate, m.rate2 - drive.rate, -m.rate2])
    torque, friction, x = np.zeros(3), 0.0, np.zeros(9)
    front = rear = 0.0
    for _ in range(2000):
        rest = right.copy()
        rest[2] -= torque[0] - torque[1]
        rest[5] -= torque[1] - torque[2]
        rest[8] -= torque[2]
        rest[6] -= friction
        x = np.asarray(np.linalg.solve(matrix, rest), np.float64)
        lean = (x[7] + way * mu * 0.5 * height * x[6]) / length
        front, rear = 0.5 * x[6] + lean, 0.5 * x[6] - lean
        new = grip * np.hypot(x[0:6:2], x[1:6:2])
        push = -way * mu * (abs(front) + abs(rear))
        change = max(float(np.max(np.abs(new - torque))), abs(push - friction))
        torque, friction = new, float(push)
        if change <= 1e-15 * float(np.max(np.abs(x))):
            break
    return SliderCrank(
        x[:6].reshape(3, 2),
        torque,
        float(x[6]),
        friction,
        float(front),
        float(rear),
        float(x[8]),
    )


# -- pendulum ---------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Pendulum:
    """A body on a pin with friction; phi counter-clockwise from hanging down."""

    mass: float = 1.0  # kg
    arm: float = 0.5  # m, mass centre from the pin
    inertia: float = 1.0 / 12.0  # kg m², about the mass centre
    radius: float = 0.05  # m
    mu: float = 0.3
    mu_static: float = 0.4
    gravity: float = 9.81  # m/s²


def pendulum_forces(
    p: Pendulum, phi: float, rate: float, way: float, couple: float = 0.0
) -> Array:
    """Return (phi'', |F|) while the pin slips in the direction ±1.

    F_r = m (l w² + g cos phi) towards the pin, F_t = m (l phi'' + g sin phi),
    (I + m l²) phi'' = couple − m g l sin phi − way mu r |F|, by fixed point.
    """
    total = p.inertia + p.mass * p.arm**2
    radial = p.mass * (p.arm * rate**2 + p.gravity * np.cos(phi))
    load, acceleration = abs(radial), 0.0
    for _ in range(200):
        moment = couple - p.mass * p.gravity * p.arm * np.sin(phi)
        acceleration = (moment - way * p.mu * p.radius * load) / total
        across = p.mass * (p.arm * acceleration + p.gravity * np.sin(phi))
        new = float(np.hypot(radial, across))
        if abs(new - load) <= 1e-16 * new:
            break
        load = new
    return np.array([acceleration, load])


def pendulum_holds(p: Pendulum, phi: float) -> bool:
    """Return whether the pin holds at rest: l |sin phi| <= mu' r, since |F| = m g."""
    return bool(p.arm * abs(np.sin(phi)) <= p.mu_static * p.radius)


def pendulum_motion(p: Pendulum, phi: float, rate: float, until: float) -> list[Arc]:
    """Motion (phi, phi') through all reversals, until it stays at rest; modes ±1, 0."""
    t, y, way = 0.0, np.array([phi, rate]), float(np.sign(rate))
    arcs: list[Arc] = []
    if way == 0.0 and not pendulum_holds(p, phi):
        way = -float(np.sign(np.sin(phi)))
    while t < until and way:

        def slope(t: float, y: Array, way: float = way) -> list[float]:
            return [y[1], pendulum_forces(p, y[0], y[1], way)[0]]

        guards = [Guard("stop", lambda t, y: y[1], -way)]
        end, y, name, sol = march(slope, guards, t, y, until, 0.05)
        arcs.append(Arc(way, (t, end), sol))
        t = end
        if name:
            y[1] = 0.0
            holds = pendulum_holds(p, y[0])
            way = 0.0 if holds else -float(np.sign(np.sin(y[0])))
    if t < until:
        stay = np.array([y[0], 0.0])
        arcs.append(Arc(0.0, (t, until), lambda t, stay=stay: stay))
    return arcs
