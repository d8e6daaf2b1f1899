"""Pairs of outlines as parameters; the kernels that read them say what they mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss

from nonsmooth.elements.normal import NormalLaw
from nonsmooth.elements.shapes import Line, Point, Polygon, Shape
from nonsmooth.errors import ModelError
from nonsmooth.kernels.mechanics.pressure import EVEN_POINTS, NO_DEPTH, SHALLOW

# Points on a piece of an edge. Two are exact where a law is of second degree in depth
# and rate, three of fourth; five, on roots, where it is a polynomial of the root of the
# depth, as 1.5 is; of other powers twelve are right to 6e-10.
FEW, MORE, SOME, MANY = 2, 3, 5, 12
ON_ROOTS = (SOME, MANY)
# Change of the depth, as a part of it, for the slope of a law: any meets a parabola,
# others are met best where the error of a difference is its round-off.
WIDE, NARROW = 0.5, 6e-6
# Part of a law's integral to which it is met: some times the round-off of a power.
IS_MET = 1e-12
# Depths and rates at which laws are looked at, m and m/s.
DEPTHS, RATES = (1e-4, 0.02), ((0.0, 0.0), (0.9, -0.4), (-0.3, -0.8))
# Depths between which a law is a power, m; digits of its degree, and part of the law to
# which it is one: some times the round-off of a power over ten decades.
DECADES = (*(10.0**k for k in range(-10, 0)), 3e-7, 5e-4, 0.2)
DIGITS, IS_POWER, N_POWERS = 12, 1e-12, 7
# Approach rate, and a rate whose damping is not lost beside the elastic part, m/s.
APPROACH, FAST = 0.6, 1e6
# Vertices this near to each other, as a part of a face, are equally far from it: a few
# times the round-off of places.
EQUALLY_FAR = 1e-14
# Depth, as a part of a face, below which its round-off shows in the rate of the normal.
BARELY = 1e-10
# Greatest depth, as a part of the smaller thickness: half way to its middle.
DEEPEST = 0.25


@dataclass(frozen=True, kw_only=True)
class Outline:
    """A convex outline: open faces are those that no other piece of the body covers.

    A face that is covered in part is cut in parts, with a vertex between them.
    """

    shape: Line | Polygon
    is_open: tuple[bool, ...]
    vertices: tuple[Point, ...]  # none of a line
    edge: tuple[int, ...]  # of the shape, of which each face is a part

    @property
    def faces(self) -> list[tuple[float, float, float]]:
        """Normal and offset of each face."""
        if isinstance(self.shape, Line):
            n = (-math.sin(self.shape.angle), math.cos(self.shape.angle))
            return [(*n, n[0] * self.shape.point[0] + n[1] * self.shape.point[1])]
        found: list[tuple[float, float, float]] = []
        v = self.shape.vertices
        for k in self.edge:
            (x0, y0), (x1, y1) = v[k], v[(k + 1) % len(v)]
            length = math.hypot(x1 - x0, y1 - y0)
            nx, ny = (y1 - y0) / length, (x0 - x1) / length
            found.append((nx, ny, nx * x0 + ny * y0))
        return found

    @property
    def longest(self) -> float:
        """Length of the longest face, infinite for a line."""
        if isinstance(self.shape, Line):
            return math.inf
        v = self.shape.vertices
        return max(math.dist(v[k - 1], v[k]) for k in range(len(v)))

    @property
    def thickness(self) -> float:
        """Least height above an open face, infinite for a line."""
        if not self.vertices:
            return math.inf
        return min(
            max(c - nx * x - ny * y for x, y in self.vertices)
            for (nx, ny, c), is_open in zip(self.faces, self.is_open, strict=True)
            if is_open
        )

    def parameters(self) -> list[float]:
        """Return what the kernels read."""
        faces = self.faces
        found = [float(len(faces)), float(len(self.vertices))]
        for face, is_open in zip(faces, self.is_open, strict=True):
            found += [*face, float(is_open)]
        return found + [c for vertex in self.vertices for c in vertex]


@dataclass(frozen=True, kw_only=True)
class Together(Outline):
    """Pieces of a body as one outline, which a line presses whether convex or not.

    Each goes round to its first vertex; the way to the next piece is no open face.
    """

    pieces: tuple[Outline, ...]

    @property
    def faces(self) -> list[tuple[float, float, float]]:
        """Normal and offset of each face, those of the ways between pieces of any."""
        return [face for one in self.pieces for face in [*one.faces, one.faces[0]]]

    @property
    def longest(self) -> float:
        """Length of the longest face."""
        return max(one.longest for one in self.pieces)

    @property
    def thickness(self) -> float:
        """Least height above an open face."""
        return min(one.thickness for one in self.pieces)


def together(pieces: Sequence[Outline]) -> Together:
    """Return the outline of pieces that do not overlap, for contact with a line."""
    return Together(
        shape=pieces[0].shape,
        is_open=tuple(x for one in pieces for x in (*one.is_open, False)),
        vertices=tuple(v for one in pieces for v in (*one.vertices, one.vertices[0])),
        edge=(),
        pieces=tuple(pieces),
    )


def outline(shape: Shape) -> Outline | None:
    """Return the outline of a shape, None for one that touches in points."""
    if isinstance(shape, Line):
        return Outline(shape=shape, is_open=(True,), vertices=(), edge=(0,))
    if isinstance(shape, Polygon):
        n = len(shape.vertices)
        return Outline(
            shape=shape,
            is_open=(True,) * n,
            vertices=shape.vertices,
            edge=tuple(range(n)),
        )
    return None


def full_face(a: Iterable[Outline], b: Iterable[Outline]) -> float:
    """Return the length of face that has a law's stiffness: the shorter of the longest.

    It is the same for all pieces of two bodies.
    """
    return min(max((own.longest for own in side), default=math.inf) for side in (a, b))


@dataclass(frozen=True, kw_only=True)
class Pair:
    """An outline of a and one of b, which is no line."""

    a: Outline
    b: Outline
    normal: NormalLaw
    length: float  # m, of face that has the law's stiffness
    has_mates: bool = False  # other pieces of the same bodies may be on one face

    @property
    def deepest(self) -> float:
        """Greatest depth that outlines may come to, m."""
        return DEEPEST * min(self.a.thickness, self.b.thickness)

    @property
    def n_scratch(self) -> int:
        """How many numbers the kernels work in."""
        n = 0
        for one, other in ((self.a, self.b), (self.b, self.a)):
            n_face, n_vertex = len(one.faces), len(one.vertices)
            n += 3 * n_face + 2 * n_vertex + n_vertex * len(other.faces)
        return n

    def parameters(self) -> list[float]:
        """Return what the kernels read."""
        n_point = points(self.normal)
        weight = 1.0 if isinstance(self.a.shape, Line) else 0.5
        found = [
            float(n_point),
            1.0 if n_point in ON_ROOTS else 0.0,
            weight / self.length,
            WIDE if n_point == FEW else NARROW,
            EQUALLY_FAR * self.length,
            BARELY * self.length,
            *powers(self.normal),
            float(self.has_mates),
        ]
        for n in (n_point, EVEN_POINTS):
            for place, own in zip(*(x.tolist() for x in nodes(n)), strict=True):
                found += [place, own]
        return [*found, *self.a.parameters(), *self.b.parameters()]


def points(law: NormalLaw) -> int:
    """Return how many points on a piece of an edge a law needs."""
    force: Any = getattr(type(law), "force")  # noqa: B009 (not every law is typed)
    try:
        return _points(force, tuple(law.parameters()))
    except ValueError as error:
        raise _undefined(law, error) from None


def powers(law: NormalLaw) -> list[float]:
    """Return what the kernels know of a law whose parts are powers of the depth.

    Degrees of the elastic part and of the damping, whether there is any, and powers of
    the depths that stand for none; nothing but zeros of another law.
    """
    force: Any = getattr(type(law), "force")  # noqa: B009 (not every law is typed)
    p = tuple(law.parameters())
    try:
        n = _degree(lambda d: float(force(p, d, 0.0, APPROACH)))
        m = _degree(lambda d: float(_damping(force, p, d)))
        has_damping = any(_damping(force, p, d) != 0.0 for d in DECADES)
        is_linear = all(_is_linear(force, p, d) for d in DECADES)
    except ArithmeticError:
        return [0.0] * N_POWERS
    except ValueError as error:
        raise _undefined(law, error) from None
    m = m if has_damping else n
    if n is None or m is None or not is_linear or not 0.0 <= n - m <= 1.0 or n < 1.0:
        return [0.0] * N_POWERS
    parts = [depth**degree for depth in (NO_DEPTH, SHALLOW) for degree in (n, m)]
    return [n, m, float(has_damping), *parts]


def _undefined(law: NormalLaw, error: ValueError) -> ModelError:
    """Return the error for a law, a user's own, that fails in Python."""
    return ModelError(
        f"{law.label()}: force fails with {error} at some overlap from 0 to 0.2 m and "
        "rate of either sign; an outline is integrated over all of them: give it a "
        "value there"
    )


