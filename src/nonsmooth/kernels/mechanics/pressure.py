"""The pressure on a piece of an edge, along which the depth is straight.

The elastic part, that of rate zero, gives normal and point of the contact, with their
rates. What acts is the force of the law at depth and rate, where it does not pull: the
ends of what presses are found, so that both parts are integrated as well.

Of laws that are powers of the depth `powers` knows the integrals.

See `outlines` for the whole, and for the parameters of a pair.
"""

import math

from nonsmooth.kernels.abi import call_normal, kernel
from nonsmooth.kernels.mechanics import powers

# Places in the head of a pair's parameters; those of `powers` follow; numbers in it.
POINTS, ON_ROOTS, PER_LENGTH, STEP, TIE, BARELY, HAS_MATES, HEAD = (
    0,
    1,
    2,
    3,
    4,
    5,
    13,
    14,
)
# Where the depth falls by less than this part of it, three points will do for any law:
# the error of a power's moment is 3 times its fifth power over 1e6, 3e-16.
EVEN, EVEN_POINTS = 0.01, 3
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
def rule(p, phi, end):
    """Return where the points of a piece stand in p, how many, and their root.

    Points of powers lie where the root of the depth is linear, so that what is a power
    of 1.5 is a polynomial. The root is that of end / phi, -1 where places are even.
    """
    n = int(p[POINTS])
    if n > EVEN_POINTS and phi - end <= EVEN * phi:
        return HEAD + 2 * n, EVEN_POINTS, -1.0
    return HEAD, n, math.sqrt(end / phi) if p[ON_ROOTS] != 0.0 else -1.0


@kernel
def point(p, first, root, i, phi, end):
    """Return place, weight and depth of point i of a piece.

    The depth falls from phi to `end`. With r = sqrt(end / phi) and u = 1 - (1 - r) xi
    the depth is phi u^2, at xi (2 - (1 - r) xi) / (1 + r).
    """
    xi, weight = p[first + 2 * i], p[first + 2 * i + 1]
    if root < 0.0:
        return xi, weight, phi + (end - phi) * xi
    u = 1.0 - (1.0 - root) * xi
    xi *= (1.0 + u) / (1.0 + root)
    return xi, weight * 2.0 * u / (1.0 + root), phi * u * u


# ---- the elastic part ----------------------------------------------------------


@kernel
def by_parts(phi, end, begin, last, rate, slope, whole, moment):
    """Return int p' phi' ds and int p' phi' s ds: p' dphi = dp, from p at both ends."""
    last *= rate + slope
    change = (last - rate * begin - slope * whole) / (end - phi)
    return change, (last - rate * whole - 2.0 * slope * moment) / (end - phi)


@kernel
def changes(law, par, p, o, phi, end, rate, slope, whole, moment):
    """Return int p' phi' ds and int p' phi' s ds of rate zero over a piece.

    By parts, p' dphi = dp, with int p ds and int p s ds, `whole` and `moment`; by
    differences of the law where the depth hardly falls.
    """
    if phi - end > EVEN * phi:
        last = call_normal(law, par, max(end, NO_DEPTH * phi), 0.0, o.approach)
        begin = call_normal(law, par, phi, 0.0, o.approach)
        return by_parts(phi, end, begin, last, rate, slope, whole, moment)
    first, n, root = rule(p, phi, end)
    step = p[STEP]
    change, turn = 0.0, 0.0
    for i in range(n):
        s, weight, depth = point(p, first, root, i, phi, end)
        up = call_normal(law, par, depth * (1.0 + step), 0.0, o.approach)
        down = call_normal(law, par, depth * (1.0 - step), 0.0, o.approach)
        part = weight * (up - down) / (2.0 * step * depth) * (rate + s * slope)
        change += part
        turn += part * s
    return change, turn


@kernel
def add_way(o, is_b, x, y):
    """Add a force on an edge of b along the normal of a face of a, or the reverse."""
    if is_b:
        o.A_x += x
        o.A_y += y
    else:
        o.B_x += x
        o.B_y += y


