"""The numbers of pressed patches: where they stand, and forces that close gaps.

See `patches` for what they mean.
"""

import math

from nonsmooth.kernels.abi import at, kernel
from nonsmooth.kernels.tolerances import CLOSED_NODE, DEPENDENT_NODE

# Columns of `contact_patch`: parameters of b's patch and a's, -1 for a surface; first
# entries of `Work.node`, `Work.node_mark` and, of a rough patch, of `Work.history`.
OF_B, OF_A, PLACE, MARK, HISTORY = 0, 1, 2, 3, 4
# Numbers before the arrays of a patch.
HEAD = 3
# Arrays of n numbers for each patch: places in the body's axes from the marker, the
# same in global axes from the origin, forces in the body's axes.
X, Y, AT_X, AT_Y, F_X, F_Y, N_PART = range(7)
# Arrays of n numbers for the pair, n nodes of b: gap, normal in global axes, in the
# axes of b and of a, place in the segment, force, friction; forces that are solved for,
# what b's nodes give, gaps that are left, a column of factors, part of the second node
# of the segment in what it gives. The matrix and its factors, n by n, follow, or what a
# rough patch has.
GAP, N_X, N_Y, B_X, B_Y, A_X, A_Y, XI, LAM, LAM_T, RIGHT = range(11)
GIVE_X, GIVE_Y, LEFT, FRONT, SHARE, N_PAIR = range(RIGHT + 1, RIGHT + 7)
# Arrays of n integers: whether a node is closed, of a rough patch what it does, its
# segment (-1 for none), the nodes that are closed in order; of a rough patch whether a
# column is known, two of what is solved for. Then two more: the node that is nearest,
# whether the last solve failed.
CLOSED, SEGMENT, ORDER, KNOWN, UNKNOWN = range(5)
N_MARK = UNKNOWN + 2
NEAREST, FAILED = range(2)
# Changes of the whole set without fewer faults before nodes are changed one by one.
PATIENCE, MAX_CHANGE = 10, 1000


# ---- where things are ----------------------------------------------------------


@kernel
def n_of(p):
    """Return the number of nodes of a patch."""
    return int(p[0])


@kernel
def patterns_of(p, n):
    """Return where the patterns begin: of each, x of all nodes, then y."""
    return at(p, HEAD + 2 * n)


@kernel
def parts_of(p, n, nr):
    """Return where the parts of all shapes in the patterns begin, by pattern."""
    return at(p, HEAD + 2 * n * (1 + nr))


@kernel
def turn_of(p, n, nm, nr):
    """Return where the rotation of the patch's centre begins; G follows."""
    return at(p, HEAD + 2 * n * (1 + nr) + nm * nr)


@kernel
def part_b(m, w, k):
    """Return the arrays of b's patch."""
    return at(w.node, m.contact_patch[k][PLACE])


@kernel
def part_a(m, w, k, n):
    """Return the arrays of a's patch; b's has n nodes."""
    return at(w.node, m.contact_patch[k][PLACE] + N_PART * n)


@kernel
def pair_of(m, w, k, n):
    """Return the arrays of the pair, and the matrix behind them."""
    n_a = 0
    if m.contact_patch[k][OF_A] >= 0:
        n_a = n_of(at(m.par, m.contact_patch[k][OF_A]))
    return at(w.node, m.contact_patch[k][PLACE] + N_PART * (n + n_a))


# ---- forces --------------------------------------------------------------------


@kernel
def flexibility(p):
    """Return where G of a patch begins: xx, xy, yx, yy; then 1/k."""
    n, nm, nr = int(p[0]), int(p[1]), int(p[2])
    return at(turn_of(p, n, nm, nr), nm)


@kernel
def add_give(G, n, j, f_x, f_y, low, high, x, y):
    """Add what nodes from `low` to before `high` give under a force at node j.

    G is symmetric: its columns are its rows, which are contiguous.
    """
    xx, xy = at(G, j * n), at(G, (n + j) * n)
    yx, yy = at(G, (2 * n + j) * n), at(G, (3 * n + j) * n)
    for i in range(low, high):
        x[i] += f_x * xx[i] + f_y * yx[i]
    for i in range(low, high):
        y[i] += f_x * xy[i] + f_y * yy[i]


@kernel
def add_along(n, direction_x, direction_y, x, y, out):
    """Add the parts of displacements along given directions."""
    for i in range(n):
        out[i] += direction_x[i] * x[i] + direction_y[i] * y[i]


@kernel
def clear(n, x):
    """Set n numbers to zero."""
    for i in range(n):
        x[i] = 0.0


