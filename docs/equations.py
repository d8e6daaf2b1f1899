"""Equations as HTML: a small typesetter for lines of plain text.

A page writes an equation as it is said in the code, in a block of its own:

    ```eq
    F_N = max(0, K d^n + c d ḋ)        (1)
    ```

or, in a line of text, as $F_N$. Letters are quantities, in italics; words are upright,
and names of Greek letters become them: lam, mu, phi. `_x` and `^x` go down and up
(`_{abc}`, `^(abc)` for more than a word), and so do a digit or a sign that a quantity
ends with: z0, lam+. What two spaces or more divide stands in columns, as in the text; a
number in brackets after some space is the paper's.
Nothing is fetched and nothing runs in the browser; without HTML it is still readable.
"""

from __future__ import annotations

import html
import re
from itertools import pairwise

GREEK = dict(
    alpha="α", beta="β", gamma="γ", delta="δ", eta="η", theta="θ", lam="λ", mu="μ",
    rho="ρ", sigma="σ", tau="τ", phi="φ", psi="ψ", omega="ω",
)  # fmt: skip
# Upright although they look like quantities.
WORDS = frozenset(["Eq", "Eqs", "Sgn", "Σ", "∂"])
# What follows an a that is no quantity.
ARTICLE = re.compile(r"\s[a-z]{4,}")
# A word as long as this under or above a letter is a word; a shorter one are indices.
LONG = 5
# Signs that mean something in Markdown, and those that a keyboard lacks.
SIGNS = {sign: f"&#{ord(sign)};" for sign in "*_|[]`"} | {"<=": "≤", ">=": "≥"}
_BLOCK = re.compile(r"^```eq\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`[^`]*`|\$([^$\n]+)\$")
_NUMBER = re.compile(r"^(.*?\S)\s{2,}\((?:Eqs?\. )?([^()=]*\d[^()=]*)\)$")
_CELL = re.compile(r"\S(?:.*?\S)??(?=\s{2,}|\s*$)")
_LETTER = r"[^\W\d_²³¹½⁰-ₜ][\u0300-\u036f]*"
_TOKEN = re.compile(
    r"(?P<shift>[_^])(?:\{(?P<group>[^}]*)\}|\((?P<round>[^()]*)\)"
    r"|(?P<short>[+−\-±*]|[^\W_]+))"
    r"|(?P<figure>\d[\d.]*(?:e[−-]?\d+)?)"
    rf"|(?P<word>{_LETTER}(?:{_LETTER})*)(?P<index>\d+)?"
    r"|(?<=[\w\u0300-\u036f])(?P<sign>[+−±*-])(?=[\s,)|]|$)"
    r"|(?P<other><=|>=|.)"
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
    """Return the lines of one block as HTML, its cells in columns."""
    lines = text.rstrip("\n").split("\n")
    numbers = [_NUMBER.match(line) for line in lines]
    lines = [m[1] if m else line for m, line in zip(numbers, lines, strict=True)]
    cells = [list(_CELL.finditer(line)) for line in lines]
    starts = sorted({cell.start() for row in cells for cell in row})
    rows, last = list[str](), len(starts) + 1
    for k, (row, number) in enumerate(zip(cells, numbers, strict=True), start=1):
        edges = [starts.index(cell.start()) + 1 for cell in row]
        for cell, (edge, end) in zip(row, pairwise([*edges, last]), strict=True):
            at = f"{k}/{edge}/{k}/{end}"
            rows.append(f"<span style='grid-area:{at}'>{inline(cell[0])}</span>")
        if number:
            tail = f"grid-area:{k}/{last}"
            words = html.escape(number[2])
            rows.append(f"<span class='eq-number' style='{tail}'>({words})</span>")
    columns = f"grid-template-columns:repeat({len(starts)},max-content) 1fr"
    # A blank line parts what stands above and below it.
    heights = " ".join("auto" if row else "0.6em" for row in cells)
    style = f"{columns};grid-template-rows:{heights}"
    return f"<div class='eq' style='{style}'>{''.join(rows)}</div>"


def inline(text: str, is_shifted: bool = False) -> str:
    """Return one formula as HTML."""
    parts: list[str] = []
    for found in _TOKEN.finditer(text):
        if shift := found["shift"]:
            inner = found["group"] or found["round"] or found["short"] or ""
            parts.append(shifted(shift, inner))
        elif word := found["word"]:
            is_article = word == "a" and ARTICLE.match(text, found.end())
            parts.append(word if is_article else _word(word, is_shifted))
            parts.append(shifted("_", found["index"]) if found["index"] else "")
        elif sign := found["sign"]:
            parts.append(shifted("^", sign))
        else:
            other = found["figure"] or found["other"]
            parts.append(SIGNS.get(other, html.escape(other)))
    return "".join(parts)


def shifted(shift: str, text: str) -> str:
    """Return what stands below or above a letter."""
    tag = "sub" if shift == "_" else "sup"
    return f"<{tag}>{inline(text, True)}</{tag}>"


def _word(word: str, is_shifted: bool) -> str:
    """Return a quantity in italics, a word upright."""
    letters = re.sub(r"[\u0300-\u036f]", "", word)
    if word in GREEK:
        return f"<i>{GREEK[word]}</i>"
    if letters[0] == "d" and len(letters) == 2 and letters[1] not in "o":
        return f"d<i>{word[1:]}</i>"  # of an integral
    is_matrix = letters[0].isupper() and len(letters) <= 3
    is_greek = any("α" <= letter <= "ω" for letter in letters.lower())
    is_quantity = len(letters) == 1 or is_matrix or is_greek
    is_quantity &= word not in WORDS
    is_quantity |= is_shifted and len(letters) < LONG
    return f"<i>{word}</i>" if is_quantity else html.escape(word)
