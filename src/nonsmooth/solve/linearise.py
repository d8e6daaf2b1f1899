"""The flow on an arc and its guards, linearised at a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ModelError
from nonsmooth.kernels import entry
from nonsmooth.kernels.mechanics import tables as kinds
from nonsmooth.model import Model
from nonsmooth.pack import System, pack
from nonsmooth.result import State
from nonsmooth.result.evaluate import instants
from nonsmooth.result.events import guards_at
from nonsmooth.result.state import MODE
from nonsmooth.solve.modes import mode_array
from nonsmooth.solve.start import initial_values

Floats = NDArray[np.float64]

# Central differences: the cube root of round-off.
DIFFERENCE = 6e-6
_KINDS = ("user", "gap", "force", "flank", "forward", "backward", "margin")


@dataclass(frozen=True, kw_only=True)
class Linearisation:
    """The flow on an arc and every guard, linearised at a state in its mode.

        x' = f(t, x)        x = (q, v, z)        g(t, x) = 0 at an event

    Attributes
    ----------
    names : tuple of str
        Entries of x: coordinates, their rates, internal states of friction laws.
    rate : (n) array
        f.
    jacobian : (n, n) array
        df/dx, as the equations of motion are coded: joints at the level of
        accelerations.
    guards : tuple of (element, kind)
        What each guard watches; `kernels.march.guards` describes the kinds.
    values, rates : (n_guard) arrays
        g, and its partial derivative with respect to time.
    gradients : (n_guard, n) array
        dg/dx.
    """

    t: float  # s
    names: tuple[str, ...]
    rate: Floats
    jacobian: Floats
    guards: tuple[tuple[str, str], ...]
    values: Floats
    rates: Floats
    gradients: Floats


def linearise(model: Model | System, state: State) -> Linearisation:
    """Linearise the flow and every guard at a state of a run, `result.state(t)`.

    By central differences, good to about 1e-9 of each entry's scale.
    """
    system = model if isinstance(model, System) else pack(model)
    m, n_x = system.tables, 2 * system.n_dof + system.n_state
    q, v = initial_values(system, state)
    y = np.zeros(system.n_y)
    y[:n_x] = np.concatenate([q, v])
    mode = mode_array(system, state)
    if mode is None and system.with_mode:
        raise ModelError("state: has no mode; take it from a run, result.state(t)")
    modes: Any = np.zeros((1, 0), dtype=MODE) if mode is None else mode[None]
    work = system.work()

    def flow(t: float, y: Floats) -> Floats:
        entry.set_mode(m, work, instants(system, np.array([t]), y[None], modes), 0)
        dy = np.zeros(system.n_y)
        entry.derivative(m, work, t, y, 0.0, 0.0, dy)
        return dy[:n_x]

    def guard(t: float, y: Floats) -> Floats:
        return guards_at(system, work, t, y[None], modes)[:, 0].copy()

    steps = DIFFERENCE * _scales(system, y[:n_x])
    dt = DIFFERENCE * max(abs(state.t), 1e-3)
    before, after = guard(state.t - dt, y), guard(state.t + dt, y)
    return Linearisation(
        t=state.t,
        names=_names(system),
        rate=flow(state.t, y),
        jacobian=_differences(flow, state.t, y, steps),
        guards=_guards(system),
        values=guard(state.t, y),
        rates=(after - before) / (2.0 * dt),
        gradients=_differences(guard, state.t, y, steps),
    )


def _differences(
    function: Callable[[float, Floats], Floats], t: float, y: Floats, steps: Floats
) -> Floats:
    """Return the derivatives of a function with respect to the first entries of y."""
    columns: list[Floats] = []
    for j, step in enumerate(steps.tolist()):
        ends: list[Floats] = []
        for sign in (1.0, -1.0):
            moved = y.copy()
            moved[j] += sign * step
            ends.append(function(t, moved))
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    return np.stack(columns, axis=1)


def _scales(system: System, x: Floats) -> Floats:
    """Return the size of each entry of x: of the model, one radian, or its own."""
    m, n = system.tables, system.n_dof
    speeds = np.maximum(np.abs(x[n : 2 * n]), m.scale)
    return np.concatenate([m.scale, speeds, m.state_scale])


def _names(system: System) -> tuple[str, ...]:
    """Return the names of q, v and z."""
    places: list[str] = []
    rates: list[str] = []
    for body in system.bodies[: system.n_moving]:
        where = system.coordinates(body)
        tail = range(where.stop - where.start - 3)
        places += [f"{body}.{c}" for c in ("x", "y", "theta")]
        places += [f"{body}.eta.{j}" for j in tail]
        rates += [f"{body}.{c}" for c in ("vx", "vy", "omega")]
        rates += [f"{body}.eta_rate.{j}" for j in tail]
    state = system.tables.contact_state.tolist()
    owners = zip(system.with_mode, state, strict=True)
    return (*places, *rates, *(f"{name}.z" for name, k in owners if k >= 0))


def _guards(system: System) -> tuple[tuple[str, str], ...]:
    m = system.tables
    found: list[tuple[str, str]] = []
    for k in range(int(m.n_watch)):
        kind, owner = int(m.watch_kind[k]), int(m.watch_owner[k])
        names = system.events if kind == kinds.USER else system.with_mode
        found.append((names[owner] if owner >= 0 else "", _KINDS[kind]))
    return tuple(found)
