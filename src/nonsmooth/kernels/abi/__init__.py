"""How kernels get at data and at row functions.

`blocks`: named slots of numbers, arrays and records, whose shapes are declared.
`linking`: kernels, compiled into their callers or alone. `rows`: laws and joints called
by their address. `library`: where the compiled code is. `compiler` and `pointers`,
which make it, are imported only where there is none.

With the JIT off a block is a plain object with arrays, and an address a key into a
dictionary of Python functions: everything runs, slowly, under a debugger, with array
bounds checked. `NONSMOOTH_CHECKED=1` compiles kernels that check every index into a
slot; `faults` tells of the first that was outside.
"""

from nonsmooth.kernels.abi.blocks import (
    COMPLEXES,
    FLOATS,
    INTEGER,
    INTEGERS,
    NUMBER,
    Block,
    addresses,
    complexes,
    floats,
    integers,
    records,
)
from nonsmooth.kernels.abi.faults import faults
from nonsmooth.kernels.abi.intrinsics import at, call_look, data, stack_floats
from nonsmooth.kernels.abi.linking import CHECKED, JIT, far, jit, kernel
from nonsmooth.kernels.abi.rows import (
    address,
    call_force,
    call_guard,
    call_inner,
    call_joint,
    call_law,
    call_limit,
    call_normal,
    call_place,
    call_shape,
    call_smooth,
    call_weigh,
)

__all__ = [
    "CHECKED",
    "COMPLEXES",
    "FLOATS",
    "INTEGER",
    "INTEGERS",
    "JIT",
    "NUMBER",
    "Block",
    "address",
    "addresses",
    "at",
    "call_force",
    "call_guard",
    "call_inner",
    "call_joint",
    "call_law",
    "call_limit",
    "call_look",
    "call_normal",
    "call_place",
    "call_shape",
    "call_smooth",
    "call_weigh",
    "complexes",
    "data",
    "far",
    "faults",
    "floats",
    "integers",
    "jit",
    "kernel",
    "records",
    "stack_floats",
]
