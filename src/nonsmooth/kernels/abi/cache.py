"""Compiled code on disk, under a digest of all that it is made of.

Numba itself looks at the file that holds a function, and misses an edit in a callee of
another. Here a kernel is known by its own code, by that of the kernels compiled into
it, by the constants it reads, by the names and types of the far kernels it calls and by
the layout of its blocks: an edit recompiles what it reaches and nothing else, and two
copies of the sources share what they have in common.

What cannot be read is compiled again; what cannot be written is kept in memory.
"""

import hashlib
import logging
import os
import pickle
import types as python_types
from contextlib import suppress
from pathlib import Path

from numba import types
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from nonsmooth.kernels import cache_folder
from nonsmooth.kernels.abi.blocks import Array, Block
from nonsmooth.kernels.abi.pointers import BlockType, Rows

_log = logging.getLogger("nonsmooth")
# Compiled versions of one kernel that are kept, for branches of the sources.
KEPT = 8

_digests: dict[object, str] = {}
_layouts: dict[type, str] = {}
_is_told = False


def _hash(*parts) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def _of_function(function) -> str:
    """Return the digest of a function and of what is compiled into it."""
    if function not in _digests:
        _digests[function] = ""  # one that calls itself adds nothing more
        parts = _of_code(function.__code__, function.__globals__)
        parts += [_of_value(cell.cell_contents) for cell in function.__closure__ or ()]
        _digests[function] = _hash(*parts, repr(function.__defaults__))
    return _digests[function]


def _of_code(code, scope) -> list[str]:
    """Return what tells code from other code: a docstring and line numbers do not."""
    parts = [code.co_code.hex(), repr((code.co_names, code.co_varnames))]
    has_doc = bool(code.co_consts) and isinstance(code.co_consts[0], str)
    for constant in code.co_consts[1 if has_doc else 0 :]:
        is_code = isinstance(constant, python_types.CodeType)
        parts += _of_code(constant, scope) if is_code else [repr(constant)]
    for name in code.co_names:
        value = scope.get(name)
        if not isinstance(value, python_types.ModuleType):
            parts.append(_of_value(value))
        elif value.__name__.startswith("nonsmooth."):
            # Which of the names belong to the module is not told: all that it has.
            found = [getattr(value, name, None) for name in code.co_names]
            parts += [_of_value(item) for item in found]
    return parts


def _of_value(value) -> str:
    """Return the digest of what a name in a kernel stands for."""
    if isinstance(value, types.ExternalFunction):
        return value.symbol + _of_types(value.sig)
    if isinstance(value, type) and issubclass(value, Block):
        return _of_layout(value)
    function = getattr(value, "py_func", value)
    if isinstance(function, python_types.FunctionType):
        # The package `abi` counts as a whole, in the folder's name.
        is_abi = function.__module__.startswith("nonsmooth.kernels.abi.")
        return function.__qualname__ if is_abi else _of_function(function)
    if hasattr(value, "tobytes"):
        return _hash(str(value.dtype), str(value.shape), value.tobytes().hex())
    is_plain = isinstance(value, (bool, int, float, complex, str, tuple, type(None)))
    return repr(value) if is_plain else type(value).__name__


def _of_layout(cls) -> str:
    """Return the digest of a block: its slots, in order, and those of its blocks."""
    if cls not in _layouts:
        parts = [cls.__qualname__]
        for name, kind in cls._layout.slots.items():
            inner = kind.kind if isinstance(kind, Array) else kind
            is_block = isinstance(inner, type) and issubclass(inner, Block)
            shape = kind.extents if isinstance(kind, Array) else ""
            parts.append(f"{name} {shape} {_of_layout(inner) if is_block else inner}")
        _layouts[cls] = _hash(*parts)
    return _layouts[cls]


def _of_types(sig) -> str:
    """Return the digest of a signature, blocks by their layout."""
    found = [str(sig)]
    for kind in sig.args if hasattr(sig, "args") else sig:
        entry = kind.entry if isinstance(kind, Rows) else kind
        if isinstance(entry, BlockType):
            found.append(_of_layout(entry.block))
    return _hash(*found)


class Cache(_Cache):
    """The compiled code of one kernel; what Numba asks a cache for."""

    def __init__(self, function):
        self.function = function
        self.name = f"{function.__module__}.{function.__qualname__}"

    cache_path = str(cache_folder)

    def enable(self):
        """Do nothing: it always is."""

    def disable(self):
        """Do nothing."""

    def flush(self):
        """Forget all versions of this kernel."""
        for path in cache_folder.glob(f"{self.name}.*"):
            path.unlink(missing_ok=True)

    def path(self, sig, codegen) -> Path:
        """Return the file of the code for a signature and a processor."""
        target = repr(codegen.magic_tuple())
        digest = _hash(_of_function(self.function), _of_types(sig), target)
        return cache_folder / f"{self.name}.{digest}"

    def load_overload(self, sig, target_context):
        """Return compiled code, or None."""
        target_context.refresh()
        path = self.path(sig, target_context.codegen())
        try:
            return CompileResult._rebuild(target_context, *_read(path))
        except FileNotFoundError:
            return None
        except Exception as error:  # anything may come of a damaged file
            _log.warning("%s cannot be used and is compiled again: %s", path, error)
            return None

    def save_overload(self, sig, data):
        """Keep compiled code, unless it holds addresses of this process."""
        if data.library.has_dynamic_globals or data.lifted:
            return
        path = self.path(sig, data.codegen)
        try:
            _write(path, dumps(data._reduce()))
            self._thin_out()
        except OSError as error:
            _tell(error)

    def _thin_out(self):
        found = sorted(
            cache_folder.glob(f"{self.name}.*"), key=lambda p: p.stat().st_mtime
        )
        for path in found[:-KEPT]:
            path.unlink(missing_ok=True)


def _read(path):
    """Return what a file holds; its first bytes tell whether it is whole."""
    data = path.read_bytes()
    if hashlib.sha256(data[32:]).digest() != data[:32]:
        raise ValueError("it is damaged")
    return pickle.loads(data[32:])


def _write(path, data):
    """Write a file whole: others may read or write it meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        new.write_bytes(hashlib.sha256(data).digest() + data)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def _tell(error):
    """Say once that nothing is kept."""
    global _is_told
    if not _is_told:
        _is_told = True
        _log.warning(
            "compiled code cannot be kept in %s (%s): the next run compiles it again; "
            "NONSMOOTH_CACHE_DIR may name another folder",
            cache_folder,
            error.strerror,
        )
