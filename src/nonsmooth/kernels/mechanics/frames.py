"""Pieces of two bodies that touch on one face: one normal, and one line of friction.

Each pair of pieces has a normal and a point of its own, which lean and sink by parts of
the depth. With friction along each one slides before the other: on one face all have
the frame of all, so that what they hold is as much as one face would,

    F = sum w F_j    S = sum w S_j    X = sum w X_j        over the pairs that press
    n = F/|F|        P = X/S

with w = 1 for those that press on faces of a, or of b, with the same normal and height
within what depths bring about, w = 0 for others, and between the two falling as
1 - x^2 (3 - 2 x), which has a continuous rate. What a piece has of its elastic force
along tau is left out: of all that is nothing, by n, where w is 1 or 0.
"""

import math

from nonsmooth.kernels.abi import kernel, stack_floats
from nonsmooth.kernels.mechanics.outlines import see

# Between normals, as a chord: faces that are one are parallel but for their ends.
SAME_WAY, OTHER_WAY = 0.05, 0.15
# Between heights, as parts of the greater depth: on one face at most two, one for what
# lies between the faces and one for their tilt.
SAME_FACE, OTHER_FACE = 3.0, 10.0


@kernel
def fall(x, rate):
    """Return 1 - x^2 (3 - 2 x), 1 before x = 0 and 0 after 1, and its rate."""
    if x <= 0.0:
        return 1.0, 0.0
    if x >= 1.0:
        return 0.0, 0.0
    return 1.0 - x * x * (3.0 - 2.0 * x), -6.0 * x * (1.0 - x) * rate


@kernel
def pressed_way(o, is_a):
    """Return the mean normal of a's faces that press, or b's reversed, and its turn.

    Zero without any. What barely presses has the face that its nearest vertex is at, on
    whatever body: it stays with the others until it has left.
    """
    if not o.is_pressed:
        return o.own_x, o.own_y, o.own_turn
    x, y = (o.A_x, o.A_y) if is_a else (o.B_x, o.B_y)
    rate_x, rate_y = (o.rate_A_x, o.rate_A_y) if is_a else (o.rate_B_x, o.rate_B_y)
    size = math.hypot(x, y)
    if not size > 0.0:
        return 0.0, 0.0, 0.0
    return x / size, y / size, (x * rate_y - y * rate_x) / (size * size)


@kernel
def share_of(o, other, is_a):
    """Return how much faces of one body, in two pairs, are one, and its rate."""
    x, y, turn = pressed_way(o, is_a)
    its_x, its_y, its_turn = pressed_way(other, is_a)
    dx, dy = x - its_x, y - its_y
    chord = math.hypot(dx, dy)
    if chord >= OTHER_WAY or (x == 0.0 and y == 0.0):
        return 0.0, 0.0
    rate = 0.0
    if chord > SAME_WAY:
        rate = turn * (dy * x - dx * y) - its_turn * (dy * its_x - dx * its_y)
        rate /= chord
    span = OTHER_WAY - SAME_WAY
    alike, alike_rate = fall((chord - SAME_WAY) / span, rate / span)
    mx, my = 0.5 * (x + its_x), 0.5 * (y + its_y)
    px, py = o.own_P_x - other.own_P_x, o.own_P_y - other.own_P_y
    deeper = o if o.gap < other.gap else other
    ratio = (mx * px + my * py) / -deeper.gap
    rate = (turn * x + its_turn * its_x) * py - (turn * y + its_turn * its_y) * px
    rate *= 0.5
    rate += mx * (o.own_u_x - other.own_u_x) + my * (o.own_u_y - other.own_u_y)
    rate = (rate + ratio * deeper.gap_rate) / -deeper.gap
    rate = rate if ratio > 0.0 else -rate
    span = OTHER_FACE - SAME_FACE
    level, level_rate = fall((abs(ratio) - SAME_FACE) / span, rate / span)
    return alike * level, alike_rate * level + alike * level_rate


@kernel
def share(o, other):
    """Return how much two pairs are on one face, of a or of b, and its rate."""
    p, p_rate = share_of(o, other, True)
    q, q_rate = share_of(o, other, False)
    return p + q - p * q, p_rate * (1.0 - q) + q_rate * (1.0 - p)


@kernel
def join(press, first, end, k):
    """See pair k of those from first to end with normal and point of its face."""
    o = press[k]
    total = stack_floats(10)
    for i in range(10):
        total[i] = 0.0
    n = 0
    for j in range(first, end):
        other = press[j]
        if not other.is_pressed:
            continue
        w, rate = 1.0, 0.0
        if j != k:
            w, rate = share(o, other)
            n += 1 if w > 0.0 else 0
        if w > 0.0:
            add(total, other, w, rate)
    size = math.hypot(total[0], total[1])
    if n == 0 or size == 0.0:
        return
    nx, ny = total[0] / size, total[1] / size
    S, x, y = total[2], total[3] / total[2], total[4] / total[2]
    see(
        o, True, nx, ny, (nx * total[6] - ny * total[5]) / size,
        x, y, (total[8] - x * total[7]) / S, (total[9] - y * total[7]) / S,
    )  # fmt: skip


@kernel
def add(total, o, w, rate):
    """Add the sums of a pair, and their rates, by a part."""
    total[0] += w * o.F_x
    total[1] += w * o.F_y
    total[2] += w * o.S
    total[3] += w * o.X_x
    total[4] += w * o.X_y
    total[5] += w * o.rate_F_x + rate * o.F_x
    total[6] += w * o.rate_F_y + rate * o.F_y
    total[7] += w * o.rate_S + rate * o.S
    total[8] += w * o.rate_X_x + rate * o.X_x
    total[9] += w * o.rate_X_y + rate * o.X_y