@kernel
def add_both(G, n, j, share, f_x, f_y, low, high, x, y):
    """Add what nodes give under a force that node j shares with the next."""
    add_give(G, n, j, (1.0 - share) * f_x, (1.0 - share) * f_y, low, high, x, y)
    add_give(G, n, j + 1, share * f_x, share * f_y, low, high, x, y)


@kernel
def between(x, j, share):
    """Return the value between node j and the next."""
    return x[j] + share * (x[j + 1] - x[j])


@kernel
def write_matrix(m, w, k, p, n, pair, order, n_closed, A):
    """Write the changes of the gaps of closed nodes under a unit force at each of them.

    The lower half only, row by row: that of node j reaches up to it.
    """
    x, y = at(pair, GIVE_X * n), at(pair, GIVE_Y * n)
    G, first = flexibility(p), order[0]
    for r in range(n_closed):
        j, row = order[r], at(A, r * n)
        clear(j + 1 - first, at(x, first))
        clear(j + 1 - first, at(y, first))
        add_give(G, n, j, pair[B_X * n + j], pair[B_Y * n + j], first, j + 1, x, y)
        for c in range(r + 1):
            i = order[c]
            row[c] = pair[B_X * n + i] * x[i] + pair[B_Y * n + i] * y[i]
        row[r] += G[4 * n * n + j]
    if m.contact_patch[k][OF_A] >= 0:
        add_matrix_of_a(m, w, k, n, pair, order, n_closed, A)


@kernel
def add_matrix_of_a(m, w, k, n, pair, order, n_closed, A):
    """Add the part of the polyline's nodes to the matrix of closed nodes of b."""
    q = at(m.par, m.contact_patch[k][OF_A])
    n_a, G = n_of(q), flexibility(q)
    segment = at(w.node_mark, m.contact_patch[k][MARK] + SEGMENT * n)
    low, high = n_a, 0
    for r in range(n_closed):
        low = min(low, segment[order[r]])
        high = max(high, segment[order[r]] + 2)
    # Places of a's forces, which are written later.
    line = part_a(m, w, k, n)
    x, y = at(line, F_X * n_a), at(line, F_Y * n_a)
    for r in range(n_closed):
        j, row = order[r], at(A, r * n)
        clear(high - low, at(x, low))
        clear(high - low, at(y, low))
        f_x, f_y = pair[A_X * n + j], pair[A_Y * n + j]
        add_both(G, n_a, segment[j], pair[SHARE * n + j], f_x, f_y, low, high, x, y)
        for c in range(r + 1):
            i = order[c]
            l, share = segment[i], pair[SHARE * n + i]
            row[c] += pair[A_X * n + i] * between(x, l, share)
            row[c] += pair[A_Y * n + i] * between(y, l, share)


@kernel
def solve_closed(n, pair, A, order, n_closed):
    """Write the forces that close the gaps of given nodes; return if that is possible.

    Cholesky's factors, column by column, each row contiguous.
    """
    x, front, diagonal = at(pair, RIGHT * n), at(pair, FRONT * n), at(pair, LEFT * n)
    for r in range(n_closed):
        x[r] = -pair[GAP * n + order[r]]
        diagonal[r] = A[r * n + r]
    for c in range(n_closed):
        pivot = A[c * n + c]
        # Not <=: a NaN must come out.
        if not pivot > DEPENDENT_NODE * diagonal[c]:
            return False
        root = math.sqrt(pivot)
        A[c * n + c] = root
        x[c] /= root
        for r in range(c + 1, n_closed):
            front[r] = A[r * n + c] / root
            A[r * n + c] = front[r]
        for r in range(c + 1, n_closed):
            row, value = at(A, r * n), front[r]
            x[r] -= value * x[c]
            for i in range(c + 1, r + 1):
                row[i] -= value * front[i]
    for r in range(n_closed - 1, -1, -1):
        row = at(A, r * n)
        x[r] /= row[r]
        value = x[r]
        for c in range(r):
            x[c] -= value * row[c]
    return True


