"""How compiled code sees blocks: pointers that know as little as they need.

    Vector    one row of an array, x[i] a number          a pointer
    Rows      an array of rows, x[i] one of them          a pointer and its extents
    BlockType a block or a record, x.name a slot          a pointer

Extents that a shape states as numbers are constants of the type. Reads and writes say
what they are of, numbers, integers or addresses, which share no memory; addresses and
extents stay as they are. Without that every number written might have moved an array,
and the next one read would look up again where all of them are. In the checked build
every Vector and Rows carries all its extents and the number of its slot: an index
outside reads zero, writes nothing, and is noted for `faults`.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.imputils import (
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
)
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import NativeValue, intrinsic, typeof_impl, unbox

from nonsmooth.kernels.abi.blocks import (
    COMPLEXES,
    FLOATS,
    INTEGER,
    INTEGERS,
    NUMBER,
    Array,
    Block,
)
from nonsmooth.kernels.abi.faults import ARRAY, FAULT, STACK, number, slot_name
from nonsmooth.kernels.abi.linking import CHECKED
from nonsmooth.kernels.abi.rows import FAMILIES, ROW_RETURNS

_I64 = ir.IntType(64)
_ENTRIES = {
    FLOATS: types.float64,
    INTEGERS: types.int64,
    COMPLEXES: types.complex128,
}
_NUMBERS = {NUMBER: types.float64, INTEGER: types.int64}


class Vector(types.Type):
    """A row of numbers."""

    def __init__(self, entry):
        self.entry = entry
        super().__init__(name=f"Vector({entry})")


class Rows(types.Type):
    """An array of rows or records; `inner` are the extents behind the first.

    An extent is a number where the shape states one, else None.
    """

    def __init__(self, entry, inner):
        self.entry, self.inner = entry, inner
        super().__init__(name=f"Rows({entry}, {inner})")

    @property
    def row(self):
        """The type of x[i]."""
        if isinstance(self.entry, BlockType):
            return Rows(self.entry, self.inner[1:]) if self.inner else self.entry
        return (
            Rows(self.entry, self.inner[1:]) if self.inner[1:] else Vector(self.entry)
        )


class BlockType(types.Type):
    """Type of a block in compiled code, one for each subclass of `Block`."""

    def __init__(self, cls):
        self.block, self.layout = cls, cls._layout
        super().__init__(name=f"Block({cls.__module__}.{cls.__name__})")

    def __reduce__(self):
        """Name the class: what a layout holds is known from it in every process."""
        return block_type, (self.block,)


_block_types = {}


def block_type(cls):
    """Return the type of a subclass of `Block` in compiled code."""
    if cls not in _block_types:
        _block_types[cls] = BlockType(cls)
    return _block_types[cls]


def slot_type(kind):
    """Return the type of a slot, or of an argument, in compiled code."""
    if isinstance(kind, Array):
        if kind.kind in _ENTRIES:
            entry = _ENTRIES[kind.kind]
            if len(kind.extents) == 1:
                return Vector(entry)
        else:
            entry = block_type(kind.kind)
        inner = tuple(int(e) if e.isdigit() else None for e in kind.extents[1:])
        return Rows(entry, inner)
    if kind in _NUMBERS:
        return _NUMBERS[kind]
    return Vector(_ENTRIES[kind]) if kind in _ENTRIES else block_type(kind)


# ---- what they are in memory ---------------------------------------------------


def _carried(typ):
    """Return how many extents a value of the type carries, and the slot's number."""
    if isinstance(typ, Vector):
        return 2 if CHECKED else 0
    return len(typ.inner) + 2 if CHECKED else sum(e is None for e in typ.inner)


class _Fat(models.PrimitiveModel):
    """A pointer, and integers beside it where there are any."""

    def __init__(self, dmm, fe_type):
        entry = dmm.lookup(fe_type.entry).get_data_type()
        pointer = entry if isinstance(entry, ir.PointerType) else entry.as_pointer()
        n = _carried(fe_type)
        kind = ir.LiteralStructType([pointer, *[_I64] * n]) if n else pointer
        super().__init__(dmm, fe_type, kind)


