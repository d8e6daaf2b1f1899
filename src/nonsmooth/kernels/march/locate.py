"""Where guards cross zero on the dense output of a step.

A guard is sampled at a few nodes of the step, with its rate where that is cheap
(not for reactions). A change of sign between nodes brackets a root; so does an
extremum on the far side of zero, found where the rate changes sign or where a node
is lower than its neighbours, so that a pair of roots inside a step is not lost.
The side a guard starts from is remembered, not read from a value that may be
round-off.
"""

import math

from nonsmooth.kernels.abi import (
    INTEGER,
    NUMBER,
    far,
    kernel,
    stack_floats,
)
from nonsmooth.kernels.march import nearing, steps
from nonsmooth.kernels.march.between import NONE, crossing, differences, guess, height
from nonsmooth.kernels.march.guards import (
    evaluate,
    has_rate,
    is_event,
    is_friction_at_rest,
    is_reaction,
)
from nonsmooth.kernels.march.inside import on_dense, value_at
from nonsmooth.kernels.march.resolved import (
    WELL_ABOVE,
    all_resolved,
    is_quiet,
    largest_node,
    loses_load,
    starts_at_zero,
    stays_above,
)
from nonsmooth.kernels.mechanics import contacts
from nonsmooth.kernels.mechanics.tables import GAP, Tables, Work
from nonsmooth.kernels.run import N_NODE, Watch
from nonsmooth.kernels.tolerances import (
    NO_GUARD,
    SIMULTANEOUS,
    SMALLEST_GAP,
)

MAX_BISECTION = 60
# Fractions of a step at which an extremum, and a root, count as found: a dip thinner
# than the first is no crossing; landing refines the second.
EXTREMUM_WIDTH, ROOT_WIDTH = 1e-9, 1e-15
# Part of its largest value in a step at which a reaction is found to be zero. Landing
# allows ten times as much.
FOUND = 0.1 * NO_GUARD
# How many times that may be its round-off: of terms far larger than itself.
STALLED = 100.0
# Parabolas through a low node and its neighbours until its depth is known to this part.
MAX_PARABOLA, DEPTH = 12, 0.1
# Part of a step to which the least load of a joint at rest is followed.
NARROWEST = 1e-6
# How often the first interval is halved to find the lobe after such a start.
MAX_HALVING = 40
# Fraction of a step within which an event is at its start.
AT_ONCE = 1e-9
# Halvings of an interval to the longest moment before a mode is decided again.
SHORTEST = 6
# A gap of patches above this part of its range over a step, and of its way at the
# largest rate, is not looked for: four times what a cubic goes below its nodes.
FAR = 0.25


# ---- roots of one guard --------------------------------------------------------


@kernel
def extremum(m, w, watch, h, k, x0, x1, side):
    """Fraction where guard k, approaching at x0, turns back before x1, or NONE.

    `guard` has its value there.
    """
    for _ in range(MAX_BISECTION):
        x = 0.5 * (x0 + x1)
        if side * value_at(m, w, watch, h, x, k) <= 0.0:
            return x
        if side * watch.guard[k][1] < 0.0:
            x0 = x
        else:
            x1 = x
        if x1 - x0 < EXTREMUM_WIDTH:
            break
    return NONE


@kernel
def dip(m, w, watch, h, k, x, g, x0, g0, x1, g1):
    """Fraction where guard k, low at x between x0 and x1, is not positive, or NONE.

    `guard` has its value there.
    """
    for _ in range(MAX_PARABOLA):
        # Vertex of the parabola through the three points, and its height.
        p, q = (x - x0) * (g - g1), (x - x1) * (g - g0)
        if p == q:
            return NONE
        new = x - 0.5 * ((x - x0) * p - (x - x1) * q) / (p - q)
        slope = (g1 - g0) / (x1 - x0)
        bend = ((g1 - g) / (x1 - x) - (g - g0) / (x - x0)) / (x1 - x0)
        lowest = (
            g
            + (new - x) * (slope + bend * (2.0 * x - x0 - x1))
            + bend * (new - x) * (new - x)
        )
        if not x0 < new < x1 or abs(new - x) < EXTREMUM_WIDTH:
            return NONE
        if lowest > WELL_ABOVE * g:
            return NONE
        value = value_at(m, w, watch, h, new, k)
        if value <= 0.0:
            return new
        if abs(value - lowest) <= DEPTH * value:
            return NONE
        if value < g:
            if new < x:
                x1, g1 = x, g
            else:
                x0, g0 = x, g
            x, g = new, value
        elif new < x:
            x0, g0 = new, value
        else:
            x1, g1 = new, value
    return NONE


