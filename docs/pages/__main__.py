"""Make the pages of given systems: python -m pages SYSTEM ..."""

from __future__ import annotations

import sys

from pages import PageError, make


def main(systems: list[str]) -> int:
    """Make them one after the other; return an exit code."""
    for system in systems:
        try:
            make(system)
        except PageError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
