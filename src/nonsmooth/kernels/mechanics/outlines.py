"""Two outlines that overlap: each floats in the depth field of the other.

    phi_P(x) = min over faces f of P of c_f - n_f·x         depth in outline P
    E  = weight [ int int_{P and Q} p(phi_P) dA + the same with phi_Q ]
    F_b = -weight int_{db in a} p(phi_a) n_b ds + weight int_{da in b} p(phi_b) n_a ds

with weight 1/2, or 1 where a is a line, which has one face and no edge. The pressure is
p = force / length, with the normal law's force at the depth and its rate there where it
does not pull; at rate zero it is the elastic part, which gives normal and point:

    n = F/|F|    P = X/S    S = sum int p ds    X = sum int p x ds
    phi' = -n_f·(velocity of the edge's body past the face's)
    F' = sum -+weight int (p' phi' n + p omega_V x n) ds      V: the body of the edge
    S' = sum weight int p' phi' ds    X' = sum weight int (p' phi' x + p v_V) ds
    P' = (X' - P S')/S                n' = n x F'/|F|

Places are global, from the origin of a's body. Along an edge phi is concave and made of
straight pieces; each is parametrised from its deeper end.

The parameters of a pair (`pack.outlines` writes them): head, nodes, a, b.

    head     points; are they on roots; weight / length; step; tie; least depth; those
             of `powers`; are there other pieces
    nodes    place and weight of each point on (0, 1), then of those where depth is even
    outline  faces, vertices; nx, ny, c, is_open of each face; x, y of each vertex

A face that another piece of the same body covers bounds the outline without being a
face of its depth, and is not pressed; is_open is 0 then. An edge that ends there is
pressed up to its end, which moves along it: F', S' and X' have p n, p and p x there,
times the rate of its length. Edge i begins at vertex i and lies on face i.
"""

import math

from nonsmooth.kernels.abi import INTEGER, NUMBER, Block, at, call_normal, kernel
from nonsmooth.kernels.mechanics.pressure import (
    BARELY,
    EVEN_POINTS,
    HAS_MATES,
    HEAD,
    PER_LENGTH,
    POINTS,
    TIE,
    add_way_rate,
    piece,
    rate_at,
)

# Numbers of a face, and of a face and a vertex as laid out globally.
FACE, FLAT_FACE = 4, 3


class Press(Block):
    """Two outlines at one instant; places and moments from the origin of a's body."""

    is_known = INTEGER  # all below belongs to the motion that is noted
    has_rates = INTEGER
    theta_a = NUMBER  # rad
    theta_b = NUMBER
    # motion of b past a: velocity at the origin of a, and rotation
    D_x = NUMBER  # m, origin of b's body
    D_y = NUMBER
    w_x = NUMBER  # m/s
    w_y = NUMBER
    spin = NUMBER  # rad/s
    u_x = NUMBER  # m/s, of b's origin past a's
    u_y = NUMBER
    omega_a = NUMBER  # rad/s
    omega_b = NUMBER
    approach = NUMBER  # m/s
    # nearest face and vertex
    gap = NUMBER  # m
    gap_rate = NUMBER  # m/s
    face_x = NUMBER  # normal of the face, from a to b
    face_y = NUMBER
    near_x = NUMBER  # m, the vertex
    near_y = NUMBER
    is_on_b = NUMBER  # 1 if the face is b's
    # sums over all pieces
    F_x = NUMBER  # N, elastic force on b
    F_y = NUMBER
    A_x = NUMBER  # N, the same on edges of b, along the normals of a's faces
    A_y = NUMBER
    B_x = NUMBER  # N, on edges of a, against the normals of b's faces
    B_y = NUMBER
    T_x = NUMBER  # N, elastic and damping force on b
    T_y = NUMBER
    M = NUMBER  # N m, their moment about the origin of a
    S = NUMBER  # N
    X_x = NUMBER  # N m
    X_y = NUMBER
    area = NUMBER  # m^2, sum of int phi ds
    firmness = NUMBER  # N/m, the largest force of the law over the depth
    rate_F_x = NUMBER
    rate_F_y = NUMBER
    rate_A_x = NUMBER
    rate_A_y = NUMBER
    rate_B_x = NUMBER
    rate_B_y = NUMBER
    rate_S = NUMBER
    rate_X_x = NUMBER
    rate_X_y = NUMBER
    low = NUMBER  # m, ends of the pressed zone along the nearest face
    high = NUMBER
    low_x = NUMBER
    low_y = NUMBER
    high_x = NUMBER
    high_y = NUMBER
    # normal and point of this pair alone, their rates
    own_x = NUMBER
    own_y = NUMBER
    is_pressed = INTEGER  # by more than a depth that is round-off
    own_turn = NUMBER  # rad/s
    own_P_x = NUMBER  # m
    own_P_y = NUMBER
    own_u_x = NUMBER  # m/s, of P past a's origin
    own_u_y = NUMBER
    # what follows, for pieces of one face in the frame of all
    n_x = NUMBER  # normal, from a to b
    n_y = NUMBER
    P_x = NUMBER  # m, where friction acts
    P_y = NUMBER
    N = NUMBER  # N, along the normal
    couple = NUMBER  # N m, of the pressure on b about P
    width = NUMBER  # m
    v_n = NUMBER  # m/s, of b past a at P along the normal
    v_t = NUMBER  # m/s, along the tangent
    turn = NUMBER  # rad/s, of the normal
    bias = NUMBER  # m/s^2, of v_t'


