"""Two outlines that are apart: distance, normal and slip at their nearest places."""

import math

from nonsmooth.kernels.abi import at, kernel
from nonsmooth.kernels.mechanics.outlines import FLAT_FACE, lay_out, n_numbers
from nonsmooth.kernels.mechanics.pressure import (
    EVEN_POINTS,
    HEAD,
    POINTS,
    TIE,
    rate_at,
)


@kernel
def closest(n_own, own, n_other, other, is_b, o):
    """Let a vertex of one outline and a place on the other be the closest, if nearer.

    Places and normal are written for b's outline; `is_b` tells that the vertex is its.
    """
    sign = 1.0 if is_b else -1.0
    for i in range(n_own):
        x, y = own[2 * i], own[2 * i + 1]
        for j in range(n_other):
            start, end = at(other, 2 * j), at(other, 2 * ((j + 1) % n_other))
            ex, ey = end[0] - start[0], end[1] - start[1]
            s = ((x - start[0]) * ex + (y - start[1]) * ey) / (ex * ex + ey * ey)
            s = min(1.0, max(0.0, s))
            px, py = start[0] + s * ex, start[1] + s * ey
            distance = math.hypot(x - px, y - py)
            if distance < o.gap:
                o.gap = distance
                o.n_x = sign * (x - px) / distance
                o.n_y = sign * (y - py) / distance
                o.P_x = x if is_b else px
                o.P_y = y if is_b else py
                o.near_x = px if is_b else x
                o.near_y = py if is_b else y


@kernel
def part(p, a, b, scratch, o):
    """Write distance, normal and slip of two outlines that are apart.

    Between vertices the gap that is watched is less than the distance. Its rate is that
    of both nearest places, P on b and the other on a; slip is seen at P. Within
    round-off the nearest face tells the normal, as while they press.
    """
    A = at(p, HEAD + 2 * (int(p[POINTS]) + EVEN_POINTS))
    B = at(A, n_numbers(A))
    n_a, n_b = int(A[1]), int(B[1])
    if n_a == 0 or o.gap <= p[TIE]:
        return
    o.is_known = 0
    faces = at(scratch, 0)
    vertices_a = at(faces, FLAT_FACE * (n_a + n_b))
    vertices_b = at(vertices_a, 2 * n_a)
    lay_out(A, a[2], 0.0, 0.0, faces, vertices_a)
    lay_out(B, b[2], o.D_x, o.D_y, faces, vertices_b)
    o.gap = math.inf
    closest(n_b, vertices_b, n_a, vertices_a, True, o)
    closest(n_a, vertices_a, n_b, vertices_b, False, o)
    o.v_t = rate_at(o, o.P_x, o.P_y, o.n_y, -o.n_x)
    # Seen from a at its own place.
    o.gap_rate = rate_at(o, o.P_x, o.P_y, o.n_x, o.n_y)
    o.gap_rate -= o.omega_a * (o.n_y * (o.near_x - o.P_x) - o.n_x * (o.near_y - o.P_y))
