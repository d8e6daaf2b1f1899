"""`nonsmooth run`: simulate a system and print a summary."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from nonsmooth import gallery
from nonsmooth.app import outputs
from nonsmooth.app.bar import Bar
from nonsmooth.app.command import (
    DONE,
    DOUBTED,
    FAILED,
    INTERRUPTED,
    Failed,
    add_set,
    number,
    read_model,
)
from nonsmooth.app.wording import in_options
from nonsmooth.errors import Interrupted, ModelError, SolveError
from nonsmooth.solve.options import BRANCHES, METHODS, SCHEMES
from nonsmooth.study.systems import is_file

if TYPE_CHECKING:
    from nonsmooth.model import Model
    from nonsmooth.result import Result
    from nonsmooth.solve.verify import Verification

# Options of `simulate` that have an argument of their own.
OPTIONS = ("scheme", "branch", "method", "rtol", "atol", "step", "max_step", "courant")
SHORT = "simulate a system and print a summary"
HELP = """\
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
  .point_x .point_y .normal_x .normal_y .width
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
  notes, doubts, options, cost  doubts: reasons not to trust the result
  engine                        which compiled code it was computed with
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

exit code: 0 done, 1 the run failed, 2 bad input, 3 with --strict: the result is not
to be trusted, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="name of a built-in system, or a model file")
    add_set(parser)
    add(
        "--until",
        metavar="T",
        type=number,
        help="end, s; built-in systems know a sensible one",
    )
    outputs.add_arguments(parser)
    solver = parser.add_argument_group("solver")
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
    add("--rtol", metavar="R", type=number, help="relative tolerance (default 1e-8)")
    add("--loose", action="store_true", help="allow --rtol above 1e-3")
    add("--atol", metavar="A", type=number, help="absolute one (default rtol / 100)")
    add(
        "--step",
        metavar="H",
        type=number,
        help="step of a fixed-step method or scheme, s",
    )
    add("--max-step", metavar="H", type=number, help="largest step, s")
    add(
        "--courant",
        metavar="C",
        type=number,
        help="step of scheme waves, as a part of the critical one",
    )
    add(
        "--memory",
        metavar="MB",
        type=number,
        help="of the log; what is beyond goes to a temporary file (default 500)",
    )
    add(
        "--baumgarte",
        nargs=2,
        metavar=("ALPHA", "BETA"),
        type=number,
        help="hold the constraints by g'' + ALPHA g' + BETA g = 0, not by projection",
    )
    add(
        "--assemble",
        action="store_true",
        help="move an inconsistent start to the nearest consistent one",
    )
    add(
        "--strict",
        action="store_true",
        help="exit code 3 where the result is not to be trusted, as its notes say",
    )


def command(args: argparse.Namespace) -> int:
    """Simulate, print the summary, write the files asked for."""
    outputs.check(args)
    model = read_model(args.system, args.set)
    until = outputs.follow(model, args)
    if until is None:
        if is_file(args.system):
            raise ModelError(
                f"{args.system}: no end; give --until T, in s, or in the file "
                "run: {until: T}"
            )
        until = gallery.duration(args.system)
    outputs.check_every(args, until)
    result, error = _computed(model, until, args)
    verification = None
    if args.verify and error is None:
        try:
            with Bar("verifying"):
                verification = result.verify()
        except (SolveError, KeyboardInterrupt) as failure:
            error = failure
    if args.quiet:
        for doubt in result.doubts:
            text = in_options(doubt, args)
            print(f"warning: not to be trusted: {text}", file=sys.stderr)
    unread: OSError | None = None
    try:
        _print_summary(result, args, verification)
    except OSError as failure:
        # The reader has gone, or a disk is full; files are written all the same.
        unread = failure
    unsaved = outputs.write(result, args, is_silent=args.json or unread is not None)
    if error is not None:
        text = in_options(str(error) or "interrupted", args)
        print(f"error: {text}", file=sys.stderr)
    for why in unsaved.values():
        print(f"error: {why}", file=sys.stderr)
    if unread is not None:
        raise unread
    if result.status == "failed" and args.save and "save" not in unsaved:
        print(
            f"what was computed until t = {result.t_end:.9g} s is in {args.save}",
            file=sys.stderr,
        )
    if error is None:
        is_doubted = args.strict and len(result.doubts) > 0
        return FAILED if unsaved else DOUBTED if is_doubted else DONE
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED


def _computed(
    model: Model, until: float, args: argparse.Namespace
) -> tuple[Result, SolveError | KeyboardInterrupt | None]:
    """Return what was computed, and what ended it early."""
    begin = time.perf_counter()
    bar = Bar(args.system)
    try:
        with bar:
            return _simulated(model, until, args, bar), None
    except (SolveError, Interrupted) as failure:
        if failure.result is None:
            raise
        return failure.result, failure
    except KeyboardInterrupt:
        # Outside the march; inside it, it is Interrupted, with what was computed.
        done = until * (bar.part or 0.0)
        raise Failed(
            f"interrupted at t = {done:.4g} s of {until:g} s, after "
            f"{time.perf_counter() - begin:.1f} s; nothing was saved",
            INTERRUPTED,
        ) from None


def _simulated(
    model: Model, until: float, args: argparse.Namespace, bar: Bar
) -> Result:
    from nonsmooth.pack import pack
    from nonsmooth.solve.options import Baumgarte
    from nonsmooth.solve.simulate import simulate

    options: dict[str, Any] = {
        name: getattr(args, name) for name in OPTIONS if getattr(args, name) is not None
    }
    if args.memory is not None:
        if not args.memory > 0.0:
            raise ModelError(f"--memory {args.memory:g}; must be > 0 MB")
        options["memory"] = 1e6 * args.memory
    if args.loose:
        options["loose"] = True
    if args.assemble:
        options["assemble"] = True
    system = pack(model)
    outputs.check_system(system, args, until)
    try:
        if args.baumgarte:
            alpha, beta = args.baumgarte
            options["stabilisation"] = Baumgarte(alpha=alpha, beta=beta)
        return simulate(system, until, progress=bar, **options)
    except ModelError as error:
        raise ModelError(in_options(str(error), args)) from None


def _print_summary(
    result: Result, args: argparse.Namespace, verification: Verification | None
) -> None:
    from nonsmooth.app import summary

    numbers = summary.figures(result)
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
    else:
        print(result.system.model.title or args.system)
        print(summary.text(result, numbers))
        if verification is not None:
            print(f"{'verified':<12} {verification}")
        if args.events:
            print(f"\n{summary.events_text(result, numbers)}\n")
    # Writing files takes time, and may fail.
    sys.stdout.flush()
