"""The event-driven simulation: from a model to a result."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.friction import Coulomb
from nonsmooth.errors import (
    FAILURES,
    Interrupted,
    ModelError,
    NonsmoothWarning,
    SolveError,
    SwitchError,
)
from nonsmooth.kernels import abi, entry, flanks, guards, lcp, loop, switch
from nonsmooth.kernels import run as codes
from nonsmooth.kernels.abi import COMPLEXES, FLOATS, INTEGERS
from nonsmooth.kernels.assemble import CONTACT
from nonsmooth.kernels.run import Log, Run
from nonsmooth.kernels.tableaux import EXPLICIT
from nonsmooth.kernels.tables import Work
from nonsmooth.model import Model
from nonsmooth.result import EventRecord, EventTable, Modes, Result, State, Steps
from nonsmooth.solve.events import event_records
from nonsmooth.solve.jumps import check_jumps
from nonsmooth.solve.options import BRANCHES, Baumgarte, Options
from nonsmooth.solve.start import (
    check_overlaps,
    check_redundancy,
    consistent_start,
    initial_values,
)
from nonsmooth.solve.undecided import jams, undecided
from nonsmooth.system import System, pack

Floats = NDArray[np.float64]
Progress = Callable[[float], None]

# The dense Jacobian of the implicit method grows with the square of this.
MAX_IMPLICIT_DOF = 600
# One chunk of the log: large enough to be rare, small enough not to be felt.
CHUNK_BYTES = 8_000_000
MAX_CHUNK_STEPS = 2000
# Places at which a failed step is searched for the element that failed it.
N_SEARCH = 65
# A state this many times the model's size, or 1 m/s, has diverged.
DIVERGED = 1e9
# Pivots allowed to the friction problem for each of its pairs.
PIVOTS = 50
# Python looks in this often, for progress and interruption.
TICK_SECONDS = 0.1


def simulate(
    model: Model | System,
    until: float,
    *,
    start: State | None = None,
    method: str = "auto",
    rtol: float = 1e-8,
    atol: float | None = None,
    step: float | None = None,
    max_step: float = math.inf,
    stabilisation: str | Baumgarte | None = None,
    scheme: str = "events",
    branch: str = "unique",
    assemble: bool | None = None,
    progress: Progress | None = None,
) -> Result:
    """Simulate a model from its start, or a given state, until a time.

    Parameters
    ----------
    model : Model or System
        What to simulate; a packed system saves packing again.
    until : float
        End, s.
    start : State, optional
        A state of an earlier run, `result.state(t)`; the model's own start at
        t = 0 by default.
    method, rtol, atol, step, max_step, stabilisation, scheme, branch
        See `Options`.
    assemble : bool, optional
        Overrides the model's `assemble`.
    progress : callable, optional
        Called now and then with the part of the interval done, 0 to 1.

    Returns
    -------
    Result

    Raises
    ------
    ModelError
        Bad input, before anything is computed.
    SolveError
        The run could not go on; its `result` holds what was computed.
    Interrupted
        The user stopped it; a KeyboardInterrupt whose `result` holds what was
        computed.
    """
    options = Options(
        method=method,
        rtol=rtol,
        atol=atol,
        step=step,
        max_step=max_step,
        stabilisation=stabilisation,
        scheme=scheme,
        branch=branch,
    )
    if not isinstance(model, Model | System):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelError(f"model = {model!r}; give a Model or a System")
    system = model if isinstance(model, System) else pack(model)
    t_start = start.t if start is not None else 0.0
    is_number = isinstance(until, int | float)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not (is_number and math.isfinite(until) and until > t_start):
        raise ModelError(f"until = {until!r}; must be a time > {t_start:g} s")
    low, high = system.span
    if t_start < low or until > high:
        raise ModelError(
            f"until = {until:g} s: a table of the model is defined from {low:g} to "
            f"{high:g} s only"
        )
    if options.scheme == "paper":
        if system.events:
            raise ModelError(
                f"event '{system.events[0]}': scheme 'paper' locates no events"
            )
        _check_paper(system)
        assemble = bool(assemble)
    if options.scheme == "paper" and not assemble:
        q, v = initial_values(system, start)
    else:
        q, v = consistent_start(system, t_start, start, assemble)
    check_overlaps(system, t_start, q, v)
    check_jumps(system, t_start, float(until))
    note = check_redundancy(system, t_start, q, v)
    approach = start.approach if start is not None else {}
    driver = _Driver(system, options, t_start, float(until), q, v, approach)
    if note:
        driver.notes.append(note)
    return driver.run(progress)


def new_run(
    system: System, t: float, q: Floats, v: Floats
) -> tuple[Work, Run, lcp.Lcp, lcp.Hlcp]:
    """Return the arrays of a run that is about to start."""
    driver = _Driver(system, Options(), t, math.inf, q, v, {})
    return driver.work, driver.state, driver.lcp, driver.hlcp


def _check_paper(system: System) -> None:
    """Refuse friction that the papers' scheme does not have."""
    if system.slides:
        raise ModelError(
            f"joint '{system.slides[0]}': scheme 'paper' is for contacts and has no "
            "friction inside joints; use a fixed-step method with Baumgarte(...)"
        )
    for contact in system.model.contacts:
        if not isinstance(contact.friction, Coulomb | None):
            kind = type(contact.friction).__name__
            raise ModelError(
                f"contact '{contact.name}': scheme 'paper' knows Coulomb friction "
                f"only, not {kind}"
            )


