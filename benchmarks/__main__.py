"""Run benchmarks: `./dev bench [case ...]`; without a case, all of them.

Every case is a module of this package with a function `run() -> list[Row]`. Rows go
to `results/<system>.csv`, one file per kind of machine, and to the screen. Times are
CPU seconds of this process, or of a child where a cold start is measured.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib
import os
import platform
from pathlib import Path

from benchmarks.common import Row

CASES = (
    "startup",
    "n_four_bar",
    "laws",
    "compactor",
    "free_standing",
    "belt",
    "blocks",
    "apart",
    "memory",
    "joints",
    "bars",
    "pendulum",
    "stacks",
    "flexible_slider",
    "waves",
    "studies",
    "viewer",
    "profile",
)
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Run the chosen cases."""
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--no-save", action="store_true", help="print only")
    arguments = parser.parse_args()
    unknown = set(arguments.cases) - set(CASES)
    if unknown:
        parser.error(f"no case {', '.join(sorted(unknown))}; valid: {', '.join(CASES)}")
    for case in arguments.cases or CASES:
        rows = importlib.import_module(f"benchmarks.{case}").run()
        for row in rows:
            print(f"{case:12} {row.what:58} {row.value:12.5g} {row.unit:6} {row.note}")
        if not arguments.no_save:
            save(case, rows)


def save(case: str, rows: list[Row]) -> None:
    """Replace the rows of a case in this machine's file."""
    RESULTS.mkdir(exist_ok=True)
    name = f"{platform.system()}-{platform.machine()}-{os.cpu_count()}cores".lower()
    path = RESULTS / f"{name}.csv"
    header = ["date", "case", "what", "value", "unit", "note"]
    kept: list[list[str]] = []
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            kept = [line for line in csv.reader(file) if line[1] not in (case, "case")]
    today = datetime.date.today().isoformat()
    new = [
        [today, case, row.what, f"{row.value:.6g}", row.unit, row.note] for row in rows
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = sorted(kept + new, key=lambda line: line[1])
        csv.writer(file).writerows([header, *lines])


if __name__ == "__main__":
    main()
