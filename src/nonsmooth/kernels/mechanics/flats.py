"""Flat contacts: pairs of outlines as one contact, with one friction force.

The pressure of both parts is a force along the normal at the point P, and a couple; its
resultant acts at P + tau couple/N. Friction acts at P along tau, that is on the same
line. See `outlines`, and `frames` for bodies of several pieces.
"""

import math

from nonsmooth.kernels.abi import INTEGER, NUMBER, at, call_normal, far, kernel
from nonsmooth.kernels.friction.modes import OPEN
from nonsmooth.kernels.mechanics import apart, frames, outlines
from nonsmooth.kernels.mechanics.tables import Tables, Work
from nonsmooth.kernels.tolerances import SMALLEST_OVERLAP, SPREAD


@kernel
def evaluate(m, w, k):
    """Evaluate flat contact k by itself; its markers have been moved."""
    # Not known before the first mode.
    approach = w.mode[k].approach
    outlines.outlines(
        m.address[m.contact_normal[k]],
        at(m.par, m.contact_normal_par[k]),
        at(m.par, m.contact_shape_par[k]),
        w.motion[m.contact_a[k]],
        w.motion[m.contact_b[k]],
        approach if approach > 0.0 else 0.0,
        m.contact_row[k] >= 0,
        w.outline,
        w.press[m.contact_flat[k]],
    )


@far(Tables, Work, INTEGER)
def press(m, w, k):
    """Write geometry, rates and force of flat contact k; its markers have been moved.

    The force is in `Work.press`; `contacts` takes it if the contact is closed.
    """
    o, c = w.press[m.contact_flat[k]], w.contact[k]
    first, end = m.contact_piece[k][0], m.contact_piece[k][1]
    for j in range(first, end):
        evaluate(m, w, j)
    if end - first > 1:
        flat = m.contact_flat[k]
        frames.join(w.press, flat - (k - first), flat + (end - k), flat)
    c.gap = o.gap
    c.gap_rate = o.gap_rate
    c.n_x = o.n_x
    c.n_y = o.n_y
    c.turn = o.turn
    c.arm_x = o.P_x
    c.arm_y = o.P_y
    c.v_t = o.v_t
    c.slip_bias = o.bias


@kernel
def coefficients(c, o, G):
    """Write v_t's coefficients on the motions of both bodies."""
    tx, ty = c.n_y, -c.n_x
    G[0] = -tx
    G[1] = -ty
    G[2] = -(c.arm_x * ty - c.arm_y * tx)
    G[3] = tx
    G[4] = ty
    G[5] = (c.arm_x - o.D_x) * ty - (c.arm_y - o.D_y) * tx


@kernel
def couple(c, o, lam_n):
    """Return the couple of the pressure on b that goes with a normal force."""
    return o.couple * lam_n / c.force if c.force != 0.0 else 0.0


@kernel
def power(c, o):
    """Return the power of the pressure on both bodies."""
    return c.lam_n * o.v_n + couple(c, o, c.lam_n) * o.spin


@far(Tables, Work, INTEGER, NUMBER, returns=NUMBER)
def firmness(m, w, k, size):
    """Return the largest force of the law over the depth: it presses somewhere if > 0.

    Where both vanish, that at the nearest vertex.
    """
    o, c = w.press[m.contact_flat[k]], w.contact[k]
    depth = SMALLEST_OVERLAP * size
    if -c.gap >= depth and o.area > 0.0:
        return o.firmness
    law, p = m.address[m.contact_normal[k]], at(m.par, m.contact_normal_par[k])
    return call_normal(law, p, depth, -c.gap_rate, o.approach) / depth


@kernel
def pull(o):
    """Return what the law would pull with where it presses nowhere, negative, or 0."""
    # Where overlap is round-off no firmness may be known.
    return min(0.0, o.firmness) * o.area if o.firmness > -math.inf else 0.0


@far(Tables, Work, INTEGER, returns=NUMBER)
def gap_acceleration(m, w, k):
    """Return gap'' of flat contact k, the markers' accelerations being known."""
    a, b = w.motion[m.contact_a[k]], w.motion[m.contact_b[k]]
    return outlines.gap_acceleration(w.press[m.contact_flat[k]], a, b)


@kernel
def slip_scale(m, w, k):
    """Return the speeds that the slip velocity of contact k is the difference of."""
    a, b = w.motion[m.contact_a[k]], w.motion[m.contact_b[k]]
    c, o = w.contact[k], w.press[m.contact_flat[k]]
    speed = math.hypot(a[3], a[4]) + math.hypot(b[3], b[4])
    speed += abs(a[5]) * math.hypot(c.arm_x, c.arm_y)
    speed += abs(b[5]) * math.hypot(c.arm_x - o.D_x, c.arm_y - o.D_y)
    return speed + SPREAD * w.speed


# ---- for results ---------------------------------------------------------------


@far(Tables, Work, INTEGER)
def show(m, w, k):
    """Write point, width and, if open, the distance of flat contact k."""
    o, c = w.press[m.contact_flat[k]], w.contact[k]
    c.width = o.width if c.gap < 0.0 else 0.0
    shift = couple(c, o, c.lam_n) / c.lam_n if c.lam_n != 0.0 else 0.0
    a = w.motion[m.contact_a[k]]
    c.point_x = a[0] + c.arm_x + shift * c.n_y
    c.point_y = a[1] + c.arm_y - shift * c.n_x
    # Until it is open a gap above zero is round-off, and what slips slips at P.
    if c.gap > 0.0 and w.mode[k].side == OPEN:
        p = at(m.par, m.contact_shape_par[k])
        apart.part(p, a, w.motion[m.contact_b[k]], w.outline, o)
        c.gap = o.gap
        c.v_t = o.v_t
        c.gap_rate = o.gap_rate
        c.n_x = o.n_x
        c.n_y = o.n_y
        c.point_x = a[0] + o.P_x
        c.point_y = a[1] + o.P_y
