"""The `nonsmooth` command.

Exit codes: 0 done, 1 the run failed or the file is not a valid model, 2 bad input,
130 interrupted. Results go to stdout; errors, notes and progress to stderr.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from nonsmooth import __version__, gallery
from nonsmooth.app.settings import with_field
from nonsmooth.errors import (
    Interrupted,
    ModelError,
    NonsmoothWarning,
    SolveError,
    nearest,
)
from nonsmooth.gallery._convert import convert
from nonsmooth.model import Model
from nonsmooth.solve.options import BRANCHES, METHODS, SCHEMES

if TYPE_CHECKING:
    from nonsmooth.result import Result, Samples
    from nonsmooth.solve.solvability import JointForce
    from nonsmooth.pack import System
    from nonsmooth.views.scene import Parameter as ShownParameter

COMMANDS = ("gallery", "run", "serve", "check", "schema", "warmup")
DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

MODEL_SUFFIXES = (".yaml", ".yml", ".json")
SAVE_SUFFIXES = (".csv", ".parquet", ".npz")
PLOT_SUFFIXES = (".png", ".svg", ".pdf")
EVENT_SUFFIXES = (".csv",)
REPORT_SUFFIXES = (".html", ".htm")
# Packages that are not always installed.
NEEDS = {".parquet": "pyarrow", **dict.fromkeys(PLOT_SUFFIXES, "matplotlib")}
# Numbers a saved table may hold: 1.6 GB in memory.
MAX_SAVED = 200_000_000
DEFAULT_PORT, MAX_PORT = 8765, 65535
# A progress bar appears after this long, s.
PATIENCE = 1.0
# Less than this is round-off beside forces of order one, N.
FORCE_NOISE = 1e-12
# Above this many constraints `check` does not count the redundant ones.
MAX_RANKED = 600


class _Failed(Exception):
    """The command cannot go on; its text is the error's line."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


# ---- arguments -------------------------------------------------------------------

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
  nonsmooth serve                           the same in the browser, with sliders
  nonsmooth check model.yaml                is this file a valid model?
  nonsmooth schema --out model.schema.json  let your editor check model files
  nonsmooth warmup                          compile once, so that no run waits
"""

_GALLERY_HELP = """\
List the built-in systems, or explain one: its story, the names of its bodies and
joints, its parameters with units and defaults.

examples:
  nonsmooth gallery
  nonsmooth gallery crank_rocker
"""

_RUN_HELP = """\
Simulate a built-in system or a model file, and print a summary: time reached,
events, extremes of motion and forces, what contacts and joints with friction did,
energy balance, constraint violation, cost.

examples:
  nonsmooth run pendulum_chain --set n=3 --set angle=0.5 --until 10
  nonsmooth run slider_crank --set speed=20 --set slider.mass=2
  nonsmooth run model.yaml --until 5 --every 0.01 --save run.csv
  nonsmooth run model.yaml --until 5 --json > run.json
  nonsmooth run pendulum_chain --plot tip.png --plot-names rod2.tip
  nonsmooth run crank_rocker --method euler --step 1e-3 --baumgarte 10 100
  nonsmooth run belt --events --save-events events.csv --plot belt.png
  nonsmooth run compactor --until 0.5 --report run.html
  nonsmooth run compactor --until 0.05 --scheme paper --step 1e-6
  nonsmooth run crank_rocker --set driven=rocker --set angle=2.2 --branch least

--set KEY=VALUE
  A parameter of a built-in system (n=3, driven=rocker), or, here and in files, a
  number or choice of a named element (crank.mass=2, motor.law.rate=5,
  sole.friction.mu=0.2).

