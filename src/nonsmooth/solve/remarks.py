"""What is to be said of a run beside how it ended."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nonsmooth.errors import NonsmoothWarning
from nonsmooth.kernels.run import Log
from nonsmooth.kernels.tolerances import AT_LIMIT
from nonsmooth.pack.instants import Stops
from nonsmooth.solve.options import Options

if TYPE_CHECKING:
    from nonsmooth.solve.driver import Driver

# Bytes of a log that are said: a flexible body needs 64 for each entry of its state and
# step, and rings on.
LARGE_LOG = 1_000_000_000


def remarks(
    drivers: Sequence[Driver], options: Options, *, has_failed: bool
) -> Iterator[str]:
    """Yield notes on a run of one driver, or of several whose parts marched apart."""
    steps = [driver.step for driver in drivers]
    rests: list[Any] = [driver.blocks.rest for driver in drivers]
    t_singular = min(float(step.t_singular) for step in steps)
    is_said = any(driver.notes for driver in drivers)
    if math.isfinite(t_singular) and not is_said and not has_failed:
        text = (
            f"the pose at t = {t_singular:.6g} s is singular: the motion "
            "goes on; reactions near it are not unique, and least-norm values are "
            "reported"
        )
        warnings.warn(text, NonsmoothWarning, stacklevel=6)
        yield text
    t_redundant = min(float(step.t_redundant) for step in steps)
    if math.isfinite(t_redundant):
        yield (
            "contacts that stick hold each other, as two on one line do, first at "
            f"t = {t_redundant:.6g} s: the motion is unique, their friction "
            "is not, and is shared in proportion to its limits"
        )
    t_branch = min(float(rest.t_branch) for rest in rests)
    if math.isfinite(t_branch):
        yield (
            "friction in joints had more than one solution, or might have, first "
            f"at t = {t_branch:.6g} s: branch '{options.branch}' was followed"
        )
    n_unchecked = sum(rest.n_unchecked for rest in rests)
    if n_unchecked:
        yield (
            f"{n_unchecked} switches had too many joints and contacts "
            "to look for more than one solution of their friction"
        )
    yield from _crossings(drivers)
    yield from _log_notes(drivers)
    if any(rest.n_tie for rest in rests):
        yield (
            f"contacts reached the limit of friction together, first at t = "
            f"{min(float(rest.t_tie) for rest in rests):.6g} s: those within "
            f"{AT_LIMIT:g} of it, relatively, were let go with the one that did"
        )


def too_rapid(found: Stops) -> Iterator[str]:
    """Yield what expressions of time could not be looked through before a run."""
    for owner in found.too_rapid:
        text = (
            f"{owner}: its expression changes too often, or is too involved, to find "
            "all its jumps, zeros and pulses before the run; steps may pass some of "
            "them unseen: give max_step"
        )
        warnings.warn(text, NonsmoothWarning, stacklevel=6)
        yield text


def _log_notes(drivers: Sequence[Driver]) -> Iterator[str]:
    """Yield how a long log is kept."""
    n_bytes = sum(d.step.n_step * _per_step(d.sizes) for d in drivers)
    store, n_step = drivers[0].store, sum(d.step.n_step for d in drivers)
    log = f"the log of {n_step} steps, {1e-9 * n_bytes:.2g} GB, "
    smaller = "fewer modes, damping or a larger rtol make it smaller"
    if store.trouble:
        yield (
            f"{log}is in memory: no file could take it ({store.trouble}); {smaller}; "
            "TMPDIR may name another folder"
        )
    elif store.pages is not None:
        yield (
            f"{log}is beyond memory = {store.budget:g} bytes: it is in a file in "
            f"{store.pages.folder} as long as the result lives, and nothing is lost"
        )
    elif store.is_full:
        yield (
            f"{log}is beyond memory = {store.budget:g} bytes: between the ends of "
            "steps states are in single precision, positions within "
            f"{store.error[0]:.1g} (m or rad), rates within {store.error[1]:.1g} (m/s "
            "or rad/s)"
        )
    elif n_bytes > LARGE_LOG:
        yield (
            f"{log}is in memory; {smaller}, and a run may go on from "
            "`result.state(t)` of a shorter one"
        )


def _per_step(sizes: dict[str, int]) -> int:
    one, two = (Log.n_bytes(sizes | {"capacity": n}) for n in (1, 2))
    return two - one


def _crossings(drivers: Sequence[Driver]) -> Iterator[str]:
    every: list[Any] = [getattr(driver.blocks, "crossing", None) for driver in drivers]
    found = [crossing for crossing in every if crossing is not None and crossing.n]
    if found:
        yield (
            f"spans in which modes changed without end were crossed by steps of "
            f"first order: {sum(c.n for c in found)}, "
            f"{sum(c.total for c in found):.3g} s in all, first at "
            f"t = {min(c.t_first for c in found):.9g} s; their estimated error is "
            f"{max(c.error for c in found):.2g} times the tolerance"
        )
