"""Accelerations, reactions and forces, evaluated again from states and modes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.columns import OPEN_MODE, RELEASED_MODE
from nonsmooth.kernels import entry
from nonsmooth.kernels.entry import Instants
from nonsmooth.kernels.friction.modes import OPEN, PRESSING
from nonsmooth.kernels.mechanics.tables import Work
from nonsmooth.pack import System
from nonsmooth.result.state import Modes, slip_of

Floats = NDArray[np.float64]
# Part of a block's load below which an area bears nothing.
NO_AREA = 1e-9


def instants(system: System, t: Floats, y: Floats, mode: Modes) -> Instants:
    """Return states and modes at some instants, as kernels take them."""
    return Instants(system.tables.sizes(), n=len(t), t=t, y=y, mode=mode)


def project(system: System, work: Work, t: Floats, y: Floats, mode: Modes) -> Floats:
    """Return sampled states moved onto the constraints."""
    samples = instants(system, t, y, mode)
    flies, rest = flights(system, mode)
    if len(flies):
        flight = system.flight
        assert flight is not None
        few = flight.few
        low = flight.down(y[flies])
        low = project(few, few.work(), t[flies], low, grounded(mode[flies]))
        samples.y[flies, : 2 * system.n_dof] = flight.up(low)[:, : 2 * system.n_dof]
        if len(rest):
            samples.y[rest] = project(system, work, t[rest], y[rest], mode[rest])
        return samples.y
    entry.project_samples(system.tables, work, samples, system.size)
    return samples.y


def flights(system: System, mode: Modes) -> tuple[Any, Any]:
    """Return which instants are of flights with few shapes, and which are not."""
    if system.flight is None:
        return np.zeros(0, dtype=np.int64), np.arange(len(mode))
    flies = system.flight.is_flying(mode)
    return np.flatnonzero(flies), np.flatnonzero(~flies)


def grounded(mode: Modes) -> Modes:
    """Return modes as a system has them that knows of no flights."""
    plain: Any = mode.copy()
    plain["flank"][plain["side"] == OPEN] = 0
    return plain


def evaluate(
    system: System,
    work: Work,
    t: Floats,
    y: Floats,
    mode: Modes,
    baumgarte: tuple[float, float] = (0.0, 0.0),
) -> Instants:
    """Evaluate accelerations, reactions and forces at given states and modes."""
    samples = instants(system, t, y, mode)
    flies, rest = flights(system, mode)
    if len(flies):
        flight = system.flight
        assert flight is not None
        few = flight.few
        low, plain = flight.down(y[flies]), grounded(mode[flies])
        own = evaluate(few, few.work(), t[flies], low, plain, baumgarte)
        _scatter(own, flies, samples)
        samples.a[flies] = flight.up_rates(own.a)
        if len(rest):
            other = evaluate(system, work, t[rest], y[rest], mode[rest], baumgarte)
            _scatter(other, rest, samples)
            samples.a[rest] = other.a
        return samples
    entry.evaluate_samples(system.tables, work, samples, *baumgarte)
    return samples


# What instants have of states, whose number of shapes differs, and of modes.
_OWN = ("t", "y", "mode", "a")


def _scatter(some: Instants, rows: Any, samples: Instants) -> None:
    """Write what some instants have into the given rows of others."""
    for name in Instants._layout.arrays:  # pyright: ignore[reportPrivateUsage]
        if name not in _OWN:
            np.asarray(getattr(samples, name))[rows] = getattr(some, name)


def gauges(system: System, y: Floats) -> Floats:
    """Return the strain of every gauge by the modes, (n, n_gauge)."""
    found: list[Floats] = [np.zeros((len(y), 0))]
    for body in system.model.bodies:
        if getattr(body, "gauges", None):
            where = system.coordinates(body.name)
            rows: Floats = system.flexible[body.name].gauges
            found.append(y[:, where.start + 3 : where.stop] @ rows.T)
    return np.concatenate(found, axis=1)


def mode_numbers(system: System, mode: Modes, contact: Any) -> Floats:
    """Return the column `mode`: 0 stick, +-1 slip, 2 open, 3 released.

    Of a contact that cannot stick 1 is pressing; of a patch the sign of its mean slip.
    """
    m = system.tables
    slip = np.where(m.contact_row >= 0, slip_of(mode), 1)
    slip = np.where(m.contact_patch[:, 0] >= 0, np.sign(contact["v_t"]), slip)
    sides: Any = [mode["side"] == PRESSING, mode["side"] == OPEN]
    return np.select(sides, [slip, OPEN_MODE], RELEASED_MODE).astype(float)


def pattern_numbers(system: System, mode: Modes, found: Instants) -> Floats:
    """Return the mode of each area of blocks in guides: open where nothing presses."""
    m = system.tables
    modes = mode_numbers(system, mode, np.asarray(found.contact))
    area = np.asarray(found.area)[:, :, :4]
    owner = np.zeros(area.shape[1], dtype=np.int64)
    has_area = np.flatnonzero(m.contact_area >= 0)
    owner[m.contact_area[has_area]] = has_area
    least = NO_AREA * np.sum(area, axis=2, keepdims=True)
    numbers = np.where(area > least, modes[:, owner, None], OPEN_MODE)
    return numbers.reshape(len(modes), 4 * len(owner))


def whole_numbers(system: System, contact: Any) -> Floats:
    """Return least gap and all normal force of every contact that is taken apart."""
    found: list[Floats] = [np.zeros((len(contact), 0))]
    for parts in system.whole.values():
        own = contact[:, list(parts)]
        found.append(np.min(own["gap"], axis=1)[:, None])
        found.append(np.sum(own["lam_n"], axis=1)[:, None])
    return np.concatenate(found, axis=1)


def side_numbers(contact: Any) -> Floats:
    """Return the flanks that bear: +-1 both ends alike, +-2 diagonal, 0 none."""
    front = np.sign(np.asarray(contact["front"], dtype=float))
    rear = np.sign(np.asarray(contact["rear"], dtype=float))
    is_diagonal = front * rear < 0.0
    both = np.where(front != 0.0, front, rear)
    return np.where(is_diagonal, 2.0 * front, both)
