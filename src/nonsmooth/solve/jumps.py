"""Find time laws that jump: nothing with mass can follow them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ModelError
from nonsmooth.kernels import entry
from nonsmooth.kernels.mechanics.tables import Work
from nonsmooth.pack import System
from nonsmooth.pack.instants import stops

Floats = NDArray[np.float64]

# Samples over the run, and the most suspicious intervals looked at closely.
N_SAMPLE, N_SUSPECT = 512, 8
N_HALVING = 60
# Width of an interval that can hold nothing but a jump, in units of the time.
N_EPSILON = 1e-14
# A change that stays above this part of the law's range, in an interval narrowed down
# to round-off, is a jump.
JUMP = 1e-6
# Part of what a law, and its rate, are measured by that is round-off: terms of a
# formula that cancel leave some 1e-16 of their size, not of what is left.
ROUND_OFF = 1e-12
_WORDS = ("jumps by {:.4g}", "has a rate that jumps by {:.4g} per s")


def check_jumps(system: System, work: Work, t_start: float, until: float) -> None:
    """Refuse drives and supports whose law, or its rate, jumps during a run.

    Laws are sampled, and the intervals in which they differ most from their own
    derivatives are halved until they are as narrow as round-off.
    """
    laws = _driving(system)
    if not laws:
        return
    both = [t for stop, _, cap in stops(system, t_start, until) for t in (cap, stop)]
    breaks = [t for t in both if t_start < t < until]
    t = np.union1d(np.linspace(t_start, until, N_SAMPLE + 1), breaks)
    values = _evaluate(system, work, t)[:, laws]
    misfit, scale = _misfit(t, values), np.ptp(values[..., :2], axis=0)
    floor = np.maximum(JUMP * scale, ROUND_OFF * _magnitude(t, values, system.size))
    is_suspect = np.isfinite(scale) & (np.max(misfit, axis=0) > floor)
    for i, order in np.argwhere(is_suspect).tolist():
        k, least = laws[i], float(floor[i, order])
        jump = _find(system, work, k, order, t, misfit[:, i, order], least)
        if jump is not None:
            at, size = jump
            raise ModelError(
                f"{system.law_owners[k]}: the law {_WORDS[order].format(size)} at "
                f"t = {at:.6g} s, and nothing with mass can follow; use Ramp, "
                "SmoothStep or another law with a continuous rate"
            )


def _driving(system: System) -> list[int]:
    """Return the laws of drives and supports that may jump; a force may."""
    m = system.tables
    first = m.support_law[m.support_law >= 0]
    laws = {int(k) + i for k in first for i in range(3)}
    n_joint = system.n_held
    laws |= {int(k) for k in m.joint_law[n_joint:]}
    return sorted(k for k in laws if not system.law_is_smooth[k])


def _evaluate(system: System, work: Work, t: Floats) -> Floats:
    """Return value, rate and acceleration of all laws, (n, n_law, 3)."""
    out = np.empty((len(t), 3 * system.tables.n_law))
    entry.law_values(system.tables, work, len(t), np.ascontiguousarray(t), out)
    return out.reshape(len(t), -1, 3)


def _magnitude(t: Floats, s: Floats, size: float) -> Floats:
    """Return what values and rates of laws are large or small against, (n_law, 2).

    That is at least the model's size, and the size in the time of the run: a formula
    may hardly move in a short run, and still be made of terms that do.
    """
    most = np.maximum(np.max(np.abs(s[..., :2]), axis=0), size)
    secant = np.abs(np.diff(s[..., 0], axis=0)) / np.diff(t)[:, None]
    most[:, 1] = np.maximum(np.max(np.abs(s[..., 1]), axis=0), np.max(secant, axis=0))
    most[:, 1] = np.maximum(most[:, 1], size / (t[-1] - t[0]))
    return most


def _misfit(t: Floats, s: Floats) -> Floats:
    """Return how far changes of laws, and of their rates, are from their derivatives.

    One for each interval, law and order.
    """
    width = np.diff(t)[:, None, None]
    mean = 0.5 * (s[1:, :, 1:] + s[:-1, :, 1:])
    return np.abs(np.diff(s[:, :, :2], axis=0) - width * mean)


def _find(
    system: System,
    work: Work,
    k: int,
    order: int,
    t: Floats,
    misfit: Floats,
    least: float,
) -> tuple[float, float] | None:
    """Return time and size of a jump of law k or its rate, if it has one."""
    for i in np.argsort(-misfit)[:N_SUSPECT].tolist():
        if not misfit[i] > least:
            break
        low, high = float(t[i]), float(t[i + 1])
        for _ in range(N_HALVING):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            part = np.array([low, middle, high])
            own = _evaluate(system, work, part)[:, k : k + 1]
            left, right = _misfit(part, own)[:, 0, order]
            if max(left, right) <= least:
                break
            low, high = (low, middle) if left >= right else (middle, high)
        if high - low > N_EPSILON * abs(high):
            continue
        ends = _evaluate(system, work, np.array([low, high]))[:, k, order]
        if abs(ends[1] - ends[0]) > least:
            return high, float(ends[1] - ends[0])
    return None
