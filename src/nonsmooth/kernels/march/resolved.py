"""Whether nodes of a step tell what guards do between them."""

from nonsmooth.kernels.abi import kernel
from nonsmooth.kernels.march.guards import is_friction_at_rest
from nonsmooth.kernels.run import N_NODE
from nonsmooth.kernels.tolerances import SMALLEST_FORCE, ZERO

# Nodes of friction at rest may differ from their interpolation by this part of the
# least of them; where they vary by less than the next they are not looked at.
# Those that go down to zero, by a part of the largest.
RESOLVED, ALIKE, DEEPEST = 0.1, 0.1, 0.05


@kernel
def largest_node(watch, k):
    """Return the largest magnitude of guard k over the nodes of the step."""
    largest = 0.0
    for j in range(N_NODE + 1):
        largest = max(largest, abs(watch.node[j][k][0]))
    return largest


@kernel
def starts_at_zero(m, watch, k):
    """Return whether guard k is zero at the start of the step, but for round-off."""
    if not watch.is_at_zero[k] or k < m.n_user:
        return watch.is_at_zero[k] != 0
    return abs(watch.node[0][k][0]) <= ZERO * largest_node(watch, k)


@kernel
def is_resolved(w, watch, k):
    """Return whether the nodes of guard k, a reaction, show what it does between them.

    Where all is at rest no error limits the step, and reactions may do anything in it.
    The odd nodes are compared with the polynomial through the even ones.
    """
    node = watch.node
    least, largest = node[0][k][0], node[0][k][0]
    for j in range(1, N_NODE + 1):
        least = min(least, node[j][k][0])
        largest = max(largest, node[j][k][0])
    if largest - least <= ALIKE * least:
        return True
    allowed = RESOLVED * max(least, DEEPEST * largest, SMALLEST_FORCE * w.force)
    for j in range(1, N_NODE, 2):
        value = 0.0
        for i in range(0, N_NODE + 1, 2):
            weight = 1.0
            for l in range(0, N_NODE + 1, 2):
                if l != i:
                    weight *= (j - l) / (i - l)
            value += weight * node[i][k][0]
        if abs(value - node[j][k][0]) > allowed:
            return False
    return True


@kernel
def all_resolved(m, w, watch):
    """Return whether the nodes tell of every guard that is friction at rest."""
    for k in range(m.n_user, m.n_watch):
        if is_friction_at_rest(m, w, k) and not is_resolved(w, watch, k):
            return False
    return True
