"""The pages of the gallery: the numbers, figures and live runs behind them.

A system's page is the Markdown file `docs/gallery/SYSTEM.md` and the module of this
package with the same name. Its function `fill(page)` runs the system and puts in what
the Markdown asks for by markers:

    {{ NAME }}                    a number, page.number(NAME, ...)
    {{ figure NAME: caption }}    a figure, page.figure(NAME, ...)
    {{ viewer }}                  the live run, page.live(result, ...)

What was made is kept in `.cache/docs/SYSTEM` until a source changes.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth import Result, gallery, simulate
from nonsmooth.views import figure as look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = ROOT / ".cache" / "docs"
DATA = ROOT / "tests" / "data"  # reference series, from independent solutions
STAMP, NUMBERS, REPORT = "stamp", "numbers.json", "report.html"
# A figure with more lines than this is smaller, and faster to show, as pixels.
LARGEST_DRAWING = 200_000  # bytes
DOTS = 96  # pixels of a browser for an inch; a sharp screen has twice as many
WORKERS = 2

Floats = NDArray[np.float64]
Curve = tuple[Any, Any]  # x and y, of the same length
Curves = dict[str, Curve]


class PageError(Exception):
    """A page cannot be made; the text says which and why."""


@dataclass
class Page:
    """What the Markdown of one system asks for."""

    system: str
    numbers: dict[str, str] = field(default_factory=dict[str, str])
    figures: dict[str, Figure] = field(default_factory=dict[str, Any])
    run: Result | None = None
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])

    def number(
        self,
        name: str,
        value: float,
        form: str = ".4g",
        *,
        near: float | None = None,
        within: float = 0.0,
    ) -> float:
        """Put in a number, and return it.

        If the text says that it agrees with another one, `near`, a difference of more
        than `within` is an error, so that the text cannot become wrong unnoticed.
        """
        value = float(value)
        if not math.isfinite(value):
            raise PageError(f"{self.system}: {name} is {value}")
        if near is not None and not abs(value - near) <= within:
            raise PageError(
                f"{self.system}: {name} is {value!r}, and the page says that it is "
                f"{near!r} within {within:g}"
            )
        self.text(name, printed(value, form))
        return value

    def check(self, claim: str, is_so: object) -> None:
        """Fail unless something that the text says in words is so."""
        if not is_so:
            raise PageError(f"{self.system}: it is not so that {claim}")

    def text(self, name: str, words: str) -> None:
        """Put in words."""
        if name in self.numbers:
            raise PageError(f"{self.system}: {name} is defined twice")
        self.numbers[name] = words

    def table(self, name: str, rows: Sequence[Sequence[str]]) -> None:
        """Put in the rows of a table, whose head stands in the Markdown."""
        self.text(name, "\n".join(f"| {' | '.join(row)} |" for row in rows))

    def figure(self, name: str, figure: Figure) -> None:
        """Put in a figure."""
        if name in self.figures:
            raise PageError(f"{self.system}: figure {name} is defined twice")
        self.figures[name] = figure

    def live(self, result: Result, **parameters: Any) -> None:
        """Put in the run that the viewer shows, with the parameters it was built by."""
        self.run, self.parameters = result, parameters


def printed(value: float, form: str) -> str:
    """Return a number as it stands in a text: 1.5e-8, with a real sign if negative."""
    text = format(value, form)
    text = re.sub(r"e([+-])0*(\d)", lambda m: f"e{m[1].strip('+')}{m[2]}", text)
    if not re.search(r"[1-9]", text):  # no minus sign before nothing
        text = text.lstrip("-")
    return text.replace("-", "−", 1) if text.startswith("-") else text


# ---- helpers of the pages ----------------------------------------------------------


def run(system: str, until: float | None = None, **options: Any) -> Result:
    """Simulate a system; options of `simulate` have their own names."""
    mine = ("rtol", "method", "step", "max_step", "stabilisation", "scheme")
    given = {key: options.pop(key) for key in mine if key in options}
    end = gallery.duration(system) if until is None else until
    return simulate(gallery.build(system, **options), until=end, **given)


def series(name: str) -> dict[str, Floats]:
    """Return the columns of a reference series that are numbers."""
    with (DATA / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found: dict[str, Floats] = {}
    for key in rows[0]:
        try:
            found[key] = np.array([float(row[key]) for row in rows])
        except ValueError:
            continue
    return found


def jumps(result: Result, names: Sequence[str], n: int = 2000) -> dict[str, Floats]:
    """Return `n` samples and both one-sided values at events, `t` among the columns."""
    start, end = result.t_start, result.t_end
    at = np.unique([event.t for event in result.events if start < event.t < end])
    t = np.union1d(np.linspace(start, end, n), at)
    after = result.sample(t, list(names))
    if not len(at):
        return {"t": t} | {name: after[name] for name in names}
    before = result.sample(at, list(names), "before")
    place = np.searchsorted(t, at)
    found = {"t": np.insert(t, place, at)}
    for name in names:
        found[name] = np.insert(after[name], place, before[name])
    return found


def curves(
    panels: dict[str, Curves],
    *,
    x: str = "time (s)",
    width: float = 8.0,
    height: float = 1.75,
    dots: dict[str, Curves] | None = None,
    legend: bool = True,
    span: tuple[float, float] | None = None,
) -> Figure:
    """Plot lines, {label: (x, y)}, in one panel for each title of a vertical axis.

    `dots` are drawn as rings over the panels of the same titles: values of others.
    """
    with look.style():
        figure = look.new_figure(width, 0.55 + height * len(panels))
        grid: Any = figure.subplots(len(panels), 1, squeeze=False, sharex=True)
        shown: list[str] = []
        for axes, (title, lines) in zip(grid[:, 0], panels.items(), strict=True):
            for k, (label, (a, b)) in enumerate(lines.items()):
                colour, dashes = look.line_look(k)
                axes.plot(a, b, color=colour, ls=dashes, lw=1.2, label=label)
            for label, (a, b) in (dots or {}).get(title, {}).items():
                axes.plot(a, b, "o", color=look.INK, mfc="none", ms=4, label=label)
            axes.set_ylabel(title)
            axes.margins(x=0.0)
            labels = [*lines, *(dots or {}).get(title, {})]
            if legend and labels != shown and any(labels):  # else the one above tells
                axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.04))
            shown = labels
        figure.align_ylabels(grid[:, 0])
        if span:
            grid[-1, 0].set_xlim(*span)
        grid[-1, 0].set_xlabel(x)
        return look.finish(figure, None)


# ---- making ------------------------------------------------------------------------


def names() -> tuple[str, ...]:
    """Return the systems that have a page: all of them."""
    return gallery.names()


def module(system: str) -> Any:
    """Return the module behind a system's page."""
    try:
        return importlib.import_module(f"{__name__}.{system}")
    except ModuleNotFoundError as error:
        raise PageError(f"{system}: no module docs/pages/{system}.py") from error


