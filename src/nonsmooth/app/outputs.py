"""Files that a run leaves behind: samples, events, figure, page."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth import gallery
from nonsmooth.app.command import number, sentence
from nonsmooth.columns import check_wishes, missing
from nonsmooth.elements.wishes import Run
from nonsmooth.errors import ModelError
from nonsmooth.files import check_writable, replacing
from nonsmooth.gallery._convert import convert
from nonsmooth.study.systems import is_file

if TYPE_CHECKING:
    from nonsmooth.model import Model
    from nonsmooth.pack import System
    from nonsmooth.result import Result, Samples
    from nonsmooth.views.scene import Parameter as ShownParameter

SAVE_SUFFIXES = (".csv", ".parquet", ".npz", ".nsr")
PLOT_SUFFIXES = (".png", ".svg", ".pdf")
EVENT_SUFFIXES = (".csv",)
REPORT_SUFFIXES = (".html", ".htm")
FILM_SUFFIXES = (".gif", ".webp", ".mp4", ".webm")
# Packages that are not always installed.
PICTURES = (*PLOT_SUFFIXES, *FILM_SUFFIXES)
NEEDS = {".parquet": "pyarrow", **dict.fromkeys(PICTURES, "matplotlib")}
# Numbers a saved table may hold: 1.6 GB in memory.
MAX_SAVED = 200_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say what to print and to write."""
    add = parser.add_argument_group("output").add_argument
    add(
        "--save",
        metavar="FILE",
        help=f"write all quantities over time ({', '.join(SAVE_SUFFIXES[:-1])}), or "
        f"the whole run, which Python reads again by Result.load ({SAVE_SUFFIXES[-1]})",
    )
    add(
        "--every",
        metavar="DT",
        type=number,
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
    add(
        "--video",
        metavar="FILE",
        help=f"write a film of the run ({', '.join(FILM_SUFFIXES)}; the last two "
        "need ffmpeg)",
    )
    add(
        "--pose",
        metavar="FILE",
        help=f"draw the mechanism at one instant ({', '.join(PLOT_SUFFIXES)})",
    )
    add("--at", metavar="T", type=number, help="of --pose, s (default: the end)")
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


def check(args: argparse.Namespace) -> None:
    """Refuse what could not be written, before anything is computed."""
    taken = {args.system: "the model file"} if is_file(args.system) else {}
    for option, suffixes, extra in (
        ("--save", SAVE_SUFFIXES, "data"),
        ("--plot", PLOT_SUFFIXES, "plot"),
        ("--pose", PLOT_SUFFIXES, "plot"),
        ("--save-events", EVENT_SUFFIXES, ""),
        ("--report", REPORT_SUFFIXES, ""),
        ("--video", FILM_SUFFIXES, "plot"),
    ):
        name = getattr(args, option[2:].replace("-", "_"))
        if name is None:
            continue
        suffix = Path(name).suffix.lower()
        if suffix not in suffixes:
            raise ModelError(f"{option} {name}: use {', '.join(suffixes)}")
        module = NEEDS.get(suffix)
        if module and find_spec(module) is None:
            raise ModelError(
                f"{option} {name} needs {module}: pip install 'nonsmooth[{extra}]'"
            )
        try:
            check_writable(name)
        except OSError as error:
            raise ModelError(f"{option} {name}: {error.strerror}") from None
        for other, use in taken.items():
            if _is_same(name, other):
                raise ModelError(
                    f"{option} {name}: this is {use} as well; give another name"
                )
        taken[name] = f"the file of {option}"
    if args.video is not None:
        from nonsmooth.views.film import check_film

        check_film(args.video)
    if args.at is not None and args.pose is None:
        raise ModelError("--at needs --pose FILE")
    if args.plot_names is not None and args.plot is None:
        raise ModelError("--plot-names needs --plot FILE")
    if args.every is not None and args.save is None:
        raise ModelError("--every needs --save FILE")
    if args.every is not None and Path(args.save).suffix.lower() == ".nsr":
        raise ModelError("--every: the whole run is saved, with all its steps")


def _is_same(a: str, b: str) -> bool:
    """Return whether two names mean one file, which need not exist yet."""
    with contextlib.suppress(OSError):
        return os.path.samefile(a, b)
    places = (os.path.normcase(os.path.realpath(name)) for name in (a, b))
    return len(set(places)) == 1


def follow(model: Model, args: argparse.Namespace) -> float | None:
    """Fill in what the model's author wishes and the user does not; return the end."""
    wishes = model.run or Run()
    if args.save and args.every is None and Path(args.save).suffix.lower() != ".nsr":
        args.every = wishes.every
    if args.plot and args.plot_names is None and wishes.plot:
        args.plot_names = ",".join(wishes.plot)
    args.columns = list(wishes.save) or None
    return wishes.until if args.until is None else args.until


def check_every(args: argparse.Namespace, until: float) -> None:
    """Refuse an interval, or an instant, that does not fit into the run."""
    if args.at is not None and not 0.0 <= args.at <= until:
        raise ModelError(f"--at {args.at:g}: must be >= 0 and <= {until:g} s")
    if args.every is not None and not 0.0 < args.every <= until:
        raise ModelError(f"--every {args.every:g}: must be > 0 and <= {until:g} s")


def check_system(system: System, args: argparse.Namespace, until: float) -> None:
    """Refuse what this system does not have, or has too much of."""
    if args.every:
        _check_size(system, args.every, until)
    _check_names(system, _plot_names(args))
    check_wishes(system)


def _check_size(system: System, every: float, until: float) -> None:
    m = system.tables
    n_column = 9 * m.n_marker + 3 * (m.n_joint + m.n_force) + 8 * m.n_contact
    least = until / MAX_SAVED * n_column
    if every < least:
        raise ModelError(
            f"--every {every:g}: {until / every:.3g} rows of about {n_column} columns "
            f"are too many; take at least {least:.2g} s"
        )


def write(
    result: Result, args: argparse.Namespace, *, is_silent: bool
) -> dict[str, str]:
    """Write every file asked for, whatever becomes of the others.

    Return, by option, why one could not be written.
    """
    writers = {
        "save": ("saved", _save),
        "save_events": ("saved", _save_events),
        "plot": ("drawn", _plot),
        "pose": ("drawn", _pose),
        "report": ("report", _report),
        "video": ("film", _film),
    }
    unsaved: dict[str, str] = {}
    for option, (head, writer) in writers.items():
        path = getattr(args, option)
        if path is None:
            continue
        if option in ("save", "plot", "pose", "video") and len(result.steps.t) == 0:
            unsaved[option] = f"nothing to write to {path}: the run ended at its start"
            continue
        try:
            content = writer(result, args)
        except (ModelError, OSError) as error:
            unsaved[option] = f"cannot write {path}: {_why(error)}"
        else:
            if not is_silent:
                print(f"{head:<12} {content}{path}")
    return unsaved


def _why(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else None
    return text or sentence(error)


def _save(result: Result, args: argparse.Namespace) -> str:
    """Write all quantities over time, or the run itself."""
    import numpy as np

    suffix = Path(args.save).suffix.lower()
    if suffix == ".nsr":
        result.save(args.save)
        return f"{len(result.steps.t)} steps in "
    t = None
    if args.every:
        # A little slack: 0.3 / 0.1 is less than 3.
        count = int((result.t_end - result.t_start) / args.every + 1e-9)
        t = np.minimum(result.t_start + args.every * np.arange(count + 1), result.t_end)
    samples: Samples = result.sample(t, args.columns)
    if suffix == ".csv":
        samples.to_csv(args.save)
    elif suffix == ".parquet":
        samples.to_parquet(args.save)
    else:
        columns: dict[str, Any] = dict(samples)
        with replacing(args.save) as path, path.open("wb") as file:
            np.savez(file, **columns)
    return f"{len(samples['t'])} rows of {len(samples)} columns in "


def _save_events(result: Result, args: argparse.Namespace) -> str:
    from nonsmooth.app import summary

    summary.write_events(result.events, args.save_events)
    return f"{len(result.events)} events in "


def _plot_names(args: argparse.Namespace) -> list[str]:
    return [name.strip() for name in (args.plot_names or "").split(",") if name.strip()]


def _check_names(system: System, names: Sequence[str]) -> None:
    """Refuse to plot what there is not, before anything is computed."""
    seen = (*system.markers, *system.with_mode)
    for name in names:
        if hint := missing(system, name, seen):
            raise ModelError(f"--plot-names: no quantity '{name}'; {hint}")


def _plot(result: Result, args: argparse.Namespace) -> str:
    from nonsmooth.views.plots import plot_contacts, plot_paths, plot_series

    system, names = result.system, _plot_names(args)
    if names and all(name in system.markers for name in names):
        plot_paths(result, names, args.plot)
    elif system.with_mode and all(name in system.with_mode for name in names):
        plot_contacts(result, args.plot, names=names or None)
    else:
        angles = [f"{name}.theta" for name in system.bodies[: system.n_moving]]
        drives = [f"{drive.name}.{drive.output}" for drive in system.model.drives]
        plot_series(result, names or [*angles[:6], *drives[:6]], args.plot)
    return ""


def _pose(result: Result, args: argparse.Namespace) -> str:
    """Draw the mechanism at one instant."""
    at = result.t_end if args.at is None else args.at
    result.draw([at], args.pose, names=True)
    return f"t = {at:g} s in "


def _film(result: Result, args: argparse.Namespace) -> str:
    """Write a film."""
    from nonsmooth.app.bar import Bar

    with Bar("drawing") as bar:
        result.film(args.video, progress=bar)
    return ""


def _report(result: Result, args: argparse.Namespace) -> str:
    """Write the page of a run, also of one that failed."""
    from nonsmooth.views.report import PAGE, report

    title = result.system.model.title or Path(args.system).stem
    report(result, args.report, _parameters(args), title)
    size = Path(args.report).stat().st_size
    if size <= PAGE:
        return ""
    return f"{size / 1e6:.2g} MB, as all {len(result.events)} events are kept, in "


def _parameters(args: argparse.Namespace) -> list[ShownParameter]:
    """Return what a run was made with: all parameters of a built-in system."""
    chosen = {key: value for key, _, value in (s.partition("=") for s in args.set)}
    shown: list[ShownParameter] = []
    if is_file(args.system):
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
