"""Overlapping outlines, slowly: energy by areas, forces by fine sums on the boundary.

Shares nothing with the kernels. An outline is an array of vertices, counter-clockwise,
in global axes; a line is a pair (normal, offset), with the body below.
"""

from itertools import pairwise

import numpy as np


def placed(vertices, pose):
    """Vertices of a body at (x, y, theta)."""
    x, y, theta = pose
    c, s = np.cos(theta), np.sin(theta)
    return np.asarray(vertices) @ np.array([[c, s], [-s, c]]) + np.array([x, y])


def faces(outline):
    """Outward normals and offsets of all faces."""
    if isinstance(outline, tuple):
        normal, offset = outline
        return np.array([normal], float), np.array([offset], float)
    edge = np.roll(outline, -1, axis=0) - outline
    normal = np.column_stack([edge[:, 1], -edge[:, 0]])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    return normal, np.sum(normal * outline, axis=1)


def depth(outline, x):
    """Depth of places (n, 2) in an outline, and the face of least depth."""
    normal, offset = faces(outline)
    below = offset - np.asarray(x) @ normal.T
    return below.min(axis=1), below.argmin(axis=1)


def clipped(polygon, normal, offset):
    """The part of a polygon with normal·x <= offset."""
    out = []
    for i in range(len(polygon)):
        p, q = polygon[i], polygon[(i + 1) % len(polygon)]
        hp, hq = offset - normal @ p, offset - normal @ q
        if hp >= 0.0:
            out.append(p)
        if hp * hq < 0.0:
            out.append(p + (q - p) * hp / (hp - hq))
    return np.array(out)


def over_area(polygon, normal, offset, function):
    """Integral of function(offset - normal·x) over a convex polygon."""
    if len(polygon) < 3:
        return 0.0
    h = np.maximum(offset - polygon @ normal, 0.0)
    along = polygon @ np.array([normal[1], -normal[0]])
    levels = np.unique(h)
    node, weight = np.polynomial.legendre.leggauss(30)
    total = 0.0
    for low, high in pairwise(levels):
        if high - low < 1e-14 * levels[-1]:
            continue
        # Roots of the level as variable: powers of the depth are smooth in them.
        r = np.sqrt(low) + (np.sqrt(high) - np.sqrt(low)) * 0.5 * (1.0 + node)
        t = r * r
        scale = 0.5 * (np.sqrt(high) - np.sqrt(low)) * weight * 2.0 * r
        ends = []
        for i in range(len(h)):
            j = (i + 1) % len(h)
            lo, hi = min(h[i], h[j]), max(h[i], h[j])
            if lo <= low and hi >= high and hi > lo:
                ends.append(
                    along[i] + (along[j] - along[i]) * (t - h[i]) / (h[j] - h[i])
                )
        total += np.sum(scale * function(t) * np.abs(ends[0] - ends[1]))
    return total


def energy(a, b, pressure):
    """E of two outlines: the integral of the pressure over their overlap."""
    pairs = [(a, b)] if isinstance(a, tuple) else [(a, b), (b, a)]
    total = 0.0
    for field, other in pairs:
        normal, offset = faces(field)
        for f in range(len(normal)):
            # Where face f is the nearest.
            part = clipped(np.asarray(other, float), normal[f], offset[f])
            for g in range(len(normal)):
                if len(part) > 2 and g != f:
                    part = clipped(
                        part, normal[f] * -1 + normal[g], offset[g] - offset[f]
                    )
            # Above: offset_f - n_f·x <= offset_g - n_g·x
            if len(part) > 2:
                total += over_area(part, normal[f], offset[f], pressure)
    return total / len(pairs)


def resultant(a, b, motion_a, motion_b, pressure, n=20000):
    """Force and moment about the origin on b, pressure(depth, rate); midpoints.

    Pressure does not pull anywhere.

    `motion` is (x, y, vx, vy, omega) of any point of each body.
    """

    def velocity(motion, x):
        return np.array(motion[2:4]) + motion[4] * np.column_stack(
            [-(x[:, 1] - motion[1]), x[:, 0] - motion[0]]
        )

    force, moment, S, X = np.zeros(2), 0.0, 0.0, np.zeros(2)
    pairs = [(b, a, -1.0)] if isinstance(a, tuple) else [(b, a, -1.0), (a, b, 1.0)]
    s = (np.arange(n) + 0.5) / n
    for own, field, sign in pairs:
        normal, _ = faces(own)
        face, _ = faces(field)
        for i in range(len(own)):
            p, q = own[i], own[(i + 1) % len(own)]
            x = p + s[:, None] * (q - p)
            phi, f = depth(field, x)
            inside = phi > 0.0
            w = velocity(motion_b, x) - velocity(motion_a, x)
            rate = sign * np.sum(face[f] * w, axis=1)
            ds = np.linalg.norm(q - p) / n / len(pairs)
            law = np.maximum(0.0, pressure(np.maximum(phi, 0.0), rate))
            total = np.where(inside, law, 0.0) * ds
            elastic = (
                np.where(inside, pressure(np.maximum(phi, 0.0), 0.0 * rate), 0.0) * ds
            )
            part = sign * normal[i] * total[:, None]
            force += part.sum(axis=0)
            moment += np.sum(x[:, 0] * part[:, 1] - x[:, 1] * part[:, 0])
            S += elastic.sum()
            X += (x * elastic[:, None]).sum(axis=0)
    return force, moment, S, X


def gap(a, b):
    """Greatest over faces of the least over vertices of the distance from the face."""
    values = []
    for field, other in [(a, b)] if isinstance(a, tuple) else [(a, b), (b, a)]:
        normal, offset = faces(field)
        values.append(np.max(np.min(np.asarray(other) @ normal.T - offset, axis=0)))
    return max(values)


def distance(a, b):
    """Euclidean distance of two outlines that are apart."""
    if isinstance(a, tuple):
        return gap(a, b)
    best = np.inf
    for one, other in [(a, b), (b, a)]:
        for p in one:
            for i in range(len(other)):
                q, r = other[i], other[(i + 1) % len(other)]
                t = np.clip((p - q) @ (r - q) / ((r - q) @ (r - q)), 0.0, 1.0)
                best = min(best, np.linalg.norm(p - q - t * (r - q)))
    return best
