"""The engine's compiled code: one shared library, shipped or in the user's cache.

    shipped/library-HASH-LEVEL.so  in a wheel: for processors of a level, see `LEVELS`
    kernels-HASH/                  by what compiles: versions, processor, this package
        SYMBOL.DIGEST.o            object code of a far kernel, by what it is made of
        library-HASH.so            all of them, by the sources of kernels and elements

Loading the library needs neither Numba nor LLVM. Where there is no linker, the objects
are loaded one by one through llvmlite. What cannot be read is made again; what cannot
be written is kept in memory.
"""

import ctypes
import hashlib
import importlib
import logging
import os
import pkgutil
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path

from nonsmooth.kernels import cache_folder, source_hash
from nonsmooth.kernels.abi.digest import digest_of
from nonsmooth.kernels.abi.faults import FAULT
from nonsmooth.kernels.abi.linking import CHECKED, far_kernels, lock

_log = logging.getLogger("nonsmooth")
# Compiled versions of one kernel, and of the library, that are kept: those of branches
# of the sources.
KEPT = 8
# What tells that a file is whole: the digest of the rest, at its end.
_SEAL = 32

_state: dict = {}  # the library or loader in use, and what finds symbols in it


# ---- files ---------------------------------------------------------------------


def _read(path):
    """Return what a file holds, None if there is none or it is damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data[:-_SEAL]).digest() == data[-_SEAL:]:
        return data[:-_SEAL]
    _log.warning("%s is damaged and is made again", path)
    return None


def _write(path, data, versions):
    """Write a file whole: others may read or write it, or another version."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(data + hashlib.sha256(data).digest())
        new.replace(path)
        _thin_out(path, versions)
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        _tell_once(error)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def _thin_out(path, versions):
    """Remove old versions of a file, by the pattern of their names."""
    with suppress(FileNotFoundError):  # another process does the same
        found = sorted(path.parent.glob(versions), key=lambda p: p.stat().st_mtime)
        for old in found[:-KEPT]:
            old.unlink(missing_ok=True)


def _tell_once(error):
    if not _state.get("is_told"):
        _state["is_told"] = True
        _log.warning(
            "compiled code cannot be kept in %s (%s): the next run compiles it again; "
            "NONSMOOTH_CACHE_DIR may name another folder",
            cache_folder,
            error.strerror,
        )


# ---- objects -------------------------------------------------------------------


def _object_name(far, digest):
    return f"{far.symbol.replace(' ', '.')}.{digest}.o"


def _object_path(far):
    return cache_folder / _object_name(far, digest_of(far))


def object_of(far) -> bytes:
    """Return the object code of a far kernel or row function, compiled if need be."""
    path = _object_path(far)
    found = _read(path)
    if found is None:
        from nonsmooth.kernels.abi.compiler import compile_object

        found = compile_object(far)
        _write(path, found, _object_name(far, "?" * 20))
    return found


def import_all():
    """Import every module with far kernels, so that the library holds them all."""
    import nonsmooth.kernels as root

    for info in pkgutil.walk_packages(root.__path__, "nonsmooth.kernels."):
        if not info.name.startswith("nonsmooth.kernels.abi"):
            importlib.import_module(info.name)


def _rows():
    """Return the row functions of all built-in elements.

    Elements are above this package, so that they are asked for by name.
    """
    return importlib.import_module("nonsmooth.pack.rows").built_in_rows()


# ---- building ------------------------------------------------------------------

# Who wants to know of a build: called with the kernels compiled and all there are.
listeners: list[Callable[[int, int], None]] = []
# What one kernel takes, s.
SECONDS_PER_KERNEL = 0.6


def _compile_missing(kernels):
    """Compile what has no object code yet, on all cores."""
    missing = [k for k in kernels if not _object_path(k).exists()]
    n_worker = min(os.cpu_count() or 1, (len(missing) + 4) // 5)
    if not missing:
        return
    seconds = len(missing) * SECONDS_PER_KERNEL / max(1, n_worker)
    _log.warning(
        f"compiling {len(missing)} kernels of the solver, once per installation; this "
        f"takes about {seconds:.0f} s (`nonsmooth warmup` does it in advance)"
    )
    done = 0
    for _ in _compiled(missing, n_worker):
        done += 1
        for listener in listeners:
            listener(done, len(missing))


def _compiled(kernels, n_worker):
    """Compile kernels and yield each when it is done."""
    if n_worker > 1 and _is_writable():
        from nonsmooth.kernels.abi.workers import compile_in_parallel

        yield from compile_in_parallel(kernels, n_worker)
        return
    for far in kernels:
        _state.setdefault("objects", {})[far.symbol] = object_of(far)
        yield far


def _is_writable():
    try:
        cache_folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache_folder):
            return True
    except OSError:
        return False


