"""Outlines that are one contact: their pressure, by quadrature along every edge.

Each floats in the depth of the other (docs/theory/contact.md):

    phi_P(x) = min over faces of c_f - n_f·x               depth in outline P
    F_b = -weight int_{db in a} p n_b ds + weight int_{da in b} p n_a ds

with weight 1/2, or 1 if a is a line; p is the law's force at this depth and its rate,
where it does not pull, over the length of the face that has the law's stiffness: the
longest face of either outline, the shorter of the two. The elastic part, at rate zero,
has the direction n; N = n·F. Along an edge phi is made of straight pieces, which are
cut out one by one, and cut again where the pressure ends.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from fuzz.audit import laws
from fuzz.audit.geometry import Flat
from fuzz.audit.notes import Array
from fuzz.audit.pieces import Piece
from fuzz.audit.scene import Marker, Scene, Vector
from nonsmooth import Line

# Nodes on a piece. Their places are drawn to both ends, where a power of the depth
# may have a singular derivative, so that all laws are met to some 1e-10.
N_NODES = 20
# Cells of a piece in which the law's sign is looked at, and halvings of one where it
# changes: the first and the last such are cut. Just before a release little is pressed.
N_CELLS, N_HALVINGS = 150, 45

Edge = tuple[Vector, Vector, Vector]  # its ends, and the normal out of its outline


class Pressure:
    """Force and moment of the pressure on b at instants, about b's origin."""

    def __init__(self, n: int) -> None:
        zero = np.zeros(n)
        self.elastic: list[Array] = [zero, zero]
        self.total: list[Array] = [zero, zero]
        self.moment = zero
        self.size = zero  # sum of |p| ds, also where it would pull


def pressure(scene: Scene, flat: Flat, approach: Array, at: Any) -> Pressure:
    """Return the pressure of a contact of outlines at chosen instants."""
    part = Scene(scene.model, {k: v[at] for k, v in scene.columns.items()})
    found = Pressure(len(part.t))
    b = [part.place(Marker(flat.b, *v)) for v in flat.shape_b.vertices]
    edges_b = _placed(part, flat.b, flat.piece_b)
    if isinstance(flat.shape_a, Line):
        foot = part.place(Marker(flat.a, *flat.shape_a.point))
        phi = part.motion(flat.a, "theta") + flat.shape_a.angle
        faces = [(-np.sin(phi), np.cos(phi), foot[0], foot[1])]
        scale = 1.0 / flat.length
        _add_edges(part, flat, found, edges_b, faces, -scale, approach[at])
        return found
    a = [part.place(Marker(flat.a, *v)) for v in flat.shape_a.vertices]
    edges_a = _placed(part, flat.a, flat.piece_a)
    scale = 0.5 / flat.length
    for edges, outline, piece, sign in (
        (edges_b, a, flat.piece_a, -1.0),
        (edges_a, b, flat.piece_b, 1.0),
    ):
        faces = _faces(outline)
        both = list(zip(faces, piece.is_open, strict=True))
        closed = [face for face, is_open in both if not is_open]
        inside = [_clipped(edge, closed) for edge in edges]
        depth = [face for face, is_open in both if is_open]
        _add_edges(part, flat, found, inside, depth, sign * scale, approach[at])
    return found


def _placed(scene: Scene, body: str, piece: Piece) -> list[Edge]:
    """Return the open parts of a piece's edges."""
    found: list[Edge] = []
    for ends in piece.edges:
        (x0, y0), (x1, y1) = (scene.place(Marker(body, *end)) for end in ends)
        length = np.hypot(x1 - x0, y1 - y0)
        normal = ((y1 - y0) / length, (x0 - x1) / length)
        found.append(((x0, y0), (x1, y1), normal))
    return found


