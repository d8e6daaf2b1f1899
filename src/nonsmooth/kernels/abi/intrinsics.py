"""Names in kernels that are a few lines of machine code; see `pointers`.

With the JIT off they are plain functions.
"""

from typing import Any

import numpy as np

from nonsmooth.kernels.abi.linking import JIT, Intrinsic

at: Any
data: Any
stack_floats: Any
call_look: Any

if JIT:
    at, data = Intrinsic("at"), Intrinsic("data")
    stack_floats, call_look = Intrinsic("stack_floats"), Intrinsic("call_look")
else:

    def data(array):
        """Return the array itself."""
        return array

    def at(array, offset):
        """Return all of an array from one entry, or one row, on."""
        return array[offset:].reshape(-1)

    def stack_floats(n):
        """Return `n` floats, not zeroed."""
        return np.empty(n)

    def call_look(address):
        """Let Python look in: with the JIT off it does so all the time."""
