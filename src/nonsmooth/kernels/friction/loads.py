"""Loads of joints that are no sums of linear flanks: of pins, and of elastic blocks.

See `slides` for what they are used for, `faces` for the block itself.
"""

import math

from nonsmooth.kernels.abi import at, kernel
from nonsmooth.kernels.friction import faces
from nonsmooth.kernels.mechanics.tables import FACES, PIN

# Steps to the part of friction that an elastic block uses at rest, and what is left.
MAX_PART, NO_PART = 30, 1e-14
# Change of that part, of the coefficient, for the slope of the load.
PART_STEP = 1e-3


@kernel
def is_curved(m, k):
    """Return whether the load of contact k is no sum of linear flanks."""
    return m.contact_kind[k] == PIN or m.contact_kind[k] == FACES


@kernel
def way_of(m, k, phi):
    """Return which tangent of a curved load holds: of a block one for each slip."""
    if m.contact_kind[k] != FACES or phi == 0.0:
        return 0
    return 1 if phi > 0.0 else 2


@kernel
def tangent(m, w, k, phi):
    """Return slopes of a curved load by its two reactions, and its value at none."""
    return at(w.cone[k], 3 * way_of(m, k, phi))


@kernel
def block(m, w, k, way, phi, first, second):
    """Return the load of an elastic block, with the numbers kept for a way."""
    place = m.contact_faces[k]
    p, node = at(m.par, place[0]), at(w.node, place[1])
    return faces.bear(p, node, at(w.node_mark, place[2]), way, phi, first, second)


@kernel
def curved(m, w, k, phi, first, second):
    """Return a load that is curved, of a pin or an elastic block."""
    if m.contact_kind[k] == FACES:
        return block(m, w, k, way_of(m, k, phi), phi, first, second)
    return math.sqrt(first * first + second * second)


@kernel
def aim(m, w, k, phi, first, second):
    """Set the tangent of a curved load to where its reactions are."""
    size = curved(m, w, k, phi, first, second)
    e = tangent(m, w, k, phi)
    if m.contact_kind[k] == FACES:
        if not size >= 0.0:
            # Not found: a tangent that is not a number would never be left again.
            return
        place = m.contact_faces[k]
        n = int(m.par[place[0]])
        own = faces.kept_of(at(w.node, place[1]), n, way_of(m, k, phi))
        e[0] = own[faces.BY_N]
        e[1] = own[faces.BY_M]
        e[2] = size - e[0] * first - e[1] * second
        return
    e[0] = first / size if size > 0.0 else 1.0
    e[1] = second / size if size > 0.0 else 0.0


@kernel
def block_part(m, w, k, lam_t, first, second):
    """Return the phi with lam_t = -phi G(phi), of an elastic block at rest.

    By secants, from the last that was looked for; G hardly changes with phi.
    """
    most = 2.0 * m.contact_mu0[k]
    place = m.contact_faces[k]
    last = faces.kept_of(at(w.node, place[1]), int(m.par[place[0]]), 0)[faces.PHI]
    G = block(m, w, k, 0, last, first, second)
    if lam_t == 0.0 or not G > 0.0:
        return 0.0
    miss = last * G + lam_t
    if abs(miss) <= NO_PART * G:
        return last
    phi = max(-most, min(most, -lam_t / G))
    for _ in range(MAX_PART):
        G = block(m, w, k, 0, phi, first, second)
        now = phi * G + lam_t
        if now == miss or abs(now) <= NO_PART * G or not G > 0.0:
            break
        step = now * (phi - last) / (now - miss)
        last, miss = phi, now
        phi = max(-most, min(most, phi - step))
        if phi == last:
            break
    return phi


@kernel
def block_slopes(m, w, k, lam_t, first, second, out):
    """Write the same of an elastic block: G = G(lam, phi) with phi G = -lam_t."""
    phi = block_part(m, w, k, lam_t, first, second)
    step = PART_STEP * m.contact_mu0[k]
    ahead = block(m, w, k, 0, phi + step, first, second)
    behind = block(m, w, k, 0, phi - step, first, second)
    G = block(m, w, k, 0, phi, first, second)
    by_phi = 0.5 * (ahead - behind) / step
    place = m.contact_faces[k]
    own = faces.kept_of(at(w.node, place[1]), int(m.par[place[0]]), 0)
    stiff = G + phi * by_phi
    out[0] = own[faces.BY_N] * G / stiff if stiff > 0.0 else 0.0
    out[1] = own[faces.BY_M] * G / stiff if stiff > 0.0 else 0.0
    out[2] = -by_phi / stiff if stiff > 0.0 else 0.0


@kernel
def linear_areas(front, rear, out):
    """Write the normal forces by areas of a rigid block with given ends.

    Corners bear the forces of the ends. Flat, the pressure is linear where it presses
    at all: over all of the face, or over 3 (l/2 - |e|) from the end nearer to the
    resultant at e.
    """
    out[0] = max(-rear, 0.0)
    out[1] = max(-front, 0.0)
    out[2] = max(rear, 0.0)
    out[3] = max(front, 0.0)
    if front * rear <= 0.0:
        return
    normal = front + rear
    e = abs(0.5 * (front - rear) / normal)  # in lengths of the block
    far = 0.5 - 1.5 * e
    if e > 1.0 / 6.0:
        pressed = 3.0 * (0.5 - e)
        far = (max(pressed - 0.5, 0.0) / pressed) ** 2
    right = 1.0 - far if abs(front) > abs(rear) else far
    first = 0 if normal < 0.0 else 2
    out[first] = abs(normal) * (1.0 - right)
    out[first + 1] = abs(normal) * right
