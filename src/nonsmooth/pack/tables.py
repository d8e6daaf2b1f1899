"""From a model to its tables, family by family."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.elements.bodies import MovingSupport, Tail
from nonsmooth.elements.flexible import Reduced
from nonsmooth.elements.joints import Joint, Prismatic
from nonsmooth.errors import ModelError, show
from nonsmooth.kernels.mechanics.tables import (
    FACES,
    FLAT,
    FOR_ALL,
    FOR_PATCHES,
    FOR_RESULTS,
    GUIDE,
    PATCH,
    Tables,
)
from nonsmooth.model import Model
from nonsmooth.pack import order
from nonsmooth.pack.contacts import (
    ContactRow,
    contact_columns,
    guard_columns,
    pack_contacts,
    pack_slides,
)
from nonsmooth.pack.magnitudes import check_magnitudes
from nonsmooth.pack.packer import Packer
from nonsmooth.pack.sliders import with_blocks
from nonsmooth.pack.system import DROPPED, System

Columns = dict[str, Any]
Integers = NDArray[np.int64]
_DIRECTION = {"both": 0, "rising": 1, "falling": -1}
# Rows that depend on others and are kept apart, at most: beyond, a dense problem of
# their number would cost more than all else.
MAX_TIED = 24
# Kinds of row functions of a body with a tail.
_TAIL = ("weigh", "inner", "place")


def pack(
    model: Model,
    reduced: Mapping[str, Reduced] | None = None,
    size: float | None = None,
) -> System:
    """Write a model's tables.

    Parameters
    ----------
    model : Model
    reduced : mapping, optional
        Flexible bodies that are reduced already, by name, as in a saved run.
    size : float, optional
        Extent of the model that this is a part of, m.
    """
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelError(f"model = {show(model)}; give a Model or a System")
    check_magnitudes(model)
    model = with_blocks(model)
    packer = Packer(model, reduced or {})
    held = [joint for joint in model.joints if not _is_loose(joint)]
    joint = _joints(packer, [*held, *model.drives])
    force = _forces(packer, model)
    support = _supports(packer)
    contacts = pack_contacts(model, packer)
    n_touch = len(contacts)
    contacts += pack_slides(held, packer)
    event = _events(packer, model)
    size = size or _size(packer)
    body = _bodies(packer, model, size)
    marker = _markers(packer, body["body_n"])
    marker["marker_use"] = _uses(packer, body, marker, joint, force, event, contacts)
    n_user = len(model.events)
    contacts, contact, rows = _rows(
        packer, joint, contacts, n_touch, n_user, body, marker
    )
    start = body.pop("start")
    fall = float(np.hypot(*model.gravity))
    total = float(np.sum(body["mass"][body["body_dof"][: len(packer.moving)]]))
    n_dof, n_state = len(body["mass"]), len(contact["state_scale"])
    n_history = sum(c.n_history for c in contacts)
    top = max((c.top for c in contacts), default=0.0)
    tables = Tables(
        n_body=len(packer.bodies),
        n_moving=len(packer.moving),
        n_support=len(packer.supports),
        n_dof=n_dof,
        n_tail=len(body["tail_body"]),
        n_width=int(body["body_n"].max(initial=0)),
        n_marker=len(packer.marker_rows),
        n_law=len(packer.laws),
        n_joint=len(joint["joint_kind"]),
        n_force=len(force["force_kind"]),
        n_touch=n_touch,
        n_flat=sum(c.kind == FLAT for c in contacts),
        n_outline=max((c.n_scratch for c in contacts), default=0),
        n_patch=sum(c.kind == PATCH for c in contacts),
        n_area=sum(c.kind in (FACES, GUIDE) for c in contacts),
        n_node=sum(c.n_node for c in contacts),
        n_node_mark=sum(c.n_node_mark for c in contacts),
        n_contact=len(contacts),
        n_state=n_state,
        n_work=len(packer.works),
        n_history=n_history,
        n_y=2 * n_dof + n_state + len(packer.works) + n_history,
        rough_step=0.5 * math.pi / top if top else math.inf,
        n_par=len(packer.par),
        n_kind=len(packer.functions),
        par=np.array(packer.par, dtype=float),
        address=np.array(packer.functions, dtype=np.int64),
        weight_of_all=total * fall,
        moment=total * size,
        energy=0.5 * total * size**2,
        **_columns("law", "kind par", packer.laws),
        **body,
        **marker,
        **joint,
        **force,
        **support,
        **contact,
        **rows,
        **event,
    )
    return System(
        model=model,
        tables=tables,
        bodies=tuple(b.name for b in packer.bodies),
        n_moving=len(packer.moving),
        joints=tuple(j.name for j in (*held, *model.drives)),
        forces=tuple(f.name for f in model.forces),
        supports=tuple(b.name for b in packer.supports),
        events=tuple(e.name for e in model.events),
        contacts=tuple(c.name for c in contacts[:n_touch]),
        slides=tuple(c.name for c in contacts[n_touch:]),
        spots=tuple(c.spot for c in contacts if c.spot is not None),
        works=tuple(packer.works),
        markers=packer.markers,
        start=start,
        flexible={name: own.reduced for name, own in packer.flexible.items()},
        size=size,
        breaks=tuple(sorted(packer.breaks)),
        texts=tuple(packer.texts),
        span=packer.span,
        law_owners=tuple(packer.law_owners),
        law_is_smooth=tuple(packer.law_is_smooth),
    )


def _is_loose(joint: Joint) -> bool:
    return isinstance(joint, Prismatic) and joint.is_loose


def _columns(prefix: str, names: str, rows: list[tuple[Any, ...]]) -> Columns:
    """Return one integer column for each name, {prefix_name: column}."""
    fields = names.split()
    table = np.array(rows, dtype=np.int64).reshape(len(rows), len(fields))
    return {f"{prefix}_{name}": table[:, k] for k, name in enumerate(fields)}


# ---- one family each -----------------------------------------------------------


def _joints(packer: Packer, joints: list[Any]) -> Columns:
    rows: list[tuple[int, ...]] = []
    for joint in joints:
        first_law = packer.own_laws(joint)
        rows.append(
            (
                packer.kind("joint", joint),
                packer.marker(joint.a),
                packer.marker(joint.b),
                packer.pool(joint),
                first_law,
                joint.n_row,
                packer.ledger(joint.name) if joint.family == "drive" else -1,
            )
        )
    return _columns("joint", "kind a b par law n_row work", rows)


def _forces(packer: Packer, model: Model) -> Columns:
    rows: list[tuple[int, ...]] = []
    for force in model.forces:
        first_law = packer.own_laws(force)
        rows.append(
            (
                packer.kind("force", force),
                packer.marker(force.a),
                packer.marker(force.b),
                packer.pool(force),
                first_law,
                int(force.has_potential),
                packer.ledger(force.name),
            )
        )
    return _columns("force", "kind a b par law has_potential work", rows)


def _supports(packer: Packer) -> Columns:
    rows: list[tuple[int, int]] = []
    for support in packer.supports:
        if isinstance(support, MovingSupport):
            first_law = packer.own_laws(support)
            rows.append((first_law, packer.ledger(support.name)))
        else:
            rows.append((-1, -1))
    return _columns("support", "law work", rows)


def _events(packer: Packer, model: Model) -> Columns:
    rows = [
        (
            packer.kind("guard", event),
            packer.marker(event.a),
            packer.marker(event.b),
            packer.pool(event),
            _DIRECTION[event.direction],
            int(event.action == "stop"),
        )
        for event in model.events
    ]
    return _columns("guard", "kind a b par direction is_stop", rows)


def _bodies(packer: Packer, model: Model, size: float) -> Columns:
    """Return coordinates, masses and tails of all bodies."""
    n_moving, n_support = len(packer.moving), len(packer.supports)
    mass: list[float] = []
    held: list[bool] = []
    weight: list[float] = []
    start: list[tuple[float, float]] = []  # of each coordinate: value, rate
    scale: list[float] = []
    dof: list[int] = []
    width: list[int] = []
    tails: list[tuple[int, ...]] = []
    of_body = [-1] * len(packer.bodies)
    for k, body in enumerate(packer.moving):
        own = _inertia(packer, body, model.gravity, size)
        tail = own.tail
        dof.append(len(mass))
        mass += [own.mass, own.mass, own.inertia, *tail.masses]
        held += [own.is_held] * 3 + [False] * tail.n
        weight += own.weight
        scale += [size, size, 1.0, *tail.scales]
        angle, spin = (getattr(body, n, 0.0) for n in ("angle", "angular_velocity"))
        places = (*own.position, angle, *tail.values)
        start += zip(places, (*body.velocity, spin, *tail.rates), strict=True)
        width.append(3 + tail.n)
        if tail.n:
            of_body[k] = len(tails)
            kinds = (packer.function(n, body, getattr(body, n)) for n in _TAIL)
            work = packer.ledger(f"{body.name}.{body.inner_work}")
            if getattr(body, "flight_modes", "all") != "all":
                packer.ledger(f"{body.name}.{DROPPED}")
            tails.append((k, packer.append(own.parameters), work, *kinds))
    masses = np.array(mass)
    can_move = (masses > 0.0) & ~np.array(held)
    tail = np.array(tails, dtype=np.int64).reshape(-1, 6)
    return {
        "start": np.array(start),
        "mass": masses,
        "minv": np.divide(1.0, masses, out=np.zeros_like(masses), where=can_move),
        "weight": np.array(weight),
        "scale": np.array(scale),
        "body_dof": np.array([*dof, *[-1] * n_support], np.int64),
        "body_n": np.array([*width, *[0] * n_support], np.int64),
        "dof_body": np.repeat(np.arange(n_moving), width),
        "body_support": np.array([*[-1] * n_moving, *range(n_support)], np.int64),
        "body_tail": np.array(of_body, np.int64),
        "tail_body": tail[:, 0],
        "tail_par": tail[:, 1],
        "tail_work": tail[:, 2],
        "tail_kind": tail[:, 3:],
    }


@dataclass(frozen=True, kw_only=True)
class _Inertia:
    """What resists: masses, weight, and the coordinates behind those of the frame."""

    mass: float
    inertia: float
    is_held: bool  # its frame is at rest
    position: tuple[float, float]
    weight: list[float]
    tail: Tail
    parameters: list[float]


def _inertia(packer: Packer, body: Any, gravity: Any, size: float) -> _Inertia:
    flexible = packer.flexible.get(body.name)
    if flexible is not None:
        return _Inertia(
            mass=flexible.reduced.mass,
            inertia=flexible.reduced.inertia,
            is_held=bool(flexible.body.fixed),
            position=flexible.position(),
            weight=flexible.weight(gravity),
            tail=flexible.tail(size),
            parameters=flexible.parameters(),
        )
    tail: Tail = body.tail()
    return _Inertia(
        mass=body.mass,
        inertia=getattr(body, "inertia", 0.0),
        is_held=False,
        position=body.position,
        weight=[body.mass * g for g in gravity] + [0.0] * (1 + tail.n),
        tail=tail,
        parameters=body.parameters() if tail.n else [],
    )


def _markers(packer: Packer, width: Integers) -> Columns:
    """Return the markers; those on a body with a tail have parameters and shapes."""
    place = np.array(packer.marker_rows, dtype=float).reshape(-1, 3)
    name_of = {row: name for name, row in packer.markers.items()}
    par: list[int] = []
    shape: list[int] = []
    n_shape = 0
    for i, (k, x, y) in enumerate(packer.marker_rows):
        n_tail = max(0, int(width[k]) - 3)
        flexible = packer.flexible.get(packer.bodies[k].name)
        own = [x, y] if n_tail else []
        if flexible is not None:
            own = flexible.marker_parameters(name_of[i].partition(".")[2])
        shape.append(n_shape)
        par.append(packer.append(own) if n_tail else 0)
        n_shape += 3 * n_tail
    return {
        "n_shape": n_shape,
        "marker_body": place[:, 0].astype(np.int64),
        "marker_x": place[:, 1],
        "marker_y": place[:, 2],
        "marker_par": np.array(par, np.int64),
        "marker_shape": np.array(shape, np.int64),
    }


def _uses(
    packer: Packer,
    body: Columns,
    marker: Columns,
    joint: Columns,
    force: Columns,
    event: Columns,
    contacts: list[ContactRow],
) -> Integers:
    """Return what asks for each marker; those on bodies without a tail cost nothing."""
    has_tail = body["body_tail"][marker["marker_body"]] >= 0
    use = np.where(has_tail, FOR_RESULTS, FOR_ALL)
    pressed = [k for c in contacts if c.kind == PATCH for k in (c.a, c.b)]
    use[pressed] = np.maximum(use[pressed], FOR_PATCHES)
    use[[k for c in contacts if c.kind != PATCH for k in (c.a, c.b)]] = FOR_ALL
    for columns, name in ((joint, "joint"), (force, "force"), (event, "guard")):
        for end in ("a", "b"):
            use[columns[f"{name}_{end}"]] = FOR_ALL
    return use


def _rows(
    packer: Packer,
    joint: Columns,
    contacts: list[ContactRow],
    n_touch: int,
    n_user: int,
    body: Columns,
    marker: Columns,
) -> tuple[list[ContactRow], Columns, Columns]:
    """Order contacts by group, and the rows of joints and sticking contacts together.

    Returns the contacts in their new order, their columns, and those of the rows; the
    first row of each joint goes to its own columns.
    """
    n_moving = len(packer.moving)
    of = marker["marker_body"]
    joints = of[np.stack([joint["joint_a"], joint["joint_b"]], axis=1)]
    ends = of[np.array([(c.a, c.b) for c in contacts], int).reshape(-1, 2)]
    group = order.groups(n_moving, joints, ends)
    # The joints of one group stand together.
    by = [*range(n_touch), *(n_touch + np.argsort(group[n_touch:], kind="stable"))]
    contacts, group, ends = [contacts[k] for k in by], group[by], ends[by]
    has_row = np.array([c.can_stick for c in contacts], dtype=bool)
    sides = np.concatenate([joints, ends[has_row]])
    sides = np.where(sides < n_moving, sides, -1)
    n_row = np.concatenate([joint["joint_n_row"], np.ones(has_row.sum(), np.int64)])
    begins = order.order_rows(n_row, sides, int(has_row[n_touch:].sum()))
    n_joint = len(joints)
    joint["joint_row"] = begins[:n_joint]
    contact = contact_columns(contacts) | {"contact_group": group}
    row_of = np.full(len(contacts), -1)
    row_of[has_row] = begins[n_joint:]
    load = [int(begins[c.joint]) if c.joint >= 0 else -1 for c in contacts]
    contact |= {"contact_row": row_of, "contact_joint": np.array(load, np.int64)}
    contact |= guard_columns(n_user, contacts, group)
    row_body = np.empty((int(n_row.sum()), 2), dtype=np.int64)
    for k, begin in enumerate(begins):
        row_body[begin : begin + n_row[k]] = sides[k]
    is_late = np.zeros(len(row_body), dtype=bool)
    is_late[row_of[has_row]] = True
    width, dof = body["body_n"][:n_moving], body["body_dof"][:n_moving]
    rows = order.arrange(row_body, width, dof, is_late)
    leader = order.leaders(n_moving, joints, ends)
    contact |= _groups(group, n_touch, ends, row_body, leader)
    table = rows.columns | {"n_row": len(row_body), "n_block": rows.n_block}
    table |= {"n_tie": min(len(row_body), MAX_TIED)}
    return contacts, contact, table


def _groups(
    group: Integers,
    n_touch: int,
    ends: Integers,
    row_body: Integers,
    leader: Integers,
) -> Columns:
    """Return the joints with friction of each group, and its rows from to."""
    n_group = int(group.max(initial=-1)) + 1
    counts = np.bincount(group[n_touch:], minlength=n_group)
    begin = np.zeros(n_group, dtype=np.int64)
    end = np.zeros(n_group, dtype=np.int64)
    bodies = np.where(row_body[:, 0] >= 0, row_body[:, 0], row_body[:, 1])
    of_row = leader[bodies] if len(bodies) else np.zeros(0, dtype=np.int64)
    for g in range(n_group):
        body = ends[np.flatnonzero(group == g)[0]].min()
        rows = np.flatnonzero(of_row == leader[body])
        if len(rows):
            begin[g], end[g] = rows[0], rows[-1] + 1
    slide = n_touch + np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return {
        "n_group": n_group,
        "n_largest": int(np.bincount(group).max(initial=0)),
        "n_slide": int(counts.max(initial=0)),
        "group_slide": slide,
        "group_row": begin,
        "group_end": end,
    }


def _size(packer: Packer) -> float:
    """Return a typical length: the farthest point from its body's origin.

    Falls back on the spread of the bodies, then on one metre.
    """
    n_moving = len(packer.moving)
    places = [*packer.marker_rows, *packer.reach]
    reach = [float(np.hypot(x, y)) for k, x, y in places if k < n_moving]
    reach += [flexible.size for flexible in packer.flexible.values()]
    largest = max(reach, default=0.0)
    if largest == 0.0:
        spread = np.array([body.position for body in packer.moving])
        largest = float(np.ptp(spread, axis=0).max()) if len(spread) else 0.0
    return largest if largest > 0.0 else 1.0