@kernel
def root(m, w, watch, h, k, x0, g0, x1, g1, side):
    """Fraction where guard k, g0 at x0 and g1 at x1, leaves `side` between them.

    Chandrupatla's method: inverse quadratic interpolation where that is safe, else
    bisection [Chandrupatla1997]_, from where the polynomial through all nodes has it. A
    reaction is found where it is round-off: it takes a whole evaluation, and many of
    them would only tell of its steps.
    """
    p = stack_floats(9)
    differences(watch, k, p)
    nothing = FOUND * largest_node(watch, k) if is_reaction(m, w, k) else 0.0
    # A start at zero is round-off: it counts as on its side.
    gb, ga = max(side * g0, 1e-300), side * g1
    # The root is between a and b; c is the last point that was given up.
    a, b = x1, x0
    c, gc, t = b, gb, (guess(p, x0, x1, side) - a) / (b - a)
    width, last = ROOT_WIDTH, math.inf
    for i in range(MAX_BISECTION):
        x = a + t * (b - a)
        g = side * value_at(m, w, watch, h, x, k)
        if (g > 0.0) == (ga > 0.0):
            c, gc = a, ga
        else:
            c, gc, b, gb = b, gb, a, ga
        a, ga = x, g
        # Not even halved, as it is at the zero of a square: that is round-off.
        is_stalled = abs(g) <= STALLED * nothing and abs(g) > 0.5 * last
        if abs(g) <= nothing or is_stalled:
            return x
        last = abs(g)
        least = width / abs(b - a)
        if least >= 1.0 or g == 0.0:
            break
        xi, phi = (a - b) / (c - b), (ga - gb) / (gc - gb)
        t = 0.5
        if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
            t = ga / (gb - ga) * gc / (gb - gc)
            t += (c - a) / (b - a) * ga / (gc - ga) * gb / (gc - gb)
        if i == 0:
            slope = side * height(p, x)[1]
            nearer = -g / slope / (b - a) if slope != 0.0 else -1.0
            t = nearer if 0.0 <= nearer <= 1.0 else t
        if t < 0.5 * least:
            # Step across the root: farther each time that round-off has hidden it.
            t = 0.5 * least
            width *= 4.0
        t = min(t, 1.0 - 0.5 * least)
    return a if ga <= 0.0 else b


@kernel
def root_after_zero(m, w, watch, h, k, x1, side):
    """Root of guard k before x1 after a start at zero, not counting the start.

    Looks for the lobe on its side by halving; without one the guard has only touched
    zero before, and there is no root.
    """
    x, g = x1, watch.node[1][k][0]
    for _ in range(MAX_HALVING):
        last, g_last = x, g
        x = 0.5 * x
        g = value_at(m, w, watch, h, x, k)
        if side * g > 0.0:
            return root(m, w, watch, h, k, x, g, last, g_last, side)
    return NONE


@kernel
def moment(n_chatter):
    """Return the fraction of a step to go on in a mode that ends at once."""
    return 0.5 ** max(SHORTEST, MAX_HALVING - 2 * n_chatter) / N_NODE


@kernel
def is_at_once(watch, k, n_chatter):
    """Return whether guard k was past zero at the start: there is no landing on it."""
    return watch.root[k] <= max(AT_ONCE, moment(n_chatter))


