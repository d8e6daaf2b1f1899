"""Letting Python look in from inside a long kernel, for progress and interruption."""

from nonsmooth.kernels.abi import INTEGER, NUMBER, Block, call_look, kernel

# Operations between two looks: about ten milliseconds.
OPERATIONS = 1e7


class Look(Block):
    """Who looks in, and whether the run is to stop."""

    address = INTEGER  # of a function without arguments, 0 for none
    spent = NUMBER  # operations since the last look
    is_stopped = INTEGER


@kernel
def spend(look, n):
    """Count n operations, and let Python look in now and then; return if to stop."""
    look.spent += n
    if look.spent > OPERATIONS:
        look.spent = 0.0
        if look.address != 0:
            call_look(look.address)
    return look.is_stopped != 0
