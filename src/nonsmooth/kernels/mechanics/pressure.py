"""The pressure on a piece of an edge, along which the depth is straight.

The elastic part, that of rate zero, gives normal and point of the contact, with their
rates. What acts is the force of the law at depth and rate, where it does not pull: the
ends of what presses are found, so that both parts are integrated as well.

See `outlines` for the whole, and for the parameters of a pair.
"""

import math

from nonsmooth.kernels.abi import call_normal, kernel

# Places in the head of a pair's parameters, and numbers in it.
POINTS, ON_ROOTS, PER_LENGTH, STEP, TIE, BARELY, HEAD = 0, 1, 2, 3, 4, 5, 6
# Depth, as a part of the greatest, that stands for none: some laws vanish with it. The
# second for the firmness, which is large there with others.
NO_DEPTH, SHALLOW = 1e-9, 1e-3
# Part of a piece to which the end of what presses is found; pressure vanishes there, so
# that the error of the force is the square.
END_WIDTH, MAX_STEP = 1e-10, 60


@kernel
def rate_at(o, x, y, nx, ny):
    """Return n·w, with w the velocity of b past a at a place."""
    return nx * (o.w_x - o.spin * y) + ny * (o.w_y + o.spin * x)


@kernel
def reach(o, x, y):
    """Let the pressed zone reach to a place."""
    along = o.face_y * x - o.face_x * y
    if along < o.low:
        o.low = along
        o.low_x = x
        o.low_y = y
    if along > o.high:
        o.high = along
        o.high_x = x
        o.high_y = y


@kernel
def point(p, i, phi, end):
    """Return place, weight and depth of point i of a piece.

    The depth falls from phi to `end`. Points of powers lie where the root of the depth
    is linear, so that what is a power of 1.5 is a polynomial: with r = sqrt(end / phi)
    and u = 1 - (1 - r) xi the depth is phi u^2, at xi (2 - (1 - r) xi) / (1 + r).
    """
    xi, weight = p[HEAD + 2 * i], p[HEAD + 2 * i + 1]
    if p[ON_ROOTS] == 0.0:
        return xi, weight, phi + (end - phi) * xi
    root = math.sqrt(end / phi)
    u = 1.0 - (1.0 - root) * xi
    xi *= (1.0 + u) / (1.0 + root)
    return xi, weight * 2.0 * u / (1.0 + root), phi * u * u


# ---- the elastic part ----------------------------------------------------------


@kernel
def add_elastic(law, par, o, phi, ds, x, y, nx, ny):
    """Add the elastic pressure at one point: its force along n times ds, on b."""
    elastic = call_normal(law, par, phi, 0.0, o.approach)
    o.F_x += elastic * nx * ds
    o.F_y += elastic * ny * ds
    o.S += elastic * ds
    o.X_x += elastic * x * ds
    o.X_y += elastic * y * ds
    o.area += phi * ds
    return elastic


@kernel
def add_rates(law, par, step, o, is_b, elastic, phi, rate, ds, x, y, nx, ny):
    """Add the rates at one point of an edge of b, or of a."""
    up = call_normal(law, par, phi * (1.0 + step), 0.0, o.approach)
    down = call_normal(law, par, phi * (1.0 - step), 0.0, o.approach)
    change = (up - down) / (2.0 * step * phi) * rate
    omega = o.omega_b if is_b else o.omega_a
    vx, vy = -omega * y, omega * x
    if is_b:
        vx = o.u_x - omega * (y - o.D_y)
        vy = o.u_y + omega * (x - o.D_x)
    o.rate_F_x += (change * nx - elastic * omega * ny) * ds
    o.rate_F_y += (change * ny + elastic * omega * nx) * ds
    o.rate_S += change * ds
    o.rate_X_x += (change * x + elastic * vx) * ds
    o.rate_X_y += (change * y + elastic * vy) * ds


# ---- what acts -----------------------------------------------------------------


@kernel
def force_at(law, par, o, phi, end, rate, slope, s):
    """Return the law's force at part s of a piece, not quite without depth."""
    depth = max(phi + (end - phi) * s, NO_DEPTH * phi)
    return call_normal(law, par, depth, rate + s * slope, o.approach)


@kernel
def note_firmness(law, par, o, phi, depth, rate):
    """Let the firmness be no less than at a depth below the greatest, phi."""
    depth = max(depth, SHALLOW * phi)
    force = call_normal(law, par, depth, rate, o.approach)
    o.firmness = max(o.firmness, force / depth)


