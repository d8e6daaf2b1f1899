"""Whether a run obeys the contact laws, checked from its samples alone.

Modes, gaps, velocities and forces are read off the result and compared with Coulomb's
law and the unilateral conditions; how they were found plays no part. `audit` returns
the largest violation of each kind, forces relative to the largest normal force of the
run, or to the weight if there is none, speeds in m/s, lengths in m.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

OPEN, RELEASED = 2.0, 3.0


def audit(result: Any, t: ArrayLike | None = None) -> dict[str, float]:
    """Return the largest violations over all contacts, at t or at the steps' ends.

    Contacts are named by the columns `<name>.gap`; friction coefficients come from the
    model's contacts, of which "name.1", "name.2" are parts.
    """
    samples = result.sample(result.t if t is None else t)
    names = [c.removesuffix(".gap_rate") for c in samples if c.endswith(".gap_rate")]
    given = {contact.name: contact for contact in result.system.model.contacts}
    heaviest = max(
        (float(np.max(samples[f"{name}.normal_force"])) for name in names), default=0.0
    )
    model = result.system.model
    mass = sum(getattr(body, "mass", 0.0) for body in model.bodies)
    weight = mass * float(np.hypot(*model.gravity))
    scale = heaviest if heaviest > 1e-9 * weight else max(weight, 1e-300)
    worst: dict[str, float] = dict.fromkeys(
        ("pulls", "overlaps while open", "gap while closed", "beyond mu0",
         "not mu", "against its slip", "slips while stuck", "force while open",
         "force without friction"),
        0.0,
    )  # fmt: skip

    def note(kind: str, values: Any) -> None:
        worst[kind] = max(worst[kind], float(np.max(values, initial=0.0)))

    for name in names:
        contact = given[name if name in given else name.rpartition(".")[0]]
        mode, gap = samples[f"{name}.mode"], samples[f"{name}.gap"]
        lam_n, lam_t = (
            samples[f"{name}.normal_force"],
            samples[f"{name}.friction_force"],
        )
        v_t = samples[f"{name}.slip_velocity"]
        is_open, is_free = mode == OPEN, mode == RELEASED
        presses = ~is_open & ~is_free
        note("pulls", -lam_n / scale)
        note("overlaps while open", -gap[is_open])
        note("gap while closed", gap[~is_open])
        note("force while open", np.abs(lam_n[~presses]) / scale)
        note("force while open", np.abs(lam_t[~presses]) / scale)
        if contact.friction is None or contact.friction.static == 0.0:
            note("force without friction", np.abs(lam_t) / scale)
            continue
        mu, mu0 = contact.friction.mu, contact.friction.static
        sticks, slips = presses & (mode == 0.0), presses & (mode != 0.0)
        note("beyond mu0", (np.abs(lam_t) - mu0 * lam_n)[sticks] / scale)
        note("slips while stuck", np.abs(v_t[sticks]))
        note("not mu", np.abs(lam_t + mode * mu * lam_n)[slips] / scale)
        note("against its slip", -(mode * v_t)[slips])
    return worst