columns of saved files, and names to plot
  BODY.x .y .theta .vx .vy .omega .ax .ay .alpha    BODY.POINT.x .y .vx .vy .ax .ay
  JOINT.force_x .force_y .torque    FORCE.force_x .force_y .torque
  DRIVE.torque or DRIVE.force
  CONTACT.gap .gap_rate .normal_force .friction_force .slip_velocity .mode
  JOINT.load .normal_force .friction_force .slip_velocity .mode, with friction; of a
  pin .friction_torque, of a slot .side, of a guide .side .front_force .rear_force
  All in SI units and radians. The mode is 0 for stick, 1 or -1 for slip by its sign,
  2 for open, 3 for released: overlap without force. The side is 1 or -1 by the flank
  that pushes, along the normal or against it; 2 if only the front end of a block is
  pushed along it, -2 if only the rear end is.

--branch NAME
  What to do where friction in joints has not exactly one solution: stop there and
  print those found (unique, the default), follow the one at hand (continue), or take
  the one of least friction (least). Friction that large locks a rigid mechanism.

--json prints one object:
  model, status, message        status is "finished", "stopped" or "failed"
  t_start, t_end                s
  events, n_events              number of events by kind, and in all
  energy_residual, energy_exchanged    J
  violation                     largest constraint error, m or rad
  notes, options, cost
  final                         t, positions (x, y, theta), velocities, by body
  extremes                      min, t_min, max, t_max by quantity; the force of a
                                joint is its magnitude, the slip velocity of a
                                contact that while it presses
  contacts                      by contact: events by kind, time in each mode, s
  joints                        by joint with friction: the same, and the work of
                                friction, J
  verification                  with --verify
  event_list                    with --events: t, element, kind, action; of contacts
                                and joints before, after (modes), cause (the contact
                                or joint whose event it was), slip_velocity,
                                normal_force, friction_force (each before and after)

exit code: 0 done, 1 the run failed, 2 bad input, 130 interrupted
"""

_SERVE_HELP = """\
Open the app in the browser: pick a built-in system or a model file, change its
parameters, run it, see it move, compare runs. The server answers this computer
only. Ctrl-C ends it.

examples:
  nonsmooth serve
  nonsmooth serve models --port 8000 --no-browser
"""

_CHECK_HELP = """\
Read a model file, pack it and check its start. Prints what was found: bodies,
joints, degrees of freedom, redundant constraints; with friction in joints also
whether its forces have one solution at the start, and how much more friction they
bear. Exit code 1 if it is not valid.

examples:
  nonsmooth check model.yaml
  nonsmooth check crank_rocker --set driven=rocker --set angle=2.1
"""

_SCHEMA_HELP = """\
Print the JSON Schema of model files. An editor that knows it completes and checks
model files while you type; in a YAML file, for most editors, by the first line

  # yaml-language-server: $schema=model.schema.json

examples:
  nonsmooth schema --out model.schema.json
"""

_WARMUP_HELP = """\
Compile the solver and the laws of all built-in elements. This takes a minute or
two, once per installation; later runs load the compiled code in a second. The
cache is in NONSMOOTH_CACHE_DIR, or else in the user's cache folder.
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            **options,
        )

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise _Failed(f"{message} (see {self.prog} --help)", BAD_INPUT)


def _number(text: str) -> float:
    try:
        return convert("value", float, text)
    except ModelError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def _port(text: str) -> int:
    is_whole = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_PORT))
    if not (is_whole and int(text) <= MAX_PORT):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, 0 to {MAX_PORT}")
    return int(text)


