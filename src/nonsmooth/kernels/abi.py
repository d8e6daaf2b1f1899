"""How kernels get at data and at row functions.

Blocks
------
A `Block` is a set of named slots of eight bytes: numbers, or pointers to arrays.
Compiled code sees a block as one pointer, and `w.J[i]` as two loads, so that
passing everything a kernel may need costs one argument. Kernels written with tuples
of arrays instead compile several times slower.

Row functions
-------------
A row function is a law or joint written as a plain Python function of pointers
and numbers. It is compiled alone to a C callback; kernels call it through its
address, so a new law never recompiles the solver.

    time law   evaluate(p, t, s)           s[0:3]  = s, s', s''
    joint      rows(p, s, a, b, out)       out[9 r: 9 r + 9], one block per row
    force      wrench(p, s, t, a, b, out)  out[0:8]
    guard      guard(p, t, a, b, out)      out[0:2] = g, g'
    shape      nearest(p, a, b, out)       out[0:4] = distance, normal, its rate
    normal     force(p, overlap, overlap_rate, approach_rate)
    friction   limit(p, lam_n, speed), or force(p, lam_n, v_t, z)
               with rate(p, lam_n, v_t, z)

`p` points to the element's parameters, in the order of its fields; `s` to the
values of its time laws, three per law; `a` and `b` to the motion of its two
markers: pose (x, y, theta), rate, acceleration. What each family writes to `out`
is stated at its base class in `nonsmooth.elements`.

With the JIT off a block is a plain object with arrays, and an "address" a key into
a dictionary of Python functions: everything runs, slowly, under a debugger, with
array bounds checked.
"""

from typing import Any, ClassVar

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, intrinsic, typeof_impl, unbox

JIT = not numba.config.DISABLE_JIT

_jit = numba.njit(cache=True, nogil=True, error_model="numpy")


def kernel(function) -> Any:
    """Compile a function on its first call, for one set of types.

    By itself Numba compiles anew for every constant that a caller passes.
    """
    compiled = _jit(function)
    if JIT:
        resolve = compiled.get_call_template

        def resolve_types(args, kws):
            plain = {name: types.unliteral(kind) for name, kind in kws.items()}
            return resolve([types.unliteral(kind) for kind in args], plain)

        compiled.get_call_template = resolve_types
    return compiled


# What a slot may hold, and how compiled code sees it.
# `Any`, so that a type checker takes a slot for what it holds.
NUMBER: Any = "number"
INTEGER: Any = "integer"
FLOATS: Any = "floats"
INTEGERS: Any = "integers"
COMPLEXES: Any = "complexes"
_SLOT_TYPES = {
    NUMBER: types.float64,
    INTEGER: types.int64,
    FLOATS: types.CPointer(types.float64),
    INTEGERS: types.CPointer(types.int64),
    COMPLEXES: types.CPointer(types.complex128),
}
_DTYPES = {FLOATS: np.float64, INTEGERS: np.int64, COMPLEXES: np.complex128}


class BlockType(types.Type):
    """Type of a block in compiled code, one for each subclass of `Block`."""

    def __init__(self, cls):
        self.slots = cls.slots()
        super().__init__(name=f"Block({cls.__module__}.{cls.__name__})")


class Block:
    """Named slots; a subclass lists them as class attributes, in order.

    Slots are set by keyword; an array must be C-contiguous and is kept alive, not
    copied.
    """

    _types: ClassVar[dict[type, BlockType]] = {}

    @classmethod
    def slots(cls):
        """Return ((name, kind), ...)."""
        return tuple(
            (name, kind)
            for name, kind in vars(cls).items()
            if not name.startswith("_") and kind in _SLOT_TYPES
        )

    def __init__(self, **values):
        kinds = dict(type(self).slots())
        missing = kinds.keys() - values.keys()
        extra = values.keys() - kinds.keys()
        if missing or extra:
            raise TypeError(f"{type(self).__name__}: missing {missing}, extra {extra}")
        cells = np.zeros(len(kinds), dtype=np.int64)
        set_ = object.__setattr__
        set_(self, "_cells", cells)
        set_(self, "_numbers", cells.view(np.float64))
        set_(self, "_place", {name: k for k, name in enumerate(kinds)})
        set_(self, "_kinds", kinds)
        for name, kind in kinds.items():
            value = values[name]
            if kind in _DTYPES:
                array = np.asarray(value)
                if array.dtype != _DTYPES[kind] or not array.flags.c_contiguous:
                    raise TypeError(f"{type(self).__name__}.{name}: {array.dtype}")
                set_(self, name, array.reshape(-1))
                cells[self._place[name]] = array.ctypes.data
            else:
                if hasattr(type(self), name):
                    set_(self, name, value)
                self.__setattr__(name, value)

    def __getattribute__(self, name):
        """Return a number from its slot, or an array."""
        get = object.__getattribute__
        if not name.startswith("_"):
            kind = get(self, "_kinds").get(name)
            if kind == NUMBER:
                return float(get(self, "_numbers")[get(self, "_place")[name]])
            if kind == INTEGER:
                return int(get(self, "_cells")[get(self, "_place")[name]])
        return get(self, name)

    def __setattr__(self, name, value):
        """Set a number's slot."""
        kind = self._kinds[name]
        if kind == NUMBER:
            self._numbers[self._place[name]] = value
        elif kind == INTEGER:
            self._cells[self._place[name]] = value
        else:
            raise AttributeError(f"{name} points to an array and is not replaced")

    def copy_with(self, **changes):
        """Return a block with some slots replaced."""
        values = {name: getattr(self, name) for name, _ in type(self).slots()}
        return type(self)(**(values | changes))