@kernel
def end_of_pressure(law, par, o, phi, end, rate, slope, s0, f0, s1, f1):
    """Return where the force of the law changes its sign between s0 and s1.

    By false position, with the weight of an end that stays halved (Illinois).
    """
    last = 0
    for _ in range(MAX_STEP):
        if not abs(s1 - s0) > END_WIDTH:
            break
        s = s0 + (s1 - s0) * f0 / (f0 - f1)
        f = force_at(law, par, o, phi, end, rate, slope, s)
        if f == 0.0:
            return s
        if (f > 0.0) == (f0 > 0.0):
            step = abs(s - s0)
            s0, f0 = s, f
            if last < 0:
                f1 *= 0.5
            last = -1
        else:
            step = abs(s - s1)
            s1, f1 = s, f
            if last > 0:
                f0 *= 0.5
            last = 1
        if step <= END_WIDTH * END_WIDTH:
            break
    return s0 + (s1 - s0) * f0 / (f0 - f1)


@kernel
def add_force(
    law, par, p, o, nx, ny, x, y, ex, ey, phi, end, rate, slope, ds, low, high
):
    """Add the force on a piece between two of its parts."""
    part = high - low
    deep, shallow = phi + (end - phi) * low, phi + (end - phi) * high
    if not (part > 0.0 and deep > 0.0):
        return
    shallow = max(0.0, shallow)
    for i in range(int(p[POINTS])):
        xi, weight, depth = point(p, i, deep, shallow)
        s = low + part * xi
        force = call_normal(law, par, depth, rate + s * slope, o.approach)
        force *= ds * part * weight
        fx, fy = force * nx, force * ny
        o.T_x += fx
        o.T_y += fy
        o.M += (x + s * ex) * fy - (y + s * ey) * fx


@kernel
def add_pressed(law, par, p, o, nx, ny, x, y, ex, ey, phi, end, rate, slope, ds):
    """Add the force on a piece where it presses, and note its firmness."""
    if rate >= 0.0 and rate + slope >= 0.0:
        # Depth that grows pulls nowhere.
        note_firmness(law, par, o, phi, phi, rate)
        add_force(
            law, par, p, o, nx, ny, x, y, ex, ey, phi, end, rate, slope, ds, 0.0, 1.0
        )
        return
    note_firmness(law, par, o, phi, phi, rate)
    note_firmness(law, par, o, phi, end, rate + slope)
    start, last = 0.0, 0.0
    before = force_at(law, par, o, phi, end, rate, slope, 0.0)
    n = int(p[POINTS])
    for i in range(n + 1):
        s, depth = 1.0, end
        if i < n:
            s, _, depth = point(p, i, phi, end)
            note_firmness(law, par, o, phi, depth, rate + s * slope)
        force = force_at(law, par, o, phi, end, rate, slope, s)
        if (force > 0.0) != (before > 0.0):
            r = end_of_pressure(
                law, par, o, phi, end, rate, slope, last, before, s, force
            )
            if force > 0.0:
                start = r
            else:
                add_force(
                    law, par, p, o, nx, ny, x, y, ex, ey, phi, end, rate, slope, ds,
                    start, r,
                )  # fmt: skip
        last, before = s, force
    if before > 0.0:
        add_force(
            law, par, p, o, nx, ny, x, y, ex, ey, phi, end, rate, slope, ds, start, 1.0
        )


# ---- both ----------------------------------------------------------------------


@kernel
def piece(law, par, p, o, has_rates, is_b, face, normal, x, y, ex, ey, phi, end):
    """Add the pressure on a piece of an edge, from its deeper end (x, y) along e."""
    length = math.hypot(ex, ey)
    if not phi > 0.0 or length == 0.0:
        return
    reach(o, x, y)
    reach(o, x + ex, y + ey)
    side = -1.0 if is_b else 1.0
    nx, ny = side * normal[0], side * normal[1]
    # The depth in a falls with the velocity of b past a along a's normal, that in b
    # grows with it along b's.
    fx, fy = side * face[0], side * face[1]
    rate = rate_at(o, x, y, fx, fy)
    slope = rate_at(o, x + ex, y + ey, fx, fy) - rate
    scale = p[PER_LENGTH] * length
    for i in range(int(p[POINTS])):
        xi, weight, depth = point(p, i, phi, end)
        px, py = x + xi * ex, y + xi * ey
        ds = scale * weight
        elastic = add_elastic(law, par, o, depth, ds, px, py, nx, ny)
        if has_rates:
            change = rate + xi * slope
            step = p[STEP]
            add_rates(
                law, par, step, o, is_b, elastic, depth, change, ds, px, py, nx, ny
            )
    add_pressed(law, par, p, o, nx, ny, x, y, ex, ey, phi, end, rate, slope, scale)
