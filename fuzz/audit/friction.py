"""Coulomb's law and the others, for contacts and joints alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.audit import laws, tolerances
from fuzz.audit.notes import Array, Notes
from fuzz.audit.scene import Scene

# Even samples in a row in which what is at rest is shown to slip.
LASTING = 5
# Part of the fastest there was that tells, later on, what is round-off of a slip.
REMEMBERED = 0.1


@dataclass(frozen=True, kw_only=True)
class Rub:
    """What rubs, at each instant; all that presses, where `presses`."""

    name: str
    law: Any
    load: Array
    friction: Array
    slip: Array
    mode: Array
    presses: Any
    speed: Array  # m/s, that the slip is the difference of
    shift: Array  # N, that forces change while an event may have happened
    force: Array  # N, their round-off
    deflection: Array | None = None
    is_touch: bool = False  # a contact between shapes, not a joint


def shift_of(shifts: dict[str, Array], name: str) -> Array:
    """Return what the forces of one element change while an event may have happened.

    Twice, for the sign of what was meant to be zero.
    """
    kinds = ("friction_force", "normal_force", "load", "front_force", "rear_force")
    found = [shifts[f"{name}.{kind}"] for kind in kinds if f"{name}.{kind}" in shifts]
    return 2.0 * np.sum(found, axis=0)


def check_friction(notes: Notes, scene: Scene, rub: Rub, rtol: float) -> None:
    """Compare friction with its law, at rest and in motion."""
    law, name, t = rub.law, rub.name, scene.t
    if not laws.is_set_valued(law):
        _check_function(notes, scene, rub)
        return
    fastest, quiet = scene.fastest(), scene.quiet()
    known = np.maximum(fastest, REMEMBERED * np.maximum.accumulate(fastest))
    speed = rub.speed + 1e-2 * known + quiet
    # Just after an event a slip is less than what the dense output may err by.
    sign = max(tolerances.SIGN, rtol)
    sticks = rub.presses & (rub.mode == 0.0)
    slips = rub.presses & (np.abs(rub.mode) == 1.0)
    mu0, band = laws.static(law), getattr(law, "dead_band", 0.0)

    beyond = np.abs(rub.friction) - mu0 * rub.load
    bound = tolerances.LIMIT * rub.load + rub.shift + rub.force
    if rub.is_touch:
        bound = bound + spared(scene.weight(), rub.load) + scene.fleeting()
    notes.compare("limit at rest", name, t[sticks], beyond[sticks], bound[sticks])
    moving = np.abs(rub.slip) - band
    bound = tolerances.STUCK * rtol * (fastest + quiet + 1.0)
    notes.compare("slip at rest", name, t[sticks], moving[sticks], bound[sticks])

    value = laws.friction_force(law, rub.load, rub.slip, rub.mode)
    value = value + _dry(scene, rub) * laws.drag(law, rub.slip) * rub.mode
    size = mu0 * rub.load + laws.drag(law, rub.slip)
    miss = np.abs(rub.friction - value)
    if band > 0.0:
        # At the edge of its band the law jumps, and that is met as well as zero is.
        slips &= np.abs(np.abs(rub.slip) - band) > sign * speed
    bound = tolerances.SLIP_LAW * size + rub.shift + rub.force
    notes.compare("friction law", name, t[slips], miss[slips], bound[slips])
    if rub.is_touch:
        # Friction that would be spared at rest says nothing of a direction either.
        slips &= mu0 * rub.load > spared(scene.weight(), rub.load)
    against = -rub.mode * rub.slip - band
    bound = sign * speed
    notes.compare("slip sign", name, t[slips], against[slips], bound[slips])


def spared(weight: float, load: Array) -> Array:
    """Return the friction that counts as none beside a load: it vanishes with it."""
    return tolerances.SPARED * weight / (1.0 + load / (tolerances.WETTED * weight))


def _dry(scene: Scene, rub: Rub) -> Array:
    """Return the part of its drag that a contact lacks under a trace of the weight."""
    if not rub.is_touch:
        return scene.zero
    return 1.0 - np.clip(rub.load / (tolerances.WETTED * scene.weight()), 0.0, 1.0)


def _check_function(notes: Notes, scene: Scene, rub: Rub) -> None:
    """Compare friction with a law that is a function of slip and bristles."""
    if laws.has_bristles(rub.law) and rub.deflection is None:
        return
    on = rub.presses.copy()
    if rub.deflection is not None:
        on &= np.isfinite(rub.deflection)
    sign = np.sign(rub.slip)
    value = laws.friction_force(rub.law, rub.load, rub.slip, sign, rub.deflection)
    value = value + _dry(scene, rub) * laws.drag(rub.law, rub.slip) * sign
    mu0 = getattr(rub.law, "mu_static", None) or rub.law.mu
    size = mu0 * rub.load + laws.drag(rub.law, rub.slip)
    if rub.deflection is not None:
        # z is known to its own round-off, and its rate to that of the slip.
        rate = getattr(rub.law, "damping", 0.0) * np.abs(rub.slip)
        size = size + rate * rub.load
        most = mu0 / rub.law.stiffness
        bent = np.abs(rub.deflection) - most
        notes.compare(
            "bristles", rub.name, scene.t[on], bent[on], tolerances.BRISTLES * most
        )
    bound = tolerances.SLIP_LAW * size + rub.shift + rub.force
    miss = np.abs(rub.friction - value)
    notes.compare("friction law", rub.name, scene.t[on], miss[on], bound[on])


@dataclass(frozen=True, kw_only=True)
class Even:
    """Even samples: where they are among all, and columns at the begin of their steps.

    Within a step there is one mode. What comes to rest in it, dying away, does so at
    its end.
    """

    here: Any
    begin: Mapping[str, Array]


def check_rest(notes: Notes, scene: Scene, even: Even, rub: Rub) -> None:
    """Find what is said to slip while it is at rest, over several even samples.

    In steps that begin so. While bristles let a mechanism creep to its rest, joints
    that hardly turn at all in it do slip: that takes a few steps.
    """
    if not laws.is_set_valued(rub.law) or getattr(rub.law, "dead_band", 0.0) > 0.0:
        return
    here = even.here
    t, mode = scene.t[here], rub.mode[here]
    speed = rub.speed[here] + 1e-2 * scene.fastest()[here]
    floor = tolerances.ROUND_SLIP * (speed + scene.quiet())
    still = rub.presses[here] & (np.abs(mode) == 1.0)
    for slip in (rub.slip[here], even.begin[f"{rub.name}.slip_velocity"]):
        still &= np.abs(slip) <= floor
    if len(t) >= LASTING:
        windows = np.lib.stride_tricks.sliding_window_view
        same = windows(still, LASTING).all(axis=1)
        same &= np.ptp(windows(mode, LASTING), axis=1) == 0.0
        when = t[LASTING // 2 :][: len(same)]
        notes.compare("mode at rest", rub.name, when, same.astype(float), 0.5)