def _parser() -> _Parser:
    parser = _Parser(prog="nonsmooth", description=_HELP, epilog=_EXAMPLES)
    parser.add_argument(
        "--version", action="version", version=f"nonsmooth {__version__}"
    )
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")

    def command(function: Callable[..., int], short: str, text: str) -> _Parser:
        description, _, epilog = text.partition("examples:")
        sub = commands.add_parser(
            function.__name__.strip("_"),
            help=short,
            description=description,
            epilog=f"examples:{epilog}" if epilog else "",
        )
        sub.set_defaults(function=function, parser=sub)
        return sub

    sub = command(_gallery, "list the built-in systems, or explain one", _GALLERY_HELP)
    sub.add_argument("name", nargs="?", metavar="NAME", help="the system to explain")
    _add_run(command(_run, "simulate a system and print a summary", _RUN_HELP))
    sub = command(_serve, "the app: change parameters, run, look", _SERVE_HELP)
    sub.add_argument(
        "folder",
        metavar="FOLDER",
        nargs="?",
        default=".",
        help="where model files to pick from are (default: here)",
    )
    sub.add_argument(
        "--port",
        metavar="N",
        type=_port,
        default=DEFAULT_PORT,
        help=f"port to listen on (default {DEFAULT_PORT}; 0: any that is free)",
    )
    sub.add_argument(
        "--no-browser",
        action="store_true",
        help="print the address, open nothing",
    )
    sub = command(_check, "say whether a model file is valid", _CHECK_HELP)
    sub.add_argument("system", metavar="FILE", help="model file, or a built-in system")
    _add_set(sub)
    sub = command(_schema, "print the JSON Schema of model files", _SCHEMA_HELP)
    sub.add_argument("--out", metavar="FILE", help="write it there, not to stdout")
    command(_warmup, "compile everything in advance", _WARMUP_HELP)
    return parser


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


def _add_set(sub: _Parser) -> None:
    sub.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="change a parameter; may be repeated",
    )


def _add_run(sub: _Parser) -> None:
    add = sub.add_argument
    add("system", metavar="SYSTEM", help="name of a built-in system, or a model file")
    _add_set(sub)
    add(
        "--until",
        metavar="T",
        type=_number,
        help="end, s; built-in systems know a sensible one",
    )
    output = sub.add_argument_group("output")
    add = output.add_argument
    add(
        "--save",
        metavar="FILE",
        help=f"write all quantities over time ({', '.join(SAVE_SUFFIXES)})",
    )
    add(
        "--every",
        metavar="DT",
        type=_number,
        help="time between saved rows, s (default: the solver's own steps)",
    )
    add("--plot", metavar="FILE", help=f"draw a figure ({', '.join(PLOT_SUFFIXES)})")
    add(
        "--plot-names",
        metavar="A,B",
        help="what to draw: quantities over time (rod1.theta,motor.torque), or points "
        "(rod2.tip), whose paths are drawn, or contacts and joints with friction "
        "(left,right,slider); default: all of these, or without any angles and drives",
    )
    add(
        "--report",
        metavar="FILE",
        help="write one page that shows the run move, with plots, events and energies; "
        f"it needs no network ({', '.join(REPORT_SUFFIXES)})",
    )
    add("--events", action="store_true", help="list all events")
    add(
        "--save-events",
        metavar="FILE",
        help=f"write the table of events ({', '.join(EVENT_SUFFIXES)})",
    )
    add("--json", action="store_true", help="print the summary as JSON, nothing else")
    add(
        "--verify",
        action="store_true",
        help="repeat the run at a tighter tolerance and report the difference",
    )
    solver = sub.add_argument_group("solver")
    add = solver.add_argument
    add(
        "--scheme",
        choices=SCHEMES,
        metavar="NAME",
        help="events (default), or paper: fixed steps, friction decided at their ends, "
        "for comparison",
    )
    add(
        "--branch",
        choices=BRANCHES,
        metavar="NAME",
        help="where friction in joints has several solutions: unique (default), "
        "continue or least",
    )
    add("--method", choices=METHODS, metavar="NAME", help=", ".join(METHODS))
    add("--rtol", metavar="R", type=_number, help="relative tolerance (default 1e-8)")
    add("--atol", metavar="A", type=_number, help="absolute one (default rtol / 100)")
    add(
        "--step",
        metavar="H",
        type=_number,
        help="step of a fixed-step method or scheme, s",
    )
    add("--max-step", metavar="H", type=_number, help="largest step, s")
    add(
        "--baumgarte",
        nargs=2,
        metavar=("ALPHA", "BETA"),
        type=_number,
        help="hold the constraints by g'' + ALPHA g' + BETA g = 0, not by projection",
    )
    add(
        "--assemble",
        action="store_true",
        help="move an inconsistent start to the nearest consistent one",
    )


