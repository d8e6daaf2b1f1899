"""Whether a run agrees with tighter ones, up to the loss of predictability.

Friction and impacts part motions that were as near as you like: which corner lands
first, which of two feet lets go. So a run that parts from a tighter one is wrong only
if a still tighter run stays with the tight one, and so do runs whose starts were
disturbed by more than the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fuzz.audit import tolerances
from fuzz.audit.course import moving
from fuzz.audit.notes import Array, Notes
from fuzz.audit.scene import Scene
from nonsmooth import Model, SolveError

N_COMPARE = 201
# A tighter run has a hundredth of the tolerance; the next again.
TIGHTER = 1e-2
LEAST_RTOL = 1e-13
# Disturbed starts: velocities by this part of the pace, so often.
DISTURBANCE = 1e-7
N_DISTURBED = 3
# A run has parted from a tight one where it is so many times farther from it than
# the tight one from a tighter or a disturbed one.
FARTHER = 1e3

Run = Callable[..., Any]


def difference(model: Model, ours: Any, theirs: Any, t: Array) -> Array:
    """Return how far two runs are apart, relative to the size of the motion.

    Places count by the model's size and the way gone, velocities by the fastest body
    until then; the largest over all bodies until each instant.
    """
    kinds = ("x", "y", "theta", "vx", "vy", "omega")
    names = [f"{b}.{k}" for b in moving(model) for k in kinds]
    a, b = ours.sample(t, names), theirs.sample(t, names)
    scene, other = Scene(model, theirs.sample(t)), Scene(model, ours.sample(t))
    fastest = np.maximum(scene.fastest(), other.fastest())
    speed = np.maximum.accumulate(fastest) + scene.quiet()
    worst = np.zeros_like(t)
    for name in names:
        kind = name.rpartition(".")[2]
        unit = {"x": scene.size, "y": scene.size, "theta": 1.0}.get(kind, speed)
        if kind == "omega":
            unit = speed / scene.size
        way = np.abs(b[name] - b[name][0]) if kind in ("x", "y", "theta") else 0.0
        worst = np.maximum(worst, np.abs(a[name] - b[name]) / (unit + way))
    return np.maximum.accumulate(worst)


def disturbed(model: Model, seed: int) -> Model:
    """Return the model with velocities that differ by a little.

    Joints and drives are put right again by the run, which assembles its start.
    """
    rng = np.random.default_rng(seed)
    pace = np.sqrt(9.81 * Scene(model, {"t": np.zeros(1)}).size)
    bodies: list[Any] = []
    for body in model.bodies:
        velocity: Any = getattr(body, "velocity", None)
        if velocity is not None and not getattr(body, "fixed", ()):
            vx, vy, omega = (DISTURBANCE * pace * rng.normal(size=3)).tolist()
            new: dict[str, Any] = {"velocity": (velocity[0] + vx, velocity[1] + vy)}
            spin: Any = getattr(body, "angular_velocity", None)
            if spin is not None:
                new["angular_velocity"] = spin + omega
            body = replace(body, **new)
        bodies.append(body)
    return replace(model, bodies=bodies, assemble=True)


def check_agreement(
    notes: Notes, model: Model, result: Any, run: Run, rtol: float
) -> None:
    """Compare a run with tighter ones; `run(model, rtol)` makes them."""
    try:
        tight = run(model, max(rtol * TIGHTER, LEAST_RTOL))
    except SolveError:
        # A tighter run that fails says nothing about this one; it is seen elsewhere.
        return
    t_end = min(result.t_end, tight.t_end)
    t = np.linspace(result.t_start, t_end, N_COMPARE)
    first = difference(model, result, tight, t)
    if first[-1] <= tolerances.AGREE:
        notes.compare("agreement", "motion", t, first, tolerances.AGREE)
        return
    near = np.zeros_like(t)
    others: list[Any] = []
    for k in range(N_DISTURBED + 1):
        try:
            if k == 0:
                others.append(run(model, max(rtol * TIGHTER**2, LEAST_RTOL)))
            else:
                others.append(run(disturbed(model, k), max(rtol * TIGHTER, LEAST_RTOL)))
        except SolveError:
            return
    for other in others:
        until = np.minimum(t, other.t_end)
        near = np.maximum(near, difference(model, tight, other, until))
    bound = np.maximum(tolerances.AGREE, FARTHER * near)
    notes.compare("agreement", "motion", t, first, bound)