def _clipped(edge: Edge, closed: Any) -> Edge:
    """Return the part of an edge that no covered face of the other cuts off."""
    (x0, y0), (x1, y1), normal = edge
    low, high = np.zeros_like(x0), np.ones_like(x0)
    for fx, fy, px, py in closed:
        h0 = fx * (px - x0) + fy * (py - y0)
        h1 = fx * (px - x1) + fy * (py - y1)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(h0 * h1 < 0.0, h0 / (h0 - h1), 0.0)
        low = np.where((h0 < 0.0) & (h1 > 0.0), np.maximum(low, part), low)
        high = np.where((h0 > 0.0) & (h1 < 0.0), np.minimum(high, part), high)
        high = np.where((h0 <= 0.0) & (h1 <= 0.0), low, high)
    high = np.maximum(high, low)
    ends = ((x0 + s * (x1 - x0), y0 + s * (y1 - y0)) for s in (low, high))
    start, end = ends
    return start, end, normal


def _faces(corners: list[Vector]) -> list[tuple[Array, Array, Array, Array]]:
    """Return outward normal and a place of every face."""
    found: list[tuple[Array, Array, Array, Array]] = []
    for k, (x0, y0) in enumerate(corners):
        x1, y1 = corners[(k + 1) % len(corners)]
        length = np.hypot(x1 - x0, y1 - y0)
        found.append(((y1 - y0) / length, (x0 - x1) / length, x0, y0))
    return found


def _add_edges(
    scene: Scene,
    flat: Flat,
    found: Pressure,
    edges: list[Edge],
    faces: list[tuple[Array, Array, Array, Array]],
    scale: float,
    approach: Array,
) -> None:
    """Add the pressure on edges of an outline in the depth of the other's faces.

    `scale` is weight over length, negative on b's own edges.
    """
    node, weight = np.polynomial.legendre.leggauss(N_NODES)
    u = 0.5 * (1.0 + node)
    # s = u^2 (3 - 2 u) goes from 0 to 1, slowly at both ends.
    place, share = u * u * (3.0 - 2.0 * u), 3.0 * u * (1.0 - u) * weight
    for (x0, y0), (x1, y1), (nx, ny) in edges:
        ex, ey = x1 - x0, y1 - y0
        length = np.hypot(ex, ey)
        # Depth below face f at the part t of the edge: h0 + t (h1 - h0).
        h0 = np.array([fx * (px - x0) + fy * (py - y0) for fx, fy, px, py in faces])
        h1 = np.array([fx * (px - x1) + fy * (py - y1) for fx, fy, px, py in faces])

        def state(
            t: Array,
            x0: Array = x0,
            y0: Array = y0,
            e: Vector = (ex, ey),
            h: tuple[Array, Array] = (h0, h1),
        ) -> tuple[Array, Array, Array, Array]:
            """Return place, depth and its rate at parts of the edge."""
            depths = h[0][:, :, None] + t[None] * (h[1] - h[0])[:, :, None]
            nearest = np.argmin(depths, axis=0)
            depth = np.take_along_axis(depths, nearest[None], axis=0)[0]
            x, y = x0[:, None] + t * e[0][:, None], y0[:, None] + t * e[1][:, None]
            rate = _depth_rate(scene, flat, faces, nearest, (x, y), scale)
            return x, y, depth, rate

        def force(t: Array, state: Any = state) -> Array:
            _, _, depth, rate = state(t)
            return laws.normal_force(flat.normal, depth, rate, approach[:, None])

        for piece in pairwise(_cuts(h0, h1)):
            for low, high in pairwise(_pressed(*piece, force)):
                if not np.any(high > low):
                    continue
                t = low[:, None] + (high - low)[:, None] * place[None, :]
                x, y, depth, rate = state(t)
                ds = np.where(depth > 0.0, length[:, None] * (high - low)[:, None], 0.0)
                ds = scale * ds * share[None, :]
                _add(scene, flat, found, (nx, ny), (x, y), depth, rate, ds, approach)


