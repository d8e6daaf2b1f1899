"""Time laws s(t): of drives, supports and prescribed forces.

A law writes value, rate and acceleration. Where it is not smooth, `breaks` names
the instants, and the solver ends a step there, so that no method loses its order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from textwrap import indent
from typing import TYPE_CHECKING, ClassVar

from nonsmooth.elements.base import Element, quantity
from nonsmooth.elements.expressions import TIME_VARIABLES, describe, parse
from nonsmooth.errors import TOO_LARGE, ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class TimeLaw(Element, family="time law"):
    """A prescribed function of time.

    A kind supplies the static function `evaluate(p, t, s)`, which writes s[0] = s(t),
    s[1] = s'(t) and s[2] = s''(t); `p` holds the fields in order.
    """

    row_name: ClassVar[str] = "evaluate"
    is_smooth: ClassVar[bool] = False  # neither s nor s' can jump, whatever the numbers

    def breaks(self) -> tuple[float, ...]:
        """Return the instants (s) where s or one of its derivatives jumps."""
        return ()

    def span(self) -> tuple[float, float]:
        """Return the interval (s) on which the law is defined."""
        return (-math.inf, math.inf)


@dataclass(frozen=True, kw_only=True)
class Constant(TimeLaw):
    """s = value."""

    is_smooth: ClassVar[bool] = True

    value: float = quantity("unit of what it drives")

    @staticmethod
    def evaluate(p, t, s):
        s[0] = p[0]
        s[1] = 0.0
        s[2] = 0.0


@dataclass(frozen=True, kw_only=True)
class ConstantRate(TimeLaw):
    """s = start + rate t."""

    is_smooth: ClassVar[bool] = True

    rate: float = quantity("unit of what it drives, per s")
    start: float = quantity("unit of what it drives", default=0.0)

    @staticmethod
    def evaluate(p, t, s):
        s[0] = p[1] + p[0] * t
        s[1] = p[0]
        s[2] = 0.0


@dataclass(frozen=True, kw_only=True)
class Harmonic(TimeLaw):
    """s = offset + amplitude sin(omega t + phase).

    omega is `angular_frequency`, rad/s, or 2 pi `frequency_hz`; one of them is given.
    """

    is_smooth: ClassVar[bool] = True
    renamed: ClassVar[dict[str, str]] = {
        "frequency": "give angular_frequency in rad/s, or frequency_hz in Hz"
    }
    either: ClassVar[tuple[str, ...]] = ("angular_frequency", "frequency_hz")

    amplitude: float = quantity("unit of what it drives")
    angular_frequency: float | None = quantity("rad/s", default=None)
    frequency_hz: float | None = quantity("Hz", default=None)
    phase: float = quantity("rad", default=0.0)
    offset: float = quantity("unit of what it drives", default=0.0)

    def check(self) -> None:
        """Refuse two frequencies, or none."""
        if self.angular_frequency is None and self.frequency_hz is None:
            valid = "give angular_frequency in rad/s, or frequency_hz in Hz"
            raise ModelError(f"{self.label()}: angular_frequency is missing; {valid}")
        if self.angular_frequency is not None and self.frequency_hz is not None:
            valid = "angular_frequency (rad/s) is given as well; give one of them"
            raise self.fail("frequency_hz", self.frequency_hz, valid)
        if not math.isfinite(self.omega):
            raise self.fail("frequency_hz", self.frequency_hz, TOO_LARGE)

    @property
    def omega(self) -> float:
        """The angular frequency, rad/s, whichever way it was given."""
        if self.angular_frequency is not None:
            return self.angular_frequency
        return 2.0 * math.pi * (self.frequency_hz or 0.0)

    def parameters(self) -> list[float]:
        return [self.amplitude, self.omega, self.phase, self.offset]

    @staticmethod
    def evaluate(p, t, s):
        sine = math.sin(p[1] * t + p[2])
        s[0] = p[3] + p[0] * sine
        s[1] = p[0] * p[1] * math.cos(p[1] * t + p[2])
        s[2] = -p[0] * p[1] * p[1] * sine


@dataclass(frozen=True, kw_only=True)
class Ramp(TimeLaw):
    """A rate that rises linearly from zero to `rate` during `duration`.

    s' = rate (t - begin) / duration, then s' = rate; s = start before.
    """

    rate: float = quantity("unit of what it drives, per s")
    duration: float = quantity("s", above=0.0)
    begin: float = quantity("s", default=0.0)
    start: float = quantity("unit of what it drives", default=0.0)

    def breaks(self) -> tuple[float, ...]:
        return (self.begin, self.begin + self.duration)

    @staticmethod
    def evaluate(p, t, s):
        rate, duration, begin, start = p[0], p[1], p[2], p[3]
        u = t - begin
        if u < 0.0:
            s[0] = start
            s[1] = 0.0
            s[2] = 0.0
        elif u < duration:
            s[0] = start + 0.5 * rate * u * u / duration
            s[1] = rate * u / duration
            s[2] = rate / duration
        else:
            s[0] = start + rate * (u - 0.5 * duration)
            s[1] = rate
            s[2] = 0.0


@dataclass(frozen=True, kw_only=True)
class SmoothStep(TimeLaw):
    """From `start` to `end` with zero rate and acceleration at both ends.

    s = start + (end - start) (10 u^3 - 15 u^4 + 6 u^5), u = (t - begin) / duration
    """

    start: float = quantity("unit of what it drives", default=0.0)
    end: float = quantity("unit of what it drives")
    duration: float = quantity("s", above=0.0)
    begin: float = quantity("s", default=0.0)

    def breaks(self) -> tuple[float, ...]:
        return (self.begin, self.begin + self.duration)

    @staticmethod
    def evaluate(p, t, s):
        change, duration = p[1] - p[0], p[2]
        u = min(1.0, max(0.0, (t - p[3]) / duration))
        s[0] = p[0] + change * u * u * u * (10.0 + u * (6.0 * u - 15.0))
        s[1] = change * 30.0 * u * u * (1.0 - u) * (1.0 - u) / duration
        s[2] = change * 60.0 * u * (1.0 + u * (2.0 * u - 3.0)) / (duration * duration)


@dataclass(frozen=True, kw_only=True)
class Table(TimeLaw):
    """Cubic spline through (times, values), natural at both ends.

    Twice continuously differentiable; defined from the first time to the last.
    """

    times: tuple[float, ...] = quantity("s, increasing")
    values: tuple[float, ...] = quantity("unit of what it drives")

    def check(self) -> None:
        if len(self.times) < 2:
            raise self.fail("times", self.times, "give at least two times")
        if len(self.times) != len(self.values):
            raise self.fail(
                "values",
                self.values,
                f"{len(self.values)} for {len(self.times)} times; give one for each",
            )
        for k, (early, late) in enumerate(
            zip(self.times[:-1], self.times[1:], strict=True)
        ):
            if not late > early:
                raise self.fail(f"times[{k + 1}]", late, f"must be > {early:g} s")

    def breaks(self) -> tuple[float, ...]:
        # The third derivative jumps at every inner knot.
        return self.times[1:-1]

    def span(self) -> tuple[float, float]:
        return (self.times[0], self.times[-1])

    @cached_property
    def _coefficients(self) -> NDArray[np.float64]:
        # Imported here: it costs a tenth of a second that most runs do not need.
        from scipy.interpolate import CubicSpline

        return CubicSpline(self.times, self.values, bc_type="natural").c

    def parameters(self) -> list[float]:
        c = self._coefficients
        n = len(self.times)
        return [float(n), *self.times, *(float(x) for x in c.T.ravel())]

    @staticmethod
    def evaluate(p, t, s):
        n = int(p[0])
        low, high = 0, n - 1
        while high - low > 1:
            middle = (low + high) // 2
            if t < p[1 + middle]:
                high = middle
            else:
                low = middle
        o = 1 + n + 4 * low
        u = t - p[1 + low]
        s[0] = p[o + 3] + u * (p[o + 2] + u * (p[o + 1] + u * p[o]))
        s[1] = p[o + 2] + u * (2.0 * p[o + 1] + 3.0 * u * p[o])
        s[2] = 2.0 * p[o + 1] + 6.0 * u * p[o]


@dataclass(frozen=True, kw_only=True)
class Expression(TimeLaw):
    """s(t) as text, e.g. "0.8*sin(pi*t)"; both derivatives follow from the text.

    Of a drive or support neither s nor its rate may jump; a run refuses it. The text
    may hold::
    """

    __doc__ = (
        f"{(__doc__ or '').rstrip()}\n\n{indent(describe(TIME_VARIABLES), 8 * ' ')}"
    )

    row_kernel: ClassVar[str] = "mechanics.program:time_law"

    text: str

    def check(self) -> None:
        self.parameters()

    def programs(self) -> list[tuple[float, ...]]:
        return [parse(self.text, TIME_VARIABLES, "Expression, text")]

    def parameters(self) -> list[float]:
        return list(self.programs()[0])
