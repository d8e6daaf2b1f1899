"""Random models, run and audited: `./dev fuzz [--n N] [--seed S] [--family F]`.

Every family makes its cases from seeds S, S + 1, ...; the same seed is the same case on
every machine. The exit code is 1 if any run is silently wrong, or fails without a
physical reason, or is too slow. docs/fuzz.md says how to read the report.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from fuzz.families import FAMILIES
from fuzz.outcome import CLEAN, Outcome
from fuzz.report import save, show
from fuzz.workers import run_all

# Columns of a report that is not shown on a terminal.
WIDTH = 120


def main() -> int:
    """Run the cases asked for and report."""
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    parser.add_argument("--n", type=int, default=20, help="cases of each family")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--family", action="append", metavar="F", help=", ".join(FAMILIES)
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=float, default=30.0, help="CPU s of one run")
    parser.add_argument(
        "--no-agreement", action="store_true", help="leave out tighter runs"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all outcomes")
    arguments = parser.parse_args()
    names = [name for text in arguments.family or [] for name in text.split(",")]
    if unknown := set(names) - set(FAMILIES):
        valid = ", ".join(FAMILIES)
        parser.error(f"no family {', '.join(sorted(unknown))}; valid: {valid}")
    if arguments.n < 1 or arguments.jobs < 1 or arguments.seed < 0:
        parser.error("--n and --jobs must be >= 1, --seed >= 0")
    seeds = range(arguments.seed, arguments.seed + arguments.n)
    tasks = [(name, seed) for seed in seeds for name in names or FAMILIES]
    outcomes = _run(tasks, arguments)
    order = {name: k for k, name in enumerate(FAMILIES)}
    outcomes.sort(key=lambda o: (order[o.family], o.seed))
    # A file or a pipe has no width of its own.
    screen = Console()
    show(outcomes, screen if screen.is_terminal else Console(width=WIDTH))
    if arguments.json:
        save(outcomes, arguments.json)
    is_bad = any(o.kind != CLEAN and not o.is_physical for o in outcomes)
    return 1 if is_bad else 0


def _run(tasks: list[tuple[str, int]], arguments: argparse.Namespace) -> list[Outcome]:
    outcomes: list[Outcome] = []
    console = Console(stderr=True)
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("running", total=len(tasks))
        runs = run_all(
            tasks, arguments.jobs, arguments.limit, not arguments.no_agreement
        )
        try:
            for outcome in runs:
                outcomes.append(outcome)
                progress.update(bar, advance=1, description=outcome.family)
        except KeyboardInterrupt:
            console.print("interrupted: what was done until now is shown")
    return outcomes


if __name__ == "__main__":
    raise SystemExit(main())
