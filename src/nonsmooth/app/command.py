"""What the commands share: exit codes, errors in one line, arguments, systems."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from nonsmooth.errors import ModelError
from nonsmooth.gallery._convert import convert
from nonsmooth.model import Model
from nonsmooth.study.systems import build_model

DONE, FAILED, BAD_INPUT, DOUBTED, INTERRUPTED = 0, 1, 2, 3, 130


class Failed(Exception):
    """The command cannot go on; its text is the error's line."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def sentence(error: Exception) -> str:
    """Return an error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return " ".join(str(error).split())


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            **options,
        )

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise Failed(f"{message} (see {self.prog} --help)", BAD_INPUT)


def number(text: str) -> float:
    """Return a number from an argument."""
    try:
        return convert("value", float, text)
    except ModelError as error:
        what = str(error).removeprefix("value = ")
        raise argparse.ArgumentTypeError(what) from None


def add_set(parser: argparse.ArgumentParser) -> None:
    """Add the option that changes a parameter."""
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="change a parameter; may be repeated",
    )


def read_model(system: str, settings: Sequence[str] = ()) -> Model:
    """Build or read a model, and apply the settings KEY=VALUE."""
    chosen: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not (key and equals):
            raise ModelError(f"--set {setting}: write --set KEY=VALUE, e.g. n=3")
        if key in chosen:
            raise ModelError(f"--set {key} is given twice; give it once")
        chosen[key] = value
    return build_model(system, chosen, "--set ")
