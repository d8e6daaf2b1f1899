"""The event-driven scheme."""

from __future__ import annotations

import math
from collections.abc import Callable

from nonsmooth.errors import ModelError
from nonsmooth.kernels.march import events
from nonsmooth.kernels.march.cross import Crossing
from nonsmooth.kernels.march.events import Events
from nonsmooth.kernels.run import Newton, Step, Watch
from nonsmooth.pack import System
from nonsmooth.solve.options import Options
from nonsmooth.solve.schemes.base import Run, Scheme, Sizes, decision_of, tableau_of

# The dense Jacobian of the implicit method grows with the square of this.
MAX_IMPLICIT_DOF = 600


class EventDriven(Scheme):
    """Arcs of high order, joined by events that are located and landed on."""

    name = "events"

    def check(self, system: System, options: Options) -> None:
        """Refuse an implicit method for a system that is too large for it."""
        if options.method == "radau" and system.n_dof > MAX_IMPLICIT_DOF:
            raise ModelError(
                f"method = 'radau': {system.n_dof} coordinates; its Jacobian is dense, "
                f"and at most {MAX_IMPLICIT_DOF} are allowed"
            )

    def blocks(self, system: System, options: Options, step: Step, sizes: Sizes) -> Run:
        """Return the blocks; the implicit method's are empty where it is not used."""
        is_used = options.method in ("auto", "radau")
        n = system.n_dof if is_used and system.n_dof <= MAX_IMPLICIT_DOF else 0
        if n == 0:
            step.set.is_auto = 0
        sizes = sizes | {"n_implicit": n, "n_flow": n + system.n_state if n else 0}
        return Events(
            step=step,
            watch=Watch(sizes, step=step),
            rest=decision_of(sizes, step),
            newton=Newton(sizes, step=step, n_implicit=n),
            tableau=tableau_of(options),
            crossing=Crossing(sizes),
            is_implicit=int(options.method == "radau"),
            h_touch=math.inf,
        )

    def march(self) -> Callable[..., int]:
        """Return the kernel."""
        return events.march
