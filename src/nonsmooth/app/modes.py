"""`nonsmooth modes`: mass, frequencies and shapes of flexible bodies."""

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

SHORT = "mass, frequencies and shapes of flexible bodies"
HELP = """\
Reduce the flexible bodies of a system to their modes. Prints of each its mass, the
frequencies that are kept, the shapes with which it answers to loads, and how much of
the static displacement of its points and patches is in neither.

examples:
  nonsmooth modes transverse_bars
  nonsmooth modes ball_on_beam --set modes=40 --plot modes.png
  nonsmooth modes model.yaml --json
"""

LOADS = ("force_x", "force_y", "couple")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "system", metavar="FILE", help="model file, or a built-in system"
    )
    add_set(parser)
    parser.add_argument("--plot", metavar="FILE", help="draw the lowest shapes")
    parser.add_argument("--json", action="store_true", help="print JSON")


def command(args: argparse.Namespace) -> int:
    """Print what the reduction of each body keeps and loses."""
    from nonsmooth.pack import pack

    model = read_model(args.system, args.set)
    with Bar(args.system):
        system = pack(model)
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
    width = 6
    for begin in range(0, len(kept), width):
        row = "".join(f"{value:12.6g}" for value in kept[begin : begin + width])
        print(f"  {row}")
    if more:
        print(f"{len(more)} shapes for loads, {min(more):.6g} to {max(more):.6g} Hz")
    if facts["lost"]:
        print("static displacement under a unit load that the shapes leave out:")
        rows = [
            [point, *(f"{100.0 * lost[k]:.3g} %" if k in lost else "" for k in LOADS)]
            for point, lost in facts["lost"].items()
        ]
        table(["", "force x", "force y", "couple"], rows)
