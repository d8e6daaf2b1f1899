"""Studies that are stopped, killed, crowded, out of room or changed lose nothing."""

import functools
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nonsmooth import FrictionLaw, Interrupted, ModelError
from nonsmooth.app.imports import import_script
from nonsmooth.study import (
    Count,
    Final,
    Grid,
    Study,
    Table,
    WholeRun,
    sweep,
)
from nonsmooth.study import index as index_module
from nonsmooth.study.definition import prepare
from nonsmooth.study.executors import Processes, Threads
from nonsmooth.study.index import Index, runs_folder

END = {"x": Final(column="block.x")}
SPEEDS = {"speed": Grid(low=0.05, high=0.5, n=12)}


def belts(**changes):
    given: dict[str, Any] = {
        "system": "belt",
        "parameters": SPEEDS,
        "outputs": END,
        "until": 1.0,
    }
    return Study(**(given | changes))


def statuses(path) -> dict[str, int]:
    db = sqlite3.connect(path)
    found = dict(db.execute("SELECT status, COUNT(*) FROM runs GROUP BY status"))
    db.close()
    return found


@pytest.fixture
def store(tmp_path):
    return tmp_path / "study.db"


class Few:
    """An executor that stops after some runs, as a process that is killed does."""

    def __init__(self, n, error=None):
        self.n, self.error = n, error

    def outcomes(self, ready, items, on_start):
        stream: Any = Threads(1).outcomes(ready, items, on_start)
        for _ in range(self.n):
            yield next(stream)
        stream.close()
        if self.error is not None:
            raise self.error


class Counted:
    """An executor that remembers which runs it was given."""

    def __init__(self):
        self.numbers: list[int] = []

    def outcomes(self, ready, items, on_start):
        self.numbers = [k for k, _ in items]
        return Threads(1).outcomes(ready, items, on_start)


def test_a_study_goes_on_and_computes_nothing_twice(store):
    whole = sweep(belts())
    with pytest.raises(Interrupted, match=r"5 of 12 runs are done and kept in .*study"):
        sweep(belts(), store=store, executor=Few(5, KeyboardInterrupt()))
    assert statuses(store)["done"] == 5
    rest = Counted()
    table = sweep(belts(), store=store, executor=rest)
    assert len(rest.numbers) == 7
    np.testing.assert_array_equal(table["x"], whole["x"])
    again = Counted()
    sweep(belts(), store=store, executor=again)
    assert again.numbers == []


def test_failed_runs_are_repeated_on_request_only(store, tmp_path):
    flag = tmp_path / "works"

    def picky(result, flag=flag):
        if not flag.exists() and result.t_end > 0.0:
            raise RuntimeError("not yet")
        return 1.0

    study = belts(outputs={"f": picky})
    assert sweep(study, store=store).counts() == {"failed": 12}
    flag.touch()
    rest = Counted()
    table = sweep(study, store=store, executor=rest)
    assert rest.numbers == []
    assert table.failures()[3] == "RuntimeError: not yet"
    assert sweep(study, store=store, rerun=True).counts() == {"done": 12}


def test_another_study_is_refused_with_the_difference(store):
    sweep(belts(), store=store, executor=Few(3))
    with pytest.raises(
        ModelError, match=r"has changed .*parameters\.speed\.n was 12 and is 13"
    ):
        sweep(belts(parameters={"speed": Grid(low=0.05, high=0.5, n=13)}), store=store)
    with pytest.raises(ModelError, match=r"rtol was 1e-08 and is 1e-06"):
        sweep(belts(rtol=1e-6), store=store)
    with pytest.raises(
        ModelError, match=r"model\.contacts\[0\]\.friction\.mu was 0\.3"
    ):
        sweep(belts(settings={"mu": 0.2}), store=store)
    with pytest.raises(ModelError, match=r"outputs\.x\.column was \"block\.x\" and is"):
        sweep(belts(outputs={"x": Final(column="block.y")}), store=store)
    # A title changes no run.
    assert sweep(belts(title="named"), store=store).counts() == {"done": 12}


