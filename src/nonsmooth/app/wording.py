"""Messages in the words of the command line: its options, not Python's arguments."""

from __future__ import annotations

import argparse
import re

# Arguments of `simulate` that are options, and no words of plain language.
_ONLY_OPTIONS = r"\b(max_step|rtol|atol|courant)\b"
_RULES = (
    (r"^Baumgarte: ", "--baumgarte: "),
    (r"^stabilisation = Baumgarte\(.*?\)", "--baumgarte"),
    (r"\bneeds step = \.\.\.", "needs --step H"),
    (r"\bset assemble=True", "give --assemble"),
    (r"\b(assemble|loose)=True", r"--\1"),
    (r"\b(branch)='(\w+)' or '(\w+)'", r"--\1 \2 or --\1 \3"),
    (r"\b(branch|method|scheme)='(\w+)'", r"--\1 \2"),
    (rf"(?<!-){_ONLY_OPTIONS}", r"--\1"),
    # "step" is a word as well: it is the option beside other options.
    (r"\bstep(?= (?:and|or) --courant)", "--step"),
    (r"(--rtol or|\(without) step\b", r"\1 --step"),
    ("--max_step", "--max-step"),
)


def in_options(text: str, args: argparse.Namespace) -> str:
    """Return a message of a run in the words of who gave these options.

    >>> args = argparse.Namespace(max_step=-1.0)
    >>> in_options("max_step = -1.0; must be > 0 s", args)
    '--max-step -1; must be > 0 s'
    """
    if begin := re.match(r"(\w+) = ('\w*'|[-+.\w]+)", text):
        given = getattr(args, begin[1], None)
        if given is not None:
            value = f"{given:g}" if isinstance(given, float) else str(given)
            option = begin[1].replace("_", "-")
            text = f"--{option} {value}{text[begin.end() :]}"
    for pattern, words in _RULES:
        text = re.sub(pattern, words, text)
    return text


def in_file(text: str) -> str:
    """Return a message about a start in the words of a model file."""
    return text.replace("set assemble=True", "set `assemble: true` in the model")
