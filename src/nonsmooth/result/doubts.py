"""What tells against a run that has ended: nothing wrong may pass in silence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.elements.bodies import Ground
from nonsmooth.result.bending import modal_doubts
from nonsmooth.result.blocks import penalty_doubts
from nonsmooth.result.history import History
from nonsmooth.result.outside import outside_patches
from nonsmooth.result.pressure import cut_patches
from nonsmooth.result.track import Track

if TYPE_CHECKING:
    from nonsmooth.result.result import Result

# Part of the energy exchanged that may be missing: what a plot would show.
LEDGER = 1e-3
# Part of the energy stored, and of a lift by the model's size, that is round-off.
ROUND_OFF = 1e-12
# Part of the model's size, or of a radian, by which joints may be open: the same.
OPEN = 1e-3
# Error that each step may have, beside the motion. Of some 70 random models with
# friction two ended a tenth of their way off at ten times this, with ledgers that
# close; at this, one.
ROUGH = 1e-4
# Sizes of the mechanism that a body may be moved by to be assembled. Whoever places
# bodies roughly is off by one or two; metres for millimetres are a thousand.
FAR = 10.0
# Part of a run that may be crossed without its events.
CROSSED_PART = 1e-2


def doubts(result: Result) -> Iterator[str]:
    """Yield a sentence for each reason not to trust a run."""
    # A mode about an equilibrium is a picture, with motion but without a cause.
    if len(result.steps.t) == 0 or result.options.get("scheme") == "mode":
        return
    crossed = float(np.sum(np.diff(result.crossed, axis=1)))
    span = result.t_end - result.t_start
    if crossed > CROSSED_PART * span:
        yield (
            f"{100.0 * crossed / span:.2g} % of the run was crossed without its "
            "events: what happens there is known to first order only"
        )
    if not result.violation <= OPEN * min(1.0, result.system.size):
        yield (
            f"joints came apart by up to {result.violation:.3g} (m or rad); try "
            "projection, a smaller rtol or step, or larger alpha and beta"
        )
    if isinstance(result.steps, History):
        yield from result.steps.cut_patches()
    elif isinstance(result.steps, Track):
        yield from modal_doubts(result)
    else:
        yield from _far(result)
        yield from _rough(result)
        yield from modal_doubts(result)
        yield from cut_patches(result)
        yield from outside_patches(result)
        yield from penalty_doubts(result)
    balance = result.energy_balance
    stored = np.max(np.abs(balance.kinetic)) + np.max(np.abs(balance.potential))
    # Heights are known to round-off of the size.
    stored += result.system.tables.weight_of_all * result.system.size
    if not balance.residual <= LEDGER * balance.exchanged + ROUND_OFF * stored:
        yield (
            f"the energy ledger does not close: {balance.residual:.3g} J of "
            f"{balance.exchanged:.3g} J exchanged are missing; try a smaller rtol or "
            "step"
        )


def _rough(result: Result) -> Iterator[str]:
    """Yield a sentence if steps were allowed errors that may add up to be seen.

    Friction parts motions that differ by little, and no ledger shows it.
    """
    rtol = result.options.get("rtol", 0.0)
    has_step = result.options.get("step") is not None
    if has_step or result.options.get("scheme") != "events" or rtol <= ROUGH:
        return
    yield (
        f"rtol = {rtol:g} allows each of {len(result.steps.t)} steps an error of this "
        "part of the motion; they add up, and may change events, to a tenth of the "
        f"motion and more; try rtol <= {ROUGH:g}"
    )


def _far(result: Result) -> Iterator[str]:
    """Yield a sentence if the start was assembled from very far away."""
    system, model = result.system, result.system.model
    ends = {end for one in (*model.joints, *model.drives) for end in (one.a, one.b)}
    if not ends or result.t_start != 0.0:
        return
    given = system.by_body(system.start[:, 0])
    state = result.state(result.t_start).positions
    held = {end.partition(".")[0] for end in ends} & set(state)
    way, name = max(
        ((math.dist(state[body][:2], given[body][:2]), body) for body in held),
        default=(0.0, ""),
    )
    if way <= OPEN * system.size:
        return
    # As it is assembled: what is given may be as large as the error.
    places = [state[body][:2] for body in held]
    grounds = [body.points for body in model.bodies if isinstance(body, Ground)]
    points = {f"ground.{key}": at for own in grounds for key, at in own.items()}
    for end in ends:
        if end.partition(".")[0] == "ground":
            places.append(points.get(end, (0.0, 0.0)))
        else:
            at = result.sample([result.t_start], (f"{end}.x", f"{end}.y"))
            places.append((float(at[f"{end}.x"][0]), float(at[f"{end}.y"][0])))
    size = float(np.max(np.ptp(np.array(places), axis=0)))
    if way > FAR * size > 0.0:
        yield (
            f"body '{name}' was moved by {way:.3g} m to be assembled, and the "
            f"mechanism is {size:.3g} m large; lengths are in m: check its position"
        )