def test_a_function_that_changed_is_another_study(store):
    sweep(belts(outputs={"f": lambda result: 1.0}), store=store)
    with pytest.raises(ModelError, match=r"outputs\.f\.code was"):
        sweep(belts(outputs={"f": lambda result: 2.0}), store=store)


class Scaled:
    """A function with a value of its own."""

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, result):
        return self.scale * result.t_end


def plus(result, more=0.0):
    return result.t_end + more


def closed(scale):
    return lambda result: scale * result.t_end


@pytest.mark.parametrize(
    "made",
    [
        Scaled,
        closed,
        lambda x: functools.partial(plus, more=x),
        lambda x: lambda result, own=x: own,
        lambda x: Scaled(x).__call__,
    ],
)
def test_a_function_whose_values_changed_is_another_study(store, made):
    """What it computed with another constant is not taken for its own."""
    sweep(belts(outputs={"f": made(1.0)}), store=store)
    assert sweep(belts(outputs={"f": made(1.0)}), store=store).counts() == {"done": 12}
    with pytest.raises(ModelError, match=r"outputs\.f\.code was"):
        sweep(belts(outputs={"f": made(2.0)}), store=store)


def test_whole_runs_of_another_study_are_not_taken(store):
    folder = runs_folder(store)
    sweep(belts(outputs={**END, "run": WholeRun()}, until=0.5), store=store)
    store.unlink()
    table = sweep(belts(), store=store)
    assert (folder / "3.nsr").exists()
    assert table.run(3).t_end == 1.0


def test_indices_of_other_formats_and_releases_are_refused(store):
    sweep(belts(), store=store)
    for key, value, why in (
        ("library", "9.9", r"made by nonsmooth 9\.9, and this is"),
        ("format", "7", "an index of format 7"),
    ):
        db = sqlite3.connect(store)
        with db:
            db.execute("UPDATE meta SET value=? WHERE key=?", (value, key))
        db.close()
        with pytest.raises(ModelError, match=why):
            sweep(belts(), store=store)


@pytest.mark.parametrize(
    "content", [b"not a database", b"SQLite format 3\0" + b"\7" * 90]
)
def test_foreign_files_are_refused_and_left_alone(store, content):
    store.write_bytes(content)
    with pytest.raises(ModelError, match="not the index of a study"):
        sweep(belts(), store=store)
    assert store.read_bytes() == content
    with pytest.raises(ModelError, match="not the index of a study"):
        Table.load(store)


def test_a_foreign_database_is_refused(store):
    db = sqlite3.connect(store)
    db.execute("PRAGMA application_id = 77")
    db.execute("CREATE TABLE mine (a)")
    db.commit()
    db.close()
    with pytest.raises(ModelError, match="not the index of a study"):
        sweep(belts(), store=store)


def test_a_damaged_index_is_refused(store):
    sweep(belts(), store=store)
    whole = bytearray(store.read_bytes())
    whole[4096:] = b"\xa5" * (len(whole) - 4096)
    store.write_bytes(whole)
    with pytest.raises(ModelError, match="damaged"):
        sweep(belts(), store=store)


def test_a_second_process_is_refused_or_waits(store):
    ready = prepare(belts())
    first = Index(ready, store)
    with pytest.raises(ModelError, match="another process works on this study"):
        Index(ready, store)
    waited: list[float] = []

    def wait():
        begin = time.monotonic()
        Index(ready, store, wait=20.0).close()
        waited.append(time.monotonic() - begin)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.4)
    first.close()
    thread.join()
    assert waited[0] >= 0.2


