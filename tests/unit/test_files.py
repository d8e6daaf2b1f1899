"""Output files: written whole or not at all, and never over another one.

Every kind of file that a run leaves behind is written where an old one is, and
writing ends in every way it can: the old file must be as it was, and no other file
be there.
"""

import errno
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from nonsmooth import Model, ModelError, PointMass, gallery, io, simulate
from nonsmooth.app import summary
from nonsmooth.app.cli import main
from nonsmooth.files import replacing

OLD = b"what was there before"
# Option of the command, name of the file.
KINDS = [
    ("--save", "run.csv"),
    ("--save", "run.parquet"),
    ("--save", "run.npz"),
    ("--save-events", "events.csv"),
    ("--plot", "run.png"),
    ("--report", "run.html"),
]
WRITERS = {
    "run.csv": lambda result, path: result.sample().to_csv(path),
    "run.parquet": lambda result, path: result.sample().to_parquet(path),
    "events.csv": lambda result, path: summary.write_events(result.events, path),
    "run.png": lambda result, path: result.plot(["block.x"], path),
    "run.html": lambda result, path: result.report(path),
    "model.yaml": lambda result, path: io.save(result.system.model, path),
}
RUN = ["run", "belt", "--until", "0.5"]
no_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)


@pytest.fixture(scope="module")
def result():
    return simulate(gallery.build("belt"), until=0.5)


@pytest.fixture
def old(tmp_path):
    def write(name):
        path = tmp_path / name
        path.write_bytes(OLD)
        return path

    return write


def need(name):
    for suffix, module in ((".parquet", "pyarrow"), (".png", "matplotlib")):
        if name.endswith(suffix):
            pytest.importorskip(module)


def is_untouched(path):
    return path.read_bytes() == OLD and os.listdir(path.parent) == [path.name]


# ---- the helper ------------------------------------------------------------------