def filled(system: str) -> Page:
    """Run a system's module and return what it put in."""
    page = Page(system)
    module(system).fill(page)
    if page.run is None:
        raise PageError(f"{system}: no run for the viewer; call page.live")
    if "sketch" not in page.figures:
        raise PageError(f"{system}: no figure 'sketch', the index needs one")
    return page


def stamp(system: str) -> str:
    """Return a hash of all that a page depends on but its Markdown."""
    package = ROOT / "src" / "nonsmooth"
    app = package / "app"  # no page runs it
    sources = [path for path in package.rglob("*.py") if app not in path.parents]
    sources = [*sorted(sources), package / "views" / "static" / "report.js"]
    sources += [HERE / "__init__.py", HERE / f"{system}.py"]
    sources += sorted(DATA.glob("*.csv"))
    found = hashlib.sha256()
    for path in sources:
        if path.exists():
            found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def make(system: str) -> None:
    """Make what a page asks for, in the cache."""
    folder = CACHE / system
    wanted = stamp(system)
    # Made beside the old one: a build that was stopped leaves nothing half done.
    fresh = CACHE / f"{system}.{os.getpid()}"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        page = filled(system)
        write(page, fresh)
        (fresh / STAMP).write_text(wanted)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def write(page: Page, folder: Path) -> None:
    """Write numbers, figures and the report of a page."""
    import matplotlib

    text = json.dumps(page.numbers, ensure_ascii=False, indent=1)
    (folder / NUMBERS).write_text(text, encoding="utf-8")
    for name, figure in page.figures.items():
        path = folder / f"{name}.svg"
        # The same sources give the same bytes.
        with matplotlib.rc_context({"svg.hashsalt": page.system}):
            figure.savefig(path, metadata={"Date": None})
        if path.stat().st_size > LARGEST_DRAWING:
            path.unlink()
            figure.savefig(path.with_suffix(".png"), dpi=2 * DOTS)
    assert page.run is not None
    report(page.run, folder / REPORT, page)


def report(result: Result, path: Path, page: Page) -> None:
    """Write the self-contained page of the live viewer."""
    from nonsmooth.views import report as views
    from nonsmooth.views.scene import Parameter

    values = gallery.values(page.system, **page.parameters)
    parameters = [
        Parameter(name=p.name, value=values[p.name], unit=p.unit, meaning=p.meaning)
        for p in gallery.parameters(page.system)
    ]
    views.report(result, path, parameters=parameters)


def is_current(system: str) -> bool:
    """Tell whether the cache holds what the sources give."""
    path = CACHE / system / STAMP
    return path.exists() and path.read_text() == stamp(system)


def make_all() -> Iterator[tuple[str, float]]:
    """Make every page that is not current, two at a time; yield name and seconds."""
    old = [system for system in names() if not is_current(system)]
    if old:
        warm_up()
    with ThreadPoolExecutor(min(WORKERS, os.cpu_count() or 1)) as pool:
        tasks = {pool.submit(make_apart, system): system for system in old}
        try:
            for task in as_completed(tasks):
                yield tasks[task], task.result()
        except PageError:
            pool.shutdown(cancel_futures=True)
            raise


def warm_up() -> None:
    """Compile the kernels if need be: two pages at once would do it twice."""
    _apart("nonsmooth.app.cli", "warmup")


def make_apart(system: str) -> float:
    """Make a page in a process of its own; return the seconds it took.

    A server that watches the sources must not see old modules.
    """
    start = time.perf_counter()
    _apart(__name__, system)
    return time.perf_counter() - start


def _apart(module: str, argument: str) -> None:
    """Run a module in a process of its own."""
    words = [sys.executable, "-m", module, argument]
    done = subprocess.run(words, cwd=HERE.parent, capture_output=True, text=True)
    if done.returncode != 0:
        raise PageError(done.stderr.strip() or f"{argument}: ended by itself")


def numbers(system: str) -> dict[str, str]:
    """Return the numbers of a page, as they stand in its text."""
    text = (CACHE / system / NUMBERS).read_text(encoding="utf-8")
    return json.loads(text)


def files(system: str) -> dict[str, Path]:
    """Return the files of a page by their name beside it in the site."""
    folder = CACHE / system
    found = [*drawn(system).values(), folder / REPORT]
    return {f"{system}.{path.name}": path for path in found}


def drawn(system: str) -> dict[str, Path]:
    """Return the figures of a page by name."""
    found = (CACHE / system).glob("*.*g")  # svg or png
    return {path.stem: path for path in sorted(found)}
