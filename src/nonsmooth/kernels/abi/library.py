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
from nonsmooth.kernels.abi.linking import CHECKED, JIT, far_kernels, lock

_log = logging.getLogger("nonsmooth")
# Compiled versions of one kernel, and of the library, that are kept: those of branches
# of the sources.
KEPT = 8
# What tells that a file is whole: the digest of the rest, at its end.
_SEAL = 32

_state: dict = {}  # the library or loader in use, and what finds symbols in it


# ---- files ---------------------------------------------------------------------


def read(path):
    """Return what a file holds, None if there is none or it is damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data[:-_SEAL]).digest() == data[-_SEAL:]:
        return data[:-_SEAL]
    _log.warning("%s is damaged and is made again", path)
    return None


def write(path, data, versions, kept=KEPT):
    """Write a file whole: others may read or write it, or another version.

    Returns whether it is kept; what is not is said once.
    """
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(data + hashlib.sha256(data).digest())
        new.replace(path)
    except BaseException as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        _tell_once(error)
        return False
    _thin_out(path, versions, kept)
    return True


def _thin_out(path, versions, kept):
    """Remove old versions of a file, by the pattern of their names."""
    with suppress(OSError):  # another process does the same
        found = sorted(path.parent.glob(versions), key=lambda p: p.stat().st_mtime)
        for old in found[:-kept]:
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
# What one kernel takes on a core, and the compiler to start, s.
SECONDS_PER_KERNEL, SECONDS_TO_START = 0.35, 2.0
# Kernels below which another process is not worth its start.
LEAST_PER_WORKER = 5


def objects_of(kernels) -> list[bytes]:
    """Return the object code of kernels; what is not kept is compiled on all cores."""
    found = {far.symbol: read(_object_path(far)) for far in kernels}
    missing = [far for far in kernels if found[far.symbol] is None]
    n_worker = min(_n_core(), -(-len(missing) // LEAST_PER_WORKER))
    if missing:
        seconds = SECONDS_TO_START + len(missing) * SECONDS_PER_KERNEL / n_worker
        _log.warning(
            f"compiling {len(missing)} kernels of the solver, once per installation; "
            f"this takes about {seconds:.0f} s (`nonsmooth warmup` does it in advance)"
        )
    for done, (far, data) in enumerate(_compiled(missing, n_worker), 1):
        found[far.symbol] = data
        write(_object_path(far), data, _object_name(far, "?" * 20))
        for listener in listeners:
            listener(done, len(missing))
    return [data for data in found.values() if data is not None]


def _n_core():
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _compiled(kernels, n_worker):
    """Compile kernels and yield each with its object code when it is done."""
    if n_worker > 1:
        from nonsmooth.kernels.abi.workers import compile_in_parallel

        yield from compile_in_parallel(kernels, n_worker)
        return
    for far in kernels:
        yield far, compiler().compile_object(far)


def compiler():
    """Return what compiles, which is imported only where it must."""
    try:
        return importlib.import_module("nonsmooth.kernels.abi.compiler")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is missing, which compiles the solver and laws of your own: "
            f"install it with `pip install {error.name}`; a wheel of nonsmooth with "
            "compiled code inside needs it for laws of your own only",
            name=error.name,
        ) from error


def link(objects):
    """Return a shared library made of object files, None without a linker."""
    linker = os.environ.get("CC") or next(
        filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None
    )
    if linker is None:
        return None
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files = [folder / f"{i}.o" for i in range(len(objects))]
            for file, data in zip(files, objects, strict=True):
                file.write_bytes(data)
            out = folder / "library.so"
            # Kernels call each other directly, not through a table.
            words = [linker, "-shared", "-Wl,-Bsymbolic", "-o", out, *files, "-lm"]
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
        if "find" in _state or _open_shipped():
            return
        path = cache_folder / f"library-{source_hash()}.so"
        if not _open_whole(path):
            with _alone():
                if not _open_whole(path):
                    _build(path)
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
        if needed <= _abilities() and _open_whole(path):
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
    """Return for which processors the code was made: a level, or "native".

    With the JIT off it is "python".
    """
    return _state.get("variant", "native") if JIT else "python"


def ship(level: str, folder: Path) -> Path:
    """Write the library for a level of processors to a folder; return the file.

    The processor is that of Numba's settings, as `./dev wheel` makes them.
    """
    load()
    path = folder / f"library-{source_hash()}-{level}.so"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(cache_folder / f"library-{source_hash()}.so", path)
    return path


def _open_whole(path):
    """Load a library that is whole and of this system; return whether it is."""
    return read(path) is not None and _open(path)


def _open(path):
    """Load a library; return whether this system can."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        _log.warning("%s is of another system (%s)", path, error)
        return False

    def find_in_library(symbol):
        return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value

    _state["find"] = find_in_library
    return True


def _build(path):
    """Compile what is missing, link all and load it; without a linker, part by part."""
    with suppress(OSError):
        # Of builds that were killed: nobody else builds now.
        for left in cache_folder.glob("*.new"):
            left.unlink()
    import_all()
    objects = objects_of([*far_kernels.values(), *_rows()])
    if CHECKED:
        objects.append(compiler().fault_object())
    linked = link(objects)
    if linked is not None:
        if write(path, linked, "library-*.so") and _open(path):
            return
        with suppress(OSError), tempfile.NamedTemporaryFile(suffix=".so") as file:
            # It lives until the process ends, without a name.
            file.write(linked)
            file.flush()
            if _open(Path(file.name)):
                return
    loader = _loader()
    for data in objects:
        loader.add(data)
    _state["find"] = loader.find


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


def load_object(symbol, data) -> int:
    """Load the object code of a user's function and return its address."""
    loader = _loader()
    tell_faults()
    loader.add(data)
    address = loader.find(symbol)
    loader.llvm.add_symbol(symbol, address)
    return address
