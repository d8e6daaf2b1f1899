"""A model of full finite elements as tables of nodes, for the scheme `waves`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from nonsmooth.elements.bodies import Ground, PointMass, RigidBody
from nonsmooth.elements.contacts import Contact
from nonsmooth.elements.flexible import FlexibleBody
from nonsmooth.elements.normal import Unilateral
from nonsmooth.elements.shapes import Circle, Line, Shape
from nonsmooth.errors import ModelError
from nonsmooth.fem.fields import gauge_row, strain_rows
from nonsmooth.fem.full import CLOSE, Full, critical, largest
from nonsmooth.kernels.march import waves as kernel
from nonsmooth.kernels.march.wave_tables import (
    CHAIN,
    CIRCLE,
    LINE,
    N_CONTACT,
    NODE,
    Solid,
    State,
)
from nonsmooth.model import Model
from nonsmooth.pack.flexible import full_of
from nonsmooth.pack.system import System

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Sum of a row of K that is round-off, beside its entries.
ROUND_OFF = 1e-9
# Sine of an angle below which an axis is along x or y.
ALONG = 1e-9


@dataclass(frozen=True, eq=False)
class Part:
    """A body among the nodes: X = place + turn (s - centre) of its mesh."""

    name: str
    own: Full | None  # None of a rigid body, which is one node
    first: int
    n: int
    order: Ints  # nodes of its mesh, in the order of the tables
    rank: Ints  # the other way round
    turn: Floats  # (2, 2)
    centre: Floats  # m, in the mesh
    place: Floats  # m
    velocity: Floats  # m/s

    def nodes(self, chosen: Ints) -> Ints:
        """Return nodes of the mesh as nodes of the tables."""
        return self.first + self.rank[chosen]

    def global_places(self, places: Floats) -> Floats:
        """Return places of the mesh in global axes."""
        return self.place + (places - self.centre) @ self.turn.T


@dataclass(frozen=True, eq=False)
class Waves:
    """A model as nodes."""

    system: System
    parts: dict[str, Part]  # in the order of the tables
    solid: Solid
    stiffness: Any  # (2 n, 2 n) sparse, N/m, without penalties
    critical_step: float  # s
    is_rod: bool  # all bodies are rods

    def velocities(self) -> Floats:
        """Return the velocities of all nodes at the start."""
        moves = [np.repeat(p.velocity[None], p.n, axis=0) for p in self.parts.values()]
        free = np.asarray(self.solid.minv) > 0.0
        return np.where(free, np.concatenate(moves), 0.0)


def check_waves(model: Model) -> None:
    """Refuse what has no meaning among full finite elements."""
    bodies = [b for b in model.bodies if isinstance(b, FlexibleBody)]
    whole = [b for b in bodies if b.modes == "full"]
    if not whole:
        raise ModelError(
            "scheme = 'waves': no body has modes = 'full'; use scheme 'events'"
        )
    for body in bodies:
        if body.modes != "full":
            raise ModelError(
                f"body '{body.name}': modes = {body.modes}, but '{whole[0].name}' has "
                "modes = 'full', and the two do not go together; give all flexible "
                "bodies modes = 'full', or none"
            )
    for family in ("joints", "drives", "forces", "events"):
        for element in getattr(model, family):
            raise ModelError(
                f"{element.label()}: scheme 'waves' has contacts and supports only; "
                "leave it out, or give the flexible bodies a number of modes"
            )
    for body in model.bodies:
        if isinstance(body, FlexibleBody | Ground):
            continue
        if not isinstance(body, RigidBody | PointMass):
            raise ModelError(
                f"body '{body.name}': scheme 'waves' has no {type(body).__name__}; "
                "give the flexible bodies a number of modes"
            )
        spin = getattr(body, "angular_velocity", 0.0)
        if spin:
            raise ModelError(
                f"body '{body.name}': angular_velocity = {spin:g}; scheme 'waves' "
                "knows no rotation: leave it out, or give the flexible bodies a number "
                "of modes"
            )
    for contact in model.contacts:
        if not isinstance(contact.normal, Unilateral):
            raise ModelError(
                f"contact '{contact.name}': normal = {type(contact.normal).__name__}; "
                "scheme 'waves' has constraints and penalties of nodes: give "
                "Unilateral() and a patch in b"
            )
        if contact.friction is not None:
            raise ModelError(
                f"contact '{contact.name}': scheme 'waves' has no friction; leave it "
                "out, or give the flexible bodies a number of modes"
            )


def pack_waves(system: System) -> Waves:
    """Write the tables of a model; the step is not known yet."""
    model = system.model
    check_waves(model)
    parts = _parts(system)
    n_node = sum(part.n for part in parts.values())
    place = np.concatenate([_places(part) for part in parts.values()])
    mass = np.concatenate([_masses(part, model) for part in parts.values()])
    held = np.concatenate([_held(part) for part in parts.values()])
    _hold_across(model, parts, held)
    free = held == 0.0
    stiffness = sparse.block_diag([_turned(p) for p in parts.values()], format="csr")
    blocks, rest = _blocks(stiffness)
    bodies = _bodies(system, parts, mass, place)
    points = _points(system, parts)
    gauges = _gauges(system, parts)
    contacts = _contacts(model, parts, place)
    sizes = {
        "n_block": len(blocks.data),
        "n_entry": len(points["point_node"]),
        "n_strain": len(gauges["gauge_node"]),
        "n_chain": len(contacts["chain"]),
    }
    n_point, n_gauge = len(points["point_place"]), len(gauges["gauge_first"]) - 1
    n_contact = len(model.contacts)
    solid = Solid(
        sizes,
        n_node=n_node,
        n_body=len(parts),
        n_point=n_point,
        n_gauge=n_gauge,
        n_contact=n_contact,
        n_slave=len(contacts["slave"]),
        n_raw=9 * len(parts) + 6 * n_point + n_gauge + N_CONTACT * n_contact,
        fall_x=model.gravity[0],
        fall_y=model.gravity[1],
        first=blocks.indptr.astype(np.int64),
        column=blocks.indices.astype(np.int64),
        block=blocks.data.transpose(0, 2, 1).reshape(-1, 4),
        rest=rest,
        place=place,
        mass=mass,
        minv=np.where(free, 1.0 / mass[:, None], 0.0),
        **bodies,
        **points,
        **gauges,
        **contacts,
    )
    return Waves(
        system=system,
        parts=parts,
        solid=solid,
        stiffness=stiffness,
        critical_step=_critical(solid, stiffness, mass, held, parts),
        is_rod=all(p.own is None or p.own.state == "rod" for p in parts.values()),
    )


# ---- bodies ----------------------------------------------------------------------


def _parts(system: System) -> dict[str, Part]:
    parts: dict[str, Part] = {}
    first = 0
    by_name = {body.name: body for body in system.model.bodies}
    for name in system.bodies[: system.n_moving]:
        body: Any = by_name[name]
        own = full_of(body) if isinstance(body, FlexibleBody) else None
        x, y, angle = system.start[system.coordinates(name), 0][:3]
        order = np.zeros(1, dtype=np.int64)
        if own is not None:
            # Neighbours close together in memory.
            near = sparse.csr_array(own.stiffness).tobsr((2, 2))
            shape = (len(own.nodes), len(own.nodes))
            ones = np.ones(len(near.indices))
            graph: Any = sparse.csr_array((ones, near.indices, near.indptr), shape)
            order = csgraph.reverse_cuthill_mckee(graph, True).astype(np.int64)
        c, s = math.cos(angle), math.sin(angle)
        parts[name] = Part(
            name=name,
            own=own,
            first=first,
            n=len(order),
            order=order,
            rank=np.argsort(order),
            turn=np.array([(c, -s), (s, c)]),
            centre=np.zeros(2) if own is None else own.centre,
            place=np.array([x, y]),
            velocity=np.array(body.velocity),
        )
        first += len(order)
    return parts


def _places(part: Part) -> Floats:
    if part.own is None:
        return part.place[None]
    return part.global_places(part.own.nodes[part.order])


def _masses(part: Part, model: Model) -> Floats:
    if part.own is not None:
        return part.own.masses[part.order]
    body: Any = model.element(part.name)
    return np.array([float(body.mass)])


def _held(part: Part) -> Floats:
    """Return which displacements are fixed, in global axes."""
    if part.own is None:
        return np.zeros((1, 2))
    held = part.own.held[part.order]
    # One direction alone, that of an axis or a rod's, is along x or y.
    if np.any(held[:, 0] != held[:, 1]):
        c, s = part.turn[:, 0]
        if min(abs(c), abs(s)) > ALONG:
            raise ModelError(
                f"body '{part.name}': its axis is neither along x nor along y; turn "
                "the model so that it is"
            )
        if abs(c) < abs(s):
            held = held[:, ::-1]
    return held


def _hold_across(model: Model, parts: dict[str, Part], held: Floats) -> None:
    """Hold rigid bodies that a body of revolution touches across its axis.

    What presses on them there cancels around the axis.
    """
    for contact in model.contacts:
        other = parts.get(contact.a.partition(".")[0])
        part = parts[contact.b.partition(".")[0]]
        kinds = [p.own.state for p in (part, other) if p and p.own]
        if "axisymmetric" not in kinds:
            continue
        if any(kind != "axisymmetric" for kind in kinds):
            raise ModelError(
                f"contact '{contact.name}': a body with plane = 'axisymmetric' touches "
                "one that has not; give it to both"
            )
        c, s = part.turn[:, 0]
        if min(abs(c), abs(s)) > ALONG:
            raise ModelError(
                f"body '{part.name}': its axis is neither along x nor along y; turn "
                "the model so that it is"
            )
        if other is not None and other.own is None:
            held[other.first, 1 if abs(c) > abs(s) else 0] = 1.0


def _turned(part: Part) -> Any:
    """Return the stiffness of a body in global axes."""
    if part.own is None:
        return sparse.csr_array((2, 2))
    at = (2 * part.order[:, None] + np.arange(2)).ravel()
    own = sparse.csr_array(part.own.stiffness)[at][:, at]
    if np.array_equal(part.turn, np.eye(2)):
        return own
    turn = sparse.kron(sparse.eye_array(part.n), part.turn, format="csr")
    return sparse.csr_array(turn @ own @ turn.T)


def _blocks(stiffness: Any) -> tuple[Any, Floats]:
    """Return the blocks above the diagonal, and what is left of the sums of rows.

    Those below it are their transposes to the last digit, and a body that moves as a
    whole has no forces.
    """
    even = 0.5 * (stiffness + stiffness.T)
    blocks = sparse.csr_array(even).tobsr((2, 2))
    n = len(blocks.indptr) - 1
    rows = np.repeat(np.arange(n), np.diff(blocks.indptr))
    sums = np.zeros((n, 2, 2))
    np.add.at(sums, rows, blocks.data)
    sizes = np.zeros((n, 2, 2))
    np.add.at(sizes, rows, np.abs(blocks.data))
    left = np.where(
        np.abs(sums) > ROUND_OFF * sizes.max(axis=(1, 2))[:, None, None], sums, 0.0
    )
    above = rows < blocks.indices
    counts = np.bincount(rows[above], minlength=n)
    first = np.concatenate(([0], np.cumsum(counts)))
    parts = (blocks.data[above], blocks.indices[above], first)
    by_columns = left.transpose(0, 2, 1).reshape(-1, 4)
    return sparse.bsr_array(parts, shape=stiffness.shape), by_columns


def _bodies(
    system: System, parts: dict[str, Part], mass: Floats, place: Floats
) -> dict[str, Any]:
    ends = np.cumsum([0, *(part.n for part in parts.values())])
    start: list[Any] = []
    way: list[Any] = []
    inertia: list[float] = []
    turned: list[Floats] = []
    for k, part in enumerate(parts.values()):
        where = slice(ends[k], ends[k + 1])
        angle, spin = system.start[system.coordinates(part.name)][2]
        start.append((*part.place, angle, spin))
        arms = place[where] - part.place
        is_round = part.own is not None and part.own.state == "axisymmetric"
        turns = part.own is not None and part.own.state in ("stress", "strain")
        inertia.append(float(mass[where] @ np.sum(arms**2, axis=1)) if turns else 0.0)
        turned.append(mass[where, None] * np.stack((-arms[:, 1], arms[:, 0]), axis=1))
        axis = part.turn[:, 0]
        way.append(np.outer(axis, axis).ravel() if is_round else (1.0, 0.0, 0.0, 1.0))
    total = np.add.reduceat(mass, ends[:-1])
    return {
        "body_first": ends.astype(np.int64),
        "body_mass": total,
        "body_inertia": np.array(inertia),
        "body_start": np.array(start),
        "body_way": np.array(way),
        "arm": np.concatenate(turned),
    }


def _points(system: System, parts: dict[str, Part]) -> dict[str, Any]:
    first: list[int] = [0]
    node: list[int] = []
    weight: list[float] = []
    place: list[Any] = []
    for name in system.points:
        owner, _, point = name.partition(".")
        part, body = parts[owner], system.model.element(owner)
        if part.own is None:
            at = part.place + part.turn @ np.array(body.marker(point))  # type: ignore[attr-defined]
            used, shares = np.zeros(1, np.int64), np.ones(1)
        else:
            assert isinstance(body, FlexibleBody)
            if point in body.patches:
                found = part.own.boundary(point, body.patches[point])
                used = found.nodes
                shares = found.weights / found.weights.sum()
                own = shares @ part.own.nodes[used]
            else:
                used, shares = part.own.weights_at(point, body.points[point])
                own = np.array(body.points[point])
            at = part.global_places(own)
        node += part.nodes(used).tolist()
        weight += shares.tolist()
        first.append(len(node))
        place.append(at)
    return {
        "point_first": np.array(first, np.int64),
        "point_node": np.array(node, np.int64),
        "point_weight": np.array(weight, float),
        "point_place": np.array(place, float).reshape(-1, 2),
    }


def _gauges(system: System, parts: dict[str, Part]) -> dict[str, Any]:
    first, node, weight = [0], [np.zeros(0, np.int64)], [np.zeros((0, 2))]
    rows: dict[str, Any] = {}
    for name in system.gauges:
        owner, _, gauge_name = name.partition(".")
        part, body = parts[owner], system.model.element(owner)
        assert part.own is not None
        assert isinstance(body, FlexibleBody)
        own, gauge = part.own, body.gauges[gauge_name]
        if owner not in rows:
            rows[owner] = strain_rows(own.nodes, own.mesh, own.state, own.material)
        used, shares = own.weights_at(f"gauges['{gauge_name}']", gauge.point)
        row = gauge_row(rows[owner], len(own.nodes), used, shares, gauge.angle)
        pairs = row.reshape(-1, 2)
        at = np.flatnonzero(np.any(pairs != 0.0, axis=1))
        node.append(part.nodes(at))
        # Displacements of the mesh are the turned ones, turned back.
        weight.append(pairs[at] @ part.turn.T)
        first.append(first[-1] + len(at))
    return {
        "gauge_first": np.array(first, np.int64),
        "gauge_node": np.concatenate(node),
        "gauge_weight": np.concatenate(weight),
    }


# ---- contacts ---------------------------------------------------------------------


def _contacts(model: Model, parts: dict[str, Part], place: Floats) -> dict[str, Any]:
    kinds, first, chains, owners, surfaces = [], [0], [], [], []
    slave: list[int] = []
    stiffness: list[float] = []
    chain: list[int] = []
    for contact in model.contacts:
        law = contact.normal
        assert isinstance(law, Unilateral)
        nodes, weights = _patch(model, parts, contact.b)
        kind, owner, surface, own = _other(model, parts, contact, place)
        if kind == NODE and len(nodes) > 1:
            raise ModelError(
                f"contact '{contact.name}': the end of a rod in a; exchange a and b"
            )
        kinds.append(kind)
        owners.append(owner)
        surfaces.append(surface)
        chains.append((len(chain), len(chain) + len(own)))
        chain += own
        slave += nodes.tolist()
        soft = np.zeros(len(nodes)) if law.penalty is None else law.penalty * weights
        stiffness += soft.tolist()
        first.append(len(slave))
    return {
        "contact_kind": np.array(kinds, np.int64),
        "contact_first": np.array(first, np.int64),
        "contact_chain": np.array(chains, np.int64).reshape(-1, 2),
        "contact_owner": np.array(owners, np.int64),
        "contact_surface": np.array(surfaces, float).reshape(-1, 5),
        "slave": np.array(slave, np.int64),
        "stiffness": np.array(stiffness, float),
        "chain": np.array(chain, np.int64),
    }


def _patch(model: Model, parts: dict[str, Part], reference: str) -> tuple[Ints, Floats]:
    """Return nodes of a patch in the tables, and their lengths of the boundary."""
    owner, _, name = reference.partition(".")
    part, body = parts[owner], model.element(owner)
    assert part.own is not None
    assert isinstance(body, FlexibleBody)
    found = part.own.boundary(name, body.patches[name])
    return part.nodes(found.nodes), found.weights


def _other(
    model: Model, parts: dict[str, Part], contact: Contact, place: Floats
) -> tuple[int, int, tuple[float, ...], list[int]]:
    """Return kind, owner, surface and chain of what the nodes of b touch."""
    name, _, what = contact.a.partition(".")
    part = parts.get(name)
    if part is not None and part.own is not None:
        nodes = _patch(model, parts, contact.a)[0].tolist()
        if part.own.mesh is not None and len(nodes) > 1:
            return CHAIN, -1, (0.0,) * 5, _closed(model, part, contact.a, nodes)
        if part.own.mesh is not None:
            raise ModelError(
                f"contact '{contact.name}': patch '{contact.a}' has one node; give it "
                "two or more"
            )
        inner = part.nodes(np.arange(len(part.own.nodes)))
        out = place[inner[-1]] - place[inner[0]]
        out = out / np.hypot(*out) * (1.0 if nodes[0] == inner[-1] else -1.0)
        return NODE, -1, (0.0, 0.0, float(out[0]), float(out[1]), 0.0), nodes
    body: Any = {b.name: b for b in model.bodies}.get(name, Ground())
    shape = next(iter(body.pieces(what, "a").values()))
    return _surface(contact, part, body, shape)


def _closed(model: Model, part: Part, reference: str, nodes: list[int]) -> list[int]:
    """Return a chain; one all around a body ends where it begins."""
    assert part.own is not None
    assert part.own.mesh is not None
    body: Any = model.element(part.name)
    edges = part.own.mesh.boundary(body.patches[reference.partition(".")[2]].boundary)
    is_whole = len(np.unique(edges)) == len(nodes) and edges[0, 0] == edges[-1, 1]
    return [*nodes, nodes[0]] if is_whole else nodes


def _surface(
    contact: Contact, part: Part | None, body: Any, shape: Shape
) -> tuple[int, int, tuple[float, ...], list[int]]:
    turn = np.eye(2) if part is None else part.turn
    origin = np.zeros(2) if part is None else part.place
    owner = -1 if part is None else part.first
    if isinstance(shape, Line):
        x, y = (origin + turn @ np.array(shape.point)).tolist()
        n = turn @ np.array([-math.sin(shape.angle), math.cos(shape.angle)])
        return LINE, owner, (x, y, *n.tolist(), 0.0), []
    if isinstance(shape, Circle):
        x, y = origin + turn @ np.array(shape.center)
        return CIRCLE, owner, (float(x), float(y), 0.0, 0.0, shape.radius), []
    where = "the ground" if part is None else f"'{body.name}'"
    raise ModelError(
        f"contact '{contact.name}': {type(shape).__name__} of {where}; nodes of "
        "scheme 'waves' touch a line or circle of the ground or of a rigid body, or a "
        "patch"
    )


# ---- the critical step ------------------------------------------------------------


def segments(solid: Solid) -> Ints:
    """Return the segment of its chain that each node is nearest to; 0 without one."""
    found = np.zeros(solid.n_slave, dtype=np.int64)
    for k in range(solid.n_contact):
        begin, end = solid.contact_chain[k].tolist()
        if solid.contact_kind[k] != CHAIN:
            continue
        chain = solid.chain[begin:end]
        a, b = solid.place[chain[:-1]], solid.place[chain[1:]]
        for s in range(int(solid.contact_first[k]), int(solid.contact_first[k + 1])):
            x = solid.place[solid.slave[s]]
            part = np.sum((x - a) * (b - a), 1) / np.sum((b - a) ** 2, 1)
            foot = a + np.clip(part, 0.0, 1.0)[:, None] * (b - a)
            found[s] = begin + int(np.argmin(np.linalg.norm(foot - x, axis=1)))
    return found


def first_state(
    solid: Solid, n_capacity: int = 1, n_events: int = 0, **values: Any
) -> State:
    """Return the state before the first step; gaps and normals are known."""
    sizes = solid.sizes() | {"n_capacity": n_capacity}
    state = State(sizes, segment=segments(solid), n_events=n_events, **values)
    kernel.find_gaps(solid, state)
    return state


def contact_rows(solid: Solid) -> Any:
    """Return the rows J (n_slave, 2 n) of the gaps at the start, sparse."""
    state = first_state(solid)
    rows = sparse.lil_array((solid.n_slave, 2 * solid.n_node))
    first: Any = solid.contact_first
    of: list[int] = np.repeat(np.arange(len(first) - 1), np.diff(first)).tolist()
    for s, k in enumerate(of):
        shares = {int(solid.slave[s]): 1.0}
        kind, carrier = int(solid.contact_kind[k]), int(solid.contact_owner[k])
        j, part = int(state.segment[s]), float(state.part[s])
        if kind == CHAIN:
            shares |= {int(solid.chain[j]): part - 1.0, int(solid.chain[j + 1]): -part}
        elif kind == NODE:
            shares[int(solid.chain[solid.contact_chain[k, 0]])] = -1.0
        elif carrier >= 0:
            shares[carrier] = -1.0
        for node, share in shares.items():
            for c in range(2):
                rows[s, 2 * node + c] = share * float(state.normal[s, c])
    return sparse.csr_array(rows)


def _critical(
    solid: Solid, stiffness: Any, mass: Floats, held: Floats, parts: dict[str, Part]
) -> float:
    """Return 2/w_max, s, with the springs of penalties closed."""
    if not np.any(np.asarray(solid.stiffness) > 0.0):
        return critical(p.own for p in parts.values() if p.own is not None)
    rows = contact_rows(solid)
    springs = rows.T @ sparse.diags_array(np.array(solid.stiffness)) @ rows
    whole = sparse.csr_array(stiffness + springs)
    return 2.0 / math.sqrt(largest(whole, mass, held, CLOSE))
