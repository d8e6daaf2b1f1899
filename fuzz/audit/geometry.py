"""Distances of discs and outlines from each other, written down again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from fuzz.audit.notes import Array
from fuzz.audit.pieces import Piece, joined, uncovered, whole
from fuzz.audit.scene import Marker, Scene, Vector, outline
from nonsmooth import Circle, Contact, Line, Polygon, Prismatic, Segment, Unilateral

# Corners in each other that are nearer than this part of the size touch.
NEAR_CORNERS = 0.02
# Cosine between the normal of a face and the way a segment ends from which on that
# looks its way.
ITS_WAY = 0.3


@dataclass(frozen=True, kw_only=True)
class Part:
    """A disc on a body against a surface of another, with the columns of a name.

    Columns are forces on the disc's body `b`.
    """

    name: str
    surface: Any
    a: str  # body of the surface
    centre: Marker  # of the disc
    radius: float
    normal: Any  # law
    friction: Any
    end: tuple[float, float] | None = (
        None  # m, from the middle of a segment to it, of b's frame
    )

    @property
    def b(self) -> str:
        """The disc's body."""
        return self.centre.body


@dataclass(frozen=True, kw_only=True)
class Flat:
    """Outlines that are one contact, with a point and a normal of its own."""

    name: str
    a: str
    b: str
    piece_a: Piece
    piece_b: Piece
    length: float  # m, of face that has the law's stiffness
    normal: Any
    friction: Any

    @property
    def shape_a(self) -> Any:
        """The shape of a."""
        return self.piece_a.shape

    @property
    def shape_b(self) -> Any:
        """The shape of b."""
        return self.piece_b.shape


def shapes_of(scene: Scene, reference: str, side: str) -> dict[str, Piece]:
    """Return the pieces that a contact means by a name, none for a point."""
    body, _, name = reference.partition(".")
    found: Any = scene.bodies.get(body)
    shapes: dict[str, Any] = getattr(found, "shapes", {})
    if name:
        return {name: whole(shapes[name])} if name in shapes else {}
    if side == "a" and (body == "ground" or not hasattr(found, "mass")):
        return {"": whole(Line())}
    return uncovered({k: v for k, v in shapes.items() if not isinstance(v, Line)})


def shape_of(scene: Scene, reference: str) -> tuple[str, Any]:
    """Return body and shape of "body.shape"; None for a point."""
    body, _, name = reference.partition(".")
    found: Any = scene.bodies.get(body)
    if not name:
        is_floor = body == "ground" or not hasattr(found, "mass")
        return body, Line() if is_floor else None
    return body, getattr(found, "shapes", {}).get(name)


def pairs(scene: Scene) -> Iterator[Part | Flat | str]:
    """Yield all contacts; the name alone of one whose geometry is not in columns."""
    for contact in scene.model.contacts:
        if not isinstance(contact.normal, Unilateral):  # see `patches`
            yield from _pairs_of(scene, contact)
    for joint in scene.model.joints:
        if isinstance(joint, Prismatic) and joint.clearance is not None:
            yield from _corners(scene, joint)