# ---- systems ---------------------------------------------------------------------


def _is_file(system: str) -> bool:
    has_suffix = Path(system).suffix.lower() in MODEL_SUFFIXES
    return has_suffix or os.sep in system or "/" in system


def _from_gallery(name: str, parameters: dict[str, Any]) -> Model:
    return gallery.build(name, **parameters)


def _model(system: str, settings: Sequence[str] = ()) -> Model:
    """Build or read a model, and apply the settings KEY=VALUE."""
    chosen: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not (key and equals):
            raise ModelError(f"--set {setting}: write --set KEY=VALUE, e.g. n=3")
        if key in chosen:
            raise ModelError(f"--set {key} is given twice")
        chosen[key] = value
    parameters = {key: value for key, value in chosen.items() if "." not in key}
    if _is_file(system):
        if parameters:
            key = next(iter(parameters))
            raise ModelError(
                f"--set {key}: in a file, name an element's field: --set crank.mass=2"
            )
        from nonsmooth import io

        model = io.load(system, gallery=_from_gallery)
    else:
        if system not in gallery.names():
            raise ModelError(
                f"no built-in system '{system}'; {nearest(system, gallery.names())} "
                f"(a model file ends in {', '.join(MODEL_SUFFIXES)})"
            )
        model = gallery.build(system, **parameters)
    for key, value in chosen.items():
        if "." in key:
            model = with_field(model, key, value, f"--set {key}")
    return model


# ---- progress --------------------------------------------------------------------


class _Bar:
    """A progress bar on stderr, for work that takes more than a second.

    Called with the part done, 0 to 1. Silent if stderr is not a terminal.
    """

    def __init__(self, text: str, patience: float = PATIENCE) -> None:
        self.part: float | None = None
        self._text = text
        self._bar: Any = None
        self._is_over = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(patience, self._show)
        self._timer.daemon = True

    def __enter__(self) -> _Bar:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._bar is not None:
                self._bar.stop()

    def __call__(self, part: float) -> None:
        self.part = part
        with self._lock:
            if self._bar is not None and not self._is_over:
                self._bar.update(0, total=1.0, completed=part, done=f"{part:.0%}")

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._is_over:
                return
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[done]:>4}"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.add_task(self._text, total=None, done="")
            self._bar.start()


# ---- gallery ---------------------------------------------------------------------


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
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


def _gallery(args: argparse.Namespace) -> int:
    if args.name is None:
        rows = [[name, gallery.summary(name)] for name in gallery.names()]
        _table(["system", "what it is"], rows)
        print("\n`nonsmooth gallery NAME` explains one, `nonsmooth run NAME` runs it.")
        return DONE
    name: str = args.name
    parameters = gallery.parameters(name)
    print(f"{name}: {gallery.summary(name)}\n\n{gallery.describe(name)}\n")
    rows = [
        [p.name, _shown(p.default), p.unit, _range(p), p.type, p.meaning]
        for p in parameters
    ]
    _table(["parameter", "default", "unit", "range", "type", "meaning"], rows)
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


# ---- run -------------------------------------------------------------------------


def _run(args: argparse.Namespace) -> int:
    _check_outputs(args)
    model = _model(args.system, args.set)
    until = args.until
    if until is None:
        if _is_file(args.system):
            raise ModelError(f"{args.system}: a model file needs --until T, in s")
        until = gallery.duration(args.system)
    _check_every(args, until)
    error: SolveError | None = None
    begin = time.perf_counter()
    bar = _Bar(args.system)
    try:
        with bar:
            result = _simulated(model, until, args, bar)
    except SolveError as failure:
        if failure.result is None:
            raise
        result, error = failure.result, failure
    except KeyboardInterrupt:
        # Outside the march; inside it, it is a SolveError with what was computed.
        done = until * (bar.part or 0.0)
        raise _Failed(
            f"interrupted at t = {done:.4g} s of {until:g} s, after "
            f"{time.perf_counter() - begin:.1f} s; nothing was saved",
            INTERRUPTED,
        ) from None
    saved = _save(result, args) if args.save else ""
    if args.save_events:
        _save_events(result, args.save_events)
    _print_run(result, args, saved)
    if args.plot and len(result.steps.t):
        _plot(result, args)
        if not args.json:
            print(f"{'drawn':<12} {args.plot}")
    if args.report:
        _report(result, args)
        if not args.json:
            print(f"{'report':<12} {args.report}")
    if error is None:
        return DONE
    hint = " (here: --branch continue or --branch least)"
    print(f"error: {error}{hint * ('branch=' in str(error))}", file=sys.stderr)
    if saved:
        print(
            f"what was computed until t = {result.t_end:.9g} s is in {args.save}",
            file=sys.stderr,
        )
    return INTERRUPTED if isinstance(error, Interrupted) else FAILED


