"""One case: run, audit, and what came of it, as plain data."""

from __future__ import annotations

import re
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from fuzz.audit import Notes, audit, traits
from fuzz.audit.agreement import check_agreement
from fuzz.audit.locks import is_refuted
from fuzz.families import Case, make
from nonsmooth import (
    Interrupted,
    Model,
    ModelError,
    NonsmoothWarning,
    SolveError,
    simulate,
)

RTOL = 1e-8
CLEAN, WRONG, ERROR, SLOW = "clean", "audit failed", "error", "too slow"

# What a run may say of a model that has no motion, or several: not its own failing.
PHYSICAL = (
    "solutions here",
    "no forces satisfy",
    "the joint jams",
    "need not have one solution",
    "the solution followed ends",
    "constraints cannot be met",
    "inconsistent start",
    "contradictory",
    "overlaps by",
    "overlap by",
)
# What notes of a result tell.
DEPENDENT = re.compile(r"hold each other|redundant|depend", re.IGNORECASE)
CROSSED = re.compile(r"crossed|set-valued implicit", re.IGNORECASE)


class TooSlow(KeyboardInterrupt):
    """A run has used up its CPU time; it stops as if the user had wanted it."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of one case."""

    family: str
    seed: int
    kind: str  # CLEAN, WRONG, ERROR or SLOW
    traits: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()  # that failed, one name each
    findings: tuple[str, ...] = ()
    message: str = ""
    is_physical: bool = False
    cpu: float = 0.0  # s, of the run alone
    part: float = 1.0  # of the time asked for that was simulated
    n_events: int = 0
    margins: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def repeat(self) -> str:
        """The command that repeats it."""
        return f"./dev fuzz --family {self.family} --seed {self.seed} --n 1"


class _Clock:
    """A limit of CPU time for several runs together."""

    def __init__(self, limit: float) -> None:
        self.begin, self.limit = time.process_time(), limit

    def __call__(self, part: float) -> None:
        if time.process_time() - self.begin > self.limit:
            raise TooSlow


def classify(message: str) -> str:
    """Return a message without its numbers and names, to count it by."""
    # When, and who, stand before the first colon.
    text = re.sub(r"^t = .*?: ", "", re.sub(r"\([^)]*\)", "", message))
    text = re.sub(r"'[^']*'(, '[^']*')*", "'...'", text)
    text = re.sub(r"\d[\d.e+-]*", "#", text)
    return re.split(r"[;.:]", text.strip())[0].strip()[:70]


def run_case(
    family: str, seed: int, *, limit: float = 30.0, with_agreement: bool = True
) -> Outcome:
    """Make, run and audit one case; `limit` is the CPU time of the run, s."""
    case = make(family, seed)
    blank = Outcome(family=family, seed=seed, kind=ERROR, traits=case.traits)
    with warnings.catch_warnings():
        # What they say is among the notes of a result.
        warnings.simplefilter("ignore", NonsmoothWarning)
        begin = time.process_time()
        try:
            result = _run(case, _Clock(limit), case.model, RTOL)
        except Interrupted as stopped:
            if not isinstance(stopped.__cause__, TooSlow):
                raise
            slow = replace(blank, kind=SLOW, cpu=time.process_time() - begin)
            return _stopped(slow, case, stopped)
        except (ModelError, SolveError) as failed:
            error = replace(blank, cpu=time.process_time() - begin)
            return _stopped(error, case, failed)
        outcome = replace(blank, kind=CLEAN, cpu=time.process_time() - begin)
        notes = audit(case.model, result, RTOL)
        if with_agreement and not notes.findings:
            run = partial(_run, case, _Clock(4.0 * limit))
            with suppress(Interrupted):  # the run itself was fast enough
                check_agreement(notes, case.model, result, run, RTOL)
        return _told(outcome, case, result, notes)


def _run(case: Case, clock: _Clock, model: Model, rtol: float) -> Any:
    options: dict[str, Any] = case.options | {"rtol": rtol}
    return simulate(model, case.until, progress=clock, **options)


def _stopped(outcome: Outcome, case: Case, error: BaseException) -> Outcome:
    """Return what came of a run that stopped, audited until then."""
    message = str(error)
    is_physical = any(part in message for part in PHYSICAL)
    outcome = replace(outcome, message=message, is_physical=is_physical, part=0.0)
    result: Any = getattr(error, "result", None)
    if result is None or result.t_end <= 0.0 or len(result.t) < 2:
        return outcome
    if is_refuted(case.model, result, message):
        outcome = replace(outcome, is_physical=False)
    return _told(outcome, case, result, audit(case.model, result, RTOL))


def _told(outcome: Outcome, case: Case, result: Any, notes: Notes) -> Outcome:
    """Add what a result, its notes and its audit tell."""
    text = " ".join(result.notes)
    found = case.traits + tuple(sorted(traits(case.model, result)))
    found += ("dependent",) if DEPENDENT.search(text) else ()
    found += ("crossed",) if CROSSED.search(text) else ()
    is_wrong = outcome.kind == CLEAN and bool(notes.findings)
    return replace(
        outcome,
        kind=WRONG if is_wrong else outcome.kind,
        traits=found,
        checks=tuple(sorted({f.check for f in notes.findings})),
        findings=tuple(str(f) for f in notes.findings),
        part=result.t_end / case.until,
        n_events=len(result.events),
        margins=notes.margins,
    )
