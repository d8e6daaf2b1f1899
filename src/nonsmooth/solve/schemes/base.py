"""What a scheme is, and the blocks that schemes share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nonsmooth.errors import ModelError
from nonsmooth.kernels.complementarity.horizontal import Hlcp
from nonsmooth.kernels.complementarity.lemke import Lcp
from nonsmooth.kernels.look import Look
from nonsmooth.kernels.march.tableaux import EXPLICIT
from nonsmooth.kernels.run import (
    MAX_PAIR,
    Decision,
    Settings,
    Step,
    Tableau,
)
from nonsmooth.pack import System
from nonsmooth.result import State
from nonsmooth.solve.options import BRANCHES, Options

Floats = NDArray[np.float64]
Sizes = dict[str, int]
# A block of the scheme's own, with at least `step`, `rest`, `is_fresh` and `is_break`.
Run = Any

# Pivots allowed to the friction problem for each of its pairs.
PIVOTS = 50


class Scheme(ABC):
    """A way to advance in time."""

    name: ClassVar[str]

    @abstractmethod
    def check(self, system: System, options: Options) -> None:
        """Refuse a model or options that the scheme has no meaning for."""

    @abstractmethod
    def blocks(self, system: System, options: Options, step: Step, sizes: Sizes) -> Run:
        """Return the block that the march works in."""

    @abstractmethod
    def march(self) -> Callable[..., int]:
        """Return the kernel `march(tables, work, run, log, t_stop, max_steps)`.

        It advances until t_stop, a stop event, a full log or so many steps, and returns
        one of the codes of `kernels.run`.
        """


def tableau_of(options: Options) -> Tableau:
    """Return the explicit method in use, that of `auto` for an implicit one."""
    return _tableau(options.method if options.method in EXPLICIT else "dop853")


@cache
def _tableau(name: str) -> Tableau:
    return EXPLICIT[name]()


def sizes_of(system: System, options: Options, n_implicit: int = 0) -> Sizes:
    """Return the sizes of a run's blocks, described in `kernels.run`."""
    m, tableau = system.tables, tableau_of(options)
    n_flank = 4 * m.n_slide
    n_mixed = n_flank + 2 * m.n_largest if m.n_slide else 0
    n_point = min(n_mixed, MAX_PAIR)
    return m.sizes() | {
        "n_stage": max(tableau.n, 2),
        "n_coef": max(3, tableau.degree),
        "n_implicit": n_implicit,
        "n_flow": n_implicit + m.n_state if n_implicit else 0,
        "n_pair": n_mixed,
        "n_flank": n_flank,
        "n_mixed": n_mixed,
        "n_point": n_point,
        "n_base": 1 << n_point if m.n_slide else 0,
    }


def settings_of(system: System, options: Options, span: float) -> Settings:
    """Return the settings of a run over a span, s."""
    return Settings(
        rtol=options.rtol,
        atol=options.floor,
        h_fixed=options.step or 0.0,
        h_max=options.max_step,
        alpha=options.baumgarte[0],
        beta=options.baumgarte[1],
        size=system.size,
        span=span,
        pace=1.0 / span if math.isfinite(span) else 0.0,
        is_projected=int(options.stabilisation == "projection"),
        is_auto=int(options.method == "auto"),
        branch=BRANCHES.index(options.branch),
    )


def step_at(
    sizes: Sizes, settings: Settings, look: Look, t: float, q: Floats, v: Floats
) -> Step:
    """Return the step of a run that is about to start; z follows the velocities."""
    y = np.zeros(sizes["n_y"])
    y[: len(q)] = q
    y[len(q) : len(q) + len(v)] = v
    return Step(
        sizes,
        set=settings,
        look=look,
        t=t,
        h_shown=math.inf,
        t_cap=math.inf,
        t_singular=math.inf,
        t_redundant=math.inf,
        n_coef=sizes["n_coef"],
        y=y,
    )


def recall(system: System, step: Step, start: State) -> None:
    """Let rough patches remember what they did in a given state."""
    for name, where in system.histories().items():
        given = start.history.get(name, ())
        if given:
            if len(given) != where.stop - where.start:
                raise ModelError(
                    f"start.history['{name}']: {len(given)} numbers; its patch has "
                    f"{where.stop - where.start}"
                )
            step.y[where] = given


def decision_of(sizes: Sizes, step: Step) -> Decision:
    """Return what the decision of contacts at rest works in."""
    n_pair, n_mixed = sizes["n_pair"], sizes["n_mixed"]
    # Lemke's path visits a few bases for each contact.
    lcp = Lcp({"n_pair": n_pair}, look=step.look, limit=PIVOTS * (1 + n_pair))
    return Decision(
        sizes,
        step=step,
        lcp=lcp,
        hlcp=Hlcp({"n_pair": n_mixed}),
        t_switch=-math.inf,
        t_flood=-math.inf,
        t_tie=math.inf,
        t_branch=math.inf,
    )
