"""Kernels: compiled on their first call, or alone and linked to callers by name."""

import threading
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.ccallback import CFunc
from numba.core.registry import cpu_target

from nonsmooth.kernels.abi.cache import Cache
from nonsmooth.kernels.abi.pointers import CHECKED, JIT, faults, slot_type

_OPTIONS = {"nogil": True, "error_model": "numpy"}
_jit = numba.njit(**_OPTIONS)
# One thread at a time compiles, links or registers.
lock = threading.RLock()


def kernel(function) -> Any:
    """Compile a function on its first call, for one set of types.

    By itself Numba compiles anew for every constant that a caller passes.
    """
    compiled = _jit(function)
    if JIT:
        compiled._cache = Cache(function)
        resolve = compiled.get_call_template

        def resolve_types(args, kws):
            plain = {name: types.unliteral(kind) for name, kind in kws.items()}
            return resolve([types.unliteral(kind) for kind in args], plain)

        compiled.get_call_template = resolve_types
    return compiled


def callback(function, sig, is_kept=True):
    """Compile a function for C callers, or load it from the cache."""
    compiled = CFunc(function, (sig.args, sig.return_type), {}, _OPTIONS)
    if is_kept:
        compiled._cache = Cache(function)
    compiled.compile()
    return compiled


def entry(function) -> Any:
    """Make a kernel that Python calls; the checked build raises its faults there."""
    compiled = kernel(function)
    if not CHECKED:
        return compiled

    def call(*args):
        faults()
        value = compiled(*args)
        if fault := faults():
            raise IndexError(f"{function.__module__}.{function.__name__}: {fault}")
        return value

    return call


_far: dict[str, Any] = {}
_linked: dict[str, Any] = {}  # callbacks live as long as the process
_cells: dict[str, Any] = {}  # of the doors: the addresses they lead to
_engines: list[Any] = []
# Far kernels that contacts and friction in joints alone need.
_LATE = (
    "complementarity.",
    "friction.",
    "march.cross.",
    "march.switch.",
    "march.paper.",
    "mechanics.flats.",
)
# Those that patches of flexible bodies alone need.
_LAST = ("mechanics.patches.",)


def far(*arguments, returns=None, is_door=False):
    """Make a kernel that is compiled alone and linked to its callers by name.

    Numba optimises a callee again inside each of its callers, up to the top, so
    that compile time grows with the depth of calls. A far kernel is a boundary:
    compiled once, called through a symbol. `link` must run before the first call.
    A door is a far kernel that can be compiled after its callers.
    """

    def decorate(function):
        if not JIT:
            return function
        result = types.void if returns is None else slot_type(returns)
        sig = result(*(slot_type(kind) for kind in arguments))
        symbol = f"{function.__module__}.{function.__name__}"
        with lock:
            _far[symbol] = (function, sig)
            if is_door:
                _cells[symbol] = None
        return types.ExternalFunction(symbol, sig)

    return decorate


def _is_needed(symbol, has_contacts, has_patches):
    name = symbol.partition("nonsmooth.kernels.")[2]
    if name.startswith(_LAST):
        return has_patches
    return has_contacts or not name.startswith(_LATE)


def n_missing(has_contacts=True, has_patches=False):
    """Return how many of the far kernels that `link` needs are not in the cache."""
    codegen = cpu_target.target_context.codegen()
    with lock:
        return sum(
            not Cache(function).path(sig, codegen).exists()
            for symbol, (function, sig) in _far.items()
            if _is_needed(symbol, has_contacts, has_patches)
        )


def link(has_contacts=True, has_patches=False):
    """Compile or load the far kernels imported so far, in order of definition.

    Without contacts, those that only contacts need wait behind their doors; likewise
    without patches of flexible bodies.
    """
    with lock:
        for symbol, (_, sig) in _far.items():
            if symbol in _cells and _cells[symbol] is None:
                _cells[symbol] = np.zeros(1, dtype=np.int64)
                llvmlite.binding.add_symbol(symbol, _make_door(sig, _cells[symbol]))
        for symbol in [s for s in _far if _is_needed(s, has_contacts, has_patches)]:
            function, sig = _far[symbol]
            _linked[symbol] = callback(function, sig)
            if symbol in _cells:
                _cells[symbol][0] = _linked[symbol].address
            else:
                llvmlite.binding.add_symbol(symbol, _linked[symbol].address)
            del _far[symbol]


def _make_door(sig, cell):
    """Return the address of a function that calls the one at the address in a cell."""
    context = cpu_target.target_context
    kinds = [context.get_argument_type(kind) for kind in sig.args]
    is_void = sig.return_type == types.void
    returns = ir.VoidType() if is_void else context.get_argument_type(sig.return_type)
    function_type = ir.FunctionType(returns, kinds)
    module = ir.Module()
    function = ir.Function(module, function_type, "door")
    builder = ir.IRBuilder(function.append_basic_block())
    address = ir.Constant(ir.IntType(64), cell.ctypes.data)
    place = builder.inttoptr(address, function_type.as_pointer().as_pointer())
    value = builder.call(builder.load(place), function.args)
    if is_void:
        builder.ret_void()
    else:
        builder.ret(value)
    machine = llvmlite.binding.Target.from_default_triple().create_target_machine()
    parsed = llvmlite.binding.parse_assembly(str(module))
    engine = llvmlite.binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    _engines.append(engine)  # the code lives as long as its engine
    return engine.get_function_address("door")
