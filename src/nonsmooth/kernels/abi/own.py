"""Laws of a user's own: compiled once, and kept by all that their code follows from.

    kernels-HASH/own/DIGEST.so     a law that needs nothing but the library of C
    kernels-HASH/own/DIGEST.o      the same where there is no linker

Loading the first needs neither Numba nor LLVM. The digest is that of the law's code, of
its globals, closure and defaults, and of the functions that it calls, as they are when
it is compiled: Numba takes them for constants. A law that reads what is not known
here, or whose code holds addresses of this process, is not kept.
"""

import builtins
import ctypes
import dis
import hashlib
import itertools
import os
import types
from contextlib import suppress

import numpy as np

from nonsmooth.kernels import cache_folder
from nonsmooth.kernels.abi import library
from nonsmooth.kernels.abi.digest import of_function, of_kind
from nonsmooth.kernels.abi.linking import Intrinsic, Kernel, lock

FOLDER = cache_folder / "own"
# Laws that are kept, the last used; each is some 15 kB.
KEPT = 200
# What is known by its name and by the versions that the digest begins with.
_KNOWN = {"builtins", "cmath", "math", "numpy", "operator", "_operator"}
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))

_number = itertools.count(1)
# Functions that Numba has compiled for a law, and what they were then.
_frozen: dict[object, str] = {}


class Unknown(Exception):
    """A law reads what cannot be told from other things."""


# ---- what a law is made of -----------------------------------------------------


def digest_of_law(far) -> str | None:
    """Return the digest of a user's function, None if it reads what is not known."""
    settings = [f"{k}={v}" for k, v in os.environ.items() if k.startswith("NUMBA_")]
    try:
        made_of = _of_function(far.py_func, ())
    except Unknown:
        return None
    kinds = [*map(of_kind, far.arguments), str(far.returns)]
    return _hash("1", np.__version__, *sorted(settings), *kinds, made_of)


def _hash(*parts) -> str:
    # Lengths tell where a part ends, whatever it holds.
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _of_function(function, path) -> str:
    """Return the digest of a function; `path` are those that it is called from."""
    if not isinstance(function, types.FunctionType):
        raise Unknown(function)
    if function in path:
        return "again"
    path = (*path, function)
    codes = list(_codes(function.__code__))
    steps = [step for code in codes for step in dis.get_instructions(code)]
    attributes = {step.argval for step in steps if step.opname in _ATTRIBUTES}
    used = sorted({step.argval for step in steps if step.opname == "LOAD_GLOBAL"})
    parts = [_of_code(code) for code in codes]
    for name in used:
        # What is not there is of Python itself, or does not compile.
        is_there = name in function.__globals__
        value = function.__globals__[name] if is_there else getattr(builtins, name, ...)
        parts += [name, _of_value(value, attributes, path)]
    try:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError as error:
        raise Unknown(function) from error
    held = [*cells, function.__defaults__, *(function.__kwdefaults__ or {}).items()]
    parts += [_of_value(value, attributes, path) for value in held]
    return _hash(*parts)


_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}


def _codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _of_code(code) -> str:
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_kwonlyargcount, code.co_flags)
    constants = [
        "code" if isinstance(value, types.CodeType) else _of_value(value, (), ())
        for value in code.co_consts
    ]
    table = code.co_exceptiontable.hex()
    return _hash(code.co_code.hex(), repr(names), repr(counts), table, *constants)


