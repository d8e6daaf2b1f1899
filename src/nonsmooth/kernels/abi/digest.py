"""What compiled code is made of, as a digest.

A kernel is known by its own code, by that of the kernels compiled into it, by the
constants it reads, by the symbols and types of the far kernels it calls and by the
layout of its blocks: an edit recompiles what it reaches and nothing else, and two
copies of the sources share what they have in common.
"""

import hashlib
import types

from nonsmooth.kernels.abi.blocks import Array, Block
from nonsmooth.kernels.abi.linking import Far, Intrinsic, Kernel

_functions: dict[object, str] = {}
_layouts: dict[type, str] = {}


def digest_of(far) -> str:
    """Return the digest of a far kernel."""
    return _hash(of_function(far.py_func), _of_types(far))


def _hash(*parts) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def of_function(function) -> str:
    """Return the digest of a function and of what is compiled into it."""
    if function not in _functions:
        _functions[function] = ""  # one that calls itself adds nothing more
        parts = _of_code(function.__code__, function.__globals__)
        parts += [_of_value(cell.cell_contents) for cell in function.__closure__ or ()]
        _functions[function] = _hash(*parts, repr(function.__defaults__))
    return _functions[function]


def _of_code(code, scope) -> list[str]:
    """Return what tells code from other code: a docstring and line numbers do not."""
    parts = [code.co_code.hex(), repr((code.co_names, code.co_varnames))]
    has_doc = bool(code.co_consts) and isinstance(code.co_consts[0], str)
    for constant in code.co_consts[1 if has_doc else 0 :]:
        is_code = isinstance(constant, types.CodeType)
        parts += _of_code(constant, scope) if is_code else [repr(constant)]
    for name in code.co_names:
        value = scope.get(name)
        if not isinstance(value, types.ModuleType):
            parts.append(_of_value(value))
        elif value.__name__.startswith("nonsmooth."):
            # Which of the names belong to the module is not told: all that it has.
            found = [getattr(value, name, None) for name in code.co_names]
            parts += [_of_value(item) for item in found]
    return parts


def _of_value(value) -> str:
    """Return the digest of what a name in a kernel stands for."""
    if isinstance(value, Far):
        return _of_types(value)
    if isinstance(value, Intrinsic):
        return value.name
    if isinstance(value, type) and issubclass(value, Block):
        return of_layout(value)
    # Also of what Numba has decorated, in a user's law.
    function = getattr(value, "py_func", value)
    if isinstance(value, Kernel) or isinstance(function, types.FunctionType):
        return of_function(function)
    if hasattr(value, "tobytes"):
        return _hash(str(value.dtype), str(value.shape), value.tobytes().hex())
    is_plain = isinstance(value, (bool, int, float, complex, str, tuple, type(None)))
    return repr(value) if is_plain else type(value).__name__


def of_layout(cls) -> str:
    """Return the digest of a block: its slots, in order, and those of its blocks."""
    if cls not in _layouts:
        parts = [cls.__qualname__]
        slots = cls._layout.slots.items()
        parts += [f"{name} {of_kind(kind)}" for name, kind in slots]
        _layouts[cls] = _hash(*parts)
    return _layouts[cls]


def of_kind(kind) -> str:
    """Return the digest of a slot's or an argument's kind."""
    if isinstance(kind, Array):
        return f"{kind.extents} {of_kind(kind.kind)}"
    is_block = isinstance(kind, type) and issubclass(kind, Block)
    return of_layout(kind) if is_block else str(kind)


def _of_types(far) -> str:
    """Return the digest of a far kernel as its callers see it."""
    return _hash(far.symbol, *map(of_kind, far.arguments), str(far.returns))
