"""Build the documentation into the folder site/; any warning is an error.

python docs/build.py             build
python docs/build.py --serve     build, show on localhost, rebuild on changes

The pages of the gallery are filled by running its systems. What they give is kept in
.cache/docs until a source changes, so that the next build is quick.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import pages  # noqa: E402


def say(text: str) -> None:
    """Print one line of our own."""
    print(f"docs: {text}", flush=True)


def fill() -> None:
    """Run the systems whose pages are not current, and say how far it is."""
    old = [system for system in pages.names() if not pages.is_current(system)]
    if not old:
        say("pages of the gallery are current")
        return
    start = time.perf_counter()
    say(
        f"running {len(old)} pages of the gallery; the first time, kernels are compiled"
    )
    for k, (system, seconds) in enumerate(pages.make_all(), start=1):
        say(f"{k:2d} of {len(old)}  {system:<16} {seconds:6.1f} s")
    say(f"pages of the gallery made in {time.perf_counter() - start:.0f} s")


def main(argv: list[str]) -> int:
    """Fill the pages, then run MkDocs in the project root; return its exit code."""
    # A notice of the theme's authors about the future of MkDocs, not about us.
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    is_serving = argv == ["--serve"]
    if argv and not is_serving:
        print(__doc__)
        return 2
    try:
        fill()
    except pages.PageError as error:
        say(f"error: {error}")
        return 1
    say("building the site")
    task = ["serve"] if is_serving else ["build", "--clean", "--quiet"]
    command = [sys.executable, "-m", "mkdocs", *task, "--strict"]
    code = subprocess.run(command, cwd=ROOT, env=env).returncode
    if code == 0 and not is_serving:
        print(f"documentation: {ROOT / 'site' / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
