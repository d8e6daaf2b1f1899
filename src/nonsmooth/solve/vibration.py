"""A mode about an equilibrium as a run, for pictures: bodies move along its shape.

q = q_0 + a shape cos(w t),   moved onto the constraints
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.kernels import entry
from nonsmooth.kernels.friction.modes import SLIP
from nonsmooth.kernels.run import EXPLICIT, Log
from nonsmooth.result import Result, Steps
from nonsmooth.result.evaluate import project

if TYPE_CHECKING:
    from nonsmooth.solve.equilibrium import Equilibrium

Floats = NDArray[np.float64]

# The largest displacement of a point, in parts of the model's size.
LARGEST = 0.05
# Second-order part of the inertia of a body that bends, see `result.bending`.
MOST_BENT = 0.01
# Steps of a period, and the degree of the polynomial in each: errors of 1e-8.
N_STEP, DEGREE = 16, 7
# Where a mode has no frequency its shape is shown in this time, s.
SHOWN = 1.0


def motion(rest: Equilibrium, k: int, periods: int) -> Result:
    """Return mode k of an equilibrium, counted from 0, as a run of some periods."""
    system, value = rest.system, float(rest.stiffness[k])
    rate = math.sqrt(abs(value)) or 2.0 * math.pi / SHOWN
    q = np.concatenate([rest.state.positions[b] for b in rest.state.positions])
    mode = _mode(rest, q)
    n = N_STEP * periods
    h = 2.0 * math.pi / rate / N_STEP
    x = np.arange(DEGREE + 1) / DEGREE
    t = h * (np.arange(n)[:, None] + x)
    shape = rest.shapes[k] * _amplitude(rest, q, rest.shapes[k])
    y = np.zeros((t.size, system.n_y))
    n_dof = system.n_dof
    y[:, :n_dof] = q + np.outer(np.cos(rate * t), shape)
    y[:, n_dof : 2 * n_dof] = np.outer(-rate * np.sin(rate * t), shape)
    times = np.full(t.size, rest.state.t)
    y = project(system, system.work(), times, y, np.repeat(mode[None], t.size, axis=0))
    y = y.reshape(n, DEGREE + 1, system.n_y)
    sizes = system.tables.sizes() | {"n_coef": DEGREE, "n_watch": 0}
    log = Log(sizes, capacity=n)
    log.n = n
    begin = rest.state.t + t[:, 0]
    log.t[:], log.h[:], log.cap[:], log.arc[:] = begin, h, rest.state.t, 0
    log.method[:], log.mode[:], log.end[:] = EXPLICIT, mode, y[:, -1]
    log.impulse[:] = 0.0
    powers = np.vander(x, increasing=True)
    log.coef[:] = np.linalg.solve(powers, y)
    hertz = rest.frequencies[k]
    name = f"mode {k + 1} of {len(rest.stiffness)}"
    remark = f"{name}: a shape in which the equilibrium is left, no vibration"
    if hertz > 0.0:
        remark = f"{name}: {hertz:.6g} Hz about an equilibrium"
    remark += ", enlarged; forces and energies are those of the places shown"
    return Result(
        system=system,
        steps=Steps(system=system, chunks=(log,), y_end=y[-1, -1], mode_end=mode),
        t_start=rest.state.t,
        t_end=rest.state.t + n * h,
        status="finished",
        message=remark.split(",")[0],
        options={"scheme": "mode", "mode": k + 1, "periods": periods},
        cost={"steps": n},
        violation=0.0,
        remarks=(remark,),
    )


def _mode(rest: Equilibrium, q: Floats) -> Any:
    """Return the mode of contacts at an equilibrium; nothing sticks."""
    system, work = rest.system, rest.system.work()
    still, f = np.zeros(system.n_dof + system.n_state), np.zeros(system.n_dof)
    entry.static_force(system.tables, work, rest.state.t, q, still, f)
    mode: Any = np.array(work.mode)
    mode["grip"], mode["sign"] = SLIP, 1
    return mode


def _amplitude(rest: Equilibrium, q: Floats, shape: Floats) -> float:
    """Return the factor that makes the largest displacement what a picture shows."""
    system = rest.system
    still, f = np.zeros(system.n_dof + system.n_state), np.zeros(system.n_dof)
    work, ends = system.work(), list[Floats]()
    step = 1e-6 / float(np.max(np.abs(shape) / system.tables.scale))
    for sign in (-1.0, 1.0):
        at = q + sign * step * shape
        entry.static_force(system.tables, work, rest.state.t, at, still, f)
        ends.append(np.array(work.motion[:, :2]))
    moves = np.linalg.norm(ends[1] - ends[0], axis=1) / (2.0 * step)
    largest = float(np.max(moves, initial=0.0))
    most = np.inf
    for name, one in system.flexible.items():
        eta = shape[system.coordinates(name)][3:]
        if one.shapes is not None:
            largest = max(largest, float(np.max(np.abs(one.shapes @ eta))))
        change = abs(float(eta @ one.spin @ eta)) / one.inertia
        most = min(most, math.sqrt(MOST_BENT / max(change, 1e-300)))
    return min(LARGEST * system.size / max(largest, 1e-300), most)
