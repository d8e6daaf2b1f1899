"""Contacts as rows: discs against surfaces, and the sliding contacts inside joints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.bodies import Point
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.friction import Coulomb, FrictionLaw
from nonsmooth.elements.joints import Joint, PinInSlot, Prismatic, Revolute
from nonsmooth.elements.normal import NormalLaw, Unilateral
from nonsmooth.elements.shapes import Line, Shape
from nonsmooth.kernels.mechanics.tables import (
    BACKWARD,
    FACES,
    FLANK,
    FLAT,
    FORCE,
    FORWARD,
    GAP,
    GROUP,
    GUIDE,
    MARGIN,
    NONE,
    PATCH,
    PIN,
    SET_VALUED,
    SLOT,
    SMOOTH,
    TOUCH,
    USER,
)
from nonsmooth.model import Model
from nonsmooth.pack.blocks import pack_block
from nonsmooth.pack.outlines import (
    Outline,
    Pair,
    full_face,
    together,
)
from nonsmooth.pack.packer import Packer
from nonsmooth.pack.patches import N_HISTORY, pack_patch, scratch
from nonsmooth.pack.pieces import Pieces, pieces
from nonsmooth.pack.spots import deepest, first_faces, reach
from nonsmooth.pack.system import Spot

# Surface, its body, marker and radius of the disc, its arm, whether a, b are swapped.
Elementary = tuple[Shape, str, int, float, Point | None, bool]

# Guards of what presses.
_PRESSING = {
    TOUCH: [GAP, FORCE],
    FLAT: [GAP, FORCE],
    PATCH: [GAP, FORCE],
    SLOT: [FLANK],
    GUIDE: [FLANK, FLANK],
    PIN: [],
    FACES: [],
}


@dataclass(frozen=True, kw_only=True)
class ContactRow:
    """One row of the contact tables."""

    name: str
    a: int  # marker
    b: int  # marker
    kind: int = TOUCH
    shape: int = -1
    shape_par: int = 0
    radius: float = 0.0
    deepest: float = math.inf
    n_scratch: int = 0
    patches: tuple[int, int] = (-1, -1)  # parameters of those on b and on a
    faces: int = -1  # parameters of an elastic block
    n_node: int = 0
    n_node_mark: int = 0
    n_history: int = 0  # numbers that a rough patch remembers
    top: float = 0.0  # rad/s, highest frequency of the bodies of such a patch
    normal: int = -1
    normal_par: int = 0
    normal_work: int = -1
    work: int
    joint: int = -1
    length: float = 0.0
    height: float = 0.0
    law: int = NONE
    friction: int = -1
    friction_par: int = 0
    rate: int = -1
    mu0: float = 0.0
    band: float = 0.0
    has_drag: bool = False
    state_scale: float = 1.0
    spot: Spot | None = None

    @property
    def is_touch(self) -> bool:
        """Whether it is between shapes, not inside a joint."""
        return self.kind in (TOUCH, FLAT, PATCH)

    @property
    def can_stick(self) -> bool:
        """Whether its law knows stick."""
        return self.law == SET_VALUED

    @property
    def has_state(self) -> bool:
        """Whether its law has an internal state."""
        return self.rate >= 0


def contact_columns(contacts: list[ContactRow]) -> dict[str, Any]:
    """Return the columns of the contact tables that need no more than the rows."""
    integers = "a b kind shape shape_par normal normal_par normal_work work law"
    integers += " friction friction_par rate has_drag"
    columns: dict[str, Any] = {
        f"contact_{name}": np.array([getattr(c, name) for c in contacts], np.int64)
        for name in integers.split()
    }
    columns |= {
        f"contact_{name}": np.array([getattr(c, name) for c in contacts], float)
        for name in ["radius", "deepest", "length", "height", "mu0", "band"]
    }
    is_seen = [c.kind in (TOUCH, FLAT) for c in contacts]
    spots = [c.spot if s else None for c, s in zip(contacts, is_seen, strict=True)]
    columns["contact_reach"] = np.array([reach(spot) for spot in spots], float)
    faces = first_faces(spots)
    columns["contact_face"] = faces
    columns["has_backs"] = int(np.any(faces >= 0))
    is_flat = np.array([c.kind == FLAT for c in contacts], dtype=bool)
    flat = np.where(is_flat, np.cumsum(is_flat) - 1, -1)
    columns["contact_flat"] = flat.astype(np.int64)
    columns["contact_piece"] = _runs(contacts)
    columns |= _nodes(contacts)
    is_block = np.array([c.kind in (GUIDE, FACES) for c in contacts], dtype=bool)
    area = np.where(is_block, np.cumsum(is_block) - 1, -1)
    columns["contact_area"] = area.astype(np.int64)
    has_state = np.array([c.has_state for c in contacts], dtype=bool)
    state = np.cumsum(has_state) - 1
    columns["contact_state"] = np.where(has_state, state, -1).astype(np.int64)
    columns["state_scale"] = np.array(
        [c.state_scale for c in contacts if c.has_state], float
    )
    return columns


def _runs(contacts: list[ContactRow]) -> NDArray[np.int64]:
    """Return first and end of the pairs of outlines that are one element's.

    Of those that stick; without friction each is by itself, and keeps its energy.
    """
    found = np.zeros((len(contacts), 2), dtype=np.int64)
    whose = [
        c.spot.element if c.spot and c.kind == FLAT and c.can_stick else None
        for c in contacts
    ]
    first = 0
    for k, own in enumerate(whose):
        first = first if k and own is not None and own == whose[k - 1] else k
        found[first : k + 1] = first, k + 1
    return found


def _nodes(contacts: list[ContactRow]) -> dict[str, NDArray[np.int64]]:
    """Return where the numbers of patches and blocks stand, and their scratch."""
    patches = np.full((len(contacts), 5), -1, dtype=np.int64)
    faces = np.full((len(contacts), 3), -1, dtype=np.int64)
    n_node, n_mark, n_history = 0, 0, 0
    for k, contact in enumerate(contacts):
        if contact.kind == PATCH:
            first = n_history if contact.n_history else -1
            patches[k] = (*contact.patches, n_node, n_mark, first)
            n_history += contact.n_history
        elif contact.kind == FACES:
            faces[k] = (contact.faces, n_node, n_mark)
        n_node += contact.n_node
        n_mark += contact.n_node_mark
    return {"contact_patch": patches, "contact_faces": faces}


def guard_columns(
    n_user: int, contacts: list[ContactRow], group: NDArray[np.int64]
) -> dict[str, Any]:
    """Return the table of guards; the kinds are described in `march.guards`.

    First the user's, then what presses and what rubs of each contact between shapes;
    groups of contacts and joints; then the same of joints with friction, and the margin
    of their uniqueness.
    """
    kinds, owners = [USER] * n_user, list(range(n_user))
    press, rub = [-1] * len(contacts), [-1] * len(contacts)
    of_group = np.full(int(group.max(initial=-1)) + 1, -1)
    n_touch, n_heard = sum(contact.is_touch for contact in contacts), 0
    for k in range(len(contacts) + 1):
        if k == n_touch:
            for first in _redundant(contacts, group):
                of_group[group[first]] = len(kinds)
                kinds.append(GROUP)
                owners.append(first)
            n_heard = len(kinds)
        if k == len(contacts):
            break
        contact = contacts[k]
        pressing = _PRESSING[contact.kind]
        rubbing = [FORWARD, BACKWARD] if contact.can_stick else []
        for first, new in ((press, pressing), (rub, rubbing)):
            if new:
                first[k] = len(kinds)
                kinds += new
                owners += [k] * len(new)
    if n_touch < len(contacts):
        kinds.append(MARGIN)
        owners.append(-1)
    return {
        "n_user": n_user,
        "n_heard": n_heard,
        "n_watch": len(kinds),
        "contact_press": np.array(press, np.int64),
        "contact_rub": np.array(rub, np.int64),
        "watch_kind": np.array(kinds, np.int64),
        "watch_owner": np.array(owners, np.int64),
        "group_guard": of_group,
    }


def _redundant(contacts: list[ContactRow], group: NDArray[np.int64]) -> Iterator[int]:
    """Yield the first contact of each group whose friction at rest may be redundant."""
    for g in np.unique(group).tolist():
        own = [int(k) for k in np.flatnonzero(group == g)]
        can_stick = [k for k in own if contacts[k].can_stick]
        if len(can_stick) > 1:
            yield can_stick[0]


def _friction(packer: Packer, law: FrictionLaw | None) -> dict[str, Any]:
    """Return the columns of a friction law, {} for none."""
    if law is None:
        return {}
    kind = type(law)
    limit: Any = getattr(kind, "limit", None)
    force: Any = getattr(kind, "force", None)
    has_drag = law.has_drag()
    columns: dict[str, Any] = {
        "friction_par": packer.pool(law),
        "mu0": law.static,
        "band": law.band,
    }
    if law.is_set_valued():
        if law.static == 0.0 and limit(law.parameters(), 1.0, 1.0) == 0.0:
            return {}
        columns |= {
            "law": SET_VALUED,
            "friction": packer.function("limit", law, limit),
            "has_drag": has_drag,
        }
        return columns
    columns |= {
        "law": SMOOTH,
        "friction": packer.function("smooth", law, force),
        "has_drag": has_drag,
    }
    if law.has_state():
        columns["rate"] = packer.function("rate", law, getattr(kind, "rate"))  # noqa: B009
        columns["state_scale"] = law.state_scale
    return columns


def pack_contacts(model: Model, packer: Packer) -> list[ContactRow]:
    """Take contacts, and guides with clearance, apart into discs against surfaces.

    But for outlines, which are one contact.
    """
    rows: list[ContactRow] = []

    def add(
        element: Contact | Prismatic,
        name: str,
        normal: NormalLaw,
        pair: Elementary,
    ) -> None:
        surface, body_a, marker_b, radius, arm, is_swapped = pair
        friction = _friction(packer, element.friction)
        body, x, y = packer.marker_rows[marker_b]
        normal_work = packer.ledger(f"{name}.normal")
        rows.append(
            ContactRow(
                name=name,
                a=packer.marker(body_a),
                b=marker_b,
                shape=packer.kind("shape", surface),
                shape_par=packer.append(surface.pair_parameters(arm)),
                radius=radius,
                deepest=deepest(surface, radius),
                normal=packer.kind("normal", normal),
                normal_par=packer.pool(normal),
                normal_work=normal_work,
                work=packer.ledger(f"{name}.friction"),
                spot=Spot(
                    name=name,
                    element=element.name,
                    owner=body_a,
                    surface=surface,
                    body=packer.bodies[body].name,
                    centre=(x, y),
                    radius=radius,
                    has_friction=friction.get("law", NONE) == SET_VALUED,
                    is_swapped=is_swapped,
                ),
                **friction,
            )
        )

    for contact in model.contacts:
        if isinstance(contact.normal, Unilateral):
            rows.append(_pressed(packer, contact, contact.normal))
            continue
        for one in _touching(packer, contact):
            if row := _flat(packer, contact, one):
                rows.append(row)
                continue
            pairs = list(_elementary(packer, contact, one))
            for k, pair in enumerate(pairs):
                name = one.name if len(pairs) == 1 else f"{one.name}.{k + 1}"
                add(contact, name, contact.normal, pair)
    for joint in model.joints:
        if isinstance(joint, Prismatic) and joint.normal is not None:
            for corner, pair in _corners(packer, joint):
                add(joint, f"{joint.name}.{corner}", joint.normal, pair)
    return rows


@dataclass(frozen=True, kw_only=True)
class Touching:
    """A piece of one body that may touch a piece of another, or a point."""

    name: str  # of the contact, and of the pieces of a body that has several
    body_a: str
    body_b: str
    a: Shape | Outline
    b: Shape | Outline | None
    length: float  # m, of face that has the law's stiffness
    has_mates: bool


def _touching(packer: Packer, contact: Contact) -> Iterator[Touching]:
    """Yield every piece of a with every piece of b."""
    sides: list[Pieces] = []
    names: list[str] = []
    for side, reference in (("a", contact.a), ("b", contact.b)):
        body, _, part = reference.partition(".")
        names.append(body)
        shapes = packer.bodies[packer.index[body]].pieces(part, side)
        try:
            sides.append(pieces(shapes))
        except ValueError as error:
            remedy = "give pieces that touch without overlapping, or name a shape"
            raise contact.fail(side, reference, f"{error}; {remedy}") from None
    outlines = [[p for p in side.values() if isinstance(p, Outline)] for side in sides]
    length = full_face(*outlines)
    others: Mapping[str, Shape | Outline | None] = sides[1] or {"": None}
    is_line = len(outlines[0]) == 1 and not outlines[0][0].vertices
    if is_line and 1 < len(outlines[1]) == len(others):
        # On one line they have one friction force.
        others = {"": together(outlines[1])}
    for (part_a, a), (part_b, b) in product(sides[0].items(), others.items()):
        shown = [contact.name]
        shown += [part_a] if len(sides[0]) > 1 else []
        shown += [part_b] if len(others) > 1 else []
        yield Touching(
            name=".".join(shown),
            body_a=names[0],
            body_b=names[1],
            a=a,
            b=b,
            length=length,
            has_mates=len(sides[0]) * len(others) > 1,
        )


def _flat(packer: Packer, contact: Contact, one: Touching) -> ContactRow | None:
    """Return the row of two outlines, None where shapes touch in points."""
    if not isinstance(one.a, Outline) or not isinstance(one.b, Outline):
        return None
    body_a, body_b, name = one.body_a, one.body_b, one.name
    pair = Pair(
        a=one.a,
        b=one.b,
        normal=contact.normal,
        length=one.length,
        has_mates=one.has_mates,
    )
    for body, own in ((body_a, pair.a), (body_b, pair.b)):
        packer.reach += [(packer.index[body], *place) for place in own.vertices]
    friction = _friction(packer, contact.friction)
    normal_work = packer.ledger(f"{name}.normal")
    return ContactRow(
        name=name,
        a=packer.marker(body_a),
        b=packer.marker(body_b),
        kind=FLAT,
        shape_par=packer.append(pair.parameters()),
        deepest=pair.deepest,
        n_scratch=pair.n_scratch,
        normal=packer.kind("normal", contact.normal),
        normal_par=packer.pool(contact.normal),
        normal_work=normal_work,
        work=packer.ledger(f"{name}.friction"),
        spot=Spot(
            name=name,
            element=contact.name,
            owner=body_a,
            surface=one.a.shape,
            body=body_b,
            centre=(0.0, 0.0),
            radius=0.0,
            has_friction=friction.get("law", NONE) == SET_VALUED,
            is_flat=True,
            reach=max(math.hypot(*place) for place in pair.b.vertices),
        ),
        **friction,
    )


def _pressed(packer: Packer, contact: Contact, law: Unilateral) -> ContactRow:
    """Return the row of a patch against a surface, or another patch."""
    body_a, _, part_a = contact.a.partition(".")
    name, body_b = contact.name, contact.b.partition(".")[0]
    nodes = pack_patch(packer, contact.b, law.penalty)
    surfaces = packer.bodies[packer.index[body_a]].pieces(part_a, "a")
    surface = next(iter(surfaces.values()), None)
    where: dict[str, Any] = {}
    if surface is None:
        other = pack_patch(packer, contact.a, None)
        where = {"a": packer.marker(contact.a), "patches": (nodes.par, other.par)}
    else:
        other = None
        where = {
            "a": packer.marker(body_a),
            "patches": (nodes.par, -1),
            "shape": packer.kind("shape", surface),
            "shape_par": packer.append(surface.pair_parameters(None)),
        }
    rough: dict[str, Any] = {}
    if isinstance(contact.friction, Coulomb):
        ends = [contact.b] if other is None else [contact.b, contact.a]
        stiff = [packer.flexible[end.partition(".")[0]] for end in ends]
        rough = {
            "friction_par": packer.append([contact.friction.mu]),
            "mu0": contact.friction.static,
            "n_history": N_HISTORY * nodes.n,
            "top": max(math.sqrt(f.reduced.stiffness.max(initial=0.0)) for f in stiff),
        }
    n_node, n_mark = scratch(nodes, other, is_rough=bool(rough))
    return ContactRow(
        name=name,
        b=packer.marker(contact.b),
        kind=PATCH,
        n_node=n_node,
        n_node_mark=n_mark,
        work=packer.ledger(f"{name}.friction"),
        spot=Spot(
            name=name,
            element=name,
            owner=body_a,
            surface=surface,
            body=body_b,
            centre=(0.0, 0.0),
            radius=0.0,
            has_friction=False,
            is_flat=True,
        ),
        **where,
        **rough,
    )


def _corners(packer: Packer, joint: Prismatic) -> Iterator[tuple[str, Elementary]]:
    """Yield name and contact of each corner of a block in a guide with clearance."""
    assert joint.length is not None  # the joint was checked
    assert joint.clearance is not None
    body_a, x_a, y_a = packer.marker_rows[packer.marker(joint.a)]
    body_b, x_b, y_b = packer.marker_rows[packer.marker(joint.b)]
    half, wide = 0.5 * joint.length, 0.5 * joint.height
    gap = wide + 0.5 * joint.clearance
    turn = joint.axis - joint.angle  # of the guide in b's frame
    c, s = math.cos(turn), math.sin(turn)
    nx, ny = -math.sin(joint.axis), math.cos(joint.axis)
    for flank, sign in (("lower", -1.0), ("upper", 1.0)):
        surface = Line(
            point=(x_a + sign * gap * nx, y_a + sign * gap * ny),
            angle=joint.axis if sign < 0.0 else joint.axis + math.pi,
        )
        for end, side in (("front", 1.0), ("rear", -1.0)):
            x, y = side * half, sign * wide
            corner = (x_b + c * x - s * y, y_b + s * x + c * y)
            disc = packer.place(packer.bodies[body_b].name, corner)
            owner = packer.bodies[body_a].name
            yield f"{end}_{flank}", (surface, owner, disc, 0.0, None, False)


def pack_slides(joints: list[Joint], packer: Packer) -> list[ContactRow]:
    """Return the sliding contacts inside joints with friction."""
    rows: list[ContactRow] = []
    for k, joint in enumerate(joints):
        if not isinstance(joint, Revolute | PinInSlot | Prismatic):
            continue
        friction = _friction(packer, joint.friction)
        if not friction:
            continue
        place: dict[str, Any] = {"kind": PIN, "radius": getattr(joint, "radius", None)}
        if not isinstance(joint, Revolute):
            guide = Line(angle=joint.axis)
            place = {
                "kind": SLOT,
                "shape": packer.kind("shape", guide),
                "shape_par": packer.append(guide.pair_parameters(None)),
            }
        if isinstance(joint, Prismatic):
            place |= {"kind": GUIDE, "length": joint.length, "height": joint.height}
            if joint.block is not None:
                place |= pack_block(packer, joint)
        rows.append(
            ContactRow(
                name=joint.name,
                a=packer.marker(joint.a),
                b=packer.marker(joint.b),
                work=packer.ledger(f"{joint.name}.friction"),
                joint=k,
                **place,
                **friction,
            )
        )
    return rows


def _elementary(
    packer: Packer, contact: Contact, one: Touching
) -> Iterator[Elementary]:
    """Yield (surface, its body, marker and radius of the disc, its arm, is_swapped).

    The arm leads from a corner of an outline to its middle; with the surface on b
    instead of a the pair is swapped.
    """
    body_a, body_b = one.body_a, one.body_b
    surface, other = (s.shape if isinstance(s, Outline) else s for s in (one.a, one.b))
    assert surface is not None  # b alone may be a point
    if other is None:
        yield surface, body_a, packer.marker(contact.b), 0.0, None, False
        return
    corners, radius = other.corners(), other.radius_of_corners()
    if len(corners) > 1 and surface.radius_of_corners() > 0.0:
        # A disc touches an outline's corners as well as its edges.
        for corner in surface.corners():
            disc = packer.place(body_a, corner)
            yield other, body_b, disc, surface.radius_of_corners(), None, True
        return
    for corner in corners:
        arm = _arm(corner, corners)
        yield surface, body_a, packer.place(body_b, corner), radius, arm, False
    if len(corners) > 1:
        # An outline is also touched on its edges by the corners of the other.
        for corner in surface.corners():
            arm = _arm(corner, surface.corners())
            yield other, body_b, packer.place(body_a, corner), 0.0, arm, True


def _arm(corner: Point, corners: tuple[Point, ...]) -> Point | None:
    """Return the way from a corner to the middle of its outline, None for a disc."""
    if len(corners) == 1:
        return None
    x, y = (sum(values) / len(corners) for values in zip(*corners, strict=True))
    return (x - corner[0], y - corner[1])
