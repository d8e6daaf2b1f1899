"""`nonsmooth draw`: a picture of a system as it starts."""

from __future__ import annotations

import argparse
import sys

from nonsmooth.app.bar import Bar
from nonsmooth.app.command import DONE, add_set, read_model

SHORT = "draw a system as it starts"
HELP = """\
Draw a built-in system or a model file as it starts: bodies, points, joints, drives,
contacts, with their names. What is wrong with the start, or noteworthy, is ringed in
red and said above the picture and in the terminal; nothing is simulated.

examples:
  nonsmooth draw model.yaml
  nonsmooth draw crank_rocker --set angle=0.6 --out start.svg
  nonsmooth draw compactor --forces --no-names
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "system", metavar="FILE", help="model file, or a built-in system"
    )
    add_set(parser)
    parser.add_argument(
        "--out",
        metavar="FILE",
        default="model.png",
        help="PNG, SVG or PDF, by its ending (default model.png)",
    )
    parser.add_argument("--no-names", action="store_true", help="write no names")
    parser.add_argument("--forces", action="store_true", help="draw contact forces")


def command(args: argparse.Namespace) -> int:
    """Draw the model; print what is to be said of its start."""
    from nonsmooth.solve.preview import draw, preview

    with Bar(args.system):
        start = preview(read_model(args.system, args.set))
        draw(start, args.out, names=not args.no_names, forces=args.forces)
    for warning in start.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(f"drawn in {args.out}")
    return DONE
