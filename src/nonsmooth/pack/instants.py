"""Instants of expressions that no step may pass: jumps, kinks, zeros, short pulses.

What depends on time alone is known before a run. Every function of it that has
several branches, a comparison for one, is turned into one that is zero where the branch
changes, and all its zeros in the span of the run are looked for: an interval on which
its bounds (`pack.ranges`) leave zero out is done; one on which it rises or falls has
one zero or none; all others are halved. So are the zeros of events of time alone found,
and pulses too short for steps that know nothing of them. What depends on the motion as
well is left to the steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.expressions import OPCODES
from nonsmooth.pack.ranges import ARITY, Program, jets, values

if TYPE_CHECKING:
    from nonsmooth.pack.system import System

Floats = NDArray[np.float64]

# Intervals looked at in one round, beyond which an expression is too rapid.
MAX_INTERVALS = 200_000
# Width of an interval, as a part of the time, that is an instant.
INSTANT = 1e-14
# Spacings of numbers by which a run goes beyond the change of a branch: libraries of
# functions differ in their last digits. Laws are evaluated as far before it.
BEYOND, BEFORE = 4, 8
# Spacings of numbers within which two instants are one.
ALIKE = 32
# A pulse is short if it is narrower at half its height than this part of the time
# between its neighbours; one lower than the second part of all heights is no pulse.
SHORT, HIGH = 0.1, 0.05
# Part of all heights to which an expression is known between samples; and the narrowest
# sample, as a part of the span.
SAMPLED, NARROWEST = 0.25, 1e-10
# A packet of waves is so many peaks and troughs at least, in less than this part of the
# run, each in less than the third; no step passes more of them than the last, which its
# nodes can tell apart.
PACKET, BRIEF, QUICK, PASSED = 2, 0.5, 0.03, 2


@dataclass(frozen=True, kw_only=True)
class Text:
    """An expression of a model, its variable 0 being the time."""

    owner: str
    numbers: tuple[float, ...]
    is_guard: bool = False


@dataclass(frozen=True, kw_only=True)
class Stops:
    """Where steps end: at breaks of what is given, and at marks where all goes on."""

    breaks: Floats
    marks: Floats
    last: float = math.inf  # s, up to when laws are evaluated after the last break
    too_rapid: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[tuple[float, bool, float]]:
        """Yield each, whether it is a break, and up to when laws are evaluated."""
        t = np.append(self.breaks, self.marks)
        for k in np.argsort(t, kind="stable").tolist():
            after = self.breaks[np.searchsorted(self.breaks, t[k]) :]
            cap = _before(after[0]) if len(after) else self.last
            yield float(t[k]), k < len(self.breaks), cap


def _before(t: float) -> float:
    return float(t - BEFORE * np.spacing(abs(t)))


def stops(system: System, start: float, end: float) -> Stops:
    """Return where the steps of a run from start to end must end."""
    breaks = {t for t in system.breaks if start < t <= end}
    marks, too_rapid = set[float](), list[str]()
    for text in system.texts:
        try:
            own = _instants(text.numbers, start, end, text.is_guard)
        except _TooRapidError:
            too_rapid.append(text.owner)
            continue
        breaks.update(own[0])
        marks.update(own[1])
    nil = INSTANT * (end - start)
    own, others = (
        _apart(breaks, start + nil, end - nil),
        _apart(marks, start + nil, end - nil),
    )
    known = np.concatenate([[-np.inf], own, [np.inf]])
    k = np.searchsorted(known, others)
    near = np.minimum(others - known[k - 1], known[k] - others)
    return Stops(
        breaks=own,
        marks=others[near > ALIKE * np.spacing(np.abs(others))],
        # What breaks at the end of a run is read before it.
        last=min((_before(t) for t in breaks if t >= end - nil), default=math.inf),
        too_rapid=tuple(dict.fromkeys(too_rapid)),
    )


def _apart(times: set[float], start: float, end: float) -> Floats:
    """Return times inside a span that are farther apart than their round-off."""
    t = np.array(sorted(times))
    t = t[(t > start) & (t < end)]
    return t[np.diff(t, prepend=-np.inf) > ALIKE * np.spacing(np.abs(t))]


class _TooRapidError(Exception):
    """An expression changes too often to be looked through."""


@dataclass
class _Part:
    """A part of a program: its instructions, and what it depends on."""

    program: Program
    has_time: bool = False
    has_motion: bool = False

    @property
    def is_of_time(self) -> bool:
        return self.has_time and not self.has_motion


@dataclass
class _Found:
    """Functions that are zero where a branch changes; largest parts of time alone."""

    switches: list[Program] = field(default_factory=list[Program])
    wholes: list[Program] = field(default_factory=list[Program])


def _parts(numbers: tuple[float, ...]) -> tuple[_Found, _Part]:
    """Return what of a program depends on time alone, and the whole."""
    found, stack = _Found(), list[_Part]()
    for number, argument in zip(numbers[1::2], numbers[2::2], strict=True):
        name = OPCODES[int(number)]
        if name in ("const", "var"):
            is_time = name == "var" and argument == 0.0
            is_motion = name == "var" and argument != 0.0
            stack.append(_Part(((name, argument),), is_time, is_motion))
            continue
        own = stack[-ARITY[name] :]
        del stack[-ARITY[name] :]
        program = sum((part.program for part in own), ())
        whole = _Part(
            (*program, (name, argument)),
            any(part.has_time for part in own),
            any(part.has_motion for part in own),
        )
        if whole.is_of_time:
            found.switches += _switches(name, own)
        elif whole.has_motion:
            found.wholes += [part.program for part in own if part.is_of_time]
        stack.append(whole)
    if stack[0].is_of_time:
        found.wholes.append(stack[0].program)
    found.switches = list(dict.fromkeys(found.switches))
    return found, stack[0]


def _switches(name: str, of: list[_Part]) -> list[Program]:
    """Return functions that are zero where an operation takes another branch."""
    a, b = of[0].program, of[-1].program
    # Zero at all whole numbers.
    wave: Program = (("const", np.pi), ("mul", 0.0), ("sin", 0.0))
    if name in ("abs", "sign"):
        return [a]
    if name in ("lt", "le", "min", "max"):
        return [(*a, *b, ("sub", 0.0))]
    if name == "floor":
        return [(*a, *wave)]
    if name == "mod":
        return [(*a, *b, ("div", 0.0), *wave)]
    if name == "smoothstep":
        return [a, (*a, ("const", 1.0), ("sub", 0.0))]
    if name in ("atan2", "hypot"):
        return [a if of[0].has_time else b]
    # Kinks of others, as of sqrt(t*t), are seen by the steps.
    return []


@lru_cache(maxsize=256)
def _instants(
    numbers: tuple[float, ...], start: float, end: float, is_guard: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return breaks and marks of an expression between two times."""
    found, whole = _parts(numbers)
    breaks = np.array([start, end])
    for switch in found.switches:
        zeros = _zeros(switch, breaks)
        breaks = np.union1d(breaks, zeros + BEYOND * np.spacing(np.abs(zeros)))
    marks = [_peaks(program, breaks) for program in found.wholes]
    if is_guard and whole.is_of_time:
        marks.append(_zeros(whole.program, breaks))
    every = np.concatenate([np.zeros(0), *marks])
    return tuple(breaks[1:-1].tolist()), tuple(every.tolist())


