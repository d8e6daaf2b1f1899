"""`nonsmooth gallery`: list the built-in systems, or explain one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from nonsmooth import gallery
from nonsmooth.app.command import DONE

SHORT = "list the built-in systems, or explain one"
HELP = """\
List the built-in systems, or explain one: its story, the names of its bodies and
joints, its parameters with units and defaults.

examples:
  nonsmooth gallery
  nonsmooth gallery crank_rocker
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="the system to explain")


def command(args: argparse.Namespace) -> int:
    """Print the list, or the story and the parameters of one system."""
    if args.name is None:
        rows = [[name, gallery.summary(name)] for name in gallery.names()]
        table(["system", "what it is"], rows)
        print("\n`nonsmooth gallery NAME` explains one, `nonsmooth run NAME` runs it.")
        return DONE
    name: str = args.name
    parameters = gallery.parameters(name)
    print(f"{name}: {gallery.summary(name)}\n\n{gallery.describe(name)}\n")
    rows = [
        [p.name, _shown(p.default), p.unit, _range(p), p.type, p.meaning]
        for p in parameters
    ]
    table(["parameter", "default", "unit", "range", "type", "meaning"], rows)
    example = f"--set {parameters[0].name}={_shown(parameters[0].default)} "
    print(
        f"\nRuns for {gallery.duration(name):.4g} s unless told otherwise:\n"
        f"  nonsmooth run {name} {example if parameters else ''}"
        f"--until {gallery.duration(name):.4g}"
    )
    return DONE


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _range(parameter: gallery.Parameter) -> str:
    """Return the ends of what is worth trying; others may be valid as well."""
    if parameter.low is None or parameter.high is None:
        return ""
    return f"{parameter.low:g} to {parameter.high:g}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as wide as the terminal, text as wide as it needs otherwise."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        table = Table(*head, box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for row in rows:
            table.add_row(*row)
        Console(highlight=False, markup=False).print(table)
        return
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    for row in (head, *rows):
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        print("  ".join(cells).rstrip())