# ---- places --------------------------------------------------------------------


@kernel
def n_numbers(outline):
    """Return how many parameters an outline has."""
    return 2 + FACE * int(outline[0]) + 2 * int(outline[1])


@kernel
def lay_out(outline, theta, x, y, faces, vertices):
    """Write faces (n_x, n_y, c) and vertices of an outline that is turned and moved."""
    c, s = math.cos(theta), math.sin(theta)
    n_face, n_vertex = int(outline[0]), int(outline[1])
    for i in range(n_face):
        own = at(outline, 2 + FACE * i)
        face = at(faces, FLAT_FACE * i)
        face[0] = c * own[0] - s * own[1]
        face[1] = s * own[0] + c * own[1]
        face[2] = own[2]
    for i in range(n_vertex):
        own = at(outline, 2 + FACE * n_face + 2 * i)
        vertices[2 * i] = x + c * own[0] - s * own[1]
        vertices[2 * i + 1] = y + s * own[0] + c * own[1]


@kernel
def depths(n_face, faces, x, y, n_vertex, vertices, out):
    """Write the depth of each vertex below each face of an outline at (x, y)."""
    for i in range(n_vertex):
        dx, dy = vertices[2 * i] - x, vertices[2 * i + 1] - y
        for f in range(n_face):
            face = at(faces, FLAT_FACE * f)
            out[i * n_face + f] = face[2] - (face[0] * dx + face[1] * dy)


@kernel
def nearest(n_face, faces, n_vertex, vertices, depth, tie, is_on_b, o):
    """Let a face and a vertex be the nearest where they are farther apart than any yet.

    The gap is the largest over all faces of the least over vertices. Of vertices, or
    faces, that are equally far the one counts that will be nearer, or farther. Covered
    faces count: what is beyond them is not inside.
    """
    sign = -1.0 if is_on_b else 1.0
    for f in range(n_face):
        nx, ny = sign * faces[FLAT_FACE * f], sign * faces[FLAT_FACE * f + 1]
        least, rate, vertex = math.inf, 0.0, 0
        for i in range(n_vertex):
            gap = -depth[i * n_face + f]
            if gap > least + tie:
                continue
            new = rate_at(o, vertices[2 * i], vertices[2 * i + 1], nx, ny)
            if gap < least - tie or new < rate:
                least, rate, vertex = min(gap, least), new, i
        if least < o.gap - tie or (least <= o.gap + tie and rate <= o.gap_rate):
            continue
        o.gap = max(least, o.gap)
        o.gap_rate = rate
        o.face_x = nx
        o.face_y = ny
        o.near_x = vertices[2 * vertex]
        o.near_y = vertices[2 * vertex + 1]
        o.is_on_b = 1.0 if is_on_b else 0.0


