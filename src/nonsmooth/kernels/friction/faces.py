"""An elastic block between the faces of a guide: its load under given reactions.

The guide presses with forces l on the nodes of both faces, and rubs with -phi l along
itself. The block's frame has a place (w, rho) across the guide. With the clearance c,
sides s = +1 below and -1 above, the places x of nodes and the block's height h

    0 <= l  _|_  c/2 + s (w + rho x) + (A + phi B) l >= 0
    sum s l = N        sum s l x - phi (h/2) sum s l = M

A and B are what the condensed block gives. The load is G = sum l. For a set of closed
nodes all is affine in (N, M): forces and gaps are kept as three columns, by N, by M and
by c, made once for each set and phi; a set that is still right costs no solve.

Gaps are multiplied by E t, so that they are forces. Parameters of a block, n nodes:

    n, c E t, h/2, length;  x (n), s (n);  A (n, n), B (n, n), by rows
"""

import math

from nonsmooth.kernels.abi import (
    FLOATS,
    INTEGER,
    INTEGERS,
    NUMBER,
    at,
    far,
    kernel,
)
from nonsmooth.kernels.linear.dense import lu_factor, lu_solve
from nonsmooth.kernels.tolerances import NO_GAP, NO_NODE_FORCE, TINY

COUNT, PLAY, HALF, LENGTH, HEAD = 0, 1, 2, 3, 4
# What is kept: for the part of friction in use at rest, for slips forward, backward.
N_KEPT = 3
# Of each, numbers: phi, G, its derivatives by N and M; then forces by N, M and c, gaps
# by N, M and c, forces, gaps, n of each.
PHI, TOTAL, BY_N, BY_M, N_TOTAL, N_ARRAY = 0, 1, 2, 3, 4, 8
FORCES, GAPS = 6, 7
# Integers: whether the columns are made, whether the last solve failed; then whether a
# node is closed, n of them. Behind all: those closed in order, rows exchanged.
MADE, FAILED, CLOSED = 0, 1, 2
# Starts: the last set, the faces, the diagonals, all nodes.
N_START = 6
# Changes of the whole set without fewer faults before nodes are changed one by one.
PATIENCE, MAX_CHANGE = 10, 400
# Changes where the last solve with the same part of friction failed: it fails again,
# most likely, many times before a run gives up.
FEW = 30


def n_numbers(n: int) -> int:
    """Return how many numbers a block of n nodes is worked out in."""
    return N_KEPT * (N_TOTAL + N_ARRAY * n) + (n + 2) * (n + 2) + (n + 2)


def n_marks(n: int) -> int:
    """Return how many integers a block of n nodes is worked out in."""
    return N_KEPT * (CLOSED + n) + n + (n + 2)


@kernel
def kept_of(node, n, kept):
    """Return the numbers kept for a way of friction."""
    return at(node, kept * (N_TOTAL + N_ARRAY * n))


@kernel
def marks_of(mark, n, kept):
    """Return the integers kept for a way of friction."""
    return at(mark, kept * (CLOSED + n))


@kernel
def assemble(p, n, phi, order, n_closed, matrix):
    """Write the equations of closed nodes and of the balance of the block."""
    x, s = at(p, HEAD), at(p, HEAD + n)
    A, B = at(p, HEAD + 2 * n), at(p, HEAD + 2 * n + n * n)
    size = n_closed + 2
    for r in range(n_closed):
        i = order[r]
        row = at(matrix, r * size)
        for c in range(n_closed):
            j = order[c]
            row[c] = A[i * n + j] + phi * B[i * n + j]
        row[n_closed] = s[i]
        row[n_closed + 1] = s[i] * x[i] / p[LENGTH]
        matrix[n_closed * size + r] = s[i]
        turned = s[i] * (x[i] - phi * p[HALF]) / p[LENGTH]
        matrix[(n_closed + 1) * size + r] = turned
    for r in range(n_closed, size):
        for c in range(n_closed, size):
            matrix[r * size + c] = 0.0