def _link(objects):
    """Return a shared library made of object files, None without a linker."""
    linker = os.environ.get("CC") or next(
        filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None
    )
    if linker is None:
        return None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = []
        for i, data in enumerate(objects):
            files.append(folder / f"{i}.o")
            files[-1].write_bytes(data)
        out = folder / "library.so"
        # Kernels call each other directly, not through a table.
        words = [linker, "-shared", "-Wl,-Bsymbolic", "-o", out, *files, "-lm"]
        try:
            subprocess.run(words, check=True, capture_output=True)
            return out.read_bytes()
        except (OSError, subprocess.CalledProcessError) as error:
            _log.info("no shared library could be linked: %s", error)
            return None


@contextmanager
def _alone():
    """Let one process at a time build."""
    try:
        import fcntl

        cache_folder.mkdir(parents=True, exist_ok=True)
        file = (cache_folder / "lock").open("w")
    except (ImportError, OSError):
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# ---- loading -------------------------------------------------------------------


def load():
    """Load the library, once per process; build it if there is none."""
    with lock:
        if "find" not in _state and not _open_shipped():
            path = cache_folder / f"library-{source_hash()}.so"
            if _read(path) is None:
                with _alone():
                    if _read(path) is None:
                        _build(path)
            if "find" not in _state:
                _open(path)
            _state.setdefault("variant", "native")


# What a processor of each level can do, as Linux calls it; the best first.
LEVELS = {
    "x86-64-v3": {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
    "generic": set[str](),
}
SHIPPED = Path(__file__).parent.parent / "shipped"


def _open_shipped():
    """Load a library that came with this package; return whether there is one."""
    # Checked code is always made here.
    if CHECKED or os.environ.get("NUMBA_BOUNDSCHECK") or not SHIPPED.is_dir():
        return False
    for level, needed in LEVELS.items():
        path = SHIPPED / f"library-{source_hash()}-{level}.so"
        if path.exists() and needed <= _abilities() and _read(path) is not None:
            try:
                _open(path)
            except OSError as error:
                _log.warning("%s is of another system (%s)", path, error)
                continue
            _state["variant"], _state["shipped"] = level, path
            return True
    return False


def shipped() -> Path | None:
    """Return the library that came with this package, if it is in use."""
    if "find" not in _state:
        with lock:
            _open_shipped()
    return _state.get("shipped")


def _abilities():
    """Return what this processor can do; empty where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    flags = next((line for line in lines if line.startswith("flags")), "")
    return set(flags.partition(":")[2].split())


def variant() -> str:
    """Return for which processors the loaded code was made: a level, or "native"."""
    return _state.get("variant", "native")


def ship(level: str, folder: Path) -> Path:
    """Write the library for a level of processors to a folder; return the file.

    The processor is that of Numba's settings, as `./dev wheel` makes them.
    """
    load()
    path = folder / f"library-{source_hash()}-{level}.so"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(cache_folder / f"library-{source_hash()}.so", path)
    return path


def _open(path):
    library = ctypes.CDLL(str(path))

    def find_in_library(symbol):
        return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value

    _state["find"] = find_in_library


def _build(path):
    """Compile what is missing and link all; leave a library, or a loader."""
    import_all()
    kernels = [*far_kernels.values(), *_rows()]
    _compile_missing(kernels)
    kept = _state.pop("objects", {})
    objects = [kept.get(far.symbol) or object_of(far) for far in kernels]
    if CHECKED:
        from nonsmooth.kernels.abi.compiler import fault_object

        objects.append(fault_object())
    linked = _link(objects)
    if linked is None:
        loader = _loader()
        for data in objects:
            loader.add(data)
        _state["find"] = loader.find
        return
    _write(path, linked, "library-*.so")
    if not path.exists():
        # It lives until the process ends, without a name.
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(linked)
            file.flush()
            _open(Path(file.name))


class _Loader:
    """Object code that is loaded through llvmlite."""

    def __init__(self):
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
        self.llvm = llvm
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)

    def add(self, data):
        """Load one object file."""
        self.engine.add_object_file(self.llvm.ObjectFileRef.from_data(data))

    def find(self, symbol):
        """Return the address of a symbol."""
        return self.engine.get_function_address(symbol)


def _loader():
    if "loader" not in _state:
        _state["loader"] = _Loader()
    return _state["loader"]


def place() -> str:
    """Return where the compiled code is."""
    return str(cache_folder)


def find(symbol) -> int:
    """Return the address of a symbol of the library."""
    load()
    return _state["find"](symbol)


def fault_cells() -> list:
    """Return the cells in which compiled code notes faults."""
    cells = [_state["cells"]] if "cells" in _state else []
    if "find" in _state:
        cells.append((ctypes.c_int64 * 3).from_address(find(FAULT)))
    return cells


def tell_faults():
    """Let code that is compiled in this process note its faults."""
    if CHECKED and "cells" not in _state:
        _state["cells"] = (ctypes.c_int64 * 3)()
        _loader().llvm.add_symbol(FAULT, ctypes.addressof(_state["cells"]))


def load_alone(far) -> int:
    """Compile a user's function and return its address.

    It is not kept: it may call code in files that nobody watches.
    """
    from nonsmooth.kernels.abi.compiler import compile_object

    with lock:
        data = compile_object(far)
        loader = _loader()
        tell_faults()
        loader.add(data)
        address = loader.find(far.symbol)
        loader.llvm.add_symbol(far.symbol, address)
        return address
