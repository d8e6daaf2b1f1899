"""Equations as HTML: a small typesetter for lines of plain text.

A page writes an equation as it is said in the code, in a block of its own:

    ```eq
    F_N = max(0, K d^n + c d ḋ)        (1)
    ```

or, in a line of text, as $F_N$. Letters become italic, `_x` and `^x` go down and up
(`_{abc}` for more than a word), words such as max stay upright, and a number in
brackets after some space is the paper's.
Nothing is fetched and nothing runs in the browser; without HTML it is still readable.
"""

from __future__ import annotations

import html
import re

# Names of functions and words between formulas; all other words are quantities.
UPRIGHT = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "atan",
        "asin",
        "sgn",
        "Sgn",
        "max",
        "min",
        "det",
        "diag",
        "exp",
        "sqrt",
        "and",
        "or",
        "for",
        "with",
        "where",
        "if",
        "while",
        "otherwise",
        "at",
        "on",
        "of",
        "the",
        "every",
        "rest",
        "sliding",
        "sum",
        "all",
        "in",
        "is",
        "from",
        "to",
        "by",
        "open",
        "none",
        "const",
        "tanh",
        "sn",
        "coulomb",
        "viscous",
        "stribeck",
        "regularised",
        "dahl",
        "lugre",
        "goes",
        "up",
        "down",
        "it",
        "constant",
        "speed",
        "as",
    ]
)
# Signs that mean something in Markdown.
SIGNS = {sign: f"&#{ord(sign)};" for sign in "*_|[]`"}
_BLOCK = re.compile(r"^```eq\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`[^`]*`|\$([^$\n]+)\$")
_NUMBER = re.compile(r"^(.*?\S)\s{2,}\(([^()=]*\d[^()=]*)\)$")
_TOKEN = re.compile(
    r"(?P<shift>[_^])(?:\{(?P<group>[^}]*)\}|(?P<short>[+−\-±*]|[^\W_]+))"
    r"|(?P<word>[^\W\d_][\u0300-\u036f]*(?:[^\W\d_][\u0300-\u036f]*)*)"
    r"|(?P<other>.)"
)


def replaced(markdown: str) -> str:
    """Return a page with its equations typeset; other blocks of code stay."""
    parts = _FENCE.split(_BLOCK.sub(lambda found: block(found[1]), markdown))
    parts[::2] = [_INLINE.sub(span, part) for part in parts[::2]]
    return "".join(parts)


def span(found: re.Match[str]) -> str:
    """Return a formula in a line; code in backticks stays."""
    return (
        found[0]
        if found[1] is None
        else f"<span class='eq-in'>{inline(found[1])}</span>"
    )


def block(text: str) -> str:
    """Return the lines of one block as HTML."""
    rows: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        found = _NUMBER.match(line)
        formula, number = (found[1], found[2]) if found else (line, "")
        tail = f"<span class='eq-number'>({html.escape(number)})</span>"
        body = f"<span>{inline(formula)}</span>"
        rows.append(f"<div>{body}{tail if number else ''}</div>")
    return f"<div class='eq'>{''.join(rows)}</div>"


def inline(text: str) -> str:
    """Return one formula as HTML."""
    parts: list[str] = []
    for found in _TOKEN.finditer(text):
        if shift := found["shift"]:
            tag = "sub" if shift == "_" else "sup"
            inner = found["group"] if found["group"] is not None else found["short"]
            parts.append(f"<{tag}>{inline(inner)}</{tag}>")
        elif word := found["word"]:
            is_upright = word in UPRIGHT
            parts.append(html.escape(word) if is_upright else f"<i>{word}</i>")
        else:
            parts.append(SIGNS.get(found["other"], html.escape(found["other"])))
    return "".join(parts)
