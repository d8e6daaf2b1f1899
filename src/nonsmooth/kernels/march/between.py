"""Between the nodes of a step: the polynomial through all values of a guard.

Where a reaction is watched each value takes an evaluation of the whole model. The
polynomial tells its zero to many digits, and its slope there; what it does not tell is
found by evaluations as before.
"""

from nonsmooth.kernels.abi import kernel, stack_floats
from nonsmooth.kernels.march.guards import is_event
from nonsmooth.kernels.march.resolved import largest_node, starts_at_zero
from nonsmooth.kernels.run import N_NODE

NONE = 2.0
# Steps to a zero of the polynomial, and the part of a step at which it counts as found.
MAX_GUESS, GUESSED = 30, 1e-13
# Part of its largest value by which a guard is off the polynomial at most where the
# slope of that is taken for its own.
TOLD = 1e-5


@kernel
def differences(watch, k, c):
    """Write the divided differences of guard k over the nodes, one apart."""
    for j in range(N_NODE + 1):
        c[j] = watch.node[j][k][0]
    for i in range(1, N_NODE + 1):
        for j in range(N_NODE, i - 1, -1):
            c[j] = (c[j] - c[j - 1]) / i


@kernel
def height(c, x):
    """Return the polynomial and its slope at the fraction x of the step."""
    value, slope = c[N_NODE], 0.0
    for j in range(N_NODE - 1, -1, -1):
        slope = slope * (N_NODE * x - j) + value
        value = value * (N_NODE * x - j) + c[j]
    return value, N_NODE * slope


@kernel
def guess(c, x0, x1, side):
    """Return where the polynomial leaves `side` between two fractions, or near it."""
    x = 0.5 * (x0 + x1)
    for _ in range(MAX_GUESS):
        value, slope = height(c, x)
        if side * value > 0.0:
            x0 = x
        else:
            x1 = x
        last = x
        x = x - value / slope if slope != 0.0 else x1
        # Also where it is not a number.
        if not x0 < x < x1:
            x = 0.5 * (x0 + x1)
        if abs(x - last) <= GUESSED:
            break
    return x


@kernel
def told_rate(watch, h, k, x):
    """Return the rate of guard k at a fraction x where it is zero; 1 if not told."""
    c = stack_floats(9)
    differences(watch, k, c)
    value, slope = height(c, x)
    return slope / h if abs(value) <= TOLD * largest_node(watch, k) else 1.0


@kernel
def crossing(m, watch, k):
    """Estimate where guard k leaves its side between nodes, NONE if it does not."""
    start = watch.side[k] if watch.side[k] != 0.0 else watch.node[1][k][0]
    side = 1.0 if start > 0.0 else -1.0
    for j in range(1, N_NODE + 1):
        here = side * watch.node[j][k][0]
        if here > 0.0:
            continue
        if not is_event(m, k, -side):
            side = -side
            continue
        if j == 1 and starts_at_zero(m, watch, k):
            return NONE
        last = max(side * watch.node[j - 1][k][0], 0.0)
        return (j - 1 + (last / (last - here) if last > 0.0 else 0.0)) / N_NODE
    return NONE
