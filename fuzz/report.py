"""The report: a table by family, messages, and a seed for every failure."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from fuzz.outcome import CLEAN, ERROR, SLOW, WRONG, Outcome, classify

# Traits whose shares are shown, and how the columns are called.
SHARES = {
    "sticks": "stick",
    "lifts off": "lift",
    "dependent": "depend",
    "corner on corner": "corner",
    "crossed": "crossed",
}
# Seeds shown for each message or check.
MOST_SEEDS = 8


def _percent(part: int, whole: int) -> str:
    return f"{100.0 * part / whole:.0f}" if part else "-"


def by_family(outcomes: list[Outcome]) -> dict[str, list[Outcome]]:
    """Return outcomes of each family, by seed."""
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.family, []).append(outcome)
    return {k: sorted(v, key=lambda o: o.seed) for k, v in found.items()}


def show(outcomes: list[Outcome], console: Console) -> None:
    """Print the table, then what failed, with seeds."""
    table = Table(title="fuzz: runs by family, shares in per cent", box=SIMPLE)
    table.add_column("family", no_wrap=True)
    kinds = ("runs", "clean", "wrong", "error", "(physical)", "slow")
    for name in (*kinds, *SHARES.values(), "CPU s"):
        table.add_column(name, justify="right", no_wrap=True)
    families = by_family(outcomes)
    for family, own in families.items():
        table.add_row(family, *_row(own))
    if len(families) > 1:
        table.add_section()
        table.add_row("all", *_row(outcomes))
    console.print(table)
    for title, groups in (
        ("silently wrong", _groups(outcomes, WRONG)),
        ("errors", _groups(outcomes, ERROR)),
        ("errors of the audit until a run stopped", _late(outcomes)),
        ("too slow", _groups(outcomes, SLOW)),
    ):
        if groups:
            console.print(f"\n[bold]{title}[/bold]")
        for (family, what), own in groups.items():
            seeds = ", ".join(str(o.seed) for o in own[:MOST_SEEDS])
            more = ", ..." if len(own) > MOST_SEEDS else ""
            console.print(
                f"  {family:14} {len(own):4}  {what}  (seeds {seeds}{more})",
                highlight=False,
                markup=False,
            )
    bad = [o for o in outcomes if o.kind != CLEAN and not o.is_physical]
    if bad:
        console.print(f"\nto repeat the first: {bad[0].repeat}", highlight=False)
    if len(outcomes) == 1:
        for line in (outcomes[0].message, *outcomes[0].findings):
            console.print(f"  {line}" if line else "", highlight=False, markup=False)


def _row(own: list[Outcome]) -> list[str]:
    n = len(own)
    count = Counter(o.kind for o in own)
    physical = sum(o.is_physical for o in own)
    shares = [_percent(sum(name in o.traits for o in own), n) for name in SHARES]
    cpu = f"{sum(o.cpu for o in own):.0f}"
    cells = (count[CLEAN], count[WRONG], count[ERROR], physical, count[SLOW])
    return [str(n), *(str(c) if c else "-" for c in cells), *shares, cpu]


def _groups(outcomes: list[Outcome], kind: str) -> dict[tuple[str, str], list[Outcome]]:
    """Return failures of a kind by family and by what failed, most frequent first."""
    found: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.kind != kind:
            continue
        what = ", ".join(outcome.checks)
        if kind != WRONG:
            what = classify(outcome.message)
        if outcome.is_physical:
            what = f"[physical] {what}"
        found.setdefault((outcome.family, what), []).append(outcome)
    return dict(sorted(found.items(), key=lambda item: (item[0][0], -len(item[1]))))


def _late(outcomes: list[Outcome]) -> dict[tuple[str, str], list[Outcome]]:
    """Return runs that stopped with an error and were wrong before that."""
    found: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.kind in (ERROR, SLOW) and outcome.checks:
            key = (outcome.family, ", ".join(outcome.checks))
            found.setdefault(key, []).append(outcome)
    return found


def save(outcomes: list[Outcome], path: Path) -> None:
    """Write all outcomes for programs."""
    rows = [dataclasses.asdict(o) | {"repeat": o.repeat} for o in outcomes]
    rows.sort(key=lambda row: (row["family"], row["seed"]))
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
