"""What the bands of Karnopp's law cost: break-aways that come late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from nonsmooth.kernels.friction.modes import YIELDING
from nonsmooth.result.blocks import at_ends

if TYPE_CHECKING:
    from nonsmooth.result.result import Result


def lags(result: Result) -> Iterator[str]:
    """Yield how late motion leaves the band of each law that has one, at most.

    Before it slides, what is let go crosses the band under the static limit. The motion
    is late by this time, which goes with the root of the band where mu_static > mu; as
    a place, by this time at the largest slip velocity.
    """
    steps = result.steps
    if len(steps.t) == 0:
        return
    for k, name in enumerate(result.system.with_mode):
        band = float(result.system.tables.contact_band[k])
        if not band > 0.0:
            continue
        # Modes of parts that march apart are gathered for steps that are named.
        is_late = steps.mode[np.arange(len(steps.t))]["grip"][:, k] == YIELDING
        # Time spent in each span of such steps.
        h = np.where(is_late, steps.h, 0.0)
        span = np.cumsum(~is_late)
        late = float(np.bincount(span, weights=h).max(initial=0.0))
        if late > 0.0:
            fast = float(np.abs(at_ends(result)["v_t"][:, k]).max(initial=0.0))
            yield (
                f"'{name}': Karnopp's band of {band:g} m/s is left up to {late:.2g} s "
                f"late, so that places are off by up to {late * fast:.1g} m against "
                "Coulomb(...), less with the root of the band"
            )