def _simulated(
    model: Model, until: float, args: argparse.Namespace, bar: _Bar
) -> Result:
    from nonsmooth.solve.options import Baumgarte
    from nonsmooth.solve.simulate import simulate
    from nonsmooth.pack import pack

    options: dict[str, Any] = {
        name: getattr(args, name)
        for name in ("scheme", "branch", "method", "rtol", "atol", "step", "max_step")
        if getattr(args, name) is not None
    }
    if args.baumgarte:
        alpha, beta = args.baumgarte
        options["stabilisation"] = Baumgarte(alpha=alpha, beta=beta)
    if args.assemble:
        options["assemble"] = True
    system = pack(model)
    if args.every:
        _check_size(system, until / args.every)
    _check_names(system, _plot_names(args))
    try:
        return simulate(system, until, progress=bar, **options)
    except ModelError as error:
        if "assemble=True" in str(error):
            raise ModelError(f"{error} (here: --assemble)") from None
        raise


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse what could not be written, before anything is computed."""
    for option, suffixes, extra in (
        ("save", SAVE_SUFFIXES, "data"),
        ("plot", PLOT_SUFFIXES, "plot"),
        ("save-events", EVENT_SUFFIXES, ""),
        ("report", REPORT_SUFFIXES, ""),
    ):
        name = getattr(args, option.replace("-", "_"))
        if name is None:
            continue
        path = Path(name)
        suffix = path.suffix.lower()
        if suffix not in suffixes:
            raise ModelError(f"--{option} {name}: use {', '.join(suffixes)}")
        if not path.parent.is_dir():
            raise ModelError(f"--{option} {name}: no folder '{path.parent}'")
        module = NEEDS.get(suffix)
        if module and find_spec(module) is None:
            raise ModelError(
                f"--{option} {name} needs {module}: pip install 'nonsmooth[{extra}]'"
            )
    if args.plot_names is not None and args.plot is None:
        raise ModelError("--plot-names needs --plot FILE")
    if args.every is not None and args.save is None:
        raise ModelError("--every needs --save FILE")


def _check_every(args: argparse.Namespace, until: float) -> None:
    if args.every is not None and not 0.0 < args.every <= until:
        raise ModelError(f"--every {args.every:g}: must be > 0 and <= {until:g} s")


def _check_size(system: System, n_row: float) -> None:
    m = system.tables
    n_column = 9 * m.n_marker + 3 * (m.n_joint + m.n_force) + 8 * m.n_contact
    if n_row * n_column > MAX_SAVED:
        raise ModelError(
            f"--every: {n_row:.0f} rows of about {n_column} columns are too many; "
            f"take at least {n_column / MAX_SAVED * n_row:.2g} times the interval"
        )


def _save(result: Result, args: argparse.Namespace) -> str:
    """Write all quantities; return where, or "" if there is nothing to write."""
    import numpy as np

    if len(result.steps.t) == 0:
        return ""
    t = None
    if args.every:
        # A little slack: 0.3 / 0.1 is less than 3.
        count = int((result.t_end - result.t_start) / args.every + 1e-9)
        t = np.minimum(result.t_start + args.every * np.arange(count + 1), result.t_end)
    samples: Samples = result.sample(t)
    path = Path(args.save)
    suffix = path.suffix.lower()
    try:
        if suffix == ".csv":
            samples.to_csv(path)
        elif suffix == ".parquet":
            samples.to_parquet(path)
        else:
            with path.open("wb") as file:
                columns: dict[str, Any] = dict(samples)
                np.savez(file, **columns)
    except OSError as error:
        raise _unwritable(path, error) from None
    return f"{len(samples['t'])} rows of {len(samples)} columns in {path}"


def _save_events(result: Result, path: str) -> None:
    from nonsmooth.app import summary

    try:
        summary.write_events(result.events, path)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: str | Path, error: OSError) -> _Failed:
    return _Failed(f"cannot write {path}: {error.strerror or error}", FAILED)


def _print_run(result: Result, args: argparse.Namespace, saved: str) -> None:
    from nonsmooth.app import summary

    numbers = summary.figures(result)
    verification = None
    if args.verify and result.status != "failed":
        with _Bar("verifying"):
            verification = result.verify()
    if args.json:
        if verification is not None:
            numbers["verification"] = {
                item.name: getattr(verification, item.name)
                for item in dataclasses.fields(verification)
                if item.name != "tighter"
            }
        if args.events:
            numbers["event_list"] = [dataclasses.asdict(e) for e in result.events]
        print(json.dumps(summary.plain(numbers), indent=2, allow_nan=False))
        return
    print(result.system.model.title or args.system)
    print(summary.text(result, numbers))
    if verification is not None:
        print(f"{'verified':<12} {verification}")
    if saved:
        print(f"{'saved':<12} {saved}")
    if args.save_events:
        n = len(result.events)
        print(f"{'saved':<12} {n} events in {args.save_events}")
    if args.events:
        print(f"\n{summary.events_text(result, numbers)}")


def _plot_names(args: argparse.Namespace) -> list[str]:
    return [name.strip() for name in (args.plot_names or "").split(",") if name.strip()]


def _check_names(system: System, names: Sequence[str]) -> None:
    """Refuse to plot what there is not, before anything is computed."""
    from nonsmooth.columns import columns_of

    table = columns_of(system)
    kinds: dict[str, list[str]] = {}
    for column in table.values():
        kinds.setdefault(column.owner, []).append(column.kind)
    for name in names:
        if name in table or name in system.markers or name in system.with_mode:
            continue
        owner, _, kind = name.rpartition(".")
        if owner not in kinds:
            raise ModelError(f"--plot-names: no '{name}'; {nearest(name, kinds)}")
        hint = nearest(kind, kinds[owner])
        raise ModelError(f"--plot-names: no quantity '{name}'; {hint}")


def _plot(result: Result, args: argparse.Namespace) -> None:
    from nonsmooth.views.plots import plot_contacts, plot_paths, plot_series

    system, names = result.system, _plot_names(args)
    if names and all(name in system.markers for name in names):
        plot_paths(result, names, args.plot)
        return
    if system.with_mode and all(name in system.with_mode for name in names):
        plot_contacts(result, args.plot, names=names or None)
        return
    if not names:
        angles = [f"{name}.theta" for name in system.bodies[: system.n_moving]]
        drives = [f"{drive.name}.{drive.output}" for drive in system.model.drives]
        names = [*angles[:6], *drives[:6]]
    plot_series(result, names, args.plot)


def _report(result: Result, args: argparse.Namespace) -> None:
    """Write the page of a run, also of one that failed."""
    from nonsmooth.views.report import report

    title = result.system.model.title or Path(args.system).stem
    try:
        report(result, args.report, _parameters(args), title)
    except OSError as error:
        raise _unwritable(args.report, error) from None


def _parameters(args: argparse.Namespace) -> list[ShownParameter]:
    """Return what a run was made with: all parameters of a built-in system."""
    chosen = {key: value for key, _, value in (s.partition("=") for s in args.set)}
    shown: list[ShownParameter] = []
    if _is_file(args.system):
        shown.append({"name": "file", "value": Path(args.system).name})
    else:
        own = {key: value for key, value in chosen.items() if "." not in key}
        values = gallery.values(args.system, **own)
        for p in gallery.parameters(args.system):
            value = values[p.name]
            shown.append(
                {"name": p.name, "value": value, "unit": p.unit, "meaning": p.meaning}
            )
    for key, value in chosen.items():
        if "." in key:
            shown.append({"name": key, "value": _plain(value), "meaning": "set"})
    return shown


def _plain(text: str) -> str | float:
    try:
        return convert("value", float, text)
    except ModelError:
        return text


# ---- check, schema, warmup -------------------------------------------------------


def _check(args: argparse.Namespace) -> int:
    try:
        model = _model(args.system, args.set)
        from nonsmooth.pack import pack

        with _Bar(args.system):
            system = pack(model)
            lines = [*_findings(system), *_friction_findings(system)]
    except (ModelError, OSError) as error:
        raise _Failed(_sentence(error), FAILED) from None
    print(f"{args.system}: {model.title or 'no title'}")
    for head, line in lines:
        print(f"{head:<20} {line}")
    return DONE


def _findings(system: System) -> list[tuple[str, str]]:
    import numpy as np

    from nonsmooth.kernels import entry
    from nonsmooth.solve.start import (
        check_redundancy,
        consistent_start,
        initial_values,
    )

    model = system.model
    given, _ = initial_values(system, None)
    q, v = consistent_start(system, 0.0, None, None)
    note = check_redundancy(system, 0.0, q, v)
    moved = float(np.max(np.abs(q - given), initial=0.0))
    start = "consistent"
    if model.assemble:
        start = f"assembled; positions moved by at most {moved:.2g} m or rad"
    has_mass = system.tables.minv > 0.0
    n_coordinate = int(np.sum(has_mass))
    n_row = system.n_row
    # Contacts have rows too, which hold only while they stick.
    n_hold = n_row - int(np.sum(system.tables.contact_row >= 0))
    freedom = f"{n_coordinate - n_hold}, if no constraint is redundant"
    if n_row <= MAX_RANKED:
        g, rate = np.zeros(n_row), np.zeros(n_row)
        J = np.zeros(n_row * system.n_dof)
        work = system.work()
        entry.constraints(system.tables, work, 0.0, q, v, g, rate)
        entry.rows_matrix(system.tables, work, J)
        rows = J.reshape(n_row, system.n_dof) * np.sqrt(system.tables.minv)
        first = system.tables.joint_row[system.n_held :]
        is_drive = np.isin(np.arange(n_row), first)
        left = n_coordinate - _rank(rows)
        driven = n_coordinate - _rank(rows[~is_drive]) - left
        freedom = f"{left + driven}" + (f", {driven} of them driven" if driven else "")
    n_support = len(system.supports) - 1
    bodies = _listed(list(system.bodies[: system.n_moving]))
    return [
        (
            "bodies",
            bodies + (f", and {n_support} moving supports" if n_support else ""),
        ),
        ("joints", _listed([joint.name for joint in model.joints])),
        ("drives", _listed([drive.name for drive in model.drives])),
        ("forces", _listed([force.name for force in model.forces])),
        ("contacts", _listed(system.contacts)),
        ("events", _listed([event.name for event in model.events])),
        ("coordinates", f"{n_coordinate}, with {n_hold} constraints"),
        ("degrees of freedom", freedom),
        ("redundancy", note or "none"),
        ("start", start),
    ]


def _friction_findings(system: System) -> list[tuple[str, str]]:
    """Tell what the friction of joints allows at the start."""
    if not system.slides:
        return []
    from nonsmooth.solve.solvability import solvability

    found = solvability(system)
    status = {
        "unique": "one solution at the start",
        "several": f"{len(found.solutions)} solutions at the start; a run stops there "
        "unless --branch tells which to take",
        "none": "no solution at the start: a joint jams, and a run stops there",
    }[found.status]
    lines = [("friction in joints", f"{_listed(system.slides)}: {status}")]
    for k, solution in enumerate(found.solutions, 1):
        number = f"{k}. " if len(found.solutions) > 1 else ""
        for i, (name, force) in enumerate(solution.items()):
            head = number if i == 0 else " " * len(number)
            lines.append(("", f"{head}{name}: {_without_noise(force)}"))
    return [*lines, ("margin", _margin(found.margin, found.critical_factor))]


def _without_noise(force: JointForce) -> JointForce:
    """Return the forces of a joint, round-off as zero."""
    normal, friction = (
        0.0 if abs(value) < FORCE_NOISE else value
        for value in (force.normal_force, force.friction_force)
    )
    return dataclasses.replace(force, normal_force=normal, friction_force=friction)


def _margin(margin: float, factor: float) -> str:
    """Say how far the friction is from losing its one solution, whatever the forces."""
    if math.isnan(margin):
        return "not searched for, with so many joints"
    if margin <= 0.0:
        return (
            f"{margin:.4g}: other forces may have several solutions, or none, in this "
            f"pose; below {factor:.4g} times the friction all have one"
        )
    most = "however large" if math.isinf(factor) else f"up to {factor:.5g} times"
    return (
        f"{margin:.4g}: all forces have one solution in this pose, {most} the friction"
    )


def _rank(rows: Any) -> int:
    """Return the rank of constraint rows, by the solver's own measure."""
    import numpy as np

    length = np.sqrt(np.sum(rows**2, axis=1))
    unit = rows / np.where(length > 0.0, length, 1.0)[:, None]
    values = np.linalg.eigvalsh(unit @ unit.T)
    return int(np.sum(values >= 1e-9 * len(rows)))


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "none"
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f"{len(names)} ({shown})"


