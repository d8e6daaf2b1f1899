"""`nonsmooth sweep`: carry out a study, or go on with one."""

from __future__ import annotations

import argparse
import errno
import json
import math
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonsmooth.app.bar import Bar
from nonsmooth.app.command import (
    DONE,
    FAILED,
    INTERRUPTED,
    Failed,
    number,
    sentence,
)
from nonsmooth.app.gallery import table as print_table
from nonsmooth.errors import Interrupted, ModelError
from nonsmooth.files import check_writable
from nonsmooth.study.ready import names as ready_names
from nonsmooth.study.ready import path_of
from nonsmooth.study.systems import is_file, unknown

if TYPE_CHECKING:
    from nonsmooth.study.sweeping import Progress
    from nonsmooth.study.table import Table

SHORT = "run a system at many points: a study from a file, resumable"
HELP = """\
Carry out the study in a file: many runs of one system over its parameters and starts.
What is done is kept in an index beside the file (STUDY.db); the same command goes on
where a study was stopped or killed, and never computes a finished run again.

A study file is YAML or JSON, and no code in it is run:

  nonsmooth: 1
  study:
    system: belt                       built-in, or a model file
    settings: {mu0: 0.5}               the same in all runs
    parameters:                        crossed, or with `combine: zip` in step
      speed: {type: Grid, low: 0.02, high: 0.5, n: 25}
      sole.friction.mu: [0.2, 0.3]
    outputs:
      period: {type: Period, element: sole, kind: break_away}
    until: 20                          s, or an expression: 900*2*pi/rotor_speed

Values: a list, Grid, or Between two ends, of which `samples` points are drawn with
`sampling: random` or `sobol` and a `seed`. One value for several fields, here both
masses, has a name of its own:

    parameters: {mass: [1, 2, 3]}
    paths: {mass: [left.mass, right.mass]}

Outputs, with their fields, those in brackets if wanted:
  Final                                column
  Mean, Minimum, Maximum, Span         column [last: s before the end]
  Count, FirstTime, Period, Sequence   of events: [element, kind, last]
  AtEvents                             column at events: [element, kind, last, n]
  Stroboscopic                         column once in each period: period [n]
  Multiple                             periods until the motion repeats: period [n]
  EnergyPerCycle                       work, period [n]
  WholeRun                             the run itself, as a file

exit code: 0 done, 1 some runs failed or the disk was full, 2 bad input,
130 interrupted

examples:
  nonsmooth sweep study.yaml
  nonsmooth sweep study.yaml --save table.csv --plot map.png --page study.html
  nonsmooth sweep study.yaml --page study.html --page-runs all   all runs to be opened
  nonsmooth sweep study.yaml --status --failures   how far, from another terminal
  nonsmooth sweep study.yaml --failures
  nonsmooth sweep study.yaml --rerun
  nonsmooth sweep study.yaml --executor dask --address tcp://10.0.0.1:8786
  nonsmooth sweep belt_speed --store belt.db     a study that is built in
  nonsmooth sweep                                which are
"""

SAVE_SUFFIXES = (".csv", ".parquet")
PLOT_SUFFIXES = (".png", ".svg", ".pdf")
PAGE_SUFFIXES = (".html", ".htm")
# Failures that are listed one by one.
MAX_LISTED = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add = parser.add_argument
    add("study", nargs="?", metavar="STUDY", help="study file, or one built in")
    add("--store", metavar="FILE", help="the index (default: STUDY.db)")
    add(
        "--executor",
        choices=("threads", "processes", "dask"),
        default="threads",
        metavar="NAME",
        help="threads (default), processes, or dask: the workers of a cluster",
    )
    add("--workers", type=int, metavar="N", help="how many (default: one for a core)")
    add("--address", metavar="URL", help="of the scheduler of a Dask cluster")
    add("--rerun", action="store_true", help="carry out failed runs again")
    add(
        "--wait",
        metavar="S",
        type=number,
        default=0.0,
        help="wait so many seconds for another process on the same index",
    )
    add("--status", action="store_true", help="say how far it is, and run nothing")
    add("--failures", action="store_true", help="list what failed or was interrupted")
    add("--save", metavar="FILE", help=f"write the table ({', '.join(SAVE_SUFFIXES)})")
    add("--plot", metavar="FILE", help=f"draw it ({', '.join(PLOT_SUFFIXES)})")
    add("--page", metavar="FILE", help="write a page: map, parameters, filters (.html)")
    add(
        "--page-runs",
        metavar="K,K",
        help="runs that a click on the page opens in the viewer: numbers, or `all` "
        "(default: those that the study keeps whole)",
    )
    add("--json", action="store_true", help="print the counts as JSON, nothing else")