@kernel
def write_left(m, w, k, p, n, pair, order, n_closed, low, high):
    """Write the gaps of all nodes under the forces on closed ones, what b's give.

    Nodes of a from `low` to before `high` are met.
    """
    lam, left = at(pair, RIGHT * n), at(pair, LEFT * n)
    x, y = at(pair, GIVE_X * n), at(pair, GIVE_Y * n)
    clear(n, x)
    clear(n, y)
    for r in range(n_closed):
        j, value = order[r], lam[r]
        f_x, f_y = value * pair[B_X * n + j], value * pair[B_Y * n + j]
        add_give(flexibility(p), n, j, f_x, f_y, 0, n, x, y)
    for i in range(n):
        left[i] = pair[GAP * n + i]
    add_along(n, at(pair, B_X * n), at(pair, B_Y * n), x, y, left)
    for r in range(n_closed):
        left[order[r]] += flexibility(p)[4 * n * n + order[r]] * lam[r]
    if m.contact_patch[k][OF_A] < 0:
        return
    q = at(m.par, m.contact_patch[k][OF_A])
    n_a, line = n_of(q), part_a(m, w, k, n)
    segment = at(w.node_mark, m.contact_patch[k][MARK] + SEGMENT * n)
    x, y = at(line, F_X * n_a), at(line, F_Y * n_a)
    clear(high - low, at(x, low))
    clear(high - low, at(y, low))
    for r in range(n_closed):
        j, value = order[r], lam[r]
        f_x, f_y = value * pair[A_X * n + j], value * pair[A_Y * n + j]
        share = pair[SHARE * n + j]
        add_both(flexibility(q), n_a, segment[j], share, f_x, f_y, low, high, x, y)
    for i in range(n):
        l, share = segment[i], pair[SHARE * n + i]
        if l >= 0:
            left[i] += pair[A_X * n + i] * between(x, l, share)
            left[i] += pair[A_Y * n + i] * between(y, l, share)


@kernel
def faults(n, pair, closed, is_one):
    """Change nodes that pull or overlap, or the last of them; return how many."""
    x, left, deepest = at(pair, RIGHT * n), at(pair, LEFT * n), 0.0
    for i in range(n):
        deepest = max(deepest, -pair[GAP * n + i])
    n_fault, last, r = 0, -1, 0
    for i in range(n):
        is_wrong = left[i] < -CLOSED_NODE * deepest
        if closed[i]:
            is_wrong = x[r] < 0.0
            r += 1
        if is_wrong:
            n_fault += 1
            last = i
            if not is_one:
                closed[i] = 1 - closed[i]
    if is_one and last >= 0:
        closed[last] = 1 - closed[last]
    return n_fault


@kernel
def start_set(n, pair, closed):
    """Let the closed nodes be those of the last solution, or those that overlap."""
    n_closed = 0
    for i in range(n):
        if pair[N_X * n + i] == 0.0 and pair[N_Y * n + i] == 0.0:
            closed[i] = 0
        n_closed += closed[i]
    if n_closed == 0:
        for i in range(n):
            closed[i] = 1 if pair[GAP * n + i] < 0.0 else 0


@kernel
def met(m, w, k, n):
    """Return the first node of a's polyline that is met, and that after the last."""
    low, high = 0, 0
    if m.contact_patch[k][OF_A] >= 0:
        segment = at(w.node_mark, m.contact_patch[k][MARK] + SEGMENT * n)
        for i in range(n):
            if segment[i] >= 0:
                low = segment[i] if high == 0 else min(low, segment[i])
                high = max(high, segment[i] + 2)
    return low, high


@kernel
def solve(m, w, k, p, n, pair):
    """Write the forces of all nodes; return how many press, -1 if none were found.

    The set of closed nodes starts from the last. All nodes at fault change together
    while that helps, else the last of them alone: that comes to an end for every
    positive definite matrix [JudicePires1994]_.
    """
    marks = at(w.node_mark, m.contact_patch[k][MARK])
    closed, order = at(marks, CLOSED * n), at(marks, ORDER * n)
    A, x = at(pair, N_PAIR * n), at(pair, RIGHT * n)
    start_set(n, pair, closed)
    low, high = met(m, w, k, n)
    best, patience, n_closed, is_solved = n + 1, PATIENCE, 0, False
    for _ in range(MAX_CHANGE):
        n_closed = 0
        for i in range(n):
            if closed[i]:
                order[n_closed] = i
                n_closed += 1
        if n_closed > 0:
            write_matrix(m, w, k, p, n, pair, order, n_closed, A)
            if not solve_closed(n, pair, A, order, n_closed):
                break
        write_left(m, w, k, p, n, pair, order, n_closed, low, high)
        n_fault = faults(n, pair, closed, patience == 0)
        if n_fault == 0:
            is_solved = True
            break
        if n_fault < best:
            best, patience = n_fault, PATIENCE
        elif patience > 0:
            patience -= 1
    clear(n, at(pair, LAM * n))
    for r in range(n_closed):
        pair[LAM * n + order[r]] = x[r] if is_solved else math.nan
    return n_closed if is_solved else -1


@kernel
def give_way(p, n, part, pair):
    """Write what b's nodes give under the forces on them."""
    x, y = at(pair, GIVE_X * n), at(pair, GIVE_Y * n)
    clear(n, x)
    clear(n, y)
    for j in range(n):
        f_x, f_y = part[F_X * n + j], part[F_Y * n + j]
        if f_x != 0.0 or f_y != 0.0:
            add_give(flexibility(p), n, j, f_x, f_y, 0, n, x, y)
