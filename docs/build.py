"""Build the documentation into the folder site/; any warning is an error.

python docs/build.py             build
python docs/build.py --serve     build, show on localhost, rebuild on changes
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(argv: list[str]) -> int:
    """Run MkDocs in the project root; return its exit code."""
    # A notice of the theme's authors about the future of MkDocs, not about us.
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    is_serving = argv == ["--serve"]
    if argv and not is_serving:
        print(__doc__)
        return 2
    task = ["serve"] if is_serving else ["build", "--clean", "--quiet"]
    command = [sys.executable, "-m", "mkdocs", *task, "--strict"]
    code = subprocess.run(command, cwd=ROOT, env=env).returncode
    if code == 0 and not is_serving:
        print(f"documentation: {ROOT / 'site' / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
