"""What `help` shows of the classes from which a user derives."""

import inspect
import io
import re
import subprocess
import sys
from contextlib import redirect_stdout
from textwrap import dedent

import pytest

import nonsmooth


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "NormalLaw",
            ("force(p, overlap, overlap_rate, approach_rate)", "m/s, positive while"),
        ),
        ("FrictionLaw", ("limit(p, lam_n, speed)", "force(p, lam_n, v_t, z)", "m/s")),
    ],
)
def test_help_has_signature_units_and_an_example_that_runs(tmp_path, name, words):
    with redirect_stdout(io.StringIO()) as said:
        help(getattr(nonsmooth, name))
    for word in words:
        assert word in said.getvalue()
    text = inspect.getdoc(getattr(nonsmooth, name)) or ""
    found = re.search(r"::\n\n(.*?)\n\nIn a model file", text, re.DOTALL)
    assert found
    script = tmp_path / "example.py"
    script.write_text(dedent(found[1]))
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"'(touch_down|stick)': \d", done.stdout), done.stdout
