"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

# Letters of the target's name in that of the temporary file: enough to tell what it
# was where a killed process leaves one behind, and short enough for any disk.
N_LETTER = 40


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[Path]:
    """Yield a temporary path to write to; at the end it becomes the file.

    It is beside the target and has its suffix. If writing fails, or is interrupted or
    killed, the old file is as it was. A link stays, and what it points to is replaced;
    an existing file keeps its permissions. Pipes and devices are written directly.

    Raises
    ------
    OSError
        The folder is missing, or the file cannot be written; `filename` is the target.
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    if _is_special(target):
        with _naming(path):
            yield target
        return
    name = f".{target.stem[:N_LETTER]}-{secrets.token_hex(4)}{target.suffix}"
    temporary = target.with_name(name)
    try:
        with _naming(path):
            # With the permissions of any new file, unlike those of tempfile.
            temporary.open("xb").close()
            yield temporary
            with temporary.open("r+b") as file:
                # A full disk, or one far away, may complain only now.
                os.fsync(file.fileno())
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o7777)
            temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Generator[None]:
    """Name the file in errors: a full disk does not, and temporary ones say nothing."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an OSError that says why if `replacing` could not write there."""
    path = Path(path)
    try:
        target = Path(os.path.realpath(path))
    except ValueError:  # a null byte, or what is not Unicode
        raise OSError(errno.EINVAL, "not a valid file name", str(path)) from None
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"no folder '{path.parent}'", str(path))
    if target.exists() and not os.access(target, os.W_OK):
        # Its folder alone would allow to replace it.
        raise PermissionError(errno.EACCES, "the file is write-protected", str(path))
    if not (_is_special(target) or os.access(target.parent, os.W_OK | os.X_OK)):
        why = f"folder '{path.parent}' is write-protected"
        raise PermissionError(errno.EACCES, why, str(path))


def _is_special(target: Path) -> bool:
    return target.exists() and not target.is_file()
