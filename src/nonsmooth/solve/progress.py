"""What a run tells on its way: how much is done, until when, what presses."""

from __future__ import annotations

import math
from collections.abc import Callable

# Contacts that are named; more are counted.
MOST_NAMES = 3


class Done(float):
    """The part of a run that is done, 0 to 1, with the time and what presses then."""

    t: float  # s
    closed: tuple[str, ...]  # contacts

    def __new__(
        cls, part: float, t: float = math.nan, closed: tuple[str, ...] = ()
    ) -> Done:
        """Return a number that knows more."""
        made = super().__new__(cls, part)
        made.t, made.closed = t, closed
        return made

    @property
    def words(self) -> str:
        """Time reached and contacts that press, for people."""
        if math.isnan(self.t):
            return ""
        names = ", ".join(self.closed[:MOST_NAMES])
        more = len(self.closed) - MOST_NAMES
        names += f" and {more} more" if more > 0 else ""
        return f"t = {self.t:.5g} s" + (f", pressing: {names}" if names else "")


Progress = Callable[[Done], None]
