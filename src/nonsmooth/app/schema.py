"""`nonsmooth schema`: print the JSON Schema of model files."""

from __future__ import annotations

import argparse
import json

from nonsmooth.app.command import DONE
from nonsmooth.files import replacing

SHORT = "print the JSON Schema of model files"
HELP = """\
Print the JSON Schema of model files. An editor that knows it completes and checks
model files while you type; in a YAML file, for most editors, by the first line

  # yaml-language-server: $schema=model.schema.json

examples:
  nonsmooth schema --out model.schema.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("--out", metavar="FILE", help="write it there, not to stdout")


def command(args: argparse.Namespace) -> int:
    """Print the schema, or write it."""
    from nonsmooth import io

    text = json.dumps(io.schema(), indent=2)
    if args.out is None:
        print(text)
    else:
        with replacing(args.out) as path:
            path.write_text(text + "\n", encoding="utf-8")
    return DONE