def _pairs_of(scene: Scene, contact: Contact) -> Iterator[Part | Flat | str]:
    ours, theirs = (
        shapes_of(scene, getattr(contact, side), side) for side in ("a", "b")
    )
    if len(ours) > 1 or len(theirs) > 1:
        yield from _pieces_of(scene, contact, ours, theirs)
        return
    a, surface = shape_of(scene, contact.a)
    b, other = shape_of(scene, contact.b)
    if ours and theirs:
        (piece_a,), (piece_b,) = ours.values(), theirs.values()
        surface, other = piece_a.shape, piece_b.shape
    laws = {"normal": contact.normal, "friction": contact.friction}
    is_flat = isinstance(surface, Polygon | Line) and isinstance(other, Polygon)
    if is_flat and scene.has(f"{contact.name}.point_x"):
        yield Flat(
            name=contact.name,
            a=a,
            b=b,
            piece_a=whole(surface),
            piece_b=whole(other),
            length=min(_longest([surface]), _longest([other])),
            **laws,
        )
        return
    if isinstance(other, Polygon) and isinstance(surface, Polygon):
        # Which face a corner inside another outline looks at is no column.
        yield contact.name
        return
    discs: list[tuple[Any, str, Marker, float]] = []
    ends: dict[int, tuple[float, float]] = {}
    if other is None:
        discs.append((surface, a, scene.marker(contact.b), 0.0))
    elif isinstance(other, Circle):
        discs.append((surface, a, Marker(b, *other.center), other.radius))
    elif isinstance(surface, Circle):
        discs.append((other, b, Marker(a, *surface.center), surface.radius))
    else:
        for one, two, owner, on in ((other, surface, a, b), (surface, other, b, a)):
            for x, y in outline(one):
                if isinstance(one, Segment):
                    ends[len(discs)] = _way_out(one, (x, y))
                discs.append((two, owner, Marker(on, x, y), 0.0))
    for k, (face, owner, centre, radius) in enumerate(discs):
        name = contact.name if len(discs) == 1 else f"{contact.name}.{k + 1}"
        yield Part(
            name=name,
            surface=face,
            a=owner,
            centre=centre,
            radius=radius,
            end=ends.get(k),
            **laws,
        )


def _way_out(segment: Segment, end: tuple[float, float]) -> tuple[float, float]:
    """Return the way from the middle of a segment to one of its ends."""
    (x0, y0), (x1, y1) = segment.start, segment.end
    return end[0] - 0.5 * (x0 + x1), end[1] - 0.5 * (y0 + y1)


def _pieces_of(
    scene: Scene, contact: Contact, ours: dict[str, Piece], theirs: dict[str, Piece]
) -> Iterator[Flat | str]:
    """Yield a contact of polygons for each piece of a with each of b."""
    sides = [[piece.shape for piece in side.values()] for side in (ours, theirs)]
    length = min(_longest(side) for side in sides)
    if scene.has(f"{contact.name}.point_x") and len(ours) == 1:
        # On a line they are one.
        theirs = {"": joined(theirs.values())}
    for (one, piece_a), (two, piece_b) in product(ours.items(), theirs.items()):
        shown = [contact.name]
        shown += [one] if len(ours) > 1 else []
        shown += [two] if len(theirs) > 1 else []
        name = ".".join(shown)
        is_flat = all(isinstance(p.shape, Polygon) for p in (piece_a, piece_b))
        if not is_flat or not scene.has(f"{name}.point_x"):
            # Other shapes among the pieces, or some that are convex together.
            yield contact.name
            return
        yield Flat(
            name=name,
            a=contact.a.partition(".")[0],
            b=contact.b.partition(".")[0],
            piece_a=piece_a,
            piece_b=piece_b,
            length=length,
            normal=contact.normal,
            friction=contact.friction,
        )


def _longest(shapes: list[Any]) -> float:
    """Return the longest face of some outlines, infinite for a line."""
    found: list[float] = []
    for shape in shapes:
        v = np.asarray(getattr(shape, "vertices", ()), dtype=float).reshape(-1, 2)
        sides = np.hypot(*(np.roll(v, -1, axis=0) - v).T)
        found.append(float(np.max(sides)) if len(v) else np.inf)
    return max(found)


def _corners(scene: Scene, joint: Prismatic) -> Iterator[Part]:
    """Yield the corners of a block in a guide with clearance."""
    assert joint.length is not None
    assert joint.clearance is not None
    a, b = scene.marker(joint.a), scene.marker(joint.b)
    wide = 0.5 * joint.height
    away = wide + 0.5 * joint.clearance
    turn = joint.axis - joint.angle
    for flank, sign in (("lower", -1.0), ("upper", 1.0)):
        line = Line(
            point=(
                a.x - sign * away * np.sin(joint.axis),
                a.y + sign * away * np.cos(joint.axis),
            ),
            angle=joint.axis + (0.0 if sign < 0.0 else np.pi),
        )
        for end, side in (("front", 0.5), ("rear", -0.5)):
            x, y = side * joint.length, sign * wide
            corner = Marker(
                b.body,
                b.x + np.cos(turn) * x - np.sin(turn) * y,
                b.y + np.sin(turn) * x + np.cos(turn) * y,
            )
            yield Part(
                name=f"{joint.name}.{end}_{flank}",
                surface=line,
                a=a.body,
                centre=corner,
                radius=0.0,
                normal=joint.normal,
                friction=joint.friction,
            )