@kernel
def write_gaps(p, n, phi, order, n_closed, column, y, l, gap):
    """Write forces and gaps of a column from its solution y."""
    x, s = at(p, HEAD), at(p, HEAD + n)
    A, B = at(p, HEAD + 2 * n), at(p, HEAD + 2 * n + n * n)
    for i in range(n):
        l[i] = 0.0
    for r in range(n_closed):
        l[order[r]] = y[r]
    for i in range(n):
        total = 0.5 * p[PLAY] if column == 2 else 0.0
        total += s[i] * (y[n_closed] + y[n_closed + 1] * x[i] / p[LENGTH])
        for r in range(n_closed):
            j = order[r]
            total += (A[i * n + j] + phi * B[i * n + j]) * y[r]
        gap[i] = total
    for r in range(n_closed):
        gap[order[r]] = 0.0


@kernel
def make(p, n, phi, own, marks, order, swap, matrix, y):
    """Make the columns of the closed nodes; return whether they bear all loads."""
    n_closed = 0
    for i in range(n):
        if marks[CLOSED + i]:
            order[n_closed] = i
            n_closed += 1
    marks[MADE] = 0
    if n_closed < 2:
        return False
    size = n_closed + 2
    assemble(p, n, phi, order, n_closed, matrix)
    if not lu_factor(size, matrix, swap):
        return False
    for column in range(3):
        for r in range(size):
            y[r] = 0.0
        if column < 2:
            # The second row is the balance of moments, over the length.
            y[n_closed + column] = 1.0 if column == 0 else 1.0 / p[LENGTH]
        else:
            for r in range(n_closed):
                y[r] = -0.5 * p[PLAY]
        lu_solve(size, matrix, swap, y)
        l, gap = (
            at(own, N_TOTAL + column * n),
            at(own, N_TOTAL + (3 + column) * n),
        )
        write_gaps(p, n, phi, order, n_closed, column, y, l, gap)
    own[PHI] = phi
    own[BY_N] = 0.0
    own[BY_M] = 0.0
    for i in range(n):
        own[BY_N] += own[N_TOTAL + i]
        own[BY_M] += own[N_TOTAL + n + i]
    marks[MADE] = 1
    return True


@kernel
def apply(p, n, own, marks, N, M):
    """Write forces, gaps and load under N and M; return how many nodes are at fault."""
    a, l, gap = at(own, N_TOTAL), at(own, N_TOTAL + 6 * n), at(own, N_TOTAL + 7 * n)
    size = abs(N) + abs(M) / p[LENGTH]
    pulls, overlaps = -NO_NODE_FORCE * size, -NO_NODE_FORCE * size - NO_GAP * p[PLAY]
    n_fault, total = 0, 0.0
    for i in range(n):
        l[i] = N * a[i] + M * a[n + i] + a[2 * n + i]
        gap[i] = N * a[3 * n + i] + M * a[4 * n + i] + a[5 * n + i]
        total += l[i]
        # Not <: a NaN is a fault.
        if marks[CLOSED + i]:
            n_fault += 0 if l[i] >= pulls else 1
        else:
            n_fault += 0 if gap[i] >= overlaps else 1
    own[TOTAL] = total
    return n_fault


@kernel
def change(p, n, own, marks, N, M, is_one):
    """Change the nodes at fault, or the last of them alone."""
    l, gap = at(own, N_TOTAL + 6 * n), at(own, N_TOTAL + 7 * n)
    size = abs(N) + abs(M) / p[LENGTH]
    pulls, overlaps = -NO_NODE_FORCE * size, -NO_NODE_FORCE * size - NO_GAP * p[PLAY]
    for k in range(n):
        i = n - 1 - k
        closed = marks[CLOSED + i]
        is_right = l[i] >= pulls if closed else gap[i] >= overlaps
        if not is_right:
            marks[CLOSED + i] = 1 - closed
            if is_one:
                return