def _pieces(breaks: Floats) -> tuple[Floats, Floats]:
    """Return begin and end of each piece between breaks, clear of them."""
    low, high = breaks[:-1].copy(), breaks[1:].copy()
    low[0] += BEYOND * np.spacing(abs(low[0]))
    high -= BEFORE * np.spacing(np.abs(high))
    is_some = low < high
    return low[is_some], high[is_some]


def _halves(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    if 2 * len(low) > MAX_INTERVALS:
        raise _TooRapidError
    middle = 0.5 * (low + high)
    return np.concatenate([low, middle]), np.concatenate([middle, high])


def _zeros(program: Program, breaks: Floats) -> Floats:
    """Return all zeros of a function of time that is smooth between breaks."""
    low, high = _pieces(breaks)
    found: list[Floats] = []
    while len(low):
        jet = jets(program, low, high)
        (least, most), (slowest, fastest) = jet.f, jet.f1
        may = ~jet.is_void & (least <= 0.0) & (most >= 0.0) & (least < most)
        is_straight = may & ((slowest > 0.0) | (fastest < 0.0))
        found.append(_roots(program, low[is_straight], high[is_straight]))
        is_thin = high - low <= INSTANT * np.maximum(
            np.abs(high), breaks[-1] - breaks[0]
        )
        found.append(_merged(low[may & ~is_straight & is_thin]))
        is_left = may & ~is_straight & ~is_thin
        low, high = _halves(low[is_left], high[is_left])
    return np.unique(np.concatenate([np.zeros(0), *found]))


def _merged(t: Floats) -> Floats:
    """Return one time for many that touch."""
    t = np.sort(t)
    return t[
        np.diff(t, prepend=-np.inf) > 1e3 * INSTANT * np.maximum(np.abs(t), 1e-300)
    ]


def _roots(program: Program, low: Floats, high: Floats) -> Floats:
    """Return where a function that rises or falls on each interval is zero."""
    if not len(low):
        return low
    side, other = np.sign(values(program, low)), np.sign(values(program, high))
    # One that is zero at the begin has been found as the end of the interval before.
    is_some = side * other <= 0.0
    is_some &= ~((side == 0.0) & (other != 0.0) & (low != low.min()))
    low, high, other = low[is_some], high[is_some], other[is_some]
    while len(low):
        middle = 0.5 * (low + high)
        if np.all((middle <= low) | (middle >= high)):
            break
        is_past = np.sign(values(program, middle)) == other
        low, high = np.where(is_past, low, middle), np.where(is_past, middle, high)
    is_nearer = np.abs(values(program, low)) < np.abs(values(program, high))
    return np.where(is_nearer, low, high)


def _peaks(program: Program, breaks: Floats) -> Floats:
    """Return where short pulses of a function of time are highest, or lowest."""
    low, high = _pieces(breaks)
    t, s = list[Floats](), list[Floats]()
    least, most = np.inf, -np.inf
    while len(low):
        jet = jets(program, low, high)
        is_some = ~jet.is_void & np.isfinite(jet.middle)
        own = jet.middle[is_some]
        least, most = np.min(own, initial=least), np.max(own, initial=most)
        is_wide = high - low > NARROWEST * (breaks[-1] - breaks[0])
        is_open = ~jet.is_void & is_wide
        is_open &= ~(jet.f[1] - jet.f[0] <= SAMPLED * (most - least))
        is_kept = is_some & ~is_open
        t.append(0.5 * (low + high)[is_kept])
        s.append(jet.middle[is_kept])
        low, high = _halves(low[is_open], high[is_open])
    time, height = np.concatenate([np.zeros(0), *t]), np.concatenate([np.zeros(0), *s])
    order = np.argsort(time)
    return _short(time[order], height[order])


def _short(t: Floats, s: Floats) -> Floats:
    """Return the peaks of samples that are short beside the way to their neighbours."""
    is_new = np.diff(s, prepend=np.nan) != 0.0
    plateau = np.append(np.flatnonzero(is_new), len(s))
    middle = (plateau[:-1] + plateau[1:] - 1) // 2
    begin, end = t[plateau[:-1]], t[plateau[1:] - 1]
    t, s = t[middle], s[middle]
    if len(s) < 3:
        return np.zeros(0)
    rise = np.sign(np.diff(s))
    turns = np.concatenate(
        [[0], 1 + np.flatnonzero(rise[1:] != rise[:-1]), [len(s) - 1]]
    )
    found, least = list[float](), HIGH * float(np.ptp(s))
    for last, here, after in zip(turns[:-2], turns[1:-1], turns[2:], strict=True):
        height = min(abs(s[here] - s[last]), abs(s[here] - s[after]))
        if height < least:
            continue
        left = s[last : here + 1] - s[here]
        right = s[here : after + 1] - s[here]
        a = last + int(np.flatnonzero(np.abs(left) >= 0.5 * height)[-1])
        b = here + int(np.flatnonzero(np.abs(right) >= 0.5 * height)[0])
        if begin[b] - end[a] < SHORT * (end[after] - begin[last]):
            found.append(float(t[here]))
    return np.concatenate([found, _packet(t[turns[1:-1]], s[turns[1:-1]], t)])


def _packet(t: Floats, s: Floats, all_t: Floats) -> Floats:
    """Return some of the peaks and troughs of a packet of waves, none of other motion.

    What is at rest until it comes has no error that would shorten its steps.
    """
    jump = np.abs(np.diff(s))
    high = np.flatnonzero(jump >= SAMPLED * np.max(jump, initial=0.0))
    if len(high) < PACKET:
        return np.zeros(0)
    length = t[high[-1] + 1] - t[high[0]]
    if length >= min(BRIEF, QUICK * len(high)) * np.ptp(all_t):
        return np.zeros(0)
    return t[max(high[0] - PASSED, 0) : high[-1] + 2 : PASSED]