@kernel
def is_round_off(m, w, watch, k):
    """Return whether guard k is as near to zero as positions or reactions tell."""
    if m.watch_kind[k] == GAP:
        size = watch.step.set.size
        least = SMALLEST_GAP * contacts.places(m, w, m.watch_owner[k], size)
    else:
        least = 0.0 if has_rate(m, w, k) else NO_GUARD * largest_node(watch, k)
    return abs(watch.guard[k][0]) <= least


@kernel
def lost_dip(m, w, watch, h, k, j):
    """Fraction of a dip below zero about node j of a guard without rate, or NONE."""
    node = watch.node
    last, here, after = node[j - 1][k][0], node[j][k][0], node[j + 1][k][0]
    if not (last > here and here < after and after > 0.0):
        return NONE
    x = j / N_NODE
    return dip(m, w, watch, h, k, x, here, x - 1 / N_NODE, last, x + 1 / N_NODE, after)


@kernel
def lost_load(m, w, watch, h, k, j):
    """Fraction where a joint at rest bears too little for guard k, or NONE.

    Between two nodes, by bisection towards its least load; `guard` has its value there.
    """
    for i in range(m.n_touch, m.n_contact):
        if not loses_load(m, w, watch, k, i, j):
            continue
        rub, last, node = m.contact_rub[i], watch.node[j - 1], watch.node[j]
        x0, x1 = (j - 1) / N_NODE, j / N_NODE
        while x1 - x0 > NARROWEST:
            x = 0.5 * (x0 + x1)
            if value_at(m, w, watch, h, x, k) <= 0.0:
                return x
            along = 0.0
            for l in range(rub, rub + 2):
                along += watch.guard[l][1] * (node[l][1] - last[l][1])
            x0, x1 = (x, x1) if along < 0.0 else (x0, x)
    return NONE


@kernel
def turning_root(m, w, watch, h, k, j, side, is_zero):
    """First root of guard k between nodes j - 1 and j on one side of zero, or NONE."""
    x0, x1 = (j - 1) / N_NODE, j / N_NODE
    g0, g1 = watch.node[j - 1][k][0], watch.node[j][k][0]
    if nearing.bends(m, w, k):
        if j == 1 and is_zero:
            return NONE
        x = nearing.dip(m, w, watch, h, k, j)
        if x == NONE:
            return NONE
        return root(m, w, watch, h, k, x0, g0, x, watch.guard[k][0], side)
    if not has_rate(m, w, k):
        x = lost_dip(m, w, watch, h, k, j) if j < N_NODE else NONE
        x = lost_load(m, w, watch, h, k, j) if x == NONE else x
        if x == NONE:
            return NONE
        return root(m, w, watch, h, k, x0, g0, x, watch.guard[k][0], side)
    rate0, rate1 = watch.node[j - 1][k][1], watch.node[j][k][1]
    if not (side * rate0 < 0.0 and side * rate1 > 0.0):
        return NONE
    if j == 1 and is_zero:
        # It only touched zero, and is back on the side it came from.
        return NONE
    if stays_above(watch, h, k, j, side):
        return NONE
    x = extremum(m, w, watch, h, k, x0, x1, side)
    if x == NONE:
        return NONE
    # It passes zero and comes back within the interval.
    g = watch.guard[k][0]
    if is_event(m, k, -side):
        return root(m, w, watch, h, k, x0, g0, x, g, side)
    return root(m, w, watch, h, k, x, g, x1, g1, -side)


@kernel
def comes_in(m, w, watch, k, side):
    """Return whether guard k grows all step long from zero, or a little beyond it.

    Where joints are stabilised, not projected, a slip that has turned keeps a rest of
    the other sign, which is much beside all that a last, tiny step sees.
    """
    if k < m.n_user or not watch.is_at_zero[k] or not has_rate(m, w, k):
        return False
    for j in range(N_NODE + 1):
        if not side * watch.node[j][k][1] > 0.0:
            return False
    return True


