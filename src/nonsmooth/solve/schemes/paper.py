"""The papers' own scheme: fixed steps, modes decided at their ends."""

from __future__ import annotations

from collections.abc import Callable

from nonsmooth.elements.friction import Coulomb
from nonsmooth.elements.normal import Unilateral
from nonsmooth.errors import ModelError
from nonsmooth.kernels.run import Span, Step
from nonsmooth.pack import System
from nonsmooth.solve.options import Options
from nonsmooth.solve.schemes.base import Run, Scheme, Sizes, decision_of, tableau_of


class PaperScheme(Scheme):
    """Wang & Wang (2015), for comparison."""

    name = "paper"

    def check(self, system: System, options: Options) -> None:
        """Refuse events, friction inside joints, and laws that papers do not have."""
        if system.events:
            raise ModelError(
                f"event '{system.events[0]}': scheme 'paper' locates no events"
            )
        if system.slides:
            raise ModelError(
                f"joint '{system.slides[0]}': scheme 'paper' is for contacts and has "
                "no friction inside joints; use a fixed-step method with Baumgarte(...)"
            )
        for contact in system.model.contacts:
            if isinstance(contact.normal, Unilateral):
                raise ModelError(
                    f"contact '{contact.name}': scheme 'paper' has no patches; use "
                    "scheme 'events'"
                )
            if not isinstance(contact.friction, Coulomb | None):
                kind = type(contact.friction).__name__
                raise ModelError(
                    f"contact '{contact.name}': scheme 'paper' knows Coulomb friction "
                    f"only, not {kind}"
                )

    def blocks(self, system: System, options: Options, step: Step, sizes: Sizes) -> Run:
        """Return the blocks."""
        from nonsmooth.kernels.march.paper import Paper

        return Paper(
            step=step,
            rest=decision_of(sizes, step),
            span=Span(sizes),
            tableau=tableau_of(options),
        )

    def march(self) -> Callable[..., int]:
        """Return the kernel."""
        from nonsmooth.kernels.march import paper

        return paper.march
