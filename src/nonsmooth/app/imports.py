"""Scripts with kinds of one's own, read because the user says so."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path

from nonsmooth.errors import ModelError


def import_script(name: str) -> None:
    """Run a Python file, so that the kinds it defines are known.

    Its folder joins the search path, for worker processes and for its own imports.
    """
    path, where = Path(name), f"--import {name}"
    if path.suffix != ".py":
        raise ModelError(f"{where}: give a Python file, as in --import my_laws.py")
    if not path.is_file():
        raise ModelError(f"{where}: no such file; check its name and folder")
    if path.stem in sys.modules:
        known = getattr(sys.modules[path.stem], "__file__", None)
        if known is not None and Path(known).resolve() == path.resolve():
            return
        raise ModelError(f"{where}: a module '{path.stem}' is there already; rename it")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ModelError(f"{where}: this cannot be read as Python; is it a text file?")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.append(str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[path.stem]
        raise ModelError(f"{where}{_line(error, path)}: {_why(error)}") from None


def _line(error: Exception, path: Path) -> str:
    """Return the line of the script at which it failed, if it is known."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}" if error.lineno else ""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if Path(f.filename).name == path.name]
    return f", line {lines[-1]}" if lines else ""


def _why(error: Exception) -> str:
    if isinstance(error, ModelError):
        return str(error)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}; mend it there"