# ---- pressure ------------------------------------------------------------------


@kernel
def bounds(n_face, start, end):
    """Return from where to where an edge is inside, as parts of it, from `start` on.

    No face has both of its ends outside.
    """
    low, high = 0.0, 1.0
    for f in range(n_face):
        h0, h1 = start[f], end[f]
        if h0 < 0.0:
            low = max(low, -h0 / (h1 - h0))
        elif h1 < 0.0:
            high = min(high, -h0 / (h1 - h0))
    return low, high


@kernel
def lowest(n_face, outline, start, end, s):
    """Return the face of least depth at part s of an edge, or just after it."""
    best, depth, slope = -1, math.inf, 0.0
    for f in range(n_face):
        if outline[2 + FACE * f + 3] == 0.0:
            continue
        h, rise = start[f] + s * (end[f] - start[f]), end[f] - start[f]
        if h < depth or (h == depth and rise < slope):
            best, depth, slope = f, h, rise
    return best


@kernel
def next_face(n_face, outline, start, end, f, s, high):
    """Return where the depth of another face falls below that of f, and which."""
    best, place = -1, high
    rise = end[f] - start[f]
    for g in range(n_face):
        other = end[g] - start[g]
        if other < rise and outline[2 + FACE * g + 3] != 0.0:
            crossing = max(s, (start[g] - start[f]) / (rise - other))
            if crossing < place:
                best, place = g, crossing
    return best, place


@kernel
def edge(law, par, p, o, has_rates, is_b, outline, faces, normal, v0, v1, h0, h1):
    """Add the pressure on the edge from vertex v0 to v1, with depths h0 and h1."""
    n_face = int(outline[0])
    for f in range(n_face):
        if h0[f] <= 0.0 and h1[f] <= 0.0:
            return
    if least(n_face, outline, h1) > least(n_face, outline, h0):
        v0, v1, h0, h1 = v1, v0, h1, h0
    low, high = bounds(n_face, h0, h1)
    if not low < high:
        return
    x, y = v0[0], v0[1]
    ex, ey = v1[0] - x, v1[1] - y
    if has_rates:
        covered_ends(
            law, par, p, o, is_b, outline, faces, normal, v0, v1, h0, h1, low, high
        )
    s = low
    f = lowest(n_face, outline, h0, h1, s)
    phi = max(0.0, h0[f] + s * (h1[f] - h0[f]))
    while f >= 0:
        g, t = next_face(n_face, outline, h0, h1, f, s, high)
        end = max(0.0, h0[f] + t * (h1[f] - h0[f]))
        face = at(faces, FLAT_FACE * f)
        part = t - s
        if end > phi:
            piece(
                law, par, p, o, has_rates, is_b, face, normal,
                x + t * ex, y + t * ey, -part * ex, -part * ey, end, phi,
            )  # fmt: skip
        else:
            piece(
                law, par, p, o, has_rates, is_b, face, normal,
                x + s * ex, y + s * ey, part * ex, part * ey, phi, end,
            )  # fmt: skip
        if has_rates and g >= 0 and p[HAS_MATES] != 0.0:
            pass_face(
                law, par, p, o, is_b, face, at(faces, FLAT_FACE * g),
                x + t * ex, y + t * ey, math.hypot(ex, ey), end,
                (h1[f] - h0[f]) - (h1[g] - h0[g]),
            )  # fmt: skip
        f, s, phi = g, t, end