def block_type(cls):
    """Return the type of a subclass of `Block` in compiled code."""
    if cls not in Block._types:
        Block._types[cls] = BlockType(cls)
    return Block._types[cls]


@typeof_impl.register(Block)
def _typeof_block(value, _context):
    return block_type(type(value))


@register_default(BlockType)
class _BlockModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.IntType(64).as_pointer())


@unbox(BlockType)
def _unbox_block(_typ, obj, c):
    cells = c.pyapi.object_getattr_string(obj, "_address")
    address = c.pyapi.long_as_longlong(cells)
    c.pyapi.decref(cells)
    return NativeValue(c.builder.inttoptr(address, ir.IntType(64).as_pointer()))


Block._address = property(lambda self: self._cells.ctypes.data)


@infer_getattr
class _BlockAttribute(AttributeTemplate):
    key = BlockType

    def generic_resolve(self, typ, attr):
        for name, kind in typ.slots:
            if name == attr:
                return _SLOT_TYPES[kind]
        return None


def _slot(context, builder, typ, block, attr):
    """Return the address of a slot and the type it holds."""
    names = [name for name, _ in typ.slots]
    kind = dict(typ.slots)[attr]
    value_type = context.get_data_type(_SLOT_TYPES[kind])
    place = builder.gep(block, [ir.Constant(ir.IntType(64), names.index(attr))])
    return builder.bitcast(place, value_type.as_pointer())


@lower_getattr_generic(BlockType)
def _get_slot(context, builder, typ, block, attr):
    return builder.load(_slot(context, builder, typ, block, attr))


@lower_setattr_generic(BlockType)
def _set_slot(context, builder, sig, args, attr):
    block, value = args
    builder.store(value, _slot(context, builder, sig.args[0], block, attr))


def _argument_type(kind):
    if isinstance(kind, type) and issubclass(kind, Block):
        return block_type(kind)
    return _SLOT_TYPES[kind]


_far = {}
# Far kernels of these modules are needed by contacts and friction in joints alone.
_CONTACT_MODULES = ("lcp", "slides", "flanks", "switch", "paper")
_cells = {}  # of the doors: the addresses they lead to
_engines = []


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
        sig = types.void if returns is None else _SLOT_TYPES[returns]
        sig = sig(*(_argument_type(kind) for kind in arguments))
        symbol = f"{function.__module__}.{function.__name__}"
        _far[symbol] = (function, sig)
        if is_door:
            _cells[symbol] = None
        return types.ExternalFunction(symbol, sig)

    return decorate


def link(has_contacts=True):
    """Compile or load the far kernels imported so far, in order of definition.

    Without contacts, those that only contacts need wait behind their doors.
    """
    for symbol, (_, sig) in _far.items():
        if symbol in _cells and _cells[symbol] is None:
            _cells[symbol] = np.zeros(1, dtype=np.int64)
            llvmlite.binding.add_symbol(symbol, _make_door(sig, _cells[symbol]))
    for symbol in list(_far):
        if not has_contacts and symbol.split(".")[-2] in _CONTACT_MODULES:
            continue
        function, sig = _far.pop(symbol)
        callback = numba.cfunc(sig, cache=True, nogil=True, error_model="numpy")(
            function
        )
        _callbacks[symbol] = callback
        if symbol in _cells:
            _cells[symbol][0] = callback.address
        else:
            llvmlite.binding.add_symbol(symbol, callback.address)


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


_PTR = types.CPointer(types.float64)
SIGNATURES = {
    "law": types.void(_PTR, types.float64, _PTR),
    "joint": types.void(_PTR, _PTR, _PTR, _PTR, _PTR),
    "force": types.void(_PTR, _PTR, types.float64, _PTR, _PTR, _PTR),
    "guard": types.void(_PTR, types.float64, _PTR, _PTR, _PTR),
    "shape": types.void(_PTR, _PTR, _PTR, _PTR),
    "normal": types.float64(_PTR, types.float64, types.float64, types.float64),
    "limit": types.float64(_PTR, types.float64, types.float64),
    "smooth": types.float64(_PTR, types.float64, types.float64, types.float64),
    "rate": types.float64(_PTR, types.float64, types.float64, types.float64),
}

# Callbacks live as long as the process: kernels hold only their addresses.
_callbacks: dict[object, object] = {}
_addresses: dict[object, int] = {}
_functions: dict[int, object] = {}


