"""Comparisons that the page Validation shows, and whether it still says the truth."""

import json
from pathlib import Path
from typing import Any

import numpy as np

KEPT = Path(__file__).parent / "data" / "validation.json"
# Other processors and versions of libraries round differently, and what grows from
# round-off differs by as much; a lost digit is noticed. Errors a thousand times below
# what is asked for may come and go.
GROWN, NOTHING = 10.0, 1e-3

NUMBERS = ("size", "within", "error")

Row = dict[str, Any]


def key(row: Row) -> str:
    """Return what names a comparison."""
    return f"{row['test']}: {row['what']}"


def read() -> dict[str, Row]:
    """Return the kept comparisons by their names."""
    rows = json.loads(KEPT.read_text(encoding="utf-8"))
    return {key(row): row for row in rows}


def write(rows: dict[str, Row]) -> None:
    """Keep the comparisons, one in a line; their numbers with three digits."""
    lines: list[str] = []
    for name in sorted(rows):
        numbers = {n: float(f"{rows[name][n]:.3g}") for n in NUMBERS}
        lines.append(json.dumps(rows[name] | numbers, ensure_ascii=False))
    KEPT.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def compared(test, what, found, wanted, within, unit, against) -> Row:
    """Return the largest difference of two arrays as a row."""
    wanted = np.asarray(wanted, dtype=np.float64)
    found = np.asarray(found, dtype=np.float64)
    if found.shape != wanted.shape:
        raise ValueError(f"{what}: shapes {found.shape} and {wanted.shape}")
    error = np.max(np.abs(found - wanted))
    numbers = {"size": np.max(np.abs(wanted)), "within": within, "error": error}
    row = {"test": test, "what": what, "against": against, "unit": unit}
    return row | {name: float(value) for name, value in numbers.items()}


def worse(one: Row, two: Row) -> Row:
    """Return the one of two rows with the larger error, beside what is asked."""
    is_first = one["error"] * two["within"] >= two["error"] * one["within"]
    return one if is_first else two


def complaint(row: Row, kept: dict[str, Row]) -> str:
    """Return why the page would be wrong, or nothing."""
    said = kept.get(key(row))
    if said is None:
        return f"'{row['what']}' is not in {KEPT.name}"
    for name in ("against", "unit"):
        if row[name] != said[name]:
            return f"{KEPT.name} says {name} = {said[name]!r}, the test {row[name]!r}"
    limit = max(GROWN * said["error"] / said["within"], NOTHING)
    # Not <=: an error may be NaN.
    if not row["error"] <= limit * row["within"]:
        return (
            f"error {row['error']:.3g} {row['unit']}; the page says {said['error']:g}"
        )
    return ""