@kernel
def pass_face(law, par, p, o, is_b, face, other, x, y, length, phi, rise):
    """Add what a place brings about, where depth is measured from another face on.

    It goes along the edge, and on either side of it pressure has another normal.
    """
    side = -1.0 if is_b else 1.0
    dx, dy = side * (face[0] - other[0]), side * (face[1] - other[1])
    pace = -rate_at(o, x, y, dx, dy) / rise
    more = p[PER_LENGTH] * call_normal(law, par, phi, 0.0, o.approach)
    more *= -length * pace
    add_way_rate(o, is_b, more * dx, more * dy)


@kernel
def covered_ends(
    law, par, p, o, is_b, outline, faces, normal, v0, v1, h0, h1, low, high
):
    """Add the rates of an edge, inside from low to high, that ends at a covered face.

    Its length grows with the depth of its end below that face.
    """
    n_face = int(outline[0])
    ex, ey = v1[0] - v0[0], v1[1] - v0[1]
    side = -1.0 if is_b else 1.0
    for f in range(n_face):
        if outline[2 + FACE * f + 3] != 0.0 or not h0[f] * h1[f] < 0.0:
            continue
        rise = h1[f] - h0[f]
        s = -h0[f] / rise
        g = lowest(n_face, outline, h0, h1, s)
        phi = h0[g] + s * (h1[g] - h0[g])
        if s != (low if rise > 0.0 else high) or not phi > 0.0:
            continue
        x, y = v0[0] + s * ex, v0[1] + s * ey
        face = at(faces, FLAT_FACE * f)
        rate = rate_at(o, x, y, side * face[0], side * face[1])
        more = p[PER_LENGTH] * call_normal(law, par, phi, 0.0, o.approach)
        more *= rate * math.hypot(ex, ey) / abs(rise)
        o.rate_F_x += more * side * normal[0]
        o.rate_F_y += more * side * normal[1]
        lowest_face = at(faces, FLAT_FACE * g)
        more *= -side
        add_way_rate(o, is_b, more * lowest_face[0], more * lowest_face[1])
        o.rate_S += more
        o.rate_X_x += more * x
        o.rate_X_y += more * y


@kernel
def least(n_face, outline, depth):
    """Return the least of the depths of a place below open faces."""
    found = math.inf
    for f in range(n_face):
        if outline[2 + FACE * f + 3] != 0.0:
            found = min(found, depth[f])
    return found


@kernel
def edges(
    law, par, p, o, has_rates, is_b, own, own_faces, vertices, outline, faces, depth
):
    """Add the pressure on all edges of one outline inside the other."""
    n_face, n = int(outline[0]), int(own[1])
    for i in range(n):
        j = (i + 1) % n
        if own[2 + FACE * i + 3] != 0.0:
            edge(
                law, par, p, o, has_rates, is_b, outline, faces,
                at(own_faces, FLAT_FACE * i), at(vertices, 2 * i), at(vertices, 2 * j),
                at(depth, i * n_face), at(depth, j * n_face),
            )  # fmt: skip


# ---- the whole -----------------------------------------------------------------


@kernel
def is_known(a, b, approach, has_rates, o):
    """Return whether the pair was last evaluated for this very motion.

    It is where differences for a Jacobian move other bodies.
    """
    if not o.is_known or (o.has_rates != 0) != has_rates or o.approach != approach:
        return False
    if o.theta_a != a[2] or o.theta_b != b[2]:
        return False
    if o.D_x != b[0] - a[0] or o.D_y != b[1] - a[1]:
        return False
    if o.u_x != b[3] - a[3] or o.u_y != b[4] - a[4]:
        return False
    return o.omega_a == a[5] and o.omega_b == b[5]


@kernel
def take_motion(a, b, approach, has_rates, o):
    """Note the motion of b past a."""
    o.is_known = 1
    o.has_rates = 1 if has_rates else 0
    o.theta_a = a[2]
    o.theta_b = b[2]
    o.D_x = b[0] - a[0]
    o.D_y = b[1] - a[1]
    o.omega_a = a[5]
    o.omega_b = b[5]
    o.spin = b[5] - a[5]
    o.u_x = b[3] - a[3]
    o.u_y = b[4] - a[4]
    o.w_x = o.u_x + b[5] * o.D_y
    o.w_y = o.u_y - b[5] * o.D_x
    o.approach = approach


