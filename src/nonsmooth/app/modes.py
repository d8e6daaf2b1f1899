"""`nonsmooth modes`: modes of flexible bodies, and of a system at its equilibrium."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING, Any

from nonsmooth.app.bar import Bar
from nonsmooth.app.command import DONE, add_set, read_model
from nonsmooth.app.gallery import table
from nonsmooth.errors import ModelError

if TYPE_CHECKING:
    from nonsmooth.elements.flexible import Reduced
    from nonsmooth.pack import System

SHORT = "modes of flexible bodies, and of a system about its equilibrium"
HELP = """\
Reduce the flexible bodies of a system to their modes. Prints of each its mass, the
frequencies that are kept, the shapes with which it answers to loads, and how much of
the static displacement of its points and patches is in neither.

With --equilibrium, of any system: its static equilibrium near the start, whether that
is stable, and the frequencies of small vibrations about it, flexible bodies deformed by
their loads. --plot draws them, --report writes a page on which a chosen mode moves.

examples:
  nonsmooth modes transverse_bars
  nonsmooth modes ball_on_beam --set modes=40 --plot modes.png
  nonsmooth modes model.yaml --json
  nonsmooth modes ball_on_beam --equilibrium --report modes.html
"""

# Modes that are drawn, and numbers in a line.
MOST, ACROSS = 12, 6
LOADS = ("force_x", "force_y", "couple")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "system", metavar="FILE", help="model file, or a built-in system"
    )
    add_set(parser)
    parser.add_argument(
        "--equilibrium",
        action="store_true",
        help="of the system at rest, not of bodies",
    )
    parser.add_argument(
        "--at", type=float, default=0.0, metavar="T", help="time of drives, s (0)"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the lowest shapes")
    parser.add_argument(
        "--report", metavar="FILE", help="page of moving modes; with --equilibrium"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def command(args: argparse.Namespace) -> int:
    """Print what the reduction of each body keeps and loses."""
    from nonsmooth.pack import pack

    if args.report and not args.equilibrium:
        raise ModelError("--report: modes of a body do not move alone; --equilibrium")
    model = read_model(args.system, args.set)
    with Bar(args.system):
        system = pack(model)
    if args.equilibrium:
        return _about_rest(args, system)
    if not system.flexible:
        raise ModelError(
            f"{args.system}: no flexible body; try `nonsmooth modes ball_on_beam`"
        )
    found = {name: _facts(one) for name, one in system.flexible.items()}
    if args.json:
        print(json.dumps({"title": model.title, "bodies": found}, indent=1))
    else:
        print(f"{args.system}: {model.title or 'no title'}")
        for name, facts in found.items():
            _show(name, facts)
    if args.plot:
        from nonsmooth.views.mode_plot import plot_modes

        plot_modes(system, args.plot)
    return DONE


def _about_rest(args: argparse.Namespace, system: System) -> int:
    """Print and draw the modes of a system about its static equilibrium."""
    from nonsmooth.solve.equilibrium import equilibrium

    with Bar(args.system):
        rest = equilibrium(system, args.at)
    hertz = [None if math.isnan(f) else float(f) for f in rest.frequencies]
    n = min(MOST, len(hertz))
    names = {
        f"mode {k + 1}, {'unstable' if f is None else f'{f:.6g} Hz'}": k + 1
        for k, f in enumerate(hertz[:n])
    }
    if args.json:
        facts = {
            "title": system.model.title,
            "stability": rest.stability,
            "positions": rest.state.positions,
            "frequencies": hertz,
            "notes": rest.notes,
        }
        print(json.dumps(facts, indent=1))
    else:
        print(f"{args.system}: {system.model.title or 'no title'}")
        print(f"equilibrium: {rest.stability}, {len(hertz)} modes, Hz:")
        _print_row(["unstable" if f is None else f"{f:.6g}" for f in hertz])
        for note in rest.notes:
            print(f"note: {note}")
    runs = {name: rest.motion(k) for name, k in names.items()}
    if args.plot:
        from nonsmooth.views.mode_plot import plot_motions

        plot_motions(runs, args.plot)
    if args.report:
        from nonsmooth.views.report import report_choice

        report_choice(runs, args.report, system.model.title or args.system)
    return DONE


def _print_row(cells: list[str]) -> None:
    """Print numbers, some in a line."""
    for begin in range(0, len(cells), ACROSS):
        print("  " + "".join(f"{text:>12}" for text in cells[begin : begin + ACROSS]))


def _facts(one: Reduced) -> dict[str, Any]:
    """Return what is known of a body, in plain numbers; frequencies in Hz."""
    hertz = [math.sqrt(w2) / (2.0 * math.pi) for w2 in one.stiffness]
    n = len(hertz) if one.n_mode is None else one.n_mode
    return {
        "mass": float(one.mass),
        "inertia": float(one.inertia),
        "centre": [float(x) for x in one.centre],
        "nodes": len(one.mesh.nodes) if one.mesh is not None else None,
        "elements": len(one.mesh.cells) if one.mesh is not None else None,
        "frequencies": hertz[:n],
        "load_frequencies": hertz[n:],
        "lost": {
            name: dict(zip(LOADS, map(float, site.lost), strict=False))
            for name, site in one.sites.items()
        },
    }


def _show(name: str, facts: dict[str, Any]) -> None:
    x, y = facts["centre"]
    print(
        f"\n{name}: {facts['mass']:.6g} kg, {facts['inertia']:.6g} kg m^2, centre "
        f"({x:.6g}, {y:.6g}) m"
    )
    kept, more = facts["frequencies"], facts["load_frequencies"]
    if facts["nodes"]:
        print(f"{facts['nodes']} nodes, {facts['elements']} elements")
    print(f"{len(kept)} modes to {max(kept, default=0.0):.6g} Hz:")
    _print_row([f"{value:.6g}" for value in kept])
    if more:
        print(f"{len(more)} shapes for loads, {min(more):.6g} to {max(more):.6g} Hz")
    if facts["lost"]:
        print("static displacement under a unit load that the shapes leave out:")
        rows = [
            [point, *(f"{100.0 * lost[k]:.3g} %" if k in lost else "" for k in LOADS)]
            for point, lost in facts["lost"].items()
        ]
        table(["", "force x", "force y", "couple"], rows)
