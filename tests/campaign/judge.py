"""What an answer to bad input must be: one sentence with place, value and remedy."""

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nonsmooth.errors import ModelError, SolveError

# Words of which a remedy has one: what would be valid, or what to do.
REMEDY = re.compile(
    r"\b(give|must|did you mean|valid|use|write|leave|at least|at most|choose|try|"
    r"finite|too large|split|save the file|begin with|expected|needs?|only|rename|"
    r"there (is|are) none|between|in quotes|once|delete|define|close|remove|name|"
    r"instead|not allowed|reads format|outside|no body is|no patch is|No such file|"
    r"Is a directory|no folder|take|belongs|check|exceeds?|cannot|numbers end|another|"
    r"omit|exchange|indent|mend|holds one|keep one|see nonsmooth)\b"
)
LONGEST = 900  # letters of a message


@dataclass
class Tally:
    """What became of all cases."""

    n: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)

    def note(self, what: str, case: str, text: str = "") -> None:
        self.n[what] += 1
        if what not in ("refused", "accepted"):
            self.bad.append(f"{what}: {case}: {text[:300]}")


def told(value: Any) -> list[str]:
    """Return texts of which a message about a value has one."""
    if isinstance(value, float) and not math.isfinite(value):
        return [repr(value)]
    if isinstance(value, int) and abs(value) > 10**300:
        return ["a huge number", str(value)[:10]]
    if value is None:
        return ["None", "null"]
    if isinstance(value, bool):
        return [repr(value), str(value).lower()]
    if isinstance(value, int | float):
        return [repr(value), repr(float(value)), f"{value:g}", str(value)]
    if isinstance(value, str):
        return [repr(value)[:20], value[:20], repr(value)[1:20]]
    return [repr(value)[:20], str(value)[:10], repr(value)[:8], "[", "{"]


def judge(
    tally: Tally,
    case: str,
    call: Callable[[], object],
    *,
    place: tuple[str, ...] = (),
    value: Any = ...,
    must_refuse: bool = True,
) -> None:
    """Call, and note what the answer is worth.

    Parameters
    ----------
    place : tuple of str
        The message has one of these.
    value : object, optional
        What was given; the message shows it.
    must_refuse : bool
        Whether to accept it would be wrong.
    """
    try:
        call()
    except (ModelError, SolveError, OSError) as error:
        text = str(error)
    except Exception as error:
        tally.note("traceback", case, f"{type(error).__name__}: {error}")
        return
    else:
        tally.note("nonsense accepted" if must_refuse else "accepted", case)
        return
    what = "refused"
    if len(text.splitlines()) != 1 or len(text) > LONGEST or "object at 0x" in text:
        what = "not one sentence"
    elif place and not any(word in text for word in place):
        what = "no place"
    elif value is not ... and not any(shown in text for shown in told(value)):
        what = "no value"
    elif not REMEDY.search(text):
        what = "no remedy"
    tally.note(what, case, text)