register_default(Vector)(_Fat)
register_default(Rows)(_Fat)


@register_default(BlockType)
class _BlockModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _I64.as_pointer())


class _View:
    """A Vector or Rows value taken apart: pointer, extents, number of its slot."""

    def __init__(self, builder, typ, value):
        self.builder, self.typ = builder, typ
        n = _carried(typ)
        parts = [builder.extract_value(value, i) for i in range(n + 1)] if n else []
        self.pointer = parts[0] if n else value
        inner = () if isinstance(typ, Vector) else typ.inner
        if CHECKED:
            self.extents, self.tag = parts[1:-1], parts[-1]
            return
        rest = iter(parts[1:])
        self.extents = [
            None,
            *(_I64(e) if e is not None else next(rest) for e in inner),
        ]
        self.tag = None

    def stride(self):
        """Entries, or cells of records, from one row to the next."""
        is_record = isinstance(self.typ.entry, BlockType)
        total = _I64(self.typ.entry.layout.n_cell if is_record else 1)
        for extent in self.extents[1:]:
            total = self.builder.mul(total, extent)
        return total


def _make(builder, typ, pointer, extents, tag):
    """Return a value of the type from its parts; `extents` are all it has."""
    if CHECKED:
        parts = [*extents, tag]
    elif isinstance(typ, Vector):
        parts = []
    else:
        inner = zip(typ.inner, extents[1:], strict=True)
        parts = [value for known, value in inner if known is None]
    if not parts:
        return pointer
    kind = ir.LiteralStructType([pointer.type, *[_I64] * len(parts)])
    value = ir.Constant(kind, ir.Undefined)
    for i, part in enumerate([pointer, *parts]):
        value = builder.insert_value(value, part, i)
    return value


# ---- faults of the checked build -----------------------------------------------


def _check(builder, index, extent, tag, is_end_allowed=False):
    """Return whether an index is inside; note the first that is not."""
    compare = "<=" if is_end_allowed else "<"
    is_inside = builder.icmp_unsigned(compare, index, extent)
    with builder.if_then(builder.not_(is_inside), likely=False):
        module = builder.module
        kind = ir.ArrayType(_I64, 3)
        place = module.globals.get(FAULT) or ir.GlobalVariable(module, kind, FAULT)
        place.linkage = "external"
        cells = [builder.gep(place, [_I64(0), _I64(i)]) for i in range(3)]
        is_first = builder.icmp_signed("==", builder.load(cells[0]), _I64(0))
        with builder.if_then(is_first):
            for cell, value in zip(cells, (tag, index, extent), strict=True):
                builder.store(value, cell)
    return is_inside


# ---- what may be the same in memory --------------------------------------------

_NAMES = {ir.DoubleType(): "number", _I64: "integer"}


def _mark(builder, access, name):
    """Mark a read or write as one of a kind that shares no memory with others."""
    add = builder.module.add_metadata
    kind = add([name, add(["nonsmooth"]), _I64(0)])
    access.set_metadata("tbaa", add([kind, kind, _I64(0)]))
    return access


def _load(builder, place):
    """Read a number or an integer."""
    return _mark(builder, builder.load(place), _NAMES[place.type.pointee])


def _store(builder, value, place):
    """Write a number or an integer."""
    _mark(builder, builder.store(value, place), _NAMES[value.type])


def _load_fixed(builder, place):
    """Read an address or an extent: no kernel changes one."""
    access = _mark(builder, builder.load(place), "address")
    access.set_metadata("invariant.load", builder.module.add_metadata([]))
    return access


def _load_entry(context, builder, entry, place):
    """Read an entry of an array, which may also be a complex number."""
    if entry == types.complex128:
        return context.unpack_value(builder, entry, place)
    return _load(builder, place)