def _of_value(value, attributes, path) -> str:
    """Return the digest of what a name stands for, or raise `Unknown`.

    Of a module only what may be read counts: whatever has the name of an attribute.
    """
    kind = type(value)
    if kind in _PLAIN:
        return f"{kind.__name__} {value!r}"
    if isinstance(value, (tuple, frozenset)):
        found = [_of_value(item, attributes, path) for item in value]
        found = found if isinstance(value, tuple) else sorted(found)
        return _hash(kind.__name__, repr(getattr(value, "_fields", "")), *found)
    if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        told = f"{value.dtype.descr} {value.shape} {value.dtype.byteorder}"
        return _hash(kind.__name__, told, value.tobytes().hex())
    if isinstance(value, types.ModuleType):
        return _of_module(value, attributes, path)
    if hasattr(value, "targetoptions") and hasattr(value, "py_func"):
        return _of_compiled(value, path)
    if isinstance(value, Intrinsic):
        return value.name
    if isinstance(value, Kernel) and value.py_func.__module__.startswith("nonsmooth."):
        return of_function(value.py_func)
    if isinstance(value, np.ufunc) and getattr(np, value.__name__, None) is value:
        return f"numpy.{value.__name__}"
    root = (getattr(value, "__module__", None) or "").partition(".")[0]
    if root in _KNOWN and isinstance(getattr(value, "__name__", None), str):
        return f"{value.__module__}.{value.__name__}"
    # Also a plain function: Numba calls one only where it was taught what to do.
    raise Unknown(value)


def _of_module(module, attributes, path) -> str:
    if module.__name__.partition(".")[0] in _KNOWN:
        return module.__name__
    if (module, attributes) in path:
        return "again"
    path = (*path, (module, attributes))
    parts = [module.__name__]
    for name in sorted(attributes):
        if hasattr(module, name):
            parts += [name, _of_value(getattr(module, name), attributes, path)]
    return _hash(*parts)


def _of_compiled(dispatcher, path) -> str:
    """Return the digest of a function that Numba compiles.

    Once compiled it stays what it was: then it must be known from before.
    """
    options = dispatcher.targetoptions
    told = [f"{k} {_option(options[k])}" for k in sorted(options)]
    found = _hash(*told, _of_function(dispatcher.py_func, path))
    # Numba's own cache of files does not ask for values of globals.
    is_kept = type(getattr(dispatcher, "_cache", None)).__name__ != "NullCache"
    if is_kept or (dispatcher.signatures and _frozen.get(dispatcher) != found):
        raise Unknown(dispatcher)
    _frozen[dispatcher] = found
    return found


def _option(value):
    return sorted(value) if isinstance(value, (set, frozenset)) else value


# ---- finding and keeping it ----------------------------------------------------


def load(far) -> int:
    """Return the address of a user's function, compiled if it is not kept."""
    with lock:
        digest = digest_of_law(far)
        # A law may be defined again, as in a notebook: no two have one symbol.
        far.symbol = f"law {digest or next(_number)}"
        found = digest and (_open(far, digest) or _load_object(far, digest))
        return found or _compile(far, digest)


def _open(far, digest):
    """Return the address in the shared library of a law, None if there is none."""
    path = FOLDER / f"{digest}.so"
    if library.read(path) is None:
        return None
    try:
        code = ctypes.CDLL(str(path))
        address = ctypes.cast(getattr(code, far.symbol), ctypes.c_void_p).value
    except (OSError, AttributeError):  # of another system, or taken away just now
        return None
    _touch(path)
    return address


def _load_object(far, digest):
    """Return the address in the object code of a law, None if there is none."""
    path = FOLDER / f"{digest}.o"
    data = library.read(path)
    if data is None:
        return None
    _touch(path)
    return library.load_object(far.symbol, data)


def _compile(far, digest):
    """Compile a law, keep it if that can be done, and return its address."""
    data, is_alone = library.compiler().compile_alone(far)
    # A thread may have changed a global in the meantime.
    if digest and is_alone and digest_of_law(far) == digest:
        linked = library.link([data])
        name = f"{digest}.o" if linked is None else f"{digest}.so"
        is_kept = library.write(FOLDER / name, linked or data, "*", KEPT)
        if is_kept and linked and (address := _open(far, digest)):
            return address
    return library.load_object(far.symbol, data)


def _touch(path):
    """Note that a file was used."""
    with suppress(OSError):
        os.utime(path)
