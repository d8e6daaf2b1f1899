"""Options of a run, checked once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nonsmooth.errors import ModelError, nearest, show, worded_methods

ADAPTIVE = ("auto", "dop853", "dopri5", "radau")
FIXED = ("rk4", "euler", "semi_implicit_euler")
NODAL = ("central", "newmark", "moreau")  # of the scheme `waves`
METHODS = (*ADAPTIVE, *FIXED, *NODAL)
SCHEMES = ("events", "paper", "waves", "appended")
# In the order of `kernels.flanks`.
BRANCHES = ("unique", "continue", "least")
# Bytes of a log that stay in memory as they are; what becomes of more.
MEMORY = 500e6
BEYOND = ("file", "single", "keep")
# Step, s, and stabilisation of [WangWang2015]_.
PAPER_STEP, PAPER_ALPHA, PAPER_BETA = 1e-6, 1e6, 1.4e6

# Velocities of a body at rest are measured against this part of rtol.
ATOL_PART = 1e-2
# Error of a step that is allowed without `loose`; see `result.doubts.ROUGH`.
LOOSEST = 1e-3


@worded_methods
@dataclass(frozen=True, kw_only=True)
class Baumgarte:
    """Stabilisation g'' + alpha g' + beta g = 0 instead of projection."""

    alpha: float  # 1/s
    beta: float  # 1/s^2

    def __post_init__(self) -> None:
        """Refuse what would drive the constraints apart."""
        for name in ("alpha", "beta"):
            value = getattr(self, name)
            if not (_is_number(value) and value >= 0.0):
                raise ModelError(f"Baumgarte: {name} = {value!r}; must be >= 0")


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a run is carried out.

    Parameters
    ----------
    method : str
        "auto" (order 8 explicit, Radau IIA of order 5 where it is stiff),
        "dop853", "dopri5", "radau", or, with `step`, "rk4", "euler",
        "semi_implicit_euler". Of the scheme "waves": "central" (its "auto"), central
        differences, "newmark", with the mass of the nodes in contact moved to others,
        or "moreau", with impulses, theta = 1/2.
    rtol : float
        Admissible error per step, relative to the model's size, one radian, and
        each body's speed; at most 1e-3 unless `loose`.
    atol : float, optional
        The same in SI units, added to it; a hundredth of `rtol` by default.
    step : float, optional
        Step of a fixed-step method, s.
    courant : float, optional
        Step of the scheme "waves" as a part of the critical one; 1 if all bodies are
        rods, else 0.9.
    max_step : float
        Largest step, s.
    stabilisation : "projection", "none" or Baumgarte
        How the drift of the constraints is held; projection by default.
    scheme : "events", "paper", "waves" or "appended"
        "paper" is the scheme of Wang & Wang (2015), for comparison: "rk4" with a
        fixed step (1e-6 s unless given) and Baumgarte's stabilisation (1e6, 1.4e6
        unless given), friction decided at the ends of steps, nothing located or
        projected; it accepts an inconsistent start. "waves" is for bodies with
        modes = "full", and is taken for them. "appended" is the scheme of Hong & Liu
        (2012), for comparison: one patch on the ground, revolute joints.
    branch : "unique", "continue" or "least"
        What to do where friction in joints allows more than one solution: stop and
        report them; go on with the one nearest to the present; or with the one of
        least friction. The result notes where a choice was made.
    memory : float
        Bytes that the log of steps may take in memory, 500 MB by default.
    beyond : "file", "single" or "keep"
        What happens to a log that takes more: it goes to a file without a name in the
        folder for such files; or what lies between the ends of steps is kept in single
        precision, in less than half the memory; or nothing. The result notes it.
    loose : bool
        Allow an `rtol` above 1e-3, of which the result will say that it cannot be
        trusted.
    """

    method: str = "auto"
    rtol: float = 1e-8
    atol: float | None = None
    step: float | None = None
    courant: float | None = None
    max_step: float = math.inf
    stabilisation: str | Baumgarte | None = None
    scheme: str = "events"
    branch: str = "unique"
    memory: float = MEMORY
    beyond: str = "file"
    loose: bool = False

    def __post_init__(self) -> None:
        """Refuse options that have no meaning."""
        if self.scheme not in SCHEMES:
            raise ModelError(
                f"scheme = {show(self.scheme)}; {nearest(str(self.scheme), SCHEMES)}"
            )
        if self.branch not in BRANCHES:
            raise ModelError(
                f"branch = {show(self.branch)}; {nearest(str(self.branch), BRANCHES)}"
            )
        self._check_tolerances()
        if self.beyond not in BEYOND:
            valid = nearest(str(self.beyond), BEYOND)
            raise ModelError(f"beyond = {self.beyond!r}; {valid}")
        is_number = isinstance(self.memory, int | float)  # pyright: ignore[reportUnnecessaryIsInstance]
        if not (is_number and self.memory > 0.0):
            raise ModelError(f"memory = {self.memory!r}; must be > 0 bytes")
        if self.scheme == "waves":
            self._follow_waves()
            return
        if self.courant is not None:
            raise ModelError(
                f"courant = {show(self.courant)}; the step of scheme 'waves' only"
            )
        if self.method in NODAL:
            raise ModelError(
                f"method = {show(self.method)}; it belongs to scheme 'waves', for "
                "bodies with modes = 'full'"
            )
        if self.scheme == "appended":
            if self.step is not None:
                _positive("step", self.step)
            return
        if self.scheme == "paper":
            self._follow_paper()
        elif self.stabilisation is None:
            object.__setattr__(self, "stabilisation", "projection")
        if self.method not in METHODS:
            valid = nearest(str(self.method), (*ADAPTIVE, *FIXED), is_short=True)
            raise ModelError(f"method = {show(self.method)}; {valid}")
        if self.method in FIXED:
            if self.step is None:
                raise ModelError(f"method = {show(self.method)} needs step = ..., in s")
            _positive("step", self.step)
        elif self.step is not None:
            raise ModelError(
                f"step = {show(self.step)}: method {show(self.method)} chooses its own "
                "steps; use max_step to limit them"
            )
        is_number = _is_number(self.max_step) or self.max_step == math.inf
        if not (is_number and self.max_step > 0.0):
            raise ModelError(f"max_step = {show(self.max_step)}; must be > 0 s")
        if not isinstance(self.stabilisation, Baumgarte) and self.stabilisation not in (
            "projection",
            "none",
        ):
            raise ModelError(
                f"stabilisation = {show(self.stabilisation)}; give 'projection', "
                "'none' or Baumgarte(alpha=..., beta=...)"
            )

    def asked(self, until: float, **chosen: Any) -> dict[str, Any]:
        """Return what a result tells of them; `chosen` is what a scheme decided."""
        names = ("method", "rtol", "max_step", "stabilisation", "scheme", "branch")
        told = {name: getattr(self, name) for name in names}
        told |= {"atol": self.floor, "step": self.step, "until": until}
        return told | chosen

    def _check_tolerances(self) -> None:
        """Refuse errors of a step that are round-off, or no answer."""
        _positive("rtol", self.rtol)
        if self.rtol < 1e-14:
            raise ModelError(
                f"rtol = {show(self.rtol)}; must be >= 1e-14, above round-off"
            )
        if self.rtol > 1.0:
            raise ModelError(f"rtol = {show(self.rtol)}; must be <= 1")
        if not isinstance(self.loose, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"loose = {show(self.loose)}; give True or False")
        if self.rtol > LOOSEST and not self.loose:
            raise ModelError(
                f"rtol = {show(self.rtol)}; must be <= {LOOSEST:g}, as the errors of "
                "steps add up to another motion; loose=True allows it all the same"
            )
        if self.atol is not None:
            _positive("atol", self.atol)

    def _follow_waves(self) -> None:
        """Check what a march of finite elements knows."""
        if self.method == "auto":
            object.__setattr__(self, "method", "central")
        if self.method not in NODAL:
            valid = nearest(str(self.method), NODAL)
            raise ModelError(
                f"method = {show(self.method)}; of scheme 'waves': {valid}"
            )
        if self.step is not None:
            _positive("step", self.step)
            if self.courant is not None:
                raise ModelError("step and courant are both given; give one")
        if self.courant is not None:
            _positive("courant", self.courant)
        if self.stabilisation is not None or math.isfinite(self.max_step):
            name = "stabilisation" if self.stabilisation is not None else "max_step"
            raise ModelError(
                f"{name} = {getattr(self, name)!r}; scheme 'waves' has none: give step "
                "or courant"
            )

    def _follow_paper(self) -> None:
        """Fill in the papers' method, step and stabilisation."""
        if self.method not in ("auto", "rk4"):
            raise ModelError(
                f"method = {show(self.method)}; scheme 'paper' is the method 'rk4'"
            )
        if self.stabilisation == "projection":
            raise ModelError(
                "stabilisation = 'projection'; scheme 'paper' does not project: give "
                "Baumgarte(alpha=..., beta=...) or 'none'"
            )
        object.__setattr__(self, "method", "rk4")
        if self.step is None:
            object.__setattr__(self, "step", PAPER_STEP)
        if self.stabilisation is None:
            default = Baumgarte(alpha=PAPER_ALPHA, beta=PAPER_BETA)
            object.__setattr__(self, "stabilisation", default)

    @property
    def baumgarte(self) -> tuple[float, float]:
        """alpha and beta, zero for the other stabilisations."""
        if isinstance(self.stabilisation, Baumgarte):
            return (self.stabilisation.alpha, self.stabilisation.beta)
        return (0.0, 0.0)

    @property
    def floor(self) -> float:
        """The absolute tolerance in force."""
        return self.atol if self.atol is not None else ATOL_PART * self.rtol


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _positive(name: str, value: Any) -> None:
    if not (_is_number(value) and value > 0.0):
        raise ModelError(f"{name} = {show(value)}; must be a number > 0")