def address(family, function) -> int:
    """Compile a row function, once per process, and return its address."""
    key = (family, function)
    if key in _addresses:
        return _addresses[key]
    if not JIT:
        number = len(_functions) + 1
        _functions[number] = function
        _addresses[key] = number
        return number
    # A user's function is never cached: it may call code in files that Numba
    # does not watch, and it compiles in a fraction of a second.
    ours = str(function.__module__).startswith("nonsmooth.")
    compiler = numba.cfunc(SIGNATURES[family], cache=ours, error_model="numpy")
    callback = compiler(function)
    _callbacks[key] = callback
    _addresses[key] = callback.address
    return callback.address


def _emit_call(context, builder, sig, args):
    """Call the function at args[0] with the other arguments."""
    kinds = [context.get_value_type(arg) for arg in sig.args[1:]]
    is_void = sig.return_type == types.void
    returns = ir.VoidType() if is_void else context.get_value_type(sig.return_type)
    function_type = ir.FunctionType(returns, kinds)
    function = builder.inttoptr(args[0], function_type.as_pointer())
    value = builder.call(function, args[1:])
    return context.get_dummy_value() if is_void else value


if JIT:

    @intrinsic
    def call_law(typing, addr, p, t, s):
        """Call evaluate(p, t, s)."""
        return types.void(addr, p, types.float64, s), _emit_call

    @intrinsic
    def call_joint(typing, addr, p, s, a, b, out):
        """Call rows(p, s, a, b, out)."""
        return types.void(addr, p, s, a, b, out), _emit_call

    @intrinsic
    def call_force(typing, addr, p, s, t, a, b, out):
        """Call wrench(p, s, t, a, b, out)."""
        return types.void(addr, p, s, types.float64, a, b, out), _emit_call

    @intrinsic
    def call_guard(typing, addr, p, t, a, b, out):
        """Call guard(p, t, a, b, out)."""
        return types.void(addr, p, types.float64, a, b, out), _emit_call

    @intrinsic
    def call_shape(typing, addr, p, a, b, out):
        """Call nearest(p, a, b, out)."""
        return types.void(addr, p, a, b, out), _emit_call

    @intrinsic
    def call_normal(typing, addr, p, overlap, overlap_rate, approach_rate):
        """Call force(p, overlap, overlap_rate, approach_rate)."""
        f8 = types.float64
        return f8(addr, p, f8, f8, f8), _emit_call

    @intrinsic
    def call_limit(typing, addr, p, lam_n, speed):
        """Call limit(p, lam_n, speed)."""
        f8 = types.float64
        return f8(addr, p, f8, f8), _emit_call

    @intrinsic
    def call_smooth(typing, addr, p, lam_n, v_t, z):
        """Call force(p, lam_n, v_t, z), or rate(p, lam_n, v_t, z)."""
        f8 = types.float64
        return f8(addr, p, f8, f8, f8), _emit_call

    @intrinsic
    def data(typing, array):
        """Return the pointer to a contiguous array's first entry."""

        def codegen(context, builder, sig, args):
            return context.make_array(sig.args[0])(context, builder, args[0]).data

        return types.CPointer(array.dtype)(array), codegen

    @intrinsic
    def at(typing, pointer, offset):
        """Return the part of an array that begins at `offset`."""

        def codegen(context, builder, sig, args):
            return builder.gep(args[0], [args[1]])

        return pointer(pointer, types.int64), codegen

    @intrinsic(prefer_literal=True)
    def stack_floats(typing, n):
        """Return a pointer to `n` (a literal) floats on the stack, not zeroed."""
        size = n.literal_value

        def codegen(context, builder, sig, args):
            return cgutils.alloca_once(builder, ir.DoubleType(), size=size)

        return _PTR(n), codegen

else:

    def call_law(addr, p, t, s):
        """Call evaluate(p, t, s)."""
        _functions[addr](p, t, s)

    def call_joint(addr, p, s, a, b, out):
        """Call rows(p, s, a, b, out)."""
        _functions[addr](p, s, a, b, out)

    def call_force(addr, p, s, t, a, b, out):
        """Call wrench(p, s, t, a, b, out)."""
        _functions[addr](p, s, t, a, b, out)

    def call_guard(addr, p, t, a, b, out):
        """Call guard(p, t, a, b, out)."""
        _functions[addr](p, t, a, b, out)

    def call_shape(addr, p, a, b, out):
        """Call nearest(p, a, b, out)."""
        _functions[addr](p, a, b, out)

    def call_normal(addr, p, overlap, overlap_rate, approach_rate):
        """Call force(p, overlap, overlap_rate, approach_rate)."""
        return _functions[addr](p, overlap, overlap_rate, approach_rate)

    def call_limit(addr, p, lam_n, speed):
        """Call limit(p, lam_n, speed)."""
        return _functions[addr](p, lam_n, speed)

    def call_smooth(addr, p, lam_n, v_t, z):
        """Call force(p, lam_n, v_t, z), or rate(p, lam_n, v_t, z)."""
        return _functions[addr](p, lam_n, v_t, z)

    def data(array):
        """Return the array itself."""
        return array

    def at(pointer, offset):
        """Return the part of an array that begins at `offset`."""
        return pointer[offset:]

    def stack_floats(n):
        """Return `n` floats, not zeroed."""
        return np.empty(n)