def test_a_full_disk_loses_nothing_that_was_reported(store, monkeypatch):
    """The database is told how large it may be, and says what a full disk says."""
    monkeypatch.setattr(index_module, "COMMIT_SECONDS", 0.0)
    words = {"x": lambda result: "long " * 400}
    study = belts(outputs=words)
    reported = [0]

    class Filling(Threads):
        def outcomes(self, ready, items, on_start):
            for k, outcomes in enumerate(super().outcomes(ready, items, on_start)):
                if k == 6:
                    page = index._db.execute("PRAGMA page_count").fetchone()[0]
                    index._db.execute(f"PRAGMA max_page_count = {page}")
                yield outcomes

    made = index_module.Index.__init__

    def remember(self, *args):
        nonlocal index
        index = self
        made(self, *args)

    index: Any = None
    monkeypatch.setattr(index_module.Index, "__init__", remember)
    with pytest.raises(OSError, match="full"):
        sweep(
            study,
            store=store,
            executor=Filling(1),
            progress=lambda p: reported.append(p.done),
        )
    assert 6 <= max(reported) < 12
    assert statuses(store)["done"] == max(reported)
    assert sweep(study, store=store).counts() == {"done": 12}


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of file sizes")
def test_no_room_for_whole_runs_is_said(store, monkeypatch, capsys):
    """Files may have 20 kB: the index has room, and a run has not."""
    import resource

    from nonsmooth.app.cli import main

    path = store.with_suffix(".yaml")
    text = "nonsmooth: 1\nstudy: {system: belt, parameters: {speed: [0.1, 0.2]}, "
    path.write_text(text + "outputs: {run: {type: WholeRun}}, until: 9}")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        code = main(["sweep", str(path), "--workers", "1"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    said = capsys.readouterr().err
    assert code == 1
    assert "cannot write" in said
    assert "what was reported as done is kept" in said
    assert "done" not in statuses(path.with_suffix(".db"))
    assert main(["sweep", str(path)]) == 0


# What runs in the background of a shell ignores Ctrl-C, and its children do.
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from nonsmooth.study import Count, sweep
def report(p):
    print(p.done, flush=True)
sweep("belt", {"speed": [0.05 + 0.0001 * k for k in range(4000)]},
      {"n": Count()}, until=5.0, store=sys.argv[1], progress=report, workers=2)
"""


def started(store) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def reported(process, least: int) -> int:
    """Return what a process has reported as done, when it is large enough."""
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= least:
            return int(line)
    raise AssertionError(process.stderr.read())


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_processes_lose_nothing_that_was_reported(store):
    process = started(store)
    n = reported(process, 10)
    process.kill()
    process.wait()
    found = statuses(store)
    assert found["done"] >= n
    assert found["waiting"] > 0
    # Another process may take over at once.
    table = Table.load(store)
    assert set(table.failures().values()) <= {
        "it was interrupted",
        "it has not been run",
    }
    process = started(store)
    assert reported(process, n + 5) > n
    process.kill()
    process.wait()
    for pipe in (process.stdout, process.stderr):
        assert pipe is not None
        pipe.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process")
def test_control_c_stops_at_once_and_keeps_what_is_done(store):
    process = started(store)
    n = reported(process, 5)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    # A run looks up ten times a second; the rest is the end of an interpreter.
    assert time.monotonic() - begin < 10.0
    assert "Interrupted: interrupted: " in errors
    assert statuses(store)["done"] >= n


def test_whole_runs_are_kept_beside_the_index(store):
    from nonsmooth import Result

    study = belts(outputs={**END, "run": WholeRun()})
    table = sweep(study, store=store)
    for k in (0, 11):
        run = Result.load(runs_folder(store) / f"{k}.nsr")
        assert run.sample(1.0, "block.x")["block.x"][0] == table["x"][k]
    assert len(list(runs_folder(store).iterdir())) == 12


def test_a_running_study_is_read(store):
    sweep(belts(), store=store, executor=Few(4))
    ready = prepare(belts())
    writer = Index(ready, store)
    table = Table.load(store)
    writer.close()
    assert table.counts()["done"] == 4
    assert table.n_run == 12
    with pytest.raises(FileNotFoundError):
        Table.load(store.with_name("none.db"))


# -- executors -------------------------------------------------------------------------


def test_threads_and_one_worker_agree():
    one = sweep(belts(), workers=1)
    two = sweep(belts(), workers=3)
    np.testing.assert_array_equal(one["x"], two["x"])


def last_x(result):
    """A function of the user's own that can be sent."""
    return result.sample(result.t_end, "block.x")["block.x"][0]


def dies_once(result):
    """Kill the process that runs it, the first time."""
    flag = Path(os.environ["NONSMOOTH_TEST_FLAG"])
    if result.system.model.bodies[1].x.rate > 0.4 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return last_x(result)


@pytest.mark.slow
def test_processes_agree_with_threads():
    study = belts(outputs={"x": last_x, "n": Count()})
    a = sweep(study, executor="processes", workers=2)
    b = sweep(study)
    np.testing.assert_array_equal(a["x"], b["x"])
    assert a.counts() == {"done": 12}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_process_that_dies_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv("NONSMOOTH_TEST_FLAG", str(tmp_path / "flag"))
    study = belts(outputs={"x": dies_once})
    table = sweep(study, executor=Processes(2))
    assert table.counts() == {"done": 12}
    assert (tmp_path / "flag").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_processes_end_with_the_one_that_started_them(tmp_path):
    script = tmp_path / "script.py"
    words = ', store=sys.argv[1], executor="processes", '
    text = SCRIPT.replace(", store=sys.argv[1], ", words).split("sweep(", 1)
    script.write_text(f'{text[0]}if __name__ == "__main__":\n    sweep({text[1]}')
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "study.db")],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert reported(process, 1) >= 1
        process.kill()
    # Others of its group are gone soon after it.
    for _ in range(600):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("processes are left behind")