@kernel
def first_root(m, w, watch, h, k, limit, is_seen, n_chatter):
    """First root of guard k in its direction up to the fraction `limit`, or NONE.

    If it is seen, `root` has the guard's value there.
    """
    # Flat to second order at the start: the first node tells its side.
    start = watch.side[k] if watch.side[k] != 0.0 else watch.node[1][k][0]
    side = 1.0 if start > 0.0 else -1.0
    is_zero = starts_at_zero(m, watch, k)
    if comes_in(m, w, watch, k, side):
        return NONE
    for j in range(1, N_NODE + 1):
        x0, x1 = (j - 1) / N_NODE, j / N_NODE
        if x0 >= limit:
            break
        if side * watch.node[j][k][0] > 0.0:
            x = turning_root(m, w, watch, h, k, j, side, is_zero)
            if x != NONE:
                return x
            continue
        x = NONE
        if is_event(m, k, -side):
            if j > 1 or not is_zero:
                g0, g1 = watch.node[j - 1][k][0], watch.node[j][k][0]
                if is_seen and limit < x1:
                    if side * watch.root[k] > 0.0:
                        return NONE
                    x1, g1 = limit, watch.root[k]
                x = root(m, w, watch, h, k, x0, g0, x1, g1, side)
                if m.has_backs and nearing.bends(m, w, k):
                    low = nearing.dip_before(m, w, watch, h, k, j, x)
                    if low != NONE:
                        g = watch.guard[k][0]
                        return root(m, w, watch, h, k, x0, g0, low, g, side)
                return x
            x = root_after_zero(m, w, watch, h, k, x1, side)
            if x == NONE and k >= m.n_user:
                # It leaves its mode at once: let the switch decide a moment later, and
                # a longer one if that was too short to tell.
                return moment(n_chatter)
        if x != NONE:
            return x
        side = -side
    return NONE


# ---- the earliest of all -------------------------------------------------------


@kernel
def is_rest_first(m, w, watch, earliest):
    """Return whether no event comes before those of friction at rest."""
    for k in range(m.n_watch):
        # Beyond another event nodes are of no mode.
        if watch.root[k] <= min(earliest, 1.0) and not is_friction_at_rest(m, w, k):
            return False
    return True


@kernel
def are_far(m, w, watch, h):
    """Return 1 if patches, the only contacts, stay far from zero all step, else 0.

    By both ends and the middle: a cubic through their values and rates goes below them
    by an eighth of the largest rate over half the step.
    """
    node, middle = watch.node, N_NODE // 2
    for k in range(m.n_watch if watch.is_far else 0):
        node[0][k][0] = node[N_NODE][k][0]
        node[0][k][1] = node[N_NODE][k][1]
    for j in range(middle if watch.is_far else 0, N_NODE + 1, middle):
        on_dense(m, w, watch, h, j / N_NODE, node[j])
    for k in range(m.n_watch):
        if m.watch_kind[k] != GAP:
            continue
        least, largest, rate = node[0][k][0], node[0][k][0], 0.0
        for j in range(0, N_NODE + 1, middle):
            least = min(least, node[j][k][0])
            largest = max(largest, node[j][k][0])
            rate = max(rate, abs(node[j][k][1]))
        # Not <=: a NaN must come out.
        if not least > FAR * (largest - least + h * rate):
            return 0
    return 1


@kernel
def simultaneous(s, h, x):
    """Return the fraction up to which events are at the same time as one at x."""
    return min(x + SIMULTANEOUS * max(abs(s.t + x * h), h) / h, 1.0)


@kernel
def see_all(m, w, watch, h, x, k):
    """Evaluate the guards from k on at the fraction x, into `root`."""
    on_dense(m, w, watch, h, x, watch.guard)
    for i in range(k, m.n_watch):
        watch.root[i] = watch.guard[i][0]


