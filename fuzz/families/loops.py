"""Closed loops: four-bars and five-bars, driven or free, with frictional pins."""

from __future__ import annotations

import math

import numpy as np

from fuzz.families.common import (
    Case,
    G,
    Rng,
    chance,
    decades,
    excite,
    friction_law,
    pick,
    rod,
    seconds,
    uniform,
)
from nonsmooth import (
    Ground,
    Harmonic,
    Model,
    Ramp,
    Revolute,
    RotationDrive,
    SmoothStep,
)


def pin(
    rng: Rng, name: str, a: str, b: str, size: float, part: float = 0.7
) -> Revolute:
    """Return a pin, with friction in this part of all cases."""
    if not chance(rng, part):
        return Revolute(name=name, a=a, b=b)
    radius = size * uniform(rng, 0.01, 0.06)
    law = friction_law(rng, size=size, high=0.5)
    return Revolute(name=name, a=a, b=b, friction=law, radius=radius)


def meet(p: np.ndarray, q: np.ndarray, a: float, b: float) -> np.ndarray | None:
    """Return where circles of radius a around p and b around q cross, None if not."""
    d = float(np.hypot(*(q - p)))
    if not 1.05 * abs(a - b) < d < 0.95 * (a + b):
        return None
    x, along = (a * a - b * b + d * d) / (2.0 * d), (q - p) / d
    return p + x * along + math.sqrt(a * a - x * x) * np.array([-along[1], along[0]])


def motor(rng: Rng, body: str, angle: float, until: float) -> RotationDrive:
    """Return a drive that starts at rest from an angle."""
    turn = pick(rng, (-1.0, 1.0)) * uniform(rng, 1.0, 6.0)
    law = pick(
        rng,
        (
            Ramp(rate=turn / until, duration=0.3 * until, start=angle),
            SmoothStep(start=angle, end=angle + turn, duration=0.8 * until),
            Harmonic(
                amplitude=0.2 * turn,
                angular_frequency=8.0 / until,
                phase=math.pi / 2.0,
                offset=angle - 0.2 * turn,
            ),
        ),
    )
    return RotationDrive(name="motor", b=body, law=law)


def loops(rng: Rng) -> Case:
    """Return a four-bar or a five-bar at rest, driven, pushed or let fall."""
    size, heavy = decades(rng, 0.05, 3.0), decades(rng, 0.1, 30.0)
    is_five = chance(rng, 0.4)
    until = seconds(size, 2.0)
    ground = np.array([size, 0.0])
    while True:
        angle = uniform(rng, -math.pi, math.pi)
        A = size * uniform(rng, 0.2, 0.5) * np.array([math.cos(angle), math.sin(angle)])
        D, other = ground, 0.0
        if is_five:
            other = uniform(rng, -math.pi, math.pi)
            D = ground + size * uniform(rng, 0.2, 0.5) * np.array(
                [math.cos(other), math.sin(other)]
            )
        B = meet(A, D, *(size * rng.uniform(0.6, 1.2, 2)).tolist())
        if B is not None:
            break
    mass = (heavy * rng.uniform(0.3, 1.5, 4)).tolist()
    bodies = [
        Ground(points={"C": (size, 0.0)}),
        rod("crank", (0.0, 0.0), A, mass[0]),
        rod("coupler", A, B, mass[1]),
        rod("rocker", D, B, mass[2]),
    ]
    joints = [
        pin(rng, "O", "ground", "crank.p", size),
        pin(rng, "A", "crank.q", "coupler.p", size),
        pin(rng, "B", "coupler.q", "rocker.q", size),
        pin(rng, "C", "ground.C", "fifth.p" if is_five else "rocker.p", size),
    ]
    if is_five:
        bodies.append(rod("fifth", ground, D, mass[3]))
        joints.append(pin(rng, "D", "fifth.q", "rocker.p", size))
    drives: list[RotationDrive] = []
    if chance(rng, 0.5):
        drives.append(motor(rng, "crank", angle, until))
    target = pick(rng, ("crank", "coupler", "rocker"))
    model = Model(
        gravity=(0.0, -G),
        bodies=bodies,
        joints=joints,
        drives=drives,
        forces=excite(rng, target, heavy * G, size, 10.0 / until, until),
    )
    return Case(model=model, until=until, traits=("five-bar",) if is_five else ())