def _schema(args: argparse.Namespace) -> int:
    from nonsmooth import io

    text = json.dumps(io.schema(), indent=2)
    if args.out is None:
        print(text)
    else:
        Path(args.out).write_text(text + "\n", encoding="utf-8")
    return DONE


def _warmup(args: argparse.Namespace) -> int:
    import logging

    from nonsmooth.app import warmup

    # Its advice is what is being followed.
    logging.getLogger("nonsmooth").setLevel(logging.ERROR)
    begin = time.perf_counter()
    for text, compile_stage in warmup.stages():
        since = time.perf_counter()
        # A bar would wipe out a line begun above it.
        head = f"{text:<32}"
        if not sys.stderr.isatty():
            print(head, end="", flush=True)
            head = ""
        with _Bar(text, patience=0.0):
            compile_stage()
        print(f"{head}{time.perf_counter() - since:6.1f} s", flush=True)
    print(f"{'ready in':<32}{time.perf_counter() - begin:6.1f} s")
    return DONE


# ---- serve -----------------------------------------------------------------------


def _serve(args: argparse.Namespace) -> int:
    # Its packages are an extra, and no other command waits for them.
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise _Failed(
            f"serve needs {' and '.join(missing)}: pip install 'nonsmooth[serve]'",
            BAD_INPUT,
        )
    from nonsmooth.app.serve import serve

    serve(Path(args.folder), args.port, opens_browser=not args.no_browser)
    return DONE


# ---- entry point -----------------------------------------------------------------


def _sentence(error: Exception) -> str:
    """Return an error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return " ".join(str(error).split())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    try:
        args = _arguments(argv)
        with warnings.catch_warnings():
            # What they say is among the notes of a result.
            warnings.simplefilter("ignore", NonsmoothWarning)
            return args.function(args)
    except SystemExit:  # after --help or --version
        return DONE
    except _Failed as error:
        print(f"error: {error}", file=sys.stderr)
        return error.code
    except SolveError as error:
        print(f"error: {_sentence(error)}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # The reader has gone, as in `nonsmooth gallery | head -1`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (ModelError, OSError) as error:
        print(f"error: {_sentence(error)}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