def test_the_new_file_is_there_at_the_end(old):
    path = old("a.txt")
    with replacing(path) as temporary:
        assert temporary.parent == path.parent
        assert temporary.suffix == ".txt"
        temporary.write_text("new")
        assert path.read_bytes() == OLD
    assert path.read_text() == "new"
    assert os.listdir(path.parent) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_writer_that_raises_midway(old, error):
    path = old("a.txt")

    def write():
        with replacing(path) as temporary:
            temporary.write_text("half of")
            raise error

    with pytest.raises(error):
        write()
    assert is_untouched(path)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_stay(old, tmp_path):
    path = old("a.txt")
    path.chmod(0o640)
    for place in (path, tmp_path / "b.txt"):
        with replacing(place) as temporary:
            temporary.write_text("new")
    assert path.stat().st_mode & 0o777 == 0o640
    # A new file has those of any other.
    (tmp_path / "c.txt").write_text("")
    modes = [(tmp_path / name).stat().st_mode for name in ("b.txt", "c.txt")]
    assert modes[0] == modes[1]


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_stays_a_link(old, tmp_path):
    path = old("a.txt")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = folder / "link.txt"
    link.symlink_to(path)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_written_directly(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(path) as place:
        place.write_text("new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert path.is_fifo()


def test_a_name_as_long_as_a_name_may_be(tmp_path):
    path = tmp_path / ("ü" * 120 + ".csv")  # 244 bytes of 255
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"


def refusal(path):
    with pytest.raises(OSError, match=r"\w") as caught, replacing(path):
        pass
    return caught.value


def test_a_missing_folder_is_named(tmp_path):
    path = tmp_path / "no" / "a.txt"
    error = refusal(path)
    assert isinstance(error, FileNotFoundError)
    assert error.strerror == f"no folder '{tmp_path / 'no'}'"
    assert error.filename == str(path)


def test_a_folder_is_no_file(tmp_path):
    assert refusal(tmp_path).strerror == "it is a folder"


@pytest.mark.parametrize("name", ["\0", "\ud800"])
def test_a_name_that_no_file_can_have(name):
    assert refusal(name).strerror == "not a valid file name"
    with pytest.raises(ModelError, match="not a valid file name"):
        io.load(f"{name}.yaml")


@no_root
def test_what_is_write_protected(old, tmp_path):
    path = old("a.txt")
    path.chmod(0o400)
    assert refusal(path).strerror == "the file is write-protected"
    tmp_path.chmod(0o500)
    why = refusal(tmp_path / "b.txt").strerror
    tmp_path.chmod(0o700)
    assert why == f"folder '{tmp_path}' is write-protected"


def test_the_temporary_file_is_not_mentioned(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"

    def full(temporary, target):
        raise OSError(errno.ENOSPC, "No space left", str(temporary), None, str(target))

    monkeypatch.setattr(Path, "replace", full)
    assert str(refusal(path)) == f"[Errno {errno.ENOSPC}] No space left: '{path}'"


# ---- every kind of file ----------------------------------------------------------


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk(result, old, name):
    """The system refuses to write more, in the middle of the file."""
    resource = pytest.importorskip("resource")
    need(name)
    path = old(name)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
    try:
        with pytest.raises(OSError, match=r"File too large|write"):
            WRITERS[name](result, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert is_untouched(path)


@pytest.mark.parametrize("name", WRITERS)
def test_an_old_file_is_replaced(result, old, name):
    need(name)
    path = old(name)
    WRITERS[name](result, path)
    assert len(path.read_bytes()) > 200
    assert os.listdir(path.parent) == [name]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_that_is_killed(tmp_path):
    """With SIGKILL, when all but the renaming is done."""
    argv = [sys.executable, __file__, str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.stderr == ""
    names = done.stdout.split()
    assert set(names) >= {"run.csv", "events.csv", "run.html"}
    for name in names:
        assert (tmp_path / name).read_bytes() == OLD, name


def write_and_be_killed(folder):
    """Write each kind of file in a process of its own that kills itself."""
    result = simulate(gallery.build("belt"), until=0.5)
    for name, write in WRITERS.items():
        try:
            need(name)
        except pytest.skip.Exception:
            continue
        path = folder / name
        path.write_bytes(OLD)
        child = os.fork()
        if child == 0:
            os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)
            write(result, path)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
        print(name, flush=True)


# ---- the command -----------------------------------------------------------------


@pytest.mark.parametrize(("option", "name"), KINDS)
def test_ctrl_c_while_a_file_is_saved(capsys, monkeypatch, old, option, name):
    """The summary is there already, and so is the old file."""

    def ctrl_c(file):
        raise KeyboardInterrupt

    need(name)
    path = old(name)
    monkeypatch.setattr(os, "fsync", ctrl_c)
    assert main([*RUN, option, str(path)]) == 130
    out, err = capsys.readouterr()
    assert "status       finished" in out
    assert "saved" not in out
    assert err == "error: interrupted\n"
    assert is_untouched(path)


def test_a_file_that_fails_does_not_stop_the_others(capsys, monkeypatch, old, tmp_path):
    def full(result, path, *more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("nonsmooth.result.Samples.to_csv", full)
    path, page = old("run.csv"), tmp_path / "run.html"
    assert main([*RUN, "--save", str(path), "--report", str(page)]) == 1
    out, err = capsys.readouterr()
    assert err == f"error: cannot write {path}: No space left on device\n"
    assert "status       finished" in out
    assert out.endswith(f"report       {page}\n")
    assert path.read_bytes() == OLD
    assert page.exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("name", ["run.png", "run.svg", "run.csv"])
def test_a_full_disk_is_told_with_the_file(tmp_path, name):
    """The device says what a full disk says, and not which file it was."""
    if name.endswith("g"):
        pytest.importorskip("matplotlib")
    path = tmp_path / name
    path.symlink_to("/dev/full")
    result = simulate(gallery.build("pendulum_chain"), 0.1)
    is_plot = name.endswith("g")
    write = partial(result.plot, "rod1.theta") if is_plot else result.sample().to_csv
    with pytest.raises(OSError, match="No space left on device") as caught:
        write(str(path))
    assert caught.value.filename == str(path)


def test_a_reader_that_has_gone(tmp_path):
    """As in `nonsmooth run ... --save run.csv | head -1`."""
    path = tmp_path / "run.csv"
    argv = [sys.executable, "-m", "nonsmooth.app.cli", *RUN, "--save", str(path)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate()
    assert errors == b""
    assert path.exists()


def refused(capsys, *argv):
    assert main(list(argv)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err.removeprefix("error: ").rstrip("\n")


def test_two_outputs_with_one_name(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    remedy = "this is the file of --save as well; give another name"
    for other in ("run.csv", "./run.csv", "sub/../run.csv", str(tmp_path / "run.csv")):
        words = [*RUN, "--save", "run.csv", "--save-events", other]
        assert refused(capsys, *words) == f"--save-events {other}: {remedy}"
    assert os.listdir(tmp_path) == ["sub"]


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_outputs_that_are_one_file_by_links(capsys, monkeypatch, old, tmp_path):
    monkeypatch.chdir(tmp_path)
    old("run.csv")
    Path("soft.html").symlink_to("run.csv")
    os.link("run.csv", "hard.csv")
    words = [*RUN, "--save", "run.csv"]
    for more in (["--report", "soft.html"], ["--save-events", "hard.csv"]):
        assert "this is the file of --save as well" in refused(capsys, *words, *more)
    Path("model.yaml").write_text("nonsmooth: 1\ngallery: belt\n")
    Path("model.csv").symlink_to("model.yaml")
    words = ["run", "model.yaml", "--until", "0.1", "--save", "model.csv"]
    remedy = "this is the model file as well; give another name"
    assert refused(capsys, *words) == f"--save model.csv: {remedy}"


def test_the_schema(capsys, monkeypatch, old):
    path = old("schema.json")

    def ctrl_c(file):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", ctrl_c)
        assert main(["schema", "--out", str(path)]) == 130
    assert is_untouched(path)
    missing = path.parent / "no" / "schema.json"
    capsys.readouterr()
    error = refused(capsys, "schema", "--out", str(missing))
    assert error == f"{missing}: no folder '{missing.parent}'"


def test_a_figure_without_an_ending(tmp_path):
    """It gets the usual one, as Matplotlib would give it."""
    pytest.importorskip("matplotlib")
    model = Model(bodies=[PointMass(name="ball", mass=1.0)])
    simulate(model, until=0.1).plot(["ball.x"], tmp_path / "run")
    assert os.listdir(tmp_path) == ["run.png"]
    assert np.all(
        np.frombuffer((tmp_path / "run.png").read_bytes()[1:4], "S3") == b"PNG"
    )


if __name__ == "__main__":
    write_and_be_killed(Path(sys.argv[1]))