@kernel
def add_way_rate(o, is_b, x, y):
    """Add its rate."""
    if is_b:
        o.rate_A_x += x
        o.rate_A_y += y
    else:
        o.rate_B_x += x
        o.rate_B_y += y


@kernel
def add_rates(o, is_b, nx, ny, fx, fy, x, y, ex, ey, whole, moment, change, turn):
    """Add the rates of a piece of an edge of b, or of a."""
    omega, other = (o.omega_b, o.omega_a) if is_b else (o.omega_a, o.omega_b)
    x_rate, y_rate = whole * other * fy - change * fx, whole * other * fx + change * fy
    add_way_rate(o, is_b, x_rate, -y_rate)
    vx, vy = -omega * y, omega * x
    if is_b:
        vx = o.u_x - omega * (y - o.D_y)
        vy = o.u_y + omega * (x - o.D_x)
    o.rate_F_x += change * nx - whole * omega * ny
    o.rate_F_y += change * ny + whole * omega * nx
    o.rate_S += change
    o.rate_X_x += change * x + turn * ex + whole * vx - moment * omega * ey
    o.rate_X_y += change * y + turn * ey + whole * vy + moment * omega * ex


# ---- what acts -----------------------------------------------------------------


@kernel
def force_at(law, par, o, phi, end, rate, slope, s):
    """Return the law's force at part s of a piece, not quite without depth."""
    depth = max(phi + (end - phi) * s, NO_DEPTH * phi)
    return call_normal(law, par, depth, rate + s * slope, o.approach)


@kernel
def note_firmness(o, force, depth):
    """Let the firmness be no less than that of a force at a depth."""
    o.firmness = max(o.firmness, force / depth)


@kernel
def sign_at(law, par, o, phi, end, rate, slope, s):
    """Return the same over the depth to the power of 1.5.

    Forces of most laws go with a power of it that is near: without, one next to the end
    of a piece would be nothing beside others.
    """
    depth = max(phi + (end - phi) * s, NO_DEPTH * phi)
    force = call_normal(law, par, depth, rate + s * slope, o.approach)
    return force / (depth * math.sqrt(depth))


@kernel
def end_of_pressure(law, par, o, phi, end, rate, slope, s0, s1):
    """Return where the force of the law changes its sign between s0 and s1.

    By false position, with the weight of an end that stays halved (Illinois).
    """
    last = 0
    f0 = sign_at(law, par, o, phi, end, rate, slope, s0)
    f1 = sign_at(law, par, o, phi, end, rate, slope, s1)
    for _ in range(MAX_STEP):
        if not abs(s1 - s0) > END_WIDTH:
            break
        s = s0 + (s1 - s0) * f0 / (f0 - f1)
        f = sign_at(law, par, o, phi, end, rate, slope, s)
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
def add_force(o, scale, nx, ny, x, y, ex, ey, whole, moment):
    """Add a force along n, spread over a piece from (x, y) along e."""
    whole *= scale
    moment *= scale
    o.T_x += whole * nx
    o.T_y += whole * ny
    o.M += whole * (x * ny - y * nx) + moment * (ex * ny - ey * nx)


@kernel
def forces(law, par, p, o, phi, end, rate, slope, low, high):
    """Return int force ds and int force s ds over a piece between two of its parts."""
    part = high - low
    deep, shallow = phi + (end - phi) * low, max(0.0, phi + (end - phi) * high)
    whole, moment = 0.0, 0.0
    if not (part > 0.0 and deep > 0.0):
        return whole, moment
    first, n, root = rule(p, deep, shallow)
    for i in range(n):
        s, weight, depth = point(p, first, root, i, deep, shallow)
        s = low + part * s
        force = call_normal(law, par, depth, rate + s * slope, o.approach)
        force *= part * weight
        whole += force
        moment += force * s
    return whole, moment


