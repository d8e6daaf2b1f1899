"""What an audit finds: the worst violation of each check, with who and when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One check that one element failed, at its worst instant."""

    check: str
    who: str
    t: float  # s
    value: float  # in the check's own unit
    bound: float

    def __str__(self) -> str:
        """Return a readable line."""
        return (
            f"{self.check}: {self.who} at t = {self.t:.9g} s, "
            f"{self.value:.3g}, at most {self.bound:.3g}"
        )


class Notes:
    """Findings of one audit, and how near to its bound every check came."""

    def __init__(self) -> None:
        self.worst: dict[tuple[str, str], Finding] = {}
        self.margins: dict[str, float] = {}  # largest value over bound, by check
        self.counts: dict[str, int] = {}  # numbers compared, by check

    def compare(
        self, check: str, who: str, t: Array, value: Array, bound: Array | float
    ) -> None:
        """Note where values exceed their bounds; what is not finite does."""
        value, bound, t = np.broadcast_arrays(
            np.asarray(value, dtype=float), np.asarray(bound, dtype=float), t
        )
        self.counts[check] = self.counts.get(check, 0) + value.size
        if value.size == 0:
            return
        ratio = np.where(value > 0.0, value / np.maximum(bound, 1e-300), 0.0)
        ratio[~np.isfinite(value)] = np.inf
        k = int(np.argmax(ratio))
        worst = float(ratio[k])
        self.margins[check] = max(self.margins.get(check, 0.0), worst)
        if worst <= 1.0:
            return
        old = self.worst.get((check, who))
        if old is None or worst > old.value / max(old.bound, 1e-300):
            self.worst[check, who] = Finding(
                check=check,
                who=who,
                t=float(t[k]),
                value=float(value[k]),
                bound=float(bound[k]),
            )

    @property
    def findings(self) -> list[Finding]:
        """All findings, the earliest first."""
        return sorted(self.worst.values(), key=lambda f: f.t)