@kernel
def begin(p, n, marks, start, N, M):
    """Set the closed nodes to those of a start; return whether there is one."""
    x, s = at(p, HEAD), at(p, HEAD + n)
    n_closed = 0
    end = 0.5 * p[LENGTH] * (1.0 - 1e-9)
    for i in range(n):
        if start == 1:
            marks[CLOSED + i] = 1 if s[i] * N >= 0.0 else 0
        elif start == 2 or start == 3:
            way = M if start == 2 else -M
            is_end = abs(x[i]) >= end
            marks[CLOSED + i] = 1 if is_end and s[i] * x[i] * way > 0.0 else 0
        elif start == 4:
            marks[CLOSED + i] = 1
        elif start == 5:
            marks[CLOSED + i] = 1 if s[i] * N < 0.0 else 0
        n_closed += marks[CLOSED + i]
    return n_closed > 1


@kernel
def search(p, n, phi, own, marks, rest, numbers, N, M, most):
    """Find the closed nodes from one start; return whether that succeeds.

    All nodes at fault change together while that helps, else one alone
    [JudicePires1994]_.
    """
    order, swap = rest, at(rest, n)
    matrix, y = numbers, at(numbers, (n + 2) * (n + 2))
    best, patience = n + 1, PATIENCE
    for _ in range(most):
        if not make(p, n, phi, own, marks, order, swap, matrix, y):
            return False
        n_fault = apply(p, n, own, marks, N, M)
        if n_fault == 0:
            return True
        change(p, n, own, marks, N, M, patience == 0)
        if n_fault < best:
            best, patience = n_fault, PATIENCE
        elif patience > 0:
            patience -= 1
    return False


@far(FLOATS, FLOATS, INTEGERS, INTEGER, NUMBER, NUMBER, NUMBER, returns=NUMBER)
def bear(p, node, mark, kept, phi, N, M):
    """Return the load under N and M; NaN if no set of closed nodes was found.

    Its derivatives, forces and gaps stand in `node` behind it.
    """
    n = int(p[COUNT])
    own, marks = kept_of(node, n, kept), marks_of(mark, n, kept)
    marks[FAILED] = 0
    if abs(N) + abs(M) / p[LENGTH] <= TINY:
        for i in range(n):
            own[N_TOTAL + FORCES * n + i] = 0.0
        own[TOTAL] = 0.0
        own[BY_N] = 0.0
        own[BY_M] = 0.0
        marks[MADE] = 0
        return 0.0
    if marks[MADE] and own[PHI] == phi and apply(p, n, own, marks, N, M) == 0:
        return own[TOTAL]
    rest, numbers = marks_of(mark, n, N_KEPT), kept_of(node, n, N_KEPT)
    most = FEW if own[PHI] == phi and math.isnan(own[TOTAL]) else MAX_CHANGE
    for start in range(N_START):
        if begin(p, n, marks, start, N, M) and search(
            p, n, phi, own, marks, rest, numbers, N, M, most
        ):
            return own[TOTAL]
    marks[FAILED] = 1
    marks[MADE] = 0
    own[PHI] = phi
    own[TOTAL] = math.nan
    own[BY_N] = math.nan
    own[BY_M] = math.nan
    return math.nan


@kernel
def sum_areas(p, n, own, out):
    """Add up the forces: top left, top right, bottom left, bottom right.

    A node in the middle counts half on either side.
    """
    x, s, l = at(p, HEAD), at(p, HEAD + n), at(own, N_TOTAL + FORCES * n)
    for i in range(4):
        out[i] = 0.0
    middle = 1e-9 * p[LENGTH]
    for i in range(n):
        first = 0 if s[i] < 0.0 else 2
        right = 0.5 if abs(x[i]) <= middle else (1.0 if x[i] > 0.0 else 0.0)
        out[first] += (1.0 - right) * l[i]
        out[first + 1] += right * l[i]
