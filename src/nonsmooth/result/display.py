"""What a notebook shows of tables."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

# Rows that are shown; the rest is counted.
MAX_ROWS = 30


def rows_html(head: Sequence[str], rows: Sequence[Iterable[object]], note: str) -> str:
    """Return a table as HTML, with a line above it."""
    lines = [f"<p>{html.escape(note)}</p>", "<table>", _row(head, "th")]
    lines += [_row(row, "td") for row in rows[:MAX_ROWS]]
    if len(rows) > MAX_ROWS:
        lines.append(_row([f"... and {len(rows) - MAX_ROWS} more"], "td"))
    return "\n".join([*lines, "</table>"])


def _row(cells: Iterable[object], tag: str) -> str:
    texts = (f"{c:.6g}" if isinstance(c, float) else str(c) for c in cells)
    inside = "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)
    return f"<tr>{inside}</tr>"
