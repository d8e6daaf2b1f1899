"""Whether nodes of a step, or its stages, tell what guards do between them."""

from nonsmooth.kernels.abi import kernel
from nonsmooth.kernels.friction.modes import SLIP, STICK
from nonsmooth.kernels.march.guards import is_friction_at_rest, is_reaction
from nonsmooth.kernels.mechanics.tables import GROUP
from nonsmooth.kernels.run import N_NODE
from nonsmooth.kernels.tolerances import (
    FELT_FORCE,
    SMALLEST_FORCE,
    SMALLEST_OVERLAP,
    ZERO,
)

# Nodes of friction at rest may differ from their interpolation by this part of the
# least of them; where they vary by less than the next they are not looked at.
# Those that go down to zero, by a part of the largest.
RESOLVED, ALIKE, DEEPEST = 0.1, 0.1, 0.05
# Tangents at two nodes that meet above this part of the lower one show no zero between;
# nor does a parabola whose vertex is above this part of the lowest of three nodes.
WELL_ABOVE = 0.5
# A guard whose least value at the stages of a step is above this part of its range over
# them has no zero between: the lowest point of a parabola is not so far below.
QUIET = 0.25
# What nodes miss is noise, of at most this part of the forces of a run, if it has not
# fallen to the second part in a step that is shorter by the third; and how many times
# it. A kink falls with the step, what is smooth by its fifth power.
NOISE, FALLEN, SHORTER, MANY = FELT_FORCE, 0.25, 0.125, 2.0


@kernel
def stays_away(s, i):
    """Return whether guard i of a joint stays away from zero at the step's stages."""
    return s.low[i] > QUIET * (s.high[i] - s.low[i])


@kernel
def is_quiet(m, w, s):
    """Return 1 if guards of joints that are reactions stay away from zero, else 0."""
    for i in range(m.n_heard, m.n_watch):
        if is_reaction(m, w, i) and not stays_away(s, i):
            return 0
    return 1


@kernel
def is_silent(m, w, s):
    """Return whether all guards stay away from zero, as the stages of a step tell.

    Those of joints that slide, and nothing else is watched. Whether a state of a law is
    near its end is looked at where the step ends.
    """
    if m.n_touch > 0 or m.n_user > 0 or m.n_state > 0 or w.n_stuck > 0:
        return False
    for k in range(m.n_contact):
        if m.contact_rub[k] >= 0 and w.mode[k].grip != SLIP:
            return False
    for i in range(m.n_heard, m.n_watch):
        if not stays_away(s, i):
            return False
    return True


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
def is_resolved(w, watch, h, k):
    """Return whether the nodes of guard k, a reaction, show what it does between them.

    Where all is at rest no error limits the step, and reactions may do anything in it.
    The odd nodes are compared with the polynomial through the even ones. Where rows
    nearly depend on each other reactions have much of the state's round-off.
    """
    node = watch.node
    least, largest = node[0][k][0], node[0][k][0]
    for j in range(1, N_NODE + 1):
        least = min(least, node[j][k][0])
        largest = max(largest, node[j][k][0])
    if largest - least <= ALIKE * least:
        return True
    allowed = RESOLVED * max(least, DEEPEST * largest, SMALLEST_FORCE * w.force)
    allowed = max(allowed, MANY * watch.noise[k])
    missed = 0.0
    for j in range(1, N_NODE, 2):
        value = 0.0
        for i in range(0, N_NODE + 1, 2):
            weight = 1.0
            for l in range(0, N_NODE + 1, 2):
                if l != i:
                    weight *= (j - l) / (i - l)
            value += weight * node[i][k][0]
        missed = max(missed, abs(value - node[j][k][0]))
    if missed <= allowed:
        return True
    return is_noise(w, watch, h, k, missed)


@kernel
def is_noise(w, watch, h, k, missed):
    """Return whether what guard k's nodes miss does not fall with the step; keep it."""
    if h > watch.h_missed[k]:
        watch.missed[k], watch.h_missed[k] = missed, h
    is_small = missed <= NOISE * w.force
    is_shorter = h <= SHORTER * watch.h_missed[k]
    if is_small and is_shorter and missed > FALLEN * watch.missed[k]:
        watch.noise[k] = missed
        return True
    return False


@kernel
def forget_noise(m, watch):
    """Forget what nodes have missed: in another mode reactions are others."""
    for k in range(m.n_watch):
        watch.missed[k] = watch.h_missed[k] = watch.noise[k] = 0.0


@kernel
def barely_overlaps(m, watch, k):
    """Return whether the contact of guard k overlaps by round-off all step long.

    Its load is round-off as well, on and off, and shorter steps show no more of it.
    """
    owner = m.watch_owner[k]
    if m.watch_kind[k] == GROUP or owner >= m.n_touch:
        return False
    least = SMALLEST_OVERLAP * watch.step.set.size
    return watch.node[N_NODE][m.contact_press[owner]][0] <= least


@kernel
def all_resolved(m, w, watch, h):
    """Return whether the nodes tell of every guard that is friction at rest."""
    for k in range(m.n_user, m.n_watch):
        if not is_friction_at_rest(m, w, k) or barely_overlaps(m, watch, k):
            continue
        if not is_resolved(w, watch, h, k):
            return False
    return True


@kernel
def has_passed_zero(m, watch, k, j):
    """Return whether the load of joint k at rest is near zero between nodes j - 1, j.

    There its limit is, too, for a small part of a step: its force has turned about.
    """
    rub, total = m.contact_rub[k], 0.0
    for i in range(rub, rub + 2 if rub >= 0 else rub):
        total += watch.node[j - 1][i][1] * watch.node[j][i][1]
    return total < 0.0


@kernel
def loses_load(m, w, watch, k, i, j):
    """Return whether guard k may be past zero between nodes since joint i has no load.

    Its own of friction at rest, or that of its group.
    """
    owner = m.watch_owner[k]
    is_own = owner == i
    if m.watch_kind[k] == GROUP:
        is_own = m.contact_group[owner] == m.contact_group[i]
    rests = w.mode[i].grip == STICK and is_friction_at_rest(m, w, k)
    return is_own and rests and has_passed_zero(m, watch, i, j)


@kernel
def stays_above(watch, h, k, j, side):
    """Return whether guard k, turning between nodes j - 1 and j, stays far from zero.

    Where it turns back once, it is above its tangents.
    """
    g0, g1 = side * watch.node[j - 1][k][0], side * watch.node[j][k][0]
    rate0, rate1 = side * watch.node[j - 1][k][1], side * watch.node[j][k][1]
    t = (g1 - g0 - rate1 * h / N_NODE) / (rate0 - rate1)
    return g0 + rate0 * t > WELL_ABOVE * min(g0, g1)