@dataclass
class _Driver:
    """One run in progress."""

    system: System
    options: Options
    t_start: float
    until: float
    q: Floats
    v: Floats
    approach: dict[str, float]
    notes: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        options = self.options
        is_radau = options.method == "radau"
        name = options.method if options.method in EXPLICIT else "dop853"
        self.tableau = EXPLICIT[name]()
        n_dof = self.system.n_dof
        fits = n_dof <= MAX_IMPLICIT_DOF
        if is_radau and not fits:
            raise ModelError(
                f"method = 'radau': {n_dof} coordinates; its Jacobian is dense, and at "
                f"most {MAX_IMPLICIT_DOF} are allowed"
            )
        self.march: Any = loop.march
        if options.scheme == "paper":
            # Compiled only for those who ask for it.
            from nonsmooth.kernels import paper

            abi.link()
            self.march = paper.march
        self.work = self.system.work()
        for k, name in enumerate(self.system.contacts):
            self.work.approach[k] = self.approach.get(name, math.nan)
        self.state = self._new_run(is_radau, options.method == "auto" and fits)
        # Lemke's path visits a few bases for each contact.
        m = self.system.tables
        n_slide = int(np.diff(m.group_slide).max(initial=0))
        n_pair = 2 * m.n_largest + 4 * n_slide
        self.lcp = lcp.lcp_work(n_pair, PIVOTS * (1 + n_pair))
        self.hlcp = lcp.hlcp_work(n_pair if n_slide else 0)
        self.chunks: list[tuple[Log, int, float, int]] = []
        self.events: list[EventRecord] = []
        self.arc = 0
        self.seconds = 0.0
        self._jam: str | None = None

    def _new_run(self, is_implicit: bool, is_auto: bool) -> Run:
        system, options, tb = self.system, self.options, self.tableau
        n, n_y = system.n_dof, system.n_y
        m = system.tables
        n_watch, n_contact, n_rest = m.n_watch, m.n_contact, m.n_largest
        # The implicit method's arrays are needed only where it can be used.
        ni = n if is_implicit or is_auto else 0
        nz = ni + m.n_state if ni else 0
        nf = ni + nz
        # The problem with joints: a flank or two for either slip, two pairs at rest.
        n_slide = int(np.diff(m.group_slide).max(initial=0))
        n_term = 4 * n_slide
        n_joint = n_rest if n_slide else 0
        n_pair = n_term + 2 * n_joint
        n_listed = min(n_pair, flanks.MAX_PAIR)
        n_base = 1 << n_listed if n_slide else 0
        n_heard = 4 * len(system.slides) + 1
        n_coef = max(3, tb.degree)
        sizes = {
            "y": n_y, "y1": n_y, "stage": n_y, "moved": n_y,
            "K": max(tb.n, 2) * n_y, "C": n_coef * n_y, "e": 2 * n_y, "tol": n_y,
            "dense": n_y, "rate": n, "guard": 2 * n_watch, "side": n_watch,
            "node": (guards.N_NODE + 1) * 2 * n_watch, "root": n_watch,
            "is_at_zero": n_watch, "fired": n_watch,
            "is_touched": m.n_group, "rests": n_contact, "freed": n_contact,
            "kept": n_contact,
            "listed": n_rest, "delassus": n_rest**2, "slip_rate": n_rest,
            "slip_change": n_rest, "limit": n_rest,
            "M": 4 * n_rest**2, "q_lcp": 2 * n_rest,
            "z_lcp": 2 * n_rest, "w_lcp": 2 * n_rest, "ahead": n_y,
            "heard": n_heard, "low": n_heard, "high": n_heard, "first": n_heard,
            "at_end": n_heard,
            "shown": n_contact, "span_side": n_contact, "span_slip": n_contact,
            "span_y": n_y, "span_rate": n_y,
            "term_force": n_term, "term_flank": n_term, "term_phi": n_term,
            "term_kind": n_term, "term_base": n_term, "term_response": n_term * n_rest,
            "reaction_base": 2 * n_joint, "reaction": 2 * n_joint * n_rest,
            "coef": n_joint * n_pair, "constant": n_joint, "friction": n_joint,
            "A_plus": n_pair**2, "A_minus": n_pair**2, "b_hlcp": n_pair,
            "w_hlcp": n_pair, "z_hlcp": n_pair, "points": 2 * n_listed * n_base,
            "is_isolated": n_base, "base_kind": n_base,
            "Z": 3 * nf, "W": 3 * nf, "F": 3 * n_y if ni else 0, "Aq": nz * ni,
            "Av": nz * ni, "Az": nz * (nz - ni), "real_lu": nz * nz, "real_swap": nz,
            "complex_lu": nz * nz, "complex_swap": nz, "x": nf, "z": nf,
            "previous": 3 * (2 * n + m.n_state), "d": n_y,
        }  # fmt: skip
        dtypes = {FLOATS: np.float64, INTEGERS: np.int64, COMPLEXES: np.complex128}
        values: dict[str, Any] = {
            name: np.zeros(sizes[name], dtypes[kind]) if kind in dtypes else 0
            for name, kind in Run.slots()
        }
        values |= {
            "rtol": options.rtol,
            "atol": options.floor,
            "h_fixed": options.step or 0.0,
            "h_max": options.max_step,
            "alpha": options.baumgarte[0],
            "beta": options.baumgarte[1],
            "size": system.size,
            "is_projected": int(options.stabilisation == "projection"),
            "is_auto": int(is_auto),
            "is_implicit": int(is_implicit),
            "t": self.t_start,
            "t_cap": math.inf,
            "t_singular": math.inf,
            "t_redundant": math.inf,
            "t_switch": -math.inf,
            "t_flood": -math.inf,
            "span": self.until - self.t_start,
            "h_touch": math.inf,
            "t_tie": math.inf,
            "t_branch": math.inf,
            "branch": BRANCHES.index(options.branch),
            "n_y": n_y,
            "n_coef": n_coef,
        }
        values["y"][:n] = self.q
        values["y"][n : n + len(self.v)] = self.v
        return Run(**values)

    def _new_log(self) -> Log:
        n_y, n_coef = self.system.n_y, self.state.n_coef
        n_contact = self.system.tables.n_contact
        per_step = 8 * (1 + n_coef) * n_y
        capacity = int(np.clip(CHUNK_BYTES // max(per_step, 1), 1, MAX_CHUNK_STEPS))
        return Log(
            capacity=capacity,
            n=0,
            t=np.zeros(capacity),
            h=np.zeros(capacity),
            is_implicit=np.zeros(capacity, dtype=np.int64),
            coef=np.empty(capacity * (1 + n_coef) * n_y),
            event=np.zeros(capacity * self.system.tables.n_watch, dtype=np.int64),
            side=np.zeros(capacity * n_contact, dtype=np.int64),
            slip=np.zeros(capacity * n_contact, dtype=np.int64),
            flank=np.zeros(capacity * n_contact, dtype=np.int64),
            approach=np.zeros(capacity * n_contact),
            hold=np.zeros(capacity * n_contact),
        )

    def run(self, progress: Progress | None) -> Result:
        """March from arc to arc until the end, a stop or a failure."""
        state = self.state
        # Compile before the clock starts.
        self.march(
            self.system.tables,
            self.work,
            state,
            self.tableau,
            self._new_log(),
            self.lcp,
            self.hlcp,
            0.0,
            0,
        )
        stops = [t for t in self.system.breaks if self.t_start < t < self.until]
        status = codes.END
        for t_stop in (*stops, self.until):
            is_break = t_stop in self.system.breaks
            # Laws are evaluated from the left up to and at a break.
            state.t_cap = math.nextafter(t_stop, -math.inf) if is_break else math.inf
            state.is_fresh = 0
            state.is_break = 1
            state.h = 0.0
            try:
                status = self._march(t_stop, progress)
            except KeyboardInterrupt as interrupt:
                self._keep(self.log)
                result = self._result("failed", f"interrupted at t = {state.t:.6g} s")
                raise Interrupted(result.message, result) from interrupt
            if status != codes.END:
                break
            self.arc += 1
        return self._finish(status)

    def _march(self, t_stop: float, progress: Progress | None) -> int:
        state = self.state
        self.log = log = self._new_log()
        n_steps = 16
        while True:
            begin = time.process_time()
            status = int(
                self.march(
                    self.system.tables,
                    self.work,
                    state,
                    self.tableau,
                    log,
                    self.lcp,
                    self.hlcp,
                    t_stop,
                    n_steps,
                )
            )
            spent = time.process_time() - begin
            self.seconds += spent
            if progress is not None:
                progress((state.t - self.t_start) / (self.until - self.t_start))
            if status == codes.TICK:
                # Keep calls short enough for progress, long enough not to be felt.
                n_steps = max(
                    1, min(4 * n_steps, int(n_steps * TICK_SECONDS / max(spent, 1e-6)))
                )
                continue
            self._keep(log)
            self.log = log = self._new_log()
            if status != codes.FULL:
                return status

    def _keep(self, log: Log) -> None:
        """Store a chunk."""
        if log.n:
            self.chunks.append((log, log.n, self.state.t_cap, self.arc))

    def _finish(self, status: int) -> Result:
        state = self.state
        is_singular = math.isfinite(state.t_singular) and not self.notes
        if is_singular and status in (codes.END, codes.STOPPED):
            text = (
                f"the pose at t = {state.t_singular:.6g} s is singular: the motion "
                "goes on; reactions near it are not unique, and least-norm values are "
                "reported"
            )
            warnings.warn(text, NonsmoothWarning, stacklevel=4)
            self.notes.append(text)
        if math.isfinite(state.t_redundant):
            self.notes.append(
                "contacts that stick hold each other, as two on one line do, first at "
                f"t = {state.t_redundant:.6g} s: the motion is unique, their friction "
                "is not, and is shared in proportion to its limits"
            )
        if math.isfinite(state.t_branch):
            self.notes.append(
                "friction in joints had more than one solution, or might have, first "
                f"at t = {state.t_branch:.6g} s: branch '{self.options.branch}' was "
                "followed"
            )
        if state.n_unchecked_switch:
            self.notes.append(
                f"{state.n_unchecked_switch} switches had too many joints and contacts "
                "to look for more than one solution of their friction"
            )
        if state.n_tie:
            self.notes.append(
                f"contacts reached the limit of friction together, first at t = "
                f"{state.t_tie:.6g} s: those within {switch.TIE:g} of it, relatively, "
                "were let go with the one that did"
            )
        message = "reached the end"
        outcome: Literal["finished", "stopped", "failed"] = "finished"
        if status == codes.STOPPED:
            outcome = "stopped"
        elif status != codes.END or (
            self.options.scheme == "paper" and self._has_diverged()
        ):
            # A fixed step may be unstable and yet not overflow.
            if status == codes.END:
                state.t_fail, status = state.t, codes.NOT_FINITE
            outcome = "failed"
            if status != codes.UNDECIDED:
                self._jam = jams(self.system, state, self.work)
            message = self._failure(status)
        result = self._result(outcome, message)
        if outcome == "stopped":
            text = f"stopped by event '{result.events[-1].element}'"
            result = replace(result, message=text)
        if outcome == "failed":
            is_switch = status == codes.UNDECIDED or self._jam is not None
            raise (SwitchError if is_switch else SolveError)(message, result)
        return result

    def _result(
        self, outcome: Literal["finished", "stopped", "failed"], message: str
    ) -> Result:
        state, options = self.state, self.options
        n_coef, n_y = state.n_coef, self.system.n_y
        m = self.system.tables
        n_step = sum(n for _, n, _, _ in self.chunks)

        def column(name: str, width: int) -> Any:
            parts = [getattr(log, name)[: n * width] for log, n, _, _ in self.chunks]
            joined = np.concatenate(parts) if parts else getattr(self.log, name)[:0]
            return joined.reshape(n_step, width)

        def repeated(k: int, dtype: type) -> Any:
            parts: list[Any] = [np.full(c[1], c[k], dtype) for c in self.chunks]
            return np.concatenate([np.zeros(0, dtype), *parts])  # pyright: ignore

        modes = Modes(
            side=column("side", m.n_contact),
            slip=column("slip", m.n_contact),
            flank=column("flank", m.n_contact),
            approach=column("approach", m.n_contact),
            hold=column("hold", m.n_contact),
        )
        arc = repeated(3, int)
        arc[1:] += np.cumsum(modes.changes())
        steps = Steps(
            t=column("t", 1)[:, 0],
            h=column("h", 1)[:, 0],
            coef=column("coef", (1 + n_coef) * n_y).reshape(n_step, 1 + n_coef, n_y),
            cap=repeated(2, float),
            is_implicit=column("is_implicit", 1)[:, 0],
            arc=arc,
            modes=modes,
            y_end=state.y.copy(),
        )
        fired = column("event", m.n_watch)
        self.events = event_records(
            self.system, steps, fired, float(state.t), self.work
        )
        return Result(
            system=self.system,
            steps=steps,
            t_start=self.t_start,
            t_end=float(state.t),
            status=outcome,
            message=message,
            events=EventTable(self.events),
            options={
                "method": options.method,
                "rtol": options.rtol,
                "atol": options.floor,
                "step": options.step,
                "max_step": options.max_step,
                "stabilisation": options.stabilisation,
                "scheme": options.scheme,
                "branch": options.branch,
                "until": self.until,
            },
            cost={
                "steps": state.n_step,
                "rejected": state.n_reject,
                "evaluations": state.n_rhs,
                "jacobians": state.n_jacobian,
                "implicit_steps": int(np.sum(steps.is_implicit)),
                "cpu_seconds": self.seconds,
            },
            violation=float(state.violation),
            is_projected=bool(state.is_projected),
            baumgarte=options.baumgarte,
            notes=tuple(self.notes),
        )

    def _failure(self, status: int) -> str:
        """Return the sentence for a failed run: when, where, what to try."""
        state = self.state
        if status == codes.UNDECIDED:
            return undecided(self.system, state, self.work)
        is_fixed = self.options.step is not None
        if status == codes.NOT_FINITE and is_fixed and self._has_diverged():
            alpha = self.options.baumgarte[0]
            why = f" (or for Baumgarte's alpha = {alpha:g} /s)" if alpha > 0.0 else ""
            return FAILURES["unstable"].format(
                t=state.t_fail, h=self.options.step, why=why
            )
        if self._jam is not None:
            return self._jam
        culprit = self._culprit()
        if culprit or status == codes.NOT_FINITE:
            who = culprit or "the motion"
            return FAILURES["not_finite"].format(t=state.t_fail, who=who)
        if status == codes.CANNOT_ASSEMBLE:
            who = self._worst_joint()
            return FAILURES["cannot_assemble"].format(t=state.t_fail, who=who)
        if status == codes.NEWTON_FAILED:
            return FAILURES["newton_failed"].format(t=state.t_fail)
        is_singular = math.isfinite(state.t_singular)
        return FAILURES["singular" if is_singular else "step_too_small"].format(
            t=state.t
        )

    def _has_diverged(self) -> bool:
        """Return whether the last state is far beyond the model's size and speeds."""
        motion = np.abs(self.state.y[: 2 * self.system.n_dof])
        return not np.max(motion) < DIVERGED * max(1.0, self.system.size)

    def _culprit(self) -> str:
        """Return the element that is not finite where the run failed, or ""."""
        system, work, state = self.system, self.work, self.state
        n = system.n_dof
        # Along the way from the last good state to where the step failed.
        n_flow = 2 * n + system.n_state
        begin, rate = state.y[:n_flow], state.K[:n_flow]
        span = max(float(state.t_fail - state.t), 0.0)
        for k in range(N_SEARCH):
            dt = span * k / (N_SEARCH - 1)
            y: Any = begin + dt * np.where(np.isfinite(rate), rate, 0.0)
            entry.laws_and_rows(system.tables, work, min(state.t + dt, state.t_cap), y)
            bad = ~np.isfinite(work.law.reshape(-1, 3)).all(axis=1)
            if bad.any():
                return system.law_owners[int(np.argmax(bad))]
            bad = ~np.isfinite(work.wrench.reshape(-1, 8)[:, :6]).all(axis=1)
            if bad.any():
                return f"force '{system.forces[int(np.argmax(bad))]}'"
            bad = ~np.isfinite(work.contact.reshape(-1, CONTACT)).all(axis=1)
            if bad.any():
                k = int(np.argmax(bad))
                family = "contact" if k < len(system.contacts) else "joint"
                return f"{family} '{system.with_mode[k]}'"
            bad = ~np.isfinite(work.block.reshape(-1, 9)).all(axis=1)
            if bad.any():
                name = system.row_owner(int(np.argmax(bad)))
                return f"{system.model.element(name).family} '{name}'"
        return ""

    def _worst_joint(self) -> str:
        row = int(np.argmax(np.abs(self.work.g)))
        name = self.system.row_owner(row)
        family = self.system.model.element(name).family
        return f"{family} '{name}' stays violated by {abs(self.work.g[row]):.3g}"