def nearest(scene: Scene, part: Part) -> tuple[Array, Array, Array]:
    """Return gap and unit normal, from the surface to the disc, at each instant."""
    p = scene.place(part.centre)
    surface, a = part.surface, part.a
    if isinstance(surface, Line):
        foot = scene.place(Marker(a, *surface.point))
        phi = scene.motion(a, "theta") + surface.angle
        nx, ny = -np.sin(phi), np.cos(phi)
        gap = nx * (p[0] - foot[0]) + ny * (p[1] - foot[1])
    elif isinstance(surface, Circle):
        middle = scene.place(Marker(a, *surface.center))
        dx, dy = p[0] - middle[0], p[1] - middle[1]
        distance = np.hypot(dx, dy)
        nx, ny, gap = dx / distance, dy / distance, distance - surface.radius
    else:
        corners = [scene.place(Marker(a, *v)) for v in outline(surface)]
        is_open = isinstance(surface, Segment)
        way = scene.turned(part.b, *part.end) if part.end and not is_open else None
        gap, nx, ny = from_outline(p, corners, is_open=is_open, way=way)
        if is_open:
            # From which side it is touched follows from the past, which columns tell.
            side = np.where(_is_seen_from_behind(scene, part, gap), -1.0, 1.0)
            gap, nx, ny = side * gap, side * nx, side * ny
    return gap - part.radius, nx, ny


def _is_seen_from_behind(scene: Scene, part: Part, gap: Array) -> Any:
    """Return when a segment is seen from behind: where its gap is nearer to that."""
    shown = scene[f"{part.name}.gap"] + part.radius
    return np.abs(shown + gap) < np.abs(shown - gap)


def _highest(
    p: Vector, corners: list[Vector], is_open: bool, way: Vector | None
) -> tuple[Array, Array, Array, Any]:
    """Return height over the face it is highest above, its normal, and if beside it.

    Over those alone that do not look a given way.
    """
    side = 1.0 if is_open else -1.0
    n = len(corners)
    face = np.full_like(p[0], -np.inf)
    face_x, face_y = np.zeros_like(face), np.zeros_like(face)
    beside = np.zeros(face.shape, dtype=bool)  # before the middle of the face chosen
    for k in range(1 if is_open else n):
        (x0, y0), (x1, y1) = corners[k], corners[(k + 1) % n]
        ex, ey = x1 - x0, y1 - y0
        length = np.hypot(ex, ey)
        nx, ny = -side * ey / length, side * ex / length
        height = nx * (p[0] - x0) + ny * (p[1] - y0)
        if way is not None:
            looks = nx * way[0] + ny * way[1] >= ITS_WAY * np.hypot(*way)
            height = np.where(looks, -np.inf, height)
        along = (ex * (p[0] - x0) + ey * (p[1] - y0)) / length
        better = height > face
        face = np.where(better, height, face)
        face_x, face_y = np.where(better, nx, face_x), np.where(better, ny, face_y)
        beside = np.where(better, (along >= 0.0) & (along <= length), beside)
    return face, face_x, face_y, beside


def from_outline(
    p: Vector,
    corners: list[Vector],
    *,
    is_open: bool = False,
    way: Vector | None = None,
) -> tuple[Array, Array, Array]:
    """Return signed distance and normal of points before a polygon, or a segment.

    A segment has its body on the right of its direction, a polygon on the left of its
    edges. The end of a segment leaves a polygon through no edge that looks its way.
    """
    face, face_x, face_y, beside = _highest(p, corners, is_open, None)
    if way is not None:
        others = _highest(p, corners, is_open, way)
        # Or on its boundary.
        is_in = face <= 1e-9 * np.hypot(*way)
        face = np.where(is_in, others[0], face)
        face_x = np.where(is_in, others[1], face_x)
        face_y = np.where(is_in, others[2], face_y)
    far = np.full_like(p[0], np.inf)
    far_x, far_y = np.zeros_like(far), np.zeros_like(far)
    for x, y in corners:
        distance = np.hypot(p[0] - x, p[1] - y)
        better = distance < far
        far = np.where(better, distance, far)
        with np.errstate(divide="ignore", invalid="ignore"):
            far_x = np.where(better, (p[0] - x) / distance, far_x)
            far_y = np.where(better, (p[1] - y) / distance, far_y)
    # Inside a polygon, or before the middle of an edge, the face counts.
    use = beside if is_open else beside | (face <= 0.0)
    return (
        np.where(use, face, far),
        np.where(use, face_x, far_x),
        np.where(use, face_y, far_y),
    )


