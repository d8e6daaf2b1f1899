"""Blocks: named slots in one piece of memory.

    class Work(Block):
        n_stuck = INTEGER  # a number
        lam = floats("n_row")  # an array, with its shape in terms of sizes
        contact = records(Touch, "n_contact")  # Touch is a block of numbers alone
        tables = Tables  # another block

A slot is declared once: allocation, shape, check and copy follow from that line. All
arrays of a block stand in one buffer of eight-byte cells, behind the cells that hold
its numbers, the places of its arrays and their extents. Compiled code sees the block
as a pointer to the first cell; Python sees arrays in their shapes.

    number, integer   one cell
    array, records    its address, then one cell for each extent
    block             the address of its first cell

A block is its values: pickled or copied it has memory and addresses of its own.
"""

import math
from functools import cache, lru_cache
from typing import Any

import numpy as np

# What a slot, or an argument of a far kernel, may be.
# `Any`, so that a type checker takes a slot for what it holds.
NUMBER: Any = "number"
INTEGER: Any = "integer"
FLOATS: Any = "floats"
INTEGERS: Any = "integers"
COMPLEXES: Any = "complexes"
_DTYPES = {FLOATS: np.float64, INTEGERS: np.int64, COMPLEXES: np.complex128}


class Array:
    """A slot that is an array: kind of its entries, and its shape."""

    def __init__(self, kind, shape, has_addresses=False):
        self.kind = kind  # FLOATS, INTEGERS, COMPLEXES, or a block of numbers
        self.extents = tuple(part.strip() for part in shape.split(","))
        self.has_addresses = has_addresses
        self.dtype = np.dtype(_DTYPES[kind] if kind in _DTYPES else kind.dtype())
        self.width = self.dtype.itemsize // 8  # cells of one entry


def floats(shape) -> Any:
    """Declare an array of floats; `shape` is text such as "n_row, 3"."""
    return Array(FLOATS, shape)


def integers(shape) -> Any:
    """Declare an array of integers."""
    return Array(INTEGERS, shape)


def complexes(shape) -> Any:
    """Declare an array of complex numbers."""
    return Array(COMPLEXES, shape)


def records(kind, shape) -> Any:
    """Declare an array of records, blocks that hold numbers alone."""
    return Array(kind, shape)


def addresses(shape) -> Any:
    """Declare an array of addresses of row functions, valid in this process."""
    return Array(INTEGERS, shape, has_addresses=True)


class Layout:
    """Where the slots of a class of blocks stand."""

    def __init__(self, cls):
        self.slots = {}
        for base in reversed(cls.__mro__):
            for name, kind in vars(base).items():
                if isinstance(kind, _Slot):
                    self.slots[name] = kind.kind
        self.place = {}
        n = 0
        for name, kind in self.slots.items():
            self.place[name] = n
            n += 1 + (len(kind.extents) if isinstance(kind, Array) else 0)
        self.n_cell = n
        self.arrays = {n: k for n, k in self.slots.items() if isinstance(k, Array)}
        self.numbers = {n: k for n, k in self.slots.items() if k in (NUMBER, INTEGER)}
        self.blocks = {n: k for n, k in self.slots.items() if _is_block(k)}
        self.integers = [n for n, k in self.numbers.items() if k == INTEGER]
        self.integer_places = np.array([self.place[n] for n in self.integers], int)
        parts = [part for array in self.arrays.values() for part in array.extents]
        # One expression for all extents, so that a block is made in microseconds.
        self._extents = compile(f"[{', '.join(parts)}]", "shapes", "eval")

    def extents(self, sizes):
        """Return the extents of all arrays, one after the other."""
        return tuple(eval(self._extents, {}, sizes))

    @lru_cache(maxsize=256)  # noqa: B019 (a layout lives as long as its class)
    def plan(self, extents):
        """Return the leading cells, with offsets for addresses; where they stand.

        And the cells and the shape of each array, and how many cells there are in all.
        """
        cells = [0] * self.n_cell
        spans, total, k = {}, self.n_cell, 0
        for name, array in self.arrays.items():
            place, n = self.place[name], len(array.extents)
            shape = extents[k : k + n]
            cells[place : place + 1 + n] = [8 * total, *shape]
            begin, total = total, total + math.prod(shape) * array.width
            spans[name] = slice(begin, total), shape
            k += n
        places = np.array([self.place[name] for name in spans], dtype=np.int64)
        return np.array(cells, dtype=np.int64), places, spans, total