@kernel
def pressed_parts(law, par, p, o, phi, end, rate, slope):
    """Return int force ds and int force s ds over what presses of a piece.

    Both ends and all points tell where the law changes its sign.
    """
    first, n, root = rule(p, phi, end)
    start, last = 0.0, 0.0
    whole, moment = 0.0, 0.0
    before = force_at(law, par, o, phi, end, rate, slope, 0.0)
    for i in range(n + 1):
        s = 1.0
        if i < n:
            s, _, _ = point(p, first, root, i, phi, end)
        force = force_at(law, par, o, phi, end, rate, slope, s)
        if force != force or before != before:
            return math.nan, math.nan
        if (force > 0.0) != (before > 0.0):
            r = end_of_pressure(law, par, o, phi, end, rate, slope, last, s)
            if force > 0.0:
                start = r
            else:
                more = forces(law, par, p, o, phi, end, rate, slope, start, r)
                whole += more[0]
                moment += more[1]
        last, before = s, force
    if before > 0.0:
        more = forces(law, par, p, o, phi, end, rate, slope, start, 1.0)
        whole += more[0]
        moment += more[1]
    return whole, moment


@kernel
def looks(law, par, o, phi, end, rate, slope):
    """Look at the ends of a piece; return whether the law presses at both, at one.

    Depth that grows everywhere pulls nowhere.
    """
    begin = call_normal(law, par, phi, rate, o.approach)
    note_firmness(o, begin, phi)
    if rate >= 0.0 and rate + slope >= 0.0:
        return True, True
    last = force_at(law, par, o, phi, end, rate, slope, 1.0)
    depth = SHALLOW * phi
    if end >= depth:
        note_firmness(o, last, end)
    else:
        note_firmness(o, call_normal(law, par, depth, rate + slope, o.approach), depth)
    return begin > 0.0 and last > 0.0, begin > 0.0 or last > 0.0


# ---- both ----------------------------------------------------------------------


@kernel
def by_points(law, par, p, o, has_rates, phi, end, rate, slope):
    """Return integrals over s from 0 to 1 of any law, from points on the piece.

    int p ds, int p s ds of rate zero, the same of what presses, int p' phi' ds and
    int p' phi' s ds.
    """
    whole, moment, whole_T, moment_T = 0.0, 0.0, 0.0, 0.0
    is_pressed, is_touched = looks(law, par, o, phi, end, rate, slope)
    first, n, root = rule(p, phi, end)
    for i in range(n):
        s, weight, depth = point(p, first, root, i, phi, end)
        elastic = weight * call_normal(law, par, depth, 0.0, o.approach)
        whole += elastic
        moment += elastic * s
        force = call_normal(law, par, depth, rate + s * slope, o.approach)
        is_pressed = is_pressed and force > 0.0
        is_touched = is_touched or force > 0.0
        if depth >= SHALLOW * phi:
            note_firmness(o, force, depth)
        whole_T += weight * force
        moment_T += weight * force * s
    if not is_touched:
        # Not zero: a NaN must come out.
        whole_T, moment_T = 0.0 * whole_T, 0.0 * moment_T
    elif not is_pressed and whole_T == whole_T:
        whole_T, moment_T = pressed_parts(law, par, p, o, phi, end, rate, slope)
    change, turn = 0.0, 0.0
    if has_rates:
        change, turn = changes(law, par, p, o, phi, end, rate, slope, whole, moment)
    return whole, moment, whole_T, moment_T, change, turn


@kernel
def looks_at_power(p, o, phi, end, rate, last_rate, deep, shallow):
    """Do as `looks` with elastic force and damping of both ends, known already."""
    begin, last = deep[0] + rate * deep[1], shallow[0] + last_rate * shallow[1]
    note_firmness(o, begin, phi)
    if rate >= 0.0 and last_rate >= 0.0:
        return True, True
    if end >= SHALLOW * phi:
        note_firmness(o, last, end)
    else:
        force = deep[0] * p[powers.SHALLOW_N]
        force += last_rate * deep[1] * p[powers.SHALLOW_M]
        note_firmness(o, force, SHALLOW * phi)
    return begin > 0.0 and last > 0.0, begin > 0.0 or last > 0.0


