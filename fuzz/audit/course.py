"""What holds between instants: integrals, no jumps, the ledger, lift-offs."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.audit import laws, tolerances
from fuzz.audit.friction import spared
from fuzz.audit.notes import Array, Notes
from fuzz.audit.scene import Scene
from nonsmooth import Model

RATES = {
    "x": "vx",
    "y": "vy",
    "theta": "omega",
    "vx": "ax",
    "vy": "ay",
    "omega": "alpha",
}
# Steps over which integrals are compared, and nodes of Gauss in each.
N_STEPS, N_NODES = 40, 8
# Instants before a lift-off: down by this factor, so often.
NEARER, N_NEARER = 0.25, 14


def moving(model: Model) -> list[str]:
    """Return the bodies with mass."""
    return [b.name for b in model.bodies if b.has_mass]


def check_integrals(notes: Notes, model: Model, result: Any, rtol: float) -> None:
    """Compare what velocities and accelerations sum up to with what changed."""
    ends = result.t
    if len(ends) < 2:
        return
    chosen = np.unique(np.linspace(0, len(ends) - 2, N_STEPS).astype(int))
    chosen = chosen[np.diff(ends)[chosen] > 0.0]
    start, h = ends[chosen], np.diff(ends)[chosen]
    x, w = np.polynomial.legendre.leggauss(N_NODES)
    nodes = start[:, None] + 0.5 * h[:, None] * (1.0 + x[None, :])
    names = [f"{b}.{q}" for b in moving(model) for q in (*RATES, "ax", "ay", "alpha")]
    first = result.sample(start, names, limit="after")
    last = result.sample(ends[chosen + 1], names, limit="before")
    inside = result.sample(nodes.ravel(), names)
    scene = Scene(model, result.sample(start))
    for body in moving(model):
        for kind, rate in RATES.items():
            values = inside[f"{body}.{rate}"].reshape(nodes.shape)
            integral = 0.5 * h * (values @ w)
            change = last[f"{body}.{kind}"] - first[f"{body}.{kind}"]
            unit = scene.size if kind in "xy" else 1.0
            pace = np.max(np.abs(inside[f"{body}.{kind}"].reshape(nodes.shape)), axis=1)
            local = rtol * (unit if kind in ("x", "y", "theta") else pace + unit)
            path = np.max(np.abs(values), axis=1) * h
            bound = tolerances.LOCAL_ERRORS * local + tolerances.INTEGRAL * path
            miss = np.abs(change - integral)
            notes.compare("integral", f"{body}.{kind}", start, miss, bound)


def check_continuity(
    notes: Notes, model: Model, result: Any, times: Array, rtol: float
) -> None:
    """Check that nothing jumps at events: no contact here has impulses."""
    if not len(times):
        return
    kinds = ("x", "y", "theta", "vx", "vy", "omega")
    names = [f"{b}.{q}" for b in moving(model) for q in kinds]
    before, after = (result.sample(times, names, limit=k) for k in ("before", "after"))
    scene = Scene(model, result.sample(times))
    fastest = scene.fastest()
    for name in names:
        kind = name.rpartition(".")[2]
        unit = {"x": scene.size, "y": scene.size, "theta": 1.0}.get(kind, fastest)
        if kind == "omega":
            unit = (fastest + 1e-2) / scene.size
        bound = tolerances.CONTINUITY * rtol * (unit + scene.quiet() + 1e-2)
        notes.compare("jump", name, times, np.abs(after[name] - before[name]), bound)


def check_ledger(notes: Notes, model: Model, result: Any, rtol: float) -> None:
    """Check that the energies and works of the run add up."""
    balance = result.energy_balance
    scene = Scene(model, result.sample([result.t_start]))
    mass = sum(getattr(body, "mass", 0.0) for body in model.bodies)
    pull = float(np.hypot(*model.gravity)) + scene.size
    floor = tolerances.NO_ENERGY * mass * pull * float(np.max(scene.extent()))
    bound = tolerances.LEDGER * max(rtol, 1e-12) * (balance.exchanged + floor)
    value = np.array([balance.residual])
    notes.compare("ledger", "energy", np.array([result.t_end]), value, bound)


def check_lift_offs(
    notes: Notes, model: Model, result: Any, friction: dict[str, Any]
) -> None:
    """Check friction at instants that tend to the end of contacts that stick.

    The limit goes to zero with the load, so that what still sticks there bears less
    and less; the last instants are as near as round-off of the time allows.
    """
    times = sorted({e.t for e in result.events} | {result.t_start})
    weight = Scene(model, result.sample(result.t)).weight()
    for event in result.events:
        if event.kind not in ("release", "separate") or event.before != "stick":
            continue
        law = friction.get(event.element)
        if law is None or not laws.is_set_valued(law):
            continue
        earlier = [t for t in times if t < event.t]
        reach = 0.5 * (event.t - earlier[-1]) if earlier else 0.0
        dt = reach * NEARER ** np.arange(N_NEARER)
        dt = dt[dt > 1e-12 * max(event.t, 1e-3)]
        if not len(dt):
            continue
        name, t = event.element, event.t - dt
        kinds = ("normal_force", "friction_force", "mode")
        samples = result.sample(t, [f"{name}.{kind}" for kind in kinds])
        lam_n, lam_t, mode = (samples[f"{name}.{kind}"] for kind in kinds)
        beyond = np.abs(lam_t) - laws.static(law) * lam_n
        # Friction is found to round-off of the forces it balances.
        bound = tolerances.LIMIT * lam_n + 1e-10 * (np.abs(lam_t[0]) + lam_n[0])
        bound = bound + spared(weight, lam_n)
        on = mode == 0.0
        notes.compare("lift-off", name, t[on], beyond[on], bound[on])