def test_functions_that_cannot_be_sent_are_refused():
    with pytest.raises(
        ModelError, match=r"output 'f': .*lambda.* cannot be sent .*executor='threads'"
    ):
        sweep(belts(outputs={"f": lambda r: 0.0}), executor="processes")


LAW = """\
from dataclasses import dataclass
from numba import njit
from nonsmooth import FrictionLaw

FACTOR = {factor}


@njit
def scaled(x):
    return FACTOR * x


@dataclass(frozen=True, kw_only=True)
class Sticky(FrictionLaw):
    mu: float{default}

    @staticmethod
    def limit(p, lam_n, speed):
        return scaled(p[0] * lam_n){more}
"""
WITH_LAW = """\
nonsmooth: 1
gravity: [0, -9.81]
bodies: [{type: PointMass, name: box, mass: 1, position: [0, 0], velocity: [1, 0]}]
contacts:
  - name: sole
    b: box
    normal: {type: KelvinVoigt, stiffness: 1e5, damping: 100}
    friction: {type: Sticky}
"""


@pytest.mark.parametrize(
    "change",
    [{"more": " + 0.1 * speed"}, {"factor": 3.0}, {"default": " = 0.2"}],
)
def test_a_law_that_changed_is_another_study(tmp_path, monkeypatch, change):
    """Also in what it calls, and in a default that no file shows."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(FrictionLaw, "kinds", dict(FrictionLaw.kinds))

    def run(**own):
        words = {"factor": 2.0, "default": " = 0.1", "more": "", **own}
        (tmp_path / "laws.py").write_text(LAW.format(**words))
        (tmp_path / "model.yaml").write_text(WITH_LAW)
        monkeypatch.delitem(sys.modules, "laws", raising=False)
        import_script(str(tmp_path / "laws.py"))
        study = Study(
            system=str(tmp_path / "model.yaml"),
            parameters={"box.mass": [1.0, 2.0]},
            outputs={"x": Final(column="box.x")},
            until=0.01,
        )
        return sweep(study, store=tmp_path / "study.db")

    run()
    assert run().counts() == {"done": 2}
    with pytest.raises(ModelError, match=r"has changed .*code\.Sticky was"):
        run(**change)
