"""What other systems would stumble over, as far as it can be seen from here."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest

from nonsmooth import gallery

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "nonsmooth").rglob("*.py"))
# Modules of the standard library that Windows has not.
UNIX = {"fcntl", "grp", "posix", "pwd", "pty", "resource", "termios", "tty"}
RESERVED = {"con", "prn", "aux", "nul"}


def trees():
    for path in SOURCES:
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def test_text_is_utf_8_whatever_the_system_takes_it_for():
    """Windows reads and writes text in a code page unless told otherwise."""
    told = []
    for path, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            words = {keyword.arg for keyword in node.keywords}
            text = ast.unparse(node)
            if name in ("read_text", "write_text"):
                is_told = "encoding" in words or "utf-8" in text
            elif name == "open" and re.search(r"'[rwax]\+?'", text):
                # Of a folder's lock nothing is read, an archive's files are bytes.
                is_told = "encoding" in words or "'lock'" in text or "zip64" in text
            else:
                continue
            if not is_told and "/proc/" not in text:
                told.append(f"{path.relative_to(ROOT)}:{node.lineno}: {text}")
    assert not told


def test_what_only_unix_has_is_imported_where_it_may_be_missing():
    for path, tree in trees():
        tried = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.Try)
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {node.module or ""}
            else:
                continue
            assert not names & UNIX or id(node) in tried, f"{path}: {names}"


def test_names_of_files_are_valid_everywhere():
    files = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True
    ).stdout.split("\n")
    if not any(files):
        pytest.skip("not a checkout")
    names = [*filter(None, files), *(f"{name}.html" for name in gallery.names())]
    assert len({name.lower() for name in names}) == len(names)
    for name in names:
        path = PureWindowsPath(name)
        assert not re.search(r'[<>:"|?*\\]', name), name
        assert path.stem.lower() not in RESERVED, name
        assert not any(part.endswith((" ", ".")) for part in path.parts), name
        # 260 letters with a folder before it.
        assert len(name) < 120, name


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437"])
def test_terminals_that_know_few_letters(encoding, tmp_path):
    """Titles, units and names of files have letters that they have not."""
    model = tmp_path / "schräg.yaml"
    model.write_text(
        "nonsmooth: 1\ntitle: Schräge ∠ 20°\nbodies:\n"
        "- {type: PointMass, name: part, mass: 1, velocity: [1, 0]}\n",
        encoding="utf-8",
    )
    env = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    env |= {"PYTHONCOERCECLOCALE": "0"}
    for more in ([], ["--quiet"], ["--json"]):
        command = ["run", "schräg.yaml", "--until", "1", "--save", "läuft.csv", *more]
        words = [sys.executable, "-m", "nonsmooth", *command]
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr
    head = (tmp_path / "läuft.csv").read_text(encoding="utf-8").split("\n")[0]
    assert "part.x" in head