def _store_entry(context, builder, entry, value, place):
    """Write an entry of an array."""
    if entry == types.complex128:
        context.pack_value(builder, entry, value, place)
    else:
        _store(builder, value, place)


# ---- indexing ------------------------------------------------------------------


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args, kws):
        array, index = args
        if isinstance(index, types.Integer):
            if isinstance(array, Vector):
                return signature(array.entry, array, types.int64)
            if isinstance(array, Rows):
                return signature(array.row, array, types.int64)
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args, kws):
        array, index, _ = args
        if isinstance(array, Vector) and isinstance(index, types.Integer):
            return signature(types.none, array, types.int64, array.entry)
        return None


@lower_builtin(operator.getitem, Vector, types.Integer)
def _get_number(context, builder, sig, args):
    view = _View(builder, sig.args[0], args[0])
    entry = sig.args[0].entry
    if not CHECKED:
        place = builder.gep(view.pointer, [args[1]])
        return _load_entry(context, builder, entry, place)
    out = cgutils.alloca_once_value(builder, context.get_constant_null(entry))
    is_inside = _check(builder, args[1], view.extents[0], view.tag)
    with builder.if_then(is_inside):
        place = builder.gep(view.pointer, [args[1]])
        builder.store(_load_entry(context, builder, entry, place), out)
    return builder.load(out)


@lower_builtin(operator.setitem, Vector, types.Integer, types.Any)
def _set_number(context, builder, sig, args):
    view = _View(builder, sig.args[0], args[0])
    entry = sig.args[0].entry
    if not CHECKED:
        place = builder.gep(view.pointer, [args[1]])
        _store_entry(context, builder, entry, args[2], place)
    else:
        with builder.if_then(_check(builder, args[1], view.extents[0], view.tag)):
            place = builder.gep(view.pointer, [args[1]])
            _store_entry(context, builder, entry, args[2], place)
    return context.get_dummy_value()


@lower_builtin(operator.getitem, Rows, types.Integer)
def _get_row(_context, builder, sig, args):
    view = _View(builder, sig.args[0], args[0])
    index = args[1]
    if CHECKED:
        # A row that is not there becomes the first: reading it is noted, not fatal.
        is_inside = _check(builder, index, view.extents[0], view.tag)
        index = builder.select(is_inside, index, _I64(0))
    pointer = builder.gep(view.pointer, [builder.mul(index, view.stride())])
    if isinstance(sig.return_type, BlockType):
        return pointer
    return _make(builder, sig.return_type, pointer, view.extents[1:], view.tag)


# ---- slots ---------------------------------------------------------------------


@typeof_impl.register(Block)
def _typeof_block(value, _context):
    return block_type(type(value))


@unbox(BlockType)
def _unbox_block(_typ, obj, c):
    cells = c.pyapi.object_getattr_string(obj, "_address")
    address = c.pyapi.long_as_longlong(cells)
    c.pyapi.decref(cells)
    return NativeValue(c.builder.inttoptr(address, _I64.as_pointer()))


@infer_getattr
class _BlockAttribute(AttributeTemplate):
    key = BlockType

    def generic_resolve(self, typ, attr):
        kind = typ.layout.slots.get(attr)
        return None if kind is None else slot_type(kind)


def _cell(builder, block, place):
    return builder.gep(block, [_I64(place)])


