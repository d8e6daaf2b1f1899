"""The `nonsmooth` command.

Exit codes: 0 done, 1 the run failed or the file is not a valid model, 2 bad input,
130 interrupted. Results go to stdout; errors, notes and progress to stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import TextIOWrapper
from types import ModuleType

from nonsmooth import __version__
from nonsmooth.app import (
    cache,
    check,
    completion,
    draw,
    gallery,
    modes,
    run,
    schema,
    serve,
    sweep,
    warmup,
)
from nonsmooth.app.bar import Bar
from nonsmooth.app.command import (
    BAD_INPUT,
    DONE,
    FAILED,
    INTERRUPTED,
    Failed,
    Parser,
    sentence,
)
from nonsmooth.app.imports import import_script
from nonsmooth.errors import ModelError, NonsmoothWarning, SolveError, nearest

# Each has SHORT, a line for the list of commands; HELP, with examples at its end;
# add_arguments(parser); and command(args), which returns the exit code.
COMMANDS: Mapping[str, ModuleType] = {
    "gallery": gallery,
    "run": run,
    "sweep": sweep,
    "serve": serve,
    "check": check,
    "draw": draw,
    "modes": modes,
    "schema": schema,
    "warmup": warmup,
    "completion": completion,
    "cache": cache,
}

_HELP = """\
Simulate planar mechanisms: bodies, joints, drives, forces, contacts that touch and
separate, and friction in contacts and joints, which stick and slip.

A system is either built in (see `nonsmooth gallery`) or a model file in YAML or
JSON. `nonsmooth COMMAND --help` explains each command.
"""

_EXAMPLES = """\
examples:
  nonsmooth gallery                         which systems are built in
  nonsmooth gallery slider_crank            what it is, and its parameters
  nonsmooth run pendulum_chain              simulate it, print a summary
  nonsmooth run pendulum_chain --set n=3 --until 10 --every 0.01 --save run.csv
  nonsmooth run slider_crank --plot torque.png --plot-names motor.torque
  nonsmooth run compactor --set rotor_speed=25 --set eccentricity=0.15 --until 1.5
  nonsmooth run crank_rocker --set mu=0.3 --plot slider.png   friction in a joint
  nonsmooth run compactor --report run.html   see it move, in any browser
  nonsmooth sweep study.yaml --page study.html   many runs, over parameters
  nonsmooth serve                           the same in the browser, with sliders
  nonsmooth check model.yaml                is this file a valid model?
  nonsmooth draw model.yaml --out model.png   see it as it starts
  nonsmooth modes transverse_bars --plot modes.png   what flexible bodies keep
  nonsmooth schema --out model.schema.json  let your editor check model files
  nonsmooth run feeder.yaml --import my_laws.py   with a law of your own
  nonsmooth warmup                          compile once, so that no run waits
  nonsmooth cache                           what is kept on disk, and where
"""


def commands() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command."""
    found: dict[str, argparse.ArgumentParser] = {}
    _parser(found)
    return found


def _parser(found: dict[str, argparse.ArgumentParser] | None = None) -> Parser:
    parser = Parser(prog="nonsmooth", description=_HELP, epilog=_EXAMPLES)
    parser.add_argument(
        "--version", action="version", version=f"nonsmooth {__version__}"
    )
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    for name, module in COMMANDS.items():
        description, _, epilog = module.HELP.partition("examples:")
        sub = commands.add_parser(
            name,
            help=module.SHORT,
            description=description,
            epilog=f"examples:{epilog}" if epilog else "",
        )
        module.add_arguments(sub)
        _add_common(sub)
        if found is not None:
            found[name] = sub
        sub.set_defaults(command=module.command, parser=sub)
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    """Add what every command takes."""
    parser.add_argument(
        "--import",
        dest="imports",
        metavar="FILE.py",
        action="append",
        default=[],
        help="run a Python file first, which defines kinds of your own; repeatable",
    )
    parser.add_argument(
        "--quiet", action="store_true", help="print errors and warnings only"
    )


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments; what is not known is answered with the nearest that is."""
    parser = _parser()
    words = list(sys.argv[1:] if argv is None else argv)
    if not words:
        parser.print_help()
        raise SystemExit(DONE)
    if not words[0].startswith("-") and words[0] not in COMMANDS:
        parser.error(f"no command '{words[0]}'; {nearest(words[0], COMMANDS)}")
    args, extra = parser.parse_known_args(words)
    if not hasattr(args, "parser"):
        parser.error("give a command")
    if extra:
        options = [word for word in args.parser.format_usage().split() if "--" in word]
        known = [option.strip("[]") for option in options]
        what = "option" if extra[0].startswith("-") else "argument"
        hint = nearest(extra[0], known) if what == "option" else "one too many"
        args.parser.error(f"no {what} '{extra[0]}'; {hint}")
    return args


def _without_bar(args: argparse.Namespace) -> int:
    Bar.is_silent = True
    try:
        return args.command(args)
    finally:
        Bar.is_silent = False


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    if isinstance(sys.stdout, TextIOWrapper):
        # Titles and file names may have letters that a terminal does not.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        args = _arguments(argv)
        with warnings.catch_warnings():
            # What they say is among the notes of a result.
            warnings.simplefilter("ignore", NonsmoothWarning)
            for script in args.imports:
                import_script(script)
            if not args.quiet:
                return args.command(args)
            if getattr(args, "json", False):
                # It is what was asked for; the bar alone is left out.
                return _without_bar(args)
            with (
                open(
                    os.devnull, "w", encoding="utf-8", errors="backslashreplace"
                ) as nowhere,
                redirect_stdout(nowhere),
            ):
                return _without_bar(args)
    except SystemExit:  # after --help or --version
        return DONE
    except Failed as error:
        print(f"error: {error}", file=sys.stderr)
        return error.code
    except SolveError as error:
        print(f"error: {sentence(error)}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # The reader has gone, as in `nonsmooth gallery | head -1`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (ModelError, OSError) as error:
        print(f"error: {sentence(error)}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
