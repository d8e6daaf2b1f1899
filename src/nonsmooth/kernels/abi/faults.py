"""Faults of the checked build: the first index that was outside its slot."""

import zlib

from nonsmooth.kernels.abi.blocks import Block

# Number of the slot, index, extent; the first fault stays.
FAULT = "nonsmooth_fault"
# What has no slot.
_ARRAY, _STACK = "an array", "an array on the stack"


def number(name):
    """Return a number for a name that is the same in every process."""
    return zlib.crc32(name.encode()) + 1


ARRAY, STACK = number(_ARRAY), number(_STACK)


def slot_name(cls, attr):
    """Return what a slot is called in a fault."""
    return f"{cls.__name__}.{attr}"


def _blocks(cls=Block):
    for inner in cls.__subclasses__():
        yield inner
        yield from _blocks(inner)


def faults():
    """Return what was wrong with the first index outside its slot, "" for none."""
    from nonsmooth.kernels.abi.library import fault_cells

    found = 0
    for cells in fault_cells():
        if cells[0] and not found:
            found, index, extent = cells
        cells[:] = (0, 0, 0)
    if not found:
        return ""
    names = [slot_name(cls, attr) for cls in _blocks() for attr in cls._layout.arrays]
    name = next(n for n in (*names, _ARRAY, _STACK) if number(n) == found)
    return f"{name}: index {index} outside 0 ... {extent - 1}"