@kernel
def clear(o):
    """Let nothing be known of gap and pressure."""
    o.gap = -math.inf
    o.gap_rate = 0.0
    o.F_x = 0.0
    o.F_y = 0.0
    o.T_x = 0.0
    o.T_y = 0.0
    o.M = 0.0
    o.S = 0.0
    o.X_x = 0.0
    o.X_y = 0.0
    o.area = 0.0
    o.firmness = -math.inf
    o.rate_F_x = 0.0
    o.rate_F_y = 0.0
    o.A_x = 0.0
    o.A_y = 0.0
    o.B_x = 0.0
    o.B_y = 0.0
    o.rate_A_x = 0.0
    o.rate_A_y = 0.0
    o.rate_B_x = 0.0
    o.rate_B_y = 0.0
    o.rate_S = 0.0
    o.rate_X_x = 0.0
    o.rate_X_y = 0.0
    o.low = math.inf
    o.high = -math.inf
    o.turn = 0.0
    o.bias = 0.0
    o.own_turn = 0.0
    o.own_u_x = 0.0
    o.own_u_y = 0.0


@kernel
def finish(o, has_rates, is_line, barely):
    """Derive the pair's own normal and point from the sums, and what is seen there.

    Where the depth is round-off its rate over it, and with that the motion of P and n,
    would be lost: as before there is a force, the nearest vertex touches, on its face.
    """
    size = math.hypot(o.F_x, o.F_y)
    is_pressed = size > 0.0 and o.S > 0.0 and -o.gap > barely
    o.is_pressed = 1 if is_pressed else 0
    is_turned = is_pressed and not is_line
    o.own_x = o.F_x / size if is_turned else o.face_x
    o.own_y = o.F_y / size if is_turned else o.face_y
    o.own_P_x = o.X_x / o.S if is_pressed else o.near_x
    o.own_P_y = o.X_y / o.S if is_pressed else o.near_y
    if has_rates:
        o.own_turn = o.omega_b if o.is_on_b != 0.0 else o.omega_a
        if is_turned:
            o.own_turn = (o.own_x * o.rate_F_y - o.own_y * o.rate_F_x) / size
        point_rate(o, is_pressed)
    see(
        o, has_rates, o.own_x, o.own_y, o.own_turn,
        o.own_P_x, o.own_P_y, o.own_u_x, o.own_u_y,
    )  # fmt: skip
    o.width = 0.0
    if o.high > o.low:
        tx, ty = o.n_y, -o.n_x
        o.width = abs(tx * (o.high_x - o.low_x) + ty * (o.high_y - o.low_y))


@kernel
def point_rate(o, is_pressed):
    """Write the velocity of the pair's own point past a's origin."""
    if is_pressed:
        o.own_u_x = (o.rate_X_x - o.own_P_x * o.rate_S) / o.S
        o.own_u_y = (o.rate_X_y - o.own_P_y * o.rate_S) / o.S
    elif o.is_on_b != 0.0:
        o.own_u_x, o.own_u_y = -o.omega_a * o.own_P_y, o.omega_a * o.own_P_x
    else:
        o.own_u_x = o.u_x - o.omega_b * (o.own_P_y - o.D_y)
        o.own_u_y = o.u_y + o.omega_b * (o.own_P_x - o.D_x)