def _is_block(kind):
    return isinstance(kind, type) and issubclass(kind, Block)


class _Slot:
    """The attribute of a slot: what Python reads and writes."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind

    def __get__(self, block, _cls=None):
        if block is None:
            return self.kind
        if self.kind is NUMBER:
            return block._numbers.item(block._layout.place[self.name])
        if self.kind is INTEGER:
            return block._cells.item(block._layout.place[self.name])
        return block._held[self.name]

    def __set__(self, block, value):
        place = block._layout.place[self.name]
        if self.kind is NUMBER:
            block._numbers[place] = value
        elif self.kind is INTEGER:
            block._cells[place] = value
        else:
            raise AttributeError(f"{self.name} is memory and is not replaced")


class _Held(dict):
    """Arrays of a block by name, made when first asked for; and its blocks.

    It knows the memory, not the block: who would know each other would wait for the
    collector of garbage, and their memory with them.
    """

    def __init__(self, layout, spans, cells, numbers):
        self.arrays, self.spans = layout.arrays, spans
        self.cells, self.numbers = cells, numbers

    def __missing__(self, name):
        array = self.arrays[name]
        span, shape = self.spans[name]
        if array.kind is FLOATS:
            found = self.numbers[span].reshape(shape)
        elif array.kind is INTEGERS:
            found = self.cells[span].reshape(shape)
        else:
            found = self.cells[span].view(array.dtype).reshape(shape)
            if array.kind is not COMPLEXES:
                # Its fields are attributes, with the JIT off as in compiled code.
                found = found.view(np.recarray)
        self[name] = found
        return found


class Block:
    """Named slots; a subclass declares them as class attributes, in order.

    Parameters
    ----------
    sizes : dict, optional
        The names that shapes are written in; the block's own integers count, too.
    **values
        Numbers and arrays, copied; blocks, kept. What is left out is zero.
    """

    _layout: Any
    # Whether all of it is written before it is read; else it begins with zeros.
    _is_written = False

    def __init_subclass__(cls):
        """Read the declarations."""
        for name, kind in list(vars(cls).items()):
            is_kind = isinstance(kind, Array) or kind in (NUMBER, INTEGER)
            if not name.startswith("_") and (is_kind or _is_block(kind)):
                setattr(cls, name, _Slot(name, kind))
        cls._layout = Layout(cls)

    def __init__(self, sizes=None, /, **values):
        layout = self._layout
        if extra := values.keys() - layout.slots.keys():
            raise TypeError(f"{type(self).__name__}: no slots {sorted(extra)}")
        if missing := layout.blocks.keys() - values.keys():
            raise TypeError(f"{type(self).__name__}: missing {sorted(missing)}")
        own = {name: k for name, k in values.items() if name in layout.numbers}
        self._allocate(layout.extents((sizes or {}) | own))
        for name, value in values.items():
            if name in layout.arrays:
                self._fill(name, value)
            elif name in own:
                setattr(self, name, value)
        self._hold({name: values[name] for name in layout.blocks})

    def _allocate(self, extents):
        """Make the memory, and write where each array stands."""
        cells, _, _, total = self._layout.plan(extents)
        make = np.empty if self._is_written else np.zeros
        leading = make(total, dtype=np.int64)
        leading[: len(cells)] = cells
        self._take(leading, extents, 0)

    def _take(self, cells, extents, origin):
        """Make these cells the memory; its addresses were written for an origin."""
        _, places, self._spans, _ = self._layout.plan(extents)
        self._cells, self._numbers = cells, cells.view(np.float64)
        self._address = cells.ctypes.data
        cells[places] += self._address - origin
        self._extents = extents
        self._held = _Held(self._layout, self._spans, cells, self._numbers)

    def _hold(self, blocks):
        """Keep other blocks, and write where they stand."""
        for name, block in blocks.items():
            if type(block) is not self._layout.blocks[name]:
                raise TypeError(f"{type(self).__name__}.{name}: {type(block)}")
            self._held[name] = block
            self._cells[self._layout.place[name]] = block._address

    def _fill(self, name, value):
        """Copy an array into its slot; its shape must be the declared one."""
        given, dtype = np.asarray(value), self._layout.arrays[name].dtype
        span, shape = self._spans[name]
        is_own = given.dtype is dtype or np.can_cast(given.dtype, dtype, "safe")
        if given.shape != shape or not is_own:
            raise TypeError(
                f"{type(self).__name__}.{name}: {given.dtype} {given.shape} given, "
                f"{dtype} {shape} declared"
            )
        self._cells[span].view(dtype)[...] = given.reshape(-1)

    @classmethod
    @cache
    def dtype(cls):
        """Return the type of a record in NumPy."""
        kinds = {NUMBER: np.float64, INTEGER: np.int64}
        return np.dtype([(n, kinds[k]) for n, k in cls._layout.slots.items()])

    def sizes(self) -> dict[str, int]:
        """Return all integers by name: sizes for the shapes of other blocks."""
        layout = self._layout
        values = self._cells[layout.integer_places].tolist()
        return dict(zip(layout.integers, values, strict=True))

    @classmethod
    def n_bytes(cls, sizes):
        """Return the memory of a block of given sizes."""
        return 8 * cls._layout.plan(cls._layout.extents(sizes))[3]

    def cut(self, sizes, **shorter):
        """Return a copy of a block without blocks, its arrays cut to other sizes."""
        numbers = {name: getattr(self, name) for name in self._layout.numbers}
        new = type(self)(sizes, **(numbers | shorter))
        for name in self._layout.arrays:
            own = new._held[name]
            own[...] = self._held[name][tuple(slice(n) for n in own.shape)]
        return new

    def copy_with(self, **changes) -> Any:
        """Return a copy with some numbers or arrays changed."""
        new = self.__deepcopy__({})
        for name, value in changes.items():
            if name in self._layout.arrays:
                new._fill(name, value)
            else:
                setattr(new, name, value)
        return new

    def __getstate__(self):
        """Return the values: addresses as the functions they lead to."""
        from nonsmooth.kernels.abi.rows import functions

        layout = self._layout
        return {
            "extents": self._extents,
            "cells": self._cells,
            "blocks": {name: self._held[name] for name in layout.blocks},
            "functions": {
                name: functions(self._held[name])
                for name, array in layout.arrays.items()
                if array.has_addresses
            },
        }

    def __setstate__(self, state):
        """Take over the values into memory of our own."""
        from nonsmooth.kernels.abi.rows import address

        self._allocate(state["extents"])
        layout = self._layout
        for name in layout.numbers:
            self._cells[layout.place[name]] = state["cells"][layout.place[name]]
        self._cells[layout.n_cell :] = state["cells"][layout.n_cell :]
        self._hold(state["blocks"])
        for name, found in state["functions"].items():
            self._held[name][...] = [address(*key) for key in found]

    def __deepcopy__(self, memo):
        """Return a copy with memory of its own."""
        if id(self) not in memo:
            new = memo[id(self)] = object.__new__(type(self))
            new._take(self._cells.copy(), self._extents, self._address)
            inner = {n: self._held[n].__deepcopy__(memo) for n in self._layout.blocks}
            new._hold(inner)
        return memo[id(self)]

    def __copy__(self):
        """Return a copy; there is no shallow one, since blocks own their memory."""
        return self.__deepcopy__({})