def _damping(force: Any, p: tuple[float, ...], depth: float) -> float:
    """Return what a unit of rate adds to a law; its round-off is not the force's."""
    up, down = (force(p, depth, rate, APPROACH) for rate in (FAST, -FAST))
    return (up - down) / (2.0 * FAST)


def _degree(force: Callable[[float], float]) -> float | None:
    """Return the degree of a function that is a power of the depth, else None."""
    values = [force(depth) for depth in DECADES]
    if not all(0.0 < value < math.inf for value in values):
        return None
    n = math.log(values[-1] / values[0]) / math.log(DECADES[-1] / DECADES[0])
    n = round(n, DIGITS)
    for depth, value in zip(DECADES, values, strict=True):
        if abs(values[0] * (depth / DECADES[0]) ** n - value) > IS_POWER * value:
            return None
    return n


def _is_linear(force: Any, p: tuple[float, ...], depth: float) -> bool:
    """Return whether damping grows with the rate, and not otherwise with approach."""
    slope = _damping(force, p, depth)
    for rate in (-30.0, -0.3, 1e-3, 4.0):
        found = force(p, depth, rate, APPROACH)
        expected = force(p, depth, 0.0, APPROACH) + rate * slope
        size = abs(force(p, depth, 0.0, APPROACH)) + abs(rate * slope)
        if not abs(found - expected) <= IS_POWER * (size + abs(slope)):
            return False
    return True