def command(args: argparse.Namespace) -> int:
    """Carry out the study, print what became of it, write the files asked for."""
    if args.study is None:
        rows = [[name, _title(name)] for name in ready_names()]
        print_table(["study", "what it is"], rows)
        return DONE
    _check(args)
    from nonsmooth.study.definition import load_study
    from nonsmooth.study.sweeping import sweep

    place = _place(args.study)
    study = load_study(place)
    store = args.store or str(Path(Path(place).name).with_suffix(".db"))
    if args.store is None and is_file(args.study):
        store = str(Path(place).with_suffix(".db"))
    if args.status:
        from nonsmooth.study.table import Table

        table = Table.load(store)
        _print(table, store, args)
        return DONE if _write(table, args) else FAILED
    bar = Bar(study.title or args.study)

    def show(progress: Progress) -> None:
        bar(progress.part, _words(progress))

    try:
        with bar:
            table = sweep(
                study,
                store=store,
                executor=args.executor,
                workers=args.workers,
                address=args.address,
                rerun=args.rerun,
                wait=args.wait,
                progress=show,
            )
    except Interrupted as error:
        print(f"error: {error}", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise Failed(sentence(error), FAILED) from None
    _print(table, store, args)
    is_written = _write(table, args)
    has_all = table.counts().get("done", 0) == table.n_run
    return DONE if has_all and is_written else FAILED


def _place(study: str) -> str:
    if is_file(study) and Path(study).is_file():
        return study
    if study in ready_names():
        return str(path_of(study))
    raise unknown(study, ready_names(), "study")


def _title(name: str) -> str:
    from nonsmooth.study.definition import load_study

    return load_study(path_of(name)).title


def _words(progress: Progress) -> str:
    """Return count, rate and time left."""
    text = f"{progress.done + progress.failed} of {progress.n}, {progress.rate:.3g}/s"
    if math.isfinite(progress.left):
        minutes, seconds = divmod(round(progress.left), 60)
        hours, minutes = divmod(minutes, 60)
        text += f", {hours}:{minutes:02}:{seconds:02} left"
    return text + (f", {progress.failed} failed" if progress.failed else "")


def _check(args: argparse.Namespace) -> None:
    """Refuse what could not be written, before anything is computed."""
    _page_runs(args.page_runs)
    if args.page_runs is not None and args.page is None:
        raise ModelError("--page-runs is for --page FILE")
    for option, suffixes in (
        ("save", SAVE_SUFFIXES),
        ("plot", PLOT_SUFFIXES),
        ("page", PAGE_SUFFIXES),
    ):
        name = getattr(args, option)
        if name is None:
            continue
        suffix = Path(name).suffix.lower()
        if suffix not in suffixes:
            raise ModelError(f"--{option} {name}: use {', '.join(suffixes)}")
        needs = {".parquet": ("pyarrow", "data")} | dict.fromkeys(
            PLOT_SUFFIXES, ("matplotlib", "plot")
        )
        module, extra = needs.get(suffix, ("", ""))
        if module and find_spec(module) is None:
            raise ModelError(
                f"--{option} {name} needs {module}: pip install 'nonsmooth[{extra}]'"
            )
        try:
            check_writable(name)
        except OSError as error:
            raise ModelError(f"--{option} {name}: {error.strerror}") from None


def _print(table: Table, store: str, args: argparse.Namespace) -> None:
    counts, failures = table.counts(), table.failures()
    doubted = sum(1 for text in table["doubts"] if text)
    if args.json:
        numbers: dict[str, Any] = {
            "runs": table.n_run,
            **{name: counts.get(name, 0) for name in ("done", "failed")},
            "doubted": doubted,
            "store": store,
        }
        if args.failures:
            numbers["failures"] = {str(k): why for k, why in failures.items()}
        print(json.dumps(numbers, indent=2))
        return
    print(table.definition.get("title") or args.study)
    print(f"{'runs':<12} {table.n_run}, {counts.get('done', 0)} done, in {store}")
    left = {n: counts[n] for n in ("started", "waiting") if counts.get(n)}
    if left:
        print(f"{'left':<12} {', '.join(f'{n} {name}' for name, n in left.items())}")
    if counts.get("failed"):
        print(f"{'failed':<12} {counts['failed']} (--failures lists, --rerun repeats)")
    if doubted:
        print(f"{'doubted':<12} {doubted}: see the column 'doubts'")
    for name in table.outputs:
        column = table[name]
        if column.dtype == float and not all(map(math.isnan, column.tolist())):
            known = [x for x in column.tolist() if not math.isnan(x)]
            print(f"{name:<12} {min(known):.6g} to {max(known):.6g}")
    if args.failures:
        for k, why in list(failures.items())[:MAX_LISTED]:
            point = ", ".join(f"{n} = {v}" for n, v in table.point(k).items())
            print(f"run {k} ({point}): {why}")
        if len(failures) > MAX_LISTED:
            print(f"and {len(failures) - MAX_LISTED} more")


def _page_runs(text: str | None) -> Any:
    """Return the runs that are named as a page takes them."""
    if text is None:
        return "kept"
    words = [word.strip() for word in text.split(",")]
    if text == "all":
        return text
    if not all(word.isascii() and word.isdigit() for word in words):
        raise ModelError(f"--page-runs {text}: give numbers, as in 3,17, or `all`")
    return [int(word) for word in words]


def _write(table: Table, args: argparse.Namespace) -> bool:
    """Write every file asked for, whatever becomes of the others."""
    is_good = True
    writers: dict[str, Callable[[str], Any]] = {
        "save": table.save,
        "plot": lambda path: table.plot(path=path),
        "page": lambda path: table.page(path, _page_runs(args.page_runs)),
    }
    for option, writer in writers.items():
        path = getattr(args, option)
        if path is None:
            continue
        try:
            writer(path)
        except (ModelError, OSError) as error:
            print(f"error: cannot write {path}: {error}", file=sys.stderr)
            is_good = False
    return is_good