@kernel
def see(o, has_rates, n_x, n_y, turn, P_x, P_y, u_x, u_y):
    """Write forces and slip as seen with a normal at a point, and their rates.

    v_t' has beside the accelerations of the bodies
    tau·(spin x u - omega_b x (v_b - v_a)) + n' n·w,  u: velocity of P past a's origin
    """
    o.n_x = n_x
    o.n_y = n_y
    o.P_x = P_x
    o.P_y = P_y
    o.N = n_x * o.T_x + n_y * o.T_y
    o.couple = o.M - (P_x * o.T_y - P_y * o.T_x)
    o.v_n = rate_at(o, P_x, P_y, n_x, n_y)
    o.v_t = rate_at(o, P_x, P_y, n_y, -n_x)
    if has_rates:
        o.turn = turn
        o.bias = o.omega_b * (n_x * o.u_x + n_y * o.u_y) + turn * o.v_n
        o.bias -= o.spin * (n_x * u_x + n_y * u_y)


@kernel
def outlines(law, par, p, a, b, approach, has_rates, scratch, o):
    """Evaluate a pair of outlines on bodies with the motions a and b.

    `scratch` holds 3 numbers for each face, 2 for each vertex, and one for each face of
    one and vertex of the other.
    """
    if is_known(a, b, approach, has_rates, o):
        return
    A = at(p, HEAD + 2 * (int(p[POINTS]) + EVEN_POINTS))
    B = at(A, n_numbers(A))
    n_face_a, n_a = int(A[0]), int(A[1])
    n_face_b, n_b = int(B[0]), int(B[1])
    faces_a = at(scratch, 0)
    faces_b = at(faces_a, FLAT_FACE * n_face_a)
    vertices_a = at(faces_b, FLAT_FACE * n_face_b)
    vertices_b = at(vertices_a, 2 * n_a)
    in_a = at(vertices_b, 2 * n_b)
    in_b = at(in_a, n_b * n_face_a)
    take_motion(a, b, approach, has_rates, o)
    clear(o)
    lay_out(A, a[2], 0.0, 0.0, faces_a, vertices_a)
    lay_out(B, b[2], o.D_x, o.D_y, faces_b, vertices_b)
    depths(n_face_a, faces_a, 0.0, 0.0, n_b, vertices_b, in_a)
    depths(n_face_b, faces_b, o.D_x, o.D_y, n_a, vertices_a, in_b)
    nearest(n_face_a, faces_a, n_b, vertices_b, in_a, p[TIE], False, o)
    if n_a > 0:
        nearest(n_face_b, faces_b, n_a, vertices_a, in_b, p[TIE], True, o)
    if o.gap < 0.0:
        edges(law, par, p, o, has_rates, True, B, faces_b, vertices_b, A, faces_a, in_a)
        edges(
            law, par, p, o, has_rates, False, A, faces_a, vertices_a, B, faces_b, in_b
        )
    finish(o, has_rates, n_a == 0, p[BARELY])


@kernel
def gap_acceleration(o, a, b):
    """Return gap'' of the nearest face and vertex, accelerations being known.

    With r from the origin of the face's body F to the vertex and m = n turned by +90°:
    alpha_F m·r - omega_F^2 n·r + 2 omega_F m·r' + n·r''
    """
    nx, ny = o.face_x, o.face_y
    # The normal points from a to b: with the face on b all is reversed.
    sign = -1.0 if o.is_on_b != 0.0 else 1.0
    omega, other = (o.omega_b, o.omega_a) if sign < 0.0 else (o.omega_a, o.omega_b)
    alpha, turn = (b[8], a[8]) if sign < 0.0 else (a[8], b[8])
    rx, ry = o.near_x, o.near_y  # from a's origin
    qx, qy = o.near_x - o.D_x, o.near_y - o.D_y  # from b's
    if sign < 0.0:
        rx, ry, qx, qy = qx, qy, rx, ry
    vx = sign * o.u_x - other * qy
    vy = sign * o.u_y + other * qx
    ax = sign * (b[6] - a[6]) - turn * qy - other * other * qx
    ay = sign * (b[7] - a[7]) + turn * qx - other * other * qy
    total = alpha * (-ny * rx + nx * ry)
    total -= omega * omega * (nx * rx + ny * ry)
    total += 2.0 * omega * (-ny * vx + nx * vy) + nx * ax + ny * ay
    return sign * total