@cache
def nodes(n: int) -> tuple[Any, Any]:
    """Return the nodes of Gauss on (0, 1), and their weights."""
    node, weight = leggauss(n)
    return 0.5 * (1.0 + node), 0.5 * weight


@lru_cache(maxsize=256)
def _points(force: Any, p: tuple[float, ...]) -> int:
    try:
        with np.errstate(all="ignore"):
            return next(
                n for n in (FEW, MORE, SOME, MANY) if n == MANY or _meets(force, p, n)
            )
    except ArithmeticError:
        return MANY  # compiled it has a value there: infinity, or NaN


def _meets(force: Any, p: tuple[float, ...], n_point: int) -> bool:
    """Return whether n points integrate a law, and its moment, along an edge."""
    for depth in DEPTHS:
        for first, last in RATES:
            # From the depth to a third of it, and to none.
            for end in (depth / 3.0, 0.0):
                is_on_roots = n_point in ON_ROOTS
                found = [
                    _integrals(force, p, depth, end, first, last, n, is_on_roots)
                    for n in (n_point, 3 * MANY)
                ]
                if not np.all(np.abs(found[0] - found[1])[1:] <= IS_MET * found[1][0]):
                    return False
    return True


def _integrals(
    force: Any,
    p: tuple[float, ...],
    depth: float,
    end: float,
    first: float,
    last: float,
    n_point: int,
    is_on_roots: bool,
) -> Any:
    """Return the integrals of |force|, force, and force times place."""
    xi, ds = nodes(n_point)
    if is_on_roots:
        r = math.sqrt(end / depth)
        u = 1.0 - (1.0 - r) * xi
        xi, ds = xi * (1.0 + u) / (1.0 + r), ds * 2.0 * u / (1.0 + r)
    values = np.array(
        [
            float(
                force(
                    p, depth + (end - depth) * s, first + (last - first) * s, APPROACH
                )
            )
            for s in xi.tolist()
        ]
    )
    return np.array(
        [np.sum(np.abs(values) * ds), np.sum(values * ds), np.sum(values * xi * ds)]
    )