@kernel
def by_powers(law, par, p, o, has_rates, phi, end, rate, slope):
    """Return the same of a law that is a power, on a steep piece or an even one.

    Where it presses in part, points tell how much. Where it pulls at both ends it may
    press between them, if its degrees differ by less than one.
    """
    n, m = p[powers.DEGREE], p[powers.DAMPING]
    is_even = phi - end <= EVEN * phi
    middle = 0.5 * (phi + end) if is_even else phi
    fall = (phi - end) / middle
    force, damping = powers.values(law, par, p, o, middle)
    deep, shallow = (force, damping), (force, damping)
    if is_even:
        deep = powers.near(p, deep, 0.5 * fall)
        shallow = powers.near(p, shallow, -0.5 * fall)
        one, two = powers.even_moments(n, fall), powers.even_moments(m, fall)
    else:
        if end > NO_DEPTH * phi:
            shallow = powers.values(law, par, p, o, end)
        else:
            shallow = (force * p[powers.NONE_N], damping * p[powers.NONE_M])
        one = powers.steep_moments(n, fall, shallow[0], force)
        two = powers.steep_moments(m, fall, shallow[1], damping)
    is_pressed, is_touched = looks_at_power(
        p, o, phi, end, rate, rate + slope, deep, shallow
    )
    if not is_touched and 0.0 < n - m < 1.0:
        return by_points(law, par, p, o, has_rates, phi, end, rate, slope)
    whole, moment = force * one[0], force * one[1]
    whole_T = whole + damping * (rate * two[0] + slope * two[1])
    moment_T = moment + damping * (rate * two[1] + slope * two[2])
    if not is_touched:
        whole_T, moment_T = 0.0 * whole_T, 0.0 * moment_T
    elif not is_pressed and whole_T == whole_T:
        low, high = powers.pressed(p, deep, end / phi, rate, slope)
        if low < high:
            more = forces(law, par, p, o, phi, end, rate, slope, low, high)
        else:
            more = pressed_parts(law, par, p, o, phi, end, rate, slope)
        whole_T, moment_T = more
    change, turn = 0.0, 0.0
    if has_rates and is_even:
        change, turn = powers.even_changes(n, force, middle, fall, rate, slope)
    elif has_rates:
        change, turn = by_parts(
            phi, end, deep[0], shallow[0], rate, slope, whole, moment
        )
    return whole, moment, whole_T, moment_T, change, turn


@kernel
def piece(law, par, p, o, has_rates, is_b, face, normal, x, y, ex, ey, phi, end):
    """Add the pressure on a piece of an edge, from its deeper end (x, y) along e."""
    length = math.sqrt(ex * ex + ey * ey)
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
    is_power = p[powers.DEGREE] > 0.0
    if is_power and (end <= powers.STEEP * phi or phi - end <= EVEN * phi):
        found = by_powers(law, par, p, o, has_rates, phi, end, rate, slope)
    else:
        found = by_points(law, par, p, o, has_rates, phi, end, rate, slope)
    whole, moment, whole_T, moment_T, change, turn = found
    add_force(o, scale, nx, ny, x, y, ex, ey, whole_T, moment_T)
    if has_rates:
        add_rates(
            o, is_b, nx, ny, fx, fy, x, y, ex, ey,
            scale * whole, scale * moment, scale * change, scale * turn,
        )  # fmt: skip
    whole *= scale
    moment *= scale
    o.F_x += whole * nx
    o.F_y += whole * ny
    add_way(o, is_b, -whole * fx, -whole * fy)
    o.S += whole
    o.X_x += whole * x + moment * ex
    o.X_y += whole * y + moment * ey
    o.area += 0.5 * scale * (phi + end)