def _cuts(h0: Array, h1: Array) -> list[Array]:
    """Return the parts of an edge, in order, where the depth is not straight."""
    n, slope = len(h0), h1 - h0
    inside = [np.zeros_like(h0[0]), np.ones_like(h0[0])]
    with np.errstate(divide="ignore", invalid="ignore"):
        for f in range(n):
            inside.append(-h0[f] / slope[f])
            for g in range(f):
                inside.append((h0[g] - h0[f]) / (slope[f] - slope[g]))
    cuts = np.array([np.where(np.isfinite(t), t, 0.0) for t in inside])
    return list(np.sort(np.clip(cuts, 0.0, 1.0), axis=0))


def _pressed(low: Array, high: Array, force: Any) -> list[Array]:
    """Return the ends of a piece, and where its pressure begins and ends in between."""
    if not np.any(high > low):
        return [low, high]
    grid = (np.arange(N_CELLS + 1.0) / N_CELLS).clip(1e-9, 1.0 - 1e-9)
    is_pressed = force(low[:, None] + (high - low)[:, None] * grid) > 0.0
    changes = is_pressed[:, 1:] != is_pressed[:, :-1]
    if not np.any(changes):
        return [low, high]
    rows = np.arange(len(low))
    found = [low]
    for cell in (
        np.argmax(changes, axis=1),
        N_CELLS - 1 - np.argmax(changes[:, ::-1], axis=1),
    ):
        one = low + (high - low) * grid[cell]
        two = low + (high - low) * grid[cell + 1]
        first = is_pressed[rows, cell]
        for _ in range(N_HALVINGS):
            middle = 0.5 * (one + two)
            same = (force(middle[:, None])[:, 0] > 0.0) == first
            one, two = np.where(same, middle, one), np.where(same, two, middle)
        found.append(np.where(np.any(changes, axis=1), one, low))
    return [*found, high]


def _depth_rate(
    scene: Scene, flat: Flat, faces: Any, nearest: Any, place: Vector, scale: float
) -> Array:
    """Return the rate of depth below the nearest face, of matter at places."""
    moving, still = (flat.b, flat.a) if scale < 0.0 else (flat.a, flat.b)
    w: list[Array] = []
    for i, (one, sign) in enumerate((("vx", -1.0), ("vy", 1.0))):
        values: list[Array] = []
        for body in (moving, still):
            omega = scene.motion(body, "omega")[:, None]
            arm = place[1 - i] - scene.motion(body, "yx"[i])[:, None]
            values.append(scene.motion(body, one)[:, None] + sign * omega * arm)
        w.append(values[0] - values[1])
    nx, ny = (np.array([face[i] for face in faces]) for i in range(2))
    rows = np.arange(nx.shape[1])[:, None]
    return -(nx[nearest, rows] * w[0] + ny[nearest, rows] * w[1])


def _add(
    scene: Scene,
    flat: Flat,
    found: Pressure,
    normal: Vector,
    place: Vector,
    depth: Array,
    rate: Array,
    ds: Array,
    approach: Array,
) -> None:
    """Add the pressure on a piece of an edge; ds has the sign of its force on b."""
    latched = approach[:, None]
    law = flat.normal
    uncut = laws.normal_force(law, depth, rate, latched) * ds
    full = np.where(uncut * ds > 0.0, uncut, 0.0)
    still = laws.normal_force(law, depth, 0.0 * rate, latched) * ds
    parts = [component[:, None] * full for component in normal]
    for i in range(2):
        found.elastic[i] = found.elastic[i] + normal[i] * np.sum(still, axis=1)
        found.total[i] = found.total[i] + np.sum(parts[i], axis=1)
    x, y = (place[i] - scene.motion(flat.b, "xy"[i])[:, None] for i in range(2))
    found.moment = found.moment + np.sum(x * parts[1] - y * parts[0], axis=1)
    found.size = found.size + np.sum(np.abs(uncut), axis=1)
