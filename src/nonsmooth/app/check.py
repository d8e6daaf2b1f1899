"""`nonsmooth check`: say whether a model file is valid."""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.app.bar import Bar
from nonsmooth.app.command import DONE, FAILED, Failed, add_set, read_model, sentence
from nonsmooth.app.wording import in_file
from nonsmooth.columns import check_wishes
from nonsmooth.errors import ModelError
from nonsmooth.study.systems import files_in

if TYPE_CHECKING:
    from nonsmooth.pack import System
    from nonsmooth.solve.solvability import JointForce

# Less than this is round-off beside forces of order one, N.
FORCE_NOISE = 1e-12
# Above this many constraints `check` does not count the redundant ones.
MAX_RANKED = 600

SHORT = "say whether model files are valid"
HELP = """\
Read model files, pack them and check their starts. Prints what was found: bodies,
joints, degrees of freedom, redundant constraints; what `run` saves and plots must be
there; with friction in joints also
whether its forces have one solution at the start, and how much more friction they
bear. Of a file that is not valid all errors are listed, the others are checked all the
same, and the exit code is 1.

examples:
  nonsmooth check model.yaml
  nonsmooth check models                all model files of a folder
  nonsmooth check crank_rocker --set driven=rocker --set angle=2.1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "systems",
        metavar="FILE",
        nargs="+",
        help="model file, folder of some, or a built-in system",
    )
    add_set(parser)


def command(args: argparse.Namespace) -> int:
    """Pack each model and print what is found, errors after that."""
    failed: list[Failed] = []
    systems = [name for given in args.systems for name in _files_of(given)]
    for k, name in enumerate(systems):
        try:
            lines = _check(name, args.set)
        except Failed as error:
            failed.append(error)
            lines = []
        if lines and k:
            print()
        for line in lines:
            print(line)
    for error in failed[:-1]:
        print(f"error: {error}", file=sys.stderr)
    if failed:
        raise failed[-1]
    return DONE


def _files_of(name: str) -> list[str]:
    """Return the model files of a folder; what is none as it is."""
    files = files_in(Path(name)) if Path(name).is_dir() else []
    return [str(file) for file in files] or [name]


def _check(name: str, settings: Sequence[str]) -> list[str]:
    """Return what is found of one system, a line each."""
    try:
        model = read_model(name, settings)
        from nonsmooth.pack import pack

        with Bar(name):
            system = pack(model)
            check_wishes(system)
            found = [*_findings(system), *_friction_findings(system)]
    except (ModelError, OSError) as error:
        others = getattr(error, "others", ())
        texts = [sentence(error), *(" ".join(other.split()) for other in others)]
        texts = [in_file(text) for text in texts]
        texts = [text if text.startswith(name) else f"{name}: {text}" for text in texts]
        raise Failed("\nerror: ".join(texts), FAILED) from None
    lines = [f"{head:<20} {line}" for head, line in found]
    return [f"{name}: {model.title or 'no title'}", *lines]


def _findings(system: System) -> list[tuple[str, str]]:
    import numpy as np

    from nonsmooth.kernels import entry
    from nonsmooth.pack.magnitudes import notes_on_angles
    from nonsmooth.solve.start import (
        check_overlaps,
        check_redundancy,
        consistent_start,
        in_the_air,
        initial_values,
        largest,
    )

    model = system.model
    given, _ = initial_values(system, None)
    work = system.work()
    q, v = consistent_start(system, work, 0.0, None, None)
    check_overlaps(system, work, 0.0, q, v)
    note, air = check_redundancy(system, work, 0.0, q, v), in_the_air(system, 0.0, q, v)
    start = "consistent"
    if model.assemble:
        moved = largest(system, np.abs(q - given), ("m", "rad")) or "nothing"
        start = f"assembled; positions moved by at most {moved}"
    has_mass = system.tables.minv > 0.0
    n_coordinate = int(np.sum(has_mass))
    n_row = system.n_row
    # Contacts have rows too, which hold only while they stick.
    n_hold = n_row - int(np.sum(system.tables.contact_row >= 0))
    freedom = f"{n_coordinate - n_hold}, if no constraint is redundant"
    if n_row <= MAX_RANKED:
        g, rate = np.zeros(n_row), np.zeros(n_row)
        J = np.zeros((n_row, system.n_dof))
        entry.constraints(system.tables, work, 0.0, q, v, g, rate)
        entry.rows_matrix(system.tables, work, J)
        rows = J * np.sqrt(system.tables.minv)
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
            bodies + (f", and {_supports(n_support)}" if n_support else ""),
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
        *([("in the air", air)] if air else []),
        *(("angle", note) for note in notes_on_angles(model)),
    ]


def _supports(n: int) -> str:
    return "1 moving support" if n == 1 else f"{n} moving supports"


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
