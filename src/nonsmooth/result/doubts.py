"""What tells against a run that has ended: nothing wrong may pass in silence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.result.bending import modal_doubts
from nonsmooth.result.pressure import cut_patches

if TYPE_CHECKING:
    from nonsmooth.result.result import Result

# Part of the energy exchanged that may be missing: what a plot would show.
LEDGER = 1e-3
# Part of the energy stored that is round-off, where nothing moves.
ROUND_OFF = 1e-12
# Part of the model's size, or of a radian, by which joints may be open: the same.
OPEN = 1e-3
# Part of a run that may be crossed without its events.
CROSSED_PART = 1e-2


def doubts(result: Result) -> Iterator[str]:
    """Yield a sentence for each reason not to trust a run."""
    if len(result.steps.t) == 0:
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
    yield from modal_doubts(result)
    yield from cut_patches(result)
    balance = result.energy_balance
    stored = np.max(np.abs(balance.kinetic)) + np.max(np.abs(balance.potential))
    if not balance.residual <= LEDGER * balance.exchanged + ROUND_OFF * stored:
        yield (
            f"the energy ledger does not close: {balance.residual:.3g} J of "
            f"{balance.exchanged:.3g} J exchanged are missing; try a smaller rtol or "
            "step"
        )
