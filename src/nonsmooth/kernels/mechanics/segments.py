"""From which side a segment is seen: it is touched from both, as a thin plate.

Beyond its ends both sides look the same. Between them the side stays as it is, and only
what gets there within one step, past an end, comes to the other: its gap jumps. The
side is part of the mode, `is_behind`.
"""

import math

from nonsmooth.kernels.abi import at, kernel, stack_floats
from nonsmooth.kernels.friction.modes import OPEN
from nonsmooth.kernels.mechanics import bodies
from nonsmooth.kernels.tolerances import AT_ALL, DEEPER, IN_FRONT


@kernel
def over_face(p, a, b):
    """Return whether b is over or below a segment, and its height over the line of it.

    Whether, as the segment itself has it (`Segment.nearest`).
    """
    c, s = math.cos(a[2]), math.sin(a[2])
    gx, gy = b[0] - a[0], b[1] - a[1]
    qx, qy = c * gx + s * gy, -s * gx + c * gy
    x, y = qx - p[0], qy - p[1]
    u, v = qx - p[2], qy - p[3]
    ex, ey = p[2] - p[0], p[3] - p[1]
    is_between = ex * x + ey * y >= 0.0 and ex * u + ey * v <= 0.0
    return is_between, (ex * y - ey * x) / math.hypot(ex, ey)


@kernel
def turn_over(p, a, b, near):
    """Let a segment be seen from behind, but for its ends, which are round."""
    is_between, _ = over_face(p, a, b)
    if is_between:
        for i in range(3):
            near[i] = -near[i]


@kernel
def is_seen_wrong(m, w, k):
    """Return whether contact k sees the face of a segment where its back is, or so.

    Beyond the ends both look the same; between them only what jumps comes to the other
    side. A point that is no deeper than it has been in segments of this body, twice,
    overlaps: it has left past an end, and comes back or to the next.
    """
    if m.contact_face[k] < 0:
        return False
    mode, back = w.mode[k], 0.0
    if m.contact_radius[k] == 0.0:
        sunk = w.sunk[m.contact_face[k]]
        back = max(DEEPER * sunk, AT_ALL * m.contact_deepest[k])
    p = at(m.par, m.contact_shape_par[k])
    a, b = w.motion[m.contact_a[k]], w.motion[m.contact_b[k]]
    is_between, height = over_face(p, a, b)
    if is_between and mode.side != OPEN:
        return False
    return height > back if mode.is_behind else height < -back


@kernel
def starts_behind(m, w, k):
    """Return whether a segment is seen from behind at the start.

    A point that just touches, or overlaps a little, is where the middle of its body is.
    """
    marker = m.contact_b[k]
    p = at(m.par, m.contact_shape_par[k])
    a, b = w.motion[m.contact_a[k]], w.motion[marker]
    _, height = over_face(p, a, b)
    if m.contact_radius[k] > 0.0:
        return height < 0.0
    is_near = abs(height) <= IN_FRONT * m.contact_deepest[k]
    if not is_near or not bodies.is_moving(m, marker):
        return not is_near and height < 0.0
    middle = stack_floats(2)
    for i in range(2):
        middle[i] = b[i] - w.arm[marker][i]
    _, above = over_face(p, a, middle)
    return above < 0.0 and abs(above) > abs(height)


@kernel
def see_faces(m, w):
    """See segments from the side that bodies start on; return whether from behind."""
    is_any = False
    for k in range(m.n_touch if m.has_backs else 0):
        if m.contact_face[k] >= 0 and starts_behind(m, w, k):
            w.mode[k].is_behind = 1
            is_any = True
    return is_any


@kernel
def turn_faces(m, w):
    """See segments from the side that bodies are on; return whether any has turned."""
    has_turned = False
    for k in range(m.n_touch if m.has_backs else 0):
        if is_seen_wrong(m, w, k):
            w.mode[k].is_behind = 1 - w.mode[k].is_behind
            has_turned = True
    return has_turned


@kernel
def note_sunk(m, w, side):
    """Keep the greatest overlaps with segments of contacts on this side of theirs."""
    for k in range(m.n_touch if m.has_backs else 0):
        first, c = m.contact_face[k], w.contact[k]
        if first >= 0 and w.mode[k].side == side and c.gap < 0.0:
            w.sunk[first] = max(w.sunk[first], -c.gap)