@kernel
def all_roots(m, w, watch, h, n_chatter):
    """Find the roots of all guards up to the earliest, and return it, or NONE.

    Of many that cross in a step that is first searched which seems to be the earliest.
    One evaluation there tells of all others whether they have crossed before it, and
    those that have not are not searched.
    """
    s = watch.step
    n_crossing, first, least = 0, -1, NONE
    for k in range(m.n_watch):
        x = crossing(m, watch, k)
        if x < NONE:
            n_crossing += 1
        if x < least:
            first, least = k, x
    is_seen = 1 if n_crossing > 1 else 0
    earliest = found = limit = NONE
    if is_seen:
        found = first_root(m, w, watch, h, first, NONE, 0, n_chatter)
        earliest = found
        limit = simultaneous(s, h, earliest) if earliest <= 1.0 else NONE
        is_seen = 1 if earliest <= 1.0 else 0
        if is_seen:
            see_all(m, w, watch, h, limit, 0)
    for k in range(m.n_watch):
        if s.look.is_stopped:
            # The step is given up.
            return NONE
        if k == first and found < NONE:
            watch.root[k] = found
            continue
        x = first_root(m, w, watch, h, k, limit, is_seen, n_chatter)
        watch.root[k] = x
        if x < earliest:
            earliest = x
            limit = simultaneous(s, h, x) if is_seen else x
            if is_seen:
                see_all(m, w, watch, h, limit, k + 1)
    return earliest


@kernel
def see_end(m, w, watch, h, row, out):
    """Evaluate the guards at the end of a landed step; y' there is in K[row]."""
    s = watch.step
    t = min(s.t + h, s.t_cap)
    a = steps.accelerations(m, s, row)
    evaluate(m, w, t, s.y1, a, s.d, s.set.size, out)


@kernel
def see_nodes(m, w, watch, h, row):
    """Evaluate all guards at the nodes of the step, the start if it is not known."""
    if not watch.is_known:
        on_dense(m, w, watch, h, 0.0, watch.node[0])
    for j in range(1, N_NODE):
        on_dense(m, w, watch, h, j / N_NODE, watch.node[j])
        nearing.note_bends(m, w, watch, j == 1)
    see_end(m, w, watch, h, row, watch.node[N_NODE])
    nearing.note_bends(m, w, watch, False)
    watch.is_known, watch.is_at_end = 1, 1


@far(Tables, Work, Watch, NUMBER, INTEGER, INTEGER, INTEGER, returns=NUMBER)
def locate(m, w, watch, h, row, n_chatter, is_strict):
    """Return the fraction of the step's earliest event, or NONE; mark who fires.

    If it is strict, none where the nodes do not tell what friction at rest does.
    """
    s, was_quiet = watch.step, w.is_quiet
    # Of a state at rest the stages of a step say too little.
    w.is_quiet = 0
    if m.n_contact > m.n_touch and w.n_stuck == 0:
        w.is_quiet = is_quiet(m, w, s)
    if w.is_quiet != was_quiet:
        watch.is_known = 0
    if m.n_patch == m.n_contact and m.n_user == 0:
        watch.is_far = are_far(m, w, watch, h)
        if watch.is_far:
            for k in range(m.n_watch):
                watch.fired[k] = 0
            return NONE
    see_nodes(m, w, watch, h, row)
    for k in range(m.n_watch):
        watch.fired[k] = 0
    earliest = all_roots(m, w, watch, h, n_chatter)
    if s.look.is_stopped:
        return NONE
    watch.is_resolved = 1
    if is_strict and w.n_stuck > 0 and s.set.h_fixed == 0.0:
        if is_rest_first(m, w, watch, earliest) and not all_resolved(m, w, watch, h):
            watch.is_resolved = 0
            return NONE
    if earliest <= 1.0:
        # In the shortest of steps a tie is longer than the step.
        last = simultaneous(s, h, earliest)
        for k in range(m.n_watch):
            if watch.root[k] <= last:
                watch.fired[k] = 1
    return earliest