# -- outlines against outlines ---------------------------------------------------------


def outline_gap(scene: Scene, flat: Flat) -> tuple[Array, Array]:
    """Return the distance of two outlines, negative depth if closed, and its scale.

    Closed, it is minus the greatest depth as the guard has it: over both bodies, the
    face from which the deepest corner of the other is least deep.
    """
    b = [scene.place(Marker(flat.b, *v)) for v in flat.shape_b.vertices]
    if isinstance(flat.shape_a, Line):
        foot = scene.place(Marker(flat.a, *flat.shape_a.point))
        phi = scene.motion(flat.a, "theta") + flat.shape_a.angle
        heights = [
            -np.sin(phi) * (x - foot[0]) + np.cos(phi) * (y - foot[1]) for x, y in b
        ]
        gap = np.minimum.reduce(heights)
        return gap, gap
    a = [scene.place(Marker(flat.a, *v)) for v in flat.shape_a.vertices]
    apart = np.maximum(_least_over_faces(a, b), _least_over_faces(b, a))
    distance = np.minimum(_corner_distance(a, b), _corner_distance(b, a))
    return np.where(apart > 0.0, distance, apart), apart


def _least_over_faces(faces: list[Vector], corners: list[Vector]) -> Array:
    """Return the largest over faces of the least height of the other's corners."""
    found: list[Array] = []
    for k, (x0, y0) in enumerate(faces):
        x1, y1 = faces[(k + 1) % len(faces)]
        length = np.hypot(x1 - x0, y1 - y0)
        nx, ny = (y1 - y0) / length, -(x1 - x0) / length
        heights = [nx * (x - x0) + ny * (y - y0) for x, y in corners]
        found.append(np.minimum.reduce(heights))
    return np.maximum.reduce(found)


def _corner_distance(faces: list[Vector], corners: list[Vector]) -> Array:
    """Return the least distance of corners from an outline they are outside of."""
    return np.minimum.reduce([from_outline(p, faces)[0] for p in corners])


def is_corner_on_corner(scene: Scene, flat: Flat | Contact) -> Array:
    """Tell where each of two overlapping outlines has one corner in the other."""
    if isinstance(flat, Contact):
        (body_a, a), (body_b, b) = (shape_of(scene, r) for r in (flat.a, flat.b))
    else:
        body_a, a, body_b, b = flat.a, flat.shape_a, flat.b, flat.shape_b
    if not (isinstance(a, Polygon) and isinstance(b, Polygon)):
        return np.zeros(scene.t.shape, dtype=bool)
    placed = [
        [scene.place(Marker(body, *v)) for v in shape.vertices]
        for body, shape in ((body_a, a), (body_b, b))
    ]
    inside = [
        np.array([from_outline(p, ours)[0] < 0.0 for p in theirs])
        for ours, theirs in (placed, placed[::-1])
    ]
    is_one = (inside[0].sum(axis=0) == 1) & (inside[1].sum(axis=0) == 1)
    # Those of boxes that lie flat on each other, one aside, are far apart.
    where = [
        np.array(
            [np.where(mask, p, 0.0).sum(axis=0) for p in np.swapaxes(np.array(c), 0, 1)]
        )
        for mask, c in zip(inside, placed[::-1], strict=True)
    ]
    apart = np.hypot(*(where[0] - where[1]))
    return is_one & (apart < NEAR_CORNERS * scene.size)
