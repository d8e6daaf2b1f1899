"""What kernels are: functions that are compiled, and how they call each other.

    kernel     compiled into each of its callers
    far        compiled alone, to a function of C: called by its symbol, and from Python
    Intrinsic  a few lines of machine code: `at`, `stack_floats`, `call_law`, ...

Nothing here compiles, and nothing imports Numba: compiled code is found in a library
(`library`), made by `compiler` where there is none.
"""

import ctypes
import functools
import os
import threading
from typing import Any

import numpy as np

from nonsmooth.kernels.abi.blocks import (
    COMPLEXES,
    FLOATS,
    INTEGER,
    INTEGERS,
    NUMBER,
)
from nonsmooth.kernels.abi.faults import ARRAY, faults

# Numba's own variable: everything runs as plain Python, see `nonsmooth.kernels.abi`.
JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
CHECKED = JIT and os.environ.get("NONSMOOTH_CHECKED", "") == "1"
# One thread at a time compiles, loads or registers.
lock = threading.RLock()

_DTYPES = {FLOATS: np.float64, INTEGERS: np.int64, COMPLEXES: np.complex128}
_C_TYPES = {NUMBER: ctypes.c_double, INTEGER: ctypes.c_int64, None: None}

# All far kernels imported so far, by symbol.
far_kernels: dict[str, "Far"] = {}


class Kernel:
    """A function that is compiled into its callers."""

    def __init__(self, function):
        self.py_func = function
        functools.update_wrapper(self, function)

    def __call__(self, *args):
        """Compile the function for these arguments, and call it: for tests."""
        return self._compiled(*args)

    @functools.cached_property
    def _compiled(self):
        return jit(self.py_func)


class Intrinsic:
    """A name that the compiler knows what to do with."""

    def __init__(self, name):
        self.name = name


class Far:
    """A kernel that is compiled alone.

    Numba optimises a callee again inside each of its callers, up to the top, so that
    compile time grows with the depth of calls: a far kernel is a boundary.
    """

    def __init__(self, function, arguments, returns):
        self.py_func = function
        self.arguments, self.returns = arguments, returns
        # Not cached properties: their lock and ours would wait for each other.
        self._address: int | None = None
        self._function: Any = None
        self.symbol = f"{function.__module__}.{function.__name__}"
        functools.update_wrapper(self, function)

    @property
    def is_ours(self):
        """Whether it belongs to the library; a user's is compiled alone."""
        return self.py_func.__module__.startswith("nonsmooth.")

    @property
    def address(self):
        """Address of the compiled function in this process."""
        if self._address is None:
            self._address = self._find()
        return self._address

    def _find(self):
        from nonsmooth.kernels.abi import library

        if self.is_ours:
            return library.find(self.symbol)
        with lock:
            data, _ = library.compiler().compile_alone(self)
            return library.load_object(self.symbol, data)

    def _make_function(self):
        kinds = []
        for kind in self.arguments:
            # The checked build hands extent and number of the slot beside a pointer.
            n = 3 if CHECKED and kind in _DTYPES else 1
            kinds += [_C_TYPES.get(kind, ctypes.c_int64)] * n
        return ctypes.CFUNCTYPE(_C_TYPES[self.returns], *kinds)(self.address)

    def __call__(self, *args):
        """Call it from Python: blocks, numbers, and arrays, which it sees flat."""
        if len(args) != len(self.arguments):
            raise TypeError(f"{self.symbol}: {len(args)} arguments given")
        if self._function is None:
            self._function = self._make_function()
        values = []
        for kind, value in zip(self.arguments, args, strict=True):
            if kind in _DTYPES:
                self._check_array(kind, value)
                values.append(value.__array_interface__["data"][0])
                values += [value.size, ARRAY] if CHECKED else []
            elif kind in (NUMBER, INTEGER):
                values.append(float(value) if kind == NUMBER else int(value))
            elif type(value) is kind:
                values.append(value._address)
            else:
                raise TypeError(f"{self.symbol}: {type(value)} given, {kind} declared")
        if not CHECKED:
            return self._function(*values)
        faults()
        result = self._function(*values)
        if fault := faults():
            raise IndexError(f"{self.symbol}: {fault}")
        return result

    def _check_array(self, kind, value):
        is_kind = isinstance(value, np.ndarray) and value.dtype == _DTYPES[kind]
        if not (is_kind and value.flags.c_contiguous):
            raise TypeError(f"{self.symbol}: contiguous {kind} declared")


def _flattening(function, kinds) -> Any:
    """Return the plain function, which sees arrays flat as compiled code does."""
    if not any(kind in _DTYPES for kind in kinds):
        return function

    @functools.wraps(function)
    def call(*args):
        return function(
            *(
                value.reshape(-1) if kind in _DTYPES and value.ndim > 1 else value
                for kind, value in zip(kinds, args, strict=True)
            )
        )

    return call


def kernel(function) -> Any:
    """Make a function a kernel."""
    return Kernel(function) if JIT else function


def jit(function) -> Any:
    """Compile a function of arrays and numbers that calls kernels: for tests."""
    if not JIT:
        return function
    from nonsmooth.kernels.abi.compiler import compile_here
    from nonsmooth.kernels.abi.library import tell_faults

    tell_faults()
    return compile_here(function)


def far(*arguments, returns=None):
    """Make a kernel that is compiled alone, with these arguments."""

    def decorate(function) -> Any:
        if not JIT:
            return _flattening(function, arguments)
        made = Far(function, arguments, returns)
        far_kernels[made.symbol] = made
        return made

    return decorate
