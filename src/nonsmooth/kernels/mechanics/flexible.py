"""A flexible body: its modes as the tail behind a frame in mean axes.

    T = 1/2 m |c'|^2 + 1/2 J w^2 + w eta.C eta' + 1/2 |eta'|^2
    J = J0 + 2 b.eta + eta.eta - eta.K_w eta        h = C^T eta
    V = 1/2 eta.(W^2 eta)

and the forces that follow, with e = b + eta - K_w eta = 1/2 dJ/deta,

    torque = -2 w e.eta'        on eta: w^2 e + 2 w C eta' - W^2 eta - d eta'

A marker is at s + Phi eta - 1/2 eta.K eta in the frame, turned by turn.eta. C is
skew, K and K_w are symmetric: products run along rows, which are contiguous.

Parameters of a body of n modes: n, J0, what its frame does (see below); b, W^2, d; C,
K_w. Of a marker: s; which K it has, 1 for K_x, 2 for K_y, 3 for both; Phi_x, Phi_y,
turn; K_x, K_y.
"""

from nonsmooth.kernels.abi import at, kernel
from nonsmooth.kernels.linear.products import (
    add_rows,
    add_rows_of_both,
    dot,
    weighted,
)

# Numbers before the vectors of a body, and of a marker.
HEAD = 3
# What a body's frame does: rests, floats, floats with a C that is not zero.
HELD, FLOATS, COUPLED = 0.0, 1.0, 2.0


def weigh(p, q, out):
    """Write J and h, then K_w eta; a clamped body has none: its frame is at rest."""
    n = int(p[0])
    out[0] = p[1]
    for j in range(2 * n):
        out[1 + j] = 0.0
    if p[2] == HELD:
        return
    b, eta = at(p, HEAD), at(q, 3)
    h, bent = at(out, 1), at(out, 1 + n)
    if p[2] == COUPLED:
        add_rows(n, at(p, HEAD + 3 * n), eta, h)
    add_rows(n, at(p, HEAD + 3 * n + n * n), eta, bent)
    own = dot(n, eta, eta) - dot(n, bent, eta)
    out[0] = p[1] + 2.0 * dot(n, b, eta) + own


def inner(p, q, v, out):
    """Write gyroscopic, elastic and damping forces, potential, power of damping.

    What `weigh` wrote of the same coordinates follows.
    """
    n = int(p[0])
    b, k, d = at(p, HEAD), at(p, HEAD + n), at(p, HEAD + 2 * n)
    eta, rate, omega = at(q, 3), at(v, 3), v[2]
    f, bent = at(out, 3), at(out, 6 + 2 * n)
    for j in range(3):
        out[j] = 0.0
    for j in range(n):
        f[j] = 0.0
    if p[2] == COUPLED:
        add_rows(n, at(p, HEAD + 3 * n), rate, f)
        for j in range(n):
            # C is skew: its columns are its rows, reversed.
            f[j] *= -2.0 * omega
    if p[2] != HELD:
        e_rate = dot(n, b, rate) + dot(n, eta, rate) - dot(n, bent, rate)
        out[2] = -2.0 * omega * e_rate
        for j in range(n):
            f[j] += omega * omega * (b[j] + eta[j] - bent[j])
    for j in range(n):
        f[j] -= k[j] * eta[j] + d[j] * rate[j]
    out[3 + n] = 0.5 * weighted(n, k, eta)
    out[4 + n] = -weighted(n, d, rate)


def place(p, s, q, v, out):
    """Write a marker in the frame; behind it `out` has room for two products."""
    n = int(p[0])
    eta, rate = at(q, 3), at(v, 3)
    x, y, turn = at(s, HEAD), at(s, HEAD + n), at(s, HEAD + 2 * n)
    r_x, r_y, psi = s[0], s[1], 0.0
    slope = at(out, 6)
    for j in range(n):
        r_x += x[j] * eta[j]
        r_y += y[j] * eta[j]
        psi += turn[j] * eta[j]
        slope[3 * j] = x[j]
        slope[3 * j + 1] = y[j]
        slope[3 * j + 2] = turn[j]
    out[3] = 0.0
    out[4] = 0.0
    out[5] = 0.0
    which = int(s[2])
    if which & 1:
        r_x -= bend(n, at(s, HEAD + 3 * n), eta, rate, out, 0)
    if which & 2:
        r_y -= bend(n, at(s, HEAD + 3 * n + n * n), eta, rate, out, 1)
    out[0] = r_x
    out[1] = r_y
    out[2] = psi


@kernel
def bend(n, K, eta, rate, out, axis):
    """Take K off the slopes and bias along an axis; return by how much it draws in."""
    to_eta, to_rate = at(out, 6 + 3 * n), at(out, 6 + 4 * n)
    for j in range(n):
        to_eta[j] = 0.0
        to_rate[j] = 0.0
    add_rows_of_both(n, K, eta, rate, to_eta, to_rate)
    slope, short, bias = at(out, 6 + axis), 0.0, 0.0
    for j in range(n):
        slope[3 * j] -= to_eta[j]
        short += 0.5 * to_eta[j] * eta[j]
        bias += to_rate[j] * rate[j]
    out[3 + axis] = -bias
    return short