@lower_getattr_generic(BlockType)
def _get_slot(context, builder, typ, block, attr):
    kind, place = typ.layout.slots[attr], typ.layout.place[attr]
    result = slot_type(kind)
    value = context.get_data_type(result)
    if not isinstance(kind, Array):
        cell = builder.bitcast(_cell(builder, block, place), value.as_pointer())
        return (_load if kind in _NUMBERS else _load_fixed)(builder, cell)
    entry = context.get_data_type(result.entry)
    pointer = entry if isinstance(entry, ir.PointerType) else entry.as_pointer()
    address = builder.bitcast(_cell(builder, block, place), pointer.as_pointer())
    extents = [
        _load_fixed(builder, _cell(builder, block, place + 1 + i))
        if CHECKED or not extent.isdigit()
        else _I64(int(extent))
        for i, extent in enumerate(kind.extents)
    ]
    tag = _I64(number(slot_name(typ.block, attr)))
    return _make(builder, result, _load_fixed(builder, address), extents, tag)


@lower_setattr_generic(BlockType)
def _set_slot(context, builder, sig, args, attr):
    block, value = args
    typ = sig.args[0]
    kind = context.get_data_type(slot_type(typ.layout.slots[attr]))
    cell = _cell(builder, block, typ.layout.place[attr])
    _store(builder, value, builder.bitcast(cell, kind.as_pointer()))


# ---- making and moving pointers ------------------------------------------------


@intrinsic
def data(typing, array):
    """Return the pointer to a contiguous array's first entry."""
    result = Vector(array.dtype)

    def codegen(context, builder, sig, args):
        view = context.make_array(sig.args[0])(context, builder, args[0])
        return _make(builder, result, view.data, [view.nitems], _I64(ARRAY))

    return result(array), codegen


@intrinsic
def at(typing, array, offset):
    """Return all of an array from one entry, or one row, on."""
    result = Vector(array.entry)

    def codegen(context, builder, sig, args):
        view = _View(builder, sig.args[0], args[0])
        stride = _I64(1) if isinstance(sig.args[0], Vector) else view.stride()
        step, left = args[1], None
        if CHECKED:
            is_inside = _check(builder, step, view.extents[0], view.tag, True)
            step = builder.select(is_inside, step, _I64(0))
            left = builder.mul(builder.sub(view.extents[0], step), stride)
        pointer = builder.gep(view.pointer, [builder.mul(step, stride)])
        return _make(builder, result, pointer, [left], view.tag)

    return result(array, types.int64), codegen


@intrinsic(prefer_literal=True)
def stack_floats(typing, n):
    """Return a pointer to `n` (a literal) floats on the stack, not zeroed."""
    size = n.literal_value
    result = Vector(types.float64)

    def codegen(context, builder, sig, args):
        place = cgutils.alloca_once(builder, ir.DoubleType(), size=size)
        return _make(builder, result, place, [_I64(size)], _I64(STACK))

    return result(n), codegen


# ---- calls by address ----------------------------------------------------------


def _emit_call(context, builder, sig, args):
    """Call the function at args[0] with the other arguments."""
    kinds = [context.get_value_type(arg) for arg in sig.args[1:]]
    is_void = sig.return_type == types.void
    returns = ir.VoidType() if is_void else context.get_value_type(sig.return_type)
    function_type = ir.FunctionType(returns, kinds)
    function = builder.inttoptr(args[0], function_type.as_pointer())
    value = builder.call(function, args[1:])
    return context.get_dummy_value() if is_void else value


def _caller(family):
    """Return `call(address, ...)` for a family of row functions."""
    names = FAMILIES[family]
    result = ROW_RETURNS.get(family)
    returns = types.void if result is None else slot_type(result)
    full = returns(types.int64, *(slot_type(kind) for kind in names.values()))
    # An intrinsic needs its arguments by name.
    return intrinsic(
        eval(
            f"lambda typing, address, {', '.join(names)}: (full, emit)",
            {"full": full, "emit": _emit_call},
        )
    )


@intrinsic
def call_look(typing, address):
    """Let Python look in: call a function of no arguments at an address."""
    return types.void(types.int64), _emit_call


INTRINSICS = {"data": data, "at": at, "stack_floats": stack_floats}
INTRINSICS |= {f"call_{family}": _caller(family) for family in FAMILIES}
INTRINSICS["call_look"] = call_look
